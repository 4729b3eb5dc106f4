/*
 * A small campaign with real parts, and lockstepd killed once in it: at a commit of its journal,
 * before and behind it, or between a request and its answer, of BMCs and of agents. The campaign is
 * run once in peace, which says how many such moments there are, and then once for each of them,
 * from the same beginning. It has to end as it did in peace: the same versions, each device flashed
 * as often, nothing left over, and a journal that is whole.
 *
 *     test_real_campaign_kills                a sample of all moments
 *     test_real_campaign_kills all            each of them
 *     test_real_campaign_kills MOMENT NUMBER  one of them, as a failure names it
 *
 * With LKS_KEEP=DIR what a failed one left behind is kept there.
 */
#include "tests/real/kill_at.h"
#include "tests/real/small.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    NODES = 2,
    SLOTS = 6, /* campaigns at a time: they wait more than they work */
    TICK_MS = 50,
    POINTS_MAX = 8192,
    SAMPLE = 31, /* of how many moments one is in the sample */
    TEXT_SIZE = 4096,
    LINES_MAX = 50, /* of what a failed one said */
};

/* Nobody is late or lost while the beginning lies on the disk. */
static const char config[] =
    "limits: {heartbeat_ms: 150, late_ms: 40000000, lost_ms: 80000000, validity_ms: 100,\n"
    "         staleness_ms: 100, mass_floor: 100}\n"
    "sweep: {run: 'yes'}\n"
    "bmc: {speed: 250}\n";

static const char *const moment_words[KILL_MOMENTS] = {
    [KILL_COMMIT] = "commit",           [KILL_DURABLE] = "durable",
    [KILL_BMC_SENT] = "bmc-sent",       [KILL_BMC_ANSWERED] = "bmc-answered",
    [KILL_AGENT_ASKED] = "agent-asked", [KILL_AGENT_ANSWERED] = "agent-answered",
};

/* A moment to kill at; and what came of it, told by the process that ran it. */
struct point {
    unsigned moment, at; /* at 0: none */
    bool killed;
    char behind[SMALL_SORT_SIZE]; /* the last record that was durable */
};

/* What processes have in common. */
struct common {
    struct point peace;
    char end[TEXT_SIZE]; /* how it stands in peace */
    unsigned counts[KILL_MOMENTS];
    uint64_t rows_before, rows;
    size_t count;
    struct point points[POINTS_MAX];
};
static struct common *common;

/* A place to run campaigns at, one at a time, and its beginning. */
struct slot {
    struct small small;
    struct kill_plan *plan;
    char plan_path[SMALL_PATH];
    pid_t pid; /* 0: free */
    struct point *point;
    char log[SMALL_PATH];
};

/* The world ----------------------------------------------------------------------------------- */

static struct ctl *ctl_of(struct slot *slot)
{
    return &slot->small.f.crew.c;
}

static void *map(int fd, size_t size)
{
    void *p =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
    LKS_ASSERT(p != MAP_FAILED);
    return p;
}

