#include "model/facts/facts_check.h"

#include "base/near.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { SCRATCH_MAX = 64 * 1024 * 1024, NAMES_BYTES_MAX = 16 * 1024 * 1024, SHOWN_MAX = 60 };

/* A text from outside may be long, and the hint behind it is what helps. */
#define SHOWN(s) (int)((s).len < SHOWN_MAX ? (s).len : SHOWN_MAX), (s).ptr

struct checker {
    const struct lks_facts *facts;
    const struct lks_places *places;
    struct lks_names *names;
    struct lks_err *err;
};

static enum lks_code fail_at(const struct checker *c, const struct lks_place *at,
                             const char *column, const char *fmt, ...) LKS_PRINTF(4, 5);

static enum lks_code fail_at(const struct checker *c, const struct lks_place *at,
                             const char *column, const char *fmt, ...)
{
    char text[LKS_ERR_MSG_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    return lks_fail(c->err, LKS_E_INVALID, "%s: line %u: %s: %s", at->file, at->line, column, text);
}

/* Put the place before a message that is there. */
static enum lks_code wrap_at(const struct checker *c, const struct lks_place *at,
                             const char *column)
{
    return lks_wrap(c->err, "%s: line %u: %s", at->file, at->line, column);
}

static const struct lks_place *place_of(const struct checker *c, size_t rows_offset, size_t row)
{
    size_t i = 0;
    while (lks_facts_tables[i].rows_offset != rows_offset)
        i++;
    return &c->places->of[i][row];
}

/* Where row `i` of a member of struct lks_facts stands. */
#define AT(c, member, i) place_of((c), offsetof(struct lks_facts, member), (i))

/* Keys -------------------------------------------------------------------------------------- */

struct key_columns {
    size_t count;
    const struct lks_facts_column *columns[LKS_FACTS_KEYS_MAX];
};

struct key_row {
    const char *row;
    const struct key_columns *keys;
};

static int field_cmp(const struct lks_facts_column *column, const void *a, const void *b)
{
    if (column->cell == LKS_CELL_BRANCH) {
        int x = *(const int *)a, y = *(const int *)b;
        return (x > y) - (x < y);
    }
    if (column->cell == LKS_CELL_NUMBER) {
        int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
        return (x > y) - (x < y);
    }
    const struct lks_str *x = a, *y = b;
    return column->cell == LKS_CELL_VERSION ? lks_version_cmp(*x, *y, column->scheme)
                                            : lks_str_cmp(*x, *y);
}

static int key_cmp(const struct key_row *x, const struct key_row *y)
{
    int order = 0;
    for (size_t i = 0; i < x->keys->count && order == 0; i++) {
        const struct lks_facts_column *column = x->keys->columns[i];
        order = field_cmp(column, x->row + column->offset, y->row + column->offset);
    }
    return order;
}

/* Most tables stand in the order of their keys, up or down, and then no two are the same. */
static bool is_in_order(const struct key_row *rows, size_t count)
{
    bool up = key_cmp(&rows[0], &rows[1]) < 0;
    for (size_t i = 1; i < count; i++) {
        int order = key_cmp(&rows[i - 1], &rows[i]);
        if (order == 0 || (order < 0) != up)
            return false;
    }
    return true;
}

/* Rows with the same key in the order in which they stand. */
static int by_key(const void *a, const void *b)
{
    const struct key_row *x = a, *y = b;
    int order = key_cmp(x, y);
    return order != 0 ? order : (x->row > y->row) - (x->row < y->row);
}

static enum lks_code fail_twice(const struct checker *c, const struct key_columns *keys,
                                const struct lks_place *first, const struct lks_place *again)
{
    char columns[128];
    snprintf(columns, sizeof(columns), "%s%s%s", keys->columns[0]->name,
             keys->count > 1 ? " and " : "", keys->count > 1 ? keys->columns[1]->name : "");
    if (first->file == again->file)
        return fail_at(c, again, columns, "the same as in line %u", first->line);
    return fail_at(c, again, columns, "the same as in %s, line %u", first->file, first->line);
}

/* The row that repeats a key and stands before all others that do; -1 where none does. */
static ptrdiff_t first_repeated(const struct key_row *sorted, size_t count, const char *rows,
                                size_t row_size, size_t *of)
{
    ptrdiff_t found = -1;
    for (size_t i = 1; i < count; i++) {
        ptrdiff_t row = (sorted[i].row - rows) / (ptrdiff_t)row_size;
        if (key_cmp(&sorted[i - 1], &sorted[i]) == 0 && (found < 0 || row < found)) {
            found = row;
            *of = (size_t)(sorted[i - 1].row - rows) / row_size;
        }
    }
    return found;
}

static enum lks_code check_keys_of(const struct checker *c, size_t table, struct lks_arena *scratch)
{
    const struct lks_facts_table *t = &lks_facts_tables[table];
    struct key_columns keys = {0};
    for (size_t i = 0; i < t->column_count; i++) {
        if (t->columns[i].key) {
            LKS_ASSERT(keys.count < LKS_FACTS_KEYS_MAX);
            keys.columns[keys.count++] = &t->columns[i];
        }
    }
    size_t count, first = 0;
    const char *rows = lks_facts_rows(c->facts, t, &count);
    if (keys.count == 0 || count < 2)
        return LKS_OK;

    struct key_row *sorted = lks_arena_array(scratch, count, sizeof(*sorted));
    if (sorted == NULL)
        return lks_arena_fail(scratch, c->err);
    for (size_t i = 0; i < count; i++)
        sorted[i] = (struct key_row){rows + i * t->row_size, &keys};
    if (is_in_order(sorted, count))
        return LKS_OK;
    qsort(sorted, count, sizeof(*sorted), by_key);
    ptrdiff_t again = first_repeated(sorted, count, rows, t->row_size, &first);
    if (again < 0)
        return LKS_OK;
    const struct lks_place *places = c->places->of[table];
    return fail_twice(c, &keys, &places[first], &places[again]);
}

static enum lks_code check_keys(const struct checker *c)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena scratch = {0};
    lks_arena_init(&scratch, SCRATCH_MAX);
    for (size_t i = 0; i < lks_facts_table_count; i++) {
        if (check_keys_of(c, i, &scratch) != LKS_OK)
            return c->err->code;
    }
    return LKS_OK;
}

