/* What people do by hand, outside a change's own steps: each artifact has a verdict, production is
 * given what its stack pins, on nodes that are drained and read, and nothing is done while it is
 * frozen. */
#include "core/actions/actions.h"
#include "core/actions/drained.h"
#include "core/firmware/firmware_names.h"
#include "core/governance/delta.h"
#include "core/plan/drain.h"
#include "core/plan/plan.h"
#include "core/registry/book.h"
#include "core/rows/change.h"
#include "core/rows/command.h"
#include "core/rows/pool.h"
#include "core/rows/registry.h"
#include "core/state/node_status.h"
#include "core/state/state.h"
#include "model/tuple/tuple.h"

#include <stdio.h>

static struct lks_str text_of(const struct lks_deciding *d, lks_text text)
{
    return lks_state_text(d->state, text);
}

/* "pool 'train' (pre-training) is production"; an asset is of the pools of its domain. */
static struct lks_str where_of(struct lks_deciding *d, uint32_t node)
{
    const struct lks_state *s = d->state;
    uint32_t pool = s->nodes[node].pool;
    if (pool >= s->pool_count)
        return lks_decision_text(d, "its domain is production");
    return lks_decision_text(d, "pool '%" LKS_STR_FMT "' (%" LKS_STR_FMT ") is production",
                             LKS_STR_ARG(text_of(d, s->pools[pool].name)),
                             LKS_STR_ARG(text_of(d, s->pools[pool].posture)));
}

/* Stacks ------------------------------------------------------------------------------------ */

bool lks_decide_hand_takes(struct lks_deciding *d, uint32_t node, struct lks_str stack)
{
    const struct lks_state *s = d->state;
    if (d->book->judge != NULL || /* a copy: that is what rehearsals are for */
        lks_delta_takes(s, d->book->facts, node, stack, d->now.wall))
        return true;
    const struct lks_state_stack *known = lks_state_stack(s, stack);
    struct lks_str name = known != NULL ? text_of(d, known->name) : stack;
    struct lks_str where = where_of(d, node), node_name = lks_state_name(s, node);
    lks_decision_refuse(
        d, LKS_E_REFUSED,
        "%" LKS_STR_FMT ": %" LKS_STR_FMT " and takes only released stacks; '%" LKS_STR_FMT
        "' is %s: promote it with 'lockstep stack promote', try it in a pool of "
        "posture dev, or have it approved for a few nodes until a time "
        "('lockstep deviation add %" LKS_STR_FMT
        " --what \"*\"', and by an approver 'lockstep deviation approve')",
        LKS_STR_ARG(node_name), LKS_STR_ARG(where), LKS_STR_ARG(name),
        known != NULL ? lks_step_words[known->step] : "not published", LKS_STR_ARG(node_name));
    return false;
}

bool lks_decide_hand_takes_plan(struct lks_deciding *d, const struct lks_plan *plan)
{
    struct lks_str stack = plan->change.stack;
    if (stack.len == 0 || lks_delta_released(d->state, stack))
        return true;
    for (size_t i = 0; i < plan->part_count; i++) {
        struct lks_hostlist hosts = {0};
        struct lks_err err = {0};
        if (lks_hostlist_parse(plan->parts[i].hosts, &d->out->arena, &hosts, &err) != LKS_OK) {
            d->out->failed = err.code;
            return false;
        }
        for (size_t k = 0; k < hosts.count; k++) {
            uint32_t node = lks_state_node(d->state, hosts.names[k]);
            if (node != LKS_NO_NODE && !lks_decide_hand_takes(d, node, stack))
                return false;
        }
    }
    return true;
}

bool lks_decide_hand_takes_change(struct lks_deciding *d, const struct lks_state_change *c)
{
    struct lks_str stack = text_of(d, c->stack);
    if (stack.len == 0 || lks_delta_released(d->state, stack))
        return true;
    for (uint32_t i = 0; i < c->member_count; i++) {
        if (!lks_decide_hand_takes(d, c->members[i].node, stack))
            return false;
    }
    return true;
}

/* Firmware ---------------------------------------------------------------------------------- */

/* An entry may be named by its id: "HGX_FW_GPU_1" is a vbios. */
static struct lks_str component_of(const struct lks_deciding *d, struct lks_str component)
{
    const struct lks_firmware_hint hint = {.id = component};
    struct lks_str class = lks_firmware_name(d->book->facts, &hint).class;
    return class.len > 0 ? class : component;
}