static void make_plan(struct slot *slot)
{
    snprintf(slot->plan_path, sizeof(slot->plan_path), "%s/kill", ctl_of(slot)->tree.path);
    int fd = open(slot->plan_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    LKS_ASSERT(fd >= 0 && ftruncate(fd, sizeof(struct kill_plan)) == 0);
    slot->plan = map(fd, sizeof(struct kill_plan));
    close(fd);
}

static void copy_parts(struct slot *slot, const char *from, const char *to)
{
    char source[SMALL_PATH], target[SMALL_PATH];
    const char *tree = ctl_of(slot)->tree.path;
    snprintf(source, sizeof(source), "%s/%sdata", tree, from);
    snprintf(target, sizeof(target), "%s/%sdata", tree, to);
    ctl_copy(source, target);
    for (size_t i = 0; i < NODES; i++) {
        snprintf(source, sizeof(source), "%s/%s%s", tree, from, small_name(i));
        snprintf(target, sizeof(target), "%s/%s%s", tree, to, small_name(i));
        ctl_copy(source, target);
    }
}

static void stop_all(struct slot *slot)
{
    struct small *s = &slot->small;
    lks_client_free(s->f.crew.root);
    s->f.crew.root = NULL;
    small_stop_agents(s);
    if (ctl_of(slot)->pid != 0)
        ctl_kill(ctl_of(slot));
    bmcd_kill(&s->f.bmcs);
}

/* Begin once, and keep that. */
static bool begin_slot(struct slot *slot)
{
    if (!small_begin(&slot->small, NODES, config))
        return false;
    make_plan(slot);
    stop_all(slot);
    copy_parts(slot, "", "first-");
    return true;
}

/* lockstepd, with the library that kills it. */
static bool start_daemon(struct slot *slot)
{
    struct crew *crew = &slot->small.f.crew;
    setenv("LD_PRELOAD", LKS_KILL_LIBRARY, 1);
    setenv(KILL_FILE_VARIABLE, slot->plan_path, 1);
    ctl_spawn(&crew->c);
    unsetenv("LD_PRELOAD");
    if (!ctl_ready(&crew->c))
        return false;
    lks_client_free(crew->root);
    crew->root = ctl_client(&crew->c, CTL_UNIX);
    return CHECK(crew->root != NULL);
}

static bool start_all(struct slot *slot)
{
    struct small *s = &slot->small;
    copy_parts(slot, "first-", "");
    return small_start_bmcs(s) && start_daemon(slot) && small_start_agents(s) && small_conform(s);
}

/* The kill ------------------------------------------------------------------------------------ */

static bool note_row(void *ctx, const struct lks_row *row)
{
    struct lks_record record;
    struct lks_err err = {0};
    if (lks_record_unpack(row->kind, row->version, row->body, &record, &err) == LKS_OK)
        small_sort(&record, ctx);
    return true;
}

static void note_last(struct slot *slot)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    struct lks_err err = {0};
    if (ctl_store(ctl_of(slot), &store))
        CHECK_CODE(store.ops->rows(store.self, 1, note_row, slot->point->behind, &err), LKS_OK);
}

/* Whether it was killed since; then it runs again. */
static bool revive(struct slot *slot)
{
    struct ctl *c = ctl_of(slot);
    int status;
    if (waitpid(c->pid, &status, WNOHANG) != c->pid)
        return false;
    c->pid = 0;
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    CHECK(!slot->point->killed);
    slot->point->killed = true;
    note_last(slot);
    return start_daemon(slot);
}

/* The change ---------------------------------------------------------------------------------- */

/* What is said of the only change there is; "" while nobody answers, or when there is none. */
static struct lks_str state_of(struct slot *slot, int64_t *id, struct crew_told *t)
{
    (void)revive(slot);
    if (crew_try(slot->small.f.crew.root, "GET", "/v1/changes", NULL, t) != 200 ||
        crew_count(t, "items") != 1)
        return LKS_STR("");
    const struct lks_doc *change = crew_item(t, "items", 0), *number = lks_doc_member(change, "id");
    *id = number != NULL ? number->number : 0;
    return lks_doc_text(change, "state");
}

/* Somebody says something until it is heard: until the change is no longer as it was. Who gets no
 * answer looks first. */
static bool order(struct slot *slot, struct lks_client *const *who, const char *from,
                  const char *word, const char *body)
{
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
        int64_t id = 0;
        char path[SMALL_PATH];
        struct lks_str state = state_of(slot, &id, &t);
        bool known = t.answer.status == 200;
        if (known && !lks_str_is(state, from))
            return true;
        snprintf(path, sizeof(path), "/v1/changes");
        if (word[0] != '\0')
            snprintf(path, sizeof(path), "/v1/changes/%" PRId64 "/%s", id, word);
        int status = known ? crew_try(*who, "POST", path, body, &t) : 0;
        if (status == 200)
            return true;
        if (status != 0 && !CHECK_INT(status, 503)) {
            CHECK_STR(crew_text(&t, "detail"), "");
            return false;
        }
    }
    return CHECK(false);
}

static bool begin_change(struct slot *slot)
{
    struct small *s = &slot->small;
    char propose[128], start[64];
    snprintf(propose, sizeof(propose),
             "{\"nodes\":\"g[1-%d]\",\"stack\":\"b\",\"soak_seconds\":1,\"reason\":\"next\"}",
             NODES);
    snprintf(start, sizeof(start), "{\"nodes\":%d,\"gpus\":%d,\"reason\":\"go\"}", NODES, NODES);
    return order(slot, &s->f.crew.root, "", "", propose) &&
           order(slot, &s->approver, "proposed", "approve", "{\"reason\":\"read\"}") &&
           order(slot, &s->for_train, "proposed", "approve", "{\"reason\":\"read\"}") &&
           order(slot, &s->for_dev, "proposed", "approve", "{\"reason\":\"read\"}") &&
           order(slot, &s->f.crew.root, "approved", "start", start);
}

