#include "drivers/sched/kubernetes_read.h"

#include "codec/format/json.h"
#include "codec/format/json_list.h"
#include "codec/kubernetes/pod.h"
#include "drivers/sched/sched_said.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

LKS_PRINTF(2, 3) static void tell(char why[LKS_SCHED_REASON_MAX + 1], const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(why, LKS_SCHED_REASON_MAX + 1, format, ap);
    va_end(ap);
    lks_str_make_printable(why);
}

/* A text as a document. NULL: it cannot be read. `docs` is empty, and the caller owes
 * lks_docs_fini() in any case. */
static const struct lks_doc *parse(struct lks_str text, struct lks_docs *docs, struct lks_err *err)
{
    if (lks_docs_init(docs, "kubernetes", err) != LKS_OK)
        return NULL;
    docs->fractions = true;
    return lks_json_parse(text, docs, err) == LKS_OK ? docs->first : NULL;
}

/* An answer --------------------------------------------------------------------------------- */

/* The server's own words are a Status; a proxy in front of it has others. */
static bool read_status(const struct lks_http_response *answer, char why[LKS_SCHED_REASON_MAX + 1])
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    const struct lks_doc *top = parse(answer->body, &docs, &err);
    struct lks_str message = lks_doc_text(top, "message");
    tell(why, "status %d%s%" LKS_STR_FMT, answer->status, message.len > 0 ? ": " : "",
         LKS_STR_ARG(message));
    return lks_str_is(lks_doc_text(top, "kind"), "Status") &&
           lks_str_is(lks_doc_text(top, "reason"), "NotFound") &&
           lks_str_is(lks_doc_text(lks_doc_member(top, "details"), "kind"), "nodes");
}

enum lks_kubernetes_read lks_kubernetes_read_answer(const struct lks_http_response *answer,
                                                    char why[LKS_SCHED_REASON_MAX + 1])
{
    int status = answer != NULL ? answer->status : 0;
    why[0] = '\0';
    if (status == 200)
        return LKS_KUBERNETES_GOOD;
    if (status == 0) {
        tell(why, "no answer");
        return LKS_KUBERNETES_BAD;
    }
    bool no_node = read_status(answer, why);
    switch (status) {
    case 401:
    case 403:
        return LKS_KUBERNETES_DENIED;
    case 404:
        return no_node ? LKS_KUBERNETES_MISSING : LKS_KUBERNETES_BAD;
    case 409:
        return LKS_KUBERNETES_CONFLICT;
    case 410:
        return LKS_KUBERNETES_GONE;
    case 429:
    case 503:
        return LKS_KUBERNETES_BUSY;
    default:
        return LKS_KUBERNETES_BAD;
    }
}

/* A node ------------------------------------------------------------------------------------ */

static bool is_true(const struct lks_doc *map, const char *key)
{
    const struct lks_doc *doc = lks_doc_member(map, key);
    return doc != NULL && doc->kind == LKS_DOC_BOOL && doc->truth;
}

bool lks_kubernetes_read_mark(struct lks_str text, struct lks_kubernetes_mark *out)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    const struct lks_doc *top = parse(text, &docs, &err);
    const struct lks_doc *epoch = lks_doc_member(top, "epoch");
    struct lks_str owner = lks_doc_text(top, "owner");
    *out = (struct lks_kubernetes_mark){0};
    out->valid = owner.len > 0 && owner.len <= LKS_SCHED_OWNER_MAX && lks_str_printable(owner);
    if (!out->valid)
        return false;
    lks_sched_said_keep(out->owner, sizeof(out->owner), owner);
    if (epoch != NULL && epoch->kind == LKS_DOC_NUMBER && !epoch->fraction && epoch->number > 0)
        out->epoch = (uint64_t)epoch->number;
    if (!lks_time_parse(lks_doc_text(top, "since"), &out->since))
        out->since = 0;
    return true;
}

/* Who set it last. Without a line about it the answer says nothing. */
static void read_cordoner(const struct lks_doc *managed, struct lks_kubernetes_node *out)
{
    const struct lks_doc *d = managed != NULL ? managed->first : NULL;
    for (; d != NULL && out->cordoner[0] == '\0'; d = d->next) {
        const struct lks_doc *spec = lks_doc_member(lks_doc_member(d, "fieldsV1"), "f:spec");
        if (lks_doc_member(spec, "f:unschedulable") != NULL)
            lks_sched_said_keep(out->cordoner, sizeof(out->cordoner), lks_doc_text(d, "manager"));
    }
}

