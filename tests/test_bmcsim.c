#include "lab/bmcsim/bmcsim.h"

#include "codec/format/digest.h"
#include "tests/asksim.h"
#include "tests/test.h"

#include <malloc.h>
#include <stdio.h>

#define NONE ((struct lks_str){0})

/* ---- Every link leads somewhere ---- */

enum { PATHS_MAX = 1024, PATH_SIZE = 256, ANSWERS_MAX = 4 << 20 };

struct crawl {
    char paths[PATHS_MAX][PATH_SIZE];
    size_t count;
};

static void note(struct crawl *w, struct lks_str path)
{
    lks_str_cut(path, '#', &path, &(struct lks_str){0});
    for (size_t i = 0; i < w->count; i++)
        if (lks_str_is(path, w->paths[i]))
            return;
    LKS_ASSERT(w->count < PATHS_MAX && path.len < PATH_SIZE);
    (void)snprintf(w->paths[w->count++], PATH_SIZE, "%" LKS_STR_FMT, LKS_STR_ARG(path));
}

static void links(struct crawl *w, const struct lks_doc *d)
{
    for (const struct lks_doc *c = d->first; c != NULL; c = c->next) {
        if (c->kind == LKS_DOC_TEXT &&
            (lks_str_is(c->key, "@odata.id") || lks_str_is(c->key, "Uri") ||
             lks_str_is(c->key, "@Redfish.ActionInfo")))
            note(w, c->text);
        links(w, c);
    }
}

static void check_resource(struct lks_asksim *s, const char *path)
{
    struct lks_str type = lks_asksim_text(s, "@odata.type");
    lks_test_case("%s: %s", lks_bmcsim_words[s->personality], path);
    CHECK_STR(lks_asksim_text(s, "@odata.id"), path);
    CHECK(lks_str_starts(type, "#"));
    CHECK(lks_asksim_text(s, "Name").len > 0);
    if (lks_str_ends(type, "Collection")) {
        const struct lks_doc *members = lks_doc_member(s->doc, "Members");
        const struct lks_doc *count = lks_doc_member(s->doc, "Members@odata.count");
        CHECK(members != NULL && count != NULL && (int64_t)members->count == count->number);
    } else {
        struct lks_str id = lks_asksim_text(s, "Id");
        CHECK(id.len > 0);
    }
    char schema[PATH_SIZE]; /* the type without its "#" and its last part */
    (void)snprintf(schema, sizeof(schema),
                   "<http://redfish.dmtf.org/schemas/v1/%.*s.json>; rel=describedby",
                   (int)(type.len - lks_str_last(type, '.').len) - 2, type.ptr + 1);
    CHECK_STR(lks_asksim_header(s, "Link"), schema);
    CHECK(lks_asksim_header(s, "ETag").len > 0);
    CHECK(lks_str_eq(lks_asksim_header(s, "ETag"), lks_asksim_text(s, "@odata.etag")));
}

/* The digest of all answers of a crawl. A driver has to work with what these BMCs answer, so a byte
 * changes only where that is meant. */
static const char *const crawled[] = {
    [LKS_BMCSIM_OPENBMC] =
        "sha256:b2cd2c1b464b99f3cca2645f360353ecd861d777974c6913dd676cc3dc82d0cd",
    [LKS_BMCSIM_HGX] = "sha256:30e81f6d26963ada14e5ba014538afadb2960b465c313cea9d1163bc5b58fb90",
    [LKS_BMCSIM_DELL] = "sha256:9d851c711ff22b16421c2ec12a9fae1b3f3d008dbbbb0c6272234f05211ee55c",
    [LKS_BMCSIM_HPE] = "sha256:4cd359a106b0748717a42754ac62f1fe6bc7d7634c88a717b12016cf953e32e9",
    [LKS_BMCSIM_SUPERMICRO] =
        "sha256:ad962bdf84227b4957b078cf48ebb6382fcf550d478dd363fd903002a4de26df",
    [LKS_BMCSIM_LENOVO] = "sha256:33e45c6be7e379a6f361c83cf8cc66103e958d0b8c503f2ac8d6f1f13364b362",
    [LKS_BMCSIM_SHELF] = "sha256:d4e7f2a2428b5bf45878680a3f0b495a04b89809392b7a8520bd23644cb19fd5",
};

