#include "core/actions/actions.h"
#include "core/actions/drained.h"
#include "core/rows/change.h"
#include "core/rows/command.h"
#include "core/rows/pool.h"
#include "core/state/node_status.h"
#include "core/state/state.h"
#include "model/manifest/executor.h"
#include "trust/envelope.h"

enum { LIFE_MAX_HOURS = 24 };
#define LIFE_MAX (3600 * LKS_SECOND * LIFE_MAX_HOURS)

static bool check_digests(struct lks_deciding *d, struct lks_str digests)
{
    struct lks_str rest = digests, word;
    size_t count = 0;
    while (lks_str_word(&rest, &word)) {
        if (!lks_digest_valid(word)) {
            lks_decision_refuse(d, LKS_E_INVALID,
                                "'%" LKS_STR_FMT "' is no digest: sha256: and 64 digits",
                                LKS_STR_ARG(word));
            return false;
        }
        if (++count > LKS_ENVELOPE_DIGESTS_MAX) {
            lks_decision_refuse(d, LKS_E_INVALID, "a command carries at most %d digests",
                                LKS_ENVELOPE_DIGESTS_MAX);
            return false;
        }
    }
    return true;
}

static bool check_order(struct lks_deciding *d, const struct lks_rec_command *command)
{
    struct lks_str executor = command->executor;
    lks_ms expires = command->expires;
    if (!lks_envelope_executor_name(executor))
        lks_decision_refuse(d, LKS_E_INVALID,
                            "'%" LKS_STR_FMT
                            "' is no executor: lower-case letters, digits and '-', "
                            "at most %d",
                            LKS_STR_ARG(executor), LKS_EXECUTOR_NAME_MAX);
    else if (expires <= d->now.wall)
        lks_decision_refuse(d, LKS_E_INVALID, "a command that has expired would not be run");
    else if (expires - d->now.wall > LIFE_MAX)
        lks_decision_refuse(d, LKS_E_INVALID, "a command lives at most %d hours", LIFE_MAX_HOURS);
    else
        return check_digests(d, command->digests);
    return false;
}

/* The command that this node has not answered yet. */
static const struct lks_state_command *pending(const struct lks_state *s, uint32_t node)
{
    if (s->nodes[node].pending == 0)
        return NULL;
    for (uint32_t i = s->command_count; i-- > 0;) {
        if (s->commands[i].node == node && !s->commands[i].ended)
            return &s->commands[i];
    }
    return NULL;
}

bool lks_decide_command_answered(struct lks_deciding *d, uint32_t node)
{
    const struct lks_state_command *open = pending(d->state, node);
    struct lks_str name = lks_state_name(d->state, node);
    if (open == NULL || lks_executor_reads(lks_state_text(d->state, open->executor)))
        return true;
    lks_decision_refuse(d, LKS_E_REFUSED,
                        "%" LKS_STR_FMT " has not answered command %llu (%" LKS_STR_FMT
                        ") yet, and stays out of service until then",
                        LKS_STR_ARG(name), (unsigned long long)open->id,
                        LKS_STR_ARG(lks_state_text(d->state, open->executor)));
    return false;
}

/* Where jobs are refused by us, a yes that was given stays good for a while: no step begins on a
 * node before every yes that could name it has expired. */
bool lks_decide_command_quiet(struct lks_deciding *d, uint32_t node)
{
    const struct lks_state *s = d->state;
    uint32_t pool = s->nodes[node].pool;
    lks_ms quiet = lks_node_status_quiet(s, node);
    struct lks_str name = lks_state_name(s, node);
    if (pool >= s->pool_count || !lks_str_is(lks_state_text(s, s->pools[pool].enforce), "on") ||
        quiet <= d->now.wall)
        return true;
    if (quiet == UINT64_MAX)
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "jobs may start on %" LKS_STR_FMT
                            "; hold it first: lockstep node hold %" LKS_STR_FMT,
                            LKS_STR_ARG(name), LKS_STR_ARG(name));
    else
        lks_decision_refuse(
            d, LKS_E_REFUSED,
            "a job may have been admitted to %" LKS_STR_FMT " and not started; try again in %llu "
            "s",
            LKS_STR_ARG(name),
            (unsigned long long)((quiet - d->now.wall + LKS_SECOND - 1) / LKS_SECOND));
    return false;
}

/* A command is signed for one boot of one node, so there has to be one that answers. A second one
 * waits for the end of the first: how two of them interact was never tested. */
static bool check_target(struct lks_deciding *d, uint32_t node)
{
    const struct lks_node *n = &d->state->nodes[node];
    struct lks_str name = lks_state_name(d->state, node);
    const struct lks_state_command *open = pending(d->state, node);
    if (n->asset != 0)
        lks_decision_refuse(d, LKS_E_REFUSED, "%" LKS_STR_FMT " is an asset and has no agent",
                            LKS_STR_ARG(name));
    else if (!n->enrolled)
        lks_decision_refuse(d, LKS_E_REFUSED, "%" LKS_STR_FMT " is not enrolled",
                            LKS_STR_ARG(name));
    else if (n->liveness != LKS_LIVE || n->boot == 0)
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "%" LKS_STR_FMT " is %s, and only a live node is commanded",
                            LKS_STR_ARG(name), lks_liveness_words[n->liveness]);
    else if (open != NULL)
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "%" LKS_STR_FMT " has not answered command %llu (%" LKS_STR_FMT ") yet",
                            LKS_STR_ARG(name), (unsigned long long)open->id,
                            LKS_STR_ARG(lks_state_text(d->state, open->executor)));
    else
        return n->flashing == 0 || lks_decide_flash_unflashed(d, node);
    return false;
}

