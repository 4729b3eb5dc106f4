/* The fields of records about ticket systems. For record_fields.c alone, whose words it is in. */
#ifndef LKS_MODEL_RECORD_FIELDS_TICKET_H
#define LKS_MODEL_RECORD_FIELDS_TICKET_H

static const struct lks_record_field ticket_heard_fields[] = {
    TEXT(ticket_heard, event, "The message's own id; none is remembered where missing."),
    TIME(ticket_heard, until, "Until then it is not taken again."),
    NUMBER(ticket_heard, change, "The change it voted on."),
    TEXT(ticket_heard, by, "Whose vote that is here."),
    TEXT(ticket_heard, ticket, "The ticket it came from."),
    TEXT(ticket_heard, who, "The voter's name in the ticket system."),
};
static const struct lks_record_field ticket_told_fields[] = {
    NUMBER(ticket_told, row, "The last record that a ticket system was notified of."),
    TRUTH(ticket_told, on, "Whether it is notified of later records."),
};
static const struct lks_record_field ticket_due_fields[] = {
    NUMBER(ticket_due, row, "The record that moved the change."),
    TIME(ticket_due, at, "When that was."),
    NUMBER(ticket_due, change, "Which change."),
    WORD(ticket_due, state, lks_change_state_words, "The state of the change then."),
    BY(ticket_due),
    REASON(ticket_due),
};

#define ABOUT_ticket_heard "A signed message of a ticket system was taken."
#define ABOUT_ticket_told  "A ticket system was notified of the state of changes, up to a record."
#define ABOUT_ticket_due                                                                           \
    "A notification that a ticket system still has to receive; written by snapshots."

#endif
