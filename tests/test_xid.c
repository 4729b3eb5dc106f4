#include "core/compat/xid.h"

#include "base/buf.h"
#include "tests/facts.h"
#include "tests/test.h"

#include <stdlib.h>

enum { MAX = 16, TEXT_MAX = 4096 };

static void test_find(void)
{
    const struct lks_facts *f = lks_test_facts();
    const struct lks_xid *xid = lks_xid_find(f, 79);
    if (CHECK(xid != NULL))
        CHECK_INT(xid->number, 79);
    CHECK(lks_xid_find(f, 0) == NULL);
    CHECK(lks_xid_find(f, -79) == NULL);
    CHECK(lks_xid_find(f, 100000) == NULL);
    CHECK(lks_xid_sxid_find(f, f->sxids.rows[0].number) == &f->sxids.rows[0]);
    CHECK(lks_xid_sxid_find(f, 1) == NULL);
    CHECK(lks_xid_action_find(f, LKS_STR("RESET_GPU")) != NULL);
    CHECK(lks_xid_action_find(f, LKS_STR("reset_gpu")) == NULL);
    CHECK(lks_xid_action_find(f, LKS_STR("")) == NULL);
}

/* Registers as a driver prints them, and what the table makes of them: the unit and the action of
 * each row that fits. */
static const struct {
    const char *name;
    int64_t xid;
    struct lks_xid_registers registers;
    const char *decoded;
} rows[] = {
    {"one cause", 144, {0x00000001, 0x00000001, false}, "SAW_MVB IGNORE;"},
    {"another cause", 144, {0x00000001, 0x00000002, false}, "SAW_MVB RESET_GPU;"},
    {"two causes at once",
     144,
     {0x00000001, 0x00000003, false},
     "SAW_MVB IGNORE;SAW_MVB RESET_GPU;"},
    {"bits that do not count", 144, {0xfc0fff81, 0x00000001, false}, "SAW_MVB IGNORE;"},
    {"a bit that counts", 144, {0x00100001, 0x00000001, false}, ""},
    {"a bit of the unit", 144, {0x00000041, 0x00000001, false}, ""},
    {"no cause", 144, {0x00000001, 0, false}, ""},
    {"a cause nobody knows", 144, {0x00000001, 0x00004000, false}, ""},
    {"another Xid", 143, {0x00000001, 0x00000001, false}, ""},
    {"before R575", 144, {0x00000021, 0x00000002, true}, "SAW_MVB RESET_GPU;"},
    {"before R575, read as after", 144, {0x00000021, 0x00000002, false}, ""},
    {"after R575, read as before", 144, {0x00000001, 0x00000002, true}, ""},
    {"the highest bit", 145, {0x00000003, 0x80000000, false}, "RLW_CTRL IGNORE;"},
    {"first action", 145, {0x00000006, 0x00000001, false}, "RLW_RXPIPE IGNORE;"},
    {"second action", 145, {0x00000086, 0x00000001, false}, "RLW_RXPIPE RESET_GPU;"},
    {"first action before R575", 145, {0x000000c2, 0x00000004, true}, "RLW_RXPIPE IGNORE;"},
    {"second action before R575", 145, {0x000004c2, 0x00000004, true}, "RLW_RXPIPE RESET_GPU;"},
    {"no second action for this cause", 145, {0x00000086, 0x00000008, false}, "RLW_RXPIPE IGNORE;"},
    {"two pipes that look alike",
     146,
     {0x00000143, 0x00000004, true},
     "TLW_RX TLW_RX_PIPE0 RESET_GPU;TLW_RX TLW_RX_PIPE1 RESET_GPU;"},
    {"two pipes that do not",
     146,
     {0x0000000b, 0x00000004, false},
     "TLW_RX TLW_RX_PIPE1 RESET_GPU;"},
    {"any status", 149, {0x00000018, 0xdeadbeef, false}, "NETIR NETIR_INT RESET_GPU;"},
    {"a sub-code in the first register",
     149,
     {0x02600011, 0, false},
     "NETIR_LINK_EVT NETIR_LINK_DOWN IGNORE;"},
    {"another sub-code", 149, {0x02500011, 0, false}, "NETIR_LINK_EVT NETIR_LINK_DOWN RESET_GPU;"},
    {"a status that is a number, 1", 149, {0x00000014, 1, false}, "NETIR_MFDE_EVENT RESET_GPU;"},
    {"a status that is a number, 3", 149, {0x00000014, 3, false}, "NETIR_MFDE_EVENT IGNORE;"},
    {"a status that is a number, 0", 149, {0x00000013, 0, false}, "NETIR_BER_EVENT IGNORE;"},
    {"one of two values", 150, {0, 0xffffffff, false}, "MSE_DEGRADED RESET_GPU;"},
    {"the other of two values",
     150,
     {0, 0, false},
     "MSE_DEGRADED RESET_GPU;MSE_WATCHDOG RESET_GPU;"},
    {"neither of two values", 150, {0, 5, false}, ""},
};

