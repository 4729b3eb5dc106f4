/*
 * What lockstep says of nodes, written to the API server of Kubernetes, node by node. The names are
 * in kubernetes_truth.c. Each answer is the node as the server has it now, and decides what is
 * written next, so nothing is written twice and nothing counts because it was sent:
 *
 *     READ     GET   /api/v1/nodes/NAME
 *     CLEAR    PATCH /api/v1/nodes/NAME          a merge patch: keys of ours that should not be
 *     APPLY    PATCH /api/v1/nodes/NAME          server-side apply: labels and the annotation
 *     TELL     PATCH /api/v1/nodes/NAME/status   server-side apply: the condition
 *     UNTELL   PATCH /api/v1/nodes/NAME/status   a strategic merge patch that deletes it
 *
 * An apply is forced: it names keys of lockstep alone, and takes them from any other manager. Every
 * write has the uid that was read: an apply would otherwise make a node that is not there, and a
 * node that was made again under its name is read first.
 *
 * What is wrong with one node is its own outcome, and the next one follows. The conversation fails
 * where the server does not answer, or refuses one node after the other.
 * See docs/decisions/0183-verdicts-in-kubernetes.md.
 */
#include "codec/format/json.h"
#include "drivers/sched/kubernetes_read.h"
#include "drivers/sched/sched_answer.h"
#include "drivers/sched/sched_kubernetes_site.h"
#include "drivers/sched/sched_said.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define AGAIN       LKS_SECOND
#define SPARE       (LKS_SCHED_DEADLINE / 3) /* no node is begun when less time is left */
#define WRITES_MAX  8                        /* of a node; CLEAR, APPLY and TELL are three */
#define DENIALS_MAX 3                        /* of one request, */
#define DENIED_MAX  3 /* and nodes one after the other: then it is no matter of nodes */

enum { READ, CLEAR, APPLY, TELL, UNTELL };

struct publishing {
    struct lks_sched_kubernetes_site site;
    struct lks_sched_told *told; /* the caller's */
    uint32_t count, at;
    uint64_t epoch;
    lks_ms now;       /* when the node was read last */
    uint32_t writes;  /* of this node that were begun, */
    uint32_t crossed; /* and those that came behind another client's */
    uint32_t denied;  /* nodes, one after the other */
    char token[LKS_SCHED_TOKEN_MAX + 1];
    struct lks_kubernetes_node read;
    char why[LKS_SCHED_REASON_MAX + 1]; /* what was wrong with the last answer */
};
_Static_assert(sizeof(struct publishing) <= LKS_SCHED_KUBERNETES_SITE_MAX, "the value fits");

/* Asking ------------------------------------------------------------------------------------ */

/* One row for each step. */
static const struct {
    const char *path, *type; /* behind that of the node */
} steps[] = {
    [READ] = {"", NULL},
    [CLEAR] = {"?fieldManager=" LKS_KUBERNETES_TRUTH_MANAGER, "application/merge-patch+json"},
    [APPLY] = {"?fieldManager=" LKS_KUBERNETES_TRUTH_MANAGER "&force=true",
               "application/apply-patch+yaml"},
    [TELL] = {"/status?fieldManager=" LKS_KUBERNETES_TRUTH_MANAGER "&force=true",
              "application/apply-patch+yaml"},
    [UNTELL] = {"/status?fieldManager=" LKS_KUBERNETES_TRUTH_MANAGER,
                "application/strategic-merge-patch+json"},
};

