/*
 * Reservations for the windows of changes: which are wanted, by the state of a change, and a table
 * of what happens one after the other and what is asked of the scheduler then.
 */
#include "core/actions/sched_book.h"
#include "core/registry/book.h"
#include "core/rows/change.h"
#include "core/rows/node.h"
#include "core/state/lookup.h"
#include "core/state/state.h"
#include "tests/campaigns.h"
#include "tests/facts.h"
#include "tests/test.h"

#include <inttypes.h>

#define HOUR    CAMPAIGN_HOUR
#define MINUTE  CAMPAIGN_MINUTE
#define DAY     (24 * HOUR)
#define SAYS    "sched: slurm, reserve: true"
#define NIGHT   "Thu 02:00-06:00" /* 1970-01-01 was a Thursday, and tests begin at 00:16 */
#define RESERVE "lockstep_change_1+train+s1"

/* What is wanted ------------------------------------------------------------------------------ */

static struct lks_book book_of(const struct campaign *w)
{
    return (struct lks_book){.facts = lks_test_facts(), .manifest = &w->a.manifest};
}

/* Minutes since the beginning of 1970, "n[1-2] 120-360 "; a start that has passed is "now". */
static void write_wanted(const struct campaign *w, const struct lks_sched_book *b,
                         struct lks_buf *out)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_sched_reserves wanted;
    struct lks_book book = book_of(w);
    struct lks_err err = {0};
    lks_arena_init(&arena, (size_t)16 << 20);
    CHECK_CODE(
        lks_sched_reserve_wanted(b, &w->a.state, &book, w->a.now.wall, &arena, &wanted, &err),
        LKS_OK);
    for (uint32_t i = 0; i < wanted.count; i++) {
        const struct lks_sched_reserve *r = &wanted.list[i];
        lks_buf_addf(out, "%" LKS_STR_FMT " ", LKS_STR_ARG(r->it.nodes));
        if (r->it.from <= w->a.now.wall)
            lks_buf_addf(out, "now");
        else
            lks_buf_addf(out, "%" PRIu64, r->it.from / MINUTE);
        lks_buf_addf(out, "-%" PRIu64 " ", r->it.until / MINUTE);
        CHECK(r->change == w->change && r->it.from % LKS_SECOND == 0);
        CHECK_STR(r->site, "s1");
    }
}

enum act {
    NOTHING,
    APPROVED, /* it was not started */
    PAUSED,
    HALTED,
    ABORTING,
    FROZEN,
    HELD, /* n1 is, by a person */
    RUNS, /* until it is done, or for the time that passes */
};

