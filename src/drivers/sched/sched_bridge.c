/*
 * The protocol of a scheduler's bridge, which the simulated scheduler speaks too. Every verb is
 * LOOK first; where something is to be changed, ACT, for the revision that was seen; then LOOK
 * again. An answer that did not come, and another client that was faster, lead back to LOOK.
 *
 *     GET  /v1/nodes/NAME          {node, revision, age, accepts, drain, jobs, rotation,
 *                                  requests, down, state, gres, gres_used}
 *     PUT  /v1/nodes/NAME/drain    {owner, reason, checkpoint, from?}
 *     POST /v1/nodes/NAME/release  {owner}
 *
 * Writes have If-Match: "REVISION" and Lockstep-Epoch: N.
 */
#include "codec/format/json.h"
#include "codec/notation/drain_reason.h"
#include "codec/notation/gres.h"
#include "drivers/sched/sched_answer.h"
#include "drivers/sched/sched_drivers.h"
#include "drivers/sched/sched_said.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define AGAIN LKS_SECOND

/* A bridge reads its scheduler once a second: asked twice meanwhile, it shows one reading twice.
 * Its age is known but for the time that request and answer travel. As long as revisions show that
 * the reading is not an older one, it may be taken to be older by so much. */
#define READING_MAX LKS_SECOND

enum { LOOK, ACT };
enum { LANES = 64 };        /* a bridge carries out what waits together as one request to Slurm */
enum { FEATURES_MAX = 16 }; /* of lockstep on a node */

struct talking {
    struct lks_conversation head;
    enum lks_sched_verb verb;
    char node[LKS_SCHED_NODE_MAX + 1];
    char owner[LKS_SCHED_OWNER_MAX + 1];
    char from[LKS_SCHED_OWNER_MAX + 1]; /* of the drain that it takes over; "": none */
    char reason[LKS_DRAIN_REASON_MAX + 1];
    bool checkpoint;
    uint64_t least; /* answers of an earlier revision are stale */
    lks_ms after;   /* and so are readings from before this, */
    lks_ms asked;   /* which are not from before this less their age */
    uint64_t epoch;
    uint32_t acts; /* that were begun */
    bool acted;    /* and one of them was said to be done */
    struct lks_sched_said said;
    char why[LKS_SCHED_REASON_MAX + 1]; /* the last answer was no good */
};

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
    out->repeatable = true; /* it is for one revision, which it ends */
    out->method = drain ? "PUT" : "POST";
    lks_buf_add(&out->path, drain ? LKS_STR("/drain") : LKS_STR("/release"));
    lks_http_request_header(out, "Content-Type", "application/json");
    lks_http_request_header(out, "If-Match", "\"%" PRIu64 "\"", t->said.revision);
    lks_http_request_header(out, "Lockstep-Epoch", "%" PRIu64, t->epoch);
    lks_json_write(&w, "{'owner': '" LKS_SCHED_MARK "%s'", t->owner);
    if (drain)
        lks_json_write(&w, "'reason': '%s', 'checkpoint': %s", t->reason,
                       LKS_JSON_TRUTH(t->checkpoint));
    if (drain && t->from[0] != '\0')
        lks_json_write(&w, "'from': '" LKS_SCHED_MARK "%s'", t->from);
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

static bool boolean(const struct lks_doc *map, const char *key, bool *out)
{
    const struct lks_doc *doc = lks_doc_member(map, key);
    if (doc == NULL || doc->kind != LKS_DOC_BOOL)
        return false;
    *out = doc->truth;
    return true;
}

