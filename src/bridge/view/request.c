#include "bridge/view/request.h"

#include "codec/format/json.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define NUMBER_MAX ((uint64_t)LKS_DOC_NUMBER_MAX)

enum { JOB_ID_MAX = 32 };

const char *const lks_bridge_request_words[] = {
    "health", "nodes",   "node",    "jobs",      "runs",  "reservations", "drain", "release",
    "signal", "requeue", "reserve", "unreserve", "truth", "policy",       "epoch", NULL};

enum what { NODE, JOB, RESERVATION };

/* "*" is one part of the path: a node's name, a job's id or a reservation's name. */
static const struct route {
    const char *method, *path;
    enum lks_bridge_verb verb;
    enum what what; /* "*" is */
    bool guarded;   /* for the revision that was seen */
} routes[] = {
    {"GET", "/v1/health", LKS_BRIDGE_HEALTH, NODE, false},
    {"GET", "/v1/nodes", LKS_BRIDGE_NODES, NODE, false},
    {"GET", "/v1/nodes/*", LKS_BRIDGE_NODE, NODE, false},
    {"GET", "/v1/jobs", LKS_BRIDGE_JOBS, NODE, false},
    {"GET", "/v1/runs", LKS_BRIDGE_RUNS, NODE, false},
    {"GET", "/v1/reservations", LKS_BRIDGE_RESERVATIONS, NODE, false},
    {"PUT", "/v1/nodes/*/drain", LKS_BRIDGE_DRAIN, NODE, true},
    {"POST", "/v1/nodes/*/release", LKS_BRIDGE_RELEASE, NODE, true},
    {"POST", "/v1/jobs/*/signal", LKS_BRIDGE_SIGNAL, JOB, false},
    {"POST", "/v1/jobs/*/requeue", LKS_BRIDGE_REQUEUE, JOB, false},
    {"PUT", "/v1/reservations/*", LKS_BRIDGE_RESERVE, RESERVATION, false},
    {"DELETE", "/v1/reservations/*", LKS_BRIDGE_UNRESERVE, RESERVATION, false},
    {"PUT", "/v1/truth", LKS_BRIDGE_TRUTH, NODE, false},
    {"PUT", "/v1/policy", LKS_BRIDGE_POLICY, NODE, false},
    {"PUT", "/v1/epoch", LKS_BRIDGE_EPOCH, NODE, false},
};

void lks_bridge_request_fini(struct lks_bridge_request *r)
{
    lks_bridge_truth_fini(&r->truth);
    lks_bridge_reservation_fini(&r->reserve);
    lks_bridge_policy_fini(&r->policy);
}

bool lks_bridge_request_writes(enum lks_bridge_verb verb)
{
    return verb >= LKS_BRIDGE_DRAIN;
}

static bool matches(struct lks_str path, struct lks_str pattern, struct lks_str *name)
{
    struct lks_str part, want;
    bool more = true, wanted = true;
    while (more && wanted) {
        more = lks_str_cut(path, '/', &part, &path);
        wanted = lks_str_cut(pattern, '/', &want, &pattern);
        if (lks_str_is(want, "*"))
            *name = part;
        else if (!lks_str_eq(part, want))
            return false;
    }
    return more == wanted;
}

static enum lks_code find(const struct lks_bridge_raw *raw, const struct route **out,
                          struct lks_str *name, struct lks_err *err)
{
    const struct route *other = NULL;
    for (size_t i = 0; i < LKS_COUNT(routes); i++) {
        if (!matches(lks_str_from(raw->path), lks_str_from(routes[i].path), name))
            continue;
        if (strcmp(raw->method, routes[i].method) == 0) {
            *out = &routes[i];
            return LKS_OK;
        }
        other = &routes[i];
    }
    if (other != NULL)
        return lks_fail(err, LKS_E_USAGE, "%s is for %s, not for %s", raw->path, other->method,
                        raw->method);
    return lks_fail(
        err, LKS_E_NOT_FOUND,
        "nothing at %s; there are /v1/health, /v1/nodes, /v1/jobs, /v1/runs, /v1/reservations, "
        "/v1/truth and /v1/policy",
        raw->path);
}

