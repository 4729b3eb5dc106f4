/*
 * What lockstepd and a ticket system tell each other: which messages were heard, so that none
 * counts twice, and which state changes of changes are still to be told. All of it is the fold of
 * records, so a restart or another controller goes on where the last one was.
 *
 * A message is remembered for as long as its signature would be taken. Nothing is kept to be told
 * before notifications are turned on (TICKET_TOLD with `on`); of what waits too long the oldest is
 * dropped, and counted.
 */
#ifndef LKS_CORE_TICKETS_H
#define LKS_CORE_TICKETS_H

#include "base/str.h"
#include "base/time.h"
#include "core/rows/text.h"
#include "model/record/record_words.h"

#include <stdbool.h>

#define LKS_TICKETS_HEARD_MAX 4096
#define LKS_TICKETS_DUE_MAX   256
#define LKS_TICKET_ID_MAX     128 /* bytes of the id of a message, and of a ticket */
#define LKS_TICKET_WHO_MAX    256

struct lks_ticket_heard {
    lks_text event;
    lks_ms until;
};

struct lks_ticket_due {
    uint64_t seq; /* of the record that moved it */
    lks_ms at;
    uint64_t change;
    enum lks_change_state state;
    lks_text by, reason;
};

struct lks_tickets {
    bool on;                        /* notifications are on */
    uint64_t told;                  /* the last record of which they were */
    struct lks_ticket_heard *heard; /* owned, as is the other; in the order they came */
    uint32_t heard_count, heard_room;
    struct lks_ticket_due *due; /* by rising seq */
    uint32_t due_count, due_room;
};

struct lks_state;

void lks_tickets_fini(struct lks_tickets *t);

/* Whether the message was heard, and its time is not over. */
bool lks_tickets_heard(const struct lks_state *s, struct lks_str event);
uint32_t lks_tickets_remembered(const struct lks_state *s); /* how many there are */

#endif
