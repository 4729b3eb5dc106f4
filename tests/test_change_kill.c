/* A controller that is killed at every decision of a change, and comes back from what it wrote
 * down: nothing is asked for twice, and the change ends as it would have. */
#include "core/campaign/state_apply.h"
#include "core/entity/entity.h"
#include "core/rows/change.h"
#include "core/rows/node.h"
#include "core/state/heartbeat.h"
#include "core/state/lookup.h"
#include "tests/campaigns.h"
#include "tests/counted.h"
#include "tests/fleet.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    BODY_MAX = 1 << 20,
    SNAPSHOT_MAX = 64 << 20,
    ROWS_MAX = 1 << 16,
    LIFE = 48,
    SEED = 11,
    SOME = 29
};

/* What the journal has. */
struct row {
    lks_ms time;
    struct lks_buf body;
    uint16_t kind;
};

enum way {
    FROM_ROWS,     /* it reads an old snapshot and all rows behind it */
    FROM_SNAPSHOT, /* it reads a snapshot that was taken just then */
    UNANSWERED,    /* as the first, and whoever told it something tells it again: nobody answered */
    WAYS
};

static const char *const way_words[WAYS] = {"from its rows", "from a snapshot", "unanswered"};

/* A life in which it is killed behind its `at`th decision. */
struct life {
    struct campaign w; /* first: hooks get it */
    struct lks_buf snapshot;
    struct row *rows; /* what was decided since the snapshot */
    size_t count;
    uint64_t seq;           /* up to which they go */
    unsigned decisions, at; /* 0: it is not killed */
    enum way way;
    bool again;            /* somebody says something again */
    struct lks_state dead; /* what it knew; who plays agents may still have texts of it */
    const struct story *story;
};

/* Writing ------------------------------------------------------------------------------------ */

static void write_row(struct life *life, lks_ms time, const struct lks_record *r)
{
    struct row *row = &life->rows[life->count++];
    LKS_ASSERT(life->count < ROWS_MAX);
    *row = (struct row){.time = time, .kind = (uint16_t)r->kind};
    lks_buf_init(&row->body, BODY_MAX);
    lks_record_pack(r, &row->body);
    LKS_ASSERT(row->body.failed == LKS_OK);
}

static void forget_rows(struct life *life)
{
    for (size_t i = 0; i < life->count; i++)
        lks_buf_fini(&life->rows[i].body);
    life->count = 0;
}

static void take_snapshot(struct life *life)
{
    struct lks_err err = {0};
    forget_rows(life);
    lks_buf_fini(&life->snapshot);
    lks_buf_init(&life->snapshot, SNAPSHOT_MAX);
    CHECK_CODE(lks_entity_pack(&life->w.a.state, false, &life->snapshot, &err), LKS_OK);
    life->seq = life->w.a.state.seq;
}

/* What agents' heartbeats made of it in between nobody told us: then there is a snapshot. */
static void write_decision(struct life *life, const struct lks_decision *d)
{
    if (life->w.a.state.seq != life->seq + d->count) {
        take_snapshot(life);
        return;
    }
    for (size_t i = 0; i < d->count; i++)
        write_row(life, life->w.a.now.wall, &d->records[i]);
    life->seq += d->count;
}

/* Coming back -------------------------------------------------------------------------------- */

static void read_rows(const struct life *life, struct lks_state *out)
{
    struct lks_err err = {0};
    CHECK_CODE(lks_state_init(out, SEED, &err), LKS_OK);
    CHECK_CODE(lks_entity_unpack(lks_buf_view(&life->snapshot), out, &err), LKS_OK);
    CHECK_CODE(lks_state_index(out, &err), LKS_OK);
    for (size_t i = 0; i < life->count; i++) {
        const struct row *row = &life->rows[i];
        struct lks_record r;
        unsigned version = lks_record_version(lks_record_info(row->kind));
        CHECK_CODE(lks_record_unpack(row->kind, version, lks_buf_view(&row->body), &r, &err),
                   LKS_OK);
        CHECK_CODE(lks_state_apply(out, life->w.a.state.seq, row->time, &r, &err), LKS_OK);
    }
}

/* What it knew is what it reads; what it heard of agents since its start is forgotten. */
static void kill(struct life *life)
{
    struct lks_state *was = &life->w.a.state, anew = {0};
    struct lks_err err = {0};
    if (life->way == FROM_SNAPSHOT)
        take_snapshot(life);
    read_rows(life, &anew);
    if (!CHECK(lks_entity_equal(was, &anew, &err)))
        printf("differs: %s\n", err.msg);
    CHECK_CODE(lks_heartbeat_restart(&anew, life->w.a.now, &err), LKS_OK);
    life->dead = *was;
    *was = anew;
}

