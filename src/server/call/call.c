#include "server/call/call.h"

#include "core/rows/node.h"
#include "model/manifest/manifest.h"
#include "model/tuple/tuple.h"
#include "server/call/depot_ask.h"
#include "server/call/internal.h"
#include "server/call/route.h"

#include <stdlib.h>

struct lks_call *lks_call_new(struct lks_daemon *daemon)
{
    struct lks_call *call = calloc(1, sizeof(*call));
    if (call == NULL)
        return NULL;
    call->daemon = daemon;
    call->node = LKS_NO_NODE;
    lks_buf_init(&call->bytes, LKS_DOC_BYTES_MAX);
    lks_buf_init(&call->out, LKS_CALL_ANSWER_MAX);
    lks_buf_init(&call->issued, LKS_X509_PEM_MAX);
    lks_buf_init(&call->aside, LKS_X509_PEM_MAX);
    return call;
}

void lks_call_free(struct lks_call *call)
{
    if (call == NULL)
        return;
    if (call->manifest != NULL)
        lks_manifest_fini(call->manifest);
    if (call->tuple != NULL)
        lks_tuple_fini(call->tuple);
    if (call->drop != NULL)
        call->drop(call->memory);
    lks_depot_ask_free(call->depot);
    lks_internal_free(call->own);
    free(call->manifest);
    free(call->tuple);
    lks_docs_fini(&call->asked);
    lks_docs_fini(&call->docs);
    lks_buf_fini_all(
        (struct lks_buf *const[]){&call->bytes, &call->out, &call->issued, &call->aside, NULL});
    free(call);
}

static enum lks_code parse(struct lks_call *call, struct lks_err *err)
{
    struct lks_str text = lks_buf_view(&call->bytes);
    size_t values = lks_json_values(text);
    if (values > LKS_CALL_VALUES_MAX)
        return lks_fail(err, LKS_E_LIMIT, "body: %zu values; %zu are taken", values,
                        LKS_CALL_VALUES_MAX);
    if (lks_docs_init(&call->docs, "body", err) != LKS_OK)
        return err->code;
    call->docs.fractions = true;
    if (lks_json_parse(text.len > 0 ? text : LKS_STR("{}"), &call->docs, err) != LKS_OK)
        return err->code;
    return lks_schema_decode(&call->docs, call->docs.first, call->route->body, &call->ask, err);
}

enum lks_code lks_call_read(struct lks_call *call, struct lks_err *err)
{
    if (call->route->body == NULL)
        return LKS_OK;
    enum lks_code code = parse(call, err);
    if (code != LKS_OK)
        lks_docs_fini(&call->docs);
    return code;
}

bool lks_call_query_add(struct lks_call *call, struct lks_doc *map, const char *name,
                        const char *value)
{
    struct lks_docs *docs = &call->asked;
    struct lks_str key = lks_arena_copy(&docs->arena, lks_str_from(name));
    const struct lks_form *form = call->route->query;
    struct lks_field field = {0};
    bool known = form != NULL && lks_schema_field(form, key, &field);
    struct lks_doc *doc = lks_doc_add_text(docs, map, lks_str_from(value));
    if (key.ptr == NULL || doc == NULL)
        return false;
    doc->key = key;
    uint64_t number;
    if (known && field.shape.type == LKS_TYPE_NUMBER &&
        lks_str_number(doc->text, (uint64_t)LKS_DOC_NUMBER_MAX, &number)) {
        doc->kind = LKS_DOC_NUMBER;
        doc->number = (int64_t)number;
    }
    bool truth = lks_str_is(doc->text, "true");
    if (known && field.shape.type == LKS_TYPE_BOOL && (truth || lks_str_is(doc->text, "false"))) {
        doc->kind = LKS_DOC_BOOL;
        doc->truth = truth;
    }
    return true;
}

enum lks_code lks_call_query_take(struct lks_call *call, struct lks_doc *map, struct lks_err *err)
{
    static const struct lks_form none = {.name = "this request", .about = "without parameters"};
    call->filters = map;
    if (lks_doc_check_keys(&call->asked, map, err) != LKS_OK)
        return err->code;
    const struct lks_form *form = call->route->query != NULL ? call->route->query : &none;
    return lks_schema_decode(&call->asked, map, form, &call->ask, err);
}

const void *lks_call_asked(const struct lks_call *call, const char *into)
{
    const struct lks_form *form =
        call->route->body != NULL ? call->route->body : call->route->query;
    LKS_ASSERT(call->ask != NULL && form != NULL && strcmp(form->into, into) == 0);
    return call->ask;
}

struct lks_str lks_call_verb(const struct lks_call *call)
{
    return lks_str_last(lks_str_from(call->route->path), '/');
}

struct lks_json_writer lks_call_json(struct lks_call *call)
{
    lks_buf_truncate(&call->out, 0);
    call->status = 200;
    call->type = "application/json";
    struct lks_json_writer w = {.out = &call->out};
    lks_json_begin(&w, NULL, '{');
    return w;
}

struct lks_json_writer lks_call_list(struct lks_call *call)
{
    struct lks_json_writer w = lks_call_json(call);
    lks_json_begin(&w, "items", '[');
    return w;
}

void lks_call_list_end_at(struct lks_json_writer *w, struct lks_str next)
{
    lks_json_end(w, ']');
    if (next.len > 0)
        lks_json_text(w, "next", next);
    lks_json_end(w, '}');
}

void lks_call_list_end(struct lks_json_writer *w, uint64_t next)
{
    char text[24];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)next);
    lks_call_list_end_at(w, next != 0 ? lks_str_from(text) : LKS_STR(""));
}
