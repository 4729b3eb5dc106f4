/*
 * The protocol of a scheduler's bridge, which the simulated scheduler speaks too. Every verb is
 * LOOK first; where something is to be changed, ACT, for the revision that was seen; then LOOK
 * again. An answer that did not come, and another client that was faster, lead back to LOOK.
 *
 *     GET  /v1/nodes/NAME          {node, revision, age, accepts, drain, jobs, rotation,
 *                                  requests, down}
 *     PUT  /v1/nodes/NAME/drain    {owner, reason, checkpoint}
 *     POST /v1/nodes/NAME/release  {owner}
 *
 * Writes have If-Match: "REVISION" and Lockstep-Epoch: N.
 */
#include "codec/format/json.h"
#include "drivers/sched/sched_drivers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define AGAIN LKS_SECOND
#define MARK  "lockstep:" /* before the owner of each drain that we make */

enum { LOOK, ACT };

struct talking {
    struct lks_conversation head;
    enum lks_sched_verb verb;
    char node[LKS_SCHED_NODE_MAX + 1];
    char owner[LKS_SCHED_OWNER_MAX + 1];
    char reason[LKS_SCHED_REASON_MAX + 1];
    bool checkpoint;
    uint64_t least; /* answers of an earlier revision are stale */
    uint64_t epoch;
    uint32_t acts; /* that were begun */
    bool acted;    /* and one of them was said to be done */
    struct lks_sched_said said;
};

/* What of `from` has room, in bytes that can be printed. */
static void keep(char *to, size_t size, struct lks_str from)
{
    size_t len = from.len < size ? from.len : size - 1;
    if (len > 0)
        memcpy(to, from.ptr, len);
    to[len] = '\0';
    lks_str_make_printable(to);
}

/* Asking ------------------------------------------------------------------------------------ */

static lks_ms ask(const void *value, struct lks_http_request *out)
{
    const struct talking *t = value;
    bool drain = t->verb == LKS_SCHED_DRAIN;
    lks_buf_addf(&out->path, "/v1/nodes/%s", t->node);
    out->method = "GET";
    if (t->head.step == LOOK)
        return LKS_SCHED_PATIENCE;
    struct lks_json_writer w = {.out = &out->body};
    out->method = drain ? "PUT" : "POST";
    lks_buf_add(&out->path, drain ? LKS_STR("/drain") : LKS_STR("/release"));
    lks_http_request_header(out, "Content-Type", "application/json");
    lks_http_request_header(out, "If-Match", "\"%" PRIu64 "\"", t->said.revision);
    lks_http_request_header(out, "Lockstep-Epoch", "%" PRIu64, t->epoch);
    lks_json_write(&w, "{'owner': '" MARK "%s'", t->owner);
    if (drain)
        lks_json_write(&w, "'reason': '%s', 'checkpoint': %s", t->reason,
                       LKS_JSON_TRUTH(t->checkpoint));
    lks_json_end(&w, '}');
    return LKS_SCHED_PATIENCE;
}

/* Reading an answer ------------------------------------------------------------------------- */

static bool number(const struct lks_doc *map, const char *key, uint64_t max, uint64_t *out)
{
    const struct lks_doc *doc = lks_doc_member(map, key);
    if (doc == NULL || doc->kind != LKS_DOC_NUMBER || doc->number < 0 ||
        (uint64_t)doc->number > max)
        return false;
    *out = (uint64_t)doc->number;
    return true;
}

static bool truth(const struct lks_doc *map, const char *key, bool *out)
{
    const struct lks_doc *doc = lks_doc_member(map, key);
    if (doc == NULL || doc->kind != LKS_DOC_BOOL)
        return false;
    *out = doc->truth;
    return true;
}

/* Whose drain it is. An owner that is longer than ours can be is foreign. */
static void read_owner(const struct talking *t, struct lks_str owner, struct lks_sched_said *out)
{
    size_t mark = sizeof(MARK) - 1;
    out->lockstep = lks_str_starts(owner, MARK) && owner.len > mark &&
                    owner.len - mark <= LKS_SCHED_OWNER_MAX && lks_str_printable(owner);
    if (out->lockstep)
        owner = (struct lks_str){owner.ptr + mark, owner.len - mark};
    out->ours = out->lockstep && t->owner[0] != '\0' && lks_str_is(owner, t->owner);
    keep(out->owner, sizeof(out->owner), owner);
}

/* For people: the jobs that are waited for. A time is a moment and not how long it is until then,
 * so that the text is the same each time it is asked for. */
