/* A BMC is asked whatever the input says: its first byte chooses the personality, then come
 * requests ("METHOD PATH", headers, an empty line, the body) with "\n====\n" between them; "@bmc@"
 * in a body stands for a package for its BMC, and a request "WAIT" lets an hour pass. Every answer
 * has a status and, where it says so, is JSON; what was never flashed has the version it began
 * with; and when nobody asks any more, nothing goes on for ever. */
#include "codec/format/json.h"
#include "lab/bmcsim/bmcsim.h"

#include <stdint.h>

#define BEGAN UINT64_C(1790000000000)
#define HOUR  (3600 * LKS_SECOND)

enum { REQUESTS_MAX = 16, LINES_MAX = 16 * 1024, BODY_MAX = 256 * 1024, IMAGE = 400 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool split(struct lks_str s, struct lks_str mark, struct lks_str *head, struct lks_str *tail)
{
    ptrdiff_t at = lks_str_find(s, mark);
    *head = s;
    *tail = (struct lks_str){0};
    if (at < 0)
        return false;
    head->len = (size_t)at;
    *tail = (struct lks_str){s.ptr + at + mark.len, s.len - (size_t)at - mark.len};
    return true;
}

/* The body, with a package where one is meant. */
static void fill(struct lks_str body, enum lks_bmcsim_personality personality, struct lks_buf *out)
{
    struct lks_str before, behind;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf package = LKS_BUF(BODY_MAX);
    struct lks_err err = {0};
    lks_buf_init(out, BODY_MAX);
    bool some = split(body, LKS_STR("@bmc@"), &before, &behind);
    lks_buf_add(out, before);
    if (some) {
        const char *class = personality == LKS_BMCSIM_SHELF ? "power-shelf" : "bmc";
        LKS_ASSERT(lks_bmcsim_image_package(personality, class, "1.1.0", 1, IMAGE, &package,
                                            &err) == LKS_OK);
        lks_buf_add(out, lks_buf_view(&package));
        lks_buf_add(out, behind);
    }
}

static void check_reply(const struct lks_bmcsim_reply *r)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    LKS_ASSERT(r->status == 0 || (r->status >= 200 && r->status < 600));
    LKS_ASSERT(r->status != 0 || (r->body.len == 0 && r->head.len == 0));
    if (r->body.len == 0 || strstr(r->type, "json") == NULL)
        return;
    LKS_ASSERT(lks_docs_init(&docs, "reply", &err) == LKS_OK);
    LKS_ASSERT(lks_json_parse(lks_buf_view(&r->body), &docs, &err) == LKS_OK);
}

static void ask(struct lks_bmcsim *b, enum lks_bmcsim_personality personality, lks_ms now,
                struct lks_str text)
{
    struct lks_str line, rest, head, body, method, path;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf lines = {0}, filled = {0};
    char word[16] = "";
    (void)split(text, LKS_STR("\n"), &line, &rest);
    if (!split(rest, LKS_STR("\n\n"), &head, &body))
        head = rest;
    (void)lks_str_cut(line, ' ', &method, &path);
    memcpy(word, method.ptr, method.len < sizeof(word) ? method.len : sizeof(word) - 1);
    lks_buf_init(&lines, LINES_MAX);
    lks_buf_add(&lines, LKS_STR("authorization: Basic cm9vdDpzZWNyZXQxMg==\n"));
    lks_buf_add(&lines, head);
    fill(body, personality, &filled);
    struct lks_bmcsim_request request = {
        .method = word, .path = path, .head = lks_buf_view(&lines), .body = lks_buf_view(&filled)};
    struct lks_bmcsim_reply reply;
    lks_bmcsim_reply_init(&reply);
    lks_bmcsim_ask(b, now, &request, &reply);
    check_reply(&reply);
    lks_bmcsim_reply_fini(&reply);
}

static void check_devices(const struct lks_bmcsim *b)
{
    for (size_t i = 0; i < lks_bmcsim_device_count(b); i++) {
        struct lks_bmcsim_device d;
        lks_bmcsim_device(b, i, &d);
        LKS_ASSERT(d.flashes <= d.begun && !d.bricked);
        LKS_ASSERT(d.flashes > 0 || (d.staged.len == 0 && d.activations == 0));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct lks_bmcsim_options options = {
        .personality = (enum lks_bmcsim_personality)(data[0] % LKS_BMCSIM_PERSONALITIES),
        .user = "root",
        .password = "secret12",
        .speed = 1};
    struct lks_bmcsim *b = NULL;
    struct lks_err err = {0};
    LKS_ASSERT(lks_bmcsim_new(&options, BEGAN, &b, &err) == LKS_OK);
    struct lks_str rest = {(const char *)data + 1, size - 1}, one, uri;
    lks_ms now = BEGAN;
    bool more = true;
    for (int i = 0; more && i < REQUESTS_MAX; i++) {
        more = split(rest, LKS_STR("\n====\n"), &one, &rest);
        now += lks_str_is(one, "WAIT") ? HOUR : 1;
        if (one.len > 0 && !lks_str_is(one, "WAIT"))
            ask(b, options.personality, now, one);
        if (lks_bmcsim_job_wants(b, &uri))
            lks_bmcsim_job_fetched(b, now, LKS_STR("not a package"));
        check_devices(b);
    }
    lks_bmcsim_tick(b, now + 24 * HOUR);
    LKS_ASSERT(lks_bmcsim_next(b) == UINT64_MAX);
    check_devices(b);
    lks_bmcsim_free(b);
    return 0;
}
