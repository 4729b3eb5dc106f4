/* What the survey leads to: a refusal, or the first request that changes something. */
#include "drivers/bmc/bmc_version.h"
#include "drivers/bmc/redfish_update.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define APPLY_NOW   "Immediate"
#define APPLY_LATER "OnReset"

const char *const lks_redfish_way_words[] = {
    "", "MultipartHttpPushUri", "HttpPushUri", "HttpPushUri (form)", "SimpleUpdate", NULL,
};

/* The last row is for everyone else. */
static const struct lks_redfish_manners manners[] = {
    {"nvidia", LKS_RF_TARGETS_LIST, .later = APPLY_NOW, .force = true, .stage_option = true},
    {"openbmc", LKS_RF_TARGETS_ONE, .later = APPLY_LATER},
    {"dell", LKS_RF_TARGETS_EMPTY, .later = APPLY_LATER, .bios = APPLY_LATER, .empty_oem = true},
    {"supermicro", LKS_RF_TARGETS_RELATED, .later = APPLY_LATER, .bios = "OnStartUpdateRequest",
     .bios_target = "/redfish/v1/Systems/1/Bios", .bmc_target = "/redfish/v1/Managers/1",
     .preserve = true},
    {"hpe", LKS_RF_TARGETS_OMIT, .later = APPLY_LATER, .forgets_tasks = true},
    {"lenovo", LKS_RF_TARGETS_OMIT, .later = APPLY_LATER, .force = true, .all_protected = true},
    {"ami", LKS_RF_TARGETS_LIST, .later = APPLY_LATER, .force = true, .match_any = true},
    {"", LKS_RF_TARGETS_LIST, .later = APPLY_LATER, .force = true},
};

const struct lks_redfish_manners *lks_redfish_manners(const char *vendor)
{
    size_t i = 0;
    while (i + 1 < LKS_COUNT(manners) && strcmp(manners[i].vendor, vendor) != 0)
        i++;
    return &manners[i];
}

/* Refusals ---------------------------------------------------------------------------------- */

static void refuse(struct lks_redfish_update *u, lks_ms now, const char *fmt, ...) LKS_PRINTF(3, 4);
static void refuse(struct lks_redfish_update *u, lks_ms now, const char *fmt, ...)
{
    char text[sizeof(u->text)];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    lks_redfish_end(u, now, LKS_BMC_REFUSED, "%s", text);
}

/* Nothing of that name, or nothing that may be updated. */
static bool refuse_targets(struct lks_redfish_update *u, lks_ms now)
{
    if (u->listed_over || (u->miscounted && !u->by_id))
        refuse(u, now,
               "the inventory is too long, or not all of it is listed, to be sure which entries "
               "belong to %s; name one entry by its id",
               u->component);
    else if (u->unreadable > 0)
        refuse(u, now, "%s, and it belongs to %s", u->refused_why, u->component);
    else if (u->target_count == 0 && u->refused_entries > 0)
        refuse(u, now, "%s", u->refused_why);
    else if (u->target_count == 0)
        refuse(u, now, "the inventory has no entry %s, neither as a class nor as an id",
               u->component);
    else
        return false;
    return true;
}

static bool refuse_version(struct lks_redfish_update *u, lks_ms now)
{
    enum lks_version_scheme scheme = lks_facts_scheme(u->facts, lks_str_from(u->kind));
    struct lks_str wanted = lks_str_from(u->version);
    for (size_t i = 0; i < u->target_count && !u->force; i++) {
        const struct lks_redfish_target *t = &u->targets[i];
        if (lks_bmc_version_older(wanted, lks_str_from(t->version), scheme)) {
            refuse(u, now, "%s is older than %s, which %s has; ask for it with force", u->version,
                   t->version, t->key);
            return true;
        }
    }
    return false;
}

/* Without a class nothing is known of how it is updated, what it costs and how it comes to run: the
 * image would be sent and the end of it be unknown. */
static bool refuse_class(struct lks_redfish_update *u, lks_ms now)
{
    if (u->kind[0] != '\0')
        return false;
    refuse(u, now, LKS_REDFISH_NO_CLASS, u->component);
    return true;
}

/* Whichever way it would come to run, with force, too. */
static bool refuse_lowest(struct lks_redfish_update *u, lks_ms now)
{
    enum lks_version_scheme scheme = lks_facts_scheme(u->facts, lks_str_from(u->kind));
    if (u->act == LKS_BMC_ABORT ||
        !lks_bmc_version_older(lks_str_from(u->version), lks_str_from(u->lowest), scheme))
        return false;
    refuse(u, now, "%s is below %s, the lowest version the device supports", u->version, u->lowest);
    return true;
}