static void write_body(const struct publishing *p, struct lks_buf *out)
{
    const struct lks_sched_told *told = &p->told[p->at];
    const struct lks_kubernetes_truth *shown = &p->read.shown;
    struct lks_json_writer w = {.out = out};
    lks_json_write(&w,
                   "{'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': '%.*s', 'uid': '%s'",
                   LKS_STR_ARG(told->node), shown->uid);
    if (p->site.head.step == CLEAR)
        lks_kubernetes_truth_clear(shown, &told->truth, &w);
    if (p->site.head.step == APPLY)
        lks_kubernetes_truth_write(&told->truth, &w);
    lks_json_end(&w, '}');
    if (p->site.head.step == TELL || p->site.head.step == UNTELL) {
        lks_json_write(&w, "'status': {'conditions': [");
        if (p->site.head.step == TELL)
            lks_kubernetes_truth_write_condition(shown, &told->truth, p->now, &w);
        else
            lks_json_write(&w,
                           "{'$patch': 'delete', 'type': '" LKS_KUBERNETES_TRUTH_CONDITION "'}");
        lks_json_write(&w, "]}");
    }
    lks_json_end(&w, '}');
}

static lks_ms ask(const void *value, struct lks_http_request *out)
{
    const struct publishing *p = value;
    uint32_t step = p->site.head.step;
    lks_buf_addf(&out->path, "/api/v1/nodes/%" LKS_STR_FMT "%s", LKS_STR_ARG(p->told[p->at].node),
                 steps[step].path);
    if (p->token[0] != '\0')
        lks_http_request_header(out, "Authorization", "Bearer %s", p->token);
    lks_http_request_header(out, "Accept", "application/json");
    out->method = step == READ ? "GET" : "PATCH";
    if (step != READ) {
        lks_http_request_header(out, "Content-Type", "%s", steps[step].type);
        write_body(p, &out->body);
    }
    return LKS_SCHED_PATIENCE;
}

/* Going on ---------------------------------------------------------------------------------- */

/* What is done counts, also where the server is so slow that not all of it is. */
static void go_on(struct publishing *p, lks_ms now)
{
    bool late = now + SPARE >= p->site.head.deadline;
    p->writes = p->crossed = 0;
    p->at++;
    for (uint32_t i = p->at; late && i < p->count; i++)
        p->told[i].open = true;
    if (p->at < p->count && !late)
        lks_conversation_go(&p->site.head, READ, now);
    else
        lks_conversation_end(&p->site.head);
}

static void finish(struct publishing *p, lks_ms now)
{
    p->told[p->at].seen = true;
    p->denied = 0;
    go_on(p, now);
}

/* The outcome of this node, and the next one. */
LKS_PRINTF(3, 4)
static void give_up(struct publishing *p, lks_ms now, const char *format, ...)
{
    struct lks_sched_told *told = &p->told[p->at];
    va_list ap;
    va_start(ap, format);
    vsnprintf(told->why, sizeof(told->why), format, ap);
    va_end(ap);
    lks_str_make_printable(told->why);
    go_on(p, now);
}

static void act(struct publishing *p, lks_ms now, uint32_t step)
{
    if (p->writes++ == WRITES_MAX)
        give_up(p, now, "the node was written %d times, and the API server returns other values",
                WRITES_MAX);
    else
        lks_conversation_go(&p->site.head, step, now);
}

/* By what the server returned. */
static void decide(struct publishing *p, lks_ms now)
{
    struct lks_sched_told *told = &p->told[p->at];
    const struct lks_kubernetes_truth *shown = &p->read.shown;
    p->now = now;
    if (p->read.mark.epoch > p->epoch) {
        lks_conversation_fail(&p->site.head, LKS_E_REFUSED,
                              LKS_KUBERNETES_READ_OUTDATED("%" LKS_STR_FMT),
                              LKS_STR_ARG(told->node), p->read.mark.epoch, p->epoch);
    } else if (lks_kubernetes_truth_shown(shown, &told->truth)) {
        finish(p, now);
    } else if (shown->uid[0] == '\0') {
        give_up(p, now, "the API server returns the node without its uid");
    } else if (lks_kubernetes_truth_extra(shown, &told->truth)) {
        act(p, now, CLEAR);
    } else if (!lks_kubernetes_truth_labelled(shown, &told->truth)) {
        act(p, now, APPLY);
    } else {
        act(p, now, told->truth.features[0] != '\0' ? TELL : UNTELL);
    }
}

