#include "bridge/view/truth.h"

#include "base/intern.h"
#include "codec/notation/drain_reason.h"
#include "codec/notation/hostlist.h"

#include <inttypes.h>

#define ARENA_MAX ((size_t)16 << 20)
#define NAMES_MAX ((size_t)4 << 20)

void lks_bridge_truth_fini(struct lks_bridge_truth *t)
{
    lks_arena_fini(&t->arena);
    *t = (struct lks_bridge_truth){0};
}

/* Reading a request ------------------------------------------------------------------------- */

bool lks_bridge_truth_ours(struct lks_str word)
{
    size_t digit = sizeof(LKS_BRIDGE_TRUTH_SLOT) - 1;
    return lks_str_starts(word, LKS_BRIDGE_TRUTH_PREFIX) ||
           (lks_str_starts(word, LKS_BRIDGE_TRUTH_SLOT) && word.len == digit + 1 &&
            word.ptr[digit] >= '0' && word.ptr[digit] <= '9');
}

/* What Slurm takes as a feature without an operator in it. */
static bool is_feature(struct lks_str word)
{
    bool good = lks_bridge_truth_ours(word) && word.len <= LKS_BRIDGE_TRUTH_WORD &&
                !lks_str_is(word, LKS_BRIDGE_TRUTH_PREFIX);
    for (size_t i = 0; i < word.len && good; i++) {
        char c = word.ptr[i];
        good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    }
    return good;
}

static bool is_digest(struct lks_str text)
{
    bool good = text.len <= LKS_BRIDGE_TRUTH_DIGEST;
    for (size_t i = 0; i < text.len && good; i++)
        good = text.ptr[i] > ' ' && text.ptr[i] < 0x7f;
    return good;
}

static enum lks_code read_features(const struct lks_doc *list, struct lks_arena *arena,
                                   struct lks_str *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini)
    struct lks_buf text = LKS_BUF(LKS_BRIDGE_TRUTH_FEATURES * (LKS_BRIDGE_TRUTH_WORD + (size_t)2));
    if (list == NULL || list->kind != LKS_DOC_LIST || list->count > LKS_BRIDGE_TRUTH_FEATURES)
        return lks_fail(err, LKS_E_INVALID, "features: a list of at most %d",
                        LKS_BRIDGE_TRUTH_FEATURES);
    for (const struct lks_doc *word = list->first; word != NULL; word = word->next) {
        if (word->kind != LKS_DOC_TEXT || !is_feature(word->text))
            return lks_fail(err, LKS_E_INVALID,
                            "features: each starts with '" LKS_BRIDGE_TRUTH_PREFIX
                            "' or is a slot such as '" LKS_BRIDGE_TRUTH_SLOT
                            "0', and has at most %d of a-z, 0-9, '-', '_' and '.'",
                            LKS_BRIDGE_TRUTH_WORD);
        lks_buf_addf(&text, "%s%" LKS_STR_FMT, text.len > 0 ? "," : "", LKS_STR_ARG(word->text));
    }
    if (lks_buf_check(&text, err) != LKS_OK)
        return err->code;
    *out = lks_arena_copy(arena, lks_buf_view(&text));
    return out->ptr != NULL ? LKS_OK : lks_arena_fail(arena, err);
}

static enum lks_code read_group(const struct lks_doc *group, struct lks_bridge_truth *out,
                                struct lks_intern *seen, struct lks_err *err)
{
    struct lks_bridge_truth_row row = {0};
    struct lks_hostlist hosts = {0};
    struct lks_str digest = lks_doc_text(group, "digest");
    size_t count = 0;
    if (!is_digest(digest))
        return lks_fail(err, LKS_E_INVALID, "digest: at most %d bytes without blanks",
                        LKS_BRIDGE_TRUTH_DIGEST);
    if (lks_hostlist_count(lks_doc_text(group, "nodes"), &count, err) != LKS_OK)
        return lks_wrap(err, "nodes");
    if (count == 0 || count > LKS_BRIDGE_TRUTH_NODES - out->count)
        return lks_fail(err, LKS_E_INVALID, "nodes: from 1 to %" PRIu32 " in all",
                        LKS_BRIDGE_TRUTH_NODES);
    row.digest = lks_arena_copy(&out->arena, digest);
    if (read_features(lks_doc_member(group, "features"), &out->arena, &row.features, err) !=
            LKS_OK ||
        lks_hostlist_parse(lks_doc_text(group, "nodes"), &out->arena, &hosts, err) != LKS_OK)
        return err->code;
    for (size_t i = 0; i < hosts.count; i++) {
        uint32_t id = 0, before = lks_intern_count(seen);
        if (lks_intern_id(seen, hosts.names[i], &id, err) != LKS_OK)
            return err->code;
        if (id < before)
            return lks_fail(err, LKS_E_INVALID, "nodes: '%" LKS_STR_FMT "' is named twice",
                            LKS_STR_ARG(hosts.names[i]));
        row.node = hosts.names[i];
        out->rows[out->count++] = row;
    }
    return LKS_OK;
}

