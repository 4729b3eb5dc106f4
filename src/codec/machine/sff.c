#include "codec/machine/sff.h"

/* Where a layout keeps what: offsets into lower memory and page 00h read as one. A checksum is the
 * low byte of the sum of the bytes from `first` to before `at`. */
struct sum {
    uint8_t first, at;
};

static const struct layout {
    uint8_t vendor, part, serial;
    struct sum names, serials;
    uint8_t firmware; /* major, then minor; 0: none */
    size_t bytes;     /* that must be there */
} layouts[] = {
    [LKS_SFF_8472] = {20, 40, 68, {0, 63}, {64, 95}, 0, 96},
    [LKS_SFF_8636] = {148, 168, 196, {128, 191}, {192, 223}, 0, 224},
    [LKS_SFF_CMIS] = {129, 148, 166, {128, 222}, {128, 222}, 39, 223},
};

/* SFF-8024, table 4-1: those that pluggable modules of network adapters have. */
static const struct {
    uint8_t identifier;
    enum lks_sff_layout layout;
} identifiers[] = {
    {0x03, LKS_SFF_8472}, /* SFP, SFP+, SFP28 */
    {0x0b, LKS_SFF_8472}, /* DWDM SFP */
    {0x0c, LKS_SFF_8636}, /* QSFP */
    {0x0d, LKS_SFF_8636}, /* QSFP+ */
    {0x11, LKS_SFF_8636}, /* QSFP28 and QSFP56 */
    {0x18, LKS_SFF_CMIS}, /* QSFP-DD */
    {0x19, LKS_SFF_CMIS}, /* OSFP */
    {0x1b, LKS_SFF_CMIS}, /* DSFP */
    {0x1e, LKS_SFF_CMIS}, /* QSFP+ or later with CMIS: QSFP112 */
    {0x1f, LKS_SFF_CMIS}, /* SFP-DD with CMIS */
    {0x20, LKS_SFF_CMIS}, /* SFP with CMIS */
};

static const struct layout *find_layout(uint8_t identifier, enum lks_sff_layout *out)
{
    for (size_t i = 0; i < LKS_COUNT(identifiers); i++) {
        if (identifiers[i].identifier == identifier) {
            *out = identifiers[i].layout;
            return &layouts[*out];
        }
    }
    return NULL;
}

static bool sum_holds(struct lks_str bytes, struct sum s)
{
    unsigned sum = 0;
    for (size_t i = s.first; i < s.at; i++)
        sum += (unsigned char)bytes.ptr[i];
    return (sum & 0xff) == (unsigned char)bytes.ptr[s.at];
}

/* Sixteen characters, padded with blanks; some makers pad with zeroes. */
static bool take_text(struct lks_str bytes, size_t at, char out[LKS_SFF_TEXT_SIZE])
{
    struct lks_str text = {bytes.ptr + at, LKS_SFF_TEXT_SIZE - 1};
    while (text.len > 0 && (text.ptr[text.len - 1] == '\0' || text.ptr[text.len - 1] == ' '))
        text.len--;
    while (text.len > 0 && text.ptr[0] == ' ')
        text = (struct lks_str){text.ptr + 1, text.len - 1};
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < ' ' || text.ptr[i] > '~')
            return false;
    }
    memcpy(out, text.ptr, text.len);
    out[text.len] = '\0';
    return true;
}

static void take_firmware(struct lks_str bytes, const struct layout *l, struct lks_sff *out)
{
    if (l->firmware == 0)
        return;
    out->major = (uint8_t)bytes.ptr[l->firmware];
    out->minor = (uint8_t)bytes.ptr[l->firmware + 1];
    if (out->major == 0xff && out->minor == 0xff)
        out->firmware = LKS_SFF_BAD_FIRMWARE;
    else if (out->major != 0 || out->minor != 0)
        out->firmware = LKS_SFF_FIRMWARE;
}

enum lks_code lks_sff_parse(struct lks_str bytes, struct lks_sff *out, struct lks_err *err)
{
    if (bytes.len == 0)
        return lks_fail(err, LKS_E_INVALID, "module memory: no bytes");
    struct lks_sff sff = {.identifier = (uint8_t)bytes.ptr[0]};
    if (sff.identifier == 0 || sff.identifier == 0xff)
        return lks_fail(err, LKS_E_NOT_FOUND, "module memory: no module answers");
    const struct layout *l = find_layout(sff.identifier, &sff.layout);
    if (l == NULL)
        return lks_fail(err, LKS_E_INVALID, "module memory: identifier %02Xh is of no known layout",
                        sff.identifier);
    if (bytes.len < l->bytes)
        return lks_fail(err, LKS_E_INVALID, "module memory: %zu bytes where %zu are needed",
                        bytes.len, l->bytes);
    if (!take_text(bytes, l->vendor, sff.vendor) || !take_text(bytes, l->part, sff.part) ||
        !take_text(bytes, l->serial, sff.serial))
        return lks_fail(err, LKS_E_INVALID, "module memory: its names are no text");
    sff.names_ok = sum_holds(bytes, l->names);
    sff.serial_ok = sum_holds(bytes, l->serials);
    take_firmware(bytes, l, &sff);
    *out = sff;
    return LKS_OK;
}
