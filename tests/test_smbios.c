#include "codec/machine/smbios.h"

#include "tests/dmi.h"
#include "tests/test.h"

#include <stdio.h>

enum { TABLE_MAX = 2 * 1024 * 1024 };

/* A type, handle and length of each structure, then how many strings: "17:0x1100:84:5 127:...". */
static void show(struct lks_str table, struct lks_buf *out)
{
    struct lks_smbios smbios;
    struct lks_smbios_structure s;
    struct lks_err err = {0};
    lks_smbios_open(&smbios, table);
    for (bool more = true;;) {
        if (lks_smbios_next(&smbios, &s, &more, &err) != LKS_OK) {
            lks_buf_addf(out, "! %s", err.msg);
            return;
        }
        if (!more)
            return;
        unsigned strings = 0;
        while (lks_smbios_string(&s, strings + 1).len > 0)
            strings++;
        lks_buf_addf(out, "%u:0x%04x:%zu:%u ", s.type, s.handle, s.area.len, strings);
    }
}

#define BYTES(literal)                                                                             \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

static const struct {
    const char *name;
    struct lks_str table;
    const char *shown;
} tables[] = {
    {"empty", BYTES(""), ""},
    {"end alone", BYTES("\x7f\x04\xff\xfe\0\0"), "127:0xfeff:4:0 "},
    {"no end marker", BYTES("\x20\x05\x01\0\x07\0\0"), "32:0x0001:5:0 "},
    {"strings", BYTES("\x01\x06\x02\0\x01\x02one\0two\0\0\x7f\x04\0\0\0\0"),
     "1:0x0002:6:2 127:0x0000:4:0 "},
    {"bytes behind the end", BYTES("\x7f\x04\0\0\0\0\xff\xff\xff"), "127:0x0000:4:0 "},
    {"a header cut short", BYTES("\x7f\x04\0"), "! offset 0: a header that is cut short"},
    {"a length less than its header", BYTES("\x01\x03\0\0\0\0"),
     "! offset 0: a structure of 3 bytes in 6"},
    {"a length beyond the end", BYTES("\x01\x20\0\0\0\0"),
     "! offset 0: a structure of 32 bytes in 6"},
    {"no room for the zero bytes", BYTES("\x01\x04\0\0\0"), "! offset 0: strings that do not end"},
    {"strings without an end", BYTES("\x01\x04\0\0one"), "! offset 0: strings that do not end"},
    {"the second is broken", BYTES("\x01\x04\x07\0\0\0\x02\x02\0\0\0\0"),
     "1:0x0007:4:0 ! offset 6: a structure of 2 bytes in 6"},
};

