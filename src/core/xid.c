#include "core/xid.h"

#include <stdlib.h>

enum { REGISTER_BITS = 32 };

const struct lks_xid *lks_xid_find(const struct lks_facts *facts, int64_t number)
{
    for (size_t i = 0; i < facts->xids.count; i++) {
        if (facts->xids.rows[i].number == number)
            return &facts->xids.rows[i];
    }
    return NULL;
}

const struct lks_sxid *lks_sxid_find(const struct lks_facts *facts, int64_t number)
{
    for (size_t i = 0; i < facts->sxids.count; i++) {
        if (facts->sxids.rows[i].number == number)
            return &facts->sxids.rows[i];
    }
    return NULL;
}

const struct lks_xid_action *lks_xid_action_find(const struct lks_facts *facts,
                                                 struct lks_str action)
{
    for (size_t i = 0; i < facts->xid_actions.count; i++) {
        if (lks_str_eq(facts->xid_actions.rows[i].action, action))
            return &facts->xid_actions.rows[i];
    }
    return NULL;
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

/* The row names one cause; the register may report several at once. Blank fits any. */
static bool status_matches(struct lks_str text, uint32_t status)
{
    char hex[16] = "";
    if (text.len == 0 || text.len >= sizeof(hex))
        return text.len == 0;
    memcpy(hex, text.ptr, text.len);
    uint32_t cause = (uint32_t)strtoul(hex, NULL, 16);
    return (status & cause) == cause;
}

size_t lks_xid_decode(const struct lks_facts *facts, int64_t number,
                      const struct lks_xid_registers *registers, struct lks_xid_decoded *out,
                      size_t max)
{
    size_t count = 0;
    for (size_t i = 0; i < facts->xid_nvlink5.count && count < max; i++) {
        const struct lks_xid_nvlink5 *row = &facts->xid_nvlink5.rows[i];
        bool old = registers->before_r575;
        if (row->number != number ||
            !pattern_matches(old ? row->intrinfo_v1 : row->intrinfo_v2, registers->intr_info) ||
            !status_matches(row->error_status, registers->error_status))
            continue;
        bool second = pattern_matches(old ? row->intrinfo_v1_action2 : row->intrinfo_v2_action2,
                                      registers->intr_info);
        out[count].row = row;
        out[count++].action = second && row->action2.len > 0 ? row->action2 : row->action;
    }
    return count;
}
