/*
 * Reading the machine, in a program of its own.
 *
 * The agent runs itself with --read: facts, vendors' libraries and parsers never are in the process
 * that holds the node's key and stays for months. What that prints is one line and the tuple's
 * JSON:
 *
 *     lockstep-reading-1 DIGEST STEADY BOOT
 *
 * DIGEST is the tuple's own; STEADY that of all it says but the time and how the machine is doing
 * at the moment, so that equal ones need not be sent twice.
 */
#ifndef LKS_AGENT_INVENTORY_H
#define LKS_AGENT_INVENTORY_H

#include "base/buf.h"
#include "codec/format/digest.h"
#include "trust/envelope.h"

#include <stdint.h>

#define LKS_INVENTORY_MAX ((size_t)8 << 20)

struct lks_probe;

struct lks_inventory_options {
    const char *root;                        /* a captured tree, or NULL: this machine */
    const char *node;                        /* how the controller calls it */
    const char *cache;                       /* file, or NULL */
    bool quick;                              /* without the search for copies of libraries */
    int64_t now;                             /* seconds since 1970 */
    void (*read_agent)(struct lks_probe *p); /* NULL: lks_inventory_agent() */
};

/* Read it and append the line and the JSON. */
enum lks_code lks_inventory_take(const struct lks_inventory_options *options, struct lks_buf *out,
                                 struct lks_err *err) LKS_MUST_CHECK;

/* The probe that says which version of the agent reads. */
void lks_inventory_agent(struct lks_probe *p);

struct lks_inventory {
    char digest[LKS_DIGEST_SIZE];
    char steady[LKS_DIGEST_SIZE];
    char boot[LKS_BOOT_ID_SIZE];
    struct lks_str json; /* a view of what it was taken from */
};

/* Take such an output apart. */
enum lks_code lks_inventory_parse(struct lks_str bytes, struct lks_inventory *out,
                                  struct lks_err *err) LKS_MUST_CHECK;

/* Whether `s` is "sha256:" and 64 digits; its bytes to `out`, unless that is NULL. */
bool lks_inventory_digest(struct lks_str s, uint8_t *out);

#endif