static const struct {
    const char *name;
    struct campaign_plan plan; /* of two nodes, in pool "train" */
    enum act act;
    lks_ms pass;
    const char *wanted;
} rows[] = {
    {"before its window",
     {.nodes = 2, .windows = NIGHT, .pool_says = SAYS},
     NOTHING,
     0,
     "n[1-2] 120-360 "},
    {"a pool that does not say so",
     {.nodes = 2, .windows = NIGHT, .pool_says = "sched: slurm"},
     NOTHING,
     0,
     ""},
    {"no window at all", {.nodes = 2, .pool_says = SAYS}, NOTHING, 0, ""},
    {"the window of the pool",
     {.nodes = 2, .pool_says = SAYS ", windows: 'Thu 03:00-04:00'"},
     NOTHING,
     0,
     "n[1-2] 180-240 "},
    {"both windows",
     {.nodes = 2, .windows = NIGHT, .pool_says = SAYS ", windows: 'Thu 05:00-09:00'"},
     NOTHING,
     0,
     "n[1-2] 300-360 "},
    {"an earliest time, without an end",
     {.nodes = 2, .not_before = 3 * HOUR, .pool_says = SAYS},
     NOTHING,
     0,
     "n[1-2] 180-1620 "},
    {"an earliest and a latest time",
     {.nodes = 2, .not_before = 3 * HOUR, .not_after = 5 * HOUR, .pool_says = SAYS},
     NOTHING,
     0,
     "n[1-2] 180-300 "},
    {"a latest time in the window",
     {.nodes = 2, .windows = NIGHT, .not_after = 4 * HOUR, .pool_says = SAYS},
     NOTHING,
     0,
     "n[1-2] 120-240 "},
    {"too late",
     {.nodes = 2, .windows = NIGHT, .not_after = HOUR / 2, .pool_says = SAYS},
     NOTHING,
     HOUR,
     ""},
    {"a window that is far",
     {.nodes = 2, .not_before = 8 * DAY, .pool_says = SAYS},
     NOTHING,
     0,
     ""},
    {"a window that is near by now",
     {.nodes = 2, .not_before = 8 * DAY, .pool_says = SAYS},
     NOTHING,
     2 * DAY,
     "n[1-2] 11520-12960 "},
    {"as wide as its wave",
     {.nodes = 4, .width = 2, .windows = NIGHT, .pool_says = SAYS},
     NOTHING,
     0,
     "n[1-2] 120-360 "},
    {"the first wave alone",
     {.nodes = 4, .waves = {1, 3}, .windows = NIGHT, .pool_says = SAYS},
     NOTHING,
     0,
     "n1 120-360 "},
    {"a domain as a whole",
     {.nodes = 4, .domain = 2, .width = 1, .windows = NIGHT, .pool_says = SAYS},
     NOTHING,
     0,
     "n[1-2] 120-360 "},
    {"approved, and not started",
     {.nodes = 2, .unapproved = true, .windows = NIGHT, .pool_says = SAYS},
     APPROVED,
     0,
     "n[1-2] 120-360 "},
    {"approved, just after its window opened",
     {.nodes = 2, .unapproved = true, .windows = NIGHT, .pool_says = SAYS},
     APPROVED,
     110 * MINUTE,
     "n[1-2] now-360 "},
    {"approved, and not started long after that",
     {.nodes = 2, .unapproved = true, .windows = NIGHT, .pool_says = SAYS},
     APPROVED,
     150 * MINUTE,
     ""},
    {"proposed only",
     {.nodes = 2, .unapproved = true, .windows = NIGHT, .pool_says = SAYS},
     NOTHING,
     0,
     ""},
    {"paused", {.nodes = 2, .windows = NIGHT, .pool_says = SAYS}, PAUSED, 0, ""},
    {"halted", {.nodes = 2, .windows = NIGHT, .pool_says = SAYS}, HALTED, 0, ""},
    {"aborted", {.nodes = 2, .windows = NIGHT, .pool_says = SAYS}, ABORTING, 0, ""},
    {"frozen", {.nodes = 2, .windows = NIGHT, .pool_says = SAYS}, FROZEN, 0, ""},
    {"a node on hold", {.nodes = 2, .windows = NIGHT, .pool_says = SAYS}, HELD, 0, "n2 120-360 "},
    {"done",
     {.nodes = 2, .windows = NIGHT, .pool_says = SAYS, .sched = "slurm"},
     RUNS,
     5 * HOUR,
     ""},
    {"the next wave, while the first one soaks",
     {.nodes = 3,
      .waves = {1, 2},
      .soak = DAY,
      .windows = "02:00-04:00",
      .pool_says = SAYS,
      .sched = "slurm"},
     RUNS,
     3 * HOUR,
     "n[2-3] 1560-1680 "},
};

static void act(struct campaign *w, enum act act)
{
    static const enum lks_change_state moves[] = {[APPROVED] = LKS_CHANGE_APPROVED,
                                                  [PAUSED] = LKS_CHANGE_PAUSED,
                                                  [HALTED] = LKS_CHANGE_HALTED,
                                                  [ABORTING] = LKS_CHANGE_ABORTING};
    if (act >= APPROVED && act <= ABORTING)
        campaign_move(w, moves[act]);
    else if (act == FROZEN)
        campaign_freeze(w, true);
    else if (act == HELD)
        campaign_record(w, &(struct lks_record){.kind = LKS_RECORD_HELD,
                                                .held = {.node = LKS_STR("n1"),
                                                         .by = LKS_STR("kim"),
                                                         .reason = LKS_STR("fan")}});
}

