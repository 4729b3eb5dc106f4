#include "core/conform/conform.h"

#include "base/rng.h"
#include "model/manifest/manifest.h"
#include "tests/facts.h"
#include "tests/manifests.h"
#include "tests/stacks.h"
#include "tests/test.h"
#include "tests/tuples.h"

#include <stdio.h>

enum { TEXT_MAX = 1024 * 1024, STACKS = 200 };

/* Asking ------------------------------------------------------------------------------------ */

/* One line a row: "subject: pinned > actual [of] verdict, cause". */
static void show_row(const struct lks_judgement *row, struct lks_buf *out)
{
    const char *cause = lks_conform_cause_name(row->cause);
    lks_buf_addf(out, "%" LKS_STR_FMT ": %" LKS_STR_FMT " > %" LKS_STR_FMT,
                 LKS_STR_ARG(row->subject), LKS_STR_ARG(row->pinned), LKS_STR_ARG(row->actual));
    if (row->of.len > 0)
        lks_buf_addf(out, " [%" LKS_STR_FMT "]", LKS_STR_ARG(row->of));
    lks_buf_addf(out, " %s%s%s\n", lks_conform_verdict_name(row->verdict),
                 cause[0] != '\0' ? ", " : "", cause);
}

/* Every row is sound in itself, and they add up. */
static void check_rows(const struct lks_conformance *c)
{
    size_t drifted = 0, unmeasured = 0;
    for (size_t i = 0; i < c->count; i++) {
        const struct lks_judgement *row = &c->rows[i];
        bool yes = row->verdict == LKS_CONFORMS || row->verdict == LKS_WITH_IMAGE;
        drifted += row->verdict == LKS_DRIFT;
        unmeasured += row->verdict == LKS_NOT_MEASURED;
        CHECK(row->subject.len > 0 && row->pinned.len > 0 && row->actual.len > 0);
        CHECK(yes == (row->cause == LKS_CAUSE_NONE));
        CHECK((row->verdict == LKS_NOT_MEASURED) == (row->cause == LKS_CAUSE_UNMEASURED));
        CHECK(row->evidence.len > 0 || row->verdict == LKS_WITH_IMAGE ||
              lks_str_is(row->actual, "no probe reads this") ||
              lks_str_is(row->actual, "was not hashed"));
    }
    CHECK_INT(c->drifted, drifted);
    CHECK_INT(c->unmeasured, unmeasured);
    CHECK(lks_conformance_yes(c) == (drifted == 0 && unmeasured == 0));
}

/* Judge `tuple` and show the rows that begin with `subject`; where it is empty, those that say no.
 */
static void judge(const char *manifest, const struct lks_tuple *tuple, const char *subject,
                  struct lks_buf *out)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
    LKS_CLEANUP(lks_conform_fini) struct lks_conformance c = {0};
    struct lks_err err = {0};
    if (!CHECK_CODE(
            lks_manifest_parse("stack", lks_str_from(manifest), lks_test_facts(), NULL, &m, &err),
            LKS_OK)) {
        lks_buf_add(out, lks_str_from(err.msg));
        return;
    }
    if (!CHECK_CODE(lks_conform(lks_test_facts(), &m.stacks[0], tuple, &c, &err), LKS_OK))
        return;
    check_rows(&c);
    for (size_t i = 0; i < c.count; i++) {
        const struct lks_judgement *row = &c.rows[i];
        bool no = row->verdict == LKS_DRIFT || row->verdict == LKS_NOT_MEASURED;
        if (subject[0] != '\0' ? lks_str_starts(row->subject, subject) : no)
            show_row(row, out);
    }
    if (subject[0] == '\0' && c.class != NULL && m.stacks[0].class_count > 1)
        lks_buf_addf(out, "class %" LKS_STR_FMT "\n", LKS_STR_ARG(c.class->name));
}

/* A whole node ------------------------------------------------------------------------------ */

#define G0 "gpu 0000:18:00.0"
#define G1 "gpu 0000:2a:00.0"

