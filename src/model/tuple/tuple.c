#include "model/tuple/tuple.h"

#include "base/near.h"
#include "base/time.h"
#include "base/vec.h"
#include "codec/format/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    TUPLE_FORMAT = 1, /* the member "lockstep" */
    DAY_SECONDS = 86400,
    TIME_TEXT_SIZE = 64, /* "2026-11-15T06:25:20Z", and whatever a compiler fears */
    PACKAGE_NAME_SIZE = LKS_READING_NAME_MAX + sizeof(".package"),
};

/* The last second with a year of four digits. */
static const int64_t last_second = INT64_C(253402300799);

static const struct lks_str nothing = {"", 0};

/* Adding ------------------------------------------------------------------------------------ */

void lks_tuple_init(struct lks_tuple *t)
{
    *t = (struct lks_tuple){.node = nothing, .boot_id = nothing};
    lks_arena_init(&t->arena, LKS_TUPLE_MEMORY_MAX);
}

void lks_tuple_fini(struct lks_tuple *t)
{
    free(t->readings);
    lks_arena_fini(&t->arena);
    *t = (struct lks_tuple){0};
}

/* Only the first failure is of interest. */
static void fail(struct lks_tuple *t, enum lks_code code)
{
    if (t->failed == LKS_OK)
        t->failed = code;
}

/* At most `max` bytes of `s`, no character cut in two. */
static struct lks_str cut(struct lks_str s, size_t max)
{
    if (s.len <= max)
        return s;
    size_t len = max;
    while (len > 0 && max - len < 3 && (s.ptr[len] & 0xc0) == 0x80)
        len--;
    return (struct lks_str){s.ptr, len};
}

/* Every byte that is not part of a printable character becomes '?'. */
static void make_printable(char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        uint32_t point = 0;
        size_t width = lks_str_rune((struct lks_str){text, len}, at, &point);
        size_t step = width > 0 ? width : 1;
        if (width == 0 || !lks_str_rune_printable(point))
            memset(text + at, '?', step);
        at += step;
    }
}

/* A clean copy of `s`, or `before` where that says the same: neighbours share their evidence and
 * their device, and a tuple is held in memory by a program that has to stay small. */
static struct lks_str keep(struct lks_tuple *t, struct lks_str s, size_t max, struct lks_str before)
{
    s = cut(s, max);
    if (s.len == 0)
        return nothing;
    if (lks_str_eq(s, before))
        return before;
    char *copy = lks_arena_alloc(&t->arena, s.len + 1);
    if (copy == NULL) {
        fail(t, t->arena.out_of_memory ? LKS_E_NOMEM : LKS_E_LIMIT);
        return nothing;
    }
    memcpy(copy, s.ptr, s.len);
    make_printable(copy, s.len);
    return (struct lks_str){copy, s.len};
}

static bool make_room(struct lks_tuple *t)
{
    enum lks_code code = LKS_VEC_RESERVE_MAX(t->readings, t->room, t->count + 1,
                                             (size_t)LKS_TUPLE_READINGS_MAX, NULL);
    if (code != LKS_OK)
        fail(t, code);
    return code == LKS_OK;
}

/* A reading without a name says nothing about anything and is left out. */
void lks_tuple_add(struct lks_tuple *t, const struct lks_reading *r)
{
    if (t->failed != LKS_OK || r->name.len == 0 || !make_room(t))
        return;
    const struct lks_reading none = {0};
    const struct lks_reading *last = t->count > 0 ? &t->readings[t->count - 1] : &none;
    struct lks_str value = r->state == LKS_ABSENT ? nothing : r->value;
    if (r->state == LKS_UNMEASURED && value.len == 0)
        value = LKS_STR("no reason was given");
    struct lks_reading copy = {
        .name = keep(t, r->name, LKS_READING_NAME_MAX, last->name),
        .of = keep(t, r->of, LKS_READING_NAME_MAX, last->of),
        .part = keep(t, r->part, LKS_READING_NAME_MAX, last->part),
        .state = r->state,
        .value = keep(t, value, LKS_READING_VALUE_MAX, last->value),
        .evidence = keep(t, r->evidence, LKS_READING_VALUE_MAX, last->evidence),
    };
    if (t->failed == LKS_OK)
        t->readings[t->count++] = copy;
}

