/*
 * What a move from one stack to another means: each difference with its class of update, whether it
 * can be reverted and what it interrupts, the vulnerabilities it closes and opens, and the class of
 * change all of it together makes.
 */
#ifndef LKS_CORE_STACKDIFF_H
#define LKS_CORE_STACKDIFF_H

#include "core/compat/advisory.h"

struct lks_difference {
    struct lks_str subject; /* driver, driver.modules, settings.nic.pfc, firmware/psu[PN] */
    struct lks_str from;    /* empty: was not there */
    struct lks_str to;      /* empty: is not there any more */
    const char *direction;  /* added, removed, upgrade, downgrade, changed */
    struct lks_str class;   /* of update; settings, tuning, window or hardware for those */
    struct lks_str reboot;  /* no, service, reset, node, domain */
    struct lks_str revert;  /* how it is reverted */
    bool one_way;
    bool tolerated; /* a version inside the tested window of the stack before */
    const struct lks_firmware_update *update; /* how it is flashed; NULL: it is not, or unknown */
};

/* Published vulnerabilities, the worst first, each once. */
struct lks_flaws {
    const struct lks_advisory **list;
    size_t count;
};

/* Texts are views of the two stacks and the facts, which must outlive it, or live in `memory`. */
struct lks_stackdiff {
    struct lks_arena memory; /* owns the arrays too */
    struct lks_difference *differences;
    size_t count, room;
    struct lks_flaws closed; /* the first stack is exposed to them, the second is not */
    struct lks_flaws opened; /* the other way round */
    const char *reboot;      /* the strongest among the differences */
    const struct lks_change_class *class; /* the class of change, NULL when nothing differs */
    size_t one_way;
    const struct lks_difference **flashes; /* those with an update, in the order of work */
    size_t flash_count;
    bool same; /* the digests are equal */
};

/* On success the caller owes lks_stackdiff_fini(). */
enum lks_code lks_stackdiff_make(const struct lks_facts *facts, const struct lks_stack *from,
                                 const struct lks_stack *to, struct lks_stackdiff *out,
                                 struct lks_err *err) LKS_MUST_CHECK;
void lks_stackdiff_fini(struct lks_stackdiff *diff);

#endif
