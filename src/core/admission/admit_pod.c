#include "core/admission/admit_pod.h"

#include "base/vec.h"
#include "codec/kubernetes/pod_patch.h"
#include "core/plan/drain.h"
#include "core/rows/node.h"
#include "core/rows/now.h"
#include "core/rows/pool.h"
#include "core/rows/registry.h"
#include "core/state/state.h"

#include <stdio.h>

#define MEMORY_MAX  ((size_t)64 << 20)
#define CONTROLLERS "system:serviceaccount:kube-system:" /* they make pods of Jobs and so on */
#define NODE_BARS   ((UINT64_C(1) << LKS_BAR_COUNT) - 1)
#define POOL_BARS   (UINT64_C(1) << LKS_BAR_IMAGE | UINT64_C(1) << LKS_BAR_BEHIND)

enum { SHORT_HEX = 12, TEXT_MAX = 512 }; /* digits of a digest in a label */

/* A pod being looked at. */
struct looking {
    const struct lks_state *s;
    const struct lks_book *book;
    struct lks_now now;
    const struct lks_admit_pod_ask *ask;
    struct lks_admit_pod *out;
    struct lks_pod_choice nodes, digests;
    bool named;                              /* its pools are those of nodes that it names */
    uint32_t pools[LKS_ADMIT_POD_POOLS_MAX]; /* that it may go to */
    uint32_t first[LKS_ADMIT_POD_POOLS_MAX]; /* a node of each */
    uint32_t pool_count;
};

/* Its pools ----------------------------------------------------------------------------------- */

static bool is_ours(const struct lks_state *s, uint32_t pool)
{
    return pool < s->pool_count && s->pools[pool].known &&
           lks_drain_sched_has(lks_state_text(s, s->pools[pool].sched),
                               LKS_STR(LKS_ADMIT_POD_SCHED));
}

/* A node of the fleet that Kubernetes schedules, or LKS_NO_NODE. */
static uint32_t node_of(const struct lks_state *s, struct lks_str name)
{
    uint32_t node = lks_state_node(s, name);
    bool ours = node != LKS_NO_NODE && s->nodes[node].asset == 0 && is_ours(s, s->nodes[node].pool);
    return ours ? node : LKS_NO_NODE;
}

static void add_pool(struct looking *l, uint32_t pool, uint32_t node)
{
    for (uint32_t i = 0; i < l->pool_count; i++) {
        if (l->pools[i] == pool)
            return;
    }
    if (l->pool_count == LKS_ADMIT_POD_POOLS_MAX)
        return;
    l->pools[l->pool_count] = pool;
    l->first[l->pool_count++] = node;
}

/* Nodes that the fleet does not have are left out of its choice. */
static void find_by_nodes(struct looking *l)
{
    struct lks_pod_choice known = {0};
    for (size_t i = 0; i < l->nodes.count; i++) {
        uint32_t node = node_of(l->s, l->nodes.values[i]);
        if (node == LKS_NO_NODE)
            continue;
        known.values[known.count++] = l->nodes.values[i];
        add_pool(l, l->s->nodes[node].pool, node);
    }
    l->nodes = known;
}

static bool begins(struct lks_str digest, struct lks_str hex)
{
    struct lks_str its = lks_str_last(digest, ':');
    return hex.len == SHORT_HEX && its.len >= SHORT_HEX &&
           lks_str_eq((struct lks_str){its.ptr, SHORT_HEX}, hex);
}

static bool is_chosen(const struct looking *l, lks_text digest)
{
    for (size_t i = 0; i < l->digests.count; i++) {
        if (begins(lks_state_text(l->s, digest), l->digests.values[i]))
            return true;
    }
    return false;
}

/* Pools with nodes: of that name where it is not empty, and with a node that should run a chosen
 * digest where some are chosen. The last answer is kept, as neighbours mostly have one stack. */
