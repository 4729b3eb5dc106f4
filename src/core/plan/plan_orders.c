/*
 * What executors are told, there and back, for the differences of one layer.
 *
 * Who carries a difference out follows from what it is, who owns it, and what there is to make it
 * from:
 *
 *     a setting it knows             the settings executor; nothing is needed
 *     a component of owner image     the site's image hook on the node, which is called "image"
 *     firmware                       the firmware executor, with the image of a good bundle
 *     a component with .deb or .rpm  apt or dnf, with the packages of a good bundle
 *     what no bundle has             the hook that the wish names; without one it is refused
 *
 * What the stack says of a component's artifacts is obeyed; where it says nothing, one good bundle
 * has to have the component in that version, for that hardware. An item without a value is to be
 * absent, or as it is born; the file of a package that is to go is named so that it can be told
 * which one that is.
 */
#include "base/vec.h"
#include "core/compat/parts.h"
#include "core/plan/plan_parts.h"
#include "core/state/lookup.h"
#include "trust/envelope.h"

#include <stdlib.h>

#define IMAGE_HOOK      "image"
#define AGENT_COMPONENT "platform.agent"               /* the reading that says its version */
#define FILES_MAX       (LKS_ENVELOPE_DIGESTS_MAX - 1) /* the order itself is one, too */
#define NOTHING         ((struct lks_str){"", 0})

/* One way: what is wanted, or why it cannot be had. */
struct way {
    struct lks_order_item *items;
    size_t count, room;
    bool never;             /* there is none, whatever files there are */
    struct lks_str missing; /* files that no bundle has, "nccl 2.27.7"; empty: none are missing */
};

struct maker {
    const struct lks_plan_layer *layer;
    struct lks_arena *arena;
    struct way ways[LKS_ORDER_KIND_COUNT][2]; /* there and back */
    struct lks_str named[LKS_ORDER_KIND_COUNT];
    struct lks_err *err;
};

/* A component on its way from one version to another; versions may be empty. */
struct move {
    struct lks_str component; /* as the stacks call it, "firmware/nic[MCX75310AAS]" */
    struct lks_str name;      /* without its part: "firmware/nic" */
    struct lks_str class;     /* as bundles call it, "nic" */
    struct lks_str from, to;
    const struct lks_component *before, *after; /* of the stacks, or NULL */
};

/* Files that a version of it is made of; all of one bundle. */
struct files {
    const struct lks_bundle_artifact **list;
    size_t count;
};

static enum lks_code add_item(struct maker *m, struct way *way, struct lks_order_item item)
{
    if (LKS_VEC_RESERVE_IN(m->arena, way->items, way->room, way->count + 1, m->err) != LKS_OK)
        return m->err->code;
    way->items[way->count++] = item;
    return LKS_OK;
}

static enum lks_code add_text(struct maker *m, struct lks_str *list, const char *between,
                              struct lks_str text)
{
    *list = lks_arena_format(m->arena, "%" LKS_STR_FMT "%s%" LKS_STR_FMT, LKS_STR_ARG(*list),
                             list->len > 0 ? between : "", LKS_STR_ARG(text));
    return list->ptr != NULL ? LKS_OK : lks_arena_fail(m->arena, m->err);
}

static enum lks_code add_name(struct maker *m, enum lks_order_kind kind, struct lks_str component)
{
    struct lks_str *named = &m->named[kind];
    return lks_facts_words_have(*named, component) ? LKS_OK : add_text(m, named, " ", component);
}

/* The files of the version before, which no verified bundle has; once, as a component may differ in
 * more than one respect. */
static enum lks_code add_missing(struct maker *m, struct way *way, const struct move *move)
{
    struct lks_str file = move->component, rest = way->missing, one;
    if (add_text(m, &file, " ", move->from) != LKS_OK)
        return m->err->code;
    while (rest.len > 0) {
        (void)lks_str_cut(rest, ',', &one, &rest);
        if (lks_str_eq(lks_str_trim(one), file))
            return LKS_OK;
    }
    return add_text(m, &way->missing, ", ", file);
}

/* Artifacts ---------------------------------------------------------------------------------- */

static bool is_for(const struct maker *m, const struct move *move, const struct lks_component *c,
                   struct lks_str version, const struct lks_bundle_artifact *a)
{
    return lks_str_eq(a->component, move->class) && lks_str_eq(a->version, version) &&
           lks_bundle_fits(a, m->layer->class, m->layer->revision) && lks_plan_pins(c, a->digest) &&
           (m->layer->state == NULL || lks_state_vouched(m->layer->state, a->digest));
}

