/* journal at: nodes as they were, from a data directory without lockstepd, or from lockstepd. */
#include "cli/control/cmd_journal.h"
#include "cli/shared/ask.h"
#include "cli/shared/commands.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"
#include "cli/shared/render.h"
#include "codec/notation/hostlist.h"
#include "codec/time/moment.h"
#include "engine/journal.h"

#include <inttypes.h>
#include <string.h>

enum { FORM_MAX = 128 };

struct question {
    struct lks_past past;
    struct lks_hostlist nodes;
    struct lks_arena arena; /* of their names */
};

static void question_fini(struct question *q)
{
    lks_arena_fini(&q->arena);
}

/* The past has an end: a later time would show the present under another header. */
static enum lks_code read_time(const struct lks_cli *cli, struct lks_str text, lks_ms *out,
                               struct lks_err *err)
{
    if (lks_listing_moment_of(cli, text, out, err) != LKS_OK)
        return err->code;
    if (*out <= (lks_ms)cli->now * LKS_SECOND + cli->now_ms)
        return LKS_OK;
    if (strspn(text.ptr, "0123456789:") == text.len)
        return lks_fail(err, LKS_E_USAGE,
                        "%" LKS_STR_FMT " is in the future; write 'yesterday %" LKS_STR_FMT
                        "' or a full date, such as '2026-11-15 03:37'",
                        LKS_STR_ARG(text), LKS_STR_ARG(text));
    return lks_fail(err, LKS_E_USAGE, "%" LKS_STR_FMT " is in the future; write %s",
                    LKS_STR_ARG(text), LKS_MOMENT_FORMS);
}

static enum lks_code read_question(struct lks_cli *cli, const struct lks_args *args,
                                   struct question *q, struct lks_err *err)
{
    if (read_time(cli, lks_str_from(args->positional[0]), &q->past.at, err) != LKS_OK)
        return err->code;
    q->past.pool = lks_args_str(args, "--pool");
    if (lks_hostlist_parse(lks_args_str(args, "--node"), &q->arena, &q->nodes, err) != LKS_OK)
        return lks_wrap(err, "--node");
    if ((q->nodes.count > 0) == (q->past.pool.len > 0))
        return lks_fail(err, LKS_E_USAGE,
                        "journal at: --node has to name nodes, such as 'gpu[001-064]', or --pool "
                        "a pool");
    q->past.names = q->nodes.names;
    q->past.count = q->nodes.count;
    q->past.readings = q->nodes.count == 1 || lks_args_has(args, "--readings");
    return LKS_OK;
}

static enum lks_code ask_directory(const struct lks_args *args, const struct question *q,
                                   struct lks_buf *json, struct lks_err *err)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    const char *place = args->positional[1];
    struct lks_public_key key;
    bool has_key = false;
    if (lks_remote_unused(args, err) != LKS_OK ||
        lks_journal_read_key(args, place, &key, &has_key, err) != LKS_OK ||
        lks_controller_journal(place, LKS_STORE_READ, &store, err) != LKS_OK)
        return err->code;
    return lks_journal_past(&store, has_key ? &key : NULL, &q->past, json, err);
}

static enum lks_code ask_lockstepd(struct lks_cli *cli, const struct lks_args *args,
                                   const struct question *ask, struct lks_buf *json,
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    char time[LKS_TIME_TEXT_SIZE], path[FORM_MAX];
    snprintf(path, sizeof(path), "/v1/journal/at?time=%s[&nodes={--node}|&pool={--pool}]%s",
             lks_time_text(ask->past.at, time), ask->past.readings ? "&readings=true" : "");
    if (lks_ask_get(cli, args, path, NULL, &q, err) != LKS_OK)
        return err->code;
    lks_buf_add(json, lks_buf_view(&q.answer.http.body));
    return lks_buf_check(json, err);
}

/* For people ---------------------------------------------------------------------------------- */

