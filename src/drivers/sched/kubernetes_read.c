#include "drivers/sched/kubernetes_read.h"

#include "codec/format/json.h"
#include "codec/format/json_list.h"
#include "drivers/sched/sched_said.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void lks_kubernetes_read_tell(char why[LKS_SCHED_REASON_MAX + 1], const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(why, LKS_SCHED_REASON_MAX + 1, format, ap);
    va_end(ap);
    lks_str_make_printable(why);
}

const struct lks_doc *lks_kubernetes_read_json(struct lks_str text, struct lks_docs *docs,
                                               struct lks_err *err)
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
    const struct lks_doc *top = lks_kubernetes_read_json(answer->body, &docs, &err);
    struct lks_str message = lks_doc_text(top, "message");
    lks_kubernetes_read_tell(why, "status %d%s%" LKS_STR_FMT, answer->status,
                             message.len > 0 ? ": " : "", LKS_STR_ARG(message));
    return lks_str_is(lks_doc_text(top, "kind"), "Status") &&
           lks_str_is(lks_doc_text(top, "reason"), "NotFound") &&
           lks_str_is(lks_doc_text(lks_doc_member(top, "details"), "kind"), "nodes");
}

enum lks_kubernetes_read lks_kubernetes_read_answer(const struct lks_http_response *answer,
                                                    char why[LKS_SCHED_REASON_MAX + 1])
{
    int status = answer != NULL ? answer->status : 0;
    why[0] = '\0';
    if (status == 200 || status == 201)
        return LKS_KUBERNETES_GOOD;
    if (status == 0) {
        lks_kubernetes_read_tell(why, "no answer");
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

bool lks_kubernetes_read_truth(const struct lks_doc *map, const char *key)
{
    const struct lks_doc *doc = lks_doc_member(map, key);
    return doc != NULL && doc->kind == LKS_DOC_BOOL && doc->truth;
}

bool lks_kubernetes_read_mark(struct lks_str text, struct lks_kubernetes_mark *out)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    const struct lks_doc *top = lks_kubernetes_read_json(text, &docs, &err);
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
        const struct lks_doc *taint = lks_kubernetes_read_json(element, &docs, &err);
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
    const struct lks_doc *top = lks_kubernetes_read_json(spec, &docs, &err);
    out->unschedulable = lks_kubernetes_read_truth(top, "unschedulable");
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
    const struct lks_doc *top = lks_kubernetes_read_json(text, &docs, &err);
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
    const struct lks_doc *top = lks_kubernetes_read_json(conditions, &docs, &err);
    for (const struct lks_doc *d = top != NULL ? top->first : NULL; d != NULL; d = d->next) {
        if (lks_str_is(lks_doc_text(d, "type"), "Ready"))
            out->down = !lks_str_is(lks_doc_text(d, "status"), "True");
        lks_kubernetes_truth_condition(d, &out->shown);
    }
}

bool lks_kubernetes_read_is(struct lks_str body, const char *quoted)
{
    struct lks_str kind;
    return lks_json_list_member(body, "kind", &kind) && lks_str_is(kind, quoted);
}

bool lks_kubernetes_read_node(struct lks_str body, struct lks_str name,
                              struct lks_kubernetes_node *out, char why[LKS_SCHED_REASON_MAX + 1])
{
    struct lks_str status;
    *out = (struct lks_kubernetes_node){0};
    if (!lks_kubernetes_read_is(body, "\"Node\"") || !read_metadata(body, name, out) ||
        !read_spec(body, out) || !lks_json_list_member(body, "status", &status)) {
        lks_kubernetes_read_tell(
            why, "an answer that is not about node '%" LKS_STR_FMT "', or not all of it",
            LKS_STR_ARG(name));
        return false;
    }
    read_conditions(status, out);
    return true;
}

bool lks_kubernetes_read_outdated(struct lks_conversation *c, const char *node,
                                  const struct lks_kubernetes_mark *mark, uint64_t epoch)
{
    if (mark->epoch <= epoch)
        return false;
    lks_conversation_fail(c, LKS_E_REFUSED, LKS_KUBERNETES_READ_OUTDATED("%s"), node, mark->epoch,
                          epoch);
    return true;
}

/* A token ----------------------------------------------------------------------------------- */

enum lks_code lks_kubernetes_read_token(struct lks_str token, struct lks_err *err)
{
    bool good = token.len <= LKS_SCHED_TOKEN_MAX;
    for (size_t i = 0; i < token.len && good; i++) {
        char c = token.ptr[i];
        good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               strchr("-._~+/=", c) != NULL;
    }
    return good ? LKS_OK
                : lks_fail(err, LKS_E_INVALID,
                           "kubernetes.token_file has no bearer token of at most %d bytes",
                           LKS_SCHED_TOKEN_MAX);
}