/* From the root, every link under /redfish/v1 gives a resource with type, id and name. */
static void test_crawl(void)
{
    static struct crawl w;
    for (unsigned p = 0; p < LKS_BMCSIM_PERSONALITIES; p++) {
        if (p == LKS_BMCSIM_SWITCH)
            continue;
        LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf package = {0}, all = LKS_BUF(ANSWERS_MAX);
        char digest[LKS_DIGEST_SIZE];
        struct lks_err err = {0};
        lks_asksim_open(&s, (enum lks_bmcsim_personality)p, 1);
        lks_asksim_package(&s, p == LKS_BMCSIM_SHELF ? "power-shelf" : "bmc", "1.1.0", 4000,
                           &package);
        /* a session and a task, so that these are there to be found */
        lks_asksim_post(&s, "/redfish/v1/SessionService/Sessions",
                        "{\"UserName\":\"root\",\"Password\":\"secret12\"}");
        bool must = p == LKS_BMCSIM_HGX || p == LKS_BMCSIM_SHELF;
        const char *target = p == LKS_BMCSIM_HGX ? "{\"Targets\":[]}"
                             : must              ? "{\"Targets\":[\"/redfish/v1/Managers/PMC\"]}"
                                                 : "{}";
        int status = lks_asksim_push(&s, target, lks_buf_view(&package));
        CHECK_INT(status, p == LKS_BMCSIM_HPE ? 200 : 202);
        lks_asksim_wait(&s, 10);
        w.count = 0;
        note(&w, LKS_STR("/redfish/v1"));
        for (size_t i = 0; i < w.count; i++) {
            lks_test_case("%s: %s", lks_bmcsim_words[p], w.paths[i]);
            if (!CHECK_INT(lks_asksim_get(&s, w.paths[i]), 200) || !CHECK(s.doc != NULL))
                continue;
            check_resource(&s, w.paths[i]);
            links(&w, s.doc);
            lks_buf_add(&all, lks_buf_view(&s.reply.body));
        }
        CHECK(w.count > 40);
        CHECK_CODE(lks_digest_text(lks_buf_view(&all), digest, &err), LKS_OK);
        CHECK_STR(lks_str_from(digest), crawled[p]);
    }
}

/* ---- Requests and their answers ---- */

