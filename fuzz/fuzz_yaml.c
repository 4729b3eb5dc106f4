/* Any bytes at all: each document that is accepted has a canonical JSON form, which the JSON reader
 * accepts and which is then its own canonical form. Both readers build the same tree or none. What
 * is written as YAML again reads as the same tree. */
#include "base/buf.h"
#include "codec/format/json.h"
#include "codec/format/yaml.h"

#include <stdint.h>

enum { OUT_MAX = 64 * 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_written(const struct lks_doc *doc, struct lks_str canonical)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf yaml = LKS_BUF(OUT_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf back = LKS_BUF(OUT_MAX);
    struct lks_err err = {0};
    LKS_ASSERT(lks_docs_init(&docs, "fuzz", &err) == LKS_OK);
    LKS_ASSERT(lks_yaml_write(doc, &yaml, &err) == LKS_OK);
    if (yaml.len > LKS_DOC_BYTES_MAX)
        return; /* more than the reader takes */
    LKS_ASSERT(lks_yaml_parse(lks_buf_view(&yaml), &docs, &err) == LKS_OK);
    LKS_ASSERT(lks_json_canonical(docs.first, &back, &err) == LKS_OK);
    LKS_ASSERT(lks_str_eq(lks_buf_view(&back), canonical));
}

static void check_document(const struct lks_doc *doc)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf once = LKS_BUF(OUT_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf twice = LKS_BUF(OUT_MAX);
    struct lks_err err = {0};
    LKS_ASSERT(lks_docs_init(&docs, "fuzz", &err) == LKS_OK);
    LKS_ASSERT(lks_json_canonical(doc, &once, &err) == LKS_OK);
    LKS_ASSERT(lks_json_parse(lks_buf_view(&once), &docs, &err) == LKS_OK);
    LKS_ASSERT(lks_json_canonical(docs.first, &twice, &err) == LKS_OK);
    LKS_ASSERT(lks_str_eq(lks_buf_view(&once), lks_buf_view(&twice)));
    check_written(doc, lks_buf_view(&once));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    LKS_ASSERT(lks_docs_init(&docs, "fuzz", &err) == LKS_OK);
    struct lks_str text = {size > 0 ? (const char *)data : "", size};
    if (lks_yaml_parse(text, &docs, &err) != LKS_OK)
        return 0;
    for (const struct lks_doc *doc = docs.first; doc != NULL; doc = doc->next)
        check_document(doc);
    return 0;
}
