#include "core/fold/sets.h"

#include "core/rows/alarm.h"
#include "core/rows/change.h"
#include "core/rows/command.h"
#include "core/rows/credential.h"
#include "core/rows/deviation.h"
#include "core/rows/flash.h"
#include "core/rows/job.h"
#include "core/rows/pool.h"
#include "core/rows/refusal.h"
#include "core/rows/registry.h"
#include "core/rows/run.h"
#include "core/rows/verdict.h"
#include "core/state/state.h"

enum how {
    KEEP,   /* a text that stays */
    PASSES, /* a text that is forgotten with its last use */
    LARGE,  /* a number or a time */
    LITTLE, /* a number, at most UINT32_MAX, or a word */
    YES_NO,
    TIME_OF,  /* the time of the record */
    FIRST_OF, /* the same, unless there is one already */
    SET,      /* true */
    ZERO,     /* nothing: `from` is the size */
    NO_MORE,
};

struct set {
    uint32_t from, to; /* where the struct of the record has it, and where the row has */
    enum how how;
};

/* The compiler checks that the two fit. A type takes no parentheses. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define AT(struct_, member, of) _Generic(((struct_ *)0)->member, of : offsetof(struct_, member))
#define PAIR(rec, f, f_type, t, t_type, how)                                                       \
    {                                                                                              \
        AT(struct lks_rec_##rec, f, f_type), AT(ROW, t, t_type), how                               \
    }
#define OWN(t, t_type, how)                                                                        \
    {                                                                                              \
        0, AT(ROW, t, t_type), how                                                                 \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

/* FIELD_AS(kind, field, column), and FIELD(kind, field) where both have the same name. */
#define TEXT_AS(rec, f, t)   PAIR(rec, f, struct lks_str, t, lks_text, KEEP)
#define PASS_AS(rec, f, t)   PAIR(rec, f, struct lks_str, t, lks_text, PASSES)
#define NUMBER_AS(rec, f, t) PAIR(rec, f, uint64_t, t, uint64_t, LARGE)
#define SMALL_AS(rec, f, t)  PAIR(rec, f, uint64_t, t, uint32_t, LITTLE)
#define TRUTH_AS(rec, f, t)  PAIR(rec, f, bool, t, bool, YES_NO)
#define TEXT(rec, f)         TEXT_AS(rec, f, f)
#define PASS(rec, f)         PASS_AS(rec, f, f)
#define NUMBER(rec, f)       NUMBER_AS(rec, f, f)
#define SMALL(rec, f)        SMALL_AS(rec, f, f)
#define TRUTH(rec, f)        TRUTH_AS(rec, f, f)
#define NOW(t)               OWN(t, lks_ms, TIME_OF)
#define FIRST(t)             OWN(t, lks_ms, FIRST_OF)
#define TRUE(t)              OWN(t, bool, SET)
#define CLEAR(t)                                                                                   \
    {                                                                                              \
        sizeof(((ROW *)0)->t), offsetof(ROW, t), ZERO                                              \
    }

#define SETS(KIND, ...)                                                                            \
    [LKS_RECORD_##KIND] = (const struct set[])                                                     \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            0, 0, NO_MORE                                                                          \
        }                                                                                          \
    }

