/*
 * PCI vital product data: what a board says of itself, in the format of the PCI specification
 * (appendix I of 2.2; resource data types of ISA plug and play).
 *
 *     82 LL HH text                  the product's name
 *     90 LL HH (K1 K2 NN data)...    fields that do not change: PN part, SN serial, EC revision,
 *                                    Vx the vendor's own, RV checksum of all before it
 *     91 LL HH (K1 K2 NN data)...    fields that may be written
 *     78                             the end
 *
 * Pure: bytes in, views of them out.
 */
#ifndef LKS_CODEC_VPD_H
#define LKS_CODEC_VPD_H

#include "base/err.h"
#include "base/str.h"

#define LKS_VPD_BYTES_MAX 32768 /* the capability's address has 15 bits */

/* One field. Data of the read-only and of the writable section are told apart. */
struct lks_vpd_field {
    char keyword[3];
    bool writable;
    struct lks_str data; /* as it is there, padding included */
};

/* All texts are views of the bytes, without padding at their ends, and empty where there is none.
 */
struct lks_vpd {
    struct lks_str bytes; /* up to and without the end tag */
    struct lks_str product;
    struct lks_str part, serial, revision;
    bool has_checksum;
    bool checksum_ok; /* false also when there is none */
};

/* NOT_FOUND for bytes that are all missing, zero or 0xff: no board wrote anything. INVALID for what
 * does not follow the format up to its end tag; the message names the offset. */
enum lks_code lks_vpd_parse(struct lks_str bytes, struct lks_vpd *out,
                            struct lks_err *err) LKS_MUST_CHECK;

/* The fields of parsed data, in order: start with a cursor of zeroes, false after the last. */
struct lks_vpd_cursor {
    size_t at;  /* offset of the next field, or of the next item where it is `end` */
    size_t end; /* of the section it is in */
    bool writable;
};
bool lks_vpd_next(const struct lks_vpd *vpd, struct lks_vpd_cursor *cursor,
                  struct lks_vpd_field *out);

/* Whether a field of the vendor's (V0 to VZ) contains `text`. */
bool lks_vpd_vendor_has(const struct lks_vpd *vpd, struct lks_str text);

#endif
