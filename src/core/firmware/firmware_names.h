/*
 * What vendors call the firmware of their devices, and what it is: data/firmware-names.csv, read in
 * order, the first row that fits.
 */
#ifndef LKS_CORE_FIRMWARE_NAMES_H
#define LKS_CORE_FIRMWARE_NAMES_H

#include "model/facts/facts.h"

#define LKS_FIRMWARE_RELATED_MAX 4

/* What an inventory entry says of itself. */
struct lks_firmware_hint {
    struct lks_str vendor; /* of the service, from lks_firmware_vendor(); or empty */
    struct lks_str id, name, software_id, description, manufacturer;
    struct lks_str related[LKS_FIRMWARE_RELATED_MAX]; /* the first of them; empty behind the last */
};

struct lks_firmware_name {
    struct lks_str class; /* of components.csv; empty: no row fits */
    struct lks_str of;    /* the kind of device, "gpu"; empty: there is one */
    int index;            /* which of several, as the entry numbers it; -1: it has no number */
    struct lks_str bank;  /* "active", "staged", "backup", "golden" */
    struct lks_str key;   /* what stays the same when the version changes; a part of hint->id */
};

/* Views of the facts and of the hint. An entry that no row names has at least its bank and its key
 * where its id tells them. */
struct lks_firmware_name lks_firmware_name(const struct lks_facts *facts,
                                           const struct lks_firmware_hint *hint);

/* The vendor by what the service root says (Vendor, Product, names of its OEM objects), as
 * firmware-names.csv calls it; empty: no row fits. */
struct lks_str lks_firmware_vendor(struct lks_str vendor, struct lks_str product,
                                   struct lks_str oem);

#endif
