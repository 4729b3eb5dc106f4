#include "codec/machine/nlattr.h"
#include "codec/machine/sff.h"
#include "probe/network/dcb.h"
#include "probe/network/devlink.h"
#include "probe/network/ethtool.h"
#include "probe/root/probes.h"
#include "tests/heard.h"
#include "tests/test.h"

#include <linux/dcbnl.h>
#include <linux/devlink.h>
#include <linux/ethtool_netlink.h>
#include <stdio.h>

/* A tree from lines "PATH=CONTENT"; "PATH/" is a directory. `where` goes before each path. */
static void add_files(const struct lks_tree *t, const char *where, const char *lines)
{
    struct lks_str rest = lks_str_from(lines), line, name, content;
    while (rest.len > 0) {
        char path[256], text[512];
        (void)lks_str_cut(rest, '\n', &line, &rest);
        bool file = lks_str_cut(line, '=', &name, &content);
        snprintf(path, sizeof(path), "%s%" LKS_STR_FMT, where, LKS_STR_ARG(name));
        snprintf(text, sizeof(text), "%" LKS_STR_FMT "\n", LKS_STR_ARG(content));
        if (file)
            lks_tree_file(t, path, text);
        else
            lks_tree_dir(t, path);
    }
}

static void add_uevent(const struct lks_tree *t, const char *dir, const char *address,
                       const char *driver, const char *class, const char *id)
{
    char path[512], text[256];
    snprintf(path, sizeof(path), "%s/device/uevent", dir);
    snprintf(text, sizeof(text),
             "DRIVER=%s\nPCI_CLASS=%s\nPCI_ID=%s\nPCI_SUBSYS_ID=15B3:0041\nPCI_SLOT_NAME=%s\n"
             "MODALIAS=pci:v000015B3d00001021\n",
             driver, class, id, address);
    lks_tree_file(t, path, text);
}

/* The interface of a function, as its device shows it and as it is found by its name. */
static void add_interface(const struct lks_tree *t, const char *name, const char *address,
                          const char *driver, const char *id)
{
    char path[256];
    snprintf(path, sizeof(path), "/sys/class/net/%s", name);
    add_uevent(t, path, address, driver, "20000", id);
    snprintf(path, sizeof(path), "/sys/class/net/%s/", name);
    add_files(t, path,
              "address=94:6d:ae:00:00:01\nmtu=9000\nspeed=400000\ndev_port=0\noperstate=up\n");
    snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/net/%s", address, name);
    lks_tree_dir(t, path);
}

static void add_rdma(const struct lks_tree *t, const char *name, const char *address,
                     const char *class, const char *id, const char *link)
{
    char dir[128], path[256];
    snprintf(dir, sizeof(dir), "/sys/class/infiniband/%s", name);
    add_uevent(t, dir, address, "mlx5_core", class, id);
    snprintf(path, sizeof(path), "%s/", dir);
    add_files(t, path,
              "fw_ver=28.39.1002\nboard_id=MT_0000000838\nhca_type=MT4129\n"
              "node_guid=946d:ae03:0000:0001\nports/1/state=4: ACTIVE\n"
              "ports/1/phys_state=5: LinkUp\nports/1/rate=400 Gb/sec (4X NDR)\n");
    snprintf(path, sizeof(path), "%s/ports/1/link_layer", dir);
    lks_tree_file(t, path, link);
    snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/sriov_numvfs", address);
    lks_tree_file(t, path, "0\n");
}

static void add_ecn(const struct lks_tree *t, const char *interface, const char *notify,
                    const char *react)
{
    for (unsigned i = 0; i < 8; i++) {
        char path[128];
        const char both[2][2] = {{notify[i], '\0'}, {react[i], '\0'}};
        for (size_t side = 0; side < 2; side++) {
            snprintf(path, sizeof(path), "/sys/class/net/%s/ecn/roce_%s/enable/%u", interface,
                     side == 0 ? "np" : "rp", i);
            lks_tree_file(t, path, both[side]);
        }
    }
}

/* Nodes --------------------------------------------------------------------------------------- */

#define IB "/sys/class/infiniband/mlx5_0"

