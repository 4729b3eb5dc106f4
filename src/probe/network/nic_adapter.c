#include "probe/network/nic.h"

#include "codec/format/kv.h"
#include "probe/network/devlink.h"
#include "probe/network/ethtool.h"

#include <stdio.h>

/* What is known of an adapter's firmware while it is put together from several places. */
struct firmware {
    struct lks_buf devlink, ethtool; /* answers; empty where there was none */
    char devlink_key[64], ethtool_key[LKS_ETHTOOL_EVIDENCE_SIZE];
    struct lks_err devlink_failed, ethtool_failed;
};

static void firmware_fini(struct firmware *f)
{
    lks_buf_fini(&f->devlink);
    lks_buf_fini(&f->ethtool);
}

/* BlueField: the network controller of a DPU, as the mlx5 driver's table of ids has them. */
static bool is_dpu(const struct lks_pci *pci)
{
    static const unsigned ids[] = {0xa2d2, 0xa2d3, 0xa2d6, 0xa2dc, 0xa2df};
    for (size_t i = 0; i < LKS_COUNT(ids); i++) {
        if (pci->vendor == LKS_PCI_MELLANOX && pci->device == ids[i])
            return true;
    }
    return false;
}

/* The value of the first of `keys` that a line of words has and that is not empty, in the arena. */
static struct lks_str first_of(struct lks_probe *p, const struct lks_buf *line,
                               const char *const *keys, const char **key)
{
    for (; *keys != NULL; keys++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf value = LKS_BUF(LKS_READING_VALUE_MAX);
        if (!lks_kv_get(lks_buf_view(line), *keys, &value) || value.len == 0)
            continue;
        if (key != NULL)
            *key = *keys;
        struct lks_str kept = lks_arena_copy(p->arena, lks_str_trim(lks_buf_view(&value)));
        return kept.ptr != NULL ? kept : LKS_STR("");
    }
    return LKS_STR("");
}

#define FIRST_OF(p, line, key, ...)                                                                \
    first_of((p), (line), (const char *const[]){__VA_ARGS__, NULL}, (key))

static void ask(struct lks_probe *p, const struct lks_nic *nic, struct firmware *f)
{
    lks_buf_init(&f->devlink, LKS_ROOT_FILE_MAX);
    lks_buf_init(&f->ethtool, LKS_ROOT_FILE_MAX);
    snprintf(f->devlink_key, sizeof(f->devlink_key), "devlink info pci/%s", nic->pci.address);
    f->devlink_failed.code =
        lks_devlink_info(p->root, nic->pci.address, &f->devlink, &f->devlink_failed);
    if (nic->interface[0] == '\0') {
        f->ethtool_failed.code =
            lks_fail(&f->ethtool_failed, LKS_E_NOT_FOUND, "%s: no interface", nic->name);
        return;
    }
    lks_ethtool_evidence(LKS_ETHTOOL_DRIVER, nic->interface, f->ethtool_key);
    f->ethtool_failed.code = lks_ethtool_ask(p->root, LKS_ETHTOOL_DRIVER, nic->interface,
                                             &f->ethtool, &f->ethtool_failed);
}

/* "28.39.1002 (MT_0000000838)": the version, and the board behind it. */
static struct lks_str split_board(struct lks_str text, struct lks_str *board)
{
    ptrdiff_t at = lks_str_find(text, LKS_STR(" ("));
    *board = LKS_STR("");
    if (at <= 0 || !lks_str_ends(text, ")"))
        return text;
    *board = (struct lks_str){text.ptr + at + 2, text.len - (size_t)at - 3};
    return (struct lks_str){text.ptr, (size_t)at};
}

static struct lks_str read_line(struct lks_probe *p, const struct lks_nic *nic, const char *file,
                                struct lks_err *err)
{
    char path[LKS_NIC_PATH_SIZE], line[LKS_ROOT_LINE_MAX];
    if (!nic->rdma) {
        err->code = lks_fail(err, LKS_E_NOT_FOUND, "%s: not an RDMA device", nic->name);
        return LKS_STR("");
    }
    if (lks_root_line(p->root, lks_probe_nic_path(path, nic->dir, file), line, err) != LKS_OK)
        return LKS_STR("");
    struct lks_str kept = lks_arena_copy(p->arena, lks_str_from(line));
    return kept.ptr != NULL ? kept : LKS_STR("");
}

