/* What carries each layer of a recipe out: an endpoint with an image of a good bundle, or executors
 * of the node with their orders; and whether it can be reverted. */
#include "core/compat/parts.h"
#include "core/plan/plan_work.h"
#include "core/state/lookup.h"

#define NOTHING ((struct lks_str){"", 0})

struct lks_str lks_plan_class(const struct lks_plan_cook *k)
{
    return lks_state_text(k->p->state, k->recipe->kind.class);
}

struct lks_plan_layer lks_plan_layer_of(const struct lks_plan_cook *k)
{
    const struct lks_planning *p = k->p;
    return (struct lks_plan_layer){
        .facts = p->book->facts,
        .state = p->state,
        .bundles = p->bundles,
        .class = lks_plan_class(k),
        .revision = lks_state_text(p->state, k->recipe->kind.revision),
        .hook = p->wish.hook,
    };
}

const struct lks_component *lks_plan_component_in(const struct lks_stack *stack,
                                                  struct lks_str subject)
{
    const struct lks_component *best = NULL;
    for (size_t i = 0; stack != NULL && i < stack->component_count; i++) {
        const struct lks_component *c = &stack->components[i];
        bool begins = subject.len >= c->label.len &&
                      memcmp(subject.ptr, c->label.ptr, c->label.len) == 0 &&
                      (subject.len == c->label.len || subject.ptr[c->label.len] == '.');
        if (begins && (best == NULL || c->label.len > best->label.len))
            best = c;
    }
    return best;
}

const struct lks_component *lks_plan_component_of(const struct lks_plan_cook *k,
                                                  const struct lks_difference *d)
{
    const struct lks_component *after = lks_plan_component_in(k->p->to, d->subject);
    return after != NULL ? after : lks_plan_component_in(k->from, d->subject);
}

static bool by_endpoint(const struct lks_plan_cook *k, struct lks_str transport)
{
    static const char *const words[] = {"redfish", "pldm", "controller"};
    if (k->recipe->kind.endpoint == LKS_PLAN_NVOS)
        return lks_facts_words_have(transport, LKS_STR("nvos"));
    for (size_t i = 0; k->recipe->kind.endpoint == LKS_PLAN_REDFISH && i < LKS_COUNT(words); i++) {
        if (lks_facts_words_have(transport, lks_str_from(words[i])))
            return true;
    }
    return false;
}

struct lks_str lks_plan_transport(const struct lks_component *c,
                                  const struct lks_firmware_update *update)
{
    return c != NULL && c->transport.len > 0 ? c->transport : update->transport;
}

bool lks_plan_reached(const struct lks_plan_cook *k, struct lks_str transport)
{
    return by_endpoint(k, transport) ||
           (k->recipe->kind.asset == 0 && lks_facts_words_have(transport, LKS_STR("in-band")));
}

/* Images ------------------------------------------------------------------------------------ */

bool lks_plan_pins(const struct lks_component *c, struct lks_str digest)
{
    const struct lks_doc *list = c != NULL ? lks_doc_member(c->doc, "artifacts") : NULL;
    for (const struct lks_doc *d = list != NULL ? list->first : NULL; d != NULL; d = d->next) {
        if (lks_str_eq(d->text, digest))
            return true;
    }
    return list == NULL;
}

#define DIGEST_SHOWN 19 /* sha256: and what commands need of it */

enum lks_code lks_plan_fail_two(struct lks_str component, struct lks_str version,
                                const struct lks_bundle *a, const struct lks_bundle *b,
                                struct lks_err *err)
{
    if (a == b)
        return lks_fail(err, LKS_E_REFUSED,
                        "%" LKS_STR_FMT " %" LKS_STR_FMT ": bundle %" LKS_STR_FMT
                        " has several files for it; let the stack name its artifacts",
                        LKS_STR_ARG(component), LKS_STR_ARG(version), LKS_STR_ARG(a->name));
    return lks_fail(err, LKS_E_REFUSED,
                    "%" LKS_STR_FMT " %" LKS_STR_FMT ": bundles %" LKS_STR_FMT " (%.*s) and "
                    "%" LKS_STR_FMT " (%.*s) have different files for it; revoke one, or let the "
                    "stack name its artifacts",
                    LKS_STR_ARG(component), LKS_STR_ARG(version), LKS_STR_ARG(a->name),
                    DIGEST_SHOWN, a->digest, LKS_STR_ARG(b->name), DIGEST_SHOWN, b->digest);
}

struct image {
    const struct lks_bundle *bundle;
    const struct lks_bundle_artifact *artifact;
};

