#include "drivers/sched/slurmrestd_read.h"

#include "codec/format/json.h"
#include "codec/format/json_list.h"
#include "codec/notation/hostlist.h"
#include "drivers/sched/sched_said.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Numbers of slurm_errno.h, the same in all releases. */
enum { ACCESS_DENIED = 2002, USER_ID_MISSING = 2010, INVALID_NODE_NAME = 2018 };

#define LIMIT_NONE UINT64_C(0xfffffffe) /* NO_VAL and INFINITE of 32 bits: no time limit */

/* v0.0.39, of Slurm 23.02, is left out: nothing here was tested with it. */
const struct lks_slurmrestd_read_version lks_slurmrestd_read_versions[] = {
    {"v0.0.42", "data_parser/v0.0.42", true}, /* 24.11 to 25.11 */
    {"v0.0.41", "data_parser/v0.0.41", true}, /* 24.05 to 25.05 */
    {"v0.0.40", "data_parser/v0.0.40", true}, /* 23.11 to 24.11 */
    {"v0.0.38", "openapi/v0.0.38", false},    /* 22.05 to 23.11 */
};
const size_t lks_slurmrestd_read_version_count = LKS_COUNT(lks_slurmrestd_read_versions);

/* Values in any of their forms -------------------------------------------------------------- */

/* False: there is no number, it is not set, or it stands for "without end". */
static bool number(const struct lks_doc *map, const char *key, uint64_t *out)
{
    const struct lks_doc *doc = lks_doc_member(map, key);
    if (doc != NULL && doc->kind == LKS_DOC_MAP) {
        const struct lks_doc *set = lks_doc_member(doc, "set");
        const struct lks_doc *endless = lks_doc_member(doc, "infinite");
        if (set == NULL || !set->truth || endless == NULL || endless->truth)
            return false;
        doc = lks_doc_member(doc, "number");
    }
    if (doc == NULL || doc->kind != LKS_DOC_NUMBER || doc->fraction || doc->number < 0)
        return false;
    *out = (uint64_t)doc->number;
    return true;
}

/* Seconds since 1970, 0 where there are none. */
static lks_ms moment(const struct lks_doc *map, const char *key)
{
    uint64_t seconds = 0;
    return number(map, key, &seconds) && seconds <= LKS_TIME_MAX / LKS_SECOND ? seconds * LKS_SECOND
                                                                              : 0;
}

/* Whether a text, or one text of a list, is `word`. */
static bool has_word(const struct lks_doc *doc, const char *word)
{
    struct lks_str want = lks_str_from(word);
    if (doc != NULL && doc->kind == LKS_DOC_TEXT)
        return lks_str_eq_nocase(doc->text, want);
    for (const struct lks_doc *d = doc != NULL ? doc->first : NULL; d != NULL; d = d->next) {
        if (d->kind == LKS_DOC_TEXT && lks_str_eq_nocase(d->text, want))
            return true;
    }
    return false;
}

/* An answer --------------------------------------------------------------------------------- */

LKS_PRINTF(2, 3) static void tell(char why[LKS_SCHED_REASON_MAX + 1], const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(why, LKS_SCHED_REASON_MAX + 1, format, ap);
    va_end(ap);
    lks_str_make_printable(why);
}

static bool is_version(const struct lks_doc *meta,
                       const struct lks_slurmrestd_read_version *version)
{
    const struct lks_doc *plugin = lks_doc_member(meta, "plugin");
    return lks_str_is(lks_doc_text(plugin, "data_parser"), version->plugin) ||
           lks_str_is(lks_doc_text(plugin, "type"), version->plugin);
}

/* A member of an answer by itself: a list of all jobs is far larger than what is wanted of it.
 * NULL: it is missing, or the answer is cut off before its end. */
static const struct lks_doc *part(struct lks_str body, const char *key, struct lks_docs *docs)
{
    struct lks_err err = {0};
    struct lks_str text;
    docs->fractions = true; /* weights of nodes have some */
    if (!lks_json_list_member(body, key, &text) || lks_json_parse(text, docs, &err) != LKS_OK)
        return NULL;
    return docs->last;
}

/* 24.11 answers 200 and error 0 where it has no such node. */
static enum lks_slurmrestd_read read_error(const struct lks_http_response *answer,
                                           const struct lks_doc *error,
                                           char why[LKS_SCHED_REASON_MAX + 1])
{
    uint64_t code = 0;
    struct lks_str nodes;
    struct lks_str text = lks_doc_text(error, "error"), about = lks_doc_text(error, "description");
    bool known = number(error, "error_number", &code) || number(error, "errno", &code);
    bool nothing = known && code == 0 && answer->status == 200 &&
                   !lks_json_list_member(answer->body, "nodes", &nodes);
    tell(why, "%" LKS_STR_FMT "%s%" LKS_STR_FMT, LKS_STR_ARG(about),
         about.len > 0 && text.len > 0 ? ": " : "", LKS_STR_ARG(text));
    if (why[0] == '\0')
        tell(why, "slurmrestd answers with an error without text");
    if (known && (code == ACCESS_DENIED || code == USER_ID_MISSING))
        return LKS_SLURMRESTD_DENIED;
    return nothing || (known && code == INVALID_NODE_NAME) ? LKS_SLURMRESTD_MISSING
                                                           : LKS_SLURMRESTD_BAD;
}

