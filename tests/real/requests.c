#include "tests/real/requests.h"

#include "codec/format/http.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { PATH_MAX_BYTES = 64 << 10, BODY_MAX = 4 << 20, DEPTH_MAX = 6, LONG = 5000 };

struct maker {
    struct random_request *r;
    const struct population *p;
    struct lks_rng *rng;
};

static bool chance(struct maker *m, unsigned percent)
{
    return lks_rng_below(m->rng, 100) < percent;
}

static size_t below(struct maker *m, size_t n)
{
    return (size_t)lks_rng_below(m->rng, n);
}

/* Texts ------------------------------------------------------------------------------------- */

static void put_time(struct maker *m, struct lks_buf *out)
{
    char text[LKS_TIME_TEXT_SIZE];
    lks_ms now = (lks_ms)time(NULL) * LKS_SECOND, day = 86400 * LKS_SECOND;
    (void)lks_time_text(now - day + lks_rng_below(m->rng, 30 * day), text);
    lks_buf_addf(out, "%s", text);
}

static void put_odd_text(struct maker *m, struct lks_buf *out)
{
    static const char *const odd[] = {
        "",
        " ",
        "0",
        "-1",
        "18446744073709551616",
        "null",
        "gpu[1-",
        "../..",
        "\x1b[31m",
        "a\nb",
        "\xc3",
        "\xf0\x9f\x92\xa9",
        "%s%n",
        "gpu[1-99999999]",
        "sha256:",
        "gpu1,,",
        "*",
        "'\"",
        "1e400",
        "a/b",
        "\x7f",
        "{host}",
        "firmware/",
        "no such",
        "!",
        "true",
        "\t",
        "gpu[00001-2]",
    };
    size_t which = below(m, LKS_COUNT(odd) + 2);
    if (which < LKS_COUNT(odd))
        lks_buf_addf(out, "%s", odd[which]);
    else if (which == LKS_COUNT(odd))
        lks_buf_pad(out, 'x', (ptrdiff_t)(LONG * (1 + below(m, 3))));
    else
        for (size_t i = 0, n = below(m, 40); i < n; i++)
            lks_buf_addc(out, (char)(1 + below(m, 255)));
}

/* A text as a field of this name may have it. */
static void put_text(struct maker *m, const char *key, struct lks_buf *out)
{
    const char *seen = NULL;
    size_t way = below(m, 10);
    if (way < 6)
        seen = pop_pick(m->p, key, m->rng);
    if (seen == NULL && way < 8 &&
        (strstr(key, "node") != NULL || strcmp(key, "hosts") == 0 || way == 7))
        seen = pop_pick(m->p, "name", m->rng);
    if (seen == NULL && way == 8)
        seen = pop_pick(m->p, NULL, m->rng);
    if (seen != NULL)
        lks_buf_addf(out, "%s", seen);
    else if (strcmp(key, "expires") == 0 || strcmp(key, "time") == 0 || strcmp(key, "until") == 0)
        put_time(m, out);
    else if (way < 9)
        lks_buf_addf(out, "%c%zu", (int)('a' + below(m, 26)), below(m, 100));
    else
        put_odd_text(m, out);
}

static void put_digest(struct maker *m, struct lks_buf *out)
{
    const char *seen = chance(m, 80) ? pop_pick(m->p, "digest", m->rng) : NULL;
    lks_buf_addf(out, "%s", seen != NULL ? seen : "sha256:");
    for (size_t i = 0; seen == NULL && i < 64; i++)
        lks_buf_addc(out, "0123456789abcdef"[below(m, 16)]);
}

/* Near one of its ends, or anywhere between. */
static int64_t some_number(struct maker *m, const struct lks_shape *shape)
{
    static const int64_t odd[] = {0, -1, INT64_MAX, INT64_MIN, INT64_C(1) << 53, INT32_MAX};
    uint64_t span = (uint64_t)shape->max - (uint64_t)shape->min;
    switch (below(m, 6)) {
    case 0:
        return shape->min;
    case 1:
        return shape->max;
    case 2:
        return odd[below(m, LKS_COUNT(odd))];
    case 3:
        return shape->min + (int64_t)lks_rng_below(m->rng, span == UINT64_MAX ? span : span + 1);
    default:
        return (int64_t)below(m, 20);
    }
}

/* A scalar as text, for paths and queries. */
static void put_scalar(struct maker *m, const char *key, const struct lks_shape *shape,
                       struct lks_buf *out)
{
    if (chance(m, 8)) {
        put_odd_text(m, out);
    } else if (shape->type == LKS_TYPE_BOOL) {
        lks_buf_addf(out, "%s", chance(m, 50) ? "true" : "false");
    } else if (shape->type == LKS_TYPE_NUMBER) {
        lks_buf_addf(out, "%lld", (long long)some_number(m, shape));
    } else if (shape->type == LKS_TYPE_SHA256) {
        put_digest(m, out);
    } else if (shape->type == LKS_TYPE_CHOICE) {
        size_t count = 0;
        while (shape->values[count] != NULL)
            count++;
        lks_buf_addf(out, "%s", shape->values[below(m, count)]);
    } else {
        put_text(m, key, out);
    }
}

