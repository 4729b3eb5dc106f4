#include "lab/bmcsim/parts.h"

#include <stdio.h>

#define SUFFIX "_n04" /* what the inventory puts behind the version of a root of trust */

void lks_bmcsim_inventory_numbered(const char *format, unsigned number,
                                   char out[LKS_BMCSIM_ID_SIZE])
{
    const char *at = strstr(format, "%u");
    if (at == NULL)
        (void)snprintf(out, LKS_BMCSIM_ID_SIZE, "%s", format);
    else
        (void)snprintf(out, LKS_BMCSIM_ID_SIZE, "%.*s%u%s", (int)(at - format), format, number,
                       at + 2);
}

/* The entries of a unit, in their order; which of them are there. */
static const struct slot {
    enum lks_bmcsim_bank bank;
    bool current;
    unsigned flag; /* of the row; 0: always */
} slots[] = {
    {LKS_SIM_ACTIVE, false, 0},
    {LKS_SIM_ACTIVE, true, LKS_ROW_CURRENT},
    {LKS_SIM_STAGED, false, LKS_ROW_STAGING},
    {LKS_SIM_BACKUP, false, LKS_ROW_BACKUP},
    {LKS_SIM_GOLDEN, false, LKS_ROW_GOLDEN},
};

static const char *bank_version(const struct lks_bmcsim *b, const struct lks_bmcsim_unit *u,
                                enum lks_bmcsim_bank bank)
{
    bool twins = (b->kind->flags & LKS_HAS_TWINS) != 0;
    switch (bank) {
    case LKS_SIM_STAGED: /* a twin keeps what it was given last */
        return u->staged[0] != '\0' || !twins ? u->staged : u->active;
    case LKS_SIM_BACKUP:
        return u->backup[0] != '\0' || !twins ? u->backup : "Not Present";
    case LKS_SIM_GOLDEN:
        return u->golden;
    case LKS_SIM_ACTIVE:
        break;
    }
    return u->bricked ? "" : u->active;
}

static bool listed(const struct lks_bmcsim *b, const struct lks_bmcsim_unit *u,
                   const struct slot *slot)
{
    if (slot->flag == 0)
        return true;
    return (u->row->flags & slot->flag) != 0 && bank_version(b, u, slot->bank)[0] != '\0';
}

/* Wrong versions are told by a fault: what ran before, or one that never was. */
static const char *told_version(struct lks_bmcsim *b, const struct lks_bmcsim_unit *u,
                                enum lks_bmcsim_bank bank)
{
    if (bank == LKS_SIM_ACTIVE && u->row->fixed == NULL &&
        lks_bmcsim_fault_trouble_on(b, LKS_FAULT_WRONG_VERSION, NULL) != NULL)
        return u->backup[0] != '\0' ? u->backup : "0.0.0";
    return bank_version(b, u, bank);
}

/* "UEFI-Pending"; "BMC-Primary-Pending" and "BMC-Backup". */
static void name_pending(const char *id, struct lks_bmcsim_entry *e)
{
    static const char primary[] = "-Primary";
    int len = (int)strlen(id);
    if (e->bank == LKS_SIM_BACKUP && lks_str_ends(lks_str_from(id), primary))
        (void)snprintf(e->id, sizeof(e->id), "%.*s-Backup", len - (int)strlen(primary), id);
    else
        (void)snprintf(e->id, sizeof(e->id), "%.100s-Pending", id);
}

