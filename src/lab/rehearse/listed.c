#include "lab/rehearse/listed.h"

#include "base/vec.h"
#include "codec/format/json.h"

#include <inttypes.h>
#include <stdlib.h>

#define MEMORY_MAX ((size_t)1 << 30)
#define LEAST      ((lks_ms)60 * LKS_SECOND)  /* of a run that is drawn */
#define UNLIMITED  ((lks_ms)600 * LKS_SECOND) /* what a job without an end goes on for at least */
#define LONGEST    ((lks_ms)10 * 365 * 86400 * LKS_SECOND)

void lks_listed_fini(struct lks_listed *l)
{
    free(l->sites);
    free(l->jobs);
    lks_arena_fini(&l->memory);
    *l = (struct lks_listed){0};
}

/* Reading -------------------------------------------------------------------------------------- */

struct reading {
    struct lks_listed *out;
    lks_ms now;      /* of the site, when lockstepd told it */
    uint32_t behind; /* jobs of it that are to come */
    struct lks_err *err;
};

/* A moment that may be missing, which is 0. */
static bool read_time(const struct lks_doc *doc, const char *key, lks_ms *out)
{
    *out = 0;
    return lks_doc_member(doc, key) == NULL || lks_time_parse(lks_doc_text(doc, key), out);
}

static bool read_count(const struct lks_doc *doc, const char *key, uint32_t max, uint32_t otherwise,
                       uint32_t *out)
{
    const struct lks_doc *m = lks_doc_member(doc, key);
    *out = otherwise;
    if (m == NULL)
        return true;
    if (m->kind != LKS_DOC_NUMBER || m->fraction || m->number < 0 || m->number > max)
        return false;
    *out = (uint32_t)m->number;
    return true;
}

static bool read_truth(const struct lks_doc *doc, const char *key)
{
    const struct lks_doc *m = lks_doc_member(doc, key);
    return m != NULL && m->kind == LKS_DOC_BOOL && m->truth;
}

static enum lks_code keep(const struct reading *r, const struct lks_doc *doc, const char *key,
                          struct lks_str *out)
{
    struct lks_str text = lks_doc_text(doc, key);
    if (!lks_str_printable(text))
        return lks_fail(r->err, LKS_E_INVALID, "%s has bytes that cannot be printed", key);
    *out = lks_arena_copy(&r->out->memory, text);
    return out->ptr != NULL ? LKS_OK : lks_arena_fail(&r->out->memory, r->err);
}

static enum lks_code read_hosts(const struct reading *r, const struct lks_doc *doc, const char *key,
                                struct lks_hostlist *out)
{
    return lks_hostlist_parse(lks_doc_text(doc, key), &r->out->memory, out, r->err);
}

/* Too old to say what runs now. */
static void check_age(struct lks_listed_site *site)
{
    if (site->age == UINT64_MAX && site->missing.len == 0)
        site->missing = LKS_STR("the scheduler did not list its jobs yet");
    else if (site->age != UINT64_MAX && site->age <= LKS_LISTED_STALE)
        site->missing = LKS_STR("");
    else if (site->missing.len == 0)
        site->missing = LKS_STR("its last list is more than an hour old");
}

static enum lks_code read_site(struct reading *r, const struct lks_doc *doc)
{
    struct lks_listed *l = r->out;
    struct lks_listed_site site = {.age = UINT64_MAX};
    lks_ms listed = 0;
    if (r->behind > 0 || !read_time(doc, "now", &r->now) || r->now == 0 ||
        !read_time(doc, "listed", &listed) ||
        !read_count(doc, "jobs", LKS_LISTED_JOBS, 0, &site.jobs))
        return lks_fail(r->err, LKS_E_INVALID, "a site is cut off or malformed");
    if (keep(r, doc, "site", &site.site) != LKS_OK ||
        keep(r, doc, "scheduler", &site.sched) != LKS_OK ||
        keep(r, doc, "missing", &site.missing) != LKS_OK ||
        read_hosts(r, doc, "hosts", &site.hosts) != LKS_OK)
        return r->err->code;
    if (listed != 0)
        site.age = r->now > listed ? r->now - listed : 0;
    check_age(&site);
    r->behind = site.jobs;
    site.jobs = 0; /* they are counted as they come */
    l->awaited = l->awaited || read_truth(doc, "awaited");
    return LKS_VEC_ADD(l->sites, l->site_room, l->site_count, LKS_LISTED_SITES, site, r->err);
}

