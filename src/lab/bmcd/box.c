#include "lab/bmcd/box.h"

#include "codec/format/json_fields.h"
#include "drivers/http/httpd.h"
#include "lab/bmcd/pull.h"
#include "lab/bmcd/recorded.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#define BODY_MAX   ((size_t)1 << 20)                          /* of what is no upload */
#define UPLOAD_MAX (LKS_BMCSIM_IMAGE_MAX + ((size_t)1 << 20)) /* an image in its envelope */
#define HEAD_MAX   ((size_t)32 << 10)
#define PATH_MAX_  ((size_t)16 << 10)

enum {
    CONNECTIONS = 64,
    FIRST_MS = 10000,
    REQUEST_MS = 120000, /* an upload over a slow link */
    IDLE_MS = 60000,
    METHOD_SIZE = 16,
    PAIRS_MAX = 256, /* keys with certificates that are made */
    SHARED_MAX = (LKS_LAYOUT_MAX + PAIRS_MAX - 1) / PAIRS_MAX,
};

struct lks_box {
    struct lks_box_site *site;
    size_t number; /* in the layout */
    struct lks_bmcsim *model;
    struct lks_httpd *httpd;
    uv_timer_t tick;
    bool pulling, closed, stranger;
};

/* One request in progress. */
struct ask {
    struct lks_box *box;
    struct lks_httpd_exchange *x;
    char method[METHOD_SIZE];
    struct lks_buf path, head, body;
    struct lks_bmcsim_reply reply;
    uv_timer_t timer;
    bool timed, uploading;
};

lks_ms lks_box_now(const struct lks_box_site *site)
{
    return site->began_wall + (uv_hrtime() - site->began) / 1000000;
}

const struct lks_layout_bmc *lks_box_layout(const struct lks_box *b)
{
    return &b->site->layout->bmcs[b->number];
}

static void note(struct lks_box *b, enum lks_level level, const char *msg, const char *why)
{
    const struct lks_log_field fields[] = {{"bmc", lks_box_layout(b)->name},
                                           {"why", lks_str_from(why)}};
    lks_log_event(&b->site->log, level, msg, fields, LKS_COUNT(fields));
}

/* ---- What a model does between requests. ---- */

static void look_after(struct lks_box *b);

static void on_tick(uv_timer_t *timer)
{
    struct lks_box *b = timer->data;
    lks_bmcsim_tick(b->model, lks_box_now(b->site));
    look_after(b);
}

static void on_pulled(void *ctx, struct lks_str bytes, const char *why)
{
    struct lks_box *b = ctx;
    b->pulling = false;
    if (b->closed)
        return;
    if (why != NULL)
        note(b, LKS_LEVEL_WARNING, "an image cannot be fetched", why);
    lks_bmcsim_job_fetched(b->model, lks_box_now(b->site), bytes);
    look_after(b);
}

static void pull(struct lks_box *b)
{
    struct lks_str uri;
    if (b->pulling || !lks_bmcsim_job_wants(b->model, &uri))
        return;
    b->pulling =
        lks_pull_begin(b->site->loop, uri, b->site->pull_ca, LKS_BMCSIM_IMAGE_MAX, on_pulled, b);
    if (!b->pulling)
        lks_bmcsim_job_fetched(b->model, lks_box_now(b->site), LKS_STR(""));
}

/* For `count` BMCs from the `first` on: they are known by their names and addresses. */
static enum lks_code certify(const struct lks_box_site *site, const struct lks_certs *by,
                             size_t first, size_t count, struct lks_certs_pair *out,
                             struct lks_err *err)
{
    char addresses[SHARED_MAX][LKS_LAYOUT_URL_MAX];
    struct lks_str names[SHARED_MAX * 2];
    LKS_ASSERT(count <= SHARED_MAX);
    for (size_t i = 0; i < count; i++) {
        lks_layout_address(site->layout, first + i, addresses[i]);
        names[2 * i] = site->layout->bmcs[first + i].name;
        names[2 * i + 1] = lks_str_from(addresses[i]);
    }
    return lks_certs_issue(by, names, 2 * count, out, err);
}

