/*
 * Recipes: what a node or asset of one kind goes through, step by step.
 *
 * Software and settings are one layer, the firmware of each class is another. Ranks let the members
 * of a domain go together, layer by layer: the same firmware has the same rank everywhere, the
 * second side of a redundant pair comes right behind the first, switch trays go before compute
 * trays where their platform demands it, and what is irreversible comes last.
 */
#include "core/compat/parts.h"
#include "core/plan/plan_work.h"
#include "core/rows/change.h"
#include "core/state/state.h"
#include "model/manifest/executor.h"

#include <stdlib.h>

#define NOTHING ((struct lks_str){"", 0})

enum rank {
    RANK_STAGE = 0,
    RANK_LEAVE = 10,
    RANK_TRAYS = 20, /* switch trays, where they go before all else */
    RANK_SOFTWARE = 100,
    RANK_FIRMWARE = 110, /* and twice its order */
    RANK_ONE_WAY = 1000, /* more than the same without */
    RANK_ACCEPT = 10000,
    RANK_RETURN = 20000,
};

/* How long each kind of step may take in minutes, how long it usually does, and how often it may be
 * tried again. What an endpoint does takes as long as data/firmware-updates.csv allows. */
static const struct {
    uint32_t limit, usual, retries;
} care[LKS_DO_COUNT] = {
    [LKS_DO_STAGE] = {10, 0, 1}, [LKS_DO_LEAVE] = {0, 5, 0},     [LKS_DO_APPLY] = {60, 10, 2},
    [LKS_DO_FLASH] = {10, 0, 1}, [LKS_DO_ACTIVATE] = {10, 0, 1}, [LKS_DO_REBOOT] = {45, 10, 1},
    [LKS_DO_CHECK] = {15, 1, 2}, [LKS_DO_ACCEPT] = {60, 10, 1},  [LKS_DO_RETURN] = {10, 1, 2},
};
enum { IMAGE_MINUTES = 180, ALLOWANCE = 2 }; /* twice what the table says, and `limit` more */

/* What an endpoint does takes half of what it is allowed beyond the usual limit; what is staged
 * takes nothing of the node's time. */
lks_ms lks_plan_usual(const struct lks_step *step)
{
    bool endpoint = step->kind == LKS_DO_FLASH || step->kind == LKS_DO_ACTIVATE;
    lks_ms limit = care[step->kind].limit * LKS_PLAN_MINUTE;
    if (!endpoint || step->limit < limit)
        return care[step->kind].usual * LKS_PLAN_MINUTE;
    return (step->limit - limit) / ALLOWANCE;
}

/* Firmware that an asset has, if there is such an asset; else it is the node's. */
static const struct {
    const char *component, *asset;
} belongs[] = {
    {"nvos", "switch-tray"}, {"nvswitch", "switch-tray"},
    {"nvos", "switch"},      {"nvswitch", "switch"},
    {"psu", "power-shelf"},  {"power-shelf", "power-shelf"},
    {"bbu", "bbu"},          {"cdu", "cdu"},
    {"dpu", "dpu"},          {"rack-controller", "rack-controller"},
};

/* Steps ------------------------------------------------------------------------------------- */

