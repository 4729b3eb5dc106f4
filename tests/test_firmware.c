/* What is known of firmware: names that services give it, and how it is updated. */
#include "core/firmware/firmware_names.h"
#include "tests/facts.h"
#include "tests/test.h"

static const struct {
    const char *vendor, *id, *name, *related;
    const char *class, *of;
    int index;
    const char *bank, *key;
} names[] = {
    {"nvidia", "HGX_FW_GPU_SXM_3", "", "", "vbios", "gpu", 3, "active", "HGX_FW_GPU_SXM_3"},
    {"supermicro", "HGX_FW_ERoT_GPU_SXM_8", "", "", "erot", "gpu", 8, "active",
     "HGX_FW_ERoT_GPU_SXM_8"},
    {"", "HGX_InfoROM_NVSwitch_0", "", "", "inforom", "nvswitch", 0, "active",
     "HGX_InfoROM_NVSwitch_0"},
    {"nvidia", "HGX_FW_BMC_0", "", "", "hmc", "", -1, "active", "HGX_FW_BMC_0"},
    {"nvidia", "HGX_PCIeSwitchConfig_0", "", "", "pcie-switch-config", "pcie-switch", 0, "active",
     "HGX_PCIeSwitchConfig_0"},
    {"nvidia", "MGX_FW_BMC_0", "", "", "bmc", "", -1, "active", "MGX_FW_BMC_0"},
    {"nvidia", "MGX_FW_CPU_0", "", "", "bios", "cpu", 0, "active", "MGX_FW_CPU_0"},
    {"nvidia", "MGX_FW_ERoT_BMC_0", "", "", "erot", "bmc", 0, "active", "MGX_FW_ERoT_BMC_0"},
    {"nvidia", "MGX_FW_ERoT_NVSwitch_1", "", "", "erot", "nvswitch", 1, "active",
     "MGX_FW_ERoT_NVSwitch_1"},
    {"nvidia", "MGX_FW_NVSwitch_1", "", "", "nvswitch", "nvswitch", 1, "active",
     "MGX_FW_NVSwitch_1"},
    {"nvidia", "MGX_FW_FPGA_0", "", "", "fpga", "fpga", 0, "active", "MGX_FW_FPGA_0"},
    {"nvidia", "CX7_0", "", "", "nic", "nic", 0, "active", "CX7_0"},
    {"nvidia", "UEFI", "", "", "bios", "uefi", -1, "active", "UEFI"},
    {"lenovo", "UEFI", "", "", "bios", "", -1, "active", "UEFI"},
    {"lenovo", "GPU8", "", "", "vbios", "gpu", 8, "active", "GPU8"},
    {"lenovo", "Disk3", "", "", "nvme", "disk", 3, "active", "Disk3"},
    {"lenovo", "Disk0.Bundle", "", "", "nvme", "disk", -1, "active", "Disk0.Bundle"},
    {"nvidia", "PCIeSwitchConfig", "", "", "pcie-switch-config", "", -1, "active",
     "PCIeSwitchConfig"},
    {"nvidia", "PCIeSwitchConfig_1", "", "", "pcie-switch-config", "pcie-switch", 1, "active",
     "PCIeSwitchConfig_1"},
    {"lenovo", "LXPM", "", "", "lifecycle", "provisioning manager", -1, "active", "LXPM"},
    {"lenovo", "LXPMLinuxDriver", "", "", "lifecycle", "driver pack", -1, "active",
     "LXPMLinuxDriver"},
    {"supermicro", "CPLD_Motherboard", "", "", "cpld", "motherboard", -1, "active",
     "CPLD_Motherboard"},
    {"supermicro", "Golden_BIOS", "", "", "bios", "", -1, "golden", "BIOS"},
    {"supermicro", "Staging_BMC", "", "", "bmc", "", -1, "staged", "BMC"},
    {"supermicro", "Backup_BMC", "", "", "bmc", "", -1, "backup", "BMC"},
    {"supermicro", "BMC", "", "", "bmc", "", -1, "active", "BMC"},
    {"supermicro", "NIC10", "NIC10 System Slot12 MBF2M516C-CECOT", "", "dpu", "nic", -1, "active",
     "NIC10"},
    {"supermicro", "NIC2", "NIC2 System Slot2 MCX75310AAS-NEAT", "", "nic", "nic", 2, "active",
     "NIC2"},
    {"supermicro", "NVMeSSDA11", "", "", "nvme", "nvme", 11, "active", "NVMeSSDA11"},
    {"dell", "Installed-159-1.9.2__BIOS.Setup.1-1", "", "", "bios", "", -1, "active",
     "BIOS.Setup.1-1"},
    {"dell", "Previous-159-1.8.0__BIOS.Setup.1-1", "", "", "bios", "", -1, "backup",
     "BIOS.Setup.1-1"},
    {"dell", "Current-159-1.9.2__BIOS.Setup.1-1", "", "", "bios", "", -1, "golden",
     "BIOS.Setup.1-1"},
    {"dell", "Current-0-22.00.6__NIC.Embedded.1-1-1", "", "", "nic", "nic", -1, "golden",
     "NIC.Embedded.1-1-1"},
    {"dell", "Previous-0-22.00.5__NIC.Embedded.1-1-1", "", "", "nic", "nic", -1, "backup",
     "NIC.Embedded.1-1-1"},
    {"dell", "Available-0-3.67__RAID.Backplane.Firmware.1", "", "", "backplane", "backplane", -1,
     "staged", "RAID.Backplane.Firmware.1"},
    {"dell", "Installed-0-2.5__AHCI.SL.6-1", "", "", "storage-controller", "ahci", -1, "active",
     "AHCI.SL.6-1"},
    {"dell", "Installed-28897-7.10__USC.Embedded.1:LC.Embedded.1", "", "", "lifecycle",
     "lifecycle controller", -1, "active", "USC.Embedded.1:LC.Embedded.1"},
    {"dell", "Previous-1-2__Other.Slot.1", "", "", "", "", -1, "backup", "Other.Slot.1"},
    {"dell", "Previous-0-1.2__BOSS.SL.14-1", "", "/redfish/v1/Systems/1/Storage/BOSS.SL.14-1",
     "storage-controller", "storage", -1, "backup", "BOSS.SL.14-1"},
    {"dell", "Available-0-1.3__BOSS.SL.14-1", "", "/redfish/v1/Systems/1/Storage/BOSS.SL.14-1",
     "storage-controller", "storage", -1, "staged", "BOSS.SL.14-1"},
    {"dell", "Installed-1-2__", "", "", "", "", -1, "active", "Installed-1-2__"},
    {"", "Installed-0-1__NIC.Embedded.1-1-1", "", "", "", "", -1, "active",
     "Installed-0-1__NIC.Embedded.1-1-1"},
    {"dell", "Installed-25227-7.0__iDRAC.Embedded.1-1", "", "", "bmc", "", -1, "active",
     "iDRAC.Embedded.1-1"},
    {"dell", "Installed-0-00.1D.7D__PSU.Slot.2", "", "", "psu", "psu", 2, "active", "PSU.Slot.2"},
    {"hpe", "1", "iLO 6", "", "bmc", "", -1, "active", "1"},
    {"hpe", "8", "Redundant System ROM", "", "bios", "", -1, "backup", "8"},
    {"hpe", "19", "BlueField-2 SmartNIC Main Card", "", "dpu", "", -1, "active", "19"},
    {"hpe", "9", "Intelligent Provisioning", "", "lifecycle", "", -1, "active", "9"},
    {"hpe", "11", "HPE Smart Storage Energy Pack 1 Firmware", "", "board-controller", "energy pack",
     -1, "active", "11"},
    {"hpe", "39", "8 SFF 24G x4NVMe/SAS UBM6 BC BP", "", "backplane", "", -1, "active", "39"},
    {"openbmc", "2e5bc3fb", "Software Inventory", "/redfish/v1/Managers/bmc", "bmc", "", -1,
     "active", "2e5bc3fb"},
    {"openbmc", "9f00", "", "/redfish/v1/Systems/system/Bios", "bios", "", -1, "active", "9f00"},
    {"nvos", "ASIC1", "", "", "nvswitch", "asic", 1, "active", "ASIC1"},
    {"nvos", "EROT-ASIC1", "", "", "erot", "", -1, "active", "EROT-ASIC1"},
    /* Another vendor's names mean nothing. */
    {"dell", "Golden_BIOS", "", "", "", "", -1, "active", "Golden_BIOS"},
    {"", "Embedded Video Controller", "", "", "", "", -1, "active", "Embedded Video Controller"},
    {"", "", "", "", "", "", -1, "active", ""},
};

