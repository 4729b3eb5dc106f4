#include "model/manifest/fleet_diff.h"

#include "base/vec.h"
#include "codec/notation/hostlist.h"
#include "model/manifest/fleet.h"
#include "model/manifest/manifest.h"

#include <inttypes.h>
#include <stdlib.h>

#define ABSENT    UINT32_MAX
#define BYTES_MAX ((size_t)1 << 30)

struct walk {
    struct lks_fleet_diff *diff;
    struct lks_fleet_diff_thing *thing; /* that fields are added to */
    struct lks_err *err;
};

void lks_fleet_diff_fini(struct lks_fleet_diff *diff)
{
    lks_arena_fini(&diff->arena);
    *diff = (struct lks_fleet_diff){0};
}

static char mark_of(const struct lks_doc *old, const struct lks_doc *new)
{
    if (old == NULL)
        return '+';
    return new == NULL ? '-' : '~';
}

/* Values as text ---------------------------------------------------------------------------- */

static enum lks_code put_value(const struct lks_doc *doc, struct lks_buf *out, struct lks_err *err)
{
    if (doc->kind == LKS_DOC_TEXT) {
        lks_buf_add(out, doc->text);
    } else if (doc->kind == LKS_DOC_LIST) {
        lks_buf_addc(out, '[');
        for (const struct lks_doc *item = doc->first; item != NULL; item = item->next) {
            if (item != doc->first)
                lks_buf_add(out, LKS_STR(", "));
            if (put_value(item, out, err) != LKS_OK)
                return err->code;
        }
        lks_buf_addc(out, ']');
    } else {
        return lks_json_canonical(doc, out, err);
    }
    return LKS_OK;
}

static enum lks_code value_text(struct walk *w, const struct lks_doc *doc, struct lks_str *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_DOC_BYTES_MAX);
    *out = (struct lks_str){"", 0};
    if (doc == NULL)
        return LKS_OK;
    if (put_value(doc, &text, w->err) != LKS_OK || lks_buf_check(&text, w->err) != LKS_OK)
        return w->err->code;
    *out = lks_arena_copy(&w->diff->arena, lks_buf_view(&text));
    return out->ptr != NULL ? LKS_OK : lks_arena_fail(&w->diff->arena, w->err);
}

/* Fields ------------------------------------------------------------------------------------ */

static enum lks_code add_field(struct walk *w, struct lks_str path, const struct lks_doc *old,
                               const struct lks_doc *new)
{
    struct lks_fleet_diff_thing *t = w->thing;
    struct lks_fleet_diff_field field = {.mark = mark_of(old, new), .path = path};
    field.line = new != NULL ? new->line : 0;
    if (value_text(w, old, &field.old) != LKS_OK || value_text(w, new, &field.new) != LKS_OK ||
        LKS_VEC_RESERVE_IN(&w->diff->arena, t->fields, t->field_room, t->field_count + 1, w->err) !=
            LKS_OK)
        return w->err->code;
    t->fields[t->field_count++] = field;
    return LKS_OK;
}

/* Notes are no part of what a manifest means, but a person who changed one sees it. */
static enum lks_code compare_value(struct walk *w, struct lks_str path,
                                   const struct lks_field *field, const struct lks_doc *old,
                                   const struct lks_doc *new)
{
    struct lks_field compared = *field;
    bool same = true;
    compared.flags &= ~(unsigned)LKS_FIELD_NOTE;
    if (lks_schema_same(&compared, old, new, &same, w->err) != LKS_OK)
        return w->err->code;
    return same ? LKS_OK : add_field(w, path, old, new);
}

/* Items of `list` that `other` does not have, as fields of the mark that follows from `old`. */
static enum lks_code add_items(struct walk *w, struct lks_str path, const struct lks_field *item,
                               const struct lks_doc *list, const struct lks_doc *other, bool old)
{
    for (const struct lks_doc *i = list != NULL ? list->first : NULL; i != NULL; i = i->next) {
        bool found = false;
        const struct lks_doc *o = other != NULL ? other->first : NULL;
        for (; o != NULL && !found; o = o->next)
            if (lks_schema_same(item, i, o, &found, w->err) != LKS_OK)
                return w->err->code;
        if (!found && add_field(w, path, old ? i : NULL, old ? NULL : i) != LKS_OK)
            return w->err->code;
    }
    return LKS_OK;
}