/* Another certificate, as after a repair or an attack. */
static void change_certificate(struct lks_box *b)
{
    LKS_CLEANUP(lks_certs_pair_fini) struct lks_certs_pair pair = {0};
    struct lks_err err = {0};
    if (b->stranger || !lks_bmcsim_certificate_changed(b->model))
        return;
    b->stranger = true;
    if (certify(b->site, &b->site->strangers, b->number, 1, &pair, &err) != LKS_OK ||
        lks_httpd_certificates(b->httpd, lks_buf_view(&pair.certificate), lks_buf_view(&pair.key),
                               LKS_STR(""), &err) != LKS_OK)
        note(b, LKS_LEVEL_ERROR, "no other certificate", err.msg);
}

/* After anything that may have moved the model. */
static void look_after(struct lks_box *b)
{
    if (b->model == NULL || b->closed)
        return;
    pull(b);
    change_certificate(b);
    lks_ms now = lks_box_now(b->site), next = lks_bmcsim_next(b->model);
    if (next == UINT64_MAX)
        uv_timer_stop(&b->tick);
    else
        uv_timer_start(&b->tick, on_tick, next > now ? next - now : 1, 0);
}

/* ---- Requests. ---- */

static void ask_gone(uv_handle_t *handle)
{
    free(handle->data);
}

static void ask_end(struct ask *a)
{
    a->box->site->uploads -= a->uploading ? a->body.len : 0;
    lks_buf_fini(&a->path);
    lks_buf_fini(&a->head);
    lks_buf_fini(&a->body);
    lks_bmcsim_reply_fini(&a->reply);
    if (a->timed)
        uv_close((uv_handle_t *)&a->timer, ask_gone);
    else
        free(a);
}

static void send_answer(struct ask *a)
{
    const struct lks_bmcsim_reply *r = &a->reply;
    struct lks_str body = lks_buf_view(&r->body);
    if (r->status == 0)
        lks_httpd_drop(a->x);
    else
        lks_httpd_reply(a->x, &(struct lks_httpd_reply){.status = r->status,
                                                        .type = body.len > 0 ? r->type : NULL,
                                                        .body = body,
                                                        .headers = r->head.ptr});
    ask_end(a);
}

static void on_due(uv_timer_t *timer)
{
    send_answer(timer->data);
}

static void wait(struct ask *a, uv_timer_cb due, lks_ms ms)
{
    if (!a->timed) {
        a->timed = true;
        a->timer.data = a;
        int failed = uv_timer_init(a->box->site->loop, &a->timer);
        LKS_ASSERT(failed == 0);
    }
    uv_timer_start(&a->timer, due, ms, 0);
}

/* The model's answer to what is there of the request. */
static void put_to_model(struct ask *a, bool cut)
{
    struct lks_box *b = a->box;
    const struct lks_bmcsim_request request = {.method = a->method,
                                               .path = lks_buf_view(&a->path),
                                               .head = lks_buf_view(&a->head),
                                               .body = lks_buf_view(&a->body),
                                               .cut = cut};
    if (b->model != NULL)
        lks_bmcsim_ask(b->model, lks_box_now(b->site), &request, &a->reply);
    else
        lks_recorded_ask(b->site->tree, &request, &a->reply);
    look_after(b);
}

static void answer(struct ask *a)
{
    put_to_model(a, false);
    if (a->reply.delay > 0)
        wait(a, on_due, a->reply.delay);
    else
        send_answer(a);
}

static void add_header(void *ctx, const char *name, const char *value)
{
    struct lks_buf *head = ctx;
    for (const char *p = name; *p != '\0'; p++)
        lks_buf_addc(head, (char)tolower((unsigned char)*p));
    lks_buf_addf(head, ": %s\n", value);
}

static void add_query(void *ctx, const char *name, const char *value)
{
    struct lks_buf *path = ctx;
    bool first = memchr(path->ptr, '?', path->len) == NULL;
    lks_buf_addf(path, "%c%s%s%s", first ? '?' : '&', name, value[0] != '\0' ? "=" : "", value);
}

static struct ask *ask_new(struct lks_box *b, struct lks_httpd_exchange *x,
                           const struct lks_httpd_request *request)
{
    struct ask *a = calloc(1, sizeof(*a));
    if (a == NULL)
        return NULL;
    a->box = b;
    a->x = x;
    snprintf(a->method, sizeof(a->method), "%s", request->method);
    lks_buf_init(&a->path, PATH_MAX_);
    lks_buf_init(&a->head, HEAD_MAX);
    lks_buf_init(&a->body, UPLOAD_MAX);
    lks_bmcsim_reply_init(&a->reply);
    lks_buf_add(&a->path, lks_str_from(request->path));
    lks_httpd_queries(x, add_query, &a->path);
    lks_httpd_headers(x, add_header, &a->head);
    lks_httpd_remember(x, a);
    return a;
}

