/* Updates by management endpoints: which may begin, how far they are, and how they end. */
#include "core/actions/actions.h"
#include "core/conform/basis.h"
#include "core/firmware/endpoint.h"
#include "core/rows/flash.h"
#include "core/rows/registry.h"
#include "core/state/state.h"
#include "model/manifest/bundle.h"

#include <stdio.h>

enum { LIFE_MAX_HOURS = 24, WORD_BYTES_MAX = 127, PHASE_BYTES_MAX = 64 };
#define LIFE_MAX (3600 * LKS_SECOND * LIFE_MAX_HOURS)

/* What each act needs beside a component. */
static const struct {
    bool version, bundle, image, one_way;
} needs[LKS_BMC_ACT_COUNT] = {
    [LKS_BMC_UPDATE] = {.version = true, .bundle = true, .image = true, .one_way = true},
    [LKS_BMC_STAGE] = {.version = true, .bundle = true, .image = true, .one_way = true},
    [LKS_BMC_ACTIVATE] = {.version = true, .bundle = true, .one_way = true},
};

static struct lks_str text_of(const struct lks_deciding *d, lks_text text)
{
    return lks_state_text(d->state, text);
}

/* Beginning --------------------------------------------------------------------------------- */

static bool check_words(struct lks_deciding *d, const struct lks_rec_flash *f)
{
    if (f->act >= LKS_BMC_ACT_COUNT) {
        lks_decision_refuse(d, LKS_E_INVALID, "act: there is no such act");
        return false;
    }
    if (!lks_decision_line(d, "component", f->component, WORD_BYTES_MAX))
        return false;
    if ((needs[f->act].version || f->version.len > 0) &&
        !lks_decision_line(d, "version", f->version, WORD_BYTES_MAX))
        return false;
    return f->apply_time.len == 0 ||
           lks_decision_line(d, "apply_time", f->apply_time, WORD_BYTES_MAX);
}

static bool check_deadline(struct lks_deciding *d, lks_ms deadline)
{
    if (deadline <= d->now.wall)
        lks_decision_refuse(d, LKS_E_INVALID, "deadline: that time has passed");
    else if (deadline - d->now.wall > LIFE_MAX)
        lks_decision_refuse(d, LKS_E_INVALID, "deadline: at most %d hours from now",
                            LIFE_MAX_HOURS);
    else
        return true;
    return false;
}

/* That an update is irreversible is acknowledged before the first byte leaves. */
static bool check_one_way(struct lks_deciding *d, const struct lks_rec_flash *f)
{
    const struct lks_firmware_update *known = lks_facts_firmware(d->book->facts, f->component);
    if (!needs[f->act].one_way || f->one_way || known == NULL || !known->one_way)
        return true;
    lks_decision_refuse(d, LKS_E_REFUSED,
                        "%" LKS_STR_FMT " is irreversible (%" LKS_STR_FMT
                        "); acknowledge that with --one-way (one_way in the API)",
                        LKS_STR_ARG(f->component), LKS_STR_ARG(known->revert));
    return false;
}

/* What the manifest says -------------------------------------------------------------------- */

static bool is_for(const struct lks_bundle_artifact *a, const struct lks_rec_flash *f)
{
    return a->kind == LKS_BUNDLE_FIRMWARE && lks_str_eq(a->component, f->component) &&
           (f->version.len == 0 || lks_str_eq(a->version, f->version)) &&
           (f->image.len == 0 || lks_str_eq(a->digest, f->image));
}

static struct lks_str class_of(const struct lks_deciding *d, uint32_t node)
{
    const struct lks_node *n = &d->state->nodes[node];
    return text_of(d, n->asset != 0 ? n->asset : n->class);
}

static struct lks_str revision_of(const struct lks_deciding *d, uint32_t node)
{
    return text_of(d, d->state->nodes[node].hardware_revision);
}