static void test_infiniband(void)
{
    LKS_CLEANUP(lks_tree_free) struct lks_tree t = lks_tree_new();
    add_rdma(&t, "mlx5_0", "0000:05:00.0", "20700", "15B3:1021", "InfiniBand\n");
    lks_tree_file(&t, "/sys/module/mlx5_core/version", "24.10-0.7.0\n");
    CHECK_HEARD(lks_probe_nic, &t,
                "devices.nics=1 < /sys/class/infiniband/*/ports\n"
                "firmware/nic@nic mlx5_0#MT_0000000838=28.39.1002 < " IB "/fw_ver\n"
                "nic.product@nic mlx5_0=MT4129 < " IB "/hca_type\n"
                "nic.driver@nic mlx5_0=mlx5_core 24.10-0.7.0 < /sys/module/mlx5_core/version\n"
                "nic.serial@nic mlx5_0~ < /sys/bus/pci/devices/0000:05:00.0/vpd\n"
                "nic.guid@nic mlx5_0=946d:ae03:0000:0001 < " IB "/node_guid\n"
                "settings.nic.options.num_vfs@nic mlx5_0=0 < "
                "/sys/bus/pci/devices/0000:05:00.0/sriov_numvfs\n"
                "settings.nic.link_type@nic mlx5_0 port 1=infiniband < " IB "/ports/1/link_layer\n"
                "nic.state@nic mlx5_0 port 1=up < " IB "/ports/1/state\n"
                "devices.nic_gbps@nic mlx5_0 port 1=400 < " IB "/ports/1/rate\n"
                "settings.nic.congestion_control@nic mlx5_0 port 1~ < " IB "/ports/1/link_layer\n"
                "settings.nic.ecn@nic mlx5_0 port 1~ < " IB "/ports/1/link_layer\n"
                "settings.nic.pfc@nic mlx5_0 port 1~ < " IB "/ports/1/link_layer\n"
                "settings.nic.options.mtu@nic mlx5_0 port 1~ < "
                "/sys/bus/pci/devices/0000:05:00.0/net\n");
}

#define VPD_LINE                                                                                   \
    "checksum=ok product=ConnectX-7%20Adapter part=MCX75310AAS-NEAT serial=MT2321X01234"

static void add_answers(const struct lks_tree *t)
{
    lks_tree_file(t, "/lockstep/vpd.csv", "key,code,value\n0000:05:00.0,ok," VPD_LINE "\n");
    lks_tree_file(t, "/lockstep/devlink.csv",
                  "key,code,value\n"
                  "info pci/0000:05:00.0,ok,driver=mlx5_core fixed:fw.psid=MT_0000000838 "
                  "running:fw.version=28.39.1002 running:fw=28.39.1002 "
                  "stored:fw.version=28.43.1014 stored:fw=28.43.1014\n");
    lks_tree_file(t, "/lockstep/ethtool.csv",
                  "key,code,value\n"
                  "drvinfo eth0,ok,driver=mlx5_core version=6.8.0-40 "
                  "firmware=28.39.1002%20(MT_0000000838)\n"
                  "ring eth0,ok,rx=8192 tx=1024\n"
                  "pause eth0,ok,autoneg=0 rx=1 tx=0\n"
                  "module eth0,ok,names=ok vendor=NVIDIA part=MMA4Z00-NS serials=ok "
                  "serial=MT2321FT01234 firmware=46.120\n");
    lks_tree_file(t, "/lockstep/dcb.csv", "key,code,value\npfc eth0,ok,capable=8 enabled=3%204\n");
}

static void add_roce(const struct lks_tree *t)
{
    add_rdma(t, "mlx5_0", "0000:05:00.0", "20000", "15B3:1021", "Ethernet\n");
    add_interface(t, "eth0", "0000:05:00.0", "mlx5_core", "15B3:1021");
    add_ecn(t, "eth0", "00010000", "00011000");
    add_answers(t);
}

#define PORT "nic mlx5_0 port 1"

