/* The steps of an update: what each begins with, and what is made of the answer. */
#include "lab/pldm/ua_parts.h"

#include <stdarg.h>
#include <stdio.h>

typedef void enter_fn(struct lks_ua *ua, lks_ms now);
typedef void hear_fn(struct lks_ua *ua, lks_ms now, const struct lks_pldm_message *m);

static enter_fn ask_status, ask_cancel, ask_identifiers, ask_parameters, ask_update, wait_package,
    ask_metadata, pass_component, offer_component, wait_transfer, wait_work, ask_drop, ask_activate,
    ended;
static hear_fn hear_look, hear_clear, hear_identifiers, hear_parameters, hear_update, hear_metadata,
    hear_passed, hear_offered, hear_dropped, hear_activated, hear_settling, hear_confirm,
    hear_aborted, hear_nothing, hear_resync, hear_reread;

static const struct {
    enter_fn *enter;
    hear_fn *hear;
} steps[LKS_UA_STEPS] = {
    [LKS_UA_STEP_LOOK] = {ask_status, hear_look},
    [LKS_UA_STEP_CLEAR] = {ask_cancel, hear_clear},
    [LKS_UA_STEP_IDENTIFY] = {ask_identifiers, hear_identifiers},
    [LKS_UA_STEP_READ] = {ask_parameters, hear_parameters},
    [LKS_UA_STEP_REQUEST] = {ask_update, hear_update},
    [LKS_UA_STEP_PACKAGE] = {wait_package, hear_nothing},
    [LKS_UA_STEP_METADATA] = {ask_metadata, hear_metadata},
    [LKS_UA_STEP_TABLE] = {pass_component, hear_passed},
    [LKS_UA_STEP_OFFER] = {offer_component, hear_offered},
    [LKS_UA_STEP_TRANSFER] = {wait_transfer, hear_nothing},
    [LKS_UA_STEP_VERIFY] = {wait_work, hear_nothing},
    [LKS_UA_STEP_APPLY] = {wait_work, hear_nothing},
    [LKS_UA_STEP_DROP] = {ask_drop, hear_dropped},
    [LKS_UA_STEP_ACTIVATE] = {ask_activate, hear_activated},
    [LKS_UA_STEP_SETTLE] = {ask_status, hear_settling},
    [LKS_UA_STEP_CONFIRM] = {ask_parameters, hear_confirm},
    [LKS_UA_STEP_ABORT] = {ask_cancel, hear_aborted},
    [LKS_UA_STEP_RESYNC] = {ask_status, hear_resync},
    [LKS_UA_STEP_REREAD] = {ask_parameters, hear_reread},
    [LKS_UA_STEP_ENDED] = {ended, hear_nothing},
};

void lks_ua_enter(struct lks_ua *ua, lks_ms now)
{
    steps[ua->step].enter(ua, now);
}

void lks_ua_hear(struct lks_ua *ua, lks_ms now, const struct lks_pldm_message *m)
{
    steps[ua->step].hear(ua, now, m);
}

static void ask(struct lks_ua *ua, lks_ms now, uint16_t command)
{
    struct lks_pldm_message m = {.command = command};
    lks_ua_ask(ua, now, &m);
}

static void ended(struct lks_ua *ua, lks_ms now)
{
    (void)ua, (void)now;
}

static void hear_nothing(struct lks_ua *ua, lks_ms now, const struct lks_pldm_message *m)
{
    (void)ua, (void)now, (void)m;
}

/* The device says no to something that has to work: the update is over. */
static void refused(struct lks_ua *ua, lks_ms now, const struct lks_pldm_message *m)
{
    lks_ua_because(ua, "the device answered %s with 0x%02x: %s",
                   lks_pldm_message_command_text(m->command), m->code,
                   lks_pldm_message_code_text(m->code));
    if (ua->step >= LKS_UA_STEP_METADATA)
        lks_ua_abort(ua, now, LKS_UA_FAILED);
    else
        lks_ua_end(ua, LKS_UA_FAILED);
}

