/* A lockstepd with some of everything in it: a fleet, released stacks, nodes that conform and that
 * drift, deviations, changes, alarms, images, keys and tokens. Names, numbers and digests of all
 * that are known, so that requests can be made of them. */
#ifndef LKS_TESTS_REAL_POPULATION_H
#define LKS_TESTS_REAL_POPULATION_H

#include "base/rng.h"
#include "tests/crew.h"

enum { POP_NODES = 4, POP_KNOWN_MAX = 4096 };

/* A value that an answer had, by the key it stood under. Owned. */
struct pop_value {
    char *key, *text;
};

struct population {
    struct crew crew;
    struct lks_client *agents[POP_NODES];
    uint64_t beats[POP_NODES];
    struct lks_client *admin, *viewer, *operator_, *approver, *nobody;
    struct pop_value known[POP_KNOWN_MAX];
    size_t known_count;
};

/* The daemon is the one that the environment's LKS_DAEMON names, or else the build's. False is a
 * failed check. */
bool pop_begin(struct population *p);
/* It ends as it should, and wrote no report of a sanitizer. */
void pop_end(struct population *p);

/* Ask all lists again, and give back to people and fleet what requests took from them. */
void pop_refresh(struct population *p);

/* A value that was seen under this key, or under any; NULL: none was. */
const char *pop_pick(const struct population *p, const char *key, struct lks_rng *rng);

#endif
