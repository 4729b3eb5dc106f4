#include "core/conform/draft.h"

#include "base/rng.h"
#include "core/conform/conform.h"
#include "model/manifest/manifest.h"
#include "tests/facts.h"
#include "tests/test.h"
#include "tests/tuples.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 4 << 20, TODAY = 20772 }; /* 2026-11-15 */

#define ONE_COPY "!copy.nccl\n"
#define GPU      "gpu 0000:5d:00.0"

/* A small node of the other vendor. */
static const char amd_node[] = "kernel=6.8.0-71-generic\n"
                               "driver~\n"
                               "amdgpu=6.4.2\n"
                               "amdgpu.loaded=6.4.2\n"
                               "amdgpu.package=6.4.2\n"
                               "amdgpu.modules=dkms\n"
                               "rocm=6.4.2\n"
                               "rccl=2.22.3\n"
                               "devices.gpus=2\n"
                               "devices.nics=0\n"
                               "devices.nvmes=1\n"
                               "devices.memory_gib=503\t/sys/devices/system/memory: blocks\n"
                               "gpu.pci_id@gpu 0000:06:00.0=1002:74a1\n"
                               "gpu.pci_id@gpu 0000:07:00.0=1002:74a1\n"
                               "gpu.product@gpu 0000:06:00.0=AMD Instinct MI300X OAM\n"
                               "gpu.product@gpu 0000:07:00.0=AMD Instinct MI300X OAM\n"
                               "firmware/ifwi@gpu 0000:06:00.0#102-G30211=022.040.003.043\n"
                               "firmware/ifwi@gpu 0000:07:00.0#102-G30211=022.040.003.043\n"
                               "settings.partition.compute@gpu 0000:06:00.0=SPX\n"
                               "settings.partition.compute@gpu 0000:07:00.0=SPX\n"
                               "settings.kernel_cmdline=root=UUID=1 ip=10.0.0.7\n"
                               "settings.bios.NPS=NPS4\n"
                               "settings.bios.AdminPassword=x\n"
                               "platform.os=Ubuntu 24.04\n";

/* Making one -------------------------------------------------------------------------------- */

struct made {
    struct lks_tuple tuple;
    struct lks_report report;
    struct lks_buf yaml;
    enum lks_code code;
};

static void make(struct made *m, const char *base, const char *changes)
{
    struct lks_err err = {0};
    lks_test_tuple_with(base, changes, &m->tuple);
    lks_report_init(&m->report);
    lks_buf_init(&m->yaml, TEXT_MAX);
    m->code = lks_draft_stack(lks_test_facts(), &m->tuple, LKS_STR("golden"), LKS_STR("1"), TODAY,
                              &m->yaml, &m->report, &err);
    if (!CHECK_CODE(m->code, LKS_OK))
        printf("    %s\n", err.msg);
}

static void made_fini(struct made *m)
{
    lks_tuple_fini(&m->tuple);
    lks_report_fini(&m->report);
    lks_buf_fini(&m->yaml);
}

/* Hold `tuple` against the drafted `yaml`; the rows that do not conform, a line each. */
static void hold(struct lks_str yaml, const struct lks_tuple *tuple, struct lks_buf *drift)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest manifest = {0};
    LKS_CLEANUP(lks_conform_fini) struct lks_conformance c = {0};
    struct lks_err err = {0};
    if (!CHECK_CODE(lks_manifest_parse("draft", yaml, lks_test_facts(), NULL, &manifest, &err),
                    LKS_OK) ||
        !CHECK_INT(manifest.stack_count, 1) ||
        !CHECK_CODE(lks_conform(lks_test_facts(), &manifest.stacks[0], tuple, &c, &err), LKS_OK)) {
        printf("    %s\n", err.msg);
        return;
    }
    for (size_t i = 0; i < c.count; i++) {
        if (c.rows[i].verdict == LKS_DRIFT || c.rows[i].verdict == LKS_NOT_MEASURED)
            lks_buf_addf(drift, "%.*s: %.*s\n", LKS_STR_ARG(c.rows[i].subject),
                         LKS_STR_ARG(c.rows[i].actual));
    }
}

static void check_conforms(const struct made *m)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf drift = LKS_BUF(TEXT_MAX);
    hold(lks_buf_view(&m->yaml), &m->tuple, &drift);
    CHECK_STR(lks_buf_view(&drift), "");
}

/* Whole manifests --------------------------------------------------------------------------- */

