#include "core/stackdiff.h"

#include "base/buf.h"
#include "codec/json.h"
#include "model/schema.h"

enum { TEXT_MAX = 64 * 1024, FIRST_ROOM = 32 };

struct differ {
    const struct lks_facts *facts;
    const struct lks_stack *from, *to;
    struct lks_stackdiff *out;
    struct lks_err *err;
};

#define S(s) LKS_STR_ARG(s)

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
    if (out->count == out->room) {
        size_t room = out->room > 0 ? 2 * out->room : FIRST_ROOM;
        struct lks_difference *more = lks_arena_array(&out->memory.arena, room, sizeof(*more));
        if (more == NULL)
            return lks_arena_fail(&out->memory.arena, d->err);
        if (out->count > 0)
            memcpy(more, out->differences, out->count * sizeof(*more));
        out->differences = more;
        out->room = room;
    }
    out->differences[out->count++] = difference;
    out->one_way += difference.one_way;
    if (reboot_rank(difference.reboot) > reboot_rank(lks_str_from(out->reboot)))
        out->reboot = reboots[reboot_rank(difference.reboot)];
    return LKS_OK;
}

/* A value as people read it: text as it is, anything else as JSON. Nothing for nothing. */
static enum lks_code shown(struct differ *d, const struct lks_doc *doc, struct lks_str *out)
{
    *out = (struct lks_str){"", 0};
    if (doc == NULL)
        return LKS_OK;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    lks_buf_init(&text, TEXT_MAX);
    if (doc->kind == LKS_DOC_TEXT)
        lks_buf_add(&text, doc->text);
    else if (lks_json_canonical(doc, &text, d->err) != LKS_OK)
        return d->err->code;
    if (lks_buf_check(&text, d->err) != LKS_OK)
        return d->err->code;
    *out = lks_arena_copy(&d->out->memory.arena, lks_buf_view(&text));
    return out->ptr != NULL ? LKS_OK : lks_arena_fail(&d->out->memory.arena, d->err);
}

static const char *direction_of(struct lks_str from, struct lks_str to)
{
    return from.len == 0 ? "added" : to.len == 0 ? "removed" : "changed";
}

/* Components -------------------------------------------------------------------------------- */

static struct lks_str subject_of(struct differ *d, const struct lks_component *c, const char *field)
{
    return lks_report_text(&d->out->memory, "%" LKS_STR_FMT "%s%s", S(c->label),
                           field[0] != '\0' ? "." : "", field);
}

/* Fill in what a change of `c` means. An entry's own word on its banks and way back beats what is
 * usual for its class. */
static void describe(struct differ *d, const struct lks_component *c, struct lks_difference *out)
{
    const struct lks_component_kind *kind = lks_facts_component(d->facts, c->name);
    const struct lks_update_class *class =
        kind != NULL ? lks_facts_update_class(d->facts, kind->update_class) : NULL;
    out->class = class != NULL ? class->name : LKS_STR("unknown");
    out->reboot = kind != NULL ? kind->reboot : LKS_STR("node");
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
    return c->window.len > 0 && lks_range_parse(c->window, scheme, &range, &ignored) == LKS_OK &&
           lks_range_has(&range, version, scheme);
}

static enum lks_code diff_version(struct differ *d, const struct lks_component *a,
                                  const struct lks_component *b)
{
    struct lks_str from = a != NULL ? a->version : (struct lks_str){"", 0};
    struct lks_str to = b != NULL ? b->version : (struct lks_str){"", 0};
    if (lks_str_eq(from, to))
        return LKS_OK;
    const struct lks_component *c = b != NULL ? b : a;
    struct lks_difference difference = {.subject = subject_of(d, c, ""), .from = from, .to = to};
    difference.direction = direction_of(from, to);
    if (from.len > 0 && to.len > 0) {
        int order = lks_version_cmp(from, to, lks_facts_scheme(d->facts, c->name));
        difference.direction = order < 0 ? "upgrade" : order > 0 ? "downgrade" : "changed";
        difference.tolerated = is_tolerated(d, a, to);
    }
    describe(d, c, &difference);
    return add(d, difference);
}

