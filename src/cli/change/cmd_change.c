/* change propose, ls, approve, reject, start, pause, resume, skip, abort, rollback. */
#include "cli/change/cmd_change.h"

#include "cli/shared/commands.h"
#include "cli/shared/output.h"
#include "cli/shared/verbs.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    NODES_MAX = 1000000,
    GPUS_MAX = 100000000,
    MILLION = 1000000,
    PERCENT = 10000,
    STRENGTH_MAX = 3
};

/* propose ----------------------------------------------------------------------------------- */

/* "1%", "0.05%" or "0.01" as millionths of the whole. */
static enum lks_code read_share(const struct lks_args *args, const char *option, uint64_t *out,
                                struct lks_err *err)
{
    struct lks_str text = lks_args_str(args, option), number = text, whole, part;
    uint64_t high = 0, low = 0, unit = MILLION;
    bool good = text.len > 0;
    *out = 0;
    if (text.len == 0)
        return LKS_OK;
    if (text.ptr[text.len - 1] == '%') {
        number.len--;
        unit = PERCENT;
    }
    bool point = lks_str_cut(number, '.', &whole, &part);
    good = lks_str_number(whole, 100, &high) && (!point || lks_str_number(part, MILLION, &low));
    uint64_t value = high * unit;
    for (size_t i = 0; i < part.len; i++)
        unit /= 10;
    value += low * unit;
    if (!good || (low > 0 && unit == 0) || value == 0 || value > MILLION)
        return lks_fail(err, LKS_E_USAGE,
                        "%s: '%" LKS_STR_FMT "' is not a share such as 1%% or 0.5%%", option,
                        LKS_STR_ARG(text));
    *out = value;
    return LKS_OK;
}

static enum lks_code add_numbers(struct lks_question *q, const struct lks_args *args,
                                 struct lks_err *err)
{
    static const struct {
        const char *option, *key;
        uint64_t most;
    } numbers[] = {
        {"--strength", "strength", STRENGTH_MAX},
        {"--canary-max", "canary_max", NODES_MAX},
        {"--failures", "failures_max", NODES_MAX},
    };
    static const struct {
        const char *option, *key;
    } shares[] = {{"--catch", "failure_share"}, {"--confidence", "confidence_share"}};
    uint64_t value = 0, soak = 0;
    for (size_t i = 0; i < LKS_COUNT(numbers); i++) {
        if (lks_listing_number(args, numbers[i].option, numbers[i].most, 0, &value, err) != LKS_OK)
            return err->code;
        if (value > 0)
            lks_json_int(&q->w, numbers[i].key, (int64_t)value);
    }
    if (lks_args_has(args, "--catch") != lks_args_has(args, "--confidence"))
        return lks_fail(err, LKS_E_USAGE, "--catch and --confidence go together");
    for (size_t i = 0; i < LKS_COUNT(shares); i++) {
        if (read_share(args, shares[i].option, &value, err) != LKS_OK)
            return err->code;
        if (value > 0)
            lks_json_int(&q->w, shares[i].key, (int64_t)value);
    }
    if (lks_listing_span(args, "--soak", &soak, err) != LKS_OK)
        return err->code;
    if (soak > 0)
        lks_json_int(&q->w, "soak_seconds", (int64_t)soak);
    return LKS_OK;
}

static enum lks_code add_times(const struct lks_cli *cli, struct lks_question *q,
                               const struct lks_args *args, struct lks_err *err)
{
    static const struct {
        const char *option, *key;
    } times[] = {{"--not-before", "not_before"}, {"--not-after", "not_after"}};
    for (size_t i = 0; i < LKS_COUNT(times); i++) {
        char text[LKS_TIME_TEXT_SIZE];
        if (lks_listing_until(cli, args, times[i].option, text, err) != LKS_OK)
            return err->code;
        lks_json_some(&q->w, times[i].key, lks_str_from(text));
    }
    return LKS_OK;
}

static void add_texts(struct lks_question *q, const struct lks_args *args)
{
    static const struct {
        const char *option, *key;
    } texts[] = {{"--nodes", "nodes"},    {"--pool", "pool"},   {"--hook", "hook"},
                 {"--window", "windows"}, {"--class", "class"}, {"--advisory", "advisory"},
                 {"--to", "stack"}},
      truths[] = {
          {"--roll-back", "rolls_back"}, {"--one-way", "one_way"}, {"--dry-run", "dry_run"}};
    for (size_t i = 0; i < LKS_COUNT(texts); i++)
        lks_json_some(&q->w, texts[i].key, lks_args_str(args, texts[i].option));
    if (lks_args_has(args, "--agent")) {
        lks_json_cstr(&q->w, "kind", "agent");
        lks_json_text(&q->w, "stack", lks_args_str(args, "--agent"));
    }
    for (size_t i = 0; i < LKS_COUNT(truths); i++) {
        if (lks_args_has(args, truths[i].option))
            lks_json_bool(&q->w, truths[i].key, true);
    }
}

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
    if (lks_args_has(args, "--dry-run"))
        return LKS_OK;
    return lks_listing_need(args, "--reason", LKS_LISTING_REASON, err);
}