/* A list of maps: each that is new, and each that is gone. */
static enum lks_code compare_maps(struct walk *w, struct lks_str path,
                                  const struct lks_field *field, const struct lks_doc *old,
                                  const struct lks_doc *new)
{
    struct lks_field item = {.key = field->key, .shape = *field->shape.of};
    size_t before = w->thing->field_count;
    if (add_items(w, path, &item, old, new, true) != LKS_OK ||
        add_items(w, path, &item, new, old, false) != LKS_OK)
        return w->err->code;
    return w->thing->field_count == before ? compare_value(w, path, field, old, new) : LKS_OK;
}

static enum lks_code compare_form(struct walk *w, struct lks_str path, const struct lks_form *form,
                                  const struct lks_doc *old, const struct lks_doc *new,
                                  const char *skip);

static enum lks_code compare_field(struct walk *w, struct lks_str path,
                                   const struct lks_field *field, const struct lks_doc *old,
                                   const struct lks_doc *new);

/* A member of both, either of which may be NULL. */
static enum lks_code compare_member(struct walk *w, struct lks_str path, struct lks_str key,
                                    const struct lks_field *field, const struct lks_doc *old,
                                    const struct lks_doc *new)
{
    if (old == NULL && new == NULL)
        return LKS_OK;
    struct lks_str at =
        lks_arena_format(&w->diff->arena, "%" LKS_STR_FMT "%s%" LKS_STR_FMT, LKS_STR_ARG(path),
                         path.len > 0 ? "." : "", LKS_STR_ARG(key));
    if (at.ptr == NULL)
        return lks_arena_fail(&w->diff->arena, w->err);
    return compare_field(w, at, field, old, new);
}

static enum lks_code compare_dict(struct walk *w, struct lks_str path,
                                  const struct lks_field *field, const struct lks_doc *old,
                                  const struct lks_doc *new)
{
    struct lks_field item = {.key = field->key, .shape = *field->shape.of};
    for (const struct lks_doc *i = old != NULL ? old->first : NULL; i != NULL; i = i->next)
        if (compare_member(w, path, i->key, &item, i, lks_doc_find(new, i->key)) != LKS_OK)
            return w->err->code;
    for (const struct lks_doc *i = new != NULL ? new->first : NULL; i != NULL; i = i->next)
        if (lks_doc_find(old, i->key) == NULL &&
            compare_member(w, path, i->key, &item, NULL, i) != LKS_OK)
            return w->err->code;
    return LKS_OK;
}

static enum lks_code compare_field(struct walk *w, struct lks_str path,
                                   const struct lks_field *field, const struct lks_doc *old,
                                   const struct lks_doc *new)
{
    const struct lks_shape *shape = &field->shape;
    if (shape->type == LKS_TYPE_FORM && (field->flags & LKS_FIELD_PRESENCE) == 0)
        return compare_form(w, path, shape->form, old, new, NULL);
    if (shape->type == LKS_TYPE_DICT)
        return compare_dict(w, path, field, old, new);
    if (shape->type == LKS_TYPE_LIST && shape->of->type == LKS_TYPE_FORM)
        return compare_maps(w, path, field, old, new);
    return compare_value(w, path, field, old, new);
}

static enum lks_code compare_form(struct walk *w, struct lks_str path, const struct lks_form *form,
                                  const struct lks_doc *old, const struct lks_doc *new,
                                  const char *skip)
{
    struct lks_field field;
    for (size_t i = 0; lks_schema_at(form, i, &field); i++) {
        struct lks_str key = lks_str_from(field.key);
        if (skip != NULL && lks_str_is(key, skip))
            continue;
        if (compare_member(w, path, key, &field, lks_doc_find(old, key), lks_doc_find(new, key)) !=
            LKS_OK)
            return w->err->code;
    }
    return LKS_OK;
}

