/*
 * A campaign with two controllers: lockstepd twice on a PostgreSQL with its synchronous standby, an
 * agent for each of twelve nodes, and lockstep-bmcsim for their BMCs. People talk to the one that
 * follows. The one that leads is killed while a wave is under way and images are being written; the
 * other takes over and brings the change to the end that it would have had: everybody runs B, no
 * device was flashed a second time, and there is one journal.
 */
#include "drivers/store/postgres.h"
#include "model/record/record.h"
#include "tests/postgres.h"
#include "tests/real/small.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    NODES = 12,
    AT_ONCE = 3, /* updates that are under way when the leader dies */
};

#define DATABASE "lockstep"

static const char config[] =
    "limits: {heartbeat_ms: 250, late_ms: 20000, lost_ms: 90000, validity_ms: 200,\n"
    "         staleness_ms: 500, skew_ms: 500, mass_floor: 100}\n"
    "sweep: {run: 'yes'}\n"
    "bmc: {speed: 100}\n";

struct pair {
    struct small small; /* its daemon is the first controller; whom it asks is who leads */
    struct crew second;
    struct pg pg;
    char conninfo[PG_CONNINFO_SIZE];
    uint64_t change;
};

static void print_log(const struct ctl *c)
{
    struct lks_str log = ctl_log(c);
    printf("%s:\n%" LKS_STR_FMT "\n", c->data, LKS_STR_ARG(log));
}

/* Until it is so; false, with a failed check, when it does not come to be. */
static bool await(struct pair *p, bool (*so)(struct pair *p), const char *what)
{
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        if (so(p))
            return true;
    }
    lks_check(false, what, __FILE__, __LINE__);
    print_log(&p->small.f.crew.c);
    print_log(&p->second.c);
    return false;
}

/* The controllers ----------------------------------------------------------------------------- */

static bool first_leads(struct pair *p)
{
    return ctl_leads(&p->small.f.crew.c);
}

static bool first_follows(struct pair *p)
{
    return ctl_follows(&p->small.f.crew.c);
}

static bool second_leads(struct pair *p)
{
    return ctl_leads(&p->second.c);
}

static bool second_follows(struct pair *p)
{
    return ctl_follows(&p->second.c);
}

/* Both are told where the other is, and keep artifacts at one place. */
static bool join(struct pair *p)
{
    struct ctl *first = &p->small.f.crew.c, *second = &p->second.c;
    char lines[256], depot[128], link[128];
    ctl_init_shared(first, "--postgres", p->conninfo, config);
    ctl_init_shared(second, "--join", first->data, config);
    if (!small_fix_ports(first) || !small_fix_ports(second))
        return false;
    snprintf(lines, sizeof(lines),
             "controller:\n  lease_ms: 2000\n"
             "  agents: \"https://localhost:%u https://localhost:%u\"\n",
             first->agents, second->agents);
    ctl_configure(first, lines);
    ctl_configure(second, lines);
    snprintf(depot, sizeof(depot), "%s/depot", first->data);
    snprintf(link, sizeof(link), "%s/depot", second->data);
    (void)mkdir(depot, 0700);
    return CHECK(symlink(depot, link) == 0);
}

static bool start(struct small *s, void *ctx)
{
    struct pair *p = ctx;
    struct crew *first = &s->f.crew;
    if (!pg_start_pair(&p->pg) || !CHECK(pg_sql(&p->pg, "postgres", "create database " DATABASE)) ||
        pg_conninfo(&p->pg, DATABASE, p->conninfo) == NULL || !join(p) || !ctl_start(&first->c) ||
        !await(p, first_leads, "the first controller leads") || !ctl_start(&p->second.c) ||
        !await(p, second_follows, "the second controller follows"))
        return false;
    first->root = ctl_client(&first->c, CTL_UNIX);
    p->second.root = ctl_client(&p->second.c, CTL_UNIX);
    return CHECK(first->root != NULL && p->second.root != NULL);
}

static bool open_store(void *ctx, struct lks_store *out)
{
    struct pair *p = ctx;
    struct lks_err err = {0};
    return CHECK_CODE(lks_store_postgres_open(p->conninfo, LKS_STORE_READ, out, &err), LKS_OK);
}

/* The change ---------------------------------------------------------------------------------- */

