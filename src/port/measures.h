/*
 * A monitoring system, as the engine sees it: asked one question for one moment, it has one number
 * for each node it knows. The question is a conversation (port/conversation.h) that changes nothing
 * there; a driver speaks one system's protocol.
 *
 * What it says is counted, never believed: a value that is no number, a series that names no node
 * and a node that comes twice are left out, and how many there were is said.
 */
#ifndef LKS_PORT_MEASURES_H
#define LKS_PORT_MEASURES_H

#include "base/arena.h"
#include "port/bmc.h"
#include "port/conversation.h"

#define LKS_MEASURE_QUERY_MAX  4095
#define LKS_MEASURE_LABEL_MAX  63
#define LKS_MEASURE_MEMORY_MAX ((size_t)64 << 20)
#define LKS_MEASURE_PATIENCE   (30 * LKS_SECOND) /* for one answer */

struct lks_measure_point {
    struct lks_str name; /* of the node, as the system calls it */
    double value;        /* finite */
};

struct lks_measures {
    struct lks_arena arena;           /* owns all of it */
    struct lks_measure_point *points; /* sorted by name; each name once */
    size_t count;
    size_t strange; /* series that were left out */
};
void lks_measures_init(struct lks_measures *m);
void lks_measures_fini(struct lks_measures *m);

/* The value of a node by its name, or by what stands before the first dot of either; false: the
 * system has none. */
bool lks_measures_find(const struct lks_measures *m, struct lks_str node, double *out);

enum lks_measure_login { LKS_MEASURE_OPEN, LKS_MEASURE_BASIC, LKS_MEASURE_BEARER };
extern const char *const lks_measure_login_words[]; /* "none", "basic", "bearer", NULL */

/* Texts are copied by begin(). */
struct lks_measure_wish {
    struct lks_str query; /* as lks_measure_query() writes it */
    lks_ms at;            /* wall: the moment that is asked about */
    struct lks_str label; /* which label names the node; empty: by those that are in use */
    enum lks_measure_login login;
    const struct lks_bmc_secret *secret; /* BASIC: both; BEARER: the password is the token */
    lks_ms deadline;
};

struct lks_measure_driver {
    const char *name;
    const struct lks_conversation_ops *talk;
    /* The value holds pointers: it fills `out`, which outlives it, and starts over after a restart.
     * INVALID for what cannot be asked. */
    enum lks_code (*begin)(void *value, const struct lks_measure_wish *wish,
                           struct lks_measures *out, struct lks_err *err);
};

extern const struct lks_measure_driver
    lks_measure_prometheus; /* drivers/service/measure_prometheus.c */

/* The question for a window of time that ends at the moment it is asked about: "$window" in the
 * query becomes that window ("3600s"). A query without it is reduced over the window: to its
 * median, so that each node is one number however often it was sampled; or, where something is
 * counted, to by how much it rose. */
void lks_measure_query(struct lks_str query, bool counts, lks_ms window, struct lks_buf *out);

#endif