/* What a change of a node that conforms makes of it. */
static const struct {
    const char *name;
    const char *changes;
    const char *rows;
} nodes[] = {
    {"nothing", "", ""},
    {"a driver upgraded and not rebooted",
     "driver.disk=580.178.04\ndriver.library=580.178.04\ndriver.package=580.178.04\n",
     "driver: 580.126.20 > loaded 580.126.20, disk 580.178.04, library 580.178.04, package "
     "580.178.04 drift, half upgraded\n"},
    {"another driver altogether",
     "driver=580.178.04\ndriver.loaded=580.178.04\ndriver.disk=580.178.04\n"
     "driver.library=580.178.04\ndriver.package=580.178.04\n",
     "driver: 580.126.20 > 580.178.04 drift, other version\n"},
    {"the driver is not loaded", "driver~\ndriver.loaded~\n",
     "driver: 580.126.20 > not loaded; disk 580.126.20, library 580.126.20, package "
     "580.126.20 drift, not there\n"},
    {"no package of the driver", "driver.package~\n", ""},
    {"packages of the driver that are of two versions",
     "driver.package@package nvidia-utils=580.95.05\n!driver.package\n"
     "driver.package=580.126.20\n",
     "driver: 580.126.20 > loaded 580.126.20, disk 580.126.20, library 580.126.20, package "
     "580.126.20, package 580.95.05 (package nvidia-utils) drift, half upgraded\n"},
    {"a package of the driver that cannot be read",
     "driver.package@package nvidia-utils?half-installed\ndriver.package=580.126.20\n",
     "driver: 580.126.20 > 580.126.20; driver.package: half-installed not measured, unmeasured\n"},
    {"a side of the driver that cannot be read", "driver.disk?no access\n",
     "driver: 580.126.20 > 580.126.20; driver.disk: no access not measured, unmeasured\n"},
    {"the other modules", "driver.modules=proprietary\n",
     "driver.modules: open > proprietary drift, different build\n"},
    {"another build of the driver", "driver.build.srcversion=AAAA\n",
     "driver.build.srcversion: 0B9F2F4D6A0E1D3C5B7A998 > AAAA drift, different build\n"},
    {"the same build in other letters", "driver.build.srcversion=0b9f2f4d6a0e1d3c5b7a998\n", ""},
    {"a kernel with more noughts", "kernel=6.8.0-071-generic\n",
     "kernel: 6.8.0-71-generic > 6.8.0-071-generic drift, other version\n"},
    {"GPUs of a scheduler", "scheduler.gres=gpu:h200:8\n", ""},
    {"other GPUs of a scheduler", "scheduler.gres=gpu:h200:7\n",
     "scheduler.gres: gpu:8 (H200 SXM 141GB) > gpu:h200:7 drift, scheduler differs\n"},
    {"a node that registered with less", "scheduler.state=the node registered with less\n",
     "scheduler.state: as configured > the node registered with less drift, scheduler differs\n"},
    {"bands", "kernel?in-band and out-of-band disagree: 1\n",
     "kernel: 6.8.0-71-generic > in-band and out-of-band disagree: 1 drift, bands disagree\n"},
    {"a kernel of another revision", "kernel=6.8.0-72-generic\n",
     "kernel: 6.8.0-71-generic > 6.8.0-72-generic drift, other version\n"},
    {"what was not measured", "kernel?no access\n",
     "kernel: 6.8.0-71-generic > no access not measured, unmeasured\n"},
    {"what nobody tried", "!kernel\n",
     "kernel: 6.8.0-71-generic > no probe reads this not measured, unmeasured\n"},
    {"what is gone", "container-toolkit~\ncontainer-toolkit.package~\n",
     "container-toolkit: 1.19.1 > absent drift, not there\n"},
    {"what is gone, though its package is there", "container-toolkit~\n",
     "container-toolkit: 1.19.1 > absent; package 1.19.1 drift, not there\n"},
    {"what could not be asked, though its package is there", "container-toolkit?timed out\n",
     "container-toolkit: 1.19.1 > timed out not measured, unmeasured\n"},
    {"a reading that contradicts", "containerd@x=2\n",
     "containerd: 1.7.28 > 2 drift, other version\n"},
    {"a candidate of what is pinned", "container-toolkit=1.19.1-rc.2\ncontainer-toolkit.package~\n",
     "container-toolkit: 1.19.1 > 1.19.1-rc.2 drift, other version\n"},
    {"a package that was upgraded under what runs", "container-toolkit.package=1.20.0\n",
     "container-toolkit: 1.19.1 > 1.19.1; container-toolkit.package 1.20.0 drift, half "
     "upgraded\n"},
    {"a package of another version beside the one that runs",
     "container-toolkit.package=1.19.1\ncontainer-toolkit.package@package old=1.18.0\n", ""},
    {"what should not be there", "doca-ofed=25.04-0.6.1\n",
     "doca-ofed: absent > 25.04-0.6.1 drift, should not be there\n"},
    {"a package of what should not be there", "doca-ofed.package=25.04-0.6.1.0-1\n",
     "doca-ofed: absent > 25.04-0.6.1.0-1 drift, should not be there\n"},
    {"what may be there for all we know", "doca-ofed?no access\ndoca-ofed.package?no access\n",
     "doca-ofed: absent > no access not measured, unmeasured\n"},
    {"what may be there as a package", "doca-ofed~\ndoca-ofed.package?no access\n",
     "doca-ofed: absent > no access not measured, unmeasured\n"},
    {"inside its window", "dcgm=4.6.0\ndcgm.package=4.6.0\n", ""},
    {"outside its window", "dcgm=4.7.0\ndcgm.package=4.7.0\n",
     "dcgm: 4.5.3, or >=4.5.3 <4.7 > 4.7.0 drift, other version\n"},
    {"a copy in a process", "copy.nccl@/proc/7/root/x#process=2.28.3\n",
     "nccl: 2.28.9 > 2.28.3 [/proc/7/root/x] drift, skew between copies\n"},
    {"firmware of all", "firmware/vbios@gpu *=96.00.A5.00.19\n",
     "firmware/vbios: 96.00.A5.00.1A > 96.00.A5.00.19 drift, other version\n"},
    {"firmware of one", "firmware/vbios@" G0 "=96.00.A5.00.19\n",
     "firmware/vbios: 96.00.A5.00.1A > 96.00.A5.00.19 on 1 of 8 GPUs [" G0
     "] drift, some devices\n"},
    {"firmware of two in two ways",
     "firmware/vbios@" G0 "=96.00.A5.00.19\nfirmware/vbios@" G1 "~\n",
     "firmware/vbios: 96.00.A5.00.1A > 96.00.A5.00.19 on 1, absent on 1 of 8 GPUs [" G0 ", " G1
     "] drift, some devices\n"},
    {"firmware of one nobody told of", "!firmware/vbios@" G0 "\n",
     "firmware/vbios: 96.00.A5.00.1A > 96.00.A5.00.1A, read of 7 of 8 GPUs not measured, "
     "unmeasured\n"},
    {"firmware of one not read", "firmware/vbios@" G0 "?timed out\n",
     "firmware/vbios: 96.00.A5.00.1A > timed out on 1 of 8 GPUs [" G0
     "] not measured, unmeasured\n"},
    {"firmware inside its window", "firmware/nic@nic mlx5_0 port 1=28.46.3048\n", ""},
    {"firmware of a part", "firmware/nvme@nvme nvme0#MZ-1=2.1.9\n",
     "firmware/nvme[MZ-1]: GDC7302Q > 2.1.9 [nvme nvme0] drift, other version\n"},
    {"firmware of the other parts", "firmware/nvme@nvme nvme1#MZ-2=GDC7302Q\n",
     "firmware/nvme: 2.1.9 > GDC7302Q [nvme nvme1] drift, other version\n"},
    {"a replaced drive of the part others have", "firmware/nvme@nvme nvme0#MZ-2=2.1.9\n", ""},
    {"firmware nobody reads", "!firmware/bmc\n",
     "firmware/bmc: 25.02.11 > no probe reads this not measured, unmeasured\n"},
    {"no BMC", "firmware/bmc~\n", "firmware/bmc: 25.02.11 > absent drift, not there\n"},
    {"a shelf that the node knows of", "firmware/power-shelf=1.1\n",
     "firmware/power-shelf: 1.0 > 1.1 drift, other version\n"},
    {"MIG on some",
     "settings.mig.mode@" G0 "=enabled\nsettings.mig.mode@" G1 "=enabled\ngpu.mig_pending@" G0
     "=enabled\n",
     "settings.mig.mode: disabled > enabled on 2 of 8 GPUs [" G0 ", " G1 "] drift, some devices\n"},
    {"MIG to be turned off", "settings.mig.mode@" G0 "=enabled\n",
     "settings.mig.mode: disabled > enabled on 1 of 8 GPUs [" G0 "] drift, pending\n"},
    {"GPUs without MIG", "settings.mig.mode@gpu *~\nsettings.mig.profiles@gpu *~\n", ""},
    {"instances", "settings.mig.profiles@gpu *=1g.18gb 1g.18gb\n",
     "settings.mig.profiles: none > 1g.18gb 1g.18gb drift, setting changed\n"},
    {"ECC of one that nobody told of", "!settings.ecc@" G1 "\n",
     "settings.ecc: true > true, read of 7 of 8 GPUs not measured, unmeasured\n"},
    {"ECC to be turned on", "settings.ecc@gpu *=false\n",
     "settings.ecc: true > false drift, pending\n"},
    {"ECC off after the reboot", "gpu.ecc_pending@gpu *=false\n",
     "settings.ecc: true > false after a reset [" G0 "] drift, pending\n"},
    {"ECC off for good", "settings.ecc@gpu *=false\ngpu.ecc_pending@gpu *=false\n",
     "settings.ecc: true > false drift, setting changed\n"},
    {"ECC to be turned on, in other words",
     "settings.ecc@gpu *=false\ngpu.ecc_pending@gpu *=enabled\n",
     "settings.ecc: true > false drift, pending\n"},
    {"no ECC", "settings.ecc@gpu *~\n", "settings.ecc: true > absent drift, not there\n"},
    {"another limit", "settings.power_limit_w@gpu *=650\n",
     "settings.power_limit_w: 700 > 650 drift, setting changed\n"},
    {"clocks that someone holds", "settings.clocks.locked@" G1 "=true\n",
     "settings.clocks.locked: false > true on 1 of 8 GPUs [" G1 "] drift, some devices\n"},
    {"a parameter is gone", "settings.kernel_cmdline=ro quiet numa_balancing=disable\n",
     "settings.kernel_cmdline: iommu=pt numa_balancing=disable > without iommu=pt drift, setting "
     "changed\n"},
    {"parameters in another order", "settings.kernel_cmdline=numa_balancing=disable iommu=pt\n",
     "settings.kernel_cmdline: iommu=pt numa_balancing=disable > in another order drift, setting "
     "changed\n"},
    {"a parameter twice, the right order among them",
     "settings.kernel_cmdline=numa_balancing=disable iommu=pt ro numa_balancing=disable\n", ""},
    {"a parameter that a later one takes back",
     "settings.kernel_cmdline=iommu=pt numa_balancing=disable numa-balancing=enable\n",
     "settings.kernel_cmdline: iommu=pt numa_balancing=disable > numa-balancing=enable reverts "
     "numa_balancing=disable drift, setting changed\n"},
    {"a parameter without a value that takes one back",
     "settings.kernel_cmdline=iommu=pt numa_balancing=disable iommu\n",
     "settings.kernel_cmdline: iommu=pt numa_balancing=disable > iommu reverts iommu=pt drift, "
     "setting changed\n"},
    {"a parameter that has its value at last",
     "settings.kernel_cmdline=iommu=off iommu=pt numa_balancing=disable\n", ""},
    {"another class of traffic", "settings.nic.pfc@nic mlx5_3 port 1=3 4\n",
     "settings.nic.pfc: 3 > 3 4 on 1 of 8 ports [nic mlx5_3 port 1] drift, some devices\n"},
    {"a file", "settings.other./proc/sys/vm/swappiness=60\n",
     "settings.other./proc/sys/vm/swappiness: 10 > 60 drift, setting changed\n"},
    {"a reading of the platform", "platform.secure_boot=disabled\n",
     "settings.other.platform.secure_boot: enabled > disabled drift, setting changed\n"},
    {"a reading of each device", "gpu.board_part@" G0 "=692-2G520-0200-000\n",
     "settings.other.gpu.board_part: 692-2G520-0282-001 > 692-2G520-0200-000 on 1 of 8 GPUs [" G0
     "] drift, some devices\n"},
    {"a variable of the node", "tuning.env.NCCL_IB_TC=0\n",
     "tuning.env.NCCL_IB_TC: 106 > 0 drift, setting changed\n"},
    {"variables the node does not set", "!tuning.env.NCCL_IB_TC\n", ""},
    {"a file of variables that cannot be read", "!tuning.env.NCCL_IB_TC\ntuning.env.*?no access\n",
     "tuning.env.NCCL_IB_TC: 106 > no access not measured, unmeasured\n"
     "tuning.env.NCCL_IB_GID_INDEX: 3 > no access not measured, unmeasured\n"},
    {"a GPU is missing", "devices.gpus=7\n", "devices.gpus: 8 > 7 drift, device missing\n"},
    {"a drive too many", "devices.nvmes=10\n",
     "devices.nvmes: 8 > 10 drift, should not be there\n"},
    {"a link is down", "devices.nvlinks_up@" G0 "=17\n",
     "devices.nvlinks_up: 18 > 17 on 1 of 8 GPUs [" G0 "] drift, device missing\n"},
    {"a slow port", "devices.nic_gbps@nic mlx5_0 port 1=200\n",
     "devices.nic_gbps: 400 > 200 on 1 of 8 ports [nic mlx5_0 port 1] drift, some devices\n"},
    {"a port for storage beside them", "devices.nics=9\ndevices.nic_gbps@nic mlx5_8 port 1=200\n",
     ""},
    {"a port that was not counted", "devices.nics=9\n",
     "devices.nics: 8 > 9 drift, should not be there\n"},
    {"slow ports", "devices.nic_gbps@nic *=200\n",
     "devices.nic_gbps: 400 > 200 drift, setting changed\n"},
    {"ports that are down", "devices.nic_gbps@nic *~\n",
     "devices.nic_gbps: 400 > absent drift, device missing\n"},
    {"all of the memory", "devices.memory_gib=2048\n", ""},
    {"memory that the firmware keeps, in modules", "devices.memory_gib=2015\n",
     "devices.memory_gib: 2048 > 2015 drift, device missing\n"},
    {"a module is missing", "devices.memory_gib=1984\t/sys/devices/system/memory: blocks\n",
     "devices.memory_gib: 2048 > 1984 drift, device missing\n"},
    {"memory too much", "devices.memory_gib=4096\n",
     "devices.memory_gib: 2048 > 4096 drift, should not be there\n"},
    {"not a number", "devices.gpus=eight\n", "devices.gpus: 8 > eight drift, device missing\n"},
    {"a count that was not read", "devices.nvswitches?no access\n",
     "devices.nvswitches: 4 > no access not measured, unmeasured\n"},
    {"another GPU among them", "gpu.pci_id@" G1 "=10de:2330\ngpu.product@" G1 "=NVIDIA H100\n",
     "devices.gpu: H200 SXM 141GB > NVIDIA H100 (10de:2330 on 1 of 8 GPUs) [" G1
     "] drift, some devices\n"},
    {"other GPUs", "gpu.pci_id@gpu *=10de:2330\ngpu.product@gpu *=NVIDIA H100 80GB HBM3\n",
     "devices.gpu: H200 SXM 141GB > NVIDIA H100 80GB HBM3 (10de:2330) drift, device missing\n"},
    {"the same number of another maker", "gpu.pci_id@gpu *=1002:2335\n",
     "devices.gpu: H200 SXM 141GB > NVIDIA H200 (1002:2335) drift, device missing\n"},
};