/* `made` as one more, with what is usual for its kind; NULL: no memory, or there are too many. */
static struct lks_rec_plan_step *add_step(struct lks_plan_cook *k, struct lks_rec_plan_step made,
                                          enum lks_step_kind kind, uint32_t rank, size_t layer)
{
    struct lks_plan *out = k->p->out;
    if (k->recipe->count == LKS_CHANGE_STEPS &&
        lks_fail(k->p->err, LKS_E_LIMIT, "a recipe has at most %d steps", LKS_CHANGE_STEPS) !=
            LKS_OK)
        return NULL;
    if (LKS_PLANNING_RESERVE(k->p, out->steps, k->p->step_room, out->step_count + 1) != LKS_OK)
        return NULL;
    struct lks_rec_plan_step *step = &out->steps[out->step_count++];
    *step = made;
    step->recipe = out->recipe_count;
    step->index = k->recipe->count++;
    step->kind = kind;
    step->rank = rank;
    step->layer = layer;
    step->limit = care[kind].limit * LKS_PLAN_MINUTE;
    step->retries = care[kind].retries;
    struct lks_str *const texts[] = {&step->component,   &step->version,    &step->before,
                                     &step->executor,    &step->order,      &step->order_back,
                                     &step->artifacts,   &step->bundle,     &step->image,
                                     &step->bundle_back, &step->image_back, &step->artifacts_back,
                                     &step->signal,      &step->missing};
    for (size_t i = 0; i < LKS_COUNT(texts); i++)
        *texts[i] = texts[i]->ptr != NULL ? *texts[i] : NOTHING;
    k->recipe->takes += care[kind].usual * LKS_PLAN_MINUTE;
    return step;
}

static enum lks_code add_plain(struct lks_plan_cook *k, enum lks_step_kind kind, uint32_t rank,
                               size_t layer, const char *executor)
{
    const struct lks_rec_plan_step made = {.executor = lks_str_from(executor)};
    return add_step(k, made, kind, rank, layer) != NULL ? LKS_OK : k->p->err->code;
}

static enum lks_code keep_order(struct lks_plan_cook *k, struct lks_str digest, struct lks_str text)
{
    struct lks_plan *out = k->p->out;
    for (size_t i = 0; i < out->order_count; i++) {
        if (lks_str_eq(out->orders[i].digest, digest))
            return LKS_OK;
    }
    if (digest.len == 0)
        return LKS_OK;
    if (out->order_count == LKS_CHANGE_ORDERS)
        return lks_fail(k->p->err, LKS_E_LIMIT, "a change has at most %d orders",
                        LKS_CHANGE_ORDERS);
    if (LKS_PLANNING_RESERVE(k->p, out->orders, k->p->order_room, out->order_count + 1) != LKS_OK)
        return k->p->err->code;
    out->orders[out->order_count++] = (struct lks_rec_plan_order){.digest = digest, .text = text};
    return LKS_OK;
}

static enum lks_code add_apply(struct lks_plan_cook *k, const struct lks_plan_told *told,
                               uint32_t rank, size_t layer)
{
    struct lks_rec_plan_step *step = add_step(k, told->step, LKS_DO_APPLY, rank, layer);
    if (step == NULL)
        return k->p->err->code;
    step->one_way = step->order_back.len == 0;
    if (told->reboots)
        step->limit = IMAGE_MINUTES * LKS_PLAN_MINUTE;
    if (keep_order(k, step->order, told->text) != LKS_OK)
        return k->p->err->code;
    return keep_order(k, step->order_back, told->text_back);
}

static enum lks_code add_flash(struct lks_plan_cook *k, size_t layer, enum lks_step_kind kind,
                               uint32_t rank, size_t number)
{
    const struct lks_plan_work *work = &k->layers.list[layer];
    const struct lks_plan_flash *flash = &k->made[layer].flash;
    const struct lks_rec_plan_step made = {.component = work->update->component,
                                           .version = work->list[0]->to,
                                           .before = work->list[0]->from,
                                           .bundle = flash->bundle,
                                           .image = flash->image,
                                           .bundle_back = flash->bundle_back,
                                           .image_back = flash->image_back,
                                           .revert = flash->revert,
                                           .one_way = work->one_way,
                                           .missing = work->missing};
    struct lks_rec_plan_step *step = add_step(k, made, kind, rank, number);
    if (step == NULL)
        return k->p->err->code;
    uint64_t stage = kind == LKS_DO_ACTIVATE ? 0 : (uint64_t)work->update->stage_min;
    uint64_t activate = kind == LKS_DO_STAGE ? 0 : (uint64_t)work->update->activate_min;
    step->limit += ALLOWANCE * (stage + activate) * LKS_PLAN_MINUTE;
    k->recipe->takes += (kind == LKS_DO_STAGE ? 0 : stage + activate) * LKS_PLAN_MINUTE;
    return LKS_OK;
}