/* Whether an approved deviation lets the node have it. */
static bool is_excused(const struct lks_deciding *d, uint32_t node, struct lks_str component,
                       struct lks_str version)
{
    char subject[LKS_READING_NAME_MAX + 1];
    snprintf(subject, sizeof(subject), "firmware/%" LKS_STR_FMT, LKS_STR_ARG(component));
    return lks_node_status_excused(d->state, node, lks_str_from(subject), version, d->now.wall);
}

/* The stack that the node should run, which production may be given; 0: none is pinned, so nothing
 * can differ from it. */
static bool find_intent(struct lks_deciding *d, uint32_t node, lks_text *out)
{
    *out = lks_delta_in_production(d->state, d->book->facts, node)
               ? lks_state_intent(d->state, node)
               : 0;
    return *out == 0 || lks_decide_hand_takes(d, node, text_of(d, *out));
}

bool lks_decide_hand_pins_flash(struct lks_deciding *d, uint32_t node,
                                const struct lks_rec_flash *flash)
{
    struct lks_str component = component_of(d, flash->component);
    lks_text intent = 0;
    if (flash->version.len == 0 || is_excused(d, node, component, flash->version))
        return true;
    if (!find_intent(d, node, &intent) || intent == 0)
        return d->out->refused.code == LKS_OK;
    const struct lks_stack *stack = lks_book_stack(d->book, text_of(d, intent));
    if (stack != NULL && lks_delta_has_firmware(d->book->facts, stack, component, flash->version))
        return true;
    struct lks_str where = where_of(d, node), name = lks_state_name(d->state, node);
    lks_decision_refuse(d, LKS_E_REFUSED,
                        "%" LKS_STR_FMT ": %" LKS_STR_FMT ", and its stack '%" LKS_STR_FMT
                        "' does not pin %" LKS_STR_FMT " %" LKS_STR_FMT
                        ": publish a stack that does and propose a change to it, "
                        "or have it approved until a time ('lockstep deviation add %" LKS_STR_FMT
                        " --what firmware/%" LKS_STR_FMT " --value %" LKS_STR_FMT
                        "', and by an approver 'lockstep deviation approve')",
                        LKS_STR_ARG(name), LKS_STR_ARG(where),
                        LKS_STR_ARG(stack != NULL ? stack->name : text_of(d, intent)),
                        LKS_STR_ARG(flash->component), LKS_STR_ARG(flash->version),
                        LKS_STR_ARG(name), LKS_STR_ARG(component), LKS_STR_ARG(flash->version));
    return false;
}

/* Commands ---------------------------------------------------------------------------------- */

bool lks_decide_hand_pins_command(struct lks_deciding *d, uint32_t node, struct lks_str digests)
{
    struct lks_str rest = digests, word;
    lks_text intent = 0;
    if (lks_str_trim(digests).len == 0 ||
        lks_node_status_excused(d->state, node, LKS_STR("*"), LKS_STR(""), d->now.wall))
        return true;
    if (!find_intent(d, node, &intent) || intent == 0)
        return d->out->refused.code == LKS_OK;
    const struct lks_state_stack *stack = lks_state_stack(d->state, text_of(d, intent));
    struct lks_str has = stack != NULL ? text_of(d, stack->artifacts) : LKS_STR("");
    struct lks_str where = where_of(d, node), name = lks_state_name(d->state, node);
    while (lks_str_word(&rest, &word)) {
        if (lks_facts_words_have(has, word))
            continue;
        lks_decision_refuse(
            d, LKS_E_REFUSED,
            "%" LKS_STR_FMT ": %" LKS_STR_FMT ", and its stack '%" LKS_STR_FMT
            "' does not have %" LKS_STR_FMT
            ": publish a stack that does and propose a change to it, or have it "
            "approved until a time ('lockstep deviation add %" LKS_STR_FMT
            " --what \"*\"', and by an approver 'lockstep deviation approve')",
            LKS_STR_ARG(name), LKS_STR_ARG(where),
            LKS_STR_ARG(stack != NULL ? text_of(d, stack->name) : text_of(d, intent)),
            LKS_STR_ARG(word), LKS_STR_ARG(name));
        return false;
    }
    return true;
}

bool lks_decide_hand_vouched(struct lks_deciding *d, struct lks_str artifacts)
{
    struct lks_str word;
    while (lks_str_word(&artifacts, &word)) {
        if (lks_state_vouched(d->state, word))
            continue;
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "no verified bundle names %" LKS_STR_FMT
                            ", or it was revoked: sign a bundle with it and bring it with "
                            "'lockstep bundle push'",
                            LKS_STR_ARG(word));
        return false;
    }
    return true;
}

