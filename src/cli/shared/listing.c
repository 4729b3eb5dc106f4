#include "cli/shared/listing.h"

#include "cli/shared/listing_query.h"
#include "cli/shared/output.h"
#include "cli/shared/render.h"
#include "codec/format/digest.h"
#include "codec/format/json.h"
#include "codec/time/moment.h"
#include "model/record/record.h"

#include <inttypes.h>
#include <stdarg.h>

enum {
    ROWS_BYTES = 256 << 20,
    LINE_MAX_BYTES = 4096,
    DONE_MAX_BYTES = 1 << 20,
};

/* Values ------------------------------------------------------------------------------------ */

static const struct lks_str_named moods[] = {
    {"live", LKS_GREEN},        {"conforms", LKS_GREEN}, {"done", LKS_GREEN},
    {"late", LKS_YELLOW},       {"intake", LKS_YELLOW},  {"held", LKS_YELLOW},
    {"unmeasured", LKS_YELLOW}, {"lost", LKS_RED},       {"drift", LKS_RED},
    {"failed", LKS_RED},        {"open", LKS_RED},       {"refused", LKS_RED},
};

/* Good, bad and in between, by the word. */
static enum lks_colour colour_of(struct lks_str word)
{
    return (enum lks_colour)lks_str_lookup(word, moods, LKS_COUNT(moods), LKS_PLAIN);
}

/* A digest is shown by its start among other members: commands take that, and JSON has all of it.
 */
static void add_value(struct lks_buf *out, const struct lks_doc *value)
{
    static const char prefix[] = "sha256:";
    enum { DIGITS = 12 };
    if (value->kind == LKS_DOC_TEXT && lks_str_starts(value->text, prefix) &&
        value->text.len == LKS_DIGEST_SIZE - 1)
        lks_buf_add(out, (struct lks_str){value->text.ptr, strlen(prefix) + DIGITS});
    else
        lks_render_value(out, value);
}

/* The members that no column names, as "key value, key value". */
static void add_rest(struct lks_buf *out, const struct lks_listing_column *columns, size_t count,
                     const struct lks_doc *item)
{
    for (const struct lks_doc *i = item->first; i != NULL; i = i->next) {
        bool shown = false;
        for (size_t c = 0; !shown && c < count; c++)
            shown = lks_str_is(i->key, columns[c].key);
        if (shown)
            continue;
        lks_buf_addf(out, "%s%" LKS_STR_FMT " ", out->len > 0 ? ", " : "", LKS_STR_ARG(i->key));
        add_value(out, i);
    }
}

static void put_cell(struct lks_buf *text, const struct lks_listing_column *columns, size_t count,
                     size_t i, const struct lks_doc *item)
{
    const char *key = columns[i].key;
    if (strcmp(key, "*") == 0)
        add_rest(text, columns, count, item);
    else if (strchr(key, '{') != NULL)
        lks_render(text, key, &(struct lks_render){.doc = item, .mode = LKS_RENDER_RAW});
    else
        lks_render_value(text, lks_render_find(item, lks_str_from(key)));
}

/* A row of the columns for `item`; which of them have something in it is added to `filled`. */
static void add_row(struct lks_table *t, const struct lks_listing_column *columns, size_t count,
                    const struct lks_doc *item, bool *filled)
{
    for (size_t i = 0; i < count; i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF((size_t)LKS_OUTPUT_CELL_MAX * 16);
        put_cell(&text, columns, count, i, item);
        struct lks_str value = lks_buf_view(&text);
        lks_output_cell(t,
                        columns[i].colour != NULL
                            ? lks_render_colour(columns[i].colour, item, value)
                            : colour_of(value),
                        value);
        filled[i] = filled[i] || value.len > 0;
    }
}

/* The members of `value`, each a row, by dotted names; items of a list by their number. */
static void add_rows(struct lks_table *t, struct lks_buf *name, const struct lks_doc *value)
{
    bool nested = value->kind == LKS_DOC_MAP || value->kind == LKS_DOC_LIST;
    size_t len = name->len, number = 1;
    if (!nested || value->first == NULL) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_OUTPUT_BYTES_MAX);
        lks_render_value(&text, value);
        struct lks_str shown = lks_buf_view(&text);
        lks_table_cell(t, LKS_PLAIN, lks_buf_view(name));
        lks_output_cell(t, colour_of(shown), shown);
        return;
    }
    for (const struct lks_doc *i = value->first; i != NULL; i = i->next, number++) {
        if (len > 0)
            lks_buf_addc(name, '.');
        if (value->kind == LKS_DOC_MAP)
            lks_buf_add(name, i->key);
        else
            lks_buf_addf(name, "%zu", number);
        add_rows(t, name, i);
        lks_buf_truncate(name, len);
    }
}