/* Which layers there are -------------------------------------------------------------------- */

static bool is_external(const struct lks_component *c)
{
    return c != NULL && (lks_str_is(c->owner, "external") || lks_str_is(c->owner, "gpu-operator"));
}

static enum lks_code note_external(struct lks_plan_cook *k, const struct lks_difference *d,
                                   const struct lks_component *c)
{
    return lks_plan_note(
        k->p, LKS_PLAN_EXTERNAL,
        "%" LKS_STR_FMT " differs (%" LKS_STR_FMT " to %" LKS_STR_FMT ") and is %" LKS_STR_FMT
        ": it is not changed by this",
        LKS_STR_ARG(d->subject), LKS_STR_ARG(d->from.len > 0 ? d->from : LKS_STR("none")),
        LKS_STR_ARG(d->to.len > 0 ? d->to : LKS_STR("none")), LKS_STR_ARG(c->owner));
}

/* Whether firmware of this class is this node's or asset's to bring. */
static bool is_its_own(const struct lks_plan_cook *k, struct lks_str component)
{
    const struct lks_plan_kind *kind = &k->recipe->kind;
    bool node = true;
    for (size_t i = 0; i < LKS_COUNT(belongs); i++) {
        if (!lks_str_is(component, belongs[i].component))
            continue;
        if (kind->asset != 0 && lks_str_is(lks_plan_class(k), belongs[i].asset))
            return true;
        node &= (lks_plan_asset_bit(lks_str_from(belongs[i].asset)) & kind->beside) == 0;
    }
    return kind->asset == 0 && node;
}

/* Firmware of a whole domain or site, which a node can bring only if it can be reached there: else
 * it is of an asset, whether there is one or not. */
static bool is_elsewhere(const struct lks_plan_cook *k, const struct lks_component *c,
                         const struct lks_difference *d)
{
    return k->recipe->kind.asset == 0 && d->update != NULL &&
           (lks_str_is(c->scope, "domain") || lks_str_is(c->scope, "site")) &&
           (k->p->state->nodes[k->recipe->node].domain == 0 ||
            !lks_plan_reached(k, lks_plan_transport(c, d->update)));
}

static struct lks_plan_work *find_work(struct lks_plan_cook *k,
                                       const struct lks_firmware_update *update)
{
    for (size_t i = 0; i < k->layers.count; i++) {
        if (k->layers.list[i].update == update)
            return &k->layers.list[i];
    }
    return NULL;
}

static enum lks_code add_work(struct lks_plan_cook *k, const struct lks_firmware_update *update,
                              const struct lks_difference *d, size_t most)
{
    struct lks_plan_work *work = find_work(k, update);
    if (work == NULL) {
        if (k->layers.count == LKS_PLAN_LAYERS_MAX)
            return lks_fail(k->p->err, LKS_E_LIMIT, "a node has at most %d layers",
                            LKS_PLAN_LAYERS_MAX);
        work = &k->layers.list[k->layers.count++];
        *work = (struct lks_plan_work){.update = update};
        work->list = lks_plan_array(k->p, most, sizeof(*work->list));
        if (work->list == NULL)
            return k->p->err->code;
    }
    work->list[work->count++] = d;
    return LKS_OK;
}

