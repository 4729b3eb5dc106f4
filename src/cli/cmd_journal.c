/* journal verify, export, at: on a data directory, without lockstepd; the last two also ask it. */
#include "base/time.h"
#include "cli/commands.h"
#include "cli/controller.h"
#include "cli/output.h"
#include "cli/remote.h"
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
    if (lks_path_join(path, place, "journal.pub", err) != LKS_OK)
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
        fprintf(cli->out,
                "%" PRIu64 " rows at the end have no signed head: only --witness can tell whether "
                "they are as they were written\n",
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
    bool has_key = false;
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

static void unreadable_json(const struct lks_row *row, const struct lks_err *why,
                            struct lks_buf *json)
{
    struct lks_json_writer w = {.out = json};
    lks_buf_truncate(json, 0);
    lks_json_begin(&w, NULL, '{');
    lks_json_int(&w, "seq", (int64_t)row->seq);
    lks_json_cstr(&w, "unreadable", why->msg);
    lks_json_end(&w, '}');
}

/* A record that we cannot read is told of, whoever it is about, and does not end the export: what
 * follows may matter. The first one is what the command fails with. */
static bool export_row(void *ctx, const struct lks_row *row)
{
    struct export *x = ctx;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = {0};
    struct lks_record record;
    struct lks_err err = {0};
    lks_buf_init(&json, ROW_MAX);
    bool read = lks_record_unpack(row->kind, row->version, row->body, &record, &err) == LKS_OK;
    if (read && x->node.len > 0 && !lks_record_about(&record, x->node))
        return true;
    if (lks_journal_json(row, &json, &err) != LKS_OK) {
        if (!x->failed)
            *x->err = err;
        x->failed = true;
        unreadable_json(row, &err, &json);
    }
    fprintf(x->cli->out, "%s\n", json.ptr);
    return ferror(x->cli->out) == 0;
}

/* The number of the last of some lines of JSON, each of which begins with its own; 0 for none. */
static uint64_t last_seq(struct lks_str lines)
{
    static const char begin[] = "{\"seq\":";
    uint64_t seq = 0;
    for (struct lks_str line, rest; lines.len > 0; lines = rest) {
        lks_str_cut(lines, '\n', &line, &rest);
        if (!lks_str_starts(line, begin))
            continue;
        struct lks_str number = {line.ptr + strlen(begin), line.len - strlen(begin)};
        lks_str_cut(number, ',', &number, &line);
        (void)lks_str_number(number, UINT64_MAX, &seq);
    }
    return seq;
}

/* Page by page from lockstepd. */
static enum lks_code export_remote(struct lks_cli *cli, const struct lks_args *args, uint64_t from,
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_fini) struct lks_remote remote = {0};
    if (lks_remote_open(cli, args, &remote, err) != LKS_OK)
        return err->code;
    for (uint64_t next = from; next > 0 && ferror(cli->out) == 0;) {
        LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
        LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer answer = {0};
        char text[24];
        snprintf(text, sizeof(text), "%" PRIu64, next);
        lks_remote_path_init(&path, "/v1/journal");
        lks_remote_path_query(&path, "from", lks_str_from(text));
        if (lks_remote_call(&remote, "GET", &path, NULL, LKS_STR(""), &answer, err) != LKS_OK)
            return err->code;
        struct lks_str lines = lks_buf_view(&answer.http.body);
        fwrite(lines.ptr, 1, lines.len, cli->out);
        uint64_t last = last_seq(lines);
        next = last > 0 ? last + 1 : 0;
    }
    return LKS_OK;
}

enum lks_code lks_cmd_journal_export(struct lks_cli *cli, const struct lks_args *args,
                                     struct lks_err *err)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    struct export x = {.cli = cli, .node = lks_args_str(args, "--node"), .err = err};
    uint64_t from = 1;
    const char *text = lks_args_get(args, "--from");
    if (text != NULL && (!lks_str_number(lks_str_from(text), INT64_MAX, &from) || from == 0))
        return lks_fail(err, LKS_E_USAGE, "--from: '%s' is not a row's number", text);
    if (args->positional_count == 0 && x.node.len > 0)
        return lks_fail(err, LKS_E_USAGE,
                        "journal export: --node needs DIR; 'node history' asks lockstepd");
    if (args->positional_count == 0)
        return export_remote(cli, args, from, err);
    if (lks_remote_unused(args, err) != LKS_OK ||
        lks_controller_journal(args->positional[0], LKS_STORE_READ, &store, err) != LKS_OK ||
        store.ops->rows(store.self, from, export_row, &x, err) != LKS_OK)
        return err->code;
    return x.failed ? err->code : LKS_OK;
}

/* at ---------------------------------------------------------------------------------------- */

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

/* From the data directory DIR, or from lockstepd. */
static enum lks_code ask_at(struct lks_cli *cli, const struct lks_args *args, lks_ms at,
                            struct lks_str node, struct lks_buf *json, struct lks_err *err)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    LKS_CLEANUP(lks_question_fini) struct lks_question q = {0};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer answer = {0};
    if (args->positional_count > 1) {
        struct lks_public_key key;
        bool has_key = false;
        if (lks_remote_unused(args, err) != LKS_OK ||
            read_key(args, args->positional[1], &key, &has_key, err) != LKS_OK ||
            lks_controller_journal(args->positional[1], LKS_STORE_READ, &store, err) != LKS_OK)
            return err->code;
        return lks_journal_at(&store, has_key ? &key : NULL, at, node, json, err);
    }
    lks_question_init(&q, "GET", "/v1/nodes");
    lks_remote_path_add(&q.path, node);
    lks_remote_path_add(&q.path, LKS_STR("at"));
    lks_remote_path_query(&q.path, "time", lks_str_from(args->positional[0]));
    if (lks_question_ask(cli, args, &q, &answer, err) != LKS_OK)
        return err->code;
    lks_buf_add(json, lks_buf_view(&answer.http.body));
    return lks_buf_check(json, err);
}

enum lks_code lks_cmd_journal_at(struct lks_cli *cli, const struct lks_args *args,
                                 struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = {0};
    struct lks_str name = lks_args_str(args, "--node");
    lks_ms at;
    if (!lks_time_parse(lks_str_from(args->positional[0]), &at))
        return lks_fail(err, LKS_E_USAGE, "'%s' is not a time such as 2026-11-15T03:37:00Z",
                        args->positional[0]);
    if (name.len == 0)
        return lks_fail(err, LKS_E_USAGE, "journal at: --node has to name one");
    lks_buf_init(&json, LKS_OUTPUT_BYTES_MAX);
    if (ask_at(cli, args, at, name, &json, err) != LKS_OK)
        return err->code;
    if (lks_args_has(args, "--json"))
        return lks_output_json(cli, &json, err);
    return print_at(cli, lks_buf_view(&json), err);
}