/* A merge patch replaces the whole list: those of others are kept byte by byte. False: it is no
 * list of taints. */
static bool read_taints(struct lks_str list, struct lks_kubernetes_node *out)
{
    struct lks_str element;
    enum lks_json_list more = LKS_JSON_LIST_BROKEN;
    size_t len = 0;
    if (!lks_json_list_open(&list))
        return lks_str_is(list, "null");
    while ((more = lks_json_list_next(&list, &element)) == LKS_JSON_LIST_ELEMENT) {
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        struct lks_err err = {0};
        const struct lks_doc *taint = parse(element, &docs, &err);
        if (lks_doc_text(taint, "key").len == 0)
            return false;
        if (lks_str_is(lks_doc_text(taint, "key"), LKS_KUBERNETES_READ_MARK)) {
            struct lks_str effect = lks_doc_text(taint, "effect");
            out->tainted =
                out->tainted || lks_str_is(effect, "NoSchedule") || lks_str_is(effect, "NoExecute");
            continue;
        }
        if (element.len + 1 > LKS_KUBERNETES_READ_TAINTS - len) {
            out->crowded = true;
            continue;
        }
        if (len > 0)
            out->taints[len++] = ',';
        memcpy(out->taints + len, element.ptr, element.len);
        len += element.len;
    }
    out->taints[len] = '\0';
    return more == LKS_JSON_LIST_END;
}

static bool read_spec(struct lks_str body, struct lks_kubernetes_node *out)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    struct lks_str spec, taints;
    if (!lks_json_list_member(body, "spec", &spec))
        return false;
    const struct lks_doc *top = parse(spec, &docs, &err);
    out->unschedulable = is_true(top, "unschedulable");
    return top != NULL && top->kind == LKS_DOC_MAP &&
           (!lks_json_list_member(spec, "taints", &taints) || read_taints(taints, out));
}

static bool read_metadata(struct lks_str body, struct lks_str name, struct lks_kubernetes_node *out)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    struct lks_str text;
    if (!lks_json_list_member(body, "metadata", &text))
        return false;
    const struct lks_doc *top = parse(text, &docs, &err);
    struct lks_str version = lks_doc_text(top, "resourceVersion");
    if (!lks_str_eq(lks_doc_text(top, "name"), name) || version.len == 0 ||
        version.len > LKS_KUBERNETES_READ_VERSION || !lks_str_printable(version))
        return false;
    lks_sched_said_keep(out->version, sizeof(out->version), version);
    (void)lks_kubernetes_read_mark(
        lks_doc_text(lks_doc_member(top, "annotations"), LKS_KUBERNETES_READ_MARK), &out->mark);
    read_cordoner(lks_doc_member(top, "managedFields"), out);
    lks_kubernetes_truth_metadata(top, &out->shown);
    return true;
}

/* A node whose kubelet never reported has no condition Ready: its agent tells more. */
static void read_conditions(struct lks_str status, struct lks_kubernetes_node *out)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    struct lks_str conditions;
    if (!lks_json_list_member(status, "conditions", &conditions))
        return;
    const struct lks_doc *top = parse(conditions, &docs, &err);
    for (const struct lks_doc *d = top != NULL ? top->first : NULL; d != NULL; d = d->next) {
        if (lks_str_is(lks_doc_text(d, "type"), "Ready"))
            out->down = !lks_str_is(lks_doc_text(d, "status"), "True");
        lks_kubernetes_truth_condition(d, &out->shown);
    }
}

static bool is_kind(struct lks_str body, const char *quoted)
{
    struct lks_str kind;
    return lks_json_list_member(body, "kind", &kind) && lks_str_is(kind, quoted);
}

bool lks_kubernetes_read_node(struct lks_str body, struct lks_str name,
                              struct lks_kubernetes_node *out, char why[LKS_SCHED_REASON_MAX + 1])
{
    struct lks_str status;
    *out = (struct lks_kubernetes_node){0};
    if (!is_kind(body, "\"Node\"") || !read_metadata(body, name, out) || !read_spec(body, out) ||
        !lks_json_list_member(body, "status", &status)) {
        tell(why, "an answer that is not about node '%" LKS_STR_FMT "', or not all of it",
             LKS_STR_ARG(name));
        return false;
    }
    read_conditions(status, out);
    return true;
}