static const struct asked {
    const char *name;
    enum lks_bmcsim_personality personality;
    const char *method, *path, *head, *body;
    int status;
    const char *field, *value; /* of the answer; "!" is the key of its error */
    bool anonymous;
} table[] = {
#define JSON "content-type: application/json\n"
#define V1   "/redfish/v1"
    {.name = "versions",
     .method = "GET",
     .path = "/redfish",
     .status = 200,
     .field = "v1",
     .value = "/redfish/v1/",
     .anonymous = true},
    {.name = "the root is open",
     .method = "GET",
     .path = V1,
     .status = 200,
     .field = "Links/Sessions/@odata.id",
     .value = V1 "/SessionService/Sessions",
     .anonymous = true},
    {.name = "with a slash too",
     .method = "GET",
     .path = V1 "/",
     .status = 200,
     .field = "RedfishVersion",
     .value = "1.17.0",
     .anonymous = true},
    {.name = "all else is not",
     .method = "GET",
     .path = V1 "/Systems",
     .status = 401,
     .field = "!",
     .value = "NoValidSession",
     .anonymous = true},
    {.name = "nor what is not there",
     .method = "GET",
     .path = V1 "/Nowhere",
     .status = 401,
     .anonymous = true},
    {.name = "not there",
     .method = "GET",
     .path = V1 "/Nowhere",
     .status = 404,
     .field = "!",
     .value = "ResourceNotFound"},
    {.name = "a member not there",
     .method = "GET",
     .path = V1 "/Systems/other",
     .status = 404,
     .field = "!",
     .value = "ResourceNotFound"},
    {.name = "the system",
     .method = "GET",
     .path = V1 "/Systems/system",
     .status = 200,
     .field = "PowerState",
     .value = "On"},
    {.name = "serial numbers come from the name",
     .method = "GET",
     .path = V1 "/Systems/system",
     .status = 200,
     .field = "SerialNumber",
     .value = "SN-node1"},
    {.name = "only reading",
     .method = "PUT",
     .path = V1 "/Systems",
     .body = "{}",
     .status = 405,
     .field = "!",
     .value = "OperationNotAllowed"},
    {.name = "an action is not read",
     .method = "GET",
     .path = V1 "/Managers/bmc/Actions/Manager.Reset",
     .status = 405},
    {.name = "a push is not read",
     .method = "GET",
     .path = V1 "/UpdateService/update-multipart",
     .status = 405},
    {.name = "not JSON",
     .method = "POST",
     .path = V1 "/SessionService/Sessions",
     .head = JSON,
     .body = "{",
     .status = 400,
     .field = "!",
     .value = "MalformedJSON"},
    {.name = "not called JSON",
     .method = "POST",
     .path = V1 "/SessionService/Sessions",
     .head = "content-type: text/plain\n",
     .body = "{}",
     .status = 415,
     .field = "!",
     .value = "UnsupportedMediaType"},
    {.name = "no password",
     .method = "POST",
     .path = V1 "/SessionService/Sessions",
     .head = JSON,
     .body = "{\"UserName\":\"root\"}",
     .status = 400,
     .field = "!",
     .value = "PropertyMissing"},
    {.name = "a wrong password",
     .method = "POST",
     .path = V1 "/SessionService/Sessions",
     .head = JSON,
     .body = "{\"UserName\":\"root\",\"Password\":\"x\"}",
     .status = 401},
    {.name = "not this account",
     .method = "DELETE",
     .path = V1 "/AccountService/Accounts/1",
     .status = 403,
     .field = "!",
     .value = "InsufficientPrivilege"},
    {.name = "no such reset",
     .method = "POST",
     .path = V1 "/Managers/bmc/Actions/Manager.Reset",
     .head = JSON,
     .body = "{\"ResetType\":\"Explode\"}",
     .status = 400,
     .field = "!",
     .value = "ActionParameterValueNotInList"},
    {.name = "no reset at all",
     .method = "POST",
     .path = V1 "/Managers/bmc/Actions/Manager.Reset",
     .head = JSON,
     .body = "{}",
     .status = 400,
     .field = "!",
     .value = "ActionParameterMissing"},
    {.name = "a property",
     .method = "PATCH",
     .path = V1 "/Systems/system",
     .head = JSON,
     .body = "{\"AssetTag\":\"x\"}",
     .status = 204},
    {.name = "an unknown property",
     .method = "PATCH",
     .path = V1 "/Systems/system",
     .head = JSON,
     .body = "{\"Colour\":\"x\"}",
     .status = 400,
     .field = "!",
     .value = "PropertyUnknown"},
    {.name = "a stale tag",
     .method = "PATCH",
     .path = V1 "/Systems/system",
     .head = JSON "if-match: \"x\"\n",
     .body = "{\"AssetTag\":\"x\"}",
     .status = 412,
     .field = "!",
     .value = "PreconditionFailed"},
    {.name = "30 MiB",
     .method = "GET",
     .path = V1 "/UpdateService",
     .status = 200,
     .field = "MaxImageSizeBytes",
     .value = "31457280"},
    {.name = "expanded",
     .method = "GET",
     .path = V1 "/UpdateService/FirmwareInventory?$expand=.",
     .status = 200,
     .field = "Members/0/Version",
     .value = "1.0.0"},
    {.name = "allowed resets",
     .method = "GET",
     .path = V1 "/Managers/bmc",
     .status = 200,
     .field = "Actions/#Manager.Reset/ResetType@Redfish.AllowableValues/0",
     .value = "GracefulRestart"},
    {.name = "HGX: elsewhere",
     .personality = LKS_BMCSIM_HGX,
     .method = "GET",
     .path = V1 "/Managers/BMC_0/ResetActionInfo",
     .status = 200,
     .field = "Parameters/0/AllowableValues/1",
     .value = "ForceRestart"},
    {.name = "HGX: a GPU",
     .personality = LKS_BMCSIM_HGX,
     .method = "GET",
     .path = V1 "/UpdateService/FirmwareInventory/HGX_FW_GPU_SXM_8",
     .status = 200,
     .field = "Updateable",
     .value = "true"},
    {.name = "HGX: an InfoROM",
     .personality = LKS_BMCSIM_HGX,
     .method = "GET",
     .path = V1 "/UpdateService/FirmwareInventory/HGX_InfoROM_GPU_SXM_1",
     .status = 200,
     .field = "Updateable",
     .value = "false"},
    {.name = "HGX: versions with a suffix",
     .personality = LKS_BMCSIM_HGX,
     .method = "GET",
     .path = V1 "/UpdateService/FirmwareInventory/HGX_FW_ERoT_GPU_SXM_1",
     .status = 200,
     .field = "Version",
     .value = "1.0.0_n04"},
    {.name = "Supermicro: a twin",
     .personality = LKS_BMCSIM_SUPERMICRO,
     .method = "GET",
     .path = V1 "/UpdateService/FirmwareInventory/Backup_BMC",
     .status = 200,
     .field = "Version",
     .value = "Not Present"},
    {.name = "Supermicro: a date that is none",
     .personality = LKS_BMCSIM_SUPERMICRO,
     .method = "GET",
     .path = V1 "/UpdateService/FirmwareInventory/GPU3",
     .status = 200,
     .field = "ReleaseDate",
     .value = "T00:00:00Z"},
    {.name = "Dell: ids with versions",
     .personality = LKS_BMCSIM_DELL,
     .method = "GET",
     .path = V1 "/UpdateService/FirmwareInventory/Installed-159-1.0.0__BIOS.Setup.1-1",
     .status = 200,
     .field = "SoftwareId",
     .value = "159"},
    {.name = "HPE: ids are numbers",
     .personality = LKS_BMCSIM_HPE,
     .method = "GET",
     .path = V1 "/UpdateService/FirmwareInventory/3",
     .status = 200,
     .field = "Name",
     .value = "Redundant System ROM"},
    {.name = "HPE: only one push",
     .personality = LKS_BMCSIM_HPE,
     .method = "GET",
     .path = V1 "/UpdateService",
     .status = 200,
     .field = "MultipartHttpPushUri",
     .value = ""},
    {.name = "shelf: without a tag",
     .personality = LKS_BMCSIM_SHELF,
     .method = "POST",
     .path = V1 "/Managers/PMC/Actions/Manager.Reset",
     .head = JSON,
     .body = "{\"ResetType\":\"ForceRestart\"}",
     .status = 428,
     .field = "!",
     .value = "PreconditionRequired"},
    {.name = "shelf: any tag",
     .personality = LKS_BMCSIM_SHELF,
     .method = "POST",
     .path = V1 "/Managers/PMC/Actions/Manager.Reset",
     .head = JSON "if-match: *\n",
     .body = "{\"ResetType\":\"ForceRestart\"}",
     .status = 204},
    {.name = "shelf: no expansion",
     .personality = LKS_BMCSIM_SHELF,
     .method = "GET",
     .path = V1 "/UpdateService/FirmwareInventory?$expand=.",
     .status = 501,
     .field = "!",
     .value = "QueryNotSupported"},
    {.name = "switch: no Redfish",
     .personality = LKS_BMCSIM_SWITCH,
     .method = "GET",
     .path = V1,
     .status = 404},
    {.name = "switch: who are you",
     .personality = LKS_BMCSIM_SWITCH,
     .method = "GET",
     .path = "/nvue_v1/platform",
     .status = 401,
     .field = "title",
     .value = "Unauthorized",
     .anonymous = true},
    {.name = "switch: what it is",
     .personality = LKS_BMCSIM_SWITCH,
     .method = "GET",
     .path = "/nvue_v1/platform",
     .status = 200,
     .field = "serial-number",
     .value = "SN-node1"},
    {.name = "switch: firmware",
     .personality = LKS_BMCSIM_SWITCH,
     .method = "GET",
     .path = "/nvue_v1/platform/firmware",
     .status = 200,
     .field = "BIOS/actual-firmware",
     .value = "1.0.0"},
    {.name = "switch: one of them",
     .personality = LKS_BMCSIM_SWITCH,
     .method = "GET",
     .path = "/nvue_v1/platform/firmware/ASIC1",
     .status = 200,
     .field = "type",
     .value = "nvswitch"},
    {.name = "switch: none of them",
     .personality = LKS_BMCSIM_SWITCH,
     .method = "GET",
     .path = "/nvue_v1/platform/firmware/TOASTER",
     .status = 404},
};