static bool refuse_one_way(struct lks_redfish_update *u, lks_ms now)
{
    const struct lks_firmware_update *row = lks_facts_firmware(u->facts, lks_str_from(u->kind));
    if (row == NULL || !row->one_way || u->one_way)
        return false;
    refuse(u, now,
           "a new version of %s is irreversible; acknowledge that with --one-way (in the "
           "API: one_way)",
           u->component);
    return true;
}

/* How the image gets there: what is pushed is checked here and now, so a push comes first. */
static enum lks_redfish_way choose_way(const struct lks_redfish_update *u)
{
    if (u->multipart[0] != '\0')
        return LKS_RF_MULTIPART;
    if (u->push[0] != '\0')
        return lks_str_ends(lks_str_from(u->push), "/cgi-bin/uploadFile") ? LKS_RF_FORM
                                                                          : LKS_RF_PUSH;
    return u->simple[0] != '\0' && u->pull[0] != '\0' ? LKS_RF_PULL : LKS_RF_NO_WAY;
}

static bool refuse_way(struct lks_redfish_update *u, lks_ms now)
{
    u->way = choose_way(u);
    if (u->way == LKS_RF_NO_WAY && u->simple[0] != '\0')
        refuse(u, now,
               "the service only fetches images itself (SimpleUpdate); set bmc.pull, or give "
               "--pull");
    else if (u->way == LKS_RF_NO_WAY)
        refuse(u, now, "the UpdateService offers no way to send it an image");
    else if (u->way == LKS_RF_FORM && u->r.basic)
        refuse(u, now, "the upload form of this service needs a session, and it has none");
    else if (u->way == LKS_RF_PUSH && u->push_busy)
        refuse(u, now, "another client has taken the upload (HttpPushUriTargetsBusy)");
    else if (u->size_max > 0 && u->image_size > u->size_max)
        refuse(u, now,
               "the image has %" PRIu64 " bytes and the service takes %" PRIu64
               " (MaxImageSizeBytes)",
               u->image_size, u->size_max);
    else
        return false;
    return true;
}

/* Apply time -------------------------------------------------------------------------------- */

static bool offers(const struct lks_redfish_update *u, const char *apply)
{
    for (unsigned i = 0; lks_redfish_apply_words[i] != NULL; i++) {
        if (strcmp(lks_redfish_apply_words[i], apply) == 0)
            return u->applies == 0 || (u->applies & (1U << i)) != 0;
    }
    return false;
}

/* Staging must not activate: "Immediate" does, unless the service is told by another word. */
static bool would_activate(const struct lks_redfish_update *u, const char *apply)
{
    return u->act == LKS_BMC_STAGE && strcmp(apply, APPLY_NOW) == 0 &&
           !lks_redfish_manners(u->r.vendor)->stage_option;
}

static const char *usual_apply(const struct lks_redfish_update *u)
{
    const struct lks_redfish_manners *m = lks_redfish_manners(u->r.vendor);
    bool bios = strcmp(u->kind, "bios") == 0;
    const char *apply = u->act == LKS_BMC_STAGE   ? m->later
                        : bios && m->bios != NULL ? m->bios
                                                  : APPLY_NOW;
    if (strcmp(apply, "OnStartUpdateRequest") == 0 && u->start[0] == '\0')
        apply = APPLY_NOW;
    for (unsigned i = 0; !offers(u, apply) && lks_redfish_apply_words[i] != NULL; i++) {
        if (offers(u, lks_redfish_apply_words[i]) && !would_activate(u, lks_redfish_apply_words[i]))
            apply = lks_redfish_apply_words[i];
    }
    return apply;
}

/* A form, and a push without options, have no word for when: what needs no restart of the host is
 * then applied as soon as it is there. */
static bool applies_at_once(const struct lks_redfish_update *u)
{
    const struct lks_firmware_update *row = lks_facts_firmware(u->facts, lks_str_from(u->kind));
    bool itself = row != NULL && (lks_str_is(row->reset, "bmc") || lks_str_is(row->reset, "none"));
    return itself && (u->way == LKS_RF_FORM || (u->way == LKS_RF_PUSH && !u->push_targets));
}

