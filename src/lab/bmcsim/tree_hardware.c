#include "lab/bmcsim/parts.h"

#include <stdio.h>

/* An action of the resource; where allowed values are told elsewhere, where. */
static void action(struct lks_bmcsim_call *c, const char *name, struct lks_str target,
                   const char *const *types, bool info)
{
    lks_json_write(&c->w, "'%s': {'target': '%.*s'", name, LKS_STR_ARG(target));
    if (info)
        lks_json_write(&c->w, "'@Redfish.ActionInfo': '%.*s/ResetActionInfo'",
                       LKS_STR_ARG(c->path));
    else
        lks_bmcsim_reply_texts(&c->w, "ResetType@Redfish.AllowableValues", types);
    lks_json_end(&c->w, '}');
}

/* The reset that every such resource has, and the colder one if it belongs here. */
static void actions(struct lks_bmcsim_call *c, const char *name, const char *const *types)
{
    const struct lks_bmcsim_kind *kind = c->b->kind;
    char target[2 * LKS_BMCSIM_PATH_SIZE];
    lks_json_begin(&c->w, "Actions", '{');
    if (types != NULL) {
        (void)snprintf(target, sizeof(target), "%" LKS_STR_FMT "/Actions/%s", LKS_STR_ARG(c->path),
                       name + 1);
        bool info = (kind->flags & LKS_HAS_ACTION_INFO) != 0 && types != lks_bmcsim_chassis_types;
        action(c, name, lks_str_from(target), types, info);
    }
    if (kind->cold != NULL) {
        (void)snprintf(target, sizeof(target), "/redfish/v1%s", kind->cold->path);
        if (lks_str_starts(lks_str_from(target), "/redfish/v1") && c->path.len < sizeof(target) &&
            memcmp(target, c->path.ptr, c->path.len) == 0 && target[c->path.len] == '/') {
            lks_json_begin(&c->w, "Oem", '{');
            action(c, kind->cold->name, lks_str_from(target), kind->cold->types, false);
            lks_json_end(&c->w, '}');
        }
    }
    lks_json_end(&c->w, '}');
}

bool lks_bmcsim_tree_get_reset_info(struct lks_bmcsim_call *c)
{
    const struct lks_bmcsim_kind *kind = c->b->kind;
    bool manager = lks_str_starts(c->path, "/redfish/v1/Managers/");
    const char *id = manager ? kind->manager : kind->system;
    if (id == NULL || !lks_str_is(c->arg[0], id))
        return false;
    lks_bmcsim_reply_head(c, "ActionInfo.v1_3_0.ActionInfo", "ResetActionInfo", "Reset action");
    lks_json_write(&c->w, "'Parameters': [{'Name': 'ResetType', 'Required': true, "
                          "'DataType': 'String'");
    lks_bmcsim_reply_texts(&c->w, "AllowableValues",
                           manager ? lks_bmcsim_manager_types : lks_bmcsim_system_types);
    lks_json_write(&c->w, "}]");
    return true;
}

bool lks_bmcsim_tree_get_managers(struct lks_bmcsim_call *c)
{
    lks_bmcsim_reply_collection(c, "Manager", "Managers");
    lks_bmcsim_reply_member(c, "/redfish/v1/Managers/%s", c->b->kind->manager);
    lks_bmcsim_reply_collection_end(c, 1);
    return true;
}

static void links_of(struct lks_bmcsim_call *c, const char *key, const char *folder, const char *id)
{
    lks_json_begin(&c->w, key, '[');
    if (id != NULL)
        lks_bmcsim_reply_link(&c->w, NULL, "/redfish/v1/%s/%s", folder, id);
    lks_json_end(&c->w, ']');
}

/* The entry of the inventory that the manager itself runs from. */
static void software_links(struct lks_bmcsim_call *c)
{
    struct lks_bmcsim_entry entry;
    if (!lks_bmcsim_inventory_entry_at(c->b, 0, &entry))
        return;
    lks_bmcsim_reply_link(&c->w, "ActiveSoftwareImage",
                          "/redfish/v1/UpdateService/FirmwareInventory/%s", entry.id);
    lks_json_begin(&c->w, "SoftwareImages", '[');
    for (size_t i = 0; lks_bmcsim_inventory_entry_at(c->b, i, &entry) && entry.unit == 0; i++)
        lks_bmcsim_reply_link(&c->w, NULL, "/redfish/v1/UpdateService/FirmwareInventory/%s",
                              entry.id);
    lks_json_end(&c->w, ']');
}

