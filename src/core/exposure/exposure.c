#include "base/bitset.h"
#include "base/intern.h"
#include "base/vec.h"
#include "core/compat/advisory.h"
#include "core/compat/compat.h"
#include "core/conform/basis.h"
#include "core/exposure/exposure_parts.h"

#include <stdio.h>
#include <stdlib.h>

/*
 * What is evaluated is a component in one version, on one set of boards: a subject. A fleet has
 * few, however many nodes and bases there are. Each vulnerability is asked about each subject once;
 * those that affect the same subjects affect the same nodes, which are listed once.
 */

#define MEMORY_MAX ((size_t)1 << 30)

enum {
    HOSTS_CUT = 4096, /* names that are shown where the list of all would be too long */
    FIXED_BYTES_MAX = 4096,
};

static const struct lks_str nothing = {"", 0};

struct boards {
    const struct lks_gpu *list[LKS_COMPAT_BOARDS_MAX];
    size_t count;
};

/* What one basis has: a stretch of `runs`. */
struct basis_use {
    size_t from, count;
    bool reached; /* by the vulnerability at hand */
};

struct image_use {
    uint32_t image, subject;
};

struct hit {
    const struct lks_advisory *advisory;
    const struct lks_affected *affected; /* NULL when UNFIXED */
    enum lks_exposure exposure;
    uint32_t subject;
};

/* Whom a set of subjects reaches; texts live in the arena. */
struct reach {
    uint64_t nodes, gpus;
    struct lks_str pools, images; /* JSON */
};

#define LIST(type)                                                                                 \
    struct {                                                                                       \
        type *items; /* owned */                                                                   \
        size_t count, room;                                                                        \
    }

struct work {
    struct lks_exposure_fleet *fleet; /* its nodes sorted by pool */
    struct lks_str cve;
    struct lks_arena arena;
    struct lks_intern names;      /* components that vulnerabilities are about */
    struct lks_intern board_keys; /* products, with line ends between; the id is that of `boards` */
    LIST(struct boards *) boards;
    struct lks_intern keys; /* of subjects */
    LIST(struct lks_advisory_subject) subjects;
    LIST(uint32_t) runs;          /* subjects */
    LIST(struct basis_use) bases; /* as the fleet has them */
    LIST(struct image_use) images;
    LIST(struct hit) hits;
    struct lks_intern sets; /* of subjects, as bytes; the id is that of `reaches` */
    LIST(struct reach) reaches;
    struct lks_err *err;
};

static void work_init(struct work *w)
{
    lks_arena_init(&w->arena, MEMORY_MAX);
    lks_intern_init(&w->names, MEMORY_MAX);
    lks_intern_init(&w->board_keys, MEMORY_MAX);
    lks_intern_init(&w->keys, MEMORY_MAX);
    lks_intern_init(&w->sets, MEMORY_MAX);
}

static void work_fini(struct work *w)
{
    lks_intern_fini(&w->names);
    lks_intern_fini(&w->board_keys);
    lks_intern_fini(&w->keys);
    lks_intern_fini(&w->sets);
    free(w->boards.items);
    free(w->subjects.items);
    free(w->runs.items);
    free(w->bases.items);
    free(w->images.items);
    free(w->hits.items);
    free(w->reaches.items);
    lks_arena_fini(&w->arena);
}

/* Room for one more. */
#define ROOM(w, list)                                                                              \
    LKS_VEC_RESERVE((w)->list.items, (w)->list.room, (w)->list.count + 1, (w)->err)

/* Subjects ---------------------------------------------------------------------------------- */

static bool is_asked(const struct work *w, const struct lks_advisory *advisory)
{
    return w->cve.len == 0 || lks_str_eq_nocase(advisory->id, w->cve);
}