static enum lks_code read_job(struct reading *r, const struct lks_doc *doc)
{
    struct lks_listed *l = r->out;
    struct lks_listed_job job = {.requeue = read_truth(doc, "requeue"), .left = UINT64_MAX};
    lks_ms started = 0, ends = 0;
    if (r->behind == 0 || !read_time(doc, "started", &started) || !read_time(doc, "ends", &ends) ||
        !read_count(doc, "of", LKS_HOSTLIST_MAX, 0, &job.of) ||
        !read_count(doc, "gpus", UINT32_MAX - 1, UINT32_MAX, &job.gpus))
        return lks_fail(r->err, LKS_E_INVALID, "a job is cut off or malformed");
    r->behind--;
    if (l->sites[l->site_count - 1].missing.len > 0)
        return LKS_OK;
    job.site = l->site_count - 1;
    job.unplaced = lks_doc_member(doc, "nodes") == NULL;
    job.ran = started != 0 && started < r->now ? r->now - started : 0;
    if (ends != 0)
        job.left = ends > r->now ? ends - r->now : 0;
    if (read_truth(doc, "ending"))
        job.left = 0;
    if (keep(r, doc, "job", &job.id) != LKS_OK || keep(r, doc, "user", &job.user) != LKS_OK ||
        read_hosts(r, doc, "nodes", &job.hosts) != LKS_OK)
        return r->err->code;
    l->sites[job.site].jobs++;
    return LKS_VEC_ADD(l->jobs, l->job_room, l->job_count, LKS_LISTED_JOBS, job, r->err);
}

static enum lks_code read_line(struct reading *r, struct lks_str line)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    if (lks_docs_init(&docs, "the list of jobs", r->err) != LKS_OK ||
        lks_json_parse(line, &docs, r->err) != LKS_OK)
        return r->err->code;
    return lks_doc_member(docs.first, "job") != NULL ? read_job(r, docs.first)
                                                     : read_site(r, docs.first);
}

static enum lks_code read_lines(struct reading *r, struct lks_str text)
{
    uint32_t number = 0;
    while (text.len > 0) {
        struct lks_str line, rest;
        number++;
        if (!lks_str_cut(text, '\n', &line, &rest))
            return lks_fail(r->err, LKS_E_INVALID, "line %" PRIu32 " is cut off", number);
        if (read_line(r, line) != LKS_OK)
            return lks_wrap(r->err, "line %" PRIu32, number);
        text = rest;
    }
    if (r->behind > 0)
        return lks_fail(r->err, LKS_E_INVALID, "%" PRIu32 " jobs are missing at its end",
                        r->behind);
    return LKS_OK;
}

enum lks_code lks_listed_read(struct lks_str text, struct lks_listed *out, struct lks_err *err)
{
    struct lks_listed made = {0};
    struct reading r = {.out = &made, .err = err};
    lks_arena_init(&made.memory, MEMORY_MAX);
    if (read_lines(&r, text) != LKS_OK) {
        lks_listed_fini(&made);
        return lks_wrap(err, "the jobs of schedulers");
    }
    *out = made;
    return LKS_OK;
}

/* Drawing -------------------------------------------------------------------------------------- */

static lks_ms bounded(lks_ms span)
{
    return span < LEAST ? LEAST : span > LONGEST ? LONGEST : span;
}

/* Of a job that ran for `ran` and may go on for `left`: an end at the limit has the weight of the
 * whole limit, one before it that of what is left. */
lks_ms lks_listed_left(const struct lks_listed_job *job, struct lks_rng *rng, lks_ms *limit)
{
    lks_ms ran = job->ran < LONGEST ? job->ran : LONGEST;
    if (job->left == UINT64_MAX) {
        lks_ms again = ran > UNLIMITED ? ran : UNLIMITED;
        lks_ms left = again / 2 + lks_rng_below(rng, again + 1);
        *limit = bounded(ran + left);
        return left;
    }
    lks_ms left = job->left < LONGEST ? job->left : LONGEST;
    lks_ms whole = bounded(ran + left), x = lks_rng_below(rng, whole + left);
    *limit = whole;
    return x < whole ? left : x - whole;
}

lks_ms lks_listed_run(lks_ms limit, struct lks_rng *rng)
{
    lks_ms whole = bounded(limit), x = lks_rng_below(rng, 2 * whole);
    return x < whole ? whole : bounded(x - whole);
}

/* Runs are met by how long they take: of two halves, those that end before have half of the time of
 * those with the whole limit; and the longer of them more often, as the larger of two draws is. */
void lks_listed_met(lks_ms limit, struct lks_rng *rng, lks_ms *ran, lks_ms *left)
{
    lks_ms whole = bounded(limit), takes = whole;
    if (lks_rng_below(rng, 3) == 0) {
        lks_ms one = lks_rng_below(rng, whole), two = lks_rng_below(rng, whole);
        takes = bounded(one > two ? one : two);
    }
    *ran = lks_rng_below(rng, takes);
    *left = takes - *ran;
}
