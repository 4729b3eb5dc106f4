#include "model/facts.h"

#include "codec/csv.h"
#include "codec/yaml.h"
#include "model/class.h"
#include "model/facts_tables.h"
#include "model/tables.h"

#include <stdlib.h>

enum { FACTS_MEMORY_MAX = 64 * 1024 * 1024, WORDS_BYTES_MAX = 64 * 1024 };

const char *lks_vendor_name(enum lks_vendor vendor)
{
    static const char *const names[] = {"nvidia", "amd", "any"};
    LKS_ASSERT((size_t)vendor < LKS_COUNT(names));
    return names[vendor];
}

const char *lks_status_name(enum lks_status status)
{
    static const char *const names[] = {"confirmed", "partly", "sibling", "unconfirmed"};
    LKS_ASSERT((size_t)status < LKS_COUNT(names));
    return names[status];
}

bool lks_words_have(struct lks_str words, struct lks_str word)
{
    struct lks_str each;
    while (lks_str_word(&words, &each)) {
        if (lks_str_eq_nocase(each, word))
            return true;
    }
    return false;
}

/* Cells ------------------------------------------------------------------------------------- */

static bool read_text(const struct lks_facts_column *column, struct lks_str cell, void *field)
{
    (void)column;
    *(struct lks_str *)field = cell;
    return lks_str_utf8(cell, NULL);
}

static bool read_version(const struct lks_facts_column *column, struct lks_str cell, void *field)
{
    *(struct lks_str *)field = cell;
    return lks_version_valid(cell, column->scheme);
}

static bool read_range(const struct lks_facts_column *column, struct lks_str cell, void *field)
{
    struct lks_range range;
    struct lks_err ignored = {0};
    *(struct lks_str *)field = cell;
    return lks_range_parse(cell, column->scheme, &range, &ignored) == LKS_OK;
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
    return lks_day_parse(cell, field);
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

/* A word of the column's list becomes its position in it. */
static bool read_choice(const struct lks_facts_column *column, struct lks_str cell, void *field)
{
    for (int i = 0; column->values[i] != NULL; i++) {
        if (lks_str_is(cell, column->values[i])) {
            *(int *)field = i;
            return true;
        }
    }
    return false;
}

static bool read_bool(const struct lks_facts_column *column, struct lks_str cell, void *field)
{
    (void)column;
    *(bool *)field = lks_str_is(cell, "yes");
    return lks_str_is(cell, "yes") || lks_str_is(cell, "no");
}

static bool read_words(const struct lks_facts_column *column, struct lks_str cell, void *field)
{
    (void)column;
    *(struct lks_str *)field = cell;
    return lks_str_utf8(cell, NULL) && lks_str_find(cell, LKS_STR("  ")) < 0;
}

static const struct {
    bool (*take)(const struct lks_facts_column *column, struct lks_str cell, void *field);
    const char *expected;
} cells[] = {
    [LKS_CELL_TEXT] = {read_text, "UTF-8 text"},
    [LKS_CELL_VERSION] = {read_version, "a version"},
    [LKS_CELL_RANGE] = {read_range, "a version range such as >=1.2 <2"},
    [LKS_CELL_BRANCH] = {read_branch, "a branch such as R580"},
    [LKS_CELL_DAY] = {read_day, "a date such as 2026-11-15 or 2026-11"},
    [LKS_CELL_NUMBER] = {read_number, "a whole number"},
    [LKS_CELL_CHOICE] = {read_choice, "one of the words this column knows"},
    [LKS_CELL_BOOL] = {read_bool, "yes or no"},
    [LKS_CELL_WORDS] = {read_words, "words with single blanks between them"},
};

/* Tables ------------------------------------------------------------------------------------ */

/* One table while it is read: which CSV column feeds which field. */
struct loader {
    struct lks_facts *facts;
    const struct lks_facts_table *table;
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
            return lks_fail(l->err, LKS_E_INVALID, "%s: line %u: %s: '%.*s' is not %s", l->shown,
                            l->csv.line, column->name, (int)(cell.len < 60 ? cell.len : 60),
                            cell.ptr, cells[column->cell].expected);
    }
    return LKS_OK;
}

/* A table has at most as many rows as lines. */
static size_t count_lines(struct lks_str text)
{
    size_t lines = 1;
    for (size_t i = 0; i < text.len; i++)
        lines += text.ptr[i] == '\n';
    return lines;
}

