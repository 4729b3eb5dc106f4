/*
 * The layers of a node in an order in which no state in between is broken.
 *
 * A state in between is a stack, too: the layers so far are as the new one has them, the others as
 * the old one. The compatibility engine judges it as it does any stack; an error that the old
 * stack has already is none of ours. Of the orders that hold the first is taken, the usual one
 * being tried first: software, then firmware from the reversible to the irreversible.
 */
#include "core/check/check.h"
#include "core/compat/parts.h"
#include "core/plan/plan_work.h"
#include "core/state/lookup.h"

#include <stdlib.h>

enum { STATES_MAX = 2000, WHY_MAX = 320 };

/* A component on both sides, and the layer that brings the new one. */
struct side {
    const struct lks_component *before, *after;
    size_t layer; /* or LKS_PLAN_LAYERS_MAX: it is as it was, or not ours */
};

/* A state that was judged. */
struct judged {
    uint64_t layers;
    bool good;
};

struct searching {
    struct lks_planning *p;
    const struct lks_plan_kind *kind;
    const struct lks_stack *from;
    struct lks_plan_layers *layers;
    struct side *sides;
    size_t side_count;
    struct lks_component *room; /* for the components of a state */
    struct lks_report before;   /* what is wrong with the old stack */
    struct judged *judged;
    size_t judged_count;
    char why[WHY_MAX]; /* the first state that was refused */
    uint64_t why_layers;
};

/* Which layer brings a component's new version. */
static size_t layer_of(const struct lks_plan_layers *layers, const struct lks_component *c)
{
    for (size_t l = 0; l < layers->count; l++) {
        for (size_t i = 0; i < layers->list[l].count; i++) {
            struct lks_str subject = layers->list[l].list[i]->subject, label = c->label;
            if (subject.len >= label.len && memcmp(subject.ptr, label.ptr, label.len) == 0 &&
                (subject.len == label.len || subject.ptr[label.len] == '.'))
                return l;
        }
    }
    return LKS_PLAN_LAYERS_MAX;
}

/* Both lists are sorted: walk them side by side. */
static enum lks_code list_sides(struct searching *x)
{
    const struct lks_stack *from = x->from, *to = x->p->to;
    size_t most = from->component_count + to->component_count, i = 0, j = 0;
    x->sides = lks_plan_array(x->p, most, sizeof(*x->sides));
    x->room = lks_plan_array(x->p, most, sizeof(*x->room));
    x->judged = lks_plan_array(x->p, STATES_MAX, sizeof(*x->judged));
    if (x->sides == NULL || x->room == NULL || x->judged == NULL)
        return x->p->err->code;
    while (i < from->component_count || j < to->component_count) {
        const struct lks_component *a = i < from->component_count ? &from->components[i] : NULL;
        const struct lks_component *b = j < to->component_count ? &to->components[j] : NULL;
        int order = a == NULL ? 1 : b == NULL ? -1 : lks_stack_component_cmp(a, b);
        a = order <= 0 ? a : NULL;
        b = order >= 0 ? b : NULL;
        LKS_ASSERT(a != NULL || b != NULL);
        i += a != NULL;
        j += b != NULL;
        x->sides[x->side_count++] = (struct side){a, b, layer_of(x->layers, b != NULL ? b : a)};
    }
    return LKS_OK;
}

/* The stack that a node runs when these layers are done. */
static struct lks_stack state_of(struct searching *x, uint64_t done)
{
    const struct lks_stack *to = x->p->to;
    bool software = x->layers->count == 0 || x->layers->list[0].update != NULL || (done & 1) != 0;
    struct lks_stack state = *to;
    state.components = x->room;
    state.component_count = 0;
    state.settings = software ? to->settings : x->from->settings;
    state.tuning = software ? to->tuning : x->from->tuning;
    for (size_t i = 0; i < x->side_count; i++) {
        const struct side *side = &x->sides[i];
        bool is_new = side->layer == LKS_PLAN_LAYERS_MAX || (done >> side->layer & 1) != 0;
        const struct lks_component *c = is_new ? side->after : side->before;
        if (c != NULL)
            x->room[state.component_count++] = *c;
    }
    struct lks_str class = lks_state_text(x->p->state, x->kind->class);
    for (size_t i = 0; i < to->class_count; i++) {
        if (lks_str_eq(to->classes[i]->name, class)) {
            state.classes[0] = to->classes[i];
            state.class_count = 1;
        }
    }
    return state;
}

