#include "server/views.h"

#include "core/standing.h"
#include "core/verdict.h"

#include <stdio.h>

void lks_view_text(struct lks_json_writer *w, const char *key, struct lks_str text)
{
    if (text.len > 0)
        lks_json_text(w, key, text);
}

void lks_view_time(struct lks_json_writer *w, const char *key, lks_ms time)
{
    char text[LKS_TIME_TEXT_SIZE];
    if (time != 0)
        lks_json_cstr(w, key, lks_time_text(time, text));
}

void lks_view_next(struct lks_json_writer *w, uint64_t next)
{
    char text[24];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)next);
    if (next != 0)
        lks_json_cstr(w, "next", text);
}

enum lks_differs lks_view_differs(const struct lks_state *s, uint32_t node)
{
    if (lks_bitset_test(&s->standing->differs, node))
        return LKS_DIFFERS_DRIFT;
    if (lks_state_judged(s, node) == LKS_JUDGED_UNMEASURED)
        return LKS_DIFFERS_UNMEASURED;
    return lks_bitset_test(&s->standing->deviates, node) ? LKS_DIFFERS_DEVIATION : LKS_DIFFERS_NOT;
}

void lks_view_intent(struct lks_json_writer *w, const struct lks_state *s, uint32_t node,
                     const char *name_key, const char *digest_key)
{
    const struct lks_node *n = &s->nodes[node];
    lks_text digest = lks_state_intent(s, node);
    struct lks_str name = {0};
    if (digest == 0)
        return;
    const struct lks_state_stack *stack = lks_state_stack(s, lks_state_text(s, digest));
    if (n->pool < s->pool_count && s->pools[n->pool].stack_digest == digest)
        name = lks_state_text(s, s->pools[n->pool].stack);
    else if (stack != NULL)
        name = lks_state_text(s, stack->name);
    lks_view_text(w, name_key, name);
    lks_json_text(w, digest_key, lks_state_text(s, digest));
}

static void put_rows(struct lks_json_writer *w, const struct lks_state *s, uint32_t node,
                     struct lks_str lines, size_t most)
{
    struct lks_wrong row;
    lks_json_begin(w, "rows", '[');
    while (most-- > 0 && lks_wrong_next(&lines, &row)) {
        uint64_t deviation = lks_standing_covered(s, node, row.subject, row.actual);
        lks_json_begin(w, NULL, '{');
        lks_json_text(w, "subject", row.subject);
        lks_json_text(w, "cause", row.cause);
        lks_view_text(w, "pinned", row.pinned);
        lks_view_text(w, "actual", row.actual);
        lks_view_text(w, "of", row.of);
        if (deviation != 0)
            lks_json_int(w, "deviation", (int64_t)deviation);
        lks_json_end(w, '}');
    }
    lks_json_end(w, ']');
}

/* Since when a deviation allows it, and the cause of the drift that this ended. */
static void put_allowed(struct lks_json_writer *w, const struct lks_state *s, uint32_t node,
                        struct lks_str lines)
{
    const struct lks_node *n = &s->nodes[node];
    const struct lks_deviation *allows = NULL;
    struct lks_wrong row;
    while (allows == NULL && lks_wrong_next(&lines, &row))
        allows = lks_state_deviation(s, lks_standing_covered(s, node, row.subject, row.actual));
    if (allows == NULL)
        return;
    if (n->drift_since >= allows->added)
        lks_json_cstr(w, "cause", lks_drift_words[n->drift_cause]);
    lks_view_time(w, "since", allows->added);
}

void lks_view_drift(struct lks_json_writer *w, const struct lks_state *s, uint32_t node,
                    size_t most)
{
    const struct lks_node *n = &s->nodes[node];
    const struct lks_state_verdict *v = lks_state_verdict(s, node);
    struct lks_str first = v != NULL ? lks_state_text(s, v->first) : LKS_STR("");
    struct lks_str wrong = v != NULL ? lks_state_text(s, v->wrong) : LKS_STR("");
    if (n->drifting) {
        lks_json_cstr(w, "cause", lks_drift_words[n->drift_cause]);
        lks_view_time(w, "since", n->drift_since);
        lks_view_text(w, "evidence", lks_state_text(s, n->drift_evidence));
    } else if (lks_view_differs(s, node) == LKS_DIFFERS_DEVIATION) {
        put_allowed(w, s, node, wrong);
    }
    lks_view_text(w, "text",
                  n->drifting && n->drift_text != 0 ? lks_state_text(s, n->drift_text) : first);
    lks_json_int(w, "drifted", v != NULL ? v->drifted : 0);
    lks_json_int(w, "unmeasured", v != NULL ? v->unmeasured : 0);
    put_rows(w, s, node, wrong, most);
    if (n->drained_by != 0) {
        lks_json_begin(w, "drained", '{');
        lks_json_text(w, "by", lks_state_text(s, n->drained_by));
        lks_view_text(w, "reason", lks_state_text(s, n->drained_reason));
        lks_json_end(w, '}');
    }
}