static void test_wanted(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(1024);
        struct lks_sched_book b = {0};
        struct campaign w;
        struct campaign_plan plan = rows[i].plan;
        lks_test_case("%s", rows[i].name);
        plan.sched = "slurm";
        campaign_begin(&w, &plan);
        act(&w, rows[i].act);
        if (rows[i].act == RUNS)
            (void)campaign_run(&w, rows[i].pass);
        else if (rows[i].pass > 0)
            campaign_pass(&w, rows[i].pass);
        write_wanted(&w, &b, &text);
        CHECK_STR(lks_buf_view(&text), rows[i].wanted);
        campaign_end(&w);
    }
}

/* While nodes change: those that are done leave, and others follow. */
static void test_shrinks(void)
{
    struct lks_sched_book b = {0};
    struct campaign w;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(1024);
    campaign_begin(
        &w, &(struct campaign_plan){
                .nodes = 3, .width = 2, .sched = "slurm", .windows = NIGHT, .pool_says = SAYS});
    CHECK(campaign_run_until(&w, "n1", CAMPAIGN_APPLY, LKS_MEMBER_ASKED, 5 * HOUR));
    write_wanted(&w, &b, &text);
    lks_test_case("in progress");
    CHECK_STR(lks_buf_view(&text), "n[1-2] now-360 ");
    lks_test_case("one is done");
    CHECK(campaign_run_until(&w, "n3", CAMPAIGN_APPLY, LKS_MEMBER_ASKED, 5 * HOUR));
    lks_buf_truncate(&text, 0);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_DONE);
    write_wanted(&w, &b, &text);
    CHECK_STR(lks_buf_view(&text), "n3 now-360 ");
    campaign_end(&w);
}

/* A node that its scheduler does not know is left out: all others would be refused with it. */
static void test_unknown(void)
{
    struct lks_sched_book b = {0};
    struct lks_sched_due due[4];
    struct lks_facts facts = {0};
    struct lks_err err = {0};
    struct campaign w;
    uint32_t count = 0;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(1024);
    campaign_begin(&w, &(struct campaign_plan){
                           .nodes = 2, .sched = "slurm", .windows = NIGHT, .pool_says = SAYS});
    CHECK_CODE(lks_sched_book_due(&b, &w.a.state, &facts, 1, 4, due, &count, &err), LKS_OK);
    lks_sched_book_heard(&b, campaign_member(&w, "n1")->node, LKS_STR("slurm"),
                         &(struct lks_sched_said){0}, w.a.now, 1);
    write_wanted(&w, &b, &text);
    CHECK_STR(lks_buf_view(&text), "n2 120-360 ");
    lks_sched_book_fini(&b);
    campaign_end(&w);
}

/* Requests ------------------------------------------------------------------------------------ */

enum happens {
    WAITS,
    LISTED,  /* a list came, with what `there` says, */
    NO_LIST, /* or none did */
    MADE,    /* all requests were carried out, */
    REFUSED, /* or all were refused */
    PAUSES,  /* the change does */
};

struct step {
    enum happens happens;
    const char *there; /* LISTED: names; NULL: what is wanted */
    lks_ms after;      /* this long after the step before */
    const char *asks;  /* "reservations reserve unreserve " */
};

#define STEPS_MAX 10
#define OTHER     "lockstep_change_9+train+s1"