/* Firmware that comes with the driver is of the layer that brings it. */
static enum lks_code sort_in(struct lks_plan_cook *k, const struct lks_difference *d, size_t most)
{
    const struct lks_component *c = lks_plan_component_of(k, d);
    bool firmware = lks_component_is_firmware(d->subject);
    bool node = k->recipe->kind.asset == 0;
    if (is_external(c))
        return note_external(k, d, c);
    if (!firmware || lks_str_is(d->class, "software"))
        return node ? add_work(k, NULL, d, most) : LKS_OK;
    if (c == NULL || d->to.len == 0 || !lks_str_eq(c->label, d->subject))
        return LKS_OK; /* it is pinned no more, or what is said about it differs */
    if (!is_its_own(k, lks_component_bare(c->name)) || lks_str_eq(d->from, d->to))
        return LKS_OK; /* another's, or it runs it already */
    if (is_elsewhere(k, c, d))
        return lks_plan_note(k->p, LKS_PLAN_WARNING,
                             "%" LKS_STR_FMT " differs, and %" LKS_STR_FMT
                             " has no asset that it is of: no step changes it",
                             LKS_STR_ARG(d->subject),
                             LKS_STR_ARG(lks_state_name(k->p->state, k->recipe->node)));
    if (d->update != NULL)
        return add_work(k, d->update, d, most);
    if (k->p->wish.hook.len > 0)
        return add_work(k, NULL, d, most);
    return lks_fail(k->p->err, LKS_E_REFUSED,
                    "%" LKS_STR_FMT ": no executor updates it; name a hook that does it",
                    LKS_STR_ARG(d->subject));
}

/* Usual order: software, then by the table, and what is irreversible last. */
static int by_order(const void *left, const void *right)
{
    const struct lks_plan_work *a = left, *b = right;
    if ((a->update == NULL) != (b->update == NULL))
        return a->update == NULL ? -1 : 1;
    if (a->update == NULL || a->update->order == b->update->order)
        return a->update == NULL ? 0 : lks_str_cmp(a->update->component, b->update->component);
    return a->update->order < b->update->order ? -1 : 1;
}

static void find_edges(struct lks_plan_cook *k)
{
    for (size_t i = 0; i < k->layers.count; i++) {
        struct lks_plan_work *work = &k->layers.list[i];
        for (size_t j = 0; work->update != NULL && j < k->layers.count; j++) {
            const struct lks_firmware_update *other = k->layers.list[j].update;
            if (j != i && other != NULL &&
                lks_facts_words_have(work->update->after, other->component))
                work->after |= UINT64_C(1) << j;
        }
    }
}

static enum lks_code list_layers(struct lks_plan_cook *k, const struct lks_stackdiff *diff)
{
    for (size_t i = 0; i < diff->count; i++) {
        if (sort_in(k, &diff->differences[i], diff->count) != LKS_OK)
            return k->p->err->code;
    }
    if (k->layers.count > 1)
        qsort(k->layers.list, k->layers.count, sizeof(k->layers.list[0]), by_order);
    find_edges(k);
    return LKS_OK;
}

/* The order of work ------------------------------------------------------------------------- */

/* Switch trays come up before the compute trays, where the table says so of their firmware. */
static uint32_t rank_of(const struct lks_plan_cook *k, const struct lks_plan_work *work)
{
    bool trays = k->recipe->kind.asset != 0 && lks_str_is(lks_plan_class(k), "switch-tray");
    uint32_t rank = RANK_SOFTWARE;
    if (work->update != NULL && trays && work->update->exception.len > 0)
        rank = RANK_TRAYS;
    else if (work->update != NULL)
        rank = RANK_FIRMWARE + 2 * (uint32_t)work->update->order;
    return rank + (work->one_way ? RANK_ONE_WAY : 0);
}

/* Each layer is behind the one before it, with a gap for the redundant peer. */
static uint32_t next_rank(struct lks_plan_cook *k, const struct lks_plan_work *work)
{
    uint32_t rank = rank_of(k, work);
    k->rank = rank > k->rank + 1 ? rank : k->rank + 2;
    return k->rank + (k->recipe->kind.other_side ? 1 : 0);
}