void lks_ua_abort(struct lks_ua *ua, lks_ms now, enum lks_ua_end end)
{
    ua->ending = end;
    ua->cancels = 0;
    lks_ua_go(ua, now, LKS_UA_STEP_ABORT);
}

static void ask_status(struct lks_ua *ua, lks_ms now)
{
    ask(ua, now, LKS_PLDM_GET_STATUS);
}

/* A device that was left in an update by another agent, or by us before a restart. */
static void hear_look(struct lks_ua *ua, lks_ms now, const struct lks_pldm_message *m)
{
    if (m->code != LKS_PLDM_CC_SUCCESS) {
        refused(ua, now, m);
        return;
    }
    ua->out.state = (enum lks_pldm_state)m->body.status.state;
    ua->found_ready = m->body.status.state == LKS_PLDM_READY &&
                      ua->o.mode == LKS_UA_ACTIVATE_STAGED && !ua->resumed;
    if (ua->resumed) {
        lks_ua_resync(ua, now, m);
    } else if (m->body.status.state == LKS_PLDM_IDLE || ua->o.mode == LKS_UA_IDENTIFY ||
               ua->found_ready) {
        lks_ua_go(ua, now, LKS_UA_STEP_IDENTIFY);
    } else if (m->body.status.state == LKS_PLDM_ACTIVATE && now < ua->silent_until) {
        ua->enter_at = now + ua->o.timers.poll;
    } else {
        lks_ua_go(ua, now, LKS_UA_STEP_CLEAR);
    }
}

static void ask_cancel(struct lks_ua *ua, lks_ms now)
{
    ask(ua, now, LKS_PLDM_CANCEL_UPDATE);
}

static void hear_clear(struct lks_ua *ua, lks_ms now, const struct lks_pldm_message *m)
{
    if (m->code != LKS_PLDM_CC_SUCCESS && m->code != LKS_PLDM_CC_NOT_IN_UPDATE_MODE)
        refused(ua, now, m);
    else
        lks_ua_go(ua, now, LKS_UA_STEP_IDENTIFY);
}

static void hear_aborted(struct lks_ua *ua, lks_ms now, const struct lks_pldm_message *m)
{
    bool over = m->code == LKS_PLDM_CC_SUCCESS || m->code == LKS_PLDM_CC_NOT_IN_UPDATE_MODE;
    if (m->code == LKS_PLDM_CC_SUCCESS && m->body.cancel_answer.broken != 0)
        ua->out.broken = m->body.cancel_answer.components;
    if (over)
        lks_ua_end(ua, ua->ending);
    else
        lks_ua_lost(ua, now);
}

static void ask_identifiers(struct lks_ua *ua, lks_ms now)
{
    ask(ua, now, LKS_PLDM_QUERY_DEVICE_IDENTIFIERS);
}

static bool has_descriptor(struct lks_str tlvs, const struct lks_pldm_descriptor *wanted)
{
    struct lks_pldm_descriptor tlv;
    while (lks_pldm_message_tlv_next(&tlvs, &tlv)) {
        if (tlv.type == wanted->type && lks_str_eq(tlv.value, wanted->value))
            return true;
    }
    return false;
}

static void keep(struct lks_buf *buf, struct lks_str bytes)
{
    lks_buf_truncate(buf, 0);
    buf->failed = LKS_OK;
    lks_buf_add(buf, bytes);
}

static void hear_identifiers(struct lks_ua *ua, lks_ms now, const struct lks_pldm_message *m)
{
    struct lks_str wanted = ua->o.descriptors;
    struct lks_pldm_descriptor tlv;
    if (m->code != LKS_PLDM_CC_SUCCESS) {
        refused(ua, now, m);
        return;
    }
    keep(&ua->descriptors, m->body.identifiers.tlvs);
    while (lks_pldm_message_tlv_next(&wanted, &tlv)) {
        if (has_descriptor(m->body.identifiers.tlvs, &tlv))
            continue;
        lks_ua_because(ua,
                       "the device is not one that the package is for: it has another "
                       "descriptor of type 0x%04x, or none",
                       tlv.type);
        lks_ua_end(ua, LKS_UA_FAILED);
        return;
    }
    lks_ua_go(ua, now, LKS_UA_STEP_READ);
}

