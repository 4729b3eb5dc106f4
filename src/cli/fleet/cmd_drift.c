/* drift; deviation add, ls. */
#include "base/process/interrupt.h"
#include "cli/shared/ask.h"
#include "cli/shared/commands.h"
#include "cli/shared/listing.h"
#include "cli/shared/render.h"
#include "core/view/view.h"

enum {
    FORM_MAX = 512,
    QUIET_MS = 60 * 1000, /* the stream says that it lives far more often */
};

/* drift ------------------------------------------------------------------------------------- */

static const struct lks_listing_column drift_columns[] = {
    LKS_LEFT("node", "node"),
    LKS_LEFT("pool", "pool"),
    LKS_LEFT("judged", "judged"),
    LKS_LEFT("cause", "cause"),
    LKS_LEFT("since", "since"),
    LKS_WRAP("what", "[{text} (in change {change})|{text}|(in change {change})]"),
};

static const struct lks_listing drifting = {
    .path = "/v1/drift",
    LKS_COLUMNS(drift_columns),
    .filters = LKS_WORDS("--pool", "--node", "--cause", "--judged"),
    .empty = "no node differs from its intent, so far as is known",
    .no = {"judged", "drift"},
};

/* "4 nodes: 1 conforms, ...": that nothing is listed does not mean that all is well. */
static enum lks_code print_counts(struct lks_cli *cli, const struct lks_args *args,
                                  struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    if (lks_ask_get(cli, args, "/v1/drift?limit=1[&pool={--pool}]", NULL, &q, err) != LKS_OK)
        return err->code;
    lks_render_print(cli->out,
                     "{counts.nodes#} nodes: {counts.conforms#} conform, {counts.drift#} drift, "
                     "{counts.deviating#} run a deviation, {counts.unmeasured#} are not measured, "
                     "{counts.unjudged#} were never evaluated\n"
                     "[{counts.drift?}'lockstep node show NODE' lists every difference of a "
                     "node\n]",
                     q.answer.doc);
    return LKS_OK;
}

static enum lks_code list(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    enum lks_code code = lks_listing_print(cli, args, &drifting, err);
    if (code != LKS_OK || lks_args_has(args, "--json"))
        return code;
    return print_counts(cli, args, err);
}

/* Watching ---------------------------------------------------------------------------------- */

struct watch {
    struct lks_cli *cli;
    bool json;
    struct lks_str node, cause;
};

static bool is_wanted(const struct watch *w, const struct lks_doc *row)
{
    struct lks_str kind = lks_doc_text(row, "kind");
    if (!lks_str_is(kind, "drift") && !lks_str_starts(kind, "deviation"))
        return false;
    return (w->node.len == 0 || lks_str_eq(lks_doc_text(row, "node"), w->node)) &&
           (w->cause.len == 0 || lks_str_eq(lks_doc_text(row, "cause"), w->cause));
}

static void print_line(struct lks_cli *cli, const struct lks_doc *row)
{
    lks_render_word(cli->out, &cli->term, "[{kind=drift}{on?}yellow]",
                    "[{time}] [{kind=drift}[{node} ][{on?}drifts|drift ended]: [{text}]"
                    "[{on?} ({cause})]|[{hosts} ]{kind}: [{reason}]]",
                    row);
    fputc('\n', cli->out);
}

static bool on_event(void *ctx, struct lks_str id, struct lks_str data)
{
    const struct watch *w = ctx;
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    const struct lks_doc *row = NULL;
    struct lks_err err = {0};
    (void)id;
    if (lks_docs_init(&docs, "event", &err) != LKS_OK ||
        lks_json_parse(data, &docs, &err) != LKS_OK)
        return true;
    row = docs.first;
    if (is_wanted(w, row)) {
        if (w->json)
            fprintf(w->cli->out, "%.*s\n", LKS_STR_ARG(data));
        else
            print_line(w->cli, row);
        fflush(w->cli->out);
    }
    return !ferror(w->cli->out);
}

static enum lks_code watch(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_fini) struct lks_remote remote = {0};
    struct watch w = {
        .cli = cli,
        .json = lks_args_has(args, "--json"),
        .node = lks_args_str(args, "--node"),
        .cause = lks_args_str(args, "--cause"),
    };
    if (lks_remote_open(cli, args, &remote, err) != LKS_OK)
        return err->code;
    return lks_client_events(remote.client, "/v1/events", NULL, QUIET_MS, on_event, &w, err);
}

enum lks_code lks_cmd_drift(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    if (lks_args_has(args, "--watch"))
        lks_interrupt_note("the controller goes on; to list the drift there is: lockstep drift");
    if (lks_args_has(args, "--watch") && lks_args_has(args, "--json"))
        return watch(cli, args, err);
    if (list(cli, args, err) != LKS_OK)
        return err->code;
    if (!lks_args_has(args, "--watch"))
        return LKS_OK;
    fflush(cli->out);
    return watch(cli, args, err);
}

/* deviation --------------------------------------------------------------------------------- */

static const struct lks_ask deviate = {
    .method = "POST",
    .path = "/v1/deviations",
    .members = LKS_ASK_MEMBERS(
        LKS_ASK_OPTION("nodes", "1"),
        LKS_ASK_NEEDED("subject", "--what", "what may differ: a component, a setting, or '*'"),
        LKS_ASK_OPTION("value", "--value"),
        LKS_ASK_NEEDED("owner", "--owner", "who answers for it"), LKS_ASK_REASON,
        LKS_ASK_OPTION("approver", "--approver"),
        {"expires", "--until", LKS_ASK_TIME, 0, "when it ends: there is none without an end"}),
};

enum lks_code lks_cmd_deviation_add(struct lks_cli *cli, const struct lks_args *args,
                                    struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    char expires[LKS_TIME_TEXT_SIZE], form[FORM_MAX];
    if (lks_ask_send(cli, args, &deviate, &q, err) != LKS_OK ||
        lks_listing_until(cli, args, "--until", expires, err) != LKS_OK)
        return err->code;
    lks_render_print(cli->err, "[lockstep: warning: --what: {warning}\n]", q.answer.doc);
    snprintf(form, sizeof(form),
             "deviation {id#} [{waits?}waits for an approver, and ends %s" LKS_ASK_SIZE
             "; an approver runs 'lockstep deviation approve {id#} --reason ...'|holds until "
             "%s" LKS_ASK_SIZE "]",
             expires, expires);
    return lks_ask_done(cli, args, &q.answer, form, err);
}

static const struct lks_listing_column deviation_columns[] = {
    LKS_RIGHT("id", "id"),
    LKS_WRAP("nodes", "nodes"),
    LKS_LEFT("what", "subject"),
    LKS_LEFT("value", "value"),
    LKS_LEFT("owner", "owner"),
    LKS_LEFT("waits", "waits"),
    LKS_LEFT("approved by", "agreed_by"),
    LKS_LEFT("expires", "expires"),
    LKS_LEFT("ended", "ended"),
    LKS_WRAP("reason", "reason"),
    LKS_WRAP("ended because", "ended_reason"),
};

static const struct lks_listing deviations = {.path = "/v1/deviations",
                                              LKS_COLUMNS(deviation_columns),
                                              .open_only = true,
                                              .empty = "no deviations",
                                              .view = &lks_view_deviations};

enum lks_code lks_cmd_deviation_ls(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_err *err)
{
    return lks_listing_print(cli, args, &deviations, err);
}
