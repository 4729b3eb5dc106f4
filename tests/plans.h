/* Plans for tests: a fleet with its stacks in one manifest, bundles that are good, and what came of
 * a wish as text:
 *
 *     recipe 0: leave@10 apply@100(hook driver) reboot@100 check@100 accept@10000 return@20000
 *     wave 0: canary of train, 1 unit at a time
 *     part of wave 0: n1 by recipe 0, proves
 *     capacity: pool train: ...
 */
#ifndef LKS_TESTS_PLANS_H
#define LKS_TESTS_PLANS_H

#include "core/plan/plan.h"
#include "core/registry/book.h"
#include "model/manifest/bundle.h"
#include "tests/asked.h"

enum { PLANS_BUNDLES = 4 };

struct plans {
    struct lks_asked a;
    struct lks_book book;
    struct lks_bundle bundles[PLANS_BUNDLES];
    const struct lks_bundle *list[PLANS_BUNDLES];
    struct lks_bundle_set set;
    struct lks_plan plan; /* of the last wish, where it was granted */
    enum lks_code code;
    struct lks_err err;
    struct lks_buf text;
};

/* All nodes are accepted and live. */
void plans_begin(struct plans *p, const char *manifest);
void plans_end(struct plans *p);

/* One more bundle, as JSON; its files are in the depot, and it is good. */
void plans_bundle(struct plans *p, const char *json);

/* The digest of a stack; empty: there is none. */
struct lks_str plans_stack(const struct plans *p, const char *name);

/* True where it was granted. */
bool plans_make(struct plans *p, const struct lks_plan_wish *wish);

/* What kinds of lines there are to tell. */
enum { PLANS_STEPS = 1, PLANS_WAVES = 2, PLANS_PARTS = 4, PLANS_NOTES = 8, PLANS_ALL = 15 };

/* The plan, or why there is none: "refused: ...". Good until the next call. */
struct lks_str plans_tell(struct plans *p, unsigned what);

/* The members of it, as a fold of its parts: wave by node; -1: in none. False where one is in two,
 * or is no node. */
bool plans_waves(const struct plans *p, int64_t *wave_of, uint32_t *unit_of, uint32_t *units);

#endif