static void name_entry(const struct lks_bmcsim *b, const struct lks_bmcsim_unit *u, size_t i,
                       struct lks_bmcsim_entry *e)
{
    static const char *const dell[] = {"Installed", "Available", "Previous", "Previous"};
    static const char *const twin[] = {"", "Staging_", "Backup_", "Golden_"};
    const char *id = u->id;
    if ((b->kind->flags & LKS_HAS_NUMBER_IDS) != 0) {
        (void)snprintf(e->id, sizeof(e->id), "%zu", i + 1);
    } else if ((b->kind->flags & LKS_HAS_VERSION_IDS) != 0) {
        (void)snprintf(e->id, sizeof(e->id), "%s-%s-%.40s__%.60s",
                       e->current ? "Current" : dell[e->bank], u->row->software_id, e->version, id);
    } else if (e->bank != LKS_SIM_ACTIVE && lks_str_ends(lks_str_from(id), "_active")) {
        (void)snprintf(e->id, sizeof(e->id), "%.*s_%s", (int)(strlen(id) - 7), id,
                       e->bank == LKS_SIM_STAGED ? "staged" : "backup");
    } else if (e->bank != LKS_SIM_ACTIVE && (b->kind->flags & LKS_HAS_PENDING) != 0) {
        name_pending(id, e);
    } else {
        (void)snprintf(e->id, sizeof(e->id), "%s%.100s", twin[e->bank], id);
    }
}

bool lks_bmcsim_inventory_entry_at(struct lks_bmcsim *b, size_t i, struct lks_bmcsim_entry *out)
{
    size_t seen = 0;
    for (unsigned unit = 0; unit < b->unit_count; unit++) {
        const struct lks_bmcsim_unit *u = &b->units[unit];
        for (size_t s = 0; s < LKS_COUNT(slots); s++) {
            if (!listed(b, u, &slots[s]) || seen++ != i)
                continue;
            *out = (struct lks_bmcsim_entry){
                .unit = unit, .bank = slots[s].bank, .current = slots[s].current};
            const char *version = told_version(b, u, slots[s].bank);
            bool suffix = (u->row->flags & LKS_ROW_SUFFIX) != 0 && version[0] != '\0';
            (void)snprintf(out->version, sizeof(out->version), "%s%s", version,
                           suffix ? SUFFIX : "");
            name_entry(b, u, i, out);
            return true;
        }
    }
    return false;
}

static bool find(struct lks_bmcsim *b, struct lks_str id, struct lks_bmcsim_entry *out)
{
    for (size_t i = 0; lks_bmcsim_inventory_entry_at(b, i, out); i++)
        if (lks_str_is(id, out->id))
            return true;
    return false;
}

bool lks_bmcsim_inventory_get(struct lks_bmcsim_call *c)
{
    struct lks_bmcsim_entry entry;
    size_t count = 0;
    lks_bmcsim_reply_collection(c, "SoftwareInventory", "Firmware inventory");
    for (; lks_bmcsim_inventory_entry_at(c->b, count, &entry); count++)
        lks_bmcsim_reply_member(c, "/redfish/v1/UpdateService/FirmwareInventory/%s", entry.id);
    lks_bmcsim_reply_collection_end(c, count);
    return true;
}

bool lks_bmcsim_inventory_get_software(struct lks_bmcsim_call *c)
{
    lks_bmcsim_reply_collection(c, "SoftwareInventory", "Software inventory");
    lks_bmcsim_reply_collection_end(c, 0);
    return true;
}

/* What an entry is about: the BMC, the host's BIOS, a chassis of its own, a supply of the power
 * shelf. */
static void related(struct lks_bmcsim_call *c, const struct lks_bmcsim_unit *u)
{
    const struct lks_bmcsim_kind *kind = c->b->kind;
    lks_json_begin(&c->w, "RelatedItem", '[');
    if ((u->row->flags & LKS_ROW_CHASSIS) != 0) {
        char id[LKS_BMCSIM_ID_SIZE];
        lks_bmcsim_inventory_numbered(u->row->chassis, u->number, id);
        lks_bmcsim_reply_link(&c->w, NULL, "/redfish/v1/Chassis/%s", id);
    } else if (strcmp(u->row->class, "bmc") == 0 || strcmp(u->row->class, "power-shelf") == 0) {
        lks_bmcsim_reply_link(&c->w, NULL, "/redfish/v1/Managers/%s", kind->manager);
    } else if (strcmp(u->row->class, "bios") == 0) {
        lks_bmcsim_reply_link(&c->w, NULL, "/redfish/v1/Systems/%s/Bios", kind->system);
    } else if (kind->system == NULL) {
        lks_bmcsim_reply_link(
            &c->w, NULL, "/redfish/v1/Chassis/%s/PowerSubsystem/%s/%s", kind->chassis,
            strcmp(u->row->class, "psu") == 0 ? "PowerSupplies" : "Batteries", u->id);
    }
    lks_json_end(&c->w, ']');
}

