/*
 * What a program of this node tells its agent, as one datagram on a Unix socket: that the site's
 * health check passed or failed, or that a job ended. Pure.
 *
 * The socket and the state are files of one folder (--run of lockstep-agent) that only the agent's
 * user and root can enter. The agent writes the state, a line, and replaces it as a whole.
 */
#ifndef LKS_AGENT_NOTICE_H
#define LKS_AGENT_NOTICE_H

#include "base/buf.h"

#include <stdint.h>

#define LKS_NOTICE_RUN       "/run/lockstep-agent" /* as the units have it */
#define LKS_NOTICE_SOCKET    "notices"
#define LKS_NOTICE_STATE     "state"
#define LKS_NOTICE_BYTES_MAX 512
#define LKS_NOTICE_TEXT_SIZE 256

/* Checks run while the node is in service alone. In between it is changed, drains for that, or its
 * controller was not heard yet. */
#define LKS_NOTICE_IN_SERVICE "in service\n"
#define LKS_NOTICE_CHANGING   "changing\n"
#define LKS_NOTICE_UNKNOWN    "unknown\n"

enum lks_notice_kind { LKS_NOTICE_PASSED, LKS_NOTICE_FAILED, LKS_NOTICE_ENDED, LKS_NOTICE_COUNT };

struct lks_notice {
    enum lks_notice_kind kind;
    char text[LKS_NOTICE_TEXT_SIZE]; /* FAILED: why, one printable line */
    uint64_t job;                    /* ENDED: which */
};

void lks_notice_pack(const struct lks_notice *n, struct lks_buf *out);
enum lks_code lks_notice_parse(struct lks_str bytes, struct lks_notice *out,
                               struct lks_err *err) LKS_MUST_CHECK;

/* The first line of what a check printed that is not blank, with a '?' for each byte that does not
 * print, cut to fit; empty where there is none. */
void lks_notice_line(struct lks_str output, char out[LKS_NOTICE_TEXT_SIZE]);

#endif
