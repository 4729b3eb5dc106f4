#include "base/intern.h"
#include "base/vec.h"
#include "core/compat/compat.h"
#include "core/compat/lifecycle.h"
#include "core/compat/parts.h"
#include "core/conform/basis.h"
#include "core/exposure/exposure_parts.h"

#include <stdio.h>
#include <stdlib.h>

/* Combinations are found once for each basis, and judged once for each combination. */

#define MEMORY_MAX ((size_t)256 << 20)

static const struct lks_str nothing = {"", 0};

struct support {
    int number; /* of the branch; -1: not NVIDIA's, and not in the tables */
    uint64_t nodes, gpus;
};

struct combination {
    struct lks_compat_question q; /* views of its key */
    bool pinned;                  /* the toolkit is not measured: images bring it */
    uint64_t nodes, gpus;
};

struct work {
    struct lks_exposure_fleet *fleet;
    struct lks_intern branches, keys; /* ids are places in the arrays */
    struct support *support;          /* owned, as is the next */
    struct combination *matrix;
    size_t support_room, matrix_room;
    struct lks_err *err;
};

static void work_fini(struct work *w)
{
    lks_intern_fini(&w->branches);
    lks_intern_fini(&w->keys);
    free(w->support);
    free(w->matrix);
}

static struct lks_str measured(const struct lks_tuple *t, const char *name)
{
    const struct lks_reading *r = lks_tuple_component(t, lks_str_from(name));
    return r != NULL && r->state == LKS_MEASURED ? r->value : nothing;
}

/* AMD's drivers have no branches with an end; they are counted together. */
static enum lks_code add_support(struct work *w, const struct lks_compat_question *q, bool amd,
                                 uint64_t nodes, uint64_t gpus)
{
    char name[32] = "amdgpu";
    uint32_t id = 0;
    if (q->driver.len == 0)
        return LKS_OK;
    if (!amd)
        snprintf(name, sizeof(name), "R%d", lks_version_major(q->driver));
    if (lks_intern_id(&w->branches, lks_str_from(name), &id, w->err) != LKS_OK ||
        LKS_VEC_RESERVE(w->support, w->support_room, (size_t)id + 1, w->err) != LKS_OK)
        return w->err->code;
    w->support[id].number = amd ? -1 : lks_version_major(q->driver);
    w->support[id].nodes += nodes;
    w->support[id].gpus += gpus;
    return LKS_OK;
}

static enum lks_code add_combination(struct work *w, const struct combination *more)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf key = LKS_BUF(LKS_BASIS_BYTES_MAX);
    const struct lks_compat_question *q = &more->q;
    const struct lks_str texts[] = {q->gpu, q->driver, q->toolkit, q->modules, q->compat_package};
    uint32_t id = 0;
    for (size_t i = 0; i < LKS_COUNT(texts); i++)
        lks_buf_addf(&key, "%" LKS_STR_FMT "\n", LKS_STR_ARG(texts[i]));
    lks_buf_addc(&key, more->pinned ? 'p' : 'm');
    if (lks_buf_check(&key, w->err) != LKS_OK ||
        lks_intern_id(&w->keys, lks_buf_view(&key), &id, w->err) != LKS_OK ||
        LKS_VEC_RESERVE(w->matrix, w->matrix_room, (size_t)id + 1, w->err) != LKS_OK)
        return w->err->code;
    struct combination *c = &w->matrix[id];
    struct lks_str *const kept[] = {&c->q.gpu, &c->q.driver, &c->q.toolkit, &c->q.modules,
                                    &c->q.compat_package};
    struct lks_str rest = lks_intern_text(&w->keys, id);
    for (size_t i = 0; i < LKS_COUNT(kept); i++)
        lks_str_cut(rest, '\n', kept[i], &rest);
    c->pinned = more->pinned;
    c->nodes += more->nodes;
    c->gpus += more->gpus;
    return LKS_OK;
}