static const char golden[] =
    "# Drafted from n1 on 2026-11-15: everything that was measured of it.\n"
    "# Remove the pins that may differ between nodes.\n"
    "lockstep: 1\n"
    "kind: Stack\n"
    "name: \"golden\"\n"
    "version: \"1\"\n"
    "vendor: nvidia\n"
    "hardware: [\"hgx-h200-8\"]\n"
    "\n"
    "components:\n"
    "  container-toolkit: {version: \"1.19.1\"}\n"
    "  containerd: {version: \"1.7.28\"}\n"
    "  cuda: {absent: \"not found on this machine\"}\n"
    "  dcgm: {version: \"4.5.3\"}\n"
    "  driver: {version: \"580.126.20\", modules: open, build: {srcversion: "
    "\"0B9F2F4D6A0E1D3C5B7A998\", sha256: "
    "\"3f0c2d7a1b9e5f4438d6c7b8a9012233445566778899aabbccddeeff00112233\"}}\n"
    "  fabric-manager: {version: \"580.126.20\"}\n"
    "  kernel: {version: \"6.8.0-71-generic\"}\n"
    "  nccl: {version: \"2.28.3\"}\n"
    "\n"
    "firmware: # observed; what lockstep shall flash gets owner: bundle\n"
    "  - {class: \"bios\", version: \"2.4.1\", owner: external}\n"
    "  - {class: \"bmc\", version: \"25.02.11\", owner: external}\n"
    "  - {class: \"inforom\", part: \"692-2G520-0282-001\", version: \"G520.0282.02.02\", owner: "
    "external}\n"
    "  - {class: \"nic\", part: \"MT_0000000838\", version: \"28.46.1006\", owner: external}\n"
    "  - {class: \"nvme\", part: \"MZ-1\", version: \"GDC7302Q\", owner: external}\n"
    "  - {class: \"nvme\", part: \"MZ-2\", version: \"2.1.9\", owner: external}\n"
    "  - {class: \"vbios\", part: \"692-2G520-0282-001\", version: \"96.00.A5.00.1A\", owner: "
    "external}\n"
    "\n"
    "settings:\n"
    "  mig:\n"
    "    mode: \"disabled\"\n"
    "    profiles: []\n"
    "  ecc: true\n"
    "  power_limit_w: 700\n"
    "  clocks:\n"
    "    locked: false\n"
    "  persistence: true\n"
    "  compute_mode: \"default\"\n"
    "  gds: false\n"
    "  kernel_cmdline: [\"ro\", \"quiet\", \"iommu=pt\", \"numa_balancing=disable\"]\n"
    "  nic:\n"
    "    link_type: \"ethernet\"\n"
    "    congestion_control: \"dcqcn\"\n"
    "    pfc: [3]\n"
    "    ecn: [3]\n"
    "  unattended_upgrades: false\n"
    "  other: # all else that tells it from another build\n"
    "    \"cdi.driver\": \"580.126.20\"\n"
    "    \"container-toolkit.package\": \"1.19.1\"\n"
    "    \"containerd.package\": \"1.7.28\"\n"
    "    \"dcgm.package\": \"4.5.3\"\n"
    "    \"driver.disk\": \"580.126.20\"\n"
    "    \"driver.library\": \"580.126.20\"\n"
    "    \"driver.loaded\": \"580.126.20\"\n"
    "    \"driver.package\": \"580.126.20\"\n"
    "    \"fabric-manager.package\": \"580.126.20\"\n"
    "    \"gpu.board_part\": \"692-2G520-0282-001\"\n"
    "    \"gpu.pci_id\": \"10de:2335\"\n"
    "    \"gpu.product\": \"NVIDIA H200\"\n"
    "    \"nccl.package\": \"2.28.3\"\n"
    "    \"platform.os\": \"Ubuntu 24.04\"\n"
    "    \"platform.secure_boot\": \"enabled\"\n"
    "    \"/proc/sys/vm/swappiness\": \"10\"\n"
    "\n"
    "tuning:\n"
    "  env:\n"
    "    \"NCCL_IB_TC\": \"106\"\n"
    "\n"
    "evidence:\n"
    "  - what: \"taken from n1, whose tuple is DIGEST\"\n"
    "    date: \"2026-11-15\"\n"
    "\n"
    "# Left out, and why:\n"
    "# settings.kernel_cmdline: parameters of this host alone: BOOT_IMAGE\n";

