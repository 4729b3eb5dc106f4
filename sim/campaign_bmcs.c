/* Management endpoints, as a light model, and the conversations that lockstepd has with them. What
 * the model leaves out of Redfish, campaign_redfish.c has. */
#include "core/rows/flash.h"
#include "core/rows/node.h"
#include "core/state/lookup.h"
#include "model/tuple/tuple.h"
#include "sim/campaign.h"

#include <inttypes.h>

enum said { WORKING, WELL, BADLY, NEVER_HEARD };
enum { ASK_POST, ASK_LOOK, SILENT_MAX = 12, DURABLE_POLL_MS = 20 };
#define POLL_EVERY (30 * LKS_SECOND)

/* The endpoint --------------------------------------------------------------------------------- */

static unsigned claimed(const struct cam_machine *m, enum cam_axis axis)
{
    return cam_version(m->bmc.liar ? m->bmc.claims : m->truth, axis);
}

static void say(struct cam *w, uint32_t i, const struct cam_flash *f)
{
    const struct cam_bmc *b = &w->machines[i].bmc;
    enum said said = b->task == f->id   ? WORKING
                     : b->last != f->id ? NEVER_HEARD
                     : b->worked        ? WELL
                                        : BADLY;
    cam_send(
        w, (struct lks_message){.kind = CAM_BMC_SAID,
                                .node = i,
                                .life = w->life,
                                .number = f->id,
                                .value = (uint32_t)said | claimed(&w->machines[i], f->axis) << 4});
}

/* Whether the act takes something down while it is done. */
static bool disrupts(const struct cam_flash *f)
{
    return f->act == LKS_BMC_UPDATE || f->act == LKS_BMC_ACTIVATE || f->act == LKS_BMC_SWITCH;
}

static void begin(struct cam *w, uint32_t i, const struct cam_flash *f)
{
    struct cam_machine *m = &w->machines[i];
    struct cam_bmc *b = &m->bmc;
    if (b->task != 0 || b->last == f->id)
        return; /* it is at it, or was */
    b->task = f->id;
    w->flashes_begun++;
    if (disrupts(f)) {
        cam_check_disruption(w, i, "an update", f->asked);
        m->busy = true;
    }
    cam_say(w, "%s: endpoint begins update %" PRIu64, m->name, f->id);
    cam_post(w, (struct lks_message){.kind = CAM_BMC_ENDED, .node = i, .number = f->id},
             cam_takes(w, f->act == LKS_BMC_ABORT ? LKS_SECOND : 5 * CAM_MINUTE) + 1);
}

void cam_bmc_asked(struct cam *w, const struct lks_message *msg)
{
    struct cam_machine *m = &w->machines[msg->node];
    const struct cam_flash *f = &w->flashes[msg->number];
    if (m->bmc.dead || m->bmc.silent || w->now < m->bmc.until || cam_chance(w, w->weather.loss / 4))
        return;
    if (msg->value == ASK_POST)
        begin(w, msg->node, f);
    say(w, msg->node, f);
}

/* An image is written to a bank: once, for each time that it was asked for. */
static void write_image(struct cam *w, uint32_t i, const struct cam_flash *f)
{
    struct cam_machine *m = &w->machines[i];
    m->flashes++;
    bool there = cam_version(m->truth, f->axis) == f->version && !m->bmc.liar;
    cam_require(w, !there && !f->written, "promise 8", "%s: %s %s is flashed once", m->name,
                cam_axes[f->axis].component, cam_version_text(f->axis, f->version));
    w->flashes[f->id].written = true;
}

static bool activate(struct cam *w, uint32_t i, enum cam_axis axis, unsigned version)
{
    struct cam_machine *m = &w->machines[i];
    unsigned before = cam_version(m->truth, axis);
    if (!cam_apply(w, i, axis, version))
        return false;
    m->bmc.other[axis] = before + 1;
    m->bmc.staged[axis] = 0;
    return true;
}

/* What it was asked for, by the truth; false: it failed. */
static bool carry_out(struct cam *w, uint32_t i, const struct cam_flash *f)
{
    struct cam_bmc *b = &w->machines[i].bmc;
    switch (f->act) {
    case LKS_BMC_UPDATE:
        write_image(w, i, f);
        return activate(w, i, f->axis, f->version);
    case LKS_BMC_STAGE:
        write_image(w, i, f);
        b->staged[f->axis] = f->version + 1;
        return true;
    case LKS_BMC_ACTIVATE:
        return b->staged[f->axis] == f->version + 1 && activate(w, i, f->axis, f->version);
    case LKS_BMC_SWITCH:
        return b->other[f->axis] != 0 && activate(w, i, f->axis, b->other[f->axis] - 1);
    case LKS_BMC_ABORT:
        b->staged[f->axis] = 0;
        return true;
    case LKS_BMC_ACT_COUNT:
        break;
    }
    return false;
}

