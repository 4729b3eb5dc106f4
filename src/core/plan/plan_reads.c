/* What was read of a node decides about its firmware where its stack does not: which version it
 * runs, and whether its management endpoint can switch back to the other bank. */
#include "core/compat/parts.h"
#include "core/conform/basis.h"
#include "core/plan/plan_work.h"
#include "core/state/state.h"

#include <stdio.h>

/* A line of a kind's `reads`: the component, the version it runs or nothing, and one of these. */
static const char switches_yes[] = "switches", switches_no[] = "one bank", switches_unknown[] = "?";

/* The version that all devices of the class run; empty: not read, or they differ. */
static struct lks_str runs(const struct lks_tuple *read, struct lks_str name)
{
    size_t count = 0;
    const struct lks_reading *r = lks_tuple_range(read, name, &count);
    for (size_t i = 0; i < count; i++) {
        if (r[i].state != LKS_MEASURED || !lks_str_eq(r[i].value, r[0].value))
            return LKS_STR("");
    }
    return count > 0 ? r[0].value : LKS_STR("");
}

/* Only a Redfish service lists its banks. One that was not read yet may offer anything. */
static const char *switches(const struct lks_plan_kind *kind, const struct lks_tuple *read,
                            struct lks_str bare)
{
    char name[LKS_READING_NAME_MAX + 1];
    size_t count = 0;
    snprintf(name, sizeof(name), "firmware/%" LKS_STR_FMT, LKS_STR_ARG(bare));
    if (kind->endpoint != LKS_PLAN_REDFISH || runs(read, lks_str_from(name)).len == 0)
        return switches_unknown;
    snprintf(name, sizeof(name), "switch/%" LKS_STR_FMT, LKS_STR_ARG(bare));
    (void)lks_tuple_range(read, lks_str_from(name), &count);
    return count > 0 ? switches_yes : switches_no;
}

static void put(const struct lks_plan_kind *kind, const struct lks_component *c, bool pinned,
                const struct lks_tuple *whole, const struct lks_tuple *outband, struct lks_buf *out)
{
    struct lks_str bare = lks_component_bare(c->name);
    struct lks_str version = pinned ? LKS_STR("") : runs(whole, c->name);
    lks_buf_addf(out, "%" LKS_STR_FMT "\t%" LKS_STR_FMT "\t%s\n", LKS_STR_ARG(bare),
                 LKS_STR_ARG(version), switches(kind, outband, bare));
}

void lks_plan_reads(const struct lks_planning *p, uint32_t node, const struct lks_plan_kind *kind,
                    struct lks_buf *out)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple whole = {0};
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple outband = {0};
    const struct lks_node *n = &p->state->nodes[node];
    const struct lks_stack *from = lks_book_stack(p->book, kind->before);
    struct lks_err err = {0};
    bool parsed = false;
    for (size_t i = 0; p->to != NULL && from != NULL && i < p->to->component_count; i++) {
        const struct lks_component *c = &p->to->components[i];
        const struct lks_component *was = lks_plan_component_in(from, c->label);
        if (!lks_component_is_firmware(c->name) ||
            (was != NULL && lks_str_eq(was->version, c->version)))
            continue;
        if (!parsed &&
            (lks_basis_parse(lks_state_readings(p->state, n->whole), &whole, &err) != LKS_OK ||
             lks_basis_parse(lks_state_readings(p->state, n->outband), &outband, &err) != LKS_OK))
            return; /* nothing is known of it */
        parsed = true;
        put(kind, c, was != NULL, &whole, &outband, out);
    }
}

/* The line of the component; false: there is none. */
static bool find(const struct lks_plan_kind *kind, struct lks_str bare, struct lks_str *version,
                 struct lks_str *switching)
{
    struct lks_str rest = kind->reads, line, name, tail;
    while (rest.len > 0) {
        (void)lks_str_cut(rest, '\n', &line, &rest);
        if (lks_str_cut(line, '\t', &name, &tail) && lks_str_eq(name, bare) &&
            lks_str_cut(tail, '\t', version, switching))
            return true;
    }
    return false;
}

struct lks_str lks_plan_runs(const struct lks_plan_kind *kind, struct lks_str bare)
{
    struct lks_str version, switching;
    return find(kind, bare, &version, &switching) ? version : LKS_STR("");
}

bool lks_plan_one_bank(const struct lks_plan_kind *kind, struct lks_str bare)
{
    struct lks_str version, switching;
    return find(kind, bare, &version, &switching) && lks_str_is(switching, switches_no);
}