/* The field of a stack called `key`. Fields of one that parsed are known. */
static const struct lks_field *stack_field(const char *key)
{
    const struct lks_field *field = lks_schema_field(&lks_stack_record, lks_str_from(key));
    LKS_ASSERT(field != NULL);
    return field;
}

/* One more thing an entry says: owner, modules, build, artifacts ... Either side may be NULL. */
static enum lks_code diff_field(struct differ *d, const struct lks_component *a,
                                const struct lks_component *b, const char *key)
{
    const struct lks_component *c = b != NULL ? b : a;
    bool firmware = lks_str_starts(c->name, "firmware/");
    const struct lks_shape *entry = stack_field(firmware ? "firmware" : "components")->shape.of;
    const struct lks_field *field = lks_schema_field(entry->record, lks_str_from(key));
    const struct lks_doc *before = a != NULL ? lks_doc_member(a->doc, key) : NULL;
    const struct lks_doc *after = b != NULL ? lks_doc_member(b->doc, key) : NULL;
    struct lks_difference difference = {0};
    bool same = true;
    if ((field != NULL && lks_schema_same(field, before, after, &same, d->err) != LKS_OK) ||
        shown(d, before, &difference.from) != LKS_OK || shown(d, after, &difference.to) != LKS_OK)
        return d->err->code;
    if (same)
        return LKS_OK;
    difference.subject = subject_of(d, c, key);
    difference.direction = direction_of(difference.from, difference.to);
    describe(d, c, &difference);
    difference.one_way = false; /* only a new version is flashed */
    return add(d, difference);
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
    struct lks_str before = a != NULL ? a->window : (struct lks_str){"", 0};
    struct lks_str after = b != NULL ? b->window : (struct lks_str){"", 0};
    if (lks_str_eq(before, after))
        return LKS_OK;
    return add(d, (struct lks_difference){.subject = subject_of(d, b != NULL ? b : a, "window"),
                                          .from = before,
                                          .to = after,
                                          .direction = direction_of(before, after),
                                          .class = LKS_STR("window"),
                                          .reboot = LKS_STR("no"),
                                          .revert = LKS_STR("cheap")});
}

static int by_identity(const struct lks_component *a, const struct lks_component *b)
{
    int order = lks_str_cmp(a->name, b->name);
    if (order == 0)
        order = lks_str_cmp(a->part, b->part);
    return order != 0 ? order : lks_str_cmp(a->side, b->side);
}

/* Both lists are sorted: walk them side by side. */
static enum lks_code diff_components(struct differ *d)
{
    size_t i = 0, j = 0;
    while (i < d->from->component_count || j < d->to->component_count) {
        const struct lks_component *a =
            i < d->from->component_count ? &d->from->components[i] : NULL;
        const struct lks_component *b = j < d->to->component_count ? &d->to->components[j] : NULL;
        int order = a == NULL ? 1 : b == NULL ? -1 : by_identity(a, b);
        i += order <= 0;
        j += order >= 0;
        if (diff_component(d, order <= 0 ? a : NULL, order >= 0 ? b : NULL) != LKS_OK)
            return d->err->code;
    }
    return LKS_OK;
}

/* Settings and tuning ----------------------------------------------------------------------- */

static enum lks_code diff_member(struct differ *d, const char *where, struct lks_str key,
                                 const struct lks_doc *a, const struct lks_doc *b)
{
    struct lks_difference difference = {
        .class = lks_str_from(where), .reboot = LKS_STR("service"), .revert = LKS_STR("cheap")};
    const struct lks_field *field = lks_schema_field(stack_field(where)->shape.record, key);
    LKS_ASSERT(field != NULL);
    bool same;
    if (lks_schema_same(field, a, b, &same, d->err) != LKS_OK ||
        shown(d, a, &difference.from) != LKS_OK || shown(d, b, &difference.to) != LKS_OK)
        return d->err->code;
    if (same)
        return LKS_OK;
    const struct lks_setting_kind *kind = lks_facts_setting(d->facts, key);
    if (kind != NULL) {
        difference.reboot = kind->reboot;
        difference.revert = kind->revert;
    }
    difference.subject = lks_report_text(&d->out->memory, "%s.%" LKS_STR_FMT, where, S(key));
    difference.direction = direction_of(difference.from, difference.to);
    return add(d, difference);
}

