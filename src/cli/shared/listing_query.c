#include "cli/shared/listing_query.h"

#include "cli/shared/render.h"
#include "core/view/view_sort.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_BYTES = 4096, LIMIT_MAX = 1000000 };

/* Columns ----------------------------------------------------------------------------------- */

/* Numbers are at the right. What may be long is broken over lines: a digest, or a text that is the
 * last column. */
static struct lks_listing_column column_of(const struct lks_view *view,
                                           const struct lks_field *field, bool last)
{
    enum lks_type type = field->shape.type;
    bool text = type == LKS_TYPE_TEXT || type == LKS_TYPE_LIST;
    bool wraps = type == LKS_TYPE_SHA256 || type == LKS_TYPE_LINES || (last && text);
    return (struct lks_listing_column){
        .header = lks_selector_heading(view, field->key),
        .key = field->key,
        .flags = type == LKS_TYPE_NUMBER ? LKS_COLUMN_RIGHT
                 : wraps                 ? LKS_COLUMN_WRAP
                                         : 0,
    };
}

/* One more column of our own; its name is copied. */
static void add_column(struct lks_listing_query *q, struct lks_str name, unsigned flags)
{
    struct lks_field field;
    char *copy = q->names[q->column_count];
    snprintf(copy, LKS_LISTING_NAME_SIZE, "%" LKS_STR_FMT, LKS_STR_ARG(name));
    const struct lks_form members = {
        .more = lks_view_row_field, .of = q->of.view, .use = LKS_USE_LISTED};
    q->own[q->column_count] =
        q->of.view != NULL && lks_schema_field(&members, name, &field)
            ? column_of(q->of.view, &field, (flags & LKS_COLUMN_WRAP) != 0)
            : (struct lks_listing_column){.header = copy, .key = copy, .flags = flags};
    q->column_count++;
    q->columns = q->own;
}

static bool has_column(const struct lks_listing_query *q, struct lks_str name)
{
    for (size_t i = 0; i < q->column_count; i++) {
        if (lks_str_is(name, q->columns[i].key))
            return true;
    }
    return false;
}

/* The columns of `names`, separated by commas. */
static enum lks_code choose_columns(struct lks_listing_query *q, struct lks_str names,
                                    struct lks_err *err)
{
    struct lks_str name;
    for (bool more = true; more;) {
        more = lks_str_cut(names, ',', &name, &names);
        if (lks_selector_check(&q->of, "--columns", name, err) != LKS_OK)
            return err->code;
        const struct lks_listing_column *shown = lks_selector_column(&q->of, name);
        name = lks_selector_meant(&q->of, name);
        if (has_column(q, name))
            return lks_fail(err, LKS_E_USAGE,
                            "--columns: '%" LKS_STR_FMT "' is given twice; name each column once",
                            LKS_STR_ARG(name));
        if (name.len >= LKS_LISTING_NAME_SIZE)
            return lks_fail(err, LKS_E_USAGE, "--columns: no column '%" LKS_STR_FMT "'",
                            LKS_STR_ARG(name));
        if (q->column_count == LKS_TABLE_COLUMNS_MAX)
            return lks_fail(err, LKS_E_USAGE, "--columns: more than %d columns",
                            LKS_TABLE_COLUMNS_MAX);
        if (shown != NULL)
            q->own[q->column_count++] = *shown;
        else
            add_column(q, name, more ? 0 : LKS_COLUMN_WRAP);
        q->columns = q->own;
    }
    return LKS_OK;
}

static enum lks_code read_columns(const struct lks_cli *cli, const struct lks_args *args,
                                  const struct lks_listing *listing, struct lks_listing_query *q,
                                  struct lks_err *err)
{
    struct lks_str given = lks_args_str(args, "--columns");
    q->chosen = given.len > 0;
    q->wide = cli->wide;
    if (given.len > 0 && (cli->wide || lks_args_has(args, "--json")))
        return lks_fail(err, LKS_E_USAGE,
                        "--columns is for tables, and does not go with --output wide, json, yaml "
                        "or name");
    if (given.len > 0 || listing->shown != NULL)
        return choose_columns(q, given.len > 0 ? given : lks_str_from(listing->shown), err);
    q->columns = listing->columns;
    q->column_count = listing->column_count;
    return LKS_OK;
}

/* Whether a column shows the member: it is its key, the start of its path, or in its form. */
static bool shows(const struct lks_listing_column *column, struct lks_str member)
{
    const char *at = column->key;
    if (strcmp(at, "*") == 0)
        return true;
    for (bool form = strchr(at, '{') != NULL;; at++) {
        if (form && (at = strchr(at, '{')) == NULL)
            return false;
        struct lks_str name = {at + form, strcspn(at + form, ".#~?!:=<}")};
        if (lks_str_eq(name, member))
            return true;
        if (!form)
            return false;
    }
}