/* The bundle has nothing for it; or the `named` ones that it has are for other hardware. */
static void refuse_none(struct lks_deciding *d, uint32_t node, const struct lks_rec_flash *f,
                        size_t named)
{
    struct lks_str revision = revision_of(d, node);
    if (named == 0)
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "bundle: %" LKS_STR_FMT " has no firmware for %" LKS_STR_FMT
                            "%s%" LKS_STR_FMT "%s",
                            LKS_STR_ARG(d->event->said->name), LKS_STR_ARG(f->component),
                            f->version.len > 0 ? " " : "", LKS_STR_ARG(f->version),
                            f->image.len > 0 ? " in that image" : "");
    else
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "bundle: what %" LKS_STR_FMT " has for %" LKS_STR_FMT "%s%" LKS_STR_FMT
                            " is for other hardware than %" LKS_STR_FMT ", which by the fleet's "
                            "file is of class %" LKS_STR_FMT ", revision %" LKS_STR_FMT,
                            LKS_STR_ARG(d->event->said->name), LKS_STR_ARG(f->component),
                            f->version.len > 0 ? " " : "", LKS_STR_ARG(f->version),
                            LKS_STR_ARG(d->event->name), LKS_STR_ARG(class_of(d, node)),
                            LKS_STR_ARG(revision.len > 0 ? revision : LKS_STR("unknown")));
}

/* What the bundle has for this component of this node; where several files are, it takes the
 * image's digest to tell. */
static const struct lks_bundle_artifact *find_artifact(struct lks_deciding *d, uint32_t node,
                                                       const struct lks_rec_flash *f)
{
    const struct lks_bundle *said = d->event->said;
    const struct lks_bundle_artifact *found = NULL;
    size_t named = 0, files = 0;
    for (size_t i = 0; i < said->count; i++) {
        const struct lks_bundle_artifact *a = &said->artifacts[i];
        if (!is_for(a, f))
            continue;
        named++;
        if (!lks_bundle_fits(a, class_of(d, node), revision_of(d, node)))
            continue;
        files += found == NULL || !lks_str_eq(found->digest, a->digest);
        found = a;
    }
    if (found == NULL)
        refuse_none(d, node, f, named);
    if (files <= 1 || !needs[f->act].image)
        return found;
    lks_decision_refuse(d, LKS_E_INVALID,
                        "image: the bundle has %zu for %" LKS_STR_FMT " %" LKS_STR_FMT
                        "; say which one, by its digest",
                        files, LKS_STR_ARG(f->component), LKS_STR_ARG(f->version));
    return NULL;
}

/* The bundle, if it was found good and was not revoked; NULL is a refusal. */
static const struct lks_state_bundle *good_bundle(struct lks_deciding *d, struct lks_str digest)
{
    const struct lks_state_bundle *bundle = lks_state_bundle(d->state, digest);
    if (digest.len == 0)
        lks_decision_refuse(d, LKS_E_INVALID, "bundle: say from which one, by its digest");
    else if (bundle == NULL)
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "bundle: no good verdict on %" LKS_STR_FMT
                            "; put it there with 'lockstep bundle push'",
                            LKS_STR_ARG(digest));
    else if (bundle->revoked != 0)
        lks_decision_refuse(d, LKS_E_REFUSED, "bundle: %" LKS_STR_FMT " was revoked: %" LKS_STR_FMT,
                            LKS_STR_ARG(text_of(d, bundle->name)),
                            LKS_STR_ARG(text_of(d, bundle->revoked_reason)));
    else
        return bundle;
    return NULL;
}

/* The one version that the manifest has for the component of this node; empty is a refusal. */
static struct lks_str only_version(struct lks_deciding *d, uint32_t node,
                                   const struct lks_rec_flash *f)
{
    const struct lks_bundle *said = d->event->said;
    struct lks_str found = LKS_STR("");
    size_t named = 0;
    for (size_t i = 0; i < said->count; i++) {
        const struct lks_bundle_artifact *a = &said->artifacts[i];
        if (!is_for(a, f))
            continue;
        named++;
        if (!lks_bundle_fits(a, class_of(d, node), revision_of(d, node)))
            continue;
        if (found.len > 0 && !lks_str_eq(a->version, found)) {
            lks_decision_refuse(d, LKS_E_INVALID,
                                "version: the bundle has %" LKS_STR_FMT " %" LKS_STR_FMT
                                " and %" LKS_STR_FMT "; say which one with --to (version in the "
                                "API)",
                                LKS_STR_ARG(f->component), LKS_STR_ARG(found),
                                LKS_STR_ARG(a->version));
            return LKS_STR("");
        }
        found = a->version;
    }
    if (found.len == 0)
        refuse_none(d, node, f, named);
    return found;
}

