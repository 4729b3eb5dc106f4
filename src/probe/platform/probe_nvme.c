#include "probe/root/probes.h"

#include <stdio.h>

/* Drives on PCIe. Controllers of drives that are reached over a network (tcp, rdma, fc) are of
 * another machine and not looked at. */

#define NVME_DIR "/sys/class/nvme"

enum { NAME_MAX_LEN = 64, PATH_SIZE = 160 };

static const char *path_of(char out[PATH_SIZE], struct lks_str drive, const char *file)
{
    int len = snprintf(out, PATH_SIZE, NVME_DIR "/%" LKS_STR_FMT "/%s", LKS_STR_ARG(drive), file);
    LKS_ASSERT(len > 0 && len < PATH_SIZE);
    return out;
}

static enum lks_code is_local(struct lks_probe *p, struct lks_str drive, bool *local,
                              struct lks_err *err)
{
    char path[PATH_SIZE], line[LKS_ROOT_LINE_MAX];
    if (drive.len > NAME_MAX_LEN)
        return lks_fail(err, LKS_E_LIMIT, NVME_DIR ": a name of %zu bytes", drive.len);
    if (lks_root_line(p->root, path_of(path, drive, "transport"), line, err) != LKS_OK)
        return err->code == LKS_E_NOT_FOUND
                   ? lks_fail(err, LKS_E_UNAVAILABLE, "%s: does not say how it is attached", path)
                   : err->code;
    *local = strcmp(line, "pcie") == 0;
    return LKS_OK;
}

/* The firmware goes with the model, which stands for the part number drives do not tell. */
static void say_drive(struct lks_probe *p, struct lks_str drive)
{
    char label[NAME_MAX_LEN + 8], path[PATH_SIZE];
    char model[LKS_ROOT_LINE_MAX] = "", line[LKS_ROOT_LINE_MAX];
    struct lks_err err = {0};
    snprintf(label, sizeof(label), "nvme %" LKS_STR_FMT, LKS_STR_ARG(drive));
    struct lks_str of = lks_str_from(label);
    if (lks_root_line(p->root, path_of(path, drive, "model"), model, &err) == LKS_OK)
        lks_probe_value(p, "nvme.model", of, LKS_STR(""), lks_str_from(model), path);
    else
        lks_probe_failed(p, "nvme.model", of, path, &err);
    if (lks_root_line(p->root, path_of(path, drive, "firmware_rev"), line, &err) == LKS_OK)
        lks_probe_value(p, "firmware/nvme", of, lks_str_from(model), lks_str_from(line), path);
    else
        lks_probe_failed(p, "firmware/nvme", of, path, &err);
    lks_probe_line(p, "nvme.serial", of, path_of(path, drive, "serial"));
    lks_probe_line(p, "nvme.state", of, path_of(path, drive, "state"));
}

/* Without the directory the driver is not loaded, and no drive is in use. */
static enum lks_code list_drives(struct lks_probe *p, struct lks_names *out, struct lks_err *err)
{
    enum lks_code code = lks_root_list(p->root, NVME_DIR, p->arena, out, err);
    if (code != LKS_E_NOT_FOUND)
        return code;
    struct lks_names classes;
    *out = (struct lks_names){0};
    if (lks_root_list(p->root, "/sys/class", p->arena, &classes, err) != LKS_OK)
        return lks_fail(err, LKS_E_UNAVAILABLE, "/sys/class: cannot be listed");
    return LKS_OK;
}

void lks_probe_nvme(struct lks_probe *p)
{
    struct lks_names drives;
    struct lks_err err = {0}, unclear = {0};
    if (list_drives(p, &drives, &err) != LKS_OK) {
        lks_probe_unmeasured(p, "devices.nvmes", LKS_STR(""), NVME_DIR, "%s", err.msg);
        return;
    }
    size_t count = 0;
    for (size_t i = 0; i < drives.count; i++) {
        bool local = false;
        if (is_local(p, drives.list[i], &local, &err) != LKS_OK)
            unclear = err;
        count += local;
        if (local)
            say_drive(p, drives.list[i]);
    }
    lks_probe_counted(p, "devices.nvmes", count, &unclear, NVME_DIR "/*/transport");
}
