#include "codec/notation/version.h"
#include "lab/bmcsim/parts.h"

#include <stdio.h>

const char *const lks_bmcsim_manager_types[] = {"GracefulRestart", "ForceRestart", NULL};
const char *const lks_bmcsim_system_types[] = {"On",
                                               "ForceOff",
                                               "GracefulShutdown",
                                               "GracefulRestart",
                                               "ForceRestart",
                                               "PowerCycle",
                                               "FullPowerCycle",
                                               "Nmi",
                                               "PushPowerButton",
                                               NULL};
const char *const lks_bmcsim_chassis_types[] = {"PowerCycle", NULL};

#define SHUTDOWN 30 /* seconds that a host takes to go off by itself */

static void copy_version(char out[LKS_BMCSIM_VERSION_SIZE], const char *version)
{
    (void)snprintf(out, LKS_BMCSIM_VERSION_SIZE, "%s", version);
}

/* Whether a reset makes a staged image of this unit run. */
static bool activates(enum lks_bmcsim_reset reset, const struct lks_bmcsim_unit *u)
{
    return reset == LKS_RESET_AC || u->row->reset == reset;
}

void lks_bmcsim_reset_activate(struct lks_bmcsim *b, uint64_t units, enum lks_bmcsim_reset reset)
{
    for (unsigned i = 0; i < b->unit_count; i++) {
        struct lks_bmcsim_unit *u = &b->units[i];
        if ((units >> i & 1U) == 0 || u->staged[0] == '\0' || u->held || u->bricked ||
            u->activating || !activates(reset, u))
            continue;
        u->activating = true;
        u->activated = b->now + lks_bmcsim_span(b, u->row->activating);
        if (u->row->reset == LKS_RESET_BMC && u->activated > b->boot_ends)
            b->boot_ends = u->activated;
    }
}

static void restart_bmc(struct lks_bmcsim *b)
{
    lks_bmcsim_job_abort(b);
    b->boot_ends = b->now + lks_bmcsim_span(b, b->kind->boot);
    if (b->boot_ends == b->now) /* at once; 0 would mean that it is up */
        b->boot_ends = b->now > 0 ? b->now : 1;
}

static void restart_host(struct lks_bmcsim *b)
{
    b->power = LKS_POWER_GOING_ON;
    b->power_ends = b->now + lks_bmcsim_span(b, b->kind->host);
}

void lks_bmcsim_reset(struct lks_bmcsim *b, enum lks_bmcsim_reset reset)
{
    if (reset != LKS_RESET_AC && lks_bmcsim_fault_trouble(b, LKS_FAULT_POWER_LOSS, "reset") != NULL)
        reset = LKS_RESET_AC;
    bool also = reset == LKS_RESET_HOST &&
                (lks_bmcsim_fault_trouble(b, LKS_FAULT_BMC_REBOOT, "reset") != NULL ||
                 (b->kind->flags & LKS_HAS_NVUE) != 0);
    if (reset == LKS_RESET_BMC || reset == LKS_RESET_AC || also)
        restart_bmc(b);
    if (reset == LKS_RESET_HOST || reset == LKS_RESET_AC)
        restart_host(b);
    lks_bmcsim_reset_activate(b, UINT64_MAX, reset);
    if (also)
        lks_bmcsim_reset_activate(b, UINT64_MAX, LKS_RESET_BMC);
}

void lks_bmcsim_reset_lose_power(struct lks_bmcsim *b)
{
    for (size_t i = 0; i < b->unit_count; i++)
        b->units[i].activating = false;
    lks_bmcsim_reset(b, LKS_RESET_AC);
}

void lks_bmcsim_reset_booted(struct lks_bmcsim *b)
{
    b->boot_ends = 0;
    b->up_since = b->now;
    b->session_count = 0;
    b->push_targets = 0;
    b->push_targeted = false;
    b->hpe_state = NULL;
    if ((b->kind->flags & LKS_HAS_OWN_TASKS) == 0)
        lks_bmcsim_tasks_forget(b);
}

