#include "core/conform/consistency.h"

#include "tests/facts.h"
#include "tests/test.h"
#include "tests/tuples.h"

#include <stdio.h>
#include <string.h>

/* The node of tests/tuples.h with one copy of NCCL agrees with itself. */
#define ONE_COPY "!copy.nccl\n"
#define GPU      "gpu 0000:5d:00.0"

/* What is changed about it, and all that is found then, a line each:
 *     SEVERITY RULE SUBJECT: TEXT [REMEDY] */
static const struct {
    const char *name, *changes, *findings;
} rows[] = {
    {"a node as it should be", ONE_COPY, ""},
    {"a second NCCL in a Python environment", "",
     "warning copies-differ nccl: nccl is 2.28.3 in /usr/lib/x86_64-linux-gnu/libnccl.so.2.28.3 "
     "and 2.28.9 in /opt/venv/lib/python3.12/site-packages/nvidia/nccl/lib/libnccl.so.2: a job "
     "that mixes them fails or hangs [keep one, or pin the one jobs bring with owner: image]\n"},
    {"three versions, two places of one",
     ONE_COPY
     "copy.nccl@/a/libnccl.so.2#python=2.28.9\ncopy.nccl@/b/libnccl.so.2#container=2.28.9\n"
     "copy.nccl@/c/libnccl.so.2#python=2.27.0\n",
     "warning copies-differ nccl: nccl is 2.28.3 in proof of nccl, 2.28.9 in /a/libnccl.so.2 (and "
     "1 more) and 2.27.0 in /c/libnccl.so.2: a job that mixes them fails or hangs [keep one, or "
     "pin the one jobs bring with owner: image]\n"},
    {"another library in two versions",
     ONE_COPY "copy.cudnn@/a/libcudnn.so.9#python=9.13.0\ncopy.cudnn@/b/libcudnn.so.9#python="
              "9.17.0\n",
     "warning copies-differ cudnn: cudnn is 9.13.0 in /a/libcudnn.so.9 and 9.17.0 in "
     "/b/libcudnn.so.9: a program takes the one it finds first [keep one, or pin the one jobs "
     "bring with owner: image]\n"},
    {"the same version in two places", ONE_COPY "copy.nccl@/a/libnccl.so.2#python=2.28.3\n", ""},
    {"a copy that could not be read", ONE_COPY "copy.nccl@/a/libnccl.so.2#python?no access\n", ""},

    {"the package was upgraded under the driver", ONE_COPY "driver.package=580.159.04\n",
     "error four-numbers driver: the loaded module is 580.126.20 (proof of driver.loaded) and "
     "the package 580.159.04 (proof of driver.package): the package manager upgraded it under "
     "the running driver [reboot, or return to 580.126.20]\n"},
    {"everything but the loaded module was upgraded",
     ONE_COPY "driver.package=580.159.04\ndriver.disk=580.159.04\n"
              "driver.library=580.159.04\n",
     "error four-numbers driver: the loaded module is 580.126.20 (proof of driver.loaded), the "
     "module on disk 580.159.04 (proof of driver.disk), the library 580.159.04 (proof of "
     "driver.library) and the package 580.159.04 (proof of driver.package): the package manager "
     "upgraded it under the running driver [reboot, or return to 580.126.20]\n"},
    {"another library", ONE_COPY "driver.library=580.159.04\n",
     "error four-numbers driver: the loaded module is 580.126.20 (proof of driver.loaded) and "
     "the library 580.159.04 (proof of driver.library): programs that use a GPU fail, since "
     "driver and library do not match [reboot, or return to 580.126.20]\n"},
    {"another module on disk", ONE_COPY "driver.disk=580.159.04\n",
     "error four-numbers driver: the loaded module is 580.126.20 (proof of driver.loaded) and "
     "the module on disk 580.159.04 (proof of driver.disk): the next boot loads another driver "
     "[reboot, or return to 580.126.20]\n"},
    {"nothing is loaded, and the rest disagrees",
     ONE_COPY "!driver\ndriver.loaded~\ndriver.library=580.159.04\n",
     "error unmeasured driver: driver was not read, and there are NVIDIA GPUs []\n"
     "error four-numbers driver: the module on disk is 580.126.20 (proof of driver.disk) and the "
     "library 580.159.04 (proof of driver.library): they do not belong together [install one "
     "version in all places; one of them has 580.126.20]\n"},
    {"the running driver alone is known", ONE_COPY "driver.loaded~\ndriver.disk=580.159.04\n",
     "error four-numbers driver: the running driver is 580.126.20 (proof of driver) and the "
     "module on disk 580.159.04 (proof of driver.disk): the next boot loads another driver "
     "[reboot, or return to 580.126.20]\n"},
    {"what runs, read in two ways", ONE_COPY "driver=580.159.04\n",
     "error four-numbers driver: the loaded module is 580.126.20 (proof of driver.loaded) and "
     "the running driver 580.159.04 (proof of driver): what runs was read in two ways [reboot, "
     "or return to 580.126.20]\nerror fabric-manager-version fabric-manager: fabric-manager is "
     "580.126.20 (proof of fabric-manager) and the driver 580.159.04 (proof of driver); they "
     "must be the same [install the fabric manager of the driver's version]\nerror cdi-driver "
     "cdi.driver: /var/run/cdi/nvidia.yaml names driver 580.126.20 and the one that runs is "
     "580.159.04 (proof of driver): containers do not find its files [write it anew: nvidia-ctk "
     "cdi generate]\n"},
    {"what was not measured disagrees with nothing",
     ONE_COPY "driver.package?no access\ndriver.disk~\n", ""},
    {"the same version written differently", ONE_COPY "driver.disk=580.126.20.0\n", ""},
    {"amdgpu under another package", ONE_COPY "amdgpu.loaded=6.12.12\namdgpu.package=7.0.0\n",
     "error four-numbers amdgpu: the loaded module is 6.12.12 (proof of amdgpu.loaded) and the "
     "package 7.0.0 (proof of amdgpu.package): the package manager upgraded it under the running "
     "driver [reboot, or return to 6.12.12]\n"},
    {"amdgpu of its package", ONE_COPY "amdgpu.loaded=6.4.2\namdgpu.package=6.4.2\n", ""},

    {"boards with two part numbers", ONE_COPY "gpu.board_part@" GPU "=692-2G520-0200-000\n",
     "warning gpus-differ gpu.board_part: gpu.board_part is 692-2G520-0282-001 on 7 GPUs and "
     "692-2G520-0200-000 on " GPU " (proof of gpu.board_part) [make the GPUs of the node alike]\n"},
    {"copies of two builds",
     ONE_COPY "copy.nccl@/a#python=2.28.3\ncopy.nccl.build_id@/a#python=aaaa\n"
              "copy.nccl@/b#python=2.28.3\ncopy.nccl.build_id@/b#python=bbbb\n",
     ""},
    {"a package that tells two numbers", ONE_COPY "cuda=13.0.2\ncuda.package=13.0\n", ""},

    {"GSP firmware of another driver", ONE_COPY "firmware/gsp@gpu *=580.95.05\n",
     "error gsp-version firmware/gsp: firmware/gsp is 580.95.05 (proof of firmware/gsp) and the "
     "driver 580.126.20 (proof of driver); they must be the same [reload the driver, so that it "
     "loads its own firmware]\n"},
    {"GSP firmware of the driver", ONE_COPY "firmware/gsp@gpu *=580.126.20\n", ""},
    {"another fabric manager",
     ONE_COPY "fabric-manager=580.95.05\nfabric-manager.package="
              "580.95.05\n",
     "error fabric-manager-version fabric-manager: fabric-manager is 580.95.05 (proof of "
     "fabric-manager) and the driver 580.126.20 (proof of driver); they must be the same [install "
     "the fabric manager of the driver's version]\n"},
    {"IMEX by its package alone", ONE_COPY "imex.package=580.95.05\n",
     "error imex-version imex.package: imex.package is 580.95.05 (proof of imex.package) and the "
     "driver 580.126.20 (proof of driver); they must be the same [install IMEX of the driver's "
     "version]\n"},
    {"IMEX of the driver", ONE_COPY "imex.package=580.126.20\n", ""},
    {"another NSCQ", ONE_COPY "nscq=580.95.05\n",
     "error nscq-version nscq: nscq is 580.95.05 (proof of nscq) and the driver 580.126.20 (proof "
     "of driver); they must be the same [install NSCQ of the driver's version]\n"},
    {"a CDI specification of another driver",
     ONE_COPY "cdi.driver@/etc/cdi/nvidia.yaml=580.95.05\n",
     "error cdi-driver cdi.driver: /etc/cdi/nvidia.yaml names driver 580.95.05 and the one that "
     "runs is 580.126.20 (proof of driver): containers do not find its files [write it anew: "
     "nvidia-ctk cdi generate]\n"},

    {"ECC off on one GPU", ONE_COPY "settings.ecc@" GPU "=false\ngpu.ecc_pending@" GPU "=false\n",
     "error gpus-differ settings.ecc: settings.ecc is true on 7 GPUs and false on " GPU " (proof "
     "of settings.ecc) [make the GPUs of the node alike]\n"},
    {"another product in one slot", ONE_COPY "gpu.product@" GPU "=NVIDIA H200 NVL\n",
     "error gpus-differ gpu.product: gpu.product is NVIDIA H200 on 7 GPUs and NVIDIA H200 NVL on "
     "" GPU " (proof of gpu.product) [make the GPUs of the node alike]\n"},
    {"clocks held on one GPU",
     ONE_COPY "settings.clocks.locked@" GPU "=true\nsettings.clocks.graphics_mhz@" GPU "=1980\n",
     "error gpus-differ settings.clocks.graphics_mhz: settings.clocks.graphics_mhz is absent on 7 "
     "GPUs and 1980 on " GPU " (proof of settings.clocks.graphics_mhz) [make the GPUs of the node "
     "alike]\n"
     "error gpus-differ settings.clocks.locked: settings.clocks.locked is false on 7 GPUs and true "
     "on " GPU " (proof of settings.clocks.locked) [make the GPUs of the node alike]\n"
     "warning clocks-held settings.clocks.locked: clocks are held on 1 GPU, " GPU " among them "
     "(proof of settings.clocks.locked) [nvidia-smi -rgc and -rmc release them]\n"},
    {"what was not measured on one GPU", ONE_COPY "settings.ecc@" GPU "?timed out\n", ""},
    {"adapters may differ", ONE_COPY "settings.nic.link_type@nic mlx5_3 port 1=infiniband\n", ""},
    {"serials may differ", ONE_COPY "gpu.serial@" GPU "=123\n", ""},

    {"another VBIOS on one GPU",
     ONE_COPY "firmware/vbios@" GPU "#692-2G520-0282-001=96.00.A5.00.03\n",
     "error firmware-differs firmware/vbios[692-2G520-0282-001]: firmware/vbios[692-2G520-0282-001]"
     " is 96.00.A5.00.1A on 7 devices and 96.00.A5.00.03 on " GPU " (proof of firmware/vbios) "
     "[bring the devices of one part to one version]\n"},
    {"drives of two parts have their own versions",
     ONE_COPY "firmware/nvme@nvme nvme2#MZ-1=GDC7302Q\n", ""},
    {"drives of one part have two versions", ONE_COPY "firmware/nvme@nvme nvme2#MZ-1=GDC7303Q\n",
     "error firmware-differs firmware/nvme[MZ-1]: firmware/nvme[MZ-1] is GDC7302Q on nvme nvme0 "
     "and "
     "GDC7303Q on nvme nvme2 (proof of firmware/nvme) [bring the devices of one part to one "
     "version]\n"},
    {"firmware without a part number in two versions",
     ONE_COPY "firmware/psu@psu 1=1.0\nfirmware/psu@psu 2=1.1\n",
     "error firmware-differs firmware/psu: firmware/psu is 1.0 on psu 1 and 1.1 on psu 2 (proof of "
     "firmware/psu) [bring the devices of one part to one version]\n"},

    {"MIG waits for a reset", ONE_COPY "gpu.mig_pending@" GPU "=enabled\n",
     "error pending-mode settings.mig.mode: MIG of " GPU " is disabled (proof of settings.mig.mode)"
     " and becomes enabled with the next reset of the GPU (proof of gpu.mig_pending) [reset the "
     "GPU, or take the change back]\n"},
    {"ECC waits for a reboot", ONE_COPY "gpu.ecc_pending@" GPU "=false\n",
     "error pending-mode settings.ecc: ECC of " GPU " is true (proof of settings.ecc) and becomes "
     "false with the next reboot (proof of gpu.ecc_pending) [reboot, or take the change back]\n"},

    {"a kernel nobody could read", ONE_COPY "kernel?no access\n",
     "error unmeasured kernel: kernel could not be read: no access (proof of kernel) []\n"},
    {"no driver",
     ONE_COPY "driver~\ndriver.loaded~\ndriver.disk~\ndriver.library~\n"
              "driver.package~\n!cdi.driver\n!fabric-manager\n"
              "!fabric-manager.package\n!gpu.product\n",
     "error unmeasured driver: driver is not there (proof of driver), and there are NVIDIA GPUs "
     "[]\n"},
    {"nobody counted", ONE_COPY "!devices.gpus\n",
     "error unmeasured devices.gpus: devices.gpus was not read, and without a count none can be "
     "missed []\n"},
    {"a GPU of the other vendor", ONE_COPY "gpu.pci_id@" GPU "=1002:74a1\n",
     "error unmeasured amdgpu: amdgpu was not read, and there are AMD GPUs []\n"
     "error gpus-differ gpu.pci_id: gpu.pci_id is 10de:2335 on 7 GPUs and 1002:74a1 on " GPU
     " (proof of gpu.pci_id) [make the GPUs of the node alike]\n"},
    {"a GPU that does not answer", ONE_COPY "gpu.product@" GPU "?lost\n",
     "warning gpus-missing devices.gpus: 8 GPUs are on the bus (proof of devices.gpus) and 7 "
     "answer the driver [search the kernel's log for Xids, and drain the node]\n"},
    {"a GPU that is listed and says nothing",
     ONE_COPY "settings.mig.mode@" GPU "?lost\nsettings.mig.profiles@" GPU "?lost\n"
              "settings.ecc@" GPU "?lost\nsettings.power_limit_w@" GPU "?lost\n"
              "settings.clocks.locked@" GPU "?lost\nsettings.clocks.graphics_mhz@" GPU "?lost\n"
              "settings.clocks.memory_mhz@" GPU "?lost\nsettings.persistence@" GPU "?lost\n"
              "settings.compute_mode@" GPU "?lost\n",
     "warning gpus-missing devices.gpus: 8 GPUs are on the bus (proof of devices.gpus) and 7 "
     "answer the driver [search the kernel's log for Xids, and drain the node]\n"},

    {"a process with a file that is gone",
     ONE_COPY "copy.nccl@pid 4711 /usr/lib/libnccl.so.2 (deleted)#process=2.28.3\n",
     "error mapped-deleted nccl: a process still runs with nccl, which was replaced on disk (pid "
     "4711 /usr/lib/libnccl.so.2 (deleted), proof of copy.nccl) [start the process again]\n"},
    {"a library in an image that hides the injected one",
     ONE_COPY "shadow.libcuda@/images/x/usr/lib/libcuda.so.1=550.54.15\n",
     "warning shadowed shadow.libcuda: /images/x/usr/lib/libcuda.so.1, 550.54.15, hides the "
     "driver's own library in containers (proof of shadow.libcuda) [build the image without it]\n"},
    {"one whose version was not read",
     ONE_COPY "shadow.libcuda@/images/x/usr/lib/libcuda.so.1?no access\n",
     "warning shadowed shadow.libcuda: /images/x/usr/lib/libcuda.so.1, of a version that was not "
     "read, hides the driver's own library in containers (proof of shadow.libcuda) [build the "
     "image "
     "without it]\n"},
    {"a daemon that was not restarted", ONE_COPY "dcgm.package=4.5.4\n",
     "warning package-differs dcgm: dcgm is 4.5.3 (proof of dcgm) and its package 4.5.4 (proof "
     "of dcgm.package) [restart it, or remove the copy that is not from the package]\n"},
    {"a second toolkit beside the one that counts",
     ONE_COPY "cuda=13.0.2\ncuda.package=13.0.2\ncuda.package@package cuda-toolkit-12-8=12.8.1\n",
     ""},
    {"the kernel's package is numbered otherwise", ONE_COPY "kernel.package=6.8.0-71.71\n", ""},
    {"a module that is not built for the next kernel",
     ONE_COPY "platform.next_kernel=6.8.0-88-generic\n"
              "platform.dkms@dkms nvidia=nvidia/580.126.20 not built for 6.8.0-88-generic\n"
              "platform.dkms@dkms gdrdrv=gdrdrv/2.5 built\n",
     "warning dkms-next-kernel platform.dkms: nvidia/580.126.20 not built for 6.8.0-88-generic "
     "(proof of platform.dkms), and that is the kernel of the next boot (proof of "
     "platform.next_kernel): after it there is no such module [build it: dkms autoinstall -k "
     "6.8.0-88-generic]\n"},
    {"upgrades are armed",
     ONE_COPY "settings.unattended_upgrades=true\nplatform.upgrades=apt-daily-upgrade.timer\n",
     "warning upgrades-armed settings.unattended_upgrades: the package manager upgrades on its own "
     "(apt-daily-upgrade.timer): a driver can be replaced under its jobs [turn unattended upgrades "
     "off, or hold the packages]\n"},
    {"a probe that hung", ONE_COPY "probe.bmc?killed after 5 s in ipmi\n",
     "warning probe probe.bmc: the probe bmc did not finish: killed after 5 s in ipmi (proof of "
     "probe.bmc) []\n"},
};

