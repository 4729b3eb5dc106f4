/*
 * Following a task. What it says is a hint: a service may answer 204 for a task that failed, forget
 * one that is done, call completed what went wrong and failed what went well. So a task ends the
 * wait, and the inventory tells how it ended.
 */
#include "drivers/bmc/redfish_update.h"

#include <stdio.h>

#define GONE_MAX  3  /* a new job may not be there yet */
#define BLANK_MAX 18 /* a task that was read before and is not to be read now goes on meanwhile */
#define GONE_WAIT (10 * LKS_SECOND)
#define POLL_MAX  (30 * LKS_SECOND)
#define STALE_FOR (60 * LKS_SECOND) /* that a state of before says nothing */

/* Words of TaskState, and of the update service of HPE. "Stopping" is what OpenBMC says of an image
 * that waits for a reset. What is not here goes on. */
static const struct lks_str_named states[] = {
    {"Completed", LKS_RF_TASK_OVER},
    {"Stopping", LKS_RF_TASK_OVER},
    {"Exception", LKS_RF_TASK_FAILED},
    {"Killed", LKS_RF_TASK_FAILED},
    {"Cancelled", LKS_RF_TASK_FAILED},
    {"Complete", LKS_RF_TASK_OVER},
    {"Idle", LKS_RF_TASK_OVER},
    {"Error", LKS_RF_TASK_FAILED},
    {"CompletedWithErrors", LKS_RF_TASK_FAILED},
    {"Failed", LKS_RF_TASK_FAILED},
};

static struct lks_str state_word(const struct lks_doc *task)
{
    struct lks_str word = lks_bmc_json_text(task, "TaskState");
    if (word.len == 0)
        word = lks_bmc_json_text(task, "Oem/Hpe/State");
    if (word.len == 0)
        word = lks_bmc_json_text(task, "JobState");
    return word;
}

static enum lks_redfish_task_state state_named(struct lks_str word)
{
    if (word.len == 0)
        return LKS_RF_TASK_NONE;
    return (enum lks_redfish_task_state)lks_str_lookup(word, states, LKS_COUNT(states),
                                                       LKS_RF_TASK_RUNS);
}

static enum lks_redfish_task_state state_of(const struct lks_doc *task)
{
    return state_named(state_word(task));
}

bool lks_redfish_service_runs(const struct lks_redfish_update *u)
{
    return state_named(lks_str_from(u->oem_state_now)) == LKS_RF_TASK_RUNS;
}

static bool says_reset(const struct lks_doc *message)
{
    struct lks_str key = lks_redfish_message_key(message);
    return lks_str_is(key, "AwaitToActivate") || lks_str_is(key, "ResetRequired");
}

static bool same_args(const struct lks_doc *a, const struct lks_doc *b)
{
    const struct lks_doc *x = lks_doc_member(a, "MessageArgs");
    const struct lks_doc *y = lks_doc_member(b, "MessageArgs");
    x = x != NULL ? x->first : NULL;
    y = y != NULL ? y->first : NULL;
    for (; x != NULL && y != NULL && lks_str_eq(x->text, y->text); x = x->next)
        y = y->next;
    return x == NULL && y == NULL;
}

/* Devices that say so; one that says it twice is one. */
static size_t devices_ready(const struct lks_doc *list)
{
    size_t count = 0;
    for (const struct lks_doc *one = list->first; one != NULL; one = one->next) {
        bool again = false;
        for (const struct lks_doc *other = list->first; other != one; other = other->next)
            again = again || (says_reset(other) && same_args(one, other));
        count += says_reset(one) && !again;
    }
    return count;
}

/* A task that stays open until the device is reset has done its part. One of several devices
 * reports so while the others are still written: before all of them did, only what the task reports
 * of the whole counts. */
static bool awaits_reset(const struct lks_redfish_update *u, const struct lks_doc *task)
{
    static const char *const busy[] = {"New", "Starting", "Running"};
    const struct lks_doc *list = lks_doc_member(task, "Messages");
    bool runs = false;
    if (list == NULL || list->kind != LKS_DOC_LIST || !says_reset(list->last))
        return false;
    for (size_t i = 0; i < LKS_COUNT(busy); i++)
        runs = runs || lks_str_is(state_word(task), busy[i]);
    uint64_t percent = lks_bmc_json_number(task, "PercentComplete", UINT64_MAX);
    /* As many as there were: one that is written may not be to be read meanwhile. */
    size_t wanted = u->expected > u->had ? u->expected - u->had : 1;
    return !runs || (percent == UINT64_MAX ? devices_ready(list) >= wanted : percent >= 100);
}

