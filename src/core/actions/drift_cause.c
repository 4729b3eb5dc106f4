#include "core/actions/drift_cause.h"

#include "codec/package/pkglog.h"
#include "core/compat/parts.h"
#include "core/conform/conform.h"
#include "core/conform/node_readings.h"
#include "core/conform/verdict.h"
#include "core/registry/book.h"
#include "core/rows/deviation.h"
#include "core/rows/pool.h"
#include "core/rows/verdict.h"
#include "core/state/node_status.h"
#include "core/state/state.h"

#include <stdio.h>

/* What is asked about one node. */
struct asking {
    struct lks_deciding *d;
    uint32_t node;
    const struct lks_node *n;
    const struct lks_state_verdict *v;
    bool reverted;
    const struct lks_stack *stack; /* its intent; NULL: not known */
    struct lks_tuple tuple;        /* what it was judged by; empty where that is not known */
};

/* Lines ------------------------------------------------------------------------------------- */

/* Take the next line off that counts as drift and is not covered. */
static bool next_wrong(const struct asking *a, struct lks_str *lines, struct lks_wrong *out)
{
    while (lks_verdict_wrong_next(lines, out)) {
        if (!lks_str_is(out->cause, lks_conform_cause_name(LKS_CAUSE_UNMEASURED)) &&
            lks_node_status_covered(a->d->state, a->node, out->subject, out->actual) == 0)
            return true;
    }
    return false;
}

static bool any_line(const struct asking *a,
                     bool (*is)(const struct asking *a, const struct lks_wrong *w))
{
    struct lks_str lines = lks_state_text(a->d->state, a->v->wrong);
    struct lks_wrong wrong;
    while (next_wrong(a, &lines, &wrong)) {
        if (is(a, &wrong))
            return true;
    }
    return false;
}

static bool any_cause(const struct asking *a, enum lks_cause cause)
{
    struct lks_str lines = lks_state_text(a->d->state, a->v->wrong);
    struct lks_wrong wrong;
    while (next_wrong(a, &lines, &wrong)) {
        if (lks_str_is(wrong.cause, lks_conform_cause_name(cause)))
            return true;
    }
    return false;
}

/* "firmware/nic" of "firmware/nic[PN]". */
static struct lks_str component_of(struct lks_str subject)
{
    struct lks_str name, rest;
    (void)lks_str_cut(subject, '[', &name, &rest);
    return name;
}

/* Up to `mark`, which says what is added for people. */
static struct lks_str before(struct lks_str text, const char *mark)
{
    ptrdiff_t at = lks_str_find(text, lks_str_from(mark));
    return at < 0 ? text : (struct lks_str){text.ptr, (size_t)at};
}

static bool is_other_version(const struct lks_wrong *w)
{
    return lks_str_is(w->cause, lks_conform_cause_name(LKS_CAUSE_OTHER_VERSION)) ||
           lks_str_is(w->cause, lks_conform_cause_name(LKS_CAUSE_PARTIAL));
}

/* Rules ------------------------------------------------------------------------------------- */

static bool is_bands(const struct asking *a)
{
    return any_cause(a, LKS_CAUSE_BANDS);
}

static bool is_firmware(const struct asking *a, const struct lks_wrong *w)
{
    (void)a;
    return lks_component_is_firmware(w->subject);
}

/* Its parts are others since it said what it says now. */
static bool is_part(const struct asking *a)
{
    return a->n->parts_since != 0 && a->n->parts_since >= a->n->tuple_since &&
           any_line(a, is_firmware);
}

/* An older version than the pinned one; "1.2 on 3 of 8 GPUs" has one, too. */
static bool is_older(const struct asking *a, const struct lks_wrong *w)
{
    struct lks_str name = component_of(w->subject);
    enum lks_version_scheme scheme = lks_facts_scheme(a->d->book->facts, name);
    struct lks_str actual = before(w->actual, " on "), pinned = before(w->pinned, ", or ");
    return is_other_version(w) && !lks_str_starts(name, "settings.") &&
           lks_version_valid(actual, scheme) && lks_version_valid(pinned, scheme) &&
           lks_version_cmp(actual, pinned, scheme) < 0;
}

