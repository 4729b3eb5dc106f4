/* Any bytes at all: what is accepted has a canonical form, and that form is accepted and is its
 * own canonical form. */
#include "base/buf.h"
#include "codec/format/json.h"

#include <stdint.h>

enum { OUT_MAX = 16 * 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum lks_code canonical(struct lks_str text, struct lks_buf *out)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    lks_buf_init(out, OUT_MAX);
    LKS_ASSERT(lks_docs_init(&docs, "fuzz", &err) == LKS_OK);
    if (lks_json_parse(text, &docs, &err) != LKS_OK) {
        LKS_ASSERT(err.code != LKS_OK && lks_str_starts(lks_str_from(err.msg), "fuzz:"));
        return err.code;
    }
    LKS_ASSERT(docs.count == 1);
    LKS_ASSERT(lks_json_canonical(docs.first, out, &err) == LKS_OK);
    return LKS_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf once = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf twice = {0};
    if (canonical((struct lks_str){(const char *)data, size}, &once) != LKS_OK)
        return 0;
    LKS_ASSERT(canonical(lks_buf_view(&once), &twice) == LKS_OK);
    LKS_ASSERT(lks_str_eq(lks_buf_view(&once), lks_buf_view(&twice)));
    return 0;
}
