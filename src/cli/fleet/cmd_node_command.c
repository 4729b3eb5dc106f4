/* node command, approve, review: what a person has a node's agent do, outside a change. */
#include "base/process/interrupt.h"
#include "cli/shared/ask.h"
#include "cli/shared/commands.h"
#include "cli/shared/listing.h"
#include "cli/shared/render.h"
#include "model/manifest/executor.h"

#include <time.h>

enum { LOOK_MS = 250 };

/* lockstepd ends every command some time after its expiry, so this has an end. */
static enum lks_code wait_for(struct lks_cli *cli, const struct lks_args *args,
                              const struct lks_doc *command, struct lks_err *err)
{
    lks_interrupt_note("command %llu on %s goes on; to see how it ends: lockstep node history %s",
                       (unsigned long long)lks_render_number(command, "id"), args->positional[0],
                       args->positional[0]);
    for (;;) {
        LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
        if (lks_ask_get(cli, args, "/v1/commands/{id}", command, &q, err) != LKS_OK)
            return err->code;
        const struct lks_doc *ended = lks_doc_member(q.answer.doc, "ended");
        if (ended == NULL || ended->kind != LKS_DOC_BOOL || ended->truth) {
            cli->no = !lks_str_is(lks_doc_text(q.answer.doc, "outcome"), "done");
            return lks_ask_done(cli, args, &q.answer, "{1}: {2} {outcome}[: {text}]", err);
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000L}, NULL);
    }
}

static const struct lks_ask reset = {
    .method = "POST",
    .path = "/v1/nodes/{1}/reset",
    .members = LKS_ASK_MEMBERS(LKS_ASK_REASON),
    .done = "{1}: the reset waits for an approver: lockstep node approve" LKS_ASK_SIZE,
};

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
    return lks_ask_run(cli, args, &reset, err);
}

static const struct lks_ask run = {
    .method = "POST",
    .path = "/v1/nodes/{1}/command",
    .members =
        LKS_ASK_MEMBERS(LKS_ASK_OPTION("executor", "2"), {"digests", "3", LKS_ASK_LIST, 0, NULL},
                        LKS_ASK_REASON, {"ttl_seconds", "--ttl", LKS_ASK_SPAN, 0, NULL}),
};

enum lks_code lks_cmd_node_command(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    if (lks_args_has(args, "--wedged"))
        return ask_wedged(cli, args, err);
    if (lks_ask_send(cli, args, &run, &q, err) != LKS_OK)
        return err->code;
    if (lks_args_has(args, "--wait"))
        return wait_for(cli, args, q.answer.doc, err);
    return lks_ask_done(cli, args, &q.answer, "{1}: command {id#} ({2}) waits for its agent", err);
}
