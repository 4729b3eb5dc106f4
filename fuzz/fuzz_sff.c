/* Any bytes at all: what is accepted depends on the first 256 alone, its texts print, and a byte
 * that is changed under a good checksum is noticed. */
#include "base/buf.h"
#include "codec/machine/sff.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool same(const struct lks_sff *a, const struct lks_sff *b)
{
    return a->layout == b->layout && a->identifier == b->identifier &&
           strcmp(a->vendor, b->vendor) == 0 && strcmp(a->part, b->part) == 0 &&
           strcmp(a->serial, b->serial) == 0 && a->names_ok == b->names_ok &&
           a->serial_ok == b->serial_ok && a->firmware == b->firmware && a->major == b->major &&
           a->minor == b->minor;
}

/* Where the part number and the serial number of a layout begin. */
static const size_t parts[] = {[LKS_SFF_8472] = 40, [LKS_SFF_8636] = 168, [LKS_SFF_CMIS] = 148};
static const size_t serials[] = {[LKS_SFF_8472] = 68, [LKS_SFF_8636] = 196, [LKS_SFF_CMIS] = 166};

static void check_change(struct lks_str bytes, size_t at, const struct lks_sff *sff)
{
    char changed[LKS_SFF_BYTES];
    struct lks_sff other;
    struct lks_err err = {0};
    memcpy(changed, bytes.ptr, bytes.len);
    changed[at] = changed[at] == 'x' ? 'y' : 'x';
    enum lks_code code = lks_sff_parse((struct lks_str){changed, bytes.len}, &other, &err);
    LKS_ASSERT(code == LKS_OK);
    bool name = at == parts[sff->layout];
    LKS_ASSERT(!(name ? sff->names_ok : sff->serial_ok) ||
               !(name ? other.names_ok : other.serial_ok));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lks_str all = {(const char *)data, size};
    struct lks_str first = {all.ptr, size < LKS_SFF_BYTES ? size : LKS_SFF_BYTES};
    struct lks_sff sff, again;
    struct lks_err err = {0};
    if (lks_sff_parse(all, &sff, &err) != LKS_OK) {
        LKS_ASSERT(lks_str_starts(lks_str_from(err.msg), "module memory: "));
        return 0;
    }
    enum lks_code code = lks_sff_parse(first, &again, &err);
    LKS_ASSERT(code == LKS_OK && same(&sff, &again));
    LKS_ASSERT(lks_str_printable(lks_str_from(sff.vendor)));
    LKS_ASSERT(lks_str_printable(lks_str_from(sff.part)));
    LKS_ASSERT(lks_str_printable(lks_str_from(sff.serial)));
    check_change(first, parts[sff.layout], &sff);
    check_change(first, serials[sff.layout], &sff);
    return 0;
}