static bool has_file(const struct files *files, struct lks_str digest)
{
    for (size_t i = 0; i < files->count; i++) {
        if (lks_str_eq(files->list[i]->digest, digest))
            return true;
    }
    return false;
}

static enum lks_code files_of(struct maker *m, const struct move *move,
                              const struct lks_component *c, struct lks_str version,
                              const struct lks_bundle *bundle, struct files *out)
{
    struct files files = {0};
    files.list = lks_arena_array(m->arena, bundle->count + 1, sizeof(*files.list));
    if (files.list == NULL)
        return lks_arena_fail(m->arena, m->err);
    for (size_t i = 0; i < bundle->count; i++) {
        const struct lks_bundle_artifact *a = &bundle->artifacts[i];
        if (is_for(m, move, c, version, a) && !has_file(&files, a->digest))
            files.list[files.count++] = a;
    }
    *out = files;
    return LKS_OK;
}

static bool same_files(const struct files *a, const struct files *b)
{
    for (size_t i = 0; i < a->count; i++) {
        if (!has_file(b, a->list[i]->digest))
            return false;
    }
    return a->count == b->count;
}

/* None where no bundle has them. Two bundles that have different ones are not chosen between. */
static enum lks_code find_files(struct maker *m, const struct move *move,
                                const struct lks_component *c, struct lks_str version,
                                struct files *out)
{
    const struct lks_bundle_set *set = m->layer->bundles;
    const struct lks_bundle *from = NULL;
    *out = (struct files){0};
    for (size_t i = 0; version.len > 0 && i < set->count; i++) {
        struct files files = {0};
        if (files_of(m, move, c, version, set->list[i], &files) != LKS_OK)
            return m->err->code;
        if (files.count > 0 && out->count > 0 && !same_files(&files, out))
            return lks_plan_fail_two(move->component, version, from, set->list[i], m->err);
        if (files.count == 0)
            continue;
        *out = files;
        from = set->list[i];
    }
    return LKS_OK;
}

/* Who does it -------------------------------------------------------------------------------- */

static bool all_end(const struct files *files, const char *suffix)
{
    for (size_t i = 0; i < files->count; i++) {
        if (!lks_str_ends(files->list[i]->name, suffix))
            return false;
    }
    return files->count > 0;
}

static bool choose_kind(const struct maker *m, const struct files *files, enum lks_order_kind *out)
{
    static const struct {
        const char *suffix;
        enum lks_order_kind kind;
    } packages[] = {{".deb", LKS_ORDER_APT}, {".rpm", LKS_ORDER_DNF}};
    if (m->layer->firmware && files->count == 1) {
        *out = LKS_ORDER_FIRMWARE;
        return true;
    }
    for (size_t i = 0; !m->layer->firmware && i < LKS_COUNT(packages); i++) {
        if (all_end(files, packages[i].suffix)) {
            *out = packages[i].kind;
            return true;
        }
    }
    return false;
}

static bool follows(const struct maker *m, const struct files *files, struct lks_str version)
{
    for (size_t i = 0; i < files->count; i++) {
        if (version.len > 0 && !lks_bundle_follows(m->layer->facts, files->list[i], version))
            return false;
    }
    return true;
}

static bool any_one_way(const struct files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        if (files->list[i]->one_way)
            return true;
    }
    return false;
}

/* One item a file; what is to go is told by the files that it came from. */
static enum lks_code add_files(struct maker *m, struct way *way, const struct move *move,
                               const struct files *files, struct lks_str value,
                               struct lks_str before)
{
    for (size_t i = 0; i < files->count; i++) {
        const struct lks_order_item item = {.component = move->component,
                                            .value = value,
                                            .before = before,
                                            .digest = files->list[i]->digest,
                                            .file = files->list[i]->name};
        if (add_item(m, way, item) != LKS_OK)
            return m->err->code;
    }
    return LKS_OK;
}

static enum lks_code add_plain(struct maker *m, enum lks_order_kind kind, const struct move *move)
{
    const struct lks_order_item there = {
        .component = move->component, .value = move->to, .before = move->from};
    const struct lks_order_item back = {
        .component = move->component, .value = move->from, .before = move->to};
    if (add_name(m, kind, move->name) != LKS_OK ||
        add_item(m, &m->ways[kind][0], there) != LKS_OK ||
        add_item(m, &m->ways[kind][1], back) != LKS_OK)
        return m->err->code;
    return LKS_OK;
}