bool lks_bmcsim_tree_get_manager(struct lks_bmcsim_call *c)
{
    const struct lks_bmcsim_kind *kind = c->b->kind;
    struct lks_bmcsim_entry entry;
    char since[LKS_TIME_TEXT_SIZE];
    if (!lks_str_is(c->arg[0], kind->manager) || !lks_bmcsim_inventory_entry_at(c->b, 0, &entry))
        return false;
    lks_bmcsim_reply_head(c, "Manager.v1_18_0.Manager", kind->manager, "Manager");
    lks_json_write(
        &c->w,
        "'ManagerType': 'BMC', 'Model': '%s', 'Manufacturer': '%s', "
        "'FirmwareVersion': '%s', 'PowerState': 'On', 'LastResetTime': '%s', " LKS_BMCSIM_ENABLED
        ", 'Links': {",
        kind->product, kind->vendor, entry.version, lks_time_text(c->b->up_since, since));
    links_of(c, "ManagerForServers", "Systems", kind->system);
    links_of(c, "ManagerForChassis", "Chassis", kind->chassis);
    software_links(c);
    lks_json_end(&c->w, '}');
    actions(c, "#Manager.Reset", lks_bmcsim_manager_types);
    return true;
}

bool lks_bmcsim_tree_get_systems(struct lks_bmcsim_call *c)
{
    lks_bmcsim_reply_collection(c, "ComputerSystem", "Systems");
    if (c->b->kind->system != NULL)
        lks_bmcsim_reply_member(c, "/redfish/v1/Systems/%s", c->b->kind->system);
    lks_bmcsim_reply_collection_end(c, c->b->kind->system != NULL ? 1 : 0);
    return true;
}

static bool is_system(const struct lks_bmcsim_call *c)
{
    return c->b->kind->system != NULL && lks_str_is(c->arg[0], c->b->kind->system);
}

static const char *bios_version(struct lks_bmcsim *b)
{
    for (size_t i = 0; i < b->unit_count; i++)
        if (strcmp(b->units[i].row->class, "bios") == 0)
            return b->units[i].active;
    return "";
}

static const char *power_word(const struct lks_bmcsim *b)
{
    static const char *const words[] = {[LKS_POWER_OFF] = "Off",
                                        [LKS_POWER_ON] = "On",
                                        [LKS_POWER_GOING_OFF] = "PoweringOff",
                                        [LKS_POWER_GOING_ON] = "PoweringOn"};
    return words[b->power];
}

bool lks_bmcsim_tree_get_system(struct lks_bmcsim_call *c)
{
    struct lks_bmcsim *b = c->b;
    const struct lks_bmcsim_kind *kind = b->kind;
    if (!is_system(c))
        return false;
    lks_bmcsim_reply_head(c, "ComputerSystem.v1_20_0.ComputerSystem", kind->system, "System");
    lks_json_write(&c->w,
                   "'SystemType': 'Physical', 'Manufacturer': '%s', 'Model': '%s', "
                   "'SerialNumber': 'SN-%s', 'SKU': '%s', 'HostName': '%s', 'AssetTag': '%s', "
                   "'PowerState': '%s', 'BiosVersion': '%s', "
                   "'Status': {'State': '%s', 'Health': 'OK'}, "
                   "'MemorySummary': {'TotalSystemMemoryGiB': 2048}, "
                   "'ProcessorSummary': {'Count': 2}",
                   kind->vendor, kind->model, b->name, b->revision, b->name, b->asset,
                   power_word(b), bios_version(b),
                   b->power == LKS_POWER_OFF ? "Disabled" : "Enabled");
    lks_json_write(&c->w,
                   "'Boot': {'BootSourceOverrideEnabled': 'Disabled', "
                   "'BootSourceOverrideMode': 'UEFI', 'BootSourceOverrideTarget': 'None', "
                   "'BootSourceOverrideTarget@Redfish.AllowableValues': "
                   "['None', 'Pxe', 'Hdd', 'BiosSetup']}, "
                   "'Bios': {'@odata.id': '/redfish/v1/Systems/%s/Bios'}, 'Links': {",
                   kind->system);
    links_of(c, "Chassis", "Chassis", kind->chassis);
    links_of(c, "ManagedBy", "Managers", kind->manager);
    lks_json_end(&c->w, '}');
    if (kind->system_oem != NULL)
        lks_json_write(&c->w,
                       "'Oem': {'%s': {'%s': {'@odata.type': '#%s.v1_4_0.%s', "
                       "'ChassisModel': '%s', 'ChassisServiceTag': '%s'}}}",
                       kind->oem, kind->system_oem, kind->system_oem, kind->system_oem, kind->model,
                       b->name);
    actions(c, "#ComputerSystem.Reset", lks_bmcsim_system_types);
    return true;
}

