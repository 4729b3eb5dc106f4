#include "lab/bmcd/control.h"

#include "codec/format/json.h"
#include "drivers/http/httpd.h"
#include "lab/bmcd/faults.h"

#include <stdio.h>

#define ANSWER_MAX ((size_t)256 << 20)
#define BODY_MAX   ((size_t)64 << 10)
#define PREFIX     "/bmcs"
#define JSON       "application/json"

enum { CONNECTIONS = 64, FIRST_MS = 10000, REQUEST_MS = 60000, IDLE_MS = 60000, NAME_MAX_ = 256 };

static void answer(struct lks_httpd_exchange *x, int status, const struct lks_buf *body)
{
    lks_httpd_reply(
        x, &(struct lks_httpd_reply){.status = status, .type = JSON, .body = lks_buf_view(body)});
}

static void refuse(struct lks_httpd_exchange *x, const struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = {0};
    struct lks_json_writer w = {.out = &body};
    lks_buf_init(&body, BODY_MAX);
    lks_json_begin(&w, NULL, '{');
    lks_json_cstr(&w, "error", err->msg);
    lks_json_end(&w, '}');
    lks_buf_addc(&body, '\n');
    answer(x, lks_err_code_info(err->code)->http, &body);
}

static struct lks_box *find(const struct lks_control *c, struct lks_str name)
{
    for (size_t i = 0; i < c->count; i++) {
        if (lks_str_eq(lks_box_layout(c->boxes[i])->name, name))
            return c->boxes[i];
    }
    return NULL;
}

static void tell_all(const struct lks_control *c, struct lks_httpd_exchange *x)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = {0};
    struct lks_json_writer w = {.out = &body};
    lks_buf_init(&body, ANSWER_MAX);
    lks_json_begin(&w, NULL, '{');
    lks_json_begin(&w, "bmcs", '[');
    for (size_t i = 0; i < c->count; i++)
        lks_box_truth(c->boxes[i], &w);
    lks_json_end(&w, ']');
    lks_json_end(&w, '}');
    lks_buf_addc(&body, '\n');
    answer(x, 200, &body);
}

static void tell_one(struct lks_box *b, struct lks_httpd_exchange *x)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = {0};
    struct lks_json_writer w = {.out = &body};
    lks_buf_init(&body, ANSWER_MAX);
    lks_box_truth(b, &w);
    lks_buf_addc(&body, '\n');
    answer(x, 200, &body);
}

/* ---- What goes wrong on command. ---- */

static enum lks_code read_number(const struct lks_doc *doc, const char *key, int64_t most,
                                 int64_t *out, struct lks_err *err)
{
    const struct lks_doc *member = lks_doc_member(doc, key);
    if (member == NULL)
        return LKS_OK;
    if (member->kind != LKS_DOC_NUMBER || member->number < 0 || member->number > most)
        return lks_fail(err, LKS_E_INVALID, "'%s' is not a number up to %lld", key,
                        (long long)most);
    *out = member->number;
    return LKS_OK;
}

static enum lks_code read_fault(const struct lks_doc *doc, struct lks_bmcsim_fault_set *out,
                                struct lks_err *err)
{
    int64_t amount = 0, times = 1;
    if (read_number(doc, "amount", LKS_DOC_NUMBER_MAX, &amount, err) != LKS_OK ||
        read_number(doc, "times", UINT32_MAX, &times, err) != LKS_OK)
        return err->code;
    out->at = lks_doc_text(doc, "at");
    out->amount = (uint64_t)amount;
    out->times = (uint32_t)times;
    return lks_faults_word(lks_doc_text(doc, "fault"), &out->fault, err);
}

static enum lks_code read_power(const struct lks_doc *doc, struct lks_bmcsim_fault_set *out,
                                struct lks_err *err)
{
    static const char *const phases[] = {"upload", "staging", "activating", "reset"};
    struct lks_str lost = lks_doc_text(doc, "lost");
    *out = (struct lks_bmcsim_fault_set){.fault = LKS_FAULT_POWER_LOSS, .at = lost, .times = 1};
    for (size_t i = 0; i < LKS_COUNT(phases); i++) {
        if (lks_str_is(lost, phases[i]))
            return LKS_OK;
    }
    return lks_fail(err, LKS_E_INVALID,
                    "power is {\"lost\": PHASE}, one of upload, staging, activating, reset");
}

