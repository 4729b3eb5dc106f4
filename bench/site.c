#include "bench/site.h"

#include "bench/measure.h"
#include "bench/writing.h"
#include "core/rows/verdict.h"
#include "core/state/state.h"
#include "drivers/store/sqlite.h"
#include "engine/journal.h"
#include "server/base/secrets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BASES = 2000, LIFE_S = 86400, STOP_MS = 60000, PATH_SIZE = 256 };

/* Nobody turns late while we look. */
static const char config[] = "limits: {late_ms: 43200000, lost_ms: 86400000}\n";

static const char fleet_form[] =
    "lockstep: 1\nkind: Fleet\nname: here\nsites: {east: {}}\n"
    "pools: {train: {posture: pre-training, stack: golden, enforce: \"on\"}}\n"
    "nodes: [{hosts: \"gpu[000001-%06" PRIu32 "]\", pool: train, class: hgx-h200-8, site: east}]\n";

/* What the one node that reported is said to be: it holds for the others too. */
struct pattern {
    struct lks_state state;
    const struct lks_node *node;
    const struct lks_state_verdict *verdict;
};

const char *bench_site_name(uint32_t node, char out[BENCH_SITE_NAME_SIZE])
{
    snprintf(out, BENCH_SITE_NAME_SIZE, "gpu%06" PRIu32, node + 1);
    return out;
}

/* Agents are spread over the fleet; the first node has reported by itself. */
static uint32_t node_of(const struct bench_site *s, unsigned agent)
{
    return 1 + agent * ((s->nodes - 1) / s->agents);
}

static void begin(struct bench_site *s)
{
    char name[BENCH_SITE_NAME_SIZE], digest[LKS_DIGEST_SIZE];
    char fleet[sizeof(fleet_form) + 16];
    uint64_t beats = 0;
    snprintf(fleet, sizeof(fleet), fleet_form, s->nodes);
    if (!crew_begin(&s->crew, config) || !crew_release(&s->crew, digest) ||
        !crew_fleet(&s->crew, fleet))
        bench_die("lockstepd", "it does not take the fleet");
    struct lks_client *agent = crew_enroll(&s->crew, bench_site_name(0, name));
    if (agent == NULL || !crew_report(agent, name, "", &beats))
        bench_die("lockstepd", "it does not take a report");
    lks_client_free(agent);
    if (ctl_stop(&s->crew.c) != 0)
        bench_die("lockstepd", "it does not end");
}

static void read_pattern(struct bench_writing *w, struct pattern *p)
{
    struct lks_store_tail tail;
    struct lks_err err = {0};
    if (lks_state_init(&p->state, 1, &err) != LKS_OK ||
        lks_journal_fold(&w->store, NULL, 0, &p->state, &tail, &err) != LKS_OK)
        bench_die("journal", err.msg);
    p->node = &p->state.nodes[lks_state_node(&p->state, LKS_STR("gpu000001"))];
    p->verdict = &p->state.verdicts[p->node->verdict];
    if (p->node->verdict == 0 || p->verdict->judged != LKS_JUDGED_CONFORMS)
        bench_die("journal", "the node that reported does not conform");
    w->seq = tail.seq;
    w->time = tail.time;
    w->journal = lks_str_from(p->state.journal);
    memcpy(w->hash, tail.hash, sizeof(w->hash));
}

static void basis_of(uint32_t i, char out[LKS_DIGEST_SIZE])
{
    snprintf(out, LKS_DIGEST_SIZE, "sha256:%064" PRIx32, i % BASES);
}

/* Readings that differ in what no stack asks for. */
static void write_bases(struct bench_writing *w, const struct pattern *p)
{
    const struct lks_state *s = &p->state;
    for (uint32_t i = 0; i < BASES; i++) {
        char digest[LKS_DIGEST_SIZE], readings[64];
        basis_of(i, digest);
        snprintf(readings, sizeof(readings), "platform.os\t\t\t=\tbuild %" PRIu32 "\n", i);
        const struct lks_record known[] = {
            {.kind = LKS_RECORD_BASIS, .basis = {lks_str_from(digest), lks_str_from(readings)}},
            {.kind = LKS_RECORD_VERDICT,
             .verdict = {.basis = lks_str_from(digest),
                         .stack = lks_state_text(s, p->verdict->stack),
                         .judged = LKS_JUDGED_CONFORMS,
                         .values = lks_state_text(s, p->verdict->values)}},
        };
        bench_write(w, &known[0]);
        bench_write(w, &known[1]);
    }
}

static void write_node(struct bench_writing *w, const struct pattern *p, uint32_t i,
                       const struct lks_x509_about *about)
{
    const struct lks_state *s = &p->state;
    char name[BENCH_SITE_NAME_SIZE], basis[LKS_DIGEST_SIZE], other[LKS_DIGEST_SIZE];
    struct lks_str node = lks_str_from(bench_site_name(i, name));
    struct lks_str boot = lks_state_text(s, p->node->boot);
    basis_of(i, basis);
    snprintf(other, sizeof(other), "sha256:%064" PRIx32, i);
    const struct lks_record records[] = {
        {.kind = LKS_RECORD_ENROLLED,
         .enrolled = {.node = node,
                      .fingerprint = lks_str_from(about != NULL ? about->fingerprint : other),
                      .serial = about != NULL ? lks_str_from(about->serial) : node,
                      .expires = w->time + LIFE_S * LKS_SECOND}},
        {.kind = LKS_RECORD_BOOTED, .booted = {node, boot}},
        {.kind = LKS_RECORD_LIVENESS, .liveness = {node, LKS_LIVE}},
        {.kind = LKS_RECORD_TUPLE,
         .tuple = {.node = node,
                   .digest = lks_state_text(s, p->node->tuple),
                   .report = lks_state_text(s, p->node->report),
                   .boot = boot,
                   .taken = p->node->taken,
                   .basis = lks_str_from(basis),
                   .whole = lks_str_from(basis)}},
    };
    for (size_t k = 0; k < LKS_COUNT(records); k++)
        bench_write(w, &records[k]);
}

