#include "lab/bmcsim/parts.h"

#include <stdio.h>

#define TEXT_MAX 1024

void lks_bmcsim_reply_init(struct lks_bmcsim_reply *r)
{
    *r = (struct lks_bmcsim_reply){.type = "application/json"};
    lks_buf_init(&r->head, (size_t)16 << 10);
    lks_buf_init(&r->body, LKS_BMCSIM_REPLY_MAX);
}

void lks_bmcsim_reply_fini(struct lks_bmcsim_reply *r)
{
    lks_buf_fini(&r->head);
    lks_buf_fini(&r->body);
    *r = (struct lks_bmcsim_reply){0};
}

void lks_bmcsim_reply_header(struct lks_bmcsim_call *c, const char *name, const char *fmt, ...)
{
    lks_buf_addf(&c->reply->head, "%s: ", name);
    va_list ap;
    va_start(ap, fmt);
    lks_buf_addv(&c->reply->head, fmt, ap);
    va_end(ap);
    lks_buf_add(&c->reply->head, LKS_STR("\r\n"));
}

static void put_info(struct lks_json_writer *w, const struct lks_bmcsim_kind *kind,
                     enum lks_bmcsim_message message, const char *a1, const char *a2)
{
    const char *const args[3] = {a1, a2, NULL};
    lks_json_write(w, "'@Message.ExtendedInfo': [{");
    lks_bmcsim_message_write(w, kind, message, args);
    lks_json_write(w, "}]");
}

void lks_bmcsim_reply_error(struct lks_bmcsim_call *c, int status, enum lks_bmcsim_message message,
                            const char *a1, const char *a2)
{
    const struct lks_bmcsim_message_row *row = &lks_bmcsim_messages[message];
    const struct lks_bmcsim_kind *kind = c->b->kind;
    const struct lks_bmcsim_registry_row *registry =
        lks_bmcsim_message_registry(kind, row->registry);
    lks_buf_truncate(&c->reply->body, 0);
    struct lks_json_writer w = {.out = &c->reply->body};
    c->reply->status = status;
    if (kind->messages != NULL) /* iLO: one code for every error, of another version */
        lks_json_write(&w, "{'error': {'code': '%s.0.10.ExtendedInfo'", kind->messages->prefix);
    else
        lks_json_write(&w, "{'error': {'code': '%s.%s.%s'", registry->prefix, registry->version,
                       row->key);
    lks_json_cstr(&w, "message", "See the extended information.");
    put_info(&w, kind, message, a1, a2);
    lks_json_write(&w, "}}");
    if (status == 503)
        lks_bmcsim_reply_header(c, "Retry-After", "%u", 30U);
}

void lks_bmcsim_reply_success(struct lks_bmcsim_call *c, int status)
{
    c->reply->status = status;
    if (status == 204)
        return;
    struct lks_json_writer w = {.out = &c->reply->body};
    lks_json_begin(&w, NULL, '{');
    put_info(&w, c->b->kind, LKS_MSG_SUCCESS, NULL, NULL);
    lks_json_end(&w, '}');
}

void lks_bmcsim_reply_head(struct lks_bmcsim_call *c, const char *type, const char *id,
                           const char *name)
{
    lks_json_write(&c->w, "'@odata.type': '#%s', '@odata.id': '%.*s', 'Id': '%s', 'Name': '%s'",
                   type, LKS_STR_ARG(c->path), id, name);
}

/* A text from a format, of a length that our own ids and paths have. */
static struct lks_str made(char out[TEXT_MAX], const char *fmt, va_list ap) LKS_PRINTF(2, 0);
static struct lks_str made(char out[TEXT_MAX], const char *fmt, va_list ap)
{
    int n = vsnprintf(out, TEXT_MAX, fmt, ap);
    size_t len = n < 0 ? 0 : (size_t)n < TEXT_MAX ? (size_t)n : TEXT_MAX - 1;
    return (struct lks_str){out, len};
}

static void put_text(struct lks_json_writer *w, const char *key, const char *fmt, va_list ap)
    LKS_PRINTF(3, 0);
static void put_text(struct lks_json_writer *w, const char *key, const char *fmt, va_list ap)
{
    char text[TEXT_MAX];
    lks_json_text(w, key, made(text, fmt, ap));
}

void lks_bmcsim_reply_link(struct lks_json_writer *w, const char *key, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    lks_json_begin(w, key, '{');
    put_text(w, "@odata.id", fmt, ap);
    lks_json_end(w, '}');
    va_end(ap);
}

void lks_bmcsim_reply_textf(struct lks_json_writer *w, const char *key, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    put_text(w, key, fmt, ap);
    va_end(ap);
}

void lks_bmcsim_reply_texts(struct lks_json_writer *w, const char *key, const char *const *words)
{
    lks_json_begin(w, key, '[');
    for (size_t i = 0; words[i] != NULL; i++)
        lks_json_cstr(w, NULL, words[i]);
    lks_json_end(w, ']');
}

void lks_bmcsim_reply_status(struct lks_json_writer *w, const char *state, const char *health)
{
    lks_json_write(w, "'Status': {'State': '%s', 'Health': '%s'}", state, health);
}

void lks_bmcsim_reply_collection(struct lks_bmcsim_call *c, const char *type, const char *name)
{
    lks_json_write(&c->w,
                   "'@odata.type': '#%sCollection.%sCollection', '@odata.id': '%.*s', "
                   "'Name': '%s', 'Members': [",
                   type, type, LKS_STR_ARG(c->path), name);
}

void lks_bmcsim_reply_member(struct lks_bmcsim_call *c, const char *fmt, ...)
{
    char text[TEXT_MAX];
    va_list ap;
    va_start(ap, fmt);
    struct lks_str path = made(text, fmt, ap);
    va_end(ap);
    if (c->expand > 0) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf member = LKS_BUF(LKS_BMCSIM_REPLY_MAX);
        if (lks_bmcsim_route_render(c->b, path, c->expand - 1, &member)) {
            lks_json_raw(&c->w, NULL, lks_buf_view(&member));
            return;
        }
    }
    lks_json_write(&c->w, "{'@odata.id': '%.*s'}", LKS_STR_ARG(path));
}

void lks_bmcsim_reply_collection_end(struct lks_bmcsim_call *c, size_t count)
{
    lks_json_write(&c->w, "], 'Members@odata.count': %zu", count);
}
