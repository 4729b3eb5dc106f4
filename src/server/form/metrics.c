#include "server/form/metrics.h"

#include "base/vec.h"
#include "core/actions/sched.h"
#include "core/actions/sched_truth.h"
#include "core/firmware/sweep.h"
#include "core/rows/alarm.h"
#include "core/rows/change.h"
#include "core/rows/flash.h"
#include "core/rows/pool.h"
#include "core/rows/registry.h"
#include "core/state/node_status.h"
#include "core/state/runs.h"
#include "core/state/state.h"
#include "core/state/tickets.h"
#include "server/form/forms.h"
#include "server/form/views.h"

#include <inttypes.h>
#include <stdlib.h>

enum { DAY_SECONDS = 86400 };

/* What is counted of a pool's nodes. */
struct lks_metrics_counts {
    uint32_t differs[LKS_DIFFERS_COUNT];
    uint32_t conforms, unjudged;
    uint32_t causes[LKS_DRIFT_COUNT];
    uint32_t deviating, unhealthy;
    uint32_t gres, gres_differ; /* GPUs that a scheduler advertises; and other ones */
    unsigned slots;             /* bits: stacks of nodes have them */
    uint32_t slotless;          /* nodes whose stack has none */
    lks_ms inband, outband;     /* ages of the oldest */
    struct lks_sweep_age swept;
};

static const uint64_t bounds_us[LKS_METRICS_BUCKETS] = {
    100, 250, 500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 500000, 2000000,
};

void lks_metrics_histogram_add(struct lks_histogram *h, uint64_t us)
{
    size_t i = 0;
    while (i < LKS_METRICS_BUCKETS && us > bounds_us[i])
        i++;
    h->counts[i]++;
    h->sum_us += us;
    h->count++;
}

static void put_about(struct lks_buf *out, const char *name, const char *type, const char *about)
{
    lks_buf_addf(out, "# TYPE %s %s\n# HELP %s %s\n", name, type, name, about);
}

static void put_seconds(struct lks_buf *out, uint64_t us)
{
    lks_buf_addf(out, "%" PRIu64 ".%06" PRIu64, us / 1000000, us % 1000000);
}