/* A word to the change, by somebody. */
static bool tell(struct pair *p, struct lks_client *who, const char *id, const char *order,
                 const char *body)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char path[SMALL_PATH];
    snprintf(path, sizeof(path), "/v1/changes/%" PRIu64 "/%s", p->change, order);
    return crew_fine(who, id, path, body, &t);
}

/* Its state, as this one knows it. */
static bool is_state(struct pair *p, struct lks_client *who, const char *state)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char path[SMALL_PATH];
    snprintf(path, sizeof(path), "/v1/changes/%" PRIu64 "?plan=false", p->change);
    return crew_fine(who, "change", path, NULL, &t) && lks_str_is(crew_text(&t, "state"), state);
}

static bool second_knows(struct pair *p)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char path[SMALL_PATH];
    snprintf(path, sizeof(path), "/v1/changes/%" PRIu64 "?plan=false", p->change);
    return crew_try(p->second.root, "GET", path, NULL, &t) == 200;
}

static bool second_sees_pause(struct pair *p)
{
    return is_state(p, p->second.root, "paused");
}

static bool second_sees_run(struct pair *p)
{
    return is_state(p, p->second.root, "running");
}

/* Proposed, approved, begun, paused and resumed, all of it by way of the one that follows. */
static bool begin_change(struct pair *p)
{
    static const char yes[] = "{\"reason\":\"read\"}";
    struct lks_client *follower = p->second.root;
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char body[128];
    snprintf(body, sizeof(body),
             "{\"nodes\":\"g[1-%d]\",\"stack\":\"b\",\"soak_seconds\":1,\"reason\":\"next\"}",
             NODES);
    if (!crew_fine(follower, "propose", "/v1/changes", body, &t))
        return false;
    p->change = (uint64_t)crew_number(&t, "id");
    snprintf(body, sizeof(body), "{\"nodes\":%d,\"gpus\":%d,\"reason\":\"go\"}", NODES, NODES);
    return CHECK(p->change > 0) && await(p, second_knows, "the follower knows the change") &&
           tell(p, p->small.approver, "approveChange", "approve", yes) &&
           tell(p, p->small.for_train, "approveChange", "approve", yes) &&
           tell(p, p->small.for_dev, "approveChange", "approve", yes) &&
           tell(p, follower, "startChange", "start", body) &&
           tell(p, follower, "pauseChange", "pause", yes) &&
           CHECK(is_state(p, p->small.f.crew.root, "paused")) &&
           await(p, second_sees_pause, "the follower sees that it is paused") &&
           tell(p, follower, "resumeChange", "resume", yes) &&
           await(p, second_sees_run, "the follower sees that it runs");
}

/* Several BMCs were given an image and write it: in a ring, as rings before are narrower. */
static bool is_flashing(struct pair *p)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    size_t given = 0;
    if (!crew_fine(p->small.f.crew.root, "flashes", "/v1/flashes?open=true&limit=100", NULL, &t))
        return false;
    for (size_t i = 0; i < crew_count(&t, "items"); i++)
        given +=
            lks_str_is(lks_doc_text(crew_item(&t, "items", i), "phase"), "waiting for the task");
    return given >= AT_ONCE;
}

static bool is_over(struct pair *p)
{
    return !is_state(p, p->second.root, "running");
}

/* The journal --------------------------------------------------------------------------------- */

struct journal {
    uint64_t flashes[NODES]; /* that were asked for */
    uint64_t open, leaders, epoch;
    bool rising;
};

static bool read_row(void *ctx, const struct lks_row *row)
{
    struct journal *j = ctx;
    struct lks_record r;
    struct lks_err err = {0};
    if (!CHECK_CODE(lks_record_unpack(row->kind, row->version, row->body, &r, &err), LKS_OK))
        return false;
    if (r.kind == LKS_RECORD_LED) {
        j->rising &= r.led.epoch > j->epoch;
        j->epoch = r.led.epoch;
        j->leaders++;
    }
    for (size_t i = 0; r.kind == LKS_RECORD_FLASH && i < NODES; i++)
        j->flashes[i] += lks_str_is(r.flash.node, small_name(i));
    j->open += r.kind == LKS_RECORD_FLASH;
    j->open -= r.kind == LKS_RECORD_FLASH_ENDED;
    return true;
}

