/*
 * What a bridge is asked about a whole site: one request, one answer.
 *
 *     GET    /v1/jobs                  {age, jobs: [{id, user, ...}]}
 *     POST   /v1/jobs/ID/signal        {signal, batch, started}
 *     POST   /v1/jobs/ID/requeue       {started}
 *     PUT    /v1/epoch
 *     PUT    /v1/truth                 {truth: [{nodes, features, digest}]}
 *                                      {failed: [{node, error}]}
 *     GET    /v1/runs?after=MS&id=ID   {age, from, until, more, runs: [{at, run: {id, ...}}]}
 *     GET    /v1/reservations          {age, reservations: [{name, nodes, from, until, own}]}
 *     PUT    /v1/reservations/NAME     {nodes, from, until}
 *     DELETE /v1/reservations/NAME
 *     PUT    /v1/policy                {policy: {pools, images}}   {written}
 *
 * Writes have Lockstep-Epoch: N. A request that must not be sent twice ends with the first answer
 * that leaves its outcome open. Those about a job name the start of the run that is meant, as the
 * list had it: a bridge refuses them for another run (409 with `started`, that of the run that is
 * there), so that one that was delayed never reaches the next run. A bridge of before ignores it.
 */
#include "codec/format/http.h"
#include "codec/format/json.h"
#include "codec/notation/hostlist.h"
#include "core/sched/jobs.h"
#include "drivers/sched/sched_answer.h"
#include "drivers/sched/sched_drivers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define AGAIN LKS_SECOND

struct asking {
    struct lks_conversation head;
    struct lks_sched_site_wish wish; /* its texts are the caller's */
};

/* The requests ------------------------------------------------------------------------------ */

static void write_signal(const struct lks_sched_site_wish *wish, struct lks_json_writer *w)
{
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "signal", wish->signal);
    lks_json_bool(w, "batch", wish->batch);
    lks_json_int(w, "started", (int64_t)wish->started);
    lks_json_end(w, '}');
}

static void write_requeue(const struct lks_sched_site_wish *wish, struct lks_json_writer *w)
{
    lks_json_begin(w, NULL, '{');
    lks_json_int(w, "started", (int64_t)wish->started);
    lks_json_end(w, '}');
}

/* What is published ------------------------------------------------------------------------- */

static bool is_alike(const struct lks_sched_told *a, const struct lks_sched_told *b)
{
    return strcmp(a->truth.features, b->truth.features) == 0 &&
           strcmp(a->truth.digest, b->truth.digest) == 0;
}

/* The first node and all that follow it with the same truth. */
static void write_group(const struct lks_sched_told *told, uint32_t count, bool *written,
                        struct lks_json_writer *w)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf list = LKS_BUF(LKS_HTTP_BODY_MAX);
    struct lks_str names[LKS_SCHED_TOLD_MAX], word, features = lks_str_from(told->truth.features);
    struct lks_err err = {0};
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (written[i] || !is_alike(told, &told[i]))
            continue;
        written[i] = true;
        names[found++] = told[i].node;
    }
    if (lks_hostlist_fold(names, found, &list, &err) != LKS_OK)
        w->out->failed = err.code; /* no such name is in a request that was checked */
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "nodes", lks_buf_view(&list));
    lks_json_begin(w, "features", '[');
    for (bool more = features.len > 0; more;) {
        more = lks_str_cut(features, ',', &word, &features);
        lks_json_text(w, NULL, word);
    }
    lks_json_end(w, ']');
    lks_json_cstr(w, "digest", told->truth.digest);
    lks_json_end(w, '}');
}

static void write_truth(const struct lks_sched_site_wish *wish, struct lks_json_writer *w)
{
    bool written[LKS_SCHED_TOLD_MAX] = {false};
    lks_json_begin(w, NULL, '{');
    lks_json_begin(w, "truth", '[');
    for (uint32_t i = 0; i < wish->told_count; i++) {
        if (!written[i])
            write_group(wish->told + i, wish->told_count - i, written + i, w);
    }
    lks_json_end(w, ']');
    lks_json_end(w, '}');
}

/* Nodes that the answer does not name show it. */
static enum lks_code take_truth(const struct lks_sched_site_wish *wish, struct lks_str body,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    if (lks_docs_init(&docs, "scheduler", err) != LKS_OK ||
        lks_json_parse(body, &docs, err) != LKS_OK)
        return err->code;
    const struct lks_doc *failed = lks_doc_member(docs.first, "failed");
    if (failed == NULL || failed->kind != LKS_DOC_LIST)
        return lks_fail(err, LKS_E_INVALID, "the answer does not say which nodes failed");
    for (const struct lks_doc *one = failed->first; one != NULL; one = one->next) {
        struct lks_str node = lks_doc_text(one, "node"), why = lks_doc_text(one, "error");
        for (uint32_t i = 0; i < wish->told_count; i++) {
            struct lks_sched_told *told = &wish->told[i];
            if (!lks_str_eq(told->node, node))
                continue;
            snprintf(told->why, sizeof(told->why), "%" LKS_STR_FMT,
                     LKS_STR_ARG(why.len > 0 ? why : LKS_STR("no reason")));
            lks_str_make_printable(told->why);
        }
    }
    return LKS_OK;
}

