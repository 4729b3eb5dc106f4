/* State machines: their tables are closed, and a planted illegal transition stops the program in
 * each of them, on the way that a real one would take. */
#include "core/agentlink/at_most_once.h"
#include "core/campaign/state_apply.h"
#include "core/fold/transition.h"
#include "core/state/state.h"
#include "engine/engine.h"
#include "engine/lease.h"
#include "model/record/machine.h"
#include "model/record/moves.h"
#include "port/conversation.h"
#include "tests/facts.h"
#include "tests/journals.h"
#include "tests/test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define T LKS_STR_C
#define R(KIND, member, ...)                                                                       \
    {                                                                                              \
        .kind = LKS_RECORD_##KIND, .member = { __VA_ARGS__ }                                       \
    }

static const struct lks_machine *const machines[] = {
    &lks_moves_change,  &lks_moves_wave,  &lks_moves_member,       &lks_moves_flash,
    &lks_moves_command, &lks_lease_moves, &lks_conversation_moves,
};

/* Tables ------------------------------------------------------------------------------------ */

static uint32_t bit(unsigned state)
{
    return UINT32_C(1) << state;
}

/* The states that can be reached from `from`, with itself. */
static uint32_t reach(const struct lks_machine *m, unsigned from)
{
    uint32_t seen = bit(from);
    for (unsigned round = 0; round < m->count; round++) {
        for (unsigned i = 0; i < m->count; i++) {
            for (unsigned k = 0; k < m->count && (seen & bit(i)) != 0; k++)
                seen |= lks_machine_may(m, i, k) ? bit(k) : 0;
        }
    }
    return seen;
}

static void test_tables_are_closed(void)
{
    for (size_t i = 0; i < LKS_COUNT(machines); i++) {
        const struct lks_machine *m = machines[i];
        CHECK(m->count > 1 && m->count < LKS_MACHINE_STATES_MAX);
        CHECK((m->ends & ~(bit(m->count) - 1)) == 0);
        for (unsigned state = 0; state < m->count; state++) {
            lks_test_case("%s: %s", m->name, m->words[state]);
            uint32_t next = reach(m, state);
            CHECK((reach(m, LKS_MACHINE_START) & bit(state)) != 0);
            if ((m->ends & bit(state)) != 0)
                CHECK(next == bit(state) && !lks_machine_may(m, state, state));
            else
                CHECK(next != bit(state) && (m->ends == 0 || (next & m->ends) != 0));
        }
    }
}

static void test_every_transition_has_a_reason(void)
{
    for (size_t i = 0; i < LKS_COUNT(machines); i++) {
        const struct lks_machine *m = machines[i];
        for (unsigned k = 0; k < m->count * m->count; k++) {
            lks_test_case("%s: %s to %s", m->name, m->words[k / m->count], m->words[k % m->count]);
            CHECK(m->when[k] == NULL ||
                  (strlen(m->when[k]) > 5 && strchr(m->when[k], '|') == NULL));
        }
        CHECK(!lks_machine_may(m, m->count, 0) && !lks_machine_may(m, 0, m->count));
    }
}

/* Illegal ones ------------------------------------------------------------------------------ */

/* What a child wrote before it stopped itself; an empty text: it went on. */
static void run_child(void (*plant)(size_t), size_t row, struct lks_buf *out)
{
    int ends[2], status = 0;
    char said[512];
    fflush(stdout);
    LKS_ASSERT(pipe(ends) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        plant(row);
        _exit(0);
    }
    close(ends[1]);
    ssize_t len = read(ends[0], said, sizeof(said));
    close(ends[0]);
    CHECK(waitpid(pid, &status, 0) == pid);
    if (CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) && len > 0)
        lks_buf_add(out, (struct lks_str){said, (size_t)len});
}

static void stops(void (*plant)(size_t), size_t row, const char *says)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(1024);
    run_child(plant, row, &out);
    lks_buf_add(&out, LKS_STR(""));
    CHECK_HAS(lks_buf_view(&out), says);
}

static void step_illegally(size_t row)
{
    const struct lks_machine *m = machines[row];
    unsigned at = 0;
    while (m->when[at] != NULL)
        at++;
    (void)lks_machine_step(m, at / m->count, at % m->count);
}

static void test_each_machine_stops_the_program(void)
{
    for (size_t i = 0; i < LKS_COUNT(machines); i++) {
        char says[64];
        snprintf(says, sizeof(says), "a %s may go from", machines[i]->name);
        lks_test_case("%s", machines[i]->name);
        stops(step_illegally, i, says);
    }
}

