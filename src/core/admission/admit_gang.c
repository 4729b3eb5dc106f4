/* What the nodes of a job are to each other. */
#include "core/admission/admit_parts.h"
#include "core/rows/pool.h"
#include "core/state/agree.h"
#include "core/state/state.h"

/* Postures ----------------------------------------------------------------------------------- */

static struct lks_str pool_name(const struct lks_admitting *a, const struct lks_admit_part *part)
{
    return part->pool != NULL ? lks_state_text(a->state, part->pool->name) : LKS_STR("");
}

static void add_posture(struct lks_admitting *a, const struct lks_admit_part *one,
                        const struct lks_admit_part *other, const char *why)
{
    struct lks_admit_no no = {
        .bar = LKS_BAR_POSTURE,
        .pool = pool_name(a, other),
        .text = lks_admit_text(a,
                               "pools '%" LKS_STR_FMT "' (%" LKS_STR_FMT ") and '%" LKS_STR_FMT
                               "' (%" LKS_STR_FMT ") do not share a job: %s",
                               LKS_STR_ARG(pool_name(a, one)),
                               LKS_STR_ARG(lks_state_text(a->state, one->posture)),
                               LKS_STR_ARG(pool_name(a, other)),
                               LKS_STR_ARG(lks_state_text(a->state, other->posture)), why)};
    lks_admit_add(a, lks_admit_enforced(a, false), &no);
}

/* Development shares nothing with production, and those that pin without exception share nothing
 * with others. What is left is a trainer with its rollout workers, or pools that tolerate it. */
void lks_admit_postures(struct lks_admitting *a)
{
    const struct lks_admit_part *first = a->taken[0], *never = NULL, *mixed = NULL, *apart = NULL;
    for (uint32_t i = 0; i < a->taken_count; i++) {
        const struct lks_admit_part *part = a->taken[i];
        if (apart == NULL && part->production != first->production)
            apart = part;
        if (never == NULL && part->never)
            never = part;
    }
    for (uint32_t i = 0; i < a->taken_count && never != NULL && mixed == NULL; i++) {
        if (a->taken[i]->posture != never->posture)
            mixed = a->taken[i];
    }
    if (apart != NULL)
        add_posture(a, first, apart, "one is production and one is not");
    else if (mixed != NULL)
        add_posture(a, never, mixed, "a synchronous gang is of one posture");
}

/* Values ------------------------------------------------------------------------------------- */

/* Nodes that have the same. */
struct group {
    struct lks_admit_key key;
    uint32_t node; /* the first of them */
    uint32_t count;
    bool differs; /* from most others */
    struct lks_str text;
};

struct groups {
    struct group *items;
    uint32_t *of_verdict; /* by place in `verdicts`: the group, counted from 1 */
    uint32_t count, room, nodes;
    const struct group *most;
};

static struct group *group_of(struct groups *g, struct lks_admit_key key)
{
    for (uint32_t i = 0; i < g->count; i++) {
        const struct lks_admit_key *has = &g->items[i].key;
        if (has->stack == key.stack && has->values == key.values && has->wrong == key.wrong)
            return &g->items[i];
    }
    struct group *made = &g->items[g->count++];
    made->key = key;
    return made;
}

/* The verdict of a node that must agree with others and has something to compare; 0: none. */
static uint32_t compared(const struct lks_admitting *a, size_t rank)
{
    uint32_t node = a->nodes[rank];
    if (node == LKS_NO_NODE || !lks_admit_part(a, node)->sync)
        return 0;
    return a->state->nodes[node].verdict;
}

/* Verdicts are few and nodes are many: the former are sorted into groups, the latter counted. */
static bool make_groups(struct lks_admitting *a, struct groups *g)
{
    const struct lks_state *s = a->state;
    struct lks_arena *arena = &a->out->arena;
    size_t room = a->ask->count < s->verdict_count ? a->ask->count : s->verdict_count;
    g->items = lks_arena_array(arena, room, sizeof(g->items[0]));
    g->of_verdict = lks_arena_array(arena, s->verdict_count, sizeof(g->of_verdict[0]));
    if (g->items == NULL || g->of_verdict == NULL) {
        lks_admit_fail(a);
        return false;
    }
    for (size_t i = 0; i < a->ask->count; i++) {
        uint32_t verdict = compared(a, i);
        if (verdict == 0)
            continue;
        if (g->of_verdict[verdict] == 0)
            g->of_verdict[verdict] =
                (uint32_t)(group_of(g, lks_admit_key(a, a->nodes[i])) - g->items) + 1;
        struct group *group = &g->items[g->of_verdict[verdict] - 1];
        if (group->count++ == 0)
            group->node = a->nodes[i];
        g->nodes++;
    }
    g->most = &g->items[0];
    for (uint32_t i = 1; i < g->count; i++) {
        if (g->items[i].count > g->most->count)
            g->most = &g->items[i];
    }
    return true;
}

