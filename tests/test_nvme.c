#include "probe/root/probes.h"
#include "tests/heard.h"
#include "tests/test.h"

#include <stdio.h>

/* A drive as the kernel shows it; its texts are padded with blanks there. */
static void add_drive(const struct lks_tree *t, const char *name, const char *transport)
{
    const struct {
        const char *file, *content;
    } files[] = {
        {"model", "SAMSUNG MZQL23T8HCLS-00A07              \n"},
        {"serial", "S64HNE0T500001      \n"},
        {"firmware_rev", "GDC5902Q\n"},
        {"state", "live\n"},
        {"transport", transport},
    };
    for (size_t i = 0; i < LKS_COUNT(files); i++) {
        char path[128];
        snprintf(path, sizeof(path), "/sys/class/nvme/%s/%s", name, files[i].file);
        lks_tree_file(t, path, files[i].content);
    }
}

static void test_drives(void)
{
    LKS_CLEANUP(lks_tree_free) struct lks_tree t = lks_tree_new();
    add_drive(&t, "nvme0", "pcie\n");
    add_drive(&t, "nvme1", "tcp\n");
    CHECK_HEARD(lks_probe_nvme, &t,
                "nvme.model@nvme nvme0=SAMSUNG MZQL23T8HCLS-00A07 < "
                "/sys/class/nvme/nvme0/model\n"
                "firmware/nvme@nvme nvme0#SAMSUNG MZQL23T8HCLS-00A07=GDC5902Q < "
                "/sys/class/nvme/nvme0/firmware_rev\n"
                "nvme.serial@nvme nvme0=S64HNE0T500001 < /sys/class/nvme/nvme0/serial\n"
                "nvme.state@nvme nvme0=live < /sys/class/nvme/nvme0/state\n"
                "devices.nvmes=1 < /sys/class/nvme/*/transport\n");
}

/* Each value fails alone. */
static const struct {
    const char *name;
    const char *path;
    struct lks_str content;
    const char *has;
} damages[] = {
    {"no bytes in the firmware", "firmware_rev", LKS_STR_C(""),
     "firmware/nvme@nvme nvme0~ < /sys/class/nvme/nvme0/firmware_rev\n"
     "nvme.serial@nvme nvme0=S64HNE0T500001 < /sys/class/nvme/nvme0/serial\n"},
    {"binary model", "model", LKS_STR_C("\x01\x02\xff\n"),
     "nvme.model@nvme nvme0?/sys/class/nvme/nvme0/model: does not hold a line of text < "
     "/sys/class/nvme/nvme0/model\n"
     "firmware/nvme@nvme nvme0=GDC5902Q < /sys/class/nvme/nvme0/firmware_rev\n"},
    {"no transport", "transport", LKS_STR_C("\n"),
     "devices.nvmes?/sys/class/nvme/nvme0/transport: does not say how it is attached < "
     "/sys/class/nvme/*/transport\n"},
    {"binary transport", "transport", LKS_STR_C("\xff"),
     "devices.nvmes?/sys/class/nvme/nvme0/transport: does not hold a line of text < "
     "/sys/class/nvme/*/transport\n"},
};

static void test_damages(void)
{
    for (size_t i = 0; i < LKS_COUNT(damages); i++) {
        lks_test_case("%s", damages[i].name);
        LKS_CLEANUP(lks_tree_free) struct lks_tree t = lks_tree_new();
        char path[128];
        add_drive(&t, "nvme0", "pcie\n");
        snprintf(path, sizeof(path), "/sys/class/nvme/nvme0/%s", damages[i].path);
        lks_tree_bytes(&t, path, damages[i].content);
        CHECK_HEARD_HAS(lks_probe_nvme, &t, damages[i].has);
    }
}

static void test_none(void)
{
    LKS_CLEANUP(lks_tree_free) struct lks_tree t = lks_tree_new();
    CHECK_HEARD(lks_probe_nvme, &t,
                "devices.nvmes?/sys/class: cannot be listed < /sys/class/nvme\n");
    lks_tree_dir(&t, "/sys/class/net");
    CHECK_HEARD(lks_probe_nvme, &t, "devices.nvmes=0 < /sys/class/nvme/*/transport\n");
    lks_tree_file(&t, "/sys/class/nvme", "a file");
    CHECK_HEARD(lks_probe_nvme, &t,
                "devices.nvmes?/sys/class/nvme: not a directory < /sys/class/nvme\n");
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"nvme drives", test_drives},
        {"nvme damages", test_damages},
        {"nvme none", test_none},
        {0},
    });
}