/* By kind of record. ROW is the struct of the row. */
static const struct set *const all[] = {
/* The journal and the fleet. */
#define ROW struct lks_state
    SETS(FLEET, TEXT_AS(fleet, name, fleet_name), TEXT_AS(fleet, manifest, fleet_manifest)),
    SETS(LED, NUMBER(led, epoch), TEXT_AS(led, name, leader), TEXT_AS(led, url, leader_url)),
    SETS(SIGNED, NUMBER_AS(signing, from, signed_from),
         NUMBER_AS(signing, earlier, signed_earlier)),
    SETS(LIMITS, NUMBER_AS(limits, heartbeat, limits.heartbeat),
         NUMBER_AS(limits, late, limits.late), NUMBER_AS(limits, lost, limits.lost),
         NUMBER_AS(limits, mass_window, limits.mass_window), NUMBER_AS(limits, skew, limits.skew),
         NUMBER_AS(limits, mass_floor, limits.mass_floor),
         NUMBER_AS(limits, mass_percent, limits.mass_percent),
         NUMBER_AS(limits, call_nodes, limits.call_nodes),
         NUMBER_AS(limits, validity, limits.validity),
         NUMBER_AS(limits, staleness, limits.staleness),
         NUMBER_AS(limits, outband_age, limits.outband_age),
         NUMBER_AS(limits, proposal_age, limits.proposal_age), NUMBER(limits, yeses_until)),
#undef ROW
#define ROW struct lks_state_pool
    SETS(POOL, TRUE(known), TEXT(pool, posture), TEXT(pool, enforce), TEXT(pool, sched),
         TEXT(pool, stack), SMALL(pool, criticality), TRUTH(pool, attested),
         TRUTH(pool, drain_refused), NUMBER(pool, check_age)),
#undef ROW
/* Nodes. */
#define ROW struct lks_node
    SETS(PLACED, TRUE(placed), TEXT(placed, asset), TEXT(placed, class), TEXT(placed, site),
         TEXT(placed, rack), TEXT(placed, domain), TEXT(placed, power_zone),
         TEXT(placed, cooling_loop), TEXT(placed, hardware_revision), TEXT(placed, supplier),
         TEXT(placed, side)),
    SETS(TOKEN, TEXT_AS(token, hash, token_hash), NUMBER_AS(token, expires, token_expires)),
    SETS(LIVENESS, SMALL_AS(liveness, state, liveness), NOW(liveness_since)),
    SETS(BOOTED, TEXT(booted, boot)),
    SETS(PARTS, TEXT_AS(parts, board, parts[LKS_PART_BOARD]),
         TEXT_AS(parts, gpus, parts[LKS_PART_GPUS]), TEXT_AS(parts, nics, parts[LKS_PART_NICS])),
    SETS(INTAKE, TRUE(intake), CLEAR(accepted), TEXT_AS(intake, why, intake_why)),
    SETS(ACCEPTED, TRUE(accepted), CLEAR(intake), CLEAR(intake_why)),
    SETS(HELD, FIRST(held_since), TRUE(held), TEXT_AS(held, by, held_by),
         TEXT_AS(held, reason, held_reason), NUMBER_AS(held, row, held_row)),
    SETS(UNHELD, CLEAR(held_since), CLEAR(held_row), CLEAR(held), CLEAR(held_by),
         CLEAR(held_reason)),
    SETS(ENDPOINT, TEXT_AS(endpoint, fingerprint, endpoint)),
    SETS(DRAINED, TEXT_AS(drained, owner, drained_by), TEXT_AS(drained, reason, drained_reason),
         NUMBER_AS(drained, row, drained_row)),
    SETS(UNDRAINED, CLEAR(drained_row), CLEAR(drained_by), CLEAR(drained_reason)),
    SETS(TUPLE, TEXT_AS(tuple, digest, tuple), TEXT_AS(tuple, boot, tuple_boot),
         PASS(tuple, report), PASS(tuple, changed), NUMBER(tuple, taken), NOW(tuple_since)),
    SETS(OUTBAND, PASS_AS(outband, report, outband_report)),
    SETS(ADVERTISED, TEXT_AS(advertised, gres, scheduler_gres),
         TEXT_AS(advertised, state, scheduler_state), NOW(scheduler_since)),
    SETS(DRIFT, TRUTH_AS(drift, on, drifting), TEXT_AS(drift, stack, drift_stack),
         SMALL_AS(drift, cause, drift_cause), PASS_AS(drift, text, drift_text),
         PASS_AS(drift, evidence, drift_evidence)),
#undef ROW
#define ROW struct lks_state_verdict
    SETS(VERDICT, SMALL(verdict, judged), SMALL(verdict, drifted), SMALL(verdict, unmeasured),
         PASS(verdict, first), PASS(verdict, wrong), PASS(verdict, values)),
#undef ROW
/* Lists. */
#define ROW struct lks_state_alarm
    SETS(ALARM, NUMBER(alarm, id), SMALL(alarm, kind), TEXT(alarm, subject), TEXT(alarm, text),
         NOW(raised)),
    SETS(ALARM_RELEASED, TEXT(alarm_released, by), TEXT(alarm_released, reason)),
#undef ROW
#define ROW struct lks_state_command
    SETS(COMMAND, NUMBER(command, id), TEXT(command, boot), TEXT(command, executor),
         TEXT(command, digests), NUMBER(command, attempt), NUMBER(command, expires),
         TEXT(command, by), TEXT(command, reason), NOW(sent)),
    SETS(COMMAND_ENDED, TRUE(ended), SMALL(command_ended, outcome), TEXT(command_ended, text)),
#undef ROW
#define ROW struct lks_deviation
    SETS(DEVIATION, NUMBER(deviation, id), TEXT(deviation, hosts), TEXT(deviation, subject),
         TEXT(deviation, value), TEXT(deviation, owner), TEXT(deviation, reason),
         TEXT(deviation, approver), TEXT(deviation, by), TEXT(deviation, minters),
         NUMBER(deviation, expires), TRUTH(deviation, waits), NOW(added)),
    SETS(DEVIATION_AGREED, TEXT_AS(deviation_agreed, by, agreed_by),
         TEXT_AS(deviation_agreed, reason, agreed_reason)),
    SETS(DEVIATION_ENDED, TEXT_AS(deviation_ended, by, ended_by),
         TEXT_AS(deviation_ended, reason, ended_reason)),
#undef ROW
#define ROW struct lks_state_stack
    SETS(PUBLISHED, TEXT(published, digest), TEXT(published, name), TEXT(published, manifest),
         TEXT(published, envelope), TEXT(published, artifacts), TEXT(published, by),
         TEXT(published, reason), TEXT(published, minters), NOW(published)),
    SETS(STEPPED, SMALL(stepped, step), NOW(stepped)),
#undef ROW
#define ROW struct lks_state_image
    SETS(IMAGE, TEXT(image, ref), TEXT(image, digest), TEXT(image, nccl), TEXT(image, rccl),
         TEXT(image, cudnn), TEXT(image, cuda), TEXT(image, source), TEXT(image, by), NOW(added)),
#undef ROW
#define ROW struct lks_state_artifact
    SETS(ARTIFACT, TEXT(artifact, digest), TEXT(artifact, name), TEXT(artifact, by),
         NUMBER(artifact, size), NOW(added)),
#undef ROW
#define ROW struct lks_override
    SETS(OVERRIDE, TEXT(override, job), TEXT(override, hosts), TEXT(override, reason),
         TEXT(override, by), NUMBER(override, until)),
#undef ROW
/* Firmware. */
#define ROW struct lks_state_key
    SETS(KEY_PINNED, TEXT(key_pinned, name), TEXT(key_pinned, key), TEXT(key_pinned, by),
         TEXT(key_pinned, reason), NOW(pinned)),
#undef ROW
#define ROW struct lks_state_bundle
    SETS(BUNDLE, TEXT(bundle, digest), TEXT(bundle, name), TEXT(bundle, version),
         TEXT(bundle, manifest), TEXT(bundle, signer), TEXT(bundle, key), TEXT(bundle, artifacts),
         TRUTH(bundle, site), TEXT(bundle, by), NOW(added)),
    SETS(BUNDLE_REVOKED, TEXT_AS(bundle_revoked, by, revoked_by),
         TEXT_AS(bundle_revoked, reason, revoked_reason)),
#undef ROW
#define ROW struct lks_state_flash
    SETS(FLASH, NUMBER(flash, id), SMALL(flash, act), TEXT(flash, component), TEXT(flash, version),
         TEXT(flash, bundle), TEXT(flash, image), NUMBER(flash, size), TEXT(flash, image_name),
         TEXT(flash, apply_time), TRUTH(flash, force), TRUTH(flash, one_way),
         NUMBER(flash, deadline), TEXT(flash, by), TEXT(flash, reason), NOW(begun)),
    SETS(FLASH_SAVED, PASS(flash_saved, phase)),
    SETS(FLASH_ENDED, SMALL(flash_ended, outcome), PASS(flash_ended, found),
         PASS(flash_ended, text), NUMBER(flash_ended, uploads), NOW(ended)),
    SETS(FLASH_RESOLVED, TEXT_AS(flash_resolved, by, resolved_by),
         TEXT_AS(flash_resolved, reason, resolved_reason)),
#undef ROW
/* People. */
#define ROW struct lks_binding
    SETS(GRANTED, TEXT(granted, identity), SMALL(granted, role), TEXT(granted, site),
         TEXT(granted, pool), TEXT_AS(granted, by, made.by),
         TEXT_AS(granted, minters, made.minters), TRUTH_AS(granted, root, made.root)),
#undef ROW
#define ROW struct lks_api_token
    SETS(API_TOKEN, PASS(api_token, id), TEXT(api_token, identity), PASS(api_token, hash),
         NUMBER(api_token, expires), NUMBER(api_token, life), TEXT_AS(api_token, by, made.by),
         TEXT_AS(api_token, minters, made.minters), TRUTH_AS(api_token, root, made.root),
         TEXT(api_token, issuer), TEXT(api_token, grants)),
#undef ROW
#define ROW struct lks_state_person
    SETS(PERSON_CERTIFIED, TEXT(person_certified, serial), TEXT(person_certified, identity),
         NUMBER_AS(person_certified, expires, certificate.expires), NUMBER(person_certified, life),
         TEXT_AS(person_certified, minter, made.by),
         TEXT_AS(person_certified, minters, made.minters),
         TRUTH_AS(person_certified, root, made.root)),
#undef ROW
/* Changes. */
#define ROW struct lks_state_change
    SETS(CHANGE, NUMBER(change, id), SMALL(change, kind), PASS(change, hosts), TEXT(change, stack),
         TEXT(change, name), SMALL(change, failures_max), TRUTH(change, rolls_back),
         TRUTH(change, one_way), NUMBER(change, not_before), NUMBER(change, not_after),
         TEXT(change, windows), TEXT(change, by), TEXT(change, reason), TEXT(change, class),
         TEXT(change, advisory), NUMBER(change, expires), NUMBER(change, approval_age),
         NUMBER(change, review_age), TRUTH_AS(change, standby, needs_standby),
         TEXT(change, minters), NOW(proposed)),
    SETS(CHANGE_MOVED, SMALL(change_moved, state), TEXT_AS(change_moved, by, moved_by),
         TEXT_AS(change_moved, reason, moved_reason)),
    SETS(GLASS_BROKEN, NUMBER_AS(glass_broken, until, glass.until),
         TEXT_AS(glass_broken, by, glass.by), TEXT_AS(glass_broken, reason, glass.reason),
         TEXT_AS(glass_broken, minters, glass.minters)),
    SETS(REVIEWED, TEXT_AS(reviewed, by, glass.reviewed_by),
         TEXT_AS(reviewed, reason, glass.reviewed_reason)),
    SETS(FORECAST, NUMBER_AS(forecast, runs, forecast.runs),
         NUMBER_AS(forecast, took_low, forecast.took[0]),
         NUMBER_AS(forecast, took_middle, forecast.took[1]),
         NUMBER_AS(forecast, took_high, forecast.took[2]),
         NUMBER_AS(forecast, gpu_hours_low, forecast.gpu_hours[0]),
         NUMBER_AS(forecast, gpu_hours_middle, forecast.gpu_hours[1]),
         NUMBER_AS(forecast, gpu_hours_high, forecast.gpu_hours[2]),
         NUMBER_AS(forecast, kept_high, forecast.kept),
         NUMBER_AS(forecast, reached_high, forecast.reached), TEXT_AS(forecast, by, forecast.by),
         NOW(forecast.at)),
#undef ROW
#define ROW struct lks_step
    SETS(PLAN_STEP, SMALL(plan_step, kind), SMALL(plan_step, rank), SMALL(plan_step, layer),
         TEXT(plan_step, component), TEXT(plan_step, version), TEXT(plan_step, before),
         TEXT(plan_step, executor), TEXT(plan_step, order), TEXT(plan_step, order_back),
         TEXT(plan_step, artifacts), TEXT(plan_step, artifacts_back), TEXT(plan_step, bundle),
         TEXT(plan_step, image), TEXT(plan_step, bundle_back), TEXT(plan_step, image_back),
         SMALL(plan_step, revert), TRUTH(plan_step, one_way), NUMBER(plan_step, limit),
         SMALL(plan_step, retries), SMALL(plan_step, jobs), TEXT(plan_step, signal),
         NUMBER(plan_step, grace), TEXT(plan_step, missing)),
#undef ROW
#define ROW struct lks_wave
    SETS(PLAN_WAVE, SMALL(plan_wave, kind), TEXT(plan_wave, pool), SMALL(plan_wave, width),
         NUMBER(plan_wave, soak), SMALL(plan_wave, failures_max), PASS(plan_wave, controls),
         PASS(plan_wave, width_text)),
    SETS(WAVE, SMALL(wave, state), NUMBER(wave, until), PASS(wave, text)),
    SETS(WAVE_LIMIT, SMALL(wave_limit, limit), PASS_AS(wave_limit, text, limit_text)),
#undef ROW
#define ROW struct lks_change_order
    SETS(PLAN_ORDER, PASS(plan_order, digest), PASS(plan_order, text)),
#undef ROW
#define ROW struct lks_change_note
    SETS(PLAN_NOTE, SMALL(plan_note, kind), PASS(plan_note, text)),
#undef ROW
#define ROW struct lks_plan_metric
    SETS(PLAN_METRIC, TEXT(plan_metric, name), TEXT(plan_metric, pools), SMALL(plan_metric, kind),
         SMALL(plan_metric, better), SMALL(plan_metric, unit), TRUTH(plan_metric, critical),
         TEXT(plan_metric, query), SMALL(plan_metric, source)),
#undef ROW
#define ROW struct lks_pool_gate
    SETS(PLAN_GATE, TEXT(plan_gate, pool), NUMBER(plan_gate, min_load), NUMBER(plan_gate, min_soak),
         NUMBER(plan_gate, max_soak), SMALL(plan_gate, loss_budget),
         TEXT(plan_gate, reference_load)),
#undef ROW
#define ROW struct lks_member
    SETS(MEMBER, SMALL(member, state), SMALL(member, step), TRUTH(member, back),
         SMALL(member, pass), SMALL(member, attempt), NUMBER(member, until), NUMBER(member, work),
         SMALL(member, failure), PASS(member, text), SMALL(member, reached)),
#undef ROW
#define ROW struct lks_vote
    SETS(CHANGE_VOTED, TRUTH(change_voted, yes), TEXT(change_voted, by), TEXT(change_voted, reason),
         TEXT(change_voted, credential), TEXT(change_voted, minters), NOW(at)),
#undef ROW
#define ROW struct lks_waiver
    SETS(WAIVED, TEXT(waived, gate), NUMBER(waived, until), TEXT(waived, by), TEXT(waived, reason),
         TEXT(waived, pool), NOW(at)),
#undef ROW
#define ROW struct lks_measure
    SETS(MEASURED, SMALL(measured, wave), TEXT(measured, metric), NUMBER(measured, samples),
         NUMBER(measured, from), NUMBER(measured, until), NUMBER(measured, load),
         NUMBER(measured, events), NUMBER(measured, exposure), NOW(at)),
#undef ROW
#define ROW struct lks_gate_look
    SETS(GATE_LOOKED, SMALL(gate_looked, wave), TEXT(gate_looked, metric), SMALL(gate_looked, look),
         SMALL(gate_looked, verdict), PASS(gate_looked, text), NOW(at)),
#undef ROW
#define ROW struct lks_job_acted
    SETS(JOB_ACT, TEXT(job_act, job), TEXT(job_act, site), TEXT(job_act, sched),
         TEXT(job_act, node), TEXT(job_act, user), SMALL(job_act, act), SMALL(job_act, state),
         TEXT(job_act, signal), NUMBER(job_act, started), NUMBER(job_act, until),
         PASS(job_act, text), NOW(at)),
#undef ROW
#define ROW struct lks_run
    SETS(JOB_ENDED, PASS(job_ended, job), TEXT(job_ended, site), TEXT(job_ended, sched),
         PASS(job_ended, user), PASS(job_ended, account), PASS(job_ended, partition),
         PASS(job_ended, name), TEXT(job_ended, pool), PASS(job_ended, hosts),
         SMALL(job_ended, nodes), SMALL(job_ended, gpus), PASS(job_ended, digest),
         NUMBER(job_ended, started), NUMBER(job_ended, ended), SMALL(job_ended, state),
         PASS(job_ended, exit), SMALL(job_ended, restarts), NUMBER(job_ended, gpu_ms),
         SMALL(job_ended, cause), PASS(job_ended, by), PASS(job_ended, reason), NOW(recorded)),
    SETS(JOB_BATCH, PASS(job_batch, job), TEXT(job_batch, site), TEXT(job_batch, sched),
         PASS(job_batch, user), TEXT(job_batch, pool), PASS(job_batch, digest),
         SMALL(job_batch, state), SMALL(job_batch, cause), NUMBER(job_batch, count),
         NUMBER(job_batch, gpu_ms), NUMBER(job_batch, started), NUMBER(job_batch, ended),
         NOW(recorded)),
#undef ROW
#define ROW struct lks_refusal
    SETS(REFUSAL, PASS(refusal, pool), SMALL(refusal, bar), PASS(refusal, user),
         PASS(refusal, image), PASS(refusal, node)),
#undef ROW
#define ROW struct lks_runs_place
    SETS(RUNS_READ, TEXT(runs_read, site), TEXT(runs_read, sched), NUMBER(runs_read, at),
         PASS(runs_read, job), NOW(recorded)),
#undef ROW
#define ROW struct lks_proven
    SETS(REVERT_PROVEN, TEXT(revert_proven, class), TEXT(revert_proven, from),
         TEXT(revert_proven, to), NUMBER(revert_proven, change), NUMBER(revert_proven, took),
         TEXT(revert_proven, node), NOW(at)),
#undef ROW
#define ROW struct lks_reset
    SETS(RESET, TEXT(reset, boot), NUMBER(reset, until), TEXT(reset, by), TEXT(reset, reason),
         TEXT(reset, minters), NOW(asked)),
#undef ROW

};

