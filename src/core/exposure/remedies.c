#include "core/exposure/remedies.h"

#include "core/compat/stackdiff.h"
#include "core/rows/change.h"
#include "core/rows/pool.h"
#include "core/rows/registry.h"
#include "core/state/state.h"

#include <stdlib.h>

/* Smaller is nearer. Where one cannot go comes last, then the branch, the number of differences,
 * how far it was promoted, and the newest. */
static int nearest_first(const void *left, const void *right)
{
    const struct lks_remedy *a = left, *b = right;
    const struct {
        uint64_t a, b;
    } keys[] = {
        {!(a->whole && a->back), !(b->whole && b->back)},
        {!a->branch, !b->branch},
        {a->differences, b->differences},
        {LKS_STEP_RELEASED - a->row->step, LKS_STEP_RELEASED - b->row->step},
        {UINT64_MAX - a->row->published, UINT64_MAX - b->row->published},
    };
    for (size_t i = 0; i < LKS_COUNT(keys); i++) {
        if (keys[i].a != keys[i].b)
            return keys[i].a < keys[i].b ? -1 : 1;
    }
    return a->row < b->row ? 1 : -1; /* those published later stand behind */
}

static bool same_branch(const struct lks_stack *a, const struct lks_stack *b)
{
    return lks_version_major(lks_stack_version(a, "driver")) ==
           lks_version_major(lks_stack_version(b, "driver"));
}

/* Of the pool's classes, whether the stack is for one, and whether it is for each. */
static bool fits(const struct lks_state *s, const struct lks_pool_classes *classes, uint32_t pool,
                 const struct lks_stack *stack, bool *whole)
{
    bool any = false;
    *whole = true;
    for (uint32_t at = lks_cadence_classes_first(classes, pool); at != 0;
         at = classes->list[at - 1].next) {
        bool is = lks_stack_is_for(stack, lks_state_text(s, classes->list[at - 1].class));
        any |= is;
        *whole &= is;
    }
    return any;
}

static enum lks_code measure(const struct lks_facts *facts, const struct lks_stack *pin,
                             const struct lks_stack *to, struct lks_remedy *out,
                             struct lks_err *err)
{
    struct lks_stackdiff diff = {0};
    if (lks_stackdiff_make(facts, pin, to, &diff, err) != LKS_OK)
        return err->code;
    out->differences = diff.count;
    out->opens = diff.opened.count;
    out->branch = same_branch(pin, to);
    out->back = diff.one_way == 0 && (diff.class == NULL || diff.class->covers != LKS_COVERS_PLANT);
    lks_stackdiff_fini(&diff);
    return LKS_OK;
}

/* All that close it, of those published last; how many they are goes to `count`. */
static enum lks_code find_all(const struct lks_state *s, const struct lks_book *book,
                              const struct lks_pool_classes *classes, uint32_t pool,
                              const struct lks_advisory *advisory, struct lks_remedy *list,
                              size_t *count, struct lks_err *err)
{
    const struct lks_stack *pin =
        lks_book_stack(book, lks_state_text(s, s->pools[pool].stack_digest));
    const struct lks_affected *ignored;
    for (uint32_t i = s->stack_count; i-- > 0 && *count < LKS_REMEDIES_LOOKED;) {
        struct lks_remedy r = {.row = &s->stacks[i]};
        const struct lks_stack *to = r.row->step == LKS_STEP_RETIRED
                                         ? NULL
                                         : lks_book_stack(book, lks_state_text(s, r.row->digest));
        if (to == NULL || to->vendor != pin->vendor || !fits(s, classes, pool, to, &r.whole) ||
            lks_advisory_exposes(book->facts, advisory, to, &ignored) != NULL)
            continue;
        if (measure(book->facts, pin, to, &r, err) != LKS_OK)
            return err->code;
        list[(*count)++] = r;
    }
    return LKS_OK;
}

enum lks_code lks_remedies_of(const struct lks_state *s, const struct lks_book *book,
                              const struct lks_pool_classes *classes, uint32_t pool,
                              const struct lks_advisory *advisory, struct lks_remedies *out,
                              struct lks_err *err)
{
    struct lks_str digest = lks_state_text(s, s->pools[pool].stack_digest);
    const struct lks_stack *pin = digest.len > 0 ? lks_book_stack(book, digest) : NULL;
    const struct lks_affected *affected = NULL;
    const struct lks_component *by =
        pin != NULL ? lks_advisory_exposes(book->facts, advisory, pin, &affected) : NULL;
    struct lks_remedies r = {.known = pin != NULL, .exposed = by != NULL};
    if (by != NULL) {
        struct lks_remedy *list = calloc(LKS_REMEDIES_LOOKED, sizeof(*list));
        size_t count = 0;
        enum lks_code code = list == NULL
                                 ? lks_fail_nomem(err)
                                 : find_all(s, book, classes, pool, advisory, list, &count, err);
        if (code == LKS_OK && count > 0) {
            qsort(list, count, sizeof(*list), nearest_first);
            r.count = count < LKS_REMEDIES_MAX ? count : LKS_REMEDIES_MAX;
            memcpy(r.list, list, r.count * sizeof(*list));
        }
        free(list);
        if (code != LKS_OK)
            return code;
        r.component = by->name;
        r.fixed = affected->fixed;
    }
    *out = r;
    return LKS_OK;
}

const struct lks_remedy *lks_remedies_best(const struct lks_remedies *r)
{
    return r->count > 0 && r->list[0].whole && r->list[0].back ? &r->list[0] : NULL;
}

/* Proposed for this vulnerability, or for another in as much of a hurry, to a stack that has
 * neither. */
static bool closes(const struct lks_state *s, const struct lks_book *book,
                   const struct lks_state_change *c, const struct lks_advisory *advisory)
{
    const struct lks_affected *ignored;
    struct lks_str why = lks_state_text(s, c->advisory);
    if (why.len == 0 || lks_str_eq(why, advisory->id))
        return why.len > 0;
    const struct lks_stack *to = lks_book_stack(book, lks_state_text(s, c->stack));
    return to != NULL && lks_advisory_exposes(book->facts, advisory, to, &ignored) == NULL;
}

const struct lks_state_change *lks_remedies_change(const struct lks_state *s,
                                                   const struct lks_book *book, uint32_t pool,
                                                   const struct lks_advisory *advisory)
{
    for (uint32_t i = 0; i < s->change_count; i++) {
        const struct lks_state_change *c = &s->changes[i];
        if (!lks_change_over(c) && closes(s, book, c, advisory) &&
            lks_state_change_is_of_pool(s, c, pool))
            return c;
    }
    return NULL;
}