/* The submission policy --------------------------------------------------------------------- */

static void write_policy(const struct lks_sched_site_wish *wish, struct lks_json_writer *w)
{
    lks_buf_add(w->out, wish->policy);
}

static enum lks_code take_policy(const struct lks_sched_site_wish *wish, struct lks_str body,
                                 struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    if (lks_docs_init(&docs, "scheduler", err) != LKS_OK ||
        lks_json_parse(body, &docs, err) != LKS_OK)
        return err->code;
    const struct lks_doc *written = lks_doc_member(docs.first, "written");
    if (written == NULL || written->kind != LKS_DOC_BOOL)
        return lks_fail(err, LKS_E_INVALID, "the answer does not say whether it was written");
    if (wish->written != NULL)
        *wish->written = written->truth;
    return LKS_OK;
}

static enum lks_code take_jobs(const struct lks_sched_site_wish *wish, struct lks_str body,
                               struct lks_err *err)
{
    return lks_sched_jobs_read(body, wish->jobs, err);
}

/* Reservations ------------------------------------------------------------------------------ */

static void write_reservation(const struct lks_sched_site_wish *wish, struct lks_json_writer *w)
{
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "nodes", wish->reservation.nodes);
    lks_json_int(w, "from", (int64_t)wish->reservation.from);
    lks_json_int(w, "until", (int64_t)wish->reservation.until);
    lks_json_end(w, '}');
}

static enum lks_code take_reservations(const struct lks_sched_site_wish *wish, struct lks_str body,
                                       struct lks_err *err)
{
    return lks_sched_reservations_read(body, wish->listed, err);
}

/* Runs ---------------------------------------------------------------------------------------- */

static void write_place(const struct lks_sched_site_wish *wish, struct lks_buf *path)
{
    lks_buf_addf(path, "?max=%d&after=%" PRIu64 "&id=", LKS_SCHED_RUNS_PAGE, wish->after.at);
    lks_http_escape(path, wish->after.id);
}

static enum lks_code take_runs(const struct lks_sched_site_wish *wish, struct lks_str body,
                               struct lks_err *err)
{
    return lks_sched_runs_read(body, wish->after, wish->runs, err);
}

/* One row for each verb. The id of a job, or the name of a reservation, stands between `path` and
 * `behind`. */
static const struct verb {
    const char *method, *path, *behind;
    void (*query)(const struct lks_sched_site_wish *wish, struct lks_buf *path);
    void (*write)(const struct lks_sched_site_wish *wish, struct lks_json_writer *w);
    enum lks_code (*take)(const struct lks_sched_site_wish *wish, struct lks_str body,
                          struct lks_err *err);
    lks_ms patience;
    size_t answer_max;
    bool repeats; /* it may be sent again where no answer came */
} verbs[LKS_SCHED_SITE_VERB_COUNT] = {
    [LKS_SCHED_SITE_JOBS] = {.method = "GET",
                             .path = "/v1/jobs",
                             .take = take_jobs,
                             .patience = LKS_SCHED_LISTING,
                             .answer_max = LKS_SCHED_JOBS_BYTES_MAX,
                             .repeats = true},
    [LKS_SCHED_SITE_SIGNAL] = {.method = "POST",
                               .path = "/v1/jobs/",
                               .behind = "/signal",
                               .write = write_signal,
                               .patience = LKS_SCHED_PATIENCE},
    [LKS_SCHED_SITE_LEAD] = {.method = "PUT",
                             .path = "/v1/epoch",
                             .patience = LKS_SCHED_PATIENCE,
                             .repeats = true},
    [LKS_SCHED_SITE_PUBLISH] = {.method = "PUT",
                                .path = "/v1/truth",
                                .write = write_truth,
                                .take = take_truth,
                                .patience = LKS_SCHED_PATIENCE,
                                .repeats = true},
    [LKS_SCHED_SITE_POLICY] = {.method = "PUT",
                               .path = "/v1/policy",
                               .write = write_policy,
                               .take = take_policy,
                               .patience = LKS_SCHED_PATIENCE,
                               .repeats = true},
    [LKS_SCHED_SITE_RESERVATIONS] = {.method = "GET",
                                     .path = "/v1/reservations",
                                     .take = take_reservations,
                                     .patience = LKS_SCHED_PATIENCE,
                                     .answer_max = LKS_SCHED_RESERVATIONS_SIZE,
                                     .repeats = true},
    [LKS_SCHED_SITE_RESERVE] = {.method = "PUT",
                                .path = "/v1/reservations/",
                                .behind = "",
                                .write = write_reservation,
                                .patience = LKS_SCHED_PATIENCE,
                                .repeats = true},
    [LKS_SCHED_SITE_UNRESERVE] = {.method = "DELETE",
                                  .path = "/v1/reservations/",
                                  .behind = "",
                                  .patience = LKS_SCHED_PATIENCE,
                                  .repeats = true},
    [LKS_SCHED_SITE_RUNS] = {.method = "GET",
                             .path = "/v1/runs",
                             .query = write_place,
                             .take = take_runs,
                             .patience = LKS_SCHED_LISTING,
                             .answer_max = LKS_SCHED_RUNS_BYTES,
                             .repeats = true},
    [LKS_SCHED_SITE_REQUEUE] = {.method = "POST",
                                .path = "/v1/jobs/",
                                .behind = "/requeue",
                                .write = write_requeue,
                                .patience = LKS_SCHED_PATIENCE},
};