/* Whether it is `component` in `version` for this hardware, and may follow `before`. */
static bool is_image_for(const struct lks_plan_cook *k, const struct lks_bundle_artifact *a,
                         const struct lks_component *c, const struct lks_component *pins,
                         struct lks_str version, struct lks_str before)
{
    const struct lks_planning *p = k->p;
    return a->kind == LKS_BUNDLE_FIRMWARE &&
           lks_str_eq(a->component, lks_component_bare(c->name)) &&
           lks_str_eq(a->version, version) && lks_plan_pins(pins, a->digest) &&
           lks_bundle_fits(a, lks_plan_class(k),
                           lks_state_text(p->state, k->recipe->kind.revision)) &&
           (before.len == 0 || lks_bundle_follows(p->book->facts, a, before)) &&
           lks_state_vouched(p->state, a->digest) &&
           lks_state_artifact(p->state, a->digest) != NULL;
}

/* The one image, of those that `pins` names if it is there and names any; none where no bundle has
 * it. Different ones are not chosen between. */
static enum lks_code find_image(struct lks_plan_cook *k, const struct lks_component *c,
                                const struct lks_component *pins, struct lks_str version,
                                struct lks_str before, struct image *out)
{
    const struct lks_bundle_set *set = k->p->bundles;
    *out = (struct image){0};
    for (size_t b = 0; c != NULL && version.len > 0 && b < set->count; b++) {
        for (size_t i = 0; i < set->list[b]->count; i++) {
            const struct lks_bundle_artifact *a = &set->list[b]->artifacts[i];
            if (!is_image_for(k, a, c, pins, version, before))
                continue;
            if (out->artifact != NULL && !lks_str_eq(out->artifact->digest, a->digest))
                return lks_plan_fail_two(c->name, version, out->bundle, set->list[b], k->p->err);
            if (out->artifact == NULL)
                *out = (struct image){set->list[b], a};
        }
    }
    return LKS_OK;
}

/* All devices of a class go from one version to one other: an endpoint is told a class. */
static enum lks_code check_alike(struct lks_plan_cook *k, const struct lks_plan_work *work)
{
    for (size_t i = 1; i < work->count; i++) {
        if (!lks_str_eq(work->list[i]->to, work->list[0]->to))
            return lks_fail(k->p->err, LKS_E_REFUSED,
                            "%" LKS_STR_FMT " and %" LKS_STR_FMT
                            " go to different versions, which an endpoint cannot do",
                            LKS_STR_ARG(work->list[0]->subject),
                            LKS_STR_ARG(work->list[i]->subject));
    }
    return LKS_OK;
}

/* What was read of the endpoint beats what the stack and the table say of the class. */
static bool switches(const struct lks_plan_cook *k, const struct lks_component *c,
                     const struct lks_firmware_update *update)
{
    bool usual =
        lks_str_is(c->banks, "ab") || (c->banks.len == 0 && lks_str_is(update->revert, "switch"));
    return usual && !lks_plan_one_bank(&k->recipe->kind, lks_component_bare(c->name));
}

/* Beside what runs, while the node is in use. Not where the endpoint needs nothing but its own
 * restart: many services have no way to hold such an image back, and apply it at once. */
static bool is_staged_early(const struct lks_firmware_update *update)
{
    return lks_str_is(update->staging, "running") && lks_str_is(update->banks, "two") &&
           !lks_str_is(update->reset, "bmc") && !lks_str_is(update->reset, "none");
}

/* What the stack says of its own part beats what the table knows of the class. */
static bool is_one_way(const struct lks_component *c, const struct lks_firmware_update *update)
{
    if (c != NULL && c->revert.len > 0)
        return lks_str_is(c->revert, "one-way");
    return update->one_way;
}

/* "firmware/cpld from 1 to 2", for messages. */
static struct lks_str move_text(struct lks_plan_cook *k, const struct lks_difference *d)
{
    return lks_plan_text(
        k->p, "%" LKS_STR_FMT " from %" LKS_STR_FMT " to %" LKS_STR_FMT, LKS_STR_ARG(d->subject),
        LKS_STR_ARG(d->from.len > 0 ? d->from : LKS_STR("an unread version")), LKS_STR_ARG(d->to));
}

/* The image that would revert a flash, which no verified bundle has. */
static struct lks_str missing_text(struct lks_plan_cook *k, const struct lks_difference *d)
{
    if (d->from.len == 0)
        return lks_plan_text(k->p, "the version of %" LKS_STR_FMT " before, which was not read",
                             LKS_STR_ARG(d->subject));
    return lks_plan_text(k->p, "%" LKS_STR_FMT " %" LKS_STR_FMT, LKS_STR_ARG(d->subject),
                         LKS_STR_ARG(d->from));
}

