#include "core/view/view.h"

#include "core/conform/basis.h"
#include "core/conform/conform.h"
#include "core/conform/verdict.h"
#include "core/rows/change.h"
#include "core/rows/command.h"
#include "core/rows/deviation.h"
#include "core/rows/pool.h"
#include "core/rows/registry.h"
#include "core/rows/verdict.h"
#include "core/state/change_room.h"
#include "core/state/heartbeat.h"
#include "core/state/node_status.h"
#include "core/state/resets.h"
#include "core/state/state.h"
#include "core/view/view_words.h"

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

void lks_view_words(struct lks_json_writer *w, const char *key, struct lks_str words)
{
    struct lks_str word;
    lks_json_begin(w, key, '[');
    while (lks_str_word(&words, &word))
        lks_json_text(w, NULL, word);
    lks_json_end(w, ']');
}

enum lks_differs lks_view_differs(const struct lks_state *s, uint32_t node)
{
    if (lks_bitset_test(&s->standing->differs, node))
        return LKS_DIFFERS_DRIFT;
    if (lks_state_judged(s, node) == LKS_JUDGED_UNMEASURED)
        return LKS_DIFFERS_UNMEASURED;
    return lks_bitset_test(&s->standing->deviates, node) ? LKS_DIFFERS_DEVIATION : LKS_DIFFERS_NOT;
}

const char *const lks_view_judged_words[] = {"unjudged",   "conforms",  "drift",
                                             "unmeasured", "deviation", NULL};
_Static_assert(LKS_COUNT(lks_view_judged_words) == LKS_JUDGED_COUNT + 2, "one word more, and NULL");

unsigned lks_view_judged(const struct lks_state *s, uint32_t node)
{
    enum lks_judged judged = lks_state_judged(s, node);
    bool covered = judged == LKS_JUDGED_DRIFT && lks_view_differs(s, node) == LKS_DIFFERS_DEVIATION;
    return covered ? LKS_JUDGED_COUNT : judged;
}

/* The name of the stack with this digest; the pool's name for it comes first. Empty: unknown. */
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

/* The current difference in a line. The text of the drift's record has more detail, but may be
 * about an earlier difference: it is used while the difference that it names is still there. */
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

static struct lks_str differs_text(const struct lks_state *s, uint32_t node, struct lks_buf *out)
{
    const struct lks_node *n = &s->nodes[node];
    const struct lks_state_verdict *v = lks_state_verdict(s, node);
    struct lks_str wrong = v != NULL ? lks_state_text(s, v->wrong) : LKS_STR("");
    if (n->drifting && n->drift_text != 0)
        return drift_text(s, node, wrong, out);
    return v != NULL ? lks_state_text(s, v->first) : LKS_STR("");
}

void lks_view_drift_line(const struct lks_state *s, uint32_t node, struct lks_buf *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf fresh = LKS_BUF(LKS_BASIS_BYTES_MAX);
    lks_buf_add(out, differs_text(s, node, &fresh));
}

void lks_view_drift(struct lks_json_writer *w, const struct lks_state *s, uint32_t node,
                    size_t most)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf fresh = LKS_BUF(LKS_BASIS_BYTES_MAX);
    const struct lks_node *n = &s->nodes[node];
    const struct lks_state_verdict *v = lks_state_verdict(s, node);
    struct lks_str wrong = v != NULL ? lks_state_text(s, v->wrong) : LKS_STR("");
    if (n->drifting) {
        lks_json_cstr(w, "cause", lks_drift_words[n->drift_cause]);
        lks_view_time(w, "since", n->drift_since);
        lks_view_text(w, "evidence", lks_state_text(s, n->drift_evidence));
    } else if (lks_view_differs(s, node) == LKS_DIFFERS_DEVIATION) {
        put_allowed(w, s, node, wrong);
    }
    lks_view_text(w, "text", differs_text(s, node, &fresh));
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

/* Members of a node ------------------------------------------------------------------------- */

static uint32_t place_of(const struct lks_view_of *of)
{
    return (uint32_t)((const struct lks_node *)of->row - of->s->nodes);
}

static void put_name(struct lks_json_writer *w, const struct lks_view_of *of)
{
    lks_json_text(w, "name", lks_state_name(of->s, place_of(of)));
}

static void put_judged(struct lks_json_writer *w, const struct lks_view_of *of)
{
    lks_json_cstr(w, "judged", lks_view_judged_words[lks_view_judged(of->s, place_of(of))]);
}