/* Answers that were taken: they are given again. */
struct answer {
    struct lks_event event;
    char node[16];
};

static size_t answers_of(const struct lks_decision *d, struct answer *out, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < d->count && count < most; i++) {
        const struct lks_record *r = &d->records[i];
        struct answer *a = &out[count];
        if (r->kind == LKS_RECORD_COMMAND_ENDED) {
            a->event = (struct lks_event){
                .kind = LKS_EVENT_RESULT,
                .result = {.id = r->command_ended.id,
                           .outcome = (enum lks_outcome)r->command_ended.outcome}};
            snprintf(a->node, sizeof(a->node), "%" LKS_STR_FMT, LKS_STR_ARG(r->command_ended.node));
        }
        if (r->kind == LKS_RECORD_FLASH_ENDED)
            a->event = (struct lks_event){.kind = LKS_EVENT_FLASH_ENDED,
                                          .flash_ended = {.id = r->flash_ended.id,
                                                          .outcome = r->flash_ended.outcome,
                                                          .found = LKS_STR("25.03.01")}};
        count += r->kind == LKS_RECORD_COMMAND_ENDED || r->kind == LKS_RECORD_FLASH_ENDED;
    }
    return count;
}

static void after(struct campaign *w, const struct lks_decision *d)
{
    struct life *life = w->ctx;
    struct answer answers[8] = {0};
    size_t count = answers_of(d, answers, LKS_COUNT(answers));
    write_decision(life, d);
    if (life->again || ++life->decisions != life->at)
        return;
    kill(life);
    life->again = true;
    for (size_t i = 0; i < count && life->way == UNANSWERED; i++) {
        answers[i].event.node = lks_state_node(&w->a.state, lks_str_from(answers[i].node));
        campaign_event(w, &answers[i].event);
    }
    life->again = false;
}

/* Stories ------------------------------------------------------------------------------------ */

struct story {
    const char *name;
    struct campaign_plan plan;
    void (*faults)(struct campaign *w);
    enum lks_change_order_word order; /* that a person gives, */
    uint32_t step;                    /* when n1 is asked for this step; 0: nobody does */
    enum lks_change_state ends;
};

static void bad_driver(struct campaign *w)
{
    campaign_fail(w, "n1", "apt", LKS_OUTCOME_FAILED, 1);
}

static void bad_flash(struct campaign *w)
{
    campaign_fail(w, "n2", "flash", LKS_BMC_FAILED, 1);
}

static void unknown_flash(struct campaign *w)
{
    campaign_fail(w, "n1", "flash", LKS_BMC_UNKNOWN, 1);
}

static void bad_accept(struct campaign *w)
{
    campaign_fail(w, "n1", "accept", LKS_OUTCOME_FAILED, 9);
}

static const struct story stories[] = {
    {.name = "there, back, and there again",
     .plan = {.nodes = 1, .proves = true},
     .ends = LKS_CHANGE_DONE},
    {.name = "two waves, and images staged before",
     .plan = {.nodes = 2, .waves = {1, 1}, .stages = true, .soak = 60000},
     .ends = LKS_CHANGE_DONE},
    {.name = "a domain with its shelf", .plan = {.nodes = 2, .domain = 2}, .ends = LKS_CHANGE_DONE},
    {.name = "a bad driver, and all of it rolled back",
     .plan = {.nodes = 2, .waves = {1, 1}, .rolls_back = true},
     .faults = bad_driver,
     .ends = LKS_CHANGE_ROLLED_BACK},
    {.name = "an update that fails once and is tried again",
     .plan = {.nodes = 2, .retries = 2},
     .faults = bad_flash,
     .ends = LKS_CHANGE_DONE},
    {.name = "aborted on the way",
     .plan = {.nodes = 2, .waves = {1, 1}},
     .order = LKS_ORDERED_ABORT,
     .step = CAMPAIGN_REBOOT,
     .ends = LKS_CHANGE_ABORTED},
    {.name = "rolled back on the way",
     .plan = {.nodes = 2, .waves = {1, 1}},
     .order = LKS_ORDERED_ROLLBACK,
     .step = CAMPAIGN_FLASH,
     .ends = LKS_CHANGE_ROLLED_BACK},
    {.name = "drained by a scheduler",
     .plan = {.nodes = 2, .waves = {1, 1}, .sched = "simulated"},
     .ends = LKS_CHANGE_DONE},
    {.name = "an update of which nobody can tell how it ended",
     .plan = {.nodes = 2, .waves = {1, 1}},
     .faults = unknown_flash,
     .ends = LKS_CHANGE_HALTED},
    {.name = "not accepted, neither there nor back",
     .plan = {.nodes = 2, .waves = {1, 1}},
     .faults = bad_accept,
     .ends = LKS_CHANGE_HALTED},
};

