/* Reading an inventory: the personalities of bmcsim against the truth behind them, and services
 * that do as they like, written down as the pages they serve. */
#include "drivers/bmc/bmc_version.h"
#include "model/tuple/tuple.h"
#include "tests/bmcs.h"
#include "tests/facts.h"
#include "tests/test.h"

#include <stdlib.h>

/* The personalities ------------------------------------------------------------------------- */

static enum lks_bmcs_end read_sim(struct lks_bmcs *m, enum lks_bmcsim_personality personality,
                                  struct lks_bmc_inventory *out)
{
    const struct lks_bmc_driver *driver = lks_bmcs_driver(personality);
    struct lks_bmc_secret secret = lks_bmcs_secret();
    void *value = calloc(1, driver->read->size);
    LKS_ASSERT(value != NULL);
    lks_bmc_inventory_init(out);
    driver->read_begin(value, lks_test_facts(), &secret, m->now + LKS_BMCS_HOUR, out);
    enum lks_bmcs_end end = lks_bmcs_run(m, driver->read, value);
    free(value);
    return end;
}

static bool has_device(const struct lks_bmc_inventory *i, const struct lks_bmcsim_device *d)
{
    for (size_t k = 0; k < i->count; k++) {
        const struct lks_bmc_item *item = &i->items[k];
        if (item->bank == LKS_BANK_ACTIVE && lks_bmc_version_same(item->version, d->active) &&
            (lks_str_eq(item->class, d->class) || item->class.len == 0))
            return true;
    }
    return false;
}

/* Every device there is, and sessions that are closed: more reads than a service has sessions. */
static void test_personalities(void)
{
    for (int p = 0; p < LKS_BMCSIM_PERSONALITIES; p++) {
        LKS_CLEANUP(lks_bmcs_fini) struct lks_bmcs m = {0};
        lks_bmcs_init(&m, (enum lks_bmcsim_personality)p, 1, 1);
        for (unsigned times = 0; times < 20; times++) {
            LKS_CLEANUP(lks_bmc_inventory_fini) struct lks_bmc_inventory inventory = {0};
            lks_test_case("%s, read %u", lks_bmcsim_words[p], times);
            if (!CHECK_INT(read_sim(&m, (enum lks_bmcsim_personality)p, &inventory), LKS_BMCS_DONE))
                break;
            CHECK_INT(inventory.missing, 0);
            CHECK(inventory.count >= lks_bmcsim_device_count(m.sim));
            CHECK(inventory.vendor.len > 0);
            for (size_t i = 0; i < lks_bmcsim_device_count(m.sim) && times == 0; i++) {
                struct lks_bmcsim_device d;
                lks_bmcsim_device(m.sim, i, &d);
                lks_test_case("%s, %.*s", lks_bmcsim_words[p], (int)d.id.len, d.id.ptr);
                CHECK(has_device(&inventory, &d));
            }
        }
    }
}

/* Services by their pages ------------------------------------------------------------------- */

struct page {
    const char *method, *path;
    int status;
    const char *head, *body;
};

#define ROOT_PAGE                                                                                  \
    {                                                                                              \
        "GET", "/redfish/v1/", 200, "",                                                            \
            "{\"Vendor\":\"Contoso\",\"UpdateService\":{\"@odata.id\":\"/u\"},"                    \
            "\"Links\":{\"Sessions\":{\"@odata.id\":\"/s\"}}}"                                     \
    }
#define LOGIN_PAGE                                                                                 \
    {                                                                                              \
        "POST", "/s", 201, "x-auth-token: t1\nlocation: /s/1\n", "{}"                              \
    }
#define SERVICE_PAGE                                                                               \
    {                                                                                              \
        "GET", "/u", 200, "", "{\"FirmwareInventory\":{\"@odata.id\":\"/f\"}}"                     \
    }
#define LIST_PAGE                                                                                  \
    {                                                                                              \
        "GET", "/f", 200, "",                                                                      \
            "{\"Members@odata.count\":2,\"Members\":[{\"@odata.id\":\"/f/a\"},"                    \
            "{\"@odata.id\":\"/f/b\"}]}"                                                           \
    }
#define A_PAGE                                                                                     \
    {                                                                                              \
        "GET", "/f/a", 200, "", "{\"@odata.id\":\"/f/a\",\"Id\":\"a\",\"Version\":\"1.0\"}"        \
    }