static enum lks_code spoil(struct lks_box *b, struct lks_str act, struct lks_str body,
                           struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_bmcsim_fault_set set = {0};
    bool power = lks_str_is(act, "power");
    if (lks_docs_init(&docs, "request", err) != LKS_OK ||
        lks_json_parse(body, &docs, err) != LKS_OK)
        return err->code;
    enum lks_code code =
        power ? read_power(docs.first, &set, err) : read_fault(docs.first, &set, err);
    if (code != LKS_OK)
        return code;
    if (!lks_box_fault(b, &set))
        return lks_fail(err, LKS_E_REFUSED, "a recorded tree has no faults");
    return LKS_OK;
}

static enum lks_code act_on(const struct lks_control *c, struct lks_httpd_exchange *x,
                            const struct lks_httpd_request *request, struct lks_str rest,
                            struct lks_err *err)
{
    bool get = strcmp(request->method, "GET") == 0, post = strcmp(request->method, "POST") == 0;
    struct lks_str name, act;
    bool acts = lks_str_cut(rest, '/', &name, &act);
    struct lks_box *b = find(c, name);
    if (b == NULL)
        return lks_fail(err, LKS_E_NOT_FOUND, "no BMC '%" LKS_STR_FMT "'", LKS_STR_ARG(name));
    if (!acts && get) {
        tell_one(b, x);
        return LKS_OK;
    }
    if (!acts || !post || !(lks_str_is(act, "fault") || lks_str_is(act, "power")))
        return lks_fail(err, LKS_E_NOT_FOUND,
                        "there are GET /bmcs, GET /bmcs/NAME, POST /bmcs/NAME/fault and .../power");
    if (spoil(b, act, request->body, err) != LKS_OK)
        return err->code;
    tell_one(b, x);
    return LKS_OK;
}

static void on_request(void *ctx, struct lks_httpd_exchange *x,
                       const struct lks_httpd_request *request)
{
    const struct lks_control *c = ctx;
    struct lks_str path = lks_str_from(request->path);
    struct lks_err err = {0};
    enum lks_code code = LKS_OK;
    if (lks_str_is(path, PREFIX) && strcmp(request->method, "GET") == 0) {
        tell_all(c, x);
    } else if (lks_str_starts(path, PREFIX "/")) {
        size_t skip = strlen(PREFIX "/");
        code = act_on(c, x, request, (struct lks_str){path.ptr + skip, path.len - skip}, &err);
    } else {
        code = lks_fail(&err, LKS_E_NOT_FOUND, "nothing here; there is GET " PREFIX);
    }
    if (code != LKS_OK)
        refuse(x, &err);
}

enum lks_code lks_control_open(struct lks_control *c, uv_loop_t *loop, const char *path,
                               struct lks_err *err)
{
    char address[NAME_MAX_];
    int len = snprintf(address, sizeof(address), "unix:%s", path);
    if (len < 0 || (size_t)len >= sizeof(address))
        return lks_fail(err, LKS_E_USAGE, "--control: the path is too long");
    const struct lks_httpd_options options = {.address = address,
                                              .connections = CONNECTIONS,
                                              .body_max = BODY_MAX,
                                              .first_ms = FIRST_MS,
                                              .request_ms = REQUEST_MS,
                                              .idle_ms = IDLE_MS,
                                              .socket_mode = 0600};
    if (lks_httpd_new(loop, &options, on_request, NULL, c, &c->httpd, err) != LKS_OK)
        return lks_wrap(err, "--control");
    return LKS_OK;
}

void lks_control_close(struct lks_control *c)
{
    lks_httpd_free(c->httpd);
    c->httpd = NULL;
}
