#include "server/form/views.h"
#include "core/rows/alarm.h"
#include "core/rows/command.h"
#include "core/rows/credential.h"
#include "core/rows/pool.h"
#include "core/rows/registry.h"
#include "core/state/heartbeat.h"
#include "core/state/state.h"

struct lks_pool_counts lks_view_pool_counts(const struct lks_state *s, uint32_t pool)
{
    const struct lks_state_pool *p = &s->pools[pool];
    struct lks_pool_counts c = {.nodes = p->nodes, .enrolled = p->enrolled};
    for (size_t i = 0; i < LKS_LIVENESS_COUNT; i++)
        c.liveness[i] = p->liveness[i];
    return c;
}

void lks_view_liveness(struct lks_json_writer *w, const uint32_t liveness[LKS_LIVENESS_COUNT])
{
    lks_json_begin(w, "liveness", '{');
    for (size_t i = 0; i < LKS_LIVENESS_COUNT; i++)
        lks_json_int(w, lks_liveness_words[i], liveness[i]);
    lks_json_end(w, '}');
}

void lks_view_pool(struct lks_json_writer *w, const struct lks_state *s, uint32_t pool,
                   const struct lks_pool_counts *counts)
{
    const struct lks_state_pool *p = &s->pools[pool];
    lks_json_text(w, "name", lks_state_text(s, p->name));
    lks_view_text(w, "posture", lks_state_text(s, p->posture));
    lks_json_int(w, "criticality", p->criticality);
    lks_view_text(w, "enforce", lks_state_text(s, p->enforce));
    lks_view_text(w, "sched", lks_state_text(s, p->sched));
    lks_view_text(w, "stack", lks_state_text(s, p->stack));
    lks_view_text(w, "stack_digest", lks_state_text(s, p->stack_digest));
    lks_json_int(w, "nodes", counts->nodes);
    lks_json_int(w, "enrolled", counts->enrolled);
    lks_view_liveness(w, counts->liveness);
    lks_json_bool(w, "acts_wait", lks_state_acts_wait(s, pool));
    if (p->frozen || s->frozen)
        lks_json_bool(w, "frozen", true);
}

void lks_view_cadence(struct lks_json_writer *w, const struct lks_state *s,
                      const struct lks_book *book, const struct lks_pool_classes *classes,
                      uint32_t pool, lks_ms wall)
{
    enum { DAY_MS = 24 * 3600 * 1000 };
    struct lks_cadence c = lks_cadence_of(s, book, classes, pool, wall);
    const struct lks_state_stack *to = c.to != NULL ? c.to : c.behind.to;
    if (to != NULL) {
        lks_view_text(w, "baseline", lks_state_text(s, to->name));
        lks_view_text(w, "baseline_digest", lks_state_text(s, to->digest));
        lks_view_time(w, "behind_since", c.behind.since);
    }
    if (c.limit != UINT64_MAX)
        lks_json_int(w, "cadence_days", (int64_t)(c.limit / DAY_MS));
}

void lks_view_by(struct lks_json_writer *w, const struct lks_state *s, lks_text by, lks_text reason)
{
    lks_view_text(w, "by", lks_state_text(s, by));
    lks_view_text(w, "reason", lks_state_text(s, reason));
}

void lks_view_people(struct lks_json_writer *w, const char *key, struct lks_str people)
{
    if (people.len > 0)
        lks_view_words(w, key, people);
}
