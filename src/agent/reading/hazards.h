/*
 * Whether the next boot would leave the node broken, read now: the last look before a reboot.
 *
 * The agent runs itself with --hazards: it reads the kernels of the machine or of a captured tree
 * and asks the rules of consistency that are about the next boot. What cannot be told bars nothing:
 * a reboot is also how a broken node is repaired.
 */
#ifndef LKS_AGENT_HAZARDS_H
#define LKS_AGENT_HAZARDS_H

#include "base/buf.h"

/* OK and a line for people; REFUSED with what would be missing, and what to do about it. */
enum lks_code lks_hazards_look(const char *root, struct lks_buf *out,
                               struct lks_err *err) LKS_MUST_CHECK;

#endif
