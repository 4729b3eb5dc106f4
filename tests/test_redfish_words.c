/* How management controllers write things: versions of several spellings, and JSON that a strict
 * reader would refuse. */
#include "drivers/bmc/bmc_json.h"
#include "drivers/bmc/bmc_version.h"
#include "drivers/bmc/redfish_update.h"
#include "tests/test.h"

#include <stdlib.h>

/* Versions ---------------------------------------------------------------------------------- */

static const struct {
    const char *said, *plain;
} plain_rows[] = {
    {"1.2.3", "1.2.3"},
    {"V1.2.3", "1.2.3"},
    {"  2.72 Sep 04 2022 ", "2.72"},
    {"BIOS Date: 08/04/2023 Ver 1.4", "1.4"},
    {"A42 v2.60 (08/11/2022)", "2.60"},
    {"11.2.0 Build 44", "11.2.0"},
    {"3.50 0x800016DC", "3.50"},
    {"312e3041", "1.0a"},
    {"1.0A", "1.0a"},
    {"20240131", "20240131"},
    {"31323334", "31323334"},
    {"00.02.0134.0000_n04", "00.02.0134.0000"},
    {"HGX-22.10-1-rc67", "hgx-22.10-1-rc67"},
    {"F5.11.CB", "f5.11.cb"},
    {"_n04", "_n04"},
    {"Not Present", ""},
    {"N/A", ""},
    {"", ""},
    {"   ", ""},
};

static void test_plain(void)
{
    for (size_t i = 0; i < LKS_COUNT(plain_rows); i++) {
        char out[LKS_BMC_PLAIN_SIZE];
        lks_test_case("'%s'", plain_rows[i].said);
        CHECK_STR(lks_bmc_version_plain(lks_str_from(plain_rows[i].said), out),
                  plain_rows[i].plain);
    }
}

static const struct {
    const char *said, *version;
} said_rows[] = {
    {"1.2.3", "1.2.3"},
    {" 1.2.3 ", "1.2.3"},
    {"Not Present", ""},
    {"NOT PRESENT", ""},
    {" Not Present ", ""},
    {"N/A", ""},
    {"n/a", ""},
    {"NA", ""},
    {"Not Available", ""},
    {"None", ""},
    {"Unknown", ""},
    {"null", ""},
    {"-", ""},
    {"", ""},
    {"   ", ""},
    {"NA-1.0", "NA-1.0"},
    {"unknown 1.0", "unknown 1.0"},
};

/* Some say in words that there is no version. */
static void test_said(void)
{
    for (size_t i = 0; i < LKS_COUNT(said_rows); i++) {
        lks_test_case("'%s'", said_rows[i].said);
        CHECK_STR(lks_bmc_version_said(lks_str_from(said_rows[i].said)), said_rows[i].version);
    }
}

static void test_long(void)
{
    char said[1000], out[LKS_BMC_PLAIN_SIZE];
    memset(said, '1', sizeof(said));
    CHECK_INT(lks_bmc_version_plain((struct lks_str){said, sizeof(said)}, out).len,
              LKS_BMC_PLAIN_SIZE - 1);
}

static const struct {
    const char *a, *b;
    bool same, older; /* older: a than b, as firmware is numbered */
} pairs[] = {
    {"1.0A", "312e3041", true, false},
    {"1.0A", "1.0a", true, false},
    {"00.02.0134.0000_n00", "00.02.0134.0000_N04", true, false},
    {"BIOS Date: 08/04/2023 Ver 1.4", "1.4", true, false},
    {"BIOS Date: 05/04/2023 Ver 1.3", "1.4", false, true},
    {"11.2.0 Build 44", "11.2.0 build 44 ", true, false},
    {"11.2.0 Build 44", "11.2.0 Build 45", false, false},
    {"11.2.0 Build 44", "11.2.0", true, false},
    {"2.4.0 (build A)", "2.4.0 (build B)", false, false},
    {"2.4.0 (build A)", "2.4.0 (BUILD A)", true, false},
    {"2.4.0 (build A)", "2.4.0", true, false},
    {"1.9", "1.10", false, true},
    {"1.10", "1.9", false, false},
    {"Not Present", "Not Present", false, false},
    {"", "", false, false},
    {"unknown", "1.0", false, false},
    {"1.0", "", false, false},
};

static void test_pairs(void)
{
    for (size_t i = 0; i < LKS_COUNT(pairs); i++) {
        struct lks_str a = lks_str_from(pairs[i].a), b = lks_str_from(pairs[i].b);
        lks_test_case("'%s' and '%s'", pairs[i].a, pairs[i].b);
        CHECK(lks_bmc_version_same(a, b) == pairs[i].same);
        CHECK(lks_bmc_version_same(b, a) == pairs[i].same);
        CHECK(lks_bmc_version_older(a, b, LKS_VERSION_FIRMWARE) == pairs[i].older);
    }
}

