/* The fields of records about exceptions. For record_fields.c alone, whose words it is in. */
#ifndef LKS_MODEL_RECORD_FIELDS_DEVIATION_H
#define LKS_MODEL_RECORD_FIELDS_DEVIATION_H

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

#define ABOUT_deviation_agreed                                                                     \
    "An approver agreed to an exception: changes and updates by hand go by it, too."

#endif