static void find_by_walk(struct looking *l, struct lks_str name)
{
    const struct lks_state *s = l->s;
    uint32_t last_pool = UINT32_MAX;
    lks_text last = 0;
    for (uint32_t i = 0; i < s->node_count; i++) {
        const struct lks_node *n = &s->nodes[i];
        if (!n->placed || n->asset != 0 || n->pool >= s->pool_count)
            continue;
        lks_text intent = l->digests.count > 0 ? lks_state_intent(s, i) : 0;
        if (n->pool == last_pool && intent == last)
            continue;
        last_pool = n->pool;
        last = intent;
        if (is_ours(s, n->pool) &&
            (name.len == 0 || lks_str_eq(lks_state_text(s, s->pools[n->pool].name), name)) &&
            (l->digests.count == 0 || is_chosen(l, intent)))
            add_pool(l, n->pool, i);
    }
}

/* A published stack may come to a pool by a change, and the pod waits for it. */
static bool is_published(const struct looking *l)
{
    const struct lks_state *s = l->s;
    for (uint32_t i = 0; i < s->stack_count; i++) {
        if (is_chosen(l, s->stacks[i].digest))
            return true;
    }
    return false;
}

static struct lks_str pool_of(const struct lks_pod *pod)
{
    struct lks_pod_choice pools;
    struct lks_str name = lks_pod_annotation(pod, LKS_POD_POOL);
    lks_pod_choose(pod, LKS_POD_POOL, &pools);
    return name.len > 0 ? name : pools.count == 1 ? pools.values[0] : LKS_STR("");
}

static bool is_pool(const struct lks_state *s, struct lks_str name)
{
    uint32_t pool = name.len > 0 ? lks_state_pool(s, name) : UINT32_MAX;
    return is_ours(s, pool);
}

/* `missing`: no stack has the digest that it selects. */
static void find_pools(struct looking *l, bool *missing)
{
    struct lks_str name = pool_of(l->ask->pod);
    l->named = l->nodes.count > 0;
    if (l->named) {
        find_by_nodes(l);
        return;
    }
    l->out->unknown_pool = name.len > 0 && !is_pool(l->s, name);
    if (l->out->unknown_pool)
        name = LKS_STR("");
    find_by_walk(l, name);
    if (l->pool_count > 0 || l->digests.count == 0)
        return;
    *missing = !is_published(l);
    l->digests.count = 0;
    find_by_walk(l, name);
}

static bool enforces(const struct lks_state *s, uint32_t pool)
{
    return lks_str_is(lks_state_text(s, s->pools[pool].enforce), "on");
}

static enum lks_code take_pools(struct looking *l, struct lks_err *err)
{
    struct lks_admit *a = &l->out->answer;
    uint32_t on = 0;
    a->pools = lks_arena_array(&a->arena, l->pool_count + 1, sizeof(a->pools[0]));
    if (a->pools == NULL)
        return lks_arena_fail(&a->arena, err);
    for (uint32_t i = 0; i < l->pool_count; i++) {
        a->pools[a->pool_count++] = l->pools[i];
        on += enforces(l->s, l->pools[i]);
    }
    l->out->concerns = l->pool_count > 0;
    l->out->enforces = l->out->concerns && on == l->pool_count;
    l->out->several = on > 0 && on < l->pool_count;
    if (l->pool_count == 1) {
        l->out->pool = l->pools[0];
        l->out->pool_name = lks_state_text(l->s, l->s->pools[l->pools[0]].name);
    }
    return LKS_OK;
}

/* Who and what ------------------------------------------------------------------------------- */

static struct lks_str cut(struct lks_str text, size_t max)
{
    if (text.len > max)
        text.len = max;
    while (!lks_str_utf8(text, NULL)) /* not within a character */
        text.len--;
    return text;
}

