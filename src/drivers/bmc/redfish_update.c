/* An update over Redfish: the table of its steps, silence, the end, and what survives a restart.
 * The order of things is told in redfish_update.h. */
#include "drivers/bmc/redfish_update.h"

#include "codec/format/json.h"

#include <stdarg.h>
#include <stdio.h>

#define GRACE       (120 * LKS_SECOND) /* between the deadline and the end of all patience */
#define LAST_LOOK   (600 * LKS_SECOND)
#define AGAIN       (2 * LKS_SECOND)
#define UPLOAD_TIME (3600 * LKS_SECOND)
#define BUSY_MAX    (60 * LKS_SECOND)
#define ROOM_AGAIN  (30 * LKS_SECOND) /* between looks at a service that is full */

/* Ending ------------------------------------------------------------------------------------ */

void lks_redfish_end(struct lks_redfish_update *u, lks_ms now, enum lks_bmc_outcome outcome,
                     const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(u->text, sizeof(u->text), fmt, ap);
    va_end(ap);
    lks_str_make_printable(u->text); /* whatever the service said in it */
    u->outcome = outcome;
    lks_redfish_finish(&u->r, now, LKS_RF_LOGOUT);
    u->r.head.checkpoint = true;
}

/* A conversation that cannot go on. Where something may have begun, that is not the end of it; and
 * not to be let in says nothing about it: with the right log-in it goes on from its checkpoint. */
static void broken(struct lks_redfish_update *u, lks_ms now)
{
    struct lks_err err = u->r.head.err;
    if (u->sent != LKS_RF_NOTHING && err.code == LKS_E_DENIED) {
        lks_conversation_fail(&u->r.head, LKS_E_DENIED,
                              "the endpoint does not let us in (%.300s); correct the credentials "
                              "and start again",
                              err.msg);
        lks_redfish_finish(&u->r, now, LKS_RF_LOGOUT);
        return;
    }
    if (u->sent != LKS_RF_NOTHING) {
        u->r.head.err = (struct lks_err){0};
        lks_redfish_end(u, now, LKS_BMC_UNKNOWN, "%s", err.msg);
        return;
    }
    u->outcome = LKS_BMC_REFUSED;
    snprintf(u->text, sizeof(u->text), "%s", err.msg);
    lks_redfish_finish(&u->r, now, LKS_RF_LOGOUT);
}

/* Steps ------------------------------------------------------------------------------------- */

static void ask_logout(const struct lks_redfish_update *u, struct lks_http_request *out)
{
    lks_redfish_ask_logout(&u->r, out);
}

static void hear_logout(struct lks_redfish_update *u, lks_ms now,
                        const struct lks_http_response *answer)
{
    (void)now;
    (void)answer;
    lks_redfish_hear_logout(&u->r);
}

#define ASK(name)  lks_redfish_ask_##name
#define HEAR(name) lks_redfish_hear_##name