static void print_moment(struct lks_cli *cli, const struct lks_past *past,
                         const struct lks_doc *answer)
{
    char time[LKS_TIME_TEXT_SIZE], local[LKS_MOMENT_TEXT_SIZE];
    fprintf(cli->out, "%s (%s, %s), row %" PRIu64 "\n", lks_time_text(past->at, time),
            lks_moment_text(past->at, &cli->zone.tz, local), lks_zone_name(&cli->zone),
            lks_render_number(answer, "seq"));
}

/* [name, part, value] */
static void add_reading(struct lks_table *table, const struct lks_doc *reading)
{
    if (reading->kind != LKS_DOC_LIST || reading->count != 3)
        return;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf what = LKS_BUF(LKS_OUTPUT_CELL_MAX);
    struct lks_str part = reading->first->next->text;
    lks_buf_add(&what, reading->first->text);
    if (part.len > 0)
        lks_buf_addf(&what, "[%" LKS_STR_FMT "]", LKS_STR_ARG(part));
    lks_output_cell(table, LKS_PLAIN, lks_buf_view(&what));
    lks_output_cell(table, LKS_PLAIN, reading->last->text);
}

/* Members as lines, and readings behind them. */
static enum lks_code print_node(struct lks_cli *cli, const struct lks_doc *node,
                                struct lks_err *err)
{
    static const char *const skip[] = {"name", "time", "seq", "readings", NULL};
    LKS_CLEANUP(lks_table_fini) struct lks_table table = {0};
    lks_table_init(&table, LKS_OUTPUT_BYTES_MAX);
    lks_table_column(&table, "what", 0);
    lks_table_column(&table, "value", LKS_COLUMN_WRAP);
    lks_listing_members(&table, node, skip);
    const struct lks_doc *readings = lks_doc_member(node, "readings");
    for (const struct lks_doc *i = readings != NULL ? readings->first : NULL; i != NULL;
         i = i->next)
        add_reading(&table, i);
    return lks_output_table(cli, &table, err);
}

static const struct lks_listing_column columns[] = {
    LKS_LEFT("node", "node"),      LKS_LEFT("liveness", "liveness"),
    LKS_LEFT("judged", "judged"),  LKS_LEFT("stack", "stack"),
    LKS_RIGHT("change", "change"), LKS_WRAP("first that differs", "first"),
};

static const struct lks_listing_part nodes = {"items", LKS_PART_COLUMNS(columns), NULL, false};

/* Of one node that was asked for by its name, programs get the node itself. */
static enum lks_code print_json(struct lks_cli *cli, const struct lks_doc *node,
                                struct lks_buf *json, struct lks_err *err)
{
    if (node != NULL) {
        lks_buf_truncate(json, 0);
        if (lks_json_canonical(node, json, err) != LKS_OK)
            return err->code;
    }
    return lks_output_json(cli, json, err);
}

enum lks_code lks_cmd_journal_at(struct lks_cli *cli, const struct lks_args *args,
                                 struct lks_err *err)
{
    LKS_CLEANUP(question_fini) struct question q = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(LKS_OUTPUT_BYTES_MAX);
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    lks_arena_init(&q.arena, (size_t)256 << 20);
    if (read_question(cli, args, &q, err) != LKS_OK)
        return err->code;
    enum lks_code code = args->positional_count > 1 ? ask_directory(args, &q, &json, err)
                                                    : ask_lockstepd(cli, args, &q, &json, err);
    if (code != LKS_OK || lks_docs_init(&docs, "answer", err) != LKS_OK ||
        lks_json_parse(lks_buf_view(&json), &docs, err) != LKS_OK)
        return err->code;
    const struct lks_doc *items = lks_doc_member(docs.first, "items");
    const struct lks_doc *node = q.nodes.count == 1 && items != NULL ? items->first : NULL;
    if (lks_args_has(args, "--json"))
        return print_json(cli, node, &json, err);
    print_moment(cli, &q.past, docs.first);
    if (node != NULL)
        return print_node(cli, node, err);
    lks_render_print(cli->out, "[{items!}no nodes then\n]", docs.first);
    return lks_listing_part(cli, &nodes, docs.first, err);
}