static bool is_reverted(const struct asking *a)
{
    return a->reverted && any_line(a, is_older);
}

/* It runs what was pinned before, and never ran what is pinned now. */
static bool is_wave(const struct asking *a)
{
    const struct lks_state *s = a->d->state;
    lks_text pinned = a->n->pool < s->pool_count ? s->pools[a->n->pool].stack_before : 0;
    if (a->reverted || pinned == 0)
        return false;
    uint32_t v = lks_state_verdict_find(s, a->n->whole, pinned);
    if (v != 0)
        return s->verdicts[v].judged == LKS_JUDGED_CONFORMS;
    const struct lks_stack *stack = lks_book_stack(a->d->book, lks_state_text(s, pinned));
    LKS_CLEANUP(lks_conform_fini) struct lks_conformance c = {0};
    struct lks_err err = {0};
    return stack != NULL && a->tuple.count > 0 &&
           lks_conform(a->d->book->facts, stack, &a->tuple, &c, &err) == LKS_OK &&
           lks_conformance_yes(&c);
}

static const struct lks_component *pinned_component(const struct asking *a, struct lks_str subject)
{
    for (size_t i = 0; a->stack != NULL && i < a->stack->component_count; i++) {
        if (lks_str_eq(a->stack->components[i].label, subject))
            return &a->stack->components[i];
    }
    return NULL;
}

/* A package is its owner, and the package that is installed is of the version that runs. */
static bool is_of_package(const struct asking *a, const struct lks_wrong *w)
{
    char package[LKS_READING_NAME_MAX + sizeof(".package")];
    const struct lks_component *c = pinned_component(a, w->subject);
    if (c == NULL || !lks_str_is(c->owner, "package") || !is_other_version(w) ||
        c->name.len > LKS_READING_NAME_MAX)
        return false;
    snprintf(package, sizeof(package), "%" LKS_STR_FMT ".package", LKS_STR_ARG(c->name));
    return lks_node_measured(&a->tuple, lks_str_from(package)) != NULL &&
           lks_node_package_agrees(a->d->book->facts, &a->tuple, c->name, w->actual);
}

/* Whether the version that came with a change is what the line says there is, or among it, where
 * its parts disagree, and not what there should be. */
static bool came_so(const struct asking *a, struct lks_str component, struct lks_str came,
                    const struct lks_wrong *w)
{
    const struct lks_facts *facts = a->d->book->facts;
    const struct lks_str forms[] = {lks_version_upstream(came), came};
    for (size_t i = 0; i < LKS_COUNT(forms) && came.len > 0; i++) {
        struct lks_str actual = w->actual, word, rest;
        if (lks_node_package_is(facts, component, forms[i], w->pinned))
            return false;
        while (lks_str_word(&actual, &word)) {
            (void)lks_str_cut(word, ',', &word, &rest);
            (void)lks_str_cut(word, ';', &word, &rest);
            if (word.len > 0 && lks_node_package_is(facts, component, forms[i], word))
                return true;
        }
    }
    return false;
}

/* What the log of the package manager says of it, where that tells how it came to be; else
 * nothing. */
static struct lks_str logged(const struct asking *a, const struct lks_wrong *w)
{
    struct lks_str lines = lks_state_text(a->d->state, a->n->changed);
    const struct lks_component *c = pinned_component(a, w->subject);
    bool version = is_other_version(w) ||
                   lks_str_is(w->cause, lks_conform_cause_name(LKS_CAUSE_HALF_UPGRADED));
    while (c != NULL && version && lines.len > 0) {
        struct lks_str line, component, words, manager, change;
        (void)lks_str_cut(lines, '\n', &line, &lines);
        (void)lks_str_cut(line, '\t', &component, &words);
        (void)lks_str_cut(words, ':', &manager, &change);
        if (lks_str_eq(component, c->name) && came_so(a, c->name, lks_pkglog_came(change), w))
            return words;
    }
    return LKS_STR("");
}