static enum lks_slurmrestd_read read_body(const struct lks_http_response *answer,
                                          const struct lks_slurmrestd_read_version *version,
                                          struct lks_docs *docs, char why[LKS_SCHED_REASON_MAX + 1])
{
    const struct lks_doc *meta = part(answer->body, "meta", docs);
    const struct lks_doc *errors = part(answer->body, "errors", docs);
    if (meta == NULL || errors == NULL || errors->kind != LKS_DOC_LIST) {
        tell(why, "an answer that is not slurmrestd's, or not all of it (status %d)",
             answer->status);
        return LKS_SLURMRESTD_BAD;
    }
    if (!is_version(meta, version)) {
        tell(why, "an answer that is not of slurmrestd's %s", version->name);
        return LKS_SLURMRESTD_BAD;
    }
    if (errors->first != NULL)
        return read_error(answer, errors->first, why);
    if (answer->status == 200)
        return LKS_SLURMRESTD_GOOD;
    tell(why, "status %d without an error", answer->status);
    return LKS_SLURMRESTD_BAD;
}

enum lks_slurmrestd_read
lks_slurmrestd_read_answer(const struct lks_http_response *answer,
                           const struct lks_slurmrestd_read_version *version, struct lks_docs *docs,
                           char why[LKS_SCHED_REASON_MAX + 1])
{
    int status = answer != NULL ? answer->status : 0;
    why[0] = '\0';
    switch (status) {
    case 0:
        tell(why, "no answer");
        return LKS_SLURMRESTD_BAD;
    case 401:
    case 403:
        tell(why, "status %d: slurmrestd does not accept the token", status);
        return LKS_SLURMRESTD_DENIED;
    case 404:
    case 405:
        tell(why, "status %d", status);
        return status == 404 ? LKS_SLURMRESTD_NO_PATH : LKS_SLURMRESTD_NO_VERB;
    case 429:
    case 503:
        tell(why, "status %d", status);
        return LKS_SLURMRESTD_BUSY;
    default:
        return read_body(answer, version, docs, why);
    }
}

/* A node ------------------------------------------------------------------------------------ */

/* A node that Slurm reboots or powers down does so once it is empty, and its reboot may end a
 * drain. */
static bool is_busy(const struct lks_doc *words)
{
    static const char *const busy[] = {
        "ALLOCATED",  "MIXED",       "COMPLETING",    "REBOOT_ISSUED", "REBOOT_REQUESTED",
        "POWER_DOWN", "POWER_DRAIN", "POWERING_DOWN", "POWERED_DOWN"};
    for (size_t i = 0; i < LKS_COUNT(busy); i++) {
        if (has_word(words, busy[i]))
            return true;
    }
    return false;
}

bool lks_slurmrestd_read_node(struct lks_str body, struct lks_str name, struct lks_docs *docs,
                              struct lks_slurmrestd_node *out, char why[LKS_SCHED_REASON_MAX + 1])
{
    const struct lks_doc *nodes = part(body, "nodes", docs);
    const struct lks_doc *node = nodes != NULL ? nodes->first : NULL;
    const struct lks_doc *state = lks_doc_member(node, "state");
    const struct lks_doc *flags = lks_doc_member(node, "state_flags");
    bool drained = has_word(state, "DRAIN") || has_word(flags, "DRAIN");
    bool text = state != NULL && state->kind == LKS_DOC_TEXT && state->text.len > 0;
    bool list = state != NULL && state->kind == LKS_DOC_LIST && state->first != NULL;
    if (node == NULL || node->next != NULL || !lks_str_eq(lks_doc_text(node, "name"), name)) {
        tell(why, "an answer that is not about node '%" LKS_STR_FMT "'", LKS_STR_ARG(name));
        return false;
    }
    if (!text && !list) {
        tell(why, "node '%" LKS_STR_FMT "' without a state", LKS_STR_ARG(name));
        return false;
    }
    *out = (struct lks_slurmrestd_node){
        .drained = drained,
        .down = has_word(state, "DOWN"),
        .maintenance = has_word(state, "MAINTENANCE") || has_word(flags, "MAINTENANCE"),
        .failing = has_word(state, "FAIL") || has_word(flags, "FAIL"),
        .busy = is_busy(state) || is_busy(flags) || (drained && has_word(state, "UNKNOWN")),
        .reason = lks_doc_text(node, "reason"),
        .user = lks_doc_text(node, "reason_set_by_user"),
        .since = moment(node, "reason_changed_at"),
    };
    return true;
}

