/* A configuration in print, key by key; and whether two agree in one. */
#include "server/base/config_parts.h"

#include <string.h>

static void dump_value(const struct lks_config *c, const struct lks_config_key *key,
                       struct lks_buf *out)
{
    const void *value = lks_config_value(c, key);
    if (key->type == LKS_CONFIG_NUMBER) {
        lks_buf_addf(out, "%llu", (unsigned long long)*(const uint64_t *)value);
    } else if (key->type == LKS_CONFIG_WORD) {
        lks_buf_quote(out, lks_str_from(key->words[*(const uint64_t *)value]));
    } else if (lks_config_is_list(key)) {
        const struct lks_config_list *list = value;
        lks_buf_addc(out, '[');
        for (size_t i = 0; i < list->count; i++) {
            lks_buf_addf(out, "%s", i > 0 ? ", " : "");
            lks_buf_quote(out, list->items[i]);
        }
        lks_buf_addc(out, ']');
    } else {
        lks_buf_quote(out, *(const struct lks_str *)value);
    }
}

void lks_config_dump(const struct lks_config *c, struct lks_buf *out)
{
    struct lks_str section = {0};
    for (size_t i = 0; i < lks_config_key_count; i++) {
        const struct lks_config_key *key = &lks_config_keys[i];
        struct lks_str head, tail;
        bool nested = lks_str_cut(lks_str_from(key->key), '.', &head, &tail);
        if (nested && !lks_str_eq(head, section)) {
            lks_buf_addf(out, "\n%" LKS_STR_FMT ":\n", LKS_STR_ARG(head));
            section = head;
        }
        const char *indent = nested ? "  " : "";
        lks_buf_addf(out, "%s# %s%s\n%s%" LKS_STR_FMT ": ", indent, key->about,
                     key->reloadable ? " (SIGHUP)" : "", indent, LKS_STR_ARG(nested ? tail : head));
        dump_value(c, key, out);
        lks_buf_addc(out, '\n');
    }
}

bool lks_config_same(const struct lks_config *a, const struct lks_config *b,
                     const struct lks_config_key *key)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf left = LKS_BUF(LKS_CONFIG_BYTES_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf right = LKS_BUF(LKS_CONFIG_BYTES_MAX);
    dump_value(a, key, &left);
    dump_value(b, key, &right);
    return lks_str_eq(lks_buf_view(&left), lks_buf_view(&right));
}

void lks_config_take(struct lks_config *to, const struct lks_config *from,
                     const struct lks_config_key *key)
{
    size_t size = sizeof(struct lks_str);
    if (key->type == LKS_CONFIG_NUMBER || key->type == LKS_CONFIG_WORD)
        size = sizeof(uint64_t);
    else if (lks_config_is_list(key))
        size = sizeof(struct lks_config_list);
    memcpy(lks_config_place(to, key), lks_config_value(from, key), size);
}