static void ask_parameters(struct lks_ua *ua, lks_ms now)
{
    ask(ua, now, LKS_PLDM_GET_FIRMWARE_PARAMETERS);
}

bool lks_ua_entry(const struct lks_ua *ua, size_t component, struct lks_pldm_entry *out)
{
    struct lks_str rest = lks_buf_view(&ua->entries);
    while (lks_pldm_message_entry_next(&rest, out)) {
        if (out->class == ua->o.components[component].class &&
            out->id == ua->o.components[component].id)
            return true;
    }
    return false;
}

static bool is_pending(const struct lks_ua *ua, size_t component, const struct lks_pldm_entry *e)
{
    const struct lks_ua_component *c = &ua->o.components[component];
    return e->pending.bytes.len > 0 && lks_str_eq(e->pending.bytes, c->version.bytes) &&
           (c->stamp == LKS_PLDM_STAMP_NONE || c->stamp == e->pending_stamp);
}

static bool is_active(const struct lks_ua *ua, size_t component, const struct lks_pldm_entry *e)
{
    return lks_str_eq(e->active.bytes, ua->o.components[component].version.bytes);
}

/* What the device has of each component decides what is still to be done: after a restart, one
 * that was begun may have been applied without our hearing of it. */
static void settle_fates(struct lks_ua *ua)
{
    struct lks_pldm_entry e;
    ua->finished = 0;
    for (size_t i = 0; i < ua->o.component_count; i++) {
        struct lks_ua_part *part = &ua->parts[i];
        bool begun = part->fate >= LKS_UA_SENDING && part->fate <= LKS_UA_APPLIED;
        bool known = lks_ua_entry(ua, i, &e);
        bool pending = known && is_pending(ua, i, &e);
        bool there = pending && ((begun && !part->was_pending) || part->fate == LKS_UA_APPLIED ||
                                 ua->o.mode == LKS_UA_ACTIVATE_STAGED);
        if (part->fate == LKS_UA_WAITING && ua->restarts == 0)
            part->was_pending = pending;
        there = there || (known && part->fate == LKS_UA_APPLIED && is_active(ua, i, &e));
        part->index = known ? e.index : 0;
        part->methods = part->methods == 0 && known ? e.methods : part->methods;
        part->unwanted = false;
        if (there)
            part->fate = LKS_UA_APPLIED;
        else if (begun)
            part->fate = LKS_UA_WAITING;
        ua->finished += part->fate == LKS_UA_APPLIED ? ua->o.components[i].size : 0;
    }
}

static bool all_applied(const struct lks_ua *ua)
{
    for (size_t i = 0; i < ua->o.component_count; i++) {
        if (ua->parts[i].fate != LKS_UA_APPLIED)
            return false;
    }
    return true;
}

/*
 * Those that were applied count; the rest decides whether it is all or a part. openbmc's agent
 * always goes on after a failure and activates whatever succeeded; here that takes the package's
 * consent
 * (`continue_after_failure`), since half a set of images may be worse than the old one.
 */
static void finish(struct lks_ua *ua, lks_ms now)
{
    size_t applied = 0;
    ua->out.methods = 0;
    for (size_t i = 0; i < ua->o.component_count; i++) {
        if (ua->parts[i].fate != LKS_UA_APPLIED)
            continue;
        applied++;
        ua->out.methods |= ua->parts[i].methods;
    }
    ua->ending = applied == ua->o.component_count ? LKS_UA_DONE : LKS_UA_PARTLY;
    ua->at = ua->o.component_count;
    if (applied == 0 || (ua->ending == LKS_UA_PARTLY && !ua->o.continue_after_failure))
        lks_ua_abort(ua, now, LKS_UA_FAILED);
    else if (ua->o.mode == LKS_UA_STAGE)
        lks_ua_end(ua, ua->ending);
    else
        lks_ua_go(ua, now, LKS_UA_STEP_ACTIVATE);
}