/* Pods -------------------------------------------------------------------------------------- */

static bool is_over(const struct lks_doc *status)
{
    struct lks_str phase = lks_doc_text(status, "phase");
    return lks_str_is(phase, "Succeeded") || lks_str_is(phase, "Failed");
}

/* When its deadline is over. 0: it has none, or did not start yet. */
static lks_ms ends(const struct lks_doc *spec, const struct lks_doc *status)
{
    const struct lks_doc *limit = lks_doc_member(spec, "activeDeadlineSeconds");
    lks_ms start = 0;
    if (limit == NULL || limit->kind != LKS_DOC_NUMBER || limit->fraction || limit->number <= 0 ||
        !lks_time_parse(lks_doc_text(status, "startTime"), &start) ||
        (uint64_t)limit->number > (LKS_TIME_MAX - start) / LKS_SECOND)
        return 0;
    return start + (uint64_t)limit->number * LKS_SECOND;
}

/* False: it is no pod of the node. */
static bool add_pod(const struct lks_doc *pod, struct lks_str node, struct lks_kubernetes_pods *to)
{
    const struct lks_doc *metadata = lks_doc_member(pod, "metadata");
    const struct lks_doc *spec = lks_doc_member(pod, "spec");
    const struct lks_doc *status = lks_doc_member(pod, "status");
    struct lks_str name = lks_doc_text(metadata, "name");
    if (name.len == 0 || !lks_str_eq(lks_doc_text(spec, "nodeName"), node))
        return false;
    if (is_over(status) || lks_pod_is_of_node(metadata) || !lks_pod_uses_gpus(spec, status))
        return true;
    lks_ms until = ends(spec, status);
    if (to->count == 0) {
        snprintf(to->first, sizeof(to->first), "%" LKS_STR_FMT "/%" LKS_STR_FMT,
                 LKS_STR_ARG(lks_doc_text(metadata, "namespace")), LKS_STR_ARG(name));
        lks_str_make_printable(to->first);
    }
    to->count += to->count < LKS_SCHED_JOBS_MAX;
    to->endless = to->endless || until == 0;
    to->ends = until > to->ends ? until : to->ends;
    return true;
}

/* Where the next page begins, in characters that a query may have. */
static bool read_more(struct lks_str body, struct lks_kubernetes_pods *to)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    struct lks_str text;
    if (!lks_json_list_member(body, "metadata", &text))
        return false;
    const struct lks_doc *top = parse(text, &docs, &err);
    struct lks_str more = lks_doc_text(top, "continue");
    bool good = top != NULL && more.len <= LKS_KUBERNETES_READ_CONTINUE;
    for (size_t i = 0; i < more.len && good; i++) {
        char c = more.ptr[i];
        good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '=';
    }
    if (good)
        lks_sched_said_keep(to->more, sizeof(to->more), more);
    return good;
}

bool lks_kubernetes_read_pods(struct lks_str body, struct lks_str node,
                              struct lks_kubernetes_pods *to, char why[LKS_SCHED_REASON_MAX + 1])
{
    struct lks_kubernetes_pods found = *to;
    struct lks_str list, element;
    enum lks_json_list more = LKS_JSON_LIST_BROKEN;
    bool good = is_kind(body, "\"PodList\"") && read_more(body, &found) &&
                lks_json_list_member(body, "items", &list);
    if (good && lks_str_is(list, "null"))
        list = LKS_STR("[]"); /* how Go writes a list that was never made */
    if (!good || !lks_json_list_open(&list)) {
        tell(why, "an answer without a list of pods, or not all of it");
        return false;
    }
    while ((more = lks_json_list_next(&list, &element)) == LKS_JSON_LIST_ELEMENT) {
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        struct lks_err err = {0};
        const struct lks_doc *pod = parse(element, &docs, &err);
        if (pod == NULL || !add_pod(pod, node, &found)) {
            tell(why, "a pod that cannot be read, or is not of node '%" LKS_STR_FMT "'%s%s",
                 LKS_STR_ARG(node), pod == NULL ? ": " : "", err.msg);
            return false;
        }
    }
    if (more != LKS_JSON_LIST_END) {
        tell(why, "a list of pods that is not closed");
        return false;
    }
    *to = found;
    return true;
}