static const char golden_amd[] =
    "# Drafted from n1 on 2026-11-15: everything that was measured of it.\n"
    "# Remove the pins that may differ between nodes.\n"
    "lockstep: 1\n"
    "kind: HardwareClass\n"
    "name: \"golden-class\"\n"
    "vendor: amd\n"
    "gpu: {product: \"Instinct MI300X\", count: 2}\n"
    "nvmes: 1\n"
    "memory_gib: 512\n"
    "---\n"
    "lockstep: 1\n"
    "kind: Stack\n"
    "name: \"golden\"\n"
    "version: \"1\"\n"
    "vendor: amd\n"
    "hardware: [\"golden-class\"]\n"
    "\n"
    "components:\n"
    "  amdgpu: {version: \"6.4.2\"}\n"
    "  kernel: {version: \"6.8.0-71-generic\"}\n"
    "  rccl: {version: \"2.22.3\"}\n"
    "  rocm: {version: \"6.4.2\"}\n"
    "\n"
    "firmware: # observed; what lockstep shall flash gets owner: bundle\n"
    "  - {class: \"ifwi\", part: \"102-G30211\", version: \"022.040.003.043\", owner: external}\n"
    "\n"
    "settings:\n"
    "  partition:\n"
    "    compute: \"SPX\"\n"
    "  bios:\n"
    "    \"NPS\": \"NPS4\"\n"
    "  other: # all else that tells it from another build\n"
    "    \"amdgpu.loaded\": \"6.4.2\"\n"
    "    \"amdgpu.modules\": \"dkms\"\n"
    "    \"amdgpu.package\": \"6.4.2\"\n"
    "    \"devices.nics\": \"0\"\n"
    "    \"gpu.pci_id\": \"1002:74a1\"\n"
    "    \"gpu.product\": \"AMD Instinct MI300X OAM\"\n"
    "    \"platform.os\": \"Ubuntu 24.04\"\n"
    "\n"
    "evidence:\n"
    "  - what: \"taken from n1, whose tuple is DIGEST\"\n"
    "    date: \"2026-11-15\"\n"
    "\n"
    "# Left out, and why:\n"
    "# settings.kernel_cmdline: parameters of this host alone: root ip\n"
    "# settings.bios.AdminPassword: its name is that of a secret\n";

static void check_whole(const char *base, const char *changes, const char *wanted)
{
    LKS_CLEANUP(made_fini) struct made m = {0};
    make(&m, base, changes);
    const char *mark = strstr(wanted, "DIGEST");
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    lks_buf_addf(&text, "%.*s%s%s", (int)(mark - wanted), wanted, m.tuple.digest,
                 mark + strlen("DIGEST"));
    CHECK_INT(m.report.errors, 0);
    CHECK_STR(lks_buf_view(&m.yaml), text.ptr);
    check_conforms(&m);
}

static void test_whole(void)
{
    lks_test_case("NVIDIA");
    check_whole(lks_test_node, ONE_COPY, golden);
    lks_test_case("AMD");
    check_whole(amd_node, "", golden_amd);
}

/* Single changes ---------------------------------------------------------------------------- */

