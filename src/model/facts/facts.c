#include "model/facts/facts.h"

#include "base/real.h"
#include "codec/format/csv.h"
#include "codec/format/yaml.h"
#include "model/facts/class.h"
#include "model/facts/facts_check.h"
#include "model/schema/tables.h"

#include <stdio.h>

enum {
    FACTS_MEMORY_MAX = 64 * 1024 * 1024,
    WORDS_BYTES_MAX = 64 * 1024,
    NAMES_BYTES_MAX = 16 * 1024 * 1024,
    REGISTER_BITS = 32,
    EXPECTED_SIZE = 256,
    SHOWN_MAX = 60, /* bytes of a cell that a message repeats */
};

const char *lks_facts_vendor_name(enum lks_vendor vendor)
{
    static const char *const names[] = {"nvidia", "amd", "any"};
    LKS_ASSERT((size_t)vendor < LKS_COUNT(names));
    return names[vendor];
}

const char *lks_facts_status_name(enum lks_status status)
{
    static const char *const names[] = {"confirmed", "partly", "sibling", "unconfirmed"};
    LKS_ASSERT((size_t)status < LKS_COUNT(names));
    return names[status];
}

bool lks_facts_words_have(struct lks_str words, struct lks_str word)
{
    struct lks_str each;
    while (lks_str_word(&words, &each)) {
        if (lks_str_eq_nocase(each, word))
            return true;
    }
    return false;
}

/* Cells ------------------------------------------------------------------------------------- */

/* The texts are UTF-8: the reader of CSV has seen to it. */
static bool read_text(const struct lks_facts_column *column, struct lks_str cell, void *field)
{
    (void)column;
    *(struct lks_str *)field = cell;
    return true;
}

static bool read_version(const struct lks_facts_column *column, struct lks_str cell, void *field)
{
    *(struct lks_str *)field = cell;
    return lks_version_valid(cell, column->scheme);
}

static bool is_pattern(struct lks_str word)
{
    if (word.len > 2 && memcmp(word.ptr + word.len - 2, ".x", 2) == 0)
        word.len -= 2;
    return lks_version_valid(word, LKS_VERSION_DOTTED);
}

static bool read_pattern(const struct lks_facts_column *column, struct lks_str cell, void *field)
{
    (void)column;
    *(struct lks_str *)field = cell;
    return is_pattern(cell);
}

/* R580 in the tables of drivers; 580 where the column is a plain number. */
static bool read_branch(const struct lks_facts_column *column, struct lks_str cell, void *field)
{
    (void)column;
    uint64_t number;
    struct lks_str digits =
        cell.ptr[0] == 'R' ? (struct lks_str){cell.ptr + 1, cell.len - 1} : cell;
    if (!lks_str_number(digits, 9999, &number))
        return false;
    *(int *)field = (int)number;
    return true;
}

static bool read_day(const struct lks_facts_column *column, struct lks_str cell, void *field)
{
    (void)column;
    return lks_time_day_parse(cell, field);
}

static bool read_number(const struct lks_facts_column *column, struct lks_str cell, void *field)
{
    (void)column;
    uint64_t number;
    if (!lks_str_number(cell, INT32_MAX, &number))
        return false;
    *(int64_t *)field = (int64_t)number;
    return true;
}

static bool read_real(const struct lks_facts_column *column, struct lks_str cell, void *field)
{
    (void)column;
    double real = 0;
    if (!lks_real_parse(cell, &real) || real < 0)
        return false;
    *(double *)field = real;
    return true;
}

static int position(const char *const *values, struct lks_str word)
{
    for (int i = 0; values[i] != NULL; i++) {
        if (lks_str_is(word, values[i]))
            return i;
    }
    return -1;
}

/* A word of the column's list becomes its position in it. */
static bool read_choice(const struct lks_facts_column *column, struct lks_str cell, void *field)
{
    int at = position(column->values, cell);
    if (at >= 0)
        *(int *)field = at;
    return at >= 0;
}

static bool read_word(const struct lks_facts_column *column, struct lks_str cell, void *field)
{
    *(struct lks_str *)field = cell;
    return position(column->values, cell) >= 0;
}