static bool needs_reboot(const struct lks_plan_work *work)
{
    static const char *const resets[] = {"reboot", "dc", "ac", "domain"};
    for (size_t i = 0; work->update != NULL && i < LKS_COUNT(resets); i++) {
        if (lks_str_is(work->update->reset, resets[i]))
            return true;
    }
    for (size_t i = 0; work->update == NULL && i < work->count; i++) {
        if (lks_str_is(work->list[i]->reboot, "node") ||
            lks_str_is(work->list[i]->reboot, "domain"))
            return true;
    }
    return false;
}

static enum lks_code add_orders(struct lks_plan_cook *k, size_t layer, uint32_t rank, size_t number)
{
    bool reboots = needs_reboot(&k->layers.list[layer]);
    for (size_t i = 0; i < k->made[layer].told_count; i++) {
        if (add_apply(k, &k->made[layer].told[i], rank, number) != LKS_OK)
            return k->p->err->code;
        reboots |= k->made[layer].told[i].reboots;
    }
    return reboots ? add_plain(k, LKS_DO_REBOOT, rank, number, LKS_EXECUTOR_REBOOT) : LKS_OK;
}

static enum lks_code add_layer(struct lks_plan_cook *k, size_t layer, size_t number)
{
    const struct lks_plan_work *work = &k->layers.list[layer];
    uint32_t rank = next_rank(k, work);
    k->recipe->reverts |= !work->one_way;
    enum lks_step_kind kind = k->made[layer].flash.staged ? LKS_DO_ACTIVATE : LKS_DO_FLASH;
    if ((k->made[layer].by_endpoint ? add_flash(k, layer, kind, rank, number)
                                    : add_orders(k, layer, rank, number)) != LKS_OK)
        return k->p->err->code;
    return add_plain(k, LKS_DO_CHECK, rank, number, "");
}

static bool does_something(const struct lks_plan_cook *k, size_t layer)
{
    return k->made[layer].by_endpoint || k->made[layer].told_count > 0;
}

static enum lks_code add_stages(struct lks_plan_cook *k)
{
    size_t number = 0;
    for (size_t i = 0; i < k->layers.count; i++) {
        size_t layer = k->layers.order[i];
        number += does_something(k, layer);
        if (k->made[layer].flash.staged &&
            add_flash(k, layer, LKS_DO_STAGE, RANK_STAGE, number) != LKS_OK)
            return k->p->err->code;
    }
    return LKS_OK;
}

static enum lks_code add_layers(struct lks_plan_cook *k)
{
    size_t number = 0;
    for (size_t i = 0; i < k->layers.count; i++) {
        size_t layer = k->layers.order[i];
        if (does_something(k, layer) && add_layer(k, layer, ++number) != LKS_OK)
            return k->p->err->code;
    }
    return LKS_OK;
}

static enum lks_code add_leave(struct lks_plan_cook *k)
{
    struct lks_rec_plan_step *step =
        add_step(k, (struct lks_rec_plan_step){0}, LKS_DO_LEAVE, RANK_LEAVE, 0);
    if (step == NULL)
        return k->p->err->code;
    step->limit = k->recipe->kind.leave;
    step->jobs = k->recipe->kind.jobs;
    step->signal = k->recipe->kind.signal;
    step->grace = k->recipe->kind.grace;
    step->executor = LKS_STR(LKS_EXECUTOR_IDLE);
    k->rank = RANK_LEAVE;
    return LKS_OK;
}

static enum lks_code write_steps(struct lks_plan_cook *k)
{
    if (add_stages(k) != LKS_OK || add_leave(k) != LKS_OK || add_layers(k) != LKS_OK ||
        add_plain(k, LKS_DO_ACCEPT, RANK_ACCEPT, 0, LKS_EXECUTOR_ACCEPT) != LKS_OK)
        return k->p->err->code;
    return add_plain(k, LKS_DO_RETURN, RANK_RETURN, 0, "");
}