static void live(struct life *life, unsigned at, enum way way)
{
    const struct story *story = life->story;
    *life = (struct life){.at = at, .way = way, .story = story};
    life->rows = calloc(ROWS_MAX, sizeof(life->rows[0]));
    LKS_ASSERT(life->rows != NULL);
    campaign_begin(&life->w, &story->plan);
    if (story->faults != NULL)
        story->faults(&life->w);
    life->w.after = after;
    life->w.ctx = life;
    take_snapshot(life);
    if (story->step != 0) {
        const struct lks_event order = {.kind = LKS_EVENT_CHANGE_MOVE,
                                        .by = LKS_STR("lee"),
                                        .reason = LKS_STR("so it is"),
                                        .move = {.change = life->w.change, .order = story->order}};
        CHECK(campaign_run_until(&life->w, "n1", story->step, LKS_MEMBER_ASKED, CAMPAIGN_HOUR));
        campaign_event(&life->w, &order);
    }
    CHECK(campaign_run(&life->w, LIFE * CAMPAIGN_HOUR));
    CHECK_INT(campaign_change(&life->w)->state, story->ends);
    CHECK((life->dead.seq > 0) == (at != 0));
    CHECK(lks_counted_changes(&life->w.a.state));
}

static void die(struct life *life)
{
    forget_rows(life);
    lks_buf_fini(&life->snapshot);
    free(life->rows);
    if (life->at != 0)
        lks_state_fini(&life->dead);
    campaign_end(&life->w);
}

/* Comparing ---------------------------------------------------------------------------------- */

static void check_nodes(const struct life *a, const struct life *b)
{
    for (unsigned i = 0; i < a->w.count; i++) {
        const struct campaign_node *x = &a->w.nodes[i], *y = &b->w.nodes[i];
        const struct lks_state *s = &a->w.a.state, *t = &b->w.a.state;
        uint32_t n = lks_state_node(s, lks_str_from(x->name));
        uint32_t k = lks_state_node(t, lks_str_from(x->name));
        const struct lks_member *m = campaign_member(&a->w, x->name),
                                *o = campaign_member(&b->w, x->name);
        CHECK(x->installed == y->installed && x->loaded == y->loaded && x->flashed == y->flashed);
        CHECK(m->state == o->state && m->step == o->step && m->pass == o->pass);
        CHECK(lks_str_eq(lks_state_text(s, lks_state_intent(s, n)),
                         lks_state_text(t, lks_state_intent(t, k))));
        CHECK(lks_state_judged(s, n) == lks_state_judged(t, k));
        CHECK(lks_str_eq(lks_state_text(s, s->nodes[n].drained_by),
                         lks_state_text(t, t->nodes[k].drained_by)));
    }
}

/* As often as in a life without a kill, and not once more. */
static void check_asked(const struct life *a, const struct life *b)
{
    static const char *const executors[] = {"apt", "reboot", "accept"};
    CHECK_INT(b->w.flash_count, a->w.flash_count);
    for (unsigned i = 0; i < a->w.count; i++) {
        char node[32];
        snprintf(node, sizeof(node), "node=%s ", a->w.nodes[i].name);
        for (size_t e = 0; e < LKS_COUNT(executors); e++) {
            char executor[32];
            snprintf(executor, sizeof(executor), "executor=%s ", executors[e]);
            CHECK_INT(campaign_count(&b->w, node, executor), campaign_count(&a->w, node, executor));
        }
    }
}

/* All of it takes a while: else the first story is killed everywhere, and others here and there. */
static unsigned stride(const struct story *story, enum way way)
{
    bool all = getenv("LKS_ALL") != NULL || (story == &stories[0] && way == FROM_ROWS);
    return all ? 1 : SOME;
}

static void test_killed(const struct life *whole, enum way way)
{
    const struct story *story = whole->story;
    unsigned step = stride(story, way);
    for (unsigned at = 1 + (unsigned)way % step; at <= whole->decisions; at += step) {
        struct life life = {.story = story};
        lks_test_case("%s, killed behind decision %u of %u, %s", story->name, at, whole->decisions,
                      way_words[way]);
        live(&life, at, way);
        check_nodes(whole, &life);
        check_asked(whole, &life);
        die(&life);
    }
}

static void test_stories(void)
{
    for (size_t i = 0; i < LKS_COUNT(stories); i++) {
        struct life whole = {.story = &stories[i]};
        lks_test_case("%s", stories[i].name);
        live(&whole, 0, FROM_ROWS);
        CHECK(whole.decisions > 5 && campaign_count(&whole.w, "command ", "executor=apt") > 0);
        for (enum way way = 0; way < WAYS; way++)
            test_killed(&whole, way);
        die(&whole);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"changes: a controller that is killed at every decision", test_stories},
        {0},
    });
}