static void test_nodes(void)
{
    for (size_t i = 0; i < LKS_COUNT(nodes); i++) {
        LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
        lks_test_case("%s", nodes[i].name);
        lks_test_tuple_with(lks_test_node, nodes[i].changes, &t);
        judge(lks_test_node_stack, &t, "", &text);
        CHECK_STR(lks_buf_view(&text), nodes[i].rows);
    }
}

/* One pin ----------------------------------------------------------------------------------- */

#define SHA       "3f0c2d7a1b9e5f4438d6c7b8a9012233445566778899aabbccddeeff00112233"
#define PYTHON(v) "copy.nccl@/opt/a#python=" v "\n"

/* A stack of these pins, a tuple of these lines, and all rows about the subject. */
static const struct {
    const char *name;
    const char *components; /* lines; the required ones that are not among them are absent */
    const char *rest;
    const char *tuple;
    const char *subject;
    const char *rows;
} pins[] = {
    {"a package found", "  nccl: {version: '2.28.3'}\n", "", "nccl.package=2.28.3\n", "nccl",
     "nccl: 2.28.3 > 2.28.3 conforms\n"},
    {"another package found", "  nccl: {version: '2.28.3'}\n", "", "nccl.package=2.28.9\n", "nccl",
     "nccl: 2.28.3 > 2.28.9 drift, other version\n"},
    {"two numbers pinned, and a patch of them found", "  enroot: {version: '3.4'}\n", "",
     "enroot.package=3.4.1\n", "enroot", "enroot: 3.4 > 3.4.1 drift, other version\n"},
    {"a revision pinned and found", "  nccl: {version: '2.28.3-1'}\n", "",
     "nccl=2.28.3-1+cuda13.0\n", "nccl", "nccl: 2.28.3-1 > 2.28.3-1+cuda13.0 conforms\n"},
    {"a revision pinned, another found", "  nccl: {version: '2.28.3-2'}\n", "",
     "nccl=2.28.3-1+cuda13.0\n", "nccl",
     "nccl: 2.28.3-2 > 2.28.3-1+cuda13.0 drift, other version\n"},
    {"a version that states its revision", "  containerd: {version: '1.7.28'}\n", "",
     "containerd=1.7.28-0ubuntu1~24.04.1\n", "containerd",
     "containerd: 1.7.28 > 1.7.28-0ubuntu1~24.04.1 conforms\n"},
    {"a candidate", "  kubelet: {version: '1.33.0'}\n", "", "kubelet=v1.33.0-rc.1\n", "kubelet",
     "kubelet: 1.33.0 > v1.33.0-rc.1 drift, other version\n"},
    {"a candidate and a window", "  containerd: {version: '1.7.28'}\n",
     "windows: {containerd: '>=1.7 <3'}\n", "containerd=2.0.0-rc.3\n", "containerd",
     "containerd: 1.7.28, or >=1.7 <3 > 2.0.0-rc.3 drift, other version\n"},
    {"a revision and a window", "  containerd: {version: '1.7.28'}\n",
     "windows: {containerd: '>=1.7 <3'}\n", "containerd=2.0.0-1\n", "containerd",
     "containerd: 1.7.28, or >=1.7 <3 > 2.0.0-1 conforms\n"},
    {"a package that tells two numbers", "  cuda: {version: '13.0.2'}\n", "",
     "cuda=13.0.2\ncuda.package=13.0\n", "cuda", "cuda: 13.0.2 > 13.0.2 conforms\n"},
    {"a package that tells two other numbers", "  cuda: {version: '13.0.2'}\n", "",
     "cuda=13.0.2\ncuda.package=13.1\n", "cuda",
     "cuda: 13.0.2 > 13.0.2; cuda.package 13.1 drift, half upgraded\n"},
    {"a package that has a pin of its own", "  nccl: {version: '2.28.3'}\n",
     "settings: {other: {nccl.package: '2.27.0'}}\n", "nccl=2.28.3\nnccl.package=2.27.0\n", "nccl",
     "nccl: 2.28.3 > 2.28.3 conforms\n"},
    {"a window", "  dcgm: {version: '4.5.3'}\n", "windows: {dcgm: '>=4.5.3 !=4.6.0 <4.7'}\n",
     "dcgm.package=4.6.1\n", "dcgm", "dcgm: 4.5.3, or >=4.5.3 !=4.6.0 <4.7 > 4.6.1 conforms\n"},
    {"what a window leaves out", "  dcgm: {version: '4.5.3'}\n",
     "windows: {dcgm: '>=4.5.3 !=4.6.0 <4.7'}\n", "dcgm.package=4.6.0\n", "dcgm",
     "dcgm: 4.5.3, or >=4.5.3 !=4.6.0 <4.7 > 4.6.0 drift, other version\n"},
    {"a window with revisions", "  nccl: {version: '2.28.3-1'}\n",
     "windows: {nccl: '>=2.28.3-1 <2.28.3-3'}\n", "nccl=2.28.3-2+cuda13.0\n", "nccl",
     "nccl: 2.28.3-1, or >=2.28.3-1 <2.28.3-3 > 2.28.3-2+cuda13.0 conforms\n"},
    {"nonsense is in no window", "  nccl: {version: '2.28.3'}\n", "windows: {nccl: '>=2'}\n",
     "nccl=unknown\n", "nccl", "nccl: 2.28.3, or >=2 > unknown drift, other version\n"},
    {"spelled in another way", "  nccl: {version: '2.28.3'}\n", "", "nccl=v2.28.03\n", "nccl",
     "nccl: 2.28.3 > v2.28.03 conforms\n"},
    {"a driver inside its window", "  driver: {version: '580.95.05'}\n",
     "windows: {driver: '>=580.95 <581'}\n",
     "driver=580.126.20\ndriver.disk=580.126.20\ndriver.library=580.126.20\n", "driver",
     "driver: 580.95.05, or >=580.95 <581 > 580.126.20 conforms\n"},
    {"a driver whose sides are all inside its window", "  driver: {version: '580.95.05'}\n",
     "windows: {driver: '>=580.95 <581'}\n",
     "driver=580.126.20\ndriver.loaded=580.126.20\ndriver.disk=580.95.05\n", "driver",
     "driver: 580.95.05, or >=580.95 <581 > loaded 580.126.20, disk 580.95.05 drift, half "
     "upgraded\n"},
    {"the build of a version in the window is another",
     "  driver: {version: '580.95.05', build: {srcversion: A}}\n",
     "windows: {driver: '>=580.95 <581'}\n", "driver=580.126.20\ndriver.build.srcversion=B\n",
     "driver", "driver: 580.95.05, or >=580.95 <581 > 580.126.20 conforms\n"},
    {"a build that nobody reads", "  slurmd: {version: '25.05.4', build: {sha256: '" SHA "'}}\n",
     "", "slurmd=25.05.4\n", "slurmd",
     "slurmd: 25.05.4 > 25.05.4 conforms\n"
     "slurmd.build.sha256: " SHA " > was not hashed not measured, unmeasured\n"},
    {"a build", "  slurmd: {version: '25.05.4', build: {sha256: '" SHA "'}}\n", "",
     "slurmd=25.05.4\nslurmd.build.sha256=" SHA "\n", "slurmd.build",
     "slurmd.build.sha256: " SHA " > " SHA " conforms\n"},
    {"a flavour that was not read", "  driver: {version: '580.95.05', modules: open}\n", "",
     "driver=580.95.05\ndriver.modules?no access\n", "driver.modules",
     "driver.modules: open > no access not measured, unmeasured\n"},
    {"of the site, and not read here", "  gpu-operator: {version: '25.3.0'}\n", "", "kernel~\n",
     "gpu-operator", ""},
    {"of the site, and read here", "  gpu-operator: {version: '25.3.0'}\n", "",
     "gpu-operator=25.3.1\n", "gpu-operator",
     "gpu-operator: 25.3.0 > 25.3.1 drift, other version\n"},
    {"of the node by its entry", "  gpu-operator: {version: '25.3.0', scope: node}\n", "",
     "kernel~\n", "gpu-operator",
     "gpu-operator: 25.3.0 > no probe reads this not measured, unmeasured\n"},
    {"somebody else's is judged too", "  slurmd: {version: '25.05.4', owner: external}\n", "",
     "slurmd=25.05.5\n", "slurmd", "slurmd: 25.05.4 > 25.05.5 drift, other version\n"},
    {"a component nobody knows", "  my-agent: {version: '1.2'}\n", "", "my-agent=1.2\n", "my-agent",
     "my-agent: 1.2 > 1.2 conforms\n"},

    {"an image and none here", "  nccl: {version: '2.28.9', owner: image}\n", "", "nccl=2.28.3\n",
     "nccl", "nccl: 2.28.9 > no image on this node with image\n"},
    {"an image, and nobody was asked to look", "  nccl: {version: '2.28.9', owner: image}\n", "",
     "nccl=2.28.3\nsearch.skipped@all places=not asked for\n", "nccl",
     "nccl: 2.28.9 > copies were not searched for: not asked for not measured, unmeasured\n"},
    {"an image, and one place was left out", "  nccl: {version: '2.28.9', owner: image}\n", "",
     "search.skipped@/mnt/data=is on a network\n", "nccl",
     "nccl: 2.28.9 > no image on this node with image\n"},
    {"an image, and the search broke down", "  nccl: {version: '2.28.9', owner: image}\n", "",
     "nccl=2.28.3\nprobe.libraries?timed out\n", "nccl",
     "nccl: 2.28.9 > copies were not searched for: timed out not measured, unmeasured\n"},
    {"an image, and its probe failed", "  nccl: {version: '2.28.9', owner: image}\n", "",
     "nccl?its probe returned nothing\tprobe libraries\n", "nccl",
     "nccl: 2.28.9 > copies were not searched for: its probe returned nothing not measured, "
     "unmeasured\n"},
    {"an image, and the system's own cannot be read", "  nccl: {version: '2.28.9', owner: image}\n",
     "", "nccl?no version in it\n", "nccl", "nccl: 2.28.9 > no image on this node with image\n"},
    {"only the system's copy", "  nccl: {version: '2.28.9', owner: image}\n", "",
     "copy.nccl@/usr/lib/a#system=2.28.3\ncopy.nccl@/usr/local/cuda#cuda=2.28.3\n", "nccl",
     "nccl: 2.28.9 > no image on this node with image\n"},
    {"an image with the copy", "  nccl: {version: '2.28.9', owner: image}\n", "", PYTHON("2.28.9"),
     "nccl", "nccl: 2.28.9 > 2.28.9 conforms\n"},
    {"an image with another", "  nccl: {version: '2.28.9', owner: image}\n", "", PYTHON("2.28.3"),
     "nccl", "nccl: 2.28.9 > 2.28.3 [/opt/a] drift, skew between copies\n"},
    {"two images, one with the copy", "  nccl: {version: '2.28.9', owner: image}\n", "",
     PYTHON("2.28.3") "copy.nccl@/opt/b#container=2.28.9+cuda13.0\n", "nccl",
     "nccl: 2.28.9 > 2.28.9+cuda13.0; beside it 2.28.3 (/opt/a) conforms\n"},
    {"three images, one with the copy", "  nccl: {version: '2.28.9', owner: image}\n", "",
     PYTHON("2.28.3") "copy.nccl@/opt/b#container=2.28.9\ncopy.nccl@/opt/c#python=2.27\n", "nccl",
     "nccl: 2.28.9 > 2.28.9; beside it 2.28.3 (/opt/a and others) conforms\n"},
    {"the run time of a release", "  cuda: {version: '13.0.2', owner: image}\n", "",
     "copy.cuda@/opt/a#python=13.0.96\n", "cuda", "cuda: 13.0.2 > 13.0.96 conforms\n"},
    {"a run time known by its release alone", "  cuda: {version: '13.0.2', owner: image}\n", "",
     "copy.cuda@/opt/a#python=13.0\n", "cuda", "cuda: 13.0.2 > 13.0 conforms\n"},
    {"the run time of another release", "  cuda: {version: '13.0.2', owner: image}\n", "",
     "copy.cuda@/opt/a#python=12.8.90\n", "cuda",
     "cuda: 13.0.2 > 12.8.90 [/opt/a] drift, skew between copies\n"},
    {"a process runs another", "  nccl: {version: '2.28.9', owner: image}\n", "",
     PYTHON("2.28.9") "copy.nccl@pid 7#process=2.28.3\n", "nccl",
     "nccl: 2.28.9 > 2.28.3 [pid 7] drift, skew between copies\n"},
    {"a copy that cannot be read", "  nccl: {version: '2.28.9', owner: image}\n", "",
     "copy.nccl@/opt/a#python?no version in it\n", "nccl",
     "nccl: 2.28.9 > no version in it [/opt/a] not measured, unmeasured\n"},
    {"a copy that cannot be read beside one that is right",
     "  nccl: {version: '2.28.9', owner: image}\n", "",
     PYTHON("2.28.9") "copy.nccl@/opt/b#python?no version in it\n", "nccl",
     "nccl: 2.28.9 > 2.28.9 conforms\n"},
    {"what a process runs cannot be read", "  nccl: {version: '2.28.9', owner: image}\n", "",
     PYTHON("2.28.9") "copy.nccl@pid 7#process?no access\n", "nccl",
     "nccl: 2.28.9 > no access [pid 7] not measured, unmeasured\n"},
    {"an image inside the window", "  nccl: {version: '2.28.9', owner: image}\n",
     "windows: {nccl: '>=2.28.7 <2.29'}\n", PYTHON("2.28.7"), "nccl",
     "nccl: 2.28.9, or >=2.28.7 <2.29 > 2.28.7 conforms\n"},
    {"the build of a copy",
     "  nccl: {version: '2.28.9', owner: image, build: {build_id: '0123456789abcdef'}}\n", "",
     PYTHON("2.28.9") "copy.nccl.build_id@/opt/a#python=0123456789abcdef\n"
                      "copy.nccl@/usr/lib/a#system=2.28.9\n"
                      "copy.nccl.build_id@/usr/lib/a#system=aaaaaaaaaaaaaaaa\n"
                      "nccl.build.build_id=aaaaaaaaaaaaaaaa\n",
     "nccl.build", "nccl.build.build_id: 0123456789abcdef > 0123456789abcdef conforms\n"},
    {"another build in one of two images",
     "  nccl: {version: '2.28.9', owner: image, build: {build_id: '0123456789abcdef'}}\n", "",
     PYTHON("2.28.9") "copy.nccl.build_id@/opt/a#python=0123456789abcdef\n"
                      "copy.nccl@/opt/b#container=2.28.9\n"
                      "copy.nccl.build_id@/opt/b#container=aaaaaaaaaaaaaaaa\n",
     "nccl.build",
     "nccl.build.build_id: 0123456789abcdef > aaaaaaaaaaaaaaaa on 1 of 2 places [/opt/b] drift, "
     "some devices\n"},
    {"the hash of a copy",
     "  nccl: {version: '2.28.9', owner: image, build: {sha256: '" SHA "'}}\n", "",
     PYTHON("2.28.9"), "nccl.build",
     "nccl.build.sha256: " SHA " > was not hashed not measured, unmeasured\n"},

    {"firmware that must not be there", "", "firmware: [{class: dpu, absent: none is used}]\n",
     "firmware/dpu@nic mlx5_0#A=1\n", "firmware/dpu",
     "firmware/dpu: absent > 1 [nic mlx5_0] drift, should not be there\n"},
    {"firmware that must not be there and is not", "",
     "firmware: [{class: dpu, absent: none is used}]\n", "firmware/dpu~\n", "firmware/dpu",
     "firmware/dpu: absent > absent conforms\n"},
    {"a part that must not be there", "",
     "firmware: [{class: dpu, part: A, absent: faulty}, {class: dpu, version: '1'}]\n",
     "firmware/dpu@nic mlx5_0#B=1\nfirmware/dpu@nic mlx5_1#A=1\n", "firmware/dpu",
     "firmware/dpu: 1 > 1 conforms\n"
     "firmware/dpu[A]: absent > 1 [nic mlx5_1] drift, should not be there\n"},
    {"a class that says nothing of such devices", "",
     "firmware: [{class: nic, version: '28.46'}]\n", "firmware/nic~\n", "firmware/nic",
     "firmware/nic: 28.46 > absent drift, not there\n"},
    {"a class with such devices", "", "firmware: [{class: vbios, version: '90.04'}]\n",
     "firmware/vbios~\n", "firmware/vbios", "firmware/vbios: 90.04 > absent drift, not there\n"},
    {"a part nobody pinned", "", "firmware: [{class: nvme, part: A, version: '1'}]\n",
     "firmware/nvme@nvme nvme0#C=1\nfirmware/nvme@nvme nvme1#D=1\n", "firmware/nvme",
     "firmware/nvme[A]: 1 > no device of this part conforms\n"
     "firmware/nvme: no other part > C, D on 2 of the devices drift, should not be there\n"},
    {"a part nobody pinned beside one", "", "firmware: [{class: nvme, part: A, version: '1'}]\n",
     "firmware/nvme@nvme nvme0#A=1\nfirmware/nvme@nvme nvme1#B=7\nfirmware/nvme@nvme nvme2#B=8\n",
     "firmware/nvme",
     "firmware/nvme[A]: 1 > 1 conforms\n"
     "firmware/nvme: no other part > B on 2 of the devices drift, should not be there\n"},
    {"one part unwanted, and others as they come", "",
     "firmware: [{class: nvme, part: A, absent: faulty}]\n", "firmware/nvme@nvme nvme1#B=7\n",
     "firmware/nvme", "firmware/nvme[A]: absent > no device of this part conforms\n"},
    {"noughts in the version of firmware", "", "firmware: [{class: nvme, version: 'EDA53W0Q'}]\n",
     "firmware/nvme@nvme nvme0=EDA53W00Q\n", "firmware/nvme",
     "firmware/nvme: EDA53W0Q > EDA53W00Q [nvme nvme0] drift, other version\n"},
    {"firmware in other letters", "", "firmware: [{class: nvme, version: 'EDA53W0Q'}]\n",
     "firmware/nvme@nvme nvme0=eda53w0q\n", "firmware/nvme",
     "firmware/nvme: EDA53W0Q > eda53w0q conforms\n"},
    {"one supplier of two", "",
     "firmware: [{class: nvme, part: A, version: '1'}, {class: nvme, part: B, version: '2'}]\n",
     "firmware/nvme@nvme nvme0#B=2\n", "firmware/nvme",
     "firmware/nvme[A]: 1 > no device of this part conforms\n"
     "firmware/nvme[B]: 2 > 2 conforms\n"},
    {"what was not read may be of any part", "",
     "firmware: [{class: nvme, part: A, version: '1'}]\n",
     "firmware/nvme@nvme nvme0#A=1\nfirmware/nvme@nvme nvme1?no access\n", "firmware/nvme",
     "firmware/nvme[A]: 1 > no access on 1 of 2 drives [nvme nvme1] not measured, unmeasured\n"},
    {"sides", "", "firmware: [{class: psu, side: a, version: '1'}, {class: psu, version: '2'}]\n",
     "firmware/psu@psu 1 side a=1\nfirmware/psu@psu 2 side b=2\nfirmware/psu@psu 3=2\n",
     "firmware/psu", "firmware/psu: 2 > 2 conforms\nfirmware/psu[side a]: 1 > 1 conforms\n"},
    {"sides that nobody tells", "", "firmware: [{class: psu, side: a, version: '1'}]\n",
     "firmware/psu@psu 1=1\n", "firmware/psu",
     "firmware/psu[side a]: 1 > no probe reads this not measured, unmeasured\n"},
    {"of the rack, and not read here", "", "firmware: [{class: cdu, version: '1'}]\n", "kernel~\n",
     "firmware/cdu", ""},
    {"of the chassis, and not read here", "", "firmware: [{class: hmc, version: '1'}]\n",
     "kernel~\n", "firmware/hmc",
     "firmware/hmc: 1 > no probe reads this not measured, unmeasured\n"},

    {"clocks held as they should be", "",
     "settings: {clocks: {locked: true, graphics_mhz: 1380}}\n",
     "settings.clocks.locked@gpu *=true\nsettings.clocks.graphics_mhz@gpu *=1380\n",
     "settings.clocks",
     "settings.clocks.locked: true > true conforms\n"
     "settings.clocks.graphics_mhz: 1380 > 1380 conforms\n"},
    {"clocks that nobody holds", "", "settings: {clocks: {graphics_mhz: 1380}}\n",
     "settings.clocks.graphics_mhz@gpu *~\n", "settings.clocks",
     "settings.clocks.graphics_mhz: 1380 > absent drift, setting changed\n"},
    {"instances in their order", "",
     "settings: {mig: {mode: enabled, profiles: ['3g.71gb', '1g.18gb']}}\n",
     "settings.mig.mode@gpu *=enabled\nsettings.mig.profiles@gpu *=3g.71gb 1g.18gb\n",
     "settings.mig.profiles",
     "settings.mig.profiles: 3g.71gb 1g.18gb > 3g.71gb 1g.18gb conforms\n"},
    {"instances in another order", "",
     "settings: {mig: {mode: enabled, profiles: ['3g.71gb', '1g.18gb']}}\n",
     "settings.mig.profiles@gpu *=1g.18gb 3g.71gb\n", "settings.mig.profiles",
     "settings.mig.profiles: 3g.71gb 1g.18gb > 1g.18gb 3g.71gb drift, setting changed\n"},
    {"an instance too few", "",
     "settings: {mig: {mode: enabled, profiles: ['3g.71gb', '1g.18gb']}}\n",
     "settings.mig.profiles@gpu *=3g.71gb\n", "settings.mig.profiles",
     "settings.mig.profiles: 3g.71gb 1g.18gb > 3g.71gb drift, setting changed\n"},
    {"priorities in any order", "", "settings: {nic: {ecn: [4, 3]}}\n",
     "settings.nic.ecn@nic *=3 4\n", "settings.nic", "settings.nic.ecn: 4 3 > 3 4 conforms\n"},
    {"no priorities", "", "settings: {nic: {pfc: []}}\n", "settings.nic.pfc@nic *=\n",
     "settings.nic", "settings.nic.pfc: none > none conforms\n"},
    {"a priority too few", "", "settings: {nic: {pfc: [3, 4]}}\n", "settings.nic.pfc@nic *=3\n",
     "settings.nic", "settings.nic.pfc: 3 4 > 3 drift, setting changed\n"},
    {"attributes of every kind", "",
     "settings: {bios: {NPS: 1, SMT: 'Enabled', SRIOV: true}, nic: {options: {A.B: x}}}\n",
     "settings.bios.NPS=1\nsettings.bios.SMT=Disabled\nsettings.bios.SRIOV=true\n"
     "settings.nic.options.A.B=x\n",
     "settings.",
     "settings.nic.options.A.B: x > x conforms\n"
     "settings.bios.NPS: 1 > 1 conforms\n"
     "settings.bios.SMT: Enabled > Disabled drift, setting changed\n"
     "settings.bios.SRIOV: true > true conforms\n"},
    {"a setting that nobody reads", "", "settings: {memory_mode: cdmm}\n", "kernel~\n", "settings",
     "settings.memory_mode: cdmm > no probe reads this not measured, unmeasured\n"},
    {"a mode that this machine does not have", "", "settings: {memory_mode: cdmm}\n",
     "settings.memory_mode~\n", "settings",
     "settings.memory_mode: cdmm > absent drift, not there\n"},
    {"off and not there", "", "settings: {gds: false, ecc: false}\n",
     "settings.gds~\nsettings.ecc@gpu *~\n", "settings",
     "settings.ecc: false > absent conforms\nsettings.gds: false > absent conforms\n"},
    {"off and not there, of what cannot be missing", "",
     "settings: {bios: {SRIOV: false, NPS: disabled}, unattended_upgrades: false}\n",
     "settings.bios.SRIOV~\nsettings.bios.NPS~\nsettings.unattended_upgrades~\n", "settings",
     "settings.bios.SRIOV: false > absent drift, not there\n"
     "settings.bios.NPS: disabled > absent drift, not there\n"
     "settings.unattended_upgrades: false > absent drift, not there\n"},
    {"parameters that come more than once", "",
     "settings: {kernel_cmdline: ['console=tty0', 'rd.driver.blacklist=nouveau']}\n",
     "settings.kernel_cmdline=console=tty0 rd.driver.blacklist=nouveau console=ttyS0 "
     "rd.driver.blacklist=nova\n",
     "settings.kernel_cmdline",
     "settings.kernel_cmdline: console=tty0 rd.driver.blacklist=nouveau > console=tty0 "
     "rd.driver.blacklist=nouveau console=ttyS0 rd.driver.blacklist=nova conforms\n"},
    {"a parameter that is pinned twice", "",
     "settings: {kernel_cmdline: ['iommu=off', 'iommu=pt']}\n",
     "settings.kernel_cmdline=iommu=off iommu=pt\n", "settings.kernel_cmdline",
     "settings.kernel_cmdline: iommu=off iommu=pt > iommu=off iommu=pt conforms\n"},
    {"one value of several words", "",
     "settings: {other: {/proc/sys/net/ipv4/tcp_rmem: '4096 87380 6291456'}}\n",
     "settings.other./proc/sys/net/ipv4/tcp_rmem=4096  87380  6291456\n", "settings",
     "settings.other./proc/sys/net/ipv4/tcp_rmem: 4096 87380 6291456 > "
     "4096  87380  6291456 conforms\n"},
    {"many values", "", "settings: {power_limit_w: 70}\n",
     "settings.power_limit_w@gpu 1=1\nsettings.power_limit_w@gpu 2=2\n"
     "settings.power_limit_w@gpu 3=3\nsettings.power_limit_w@gpu 4=4\n"
     "settings.power_limit_w@gpu 5=5\nsettings.power_limit_w@gpu 6=70\n",
     "settings",
     "settings.power_limit_w: 70 > 1 on 1, 2 on 1, 3 on 1, 4 on 1, ... of 6 GPUs [gpu 1, gpu 2, "
     "gpu 3, gpu 4 and 1 more] drift, some devices\n"},
};

