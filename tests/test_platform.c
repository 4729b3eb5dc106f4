#include "probe/root/probes.h"
#include "tests/dmi.h"
#include "tests/heard.h"
#include "tests/test.h"

#include <stdio.h>

#define DMI_FILE   "/sys/firmware/dmi/tables/DMI"
#define EFIVARS    "/sys/firmware/efi/efivars/"
#define SECUREBOOT EFIVARS "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
#define SHIM_STATE EFIVARS "MokSBStateRT-605dab50-e046-4300-abb6-3dd810dd8b23"
#define MOUNTED(root)                                                                              \
    "22 1 0:20 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n"                                       \
    "23 22 0:21 / /sys/firmware/efi/efivars rw,nosuid shared:8 - efivarfs efivarfs rw\n"           \
    "24 22 0:22 / /sys/kernel/security rw,nosuid shared:9 - securityfs securityfs rw\n" root

/* Machines ----------------------------------------------------------------------------------- */

static void put_modules(const struct lks_tree *t, unsigned count, uint64_t mib)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf table = LKS_BUF(65536);
    lks_dmi_set(&table, lks_dmi_add(&table, 16, 0x1000, 0x17, ""), 0x05, 1, 3);
    for (unsigned i = 0; i < count; i++)
        lks_dmi_module(&table, 0x1100 + i, 0x1000, mib);
    lks_dmi_end(&table);
    lks_tree_bytes(t, DMI_FILE, lks_buf_view(&table));
}

static void put_dmi(const struct lks_tree *t)
{
    lks_tree_file(t, "/sys/class/dmi/id/sys_vendor", "Dell Inc.\n");
    lks_tree_file(t, "/sys/class/dmi/id/product_name", "PowerEdge XE9680\n");
    lks_tree_file(t, "/sys/class/dmi/id/product_serial", "7ABCD24\n");
    lks_tree_file(t, "/sys/class/dmi/id/product_uuid", "4c4c4544-0041-4210-8043-b7c04f4d3234\n");
    lks_tree_file(t, "/sys/class/dmi/id/bios_version", "2.5.4\n");
    put_modules(t, 32, 65536);
}

static void put_cpus(const struct lks_tree *t, unsigned count, bool mixed)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf info = LKS_BUF(65536);
    for (unsigned i = 0; i < count; i++) {
        char path[80], version[16];
        lks_buf_addf(&info,
                     "processor\t: %u\nvendor_id\t: GenuineIntel\n"
                     "model name\t: Intel(R) Xeon(R) Platinum 8480C\nmicrocode\t: 0x2b000603\n\n",
                     i);
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/microcode/version", i);
        snprintf(version, sizeof(version), "0x2b000%x\n", mixed && i % 2 == 1 ? 0x5d1 : 0x603);
        lks_tree_file(t, path, version);
    }
    lks_tree_file(t, "/sys/devices/system/cpu/cpufreq/x", "");
    lks_tree_bytes(t, "/proc/cpuinfo", lks_buf_view(&info));
}

static void server(const struct lks_tree *t)
{
    put_dmi(t);
    put_cpus(t, 4, false);
    lks_tree_bytes(t, SECUREBOOT, LKS_STR("\x06\0\0\0\x01"));
    lks_tree_file(t, "/sys/class/tpm/tpm0/tpm_version_major", "2\n");
    lks_tree_file(t, "/sys/kernel/security/tpm0/binary_bios_measurements", "");
    lks_tree_file(t, "/sys/class/firmware-attributes/vendor/attributes/pending_reboot", "0\n");
    lks_tree_file(t, "/sys/class/firmware-attributes/vendor/attributes/SriovGlobalEnable/type",
                  "enumeration\n");
    lks_tree_file(
        t, "/sys/class/firmware-attributes/vendor/attributes/SriovGlobalEnable/current_value",
        "Enabled\n");
    lks_tree_file(t, "/sys/class/firmware-attributes/vendor/attributes/SetupPassword/current_value",
                  "x\n");
    lks_tree_file(t, "/proc/self/mountinfo",
                  MOUNTED("25 1 253:1 / / rw,relatime - ext4 /dev/mapper/vg-root rw\n"));
    lks_tree_file(t, "/sys/devices/virtual/block/dm-1/dm/uuid", "LVM-abc\n");
    lks_tree_link(t, "/sys/dev/block/253:1", "../../devices/virtual/block/dm-1");
    lks_tree_link(t, "/sys/devices/virtual/block/dm-1/slaves/dm-0", "../../dm-0");
    lks_tree_file(t, "/sys/devices/virtual/block/dm-0/dm/uuid", "CRYPT-LUKS2-0a1b-luks\n");
    lks_tree_link(t, "/sys/class/block/dm-0", "../../devices/virtual/block/dm-0");
}

