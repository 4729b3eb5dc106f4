#include "core/campaign/state_apply.h"

#include "base/heap.h"
#include "core/campaign/campaign.h"
#include "core/fold/apply.h"
#include "core/state/state.h"

static enum lks_code reckon(struct lks_state *s, uint32_t n, struct lks_err *err)
{
    uint64_t has = s->nodes[n].change;
    const struct lks_state_change *c = has != 0 ? lks_state_change(s, has) : NULL;
    const struct lks_member *m = c != NULL ? lks_state_change_member(c, n) : NULL;
    lks_ms due = m != NULL ? lks_campaign_due(s, c, m) : UINT64_MAX;
    if (due != UINT64_MAX)
        return lks_heap_set(&s->members_due, n, due, err);
    (void)lks_heap_remove(&s->members_due, n);
    return LKS_OK;
}

enum lks_code lks_state_apply(struct lks_state *s, uint64_t seq, lks_ms time,
                              const struct lks_record *record, struct lks_err *err)
{
    enum lks_code code = lks_apply_record(s, seq, time, record, err);
    for (uint32_t i = 0; i < s->touched_count && code == LKS_OK; i++)
        code = reckon(s, s->touched[i], err);
    s->touched_count = 0;
    return code;
}

enum lks_code lks_state_index(struct lks_state *s, struct lks_err *err)
{
    if (lks_apply_index(s, err) != LKS_OK)
        return err->code;
    for (uint32_t n = 0; n < s->node_count; n++) {
        if (s->nodes[n].change != 0 && reckon(s, n, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}
