/* What commands do to machines, by the truth. */
#include "core/state/lookup.h"
#include "model/manifest/order.h"
#include "sim/campaign.h"

#include <stdio.h>
#include <stdlib.h>

/* Orders, read once each ----------------------------------------------------------------------- */

struct cam_order *cam_order(struct cam *w, struct lks_str digest)
{
    for (size_t i = 0; i < w->order_count; i++)
        if (lks_str_is(digest, w->orders[i].digest))
            return &w->orders[i];
    return NULL;
}

static void take_items(struct cam *w, struct cam_order *o, const struct lks_order *order)
{
    for (size_t i = 0; i < order->count; i++) {
        enum cam_axis axis = CAM_DRIVER;
        unsigned version = 0;
        bool known = cam_axis_find(order->items[i].component, &axis) &&
                     cam_version_find(axis, order->items[i].value, &version);
        cam_require(w, known, "orders",
                    "%" LKS_STR_FMT "=%" LKS_STR_FMT " is a wish that the plan "
                    "made up",
                    LKS_STR_ARG(order->items[i].component), LKS_STR_ARG(order->items[i].value));
        o->axes[o->count] = axis;
        o->versions[o->count] = version;
        o->count += o->count + 1 < CAM_AXES;
    }
}

/* The depot serves what the journal keeps; a node reads it once it has it. */
void cam_order_note(struct cam *w, struct lks_str digest)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_order order = {0};
    struct lks_err err = {0};
    if (digest.len == 0 || cam_order(w, digest) != NULL)
        return;
    struct lks_str text = lks_state_order(lks_engine_state(w->engine), digest);
    LKS_ASSERT(lks_docs_init(&docs, "order", &err) == LKS_OK);
    enum lks_code code = lks_order_parse(text, "order", &docs, &order, &err);
    cam_require(w, code == LKS_OK, "orders", "an order that a command names is served: %s",
                err.msg);
    if (code != LKS_OK)
        return;
    w->orders = cam_grow(w->orders, w->order_count, &w->order_room, sizeof(w->orders[0]));
    struct cam_order *o = &w->orders[w->order_count++];
    *o = (struct cam_order){0};
    (void)snprintf(o->digest, sizeof(o->digest), "%" LKS_STR_FMT, LKS_STR_ARG(digest));
    take_items(w, o, &order);
}

/* What becomes of a machine -------------------------------------------------------------------- */

bool cam_is_bad(const struct cam *w, const struct cam_machine *m, enum cam_axis axis,
                unsigned version)
{
    return w->badness != CAM_GOOD && axis == w->bad_axis && version == 1 &&
           m->revision == w->bad_revision && m->type == CAM_NODE;
}

/* One component has another version now; false: it does not. */
bool cam_apply(struct cam *w, uint32_t i, enum cam_axis axis, unsigned version)
{
    struct cam_machine *m = &w->machines[i];
    bool bad = cam_is_bad(w, m, axis, version);
    m->touched = w->now + 1;
    if (bad && w->badness == CAM_BAD_FAILS)
        return false;
    cam_truth before = m->truth;
    m->truth =
        cam_with(m->truth, axis, bad && w->badness == CAM_BAD_READS ? CAM_VERSION_ODD : version);
    cam_say(w, "%s: %s is %s now", m->name, cam_axes[axis].component,
            cam_version_text(axis, cam_version(m->truth, axis)));
    cam_check_truth(w, i, before);
    if (bad && w->badness == CAM_BAD_DIES && !w->calm)
        m->broken = true;
    return true;
}

static bool accepts(const struct cam *w, const struct cam_machine *m)
{
    for (unsigned a = 0; a < CAM_AXES && w->badness == CAM_BAD_ACCEPT; a++)
        if (cam_is_bad(w, m, (enum cam_axis)a, cam_version(m->truth, (enum cam_axis)a)))
            return false;
    return true;
}

/* Commands ------------------------------------------------------------------------------------- */

lks_ms cam_work_begin(struct cam *w, uint32_t i, struct cam_command *c)
{
    struct cam_machine *m = &w->machines[i];
    if (c->by_hand && c->kind != CAM_DO_IDLE && c->kind != CAM_DO_INVENTORY)
        cam_hands_check(w, i, c);
    if (c->by_hand || (c->kind != CAM_DO_ORDER && c->kind != CAM_DO_REBOOT))
        return cam_takes(w, 20 * LKS_SECOND) + 1;
    cam_check_disruption(w, i, c->executor, c->asked);
    m->busy = true;
    m->touched = w->now + 1;
    return cam_takes(w, c->kind == CAM_DO_ORDER ? 2 * CAM_MINUTE : 10 * LKS_SECOND) + 1;
}

static enum lks_outcome carry_out(struct cam *w, uint32_t i, const struct cam_order *o)
{
    bool fails = cam_chance(w, w->weather.step_fails), lies = cam_chance(w, w->weather.step_lies);
    for (unsigned k = 0; k < o->count && !lies; k++) {
        if (fails && lks_rng_percent(&w->rng, 60))
            return LKS_OUTCOME_FAILED; /* and what came before it stays */
        if (!cam_apply(w, i, o->axes[k], o->versions[k]))
            return LKS_OUTCOME_FAILED;
    }
    return fails ? LKS_OUTCOME_FAILED : LKS_OUTCOME_DONE;
}

static enum lks_outcome accept(struct cam *w, uint32_t i)
{
    struct cam_machine *m = &w->machines[i];
    if (!accepts(w, m) || cam_chance(w, w->weather.step_fails / 2))
        return LKS_OUTCOME_FAILED;
    m->accepted = w->now + 1;
    return LKS_OUTCOME_DONE;
}

enum lks_outcome cam_work_end(struct cam *w, uint32_t i, struct cam_command *c)
{
    struct cam_machine *m = &w->machines[i];
    enum lks_outcome outcome = LKS_OUTCOME_DONE;
    switch (c->kind) {
    case CAM_DO_IDLE:
        return m->job == 0 && !m->stray ? LKS_OUTCOME_DONE : LKS_OUTCOME_FAILED;
    case CAM_DO_INVENTORY:
        cam_agent_reads(w, i);
        return LKS_OUTCOME_DONE;
    case CAM_DO_ACCEPT:
        return accept(w, i);
    case CAM_DO_ORDER:
        outcome = carry_out(w, i, &w->orders[c->order]);
        m->touched = w->now + 1;
        m->busy = false;
        if (m->broken)
            cam_machine_down(w, i, "dies of its new software");
        return outcome;
    case CAM_DO_REBOOT:
        if (c->by_hand)
            return cam_chance(w, w->weather.step_fails) ? LKS_OUTCOME_FAILED : LKS_OUTCOME_DONE;
        m->busy = !cam_chance(w, w->weather.step_fails);
        return m->busy ? LKS_OUTCOME_DONE : LKS_OUTCOME_FAILED;
    case CAM_DO_OTHER:
        break;
    }
    return LKS_OUTCOME_REFUSED;
}

/* The agent is gone in the middle of it: it was done, or not, or to a part. */
void cam_work_cut(struct cam *w, uint32_t i, struct cam_command *c)
{
    struct cam_machine *m = &w->machines[i];
    if (c->kind == CAM_DO_ORDER && lks_rng_percent(&w->rng, 50))
        (void)carry_out(w, i, &w->orders[c->order]);
    m->busy = false;
}
