/* Fields of the record of audited calls; for record_fields.c alone. */
#ifndef LKS_MODEL_RECORD_FIELDS_AUDIT_H
#define LKS_MODEL_RECORD_FIELDS_AUDIT_H

static const struct lks_record_field audited_fields[] = {
    TIME(audited, since, "When the first of these minutes started."),
    NUMBER(audited, logins, "Calls without a known identity (401)."),
    NUMBER(audited, denied, "Calls that were not permitted (403)."),
    NUMBER(audited, reads, "Audited reads."),
    NUMBER(audited, withheld, "The number of all these without a line in the audit log."),
};

#define ABOUT_audited                                                                              \
    "Calls were denied; at most one record a minute, the audit log has a line for each."

#endif
