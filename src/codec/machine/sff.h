/*
 * What a transceiver or cable says of itself: the first 256 bytes of its memory, in the layout that
 * its identifier (SFF-8024) stands for.
 *
 *     SFF-8472  SFP and its kin          bytes 0 to 127 of address A0h
 *     SFF-8636  QSFP, QSFP+, QSFP28      lower memory and page 00h
 *     CMIS      QSFP-DD, OSFP and later  lower memory and page 00h
 *
 * Firmware revisions are in CMIS alone. Pure: bytes in, a struct without pointers out.
 */
#ifndef LKS_CODEC_SFF_H
#define LKS_CODEC_SFF_H

#include "base/err.h"
#include "base/str.h"

#define LKS_SFF_BYTES     256
#define LKS_SFF_TEXT_SIZE 17 /* 16 characters and the terminator */

enum lks_sff_layout { LKS_SFF_8472, LKS_SFF_8636, LKS_SFF_CMIS };

enum lks_sff_firmware {
    LKS_SFF_NO_FIRMWARE, /* the layout has no place for it, or the module says it runs none */
    LKS_SFF_FIRMWARE,
    LKS_SFF_BAD_FIRMWARE, /* the module says its image is invalid */
};

/* Texts are printable ASCII without padding; they may be empty. */
struct lks_sff {
    enum lks_sff_layout layout;
    uint8_t identifier;
    char vendor[LKS_SFF_TEXT_SIZE];
    char part[LKS_SFF_TEXT_SIZE];
    char serial[LKS_SFF_TEXT_SIZE];
    bool names_ok;  /* vendor and part are as their checksum says */
    bool serial_ok; /* the same for the serial number */
    enum lks_sff_firmware firmware;
    uint8_t major, minor; /* of the firmware that runs */
};

/* NOT_FOUND where nothing is plugged in (identifier 00h or FFh); INVALID for an identifier whose
 * layout is not known here, for too few bytes, and for texts that are none. */
enum lks_code lks_sff_parse(struct lks_str bytes, struct lks_sff *out,
                            struct lks_err *err) LKS_MUST_CHECK;

#endif