static void print_members(struct slot *slot)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    int64_t id = 0;
    char path[SMALL_PATH];
    (void)state_of(slot, &id, &t);
    printf("%s\n", t.answer.body.ptr);
    snprintf(path, sizeof(path), "/v1/changes/%" PRId64 "/members?limit=100", id);
    (void)crew_try(slot->small.f.crew.root, "GET", path, NULL, &t);
    printf("%s\n", t.answer.body.ptr);
}

/* Whether it goes on, or nobody can tell now. */
static bool is_open(struct slot *slot)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    int64_t id;
    struct lks_str state = state_of(slot, &id, &t);
    return state.len == 0 || lks_str_is(state, "running");
}

static bool run_change(struct slot *slot)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    int64_t id;
    for (struct lks_wait w = {0}; is_open(slot) && lks_wait_on(&w);)
        lks_rest(TICK_MS);
    /* From here on it lives: a moment that was not met is not met any more. */
    slot->plan->at = 0;
    for (size_t i = 0; i < KILL_MOMENTS && slot->point == &common->peace; i++)
        common->counts[i] = slot->plan->counts[i];
    lks_rest(TICK_MS);
    if (CHECK_STR(state_of(slot, &id, &t), "done"))
        return true;
    print_members(slot);
    return false;
}

/* The end ------------------------------------------------------------------------------------- */

static void tell_pools(struct slot *slot, struct lks_buf *out)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    if (!crew_fine(slot->small.f.crew.root, "pools", "/v1/pools", NULL, &t))
        return;
    for (size_t i = 0; i < crew_count(&t, "items"); i++) {
        const struct lks_doc *pool = crew_item(&t, "items", i);
        lks_buf_addf(out, "pool %" LKS_STR_FMT " %" LKS_STR_FMT "\n",
                     LKS_STR_ARG(lks_doc_text(pool, "name")),
                     LKS_STR_ARG(lks_doc_text(pool, "stack")));
    }
}

static void check_end(struct slot *slot)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    small_tell_end(&slot->small, &text);
    tell_pools(slot, &text);
    lks_test_case("the end");
    uint64_t rows = ctl_whole(ctl_of(slot));
    if (slot->point == &common->peace) {
        CHECK(text.len < sizeof(common->end));
        snprintf(common->end, sizeof(common->end), "%s", text.ptr);
        common->rows = rows;
    } else {
        CHECK_STR(lks_buf_view(&text), common->end);
    }
}

/* One campaign, in a process of its own: what is left behind by one that fails goes with it. */
static struct slot *running;

static void run_point(void)
{
    struct slot *slot = running;
    if (!start_all(slot))
        return;
    if (slot->point == &common->peace)
        common->rows_before = ctl_whole(ctl_of(slot));
    for (size_t i = 0; i < KILL_MOMENTS; i++)
        slot->plan->counts[i] = 0;
    slot->plan->moment = slot->point->moment;
    slot->plan->at = slot->point->at;
    if (begin_change(slot) && run_change(slot))
        check_end(slot);
    slot->plan->at = 0; /* whatever became of it */
}

static void keep(struct slot *slot, const char *moment)
{
    const char *dir = getenv("LKS_KEEP");
    char path[SMALL_PATH];
    snprintf(path, sizeof(path), "%s/%s-%u", dir != NULL ? dir : "", moment, slot->point->at);
    if (dir != NULL)
        ctl_copy(ctl_of(slot)->tree.path, path);
}

static _Noreturn void become_run(struct slot *slot)
{
    const char *moment = slot->point->at != 0 ? moment_words[slot->point->moment] : "peace";
    char name[64];
    snprintf(name, sizeof(name), "%s %u", moment, slot->point->at);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (freopen(slot->log, "w", stdout) == NULL)
        _exit(2);
    running = slot;
    int status = lks_test_main((const struct lks_test[]){{name, run_point}, {0}});
    stop_all(slot);
    if (status != 0)
        keep(slot, moment);
    fflush(stdout);
    _exit(status);
}

/* All of them --------------------------------------------------------------------------------- */

static void begin_point(struct slot *slot, struct point *point)
{
    slot->point = point;
    snprintf(slot->log, sizeof(slot->log), "%s/said", ctl_of(slot)->tree.path);
    fflush(stdout);
    slot->pid = fork();
    if (slot->pid == 0)
        become_run(slot);
    LKS_ASSERT(slot->pid > 0);
}