static enum lks_code refuse(struct maker *m, const struct move *move, struct lks_str version)
{
    struct lks_str revision = m->layer->revision;
    return lks_fail(m->err, LKS_E_REFUSED,
                    "%" LKS_STR_FMT "%s%" LKS_STR_FMT ": no good bundle has it for %" LKS_STR_FMT
                    "%s%" LKS_STR_FMT "; push one, or name a hook that installs it",
                    LKS_STR_ARG(move->component), version.len > 0 ? " " : "", LKS_STR_ARG(version),
                    LKS_STR_ARG(m->layer->class), revision.len > 0 ? ", revision " : "",
                    LKS_STR_ARG(revision));
}

/* What no bundle has is the hook's, both ways: a step has one executor. */
static enum lks_code give_up(struct maker *m, const struct move *move)
{
    if (m->layer->hook.len > 0)
        return add_plain(m, LKS_ORDER_HOOK, move);
    return refuse(m, move, move->to.len > 0 ? move->to : move->from);
}

/* Files there are; without files for the rollback there is none. A package that is installed is
 * reverted by its removal, and the other way round. */
static enum lks_code move_files(struct maker *m, enum lks_order_kind kind, const struct move *move,
                                const struct files *there, const struct files *back)
{
    struct way *ways = m->ways[kind];
    bool comes = move->from.len == 0, goes = move->to.len == 0;
    if (!follows(m, there, move->from))
        return lks_fail(m->err, LKS_E_REFUSED,
                        "%" LKS_STR_FMT ": %" LKS_STR_FMT " may not follow %" LKS_STR_FMT,
                        LKS_STR_ARG(move->component), LKS_STR_ARG(move->to),
                        LKS_STR_ARG(move->from));
    if (add_name(m, kind, move->name) != LKS_OK ||
        add_files(m, &ways[0], move, goes ? back : there, move->to, move->from) != LKS_OK ||
        add_files(m, &ways[1], move, comes ? there : back, move->from, move->to) != LKS_OK)
        return m->err->code;
    bool never =
        any_one_way(there) || !follows(m, back, move->to) || (comes && kind == LKS_ORDER_FIRMWARE);
    ways[1].never |= never;
    bool none = !never && (comes ? there : back)->count == 0;
    return none ? add_missing(m, &ways[1], move) : LKS_OK;
}

/* A component that comes, goes or changes its version. */
static enum lks_code move_component(struct maker *m, const struct move *move)
{
    struct files there = {0}, back = {0};
    enum lks_order_kind kind, kind_back;
    if (find_files(m, move, move->after, move->to, &there) != LKS_OK ||
        find_files(m, move, move->before, move->from, &back) != LKS_OK)
        return m->err->code;
    bool goes = move->to.len == 0;
    if (!choose_kind(m, goes ? &back : &there, &kind))
        return give_up(m, move);
    bool both = choose_kind(m, &back, &kind_back) && kind_back == kind;
    if (!both && move->from.len > 0 && m->layer->hook.len > 0)
        return give_up(m, move); /* the hook knows the rollback, too */
    if (!both)
        back = (struct files){0};
    return move_files(m, kind, move, &there, &back);
}

static enum lks_code move_image(struct maker *m, const struct move *move)
{
    struct files there = {0}, back = {0};
    if (find_files(m, move, move->after, move->to, &there) != LKS_OK ||
        find_files(m, move, move->before, move->from, &back) != LKS_OK)
        return m->err->code;
    struct way *ways = m->ways[LKS_ORDER_IMAGE];
    if (there.count == 0 || back.count == 0)
        return add_plain(m, LKS_ORDER_IMAGE, move);
    if (add_name(m, LKS_ORDER_IMAGE, move->name) != LKS_OK ||
        add_files(m, &ways[0], move, &there, move->to, move->from) != LKS_OK)
        return m->err->code;
    return add_files(m, &ways[1], move, &back, move->from, move->to);
}

/* Differences -------------------------------------------------------------------------------- */

/* What is installed anew for the sake of it, though the version stays. */
static bool is_bits(struct lks_str attribute)
{
    return lks_str_is(attribute, ".artifacts") || lks_str_is(attribute, ".modules") ||
           lks_str_starts(attribute, ".build");
}

static bool is_image(const struct lks_component *c)
{
    return lks_str_is(c->owner, "image") || lks_str_is(c->name, "os-image");
}

