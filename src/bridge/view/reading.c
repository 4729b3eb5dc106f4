#include "bridge/view/reading.h"

#include "base/vec.h"
#include "bridge/view/reservation.h"
#include "codec/notation/drain_reason.h"

#include <stdlib.h>

void lks_bridge_reading_init(struct lks_bridge_reading *r)
{
    *r = (struct lks_bridge_reading){0};
    lks_buf_init(&r->bytes, LKS_BRIDGE_ANSWER_MAX);
    lks_buf_init(&r->jobs, LKS_BRIDGE_ANSWER_MAX);
    lks_buf_init(&r->reservations, LKS_BRIDGE_ANSWER_MAX);
}

void lks_bridge_reading_fini(struct lks_bridge_reading *r)
{
    lks_buf_fini(&r->bytes);
    lks_buf_fini(&r->jobs);
    lks_buf_fini(&r->reservations);
    free(r->items);
    *r = (struct lks_bridge_reading){0};
}

static void keep(struct lks_bridge_reading *r, struct lks_str text, size_t *at, size_t *len)
{
    *at = r->bytes.len;
    *len = text.len;
    lks_buf_add(&r->bytes, text);
}

enum lks_code lks_bridge_reading_add(struct lks_bridge_reading *r,
                                     const struct lks_bridge_node *node,
                                     const struct lks_bridge_load *load, struct lks_err *err)
{
    struct lks_bridge_item item = {.drained = node->drained,
                                   .failing = node->failing,
                                   .down = node->down,
                                   .responding = node->responding,
                                   .own = node->own,
                                   .json = r->bytes.len};
    lks_bridge_node_json(node, load, &r->bytes);
    item.json_len = r->bytes.len - item.json;
    keep(r, node->name, &item.name, &item.name_len);
    keep(r, node->reason, &item.reason, &item.reason_len);
    keep(r,
         node->drained ? lks_drain_reason_owner(node->reason, node->own, node->user) : LKS_STR(""),
         &item.owner, &item.owner_len);
    if (lks_buf_check(&r->bytes, err) != LKS_OK)
        return err->code;
    return LKS_VEC_ADD(r->items, r->room, r->count, LKS_BRIDGE_NODES_MAX, item, err);
}

enum lks_code lks_bridge_reading_jobs(struct lks_bridge_reading *r,
                                      const struct lks_bridge_job *jobs, size_t count,
                                      const struct lks_bridge_reservation *reservations,
                                      size_t reservation_count, struct lks_err *err)
{
    struct lks_json_writer w = {.out = &r->jobs}, v = {.out = &r->reservations};
    lks_json_begin(&w, NULL, '[');
    for (size_t i = 0; i < count; i++)
        lks_bridge_node_job_json(&jobs[i], true, &w);
    lks_json_end(&w, ']');
    lks_json_begin(&v, NULL, '[');
    for (size_t i = 0; i < reservation_count; i++)
        lks_bridge_reservation_json(&reservations[i], &v);
    lks_json_end(&v, ']');
    r->all_jobs = true;
    return lks_buf_check(&r->jobs, err) != LKS_OK ? err->code
                                                  : lks_buf_check(&r->reservations, err);
}
