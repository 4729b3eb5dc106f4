/*
 * slurmrestd, Slurm's own HTTP interface, for sites that run it in place of a bridge. Every verb
 * reads the NODE first; where something is to be changed it WRITEs, and reads the node again. Of a
 * node that is drained or busy the JOBS are read: its state does not count one that is suspended.
 * A node is drained only if its state is so before and after a list without a job of its own: no
 * job starts while it is drained, and slurmctld may forget a drain at any time.
 *
 *     GET  /slurm/VERSION/node/NAME
 *     POST /slurm/VERSION/node/NAME   {state: [DRAIN] | [UNDRAIN], reason}
 *     GET  /slurm/VERSION/jobs
 *
 * The version is the newest that the server has and the table of slurmrestd_read.c knows: 404 leads
 * to the next one. The one that answered is handed back with the next wish.
 *
 * slurmrestd has no revisions and no epochs. A write of another client between our reading and our
 * write is overwritten, and a controller that does not lead any more is not refused: see
 * docs/decisions/0132-slurmrestd.md.
 */
#include "codec/format/json.h"
#include "codec/notation/drain_reason.h"
#include "core/sched/jobs.h"
#include "drivers/sched/sched_answer.h"
#include "drivers/sched/sched_drivers.h"
#include "drivers/sched/sched_said.h"
#include "drivers/sched/slurmrestd_read.h"

#include <stdio.h>
#include <string.h>

#define AGAIN LKS_SECOND

/* What stays behind a drain: 24.11 keeps the reason of a drain that ended, ours, and takes an empty
 * text for none. slurmctld's own next drain of the node would keep it, and look like one of ours.
 */
#define AFTER "returned to service"

enum { NODE, WRITE, JOBS };

struct talking {
    struct lks_conversation head;
    enum lks_sched_verb verb;
    char node[LKS_SCHED_NODE_MAX + 1];
    char owner[LKS_SCHED_OWNER_MAX + 1];
    char from[LKS_SCHED_OWNER_MAX + 1];    /* of the drain that it takes over; "": none */
    char reason[LKS_DRAIN_REASON_MAX + 1]; /* of the drain that is wished for, without its owner */
    char user[LKS_SCHED_USER_MAX + 1];
    char token[LKS_SCHED_TOKEN_MAX + 1];    /* "": the socket tells who we are */
    uint32_t version;                       /* in the table, */
    uint32_t missed;                        /* bits of those that the server does not have */
    uint32_t acts;                          /* writes that were begun */
    bool acted;                             /* and one of them was answered well */
    bool busy;                              /* by the state of the node */
    bool listed;                            /* no job is there by the list */
    char before[LKS_DRAIN_REASON_MAX + 1];  /* the reason of a node that is down, without ours */
    char shown[LKS_DRAIN_REASON_MAX + 1];   /* the reason of the drain, without its owner */
    char why[LKS_SCHED_REASON_MAX + 1];     /* what was wrong with the last answer, */
    char refusal[LKS_SCHED_REASON_MAX + 1]; /* and with that to the last write */
    struct lks_sched_said said;
};

static const struct lks_slurmrestd_read_version *version_of(const struct talking *t)
{
    return &lks_slurmrestd_read_versions[t->version];
}

/* Asking ------------------------------------------------------------------------------------ */

static void write_body(const struct talking *t, struct lks_buf *out)
{
    struct lks_json_writer w = {.out = out};
    char owner[LKS_DRAIN_REASON_OWNER_MAX + 1], reason[LKS_DRAIN_REASON_MAX + 1];
    bool drain = t->verb == LKS_SCHED_DRAIN;
    snprintf(owner, sizeof(owner), LKS_DRAIN_REASON_MARK "%s", t->owner);
    if (drain)
        lks_drain_reason_write(lks_str_from(owner), lks_str_from(t->reason),
                               lks_str_from(t->before), reason);
    else
        snprintf(reason, sizeof(reason), "%s", t->before[0] != '\0' ? t->before : AFTER);
    lks_json_write(&w, "{'state': ['%s'], 'reason': '%s'}", drain ? "DRAIN" : "UNDRAIN", reason);
}