void lks_bmcsim_reset_power_step(struct lks_bmcsim *b)
{
    bool on = b->power == LKS_POWER_GOING_ON;
    for (size_t i = 0; i < b->unit_count; i++)
        if (b->units[i].bricked && strcmp(b->units[i].row->class, "bios") == 0)
            on = false;
    b->power = on ? LKS_POWER_ON : LKS_POWER_OFF;
    b->power_ends = LKS_BMCSIM_NEVER;
}

/* ---- Activation ---- */

/* Power went while the unit was taking the image over. Two banks: one of them runs. One bank: what
 * was in it is gone, and the device with it unless it can start from a last resort. */
static void interrupted(struct lks_bmcsim *b, struct lks_bmcsim_unit *u)
{
    if ((u->row->flags & LKS_ROW_SINGLE) != 0) {
        u->staged[0] = '\0';
        if ((u->row->flags & LKS_ROW_RECOVERS) != 0)
            copy_version(u->active, u->golden);
        else
            u->bricked = true;
    } else if (lks_rng_percent(&b->rng, 50)) {
        copy_version(u->backup, u->active);
        copy_version(u->active, u->staged);
        u->staged[0] = '\0';
        u->activations++;
    }
}

static void take_over(struct lks_bmcsim_unit *u)
{
    bool single = (u->row->flags & LKS_ROW_SINGLE) != 0;
    copy_version(u->backup, single ? "" : u->active);
    int before = lks_version_major(lks_str_from(u->active));
    int after = lks_version_major(lks_str_from(u->staged));
    copy_version(u->active, u->staged);
    u->staged[0] = '\0';
    u->activations++;
    bool raised = (u->row->flags & LKS_ROW_RAISES) != 0 && after > before;
    if (raised || (u->row->flags & LKS_ROW_ONE_WAY) != 0)
        copy_version(u->lowest, u->active);
}

void lks_bmcsim_reset_activated(struct lks_bmcsim *b, unsigned unit)
{
    struct lks_bmcsim_unit *u = &b->units[unit];
    u->activating = false;
    if (lks_bmcsim_fault_trouble(b, LKS_FAULT_POWER_LOSS, "activating") != NULL) {
        interrupted(b, u);
        lks_bmcsim_tasks_activated(b, unit, !u->bricked);
        lks_bmcsim_reset_lose_power(b);
        return;
    }
    const struct lks_bmcsim_trouble *brick = lks_bmcsim_fault_trouble_on(b, LKS_FAULT_BRICK, NULL);
    if (brick != NULL && strcmp(brick->at, b->revision) == 0) {
        (void)lks_bmcsim_fault_trouble(b, LKS_FAULT_BRICK, b->revision);
        u->bricked = true;
        u->staged[0] = '\0';
    } else if (strcmp(u->staged_fails_on, b->revision) == 0 ||
               lks_bmcsim_fault_trouble(b, LKS_FAULT_REVERT, NULL) != NULL) {
        u->staged[0] = '\0';
    } else {
        take_over(u);
    }
    lks_bmcsim_tasks_activated(b, unit, !u->bricked);
    if (lks_bmcsim_fault_trouble(b, LKS_FAULT_BMC_REBOOT, "activating") != NULL) {
        lks_bmcsim_tasks_forget(b);
        lks_bmcsim_reset(b, LKS_RESET_BMC);
    }
}

/* ---- The actions ---- */

static bool listed(const char *const *words, struct lks_str word)
{
    for (size_t i = 0; words[i] != NULL; i++)
        if (lks_str_is(word, words[i]))
            return true;
    return false;
}