/* Controllers make most pods, and the namespace tells more than their names. */
static enum lks_code name_it(struct looking *l, struct lks_err *err)
{
    const struct lks_admit_pod_ask *ask = l->ask;
    const struct lks_pod *pod = ask->pod;
    struct lks_arena *arena = &l->out->answer.arena;
    struct lks_str name = pod->gang.kind != NULL ? pod->gang.name : pod->name;
    struct lks_str job = lks_arena_format(arena, "%" LKS_STR_FMT "/%" LKS_STR_FMT,
                                          LKS_STR_ARG(ask->space), LKS_STR_ARG(name));
    struct lks_str user =
        lks_str_starts(ask->user, CONTROLLERS)
            ? lks_arena_format(arena, "namespace/%" LKS_STR_FMT, LKS_STR_ARG(ask->space))
            : ask->user;
    if (job.ptr == NULL || user.ptr == NULL)
        return lks_arena_fail(arena, err);
    if (!lks_str_printable(job))
        job = ask->space;
    l->out->job = cut(job, LKS_ADMIT_JOB_MAX);
    l->out->user = cut(user, LKS_ADMIT_USER_MAX);
    return LKS_OK;
}

static bool has_image(const struct lks_admit_pod *a, struct lks_str ref)
{
    for (size_t i = 0; i < a->image_count; i++) {
        if (lks_str_eq(a->images[i].ref, ref))
            return true;
    }
    return false;
}

/* Each once, and not more or longer ones than are looked up. A reference that cannot be one is the
 * kubelet's to refuse. */
static enum lks_code list_images(struct looking *l, bool *more, struct lks_err *err)
{
    struct lks_admit_pod *out = l->out;
    const struct lks_pod *pod = l->ask->pod;
    out->images =
        lks_arena_array(&out->answer.arena, LKS_ADMIT_POD_IMAGES_MAX, sizeof(out->images[0]));
    if (out->images == NULL)
        return lks_arena_fail(&out->answer.arena, err);
    for (size_t i = 0; i < pod->container_count; i++) {
        struct lks_str ref = pod->containers[i].image;
        if (!pod->containers[i].gpus || ref.len == 0 || !lks_str_printable(ref) ||
            has_image(out, ref))
            continue;
        *more = out->image_count == LKS_ADMIT_POD_IMAGES_MAX || ref.len > LKS_ADMIT_REF_MAX;
        if (*more)
            break;
        out->images[out->image_count++].ref = ref;
    }
    return LKS_OK;
}

/* Reasons ------------------------------------------------------------------------------------- */

static enum lks_code add_line(struct looking *l, bool refuse, const struct lks_admit_no *no,
                              struct lks_err *err)
{
    struct lks_admit *a = &l->out->answer;
    struct lks_admit_list *list = refuse && l->out->enforces ? &a->refused : &a->warned;
    list->total++;
    a->bars[no->bar]++;
    if (list->count == LKS_ADMIT_LISTED_MAX)
        return LKS_OK;
    if (LKS_VEC_RESERVE_IN(&a->arena, list->items, list->room, list->count + 1, err) != LKS_OK)
        return err->code;
    struct lks_admit_no *to = &list->items[list->count++];
    *to = *no;
    to->text = lks_arena_copy(&a->arena, no->text);
    return to->text.ptr != NULL ? LKS_OK : lks_arena_fail(&a->arena, err);
}