/* Things ------------------------------------------------------------------------------------ */

/* False: there is no memory. */
static bool begin_thing(struct walk *w, const char *what, struct lks_str name,
                        const struct lks_doc *old, const struct lks_doc *new)
{
    struct lks_fleet_diff *d = w->diff;
    if (LKS_VEC_RESERVE_IN(&d->arena, d->things, d->room, d->count + 1, w->err) != LKS_OK)
        return false;
    w->thing = &d->things[d->count++];
    *w->thing =
        (struct lks_fleet_diff_thing){.mark = mark_of(old, new), .what = what, .name = name};
    if (new != NULL || old != NULL)
        w->thing->line = new != NULL ? new->line : old->line;
    return true;
}

/* A thing that both have and in which nothing differs is no thing of the result. */
static void end_thing(struct walk *w)
{
    if (w->thing->mark == '~' && w->thing->field_count == 0)
        w->diff->count--;
    w->thing = NULL;
}

static enum lks_code compare_thing(struct walk *w, const struct lks_form *form, struct lks_str name,
                                   const struct lks_doc *old, const struct lks_doc *new)
{
    if (!begin_thing(w, form->name, name, old, new) ||
        compare_form(w, LKS_STR(""), form, old, new, NULL) != LKS_OK)
        return w->err->code;
    end_thing(w);
    return LKS_OK;
}

/* The things of a map by name: pools, sites. */
static enum lks_code compare_things(struct walk *w, const struct lks_form *form,
                                    const struct lks_doc *old, const struct lks_doc *new)
{
    for (const struct lks_doc *i = old != NULL ? old->first : NULL; i != NULL; i = i->next)
        if (compare_thing(w, form, i->key, i, lks_doc_find(new, i->key)) != LKS_OK)
            return w->err->code;
    for (const struct lks_doc *i = new != NULL ? new->first : NULL; i != NULL; i = i->next)
        if (lks_doc_find(old, i->key) == NULL && compare_thing(w, form, i->key, NULL, i) != LKS_OK)
            return w->err->code;
    return LKS_OK;
}

/* Hosts ------------------------------------------------------------------------------------- */

struct host {
    struct lks_str name;
    const struct lks_doc *group;
    uint32_t place; /* of the group in its list */
};

struct hosts {
    struct host *items; /* sorted by name, in the arena */
    size_t count, room;
};

/* A host with its group in both manifests. */
struct pair {
    struct lks_str name;
    struct host old, new; /* ABSENT: it is in none */
};

static int by_name(const void *left, const void *right)
{
    const struct host *a = left, *b = right;
    return lks_str_cmp(a->name, b->name);
}

static int by_groups(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;
    if (a->old.place != b->old.place)
        return a->old.place < b->old.place ? -1 : 1;
    if (a->new.place != b->new.place)
        return a->new.place < b->new.place ? -1 : 1;
    return 0;
}

static enum lks_code list_hosts(struct walk *w, const struct lks_doc *groups, struct hosts *out)
{
    uint32_t place = 0;
    for (const struct lks_doc *g = groups != NULL ? groups->first : NULL; g != NULL; g = g->next) {
        struct lks_hostlist list = {0};
        if (lks_hostlist_parse(lks_doc_text(g, "hosts"), &w->diff->arena, &list, w->err) !=
                LKS_OK ||
            LKS_VEC_RESERVE_IN(&w->diff->arena, out->items, out->room, out->count + list.count,
                               w->err) != LKS_OK)
            return w->err->code;
        for (size_t i = 0; i < list.count; i++)
            out->items[out->count++] = (struct host){list.names[i], g, place};
        place++;
    }
    if (out->count > 0)
        qsort(out->items, out->count, sizeof(*out->items), by_name);
    return LKS_OK;
}