static const struct {
    lks_redfish_asker *ask;
    lks_redfish_hearer *hear;
    const char *phase;
    unsigned percent; /* of the whole, when it is reached */
    enum lks_conversation_phase at;
} steps[] = {
    [LKS_RF_ROOT] = {ASK(root), HEAR(service_root), "reading", 1, LKS_PHASE_READING},
    [LKS_RF_VERSIONS] = {ASK(versions), HEAR(versions), "reading", 1, LKS_PHASE_READING},
    [LKS_RF_SERVICE] = {ASK(service), HEAR(service), "reading", 2, LKS_PHASE_READING},
    [LKS_RF_MANAGERS] = {ASK(managers), HEAR(managers), "reading", 2, LKS_PHASE_READING},
    [LKS_RF_MANAGER] = {ASK(manager), HEAR(manager), "reading", 2, LKS_PHASE_READING},
    [LKS_RF_LIST] = {ASK(list), HEAR(list), "reading", 3, LKS_PHASE_READING},
    [LKS_RF_MEMBER] = {ASK(listed), HEAR(member), "reading", 3, LKS_PHASE_READING},
    [LKS_RF_TASKS] = {ASK(tasks), HEAR(tasks), "reading", 4, LKS_PHASE_READING},
    [LKS_RF_TASK_LIST] = {ASK(task_list), HEAR(task_list), "reading", 4, LKS_PHASE_READING},
    [LKS_RF_TASK] = {ASK(listed), HEAR(task), "reading", 4, LKS_PHASE_READING},
    [LKS_RF_PATCH] = {ASK(patch), HEAR(patch), "preparing", 5, LKS_PHASE_PREPARING},
    [LKS_RF_UPLOAD] = {ASK(upload), HEAR(upload), "uploading", 5, LKS_PHASE_SENDING},
    [LKS_RF_START] = {ASK(start), HEAR(start), "starting", 40, LKS_PHASE_SENDING},
    [LKS_RF_FOLLOW] = {ASK(follow), HEAR(follow), "waiting for the task", 20, LKS_PHASE_FOLLOWING},
    [LKS_RF_ACTION] = {ASK(action), HEAR(action), "activating", 80, LKS_PHASE_RESETTING},
    [LKS_RF_RESET_FIND] = {ASK(reset_find), HEAR(reset_find), "activating", 80,
                           LKS_PHASE_ACTIVATING},
    [LKS_RF_RESET_READ] = {ASK(reset_read), HEAR(reset_read), "activating", 80,
                           LKS_PHASE_ACTIVATING},
    [LKS_RF_RESET_INFO] = {ASK(reset_info), HEAR(reset_info), "activating", 80,
                           LKS_PHASE_ACTIVATING},
    [LKS_RF_RESET_OFF] = {ASK(reset_off), HEAR(reset_off), "activating", 80, LKS_PHASE_ACTIVATING},
    [LKS_RF_RESET] = {ASK(reset), HEAR(reset), "activating", 80, LKS_PHASE_RESETTING},
    [LKS_RF_CANCEL] = {ASK(cancel), HEAR(cancel), "giving up", 50, LKS_PHASE_CANCELLING},
    [LKS_RF_LOGOUT] = {ask_logout, hear_logout, "ending", 99, LKS_PHASE_CLOSING},
};

static enum lks_conversation_phase phase(const void *value)
{
    const struct lks_redfish_update *u = value;
    LKS_ASSERT(u->r.head.step < LKS_COUNT(steps));
    return steps[u->r.head.step].at;
}

static lks_ms ask(const void *value, struct lks_http_request *out)
{
    const struct lks_redfish_update *u = value;
    LKS_ASSERT(u->r.head.step < LKS_COUNT(steps));
    if (lks_redfish_wants_login(&u->r)) {
        lks_redfish_ask_login(&u->r, out);
        return LKS_REDFISH_PATIENCE;
    }
    steps[u->r.head.step].ask(u, out);
    if (strcmp(out->method, "GET") != 0 && lks_redfish_manners(u->r.vendor)->match_any)
        lks_http_request_header(out, "If-Match", "*");
    return u->r.head.step == LKS_RF_UPLOAD ? UPLOAD_TIME : LKS_REDFISH_PATIENCE;
}

/* No answer, or one that says as little. What changes something is looked for; what only reads is
 * asked again, a few times before anything was sent and until the deadline afterwards, when the
 * service may be restarting. */