static bool is_logged(const struct asking *a, const struct lks_wrong *w)
{
    return logged(a, w).len > 0;
}

static bool is_packages(const struct asking *a)
{
    return any_line(a, is_of_package) || any_line(a, is_logged);
}

static bool is_build(const struct asking *a)
{
    return any_cause(a, LKS_CAUSE_OTHER_BUILD);
}

static bool is_device(const struct asking *a)
{
    return any_cause(a, LKS_CAUSE_DEVICE_MISSING);
}

static bool is_half(const struct asking *a)
{
    return any_cause(a, LKS_CAUSE_HALF_UPGRADED);
}

static bool is_scheduler(const struct asking *a)
{
    return any_cause(a, LKS_CAUSE_SCHEDULER);
}

static bool is_of_settings(const struct asking *a, const struct lks_wrong *w)
{
    (void)a;
    return lks_str_starts(w->subject, "settings.") || lks_str_starts(w->subject, "tuning.");
}

static bool is_setting(const struct asking *a)
{
    return any_line(a, is_of_settings);
}

/* The first that holds is told. What is known of the node's past says more than how its readings
 * look: what a package manager installed may be what was pinned before. */
static const struct {
    enum lks_drift_cause cause;
    bool (*is)(const struct asking *a);
} rules[] = {
    {LKS_DRIFT_BANDS, is_bands},         {LKS_DRIFT_REVERTED, is_reverted},
    {LKS_DRIFT_WAVE, is_wave},           {LKS_DRIFT_PACKAGES, is_packages},
    {LKS_DRIFT_BUILD, is_build},         {LKS_DRIFT_DEVICE, is_device},
    {LKS_DRIFT_HALF, is_half},           {LKS_DRIFT_SETTING, is_setting},
    {LKS_DRIFT_SCHEDULER, is_scheduler},
};

/* Deviations -------------------------------------------------------------------------------- */

static bool names(const struct lks_deviation *dev, uint32_t node)
{
    for (uint32_t i = 0; i < dev->count; i++) {
        if (dev->nodes[i] == node)
            return true;
    }
    return false;
}

static bool allowed(const struct asking *a, const struct lks_deviation *dev)
{
    struct lks_str lines = lks_state_text(a->d->state, a->v->wrong);
    struct lks_str subject = lks_state_text(a->d->state, dev->subject);
    struct lks_str value = lks_state_text(a->d->state, dev->value);
    struct lks_wrong wrong;
    while (next_wrong(a, &lines, &wrong)) {
        if ((lks_str_is(subject, "*") || lks_str_eq(subject, wrong.subject)) &&
            (value.len == 0 || lks_str_eq(value, wrong.actual)))
            return true;
    }
    return false;
}

/* The deviation that allowed what is wrong until it ended; its readings are the same since. */
static const struct lks_deviation *expired(const struct asking *a)
{
    const struct lks_state *s = a->d->state;
    for (uint32_t i = s->deviation_count; i-- > 0;) {
        const struct lks_deviation *dev = &s->deviations[i];
        if (dev->ended != 0 && dev->ended >= a->n->tuple_since && lks_deviation_counts(dev) &&
            names(dev, a->node) && allowed(a, dev))
            return dev;
    }
    return NULL;
}

/* Telling ----------------------------------------------------------------------------------- */

/* "driver: 570.1, pinned 580.1, and 2 more". A line that the package manager's log tells of goes
 * before others where that is the cause, with the log's words. */
