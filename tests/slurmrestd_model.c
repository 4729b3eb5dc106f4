#include "tests/slurmrestd_model.h"

#include "codec/format/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TIME_LIMIT = 60 }; /* of jobs, in minutes */

struct answer {
    const char *version;
    bool old; /* the form of v0.0.38 */
    struct lks_buf text;
};

/* How the answer ends, or begins; the order of members differs between the versions. */
static void put_meta(struct answer *a)
{
    if (a->old)
        lks_buf_addf(&a->text,
                     "\"meta\":{\"plugin\":{\"type\":\"openapi\\/%s\"},\"Slurm\":{\"release\":"
                     "\"22.05.8\"}}",
                     a->version);
    else
        lks_buf_addf(&a->text,
                     "\"meta\":{\"plugin\":{\"type\":\"openapi\\/slurmctld\",\"data_parser\":"
                     "\"data_parser\\/%s\"}},\"warnings\":[]",
                     a->version);
}

static void put_time(struct answer *a, const char *key, lks_ms ms)
{
    uint64_t seconds = ms / LKS_SECOND;
    if (a->old)
        lks_buf_addf(&a->text, "\"%s\":%" PRIu64 ",", key, seconds);
    else
        lks_buf_addf(&a->text, "\"%s\":{\"set\":true,\"infinite\":false,\"number\":%" PRIu64 "},",
                     key, seconds);
}

static void put_state(struct answer *a, bool busy, bool drained)
{
    if (a->old)
        lks_buf_addf(&a->text, "\"state\":\"%s\",\"state_flags\":[%s],",
                     busy ? "allocated" : "idle", drained ? "\"DRAIN\"" : "");
    else
        lks_buf_addf(&a->text, "\"state\":[\"%s\"%s],", busy ? "ALLOCATED" : "IDLE",
                     drained ? ",\"DRAIN\"" : "");
}

/* What the bridge's protocol says of the node, in slurmrestd's members. */
static void put_node(struct answer *a, const struct lks_doc *node)
{
    const struct lks_doc *drain = lks_doc_member(node, "drain");
    const struct lks_doc *jobs = lks_doc_member(node, "jobs");
    struct lks_str owner = lks_doc_text(drain, "owner"), why = lks_doc_text(drain, "reason");
    bool drained = owner.len > 0, ours = lks_str_starts(owner, "lockstep:");
    struct lks_json_writer w = {.out = &a->text};
    lks_buf_add(&a->text, LKS_STR("\"nodes\":[{"));
    put_state(a, jobs != NULL && jobs->count > 0, drained);
    put_time(a, "reason_changed_at", 0);
    lks_buf_add(&a->text, LKS_STR("\"tres_weighted\":0.0,"));
    char reason[512];
    snprintf(reason, sizeof(reason), "%.*s%s%.*s", ours ? (int)owner.len : 0, owner.ptr,
             ours ? " " : "", (int)why.len, why.len > 0 ? why.ptr : "");
    struct lks_str user = ours ? LKS_STR(SLURMRESTD_MODEL_USER) : owner;
    lks_json_text(&w, "name", lks_doc_text(node, "node"));
    lks_json_text(&w, "reason", lks_str_from(drained ? reason : ""));
    lks_json_text(&w, "reason_set_by_user", drained ? user : LKS_STR(""));
    lks_buf_add(&a->text, LKS_STR("}],"));
}

static void put_jobs(struct answer *a, const struct lks_doc *node)
{
    const struct lks_doc *jobs = lks_doc_member(node, "jobs");
    struct lks_str name = lks_doc_text(node, "node");
    lks_buf_addf(&a->text, "\"jobs\":[{\"job_id\":3,\"job_state\":%s\"PENDING\"%s,\"nodes\":\"\"}",
                 a->old ? "" : "[", a->old ? "" : "]");
    for (const struct lks_doc *d = jobs != NULL ? jobs->first : NULL; d != NULL; d = d->next) {
        const struct lks_doc *until = lks_doc_member(d, "ends");
        lks_buf_addf(&a->text, ",{\"job_id\":17,\"job_state\":%s\"RUNNING\"%s,", a->old ? "" : "[",
                     a->old ? "" : "]");
        put_time(a, "end_time", until != NULL ? (lks_ms)until->number : 0);
        put_time(a, "time_limit", (lks_ms)TIME_LIMIT * LKS_SECOND);
        lks_buf_addf(&a->text, "\"user_name\":\"kim\",\"nodes\":\"%.*s,x[1-3]\"}", (int)name.len,
                     name.ptr);
    }
    lks_buf_add(&a->text, LKS_STR("],"));
}

/* The same in the bridge's protocol; the reply in `out`. */
static void forward(struct lks_schedsim *m, const char *method, const char *node, const char *verb,
                    const struct lks_buf *body, struct lks_schedsim_reply *out)
{
    struct lks_http_request r;
    uint32_t at = lks_schedsim_find(m, lks_str_from(node));
    lks_http_request_init(&r);
    r.method = method;
    lks_buf_addf(&r.path, "/v1/nodes/%s%s", node, verb);
    if (body != NULL)
        lks_buf_add(&r.body, lks_buf_view(body));
    if (at != UINT32_MAX)
        lks_http_request_header(&r, "If-Match", "\"%" PRIu64 "\"", m->nodes[at].now.revision);
    lks_http_request_header(&r, "Lockstep-Epoch", "%" PRIu64, m->epoch);
    lks_schedsim_take(m, &r, out);
    lks_http_request_fini(&r);
}