static void test_names(void)
{
    const struct lks_facts *facts = lks_test_facts();
    for (size_t i = 0; i < LKS_COUNT(names); i++) {
        lks_test_case("%s %s", names[i].vendor, names[i].id);
        struct lks_firmware_name got = lks_firmware_name(
            facts, &(struct lks_firmware_hint){.vendor = lks_str_from(names[i].vendor),
                                               .id = lks_str_from(names[i].id),
                                               .name = lks_str_from(names[i].name),
                                               .software_id = LKS_STR(""),
                                               .related = {lks_str_from(names[i].related)}});
        CHECK_STR(got.class, names[i].class);
        CHECK_STR(got.of, names[i].of);
        CHECK_INT(got.index, names[i].index);
        CHECK_STR(got.bank, names[i].bank);
        CHECK_STR(got.key, names[i].key);
    }
}

/* Entries whose id tells nothing: what else they say of themselves does, in the order of the rows.
 */
static const struct {
    const char *name;
    struct lks_firmware_hint hint;
    const char *class, *of;
} seconds[] = {
    {"by the device of its software id",
     {.vendor = LKS_STR_C("lenovo"),
      .id = LKS_STR_C("Slot_10.1"),
      .software_id = LKS_STR_C("DEVICE-10DE26B5-13")},
     "vbios",
     "gpu slot"},
    {"a storage controller by the device of its software id",
     {.vendor = LKS_STR_C("lenovo"),
      .id = LKS_STR_C("Slot_7.Bundle"),
      .software_id = LKS_STR_C("DEVICE-100010E2-13")},
     "storage-controller",
     "slot"},
    {"by the second of its related items",
     {.vendor = LKS_STR_C("lenovo"),
      .id = LKS_STR_C("Slot_27.1"),
      .software_id = LKS_STR_C("DEVICE-17AA4104-13"),
      .related = {LKS_STR_C("/redfish/v1/Chassis/1/PCIeDevices/slot_27"),
                  LKS_STR_C("/redfish/v1/Chassis/1/NetworkAdapters/slot-27")}},
     "nic",
     "nic"},
    {"a slot that states nothing else",
     {.vendor = LKS_STR_C("lenovo"),
      .id = LKS_STR_C("Slot_5.Bundle"),
      .software_id = LKS_STR_C("DEVICE-17AA4104-13"),
      .related = {LKS_STR_C("/redfish/v1/Chassis/1/PCIeDevices/slot_5")}},
     "adapter",
     "slot"},
    {"a slot of another vendor", {.id = LKS_STR_C("Slot_5")}, "", ""},
    {"by a GPU it belongs to",
     {.id = LKS_STR_C("x"), .related = {LKS_STR_C("/redfish/v1/Systems/1/Processors/GPU4")}},
     "vbios",
     "gpu"},
    {"by a drive it belongs to",
     {.id = LKS_STR_C("x"), .related = {LKS_STR_C("/redfish/v1/Systems/1/Storage/A/Drives/B")}},
     "nvme",
     "disk"},
    {"by the controller of drives",
     {.id = LKS_STR_C("x"), .related = {LKS_STR_C("/redfish/v1/Systems/1/Storage/A")}},
     "storage-controller",
     "storage"},
    {"by a power supply, in the older schema",
     {.id = LKS_STR_C("x"), .related = {LKS_STR_C("/redfish/v1/Chassis/1/Power#/PowerSupplies/0")}},
     "psu",
     "psu"},
    {"by its description",
     {.id = LKS_STR_C("8a1f"), .description = LKS_STR_C("Host image")},
     "bios",
     ""},
    {"by its maker", {.id = LKS_STR_C("x"), .manufacturer = LKS_STR_C("MLNX")}, "nic", ""},
    {"by nothing",
     {.id = LKS_STR_C("x"),
      .name = LKS_STR_C("Software Inventory"),
      .description = LKS_STR_C("Other image"),
      .manufacturer = LKS_STR_C("NVIDIA"),
      .related = {LKS_STR_C("/redfish/v1/Systems/1")}},
     "",
     ""},
};