/* Digits, then "_TASK" of an array or "+OFFSET" of a heterogeneous job. */
static bool is_job_id(struct lks_str id)
{
    uint64_t number = 0;
    struct lks_str head, tail;
    bool part = lks_str_cut(id, '_', &head, &tail) || lks_str_cut(id, '+', &head, &tail);
    return id.len <= JOB_ID_MAX && lks_str_number(head, UINT32_MAX, &number) &&
           (!part || lks_str_number(tail, UINT32_MAX, &number));
}

static const struct {
    bool (*is)(struct lks_str name);
    const char *what;
} names[] = {
    [NODE] = {lks_hostlist_is_name, "name of a node"},
    [JOB] = {is_job_id, "id of a job"},
    [RESERVATION] = {lks_bridge_reservation_is_name,
                     "name of a reservation of lockstep, which starts "
                     "with '" LKS_BRIDGE_RESERVATION_PREFIX "'"},
};

static enum lks_code read_name(const struct route *route, struct lks_str name,
                               struct lks_bridge_request *out, struct lks_err *err)
{
    if (strchr(route->path, '*') == NULL)
        return LKS_OK;
    if (!names[route->what].is(name) || name.len == 0 || name.len >= sizeof(out->name))
        return lks_fail(err, LKS_E_INVALID, "'%" LKS_STR_FMT "' is no %s", LKS_STR_ARG(name),
                        names[route->what].what);
    memcpy(out->name, name.ptr, name.len);
    return LKS_OK;
}

/* Headers ----------------------------------------------------------------------------------- */

static enum lks_code read_epoch(const struct lks_bridge_raw *raw, struct lks_bridge_request *out,
                                struct lks_err *err)
{
    if (raw->epochs > 1)
        return lks_fail(err, LKS_E_INVALID, "the header 'Lockstep-Epoch' is there twice");
    if (raw->epoch != NULL && lks_str_number(lks_str_from(raw->epoch), NUMBER_MAX, &out->epoch))
        return LKS_OK;
    return lks_fail(err, LKS_E_INVALID,
                    "a request that changes something needs the header 'Lockstep-Epoch: N'");
}

static enum lks_code read_revision(const struct lks_bridge_raw *raw, struct lks_bridge_request *out,
                                   struct lks_err *err)
{
    struct lks_str tag = lks_str_from(raw->if_match != NULL ? raw->if_match : "");
    if (raw->if_matches > 1)
        return lks_fail(err, LKS_E_INVALID, "the header 'If-Match' is there twice");
    if (tag.len > 2 && tag.ptr[0] == '"' && tag.ptr[tag.len - 1] == '"' &&
        lks_str_number((struct lks_str){tag.ptr + 1, tag.len - 2}, NUMBER_MAX, &out->revision))
        return LKS_OK;
    return lks_fail(err, LKS_E_INVALID,
                    "a request that changes a node needs the header 'If-Match: \"REVISION\"' with "
                    "the revision of the node that was read last");
}

/* Bodies ------------------------------------------------------------------------------------ */

static enum lks_code read_text(const struct lks_doc *body, const char *key, char *out, size_t size,
                               struct lks_err *err)
{
    struct lks_str text = lks_doc_text(body, key);
    if (text.len >= size)
        return lks_fail(err, LKS_E_INVALID, "%s: %zu bytes at the most", key, size - 1);
    memcpy(out, text.ptr != NULL ? text.ptr : "", text.len);
    out[text.len] = '\0';
    return LKS_OK;
}

static enum lks_code read_drain(const struct lks_doc *body, struct lks_bridge_request *out,
                                struct lks_err *err)
{
    const struct lks_doc *checkpoint = lks_doc_member(body, "checkpoint");
    if (read_text(body, "owner", out->owner, sizeof(out->owner), err) != LKS_OK ||
        read_text(body, "from", out->from, sizeof(out->from), err) != LKS_OK ||
        read_text(body, "reason", out->reason, sizeof(out->reason), err) != LKS_OK)
        return err->code;
    if (!lks_drain_reason_owner_valid(lks_str_from(out->owner)))
        return lks_fail(err, LKS_E_INVALID,
                        "owner: one word that starts with '" LKS_DRAIN_REASON_MARK
                        "', such as " LKS_DRAIN_REASON_MARK "change:17");
    if (out->from[0] != '\0' && !lks_drain_reason_owner_valid(lks_str_from(out->from)))
        return lks_fail(err, LKS_E_INVALID,
                        "from: the owner of a drain of lockstep, one word that starts "
                        "with '" LKS_DRAIN_REASON_MARK "'");
    out->checkpoint = checkpoint != NULL && checkpoint->kind == LKS_DOC_BOOL && checkpoint->truth;
    return LKS_OK;
}