/* Its GPUs, product by product. */
static enum lks_code add_gpus(struct work *w, const struct lks_tuple *t, struct combination more)
{
    size_t count = 0;
    const struct lks_reading *r = lks_tuple_range(t, LKS_STR("gpu.product"), &count);
    for (size_t i = 0; i < count; i++) {
        uint64_t gpus = 0;
        bool again = r[i].state != LKS_MEASURED;
        for (size_t k = 0; k < i && !again; k++)
            again = r[k].state == LKS_MEASURED && lks_str_eq(r[k].value, r[i].value);
        for (size_t k = i; k < count && !again; k++)
            gpus += r[k].state == LKS_MEASURED && lks_str_eq(r[k].value, r[i].value);
        more.q.gpu = r[i].value;
        more.gpus = gpus * more.nodes;
        if (!again && add_combination(w, &more) != LKS_OK)
            return w->err->code;
    }
    return LKS_OK;
}

/* A toolkit that images bring is not found on the node: then it is the one that is pinned. Nodes of
 * one basis may have several intents, and mostly have one; those of one are beside each other. */
static enum lks_code add_nodes(struct work *w, const struct lks_exposure_node *nodes, size_t count,
                               const struct lks_tuple *t, struct combination more, bool amd)
{
    more.pinned = more.q.toolkit.len == 0;
    for (size_t at = 0, end = 0; at < count; at = end) {
        const struct lks_exposure_pin *pin = &w->fleet->pins[nodes[at].pin];
        if (more.pinned)
            more.q.toolkit = amd ? pin->rocm : pin->cuda;
        while (end < count && (!more.pinned || nodes[end].pin == nodes[at].pin))
            end++;
        more.nodes = end - at;
        if (add_gpus(w, t, more) != LKS_OK)
            return w->err->code;
    }
    return LKS_OK;
}

/* The nodes of one basis. */
static enum lks_code read_basis(struct work *w, const struct lks_exposure_node *nodes, size_t count)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
    const struct lks_exposure_basis *basis = &w->fleet->bases[nodes->basis];
    if (lks_basis_parse(basis->readings, &t, w->err) != LKS_OK)
        return w->err->code;
    struct lks_str amdgpu = measured(&t, "amdgpu");
    bool amd = amdgpu.len > 0;
    struct lks_compat_question q = {
        .driver = amd ? amdgpu : measured(&t, "driver"),
        .toolkit = measured(&t, amd ? "rocm" : "cuda"),
        .modules = amd ? nothing : measured(&t, "driver.modules"),
        .compat_package = measured(&t, "cuda-compat"),
    };
    if (add_support(w, &q, amd, count, count * basis->gpus) != LKS_OK)
        return w->err->code;
    return add_nodes(w, nodes, count, &t, (struct combination){.q = q}, amd);
}

static int by_basis(const void *left, const void *right)
{
    const struct lks_exposure_node *a = left, *b = right;
    if (a->basis != b->basis)
        return a->basis < b->basis ? -1 : 1;
    return (a->pin > b->pin) - (a->pin < b->pin);
}

static enum lks_code read_all(struct work *w)
{
    struct lks_exposure_node *nodes = w->fleet->nodes;
    size_t count = w->fleet->node_count, end = 0;
    if (count > 0)
        qsort(nodes, count, sizeof(nodes[0]), by_basis);
    for (size_t at = 0; at < count; at = end) {
        while (end < count && nodes[end].basis == nodes[at].basis)
            end++;
        if (read_basis(w, nodes + at, end - at) != LKS_OK)
            return w->err->code;
    }
    return LKS_OK;
}

/* Writing ----------------------------------------------------------------------------------- */

static const struct lks_branch *branch_of(const struct work *w, const struct support *s)
{
    return s->number > 0 ? lks_facts_branch(w->fleet->facts, s->number) : NULL;
}

static lks_day end_of(const struct work *w, const struct support *s)
{
    const struct lks_branch *branch = branch_of(w, s);
    return branch != NULL ? lks_lifecycle_end(branch) : LKS_DAY_NONE;
}

/* The earliest end comes first; an unknown end comes last. */
static int soonest_first(const void *left, const void *right, void *ctx)
{
    const struct work *w = ctx;
    const struct support *a = left, *b = right;
    lks_day x = end_of(w, a), y = end_of(w, b);
    if (x != y)
        return x == LKS_DAY_NONE || (y != LKS_DAY_NONE && x > y) ? 1 : -1;
    return (a->number > b->number) - (a->number < b->number);
}

