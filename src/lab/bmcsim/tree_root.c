#include "lab/bmcsim/parts.h"

#include <stdio.h>

bool lks_bmcsim_tree_get_versions(struct lks_bmcsim_call *c)
{
    lks_json_cstr(&c->w, "v1", "/redfish/v1/");
    return true;
}

static void expand_feature(struct lks_json_writer *w)
{
    lks_json_begin(w, "ProtocolFeaturesSupported", '{');
    lks_json_begin(w, "ExpandQuery", '{');
    lks_json_bool(w, "ExpandAll", true);
    lks_json_bool(w, "Levels", true);
    lks_json_bool(w, "Links", true);
    lks_json_bool(w, "NoLinks", true);
    lks_json_int(w, "MaxLevels", 2);
    lks_json_end(w, '}');
    lks_json_bool(w, "FilterQuery", false);
    lks_json_bool(w, "SelectQuery", false);
    lks_json_bool(w, "OnlyMemberQuery", false);
    lks_json_bool(w, "ExcerptQuery", false);
    lks_json_end(w, '}');
}

static void oem_root(struct lks_bmcsim_call *c)
{
    const struct lks_bmcsim_kind *kind = c->b->kind;
    lks_json_begin(&c->w, "Oem", '{');
    lks_json_begin(&c->w, kind->oem, '{');
    if ((kind->flags & LKS_HAS_NUMBER_IDS) != 0) {
        lks_json_begin(&c->w, "Manager", '[');
        lks_json_begin(&c->w, NULL, '{');
        lks_json_cstr(&c->w, "ManagerType", "iLO 6");
        lks_json_cstr(&c->w, "ManagerFirmwareVersion", c->b->units[0].active);
        lks_json_end(&c->w, '}');
        lks_json_end(&c->w, ']');
    }
    lks_json_end(&c->w, '}');
    lks_json_end(&c->w, '}');
}

bool lks_bmcsim_tree_get_root(struct lks_bmcsim_call *c)
{
    static const char *const services[] = {"AccountService", "SessionService", "UpdateService",
                                           "Managers",       "Chassis",        "Systems",
                                           "Registries",     "JsonSchemas",    NULL};
    const struct lks_bmcsim_kind *kind = c->b->kind;
    uint8_t uuid[16];
    lks_bmcsim_image_row_uuid(c->b->personality, c->b->name, uuid);
    lks_bmcsim_reply_head(c, "ServiceRoot.v1_15_0.ServiceRoot", "RootService", "Root service");
    lks_json_cstr(&c->w, "RedfishVersion", kind->redfish);
    lks_bmcsim_reply_textf(
        &c->w, "UUID", "%02x%02x%02x%02x-%02x%02x-4%01x%02x-8%01x%02x-%02x%02x%02x%02x%02x%02x",
        uuid[0], uuid[1], uuid[2], uuid[3], uuid[4], uuid[5], uuid[6] & 15, uuid[7], uuid[8] & 15,
        uuid[9], uuid[10], uuid[11], uuid[12], uuid[13], uuid[14], uuid[15]);
    lks_json_cstr(&c->w, "Vendor", kind->vendor);
    lks_json_cstr(&c->w, "Product", kind->product);
    for (size_t i = 0; services[i] != NULL; i++)
        lks_bmcsim_reply_link(&c->w, services[i], "/redfish/v1/%s", services[i]);
    lks_bmcsim_reply_link(&c->w, "Tasks", "/redfish/v1/TaskService");
    lks_json_begin(&c->w, "Links", '{');
    lks_bmcsim_reply_link(&c->w, "Sessions", "/redfish/v1/SessionService/Sessions");
    lks_json_end(&c->w, '}');
    if ((kind->flags & LKS_HAS_EXPAND) != 0)
        expand_feature(&c->w);
    oem_root(c);
    return true;
}