/* The type that is asked for, if it is one of `types`; empty: the answer is written. */
static struct lks_str asked(struct lks_bmcsim_call *c, const char *action, const char *const *types)
{
    struct lks_str type = lks_doc_text(c->body, "ResetType");
    if (type.len == 0) {
        lks_bmcsim_reply_error(c, 400, LKS_MSG_PARAMETER_MISSING, action, "ResetType");
        return (struct lks_str){0};
    }
    if (!listed(types, type)) {
        char text[64];
        (void)snprintf(text, sizeof(text), "%" LKS_STR_FMT, LKS_STR_ARG(type));
        lks_bmcsim_reply_error(c, 400, LKS_MSG_PARAMETER_VALUE, text, "ResetType");
        return (struct lks_str){0};
    }
    return type;
}

static void done(struct lks_bmcsim_call *c)
{
    bool tells = c->b->personality == LKS_BMCSIM_HPE || c->b->personality == LKS_BMCSIM_SUPERMICRO;
    lks_bmcsim_reply_success(c, tells ? 200 : 204);
}

static void reset_system(struct lks_bmcsim_call *c)
{
    struct lks_bmcsim *b = c->b;
    struct lks_str type = asked(c, "ComputerSystem.Reset", lks_bmcsim_system_types);
    if (type.len == 0)
        return;
    bool off = b->power == LKS_POWER_OFF;
    bool button = lks_str_is(type, "PushPowerButton");
    if (lks_str_is(type, "ForceOff")) {
        b->power = LKS_POWER_OFF;
        b->power_ends = LKS_BMCSIM_NEVER;
    } else if (lks_str_is(type, "GracefulShutdown") || (button && !off)) {
        if (!off) {
            b->power = LKS_POWER_GOING_OFF;
            b->power_ends = b->now + lks_bmcsim_span(b, SHUTDOWN);
        }
    } else if (lks_str_is(type, "On") || button) {
        if (off)
            lks_bmcsim_reset(b, LKS_RESET_HOST);
    } else if (!lks_str_is(type, "Nmi")) {
        if (off) {
            lks_bmcsim_reply_error(c, 409, LKS_MSG_IN_USE, NULL, NULL);
            return;
        }
        lks_bmcsim_reset(b, LKS_RESET_HOST);
    }
    done(c);
}

void lks_bmcsim_reset_post(struct lks_bmcsim_call *c)
{
    const struct lks_bmcsim_kind *kind = c->b->kind;
    struct lks_str name = lks_str_last(c->path, '/');
    if (lks_str_is(name, "Manager.Reset") && lks_str_is(c->arg[0], kind->manager)) {
        if (asked(c, "Manager.Reset", lks_bmcsim_manager_types).len > 0) {
            done(c);
            lks_bmcsim_reset(c->b, LKS_RESET_BMC);
        }
    } else if (lks_str_is(name, "ComputerSystem.Reset") && kind->system != NULL &&
               lks_str_is(c->arg[0], kind->system)) {
        reset_system(c);
    } else if (lks_str_is(name, "Chassis.Reset") && kind->cold == NULL && kind->system != NULL &&
               lks_str_is(c->arg[0], kind->chassis)) {
        if (asked(c, "Chassis.Reset", lks_bmcsim_chassis_types).len > 0) {
            done(c);
            lks_bmcsim_reset(c->b, LKS_RESET_AC);
        }
    } else {
        lks_bmcsim_reply_error(c, 404, LKS_MSG_NOT_FOUND, "Action", "asked for");
    }
}

void lks_bmcsim_reset_post_cold(struct lks_bmcsim_call *c)
{
    const struct lks_bmcsim_kind *kind = c->b->kind;
    if (asked(c, kind->cold->name + 1, kind->cold->types).len == 0)
        return;
    if ((kind->flags & LKS_HAS_HOST_OFF) != 0 && c->b->power != LKS_POWER_OFF) {
        lks_bmcsim_reply_error(c, 409, LKS_MSG_IN_USE, NULL, NULL);
        return;
    }
    done(c);
    lks_bmcsim_reset(c->b, LKS_RESET_AC);
}