static bool read_bool(const struct lks_facts_column *column, struct lks_str cell, void *field)
{
    (void)column;
    *(bool *)field = lks_str_is(cell, "yes");
    return lks_str_is(cell, "yes") || lks_str_is(cell, "no");
}

static bool is_spaced(struct lks_str cell)
{
    return cell.ptr[0] != ' ' && cell.ptr[cell.len - 1] != ' ' &&
           lks_str_find(cell, LKS_STR("  ")) < 0;
}

static bool read_words(const struct lks_facts_column *column, struct lks_str cell, void *field)
{
    struct lks_str rest = cell, word;
    *(struct lks_str *)field = cell;
    while (column->values != NULL && lks_str_word(&rest, &word)) {
        if (position(column->values, word) < 0)
            return false;
    }
    return is_spaced(cell);
}

/* Words of which each is of one form. */
static bool read_each(struct lks_str cell, bool (*is)(struct lks_str), void *field)
{
    struct lks_str rest = cell, word;
    *(struct lks_str *)field = cell;
    while (lks_str_word(&rest, &word)) {
        if (!is(word))
            return false;
    }
    return is_spaced(cell);
}

static bool read_patterns(const struct lks_facts_column *column, struct lks_str cell, void *field)
{
    (void)column;
    return read_each(cell, is_pattern, field);
}

static bool read_bits(const struct lks_facts_column *column, struct lks_str cell, void *field)
{
    (void)column;
    *(struct lks_str *)field = cell;
    for (size_t i = 0; i < cell.len; i++) {
        char bit = cell.ptr[i];
        if (bit != '0' && bit != '1' && bit != '-')
            return false;
    }
    return cell.len == REGISTER_BITS;
}

static bool is_hex(struct lks_str word)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    for (size_t i = 2; i < word.len; i++) {
        if (memchr(digits, word.ptr[i], sizeof(digits) - 1) == NULL)
            return false;
    }
    return lks_str_starts(word, "0x") && word.len > 2 && word.len <= 2 + REGISTER_BITS / 4;
}

static bool read_hex(const struct lks_facts_column *column, struct lks_str cell, void *field)
{
    (void)column;
    return read_each(cell, is_hex, field);
}

static const struct {
    bool (*take)(const struct lks_facts_column *column, struct lks_str cell, void *field);
    const char *expected;
} cells[] = {
    [LKS_CELL_TEXT] = {read_text, "text"},
    [LKS_CELL_VERSION] = {read_version, "a version"},
    [LKS_CELL_PATTERN] = {read_pattern, "a version such as 6.4.1 or 6.4.x"},
    [LKS_CELL_PATTERNS] = {read_patterns, "versions such as 6.4.1 or 6.4.x with single blanks "
                                          "between them"},
    [LKS_CELL_BRANCH] = {read_branch, "a branch such as R580"},
    [LKS_CELL_DAY] = {read_day, "a date such as 2026-11-15 or 2026-11"},
    [LKS_CELL_NUMBER] = {read_number, "a whole number"},
    [LKS_CELL_REAL] = {read_real, "a number such as 0.5"},
    [LKS_CELL_CHOICE] = {read_choice, "one of"},
    [LKS_CELL_WORD] = {read_word, "one of"},
    [LKS_CELL_BOOL] = {read_bool, "yes or no"},
    [LKS_CELL_WORDS] = {read_words, "words with single blanks between them"},
    [LKS_CELL_BITS] = {read_bits, "32 characters of 0, 1 and -"},
    [LKS_CELL_HEX] = {read_hex, "numbers such as 0x00000001 with single blanks between them"},
};
_Static_assert(LKS_COUNT(cells) == LKS_CELL_COUNT, "a reader for each kind of cell");

/* What a cell of `column` has to be, with the words it may be where they are listed. */
static const char *expected(const struct lks_facts_column *column, char out[EXPECTED_SIZE])
{
    const char *gap = ": ";
    int used = snprintf(out, EXPECTED_SIZE, "%s", cells[column->cell].expected);
    for (size_t i = 0; column->values != NULL && column->values[i] != NULL; i++) {
        if (column->values[i][0] == '\0')
            continue;
        used +=
            snprintf(out + used, (size_t)(EXPECTED_SIZE - used), "%s%s", gap, column->values[i]);
        LKS_ASSERT(used < EXPECTED_SIZE);
        gap = ", ";
    }
    return out;
}