#define B_PAGE                                                                                     \
    {                                                                                              \
        "GET", "/f/b", 200, "", "{\"@odata.id\":\"/f/b\",\"Id\":\"b\",\"Version\":\"2.0\"}"        \
    }
#define LOGOUT_PAGE                                                                                \
    {                                                                                              \
        "DELETE", "/s/1", 204, "", ""                                                              \
    }
#define USUAL ROOT_PAGE, LOGIN_PAGE, SERVICE_PAGE, LIST_PAGE, A_PAGE, B_PAGE, LOGOUT_PAGE

/* A machine with systems and chassis. */
#define MACHINE_ROOT                                                                               \
    {                                                                                              \
        "GET", "/redfish/v1/", 200, "",                                                            \
            "{\"Vendor\":\"NVIDIA\",\"UpdateService\":{\"@odata.id\":\"/u\"},\"Systems\":{"        \
            "\"@odata.id\":\"/sys\"},\"Chassis\":{\"@odata.id\":\"/"                               \
            "ch\"},\"Links\":{\"Sessions\":{"                                                      \
            "\"@odata.id\":\"/s\"}}}"                                                              \
    }
#define MEMBERS(path, list)                                                                        \
    {                                                                                              \
        "GET", path, 200, "", "{\"Members\":[" list "]}"                                           \
    }
#define AT(path) "{\"@odata.id\":\"" path "\"}"
#define SAYS(path, what)                                                                           \
    {                                                                                              \
        "GET", path, 200, "", "{" what "}"                                                         \
    }
#define MODEL(model, serial) "\"Model\":\"" model "\",\"SerialNumber\":\"" serial "\""

/* Of such a machine, what is the same for all. */
#define MACHINE MACHINE_ROOT, LOGIN_PAGE, SERVICE_PAGE, LIST_PAGE, A_PAGE, B_PAGE, LOGOUT_PAGE

/* Pages are looked up from the first on; one may be served a number of times before the next of the
 * same name. */