/* Change 7 of n1, which is done in a wave that passed; an update and a command that ended. */
static const struct lks_record before[] = {
    R(POOL, pool, .name = T("train"), .stack_digest = T("s1"), .sweep = 1),
    R(PLACED, placed, .hosts = T("n1"), .pool = T("train")),
    R(CHANGE, change, .id = 7, .hosts = T("n1"), .stack = T("s2"), .name = T("gold")),
    R(PLAN_STEP, plan_step, .change = 7, .kind = LKS_DO_RETURN),
    R(PLAN_WAVE, plan_wave, .change = 7, .kind = LKS_WAVE_RING, .width = 1),
    R(PLAN_PART, plan_part, .change = 7, .hosts = T("n1"), .from = T("s1")),
    R(CHANGE_MOVED, change_moved, .change = 7, .state = LKS_CHANGE_DONE),
    R(WAVE, wave, .change = 7, .state = LKS_WAVE_PASSED),
    R(MEMBER, member, .change = 7, .node = T("n1"), .state = LKS_MEMBER_DONE),
    R(FLASH, flash, .id = 1, .node = T("n1"), .component = T("bmc")),
    R(FLASH_ENDED, flash_ended, .id = 1, .node = T("n1"), .outcome = LKS_BMC_DONE),
    R(COMMAND, command, .id = 1, .node = T("n1"), .executor = T("reboot")),
    R(COMMAND_ENDED, command_ended, .id = 1, .node = T("n1"), .outcome = LKS_OUTCOME_DONE),
};

static const struct {
    const char *name, *says;
    struct lks_record record;
} planted[] = {
    {"a change that is done runs again", "a change may go from done (7) to running (2)",
     R(CHANGE_MOVED, change_moved, .change = 7, .state = LKS_CHANGE_RUNNING)},
    {"a change moves to what is no state", "a change may go from done (7) to ? (32)",
     R(CHANGE_MOVED, change_moved, .change = 7, .state = (uint64_t)1 << 32)},
    {"a wave that passed soaks", "a wave may go from passed (3) to soaks (2)",
     R(WAVE, wave, .change = 7, .state = LKS_WAVE_SOAKS)},
    {"a node that is done is asked", "a member may go from done (4) to asked (2)",
     R(MEMBER, member, .change = 7, .node = T("n1"), .state = LKS_MEMBER_ASKED)},
    {"an update ends twice", "a flash may go from done (2) to failed (6)",
     R(FLASH_ENDED, flash_ended, .id = 1, .outcome = LKS_BMC_FAILED)},
    {"an update that ended goes on", "a flash may go from done (2) to sent (1)",
     R(FLASH_SAVED, flash_saved, .id = 1, .saved = T("{}"))},
    {"an update that is done is resolved", "a flash may go from done (2) to resolved (8)",
     R(FLASH_RESOLVED, flash_resolved, .id = 1)},
    {"a command ends twice", "a command may go from done (1) to failed (2)",
     R(COMMAND_ENDED, command_ended, .id = 1, .outcome = LKS_OUTCOME_FAILED)},
};

static void state_init(struct lks_state *s)
{
    struct lks_err err = {0};
    CHECK_CODE(lks_state_init(s, 1, &err), LKS_OK);
    for (size_t i = 0; i < LKS_COUNT(before); i++)
        CHECK_CODE(lks_state_apply(s, i + 1, 1, &before[i], &err), LKS_OK);
}

static void plant_record(size_t row)
{
    struct lks_state s = {0};
    state_init(&s);
    lks_transition_assert(&s, &planted[row].record);
}

static void test_a_planted_record_stops_the_program(void)
{
    for (size_t i = 0; i < LKS_COUNT(planted); i++) {
        lks_test_case("%s", planted[i].name);
        stops(plant_record, i, planted[i].says);
    }
}

/* A journal may be of another version, or be damaged: what it says is applied, or ignored. */
static void test_a_journal_never_stops_the_program(void)
{
    for (size_t i = 0; i < LKS_COUNT(planted); i++) {
        LKS_CLEANUP(lks_state_fini) struct lks_state s = {0};
        struct lks_err err = {0};
        lks_test_case("%s", planted[i].name);
        state_init(&s);
        CHECK_CODE(lks_state_apply(&s, 100, 2, &planted[i].record, &err), LKS_OK);
    }
}