/* It says that a device waits, it does not say that all do, and nothing moves for as long as the
 * slowest may take: so it will stay until it is reset. */
static bool stays_still(struct lks_redfish_update *u, lks_ms now, const struct lks_doc *task)
{
    const struct lks_doc *list = lks_doc_member(task, "Messages");
    bool messages = list != NULL && list->kind == LKS_DOC_LIST;
    uint64_t said = (uint64_t)u->task_percent << 32 | (messages ? list->count : 0);
    if (u->task_still == 0 || said != u->task_said) {
        u->task_said = said;
        u->task_still = now;
    }
    return messages && says_reset(list->last) &&
           now - u->task_still >= lks_redfish_allowed(u, false);
}

bool lks_redfish_task_blank(const struct lks_doc *task)
{
    return state_of(task) == LKS_RF_TASK_NONE;
}

bool lks_redfish_task_runs(const struct lks_redfish_update *u, const struct lks_doc *task)
{
    return state_of(task) == LKS_RF_TASK_RUNS && !awaits_reset(u, task);
}

/* How bad a message is: 0 fine, 1 a warning, 2 it went wrong. */
static int weight(const struct lks_doc *message)
{
    static const char *const bad[] = {"TransferFailed",      "VerificationFailed",
                                      "ApplyFailed",         "ActivateFailed",
                                      "UpdateNotApplicable", "NoTargetsDetermined"};
    struct lks_str key = lks_redfish_message_key(message);
    struct lks_str severity = lks_bmc_json_text(message, "MessageSeverity");
    if (severity.len == 0)
        severity = lks_bmc_json_text(message, "Severity");
    for (size_t i = 0; i < LKS_COUNT(bad); i++) {
        if (lks_str_is(key, bad[i]))
            return 2;
    }
    return lks_str_is(severity, "Critical") ? 2 : lks_str_is(severity, "Warning") ? 1 : 0;
}

/* "In order to apply changes, a reset is required": of what, and how. */
static void keep_reset(struct lks_redfish_update *u, const struct lks_doc *message)
{
    const struct lks_doc *args = lks_doc_member(message, "MessageArgs");
    const struct lks_doc *at = args != NULL ? args->first : NULL;
    if (at == NULL || at->next == NULL || at->kind != LKS_DOC_TEXT ||
        at->next->kind != LKS_DOC_TEXT)
        return;
    lks_redfish_keep(u->reset_at, sizeof(u->reset_at), lks_bmc_json_path(at, ""));
    lks_redfish_keep(u->reset_type, sizeof(u->reset_type), at->next->text);
}

/* What messages of a weight say, one after the other; those that only say that the task failed are
 * left out unless `all`. */
static void keep_why(struct lks_redfish_update *u, const struct lks_doc *list, int least, bool all)
{
    size_t len = 0;
    for (const struct lks_doc *one = list->first; one != NULL; one = one->next) {
        struct lks_str key = lks_redfish_message_key(one);
        struct lks_str text = lks_redfish_clause(lks_bmc_json_text(one, "Message"));
        bool general = lks_str_is(key, "TaskAborted") || lks_str_is(key, "TaskCancelled");
        bool said = weight(one) >= least || lks_str_is(key, "UpdateSkippedSameVersion");
        if (text.len == 0)
            text = key;
        if (!said || (general && !all) || len + text.len + 3 > sizeof(u->why))
            continue;
        len += (size_t)snprintf(u->why + len, sizeof(u->why) - len, "%s%" LKS_STR_FMT,
                                len > 0 ? "; " : "", LKS_STR_ARG(text));
    }
}