/* Tables ------------------------------------------------------------------------------------ */

/* One table while it is read: which CSV column feeds which field. */
struct loader {
    struct lks_facts *facts;
    const struct lks_facts_table *table;
    struct lks_places *places;
    const char *shown;
    struct lks_csv csv;
    int from[LKS_FACTS_COLUMNS_MAX];
    struct lks_err *err;
};

static enum lks_code map_columns(struct loader *l)
{
    for (size_t i = 0; i < l->table->column_count; i++) {
        l->from[i] = lks_csv_column(&l->csv, l->table->columns[i].name);
        if (l->from[i] < 0)
            return lks_fail(l->err, LKS_E_INVALID, "%s: line %u: no column '%s'", l->shown,
                            l->csv.line, l->table->columns[i].name);
    }
    return LKS_OK;
}

static enum lks_code refuse_cell(const struct loader *l, const struct lks_facts_column *column,
                                 struct lks_str cell)
{
    char words[EXPECTED_SIZE];
    if (cell.len == 0)
        return lks_fail(l->err, LKS_E_INVALID, "%s: line %u: %s: is empty", l->shown, l->csv.line,
                        column->name);
    return lks_fail(l->err, LKS_E_INVALID, "%s: line %u: %s: '%.*s' is not %s", l->shown,
                    l->csv.line, column->name, (int)(cell.len < SHOWN_MAX ? cell.len : SHOWN_MAX),
                    cell.ptr, expected(column, words));
}

static enum lks_code read_row(struct loader *l, void *row)
{
    for (size_t i = 0; i < l->table->column_count; i++) {
        const struct lks_facts_column *column = &l->table->columns[i];
        struct lks_str cell = l->csv.fields[l->from[i]];
        void *field = (char *)row + column->offset;
        if (cell.len == 0 && !column->required) {
            if (column->cell == LKS_CELL_DAY)
                *(lks_day *)field = LKS_DAY_NONE;
            continue;
        }
        if (cell.len == 0 || !cells[column->cell].take(column, cell, field))
            return refuse_cell(l, column, cell);
    }
    return LKS_OK;
}

static void set_rows(const struct loader *l, const void *rows, size_t count)
{
    char *at = (char *)l->facts + l->table->rows_offset;
    memcpy(at, &rows, sizeof(rows));
    memcpy(at + sizeof(rows), &count, sizeof(count));
}

/* A longer array that begins with the elements of the one there is. */
static void *longer(struct lks_facts *facts, const void *before, size_t count, size_t more,
                    size_t size)
{
    void *array = lks_arena_array(&facts->arena, count + more, size);
    if (array != NULL && count > 0)
        memcpy(array, before, count * size);
    return array;
}

/* Append what is left of the CSV, at most `most` rows, to the rows that are there. */
static enum lks_code read_rows(struct loader *l, size_t most)
{
    size_t count, size = l->table->row_size;
    const struct lks_place **at = &l->places->of[l->table - lks_facts_tables];
    const char *before = lks_facts_rows(l->facts, l->table, &count);
    char *rows = longer(l->facts, before, count, most, size);
    struct lks_place *places = longer(l->facts, *at, count, most, sizeof(*places));
    if (rows == NULL || places == NULL)
        return lks_arena_fail(&l->facts->arena, l->err);

    for (;;) {
        bool more;
        if (lks_csv_next(&l->csv, &more, l->err) != LKS_OK)
            return lks_wrap(l->err, "%s", l->shown);
        if (!more)
            break;
        if (read_row(l, rows + count * size) != LKS_OK)
            return l->err->code;
        places[count++] = (struct lks_place){l->shown, l->csv.line};
    }
    set_rows(l, rows, count);
    *at = places;
    return LKS_OK;
}

static enum lks_code load_csv(struct loader *l, struct lks_str text)
{
    if (lks_csv_open(&l->csv, text, &l->facts->arena, l->err) != LKS_OK)
        return lks_wrap(l->err, "%s", l->shown);
    if (map_columns(l) != LKS_OK)
        return l->err->code;

    return read_rows(l, 1 + lks_str_count(text, '\n')); /* a row is a line at least */
}

/* Documents --------------------------------------------------------------------------------- */

