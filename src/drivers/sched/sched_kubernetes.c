/*
 * The API server of Kubernetes. Every verb reads the NODE first; where something is to be changed
 * it WRITEs, and reads the node again. Of a node that takes no new work, and in each look,
 * the PODS are read, page by page: those that use GPUs are its jobs. A node is drained only if it
 * was so before and after a list without such a pod: one that was bound before the drain is in the
 * list.
 *
 *     GET   /api/v1/nodes/NAME
 *     PATCH /api/v1/nodes/NAME     a merge patch with the resourceVersion that was read
 *     GET   /api/v1/pods?fieldSelector=spec.nodeName=NAME&limit=...
 *
 * A drain is `spec.unschedulable`, a taint and an annotation. spec.taints is one value to a merge
 * patch: the taints of others are written back as they were read, and 409 says that the node
 * changed since; then it is read again. No pod is deleted or evicted here: that is asked of the
 * site (sched_kubernetes_jobs.c).
 *
 * Kubernetes has no epochs of leaders. The annotation has that of the controller that drained the
 * node, and one with a lower epoch does not change the node; the resourceVersion makes the check
 * and the write one act. See docs/decisions/0178-kubernetes-driver.md.
 */
#include "codec/format/json.h"
#include "codec/notation/drain_reason.h"
#include "core/sched/jobs.h"
#include "drivers/sched/kubernetes_pods.h"
#include "drivers/sched/kubernetes_read.h"
#include "drivers/sched/sched_answer.h"
#include "drivers/sched/sched_drivers.h"
#include "drivers/sched/sched_kubernetes_site.h"
#include "drivers/sched/sched_said.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define AGAIN LKS_SECOND

/* A scheduler that lost its watch binds pods to nodes as it knew them before; client-go waits 30 s,
 * and up to as long again by chance, until it has a new one. */
#define SETTLE    (60 * LKS_SECOND)
#define PAGE      50  /* pods in one answer */
#define PAGES_MAX 200 /* of a node's pods */
#define LANES     8   /* conversations with one API server at a time */

enum { NODE, WRITE, PODS };

struct talking {
    struct lks_conversation head;
    enum lks_sched_verb verb;
    char node[LKS_SCHED_NODE_MAX + 1];
    char owner[LKS_SCHED_OWNER_MAX + 1];
    char from[LKS_SCHED_OWNER_MAX + 1];    /* of the drain that it takes over; "": none */
    char reason[LKS_DRAIN_REASON_MAX + 1]; /* of the drain that is wished for */
    char token[LKS_SCHED_TOKEN_MAX + 1];   /* "": the certificate tells who we are */
    uint64_t row, epoch;
    lks_ms begun;
    uint32_t acts;  /* writes that were begun */
    uint32_t pages; /* of pods that were asked for */
    bool acted;     /* a write was answered well */
    bool listed;    /* no pod that counts is there, by the list that was read last */
    struct lks_kubernetes_node read;
    struct lks_kubernetes_pods pods;
    char why[LKS_SCHED_REASON_MAX + 1];     /* what was wrong with the last answer, */
    char refusal[LKS_SCHED_REASON_MAX + 1]; /* and with that to the last write */
    struct lks_sched_said said;
};

/* Asking ------------------------------------------------------------------------------------ */

static void put_mark(const struct talking *t, struct lks_buf *out)
{
    struct lks_json_writer w = {.out = out};
    char since[LKS_TIME_TEXT_SIZE];
    bool goes_on =
        t->read.tainted && t->read.mark.since > 0; /* the drain of another owner of ours */
    lks_ms begun = goes_on ? t->read.mark.since : t->begun;
    lks_json_begin(&w, NULL, '{');
    lks_json_cstr(&w, "owner", t->owner);
    lks_json_cstr(&w, "reason", t->reason);
    if (t->row > 0)
        lks_json_int(&w, "row", (int64_t)t->row);
    if (t->epoch > 0)
        lks_json_int(&w, "epoch", (int64_t)t->epoch);
    if (begun > 0)
        lks_json_cstr(&w, "since", lks_time_text(begun, since));
    lks_json_end(&w, '}');
}

/* Whether `unschedulable` goes with the drain: another who set it since keeps it. */
static bool opens(const struct talking *t)
{
    return t->read.cordoner[0] == '\0' ||
           strcmp(t->read.cordoner, LKS_KUBERNETES_READ_MANAGER) == 0;
}

