#include "lab/pldm/ua.h"

#include "lab/pldm/ua_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { TRANSFER = 4096, TRIES = 3, DESCRIPTIONS_MAX = 128 * 1024 };

static const struct lks_ua_timers usual = {
    .t1 = 5 * LKS_SECOND,
    .t2 = 60 * LKS_SECOND,
    .t3 = 180 * LKS_SECOND,
    .t4 = 5 * LKS_SECOND,
    .t5 = 5 * LKS_SECOND,
    .t6 = 600 * LKS_SECOND,
    .answer = 2 * LKS_SECOND,
    .not_ready = 250,
    .poll = LKS_SECOND,
};

static void fill_in_timers(struct lks_ua_timers *t)
{
    lks_ms *mine[] = {&t->t1, &t->t2,     &t->t3,        &t->t4,  &t->t5,
                      &t->t6, &t->answer, &t->not_ready, &t->poll};
    const lks_ms theirs[] = {usual.t1, usual.t2,     usual.t3,        usual.t4,  usual.t5,
                             usual.t6, usual.answer, usual.not_ready, usual.poll};
    for (size_t i = 0; i < LKS_COUNT(mine); i++)
        *mine[i] = *mine[i] == 0 ? theirs[i] : *mine[i];
}

enum lks_code lks_ua_check(const struct lks_ua_options *o, struct lks_err *err)
{
    if (o->component_count > LKS_UA_COMPONENTS_MAX)
        return lks_fail(err, LKS_E_LIMIT, "an update has %d components at the most",
                        LKS_UA_COMPONENTS_MAX);
    if (o->component_count == 0 && o->mode != LKS_UA_IDENTIFY)
        return lks_fail(err, LKS_E_INVALID, "there is no component to update");
    if (o->package_data.len > UINT16_MAX)
        return lks_fail(err, LKS_E_LIMIT, "package data of %zu bytes (%d at the most)",
                        o->package_data.len, UINT16_MAX);
    if (lks_pldm_message_transfer_check(o->max_transfer, "offered", err) != LKS_OK)
        return err->code;
    if (o->version.bytes.len > UINT8_MAX)
        return lks_fail(err, LKS_E_LIMIT, "a version has %d bytes at the most", UINT8_MAX);
    for (size_t i = 0; i < o->component_count; i++) {
        if (o->components[i].size == 0)
            return lks_fail(err, LKS_E_INVALID, "the image of component %zu is empty", i);
        if (o->components[i].version.bytes.len > UINT8_MAX)
            return lks_fail(err, LKS_E_LIMIT, "a version has %d bytes at the most", UINT8_MAX);
    }
    LKS_ASSERT(o->component_count == 0 || o->read != NULL);
    return LKS_OK;
}

struct lks_ua *lks_ua_make(const struct lks_ua_options *options)
{
    struct lks_ua *ua = calloc(1, sizeof(*ua));
    struct lks_ua_part *parts = calloc(options->component_count + 1, sizeof(*parts));
    if (ua == NULL || parts == NULL) {
        free(ua);
        free(parts);
        return NULL;
    }
    ua->o = *options;
    ua->parts = parts;
    fill_in_timers(&ua->o.timers);
    ua->o.max_transfer = options->max_transfer == 0 ? TRANSFER : options->max_transfer;
    ua->work_until = LKS_UA_NEVER;
    ua->next_instance = options->first_instance % LKS_PLDM_INSTANCES;
    for (size_t i = 0; i < options->component_count; i++)
        ua->total += options->components[i].size;
    lks_buf_init(&ua->question, LKS_PLDM_MESSAGE_MAX);
    lks_buf_init(&ua->reply, LKS_PLDM_MESSAGE_MAX);
    lks_buf_init(&ua->descriptors, DESCRIPTIONS_MAX);
    lks_buf_init(&ua->entries, DESCRIPTIONS_MAX);
    lks_buf_init(&ua->metadata, UINT16_MAX);
    lks_buf_init(&ua->data, LKS_PLDM_TRANSFER_MAX);
    return ua;
}

