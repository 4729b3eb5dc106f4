/* What a probe says, as lines of text, for tests that compare all of it:
 *
 *     driver=580.126.20                     measured
 *     settings.ecc@gpu 0000:06:00.0=true    of a device
 *     firmware/vbios@gpu 0000:06:00.0#PN=96 of a device with a part number
 *     doca-ofed~                            absent
 *     kernel?no access                      unmeasured, and why
 *
 * Beside its evidence a line reads "driver=580.126.20 < /sys/module/nvidia/version".
 */
#ifndef LKS_TESTS_HEARD_H
#define LKS_TESTS_HEARD_H

#include "probe/root/probe.h"
#include "tests/tree.h"

struct lks_heard {
    struct lks_buf lines;    /* in the order they were said */
    struct lks_buf evidence; /* "NAME@DEVICE: EVIDENCE", likewise */
    struct lks_buf full;     /* "LINE < EVIDENCE", likewise */
};

/* Run one probe over `root`, here and without a child. The caller owes lks_heard_fini(). */
void lks_hear(void (*run)(struct lks_probe *p), struct lks_root *root,
              const struct lks_probe_options *options, struct lks_heard *out);
void lks_heard_fini(struct lks_heard *heard);

/* The same over a tree; `options` may be NULL. */
void lks_hear_tree(void (*run)(struct lks_probe *p), const struct lks_tree *tree,
                   const struct lks_probe_options *options, struct lks_heard *out);

/* The same lines of a finished tuple. */
void lks_heard_tuple(const struct lks_tuple *tuple, struct lks_heard *out);

/* Its lines that contain `part`, in a buffer that the next call overwrites. */
struct lks_str lks_heard_only(const struct lks_heard *heard, const char *part);

/* Run a probe over a tree and hold what it says, each line beside its evidence, against `want`: */
enum lks_heard_how {
    LKS_HEARD_ALL,    /* this is all of it */
    LKS_HEARD_SORTED, /* all but what is absent, in the order of its bytes */
    LKS_HEARD_HAS,    /* lines of it that follow each other */
    LKS_HEARD_LINE,   /* the first line of that name and device, without its end */
};
#define CHECK_HEARD(run, tree, want)        LKS_HEARD_CHECK(LKS_HEARD_ALL, run, tree, want)
#define CHECK_HEARD_SORTED(run, tree, want) LKS_HEARD_CHECK(LKS_HEARD_SORTED, run, tree, want)
#define CHECK_HEARD_HAS(run, tree, want)    LKS_HEARD_CHECK(LKS_HEARD_HAS, run, tree, want)
#define CHECK_HEARD_LINE(run, tree, want)   LKS_HEARD_CHECK(LKS_HEARD_LINE, run, tree, want)
#define LKS_HEARD_CHECK(how, run, tree, want)                                                      \
    lks_heard_check((how), (run), (tree), (want), __FILE__, __LINE__)
bool lks_heard_check(enum lks_heard_how how, void (*run)(struct lks_probe *p),
                     const struct lks_tree *tree, const char *want, const char *file, int line);

#endif
