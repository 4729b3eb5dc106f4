/* Any bytes as a selector: one that is accepted names columns alone, and its terms, written down
 * again, are the same selector. */
#include "cli/shared/selector.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct lks_selector_of of = {.json = "{items: [{id, pool?, a: {b}, c | d}]}"};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf again = LKS_BUF((size_t)1 << 20);
    struct lks_selector s = {0}, other = {0};
    struct lks_err err = {0};
    struct lks_str text = {size > 0 ? (const char *)data : "", size};
    if (lks_selector_parse(text, &of, &s, &err) != LKS_OK)
        return 0;
    for (size_t i = 0; i < s.count; i++) {
        const struct lks_selector_term *t = &s.terms[i];
        LKS_ASSERT(lks_selector_check(&of, "", t->key, &err) == LKS_OK);
        lks_buf_addf(&again, "%s", i > 0 ? "," : "");
        lks_buf_add(&again, t->key);
        lks_buf_addf(&again, "%s", t->differs ? "!=" : "==");
        lks_buf_add(&again, t->value);
    }
    LKS_ASSERT(lks_buf_check(&again, &err) == LKS_OK);
    LKS_ASSERT(lks_selector_parse(lks_buf_view(&again), &of, &other, &err) == LKS_OK);
    LKS_ASSERT(other.count == s.count);
    for (size_t i = 0; i < s.count; i++)
        LKS_ASSERT(lks_str_eq(s.terms[i].key, other.terms[i].key) &&
                   lks_str_eq(s.terms[i].value, other.terms[i].value) &&
                   s.terms[i].differs == other.terms[i].differs);
    return 0;
}