static void test_second_stage(void)
{
    for (size_t i = 0; i < LKS_COUNT(seconds); i++) {
        lks_test_case("%s", seconds[i].name);
        struct lks_firmware_name got = lks_firmware_name(lks_test_facts(), &seconds[i].hint);
        CHECK_STR(got.class, seconds[i].class);
        CHECK_STR(got.of, seconds[i].of);
        CHECK_STR(got.bank, "active");
    }
}

static const struct {
    const char *vendor, *product, *oem, *want;
} services[] = {
    {"", "", "Supermicro", "supermicro"},
    {"SMCI", "", "", "supermicro"},
    {"HPE", "ProLiant DL385 Gen10 Plus v2", "Hpe", "hpe"},
    {"Dell", "Integrated Dell Remote Access Controller", "Dell", "dell"},
    {"AMI", "", "Ami", "ami"},
    {"", "", "Nvidia", "nvidia"},
    {"", "iLO 5", "", "hpe"},
    {"OpenBMC", "", "OpenBmc", "openbmc"},
    {"Somebody", "Something", "", ""},
};

static void test_services(void)
{
    for (size_t i = 0; i < LKS_COUNT(services); i++) {
        lks_test_case("%s %s %s", services[i].vendor, services[i].product, services[i].oem);
        CHECK_STR(lks_firmware_vendor(lks_str_from(services[i].vendor),
                                      lks_str_from(services[i].product),
                                      lks_str_from(services[i].oem)),
                  services[i].want);
    }
}