/* Drained and read -------------------------------------------------------------------------- */

/* What is wrong, and what to do about it. */
static struct lks_str emptied_text(struct lks_deciding *d, uint32_t node, enum lks_drained how)
{
    const struct lks_state *s = d->state;
    uint32_t pool = s->nodes[node].pool;
    struct lks_str name = lks_state_name(s, node);
    struct lks_str sched = pool < s->pool_count ? text_of(d, s->pools[pool].sched) : LKS_STR("");
    const struct lks_state_command *look = lks_drained_look(s, node, 0);
    switch (how) {
    case LKS_DRAINED_YES:
        break;
    case LKS_DRAINED_IN_SERVICE:
        return lks_decision_text(
            d, "it is in service; drain it first: lockstep node hold %" LKS_STR_FMT,
            LKS_STR_ARG(name));
    case LKS_DRAINED_NO_DRIVER:
        return lks_decision_text(d, "lockstep cannot drain nodes in scheduler %" LKS_STR_FMT " yet",
                                 LKS_STR_ARG(lks_drain_sched_mute(sched)));
    case LKS_DRAINED_SCHED:
        return lks_decision_text(d,
                                 "scheduler %" LKS_STR_FMT " does not report it as drained for a "
                                 "hold: run 'lockstep node hold %" LKS_STR_FMT
                                 "', and wait until 'lockstep node show %" LKS_STR_FMT
                                 "' has 'emptied'",
                                 LKS_STR_ARG(sched), LKS_STR_ARG(name), LKS_STR_ARG(name));
    case LKS_DRAINED_UNREAD:
        return lks_decision_text(d,
                                 "its agent did not read its GPU processes since it was drained, "
                                 "or not in the last 10 minutes; read it: lockstep node command "
                                 "%" LKS_STR_FMT " idle",
                                 LKS_STR_ARG(name));
    case LKS_DRAINED_BUSY:
        return lks_decision_text(
            d,
            "its agent did not find it idle (%" LKS_STR_FMT
            "); end what runs there and read it again, or have it reset by two "
            "people: lockstep node command %" LKS_STR_FMT " reboot --wedged",
            LKS_STR_ARG(look != NULL ? text_of(d, look->text) : LKS_STR("")), LKS_STR_ARG(name));
    }
    return LKS_STR("");
}

bool lks_decide_hand_drained(struct lks_deciding *d, uint32_t node)
{
    enum lks_drained how = LKS_DRAINED_YES;
    uint32_t other = lks_drained_not(d->state, d->book->facts, node, d->now.wall, &how);
    if (other == LKS_NO_NODE || !lks_decide_command_quiet(d, other))
        return other == LKS_NO_NODE;
    struct lks_str where = where_of(d, other), why = emptied_text(d, other, how);
    lks_decision_refuse(d, LKS_E_REFUSED, "%" LKS_STR_FMT ": %" LKS_STR_FMT ", and %" LKS_STR_FMT,
                        LKS_STR_ARG(lks_state_name(d->state, other)), LKS_STR_ARG(where),
                        LKS_STR_ARG(why));
    return false;
}

/* Freezes ----------------------------------------------------------------------------------- */

bool lks_decide_hand_thaws(struct lks_deciding *d, uint32_t node)
{
    struct lks_freeze f = lks_state_freeze(d->state, node);
    char since[LKS_TIME_TEXT_SIZE];
    if (!f.on)
        return true;
    struct lks_str pool = text_of(d, f.pool);
    struct lks_str which = f.pool != 0
                               ? lks_decision_text(d, "pool '%" LKS_STR_FMT "'", LKS_STR_ARG(pool))
                               : LKS_STR("the fleet");
    lks_decision_refuse(
        d, LKS_E_REFUSED,
        "%" LKS_STR_FMT ": %" LKS_STR_FMT " is frozen by %" LKS_STR_FMT " since %s (%" LKS_STR_FMT
        "); ask an approver to end it: lockstep unfreeze%s%" LKS_STR_FMT,
        LKS_STR_ARG(lks_state_name(d->state, node)), LKS_STR_ARG(which),
        LKS_STR_ARG(text_of(d, f.by)), lks_time_text(f.since, since),
        LKS_STR_ARG(text_of(d, f.reason)), f.pool != 0 ? " --pool " : "", LKS_STR_ARG(pool));
    return false;
}
