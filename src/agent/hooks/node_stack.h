/*
 * The stack of this node, as its agent writes it for jobs that start here: a small file in the
 * agent's folder (--run), replaced as a whole. The SPANK plugin of Slurm reads it. Pure.
 *
 * The file is a line with the format, then "KEY VALUE" lines. A reader skips keys that it does not
 * know, so a newer agent may write more; a file of another format is refused. Its modification time
 * is when the controller was last heard.
 */
#ifndef LKS_AGENT_NODE_STACK_H
#define LKS_AGENT_NODE_STACK_H

#include "base/buf.h"

#define LKS_NODE_STACK_FILE      "stack"
#define LKS_NODE_STACK_BYTES_MAX 20480
#define LKS_NODE_STACK_ENV_BYTES 16384 /* of all variables together */
#define LKS_NODE_STACK_TEXT_SIZE 192

struct lks_node_stack {
    char digest[LKS_NODE_STACK_TEXT_SIZE]; /* empty: the node has no stack */
    char name[LKS_NODE_STACK_TEXT_SIZE], version[LKS_NODE_STACK_TEXT_SIZE];
    char bar[LKS_NODE_STACK_TEXT_SIZE]; /* the reason why no job is to start; empty: none */
    char why[LKS_NODE_STACK_TEXT_SIZE]; /* the same as a sentence */
    bool enforces;                      /* the node's pool enforces admission */
    char env[LKS_NODE_STACK_ENV_BYTES]; /* a line "NAME=VALUE" for each variable */
};

void lks_node_stack_pack(const struct lks_node_stack *s, struct lks_buf *out);
enum lks_code lks_node_stack_parse(struct lks_str bytes, struct lks_node_stack *out,
                                   struct lks_err *err) LKS_MUST_CHECK;

/* Take a printable text of one line. False: it is none, or too long, and `out` is unchanged. */
bool lks_node_stack_text(struct lks_str text, char out[LKS_NODE_STACK_TEXT_SIZE]);

/* Add a variable. False: its name is not of a library for collectives or of what that is built on,
 * its value has more than one line, or there is no space left. A stack cannot set LD_PRELOAD or
 * CUDA_VISIBLE_DEVICES in jobs. */
bool lks_node_stack_add(struct lks_node_stack *s, struct lks_str name, struct lks_str value);

/* Take the next variable off `rest`, which starts as `env`; false at the end. */
bool lks_node_stack_next(struct lks_str *rest, struct lks_str *name, struct lks_str *value);

/* Whether `wish` could name a stack: 1 to 191 letters, digits and ".-_+:/~". */
bool lks_node_stack_wish(struct lks_str wish);

/* Whether `wish` names this stack: its name, NAME/VERSION, or its digest, of which "sha256:"
 * and 8 digits are enough. */
bool lks_node_stack_is(const struct lks_node_stack *s, struct lks_str wish);

#endif
