/*
 * A bridge that says anything about a site. The first byte is the verb; then come answers: a byte
 * for the status, one for the length, the bytes.
 *
 * Whatever is said: the conversation ends within its bounds; a request that must not be sent twice
 * is sent again only after a refusal that says that nothing was done; a list that is taken is
 * whole: each job is found on its nodes, and by its id, and each reservation by its name.
 */
#include "core/sched/jobs.h"
#include "drivers/sched/sched_drivers.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NOW UINT64_C(1763200000000)

static const int statuses[] = {200, 200, 0, 503, 429, 500, 504, 404, 403, 409, 400};

static bool has_job(const struct lks_sched_jobs *jobs, struct lks_str node,
                    const struct lks_sched_job *job)
{
    const struct lks_sched_job *is;
    struct lks_sched_jobs_at at = {0};
    while ((is = lks_sched_jobs_on(jobs, node, &at)) != NULL) {
        if (is == job)
            return true;
    }
    return false;
}

static void check_list(const struct lks_sched_jobs *jobs)
{
    uint32_t links = 0;
    for (uint32_t i = 0; i < jobs->count; i++) {
        const struct lks_sched_job *job = &jobs->jobs[i];
        const struct lks_sched_job *found = lks_sched_jobs_find(jobs, job->id);
        LKS_ASSERT(found != NULL && lks_str_eq(found->id, job->id));
        LKS_ASSERT(lks_str_printable(job->user) && lks_str_printable(job->nodes));
        LKS_ASSERT(job->runs || job->node_count == 0);
        LKS_ASSERT(!job->unplaced || has_job(jobs, LKS_STR("any"), job));
        links += job->node_count;
    }
    LKS_ASSERT(links == jobs->link_count);
    for (uint32_t i = 0; i < jobs->link_count && i < 64; i++) {
        struct lks_str name = lks_intern_text(&jobs->names, i % lks_intern_count(&jobs->names));
        struct lks_sched_jobs_at at = {0};
        LKS_ASSERT(lks_sched_jobs_on(jobs, name, &at) != NULL);
    }
}

static void converse(void *value, const uint8_t *data, size_t size, bool repeats)
{
    const struct lks_conversation_ops *ops = lks_sched_bridge.site_talk;
    LKS_CLEANUP(lks_conversation_talk_fini) struct lks_talk talk = {0};
    lks_ms now = NOW;
    unsigned sent = 0;
    bool open = false; /* the outcome of the last request is */
    lks_conversation_talk_init(&talk);
    for (;;) {
        lks_conversation_next(ops, value, now, &talk);
        if (talk.kind == LKS_TALK_DONE || talk.kind == LKS_TALK_FAIL)
            return;
        now = talk.kind == LKS_TALK_WAIT ? talk.until : now + 1;
        if (talk.kind == LKS_TALK_WAIT)
            continue;
        LKS_ASSERT(++sent <= LKS_CONVERSATION_TRIES_MAX);
        LKS_ASSERT(repeats || !open);
        struct lks_http_response response = {0};
        size_t length = size > 1 ? data[1] * (size_t)8 : 0;
        if (size > 2) {
            length = length < size - 2 ? length : size - 2;
            response = (struct lks_http_response){.status = statuses[data[0] % LKS_COUNT(statuses)],
                                                  .body = {(const char *)data + 2, length}};
            data += length + 2;
            size -= length + 2;
        }
        open = response.status == 0 || response.status == 500 || response.status == 504;
        lks_conversation_feed(ops, value, now, response.status != 0 ? &response : NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_sched_jobs_fini) struct lks_sched_jobs jobs = {0};
    LKS_CLEANUP(lks_sched_reservations_fini) struct lks_sched_reservations listed = {0};
    LKS_CLEANUP(lks_sched_runs_fini) struct lks_sched_runs runs = {0};
    struct lks_err err = {0};
    uint8_t how = size > 0 ? data[0] : 0;
    struct lks_sched_told told[] = {{.node = LKS_STR("g1"), .truth.features = "lks-conform"},
                                    {.node = LKS_STR("g2"), .truth.digest = "sha256:1"}};
    const struct lks_sched_site_wish wish = {
        .verb = (enum lks_sched_site_verb)(how % LKS_SCHED_SITE_VERB_COUNT),
        .job = how % LKS_SCHED_SITE_VERB_COUNT < LKS_SCHED_SITE_RESERVATIONS ? LKS_STR("17_3")
                                                                             : LKS_STR(""),
        .started = NOW,
        .signal = LKS_STR("USR1"),
        .jobs = &jobs,
        .listed = &listed,
        .runs = &runs,
        .reservation = {.name = LKS_STR("lockstep_change_17+train+oslo"),
                        .nodes = LKS_STR("g1"),
                        .from = NOW,
                        .until = NOW + LKS_SECOND},
        .told = told,
        .told_count = LKS_COUNT(told),
        .epoch = how,
        .deadline = NOW + LKS_SCHED_DEADLINE};
    void *value = calloc(1, lks_sched_bridge.site_talk->size);
    LKS_ASSERT(value != NULL);
    LKS_ASSERT(lks_sched_bridge.begin_site(value, &wish, &err) == LKS_OK);
    converse(value, data + (size > 0), size - (size > 0),
             wish.verb != LKS_SCHED_SITE_SIGNAL && wish.verb != LKS_SCHED_SITE_REQUEUE);
    for (size_t i = 0; i < LKS_COUNT(told); i++)
        LKS_ASSERT(lks_str_printable(lks_str_from(told[i].why)));
    check_list(&jobs);
    for (uint32_t i = 0; i < listed.count; i++) {
        const struct lks_sched_reservation *r = &listed.list[i];
        LKS_ASSERT(lks_str_printable(r->name) && lks_str_printable(r->nodes));
        LKS_ASSERT(lks_str_starts(r->name, LKS_SCHED_RESERVATION_MARK));
        LKS_ASSERT(lks_sched_reservations_find(&listed, r->name) != NULL);
    }
    free(value);
    return 0;
}