void lks_listing_members(struct lks_table *t, const struct lks_doc *map, const char *const *skip)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf name = LKS_BUF(LINE_MAX_BYTES);
    for (const struct lks_doc *i = map->first; i != NULL; i = i->next) {
        uint64_t ignored;
        if (lks_record_word_find(skip, i->key, &ignored))
            continue;
        lks_buf_add(&name, i->key);
        add_rows(t, &name, i);
        lks_buf_truncate(&name, 0);
    }
}

/* On a terminal, columns that say nothing leave their room to those that do. */
static void drop_empty(const struct lks_cli *cli, struct lks_table *t, const bool *filled)
{
    for (size_t i = t->column_count; cli->term.width > 0 && t->first != NULL && i-- > 1;) {
        if (!filled[i])
            lks_table_drop(t, i);
    }
}

/* A table in the making. */
struct rows {
    const struct lks_listing_column *columns;
    size_t column_count;
    struct lks_table table;
    bool filled[LKS_TABLE_COLUMNS_MAX];
    bool chosen; /* by the caller: none is dropped */
    size_t count;
};

static void rows_init(struct rows *r, const struct lks_listing_column *columns, size_t count)
{
    *r = (struct rows){.columns = columns, .column_count = count};
    lks_table_init(&r->table, ROWS_BYTES);
    for (size_t i = 0; i < count; i++)
        lks_table_column(&r->table, columns[i].header, columns[i].flags);
}

static void rows_fini(struct rows *r)
{
    lks_table_fini(&r->table);
}

static void add_item_row(struct rows *r, const struct lks_doc *item)
{
    add_row(&r->table, r->columns, r->column_count, item, r->filled);
    r->count++;
}

static enum lks_code print_rows(struct lks_cli *cli, struct rows *r, const char *empty,
                                struct lks_err *err)
{
    if (r->count == 0 && empty != NULL)
        fprintf(cli->out, "%s\n", empty);
    if (!r->chosen)
        drop_empty(cli, &r->table, r->filled);
    return lks_output_table(cli, &r->table, err);
}

/* Lists ------------------------------------------------------------------------------------- */

struct page {
    struct lks_remote remote;
    struct lks_listing_query query;
    struct rows rows;
    struct lks_buf json;
    struct lks_json_writer writer;
    size_t count;   /* rows that were wanted */
    uint64_t limit; /* of them; 0: all */
    bool as_json;   /* rows are kept as JSON: to print it, or to have all of them at once */
    struct lks_str_pair no;
    bool said_no;
};

static void page_fini(struct page *p)
{
    lks_remote_fini(&p->remote);
    rows_fini(&p->rows);
    lks_buf_fini(&p->json);
}

static enum lks_code put_item(struct lks_json_writer *w, const struct lks_doc *item,
                              struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_OUTPUT_BYTES_MAX);
    if (lks_json_canonical(item, &text, err) != LKS_OK)
        return err->code;
    lks_json_raw(w, NULL, lks_buf_view(&text));
    return LKS_OK;
}

static enum lks_code add_item(void *ctx, const struct lks_doc *item, struct lks_err *err)
{
    struct page *p = ctx;
    if (!lks_selector_wants(&p->query.selector, item))
        return LKS_OK;
    if (p->no.name != NULL && lks_str_is(lks_doc_text(item, p->no.name), p->no.value))
        p->said_no = true;
    p->remote.enough = ++p->count == p->limit;
    if (p->as_json)
        return put_item(&p->writer, item, err);
    add_item_row(&p->rows, item);
    return LKS_OK;
}

static enum lks_code write_items(struct lks_json_writer *w, const char *key,
                                 const struct lks_listing_items *items, struct lks_err *err)
{
    lks_json_begin(w, key, '[');
    for (size_t i = 0; i < items->count; i++) {
        if (put_item(w, items->items[i], err) != LKS_OK)
            return err->code;
    }
    lks_json_end(w, ']');
    return LKS_OK;
}

