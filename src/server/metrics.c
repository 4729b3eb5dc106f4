#include "server/metrics.h"

#include <inttypes.h>

static const uint64_t bounds_us[LKS_METRICS_BUCKETS] = {
    100, 250, 500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 500000, 2000000,
};

void lks_histogram_add(struct lks_histogram *h, uint64_t us)
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

void lks_metrics_put(const struct lks_metrics *m, const struct lks_state *s, uint64_t durable,
                     const char *version, struct lks_str aside, struct lks_buf *out)
{
    put_about(out, "lockstep_build", "info", "The version of lockstepd.");
    lks_buf_add(out, LKS_STR("lockstep_build_info{"));
    lks_metrics_label(out, "version", lks_str_from(version));
    lks_buf_add(out, LKS_STR("} 1\n"));
    put_pools(s, out);
    put_alarms(s, out);
    put_counter(out, "lockstep_heartbeats", "Heartbeats that were heard.", m->beats);
    put_counter(out, "lockstep_calls", "Requests that were decided.", m->calls);
    put_counter(out, "lockstep_calls_refused", "Of those, refused.", m->refused);
    put_counter(out, "lockstep_journal_stalls", "Times the journal could not be written.",
                m->stalls);
    put_counter(out, "lockstep_snapshots", "Snapshots of the state.", m->snapshots);
    put_gauge(out, "lockstep_journal_seq", "The journal's last row.", s->seq);
    put_gauge(out, "lockstep_journal_durable_seq", "The last row that is durable.", durable);
    put_gauge(out, "lockstep_commands", "Commands that are remembered.", s->command_count);
    put_histogram(out, "lockstep_commit_seconds",
                  "From a batch's handing over until it is durable.", &m->commit);
    put_histogram(out, "lockstep_store_seconds", "The store's own part of it.", &m->store);
    lks_buf_add(out, aside);
    put_about(out, "lockstep_node", "info", "What a node is and runs, for joining.");
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
        {"judged", lks_str_from(lks_judged_words[n->judged])},
    };
    lks_buf_add(out, LKS_STR("lockstep_node_info{"));
    for (size_t i = 0; i < LKS_COUNT(labels); i++) {
        if (i > 0)
            lks_buf_addc(out, ',');
        lks_metrics_label(out, labels[i].name, labels[i].value);
    }
    lks_buf_add(out, LKS_STR("} 1\n"));
}

uint32_t lks_metrics_put_nodes(const struct lks_state *s, uint32_t from, struct lks_buf *out)
{
    uint32_t end = s->node_count;
    if (end - from > LKS_METRICS_SLICE)
        end = from + LKS_METRICS_SLICE;
    for (uint32_t i = from; i < end; i++) {
        if (s->nodes[i].placed)
            put_node(s, i, out);
    }
    return end;
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