/* A request without a version means the one of its bundle. */
static bool take_version(struct lks_deciding *d, uint32_t node, struct lks_rec_flash *f)
{
    if (f->act >= LKS_BMC_ACT_COUNT || !needs[f->act].version || f->version.len > 0 ||
        f->component.len == 0 || f->bundle.len == 0)
        return true; /* what is missing is refused with the other words */
    if (good_bundle(d, f->bundle) == NULL)
        return false;
    if (d->event->said != NULL)
        f->version = only_version(d, node, f);
    else
        lks_decision_refuse(d, LKS_E_REFUSED, "bundle: its manifest could not be read");
    return f->version.len > 0;
}

/* Whether it may follow what was read to run there; where nothing was read it may not. */
static bool may_follow(const struct lks_deciding *d, uint32_t node,
                       const struct lks_bundle_artifact *a)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple read = {0};
    const struct lks_node *n = &d->state->nodes[node];
    struct lks_str basis = lks_state_readings(d->state, n->outband);
    char name[LKS_READING_NAME_MAX + 1];
    struct lks_err err = {0};
    size_t count = 0, known = 0;
    if (lks_decide_tuple_expired(d, n->outband_taken) ||
        lks_basis_parse(basis, &read, &err) != LKS_OK)
        return false;
    snprintf(name, sizeof(name), "firmware/%" LKS_STR_FMT, LKS_STR_ARG(a->component));
    const struct lks_reading *r = lks_tuple_range(&read, lks_str_from(name), &count);
    for (size_t i = 0; i < count; i++) {
        if (r[i].state != LKS_MEASURED)
            continue;
        if (!lks_bundle_follows(d->book->facts, a, r[i].value))
            return false;
        known++;
    }
    return known > 0;
}

static bool check_said(struct lks_deciding *d, uint32_t node, const struct lks_rec_flash *f,
                       const struct lks_bundle_artifact *a)
{
    if (a->one_way && needs[f->act].one_way && !f->one_way)
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "the bundle declares as irreversible: %" LKS_STR_FMT " %" LKS_STR_FMT
                            "; acknowledge that with --one-way (one_way in the API)",
                            LKS_STR_ARG(f->component), LKS_STR_ARG(f->version));
    else if (a->from != NULL && needs[f->act].image && !f->force && !may_follow(d, node, a))
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "the bundle does not say that %" LKS_STR_FMT " %" LKS_STR_FMT
                            " may follow what %" LKS_STR_FMT
                            " runs, or that was not read yet; force does it all the same",
                            LKS_STR_ARG(f->component), LKS_STR_ARG(f->version),
                            LKS_STR_ARG(d->event->name));
    else
        return true;
    return false;
}

/* Promise 9: only bits that a good bundle names, and that are in the depot. */
static bool check_image(struct lks_deciding *d, const struct lks_state_bundle *bundle,
                        struct lks_rec_flash *f)
{
    const struct lks_state_artifact *artifact = lks_state_artifact(d->state, f->image);
    if (!lks_state_bundle_names(d->state, bundle, f->image)) {
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "image: %" LKS_STR_FMT " is not in bundle %" LKS_STR_FMT,
                            LKS_STR_ARG(f->image), LKS_STR_ARG(f->bundle));
        return false;
    }
    if (artifact == NULL) {
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "image: %" LKS_STR_FMT
                            " is not in the depot; put it there with 'lockstep bundle push'",
                            LKS_STR_ARG(f->image));
        return false;
    }
    f->size = artifact->size;
    if (f->image_name.len == 0)
        f->image_name = text_of(d, artifact->name);
    return true;
}