/* JSON -------------------------------------------------------------------------------------- */

static void put_odd_json(struct maker *m, struct lks_json_writer *w, const char *key)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(PATH_MAX_BYTES);
    static const char *const raw[] = {"null", "true", "-1",       "1e999", "9223372036854775808",
                                      "[]",   "{}",   "[[[[]]]]", "0.5",   "{\"a\":{\"b\":[]}}"};
    size_t which = below(m, LKS_COUNT(raw) + 4);
    if (which < LKS_COUNT(raw)) {
        lks_json_raw(w, key, lks_str_from(raw[which]));
        return;
    }
    put_odd_text(m, &text);
    lks_json_text(w, key, lks_buf_view(&text));
}

static void put_form(struct maker *m, struct lks_json_writer *w, const struct lks_form *form,
                     unsigned depth);

static void put_shape(struct maker *m, struct lks_json_writer *w, const char *key, const char *name,
                      const struct lks_shape *shape, unsigned depth);

static void put_many(struct maker *m, struct lks_json_writer *w, const char *key, const char *name,
                     const struct lks_shape *shape, unsigned depth)
{
    size_t count = (size_t)shape->min + below(m, 3);
    bool list = shape->type == LKS_TYPE_LIST;
    lks_json_begin(w, key, list ? '[' : '{');
    for (size_t i = 0; i < count && i < 40 && depth < DEPTH_MAX; i++) {
        char member[32];
        snprintf(member, sizeof(member), "k%zu", i);
        put_shape(m, w, list ? NULL : member, name, shape->of, depth + 1);
    }
    lks_json_end(w, list ? ']' : '}');
}

static void put_shape(struct maker *m, struct lks_json_writer *w, const char *key, const char *name,
                      const struct lks_shape *shape, unsigned depth)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    if (chance(m, 6) || shape->type == LKS_TYPE_ANY) {
        put_odd_json(m, w, key);
    } else if (shape->type == LKS_TYPE_LIST || shape->type == LKS_TYPE_DICT) {
        put_many(m, w, key, name, shape, depth);
    } else if (shape->type == LKS_TYPE_FORM) {
        lks_json_begin(w, key, '{');
        put_form(m, w, shape->form, depth + 1);
        lks_json_end(w, '}');
    } else if (shape->type == LKS_TYPE_BOOL) {
        lks_json_bool(w, key, chance(m, 50));
    } else if (shape->type == LKS_TYPE_NUMBER) {
        lks_json_int(w, key, some_number(m, shape));
    } else {
        lks_buf_init(&text, PATH_MAX_BYTES);
        put_scalar(m, name, shape, &text);
        lks_json_text(w, key, lks_buf_view(&text));
    }
}

static void put_form(struct maker *m, struct lks_json_writer *w, const struct lks_form *form,
                     unsigned depth)
{
    struct lks_field f;
    for (size_t i = 0; depth < DEPTH_MAX && lks_schema_at(form, i, &f); i++) {
        if (chance(m, (f.flags & LKS_FIELD_REQUIRED) != 0 ? 97 : 30))
            put_shape(m, w, f.key, f.key, &f.shape, depth);
    }
    if (chance(m, 2))
        put_odd_json(m, w, "no_such_member");
}

/* Some bytes of a body become others, go, or come twice. */
static void damage(struct maker *m, struct lks_buf *body)
{
    for (size_t i = 0, n = 1 + below(m, 4); i < n && body->len > 0; i++) {
        size_t at = below(m, body->len);
        if (chance(m, 60))
            body->ptr[at] = (char)below(m, 256);
        else if (chance(m, 50))
            lks_buf_truncate(body, at);
        else
            lks_buf_addf(body, "%.*s", (int)(body->len - at < 64 ? body->len - at : 64),
                         body->ptr + at);
    }
}

/* The parts of a request -------------------------------------------------------------------- */

static void put_body(struct maker *m, const struct lks_route *route)
{
    static const char *const texts[] = {
        "lockstep: 1\nkind: Fleet\nname: here\n",
        "lockstep: 1\nkind: Stack\nname: golden\n",
        "{\"schema\":1,\"node\":\"gpu1\",\"readings\":[]}",
        "x",
        "{}",
        "[]",
        "--- {a: *b}\n",
    };
    struct random_request *r = m->r;
    if (route->body != NULL) {
        struct lks_json_writer w = {.out = &r->body};
        lks_json_begin(&w, NULL, '{');
        put_form(m, &w, route->body, 0);
        lks_json_end(&w, '}');
        r->type = "application/json";
    } else if (route->body_type != NULL) {
        lks_buf_addf(&r->body, "%s", texts[below(m, LKS_COUNT(texts))]);
        r->type = route->body_type;
    } else if (chance(m, 2)) {
        lks_buf_addf(&r->body, "{}");
        r->type = "application/json";
    }
    if (chance(m, 8))
        damage(m, &r->body);
}