enum lks_code lks_ua_new(const struct lks_ua_options *options, lks_ms now, struct lks_ua **out,
                         struct lks_err *err)
{
    enum lks_code code = lks_ua_check(options, err);
    struct lks_ua *ua = code == LKS_OK ? lks_ua_make(options) : NULL;
    if (ua == NULL)
        return code != LKS_OK ? code : lks_fail_nomem(err);
    ua->silent_until = now + ua->o.timers.t3;
    lks_ua_go(ua, now, LKS_UA_STEP_LOOK);
    *out = ua;
    return LKS_OK;
}

void lks_ua_free(struct lks_ua *ua)
{
    if (ua == NULL)
        return;
    lks_buf_fini_all((struct lks_buf *const[]){&ua->question, &ua->reply, &ua->descriptors,
                                               &ua->entries, &ua->metadata, &ua->data, NULL});
    free(ua->parts);
    free(ua);
}

void lks_ua_because(struct lks_ua *ua, const char *fmt, ...)
{
    va_list ap;
    if (ua->out.reason[0] != '\0')
        return;
    va_start(ap, fmt);
    (void)vsnprintf(ua->out.reason, sizeof(ua->out.reason), fmt, ap);
    va_end(ap);
}

/* Transfers count up to 97 by bytes; the last component's verification and application are 98 and
 * 99, and only the end is 100. */
static unsigned percent_of(const struct lks_ua *ua)
{
    bool last = ua->at + 1 >= ua->o.component_count;
    if (ua->step == LKS_UA_STEP_ENDED)
        return ua->out.percent;
    if (ua->out.activated || ua->step == LKS_UA_STEP_ACTIVATE ||
        (last && ua->step == LKS_UA_STEP_APPLY))
        return 99;
    if (last && ua->step == LKS_UA_STEP_VERIFY)
        return 98;
    return ua->total == 0 ? 0 : (unsigned)((ua->finished + ua->served) * 97 / ua->total);
}

void lks_ua_end(struct lks_ua *ua, enum lks_ua_end end)
{
    ua->out.percent = percent_of(ua);
    ua->step = LKS_UA_STEP_ENDED;
    ua->out.end = end;
    ua->asking = 0;
    ua->question_ready = false;
    ua->enter_at = ua->wait_until = ua->look_at = LKS_UA_NEVER;
    if (end == LKS_UA_DONE) {
        ua->out.percent = 100;
        ua->out.reason[0] = '\0';
    }
    ua->changes++;
}

void lks_ua_go(struct lks_ua *ua, lks_ms now, enum lks_ua_step step)
{
    ua->step = step;
    ua->asking = 0;
    ua->question_ready = false;
    ua->enter_at = ua->wait_until = ua->look_at = LKS_UA_NEVER;
    ua->patient_until = 0;
    ua->changes++;
    lks_ua_enter(ua, now);
}

void lks_ua_ask(struct lks_ua *ua, lks_ms now, struct lks_pldm_message *m)
{
    ua->question_ready = lks_pldm_message_ask(m, &ua->next_instance, &ua->question);
    ua->asking = m->command;
    ua->instance = m->instance;
    ua->tries = 1;
    ua->again_at = now + ua->o.timers.answer;
}

static void repeat(struct lks_ua *ua, lks_ms now)
{
    if (ua->tries >= TRIES) {
        ua->asking = 0;
        ua->question_ready = false;
        lks_ua_lost(ua, now);
        return;
    }
    ua->tries++;
    ua->question_ready = ua->question.failed == LKS_OK;
    ua->again_at = now + ua->o.timers.answer;
}

lks_ms lks_ua_next(const struct lks_ua *ua)
{
    const lks_ms times[] = {ua->asking != 0 ? ua->again_at : LKS_UA_NEVER, ua->enter_at,
                            ua->wait_until, ua->look_at};
    lks_ms next = LKS_UA_NEVER;
    for (size_t i = 0; i < LKS_COUNT(times); i++)
        next = times[i] < next ? times[i] : next;
    return ua->step == LKS_UA_STEP_ENDED ? LKS_UA_NEVER : next;
}