static void say_jobs(struct lks_sched_said *s, const struct lks_doc *job)
{
    char until[LKS_TIME_TEXT_SIZE], id[32] = "", of[64] = "", end[LKS_TIME_TEXT_SIZE + 16] = "";
    struct lks_str user = lks_doc_text(job, "user");
    const struct lks_doc *number = lks_doc_member(job, "id");
    if (number != NULL && number->kind == LKS_DOC_TEXT)
        snprintf(id, sizeof(id), "%" LKS_STR_FMT, LKS_STR_ARG(number->text));
    else
        snprintf(id, sizeof(id), "%" LKS_STR_FMT, LKS_STR_ARG(lks_doc_text(job, "kind")));
    if (user.len > 0)
        snprintf(of, sizeof(of), " of %" LKS_STR_FMT, LKS_STR_ARG(user));
    if (s->ends > 0)
        snprintf(end, sizeof(end), s->jobs == 1 ? ", until %s" : ", the last until %s",
                 lks_time_text(s->ends, until));
    snprintf(s->text, sizeof(s->text), "%" PRIu32 " job%s there, the first is %s%s%s", s->jobs,
             s->jobs == 1 ? " runs" : "s run", id, of, end);
}

/* For people: what it waits for, or who has it. */
static void say(struct lks_sched_said *s, const struct lks_doc *job, struct lks_str reason)
{
    char *out = s->text;
    size_t size = sizeof(s->text);
    if (s->closed && !s->lockstep)
        snprintf(out, size, "drained by '%s': %" LKS_STR_FMT, s->owner, LKS_STR_ARG(reason));
    else if (s->jobs > 0)
        say_jobs(s, job);
    else if (s->rotation)
        snprintf(out, size, "a service sends requests there");
    else if (s->requests > 0)
        snprintf(out, size, "requests are not answered yet");
    else
        snprintf(out, size, "%s", s->closed ? "drained" : "idle, and open for work");
    lks_str_make_printable(out);
}

/* The moment at which the last of the jobs ends; 0: one of them does not say when. */
static lks_ms read_ends(const struct lks_doc *jobs)
{
    lks_ms last = 0;
    for (const struct lks_doc *job = jobs->first; job != NULL; job = job->next) {
        lks_ms ends = 0;
        if (job->kind != LKS_DOC_MAP || !number(job, "ends", LKS_TIME_MAX, &ends))
            return 0;
        last = ends > last ? ends : last;
    }
    return last;
}

static bool read_node(const struct talking *t, const struct lks_doc *doc,
                      struct lks_sched_said *out, lks_ms *age)
{
    const struct lks_doc *jobs = lks_doc_member(doc, "jobs"), *drain = lks_doc_member(doc, "drain");
    struct lks_sched_said s = {.known = true};
    uint64_t requests = 0;
    bool accepts = false;
    if (!lks_str_is(lks_doc_text(doc, "node"), t->node) || drain == NULL ||
        !number(doc, "revision", LKS_DOC_NUMBER_MAX, &s.revision) ||
        !number(doc, "age", LKS_TIME_MAX, age) || !truth(doc, "accepts", &accepts) ||
        !truth(doc, "rotation", &s.rotation) ||
        !number(doc, "requests", LKS_SCHED_JOBS_MAX, &requests) || jobs == NULL ||
        jobs->kind != LKS_DOC_LIST || jobs->count > LKS_SCHED_JOBS_MAX)
        return false;
    bool drained = drain->kind == LKS_DOC_MAP;
    if ((!drained && drain->kind != LKS_DOC_NULL) ||
        (drained && (lks_doc_text(drain, "owner").len == 0 ||
                     !number(drain, "since", LKS_TIME_MAX, &s.since))))
        return false;
    s.closed = drained && !accepts;
    s.jobs = (uint32_t)jobs->count;
    s.requests = (uint32_t)requests;
    if (drained)
        read_owner(t, lks_doc_text(drain, "owner"), &s);
    s.ends = read_ends(jobs);
    (void)truth(doc, "down", &s.down); /* one that does not say it is up */
    say(&s, jobs->first, lks_doc_text(drain, "reason"));
    *out = s;
    return true;
}

/* Making something of it -------------------------------------------------------------------- */

static void again(struct talking *t, lks_ms now)
{
    lks_conversation_retry(&t->head, now + (AGAIN << t->head.tries));
}

static void act(struct talking *t, lks_ms now)
{
    if (t->acts == LKS_SCHED_TURNS_MAX) {
        lks_conversation_fail(&t->head, LKS_E_UNAVAILABLE,
                              "node '%s': asked %d times to %s it, and it is not so: %s", t->node,
                              LKS_SCHED_TURNS_MAX, lks_sched_verb_words[t->verb], t->said.text);
        return;
    }
    lks_conversation_go(&t->head, ACT, now);
    t->acts++;
}

/* Whether what is wished for is so. A drain that came behind the end of ours is not our concern. */
static bool is_so(const struct talking *t)
{
    const struct lks_sched_said *s = &t->said;
    if (t->verb == LKS_SCHED_RELEASE)
        return s->owner[0] == '\0' || (t->acted && !s->ours);
    return t->verb == LKS_SCHED_LOOK || s->closed;
}