/* Some of what it does takes it, or the whole machine, down for a while. */
static void restart_after(struct cam *w, uint32_t i, const struct cam_flash *f)
{
    struct cam_machine *m = &w->machines[i];
    if (!disrupts(f))
        return;
    m->touched = w->now + 1;
    if (f->axis == CAM_BMC)
        m->bmc.until = w->now + cam_takes(w, 2 * CAM_MINUTE);
    if (m->type == CAM_NODE && (f->axis != CAM_BMC || m->broken))
        cam_machine_down(w, i, "restarts behind an update");
    else
        m->busy = false;
}

void cam_bmc_ended(struct cam *w, const struct lks_message *msg)
{
    struct cam_machine *m = &w->machines[msg->node];
    struct cam_bmc *b = &m->bmc;
    const struct cam_flash *f = &w->flashes[msg->number];
    if (b->task != f->id || b->dead)
        return;
    b->claims = m->truth;
    b->task = 0;
    b->last = cam_chance(w, w->weather.bmc_forgets) ? 0 : f->id;
    b->worked = false;
    if (cam_chance(w, w->weather.bmc_bricks)) {
        b->dead = true;
        m->busy = false;
        cam_say(w, "%s: the endpoint is a brick", m->name);
        return;
    }
    if (b->liar && !w->calm) {
        b->claims = cam_with(m->truth, f->axis, f->version);
        b->worked = true;
    } else if (!cam_chance(w, w->weather.bmc_fails)) {
        b->worked = carry_out(w, msg->node, f);
        b->claims = m->truth;
    }
    restart_after(w, msg->node, f);
}

/* Conversations -------------------------------------------------------------------------------- */

void cam_talk_forget(struct cam_machine *m)
{
    cam_redfish_forget(m);
    m->talk.flash = 0;
}

static void go_later(struct cam *w, uint32_t i, lks_ms after)
{
    cam_post(w,
             (struct lks_message){
                 .kind = CAM_TALK, .node = i, .life = w->life, .number = w->machines[i].talk.flash},
             after);
}

void cam_talk_begin(struct cam *w, uint64_t flash)
{
    const struct lks_state *s = lks_engine_state(w->engine);
    const struct lks_state_flash *f = lks_state_flash(s, flash);
    if (f == NULL || f->outcome != LKS_BMC_OPEN)
        return;
    uint32_t i = cam_machine(w, lks_state_name(s, f->node));
    struct cam_machine *m = &w->machines[i];
    if (m->talk.flash == flash)
        return;
    cam_talk_forget(m);
    m->talk = (struct cam_talk){.flash = flash, .saved = f->saved != NULL};
    if (m->bmcs != NULL && w->flashes[flash].axis == CAM_BMC)
        cam_redfish_begin(w, i, f);
    go_later(w, i, cam_between(w, 1, LKS_SECOND));
}

/* What it runs, where it still says something. */
static struct lks_str found(const struct cam *w, const struct cam_machine *m)
{
    enum cam_axis axis = w->flashes[m->talk.flash].axis;
    bool says = m->talk.value != NULL || m->talk.silent == 0;
    return says ? lks_str_from(cam_version_text(axis, claimed(m, axis))) : LKS_STR("");
}

void cam_talk_end(struct cam *w, uint32_t i, enum lks_bmc_outcome outcome, struct lks_str text)
{
    struct cam_machine *m = &w->machines[i];
    struct lks_event event = {
        .kind = LKS_EVENT_FLASH_ENDED,
        .flash_ended = {.id = m->talk.flash,
                        .outcome = outcome,
                        .found = found(w, m),
                        .text = text,
                        .uploads = m->talk.asked > 0},
    };
    cam_say(w, "%s: update %" PRIu64 ": %s", m->name, m->talk.flash,
            lks_bmc_outcome_words[outcome]);
    if (cam_turn(w, &event, NULL))
        cam_talk_forget(m);
    else
        go_later(w, i, POLL_EVERY);
}

static void ask(struct cam *w, uint32_t i, uint32_t what)
{
    struct cam_machine *m = &w->machines[i];
    m->talk.silent++;
    cam_send(w, (struct lks_message){.kind = CAM_BMC_ASKED,
                                     .node = i,
                                     .life = w->life,
                                     .number = m->talk.flash,
                                     .value = what});
    go_later(w, i, POLL_EVERY);
}

/* Nothing leaves before it is durable that it may have left. */
static void post(struct cam *w, uint32_t i)
{
    struct cam_talk *t = &w->machines[i].talk;
    if (!t->saved) {
        struct lks_event event = {.kind = LKS_EVENT_FLASH_SAVED,
                                  .flash_saved = {.id = t->flash,
                                                  .saved = LKS_STR("about to post"),
                                                  .phase = LKS_STR("posting")}};
        if (!cam_turn(w, &event, NULL)) {
            go_later(w, i, POLL_EVERY);
            return;
        }
        t->saved = true;
        t->needs = lks_engine_seq(w->engine);
        t->posts = true;
    }
    if (lks_engine_durable_seq(w->engine) < t->needs) {
        go_later(w, i, DURABLE_POLL_MS);
        return;
    }
    t->asked++;
    t->posts = false;
    ask(w, i, ASK_POST);
}

