/*
 * Prometheus' HTTP API, which others speak, too: one instant query by POST /api/v1/query, whose
 * answer is a vector. The moment is asked for in the query's own time, so that what was before a
 * change can be asked for after it.
 *
 * A node is named by a label. Which one depends on who exports: DCGM's exporter has "Hostname",
 * node exporters and vLLM only "instance" (with a port), Kubernetes "node".
 */
#include "drivers/bmc/bmc_json.h"
#include "port/measures.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AGAIN (2 * LKS_SECOND)

struct asking {
    struct lks_conversation head;
    char query[LKS_MEASURE_QUERY_MAX + 1];
    char label[LKS_MEASURE_LABEL_MAX + 1];
    enum lks_measure_login login;
    char user[sizeof(((struct lks_bmc_secret *)0)->user)];
    char password[sizeof(((struct lks_bmc_secret *)0)->password)];
    lks_ms at;
    struct lks_measures *out; /* the caller's */
};

/* Asking ------------------------------------------------------------------------------------ */

/* As a form has it: letters, digits and four others stand for themselves. */
static void add_escaped(struct lks_buf *out, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++) {
        bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                     (*p >= '0' && *p <= '9') || strchr("-_.~", *p) != NULL;
        lks_buf_addf(out, plain ? "%c" : "%%%02X", (unsigned)*p);
    }
}

static lks_ms ask(const void *value, struct lks_http_request *out)
{
    const struct asking *a = value;
    out->method = "POST";
    lks_buf_add(&out->path, LKS_STR("/api/v1/query"));
    lks_http_request_header(out, "Content-Type", "application/x-www-form-urlencoded");
    lks_http_request_header(out, "Accept", "application/json");
    if (a->login == LKS_MEASURE_BEARER)
        lks_http_request_header(out, "Authorization", "Bearer %s", a->password);
    if (a->login == LKS_MEASURE_BASIC)
        lks_http_request_basic(out, a->user, a->password);
    lks_buf_add(&out->body, LKS_STR("query="));
    add_escaped(&out->body, a->query);
    lks_buf_addf(&out->body, "&time=%" PRIu64 ".%03u&timeout=%us", a->at / LKS_SECOND,
                 (unsigned)(a->at % LKS_SECOND), (unsigned)(LKS_MEASURE_PATIENCE / LKS_SECOND));
    return LKS_MEASURE_PATIENCE;
}

/* Reading ----------------------------------------------------------------------------------- */

static struct lks_str label_text(const struct lks_doc *metric, const char *label)
{
    struct lks_str text = lks_doc_text(metric, label);
    return lks_str_printable(text) ? text : LKS_STR("");
}

/* "10.0.0.7:9400" and "gpu7:9100" without their port; an address in brackets is left as it is. */
static struct lks_str without_port(struct lks_str text)
{
    struct lks_str host, port;
    if (text.len == 0 || text.ptr[0] == '[' || !lks_str_cut(text, ':', &host, &port))
        return text;
    return lks_str_find(port, LKS_STR(":")) >= 0 ? text : host;
}

static struct lks_str node_of(const struct asking *a, const struct lks_doc *metric)
{
    static const char *const labels[] = {"node",     "Hostname",        "hostname",
                                         "nodename", "kubernetes_node", "instance"};
    struct lks_str found = LKS_STR("");
    if (a->label[0] != '\0')
        return without_port(label_text(metric, a->label));
    for (size_t i = 0; found.len == 0 && i < LKS_COUNT(labels); i++)
        found = label_text(metric, labels[i]);
    return without_port(found);
}

/* Its numbers are texts: "1.5e+06", and "NaN" or "+Inf" where there is none. */
static bool read_number(struct lks_str text, double *out)
{
    char space[64], *end = NULL;
    if (text.len == 0 || text.len >= sizeof(space))
        return false;
    memcpy(space, text.ptr, text.len);
    space[text.len] = '\0';
    double value = strtod(space, &end);
    if (*end != '\0' || !isfinite(value))
        return false;
    *out = value;
    return true;
}

static bool read_point(const struct asking *a, const struct lks_doc *series,
                       struct lks_measure_point *out)
{
    const struct lks_doc *value = lks_doc_member(series, "value");
    out->name = node_of(a, lks_doc_member(series, "metric"));
    return out->name.len > 0 && value != NULL && value->kind == LKS_DOC_LIST && value->count == 2 &&
           value->last->kind == LKS_DOC_TEXT && read_number(value->last->text, &out->value);
}

static int by_name(const void *x, const void *y)
{
    const struct lks_measure_point *a = x, *b = y;
    return lks_str_cmp(a->name, b->name);
}