/* A bridge names jobs; the simulated scheduler has kinds of them. */
static struct lks_str job_id(const struct lks_doc *job)
{
    struct lks_str id = lks_doc_text(job, "id");
    return id.len > 0 ? id : lks_doc_text(job, "kind");
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

/* How many GPUs there are of a type; of any type: an empty one. */
static uint64_t count_of(const struct lks_gres *gres, struct lks_str type)
{
    uint64_t count = 0;
    for (size_t i = 0; i < gres->count; i++) {
        const struct lks_gres_item *item = &gres->items[i];
        if (lks_str_is(item->name, "gpu") && (type.len == 0 || lks_str_eq(item->type, type)))
            count += item->count;
    }
    return count;
}

/* Jobs hold GPUs that the node does not have by its configuration: it was changed under them. */
static bool more_in_use(const struct lks_gres *has, struct lks_str text)
{
    struct lks_gres used;
    struct lks_err err = {0};
    if (lks_gres_parse(text, &used, &err) != LKS_OK)
        return false;
    for (size_t i = 0; i < used.count; i++) {
        struct lks_str type = used.items[i].type;
        if (lks_str_is(used.items[i].name, "gpu") && used.items[i].count > count_of(has, type))
            return true;
    }
    return false;
}

/* Its GPUs, the same text for all lists that mean the same. A list that cannot be read says
 * nothing, and neither does one without GPUs. */
static void read_gres(const struct lks_doc *doc, struct lks_sched_said *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_SCHED_GRES_MAX);
    struct lks_gres gres;
    struct lks_err err = {0};
    struct lks_str state = lks_doc_text(doc, "state");
    if (lks_gres_parse(lks_doc_text(doc, "gres"), &gres, &err) != LKS_OK ||
        lks_gres_write(&gres, "gpu", &text, &err) != LKS_OK || text.len == 0)
        return;
    lks_sched_said_keep(out->gres, sizeof(out->gres), lks_buf_view(&text));
    if (lks_str_find(state, LKS_STR("invalid_registration")) >= 0)
        out->odd = LKS_SCHED_ODD_REGISTERED;
    else if (more_in_use(&gres, lks_doc_text(doc, "gres_used")))
        out->odd = LKS_SCHED_ODD_USED;
}

/* Features are kept sorted, so that two of the same set are equal texts. */
static void read_features(const struct lks_doc *list, char out[LKS_SCHED_FEATURES_MAX + 1])
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_SCHED_FEATURES_MAX);
    struct lks_str words[FEATURES_MAX];
    size_t count = 0;
    for (const struct lks_doc *at = list->first; at != NULL && count < FEATURES_MAX;
         at = at->next) {
        size_t place = count++;
        for (; place > 0 && lks_str_cmp(words[place - 1], at->text) > 0; place--)
            words[place] = words[place - 1];
        words[place] = at->text;
    }
    for (size_t i = 0; i < count; i++)
        lks_buf_addf(&text, "%s%" LKS_STR_FMT, i > 0 ? "," : "", LKS_STR_ARG(words[i]));
    lks_sched_said_keep(out, LKS_SCHED_FEATURES_MAX + 1, lks_buf_view(&text));
}

/* What lockstep published of the node, where the bridge shows it. */
static void read_truth(const struct lks_doc *doc, struct lks_sched_said *out)
{
    const struct lks_doc *truth = lks_doc_member(doc, "truth");
    const struct lks_doc *features = lks_doc_member(truth, "features");
    bool words = features != NULL && features->kind == LKS_DOC_LIST;
    for (const struct lks_doc *at = words ? features->first : NULL; at != NULL; at = at->next)
        words = words && at->kind == LKS_DOC_TEXT;
    (void)number(doc, "configured", LKS_TIME_MAX, &out->configured);
    if (!words || !boolean(truth, "shown", &out->digestible))
        return;
    out->truthful = true;
    (void)boolean(truth, "slots", &out->slotted);
    read_features(features, out->truth.features);
    lks_sched_said_keep(out->truth.digest, sizeof(out->truth.digest),
                        lks_doc_text(truth, "digest"));
}

/* Whether no job starts there, drained or not: reservations for maintenance have their flag while
 * they last, by the scheduler's own clock. One that lockstep made is no outage: the change that it
 * is for says which node is next. */
static void read_outage(const struct lks_doc *doc, struct lks_sched_said *out)
{
    const struct lks_doc *reservation = lks_doc_member(doc, "reservation");
    bool down = false, own = false; /* a node that does not show them is up, and not in ours */
    (void)boolean(doc, "down", &down);
    (void)boolean(reservation, "own", &own);
    lks_sched_said_outage(
        out, down, !own && lks_str_find(lks_doc_text(doc, "state"), LKS_STR("+maintenance")) >= 0,
        lks_doc_text(reservation, "name"));
}