/* The rows of different tables are arrays of different types behind the same two words. */
static void get_rows(const struct loader *l, void **rows, size_t *count)
{
    const char *at = (const char *)l->facts + l->table->rows_offset;
    memcpy(rows, at, sizeof(*rows));
    memcpy(count, at + sizeof(*rows), sizeof(*count));
}

static void set_rows(const struct loader *l, const void *rows, size_t count)
{
    char *at = (char *)l->facts + l->table->rows_offset;
    memcpy(at, &rows, sizeof(rows));
    memcpy(at + sizeof(rows), &count, sizeof(count));
}

/* Append what is left of the CSV, at most `most` rows, to the rows that are there. */
static enum lks_code read_rows(struct loader *l, size_t most)
{
    void *before;
    size_t count;
    get_rows(l, &before, &count);
    char *rows = lks_arena_array(&l->facts->arena, count + most, l->table->row_size);
    if (rows == NULL)
        return lks_arena_fail(&l->facts->arena, l->err);
    if (count > 0)
        memcpy(rows, before, count * l->table->row_size);

    for (bool more = true; more;) {
        if (lks_csv_next(&l->csv, &more, l->err) != LKS_OK)
            return lks_wrap(l->err, "%s", l->shown);
        if (more && read_row(l, rows + count++ * l->table->row_size) != LKS_OK)
            return l->err->code;
    }
    set_rows(l, rows, count);
    return LKS_OK;
}

static enum lks_code load_csv(struct loader *l, struct lks_str text)
{
    if (lks_csv_open(&l->csv, text, &l->facts->arena, l->err) != LKS_OK)
        return lks_wrap(l->err, "%s", l->shown);
    if (map_columns(l) != LKS_OK)
        return l->err->code;

    return read_rows(l, count_lines(text));
}

/* Documents --------------------------------------------------------------------------------- */

/* The table of advisories.yaml. */
static const struct lks_field affected_fields[] = {
    {"component", LKS_OF(NAME), LKS_REQUIRED, NULL, "what carries the flaw"},
    {"branch", LKS_OF(TEXT), 0, NULL, "only this branch or part of it"},
    {"range", LKS_OF(RANGE), 0, NULL, "affected versions"},
    {"fixed", LKS_OF(TEXT), 0, NULL, "first version without it"},
    {"condition", LKS_OF(TEXT), 0, NULL, "what a person has to check"},
    {"gpus", LKS_LIST(LKS_OF(TEXT)), 0, NULL, "families it is limited to"},
};
static const struct lks_record affected_record = {
    .name = "affected", .about = "what is affected", LKS_FIELDS(affected_fields)};

static const struct lks_field advisory_fields[] = {
    {"id", LKS_OF(TEXT), LKS_REQUIRED, NULL, "CVE number"},
    {"vendor", LKS_OF(TEXT), LKS_REQUIRED, NULL, "who published it"},
    {"component", LKS_OF(NAME), LKS_REQUIRED, NULL, "what it is about"},
    {"published", LKS_OF(DATE), 0, NULL, "when"},
    {"cvss", LKS_OF(TEXT), 0, NULL, "base score"},
    {"vector", LKS_OF(TEXT), 0, NULL, "CVSS vector"},
    {"severity", LKS_OF(TEXT), 0, NULL, "low, medium, high or critical"},
    {"cwe", LKS_OF(TEXT), 0, NULL, "class of the flaw"},
    {"summary", LKS_OF(TEXT), LKS_REQUIRED, NULL, "one sentence"},
    {"status", LKS_ONE_OF("confirmed", "partly", "sibling", "unconfirmed"), LKS_REQUIRED, NULL,
     "how far it may be trusted"},
    {"source", LKS_OF(TEXT), LKS_REQUIRED, NULL, "where it was read"},
    {"affected", LKS_LIST(LKS_RECORD(affected_record)), LKS_REQUIRED, NULL, "affected versions"},
};
static const struct lks_record advisory_record = {
    .name = "advisory", .about = "one flaw", LKS_FIELDS(advisory_fields)};

static const struct lks_field advisories_fields[] = {
    {"advisories", LKS_LIST(LKS_RECORD(advisory_record)), LKS_REQUIRED, NULL, "all of them"},
};
static const struct lks_record advisories_record = {
    .name = "advisories", .about = "known flaws", LKS_FIELDS(advisories_fields)};

