/* What is read of a member, held against what its step, or all of it, should be by now. */
#include "core/campaign/campaign_parts.h"
#include "core/conform/basis.h"
#include "core/conform/verdict.h"
#include "core/rows/flash.h"
#include "core/rows/verdict.h"
#include "core/state/node_status.h"
#include "core/state/state.h"

/* What is known of it is of this boot, and it is heard of. An asset is read by its endpoint alone,
 * and what was read before the last update of it is over. */
static bool is_known(const struct lks_look *k)
{
    const struct lks_node *n = k->n;
    if (n->asset != 0)
        return n->outband != 0;
    return n->liveness == LKS_LIVE && n->boot != 0 && n->tuple_boot == n->boot;
}

static struct lks_str without(struct lks_str text, struct lks_str start)
{
    if (!lks_str_starts(text, start.ptr))
        return text;
    return (struct lks_str){text.ptr + start.len, text.len - start.len};
}

static bool begins(struct lks_str subject, struct lks_str words)
{
    static const struct lks_str firmware = LKS_STR_C("firmware/");
    struct lks_str word;
    subject = without(subject, firmware);
    while (lks_str_word(&words, &word)) {
        word = without(word, firmware);
        if (subject.len < word.len || memcmp(subject.ptr, word.ptr, word.len) != 0)
            continue;
        if (subject.len == word.len || strchr(".[/", subject.ptr[word.len]) != NULL)
            return true;
    }
    return false;
}

/* Whether a line of a verdict is about one of these components: "driver" of "driver.build", "bmc"
 * of "firmware/bmc[PN]". What else a stack pins of what a node says moves with the component that
 * it is called after: "dcgm" of "settings.other.dcgm.package", "driver" of
 * "settings.other.cdi.driver". */
static bool is_about(struct lks_str subject, struct lks_str words)
{
    static const struct lks_str other = LKS_STR_C("settings.other.");
    struct lks_str rest = without(subject, other);
    bool about = begins(subject, words);
    for (bool more = rest.len < subject.len; more && !about;) {
        about = begins(rest, words);
        more = lks_str_cut(rest, '.', &(struct lks_str){0}, &rest);
    }
    return about;
}

/* What a scheduler advertises follows from its own configuration, which no step of ours changes: it
 * is waited for until the step's deadline. */
static bool is_scheduler(const struct lks_wrong *wrong)
{
    return lks_str_starts(wrong->subject, "scheduler.");
}

/* A component that should be there by now: of a step before this one, whose layer is not above. */
static bool is_due(const struct lks_look *k, struct lks_str subject)
{
    for (uint32_t i = 0; i < k->m->step; i++) {
        const struct lks_step *step = &k->r->steps[i];
        bool left_out = lks_campaign_step_one_way(step) && lks_campaign_look_proves(k);
        if (step->layer > 0 && step->layer <= k->step->layer && !left_out &&
            is_about(subject, lks_look_text(k, step->component)))
            return true;
    }
    return false;
}

/* A component that no step of the way there changes: where it is wrong now, a layer so far broke
 * it, as a kernel breaks the driver whose module is not built for it. */
static bool is_broken(const struct lks_look *k, const struct lks_wrong *wrong)
{
    if (k->m->back || lks_str_is(wrong->cause, "unmeasured") || is_scheduler(wrong))
        return false;
    for (uint32_t i = 0; i < k->r->count; i++) {
        if (is_about(wrong->subject, lks_look_text(k, k->r->steps[i].component)))
            return false;
    }
    return true;
}

/* All layers so far: what else is wrong is for a later step. */
static enum lks_read read_layers(const struct lks_look *k)
{
    const struct lks_state_verdict *v = lks_state_verdict(k->s, k->m->node);
    if (!is_known(k) || v == NULL)
        return LKS_READ_NOT_YET;
    struct lks_str lines = lks_look_text(k, v->wrong);
    struct lks_wrong wrong;
    enum lks_read read = LKS_READ_RIGHT;
    while (lks_verdict_wrong_next(&lines, &wrong)) {
        if ((!is_due(k, wrong.subject) && !is_broken(k, &wrong)) ||
            lks_node_status_covered(k->s, k->m->node, wrong.subject, wrong.actual) != 0)
            continue;
        if (!lks_str_is(wrong.cause, "unmeasured"))
            return LKS_READ_WRONG;
        read = LKS_READ_NOT_YET;
    }
    return read;
}

