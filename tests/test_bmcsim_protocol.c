/*
 * What the Redfish specification asks of every service, as DMTF's protocol validator checks it
 * (tests/real/redfish_validators.py), and what is a vendor's own.
 */
#include "lab/bmcsim/bmcsim.h"

#include "tests/asksim.h"
#include "tests/test.h"

#include <stdio.h>

#define V1       "/redfish/v1"
#define SESSIONS V1 "/SessionService/Sessions"
#define ROLES    V1 "/AccountService/Roles"
#define LOGIN    "{\"UserName\":\"root\",\"Password\":\"secret12\"}"
#define JSON     "content-type: application/json\n"
#define SCHEMA   "<http://redfish.dmtf.org/schemas/v1/"

/* ---- The same of all personalities ---- */

static const struct asked {
    const char *name;
    const char *method, *path, *head, *body;
    int status;
    const char *error;           /* the key of its error */
    const char *header, *worth;  /* of the answer */
    const char *field, *content; /* of the answer's document; field "": the whole document */
    bool anonymous;
} rows[] = {
    {"versions, and no other property", "GET", "/redfish", "", "", 200, NULL, "Link", "", "",
     "{\"v1\":\"/redfish/v1/\"}", true},
    {"the OData document is no resource", "GET", V1 "/odata", "", "", 200, NULL, "Link", "",
     "@odata.etag", "", true},
    {"the root names its schema", "GET", V1, "", "", 200, NULL, "Link",
     SCHEMA "ServiceRoot.v1_15_0.json>; rel=describedby", "@odata.type",
     "#ServiceRoot.v1_15_0.ServiceRoot", true},
    {"to HEAD too", "HEAD", V1, "", "", 200, NULL, "Link",
     SCHEMA "ServiceRoot.v1_15_0.json>; rel=describedby", NULL, NULL, true},
    {"a collection names its schema", "GET", SESSIONS, "", "", 200, NULL, "Link",
     SCHEMA "SessionCollection.json>; rel=describedby", NULL, NULL, false},
    {"an error names none", "GET", V1 "/Nowhere", "", "", 404, "ResourceNotFound", "Link", "", NULL,
     NULL, false},

    {"OData 4.0", "GET", V1, "odata-version: 4.0\n", "", 200, NULL, "OData-Version", "4.0", NULL,
     NULL, true},
    {"OData 4.1", "GET", V1, "odata-version: 4.1\n", "", 412, "HeaderInvalid", "OData-Version",
     "4.0", "error/@Message.ExtendedInfo/0/MessageArgs/0", "OData-Version", true},
    {"OData 4.1 of a login", "POST", SESSIONS, JSON "odata-version: 4.1\n", LOGIN, 412,
     "HeaderInvalid", "X-Auth-Token", "", NULL, NULL, true},

    {"an unknown $ query", "GET", V1 "?$rpvunknown", "", "", 501, "QueryNotSupported", "ETag", "",
     NULL, NULL, true},
    {"an unknown $ query with a value", "GET", SESSIONS "?$orderby=Id", "", "", 501,
     "QueryNotSupported", NULL, NULL, NULL, NULL, false},
    {"an unknown $ query in another spelling", "GET", SESSIONS "?%24orderby=Id", "", "", 501,
     "QueryNotSupported", NULL, NULL, NULL, NULL, false},
    {"an unknown $ query behind another", "GET", SESSIONS "?a=b&$top=1", "", "", 501,
     "QueryNotSupported", NULL, NULL, NULL, NULL, false},
    {"an unknown query without $ is ignored", "GET", V1 "?rpvunknown=1", "", "", 200, NULL, NULL,
     NULL, "Id", "RootService", true},
    {"of others first the password", "GET", SESSIONS "?$top=1", "", "", 401, "NoValidSession", NULL,
     NULL, NULL, NULL, true},

    {"a login", "POST", SESSIONS, JSON, LOGIN, 201, NULL, "Location", SESSIONS "/1", NULL, NULL,
     true},
    {"a login at the members", "POST", SESSIONS "/Members", JSON, LOGIN, 201, NULL, "Location",
     SESSIONS "/1", "UserName", "root", true},
    {"a wrong login at the members", "POST", SESSIONS "/Members", JSON,
     "{\"UserName\":\"root\",\"Password\":\"x\"}", 401, "NoValidSession", "X-Auth-Token", "", NULL,
     NULL, true},
    {"the members are not read", "GET", SESSIONS "/Members", "", "", 405, "OperationNotAllowed",
     "Allow", "POST", NULL, NULL, false},
    {"methods of a collection", "GET", SESSIONS, "", "", 200, NULL, "Allow", "GET, HEAD, POST",
     NULL, NULL, false},
    {"methods of a service", "GET", V1 "/UpdateService", "", "", 200, NULL, "Allow",
     "GET, HEAD, PATCH", NULL, NULL, false},

    {"three roles", "GET", ROLES, "", "", 200, NULL, NULL, NULL, "Members@odata.count", "3", false},
    {"an administrator", "GET", ROLES "/Administrator", "", "", 200, NULL, NULL, NULL,
     "AssignedPrivileges/4", "ConfigureComponents", false},
    {"an operator", "GET", ROLES "/Operator", "", "", 200, NULL, NULL, NULL, "AssignedPrivileges/1",
     "ConfigureComponents", false},
    {"an operator sets no user", "GET", ROLES "/Operator", "", "", 200, NULL, NULL, NULL,
     "AssignedPrivileges/3", "", false},
    {"a reader", "GET", ROLES "/ReadOnly", "", "", 200, NULL, NULL, NULL, "AssignedPrivileges/1",
     "ConfigureSelf", false},
    {"a reader has no more", "GET", ROLES "/ReadOnly", "", "", 200, NULL, NULL, NULL,
     "AssignedPrivileges/2", "", false},
    {"all are predefined", "GET", ROLES "/ReadOnly", "", "", 200, NULL, NULL, NULL, "IsPredefined",
     "true", false},
    {"roles stay as they are", "PATCH", ROLES "/ReadOnly", JSON "if-match: *\n",
     "{\"AssignedPrivileges\":[\"Login\"]}", 405, "OperationNotAllowed", "Allow", "GET, HEAD", NULL,
     NULL, false},

    {"the update service has Activate's version", "GET", V1 "/UpdateService", "", "", 200, NULL,
     "Link", SCHEMA "UpdateService.v1_16_0.json>; rel=describedby", "@odata.type",
     "#UpdateService.v1_16_0.UpdateService", false},
};