static const struct {
    const char *name;
    struct step steps[STEPS_MAX]; /* ends with one without a text */
} stories[] = {
    {"what is there already",
     {{WAITS, "", 1, "reservations "}, {LISTED, NULL, 1, ""}, {WAITS, "", 11000, ""}}},
    {"a reservation is made, and listed",
     {{WAITS, "", 1, "reservations "},
      {LISTED, "", 1, "reserve "},
      {MADE, "", 1, ""},
      {WAITS, "", LKS_SCHED_RESERVE_PAUSE, "reservations "},
      {LISTED, NULL, 1, ""}}},
    {"one that is made and is not there is asked for again, not at once",
     {{WAITS, "", 1, "reservations "},
      {LISTED, "", 1, "reserve "},
      {MADE, "", 1, ""},
      {WAITS, "", LKS_SCHED_RESERVE_PAUSE - 1, ""},
      {WAITS, "", 1, "reservations "},
      {LISTED, "", 1, "reserve "},
      {MADE, "", 1, ""}}},
    {"one request at a time",
     {{WAITS, "", 1, "reservations "},
      {WAITS, "", 20000, ""},
      {WAITS, "", 300000, "reservations "}}},
    {"one that was deleted there is made again",
     {{WAITS, "", 1, "reservations "},
      {LISTED, NULL, 1, ""},
      {WAITS, "", LKS_SCHED_RESERVE_LIST, "reservations "},
      {LISTED, "", 1, "reserve "}}},
    {"one that was left over is deleted",
     {{WAITS, "", 1, "reservations "},
      {LISTED, OTHER, 1, "unreserve reserve "},
      {MADE, "", 1, ""},
      {WAITS, "", LKS_SCHED_RESERVE_PAUSE, "reservations "},
      {LISTED, NULL, 1, ""}}},
    {"one of another form stays",
     {{WAITS, "", 1, "reservations "}, {LISTED, "lockstep_pdu7", 1, "reserve "}}},
    {"one of another site stays where there is such a site",
     {{WAITS, "", 1, "reservations "}, {LISTED, "lockstep_change_9+train+s2", 1, "reserve "}}},
    {"and is deleted where there is none any more",
     {{WAITS, "", 1, "reservations "},
      {LISTED, "lockstep_change_9+train+s9", 1, "unreserve reserve "}}},
    {"a pause ends it",
     {{WAITS, "", 1, "reservations "},
      {LISTED, NULL, 1, ""},
      {PAUSES, "", LKS_SCHED_RESERVE_PAUSE, "unreserve "},
      {MADE, "", 1, ""},
      {WAITS, "", LKS_SCHED_RESERVE_PAUSE, "reservations "},
      {LISTED, "", 1, ""},
      {WAITS, "", LKS_SCHED_RESERVE_LIST, ""},
      {WAITS, "", LKS_SCHED_RESERVE_IDLE, "reservations "}}},
    {"a refusal is tried again, not at once",
     {{WAITS, "", 1, "reservations "},
      {LISTED, "", 1, "reserve "},
      {REFUSED, "", 1, ""},
      {WAITS, "", LKS_SCHED_RESERVE_PAUSE, ""},
      {WAITS, "", LKS_SCHED_RESERVE_RETRY, "reservations "},
      {LISTED, "", 1, "reserve "}}},
    {"a list that does not come is asked for again",
     {{WAITS, "", 1, "reservations "},
      {NO_LIST, "", 1, ""},
      {WAITS, "", LKS_SCHED_RESERVE_RETRY, "reservations "}}},
};

struct world {
    struct campaign w;
    struct lks_sched_book b;
    struct lks_arena arena; /* of the last requests */
    struct lks_sched_site_due due[8];
    uint32_t count;
    lks_ms mono;
};

static void put_listed(struct world *x, const char *names, struct lks_sched_reservations *out)
{
    struct lks_sched_reserves wanted = {0};
    struct lks_book book = book_of(&x->w);
    struct lks_err err = {0};
    if (names != NULL && names[0] == '\0')
        return;
    lks_arena_init(&out->arena, (size_t)1 << 20);
    out->list = lks_arena_array(&out->arena, 2, sizeof(*out->list));
    CHECK_CODE(lks_sched_reserve_wanted(&x->b, &x->w.a.state, &book, x->w.a.now.wall, &out->arena,
                                        &wanted, &err),
               LKS_OK);
    out->list[0] = (struct lks_sched_reservation){.name = lks_str_from(names != NULL ? names : ""),
                                                  .nodes = LKS_STR("n1"),
                                                  .from = 1000,
                                                  .until = 9000000};
    if (names == NULL && CHECK(wanted.count == 1))
        out->list[0] = wanted.list[0].it;
    out->count = 1;
}

static void tell(struct world *x, enum happens happens, const char *there)
{
    bool fails = happens == NO_LIST || happens == REFUSED;
    struct lks_now now = {.wall = x->w.a.now.wall, .mono = x->mono};
    for (uint32_t i = 0; i < x->count; i++) {
        struct lks_sched_reservations listed = {0};
        struct lks_err why = {0};
        const struct lks_sched_site_due *due = &x->due[i];
        if (fails)
            (void)!lks_fail(&why, LKS_E_REFUSED, "reservation x: no");
        if (happens == LISTED)
            put_listed(x, there, &listed);
        CHECK((due->wish.verb == LKS_SCHED_SITE_RESERVATIONS) ==
              (happens == LISTED || happens == NO_LIST));
        CHECK_INT(
            lks_sched_reserve_told(&x->b, due->site, due->sched, &due->wish, &listed, &why, now, 1),
            fails);
        lks_sched_reservations_fini(&listed);
    }
}