/* Only what a scheduler advertises differs. */
static bool awaits_scheduler(const struct lks_look *k, const struct lks_state_verdict *v)
{
    struct lks_str lines = lks_look_text(k, v->wrong);
    struct lks_wrong wrong;
    while (lks_verdict_wrong_next(&lines, &wrong)) {
        if (!is_scheduler(&wrong) && !lks_str_is(wrong.cause, "unmeasured") &&
            lks_node_status_covered(k->s, k->m->node, wrong.subject, wrong.actual) == 0)
            return false;
    }
    return true;
}

/* What a deviation covers is as it should be. */
static enum lks_read read_whole(const struct lks_look *k)
{
    const struct lks_state_verdict *v = lks_state_verdict(k->s, k->m->node);
    if (!is_known(k) || v == NULL)
        return LKS_READ_NOT_YET;
    if (lks_bitset_test(&k->s->standing->differs, k->m->node))
        return awaits_scheduler(k, v) ? LKS_READ_NOT_YET : LKS_READ_WRONG;
    return v->unmeasured > 0 ? LKS_READ_NOT_YET : LKS_READ_RIGHT;
}

/* The version that our agent says it has. */
static enum lks_read read_agent(const struct lks_look *k)
{
    struct lks_str want = lks_look_text(k, k->m->back ? k->m->from : k->c->name);
    struct lks_str have = lks_basis_value(lks_state_readings(k->s, k->n->inband), "platform.agent");
    if (!is_known(k) || have.len == 0)
        return LKS_READ_NOT_YET;
    return lks_str_eq(have, want) ? LKS_READ_RIGHT : LKS_READ_WRONG;
}

/* What its endpoint had read of it ended with an update, also one that only staged something or was
 * refused, and it was not read since. */
bool lks_campaign_look_unread(const struct lks_look *k)
{
    const struct lks_state_verdict *v = lks_state_verdict(k->s, k->m->node);
    if (k->n->outband != 0 || (k->n->asset == 0 && (v == NULL || v->unmeasured == 0)))
        return false;
    return k->n->flash != 0 && k->s->flashes[k->n->flash - 1].begun >= k->m->begun;
}

enum lks_read lks_campaign_look_read(const struct lks_look *k)
{
    if (k->c->kind == LKS_CHANGE_AGENT)
        return read_agent(k);
    return k->step != NULL && k->step->kind == LKS_DO_CHECK ? read_layers(k) : read_whole(k);
}

/* The line of a verdict that a failure is put down to: the first of those that this step answers
 * for, and the kernel before others, since a driver that is missing on the wrong kernel follows
 * from it. */
static bool find_wrong(const struct lks_look *k, const struct lks_state_verdict *v,
                       struct lks_wrong *out)
{
    struct lks_str lines = lks_look_text(k, v->wrong);
    struct lks_wrong wrong;
    bool found = false;
    while (lks_verdict_wrong_next(&lines, &wrong)) {
        bool kernel = lks_str_is(wrong.subject, "kernel");
        if ((found && !kernel) ||
            (k->step->kind == LKS_DO_CHECK && !is_due(k, wrong.subject) && !is_broken(k, &wrong)))
            continue;
        *out = wrong;
        found = true;
    }
    return found;
}

/* What is wrong, for people. */
struct lks_str lks_campaign_wrong_text(struct lks_deciding *d, const struct lks_look *k)
{
    const struct lks_state_verdict *v = lks_state_verdict(k->s, k->m->node);
    if (!is_known(k))
        return LKS_STR("it was not read again in time");
    if (k->c->kind == LKS_CHANGE_AGENT)
        return LKS_STR("its agent does not say that it has that version");
    if (v == NULL)
        return LKS_STR("its readings could not be evaluated");
    struct lks_wrong wrong = {0};
    if (!find_wrong(k, v, &wrong))
        return LKS_STR("not all of it could be measured");
    return lks_decision_text(
        d, "%" LKS_STR_FMT ": %" LKS_STR_FMT ", pinned %" LKS_STR_FMT " (%" LKS_STR_FMT ")",
        LKS_STR_ARG(wrong.subject), LKS_STR_ARG(wrong.actual), LKS_STR_ARG(wrong.pinned),
        LKS_STR_ARG(wrong.cause));
}