static void test_roce(void)
{
    LKS_CLEANUP(lks_tree_free) struct lks_tree t = lks_tree_new();
    add_roce(&t);
    CHECK_HEARD(
        lks_probe_nic, &t,
        "devices.nics=1 < /sys/class/infiniband/*/ports\n"
        "firmware/nic@nic mlx5_0#MT_0000000838=28.39.1002 < devlink info pci/0000:05:00.0\n"
        "nic.staged_firmware@nic mlx5_0=28.43.1014 < devlink info pci/0000:05:00.0\n"
        "nic.product@nic mlx5_0=ConnectX-7 Adapter < /sys/bus/pci/devices/0000:05:00.0/vpd\n"
        "nic.driver@nic mlx5_0=mlx5_core 6.8.0-40 < ethtool drvinfo eth0\n"
        "nic.serial@nic mlx5_0=MT2321X01234 < /sys/bus/pci/devices/0000:05:00.0/vpd\n"
        "nic.guid@nic mlx5_0=946d:ae03:0000:0001 < " IB "/node_guid\n"
        "settings.nic.options.num_vfs@nic mlx5_0=0 < "
        "/sys/bus/pci/devices/0000:05:00.0/sriov_numvfs\n"
        "settings.nic.link_type@" PORT "=ethernet < " IB "/ports/1/link_layer\n"
        "nic.state@" PORT "=up < " IB "/ports/1/state\n"
        "devices.nic_gbps@" PORT "=400 < /sys/class/net/eth0/speed\n"
        "settings.nic.pfc@" PORT "=3 4 < dcb pfc eth0\n"
        "settings.nic.ecn@" PORT "=3 < /sys/class/net/eth0/ecn\n"
        "settings.nic.options.roce_np@" PORT "=3 < /sys/class/net/eth0/ecn\n"
        "settings.nic.options.roce_rp@" PORT "=3 4 < /sys/class/net/eth0/ecn\n"
        "settings.nic.congestion_control@" PORT "?the adapter can run several algorithms and does "
        "not say which < /sys/class/net/eth0/ecn\n"
        "settings.nic.options.mtu@" PORT "=9000 < /sys/class/net/eth0/mtu\n"
        "settings.nic.options.rx_ring@" PORT "=8192 < ethtool ring eth0\n"
        "settings.nic.options.tx_ring@" PORT "=1024 < ethtool ring eth0\n"
        "settings.nic.options.rx_pause@" PORT "=1 < ethtool pause eth0\n"
        "settings.nic.options.tx_pause@" PORT "=0 < ethtool pause eth0\n"
        "nic.mac@" PORT "=94:6d:ae:00:00:01 < /sys/class/net/eth0/address\n"
        "optics.part@" PORT "=NVIDIA MMA4Z00-NS < ethtool module eth0\n"
        "optics.serial@" PORT "=MT2321FT01234 < ethtool module eth0\n"
        "firmware/optics@" PORT "#MMA4Z00-NS=46.120 < ethtool module eth0\n");
}

/* Interfaces without RDMA are listed and not counted; what is not on PCI is neither. */
static void test_interfaces(void)
{
    LKS_CLEANUP(lks_tree_free) struct lks_tree t = lks_tree_new();
    add_interface(&t, "eno1", "0000:3d:00.0", "ixgbe", "8086:1563");
    lks_tree_file(&t, "/sys/class/net/eth9/device/uevent",
                  "DRIVER=virtio_net\nMODALIAS=virtio:d00000001v00001AF4\n");
    lks_tree_file(&t, "/sys/class/net/usb0/device/uevent", "DEVTYPE=usb_interface\nDRIVER=rndis\n");
    lks_tree_file(&t, "/sys/class/net/lo/address", "00:00:00:00:00:00\n");
    lks_tree_file(&t, "/lockstep/ethtool.csv",
                  "key,code,value\n"
                  "drvinfo eno1,ok,\"driver=ixgbe version=6.8.0 firmware=0x80000d63%2C%201.3\"\n"
                  "module eno1,unavailable,module: the driver does not answer this\n");
    CHECK_HEARD(lks_probe_nic, &t,
                "devices.nics=0 < /sys/class/infiniband/*/ports\n"
                "firmware/nic@nic eno1#8086:1563=0x80000d63, 1.3 < ethtool drvinfo eno1\n"
                "nic.product@nic eno1=8086:1563 < /sys/class/net/eno1/device/uevent\n"
                "nic.driver@nic eno1=ixgbe 6.8.0 < ethtool drvinfo eno1\n"
                "nic.serial@nic eno1~ < /sys/bus/pci/devices/0000:3d:00.0/vpd\n"
                "nic.mac@nic eno1=94:6d:ae:00:00:01 < /sys/class/net/eno1/address\n"
                "nic.state@nic eno1=up < /sys/class/net/eno1/operstate\n");
}

/* What an RDMA device is counted for. */
static void test_counting(void)
{
    LKS_CLEANUP(lks_tree_free) struct lks_tree t = lks_tree_new();
    add_rdma(&t, "mlx5_0", "0000:05:00.0", "20700", "15B3:1021", "InfiniBand\n");
    add_files(&t, IB "/ports/2/", "state=1: DOWN\nphys_state=3: Disabled\n");
    add_rdma(&t, "mlx5_1", "0000:05:00.4", "20700", "15B3:101E", "InfiniBand\n");
    lks_tree_link(&t, "/sys/bus/pci/devices/0000:05:00.4/physfn", "../0000:05:00.0");
    add_files(&t, "/sys/class/infiniband/",
              "rxe0/parent=eth0\nrxe0/ports/1/state=4: ACTIVE\n"
              "mlx5_9/ports/1/state=4: ACTIVE\n");
    lks_tree_file(&t, "/sys/class/infiniband/mlx5_9/device/uevent",
                  "DRIVER=mlx5_core.sf\nMODALIAS=auxiliary:mlx5_core.sf\n");
    /* A function given to this virtual machine as its own counts. */
    add_rdma(&t, "mlx5_8", "0001:00:02.0", "20700", "15B3:1021", "InfiniBand\n");
    CHECK_HEARD_HAS(lks_probe_nic, &t, "devices.nics=3 < /sys/class/infiniband/*/ports\n");
    CHECK_HEARD_HAS(lks_probe_nic, &t,
                    "nic.state@nic mlx5_0 port 2=down, disabled < " IB "/ports/2/state\n"
                    "devices.nic_gbps@nic mlx5_0 port 2=0 < " IB "/ports/2/state\n");
}

