/* Any lines as method, path, revision and epoch, and any bytes behind them as a body: a request
 * that is taken has what it needs, and what the bridge would write into a reason is read as its
 * owner. */
#include "bridge/view/node.h"
#include "bridge/view/request.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINES = 4, LINE_MAX_ = 512 };

static void check(const struct lks_bridge_request *r, struct lks_str before)
{
    char reason[LKS_DRAIN_REASON_MAX + 1];
    bool node = r->verb == LKS_BRIDGE_NODE || r->verb == LKS_BRIDGE_DRAIN;
    LKS_ASSERT(r->verb < LKS_BRIDGE_VERBS);
    LKS_ASSERT(!node || lks_hostlist_is_name(lks_str_from(r->name)));
    LKS_ASSERT(r->verb != LKS_BRIDGE_SIGNAL || r->signal > 0);
    for (uint32_t i = 0; i < r->truth.count; i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf list = LKS_BUF((size_t)1 << 20);
        const struct lks_bridge_truth_row *row = &r->truth.rows[i];
        lks_bridge_truth_merge(before, row->features, &list);
        LKS_ASSERT(lks_bridge_truth_is(lks_buf_view(&list), row->features));
        LKS_ASSERT(lks_hostlist_is_name(row->node));
    }
    if (r->verb == LKS_BRIDGE_RESERVE) {
        const struct lks_bridge_reservation made = {.name = lks_str_from(r->name),
                                                    .nodes = r->reserve.nodes,
                                                    .from = r->reserve.from,
                                                    .until = r->reserve.until,
                                                    .maint = true,
                                                    .own = true};
        LKS_ASSERT(lks_bridge_reservation_is_name(made.name) && made.until > made.from);
        LKS_ASSERT(lks_bridge_reservation_act(&made, &r->reserve, 0) ==
                   LKS_BRIDGE_RESERVATION_KEEP);
    }
    if (r->verb != LKS_BRIDGE_DRAIN)
        return;
    lks_drain_reason_write(lks_str_from(r->owner), lks_str_from(r->reason), before, reason);
    LKS_ASSERT(lks_str_printable(lks_str_from(reason)));
    LKS_ASSERT(
        lks_str_is(lks_drain_reason_owner(lks_str_from(reason), true, LKS_STR("x")), r->owner));
    (void)lks_drain_reason_before(lks_str_from(reason), true);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char lines[LINES][LINE_MAX_];
    struct lks_str rest = {size > 0 ? (const char *)data : "", size}, line;
    LKS_CLEANUP(lks_bridge_request_fini)
    struct lks_bridge_request r = {.verb = LKS_BRIDGE_VERBS};
    struct lks_err err = {0};
    for (size_t i = 0; i < LINES; i++) {
        lks_str_cut(rest, '\n', &line, &rest);
        size_t len = line.len < LINE_MAX_ ? line.len : LINE_MAX_ - 1;
        if (len > 0)
            memcpy(lines[i], line.ptr, len);
        lines[i][len] = '\0';
    }
    const struct lks_bridge_raw raw = {.method = lines[0],
                                       .path = lines[1],
                                       .if_match = lines[2][0] != '\0' ? lines[2] : NULL,
                                       .epoch = lines[3][0] != '\0' ? lines[3] : NULL,
                                       .after = lines[2],
                                       .id = lines[3],
                                       .max = lines[2],
                                       .epochs = 1,
                                       .if_matches = 1,
                                       .body = rest};
    if (lks_bridge_request_read(&raw, &r, &err) == LKS_OK)
        check(&r, rest);
    else
        LKS_ASSERT(r.verb == LKS_BRIDGE_VERBS && err.msg[0] != '\0');
    (void)lks_drain_reason_owner(rest, true, LKS_STR("x"));
    (void)lks_drain_reason_why(rest, true);
    (void)lks_drain_reason_before(rest, true);
    (void)lks_bridge_node_gpus(rest);
    return 0;
}