static void hear_parameters(struct lks_ua *ua, lks_ms now, const struct lks_pldm_message *m)
{
    if (m->code != LKS_PLDM_CC_SUCCESS) {
        refused(ua, now, m);
        return;
    }
    keep(&ua->entries, m->body.parameters.components);
    if (ua->o.mode == LKS_UA_IDENTIFY) {
        lks_ua_end(ua, LKS_UA_DONE);
        return;
    }
    settle_fates(ua);
    if (ua->o.mode == LKS_UA_STAGE && all_applied(ua))
        lks_ua_end(ua, LKS_UA_DONE);
    else if (ua->found_ready && all_applied(ua))
        finish(ua, now);
    else if (ua->found_ready)
        lks_ua_start_over(ua, now, true);
    else
        lks_ua_go(ua, now, LKS_UA_STEP_REQUEST);
}

static void ask_update(struct lks_ua *ua, lks_ms now)
{
    struct lks_pldm_message m = {.command = LKS_PLDM_REQUEST_UPDATE};
    m.body.request_update.max_transfer = ua->o.max_transfer;
    m.body.request_update.components = (uint16_t)ua->o.component_count;
    m.body.request_update.max_outstanding = 1;
    m.body.request_update.package_data = (uint16_t)ua->o.package_data.len;
    m.body.request_update.version = ua->o.version;
    lks_ua_ask(ua, now, &m);
}

static void hear_update(struct lks_ua *ua, lks_ms now, const struct lks_pldm_message *m)
{
    if (m->code == LKS_PLDM_CC_RETRY_UPDATE &&
        (ua->patient_until == 0 || now < ua->patient_until)) {
        if (ua->patient_until == 0)
            ua->patient_until = now + ua->o.timers.t3;
        ua->enter_at = now + ua->o.timers.t4;
    } else if (m->code == LKS_PLDM_CC_ALREADY_IN_UPDATE_MODE) {
        lks_ua_start_over(ua, now, true);
    } else if (m->code != LKS_PLDM_CC_SUCCESS) {
        refused(ua, now, m);
    } else {
        ua->gets_data = m->body.update_answer.gets_package_data != 0;
        ua->metadata_length = m->body.update_answer.metadata;
        ua->heard = 0;
        ua->at = 0;
        lks_buf_truncate(&ua->metadata, 0);
        ua->handle = 0;
        lks_ua_go(ua, now, LKS_UA_STEP_PACKAGE);
    }
}

static void wait_package(struct lks_ua *ua, lks_ms now)
{
    if (ua->gets_data)
        ua->wait_until = now + ua->o.timers.t5;
    else if (ua->metadata_length > 0)
        lks_ua_go(ua, now, LKS_UA_STEP_METADATA);
    else
        lks_ua_go(ua, now, LKS_UA_STEP_TABLE);
}

static void ask_metadata(struct lks_ua *ua, lks_ms now)
{
    struct lks_pldm_message m = {.command = LKS_PLDM_GET_DEVICE_METADATA};
    m.body.part_ask.handle = ua->handle;
    m.body.part_ask.operation = ua->metadata.len == 0 ? LKS_PLDM_FIRST_PART : LKS_PLDM_NEXT_PART;
    lks_ua_ask(ua, now, &m);
}

