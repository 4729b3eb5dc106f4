/* What the files of conformance share: a pin, the readings it is held against, and the row that
 * comes of it. For core/conform/conform*.c alone. */
#ifndef LKS_CORE_CONFORM_JUDGE_H
#define LKS_CORE_CONFORM_JUDGE_H

#include "core/conform/conform.h"

struct lks_judge {
    const struct lks_facts *facts;
    const struct lks_stack *stack;
    const struct lks_tuple *tuple;
    struct lks_conformance *out;
    bool asset;          /* it is of an asset, */
    struct lks_str side; /* on this side of a pair; or empty */
};

/* Readings that one pin is about, in the order of the tuple. */
struct lks_readings {
    const struct lks_reading **list; /* in the conformance's arena */
    size_t count;
};

/* One pin, and what it asks of every reading it is about. */
struct lks_pin {
    struct lks_str subject;
    struct lks_str pinned;                                                 /* as people read it */
    bool (*holds)(const struct lks_pin *pin, const struct lks_reading *r); /* of a measured one */
    bool absent_holds;                   /* not to be there is what is wanted, or the same */
    enum lks_cause changed;              /* where no device has it */
    enum lks_cause gone;                 /* where it is absent and should not be */
    const struct lks_component *pin;     /* for `holds`: a component or a firmware entry, */
    const struct lks_doc *doc;           /* a value of the settings, */
    const struct lks_range *window;      /* a range, or NULL, */
    enum lks_version_scheme scheme;      /* how versions are ordered, */
    int64_t number;                      /* a count, */
    const struct lks_gpu *const *boards; /* the boards that are meant */
    size_t board_count;
};

/* All readings called `name`; none where memory ran out, which stays noted. */
struct lks_readings lks_conform_called(struct lks_judge *j, struct lks_str name);

/* Add a row. It is counted by its verdict. NULL where memory ran out. */
struct lks_judgement *lks_conform_row(struct lks_judge *j, const struct lks_judgement *row);

/* Hold `pin` against all of `readings` and add the row: drift beats what was not measured, and
 * nothing at all is not measured. The row may be changed until the next one is added. */
struct lks_judgement *lks_conform_readings(struct lks_judge *j, const struct lks_pin *pin,
                                           const struct lks_readings *readings);

/* Undo the yes in `row`, which was just added, where fewer GPUs were read than the class has.
 * Nothing changes where the readings are not of GPUs. */
void lks_conform_each_gpu(struct lks_judge *j, struct lks_judgement *row,
                          const struct lks_readings *readings);

/* Whether `r` is as `pin` wants it; false for what was not measured. */
bool lks_conform_holds(const struct lks_pin *pin, const struct lks_reading *r);

/* A text in the conformance's arena; empty where memory ran out. */
struct lks_str lks_conform_text(struct lks_judge *j, const char *fmt, ...) LKS_PRINTF(2, 3);
struct lks_str lks_conform_copy(struct lks_judge *j, const struct lks_buf *text);

/* "a.b", the same way. */
struct lks_str lks_conform_path(struct lks_judge *j, struct lks_str a, struct lks_str b);

/* A row of what no probe reads, or of what one could not. */
void lks_conform_unmeasured(struct lks_judge *j, struct lks_str subject, struct lks_str pinned,
                            const struct lks_reading *r);

/* Where one copy of a pinned thing is: what its entry says, else what is usual for it. */
struct lks_str lks_conform_scope(const struct lks_judge *j, const struct lks_component *c);

/* Assets of the rack or the site answer for what is theirs; a node is asked only if it knows. */
bool lks_conform_elsewhere(const struct lks_judge *j, const struct lks_component *c);

/* The version of a pin, with its window where it has one. */
struct lks_str lks_conform_pinned(struct lks_judge *j, const struct lks_component *c);

/* The window of `c` in `range`, or NULL where it has none. */
const struct lks_range *lks_conform_window(const struct lks_judge *j, const struct lks_component *c,
                                           struct lks_range *range);

/* The build of `c`, whose version is the pinned one: another version is another build, and is told
 * as such. */
void lks_conform_build(struct lks_judge *j, const struct lks_component *c);

void lks_conform_component(struct lks_judge *j, const struct lks_component *c);
void lks_conform_firmware(struct lks_judge *j, const struct lks_component *c);
void lks_conform_settings(struct lks_judge *j);
void lks_conform_tuning(struct lks_judge *j);

/* Against the class that was chosen. */
void lks_conform_devices(struct lks_judge *j);

/* The GPUs that a scheduler advertises, held against those of the class and the pinned MIG
 * geometry. A node of which no scheduler said anything gets no row: it may have none. */
void lks_conform_scheduler(struct lks_judge *j);

/* The stack's class that fits the node best, without any rows. */
const struct lks_class *lks_conform_class(struct lks_judge *j);

#endif