/* A node that is there twice is not there: which of the two it is cannot be known. */
static void drop_doubles(struct lks_measures *m)
{
    size_t kept = 0;
    for (size_t i = 0, next; i < m->count; i = next) {
        next = i + 1;
        while (next < m->count && lks_str_eq(m->points[next].name, m->points[i].name))
            next++;
        if (next == i + 1)
            m->points[kept++] = m->points[i];
        else
            m->strange += next - i;
    }
    m->count = kept;
}

static bool take(struct asking *a, const struct lks_doc *result)
{
    struct lks_measures *m = a->out;
    m->points = lks_arena_array(&m->arena, result->count + 1, sizeof(*m->points));
    if (m->points == NULL)
        return false;
    for (const struct lks_doc *series = result->first; series != NULL; series = series->next) {
        struct lks_measure_point *p = &m->points[m->count];
        if (!read_point(a, series, p)) {
            m->strange++;
            continue;
        }
        p->name = lks_arena_copy(&m->arena, p->name);
        if (p->name.ptr == NULL)
            return false;
        m->count++;
    }
    qsort(m->points, m->count, sizeof(*m->points), by_name);
    drop_doubles(m);
    return true;
}

/* Making something of it -------------------------------------------------------------------- */

static void refuse(struct asking *a, const struct lks_doc *doc, int status)
{
    struct lks_str error = lks_doc_text(doc, "error");
    enum { WORDS_MAX = 256 };
    int len = (int)(error.len < WORDS_MAX ? error.len : WORDS_MAX);
    bool denied = status == 401 || status == 403;
    lks_conversation_fail(&a->head, denied ? LKS_E_DENIED : LKS_E_INVALID,
                          "it does not answer the query (status %d)%s%.*s", status,
                          len > 0 ? ": " : "", len, len > 0 ? error.ptr : "");
}

/* In the end it is told what came, if anything did: a proxy's page is not silence. */
static void retry(struct asking *a, lks_ms now, const struct lks_http_response *answer,
                  const struct lks_err *why)
{
    lks_conversation_retry(&a->head, now + (AGAIN << a->head.tries));
    if (a->head.ended && answer != NULL)
        lks_conversation_fail(&a->head, LKS_E_UNAVAILABLE,
                              "its answer cannot be read (status %d): %s", answer->status,
                              why->msg);
}

static void hear(void *value, lks_ms now, const struct lks_http_response *answer)
{
    struct asking *a = value;
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    bool read = answer != NULL && lks_docs_init(&docs, "metrics", &err) == LKS_OK &&
                lks_bmc_json_parse(answer->body, &docs, &err) == LKS_OK;
    if (answer != NULL && answer->status != 200) {
        refuse(a, read ? docs.first : NULL, answer->status);
        return;
    }
    if (!read) {
        retry(a, now, answer, &err);
        return;
    }
    const struct lks_doc *data = lks_doc_member(docs.first, "data");
    const struct lks_doc *result = lks_doc_member(data, "result");
    if (!lks_str_is(lks_doc_text(docs.first, "status"), "success") ||
        !lks_str_is(lks_doc_text(data, "resultType"), "vector") || result == NULL ||
        result->kind != LKS_DOC_LIST)
        lks_conversation_fail(&a->head, LKS_E_INVALID,
                              "its answer has no vector: the query has to have one value a node");
    else if (!take(a, result))
        lks_conversation_fail(&a->head, LKS_E_LIMIT, "its answer is too large");
    else
        lks_conversation_end(&a->head);
}

static enum lks_code begin(void *value, const struct lks_measure_wish *wish,
                           struct lks_measures *out, struct lks_err *err)
{
    struct asking *a = value;
    if (wish->query.len == 0 || wish->query.len >= sizeof(a->query) ||
        memchr(wish->query.ptr, '\0', wish->query.len) != NULL)
        return lks_fail(err, LKS_E_INVALID, "a query has 1 to %d bytes", LKS_MEASURE_QUERY_MAX);
    if (wish->label.len >= sizeof(a->label))
        return lks_fail(err, LKS_E_INVALID, "a label has at most %d bytes", LKS_MEASURE_LABEL_MAX);
    *a = (struct asking){
        .head = {.deadline = wish->deadline}, .login = wish->login, .at = wish->at, .out = out};
    memcpy(a->query, wish->query.ptr, wish->query.len);
    if (wish->label.len > 0)
        memcpy(a->label, wish->label.ptr, wish->label.len);
    if (wish->login != LKS_MEASURE_OPEN) {
        memcpy(a->user, wish->secret->user, sizeof(a->user));
        memcpy(a->password, wish->secret->password, sizeof(a->password));
    }
    return LKS_OK;
}

static const struct lks_conversation_ops talk = {
    .name = "prometheus", .size = sizeof(struct asking), .ask = ask, .hear = hear};

const struct lks_measure_driver lks_measure_prometheus = {
    .name = "prometheus", .talk = &talk, .begin = begin};
