/* journal verify, export, at, repair: without lockstepd, on its data directory. */
#include "base/time.h"
#include "cli/commands.h"
#include "cli/controller.h"
#include "cli/output.h"
#include "cli/witness.h"
#include "codec/json.h"
#include "engine/journal.h"

#include <inttypes.h>
#include <unistd.h>

enum { ROW_MAX = 32 << 20 };

/* The key that --key names, or journal.pub beside the journal; none is an answer too. */
static enum lks_code read_key(const struct lks_args *args, const char *place,
                              struct lks_public_key *out, bool *found, struct lks_err *err)
{
    char path[PATH_MAX];
    const char *given = lks_args_get(args, "--key");
    if (lks_controller_path(path, place, "journal.pub", err) != LKS_OK)
        return err->code;
    *found = given != NULL || access(path, R_OK) == 0;
    if (*found && lks_controller_public_key(given != NULL ? given : path, out, err) != LKS_OK)
        return lks_wrap(err, "the journal's key");
    return LKS_OK;
}

/* verify ------------------------------------------------------------------------------------ */

static void verify_json(const struct lks_verify *v, bool key, struct lks_buf *json)
{
    struct lks_json_writer w = {.out = json};
    lks_json_begin(&w, NULL, '{');
    lks_json_bool(&w, "good", v->fault == LKS_FAULT_NONE);
    if (v->fault != LKS_FAULT_NONE) {
        lks_json_cstr(&w, "fault", lks_fault_words[v->fault]);
        lks_json_int(&w, "at", (int64_t)v->at);
        lks_json_cstr(&w, "text", v->text);
    }
    lks_json_int(&w, "first", (int64_t)v->first);
    lks_json_int(&w, "last", (int64_t)v->last);
    lks_json_int(&w, "rows", (int64_t)v->rows);
    lks_json_int(&w, "heads", (int64_t)v->heads);
    lks_json_int(&w, "witnesses", (int64_t)v->witnesses);
    lks_json_int(&w, "blobs", (int64_t)v->blobs);
    lks_json_int(&w, "unsigned", (int64_t)v->unsigned_rows);
    lks_json_bool(&w, "signatures_checked", key);
    lks_json_end(&w, '}');
}

static void verify_text(struct lks_cli *cli, const struct lks_verify *v, bool key)
{
    if (v->fault != LKS_FAULT_NONE) {
        fprintf(cli->out, "%s%s%s at row %" PRIu64 ": %s\n", lks_term_on(&cli->term, LKS_RED),
                lks_fault_words[v->fault], lks_term_off(&cli->term, LKS_RED), v->at, v->text);
        return;
    }
    fprintf(cli->out,
            "%sgood%s: rows %" PRIu64 " to %" PRIu64 ", %" PRIu64 " signed heads, %" PRIu64
            " witnessed, %" PRIu64 " reports and manifests\n",
            lks_term_on(&cli->term, LKS_GREEN), lks_term_off(&cli->term, LKS_GREEN), v->first,
            v->last, v->heads, v->witnesses, v->blobs);
    if (v->unsigned_rows > 0)
        fprintf(cli->out, "%" PRIu64 " rows at the end have no signed head yet\n",
                v->unsigned_rows);
    if (!key)
        fprintf(cli->out, "signatures were not checked: no journal.pub here and no --key\n");
}

enum lks_code lks_cmd_journal_verify(struct lks_cli *cli, const struct lks_args *args,
                                     struct lks_err *err)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    LKS_CLEANUP(lks_witnesses_fini) struct lks_witnesses witnesses = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = {0};
    struct lks_public_key key;
    struct lks_verify v = {0};
    bool has_key;
    const char *place = args->positional[0];
    if (read_key(args, place, &key, &has_key, err) != LKS_OK ||
        lks_witnesses_read(lks_args_get(args, "--witness"), &witnesses, err) != LKS_OK ||
        lks_controller_journal(place, LKS_STORE_READ, &store, err) != LKS_OK)
        return err->code;
    struct lks_verify_options options = {
        .key = has_key ? &key : NULL,
        .witnesses = witnesses.heads,
        .witness_count = witnesses.count,
    };
    if (lks_journal_verify(&store, &options, &v, err) != LKS_OK)
        return err->code;
    cli->no = v.fault != LKS_FAULT_NONE;
    if (!lks_args_has(args, "--json")) {
        verify_text(cli, &v, has_key);
        return LKS_OK;
    }
    lks_buf_init(&json, LKS_OUTPUT_BYTES_MAX);
    verify_json(&v, has_key, &json);
    return lks_output_json(cli, &json, err);
}

/* export ------------------------------------------------------------------------------------ */

struct export
{
    struct lks_cli *cli;
    struct lks_str node; /* empty: all */
    struct lks_err *err;
    bool failed;
};

/* A record that we cannot read is told of and does not end the export: what follows may matter. */
static bool export_row(void *ctx, const struct lks_row *row)
{
    struct export *x = ctx;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = {0};
    struct lks_record record;
    struct lks_err err = {0};
    lks_buf_init(&json, ROW_MAX);
    if (x->node.len > 0 &&
        (lks_record_unpack(row->kind, row->version, row->body, &record, &err) != LKS_OK ||
         !lks_record_about(&record, x->node)))
        return true;
    if (lks_journal_json(row, &json, &err) != LKS_OK || lks_buf_check(&json, &err) != LKS_OK) {
        x->failed = lks_wrap(&err, "row %" PRIu64, row->seq) != LKS_OK;
        *x->err = err;
        return false;
    }
    fprintf(x->cli->out, "%s\n", json.ptr);
    return ferror(x->cli->out) == 0;
}

