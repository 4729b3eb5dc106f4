/* Probes that misbehave: each takes its own values with it and nothing else. */
#include "probe/root/probe.h"
#include "tests/test.h"
#include "tests/tree.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define NONE LKS_STR("")

static unsigned call_ms; /* that a call has; a probe has five times as much */

static enum lks_code hang(void *ctx, struct lks_buf *out, struct lks_err *err)
{
    (void)ctx;
    (void)out;
    for (int i = 0; i < 600; i++)
        sleep(1);
    return lks_fail(err, LKS_E_IO, "awake");
}

static enum lks_code crash(void *ctx, struct lks_buf *out, struct lks_err *err)
{
    (void)ctx;
    (void)out;
    (void)signal(SIGSEGV, SIG_DFL);
    (void)raise(SIGSEGV);
    return lks_fail(err, LKS_E_IO, "alive");
}

static enum lks_code fine(void *ctx, struct lks_buf *out, struct lks_err *err)
{
    (void)err;
    lks_buf_addf(out, "%s", (const char *)ctx);
    return LKS_OK;
}

static void ask(struct lks_probe *p, const char *name, const char *key, lks_ask_fn *fn)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(100);
    struct lks_err err = {0};
    char value[] = "42";
    if (lks_root_ask(p->root, "test", key, fn, value, &out, &err) == LKS_OK)
        lks_probe_value(p, name, NONE, NONE, lks_buf_view(&out), key);
    else
        lks_probe_failed(p, name, NONE, key, &err);
}

static void probe_good(struct lks_probe *p)
{
    ask(p, "good", "call good", fine);
}

/* The sick call is the second of three. */
static void probe_hangs_once(struct lks_probe *p)
{
    ask(p, "first", "call first", fine);
    ask(p, "sick", "call sick", hang);
    ask(p, "third", "call third", fine);
}

static void probe_crashes_once(struct lks_probe *p)
{
    ask(p, "before", "call before", fine);
    ask(p, "crashing", "call crashing", crash);
    ask(p, "after", "call after", fine);
}

static void probe_hangs_always(struct lks_probe *p)
{
    ask(p, "one", "call one", fine);
    for (int i = 0; i < 100; i++) {
        char key[32];
        snprintf(key, sizeof(key), "call %d", i);
        ask(p, "many", key, hang);
    }
    ask(p, "never", "call never", fine);
}

static void probe_prints(struct lks_probe *p)
{
    static const char noise[] = "a library that prints\n";
    (void)!write(1, noise, sizeof(noise) - 1);
    (void)!write(2, noise, sizeof(noise) - 1);
    lks_probe_value(p, "quiet", NONE, NONE, LKS_STR("yes"), "none");
}

/* More readings than a pipe holds. */
static void probe_talks(struct lks_probe *p)
{
    for (int i = 0; i < 3000; i++) {
        char name[32];
        snprintf(name, sizeof(name), "talk.%d", i);
        lks_probe_value(p, name, NONE, NONE,
                        LKS_STR("a value of some length, so that the pipe fills up in between"),
                        "none");
    }
}

static void probe_exits(struct lks_probe *p)
{
    lks_probe_value(p, "said", NONE, NONE, LKS_STR("1"), "none");
    _exit(9);
}

/* A library that went mad writes to whatever is open. */
static void probe_babbles(struct lks_probe *p)
{
    lks_probe_value(p, "sane", NONE, NONE, LKS_STR("1"), "none");
    char noise[4096];
    memset(noise, 0x7f, sizeof(noise));
    for (int fd = 3; fd < 256; fd++) {
        struct stat st;
        if (fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode))
            (void)!write(fd, noise, sizeof(noise));
    }
}

static enum lks_code slow(void *ctx, struct lks_buf *out, struct lks_err *err)
{
    struct lks_probe *p = ctx;
    (void)err;
    lks_root_patience(p->root, 8);
    (void)usleep(3 * call_ms * 1000);
    lks_buf_addf(out, "slow");
    return LKS_OK;
}

/* It asks for patience with its first question, and needs all of it; the others are as usual. */
static void probe_slow_start(struct lks_probe *p)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(100);
    struct lks_err err = {0};
    if (lks_root_ask(p->root, "test", "call init", slow, p, &out, &err) == LKS_OK)
        lks_probe_value(p, "init", NONE, NONE, lks_buf_view(&out), "call init");
    for (int i = 0; i < 4; i++) {
        char key[32];
        snprintf(key, sizeof(key), "call then %d", i);
        (void)usleep(call_ms * 1000 * 2 / 3);
        ask(p, "then", key, fine);
    }
}

static void stay(void)
{
    for (int i = 0; i < 600; i++)
        sleep(1);
}

/* Letting go of a device takes its time: all was said before. */
static void probe_ends_slowly(struct lks_probe *p)
{
    (void)atexit(stay);
    ask(p, "spoken", "call spoken", fine);
    struct sigaction none = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGTERM, &none, NULL);
}

/* Its pipe is closed, and it goes on. */
static void probe_hangs_up(struct lks_probe *p)
{
    ask(p, "hung-up", "call hung-up", fine);
    for (int fd = 3; fd < 256; fd++) {
        struct stat st;
        if (fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode))
            (void)close(fd);
    }
    stay();
}