/* What a change of the node does to its draft: lines that are in it, and one that is not. */
static const struct {
    const char *name, *changes, *has, *lacks;
} rows[] = {
    {"a second NCCL in a Python environment", "", "  nccl: {version: \"2.28.3\"}\n", "image"},
    {"NCCL in images alone",
     "nccl~\nnccl.package~\n!copy.nccl\ncopy.nccl@/a/libnccl.so.2#python="
     "2.28.9\ncopy.nccl@/b/libnccl.so.2#container=2.28.9\n",
     "  nccl: {version: \"2.28.9\", owner: image}\n", "nccl: {absent"},
    {"cuDNN in an image", ONE_COPY "cudnn~\ncopy.cudnn@/a/libcudnn.so.9#python=9.13.0\n",
     "  cudnn: {version: \"9.13.0\", owner: image}\n", "cudnn: {absent"},
    {"cuDNN nowhere", ONE_COPY "cudnn~\n", "  cuda: {absent: \"not found on this machine\"}\n",
     "cudnn"},
    {"a version by its package alone", ONE_COPY "slurmd.package=25.05.4\n",
     "  slurmd: {version: \"25.05.4\"}\n", "slurmd: {absent"},
    {"a package of another version than what runs", ONE_COPY "dcgm.package=4.6.0\n",
     "    \"dcgm.package\": \"4.6.0\"\n", "dcgm: {version: \"4.6.0"},
    {"boards with two part numbers", ONE_COPY "gpu.board_part@" GPU "=692-2G520-0200-000\n",
     "# gpu.board_part: there are several, and they differ\n", "\"gpu.board_part\""},
    {"a version nobody can order", ONE_COPY "ucx=master\n", "    \"ucx\": \"master\"\n",
     "  ucx: {"},
    {"a component of no table", ONE_COPY "burn-in-agent=2.1\n", "    \"burn-in-agent\": \"2.1\"\n",
     "  burn-in-agent: {"},
    {"the other vendor's software", ONE_COPY "rccl=2.22.3\n", "    \"rccl\": \"2.22.3\"\n",
     "  rccl: {"},
    {"a build id", ONE_COPY "nccl.build.build_id@/usr/lib/libnccl.so.2=00112233445566778899\n",
     "  nccl: {version: \"2.28.3\", build: {build_id: \"00112233445566778899\"}}\n",
     "\"nccl.build.build_id\""},
    {"a build id of another form", ONE_COPY "nccl.build.build_id=0x12\n",
     "    \"nccl.build.build_id\": \"0x12\"\n", "build_id: "},
    {"proprietary modules", ONE_COPY "driver.modules=proprietary\n", "modules: proprietary",
     "modules: open"},

    {"one adapter less", ONE_COPY "devices.nics=7\n",
     "name: \"golden-class\"\nvendor: nvidia\ngpu: {product: \"H200 SXM 141GB\", count: 8, "
     "nvlinks_up: 18}\nnvswitches: 4\nnics: {count: 7, gbps: 400}\nnvmes: 8\nmemory_gib: 2048\n",
     "hgx-h200-8"},
    {"a missing memory module", ONE_COPY "devices.memory_gib=1903\t/sys/devices/system/memory: x\n",
     "memory_gib: 1920\n", "hgx-h200-8"},
    {"memory in modules", ONE_COPY "devices.memory_gib=2000\n", "memory_gib: 2000\n", "hgx-h200-8"},
    {"adapters of two speeds", ONE_COPY "devices.nic_gbps@nic mlx5_3 port 1=200\n",
     "    \"devices.nics\": \"8\"\n", "nics: {"},
    {"drives that were not counted", ONE_COPY "devices.nvmes?no access\n",
     "# devices.nvmes: could not be read: no access\n", "\nnvmes: "},
    {"a board of no table", ONE_COPY "gpu.pci_id@gpu *=10de:ffff\ngpu.product@gpu *=NVIDIA X1\n",
     "gpu: {product: \"NVIDIA X1\", count: 8", "H200"},
    {"two boards of one id", ONE_COPY "gpu.pci_id@gpu *=10de:25b6\ngpu.product@gpu *=NVIDIA A16\n",
     "gpu: {product: \"A16\", count: 8", "\"A2\""},

    {"no MIG on this GPU", ONE_COPY "settings.mig.mode@gpu *~\nsettings.mig.profiles@gpu *~\n",
     "  ecc: true\n", "mig"},
    {"a GPU that does not tell its limit", ONE_COPY "!settings.power_limit_w@" GPU "\n",
     "# settings.power_limit_w: it was read of fewer GPUs than there are\n", "  power_limit_w"},
    {"a GPU that does not tell its firmware", ONE_COPY "!firmware/vbios@" GPU "\n",
     "# firmware/vbios: it was read of fewer GPUs than there are\n", "class: \"vbios\""},
    {"a mode of MIG that was not read", ONE_COPY "settings.mig.mode@" GPU "?timed out\n",
     "# settings.mig.mode: " GPU ": could not be read: timed out\n", "  mig:"},
    {"MIG instances",
     ONE_COPY "settings.mig.mode@gpu *=enabled\ngpu.mig_pending@gpu *=enabled\n"
              "settings.mig.profiles@gpu *=3g.71gb 3g.71gb\n",
     "    profiles: [\"3g.71gb\", \"3g.71gb\"]\n", "[]"},
    {"MIG without instances",
     ONE_COPY "settings.mig.mode@gpu *=enabled\ngpu.mig_pending@gpu *=enabled\n"
              "settings.mig.profiles@gpu *~\n",
     "    mode: \"enabled\"\n    profiles: []\n", "\"settings.mig"},
    {"modules of DKMS",
     ONE_COPY "platform.dkms@dkms nvidia=nvidia/580.126.20 built\n"
              "platform.dkms@dkms gdrdrv=gdrdrv/2.5 built\n",
     "# platform.dkms: there are several, and they differ\n", "\"platform.dkms\""},
    {"a power limit that is no whole number", ONE_COPY "settings.power_limit_w@gpu *=699.5\n",
     "    \"settings.power_limit_w\": \"699.5\"\n", "  power_limit_w"},
    {"a link type of no table", ONE_COPY "settings.nic.link_type@nic *=omnipath\n",
     "    \"settings.nic.link_type\": \"omnipath\"\n", "    link_type:"},
    {"priorities in two words", ONE_COPY "settings.nic.pfc@nic *=3 4\n", "    pfc: [3, 4]\n",
     "[3]\n    ecn: [4]"},
    {"a priority beyond the last", ONE_COPY "settings.nic.pfc@nic *=3 8\n",
     "    \"settings.nic.pfc\": \"3 8\"\n", "    pfc:"},
    {"adapters that are set differently",
     ONE_COPY "settings.nic.congestion_control@nic mlx5_3 port 1=none\n",
     "# settings.nic.congestion_control: there are several, and they differ\n", "dcqcn"},
    {"options of an adapter", ONE_COPY "settings.nic.options.ROCE_CC_PRIO_MASK_P1@nic *=255\n",
     "    options:\n      \"ROCE_CC_PRIO_MASK_P1\": \"255\"\n", "options.ROCE"},
    {"upgrades are armed", ONE_COPY "settings.unattended_upgrades=true\n",
     "  unattended_upgrades: true # as it is here; a pinned node wants false\n", "upgrades: false"},
    {"a command line of one host alone",
     ONE_COPY "settings.kernel_cmdline=BOOT_IMAGE=/x root=/dev/sda1 luks_password=geheim\n",
     "# settings.kernel_cmdline: parameters of this host alone: BOOT_IMAGE root luks_password\n",
     "geheim"},
    {"a command line of one slot alone", ONE_COPY "settings.kernel_cmdline=iommu=pt rauc.slot=A\n",
     "# settings.kernel_cmdline: parameters of this host alone: rauc.slot\n", "rauc.slot=A"},
    {"a module that DKMS built here",
     ONE_COPY "driver.build.sha256="
              "3f0c2d7a1b9e5f4438d6c7b8a9012233445566778899aabbccddeeff00112233\t"
              "/lib/modules/6.8.0-71-generic/updates/dkms/nvidia.ko\n",
     "# driver.build.sha256: DKMS built it on this machine: no other has these bytes\n",
     "sha256: \"3f0c2d7a"},
    {"firmware with a blank in its version", ONE_COPY "firmware/bios=2.4 (beta)\n",
     "    \"firmware/bios\": \"2.4 (beta)\"\n", "class: \"bios\""},
    {"firmware of a drive that was not read", ONE_COPY "firmware/nvme@nvme nvme7?no access\n",
     "# firmware/nvme: nvme nvme7: could not be read: no access\n", "class: \"nvme\""},
    {"firmware of an unknown kind", ONE_COPY "firmware/microcode@cpu=0x2b000603\n",
     "  - {class: \"microcode\", version: \"0x2b000603\", owner: external}\n",
     "\"firmware/microcode\""},
    {"an empty value", ONE_COPY "platform.tpm=\n", "# platform.tpm: its value is empty\n",
     "\"platform.tpm\""},
    {"quotes, backslashes and signs", ONE_COPY "platform.os=We\"ird \\ OS: #1 'x' \xc3\xa9\n",
     "    \"platform.os\": \"We\\\"ird \\\\ OS: #1 'x' \xc3\xa9\"\n", "We\"ird"},
};