static const struct service {
    const char *name;
    enum lks_code code;
    unsigned count, missing;
    const char *says;  /* a piece of the notes, or of the failure; NULL: none */
    const char *asked; /* a piece of what was asked, a line each; NULL: whatever */
    struct page pages[18];
    const char *model, *serial; /* NULL: whatever */
} services[] = {
    {.name = "as the standard has it", .count = 2, .asked = "DELETE /s/1", .pages = {USUAL}},
    {.name = "the system says what it is, and nothing else is asked",
     .count = 2,
     .model = "S1",
     .serial = "1",
     .asked = "GET /sys\nGET /sys/a\nGET /u\n",
     .pages = {MACHINE, MEMBERS("/sys", AT("/sys/a") "," AT("/sys/b")),
               SAYS("/sys/a", MODEL("S1", "1"))}},
    {.name = "GB200: the host says nothing of itself, the baseboard does",
     .count = 2,
     .model = "GB200 NVL",
     .serial = "164",
     .asked = "GET /sys\nGET /sys/System_0\nGET /sys/HGX_Baseboard_0\nGET /u\n",
     .pages = {MACHINE, MEMBERS("/sys", AT("/sys/System_0") "," AT("/sys/HGX_Baseboard_0")),
               SAYS("/sys/System_0", "\"PowerState\":\"On\""),
               SAYS("/sys/HGX_Baseboard_0", MODEL("GB200 NVL", "164"))}},
    {.name = "GH200: no system says it, a chassis does, and parts of the machine are not asked",
     .count = 2,
     .model = "GH200",
     .serial = "165",
     .asked = "GET /sys\nGET /sys/System_0\nGET /ch\nGET /ch/HGX_Chassis_0\nGET /u\n",
     .pages = {MACHINE, MEMBERS("/sys", AT("/sys/System_0")),
               SAYS("/sys/System_0", "\"PowerState\":\"On\""),
               MEMBERS("/ch", AT("/ch/BMC_0") "," AT("/ch/CBC_0") "," AT("/ch/HGX_Chassis_0")),
               SAYS("/ch/CBC_0", MODEL("CBC", "9")),
               SAYS("/ch/HGX_Chassis_0", MODEL("GH200", "165"))}},
    {.name = "the model is the system's, the serial number that of the chassis",
     .count = 2,
     .model = "S1",
     .serial = "7",
     .asked = "GET /ch\nGET /ch/Chassis_0\nGET /u\n",
     .pages = {MACHINE, MEMBERS("/sys", AT("/sys/a")), SAYS("/sys/a", "\"Model\":\"S1\""),
               MEMBERS("/ch", AT("/ch/Chassis_0")), SAYS("/ch/Chassis_0", MODEL("C", "7"))}},
    {.name = "nothing says it",
     .count = 2,
     .model = "",
     .serial = "",
     .asked = "GET /sys\nGET /sys/a\nGET /ch\nGET /u\n",
     .pages = {MACHINE, MEMBERS("/sys", AT("/sys/a")), SAYS("/sys/a", ""),
               MEMBERS("/ch", AT("/ch/BMC_0"))}},
    {.name = "expanded",
     .count = 2,
     .asked = "/f?$expand=.($levels=1)\nDELETE",
     .pages = {{"GET", "/redfish/v1/", 200, "",
                "{\"UpdateService\":{\"@odata.id\":\"/u\"},\"Links\":{\"Sessions\":{\"@odata.id\":"
                "\"/s\"}},\"ProtocolFeaturesSupported\":{\"ExpandQuery\":{\"NoLinks\":true,"
                "\"Levels\":true}}}"},
               LOGIN_PAGE,
               SERVICE_PAGE,
               {"GET", "/f?$expand=.($levels=1)", 200, "",
                "{\"Members@odata.count\":2,\"Members\":[{\"@odata.id\":\"/f/a\",\"Id\":\"a\","
                "\"Version\":\"1\"},{\"@odata.id\":\"/f/b\",\"Id\":\"b\",\"Version\":\"2\"}]}"},
               LOGOUT_PAGE}},
    {.name = "expansion is offered and refused",
     .count = 2,
     .says = "$expand is offered and refused",
     .pages = {{"GET", "/redfish/v1/", 200, "",
                "{\"UpdateService\":{\"@odata.id\":\"/u\"},\"Links\":{\"Sessions\":{\"@odata.id\":"
                "\"/s\"}},\"ProtocolFeaturesSupported\":{\"ExpandQuery\":{\"ExpandAll\":true}}}"},
               LOGIN_PAGE,
               SERVICE_PAGE,
               {"GET", "/f?$expand=*", 400, "", "{}"},
               LIST_PAGE,
               A_PAGE,
               B_PAGE,
               LOGOUT_PAGE}},
    {.name = "pages",
     .count = 2,
     .pages = {ROOT_PAGE,
               LOGIN_PAGE,
               SERVICE_PAGE,
               {"GET", "/f", 200, "",
                "{\"Members@odata.count\":2,\"Members\":[{\"@odata.id\":\"/f/a\"}],"
                "\"Members@odata.nextLink\":\"/f?$skip=1\"}"},
               {"GET", "/f?$skip=1", 200, "",
                "{\"Members@odata.count\":2,\"Members\":[{\"@odata.id\":\"/f/b\"}]}"},
               A_PAGE,
               B_PAGE,
               LOGOUT_PAGE}},
    {.name = "a count that is wrong and a member twice",
     .count = 2,
     .says = "says it has 9 members and lists 3",
     .pages = {ROOT_PAGE,
               LOGIN_PAGE,
               SERVICE_PAGE,
               {"GET", "/f", 200, "",
                "{\"Members@odata.count\":9,\"Members\":[{\"@odata.id\":\"/f/a\"},{\"@odata.id\":"
                "\"/f/b\"},{\"@odata.id\":\"/f/a\"}]}"},
               A_PAGE,
               B_PAGE,
               LOGOUT_PAGE}},
    {.name = "an entry that is gone",
     .count = 2,
     .missing = 1,
     .says = "b is listed and cannot be read: status 404",
     .pages = {ROOT_PAGE, LOGIN_PAGE, SERVICE_PAGE, LIST_PAGE, A_PAGE, LOGOUT_PAGE}},
    {.name = "an entry that fails, with its reason",
     .count = 2,
     .missing = 1,
     .says = "b is listed and cannot be read: no answer",
     .pages = {ROOT_PAGE,
               LOGIN_PAGE,
               SERVICE_PAGE,
               LIST_PAGE,
               A_PAGE,
               {"GET", "/f/b", 500, "", ""},
               LOGOUT_PAGE}},
    {.name = "an error that calls itself 200",
     .count = 2,
     .missing = 1,
     .says = "status 200: The device is busy",
     .pages = {ROOT_PAGE,
               LOGIN_PAGE,
               SERVICE_PAGE,
               LIST_PAGE,
               A_PAGE,
               {"GET", "/f/b", 200, "",
                "{\"error\":{\"code\":\"x\",\"@Message.ExtendedInfo\":[{\"Message\":\"The device "
                "is busy\"}]}}"},
               LOGOUT_PAGE}},
    {.name = "sloppy JSON",
     .count = 2,
     .pages = {ROOT_PAGE,
               LOGIN_PAGE,
               SERVICE_PAGE,
               LIST_PAGE,
               A_PAGE,
               {"GET", "/f/b", 200, "",
                "{\"Id\":\"b\",\"Id\":\"c\",\"Size\":1.5e3,\"Version\":\"2\xff\",}\n"},
               LOGOUT_PAGE}},
    {.name = "no sessions: the password goes along",
     .count = 2,
     .asked = "GET /u Authorization: Basic YWRtaW46Y29ycmVjdCBob3JzZQ==",
     .pages = {ROOT_PAGE, {"POST", "/s", 405, "", ""}, SERVICE_PAGE, LIST_PAGE, A_PAGE, B_PAGE}},
    {.name = "the password is wrong: it is not tried another way",
     .code = LKS_E_DENIED,
     .says = "no session for user admin: status 401",
     .pages = {ROOT_PAGE, {"POST", "/s", 401, "", ""}, SERVICE_PAGE, LIST_PAGE, A_PAGE, B_PAGE}},
    {.name = "a session that ends early",
     .count = 2,
     .asked = "GET /u\nPOST /s\nGET /u",
     .pages = {ROOT_PAGE,
               LOGIN_PAGE,
               {"GET", "/u", 401, "once", ""},
               SERVICE_PAGE,
               LIST_PAGE,
               A_PAGE,
               B_PAGE,
               LOGOUT_PAGE}},
    {.name = "sessions that always end",
     .code = LKS_E_DENIED,
     .says = "the service ends each session",
     .pages = {ROOT_PAGE, LOGIN_PAGE, {"GET", "/u", 401, "", ""}}},
    {.name = "busy for a while",
     .count = 2,
     .pages = {ROOT_PAGE,
               LOGIN_PAGE,
               {"GET", "/u", 503, "once", ""},
               SERVICE_PAGE,
               LIST_PAGE,
               A_PAGE,
               B_PAGE,
               LOGOUT_PAGE}},
    {.name = "busy for ever",
     .code = LKS_E_UNAVAILABLE,
     .says = "no good answer",
     .pages = {ROOT_PAGE, LOGIN_PAGE, {"GET", "/u", 503, "", ""}, LOGOUT_PAGE}},
    {.name = "the root is elsewhere",
     .count = 2,
     .asked = "GET /redfish\nGET /elsewhere",
     .pages = {{"GET", "/redfish", 200, "", "{\"v1\":\"/elsewhere\"}"},
               {"GET", "/elsewhere", 200, "",
                "{\"UpdateService\":{\"@odata.id\":\"/u\"},\"Links\":{\"Sessions\":{\"@odata.id\":"
                "\"/s\"}}}"},
               LOGIN_PAGE,
               SERVICE_PAGE,
               LIST_PAGE,
               A_PAGE,
               B_PAGE,
               LOGOUT_PAGE}},
    {.name = "the root answers without its slash",
     .count = 2,
     .asked = "GET /redfish/v1/\nGET /redfish/v1\n",
     .pages = {{"GET", "/redfish/v1/", 308, "location: /redfish/v1\n", ""},
               {"GET", "/redfish/v1", 200, "",
                "{\"UpdateService\":{\"@odata.id\":\"/u\"},\"Links\":{\"Sessions\":{\"@odata.id\":"
                "\"/s\"}}}"},
               LOGIN_PAGE,
               SERVICE_PAGE,
               LIST_PAGE,
               A_PAGE,
               B_PAGE,
               LOGOUT_PAGE}},
    {.name = "an address that cannot be asked for",
     .count = 2,
     .missing = 1,
     .says = "b c is listed and cannot be read: its address cannot be asked for",
     .pages = {ROOT_PAGE,
               LOGIN_PAGE,
               SERVICE_PAGE,
               {"GET", "/f", 200, "",
                "{\"Members\":[{\"@odata.id\":\"/f/a\"},{\"@odata.id\":\"/f/b c\"}]}"},
               A_PAGE,
               LOGOUT_PAGE}},
    {.name = "the password that goes along is refused",
     .code = LKS_E_DENIED,
     .says = "the service refuses user admin",
     .pages = {ROOT_PAGE, {"POST", "/s", 404, "", ""}, {"GET", "/u", 401, "", ""}}},
    {.name = "no Redfish at all",
     .code = LKS_E_INVALID,
     .says = "there is no Redfish service",
     .pages = {{"GET", "/", 200, "", "<html>"}}},
    {.name = "a root that says nothing",
     .code = LKS_E_INVALID,
     .says = "names no UpdateService",
     .pages = {{"GET", "/redfish/v1/", 200, "", "{}"}}},
    {.name = "an inventory that cannot be listed: the session is closed all the same",
     .code = LKS_E_INVALID,
     .says = "the inventory cannot be listed: status 403: No",
     .asked = "DELETE /s/1",
     .pages = {ROOT_PAGE,
               LOGIN_PAGE,
               SERVICE_PAGE,
               {"GET", "/f", 403, "", "{\"error\":{\"message\":\"No\"}}"},
               LOGOUT_PAGE}},
};