static enum lks_code add_list(struct looking *l, bool refuse, const struct lks_admit_list *from,
                              uint64_t bars, struct lks_err *err)
{
    for (size_t i = 0; i < from->count; i++) {
        if ((bars >> from->items[i].bar & 1) != 0 &&
            add_line(l, refuse, &from->items[i], err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

static size_t count_of(const struct lks_admit_list *list, uint64_t bars)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++)
        count += bars >> list->items[i].bar & 1;
    return count;
}

/* Alternatives, each a question of one node: the pod may go to any of them. The reasons are those
 * of the first alternative that refuses nothing, else of all; none where one has no reason. */
struct alternatives {
    uint64_t bars; /* reasons that count */
    const struct lks_str *names;
    size_t count;
};

static enum lks_code ask_one(const struct looking *l, const struct alternatives *of, size_t i,
                             struct lks_admit *a, struct lks_err *err)
{
    const struct lks_admit_ask ask = {
        .job = l->out->job,
        .names = &of->names[i],
        .count = 1,
        .stack = l->named && l->digests.count == 1 ? l->digests.values[0] : LKS_STR(""),
        .images = l->out->images,
        .image_count = l->out->image_count,
        .behind = l->ask->behind,
    };
    return lks_admit(l->s, l->book, l->now, &ask, a, err);
}

/* `best`: the first that has no reason (then `clean`), else the first that refuses nothing. */
static enum lks_code find_best(struct looking *l, const struct alternatives *of, size_t *best,
                               bool *clean, struct lks_err *err)
{
    *best = of->count;
    for (size_t i = 0; i < of->count && !*clean; i++) {
        LKS_CLEANUP(lks_admit_fini) struct lks_admit a = {0};
        if (ask_one(l, of, i, &a, err) != LKS_OK)
            return err->code;
        size_t refused = count_of(&a.refused, of->bars);
        *clean = refused + count_of(&a.warned, of->bars) == 0;
        if (*clean || (*best == of->count && (refused == 0 || a.overridden)))
            *best = i;
    }
    return LKS_OK;
}

static enum lks_code add_alternatives(struct looking *l, const struct alternatives *of,
                                      struct lks_err *err)
{
    bool clean = false;
    size_t best;
    if (find_best(l, of, &best, &clean, err) != LKS_OK)
        return err->code;
    for (size_t i = 0; i < of->count && !clean; i++) {
        LKS_CLEANUP(lks_admit_fini) struct lks_admit a = {0};
        if (best < of->count && i != best)
            continue;
        if (ask_one(l, of, i, &a, err) != LKS_OK ||
            add_list(l, !a.overridden, &a.refused, of->bars, err) != LKS_OK ||
            add_list(l, false, &a.warned, of->bars, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

/* A pool is asked about by one of its nodes: only what is about the pool counts. */
static enum lks_code look_at_pools(struct looking *l, struct lks_err *err)
{
    struct lks_str names[LKS_ADMIT_POD_POOLS_MAX];
    const struct alternatives of = {POOL_BARS, names, l->pool_count};
    for (uint32_t i = 0; i < l->pool_count; i++)
        names[i] = lks_state_name(l->s, l->first[i]);
    return add_alternatives(l, &of, err);
}

static enum lks_code look_at_nodes(struct looking *l, struct lks_err *err)
{
    const struct alternatives of = {NODE_BARS, l->nodes.values, l->nodes.count};
    return add_alternatives(l, &of, err);
}

static enum lks_code add_missing(struct looking *l, struct lks_err *err)
{
    struct lks_pod_choice digests;
    char text[TEXT_MAX];
    lks_pod_choose(l->ask->pod, LKS_POD_DIGEST, &digests);
    snprintf(text, sizeof(text),
             "no stack of the fleet has the digest '%" LKS_STR_FMT
             "' that the pod selects by " LKS_POD_DIGEST "; a label has the first %d digits",
             LKS_STR_ARG(cut(digests.values[0], SHORT_HEX + 1)), SHORT_HEX);
    return add_line(l, true,
                    &(struct lks_admit_no){.bar = LKS_BAR_STACK, .text = lks_str_from(text)}, err);
}

/* Each is looked up for each node or pool that the pod may go to, while others wait. */
static enum lks_code add_many(struct looking *l, struct lks_err *err)
{
    char text[TEXT_MAX];
    snprintf(
        text, sizeof(text),
        "more than %d different images in containers that use GPUs, or a reference of more than "
        "%d bytes: lockstep does not check these; split the pod, or use shorter names",
        LKS_ADMIT_POD_IMAGES_MAX, LKS_ADMIT_REF_MAX);
    return add_line(l, true,
                    &(struct lks_admit_no){.bar = LKS_BAR_IMAGE, .text = lks_str_from(text)}, err);
}

static enum lks_code look(struct looking *l, struct lks_err *err)
{
    bool missing = false, many = false;
    (void)lks_pod_choose_nodes(l->ask->pod, &l->nodes);
    lks_pod_choose(l->ask->pod, LKS_POD_DIGEST, &l->digests);
    find_pools(l, &missing);
    if (take_pools(l, err) != LKS_OK || !l->out->concerns)
        return err->code;
    if (name_it(l, err) != LKS_OK || list_images(l, &many, err) != LKS_OK ||
        (many && add_many(l, err) != LKS_OK))
        return err->code;
    if (missing && add_missing(l, err) != LKS_OK)
        return err->code;
    return l->named ? look_at_nodes(l, err) : look_at_pools(l, err);
}

enum lks_code lks_admit_pod(const struct lks_state *s, const struct lks_book *book,
                            struct lks_now now, const struct lks_admit_pod_ask *ask,
                            struct lks_admit_pod *out, struct lks_err *err)
{
    *out = (struct lks_admit_pod){.pool = UINT32_MAX};
    lks_arena_init(&out->answer.arena, MEMORY_MAX);
    struct looking l = {.s = s, .book = book, .now = now, .ask = ask, .out = out};
    err->code = LKS_OK;
    if (ask->pod->gpus && !ask->pod->of_node)
        (void)look(&l, err);
    out->answer.seq = s->seq;
    out->answer.asked = now.wall;
    out->answer.yes = out->answer.refused.total == 0;
    if (err->code != LKS_OK)
        lks_admit_pod_fini(out);
    return err->code;
}

void lks_admit_pod_fini(struct lks_admit_pod *a)
{
    lks_admit_fini(&a->answer);
    *a = (struct lks_admit_pod){0};
}

/* What is added ------------------------------------------------------------------------------- */

/* Of the stack that the pool pins. */
static const struct lks_doc *env_of(const struct lks_state *s, const struct lks_book *book,
                                    const struct lks_admit_pod *a)
{
    if (a->pool >= s->pool_count || s->pools[a->pool].stack_digest == 0)
        return NULL;
    const struct lks_stack *stack =
        lks_book_stack(book, lks_state_text(s, s->pools[a->pool].stack_digest));
    const struct lks_doc *env = stack != NULL ? lks_doc_member(stack->tuning, "env") : NULL;
    return env != NULL && env->kind == LKS_DOC_MAP && env->first != NULL ? env : NULL;
}

/* With spec.nodeName there is no scheduler, and the kubelet refuses a pod whose affinity its node
 * does not have. */
enum lks_code lks_admit_pod_patch(const struct lks_state *s, const struct lks_book *book,
                                  const struct lks_admit_pod *a, const struct lks_pod *pod,
                                  struct lks_buf *out, struct lks_err *err)
{
    bool placed = lks_doc_text(pod->spec, "nodeName").len > 0;
    const struct lks_pod_patch want = {
        .conform = !placed, .gang = !placed, .env = env_of(s, book, a)};
    if (!a->concerns || !a->enforces)
        return LKS_OK;
    return lks_pod_patch_write(pod, &want, out, err);
}

const struct lks_pod_container *lks_admit_pod_unset(const struct lks_state *s,
                                                    const struct lks_book *book,
                                                    const struct lks_admit_pod *a,
                                                    const struct lks_pod *pod, size_t *at)
{
    if (!a->enforces || env_of(s, book, a) == NULL)
        return NULL;
    for (; *at < pod->container_count; ++*at) {
        const struct lks_pod_container *c = &pod->containers[*at];
        if (c->gpus && !lks_pod_patch_env_is_known(c)) {
            ++*at;
            return c;
        }
    }
    return NULL;
}
