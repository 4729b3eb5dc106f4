/* The real lockstepd and the real lockstep-bmcsim side by side: a fleet of simulated BMCs, a bundle
 * with their firmware that a pinned key signed, and updates of it, asked for by REST. */
#ifndef LKS_TESTS_FLASHES_H
#define LKS_TESTS_FLASHES_H

#include "lab/bmcsim/bmcsim.h"
#include "tests/bmcd.h"
#include "tests/crew.h"

struct flashes {
    struct crew crew;
    struct bmcd bmcs;
    char fleet[128]; /* a file: the manifest of the BMCs */
    char bundle[LKS_DIGEST_SIZE];
    unsigned minutes; /* that an update may take, on the clock of conversations; 0: 120 */
    char images[LKS_BMCSIM_PERSONALITIES][LKS_DIGEST_SIZE]; /* by personality; empty: none */
};

/* BMCs with these options, and a daemon with `more` lines of configuration that has them as its
 * fleet; false is a failed check. */
bool flashes_begin(struct flashes *f, const char *const *options, const char *more);
void flashes_end(struct flashes *f);

/* kill -9, and start it again. */
bool flashes_kill(struct flashes *f);

/* Apply the fleet of the BMCs, where one node may have no endpoint any more, and the endpoint of
 * another be known by its fingerprint alone; NULL: none. */
bool flashes_fleet(struct flashes *f, const char *without, const char *pinned);

/* A bundle of one image of `class` for each personality, in the depot and found good. */
bool flashes_bundle(struct flashes *f, const enum lks_bmcsim_personality *kinds, size_t count,
                    const char *class, const char *version);

/* The pieces of that: bytes into the depot, and a manifest that a key signed which is pinned now;
 * its digest is f->bundle. */
bool flashes_store(struct flashes *f, const char *name, struct lks_str bytes,
                   char digest[LKS_DIGEST_SIZE]);
bool flashes_bring(struct flashes *f, struct lks_str manifest);

/* The node is in a change from here on. */
bool flashes_change(struct flashes *f, const char *node);

/* Ask for an update of `class` to `version`, or to that of the bundle if it is NULL; its number, or
 * 0. */
uint64_t flashes_ask(struct flashes *f, const char *node, enum lks_bmcsim_personality kind,
                     const char *class, const char *version);

/* What is said of one; the outcome as a word, which lives until the next call. */
const char *flashes_outcome(struct flashes *f, uint64_t id, struct crew_told *t);
/* Wait until it ended. */
const char *flashes_wait(struct flashes *f, uint64_t id, struct crew_told *t);

/* The truth about one BMC, as lockstep-bmcsim tells it: the device of a class. NULL: none. */
const struct lks_doc *flashes_truth(struct flashes *f, const char *name, const char *class,
                                    struct crew_told *t);

#endif