static void print_file(const char *path)
{
    char line[1024];
    FILE *file = fopen(path, "r");
    for (unsigned i = 0; i < LINES_MAX && file != NULL && fgets(line, sizeof(line), file) != NULL;
         i++)
        printf("    %s", line);
    if (file != NULL)
        fclose(file);
}

/* Wait for one to end; whether it was good. */
static bool await_one(struct slot *slots, size_t count)
{
    for (;;) {
        int status = 0;
        pid_t pid = waitpid(-1, &status, 0);
        LKS_ASSERT(pid > 0 || errno == EINTR);
        for (size_t i = 0; i < count; i++) {
            struct slot *slot = &slots[i];
            if (pid <= 0 || slot->pid != pid)
                continue;
            slot->pid = 0;
            lks_test_case("%s %u behind %s", moment_words[slot->point->moment], slot->point->at,
                          slot->point->behind);
            if (CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0))
                return true;
            print_file(slot->log);
            return false;
        }
    }
}

static struct slot *free_slot(struct slot *slots, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (slots[i].pid == 0)
            return &slots[i];
    }
    return NULL;
}

static void run_points(struct slot *slots, size_t count)
{
    size_t begun = 0, ended = 0, good = 0, kills = 0;
    while (ended < common->count) {
        struct slot *slot = begun < common->count ? free_slot(slots, count) : NULL;
        if (slot != NULL) {
            begin_point(slot, &common->points[begun++]);
            continue;
        }
        good += await_one(slots, count);
        ended++;
    }
    for (size_t i = 0; i < common->count; i++)
        kills += common->points[i].killed;
    printf("     %zu kills, %zu campaigns were over before: %zu the same end, no second flash\n",
           kills, ended - kills, good);
}

/* Every SAMPLE-th of all moments, from the `first` of them on. No two campaigns have quite the same
 * number of them: a few more are tried than there were in peace, so that the last ones are hit. */
static void choose_points(unsigned first)
{
    unsigned number = 0;
    for (unsigned moment = 0; moment < KILL_MOMENTS; moment++) {
        unsigned most = common->counts[moment] + common->counts[moment] / 16;
        for (unsigned at = 1; at <= most; at++) {
            if (number++ % SAMPLE == first && common->count < POINTS_MAX)
                common->points[common->count++] = (struct point){.moment = moment, .at = at};
        }
    }
}

static void print_peace(void)
{
    const unsigned *counts = common->counts;
    printf("%s     %" PRIu64 " records in %u commits, %u requests to BMCs or parts of them, %u of "
           "agents and people\n",
           common->end, common->rows - common->rows_before, counts[KILL_DURABLE],
           counts[KILL_BMC_SENT], counts[KILL_AGENT_ASKED]);
}

static unsigned samples = 1;
static struct point only; /* at 0: not only one */

static void test_kills(void)
{
    struct slot *slots = calloc(SLOTS, sizeof(*slots));
    size_t count = 0, most = only.at != 0 ? 1 : SLOTS;
    LKS_ASSERT(slots != NULL);
    common = map(-1, sizeof(*common));
    while (count < most && begin_slot(&slots[count]))
        count++;
    if (CHECK_INT(count, most)) {
        begin_point(&slots[0], &common->peace);
        if (await_one(slots, 1)) {
            print_peace();
            for (unsigned i = 0; i < samples && only.at == 0; i++)
                choose_points(i);
            if (only.at != 0)
                common->points[common->count++] = only;
            run_points(slots, count);
        }
    }
    for (size_t i = 0; i < count; i++)
        small_end(&slots[i].small);
    free(slots);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 2 && strcmp(argv[1], "all") == 0)
        samples = SAMPLE;
    for (unsigned i = 0; argc == 3 && i < KILL_MOMENTS; i++) {
        if (strcmp(argv[1], moment_words[i]) == 0)
            only = (struct point){.moment = i, .at = (unsigned)strtoul(argv[2], NULL, 10)};
    }
    if (argc > 1 && samples == 1 && only.at == 0) {
        fprintf(stderr, "usage: %s [all | MOMENT NUMBER]\n", argv[0]);
        return 2;
    }
    return lks_test_main((const struct lks_test[]){
        {"a campaign, and lockstepd killed at every moment of it", test_kills},
        {0},
    });
}