static void add_finding(const struct lks_finding *f, struct lks_buf *out)
{
    lks_buf_addf(out, "%s %s %" LKS_STR_FMT ": %" LKS_STR_FMT " [%" LKS_STR_FMT "]\n",
                 lks_report_severity_name(f->severity), f->rule, LKS_STR_ARG(f->subject),
                 LKS_STR_ARG(f->text), LKS_STR_ARG(f->remedy));
}

static void test_rows(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        LKS_CLEANUP(lks_tuple_fini) struct lks_tuple tuple = {0};
        LKS_CLEANUP(lks_report_fini) struct lks_report report = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf found = LKS_BUF(1 << 20);
        struct lks_err err = {0};
        lks_test_tuple_with(lks_test_node, rows[i].changes, &tuple);
        lks_report_init(&report);
        CHECK_CODE(lks_consistency(lks_test_facts(), &tuple, &report, &err), LKS_OK);
        for (size_t j = 0; j < report.count; j++)
            add_finding(&report.findings[j], &found);
        CHECK_STR(lks_buf_view(&found), rows[i].findings);
    }
}

/* Every rule is named once and broken by a row. */
static void test_rules(void)
{
    const struct lks_consistency_rule *rule;
    for (size_t i = 0; (rule = lks_consistency_rule(i)) != NULL; i++) {
        char text[64];
        bool broken = false;
        lks_test_case("%s", rule->id);
        snprintf(text, sizeof(text), " %s ", rule->id);
        CHECK(strlen(rule->about) > 0);
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(lks_consistency_rule(j)->id, rule->id) != 0);
        for (size_t j = 0; j < LKS_COUNT(rows); j++)
            broken = broken || strstr(rows[j].findings, text) != NULL;
        CHECK(broken);
    }
}

/* Nothing at all is not consistent either, and no reason to fail. */
static void test_empty(void)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple tuple = {0};
    LKS_CLEANUP(lks_report_fini) struct lks_report report = {0};
    struct lks_err err = {0};
    lks_test_tuple("", &tuple);
    lks_report_init(&report);
    CHECK_CODE(lks_consistency(lks_test_facts(), &tuple, &report, &err), LKS_OK);
    CHECK_INT(report.errors, 2); /* kernel and the count of GPUs */
    CHECK_INT(report.warnings, 0);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"consistency: what is found", test_rows},
        {"consistency: every rule", test_rules},
        {"consistency: an empty tuple", test_empty},
        {0},
    });
}
