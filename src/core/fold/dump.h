/* The state on its way to becoming records again. */
#ifndef LKS_CORE_DUMP_H
#define LKS_CORE_DUMP_H

#include "core/state/state.h"

struct lks_dump {
    const struct lks_state *s;
    lks_state_emit *emit;
    void *ctx;
    struct lks_err *err;
    enum lks_code code; /* the first failure; nothing is emitted behind it */
};

void lks_dump_say(struct lks_dump *d, lks_ms time, struct lks_record r);
struct lks_str lks_dump_text(const struct lks_dump *d, lks_text id);
struct lks_str lks_dump_basis(const struct lks_dump *d, uint32_t handle); /* its digest */

/* dump_lists.c. Verdicts of readings that are known, or of those that only nodes name. */
void lks_dump_bases(struct lks_dump *d);
void lks_dump_verdicts(struct lks_dump *d, bool known);
void lks_dump_lists(struct lks_dump *d);

/* dump_flash.c: keys, bundles and updates. */
void lks_dump_flashes(struct lks_dump *d);
void lks_dump_access(struct lks_dump *d);

/* dump_gate.c: of one change, what its gates ask for; and what they found. */
void lks_dump_gates(struct lks_dump *d, const struct lks_state_change *c);
void lks_dump_evidence(struct lks_dump *d, const struct lks_state_change *c);

/* dump_change.c: changes, rollbacks that were exercised, what is frozen. */
void lks_dump_changes(struct lks_dump *d);
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