static const struct set *sets_of(enum lks_record_kind kind)
{
    LKS_ASSERT((size_t)kind < LKS_COUNT(all) && all[kind] != NULL);
    return all[kind];
}

static enum lks_code assign(const struct lks_applying *a, const struct set *set, const void *from,
                            void *to)
{
    uint64_t number = 0;
    switch (set->how) {
    case KEEP:
        return lks_apply_keep(a, *(const struct lks_str *)from, to);
    case PASSES:
        return lks_apply_pass(a, *(const struct lks_str *)from, to);
    case LARGE:
        memcpy(to, from, sizeof(number));
        break;
    case LITTLE:
        memcpy(&number, from, sizeof(number));
        *(uint32_t *)to = number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
        break;
    case YES_NO:
        *(bool *)to = *(const bool *)from;
        break;
    case TIME_OF:
        *(lks_ms *)to = a->time;
        break;
    case FIRST_OF:
        *(lks_ms *)to = *(lks_ms *)to == 0 ? a->time : *(lks_ms *)to;
        break;
    case SET:
        *(bool *)to = true;
        break;
    case ZERO:
        memset(to, 0, set->from);
        break;
    case NO_MORE:
        break;
    }
    return LKS_OK;
}

enum lks_code lks_sets_apply(const struct lks_applying *a, void *row)
{
    for (const struct set *set = sets_of(a->r->kind); set->how != NO_MORE; set++) {
        if (assign(a, set, (const char *)&a->r->begun + set->from, (char *)row + set->to) != LKS_OK)
            return a->err->code;
    }
    return LKS_OK;
}

enum lks_code lks_sets_put(const struct lks_applying *a, enum lks_sorted list, void *made)
{
    const void *key = (const char *)&a->r->begun + sets_of(a->r->kind)[0].from;
    if (((const struct lks_str *)key)->len == 0)
        return LKS_OK;
    if (lks_sets_apply(a, made) != LKS_OK)
        return a->err->code;
    return lks_state_sorted_put(a->s, list, made, a->err);
}

void lks_sets_dump(const struct lks_state *s, enum lks_record_kind kind, const void *row,
                   void *record)
{
    for (const struct set *set = sets_of(kind); set->how != NO_MORE; set++) {
        const void *from = (const char *)row + set->to;
        void *to = (char *)record + set->from;
        if (set->how == KEEP || set->how == PASSES)
            *(struct lks_str *)to = lks_state_text(s, *(const lks_text *)from);
        else if (set->how == LARGE)
            memcpy(to, from, sizeof(uint64_t));
        else if (set->how == LITTLE)
            *(uint64_t *)to = *(const uint32_t *)from;
        else if (set->how == YES_NO)
            *(bool *)to = *(const bool *)from;
    }
}
