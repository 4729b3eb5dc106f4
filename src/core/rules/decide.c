#include "core/rules/decide.h"

#include "base/heap.h"
#include "core/campaign/campaign_parts.h"
#include "core/rules/decide_rules.h"
#include "core/state/node_status.h"
#include "core/state/state.h"

/* One row an event. */
static lks_rule *const rules[LKS_EVENT_COUNT] = {
    [LKS_EVENT_TICK] = lks_decide_tick,
    [LKS_EVENT_STARTED] = lks_decide_started,
    [LKS_EVENT_LIMITS] = lks_decide_limits,
    [LKS_EVENT_CLOCK] = lks_decide_clock,
    [LKS_EVENT_BEAT] = lks_decide_beat,
    [LKS_EVENT_TUPLE] = lks_decide_tuple,
    [LKS_EVENT_TOKEN] = lks_decide_token,
    [LKS_EVENT_ENROLL] = lks_decide_enroll,
    [LKS_EVENT_RENEW] = lks_decide_renew,
    [LKS_EVENT_FLEET] = lks_decide_fleet,
    [LKS_EVENT_HOLD] = lks_decide_hold,
    [LKS_EVENT_RELEASE] = lks_decide_release,
    [LKS_EVENT_NODE_SET] = lks_decide_node_set,
    [LKS_EVENT_REPLACE] = lks_decide_replace,
    [LKS_EVENT_REMOVE] = lks_decide_remove,
    [LKS_EVENT_ALARM_RELEASE] = lks_decide_alarm_release,
    [LKS_EVENT_GRANT] = lks_decide_grant,
    [LKS_EVENT_UNGRANT] = lks_decide_ungrant,
    [LKS_EVENT_API_TOKEN] = lks_decide_api_token,
    [LKS_EVENT_API_TOKEN_GONE] = lks_decide_api_token_gone,
    [LKS_EVENT_API_TOKEN_RENEW] = lks_decide_api_token_renew,
    [LKS_EVENT_LOGIN] = lks_decide_login,
    [LKS_EVENT_LOGOUT] = lks_decide_logout,
    [LKS_EVENT_CERTIFY] = lks_decide_certify,
    [LKS_EVENT_CERTIFY_GONE] = lks_decide_certify_gone,
    [LKS_EVENT_COMMAND] = lks_decide_command,
    [LKS_EVENT_RESULT] = lks_decide_result,
    [LKS_EVENT_OUTBAND] = lks_decide_outband,
    [LKS_EVENT_CONDITION] = lks_decide_condition,
    [LKS_EVENT_CHECK] = lks_decide_check,
    [LKS_EVENT_DEVIATE] = lks_decide_deviate,
    [LKS_EVENT_DEVIATION_CLOSE] = lks_decide_deviation_close,
    [LKS_EVENT_DEVIATION_AGREE] = lks_decide_deviation_agree,
    [LKS_EVENT_PUBLISH] = lks_decide_publish,
    [LKS_EVENT_STEP] = lks_decide_step,
    [LKS_EVENT_IMAGE] = lks_decide_image,
    [LKS_EVENT_IMAGE_GONE] = lks_decide_image_gone,
    [LKS_EVENT_ARTIFACT] = lks_decide_artifact,
    [LKS_EVENT_ARTIFACT_GONE] = lks_decide_artifact_gone,
    [LKS_EVENT_JOB] = lks_decide_job,
    [LKS_EVENT_OVERRIDE] = lks_decide_override,
    [LKS_EVENT_OBSERVED] = lks_decide_observed,
    [LKS_EVENT_LEAD] = lks_decide_lead,
    [LKS_EVENT_KEY_PIN] = lks_decide_key_pin,
    [LKS_EVENT_KEY_GONE] = lks_decide_key_gone,
    [LKS_EVENT_BUNDLE] = lks_decide_bundle,
    [LKS_EVENT_BUNDLE_REVOKE] = lks_decide_bundle_revoke,
    [LKS_EVENT_ENDPOINT] = lks_decide_endpoint,
    [LKS_EVENT_FLASH] = lks_decide_flash,
    [LKS_EVENT_FLASH_SAVED] = lks_decide_flash_saved,
    [LKS_EVENT_FLASH_ENDED] = lks_decide_flash_ended,
    [LKS_EVENT_FLASH_RESOLVE] = lks_decide_flash_resolve,
    [LKS_EVENT_PROPOSE] = lks_decide_propose,
    [LKS_EVENT_VOTE] = lks_decide_vote,
    [LKS_EVENT_TICKET] = lks_decide_ticket,
    [LKS_EVENT_TICKET_TOLD] = lks_decide_ticket_told,
    [LKS_EVENT_AUDITED] = lks_decide_audited,
    [LKS_EVENT_REVIEW] = lks_decide_review,
    [LKS_EVENT_RESET] = lks_decide_reset,
    [LKS_EVENT_WAIVE] = lks_decide_waive,
    [LKS_EVENT_CHANGE_MOVE] = lks_decide_change_move,
    [LKS_EVENT_FORECAST] = lks_decide_forecast,
    [LKS_EVENT_MEMBER_MOVE] = lks_decide_member_move,
    [LKS_EVENT_MEMBER_SKIP] = lks_decide_member_skip,
    [LKS_EVENT_FREEZE] = lks_decide_freeze,
    [LKS_EVENT_SCHED] = lks_campaign_sched,
    [LKS_EVENT_SCHED_JOBS] = lks_campaign_jobs,
    [LKS_EVENT_RUNS] = lks_decide_runs,
    [LKS_EVENT_SCHED_ALARM] = lks_decide_sched_alarm,
    [LKS_EVENT_SCHED_SLOT] = lks_decide_sched_slot,
    [LKS_EVENT_JOB_ACTED] = lks_campaign_jobs_acted,
    [LKS_EVENT_ADVERTISED] = lks_decide_advertised,
    [LKS_EVENT_OUTAGE] = lks_decide_outage,
    [LKS_EVENT_MEASURED] = lks_decide_measured,
    [LKS_EVENT_CADENCE] = lks_decide_cadence,
};