static enum lks_code print_proposed(struct lks_cli *cli, const struct lks_doc *plan,
                                    struct lks_err *err)
{
    char size[LKS_CHANGE_SIZE_TEXT];
    uint64_t id = lks_change_number(plan, "id");
    if (lks_change_print_plan(cli, plan, err) != LKS_OK)
        return err->code;
    (void)lks_change_size_text(plan, size);
    struct lks_str class = lks_doc_text(plan, "class");
    uint64_t quorum = lks_change_number(plan, "quorum");
    if (id == 0)
        fprintf(cli->out,
                "\n%s would change\nclass %" LKS_STR_FMT ": %" PRIu64
                " approvals\nnothing was proposed\n",
                size, LKS_STR_ARG(class), quorum);
    else if (quorum == 0)
        fprintf(cli->out,
                "\nchange %" PRIu64 " is proposed: %s\nof class %" LKS_STR_FMT
                ", which is approved beforehand:\n  lockstep change start %" PRIu64
                " --nodes %" PRIu64 " --gpus %" PRIu64 " --reason ...\n",
                id, size, LKS_STR_ARG(class), id, lks_change_number(plan, "nodes"),
                lks_change_number(plan, "gpus"));
    else
        fprintf(cli->out,
                "\nchange %" PRIu64 " is proposed: %s\nof class %" LKS_STR_FMT ", which %" PRIu64
                " other%s to approve:\n  lockstep change approve %" PRIu64 " --reason ...\n",
                id, size, LKS_STR_ARG(class), quorum, quorum == 1 ? " person has" : " people have",
                id);
    struct lks_str warning = lks_doc_text(lks_doc_member(plan, "unreachable"), "text");
    if (warning.len > 0)
        fprintf(cli->out, "warning: %" LKS_STR_FMT "\n", LKS_STR_ARG(warning));
    return LKS_OK;
}

