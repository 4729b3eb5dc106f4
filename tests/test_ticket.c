/* Votes by way of a ticket system, and what it is told: the same rules as for all votes, for
 * exactly what was shown, and nothing counts twice. */
#include "core/campaign/state_apply.h"
#include "core/entity/entity.h"
#include "core/procedure/procedure.h"
#include "core/rows/change.h"
#include "core/state/lookup.h"
#include "core/state/tickets.h"
#include "tests/campaigns.h"
#include "tests/facts.h"
#include "tests/reload.h"
#include "tests/test.h"

#include <stdio.h>

#define T LKS_STR_C
#define R(KIND, member, ...)                                                                       \
    {                                                                                              \
        .kind = LKS_RECORD_##KIND, .member = { __VA_ARGS__ }                                       \
    }
#define APPROVER(who) R(GRANTED, granted, .identity = T(who), .role = LKS_ROLE_APPROVER)

/* kim proposed change 1 for n1 to n3, and may approve; ann and lee may, vic may not. */
static const struct lks_record people[] = {
    APPROVER("kim"), APPROVER("user:ann"), APPROVER("user:lee"),
    R(GRANTED, granted, .identity = T("user:vic"), .role = LKS_ROLE_VIEWER)};

static char plan[LKS_DIGEST_SIZE];

static void begin(struct campaign *w)
{
    struct lks_err err = {0};
    campaign_begin(w, &(struct campaign_plan){.nodes = 3, .unapproved = true});
    for (size_t i = 0; i < LKS_COUNT(people); i++)
        lks_asked_apply(&w->a, &people[i]);
    CHECK_CODE(lks_procedure_plan_digest(&w->a.state, campaign_change(w), plan, &err), LKS_OK);
}

struct message {
    const char *by, *id, *ticket, *who, *reason;
    uint64_t change, nodes;
    bool no, other; /* it rejects; it was shown another plan */
};

static struct lks_str send(struct campaign *w, const struct message *m)
{
    const struct lks_event e = {
        .kind = LKS_EVENT_TICKET,
        .by = lks_str_from(m->by),
        .reason = lks_str_from(m->reason != NULL ? m->reason : "seen"),
        .ticket = {.change = m->change != 0 ? m->change : w->change,
                   .nodes = m->nodes != 0 ? m->nodes : 3,
                   .yes = !m->no,
                   .plan = lks_str_from(m->other ? CAMPAIGN_DIGEST("e") : plan),
                   .id = lks_str_from(m->id != NULL ? m->id : "m-1"),
                   .ticket = lks_str_from(m->ticket != NULL ? m->ticket : "CHG-7"),
                   .who = lks_str_from(m->who != NULL ? m->who : "ann@example.com"),
                   .until = w->a.now.wall + 600000},
    };
    return lks_asked(&w->a, &e);
}

/* Votes ------------------------------------------------------------------------------------- */

#define LONG                                                                                       \
    "12345678901234567890123456789012345678901234567890123456789012345678901234567890"             \
    "1234567890123456789012345678901234567890123456789"

static const struct {
    const char *name;
    struct message m;
    const char *told;
} votes[] = {
    {"a yes is a vote, by its ticket",
     {.by = "user:ann"},
     "change-voted change=1 yes=1 by=user:ann reason=seen\n"},
    {"and remembered with it",
     {.by = "user:ann"},
     "ticket-heard event=m-1 until=1600000 change=1 by=user:ann ticket=CHG-7 who=ann@example.com"},
    {"a no rejects it", {.by = "user:ann", .no = true}, "change-moved change=1 state=rejected"},
    {"a no without a reason", {.by = "user:ann", .no = true, .reason = ""}, "give a reason"},
    {"whoever proposed it", {.by = "kim"}, "refused: kim proposed change 1: another person has to"},
    {"a viewer", {.by = "user:vic"}, "denied: user:vic may approve in none of the pools"},
    {"somebody unknown", {.by = "user:joe"}, "denied: user:joe may approve in none of the pools"},
    {"nobody", {.by = ""}, "another person has to approve it"},
    {"another plan", {.by = "user:ann", .other = true}, "and the ticket was shown another"},
    {"more nodes", {.by = "user:ann", .nodes = 4}, "for 3 nodes, and the ticket was shown another"},
    {"another change", {.by = "user:ann", .change = 9}, "there is no change 9"},
    {"no id", {.by = "user:ann", .id = ""}, "invalid: event"},
    {"too long an id", {.by = "user:ann", .id = LONG}, "invalid: event"},
    {"no ticket", {.by = "user:ann", .ticket = ""}, "invalid: ticket"},
    {"a ticket that is no line", {.by = "user:ann", .ticket = "a\nb"}, "invalid: ticket"},
    {"nobody there", {.by = "user:ann", .who = ""}, "invalid: who"},
};

static void test_votes(void)
{
    for (size_t i = 0; i < LKS_COUNT(votes); i++) {
        struct campaign w;
        lks_test_case("%s", votes[i].name);
        begin(&w);
        CHECK_HAS(send(&w, &votes[i].m), votes[i].told);
        campaign_end(&w);
    }
}