static enum lks_code judge(struct searching *x, const struct lks_stack *stack,
                           struct lks_report *out)
{
    struct lks_check check = {.facts = x->p->book->facts,
                              .stack = stack,
                              .today = lks_time_day_of((int64_t)(x->p->wall / LKS_SECOND))};
    return lks_check_run(&check, out, x->p->err);
}

static bool was_there(const struct searching *x, const struct lks_finding *finding)
{
    for (size_t i = 0; i < x->before.count; i++) {
        const struct lks_finding *f = &x->before.findings[i];
        if (f->severity == LKS_ERROR && strcmp(f->rule, finding->rule) == 0 &&
            lks_str_eq(f->subject, finding->subject))
            return true;
    }
    return false;
}

static void keep_why(struct searching *x, uint64_t done, const struct lks_finding *finding)
{
    if (x->why[0] != '\0')
        return;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(WHY_MAX - 1);
    lks_buf_addf(&text, "%" LKS_STR_FMT ": %" LKS_STR_FMT, LKS_STR_ARG(finding->subject),
                 LKS_STR_ARG(finding->text));
    struct lks_str view = lks_buf_view(&text);
    memcpy(x->why, view.ptr != NULL ? view.ptr : "", view.len);
    x->why[view.len] = '\0';
    x->why_layers = done;
}

static enum lks_code is_good(struct searching *x, uint64_t done, bool *good)
{
    for (size_t i = 0; i < x->judged_count; i++) {
        if (x->judged[i].layers == done) {
            *good = x->judged[i].good;
            return LKS_OK;
        }
    }
    LKS_CLEANUP(lks_report_fini) struct lks_report report = {0};
    struct lks_stack stack = state_of(x, done);
    lks_report_init(&report);
    if (judge(x, &stack, &report) != LKS_OK)
        return x->p->err->code;
    *good = true;
    for (size_t i = 0; i < report.count && *good; i++) {
        const struct lks_finding *f = &report.findings[i];
        if (f->severity != LKS_ERROR || was_there(x, f))
            continue;
        *good = false;
        keep_why(x, done, f);
    }
    if (x->judged_count < STATES_MAX)
        x->judged[x->judged_count++] = (struct judged){done, *good};
    return LKS_OK;
}

/* Whether a layer may come next: those before it are done, and what is irreversible waits for all
 * that is not. */
static bool may_follow(const struct lks_plan_layers *layers, uint64_t done, size_t next)
{
    const struct lks_plan_work *work = &layers->list[next];
    if ((done >> next & 1) != 0 || (work->after & ~done) != 0)
        return false;
    for (size_t i = 0; work->one_way && i < layers->count; i++) {
        if (!layers->list[i].one_way && (done >> i & 1) == 0)
            return false;
    }
    return true;
}

/* As deep as there are layers. NOLINTNEXTLINE(misc-no-recursion) */
static enum lks_code search(struct searching *x, uint64_t done, size_t depth, bool *found)
{
    *found = depth == x->layers->count;
    for (size_t i = 0; i < x->layers->count && !*found && x->judged_count < STATES_MAX; i++) {
        uint64_t next = done | UINT64_C(1) << i;
        bool good = false;
        if (!may_follow(x->layers, done, i))
            continue;
        size_t known = x->judged_count;
        if (is_good(x, next, &good) != LKS_OK)
            return x->p->err->code;
        if (!good || (known == x->judged_count && depth + 1 < x->layers->count))
            continue; /* broken; or it was reached before, and led nowhere */
        x->layers->order[depth] = i;
        if (search(x, next, depth + 1, found) != LKS_OK)
            return x->p->err->code;
    }
    return LKS_OK;
}