/* Of several models the one that most ports are of is the fabric; of others there is no speed and
 * no setting to hold against a stack's. */
static void test_fabric(void)
{
    static const struct {
        const char *name;
        const char *models[5];
        const char *count;
    } rows[] = {
        {"adapters, and a DPU for storage", {"15B3:1021", "15B3:1021", "15B3:A2DC"}, "=2 <"},
        {"adapters, and two ports on the board",
         {"15B3:1021", "15B3:1021", "15B3:1021", "14E4:1750", "14E4:1750"},
         "=3 <"},
        {"DPUs alone", {"15B3:A2DC", "15B3:A2DC"}, "=2 <"},
        {"as many of one as of the other", {"15B3:1021", "15B3:A2DC"}, "=2 <"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_tree_free) struct lks_tree t = lks_tree_new();
        lks_test_case("%s", rows[i].name);
        for (unsigned k = 0; k < LKS_COUNT(rows[i].models) && rows[i].models[k] != NULL; k++) {
            char name[16], address[16];
            snprintf(name, sizeof(name), "mlx5_%u", k);
            snprintf(address, sizeof(address), "0000:%02x:00.0", k + 5);
            add_rdma(&t, name, address, "20000", rows[i].models[k], "InfiniBand\n");
        }
        char count[64];
        snprintf(count, sizeof(count), "devices.nics%s", rows[i].count);
        CHECK_HEARD_HAS(lks_probe_nic, &t, count);
    }
}

/* Of a port that is none of the fabric's there is no speed and no setting to hold against a
 * stack's.
 */
static void test_beside_fabric(void)
{
    LKS_CLEANUP(lks_tree_free) struct lks_tree t = lks_tree_new();
    add_rdma(&t, "mlx5_0", "0000:05:00.0", "20700", "15B3:1021", "InfiniBand\n");
    add_rdma(&t, "mlx5_1", "0000:06:00.0", "20700", "15B3:1021", "InfiniBand\n");
    add_rdma(&t, "mlx5_2", "0000:07:00.0", "20000", "15B3:A2DC", "Ethernet\n");
    CHECK_HEARD_HAS(lks_probe_nic, &t,
                    "nic.guid@nic mlx5_2=946d:ae03:0000:0001 < "
                    "/sys/class/infiniband/mlx5_2/node_guid\n"
                    "nic.state@nic mlx5_2 port 1=up < "
                    "/sys/class/infiniband/mlx5_2/ports/1/state\n");
}

/* The ConnectX-7 of an HGX B200 is no adapter, with all its functions; but whether it is one can be
 * told only by who may read its product data. */
static void test_managers(void)
{
    LKS_CLEANUP(lks_tree_free) struct lks_tree t = lks_tree_new();
    add_rdma(&t, "mlx5_0", "0000:18:00.0", "20700", "15B3:1021", "InfiniBand\n");
    add_rdma(&t, "mlx5_1", "0000:05:00.0", "20700", "15B3:1021", "InfiniBand\n");
    add_rdma(&t, "mlx5_2", "0000:05:00.2", "20700", "15B3:1021", "InfiniBand\n");
    lks_tree_file(&t, "/lockstep/vpd.csv",
                  "key,code,value\n0000:18:00.0,ok," VPD_LINE "\n0000:05:00.0,ok," VPD_LINE "\n"
                  "0000:05:00.2,ok,checksum=bad SMDL=SW_MNG\n");
    CHECK_HEARD_HAS(lks_probe_nic, &t, "devices.nics=1 < /sys/class/infiniband/*/ports\n");
    lks_tree_file(&t, "/lockstep/vpd.csv",
                  "key,code,value\n0000:05:00.2,denied,vpd: not permitted\n");
    CHECK_HEARD_HAS(lks_probe_nic, &t,
                    "devices.nics?vpd: not permitted < /sys/class/infiniband/*/ports\n");
    add_files(&t, "/sys/bus/pci/devices/0000:07:00.0/", "class=0x068000\nvendor=0x10de\n");
    CHECK_HEARD_HAS(lks_probe_nic, &t, "devices.nics=3 < /sys/class/infiniband/*/ports\n");
}

