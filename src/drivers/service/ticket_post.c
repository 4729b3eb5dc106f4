/* One signed POST to a ticket system. */
#include "port/ticket.h"

#include "base/compiler.h"
#include "trust/webhook.h"

struct telling {
    struct lks_conversation head;
    struct lks_ticket_post post;
};

static lks_ms ask(const void *value, struct lks_http_request *out)
{
    const struct telling *t = value;
    out->method = "POST";
    lks_buf_add(&out->path, t->post.path);
    lks_http_request_header(out, "Content-Type", "application/json");
    lks_http_request_header(out, LKS_WEBHOOK_HEADER, "%s", t->post.signature);
    lks_buf_add(&out->body, t->post.body);
    return LKS_TICKET_PATIENCE;
}

static void hear(void *value, lks_ms now, const struct lks_http_response *answer)
{
    enum { OK_MIN = 200, OK_END = 300, NO_MIN = 400, NO_END = 500, SLOW = 408, MANY = 429 };
    struct telling *t = value;
    int status = answer != NULL ? answer->status : 0;
    bool no = status >= NO_MIN && status < NO_END && status != SLOW && status != MANY;
    (void)now;
    if (status >= OK_MIN && status < OK_END)
        lks_conversation_end(&t->head);
    else if (answer == NULL)
        lks_conversation_fail(&t->head, LKS_E_UNAVAILABLE, "it does not answer");
    else
        lks_conversation_fail(&t->head, no ? LKS_E_INVALID : LKS_E_UNAVAILABLE,
                              "it answers with status %d", status);
}

const struct lks_conversation_ops lks_ticket_talk = {
    .name = "ticket", .size = sizeof(struct telling), .ask = ask, .hear = hear, .hears_all = true};

enum lks_code lks_ticket_begin(void *value, const struct lks_ticket_post *post, struct lks_err *err)
{
    struct telling *t = value;
    if (post->path.len == 0 || post->path.len >= LKS_HTTP_PATH_MAX || post->path.ptr[0] != '/' ||
        post->body.len > LKS_HTTP_BODY_MAX)
        return lks_fail(err, LKS_E_INVALID, "a path starts with '/', and has at most %d bytes",
                        LKS_HTTP_PATH_MAX);
    *t = (struct telling){.head = {.deadline = post->deadline}, .post = *post};
    return LKS_OK;
}

void lks_ticket_split(struct lks_str url, struct lks_str *peer, struct lks_str *path)
{
    ptrdiff_t scheme = lks_str_find(url, LKS_STR("://"));
    size_t at = scheme < 0 ? 0 : (size_t)scheme + 3;
    while (at < url.len && url.ptr[at] != '/')
        at++;
    *peer = (struct lks_str){url.ptr, at};
    *path = at < url.len ? (struct lks_str){url.ptr + at, url.len - at} : LKS_STR("/");
}
