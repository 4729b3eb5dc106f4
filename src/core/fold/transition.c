#include "core/fold/transition.h"

#include "core/rows/change.h"
#include "core/rows/command.h"
#include "core/rows/flash.h"
#include "core/rows/node.h"
#include "core/state/lookup.h"
#include "core/state/state_room.h"
#include "model/record/moves.h"
#include "model/record/record.h"

/* A number of a record; one that is no state of any machine stays none. */
static unsigned state_of(uint64_t number)
{
    return number < LKS_MACHINE_STATES_MAX ? (unsigned)number : LKS_MACHINE_STATES_MAX;
}

static bool of_change(const struct lks_state *s, const struct lks_record *r,
                      struct lks_transition *out)
{
    const struct lks_state_change *c = lks_state_change(s, r->change_moved.change);
    if (c == NULL)
        return false;
    *out = (struct lks_transition){&lks_moves_change, c->state, state_of(r->change_moved.state)};
    return true;
}

static bool of_wave(const struct lks_state *s, const struct lks_record *r,
                    struct lks_transition *out)
{
    const struct lks_state_change *c = lks_state_change(s, r->wave.change);
    if (c == NULL || r->wave.index >= c->wave_count)
        return false;
    *out = (struct lks_transition){&lks_moves_wave, c->waves[r->wave.index].state,
                                   state_of(r->wave.state)};
    return true;
}

static bool of_member(const struct lks_state *s, const struct lks_record *r,
                      struct lks_transition *out)
{
    const struct lks_state_change *c = lks_state_change(s, r->member.change);
    uint32_t node = lks_state_node(s, r->member.node);
    const struct lks_member *m =
        c != NULL && node != LKS_NO_NODE ? lks_state_change_member(c, node) : NULL;
    if (m == NULL)
        return false;
    *out = (struct lks_transition){&lks_moves_member, m->state, state_of(r->member.state)};
    return true;
}

static bool of_flash(const struct lks_state *s, uint64_t id, unsigned to,
                     struct lks_transition *out)
{
    const struct lks_state_flash *f = lks_state_flash(s, id);
    if (f == NULL)
        return false;
    *out = (struct lks_transition){
        &lks_moves_flash, lks_moves_flash_stage(f->outcome, f->saved != NULL, f->resolved != 0),
        to};
    return true;
}

static bool of_flash_ended(const struct lks_state *s, const struct lks_rec_flash_ended *r,
                           struct lks_transition *out)
{
    unsigned to = LKS_MACHINE_STATES_MAX;
    if (r->outcome != LKS_BMC_OPEN && r->outcome < LKS_BMC_OUTCOME_COUNT)
        to = lks_moves_flash_stage((enum lks_bmc_outcome)r->outcome, false, false);
    return of_flash(s, r->id, to, out);
}

static bool of_command(const struct lks_state *s, const struct lks_record *r,
                       struct lks_transition *out)
{
    const struct lks_state_command *c = lks_state_command(s, r->command_ended.id);
    if (c == NULL)
        return false;
    *out = (struct lks_transition){
        &lks_moves_command, lks_moves_command_stage(c->ended, c->outcome),
        r->command_ended.outcome < LKS_OUTCOME_COUNT
            ? lks_moves_command_stage(true, (enum lks_outcome)r->command_ended.outcome)
            : LKS_MACHINE_STATES_MAX};
    return true;
}

bool lks_transition_of(const struct lks_state *s, const struct lks_record *r,
                       struct lks_transition *out)
{
    if (r->kind == LKS_RECORD_CHANGE_MOVED)
        return of_change(s, r, out);
    if (r->kind == LKS_RECORD_WAVE)
        return of_wave(s, r, out);
    if (r->kind == LKS_RECORD_MEMBER)
        return of_member(s, r, out);
    if (r->kind == LKS_RECORD_FLASH_SAVED)
        return of_flash(s, r->flash_saved.id,
                        r->flash_saved.saved.len > 0 ? LKS_FLASH_SENT : LKS_FLASH_ASKED, out);
    if (r->kind == LKS_RECORD_FLASH_ENDED)
        return of_flash_ended(s, &r->flash_ended, out);
    if (r->kind == LKS_RECORD_FLASH_RESOLVED)
        return of_flash(s, r->flash_resolved.id, LKS_FLASH_RESOLVED, out);
    return r->kind == LKS_RECORD_COMMAND_ENDED && of_command(s, r, out);
}

void lks_transition_assert(const struct lks_state *s, const struct lks_record *record)
{
    struct lks_transition t;
    if (lks_transition_of(s, record, &t))
        (void)lks_machine_step(t.machine, t.from, t.to);
}
