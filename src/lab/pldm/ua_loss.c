/* Messages that do not come: what to make of silence, and of a device that is found in a state
 * other than the one it was left in. */
#include "lab/pldm/ua_parts.h"

enum { RESTARTS_MAX = 3, LOOKS_MAX = 32, CANCELS_MAX = 3 };

enum lks_ua_step lks_ua_really_at(const struct lks_ua *ua)
{
    bool looks = ua->step == LKS_UA_STEP_RESYNC || (ua->step == LKS_UA_STEP_LOOK && ua->resumed);
    return looks ? ua->lost : ua->step;
}

bool lks_ua_begun(const struct lks_ua *ua)
{
    for (size_t i = 0; i < ua->o.component_count; i++) {
        uint8_t fate = ua->parts[i].fate;
        if (fate != LKS_UA_WAITING && fate != LKS_UA_REFUSED)
            return true;
    }
    return false;
}

static void fall_silent(struct lks_ua *ua)
{
    bool unknown = lks_ua_begun(ua);
    if (ua->out.activated)
        lks_ua_because(ua, "the device was asked to activate its images and was not idle again "
                           "in time");
    lks_ua_because(ua, "the device does not answer");
    lks_ua_end(ua, unknown ? LKS_UA_UNKNOWN : LKS_UA_FAILED);
}

static void resync(struct lks_ua *ua, lks_ms now)
{
    enum lks_ua_step step = ua->step;
    lks_ms work_until = ua->wait_until;
    ua->silent_until = now + ua->o.timers.t3;
    lks_ua_go(ua, now, LKS_UA_STEP_RESYNC);
    ua->lost = step;
    ua->work_until = work_until;
}

void lks_ua_lost(struct lks_ua *ua, lks_ms now)
{
    if (ua->step == LKS_UA_STEP_ABORT) {
        bool again = ++ua->cancels < CANCELS_MAX;
        ua->enter_at = again ? now + ua->o.timers.t1 : LKS_UA_NEVER;
        if (!again)
            lks_ua_end(ua, lks_ua_begun(ua) ? LKS_UA_UNKNOWN : ua->ending);
    } else if (ua->step == LKS_UA_STEP_LOOK || ua->step == LKS_UA_STEP_RESYNC ||
               ua->step == LKS_UA_STEP_SETTLE || ua->step == LKS_UA_STEP_CONFIRM) {
        if (now >= ua->silent_until)
            fall_silent(ua);
        else
            ua->enter_at = now + ua->o.timers.poll;
    } else if (++ua->looks > LOOKS_MAX + 4 * ua->o.component_count) {
        lks_ua_because(ua, "too many messages were lost");
        lks_ua_abort(ua, now, LKS_UA_FAILED);
    } else {
        resync(ua, now);
    }
}

void lks_ua_late(struct lks_ua *ua, lks_ms now)
{
    if (ua->step == LKS_UA_STEP_PACKAGE) {
        ua->gets_data = false;
        lks_ua_enter(ua, now);
    } else {
        resync(ua, now);
    }
}

void lks_ua_start_over(struct lks_ua *ua, lks_ms now, bool in_update_mode)
{
    ua->resumed = ua->found_ready = false;
    if (++ua->restarts > RESTARTS_MAX) {
        lks_ua_because(ua, "the device left the update %d times", RESTARTS_MAX + 1);
        if (in_update_mode)
            lks_ua_abort(ua, now, LKS_UA_FAILED);
        else
            lks_ua_end(ua, LKS_UA_FAILED);
        return;
    }
    lks_ua_go(ua, now, in_update_mode ? LKS_UA_STEP_CLEAR : LKS_UA_STEP_IDENTIFY);
}

/* The device is still at the component before: its ...Complete was heard and our answer was not. It
 * will say so again, and be answered; until then there is nothing to do but look. */
static bool is_behind(const struct lks_ua *ua, lks_ms now, uint8_t state)
{
    bool offers =
        ua->lost == LKS_UA_STEP_OFFER && (state == LKS_PLDM_VERIFY || state == LKS_PLDM_APPLY);
    bool activates =
        ua->lost == LKS_UA_STEP_ACTIVATE && state >= LKS_PLDM_DOWNLOAD && state <= LKS_PLDM_APPLY;
    return (offers || activates) && now < ua->silent_until;
}

static void look_again(struct lks_ua *ua, lks_ms now)
{
    ua->step = LKS_UA_STEP_RESYNC;
    ua->enter_at = now + ua->o.timers.poll;
}