/* Made from the class: the same on every machine, as device classes are. */
static void hpe_oem(struct lks_bmcsim_call *c, const struct lks_bmcsim_unit *u)
{
    uint8_t id[16];
    lks_bmcsim_image_row_uuid(LKS_BMCSIM_HPE, u->row->id, id);
    lks_json_write(&c->w, "'Oem': {'Hpe': {");
    lks_bmcsim_reply_textf(&c->w, "DeviceClass",
                           "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
                           id[0], id[1], id[2], id[3], id[4], id[5], id[6], id[7], id[8], id[9],
                           id[10], id[11], id[12], id[13], id[14], id[15]);
    lks_json_write(&c->w, "'DeviceContext': '%s'}}",
                   u->row->reset == LKS_RESET_BMC ? "System Board" : "Slot");
}

static void entry_name(const struct lks_bmcsim_unit *u, const struct lks_bmcsim_entry *e,
                       bool numbers, char out[LKS_BMCSIM_ID_SIZE])
{
    char name[LKS_BMCSIM_ID_SIZE];
    static const char *const behind[] = {"", " Staging", " Backup", " Golden"};
    lks_bmcsim_inventory_numbered(u->row->name != NULL ? u->row->name : "Software Inventory",
                                  u->number, name);
    if (numbers)
        (void)snprintf(out, LKS_BMCSIM_ID_SIZE, "%s%.100s",
                       e->bank == LKS_SIM_BACKUP ? "Redundant " : "", name);
    else
        (void)snprintf(out, LKS_BMCSIM_ID_SIZE, "%.100s%s", name, behind[e->bank]);
}

static void entry_status(struct lks_bmcsim_call *c, const struct lks_bmcsim_unit *u,
                         enum lks_bmcsim_bank bank)
{
    const char *state = u->bricked                             ? "UnavailableOffline"
                        : bank != LKS_SIM_ACTIVE               ? "StandbySpare"
                        : u->activating                        ? "Updating"
                        : lks_bmcsim_job_unit_written(c->b, u) ? "Updating"
                                                               : "Enabled";
    if ((c->b->kind->flags & LKS_HAS_TWINS) != 0 && !u->bricked)
        state = "Enabled";
    lks_bmcsim_reply_status(&c->w, state, u->bricked ? "Critical" : "OK");
}

/* Which bank it is, and what can be done with it: what is staged is given up, what ran before is
 * made to run again. */
static void entry_bank(struct lks_bmcsim_call *c, const struct lks_bmcsim_entry *e)
{
    const char *action = e->bank == LKS_SIM_STAGED ? "Cancel" : "Activate";
    lks_json_write(&c->w, "'Active': %s, 'Staged': %s", LKS_JSON_TRUTH(e->bank == LKS_SIM_ACTIVE),
                   LKS_JSON_TRUTH(e->bank == LKS_SIM_STAGED));
    if (e->bank != LKS_SIM_ACTIVE)
        lks_json_write(&c->w,
                       "'Actions': {'#SoftwareInventory.%s': "
                       "{'target': '%.*s/Actions/SoftwareInventory.%s'}}",
                       action, LKS_STR_ARG(c->path), action);
}

/* A task that fails, and the banks stay. */
static void fail_switch(struct lks_bmcsim_call *c, const struct lks_bmcsim_unit *u)
{
    struct lks_bmcsim_task *task = lks_bmcsim_task_new(c->b, false);
    if (task == NULL) {
        lks_bmcsim_reply_error(c, 500, LKS_MSG_INTERNAL, NULL, NULL);
        return;
    }
    lks_bmcsim_task_tell(task, LKS_MSG_ACTIVATE_FAILED, u->backup, u->id);
    lks_bmcsim_task_end(c->b, task, false);
    lks_bmcsim_upload_accepted(c, task);
}