static void make_stack(const char *components, const char *rest, struct lks_buf *out)
{
    static const char *const required[] = {"kernel", "driver", "cuda", "nccl", "container-toolkit"};
    lks_buf_addf(out, LKS_STACK("s", "nvidia", "t4-pcie-4", "%s"), components);
    for (size_t i = 0; i < LKS_COUNT(required); i++) {
        char line[64];
        snprintf(line, sizeof(line), "  %s:", required[i]);
        if (strstr(components, line) == NULL)
            lks_buf_addf(out, "%s {absent: for a reason}\n", line);
    }
    lks_buf_addf(out, "%s", rest);
}

static void test_pins(void)
{
    for (size_t i = 0; i < LKS_COUNT(pins); i++) {
        LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf stack = LKS_BUF(TEXT_MAX);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
        lks_test_case("%s", pins[i].name);
        make_stack(pins[i].components, pins[i].rest, &stack);
        lks_test_tuple(pins[i].tuple, &t);
        judge(stack.ptr, &t, pins[i].subject, &text);
        CHECK_STR(lks_buf_view(&text), pins[i].rows);
    }
}

/* Classes ----------------------------------------------------------------------------------- */

#define CLASS(name, gpu)                                                                           \
    "lockstep: 1\nkind: HardwareClass\nname: " name "\nvendor: nvidia\n"                           \
    "gpu: {product: '" gpu "', count: 2}\nmemory_gib: 512\n---\n"