static void put_admissible(struct lks_json_writer *w, const struct lks_view_of *of)
{
    const char *why = NULL;
    bool admissible = lks_node_admissible(of->s, place_of(of), of->now.wall, &why);
    lks_json_bool(w, "admissible", admissible);
    if (!admissible && why != NULL)
        lks_json_cstr(w, "why", why);
}

static struct lks_view_key key_name(const struct lks_view_of *of)
{
    return (struct lks_view_key){.text = lks_state_name(of->s, place_of(of))};
}

static struct lks_view_key key_judged(const struct lks_view_of *of)
{
    return (struct lks_view_key){.number = lks_view_judged(of->s, place_of(of))};
}

static struct lks_view_key key_admissible(const struct lks_view_of *of)
{
    return (struct lks_view_key){.number =
                                     lks_node_status_bars(of->s, place_of(of), of->now.wall) == 0};
}

static void put_certificate(struct lks_json_writer *w, const struct lks_view_of *of)
{
    const struct lks_certificate *c = &((const struct lks_node *)of->row)->certificates[0];
    char fingerprint[LKS_DIGEST_SIZE];
    if (lks_state_certificate_text(c, fingerprint)[0] == '\0')
        return;
    lks_json_begin(w, "certificate", '{');
    lks_json_cstr(w, "fingerprint", fingerprint);
    lks_view_time(w, "expires", c->expires);
    lks_json_end(w, '}');
}

static void put_notes(struct lks_json_writer *w, const struct lks_view_of *of)
{
    uint32_t notes = ((const struct lks_node *)of->row)->notes;
    lks_json_begin(w, "notes", '[');
    for (size_t i = 0; i < LKS_NOTE_COUNT; i++) {
        if ((notes >> i & 1) != 0)
            lks_json_cstr(w, NULL, lks_note_words[i]);
    }
    lks_json_end(w, ']');
}

static void put_commands(struct lks_json_writer *w, const struct lks_view_of *of)
{
    const struct lks_state *s = of->s;
    uint32_t node = place_of(of);
    lks_json_begin(w, "commands", '[');
    for (uint32_t i = 0; i < s->command_count; i++) {
        if (s->commands[i].node == node && !s->commands[i].ended)
            lks_json_int(w, NULL, (int64_t)s->commands[i].id);
    }
    lks_json_end(w, ']');
}

static void put_reset(struct lks_json_writer *w, const struct lks_view_of *of)
{
    const struct lks_reset *r = lks_state_reset(of->s, place_of(of));
    if (r == NULL)
        return;
    lks_json_begin(w, "reset", '{');
    lks_view_row_put(w, &lks_view_resets, LKS_USE_LISTED, &(struct lks_view_of){of->s, .row = r});
    lks_json_end(w, '}');
}