static void check_row(enum lks_bmcsim_personality personality, const struct asked *row)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    lks_test_case("%s: %s", lks_bmcsim_words[personality], row->name);
    lks_asksim_open(&s, personality, 1);
    s.anonymous = row->anonymous;
    CHECK_INT(lks_asksim(&s, row->method, row->path, row->head, lks_str_from(row->body)),
              row->status);
    if (row->error != NULL)
        CHECK_STR(lks_asksim_error(&s), row->error);
    if (row->header != NULL)
        CHECK_STR(lks_asksim_header(&s, row->header), row->worth);
    if (row->field != NULL)
        CHECK_STR(row->field[0] == '\0' ? lks_buf_view(&s.reply.body)
                                        : lks_asksim_text(&s, row->field),
                  row->content);
}

/* The personalities that speak Redfish, one after the other; a switch tray has a REST of its own.
 */
static unsigned redfish_from(unsigned p)
{
    return p == LKS_BMCSIM_SWITCH ? p + 1 : p;
}

static void test_all(void)
{
    for (unsigned p = 0; p < LKS_BMCSIM_PERSONALITIES; p = redfish_from(p + 1))
        for (size_t i = 0; i < LKS_COUNT(rows); i++)
            check_row((enum lks_bmcsim_personality)p, &rows[i]);
}

/* $expand is for those that say so in their root. */
static void test_expand(void)
{
    for (unsigned p = 0; p < LKS_BMCSIM_PERSONALITIES; p = redfish_from(p + 1)) {
        LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
        lks_test_case("%s", lks_bmcsim_words[p]);
        lks_asksim_open(&s, (enum lks_bmcsim_personality)p, 1);
        CHECK_INT(lks_asksim_get(&s, V1), 200);
        bool has = lks_str_is(
            lks_asksim_text(&s, "ProtocolFeaturesSupported/ExpandQuery/ExpandAll"), "true");
        CHECK(has == (p != LKS_BMCSIM_SHELF));
        CHECK_INT(lks_asksim_get(&s, V1 "/Managers?$expand=."), has ? 200 : 501);
    }
}

/* ---- A vendor's own ---- */

