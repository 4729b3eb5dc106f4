#include "core/compat/advisory.h"

#include "base/vec.h"
#include "core/compat/boards.h"
#include "core/compat/lifecycle.h"
#include "core/compat/parts.h"

#include <stdlib.h>

static const struct {
    const char *code, *about;
} exposures[] = {
    [LKS_EXPOSED] = {"exposed", "exposed"},
    [LKS_UNFIXED] = {"unfixed", "no fix for this branch"},
    [LKS_BY_HAND] = {"by-hand", "check by hand"},
};

const char *lks_advisory_exposure_code(enum lks_exposure exposure)
{
    LKS_ASSERT((size_t)exposure < LKS_COUNT(exposures));
    return exposures[exposure].code;
}

const char *lks_advisory_exposure_about(enum lks_exposure exposure)
{
    LKS_ASSERT((size_t)exposure < LKS_COUNT(exposures));
    return exposures[exposure].about;
}

int lks_advisory_score(const struct lks_advisory *advisory)
{
    struct lks_str whole, tenth;
    uint64_t a = 0, b = 0;
    lks_str_cut(advisory->cvss, '.', &whole, &tenth);
    if (!lks_str_number(whole, 10, &a))
        return 0;
    if (!lks_str_number(tenth, 9, &b))
        b = 0;
    return (int)(a * 10 + b);
}

/* Firmware carries its class with a prefix in a stack, and mostly without one in the bulletins. */
static bool same_component(struct lks_str pinned, struct lks_str named)
{
    return lks_str_eq(pinned, named) || lks_str_eq(lks_component_bare(pinned), named);
}

static bool branch_fits(const struct lks_affected *a, const struct lks_advisory_subject *c)
{
    bool is_branch =
        a->branch.len > 1 && a->branch.ptr[0] == 'R' && lks_version_major(a->branch) > 0;
    return !is_branch || lks_version_major(a->branch) == lks_version_major(c->version);
}

/* Whether `a` says anything about `c`, and what. */
static bool is_exposed(const struct lks_facts *facts, const struct lks_affected *a,
                       const struct lks_advisory_subject *c, enum lks_exposure *out)
{
    if (!same_component(c->name, a->component) || !branch_fits(a, c) ||
        !lks_boards_any_family(c->boards, c->board_count, a->gpus))
        return false;
    *out = LKS_BY_HAND;
    if (a->range.len == 0)
        return true;
    enum lks_version_scheme scheme = lks_facts_scheme(facts, c->name);
    struct lks_str version = c->version; /* a machine may say more than a bulletin asks for */
    struct lks_range range;
    struct lks_err ignored = {0};
    if (scheme == LKS_VERSION_DOTTED)
        version = lks_version_stated(version, a->range);
    *out = LKS_EXPOSED;
    return lks_version_range_parse(a->range, scheme, &range, &ignored) == LKS_OK &&
           lks_version_range_has(&range, version, scheme);
}

/* A driver branch the bulletin does not mention, and which had ended by then. */
static bool is_unfixed(const struct lks_facts *facts, const struct lks_advisory *advisory,
                       const struct lks_advisory_subject *c)
{
    if (!lks_str_is(c->name, "driver") || !lks_str_is(advisory->component, "driver"))
        return false;
    for (size_t i = 0; i < advisory->affected_count; i++) {
        if (same_component(c->name, advisory->affected[i].component) &&
            branch_fits(&advisory->affected[i], c))
            return false;
    }
    const struct lks_branch *branch = lks_facts_branch(facts, lks_version_major(c->version));
    lks_day end = branch != NULL ? lks_lifecycle_end(branch) : LKS_DAY_NONE;
    return end != LKS_DAY_NONE && advisory->published != LKS_DAY_NONE && end < advisory->published;
}