/* Names ------------------------------------------------------------------------------------- */

static const struct {
    const char *what, *file;
} refs[] = {
    [LKS_REF_ACTION] = {"action", "xid-actions.csv"},
    [LKS_REF_ARCHITECTURE] = {"architecture", "gpus.csv"},
    [LKS_REF_BRANCH] = {"branch", "driver-branches.csv"},
    [LKS_REF_FAMILY] = {"GPU family", "gpus.csv"},
    [LKS_REF_SETTING] = {"setting", "settings.csv"},
    [LKS_REF_UPDATE_CLASS] = {"update class", "update-classes.csv"},
    [LKS_REF_COMPONENT] = {"component", "components.csv"},
};
_Static_assert(LKS_COUNT(refs) == LKS_REF_COUNT, "a table for each kind of name");

static enum lks_code fail_unknown(enum lks_ref ref, const struct lks_near *near,
                                  struct lks_err *err)
{
    char hint[LKS_NEAR_HINT_SIZE];
    return lks_fail(err, LKS_E_INVALID, "no %s '%.*s' in %s%s", refs[ref].what, SHOWN(near->wanted),
                    refs[ref].file, lks_near_hint(near, hint));
}

static struct lks_near nearest(const struct lks_names *names, enum lks_ref ref, struct lks_str name)
{
    struct lks_near near = lks_near_to(name);
    for (uint32_t id = 0; id < lks_intern_count(&names->of[ref]); id++)
        lks_near_try(&near, lks_intern_text(&names->of[ref], id));
    return near;
}

/* One of a closed list. */
static enum lks_code check_known(const struct lks_names *names, enum lks_ref ref,
                                 struct lks_str name, struct lks_err *err)
{
    uint32_t id;
    if (lks_intern_find(&names->of[ref], name, &id))
        return LKS_OK;
    struct lks_near near = nearest(names, ref, name);
    return fail_unknown(ref, &near, err);
}

/* A site has components of its own, so that only a name which looks like a slip, or which we call
 * by another, is refused. */