static enum lks_code read_started(const struct lks_doc *body, struct lks_bridge_request *out,
                                  struct lks_err *err)
{
    const struct lks_doc *started = lks_doc_member(body, "started");
    if (started == NULL)
        return LKS_OK;
    if (started->kind != LKS_DOC_NUMBER || started->fraction || started->number <= 0 ||
        (uint64_t)started->number > LKS_TIME_MAX)
        return lks_fail(err, LKS_E_INVALID,
                        "started: when the run started that is meant, as in /v1/jobs");
    out->started = (lks_ms)started->number;
    return LKS_OK;
}

/* Those that a job can answer with a checkpoint. KILL is not among them: lockstep kills no job. */
static const struct lks_str_named signals[] = {
    {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"HUP", SIGHUP}, {"TERM", SIGTERM}};

static enum lks_code read_signal(const struct lks_doc *body, struct lks_bridge_request *out,
                                 struct lks_err *err)
{
    const struct lks_doc *batch = lks_doc_member(body, "batch");
    out->signal = lks_str_lookup(lks_doc_text(body, "signal"), signals, LKS_COUNT(signals), 0);
    out->batch = batch != NULL && batch->kind == LKS_DOC_BOOL && batch->truth;
    if (out->signal != 0)
        return read_started(body, out, err);
    return lks_fail(err, LKS_E_INVALID, "signal: one of USR1, USR2, HUP, TERM");
}

static enum lks_code read_body(struct lks_str text, struct lks_bridge_request *out,
                               struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    bool optional = out->verb == LKS_BRIDGE_REQUEUE;
    if (out->verb == LKS_BRIDGE_EPOCH || out->verb == LKS_BRIDGE_UNRESERVE ||
        (optional && text.len == 0))
        return LKS_OK;
    if (lks_docs_init(&docs, "body", err) != LKS_OK || lks_json_parse(text, &docs, err) != LKS_OK)
        return err->code;
    if (docs.first == NULL || docs.first->kind != LKS_DOC_MAP)
        return lks_fail(err, LKS_E_INVALID, "body: not a JSON object");
    if (out->verb == LKS_BRIDGE_TRUTH)
        return lks_bridge_truth_read(docs.first, &out->truth, err);
    if (out->verb == LKS_BRIDGE_POLICY)
        return lks_bridge_policy_read(docs.first, &out->policy, err);
    if (out->verb == LKS_BRIDGE_RESERVE)
        return lks_bridge_reservation_read(docs.first, &out->reserve, err);
    if (out->verb == LKS_BRIDGE_REQUEUE)
        return read_started(docs.first, out, err);
    return out->verb == LKS_BRIDGE_SIGNAL ? read_signal(docs.first, out, err)
                                          : read_drain(docs.first, out, err);
}

enum lks_code lks_bridge_request_read(const struct lks_bridge_raw *raw,
                                      struct lks_bridge_request *out, struct lks_err *err)
{
    const struct route *route = NULL;
    struct lks_str name = {0};
    struct lks_bridge_request made = {0};
    if (find(raw, &route, &name, err) != LKS_OK)
        return err->code;
    made.verb = route->verb;
    enum lks_code code = read_name(route, name, &made, err);
    bool writes = lks_bridge_request_writes(route->verb);
    if (code == LKS_OK && route->verb == LKS_BRIDGE_RUNS)
        code = lks_bridge_runs_ask_read(raw->after, raw->id, raw->max, &made.runs, err);
    if (code == LKS_OK && writes)
        code = read_epoch(raw, &made, err);
    if (code == LKS_OK && route->guarded)
        code = read_revision(raw, &made, err);
    if (code == LKS_OK && writes)
        code = read_body(raw->body, &made, err);
    if (code == LKS_OK)
        *out = made;
    return code;
}