static void test_table(void)
{
    for (size_t i = 0; i < LKS_COUNT(table); i++) {
        const struct asked *row = &table[i];
        lks_test_case("%s", row->name);
        LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
        lks_asksim_open(&s, row->personality, 1);
        s.anonymous = row->anonymous;
        struct lks_str body = row->body != NULL ? lks_str_from(row->body) : NONE;
        int status =
            lks_asksim(&s, row->method, row->path, row->head != NULL ? row->head : "", body);
        CHECK_INT(status, row->status);
        if (row->field != NULL)
            CHECK_STR(row->field[0] == '!' ? lks_asksim_error(&s) : lks_asksim_text(&s, row->field),
                      row->value);
    }
}

/* HEAD has the headers of GET and no body; a tag that still holds says so. */
static void test_head_and_tags(void)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    lks_asksim_open(&s, LKS_BMCSIM_OPENBMC, 1);
    CHECK_INT(lks_asksim_get(&s, V1 "/Systems/system"), 200);
    char tag[128];
    (void)snprintf(tag, sizeof(tag), "if-none-match: %" LKS_STR_FMT "\n",
                   LKS_STR_ARG(lks_asksim_header(&s, "ETag")));
    CHECK_INT(lks_asksim(&s, "HEAD", V1 "/Systems/system", "", NONE), 200);
    CHECK_INT(s.reply.body.len, 0);
    CHECK_INT(lks_asksim(&s, "GET", V1 "/Systems/system", tag, NONE), 304);
    CHECK_INT(lks_asksim(&s, "PATCH", V1 "/Systems/system", JSON, LKS_STR("{\"AssetTag\":\"q\"}")),
              204);
    CHECK_INT(lks_asksim(&s, "GET", V1 "/Systems/system", tag, NONE), 200);
}