static void put_spec(const struct talking *t, struct lks_json_writer *w)
{
    bool drain = t->verb == LKS_SCHED_DRAIN;
    lks_json_begin(w, "spec", '{');
    if (drain)
        lks_json_bool(w, "unschedulable", true);
    else if (opens(t))
        lks_json_null(w, "unschedulable");
    lks_json_begin(w, "taints", '[');
    if (t->read.taints[0] != '\0')
        lks_json_raw(w, NULL, lks_str_from(t->read.taints));
    if (drain)
        lks_json_write(w, "{'key': '%s', 'effect': 'NoSchedule'}", LKS_KUBERNETES_READ_MARK);
    lks_json_end(w, ']');
    lks_json_end(w, '}');
}

static void write_body(const struct talking *t, struct lks_buf *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf mark = LKS_BUF(LKS_HTTP_LINES_MAX);
    struct lks_json_writer w = {.out = out};
    lks_json_begin(&w, NULL, '{');
    lks_json_begin(&w, "metadata", '{');
    lks_json_cstr(&w, "resourceVersion", t->read.version);
    lks_json_begin(&w, "annotations", '{');
    if (t->verb == LKS_SCHED_DRAIN) {
        put_mark(t, &mark);
        lks_json_text(&w, LKS_KUBERNETES_READ_MARK, lks_buf_view(&mark));
    } else
        lks_json_null(&w, LKS_KUBERNETES_READ_MARK);
    lks_json_end(&w, '}');
    lks_json_end(&w, '}');
    put_spec(t, &w);
    lks_json_end(&w, '}');
}

static void write_path(const struct talking *t, struct lks_buf *out)
{
    if (t->head.step != PODS) {
        lks_buf_addf(out, "/api/v1/nodes/%s%s", t->node,
                     t->head.step == WRITE ? "?fieldManager=" LKS_KUBERNETES_READ_MANAGER : "");
        return;
    }
    lks_buf_addf(out, "/api/v1/pods?fieldSelector=spec.nodeName%%3D%s&limit=%d", t->node, PAGE);
    if (t->pods.more[0] != '\0')
        lks_buf_addf(out, "&continue=%s", t->pods.more);
}

static lks_ms ask(const void *value, struct lks_http_request *out)
{
    const struct talking *t = value;
    bool pods = t->head.step == PODS;
    write_path(t, &out->path);
    if (t->token[0] != '\0')
        lks_http_request_header(out, "Authorization", "Bearer %s", t->token);
    lks_http_request_header(out, "Accept", "application/json");
    out->method = t->head.step == WRITE ? "PATCH" : "GET";
    out->answer_max = pods ? LKS_SCHED_JOBS_BYTES_MAX : 0;
    if (t->head.step == WRITE) {
        lks_http_request_header(out, "Content-Type", "application/merge-patch+json");
        write_body(t, &out->body);
    }
    return pods ? LKS_SCHED_LISTING : LKS_SCHED_PATIENCE;
}

/* Going on ---------------------------------------------------------------------------------- */

static void again(struct talking *t, lks_ms until)
{
    lks_sched_answer_retry(&t->head, until, t->why);
}

static void list_pods(struct talking *t, lks_ms until)
{
    t->pods = (struct lks_kubernetes_pods){0};
    lks_conversation_go(&t->head, PODS, until);
}

static void act(struct talking *t, lks_ms now)
{
    if (lks_kubernetes_read_outdated(&t->head, t->node, &t->read.mark, t->epoch))
        return;
    if (t->read.crowded) {
        lks_conversation_fail(&t->head, LKS_E_REFUSED,
                              "node '%s' has taints of more than %d bytes, which would be lost; "
                              "remove some",
                              t->node, LKS_KUBERNETES_READ_TAINTS);
    } else if (t->acts == LKS_SCHED_TURNS_MAX) {
        lks_conversation_fail(&t->head, LKS_E_UNAVAILABLE,
                              "node '%s': asked %d times to %s it, and it is not so: %s", t->node,
                              LKS_SCHED_TURNS_MAX, lks_sched_verb_words[t->verb],
                              t->refusal[0] != '\0' ? t->refusal : t->said.text);
    } else {
        t->refusal[0] = '\0';
        if (t->begun > 0)
            t->begun = now; /* the taint is not there before this, however long it was waited */
        t->listed = false;
        lks_conversation_go(&t->head, WRITE, now);
        t->acts++;
    }
}

/* Answers ----------------------------------------------------------------------------------- */

static void say(struct talking *t)
{
    char until[LKS_TIME_TEXT_SIZE];
    if (t->said.settles && t->said.jobs == 0)
        snprintf(t->said.text, sizeof(t->said.text),
                 "no pod with GPUs there; counts as drained at %s: a scheduler may bind pods by "
                 "what it knew before",
                 lks_time_text(t->said.since + SETTLE, until));
    else
        lks_sched_said_text(&t->said, lks_str_from(t->pods.first), LKS_STR(""), LKS_STR(""));
}

