/*
 * Probes: each reads one side of the machine and says what it found as readings.
 *
 * Every probe runs in a child process of its own, all at once, under a deadline. A vendor library
 * that hangs, a parser that crashes or a file system that does not answer takes its own values with
 * it and nothing else: what the probe had said stands, the call it hung in is left out when it is
 * run again, and what it promised and did not say becomes unmeasured, with the reason.
 *
 * A probe adds one file src/probe/probe_NAME.c, with the function lks_probe_NAME(), and one row to
 * lks_probes. It reads through p->root alone, so that a captured tree replays.
 */
#ifndef LKS_PROBE_PROBE_H
#define LKS_PROBE_PROBE_H

#include "model/facts/facts.h"
#include "model/tuple/tuple.h"
#include "probe/root/root.h"

struct lks_probe_options {
    bool libraries;    /* search for copies of libraries, and hash files */
    const char *cache; /* file that keeps what was found inside libraries, or NULL */
    const struct lks_names
        *also;    /* files under /proc/sys and /sys a stack wants compared, or NULL */
    bool cost;    /* look at memory too */
    int call_ms;  /* silence after which a probe is taken to hang */
    int probe_ms; /* all of one probe, retries included */
};

struct lks_probe {
    struct lks_root *root;
    const struct lks_facts *facts;
    const struct lks_probe_options *options;
    struct lks_arena *arena; /* scratch that lives as long as the probe */
    void (*emit)(void *ctx, const struct lks_reading *r);
    void *ctx;
};

struct lks_probe_kind {
    const char *name;
    const char *about; /* what it reads and from where: the reference page */
    void (*run)(struct lks_probe *p);
    const char *const *promises; /* readings of the node it always gives, ends with NULL */
    bool unproven;               /* its code never ran on the hardware it is for */
};
extern const struct lks_probe_kind lks_probes[];
extern const size_t lks_probe_count;

/* What a probe found. `of` and `part` may be empty views. */
void lks_probe_value(struct lks_probe *p, const char *name, struct lks_str of, struct lks_str part,
                     struct lks_str value, const char *evidence);
void lks_probe_absent(struct lks_probe *p, const char *name, struct lks_str of,
                      const char *evidence);

/* The reason comes from `err`: NOT_FOUND is absence, everything else is unmeasured. */
void lks_probe_failed(struct lks_probe *p, const char *name, struct lks_str of,
                      const char *evidence, const struct lks_err *err);
void lks_probe_unmeasured(struct lks_probe *p, const char *name, struct lks_str of,
                          const char *evidence, const char *fmt, ...) LKS_PRINTF(5, 6);

/* The commonest kind: the first line of a file is the value. */
void lks_probe_line(struct lks_probe *p, const char *name, struct lks_str of, const char *path);

/* How many of a kind there are; unmeasured where `unclear` has a code, which says why one could be
 * told neither in nor out. */
void lks_probe_counted(struct lks_probe *p, const char *name, size_t count,
                       const struct lks_err *unclear, const char *evidence);

/* What the reading itself cost. Memory is private memory, looked at when options->cost asks. */
struct lks_probe_cost {
    int ms;
    long parent_kib; /* of this process */
    long child_kib;  /* of the largest child, at its end */
    const char *child;
};

/* Run `count` probes, such as lks_probes, over `root` and finish `out`, which was initialised.
 * Fails only when no child can be started or memory runs out: the failures of probes are readings.
 * `cost` may be NULL. */
enum lks_code lks_probe_run(const struct lks_probe_kind *kinds, size_t count, struct lks_root *root,
                            const struct lks_facts *facts, const struct lks_probe_options *options,
                            struct lks_tuple *out, struct lks_probe_cost *cost,
                            struct lks_err *err) LKS_MUST_CHECK;

#endif