static enum lks_code print_items(struct lks_cli *cli, const struct lks_args *args,
                                 const struct lks_listing *listing, struct lks_listing_query *q,
                                 const struct lks_listing_items *items, struct lks_err *err)
{
    if (lks_args_has(args, "--json")) {
        LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
        if (write_items(lks_output_begin(&o), "items", items, err) != LKS_OK)
            return err->code;
        return lks_output_end(cli, &o, err);
    }
    LKS_CLEANUP(rows_fini) struct rows r = {0};
    if (q->wide)
        lks_listing_query_widen(q, items);
    rows_init(&r, q->columns, q->column_count);
    r.chosen = q->chosen;
    for (size_t i = 0; i < items->count; i++)
        add_item_row(&r, items->items[i]);
    return print_rows(cli, &r, listing->empty, err);
}

/* The rows that were kept, all at once. */
static enum lks_code print_kept(struct lks_cli *cli, const struct lks_args *args,
                                const struct lks_listing *listing, struct page *p,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    LKS_CLEANUP(lks_listing_query_items_fini) struct lks_listing_items items = {0};
    if (lks_buf_check(&p->json, err) != LKS_OK || lks_docs_init(&docs, "the list", err) != LKS_OK)
        return err->code;
    lks_docs_large(&docs);
    if (lks_json_parse(lks_buf_view(&p->json), &docs, err) != LKS_OK)
        return err->code;
    const struct lks_doc *list = lks_doc_member(docs.first, "items");
    if (lks_listing_query_items(&p->query, &list, 1, &items, err) != LKS_OK)
        return err->code;
    return print_items(cli, args, listing, &p->query, &items, err);
}

static enum lks_code fetch(struct lks_cli *cli, const struct lks_args *args,
                           const struct lks_listing *listing, const struct lks_remote_path *path,
                           struct page *p, struct lks_err *err)
{
    bool collects = lks_listing_query_collects(&p->query);
    bool filters = p->query.selector.count > 0;
    p->as_json = collects || lks_args_has(args, "--json");
    p->no = listing->no;
    p->limit = p->query.sort.len > 0 ? 0 : p->query.limit;
    rows_init(&p->rows, p->query.columns, p->query.column_count);
    p->rows.chosen = p->query.chosen;
    lks_buf_init(&p->json, LKS_OUTPUT_BYTES_MAX);
    p->writer.out = &p->json;
    lks_json_begin(&p->writer, NULL, '{');
    lks_json_begin(&p->writer, "items", '[');
    if (lks_remote_open(cli, args, &p->remote, err) != LKS_OK ||
        lks_remote_list(&p->remote, path, listing->cursor != NULL ? listing->cursor : "after",
                        filters ? 0 : p->limit, add_item, p, err) != LKS_OK)
        return err->code;
    lks_json_end(&p->writer, ']');
    lks_json_end(&p->writer, '}');
    cli->no = cli->no || p->said_no;
    return LKS_OK;
}

static enum lks_code print_pages(struct lks_cli *cli, const struct lks_args *args,
                                 const struct lks_listing *listing,
                                 const struct lks_remote_path *path, struct page *p,
                                 struct lks_err *err)
{
    if (fetch(cli, args, listing, path, p, err) != LKS_OK)
        return err->code;
    enum lks_code code = lks_listing_query_collects(&p->query)
                             ? print_kept(cli, args, listing, p, err)
                         : p->as_json ? lks_output_json(cli, &p->json, err)
                                      : print_rows(cli, &p->rows, listing->empty, err);
    if (code == LKS_OK && p->remote.more && !lks_args_has(args, "--limit") &&
        !lks_args_has(args, "--json"))
        fprintf(cli->out, "and more: --limit 0 shows all\n");
    return code;
}

enum lks_code lks_listing_print_at(struct lks_cli *cli, const struct lks_args *args,
                                   const struct lks_listing *listing,
                                   const struct lks_remote_path *path, struct lks_err *err)
{
    LKS_CLEANUP(page_fini) struct page p = {0};
    if (lks_listing_query_read(cli, args, listing, NULL, &p.query, err) != LKS_OK)
        return err->code;
    return print_pages(cli, args, listing, path, &p, err);
}

/* The items of the list at `path`, and of the lists of lists on the way. */
static void add_list(struct rows *r, const struct lks_doc *doc, struct lks_str path)
{
    struct lks_str part, rest;
    bool last = !lks_str_cut(path, '.', &part, &rest);
    const struct lks_doc *list = lks_doc_find(doc, part);
    for (const struct lks_doc *i = list != NULL ? list->first : NULL; i != NULL; i = i->next) {
        if (last)
            add_item_row(r, i);
        else
            add_list(r, i, rest);
    }
}

