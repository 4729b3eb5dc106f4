#include "bridge/slurm/slurm_parts.h"
#include "bridge/view/reservation.h"

#include "base/vec.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PASSWD_BYTES = 16384, UID_TEXT = 16 };

const char *lks_slurm_text(const char *maybe)
{
    return maybe != NULL ? maybe : "";
}

static struct lks_str text(const char *maybe)
{
    return lks_str_from(lks_slurm_text(maybe));
}

static lks_ms ms(time_t at)
{
    return at > 0 ? (lks_ms)at * LKS_SECOND : 0;
}

/* Users ------------------------------------------------------------------------------------- */

static struct lks_str look_up(struct lks_slurm *s, uid_t uid, const char *number)
{
    char bytes[PASSWD_BYTES];
    struct passwd entry, *found = NULL;
    if (getpwuid_r(uid, &entry, bytes, sizeof(bytes), &found) != 0 || found == NULL)
        return lks_str_from(number);
    return lks_arena_copy(&s->users.bytes, lks_str_from(entry.pw_name));
}

struct lks_str lks_slurm_user(struct lks_slurm *s, uid_t uid)
{
    char number[UID_TEXT];
    uint32_t id = 0, before = lks_intern_count(&s->users);
    snprintf(number, sizeof(number), "%u", (unsigned)uid);
    if (LKS_VEC_RESERVE(s->user_names, s->user_room, before + (size_t)1, NULL) != LKS_OK ||
        lks_intern_id(&s->users, lks_str_from(number), &id, &(struct lks_err){0}) != LKS_OK)
        return LKS_STR("?");
    if (id == before)
        s->user_names[id] = look_up(s, uid, lks_intern_text(&s->users, id).ptr);
    return s->user_names[id].len > 0 ? s->user_names[id] : lks_intern_text(&s->users, id);
}

/* Nodes ------------------------------------------------------------------------------------- */

/* PLANNED is left out: it comes and goes with each pass of the scheduler. */
static const struct {
    uint32_t flag;
    const char *name;
} flags[] = {
    {NODE_STATE_DRAIN, "drain"},
    {NODE_STATE_FAIL, "fail"},
    {NODE_STATE_COMPLETING, "completing"},
    {NODE_STATE_NO_RESPOND, "not_responding"},
    {NODE_STATE_MAINT, "maintenance"},
    {NODE_STATE_RES, "reserved"},
    {NODE_STATE_BLOCKED, "blocked"},
    {NODE_STATE_REBOOT_REQUESTED, "reboot_requested"},
    {NODE_STATE_REBOOT_ISSUED, "reboot_issued"},
    {NODE_STATE_POWERED_DOWN, "powered_down"},
    {NODE_STATE_POWERING_DOWN, "powering_down"},
    {NODE_STATE_POWERING_UP, "powering_up"},
    {NODE_STATE_INVALID_REG, "invalid_registration"},
    {NODE_STATE_CLOUD, "cloud"},
    {NODE_STATE_EXTERNAL, "external"},
};

static const char *base_name(uint32_t state)
{
    static const char *const names[] = {"unknown", "down",  "idle",  "allocated",
                                        "error",   "mixed", "future"};
    uint32_t base = state & NODE_STATE_BASE;
    return base < LKS_COUNT(names) ? names[base] : "unknown";
}

_Static_assert(NODE_STATE_UNKNOWN == 0 && NODE_STATE_DOWN == 1 && NODE_STATE_IDLE == 2 &&
                   NODE_STATE_ALLOCATED == 3 && NODE_STATE_MIXED == 5 && NODE_STATE_FUTURE == 6,
               "the names above are in the order of Slurm's states");

static void write_state(uint32_t state, char out[LKS_SLURM_STATE_MAX])
{
    size_t len = (size_t)snprintf(out, LKS_SLURM_STATE_MAX, "%s", base_name(state));
    for (size_t i = 0; i < LKS_COUNT(flags); i++) {
        if ((state & flags[i].flag) != 0 && len < LKS_SLURM_STATE_MAX)
            len += (size_t)snprintf(out + len, LKS_SLURM_STATE_MAX - len, "+%s", flags[i].name);
    }
}

