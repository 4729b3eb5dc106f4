#include "model/tuple/tuple.h"
#include "sim/campaign.h"

#include <stdio.h>
#include <stdlib.h>

const struct cam_axis_info cam_axes[CAM_AXES] = {
    [CAM_DRIVER] = {.component = "driver",
                    .reading = "driver",
                    .of = "",
                    .versions = {"580.126.16", "580.126.20", "580.178.04"},
                    .inband = true,
                    .package = "nvidia-driver_",
                    .ending = "_amd64.deb"},
    [CAM_DCGM] = {.component = "dcgm",
                  .reading = "dcgm",
                  .of = "",
                  .versions = {"4.5.2-1", "4.5.3", "4.6.0-1"},
                  .inband = true,
                  .package = "datacenter-gpu-manager_",
                  .ending = "_amd64.deb"},
    [CAM_POWER] = {.component = "settings.power_limit_w",
                   .reading = "settings.power_limit_w",
                   .of = "gpu 0000:18:00.0",
                   .versions = {"700", "650", "600"},
                   .inband = true},
    [CAM_BMC] = {.component = "bmc",
                 .reading = "firmware/bmc",
                 .of = "",
                 .versions = {"1.0.0", "2.0.0", "3.0.0"},
                 .inband = true,
                 .outband = true,
                 .flashed = true,
                 .package = "bmc-",
                 .ending = ".fwpkg"},
    [CAM_BIOS] = {.component = "bios",
                  .reading = "firmware/bios",
                  .of = "",
                  .versions = {"2.4.1", "2.5.0", "2.6.0"},
                  .inband = true,
                  .outband = true,
                  .flashed = true,
                  .package = "bios-",
                  .ending = ".fwpkg"},
    [CAM_BOARD] = {.component = "hgx-firmware",
                   .reading = "firmware/hgx-firmware",
                   .of = "",
                   .versions = {"1.6.0", "1.7.1", "1.8.0"},
                   .outband = true,
                   .flashed = true,
                   .package = "hgx-",
                   .ending = ".fwpkg"},
    [CAM_NVOS] = {.component = "nvos",
                  .reading = "firmware/nvos",
                  .of = "",
                  .versions = {"25.02.1", "25.02.2", "25.02.3"},
                  .type = CAM_SWITCH_TRAY,
                  .outband = true,
                  .flashed = true,
                  .package = "nvos-",
                  .ending = ".bin"},
    [CAM_SHELF] = {.component = "power-shelf",
                   .reading = "firmware/power-shelf",
                   .of = "",
                   .versions = {"1.4.1", "1.4.2", "1.4.3"},
                   .type = CAM_POWER_SHELF,
                   .outband = true,
                   .flashed = true,
                   .package = "shelf-",
                   .ending = ".fwpkg"},
    [CAM_HMC] = {.component = "hmc",
                 .reading = "firmware/hmc",
                 .of = "",
                 .versions = {"4.0.1", "4.1.0", "4.2.0"},
                 .inband = true,
                 .outband = true,
                 .flashed = true,
                 .package = "hmc-",
                 .ending = ".fwpkg"},
};

unsigned cam_version(cam_truth truth, enum cam_axis axis)
{
    return truth >> CAM_AXIS_BITS * (unsigned)axis & CAM_VERSION_ODD;
}

cam_truth cam_with(cam_truth truth, enum cam_axis axis, unsigned version)
{
    unsigned shift = CAM_AXIS_BITS * (unsigned)axis;
    return (truth & ~((cam_truth)CAM_VERSION_ODD << shift)) | (cam_truth)version << shift;
}

/* The part of a truth, or of a stack, that a machine of this type can have. */
cam_truth cam_of_type(cam_truth truth, enum cam_type type)
{
    cam_truth mask = 0;
    for (unsigned a = 0; a < CAM_AXES; a++)
        mask |= cam_axes[a].type == type ? (cam_truth)CAM_VERSION_ODD << CAM_AXIS_BITS * a : 0;
    return truth & mask;
}

const char *cam_version_text(enum cam_axis axis, unsigned version)
{
    return version < CAM_STACKS ? cam_axes[axis].versions[version] : "0.0.1";
}

bool cam_axis_find(struct lks_str component, enum cam_axis *out)
{
    for (unsigned a = 0; a < CAM_AXES; a++) {
        if (!lks_str_is(component, cam_axes[a].component) &&
            !lks_str_is(component, cam_axes[a].reading))
            continue;
        *out = (enum cam_axis)a;
        return true;
    }
    return false;
}