static enum lks_code find_names(struct work *w)
{
    const struct lks_facts *facts = w->fleet->facts;
    uint32_t ignored = 0;
    for (size_t i = 0; i < facts->advisories.count; i++) {
        const struct lks_advisory *advisory = &facts->advisories.rows[i];
        for (size_t a = 0; is_asked(w, advisory) && a < advisory->affected_count; a++) {
            if (lks_intern_id(&w->names, advisory->affected[a].component, &ignored, w->err) !=
                LKS_OK)
                return w->err->code;
        }
    }
    return LKS_OK;
}

/* The boards of a tuple's GPUs, as one number. */
static enum lks_code find_boards(struct work *w, const struct lks_tuple *t, uint32_t *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf key = LKS_BUF(LKS_BASIS_BYTES_MAX);
    size_t count = 0;
    const struct lks_reading *r = lks_tuple_range(t, LKS_STR("gpu.product"), &count);
    struct lks_str before = nothing;
    for (size_t i = 0; i < count; i++) {
        if (r[i].state == LKS_MEASURED && !lks_str_eq(before, r[i].value))
            lks_buf_addf(&key, "%" LKS_STR_FMT "\n", LKS_STR_ARG(r[i].value));
        before = r[i].value;
    }
    struct lks_str rest = key.ptr != NULL ? lks_buf_view(&key) : nothing, product;
    if (lks_intern_id(&w->board_keys, rest, out, w->err) != LKS_OK || ROOM(w, boards) != LKS_OK)
        return w->err->code;
    if (*out < w->boards.count)
        return LKS_OK;
    struct boards *b = lks_arena_alloc(&w->arena, sizeof(*b));
    if (b == NULL)
        return lks_arena_fail(&w->arena, w->err);
    while (rest.len > 0 && b->count < LKS_COUNT(b->list)) {
        lks_str_cut(rest, '\n', &product, &rest);
        b->count += lks_compat_boards(w->fleet->facts, product, b->list + b->count,
                                      LKS_COUNT(b->list) - b->count);
    }
    w->boards.items[w->boards.count++] = b;
    return LKS_OK;
}

static enum lks_code find_subject(struct work *w, struct lks_str name, struct lks_str version,
                                  uint32_t boards, uint32_t *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf key = LKS_BUF(LKS_BASIS_BYTES_MAX);
    struct lks_str kept_name, kept_version, text;
    lks_buf_addf(&key, "%" LKS_STR_FMT "\n%" LKS_STR_FMT "\n%u", LKS_STR_ARG(name),
                 LKS_STR_ARG(version), boards);
    if (lks_buf_check(&key, w->err) != LKS_OK ||
        lks_intern_id(&w->keys, lks_buf_view(&key), out, w->err) != LKS_OK ||
        ROOM(w, subjects) != LKS_OK)
        return w->err->code;
    if (*out < w->subjects.count)
        return LKS_OK;
    text = lks_intern_text(&w->keys, *out);
    lks_str_cut(text, '\n', &kept_name, &text);
    lks_str_cut(text, '\n', &kept_version, &text);
    const struct boards *b = w->boards.items[boards];
    w->subjects.items[w->subjects.count++] =
        (struct lks_advisory_subject){kept_name, kept_version, b->list, b->count};
    return LKS_OK;
}

static enum lks_code add_run(struct work *w, struct lks_str name, struct lks_str version,
                             uint32_t boards)
{
    uint32_t subject = 0;
    if (find_subject(w, name, version, boards, &subject) != LKS_OK || ROOM(w, runs) != LKS_OK)
        return w->err->code;
    w->runs.items[w->runs.count++] = subject;
    return LKS_OK;
}