#define OF(classes)                                                                                \
    LKS_STACK("s", "nvidia", classes, LKS_STACK_ABSENT "  fabric-manager: {absent: x}\n")
#define AMD                                                                                        \
    LKS_STACK("s", "amd", "mi355x-oam-8",                                                          \
              "  kernel: {absent: x}\n  amdgpu: {version: '6.4.2'}\n"                              \
              "  rocm: {version: '6.4.3'}\n  rccl: {version: '2.22.3'}\n")
#define AMD_NODE                                                                                   \
    "kernel~\namdgpu=6.4.2\namdgpu.loaded=6.4.2\nrocm=6.4.3-128\nrocm.package=6.4.3\n"             \
    "rccl.package=2.22.3\n"                                                                        \
    "devices.gpus=8\ndevices.nics=8\ndevices.nic_gbps@nic *=400\ngpu.pci_id@gpu *=1002:75a3\n"
#define NOTHING_ELSE "kernel~\ndriver~\ncuda~\nnccl~\ncontainer-toolkit~\nfabric-manager~\n"

/* The rows that say no, and which class was taken where there are several. */
static const struct {
    const char *name;
    const char *stack;
    const char *tuple;
    const char *rows;
} classes[] = {
    {"by the GPUs", OF("hgx-h100-8, t4-pcie-4, l40s-pcie-8"),
     NOTHING_ELSE "devices.gpus=4\ngpu.pci_id@gpu 1=10de:1eb8\n", "class t4-pcie-4\n"},
    {"the right GPUs and little else", OF("hgx-h100-8, t4-pcie-4"),
     NOTHING_ELSE "devices.gpus=4\ngpu.pci_id@gpu *=10de:2330\ndevices.nvlinks_up@gpu *=18\n"
                  "devices.nvswitches=4\ndevices.nics=4\ndevices.nic_gbps@nic *=400\n"
                  "devices.nvmes=1\ndevices.memory_gib=2048\n",
     "devices.gpus: 8 > 4 drift, device missing\ndevices.nics: 8 > 4 drift, device missing\n"
     "devices.nvmes: 8 > 1 drift, device missing\nclass hgx-h100-8\n"},
    {"the first where all are alike", OF("l40s-pcie-8, t4-pcie-4"), NOTHING_ELSE,
     "devices.gpu: L40S > no probe reads this not measured, unmeasured\n"
     "devices.gpus: 8 > no probe reads this not measured, unmeasured\nclass l40s-pcie-8\n"},
    {"the one of which more was read", CLASS("bare", "10de:ffff") OF("hgx-h200-8, bare"),
     NOTHING_ELSE "devices.memory_gib=512\n",
     "devices.gpu: 10de:ffff > no probe reads this not measured, unmeasured\n"
     "devices.gpus: 2 > no probe reads this not measured, unmeasured\nclass bare\n"},
    {"a board that shares its id", CLASS("mine", "A2") OF("mine"),
     NOTHING_ELSE "devices.gpus=2\ngpu.pci_id@gpu *=10de:25b6\ngpu.product@gpu *=NVIDIA A2\n"
                  "devices.memory_gib=512\n",
     ""},
    {"the other board of the id", CLASS("mine", "A2") OF("mine"),
     NOTHING_ELSE "devices.gpus=2\ngpu.pci_id@gpu *=10de:25b6\ngpu.product@gpu *=NVIDIA A16\n"
                  "devices.memory_gib=512\n",
     "devices.gpu: A2 > NVIDIA A16 drift, device missing\n"},
    {"one of two boards that share an id, without a name", CLASS("mine", "A2") OF("mine"),
     NOTHING_ELSE "devices.gpus=2\ngpu.pci_id@gpu 1=10de:25b6\ndevices.memory_gib=512\n",
     "devices.gpu: A2 > 10de:25b6 is the id of several boards, and gpu.product does not tell which "
     "[gpu 1] not measured, unmeasured\n"},
    {"a family", CLASS("mine", "H200") OF("mine"),
     NOTHING_ELSE "devices.gpus=2\ngpu.pci_id@gpu *=10de:2335\ndevices.memory_gib=512\n", ""},
    {"an id", CLASS("mine", "10de:2335") OF("mine"),
     NOTHING_ELSE "devices.gpus=2\ngpu.pci_id@gpu *=10de:2335\ndevices.memory_gib=512\n", ""},
    {"an id that no table knows", CLASS("mine", "10de:ffff") OF("mine"),
     NOTHING_ELSE "devices.gpus=2\ngpu.pci_id@gpu *=10de:ffff\ndevices.memory_gib=512\n", ""},
    {"a product that no table knows", CLASS("mine", "Z900") OF("mine"),
     NOTHING_ELSE "devices.gpus=2\ngpu.pci_id@gpu *=10de:ffff\ngpu.product@gpu *=NVIDIA Z900\n"
                  "devices.memory_gib=512\n",
     ""},
    {"another product that no table knows", CLASS("mine", "Z900") OF("mine"),
     NOTHING_ELSE "devices.gpus=2\ngpu.pci_id@gpu *=10de:ffff\ngpu.product@gpu *=NVIDIA XZ900\n"
                  "devices.memory_gib=512\n",
     "devices.gpu: Z900 > NVIDIA XZ900 drift, device missing\n"},
    {"AMD", AMD, AMD_NODE "amdgpu.package=6.4.2\n", ""},
    {"AMD, with the package of a later driver", AMD, AMD_NODE "amdgpu.package=30.10.0\n",
     "amdgpu: 6.4.2 > loaded 6.4.2, package 30.10.0 drift, half upgraded\n"},
    {"no GPU at all", OF("t4-pcie-4"), NOTHING_ELSE "devices.gpus=0\ngpu.pci_id~\n",
     "devices.gpu: Tesla T4 > absent drift, device missing\n"
     "devices.gpus: 4 > 0 drift, device missing\n"},
};