static void put_deviations(struct lks_json_writer *w, const struct lks_view_of *of)
{
    const struct lks_state *s = of->s;
    uint32_t node = place_of(of);
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

/* The change in progress on the node, else the last one in progress that brought it to its pin;
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

static void put_change(struct lks_json_writer *w, const struct lks_view_of *of)
{
    uint64_t change = change_of(of->s, place_of(of));
    if (change != 0)
        lks_json_int(w, "change", (int64_t)change);
}

static void put_condition(struct lks_json_writer *w, const struct lks_view_of *of)
{
    const struct lks_node *n = of->row;
    if (n->unhealthy || n->changing != 0)
        lks_view_text(w, "condition_text", lks_state_text(of->s, n->condition_text));
}

static void put_outband(struct lks_json_writer *w, const struct lks_view_of *of)
{
    const struct lks_node *n = of->row;
    if (n->outband != 0)
        lks_json_int(w, "outband_age_ms", (int64_t)age(of->now.wall, n->outband_taken));
}

static void put_intent(struct lks_json_writer *w, const struct lks_view_of *of)
{
    lks_view_intent(w, of->s, place_of(of), "stack", "stack_digest");
    if (lks_state_intent(of->s, place_of(of)) != 0)
        lks_json_cstr(w, "intent_from", intent_from(of->s, place_of(of)));
}

/* The stack of the verdict, so that a verdict on another stack than the intent is visible. */
static void put_verdict_stack(struct lks_json_writer *w, const struct lks_view_of *of)
{
    const struct lks_state_verdict *v = lks_state_verdict(of->s, place_of(of));
    if (v == NULL)
        return;
    lks_view_text(w, "judged_stack", stack_name(of->s, place_of(of), v->stack));
    lks_json_text(w, "judged_stack_digest", lks_state_text(of->s, v->stack));
}

static void put_drift(struct lks_json_writer *w, const struct lks_view_of *of)
{
    lks_view_drift(w, of->s, place_of(of), LKS_VERDICT_LINES_MAX);
}

static void put_first(struct lks_json_writer *w, const struct lks_view_of *of)
{
    const struct lks_state_verdict *v = lks_state_verdict(of->s, place_of(of));
    if (v != NULL)
        lks_view_text(w, "first", lks_state_text(of->s, v->first));
}

static void put_heard(struct lks_json_writer *w, const struct lks_view_of *of)
{
    const struct lks_heartbeat *p = &of->s->pulses[place_of(of)];
    if (((const struct lks_node *)of->row)->inband != 0 && p->heard)
        lks_json_int(w, "inband_age_ms", (int64_t)age(of->now.mono, p->at));
    lks_json_int(w, "health", (int64_t)(p->health & LKS_HEALTH_BITS));
    if (p->heard) {
        lks_json_int(w, "skew_ms", p->skew);
        lks_json_int(w, "heard_ms_ago", (int64_t)age(of->now.mono, p->at));
    }
    lks_json_int(w, "witnessed_seq", (int64_t)(p->head_seq & (uint64_t)LKS_DOC_NUMBER_MAX));
}

/* Tables ------------------------------------------------------------------------------------ */

/* clang-format off */
const struct lks_form lks_view_wrong_form = FORM("Wrong",
    "A component or setting that does not conform",
    MUST("subject", TEXT, "the component or setting"),
    MUST("cause", TEXT, "how it differs"),
    MAY("pinned", LINES(LKS_VIEW_LINES_MAX), "the value that the stack pins"),
    MAY("actual", LINES(LKS_VIEW_LINES_MAX), "the value that the node has"),
    MAY("of", TEXT, "the device with that value"),
    MAY("deviation", COUNT, "number of the deviation that covers it"));
const struct lks_form lks_view_drained_form = FORM("Drained", "A drain in the scheduler",
    MUST("by", TEXT, "the owner of the drain"),
    MAY("reason", TEXT, "the owner's reason"));
static const struct lks_form fingerprint = FORM("Fingerprint", "The current certificate",
    MUST("fingerprint", TEXT, "SHA-256 of the certificate"),
    MAY("expires", TIME, "when it expires"));
static const struct lks_form reset = FORM_OF("NodeReset", "The reset of a wedged node",
    lks_view_resets, LKS_USE_LISTED);

#define BEFORE(member) offsetof(struct lks_node, member)
enum {
    LISTED = LKS_USE_LISTED,
    SHOWN = LKS_USE_SHOWN,
    LIVE = LKS_USE_LIVE,
};
static const struct lks_view_computed computed[] = {
    {MUST("name", TEXT, "Its name."), LISTED | LKS_USE_SORT, BEFORE(asset), put_name},
    {MUST("judged", WORDS(lks_view_judged_words),
          "The conformance result: its readings compared with the stack that it should run. "
          "`deviation`: drift that a deviation covers."),
     LISTED | LKS_USE_SORT, BEFORE(tuple), put_judged},
    {MUST("admissible", TRUTH, "Whether a job may run on it, as far as is known."),
     LISTED | LKS_USE_SORT, BEFORE(accepted), put_admissible},
    {MAY("why", TEXT, "The reason why no job may run on it."), LISTED, BEFORE(accepted), NULL},

    {MAY("stack", TEXT, "The stack that it should run."), SHOWN, BEFORE(unhealthy), put_intent},
    {MAY("stack_digest", TEXT, "The digest of that stack."), SHOWN, BEFORE(unhealthy), NULL},
    {MAY("intent_from", WORDS(lks_intent_words),
         "The source of that stack: its pool, its domain or a change."),
     SHOWN, BEFORE(unhealthy), NULL},
    {MAY("judged_stack", TEXT, "The stack that `judged` refers to."),
     SHOWN, BEFORE(unhealthy), put_verdict_stack},
    {MAY("judged_stack_digest", TEXT, "The digest of that stack."), SHOWN, BEFORE(unhealthy), NULL},
    {MAY("cause", WORDS(lks_drift_words), "The cause of the drift, if it is known."),
     SHOWN, BEFORE(unhealthy), put_drift},
    {MAY("since", TIME, "When the drift started."), SHOWN, BEFORE(unhealthy), NULL},
    {MAY("evidence", TEXT, "The digest of the report that shows it."),
     SHOWN, BEFORE(unhealthy), NULL},
    {MAY("text", LINES(LKS_VIEW_LINES_MAX), "The difference, in a line."),
     SHOWN, BEFORE(unhealthy), NULL},
    {MUST("drifted", COUNT, "Number of components that differ."), SHOWN, BEFORE(unhealthy), NULL},
    {MUST("unmeasured", COUNT, "Number of components that were not measured."),
     SHOWN, BEFORE(unhealthy), NULL},
    {MUST("rows", LKS_LIST(LKS_FORM(lks_view_wrong_form)),
          "The components and settings that do not conform."),
     SHOWN, BEFORE(unhealthy), NULL},
    {MAY("drained", LKS_FORM(lks_view_drained_form), "Its drain in the scheduler."),
     SHOWN, BEFORE(unhealthy), NULL},
    {MAY("first", LINES(LKS_VIEW_LINES_MAX), "The first component that does not conform."),
     SHOWN, BEFORE(unhealthy), put_first},
    {MUST("deviations", LKS_LIST(COUNT), "The numbers of the deviations that apply to it."),
     SHOWN, BEFORE(unhealthy), put_deviations},
    {MAY("change", COUNT, "The number of the change that it is in."),
     SHOWN, BEFORE(attested_until), put_change},
    {MAY("condition_text", TEXT, "The reason for `unhealthy` or `changing`."),
     SHOWN, BEFORE(attested_until), put_condition},
    {MAY("outband_age_ms", COUNT, "Milliseconds since its endpoint was read."),
     SHOWN, BEFORE(taken), put_outband},
    {MAY("certificate", LKS_FORM(fingerprint), "The certificate of its agent."),
     SHOWN, BEFORE(intake_why), put_certificate},
    {MUST("notes", LKS_LIST(WORDS(lks_note_words)), "Conditions that its agent reported."),
     SHOWN, BEFORE(intake_why), put_notes},
    {MUST("commands", LKS_LIST(COUNT), "The numbers of its commands that have not ended."),
     SHOWN, LKS_VIEW_END, put_commands},
    {MAY("reset", LKS_FORM(reset), "A reset that waits for its approval or its review."),
     SHOWN, LKS_VIEW_END, put_reset},

    {MAY("inband_age_ms", COUNT, "Milliseconds since it last confirmed its in-band readings."),
     LIVE, LKS_VIEW_END, put_heard},
    {MUST("health", COUNT, "Conditions of its agent, as bits."), LIVE, LKS_VIEW_END, NULL},
    {MAY("skew_ms", SIGNED,
         "The difference of its clock from that of lockstepd, in milliseconds."),
     LIVE, LKS_VIEW_END, NULL},
    {MAY("heard_ms_ago", COUNT,
         "Milliseconds since its last heartbeat; absent: none since lockstepd started."),
     LIVE, LKS_VIEW_END, NULL},
    {MUST("witnessed_seq", COUNT, "The last row of the journal whose head it witnessed."),
     LIVE, LKS_VIEW_END, NULL},
};
/* clang-format on */
static const struct lks_view_keyed keys[] = {
    {"name", key_name},
    {"judged", key_judged},
    {"admissible", key_admissible},
};
const struct lks_view lks_view_nodes = {&lks_entity_node, computed, LKS_COUNT(computed), keys,
                                        LKS_COUNT(keys)};
const struct lks_view lks_view_resets = {.entity = &lks_entity_reset};

const struct lks_view *const lks_views[] = {
    &lks_view_nodes,    &lks_view_resets,  &lks_view_deviations, &lks_view_alarms,
    &lks_view_commands, &lks_view_stacks,  &lks_view_images,     &lks_view_artifacts,
    &lks_view_keys,     &lks_view_bundles, &lks_view_flashes,    &lks_view_overrides,
    &lks_view_bindings, &lks_view_tokens,  &lks_view_persons,    &lks_view_runs,
};
const size_t lks_view_count = LKS_COUNT(lks_views);

void lks_view_node(struct lks_json_writer *w, const struct lks_state *s, uint32_t node,
                   struct lks_now now, unsigned use)
{
    const struct lks_view_of of = {.s = s, .row = &s->nodes[node], .now = now};
    lks_view_row_put(w, &lks_view_nodes, use, &of);
}