static void test_rows(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        LKS_CLEANUP(made_fini) struct made m = {0};
        make(&m, lks_test_node, rows[i].changes);
        if (!CHECK_INT(m.report.errors, 0))
            continue;
        CHECK_HAS(lks_buf_view(&m.yaml), rows[i].has);
        CHECK(strstr(m.yaml.ptr, rows[i].lacks) == NULL);
        check_conforms(&m);
    }
}

/* Refusals ---------------------------------------------------------------------------------- */

static const struct {
    const char *name, *changes, *errors; /* a line each */
} refusals[] = {
    {"a node that does not agree with itself", ONE_COPY "driver.library=580.95.05\n",
     "four-numbers driver: the loaded module is 580.126.20 (proof of driver.loaded) and the "
     "library "
     "580.95.05 (proof of driver.library): programs that use a GPU fail, since driver and library "
     "do not match\n"},
    {"no GPU", ONE_COPY "devices.gpus=0\n!gpu.pci_id\n!gpu.product\n",
     "no-gpu devices.gpus: no GPU was found: a golden stack is for a GPU node\n"},
    {"GPUs of nobody", ONE_COPY "!gpu.pci_id\n!gpu.product\n",
     "no-gpu gpu.pci_id: 8 GPUs were counted (proof of devices.gpus) and whose they are was not "
     "read\ngpus-missing devices.gpus: a golden node has all its GPUs: 8 GPUs are on the bus "
     "(proof of devices.gpus) and 0 answer the driver\n"},
    {"a GPU that does not answer", ONE_COPY "gpu.product@" GPU "?lost\n",
     "gpus-missing devices.gpus: a golden node has all its GPUs: 8 GPUs are on the bus (proof of "
     "devices.gpus) and 7 answer the driver\n"},
    {"NCCL nobody could look for", ONE_COPY "nccl?no access\nnccl.package?no access\n",
     "not-measured nccl: nccl must be pinned, and could not be read: no access\n"},
    {"NCCL that is not where its package says", ONE_COPY "nccl~\n!copy.nccl\n",
     "not-measured nccl: nccl must be pinned, and is not there, though its package is: "
     "2.28.3\n"},
    {"NCCL that cannot be read, whatever its package says", ONE_COPY "nccl?no version in it\n",
     "not-measured nccl: nccl must be pinned, and could not be read: no version in it\n"},
    {"packages of which none is what runs",
     ONE_COPY "dcgm.package=4.6.0\ndcgm.package@package old=4.4.0\n",
     "package-differs dcgm: dcgm is 4.5.3, and none of its packages is: one is 4.6.0 (proof of "
     "dcgm.package)\n"},
    {"a package of the driver nobody could read",
     ONE_COPY "driver.package=580.126.20\ndriver.package@package x?half-installed\n",
     "not-measured driver.package: driver.package could not be read: half-installed (proof of "
     "driver.package)\n"},
    {"nobody looked for the container toolkit",
     ONE_COPY "!container-toolkit\n!container-toolkit.package\n",
     "not-measured container-toolkit: container-toolkit must be pinned, and no probe searched "
     "for it\n"},
    {"no fabric manager was looked for where there are switches",
     ONE_COPY "!fabric-manager\n!fabric-manager.package\n",
     "not-measured fabric-manager: fabric-manager must be pinned, and no probe searched for it\n"},
    {"two NCCLs in images and none of the system's",
     "nccl~\nnccl.package~\n!copy.nccl\ncopy.nccl@/a/libnccl.so.2#python=2.28.9\n"
     "copy.nccl@/b/libnccl.so.2#container=2.27.0\n",
     "which-copy nccl: nccl is 2.28.9 in /a/libnccl.so.2 and 2.27.0 in /b/libnccl.so.2, and the "
     "system has none: which is golden?\n"},
    {"a module on disk nobody could read", ONE_COPY "driver.disk?no access\n",
     "not-measured driver.disk: driver.disk could not be read: no access (proof of driver.disk)\n"},
    {"a kernel that cannot be ordered", ONE_COPY "kernel=custom\n",
     "no-version kernel: 'custom' is no whole version of kernel (firmware numbering), so it cannot "
     "be pinned\n"},
    {"a PCI id that no table has for a board it knows", ONE_COPY "gpu.pci_id@gpu *=10de:ffff\n",
     "not-known gpu.pci_id: no row of gpus.csv has H200 SXM 141GB with the PCI id 10de:ffff\n"},
    {"a PCI id that was not read on one GPU", ONE_COPY "gpu.pci_id@" GPU "?timed out\n",
     "not-measured gpu.pci_id: gpu.pci_id of " GPU " could not be read: timed out (proof of "
     "gpu.pci_id)\n"},
    {"more GPUs than a class has", ONE_COPY "devices.gpus=65\n",
     "gpus-missing devices.gpus: a golden node has all its GPUs: 65 GPUs are on the bus (proof of "
     "devices.gpus) and 8 answer the driver\n"},
};