/* Software is what runs or, failing that, its package; firmware has a version for each device. */
static enum lks_code read_component(struct work *w, const struct lks_tuple *t, struct lks_str name,
                                    uint32_t boards)
{
    char firmware[LKS_READING_NAME_MAX + 16];
    size_t count = 0;
    const struct lks_reading *r = lks_tuple_component(t, name);
    if (r != NULL && r->state == LKS_MEASURED && add_run(w, name, r->value, boards) != LKS_OK)
        return w->err->code;
    snprintf(firmware, sizeof(firmware), "firmware/%" LKS_STR_FMT, LKS_STR_ARG(name));
    r = lks_tuple_range(t, lks_str_from(firmware), &count);
    for (size_t i = 0; i < count; i++) {
        if (r[i].state == LKS_MEASURED && add_run(w, r[i].name, r[i].value, boards) != LKS_OK)
            return w->err->code;
    }
    return LKS_OK;
}

static enum lks_code read_basis(struct work *w, const struct lks_exposure_basis *basis)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
    struct basis_use use = {.from = w->runs.count};
    uint32_t boards = 0;
    if (lks_basis_parse(basis->readings, &t, w->err) != LKS_OK ||
        find_boards(w, &t, &boards) != LKS_OK)
        return w->err->code;
    for (uint32_t n = 0; n < lks_intern_count(&w->names); n++) {
        if (read_component(w, &t, lks_intern_text(&w->names, n), boards) != LKS_OK)
            return w->err->code;
    }
    use.count = w->runs.count - use.from;
    if (ROOM(w, bases) != LKS_OK)
        return w->err->code;
    w->bases.items[w->bases.count++] = use;
    return LKS_OK;
}

static int by_pool(const void *left, const void *right)
{
    const struct lks_exposure_node *a = left, *b = right;
    if (a->pool != b->pool)
        return a->pool < b->pool ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* What the catalogue says of an image. The boards that it will run on are unknown. */
static enum lks_code read_image(struct work *w, uint32_t image)
{
    const struct lks_exposure_image *have = &w->fleet->images[image];
    const struct lks_tuple none = {0};
    const struct {
        struct lks_str name, version;
    } libraries[] = {
        {LKS_STR("nccl"), have->nccl},
        {LKS_STR("rccl"), have->rccl},
        {LKS_STR("cudnn"), have->cudnn},
        {LKS_STR("cuda"), have->cuda},
    };
    uint32_t boards = 0, name = 0;
    for (size_t i = 0; i < LKS_COUNT(libraries); i++) {
        struct image_use use = {.image = image};
        if (libraries[i].version.len == 0 || !lks_intern_find(&w->names, libraries[i].name, &name))
            continue;
        if (find_boards(w, &none, &boards) != LKS_OK ||
            find_subject(w, libraries[i].name, libraries[i].version, boards, &use.subject) !=
                LKS_OK ||
            ROOM(w, images) != LKS_OK)
            return w->err->code;
        w->images.items[w->images.count++] = use;
    }
    return LKS_OK;
}

static enum lks_code read_all(struct work *w)
{
    struct lks_exposure_fleet *e = w->fleet;
    for (uint32_t b = 0; b < e->basis_count; b++) {
        if (read_basis(w, &e->bases[b]) != LKS_OK)
            return w->err->code;
    }
    for (uint32_t i = 0; i < e->image_count; i++) {
        if (read_image(w, i) != LKS_OK)
            return w->err->code;
    }
    if (e->node_count > 0)
        qsort(e->nodes, e->node_count, sizeof(e->nodes[0]), by_pool);
    return LKS_OK;
}

static enum lks_code find_hits(struct work *w)
{
    const struct lks_facts *facts = w->fleet->facts;
    for (size_t i = 0; i < facts->advisories.count; i++) {
        struct hit hit = {.advisory = &facts->advisories.rows[i]};
        for (uint32_t s = 0; is_asked(w, hit.advisory) && s < w->subjects.count; s++) {
            if (!lks_advisory_reaches(facts, hit.advisory, &w->subjects.items[s], &hit.affected,
                                      &hit.exposure))
                continue;
            if (ROOM(w, hits) != LKS_OK)
                return w->err->code;
            hit.subject = s;
            w->hits.items[w->hits.count++] = hit;
        }
    }
    return LKS_OK;
}

/* Whom it reaches --------------------------------------------------------------------------- */

static bool is_in(const struct work *w, const struct basis_use *use, const struct lks_bitset *set)
{
    for (size_t i = 0; i < use->count; i++) {
        if (lks_bitset_test(set, w->runs.items[use->from + i]))
            return true;
    }
    return false;
}

/* Each that one of them has, once. Nodes of one basis have the same. */
static enum lks_code put_versions(struct work *w, const struct lks_exposure_node *list,
                                  size_t count, const struct lks_bitset *set,
                                  struct lks_json_writer *out)
{
    LKS_CLEANUP(lks_bitset_fini) struct lks_bitset left = {0};
    if (lks_bitset_init(&left, set->size, w->err) != LKS_OK)
        return w->err->code;
    lks_bitset_or(&left, set);
    lks_json_begin(out, "versions", '[');
    for (size_t i = 0; i < count; i++) {
        const struct basis_use *use = &w->bases.items[list[i].basis];
        for (size_t r = 0; r < use->count; r++) {
            uint32_t subject = w->runs.items[use->from + r];
            if (!lks_bitset_test(&left, subject))
                continue;
            lks_bitset_clear(&left, subject);
            lks_json_text(out, NULL, w->subjects.items[subject].version);
        }
    }
    lks_json_end(out, ']');
    return LKS_OK;
}

/* All of them, or those that differ from what they should run, if there are any. */
static enum lks_code put_hosts(struct work *w, const struct lks_exposure_node *list, size_t total,
                               bool strays, struct lks_json_writer *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_HOSTLIST_BYTES_MAX);
    struct lks_str *names = lks_arena_array(&w->arena, total, sizeof(names[0]));
    size_t count = 0;
    if (names == NULL)
        return lks_arena_fail(&w->arena, w->err);
    for (size_t i = 0; i < total; i++) {
        if (!strays || list[i].stray)
            names[count++] = list[i].name;
    }
    if (count == 0)
        return LKS_OK;
    enum lks_code code = lks_hostlist_fold(names, count, &text, w->err);
    if (code == LKS_E_LIMIT && count > HOSTS_CUT) {
        lks_buf_fini(&text);
        lks_buf_init(&text, LKS_HOSTLIST_BYTES_MAX);
        code = lks_hostlist_fold(names, HOSTS_CUT, &text, w->err);
    }
    if (code == LKS_OK)
        lks_json_text(out, strays ? "drifted" : "hosts", lks_buf_view(&text));
    return code;
}