/* Finishing --------------------------------------------------------------------------------- */

/* Which reading it is and what it says. Why something could not be read is not part of what the
 * node runs, and neither is who says so. */
static int meaning_cmp(const struct lks_reading *a, const struct lks_reading *b)
{
    int order = lks_str_cmp(a->name, b->name);
    if (order == 0)
        order = lks_str_cmp(a->of, b->of);
    if (order == 0)
        order = lks_str_cmp(a->part, b->part);
    if (order == 0)
        order = (int)a->state - (int)b->state;
    return order != 0 || a->state != LKS_MEASURED ? order : lks_str_cmp(a->value, b->value);
}

static int by_meaning(const void *left, const void *right)
{
    const struct lks_reading *a = left, *b = right;
    int order = meaning_cmp(a, b);
    if (order == 0)
        order = lks_str_cmp(a->value, b->value);
    return order != 0 ? order : lks_str_cmp(a->evidence, b->evidence);
}

/* They are sorted, so repetitions stand together. */
static void drop_repetitions(struct lks_tuple *t)
{
    size_t kept = t->count > 0;
    for (size_t i = 1; i < t->count; i++) {
        if (meaning_cmp(&t->readings[kept - 1], &t->readings[i]) != 0)
            t->readings[kept++] = t->readings[i];
    }
    t->count = kept;
}

static void find_kinds(struct lks_tuple *t)
{
    for (size_t i = 0; i < t->count; i++) {
        struct lks_reading *r = &t->readings[i];
        bool again = i > 0 && lks_str_eq(r->name, r[-1].name);
        r->kind = again ? r[-1].kind : lks_reading_kind(r->name);
    }
}

/* The order of what is hashed: without devices, so that it does not matter which of them has it. */
static int by_identity(const void *left, const void *right)
{
    const struct lks_reading *const *a = left, *const *b = right;
    int order = lks_str_cmp((*a)->name, (*b)->name);
    if (order == 0)
        order = lks_str_cmp((*a)->part, (*b)->part);
    if (order == 0)
        order = (int)(*a)->state - (int)(*b)->state;
    bool says = (*a)->state == LKS_MEASURED;
    return order != 0 || !says ? order : lks_str_cmp((*a)->value, (*b)->value);
}

static void free_list(const struct lks_reading ***list)
{
    free(*list);
}

static bool is_hashed(const struct lks_reading *r)
{
    static const char sha256[] = ".build.sha256";
    const size_t len = sizeof(sha256) - 1;
    if (r->name.len > len && memcmp(r->name.ptr + r->name.len - len, sha256, len) == 0)
        return false;
    if (lks_str_starts(r->name, "settings.other."))
        return false;
    return r->state != LKS_ABSENT && r->kind->class == LKS_READING_IDENTITY;
}

/* What is hashed of a value: of the kernel's parameters those that hosts share. */
static void write_value(struct lks_json_writer *w, const struct lks_reading *r)
{
    if (!lks_str_is(r->name, "settings.kernel_cmdline")) {
        lks_json_text(w, "value", r->value);
        return;
    }
    LKS_CLEANUP(lks_buf_fini) struct lks_buf shared = LKS_BUF(LKS_READING_VALUE_MAX + 1);
    struct lks_str rest = r->value, word;
    while (lks_str_word(&rest, &word)) {
        if (!lks_reading_parameter_of_host(word))
            lks_buf_addf(&shared, "%" LKS_STR_FMT " ", LKS_STR_ARG(word));
    }
    lks_json_text(w, "value", lks_buf_view(&shared));
    if (shared.failed != LKS_OK)
        w->out->failed = shared.failed;
}