/* Whoever plans asks for every class; a class without a row would be updated as if it cost nothing.
 */
static void test_every_class_is_known(void)
{
    const struct lks_facts *facts = lks_test_facts();
    for (size_t i = 0; i < facts->components.count; i++) {
        const struct lks_component_kind *kind = &facts->components.rows[i];
        lks_test_case("%.*s", LKS_STR_ARG(kind->name));
        if (kind->sort == LKS_FIRMWARE)
            CHECK(lks_facts_firmware(facts, kind->name) != NULL);
    }
    for (size_t i = 0; i < facts->firmware_updates.count; i++) {
        const struct lks_firmware_update *u = &facts->firmware_updates.rows[i];
        const struct lks_component_kind *kind = lks_facts_component(facts, u->component);
        lks_test_case("%.*s", LKS_STR_ARG(u->component));
        CHECK(kind != NULL && kind->sort == LKS_FIRMWARE);
        CHECK(u->stage_min > 0 && u->activate_min > 0);
    }
}

/* The irreversible goes last, and a dependency never points forward: so the order has no cycle. */
static void test_order(void)
{
    const struct lks_facts *facts = lks_test_facts();
    int64_t reversible = 0, irreversible = INT64_MAX;
    for (size_t i = 0; i < facts->firmware_updates.count; i++) {
        const struct lks_firmware_update *u = &facts->firmware_updates.rows[i];
        lks_test_case("%.*s", LKS_STR_ARG(u->component));
        if (u->one_way)
            irreversible = u->order < irreversible ? u->order : irreversible;
        else
            reversible = u->order > reversible ? u->order : reversible;
        struct lks_str rest = u->after, word;
        while (lks_str_word(&rest, &word)) {
            const struct lks_firmware_update *first = lks_facts_firmware(facts, word);
            if (CHECK(first != NULL))
                CHECK(first->order < u->order);
        }
        /* What has two banks can go back by itself unless its vendor says otherwise, and what has
         * no way back at all needs a spare. */
        CHECK(!lks_str_is(u->revert, "switch") || lks_str_is(u->banks, "two"));
        CHECK(!u->one_way || lks_str_is(u->revert, "spare") || lks_str_is(u->revert, "vendor"));
    }
    CHECK(reversible < irreversible);
}

static void test_pairs(void)
{
    static const char *const paired[] = {"psu", "bbu", "power-shelf", "cdu"};
    const struct lks_facts *facts = lks_test_facts();
    for (size_t i = 0; i < LKS_COUNT(paired); i++) {
        lks_test_case("%s", paired[i]);
        const struct lks_firmware_update *u = lks_facts_firmware(facts, lks_str_from(paired[i]));
        CHECK(u != NULL && u->pair);
    }
    CHECK(lks_facts_firmware(facts, LKS_STR("firmware/psu")) ==
          lks_facts_firmware(facts, LKS_STR("psu")));
    CHECK(lks_facts_firmware(facts, LKS_STR("driver")) == NULL);
}

static const struct lks_test tests[] = {
    {"firmware: what services call it", test_names},
    {"firmware: what an entry says of itself where its id tells nothing", test_second_stage},
    {"firmware: whose service it is", test_services},
    {"firmware: every class has a row", test_every_class_is_known},
    {"firmware: the irreversible goes last", test_order},
    {"firmware: one side at a time", test_pairs},
    {0},
};

int main(void)
{
    return lks_test_main(tests);
}
