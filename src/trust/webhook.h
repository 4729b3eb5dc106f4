/*
 * Messages between lockstepd and another program that share a secret, such as a ticket system: who
 * sends one signs its bytes and the time, and who gets it checks both.
 *
 *     Lockstep-Signature: t=1794700800,v1=HEX
 *
 * HEX is the HMAC-SHA-256, under the secret, of the seconds since 1970 as written, a dot, and the
 * body. Nothing else about a message says that it is true.
 */
#ifndef LKS_TRUST_WEBHOOK_H
#define LKS_TRUST_WEBHOOK_H

#include "base/buf.h"
#include "base/time.h"

#define LKS_WEBHOOK_HEADER     "Lockstep-Signature"
#define LKS_WEBHOOK_SIZE       96                 /* of what it says, terminator included */
#define LKS_WEBHOOK_WINDOW     (300 * LKS_SECOND) /* by which clocks may differ */
#define LKS_WEBHOOK_SECRET_MIN 16                 /* bytes */
#define LKS_WEBHOOK_SECRET_MAX 1024

/* A secret as a file or a program has it: without blanks and line ends around it. INVALID where it
 * is too short, too long, or more than a line; the message does not repeat it. */
enum lks_code lks_webhook_secret(struct lks_str text, struct lks_str *out,
                                 struct lks_err *err) LKS_MUST_CHECK;

/* What the header says of `body` that is sent at `wall`. */
enum lks_code lks_webhook_sign(struct lks_str secret, lks_ms wall, struct lks_str body,
                               char out[LKS_WEBHOOK_SIZE], struct lks_err *err) LKS_MUST_CHECK;

/* Whether `header` is such a signature of `body`, made within LKS_WEBHOOK_WINDOW of `wall`; `at`
 * is when. DENIED says which of these it is not, and nothing of what it would have to be. */
enum lks_code lks_webhook_check(struct lks_str secret, struct lks_str header, struct lks_str body,
                                lks_ms wall, lks_ms *at, struct lks_err *err) LKS_MUST_CHECK;

#endif