/* ---- Sessions ---- */

static int login(struct lks_asksim *s)
{
    return lks_asksim_post(s, V1 "/SessionService/Sessions",
                           "{\"UserName\":\"root\",\"Password\":\"secret12\"}");
}

static void test_sessions(void)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    lks_asksim_open(&s, LKS_BMCSIM_DELL, 1);
    s.anonymous = true;
    CHECK_INT(login(&s), 201);
    char token[128], place[256];
    (void)snprintf(token, sizeof(token), "x-auth-token: %" LKS_STR_FMT "\n",
                   LKS_STR_ARG(lks_asksim_header(&s, "X-Auth-Token")));
    (void)snprintf(place, sizeof(place), "%" LKS_STR_FMT,
                   LKS_STR_ARG(lks_asksim_header(&s, "Location")));
    CHECK_STR(lks_asksim_text(&s, "@odata.id"), place);
    CHECK_INT(lks_asksim(&s, "GET", V1 "/Systems", token, NONE), 200);
    CHECK_INT(lks_asksim(&s, "DELETE", place, token, NONE), 204);
    CHECK_INT(lks_asksim(&s, "GET", V1 "/Systems", token, NONE), 401);

    for (int i = 0; i < 8; i++)
        CHECK_INT(login(&s), 201);
    CHECK_INT(login(&s), 503);
    CHECK_STR(lks_asksim_error(&s), "SessionLimitExceeded");
    lks_asksim_wait(&s, 1800);
    CHECK_INT(login(&s), 201);
}