static enum lks_code put_pool(struct work *w, const struct lks_exposure_node *list, size_t count,
                              const struct lks_bitset *set, struct reach *reach,
                              struct lks_json_writer *out)
{
    const struct lks_exposure_fleet *e = w->fleet;
    uint64_t gpus = 0;
    for (size_t i = 0; i < count; i++)
        gpus += e->bases[list[i].basis].gpus;
    lks_json_begin(out, NULL, '{');
    lks_json_text(out, "pool", list->pool < e->pool_count ? e->pools[list->pool] : nothing);
    if (put_hosts(w, list, count, false, out) != LKS_OK ||
        put_hosts(w, list, count, true, out) != LKS_OK)
        return w->err->code;
    lks_json_int(out, "nodes", (int64_t)count);
    lks_json_int(out, "gpus", (int64_t)gpus);
    reach->nodes += count;
    reach->gpus += gpus;
    enum lks_code code = put_versions(w, list, count, set, out);
    lks_json_end(out, '}');
    return code;
}

/* All nodes whose basis has one of the subjects; how many they are goes to `count`. */
static struct lks_exposure_node *find_reached(struct work *w, const struct lks_bitset *set,
                                              size_t *count)
{
    struct lks_exposure_node *list = calloc((size_t)w->fleet->node_count + 1, sizeof(list[0]));
    *count = 0;
    for (size_t i = 0; i < w->bases.count; i++)
        w->bases.items[i].reached = is_in(w, &w->bases.items[i], set);
    for (size_t i = 0; i < w->fleet->node_count && list != NULL; i++) {
        if (w->bases.items[w->fleet->nodes[i].basis].reached)
            list[(*count)++] = w->fleet->nodes[i];
    }
    return list;
}