static void put_support(struct work *w, lks_day today, struct lks_json_writer *out)
{
    char text[LKS_DAY_TEXT_SIZE], name[32];
    size_t count = lks_intern_count(&w->branches);
    if (count > 0)
        qsort_r(w->support, count, sizeof(w->support[0]), soonest_first, w);
    lks_json_begin(out, "support", '[');
    for (size_t i = 0; i < count; i++) {
        const struct support *s = &w->support[i];
        const struct lks_branch *branch = branch_of(w, s);
        lks_day end = end_of(w, s);
        struct lks_str type = branch != NULL ? branch->type : LKS_STR("");
        snprintf(name, sizeof(name), "R%d", s->number);
        lks_json_write(out, "{'branch': '%s', 'type'?: '%.*s'", s->number < 0 ? "amdgpu" : name,
                       LKS_STR_ARG(type));
        if (end != LKS_DAY_NONE)
            lks_json_write(out, "'ends': '%s', 'days_left': %d", lks_time_day_text(end, text),
                           end - today);
        lks_json_write(out, "'nodes': %zu, 'gpus': %zu}", s->nodes, s->gpus);
    }
    lks_json_end(out, ']');
}

static int by_texts(const void *left, const void *right)
{
    const struct combination *a = left, *b = right;
    int order = lks_str_cmp(a->q.gpu, b->q.gpu);
    if (order == 0)
        order = lks_dotted_cmp(a->q.driver, b->q.driver);
    if (order == 0)
        order = lks_dotted_cmp(a->q.toolkit, b->q.toolkit);
    if (order == 0)
        order = lks_str_cmp(a->q.modules, b->q.modules);
    if (order == 0)
        order = lks_str_cmp(a->q.compat_package, b->q.compat_package);
    return order != 0 ? order : (int)a->pinned - (int)b->pinned;
}

/* Where driver or toolkit was not read there is nothing to judge. */
static void put_verdict(const struct work *w, const struct lks_compat_question *q,
                        struct lks_json_writer *out)
{
    const struct lks_gpu *best =
        q->driver.len > 0 && q->toolkit.len > 0 ? lks_compat_best(w->fleet->facts, q) : NULL;
    if (best == NULL) {
        lks_json_cstr(out, "verdict", lks_compat_reason_verdict(LKS_UNKNOWN));
        if (q->toolkit.len == 0 || q->driver.len == 0)
            lks_json_cstr(out, "reason",
                          q->driver.len == 0 ? "no driver was measured" : "no toolkit is known");
        return;
    }
    enum lks_reason reason = lks_compat_judge(w->fleet->facts, q, best, NULL);
    lks_json_write(out, "'verdict': '%s', 'reason': '%s'", lks_compat_reason_verdict(reason),
                   lks_compat_reason_name(reason));
}

static void put_matrix(struct work *w, struct lks_json_writer *out)
{
    size_t count = lks_intern_count(&w->keys);
    if (count > 0)
        qsort(w->matrix, count, sizeof(w->matrix[0]), by_texts);
    lks_json_begin(out, "matrix", '[');
    for (size_t i = 0; i < count; i++) {
        const struct combination *c = &w->matrix[i];
        lks_json_write(out, "{'gpu': '%.*s', 'driver': '%.*s', 'cuda': '%.*s', 'pinned'?: %s",
                       LKS_STR_ARG(c->q.gpu), LKS_STR_ARG(c->q.driver), LKS_STR_ARG(c->q.toolkit),
                       LKS_JSON_TRUTH(c->pinned && c->q.toolkit.len > 0));
        put_verdict(w, &c->q, out);
        lks_json_write(out, "'nodes': %zu, 'gpus': %zu}", c->nodes, c->gpus);
    }
    lks_json_end(out, ']');
}

enum lks_code lks_exposure_lifecycle(struct lks_exposure_fleet *e, lks_day today,
                                     struct lks_json_writer *w, struct lks_err *err)
{
    LKS_CLEANUP(work_fini) struct work work = {.fleet = e, .err = err};
    lks_intern_init(&work.branches, MEMORY_MAX);
    lks_intern_init(&work.keys, MEMORY_MAX);
    if (read_all(&work) != LKS_OK)
        return err->code;
    put_support(&work, today, w);
    put_matrix(&work, w);
    return lks_buf_check(w->out, err);
}