/* All agents have one key: what it costs to show a certificate is the same. */
static void certify(struct bench_site *s, const struct lks_secrets *secrets,
                    struct lks_x509_about *abouts)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf request = {0};
    char name[BENCH_SITE_NAME_SIZE];
    struct lks_err err = {0};
    lks_buf_init(&request, LKS_X509_PEM_MAX);
    lks_buf_init(&s->key, LKS_X509_PEM_MAX);
    if (lks_x509_key(&s->key, &err) != LKS_OK ||
        lks_x509_request(lks_buf_view(&s->key), LKS_STR("n"), &request, &err) != LKS_OK)
        bench_die("a node's key", err.msg);
    for (unsigned n = 0; n < s->agents; n++) {
        struct lks_x509_wish wish = {.use = LKS_X509_NODE,
                                     .name = lks_str_from(bench_site_name(node_of(s, n), name)),
                                     .now = (int64_t)time(NULL),
                                     .seconds = LIFE_S};
        lks_buf_init(&s->pairs[n], LKS_X509_PEM_MAX);
        if (lks_x509_issue(lks_buf_view(&secrets->ca), lks_buf_view(&secrets->ca_key),
                           lks_buf_view(&request), &wish, &s->pairs[n], &abouts[n], &err) != LKS_OK)
            bench_die("a node's certificate", err.msg);
        s->shown[n] = (struct lks_load_pair){lks_buf_view(&s->pairs[n]), lks_buf_view(&s->key)};
    }
}

static void write_nodes(struct bench_site *s, struct bench_writing *w, const struct pattern *p,
                        const struct lks_secrets *secrets)
{
    struct lks_x509_about *abouts = calloc(s->agents, sizeof(*abouts));
    if (abouts == NULL)
        bench_die("journal", "no memory");
    certify(s, secrets, abouts);
    write_bases(w, p);
    for (uint32_t i = 1, agent = 0; i < s->nodes; i++) {
        bool has = agent < s->agents && node_of(s, agent) == i;
        write_node(w, p, i, has ? &abouts[agent] : NULL);
        agent += has;
    }
    free(abouts);
}

/* The digest of what they run as heartbeats have it. */
static void read_tuple(struct bench_site *s, const struct pattern *p)
{
    struct lks_str digits, kind;
    (void)lks_str_cut(lks_state_text(&p->state, p->node->tuple), ':', &kind, &digits);
    for (size_t i = 0; i < LKS_HASH_BYTES; i++) {
        uint64_t byte = 0;
        if (digits.len < (size_t)2 * LKS_HASH_BYTES ||
            !lks_str_hex((struct lks_str){digits.ptr + 2 * i, 2}, UINT8_MAX, &byte))
            bench_die("journal", "a digest is none");
        s->tuple[i] = (uint8_t)byte;
    }
}

static void write_journal(struct bench_site *s)
{
    static struct bench_writing w;
    LKS_CLEANUP(lks_secrets_fini) struct lks_secrets secrets = {0};
    struct pattern p = {0};
    struct lks_err err = {0};
    char path[PATH_SIZE], reference[PATH_SIZE];
    snprintf(path, sizeof(path), "%s/journal.db", s->crew.c.data);
    snprintf(reference, sizeof(reference), "file:%s/seal.key", s->crew.c.data);
    if (lks_secrets_load(s->crew.c.data, reference, &secrets, &err) != LKS_OK ||
        lks_store_sqlite_open(path, LKS_STORE_OWN, &w.store, &err) != LKS_OK)
        bench_die("journal", err.msg);
    w.key = secrets.journal;
    read_pattern(&w, &p);
    read_tuple(s, &p);
    write_nodes(s, &w, &p, &secrets);
    bench_writing_end(&w);
    lks_store_close(&w.store);
    lks_state_fini(&p.state);
}

void bench_site_init(struct bench_site *s, uint32_t nodes, unsigned agents)
{
    *s = (struct bench_site){.nodes = nodes, .agents = agents};
    s->shown = calloc(agents, sizeof(*s->shown));
    s->pairs = calloc(agents, sizeof(*s->pairs));
    s->seq = calloc(agents, sizeof(*s->seq));
    if (s->shown == NULL || s->pairs == NULL || s->seq == NULL)
        bench_die("agents", "no memory");
    begin(s);
    write_journal(s);
    if (!ctl_start(&s->crew.c))
        bench_die("lockstepd", "it does not start with its journal");
    bench_witness(&s->crew.c, &s->head);
}

void bench_site_fini(struct bench_site *s)
{
    crew_end(&s->crew);
    for (unsigned n = 0; n < s->agents; n++)
        lks_buf_fini(&s->pairs[n]);
    lks_buf_fini(&s->key);
    free(s->pairs);
    free(s->shown);
    free(s->seq);
}

struct lks_str bench_site_beat(struct bench_site *s, unsigned n)
{
    struct lks_beat beat = {.boot = {7}, .seq = ++s->seq[n], .head_seq = s->head.seq};
    memcpy(beat.tuple, s->tuple, sizeof(beat.tuple));
    memcpy(beat.head_hash, s->head.hash, sizeof(beat.head_hash));
    return bench_beat(&beat, s->request);
}