/* What tells one board from another: the vendor's id of the board (PSID), else the part number,
 * else what is on the bus. */
static struct lks_str find_part(struct lks_probe *p, const struct lks_nic *nic,
                                const struct firmware *f)
{
    struct lks_err err = {0};
    struct lks_str board, part = read_line(p, nic, "board_id", &err);
    if (part.len == 0)
        part = FIRST_OF(p, &f->devlink, NULL, "fixed:fw.psid", "fixed:board.id");
    if (part.len == 0)
        part = lks_str_from(nic->vpd.part);
    if (part.len == 0) {
        (void)split_board(FIRST_OF(p, &f->ethtool, NULL, "firmware"), &board);
        part = board;
    }
    if (part.len == 0)
        part = lks_arena_format(p->arena, "%04x:%04x", nic->pci.vendor, nic->pci.device);
    return part.ptr != NULL ? part : LKS_STR("");
}

/* Several places were asked: a failure among them says more than that others had nothing. */
static const struct lks_err *worst(const struct lks_err *a, const struct lks_err *b)
{
    bool nothing = a->code == LKS_OK || a->code == LKS_E_NOT_FOUND || a->code == LKS_E_UNAVAILABLE;
    return nothing ? b : a;
}

static void say_staged(struct lks_probe *p, const struct lks_nic *nic, const struct firmware *f,
                       const char *key, struct lks_str running)
{
    char stored_key[64];
    snprintf(stored_key, sizeof(stored_key), "stored:%s", key + strlen("running:"));
    struct lks_str stored = FIRST_OF(p, &f->devlink, NULL, stored_key);
    if (stored.len > 0 && !lks_str_eq(stored, running))
        lks_probe_value(p, "nic.staged_firmware", nic->of, LKS_STR(""), stored, f->devlink_key);
    else if (stored.len > 0)
        lks_probe_absent(p, "nic.staged_firmware", nic->of, f->devlink_key);
}

static void say_firmware(struct lks_probe *p, const struct lks_nic *nic, const struct firmware *f)
{
    const char *name = is_dpu(&nic->pci) ? "firmware/dpu" : "firmware/nic";
    const char *key = NULL;
    char path[LKS_NIC_PATH_SIZE];
    struct lks_err err = {0};
    struct lks_str part = find_part(p, nic, f), board;
    struct lks_str version = FIRST_OF(p, &f->devlink, &key, "running:fw.version", "running:fw");
    if (version.len > 0) {
        lks_probe_value(p, name, nic->of, part, version, f->devlink_key);
        say_staged(p, nic, f, key, version);
        return;
    }
    version = read_line(p, nic, "fw_ver", &err);
    if (version.len > 0) {
        lks_probe_value(p, name, nic->of, part, version,
                        lks_probe_nic_path(path, nic->dir, "fw_ver"));
        return;
    }
    version = split_board(FIRST_OF(p, &f->ethtool, NULL, "firmware"), &board);
    if (version.len > 0 && !lks_str_is(version, "N/A")) {
        lks_probe_value(p, name, nic->of, part, version, f->ethtool_key);
        return;
    }
    const struct lks_err *why = worst(&f->devlink_failed, worst(&err, &f->ethtool_failed));
    if (why->code == LKS_OK || why->code == LKS_E_UNAVAILABLE)
        lks_probe_absent(p, name, nic->of, f->devlink_key);
    else
        lks_probe_failed(p, name, nic->of, f->devlink_key, why);
}

