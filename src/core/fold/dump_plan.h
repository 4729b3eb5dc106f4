/* The plan of a change as records again. */
#ifndef LKS_CORE_DUMP_PLAN_H
#define LKS_CORE_DUMP_PLAN_H

#include "base/err.h"
#include "base/str.h"
#include "base/time.h"
#include "core/rows/text.h"

struct lks_err;
struct lks_record;
struct lks_state_change;

/* Takes the records, in order, with the times they are to be applied at. */
typedef enum lks_code lks_state_emit(void *ctx, lks_ms time, const struct lks_record *record,
                                     struct lks_err *err);

struct lks_dump {
    const struct lks_state *s;
    lks_state_emit *emit;
    void *ctx;
    struct lks_err *err;
    enum lks_code code; /* the first failure; nothing is emitted behind it */
};

struct lks_str lks_dump_text(const struct lks_dump *d, lks_text id);

/* Of one change, what was proposed: all of it stands in its plan, and none of it says how far it
 * is. */
void lks_dump_plan(struct lks_dump *d, const struct lks_state_change *c);

/* Its parts as records, for views, too. */
struct lks_rec_change lks_dump_change(const struct lks_state *s, const struct lks_state_change *c);
struct lks_rec_plan_step lks_dump_step(const struct lks_state *s, const struct lks_state_change *c,
                                       uint32_t recipe, uint32_t index);
struct lks_rec_plan_wave lks_dump_wave(const struct lks_state *s, const struct lks_state_change *c,
                                       uint32_t index);

#endif