static const struct lks_str_pair schemas[] = {
    {"AccountService", "v1_12_0"},
    {"Bios", "v1_2_1"},
    {"Chassis", "v1_23_0"},
    {"ComputerSystem", "v1_20_0"},
    {"ManagerAccount", "v1_9_0"},
    {"Manager", "v1_18_0"},
    {"MessageRegistryFile", "v1_1_3"},
    {"Role", "v1_3_1"},
    {"ServiceRoot", "v1_15_0"},
    {"Session", "v1_5_0"},
    {"SessionService", "v1_1_8"},
    {"SoftwareInventory", "v1_14_0"},
    {"Task", "v1_7_2"},
    {"TaskService", "v1_2_0"},
    {"UpdateService", "v1_13_0"},
    {"PowerSubsystem", "v1_1_1"},
    {"PowerSupply", "v1_5_1"},
    {"Battery", "v1_2_1"},
    {"ActionInfo", "v1_3_0"},
    {"Message", "v1_1_1"},
};

bool lks_bmcsim_tree_get_schemas(struct lks_bmcsim_call *c)
{
    lks_bmcsim_reply_collection(c, "JsonSchemaFile", "Schema files");
    for (size_t i = 0; i < LKS_COUNT(schemas); i++)
        lks_bmcsim_reply_member(c, "/redfish/v1/JsonSchemas/%s", schemas[i].name);
    lks_bmcsim_reply_collection_end(c, LKS_COUNT(schemas));
    return true;
}

bool lks_bmcsim_tree_get_schema(struct lks_bmcsim_call *c)
{
    size_t i = 0;
    while (i < LKS_COUNT(schemas) && !lks_str_is(c->arg[0], schemas[i].name))
        i++;
    if (i == LKS_COUNT(schemas))
        return false;
    const struct lks_str_pair *s = &schemas[i];
    lks_bmcsim_reply_head(c, "JsonSchemaFile.v1_1_5.JsonSchemaFile", s->name, "Schema file");
    lks_bmcsim_reply_textf(&c->w, "Schema", "#%s.%s.%s", s->name, s->value, s->name);
    lks_json_begin(&c->w, "Languages", '[');
    lks_json_cstr(&c->w, NULL, "en");
    lks_json_end(&c->w, ']');
    lks_json_begin(&c->w, "Location", '[');
    lks_json_begin(&c->w, NULL, '{');
    lks_json_cstr(&c->w, "Language", "en");
    lks_bmcsim_reply_textf(&c->w, "PublicationUri", "http://redfish.dmtf.org/schemas/v1/%s.%s.json",
                           s->name, s->value);
    lks_json_end(&c->w, '}');
    lks_json_end(&c->w, ']');
    return true;
}

bool lks_bmcsim_tree_get_odata(struct lks_bmcsim_call *c)
{
    static const char *const names[] = {"Service",  "Systems",       "Chassis",
                                        "Managers", "UpdateService", NULL};
    lks_json_cstr(&c->w, "@odata.context", "/redfish/v1/$metadata");
    lks_json_begin(&c->w, "value", '[');
    for (size_t i = 0; names[i] != NULL; i++) {
        lks_json_begin(&c->w, NULL, '{');
        lks_json_cstr(&c->w, "name", names[i]);
        lks_json_cstr(&c->w, "kind", "Singleton");
        lks_bmcsim_reply_textf(&c->w, "url", "/redfish/v1/%s", i == 0 ? "" : names[i]);
        lks_json_end(&c->w, '}');
    }
    lks_json_end(&c->w, ']');
    return true;
}

bool lks_bmcsim_tree_get_metadata(struct lks_bmcsim_call *c)
{
    struct lks_buf *out = &c->reply->body;
    c->reply->status = 200;
    c->reply->type = "application/xml";
    lks_buf_add(out, LKS_STR("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<edmx:Edmx xmlns:edmx="
                             "\"http://docs.oasis-open.org/odata/ns/edmx\" Version=\"4.0\">\n"));
    for (size_t i = 0; i < LKS_COUNT(schemas); i++)
        lks_buf_addf(out,
                     "<edmx:Reference Uri=\"http://redfish.dmtf.org/schemas/v1/%s_v1.xml\">"
                     "<edmx:Include Namespace=\"%s.%s\"/></edmx:Reference>\n",
                     schemas[i].name, schemas[i].name, schemas[i].value);
    lks_buf_add(out, LKS_STR("<edmx:DataServices><Schema xmlns="
                             "\"http://docs.oasis-open.org/odata/ns/edm\" Namespace=\"Service\">"
                             "<EntityContainer Name=\"Service\" "
                             "Extends=\"ServiceRoot.v1_15_0.ServiceContainer\"/>"
                             "</Schema></edmx:DataServices>\n</edmx:Edmx>\n"));
    return true;
}
