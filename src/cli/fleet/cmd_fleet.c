/* fleet apply, export, show. */
#include "base/process/interrupt.h"
#include "base/term/confirm.h"
#include "cli/fleet/fleet_plan.h"
#include "cli/shared/ask.h"
#include "cli/shared/commands.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"
#include "cli/shared/render.h"

/* fleet apply ------------------------------------------------------------------------------- */

static const struct lks_listing_column change_columns[] = {
    LKS_LEFT("change", "kind"),
    LKS_WRAP("what", "*"),
};

static const struct lks_listing_part change_part = {"changes", LKS_PART_COLUMNS(change_columns),
                                                    NULL, false};

static enum lks_code print_records(struct lks_cli *cli, const struct lks_doc *answer,
                                   struct lks_err *err)
{
    return lks_listing_part(cli, &change_part, answer, err);
}

/* Whether a dry run found anything but other bytes of the same meaning: a comment, say. */
static bool differs(const struct lks_fleet_plan *plan, const struct lks_doc *answer)
{
    const struct lks_doc *changes = lks_doc_member(answer, "changes");
    const struct lks_doc *r = changes != NULL ? changes->first : NULL;
    while (r != NULL && plan->known && lks_str_is(lks_doc_text(r, "kind"), "fleet"))
        r = r->next;
    return r != NULL || plan->diff.count > 0;
}

/* The file to lockstepd. With `confirmed`, an answer of a dry run, its numbers are repeated: they
 * are what the person said yes to. */
static enum lks_code send(struct lks_cli *cli, const struct lks_args *args,
                          const struct lks_fleet_plan *plan, bool dry,
                          const struct lks_doc *confirmed, struct lks_question *q,
                          struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf nodes = LKS_BUF(LKS_COUNT_TEXT_SIZE);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf gpus = LKS_BUF(LKS_COUNT_TEXT_SIZE);
    lks_remote_question_init(q, "PUT", "/v1/fleet");
    if (dry)
        lks_remote_path_query(&q->path, "dry_run", LKS_STR("true"));
    if (confirmed != NULL && lks_render_number(confirmed, "nodes") > 0) {
        lks_render(&nodes, "{nodes#}", &(struct lks_render){.doc = confirmed});
        lks_render(&gpus, "{gpus#}", &(struct lks_render){.doc = confirmed});
        lks_remote_path_query(&q->path, "nodes", lks_buf_view(&nodes));
        lks_remote_path_query(&q->path, "gpus", lks_buf_view(&gpus));
        lks_remote_path_options(&q->path, args, LKS_WORDS("--accept", "--reason"));
    } else {
        lks_remote_path_options(&q->path, args,
                                LKS_WORDS("--accept", "--nodes", "--gpus", "--reason"));
    }
    if (plan->known)
        lks_remote_path_query(&q->path, "from", lks_str_from(plan->from));
    return lks_remote_question_send(cli, args, plan->file, lks_buf_view(&plan->text), q, err);
}

/* The difference, and what to do about it: a dry run ends here. */
static enum lks_code print_plan(struct lks_cli *cli, const struct lks_fleet_plan *plan,
                                const struct lks_doc *answer, struct lks_err *err)
{
    if (lks_doc_member(answer, "changes") == NULL)
        return lks_fail(err, LKS_E_INVALID, "lockstepd did not say what changes");
    if (!differs(plan, answer))
        fprintf(cli->out, "nothing to change\n");
    else if (!plan->known)
        return print_records(cli, answer, err);
    else
        lks_fleet_plan_print(cli, plan, answer);
    return LKS_OK;
}

static enum lks_code try_file(struct lks_cli *cli, const struct lks_args *args,
                              struct lks_fleet_plan *plan, struct lks_question *q,
                              struct lks_err *err)
{
    struct lks_err ignored = {0};
    if (lks_fleet_plan_read(args->positional[0], plan, err) != LKS_OK)
        return err->code;
    if (send(cli, args, plan, true, NULL, q, err) == LKS_OK)
        return lks_fleet_plan_compare(cli, args, plan, err);
    if (err->code == LKS_E_REFUSED && lks_fleet_plan_compare(cli, args, plan, &ignored) == LKS_OK)
        lks_fleet_plan_stale(cli, plan);
    return err->code == LKS_E_INVALID ? lks_fleet_plan_faults(cli, plan, err) : err->code;
}