/* The bundle is good: is what it has for this component right for this node? */
static bool check_artifact(struct lks_deciding *d, uint32_t node, bool planned,
                           const struct lks_state_bundle *bundle, struct lks_rec_flash *f)
{
    if (f->image.len > 0 && !check_image(d, bundle, f))
        return false;
    if (planned) /* the planner compared its manifest with the node */
        return true;
    if (d->event->said == NULL) {
        lks_decision_refuse(d, LKS_E_REFUSED, "bundle: its manifest could not be read");
        return false;
    }
    const struct lks_bundle_artifact *a = find_artifact(d, node, f);
    if (a == NULL || !check_said(d, node, f, a))
        return false;
    if (!needs[f->act].image || f->image.len > 0)
        return true;
    f->image = a->digest;
    return check_image(d, bundle, f);
}

static bool check_bundle(struct lks_deciding *d, uint32_t node, bool planned,
                         struct lks_rec_flash *f)
{
    if (!needs[f->act].bundle && f->bundle.len == 0)
        return true;
    const struct lks_state_bundle *bundle = good_bundle(d, f->bundle);
    if (bundle == NULL)
        return false;
    return needs[f->act].bundle ? check_artifact(d, node, planned, bundle, f)
                                : f->image.len == 0 || check_image(d, bundle, f);
}

bool lks_decide_flash_other_side(const struct lks_node *a, const struct lks_node *b)
{
    if (a->side == 0 || b->side == 0 || a->side == b->side || !b->placed)
        return false;
    if (a->domain != 0 || b->domain != 0)
        return a->domain == b->domain;
    return a->rack != 0 && a->rack == b->rack && a->site == b->site;
}

/* The update of the redundant peer that has not ended, one that this decision starts included, and
 * whose it is; 0: there is none. */
static uint64_t side_update(const struct lks_deciding *d, uint32_t node, uint32_t *of)
{
    const struct lks_state *s = d->state;
    const struct lks_node *n = &s->nodes[node];
    for (uint32_t i = n->side != 0 ? s->flash_count : 0; i-- > 0;) {
        const struct lks_state_flash *f = &s->flashes[i];
        if (!lks_state_flash_over(f) && lks_decide_flash_other_side(n, &s->nodes[f->node])) {
            *of = f->node;
            return f->id;
        }
    }
    for (size_t i = n->side != 0 && d->next_flash > s->next_flash ? d->out->count : 0; i-- > 0;) {
        const struct lks_record *r = &d->out->records[i];
        uint32_t other =
            r->kind == LKS_RECORD_FLASH ? lks_state_node(s, r->flash.node) : LKS_NO_NODE;
        if (other != LKS_NO_NODE && lks_decide_flash_other_side(n, &s->nodes[other])) {
            *of = other;
            return r->flash.id;
        }
    }
    return 0;
}

bool lks_decide_flash_side_busy(const struct lks_deciding *d, uint32_t node)
{
    uint32_t other = 0;
    return side_update(d, node, &other) != 0;
}

/* Promise 6: both sides are never down together. */
static bool check_side(struct lks_deciding *d, uint32_t node)
{
    uint32_t other = 0;
    uint64_t id = side_update(d, node, &other);
    if (id != 0)
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "%" LKS_STR_FMT " is the redundant peer, and its update %llu is not "
                            "finished",
                            LKS_STR_ARG(lks_state_name(d->state, other)), (unsigned long long)id);
    return id == 0;
}