static void test_refusals(void)
{
    for (size_t i = 0; i < LKS_COUNT(refusals); i++) {
        lks_test_case("%s", refusals[i].name);
        LKS_CLEANUP(made_fini) struct made m = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf errors = LKS_BUF(TEXT_MAX);
        make(&m, lks_test_node, refusals[i].changes);
        for (size_t j = 0; j < m.report.count; j++) {
            const struct lks_finding *f = &m.report.findings[j];
            if (f->severity == LKS_ERROR)
                lks_buf_addf(&errors, "%s %.*s: %.*s\n", f->rule, LKS_STR_ARG(f->subject),
                             LKS_STR_ARG(f->text));
        }
        CHECK_STR(lks_buf_view(&errors), refusals[i].errors);
        CHECK_INT(m.yaml.len, 0);
    }
}

/* Whatever changes -------------------------------------------------------------------------- */

/* The sides of a driver and the packages of all components are judged with them. */
static struct lks_str judged_as(struct lks_str name)
{
    static const struct lks_str sides[] = {LKS_STR_C(".loaded"), LKS_STR_C(".disk"),
                                           LKS_STR_C(".library"), LKS_STR_C(".package")};
    for (size_t i = 0; i < LKS_COUNT(sides); i++) {
        ptrdiff_t at = lks_str_find(name, sides[i]);
        if (at > 0)
            name.len = (size_t)at;
    }
    return name;
}

/* A tuple like `from` in which the reading `at` says something else. */
static void change(const struct lks_tuple *from, size_t at, struct lks_tuple *out)
{
    struct lks_err err = {0};
    char value[LKS_READING_VALUE_MAX];
    lks_tuple_init(out);
    for (size_t i = 0; i < from->count; i++) {
        struct lks_reading r = from->readings[i];
        if (i == at) {
            snprintf(value, sizeof(value), "%.*s9", LKS_STR_ARG(r.value));
            r.value = lks_str_from(value);
        }
        lks_tuple_add(out, &r);
    }
    CHECK_CODE(lks_tuple_finish(out, &err), LKS_OK);
}

