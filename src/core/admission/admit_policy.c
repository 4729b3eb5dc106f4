#include "core/admission/admit_policy.h"

#include "base/vec.h"
#include "codec/notation/hostlist.h"
#include "codec/notation/word.h"
#include "core/plan/drain.h"
#include "core/registry/book.h"
#include "core/registry/images.h"
#include "core/rows/node.h"
#include "core/rows/pool.h"
#include "core/rows/registry.h"
#include "core/state/lookup.h"
#include "core/state/state.h"

#include <stdlib.h>

enum { VERSIONS_MAX = 128 };

/* The nodes at the site, by pool: those of pool P are nodes[from[P]] to nodes[from[P + 1] - 1]. */
struct at_site {
    uint32_t *nodes, *from; /* owned */
};

/* The nodes of a pool at the site. */
struct gathered {
    struct lks_str *names; /* owned; as many as the state has nodes */
    size_t count;
    struct {
        lks_text digest;
        uint64_t nodes;
    } stacks[LKS_ADMIT_POLICY_STACKS_MAX];
    size_t stack_count;
    bool unknown;                    /* a node has no stack, or there are too many stacks */
    lks_text versions[VERSIONS_MAX]; /* of NCCL in images of the catalogue, each once */
    size_t version_count;
};

static void count_stack(struct gathered *g, lks_text digest)
{
    size_t i = 0;
    while (i < g->stack_count && g->stacks[i].digest != digest)
        i++;
    if (digest == 0 || i == LKS_ADMIT_POLICY_STACKS_MAX) {
        g->unknown = true;
        return;
    }
    g->stacks[i].digest = digest;
    g->stacks[i].nodes++;
    g->stack_count += i == g->stack_count;
}

static void fini_site(struct at_site *at)
{
    free(at->nodes);
    free(at->from);
}

/* Neighbours are mostly at one site: the name of a site is compared where it changes. */
static bool is_at(const struct lks_state *s, const struct lks_node *n, struct lks_str site,
                  lks_text *last, bool *same)
{
    if (!n->placed || n->asset != 0 || n->pool >= s->pool_count)
        return false;
    if (n->site != *last)
        *same = lks_str_is(site, "*") || lks_str_eq(lks_state_text(s, n->site), site);
    *last = n->site;
    return *same;
}

/* Two passes over the nodes, for all pools. */
static enum lks_code sort_site(const struct lks_state *s, struct lks_str site, struct at_site *at,
                               struct lks_err *err)
{
    lks_text last = 0;
    bool same = lks_str_is(site, "*") || site.len == 0;
    *at = (struct at_site){calloc((size_t)s->node_count + 1, sizeof(*at->nodes)),
                           calloc((size_t)s->pool_count + 2, sizeof(*at->from))};
    if (at->nodes == NULL || at->from == NULL)
        return lks_fail_nomem(err);
    uint32_t *next = at->from + 1; /* of each pool: where its next node goes */
    for (uint32_t i = 0; i < s->node_count; i++) {
        if (is_at(s, &s->nodes[i], site, &last, &same))
            next[s->nodes[i].pool + 1]++;
    }
    for (uint32_t p = 0; p < s->pool_count; p++)
        next[p + 1] += next[p];
    for (uint32_t i = 0; i < s->node_count; i++) {
        if (is_at(s, &s->nodes[i], site, &last, &same))
            at->nodes[next[s->nodes[i].pool]++] = i;
    }
    return LKS_OK;
}

static void gather(const struct lks_state *s, uint32_t pool, const struct at_site *at,
                   struct gathered *g)
{
    g->count = g->stack_count = 0;
    g->unknown = false;
    for (size_t i = 0; i < LKS_ADMIT_POLICY_STACKS_MAX; i++)
        g->stacks[i].nodes = 0;
    for (uint32_t i = at->from[pool]; i < at->from[pool + 1]; i++) {
        g->names[g->count++] = lks_state_name(s, at->nodes[i]);
        count_stack(g, lks_state_intent(s, at->nodes[i]));
    }
}