/* HPE: error codes and messages name iLO's registry; only messages of Base are everyone's. */
static void test_hpe_messages(void)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    lks_asksim_open(&s, LKS_BMCSIM_HPE, 1);
    CHECK_INT(lks_asksim_get(&s, V1 "/Registries"), 200);
    CHECK_STR(lks_asksim_text(&s, "Members@odata.count"), "2");
    CHECK_STR(lks_asksim_text(&s, "Members/0/@odata.id"), V1 "/Registries/Base");
    CHECK_STR(lks_asksim_text(&s, "Members/1/@odata.id"), V1 "/Registries/iLO");
    CHECK_INT(lks_asksim_get(&s, V1 "/Registries/iLO"), 200);
    CHECK_STR(lks_asksim_text(&s, "Registry"), "iLO.2.15");
    CHECK_INT(lks_asksim_get(&s, V1 "/Registries/iLO/iLO"), 200);
    CHECK_STR(lks_asksim_text(&s, "RegistryVersion"), "2.15.0");
    CHECK_STR(lks_asksim_text(&s, "Messages/SystemResetRequired/Severity"), "Warning");
    CHECK_STR(lks_asksim_text(&s, "Messages/UpdateInProgress/Severity"), "Warning");
    CHECK_STR(lks_asksim_text(&s, "Messages/NoValidSession/Severity"), "");
    CHECK_INT(lks_asksim_get(&s, V1 "/Registries/Update"), 404);
    CHECK_INT(lks_asksim_get(&s, V1 "/Nowhere"), 404);
    CHECK_STR(lks_asksim_text(&s, "error/code"), "iLO.0.10.ExtendedInfo");
    CHECK_STR(lks_asksim_text(&s, "error/@Message.ExtendedInfo/0/MessageId"),
              "Base.1.18.ResourceNotFound");
}

/* Of every personality: the registries that it lists hold every message that its tasks report. */
static void check_task(struct lks_asksim *s)
{
    char path[160], at[64];
    CHECK_INT(lks_asksim_get(s, V1 "/TaskService/Tasks"), 200);
    (void)snprintf(path, sizeof(path), "%" LKS_STR_FMT,
                   LKS_STR_ARG(lks_asksim_text(s, "Members/0/@odata.id")));
    for (unsigned i = 0;; i++) {
        CHECK_INT(lks_asksim_get(s, path), 200);
        (void)snprintf(at, sizeof(at), "Messages/%u/MessageId", i);
        struct lks_str prefix, rest, id = lks_asksim_text(s, at);
        if (id.len == 0) {
            CHECK(i > 1);
            return;
        }
        char file[160];
        lks_str_cut(id, '.', &prefix, &rest);
        (void)snprintf(at, sizeof(at), "Messages/%" LKS_STR_FMT "/Message",
                       LKS_STR_ARG(lks_str_last(rest, '.')));
        (void)snprintf(file, sizeof(file), V1 "/Registries/%" LKS_STR_FMT "/%" LKS_STR_FMT,
                       LKS_STR_ARG(prefix), LKS_STR_ARG(prefix));
        CHECK(s->personality == LKS_BMCSIM_HPE
                  ? lks_str_is(prefix, "iLO") || lks_str_is(prefix, "Base")
                  : !lks_str_is(prefix, "iLO"));
        CHECK_INT(lks_asksim_get(s, file), 200);
        CHECK(lks_asksim_text(s, at).len > 0);
    }
}

static void test_messages(void)
{
    for (unsigned p = 0; p < LKS_BMCSIM_PERSONALITIES; p = redfish_from(p + 1)) {
        LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf package = {0};
        bool shelf = p == LKS_BMCSIM_SHELF;
        lks_test_case("%s", lks_bmcsim_words[p]);
        lks_asksim_open(&s, (enum lks_bmcsim_personality)p, 1);
        lks_asksim_package(&s, shelf ? "power-shelf" : "bmc", "1.1.0", 4000, &package);
        int status = lks_asksim_push(
            &s, shelf ? "{\"Targets\":[\"" V1 "/Managers/PMC\"]}" : "{\"Targets\":[]}",
            lks_buf_view(&package));
        CHECK_INT(status, p == LKS_BMCSIM_HPE ? 200 : 202);
        lks_asksim_wait(&s, 60);
        check_task(&s);
    }
}

static void test_dell_system(void)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    lks_asksim_open(&s, LKS_BMCSIM_DELL, 1);
    CHECK_INT(lks_asksim_get(&s, V1 "/Systems/System.Embedded.1"), 200);
    CHECK_STR(lks_asksim_text(&s, "Oem/Dell/DellSystem/@odata.type"),
              "#DellSystem.v1_4_0.DellSystem");
    CHECK_STR(lks_asksim_text(&s, "Oem/Dell/DellSystem/ChassisServiceTag"), "node1");
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"all", test_all},
        {"expand", test_expand},
        {"HPE: messages", test_hpe_messages},
        {"messages are in a registry", test_messages},
        {"Dell: system", test_dell_system},
        {0},
    };
    return lks_test_main(tests);
}