bool lks_bmcsim_tree_get_bios(struct lks_bmcsim_call *c)
{
    if (!is_system(c))
        return false;
    lks_bmcsim_reply_head(c, "Bios.v1_2_1.Bios", "Bios", "BIOS settings");
    lks_json_write(&c->w, "'AttributeRegistry': '', 'Attributes': {}");
    return true;
}

void lks_bmcsim_tree_patch_system(struct lks_bmcsim_call *c)
{
    if (!is_system(c)) {
        lks_bmcsim_reply_error(c, 404, LKS_MSG_NOT_FOUND, "ComputerSystem", "asked for");
        return;
    }
    const struct lks_doc *tag = lks_doc_member(c->body, "AssetTag");
    const struct lks_doc *first = c->body != NULL ? c->body->first : NULL;
    if (tag == NULL || first == NULL || tag->kind != LKS_DOC_TEXT || first->next != NULL) {
        char name[LKS_BMCSIM_ID_SIZE] = "AssetTag";
        if (first != NULL)
            (void)snprintf(name, sizeof(name), "%" LKS_STR_FMT, LKS_STR_ARG(first->key));
        lks_bmcsim_reply_error(c, 400, LKS_MSG_PROPERTY_UNKNOWN, name, NULL);
        return;
    }
    (void)snprintf(c->b->asset, sizeof(c->b->asset), "%" LKS_STR_FMT, LKS_STR_ARG(tag->text));
    lks_bmcsim_reply_success(c, (c->b->kind->flags & LKS_HAS_NUMBER_IDS) != 0 ? 200 : 204);
}

/* ---- Chassis ---- */

bool lks_bmcsim_tree_get_chassis_all(struct lks_bmcsim_call *c)
{
    struct lks_bmcsim *b = c->b;
    size_t count = 1;
    lks_bmcsim_reply_collection(c, "Chassis", "Chassis");
    lks_bmcsim_reply_member(c, "/redfish/v1/Chassis/%s", b->kind->chassis);
    if (b->personality == LKS_BMCSIM_HGX) {
        lks_bmcsim_reply_member(c, "/redfish/v1/Chassis/HGX_Chassis_0");
        count++;
    }
    for (size_t i = 0; i < b->unit_count; i++) {
        if ((b->units[i].row->flags & LKS_ROW_CHASSIS) == 0)
            continue;
        char id[LKS_BMCSIM_ID_SIZE];
        lks_bmcsim_inventory_numbered(b->units[i].row->chassis, b->units[i].number, id);
        lks_bmcsim_reply_member(c, "/redfish/v1/Chassis/%s", id);
        count++;
    }
    lks_bmcsim_reply_collection_end(c, count);
    return true;
}

/* A chassis that is one device. */
static bool chassis_unit(struct lks_bmcsim_call *c)
{
    struct lks_bmcsim *b = c->b;
    for (size_t i = 0; i < b->unit_count; i++) {
        char id[LKS_BMCSIM_ID_SIZE];
        if ((b->units[i].row->flags & LKS_ROW_CHASSIS) == 0)
            continue;
        lks_bmcsim_inventory_numbered(b->units[i].row->chassis, b->units[i].number, id);
        if (!lks_str_is(c->arg[0], id))
            continue;
        lks_bmcsim_reply_head(c, "Chassis.v1_23_0.Chassis", id, id);
        lks_json_write(&c->w,
                       "'ChassisType': 'Component', 'Manufacturer': '%s', 'SKU': '%s-%s', "
                       "'SerialNumber': 'SN-%s-%zu'",
                       b->kind->vendor, b->units[i].row->class, b->revision, b->name, i);
        lks_bmcsim_reply_status(&c->w, b->units[i].bricked ? "UnavailableOffline" : "Enabled",
                                b->units[i].bricked ? "Critical" : "OK");
        return true;
    }
    return false;
}