static const char server_said[] =
    "platform.product=Dell Inc. PowerEdge XE9680 < /sys/class/dmi/id/sys_vendor, product_name\n"
    "platform.serial=7ABCD24 < /sys/class/dmi/id/product_serial\n"
    "platform.uuid=4c4c4544-0041-4210-8043-b7c04f4d3234 < /sys/class/dmi/id/product_uuid\n"
    "firmware/bios@bios=2.5.4 < /sys/class/dmi/id/bios_version\n"
    "platform.cpu=Intel(R) Xeon(R) Platinum 8480C < /proc/cpuinfo\n"
    "firmware/microcode@cpu=0x2b000603 < /sys/devices/system/cpu/cpu*/microcode/version\n"
    "devices.memory_gib=2048 < " DMI_FILE ": 32 modules in 32 slots\n"
    "settings.bios.SetupPassword?resembles a secret, not read < "
    "/sys/class/firmware-attributes/vendor/attributes/SetupPassword/current_value\n"
    "settings.bios.SriovGlobalEnable=Enabled < "
    "/sys/class/firmware-attributes/vendor/attributes/SriovGlobalEnable/current_value\n"
    "platform.secure_boot=enabled < " SECUREBOOT "\n"
    "platform.disk_encryption=encrypted < /proc/self/mountinfo: / is ext4; "
    "/sys/class/block/dm-0/dm/uuid\n"
    "platform.tpm=2 < /sys/class/tpm/tpm0/tpm_version_major\n"
    "platform.event_log=present < /sys/kernel/security/tpm0/binary_bios_measurements\n";

static void put_blocks(const struct lks_tree *t, unsigned count, unsigned offline)
{
    lks_tree_file(t, "/sys/devices/system/memory/block_size_bytes", "8000000\n");
    lks_tree_file(t, "/sys/devices/system/memory/probe", "");
    for (unsigned i = 0; i < count; i++) {
        char path[80];
        snprintf(path, sizeof(path), "/sys/devices/system/memory/memory%u/state", i);
        lks_tree_file(t, path, i < offline ? "offline\n" : "online\n");
    }
}

/* A virtual machine that shows no firmware at all. */
static void virtual(const struct lks_tree *t)
{
    lks_tree_file(t, "/proc/cpuinfo",
                  "processor\t: 0\nmodel name\t: Intel(R) Xeon(R) Processor\n"
                  "microcode\t: 0x1\n\nprocessor\t: 1\nmodel name\t: Intel(R) Xeon(R) Processor\n"
                  "microcode\t: 0x1\n");
    lks_tree_file(t, "/sys/devices/system/cpu/cpu0/online", "1\n");
    put_blocks(t, 128, 0);
    lks_tree_file(t, "/proc/self/mountinfo", "25 1 254:0 / / rw - ext4 /dev/vda rw\n");
    lks_tree_dir(t, "/sys/devices/pci0/vda");
    lks_tree_link(t, "/sys/dev/block/254:0", "../../devices/pci0/vda");
}