/* Every single value that tells one build from another is held on to, and named when it changes. */
static void check_all_changes(const char *base, const char *changes)
{
    LKS_CLEANUP(made_fini) struct made m = {0};
    make(&m, base, changes);
    for (size_t i = 0; i < m.tuple.count; i++) {
        const struct lks_reading *r = &m.tuple.readings[i];
        if (r->state != LKS_MEASURED || lks_str_is(r->name, "settings.kernel_cmdline") ||
            lks_str_is(r->name, "settings.bios.AdminPassword") ||
            lks_reading_kind(r->name)->class != LKS_READING_IDENTITY)
            continue;
        LKS_CLEANUP(lks_tuple_fini) struct lks_tuple other = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf drift = LKS_BUF(TEXT_MAX);
        struct lks_str named = judged_as(r->name);
        change(&m.tuple, i, &other);
        lks_test_case("%.*s of '%.*s'", LKS_STR_ARG(r->name), LKS_STR_ARG(r->of));
        hold(lks_buf_view(&m.yaml), &other, &drift);
        CHECK(lks_str_find(lks_buf_view(&drift), named) >= 0);
    }
}

static void test_changes(void)
{
    check_all_changes(lks_test_node, ONE_COPY);
    check_all_changes(amd_node, "");
}

/* A parameter that is taken away shows; one of the host alone does not. */
static void test_command_line(void)
{
    static const struct {
        const char *changes, *drift;
    } lines[] = {
        {"settings.kernel_cmdline=BOOT_IMAGE=/other ro quiet iommu=pt numa_balancing=disable\n",
         ""},
        {"settings.kernel_cmdline=BOOT_IMAGE=/x ro quiet iommu=pt\n",
         "settings.kernel_cmdline: without numa_balancing=disable\n"},
    };
    LKS_CLEANUP(made_fini) struct made m = {0};
    make(&m, lks_test_node, ONE_COPY);
    for (size_t i = 0; i < LKS_COUNT(lines); i++) {
        LKS_CLEANUP(lks_tuple_fini) struct lks_tuple other = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf drift = LKS_BUF(TEXT_MAX);
        lks_test_case("%s", lines[i].changes);
        lks_test_tuple_with(lks_test_node, lines[i].changes, &other);
        hold(lks_buf_view(&m.yaml), &other, &drift);
        CHECK_STR(lks_buf_view(&drift), lines[i].drift);
    }
}

/* Names that a manifest does not take are refused before anything is drafted. */
static void test_names(void)
{
    static const char long_name[] =
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    static const struct {
        const char *name, *version, *message;
    } names[] = {
        {"Golden Stack", "1",
         "'Golden Stack' is not a name for a stack: lower-case letters, digits, '.', '-', '_', "
         "beginning with a letter or a digit"},
        {"", "1",
         "'' is not a name for a stack: lower-case letters, digits, '.', '-', '_', beginning with "
         "a "
         "letter or a digit"},
        {long_name, "1", NULL},
        {"golden", "<1", "'<1' is not a version for a stack"},
        {"true", "1", ""},
        {"123", "2026-11-15", ""},
    };
    for (size_t i = 0; i < LKS_COUNT(names); i++) {
        LKS_CLEANUP(made_fini) struct made m = {0};
        struct lks_err err = {0};
        const char *message = names[i].message;
        lks_test_case("%s", names[i].name);
        lks_test_tuple_with(lks_test_node, ONE_COPY, &m.tuple);
        lks_report_init(&m.report);
        lks_buf_init(&m.yaml, TEXT_MAX);
        m.code = lks_draft_stack(lks_test_facts(), &m.tuple, lks_str_from(names[i].name),
                                 lks_str_from(names[i].version), TODAY, &m.yaml, &m.report, &err);
        bool good = message != NULL && message[0] == '\0';
        CHECK_CODE(m.code, good ? LKS_OK : LKS_E_INVALID);
        if (good)
            check_conforms(&m);
        else
            CHECK_HAS(lks_str_from(err.msg), message != NULL ? message : "is too long a name");
    }
}

/* As many attributes as a BIOS may have, and one more; a name and a value that are too long. */
static void test_limits(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf changes = LKS_BUF(TEXT_MAX);
    char longest[LKS_READING_NAME_MAX] = {0};
    memset(longest, 'k', 130);
    lks_buf_addf(&changes, ONE_COPY "settings.bios.%s=1\n", longest);
    for (int i = 0; i <= LKS_STACK_ATTRIBUTES_MAX; i++)
        lks_buf_addf(&changes, "settings.bios.a%04d=%d\n", i, i);
    lks_buf_addf(&changes, "settings.kernel_cmdline=");
    for (int i = 0; i <= 256; i++)
        lks_buf_addf(&changes, "p%d ", i);
    lks_buf_addf(&changes, "\n");
    LKS_CLEANUP(made_fini) struct made m = {0};
    make(&m, lks_test_node, changes.ptr);
    CHECK_INT(m.report.errors, 0);
    CHECK_HAS(lks_buf_view(&m.yaml),
              "\n# settings.kernel_cmdline: there are more than a manifest takes\n");
    CHECK_HAS(lks_buf_view(&m.yaml), "    \"a4095\": \"4095\"\n");
    CHECK_HAS(lks_buf_view(&m.yaml),
              "\n# settings.bios.a4096: there are more than a manifest takes\n");
    CHECK_HAS(lks_buf_view(&m.yaml), "k: a manifest does not take a name of this length\n");
    check_conforms(&m);
}