enum lks_code lks_cmd_journal_export(struct lks_cli *cli, const struct lks_args *args,
                                     struct lks_err *err)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    struct export x = {.cli = cli, .node = lks_args_str(args, "--node"), .err = err};
    uint64_t from = 1;
    const char *text = lks_args_get(args, "--from");
    if (text != NULL && !lks_str_number(lks_str_from(text), INT64_MAX, &from))
        return lks_fail(err, LKS_E_USAGE, "--from: '%s' is not a row's number", text);
    if (lks_controller_journal(args->positional[0], LKS_STORE_READ, &store, err) != LKS_OK ||
        store.ops->rows(store.self, from, export_row, &x, err) != LKS_OK)
        return err->code;
    return x.failed ? err->code : LKS_OK;
}

/* at ---------------------------------------------------------------------------------------- */

static void node_json(const struct lks_state *s, uint32_t n, lks_ms at, struct lks_buf *json)
{
    const struct lks_node *node = &s->nodes[n];
    struct lks_json_writer w = {.out = json};
    char time[LKS_TIME_TEXT_SIZE];
    lks_json_begin(&w, NULL, '{');
    lks_json_text(&w, "node", lks_state_name(s, n));
    lks_json_cstr(&w, "time", lks_time_text(at, time));
    lks_json_int(&w, "seq", (int64_t)s->seq);
    if (node->pool != UINT32_MAX) {
        lks_output_text(&w, "pool", lks_state_text(s, s->pools[node->pool].name));
        lks_output_text(&w, "stack", lks_state_text(s, s->pools[node->pool].stack));
        lks_output_text(&w, "stack_digest", lks_state_text(s, s->pools[node->pool].stack_digest));
    }
    lks_json_cstr(&w, "liveness", lks_liveness_words[node->liveness]);
    lks_json_cstr(&w, "judged", lks_judged_words[node->judged]);
    lks_output_text(&w, "tuple", lks_state_text(s, node->tuple));
    lks_output_text(&w, "report", lks_state_text(s, node->report));
    lks_output_text(&w, "boot", lks_state_text(s, node->boot));
    lks_output_text(&w, "first", lks_state_text(s, node->first));
    lks_json_bool(&w, "intake", node->intake);
    lks_json_bool(&w, "held", node->held);
    uint32_t tuple;
    if (lks_intern_find(&s->tuples, lks_state_text(s, node->tuple), &tuple))
        lks_json_raw(&w, "readings", lks_state_text(s, s->tuple_readings[tuple]));
    lks_json_end(&w, '}');
}

/* Members of an object as lines; readings as a table of their own. */
static enum lks_code print_at(struct lks_cli *cli, struct lks_str json, struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    LKS_CLEANUP(lks_table_fini) struct lks_table table = {0};
    if (lks_docs_init(&docs, "node", err) != LKS_OK || lks_json_parse(json, &docs, err) != LKS_OK)
        return err->code;
    lks_table_init(&table, LKS_OUTPUT_BYTES_MAX);
    lks_table_column(&table, "what", 0);
    lks_table_column(&table, "value", LKS_COLUMN_WRAP);
    for (const struct lks_doc *i = docs.first->first; i != NULL; i = i->next) {
        if (i->kind == LKS_DOC_TEXT) {
            lks_table_cell(&table, LKS_PLAIN, i->key);
            lks_output_cell(&table, LKS_PLAIN, i->text);
        }
    }
    const struct lks_doc *readings = lks_doc_member(docs.first, "readings");
    for (const struct lks_doc *i = readings != NULL ? readings->first : NULL; i != NULL;
         i = i->next) {
        if (i->kind == LKS_DOC_LIST && i->count == 3) {
            lks_table_cell(&table, LKS_PLAIN, i->first->text);
            lks_output_cell(&table, LKS_PLAIN, i->last->text);
        }
    }
    return lks_output_table(cli, &table, err);
}

enum lks_code lks_cmd_journal_at(struct lks_cli *cli, const struct lks_args *args,
                                 struct lks_err *err)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    LKS_CLEANUP(lks_state_fini) struct lks_state state = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = {0};
    struct lks_public_key key;
    struct lks_store_tail tail;
    bool has_key;
    struct lks_str name = lks_args_str(args, "--node");
    lks_ms at;
    if (!lks_time_parse(lks_str_from(args->positional[0]), &at))
        return lks_fail(err, LKS_E_USAGE, "'%s' is not a time such as 2026-11-15T03:37:00Z",
                        args->positional[0]);
    if (name.len == 0)
        return lks_fail(err, LKS_E_USAGE, "journal at: --node has to name one");
    if (lks_state_init(&state, 0, err) != LKS_OK ||
        read_key(args, args->positional[1], &key, &has_key, err) != LKS_OK ||
        lks_controller_journal(args->positional[1], LKS_STORE_READ, &store, err) != LKS_OK ||
        lks_journal_fold(&store, has_key ? &key : NULL, at, &state, &tail, err) != LKS_OK)
        return err->code;
    uint32_t node = lks_state_node(&state, name);
    if (node == LKS_NO_NODE)
        return lks_fail(err, LKS_E_NOT_FOUND, "the fleet had no node '%" LKS_STR_FMT "' then",
                        LKS_STR_ARG(name));
    lks_buf_init(&json, LKS_OUTPUT_BYTES_MAX);
    node_json(&state, node, at, &json);
    if (lks_args_has(args, "--json"))
        return lks_output_json(cli, &json, err);
    return print_at(cli, lks_buf_view(&json), err);
}
