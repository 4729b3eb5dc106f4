/* `top` without its terminal: requests, the model and frames, beside a lockstepd with 10,000 nodes.
 * The rivals are the same requests with unread answers, the command that lists the same
 * nodes, and a frame of a short list. */
#include "bench/bench.h"
#include "bench/site.h"
#include "cli/top/fetch.h"
#include "cli/top/layout.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <sys/wait.h>

enum {
    NODES = 10000,
    REFRESHES = 21,
    COMMANDS = 5,
    FRAMES = 201,
    WIDTH = 160,
    HEIGHT = 50,
    ANSWER_MS = 60000,
    RARELY_S = 86400, /* no refresh but ours */
};

struct watching {
    struct bench_site site;
    struct lks_cli cli;
    struct lks_args args;
    struct lks_top_model model;
    struct lks_top_picture picture;
    struct lks_top_fetch *fetch;
    struct lks_client *bare;
};

static lks_ms wall_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (lks_ms)now.tv_sec * LKS_SECOND + (lks_ms)now.tv_nsec / 1000000;
}

static void take_answer(struct watching *w)
{
    struct pollfd ready = {.fd = lks_top_fetch_fd(w->fetch), .events = POLLIN};
    struct lks_top_event *e;
    while ((e = lks_top_fetch_take(w->fetch)) == NULL) {
        if (poll(&ready, 1, ANSWER_MS) != 1)
            bench_die("top", "lockstepd does not answer");
    }
    if (e->kind != LKS_TOP_EVENT_ANSWER || e->answer.failure[0] != '\0')
        bench_die("top", e->kind == LKS_TOP_EVENT_ANSWER ? e->answer.failure : e->text);
    lks_top_model_answer(&w->model, &e->answer, wall_ms());
    lks_top_fetch_event_free(&e);
}

/* Everything on the screen is asked for and read again, as after 'r'. */
static double refresh_ms(struct watching *w)
{
    struct lks_top_want wants[LKS_TOP_WANTS_MAX];
    size_t count = lks_top_model_wants(&w->model, wants);
    double begun = bench_now_ms();
    lks_top_fetch_want(w->fetch, wants, count, true);
    for (size_t i = 0; i < count; i++)
        take_answer(w);
    return bench_now_ms() - begun;
}

/* The same requests, of lists that have one page. */
static double bare_ms(struct watching *w)
{
    struct lks_top_want wants[LKS_TOP_WANTS_MAX];
    size_t count = lks_top_model_wants(&w->model, wants);
    struct lks_err err = {0};
    double begun = bench_now_ms();
    for (size_t i = 0; i < count; i++) {
        LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf path = LKS_BUF((size_t)2 * LKS_TOP_PATH_MAX);
        lks_buf_addf(&path, "%s", wants[i].path);
        if (wants[i].most > 0)
            lks_buf_addf(&path, "%climit=%" PRIu64, strchr(path.ptr, '?') != NULL ? '&' : '?',
                         wants[i].most);
        if (lks_client_exchange(w->bare, "GET", path.ptr, NULL, LKS_STR(""), "", &answer, &err) !=
                LKS_OK ||
            answer.status != 200)
            bench_die(path.ptr, err.msg);
    }
    return bench_now_ms() - begun;
}

static double command_ms(struct watching *w)
{
    const char *const argv[] = {LKS_CLI_PROGRAM,       "node",   "ls", "--server",
                                w->site.crew.c.socket, "--json", NULL};
    int status = 0;
    double begun = bench_now_ms();
    pid_t pid = bench_spawn(argv, -1);
    if (waitpid(pid, &status, 0) != pid || status != 0)
        bench_die("lockstep node ls", "it failed");
    return bench_now_ms() - begun;
}

static double frame_ms(struct watching *w)
{
    struct lks_err err = {0};
    double begun = bench_now_ms();
    if (lks_top_picture_begin(&w->picture, WIDTH, HEIGHT, &err) != LKS_OK)
        bench_die("top", err.msg);
    lks_top_layout_draw(&w->model, &w->picture, wall_ms());
    return bench_now_ms() - begun;
}

/* Two medians, measured in turn. */
static void medians(struct watching *w, size_t count, double (*ours)(struct watching *w),
                    double (*theirs)(struct watching *w), double out[2])
{
    double took[2][FRAMES];
    for (size_t i = 0; i < count; i++) {
        took[0][i] = ours(w);
        took[1][i] = theirs != NULL ? theirs(w) : 0;
    }
    for (size_t k = 0; k < 2; k++)
        out[k] = bench_median(took[k], count);
}

static void press(struct watching *w, enum lks_top_key key)
{
    (void)lks_top_model_key(&w->model, key, 0);
    (void)refresh_ms(w); /* the rows are there, */
    (void)frame_ms(w);   /* and the size of the pane is known */
}

static void begin(struct watching *w)
{
    struct lks_err err = {0};
    bench_site_init(&w->site, NODES, 1);
    w->cli = (struct lks_cli){.out = stdout, .err = stderr, .server = w->site.crew.c.socket};
    lks_top_model_init(&w->model);
    struct lks_client_options options = {.server = w->site.crew.c.socket, .timeout_ms = ANSWER_MS};
    if (lks_client_new(&options, &w->bare, &err) != LKS_OK ||
        lks_top_fetch_start(&w->cli, &w->args, RARELY_S * LKS_SECOND, &w->fetch, &err) != LKS_OK)
        bench_die("top", err.msg);
    (void)refresh_ms(w);
    (void)frame_ms(w);
}

static void finish(struct watching *w)
{
    volatile sig_atomic_t interrupted = 0;
    struct lks_err err = {0};
    if (lks_top_fetch_stop(&w->fetch, &w->cli, &interrupted, &err) != LKS_OK)
        bench_die("top", err.msg);
    lks_top_model_fini(&w->model);
    lks_top_picture_fini(&w->picture);
    lks_client_free(w->bare);
    bench_site_fini(&w->site);
}

void bench_top(struct lks_table *t)
{
    static struct watching w;
    double fleet[2], first[2], all[2], brief[2], frame[2];
    begin(&w);
    medians(&w, REFRESHES, refresh_ms, bare_ms, fleet);
    press(&w, LKS_TOP_KEY_ENTER);
    medians(&w, REFRESHES, refresh_ms, bare_ms, first);
    medians(&w, FRAMES, frame_ms, NULL, brief);
    press(&w, LKS_TOP_KEY_END);
    if (w.model.rows[0].count != NODES)
        bench_die("top", "the list is not whole");
    medians(&w, COMMANDS, refresh_ms, command_ms, all);
    medians(&w, FRAMES, frame_ms, NULL, frame);
    finish(&w);
    const struct bench_figure figures[] = {
        {"refresh of the fleet", "", "its requests, answers unread", "ms", fleet[0], fleet[1]},
        {"refresh of a pool, its first 200 nodes", "", "its requests, answers unread", "ms",
         first[0], first[1]},
        {"refresh of a pool, all 10,000 nodes", "", "lockstep node ls --json", "ms", all[0],
         all[1]},
        {"frame of 160 by 50, 10,000 rows in reach", "", "the same with 200 rows", "ms", frame[0],
         brief[0]},
    };
    for (size_t i = 0; i < LKS_COUNT(figures); i++)
        bench_row(t, &figures[i]);
}