static enum lks_code check_component(const struct lks_names *names, struct lks_str name,
                                     struct lks_err *err)
{
    static const char prefix[] = "firmware/";
    bool firmware = lks_str_starts(name, prefix);
    struct lks_str bare = name;
    if (firmware)
        bare = (struct lks_str){name.ptr + strlen(prefix), name.len - strlen(prefix)};
    uint32_t id;
    if (lks_intern_find(&names->of[LKS_REF_COMPONENT], bare, &id)) {
        if (firmware && lks_facts_component(names->facts, bare)->sort != LKS_FIRMWARE)
            return lks_fail(err, LKS_E_INVALID, "%.*s is software, and no firmware", SHOWN(bare));
        return LKS_OK;
    }
    const struct lks_component_kind *ours = lks_facts_component_alias(names->facts, bare);
    struct lks_near near = nearest(names, LKS_REF_COMPONENT, bare);
    if (ours != NULL)
        near.best = ours->name;
    return near.best.len > 0 ? fail_unknown(LKS_REF_COMPONENT, &near, err) : LKS_OK;
}

/* The settings, unlike the components, are ours: what a site invents stands under "other". */
static enum lks_code check_setting(const struct lks_names *names, struct lks_str path,
                                   struct lks_err *err)
{
    struct lks_str first, rest;
    lks_str_cut(path, '.', &first, &rest);
    return check_known(names, LKS_REF_SETTING, first, err);
}

enum lks_code lks_facts_names_check(const struct lks_names *names, enum lks_ref ref,
                                    struct lks_str name, struct lks_err *err)
{
    static const char settings[] = "settings.";
    if (ref != LKS_REF_COMPONENT)
        return check_known(names, ref, name, err);
    if (!lks_str_starts(name, settings))
        return check_component(names, name, err);
    size_t skip = strlen(settings);
    return check_setting(names, (struct lks_str){name.ptr + skip, name.len - skip}, err);
}

enum lks_code lks_facts_check_branch(const struct lks_facts *facts, int number, struct lks_err *err)
{
    if (lks_facts_branch(facts, number) != NULL)
        return LKS_OK;
    return lks_fail(err, LKS_E_INVALID, "no branch R%d in %s", number, refs[LKS_REF_BRANCH].file);
}

void lks_facts_names_fini(struct lks_names *names)
{
    for (size_t i = 0; i < LKS_COUNT(names->of); i++)
        lks_intern_fini(&names->of[i]);
    names->facts = NULL;
}

/* As the lists of families write it. */
static struct lks_str hyphenated(struct lks_str family, char out[LKS_FAMILY_LEN_MAX])
{
    LKS_ASSERT(family.len <= LKS_FAMILY_LEN_MAX);
    for (size_t i = 0; i < family.len; i++)
        out[i] = family.ptr[i] == ' ' ? '-' : family.ptr[i];
    return (struct lks_str){out, family.len};
}

typedef enum lks_code cell_fn(const struct checker *c, const struct lks_facts_column *column,
                              const void *field);

static enum lks_code each_cell(const struct checker *c, size_t index,
                               const struct lks_facts_column *column, cell_fn *fn)
{
    const struct lks_facts_table *table = &lks_facts_tables[index];
    size_t count;
    const char *rows = lks_facts_rows(c->facts, table, &count);
    for (size_t i = 0; i < count; i++) {
        if (fn(c, column, rows + i * table->row_size + column->offset) != LKS_OK)
            return wrap_at(c, &c->places->of[index][i], column->name);
    }
    return LKS_OK;
}

/* The cells of all tables, column by column. */
static enum lks_code all_cells(const struct checker *c, cell_fn *fn)
{
    for (size_t i = 0; i < lks_facts_table_count; i++) {
        const struct lks_facts_table *table = &lks_facts_tables[i];
        for (size_t j = 0; j < table->column_count; j++) {
            if (each_cell(c, i, &table->columns[j], fn) != LKS_OK)
                return c->err->code;
        }
    }
    return LKS_OK;
}