bool lks_decide_flash_unflashed(struct lks_deciding *d, uint32_t node)
{
    const struct lks_state_flash *f = lks_state_flashing(d->state, node);
    struct lks_str name = lks_state_name(d->state, node);
    if (f == NULL)
        return true;
    if (f->outcome == LKS_BMC_OPEN)
        lks_decision_refuse(
            d, LKS_E_REFUSED, "%" LKS_STR_FMT ": update %llu of %" LKS_STR_FMT " is in progress",
            LKS_STR_ARG(name), (unsigned long long)f->id, LKS_STR_ARG(text_of(d, f->component)));
    else
        lks_decision_refuse(
            d, LKS_E_REFUSED,
            "%" LKS_STR_FMT ": update %llu of %" LKS_STR_FMT
            " has an unknown outcome; inspect it, then: lockstep node resolve %" LKS_STR_FMT,
            LKS_STR_ARG(name), (unsigned long long)f->id, LKS_STR_ARG(text_of(d, f->component)),
            LKS_STR_ARG(name));
    return false;
}

/* Staging beside what runs does not disturb the node: a plan does that while the node is in
 * service. */
static bool check_node(struct lks_deciding *d, uint32_t node, bool beside)
{
    const struct lks_node *n = &d->state->nodes[node];
    struct lks_str name = lks_state_name(d->state, node);
    struct lks_endpoint endpoint = {0};
    if (!lks_endpoint_find(d->book, name, &endpoint))
        lks_decision_refuse(d, LKS_E_REFUSED, "%" LKS_STR_FMT " has no management endpoint",
                            LKS_STR_ARG(name));
    else if (n->changing == 0 && !beside)
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "%" LKS_STR_FMT
                            " is outside a change; nothing is updated there before it is in one",
                            LKS_STR_ARG(name));
    else if (n->pending > 0)
        lks_decision_refuse(d, LKS_E_REFUSED, "%" LKS_STR_FMT " has not answered a command yet",
                            LKS_STR_ARG(name));
    else
        return lks_decide_flash_unflashed(d, node) && check_side(d, node) &&
               (beside || lks_decide_command_quiet(d, node));
    return false;
}

/* A plan has a step that drains the node. Staging, or giving up a staged image, disrupts nothing.
 */
static bool check_empty(struct lks_deciding *d, uint32_t node, bool planned, enum lks_bmc_act act)
{
    return planned || act == LKS_BMC_STAGE || act == LKS_BMC_ABORT ||
           lks_decide_hand_drained(d, node);
}

/* What was read of it is over: it is about to become something else. */
bool lks_decide_flash_issue(struct lks_deciding *d, uint32_t node, struct lks_rec_flash flash,
                            bool planned)
{
    const struct lks_state *s = d->state;
    bool beside = planned && (flash.act == LKS_BMC_STAGE || flash.act == LKS_BMC_ABORT);
    if (!check_words(d, &flash) || !check_deadline(d, flash.deadline) ||
        !check_node(d, node, beside) || !check_one_way(d, &flash) ||
        !check_bundle(d, node, planned, &flash) ||
        !check_empty(d, node, planned, (enum lks_bmc_act)flash.act))
        return false;
    if (s->flashes_open + (d->next_flash - s->next_flash) >= LKS_STATE_FLASHES_MAX) {
        lks_decision_refuse(d, LKS_E_LIMIT, "%d updates are in progress, which is the most",
                            LKS_STATE_FLASHES_MAX);
        return false;
    }
    lks_decide_outband_over(d, node, LKS_STR("an update of its firmware starts"));
    flash.id = d->next_flash++;
    flash.node = lks_state_name(s, node);
    lks_decision_add(d, LKS_RECORD_FLASH)->flash = flash;
    return true;
}

void lks_decide_flash(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    uint32_t node = LKS_NO_NODE;
    struct lks_rec_flash flash = e->flash;
    if (!lks_decision_reason(d) || !lks_decision_node(d, &node) || !take_version(d, node, &flash) ||
        !check_words(d, &flash) || !check_deadline(d, flash.deadline))
        return;
    flash.by = e->by;
    flash.reason = lks_str_trim(e->reason);
    bool begins = flash.act != LKS_BMC_ABORT;
    if (begins && (!lks_decide_hand_thaws(d, node) || !lks_decide_hand_pins_flash(d, node, &flash)))
        return;
    lks_decision_touch(d, node);
    (void)lks_decide_flash_issue(d, node, flash, false);
}