static bool is_open(struct cam *w, const struct cam_machine *m, uint64_t flash)
{
    const struct lks_state_flash *f = lks_state_flash(lks_engine_state(w->engine), flash);
    return m->talk.flash == flash && f != NULL && f->outcome == LKS_BMC_OPEN;
}

void cam_talk_go(struct cam *w, const struct lks_message *msg)
{
    struct cam_machine *m = &w->machines[msg->node];
    struct cam_talk *t = &m->talk;
    if (t->flash == 0)
        cam_talk_begin(w, msg->number);
    else if (t->flash != msg->number)
        return;
    else if (!is_open(w, m, msg->number))
        cam_talk_forget(m); /* it was given up */
    else if (t->value != NULL)
        cam_redfish_go(w, msg->node);
    else if (t->silent >= SILENT_MAX)
        cam_talk_end(w, msg->node, t->saved ? LKS_BMC_UNKNOWN : LKS_BMC_FAILED,
                     LKS_STR("the endpoint does not answer"));
    else if (t->posts || (t->heard && !t->saved))
        post(w, msg->node);
    else
        ask(w, msg->node, ASK_LOOK); /* also first of all: what is there already is not sent */
}

/* What the answer says of how it went. */
static enum lks_bmc_outcome outcome_of(const struct cam_flash *f, enum said said, bool there)
{
    if (said == BADLY)
        return LKS_BMC_FAILED;
    if (f->act == LKS_BMC_STAGE)
        return LKS_BMC_STAGED;
    return there || f->act == LKS_BMC_ABORT || f->act == LKS_BMC_SWITCH ? LKS_BMC_DONE
                                                                        : LKS_BMC_FAILED;
}

void cam_talk_said(struct cam *w, const struct lks_message *msg)
{
    struct cam_machine *m = &w->machines[msg->node];
    const struct cam_flash *f = &w->flashes[msg->number];
    enum said said = (enum said)(msg->value & 15);
    struct cam_talk *t = &m->talk;
    if (!is_open(w, m, msg->number))
        return;
    bool there = msg->value >> 4 == f->version, first = !t->heard;
    t->silent = 0;
    t->heard = true;
    if (said == WORKING)
        return; /* the next look is on its way already */
    if (said != NEVER_HEARD)
        cam_talk_end(w, msg->node, outcome_of(f, said, there), CAM_SAID);
    else if (there && !t->saved && (f->act <= LKS_BMC_ACTIVATE || f->act == LKS_BMC_SWITCH))
        cam_talk_end(w, msg->node, LKS_BMC_SAME, CAM_SAID);
    else if (t->saved && first && !t->posts)
        t->lost = true; /* it was sent in another life, or never: look once more */
    else if (t->saved && !t->posts && (t->lost || t->asked > 0) && ++t->unheard >= 3)
        cam_talk_end(w, msg->node, there ? LKS_BMC_DONE : LKS_BMC_UNKNOWN,
                     LKS_STR("it does not know of it"));
}

/* Reading ----------------------------------------------------------------------------------- */

void cam_sweep_later(struct cam *w, uint32_t i)
{
    struct cam_machine *m = &w->machines[i];
    if (m->sweep_posted)
        return;
    m->sweep_posted = true;
    cam_post(w, (struct lks_message){.kind = CAM_SWEEP_READ, .node = i, .life = w->life},
             cam_between(w, LKS_SECOND, CAM_MINUTE));
}

void cam_sweep(struct cam *w, uint32_t i)
{
    struct cam_machine *m = &w->machines[i];
    uint32_t place = cam_place(w, m);
    const struct lks_state *s = lks_engine_state(w->engine);
    m->sweep_posted = false;
    if (place == LKS_NO_NODE || s->nodes[place].outband != 0)
        return;
    if (m->bmc.dead || m->bmc.silent || w->now < m->bmc.until || s->nodes[place].flashing != 0 ||
        cam_chance(w, w->weather.loss)) {
        cam_sweep_later(w, i);
        return;
    }
    cam_truth shown = m->bmc.liar && m->bmc.last != 0 ? m->bmc.claims : cam_bmc_truth(w, i);
    struct lks_tuple tuple = *cam_tuple(shown, m->type, true);
    struct lks_store_blob blob = {.bytes = LKS_STR("read out of band")};
    struct lks_err err = {0};
    tuple.node = lks_str_from(m->name);
    tuple.taken = (int64_t)(cam_now(w).wall / LKS_SECOND);
    LKS_ASSERT(lks_digest_text(blob.bytes, blob.digest, &err) == LKS_OK);
    struct lks_event event = {
        .kind = LKS_EVENT_OUTBAND,
        .name = lks_str_from(m->name),
        .outband = {.tuple = &tuple, .report = lks_str_from(blob.digest)},
    };
    if (!cam_turn(w, &event, &blob))
        cam_sweep_later(w, i);
}