static bool refuse_apply(struct lks_redfish_update *u, lks_ms now)
{
    const char *apply = u->apply_wish[0] != '\0' ? u->apply_wish : usual_apply(u);
    snprintf(u->apply, sizeof(u->apply), "%s", apply);
    if (would_activate(u, apply))
        refuse(u, now, "the apply time %s would activate it, and it is only to be staged", apply);
    else if (!offers(u, apply))
        refuse(u, now, "the service does not offer the apply time %s", apply);
    else if (strcmp(apply, "OnStartUpdateRequest") == 0 && u->start[0] == '\0')
        refuse(u, now, "the service offers no StartUpdate, which the apply time %s needs", apply);
    else if (u->act == LKS_BMC_STAGE && applies_at_once(u))
        refuse(u, now, "the service offers no way to stage %s: it would apply it at once",
               u->component);
    else
        return false;
    return true;
}

/* The plan ---------------------------------------------------------------------------------- */

static bool brings_image(const struct lks_redfish_update *u)
{
    return u->act == LKS_BMC_UPDATE || u->act == LKS_BMC_STAGE;
}

/* An image that is staged already, by any client, needs no way to get there, and nothing else less.
 */
static bool refuse_update(struct lks_redfish_update *u, lks_ms now)
{
    bool there = lks_redfish_reached(u) == u->target_count;
    return refuse_version(u, now) || refuse_one_way(u, now) ||
           (!there && (refuse_way(u, now) || refuse_apply(u, now)));
}

void lks_redfish_plan(struct lks_redfish_update *u, lks_ms now)
{
    if (!u->enabled) {
        refuse(u, now, "the UpdateService is switched off (ServiceEnabled is false)");
        return;
    }
    if (refuse_targets(u, now))
        return;
    u->expected = u->target_count;
    u->had = lks_redfish_agreeing(u);
    u->had_reached = lks_redfish_reached(u);
    lks_redfish_hash_entries(u, u->entries);
    u->firmware_only = !u->software_too;
    snprintf(u->before, sizeof(u->before), "%s", u->targets[0].version);
    if (u->version[0] == '\0' && u->act == LKS_BMC_ABORT && u->bank_count > 0)
        snprintf(u->version, sizeof(u->version), "%s", u->banks[0].version);
    if (u->version[0] == '\0' && u->act == LKS_BMC_SWITCH)
        snprintf(u->version, sizeof(u->version), "%s", u->backup);
    bool all = lks_redfish_agreeing(u) == u->target_count;
    if (all && u->act != LKS_BMC_ABORT) {
        lks_redfish_end(u, now, LKS_BMC_SAME, "%s runs %s already", u->component, u->before);
        return;
    }
    if ((u->act != LKS_BMC_ABORT && refuse_class(u, now)) || refuse_lowest(u, now) ||
        (brings_image(u) && refuse_update(u, now)) ||
        (u->act == LKS_BMC_ACTIVATE && refuse_one_way(u, now)))
        return;
    lks_redfish_walk_tasks(u, now);
}

static void begin_image(struct lks_redfish_update *u, lks_ms now)
{
    bool staged = lks_redfish_reached(u) == u->target_count;
    if (staged && u->act == LKS_BMC_STAGE)
        lks_redfish_end(u, now, LKS_BMC_STAGED, "%s was staged already", u->version);
    else if (staged)
        lks_redfish_activate(u, now);
    else if (u->way == LKS_RF_PUSH && u->push_targets)
        lks_conversation_go(&u->r.head, LKS_RF_PATCH, now);
    else
        lks_redfish_send_upload(u, now);
}

void lks_redfish_begin_act(struct lks_redfish_update *u, lks_ms now)
{
    static void (*const acts[LKS_BMC_ACT_COUNT])(struct lks_redfish_update * u, lks_ms now) = {
        [LKS_BMC_UPDATE] = begin_image,
        [LKS_BMC_STAGE] = begin_image,
        [LKS_BMC_ACTIVATE] = lks_redfish_activate,
        [LKS_BMC_ABORT] = lks_redfish_cancel,
        [LKS_BMC_SWITCH] = lks_redfish_switch,
    };
    if (u->running[0] != '\0' && u->act != LKS_BMC_ABORT) {
        refuse(u, now, "an update is running there already, or may be: %s", u->running);
        return;
    }
    LKS_ASSERT(u->act < LKS_BMC_ACT_COUNT);
    acts[u->act](u, now);
}