static void test_dpu(void)
{
    LKS_CLEANUP(lks_tree_free) struct lks_tree t = lks_tree_new();
    add_rdma(&t, "mlx5_0", "0000:05:00.0", "20000", "15B3:A2DC", "Ethernet\n");
    /* An interface that stands for a function of the DPU, before the port's own. */
    add_interface(&t, "a-rep", "0000:05:00.0", "mlx5_core", "15B3:A2DC");
    lks_tree_file(&t, "/sys/class/net/a-rep/phys_port_name", "pf0vf3\n");
    add_interface(&t, "p0", "0000:05:00.0", "mlx5_core", "15B3:A2DC");
    lks_tree_file(&t, "/sys/class/net/p0/phys_port_name", "p0\n");
    lks_tree_file(&t, "/sys/class/net/p0/speed", "2500\n");
    CHECK_HEARD_HAS(lks_probe_nic, &t,
                    "firmware/dpu@nic mlx5_0#MT_0000000838=28.39.1002 < " IB "/fw_ver\n");
    CHECK_HEARD_HAS(lks_probe_nic, &t, "devices.nic_gbps@" PORT "=2.5 < /sys/class/net/p0/speed\n");
    /* Ports of one function with an interface each. */
    lks_tree_file(&t, "/sys/class/net/p0/dev_port", "1\n");
    CHECK_HEARD_HAS(lks_probe_nic, &t, "devices.nic_gbps@" PORT "=400 < " IB "/ports/1/rate\n");
}

/* The part number is the board's id from whoever tells it, else that of the card, else what is on
 * the bus. */
static void test_part(void)
{
    static const struct {
        const char *path, *content, *part;
    } steps[] = {
        {"/lockstep/devlink.csv", "key,code,value\n", "MT_0000000838=28.39.1002 < " IB "/fw_ver\n"},
        {IB "/board_id", "\n", "MCX75310AAS-NEAT=28.39.1002 < " IB "/fw_ver\n"},
        {"/lockstep/vpd.csv", "key,code,value\n", "MT_0000000838=28.39.1002 < " IB "/fw_ver\n"},
        {IB "/fw_ver", "\n", "MT_0000000838=28.39.1002 < ethtool drvinfo eth0\n"},
        {"/lockstep/ethtool.csv", "key,code,value\ndrvinfo eth0,ok,firmware=1.2\n",
         "15b3:1021=1.2 < ethtool drvinfo eth0\n"},
        {"/lockstep/ethtool.csv", "key,code,value\ndrvinfo eth0,ok,firmware=N/A\n", NULL},
    };
    LKS_CLEANUP(lks_tree_free) struct lks_tree t = lks_tree_new();
    add_roce(&t);
    for (size_t i = 0; i < LKS_COUNT(steps); i++) {
        lks_test_case("step %zu", i);
        char want[256];
        lks_tree_file(&t, steps[i].path, steps[i].content);
        snprintf(want, sizeof(want), "firmware/nic@nic mlx5_0%s%s",
                 steps[i].part != NULL ? "#" : "~ < devlink info pci/0000:05:00.0\n",
                 steps[i].part != NULL ? steps[i].part : "");
        CHECK_HEARD_HAS(lks_probe_nic, &t, want);
    }
    lks_tree_file(&t, "/lockstep/devlink.csv",
                  "key,code,value\ninfo pci/0000:05:00.0,timeout,netlink: no answer\n");
    CHECK_HEARD_HAS(lks_probe_nic, &t,
                    "firmware/nic@nic mlx5_0?netlink: no answer < devlink info pci/0000:05:00.0\n");
}

/* Changes ---------------------------------------------------------------------------------------
 */