static bool is_shown(const struct lks_listing_query *q, struct lks_str member)
{
    for (size_t i = 0; i < q->column_count; i++) {
        if (shows(&q->columns[i], member))
            return true;
    }
    return false;
}

/* Objects in a list would make no cell that people can read: they are in JSON. */
static bool has_value(const struct lks_doc *member)
{
    if (member->kind == LKS_DOC_LIST || member->kind == LKS_DOC_MAP)
        return member->first != NULL && member->first->kind != LKS_DOC_MAP &&
               member->first->kind != LKS_DOC_LIST;
    return member->kind != LKS_DOC_NULL && (member->kind != LKS_DOC_TEXT || member->text.len > 0);
}

void lks_listing_query_widen(struct lks_listing_query *q, const struct lks_listing_items *items)
{
    if (q->columns != q->own)
        memcpy(q->own, q->columns, q->column_count * sizeof(q->own[0]));
    q->columns = q->own;
    for (size_t i = 0; i < items->count; i++) {
        const struct lks_doc *item = items->items[i];
        for (const struct lks_doc *m = item->kind == LKS_DOC_MAP ? item->first : NULL; m != NULL;
             m = m->next) {
            if (q->column_count < LKS_TABLE_COLUMNS_MAX && m->key.len < LKS_LISTING_NAME_SIZE &&
                has_value(m) && !is_shown(q, m->key))
                add_column(q, m->key,
                           m->kind == LKS_DOC_NUMBER ? LKS_COLUMN_RIGHT : LKS_COLUMN_WRAP);
        }
    }
}

/* Filters and order ------------------------------------------------------------------------- */

/* "--assigned-to" of "assigned_to". */
static void option_of(const char *key, char *out, size_t size)
{
    snprintf(out, size, "--%s", key);
    for (char *c = out; *c != '\0'; c++)
        *c = *c == '_' ? '-' : *c;
}

/* Let lockstepd apply the first term of the selector that is a value of the column. */
static void ask_term(struct lks_listing_query *q, const struct lks_field *field,
                     struct lks_remote_path *path)
{
    for (size_t i = 0; i < q->selector.count; i++) {
        struct lks_selector_term *t = &q->selector.terms[i];
        if (t->differs || t->value.len == 0 || !lks_str_is(t->key, field->key))
            continue;
        bool flag = field->shape.type == LKS_TYPE_BOOL;
        lks_remote_path_query(path, field->key,
                              flag && lks_str_is(t->value, "yes")  ? LKS_STR("true")
                              : flag && lks_str_is(t->value, "no") ? LKS_STR("false")
                                                                   : t->value);
        t->asked = true;
        return;
    }
}

/* Options that are filters have the name of their query parameter, with '-' for '_'. */
static void filter_by(const struct lks_args *args, struct lks_listing_query *q,
                      struct lks_remote_path *path)
{
    const struct lks_column *column;
    const struct lks_view_computed *computed;
    struct lks_field field;
    for (size_t i = 0; lks_view_row_field(q->of.view, LKS_USE_FILTER, i, &field); i++) {
        char option[LKS_LISTING_NAME_SIZE];
        option_of(field.key, option, sizeof(option));
        lks_remote_path_options(path, args, (const char *const[]){option, NULL});
        bool whole = lks_view_row_at(q->of.view, LKS_USE_FILTER, i, &column, &computed) &&
                     column != NULL && (column->use & LKS_USE_BEGINS) == 0;
        if (whole && !lks_args_has(args, option))
            ask_term(q, &field, path);
    }
}

/* A column that rows cannot be sorted by is refused here: the message names the option. */
static enum lks_code fail_sort(const struct lks_view *view, struct lks_str sort,
                               struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf names = LKS_BUF(LINE_MAX_BYTES);
    lks_view_row_names(view, LKS_USE_SORT, &names);
    return lks_fail(err, LKS_E_USAGE,
                    "--sort-by: no column '%" LKS_STR_FMT "'; give one of: %" LKS_STR_FMT,
                    LKS_STR_ARG(sort), LKS_STR_ARG(lks_buf_view(&names)));
}

static enum lks_code read_sort(const struct lks_args *args, struct lks_remote_path *path,
                               struct lks_listing_query *q, struct lks_err *err)
{
    struct lks_str sort = lks_args_str(args, "--sort-by");
    struct lks_view_sort ignored;
    if (sort.len == 0)
        return LKS_OK;
    q->down = lks_str_starts(sort, "-");
    sort = lks_selector_meant(&q->of, (struct lks_str){sort.ptr + q->down, sort.len - q->down});
    if (q->of.view != NULL && !lks_view_sort_by(q->of.view, sort, &ignored))
        return fail_sort(q->of.view, sort, err);
    if (q->of.view != NULL && path != NULL) {
        snprintf(q->order, sizeof(q->order), "%s%" LKS_STR_FMT, q->down ? "-" : "",
                 LKS_STR_ARG(sort));
        lks_remote_path_query(path, "sort", lks_str_from(q->order));
        return LKS_OK;
    }
    q->sort = sort;
    return lks_selector_check(&q->of, "--sort-by", q->sort, err);
}