static void put_histogram(struct lks_buf *out, const char *name, const char *about,
                          const struct lks_histogram *h)
{
    put_about(out, name, "histogram", about);
    uint64_t sum = 0;
    for (size_t i = 0; i < LKS_METRICS_BUCKETS; i++) {
        sum += h->counts[i];
        lks_buf_addf(out, "%s_bucket{le=\"", name);
        put_seconds(out, bounds_us[i]);
        lks_buf_addf(out, "\"} %" PRIu64 "\n", sum);
    }
    lks_buf_addf(out, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n%s_sum ", name, h->count, name);
    put_seconds(out, h->sum_us);
    lks_buf_addf(out, "\n%s_count %" PRIu64 "\n", name, h->count);
}

static void put_counter(struct lks_buf *out, const char *name, const char *about, uint64_t value)
{
    put_about(out, name, "counter", about);
    lks_buf_addf(out, "%s_total %" PRIu64 "\n", name, value);
}

static void put_gauge(struct lks_buf *out, const char *name, const char *about, uint64_t value)
{
    put_about(out, name, "gauge", about);
    lks_buf_addf(out, "%s %" PRIu64 "\n", name, value);
}

void lks_metrics_label(struct lks_buf *out, const char *name, struct lks_str value)
{
    lks_buf_addf(out, "%s=\"", name);
    for (size_t i = 0; i < value.len; i++) {
        char c = value.ptr[i];
        if (c == '"' || c == '\\')
            lks_buf_addc(out, '\\');
        if (c == '\n')
            lks_buf_add(out, LKS_STR("\\n"));
        else
            lks_buf_addc(out, c);
    }
    lks_buf_addc(out, '"');
}

/* NAME{pool="...",KEY="..."}, without the last where there is no key. */
static void put_labels(struct lks_buf *out, const char *name, struct lks_str pool, const char *key,
                       const char *value)
{
    lks_buf_addf(out, "%s{", name);
    lks_metrics_label(out, "pool", pool);
    if (key != NULL) {
        lks_buf_addc(out, ',');
        lks_metrics_label(out, key, lks_str_from(value));
    }
    lks_buf_add(out, LKS_STR("} "));
}

static void put_sample(struct lks_buf *out, const char *name, struct lks_str pool, const char *key,
                       const char *value, uint64_t count)
{
    put_labels(out, name, pool, key, value);
    lks_buf_addf(out, "%" PRIu64 "\n", count);
}

static void put_age(struct lks_buf *out, const char *name, struct lks_str pool, const char *key,
                    const char *value, lks_ms age)
{
    put_labels(out, name, pool, key, value);
    put_seconds(out, age * 1000);
    lks_buf_addc(out, '\n');
}

bool lks_metrics_pools(struct lks_metrics *m, uint32_t count)
{
    return LKS_VEC_RESERVE(m->pools, m->pool_room, count, NULL) == LKS_OK;
}

void lks_metrics_fini(struct lks_metrics *m)
{
    free(m->pools);
    *m = (struct lks_metrics){0};
}

static void count_runs(struct lks_metrics_pool *m, const struct lks_record *r)
{
    if (r->kind == LKS_RECORD_JOB_BATCH) {
        m->ended[r->job_batch.state] += r->job_batch.count;
        m->gpu_ms += r->job_batch.gpu_ms;
        m->folded += r->job_batch.count;
        if (lks_runs_interrupted((enum lks_run_cause)r->job_batch.cause))
            m->interrupted[r->job_batch.cause] += r->job_batch.count;
        return;
    }
    m->ended[r->job_ended.state]++;
    m->gpu_ms += r->job_ended.gpu_ms;
    if (lks_runs_interrupted((enum lks_run_cause)r->job_ended.cause))
        m->interrupted[r->job_ended.cause]++;
}

void lks_metrics_runs(struct lks_metrics *m, const struct lks_state *s,
                      const struct lks_decision *d)
{
    for (size_t i = 0; i < d->count && lks_metrics_pools(m, s->pool_count); i++) {
        const struct lks_record *r = &d->records[i];
        m->run_gaps += r->kind == LKS_RECORD_RUNS_READ && r->runs_read.missing_until != 0;
        if (r->kind != LKS_RECORD_JOB_ENDED && r->kind != LKS_RECORD_JOB_BATCH)
            continue;
        uint32_t pool = lks_state_pool(s, r->kind == LKS_RECORD_JOB_ENDED ? r->job_ended.pool
                                                                          : r->job_batch.pool);
        if (pool < m->pool_room)
            count_runs(&m->pools[pool], r);
    }
}

/* Counters of runs by pool, and by a word where there is one. */
#define RUNS(NAME, ABOUT, KEY, WORDS, member)                                                      \
    {                                                                                              \
        NAME, NAME "_total", ABOUT, KEY, WORDS, offsetof(struct lks_metrics_pool, member),         \
            sizeof(((struct lks_metrics_pool *)0)->member) / sizeof(uint64_t)                      \
    }
static const struct {
    const char *name, *total, *about, *key;
    const char *const *words;
    size_t offset, count;
} runs[] = {
    RUNS("lockstep_jobs_ended", "Runs of jobs that ended, by state.", "state", lks_run_state_words,
         ended),
    RUNS("lockstep_jobs_interrupted",
         "Runs of jobs that lockstep, a node, a preemption or a requeue ended, by cause.", "cause",
         lks_run_cause_words, interrupted),
    RUNS("lockstep_jobs_folded",
         "Runs of jobs that are counted together, without a row of their own.", NULL, NULL, folded),
    RUNS("lockstep_jobs_gpu_milliseconds", "GPUs times duration of the runs that ended.", NULL,
         NULL, gpu_ms),
};
#undef RUNS

/* What never happened is left out. */
static void put_runs(const struct lks_metrics *m, const struct lks_state *s, struct lks_buf *out)
{
    uint32_t pools = m->pool_room < s->pool_count ? m->pool_room : s->pool_count;
    for (size_t k = 0; k < LKS_COUNT(runs); k++) {
        put_about(out, runs[k].name, "counter", runs[k].about);
        for (uint32_t p = 0; p < pools; p++) {
            const void *member = (const char *)&m->pools[p] + runs[k].offset;
            const uint64_t *counts = member;
            for (size_t i = 0; i < runs[k].count; i++) {
                if (counts[i] != 0)
                    put_sample(out, runs[k].total, lks_state_text(s, s->pools[p].name), runs[k].key,
                               runs[k].words != NULL ? runs[k].words[i] : NULL, counts[i]);
            }
        }
    }
    put_counter(out, "lockstep_jobs_gaps",
                "Recorded gaps in the runs of schedulers; runs that ended in one may be missing.",
                m->run_gaps);
}

/* Counters by pool and reason; what never happened is left out. */
static void put_reasons(const struct lks_metrics *m, const struct lks_state *s, bool refused,
                        struct lks_buf *out)
{
    const char *name = refused ? "lockstep_admission_refusals" : "lockstep_would_refuse";
    put_about(out, name, "counter",
              refused ? "Jobs that a pool refused, by reason."
                      : "Jobs that a pool would have refused were it enforced, by reason.");
    for (uint32_t p = 0; p < m->pool_room && p < s->pool_count; p++) {
        const uint64_t *counts = refused ? m->pools[p].refused : m->pools[p].would;
        for (size_t bar = 0; bar < LKS_BAR_COUNT; bar++) {
            if (counts[bar] == 0)
                continue;
            put_sample(
                out, refused ? "lockstep_admission_refusals_total" : "lockstep_would_refuse_total",
                lks_state_text(s, s->pools[p].name), "reason", lks_bar_words[bar], counts[bar]);
        }
    }
}

static void put_reviews(const struct lks_metrics *m, const struct lks_metrics_now *about,
                        struct lks_buf *out)
{
    static const char *const webhooks[LKS_WEBHOOK_COUNT] = {"mutate", "validate"};
    static const char *const outcomes[LKS_REVIEWED_COUNT] = {"allowed", "patched", "warned",
                                                             "refused"};
    int64_t left = m->webhook_client_end - (int64_t)(about->now.wall / LKS_SECOND);
    put_about(out, "lockstep_webhook_reviews", "counter",
              "Pods that API servers of Kubernetes asked about, by webhook and answer.");
    for (size_t w = 0; w < LKS_WEBHOOK_COUNT; w++) {
        for (size_t i = 0; i < LKS_REVIEWED_COUNT; i++)
            lks_buf_addf(
                out, "lockstep_webhook_reviews_total{webhook=\"%s\",answer=\"%s\"} %" PRIu64 "\n",
                webhooks[w], outcomes[i], m->reviews[w][i]);
    }
    put_histogram(out, "lockstep_webhook_seconds", "From a review until its answer is written.",
                  &m->review);
    if (m->webhook_client_end != 0)
        put_gauge(out, "lockstep_webhook_client_days",
                  "Whole days until the certificate ends that an API server showed last.",
                  left > 0 ? (uint64_t)left / DAY_SECONDS : 0);
}

static void put_admissions(const struct lks_metrics *m, const struct lks_state *s,
                           struct lks_buf *out)
{
    static const char *const answers[LKS_ANSWER_COUNT] = {"yes", "overridden", "no"};
    put_about(out, "lockstep_admissions", "counter", "Jobs that asked whether they may start.");
    for (size_t i = 0; i < LKS_ANSWER_COUNT; i++)
        lks_buf_addf(out, "lockstep_admissions_total{answer=\"%s\"} %" PRIu64 "\n", answers[i],
                     m->admissions[i]);
    put_reasons(m, s, true, out);
    put_reasons(m, s, false, out);
    put_histogram(out, "lockstep_admission_seconds", "From a question until its answer is written.",
                  &m->admission);
    put_counter(out, "lockstep_admissions_without_answer",
                "Jobs that a scheduler started without an answer, as it reported afterwards.",
                m->unanswered);
    put_counter(out, "lockstep_decisions_dropped",
                "Lines of the log of admissions that were not written.", m->decisions_dropped);
    put_runs(m, s, out);
}

static void put_lead(const struct lks_state *s, const struct lks_metrics_now *about,
                     struct lks_buf *out)
{
    uint64_t depot = 0;
    for (uint32_t i = 0; i < s->artifact_count; i++)
        depot += s->artifacts[i].size;
    put_gauge(out, "lockstep_leader", "1 where this controller leads.", about->leads);
    put_gauge(out, "lockstep_epoch", "How often the lead changed hands.", s->epoch);
    put_gauge(out, "lockstep_behind_ms", "How old what this controller knows may be.",
              about->behind);
    put_gauge(out, "lockstep_depot_bytes", "Bytes of the artifacts in the depot.", depot);
}

static void put_pools(const struct lks_state *s, struct lks_buf *out)
{
    put_about(out, "lockstep_nodes", "gauge", "Nodes by pool and liveness.");
    for (uint32_t i = 0; i < s->pool_count; i++) {
        const struct lks_state_pool *p = &s->pools[i];
        for (size_t k = 0; p->known && k < LKS_LIVENESS_COUNT; k++) {
            lks_buf_add(out, LKS_STR("lockstep_nodes{"));
            lks_metrics_label(out, "pool", lks_state_text(s, p->name));
            lks_buf_addc(out, ',');
            lks_metrics_label(out, "liveness", lks_str_from(lks_liveness_words[k]));
            lks_buf_addf(out, "} %" PRIu32 "\n", p->liveness[k]);
        }
    }
    put_about(out, "lockstep_pool_acts_wait", "gauge",
              "1 where automatic acts wait for a person to release an alarm.");
    for (uint32_t i = 0; i < s->pool_count; i++) {
        if (!s->pools[i].known)
            continue;
        lks_buf_add(out, LKS_STR("lockstep_pool_acts_wait{"));
        lks_metrics_label(out, "pool", lks_state_text(s, s->pools[i].name));
        lks_buf_addf(out, "} %d\n", lks_state_acts_wait(s, i));
    }
}

static void put_alarms(const struct lks_state *s, struct lks_buf *out)
{
    uint64_t open[LKS_ALARM_COUNT] = {0};
    for (uint32_t i = 0; i < s->alarm_count; i++)
        open[s->alarms[i].kind] += s->alarms[i].released == 0;
    put_about(out, "lockstep_alarms_open", "gauge", "Alarms that wait for a person.");
    for (size_t i = 0; i < LKS_ALARM_COUNT; i++) {
        lks_buf_add(out, LKS_STR("lockstep_alarms_open{"));
        lks_metrics_label(out, "kind", lks_str_from(lks_alarm_words[i]));
        lks_buf_addf(out, "} %" PRIu64 "\n", open[i]);
    }
}

static void put_reserved(const struct lks_metrics_now *about, struct lks_buf *out)
{
    put_about(out, "lockstep_sched_reservations", "gauge",
              "Reservations of lockstep for windows of changes: listed by schedulers, and wanted.");
    lks_buf_addf(out,
                 "lockstep_sched_reservations{state=\"listed\"} %" PRIu64 "\n"
                 "lockstep_sched_reservations{state=\"wanted\"} %" PRIu64 "\n",
                 about->sched_reserved, about->sched_reserve);
}

static void put_resets(const struct lks_state *s, struct lks_buf *out)
{
    uint64_t open = 0;
    for (uint32_t i = 0; i < s->resets.count; i++)
        open += s->resets.list[i].approved != 0;
    put_about(out, "lockstep_wedged_resets_total", "counter",
              "Nodes that were reset while a process held their GPUs.");
    lks_buf_addf(out, "lockstep_wedged_resets_total %" PRIu64 "\n", s->resets.given);
    put_about(out, "lockstep_wedged_resets_unreviewed", "gauge", "Those that wait for a review.");
    lks_buf_addf(out, "lockstep_wedged_resets_unreviewed %" PRIu64 "\n", open);
}

static void put_endpoints(const struct lks_state *s, const struct lks_metrics_now *about,
                          struct lks_buf *out)
{
    uint64_t by[LKS_BMC_OUTCOME_COUNT] = {0};
    for (uint32_t i = 0; i < s->flash_count; i++)
        by[s->flashes[i].outcome]++;
    put_about(out, "lockstep_flashes", "gauge",
              "Updates by management endpoints that are remembered, by how they ended.");
    for (size_t i = 0; i < LKS_BMC_OUTCOME_COUNT; i++)
        lks_buf_addf(out, "lockstep_flashes{outcome=\"%s\"} %" PRIu64 "\n",
                     lks_bmc_outcome_words[i], by[i]);
    put_about(out, "lockstep_sweeps", "counter", "Management endpoints that were read, by result.");
    lks_buf_addf(out,
                 "lockstep_sweeps_total{result=\"read\"} %" PRIu64 "\n"
                 "lockstep_sweeps_total{result=\"failed\"} %" PRIu64 "\n",
                 about->bmc.read, about->bmc.failed);
    put_counter(out, "lockstep_sched_conversations",
                "Conversations with schedulers about nodes that were started.", about->sched_asked);
    put_counter(out, "lockstep_sched_failures", "Those that failed.", about->sched_failed);
    put_counter(out, "lockstep_sched_site_requests",
                "Requests to schedulers about whole sites that were started.",
                about->sched_site_asked);
    put_counter(out, "lockstep_sched_site_failures", "Those that failed.",
                about->sched_site_failed);
    put_counter(out, "lockstep_sched_published",
                "Nodes whose verdict was published in a scheduler.", about->sched_published);
    put_about(out, "lockstep_sched_behind", "gauge",
              "Nodes whose scheduler shows another verdict or stack than it should.");
    lks_buf_addf(out, "lockstep_sched_behind %" PRIu64 "\n", about->sched_behind);
    put_gauge(out, "lockstep_sched_bridges_unconfirmed",
              "Bridges to schedulers that have not confirmed the epoch of the leader.",
              about->bridges_unconfirmed);
    put_about(out, "lockstep_sched_behind_seconds", "gauge",
              "For how long the node that is behind for the longest has been.");
    lks_buf_addf(out, "lockstep_sched_behind_seconds %" PRIu64 "\n",
                 (uint64_t)(about->sched_behind_for / LKS_SECOND));
    put_reserved(about, out);
    put_counter(out, "lockstep_bmc_requests", "Requests that management endpoints answered.",
                about->bmc.requests);
}

/* NAME{change="...",state="..."}, for changes that are not over; what none is in is left out. */
static void put_by_change(const struct lks_state *s, bool waves, struct lks_buf *out)
{
    const char *name = waves ? "lockstep_change_waves" : "lockstep_change_members";
    put_about(out, name, "gauge",
              waves ? "Waves of unfinished changes, by state."
                    : "Nodes and assets of unfinished changes, by state.");
    for (uint32_t i = 0; i < s->change_count; i++) {
        const struct lks_state_change *c = &s->changes[i];
        uint32_t by[LKS_WAVE_STATE_COUNT] = {0};
        for (uint32_t k = 0; k < c->wave_count; k++)
            by[c->waves[k].state]++;
        size_t states = waves ? LKS_WAVE_STATE_COUNT : LKS_MEMBER_STATE_COUNT;
        for (size_t k = 0; !lks_change_over(c) && k < states; k++) {
            uint32_t count = waves ? by[k] : c->states[k];
            if (count > 0)
                lks_buf_addf(out, "%s{change=\"%" PRIu64 "\",state=\"%s\"} %" PRIu32 "\n", name,
                             c->id, waves ? lks_wave_state_words[k] : lks_member_state_words[k],
                             count);
        }
    }
}

/* Jobs that unfinished changes signalled or requeued; an act that was refused is waited for. */
static void put_job_acts(const struct lks_state *s, struct lks_buf *out)
{
    static const char name[] = "lockstep_change_jobs";
    put_about(out, name, "gauge", "Jobs that unfinished changes touched, by last act and state.");
    for (uint32_t i = 0; i < s->change_count; i++) {
        const struct lks_state_change *c = &s->changes[i];
        uint32_t by[LKS_JOB_ACT_COUNT * LKS_JOB_STATE_COUNT] = {0};
        for (uint32_t k = 0; k < c->job_count; k++)
            by[c->jobs[k].act * LKS_JOB_STATE_COUNT + c->jobs[k].state]++;
        for (size_t k = 0; !lks_change_over(c) && k < LKS_COUNT(by); k++) {
            if (by[k] > 0)
                lks_buf_addf(out,
                             "%s{change=\"%" PRIu64 "\",act=\"%s\",state=\"%s\"} %" PRIu32 "\n",
                             name, c->id, lks_job_act_words[k / LKS_JOB_STATE_COUNT],
                             lks_job_state_words[k % LKS_JOB_STATE_COUNT], by[k]);
        }
    }
}

static void put_changes(const struct lks_state *s, struct lks_buf *out)
{
    uint64_t by[LKS_CHANGE_STATE_COUNT] = {0};
    for (uint32_t i = 0; i < s->change_count; i++)
        by[s->changes[i].state]++;
    put_about(out, "lockstep_changes", "gauge", "Changes in memory, by state.");
    for (size_t i = 0; i < LKS_CHANGE_STATE_COUNT; i++)
        lks_buf_addf(out, "lockstep_changes{state=\"%s\"} %" PRIu64 "\n", lks_change_state_words[i],
                     by[i]);
    put_by_change(s, false, out);
    put_by_change(s, true, out);
    put_job_acts(s, out);
    put_gauge(out, "lockstep_frozen", "1 where the whole fleet is frozen.", s->frozen);
    put_about(out, "lockstep_pool_frozen", "gauge", "1 where the pool is frozen.");
    for (uint32_t i = 0; i < s->pool_count; i++) {
        if (!s->pools[i].known)
            continue;
        put_labels(out, "lockstep_pool_frozen", lks_state_text(s, s->pools[i].name), NULL, NULL);
        lks_buf_addf(out, "%d\n", s->pools[i].frozen);
    }
}

/* What a ticket system was not told yet: one that does not answer shows here before it is missed.
 */
static void put_tickets(const struct lks_state *s, lks_ms wall, struct lks_buf *out)
{
    const struct lks_tickets *t = &s->tickets;
    lks_ms since = t->due_count > 0 ? t->due[0].at : wall;
    put_gauge(out, "lockstep_tickets_waiting",
              "Messages about changes that wait to be sent to the ticket system.", t->due_count);
    put_gauge(out, "lockstep_tickets_oldest_ms", "How long the first of them waits.",
              wall > since ? wall - since : 0);
}

void lks_metrics_put(const struct lks_metrics *m, const struct lks_state *s,
                     const struct lks_metrics_now *about, struct lks_buf *out)
{
    put_about(out, "lockstep_build", "info", "The version of lockstepd.");
    lks_buf_add(out, LKS_STR("lockstep_build_info{"));
    lks_metrics_label(out, "version", lks_str_from(about->version));
    lks_buf_add(out, LKS_STR("} 1\n"));
    put_pools(s, out);
    put_alarms(s, out);
    put_resets(s, out);
    put_counter(out, "lockstep_heartbeats", "Heartbeats that were heard.", m->beats);
    put_counter(out, "lockstep_calls", "Requests that were decided.", m->calls);
    put_counter(out, "lockstep_calls_refused",
                "Calls that were answered with an error: HTTP status 400 or above.", m->refused);
    put_counter(out, "lockstep_journal_stalls", "Times the journal could not be written.",
                m->stalls);
    put_counter(out, "lockstep_snapshots", "Snapshots of the state.", m->snapshots);
    put_counter(
        out, "lockstep_snapshots_unused",
        "Stored snapshots rejected at the last start (0 or 1); lockstepd read all rows instead.",
        m->snapshots_unused);
    put_gauge(out, "lockstep_journal_seq", "The journal's last row.", s->seq);
    put_gauge(out, "lockstep_journal_durable_seq", "The last row that is durable.", about->durable);
    put_gauge(out, "lockstep_commands", "Commands that are remembered.", s->command_count);
    put_histogram(out, "lockstep_commit_seconds",
                  "From a batch's handing over until it is durable.", &m->commit);
    put_histogram(out, "lockstep_store_seconds", "The store's own part of it.", &m->store);
    put_admissions(m, s, out);
    put_reviews(m, about, out);
    put_endpoints(s, about, out);
    put_changes(s, out);
    put_tickets(s, about->now.wall, out);
    put_lead(s, about, out);
    lks_buf_add(out, about->aside);
    put_about(out, "lockstep_node", "info", "Properties of a node and what it runs, for joining.");
}

static void put_node(const struct lks_state *s, uint32_t id, struct lks_buf *out)
{
    const struct lks_node *n = &s->nodes[id];
    struct lks_str pool = {0};
    if (n->pool < s->pool_count)
        pool = lks_state_text(s, s->pools[n->pool].name);
    const struct {
        const char *name;
        struct lks_str value;
    } labels[] = {
        {"node", lks_state_name(s, id)},
        {"pool", pool},
        {"site", lks_state_text(s, n->site)},
        {"class", lks_state_text(s, n->class)},
        {"digest", lks_state_text(s, n->tuple)},
        {"judged", lks_str_from(lks_view_judged_words[lks_view_judged(s, id)])},
    };
    lks_buf_add(out, LKS_STR("lockstep_node_info{"));
    for (size_t i = 0; i < LKS_COUNT(labels); i++) {
        if (i > 0)
            lks_buf_addc(out, ',');
        lks_metrics_label(out, labels[i].name, labels[i].value);
    }
    lks_buf_add(out, LKS_STR("} 1\n"));
}

static lks_ms older(lks_ms oldest, lks_ms now, lks_ms then)
{
    lks_ms age = now > then ? now - then : 0;
    return age > oldest ? age : oldest;
}

static void count_node(const struct lks_state *s, struct lks_now now, uint32_t node,
                       struct lks_metrics_tally *t)
{
    const struct lks_node *n = &s->nodes[node];
    struct lks_err ignored = {0}; /* without memory for it a class is left out */
    if (n->asset != 0 || n->pool >= t->count)
        return;
    (void)!lks_cadence_classes_add(&t->classes, s, node, &ignored);
    struct lks_metrics_counts *c = &t->pools[n->pool];
    enum lks_differs differs = lks_view_differs(s, node);
    bool conforms = lks_state_judged(s, node) == LKS_JUDGED_CONFORMS;
    c->differs[differs]++;
    c->conforms += differs == LKS_DIFFERS_NOT && conforms;
    c->unjudged += differs == LKS_DIFFERS_NOT && !conforms;
    c->causes[n->drift_cause] += n->drifting;
    c->gres += n->scheduler_gres != 0;
    c->gres_differ += lks_sched_gres_differs(s, node);
    uint32_t slot = lks_sched_truth_slot(s, node);
    c->slots |= slot < LKS_STATE_SLOTS ? 1U << slot : 0;
    c->slotless += slot == LKS_STATE_SLOTS && lks_state_intent(s, node) != 0;
    c->deviating += lks_bitset_test(&s->standing->deviates, node);
    c->unhealthy += n->unhealthy;
    if (n->inband != 0 && s->pulses[node].heard)
        c->inband = older(c->inband, now.mono, s->pulses[node].at);
    if (n->outband != 0)
        c->outband = older(c->outband, now.wall, n->outband_taken);
}

void lks_metrics_tally_fini(struct lks_metrics_tally *t)
{
    free(t->pools);
    lks_cadence_classes_fini(&t->classes);
    *t = (struct lks_metrics_tally){0};
}

/* A family with a sample for each pool that is known. */
static void put_by_pool(const struct lks_state *s, const struct lks_metrics_tally *t,
                        const char *name, const char *about,
                        void (*put)(struct lks_buf *out, const char *name, struct lks_str pool,
                                    const struct lks_metrics_counts *c),
                        struct lks_buf *out)
{
    put_about(out, name, "gauge", about);
    for (uint32_t i = 0; i < t->count; i++) {
        if (s->pools[i].known)
            put(out, name, lks_state_text(s, s->pools[i].name), &t->pools[i]);
    }
}

static void put_judged(struct lks_buf *out, const char *name, struct lks_str pool,
                       const struct lks_metrics_counts *c)
{
    put_sample(out, name, pool, "judged", lks_judged_words[LKS_JUDGED_CONFORMS], c->conforms);
    put_sample(out, name, pool, "judged", lks_judged_words[LKS_JUDGED_NOT], c->unjudged);
    for (size_t i = 0; i < LKS_DIFFERS_NOT; i++) {
        put_sample(out, name, pool, "judged", lks_differs_words[i], c->differs[i]);
    }
}

static void put_causes(struct lks_buf *out, const char *name, struct lks_str pool,
                       const struct lks_metrics_counts *c)
{
    for (size_t i = 0; i < LKS_DRIFT_COUNT; i++) {
        put_sample(out, name, pool, "cause", lks_drift_words[i], c->causes[i]);
    }
}

static void put_deviating(struct lks_buf *out, const char *name, struct lks_str pool,
                          const struct lks_metrics_counts *c)
{
    put_sample(out, name, pool, NULL, NULL, c->deviating);
}

static void put_unhealthy(struct lks_buf *out, const char *name, struct lks_str pool,
                          const struct lks_metrics_counts *c)
{
    put_sample(out, name, pool, NULL, NULL, c->unhealthy);
}

/* A pool without a scheduler, or whose scheduler advertises no GPUs, has no line. */
static void put_gres(struct lks_buf *out, const char *name, struct lks_str pool,
                     const struct lks_metrics_counts *c)
{
    if (c->gres > 0)
        put_sample(out, name, pool, NULL, NULL, c->gres_differ);
}

/* A pool whose stacks have no slots has no line. */
static void put_slots(struct lks_buf *out, const char *name, struct lks_str pool,
                      const struct lks_metrics_counts *c)
{
    if (c->slots != 0)
        put_sample(out, name, pool, NULL, NULL, (uint64_t)__builtin_popcount(c->slots));
}

static void put_slotless(struct lks_buf *out, const char *name, struct lks_str pool,
                         const struct lks_metrics_counts *c)
{
    if (c->slots != 0)
        put_sample(out, name, pool, NULL, NULL, c->slotless);
}

static void put_ages(struct lks_buf *out, const char *name, struct lks_str pool,
                     const struct lks_metrics_counts *c)
{
    put_age(out, name, pool, "band", "in", c->inband);
    put_age(out, name, pool, "band", "out", c->outband);
}

static void put_sweep_age(struct lks_buf *out, const char *name, struct lks_str pool,
                          const struct lks_metrics_counts *c)
{
    if (c->swept.endpoints == c->swept.never) /* the age of nothing is not 0 */
        return;
    put_age(out, name, pool, NULL, NULL, c->swept.oldest);
}

static void put_never(struct lks_buf *out, const char *name, struct lks_str pool,
                      const struct lks_metrics_counts *c)
{
    if (c->swept.endpoints == 0)
        return;
    put_sample(out, name, pool, NULL, NULL, c->swept.never);
}

/* How far pools are behind what is released; where that is unknown, there is no line. */
static void put_cadence(const struct lks_state *s, const struct lks_book *book, lks_ms wall,
                        const struct lks_metrics_tally *t, struct lks_buf *out)
{
    static const char age[] = "lockstep_pool_baseline_age_seconds";
    static const char limit[] = "lockstep_pool_baseline_limit_seconds";
    put_about(out, age, "gauge",
              "Since when a released stack supersedes the pool's own, by pool and hardware class; "
              "0: none does.");
    for (uint32_t i = 0; i < t->classes.count; i++) {
        const struct lks_pool_class *of = &t->classes.list[i];
        struct lks_behind b = lks_cadence_behind(s, book, of->pool, of->class, wall);
        if (!s->pools[of->pool].known || !b.known)
            continue;
        lks_buf_addf(out, "%s{", age);
        lks_metrics_label(out, "pool", lks_state_text(s, s->pools[of->pool].name));
        lks_buf_addc(out, ',');
        lks_metrics_label(out, "class", lks_state_text(s, of->class));
        lks_buf_addf(out, "} %" PRIu64 "\n", lks_cadence_age(&b, wall) / LKS_SECOND);
    }
    put_about(out, limit, "gauge", "How long the pool may be behind before an alarm is raised.");
    for (uint32_t i = 0; i < t->count; i++) {
        lks_ms most = s->pools[i].known ? lks_cadence_limit(s, book, i) : UINT64_MAX;
        if (most == UINT64_MAX)
            continue;
        put_sample(out, limit, lks_state_text(s, s->pools[i].name), NULL, NULL, most / LKS_SECOND);
    }
}

static void put_tally(const struct lks_state *s, const struct lks_metrics_tally *t,
                      struct lks_buf *out)
{
    put_by_pool(s, t, "lockstep_judged_nodes",
                "Nodes by pool and how they compare with their "
                "intent.",
                put_judged, out);
    put_by_pool(s, t, "lockstep_drift_nodes", "Nodes that drift, by pool and cause.", put_causes,
                out);
    put_by_pool(s, t, "lockstep_deviations", "Nodes that run a deviation, by pool.", put_deviating,
                out);
    put_by_pool(s, t, "lockstep_nodes_unhealthy", "Nodes with the condition unhealthy, by pool.",
                put_unhealthy, out);
    put_by_pool(s, t, "lockstep_scheduler_gres_differs",
                "Nodes whose scheduler advertises other GPUs than the stack pins, by pool.",
                put_gres, out);
    put_by_pool(s, t, "lockstep_sched_slots",
                "Stack slots of the stacks that nodes should run, by pool: at most 3.", put_slots,
                out);
    put_by_pool(s, t, "lockstep_sched_slotless_nodes",
                "Nodes whose stack has no stack slot, as all have another stack, by pool.",
                put_slotless, out);
    put_by_pool(s, t, "lockstep_reading_age_seconds",
                "Age of the oldest reading, by pool and band.", put_ages, out);
    put_by_pool(s, t, "lockstep_sweep_age_seconds",
                "Age of the oldest reading of a management "
                "endpoint.",
                put_sweep_age, out);
    put_by_pool(s, t, "lockstep_sweep_never", "Management endpoints that were not read once.",
                put_never, out);
}

/* A slice of nodes, or the endpoints of one pool; true: that was the last. */
static bool count_slice(const struct lks_state *s, const struct lks_book *book, struct lks_now now,
                        struct lks_metrics_tally *t, struct lks_buf *out)
{
    uint32_t end =
        s->node_count - t->node > LKS_METRICS_SLICE ? t->node + LKS_METRICS_SLICE : s->node_count;
    if (t->node == end && t->pool < t->count) {
        t->pools[t->pool].swept = lks_sweep_age(s, book, t->pool, now.wall);
        t->pool++;
    }
    for (; t->node < end; t->node++) {
        if (!s->nodes[t->node].placed)
            continue;
        put_node(s, t->node, out);
        count_node(s, now, t->node, t);
    }
    return t->node == s->node_count && t->pool == t->count;
}

bool lks_metrics_put_nodes(const struct lks_state *s, const struct lks_book *book,
                           struct lks_now now, struct lks_metrics_tally *t, struct lks_buf *out)
{
    if (t->node == 0 && t->pools == NULL) {
        t->pools = calloc((size_t)s->pool_count + 1, sizeof(*t->pools));
        t->count = t->pools != NULL ? s->pool_count : 0;
    }
    if (!count_slice(s, book, now, t, out))
        return false;
    put_tally(s, t, out);
    put_cadence(s, book, now.wall, t, out);
    return true;
}

void lks_metrics_put_memory(struct lks_str statm, uint64_t page, struct lks_buf *out)
{
    struct lks_str word;
    uint64_t resident = 0;
    bool read = lks_str_word(&statm, &word); /* all of it, and then what is resident */
    if (!read || !lks_str_word(&statm, &word) || !lks_str_number(word, UINT32_MAX, &resident))
        return;
    put_gauge(out, "process_resident_memory_bytes", "Memory of this process.", resident * page);
}
