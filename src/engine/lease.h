/*
 * Who leads: the states of one controller between its start and its end, for the engine and for the
 * thread that asks the store for the lease. A controller that led never follows again: it ends, and
 * its supervisor starts it anew.
 */
#ifndef LKS_ENGINE_LEASE_H
#define LKS_ENGINE_LEASE_H

#include "model/record/machine.h"

enum lks_lease {
    LKS_LEASE_NONE,     /* it starts */
    LKS_LEASE_ALONE,    /* the only controller of its store */
    LKS_LEASE_FOLLOWS,  /* another may lead: rows come from the store */
    LKS_LEASE_TAKEN,    /* the lease is its own, and rows that it has not read may be left */
    LKS_LEASE_LEADS,    /* all rows were read: it decides */
    LKS_LEASE_RETURNED, /* it ends, and another need not wait */
    LKS_LEASE_LOST,     /* another leads, or the lease was not renewed in time */
    LKS_LEASE_COUNT
};
extern const struct lks_machine lks_lease_moves;

#endif
