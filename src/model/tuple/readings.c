#include "model/tuple/tuple.h"

#include "base/secret.h"

#define I(n, about)                                                                                \
    {                                                                                              \
        n, LKS_READING_IDENTITY, false, about                                                      \
    }
#define D(n, about)                                                                                \
    {                                                                                              \
        n, LKS_READING_DEVICE, false, about                                                        \
    }
#define S(n, about)                                                                                \
    {                                                                                              \
        n, LKS_READING_DEVICE, true, about                                                         \
    }
#define H(n, about)                                                                                \
    {                                                                                              \
        n, LKS_READING_HEALTH, false, about                                                        \
    }

/* Of any component, and no identity as all else that is called after one. */
#define PACKAGE_CHANGED "COMPONENT.package.changed"

/* clang-format off */
const struct lks_reading_kind lks_reading_kinds[] = {
    /* The driver's four numbers, and what else is known of a component beside its version. */
    I("driver", "NVIDIA driver that runs: version of the loaded kernel module"),
    I("driver.loaded", "version of the loaded kernel module"),
    I("driver.disk", "version of the module on disk for the running kernel"),
    I("driver.library", "version of the user-space driver library"),
    I("driver.package", "version of the driver's package"),
    I("driver.modules", "flavour of the loaded modules: open or proprietary"),
    I("driver.build.srcversion", "srcversion of the loaded module"),
    I("driver.build.sha256", "SHA-256 of the module on disk"),
    I("driver.build.build_id", "ELF build-id of the user-space driver library"),
    I("amdgpu", "AMD kernel driver that runs"),
    I("amdgpu.loaded", "version of the loaded module, or the kernel's for the one in the kernel"),
    I("amdgpu.disk", "version of the module on disk for the running kernel"),
    I("amdgpu.package", "version of the package that holds the module's sources"),
    I("amdgpu.modules", "where the module comes from: inbox or dkms"),
    I("amdgpu.build.srcversion", "srcversion of the loaded module"),
    I("cuda.runtime", "version of the CUDA run time, where nothing beside it names its release"),
    I("kernel", "release of the running kernel"),

    /* Of an asset, from the fleet's file. */
    I("asset", "what the asset is: switch-tray, power-shelf ..."),
    I("asset.side", "the side of the redundant pair it is on: a or b"),

    /* Settings, by their path in a stack. */
    I("settings.mig.mode", "disabled or enabled, of each GPU"),
    I("settings.mig.profiles", "profiles of the GPU's instances, as a list in order of placement"),
    I("settings.ecc", "true or false, of each GPU"),
    I("settings.power_limit_w", "power limit in watts, of each GPU"),
    I("settings.clocks.locked", "true or false: whether clocks are locked"),
    I("settings.clocks.graphics_mhz", "graphics clock it is held at; absent when it is not"),
    I("settings.clocks.memory_mhz", "memory clock it is held at; absent when it is not"),
    I("settings.persistence", "true or false, of each GPU"),
    I("settings.compute_mode", "default, exclusive-process or prohibited, of each GPU"),
    I("settings.memory_mode", "Grace: numa or cdmm; absent elsewhere"),
    I("settings.gds", "true or false: the GPUDirect Storage driver is loaded"),
    I("settings.partition.compute", "AMD: SPX, DPX, TPX, QPX or CPX, of each GPU"),
    I("settings.partition.memory", "AMD: NPS1, NPS2, NPS4 or NPS8, of each GPU"),
    I("settings.kernel_cmdline", "parameters of the running kernel, as a list in order"),
    I("settings.nic.link_type", "ethernet or infiniband, of each fabric port"),
    I("settings.nic.congestion_control", "algorithm, of each fabric port"),
    I("settings.nic.pfc", "priorities with flow control, of each fabric port"),
    I("settings.nic.ecn", "priorities that mark congestion, of each fabric port"),
    I("settings.nic.options.*", "other settings of an adapter by the device's own names"),
    I("settings.bios.*", "BIOS attributes by the vendor's names"),
    I("settings.unattended_upgrades", "true or false: the package manager upgrades on its own"),
    I("settings.other.*", "files under /proc/sys and /sys that a stack names"),
    I("tuning.env.*", "variables of /etc/nccl.conf"),

    /* What the hardware class expects. */
    I("devices.gpus", "GPUs on the PCI bus"),
    I("devices.nvlinks_up", "NVLinks up, of each GPU"),
    I("devices.nvswitches", "NVSwitches on the PCI bus"),
    I("devices.nics", "fabric adapter ports"),
    I("devices.nic_gbps", "speed of each fabric adapter port"),
    I("devices.nvmes", "NVMe drives"),
    I("devices.memory_gib", "memory of the machine"),

    /* From the pool's scheduler. */
    I("scheduler.gres", "GPUs that the scheduler advertises for the node, by type"),
    I("scheduler.state", "what else is wrong with what it advertises; absent where nothing is"),

    /* The platform. */
    I("platform.os", "distribution and its version"),
    I("platform.product", "make and model of the machine"),
    I("platform.cpu", "model of the CPUs"),
    I("platform.secure_boot", "enabled or disabled; absent without UEFI"),
    I("platform.disk_encryption", "root file system: encrypted or plain"),
    I("platform.tpm", "major version of the TPM"),
    I("platform.event_log", "present or missing: the firmware's measurement log"),
    I("platform.next_kernel", "release the next boot takes"),
    I("platform.dkms", "of each DKMS module: whether it is built for the next kernel"),
    D("platform.agent", "version of lockstep-agent that read the machine"),
    D("platform.upgrades", "what arms unattended upgrades, and for which packages"),
    S("platform.serial", "serial number of the machine"),
    S("platform.uuid", "UUID of the machine"),

    /* GPUs. */
    I("gpu.product", "name of each GPU as the vendor's library has it"),
    I("gpu.pci_id", "vendor:device of each GPU"),
    I("gpu.subsystem_id", "vendor:device of the board of each GPU"),
    I("gpu.board_part", "part number of the board"),
    D("gpu.part", "part number of the GPU; not in a quick reading"),
    I("gpu.firmware.*", "AMD: firmware of one block of the GPU"),
    S("gpu.serial", "serial number"),
    S("gpu.uuid", "UUID"),
    D("gpu.module_id", "position on the board"),
    H("gpu.throttle", "reasons for which clocks are held down now, as a list"),
    H("gpu.mig_pending", "MIG mode after the next reset"),
    H("gpu.ecc_pending", "ECC mode after the next reboot"),
    H("gpu.remapped_rows", "memory rows remapped: correctable and uncorrectable"),
    H("gpu.remap_pending", "true or false: a row waits for a reset to be remapped"),
    H("gpu.remap_failed", "true or false: a row could not be remapped"),
    H("gpu.retired_pages", "memory pages retired (before Ampere)"),
    H("gpu.recovery_action", "what the driver asks for: none, reset, reboot, drain ..."),
    H("gpu.fabric_state", "registration with the NVLink fabric"),
    H("gpu.nvlinks", "state of each NVLink, as a list"),
    H("gpu.clocks", "graphics and memory clock now"),
    H("gpu.processes", "processes that use the GPU"),

    /* Adapters, optics, drives. */
    D("nic.product", "model of each adapter"),
    D("nic.driver", "kernel driver of each adapter, and its version"),
    S("nic.serial", "serial number"),
    S("nic.mac", "hardware address"),
    S("nic.guid", "GUID of the node or port"),
    H("nic.state", "up, down or what else the port says"),
    H("nic.staged_firmware", "firmware that an adapter runs after its next reset"),
    D("optics.part", "vendor and part number of the transceiver in a port"),
    S("optics.serial", "serial number of the transceiver"),
    D("nvme.model", "model of each drive"),
    S("nvme.serial", "serial number"),
    H("nvme.state", "what the driver says of each drive: live when it works"),

    /* Containers, copies, daemons. */
    I("cdi.driver", "driver version that a CDI specification names, of each specification"),
    {"copy.*", LKS_READING_COPY, false,
     "a copy of a library, by its path, and its build id; part says the kind of place: system, "
     "cuda, python, container or process"},
    {"shadow.*", LKS_READING_COPY, false,
     "a driver library in an image that hides the injected one"},
    {"image.*", LKS_READING_COPY, false,
     "nccl, rccl, cudnn or cuda of an image on the node, by its name as Docker, Podman, CRI-O or "
     "containerd keeps it; part is its digest"},
    D("search.skipped", "a place that the library search skipped, and why"),
    D("probe.*", "a probe that did not finish, and why"),

    /* Components by name. */
    I("firmware/*", "firmware of each device, by its class; part is the device's part number"),
    H("staged/*", "out of band: firmware that runs after the next activation, by its class"),
    D("backup/*", "out of band: firmware in the other bank, by its class"),
    D("switch/*", "out of band: that the service offers a switch to the other bank, by its class"),
    D("golden/*", "out of band: firmware of last resort, by its class"),
    S("endpoint.serial", "serial number that the management endpoint tells"),
    D("endpoint.*", "what the management endpoint says of itself: vendor, product, model"),
    I("COMPONENT", "a component of components.csv: the version that runs or would be loaded"),
    I("COMPONENT.package", "version of its package"),
    H(PACKAGE_CHANGED, "what its package manager last did to it, by its log: when, from, to"),
    I("COMPONENT.build.sha256", "SHA-256 of its file"),
    I("COMPONENT.build.build_id", "ELF build-id of its file"),
};
/* clang-format on */
const size_t lks_reading_kind_count = LKS_COUNT(lks_reading_kinds);