static enum lks_code put_pools(struct work *w, const struct lks_bitset *set, struct reach *reach,
                               struct lks_json_writer *out)
{
    size_t count = 0, end = 0;
    struct lks_exposure_node *list = find_reached(w, set, &count);
    enum lks_code code = LKS_OK;
    if (list == NULL)
        return lks_fail_nomem(w->err);
    lks_json_begin(out, NULL, '[');
    for (size_t at = 0; code == LKS_OK && at < count; at = end) {
        for (end = at; end < count && list[end].pool == list[at].pool;)
            end++;
        code = put_pool(w, list + at, end - at, set, reach, out);
    }
    lks_json_end(out, ']');
    free(list);
    return code;
}

static void put_images(const struct work *w, const struct lks_bitset *set,
                       struct lks_json_writer *out)
{
    lks_json_begin(out, NULL, '[');
    for (size_t i = 0; i < w->images.count; i++) {
        const struct image_use *use = &w->images.items[i];
        if (!lks_bitset_test(set, use->subject))
            continue;
        lks_json_write(out, "{'ref': '%.*s', 'version': '%.*s'}",
                       LKS_STR_ARG(w->fleet->images[use->image].ref),
                       LKS_STR_ARG(w->subjects.items[use->subject].version));
    }
    lks_json_end(out, ']');
}

static enum lks_code keep(struct work *w, struct lks_buf *text, struct lks_str *out)
{
    if (lks_buf_check(text, w->err) != LKS_OK)
        return w->err->code;
    *out = lks_arena_copy(&w->arena, lks_buf_view(text));
    lks_buf_truncate(text, 0);
    return out->ptr != NULL ? LKS_OK : lks_arena_fail(&w->arena, w->err);
}

static enum lks_code make_reach(struct work *w, const struct hit *hits, size_t count,
                                struct reach *out)
{
    LKS_CLEANUP(lks_bitset_fini) struct lks_bitset set = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    struct lks_json_writer writer = {.out = &text};
    if (lks_bitset_init(&set, w->subjects.count, w->err) != LKS_OK)
        return w->err->code;
    for (size_t i = 0; i < count; i++)
        lks_bitset_set(&set, hits[i].subject);
    lks_buf_init(&text, MEMORY_MAX);
    if (put_pools(w, &set, out, &writer) != LKS_OK || keep(w, &text, &out->pools) != LKS_OK)
        return w->err->code;
    writer.need_comma = false;
    put_images(w, &set, &writer);
    return keep(w, &text, &out->images);
}

static enum lks_code find_reach(struct work *w, const struct hit *hits, size_t count,
                                struct reach *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf key = LKS_BUF(MEMORY_MAX);
    uint32_t id = 0;
    for (size_t i = 0; i < count; i++)
        lks_buf_addf(&key, "%u ", hits[i].subject);
    if (lks_buf_check(&key, w->err) != LKS_OK ||
        lks_intern_id(&w->sets, lks_buf_view(&key), &id, w->err) != LKS_OK ||
        ROOM(w, reaches) != LKS_OK)
        return w->err->code;
    if (id == w->reaches.count) {
        struct reach made = {0};
        if (make_reach(w, hits, count, &made) != LKS_OK)
            return w->err->code;
        w->reaches.items[w->reaches.count++] = made;
    }
    *out = w->reaches.items[id];
    return LKS_OK;
}

/* Writing ----------------------------------------------------------------------------------- */

static int group_cmp(const struct work *w, const struct hit *a, const struct hit *b)
{
    if (a->exposure != b->exposure)
        return a->exposure < b->exposure ? -1 : 1;
    int order = lks_advisory_score(b->advisory) - lks_advisory_score(a->advisory);
    if (order == 0)
        order = lks_str_cmp(a->advisory->id, b->advisory->id);
    return order != 0 ? order
                      : lks_str_cmp(w->subjects.items[a->subject].name,
                                    w->subjects.items[b->subject].name);
}