/* Sessions of fast devices are shorter, and not too short for those who ask them. */
static void test_fast_sessions(void)
{
    static const struct {
        uint64_t speed;
        unsigned seconds;
    } rows[] = {{1, 1800}, {50, 36}, {1000, 30}, {0, 30}};
    for (size_t r = 0; r < LKS_COUNT(rows); r++) {
        LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
        lks_test_case("speed %u", (unsigned)rows[r].speed);
        lks_asksim_open(&s, LKS_BMCSIM_DELL, rows[r].speed);
        s.anonymous = true;
        for (int i = 0; i < 8; i++)
            CHECK_INT(login(&s), 201);
        lks_asksim_wait(&s, rows[r].seconds - 1);
        CHECK_INT(login(&s), 503);
        lks_asksim_wait(&s, 1);
        CHECK_INT(login(&s), 201);
    }
}

static void test_expiry_by_fault(void)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    lks_asksim_open(&s, LKS_BMCSIM_DELL, 1);
    s.anonymous = true;
    lks_bmcsim_fault(s.b,
                     &(struct lks_bmcsim_fault_set){.fault = LKS_FAULT_SESSION, .amount = 20000});
    CHECK_INT(login(&s), 201);
    char token[128];
    (void)snprintf(token, sizeof(token), "x-auth-token: %" LKS_STR_FMT "\n",
                   LKS_STR_ARG(lks_asksim_header(&s, "X-Auth-Token")));
    lks_asksim_wait(&s, 19);
    CHECK_INT(lks_asksim(&s, "GET", V1 "/Systems", token, NONE), 200);
    lks_asksim_wait(&s, 1);
    CHECK_INT(lks_asksim(&s, "GET", V1 "/Systems", token, NONE), 401);
}

/* Nothing to do: nothing is due, and the model is as small as a page or a few. */
static void test_idle(void)
{
    for (unsigned p = 0; p < LKS_BMCSIM_PERSONALITIES; p++) {
        LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
        lks_asksim_open(&s, (enum lks_bmcsim_personality)p, 1);
        lks_test_case("%s", lks_bmcsim_words[p]);
        CHECK(lks_bmcsim_next(s.b) == UINT64_MAX);
        CHECK_INT(lks_bmcsim_updates(s.b), 0);
        CHECK(lks_bmcsim_device_count(s.b) > 4);
    }
}

/* Thousands live in one process: what one takes, with a session. */
static void test_memory(void)
{
    enum { MANY = 50 };
    static struct lks_asksim sims[MANY];
    size_t before = mallinfo2().uordblks;
    for (size_t i = 0; i < MANY; i++) {
        lks_asksim_open(&sims[i], LKS_BMCSIM_HGX, 1);
        CHECK_INT(login(&sims[i]), 201);
        lks_bmcsim_reply_fini(&sims[i].reply);
        lks_docs_fini(&sims[i].docs);
    }
    CHECK((mallinfo2().uordblks - before) / MANY < (size_t)32 << 10);
    for (size_t i = 0; i < MANY; i++)
        lks_asksim_close(&sims[i]);
}

static void test_metadata(void)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    lks_asksim_open(&s, LKS_BMCSIM_OPENBMC, 1);
    s.anonymous = true;
    CHECK_INT(lks_asksim_get(&s, V1 "/$metadata"), 200);
    CHECK_STR(lks_str_from(s.reply.type), "application/xml");
    CHECK_HAS(lks_buf_view(&s.reply.body), "Namespace=\"UpdateService.v1_16_0\"");
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"crawl", test_crawl},
        {"table", test_table},
        {"head and tags", test_head_and_tags},
        {"sessions", test_sessions},
        {"sessions of fast devices", test_fast_sessions},
        {"expiry by fault", test_expiry_by_fault},
        {"idle", test_idle},
        {"memory", test_memory},
        {"metadata", test_metadata},
        {0},
    };
    return lks_test_main(tests);
}
