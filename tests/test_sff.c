#include "codec/machine/sff.h"

#include "tests/test.h"

#include <stdio.h>

/* Module memory with what identifies it; offsets are those of the specifications. */
struct image {
    char bytes[LKS_SFF_BYTES];
};

static void put(struct image *m, size_t at, const char *text)
{
    memset(m->bytes + at, ' ', 16);
    memcpy(m->bytes + at, text, strlen(text));
}

static void sum(struct image *m, size_t first, size_t at)
{
    unsigned total = 0;
    for (size_t i = first; i < at; i++)
        total += (unsigned char)m->bytes[i];
    m->bytes[at] = (char)(total & 0xff);
}

/* SFF-8472: a cable of 25G. */
static struct image sfp(void)
{
    struct image m = {{0}};
    m.bytes[0] = 0x03;
    put(&m, 20, "Mellanox");
    put(&m, 40, "MCP2M00-A001E30N");
    put(&m, 68, "MT2010VS00123");
    sum(&m, 0, 63);
    sum(&m, 64, 95);
    return m;
}

/* SFF-8636: a cable of 100G. */
static struct image qsfp(char identifier)
{
    struct image m = {{0}};
    m.bytes[0] = m.bytes[128] = identifier;
    put(&m, 148, "Mellanox");
    put(&m, 168, "MFA1A00-C010");
    put(&m, 196, "MT1925FT00042");
    sum(&m, 128, 191);
    sum(&m, 192, 223);
    return m;
}

/* CMIS: a transceiver of 800G. */
static struct image osfp(char identifier, char major, char minor)
{
    struct image m = {{0}};
    m.bytes[0] = m.bytes[128] = identifier;
    m.bytes[39] = major;
    m.bytes[40] = minor;
    put(&m, 129, "NVIDIA");
    put(&m, 148, "MMA4Z00-NS");
    put(&m, 166, "MT2321FT01234");
    sum(&m, 128, 222);
    return m;
}

static void check(const struct image *m, const char *want)
{
    struct lks_sff sff;
    struct lks_err err = {0};
    static const char *const firmware[] = {"none", "runs", "bad"};
    char shown[128];
    if (!CHECK_CODE(lks_sff_parse((struct lks_str){m->bytes, sizeof(m->bytes)}, &sff, &err),
                    LKS_OK))
        return;
    snprintf(shown, sizeof(shown), "%s|%s|%s|%d%d|%s %u.%u", sff.vendor, sff.part, sff.serial,
             sff.names_ok, sff.serial_ok, firmware[sff.firmware], sff.major, sff.minor);
    CHECK_STR(lks_str_from(shown), want);
}

static void test_layouts(void)
{
    struct image m = sfp();
    check(&m, "Mellanox|MCP2M00-A001E30N|MT2010VS00123|11|none 0.0");
    for (size_t i = 0; i < 3; i++) {
        static const char identifiers[] = {0x0c, 0x0d, 0x11};
        m = qsfp(identifiers[i]);
        check(&m, "Mellanox|MFA1A00-C010|MT1925FT00042|11|none 0.0");
    }
    for (size_t i = 0; i < 6; i++) {
        static const char identifiers[] = {0x18, 0x19, 0x1b, 0x1e, 0x1f, 0x20};
        m = osfp(identifiers[i], 46, 120);
        check(&m, "NVIDIA|MMA4Z00-NS|MT2321FT01234|11|runs 46.120");
    }
}

static void test_firmware(void)
{
    struct image m = osfp(0x19, 0, 0); /* a cable of copper has none */
    check(&m, "NVIDIA|MMA4Z00-NS|MT2321FT01234|11|none 0.0");
    m = osfp(0x19, '\xff', '\xff');
    check(&m, "NVIDIA|MMA4Z00-NS|MT2321FT01234|11|bad 255.255");
    m = osfp(0x19, 0, 7);
    check(&m, "NVIDIA|MMA4Z00-NS|MT2321FT01234|11|runs 0.7");
}

/* A wrong byte is noticed where its checksum is, and there alone. */
static void test_checksums(void)
{
    struct image m = qsfp(0x11);
    m.bytes[170] = 'X';
    check(&m, "Mellanox|MFX1A00-C010|MT1925FT00042|01|none 0.0");
    m = qsfp(0x11);
    m.bytes[198] = 'X';
    check(&m, "Mellanox|MFA1A00-C010|MTX925FT00042|10|none 0.0");
    m = osfp(0x19, 46, 120);
    m.bytes[200] = 1;
    check(&m, "NVIDIA|MMA4Z00-NS|MT2321FT01234|00|runs 46.120");
}

static void test_padding(void)
{
    struct image m = qsfp(0x11);
    memset(m.bytes + 168, 0, 16);
    memcpy(m.bytes + 168, "P 1", 3);
    sum(&m, 128, 191);
    check(&m, "Mellanox|P 1|MT1925FT00042|11|none 0.0");
    memset(m.bytes + 148, ' ', 16);
    sum(&m, 128, 191);
    check(&m, "|P 1|MT1925FT00042|11|none 0.0");
}

static void test_refused(void)
{
    static const struct {
        const char *name;
        size_t len;
        char identifier;
        enum lks_code code;
        const char *message;
    } rows[] = {
        {"no bytes", 0, 0x11, LKS_E_INVALID, "module memory: no bytes"},
        {"nothing plugged in", 256, 0x00, LKS_E_NOT_FOUND, "module memory: no module answers"},
        {"nothing on the bus", 256, '\xff', LKS_E_NOT_FOUND, "module memory: no module answers"},
        {"unknown", 256, 0x0a, LKS_E_INVALID,
         "module memory: identifier 0Ah is of no known layout"},
        {"the lower half alone", 128, 0x11, LKS_E_INVALID,
         "module memory: 128 bytes where 224 are needed"},
        {"one byte short", 222, 0x19, LKS_E_INVALID,
         "module memory: 222 bytes where 223 are needed"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        struct image m = qsfp(rows[i].identifier);
        struct lks_sff sff;
        struct lks_err err = {0};
        CHECK_CODE(lks_sff_parse((struct lks_str){m.bytes, rows[i].len}, &sff, &err), rows[i].code);
        CHECK_STR(lks_str_from(err.msg), rows[i].message);
    }
    struct image m = qsfp(0x11);
    struct lks_sff sff;
    struct lks_err err = {0};
    m.bytes[150] = '\x1b';
    CHECK_CODE(lks_sff_parse((struct lks_str){m.bytes, sizeof(m.bytes)}, &sff, &err),
               LKS_E_INVALID);
    CHECK_STR(lks_str_from(err.msg), "module memory: its names are no text");
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"sff layouts", test_layouts},
        {"sff firmware", test_firmware},
        {"sff checksums", test_checksums},
        {"sff padding", test_padding},
        {"sff refused", test_refused},
        {0},
    });
}
