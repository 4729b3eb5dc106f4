/* flash ls, start, show; endpoint ls; sweep ls, lease, put: management endpoints of the fleet, as
 * lockstepd knows them. */
#include "base/file.h"
#include "cli/shared/ask.h"
#include "cli/shared/commands.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"
#include "cli/shared/render.h"
#include "core/view/view.h"

#include <string.h>
#include <time.h>

enum {
    LOOK_MS = 500,
    LEASE_MOST = 1000,
    MINUTES_MOST = 1440,
};

/* Updates ----------------------------------------------------------------------------------- */

static const struct lks_listing flashes = {
    .path = "/v1/flashes",
    .view = &lks_view_flashes,
    .shown = "id,node,act,component,version,begun,phase,outcome,ended,text",
    .filters = LKS_WORDS("--node"),
    .open_only = true,
    .empty = "no update is in progress; --all shows those that ended"};

enum lks_code lks_cmd_flash_ls(struct lks_cli *cli, const struct lks_args *args,
                               struct lks_err *err)
{
    return lks_listing_print(cli, args, &flashes, err);
}

/* A line each time that the update got further; the last answer stays in `q`. */
static enum lks_code follow(struct lks_cli *cli, const struct lks_args *args,
                            const struct lks_doc *flash, struct lks_question *q,
                            struct lks_err *err)
{
    static const char form[] = "{node}: {component} [{phase}[{percent?} {percent} %]|waits]\n";
    char last[256] = "";
    bool json = lks_args_has(args, "--json");
    for (;;) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(sizeof(last) - 1);
        lks_remote_question_fini(q);
        if (lks_ask_get(cli, args, flash != NULL ? "/v1/flashes/{id}" : "/v1/flashes/{1}", flash, q,
                        err) != LKS_OK)
            return err->code;
        if (!lks_str_is(lks_doc_text(q->answer.doc, "outcome"), "open"))
            return LKS_OK;
        lks_render(&line, form, &(struct lks_render){.doc = q->answer.doc});
        if (!json && line.len > 0 && strcmp(last, line.ptr) != 0) {
            fputs(line.ptr, cli->out);
            fflush(cli->out);
            snprintf(last, sizeof(last), "%s", line.ptr);
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000L}, NULL);
    }
}

static bool went_well(const struct lks_doc *flash)
{
    static const char *const good[] = {"open", "done", "staged", "same"};
    for (size_t i = 0; i < LKS_COUNT(good); i++) {
        if (lks_str_is(lks_doc_text(flash, "outcome"), good[i]))
            return true;
    }
    return false;
}

enum lks_code lks_cmd_flash_show(struct lks_cli *cli, const struct lks_args *args,
                                 struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    bool following = lks_args_has(args, "--follow");
    if ((following ? follow(cli, args, NULL, &q, err)
                   : lks_ask_get(cli, args, "/v1/flashes/{1}", NULL, &q, err)) != LKS_OK)
        return err->code;
    cli->no = following && !went_well(q.answer.doc);
    return lks_listing_thing(cli, args, &q.answer, err);
}

static const struct lks_ask start = {
    .method = "POST",
    .path = "/v1/flashes",
    .members = LKS_ASK_MEMBERS(
        LKS_ASK_OPTION("node", "1"), LKS_ASK_OPTION("component", "2"),
        LKS_ASK_OPTION("act", "--act"), LKS_ASK_OPTION("version", "--to"),
        LKS_ASK_OPTION("bundle", "--bundle"), LKS_ASK_OPTION("image", "--image"),
        LKS_ASK_OPTION("apply_time", "--apply-time"), LKS_ASK_SWITCH("force", "--force"),
        LKS_ASK_SWITCH("one_way", "--one-way"),
        {"minutes", "--deadline", LKS_ASK_NUMBER, MINUTES_MOST, NULL}, LKS_ASK_REASON),
};

enum lks_code lks_cmd_flash_start(struct lks_cli *cli, const struct lks_args *args,
                                  struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question end = {0};
    if (lks_ask_send(cli, args, &start, &q, err) != LKS_OK)
        return err->code;
    if (!lks_args_has(args, "--follow"))
        return lks_ask_done(cli, args, &q.answer,
                            "update {id#} of {1} started; 'lockstep flash show {id#} --follow' "
                            "follows it",
                            err);
    if (follow(cli, args, q.answer.doc, &end, err) != LKS_OK)
        return err->code;
    cli->no = !went_well(end.answer.doc);
    return lks_ask_done(cli, args, &end.answer, "{1}: {2} {outcome}[: {text}]", err);
}