/* Columns for the members of the same items that have none. */
static void widen_list(struct lks_listing_query *q, const struct lks_doc *doc, struct lks_str path)
{
    struct lks_str part, rest;
    bool last = !lks_str_cut(path, '.', &part, &rest);
    const struct lks_doc *list = lks_doc_find(doc, part);
    for (const struct lks_doc *i = list != NULL ? list->first : NULL; i != NULL; i = i->next) {
        if (last)
            lks_listing_query_widen(q, &(struct lks_listing_items){&i, 1});
        else
            widen_list(q, i, rest);
    }
}

enum lks_code lks_listing_part(struct lks_cli *cli, const struct lks_listing_part *part,
                               const struct lks_doc *doc, struct lks_err *err)
{
    LKS_CLEANUP(rows_fini) struct rows r = {0};
    struct lks_listing_query query = {
        .columns = part->columns, .column_count = part->column_count, .wide = cli->wide};
    if (cli->wide)
        widen_list(&query, doc, lks_str_from(part->path));
    rows_init(&r, query.columns, query.column_count);
    add_list(&r, doc, lks_str_from(part->path));
    if (r.count > 0 && part->title != NULL)
        lks_render_print(cli->out, part->title, doc);
    if (!part->whole)
        drop_empty(cli, &r.table, r.filled);
    return lks_output_table(cli, &r.table, err);
}

static void add_fact(struct rows *r, const struct lks_listing_fact *fact, const struct lks_doc *doc)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf what = LKS_BUF(LINE_MAX_BYTES);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_OUTPUT_BYTES_MAX);
    lks_render(&what, fact->what, &(struct lks_render){.doc = doc});
    lks_render(&text, fact->form, &(struct lks_render){.doc = doc});
    if (text.len == 0)
        return;
    lks_table_cell(&r->table, LKS_PLAIN, lks_buf_view(&what));
    lks_output_cell(&r->table, LKS_PLAIN, lks_buf_view(&text));
}

static const struct lks_listing_column fact_columns[] = {LKS_LEFT("what", ""),
                                                         LKS_WRAP("value", "")};

enum lks_code lks_listing_facts(struct lks_cli *cli, const struct lks_listing_fact *facts,
                                size_t count, const struct lks_doc *doc, struct lks_err *err)
{
    LKS_CLEANUP(rows_fini) struct rows r = {0};
    rows_init(&r, fact_columns, LKS_COUNT(fact_columns));
    for (size_t i = 0; i < count; i++) {
        const struct lks_doc *list =
            facts[i].each != NULL ? lks_doc_member(doc, facts[i].each) : NULL;
        if (facts[i].each == NULL)
            add_fact(&r, &facts[i], doc);
        for (const struct lks_doc *k = list != NULL ? list->first : NULL; k != NULL; k = k->next)
            add_fact(&r, &facts[i], k);
    }
    return lks_output_table(cli, &r.table, err);
}

/* An answer with lists of which only some rows are wanted. */
static enum lks_code print_some(struct lks_cli *cli, const struct lks_listing *listing,
                                const struct lks_listing_query *query, const struct lks_doc *doc,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    struct lks_json_writer *w = lks_output_begin(&o);
    for (const struct lks_doc *m = doc->first; m != NULL; m = m->next) {
        LKS_CLEANUP(lks_listing_query_items_fini) struct lks_listing_items items = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_OUTPUT_BYTES_MAX);
        char key[LKS_LISTING_NAME_SIZE];
        uint64_t ignored;
        bool list = lks_record_word_find(listing->members, m->key, &ignored);
        snprintf(key, sizeof(key), "%" LKS_STR_FMT, LKS_STR_ARG(m->key));
        if (list ? lks_listing_query_items(query, &m, 1, &items, err) != LKS_OK ||
                       write_items(w, key, &items, err) != LKS_OK
                 : lks_json_canonical(m, &text, err) != LKS_OK)
            return err->code;
        if (!list)
            lks_json_raw(w, key, lks_buf_view(&text));
    }
    return lks_output_end(cli, &o, err);
}

