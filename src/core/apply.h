/* For core/apply*.c: how a record becomes true. */
#ifndef LKS_CORE_APPLY_H
#define LKS_CORE_APPLY_H

#include "core/state.h"

/* A record on its way into the state. */
struct lks_applying {
    struct lks_state *s;
    lks_ms time;
    const struct lks_record *r;
    struct lks_err *err;
};

typedef enum lks_code lks_applier(const struct lks_applying *a);

/* Give a text its number. */
enum lks_code lks_apply_keep(const struct lks_applying *a, struct lks_str text,
                             lks_text *out) LKS_MUST_CHECK;

/* Several at once: views, and where their numbers go. */
struct lks_kept {
    struct lks_str from;
    lks_text *to;
};
enum lks_code lks_apply_keep_all(const struct lks_applying *a, const struct lks_kept *list,
                                 size_t count) LKS_MUST_CHECK;

/* A node of a pool turned for the worse. */
void lks_apply_turned(const struct lks_applying *a, uint32_t node);

/* apply_lists.c */
lks_applier lks_apply_alarm, lks_apply_alarm_released, lks_apply_mass, lks_apply_granted,
    lks_apply_ungranted, lks_apply_api_token, lks_apply_api_token_gone, lks_apply_command,
    lks_apply_command_ended;

#endif