/* JSON -------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *json, *path, *text; /* text: NULL where it is refused */
} json_rows[] = {
    {"a plain object", "{\"a\":\"b\"}", "a", "b"},
    {"inside", "{\"Status\":{\"Health\":\"OK\"}}", "Status/Health", "OK"},
    {"a fraction stays text", "{\"a\":1.50}", "a", "1.50"},
    {"an exponent stays text", "{\"a\":-1e9}", "a", "-1e9"},
    {"a large number stays text", "{\"a\":9007199254740993}", "a", "9007199254740993"},
    {"of equal names the first", "{\"a\":\"1\",\"a\":\"2\"}", "a", "1"},
    {"a byte order mark", "\xef\xbb\xbf{\"a\":\"b\"}", "a", "b"},
    {"something behind the end", "{\"a\":\"b\"}\r\n<html>", "a", "b"},
    {"a comma too many", "{\"a\":\"b\",}", "a", "b"},
    {"raw control bytes",
     "{\"a\":\"b\x01"
     "c\"}",
     "a", "b?c"},
    {"line ends", "{\"a\":\"b\\nc\\td\\re\nf\"}", "a", "b c d e f"},
    {"control characters by escapes", "{\"a\":\"b\\u001b[2J\\u007f\\u009bc\"}", "a", "b?[2J??c"},
    {"broken UTF-8",
     "{\"a\":\"b\xff"
     "c\"}",
     "a", "b?c"},
    {"escapes", "{\"a\":\"\\u0041\\/\\\"\\u00e4\"}", "a", "A/\"\xc3\xa4"},
    {"a pair of surrogates", "{\"a\":\"\\ud83d\\ude00\"}", "a", "\xf0\x9f\x98\x80"},
    {"half a pair", "{\"a\":\"\\ud83dx\"}", "a", "?x"},
    {"an escape of nothing", "{\"a\":\"\\q\"}", "a", "q"},
    {"a zero byte by its escape", "{\"a\":\"x\\u0000y\"}", "a", "x?y"},
    {"null is no text", "{\"a\":null}", "a", ""},
    {"no such name", "{\"a\":\"b\"}", "b", ""},
    {"blanks around", " {\n\t\"a\" : \"b\" } ", "a", "b"},
    {"trimmed", "{\"a\":\" b \"}", "a", "b"},
    {"cut off in a string", "{\"a\":\"b", "a", NULL},
    {"cut off in an escape", "{\"a\":\"\\u00", "a", NULL},
    {"cut off in an object", "{\"a\":\"b\"", "a", NULL},
    {"cut off in a list", "[1,2", "a", NULL},
    {"a name without a value", "{\"a\"}", "a", NULL},
    {"no JSON", "<html></html>", "a", NULL},
    {"nothing", "", "a", NULL},
    {"blanks alone", "  \n", "a", NULL},
};

static void test_json(void)
{
    for (size_t i = 0; i < LKS_COUNT(json_rows); i++) {
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        struct lks_err err = {0};
        lks_test_case("%s", json_rows[i].name);
        CHECK_CODE(lks_docs_init(&docs, "test", &err), LKS_OK);
        enum lks_code code = lks_bmc_json_parse(lks_str_from(json_rows[i].json), &docs, &err);
        CHECK_CODE(code, json_rows[i].text != NULL ? LKS_OK : LKS_E_INVALID);
        if (code == LKS_OK && json_rows[i].text != NULL)
            CHECK_STR(lks_bmc_json_text(docs.first, json_rows[i].path), json_rows[i].text);
    }
}

static void test_depth(void)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    char deep[4000];
    memset(deep, '[', sizeof(deep));
    CHECK_CODE(lks_docs_init(&docs, "test", &err), LKS_OK);
    CHECK_CODE(lks_bmc_json_parse((struct lks_str){deep, sizeof(deep)}, &docs, &err),
               LKS_E_INVALID);
}

static const struct {
    const char *json, *link;
} links[] = {
    {"{\"l\":{\"@odata.id\":\"/redfish/v1/Systems\"}}", "/redfish/v1/Systems"},
    {"{\"l\":{\"@odata.id\":\"https://other.example/redfish/v1/X\"}}", "/redfish/v1/X"},
    {"{\"l\":{\"@odata.id\":\"redfish/v1/X\"}}", ""},
    {"{\"l\":{\"@odata.id\":\"https://other.example\"}}", ""},
    {"{\"l\":{\"@odata.id\":7}}", ""},
    {"{\"l\":\"/redfish/v1/X\"}", ""},
    {"{}", ""},
};

/* Whatever a service names is asked of that service. */
static void test_links(void)
{
    for (size_t i = 0; i < LKS_COUNT(links); i++) {
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        struct lks_err err = {0};
        lks_test_case("%s", links[i].json);
        CHECK_CODE(lks_docs_init(&docs, "test", &err), LKS_OK);
        CHECK_CODE(lks_bmc_json_parse(lks_str_from(links[i].json), &docs, &err), LKS_OK);
        CHECK_STR(lks_bmc_json_link(docs.first, "l"), links[i].link);
    }
}

/* What an older one saved is without the newer words, and is taken up with care. */
static void test_saved_before(void)
{
    static const char saved[] =
        "{\"schema\":1,\"sent\":1,\"way\":1,\"uploads\":1,\"starts\":0,\"resets\":0,"
        "\"expected\":1,\"activated\":0,\"outcome\":0,\"version\":\"2.0\",\"apply\":\"OnReset\","
        "\"task\":\"\",\"before\":\"1.0\",\"kind\":\"bmc\",\"booted\":\"\",\"oem_state\":\"\","
        "\"reset_at\":\"\",\"reset_type\":\"\",\"why\":\"\",\"text\":\"\",\"tasks\":[]}";
    struct lks_redfish_update *u = calloc(1, sizeof(*u));
    struct lks_err err = {0};
    LKS_ASSERT(u != NULL);
    CHECK_CODE(lks_redfish_load(u, lks_str_from(saved), &err), LKS_OK);
    CHECK(u->taken && u->waited && !u->task_ended);
    CHECK(u->staying_count == 0 && u->entries[0] == 0 && u->entries[1] == 0);
    free(u);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"the version in a text", test_plain},
        {"no version in words", test_said},
        {"a text without end", test_long},
        {"pairs of versions", test_pairs},
        {"JSON as it comes", test_json},
        {"JSON too deep", test_depth},
        {"links are paths", test_links},
        {"saved by an older one", test_saved_before},
        {0},
    };
    return lks_test_main(tests);
}
