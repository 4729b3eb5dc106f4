/* What the state knows, as JSON for people: the members of objects that a caller has begun. */
#ifndef LKS_SERVER_VIEWS_H
#define LKS_SERVER_VIEWS_H

#include "codec/format/json.h"
#include "core/exposure/cadence.h"
#include "core/rows/text.h"
#include "core/view/view.h"

struct lks_now;
struct lks_state;

/* Counts of a pool, which may be of a part of its nodes. */
struct lks_pool_counts {
    uint32_t nodes, enrolled;
    uint32_t liveness[LKS_LIVENESS_COUNT];
};
struct lks_pool_counts lks_view_pool_counts(const struct lks_state *s, uint32_t pool);
void lks_view_pool(struct lks_json_writer *w, const struct lks_state *s, uint32_t pool,
                   const struct lks_pool_counts *counts);
/* How far it is behind what is released, and how far it may be. */
void lks_view_cadence(struct lks_json_writer *w, const struct lks_state *s,
                      const struct lks_book *book, const struct lks_pool_classes *classes,
                      uint32_t pool, lks_ms wall);
void lks_view_liveness(struct lks_json_writer *w, const uint32_t liveness[LKS_LIVENESS_COUNT]);

/* `by` and `reason`, as far as they are known. */
void lks_view_by(struct lks_json_writer *w, const struct lks_state *s, lks_text by,
                 lks_text reason);
/* Identities, as lks_view_words() writes them; none: nothing. */
void lks_view_people(struct lks_json_writer *w, const char *key, struct lks_str people);

#endif
