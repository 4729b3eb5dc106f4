#include "tests/dmi.h"

#include "base/compiler.h"

size_t lks_dmi_add(struct lks_buf *out, unsigned type, unsigned handle, unsigned length,
                   const char *strings)
{
    size_t at = out->len;
    lks_buf_addc(out, (char)type);
    lks_buf_addc(out, (char)length);
    lks_buf_addc(out, (char)(handle & 0xff));
    lks_buf_addc(out, (char)(handle >> 8));
    lks_buf_pad(out, '\0', (ptrdiff_t)length - 4);
    for (const char *c = strings; *c != '\0'; c++)
        lks_buf_addc(out, *c == '|' ? '\0' : *c);
    lks_buf_pad(out, '\0', 2);
    return at;
}

void lks_dmi_set(struct lks_buf *out, size_t at, size_t offset, size_t bytes, uint64_t value)
{
    LKS_ASSERT(at + offset + bytes <= out->len);
    for (size_t i = 0; i < bytes; i++)
        out->ptr[at + offset + i] = (char)(value >> (8 * i));
}

void lks_dmi_module(struct lks_buf *out, unsigned handle, unsigned array, uint64_t mib)
{
    size_t at = lks_dmi_add(out, 17, handle, 0x54, "DIMM_A1|NODE 0|Maker|12345678|M329R8GA0BB0");
    lks_dmi_set(out, at, 0x04, 2, array);
    lks_dmi_set(out, at, 0x0c, 2, mib < 0x7fff ? mib : 0x7fff);
    lks_dmi_set(out, at, 0x1c, 4, mib < 0x7fff ? 0 : mib);
    lks_dmi_set(out, at, 0x28, 1, 3); /* DRAM */
    lks_dmi_set(out, at, 0x3c, 8, mib << 20);
}

void lks_dmi_end(struct lks_buf *out)
{
    (void)lks_dmi_add(out, 127, 0xfeff, 4, "");
}
