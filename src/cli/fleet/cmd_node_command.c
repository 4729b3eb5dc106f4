/* node command, approve, review: what a person has a node's agent do, outside a change. */
#include "cli/shared/commands.h"
#include "cli/shared/listing.h"
#include "cli/shared/verbs.h"
#include "model/manifest/executor.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

enum { LOOK_MS = 250 };

static void put_digests(struct lks_question *q, const struct lks_args *args)
{
    lks_json_begin(&q->w, "digests", '[');
    for (size_t i = 2; i < args->positional_count; i++)
        lks_json_cstr(&q->w, NULL, args->positional[i]);
    lks_json_end(&q->w, ']');
}

static enum lks_code look(struct lks_cli *cli, const struct lks_args *args, uint64_t id,
                          struct lks_remote_answer *answer, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    char number[24];
    snprintf(number, sizeof(number), "%" PRIu64, id);
    lks_remote_question_init(&q, "GET", "/v1/commands");
    lks_remote_path_add(&q.path, lks_str_from(number));
    if (lks_remote_question_ask(cli, args, &q, err) != LKS_OK)
        return err->code;
    *answer = LKS_MOVE(q.answer);
    return LKS_OK;
}

/* lockstepd ends every command some time after its expiry, so this has an end. */
static enum lks_code wait_for(struct lks_cli *cli, const struct lks_args *args, uint64_t id,
                              struct lks_err *err)
{
    for (;;) {
        LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer answer = {0};
        if (look(cli, args, id, &answer, err) != LKS_OK)
            return err->code;
        const struct lks_doc *ended = lks_doc_member(answer.doc, "ended");
        if (ended == NULL || ended->truth) {
            struct lks_str outcome = lks_doc_text(answer.doc, "outcome");
            struct lks_str text = lks_doc_text(answer.doc, "text");
            cli->no = !lks_str_is(outcome, "done");
            return lks_listing_done(cli, args, &answer, err,
                                    "%s: %s %" LKS_STR_FMT "%s%" LKS_STR_FMT, args->positional[0],
                                    args->positional[1], LKS_STR_ARG(outcome),
                                    text.len > 0 ? ": " : "", LKS_STR_ARG(text));
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000L}, NULL);
    }
}

static enum lks_code ask_wedged(struct lks_cli *cli, const struct lks_args *args,
                                struct lks_err *err)
{
    static const char *const others[] = {"--ttl", "--wait"};
    for (size_t i = 0; i < LKS_COUNT(others); i++) {
        if (lks_args_has(args, others[i]))
            return lks_fail(err, LKS_E_USAGE, "--wedged only asks: %s has no meaning there",
                            others[i]);
    }
    if (strcmp(args->positional[1], LKS_EXECUTOR_REBOOT) != 0 || args->positional_count > 2)
        return lks_fail(err, LKS_E_USAGE, "--wedged is for executor reboot, without artifacts");
    return lks_verbs_run(
        cli, args,
        &(struct lks_verb){"node command", "/v1/nodes", "reset",
                           "the reset waits for an approver: lockstep node approve"},
        err);
}

enum lks_code lks_cmd_node_command(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    uint64_t ttl = 0, id = 0;
    if (lks_args_has(args, "--wedged"))
        return ask_wedged(cli, args, err);
    if (lks_listing_need(args, "--reason", LKS_LISTING_REASON, err) != LKS_OK ||
        (lks_args_has(args, "--ttl") && lks_listing_span(args, "--ttl", &ttl, err) != LKS_OK))
        return err->code;
    lks_remote_question_init(&q, "POST", "/v1/nodes");
    lks_remote_path_add(&q.path, lks_str_from(args->positional[0]));
    lks_remote_path_add(&q.path, LKS_STR("command"));
    lks_json_begin(&q.w, NULL, '{');
    lks_json_cstr(&q.w, "executor", args->positional[1]);
    put_digests(&q, args);
    lks_json_text(&q.w, "reason", lks_args_str(args, "--reason"));
    if (ttl > 0)
        lks_json_int(&q.w, "ttl_seconds", (int64_t)ttl);
    lks_json_end(&q.w, '}');
    if (lks_remote_question_ask(cli, args, &q, err) != LKS_OK)
        return err->code;
    const struct lks_doc *number = lks_doc_member(q.answer.doc, "id");
    id = number != NULL ? (uint64_t)number->number : 0;
    if (lks_args_has(args, "--wait"))
        return wait_for(cli, args, id, err);
    return lks_listing_done(cli, args, &q.answer, err,
                            "%s: command %" PRIu64 " (%s) waits for its agent", args->positional[0],
                            id, args->positional[1]);
}
