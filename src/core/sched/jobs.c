#include "core/sched/jobs.h"

#include "base/vec.h"
#include "codec/format/json.h"
#include "codec/format/json_list.h"
#include "codec/notation/hostlist.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX  ((size_t)256 << 20) /* an arena rounds each text up */
#define HOSTS_MAX  ((size_t)64 << 20)  /* of one job */
#define PLACES_ARE LKS_SCHED_JOBS_PLACES_MAX

void lks_sched_jobs_fini(struct lks_sched_jobs *jobs)
{
    free(jobs->jobs);
    free(jobs->by_id);
    free(jobs->first);
    free(jobs->links);
    lks_intern_fini(&jobs->ids);
    lks_intern_fini(&jobs->names);
    lks_intern_fini(&jobs->words);
    *jobs = (struct lks_sched_jobs){0};
}

void lks_sched_jobs_begin(struct lks_sched_jobs *jobs)
{
    lks_sched_jobs_fini(jobs);
    lks_intern_init(&jobs->ids, WORDS_MAX);
    lks_intern_init(&jobs->names, WORDS_MAX);
    lks_intern_init(&jobs->words, WORDS_MAX);
}

/* Reading a job ----------------------------------------------------------------------------- */

/* A moment or a number, or null, which is `otherwise`. False: another value, which is unknown too.
 */
static bool read_number(const struct lks_doc *map, const char *key, uint64_t max,
                        uint64_t otherwise, uint64_t *out)
{
    const struct lks_doc *doc = lks_doc_member(map, key);
    *out = otherwise;
    if (doc == NULL || doc->kind == LKS_DOC_NULL)
        return doc != NULL;
    if (doc->kind != LKS_DOC_NUMBER || doc->fraction || doc->number < 0 ||
        (uint64_t)doc->number > max)
        return false;
    *out = (uint64_t)doc->number;
    return true;
}

static enum lks_code keep(struct lks_sched_jobs *jobs, struct lks_str text, struct lks_str *out,
                          struct lks_err *err)
{
    uint32_t id = 0;
    if (lks_intern_id(&jobs->words, text, &id, err) != LKS_OK)
        return err->code;
    *out = lks_intern_text(&jobs->words, id);
    return LKS_OK;
}

/* Users choose some of these texts: bytes that cannot be printed become '?'. */
static enum lks_code keep_printable(struct lks_sched_jobs *jobs, struct lks_str text,
                                    struct lks_str *out, struct lks_err *err)
{
    if (lks_str_printable(text))
        return keep(jobs, text, out, err);
    char *copy = calloc(1, text.len + 1);
    if (copy == NULL)
        return lks_fail_nomem(err);
    memcpy(copy, text.ptr, text.len);
    lks_str_make_printable(copy);
    enum lks_code code = keep(jobs, lks_str_from(copy), out, err);
    free(copy);
    return code;
}