static enum lks_code collect_name(const struct checker *c, const struct lks_facts_column *column,
                                  const void *field)
{
    char family[LKS_FAMILY_LEN_MAX];
    uint32_t id;
    if (column->defines == LKS_REF_NONE)
        return LKS_OK;
    struct lks_str name = *(const struct lks_str *)field;
    if (column->defines == LKS_REF_FAMILY)
        name = hyphenated(name, family);
    return lks_intern_id(&c->names->of[column->defines], name, &id, c->err);
}

static enum lks_code collect_names(const struct checker *c)
{
    c->names->facts = c->facts;
    for (size_t i = 0; i < LKS_REF_COUNT; i++)
        lks_intern_init(&c->names->of[i], NAMES_BYTES_MAX);
    return all_cells(c, collect_name);
}

/* References -------------------------------------------------------------------------------- */

/* A row that names another must find it: a misspelled action or family would be silence later. */

static enum lks_code check_reference(const struct checker *c, const struct lks_facts_column *column,
                                     const void *field)
{
    if (column->refers == LKS_REF_NONE)
        return LKS_OK;
    if (column->refers == LKS_REF_BRANCH) {
        int number = *(const int *)field;
        return number == 0 ? LKS_OK : lks_facts_check_branch(c->facts, number, c->err);
    }
    struct lks_str rest = *(const struct lks_str *)field, word = rest;
    if (rest.len == 0)
        return LKS_OK;
    if (column->cell != LKS_CELL_WORDS)
        return lks_facts_names_check(c->names, column->refers, rest, c->err);
    while (lks_str_word(&rest, &word)) {
        if (lks_facts_names_check(c->names, column->refers, word, c->err) != LKS_OK)
            return c->err->code;
    }
    return LKS_OK;
}

static enum lks_code check_references(const struct checker *c)
{
    return all_cells(c, check_reference);
}

/* Boards ------------------------------------------------------------------------------------ */

/* Core compares families without regard to case, and so they are counted. */
static struct lks_str folded(struct lks_str family, char out[LKS_FAMILY_LEN_MAX])
{
    LKS_ASSERT(family.len <= LKS_FAMILY_LEN_MAX);
    for (size_t i = 0; i < family.len; i++) {
        bool upper = family.ptr[i] >= 'A' && family.ptr[i] <= 'Z';
        out[i] = (char)(upper ? family.ptr[i] - 'A' + 'a' : family.ptr[i]);
    }
    return (struct lks_str){out, family.len};
}

static enum lks_code count_boards(const struct checker *c, struct lks_intern *families,
                                  unsigned *counts)
{
    for (size_t i = 0; i < c->facts->gpus.count; i++) {
        const struct lks_gpu *gpu = &c->facts->gpus.rows[i];
        char name[LKS_FAMILY_LEN_MAX];
        uint32_t id;
        if (gpu->family.len > LKS_FAMILY_LEN_MAX)
            return fail_at(c, AT(c, gpus, i), "family", "longer than %d bytes", LKS_FAMILY_LEN_MAX);
        if (lks_intern_id(families, folded(gpu->family, name), &id, c->err) != LKS_OK)
            return c->err->code;
        if (++counts[id] > LKS_FAMILY_BOARDS_MAX)
            return fail_at(c, AT(c, gpus, i), "family", "more than %d boards of '%.*s'",
                           LKS_FAMILY_BOARDS_MAX, SHOWN(gpu->family));
    }
    return LKS_OK;
}

static enum lks_code check_families(const struct checker *c)
{
    LKS_CLEANUP(lks_intern_fini) struct lks_intern families = {0};
    LKS_CLEANUP(lks_arena_fini) struct lks_arena scratch = {0};
    lks_intern_init(&families, NAMES_BYTES_MAX);
    lks_arena_init(&scratch, SCRATCH_MAX);
    unsigned *counts = lks_arena_array(&scratch, c->facts->gpus.count, sizeof(*counts));
    if (counts == NULL)
        return lks_arena_fail(&scratch, c->err);
    return count_boards(c, &families, counts);
}

/* The branches' lists were checked against the boards; this is the other direction. Without it a
 * board of a new architecture would be refused by every driver there is. */