static void test_classes(void)
{
    for (size_t i = 0; i < LKS_COUNT(classes); i++) {
        LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
        lks_test_case("%s", classes[i].name);
        lks_test_tuple(classes[i].tuple, &t);
        judge(classes[i].stack, &t, "", &text);
        CHECK_STR(lks_buf_view(&text), classes[i].rows);
    }
}

/* Words, order, evidence -------------------------------------------------------------------- */

static void test_words(void)
{
    CHECK_STR(lks_str_from(lks_conform_verdict_name(LKS_CONFORMS)), "conforms");
    CHECK_STR(lks_str_from(lks_conform_verdict_name(LKS_WITH_IMAGE)), "with image");
    CHECK_STR(lks_str_from(lks_conform_verdict_name(LKS_DRIFT)), "drift");
    CHECK_STR(lks_str_from(lks_conform_verdict_name(LKS_NOT_MEASURED)), "not measured");
    CHECK_STR(lks_str_from(lks_conform_cause_name(LKS_CAUSE_NONE)), "");
    for (int i = LKS_CAUSE_NONE + 1; i < LKS_CAUSE_COUNT; i++) {
        struct lks_str name = lks_str_from(lks_conform_cause_name((enum lks_cause)i));
        for (int k = 0; k < i; k++) /* the first is empty */
            CHECK(!lks_str_is(name, lks_conform_cause_name((enum lks_cause)k)));
    }
}