/* The texts of a list with blanks between them, as the CSV tables have such lists. */
static enum lks_code join_words(struct lks_facts *facts, const struct lks_doc *list,
                                struct lks_str *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf words = {0};
    lks_buf_init(&words, WORDS_BYTES_MAX);
    const struct lks_doc *first = list != NULL ? list->first : NULL;
    for (const struct lks_doc *item = first; item != NULL; item = item->next)
        lks_buf_addf(&words, "%s%" LKS_STR_FMT, item == first ? "" : " ", LKS_STR_ARG(item->text));
    if (lks_buf_check(&words, err) != LKS_OK)
        return err->code;
    *out = lks_arena_copy(&facts->arena, lks_buf_view(&words));
    return out->ptr != NULL ? LKS_OK : lks_arena_fail(&facts->arena, err);
}

static enum lks_code read_affected(struct lks_facts *facts, const struct lks_docs *docs,
                                   const struct lks_doc *doc, struct lks_affected *out,
                                   struct lks_err *err)
{
    *out = (struct lks_affected){
        .component = lks_doc_text(doc, "component"),
        .branch = lks_doc_text(doc, "branch"),
        .range = lks_doc_text(doc, "range"),
        .fixed = lks_doc_text(doc, "fixed"),
        .condition = lks_doc_text(doc, "condition"),
    };
    enum lks_version_scheme scheme = lks_facts_scheme(facts, out->component);
    struct lks_range range;
    struct lks_err inner = {0};
    if (out->range.len > 0 && lks_range_parse(out->range, scheme, &range, &inner) != LKS_OK)
        return lks_doc_fail(docs, doc, err, "%s", inner.msg);
    return join_words(facts, lks_doc_member(doc, "gpus"), &out->gpus, err);
}