static lks_ms ask(const void *value, struct lks_http_request *out)
{
    const struct talking *t = value;
    bool jobs = t->head.step == JOBS;
    lks_buf_addf(&out->path, "/slurm/%s/%s%s", version_of(t)->name, jobs ? "jobs" : "node/",
                 jobs ? "" : t->node);
    if (t->token[0] != '\0') {
        lks_http_request_header(out, "X-SLURM-USER-NAME", "%s", t->user);
        lks_http_request_header(out, "X-SLURM-USER-TOKEN", "%s", t->token);
    }
    out->method = t->head.step == WRITE ? "POST" : "GET";
    out->answer_max = jobs ? LKS_SCHED_JOBS_BYTES_MAX : 0;
    if (t->head.step == WRITE) {
        lks_http_request_header(out, "Content-Type", "application/json");
        write_body(t, &out->body);
    }
    return jobs ? LKS_SCHED_LISTING : LKS_SCHED_PATIENCE;
}

/* Going on ---------------------------------------------------------------------------------- */

static void again(struct talking *t, lks_ms until)
{
    lks_sched_answer_retry(&t->head, until, t->why);
}

/* The next version that was not asked for. */
static void next_version(struct talking *t, lks_ms now)
{
    t->missed |= 1U << t->version;
    for (uint32_t i = 0; i < lks_slurmrestd_read_version_count; i++) {
        if ((t->missed & 1U << i) == 0) {
            t->version = i;
            lks_conversation_go(&t->head, NODE, now);
            return;
        }
    }
    lks_conversation_fail(
        &t->head, LKS_E_UNAVAILABLE,
        "none of the versions %s to %s of slurmrestd's OpenAPI is there: is it slurmrestd, and are "
        "its plugins started (slurmrestd -s, -d)?",
        lks_slurmrestd_read_versions[lks_slurmrestd_read_version_count - 1].name,
        lks_slurmrestd_read_versions[0].name);
}

static void refuse_write(struct talking *t)
{
    lks_conversation_fail(&t->head, LKS_E_REFUSED,
                          "node '%s': slurmrestd has no route that changes nodes in %s, the newest "
                          "version here; use lockstep-slurm-bridge, or Slurm 23.11 or newer",
                          t->node, version_of(t)->name);
}

static void act(struct talking *t, lks_ms now)
{
    if (!version_of(t)->writes) {
        refuse_write(t);
    } else if (t->acts == LKS_SCHED_TURNS_MAX) {
        lks_conversation_fail(&t->head, LKS_E_UNAVAILABLE,
                              "node '%s': asked %d times to %s it, and it is not so: %s", t->node,
                              LKS_SCHED_TURNS_MAX, lks_sched_verb_words[t->verb],
                              t->refusal[0] != '\0' ? t->refusal : t->said.text);
    } else {
        t->refusal[0] = '\0';
        lks_conversation_go(&t->head, WRITE, now);
        t->listed = false;
        t->acts++;
    }
}

/* Answers ----------------------------------------------------------------------------------- */

static void take_node(struct talking *t, const struct lks_slurmrestd_node *n)
{
    struct lks_str user = n->user.len > 0 ? n->user : LKS_STR("unknown");
    bool own = lks_str_is(n->user, t->user);
    bool ours = n->drained && own, closed = n->drained || n->failing;
    struct lks_str before = lks_drain_reason_before(n->reason, ours);
    struct lks_sched_said s = {
        .known = true,
        .closed = closed,
        .jobs = n->busy,
        .since = closed ? n->since : 0,
        .dialect = t->version + 1,
    };
    lks_sched_said_outage(&s, n->down, n->maintenance, LKS_STR(""));
    if (closed) /* FAIL keeps work away, too, and is a person's, whatever the reason is */
        lks_sched_said_owner(&s, lks_drain_reason_owner(n->reason, ours, user),
                             lks_str_from(t->owner));
    if (!n->drained)
        before = n->down ? n->reason : LKS_STR("");
    lks_sched_said_keep(t->before, sizeof(t->before), before);
    lks_sched_said_keep(t->shown, sizeof(t->shown), lks_drain_reason_why(n->reason, ours));
    lks_sched_said_text(&s, LKS_STR("one that is not listed"), LKS_STR(""), lks_str_from(t->shown));
    t->busy = n->busy;
    t->said = s;
}