/* "once" in place of headers: only the first time. */
static const struct page *find_page(const struct service *s, const struct lks_http_request *r,
                                    bool *used)
{
    for (size_t i = 0; i < LKS_COUNT(s->pages) && s->pages[i].method != NULL; i++) {
        const struct page *page = &s->pages[i];
        bool once = strcmp(page->head, "once") == 0;
        if (strcmp(page->method, r->method) != 0 ||
            !lks_str_is(lks_buf_view(&r->path), page->path) || (once && used[i]))
            continue;
        used[i] = true;
        return page;
    }
    return NULL;
}

static void serve(const struct service *s, void *value, struct lks_talk *talk, struct lks_buf *log)
{
    bool used[LKS_COUNT(s->pages)] = {false};
    lks_ms now = 1000;
    for (unsigned i = 0; i < 200; i++) {
        lks_conversation_next(lks_bmc_redfish.read, value, now, talk);
        if (talk->kind == LKS_TALK_WAIT) {
            now = talk->until;
            continue;
        }
        if (talk->kind != LKS_TALK_SEND)
            return;
        struct lks_str head = lks_buf_view(&talk->request.head);
        ptrdiff_t basic = lks_str_find(head, LKS_STR("Authorization"));
        lks_buf_addf(log, "%s%s %s", log->len > 0 ? "\n" : "", talk->request.method,
                     talk->request.path.ptr);
        if (basic >= 0)
            lks_buf_addf(log, " %s", head.ptr + basic);
        const struct page *page = find_page(s, &talk->request, used);
        struct lks_http_response response = {.status = 404, .head = {"", 0}, .body = {"", 0}};
        if (page != NULL)
            response = (struct lks_http_response){.status = page->status,
                                                  .head = lks_str_from(page->head),
                                                  .body = lks_str_from(page->body)};
        lks_conversation_feed(lks_bmc_redfish.read, value, now, &response);
    }
    CHECK(false);
}