static void ask(struct world *x, struct lks_buf *out)
{
    struct lks_now now = {.wall = x->w.a.now.wall, .mono = x->mono};
    struct lks_book book = book_of(&x->w);
    struct lks_err err = {0};
    uint32_t count = 0;
    lks_arena_fini(&x->arena);
    lks_arena_init(&x->arena, (size_t)16 << 20);
    CHECK_CODE(lks_sched_sites_due(&x->b.sites, &x->w.a.state, x->mono, 8, &x->arena, x->due,
                                   &count, &err),
               LKS_OK);
    CHECK_CODE(lks_sched_reserve_due(&x->b, &x->w.a.state, &book, now, 8, &x->arena, x->due,
                                     &x->count, &err),
               LKS_OK);
    for (uint32_t i = 0; i < x->count; i++)
        lks_buf_addf(out, "%s ", lks_sched_site_verb_words[x->due[i].wish.verb]);
}

static void try_story(size_t story)
{
    struct world x = {0};
    struct lks_err err = {0};
    campaign_begin(&x.w, &(struct campaign_plan){
                             .nodes = 2, .sched = "slurm", .windows = NIGHT, .pool_says = SAYS});
    CHECK_CODE(lks_sched_sites_ask(&x.b.sites, LKS_STR("s2"), LKS_STR("slurm"), 0, &err), LKS_OK);
    lks_sched_sites_get(&x.b.sites, LKS_STR("s2"), LKS_STR("slurm"))->reserve_due = UINT64_MAX;
    for (const struct step *step = stories[story].steps; step->asks != NULL; step++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf asked = LKS_BUF(256);
        lks_test_case("%s: step %zu", stories[story].name, (size_t)(step - stories[story].steps));
        x.mono += step->after;
        if (step->happens >= LISTED && step->happens <= REFUSED)
            tell(&x, step->happens, step->there);
        if (step->happens == PAUSES)
            campaign_move(&x.w, LKS_CHANGE_PAUSED);
        ask(&x, &asked);
        CHECK_STR(lks_buf_view(&asked), step->asks);
    }
    lks_arena_fini(&x.arena);
    lks_sched_book_fini(&x.b);
    campaign_end(&x.w);
}

static void test_stories(void)
{
    for (size_t i = 0; i < LKS_COUNT(stories); i++)
        try_story(i);
}

/* The cause of a refusal is kept until all is as it should be. */
static void test_trouble(void)
{
    struct world x = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf asked = LKS_BUF(256);
    campaign_begin(&x.w, &(struct campaign_plan){
                             .nodes = 2, .sched = "slurm", .windows = NIGHT, .pool_says = SAYS});
    ask(&x, &asked);
    tell(&x, LISTED, "");
    ask(&x, &asked);
    tell(&x, REFUSED, "");
    const struct lks_sched_site *site =
        lks_sched_sites_find(&x.b.sites, LKS_STR("s1"), LKS_STR("slurm"));
    CHECK_STR(lks_str_from(site->reserve_trouble), "reservation x: no");
    x.mono += LKS_SCHED_RESERVE_RETRY;
    ask(&x, &asked);
    tell(&x, LISTED, NULL);
    CHECK_STR(lks_str_from(site->reserve_trouble), "reservation x: no");
    ask(&x, &asked);
    CHECK_STR(lks_str_from(site->reserve_trouble), "");
    CHECK_INT(site->reserve_wanted, 1);
    CHECK_INT(site->reserved.count, 1);
    lks_arena_fini(&x.arena);
    lks_sched_book_fini(&x.b);
    campaign_end(&x.w);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"reservations that are wanted", test_wanted},
        {"nodes in progress", test_shrinks},
        {"nodes that a scheduler does not know", test_unknown},
        {"requests", test_stories},
        {"a refusal", test_trouble},
        {NULL, NULL},
    });
}
