#include "core/compat/stackdiff.h"

#include "base/buf.h"
#include "base/vec.h"
#include "codec/format/json.h"
#include "core/compat/parts.h"
#include "model/schema/schema.h"

#include <stdlib.h>

/* Of everything a manifest can hold, each value on both sides, with room to spare. */
#define DIFF_BYTES_MAX ((size_t)1 << 30)

struct differ {
    const struct lks_facts *facts;
    const struct lks_stack *from, *to;
    struct lks_stackdiff *out;
    struct lks_err *err;
};

/* What interrupts more stands further down. */
static const char *const reboots[] = {"no", "service", "reset", "node", "domain"};

static size_t reboot_rank(struct lks_str reboot)
{
    for (size_t i = 0; i < LKS_COUNT(reboots); i++) {
        if (lks_str_is(reboot, reboots[i]))
            return i;
    }
    return LKS_COUNT(reboots) - 1;
}

static enum lks_code add(struct differ *d, struct lks_difference difference)
{
    struct lks_stackdiff *out = d->out;
    if (LKS_VEC_RESERVE_IN(&out->memory, out->differences, out->room, out->count + 1, d->err) !=
        LKS_OK)
        return d->err->code;
    out->differences[out->count++] = difference;
    out->one_way += difference.one_way;
    if (reboot_rank(difference.reboot) > reboot_rank(lks_str_from(out->reboot)))
        out->reboot = reboots[reboot_rank(difference.reboot)];
    return LKS_OK;
}

static const char *direction_of(bool was, bool is)
{
    return was && is ? "changed" : is ? "added" : "removed";
}

/* A text in the result's memory; its failure is looked at where it is kept. */
#define TEXT(d, ...) lks_arena_format(&(d)->out->memory, __VA_ARGS__)

/* Values ------------------------------------------------------------------------------------ */

/* A value as people read it: text as it is, anything else as JSON, which `as_json` asks for always.
 * Nothing for nothing, and so an empty text in its quotes. */
static enum lks_code shown(struct differ *d, const struct lks_doc *doc, bool as_json,
                           struct lks_str *out)
{
    *out = (struct lks_str){"", 0};
    if (doc == NULL)
        return LKS_OK;
    if (doc->kind == LKS_DOC_TEXT && doc->text.len > 0 && !as_json) {
        *out = doc->text;
        return LKS_OK;
    }
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(DIFF_BYTES_MAX);
    if (lks_json_canonical(doc, &text, d->err) != LKS_OK)
        return d->err->code;
    *out = lks_arena_copy(&d->out->memory, lks_buf_view(&text));
    return out->ptr != NULL ? LKS_OK : lks_arena_fail(&d->out->memory, d->err);
}

/* A value that a manifest may hold: where it stands, of which kind it is, and the two sides of it,
 * either of which may be NULL. */
struct pair {
    struct lks_str path;
    const struct lks_field *field;
    const struct lks_doc *from, *to;
    const struct lks_difference *means; /* what any change of it means */
};

static enum lks_code diff_leaf(struct differ *d, const struct pair *p)
{
    struct lks_difference difference = *p->means;
    bool same;
    if (lks_schema_same(p->field, p->from, p->to, &same, d->err) != LKS_OK)
        return d->err->code;
    if (same)
        return LKS_OK;
    if (shown(d, p->from, false, &difference.from) != LKS_OK ||
        shown(d, p->to, false, &difference.to) != LKS_OK)
        return d->err->code;
    /* The number 1 and the text "1" differ, and must look it. */
    bool alike = lks_str_eq(difference.from, difference.to);
    if (alike && (shown(d, p->from, true, &difference.from) != LKS_OK ||
                  shown(d, p->to, true, &difference.to) != LKS_OK))
        return d->err->code;
    difference.subject = p->path;
    difference.direction = direction_of(p->from != NULL, p->to != NULL);
    return add(d, difference);
}

static enum lks_code diff_value(struct differ *d, const struct pair *p);

/* The same for what stands inside of `p` under `key`. */
static enum lks_code diff_inner(struct differ *d, const struct pair *p, struct lks_str key,
                                const struct lks_field *field, const struct lks_doc *from,
                                const struct lks_doc *to)
{
    struct pair inner = {.field = field, .from = from, .to = to, .means = p->means};
    if (from == NULL && to == NULL)
        return LKS_OK;
    inner.path = TEXT(d, "%" LKS_STR_FMT ".%" LKS_STR_FMT, LKS_STR_ARG(p->path), LKS_STR_ARG(key));
    return diff_value(d, &inner);
}

