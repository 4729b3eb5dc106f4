/*
 * Telling a ticket system something: one POST, as a conversation (port/conversation.h). It was told
 * when it answers with a status of 2xx. Where it says no (4xx) that is INVALID, and saying it again
 * will hardly help; anything else (no answer, 5xx, a redirect, which is not followed) is
 * UNAVAILABLE.
 */
#ifndef LKS_PORT_TICKET_H
#define LKS_PORT_TICKET_H

#include "port/conversation.h"

#define LKS_TICKET_PATIENCE (15 * LKS_SECOND) /* for its answer */

/* Texts outlive the conversation. */
struct lks_ticket_post {
    struct lks_str path;
    const char *signature; /* what trust/webhook.h's header says */
    struct lks_str body;   /* JSON */
    lks_ms deadline;
};

extern const struct lks_conversation_ops lks_ticket_talk; /* drivers/service/ticket_post.c */
enum lks_code lks_ticket_begin(void *value, const struct lks_ticket_post *post,
                               struct lks_err *err) LKS_MUST_CHECK;

/* "https://HOST:PORT" and the path of an address, "/" where it has none. */
void lks_ticket_split(struct lks_str url, struct lks_str *peer, struct lks_str *path);

#endif