/* The table of advisories.yaml. */
static const struct lks_field affected_fields[] = {
    {"component", LKS_OF(NAME), LKS_REQUIRED, NULL, "the component that is vulnerable"},
    {"branch", LKS_OF(TEXT), 0, NULL, "only this branch or part of it"},
    {"range", LKS_OF(RANGE), 0, NULL, "affected versions"},
    {"fixed", LKS_OF(TEXT), 0, NULL, "first version without it"},
    {"condition", LKS_OF(TEXT), 0, NULL, "what a person has to check"},
    {"gpus", LKS_LIST(LKS_OF(TEXT)), 0, NULL, "families it is limited to"},
};
static const struct lks_form affected_form = {
    .name = "affected", .about = "what is affected", LKS_FIELDS(affected_fields)};

static const struct lks_field advisory_fields[] = {
    {"id", LKS_OF(TEXT), LKS_REQUIRED, NULL, "CVE number"},
    {"vendor", LKS_OF(TEXT), LKS_REQUIRED, NULL, "who published it"},
    {"component", LKS_OF(NAME), LKS_REQUIRED, NULL, "what it is about"},
    {"published", LKS_OF(DATE), 0, NULL, "when"},
    {"cvss", LKS_OF(TEXT), 0, NULL, "base score"},
    {"vector", LKS_OF(TEXT), 0, NULL, "CVSS vector"},
    {"severity", LKS_ONE_OF("low", "medium", "high", "critical"), 0, NULL, "how bad it is"},
    {"cwe", LKS_OF(TEXT), 0, NULL, "class of the weakness"},
    {"summary", LKS_OF(TEXT), LKS_REQUIRED, NULL, "one sentence"},
    {"status", LKS_ONE_OF("confirmed", "partly", "sibling", "unconfirmed"), LKS_REQUIRED, NULL,
     "how far it may be trusted"},
    {"source", LKS_OF(TEXT), LKS_REQUIRED, NULL, "where it was read"},
    {"affected", LKS_LIST(LKS_FORM(affected_form)), LKS_REQUIRED, NULL, "affected versions"},
};
static const struct lks_form advisory_form = {
    .name = "advisory", .about = "one vulnerability", LKS_FIELDS(advisory_fields)};

static const struct lks_field advisories_fields[] = {
    {"advisories", LKS_LIST(LKS_FORM(advisory_form)), LKS_REQUIRED, NULL, "all of them"},
};
static const struct lks_form advisories_form = {
    .name = "advisories", .about = "known vulnerabilities", LKS_FIELDS(advisories_fields)};

struct doc_loader {
    struct lks_facts *facts;
    const struct lks_names *names;
    struct lks_docs *docs;
    struct lks_err *err;
};

/* A name of `ref` where `at` stands. */
static enum lks_code check_name(const struct doc_loader *l, const struct lks_doc *at,
                                enum lks_ref ref)
{
    struct lks_err inner = {0};
    if (at == NULL || lks_facts_names_check(l->names, ref, at->text, &inner) == LKS_OK)
        return LKS_OK;
    return lks_doc_fail(l->docs, at, l->err, "%s", inner.msg);
}

/* Families with blanks between them, as the CSV tables have such lists. */
static enum lks_code read_families(const struct doc_loader *l, const struct lks_doc *list,
                                   struct lks_str *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf words = LKS_BUF(WORDS_BYTES_MAX);
    const struct lks_doc *first = list != NULL ? list->first : NULL;
    for (const struct lks_doc *item = first; item != NULL; item = item->next) {
        if (check_name(l, item, LKS_REF_FAMILY) != LKS_OK)
            return l->err->code;
        lks_buf_addf(&words, "%s%" LKS_STR_FMT, item == first ? "" : " ", LKS_STR_ARG(item->text));
    }
    if (lks_buf_check(&words, l->err) != LKS_OK)
        return l->err->code;
    *out = lks_arena_copy(&l->facts->arena, lks_buf_view(&words));
    return out->ptr != NULL ? LKS_OK : lks_arena_fail(&l->facts->arena, l->err);
}