/* Whether the pool's posture lets a person decide on a gang that disagrees. */
static bool is_strict(const struct lks_state *s, const struct lks_book *book, uint32_t pool)
{
    struct lks_str posture = lks_state_text(s, s->pools[pool].posture);
    for (size_t i = 0; i < book->facts->postures.count; i++) {
        const struct lks_posture *row = &book->facts->postures.rows[i];
        if (lks_str_eq(row->name, posture))
            return lks_str_is(row->sync, "yes");
    }
    return true;
}

/* What a stack pins of NCCL; NULL: nothing, or the stack is not at hand. */
static const struct lks_component *nccl_of(const struct lks_state *s, const struct lks_book *book,
                                           lks_text digest)
{
    const struct lks_stack *stack = lks_book_stack(book, lks_state_text(s, digest));
    return stack != NULL ? lks_stack_find(stack, "nccl") : NULL;
}

/* Whether no job with that version can start: admission refuses it on each stack of the pool, by
 * this rule. Where one of them is not known, the job's turn decides. */
static bool is_unfit(const struct lks_state *s, const struct lks_book *book, uint32_t pool,
                     const struct gathered *g, struct lks_str version)
{
    const struct lks_component *c = nccl_of(s, book, s->pools[pool].stack_digest);
    if (c == NULL || g->unknown || lks_image_holds(c->version, c->window, version, false))
        return false;
    for (size_t i = 0; i < g->stack_count; i++) {
        c = nccl_of(s, book, g->stacks[i].digest);
        if (c == NULL || lks_image_holds(c->version, c->window, version, false))
            return false;
    }
    return true;
}

/* Texts of manifests and of the catalogue may be any; the bridge refuses a policy with one that its
 * file cannot have. */
static struct lks_str word_or_none(struct lks_str text)
{
    return lks_word_fits(text) ? text : LKS_STR("");
}

static void write_nccl(const struct lks_state *s, const struct lks_book *book, uint32_t pool,
                       const struct gathered *g, struct lks_json_writer *w)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf unfit = LKS_BUF(LKS_ADMIT_POLICY_UNFIT_MAX);
    bool strict = is_strict(s, book, pool);
    const struct lks_component *c = strict ? nccl_of(s, book, s->pools[pool].stack_digest) : NULL;
    lks_json_text(w, "nccl", c != NULL ? c->version : LKS_STR(""));
    for (size_t i = 0; i < g->version_count && c != NULL; i++) {
        struct lks_str version = lks_state_text(s, g->versions[i]);
        if (unfit.len + version.len < LKS_ADMIT_POLICY_UNFIT_MAX && lks_word_fits(version) &&
            lks_str_count(version, ',') == 0 && is_unfit(s, book, pool, g, version))
            lks_buf_addf(&unfit, "%s%" LKS_STR_FMT, unfit.len > 0 ? "," : "", LKS_STR_ARG(version));
    }
    lks_json_text(w, "unfit", lks_buf_view(&unfit));
}

static void write_stack(const struct lks_state *s, const struct lks_book *book,
                        const struct lks_state_pool *p, lks_text digest, uint64_t nodes, bool slots,
                        struct lks_json_writer *w)
{
    const struct lks_state_stack *stack = lks_state_stack(s, lks_state_text(s, digest));
    const struct lks_stack *manifest = lks_book_stack(book, lks_state_text(s, digest));
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "name",
                  p->stack_digest == digest ? lks_state_text(s, p->stack)
                  : stack != NULL           ? lks_state_text(s, stack->name)
                                            : LKS_STR(""));
    lks_json_text(w, "version", manifest != NULL ? word_or_none(manifest->version) : LKS_STR(""));
    lks_json_text(w, "digest", lks_state_text(s, digest));
    for (uint32_t k = 0; k < LKS_STATE_SLOTS && slots; k++) {
        if (p->slots[k] == digest)
            lks_json_int(w, "slot", k);
    }
    lks_json_int(w, "nodes", (int64_t)nodes);
    lks_json_end(w, '}');
}

