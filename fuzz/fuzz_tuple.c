/* Any bytes at all: a tuple that is accepted is written, read back and written again as the same
 * bytes, and these are canonical JSON. */
#include "base/buf.h"
#include "codec/format/json.h"
#include "model/tuple/tuple.h"

#include <stdint.h>

enum { OUT_MAX = 64 * 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_canonical(struct lks_str text)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf canonical = LKS_BUF(OUT_MAX);
    struct lks_err err = {0};
    LKS_ASSERT(lks_docs_init(&docs, "out", &err) == LKS_OK);
    LKS_ASSERT(lks_json_parse(text, &docs, &err) == LKS_OK);
    LKS_ASSERT(lks_json_canonical(docs.first, &canonical, &err) == LKS_OK);
    LKS_ASSERT(lks_str_eq(lks_buf_view(&canonical), text));
}

static void check_order(const struct lks_tuple *t)
{
    for (size_t i = 0; i < t->count; i++) {
        size_t count;
        LKS_ASSERT(i == 0 || lks_str_cmp(t->readings[i - 1].name, t->readings[i].name) <= 0);
        LKS_ASSERT(lks_tuple_range(t, t->readings[i].name, &count) != NULL && count > 0);
        LKS_ASSERT(lks_tuple_component(t, t->readings[i].name) != NULL);
    }
}

/* No mutation hits the right digest by chance: the complaint names it, so put it in. False where
 * the text is refused for another reason. */
static bool mend(struct lks_str text, const char *complaint, struct lks_buf *out)
{
    static const char key[] = "\"digest\":\"", told[] = "whose digest is ";
    const char *digest = strstr(complaint, told);
    ptrdiff_t at = lks_str_find(text, lks_str_from(key));
    if (digest == NULL || at < 0)
        return false;
    struct lks_str before = {text.ptr, (size_t)at + sizeof(key) - 1}, old, after;
    lks_str_cut((struct lks_str){text.ptr + before.len, text.len - before.len}, '"', &old, &after);
    lks_buf_init(out, OUT_MAX);
    lks_buf_add(out, before);
    lks_buf_addf(out, "%s\"", digest + sizeof(told) - 1);
    lks_buf_add(out, after);
    return true;
}

static void check_tuple(const struct lks_tuple *t)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple back = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf once = LKS_BUF(OUT_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf twice = LKS_BUF(OUT_MAX);
    struct lks_err err = {0};
    check_order(t);
    LKS_ASSERT(lks_tuple_json(t, LKS_STR(""), &once, &err) == LKS_OK);
    check_canonical(lks_buf_view(&once));
    LKS_ASSERT(lks_tuple_parse(lks_buf_view(&once), "again", &back, &err) == LKS_OK);
    LKS_ASSERT(lks_tuple_json(&back, LKS_STR(""), &twice, &err) == LKS_OK);
    LKS_ASSERT(lks_str_eq(lks_buf_view(&once), lks_buf_view(&twice)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf mended = {0};
    struct lks_err err = {0};
    struct lks_str text = {size > 0 ? (const char *)data : "", size};
    enum lks_code code = lks_tuple_parse(text, "fuzz", &t, &err);
    LKS_ASSERT(code == LKS_OK || lks_str_starts(lks_str_from(err.msg), "fuzz:"));
    if (code != LKS_OK && mend(text, err.msg, &mended))
        code = lks_tuple_parse(lks_buf_view(&mended), "fuzz", &t, &err);
    if (code == LKS_OK)
        check_tuple(&t);
    return 0;
}