/* True where a message says that it went wrong. */
static bool read_messages(struct lks_redfish_update *u, const struct lks_doc *list)
{
    bool failed = false;
    u->why[0] = '\0';
    if (list == NULL || list->kind != LKS_DOC_LIST)
        return false;
    for (const struct lks_doc *one = list->first; one != NULL; one = one->next) {
        failed = failed || weight(one) == 2;
        if (!lks_str_is(lks_redfish_message_key(one), "ResetRequired"))
            continue;
        u->reset_told = true;
        keep_reset(u, one);
    }
    keep_why(u, list, 1, false);
    if (u->why[0] == '\0')
        keep_why(u, list, 1, true);
    return failed;
}

/* HPE's service says Error also when only a reset is missing. */
static bool only_reset_missing(const struct lks_doc *task)
{
    struct lks_str result = lks_bmc_json_text(task, "Oem/Hpe/Result/MessageId");
    return lks_str_find(result, LKS_STR("ResetRequired")) >= 0;
}

enum lks_redfish_task_state lks_redfish_task(struct lks_redfish_update *u,
                                             const struct lks_doc *task)
{
    enum lks_redfish_task_state state = state_of(task);
    bool bad = read_messages(u, lks_doc_member(task, "Messages"));
    uint64_t percent = lks_bmc_json_number(task, "PercentComplete", u->task_percent);
    u->task_percent = percent <= 100 ? (unsigned)percent : u->task_percent;
    u->reset_told = u->reset_told || awaits_reset(u, task) || only_reset_missing(task);
    if (state == LKS_RF_TASK_FAILED && only_reset_missing(task))
        return LKS_RF_TASK_OVER;
    if (state == LKS_RF_TASK_FAILED && u->why[0] == '\0') {
        struct lks_str said = lks_bmc_json_text(task, "Oem/Hpe/Result/MessageId");
        snprintf(u->why, sizeof(u->why), "the task ended as %" LKS_STR_FMT,
                 LKS_STR_ARG(said.len > 0 ? said : lks_bmc_json_text(task, "TaskState")));
    }
    if (state == LKS_RF_TASK_RUNS && awaits_reset(u, task))
        state = LKS_RF_TASK_OVER;
    if (state != LKS_RF_TASK_OVER)
        return state;
    bool critical = lks_str_is(lks_bmc_json_text(task, "TaskStatus"), "Critical");
    if (critical && u->why[0] == '\0')
        snprintf(u->why, sizeof(u->why), "the task ended as Completed with status Critical");
    return bad || critical ? LKS_RF_TASK_FAILED : LKS_RF_TASK_OVER;
}

void lks_redfish_follow(struct lks_redfish_update *u, struct lks_str task, bool shown, lks_ms when)
{
    lks_redfish_uri at; /* it may be given as the very one that is followed */
    lks_redfish_keep(at, sizeof(at), task);
    memcpy(u->task, at, sizeof(u->task));
    u->gone = 0;
    u->task_over = u->task_found = false;
    u->task_shown = shown;
    u->task_percent = 0;
    u->task_still = 0;
    u->task_moved = false;
    u->why[0] = '\0';
    lks_conversation_go_checkpoint(&u->r.head, LKS_RF_FOLLOW, when);
}

void lks_redfish_ask_follow(const struct lks_redfish_update *u, struct lks_http_request *out)
{
    lks_redfish_ask(&u->r, "GET", lks_str_from(u->task), out);
}

static lks_ms next_poll(lks_ms now, const struct lks_http_response *answer)
{
    lks_ms wait = lks_http_response_retry(answer, LKS_REDFISH_POLL);
    return now + (wait < POLL_MAX ? wait : POLL_MAX);
}

/* A monitor leads to the task itself, which still says something when the monitor is gone. */
static void prefer_task(struct lks_redfish_update *u, const struct lks_doc *task)
{
    struct lks_str at = lks_bmc_json_path(task, "@odata.id");
    bool is_task = lks_doc_member(task, "TaskState") != NULL;
    if (is_task && at.len > 0 && !lks_str_is(at, u->task) &&
        lks_redfish_keep(u->task, sizeof(u->task), at)) {
        u->task_shown = true;
        u->r.head.checkpoint = true;
    }
}

/* A task that was only found may be foreign: before anything is reset the list is searched for
 * others that run. */