static void hear_metadata(struct lks_ua *ua, lks_ms now, const struct lks_pldm_message *m)
{
    if (m->code == LKS_PLDM_CC_NO_DEVICE_METADATA) {
        lks_ua_go(ua, now, LKS_UA_STEP_TABLE);
        return;
    }
    if (m->code != LKS_PLDM_CC_SUCCESS) {
        refused(ua, now, m);
        return;
    }
    bool more = (m->body.part.flag & LKS_PLDM_PART_END) == 0;
    lks_buf_add(&ua->metadata, m->body.part.data);
    ua->handle = m->body.part.next;
    if (ua->metadata.failed != LKS_OK || (more && m->body.part.data.len == 0)) {
        lks_ua_because(ua, "the device's metadata does not end");
        lks_ua_abort(ua, now, LKS_UA_FAILED);
    } else if (more) {
        lks_ua_enter(ua, now);
    } else {
        lks_ua_go(ua, now, LKS_UA_STEP_TABLE);
    }
}

static void pass_component(struct lks_ua *ua, lks_ms now)
{
    const struct lks_ua_component *c = &ua->o.components[ua->at];
    struct lks_pldm_message m = {.command = LKS_PLDM_PASS_COMPONENT_TABLE};
    bool first = ua->at == 0, last = ua->at + 1 == ua->o.component_count;
    m.body.pass_component.flag =
        (uint8_t)((first ? LKS_PLDM_PART_START : 0) | (last ? LKS_PLDM_PART_END : 0));
    if (!first && !last)
        m.body.pass_component.flag = LKS_PLDM_PART_MIDDLE;
    m.body.pass_component.class = c->class;
    m.body.pass_component.id = c->id;
    m.body.pass_component.index = ua->parts[ua->at].index;
    m.body.pass_component.stamp = c->stamp;
    m.body.pass_component.version = c->version;
    lks_ua_ask(ua, now, &m);
}

/* Older or the same is what `force` is for. */
static bool forced(uint8_t code)
{
    return code == LKS_PLDM_OFFER_STAMP_SAME || code == LKS_PLDM_OFFER_STAMP_LOWER ||
           code == LKS_PLDM_OFFER_VERSION_SAME || code == LKS_PLDM_OFFER_VERSION_LOWER;
}

/* The state does not fit: look at it and decide. Anything else the device says no to is final. */
static void odd_or_refused(struct lks_ua *ua, lks_ms now, const struct lks_pldm_message *m)
{
    if (m->code == LKS_PLDM_CC_INVALID_STATE || m->code == LKS_PLDM_CC_NOT_IN_UPDATE_MODE)
        lks_ua_lost(ua, now);
    else
        refused(ua, now, m);
}

static void hear_passed(struct lks_ua *ua, lks_ms now, const struct lks_pldm_message *m)
{
    if (m->code != LKS_PLDM_CC_SUCCESS) {
        odd_or_refused(ua, now, m);
        return;
    }
    uint8_t code = m->body.pass_answer.code;
    bool no =
        m->body.pass_answer.response != 0 && !(ua->o.components[ua->at].force && forced(code));
    ua->parts[ua->at].unwanted = no;
    if (no && ua->parts[ua->at].fate == LKS_UA_WAITING)
        lks_ua_because(ua, "component %zu is refused: %s", ua->at,
                       lks_pldm_message_offer_text(code));
    if (++ua->at < ua->o.component_count) {
        lks_ua_go(ua, now, LKS_UA_STEP_TABLE);
        return;
    }
    ua->at = 0;
    lks_ua_next_component(ua, now);
}

static void offer_component(struct lks_ua *ua, lks_ms now)
{
    const struct lks_ua_component *c = &ua->o.components[ua->at];
    struct lks_pldm_message m = {.command = LKS_PLDM_UPDATE_COMPONENT};
    m.body.update_component.class = c->class;
    m.body.update_component.id = c->id;
    m.body.update_component.index = ua->parts[ua->at].index;
    m.body.update_component.stamp = c->stamp;
    m.body.update_component.size = c->size;
    m.body.update_component.options = c->force ? LKS_PLDM_OPTION_FORCE : 0;
    m.body.update_component.version = c->version;
    ua->parts[ua->at].fate = LKS_UA_SENDING;
    ua->served = 0;
    ua->asks = 0;
    ua->served_unknown = false;
    lks_ua_ask(ua, now, &m);
}