/* ---- Uploads, piece by piece. ---- */

static void refuse(struct ask *a, int status, const char *key, const char *text)
{
    a->reply.status = status;
    a->reply.type = "application/json";
    lks_buf_addf(&a->reply.body,
                 "{\"error\":{\"code\":\"Base.1.15.%s\",\"message\":\"%s\",\"@Message.ExtendedInfo"
                 "\":[{\"MessageId\":\"Base.1.15.%s\",\"Message\":\"%s\"}]}}",
                 key, text, key, text);
    send_answer(a);
}

static void on_piece(void *ctx, struct lks_buf *piece, bool last)
{
    struct ask *a = ctx;
    struct lks_box_site *site = a->box->site;
    size_t before = a->body.len;
    lks_buf_add(&a->body, lks_buf_view(piece));
    site->uploads += a->body.len - before; /* what ask_end() takes off again */
    if (a->body.failed != LKS_OK || site->uploads > LKS_BOX_UPLOADS_MAX)
        refuse(a, 503, "InsufficientStorage", "There is no memory for this upload now.");
    else if (last)
        answer(a);
    else
        lks_httpd_more(a->x);
}

static void on_fetch(uv_timer_t *timer)
{
    struct ask *a = timer->data;
    lks_httpd_fetch(a->x, on_piece, a);
}

/* Images are sent to places that each personality names in its own way; everything else that has a
 * body is an action or a session. */
static enum lks_httpd_how how_to_read(const char *method, const char *path, bool body)
{
    bool sends = strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0;
    bool uploads = sends && strstr(path, "/Actions/") == NULL && strstr(path, "Session") == NULL;
    (void)body;
    return uploads ? LKS_HTTPD_PIECES : LKS_HTTPD_WHOLE;
}

/* ---- The socket. ---- */

static void on_request(void *ctx, struct lks_httpd_exchange *x,
                       const struct lks_httpd_request *request)
{
    struct ask *a = ask_new(ctx, x, request);
    if (a == NULL) {
        lks_httpd_drop(x);
    } else if (!request->large) {
        lks_buf_add(&a->body, request->body);
        answer(a);
    } else if (request->length > UPLOAD_MAX) {
        refuse(a, 413, "PayloadTooLarge", "The image is larger than the service takes.");
    } else {
        a->uploading = true;
        wait(a, on_fetch, 0); /* a body is fetched after its handler */
    }
}

/* The client vanished: what came of an upload is all that there will be. */
static void on_gone(void *ctx, struct lks_httpd_exchange *x)
{
    struct ask *a = lks_httpd_memory(x);
    (void)ctx;
    if (a == NULL)
        return;
    if (a->uploading && a->reply.status == 0)
        put_to_model(a, true);
    ask_end(a);
}

/* Making a key and a certificate takes milliseconds. Where there are very many BMCs, some that
 * follow each other share them. */
static enum lks_code next_certificate(const struct lks_box *b, struct lks_err *err)
{
    struct lks_box_site *site = b->site;
    size_t shared = (site->layout->count + PAIRS_MAX - 1) / PAIRS_MAX;
    size_t left = site->layout->count - b->number;
    if (b->number % shared != 0)
        return LKS_OK;
    lks_certs_pair_fini(&site->pair);
    return certify(site, &site->certs, b->number, shared < left ? shared : left, &site->pair, err);
}

static enum lks_code listen_at(struct lks_box *b, struct lks_err *err)
{
    struct lks_layout *layout = b->site->layout;
    char address[LKS_LAYOUT_URL_MAX], place[LKS_LAYOUT_URL_MAX + 8];
    lks_layout_address(layout, b->number, address);
    snprintf(place, sizeof(place), "%s:%u", address, layout->port);
    if (next_certificate(b, err) != LKS_OK)
        return err->code;
    const struct lks_httpd_options options = {
        .address = place,
        .certificate = lks_buf_view(&b->site->pair.certificate),
        .key = lks_buf_view(&b->site->pair.key),
        .connections = CONNECTIONS,
        .body_max = BODY_MAX,
        .first_ms = FIRST_MS,
        .request_ms = REQUEST_MS,
        .idle_ms = IDLE_MS,
        .how = how_to_read,
    };
    if (lks_httpd_new(b->site->loop, &options, on_request, on_gone, b, &b->httpd, err) != LKS_OK)
        return err->code;
    layout->port = lks_httpd_port(b->httpd);
    return LKS_OK;
}