/* Answers ----------------------------------------------------------------------------------- */

static void again(struct publishing *p, lks_ms until)
{
    lks_sched_answer_retry(&p->site.head, until, p->why);
}

static void hear_good(struct publishing *p, lks_ms now, struct lks_str body)
{
    if (lks_kubernetes_read_node(body, p->told[p->at].node, &p->read, p->why))
        decide(p, now);
    else
        again(p, now + (AGAIN << p->site.head.tries));
}

/* A server that starts knows neither tokens nor rights for a while. */
static void hear_denied(struct publishing *p, lks_ms now)
{
    const char *what = p->site.head.step == READ ? "read" : "write verdicts to";
    if (p->site.head.tries + 1 < DENIALS_MAX) {
        again(p, now + (AGAIN << p->site.head.tries));
    } else if (++p->denied < DENIED_MAX) {
        give_up(p, now, "the API server does not let lockstep %s the node: %s", what, p->why);
    } else {
        lks_conversation_fail(&p->site.head, LKS_E_DENIED,
                              "the API server does not let lockstep %s nodes: %s", what, p->why);
    }
}

/* What is not there shows nothing: that is what a node that left should show. */
static void hear_missing(struct publishing *p, lks_ms now)
{
    if (p->site.head.step != READ)
        lks_conversation_go(&p->site.head, READ, now);
    else if (p->told[p->at].truth.features[0] == '\0')
        finish(p, now);
    else
        give_up(p, now, "the API server has no such node");
}

static void hear_conflict(struct publishing *p, lks_ms now)
{
    if (++p->crossed < LKS_SCHED_TURNS_MAX)
        lks_conversation_go(&p->site.head, READ, now);
    else
        give_up(p, now, "another client was faster %d times: %s", LKS_SCHED_TURNS_MAX, p->why);
}

/* A request of this node that no repeat makes good: a policy refuses it, or the server does not
 * know such a patch. */
static bool is_refusal(const struct lks_http_response *answer)
{
    return answer != NULL && (answer->status == 400 || answer->status == 413 ||
                              answer->status == 415 || answer->status == 422);
}

static void hear(void *value, lks_ms now, const struct lks_http_response *answer)
{
    struct publishing *p = value;
    lks_ms later = now + (AGAIN << p->site.head.tries);
    switch (lks_kubernetes_read_answer(answer, p->why)) {
    case LKS_KUBERNETES_GOOD:
        hear_good(p, now, answer->body);
        break;
    case LKS_KUBERNETES_BUSY:
        again(p, now + lks_http_response_retry(answer, later - now));
        break;
    case LKS_KUBERNETES_DENIED:
        hear_denied(p, now);
        break;
    case LKS_KUBERNETES_MISSING:
        hear_missing(p, now);
        break;
    case LKS_KUBERNETES_CONFLICT:
        hear_conflict(p, now);
        break;
    case LKS_KUBERNETES_BAD:
    case LKS_KUBERNETES_GONE:
        if (is_refusal(answer))
            give_up(p, now, "the API server refuses the verdict: %s", p->why);
        else
            again(p, later);
        break;
    }
}

static enum lks_code begin(void *value, const struct lks_sched_site_wish *wish, struct lks_err *err)
{
    struct publishing *p = value;
    if (lks_sched_check_site(wish, err) != LKS_OK ||
        lks_kubernetes_read_token(wish->login.token, err) != LKS_OK)
        return err->code;
    *p = (struct publishing){.site = {.head = {.step = READ, .deadline = wish->deadline},
                                      .verb = LKS_SCHED_SITE_PUBLISH},
                             .told = wish->told,
                             .count = wish->told_count,
                             .epoch = wish->epoch};
    lks_sched_said_keep(p->token, sizeof(p->token), wish->login.token);
    return LKS_OK;
}

const struct lks_sched_kubernetes_part lks_sched_kubernetes_truth = {ask, hear, begin};
