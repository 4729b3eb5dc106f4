/* Any bytes at all: structures lie one after the other within the table, and a table rebuilt from
 * those that were read has the same memory and the same kinds in it. */
#include "base/buf.h"
#include "codec/machine/smbios.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add_structure(struct lks_buf *out, const struct lks_smbios_structure *s)
{
    lks_buf_add(out, s->area);
    lks_buf_add(out, s->strings);
    lks_buf_pad(out, '\0', s->strings.len > 0 ? 1 : 2);
}

/* False where the table is broken; what came before that is in `out`. */
static bool rebuild(struct lks_str table, struct lks_buf *out)
{
    struct lks_smbios smbios;
    struct lks_smbios_structure s;
    struct lks_err err = {0};
    const char *next = table.ptr;
    bool more = true;
    lks_smbios_open(&smbios, table);
    for (;;) {
        if (lks_smbios_next(&smbios, &s, &more, &err) != LKS_OK)
            return false;
        if (!more)
            return true;
        LKS_ASSERT(s.area.ptr == next && s.area.len >= 4);
        LKS_ASSERT(s.strings.ptr == next + s.area.len);
        LKS_ASSERT(s.strings.len == 0 || s.strings.ptr[s.strings.len - 1] == '\0');
        next = s.strings.ptr + s.strings.len + (s.strings.len > 0 ? 1 : 2);
        LKS_ASSERT(next <= table.ptr + table.len);
        for (unsigned i = 0; i < 256; i++) {
            struct lks_str text = lks_smbios_string(&s, i);
            LKS_ASSERT(text.len == 0 || (text.ptr >= s.strings.ptr && text.ptr + text.len < next));
        }
        add_structure(out, &s);
    }
}

static void compare(struct lks_str a, struct lks_str b)
{
    struct lks_smbios_memory x = {0}, y = {0};
    struct lks_err err = {0};
    enum lks_code code = lks_smbios_memory(a, &x, &err);
    LKS_ASSERT(lks_smbios_memory(b, &y, &err) == code);
    LKS_ASSERT(x.bytes == y.bytes && x.modules == y.modules && x.slots == y.slots);
    LKS_ASSERT(x.modules <= x.slots);
    for (unsigned type = 0; type < 256; type++) {
        bool in_a = false, in_b = false;
        LKS_ASSERT(lks_smbios_has(a, (enum lks_smbios_type)type, &in_a, &err) == LKS_OK);
        LKS_ASSERT(lks_smbios_has(b, (enum lks_smbios_type)type, &in_b, &err) == LKS_OK);
        LKS_ASSERT(in_a == in_b);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf again = LKS_BUF(2 * LKS_SMBIOS_BYTES_MAX);
    struct lks_str table = {(const char *)data, size};
    if (size > LKS_SMBIOS_BYTES_MAX || !rebuild(table, &again))
        return 0;
    compare(table, lks_buf_view(&again));
    return 0;
}
