/*
 * A small campaign with real parts: lockstepd on SQLite, an agent for each of six nodes on a
 * captured machine of its own, and lockstep-bmcsim for their BMCs. Two nodes are one domain. Stack
 * B differs from A in a package, a setting and the firmware of a device behind the BMC.
 *
 * It is run twice: once in peace, and once with lockstepd killed at every sort of record, as soon
 * as the first of that sort is durable. Both have to end alike: everybody runs B, no device was
 * flashed more often than in peace, and no command ran twice.
 *
 * Not at every single record: an update counts its resets before it sends them and gives up behind
 * the third, so one that is killed before each of them rightly ends as unknown.
 */
#include "model/record/record.h"
#include "tests/real/small.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    NODES = 6,
    TICK_MS = 5,
    SORTS_MAX = 4096,
};

/* The clock of conversations with BMCs is fast, and so are their deadlines: it must not be so fast
 * that an update is given up while lockstepd is being killed. */
static const char config[] =
    "limits: {heartbeat_ms: 250, late_ms: 10000, lost_ms: 60000, validity_ms: 100,\n"
    "         staleness_ms: 100, mass_floor: 100}\n"
    "sweep: {run: 'yes'}\n"
    "bmc: {speed: 50}\n";

struct story {
    struct small small;
    uint64_t change;
    /* Sorts of records that were seen. */
    char (*sorts)[SMALL_SORT_SIZE]; /* owned */
    size_t sort_count;
    uint64_t seen; /* the last row that was looked at */
    bool fresh;    /* a sort that was not seen before was */
    unsigned kills;
};

/* The journal --------------------------------------------------------------------------------- */

/* Each start makes these, and liveness follows from time alone. */
static bool is_of_starts(unsigned kind)
{
    return kind == LKS_RECORD_STARTED || kind == LKS_RECORD_LIMITS || kind == LKS_RECORD_CLOCK ||
           kind == LKS_RECORD_LIVENESS;
}

static bool look_at_row(void *ctx, const struct lks_row *row)
{
    struct story *s = ctx;
    struct lks_record record;
    struct lks_err err = {0};
    char sort[SMALL_SORT_SIZE];
    s->seen = row->seq;
    if (is_of_starts(row->kind) ||
        !CHECK_CODE(lks_record_unpack(row->kind, row->version, row->body, &record, &err), LKS_OK))
        return true;
    small_sort(&record, sort);
    for (size_t i = 0; i < s->sort_count; i++) {
        if (strcmp(s->sorts[i], sort) == 0)
            return true;
    }
    if (CHECK(s->sort_count < SORTS_MAX))
        snprintf(s->sorts[s->sort_count++], SMALL_SORT_SIZE, "%s", sort);
    s->fresh = true;
    return true;
}

/* Rows that became durable since; whether there was one of a sort that was not seen before. */
static bool look(struct story *s)
{
    struct lks_store store = {0};
    struct lks_err err = {0};
    s->fresh = false;
    if (!ctl_store(&s->small.f.crew.c, &store))
        return false;
    CHECK_CODE(store.ops->rows(store.self, s->seen + 1, look_at_row, s, &err), LKS_OK);
    lks_store_close(&store);
    return s->fresh;
}

/* The change ---------------------------------------------------------------------------------- */

static bool kill_it(struct story *s)
{
    s->kills++;
    return flashes_kill(&s->small.f);
}

/* A word to the change, by somebody. */
static bool tell(struct story *s, struct lks_client *who, const char *id, const char *order,
                 const char *body)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char path[SMALL_PATH];
    snprintf(path, sizeof(path), "/v1/changes/%" PRIu64 "/%s", s->change, order);
    return crew_fine(who, id, path, body, &t);
}

static bool propose(struct story *s, bool kills)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char body[96];
    if (!crew_fine(s->small.f.crew.root, "propose", "/v1/changes",
                   "{\"nodes\":\"g[1-6]\",\"stack\":\"b\",\"soak_seconds\":1,\"reason\":\"next\"}",
                   &t))
        return false;
    s->change = (uint64_t)crew_number(&t, "id");
    if (!CHECK(s->change > 0) || (kills && !kill_it(s)) ||
        !tell(s, s->small.approver, "approveChange", "approve", "{\"reason\":\"read\"}") ||
        (kills && !kill_it(s)) ||
        !tell(s, s->small.for_train, "approveChange", "approve", "{\"reason\":\"read\"}") ||
        !tell(s, s->small.for_dev, "approveChange", "approve", "{\"reason\":\"read\"}"))
        return false;
    snprintf(body, sizeof(body), "{\"nodes\":%d,\"gpus\":%d,\"reason\":\"go\"}", NODES, NODES);
    return tell(s, s->small.f.crew.root, "startChange", "start", body);
}

/* Its state; and the members that are not done, where it does not end. */
static struct lks_str state_of(struct story *s, struct crew_told *t)
{
    char path[SMALL_PATH];
    snprintf(path, sizeof(path), "/v1/changes/%" PRIu64 "?plan=false", s->change);
    return crew_fine(s->small.f.crew.root, "change", path, NULL, t) ? crew_text(t, "state")
                                                                    : LKS_STR("");
}

static void print_members(struct story *s)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char path[SMALL_PATH];
    snprintf(path, sizeof(path), "/v1/changes/%" PRIu64 "/members?limit=100", s->change);
    crew_fine(s->small.f.crew.root, "changeMembers", path, NULL, &t);
    printf("%s\n", t.answer.body.ptr);
}

static bool is_open(struct lks_str state)
{
    return lks_str_is(state, "approved") || lks_str_is(state, "running");
}

static bool run_change(struct story *s, bool kills)
{
    for (struct lks_wait w = {0}; lks_wait_on(&w);) {
        LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
        bool fresh = look(s);
        if (kills && fresh && !kill_it(s))
            return false;
        if (!fresh && !is_open(state_of(s, &t)))
            break;
        lks_rest(fresh ? 1 : TICK_MS);
    }
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    if (CHECK_STR(state_of(s, &t), "done"))
        return true;
    print_members(s);
    return false;
}

static void run(bool kills, struct lks_buf *out)
{
    struct story *s = calloc(1, sizeof(*s));
    LKS_ASSERT(s != NULL);
    s->sorts = calloc(SORTS_MAX, sizeof(*s->sorts));
    LKS_ASSERT(s->sorts != NULL);
    bool begun = small_begin(&s->small, NODES, config);
    if (begun)
        look(s);
    s->sort_count = 0; /* what it took to begin */
    if (begun && propose(s, kills) && run_change(s, kills))
        small_tell_end(&s->small, out);
    printf("     %s: %zu sorts of records, lockstepd was killed %u times\n",
           kills ? "with kills" : "in peace", s->sort_count, s->kills);
    small_end(&s->small);
    free(s->sorts);
    free(s);
}

static void test_story(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf peace = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf war = {0};
    run(false, &peace);
    if (!CHECK(peace.len > 0))
        return;
    run(true, &war);
    lks_test_case("the two ends");
    CHECK_STR(lks_buf_view(&war), peace.ptr);
    printf("%s", peace.ptr);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"a campaign, and lockstepd killed at every sort of record", test_story},
        {0},
    });
}