void lks_slurm_convert_node(struct lks_slurm *s, const node_info_t *from,
                            char state[LKS_SLURM_STATE_MAX], struct lks_bridge_node *out)
{
    const uint32_t closed = NODE_STATE_DRAIN | NODE_STATE_FAIL | NODE_STATE_NO_RESPOND |
                            NODE_STATE_MAINT | NODE_STATE_REBOOT_ISSUED | NODE_STATE_INVALID_REG |
                            NODE_STATE_POWERING_DOWN | NODE_STATE_BLOCKED;
    uint32_t now = from->node_state, base = now & NODE_STATE_BASE;
    bool reason = from->reason != NULL && from->reason[0] != '\0';
    write_state(now, state);
    *out = (struct lks_bridge_node){
        .name = text(from->name),
        .state = lks_str_from(state),
        .reason = text(from->reason),
        .user = reason ? lks_slurm_user(s, from->reason_uid) : LKS_STR("unknown"),
        .own = reason && from->reason_uid == s->own,
        .drained = (now & NODE_STATE_DRAIN) != 0,
        .failing = (now & NODE_STATE_FAIL) != 0,
        .down = base == NODE_STATE_DOWN,
        .responding = (now & NODE_STATE_NO_RESPOND) == 0,
        .accepts = (now & closed) == 0 && (base == NODE_STATE_IDLE || base == NODE_STATE_MIXED ||
                                           base == NODE_STATE_ALLOCATED),
        .since = reason ? ms(from->reason_time) : 0,
        .features = text(from->features),
        .active = text(from->features_act != NULL ? from->features_act : from->features),
        .gres = text(from->gres),
        .gres_used = text(from->gres_used),
        .extra = text(from->extra),
        .comment = text(from->comment),
    };
}

/* Jobs and reservations --------------------------------------------------------------------- */

static const char *job_state(uint32_t state)
{
    static const char *const names[] = {"pending",   "running",   "suspended", "complete",
                                        "cancelled", "failed",    "timeout",   "node_fail",
                                        "preempted", "boot_fail", "deadline",  "out_of_memory"};
    uint32_t base = state & JOB_STATE_BASE;
    if ((state & JOB_COMPLETING) != 0)
        return "completing";
    return base < LKS_COUNT(names) ? names[base] : "unknown";
}

struct lks_str lks_slurm_convert_id(struct lks_arena *arena, const slurm_job_info_t *from)
{
    if (from->array_job_id != 0 && from->array_task_str != NULL)
        return lks_arena_format(arena, "%u_[%s]", from->array_job_id, from->array_task_str);
    if (from->array_job_id != 0)
        return lks_arena_format(arena, "%u_%u", from->array_job_id, from->array_task_id);
    if (from->het_job_id != 0)
        return lks_arena_format(arena, "%u+%u", from->het_job_id, from->het_job_offset);
    return lks_arena_format(arena, "%u", from->job_id);
}

static bool runs(const slurm_job_info_t *job)
{
    uint32_t base = job->job_state & JOB_STATE_BASE;
    return base == JOB_RUNNING || base == JOB_SUSPENDED || (job->job_state & JOB_COMPLETING) != 0;
}

lks_ms lks_slurm_convert_started(const slurm_job_info_t *from)
{
    return runs(from) ? ms(from->start_time) : 0;
}

void lks_slurm_convert_job(struct lks_slurm *s, const slurm_job_info_t *from,
                           struct lks_bridge_job *out)
{
    uint32_t gpus = lks_bridge_node_gpus(text(from->tres_alloc_str));
    if (gpus == LKS_BRIDGE_UNKNOWN)
        gpus = lks_bridge_node_gpus(text(lks_slurm_version_job_gres(from)));
    *out = (struct lks_bridge_job){
        .id = lks_slurm_convert_id(&s->arena, from),
        .name = text(from->name),
        .user = from->user_name != NULL ? text(from->user_name) : lks_slurm_user(s, from->user_id),
        .account = text(from->account),
        .partition = text(from->partition),
        .state = lks_str_from(job_state(from->job_state)),
        .nodes = text(from->nodes),
        .node_count = from->num_nodes,
        .started = lks_slurm_convert_started(from),
        .ends = runs(from) && from->time_limit != INFINITE && from->time_limit != NO_VAL
                    ? ms(from->end_time)
                    : 0,
        .runs = runs(from),
        .requeue = from->requeue != 0,
        .gpus = gpus,
    };
}

void lks_slurm_convert_reservation(struct lks_slurm *s, const reserve_info_t *from,
                                   struct lks_bridge_reservation *out)
{
    *out = (struct lks_bridge_reservation){
        .name = text(from->name),
        .nodes = text(from->node_list),
        .users = text(from->users),
        .from = ms(from->start_time),
        .until = ms(from->end_time),
        .maint = (from->flags & RESERVE_FLAG_MAINT) != 0,
    };
    out->own = lks_bridge_reservation_is_own(out, lks_slurm_user(s, s->own));
}