enum lks_code lks_cmd_change_propose(struct lks_cli *cli, const struct lks_args *args,
                                     struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    struct lks_str reason = lks_args_str(args, "--reason");
    if (check_wish(args, err) != LKS_OK)
        return err->code;
    lks_remote_question_init(&q, "POST", "/v1/changes");
    lks_json_begin(&q.w, NULL, '{');
    add_texts(&q, args);
    if (add_numbers(&q, args, err) != LKS_OK || add_times(cli, &q, args, err) != LKS_OK)
        return err->code;
    lks_json_text(&q.w, "reason", reason.len > 0 ? reason : LKS_STR("to see the plan"));
    lks_json_end(&q.w, '}');
    if (lks_remote_question_ask(cli, args, &q, err) != LKS_OK)
        return err->code;
    if (lks_args_has(args, "--json"))
        return lks_listing_thing(cli, args, &q.answer, err);
    return print_proposed(cli, q.answer.doc, err);
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

static void begin_verb(struct lks_question *q, const struct lks_args *args, const char *verb)
{
    lks_remote_question_init(q, "POST", "/v1/changes");
    lks_remote_path_add(&q->path, lks_str_from(args->positional[0]));
    lks_remote_path_add(&q->path, lks_str_from(verb));
    lks_json_begin(&q->w, NULL, '{');
    lks_json_text(&q->w, "reason", lks_args_str(args, "--reason"));
}

/* Ask, and say how the change stands now. */
static enum lks_code end_verb(struct lks_cli *cli, const struct lks_args *args,
                              struct lks_question *q, struct lks_err *err)
{
    char size[LKS_CHANGE_SIZE_TEXT];
    lks_json_end(&q->w, '}');
    if (lks_remote_question_ask(cli, args, q, err) != LKS_OK)
        return err->code;
    struct lks_str state = lks_doc_text(q->answer.doc, "state");
    const struct lks_doc *votes = lks_doc_member(q->answer.doc, "approvals");
    uint64_t needed = lks_change_number(votes, "needed"), given = lks_change_number(votes, "given");
    char lacks[64] = "";
    if (given < needed && lks_str_is(state, "proposed"))
        snprintf(lacks, sizeof(lacks), " (%" PRIu64 " of %" PRIu64 " approvals)", given, needed);
    return lks_listing_done(cli, args, &q->answer, err, "change %s is %" LKS_STR_FMT "%s: %s",
                            args->positional[0], LKS_STR_ARG(state), lacks,
                            lks_change_size_text(q->answer.doc, size));
}

/* approve, reject, withdraw, review, pause, resume, abort, rollback: the path has the same word. */
enum lks_code lks_cmd_change_verb(struct lks_cli *cli, const struct lks_args *args,
                                  struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    if (lks_listing_need(args, "--reason", LKS_LISTING_REASON, err) != LKS_OK)
        return err->code;
    begin_verb(&q, args, lks_verbs_word(cli));
    return end_verb(cli, args, &q, err);
}

enum lks_code lks_cmd_change_waive(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    char until[LKS_TIME_TEXT_SIZE];
    if (lks_listing_need(args, "--gate", "which gate or metric", err) != LKS_OK ||
        lks_listing_need(args, "--until", "for how long", err) != LKS_OK ||
        lks_listing_need(args, "--reason", LKS_LISTING_REASON, err) != LKS_OK ||
        lks_listing_until(cli, args, "--until", until, err) != LKS_OK)
        return err->code;
    begin_verb(&q, args, "waive");
    lks_json_text(&q.w, "gate", lks_args_str(args, "--gate"));
    lks_json_text(&q.w, "until", lks_str_from(until));
    lks_json_some(&q.w, "pool", lks_args_str(args, "--pool"));
    return end_verb(cli, args, &q, err);
}

/* Without both numbers they are told, with what to say once they were looked at, and nothing
 * begins. */
static enum lks_code tell_size(struct lks_cli *cli, const struct lks_args *args,
                               struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    char size[LKS_CHANGE_SIZE_TEXT];
    lks_remote_question_init(&q, "GET", "/v1/changes");
    lks_remote_path_add(&q.path, lks_str_from(args->positional[0]));
    lks_remote_path_query(&q.path, "plan", LKS_STR("false"));
    if (lks_remote_question_ask(cli, args, &q, err) != LKS_OK)
        return err->code;
    return lks_fail(err, LKS_E_USAGE,
                    "change %s is for %s: nothing started; if that is what you mean, repeat it: "
                    "lockstep change start %s --nodes %" PRIu64 " --gpus %" PRIu64 " --reason ...",
                    args->positional[0], lks_change_size_text(q.answer.doc, size),
                    args->positional[0], lks_change_number(q.answer.doc, "nodes"),
                    lks_change_number(q.answer.doc, "gpus"));
}

/* A change of assets alone has no nodes, and says so by a 0. */
static enum lks_code repeated(const struct lks_args *args, const char *option, uint64_t most,
                              uint64_t *out, struct lks_err *err)
{
    const char *text = lks_args_get(args, option);
    if (text == NULL || lks_str_number(lks_str_from(text), most, out))
        return LKS_OK;
    return lks_fail(err, LKS_E_USAGE, "%s: '%s' is not a number from 0 to %" PRIu64, option, text,
                    most);
}

enum lks_code lks_cmd_change_start(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    uint64_t nodes = 0, gpus = 0;
    if (lks_listing_need(args, "--reason", LKS_LISTING_REASON, err) != LKS_OK ||
        repeated(args, "--nodes", NODES_MAX, &nodes, err) != LKS_OK ||
        repeated(args, "--gpus", GPUS_MAX, &gpus, err) != LKS_OK)
        return err->code;
    if (!lks_args_has(args, "--nodes") || !lks_args_has(args, "--gpus"))
        return tell_size(cli, args, err);
    begin_verb(&q, args, "start");
    lks_json_int(&q.w, "nodes", (int64_t)nodes);
    lks_json_int(&q.w, "gpus", (int64_t)gpus);
    lks_json_some(&q.w, "standby", lks_args_str(args, "--standby"));
    if (lks_args_has(args, "--break-glass"))
        lks_json_bool(&q.w, "break_glass", true);
    enum lks_code code = end_verb(cli, args, &q, err);
    if (code != LKS_OK || !lks_args_has(args, "--follow"))
        return code;
    fflush(cli->out);
    return lks_change_follow(cli, args, args->positional[0], err);
}

enum lks_code lks_cmd_change_resume(struct lks_cli *cli, const struct lks_args *args,
                                    struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    struct lks_str nodes = lks_args_str(args, "--nodes");
    if (nodes.len == 0 && lks_args_has(args, "--as-is"))
        return lks_fail(err, LKS_E_USAGE, "--as-is goes with --nodes");
    if (nodes.len == 0)
        return lks_cmd_change_verb(cli, args, err);
    if (lks_listing_need(args, "--reason", LKS_LISTING_REASON, err) != LKS_OK)
        return err->code;
    begin_verb(&q, args, "members");
    lks_json_text(&q.w, "nodes", nodes);
    lks_json_cstr(&q.w, "act", lks_args_has(args, "--as-is") ? "release" : "again");
    return end_verb(cli, args, &q, err);
}

enum lks_code lks_cmd_change_skip(struct lks_cli *cli, const struct lks_args *args,
                                  struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    if (lks_listing_need(args, "--reason", LKS_LISTING_REASON, err) != LKS_OK)
        return err->code;
    begin_verb(&q, args, "skip");
    lks_json_text(&q.w, "nodes", lks_str_from(args->positional[1]));
    return end_verb(cli, args, &q, err);
}