static const struct {
    const char *name;
    const char *path;
    struct lks_str content;
    const char *has;
} changes[] = {
    {"binary firmware and no devlink", IB "/fw_ver", LKS_STR_C("\x80\x81"),
     "firmware/nic@nic mlx5_0#MT_0000000838=28.39.1002 < devlink info pci/0000:05:00.0\n"},
    {"stored firmware runs", "/lockstep/devlink.csv",
     LKS_STR_C("key,code,value\ninfo pci/0000:05:00.0,ok,running:fw=28.39.1002 "
               "stored:fw=28.39.1002\n"),
     "firmware/nic@nic mlx5_0#MT_0000000838=28.39.1002 < devlink info pci/0000:05:00.0\n"
     "nic.staged_firmware@nic mlx5_0~ < devlink info pci/0000:05:00.0\n"},
    {"devlink says nothing of firmware", "/lockstep/devlink.csv",
     LKS_STR_C("key,code,value\ninfo pci/0000:05:00.0,ok,driver=mlx5_core\n"),
     "firmware/nic@nic mlx5_0#MT_0000000838=28.39.1002 < " IB "/fw_ver\n"
     "nic.product@"},
    {"no board id: devlink has it", IB "/board_id", LKS_STR_C(""),
     "firmware/nic@nic mlx5_0#MT_0000000838=28.39.1002 < devlink"},
    {"the uevent is damaged", IB "/device/uevent", LKS_STR_C("PCI_SLOT_NAME=../../etc\n"),
     "devices.nics?" IB "/device/uevent: its PCI_SLOT_NAME is damaged < "
     "/sys/class/infiniband/*/ports\n"},
    {"the uevent is too large", IB "/device/uevent", LKS_STR_C("X=" /* 5000 bytes follow */),
     "devices.nics?" IB "/device/uevent: larger than 4096 bytes < /sys/class/infiniband/*/ports\n"},
    {"damaged product data", "/lockstep/vpd.csv",
     LKS_STR_C("key,code,value\n0000:05:00.0,ok,checksum=bad product=X serial=Y\n"),
     "nic.product@nic mlx5_0=MT4129 < " IB "/hca_type\n"
     "nic.driver@nic mlx5_0=mlx5_core 6.8.0-40 < ethtool drvinfo eth0\n"
     "nic.serial@nic mlx5_0?/sys/bus/pci/devices/0000:05:00.0/vpd: its product data is damaged < "
     "/sys/bus/pci/devices/0000:05:00.0/vpd\n"},
    {"unknown link", IB "/ports/1/link_layer", LKS_STR_C("Unknown\n"),
     "settings.nic.link_type@" PORT "?" IB "/ports/1/link_layer: a link of the kind 'Unknown' < " IB
     "/ports/1/link_layer\n"
     "nic.state@" PORT "=up < " IB "/ports/1/state\n"
     "devices.nic_gbps@" PORT "=400 < " IB "/ports/1/rate\n"
     "settings.nic.congestion_control@" PORT "?the port has no Ethernet interface to ask < "},
    {"no state", IB "/ports/1/state", LKS_STR_C("ACTIVE\n"),
     "nic.state@" PORT "?" IB "/ports/1/state: 'ACTIVE' is no state < " IB "/ports/1/state\n"
     "devices.nic_gbps@" PORT "?whether the link is up could not be read < " IB "/ports/1/state\n"},
    {"down", IB "/ports/1/state", LKS_STR_C("2: INIT\n"),
     "nic.state@" PORT "=init, linkup < " IB "/ports/1/state\n"
     "devices.nic_gbps@" PORT "=0 < " IB "/ports/1/state\n"},
    {"speed not known", "/sys/class/net/eth0/speed", LKS_STR_C("-1\n"),
     "devices.nic_gbps@" PORT "=400 < " IB "/ports/1/rate\n"},
    {"flow control off", "/lockstep/dcb.csv",
     LKS_STR_C("key,code,value\npfc eth0,ok,capable=8 enabled=\n"),
     "settings.nic.pfc@" PORT "= < dcb pfc eth0\n"},
    {"flow control not told", "/lockstep/dcb.csv",
     LKS_STR_C("key,code,value\npfc eth0,unavailable,pfc: the driver does not answer this\n"),
     "settings.nic.pfc@" PORT "?pfc: the driver does not answer this < dcb pfc eth0\n"},
    {"a damaged answer", "/lockstep/dcb.csv", LKS_STR_C("key,code,value\npfc eth0,ok,capable\n"),
     "settings.nic.pfc@" PORT "?dcb pfc eth0: says nothing of priorities < dcb pfc eth0\n"},
    {"ecn of another kind", "/sys/class/net/eth0/ecn/roce_rp/enable/5", LKS_STR_C("on\n"),
     "settings.nic.ecn@" PORT "?/sys/class/net/eth0/ecn/roce_rp/enable/5: 'on' is neither 0 nor 1 "
     "< /sys/class/net/eth0/ecn\n"
     "settings.nic.congestion_control@" PORT "?"},
    {"no number of functions", "/sys/bus/pci/devices/0000:05:00.0/sriov_numvfs",
     LKS_STR_C("many\n"),
     "settings.nic.options.num_vfs@nic mlx5_0?"
     "/sys/bus/pci/devices/0000:05:00.0/sriov_numvfs: 'many' is no number < "},
    {"ConnectX-6 has one algorithm", IB "/device/uevent",
     LKS_STR_C("DRIVER=mlx5_core\nPCI_ID=15B3:101B\nPCI_SLOT_NAME=0000:05:00.0\n"),
     "settings.nic.congestion_control@" PORT "=dcqcn < /sys/class/net/eth0/ecn\n"},
    {"a port that is none", IB "/ports/hw_counters/x", LKS_STR_C("1\n"),
     "devices.nics?" IB "/ports: holds more than ports up to 64 < /sys/class/infiniband/*/ports\n"},
    {"a module that is not there", "/lockstep/ethtool.csv",
     LKS_STR_C("key,code,value\nmodule eth0,not-found,module memory: no module answers\n"),
     "optics.part@" PORT "~ < ethtool module eth0\n"},
    {"a module that may not be asked", "/lockstep/ethtool.csv",
     LKS_STR_C("key,code,value\nmodule eth0,denied,the kernel: not permitted\n"),
     "optics.part@" PORT "?the kernel: not permitted < ethtool module eth0\n"},
    {"a module with wrong names", "/lockstep/ethtool.csv",
     LKS_STR_C("key,code,value\nmodule eth0,ok,names=bad vendor=NVIDIA part=X serials=ok "
               "serial=Y firmware=invalid\n"),
     "optics.part@" PORT "?the module's checksum does not fit its bytes < ethtool module eth0\n"
     "optics.serial@" PORT "=Y < ethtool module eth0\n"
     "firmware/optics@" PORT "?the module says that its firmware is invalid < "},
    {"a cable of copper", "/lockstep/ethtool.csv",
     LKS_STR_C("key,code,value\nmodule eth0,ok,names=ok vendor= part=MCP4Y10 serials=ok serial= "
               "firmware=none\n"),
     "optics.part@" PORT "=MCP4Y10 < ethtool module eth0\n"
     "optics.serial@" PORT "~ < ethtool module eth0\n"
     "firmware/optics@" PORT "~ < ethtool module eth0\n"},
    {"rings that the driver does not have", "/lockstep/ethtool.csv",
     LKS_STR_C("key,code,value\nring eth0,unavailable,ring: the driver does not answer this\n"
               "pause eth0,ok,rx=yes\n"),
     "settings.nic.options.rx_ring@" PORT "~ < ethtool ring eth0\n"
     "settings.nic.options.tx_ring@" PORT "~ < ethtool ring eth0\n"
     "settings.nic.options.rx_pause@" PORT "?ethtool pause eth0: no number for rx < "},
};

