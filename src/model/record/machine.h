/*
 * State machines: which transitions are legal, one table for each machine.
 *
 * A table has a row for each legal transition, by the states it leads from and to, with the reason
 * that makes it: [FROM][TO] = "reason". A transition without a row is a mistake of ours, so it
 * stops the program before anything is done because of it. docs/reference/states.md prints the
 * tables.
 */
#ifndef LKS_MODEL_MACHINE_H
#define LKS_MODEL_MACHINE_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stdint.h>

#define LKS_MACHINE_STATES_MAX 32

struct lks_machine {
    const char *name;         /* "change" */
    const char *about;        /* what has these states, for the page */
    const char *const *words; /* the name of each state */
    unsigned count;           /* of states */
    uint32_t ends;            /* bits by state: nothing leaves those */
    const char *const *when;  /* count * count reasons by [from][to]; NULL: not legal */
};

/* The members above that a table of reasons says, and the bit of a state in `ends`. */
#define LKS_MACHINE_TABLE(table) .count = LKS_COUNT(table), .when = (table)[0]
#define LKS_MACHINE_END(state)   (UINT32_C(1) << (state))

/* The start of every machine is state 0. */
#define LKS_MACHINE_START 0U

/* Whether the table has the transition. A state that stays the same needs a row as well. */
bool lks_machine_may(const struct lks_machine *m, unsigned from, unsigned to);

/* `to`, once the table was found to have the transition; else the program stops. */
unsigned lks_machine_step(const struct lks_machine *m, unsigned from, unsigned to);

/* Move `state`, an lvalue, to `to`. */
#define LKS_MACHINE_MOVE(m, state, to)                                                             \
    ((state) = (__typeof__(state))lks_machine_step((m), (unsigned)(state), (unsigned)(to)))

#endif
