/*
 * What production may be given: stacks that were released, and what they pin.
 *
 * A pool is production unless its posture says otherwise (data/postures.csv: all but dev). What
 * else is to run there is a deviation: a person approved it, for some nodes, until a time.
 */
#ifndef LKS_CORE_DELTA_H
#define LKS_CORE_DELTA_H

#include "model/facts/facts.h"
#include "model/manifest/stack.h"

struct lks_state;

/* By the posture's row; one that the table does not have is production: the stricter way. */
bool lks_delta_production(const struct lks_facts *facts, struct lks_str posture);

/* Whether its pool is; of an asset, which is of no pool, whether some pool of its domain is. */
bool lks_delta_in_production(const struct lks_state *s, const struct lks_facts *facts,
                             uint32_t node);

/* Whether the node may be brought to the stack: it is released, or is what the pool pins already,
 * or the node is not of production, or an approved deviation lets it differ in anything. */
bool lks_delta_takes(const struct lks_state *s, const struct lks_facts *facts, uint32_t node,
                     struct lks_str stack, lks_ms wall);

/* The same of a whole pool, for which no deviation counts: what it pins stays. */
bool lks_delta_pins(const struct lks_state *s, const struct lks_facts *facts, uint32_t pool,
                    struct lks_str stack);

/* Whether the stack with this digest is. */
bool lks_delta_released(const struct lks_state *s, struct lks_str stack);

/* Whether the stack pins firmware of this name, "bmc", to the version, or has it in a tested
 * window. */
bool lks_delta_has_firmware(const struct lks_facts *facts, const struct lks_stack *stack,
                            struct lks_str component, struct lks_str version);

#endif
