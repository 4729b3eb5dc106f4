#include "probe/root/probes.h"
#include "tests/heard.h"
#include "tests/test.h"

#include <stdio.h>

/* A device on the bus; ids as sysfs writes them. */
static void add_device(const struct lks_tree *t, const char *address, const char *class,
                       const char *ids)
{
    static const char *const files[] = {"vendor", "device", "subsystem_vendor", "subsystem_device"};
    char path[128], content[16];
    snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/class", address);
    lks_tree_file(t, path, class);
    struct lks_str rest = lks_str_from(ids), word;
    for (size_t i = 0; i < LKS_COUNT(files) && lks_str_word(&rest, &word); i++) {
        snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/%s", address, files[i]);
        snprintf(content, sizeof(content), "0x%.4s\n", word.ptr);
        lks_tree_file(t, path, content);
    }
}

static const struct {
    const char *name;
    const char *class, *ids;
    const char *says; /* of the count of GPUs */
    const char *switches;
} devices[] = {
    {"H200", "0x030200\n", "10de 2335 10de 18bf", "1", "0"},
    {"RTX that drives a display", "0x030000\n", "10de 2bb5 10de 204e", "1", "0"},
    {"sound of a GPU", "0x040300\n", "10de 22b5 10de 0000", "0", "0"},
    {"MI300X", "0x120000\n", "1002 74a1 1002 74a1", "1", "0"},
    {"MI210", "0x038000\n", "1002 740f 1002 0c34", "1", "0"},
    {"AMD 3D controller", "0x030200\n", "1002 74a1 1002 74a1", "1", "0"},
    {"MI50 as a VGA controller", "0x030000\n", "1002 66a1 1002 0834", "1", "0"},
    {"graphics of an AMD CPU", "0x030000\n", "1002 164e 1002 164e", "0", "0"},
    {"BMC by ASPEED", "0x030000\n", "1a03 2000 1a03 2000", "0", "0"},
    {"BMC by Matrox", "0x030000\n", "102b 0538 1028 0a6b", "0", "0"},
    {"third generation of NVSwitch", "0x068000\n", "10de 22a3 10de 1796", "0", "1"},
    {"another vendor's bridge", "0x068000\n", "8086 0998 8086 0000", "0", "0"},
    {"InfiniBand without product data", "0x020700\n", "15b3 1021 15b3 0041", "0", "0"},
};

static void test_kinds(void)
{
    for (size_t i = 0; i < LKS_COUNT(devices); i++) {
        lks_test_case("%s", devices[i].name);
        LKS_CLEANUP(lks_tree_free) struct lks_tree t = lks_tree_new();
        char want[256];
        bool vpd = strstr(devices[i].name, "InfiniBand") != NULL;
        add_device(&t, "0000:06:00.0", devices[i].class, devices[i].ids);
        snprintf(want, sizeof(want),
                 "devices.gpus=%s < /sys/bus/pci/devices/*/class\n"
                 "devices.nvswitches=%s < /sys/bus/pci/devices/*/%s\n",
                 devices[i].says, devices[i].switches, vpd ? "vpd" : "class");
        CHECK_HEARD_HAS(lks_probe_pci, &t, want);
    }
}

#define GPU_LINES(address)                                                                         \
    "gpu.pci_id@gpu " address "=10de:2335 < /sys/bus/pci/devices/" address "/device\n"             \
    "gpu.subsystem_id@gpu " address "=10de:18be < /sys/bus/pci/devices/" address                   \
    "/subsystem_device\n"

static void test_node(void)
{
    LKS_CLEANUP(lks_tree_free) struct lks_tree t = lks_tree_new();
    add_device(&t, "0000:00:00.0", "0x060000\n", "8086 09a2 8086 0000");
    add_device(&t, "0000:02:00.0", "0x030000\n", "1a03 2000 1a03 2000");
    add_device(&t, "0000:1b:00.0", "0x030200\n", "10de 2335 10de 18be");
    add_device(&t, "0001:43:00.0", "0x030200\n", "10de 2335 10de 18be");
    add_device(&t, "0000:07:00.0", "0x068000\n", "10de 22a3 10de 1796");
    add_device(&t, "0000:08:00.0", "0x068000\n", "10de 22a3 10de 1796");
    /* A slice for a virtual machine is no GPU of its own. */
    add_device(&t, "0000:1b:00.4", "0x030200\n", "10de 2335 10de 18be");
    lks_tree_link(&t, "/sys/bus/pci/devices/0000:1b:00.4/physfn", "../0000:1b:00.0");
    /* One on its way out of the slot. */
    lks_tree_dir(&t, "/sys/bus/pci/devices/0000:99:00.0");
    lks_tree_dir(&t, "/sys/bus/pci/devices/not-an-address");
    CHECK_HEARD(lks_probe_pci, &t,
                GPU_LINES("0000:1b:00.0") GPU_LINES(
                    "0001:43:00.0") "devices.gpus=2 < /sys/bus/pci/devices/*/class\n"
                                    "devices.nvswitches=2 < /sys/bus/pci/devices/*/class\n");
}

/* A ConnectX-7 of an HGX B200: two functions manage a switch each, two are for administration. */
#define VPD_MANAGER                                                                                \
    "\x82\x03\x00"                                                                                 \
    "CX7\x90\x10\x00V2\x0dSMDL=SW_MNG:X\x78"
