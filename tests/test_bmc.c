#include "probe/platform/ipmi.h"
#include "probe/root/probes.h"
#include "tests/dmi.h"
#include "tests/heard.h"
#include "tests/test.h"

#define DMI_FILE "/sys/firmware/dmi/tables/DMI"

static void node(const struct lks_tree *t)
{
    lks_tree_file(t, "/dev/ipmi0", "");
}

static void answered(const struct lks_tree *t)
{
    node(t);
    lks_tree_file(t, "/lockstep/ipmi.csv",
                  "key,code,value\nget-device-id,ok,"
                  "00 20 81 01 74 02 bf 7c 2a 00 79 11 05 00 00 1a\n");
}

static void older_node(const struct lks_tree *t)
{
    lks_tree_file(t, "/dev/ipmi/0", "");
    lks_tree_file(t, "/lockstep/ipmi.csv",
                  "key,code,value\nget-device-id,ok,00 20 01 87 09 51 1f a2 02 00 00 01\n");
}

static void timed_out(const struct lks_tree *t)
{
    node(t);
    lks_tree_file(t, "/lockstep/ipmi.csv",
                  "key,code,value\nget-device-id,timeout,"
                  "/dev/ipmi0: the controller did not answer within 2500 ms\n");
}

static void denied(const struct lks_tree *t)
{
    node(t);
    lks_tree_file(t, "/lockstep/ipmi.csv",
                  "key,code,value\nget-device-id,denied,/dev/ipmi0: not permitted\n");
}

static void refused(const struct lks_tree *t)
{
    node(t);
    lks_tree_file(t, "/lockstep/ipmi.csv", "key,code,value\nget-device-id,ok,c3\n");
}

static void short_answer(const struct lks_tree *t)
{
    node(t);
    lks_tree_file(t, "/lockstep/ipmi.csv", "key,code,value\nget-device-id,ok,00 20 81 01\n");
}

static void garbage(const struct lks_tree *t)
{
    node(t);
    lks_tree_file(t, "/lockstep/ipmi.csv", "key,code,value\nget-device-id,ok,hello 1\n");
}

static void put_table(const struct lks_tree *t, bool bmc)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf table = LKS_BUF(65536);
    if (bmc)
        (void)lks_dmi_add(&table, 38, 0x2600, 0x12, "");
    lks_dmi_end(&table);
    lks_tree_bytes(t, DMI_FILE, lks_buf_view(&table));
}

static void no_driver(const struct lks_tree *t)
{
    put_table(t, true);
}

static void desktop(const struct lks_tree *t)
{
    put_table(t, false);
}

static void nothing(const struct lks_tree *t)
{
    (void)t;
}

static void broken_table(const struct lks_tree *t)
{
    lks_tree_bytes(t, DMI_FILE, LKS_STR("\x01\x02"));
}

static void hidden_table(const struct lks_tree *t)
{
    lks_tree_file(t, "/lockstep/smbios.csv",
                  "key,code,value\nbmc,denied," DMI_FILE ": not permitted\n");
}

static const struct {
    const char *name;
    void (*make)(const struct lks_tree *t);
    const char *said;
} machines[] = {
    {"answers", answered,
     "firmware/bmc@bmc=1.74 < /dev/ipmi0 IPMI Get Device ID: manufacturer 10876, product 4473, "
     "auxiliary 05 00 00 1a\n"},
    {"answers without auxiliary bytes, during an update", older_node,
     "firmware/bmc@bmc=7.09 < /dev/ipmi/0 IPMI Get Device ID: manufacturer 674, product 256, "
     "update or start going on\n"},
    {"does not answer", timed_out,
     "firmware/bmc@bmc?/dev/ipmi0: the controller did not answer within 2500 ms < "
     "/dev/ipmi0\n"},
    {"not for us", denied, "firmware/bmc@bmc?/dev/ipmi0: not permitted < /dev/ipmi0\n"},
    {"an error", refused,
     "firmware/bmc@bmc?Get Device ID: the controller answers with error 0xc3 < "
     "/dev/ipmi0\n"},
    {"cut short", short_answer,
     "firmware/bmc@bmc?Get Device ID: an answer of 4 bytes, not 12 < /dev/ipmi0\n"},
    {"not bytes", garbage, "firmware/bmc@bmc?Get Device ID: not an answer < /dev/ipmi0\n"},
    {"a tree without the answer", node,
     "firmware/bmc@bmc?get-device-id: not in the captured tree < /dev/ipmi0\n"},
    {"a controller, no driver", no_driver,
     "firmware/bmc@bmc?no in-band IPMI device (load ipmi_si and ipmi_devintf) "
     "< " DMI_FILE "\n"},
    {"no controller", desktop, "firmware/bmc@bmc~ < /dev/ipmi0, " DMI_FILE "\n"},
    {"no table either", nothing, "firmware/bmc@bmc~ < /dev/ipmi0, " DMI_FILE "\n"},
    {"a broken table", broken_table,
     "firmware/bmc@bmc?no in-band IPMI device, and whether there is a "
     "controller: " DMI_FILE ": offset 0: a header that is cut short < " DMI_FILE "\n"},
    {"a table not for us", hidden_table,
     "firmware/bmc@bmc?no in-band IPMI device, and whether there is a "
     "controller: " DMI_FILE ": not permitted < " DMI_FILE "\n"},
};

static void test_machines(void)
{
    for (size_t i = 0; i < LKS_COUNT(machines); i++) {
        lks_test_case("%s", machines[i].name);
        struct lks_tree tree = lks_tree_new();
        machines[i].make(&tree);
        CHECK_HEARD(lks_probe_bmc, &tree, machines[i].said);
        lks_tree_free(&tree);
    }
}

/* What is not a controller's device must not be taken for one, nor keep us waiting. */
static void test_device(void)
{
    static const struct {
        const char *path;
        enum lks_code code;
    } nodes[] = {
        {"/dev/null", LKS_E_IO},
        {"/nonexistent", LKS_E_UNAVAILABLE},
    };
    for (size_t i = 0; i < LKS_COUNT(nodes); i++) {
        lks_test_case("%s", nodes[i].path);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(1024);
        struct lks_err err = {0};
        struct lks_root root = {.capture = -1};
        struct lks_ipmi ipmi = {&root, nodes[i].path};
        CHECK_CODE(lks_ipmi_get_device_id(&ipmi, &out, &err), nodes[i].code);
        CHECK_HAS(lks_str_from(err.msg), nodes[i].path);
    }
}

static void test_limits(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(65536);
    struct lks_ipmi_device d;
    struct lks_err err = {0};
    for (int i = 0; i < 64; i++)
        lks_buf_addf(&line, "00 ");
    CHECK_CODE(lks_ipmi_device_parse(lks_buf_view(&line), &d, &err), LKS_OK);
    lks_buf_addf(&line, "00");
    CHECK_CODE(lks_ipmi_device_parse(lks_buf_view(&line), &d, &err), LKS_E_INVALID);
    CHECK_CODE(lks_ipmi_device_parse(LKS_STR(""), &d, &err), LKS_E_INVALID);
    CHECK_CODE(lks_ipmi_device_parse(LKS_STR("0g"), &d, &err), LKS_E_INVALID);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"machines", test_machines},
        {"devices that are none", test_device},
        {"limits of an answer", test_limits},
        {0},
    });
}