/* R550 is a branch there must be; other words ("connectx-ga") are for people. */
static enum lks_code check_branch(const struct doc_loader *l, const struct lks_doc *at)
{
    if (at == NULL || at->text.len < 2 || at->text.ptr[0] != 'R' || at->text.ptr[1] < '0' ||
        at->text.ptr[1] > '9')
        return LKS_OK;
    struct lks_err inner = {0};
    int number;
    if (!read_branch(NULL, at->text, &number))
        return lks_doc_fail(l->docs, at, l->err, "'%.*s' is not %s",
                            (int)(at->text.len < SHOWN_MAX ? at->text.len : SHOWN_MAX),
                            at->text.ptr, cells[LKS_CELL_BRANCH].expected);
    if (lks_facts_check_branch(l->facts, number, &inner) != LKS_OK)
        return lks_doc_fail(l->docs, at, l->err, "%s", inner.msg);
    return LKS_OK;
}

static enum lks_code check_versions(const struct doc_loader *l, const struct lks_doc *doc,
                                    const struct lks_affected *affected)
{
    enum lks_version_scheme scheme = lks_facts_scheme(l->facts, affected->component);
    struct lks_range range;
    struct lks_err inner = {0};
    if (affected->range.len > 0 &&
        lks_version_range_parse(affected->range, scheme, &range, &inner) != LKS_OK)
        return lks_doc_fail(l->docs, lks_doc_member(doc, "range"), l->err, "%s", inner.msg);
    if (affected->fixed.len > 0 && !lks_version_valid(affected->fixed, scheme))
        return lks_doc_fail(l->docs, lks_doc_member(doc, "fixed"), l->err, "is not a %s version",
                            lks_version_scheme_name(scheme));
    return LKS_OK;
}

static enum lks_code read_affected(const struct doc_loader *l, const struct lks_doc *doc,
                                   struct lks_affected *out)
{
    *out = (struct lks_affected){
        .component = lks_doc_text(doc, "component"),
        .branch = lks_doc_text(doc, "branch"),
        .range = lks_doc_text(doc, "range"),
        .fixed = lks_doc_text(doc, "fixed"),
        .condition = lks_doc_text(doc, "condition"),
    };
    if (check_name(l, lks_doc_member(doc, "component"), LKS_REF_COMPONENT) != LKS_OK ||
        check_branch(l, lks_doc_member(doc, "branch")) != LKS_OK ||
        check_versions(l, doc, out) != LKS_OK)
        return l->err->code;
    return read_families(l, lks_doc_member(doc, "gpus"), &out->gpus);
}

/* A score that cannot be read would count as none at all. */
static enum lks_code check_score(const struct doc_loader *l, const struct lks_doc *at)
{
    struct lks_str whole, tenth;
    uint64_t a = 0, b = 0;
    if (at == NULL ||
        (lks_str_cut(at->text, '.', &whole, &tenth) && lks_str_number(whole, 10, &a) &&
         tenth.len == 1 && lks_str_number(tenth, a == 10 ? 0 : 9, &b)))
        return LKS_OK;
    return lks_doc_fail(l->docs, at, l->err, "is not a score from 0.0 to 10.0");
}

static enum lks_code read_advisory(const struct doc_loader *l, const struct lks_doc *doc,
                                   struct lks_advisory *out)
{
    const struct lks_doc *affected = lks_doc_member(doc, "affected");
    *out = (struct lks_advisory){
        .id = lks_doc_text(doc, "id"),
        .vendor = lks_doc_text(doc, "vendor"),
        .component = lks_doc_text(doc, "component"),
        .severity = lks_doc_text(doc, "severity"),
        .summary = lks_doc_text(doc, "summary"),
        .cvss = lks_doc_text(doc, "cvss"),
        .cwe = lks_doc_text(doc, "cwe"),
        .fact.source = lks_doc_text(doc, "source"),
        .affected = lks_arena_array(&l->facts->arena, affected->count, sizeof(*out->affected)),
    };
    if (out->affected == NULL)
        return lks_arena_fail(&l->facts->arena, l->err);
    if (!lks_time_day_parse(lks_doc_text(doc, "published"), &out->published))
        out->published = LKS_DAY_NONE;
    int status = position(lks_facts_statuses, lks_doc_text(doc, "status"));
    LKS_ASSERT(status >= 0); /* the schema has the same words */
    out->fact.status = (enum lks_status)status;
    if (check_name(l, lks_doc_member(doc, "component"), LKS_REF_COMPONENT) != LKS_OK ||
        check_score(l, lks_doc_member(doc, "cvss")) != LKS_OK)
        return l->err->code;

