#include "tests/tuples.h"

#include <stdio.h>

enum { LINE_MAX_BYTES = 4096 };

static const char *const gpus[LKS_TEST_DEVICES] = {
    "gpu 0000:18:00.0", "gpu 0000:2a:00.0", "gpu 0000:3a:00.0", "gpu 0000:5d:00.0",
    "gpu 0000:9a:00.0", "gpu 0000:ab:00.0", "gpu 0000:ba:00.0", "gpu 0000:db:00.0",
};
static const char *const nics[LKS_TEST_DEVICES] = {
    "nic mlx5_0 port 1", "nic mlx5_1 port 1", "nic mlx5_2 port 1", "nic mlx5_3 port 1",
    "nic mlx5_4 port 1", "nic mlx5_5 port 1", "nic mlx5_6 port 1", "nic mlx5_7 port 1",
};

const char *lks_test_gpu(unsigned i)
{
    LKS_ASSERT(i < LKS_TEST_DEVICES);
    return gpus[i];
}

const char *lks_test_nic(unsigned i)
{
    LKS_ASSERT(i < LKS_TEST_DEVICES);
    return nics[i];
}

/* One line: NAME, "@" and a device, "#" and a part, then "=", "~" or "?" and what follows. A line
 * that takes out begins with '!' and has no such sign. */
static struct lks_reading parse_line(struct lks_str line, bool *out)
{
    static const char signs[] = "=~?";
    struct lks_reading r = {.of = {"", 0}, .part = {"", 0}, .value = {"", 0}};
    size_t end = 0;
    *out = line.len > 0 && line.ptr[0] == '!';
    if (*out)
        line = (struct lks_str){line.ptr + 1, line.len - 1};
    while (end < line.len && strchr(signs, line.ptr[end]) == NULL)
        end++;
    LKS_ASSERT(*out == (end == line.len));
    if (end < line.len) {
        r.state = (enum lks_reading_state)(strchr(signs, line.ptr[end]) - signs);
        r.value = (struct lks_str){line.ptr + end + 1, line.len - end - 1};
        lks_str_cut(r.value, '\t', &r.value, &r.evidence);
    }
    lks_str_cut((struct lks_str){line.ptr, end}, '#', &r.name, &r.part);
    lks_str_cut(r.name, '@', &r.name, &r.of);
    LKS_ASSERT(r.name.len > 0);
    return r;
}

static bool next_line(struct lks_str *rest, struct lks_str *line)
{
    do {
        if (rest->len == 0)
            return false;
        lks_str_cut(*rest, '\n', line, rest);
    } while (line->len == 0);
    return true;
}

/* Whether `change` speaks of `r`, a reading with its device spelled out. */
static bool speaks_of(const struct lks_reading *change, const struct lks_reading *r)
{
    bool all = change->of.len > 0 && change->of.ptr[change->of.len - 1] == '*';
    size_t kind = all ? change->of.len - 1 : 0;
    return lks_str_eq(change->name, r->name) &&
           (change->of.len == 0 || lks_str_eq(change->of, r->of) ||
            (all && r->of.len >= kind && memcmp(r->of.ptr, change->of.ptr, kind) == 0));
}

static bool is_changed(struct lks_str changes, const struct lks_reading *r)
{
    struct lks_str line;
    while (next_line(&changes, &line)) {
        bool out;
        struct lks_reading change = parse_line(line, &out);
        if (speaks_of(&change, r))
            return true;
    }
    return false;
}

static void add(struct lks_tuple *t, const struct lks_reading *r, struct lks_str changes)
{
    char evidence[LINE_MAX_BYTES];
    if (is_changed(changes, r))
        return;
    struct lks_reading with = *r;
    snprintf(evidence, sizeof(evidence), "proof of %" LKS_STR_FMT, LKS_STR_ARG(r->name));
    if (r->evidence.len == 0)
        with.evidence = lks_str_from(evidence);
    lks_tuple_add(t, &with);
}