/* More than a tuple holds. */
static void probe_floods(struct lks_probe *p)
{
    for (int i = 0; i < LKS_TUPLE_READINGS_MAX + 10; i++) {
        char name[32];
        snprintf(name, sizeof(name), "flood.%d", i);
        lks_probe_value(p, name, NONE, NONE, LKS_STR("x"), "none");
    }
}

static void probe_silent(struct lks_probe *p)
{
    (void)p;
}

#define PROMISES(...) ((const char *const[]){__VA_ARGS__, NULL})

static const struct lks_probe_kind kinds[] = {
    {"good", "", probe_good, PROMISES("good"), false},
    {"hangs-once", "", probe_hangs_once, PROMISES("sick", "third"), false},
    {"crashes-once", "", probe_crashes_once, PROMISES("after"), false},
    {"hangs-always", "", probe_hangs_always, PROMISES("one", "never"), false},
    {"prints", "", probe_prints, PROMISES("quiet"), false},
    {"talks", "", probe_talks, PROMISES("talk.0"), false},
    {"exits", "", probe_exits, PROMISES("said", "unsaid"), false},
    {"babbles", "", probe_babbles, PROMISES("sane", "mad"), false},
    {"slow-start", "", probe_slow_start, PROMISES("init", "then"), false},
    {"ends-slowly", "", probe_ends_slowly, PROMISES("spoken"), false},
    {"hangs-up", "", probe_hangs_up, PROMISES("hung-up", "lost"), false},
    {"floods", "", probe_floods, PROMISES("level"), false},
    {"silent", "", probe_silent, PROMISES("owed"), false},
};

static const struct {
    const char *name;
    enum lks_reading_state state;
    const char *value; /* a part of it */
} expected[] = {
    {"good", LKS_MEASURED, "42"},
    {"first", LKS_MEASURED, "42"},
    {"sick", LKS_UNMEASURED, "timed out after "},
    {"third", LKS_MEASURED, "42"},
    {"before", LKS_MEASURED, "42"},
    {"crashing", LKS_UNMEASURED, "crashed (signal 11)"},
    {"after", LKS_MEASURED, "42"},
    {"one", LKS_MEASURED, "42"},
    {"never", LKS_UNMEASURED, "timed out after "},
    {"probe.hangs-always", LKS_UNMEASURED, "timed out after "},
    {"quiet", LKS_MEASURED, "yes"},
    {"talk.2999", LKS_MEASURED, "a value"},
    {"said", LKS_MEASURED, "1"},
    {"unsaid", LKS_UNMEASURED, "gave up (status 9)"},
    {"mad", LKS_UNMEASURED, "spoke nonsense"},
    {"init", LKS_MEASURED, "slow"},
    {"then", LKS_MEASURED, "42"},
    {"spoken", LKS_MEASURED, "42"},
    {"lost", LKS_UNMEASURED, "broke off"},
    {"level", LKS_UNMEASURED, "returned too much"},
    {"owed", LKS_UNMEASURED, "returned nothing"},
};

static bool is_expected(const struct lks_tuple *tuple, size_t i)
{
    const struct lks_reading *r = lks_tuple_find(tuple, expected[i].name);
    return r != NULL && r->state == expected[i].state &&
           lks_str_find(r->value, lks_str_from(expected[i].value)) >= 0;
}

static void run_probes(struct lks_root *root, struct lks_tuple *tuple, struct lks_probe_cost *cost)
{
    struct lks_probe_options options = {
        .cost = true, .call_ms = (int)call_ms, .probe_ms = 5 * (int)call_ms};
    struct lks_err err = {0};
    lks_tuple_init(tuple);
    CHECK_CODE(lks_probe_run(kinds, LKS_COUNT(kinds), root, NULL, &options, tuple, cost, &err),
               LKS_OK);
}

/* Healthy calls end in time: what that is depends on the machine, and is found by trying. */
static void test_sick_probes(void)
{
    enum { FIRST_MS = 300, LAST_MS = FIRST_MS * 64 };
    struct lks_root root;
    struct lks_err err = {0};
    struct lks_tuple tuple;
    struct lks_probe_cost cost = {0};
    if (!CHECK(lks_root_open(NULL, NULL, &root, &err) == LKS_OK))
        return;
    size_t good = 0;
    for (call_ms = FIRST_MS; good < LKS_COUNT(expected) && call_ms <= LAST_MS; call_ms *= 4) {
        if (call_ms > FIRST_MS)
            lks_tuple_fini(&tuple);
        run_probes(&root, &tuple, &cost);
        for (good = 0; good < LKS_COUNT(expected) && is_expected(&tuple, good); good++) {
        }
    }
    for (size_t i = 0; i < LKS_COUNT(expected); i++) {
        lks_test_case("%s", expected[i].name);
        CHECK(is_expected(&tuple, i));
    }
    lks_test_case("a probe that said too much takes no room");
    CHECK(tuple.count < LKS_TUPLE_READINGS_MAX / 2);
    lks_test_case("no complaint of one that ended slowly");
    CHECK(lks_tuple_find(&tuple, "probe.ends-slowly") == NULL);
    lks_test_case("cost");
    CHECK(cost.parent_kib > 0 && cost.child_kib > 0 && cost.child != NULL);
    lks_tuple_fini(&tuple);
    lks_root_close(&root);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"run: what a sick probe takes with it", test_sick_probes},
        {0},
    });
}