/* The lists of the document, as one table. */
static enum lks_code print_lists(struct lks_cli *cli, const struct lks_args *args,
                                 const struct lks_listing *listing, struct lks_listing_query *query,
                                 const struct lks_doc *doc, struct lks_err *err)
{
    enum { LISTS_MAX = 8 };
    const struct lks_doc *lists[LISTS_MAX];
    size_t count = 0;
    LKS_CLEANUP(lks_listing_query_items_fini) struct lks_listing_items items = {0};
    for (; listing->members[count] != NULL; count++) {
        LKS_ASSERT(count < LISTS_MAX);
        lists[count] = lks_doc_member(doc, listing->members[count]);
    }
    if (lks_listing_query_items(query, lists, count, &items, err) != LKS_OK)
        return err->code;
    return print_items(cli, args, listing, query, &items, err);
}

enum lks_code lks_listing_print_doc(struct lks_cli *cli, const struct lks_args *args,
                                    const struct lks_listing *listing, const struct lks_doc *doc,
                                    struct lks_err *err)
{
    struct lks_listing_query query;
    if (lks_listing_query_read(cli, args, listing, NULL, &query, err) != LKS_OK)
        return err->code;
    return lks_args_has(args, "--json") ? print_some(cli, listing, &query, doc, err)
                                        : print_lists(cli, args, listing, &query, doc, err);
}

/* The lists of an answer that is one page. */
static enum lks_code print_members(struct lks_cli *cli, const struct lks_args *args,
                                   const struct lks_listing *listing, struct lks_question *q,
                                   struct lks_err *err)
{
    struct lks_listing_query query;
    if (lks_listing_query_read(cli, args, listing, NULL, &query, err) != LKS_OK ||
        lks_remote_question_ask(cli, args, q, err) != LKS_OK)
        return err->code;
    bool all = query.selector.count == 0 && query.sort.len == 0 && query.limit == 0;
    if (!lks_args_has(args, "--json"))
        return print_lists(cli, args, listing, &query, q->answer.doc, err);
    return all ? lks_listing_thing(cli, args, &q->answer, err)
               : print_some(cli, listing, &query, q->answer.doc, err);
}

enum lks_code lks_listing_print(struct lks_cli *cli, const struct lks_args *args,
                                const struct lks_listing *listing, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    LKS_CLEANUP(page_fini) struct page p = {0};
    lks_remote_question_init(&q, "GET", listing->path);
    if (listing->part != NULL) {
        lks_remote_path_add(&q.path, lks_str_from(args->positional[0]));
        lks_remote_path_add(&q.path, lks_str_from(listing->part));
    }
    lks_remote_path_options(&q.path, args, listing->filters);
    if (listing->open_only && !lks_args_has(args, "--all"))
        lks_remote_path_query(&q.path, "open", LKS_STR("true"));
    if (listing->members != NULL)
        return print_members(cli, args, listing, &q, err);
    if (lks_listing_query_read(cli, args, listing, &q.path, &p.query, err) != LKS_OK)
        return err->code;
    return print_pages(cli, args, listing, &q.path, &p, err);
}

/* Things ------------------------------------------------------------------------------------ */

static enum lks_code print_raw(struct lks_cli *cli, const struct lks_remote_answer *answer,
                               struct lks_err *err)
{
    struct lks_str body = lks_buf_view(&answer->http.body);
    if (lks_remote_object(answer, err) != LKS_OK || lks_output_bytes(cli, body, err) != LKS_OK)
        return err->code;
    fputc('\n', cli->out);
    return LKS_OK;
}

enum lks_code lks_listing_thing(struct lks_cli *cli, const struct lks_args *args,
                                const struct lks_remote_answer *answer, struct lks_err *err)
{
    if (lks_args_has(args, "--json"))
        return print_raw(cli, answer, err);
    LKS_CLEANUP(lks_table_fini) struct lks_table table = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf name = LKS_BUF(LINE_MAX_BYTES);
    lks_table_init(&table, ROWS_BYTES);
    lks_table_column(&table, "what", 0);
    lks_table_column(&table, "value", LKS_COLUMN_WRAP);
    if (lks_remote_object(answer, err) != LKS_OK)
        return err->code;
    add_rows(&table, &name, answer->doc);
    return lks_output_table(cli, &table, err);
}

/* What the answer warns of, a line each. */
static void print_warnings(struct lks_cli *cli, const struct lks_remote_answer *answer)
{
    const struct lks_doc *list =
        answer->doc != NULL ? lks_doc_member(answer->doc, "warnings") : NULL;
    for (const struct lks_doc *text = list != NULL ? list->first : NULL; text != NULL;
         text = text->next) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf clean = LKS_BUF(DONE_MAX_BYTES);
        lks_term_clean(&clean, text->text);
        if (text->kind == LKS_DOC_TEXT)
            fprintf(cli->out, "warning: %" LKS_STR_FMT "\n", LKS_STR_ARG(lks_buf_view(&clean)));
    }
}