static void add_lines(struct lks_tuple *t, struct lks_str lines, struct lks_str changes)
{
    struct lks_str line;
    while (next_line(&lines, &line)) {
        bool out;
        struct lks_reading r = parse_line(line, &out);
        bool each_gpu = lks_str_is(r.of, "gpu *"), each_nic = lks_str_is(r.of, "nic *");
        if (!out && !each_gpu && !each_nic)
            add(t, &r, changes);
        for (unsigned i = 0; i < LKS_TEST_DEVICES && (each_gpu || each_nic) && !out; i++) {
            r.of = lks_str_from(each_gpu ? gpus[i] : nics[i]);
            add(t, &r, changes);
        }
    }
}

void lks_test_tuple_with(const char *base, const char *changes, struct lks_tuple *out)
{
    struct lks_err err = {0};
    lks_tuple_init(out);
    out->node = LKS_STR("n1");
    out->boot_id = LKS_STR("0f3a7c52-5b1e-4d53-9a38-6c1d2e8f9b10");
    out->taken = INT64_C(1794724520);
    add_lines(out, lks_str_from(base), lks_str_from(changes));
    add_lines(out, lks_str_from(changes), (struct lks_str){"", 0});
    LKS_ASSERT(lks_tuple_finish(out, &err) == LKS_OK);
}

void lks_test_tuple(const char *lines, struct lks_tuple *out)
{
    lks_test_tuple_with(lines, "", out);
}

/* clang-format off */
const char lks_test_node[] =
    "kernel=6.8.0-71-generic\n"
    "driver=580.126.20\n"
    "driver.loaded=580.126.20\n"
    "driver.disk=580.126.20\n"
    "driver.library=580.126.20\n"
    "driver.package=580.126.20\n"
    "driver.modules=open\n"
    "driver.build.srcversion=0B9F2F4D6A0E1D3C5B7A998\n"
    "driver.build.sha256=3f0c2d7a1b9e5f4438d6c7b8a9012233445566778899aabbccddeeff00112233\n"
    "fabric-manager=580.126.20\n"
    "fabric-manager.package=580.126.20\n"
    "cuda~\n"
    "cuda.package~\n"
    "nccl=2.28.3\n"
    "nccl.package=2.28.3\n"
    "copy.nccl@/usr/lib/x86_64-linux-gnu/libnccl.so.2.28.3#system=2.28.3\n"
    "copy.nccl@/opt/venv/lib/python3.12/site-packages/nvidia/nccl/lib/libnccl.so.2#python=2.28.9\n"
    "container-toolkit=1.19.1\n"
    "container-toolkit.package=1.19.1\n"
    "containerd.package=1.7.28\n"
    "dcgm=4.5.3\n"
    "dcgm.package=4.5.3\n"
    "doca-ofed~\n"
    "doca-ofed.package~\n"
    "firmware/bmc=25.02.11\n"
    "firmware/bios=2.4.1\n"
    "firmware/vbios@gpu *#692-2G520-0282-001=96.00.A5.00.1A\n"
    "firmware/inforom@gpu *#692-2G520-0282-001=G520.0282.02.02\n"
    "firmware/nic@nic *#MT_0000000838=28.46.1006\n"
    "firmware/nvme@nvme nvme0#MZ-1=GDC7302Q\n"
    "firmware/nvme@nvme nvme1#MZ-2=2.1.9\n"
    "settings.mig.mode@gpu *=disabled\n"
    "settings.mig.profiles@gpu *=\n"
    "settings.ecc@gpu *=true\n"
    "settings.power_limit_w@gpu *=700\n"
    "settings.clocks.locked@gpu *=false\n"
    "settings.clocks.graphics_mhz@gpu *~\n"
    "settings.clocks.memory_mhz@gpu *~\n"
    "settings.persistence@gpu *=true\n"
    "settings.compute_mode@gpu *=default\n"
    "settings.memory_mode~\n"
    "settings.gds=false\n"
    "settings.kernel_cmdline=BOOT_IMAGE=/vmlinuz-6.8.0-71-generic ro quiet iommu=pt "
    "numa_balancing=disable\n"
    "settings.nic.link_type@nic *=ethernet\n"
    "settings.nic.congestion_control@nic *=dcqcn\n"
    "settings.nic.pfc@nic *=3\n"
    "settings.nic.ecn@nic *=3\n"
    "settings.unattended_upgrades=false\n"
    "settings.other./proc/sys/vm/swappiness=10\n"
    "tuning.env.NCCL_IB_TC=106\n"
    "devices.gpus=8\n"
    "devices.nvlinks_up@gpu *=18\n"
    "devices.nvswitches=4\n"
    "devices.nics=8\n"
    "devices.nic_gbps@nic *=400\n"
    "devices.nvmes=8\n"
    "devices.memory_gib=2015\t/sys/devices/system/memory: 16120 blocks of 128 MiB online\n"
    "platform.os=Ubuntu 24.04\n"
    "platform.secure_boot=enabled\n"
    "gpu.product@gpu *=NVIDIA H200\n"
    "gpu.pci_id@gpu *=10de:2335\n"
    "gpu.board_part@gpu *=692-2G520-0282-001\n"
    "gpu.mig_pending@gpu *=disabled\n"
    "gpu.ecc_pending@gpu *=true\n"
    "cdi.driver@/var/run/cdi/nvidia.yaml=580.126.20\n";

