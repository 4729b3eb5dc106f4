#include "drivers/sched/sched_answer.h"

#include "codec/format/json.h"

#include <inttypes.h>
#include <stdio.h>

static void read_refusal(const struct lks_http_response *answer, struct lks_sched_answer *out)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    if (lks_docs_init(&docs, "scheduler", &err) != LKS_OK ||
        lks_json_parse(answer->body, &docs, &err) != LKS_OK)
        return;
    const struct lks_doc *epoch = lks_doc_member(docs.first, "epoch");
    struct lks_str why = lks_doc_text(docs.first, "error");
    if (answer->status == 409 && epoch != NULL && epoch->kind == LKS_DOC_NUMBER &&
        epoch->number > 0)
        out->epoch = (uint64_t)epoch->number;
    out->other_run = answer->status == 409 && lks_doc_member(docs.first, "started") != NULL;
    if (why.len > 0)
        snprintf(out->why, sizeof(out->why), "%" LKS_STR_FMT, LKS_STR_ARG(why));
}

void lks_sched_answer_read(const struct lks_http_response *answer, struct lks_sched_answer *out)
{
    *out = (struct lks_sched_answer){.status = answer != NULL ? answer->status : 0};
    out->busy = out->status == 429 || out->status == 503;
    if (out->status == 200)
        return;
    if (answer == NULL)
        snprintf(out->why, sizeof(out->why), "no answer");
    else
        snprintf(out->why, sizeof(out->why), "HTTP status %d", out->status);
    if (answer != NULL)
        read_refusal(answer, out);
    lks_str_make_printable(out->why);
}

void lks_sched_answer_retry(struct lks_conversation *c, lks_ms until, const char *why)
{
    if (c->tries + 1 < LKS_CONVERSATION_TRIES_MAX || why[0] == '\0')
        lks_conversation_retry(c, until);
    else
        lks_conversation_fail(c, LKS_E_UNAVAILABLE, "no good answer in %u tries; the last: %s",
                              c->tries + 1, why);
}

bool lks_sched_answer_outdated(struct lks_conversation *c, const struct lks_sched_answer *answer,
                               uint64_t epoch, const char *subject)
{
    if (answer->epoch <= epoch)
        return false;
    lks_conversation_fail(c, LKS_E_REFUSED,
                          "%s: a controller with epoch %" PRIu64
                          " wrote to the scheduler; this one has %" PRIu64
                          ". If the store of lockstepd is new, see \"Epochs\" in docs/slurm.md",
                          subject, answer->epoch, epoch);
    return true;
}