static void hear_offered(struct lks_ua *ua, lks_ms now, const struct lks_pldm_message *m)
{
    uint8_t code = m->body.update_component_answer.code;
    if (m->code != LKS_PLDM_CC_SUCCESS) {
        odd_or_refused(ua, now, m);
    } else if (m->body.update_component_answer.response != 0) {
        ua->parts[ua->at].fate = LKS_UA_REFUSED;
        lks_ua_because(ua, "component %zu is refused: %s", ua->at,
                       lks_pldm_message_offer_text(code));
        lks_ua_next_component(ua, now);
    } else {
        lks_ua_go(ua, now, LKS_UA_STEP_TRANSFER);
        ua->wait_until += m->body.update_component_answer.seconds * LKS_SECOND;
    }
}

static void wait_transfer(struct lks_ua *ua, lks_ms now)
{
    ua->wait_until = now + ua->o.timers.t2;
}

/* A device that restarts meanwhile is not noticed by waiting: now and then it is looked at. */
static void wait_work(struct lks_ua *ua, lks_ms now)
{
    bool verifies = ua->step == LKS_UA_STEP_VERIFY;
    ua->parts[ua->at].fate = verifies ? LKS_UA_VERIFYING : LKS_UA_APPLYING;
    ua->wait_until = now + ua->o.timers.t6;
    ua->look_at = now + ua->o.timers.t2;
}

static void ask_drop(struct lks_ua *ua, lks_ms now)
{
    ask(ua, now, LKS_PLDM_CANCEL_UPDATE_COMPONENT);
}

static void hear_dropped(struct lks_ua *ua, lks_ms now, const struct lks_pldm_message *m)
{
    if (m->code == LKS_PLDM_CC_SUCCESS)
        lks_ua_next_component(ua, now);
    else
        odd_or_refused(ua, now, m);
}

void lks_ua_next_component(struct lks_ua *ua, lks_ms now)
{
    bool failed = false;
    ua->served = 0;
    for (ua->at = 0; ua->at < ua->o.component_count; ua->at++) {
        struct lks_ua_part *part = &ua->parts[ua->at];
        if (part->fate == LKS_UA_WAITING && part->unwanted)
            part->fate = LKS_UA_REFUSED;
        failed = failed || part->fate == LKS_UA_REFUSED || part->fate == LKS_UA_BROKEN;
        if (failed && !ua->o.continue_after_failure)
            break;
        if (part->fate == LKS_UA_WAITING) {
            lks_ua_go(ua, now, LKS_UA_STEP_OFFER);
            return;
        }
    }
    finish(ua, now);
}

void lks_ua_applied(struct lks_ua *ua, lks_ms now)
{
    ua->parts[ua->at].fate = LKS_UA_APPLIED;
    ua->finished += ua->o.components[ua->at].size;
    lks_ua_next_component(ua, now);
}

void lks_ua_broken(struct lks_ua *ua, lks_ms now, bool drop, const char *fmt, ...)
{
    char why[sizeof(ua->out.reason)];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(why, sizeof(why), fmt, ap);
    va_end(ap);
    lks_ua_because(ua, "component %zu: %s", ua->at, why);
    ua->parts[ua->at].fate = LKS_UA_BROKEN;
    if (drop)
        lks_ua_go(ua, now, LKS_UA_STEP_DROP);
    else
        lks_ua_next_component(ua, now);
}

static void ask_activate(struct lks_ua *ua, lks_ms now)
{
    struct lks_pldm_message m = {.command = LKS_PLDM_ACTIVATE_FIRMWARE};
    ua->out.self_contained = ua->o.mode == LKS_UA_SELF_ACTIVATE && !ua->no_self_activation;
    m.body.self_contained = ua->out.self_contained;
    lks_ua_ask(ua, now, &m);
}