/* All of its texts are copied, and printable. */
static enum lks_code keep_texts(struct lks_sched_jobs *jobs, struct lks_sched_job *job,
                                struct lks_err *err)
{
    struct lks_str *const texts[] = {&job->user, &job->account, &job->partition, &job->state,
                                     &job->nodes};
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        if (keep_printable(jobs, *texts[i], texts[i], err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

/* A job that cannot be read hides no other one: it counts as on every node, and its run is unknown,
 * so nothing is asked of it. */
static void read_unknown(struct lks_sched_job *out)
{
    out->started = 0;
    out->requeue = false;
    out->runs = true;
    out->unplaced = true;
}

/* Texts are views of the document. */
static enum lks_code read_job(const struct lks_doc *doc, struct lks_sched_job *out,
                              struct lks_err *err)
{
    const struct lks_doc *requeue = lks_doc_member(doc, "requeue");
    uint64_t gpus = 0;
    if (doc->kind != LKS_DOC_MAP)
        return lks_fail(err, LKS_E_INVALID, "it is no object");
    *out = (struct lks_sched_job){.id = lks_doc_text(doc, "id"),
                                  .user = lks_doc_text(doc, "user"),
                                  .account = lks_doc_text(doc, "account"),
                                  .partition = lks_doc_text(doc, "partition"),
                                  .state = lks_doc_text(doc, "state"),
                                  .nodes = lks_doc_text(doc, "nodes")};
    bool known =
        out->id.len > 0 && out->id.len <= LKS_SCHED_JOBS_ID_MAX && lks_str_printable(out->id);
    if (!known)
        out->id = LKS_STR("?");
    known = read_number(doc, "started", LKS_TIME_MAX, 0, &out->started) && known;
    (void)read_number(doc, "ends", LKS_TIME_MAX, 0, &out->ends);
    (void)read_number(doc, "gpus", UINT32_MAX - 1, LKS_SCHED_JOBS_UNKNOWN, &gpus);
    out->gpus = (uint32_t)gpus;
    out->requeue = requeue != NULL && requeue->kind == LKS_DOC_BOOL && requeue->truth;
    known =
        known && requeue != NULL && requeue->kind == LKS_DOC_BOOL && lks_str_printable(out->nodes);
    out->runs = out->nodes.len > 0;
    if (!known)
        read_unknown(out);
    return LKS_OK;
}

/* Where jobs run ---------------------------------------------------------------------------- */

static enum lks_code put_link(struct lks_sched_jobs *jobs, struct lks_str node, uint32_t job,
                              struct lks_err *err)
{
    uint32_t id = 0, before = lks_intern_count(&jobs->names);
    if (LKS_VEC_RESERVE(jobs->first, jobs->first_room, before + (size_t)1, err) != LKS_OK ||
        lks_intern_id(&jobs->names, node, &id, err) != LKS_OK)
        return err->code;
    if (id == before)
        jobs->first[id] = 0;
    struct lks_sched_job_link link = {.job = job, .next = jobs->first[id]};
    if (LKS_VEC_ADD(jobs->links, jobs->link_room, jobs->link_count, PLACES_ARE, link, err) !=
        LKS_OK)
        return err->code;
    jobs->first[id] = jobs->link_count;
    return LKS_OK;
}

static enum lks_code place(struct lks_sched_jobs *jobs, uint32_t which, struct lks_err *err)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {.max = HOSTS_MAX};
    struct lks_sched_job *job = &jobs->jobs[which];
    struct lks_hostlist hosts = {0};
    struct lks_err why = {0};
    enum lks_code code =
        job->unplaced ? LKS_E_INVALID : lks_hostlist_parse(job->nodes, &arena, &hosts, &why);
    if (code == LKS_E_NOMEM)
        return lks_fail_nomem(err);
    job->unplaced = code != LKS_OK;
    jobs->unplaced += job->unplaced;
    job->node_count = (uint32_t)hosts.count;
    if (hosts.count > PLACES_ARE - jobs->link_count)
        return lks_fail(err, LKS_E_LIMIT,
                        "the jobs run on more than %" PRIu32 " nodes in all, each job counted",
                        PLACES_ARE);
    for (size_t i = 0; i < hosts.count; i++) {
        if (put_link(jobs, hosts.names[i], which, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

/* An id that is listed twice leads to the first. */
static enum lks_code put_job(struct lks_sched_jobs *jobs, struct lks_sched_job *job,
                             struct lks_err *err)
{
    uint32_t number = 0, before = lks_intern_count(&jobs->ids);
    if (jobs->count == LKS_SCHED_JOBS_LISTED_MAX)
        return lks_fail(err, LKS_E_LIMIT, "more than %" PRIu32 " jobs are not finished",
                        LKS_SCHED_JOBS_LISTED_MAX);
    if (LKS_VEC_RESERVE(jobs->by_id, jobs->id_room, before + (size_t)1, err) != LKS_OK ||
        lks_intern_id(&jobs->ids, job->id, &number, err) != LKS_OK)
        return err->code;
    if (number == before)
        jobs->by_id[number] = jobs->count;
    job->id = lks_intern_text(&jobs->ids, number);
    return LKS_VEC_ADD(jobs->jobs, jobs->room, jobs->count, LKS_SCHED_JOBS_LISTED_MAX, *job, err);
}

enum lks_code lks_sched_jobs_add(struct lks_sched_jobs *jobs, const struct lks_sched_job *job,
                                 struct lks_err *err)
{
    struct lks_sched_job made = *job;
    made.node_count = 0;
    if (keep_texts(jobs, &made, err) != LKS_OK || put_job(jobs, &made, err) != LKS_OK)
        return err->code;
    return made.runs ? place(jobs, jobs->count - 1, err) : LKS_OK;
}

static enum lks_code read_element(struct lks_sched_jobs *jobs, struct lks_str json,
                                  struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_sched_job job = {0};
    if (lks_docs_init(&docs, "job", err) != LKS_OK || lks_json_parse(json, &docs, err) != LKS_OK ||
        read_job(docs.first, &job, err) != LKS_OK)
        return err->code;
    return lks_sched_jobs_add(jobs, &job, err);
}

/* Reading the list -------------------------------------------------------------------------- */

static enum lks_code read_list(struct lks_sched_jobs *jobs, struct lks_str list,
                               struct lks_err *err)
{
    struct lks_str element;
    enum lks_json_list next = LKS_JSON_LIST_BROKEN;
    uint32_t number = 0;
    if (lks_json_list_open(&list)) {
        while ((next = lks_json_list_next(&list, &element)) == LKS_JSON_LIST_ELEMENT) {
            number++;
            if (read_element(jobs, element, err) != LKS_OK)
                return lks_wrap(err, "job %" PRIu32 " of the list", number);
        }
    }
    if (next == LKS_JSON_LIST_BROKEN)
        return lks_fail(err, LKS_E_INVALID, "the list of jobs is cut off or malformed");
    return LKS_OK;
}

enum lks_code lks_sched_jobs_read(struct lks_str json, struct lks_sched_jobs *out,
                                  struct lks_err *err)
{
    struct lks_str list, age_text;
    struct lks_sched_jobs made = {0};
    uint64_t age = 0;
    if (json.len > LKS_SCHED_JOBS_BYTES_MAX)
        return lks_fail(err, LKS_E_LIMIT, "the list of jobs has more than %zu bytes",
                        LKS_SCHED_JOBS_BYTES_MAX);
    if (!lks_json_list_member(json, "age", &age_text) ||
        !lks_str_number(age_text, LKS_TIME_MAX, &age) || !lks_json_list_member(json, "jobs", &list))
        return lks_fail(err, LKS_E_INVALID, "the list of jobs is cut off or malformed");
    if (age > LKS_SCHED_JOBS_STALE)
        return lks_fail(err, LKS_E_UNAVAILABLE,
                        "the list of jobs is %" PRIu64 " s old; see /v1/health of the bridge",
                        age / LKS_SECOND);
    lks_sched_jobs_begin(&made);
    if (read_list(&made, list, err) != LKS_OK) {
        lks_sched_jobs_fini(&made);
        return err->code;
    }
    made.age = age;
    *out = made;
    return LKS_OK;
}

void lks_sched_jobs_came(struct lks_sched_jobs *jobs, lks_ms wall)
{
    jobs->listed = wall > jobs->age ? wall - jobs->age : 1;
}

/* Lookups ----------------------------------------------------------------------------------- */

const struct lks_sched_job *lks_sched_jobs_find(const struct lks_sched_jobs *jobs,
                                                struct lks_str id)
{
    uint32_t number = 0;
    return lks_intern_find(&jobs->ids, id, &number) ? &jobs->jobs[jobs->by_id[number]] : NULL;
}

struct lks_str lks_sched_jobs_whole(struct lks_str id)
{
    struct lks_str whole, part;
    return lks_str_cut(id, '+', &whole, &part) ? whole : id;
}

const struct lks_sched_job *lks_sched_jobs_part(const struct lks_sched_jobs *jobs,
                                                struct lks_str whole, uint32_t number)
{
    char id[LKS_SCHED_JOBS_ID_MAX + sizeof("+4294967295")];
    (void)snprintf(id, sizeof(id), "%" LKS_STR_FMT "+%" PRIu32, LKS_STR_ARG(whole), number);
    return lks_sched_jobs_find(jobs, lks_str_from(id));
}

enum { STEP_START, STEP_PLACED, STEP_UNPLACED };

const struct lks_sched_job *lks_sched_jobs_on(const struct lks_sched_jobs *jobs,
                                              struct lks_str node, struct lks_sched_jobs_at *at)
{
    uint32_t name = 0;
    if (at->step == STEP_START) {
        at->place = lks_intern_find(&jobs->names, node, &name) ? jobs->first[name] : 0;
        at->step = STEP_PLACED;
    }
    if (at->step == STEP_PLACED && at->place > 0) {
        const struct lks_sched_job_link *link = &jobs->links[at->place - 1];
        at->place = link->next;
        return &jobs->jobs[link->job];
    }
    if (at->step == STEP_PLACED)
        *at = (struct lks_sched_jobs_at){STEP_UNPLACED, 0};
    while (jobs->unplaced > 0 && at->place < jobs->count) {
        const struct lks_sched_job *job = &jobs->jobs[at->place++];
        if (job->unplaced)
            return job;
    }
    return NULL;
}

lks_ms lks_sched_jobs_age(const struct lks_sched_jobs *jobs, lks_ms wall)
{
    if (jobs->listed == 0)
        return UINT64_MAX;
    return wall > jobs->listed ? wall - jobs->listed : 0;
}