static const char virtual_said[] =
    "platform.product~ < /sys/class/dmi/id/sys_vendor, product_name\n"
    "platform.serial~ < /sys/class/dmi/id/product_serial\n"
    "platform.uuid~ < /sys/class/dmi/id/product_uuid\n"
    "firmware/bios@bios~ < /sys/class/dmi/id/bios_version\n"
    "platform.cpu=Intel(R) Xeon(R) Processor < /proc/cpuinfo\n"
    "firmware/microcode@cpu=0x1 < /proc/cpuinfo\n"
    "devices.memory_gib=16 < /sys/devices/system/memory: 128 blocks of 128 MiB online (" DMI_FILE
    ": not there)\n"
    "platform.secure_boot~ < /sys/firmware/efi\n"
    "platform.disk_encryption=plain < /proc/self/mountinfo: / is ext4; /sys/dev/block/254:0\n"
    "platform.tpm~ < /sys/class/tpm/tpm0\n"
    "platform.event_log~ < /sys/class/tpm/tpm0\n";

/* Not root: what only root may read says so, and the rest stands. */
static void unprivileged(const struct lks_tree *t)
{
    server(t);
    put_blocks(t, 16, 1);
    lks_tree_file(t, "/lockstep/failed.csv",
                  "key,code,value\n"
                  "/sys/class/dmi/id/product_serial,denied,product_serial: not permitted\n"
                  "/sys/class/dmi/id/product_uuid,denied,product_uuid: not permitted\n"
                  "/sys/devices/system/cpu/cpu0/microcode/version,denied,x\n"
                  "/sys/class/firmware-attributes/vendor/attributes/SriovGlobalEnable/"
                  "current_value,denied,current_value: not permitted\n");
    lks_tree_file(t, "/lockstep/smbios.csv",
                  "key,code,value\nmemory,denied," DMI_FILE ": not permitted\n");
    lks_tree_file(t, "/lockstep/stat.csv",
                  "key,code,value\n"
                  "/sys/kernel/security/tpm0/binary_bios_measurements,denied,"
                  "binary_bios_measurements: not permitted\n");
}

static const char unprivileged_said[] =
    "platform.product=Dell Inc. PowerEdge XE9680 < /sys/class/dmi/id/sys_vendor, product_name\n"
    "platform.serial?product_serial: not permitted < /sys/class/dmi/id/product_serial\n"
    "platform.uuid?product_uuid: not permitted < /sys/class/dmi/id/product_uuid\n"
    "firmware/bios@bios=2.5.4 < /sys/class/dmi/id/bios_version\n"
    "platform.cpu=Intel(R) Xeon(R) Platinum 8480C < /proc/cpuinfo\n"
    "firmware/microcode@cpu=0x2b000603 < /proc/cpuinfo\n"
    "devices.memory_gib=2 < /sys/devices/system/memory: 15 blocks of 128 MiB online (" DMI_FILE
    ": not permitted)\n"
    "settings.bios.SetupPassword?resembles a secret, not read < "
    "/sys/class/firmware-attributes/vendor/attributes/SetupPassword/current_value\n"
    "settings.bios.SriovGlobalEnable?current_value: not permitted < "
    "/sys/class/firmware-attributes/vendor/attributes/SriovGlobalEnable/current_value\n"
    "platform.secure_boot=enabled < " SECUREBOOT "\n"
    "platform.disk_encryption=encrypted < /proc/self/mountinfo: / is ext4; "
    "/sys/class/block/dm-0/dm/uuid\n"
    "platform.tpm=2 < /sys/class/tpm/tpm0/tpm_version_major\n"
    "platform.event_log?binary_bios_measurements: not permitted < "
    "/sys/kernel/security/tpm0/binary_bios_measurements\n";

/* Nothing is as it should be. */
static void damaged(const struct lks_tree *t)
{
    struct lks_str noise = LKS_STR("\xff\xfe\0\x01\x80 garbage \x1b[2J");
    lks_tree_bytes(t, "/sys/class/dmi/id/sys_vendor", noise);
    lks_tree_file(t, "/sys/class/dmi/id/product_name", "");
    lks_tree_file(t, "/sys/class/dmi/id/product_serial", "\n");
    lks_tree_fifo(t, "/sys/class/dmi/id/product_uuid");
    lks_tree_bytes(t, "/sys/class/dmi/id/bios_version", noise);
    lks_tree_bytes(t, "/proc/cpuinfo", noise);
    lks_tree_bytes(t, DMI_FILE, noise);
    lks_tree_file(t, "/sys/devices/system/memory/block_size_bytes", "0xzz\n");
    lks_tree_file(t, "/sys/devices/system/memory/memory0/state", "online\n");
    lks_tree_file(t, SECUREBOOT, "");
    lks_tree_bytes(t, "/proc/self/mountinfo", noise);
    lks_tree_dir(t, "/sys/class/tpm/tpm0");
}