/* Endpoints --------------------------------------------------------------------------------- */

static const struct lks_listing_column endpoint_columns[] = {
    LKS_LEFT("node", "node"),     LKS_LEFT("endpoint", "url"),
    LKS_LEFT("driver", "driver"), LKS_LEFT("known by", "[{fingerprint}|{trust}]"),
    LKS_LEFT("read", "read"),     {"failed", "failed", 0, "red"},
    LKS_WRAP("why", "failure"),   LKS_RIGHT("update", "flashing"),
};

static const struct lks_listing endpoints = {.path = "/v1/endpoints",
                                             LKS_COLUMNS(endpoint_columns),
                                             .filters = LKS_WORDS("--node", "--url"),
                                             .empty = "no management endpoints"};

enum lks_code lks_cmd_endpoint_ls(struct lks_cli *cli, const struct lks_args *args,
                                  struct lks_err *err)
{
    return lks_listing_print(cli, args, &endpoints, err);
}

/* Sweeps ------------------------------------------------------------------------------------ */

static const struct lks_listing_column sweep_columns[] = {
    LKS_LEFT("pool", "pool"),
    LKS_RIGHT("endpoints", "endpoints"),
    {"never read", "never", LKS_COLUMN_RIGHT, "[{.!0}yellow]"},
    LKS_RIGHT("oldest", "[{oldest_ms~}|-]"),
    LKS_RIGHT("every", "{every~}"),
};

static const struct lks_listing sweeps = {
    .path = "/v1/sweeps", LKS_COLUMNS(sweep_columns), .empty = "no management endpoints are read"};

enum lks_code lks_cmd_sweep_ls(struct lks_cli *cli, const struct lks_args *args,
                               struct lks_err *err)
{
    return lks_listing_print(cli, args, &sweeps, err);
}

static const struct lks_ask lease = {
    .method = "POST",
    .path = "/v1/sweeps/lease",
    .members =
        LKS_ASK_MEMBERS(LKS_ASK_NEEDED("holder", "--holder", "which reader leases them"),
                        {"max", "--max", LKS_ASK_NUMBER, LEASE_MOST, "how many endpoints at most"},
                        {"seconds", "--ttl", LKS_ASK_SPAN, 0, "how long, such as 5m"}),
};

static enum lks_code show_lease(struct lks_cli *cli, const struct lks_args *args,
                                const struct lks_doc *doc, struct lks_err *err)
{
    static const struct lks_listing_column columns[] = {
        LKS_LEFT("node", "name"), LKS_LEFT("site", "site"), LKS_LEFT("endpoint", "url"),
        LKS_LEFT("until", "until")};
    static const struct lks_listing_part leased = {"items", LKS_PART_COLUMNS(columns), NULL, false};
    (void)args;
    if (lks_render_number(doc, "items") == 0)
        fprintf(cli->out, "no endpoint is due\n");
    return lks_listing_part(cli, &leased, doc, err);
}

enum lks_code lks_cmd_sweep_lease(struct lks_cli *cli, const struct lks_args *args,
                                  struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    if (lks_ask_send(cli, args, &lease, &q, err) != LKS_OK)
        return err->code;
    if (lks_args_has(args, "--json"))
        return lks_listing_thing(cli, args, &q.answer, err);
    if (lks_remote_object(&q.answer, err) != LKS_OK)
        return err->code;
    return show_lease(cli, args, q.answer.doc, err);
}

enum lks_code lks_cmd_sweep_put(struct lks_cli *cli, const struct lks_args *args,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_fini) struct lks_remote remote = {0};
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer answer = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf tuple = LKS_BUF(LKS_DOC_BYTES_MAX);
    lks_remote_path_init(&path, "/v1/nodes");
    lks_remote_path_add(&path, lks_str_from(args->positional[0]));
    lks_remote_path_add(&path, LKS_STR("outband"));
    lks_remote_path_options(&path, args, LKS_WORDS("--holder"));
    if (lks_file_read(args->positional[1], &tuple, err) != LKS_OK ||
        lks_remote_open(cli, args, &remote, err) != LKS_OK ||
        lks_remote_call(&remote, "PUT", &path, "application/json", lks_buf_view(&tuple), &answer,
                        err) != LKS_OK)
        return err->code;
    return lks_ask_done(cli, args, &answer, "{1}: recorded" LKS_ASK_SIZE, err);
}