static void hear_node(struct talking *t, lks_ms now, struct lks_str body, struct lks_docs *docs)
{
    struct lks_slurmrestd_node n = {0};
    if (!lks_slurmrestd_read_node(body, lks_str_from(t->node), docs, &n, t->why)) {
        again(t, now + (AGAIN << t->head.tries));
        return;
    }
    take_node(t, &n);
    t->said.after = now; /* slurmctld read it for this request */
    if (lks_sched_said_is_so(&t->said, t->verb, t->from, t->acted)) {
        if (t->busy || (t->said.closed && !t->listed))
            lks_conversation_go(&t->head, JOBS, now);
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

/* No good answer. Of a node that is busy by its state, the list of jobs only adds their names; of
 * one that looks idle it decides. */
static void hear_bad(struct talking *t, lks_ms now)
{
    if (t->head.step == WRITE) {
        memcpy(t->refusal, t->why, sizeof(t->refusal));
        lks_conversation_go(&t->head, NODE, now + AGAIN);
    } else if (t->head.step == JOBS && t->busy) {
        lks_conversation_end(&t->head);
    } else {
        again(t, now + (AGAIN << t->head.tries));
    }
}

static void hear_jobs(struct talking *t, lks_ms now, struct lks_str body)
{
    struct lks_slurmrestd_jobs jobs;
    if (!lks_slurmrestd_read_jobs(body, lks_str_from(t->node), &jobs, t->why)) {
        hear_bad(t, now);
        return;
    }
    if (jobs.count == 0 && !t->busy) {
        t->listed = true;
        lks_conversation_go(&t->head, NODE, now);
        return;
    }
    if (jobs.count > 0) {
        t->said.jobs = jobs.count;
        t->said.ends = jobs.ends;
        lks_sched_said_text(&t->said, lks_str_from(jobs.id), lks_str_from(jobs.user),
                            lks_str_from(t->shown));
    }
    lks_conversation_end(&t->head);
}

/* Only a request for the node decides that there is none: an error of another request that looks
 * like it is no good answer. */
static void hear_missing(struct talking *t, lks_ms now)
{
    if (t->head.step != NODE) {
        hear_bad(t, now);
        return;
    }
    t->said = (struct lks_sched_said){.dialect = t->version + 1};
    snprintf(t->said.text, sizeof(t->said.text), "the scheduler does not know the node");
    if (t->verb == LKS_SCHED_DRAIN)
        lks_conversation_fail(&t->head, LKS_E_NOT_FOUND, "the scheduler has no node '%s'", t->node);
    else
        lks_conversation_end(&t->head);
}

/* A write is repeated only behind a new reading of the node. */
static void hear_busy(struct talking *t, lks_ms until)
{
    if (t->head.step == WRITE)
        lks_conversation_go(&t->head, NODE, until);
    else
        again(t, until);
}

static void hear_good(struct talking *t, lks_ms now, struct lks_str body, struct lks_docs *docs)
{
    if (t->head.step == NODE) {
        hear_node(t, now, body, docs);
    } else if (t->head.step == JOBS) {
        hear_jobs(t, now, body);
    } else {
        t->acted = true;
        lks_conversation_go(&t->head, NODE, now);
    }
}

static void hear(void *value, lks_ms now, const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct talking *t = value;
    struct lks_err err = {0};
    enum lks_slurmrestd_read is = LKS_SLURMRESTD_BAD;
    if (lks_docs_init(&docs, "slurmrestd", &err) == LKS_OK)
        is = lks_slurmrestd_read_answer(answer, version_of(t), &docs, t->why);
    switch (is) {
    case LKS_SLURMRESTD_GOOD:
        hear_good(t, now, answer->body, &docs);
        break;
    case LKS_SLURMRESTD_BUSY:
        hear_busy(t, now + lks_http_response_retry(answer, AGAIN << t->head.tries));
        break;
    case LKS_SLURMRESTD_BAD:
        hear_bad(t, now);
        break;
    case LKS_SLURMRESTD_DENIED:
        lks_conversation_fail(&t->head, LKS_E_DENIED,
                              "slurmrestd does not let user '%s' %s node '%s': %s", t->user,
                              lks_sched_verb_words[t->verb], t->node, t->why);
        break;
    case LKS_SLURMRESTD_MISSING:
        hear_missing(t, now);
        break;
    case LKS_SLURMRESTD_NO_PATH:
        next_version(t, now);
        break;
    case LKS_SLURMRESTD_NO_VERB:
        refuse_write(t);
        break;
    }
}

static const struct lks_conversation_ops talk_ops = {
    .name = "sched-slurmrestd",
    .size = sizeof(struct talking),
    .ask = ask,
    .hear = hear,
    .hears_all = true, /* its errors are 500 with a number */
};

/* Beginning --------------------------------------------------------------------------------- */

/* Base64url in three parts; nothing of it is repeated in a message. */
static bool is_token(struct lks_str s)
{
    bool good = s.len <= LKS_SCHED_TOKEN_MAX;
    for (size_t i = 0; i < s.len && good; i++) {
        char c = s.ptr[i];
        good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '.' || c == '=';
    }
    return good;
}

static enum lks_code check(const struct lks_sched_wish *wish, struct lks_err *err)
{
    char owner[LKS_DRAIN_REASON_OWNER_MAX + 1];
    struct lks_str user = wish->login.user;
    if (lks_sched_check(wish, err) != LKS_OK)
        return err->code;
    snprintf(owner, sizeof(owner), LKS_DRAIN_REASON_MARK "%" LKS_STR_FMT, LKS_STR_ARG(wish->owner));
    if (wish->owner.len > 0 && !lks_drain_reason_owner_valid(lks_str_from(owner)))
        return lks_fail(err, LKS_E_INVALID,
                        "the owner of a drain is one word, not '%" LKS_STR_FMT "'",
                        LKS_STR_ARG(wish->owner));
    if (user.len == 0 || user.len > LKS_SCHED_USER_MAX || !lks_str_printable(user))
        return lks_fail(err, LKS_E_INVALID, "slurm.rest_user is no name of a user");
    if (!is_token(wish->login.token))
        return lks_fail(err, LKS_E_INVALID,
                        "slurm.rest_token is no JSON web token of at most %d bytes",
                        LKS_SCHED_TOKEN_MAX);
    return LKS_OK;
}

static enum lks_code begin(void *value, const struct lks_sched_wish *wish, struct lks_err *err)
{
    struct talking *t = value;
    bool known = wish->dialect > 0 && wish->dialect <= lks_slurmrestd_read_version_count;
    if (check(wish, err) != LKS_OK)
        return err->code;
    *t = (struct talking){
        .head = {.step = NODE, .deadline = wish->deadline},
        .verb = wish->verb,
        .version = known ? wish->dialect - 1 : 0,
    };
    lks_sched_said_keep(t->node, sizeof(t->node), wish->node);
    lks_sched_said_keep(t->owner, sizeof(t->owner), wish->owner);
    lks_sched_said_keep(t->from, sizeof(t->from), wish->from);
    lks_drain_reason_words(wish->by, wish->reason, wish->row, t->reason);
    lks_sched_said_keep(t->user, sizeof(t->user), wish->login.user);
    lks_sched_said_keep(t->token, sizeof(t->token), wish->login.token);
    return LKS_OK;
}

static void said(const void *value, struct lks_sched_said *out)
{
    const struct talking *t = value;
    *out = t->said;
}

/* slurmrestd has no route that requeues a job, and its signals and its list of all jobs are not
 * asked for: a site whose plans need them runs the bridge. */
static enum lks_code begin_site(void *value, const struct lks_sched_site_wish *wish,
                                struct lks_err *err)
{
    (void)value;
    return lks_fail(err, LKS_E_REFUSED,
                    "%s: not through slurmrestd; use lockstep-slurm-bridge at this site",
                    lks_sched_site_verb_words[wish->verb]);
}

const struct lks_sched_driver lks_sched_slurmrestd = {
    .talk = &talk_ops,
    .begin = begin,
    .said = said,
    .site_talk = &talk_ops,
    .begin_site = begin_site,
};