/* A group that contradicts no more than some others, and not most of them. */
static void compare_others(struct lks_admitting *a, const struct groups *g, struct group *group,
                           struct lks_agreed *agreed)
{
    struct lks_value one, other;
    if (lks_agree_add(agreed, a->state, group->key.values, &one, &other))
        return;
    group->differs = true;
    group->text =
        one.subject.len == 0
            ? lks_admit_text(a, "its values are of more than %d kinds", LKS_AGREE_KINDS_MAX)
            : lks_admit_text(
                  a, "%" LKS_STR_FMT " %" LKS_STR_FMT ", where others of %u have %" LKS_STR_FMT,
                  LKS_STR_ARG(one.subject), LKS_STR_ARG(one.value), g->nodes,
                  LKS_STR_ARG(other.value));
}

/* Only one of the two runs a deviation, or they run different ones: what it is about. */
static struct lks_str deviates_text(struct lks_admitting *a, const struct groups *g,
                                    const struct group *group)
{
    struct lks_wrong wrong = {0};
    struct lks_str own = lks_state_text(a->state, group->key.wrong);
    struct lks_str others = lks_state_text(a->state, g->most->key.wrong);
    if (lks_verdict_wrong_next(&own, &wrong))
        return lks_admit_text(
            a, "%" LKS_STR_FMT " %" LKS_STR_FMT " by a deviation that %u of %u do not run",
            LKS_STR_ARG(wrong.subject), LKS_STR_ARG(wrong.actual), g->most->count, g->nodes);
    (void)lks_verdict_wrong_next(&others, &wrong);
    return lks_admit_text(a, "not the deviation that %u of %u run: %" LKS_STR_FMT " %" LKS_STR_FMT,
                          g->most->count, g->nodes, LKS_STR_ARG(wrong.subject),
                          LKS_STR_ARG(wrong.actual));
}

static void compare_group(struct lks_admitting *a, const struct groups *g, struct group *group)
{
    const struct lks_state *s = a->state;
    const struct group *most = g->most;
    struct lks_value one = {0}, other = {0};
    bool values = lks_agree_contradict(lks_state_text(s, group->key.values),
                                       lks_state_text(s, most->key.values), &one, &other);
    bool stacks = group->key.stack != most->key.stack;
    bool apart = group->key.wrong != most->key.wrong;
    group->differs = values || stacks || apart;
    if (values)
        group->text = lks_admit_text(
            a, "%" LKS_STR_FMT " %" LKS_STR_FMT ", where %u of %u have %" LKS_STR_FMT "%s",
            LKS_STR_ARG(one.subject), LKS_STR_ARG(one.value), most->count, g->nodes,
            LKS_STR_ARG(other.value), stacks ? ", and another stack" : "");
    else if (stacks)
        group->text = lks_admit_text(
            a, "stack '%" LKS_STR_FMT "', where %u of %u have '%" LKS_STR_FMT "'",
            LKS_STR_ARG(lks_admit_stack(a, group->node, group->key.stack)), most->count, g->nodes,
            LKS_STR_ARG(lks_admit_stack(a, most->node, most->key.stack)));
    else if (apart)
        group->text = deviates_text(a, g, group);
}

void lks_admit_odd(struct lks_admitting *a)
{
    struct groups g = {0};
    struct lks_agreed agreed = {.count = 1};
    bool refuse = lks_admit_enforced(a, true);
    if (!make_groups(a, &g))
        return;
    agreed.kinds[0] = g.most->key.values;
    for (uint32_t i = 0; i < g.count; i++) {
        if (&g.items[i] != g.most)
            compare_group(a, &g, &g.items[i]);
        if (!g.items[i].differs)
            compare_others(a, &g, &g.items[i], &agreed);
    }
    for (size_t i = 0; i < a->ask->count; i++) {
        uint32_t verdict = compared(a, i);
        const struct group *group = verdict > 0 ? &g.items[g.of_verdict[verdict] - 1] : NULL;
        if (group == NULL || !group->differs)
            continue;
        const struct lks_admit_no no = {
            .bar = LKS_BAR_DISAGREES,
            .node = a->ask->names[i],
            .pool = pool_name(a, lks_admit_part(a, a->nodes[i])),
            .text = group->text,
        };
        lks_admit_add(a, refuse, &no);
    }
}