void lks_view_node(struct lks_json_writer *w, const struct lks_state *s, uint32_t node, lks_ms wall)
{
    const struct lks_node *n = &s->nodes[node];
    const char *why = NULL;
    bool admissible = lks_node_admissible(s, node, wall, &why);
    lks_json_text(w, "name", lks_state_name(s, node));
    lks_view_text(w, "asset", lks_state_text(s, n->asset));
    if (n->pool < s->pool_count)
        lks_view_text(w, "pool", lks_state_text(s, s->pools[n->pool].name));
    lks_view_text(w, "site", lks_state_text(s, n->site));
    lks_view_text(w, "rack", lks_state_text(s, n->rack));
    lks_view_text(w, "domain", lks_state_text(s, n->domain));
    lks_view_text(w, "class", lks_state_text(s, n->class));
    lks_json_cstr(w, "liveness", lks_liveness_words[n->liveness]);
    lks_view_time(w, "liveness_since", n->liveness_since);
    lks_json_cstr(w, "judged", lks_judged_words[lks_state_judged(s, node)]);
    lks_view_text(w, "tuple", lks_state_text(s, n->tuple));
    lks_json_bool(w, "intake", n->intake);
    lks_json_bool(w, "held", n->held);
    lks_json_bool(w, "enrolled", n->enrolled);
    lks_json_bool(w, "admissible", admissible);
    if (!admissible && why != NULL)
        lks_json_cstr(w, "why", why);
}

static void put_certificate(struct lks_json_writer *w, const struct lks_certificate *c)
{
    char fingerprint[LKS_DIGEST_SIZE];
    if (lks_certificate_text(c, fingerprint)[0] == '\0')
        return;
    lks_json_begin(w, "certificate", '{');
    lks_json_cstr(w, "fingerprint", fingerprint);
    lks_view_time(w, "expires", c->expires);
    lks_json_end(w, '}');
}

static void put_notes(struct lks_json_writer *w, uint32_t notes)
{
    lks_json_begin(w, "notes", '[');
    for (size_t i = 0; i < LKS_NOTE_COUNT; i++) {
        if ((notes >> i & 1) != 0)
            lks_json_cstr(w, NULL, lks_note_words[i]);
    }
    lks_json_end(w, ']');
}

static void put_commands(struct lks_json_writer *w, const struct lks_state *s, uint32_t node)
{
    lks_json_begin(w, "commands", '[');
    for (uint32_t i = 0; i < s->command_count; i++) {
        if (s->commands[i].node == node && !s->commands[i].ended)
            lks_json_int(w, NULL, (int64_t)s->commands[i].id);
    }
    lks_json_end(w, ']');
}

static void put_deviations(struct lks_json_writer *w, const struct lks_state *s, uint32_t node)
{
    lks_json_begin(w, "deviations", '[');
    for (uint32_t i = 0; i < s->deviation_count; i++) {
        const struct lks_deviation *d = &s->deviations[i];
        bool there = false;
        for (uint32_t k = 0; d->ended == 0 && k < d->count && !there; k++)
            there = d->nodes[k] == node;
        if (there)
            lks_json_int(w, NULL, (int64_t)d->id);
    }
    lks_json_end(w, ']');
}

static lks_ms age(lks_ms now, lks_ms then)
{
    return now > then ? now - then : 0;
}

/* What others say of it, and how old what it says itself is. */
static void put_conditions(struct lks_json_writer *w, const struct lks_state *s, uint32_t node,
                           struct lks_now now)
{
    const struct lks_node *n = &s->nodes[node];
    const struct lks_pulse *p = &s->pulses[node];
    lks_json_bool(w, "unhealthy", n->unhealthy);
    lks_view_time(w, "changing", n->changing);
    if (n->change != 0)
        lks_json_int(w, "change", (int64_t)n->change);
    if (n->unhealthy || n->changing != 0)
        lks_view_text(w, "condition_text", lks_state_text(s, n->condition_text));
    lks_view_time(w, "attested_until", n->attested_until);
    lks_view_time(w, "checked", n->checked_at);
    if (n->inband != 0 && p->heard)
        lks_json_int(w, "inband_age_ms", (int64_t)age(now.mono, p->at));
    if (n->outband != 0)
        lks_json_int(w, "outband_age_ms", (int64_t)age(now.wall, n->outband_taken));
}