static enum lks_code write_pool(const struct lks_state *s, const struct lks_book *book,
                                uint32_t pool, const struct gathered *g,
                                const struct lks_admit_policy_how *how, struct lks_json_writer *w,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf hosts = LKS_BUF(LKS_ADMIT_POLICY_BYTES_MAX);
    const struct lks_state_pool *p = &s->pools[pool];
    struct lks_str name = lks_state_text(s, p->name);
    if (lks_hostlist_fold(g->names, g->count, &hosts, err) != LKS_OK)
        return err->code;
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "name", name);
    lks_json_text(w, "nodes", lks_buf_view(&hosts));
    lks_json_text(w, "enforce", lks_state_text(s, p->enforce));
    lks_json_bool(w, "closed", lks_str_is(how->closed, "*") || lks_str_has_word(how->closed, name));
    lks_json_int(w, "stale", (int64_t)how->stale);
    write_nccl(s, book, pool, g, w);
    lks_json_begin(w, "stacks", '[');
    for (size_t i = 0; i < g->stack_count; i++)
        write_stack(s, book, p, g->stacks[i].digest, g->stacks[i].nodes, how->slots, w);
    lks_json_end(w, ']');
    lks_json_end(w, '}');
    return LKS_OK;
}

static void gather_versions(const struct lks_state *s, struct gathered *g)
{
    for (uint32_t i = 0; i < s->image_count && g->version_count < VERSIONS_MAX; i++) {
        lks_text version = s->images[i].nccl;
        if (lks_state_text(s, version).len > 0 &&
            LKS_VEC_FIND(g->versions, g->version_count, it, *it == version) == NULL)
            g->versions[g->version_count++] = version;
    }
}

/* Those whose version is known, if the bridge can write both. Of a catalogue that is too long the
 * first are told. */
static void write_images(const struct lks_state *s, struct lks_json_writer *w)
{
    uint32_t count = 0;
    lks_json_begin(w, "images", '[');
    for (uint32_t i = 0; i < s->image_count && count < LKS_ADMIT_POLICY_IMAGES_MAX &&
                         w->out->len < LKS_ADMIT_POLICY_BYTES_MAX / 2;
         i++) {
        struct lks_str nccl = lks_state_text(s, s->images[i].nccl);
        struct lks_str ref = lks_state_text(s, s->images[i].ref);
        if (!lks_word_fits(nccl) || !lks_word_fits(ref))
            continue;
        count++;
        lks_json_begin(w, NULL, '{');
        lks_json_text(w, "ref", ref);
        lks_json_text(w, "nccl", nccl);
        lks_json_end(w, '}');
    }
    lks_json_end(w, ']');
}

static enum lks_code write_pools(const struct lks_state *s, const struct lks_book *book,
                                 struct lks_str sched, const struct at_site *at,
                                 const struct lks_admit_policy_how *how, struct lks_json_writer *w,
                                 struct lks_err *err)
{
    struct gathered g = {.names = calloc((size_t)s->node_count + 1, sizeof(*g.names))};
    enum lks_code code = g.names != NULL ? LKS_OK : lks_fail_nomem(err);
    gather_versions(s, &g);
    lks_json_begin(w, "pools", '[');
    for (uint32_t i = 0; i < s->pool_count && code == LKS_OK && w->out->failed == LKS_OK; i++) {
        if (!s->pools[i].known || !lks_drain_sched_has(lks_state_text(s, s->pools[i].sched), sched))
            continue;
        gather(s, i, at, &g);
        if (g.count > 0)
            code = write_pool(s, book, i, &g, how, w, err);
    }
    lks_json_end(w, ']');
    free(g.names);
    return code;
}

enum lks_code lks_admit_policy_write(const struct lks_state *s, const struct lks_book *book,
                                     struct lks_str site, struct lks_str sched,
                                     const struct lks_admit_policy_how *how, struct lks_buf *out,
                                     struct lks_err *err)
{
    LKS_CLEANUP(fini_site) struct at_site at = {0};
    struct lks_json_writer w = {.out = out};
    if (sort_site(s, site, &at, err) != LKS_OK)
        return err->code;
    lks_json_begin(&w, NULL, '{');
    lks_json_begin(&w, "policy", '{');
    if (write_pools(s, book, sched, &at, how, &w, err) != LKS_OK)
        return err->code;
    write_images(s, &w);
    lks_json_end(&w, '}');
    lks_json_end(&w, '}');
    return lks_buf_check(out, err);
}