/* As many times as there are devices that have it: seven of eight is not eight. */
static void write_identity(const struct lks_reading *const *list, size_t count, struct lks_buf *out)
{
    struct lks_json_writer w = {.out = out};
    lks_json_begin(&w, NULL, '[');
    for (size_t i = 0; i < count; i++) {
        lks_json_begin(&w, NULL, '{');
        lks_json_text(&w, "name", list[i]->name);
        lks_json_some(&w, "part", list[i]->part);
        if (list[i]->state == LKS_MEASURED)
            write_value(&w, list[i]);
        else
            lks_json_bool(&w, "unmeasured", true);
        lks_json_end(&w, '}');
    }
    lks_json_end(&w, ']');
}

static enum lks_code make_digest(struct lks_tuple *t, struct lks_err *err)
{
    LKS_CLEANUP(free_list)
    const struct lks_reading **list = calloc(t->count + 1, sizeof(*list));
    LKS_CLEANUP(lks_buf_fini) struct lks_buf identity = LKS_BUF(4 * LKS_TUPLE_MEMORY_MAX);
    size_t count = 0;
    if (list == NULL)
        return lks_fail_nomem(err);
    for (size_t i = 0; i < t->count; i++) {
        if (is_hashed(&t->readings[i]))
            list[count++] = &t->readings[i];
    }
    qsort(list, count, sizeof(const struct lks_reading *), by_identity);
    write_identity(list, count, &identity);
    if (lks_buf_check(&identity, err) != LKS_OK)
        return err->code;
    return lks_digest_text(lks_buf_view(&identity), t->digest, err);
}

enum lks_code lks_tuple_finish(struct lks_tuple *t, struct lks_err *err)
{
    t->node = keep(t, t->node, LKS_READING_NAME_MAX, nothing);
    t->boot_id = keep(t, t->boot_id, LKS_READING_NAME_MAX, nothing);
    if (t->failed == LKS_E_NOMEM)
        return lks_fail_nomem(err);
    if (t->failed != LKS_OK)
        return lks_fail(err, LKS_E_LIMIT, "more than %d readings or %zu bytes of them",
                        LKS_TUPLE_READINGS_MAX, LKS_TUPLE_MEMORY_MAX);
    if (t->count > 0)
        qsort(t->readings, t->count, sizeof(*t->readings), by_meaning);
    drop_repetitions(t);
    find_kinds(t);
    return make_digest(t, err);
}

/* Looking up -------------------------------------------------------------------------------- */

/* The first reading whose name is not before `name`, or with `past` the first after it. */
static size_t bound(const struct lks_tuple *t, struct lks_str name, bool past)
{
    size_t at;
    LKS_VEC_PLACE(at, t->count, lks_str_cmp(t->readings[at].name, name) < (past ? 1 : 0));
    return at;
}

const struct lks_reading *lks_tuple_range(const struct lks_tuple *t, struct lks_str name,
                                          size_t *count)
{
    size_t first = bound(t, name, false);
    bool found = first < t->count && lks_str_eq(t->readings[first].name, name);
    bool several = found && first + 1 < t->count && lks_str_eq(t->readings[first + 1].name, name);
    *count = several ? bound(t, name, true) - first : found;
    return found ? &t->readings[first] : NULL;
}

const struct lks_reading *lks_tuple_find(const struct lks_tuple *t, const char *name)
{
    size_t count;
    return lks_tuple_range(t, lks_str_from(name), &count);
}

/* The first of them that was measured, else the first. */
static const struct lks_reading *best_called(const struct lks_tuple *t, struct lks_str name)
{
    size_t count;
    const struct lks_reading *first = lks_tuple_range(t, name, &count);
    for (size_t i = 0; i < count; i++) {
        if (first[i].state == LKS_MEASURED)
            return &first[i];
    }
    return first;
}

const struct lks_reading *lks_tuple_component(const struct lks_tuple *t, struct lks_str name)
{
    const struct lks_reading *own = best_called(t, name);
    if (name.len > LKS_READING_NAME_MAX || (own != NULL && own->state == LKS_MEASURED))
        return own;
    char text[PACKAGE_NAME_SIZE];
    snprintf(text, sizeof(text), "%" LKS_STR_FMT ".package", LKS_STR_ARG(name));
    const struct lks_reading *package = best_called(t, lks_str_from(text));
    bool says = package != NULL && package->state == LKS_MEASURED;
    return own == NULL || says ? package : own;
}

