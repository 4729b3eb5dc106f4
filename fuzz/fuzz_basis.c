/* Two texts, split at a zero byte: a basis that is accepted is in order, says what it is asked, and
 * is itself when merged with nothing or with itself; what two of them merge to is a basis. */
#include "core/conform/basis.h"

#include <stdint.h>

enum { OUT_MAX = 8 << 20, COMPARED_MAX = 1024, OF_MAX = 2 * LKS_READING_NAME_MAX };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Short enough that merging may mark its devices and compares all of it. */
static bool is_small(const struct lks_tuple *t)
{
    for (size_t i = 0; i < t->count; i++) {
        if (t->readings[i].of.len >= OF_MAX)
            return false;
    }
    return t->count <= COMPARED_MAX;
}

static void check_values(struct lks_str text, const struct lks_tuple *t)
{
    for (size_t i = 0; i < t->count; i++) {
        char name[LKS_READING_NAME_MAX + 1];
        size_t count;
        const struct lks_reading *r = lks_tuple_range(t, t->readings[i].name, &count);
        LKS_ASSERT(r != NULL);
        memcpy(name, r->name.ptr, r->name.len);
        name[r->name.len] = '\0';
        while (count > 1 && r->state != LKS_MEASURED) {
            r++;
            count--;
        }
        struct lks_str value = r->state == LKS_MEASURED ? r->value : LKS_STR("");
        LKS_ASSERT(lks_str_eq(lks_basis_value(text, name), value));
    }
    (void)lks_basis_gpus(text);
}

static void check_merge(struct lks_str a, struct lks_str b, bool expired, struct lks_buf *out)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
    char digest[LKS_DIGEST_SIZE], again[LKS_DIGEST_SIZE];
    struct lks_err err = {0};
    lks_buf_init(out, OUT_MAX);
    enum lks_code code = lks_basis_merge(a, b, expired, out, digest, &err);
    LKS_ASSERT(code == LKS_OK || code == LKS_E_LIMIT);
    struct lks_str whole = out->ptr == NULL ? LKS_STR("") : lks_buf_view(out);
    if (code != LKS_OK)
        return;
    LKS_ASSERT(lks_basis_parse(whole, &t, &err) == LKS_OK);
    LKS_ASSERT(lks_digest_text(whole, again, &err) == LKS_OK && strcmp(digest, again) == 0);
}

static void check_same(struct lks_str a, struct lks_str b)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf whole = {0};
    check_merge(a, b, false, &whole);
    LKS_ASSERT(lks_str_eq(whole.ptr == NULL ? LKS_STR("") : lks_buf_view(&whole), a));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple a = {0}, b = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf fresh = {0}, old = {0};
    struct lks_err err = {0};
    struct lks_str text = {size > 0 ? (const char *)data : "", size}, one, two;
    (void)lks_str_cut(text, '\0', &one, &two);
    if (lks_basis_parse(one, &a, &err) != LKS_OK || lks_basis_parse(two, &b, &err) != LKS_OK)
        return 0;
    check_values(one, &a);
    if (!is_small(&a) || !is_small(&b))
        return 0;
    check_same(one, LKS_STR(""));
    check_same(one, one);
    check_merge(one, two, false, &fresh);
    check_merge(one, two, true, &old);
    return 0;
}
