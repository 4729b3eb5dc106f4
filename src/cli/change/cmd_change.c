/* change propose, ls, start, resume. */
#include "cli/change/cmd_change.h"

#include "cli/shared/ask.h"
#include "cli/shared/commands.h"
#include "cli/shared/render.h"
#include "codec/notation/hostlist.h"

#include <stdio.h>

enum { NODES_MAX = 1000000, GPUS_MAX = 100000000, STRENGTH_MAX = 3 };

/* propose ----------------------------------------------------------------------------------- */

static const struct lks_ask wish = {
    .method = "POST",
    .path = "/v1/changes",
    .members = LKS_ASK_MEMBERS(
        LKS_ASK_OPTION("nodes", "--nodes"), LKS_ASK_OPTION("pool", "--pool"),
        LKS_ASK_OPTION("hook", "--hook"), LKS_ASK_OPTION("windows", "--window"),
        LKS_ASK_OPTION("class", "--class"), LKS_ASK_OPTION("advisory", "--advisory"),
        LKS_ASK_OPTION("stack", "--to"), LKS_ASK_OPTION("kind", "[{--agent?}agent]"),
        LKS_ASK_OPTION("stack", "--agent"), LKS_ASK_SWITCH("rolls_back", "--roll-back"),
        LKS_ASK_SWITCH("one_way", "--one-way"), LKS_ASK_SWITCH("dry_run", "--dry-run"),
        {"strength", "--strength", LKS_ASK_NUMBER, STRENGTH_MAX, NULL},
        {"canary_max", "--canary-max", LKS_ASK_NUMBER, NODES_MAX, NULL},
        {"failures_max", "--failures", LKS_ASK_NUMBER, NODES_MAX, NULL},
        {"failure_share", "--catch", LKS_ASK_SHARE, 0, NULL},
        {"confidence_share", "--confidence", LKS_ASK_SHARE, 0, NULL},
        {"soak_seconds", "--soak", LKS_ASK_SPAN, 0, NULL},
        {"not_before", "--not-before", LKS_ASK_TIME, 0, NULL},
        {"not_after", "--not-after", LKS_ASK_TIME, 0, NULL},
        LKS_ASK_OPTION("reason", "[{--reason}|to see the plan]")),
};

/* What goes together, said here so that it is said in words of the command line. */
static enum lks_code check_wish(const struct lks_args *args, struct lks_err *err)
{
    bool stack = lks_args_str(args, "--to").len > 0, agent = lks_args_str(args, "--agent").len > 0;
    bool nodes = lks_args_str(args, "--nodes").len > 0;
    bool pool = lks_args_str(args, "--pool").len > 0;
    if (stack == agent)
        return lks_fail(err, LKS_E_USAGE,
                        "--to has to say which stack nodes are to run, or --agent which agent");
    if (nodes == pool)
        return lks_fail(err, LKS_E_USAGE, "--nodes or --pool has to say who changes, one of them");
    if (lks_args_has(args, "--catch") != lks_args_has(args, "--confidence"))
        return lks_fail(err, LKS_E_USAGE, "--catch and --confidence go together");
    if (lks_args_has(args, "--dry-run"))
        return LKS_OK;
    return lks_listing_need(args, "--reason", LKS_ASK_WHY, err);
}

/* What was proposed, or would be, and what to do next. */
static const char proposed[] =
    "\n[{id?}change {id} is proposed: " LKS_ASK_CHANGE_SIZE "\nof class [{class}], which "
    "[{quorum?}{quorum} other[{quorum=1} person has| people have] to approve:\n"
    "  lockstep change approve {id} --reason ...|is approved beforehand:\n"
    "  lockstep change start {id} --nodes {nodes#} --gpus {gpus#} --reason "
    "...]|" LKS_ASK_CHANGE_SIZE " would change\nclass [{class}]: {quorum#approval}"
    "[{needs_standby?}, and a person on standby at the site]\n"
    "[expires {expires}, unless it is approved\n]"
    "nothing was proposed; leave out --dry-run to propose it]\n"
    "[warning: {unreachable.text}\n]";

/* Freezes that keep its nodes from starting. */
static const char frozen[] =
    "[{from?}warning: the fleet's file freezes it from {from} until {until}[{now?}, which includes "
    "today][: {description}]; no node starts on these days\n|"
    "warning: [pool {pool}|the fleet] is frozen by {by}[ since {since}]: {reason}\n"
    "  no node starts before 'lockstep unfreeze[ --pool {pool}] --reason TEXT'\n]";

/* The nodes of a plan, broken between the ranges of the host list. */
static void print_hosts(struct lks_cli *cli, struct lks_str hosts)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(2 * LKS_HOSTLIST_BYTES_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf clean = LKS_BUF(2 * LKS_HOSTLIST_BYTES_MAX);
    size_t width = cli->term.width > 0 ? cli->term.width : SIZE_MAX;
    bool inside = false;
    for (size_t i = 0; i < hosts.len; i++) {
        inside = (inside || hosts.ptr[i] == '[') && hosts.ptr[i] != ']';
        lks_buf_addc(&text, hosts.ptr[i]);
        if (hosts.ptr[i] == ',' && !inside)
            lks_buf_addc(&text, ' ');
    }
    lks_term_clean(&clean, lks_buf_view(&text));
    fputs("\nnodes: ", cli->out);
    lks_term_flow(cli->out, lks_buf_view(&clean), strlen("nodes: "), strlen("nodes: "), width);
}