static enum lks_code diff_form(struct differ *d, const struct pair *p, const struct lks_form *form)
{
    struct lks_field field;
    for (size_t i = 0; lks_schema_at(form, i, &field); i++) {
        if (diff_inner(d, p, lks_str_from(field.key), &field, lks_doc_member(p->from, field.key),
                       lks_doc_member(p->to, field.key)) != LKS_OK)
            return d->err->code;
    }
    return LKS_OK;
}

static int by_key(const void *left, const void *right)
{
    const struct lks_doc *const *a = left, *const *b = right;
    return lks_str_cmp((*a)->key, (*b)->key);
}

/* The members of a map in the order of their names, to walk two of them side by side. */
static enum lks_code sorted(struct differ *d, const struct lks_doc *map,
                            const struct lks_doc ***out, size_t *count)
{
    *count = map != NULL ? map->count : 0;
    *out = lks_arena_array(&d->out->memory, *count + 1, sizeof(**out));
    if (*out == NULL)
        return lks_arena_fail(&d->out->memory, d->err);
    const struct lks_doc **next = *out;
    for (const struct lks_doc *item = *count > 0 ? map->first : NULL; item; item = item->next)
        *next++ = item;
    qsort(*out, *count, sizeof(**out), by_key);
    return LKS_OK;
}

static enum lks_code diff_dict(struct differ *d, const struct pair *p)
{
    const struct lks_field field = {.key = "", .shape = *p->field->shape.of};
    const struct lks_doc **from, **to;
    size_t from_count, to_count, i = 0, j = 0;
    if (sorted(d, p->from, &from, &from_count) != LKS_OK ||
        sorted(d, p->to, &to, &to_count) != LKS_OK)
        return d->err->code;
    while (i < from_count || j < to_count) {
        const struct lks_doc *a = i < from_count ? from[i] : NULL;
        const struct lks_doc *b = j < to_count ? to[j] : NULL;
        int order = a == NULL ? 1 : b == NULL ? -1 : lks_str_cmp(a->key, b->key);
        a = order <= 0 ? a : NULL;
        b = order >= 0 ? b : NULL;
        LKS_ASSERT(a != NULL || b != NULL);
        i += a != NULL;
        j += b != NULL;
        if (diff_inner(d, p, (a != NULL ? a : b)->key, &field, a, b) != LKS_OK)
            return d->err->code;
    }
    return LKS_OK;
}

/* Maps are looked into, so that each difference is one value; a list is one value. */
static enum lks_code diff_value(struct differ *d, const struct pair *p)
{
    const struct lks_shape *shape = &p->field->shape;
    if (p->path.ptr == NULL)
        return lks_arena_fail(&d->out->memory, d->err);
    if ((p->field->flags & LKS_FIELD_NOTE) != 0)
        return LKS_OK;
    if (shape->type == LKS_TYPE_FORM)
        return diff_form(d, p, shape->form);
    return shape->type == LKS_TYPE_DICT ? diff_dict(d, p) : diff_leaf(d, p);
}

/* Components -------------------------------------------------------------------------------- */

/* What makes new firmware run says whether the node boots. What comes along with the driver is
 * loaded with it. */
static struct lks_str reboot_of(const struct differ *d, const struct lks_component *c,
                                const struct lks_component_kind *kind)
{
    static const struct {
        const char *reset, *reboot;
    } means[] = {{"none", "no"}, {"bmc", "no"},  {"device", "reset"}, {"reboot", "node"},
                 {"dc", "node"}, {"ac", "node"}, {"domain", "domain"}};
    const struct lks_firmware_update *update =
        lks_component_is_firmware(c->name) ? lks_facts_firmware(d->facts, c->name) : NULL;
    bool own = kind == NULL || !lks_str_is(kind->update_class, "software");
    for (size_t i = 0; update != NULL && own && i < LKS_COUNT(means); i++) {
        if (lks_str_is(update->reset, means[i].reset))
            return lks_str_from(means[i].reboot);
    }
    return kind != NULL ? kind->reboot : LKS_STR("node");
}

/* Fill in what a change of `c` means. An entry's own word on its banks and its revert beats what is
 * usual for its class. */