static enum lks_code tell_component(struct maker *m, const struct lks_difference *d)
{
    struct move move = {.from = d->from, .to = d->to};
    move.before = lks_plan_component_in(m->layer->from, d->subject);
    move.after = lks_plan_component_in(m->layer->to, d->subject);
    const struct lks_component *c = move.after != NULL ? move.after : move.before;
    size_t label = c != NULL ? c->label.len : 0;
    struct lks_str rest = {d->subject.ptr + label, d->subject.len - label};
    if (c == NULL || (rest.len > 0 && !is_bits(rest)))
        return LKS_OK; /* nothing is done about it on a node */
    if (rest.len > 0) {
        move.from = move.before != NULL ? move.before->version : NOTHING;
        move.to = move.after != NULL ? move.after->version : NOTHING;
    }
    if (move.to.len == 0 && move.after == NULL)
        return LKS_OK; /* not pinned any more: it may stay */
    move.component = c->label;
    move.name = c->name;
    move.class = lks_component_bare(c->name);
    return is_image(c) ? move_image(m, &move) : move_component(m, &move);
}

static bool is_moved(const struct maker *m, struct lks_str name)
{
    for (size_t i = 0; i < m->layer->to->component_count; i++) {
        const struct lks_component *after = &m->layer->to->components[i];
        const struct lks_component *before = lks_plan_component_in(m->layer->from, after->name);
        if (lks_str_eq(after->name, name))
            return before == NULL || !lks_str_eq(before->version, after->version);
    }
    return false;
}

/* A stack that was drafted from a machine pins what else was read there, under settings.other:
 * "driver.disk", "cdi.driver". What is called after a component that moves moves with it. */
static bool moves_along(const struct maker *m, struct lks_str subject)
{
    static const char other[] = "settings.other.";
    if (!lks_str_starts(subject, other))
        return false;
    struct lks_str rest = {subject.ptr + strlen(other), subject.len - strlen(other)}, word;
    for (bool more = true; more;) {
        more = lks_str_cut(rest, '.', &word, &rest);
        if (is_moved(m, word))
            return true;
    }
    return false;
}

static enum lks_code tell(struct maker *m, const struct lks_difference *d)
{
    const struct move move = {
        .component = d->subject, .name = d->subject, .from = d->from, .to = d->to};
    if (moves_along(m, d->subject))
        return LKS_OK;
    if (lks_order_setting(d->subject))
        return add_plain(m, LKS_ORDER_SETTINGS, &move);
    if (!lks_str_starts(d->subject, "settings.") && !lks_str_starts(d->subject, "tuning."))
        return tell_component(m, d);
    if (m->layer->hook.len > 0)
        return add_plain(m, LKS_ORDER_HOOK, &move);
    return lks_fail(m->err, LKS_E_REFUSED,
                    "%" LKS_STR_FMT ": no executor sets it; name a hook that does",
                    LKS_STR_ARG(d->subject));
}

static enum lks_code tell_agent(struct maker *m)
{
    const struct move move = {.component = LKS_STR(AGENT_COMPONENT),
                              .name = LKS_STR(AGENT_COMPONENT),
                              .class = LKS_STR(AGENT_COMPONENT),
                              .from = m->layer->agent_before,
                              .to = m->layer->agent};
    if (move_component(m, &move) != LKS_OK)
        return m->err->code;
    for (size_t i = 0; move.from.len == 0 && i < LKS_ORDER_KIND_COUNT; i++)
        m->ways[i][1].never = true; /* an agent that goes could not tell that it went */
    return LKS_OK;
}

/* Orders ------------------------------------------------------------------------------------- */

static int by_component(const void *left, const void *right)
{
    const struct lks_order_item *a = left, *b = right;
    int order = lks_str_cmp(a->component, b->component);
    if (order == 0)
        order = lks_str_cmp(a->file, b->file);
    return order != 0 ? order : lks_str_cmp(a->digest, b->digest);
}

static bool same_item(const struct lks_order_item *a, const struct lks_order_item *b)
{
    return lks_str_eq(a->component, b->component) && lks_str_eq(a->digest, b->digest);
}

/* Sorted, each once: a component may differ in more than one respect. */
static void sort(struct way *way)
{
    size_t kept = 0;
    qsort(way->items, way->count, sizeof(*way->items), by_component);
    for (size_t i = 0; i < way->count; i++) {
        if (kept == 0 || !same_item(&way->items[kept - 1], &way->items[i]))
            way->items[kept++] = way->items[i];
    }
    way->count = kept;
}