static enum lks_code pair_hosts(struct walk *w, const struct hosts *old, const struct hosts *new,
                                struct pair **out, size_t *count)
{
    static const struct host none = {.place = ABSENT};
    size_t a = 0, b = 0, n = 0;
    struct pair *pairs =
        lks_arena_array(&w->diff->arena, old->count + new->count + 1, sizeof(*pairs));
    if (pairs == NULL)
        return lks_arena_fail(&w->diff->arena, w->err);
    while (a < old->count || b < new->count) {
        int order = a == old->count ? 1 : -1;
        if (a < old->count && b < new->count)
            order = lks_str_cmp(old->items[a].name, new->items[b].name);
        struct pair *p = &pairs[n++];
        *p = (struct pair){.old = none, .new = none};
        if (order <= 0)
            p->old = old->items[a++];
        if (order >= 0)
            p->new = new->items[b++];
        p->name = order <= 0 ? p->old.name : p->new.name;
    }
    if (n > 0)
        qsort(pairs, n, sizeof(*pairs), by_groups);
    *out = pairs;
    *count = n;
    return LKS_OK;
}

static enum lks_code fold_names(struct walk *w, const struct pair *pairs, size_t count,
                                struct lks_str *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(BYTES_MAX);
    struct lks_str *names = lks_arena_array(&w->diff->arena, count, sizeof(*names));
    if (names == NULL)
        return lks_arena_fail(&w->diff->arena, w->err);
    for (size_t i = 0; i < count; i++)
        names[i] = pairs[i].name;
    if (lks_hostlist_fold(names, count, &text, w->err) != LKS_OK)
        return w->err->code;
    *out = lks_arena_copy(&w->diff->arena, lks_buf_view(&text));
    return out->ptr != NULL ? LKS_OK : lks_arena_fail(&w->diff->arena, w->err);
}

/* Hosts that were in one group and are in one group. */
static enum lks_code compare_run(struct walk *w, const struct lks_field *field,
                                 const struct pair *run, size_t count)
{
    const struct lks_doc *old = run->old.group, *new = run->new.group;
    if (!begin_thing(w, field->key, LKS_STR(""), old, new) ||
        compare_form(w, LKS_STR(""), field->shape.of->form, old, new, "hosts") != LKS_OK)
        return w->err->code;
    w->thing->hosts = count;
    if ((w->thing->mark != '~' || w->thing->field_count > 0) &&
        fold_names(w, run, count, &w->thing->name) != LKS_OK)
        return w->err->code;
    end_thing(w);
    return LKS_OK;
}

static enum lks_code compare_hosts(struct walk *w, const struct lks_field *field,
                                   const struct lks_doc *old, const struct lks_doc *new)
{
    struct hosts before = {0}, after = {0};
    struct pair *pairs = NULL;
    size_t count = 0;
    if (list_hosts(w, old, &before) != LKS_OK || list_hosts(w, new, &after) != LKS_OK ||
        pair_hosts(w, &before, &after, &pairs, &count) != LKS_OK)
        return w->err->code;
    for (size_t at = 0, end; at < count; at = end) {
        for (end = at + 1; end < count && by_groups(&pairs[at], &pairs[end]) == 0;)
            end++;
        if (compare_run(w, field, &pairs[at], end - at) != LKS_OK)
            return w->err->code;
    }
    return LKS_OK;
}

/* Documents --------------------------------------------------------------------------------- */

static bool is_hosts(const struct lks_field *field)
{
    struct lks_str key = lks_str_from(field->key);
    return lks_str_is(key, "nodes") || lks_str_is(key, "assets");
}

static bool is_things(const struct lks_field *field)
{
    return field->shape.type == LKS_TYPE_DICT && field->shape.of->type == LKS_TYPE_FORM;
}

/* The fields of the fleet itself: all but its maps of things and lists of hosts. */
static enum lks_code compare_rest(struct walk *w, const struct lks_doc *old,
                                  const struct lks_doc *new)
{
    struct lks_field field;
    if (!begin_thing(w, "fleet", lks_doc_text(new != NULL ? new : old, "name"), old, new))
        return w->err->code;
    for (size_t i = 0; lks_schema_at(&lks_fleet_form, i, &field); i++) {
        struct lks_str key = lks_str_from(field.key);
        if (is_hosts(&field) || is_things(&field) || lks_str_is(key, "lockstep") ||
            lks_str_is(key, "kind"))
            continue;
        if (compare_member(w, LKS_STR(""), key, &field, lks_doc_find(old, key),
                           lks_doc_find(new, key)) != LKS_OK)
            return w->err->code;
    }
    end_thing(w);
    return LKS_OK;
}

