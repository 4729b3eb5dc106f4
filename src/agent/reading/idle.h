/*
 * Whether nothing runs on the GPUs, read now: the last check before anything is done to a node that
 * others report as drained.
 *
 * The agent runs itself with --idle: it reads the GPUs of the machine or of a captured tree, prints
 * one line, and its exit status says yes or no. Where a GPU does not tell, the answer is no.
 */
#ifndef LKS_AGENT_IDLE_H
#define LKS_AGENT_IDLE_H

#include "base/buf.h"

/* OK and a line for people; REFUSED with "3 GPU processes", or why that is unknown. */
enum lks_code lks_idle_look(const char *root, struct lks_buf *out,
                            struct lks_err *err) LKS_MUST_CHECK;

#endif