static const struct lks_doc *member(const struct lks_doc *map, struct lks_str key)
{
    const struct lks_doc *first = map != NULL ? map->first : NULL;
    for (const struct lks_doc *item = first; item != NULL; item = item->next) {
        if (lks_str_eq(item->key, key))
            return item;
    }
    return NULL;
}

static enum lks_code diff_maps(struct differ *d, const char *where, const struct lks_doc *a,
                               const struct lks_doc *b)
{
    const struct lks_doc *first = a != NULL ? a->first : NULL;
    for (const struct lks_doc *item = first; item != NULL; item = item->next) {
        if (diff_member(d, where, item->key, item, member(b, item->key)) != LKS_OK)
            return d->err->code;
    }
    first = b != NULL ? b->first : NULL;
    for (const struct lks_doc *item = first; item != NULL; item = item->next) {
        if (member(a, item->key) == NULL && diff_member(d, where, item->key, NULL, item) != LKS_OK)
            return d->err->code;
    }
    return LKS_OK;
}

static enum lks_code diff_hardware(struct differ *d)
{
    struct lks_difference difference = {.subject = LKS_STR("hardware"),
                                        .class = LKS_STR("hardware"),
                                        .reboot = LKS_STR("no"),
                                        .revert = LKS_STR("cheap"),
                                        .direction = "changed"};
    const struct lks_doc *before = lks_doc_member(d->from->doc, "hardware");
    const struct lks_doc *after = lks_doc_member(d->to->doc, "hardware");
    bool same;
    if (lks_schema_same(stack_field("hardware"), before, after, &same, d->err) != LKS_OK ||
        shown(d, before, &difference.from) != LKS_OK || shown(d, after, &difference.to) != LKS_OK)
        return d->err->code;
    return same ? LKS_OK : add(d, difference);
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

static bool closes_critical(const struct lks_stackdiff *diff)
{
    enum { CRITICAL = 90 };
    for (size_t i = 0; i < diff->before.count; i++) {
        const struct lks_open_advisory *open = &diff->before.open[i];
        if (open->exposure == LKS_EXPOSED && lks_advisory_score(open->advisory) >= CRITICAL &&
            !lks_advisory_list_has(&diff->after, open->advisory->id))
            return true;
    }
    return false;
}

static const struct lks_change_class *change_class(const struct differ *d)
{
    const char *name = has_class(d->out, "power") || has_class(d->out, "fabric") ? "power-fabric"
                       : closes_critical(d->out)                                 ? "emergency"
                       : all_tolerated(d->out)                                   ? "standard"
                                                                                 : "routine";
    for (size_t i = 0; i < d->facts->change_classes.count; i++) {
        if (lks_str_is(d->facts->change_classes.rows[i].name, name))
            return &d->facts->change_classes.rows[i];
    }
    return NULL;
}

enum lks_code lks_stackdiff_make(const struct lks_facts *facts, const struct lks_stack *from,
                                 const struct lks_stack *to, struct lks_stackdiff *out,
                                 struct lks_err *err)
{
    LKS_CLEANUP(lks_stackdiff_fini) struct lks_stackdiff diff = {.reboot = "no"};
    lks_report_init(&diff.memory);
    diff.same = strcmp(from->digest, to->digest) == 0;
    struct differ d = {facts, from, to, &diff, err};
    if (diff_hardware(&d) != LKS_OK || diff_components(&d) != LKS_OK ||
        diff_maps(&d, "settings", from->settings, to->settings) != LKS_OK ||
        diff_maps(&d, "tuning", from->tuning, to->tuning) != LKS_OK ||
        lks_advisories_of(facts, from, &diff.before, err) != LKS_OK ||
        lks_advisories_of(facts, to, &diff.after, err) != LKS_OK ||
        lks_report_check(&diff.memory, err) != LKS_OK)
        return err->code;
    diff.class = diff.count > 0 ? change_class(&d) : NULL;
    *out = LKS_MOVE(diff);
    return LKS_OK;
}

void lks_stackdiff_fini(struct lks_stackdiff *diff)
{
    lks_advisory_list_fini(&diff->before);
    lks_advisory_list_fini(&diff->after);
    lks_report_fini(&diff->memory);
    *diff = (struct lks_stackdiff){0};
}