static enum lks_code compare_fleets(struct walk *w, const struct lks_doc *old,
                                    const struct lks_doc *new)
{
    struct lks_field field;
    if (compare_rest(w, old, new) != LKS_OK)
        return w->err->code;
    for (size_t i = 0; lks_schema_at(&lks_fleet_form, i, &field); i++) {
        const struct lks_doc *a = lks_doc_member(old, field.key);
        const struct lks_doc *b = lks_doc_member(new, field.key);
        if (is_things(&field) && compare_things(w, field.shape.of->form, a, b) != LKS_OK)
            return w->err->code;
        if (is_hosts(&field) && compare_hosts(w, &field, a, b) != LKS_OK)
            return w->err->code;
    }
    return LKS_OK;
}

/* The document of this kind and name; of a fleet, of which there is one, whatever its name. */
static const struct lks_doc *find_doc(const struct lks_docs *docs, const struct lks_doc *like)
{
    struct lks_str kind = lks_doc_text(like, "kind"), name = lks_doc_text(like, "name");
    for (const struct lks_doc *d = docs->first; d != NULL; d = d->next)
        if (lks_str_eq(lks_doc_text(d, "kind"), kind) &&
            (lks_str_is(kind, lks_fleet_form.name) || lks_str_eq(lks_doc_text(d, "name"), name)))
            return d;
    return NULL;
}

static enum lks_code compare_docs(struct walk *w, const struct lks_doc *old,
                                  const struct lks_doc *new)
{
    const struct lks_doc *one = new != NULL ? new : old;
    struct lks_str kind = lks_doc_text(one, "kind");
    if (lks_str_is(kind, lks_fleet_form.name))
        return compare_fleets(w, old, new);
    for (size_t i = 0; lks_manifest_kind(i) != NULL; i++) {
        const struct lks_form *form = lks_manifest_kind(i);
        if (!lks_str_is(kind, form->name))
            continue;
        if (!begin_thing(w, form->name, lks_doc_text(one, "name"), old, new) ||
            (w->thing->mark == '~' && compare_form(w, LKS_STR(""), form, old, new, NULL) != LKS_OK))
            return w->err->code;
        end_thing(w);
    }
    return LKS_OK;
}

enum lks_code lks_fleet_diff(const struct lks_docs *old, const struct lks_docs *new,
                             struct lks_fleet_diff *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_fleet_diff_fini) struct lks_fleet_diff diff = {0};
    struct walk w = {.diff = &diff, .err = err};
    lks_arena_init(&diff.arena, BYTES_MAX);
    for (const struct lks_doc *d = old->first; d != NULL; d = d->next)
        if (compare_docs(&w, d, find_doc(new, d)) != LKS_OK)
            return err->code;
    for (const struct lks_doc *d = new->first; d != NULL; d = d->next)
        if (find_doc(old, d) == NULL && compare_docs(&w, NULL, d) != LKS_OK)
            return err->code;
    *out = LKS_MOVE(diff);
    return LKS_OK;
}

const struct lks_fleet_diff_thing *lks_fleet_diff_find(const struct lks_fleet_diff *diff,
                                                       const char *what, struct lks_str name)
{
    for (size_t i = 0; i < diff->count; i++)
        if (strcmp(diff->things[i].what, what) == 0 && lks_str_eq(diff->things[i].name, name))
            return &diff->things[i];
    return NULL;
}

const struct lks_fleet_diff_field *lks_fleet_diff_field(const struct lks_fleet_diff_thing *thing,
                                                        const char *path)
{
    for (size_t i = 0; thing != NULL && i < thing->field_count; i++)
        if (lks_str_is(thing->fields[i].path, path))
            return &thing->fields[i];
    return NULL;
}
