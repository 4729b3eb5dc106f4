/*
 * The firmware inventories of 1,000 simulated BMCs in one lockstep-bmcsim, read by our client, and
 * of some of them by python3-sushy: how many BMCs a second of the client's processor reads. Once
 * with everything to be opened, sessions and connections, and once with sessions that were kept.
 */
#include "bench/bench.h"

#include "drivers/http/login.h"
#include "drivers/http/talks.h"
#include "port/bmc.h"
#include "tests/bmcd.h"
#include "tests/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BMCS = 1000, THEIRS = 60, TURN_MS = 1000, PATIENCE_MS = 600000, TEXT_MAX = 128 };

struct sweep {
    struct bmcd bmcd;
    struct lks_talks *talks;
    struct lks_bmc_secret secret;
    struct lks_bmc_inventory *inventories;
    char (*urls)[BMCD_URL_MAX];
    size_t entries; /* of the BMCs that sushy reads too */
};

static void on_ended(void *ctx, struct lks_dialog *d, const struct lks_err *why)
{
    struct sweep *s = ctx;
    size_t i = (size_t)((char(*)[BMCD_URL_MAX])lks_talks_ctx(d) - s->urls);
    if (why->code != LKS_OK)
        bench_die(s->urls[i], why->msg);
    if (s->inventories[i].count == 0 || s->inventories[i].missing > 0)
        bench_die(s->urls[i], "entries are missing");
    s->entries += i < THEIRS ? s->inventories[i].count : 0;
    lks_talks_keep(s->talks, s->urls[i], lks_bmc_redfish.token(lks_talks_value(d)));
}

static void add(struct sweep *s, size_t i)
{
    const struct lks_dialog_options options = {.peer = {.url = s->urls[i], .ca = s->bmcd.ca},
                                               .ops = lks_bmc_redfish.read,
                                               .ctx = &s->urls[i]};
    struct lks_dialog *d = NULL;
    struct lks_err err = {0};
    if (lks_talks_add(s->talks, &options, &d, &err) != LKS_OK)
        bench_die("talks", err.msg);
    lks_bmc_inventory_fini(&s->inventories[i]);
    lks_bmc_inventory_init(&s->inventories[i]);
    snprintf(s->secret.token, sizeof(s->secret.token), "%s", lks_talks_token(s->talks, s->urls[i]));
    lks_bmc_redfish.read_begin(lks_talks_value(d), lks_test_facts(), &s->secret,
                               lks_talks_now(s->talks) + PATIENCE_MS, &s->inventories[i]);
    lks_talks_start(s->talks, d, false);
}

static double own_cpu_s(void)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
           (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}

/* BMCs for each second of our processor. */
static double round_of(struct sweep *s)
{
    struct lks_err err = {0};
    double start = own_cpu_s();
    s->entries = 0;
    for (size_t i = 0; i < BMCS; i++)
        add(s, i);
    while (lks_talks_count(s->talks) > 0) {
        if (lks_talks_turn(s->talks, TURN_MS, &err) != LKS_OK)
            bench_die("talks", err.msg);
    }
    return BMCS / (own_cpu_s() - start);
}

static void begin(struct sweep *s)
{
    static const char *const options[] = {"--count", "1000", "--personality",
                                          "hgx,openbmc,supermicro,dell,hpe", NULL};
    struct lks_talks_options talks = {.ctx = s, .ended = on_ended};
    struct lks_err err = {0};
    char reference[TEXT_MAX];
    bmcd_init(&s->bmcd);
    if (!bmcd_start(&s->bmcd, LKS_BMCSIM_PROGRAM, options))
        bench_die("lockstep-bmcsim", "it does not start");
    snprintf(reference, sizeof(reference), "file:%s", s->bmcd.login);
    s->inventories = calloc(BMCS, sizeof(*s->inventories));
    s->urls = calloc(BMCS, sizeof(*s->urls));
    talks.curl.kept = BMCS;
    if (s->inventories == NULL || s->urls == NULL ||
        lks_login_get(reference, &s->secret, &err) != LKS_OK ||
        lks_talks_new(&talks, &s->talks, &err) != LKS_OK)
        bench_die("client", err.msg);
    s->secret.keep = true;
    for (size_t i = 0; i < BMCS; i++)
        bmcd_url(&s->bmcd, i, s->urls[i]);
}

static void end(struct sweep *s)
{
    lks_talks_free(s->talks);
    for (size_t i = 0; i < BMCS; i++)
        lks_bmc_inventory_fini(&s->inventories[i]);
    free(s->inventories);
    free(s->urls);
    lks_login_wipe(&s->secret);
    if (bmcd_stop(&s->bmcd) != 0)
        bench_die("lockstep-bmcsim", "it does not end");
    bmcd_fini(&s->bmcd);
}

/* Microseconds of both rounds, and entries. */
static bool read_three(struct lks_str text, uint64_t out[3])
{
    struct lks_str word, line;
    (void)lks_str_cut(text, '\n', &line, &text);
    for (size_t i = 0; i < 3; i++) {
        if (!lks_str_word(&line, &word) || !lks_str_number(word, UINT32_MAX, &out[i]))
            return false;
    }
    return out[0] > 0 && out[1] > 0;
}

/* The same by sushy; zeroes where it is not installed. */
static void ask_sushy(const struct sweep *s, double *fresh, double *kept)
{
    const struct bmcd *b = &s->bmcd;
    char count[16], address[32], port[16], text[TEXT_MAX] = {0};
    uint64_t said[3];
    int ends[2], status = 0;
    snprintf(count, sizeof(count), "%d", THEIRS);
    snprintf(address, sizeof(address), "%u.%u.%u.%u", b->first[0], b->first[1], b->first[2],
             b->first[3]);
    snprintf(port, sizeof(port), "%u", b->port);
    const char *const argv[] = {LKS_SWEEP_SCRIPT, count, address, port, b->ca, b->login, NULL};
    *fresh = *kept = 0;
    if (access("/usr/bin/python3", X_OK) != 0 || pipe(ends) != 0)
        return;
    pid_t pid = bench_spawn(argv, ends[1]);
    close(ends[1]);
    size_t len = 0;
    for (ssize_t got; (got = read(ends[0], text + len, sizeof(text) - 1 - len)) > 0;)
        len += (size_t)got;
    close(ends[0]);
    if (waitpid(pid, &status, 0) != pid || status != 0)
        return;
    if (!read_three((struct lks_str){text, len}, said) || said[2] != s->entries)
        bench_die("sushy", "it does not see the entries that we see");
    *fresh = THEIRS * 1e6 / (double)said[0];
    *kept = THEIRS * 1e6 / (double)said[1];
}

void bench_sweep(struct lks_table *t)
{
    static struct sweep s;
    double fresh, kept, their_fresh, their_kept;
    begin(&s);
    fresh = round_of(&s);
    kept = round_of(&s);
    ask_sushy(&s, &their_fresh, &their_kept);
    bench_row(t, &(struct bench_figure){.what = "BMCs per CPU-second, sessions to be opened",
                                        .bar = "-",
                                        .rival = "python3-sushy",
                                        .unit = "BMC/s",
                                        .ours = fresh,
                                        .theirs = their_fresh});
    bench_row(t, &(struct bench_figure){.what = "BMCs per CPU-second, sessions kept",
                                        .bar = "ratio 20",
                                        .rival = "python3-sushy",
                                        .unit = "BMC/s",
                                        .ours = kept,
                                        .theirs = their_kept});
    end(&s);
}