static enum lks_code check_architectures(const struct checker *c)
{
    LKS_CLEANUP(lks_intern_fini) struct lks_intern driven = {0};
    uint32_t id;
    lks_intern_init(&driven, NAMES_BYTES_MAX);
    for (size_t i = 0; i < c->facts->branches.count; i++) {
        struct lks_str rest = c->facts->branches.rows[i].architectures, word;
        while (lks_str_word(&rest, &word)) {
            if (lks_intern_id(&driven, word, &id, c->err) != LKS_OK)
                return c->err->code;
        }
    }
    for (size_t i = 0; i < c->facts->gpus.count; i++) {
        const struct lks_gpu *gpu = &c->facts->gpus.rows[i];
        if (gpu->vendor == LKS_VENDOR_NVIDIA && !gpu->nvswitch &&
            !lks_intern_find(&driven, gpu->architecture, &id))
            return fail_at(c, AT(c, gpus, i), "architecture", "no branch in %s has '%.*s'",
                           refs[LKS_REF_BRANCH].file, SHOWN(gpu->architecture));
    }
    return LKS_OK;
}

/* Rows of one table ------------------------------------------------------------------------- */

static enum lks_code check_drivers(const struct checker *c)
{
    for (size_t i = 0; i < c->facts->drivers.count; i++) {
        const struct lks_driver *d = &c->facts->drivers.rows[i];
        if (lks_version_major(d->version) != d->branch)
            return fail_at(c, AT(c, drivers, i), "version", "'%.*s' is not of branch R%d",
                           SHOWN(d->version), d->branch);
    }
    return LKS_OK;
}

/* "FAMILY=VERSION/VERSION+", each. */
static enum lks_code check_bundle(const struct checker *c, size_t row, struct lks_str entry)
{
    static const char column[] = "firmware";
    const struct lks_place *at = AT(c, rocms, row);
    struct lks_str family, versions = entry, each;
    if (!lks_str_cut(entry, '=', &family, &versions) || versions.len == 0)
        return fail_at(c, at, column, "'%.*s' is not FAMILY=VERSION", SHOWN(entry));
    if (lks_facts_names_check(c->names, LKS_REF_FAMILY, family, c->err) != LKS_OK)
        return wrap_at(c, at, column);
    while (versions.len > 0) {
        lks_str_cut(versions, '/', &each, &versions);
        struct lks_str version = each;
        version.len -= each.len > 0 && each.ptr[each.len - 1] == '+';
        if (!lks_version_valid(version, LKS_VERSION_FIRMWARE))
            return fail_at(c, at, column, "'%.*s' is not a firmware version", SHOWN(each));
    }
    return LKS_OK;
}

static enum lks_code check_bundles(const struct checker *c)
{
    for (size_t i = 0; i < c->facts->rocms.count; i++) {
        struct lks_str rest = c->facts->rocms.rows[i].firmware, entry;
        while (lks_str_word(&rest, &entry)) {
            if (check_bundle(c, i, entry) != LKS_OK)
                return c->err->code;
        }
    }
    return LKS_OK;
}

/* The second pattern and the second action say nothing without each other. */
static enum lks_code check_nvlink5(const struct checker *c)
{
    for (size_t i = 0; i < c->facts->xid_nvlink5.count; i++) {
        const struct lks_xid_nvlink5 *x = &c->facts->xid_nvlink5.rows[i];
        bool pattern = x->intrinfo_v1_action2.len > 0 || x->intrinfo_v2_action2.len > 0;
        if (pattern != (x->action2.len > 0))
            return fail_at(c, AT(c, xid_nvlink5, i), "action2",
                           pattern ? "is empty, but there is a pattern for it"
                                   : "has no pattern in intrinfo_v1_action2 or "
                                     "intrinfo_v2_action2");
    }
    return LKS_OK;
}

/* A version range by the numbering of its component; a setting is compared as text. */
static enum lks_code check_range(const struct checker *c, size_t row, const char *column,
                                 struct lks_str component, struct lks_str text)
{
    const struct lks_place *at = AT(c, edges, row);
    struct lks_range range;
    if (text.len == 0)
        return LKS_OK;
    if (component.len == 0)
        return fail_at(c, at, column, "'%.*s' is a range of no component", SHOWN(text));
    if (lks_str_starts(component, "settings.")) {
        if (text.ptr[0] == '<' || text.ptr[0] == '>')
            return fail_at(c, at, column,
                           "'%.*s': a setting has no order, only = and !=", SHOWN(text));
        return LKS_OK;
    }
    if (lks_version_range_parse(text, lks_facts_scheme(c->facts, component), &range, c->err) !=
        LKS_OK)
        return wrap_at(c, at, column);
    return LKS_OK;
}