void lks_ua_tick(struct lks_ua *ua, lks_ms now)
{
    if (ua->step == LKS_UA_STEP_ENDED)
        return;
    if (now >= ua->enter_at) {
        ua->enter_at = LKS_UA_NEVER;
        lks_ua_enter(ua, now);
    } else if (ua->asking != 0 && now >= ua->again_at) {
        repeat(ua, now);
    } else if (now >= ua->wait_until || now >= ua->look_at) {
        lks_ua_late(ua, now);
    }
}

/* Not ready, or busy with something else: asked again later, as a new request, for UA_T3. */
static bool was_not_ready(struct lks_ua *ua, lks_ms now, const struct lks_pldm_message *m)
{
    bool busy = m->code == LKS_PLDM_CC_BUSY;
    if ((m->code != LKS_PLDM_CC_NOT_READY && !busy) || ua->step == LKS_UA_STEP_ABORT)
        return false;
    if (ua->patient_until == 0)
        ua->patient_until = now + ua->o.timers.t3;
    if (now >= ua->patient_until)
        return false;
    ua->enter_at = now + (busy ? ua->o.timers.t1 : ua->o.timers.not_ready);
    return true;
}

void lks_ua_receive(struct lks_ua *ua, lks_ms now, struct lks_str bytes)
{
    struct lks_pldm_message m;
    if (!lks_pldm_message_head(bytes, &m))
        return;
    if (!m.answer) {
        lks_ua_serve(ua, now, bytes);
        return;
    }
    /* An answer that is not well formed is none: the request is repeated. */
    if (ua->asking == 0 || m.command != ua->asking || m.instance != ua->instance ||
        lks_pldm_message_decode(bytes, &m) != LKS_PLDM_CC_SUCCESS)
        return;
    ua->asking = 0;
    ua->question_ready = false;
    if (!was_not_ready(ua, now, &m))
        lks_ua_hear(ua, now, &m);
}

bool lks_ua_send(struct lks_ua *ua, struct lks_str *bytes)
{
    bool *ready = ua->reply_ready ? &ua->reply_ready : &ua->question_ready;
    const struct lks_buf *buf = ua->reply_ready ? &ua->reply : &ua->question;
    if (!*ready)
        return false;
    *ready = false;
    *bytes = lks_buf_view(buf);
    return true;
}

void lks_ua_cancel(struct lks_ua *ua, lks_ms now)
{
    bool too_late = ua->step == LKS_UA_STEP_ACTIVATE || ua->out.activated;
    if (ua->step == LKS_UA_STEP_ENDED || ua->step == LKS_UA_STEP_ABORT || too_late ||
        (ua->step == LKS_UA_STEP_RESYNC && ua->lost == LKS_UA_STEP_ACTIVATE))
        return;
    lks_ua_because(ua, "cancelled");
    if (ua->step >= LKS_UA_STEP_REQUEST || ua->step == LKS_UA_STEP_CLEAR || ua->resumed)
        lks_ua_abort(ua, now, LKS_UA_CANCELLED);
    else
        lks_ua_end(ua, LKS_UA_CANCELLED);
}

void lks_ua_outcome(const struct lks_ua *ua, struct lks_ua_outcome *out)
{
    unsigned percent = percent_of(ua);
    *out = ua->out;
    out->component = ua->at < ua->o.component_count ? ua->at : 0;
    out->percent = percent <= 100 ? percent : 100;
}

enum lks_ua_fate lks_ua_fate(const struct lks_ua *ua, size_t component)
{
    LKS_ASSERT(component < ua->o.component_count);
    return (enum lks_ua_fate)ua->parts[component].fate;
}

struct lks_str lks_ua_descriptors(const struct lks_ua *ua)
{
    return lks_buf_view(&ua->descriptors);
}

struct lks_str lks_ua_entries(const struct lks_ua *ua)
{
    return lks_buf_view(&ua->entries);
}

uint32_t lks_ua_changes(const struct lks_ua *ua)
{
    return ua->changes;
}