/* Up to a byte of zero, at which a path of C ends. */
static void put_part(struct maker *m, const char *key, const struct lks_shape *shape)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(PATH_MAX_BYTES);
    put_scalar(m, key, shape, &text);
    lks_http_escape(&m->r->path, lks_buf_view(&text));
    lks_buf_add(&m->r->decoded, lks_buf_view(&text));
}

static void put_path(struct maker *m, const struct lks_route *route)
{
    struct lks_str head, name, rest = lks_str_from(route->path);
    for (bool more = true; more;) {
        more = lks_str_cut(rest, '{', &head, &rest);
        lks_buf_add(&m->r->path, head);
        lks_buf_add(&m->r->decoded, head);
        if (!more)
            break;
        (void)lks_str_cut(rest, '}', &name, &rest);
        char key[32];
        snprintf(key, sizeof(key), "%" LKS_STR_FMT, LKS_STR_ARG(name));
        struct lks_shape shape = {.type =
                                      lks_str_is(name, "digest") ? LKS_TYPE_SHA256 : LKS_TYPE_TEXT};
        put_part(m, key, &shape);
    }
}

static void put_query(struct maker *m, const struct lks_route *route)
{
    size_t count = 0;
    struct lks_field f;
    for (size_t i = 0; route->query != NULL && lks_schema_at(route->query, i, &f); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(PATH_MAX_BYTES);
        if (!chance(m, (f.flags & LKS_FIELD_REQUIRED) != 0 ? 95 : 30))
            continue;
        put_scalar(m, f.key, &f.shape, &text);
        lks_buf_addf(&m->r->path, "%c%s=", count++ > 0 ? '&' : '?', f.key);
        lks_http_escape(&m->r->path, lks_buf_view(&text));
    }
    if (chance(m, 2))
        lks_buf_addf(&m->r->path, "%c%s", count > 0 ? '&' : '?', "a=%zz&limit&=&after=%00");
}

static void put_head(struct maker *m)
{
    static const char *const lines[] = {
        "If-None-Match: \"1\"",      "If-None-Match: *",
        "Last-Event-ID: 1",          "Last-Event-ID: -1",
        "Range: bytes=0-9",          "Range: bytes=9-0",
        "Range: bytes=-1",           "Content-Range: bytes 0-0/1",
        "Content-Range: bytes */*",  "Lockstep-As: user:kim",
        "Lockstep-As-Root: 1",       "Lockstep-Signature: t=1,v1=00",
        "Lockstep-Protocol: 999",    "Accept: text/html",
        "Accept-Encoding: gzip",     "X-\x01: y",
        "Content-Type: text/plain",  "Cookie: a=b",
        "Expect: 100-continue",      "Authorization: Basic YTpi",
        "Authorization: Bearer x.y", "If-Match: \"7\"",
    };
    size_t used = 0;
    m->r->head[0] = '\0';
    for (size_t i = 0, n = chance(m, 25) ? 1 + below(m, 3) : 0; i < n; i++)
        used += (size_t)snprintf(m->r->head + used, sizeof(m->r->head) - used, "%s\r\n",
                                 lines[below(m, LKS_COUNT(lines))]);
}

/* A stream has no end to wait for, and a copy of everything takes long. */
static const struct lks_route *some_route(struct maker *m)
{
    for (;;) {
        const struct lks_route *route = &lks_routes[below(m, lks_route_count)];
        bool endless = strcmp(route->id, "events") == 0;
        bool slow = strcmp(route->id, "backup") == 0 && chance(m, 95);
        if (route->listener == LKS_LISTENER_PEOPLE && !endless && !slow)
            return route;
    }
}

void random_request_fini(struct random_request *r)
{
    lks_buf_fini(&r->path);
    lks_buf_fini(&r->decoded);
    lks_buf_fini(&r->body);
}

void random_request_make(struct random_request *r, const struct population *p, struct lks_rng *rng)
{
    static const char *const methods[] = {"GET", "POST", "PUT", "DELETE", "PATCH", "get"};
    struct maker m = {r, p, rng};
    const struct lks_route *route = some_route(&m);
    random_request_fini(r);
    *r = (struct random_request){.method = route->method};
    lks_buf_init(&r->path, PATH_MAX_BYTES);
    lks_buf_init(&r->decoded, PATH_MAX_BYTES);
    lks_buf_init(&r->body, BODY_MAX);
    put_path(&m, route);
    put_query(&m, route);
    put_body(&m, route);
    put_head(&m);
    struct lks_route_match match;
    if (chance(&m, 2))
        r->method = methods[below(&m, LKS_COUNT(methods))];
    lks_route_find(LKS_LISTENER_PEOPLE, r->method, r->decoded.ptr, &match);
    if (match.route != NULL && strcmp(match.route->id, "events") == 0)
        r->method = "PATCH";
}
