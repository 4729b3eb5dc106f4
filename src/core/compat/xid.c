#include "core/compat/xid.h"

#include "base/vec.h"

#include <stdlib.h>

enum { REGISTER_BITS = 32 };

const struct lks_xid *lks_xid_find(const struct lks_facts *facts, int64_t number)
{
    return LKS_VEC_FIND(facts->xids.rows, facts->xids.count, row, row->number == number);
}

const struct lks_sxid *lks_xid_sxid_find(const struct lks_facts *facts, int64_t number)
{
    return LKS_VEC_FIND(facts->sxids.rows, facts->sxids.count, row, row->number == number);
}

const struct lks_xid_action *lks_xid_action_find(const struct lks_facts *facts,
                                                 struct lks_str action)
{
    return LKS_VEC_FIND(facts->xid_actions.rows, facts->xid_actions.count, row,
                        lks_str_eq(row->action, action));
}

/* A pattern has a character a bit, the highest first; '-' does not care. */
static bool pattern_matches(struct lks_str pattern, uint32_t value)
{
    if (pattern.len != REGISTER_BITS)
        return false;
    for (size_t i = 0; i < REGISTER_BITS; i++) {
        unsigned bit = value >> (REGISTER_BITS - 1 - i) & 1;
        if (pattern.ptr[i] != '-' && (unsigned)(pattern.ptr[i] - '0') != bit)
            return false;
    }
    return true;
}

static bool has_one_bit(uint32_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

/* The row names the values it is about; blank fits any. A value of one bit is a cause, and the
 * register may report several at once: it fits, unless `exactly`, when its bit is among them. */
static bool status_matches(struct lks_str values, uint32_t status, bool exactly)
{
    struct lks_str word;
    bool matches = values.len == 0;
    while (lks_str_word(&values, &word)) {
        char hex[16] = "";
        if (word.len >= sizeof(hex))
            continue;
        memcpy(hex, word.ptr, word.len);
        uint32_t value = (uint32_t)strtoul(hex, NULL, 16);
        bool among = !exactly && has_one_bit(value) && (status & value) != 0;
        matches = matches || status == value || among;
    }
    return matches;
}

/* The action `row` asks for, empty when its patterns do not fit: where the second one does, the
 * second action is in place of the first. */
static struct lks_str action_of(const struct lks_xid_nvlink5 *row,
                                const struct lks_xid_registers *r)
{
    if (pattern_matches(r->before_r575 ? row->intrinfo_v1_action2 : row->intrinfo_v2_action2,
                        r->intr_info))
        return row->action2;
    if (pattern_matches(r->before_r575 ? row->intrinfo_v1 : row->intrinfo_v2, r->intr_info))
        return row->action;
    return (struct lks_str){"", 0};
}

static size_t decode(const struct lks_facts *facts, int64_t number,
                     const struct lks_xid_registers *registers, bool exactly,
                     struct lks_xid_decoded *out, size_t max)
{
    size_t count = 0;
    for (size_t i = 0; i < facts->xid_nvlink5.count && count < max; i++) {
        const struct lks_xid_nvlink5 *row = &facts->xid_nvlink5.rows[i];
        struct lks_str action = action_of(row, registers);
        if (row->number == number && action.len > 0 &&
            status_matches(row->error_status, registers->error_status, exactly))
            out[count++] = (struct lks_xid_decoded){row, action};
    }
    return count;
}

bool lks_xid_has_registers(const struct lks_facts *facts, int64_t number)
{
    for (size_t i = 0; i < facts->xid_nvlink5.count; i++) {
        if (facts->xid_nvlink5.rows[i].number == number)
            return true;
    }
    return false;
}

size_t lks_xid_decode(const struct lks_facts *facts, int64_t number,
                      const struct lks_xid_registers *registers, struct lks_xid_decoded *out,
                      size_t max)
{
    size_t count = decode(facts, number, registers, true, out, max);
    return count > 0 ? count : decode(facts, number, registers, false, out, max);
}