static void try_service(const struct service *s)
{
    LKS_CLEANUP(lks_bmc_inventory_fini) struct lks_bmc_inventory inventory = {0};
    LKS_CLEANUP(lks_conversation_talk_fini) struct lks_talk talk = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf log = LKS_BUF((size_t)1 << 16);
    struct lks_bmc_secret secret = lks_bmcs_secret();
    void *value = calloc(1, lks_bmc_redfish.read->size);
    LKS_ASSERT(value != NULL);
    lks_conversation_talk_init(&talk);
    lks_bmc_inventory_init(&inventory);
    lks_bmc_redfish.read_begin(value, lks_test_facts(), &secret, LKS_BMCS_HOUR, &inventory);
    serve(s, value, &talk, &log);
    CHECK_CODE(talk.err.code, s->code);
    if (s->code == LKS_OK) {
        CHECK_INT(inventory.count, s->count);
        CHECK_INT(inventory.missing, s->missing);
    }
    if (s->says != NULL)
        CHECK_HAS(s->code == LKS_OK ? inventory.notes : lks_str_from(talk.err.msg), s->says);
    else
        CHECK_STR(inventory.notes, "");
    if (s->asked != NULL)
        CHECK_HAS(lks_buf_view(&log), s->asked);
    if (s->model != NULL)
        CHECK_STR(inventory.model, s->model);
    if (s->serial != NULL)
        CHECK_STR(inventory.serial, s->serial);
    CHECK(strstr(talk.err.msg, LKS_BMCS_PASSWORD) == NULL);
    free(value);
}