static void describe(struct differ *d, const struct lks_component *c, struct lks_difference *out)
{
    const struct lks_component_kind *kind = lks_facts_component(d->facts, c->name);
    const struct lks_update_class *class =
        kind != NULL ? lks_facts_update_class(d->facts, kind->update_class) : NULL;
    out->class = class != NULL ? class->name : LKS_STR("unknown");
    out->reboot = reboot_of(d, c, kind);
    out->revert = class != NULL ? class->revert : LKS_STR("unknown");
    if (lks_str_is(c->banks, "ab"))
        out->revert = LKS_STR("banks");
    if (lks_str_is(c->revert, "one-way"))
        out->revert = LKS_STR("one-way");
    else if (lks_str_is(c->revert, "revertible") && lks_str_is(out->revert, "one-way"))
        out->revert = LKS_STR("reflash");
    out->one_way = lks_str_is(out->revert, "one-way");
}

/* Whether `version` is in the tested window that the stack before has for `c`. */
static bool is_tolerated(const struct differ *d, const struct lks_component *c,
                         struct lks_str version)
{
    enum lks_version_scheme scheme = lks_facts_scheme(d->facts, c->name);
    struct lks_range range;
    struct lks_err ignored = {0};
    return c->window.len > 0 &&
           lks_version_range_parse(c->window, scheme, &range, &ignored) == LKS_OK &&
           lks_version_range_has(&range, version, scheme);
}

static enum lks_code diff_version(struct differ *d, const struct lks_component *a,
                                  const struct lks_component *b)
{
    struct lks_str from = a != NULL ? a->version : (struct lks_str){"", 0};
    struct lks_str to = b != NULL ? b->version : (struct lks_str){"", 0};
    if (lks_str_eq(from, to))
        return LKS_OK;
    const struct lks_component *c = b != NULL ? b : a;
    struct lks_difference difference = {.subject = c->label, .from = from, .to = to};
    difference.direction = direction_of(from.len > 0, to.len > 0);
    if (from.len > 0 && to.len > 0) {
        int order = lks_version_cmp(from, to, lks_facts_scheme(d->facts, c->name));
        difference.direction = order < 0 ? "upgrade" : order > 0 ? "downgrade" : "changed";
        difference.tolerated = is_tolerated(d, a, to);
    }
    describe(d, c, &difference);
    if (to.len > 0 && lks_component_is_firmware(c->name))
        difference.update = lks_facts_firmware(d->facts, c->name);
    return add(d, difference);
}

/* The field of a stack called `key`. Fields of one that parsed are known. */
static struct lks_field stack_field(const char *key)
{
    struct lks_field field = {0};
    bool known = lks_schema_field(&lks_stack_form, lks_str_from(key), &field);
    LKS_ASSERT(known);
    return field;
}

/* One more thing an entry says: owner, modules, build, artifacts ... Either side may be NULL. */
static enum lks_code diff_field(struct differ *d, const struct lks_component *a,
                                const struct lks_component *b, const char *key)
{
    const struct lks_component *c = b != NULL ? b : a;
    bool firmware = lks_component_is_firmware(c->name);
    const struct lks_shape *entry = stack_field(firmware ? "firmware" : "components").shape.of;
    struct lks_field field = {0};
    bool known = lks_schema_field(entry->form, lks_str_from(key), &field);
    struct lks_difference means = {0};
    describe(d, c, &means);
    means.one_way = false; /* only a new version is flashed */
    struct pair pair = {.path = {"", 0},
                        .field = &field,
                        .from = a != NULL ? lks_doc_member(a->doc, key) : NULL,
                        .to = b != NULL ? lks_doc_member(b->doc, key) : NULL,
                        .means = &means};
    if (!known || (pair.from == NULL && pair.to == NULL))
        return LKS_OK;
    pair.path = TEXT(d, "%" LKS_STR_FMT ".%s", LKS_STR_ARG(c->label), key);
    return diff_value(d, &pair);
}

static struct lks_str window_of(const struct lks_component *c)
{
    return c != NULL ? c->window : LKS_STR("");
}

static enum lks_code diff_window(struct differ *d, const struct lks_component *a,
                                 const struct lks_component *b)
{
    struct lks_str before = window_of(a), after = window_of(b);
    if (lks_str_eq(before, after))
        return LKS_OK;
    struct lks_str subject =
        TEXT(d, "%" LKS_STR_FMT ".window", LKS_STR_ARG((b != NULL ? b : a)->label));
    if (subject.ptr == NULL)
        return lks_arena_fail(&d->out->memory, d->err);
    return add(d, (struct lks_difference){.subject = subject,
                                          .from = before,
                                          .to = after,
                                          .direction = direction_of(before.len > 0, after.len > 0),
                                          .class = LKS_STR("window"),
                                          .reboot = LKS_STR("no"),
                                          .revert = LKS_STR("cheap")});
}