static struct lks_str shown(const struct asking *a, enum lks_drift_cause cause)
{
    struct lks_str lines = lks_state_text(a->d->state, a->v->wrong), words = LKS_STR("");
    struct lks_wrong first = {0}, wrong;
    size_t count = 0;
    while (next_wrong(a, &lines, &wrong)) {
        bool tells = false;
        if (cause == LKS_DRIFT_PACKAGES && words.len == 0) {
            words = logged(a, &wrong);
            tells = words.len > 0;
        }
        if (count++ == 0 || tells)
            first = wrong;
    }
    struct lks_str text = lks_decision_text(
        a->d, "%" LKS_STR_FMT ": %" LKS_STR_FMT ", pinned %" LKS_STR_FMT,
        LKS_STR_ARG(first.subject), LKS_STR_ARG(first.actual), LKS_STR_ARG(first.pinned));
    if (words.len > 0)
        text = lks_decision_text(a->d, "%" LKS_STR_FMT " (%" LKS_STR_FMT ")", LKS_STR_ARG(text),
                                 LKS_STR_ARG(words));
    return count <= 1 ? text
                      : lks_decision_text(a->d, "%" LKS_STR_FMT ", and %zu more", LKS_STR_ARG(text),
                                          count - 1);
}

static struct lks_cause_told tell(struct asking *a)
{
    struct lks_cause_told told = {LKS_DRIFT_UNKNOWN, {"", 0}};
    struct lks_err err = {0};
    a->stack = lks_book_stack(a->d->book, lks_state_text(a->d->state, a->v->stack));
    struct lks_str text = lks_state_readings(a->d->state, a->n->whole);
    if (lks_basis_parse(text, &a->tuple, &err) != LKS_OK)
        lks_tuple_init(&a->tuple);
    for (size_t i = 0; i < LKS_COUNT(rules) && told.cause == LKS_DRIFT_UNKNOWN; i++) {
        if (rules[i].is(a))
            told.cause = rules[i].cause;
    }
    told.text = shown(a, told.cause);
    lks_tuple_fini(&a->tuple);
    return told;
}

void lks_drift_causes_init(struct lks_causes *c, struct lks_deciding *d)
{
    *c = (struct lks_causes){.deciding = d};
}

/* What was told of another node with the same verdict and the same past. Where a deviation names
 * the node, its lines may be others. */
static struct lks_cause_told tell_once(struct lks_causes *c, struct asking *a)
{
    size_t at = a->n->verdict % LKS_CAUSES_KEPT;
    bool own = lks_bitset_test(&a->d->state->standing->named, a->node);
    if (!own && c->kept[at].verdict == a->n->verdict && c->kept[at].pool == a->n->pool &&
        c->kept[at].reverted == a->reverted && c->kept[at].changed == a->n->changed)
        return c->kept[at].told;
    struct lks_cause_told told = tell(a);
    if (!own) {
        c->kept[at].verdict = a->n->verdict;
        c->kept[at].pool = a->n->pool;
        c->kept[at].reverted = a->reverted;
        c->kept[at].changed = a->n->changed;
        c->kept[at].told = told;
    }
    return told;
}

struct lks_cause_told lks_drift_cause_tell(struct lks_causes *c, uint32_t node)
{
    struct lks_deciding *d = c->deciding;
    const struct lks_node *n = &d->state->nodes[node];
    struct asking a = {
        .d = d,
        .node = node,
        .n = n,
        .v = lks_state_verdict(d->state, node),
        .reverted = n->right != 0 && n->right == lks_state_intent(d->state, node),
    };
    LKS_ASSERT(a.v != NULL);
    struct lks_cause_told told = tell_once(c, &a);
    if (told.cause == LKS_DRIFT_BANDS)
        return told;
    const struct lks_deviation *dev = expired(&a);
    if (dev != NULL) {
        told.cause = LKS_DRIFT_EXPIRED;
        told.text = lks_decision_text(d, "deviation %llu ended; %" LKS_STR_FMT,
                                      (unsigned long long)dev->id, LKS_STR_ARG(told.text));
    } else if (is_part(&a)) {
        told.cause = LKS_DRIFT_PART;
    }
    return told;
}
