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
    {"nvidia", "HGX_PCIeSwitchConfig_0", "", "", "", "pcie-switch", 0, "active",
     "HGX_PCIeSwitchConfig_0"},
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
    {"dell", "Installed-25227-7.0__iDRAC.Embedded.1-1", "", "", "bmc", "", -1, "active",
     "iDRAC.Embedded.1-1"},
    {"dell", "Installed-0-00.1D.7D__PSU.Slot.2", "", "", "psu", "psu", 2, "active", "PSU.Slot.2"},
    {"hpe", "1", "iLO 6", "", "bmc", "", -1, "active", "1"},
    {"hpe", "8", "Redundant System ROM", "", "bios", "", -1, "backup", "8"},
    {"hpe", "19", "BlueField-2 SmartNIC Main Card", "", "dpu", "", -1, "active", "19"},
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
                                               .related = lks_str_from(names[i].related)});
        CHECK_STR(got.class, names[i].class);
        CHECK_STR(got.of, names[i].of);
        CHECK_INT(got.index, names[i].index);
        CHECK_STR(got.bank, names[i].bank);
        CHECK_STR(got.key, names[i].key);
    }
}

static const struct {
    const char *vendor, *product, *oem, *want;
} services[] = {
    {"", "", "Supermicro", "supermicro"},
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