static void resync_activation(struct lks_ua *ua, lks_ms now, uint8_t state, uint8_t reason)
{
    if (state == LKS_PLDM_ACTIVATE) {
        ua->out.activated = true;
        ua->silent_until = now + ua->out.seconds * LKS_SECOND + ua->o.timers.t3;
        lks_ua_go(ua, now, LKS_UA_STEP_SETTLE);
    } else if (state == LKS_PLDM_IDLE && reason == LKS_PLDM_BY_ACTIVATION) {
        ua->out.activated = true;
        lks_ua_end(ua, ua->ending);
    } else if (state == LKS_PLDM_IDLE) {
        lks_ua_go(ua, now, LKS_UA_STEP_CONFIRM);
    } else if (state == LKS_PLDM_READY && !ua->out.activated) {
        lks_ua_go(ua, now, LKS_UA_STEP_ACTIVATE);
    } else {
        lks_ua_start_over(ua, now, true);
    }
}

/* The device has a component in hand. It is the one that was sent last: another one could only be
 * there if another agent had cancelled ours, and then its state would not be ours to read. */
static void resync_component(struct lks_ua *ua, lks_ms now, uint8_t state, bool failed)
{
    static const enum lks_ua_step steps[] = {
        [LKS_PLDM_DOWNLOAD] = LKS_UA_STEP_TRANSFER,
        [LKS_PLDM_VERIFY] = LKS_UA_STEP_VERIFY,
        [LKS_PLDM_APPLY] = LKS_UA_STEP_APPLY,
    };
    enum lks_ua_step step = steps[state];
    bool same = step == ua->lost;
    lks_ms until = ua->work_until;
    if (failed || (same && now >= until)) {
        lks_ua_broken(ua, now, true, "%s when it was %s",
                      failed ? "the device failed" : "the device took too long",
                      lks_pldm_message_state_text(state));
        return;
    }
    ua->served_unknown = ua->served_unknown || ua->resumed;
    lks_ua_go(ua, now, step);
    if (same && until != LKS_UA_NEVER && step != LKS_UA_STEP_TRANSFER)
        ua->wait_until = until;
}

static void resync_update(struct lks_ua *ua, lks_ms now, const struct lks_pldm_message *m)
{
    uint8_t state = m->body.status.state;
    bool failed = m->body.status.aux == LKS_PLDM_AUX_FAILED;
    bool has_component = state >= LKS_PLDM_DOWNLOAD && state <= LKS_PLDM_APPLY;
    bool is_ready = state == LKS_PLDM_READY;
    bool drops = ua->lost == LKS_UA_STEP_DROP, offers = ua->lost == LKS_UA_STEP_OFFER;
    if (drops && has_component)
        lks_ua_go(ua, now, LKS_UA_STEP_DROP);
    else if (is_ready && (drops || (ua->lost == LKS_UA_STEP_TABLE && !ua->resumed)))
        lks_ua_next_component(ua, now);
    else if (has_component && ua->lost >= LKS_UA_STEP_OFFER &&
             (!offers || state == LKS_PLDM_DOWNLOAD))
        resync_component(ua, now, state, failed);
    else if (is_ready && ua->lost >= LKS_UA_STEP_OFFER)
        lks_ua_go(ua, now, offers && !ua->resumed ? LKS_UA_STEP_OFFER : LKS_UA_STEP_REREAD);
    else
        lks_ua_start_over(ua, now, state != LKS_PLDM_IDLE);
}

void lks_ua_resync(struct lks_ua *ua, lks_ms now, const struct lks_pldm_message *m)
{
    uint8_t state = m->body.status.state;
    ua->out.state = (enum lks_pldm_state)state;
    if (ua->lost == LKS_UA_STEP_ABORT) {
        lks_ua_abort(ua, now, ua->ending);
    } else if (is_behind(ua, now, state)) {
        look_again(ua, now);
    } else if (ua->lost >= LKS_UA_STEP_ACTIVATE && ua->lost <= LKS_UA_STEP_CONFIRM) {
        resync_activation(ua, now, state, m->body.status.reason);
    } else if (ua->lost <= LKS_UA_STEP_REQUEST && state == LKS_PLDM_IDLE) {
        bool same = ua->lost >= LKS_UA_STEP_IDENTIFY && !ua->resumed;
        lks_ua_go(ua, now, same ? ua->lost : LKS_UA_STEP_IDENTIFY);
    } else if (ua->lost >= LKS_UA_STEP_PACKAGE && ua->lost <= LKS_UA_STEP_TABLE &&
               state == LKS_PLDM_LEARN && !ua->resumed) {
        ua->at = 0;
        lks_ua_go(ua, now, LKS_UA_STEP_TABLE);
    } else {
        resync_update(ua, now, m);
    }
    ua->resumed = false;
}