#define VPD_OTHER                                                                                  \
    "\x82\x03\x00"                                                                                 \
    "CX7\x90\x07\x00V2\x04MLX1\x78"

static void test_managed_switches(void)
{
    LKS_CLEANUP(lks_tree_free) struct lks_tree t = lks_tree_new();
    static const struct {
        const char *address;
        struct lks_str vpd;
    } functions[] = {{"0000:05:00.0", LKS_STR_C(VPD_OTHER)},
                     {"0000:05:00.1", LKS_STR_C(VPD_OTHER)},
                     {"0000:05:00.2", LKS_STR_C(VPD_MANAGER)},
                     {"0000:05:00.3", LKS_STR_C(VPD_MANAGER)}};
    for (size_t i = 0; i < LKS_COUNT(functions); i++) {
        char path[128];
        add_device(&t, functions[i].address, "0x020700\n", "15b3 1021 15b3 0000");
        snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/vpd", functions[i].address);
        lks_tree_bytes(&t, path, functions[i].vpd);
    }
    CHECK_HEARD(lks_probe_pci, &t,
                "devices.gpus=0 < /sys/bus/pci/devices/*/class\n"
                "devices.nvswitches=2 < /sys/bus/pci/devices/*/vpd\n");
    lks_tree_file(&t, "/lockstep/vpd.csv",
                  "key,code,value\n0000:05:00.3,denied,vpd: not permitted\n");
    CHECK_HEARD(lks_probe_pci, &t,
                "devices.gpus=0 < /sys/bus/pci/devices/*/class\n"
                "devices.nvswitches?vpd: not permitted < /sys/bus/pci/devices/*/vpd\n");
}

static const struct {
    const char *name, *path;
    struct lks_str content;
    const char *has;
} damages[] = {
    {"class without a number", "class", LKS_STR_C("gpu\n"),
     "devices.gpus?/sys/bus/pci/devices/0000:06:00.0/class: 'gpu' is not the number that belongs "
     "there < /sys/bus/pci/devices/*/class\n"
     "devices.nvswitches?/sys/bus/pci/devices/0000:06:00.0/class: 'gpu' is not the number that "
     "belongs there < /sys/bus/pci/devices/*/class\n"},
    {"class too large", "class", LKS_STR_C("0x1000000\n"), "devices.gpus?"},
    {"binary class", "class", LKS_STR_C("\xff\xfe\n"),
     "devices.gpus?/sys/bus/pci/devices/0000:06:00.0/class: does not hold a line of text < "},
    {"empty class: it is gone", "class", LKS_STR_C(""), "devices.gpus=0 < "},
    {"vendor without a number", "vendor", LKS_STR_C("0x\n"),
     "devices.gpus?/sys/bus/pci/devices/0000:06:00.0/vendor: '0x' is not the number that belongs "
     "there < /sys/bus/pci/devices/*/class\n"
     "devices.nvswitches=0 < /sys/bus/pci/devices/*/class\n"},
    {"device without a number", "device", LKS_STR_C("0xgpu0\n"),
     "gpu.pci_id@gpu 0000:06:00.0?/sys/bus/pci/devices/0000:06:00.0/device: '0xgpu0' is not the "
     "number that belongs there < /sys/bus/pci/devices/0000:06:00.0/device\n"
     "gpu.subsystem_id@gpu 0000:06:00.0=10de:18bf < "
     "/sys/bus/pci/devices/0000:06:00.0/subsystem_device\n"
     "devices.gpus=1 < "},
    {"no subsystem", "subsystem_device", LKS_STR_C("\n"),
     "gpu.subsystem_id@gpu 0000:06:00.0~ < /sys/bus/pci/devices/0000:06:00.0/subsystem_device\n"
     "devices.gpus=1 < "},
};

static void test_damages(void)
{
    for (size_t i = 0; i < LKS_COUNT(damages); i++) {
        lks_test_case("%s", damages[i].name);
        LKS_CLEANUP(lks_tree_free) struct lks_tree t = lks_tree_new();
        char path[128];
        add_device(&t, "0000:06:00.0", "0x030200\n", "10de 2335 10de 18bf");
        snprintf(path, sizeof(path), "/sys/bus/pci/devices/0000:06:00.0/%s", damages[i].path);
        lks_tree_bytes(&t, path, damages[i].content);
        CHECK_HEARD_HAS(lks_probe_pci, &t, damages[i].has);
    }
}

static void test_no_bus(void)
{
    LKS_CLEANUP(lks_tree_free) struct lks_tree t = lks_tree_new();
    CHECK_HEARD(lks_probe_pci, &t,
                "devices.gpus?/sys/bus/pci/devices: not there < /sys/bus/pci/devices\n"
                "devices.nvswitches?/sys/bus/pci/devices: not there < /sys/bus/pci/devices\n");
    lks_tree_dir(&t, "/sys/bus/pci/devices");
    CHECK_HEARD(lks_probe_pci, &t,
                "devices.gpus=0 < /sys/bus/pci/devices/*/class\n"
                "devices.nvswitches=0 < /sys/bus/pci/devices/*/class\n");
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"pci kinds", test_kinds},
        {"pci node", test_node},
        {"pci managed switches", test_managed_switches},
        {"pci damages", test_damages},
        {"pci no bus", test_no_bus},
        {0},
    });
}