/* The question names the controller: the line that did is far up after a long list. */
static enum lks_code confirm(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    const char *context = cli->context.name, *server = lks_remote_server(cli, args);
    char question[LKS_CLI_ADDRESS_SIZE + 160];
    if (context[0] != '\0')
        (void)snprintf(question, sizeof(question), "\nApply to context %s (%.*s)?", context,
                       LKS_CLI_ADDRESS_SIZE, server);
    else
        (void)snprintf(question, sizeof(question), "\nApply to %.*s?", LKS_CLI_ADDRESS_SIZE,
                       server);
    lks_interrupt_note("nothing was changed");
    enum lks_code code = lks_confirm(cli->err, question, "--yes applies without a question", err);
    lks_interrupt_end();
    return code;
}

enum lks_code lks_cmd_fleet_apply(struct lks_cli *cli, const struct lks_args *args,
                                  struct lks_err *err)
{
    LKS_CLEANUP(lks_fleet_plan_fini) struct lks_fleet_plan plan = {0};
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question tried = {0};
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    bool dry = lks_args_has(args, "--dry-run"), json = lks_args_has(args, "--json");
    if (try_file(cli, args, &plan, &tried, err) != LKS_OK)
        return err->code;
    if (!json && print_plan(cli, &plan, tried.answer.doc, err) != LKS_OK)
        return err->code;
    bool other = differs(&plan, tried.answer.doc);
    if (dry) {
        cli->no = other;
        if (other && !json)
            fputs("\nnothing was applied: --dry-run\n", cli->out);
        return json ? lks_listing_thing(cli, args, &tried.answer, err) : LKS_OK;
    }
    bool ask = other && !json && !lks_args_has(args, "--yes") && lks_confirm_possible(&cli->term);
    fflush(cli->out); /* before the question, which is on the other stream */
    if (ask && confirm(cli, args, err) != LKS_OK)
        return err->code;
    if (send(cli, args, &plan, false, ask ? tried.answer.doc : NULL, &q, err) != LKS_OK)
        return err->code;
    if (json)
        return lks_listing_thing(cli, args, &q.answer, err);
    if (other)
        lks_render_print(cli->out, "\napplied" LKS_ASK_SIZE "\n", q.answer.doc);
    return LKS_OK;
}

/* fleet export ------------------------------------------------------------------------------ */

enum lks_code lks_cmd_fleet_export(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    lks_remote_question_init(&q, "GET", "/v1/fleet/manifest");
    if (lks_remote_question_ask(cli, args, &q, err) != LKS_OK)
        return err->code;
    struct lks_str text = lks_buf_view(&q.answer.http.body);
    if (text.len == 0)
        return lks_fail(err, LKS_E_NOT_FOUND, "no fleet yet: 'lockstep fleet apply FILE' sets one");
    if (!lks_args_has(args, "--json"))
        return lks_output_bytes(cli, text, err);
    lks_json_text(lks_output_begin(&o), "manifest", text);
    return lks_output_end(cli, &o, err);
}

/* fleet show -------------------------------------------------------------------------------- */

static const struct lks_listing_column pool_columns[] = {
    LKS_LEFT("pool", "name"),
    LKS_LEFT("posture", "posture"),
    LKS_LEFT("enforce", "enforce"),
    LKS_LEFT("stack", "stack"),
    LKS_LEFT("baseline", "baseline"),
    LKS_LEFT("behind since", "behind_since"),
    LKS_RIGHT("nodes", "nodes"),
    LKS_RIGHT("enrolled", "enrolled"),
    LKS_RIGHT("unseen", "liveness.unseen"),
    LKS_RIGHT("live", "liveness.live"),
    LKS_RIGHT("late", "liveness.late"),
    LKS_RIGHT("lost", "liveness.lost"),
    LKS_LEFT("acts wait", "acts_wait"),
    LKS_LEFT("frozen", "frozen"),
};

static const struct lks_listing pools = {
    .path = "/v1/fleet",
    LKS_COLUMNS(pool_columns),
    .members = LKS_WORDS("pools"),
    .empty = "no fleet yet: 'lockstep fleet apply FILE' sets one",
};

enum lks_code lks_cmd_fleet_show(struct lks_cli *cli, const struct lks_args *args,
                                 struct lks_err *err)
{
    return lks_listing_print(cli, args, &pools, err);
}