/* "driver 580.95 with firmware/vbios still 96.00": what met in the state that was refused. */
static struct lks_str name_pair(struct searching *x)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(WHY_MAX);
    for (unsigned pass = 0; pass < 2; pass++) {
        for (size_t l = 0; l < x->layers->count; l++) {
            const struct lks_plan_work *work = &x->layers->list[l];
            bool done = (x->why_layers >> l & 1) != 0;
            if (done == (pass == 1) || work->count == 0)
                continue;
            const struct lks_difference *d = work->list[0];
            struct lks_str version = done ? d->to : d->from;
            lks_buf_addf(&text, "%s%s%" LKS_STR_FMT " %" LKS_STR_FMT, text.len == 0 ? "" : ", ",
                         done ? "" : "still ", LKS_STR_ARG(d->subject), LKS_STR_ARG(version));
        }
    }
    return lks_plan_text(x->p, "%" LKS_STR_FMT, LKS_STR_ARG(lks_buf_view(&text)));
}

static enum lks_code refuse(struct searching *x)
{
    struct lks_str class = lks_state_text(x->p->state, x->kind->class);
    uint64_t all = (UINT64_C(1) << x->layers->count) - 1;
    struct lks_err *err = x->p->err;
    if (x->why[0] == '\0')
        return lks_fail(err, LKS_E_REFUSED,
                        "%" LKS_STR_FMT ": its layers wait for each other; no order was found",
                        LKS_STR_ARG(class));
    if (x->why_layers == all)
        return lks_fail(err, LKS_E_REFUSED, "%" LKS_STR_FMT " cannot work on %" LKS_STR_FMT ": %s",
                        LKS_STR_ARG(x->p->to->name), LKS_STR_ARG(class), x->why);
    return lks_fail(err, LKS_E_REFUSED,
                    "no order of its layers works on %" LKS_STR_FMT " (%" LKS_STR_FMT "): %s",
                    LKS_STR_ARG(class), LKS_STR_ARG(name_pair(x)), x->why);
}

static enum lks_code find_order(struct searching *x)
{
    bool good = false, found = false;
    uint64_t all = x->layers->count > 0 ? (UINT64_C(1) << x->layers->count) - 1 : 0;
    struct lks_stack start = *x->from;
    if (list_sides(x) != LKS_OK || judge(x, &start, &x->before) != LKS_OK ||
        is_good(x, all, &good) != LKS_OK)
        return x->p->err->code;
    if (!good)
        return refuse(x);
    if (x->layers->count > 1)
        x->judged_count = 0;
    if (search(x, 0, 0, &found) != LKS_OK)
        return x->p->err->code;
    return found ? LKS_OK : refuse(x);
}

/* Assets are not evaluated: theirs are taken in the usual order. */
static void usual_order(struct lks_plan_layers *layers)
{
    size_t count = 0;
    for (unsigned one_way = 0; one_way < 2; one_way++) {
        for (size_t i = 0; i < layers->count; i++) {
            if (layers->list[i].one_way == (one_way == 1))
                layers->order[count++] = i;
        }
    }
}

enum lks_code lks_plan_order(struct lks_planning *p, const struct lks_plan_kind *kind,
                             const struct lks_stack *from, struct lks_plan_layers *layers)
{
    struct searching x = {.p = p, .kind = kind, .from = from, .layers = layers};
    usual_order(layers);
    if (kind->asset != 0)
        return LKS_OK;
    lks_report_init(&x.before);
    enum lks_code code = find_order(&x);
    lks_report_fini(&x.before);
    return code;
}
