#include "agent/state/ledger.h"

#define LEDGER_BYTES_MAX ((size_t)4 << 20)

/* Whether the line of `id` in the ledger's text says that it had begun and no more. */
static bool had_begun(struct lks_str text, uint64_t id)
{
    struct lks_str line, word, rest;
    uint64_t number;
    while (text.len > 0) {
        lks_str_cut(text, '\n', &line, &text);
        lks_str_cut(line, ' ', &word, &rest);
        if (!lks_str_number(word, UINT64_MAX, &number) || number != id)
            continue;
        lks_str_cut(rest, ' ', &word, &rest);
        return lks_str_is(word, "begun");
    }
    return false;
}

static enum lks_code tell_unknown(const struct lks_at_most_once *once, struct lks_str text,
                                  lks_ledger_fn *unknown, void *ctx, bool *any, struct lks_err *err)
{
    for (size_t i = 0; i < once->count; i++) {
        const struct lks_at_most_once_entry *e = &once->entries[i];
        if (e->outcome != LKS_OUTCOME_UNKNOWN || !had_begun(text, e->id))
            continue;
        *any = true;
        if (unknown != NULL && unknown(ctx, e, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

enum lks_code lks_ledger_load(const struct lks_statedir *dir, lks_ledger_fn *unknown, void *ctx,
                              struct lks_at_most_once *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    LKS_CLEANUP(lks_at_most_once_fini) struct lks_at_most_once once = {0};
    bool any = false;
    enum lks_code code = lks_statedir_read(dir, LKS_LEDGER_FILE, LEDGER_BYTES_MAX, &text, err);
    if (code == LKS_E_NOT_FOUND) {
        *out = LKS_MOVE(once);
        return LKS_OK;
    }
    if (code != LKS_OK)
        return code;
    if (lks_at_most_once_parse(lks_buf_view(&text), &once, err) != LKS_OK)
        return lks_wrap(err, "%s", dir->path);
    if (tell_unknown(&once, lks_buf_view(&text), unknown, ctx, &any, err) != LKS_OK)
        return err->code;
    if (any && lks_ledger_save(dir, &once, err) != LKS_OK)
        return err->code;
    *out = LKS_MOVE(once);
    return LKS_OK;
}

enum lks_code lks_ledger_save(const struct lks_statedir *dir, const struct lks_at_most_once *once,
                              struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LEDGER_BYTES_MAX);
    lks_at_most_once_print(once, &text);
    if (lks_buf_check(&text, err) != LKS_OK)
        return err->code;
    return lks_statedir_write(dir, LKS_LEDGER_FILE, lks_buf_view(&text), err);
}