static int worst_first(const void *left, const void *right, void *ctx)
{
    const struct hit *a = left, *b = right;
    int order = group_cmp(ctx, a, b);
    return order != 0 ? order : (a->subject > b->subject) - (a->subject < b->subject);
}

/* What closes it, in each branch that is affected here. */
static void put_fixed(const struct hit *hits, size_t count, struct lks_json_writer *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(FIXED_BYTES_MAX);
    for (size_t i = 0; i < count; i++) {
        const struct lks_affected *a = hits[i].affected;
        bool again = a == NULL || a->fixed.len == 0;
        for (size_t k = 0; k < i && !again; k++)
            again = hits[k].affected != NULL && lks_str_eq(hits[k].affected->fixed, a->fixed);
        if (again)
            continue;
        lks_buf_addf(&text, "%s%" LKS_STR_FMT, text.len > 0 ? ", " : "", LKS_STR_ARG(a->fixed));
    }
    lks_json_some(out, "fixed", lks_buf_view(&text));
}

static enum lks_code put_item(struct work *w, const struct hit *hits, size_t count, lks_day today,
                              struct lks_json_writer *out)
{
    const struct lks_advisory *advisory = hits->advisory;
    struct reach reach = {0};
    char day[LKS_DAY_TEXT_SIZE];
    if (find_reach(w, hits, count, &reach) != LKS_OK)
        return w->err->code;
    lks_json_write(out, "{'id': '%.*s', 'exposure': '%s', 'severity'?: '%.*s', 'cvss'?: '%.*s'",
                   LKS_STR_ARG(advisory->id), lks_advisory_exposure_code(hits->exposure),
                   LKS_STR_ARG(advisory->severity), LKS_STR_ARG(advisory->cvss));
    if (advisory->published != LKS_DAY_NONE)
        lks_json_write(out, "'published': '%s', 'days': %d",
                       lks_time_day_text(advisory->published, day), today - advisory->published);
    lks_json_text(out, "component", w->subjects.items[hits->subject].name);
    put_fixed(hits, count, out);
    lks_json_write(out,
                   "'summary'?: '%.*s', 'nodes': %zu, 'gpus': %zu, 'pools': %.*s, 'images': %.*s}",
                   LKS_STR_ARG(advisory->summary), reach.nodes, reach.gpus,
                   LKS_STR_ARG(reach.pools), LKS_STR_ARG(reach.images));
    return LKS_OK;
}

static enum lks_code put_items(struct work *w, lks_day today, struct lks_json_writer *out)
{
    struct hit *hits = w->hits.items;
    size_t end = 0;
    if (w->hits.count > 0)
        qsort_r(hits, w->hits.count, sizeof(hits[0]), worst_first, w);
    lks_json_begin(out, "items", '[');
    for (size_t at = 0; at < w->hits.count; at = end) {
        for (end = at; end < w->hits.count && group_cmp(w, &hits[at], &hits[end]) == 0;)
            end++;
        if (put_item(w, hits + at, end - at, today, out) != LKS_OK)
            return w->err->code;
    }
    lks_json_end(out, ']');
    return LKS_OK;
}

enum lks_code lks_exposure_advisories(struct lks_exposure_fleet *e, struct lks_str cve,
                                      lks_day today, struct lks_json_writer *w, struct lks_err *err)
{
    LKS_CLEANUP(work_fini) struct work work = {.fleet = e, .cve = cve, .err = err};
    work_init(&work);
    if (find_names(&work) != LKS_OK || read_all(&work) != LKS_OK || find_hits(&work) != LKS_OK ||
        put_items(&work, today, w) != LKS_OK)
        return err->code;
    return lks_buf_check(w->out, err);
}
