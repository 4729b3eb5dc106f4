/*
 * Which transition a record makes: of a change, a wave, a member, an update or a command.
 *
 * The engine asserts it of every record that it decided, before the record is applied. The journal
 * of another version is applied as it is: what its records say was done, and to forget it would be
 * the worse mistake.
 */
#ifndef LKS_CORE_TRANSITION_H
#define LKS_CORE_TRANSITION_H

#include "model/record/machine.h"

struct lks_record;
struct lks_state;

struct lks_transition {
    const struct lks_machine *machine;
    unsigned from, to;
};

/* False: it makes none, or is of something that the state does not hold, which applying it ignores
 * as well. */
bool lks_transition_of(const struct lks_state *s, const struct lks_record *record,
                       struct lks_transition *out);

/* The program stops unless the record makes a legal transition, or none. */
void lks_transition_assert(const struct lks_state *s, const struct lks_record *record);

#endif
