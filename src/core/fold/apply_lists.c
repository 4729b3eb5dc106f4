/* Records about what the state lists beside the fleet: alarms, access, commands. */
#include "base/vec.h"
#include "core/fold/sets.h"
#include "core/rows/alarm.h"
#include "core/rows/command.h"
#include "core/rows/pool.h"
#include "core/state/mass.h"
#include "core/state/node_status.h"
#include "core/state/state.h"
#include "core/state/state_room.h"
#include "model/record/record.h"

/* Alarms ------------------------------------------------------------------------------------ */

/* Of the older half the closed ones go; were all open, the oldest of all. */
static void thin_alarms(struct lks_state *s)
{
    uint32_t kept = 0, half = s->alarm_count / 2;
    for (uint32_t i = 0; i < s->alarm_count; i++) {
        if (i >= half || s->alarms[i].released == 0)
            s->alarms[kept++] = s->alarms[i];
    }
    if (kept == s->alarm_count) {
        LKS_VEC_REMOVE(s->alarms, kept, 0);
        s->alarms_open--;
    }
    s->alarm_count = kept;
}

enum lks_code lks_apply_alarm(const struct lks_applying *a)
{
    const struct lks_rec_alarm *from = &a->r->alarm;
    struct lks_state *s = a->s;
    if (from->id < s->next_alarm || from->id == UINT64_MAX || from->kind >= LKS_ALARM_COUNT)
        return LKS_OK;
    struct lks_state_alarm made = {0};
    if (lks_sets_apply(a, &made) != LKS_OK)
        return a->err->code;
    if (s->alarm_count == LKS_STATE_ALARMS_MAX)
        thin_alarms(s);
    if (LKS_VEC_ADD(s->alarms, s->alarm_room, s->alarm_count, LKS_STATE_ALARMS_MAX, made, a->err) !=
        LKS_OK)
        return lks_wrap(a->err, "alarms");
    s->alarms_open++;
    s->next_alarm = made.id + 1;
    return LKS_OK;
}

/* With its alarm a pool's MASS is over, and what was counted is dealt with. */
static void release_pools(struct lks_state *s, uint64_t alarm)
{
    for (uint32_t p = 0; p < s->pool_count && alarm != 0; p++) {
        if (s->pools[p].mass_alarm == alarm) {
            s->pools[p].mass_alarm = 0;
            lks_mass_clear(&s->mass[p], s->turns);
        }
    }
}

enum lks_code lks_apply_alarm_released(const struct lks_applying *a)
{
    const struct lks_rec_alarm_released *from = &a->r->alarm_released;
    struct lks_state_alarm *alarm = LKS_STATE_BY_ID(a->s->alarms, a->s->alarm_count, from->id);
    release_pools(a->s, from->id);
    if (alarm == NULL || !lks_apply_once(a, &alarm->released))
        return LKS_OK;
    a->s->alarms_open--;
    return lks_sets_apply(a, alarm);
}

/* Without an alarm the record only says that one node turned, which is how a snapshot says it. */
enum lks_code lks_apply_mass(const struct lks_applying *a)
{
    const struct lks_rec_mass *m = &a->r->mass;
    uint32_t p = lks_state_pool(a->s, m->pool);
    if (p == LKS_NO_POOL)
        return LKS_OK;
    if (m->alarm != 0)
        a->s->pools[p].mass_alarm = m->alarm;
    uint32_t node = lks_state_node(a->s, m->what);
    if (m->alarm == 0 && node != LKS_NO_NODE && a->s->nodes[node].pool == p)
        lks_apply_turned(a, node);
    return LKS_OK;
}

/* Commands ---------------------------------------------------------------------------------- */

/* While it is not known how a command went, its node is no place for a job. */
static void count_pending(struct lks_state *s, uint32_t node, uint32_t by)
{
    s->nodes[node].pending += by;
    lks_node_status_update(s, node);
}

/* Of the older half those that ended go; were none ended, the oldest of all. */
static void thin_commands(struct lks_state *s)
{
    uint32_t kept = 0, half = s->command_count / 2;
    for (uint32_t i = 0; i < s->command_count; i++) {
        if (i >= half || !s->commands[i].ended)
            s->commands[kept++] = s->commands[i];
    }
    if (kept == s->command_count) {
        count_pending(s, s->commands[0].node, UINT32_MAX);
        s->commands_open--;
        LKS_VEC_REMOVE(s->commands, kept, 0);
    }
    s->command_count = kept;
    s->commands_moved = true;
}

static void open_command(struct lks_state *s, const struct lks_state_command *c)
{
    lks_ms over = lks_state_command_over(s, c);
    s->commands_open++;
    count_pending(s, c->node, 1);
    if (over < s->commands_due)
        s->commands_due = over;
}

static enum lks_code add_command(const struct lks_applying *a, const struct lks_state_command *made)
{
    struct lks_state *s = a->s;
    if (s->command_count == LKS_STATE_COMMANDS_MAX)
        thin_commands(s);
    if (LKS_VEC_ADD(s->commands, s->command_room, s->command_count, LKS_STATE_COMMANDS_MAX, *made,
                    a->err) != LKS_OK)
        return lks_wrap(a->err, "commands");
    open_command(s, made);
    s->next_command = made->id + 1;
    return LKS_OK;
}

enum lks_code lks_apply_command(const struct lks_applying *a)
{
    const struct lks_rec_command *from = &a->r->command;
    struct lks_state *s = a->s;
    if (from->id < s->next_command || from->id == UINT64_MAX)
        return LKS_OK;
    struct lks_state_command made = {0};
    if (lks_state_place(s, from->node, &made.node, a->err) != LKS_OK ||
        lks_sets_apply(a, &made) != LKS_OK)
        return a->err->code;
    return add_command(a, &made);
}

/* Of one that was given up for expired the node may still say how it went. */
enum lks_code lks_apply_command_ended(const struct lks_applying *a)
{
    const struct lks_rec_command_ended *from = &a->r->command_ended;
    struct lks_state *s = a->s;
    struct lks_state_command *command = LKS_STATE_BY_ID(s->commands, s->command_count, from->id);
    if (command == NULL || from->outcome >= LKS_OUTCOME_COUNT ||
        (command->ended && command->outcome != LKS_OUTCOME_EXPIRED))
        return LKS_OK;
    if (!command->ended) {
        s->commands_open--;
        s->commands_moved = true;
        count_pending(s, command->node, UINT32_MAX);
    }
    return lks_sets_apply(a, command);
}

/* Loaded rows ------------------------------------------------------------------------------- */

enum lks_code lks_apply_index_lists(const struct lks_applying *a)
{
    struct lks_state *s = a->s;
    for (uint32_t i = 0; i < s->alarm_count; i++)
        s->alarms_open += s->alarms[i].released == 0;
    for (uint32_t i = 0; i < s->command_count; i++) {
        const struct lks_state_command *c = &s->commands[i];
        if (!c->ended)
            open_command(s, c);
    }
    return LKS_OK;
}