bool lks_bmcsim_tree_get_chassis(struct lks_bmcsim_call *c)
{
    struct lks_bmcsim *b = c->b;
    const struct lks_bmcsim_kind *kind = b->kind;
    bool tray = b->personality == LKS_BMCSIM_HGX && lks_str_is(c->arg[0], "HGX_Chassis_0");
    if (!tray && !lks_str_is(c->arg[0], kind->chassis))
        return chassis_unit(c);
    lks_bmcsim_reply_head(c, "Chassis.v1_23_0.Chassis", tray ? "HGX_Chassis_0" : kind->chassis,
                          "Chassis");
    lks_json_write(&c->w,
                   "'ChassisType': '%s', 'Manufacturer': '%s', 'Model': '%s', "
                   "'SerialNumber': 'SN-%s%s', 'PowerState': '%s', " LKS_BMCSIM_ENABLED,
                   tray ? "Module" : "RackMount", kind->vendor, kind->model, b->name,
                   tray ? "-T" : "", kind->system != NULL ? power_word(b) : "On");
    if (kind->system == NULL)
        lks_bmcsim_reply_link(&c->w, "PowerSubsystem", "/redfish/v1/Chassis/%s/PowerSubsystem",
                              kind->chassis);
    lks_json_begin(&c->w, "Links", '{');
    links_of(c, "ManagedBy", "Managers", kind->manager);
    links_of(c, "ComputerSystems", "Systems", kind->system);
    lks_json_end(&c->w, '}');
    bool resets = kind->cold == NULL && kind->system != NULL && !tray;
    actions(c, "#Chassis.Reset", resets ? lks_bmcsim_chassis_types : NULL);
    return true;
}

/* ---- Power supplies and batteries of a power shelf ---- */

static const struct power_kind {
    const char *folder, *class, *type;
} power_kinds[] = {
    {"PowerSupplies", "psu", "PowerSupply"},
    {"Batteries", "bbu", "Battery"},
};

static bool is_shelf(const struct lks_bmcsim_call *c)
{
    return c->b->kind->system == NULL && lks_str_is(c->arg[0], c->b->kind->chassis);
}

bool lks_bmcsim_tree_get_power_subsystem(struct lks_bmcsim_call *c)
{
    if (!is_shelf(c))
        return false;
    lks_bmcsim_reply_head(c, "PowerSubsystem.v1_1_1.PowerSubsystem", "PowerSubsystem", "Power");
    lks_bmcsim_reply_status(&c->w, "Enabled", "OK");
    for (size_t i = 0; i < LKS_COUNT(power_kinds); i++)
        lks_bmcsim_reply_link(&c->w, power_kinds[i].folder, "%" LKS_STR_FMT "/%s",
                              LKS_STR_ARG(c->path), power_kinds[i].folder);
    return true;
}

static const struct power_kind *power_kind(const struct lks_bmcsim_call *c)
{
    for (size_t i = 0; is_shelf(c) && i < LKS_COUNT(power_kinds); i++)
        if (lks_str_is(c->arg[1], power_kinds[i].folder))
            return &power_kinds[i];
    return NULL;
}

bool lks_bmcsim_tree_get_power_units(struct lks_bmcsim_call *c)
{
    const struct power_kind *kind = power_kind(c);
    if (kind == NULL)
        return false;
    size_t count = 0;
    lks_bmcsim_reply_collection(c, kind->type, kind->folder);
    for (unsigned i = 0; i < c->b->unit_count; i++) {
        if (strcmp(c->b->units[i].row->class, kind->class) != 0)
            continue;
        lks_bmcsim_reply_member(c, "%" LKS_STR_FMT "/%s", LKS_STR_ARG(c->path), c->b->units[i].id);
        count++;
    }
    lks_bmcsim_reply_collection_end(c, count);
    return true;
}

bool lks_bmcsim_tree_get_power_unit(struct lks_bmcsim_call *c)
{
    const struct power_kind *kind = power_kind(c);
    for (unsigned i = 0; kind != NULL && i < c->b->unit_count; i++) {
        const struct lks_bmcsim_unit *u = &c->b->units[i];
        char type[64];
        if (strcmp(u->row->class, kind->class) != 0 || !lks_str_is(c->arg[2], u->id))
            continue;
        (void)snprintf(type, sizeof(type), "%s.%s.%s", kind->type,
                       u->row->class[0] == 'p' ? "v1_5_1" : "v1_2_1", kind->type);
        lks_bmcsim_reply_head(c, type, u->id, u->id);
        lks_json_cstr(&c->w, "FirmwareVersion", u->active);
        const char *state = u->bricked      ? "UnavailableOffline"
                            : u->activating ? "Updating"
                                            : "Enabled";
        lks_bmcsim_reply_status(&c->w, state, u->bricked ? "Critical" : "OK");
        return true;
    }
    return false;
}