static enum lks_code make_model(struct lks_box *b, struct lks_err *err)
{
    const struct lks_layout_bmc *layout = lks_box_layout(b);
    struct lks_bmcsim_options options = b->site->model;
    if (b->site->tree != NULL)
        return LKS_OK;
    options.personality = layout->personality;
    options.name = layout->name.ptr;
    options.hardware_revision = layout->revision;
    options.seed += b->number;
    if (lks_bmcsim_new(&options, lks_box_now(b->site), &b->model, err) != LKS_OK)
        return err->code;
    lks_faults_set(b->site->faults, b->site->model.seed, b->number, b->model);
    return LKS_OK;
}

enum lks_code lks_box_new(struct lks_box_site *site, size_t i, struct lks_box **out,
                          struct lks_err *err)
{
    struct lks_box *b = calloc(1, sizeof(*b));
    if (b == NULL)
        return lks_fail_nomem(err);
    b->site = site;
    b->number = i;
    enum lks_code code = make_model(b, err);
    if (code == LKS_OK)
        code = listen_at(b, err);
    if (code != LKS_OK) {
        lks_bmcsim_free(b->model);
        free(b);
        return code;
    }
    b->tick.data = b;
    int failed = uv_timer_init(site->loop, &b->tick);
    LKS_ASSERT(failed == 0);
    look_after(b);
    *out = b;
    return LKS_OK;
}

void lks_box_close(struct lks_box *b)
{
    b->closed = true;
    lks_httpd_free(b->httpd);
    uv_close((uv_handle_t *)&b->tick, NULL);
}

void lks_box_free(struct lks_box *b)
{
    if (b == NULL)
        return;
    LKS_ASSERT(b->closed && !b->pulling);
    lks_bmcsim_free(b->model);
    free(b);
}

/* ---- For the control socket. ---- */

bool lks_box_fault(struct lks_box *b, const struct lks_bmcsim_fault_set *fault)
{
    if (b->model == NULL)
        return false;
    lks_bmcsim_tick(b->model, lks_box_now(b->site));
    lks_bmcsim_fault(b->model, fault);
    look_after(b);
    return true;
}

#define AT(field) LKS_JSON_AT(lks_bmcsim_device, field)

static const struct lks_json_field device_fields[] = {
    {"id", LKS_JSON_VIEW, AT(id)},           {"class", LKS_JSON_VIEW, AT(class)},
    {"active", LKS_JSON_VIEW, AT(active)},   {"staged", LKS_JSON_VIEW, AT(staged)},
    {"backup", LKS_JSON_VIEW, AT(backup)},   {"bricked", LKS_JSON_FLAG, AT(bricked)},
    {"one_way", LKS_JSON_FLAG, AT(one_way)}, {"flashes", LKS_JSON_NUMBER, AT(flashes)},
    {"begun", LKS_JSON_NUMBER, AT(begun)},   {"activations", LKS_JSON_NUMBER, AT(activations)},
};

void lks_box_truth(struct lks_box *b, struct lks_json_writer *w)
{
    const struct lks_layout_bmc *layout = lks_box_layout(b);
    char url[LKS_LAYOUT_URL_MAX];
    lks_layout_url(b->site->layout, b->number, url);
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "name", layout->name);
    lks_json_cstr(w, "url", url);
    if (b->model != NULL) {
        struct lks_bmcsim_device device;
        lks_bmcsim_tick(b->model, lks_box_now(b->site));
        look_after(b);
        lks_json_cstr(w, "personality", lks_bmcsim_words[layout->personality]);
        lks_json_cstr(w, "revision", layout->revision);
        lks_json_int(w, "updates", lks_bmcsim_updates(b->model));
        lks_json_begin(w, "devices", '[');
        for (size_t i = 0; i < lks_bmcsim_device_count(b->model); i++) {
            lks_bmcsim_device(b->model, i, &device);
            lks_json_begin(w, NULL, '{');
            lks_json_fields_write(w, device_fields, LKS_COUNT(device_fields), &device);
            lks_json_end(w, '}');
        }
        lks_json_end(w, ']');
    }
    lks_json_end(w, '}');
}