/* The other bank is what the next reset starts from. */
static void switch_bank(struct lks_bmcsim_call *c, struct lks_bmcsim_unit *u)
{
    if (lks_bmcsim_fault_trouble(c->b, LKS_FAULT_SWITCH, "refuse") != NULL) {
        lks_bmcsim_reply_error(c, 400, LKS_MSG_IN_USE, NULL, NULL);
        return;
    }
    if (lks_bmcsim_fault_trouble(c->b, LKS_FAULT_SWITCH, "fail") != NULL) {
        fail_switch(c, u);
        return;
    }
    u->held = false;
    memcpy(u->staged, u->backup, sizeof(u->staged));
    u->backup[0] = '\0';
    bool silent = lks_bmcsim_fault_trouble(c->b, LKS_FAULT_SWITCH, "no-task") != NULL;
    lks_bmcsim_reply_success(c, 204);
    if (silent)
        c->reply->status = 202;
}

void lks_bmcsim_inventory_post_entry(struct lks_bmcsim_call *c)
{
    struct lks_bmcsim_entry e;
    bool found = find(c->b, c->arg[0], &e);
    struct lks_bmcsim_unit *u = found ? &c->b->units[e.unit] : NULL;
    bool cancel =
        found && e.bank == LKS_SIM_STAGED && lks_str_is(c->arg[1], "SoftwareInventory.Cancel");
    bool back =
        found && e.bank == LKS_SIM_BACKUP && lks_str_is(c->arg[1], "SoftwareInventory.Activate");
    if (!cancel && !back) {
        lks_bmcsim_reply_error(c, 404, LKS_MSG_NOT_FOUND, "Action", "asked for");
    } else if (u->activating || lks_bmcsim_job_unit_written(c->b, u)) {
        lks_bmcsim_reply_error(c, 409, LKS_MSG_IN_USE, NULL, NULL);
    } else if (cancel) {
        u->staged[0] = '\0';
        lks_bmcsim_tasks_activated(c->b, e.unit, false);
        lks_bmcsim_reply_success(c, 204);
    } else {
        switch_bank(c, u);
    }
}

bool lks_bmcsim_inventory_get_entry(struct lks_bmcsim_call *c)
{
    struct lks_bmcsim_entry e;
    if (!find(c->b, c->arg[0], &e))
        return false;
    const struct lks_bmcsim_unit *u = &c->b->units[e.unit];
    uint32_t flags = c->b->kind->flags;
    char name[LKS_BMCSIM_ID_SIZE];
    entry_name(u, &e, (flags & LKS_HAS_NUMBER_IDS) != 0, name);
    lks_bmcsim_reply_head(c, "SoftwareInventory.v1_14_0.SoftwareInventory", e.id, name);
    bool fixed = (u->row->flags & LKS_ROW_FIXED) != 0;
    lks_json_write(&c->w, "'Version': '%s', 'Updateable': %s", e.version,
                   LKS_JSON_TRUTH(!fixed && !u->bricked));
    if ((flags & LKS_HAS_NUMBER_IDS) == 0) {
        lks_json_write(&c->w, "'Manufacturer': '%s', 'WriteProtected': %s", c->b->kind->vendor,
                       LKS_JSON_TRUTH((u->row->flags & LKS_ROW_LOCKED) != 0));
        related(c, u);
    }
    lks_json_write(&c->w,
                   "'SoftwareId'?: '%s', 'LowestSupportedVersion'?: '%s', 'ReleaseDate'?: '%s'",
                   u->row->software_id, u->lowest,
                   (u->row->flags & LKS_ROW_JUNK_DATE) != 0 ? "T00:00:00Z" : "");
    if ((flags & LKS_HAS_BANKS) != 0)
        entry_bank(c, &e);
    if (!fixed || (flags & LKS_HAS_NUMBER_IDS) == 0)
        entry_status(c, u, e.bank);
    if ((flags & LKS_HAS_NUMBER_IDS) != 0)
        hpe_oem(c, u);
    if (e.bank == LKS_SIM_ACTIVE && !fixed)
        (void)lks_bmcsim_fault_trouble(c->b, LKS_FAULT_WRONG_VERSION, NULL);
    return true;
}