/* Writing ----------------------------------------------------------------------------------- */

static void time_text(int64_t seconds, char out[TIME_TEXT_SIZE])
{
    char day[LKS_DAY_TEXT_SIZE];
    int second = (int)(seconds % DAY_SECONDS);
    snprintf(out, TIME_TEXT_SIZE, "%sT%02d:%02d:%02dZ",
             lks_time_day_text(lks_time_day_of(seconds), day), second / 3600, second / 60 % 60,
             second % 60);
}

/* Members in the order of RFC 8785: that of their names. */
static void write_reading(struct lks_json_writer *w, const struct lks_reading *r)
{
    lks_json_begin(w, NULL, '{');
    if (r->state == LKS_ABSENT)
        lks_json_bool(w, "absent", true);
    lks_json_text(w, "evidence", r->evidence);
    lks_json_text(w, "name", r->name);
    lks_json_some(w, "of", r->of);
    lks_json_some(w, "part", r->part);
    if (r->state == LKS_UNMEASURED)
        lks_json_text(w, "unmeasured", r->value);
    if (r->state == LKS_MEASURED)
        lks_json_text(w, "value", r->value);
    lks_json_end(w, '}');
}

enum lks_code lks_tuple_json(const struct lks_tuple *t, struct lks_str findings,
                             struct lks_buf *out, struct lks_err *err)
{
    char taken[TIME_TEXT_SIZE];
    size_t before = out->len;
    if (t->taken < 0 || t->taken > last_second)
        return lks_fail(err, LKS_E_INVALID, "taken %" PRId64 " seconds after 1970: no such date",
                        t->taken);
    time_text(t->taken, taken);
    struct lks_json_writer w = {.out = out};
    lks_json_begin(&w, NULL, '{');
    lks_json_some(&w, "boot_id", t->boot_id);
    lks_json_cstr(&w, "digest", t->digest);
    if (findings.len > 0)
        lks_json_raw(&w, "findings", findings);
    lks_json_cstr(&w, "kind", "Tuple");
    lks_json_int(&w, "lockstep", TUPLE_FORMAT);
    lks_json_some(&w, "node", t->node);
    lks_json_begin(&w, "readings", '[');
    for (size_t i = 0; i < t->count; i++)
        write_reading(&w, &t->readings[i]);
    lks_json_end(&w, ']');
    lks_json_cstr(&w, "taken", taken);
    lks_json_end(&w, '}');
    if (lks_buf_check(out, err) != LKS_OK)
        return err->code;
    if (out->len - before > LKS_DOC_BYTES_MAX)
        return lks_fail(err, LKS_E_LIMIT, "a tuple of more than %zu bytes", LKS_DOC_BYTES_MAX);
    return LKS_OK;
}

/* Reading ----------------------------------------------------------------------------------- */

struct member {
    const char *key;
    enum lks_doc_kind kind;
    size_t max; /* of text, in bytes */
    bool needed;
};

static const struct member top_members[] = {
    {"boot_id", LKS_DOC_TEXT, LKS_READING_NAME_MAX, false},
    {"digest", LKS_DOC_TEXT, LKS_DIGEST_SIZE - 1, true},
    {"findings", LKS_DOC_LIST, 0, false},
    {"kind", LKS_DOC_TEXT, LKS_READING_NAME_MAX, true},
    {"lockstep", LKS_DOC_NUMBER, 0, true},
    {"node", LKS_DOC_TEXT, LKS_READING_NAME_MAX, false},
    {"readings", LKS_DOC_LIST, 0, true},
    {"taken", LKS_DOC_TEXT, LKS_READING_NAME_MAX, true},
};
static const struct member reading_members[] = {
    {"absent", LKS_DOC_BOOL, 0, false},
    {"evidence", LKS_DOC_TEXT, LKS_READING_VALUE_MAX, true},
    {"name", LKS_DOC_TEXT, LKS_READING_NAME_MAX, true},
    {"of", LKS_DOC_TEXT, LKS_READING_NAME_MAX, false},
    {"part", LKS_DOC_TEXT, LKS_READING_NAME_MAX, false},
    {"unmeasured", LKS_DOC_TEXT, LKS_READING_VALUE_MAX, false},
    {"value", LKS_DOC_TEXT, LKS_READING_VALUE_MAX, false},
};