static enum lks_code check_edges(const struct checker *c)
{
    for (size_t i = 0; i < c->facts->edges.count; i++) {
        const struct lks_edge *e = &c->facts->edges.rows[i];
        if (check_range(c, i, "range", e->component, e->range) != LKS_OK ||
            check_range(c, i, "other_range", e->other, e->other_range) != LKS_OK)
            return c->err->code;
    }
    return LKS_OK;
}

/* Rings rise to the whole of a pool. */
static enum lks_code check_rings(const struct checker *c, size_t row)
{
    struct lks_str rest = c->facts->change_classes.rows[row].rings, word;
    uint64_t last = 0, percent = 0;
    size_t count = 0;
    while (lks_str_word(&rest, &word) && count++ < LKS_CHANGE_RINGS_MAX) {
        if (!lks_str_number(word, 100, &percent) || percent <= last)
            break;
        last = percent;
    }
    if (last == 100 && rest.len == 0 && count <= LKS_CHANGE_RINGS_MAX)
        return LKS_OK;
    return fail_at(c, AT(c, change_classes, row), "rings",
                   "'%.*s' is not a list of rising percents up to 100",
                   SHOWN(c->facts->change_classes.rows[row].rings));
}

/* Numbers of change classes, each with the least and the most that makes sense. */
static enum lks_code check_change_class(const struct checker *c, size_t row)
{
    const struct lks_change_class *k = &c->facts->change_classes.rows[row];
    const struct {
        const char *column;
        int64_t value, least, most;
    } numbers[] = {
        {"quorum", k->quorum, 0, LKS_CHANGE_QUORUM_MAX},
        {"proposal_days", k->proposal_days, 1, 365},
        {"approval_days", k->approval_days, 1, 365},
        {"review_hours", k->review_hours, 1, 8760},
        {"canary_soak", k->canary_soak, 1, 1000},
        {"ring_soak", k->ring_soak, 1, 1000},
        {"width", k->width, 1, 100},
    };
    for (size_t i = 0; i < LKS_COUNT(numbers); i++) {
        if (numbers[i].value < numbers[i].least || numbers[i].value > numbers[i].most)
            return fail_at(c, AT(c, change_classes, row), numbers[i].column, "from %lld to %lld",
                           (long long)numbers[i].least, (long long)numbers[i].most);
    }
    if (k->quorum == 0 && k->covers != LKS_COVERS_WINDOW)
        return fail_at(c, AT(c, change_classes, row), "quorum",
                       "only a class that covers 'window' needs no approval");
    return check_rings(c, row);
}

/* What a plan finds has a class, whatever it does. */
static enum lks_code check_changes(const struct checker *c)
{
    for (size_t i = 0; i < c->facts->change_classes.count; i++) {
        if (check_change_class(c, i) != LKS_OK)
            return c->err->code;
    }
    for (enum lks_change_covers k = LKS_COVERS_WINDOW; k <= LKS_COVERS_PLANT; k++) {
        if (c->facts->change_classes.count > 0 && lks_facts_change_covers(c->facts, k) == NULL)
            return fail_at(c, AT(c, change_classes, 0), "covers", "no class covers '%s'",
                           lks_change_covers_words[k]);
    }
    return LKS_OK;
}

enum lks_code lks_facts_check(const struct lks_facts *facts, const struct lks_places *places,
                              struct lks_names *names, struct lks_err *err)
{
    /* In this order: names are collected of families that are short enough, and needed from the
     * references on. */
    static enum lks_code (*const checks[])(const struct checker *c) = {
        check_keys,    check_families, collect_names, check_references, check_architectures,
        check_drivers, check_bundles,  check_nvlink5, check_edges,      check_changes};
    struct checker c = {facts, places, names, err};
    for (size_t i = 0; i < LKS_COUNT(checks); i++) {
        if (checks[i](&c) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}
