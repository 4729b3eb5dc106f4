#include "core/view/view.h"

#include "core/conform/basis.h"
#include "core/conform/conform.h"
#include "core/conform/verdict.h"
#include "core/state/change_room.h"
#include "core/state/node_status.h"

#include <stdio.h>

const char *const lks_intent_words[] = {"pool", "domain", "change", NULL};
_Static_assert(LKS_COUNT(lks_intent_words) == LKS_INTENT_COUNT + 1, "each source has its word");

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

enum lks_differs lks_view_differs(const struct lks_state *s, uint32_t node)
{
    if (lks_bitset_test(&s->standing->differs, node))
        return LKS_DIFFERS_DRIFT;
    if (lks_state_judged(s, node) == LKS_JUDGED_UNMEASURED)
        return LKS_DIFFERS_UNMEASURED;
    return lks_bitset_test(&s->standing->deviates, node) ? LKS_DIFFERS_DEVIATION : LKS_DIFFERS_NOT;
}

/* What the stack of this digest is called; the pool's name for it counts first. Empty: unknown. */
static struct lks_str stack_name(const struct lks_state *s, uint32_t node, lks_text digest)
{
    const struct lks_node *n = &s->nodes[node];
    const struct lks_state_stack *stack = lks_state_stack(s, lks_state_text(s, digest));
    if (n->pool < s->pool_count && s->pools[n->pool].stack_digest == digest)
        return lks_state_text(s, s->pools[n->pool].stack);
    return stack != NULL ? lks_state_text(s, stack->name) : LKS_STR("");
}

void lks_view_intent(struct lks_json_writer *w, const struct lks_state *s, uint32_t node,
                     const char *name_key, const char *digest_key)
{
    lks_text digest = lks_state_intent(s, node);
    if (digest == 0)
        return;
    lks_view_text(w, name_key, stack_name(s, node, digest));
    lks_json_text(w, digest_key, lks_state_text(s, digest));
}

/* Where lks_state_intent() took it from. */
static const char *intent_from(const struct lks_state *s, uint32_t node)
{
    const struct lks_node *n = &s->nodes[node];
    if ((n->changing != 0 && n->target != 0) || n->pin != 0)
        return lks_intent_words[LKS_INTENT_CHANGE];
    return lks_intent_words[n->asset != 0 ? LKS_INTENT_DOMAIN : LKS_INTENT_POOL];
}

static void put_rows(struct lks_json_writer *w, const struct lks_state *s, uint32_t node,
                     struct lks_str lines, size_t most)
{
    struct lks_wrong row;
    lks_json_begin(w, "rows", '[');
    while (most-- > 0 && lks_verdict_wrong_next(&lines, &row)) {
        uint64_t deviation = lks_node_status_covered(s, node, row.subject, row.actual);
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
    while (allows == NULL && lks_verdict_wrong_next(&lines, &row))
        allows = lks_state_deviation(s, lks_node_status_covered(s, node, row.subject, row.actual));
    if (allows == NULL)
        return;
    if (n->drift_since >= allows->added)
        lks_json_cstr(w, "cause", lks_drift_words[n->drift_cause]);
    lks_view_time(w, "since", allows->added);
}

/* What differs now, in a line as the record of its drift has it. That record may be of what
 * differed first; where its words still are about a line that is there, they tell more. */
static struct lks_str drift_text(const struct lks_state *s, uint32_t node, struct lks_str lines,
                                 struct lks_buf *out)
{
    struct lks_str told = lks_state_text(s, s->nodes[node].drift_text);
    struct lks_wrong row, first = {0};
    size_t count = 0;
    bool still = false;
    char line[LKS_READING_VALUE_MAX];
    while (lks_verdict_wrong_next(&lines, &row)) {
        if (lks_str_is(row.cause, lks_conform_cause_name(LKS_CAUSE_UNMEASURED)) ||
            lks_node_status_covered(s, node, row.subject, row.actual) != 0)
            continue;
        first = count++ == 0 ? row : first;
        snprintf(line, sizeof(line), "%" LKS_STR_FMT ": %" LKS_STR_FMT ", pinned %" LKS_STR_FMT,
                 LKS_STR_ARG(row.subject), LKS_STR_ARG(row.actual), LKS_STR_ARG(row.pinned));
        still = still || lks_str_find(told, lks_str_from(line)) >= 0;
    }
    if (still || count == 0)
        return told;
    lks_buf_addf(out, "%" LKS_STR_FMT ": %" LKS_STR_FMT ", pinned %" LKS_STR_FMT,
                 LKS_STR_ARG(first.subject), LKS_STR_ARG(first.actual), LKS_STR_ARG(first.pinned));
    if (count > 1)
        lks_buf_addf(out, ", and %zu more", count - 1);
    return lks_buf_view(out);
}

void lks_view_drift(struct lks_json_writer *w, const struct lks_state *s, uint32_t node,
                    size_t most)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf fresh = LKS_BUF(LKS_BASIS_BYTES_MAX);
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
                  n->drifting && n->drift_text != 0 ? drift_text(s, node, wrong, &fresh) : first);
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
    if (lks_state_certificate_text(c, fingerprint)[0] == '\0')
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