/* Every cause there is comes up in the tables above. */
static void test_all_causes(void)
{
    for (int cause = LKS_CAUSE_NONE + 1; cause < LKS_CAUSE_COUNT; cause++) {
        char end[64];
        bool found = false;
        snprintf(end, sizeof(end), ", %s\n", lks_conform_cause_name((enum lks_cause)cause));
        for (size_t i = 0; i < LKS_COUNT(nodes); i++)
            found = found || strstr(nodes[i].rows, end) != NULL;
        lks_test_case("%s", end);
        CHECK(found);
    }
}

static void test_evidence(void)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
    LKS_CLEANUP(lks_conform_fini) struct lks_conformance c = {0};
    struct lks_err err = {0};
    static const struct {
        const char *subject, *evidence;
    } rows[] = {
        {"kernel", "proof of kernel"},
        {"driver", "proof of driver.disk"}, /* the side that is odd */
        {"containerd", "proof of containerd.package"},
        {"nccl", "proof of copy.nccl"},
        {"firmware/nic", "proof of firmware/nic"},
        {"settings.other.platform.secure_boot", "proof of platform.secure_boot"},
        {"devices.gpu", "proof of gpu.pci_id"},
    };
    lks_test_tuple_with(lks_test_node, "driver.disk=1.0\n", &t);
    if (!CHECK_CODE(lks_manifest_parse("s", lks_str_from(lks_test_node_stack), lks_test_facts(),
                                       NULL, &m, &err),
                    LKS_OK) ||
        !CHECK_CODE(lks_conform(lks_test_facts(), &m.stacks[0], &t, &c, &err), LKS_OK))
        return;
    CHECK_STR(c.class->name, "hgx-h200-8");
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        bool found = false;
        lks_test_case("%s", rows[i].subject);
        for (size_t k = 0; k < c.count; k++) {
            if (!lks_str_is(c.rows[k].subject, rows[i].subject))
                continue;
            found = true;
            CHECK_STR(c.rows[k].evidence, rows[i].evidence);
        }
        CHECK(found);
    }
}

/* Any stack, against a node that knows nothing: never a yes without a reading behind it. */
static void test_random_stacks(void)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple nothing = {0}, whole = {0};
    lks_test_tuple("", &nothing);
    lks_test_tuple(lks_test_node, &whole);
    for (uint64_t seed = 0; seed < STACKS; seed++) {
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0}, rows = {0};
        struct lks_rng rng = {seed};
        lks_test_case("seed %u", (unsigned)seed);
        lks_buf_init(&text, TEXT_MAX);
        lks_buf_init(&rows, TEXT_MAX);
        lks_test_stack_make(seed, &docs);
        lks_test_stack_spell(&docs, &rng, &text);
        judge(text.ptr, &nothing, "", &rows);
        CHECK(strstr(rows.ptr, "drift") == NULL && strstr(rows.ptr, "not measured") != NULL);
        judge(text.ptr, &whole, "", &rows);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"conform: a whole node", test_nodes},
        {"conform: one pin", test_pins},
        {"conform: classes", test_classes},
        {"conform: words", test_words},
        {"conform: every cause", test_all_causes},
        {"conform: evidence", test_evidence},
        {"conform: random stacks", test_random_stacks},
        {0},
    });
}