static bool read_journal(struct pair *p, struct journal *j)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    struct lks_err err = {0};
    *j = (struct journal){.rising = true};
    return open_store(p, &store) &&
           CHECK_CODE(store.ops->rows(store.self, 1, read_row, j, &err), LKS_OK);
}

static void check_whole(struct pair *p)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    if (open_store(p, &store))
        CHECK(ctl_whole_in(&p->second.c, &store) > 0);
}

/* What happens -------------------------------------------------------------------------------- */

static void print_members(struct pair *p)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char path[SMALL_PATH];
    snprintf(path, sizeof(path), "/v1/changes/%" PRIu64 "/members?limit=100", p->change);
    crew_fine(p->second.root, "changeMembers", path, NULL, &t);
    printf("%s\n", t.answer.body.ptr);
}

/* kill -9 while images are written; whom everybody asks from then on is the second. */
static bool take_over(struct pair *p)
{
    struct crew *first = &p->small.f.crew;
    struct journal j;
    if (!await(p, is_flashing, "images are being written")) {
        print_members(p);
        return false;
    }
    ctl_kill(&first->c);
    lks_client_free(first->root);
    first->root = NULL;
    CHECK(read_journal(p, &j) && j.open >= 1);
    printf("     %" PRIu64 " updates were under way when the leader was killed\n", j.open);
    if (!await(p, second_leads, "the second controller leads"))
        return false;
    first->root = ctl_client(&p->second.c, CTL_UNIX);
    ctl_spawn(&first->c);
    return CHECK(first->root != NULL) && await(p, first_follows, "the first controller follows");
}

/* The change as one of them shows it. */
static void show(struct pair *p, const struct ctl *c, struct lks_buf *out)
{
    char path[SMALL_PATH];
    snprintf(path, sizeof(path), "/v1/changes/%" PRIu64, p->change);
    CHECK_INT(ctl_once(c, "GET", path, NULL, out), 200);
}

static bool both_show_the_same(struct pair *p)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf first = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf second = {0};
    show(p, &p->small.f.crew.c, &first);
    show(p, &p->second.c, &second);
    return lks_str_eq(lks_buf_view(&first), lks_buf_view(&second));
}

static void check_end(struct pair *p)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf shown = {0}, end = {0};
    struct journal j;
    await(p, both_show_the_same, "both controllers show the change alike");
    show(p, &p->second.c, &shown);
    CHECK_HAS(lks_buf_view(&shown), "\"state\":\"done\"");
    small_tell_end(&p->small, &end);
    printf("%s", end.ptr);
    if (!read_journal(p, &j))
        return;
    CHECK_INT(j.open, 0);
    CHECK_INT(j.leaders, 2);
    CHECK(j.rising);
    for (size_t i = 0; i < NODES; i++) {
        char wanted[64];
        lks_test_case("%s", small_name(i));
        snprintf(wanted, sizeof(wanted), "%s conforms", small_name(i));
        CHECK_HAS(lks_buf_view(&end), wanted);
        const struct lks_doc *device = flashes_truth(&p->small.f, small_name(i), "cpld", &t);
        if (CHECK(device != NULL))
            CHECK_INT(lks_doc_member(device, "flashes")->number, j.flashes[i]);
    }
    check_whole(p);
}

static void run(struct pair *p)
{
    if (!begin_change(p) || !take_over(p) || !await(p, is_over, "the change is over"))
        return;
    if (!CHECK(is_state(p, p->second.root, "done")))
        print_members(p);
    else
        check_end(p);
}

static void test_story(void)
{
    struct pair *p = calloc(1, sizeof(*p));
    LKS_ASSERT(p != NULL);
    const struct small_site site = {.start = start,
                                    .store = open_store,
                                    .people = &p->second,
                                    .speed = 100,
                                    .headroom = NODES,
                                    .ctx = p};
    if (small_begin_at(&p->small, NODES, &site))
        run(p);
    if (p->second.c.pid != 0)
        ctl_kill(&p->second.c);
    if (p->small.f.crew.c.pid != 0)
        ctl_kill(&p->small.f.crew.c);
    small_stop_agents(&p->small);
    bmcd_fini(&p->small.f.bmcs);
    pg_free(&p->pg);
    crew_end(&p->second);
    small_end(&p->small);
    free(p);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"a campaign whose leading controller is killed in a wave", test_story},
        {0},
    });
}