/* Whether a flash can be reverted, and what is missing for it. */
static enum lks_code find_revert(struct lks_plan_cook *k, struct lks_plan_work *work, bool never,
                                 const struct lks_plan_flash *flash)
{
    const struct lks_difference *d = work->list[0];
    bool missing = !never && flash->revert == LKS_BMC_UPDATE && flash->image_back.len == 0;
    work->one_way = never || missing;
    if (never)
        work->never = move_text(k, d);
    if (missing)
        work->missing = missing_text(k, d);
    bool memory = (!never || work->never.ptr != NULL) && (!missing || work->missing.ptr != NULL);
    return memory ? LKS_OK : lks_arena_fail(&k->p->out->memory, k->p->err);
}

static enum lks_code prepare_flash(struct lks_plan_cook *k, size_t layer)
{
    struct lks_plan_work *work = &k->layers.list[layer];
    struct lks_plan_flash *flash = &k->made[layer].flash;
    const struct lks_difference *d = work->list[0];
    const struct lks_component *c = lks_plan_component_of(k, d),
                               *was = lks_plan_component_in(k->from, d->subject);
    struct image there, back;
    if (check_alike(k, work) != LKS_OK || find_image(k, c, c, d->to, d->from, &there) != LKS_OK ||
        find_image(k, was != NULL ? was : c, was, d->from, d->to, &back) != LKS_OK)
        return k->p->err->code;
    if (there.artifact == NULL)
        return lks_fail(k->p->err, LKS_E_REFUSED,
                        "%" LKS_STR_FMT " %" LKS_STR_FMT ": no good bundle in the depot has it for "
                        "%" LKS_STR_FMT "; put it there with 'lockstep bundle push'",
                        LKS_STR_ARG(d->subject), LKS_STR_ARG(d->to),
                        LKS_STR_ARG(lks_plan_class(k)));
    *flash = (struct lks_plan_flash){.bundle = lks_str_from(there.bundle->digest),
                                     .image = there.artifact->digest,
                                     .bundle_back = NOTHING,
                                     .image_back = NOTHING,
                                     .revert = switches(k, c, work->update) ? LKS_BMC_SWITCH
                                                                            : LKS_BMC_UPDATE};
    if (back.artifact != NULL) {
        flash->bundle_back = lks_str_from(back.bundle->digest);
        flash->image_back = back.artifact->digest;
    }
    flash->staged = is_staged_early(work->update);
    return find_revert(k, work, is_one_way(c, work->update) || there.artifact->one_way, flash);
}

/* Who carries a layer out ------------------------------------------------------------------- */

/* The texts of a list: more of them, as in "driver nccl, dcgm". */
static enum lks_code add_text(struct lks_plan_cook *k, struct lks_str *list, struct lks_str text)
{
    if (text.len == 0)
        return LKS_OK;
    *list = list->len == 0 ? text
                           : lks_plan_text(k->p, "%" LKS_STR_FMT ", %" LKS_STR_FMT,
                                           LKS_STR_ARG(*list), LKS_STR_ARG(text));
    return list->ptr != NULL ? LKS_OK : lks_arena_fail(&k->p->out->memory, k->p->err);
}

/* Whether the orders of a layer can be reverted, and what is missing for it. */
static enum lks_code find_reverts(struct lks_plan_cook *k, size_t layer)
{
    struct lks_plan_work *work = &k->layers.list[layer];
    if (work->update != NULL && is_one_way(lks_plan_component_of(k, work->list[0]), work->update)) {
        work->never = move_text(k, work->list[0]);
        if (work->never.ptr == NULL)
            return lks_arena_fail(&k->p->out->memory, k->p->err);
    }
    for (size_t i = 0; i < k->made[layer].told_count; i++) {
        const struct lks_plan_told *told = &k->made[layer].told[i];
        if (add_text(k, &work->missing, told->step.missing) != LKS_OK ||
            (told->never && add_text(k, &work->never, told->step.component) != LKS_OK))
            return k->p->err->code;
    }
    work->one_way = work->never.len > 0 || work->missing.len > 0;
    return LKS_OK;
}

/* What an order takes up: firmware that comes along with the driver needs none. */
static enum lks_code prepare_orders(struct lks_plan_cook *k, size_t layer)
{
    struct lks_planning *p = k->p;
    struct lks_plan_work *work = &k->layers.list[layer];
    const struct lks_difference **ours = lks_plan_array(p, work->count, sizeof(*ours));
    size_t count = 0;
    if (ours == NULL)
        return p->err->code;
    for (size_t i = 0; i < work->count; i++) {
        if (work->update != NULL || work->list[i]->update == NULL)
            ours[count++] = work->list[i];
    }
    struct lks_plan_layer asked = lks_plan_layer_of(k);
    asked.from = k->from;
    asked.to = p->to;
    asked.differences = ours;
    asked.count = count;
    asked.firmware = work->update != NULL;
    if (lks_plan_orders(&asked, &p->out->memory, k->made[layer].told, &k->made[layer].told_count,
                        p->err) != LKS_OK)
        return p->err->code;
    return find_reverts(k, layer);
}