static void take_node(struct talking *t)
{
    const struct lks_kubernetes_node *n = &t->read;
    char owner[sizeof(LKS_SCHED_MARK) + LKS_SCHED_OWNER_MAX];
    bool marked = n->tainted && n->mark.valid;
    bool manager = strcmp(n->cordoner, LKS_KUBERNETES_READ_MANAGER) == 0;
    t->said = (struct lks_sched_said){.known = true,
                                      .closed = n->unschedulable || n->tainted,
                                      .truthful = true,
                                      .slotted = true,
                                      .digestible = true,
                                      .noted = true,
                                      .truth = n->shown.is,
                                      .since = marked ? n->mark.since : 0};
    lks_sched_said_outage(&t->said, n->down, false, LKS_STR(""));
    snprintf(owner, sizeof(owner), LKS_SCHED_MARK "%s", n->mark.owner);
    if (marked)
        lks_sched_said_owner(&t->said, lks_str_from(owner), lks_str_from(t->owner));
    else if (t->said.closed) /* whatever another calls itself, it is not ours */
        snprintf(t->said.owner, sizeof(t->said.owner), "%s",
                 n->cordoner[0] != '\0' && !manager ? n->cordoner : "unknown");
    t->said.settles =
        t->said.ours && t->begun > 0 && (t->said.since == 0 || t->begun < t->said.since + SETTLE);
    say(t);
}

static void hear_node(struct talking *t, lks_ms now, struct lks_str body)
{
    if (!lks_kubernetes_read_node(body, lks_str_from(t->node), &t->read, t->why)) {
        again(t, now + (AGAIN << t->head.tries));
        return;
    }
    take_node(t);
    t->said.after = now; /* it was read for this request */
    if (lks_sched_said_is_so(&t->said, t->verb, t->from, t->acted)) {
        if (!t->listed && (t->said.closed || t->verb == LKS_SCHED_LOOK))
            list_pods(t, now);
        else
            lks_conversation_end(&t->head);
    } else if (t->verb == LKS_SCHED_DRAIN || t->said.ours) {
        act(t, now);
    } else {
        lks_conversation_fail(&t->head, LKS_E_REFUSED,
                              "node '%s' is drained by '%s': only they can release it", t->node,
                              t->said.owner);
    }
}

static void hear_pods(struct talking *t, lks_ms now, struct lks_str body)
{
    if (!lks_kubernetes_pods_count(body, lks_str_from(t->node), &t->pods, t->why)) {
        again(t, now + (AGAIN << t->head.tries));
    } else if (t->pods.more[0] == '\0') {
        t->listed = t->pods.count == 0;
        t->said.jobs = t->pods.count;
        t->said.ends = t->pods.endless ? 0 : t->pods.ends;
        say(t);
        if (t->listed && t->said.closed)
            lks_conversation_go(&t->head, NODE, now); /* is it so after the list as well? */
        else
            lks_conversation_end(&t->head);
    } else if (++t->pages == PAGES_MAX) {
        lks_conversation_fail(&t->head, LKS_E_UNAVAILABLE,
                              "node '%s': its pods do not end within %d pages", t->node, PAGES_MAX);
    } else {
        lks_conversation_go(&t->head, PODS, now);
    }
}

/* A write is repeated only behind a new reading of the node. */
static void hear_bad(struct talking *t, lks_ms until)
{
    if (t->head.step == WRITE) {
        memcpy(t->refusal, t->why, sizeof(t->refusal));
        lks_conversation_go(&t->head, NODE, until);
    } else {
        again(t, until);
    }
}

/* Only a request for the node decides that there is none: it may be deleted while it is written. */
static void hear_missing(struct talking *t, lks_ms now)
{
    if (t->head.step != NODE) {
        hear_bad(t, now + AGAIN);
        return;
    }
    t->said = (struct lks_sched_said){0};
    snprintf(t->said.text, sizeof(t->said.text), "the scheduler does not know the node");
    if (t->verb == LKS_SCHED_DRAIN)
        lks_conversation_fail(&t->head, LKS_E_NOT_FOUND, "the scheduler has no node '%s'", t->node);
    else
        lks_conversation_end(&t->head);
}

/* An API server that starts knows neither tokens nor rights for a while: only what it goes on to
 * refuse is refused. */
static void hear_denied(struct talking *t, lks_ms until)
{
    bool last = t->head.step == WRITE ? t->acts == LKS_SCHED_TURNS_MAX
                                      : t->head.tries + 1 == LKS_CONVERSATION_TRIES_MAX;
    if (last)
        lks_conversation_fail(
            &t->head, LKS_E_DENIED, "the API server does not let lockstep %s node '%s': %s",
            t->verb == LKS_SCHED_LOOK ? "read" : lks_sched_verb_words[t->verb], t->node, t->why);
    else
        hear_bad(t, until);
}