static void test_services(void)
{
    for (size_t i = 0; i < LKS_COUNT(services); i++) {
        lks_test_case("%s", services[i].name);
        try_service(&services[i]);
    }
}

#define DELL_ROOT                                                                                  \
    "{\"Vendor\":\"Dell\",\"UpdateService\":{\"@odata.id\":\"/u\"},\"Links\":{\"Sessions\":{"      \
    "\"@odata.id\":\"/s\"}}}"

/* Ids of iDRAC change with the version, also those of devices of no known class. What a reading is
 * about must not: else each update would be a device that went and one that came. */
static void test_stable_names(void)
{
    static const char *const versions[] = {"1.0", "2.0"};
    for (size_t i = 0; i < LKS_COUNT(versions); i++) {
        LKS_CLEANUP(lks_bmc_inventory_fini) struct lks_bmc_inventory inventory = {0};
        LKS_CLEANUP(lks_conversation_talk_fini) struct lks_talk talk = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf log = {0}, list = {0};
        LKS_CLEANUP(lks_tuple_fini) struct lks_tuple tuple = {0};
        struct lks_bmc_secret secret = lks_bmcs_secret();
        struct lks_err err = {0};
        void *value = calloc(1, lks_bmc_redfish.read->size);
        LKS_ASSERT(value != NULL);
        lks_test_case("version %s", versions[i]);
        lks_buf_init(&log, (size_t)1 << 16);
        lks_buf_init(&list, (size_t)1 << 16);
        lks_buf_addf(&list,
                     "{\"Members\":[{\"@odata.id\":\"/f/a\",\"Id\":\"Installed-7-%s__Odd.Slot.1\","
                     "\"Version\":\"%s\"},{\"@odata.id\":\"/f/b\",\"Id\":\"Previous-7-%s.1__Odd."
                     "Slot.1\",\"Version\":\"0\"}]}",
                     versions[i], versions[i], versions[i]);
        struct service s = {.pages = {{"GET", "/redfish/v1/", 200, "", DELL_ROOT},
                                      LOGIN_PAGE,
                                      SERVICE_PAGE,
                                      {"GET", "/f", 200, "", list.ptr},
                                      LOGOUT_PAGE}};
        lks_conversation_talk_init(&talk);
        lks_bmc_inventory_init(&inventory);
        lks_tuple_init(&tuple);
        lks_bmc_redfish.read_begin(value, lks_test_facts(), &secret, LKS_BMCS_HOUR, &inventory);
        serve(&s, value, &talk, &log);
        lks_bmc_inventory_tuple(&inventory, LKS_STR("n1"), 0, &tuple);
        CHECK_CODE(lks_tuple_finish(&tuple, &err), LKS_OK);
        const struct lks_reading *active = lks_tuple_find(&tuple, "firmware/unknown");
        const struct lks_reading *backup = lks_tuple_find(&tuple, "backup/unknown");
        CHECK_STR(active != NULL ? active->of : LKS_STR("none"), "Odd.Slot.1");
        CHECK_STR(active != NULL ? active->value : LKS_STR("none"), versions[i]);
        CHECK_STR(backup != NULL ? backup->of : LKS_STR("none"), "Odd.Slot.1");
        free(value);
    }
}

/* What an entry says ------------------------------------------------------------------------ */