static void judge(struct talking *t, lks_ms now)
{
    if (is_so(t))
        lks_conversation_end(&t->head);
    else if (t->verb == LKS_SCHED_DRAIN || t->said.ours)
        act(t, now);
    else
        lks_conversation_fail(&t->head, LKS_E_REFUSED,
                              "node '%s' is drained by '%s': only they can release it", t->node,
                              t->said.owner);
}

static void hear_look(struct talking *t, lks_ms now, const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_sched_said said;
    struct lks_err err = {0};
    lks_ms age = 0; /* by the bridge's own clock: ours may differ */
    if (answer == NULL || answer->status != 200 ||
        lks_docs_init(&docs, "scheduler", &err) != LKS_OK ||
        lks_json_parse(answer->body, &docs, &err) != LKS_OK ||
        !read_node(t, docs.first, &said, &age) || said.revision < t->least ||
        age > LKS_SCHED_STALE) {
        again(t, now);
        return;
    }
    t->said = said;
    t->least = said.revision;
    judge(t, now);
}

/* A refusal of our epoch: another controller leads, and this one may not write any more. */
static bool is_outdated(struct talking *t, const struct lks_doc *body)
{
    uint64_t epoch = 0;
    if (!number(body, "epoch", LKS_DOC_NUMBER_MAX, &epoch) || epoch <= t->epoch)
        return false;
    lks_conversation_fail(&t->head, LKS_E_REFUSED,
                          "node '%s': a controller with epoch %" PRIu64
                          " wrote to the scheduler; this one has %" PRIu64
                          ". If the store of lockstepd is new, see \"Epochs\" in docs/slurm.md",
                          t->node, epoch, t->epoch);
    return true;
}

/* 422: it would leave a service with too few. That is no failure: it is asked again later. */
static void hear_act(struct talking *t, lks_ms now, const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    int status = answer != NULL ? answer->status : 0;
    bool refused = status == 409 || status == 422;
    const struct lks_doc *body = NULL;
    if (refused && lks_docs_init(&docs, "scheduler", &err) == LKS_OK &&
        lks_json_parse(answer->body, &docs, &err) == LKS_OK)
        body = docs.first;
    if (status == 422) {
        struct lks_str why = lks_doc_text(body, "error");
        keep(t->said.text, sizeof(t->said.text), why.len > 0 ? why : LKS_STR("not now"));
        lks_conversation_end(&t->head);
        return;
    }
    if (status == 409 && is_outdated(t, body))
        return;
    t->acted = t->acted || status == 200;
    lks_conversation_go(&t->head, LOOK, now);
}

/* What says the same at each step. */
static bool hear_common(struct talking *t, const struct lks_http_response *answer)
{
    int status = answer != NULL ? answer->status : 0;
    if (status == 404) {
        t->said = (struct lks_sched_said){0};
        snprintf(t->said.text, sizeof(t->said.text), "the scheduler does not know the node");
        if (t->verb == LKS_SCHED_DRAIN)
            lks_conversation_fail(&t->head, LKS_E_NOT_FOUND, "the scheduler has no node '%s'",
                                  t->node);
        else
            lks_conversation_end(&t->head);
    } else if (status == 401 || status == 403) {
        lks_conversation_fail(&t->head, LKS_E_DENIED, "the scheduler does not let us %s node '%s'",
                              lks_sched_verb_words[t->verb], t->node);
    }
    return t->head.ended;
}

static void hear(void *value, lks_ms now, const struct lks_http_response *answer)
{
    struct talking *t = value;
    if (hear_common(t, answer))
        return;
    if (t->head.step == ACT)
        hear_act(t, now, answer);
    else
        hear_look(t, now, answer);
}

static const struct lks_conversation_ops talk_ops = {
    .name = "sched-bridge",
    .size = sizeof(struct talking),
    .ask = ask,
    .hear = hear,
};

static enum lks_code begin(void *value, const struct lks_sched_wish *wish, struct lks_err *err)
{
    struct talking *t = value;
    if (lks_sched_check(wish, err) != LKS_OK)
        return err->code;
    *t = (struct talking){
        .head = {.step = LOOK, .deadline = wish->deadline},
        .verb = wish->verb,
        .checkpoint = wish->checkpoint,
        .least = wish->revision,
        .epoch = wish->epoch,
    };
    keep(t->node, sizeof(t->node), wish->node);
    keep(t->owner, sizeof(t->owner), wish->owner);
    keep(t->reason, sizeof(t->reason), wish->reason);
    return LKS_OK;
}

static void said(const void *value, struct lks_sched_said *out)
{
    const struct talking *t = value;
    *out = t->said;
}

const struct lks_sched_driver lks_sched_bridge = {
    .talk = &talk_ops,
    .begin = begin,
    .said = said,
};