static void test_changes(void)
{
    for (size_t i = 0; i < LKS_COUNT(changes); i++) {
        lks_test_case("%s", changes[i].name);
        LKS_CLEANUP(lks_tree_free) struct lks_tree t = lks_tree_new();
        LKS_CLEANUP(lks_buf_fini) struct lks_buf content = LKS_BUF(8192);
        lks_buf_add(&content, changes[i].content);
        if (lks_str_is(changes[i].content, "X="))
            lks_buf_pad(&content, 'x', 5000);
        add_roce(&t);
        lks_tree_bytes(&t, changes[i].path, lks_buf_view(&content));
        CHECK_HEARD_HAS(lks_probe_nic, &t, changes[i].has);
    }
}

/* Answers ------------------------------------------------------------------------------------- */

static void add_version(struct lks_buf *out, uint16_t section, const char *name, const char *value)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf inner = LKS_BUF(4096);
    lks_nlattr_add_text(&inner, DEVLINK_ATTR_INFO_VERSION_NAME, lks_str_from(name));
    lks_nlattr_add_text(&inner, DEVLINK_ATTR_INFO_VERSION_VALUE, lks_str_from(value));
    lks_nlattr_add_nested(out, section, lks_buf_view(&inner));
}

/* What the kernel answers, as the line that is read and captured. */
#define LONG_NAME "fw.a-name-that-is-longer-than-any-that-drivers-use-today-and-goes-on"

static void test_devlink_answer(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf reply = {0}, line = {0};
    lks_buf_init(&reply, 4096);
    lks_buf_init(&line, 4096);
    lks_nlattr_add_text(&reply, DEVLINK_ATTR_BUS_NAME, LKS_STR("pci"));
    lks_nlattr_add_text(&reply, DEVLINK_ATTR_DEV_NAME, LKS_STR("0000:05:00.0"));
    lks_nlattr_add_text(&reply, DEVLINK_ATTR_INFO_DRIVER_NAME, LKS_STR("mlx5_core"));
    lks_nlattr_add_text(&reply, DEVLINK_ATTR_INFO_BOARD_SERIAL_NUMBER, LKS_STR("MT1"));
    add_version(&reply, DEVLINK_ATTR_INFO_VERSION_FIXED, "fw.psid", "MT_0000000838");
    add_version(&reply, DEVLINK_ATTR_INFO_VERSION_RUNNING, "fw.version", "28.39.1002");
    add_version(&reply, DEVLINK_ATTR_INFO_VERSION_STORED, "fw.version", "28.43 x");
    add_version(&reply, DEVLINK_ATTR_INFO_VERSION_STORED, LONG_NAME ".a", "1");
    add_version(&reply, DEVLINK_ATTR_INFO_VERSION_STORED, LONG_NAME ".b", "2");
    lks_devlink_words(lks_buf_view(&reply), &line);
    CHECK_STR(lks_buf_view(&line), "driver=mlx5_core board_serial=MT1 fixed:fw.psid=MT_0000000838 "
                                   "running:fw.version=28.39.1002 stored:fw.version=28.43%20x "
                                   "stored:" LONG_NAME ".a=1 stored:" LONG_NAME ".b=2");
}