static const struct {
    const char *name, *body, *class, *of, *version;
    enum lks_bmc_bank bank;
    enum lks_bmc_told updateable, write_protected;
} entries[] = {
    {"all of it",
     "{\"Id\":\"HGX_FW_GPU_SXM_3\",\"Version\":\"96.00\",\"Updateable\":true,\"WriteProtected\":"
     "false}",
     "vbios", "gpu 3", "96.00", LKS_BANK_ACTIVE, LKS_TOLD_YES, LKS_TOLD_NO},
    {"protected by a text", "{\"Id\":\"HostBMC_0\",\"Version\":\"7\",\"WriteProtected\":\"true\"}",
     "bmc", "", "7", LKS_BANK_ACTIVE, LKS_TOLD_NOT, LKS_TOLD_YES},
    {"protected by nothing", "{\"Id\":\"HostBMC_0\",\"Version\":\"7\",\"WriteProtected\":null}",
     "bmc", "", "7", LKS_BANK_ACTIVE, LKS_TOLD_NOT, LKS_TOLD_NOT},
    {"hardly anything", "{\"Id\":\"HGX_FW_GPU_SXM_3\"}", "vbios", "gpu 3", "", LKS_BANK_ACTIVE,
     LKS_TOLD_NOT, LKS_TOLD_NOT},
    {"unknown to us", "{\"Id\":\"Frobnicator\",\"Version\":\"7\"}", "", "", "7", LKS_BANK_ACTIVE,
     LKS_TOLD_NOT, LKS_TOLD_NOT},
    {"staged, by its own word", "{\"Id\":\"x\",\"Version\":\"7\",\"Staged\":true}", "", "", "7",
     LKS_BANK_STAGED, LKS_TOLD_NOT, LKS_TOLD_NOT},
    {"not active, by its own word", "{\"Id\":\"x\",\"Active\":false}", "", "", "", LKS_BANK_BACKUP,
     LKS_TOLD_NOT, LKS_TOLD_NOT},
    {"nothing in it", "{\"Id\":\"HostBMC_1\",\"Version\":\"Not Present\"}", "bmc", "", "",
     LKS_BANK_BACKUP, LKS_TOLD_NOT, LKS_TOLD_NOT},
    {"a spare", "{\"Id\":\"x\",\"Status\":{\"State\":\"StandbySpare\"}}", "", "", "",
     LKS_BANK_BACKUP, LKS_TOLD_NOT, LKS_TOLD_NOT},
    {"of another type than they should be",
     "{\"Id\":7,\"Version\":1.10,\"Updateable\":\"yes\",\"RelatedItem\":{}}", "", "", "1.10",
     LKS_BANK_ACTIVE, LKS_TOLD_NOT, LKS_TOLD_NOT},
};

static void test_entries(void)
{
    for (size_t i = 0; i < LKS_COUNT(entries); i++) {
        LKS_CLEANUP(lks_bmc_inventory_fini) struct lks_bmc_inventory inventory = {0};
        LKS_CLEANUP(lks_conversation_talk_fini) struct lks_talk talk = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf log = LKS_BUF((size_t)1 << 16);
        struct lks_bmc_secret secret = lks_bmcs_secret();
        struct service s = {
            .pages = {ROOT_PAGE,
                      LOGIN_PAGE,
                      SERVICE_PAGE,
                      {"GET", "/f", 200, "", "{\"Members\":[{\"@odata.id\":\"/f/a\"}]}"},
                      {"GET", "/f/a", 200, "", entries[i].body},
                      LOGOUT_PAGE}};
        void *value = calloc(1, lks_bmc_redfish.read->size);
        LKS_ASSERT(value != NULL);
        lks_test_case("%s", entries[i].name);
        lks_conversation_talk_init(&talk);
        lks_bmc_inventory_init(&inventory);
        lks_bmc_redfish.read_begin(value, lks_test_facts(), &secret, LKS_BMCS_HOUR, &inventory);
        serve(&s, value, &talk, &log);
        free(value);
        if (!CHECK_INT(inventory.count, 1))
            continue;
        const struct lks_bmc_item *item = &inventory.items[0];
        CHECK_STR(item->class, entries[i].class);
        CHECK_STR(item->of, entries[i].of);
        CHECK_STR(item->version, entries[i].version);
        CHECK_INT(item->bank, entries[i].bank);
        CHECK_INT(item->updateable, entries[i].updateable);
        CHECK_INT(item->write_protected, entries[i].write_protected);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"every personality, against the truth", test_personalities},
        {"services that do as they like", test_services},
        {"what an entry says", test_entries},
        {"what a reading is about stays", test_stable_names},
        {0},
    };
    return lks_test_main(tests);
}