enum lks_code lks_listing_done(struct lks_cli *cli, const struct lks_args *args,
                               const struct lks_remote_answer *answer, struct lks_err *err,
                               const char *fmt, ...)
{
    if (lks_args_has(args, "--json"))
        return print_raw(cli, answer, err);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = {0}, clean = {0};
    va_list ap;
    lks_buf_init(&line, DONE_MAX_BYTES);
    lks_buf_init(&clean, DONE_MAX_BYTES);
    va_start(ap, fmt);
    lks_buf_addv(&line, fmt, ap);
    va_end(ap);
    lks_term_clean(&clean, lks_buf_view(&line));
    if (lks_buf_check(&line, err) != LKS_OK || lks_buf_check(&clean, err) != LKS_OK)
        return err->code;
    fprintf(cli->out, "%" LKS_STR_FMT "\n", LKS_STR_ARG(lks_buf_view(&clean)));
    print_warnings(cli, answer);
    return LKS_OK;
}

/* Options ----------------------------------------------------------------------------------- */

enum lks_code lks_listing_number(const struct lks_args *args, const char *option, uint64_t most,
                                 uint64_t fallback, uint64_t *out, struct lks_err *err)
{
    const char *text = lks_args_get(args, option);
    uint64_t value = fallback;
    if (text != NULL && (!lks_str_number(lks_str_from(text), most, &value) || value == 0))
        return lks_fail(err, LKS_E_USAGE, "%s: '%s' is not a number from 1 to %" PRIu64, option,
                        text, most);
    *out = value;
    return LKS_OK;
}

enum lks_code lks_listing_span(const struct lks_args *args, const char *option, uint64_t *seconds,
                               struct lks_err *err)
{
    struct lks_str text = lks_args_str(args, option);
    lks_ms span = 0;
    if (text.len == 0)
        return LKS_OK;
    if (lks_time_span_parse(text, &span)) {
        *seconds = span / LKS_SECOND;
        return LKS_OK;
    }
    return lks_fail(err, LKS_E_USAGE, "%s: '%" LKS_STR_FMT "' is not a span such as 30m, 24h or 7d",
                    option, LKS_STR_ARG(text));
}

static enum lks_code read_moment(const struct lks_cli *cli, struct lks_str text, bool ahead,
                                 lks_ms *out, struct lks_err *err)
{
    struct lks_moment_of of = {
        .now = (lks_ms)cli->now * LKS_SECOND + cli->now_ms,
        .zone = &cli->zone.tz,
        .ahead = ahead,
    };
    struct lks_err why = {0};
    if (lks_moment_parse(text, &of, out, &why) == LKS_OK)
        return LKS_OK;
    return lks_fail(err, LKS_E_USAGE, "%s", why.msg);
}

enum lks_code lks_listing_moment_of(const struct lks_cli *cli, struct lks_str text, lks_ms *out,
                                    struct lks_err *err)
{
    return read_moment(cli, text, false, out, err);
}

enum lks_code lks_listing_moment(const struct lks_cli *cli, const struct lks_args *args,
                                 const char *option, lks_ms *out, struct lks_err *err)
{
    if (!lks_args_has(args, option) ||
        read_moment(cli, lks_args_str(args, option), false, out, err) == LKS_OK)
        return LKS_OK;
    return lks_wrap(err, "%s", option);
}

enum lks_code lks_listing_until(const struct lks_cli *cli, const struct lks_args *args,
                                const char *option, char out[LKS_TIME_TEXT_SIZE],
                                struct lks_err *err)
{
    struct lks_str text = lks_args_str(args, option);
    lks_ms at = 0;
    out[0] = '\0';
    if (text.len == 0)
        return LKS_OK;
    if (read_moment(cli, text, true, &at, err) != LKS_OK)
        return lks_wrap(err, "%s", option);
    (void)lks_time_text(at, out);
    return LKS_OK;
}

enum lks_code lks_listing_need(const struct lks_args *args, const char *option, const char *why,
                               struct lks_err *err)
{
    if (lks_args_str(args, option).len > 0)
        return LKS_OK;
    return lks_fail(err, LKS_E_USAGE, "%s has to say %s", option, why);
}