static void over(struct lks_redfish_update *u, lks_ms now, bool failed)
{
    u->task_over = true;
    u->task_failed = failed;
    u->task_lost = false;
    u->task_ended = !u->task_found;
    if (u->activated > 0)
        u->activated = now; /* it was that of an action, which shows from now on */
    if (!u->task_found) {
        lks_redfish_after_task(u, now);
        return;
    }
    lks_redfish_add_old(u, lks_str_from(u->task));
    u->only_running = true;
    lks_redfish_seek(u, now, now + LKS_REDFISH_POLL);
}

/* A service that is its own task may still show how the update before ended. */
static bool is_stale(struct lks_redfish_update *u, lks_ms now, const struct lks_doc *task)
{
    bool service = strcmp(u->task, u->r.update_service) == 0;
    u->task_moved = u->task_moved || !lks_str_is(state_word(task), u->oem_state);
    if (u->task_still == 0)
        u->task_still = now;
    return service && !u->task_moved && now - u->task_still < STALE_FOR;
}

static void hear_state(struct lks_redfish_update *u, lks_ms now, const struct lks_doc *task,
                       const struct lks_http_response *answer)
{
    if (is_stale(u, now, task)) {
        lks_conversation_go(&u->r.head, LKS_RF_FOLLOW, next_poll(now, answer));
        return;
    }
    enum lks_redfish_task_state state = lks_redfish_task(u, task);
    if (state == LKS_RF_TASK_RUNS && stays_still(u, now, task))
        state = LKS_RF_TASK_OVER;
    if (state == LKS_RF_TASK_OVER && state_of(task) == LKS_RF_TASK_RUNS)
        lks_redfish_add_staying(u, lks_str_from(u->task));
    if (state == LKS_RF_TASK_OVER || state == LKS_RF_TASK_FAILED) {
        over(u, now, state == LKS_RF_TASK_FAILED);
        return;
    }
    lks_conversation_go(&u->r.head, LKS_RF_FOLLOW, next_poll(now, answer));
    u->gone = 0;
    if (answer->status == 200 && !u->task_shown) { /* a monitor says 202 until it is over */
        u->task_shown = true;
        u->r.head.checkpoint = true;
    }
    prefer_task(u, task);
}

/* What a monitor says when all is over: nothing, or something that is no task. A task does not end
 * so: what shows nothing of it is a page of something else, and to take it for the end would reset
 * a device in the middle of a flash. */
static bool is_end(const struct lks_redfish_update *u, const struct lks_doc *task,
                   const struct lks_http_response *answer)
{
    return answer->status < 300 && !u->task_shown && lks_redfish_readable(answer) &&
           lks_doc_member(task, "TaskState") == NULL;
}

/* How often what says nothing of the task is asked again. */
static unsigned patience(const struct lks_redfish_update *u, const struct lks_http_response *answer)
{
    return answer->status < 300 && u->task_shown ? BLANK_MAX : GONE_MAX;
}

void lks_redfish_hear_follow(struct lks_redfish_update *u, lks_ms now,
                             const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    const struct lks_doc *task = lks_redfish_read(answer, &docs);
    bool has_state = state_of(task) != LKS_RF_TASK_NONE;
    if (has_state) {
        hear_state(u, now, task, answer);
        return;
    }
    if (answer->status == 202) {
        lks_conversation_go(&u->r.head, LKS_RF_FOLLOW, next_poll(now, answer));
        return;
    }
    bool end = is_end(u, task, answer);
    if (!end && ++u->gone < patience(u, answer)) {
        lks_conversation_go(&u->r.head, LKS_RF_FOLLOW, now + GONE_WAIT);
        return;
    }
    if (answer->status == 403) { /* it may well go on, and we are not to see it */
        lks_conversation_fail(&u->r.head, LKS_E_DENIED, "the service does not show its task %s",
                              u->task);
        return;
    }
    /* Over, says the monitor, or it is gone. The list may have the task that tells the truth; this
     * very one, where its address was taken for that of a monitor. */
    if (!end)
        lks_redfish_add_old(u, lks_str_from(u->task));
    u->task_over = true;
    bool forgotten = answer->status >= 300 && lks_redfish_manners(u->r.vendor)->forgets_tasks;
    u->task_lost = !end && !forgotten;
    lks_redfish_seek(u, now, now);
}