static enum lks_code read_limit(const struct lks_args *args, const struct lks_listing *listing,
                                struct lks_listing_query *q, struct lks_err *err)
{
    struct lks_str text = lks_args_str(args, "--limit");
    q->limit = listing->limit;
    if (text.len == 0 || lks_str_number(text, LIMIT_MAX, &q->limit))
        return LKS_OK;
    return lks_fail(err, LKS_E_USAGE,
                    "--limit: '%" LKS_STR_FMT "' is not a number from 0, which means all, to %d",
                    LKS_STR_ARG(text), LIMIT_MAX);
}

enum lks_code lks_listing_query_read(const struct lks_cli *cli, const struct lks_args *args,
                                     const struct lks_listing *listing,
                                     struct lks_remote_path *path, struct lks_listing_query *out,
                                     struct lks_err *err)
{
    *out = (struct lks_listing_query){.of = {.view = listing->view,
                                             .json = cli->command->json,
                                             .lists = listing->members,
                                             .columns = listing->columns,
                                             .column_count = listing->column_count}};
    if (read_columns(cli, args, listing, out, err) != LKS_OK ||
        lks_selector_parse(lks_args_str(args, "--selector"), &out->of, &out->selector, err) !=
            LKS_OK ||
        read_sort(args, path, out, err) != LKS_OK || read_limit(args, listing, out, err) != LKS_OK)
        return err->code;
    if (out->of.view != NULL && path != NULL)
        filter_by(args, out, path);
    return LKS_OK;
}

bool lks_listing_query_collects(const struct lks_listing_query *q)
{
    return q->wide || q->sort.len > 0;
}

/* Rows -------------------------------------------------------------------------------------- */

/* A row and what it is sorted by. */
struct row {
    const struct lks_doc *item;
    const struct lks_doc *key; /* NULL: the row has none */
    size_t place;              /* of rows with equal keys the first stays first */
    bool down;
};

/* Rows without a value come first, then numbers, then texts by their bytes. */
static int compare_keys(const struct lks_doc *a, const struct lks_doc *b)
{
    if (a == NULL || b == NULL)
        return (a != NULL) - (b != NULL);
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->kind == LKS_DOC_TEXT)
        return lks_str_cmp(a->text, b->text);
    int64_t left = a->kind == LKS_DOC_BOOL ? a->truth : a->number;
    int64_t right = b->kind == LKS_DOC_BOOL ? b->truth : b->number;
    return (left > right) - (left < right);
}

static int compare_rows(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    int order = compare_keys(a->key, b->key);
    if (order != 0)
        return a->down ? -order : order;
    return (a->place > b->place) - (a->place < b->place);
}

/* The rows that the selector wants, in the order of the lists. */
static size_t select_rows(const struct lks_listing_query *q, const struct lks_doc *const *lists,
                          size_t list_count, struct row *rows)
{
    size_t count = 0;
    for (size_t k = 0; k < list_count; k++) {
        for (const struct lks_doc *i = lists[k] != NULL ? lists[k]->first : NULL; i != NULL;
             i = i->next) {
            if (!lks_selector_wants(&q->selector, i))
                continue;
            rows[count] = (struct row){
                .item = i, .key = lks_render_find(i, q->sort), .place = count, .down = q->down};
            count++;
        }
    }
    return count;
}

enum lks_code lks_listing_query_items(const struct lks_listing_query *q,
                                      const struct lks_doc *const *lists, size_t list_count,
                                      struct lks_listing_items *out, struct lks_err *err)
{
    size_t count = 1; /* calloc() of nothing may be NULL */
    for (size_t k = 0; k < list_count; k++)
        count += lists[k] != NULL ? lists[k]->count : 0;
    struct row *rows = calloc(count, sizeof(*rows));
    const struct lks_doc **items = calloc(count, sizeof(const struct lks_doc *));
    if (rows == NULL || items == NULL) {
        free(rows);
        free((void *)items);
        return lks_fail_nomem(err);
    }
    count = select_rows(q, lists, list_count, rows);
    if (q->sort.len > 0)
        qsort(rows, count, sizeof(*rows), compare_rows);
    count = q->limit > 0 && q->limit < count ? q->limit : count;
    for (size_t i = 0; i < count; i++)
        items[i] = rows[i].item;
    free(rows);
    *out = (struct lks_listing_items){items, count};
    return LKS_OK;
}

void lks_listing_query_items_fini(struct lks_listing_items *items)
{
    free((void *)items->items);
    *items = (struct lks_listing_items){0};
}
