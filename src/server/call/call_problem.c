#include "server/call/call.h"

#include <stdarg.h>
#include <stdio.h>

/* What is there of an answer gives way to the problem. Its detail is one printable line, whatever
 * the request had in it. */
static void problem(struct lks_call *call, int status, const char *word, const char *said)
{
    char detail[LKS_ERR_MSG_MAX];
    snprintf(detail, sizeof(detail), "%s", said);
    lks_str_make_printable(detail);
    lks_buf_fini(&call->out);
    lks_buf_init(&call->out, LKS_CALL_ANSWER_MAX);
    call->status = status;
    call->type = "application/problem+json";
    call->work = NULL;
    call->stream = false;
    char type[64], title[64];
    snprintf(type, sizeof(type), "urn:lockstep:problem:%s", word);
    snprintf(title, sizeof(title), "%s", word);
    for (char *c = title; *c != '\0'; c++)
        *c = *c == '-' ? ' ' : *c;
    struct lks_json_writer w = {.out = &call->out};
    lks_json_begin(&w, NULL, '{');
    lks_json_cstr(&w, "type", type);
    lks_json_cstr(&w, "title", title);
    lks_json_int(&w, "status", status);
    lks_json_cstr(&w, "detail", detail[0] != '\0' ? detail : title);
    lks_json_end(&w, '}');
}

void lks_call_problem_err(struct lks_call *call, const struct lks_err *err)
{
    const struct lks_code_info *info = lks_err_code_info(err->code);
    problem(call, info->http, info->text, err->msg);
    if (info->http == 503)
        lks_call_header(call, "Retry-After: 1");
}

void lks_call_problem(struct lks_call *call, enum lks_code code, const char *fmt, ...)
{
    struct lks_err err = {.code = code};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err.msg, sizeof(err.msg), fmt, ap);
    va_end(ap);
    lks_call_problem_err(call, &err);
}

void lks_call_problem_http(struct lks_call *call, int status, const char *word, const char *fmt,
                           ...)
{
    char detail[LKS_ERR_MSG_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(detail, sizeof(detail), fmt, ap);
    va_end(ap);
    problem(call, status, word, detail);
}

void lks_call_header(struct lks_call *call, const char *fmt, ...)
{
    size_t used = strlen(call->headers), room = sizeof(call->headers) - used;
    va_list ap;
    va_start(ap, fmt);
    int len = vsnprintf(call->headers + used, room, fmt, ap);
    va_end(ap);
    LKS_ASSERT(len >= 0 && (size_t)len + 2 < room);
    snprintf(call->headers + used + len, room - (size_t)len, "\r\n");
}