struct reader {
    const struct lks_docs *docs;
    struct lks_err *err;
};

#define FAIL(r, doc, ...) lks_doc_fail((r)->docs, (doc), (r)->err, __VA_ARGS__)

static enum lks_code check_member(const struct reader *r, const struct lks_doc *doc,
                                  const struct member *m)
{
    if (doc->kind != m->kind)
        return FAIL(r, doc, "expected %s, found %s", lks_doc_kind_name(m->kind),
                    lks_doc_kind_name(doc->kind));
    if (doc->kind != LKS_DOC_TEXT)
        return LKS_OK;
    if (doc->text.len > m->max)
        return FAIL(r, doc, "is longer than %zu bytes", m->max);
    if (!lks_str_printable(doc->text))
        return FAIL(r, doc, "holds characters that do not print");
    return LKS_OK;
}

static enum lks_code fail_unknown(const struct reader *r, const struct lks_doc *doc,
                                  const struct member *members, size_t count)
{
    char hint[LKS_NEAR_HINT_SIZE];
    struct lks_near near = lks_near_to(doc->key);
    for (size_t i = 0; i < count; i++)
        lks_near_try(&near, lks_str_from(members[i].key));
    return FAIL(r, doc, "unknown key%s", lks_near_hint(&near, hint));
}

/* Every member known and of its kind, every needed one there. */
static enum lks_code check_map(const struct reader *r, const struct lks_doc *map,
                               const struct member *members, size_t count)
{
    if (map->kind != LKS_DOC_MAP)
        return FAIL(r, map, "expected a map, found %s", lks_doc_kind_name(map->kind));
    for (const struct lks_doc *item = map->first; item != NULL; item = item->next) {
        const struct member *found = NULL;
        for (size_t i = 0; i < count; i++) {
            if (lks_str_is(item->key, members[i].key))
                found = &members[i];
        }
        if (found == NULL)
            return fail_unknown(r, item, members, count);
        if (check_member(r, item, found) != LKS_OK)
            return r->err->code;
    }
    for (size_t i = 0; i < count; i++) {
        if (members[i].needed && lks_doc_member(map, members[i].key) == NULL)
            return FAIL(r, map, "'%s' is missing", members[i].key);
    }
    return LKS_OK;
}

/* The text is "YYYY-MM-DDThh:mm:ssZ" and nothing else. */
static bool parse_time(struct lks_str s, int64_t *out)
{
    enum { DAY_LEN = 10, LEN = 20 };
    lks_day day;
    uint64_t hour, minute, second;
    if (s.len != LEN || s.ptr[10] != 'T' || s.ptr[13] != ':' || s.ptr[16] != ':' ||
        s.ptr[19] != 'Z' || !lks_time_day_parse((struct lks_str){s.ptr, DAY_LEN}, &day) ||
        day < 0 || !lks_str_number((struct lks_str){s.ptr + 11, 2}, 23, &hour) ||
        !lks_str_number((struct lks_str){s.ptr + 14, 2}, 59, &minute) ||
        !lks_str_number((struct lks_str){s.ptr + 17, 2}, 59, &second))
        return false;
    *out = (int64_t)day * DAY_SECONDS + (int64_t)(hour * 3600 + minute * 60 + second);
    return true;
}

