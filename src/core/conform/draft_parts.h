/* What the files of a draft share: the pieces of the manifest that grow side by side, and which
 * readings they have said already. For core/conform/draft*.c alone. */
#ifndef LKS_CORE_DRAFT_PARTS_H
#define LKS_CORE_DRAFT_PARTS_H

#include "core/conform/draft.h"
#include "model/manifest/stack.h"

/* A drafted class is called as its stack, with this behind. */
#define LKS_DRAFT_CLASS "-class"

struct lks_draft {
    const struct lks_facts *facts;
    const struct lks_tuple *tuple;
    struct lks_report *report;
    struct lks_str name; /* of the stack */
    enum lks_vendor vendor;
    bool nvswitch; /* there are some in the node */
    int64_t gpus;  /* of the class, once it is known */
    bool *said;    /* for each reading of the tuple; in the report's arena */

    /* The parts, in the order in which they are written. */
    struct lks_buf class;
    struct lks_str class_name;
    struct lks_buf components, firmware, settings, other, tuning;
    struct lks_buf notes; /* comments: what was left out, and why */
};

/* What all readings of one name come to. */
enum lks_accord {
    LKS_ACCORD_NONE,       /* there are none */
    LKS_ACCORD_ABSENT,     /* it is not there, on any device */
    LKS_ACCORD_ONE,        /* each was measured and says `value` */
    LKS_ACCORD_DIFFER,     /* devices differ */
    LKS_ACCORD_SOME,       /* fewer GPUs were read than there are */
    LKS_ACCORD_UNMEASURED, /* `first` could not be read */
};

struct lks_accord_of {
    enum lks_accord accord;
    struct lks_str value;
    const struct lks_reading *first;
};

/* Whether the `count` readings from `r` on are of GPUs, and of fewer than there are. */
bool lks_draft_lacks_gpus(const struct lks_draft *d, const struct lks_reading *r, size_t count);

struct lks_accord_of lks_draft_accord(const struct lks_draft *d, struct lks_str name);

/* All readings called `name` are in the manifest now, or are kept out of it on purpose. */
void lks_draft_said(struct lks_draft *d, struct lks_str name);

/* Note that `subject` is not in the manifest. A warning, where its change would go unseen. */
void lks_draft_left_out(struct lks_draft *d, enum lks_severity severity, struct lks_str subject,
                        const char *fmt, ...) LKS_PRINTF(4, 5);

/* What keeps the machine from being golden. */
#define LKS_DRAFT_REFUSE(d, rule, subject, ...)                                                    \
    lks_report_add((d)->report, (rule), LKS_ERROR, (subject), NULL, __VA_ARGS__)

/* A text in the report's arena. */
#define LKS_DRAFT_TEXT(d, ...) lks_report_text((d)->report, __VA_ARGS__)

/* Whether a manifest takes `s` as a version: see LKS_TYPE_VERSION. */
bool lks_draft_is_version(struct lks_str s);

/* The parts. Each says what it could not, and refuses what must be there and is not. */
void lks_draft_class(struct lks_draft *d);
void lks_draft_components(struct lks_draft *d);
void lks_draft_firmware(struct lks_draft *d);
void lks_draft_settings(struct lks_draft *d);
void lks_draft_tuning(struct lks_draft *d);

/* All that was not stated yet. */
void lks_draft_rest(struct lks_draft *d);

#endif
