#include "lab/bmcsim/parts.h"

#include <stdio.h>

bool lks_bmcsim_tree_get_versions(struct lks_bmcsim_call *c)
{
    lks_json_cstr(&c->w, "v1", "/redfish/v1/");
    return true;
}

static void oem_root(struct lks_bmcsim_call *c)
{
    const struct lks_bmcsim_kind *kind = c->b->kind;
    lks_json_write(&c->w, "'Oem': {'%s': {", kind->oem);
    if ((kind->flags & LKS_HAS_NUMBER_IDS) != 0)
        lks_json_write(&c->w,
                       "'Manager': [{'ManagerType': 'iLO 6', 'ManagerFirmwareVersion': '%s'}]",
                       c->b->units[0].active);
    lks_json_write(&c->w, "}}");
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
    lks_json_write(&c->w, "'Vendor': '%s', 'Product': '%s'", kind->vendor, kind->product);
    for (size_t i = 0; services[i] != NULL; i++)
        lks_bmcsim_reply_link(&c->w, services[i], "/redfish/v1/%s", services[i]);
    lks_json_write(&c->w, "'Tasks': {'@odata.id': '/redfish/v1/TaskService'}, 'Links': "
                          "{'Sessions': {'@odata.id': '/redfish/v1/SessionService/Sessions'}}");
    if ((kind->flags & LKS_HAS_EXPAND) != 0)
        lks_json_write(&c->w,
                       "'ProtocolFeaturesSupported': {'ExpandQuery': {'ExpandAll': true, "
                       "'Levels': true, 'Links': true, 'NoLinks': true, 'MaxLevels': 2}, "
                       "'FilterQuery': false, 'SelectQuery': false, 'OnlyMemberQuery': false, "
                       "'ExcerptQuery': false}");
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
    {"UpdateService", "v1_16_0"},
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
    lks_json_write(&c->w,
                   "'Schema': '#%s.%s.%s', 'Languages': ['en'], 'Location': [{'Language': 'en', "
                   "'PublicationUri': 'http://redfish.dmtf.org/schemas/v1/%s.%s.json'}]",
                   s->name, s->value, s->name, s->name, s->value);
    return true;
}

bool lks_bmcsim_tree_get_odata(struct lks_bmcsim_call *c)
{
    static const char *const names[] = {"Service",  "Systems",       "Chassis",
                                        "Managers", "UpdateService", NULL};
    lks_json_write(&c->w, "'@odata.context': '/redfish/v1/$metadata', 'value': [");
    for (size_t i = 0; names[i] != NULL; i++)
        lks_json_write(&c->w, "{'name': '%s', 'kind': 'Singleton', 'url': '/redfish/v1/%s'}",
                       names[i], i == 0 ? "" : names[i]);
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