static void put_reset(struct lks_json_writer *w, const struct lks_state *s, uint32_t node)
{
    const struct lks_reset *r = lks_state_reset(s, node);
    if (r == NULL)
        return;
    lks_json_begin(w, "reset", '{');
    lks_json_text(w, "by", lks_state_text(s, r->by));
    lks_json_text(w, "reason", lks_state_text(s, r->reason));
    lks_view_time(w, "asked", r->asked);
    lks_view_time(w, "until", r->until);
    if (r->approved != 0) {
        lks_view_time(w, "approved", r->approved);
        lks_view_text(w, "approved_by", lks_state_text(s, r->approved_by));
        lks_view_text(w, "approved_reason", lks_state_text(s, r->approved_reason));
        lks_json_int(w, "command", (int64_t)r->command);
    }
    lks_json_end(w, '}');
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

/* The change that has the node in hand, else the last one in progress that brought it to its pin;
 * 0: the node is in none. */
static uint64_t change_of(const struct lks_state *s, uint32_t node)
{
    uint64_t id = s->nodes[node].change;
    for (uint32_t i = s->change_count; id == 0 && s->nodes[node].pin != 0 && i-- > 0;) {
        const struct lks_state_change *c = &s->changes[i];
        if (!lks_change_over(c) && c->stack == s->nodes[node].pin &&
            lks_change_brought(c, lks_state_change_member(c, node)))
            id = c->id;
    }
    return id;
}

/* What others report of it, and until when that counts. */
static void put_conditions(struct lks_json_writer *w, const struct lks_state *s, uint32_t node,
                           lks_ms wall)
{
    const struct lks_node *n = &s->nodes[node];
    lks_json_bool(w, "unhealthy", n->unhealthy);
    lks_view_time(w, "changing", n->changing);
    uint64_t change = change_of(s, node);
    if (change != 0)
        lks_json_int(w, "change", (int64_t)change);
    if (n->unhealthy || n->changing != 0)
        lks_view_text(w, "condition_text", lks_state_text(s, n->condition_text));
    lks_view_time(w, "attested_until", n->attested_until);
    lks_view_time(w, "checked", n->checked_at);
    if (n->outband != 0)
        lks_json_int(w, "outband_age_ms", (int64_t)age(wall, n->outband_taken));
}

/* The stack that the verdict is about: a verdict of another stack than the intent would show. */
static void put_verdict_stack(struct lks_json_writer *w, const struct lks_state *s, uint32_t node)
{
    const struct lks_state_verdict *v = lks_state_verdict(s, node);
    if (v == NULL)
        return;
    lks_view_text(w, "judged_stack", stack_name(s, node, v->stack));
    lks_json_text(w, "judged_stack_digest", lks_state_text(s, v->stack));
}

void lks_view_node_more(struct lks_json_writer *w, const struct lks_state *s, uint32_t node,
                        lks_ms wall)
{
    const struct lks_node *n = &s->nodes[node];
    const struct lks_state_verdict *v = lks_state_verdict(s, node);
    lks_view_text(w, "boot", lks_state_text(s, n->boot));
    lks_view_text(w, "report", lks_state_text(s, n->report));
    lks_view_intent(w, s, node, "stack", "stack_digest");
    if (lks_state_intent(s, node) != 0)
        lks_json_cstr(w, "intent_from", intent_from(s, node));
    put_verdict_stack(w, s, node);
    lks_view_drift(w, s, node, LKS_VERDICT_LINES_MAX);
    lks_view_text(w, "first", v != NULL ? lks_state_text(s, v->first) : LKS_STR(""));
    put_deviations(w, s, node);
    put_conditions(w, s, node, wall);
    lks_view_time(w, "taken", n->taken);
    put_certificate(w, &n->certificates[0]);
    put_notes(w, n->notes);
    if (n->intake)
        lks_view_text(w, "intake_why", lks_state_text(s, n->intake_why));
    if (n->held) {
        lks_view_text(w, "held_by", lks_state_text(s, n->held_by));
        lks_view_text(w, "held_reason", lks_state_text(s, n->held_reason));
    }
    put_commands(w, s, node);
    put_reset(w, s, node);
}