/* The owner is the first word of the reason; of a release it is the owner of the drain. */
static void write_order(const struct lks_schedsim *m, const char *node, struct lks_str asked,
                        bool *drain, struct lks_buf *out)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_json_writer w = {.out = out};
    struct lks_err err = {0};
    struct lks_str owner, reason;
    uint32_t at = lks_schedsim_find(m, lks_str_from(node));
    LKS_ASSERT(lks_docs_init(&docs, "request", &err) == LKS_OK);
    LKS_ASSERT(lks_json_parse(asked, &docs, &err) == LKS_OK);
    const struct lks_doc *state = lks_doc_member(docs.first, "state");
    LKS_ASSERT(state != NULL && state->first != NULL);
    *drain = lks_str_is(state->first->text, "DRAIN");
    LKS_ASSERT(*drain || lks_str_is(state->first->text, "UNDRAIN"));
    lks_str_cut(lks_doc_text(docs.first, "reason"), ' ', &owner, &reason);
    struct lks_str has = lks_str_from(at != UINT32_MAX ? m->nodes[at].now.owner : "none");
    if (!*drain)
        owner = has;
    lks_json_begin(&w, NULL, '{');
    lks_json_text(&w, "owner", owner);
    if (*drain && !lks_str_eq(owner, has)) /* Slurm lets every reason replace the one before */
        lks_json_text(&w, "from", has);
    if (*drain) {
        lks_json_text(&w, "reason", reason);
        lks_json_bool(&w, "checkpoint", false);
    }
    lks_json_end(&w, '}');
}

/* What became of the request, as slurmrestd puts it: its own answers are 200 and 500. */
static void finish(struct answer *a, struct lks_schedsim_reply *out, const char *error)
{
    if (error != NULL)
        lks_buf_addf(&a->text, "\"errors\":[%s],", error);
    else
        lks_buf_add(&a->text, LKS_STR("\"errors\":[],"));
    put_meta(a);
    lks_buf_add(&a->text, LKS_STR("}"));
    out->status = error != NULL ? 500 : 200;
    lks_buf_truncate(&out->body, 0);
    lks_buf_add(&out->body, lks_buf_view(&a->text));
}

static void show(struct answer *a, bool jobs, struct lks_schedsim_reply *out)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    LKS_ASSERT(lks_docs_init(&docs, "reply", &err) == LKS_OK);
    if (lks_json_parse(lks_buf_view(&out->body), &docs, &err) != LKS_OK)
        return; /* a fault: it is garbage here as well */
    if (lks_doc_member(docs.first, "jobs") == NULL)
        return; /* of another version: it is as unreadable here */
    if (jobs)
        put_jobs(a, docs.first);
    else
        put_node(a, docs.first);
    finish(a, out, NULL);
}

void slurmrestd_model_take(struct lks_schedsim *m, const char *version,
                           const struct lks_http_request *request, struct lks_schedsim_reply *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf order = LKS_BUF(LKS_HTTP_BODY_MAX);
    struct answer a = {.version = version,
                       .old = strcmp(version, "v0.0.38") == 0,
                       .text = LKS_BUF(LKS_HTTP_BODY_MAX)};
    char prefix[64], node[64];
    struct lks_str path = lks_buf_view(&request->path);
    bool drain = false, writes = strcmp(request->method, "POST") == 0;
    int len = snprintf(prefix, sizeof(prefix), "/slurm/%s/", version);
    if (!lks_str_starts(path, prefix) || (writes && a.old)) {
        out->status = lks_str_starts(path, prefix) ? 405 : 404;
        out->delay = 0;
        lks_buf_truncate(&out->body, 0);
        return;
    }
    bool jobs = lks_str_is((struct lks_str){path.ptr + len, path.len - (size_t)len}, "jobs");
    snprintf(node, sizeof(node), "%s", lks_intern_text(&m->names, 0).ptr);
    if (!jobs)
        snprintf(node, sizeof(node), "%s", path.ptr + len + strlen("node/"));
    if (writes)
        write_order(m, node, lks_buf_view(&request->body), &drain, &order);
    forward(m,
            !writes ? "GET"
            : drain ? "PUT"
                    : "POST",
            node,
            !writes ? ""
            : drain ? "/drain"
                    : "/release",
            writes ? &order : NULL, out);
    lks_buf_add(&a.text, LKS_STR("{"));
    if (out->status == 200 && writes)
        finish(&a, out, NULL);
    else if (out->status == 200)
        show(&a, jobs, out);
    else if (out->status == 404)
        finish(&a, out, "{\"error\":\"Invalid node name specified\",\"error_number\":2018}");
    else if (out->status == 409)
        finish(&a, out, "{\"error\":\"Invalid node state specified\",\"error_number\":2028}");
    lks_buf_fini(&a.text);
}