static void hear_nothing(struct lks_redfish_update *u, lks_ms now,
                         const struct lks_http_response *answer)
{
    uint32_t step = u->r.head.step;
    bool begins = step == LKS_RF_UPLOAD || step == LKS_RF_START;
    bool changes = begins || step == LKS_RF_ACTION || step == LKS_RF_RESET || step == LKS_RF_CANCEL;
    if (begins)
        lks_redfish_seek(u, now, now + LKS_REDFISH_POLL);
    else if (changes)
        lks_redfish_walk(u, LKS_RF_AGREE, now + 2 * LKS_REDFISH_POLL);
    else if (u->sent == LKS_RF_NOTHING)
        lks_conversation_retry(&u->r.head, now + (AGAIN << u->r.head.tries));
    else
        lks_conversation_go(&u->r.head, step, now + LKS_REDFISH_POLL);
    if (!changes)
        return;
    u->fault[0] = '\0';
    if (answer != NULL) {
        lks_redfish_error(answer, u->fault);
        u->r.head.checkpoint = true;
    }
}

/* Busy. What was sent was not begun, and may be sent again after the time it asks for; what begins
 * an update or activates it only after another look at the tasks. */
static void hear_busy(struct lks_redfish_update *u, lks_ms now,
                      const struct lks_http_response *answer)
{
    bool begins = u->r.head.step == LKS_RF_UPLOAD || u->r.head.step == LKS_RF_START;
    unsigned tries = begins ? u->busy : u->r.head.tries;
    lks_ms wait = lks_http_response_retry(answer, AGAIN << (tries < 5 ? tries : 5));
    lks_ms when = now + (wait < BUSY_MAX ? wait : BUSY_MAX);
    if (begins) {
        u->busy++;
        lks_redfish_error(answer, u->why);
        u->purpose = LKS_RF_BUSY;
        lks_redfish_walk_tasks(u, now + wait);
        u->r.head.checkpoint = true; /* a task that is found then may be another's */
    } else if (lks_redfish_put_off(u, when)) {
        return;
    } else if (u->sent == LKS_RF_NOTHING) {
        lks_conversation_retry(&u->r.head, now + wait);
    } else {
        lks_conversation_go(&u->r.head, u->r.head.step, when);
    }
}

static bool is_silent(const struct lks_http_response *answer)
{
    return answer == NULL || (answer->status >= 500 && answer->status != 501);
}

/* No session yet. A service that is full accepts a session again when leaked ones expire, ours
 * among them after a crash. With most that takes half an hour, so it is asked until the deadline.
 * Silence, and a 400, by which some report that they are full, are borne as long only once
 * something was sent. */
static void hear_login(struct lks_redfish_update *u, lks_ms now,
                       const struct lks_http_response *answer)
{
    int status = answer != NULL ? answer->status : 0;
    bool full = status == 429 || status == 503;
    if (full)
        lks_conversation_go(&u->r.head, u->r.head.step, now + ROOM_AGAIN);
    else if (u->sent != LKS_RF_NOTHING && (is_silent(answer) || status == 400))
        lks_conversation_go(&u->r.head, u->r.head.step, now + LKS_REDFISH_POLL);
    else
        lks_redfish_hear_login(&u->r, now, answer);
    if (!u->r.head.ended && !lks_redfish_wants_login(&u->r))
        lks_redfish_put_off_old(u, now); /* it may have taken long to be let in again */
}

static void hear_step(struct lks_redfish_update *u, lks_ms now,
                      const struct lks_http_response *answer)
{
    int status = answer != NULL ? answer->status : 0;
    bool stranger = u->r.head.step == LKS_RF_ROOT && u->sent == LKS_RF_NOTHING;
    if (!stranger) /* who never showed a service is told by its page */
        answer = lks_redfish_heard(answer);
    if (lks_redfish_wants_login(&u->r))
        hear_login(u, now, answer);
    else if (status == 429 || status == 503)
        hear_busy(u, now, answer);
    else if (lks_redfish_hear_common(&u->r, now, answer))
        return;
    else if (is_silent(answer))
        hear_nothing(u, now, answer);
    else
        steps[u->r.head.step].hear(u, now, answer);
}