static const char damaged_said[] =
    "platform.product?/sys/class/dmi/id/sys_vendor: does not hold a line of text < "
    "/sys/class/dmi/id/sys_vendor, product_name\n"
    "platform.serial~ < /sys/class/dmi/id/product_serial\n"
    "platform.uuid?/sys/class/dmi/id/product_uuid: not a plain file < "
    "/sys/class/dmi/id/product_uuid\n"
    "firmware/bios@bios?/sys/class/dmi/id/bios_version: does not hold a line of text "
    "< /sys/class/dmi/id/bios_version\n"
    "platform.cpu~ < /proc/cpuinfo\n"
    "firmware/microcode@cpu~ < /proc/cpuinfo\n"
    "devices.memory_gib?/sys/devices/system/memory: 1 blocks of 0x0xzz bytes cannot be "
    "< /sys/devices/system/memory\n"
    "platform.secure_boot?" SECUREBOOT ": 0 bytes, not 5 < " SECUREBOOT "\n"
    "platform.disk_encryption?/proc/self/mountinfo: no root file system < "
    "/proc/self/mountinfo\n"
    "platform.tpm?a TPM is there, but this kernel does not say its version < "
    "/sys/class/tpm/tpm0\n"
    "platform.event_log?securityfs is not mounted < "
    "/sys/kernel/security/tpm0/binary_bios_measurements\n";

static void empty(const struct lks_tree *t)
{
    (void)t;
}

static const char empty_said[] =
    "platform.product~ < /sys/class/dmi/id/sys_vendor, product_name\n"
    "platform.serial~ < /sys/class/dmi/id/product_serial\n"
    "platform.uuid~ < /sys/class/dmi/id/product_uuid\n"
    "firmware/bios@bios~ < /sys/class/dmi/id/bios_version\n"
    "platform.cpu~ < /proc/cpuinfo\n"
    "firmware/microcode@cpu~ < /proc/cpuinfo\n"
    "devices.memory_gib?" DMI_FILE ": not there; "
    "/sys/devices/system/memory/block_size_bytes: not there < " DMI_FILE "\n"
    "platform.secure_boot~ < /sys/firmware/efi\n"
    "platform.disk_encryption?/proc/self/mountinfo: not there < /proc/self/mountinfo\n"
    "platform.tpm~ < /sys/class/tpm/tpm0\n"
    "platform.event_log~ < /sys/class/tpm/tpm0\n";

static const struct {
    const char *name;
    void (*make)(const struct lks_tree *t);
    const char *said;
} machines[] = {
    {"a server", server, server_said},
    {"a virtual machine", virtual, virtual_said},
    {"a server, not as root", unprivileged, unprivileged_said},
    {"damaged files", damaged, damaged_said},
    {"an empty tree", empty, empty_said},
};

static void test_machines(void)
{
    for (size_t i = 0; i < LKS_COUNT(machines); i++) {
        lks_test_case("%s", machines[i].name);
        struct lks_tree tree = lks_tree_new();
        machines[i].make(&tree);
        CHECK_HEARD(lks_probe_platform, &tree, machines[i].said);
        lks_tree_free(&tree);
    }
}

/* One reading at a time ---------------------------------------------------------------------- */

#define F(path, content)                                                                           \
    {                                                                                              \
        path, LKS_STR_C(content)                                                                   \
    }