static enum lks_code diff_component(struct differ *d, const struct lks_component *a,
                                    const struct lks_component *b)
{
    static const char *const fields[] = {"absent",  "scope",     "owner", "build", "artifacts",
                                         "modules", "transport", "banks", "revert"};
    LKS_ASSERT(a != NULL || b != NULL);
    if (diff_version(d, a, b) != LKS_OK)
        return d->err->code;
    /* Of an entry that comes or goes only the version is told, or that it is absent. */
    size_t count = a != NULL && b != NULL ? LKS_COUNT(fields) : 1;
    for (size_t i = 0; i < count; i++) {
        if (diff_field(d, a, b, fields[i]) != LKS_OK)
            return d->err->code;
    }
    return diff_window(d, a, b);
}

/* Both lists are sorted: walk them side by side. */
static enum lks_code diff_components(struct differ *d)
{
    size_t i = 0, j = 0;
    while (i < d->from->component_count || j < d->to->component_count) {
        const struct lks_component *a =
            i < d->from->component_count ? &d->from->components[i] : NULL;
        const struct lks_component *b = j < d->to->component_count ? &d->to->components[j] : NULL;
        int order = a == NULL ? 1 : b == NULL ? -1 : lks_stack_component_cmp(a, b);
        i += order <= 0;
        j += order >= 0;
        if (diff_component(d, order <= 0 ? a : NULL, order >= 0 ? b : NULL) != LKS_OK)
            return d->err->code;
    }
    return LKS_OK;
}

/* Settings, tuning and hardware ------------------------------------------------------------- */

/* The form under `where`: what a change means hangs on its member, however deep below it is. */
static enum lks_code diff_settings(struct differ *d, const char *where, const struct lks_doc *from,
                                   const struct lks_doc *to)
{
    const struct lks_form *form = stack_field(where).shape.form;
    struct lks_field field;
    for (size_t i = 0; lks_schema_at(form, i, &field); i++) {
        struct lks_str key = lks_str_from(field.key);
        const struct lks_setting_kind *kind = lks_facts_setting(d->facts, key);
        struct lks_difference means = {
            .class = lks_str_from(where),
            .reboot = kind != NULL ? kind->reboot : LKS_STR("service"),
            .revert = kind != NULL ? kind->revert : LKS_STR("cheap"),
        };
        struct pair top = {.path = lks_str_from(where), .means = &means};
        if (diff_inner(d, &top, key, &field, lks_doc_find(from, key), lks_doc_find(to, key)) !=
            LKS_OK)
            return d->err->code;
    }
    return LKS_OK;
}

static enum lks_code diff_hardware(struct differ *d)
{
    static const struct lks_difference means = {
        .class = LKS_STR_C("hardware"), .reboot = LKS_STR_C("no"), .revert = LKS_STR_C("cheap")};
    struct lks_field field = stack_field("hardware");
    struct pair pair = {.path = LKS_STR("hardware"),
                        .field = &field,
                        .from = lks_doc_member(d->from->doc, "hardware"),
                        .to = lks_doc_member(d->to->doc, "hardware"),
                        .means = &means};
    return diff_value(d, &pair);
}

/* Vulnerabilities --------------------------------------------------------------------------- */

static bool is_in(const struct lks_flaws *flaws, const struct lks_advisory *advisory)
{
    for (size_t i = 0; i < flaws->count; i++) {
        if (flaws->list[i] == advisory)
            return true;
    }
    return false;
}

/* Those `mine` is exposed to and `other` is not. A bulletin may speak of several components. */
static enum lks_code only_in(struct differ *d, const struct lks_advisory_list *mine,
                             const struct lks_advisory_list *other, struct lks_flaws *out)
{
    out->list = lks_arena_array(&d->out->memory, mine->exposed + 1, sizeof(*out->list));
    if (out->list == NULL)
        return lks_arena_fail(&d->out->memory, d->err);
    for (size_t i = 0; i < mine->exposed; i++) {
        const struct lks_advisory *advisory = mine->open[i].advisory;
        if (!lks_advisory_list_has(other, advisory->id) && !is_in(out, advisory))
            out->list[out->count++] = advisory;
    }
    return LKS_OK;
}