enum lks_code lks_cmd_change_propose(struct lks_cli *cli, const struct lks_args *args,
                                     struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    if (check_wish(args, err) != LKS_OK || lks_ask_send(cli, args, &wish, &q, err) != LKS_OK)
        return err->code;
    if (lks_args_has(args, "--json"))
        return lks_listing_thing(cli, args, &q.answer, err);
    if (lks_change_print_plan(cli, q.answer.doc, err) != LKS_OK)
        return err->code;
    if (lks_doc_text(q.answer.doc, "hosts").len > 0)
        print_hosts(cli, lks_doc_text(q.answer.doc, "hosts"));
    lks_render_print(cli->out, proposed, q.answer.doc);
    lks_render_each(cli->out, "freezes", frozen, q.answer.doc, args);
    return LKS_OK;
}

/* ls ---------------------------------------------------------------------------------------- */

static const struct lks_listing_column change_columns[] = {
    LKS_RIGHT("id", "id"),       LKS_LEFT("state", "state"),        LKS_WRAP("to", "name"),
    LKS_RIGHT("nodes", "total"), LKS_RIGHT("done", "members.done"), LKS_RIGHT("failed", "failed"),
    LKS_WRAP("by", "by"),        LKS_WRAP("reason", "reason"),
};

static const struct lks_listing changes = {
    .path = "/v1/changes", LKS_COLUMNS(change_columns), .open_only = true, .empty = "no changes"};

enum lks_code lks_cmd_change_ls(struct lks_cli *cli, const struct lks_args *args,
                                struct lks_err *err)
{
    return lks_listing_print(cli, args, &changes, err);
}

/* Verbs ------------------------------------------------------------------------------------- */

/* Without both numbers they are told, with what to say once they were looked at, and nothing
 * begins. */
static enum lks_code tell_size(struct lks_cli *cli, const struct lks_args *args,
                               struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_ERR_MSG_MAX);
    if (lks_ask_get(cli, args, "/v1/changes/{1}?plan=false", NULL, &q, err) != LKS_OK)
        return err->code;
    lks_render(&text,
               "change {1} is for " LKS_ASK_CHANGE_SIZE ": nothing started; if that is what you "
               "mean, repeat it: lockstep change start {1} --nodes {nodes#} --gpus {gpus#} "
               "--reason ...",
               &(struct lks_render){.doc = q.answer.doc, .args = args});
    return lks_fail(err, LKS_E_USAGE, "%" LKS_STR_FMT, LKS_STR_ARG(lks_buf_view(&text)));
}

/* A change of assets alone has no nodes, and says so by a 0. */
static const struct lks_ask start = {
    .method = "POST",
    .path = "/v1/changes/{1}/start",
    .members = LKS_ASK_MEMBERS(LKS_ASK_REASON, {"nodes", "--nodes", LKS_ASK_COUNT, NODES_MAX, NULL},
                               {"gpus", "--gpus", LKS_ASK_COUNT, GPUS_MAX, NULL},
                               LKS_ASK_OPTION("standby", "--standby"),
                               LKS_ASK_SWITCH("break_glass", "--break-glass")),
};

enum lks_code lks_cmd_change_start(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    if (lks_ask_begin(cli, args, &start, &q, err) != LKS_OK)
        return err->code;
    if (!lks_args_has(args, "--nodes") || !lks_args_has(args, "--gpus"))
        return tell_size(cli, args, err);
    if (lks_remote_question_ask(cli, args, &q, err) != LKS_OK)
        return err->code;
    enum lks_code code = lks_ask_done(cli, args, &q.answer, LKS_ASK_CHANGED, err);
    if (code != LKS_OK || !lks_args_has(args, "--follow"))
        return code;
    fflush(cli->out);
    return lks_change_follow(cli, args, args->positional[0], err);
}

static const struct lks_ask resume_nodes = {
    .method = "POST",
    .path = "/v1/changes/{1}/members",
    .members = LKS_ASK_MEMBERS(LKS_ASK_REASON, LKS_ASK_OPTION("nodes", "--nodes"),
                               LKS_ASK_OPTION("act", "[{--as-is?}release|again]")),
    .done = LKS_ASK_CHANGED,
};

enum lks_code lks_cmd_change_resume(struct lks_cli *cli, const struct lks_args *args,
                                    struct lks_err *err)
{
    bool nodes = lks_args_str(args, "--nodes").len > 0;
    if (!nodes && lks_args_has(args, "--as-is"))
        return lks_fail(err, LKS_E_USAGE, "--as-is goes with --nodes");
    return nodes ? lks_ask_run(cli, args, &resume_nodes, err) : lks_ask_cmd(cli, args, err);
}