static void test_dcb_answer(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf inner = {0}, reply = {0}, line = {0};
    struct ieee_pfc pfc = {.pfc_cap = 8, .pfc_en = 0x81};
    struct lks_err err = {0};
    lks_buf_init(&inner, 4096);
    lks_buf_init(&reply, 4096);
    lks_buf_init(&line, 4096);
    CHECK_CODE(lks_dcb_words(lks_buf_view(&reply), &line, &err), LKS_E_UNAVAILABLE);
    lks_nlattr_add(&inner, DCB_ATTR_IEEE_PFC, (struct lks_str){(const char *)&pfc, sizeof(pfc)});
    lks_nlattr_add_nested(&reply, DCB_ATTR_IEEE, lks_buf_view(&inner));
    CHECK_CODE(lks_dcb_words(lks_buf_view(&reply), &line, &err), LKS_OK);
    CHECK_STR(lks_buf_view(&line), "capable=8 enabled=0%207");
    lks_buf_truncate(&inner, 0);
    lks_buf_truncate(&reply, 0);
    lks_nlattr_add(&inner, DCB_ATTR_IEEE_PFC, (struct lks_str){(const char *)&pfc, 3});
    lks_nlattr_add_nested(&reply, DCB_ATTR_IEEE, lks_buf_view(&inner));
    CHECK_CODE(lks_dcb_words(lks_buf_view(&reply), &line, &err), LKS_E_INVALID);
}

/* Half of a module's memory is 128 bytes, and nothing else is taken for it. */
static void test_half_answer(void)
{
    static const char bytes[129] = {0};
    static const size_t lengths[] = {0, 1, 127, 128, 129};
    for (size_t i = 0; i < LKS_COUNT(lengths); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf reply = {0}, out = {0};
        struct lks_err err = {0};
        lks_buf_init(&reply, 4096);
        lks_buf_init(&out, 4096);
        lks_test_case("%zu bytes", lengths[i]);
        lks_nlattr_add(&reply, ETHTOOL_A_MODULE_EEPROM_DATA, (struct lks_str){bytes, lengths[i]});
        CHECK_CODE(lks_ethtool_half(lks_buf_view(&reply), &out, &err),
                   lengths[i] == 128 ? LKS_OK : LKS_E_INVALID);
        CHECK_INT(out.len, lengths[i] == 128 ? 128 : 0);
    }
}

static void test_module_answer(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(4096);
    struct lks_err err = {0};
    char bytes[LKS_SFF_BYTES] = {0};
    struct lks_str module = {bytes, sizeof(bytes)};
    CHECK_CODE(lks_ethtool_module(module, &line, &err), LKS_E_NOT_FOUND);
    bytes[0] = 0x19;
    memcpy(bytes + 39, "\x2e\x78", 2);
    memcpy(bytes + 129, "A B", 3);
    CHECK_CODE(lks_ethtool_module(module, &line, &err), LKS_OK);
    CHECK_STR(lks_buf_view(&line),
              "names=bad vendor=A%20B part= serials=bad serial= firmware=46.120");
}

static void test_none(void)
{
    LKS_CLEANUP(lks_tree_free) struct lks_tree t = lks_tree_new();
    CHECK_HEARD(lks_probe_nic, &t,
                "devices.nics?/sys/class: cannot be listed < /sys/class/infiniband\n"
                "nic.product?/sys/class: cannot be listed < /sys/class/net\n");
    lks_tree_dir(&t, "/sys/class/net");
    CHECK_HEARD(lks_probe_nic, &t, "devices.nics=0 < /sys/class/infiniband/*/ports\n");
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"nic infiniband", test_infiniband},
        {"nic roce", test_roce},
        {"nic interfaces", test_interfaces},
        {"nic counting", test_counting},
        {"nic fabric", test_fabric},
        {"nic beside the fabric", test_beside_fabric},
        {"nic managers", test_managers},
        {"nic dpu", test_dpu},
        {"nic part", test_part},
        {"nic changes", test_changes},
        {"nic devlink answer", test_devlink_answer},
        {"nic dcb answer", test_dcb_answer},
        {"half a module's memory", test_half_answer},
        {"nic module answer", test_module_answer},
        {"nic none", test_none},
        {0},
    });
}