/* What can be told from a version goes before what takes a person. */
bool lks_advisory_reaches(const struct lks_facts *facts, const struct lks_advisory *advisory,
                          const struct lks_advisory_subject *subject,
                          const struct lks_affected **affected, enum lks_exposure *exposure)
{
    const struct lks_affected *worst = NULL;
    enum lks_exposure how = LKS_UNFIXED;
    for (size_t i = 0; i < advisory->affected_count; i++) {
        enum lks_exposure found;
        if (!is_exposed(facts, &advisory->affected[i], subject, &found) ||
            (worst != NULL && how <= found))
            continue;
        worst = &advisory->affected[i];
        how = found;
    }
    if (worst == NULL && !is_unfixed(facts, advisory, subject))
        return false;
    *affected = worst;
    *exposure = how;
    return true;
}

const struct lks_component *lks_advisory_exposes(const struct lks_facts *facts,
                                                 const struct lks_advisory *advisory,
                                                 const struct lks_stack *stack,
                                                 const struct lks_affected **affected)
{
    const struct lks_gpu *boards[LKS_BOARDS_MAX];
    size_t count = lks_boards_of(facts, stack, boards, LKS_COUNT(boards));
    for (size_t i = 0; i < stack->component_count; i++) {
        const struct lks_component *c = &stack->components[i];
        struct lks_advisory_subject subject = {c->name, c->version, boards, count};
        enum lks_exposure exposure = LKS_BY_HAND;
        if (c->version.len > 0 &&
            lks_advisory_reaches(facts, advisory, &subject, affected, &exposure) &&
            exposure == LKS_EXPOSED)
            return c;
    }
    return NULL;
}

struct finder {
    const struct lks_facts *facts;
    const struct lks_gpu *boards[LKS_BOARDS_MAX];
    size_t board_count;
    struct lks_advisory_list list;
    size_t room;
    struct lks_err *err;
};

static enum lks_code add(struct finder *f, struct lks_open_advisory open)
{
    if (LKS_VEC_RESERVE(f->list.open, f->room, f->list.count + 1, f->err) != LKS_OK)
        return f->err->code;
    f->list.open[f->list.count++] = open;
    f->list.exposed += open.exposure == LKS_EXPOSED;
    return LKS_OK;
}

static enum lks_code judge(struct finder *f, const struct lks_advisory *advisory,
                           const struct lks_component *c)
{
    struct lks_open_advisory open = {.advisory = advisory, .component = c};
    struct lks_advisory_subject subject = {c->name, c->version, f->boards, f->board_count};
    if (!lks_advisory_reaches(f->facts, advisory, &subject, &open.affected, &open.exposure))
        return LKS_OK;
    return add(f, open);
}

static int worst_first(const void *left, const void *right)
{
    const struct lks_open_advisory *a = left, *b = right;
    if (a->exposure != b->exposure)
        return a->exposure < b->exposure ? -1 : 1;
    int order = lks_advisory_score(b->advisory) - lks_advisory_score(a->advisory);
    if (order == 0)
        order = lks_str_cmp(a->advisory->id, b->advisory->id);
    return order != 0 ? order : (a->component > b->component) - (a->component < b->component);
}

enum lks_code lks_advisory_list_of(const struct lks_facts *facts, const struct lks_stack *stack,
                                   struct lks_advisory_list *out, struct lks_err *err)
{
    struct finder f = {.facts = facts, .err = err};
    f.board_count = lks_boards_of(facts, stack, f.boards, LKS_COUNT(f.boards));
    for (size_t i = 0; i < facts->advisories.count; i++) {
        for (size_t j = 0; j < stack->component_count; j++) {
            const struct lks_component *c = &stack->components[j];
            if (c->version.len > 0 && judge(&f, &facts->advisories.rows[i], c) != LKS_OK) {
                lks_advisory_list_fini(&f.list);
                return err->code;
            }
        }
    }
    if (f.list.count > 0)
        qsort(f.list.open, f.list.count, sizeof(*f.list.open), worst_first);
    *out = f.list;
    return LKS_OK;
}

void lks_advisory_list_fini(struct lks_advisory_list *list)
{
    free(list->open);
    *list = (struct lks_advisory_list){0};
}

bool lks_advisory_list_has(const struct lks_advisory_list *list, struct lks_str id)
{
    for (size_t i = 0; i < list->exposed; i++) {
        if (lks_str_eq(list->open[i].advisory->id, id))
            return true;
    }
    return false;
}