enum lks_code lks_bridge_truth_read(const struct lks_doc *body, struct lks_bridge_truth *out,
                                    struct lks_err *err)
{
    LKS_CLEANUP(lks_intern_fini) struct lks_intern seen = {0};
    const struct lks_doc *list = lks_doc_member(body, "truth");
    struct lks_bridge_truth made = {0};
    enum lks_code code = LKS_OK;
    if (list == NULL || list->kind != LKS_DOC_LIST || list->count == 0)
        return lks_fail(err, LKS_E_INVALID,
                        "truth: a list of {\"nodes\", \"features\", \"digest\"}");
    lks_arena_init(&made.arena, ARENA_MAX);
    lks_intern_init(&seen, NAMES_MAX);
    made.rows = lks_arena_array(&made.arena, LKS_BRIDGE_TRUTH_NODES, sizeof(*made.rows));
    if (made.rows == NULL)
        code = lks_arena_fail(&made.arena, err);
    for (const struct lks_doc *group = list->first; group != NULL && code == LKS_OK;
         group = group->next)
        code = read_group(group, &made, &seen, err);
    if (code == LKS_OK)
        *out = made;
    else
        lks_bridge_truth_fini(&made);
    return code;
}

/* Features ---------------------------------------------------------------------------------- */

void lks_bridge_truth_merge(struct lks_str list, struct lks_str ours, struct lks_buf *out)
{
    struct lks_str word;
    size_t from = out->len;
    for (bool more = list.len > 0; more;) {
        more = lks_str_cut(list, ',', &word, &list);
        if (word.len > 0 && !lks_bridge_truth_ours(word))
            lks_buf_addf(out, "%s%" LKS_STR_FMT, out->len > from ? "," : "", LKS_STR_ARG(word));
    }
    if (ours.len > 0)
        lks_buf_addf(out, "%s%" LKS_STR_FMT, out->len > from ? "," : "", LKS_STR_ARG(ours));
}

/* How many of the list are ours, and whether all of them are in `ours`. */
static size_t count_ours(struct lks_str list, struct lks_str ours, bool *all)
{
    struct lks_str word, other, rest;
    size_t count = 0;
    *all = true;
    for (bool more = list.len > 0; more;) {
        more = lks_str_cut(list, ',', &word, &list);
        if (!lks_bridge_truth_ours(word))
            continue;
        bool found = false;
        rest = ours;
        for (bool next = rest.len > 0; next && !found;) {
            next = lks_str_cut(rest, ',', &other, &rest);
            found = lks_str_eq(word, other);
        }
        *all = *all && found;
        count++;
    }
    return count;
}

bool lks_bridge_truth_is(struct lks_str list, struct lks_str ours)
{
    bool all = false, back = false;
    size_t here = count_ours(list, ours, &all), there = count_ours(ours, list, &back);
    return here == there && all && back;
}

/* The digest ---------------------------------------------------------------------------------- */

static bool is_free(struct lks_str text)
{
    return text.len == 0 || lks_str_starts(text, LKS_DRAIN_REASON_MARK);
}

enum lks_bridge_truth_place lks_bridge_truth_place(struct lks_str extra, struct lks_str comment)
{
    if (is_free(extra))
        return LKS_BRIDGE_TRUTH_EXTRA;
    return is_free(comment) ? LKS_BRIDGE_TRUTH_COMMENT : LKS_BRIDGE_TRUTH_NOWHERE;
}

struct lks_str lks_bridge_truth_digest(struct lks_str extra, struct lks_str comment)
{
    enum lks_bridge_truth_place place = lks_bridge_truth_place(extra, comment);
    struct lks_str text = place == LKS_BRIDGE_TRUTH_EXTRA     ? extra
                          : place == LKS_BRIDGE_TRUTH_COMMENT ? comment
                                                              : LKS_STR("");
    size_t mark = sizeof(LKS_DRAIN_REASON_MARK) - 1;
    return text.len > mark ? (struct lks_str){text.ptr + mark, text.len - mark} : LKS_STR("");
}
