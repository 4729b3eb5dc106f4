/*
 * What the agent and its root helper say to each other over a Unix socket: one question, one
 * answer, each with its length before it in four bytes, the largest first. A question is a line
 * that says what is wanted, and what belongs to it:
 *
 *     command            a signed envelope follows
 *     inventory          read the machine; "inventory quick" without the search for libraries
 *
 * An answer is the outcome's word on a line (lks_outcome_words), and the text or reading behind it.
 */
#ifndef LKS_AGENT_WIRE_H
#define LKS_AGENT_WIRE_H

#include "agent/reading/inventory.h"
#include "base/buf.h"
#include "model/record/record.h"
#include "trust/dsse.h"

#define LKS_WIRE_LENGTH       4
#define LKS_WIRE_QUESTION_MAX (LKS_DSSE_MAX + 64)
#define LKS_WIRE_ANSWER_MAX   (LKS_INVENTORY_MAX + 512)
#define LKS_WIRE_MS           5000 /* for a question to be sent or heard */

#define LKS_WIRE_COMMAND         "command"
#define LKS_WIRE_INVENTORY       "inventory"
#define LKS_WIRE_INVENTORY_QUICK "inventory quick"

/* Connect to the socket at `path`: UNAVAILABLE where no process listens. */
enum lks_code lks_wire_connect(const char *path, int *fd, struct lks_err *err) LKS_MUST_CHECK;

/* Send `line`, a line end and `body` as one message before `until` (lks_clock_ms()). */
enum lks_code lks_wire_send(int fd, const char *line, struct lks_str body, int64_t until,
                            struct lks_err *err) LKS_MUST_CHECK;

/* One message of at most `max` bytes, into a buffer that is initialised here. */
enum lks_code lks_wire_recv(int fd, size_t max, int64_t until, struct lks_buf *out,
                            struct lks_err *err) LKS_MUST_CHECK;

/* Whether `bytes` begin with a whole message: its content. False, with no failure, while more has
 * to come; INVALID for one that is longer than `max`. */
enum lks_code lks_wire_whole(struct lks_str bytes, size_t max, bool *whole, struct lks_str *content,
                             struct lks_err *err) LKS_MUST_CHECK;

/* Take an answer apart. */
enum lks_code lks_wire_answer(struct lks_str content, enum lks_outcome *outcome,
                              struct lks_str *text, struct lks_err *err) LKS_MUST_CHECK;

#endif