static void test_tables(void)
{
    for (size_t i = 0; i < LKS_COUNT(tables); i++) {
        lks_test_case("%s", tables[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf shown = LKS_BUF(TABLE_MAX);
        show(tables[i].table, &shown);
        CHECK_STR(lks_buf_view(&shown), tables[i].shown);
    }
}

static void test_strings(void)
{
    struct lks_smbios smbios;
    struct lks_smbios_structure s;
    struct lks_err err = {0};
    bool more = false;
    struct lks_str table = BYTES("\x01\x06\x02\0\x01\x02one\0two\0\0");
    lks_smbios_open(&smbios, table);
    CHECK_CODE(lks_smbios_next(&smbios, &s, &more, &err), LKS_OK);
    CHECK_STR(lks_smbios_string(&s, 0), "");
    CHECK_STR(lks_smbios_string(&s, 1), "one");
    CHECK_STR(lks_smbios_string(&s, 2), "two");
    CHECK_STR(lks_smbios_string(&s, 3), "");
    CHECK_STR(lks_smbios_string(&s, 255), "");
}

/* Memory ------------------------------------------------------------------------------------- */

enum { ARRAY = 0x1000, FLASH = 0x1001 };

/* An array of system memory (use 3) and one of flash (use 5). */
static void add_arrays(struct lks_buf *t)
{
    lks_dmi_set(t, lks_dmi_add(t, 16, ARRAY, 0x17, ""), 0x05, 1, 3);
    lks_dmi_set(t, lks_dmi_add(t, 16, FLASH, 0x17, ""), 0x05, 1, 5);
}

static size_t last(const struct lks_buf *t, unsigned strings_and_end)
{
    return t->len - 0x54 - strings_and_end;
}

enum { MODULE_TAIL = sizeof("DIMM_A1|NODE 0|Maker|12345678|M329R8GA0BB0") + 1 };

static void server(struct lks_buf *t)
{
    add_arrays(t);
    for (unsigned i = 0; i < 32; i++)
        lks_dmi_module(t, 0x1100 + i, ARRAY, 65536);
}

static void half_filled(struct lks_buf *t)
{
    add_arrays(t);
    for (unsigned i = 0; i < 4; i++)
        lks_dmi_module(t, 0x1100 + i, ARRAY, i % 2 == 0 ? 16384 : 0);
}

static void kib_units(struct lks_buf *t)
{
    lks_dmi_module(t, 0x1100, ARRAY, 0);
    lks_dmi_set(t, last(t, MODULE_TAIL), 0x0c, 2, 0x8000 | 512);
}

static void flash_beside(struct lks_buf *t)
{
    add_arrays(t);
    lks_dmi_module(t, 0x1100, ARRAY, 32768);
    lks_dmi_module(t, 0x1101, FLASH, 32);
}

static void persistent(struct lks_buf *t)
{
    add_arrays(t);
    lks_dmi_module(t, 0x1100, ARRAY, 32768);
    lks_dmi_module(t, 0x1101, ARRAY, 131072);
    lks_dmi_set(t, last(t, MODULE_TAIL), 0x28, 1, 7);
    lks_dmi_set(t, last(t, MODULE_TAIL), 0x3c, 8, 0);
}

static void persistent_as_memory(struct lks_buf *t)
{
    persistent(t);
    lks_dmi_set(t, last(t, MODULE_TAIL), 0x3c, 8, UINT64_C(131072) << 20);
}

static void unknown_size(struct lks_buf *t)
{
    add_arrays(t);
    lks_dmi_module(t, 0x1100, ARRAY, 32768);
    lks_dmi_module(t, 0x1101, ARRAY, 32768);
    lks_dmi_set(t, last(t, MODULE_TAIL), 0x0c, 2, 0xffff);
}

static void old_and_large(struct lks_buf *t)
{
    size_t at = lks_dmi_add(t, 17, 0x1100, 0x1b, "");
    lks_dmi_set(t, at, 0x0c, 2, 0x7fff);
}

static void too_short(struct lks_buf *t)
{
    (void)lks_dmi_add(t, 17, 0x1100, 0x14, "");
}

static void empty_slots(struct lks_buf *t)
{
    add_arrays(t);
    lks_dmi_module(t, 0x1100, ARRAY, 0);
}

static void cut_short(struct lks_buf *t)
{
    server(t);
    lks_buf_truncate(t, t->len - 1);
}

static void impossible(struct lks_buf *t)
{
    for (unsigned i = 0; i < 2; i++) {
        lks_dmi_module(t, 0x1100 + i, ARRAY, 32768);
        lks_dmi_set(t, last(t, MODULE_TAIL), 0x28, 1, 4);
        lks_dmi_set(t, last(t, MODULE_TAIL), 0x3c, 8, UINT64_MAX - 1);
    }
}

static void many_arrays(struct lks_buf *t)
{
    for (unsigned i = 0; i <= LKS_SMBIOS_ARRAYS_MAX; i++)
        lks_dmi_set(t, lks_dmi_add(t, 16, i, 0x17, ""), 0x05, 1, 5);
}

static const struct {
    const char *name;
    void (*make)(struct lks_buf *t);
    const char *memory; /* "MiB modules slots", or the message */
} memories[] = {
    {"32 modules of 64 GiB", server, "2097152 32 32"},
    {"every second slot", half_filled, "32768 2 4"},
    {"less than a MiB", kib_units, "0 1 1"},
    {"flash does not count", flash_beside, "32768 1 1"},
    {"persistent memory does not count", persistent, "32768 1 2"},
    {"persistent memory used as memory", persistent_as_memory, "163840 2 2"},
    {"a module without a size", unknown_size, "memory device 0x1101 does not say its size"},
    {"larger than the old form can say", old_and_large,
     "memory device 0x1100 does not say its size"},
    {"a device cut short", too_short, "memory device 0x1100 does not say its size"},
    {"empty slots alone", empty_slots, "no memory module in the table"},
    {"no devices", add_arrays, "no memory module in the table"},
    {"a table cut short", cut_short, "strings that do not end"},
    {"more than there are numbers", impossible, "memory device 0x1101 has an impossible size"},
    {"too many arrays", many_arrays, "more than 64 memory arrays"},
};

static void test_memory(void)
{
    for (size_t i = 0; i < LKS_COUNT(memories); i++) {
        lks_test_case("%s", memories[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf table = LKS_BUF(TABLE_MAX);
        struct lks_smbios_memory m = {0};
        struct lks_err err = {0};
        char got[64];
        memories[i].make(&table);
        enum lks_code code = lks_smbios_memory(lks_buf_view(&table), &m, &err);
        snprintf(got, sizeof(got), "%llu %u %u", (unsigned long long)(m.bytes >> 20), m.modules,
                 m.slots);
        CHECK_HAS(lks_str_from(code == LKS_OK ? got : err.msg), memories[i].memory);
    }
}

static void test_has(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf table = LKS_BUF(TABLE_MAX);
    struct lks_err err = {0};
    bool has = true;
    server(&table);
    CHECK_CODE(lks_smbios_has(lks_buf_view(&table), LKS_SMBIOS_IPMI_DEVICE, &has, &err), LKS_OK);
    CHECK(!has);
    (void)lks_dmi_add(&table, 38, 0x2600, 0x12, "");
    lks_dmi_end(&table);
    CHECK_CODE(lks_smbios_has(lks_buf_view(&table), LKS_SMBIOS_IPMI_DEVICE, &has, &err), LKS_OK);
    CHECK(has);
    lks_buf_addc(&table, 'x'); /* behind the end */
    CHECK_CODE(lks_smbios_has(lks_buf_view(&table), LKS_SMBIOS_END, &has, &err), LKS_OK);
    CHECK_CODE(lks_smbios_has(LKS_STR("\x01\x05"), LKS_SMBIOS_END, &has, &err), LKS_E_INVALID);
}

static void test_limits(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf table = LKS_BUF(TABLE_MAX);
    struct lks_err err = {0};
    bool has = true;
    for (unsigned i = 0; i < LKS_SMBIOS_COUNT_MAX; i++)
        (void)lks_dmi_add(&table, 1, 0, 4, "");
    CHECK_CODE(lks_smbios_has(lks_buf_view(&table), LKS_SMBIOS_END, &has, &err), LKS_OK);
    CHECK(!has);
    (void)lks_dmi_add(&table, 1, 0, 4, "");
    CHECK_CODE(lks_smbios_has(lks_buf_view(&table), LKS_SMBIOS_END, &has, &err), LKS_E_LIMIT);
    CHECK_STR(lks_str_from(err.msg), "more than 16384 structures");
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"smbios tables", test_tables},
        {"smbios strings", test_strings},
        {"smbios memory", test_memory},
        {"smbios has", test_has},
        {"smbios limits", test_limits},
        {0},
    });
}
