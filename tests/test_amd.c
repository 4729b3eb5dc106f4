#include "probe/root/probes.h"
#include "tests/heard.h"
#include "tests/test.h"
#include "tests/tree.h"

static const struct lks_probe_options options = {.libraries = true};

static void test_mi300x(void)
{
    struct lks_tree tree = lks_tree_new();
    struct lks_heard heard = {0};
    lks_tree_plant(&tree, "tests/roots/synthetic-mi300x.tree");
    lks_hear_tree(lks_probe_amd, &tree, &options, &heard);
    lks_test_case("the node");
    CHECK_HAS(lks_buf_view(&heard.lines), "amdgpu=30.30.3\n"
                                          "amdgpu.loaded=30.30.3\n"
                                          "amdgpu.modules=dkms\n"
                                          "amdgpu.build.srcversion=");
    CHECK_HAS(lks_buf_view(&heard.lines), "rocm=7.2.2\n");
    lks_test_case("the last GPU");
    CHECK_STR(lks_heard_only(&heard, "0000:e5:00.0"),
              "gpu.product@gpu 0000:e5:00.0=AMD Instinct MI300X OAM\n"
              "gpu.board_part@gpu 0000:e5:00.0=102-G30211-0C\n"
              "gpu.serial@gpu 0000:e5:00.0=692000000007\n"
              "gpu.uuid@gpu 0000:e5:00.0=00000000000000a7\n"
              "settings.partition.compute@gpu 0000:e5:00.0=SPX\n"
              "settings.partition.memory@gpu 0000:e5:00.0=NPS1\n"
              "firmware/ifwi@gpu 0000:e5:00.0#102-G30211-0C=113-M3000100-102\n"
              "gpu.firmware.mec@gpu 0000:e5:00.0=0x000000a8\n"
              "gpu.firmware.smc@gpu 0000:e5:00.0=0x00557300\n"
              "gpu.firmware.sos@gpu 0000:e5:00.0=0x00362d41\n"
              "settings.power_limit_w@gpu 0000:e5:00.0=750\n"
              "settings.clocks.locked@gpu 0000:e5:00.0=false\n"
              "settings.ecc@gpu 0000:e5:00.0=true\n");
    lks_heard_fini(&heard);
    lks_tree_free(&tree);
}

#define GPU "/sys/bus/pci/devices/0000:05:00.0/"
#define OF  "@gpu 0000:05:00.0"

/* One file beside those that make it an AMD GPU, and what is said because of it. */
static const struct {
    const char *name, *file, *content, *line;
} odd_files[] = {
    {"in the kernel", "/sys/module/amdgpu/refcnt", "1\n", "amdgpu.modules=inbox\n"},
    {"in the kernel: its number", "/proc/sys/kernel/osrelease", "6.8.0-85-generic\n",
     "amdgpu=6.8.0\n"},
    {"a number no package knows", "/sys/module/amdgpu/version", "6.16.13\n", "amdgpu=6.16.13\n"},
    {"garbage for a version", "/sys/module/amdgpu/version", "\x01\x02\n",
     "amdgpu?/sys/module/amdgpu/version: does not hold a line of text\n"},
    {"clocks in someone's hand", GPU "power_dpm_force_performance_level", "manual\n",
     "settings.clocks.locked" OF "=true\n"},
    {"no memory protection", GPU "ras/features", "feature mask: 0x2\n",
     "settings.ecc" OF "=false\n"},
    {"a mask that is none", GPU "ras/features", "0x2\n",
     "settings.ecc" OF "?no feature mask in '0x2'\n"},
    {"power that is no number", GPU "hwmon/hwmon1/power1_cap", "lots\n",
     "settings.power_limit_w" OF "?not a number\n"},
    {"nothing but the device", GPU "vendor", "0x1002\n", "firmware/ifwi" OF "~\n"},
};

static void test_odd_files(void)
{
    for (size_t i = 0; i < LKS_COUNT(odd_files); i++) {
        struct lks_tree tree = lks_tree_new();
        struct lks_heard heard = {0};
        lks_tree_file(&tree, GPU "uevent", "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:05:00.0\n");
        lks_tree_file(&tree, "/sys/module/amdgpu/initstate", "live\n");
        lks_tree_file(&tree, odd_files[i].file, odd_files[i].content);
        lks_hear_tree(lks_probe_amd, &tree, &options, &heard);
        lks_test_case("%s", odd_files[i].name);
        CHECK_HAS(lks_buf_view(&heard.lines), odd_files[i].line);
        lks_heard_fini(&heard);
        lks_tree_free(&tree);
    }
}

static void test_no_amd(void)
{
    struct lks_tree tree = lks_tree_new();
    struct lks_heard heard = {0};
    lks_tree_file(&tree, "/sys/bus/pci/devices/0000:06:00.0/uevent",
                  "DRIVER=nvidia\nPCI_SLOT_NAME=0000:06:00.0\n");
    lks_hear_tree(lks_probe_amd, &tree, &options, &heard);
    CHECK_STR(lks_buf_view(&heard.lines), "amdgpu~\nrocm~\n");
    lks_heard_fini(&heard);
    lks_tree_free(&tree);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"amd: eight MI300X", test_mi300x},
        {"amd: odd files", test_odd_files},
        {"amd: a machine without", test_no_amd},
        {0},
    });
}