/* "Not required" is what a device says whose image runs already: openbmc's agent takes it for a
 * failure, and it is none. */
static void hear_activated(struct lks_ua *ua, lks_ms now, const struct lks_pldm_message *m)
{
    if (m->code == LKS_PLDM_CC_ACTIVATION_NOT_REQUIRED) {
        ua->out.activated = true;
        lks_ua_end(ua, ua->ending);
    } else if (m->code == LKS_PLDM_CC_NO_SELF_ACTIVATION && ua->out.self_contained) {
        ua->no_self_activation = true;
        lks_ua_go(ua, now, LKS_UA_STEP_ACTIVATE);
    } else if (m->code != LKS_PLDM_CC_SUCCESS) {
        odd_or_refused(ua, now, m);
    } else {
        ua->out.activated = true;
        ua->out.seconds = m->body.seconds;
        ua->silent_until = now + m->body.seconds * LKS_SECOND + ua->o.timers.t3;
        lks_ua_go(ua, now, LKS_UA_STEP_SETTLE);
    }
}

static void hear_settling(struct lks_ua *ua, lks_ms now, const struct lks_pldm_message *m)
{
    bool known = m->code == LKS_PLDM_CC_SUCCESS;
    bool idle = known && m->body.status.state == LKS_PLDM_IDLE;
    ua->out.state = known ? (enum lks_pldm_state)m->body.status.state : ua->out.state;
    if (idle && m->body.status.reason == LKS_PLDM_BY_ACTIVATION)
        lks_ua_end(ua, ua->ending);
    else if (idle)
        lks_ua_go(ua, now, LKS_UA_STEP_CONFIRM);
    else if (now >= ua->silent_until)
        lks_ua_lost(ua, now);
    else
        ua->enter_at = now + ua->o.timers.poll;
}

/* The device has been idle for another reason since, most likely a restart. Where it is not even
 * certain that it heard of activation, an image that is still pending means that it did not. */
static void hear_confirm(struct lks_ua *ua, lks_ms now, const struct lks_pldm_message *m)
{
    struct lks_pldm_entry e;
    bool again = false;
    if (m->code != LKS_PLDM_CC_SUCCESS) {
        lks_ua_lost(ua, now);
        return;
    }
    keep(&ua->entries, m->body.parameters.components);
    for (size_t i = 0; i < ua->o.component_count; i++) {
        if (ua->parts[i].fate != LKS_UA_APPLIED)
            continue;
        bool known = lks_ua_entry(ua, i, &e);
        bool pending = known && is_pending(ua, i, &e);
        again = again || (pending && !ua->out.activated);
        if (pending || (known && is_active(ua, i, &e)))
            continue;
        lks_ua_because(ua,
                       "component %zu: after activation the device has neither this version "
                       "nor will it have it after a reset",
                       i);
        lks_ua_end(ua, LKS_UA_FAILED);
        return;
    }
    if (again)
        lks_ua_start_over(ua, now, false);
    else
        lks_ua_end(ua, ua->ending);
}

static void hear_resync(struct lks_ua *ua, lks_ms now, const struct lks_pldm_message *m)
{
    if (m->code != LKS_PLDM_CC_SUCCESS)
        lks_ua_lost(ua, now);
    else
        lks_ua_resync(ua, now, m);
}

static void hear_reread(struct lks_ua *ua, lks_ms now, const struct lks_pldm_message *m)
{
    struct lks_pldm_entry e;
    if (m->code != LKS_PLDM_CC_SUCCESS) {
        refused(ua, now, m);
        return;
    }
    keep(&ua->entries, m->body.parameters.components);
    if (lks_ua_entry(ua, ua->at, &e) && is_pending(ua, ua->at, &e) &&
        !ua->parts[ua->at].was_pending)
        lks_ua_applied(ua, now);
    else
        lks_ua_go(ua, now, LKS_UA_STEP_OFFER);
}
