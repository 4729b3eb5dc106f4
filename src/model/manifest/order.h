/*
 * An order: what an executor of a node is to do, word for word. It is a small JSON document that a
 * plan makes and the journal keeps; a signed command names it by its digest, beside the digests of
 * the artifacts that it needs. So no command text crosses the wire, nothing is "latest", and what a
 * node was told to do can be read years later.
 *
 * An order says the state that is wanted, not how to get there: carried out twice, the second time
 * finds everything done. The order that takes another one back is of the same kind.
 */
#ifndef LKS_MODEL_ORDER_H
#define LKS_MODEL_ORDER_H

#include "base/buf.h"
#include "codec/format/digest.h"
#include "codec/format/docs.h"

#define LKS_ORDER_BYTES_MAX ((size_t)256 * 1024)
#define LKS_ORDER_ITEMS_MAX 1024

/* The executors that take orders, by the names they have on a node. */
enum lks_order_kind {
    LKS_ORDER_APT,      /* packages of Debian's kind, pinned and held */
    LKS_ORDER_DNF,      /* packages of Red Hat's kind, pinned and locked */
    LKS_ORDER_IMAGE,    /* the image of the whole machine, by the site's hook */
    LKS_ORDER_SETTINGS, /* of GPUs, kernel and services */
    LKS_ORDER_FIRMWARE, /* by a tool that is installed on the node */
    LKS_ORDER_HOOK,     /* by a program that the site installed there */
    LKS_ORDER_KIND_COUNT
};
extern const char *const lks_order_words[]; /* "apt" ... "hook", NULL */

/* Texts live in the order's documents, or with the code that made it. */
struct lks_order_item {
    struct lks_str component; /* "driver", "firmware/nic", "settings.power_limit_w" */
    struct lks_str value;     /* the version or value that is wanted; empty: it is to be absent */
    struct lks_str before;    /* what was there, for people; or empty */
    struct lks_str digest;    /* of the file it is made from; empty: none is needed */
    struct lks_str file;      /* that file's name */
};

struct lks_order {
    enum lks_order_kind kind;
    struct lks_str hook;  /* HOOK, IMAGE: the program's name */
    struct lks_str stack; /* digest of the stack it leads to */
    struct lks_order_item *items;
    size_t count;
};

/* The settings that the settings executor knows, by their paths in a stack; one that ends with '*'
 * stands for all below it. NULL behind the last. */
extern const char *const lks_order_settings[];
bool lks_order_setting(struct lks_str path);

/* Append it as canonical JSON: equal orders have equal bytes, and so one digest. */
enum lks_code lks_order_write(const struct lks_order *order, struct lks_buf *out,
                              struct lks_err *err) LKS_MUST_CHECK;

/* Read one; views of `docs`, which was initialised and is to outlive it. Whatever is not as we
 * write it is refused: an order has no other source. */
enum lks_code lks_order_parse(struct lks_str bytes, const char *source, struct lks_docs *docs,
                              struct lks_order *out, struct lks_err *err) LKS_MUST_CHECK;

#endif