/* "copy.*" fits "copy.nccl"; the star is the last character. */
static bool fits(const char *pattern, struct lks_str name)
{
    size_t len = strlen(pattern);
    return len > 1 && pattern[len - 1] == '*' && name.len >= len - 1 &&
           memcmp(pattern, name.ptr, len - 1) == 0;
}

const struct lks_reading_kind *lks_reading_kind(struct lks_str name)
{
    const struct lks_reading_kind *best = NULL;
    const char any = 'C'; /* as COMPONENT begins: it stands for all names */
    if (lks_str_ends(name, strchr(PACKAGE_CHANGED, '.')))
        name = LKS_STR(PACKAGE_CHANGED);
    for (size_t i = 0; i < LKS_COUNT(lks_reading_kinds); i++) {
        const struct lks_reading_kind *k = &lks_reading_kinds[i];
        if (name.len > 0 && k->name[0] != name.ptr[0] && k->name[0] != any)
            continue; /* asked of every reading of every report: most are told by one letter */
        if (lks_str_is(name, k->name))
            return k;
        if (fits(k->name, name) && (best == NULL || strlen(k->name) > strlen(best->name)))
            best = k;
        if (best == NULL && strcmp(k->name, "COMPONENT") == 0)
            best = k;
    }
    return best;
}

/* Parameters that name one host, its disks or its addresses. */
static const char *const of_one_host[] = {
    "BOOT_IMAGE=",  "BOOTIF=",           "initrd=",
    "root=",        "resume=",           "resume_offset=",
    "cryptdevice=", "rd.luks.uuid=",     "rd.luks.name=",
    "rd.luks.key=", "rd.lvm.lv=",        "rd.md.uuid=",
    "luks.uuid=",   "luks.name=",        "luks.key=",
    "nfsroot=",     "netroot=",          "rd.iscsi.initiator=",
    "ip=",          "ifname=",           "nameserver=",
    "hostname=",    "systemd.hostname=", "systemd.machine_id=",
    "ds=",          "cloud-config-url=",
};

bool lks_reading_parameter_of_host(struct lks_str parameter)
{
    struct lks_str key, value;
    for (size_t i = 0; i < LKS_COUNT(of_one_host); i++) {
        if (lks_str_starts(parameter, of_one_host[i]))
            return true;
    }
    (void)lks_str_cut(parameter, '=', &key, &value);
    return lks_secret_key(key);
}
