/* The fields of records about people: what they set, their roles and credentials, the exceptions,
 * resets and votes they ask for, and the calls they were denied. For record_fields.c alone, which
 * defines the macros. */
#ifndef LKS_MODEL_RECORD_FIELDS_PEOPLE_H
#define LKS_MODEL_RECORD_FIELDS_PEOPLE_H

static const struct lks_record_field node_set_fields[] = {
    TEXT(node_set, node, "The node whose column is set."),
    TEXT(node_set, column, "The name of the column."),
    TEXT(node_set, value, "Its new value; missing: the column is cleared."),
    BY(node_set),
    REASON(node_set),
};
static const struct lks_record_field granted_fields[] = {
    TEXT(granted, identity, "The identity that has the role."),
    WORD(granted, role, lks_role_words, "The role."),
    TEXT(granted, site, "At this site only."),
    TEXT(granted, pool, "In this pool only."),
    BY(granted),
    MINTERS(2, granted),
    ROOT(2, granted),
    REASON_SINCE(3, granted),
};
static const struct lks_record_field ungranted_fields[] = {
    TEXT(ungranted, identity, "The identity that loses the role."),
    WORD(ungranted, role, lks_role_words, "The role."),
    TEXT(ungranted, site, "At this site only."),
    TEXT(ungranted, pool, "In this pool only."),
    BY(ungranted),
    REASON_SINCE(2, ungranted),
};
static const struct lks_record_field api_token_fields[] = {
    TEXT(api_token, id, "The token's name."),
    TEXT(api_token, identity, "The identity of the holder."),
    HIDDEN(api_token, hash, "The digest of the token's secret."),
    TIME(api_token, expires, "Until when it is good; for ever where missing."),
    BY(api_token),
    MINTERS(2, api_token),
    ROOT(2, api_token),
    SINCE(2, api_token, life, NUMBER,
          "How long it is good from when its holder renews it, in milliseconds."),
    SINCE(3, api_token, issuer, TEXT,
          "The identity provider that its holder logged in with; missing where it was made."),
    SINCE(
        3, api_token, grants, TEXT,
        "Roles that the login gives, by the groups of its holder: ROLE or ROLE@POOL, separated by "
        "blanks."),
    REASON_SINCE(4, api_token),
};
static const struct lks_record_field api_token_gone_fields[] = {
    TEXT(api_token_gone, id, "The token that is no longer taken."),
    BY(api_token_gone),
    REASON_SINCE(2, api_token_gone),
};
static const struct lks_record_field token_renewed_fields[] = {
    TEXT(token_renewed, id, "The token's name."),
    TIME(token_renewed, expires, "Until when it is good now."),
    BY(token_renewed),
};
static const struct lks_record_field person_certified_fields[] = {
    TEXT(person_certified, identity, "The identity of the holder."),
    TEXT(person_certified, serial, "Its serial number."),
    TEXT(person_certified, fingerprint, "The digest of its bytes."),
    TIME(person_certified, expires, "Until when it is good."),
    TEXT(person_certified, minter,
         "The identity that certified them; of a renewed one, the "
         "first."),
    TEXT(person_certified, minters,
         "The people by whom the minter's credential came to be, separated by blanks."),
    TRUTH(person_certified, root, "Whether the minter is root on a controller's own socket."),
    NUMBER(person_certified, life,
           "How long one is good that its holder has it renewed by, in milliseconds."),
    TEXT(person_certified, renews, "The serial number of the one that it renews."),
    BY(person_certified),
    REASON_SINCE(2, person_certified),
};
static const struct lks_record_field person_revoked_fields[] = {
    TEXT(person_revoked, serial, "The certificate that is no longer taken."),
    BY(person_revoked),
    REASON_SINCE(2, person_revoked),
};
static const struct lks_record_field deviation_fields[] = {
    NUMBER(deviation, id, "The deviation's number."),
    TEXT(deviation, hosts, "The nodes, as a host list."),
    TEXT(deviation, subject, "The component or setting that may differ, or * for any."),
    TEXT(deviation, value, "The value it may have; any where missing."),
    TEXT(deviation, owner, "The person responsible for it."),
    REASON(deviation),
    TEXT(deviation, approver, "The person expected to approve it."),
    TIME(deviation, expires, "When it is drift again."),
    BY(deviation),
    SINCE(2, deviation, waits, TRUTH, "Whether it counts for nothing until an approver agreed."),
    MINTERS(3, deviation),
};
static const struct lks_record_field deviation_ended_fields[] = {
    NUMBER(deviation_ended, id, "The deviation's number."),
    BY(deviation_ended),
    REASON(deviation_ended),
};
static const struct lks_record_field deviation_agreed_fields[] = {
    NUMBER(deviation_agreed, id, "The deviation's number."),
    BY(deviation_agreed),
    REASON(deviation_agreed),
    CREDENTIAL(2, deviation_agreed),
};
static const struct lks_record_field reset_fields[] = {
    NODE(reset),
    WORD(reset, step, lks_reset_words, "Whether it is asked for, approved or reviewed."),
    TEXT(reset, boot, "The boot that it is asked for."),
    TIME(reset, until, "When the request expires."),
    NUMBER(reset, command, "The number of the reboot command, once it is approved."),
    BY(reset),
    REASON(reset),
    CREDENTIAL(2, reset),
    MINTERS(2, reset),
};
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
static const struct lks_record_field audited_fields[] = {
    TIME(audited, since, "When the first of these minutes started."),
    NUMBER(audited, logins, "Calls without a known identity (401)."),
    NUMBER(audited, denied, "Calls that were not permitted (403)."),
    NUMBER(audited, reads, "Audited reads."),
    NUMBER(audited, withheld, "The number of all these without a line in the audit log."),
};

#define ABOUT_node_set         "A person set or cleared a column of a node."
#define ABOUT_granted          "A role was granted."
#define ABOUT_ungranted        "A role was revoked."
#define ABOUT_api_token        "An API token was made, or a person logged in."
#define ABOUT_api_token_gone   "An API token is gone."
#define ABOUT_token_renewed    "The holder of an API token renewed it, or logged out."
#define ABOUT_person_certified "A person got a certificate, or renewed one."
#define ABOUT_person_revoked   "A person's certificate is no longer taken."
#define ABOUT_deviation        "An exception with an owner and an end: a hot-fix, a waiver."
#define ABOUT_deviation_ended  "An exception was closed, or expired."
#define ABOUT_deviation_agreed                                                                     \
    "An approver agreed to an exception: changes and updates by hand go by it, too."
#define ABOUT_reset                                                                                \
    "A reset of a drained or unhealthy node whose GPU process does not end: by two people."
#define ABOUT_ticket_heard "A signed message of a ticket system was taken."
#define ABOUT_ticket_told  "A ticket system was notified of the state of changes, up to a record."
#define ABOUT_ticket_due                                                                           \
    "A notification that a ticket system still has to receive; written by snapshots."
#define ABOUT_audited                                                                              \
    "Calls were denied; at most one record a minute, the audit log has a line for each."

#endif