/* A text of the product data, or why there is none. */
static void say_vpd(struct lks_probe *p, const struct lks_nic *nic, const char *name,
                    const char *text)
{
    char path[LKS_PCI_PATH_SIZE];
    lks_pci_path(path, nic->pci.address, "vpd");
    if (nic->vpd_failed.code != LKS_OK)
        lks_probe_failed(p, name, nic->of, path, &nic->vpd_failed);
    else if (nic->vpd.damaged)
        lks_probe_unmeasured(p, name, nic->of, path, "%s: its product data is damaged", path);
    else if (text[0] == '\0')
        lks_probe_absent(p, name, nic->of, path);
    else
        lks_probe_value(p, name, nic->of, LKS_STR(""), lks_str_from(text), path);
}

static void say_product(struct lks_probe *p, const struct lks_nic *nic)
{
    char path[LKS_NIC_PATH_SIZE];
    struct lks_err err = {0};
    if (nic->vpd.product[0] != '\0') {
        say_vpd(p, nic, "nic.product", nic->vpd.product);
        return;
    }
    struct lks_str type = read_line(p, nic, "hca_type", &err);
    if (type.len > 0) {
        lks_probe_value(p, "nic.product", nic->of, LKS_STR(""), type,
                        lks_probe_nic_path(path, nic->dir, "hca_type"));
        return;
    }
    char id[16];
    snprintf(id, sizeof(id), "%04x:%04x", nic->pci.vendor, nic->pci.device);
    lks_probe_value(p, "nic.product", nic->of, LKS_STR(""), lks_str_from(id),
                    lks_probe_nic_path(path, nic->dir, "device/uevent"));
}

static void say_serial(struct lks_probe *p, const struct lks_nic *nic, const struct firmware *f)
{
    struct lks_str serial = FIRST_OF(p, &f->devlink, NULL, "board_serial", "serial");
    if (serial.len > 0 && nic->vpd.serial[0] == '\0')
        lks_probe_value(p, "nic.serial", nic->of, LKS_STR(""), serial, f->devlink_key);
    else
        say_vpd(p, nic, "nic.serial", nic->vpd.serial);
}

/* The module says its version where it was built apart from the kernel; else the driver answers
 * with the kernel's. */
static void say_driver(struct lks_probe *p, const struct lks_nic *nic, const struct firmware *f)
{
    char path[LKS_NIC_PATH_SIZE], line[LKS_ROOT_LINE_MAX], text[LKS_ROOT_LINE_MAX + 128];
    struct lks_err err = {0};
    const char *evidence = lks_probe_nic_path(path, nic->dir, "device/uevent");
    if (nic->pci.driver[0] == '\0') {
        lks_probe_absent(p, "nic.driver", nic->of, evidence);
        return;
    }
    char version[LKS_NIC_PATH_SIZE];
    snprintf(version, sizeof(version), "/sys/module/%s/version", nic->pci.driver);
    struct lks_str answer = FIRST_OF(p, &f->ethtool, NULL, "version");
    if (lks_root_line(p->root, version, line, &err) == LKS_OK) {
        answer = lks_str_from(line);
        evidence = version;
    } else if (answer.len > 0) {
        evidence = f->ethtool_key;
    }
    snprintf(text, sizeof(text), "%s%s%" LKS_STR_FMT, nic->pci.driver, answer.len > 0 ? " " : "",
             LKS_STR_ARG(answer));
    lks_probe_value(p, "nic.driver", nic->of, LKS_STR(""), lks_str_from(text), evidence);
}

void lks_nic_adapter(struct lks_probe *p, const struct lks_nic *nic)
{
    LKS_CLEANUP(firmware_fini) struct firmware f = {0};
    char path[LKS_NIC_PATH_SIZE];
    ask(p, nic, &f);
    say_firmware(p, nic, &f);
    say_product(p, nic);
    say_driver(p, nic, &f);
    say_serial(p, nic, &f);
    if (!nic->rdma)
        return;
    lks_probe_line(p, "nic.guid", nic->of, lks_probe_nic_path(path, nic->dir, "node_guid"));
    if (!nic->fabric)
        return;
    char vfs[LKS_PCI_PATH_SIZE];
    lks_pci_path(vfs, nic->pci.address, "sriov_numvfs");
    lks_nic_number(p, "settings.nic.options.num_vfs", nic->of, vfs);
}