/* What a request names; empty: the site. */
static struct lks_str named(const struct lks_sched_site_wish *wish)
{
    return wish->job.len > 0 ? wish->job : wish->reservation.name;
}

static lks_ms ask(const void *value, struct lks_http_request *out)
{
    const struct asking *a = value;
    const struct verb *v = &verbs[a->wish.verb];
    struct lks_json_writer w = {.out = &out->body};
    out->method = v->method;
    out->answer_max = v->answer_max;
    lks_buf_addf(&out->path, "%s", v->path);
    if (v->behind != NULL)
        lks_buf_addf(&out->path, "%" LKS_STR_FMT "%s", LKS_STR_ARG(named(&a->wish)), v->behind);
    if (v->query != NULL)
        v->query(&a->wish, &out->path);
    if (strcmp(v->method, "GET") != 0)
        lks_http_request_header(out, "Lockstep-Epoch", "%" PRIu64, a->wish.epoch);
    if (v->write != NULL) {
        lks_http_request_header(out, "Content-Type", "application/json");
        v->write(&a->wish, &w);
    }
    return v->patience;
}

/* The answers ------------------------------------------------------------------------------- */

static void take(struct asking *a, const struct lks_http_response *answer)
{
    const struct verb *v = &verbs[a->wish.verb];
    struct lks_err err = {0};
    if (v->take != NULL && v->take(&a->wish, answer->body, &err) != LKS_OK)
        lks_conversation_fail(&a->head, err.code, "%s", err.msg);
    else
        lks_conversation_end(&a->head);
}

static enum lks_code code_of(const struct lks_sched_answer *is)
{
    switch (is->other_run ? 404 : is->status) {
    case 401:
    case 403:
        return LKS_E_DENIED;
    case 404:
        return LKS_E_NOT_FOUND;
    default:
        return LKS_E_REFUSED;
    }
}

static void hear(void *value, lks_ms now, const struct lks_http_response *answer)
{
    struct asking *a = value;
    struct lks_sched_answer is;
    char subject[LKS_SCHED_RESERVATION_NAME + 16] = "the site";
    lks_sched_answer_read(answer, &is);
    bool open = is.status == 0 || is.status >= 500; /* whether it was done is open */
    struct lks_str name = named(&a->wish);
    if (name.len > 0)
        snprintf(subject, sizeof(subject), "%s %" LKS_STR_FMT,
                 a->wish.job.len > 0 ? "job" : "reservation", LKS_STR_ARG(name));
    if (is.status == 200)
        take(a, answer);
    else if (is.busy)
        lks_sched_answer_retry(&a->head, now + lks_http_response_retry(answer, AGAIN), is.why);
    else if (open && verbs[a->wish.verb].repeats)
        lks_sched_answer_retry(&a->head, now + (AGAIN << a->head.tries), is.why);
    else if (open)
        lks_conversation_fail(&a->head, LKS_E_TIMEOUT, "%s: the outcome is unknown: %s", subject,
                              is.why);
    else if (!lks_sched_answer_outdated(&a->head, &is, a->wish.epoch, subject))
        lks_conversation_fail(&a->head, code_of(&is), "%s: %s", subject, is.why);
}

const struct lks_conversation_ops lks_sched_site_talk = {
    .name = "sched-site",
    .size = sizeof(struct asking),
    .ask = ask,
    .hear = hear,
    .hears_all = true,
};

enum lks_code lks_sched_site_begin(void *value, const struct lks_sched_site_wish *wish,
                                   struct lks_err *err)
{
    struct asking *a = value;
    if (lks_sched_check_site(wish, err) != LKS_OK)
        return err->code;
    *a = (struct asking){.head = {.deadline = wish->deadline}, .wish = *wish};
    return LKS_OK;
}