static void test_decode(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
        struct lks_xid_decoded decoded[MAX];
        size_t n = lks_xid_decode(lks_test_facts(), rows[i].xid, &rows[i].registers, decoded, MAX);
        for (size_t j = 0; j < n; j++)
            lks_buf_addf(&text, "%" LKS_STR_FMT " %" LKS_STR_FMT ";",
                         LKS_STR_ARG(decoded[j].row->unit), LKS_STR_ARG(decoded[j].action));
        CHECK_STR(lks_buf_view(&text), rows[i].decoded);
    }
}

static void test_room(void)
{
    struct lks_xid_decoded one;
    struct lks_xid_registers registers = {0, 0, false};
    CHECK_INT(lks_xid_decode(lks_test_facts(), 150, &registers, &one, 1), 1);
    CHECK_STR(one.row->unit, "MSE_DEGRADED");
    CHECK_INT(lks_xid_decode(lks_test_facts(), 150, &registers, NULL, 0), 0);
}

/* A pattern as the register it stands for, with `rest` in the bits that do not count. */
static uint32_t fill(struct lks_str pattern, uint32_t rest)
{
    uint32_t value = 0;
    for (size_t i = 0; i < pattern.len; i++) {
        uint32_t bit = pattern.ptr[i] == '-' ? rest >> (31 - i) & 1 : pattern.ptr[i] == '1';
        value |= bit << (31 - i);
    }
    return value;
}

static bool reached(const struct lks_xid_nvlink5 *row, struct lks_str pattern, bool before_r575,
                    struct lks_str action)
{
    uint32_t status = 0x12345678;
    if (row->error_status.len > 0)
        status = (uint32_t)strtoul(row->error_status.ptr, NULL, 16);
    struct lks_xid_registers registers = {fill(pattern, 0xa5a5a5a5), status, before_r575};
    struct lks_xid_decoded decoded[MAX];
    size_t n = lks_xid_decode(lks_test_facts(), row->number, &registers, decoded, MAX);
    for (size_t i = 0; i < n; i++) {
        if (decoded[i].row == row)
            return lks_str_eq(decoded[i].action, action);
    }
    return false;
}

/* Every row of the table can be reached by its own patterns, with either of its actions. */
static void test_reach(void)
{
    const struct lks_facts *f = lks_test_facts();
    for (size_t i = 0; i < f->xid_nvlink5.count; i++) {
        const struct lks_xid_nvlink5 *row = &f->xid_nvlink5.rows[i];
        lks_test_case("row %zu, %" LKS_STR_FMT, i + 1, LKS_STR_ARG(row->unit));
        CHECK_INT(row->intrinfo_v1.len, 32);
        CHECK_INT(row->intrinfo_v2.len, 32);
        CHECK(reached(row, row->intrinfo_v1, true, row->action));
        CHECK(reached(row, row->intrinfo_v2, false, row->action));
        if (row->action2.len == 0)
            continue;
        CHECK(reached(row, row->intrinfo_v1_action2, true, row->action2));
        CHECK(reached(row, row->intrinfo_v2_action2, false, row->action2));
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"xid: find", test_find},
        {"xid: decode", test_decode},
        {"xid: room", test_room},
        {"xid: every row can be reached", test_reach},
        {0},
    });
}