static enum lks_code read_advisory(struct lks_facts *facts, const struct lks_docs *docs,
                                   const struct lks_doc *doc, struct lks_advisory *out,
                                   struct lks_err *err)
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
        .affected = lks_arena_array(&facts->arena, affected->count, sizeof(*out->affected)),
    };
    if (out->affected == NULL)
        return lks_arena_fail(&facts->arena, err);
    if (!lks_day_parse(lks_doc_text(doc, "published"), &out->published))
        out->published = LKS_DAY_NONE;
    int status;
    struct lks_facts_column statuses = {.values = lks_facts_statuses};
    if (read_choice(&statuses, lks_doc_text(doc, "status"), &status))
        out->fact.status = (enum lks_status)status;

    for (const struct lks_doc *item = affected->first; item != NULL; item = item->next) {
        struct lks_affected *row = &out->affected[out->affected_count++];
        if (read_affected(facts, docs, item, row, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

static enum lks_code load_advisories(struct lks_facts *facts, struct lks_docs *docs,
                                     struct lks_err *err)
{
    if (docs->count != 1)
        return lks_fail(err, LKS_E_INVALID, "%" LKS_STR_FMT ": expected one document, found %zu",
                        LKS_STR_ARG(docs->source), docs->count);
    if (lks_schema_check(docs, docs->first, &advisories_record, err) != LKS_OK)
        return err->code;
    const struct lks_doc *list = lks_doc_member(docs->first, "advisories");
    facts->advisories.rows =
        lks_arena_array(&facts->arena, list->count + 1, sizeof(*facts->advisories.rows));
    if (facts->advisories.rows == NULL)
        return lks_arena_fail(&facts->arena, err);
    for (const struct lks_doc *item = list->first; item != NULL; item = item->next) {
        struct lks_advisory *row = &facts->advisories.rows[facts->advisories.count++];
        if (read_advisory(facts, docs, item, row, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

static enum lks_code load_classes(struct lks_facts *facts, struct lks_docs *docs,
                                  struct lks_err *err)
{
    facts->classes.rows =
        lks_arena_array(&facts->arena, docs->count + 1, sizeof(*facts->classes.rows));
    if (facts->classes.rows == NULL)
        return lks_arena_fail(&facts->arena, err);
    for (const struct lks_doc *doc = docs->first; doc != NULL; doc = doc->next) {
        struct lks_class *row = &facts->classes.rows[facts->classes.count];
        if (lks_schema_check(docs, doc, &lks_class_record, err) != LKS_OK ||
            lks_class_parse(docs, doc, row, err) != LKS_OK)
            return err->code;
        facts->classes.count++;
    }
    return LKS_OK;
}

/* Tables that are documents. */
static const struct {
    const char *file;
    enum lks_code (*load)(struct lks_facts *facts, struct lks_docs *docs, struct lks_err *err);
} doc_tables[] = {
    {"advisories.yaml", load_advisories},
    {"classes.yaml", load_classes},
};

/* References -------------------------------------------------------------------------------- */

/* A row that names another must find it: a misspelled action or class would be silence later. */

static enum lks_code check_action(const struct lks_facts *facts, const char *file, int64_t number,
                                  struct lks_str action, struct lks_err *err)
{
    bool known = action.len == 0;
    for (size_t i = 0; i < facts->xid_actions.count && !known; i++)
        known = lks_str_eq(facts->xid_actions.rows[i].action, action);
    if (known)
        return LKS_OK;
    return lks_fail(err, LKS_E_INVALID, "%s: %lld: no action '%" LKS_STR_FMT "'", file,
                    (long long)number, LKS_STR_ARG(action));
}

static enum lks_code check_actions(const struct lks_facts *facts, struct lks_err *err)
{
    for (size_t i = 0; i < facts->xids.count; i++) {
        const struct lks_xid *x = &facts->xids.rows[i];
        if (check_action(facts, "xid.csv", x->number, x->immediate_action, err) != LKS_OK ||
            check_action(facts, "xid.csv", x->number, x->investigatory_action, err) != LKS_OK)
            return err->code;
    }
    for (size_t i = 0; i < facts->sxids.count; i++) {
        const struct lks_sxid *x = &facts->sxids.rows[i];
        if (check_action(facts, "sxid.csv", x->number, x->recommended_action, err) != LKS_OK)
            return err->code;
    }
    for (size_t i = 0; i < facts->xid_nvlink5.count; i++) {
        const struct lks_xid_nvlink5 *x = &facts->xid_nvlink5.rows[i];
        if (check_action(facts, "xid-nvlink5.csv", x->number, x->action, err) != LKS_OK ||
            check_action(facts, "xid-nvlink5.csv", x->number, x->action2, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

/* The range of an edge is read by the numbering of its component; a setting has words instead. */
static enum lks_code check_range(const struct lks_facts *facts, const struct lks_edge *edge,
                                 struct lks_str component, struct lks_str text, struct lks_err *err)
{
    struct lks_range range;
    if (text.len == 0 || component.len == 0 || lks_str_starts(component, "settings.") ||
        lks_range_parse(text, lks_facts_scheme(facts, component), &range, err) == LKS_OK)
        return LKS_OK;
    return lks_wrap(err, "edge %" LKS_STR_FMT ": %" LKS_STR_FMT, LKS_STR_ARG(edge->id),
                    LKS_STR_ARG(component));
}

static enum lks_code check_edges(const struct lks_facts *facts, struct lks_err *err)
{
    for (size_t i = 0; i < facts->edges.count; i++) {
        const struct lks_edge *e = &facts->edges.rows[i];
        if (check_range(facts, e, e->component, e->range, err) != LKS_OK ||
            check_range(facts, e, e->other, e->other_range, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

static enum lks_code check_references(const struct lks_facts *facts, struct lks_err *err)
{
    for (size_t i = 0; i < facts->components.count; i++) {
        const struct lks_component_kind *c = &facts->components.rows[i];
        if (c->update_class.len > 0 && lks_facts_update_class(facts, c->update_class) == NULL)
            return lks_fail(err, LKS_E_INVALID,
                            "components.csv: %" LKS_STR_FMT ": no update class '%" LKS_STR_FMT "'",
                            LKS_STR_ARG(c->name), LKS_STR_ARG(c->update_class));
    }
    for (size_t i = 0; i < facts->drivers.count; i++) {
        const struct lks_driver *d = &facts->drivers.rows[i];
        if (lks_version_major(d->version) != d->branch ||
            lks_facts_branch(facts, d->branch) == NULL)
            return lks_fail(err, LKS_E_INVALID,
                            "driver-versions.csv: %" LKS_STR_FMT " is not of branch R%d",
                            LKS_STR_ARG(d->version), d->branch);
    }
    if (check_actions(facts, err) != LKS_OK)
        return err->code;
    return check_edges(facts, err);
}

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

static enum lks_code load_table(struct lks_facts *facts, const struct lks_facts_table *table,
                                const struct lks_facts_file *file, struct lks_err *err)
{
    struct lks_str text = lks_arena_copy(&facts->arena, file->text);
    if (text.ptr == NULL)
        return lks_arena_fail(&facts->arena, err);
    struct loader l = {.facts = facts, .table = table, .shown = file->shown, .err = err};
    return load_csv(&l, text);
}

static enum lks_code load_tables(struct lks_facts *facts, const struct sources *from,
                                 struct lks_err *err)
{
    struct lks_facts_file file;
    for (size_t i = 0; i < lks_facts_table_count; i++) {
        const struct lks_facts_table *table = &lks_facts_tables[i];
        if (!find_file(from, table->file, &file))
            return lks_fail(err, LKS_E_NOT_FOUND, "table %s is missing", table->file);
        if (load_table(facts, table, &file, err) != LKS_OK)
            return err->code;
        if (strcmp(table->file, "requires.csv") == 0 &&
            find_file(from, LKS_FACTS_SITE_EDGES, &file) &&
            load_table(facts, table, &file, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

/* The documents are kept: rows hold views of their texts. */
static enum lks_code load_docs(struct lks_facts *facts, const struct sources *from,
                               struct lks_err *err)
{
    struct lks_facts_file file;
    for (size_t i = 0; i < LKS_COUNT(doc_tables); i++) {
        if (!find_file(from, doc_tables[i].file, &file))
            return lks_fail(err, LKS_E_NOT_FOUND, "table %s is missing", doc_tables[i].file);
        struct lks_docs *docs = &facts->docs[i];
        if (lks_docs_init(docs, file.shown, err) != LKS_OK ||
            lks_yaml_parse(file.text, docs, err) != LKS_OK ||
            doc_tables[i].load(facts, docs, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

enum lks_code lks_facts_load(const struct lks_embedded *builtin, const struct lks_facts_file *site,
                             size_t site_count, struct lks_facts *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
    _Static_assert(LKS_COUNT(doc_tables) == LKS_COUNT(facts.docs), "a place for each document");
    struct sources from = {builtin, site, site_count};
    lks_arena_init(&facts.arena, FACTS_MEMORY_MAX);
    if (load_tables(&facts, &from, err) != LKS_OK || load_docs(&facts, &from, err) != LKS_OK ||
        check_references(&facts, err) != LKS_OK)
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

/* Looking up -------------------------------------------------------------------------------- */

const struct lks_branch *lks_facts_branch(const struct lks_facts *facts, int number)
{
    for (size_t i = 0; i < facts->branches.count; i++) {
        if (facts->branches.rows[i].number == number)
            return &facts->branches.rows[i];
    }
    return NULL;
}

const struct lks_driver *lks_facts_driver(const struct lks_facts *facts, struct lks_str version)
{
    for (size_t i = 0; i < facts->drivers.count; i++) {
        if (lks_version_cmp(facts->drivers.rows[i].version, version, LKS_VERSION_DOTTED) == 0)
            return &facts->drivers.rows[i];
    }
    return NULL;
}

const struct lks_component_kind *lks_facts_component(const struct lks_facts *facts,
                                                     struct lks_str name)
{
    if (lks_str_starts(name, "firmware/")) {
        size_t prefix = strlen("firmware/");
        name = (struct lks_str){name.ptr + prefix, name.len - prefix};
    }
    for (size_t i = 0; i < facts->components.count; i++) {
        if (lks_str_eq(facts->components.rows[i].name, name))
            return &facts->components.rows[i];
    }
    return NULL;
}

const struct lks_component_kind *lks_facts_component_alias(const struct lks_facts *facts,
                                                           struct lks_str alias)
{
    for (size_t i = 0; i < facts->components.count; i++) {
        if (lks_words_have(facts->components.rows[i].aliases, alias))
            return &facts->components.rows[i];
    }
    return NULL;
}

const struct lks_setting_kind *lks_facts_setting(const struct lks_facts *facts, struct lks_str name)
{
    for (size_t i = 0; i < facts->settings.count; i++) {
        if (lks_str_eq(facts->settings.rows[i].name, name))
            return &facts->settings.rows[i];
    }
    return NULL;
}

const struct lks_update_class *lks_facts_update_class(const struct lks_facts *facts,
                                                      struct lks_str name)
{
    for (size_t i = 0; i < facts->update_classes.count; i++) {
        if (lks_str_eq(facts->update_classes.rows[i].name, name))
            return &facts->update_classes.rows[i];
    }
    return NULL;
}

const struct lks_class *lks_facts_class(const struct lks_facts *facts, struct lks_str name)
{
    for (size_t i = 0; i < facts->classes.count; i++) {
        if (lks_str_eq(facts->classes.rows[i].name, name))
            return &facts->classes.rows[i];
    }
    return NULL;
}

enum lks_version_scheme lks_facts_scheme(const struct lks_facts *facts, struct lks_str component)
{
    const struct lks_component_kind *kind = lks_facts_component(facts, component);
    return kind != NULL ? kind->scheme : LKS_VERSION_FIRMWARE;
}
