#include "cli/shared/listing.h"

#include "cli/shared/output.h"
#include "codec/format/json.h"
#include "codec/time/moment.h"
#include "model/record/record.h"

#include <inttypes.h>
#include <stdarg.h>

enum {
    ROWS_BYTES = 256 << 20,
    LINE_MAX_BYTES = 4096,
    LIMIT_MAX = 1000000, /* of --limit */
    LISTS_MAX = 4,       /* that one table shows */
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

/* The member at a dotted path; NULL where there is none. */
static const struct lks_doc *find(const struct lks_doc *item, const char *key)
{
    struct lks_str rest = lks_str_from(key), part;
    while (item != NULL && rest.len > 0) {
        lks_str_cut(rest, '.', &part, &rest);
        item = lks_doc_find(item, part);
    }
    return item;
}

/* A scalar as people read it; lists joined, an empty text for nothing. */
static void add_value(struct lks_buf *out, const struct lks_doc *value)
{
    if (value == NULL || value->kind == LKS_DOC_NULL)
        return;
    switch (value->kind) {
    case LKS_DOC_BOOL:
        lks_buf_add(out, value->truth ? LKS_STR("yes") : LKS_STR("no"));
        break;
    case LKS_DOC_NUMBER:
        lks_buf_addf(out, "%" PRId64, value->number);
        break;
    case LKS_DOC_TEXT:
        lks_buf_add(out, value->text);
        break;
    case LKS_DOC_LIST:
    case LKS_DOC_MAP:
        for (const struct lks_doc *i = value->first; i != NULL; i = i->next) {
            if (i != value->first)
                lks_buf_add(out, LKS_STR(", "));
            if (value->kind == LKS_DOC_MAP)
                lks_buf_addf(out, "%" LKS_STR_FMT " ", LKS_STR_ARG(i->key));
            add_value(out, i);
        }
        break;
    case LKS_DOC_NULL:
        break;
    }
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

/* A row of the columns for `item`; which of them have something in it is added to `filled`. */
static void add_row(struct lks_table *t, const struct lks_listing_column *columns, size_t count,
                    const struct lks_doc *item, bool *filled)
{
    for (size_t i = 0; i < count; i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF((size_t)LKS_OUTPUT_CELL_MAX * 16);
        if (strcmp(columns[i].key, "*") == 0)
            add_rest(&text, columns, count, item);
        else
            add_value(&text, find(item, columns[i].key));
        struct lks_str value = lks_buf_view(&text);
        lks_output_cell(t, colour_of(value), value);
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
        add_value(&text, value);
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

/* Lists ------------------------------------------------------------------------------------- */

struct page {
    const struct lks_listing *listing;
    struct lks_table table;
    struct lks_buf json;
    struct lks_json_writer writer;
    bool as_json;
    bool filled[LKS_TABLE_COLUMNS_MAX];
    size_t count;
};

static void page_fini(struct page *p)
{
    lks_table_fini(&p->table);
    lks_buf_fini(&p->json);
}

static enum lks_code add_item(void *ctx, const struct lks_doc *item, struct lks_err *err)
{
    struct page *p = ctx;
    p->count++;
    if (!p->as_json) {
        add_row(&p->table, p->listing->columns, p->listing->column_count, item, p->filled);
        return LKS_OK;
    }
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_OUTPUT_BYTES_MAX);
    if (lks_json_canonical(item, &text, err) != LKS_OK)
        return err->code;
    lks_json_raw(&p->writer, NULL, lks_buf_view(&text));
    return LKS_OK;
}

enum lks_code lks_listing_print_at(struct lks_cli *cli, const struct lks_args *args,
                                   const struct lks_listing *listing,
                                   const struct lks_remote_path *path, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_fini) struct lks_remote remote = {0};
    uint64_t limit = 0;
    if (lks_listing_number(args, "--limit", LIMIT_MAX, listing->limit, &limit, err) != LKS_OK)
        return err->code;
    LKS_CLEANUP(page_fini) struct page p = {.listing = listing};
    p.as_json = lks_args_has(args, "--json");
    lks_table_init(&p.table, ROWS_BYTES);
    for (size_t i = 0; i < listing->column_count; i++)
        lks_table_column(&p.table, listing->columns[i].header, listing->columns[i].flags);
    lks_buf_init(&p.json, LKS_OUTPUT_BYTES_MAX);
    p.writer.out = &p.json;
    lks_json_begin(&p.writer, NULL, '{');
    lks_json_begin(&p.writer, "items", '[');
    if (lks_remote_open(cli, args, &remote, err) != LKS_OK ||
        lks_remote_list(&remote, path, listing->cursor != NULL ? listing->cursor : "after", limit,
                        add_item, &p, err) != LKS_OK)
        return err->code;
    lks_json_end(&p.writer, ']');
    lks_json_end(&p.writer, '}');
    if (p.as_json)
        return lks_output_json(cli, &p.json, err);
    if (p.count == 0)
        fprintf(cli->out, "%s\n", listing->empty);
    drop_empty(cli, &p.table, p.filled);
    return lks_output_table(cli, &p.table, err);
}

/* The lists of an answer that is one page, as one table. */
static enum lks_code print_members(struct lks_cli *cli, const struct lks_args *args,
                                   const struct lks_listing *listing, struct lks_question *q,
                                   struct lks_err *err)
{
    const struct lks_doc *lists[LISTS_MAX] = {0};
    size_t count = 0, items = 0;
    if (lks_remote_question_ask(cli, args, q, err) != LKS_OK)
        return err->code;
    if (lks_args_has(args, "--json"))
        return lks_listing_thing(cli, args, &q->answer, err);
    for (; count < LISTS_MAX && listing->members[count] != NULL; count++) {
        lists[count] = lks_doc_member(q->answer.doc, listing->members[count]);
        items += lists[count] != NULL ? lists[count]->count : 0;
    }
    if (items == 0 && listing->empty != NULL)
        fprintf(cli->out, "%s\n", listing->empty);
    return lks_listing_table(cli, listing->columns, listing->column_count, lists, count, err);
}

enum lks_code lks_listing_print(struct lks_cli *cli, const struct lks_args *args,
                                const struct lks_listing *listing, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
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
    return lks_listing_print_at(cli, args, listing, &q.path, err);
}

/* Things ------------------------------------------------------------------------------------ */

static enum lks_code print_raw(struct lks_cli *cli, const struct lks_remote_answer *answer)
{
    struct lks_str body = lks_buf_view(&answer->http.body);
    fwrite(body.ptr, 1, body.len, cli->out);
    fputc('\n', cli->out);
    return LKS_OK;
}

enum lks_code lks_listing_thing(struct lks_cli *cli, const struct lks_args *args,
                                const struct lks_remote_answer *answer, struct lks_err *err)
{
    if (lks_args_has(args, "--json"))
        return print_raw(cli, answer);
    LKS_CLEANUP(lks_table_fini) struct lks_table table = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf name = LKS_BUF(LINE_MAX_BYTES);
    lks_table_init(&table, ROWS_BYTES);
    lks_table_column(&table, "what", 0);
    lks_table_column(&table, "value", LKS_COLUMN_WRAP);
    if (answer->doc != NULL)
        add_rows(&table, &name, answer->doc);
    return lks_output_table(cli, &table, err);
}

/* What the answer warns of, a line each. */
static enum lks_code print_warnings(struct lks_cli *cli, const struct lks_remote_answer *answer,
                                    struct lks_err *err)
{
    const struct lks_doc *list =
        answer->doc != NULL ? lks_doc_member(answer->doc, "warnings") : NULL;
    for (const struct lks_doc *text = list != NULL ? list->first : NULL; text != NULL;
         text = text->next) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf clean = LKS_BUF((size_t)2 * LINE_MAX_BYTES);
        lks_term_clean(&clean, text->text);
        if (lks_buf_check(&clean, err) != LKS_OK)
            return err->code;
        fprintf(cli->out, "warning: %s\n", clean.ptr);
    }
    return LKS_OK;
}

enum lks_code lks_listing_done(struct lks_cli *cli, const struct lks_args *args,
                               const struct lks_remote_answer *answer, struct lks_err *err,
                               const char *fmt, ...)
{
    if (lks_args_has(args, "--json"))
        return print_raw(cli, answer);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = {0}, clean = {0};
    va_list ap;
    lks_buf_init(&line, LINE_MAX_BYTES);
    lks_buf_init(&clean, (size_t)2 * LINE_MAX_BYTES);
    va_start(ap, fmt);
    lks_buf_addv(&line, fmt, ap);
    va_end(ap);
    lks_term_clean(&clean, lks_buf_view(&line));
    if (lks_buf_check(&line, err) != LKS_OK || lks_buf_check(&clean, err) != LKS_OK)
        return err->code;
    fprintf(cli->out, "%s\n", clean.ptr);
    return print_warnings(cli, answer, err);
}

enum lks_code lks_listing_token(struct lks_cli *cli, const struct lks_args *args,
                                struct lks_question *q, struct lks_err *err)
{
    uint64_t seconds = 0;
    if (lks_listing_span(args, "--ttl", &seconds, err) != LKS_OK)
        return err->code;
    if (seconds > 0)
        lks_json_int(&q->w, "ttl_seconds", (int64_t)seconds);
    lks_json_end(&q->w, '}');
    if (lks_remote_question_ask(cli, args, q, err) != LKS_OK)
        return err->code;
    struct lks_str token = lks_doc_text(q->answer.doc, "token");
    return lks_listing_done(cli, args, &q->answer, err, "%" LKS_STR_FMT, LKS_STR_ARG(token));
}

enum lks_code lks_listing_table(struct lks_cli *cli, const struct lks_listing_column *columns,
                                size_t count, const struct lks_doc *const *lists, size_t list_count,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_table_fini) struct lks_table table = {0};
    bool filled[LKS_TABLE_COLUMNS_MAX] = {0};
    lks_table_init(&table, ROWS_BYTES);
    for (size_t i = 0; i < count; i++)
        lks_table_column(&table, columns[i].header, columns[i].flags);
    for (size_t l = 0; l < list_count; l++) {
        for (const struct lks_doc *i = lists[l] != NULL ? lists[l]->first : NULL; i != NULL;
             i = i->next)
            add_row(&table, columns, count, i, filled);
    }
    drop_empty(cli, &table, filled);
    return lks_output_table(cli, &table, err);
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

const char *lks_listing_size(const struct lks_doc *answer, char out[LKS_LISTING_SIZE])
{
    const struct lks_doc *nodes = lks_doc_member(answer, "nodes");
    const struct lks_doc *gpus = lks_doc_member(answer, "gpus");
    char many[LKS_COUNT_TEXT_SIZE], cards[LKS_COUNT_TEXT_SIZE];
    out[0] = '\0';
    if (nodes != NULL && gpus != NULL && nodes->number > 0 && gpus->number >= 0)
        snprintf(out, LKS_LISTING_SIZE, ": %s, %s",
                 lks_str_count_text((uint64_t)nodes->number, "node", many),
                 lks_str_count_text((uint64_t)gpus->number, "GPU", cards));
    return out;
}
