/* journal export: rows of a data directory, or of lockstepd, that answer to filters. */
#include "cli/shared/commands.h"
#include "cli/shared/controller.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"
#include "engine/select.h"

#include <inttypes.h>

enum { ROW_MAX = 32 << 20 };

struct export
{
    struct lks_cli *cli;
    struct lks_select select;
    struct lks_arena arena; /* of the names of nodes */
    uint64_t from, printed;
    struct lks_err *err;
    bool failed;
};

static void export_fini(struct export *x)
{
    lks_arena_fini(&x->arena);
}

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

/* A record that cannot be read is reported, whatever it is about, and does not end the export: what
 * follows may matter. The first one is what the command fails with. */
static bool export_row(void *ctx, const struct lks_row *row)
{
    struct export *x = ctx;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(ROW_MAX);
    struct lks_err err = {0};
    if (lks_select_over(&x->select, row))
        return false;
    if (!lks_select_fits(&x->select, row))
        return true;
    if (lks_journal_json(row, &json, &err) != LKS_OK) {
        if (!x->failed)
            *x->err = err;
        x->failed = true;
        unreadable_json(row, &err, &json);
    }
    fprintf(x->cli->out, "%s\n", json.ptr);
    x->printed++;
    return ferror(x->cli->out) == 0;
}

/* Page by page from lockstepd, which tells with each where the next one begins. */
static enum lks_code export_page(struct lks_remote *remote, const struct lks_args *args,
                                 struct export *x, uint64_t *next)
{
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer answer = {0};
    char text[LKS_TIME_TEXT_SIZE];
    snprintf(text, sizeof(text), "%" PRIu64, *next);
    lks_remote_path_init(&path, "/v1/journal");
    lks_remote_path_query(&path, "from", lks_str_from(text));
    if (x->select.since != 0)
        lks_remote_path_query(&path, "since", lks_str_from(lks_time_text(x->select.since, text)));
    if (x->select.until != 0)
        lks_remote_path_query(&path, "until", lks_str_from(lks_time_text(x->select.until, text)));
    static const char *const same[] = {"--by", "--kind", "--node"};
    for (size_t i = 0; i < LKS_COUNT(same); i++)
        if (lks_args_has(args, same[i]))
            lks_remote_path_query(&path, same[i] + 2, lks_args_str(args, same[i]));
    if (lks_remote_call(remote, "GET", &path, NULL, LKS_STR(""), &answer, x->err) != LKS_OK)
        return x->err->code;
    struct lks_str lines = lks_buf_view(&answer.http.body);
    if (lks_output_bytes(x->cli, lines, x->err) != LKS_OK)
        return x->err->code;
    x->printed += lines.len > 0;
    if (!lks_str_number(lks_http_answer_header(&answer.http, "lockstep-next"), UINT64_MAX, next))
        *next = 0;
    return LKS_OK;
}

static enum lks_code export_remote(const struct lks_args *args, struct export *x)
{
    LKS_CLEANUP(lks_remote_fini) struct lks_remote remote = {0};
    if (lks_remote_open(x->cli, args, &remote, x->err) != LKS_OK)
        return x->err->code;
    for (uint64_t next = x->from; next > 0 && ferror(x->cli->out) == 0;)
        if (export_page(&remote, args, x, &next) != LKS_OK)
            return x->err->code;
    return LKS_OK;
}

static enum lks_code export_directory(const struct lks_args *args, struct export *x)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    struct lks_err *err = x->err;
    uint64_t from = 0;
    if (lks_remote_unused(args, err) != LKS_OK ||
        lks_controller_journal(args->positional[0], LKS_STORE_READ, &store, err) != LKS_OK ||
        lks_select_begin(&store, &x->select, x->from, &from, err) != LKS_OK ||
        store.ops->rows(store.self, from, export_row, x, err) != LKS_OK)
        return err->code;
    return x->failed ? err->code : LKS_OK;
}

/* No record can be in a range that ends before it starts, so an empty answer would mean nothing. */
static enum lks_code check_range(const struct lks_args *args, const struct lks_select *select,
                                 struct lks_err *err)
{
    char since[LKS_TIME_TEXT_SIZE], until[LKS_TIME_TEXT_SIZE];
    if (select->since == 0 || select->until == 0 || select->since <= select->until)
        return LKS_OK;
    return lks_fail(err, LKS_E_USAGE,
                    "--since '%s' (%s) is later than --until '%s' (%s): no record is in that "
                    "range; give the earlier time to --since",
                    lks_args_get(args, "--since"), lks_time_text(select->since, since),
                    lks_args_get(args, "--until"), lks_time_text(select->until, until));
}

/* Records of different kinds have different members, so there is no table of them. */
static enum lks_code check_format(const struct lks_args *args, struct lks_err *err)
{
    struct lks_str format = lks_args_str(args, "--output");
    if (!lks_str_is(format, "table") && !lks_str_is(format, "wide"))
        return LKS_OK;
    return lks_fail(err, LKS_E_USAGE,
                    "journal export: --output %" LKS_STR_FMT ": records of different kinds have "
                    "no common columns; leave the option out for a line of JSON for each record, "
                    "give yaml or name, or use 'lockstep node history NODE' for a table",
                    LKS_STR_ARG(format));
}

static enum lks_code read_filters(const struct lks_args *args, struct export *x)
{
    const char *text = lks_args_get(args, "--from");
    struct lks_str kind = lks_args_str(args, "--kind");
    struct lks_err *err = x->err;
    if (text != NULL && (!lks_str_number(lks_str_from(text), INT64_MAX, &x->from) || x->from == 0))
        return lks_fail(err, LKS_E_USAGE,
                        "--from: '%s' is not a row's number; --since takes a time", text);
    if (lks_listing_moment(x->cli, args, "--since", &x->select.since, err) != LKS_OK ||
        lks_listing_moment(x->cli, args, "--until", &x->select.until, err) != LKS_OK)
        return err->code;
    if (kind.len > 0 && lks_select_kind(kind, &x->select.kind, err) != LKS_OK)
        return lks_wrap(err, "--kind");
    if (lks_hostlist_parse(lks_args_str(args, "--node"), &x->arena, &x->select.nodes, err) !=
        LKS_OK)
        return lks_wrap(err, "--node");
    x->select.by = lks_args_str(args, "--by");
    return check_range(args, &x->select, err);
}

enum lks_code lks_cmd_journal_export(struct lks_cli *cli, const struct lks_args *args,
                                     struct lks_err *err)
{
    LKS_CLEANUP(export_fini) struct export x = {.cli = cli, .from = 1, .err = err};
    lks_arena_init(&x.arena, (size_t)256 << 20);
    if (check_format(args, err) != LKS_OK || read_filters(args, &x) != LKS_OK)
        return err->code;
    enum lks_code code =
        args->positional_count == 0 ? export_remote(args, &x) : export_directory(args, &x);
    if (code == LKS_OK && x.printed == 0)
        fprintf(cli->err, "lockstep: no rows%s\n",
                lks_select_any(&x.select) ? " answer to these filters" : "");
    return code;
}