/* All that follows from the node and the order; the checks of a person's word are done. */
bool lks_decide_command_issue(struct lks_deciding *d, uint32_t node, struct lks_rec_command command,
                              bool disrupts)
{
    const struct lks_state *s = d->state;
    if (!check_order(d, &command) || !check_target(d, node) ||
        (disrupts && !lks_decide_command_quiet(d, node)))
        return false;
    if (s->commands_open + (d->next_command - s->next_command) >= LKS_STATE_COMMANDS_MAX) {
        lks_decision_refuse(d, LKS_E_LIMIT, "%d commands wait for answers, which is the most",
                            LKS_STATE_COMMANDS_MAX);
        return false;
    }
    command.id = d->next_command++;
    command.node = lks_state_name(s, node);
    command.boot = lks_state_text(s, s->nodes[node].boot);
    lks_decision_add(d, LKS_RECORD_COMMAND)->command = command;
    return true;
}

/* A change in progress acts on its nodes itself. */
static bool check_no_change(struct lks_deciding *d, uint32_t node)
{
    const struct lks_state_change *c = lks_state_changing(d->state, node);
    struct lks_str name = lks_state_name(d->state, node);
    if (c == NULL)
        return true;
    lks_decision_refuse(d, LKS_E_REFUSED,
                        "change %llu is in progress on %" LKS_STR_FMT
                        "; pause or abort it, or wait for its end",
                        (unsigned long long)c->id, LKS_STR_ARG(name));
    return false;
}

void lks_decide_command(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    uint32_t node = LKS_NO_NODE;
    const struct lks_rec_command command = {
        .executor = e->command.executor,
        .digests = e->command.digests,
        .attempt = 1,
        .expires = e->command.expires,
        .by = e->by,
        .reason = lks_str_trim(e->reason),
    };
    if (!lks_decision_reason(d) || !check_order(d, &command) || !lks_decision_node(d, &node))
        return;
    lks_decision_touch(d, node);
    bool reads = lks_executor_reads(command.executor);
    if (lks_decide_hand_thaws(d, node) && lks_decide_hand_vouched(d, command.digests) &&
        lks_decide_hand_pins_command(d, node, command.digests) && check_target(d, node) &&
        (reads || (check_no_change(d, node) && lks_decide_hand_drained(d, node))))
        (void)lks_decide_command_issue(d, node, command, !reads);
}

/* Results ----------------------------------------------------------------------------------- */

/* A site may name an executor of its own for the checks of a change: its step tells that it only
 * checks. */
static bool is_acceptance(const struct lks_state *s, const struct lks_state_command *c)
{
    const struct lks_state_change *change = lks_state_changing(s, c->node);
    const struct lks_member *m = change == NULL ? NULL : lks_state_change_member(change, c->node);
    const struct lks_recipe *r = m == NULL ? NULL : &change->recipes[m->recipe];
    if (r == NULL || m->work != c->id || m->step >= r->count)
        return false;
    enum lks_step_kind kind = r->steps[m->step].kind;
    return kind == LKS_DO_ACCEPT || kind == LKS_DO_LEAVE;
}

/* What was read of the node before is over, unless the command changed nothing. One without an
 * answer may have run, though only in its own boot. */
static void end_readings(struct lks_deciding *d, const struct lks_state_command *c,
                         enum lks_outcome outcome)
{
    struct lks_str executor = lks_state_text(d->state, c->executor);
    if (outcome == LKS_OUTCOME_REFUSED || !lks_executor_changes(executor) ||
        is_acceptance(d->state, c))
        return;
    if (d->state->nodes[c->node].tuple_boot == c->boot)
        lks_decide_tuple_over(d, c->node);
    if (lks_str_is(executor, LKS_EXECUTOR_FIRMWARE))
        lks_decide_outband_over(d, c->node, LKS_STR("a command updated its firmware"));
}

void lks_decide_command_ended(struct lks_deciding *d, const struct lks_state_command *c,
                              enum lks_outcome outcome, struct lks_str text)
{
    lks_decision_add(d, LKS_RECORD_COMMAND_ENDED)->command_ended = (struct lks_rec_command_ended){
        .id = c->id,
        .node = lks_state_name(d->state, c->node),
        .outcome = outcome,
        .text = text,
    };
    end_readings(d, c, outcome);
}

void lks_decide_command_tick(struct lks_deciding *d)
{
    const struct lks_state *s = d->state;
    if (s->commands_open == 0 || d->now.wall < s->commands_due)
        return;
    for (uint32_t i = 0; i < s->command_count; i++) {
        const struct lks_state_command *c = &s->commands[i];
        if (c->ended || d->now.wall < lks_state_command_over(s, c))
            continue;
        if (!lks_deciding_room(d))
            return;
        lks_decide_command_ended(d, c, LKS_OUTCOME_EXPIRED,
                                 LKS_STR("no answer came before its expiry"));
    }
}