const char lks_test_node_stack[] =
    "lockstep: 1\n"
    "kind: Stack\n"
    "name: golden\n"
    "version: '1'\n"
    "vendor: nvidia\n"
    "hardware: [hgx-h200-8]\n"
    "components:\n"
    "  kernel: {version: '6.8.0-71-generic'}\n"
    "  driver: {version: '580.126.20', modules: open,\n"
    "           build: {srcversion: '0B9F2F4D6A0E1D3C5B7A998'}}\n"
    "  fabric-manager: {version: '580.126.20'}\n"
    "  cuda: {version: '13.0.2', owner: image}\n"
    "  nccl: {version: '2.28.9', owner: image}\n"
    "  container-toolkit: {version: '1.19.1'}\n"
    "  containerd: {version: '1.7.28'}\n"
    "  dcgm: {version: '4.5.3'}\n"
    "  doca-ofed: {absent: the drivers of the kernel are used}\n"
    "firmware:\n"
    "  - {class: bmc, version: '25.02.11'}\n"
    "  - {class: bios, version: '2.4.1'}\n"
    "  - {class: vbios, version: '96.00.A5.00.1A', owner: external}\n"
    "  - {class: nic, version: '28.46.1006'}\n"
    "  - {class: nvme, part: MZ-1, version: 'GDC7302Q'}\n"
    "  - {class: nvme, version: '2.1.9'}\n"
    "  - {class: power-shelf, version: '1.0', scope: domain}\n"
    "windows:\n"
    "  dcgm: '>=4.5.3 <4.7'\n"
    "  firmware/nic: '>=28.46 <28.47'\n"
    "settings:\n"
    "  mig: {mode: disabled, profiles: []}\n"
    "  ecc: true\n"
    "  power_limit_w: 700\n"
    "  clocks: {locked: false}\n"
    "  persistence: true\n"
    "  compute_mode: default\n"
    "  gds: false\n"
    "  kernel_cmdline: ['iommu=pt', 'numa_balancing=disable']\n"
    "  nic: {link_type: ethernet, congestion_control: dcqcn, pfc: [3], ecn: [3]}\n"
    "  unattended_upgrades: false\n"
    "  other: {/proc/sys/vm/swappiness: 10, platform.secure_boot: enabled,\n"
    "          gpu.board_part: 692-2G520-0282-001}\n"
    "tuning:\n"
    "  env: {NCCL_IB_TC: '106', NCCL_IB_GID_INDEX: '3'}\n";
/* clang-format on */