/* A record of something that the state does not hold moves nothing. */
static void test_records_that_move_nothing(void)
{
    static const struct lks_record rows[] = {
        R(CHANGE_MOVED, change_moved, .change = 8),
        R(WAVE, wave, .change = 8),
        R(WAVE, wave, .change = 7, .index = 1),
        R(MEMBER, member, .change = 7, .node = T("n2")),
        R(MEMBER, member, .change = 8, .node = T("n1")),
        R(FLASH_SAVED, flash_saved, .id = 2),
        R(FLASH_ENDED, flash_ended, .id = 2),
        R(FLASH_RESOLVED, flash_resolved, .id = 2),
        R(COMMAND_ENDED, command_ended, .id = 2),
        R(POOL, pool, .name = T("x")),
    };
    LKS_CLEANUP(lks_state_fini) struct lks_state s = {0};
    state_init(&s);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_transition t;
        lks_test_case("row %zu", i);
        CHECK(!lks_transition_of(&s, &rows[i], &t));
        lks_transition_assert(&s, &rows[i]);
    }
}

/* An agent's ledger ends a command once. */
static void end_twice(size_t row)
{
    (void)row;
    struct lks_at_most_once o = {0};
    struct lks_err err = {0};
    struct lks_envelope e = {.id = 1, .journal = "00112233445566778899aabbccddeeff"};
    if (lks_at_most_once_begin(&o, &e, &err) != LKS_OK)
        return;
    lks_at_most_once_end(&o, 1, LKS_OUTCOME_DONE, LKS_STR(""));
    lks_at_most_once_end(&o, 1, LKS_OUTCOME_FAILED, LKS_STR(""));
}

static void test_a_ledger_ends_a_command_once(void)
{
    stops(end_twice, 0, "a command may go from done (1) to failed (2)");
}

/* A controller that never followed takes no lease. */
static void lead_alone(size_t row)
{
    (void)row;
    struct lks_test_world w = lks_test_world_new(false);
    struct lks_now now = {.wall = 1, .mono = 1};
    struct lks_engine *engine = NULL;
    struct lks_err err = {0};
    struct lks_engine_options options = {.facts = lks_test_facts(),
                                         .key = &w.key,
                                         .version = "1.2.3",
                                         .journal = "00112233445566778899aabbccddeeff",
                                         .seed = 1};
    if (lks_engine_open(&w.store, &options, now, &engine, &err) == LKS_OK)
        (void)!lks_engine_lead(engine, now, 2, LKS_STR("a"), LKS_STR("https://a:7443"), &err);
}

static void test_a_lease_is_for_followers(void)
{
    stops(lead_alone, 0, "a lease may go from alone (1) to taken (3)");
}

/* A driver whose step is its phase: the answer leads from one to the other. */
struct talk {
    struct lks_conversation c;
    uint32_t to;
};

static void hear(void *value, lks_ms now, const struct lks_http_response *answer)
{
    struct talk *t = value;
    (void)answer;
    lks_conversation_go(&t->c, t->to, now);
}

static enum lks_conversation_phase phase(const void *value)
{
    const struct talk *t = value;
    return (enum lks_conversation_phase)t->c.step;
}

static const struct lks_conversation_ops talk_ops = {
    .name = "test", .size = sizeof(struct talk), .hear = hear, .phase = phase};

static void feed(uint32_t from, uint32_t to)
{
    struct talk t = {.c = {.step = from, .deadline = 100}, .to = to};
    lks_conversation_feed(&talk_ops, &t, 1, NULL);
}

static void send_after_reset(size_t row)
{
    (void)row;
    feed(LKS_PHASE_RESETTING, LKS_PHASE_SENDING);
}

static void test_a_conversation_looks_before_it_sends(void)
{
    feed(LKS_PHASE_READING, LKS_PHASE_SENDING);
    stops(send_after_reset, 0, "a conversation may go from resetting (5) to sending (2)");
}

static const struct lks_test tests[] = {
    {"machine: tables are closed", test_tables_are_closed},
    {"machine: every transition has a reason", test_every_transition_has_a_reason},
    {"machine: each machine stops the program", test_each_machine_stops_the_program},
    {"machine: a planted record stops the program", test_a_planted_record_stops_the_program},
    {"machine: a journal never stops the program", test_a_journal_never_stops_the_program},
    {"machine: records that move nothing", test_records_that_move_nothing},
    {"machine: a ledger ends a command once", test_a_ledger_ends_a_command_once},
    {"machine: a lease is for followers", test_a_lease_is_for_followers},
    {"machine: a conversation looks before it sends", test_a_conversation_looks_before_it_sends},
    {0},
};

int main(void)
{
    return lks_test_main(tests);
}