void lks_view_node_more(struct lks_json_writer *w, const struct lks_state *s, uint32_t node,
                        struct lks_now now)
{
    const struct lks_node *n = &s->nodes[node];
    const struct lks_pulse *p = &s->pulses[node];
    const struct lks_state_verdict *v = lks_state_verdict(s, node);
    lks_view_text(w, "boot", lks_state_text(s, n->boot));
    lks_view_intent(w, s, node, "stack", "stack_digest");
    lks_view_drift(w, s, node, LKS_VERDICT_LINES_MAX);
    lks_view_text(w, "first", v != NULL ? lks_state_text(s, v->first) : LKS_STR(""));
    put_deviations(w, s, node);
    put_conditions(w, s, node, now);
    lks_view_time(w, "taken", n->taken);
    put_certificate(w, &n->certificates[0]);
    put_notes(w, n->notes);
    lks_json_int(w, "health", (int64_t)(p->health & LKS_HEALTH_BITS));
    if (p->heard) {
        lks_json_int(w, "skew_ms", p->skew);
        lks_json_int(w, "heard_ms_ago", (int64_t)age(now.mono, p->at));
    }
    lks_json_int(w, "witnessed_seq", (int64_t)(p->head_seq & (uint64_t)LKS_DOC_NUMBER_MAX));
    if (n->intake)
        lks_view_text(w, "intake_why", lks_state_text(s, n->intake_why));
    if (n->held) {
        lks_view_text(w, "held_by", lks_state_text(s, n->held_by));
        lks_view_text(w, "held_reason", lks_state_text(s, n->held_reason));
    }
    put_commands(w, s, node);
}

struct lks_pool_counts lks_pool_counts(const struct lks_state *s, uint32_t pool)
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

void lks_view_alarm(struct lks_json_writer *w, const struct lks_state *s,
                    const struct lks_state_alarm *alarm)
{
    lks_json_int(w, "id", (int64_t)alarm->id);
    lks_json_cstr(w, "kind", lks_alarm_words[alarm->kind]);
    lks_view_text(w, "subject", lks_state_text(s, alarm->subject));
    lks_json_text(w, "text", lks_state_text(s, alarm->text));
    lks_view_time(w, "raised", alarm->raised);
    lks_view_time(w, "released", alarm->released);
    if (alarm->released != 0) {
        lks_view_text(w, "by", lks_state_text(s, alarm->by));
        lks_view_text(w, "reason", lks_state_text(s, alarm->reason));
    }
}

void lks_view_command(struct lks_json_writer *w, const struct lks_state *s,
                      const struct lks_state_command *command)
{
    lks_json_int(w, "id", (int64_t)command->id);
    lks_json_text(w, "node", lks_state_name(s, command->node));
    lks_json_text(w, "executor", lks_state_text(s, command->executor));
    lks_json_bool(w, "ended", command->ended);
    if (command->ended) {
        lks_json_cstr(w, "outcome", lks_outcome_words[command->outcome]);
        lks_view_text(w, "text", lks_state_text(s, command->text));
    }
    lks_view_time(w, "sent", command->sent);
    lks_view_time(w, "expires", command->expires);
}

void lks_view_binding(struct lks_json_writer *w, const struct lks_state *s,
                      const struct lks_binding *binding, bool identity)
{
    if (identity)
        lks_json_text(w, "identity", lks_state_text(s, binding->identity));
    lks_json_cstr(w, "role", lks_role_words[binding->role]);
    lks_view_text(w, "site", lks_state_text(s, binding->site));
    lks_view_text(w, "pool", lks_state_text(s, binding->pool));
}

void lks_view_token(struct lks_json_writer *w, const struct lks_state *s,
                    const struct lks_api_token *token)
{
    lks_json_text(w, "id", lks_state_text(s, token->id));
    lks_json_text(w, "identity", lks_state_text(s, token->identity));
    lks_view_time(w, "expires", token->expires);
}