static void hear_good(struct talking *t, lks_ms now, struct lks_str body)
{
    if (t->head.step == NODE) {
        hear_node(t, now, body);
    } else if (t->head.step == PODS) {
        hear_pods(t, now, body);
    } else {
        t->acted = true;
        lks_conversation_go(&t->head, NODE, now);
    }
}

static void hear(void *value, lks_ms now, const struct lks_http_response *answer)
{
    struct talking *t = value;
    lks_ms later = now + (AGAIN << t->head.tries);
    switch (lks_kubernetes_read_answer(answer, t->why)) {
    case LKS_KUBERNETES_GOOD:
        hear_good(t, now, answer->body);
        break;
    case LKS_KUBERNETES_BUSY:
        hear_bad(t, now + lks_http_response_retry(answer, later - now));
        break;
    case LKS_KUBERNETES_BAD:
        hear_bad(t, later);
        break;
    case LKS_KUBERNETES_DENIED:
        hear_denied(t, later);
        break;
    case LKS_KUBERNETES_MISSING:
        hear_missing(t, now);
        break;
    case LKS_KUBERNETES_CONFLICT:
        hear_bad(t, t->head.step == WRITE ? now : later);
        break;
    case LKS_KUBERNETES_GONE:
        t->pods = (struct lks_kubernetes_pods){0};
        hear_bad(t, later);
        break;
    }
}

static const struct lks_conversation_ops talk_ops = {
    .name = "sched-kubernetes",
    .size = sizeof(struct talking),
    .ask = ask,
    .hear = hear,
    .hears_all = true, /* a write that was answered with 5xx is looked for first */
};

/* Beginning --------------------------------------------------------------------------------- */

static enum lks_code begin(void *value, const struct lks_sched_wish *wish, struct lks_err *err)
{
    struct talking *t = value;
    if (lks_sched_check(wish, err) != LKS_OK)
        return err->code;
    if (lks_kubernetes_read_token(wish->login.token, err) != LKS_OK)
        return err->code;
    *t = (struct talking){.head = {.step = NODE, .deadline = wish->deadline},
                          .verb = wish->verb,
                          .row = wish->row,
                          .epoch = wish->epoch,
                          .begun = wish->now};
    lks_sched_said_keep(t->node, sizeof(t->node), wish->node);
    lks_sched_said_keep(t->owner, sizeof(t->owner), wish->owner);
    lks_sched_said_keep(t->from, sizeof(t->from), wish->from);
    lks_drain_reason_words(wish->by, wish->reason, 0, t->reason);
    lks_sched_said_keep(t->token, sizeof(t->token), wish->login.token);
    return LKS_OK;
}

static void said(const void *value, struct lks_sched_said *out)
{
    const struct talking *t = value;
    *out = t->said;
}

/* A whole site ------------------------------------------------------------------------------ */

/* Who has the verb; NULL: Kubernetes has nothing like it, or lockstep does not use it. */
static const struct lks_sched_kubernetes_part *part_of(enum lks_sched_site_verb verb)
{
    static const struct lks_sched_kubernetes_part *const parts[LKS_SCHED_SITE_VERB_COUNT] = {
        [LKS_SCHED_SITE_JOBS] = &lks_sched_kubernetes_jobs,
        [LKS_SCHED_SITE_REQUEUE] = &lks_sched_kubernetes_jobs,
        [LKS_SCHED_SITE_PUBLISH] = &lks_sched_kubernetes_truth,
    };
    return parts[verb];
}

static lks_ms ask_site(const void *value, struct lks_http_request *out)
{
    const struct lks_sched_kubernetes_site *site = value;
    return part_of(site->verb)->ask(value, out);
}

static void hear_site(void *value, lks_ms now, const struct lks_http_response *answer)
{
    const struct lks_sched_kubernetes_site *site = value;
    part_of(site->verb)->hear(value, now, answer);
}

static const struct lks_conversation_ops site_ops = {
    .name = "sched-kubernetes-site",
    .size = LKS_SCHED_KUBERNETES_SITE_MAX,
    .ask = ask_site,
    .hear = hear_site,
    .hears_all = true,
};

static enum lks_code begin_site(void *value, const struct lks_sched_site_wish *wish,
                                struct lks_err *err)
{
    const struct lks_sched_kubernetes_part *part = part_of(wish->verb);
    if (part == NULL)
        return lks_fail(err, LKS_E_REFUSED, "%s: lockstep does not do that in Kubernetes",
                        lks_sched_site_verb_words[wish->verb]);
    return part->begin(value, wish, err);
}

const struct lks_sched_driver lks_sched_kubernetes = {
    .lanes = LANES,
    .talk = &talk_ops,
    .begin = begin,
    .said = said,
    .site_talk = &site_ops,
    .begin_site = begin_site,
};