/* A job without an id stands for what keeps the node from being empty, in the words of the bridge.
 */
static void say_unlisted(struct lks_sched_said *s, const struct lks_doc *job)
{
    struct lks_str why = lks_doc_text(job, "name");
    if (lks_str_is(lks_doc_text(job, "id"), "?") && why.len > 0 && (s->lockstep || !s->closed))
        lks_sched_said_keep(s->text, sizeof(s->text), why);
}

static bool read_node(const struct talking *t, const struct lks_doc *doc,
                      struct lks_sched_said *out)
{
    const struct lks_doc *jobs = lks_doc_member(doc, "jobs"), *drain = lks_doc_member(doc, "drain");
    struct lks_sched_said s = {.known = true};
    uint64_t requests = 0;
    bool accepts = false;
    if (!lks_str_is(lks_doc_text(doc, "node"), t->node) || drain == NULL ||
        !number(doc, "revision", LKS_DOC_NUMBER_MAX, &s.revision) ||
        !number(doc, "age", LKS_TIME_MAX, &s.age) || !boolean(doc, "accepts", &accepts) ||
        !boolean(doc, "rotation", &s.rotation) ||
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
        lks_sched_said_owner(&s, lks_doc_text(drain, "owner"), lks_str_from(t->owner));
    s.ends = read_ends(jobs);
    read_outage(doc, &s);
    read_truth(doc, &s);
    lks_sched_said_text(&s, job_id(jobs->first), lks_doc_text(jobs->first, "user"),
                        lks_doc_text(drain, "reason"));
    say_unlisted(&s, jobs->first);
    read_gres(doc, &s);
    *out = s;
    return true;
}

/* Making something of it -------------------------------------------------------------------- */

static void again(struct talking *t, lks_ms now)
{
    lks_sched_answer_retry(&t->head, now + (AGAIN << t->head.tries), t->why);
}

static void act(struct talking *t, lks_ms now)
{
    if (t->acts == LKS_SCHED_TURNS_MAX) {
        lks_conversation_fail(&t->head, LKS_E_UNAVAILABLE,
                              "node '%s': asked %d times to %s it, and it is not so: %s", t->node,
                              LKS_SCHED_TURNS_MAX, lks_sched_verb_words[t->verb],
                              t->why[0] != '\0' ? t->why : t->said.text);
        return;
    }
    t->why[0] = '\0'; /* from here on: of what became of the request */
    lks_conversation_go(&t->head, ACT, now);
    t->after = now > t->after ? now : t->after; /* what was read before says nothing of it */
    t->acts++;
}

static void judge(struct talking *t, lks_ms now)
{
    if (lks_sched_said_is_so(&t->said, t->verb, t->from, t->acted))
        lks_conversation_end(&t->head);
    else if (t->verb == LKS_SCHED_DRAIN || t->said.ours)
        act(t, now);
    else
        lks_conversation_fail(&t->head, LKS_E_REFUSED,
                              "node '%s' is drained by '%s': only they can release it", t->node,
                              t->said.owner);
}

/* It was read before another one that was taken, or before the last write. Two bridges of a site
 * read at different times, and count revisions each for itself: a reading of the second may be
 * from before a loss that the first one showed. Its age was taken after the request was sent, so
 * the reading is at least that late. */
static bool is_outdated(const struct talking *t, const struct lks_sched_said *said)
{
    lks_ms slack = t->least > 0 ? READING_MAX : 0;
    return t->after > 0 && t->asked + slack < t->after + said->age;
}

/* NULL: it is good. */
static const char *no_good(const struct talking *t, const struct lks_sched_said *said)
{
    if (said->age > LKS_SCHED_STALE)
        return "a reading that is too old";
    return is_outdated(t, said) ? "a reading from before one that was taken, or before a write"
                                : NULL;
}

static void hear_look(struct talking *t, lks_ms now, const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_sched_said said = {0};
    struct lks_err err = {0};
    const char *why = "not a reading of the node";
    if (answer == NULL || answer->status != 200) {
        again(t, now);
        return;
    }
    if (lks_docs_init(&docs, "scheduler", &err) != LKS_OK ||
        lks_json_parse(answer->body, &docs, &err) != LKS_OK || !read_node(t, docs.first, &said) ||
        said.revision < t->least || (why = no_good(t, &said)) != NULL) {
        snprintf(t->why, sizeof(t->why), "%s", why);
        again(t, now);
        return;
    }
    lks_ms read = now > said.age ? now - said.age : 0; /* at the latest */
    t->said = said;
    t->least = said.revision;
    t->after = read > t->after ? read : t->after;
    judge(t, now);
}

/* 422: it would leave a service with too few. That is no failure: it is asked again later. */
static void hear_act(struct talking *t, lks_ms now, const struct lks_sched_answer *is)
{
    char subject[LKS_SCHED_NODE_MAX + 16];
    snprintf(subject, sizeof(subject), "node '%s'", t->node);
    if (is->status == 422) {
        lks_sched_said_keep(t->said.text, sizeof(t->said.text), lks_str_from(is->why));
        lks_conversation_end(&t->head);
        return;
    }
    if (lks_sched_answer_outdated(&t->head, is, t->epoch, subject))
        return;
    t->acted = t->acted || is->status == 200;
    lks_conversation_go(&t->head, LOOK, now);
}

/* What says the same at each step. */
static bool hear_common(struct talking *t, lks_ms now, const struct lks_http_response *answer,
                        const struct lks_sched_answer *is)
{
    if (is->status == 404) {
        t->said = (struct lks_sched_said){0};
        snprintf(t->said.text, sizeof(t->said.text), "the scheduler does not know the node");
        if (t->verb == LKS_SCHED_DRAIN)
            lks_conversation_fail(&t->head, LKS_E_NOT_FOUND, "the scheduler has no node '%s'",
                                  t->node);
        else
            lks_conversation_end(&t->head);
    } else if (is->status == 401 || is->status == 403) {
        lks_conversation_fail(&t->head, LKS_E_DENIED,
                              "the scheduler does not let us %s node '%s': %s",
                              lks_sched_verb_words[t->verb], t->node, is->why);
    } else if (is->busy && t->head.tries + 1 < LKS_CONVERSATION_TRIES_MAX) {
        lks_ms pause = lks_http_response_retry(answer, LKS_SECOND << t->head.tries);
        lks_conversation_retry(&t->head, now + pause); /* it did not even begin */
        return true;
    }
    return t->head.ended;
}

static void hear(void *value, lks_ms now, const struct lks_http_response *answer)
{
    struct talking *t = value;
    struct lks_sched_answer is;
    lks_sched_answer_read(answer, &is);
    if (is.why[0] != '\0')
        snprintf(t->why, sizeof(t->why), "%s", is.why);
    if (!hear_common(t, now, answer, &is)) {
        if (t->head.step == ACT)
            hear_act(t, now, &is);
        else
            hear_look(t, now, answer);
    }
    t->asked = t->head.wait_until > now ? t->head.wait_until : now; /* not before */
}

static const struct lks_conversation_ops talk_ops = {
    .name = "sched-bridge",
    .size = sizeof(struct talking),
    .ask = ask,
    .hear = hear,
    .hears_all = true, /* a refusal names its reason */
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
        .after = wish->after,
        .asked = wish->now,
        .epoch = wish->epoch,
    };
    lks_sched_said_keep(t->node, sizeof(t->node), wish->node);
    lks_sched_said_keep(t->owner, sizeof(t->owner), wish->owner);
    lks_sched_said_keep(t->from, sizeof(t->from), wish->from);
    lks_drain_reason_words(wish->by, wish->reason, wish->row, t->reason);
    return LKS_OK;
}

static void said(const void *value, struct lks_sched_said *out)
{
    const struct talking *t = value;
    *out = t->said;
    out->after = t->after;
}

const struct lks_sched_driver lks_sched_bridge = {
    .lanes = LANES,
    .talk = &talk_ops,
    .begin = begin,
    .said = said,
    .site_talk = &lks_sched_site_talk,
    .begin_site = lks_sched_site_begin,
};
