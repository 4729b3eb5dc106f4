/*
 * A change of 100,000 nodes in the simulated world of sim/campaign.h: the engine, its rules and a
 * journal in memory, with machines, agents, endpoints, jobs, a network that loses, doubles and
 * delays, and a controller that is killed once. Counted is what is delivered within half an hour of
 * fleet time, the checks of the promises included, by the time of the processor. The rival is the
 * queue of messages alone: as many timers that do nothing but set themselves again.
 */
#include "bench/bench.h"

#include "sim/campaign.h"

#include <unistd.h>

enum { NODES = 100000, SEED = 17, TIMERS_MESSAGES = 5000000, RUNS = 3 };

static struct cam world; /* too large for a stack */

static double rate_of(uint64_t messages, double took_us)
{
    return 1e3 * (double)messages / took_us; /* thousands a second */
}

static double measure_queue(void)
{
    struct lks_message m;
    world = (struct cam){.rng = {SEED}, .weather = {.delay_max = 200}};
    for (uint32_t i = 0; i < NODES; i++)
        cam_post(&world, (struct lks_message){.node = i}, cam_between(&world, 1, CAM_MINUTE));
    double begun = bench_cpu_us(getpid());
    for (uint64_t i = 0; i < TIMERS_MESSAGES && cam_next(&world, UINT64_MAX, &m); i++) {
        world.now = m.due;
        cam_post(&world, m, cam_between(&world, 1, CAM_MINUTE));
    }
    double rate = rate_of(TIMERS_MESSAGES, bench_cpu_us(getpid()) - begun);
    lks_queue_fini(&world.queue);
    return rate;
}

static double measure_campaign(void)
{
    cam_init(&world, SEED, NODES);
    cam_begin(&world);
    double begun = bench_cpu_us(getpid());
    cam_storm(&world, CAM_HOUR / 2);
    double rate = rate_of(world.delivered, bench_cpu_us(getpid()) - begun);
    if (world.broken)
        bench_die("campaign", world.why);
    if (world.change_count == 0)
        bench_die("campaign", "nothing was changed");
    cam_fini(&world);
    return rate;
}

static double median_of(double (*measure)(void))
{
    double rates[RUNS];
    for (size_t i = 0; i < RUNS; i++)
        rates[i] = measure();
    return bench_median(rates, RUNS);
}

void bench_campaign(struct lks_table *t)
{
    double rival = median_of(measure_queue);
    bench_row(t, &(struct bench_figure){"simulated change of 100,000 nodes, messages delivered",
                                        ">= 1,000 k/s", "the queue alone", "k/s",
                                        median_of(measure_campaign), rival});
    cam_tuples_free();
    cam_redfish_free();
}