/* The whole --------------------------------------------------------------------------------- */

static enum lks_code check_class(struct lks_plan_cook *k)
{
    struct lks_str class = lks_plan_class(k);
    if (lks_stack_is_for(k->p->to, class))
        return LKS_OK;
    return lks_fail(k->p->err, LKS_E_REFUSED,
                    "%" LKS_STR_FMT " is of class %" LKS_STR_FMT ", which %" LKS_STR_FMT
                    " is not for",
                    LKS_STR_ARG(lks_state_name(k->p->state, k->recipe->node)), LKS_STR_ARG(class),
                    LKS_STR_ARG(k->p->to->name));
}

/* An asset without firmware that differs is left alone: it has no steps. */
static enum lks_code cook_stack(struct lks_plan_cook *k, const struct lks_stackdiff *diff)
{
    bool node = k->recipe->kind.asset == 0;
    if ((node && check_class(k) != LKS_OK) || list_layers(k, diff) != LKS_OK ||
        lks_plan_prepare(k) != LKS_OK ||
        lks_plan_order(k->p, &k->recipe->kind, k->from, &k->layers) != LKS_OK)
        return k->p->err->code;
    lks_plan_does(k);
    return node || k->layers.count > 0 ? write_steps(k) : LKS_OK;
}

/* The vulnerability that it was requested to close, where it was. */
static bool closes(const struct lks_planning *p, const struct lks_stackdiff *diff)
{
    for (size_t i = 0; i < diff->closed.count; i++) {
        if (lks_str_eq(diff->closed.list[i]->id, p->wish.advisory))
            return true;
    }
    return false;
}

static enum lks_code find_source(struct lks_plan_cook *k)
{
    k->from = lks_book_stack(k->p->book, k->recipe->kind.before);
    if (k->from != NULL)
        return LKS_OK;
    return lks_fail(k->p->err, LKS_E_NOT_FOUND,
                    "the manifest of %" LKS_STR_FMT ", which %" LKS_STR_FMT
                    " should run now, is not here",
                    LKS_STR_ARG(k->recipe->kind.before),
                    LKS_STR_ARG(lks_state_name(k->p->state, k->recipe->node)));
}

/* A copy of the differences' texts lives as long as the plan. */
static enum lks_code keep_texts(struct lks_planning *p, struct lks_stackdiff *diff)
{
    for (size_t i = 0; i < diff->count; i++) {
        struct lks_difference *d = &diff->differences[i];
        struct lks_str *const texts[] = {&d->subject, &d->from, &d->to};
        for (size_t t = 0; t < LKS_COUNT(texts); t++) {
            *texts[t] = lks_arena_copy(&p->out->memory, *texts[t]);
            if (texts[t]->ptr == NULL)
                return lks_arena_fail(&p->out->memory, p->err);
        }
    }
    return LKS_OK;
}

/* Firmware that the stack before does not pin comes from the version that was read. */
static void measure(const struct lks_plan_recipe *recipe, struct lks_stackdiff *diff)
{
    for (size_t i = 0; i < diff->count; i++) {
        struct lks_difference *d = &diff->differences[i];
        if (d->from.len == 0 && d->update != NULL)
            d->from = lks_plan_runs(&recipe->kind, d->update->component);
    }
}

/* Our own agent: an order and a look, while the node stays in use. */
static enum lks_code cook_agent(struct lks_plan_cook *k)
{
    struct lks_planning *p = k->p;
    struct lks_plan_layer asked = lks_plan_layer_of(k);
    asked.agent = p->out->change.name;
    asked.agent_before = k->recipe->kind.before;
    if (lks_str_eq(k->recipe->kind.before, p->out->change.name))
        return LKS_OK; /* it runs it already */
    if (lks_plan_orders(&asked, &p->out->memory, k->made[0].told, &k->made[0].told_count, p->err) !=
        LKS_OK)
        return p->err->code;
    for (size_t i = 0; i < k->made[0].told_count; i++) {
        if (add_apply(k, &k->made[0].told[i], RANK_SOFTWARE, 1) != LKS_OK)
            return p->err->code;
        k->recipe->reverts |= k->made[0].told[i].step.order_back.len > 0;
    }
    if (add_plain(k, LKS_DO_CHECK, RANK_SOFTWARE, 1, "") != LKS_OK)
        return p->err->code;
    return add_plain(k, LKS_DO_RETURN, RANK_RETURN, 0, "");
}

