/* What the files about packages share; for them alone. */
#ifndef LKS_PLDM_PACKAGE_PARTS_H
#define LKS_PLDM_PACKAGE_PARTS_H

#include "pldm/package.h"

enum {
    LKS_PLDM_UUID_BYTES = 16,
    LKS_PLDM_HEADER_FIXED = 36,    /* up to the package's version */
    LKS_PLDM_RECORD_FIXED = 11,    /* up to the bitmap; without the length of the manifest */
    LKS_PLDM_COMPONENT_FIXED = 22, /* up to its version */
    LKS_PLDM_CRC_BYTES = 4,
};

/* The UUID that a header of each revision begins with; 0 is none. */
extern const uint8_t lks_pldm_identifiers[LKS_PLDM_REVISION_MAX + 1][LKS_PLDM_UUID_BYTES];

/* How people write the value of a descriptor. */
enum lks_pldm_manner {
    LKS_PLDM_AS_BYTES,      /* hexadecimal digits of what is stored */
    LKS_PLDM_AS_HEX_NUMBER, /* "10de" */
    LKS_PLDM_AS_NUMBER,     /* 5703 */
    LKS_PLDM_AS_UUID,
    LKS_PLDM_AS_TEXT,   /* exactly as long as it has to be */
    LKS_PLDM_AS_VENDOR, /* a title and a text */
};
enum lks_pldm_manner lks_pldm_package_manner(uint16_t type);

/* How many bytes values of this type have; 0: any number, or the type is not known. */
size_t lks_pldm_package_descriptor_len(uint16_t type);

/* 4 bytes of checksum behind the header, or 8 with that of the payload. */
size_t lks_pldm_package_checksum_bytes(uint8_t revision);

/* A deviation of a package is noted here. A lenient reader takes a note, a strict one fails. */
struct lks_pldm_judge {
    struct lks_pldm_package *notes; /* NULL: strict */
    struct lks_err *err;
};

enum lks_code lks_pldm_package_deviates(const struct lks_pldm_judge *judge, const char *fmt,
                                        ...) LKS_MUST_CHECK LKS_PRINTF(2, 3);

/* All rules about what was decoded, or is about to be encoded: whatever is not a question of
 * lengths alone. `file_size` is where images must end. */
enum lks_code lks_pldm_package_judge(const struct lks_pldm_package *p, uint64_t file_size,
                                     const struct lks_pldm_judge *judge) LKS_MUST_CHECK;

/* The indices of the components in the order of their images, to be released with free(); NULL when
 * memory runs out. */
uint16_t *lks_pldm_package_order(const struct lks_pldm_package *p);

/* CRC-32 as zlib has it, over any number of bytes; `crc` is 0 to begin with. */
uint32_t lks_pldm_package_crc(uint32_t crc, struct lks_str bytes);

#endif