static enum lks_code diff_flaws(struct differ *d)
{
    LKS_CLEANUP(lks_advisory_list_fini) struct lks_advisory_list before = {0};
    LKS_CLEANUP(lks_advisory_list_fini) struct lks_advisory_list after = {0};
    if (lks_advisory_list_of(d->facts, d->from, &before, d->err) != LKS_OK ||
        lks_advisory_list_of(d->facts, d->to, &after, d->err) != LKS_OK ||
        only_in(d, &before, &after, &d->out->closed) != LKS_OK)
        return d->err->code;
    return only_in(d, &after, &before, &d->out->opened);
}

/* The class of change ----------------------------------------------------------------------- */

static bool has_class(const struct lks_stackdiff *diff, const char *class)
{
    for (size_t i = 0; i < diff->count; i++) {
        if (lks_str_is(diff->differences[i].class, class))
            return true;
    }
    return false;
}

/* A version that the stack before already tolerates is the smallest change there is. */
static bool all_tolerated(const struct lks_stackdiff *diff)
{
    for (size_t i = 0; i < diff->count; i++) {
        if (!diff->differences[i].tolerated)
            return false;
    }
    return true;
}

/* The worst is the first. */
static bool closes_critical(const struct lks_stackdiff *diff)
{
    enum { CRITICAL = 90 };
    return diff->closed.count > 0 && lks_advisory_score(diff->closed.list[0]) >= CRITICAL;
}

static const struct lks_change_class *change_class(const struct differ *d)
{
    bool plant = has_class(d->out, "power") || has_class(d->out, "fabric");
    enum lks_change_covers covers = plant                     ? LKS_COVERS_PLANT
                                    : closes_critical(d->out) ? LKS_COVERS_ADVISORY
                                    : all_tolerated(d->out)   ? LKS_COVERS_WINDOW
                                                              : LKS_COVERS_ALL;
    return lks_facts_change_covers(d->facts, covers);
}

/* The order of work ------------------------------------------------------------------------- */

/* What is irreversible goes last, whatever is usual for its class. */
static int by_order(const void *left, const void *right)
{
    const struct lks_difference *const *a = left, *const *b = right;
    if ((*a)->one_way != (*b)->one_way)
        return (*a)->one_way ? 1 : -1;
    if ((*a)->update->order != (*b)->update->order)
        return (*a)->update->order < (*b)->update->order ? -1 : 1;
    return lks_str_cmp((*a)->subject, (*b)->subject);
}

static enum lks_code order_flashes(struct differ *d)
{
    struct lks_stackdiff *out = d->out;
    out->flashes = lks_arena_array(&out->memory, out->count + 1, sizeof(*out->flashes));
    if (out->flashes == NULL)
        return lks_arena_fail(&out->memory, d->err);
    for (size_t i = 0; i < out->count; i++) {
        if (out->differences[i].update != NULL)
            out->flashes[out->flash_count++] = &out->differences[i];
    }
    if (out->flash_count > 1)
        qsort(out->flashes, out->flash_count, sizeof(*out->flashes), by_order);
    return LKS_OK;
}

enum lks_code lks_stackdiff_make(const struct lks_facts *facts, const struct lks_stack *from,
                                 const struct lks_stack *to, struct lks_stackdiff *out,
                                 struct lks_err *err)
{
    LKS_CLEANUP(lks_stackdiff_fini) struct lks_stackdiff diff = {.reboot = "no"};
    lks_arena_init(&diff.memory, DIFF_BYTES_MAX);
    diff.same = strcmp(from->digest, to->digest) == 0;
    struct differ d = {facts, from, to, &diff, err};
    if (diff_hardware(&d) != LKS_OK || diff_components(&d) != LKS_OK ||
        diff_settings(&d, "settings", from->settings, to->settings) != LKS_OK ||
        diff_settings(&d, "tuning", from->tuning, to->tuning) != LKS_OK ||
        diff_flaws(&d) != LKS_OK || order_flashes(&d) != LKS_OK)
        return err->code;
    diff.class = diff.count > 0 ? change_class(&d) : NULL;
    *out = LKS_MOVE(diff);
    return LKS_OK;
}

void lks_stackdiff_fini(struct lks_stackdiff *diff)
{
    lks_arena_fini(&diff->memory);
    *diff = (struct lks_stackdiff){0};
}