bool cam_version_find(enum cam_axis axis, struct lks_str text, unsigned *out)
{
    for (unsigned v = 0; v < CAM_STACKS; v++) {
        if (!lks_str_is(text, cam_axes[axis].versions[v]))
            continue;
        *out = v;
        return true;
    }
    return false;
}

/* Tuples, made once for all seeds ----------------------------------------------------------- */

struct made {
    bool there, outband;
    enum cam_type type;
    cam_truth truth;
    struct lks_tuple tuple;
    uint8_t digest[LKS_HASH_BYTES];
};
enum { MADE_MAX = 1 << 16 };
static struct made *made; /* open addressing */
static size_t made_count;

static void add_reading(struct lks_tuple *t, const char *name, const char *of, const char *value)
{
    lks_tuple_add(t, &(struct lks_reading){.name = lks_str_from(name),
                                           .of = lks_str_from(of),
                                           .part = LKS_STR(""),
                                           .state = LKS_MEASURED,
                                           .value = lks_str_from(value),
                                           .evidence = LKS_STR("as simulated")});
}

static void fill(struct made *m)
{
    static const char *const absent[] = {"cuda", "nccl", "container-toolkit"};
    struct lks_err err = {0};
    lks_tuple_init(&m->tuple);
    for (unsigned a = 0; a < CAM_AXES; a++) {
        const struct cam_axis_info *i = &cam_axes[a];
        unsigned version = cam_version(m->truth, (enum cam_axis)a);
        if (i->type == m->type && (m->outband ? i->outband : i->inband))
            add_reading(&m->tuple, i->reading, i->of, cam_version_text((enum cam_axis)a, version));
        if (i->type == m->type && m->outband && i->flashed) {
            char name[64];
            (void)snprintf(name, sizeof(name), "switch/%s", i->component);
            add_reading(&m->tuple, name, i->of, "offered");
        }
    }
    if (!m->outband) {
        add_reading(&m->tuple, "devices.gpus", "", "1");
        add_reading(&m->tuple, "gpu.product", cam_axes[CAM_POWER].of, "NVIDIA H200");
        add_reading(&m->tuple, "gpu.pci_id", cam_axes[CAM_POWER].of, "10de:2335");
        add_reading(&m->tuple, "platform.os", "", "Ubuntu 24.04");
        add_reading(&m->tuple, "kernel", "", "6.8.0-71-generic");
        for (size_t i = 0; i < LKS_COUNT(absent); i++)
            lks_tuple_add(&m->tuple, &(struct lks_reading){.name = lks_str_from(absent[i]),
                                                           .state = LKS_ABSENT,
                                                           .of = LKS_STR(""),
                                                           .part = LKS_STR(""),
                                                           .value = LKS_STR(""),
                                                           .evidence = CAM_SAID});
    }
    LKS_ASSERT(lks_tuple_finish(&m->tuple, &err) == LKS_OK);
    const char *hex = m->tuple.digest + strlen("sha256:");
    for (unsigned i = 0; i < LKS_HASH_BYTES; i++) {
        uint64_t byte = 0;
        LKS_ASSERT(lks_str_hex((struct lks_str){hex + 2 * (size_t)i, 2}, 255, &byte));
        m->digest[i] = (uint8_t)byte;
    }
}

static struct made *find(cam_truth truth, enum cam_type type, bool outband)
{
    if (made == NULL) {
        made = calloc(MADE_MAX, sizeof(made[0]));
        LKS_ASSERT(made != NULL);
    }
    uint64_t key = (uint64_t)truth << 8 | (uint64_t)type << 1 | outband;
    size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 48);
    for (;; at = (at + 1) % MADE_MAX) {
        struct made *m = &made[at];
        if (m->there && m->truth == truth && m->type == type && m->outband == outband)
            return m;
        if (m->there)
            continue;
        LKS_ASSERT(++made_count < MADE_MAX / 2);
        *m = (struct made){.there = true, .outband = outband, .type = type, .truth = truth};
        fill(m);
        return m;
    }
}

const struct lks_tuple *cam_tuple(cam_truth truth, enum cam_type type, bool outband)
{
    return &find(truth, type, outband)->tuple;
}

const uint8_t *cam_tuple_digest(cam_truth truth)
{
    return find(truth, CAM_NODE, false)->digest;
}

void cam_tuples_free(void)
{
    for (size_t i = 0; i < MADE_MAX && made != NULL; i++)
        if (made[i].there)
            lks_tuple_fini(&made[i].tuple);
    free(made);
    made = NULL;
    made_count = 0;
}