    for (const struct lks_doc *item = affected->first; item != NULL; item = item->next) {
        if (read_affected(l, item, &out->affected[out->affected_count++]) != LKS_OK)
            return l->err->code;
    }
    return LKS_OK;
}

/* Where the first of the maps from `first` on stands whose member `key` is `text`. */
static unsigned line_of(const struct lks_doc *first, const char *key, struct lks_str text)
{
    for (const struct lks_doc *doc = first; doc != NULL; doc = doc->next) {
        const struct lks_doc *at = lks_doc_member(doc, key);
        if (lks_str_eq(at->text, text))
            return (unsigned)at->line;
    }
    return 0;
}

/* The members `key`, which all maps from `first` on have, are all different. */
static enum lks_code check_unique(const struct doc_loader *l, const struct lks_doc *first,
                                  const char *key)
{
    LKS_CLEANUP(lks_intern_fini) struct lks_intern seen = {0};
    lks_intern_init(&seen, NAMES_BYTES_MAX);
    uint32_t id, count = 0;
    for (const struct lks_doc *doc = first; doc != NULL; doc = doc->next, count++) {
        const struct lks_doc *at = lks_doc_member(doc, key);
        if (lks_intern_id(&seen, at->text, &id, l->err) != LKS_OK)
            return l->err->code;
        if (id != count)
            return lks_doc_fail(l->docs, at, l->err, "the same as in line %u",
                                line_of(first, key, at->text));
    }
    return LKS_OK;
}

static enum lks_code load_advisories(const struct doc_loader *l)
{
    struct lks_facts *facts = l->facts;
    if (l->docs->count != 1)
        return lks_fail(l->err, LKS_E_INVALID, "%" LKS_STR_FMT ": expected one document, found %zu",
                        LKS_STR_ARG(l->docs->source), l->docs->count);
    if (lks_schema_check(l->docs, l->docs->first, &advisories_form, l->err) != LKS_OK)
        return l->err->code;
    const struct lks_doc *list = lks_doc_member(l->docs->first, "advisories");
    facts->advisories.rows =
        lks_arena_array(&facts->arena, list->count + 1, sizeof(*facts->advisories.rows));
    if (facts->advisories.rows == NULL)
        return lks_arena_fail(&facts->arena, l->err);
    for (const struct lks_doc *item = list->first; item != NULL; item = item->next) {
        if (read_advisory(l, item, &facts->advisories.rows[facts->advisories.count++]) != LKS_OK)
            return l->err->code;
    }
    return check_unique(l, list->first, "id");
}

static enum lks_code load_classes(const struct doc_loader *l)
{
    struct lks_facts *facts = l->facts;
    facts->classes.rows =
        lks_arena_array(&facts->arena, l->docs->count + 1, sizeof(*facts->classes.rows));
    if (facts->classes.rows == NULL)
        return lks_arena_fail(&facts->arena, l->err);
    for (const struct lks_doc *doc = l->docs->first; doc != NULL; doc = doc->next) {
        struct lks_class *row = &facts->classes.rows[facts->classes.count];
        if (lks_schema_check(l->docs, doc, &lks_class_form, l->err) != LKS_OK ||
            lks_class_parse(l->docs, doc, row, l->err) != LKS_OK)
            return l->err->code;
        facts->classes.count++;
    }
    return check_unique(l, l->docs->first, "name");
}

/* Tables that are documents. */
static const struct {
    const char *file;
    enum lks_code (*load)(const struct doc_loader *l);
} doc_tables[] = {
    {"advisories.yaml", load_advisories},
    {"classes.yaml", load_classes},
};

/* Loading ----------------------------------------------------------------------------------- */

const char *lks_facts_file_name(size_t index)
{
    if (index < lks_facts_table_count)
        return lks_facts_tables[index].file;
    index -= lks_facts_table_count;
    return index < LKS_COUNT(doc_tables) ? doc_tables[index].file : NULL;
}

/* Where tables come from. */
struct sources {
    const struct lks_embedded *builtin;
    const struct lks_facts_file *site;
    size_t site_count;
};

