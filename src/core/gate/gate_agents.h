/*
 * What agents tell gates: their heartbeats say when there last was an Xid after which a GPU has to
 * be reset, or a port of the fabric that went down, and whether a reference load runs. Gates ask
 * whether the event was since the node returned; a node counts once, so one moment a node is all
 * that is kept, and no record until a gate wants one.
 */
#ifndef LKS_CORE_GATE_AGENTS_H
#define LKS_CORE_GATE_AGENTS_H

#include "base/compiler.h"
#include "base/time.h"
#include "core/gate/gate.h"

struct lks_arena;
struct lks_state;

/* The list for the event MEASURED; it lives in `arena`. */
enum lks_code lks_gate_agents(const struct lks_state *s, lks_ms wall, struct lks_arena *arena,
                              struct lks_measured **out, size_t *count,
                              struct lks_err *err) LKS_MUST_CHECK;

#endif