static bool same_step(const struct lks_rec_plan_step *a, const struct lks_rec_plan_step *b)
{
    const struct lks_str *const x[] = {
        &a->component,  &a->version,        &a->before, &a->executor, &a->order,
        &a->order_back, &a->artifacts,      &a->bundle, &a->image,    &a->bundle_back,
        &a->image_back, &a->artifacts_back, &a->signal, &a->missing};
    const struct lks_str *const y[] = {
        &b->component,  &b->version,        &b->before, &b->executor, &b->order,
        &b->order_back, &b->artifacts,      &b->bundle, &b->image,    &b->bundle_back,
        &b->image_back, &b->artifacts_back, &b->signal, &b->missing};
    bool same = a->kind == b->kind && a->rank == b->rank && a->layer == b->layer &&
                a->revert == b->revert && a->one_way == b->one_way && a->limit == b->limit &&
                a->retries == b->retries && a->jobs == b->jobs && a->grace == b->grace;
    for (size_t i = 0; i < LKS_COUNT(x) && same; i++)
        same = lks_str_eq(*x[i], *y[i]);
    return same;
}

static bool same_steps(const struct lks_plan *plan, const struct lks_plan_recipe *a,
                       const struct lks_plan_recipe *b)
{
    for (size_t i = 0; a->count == b->count && i < a->count; i++) {
        if (!same_step(&plan->steps[a->first + i], &plan->steps[b->first + i]))
            return false;
    }
    return a->count == b->count;
}

/* It has the number of the first recipe with the same steps, or the next one. */
static void number(struct lks_planning *p, struct lks_plan_recipe *recipe)
{
    struct lks_plan *out = p->out;
    if (recipe->count == 0)
        return;
    for (const struct lks_plan_recipe *r = p->recipes; r < recipe; r++) {
        if (r->count > 0 && same_steps(out, r, recipe)) {
            recipe->number = r->number;
            out->step_count = recipe->first;
            recipe->first = r->first;
            return;
        }
    }
    recipe->number = (uint32_t)out->recipe_count++;
}

static enum lks_code cook_kind(struct lks_planning *p, struct lks_plan_recipe *recipe)
{
    struct lks_plan_cook *k = lks_plan_array(p, 1, sizeof(*k));
    struct lks_stackdiff diff = {0};
    if (k == NULL)
        return p->err->code;
    *k = (struct lks_plan_cook){.p = p, .recipe = recipe};
    recipe->first = p->out->step_count;
    recipe->does = LKS_COVERS_ALL;
    if (p->wish.kind == LKS_CHANGE_AGENT)
        return cook_agent(k);
    if (find_source(k) != LKS_OK ||
        lks_stackdiff_make(p->book->facts, k->from, p->to, &diff, p->err) != LKS_OK)
        return p->err->code;
    p->closes |= closes(p, &diff);
    enum lks_code code = keep_texts(p, &diff);
    measure(recipe, &diff);
    code = code == LKS_OK ? cook_stack(k, &diff) : code;
    lks_stackdiff_fini(&diff);
    return code;
}

enum lks_code lks_plan_steps(struct lks_planning *p, struct lks_plan_recipe *recipe)
{
    if (cook_kind(p, recipe) != LKS_OK)
        return p->err->code;
    number(p, recipe);
    return LKS_OK;
}