static bool find_file(const struct sources *from, const char *name, struct lks_facts_file *out)
{
    for (size_t i = 0; i < from->site_count; i++) {
        if (strcmp(from->site[i].name, name) == 0) {
            *out = from->site[i];
            return true;
        }
    }
    for (const struct lks_embedded *e = from->builtin; e->name != NULL; e++) {
        if (strcmp(e->name, name) == 0) {
            *out = (struct lks_facts_file){name, name, e->bytes};
            return true;
        }
    }
    return false;
}

static enum lks_code load_table(struct lks_facts *facts, struct lks_places *places,
                                const struct lks_facts_table *table,
                                const struct lks_facts_file *file, struct lks_err *err)
{
    struct lks_str text = lks_arena_copy(&facts->arena, file->text);
    if (text.ptr == NULL)
        return lks_arena_fail(&facts->arena, err);
    struct loader l = {
        .facts = facts, .places = places, .table = table, .shown = file->shown, .err = err};
    return load_csv(&l, text);
}

/* Those of a site come behind the others and are known as such. */
static enum lks_code load_site_edges(struct lks_facts *facts, struct lks_places *places,
                                     const struct lks_facts_table *table,
                                     const struct sources *from, struct lks_err *err)
{
    struct lks_facts_file file;
    size_t before = facts->edges.count;
    if (!find_file(from, LKS_FACTS_SITE_EDGES, &file))
        return LKS_OK;
    if (load_table(facts, places, table, &file, err) != LKS_OK)
        return err->code;
    for (size_t i = before; i < facts->edges.count; i++)
        facts->edges.rows[i].site = true;
    return LKS_OK;
}

static enum lks_code load_tables(struct lks_facts *facts, struct lks_places *places,
                                 const struct sources *from, struct lks_err *err)
{
    struct lks_facts_file file;
    for (size_t i = 0; i < lks_facts_table_count; i++) {
        const struct lks_facts_table *table = &lks_facts_tables[i];
        if (!find_file(from, table->file, &file))
            return lks_fail(err, LKS_E_NOT_FOUND, "table %s is missing", table->file);
        if (load_table(facts, places, table, &file, err) != LKS_OK)
            return err->code;
        if (strcmp(table->file, "requires.csv") == 0 &&
            load_site_edges(facts, places, table, from, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

/* The documents are kept: rows hold views of their texts. */
static enum lks_code load_docs(struct lks_facts *facts, const struct lks_names *names,
                               const struct sources *from, struct lks_err *err)
{
    struct lks_facts_file file;
    for (size_t i = 0; i < LKS_COUNT(doc_tables); i++) {
        if (!find_file(from, doc_tables[i].file, &file))
            return lks_fail(err, LKS_E_NOT_FOUND, "table %s is missing", doc_tables[i].file);
        struct lks_docs *docs = &facts->docs[i];
        if (lks_docs_init(docs, file.shown, err) != LKS_OK ||
            lks_yaml_parse(file.text, docs, err) != LKS_OK)
            return err->code;
        struct doc_loader l = {facts, names, docs, err};
        if (doc_tables[i].load(&l) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

enum lks_code lks_facts_load(const struct lks_embedded *builtin, const struct lks_facts_file *site,
                             size_t site_count, struct lks_facts *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
    _Static_assert(LKS_COUNT(doc_tables) == LKS_COUNT(facts.docs), "a place for each document");
    LKS_CLEANUP(lks_facts_names_fini) struct lks_names names = {0};
    struct lks_places places = {0};
    struct sources from = {builtin, site, site_count};
    lks_arena_init(&facts.arena, FACTS_MEMORY_MAX);
    if (load_tables(&facts, &places, &from, err) != LKS_OK ||
        lks_facts_check(&facts, &places, &names, err) != LKS_OK ||
        load_docs(&facts, &names, &from, err) != LKS_OK)
        return err->code;
    *out = LKS_MOVE(facts);
    return LKS_OK;
}

void lks_facts_fini(struct lks_facts *facts)
{
    for (size_t i = 0; i < LKS_COUNT(facts->docs); i++)
        lks_docs_fini(&facts->docs[i]);
    lks_arena_fini(&facts->arena);
    *facts = (struct lks_facts){0};
}