/* The deadline came before anything was sent; `answer` says what it was that kept us. */
static void refuse_late(struct lks_redfish_update *u, lks_ms now,
                        const struct lks_http_response *answer)
{
    char why[LKS_REDFISH_TEXT_SIZE];
    bool fine = answer != NULL && answer->status < 400;
    lks_redfish_error(answer, why);
    lks_redfish_end(u, now, LKS_BMC_REFUSED, "the deadline came before anything was sent%s%s",
                    fine ? "" : "; ", fine ? "" : why);
}

/* The deadline is over. Nothing more is begun; the inventory is read once more. */
static void run_out(struct lks_redfish_update *u, lks_ms now)
{
    u->late = true;
    u->late_until = now + LAST_LOOK;
    u->r.head.deadline = u->late_until + GRACE;
    if (u->firmware[0] != '\0' || u->software[0] != '\0')
        lks_redfish_walk(u, LKS_RF_AGREE, now);
    else
        lks_redfish_seek(u, now, now);
}

/* What was waiting for the service to come back does not wait longer than this. */
static void bound_wait(struct lks_redfish_update *u)
{
    if (!u->r.head.ended && !u->late && u->r.head.wait_until > u->deadline)
        u->r.head.wait_until = u->deadline;
}

/* The clock of the controller that takes over may be behind: what lies before it is not long ago
 * for that. */
static void bound_times(struct lks_redfish_update *u, lks_ms now)
{
    lks_ms *const times[] = {&u->activated, &u->since, &u->task_still, &u->cleared};
    for (size_t i = 0; i < LKS_COUNT(times); i++) {
        if (*times[i] > now)
            *times[i] = now;
    }
}

static void hear(void *value, lks_ms now, const struct lks_http_response *answer)
{
    struct lks_redfish_update *u = value;
    LKS_ASSERT(u->r.head.step < LKS_COUNT(steps));
    bound_times(u, now);
    u->r.requests++;
    if (u->r.head.step == LKS_RF_LOGOUT) {
        lks_redfish_hear_logout(&u->r);
        return;
    }
    if (!u->late && now >= u->deadline && u->sent == LKS_RF_NOTHING)
        refuse_late(u, now, answer);
    else if (!u->late && now >= u->deadline)
        run_out(u, now);
    else if (u->late && now >= u->late_until)
        lks_redfish_end(u, now, LKS_BMC_UNKNOWN,
                        "not finished by its deadline, and the service does not answer");
    else
        hear_step(u, now, answer);
    if (u->r.head.ended && u->r.head.err.code != LKS_OK && u->outcome == LKS_BMC_OPEN)
        broken(u, now);
    bound_wait(u);
}

/* Beginning --------------------------------------------------------------------------------- */

static enum lks_code keep_text(char *out, size_t size, struct lks_str value, const char *what,
                               struct lks_err *err)
{
    if (value.len >= size)
        return lks_fail(err, LKS_E_LIMIT, "%s is longer than %zu bytes", what, size - 1);
    lks_redfish_keep(out, size, value);
    return LKS_OK;
}

static enum lks_code keep_intent(struct lks_redfish_update *u, const struct lks_bmc_intent *intent,
                                 struct lks_err *err)
{
    const struct {
        char *out;
        size_t size;
        struct lks_str value;
        const char *what;
    } texts[] = {
        {u->component, sizeof(u->component), intent->component, "the component's name"},
        {u->version, sizeof(u->version), intent->version, "the version"},
        {u->image_name, sizeof(u->image_name), intent->image_name, "the image's name"},
        {u->apply_wish, sizeof(u->apply_wish), intent->apply_time, "the apply time"},
        {u->pull, sizeof(u->pull), intent->pull, "the image's address"},
    };
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        if (keep_text(texts[i].out, texts[i].size, texts[i].value, texts[i].what, err) != LKS_OK)
            return err->code;
    }
    u->act = intent->act;
    u->image = intent->image;
    u->image_size = intent->image_size;
    u->force = intent->force;
    u->one_way = intent->one_way;
    u->write_protected = intent->write_protected;
    u->deadline = intent->deadline;
    return LKS_OK;
}