/* The same message again, as long as its signature would be taken; and what the vote keeps. */
static void test_replay(void)
{
    struct campaign w;
    begin(&w);
    const struct message m = {.by = "user:ann"};
    CHECK_HAS(send(&w, &m), "ticket-heard");
    const struct lks_vote *v = &campaign_change(&w)->votes[0];
    CHECK_STR(lks_state_text(&w.a.state, v->ticket), "CHG-7");
    CHECK_STR(lks_state_text(&w.a.state, v->who), "ann@example.com");
    CHECK_HAS(send(&w, &m), "refused: message 'm-1' was taken already");
    CHECK_HAS(send(&w, &(struct message){.by = "user:lee"}), "was taken already");
    const struct lks_record held = R(HELD, held, .node = T("n1"), .by = T("kim"));
    w.a.now.wall += 599999;
    lks_asked_apply(&w.a, &held);
    CHECK_HAS(send(&w, &m), "was taken already");
    w.a.now.wall += 1;
    lks_asked_apply(&w.a, &held);
    CHECK_HAS(send(&w, &m), "ticket-heard event=m-1"); /* whose signature is too old by now */
    CHECK_INT(w.a.state.tickets.heard_count, 1);
    campaign_end(&w);
}

/* No more are remembered than there is room for: the next has to wait. */
static void test_many(void)
{
    struct campaign w;
    char id[32];
    begin(&w);
    for (unsigned i = 0; i < LKS_TICKETS_HEARD_MAX; i++) {
        snprintf(id, sizeof(id), "m-%u", i);
        const struct lks_record r =
            R(TICKET_HEARD, ticket_heard, .event = lks_str_from(id), .until = 9000000,
              .by = LKS_STR(""), .ticket = LKS_STR(""), .who = LKS_STR(""));
        lks_asked_apply(&w.a, &r);
    }
    CHECK_INT(w.a.state.tickets.heard_count, LKS_TICKETS_HEARD_MAX);
    CHECK_HAS(send(&w, &(struct message){.by = "user:ann", .id = "one more"}), "limit: ");
    campaign_end(&w);
}

/* What is told ------------------------------------------------------------------------------ */

static struct lks_str tell(struct campaign *w, uint64_t seq, bool on)
{
    const struct lks_event e = {.kind = LKS_EVENT_TICKET_TOLD, .told = {.row = seq, .on = on}};
    return lks_asked(&w->a, &e);
}

/* As rows one behind the other would. */
static void row(struct campaign *w, uint64_t seq, struct lks_record r)
{
    struct lks_err err = {0};
    CHECK_CODE(lks_state_apply(&w->a.state, seq, w->a.now.wall, &r, &err), LKS_OK);
}

#define MOVED(to)                                                                                  \
    (struct lks_record) R(CHANGE_MOVED, change_moved, .change = 1, .state = LKS_CHANGE_##to,       \
                          .by = T("user:ann"), .reason = T("so"))

static void test_due(void)
{
    struct campaign w;
    const struct lks_tickets *t = &w.a.state.tickets;
    begin(&w);
    row(&w, 10, MOVED(APPROVED));
    CHECK_INT(t->due_count, 0); /* nobody is to be told */
    CHECK_STR(tell(&w, 10, false), "");
    CHECK_HAS(tell(&w, 10, true), "ticket-told row=10 on=1");
    CHECK_STR(tell(&w, 10, true), "");
    row(&w, 11, MOVED(RUNNING));
    row(&w, 12, (struct lks_record)R(HELD, held, .node = T("n1"), .by = T("kim")));
    row(&w, 13, MOVED(PAUSED));
    if (CHECK_INT(t->due_count, 2)) {
        CHECK_INT(t->due[0].seq, 11);
        CHECK_INT(t->due[0].state, LKS_CHANGE_RUNNING);
        CHECK_STR(lks_state_text(&w.a.state, t->due[1].reason), "so");
    }
    CHECK_HAS(tell(&w, 11, true), "ticket-told row=11 on=1");
    CHECK_INT(t->due_count, 1);
    CHECK_HAS(tell(&w, 11, false), "ticket-told row=11");
    CHECK_INT(t->due_count, 0);
    campaign_end(&w);
}

/* Who is not heard for long loses the oldest; the newest are told. */
static void test_due_many(void)
{
    struct campaign w;
    const struct lks_tickets *t = &w.a.state.tickets;
    begin(&w);
    (void)tell(&w, 1, true);
    for (uint64_t i = 0; i < LKS_TICKETS_DUE_MAX + 5; i++)
        row(&w, 100 + i, i % 2 == 0 ? MOVED(RUNNING) : MOVED(PAUSED));
    CHECK_INT(t->due_count, LKS_TICKETS_DUE_MAX);
    CHECK_INT(t->due[0].seq, 105);
    CHECK_INT(t->due[LKS_TICKETS_DUE_MAX - 1].seq, 100 + LKS_TICKETS_DUE_MAX + 4);
    campaign_end(&w);
}

/* A snapshot has all of it. */
static void test_snapshot(void)
{
    struct campaign w;
    struct lks_state copy = {0};
    begin(&w);
    CHECK_HAS(send(&w, &(struct message){.by = "user:ann"}), "ticket-heard");
    (void)tell(&w, 10, true);
    row(&w, 11, MOVED(RUNNING));
    row(&w, 13, MOVED(PAUSED));
    lks_test_reload(&w.a.state, &copy);
    CHECK_INT(copy.tickets.due_count, 2);
    CHECK_INT(copy.tickets.heard_count, 1);
    const struct lks_state_change *c = lks_state_change(&copy, w.change);
    if (CHECK(c != NULL) && CHECK_INT(c->vote_count, 1))
        CHECK_STR(lks_state_text(&copy, c->votes[0].ticket), "CHG-7");
    (void)tell(&w, 11, true);
    CHECK(!lks_entity_equal(&w.a.state, &copy, NULL));
    lks_state_fini(&copy);
    campaign_end(&w);
}

static const struct lks_test tests[] = {
    {"votes", test_votes},
    {"a message counts once", test_replay},
    {"messages that are remembered", test_many},
    {"state changes that are to be told", test_due},
    {"too many of them", test_due_many},
    {"snapshots", test_snapshot},
    {NULL, NULL},
};

int main(void)
{
    return lks_test_main(tests);
}