enum lks_code lks_decide(const struct lks_state *s, const struct lks_book *book, struct lks_now now,
                         const struct lks_event *event, struct lks_decision *out,
                         struct lks_err *err)
{
    LKS_ASSERT(event->kind < LKS_EVENT_COUNT);
    lks_decision_fini(out);
    lks_decision_init(out);
    struct lks_deciding d = {
        .state = s,
        .book = book,
        .now = now,
        .event = event,
        .out = out,
        .next_alarm = s->next_alarm,
        .next_command = s->next_command,
        .next_flash = s->next_flash,
    };
    rules[event->kind](&d);
    if (out->failed != LKS_OK)
        return lks_fail(err, out->failed, "a decision does not fit into memory");
    return LKS_OK;
}

void lks_decide_settle(struct lks_state *s, struct lks_now now)
{
    lks_heartbeat_settle(s, now);
    lks_node_status_settle(s, now.mono);
    lks_campaign_settle(s, now);
}

/* A time by the wall clock as one by the other, or `at` where that is earlier. */
static lks_ms earlier(const struct lks_state *s, lks_ms at, lks_ms wall)
{
    lks_ms left = wall > s->seen.wall ? wall - s->seen.wall : 0;
    lks_ms over = s->seen.mono + left;
    return wall == UINT64_MAX || over < s->seen.mono || over > at ? at : over;
}

lks_ms lks_decide_next(const struct lks_state *s)
{
    lks_ms at = UINT64_MAX, ends = UINT64_MAX;
    uint32_t node = 0;
    const struct lks_node_status *st = s->standing;
    if (st->news > 0 || (st->lacking > 0 && st->tried == 0))
        return s->seen.mono;
    if (!lks_heap_peek(&s->deadlines, &at, &node))
        at = UINT64_MAX;
    if (lks_heap_peek(&s->outband_ends, &ends, &node))
        at = earlier(s, at, ends);
    if (s->commands_open > 0)
        at = earlier(s, at, s->commands_due);
    if (s->flashes_open > 0)
        at = earlier(s, at, s->flashes_due);
    if (lks_heap_peek(&s->members_due, &ends, &node))
        at = earlier(s, at, ends);
    for (uint32_t i = 0; i < s->change_count && s->changes_open > 0; i++)
        at = earlier(s, at, lks_state_change_expires(s, &s->changes[i]));
    for (uint32_t i = 0; i < s->change_count && s->glasses > 0; i++) {
        const struct lks_glass *g = &s->changes[i].glass;
        if (g->at != 0 && g->reviewed == 0 && s->seen.wall <= g->until && g->until < UINT64_MAX)
            at = earlier(s, at, g->until + 1);
    }
    at = st->refused_next < at ? st->refused_next : at;
    lks_ms look = lks_campaign_next_look(s);
    at = look < at ? look : at;
    if (st->lacking > 0 && st->tried + s->limits.heartbeat < at)
        at = st->tried + s->limits.heartbeat; /* a stack that was not known may be by then */
    return earlier(s, at, s->deviations_due);
}