/* Values that probes do not give, mostly, and names that they do not use. */
static const char *const odd_values[] = {"",
                                         " ",
                                         "0",
                                         "1",
                                         "-1",
                                         "true",
                                         "none",
                                         "null",
                                         "~",
                                         "latest",
                                         "<1",
                                         "1.0",
                                         "580.95.05",
                                         "a b",
                                         "99999999999999999999",
                                         "*",
                                         "\"",
                                         "\\",
                                         "'",
                                         "#",
                                         ": ",
                                         "- x",
                                         "{",
                                         "[]",
                                         "%",
                                         "@",
                                         "\xc3\xa9",
                                         "\xff",
                                         "1:2.3-4",
                                         "enabled",
                                         "NVIDIA H200",
                                         "10de:2335",
                                         "1002:74a1"};
static const char *const odd_names[] = {"nccl",
                                        "nccl.build.sha256",
                                        "copy.nccl",
                                        "firmware/odd name",
                                        "firmware/nvme",
                                        "firmware/",
                                        "firmware/uefi",
                                        "settings.mig.mode",
                                        "settings.clocks.locked",
                                        "settings.other.x",
                                        "settings.other./proc/x",
                                        "settings.bios.",
                                        "settings.bios.token",
                                        "settings.unheard.of",
                                        "tuning.env.HF_TOKEN",
                                        "tuning.env.X",
                                        "platform.dkms",
                                        "Odd Name",
                                        "a.b.package",
                                        "rocm",
                                        "devices.nics",
                                        "devices.nic_gbps",
                                        "container-toolkit",
                                        "kernel.package"};

#define PICK(rng, list) ((list)[lks_rng_below((rng), LKS_COUNT(list))])

/* A node that is not quite well: some readings gone, some strange, some more. */
static void disturb(const struct lks_tuple *from, struct lks_rng *rng, struct lks_tuple *out)
{
    struct lks_err err = {0};
    uint64_t calm = 20 + lks_rng_below(rng, 400), more = lks_rng_below(rng, 4);
    lks_tuple_init(out);
    for (size_t i = 0; i < from->count; i++) {
        struct lks_reading r = from->readings[i];
        if (lks_rng_below(rng, calm) == 0)
            continue;
        if (lks_rng_below(rng, calm) == 0)
            r.value = lks_str_from(PICK(rng, odd_values));
        if (lks_rng_below(rng, calm) == 0)
            r.part = lks_str_from(PICK(rng, odd_values));
        if (lks_rng_below(rng, calm) == 0)
            r.state = (enum lks_reading_state)lks_rng_below(rng, 3);
        lks_tuple_add(out, &r);
    }
    for (; more > 0; more--) {
        struct lks_reading r = {.name = lks_str_from(PICK(rng, odd_names)),
                                .of = lks_str_from(PICK(rng, odd_values)),
                                .part = LKS_STR("python"),
                                .state = (enum lks_reading_state)lks_rng_below(rng, 3),
                                .value = lks_str_from(PICK(rng, odd_values)),
                                .evidence = LKS_STR("chance")};
        lks_tuple_add(out, &r);
    }
    CHECK_CODE(lks_tuple_finish(out, &err), LKS_OK);
}

/* Whatever a machine says, it is refused or conforms to its own draft. */
static void test_disturbed(void)
{
    enum { RUNS = 4000, LEAST = 200 };
    size_t drafted = 0;
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple well = {0};
    lks_test_tuple_with(lks_test_node, ONE_COPY, &well);
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        LKS_CLEANUP(made_fini) struct made m = {0};
        struct lks_rng rng = {seed};
        struct lks_err err = {0};
        lks_test_case("seed %llu", (unsigned long long)seed);
        disturb(&well, &rng, &m.tuple);
        lks_report_init(&m.report);
        lks_buf_init(&m.yaml, TEXT_MAX);
        CHECK_CODE(lks_draft_stack(lks_test_facts(), &m.tuple, LKS_STR("golden"), LKS_STR("1"),
                                   TODAY, &m.yaml, &m.report, &err),
                   LKS_OK);
        CHECK((m.report.errors == 0) == (m.yaml.len > 0));
        if (m.yaml.len > 0)
            check_conforms(&m);
        drafted += m.yaml.len > 0;
    }
    CHECK(drafted >= LEAST && drafted < RUNS);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"draft: whole manifests", test_whole},
        {"draft: single changes", test_rows},
        {"draft: refusals", test_refusals},
        {"draft: whatever changes is drift", test_changes},
        {"draft: the kernel's command line", test_command_line},
        {"draft: names", test_names},
        {"draft: limits", test_limits},
        {"draft: a disturbed node", test_disturbed},
        {0},
    });
}