static enum lks_code list_files(struct maker *m, const struct way *way, struct lks_str *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_ORDER_BYTES_MAX);
    size_t count = 0;
    for (size_t i = 0; i < way->count; i++) {
        struct lks_str digest = way->items[i].digest;
        if (digest.len == 0 || lks_facts_words_have(lks_buf_view(&text), digest))
            continue;
        lks_buf_addf(&text, "%s%" LKS_STR_FMT, count > 0 ? " " : "", LKS_STR_ARG(digest));
        count++;
    }
    if (count > FILES_MAX)
        return lks_fail(m->err, LKS_E_REFUSED,
                        "%" LKS_STR_FMT " needs %zu files, and a command carries at most %d",
                        LKS_STR_ARG(way->items[0].component), count, FILES_MAX);
    if (lks_buf_check(&text, m->err) != LKS_OK)
        return m->err->code;
    *out = text.len > 0 ? lks_arena_copy(m->arena, lks_buf_view(&text)) : NOTHING;
    return out->ptr != NULL ? LKS_OK : lks_arena_fail(m->arena, m->err);
}

static enum lks_code write_way(struct maker *m, enum lks_order_kind kind, bool back,
                               struct lks_str *digest, struct lks_str *text,
                               struct lks_str *artifacts)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(LKS_ORDER_BYTES_MAX);
    struct way *way = &m->ways[kind][back];
    const struct lks_stack *stack = back ? m->layer->from : m->layer->to;
    char sum[LKS_DIGEST_SIZE];
    sort(way);
    struct lks_order order = {.kind = kind, .items = way->items, .count = way->count};
    order.stack = stack != NULL ? lks_str_from(stack->digest) : NOTHING;
    if (kind == LKS_ORDER_HOOK)
        order.hook = m->layer->hook;
    if (kind == LKS_ORDER_IMAGE)
        order.hook = LKS_STR(IMAGE_HOOK);
    if (list_files(m, way, artifacts) != LKS_OK ||
        lks_order_write(&order, &json, m->err) != LKS_OK ||
        lks_digest_text(lks_buf_view(&json), sum, m->err) != LKS_OK)
        return m->err->code;
    *digest = lks_arena_copy(m->arena, lks_str_from(sum));
    *text = lks_arena_copy(m->arena, lks_buf_view(&json));
    return digest->ptr != NULL && text->ptr != NULL ? LKS_OK : lks_arena_fail(m->arena, m->err);
}

static enum lks_code write_kind(struct maker *m, enum lks_order_kind kind,
                                struct lks_plan_told *out)
{
    struct lks_plan_told told = {.step = {.executor = lks_str_from(lks_order_words[kind]),
                                          .component = m->named[kind],
                                          .order_back = NOTHING,
                                          .artifacts_back = NOTHING},
                                 .text_back = NOTHING,
                                 .reboots = kind == LKS_ORDER_IMAGE};
    struct lks_rec_plan_step *step = &told.step;
    if (write_way(m, kind, false, &step->order, &told.text, &step->artifacts) != LKS_OK)
        return m->err->code;
    const struct way *back = &m->ways[kind][1];
    told.never = back->never;
    step->missing = back->never ? NOTHING : back->missing;
    if (!back->never && back->missing.len == 0 &&
        write_way(m, kind, true, &step->order_back, &told.text_back, &step->artifacts_back) !=
            LKS_OK)
        return m->err->code;
    *out = told;
    return LKS_OK;
}

/* The order of work: what may replace the whole machine first, settings last, as some of them need
 * the software that they are of. */
static const enum lks_order_kind work[LKS_ORDER_KIND_COUNT] = {
    LKS_ORDER_IMAGE, LKS_ORDER_APT,      LKS_ORDER_DNF,
    LKS_ORDER_HOOK,  LKS_ORDER_FIRMWARE, LKS_ORDER_SETTINGS,
};
_Static_assert(LKS_ORDER_KIND_COUNT <= LKS_PLAN_LAYER_ORDERS, "each has a place");

enum lks_code lks_plan_orders(const struct lks_plan_layer *layer, struct lks_arena *arena,
                              struct lks_plan_told out[LKS_PLAN_LAYER_ORDERS], size_t *count,
                              struct lks_err *err)
{
    struct maker m = {.layer = layer, .arena = arena, .err = err};
    size_t told = 0;
    for (size_t i = 0; i < LKS_ORDER_KIND_COUNT; i++)
        m.named[i] = m.ways[i][0].missing = m.ways[i][1].missing = NOTHING;
    for (size_t i = 0; i < layer->count; i++) {
        if (tell(&m, layer->differences[i]) != LKS_OK)
            return err->code;
    }
    if (layer->agent.len > 0 && tell_agent(&m) != LKS_OK)
        return err->code;
    for (size_t i = 0; i < LKS_ORDER_KIND_COUNT; i++) {
        if (m.ways[work[i]][0].count > 0 && write_kind(&m, work[i], &out[told++]) != LKS_OK)
            return err->code;
    }
    *count = told;
    return LKS_OK;
}