/* Jobs -------------------------------------------------------------------------------------- */

/* A job that has one of these and no other state uses no node. Anything else does, a word that is
 * not known here included. */
static bool is_idle(struct lks_str word)
{
    static const char *const words[] = {"PENDING",  "COMPLETED",     "CANCELLED", "FAILED",
                                        "TIMEOUT",  "NODE_FAIL",     "PREEMPTED", "BOOT_FAIL",
                                        "DEADLINE", "OUT_OF_MEMORY", "REQUEUED",  "REQUEUE_HOLD",
                                        "REVOKED",  "LAUNCH_FAILED"};
    for (size_t i = 0; i < LKS_COUNT(words); i++) {
        if (lks_str_eq_nocase(word, lks_str_from(words[i])))
            return true;
    }
    return false;
}

static bool runs(const struct lks_doc *job)
{
    const struct lks_doc *state = lks_doc_member(job, "job_state");
    if (state == NULL || state->kind != LKS_DOC_LIST)
        return !is_idle(lks_doc_text(job, "job_state"));
    for (const struct lks_doc *d = state->first; d != NULL; d = d->next) {
        if (d->kind != LKS_DOC_TEXT || !is_idle(d->text))
            return true;
    }
    return state->first == NULL;
}

static bool is_on(const struct lks_doc *job, struct lks_str node)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_str text = lks_doc_text(job, "nodes");
    struct lks_hostlist list = {0};
    struct lks_err err = {0};
    if (text.len == 0 || lks_str_eq(text, node))
        return text.len > 0;
    lks_arena_init(&arena, LKS_DOC_MEMORY_MAX);
    if (lks_hostlist_parse(text, &arena, &list, &err) != LKS_OK)
        return true;
    for (size_t i = 0; i < list.count; i++) {
        if (lks_str_eq(list.names[i], node))
            return true;
    }
    return false;
}

/* As squeue prints it. */
static void write_id(const struct lks_doc *job, char out[LKS_SCHED_OWNER_MAX])
{
    uint64_t id = 0, array = 0, task = 0, het = 0, offset = 0;
    (void)number(job, "job_id", &id);
    if (number(job, "array_job_id", &array) && array != 0 && number(job, "array_task_id", &task))
        snprintf(out, LKS_SCHED_OWNER_MAX, "%" PRIu64 "_%" PRIu64, array, task);
    else if (number(job, "het_job_id", &het) && het != 0 && number(job, "het_job_offset", &offset))
        snprintf(out, LKS_SCHED_OWNER_MAX, "%" PRIu64 "+%" PRIu64, het, offset);
    else
        snprintf(out, LKS_SCHED_OWNER_MAX, "%" PRIu64, id);
}

static lks_ms ends(const struct lks_doc *job)
{
    uint64_t limit = 0;
    return number(job, "time_limit", &limit) && limit < LIMIT_NONE ? moment(job, "end_time") : 0;
}

static void add_job(const struct lks_doc *job, struct lks_str node, struct lks_slurmrestd_jobs *to,
                    bool *endless)
{
    if (job->kind == LKS_DOC_MAP && (!runs(job) || !is_on(job, node)))
        return;
    lks_ms until = ends(job);
    if (to->count++ == 0) {
        write_id(job, to->id);
        lks_sched_said_keep(to->user, sizeof(to->user), lks_doc_text(job, "user_name"));
    }
    *endless = *endless || until == 0;
    to->ends = until > to->ends ? until : to->ends;
}

bool lks_slurmrestd_read_jobs(struct lks_str body, struct lks_str node,
                              struct lks_slurmrestd_jobs *out, char why[LKS_SCHED_REASON_MAX + 1])
{
    struct lks_slurmrestd_jobs found = {0};
    struct lks_str list, element;
    enum lks_json_list more = LKS_JSON_LIST_BROKEN;
    bool endless = false;
    if (!lks_json_list_member(body, "jobs", &list) || !lks_json_list_open(&list)) {
        tell(why, "an answer without a list of jobs, or not all of it");
        return false;
    }
    while ((more = lks_json_list_next(&list, &element)) == LKS_JSON_LIST_ELEMENT) {
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        struct lks_err err = {0};
        if (lks_docs_init(&docs, "slurmrestd", &err) != LKS_OK)
            return false;
        docs.fractions = true;
        if (lks_json_parse(element, &docs, &err) != LKS_OK) {
            tell(why, "a job that cannot be read: %s", err.msg);
            return false;
        }
        add_job(docs.first, node, &found, &endless);
    }
    if (more != LKS_JSON_LIST_END) {
        tell(why, "a list of jobs that is not closed");
        return false;
    }
    found.ends = endless ? 0 : found.ends;
    *out = found;
    return true;
}
