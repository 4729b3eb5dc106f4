/* The first byte chooses a kind, the second is a version, the rest a body: what is taken packs to
 * the same bytes again, and its JSON is JSON. */
#include "model/record/record.h"

enum { OUT_MAX = 64 * 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_json(const struct lks_record *r)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = {0};
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_json_writer w = {.out = &json};
    struct lks_err err = {0};
    lks_buf_init(&json, OUT_MAX);
    lks_json_begin(&w, NULL, '{');
    lks_record_json(r, &w);
    lks_json_end(&w, '}');
    LKS_ASSERT(json.failed == LKS_OK);
    LKS_ASSERT(lks_docs_init(&docs, "record", &err) == LKS_OK);
    /* Only a number that no reader of JSON agrees on may stand in the way. */
    if (lks_json_parse(lks_buf_view(&json), &docs, &err) == LKS_OK)
        LKS_ASSERT(lks_doc_member(docs.first, "kind") != NULL);
    else
        LKS_ASSERT(lks_str_find(lks_str_from(err.msg), LKS_STR("number")) >= 0 ||
                   err.code == LKS_E_LIMIT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct lks_record r = {0};
    struct lks_err err = {0};
    struct lks_str body = {(const char *)data + 2, size - 2};
    if (lks_record_unpack(data[0], data[1], body, &r, &err) != LKS_OK) {
        LKS_ASSERT(err.code == LKS_E_INVALID && r.kind == 0);
        return 0;
    }
    LKS_CLEANUP(lks_buf_fini) struct lks_buf again = LKS_BUF(OUT_MAX);
    lks_record_pack(&r, &again);
    LKS_ASSERT(lks_str_eq(lks_buf_view(&again), body) ||
               lks_record_version(lks_record_info(data[0])) > 1);
    check_json(&r);
    return 0;
}