/* On its way -------------------------------------------------------------------------------- */

/* Whether there is such an update, or was one; refused where there never was. */
static bool was_begun(struct lks_deciding *d, uint64_t id)
{
    if (id > 0 && id < d->state->next_flash)
        return true;
    lks_decision_refuse(d, LKS_E_NOT_FOUND, "there was never an update %llu",
                        (unsigned long long)id);
    return false;
}

void lks_decide_flash_saved(struct lks_deciding *d)
{
    const struct lks_rec_flash_saved *e = &d->event->flash_saved;
    const struct lks_state_flash *f = lks_state_flash(d->state, e->id);
    if (!was_begun(d, e->id))
        return;
    if (f == NULL || f->outcome != LKS_BMC_OPEN)
        lks_decision_refuse(d, LKS_E_REFUSED, "update %llu has ended", (unsigned long long)e->id);
    else if (f->revoked)
        lks_decision_refuse(d, LKS_E_REFUSED, "the bundle of update %llu was revoked",
                            (unsigned long long)e->id);
    else if (e->saved.len > LKS_FLASH_SAVED_MAX)
        lks_decision_refuse(d, LKS_E_LIMIT, "what is saved of an update has at most %zu bytes",
                            LKS_FLASH_SAVED_MAX);
    else if (e->phase.len > PHASE_BYTES_MAX || !lks_str_printable(e->phase) || e->percent > 100)
        lks_decision_refuse(d, LKS_E_INVALID, "no phase that an update can be in");
    else
        lks_decision_add(d, LKS_RECORD_FLASH_SAVED)->flash_saved = *e;
}

/* A text that a device chose, as one printable line: nothing a device says keeps its update from
 * ending. */
static struct lks_str as_line(struct lks_deciding *d, struct lks_str text, size_t max)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = {0};
    enum { RUNE_BYTES_MAX = 4 };
    if (text.len <= max && lks_str_printable(text))
        return text;
    lks_buf_init(&line, max);
    for (size_t i = 0, n = 0; i < text.len && line.len + RUNE_BYTES_MAX <= max; i += n) {
        uint32_t point = 0;
        n = lks_str_rune(text, i, &point);
        bool prints = n > 0 && lks_str_rune_printable(point);
        n = n > 0 ? n : 1;
        lks_buf_add(&line, prints ? (struct lks_str){text.ptr + i, n} : LKS_STR("?"));
    }
    return lks_decision_copy(d, lks_buf_view(&line));
}

/* The node's own readings are from before the update, as its endpoint's were that ended with its
 * start. An update that was only staged, or changed nothing, leaves them valid. */
static bool ends_readings(const struct lks_state_flash *f, uint64_t outcome)
{
    return f->act != LKS_BMC_STAGE && f->act != LKS_BMC_ABORT &&
           (outcome == LKS_BMC_DONE || outcome == LKS_BMC_FAILED || outcome == LKS_BMC_UNKNOWN);
}

static void end(struct lks_deciding *d, const struct lks_state_flash *f,
                struct lks_rec_flash_ended ended)
{
    struct lks_str name = lks_state_name(d->state, f->node);
    ended.id = f->id;
    ended.node = name;
    ended.found = as_line(d, ended.found, WORD_BYTES_MAX);
    ended.text = as_line(d, ended.text, LKS_REASON_MAX);
    lks_decision_add(d, LKS_RECORD_FLASH_ENDED)->flash_ended = ended;
    if (ends_readings(f, ended.outcome))
        lks_decide_tuple_over(d, f->node);
    if (ended.outcome == LKS_BMC_UNKNOWN)
        (void)lks_decision_alarm(
            d, LKS_ALARM_FLASH, name,
            lks_decision_text(
                d, "update %llu of %" LKS_STR_FMT " has an unknown outcome: %" LKS_STR_FMT,
                (unsigned long long)f->id, LKS_STR_ARG(text_of(d, f->component)),
                LKS_STR_ARG(ended.text)));
}