enum lks_code lks_redfish_update_begin(void *value, const struct lks_facts *facts,
                                       const struct lks_bmc_secret *secret,
                                       const struct lks_bmc_intent *intent, struct lks_err *err)
{
    struct lks_redfish_update *u = value;
    bool brings = intent->act == LKS_BMC_UPDATE || intent->act == LKS_BMC_STAGE;
    if (intent->component.len == 0)
        return lks_fail(err, LKS_E_INVALID, "an update names a component");
    if (intent->version.len == 0 && (brings || intent->act == LKS_BMC_ACTIVATE))
        return lks_fail(err, LKS_E_INVALID, "an update names a version");
    if (brings && (intent->image.digest[0] == '\0' || intent->image.length == 0))
        return lks_fail(err, LKS_E_INVALID, "an update has an image");
    *u = (struct lks_redfish_update){.facts = facts};
    lks_redfish_begin(&u->r, secret, intent->deadline + GRACE);
    return keep_intent(u, intent, err);
}

/* Readings that agree may go on while another task runs there. */
static unsigned percent_of(const struct lks_redfish_update *u)
{
    unsigned agreed = u->agreed < LKS_REDFISH_AGREE_TIMES ? u->agreed : LKS_REDFISH_AGREE_TIMES;
    if (u->outcome != LKS_BMC_OPEN)
        return 100;
    if (u->r.head.step == LKS_RF_FOLLOW)
        return 20 + u->task_percent / 2 + (u->starts > 0 ? 8 : 0);
    if (u->activated > 0)
        return 85 + 4 * agreed;
    if (u->task_over)
        return 75 + 4 * agreed;
    return u->sent != LKS_RF_NOTHING ? 20 : steps[u->r.head.step].percent;
}

static const char *phase_of(const struct lks_redfish_update *u)
{
    if (u->purpose == LKS_RF_AGREE && u->r.head.step <= LKS_RF_MEMBER)
        return u->activated > 0 ? "waiting for it to run" : "reading it back";
    if (u->purpose == LKS_RF_SEEK && u->r.head.step <= LKS_RF_TASK)
        return "searching for what was sent";
    return steps[u->r.head.step].phase;
}

/* After a restart nothing was read yet; what was done before that was seen to run, three times. */
static const char *found_of(const struct lks_redfish_update *u)
{
    if (u->target_count > 0)
        return u->targets[0].version;
    bool runs = u->outcome == LKS_BMC_DONE && u->act != LKS_BMC_ABORT && u->version[0] != '\0';
    return runs ? u->version : u->before;
}

void lks_redfish_update_status(const void *value, struct lks_bmc_status *out)
{
    const struct lks_redfish_update *u = value;
    bool broke =
        u->r.head.ended && u->outcome == LKS_BMC_OPEN && u->r.head.err.code != LKS_E_DENIED;
    bool sent = u->sent != LKS_RF_NOTHING;
    *out = (struct lks_bmc_status){
        .outcome = !broke ? u->outcome
                   : sent ? LKS_BMC_UNKNOWN
                          : LKS_BMC_REFUSED,
        .phase = phase_of(u),
        .percent = percent_of(u),
        .uploads = u->uploads,
        .pulls = u->r.head.step == LKS_RF_UPLOAD && u->way == LKS_RF_PULL,
        .found = lks_str_from(found_of(u)),
        .task = lks_str_from(u->task),
        .via = lks_str_from(u->uploads > 0 ? lks_redfish_way_words[u->way] : ""),
        .text = lks_str_from(u->text[0] != '\0' ? u->text : u->r.head.err.msg),
    };
}

const struct lks_conversation_ops lks_redfish_update_ops = {
    .name = "redfish-update",
    .size = sizeof(struct lks_redfish_update),
    .ask = ask,
    .hear = hear,
    .hears_all = true,
    .phase = phase,
    .save = lks_redfish_save,
    .load = lks_redfish_load,
};