static enum lks_code parse_reading(const struct reader *r, const struct lks_doc *doc,
                                   struct lks_tuple *t)
{
    if (check_map(r, doc, reading_members, LKS_COUNT(reading_members)) != LKS_OK)
        return r->err->code;
    const struct lks_doc *value = lks_doc_member(doc, "value");
    const struct lks_doc *absent = lks_doc_member(doc, "absent");
    const struct lks_doc *unmeasured = lks_doc_member(doc, "unmeasured");
    if ((value != NULL) + (absent != NULL) + (unmeasured != NULL) != 1)
        return FAIL(r, doc, "needs one of 'value', 'absent' and 'unmeasured', and no two");
    if (absent != NULL && !absent->truth)
        return FAIL(r, absent, "is true or absent");
    if (unmeasured != NULL && unmeasured->text.len == 0)
        return FAIL(r, unmeasured, "says why");
    if (lks_doc_text(doc, "name").len == 0)
        return FAIL(r, lks_doc_member(doc, "name"), "is empty");
    lks_tuple_add(t, &(struct lks_reading){
                         .name = lks_doc_text(doc, "name"),
                         .of = lks_doc_text(doc, "of"),
                         .part = lks_doc_text(doc, "part"),
                         .state = value != NULL    ? LKS_MEASURED
                                  : absent != NULL ? LKS_ABSENT
                                                   : LKS_UNMEASURED,
                         .value = value != NULL ? value->text : lks_doc_text(doc, "unmeasured"),
                         .evidence = lks_doc_text(doc, "evidence"),
                     });
    return LKS_OK;
}

static enum lks_code parse_envelope(const struct reader *r, const struct lks_doc *top,
                                    struct lks_tuple *t)
{
    const struct lks_doc *format = lks_doc_member(top, "lockstep");
    if (format != NULL && format->kind == LKS_DOC_NUMBER && format->number != TUPLE_FORMAT)
        return FAIL(r, format, "is %" PRId64 ", and this program knows %d", format->number,
                    TUPLE_FORMAT);
    if (check_map(r, top, top_members, LKS_COUNT(top_members)) != LKS_OK)
        return r->err->code;
    if (!lks_str_is(lks_doc_text(top, "kind"), "Tuple"))
        return FAIL(r, lks_doc_member(top, "kind"), "is not 'Tuple'");
    if (!parse_time(lks_doc_text(top, "taken"), &t->taken))
        return FAIL(r, lks_doc_member(top, "taken"),
                    "is not a time in UTC such as 2026-11-15T06:25:20Z");
    if (lks_doc_member(top, "readings")->count > LKS_TUPLE_READINGS_MAX)
        return FAIL(r, lks_doc_member(top, "readings"), "more than %d readings",
                    LKS_TUPLE_READINGS_MAX);
    t->node = lks_doc_text(top, "node");
    t->boot_id = lks_doc_text(top, "boot_id");
    return LKS_OK;
}

static enum lks_code parse_readings(const struct reader *r, const struct lks_doc *top,
                                    struct lks_tuple *t)
{
    if (parse_envelope(r, top, t) != LKS_OK)
        return r->err->code;
    const struct lks_doc *first = lks_doc_member(top, "readings")->first;
    for (const struct lks_doc *item = first; item != NULL; item = item->next) {
        if (parse_reading(r, item, t) != LKS_OK)
            return r->err->code;
    }
    return LKS_OK;
}

enum lks_code lks_tuple_parse(struct lks_str json, const char *source, struct lks_tuple *out,
                              struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
    struct reader r = {&docs, err};
    lks_tuple_init(&t);
    if (lks_docs_init(&docs, source, err) != LKS_OK || lks_json_parse(json, &docs, err) != LKS_OK ||
        parse_readings(&r, docs.first, &t) != LKS_OK)
        return err->code;
    if (lks_tuple_finish(&t, err) != LKS_OK)
        return lks_wrap(err, "%" LKS_STR_FMT, LKS_STR_ARG(docs.source));
    const struct lks_doc *digest = lks_doc_member(docs.first, "digest");
    if (!lks_str_is(digest->text, t.digest))
        return FAIL(&r, digest, "does not match the readings, whose digest is %s", t.digest);
    *out = LKS_MOVE(t);
    return LKS_OK;
}