/* An end that is said again is welcome and no news. */
void lks_decide_flash_ended(struct lks_deciding *d)
{
    const struct lks_rec_flash_ended *e = &d->event->flash_ended;
    const struct lks_state_flash *f = lks_state_flash(d->state, e->id);
    if (!was_begun(d, e->id))
        return;
    if (e->outcome == LKS_BMC_OPEN || e->outcome >= LKS_BMC_OUTCOME_COUNT)
        lks_decision_refuse(d, LKS_E_INVALID, "no outcome that an update can have");
    else if (f != NULL && f->outcome == LKS_BMC_OPEN)
        end(d, f, *e);
}

/* Why, and what may be there. */
static struct lks_str revoked_text(struct lks_deciding *d, const struct lks_state_flash *f)
{
    const struct lks_state_bundle *bundle = lks_state_bundle(d->state, text_of(d, f->bundle));
    struct lks_str why = bundle != NULL ? text_of(d, bundle->revoked_reason) : LKS_STR("");
    if (f->saved == NULL)
        return lks_decision_text(d, "its bundle was revoked: %" LKS_STR_FMT, LKS_STR_ARG(why));
    return lks_decision_text(d,
                             "its bundle was revoked: %" LKS_STR_FMT " (it was %" LKS_STR_FMT
                             "; %" LKS_STR_FMT " %" LKS_STR_FMT " may be staged there, or run)",
                             LKS_STR_ARG(why), LKS_STR_ARG(text_of(d, f->phase)),
                             LKS_STR_ARG(text_of(d, f->component)),
                             LKS_STR_ARG(text_of(d, f->version)));
}

/* Where nothing was kept nothing was sent. */
static void give_up(struct lks_deciding *d, const struct lks_state_flash *f)
{
    bool sent = f->saved != NULL;
    struct lks_rec_flash_ended ended = {.outcome = sent ? LKS_BMC_UNKNOWN : LKS_BMC_FAILED,
                                        .found = LKS_STR("")};
    if (f->revoked) {
        ended.outcome = sent ? LKS_BMC_UNKNOWN : LKS_BMC_REFUSED;
        ended.text = revoked_text(d, f);
    } else if (sent) {
        ended.text = LKS_STR("its deadline passed without a result");
    } else {
        ended.text = LKS_STR("its deadline passed before anything was sent");
    }
    end(d, f, ended);
}

/* One that its driver should have ended long ago, or whose bundle was revoked. */
void lks_decide_flash_tick(struct lks_deciding *d)
{
    const struct lks_state *s = d->state;
    if (s->flashes_open == 0 || d->now.wall < s->flashes_due)
        return;
    for (uint32_t i = 0; i < s->flash_count; i++) {
        const struct lks_state_flash *f = &s->flashes[i];
        if (f->outcome != LKS_BMC_OPEN || d->now.wall < lks_state_flash_due(f))
            continue;
        if (!lks_deciding_room(d))
            return;
        give_up(d, f);
    }
}

/* A person looked --------------------------------------------------------------------------- */

/* By the node's name: one that is unknown keeps every other from beginning, so there is one. */
void lks_decide_flash_resolve(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    uint32_t node = LKS_NO_NODE;
    if (!lks_decision_reason(d) || !lks_decision_node(d, &node))
        return;
    const struct lks_state_flash *f = lks_state_flashing(d->state, node);
    if (f == NULL)
        lks_decision_refuse(d, LKS_E_REFUSED, "no update of %" LKS_STR_FMT " waits for a person",
                            LKS_STR_ARG(e->name));
    else if (f->outcome == LKS_BMC_OPEN)
        (void)lks_decide_flash_unflashed(d, node);
    else {
        lks_decision_add(d, LKS_RECORD_FLASH_RESOLVED)->flash_resolved =
            (struct lks_rec_flash_resolved){.id = f->id,
                                            .node = lks_state_name(d->state, node),
                                            .by = e->by,
                                            .reason = lks_str_trim(e->reason)};
        lks_decision_alarm_over(d, LKS_ALARM_FLASH, e->name, lks_str_trim(e->reason));
    }
}
