/* For core/fold/apply*.c and core/fold/dump*.c: texts that a record and the state have under the
 * same name. One table serves both ways, so that what is applied is also dumped. */
#ifndef LKS_CORE_FOLD_TEXTS_H
#define LKS_CORE_FOLD_TEXTS_H

#include "core/fold/apply.h"
#include "core/fold/dump_plan.h"
#include "core/state/state_room.h"

/* Where a struct of a record has the text, and where a struct of the state has its number. */
struct lks_fold_text {
    size_t record, state;
};

struct lks_fold_texts {
    const struct lks_fold_text *list;
    size_t count;
};

extern const struct lks_fold_texts lks_texts_artifact, lks_texts_bundle, lks_texts_change,
    lks_texts_command, lks_texts_deviation, lks_texts_flash, lks_texts_image, lks_texts_key,
    lks_texts_override, lks_texts_proven, lks_texts_stack, lks_texts_step;

/* Give the texts of a record their numbers, in the order of the table. */
enum lks_code lks_texts_apply(const struct lks_applying *a, const struct lks_fold_texts *texts,
                              const void *record, void *state) LKS_MUST_CHECK;

/* Take what the record speaks of into a list in order of the table's first text; without that text
 * nothing is. `made` is the element, but for its texts. */
enum lks_code lks_texts_put(const struct lks_applying *a, const struct lks_fold_texts *texts,
                            const void *record, enum lks_sorted list, void *made) LKS_MUST_CHECK;

/* The texts of a record from their numbers. */
void lks_texts_dump(const struct lks_dump *d, const struct lks_fold_texts *texts, const void *state,
                    void *record);

#endif