/* clang-format off */
static const struct {
    const char *name;
    struct lks_tree_entry files[8];
    const char *want;
} rows[] = {
    {"arm", {F("/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n\n"
               "processor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n")},
     "platform.cpu=arm 0x41/0xd4f < /proc/cpuinfo"},
    {"arm has no microcode", {F("/proc/cpuinfo", "CPU implementer\t: 0x41\nCPU part\t: 0xd4f\n")},
     "firmware/microcode@cpu~ < /proc/cpuinfo"},
    {"a whole disk of blocks", {F("/sys/devices/system/memory/block_size_bytes", "80000000\n"),
      F("/sys/devices/system/memory/memory0/state", "online\n"),
      F("/sys/devices/system/memory/memory32/state", "online\n")},
     "devices.memory_gib=4 < /sys/devices/system/memory: 2 blocks of 2048 MiB online ("
     DMI_FILE ": not there)"},
    {"no block online", {F("/sys/devices/system/memory/block_size_bytes", "80000000\n"),
      F("/sys/devices/system/memory/memory0/state", "offline\n")},
     "devices.memory_gib?/sys/devices/system/memory: 0 blocks of 0x80000000 bytes "
     "cannot be < /sys/devices/system/memory"},
    {"too long a block size", {F("/sys/devices/system/memory/block_size_bytes",
      "ffffffffffffffffff\n"), F("/sys/devices/system/memory/memory0/state", "online\n")},
     "devices.memory_gib?/sys/devices/system/memory: 1 blocks of 0xffffffffffffffffff "
     "bytes cannot be < /sys/devices/system/memory"},
    {"secure boot off", {F(SECUREBOOT, "\x06\0\0\0\0")},
     "platform.secure_boot=disabled < " SECUREBOOT},
    {"shim does not verify", {F(SECUREBOOT, "\x06\0\0\0\x01"), F(SHIM_STATE, "\x06\0\0\0\x01")},
     "platform.secure_boot=disabled < " SHIM_STATE ": shim does not verify"},
    {"shim verifies", {F(SECUREBOOT, "\x06\0\0\0\x01"), F(SHIM_STATE, "\x06\0\0\0\0")},
     "platform.secure_boot=enabled < " SECUREBOOT},
    {"secure boot of neither kind", {F(SECUREBOOT, "\x06\0\0\0\x07")},
     "platform.secure_boot?" SECUREBOOT ": 7 is neither 0 nor 1 < " SECUREBOOT},
    {"efivarfs not mounted", {F("/sys/firmware/efi/runtime", "")},
     "platform.secure_boot?efivarfs is not mounted < /sys/firmware/efi/efivars"},
    {"firmware without secure boot", {F("/sys/firmware/efi/runtime", ""),
      F("/proc/self/mountinfo", MOUNTED("")) },
     "platform.secure_boot=disabled < /sys/firmware/efi/efivars: no SecureBoot"},
    {"a TPM without a log", {F("/sys/class/tpm/tpm0/tpm_version_major", "2\n"),
      F("/proc/self/mountinfo", MOUNTED(""))},
     "platform.event_log=missing < /sys/kernel/security/tpm0/binary_bios_measurements"},
    {"an overlay",
      {F("/proc/self/mountinfo", "1 0 0:30 / / rw - overlay overlay rw,lowerdir=/a\n")},
     "platform.disk_encryption?an overlay does not say which disks it lies on < "
     "/proc/self/mountinfo: / is overlay"},
    {"in memory", {F("/proc/self/mountinfo", "1 0 0:30 / / rw - tmpfs rootfs rw\n")},
     "platform.disk_encryption~ < /proc/self/mountinfo: / is tmpfs"},
    {"by network", {F("/proc/self/mountinfo", "1 0 0:30 / / rw - nfs4 server:/x rw\n")},
     "platform.disk_encryption?its disks are another machine's < "
     "/proc/self/mountinfo: / is nfs4"},
    {"mounted over", {F("/proc/self/mountinfo", "1 0 0:2 / / rw - rootfs rootfs rw\n"
      "2 1 8:1 / / rw shared:1 master:2 - ext4 /dev/sda1 rw\n"),
      F("/sys/devices/sda/sda1/partition", "1\n"),
      F("/sys/dev/block/8:1@", "../../devices/sda/sda1")},
     "platform.disk_encryption=plain < /proc/self/mountinfo: / is ext4; /sys/dev/block/8:1"},
    {"a partition of an array on encrypted disks",
     {F("/proc/self/mountinfo", "1 0 259:1 / / rw - xfs /dev/md0p1 rw\n"),
      F("/sys/devices/md0/md0p1/partition", "1\n"),
      F("/sys/dev/block/259:1@", "../../devices/md0/md0p1"),
      F("/sys/devices/md0/slaves/dm-0@", "../../dm-0"),
      F("/sys/devices/md0/slaves/dm-1@", "../../dm-1"),
      F("/sys/class/block/dm-0/dm/uuid", "CRYPT-LUKS2-a\n"),
      F("/sys/class/block/dm-1/dm/uuid", "CRYPT-PLAIN-b\n")},
     "platform.disk_encryption=encrypted < /proc/self/mountinfo: / is xfs; "
     "/sys/class/block/dm-1/dm/uuid"},
    {"one of two disks is plain",
     {F("/proc/self/mountinfo", "1 0 9:0 / / rw - xfs /dev/md0 rw\n"),
      F("/sys/dev/block/9:0/slaves/dm-0@", "../../dm-0"),
      F("/sys/dev/block/9:0/slaves/sdb@", "../../sdb"),
      F("/sys/class/block/dm-0/dm/uuid", "CRYPT-LUKS2-a\n"), F("/sys/class/block/sdb/size", "1\n")},
     "platform.disk_encryption=plain < /proc/self/mountinfo: / is xfs; /sys/dev/block/9:0"},
    {"btrfs by name",
      {F("/proc/self/mountinfo", "1 0 0:25 /@ / rw - btrfs /dev/mapper/luks-1 rw\n"),
      F("/dev/mapper/luks-1@", "../dm-0"), F("/sys/class/block/dm-0/dm/uuid", "CRYPT-LUKS2-a\n")},
     "platform.disk_encryption=encrypted < /proc/self/mountinfo: / is btrfs; "
     "/sys/class/block/dm-0/dm/uuid"},
    {"btrfs by a name with a blank",
      {F("/proc/self/mountinfo", "1 0 0:25 /@ / rw - btrfs /dev/mapper/my\\040disk rw\n"),
      F("/dev/mapper/my disk@", "../dm-0"), F("/sys/class/block/dm-0/dm/uuid", "CRYPT-LUKS2-a\n")},
     "platform.disk_encryption=encrypted < /proc/self/mountinfo: / is btrfs; "
     "/sys/class/block/dm-0/dm/uuid"},
    {"a device that is not there",
      {F("/proc/self/mountinfo", "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n")},
     "platform.disk_encryption?/sys/dev/block/8:1: not there < "
     "/proc/self/mountinfo: / is ext4"},
    {"layers in a circle", {F("/proc/self/mountinfo", "1 0 253:0 / / rw - ext4 /dev/dm-0 rw\n"),
      F("/sys/dev/block/253:0/slaves/dm-0@", "x"), F("/sys/class/block/dm-0/slaves/dm-0@", "x")},
     "platform.disk_encryption?/sys/class/block/dm-0: too many layers of devices < "
     "/proc/self/mountinfo: / is ext4"},
    {"a file as a disk", {F("/proc/self/mountinfo", "1 0 7:0 / / ro - squashfs /dev/loop0 ro\n"),
      F("/sys/dev/block/7:0/loop/backing_file", "/x\n")},
     "platform.disk_encryption?/sys/dev/block/7:0: a file as a disk, not followed < "
     "/proc/self/mountinfo: / is squashfs"},
};
/* clang-format on */

static void test_rows(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        struct lks_tree tree = lks_tree_new();
        lks_tree_entries(&tree, rows[i].files, LKS_COUNT(rows[i].files));
        CHECK_HEARD_LINE(lks_probe_platform, &tree, rows[i].want);
        lks_tree_free(&tree);
    }
}

static void test_mixed_cpus(void)
{
    struct lks_tree tree = lks_tree_new();
    put_cpus(&tree, 4, true);
    CHECK_HEARD_HAS(lks_probe_platform, &tree, "firmware/microcode@cpu=0x2b000603 < /sys/");
    CHECK_HEARD_HAS(lks_probe_platform, &tree, "firmware/microcode@cpu=0x2b0005d1 < /sys/");
    lks_tree_free(&tree);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"machines", test_machines},
        {"readings", test_rows},
        {"mixed CPUs", test_mixed_cpus},
        {0},
    });
}
