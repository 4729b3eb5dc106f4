/* The fields of the record about resets of wedged nodes. For record_fields.c alone, which defines
 * the macros. */
#ifndef LKS_MODEL_RECORD_FIELDS_RESET_H
#define LKS_MODEL_RECORD_FIELDS_RESET_H

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

#define ABOUT_reset                                                                                \
    "A reset of a drained or unhealthy node whose GPU process does not end: by two people."

#endif