static enum lks_code prepare_firmware(struct lks_plan_cook *k, size_t layer)
{
    const struct lks_plan_work *work = &k->layers.list[layer];
    const struct lks_component *c = lks_plan_component_of(k, work->list[0]);
    struct lks_str transport = lks_plan_transport(c, work->update);
    k->made[layer].by_endpoint = by_endpoint(k, transport);
    if (k->made[layer].by_endpoint)
        return prepare_flash(k, layer);
    if (lks_plan_reached(k, transport))
        return prepare_orders(k, layer);
    return lks_fail(k->p->err, LKS_E_REFUSED,
                    "%" LKS_STR_FMT ": %" LKS_STR_FMT " goes by %" LKS_STR_FMT
                    ", and it has no management endpoint for that",
                    LKS_STR_ARG(lks_state_name(k->p->state, k->recipe->node)),
                    LKS_STR_ARG(work->list[0]->subject), LKS_STR_ARG(transport));
}

/* What the layer is, for messages: a class of firmware with its versions, or all software. */
static struct lks_str layer_text(struct lks_plan_cook *k, const struct lks_plan_work *work)
{
    struct lks_str what = work->update != NULL ? move_text(k, work->list[0]) : LKS_STR("software");
    return lks_plan_text(k->p, "%" LKS_STR_FMT " on %" LKS_STR_FMT, LKS_STR_ARG(what),
                         LKS_STR_ARG(lks_plan_class(k)));
}

/* Why the layer has no rollback: files that can still be pushed are named with their command. */
static struct lks_str no_rollback_text(struct lks_plan_cook *k, const struct lks_plan_work *work)
{
    if (work->never.len > 0)
        return lks_plan_text(k->p, "%" LKS_STR_FMT " on %" LKS_STR_FMT " is irreversible",
                             LKS_STR_ARG(work->never), LKS_STR_ARG(lks_plan_class(k)));
    return lks_plan_text(k->p,
                         "%" LKS_STR_FMT " could not be rolled back: no verified bundle of the "
                         "depot has %" LKS_STR_FMT "; push one with 'lockstep bundle push'",
                         LKS_STR_ARG(layer_text(k, work)), LKS_STR_ARG(work->missing));
}

/* An irreversible step is acknowledged, and there is a spare part for the day it fails. A step
 * whose files are missing is as irreversible once it is done, so it needs the same. */
static enum lks_code check_one_way(struct lks_plan_cook *k, const struct lks_plan_work *work)
{
    struct lks_planning *p = k->p;
    struct lks_str class = lks_plan_class(k), why = no_rollback_text(k, work);
    k->recipe->one_way = true;
    if (!p->wish.one_way)
        return lks_fail(p->err, LKS_E_REFUSED,
                        work->never.len > 0 ? "%" LKS_STR_FMT "; acknowledge that with --one-way "
                                              "(one_way in the API)"
                                            : "%" LKS_STR_FMT ", or do without the rollback: "
                                              "--one-way (one_way in the API)",
                        LKS_STR_ARG(why));
    if (work->update == NULL)
        return lks_plan_note(p, LKS_PLAN_ONE_WAY, "%" LKS_STR_FMT, LKS_STR_ARG(why));
    int64_t spares = p->fleet != NULL ? lks_fleet_spares(p->fleet, work->update->component) : 0;
    if (spares == 0 && p->fleet != NULL)
        spares = lks_fleet_spares(p->fleet, class);
    if (spares == 0)
        return lks_fail(
            p->err, LKS_E_REFUSED,
            "%" LKS_STR_FMT "; without a rollback a failed part is replaced by a spare, "
            "and the fleet's file counts no spares of %" LKS_STR_FMT " or %" LKS_STR_FMT,
            LKS_STR_ARG(why), LKS_STR_ARG(work->update->component), LKS_STR_ARG(class));
    if (spares < (int64_t)k->recipe->spares)
        k->recipe->spares = (uint32_t)spares;
    return lks_plan_note(p, LKS_PLAN_ONE_WAY,
                         "%" LKS_STR_FMT "; a failed part is replaced by a spare, of which there "
                         "%s %lld",
                         LKS_STR_ARG(why), spares == 1 ? "is" : "are", (long long)spares);
}

enum lks_code lks_plan_prepare(struct lks_plan_cook *k)
{
    for (size_t i = 0; i < k->layers.count; i++) {
        struct lks_plan_work *work = &k->layers.list[i];
        if ((work->update == NULL ? prepare_orders(k, i) : prepare_firmware(k, i)) != LKS_OK ||
            (work->one_way && check_one_way(k, work) != LKS_OK))
            return k->p->err->code;
    }
    return LKS_OK;
}
