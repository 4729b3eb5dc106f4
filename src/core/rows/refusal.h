/* Jobs that a pool refused on a day, or would have refused, by user, image and reason. */
#ifndef LKS_ROWS_REFUSAL_H
#define LKS_ROWS_REFUSAL_H

#include "core/rows/text.h"
#include "model/record/record_words.h"

#include <stdint.h>

#define LKS_STATE_REFUSALS_MAX 40000 /* at this many, the oldest quarter is dropped */

/* With `node`, the row counts jobs on that node; without, jobs of the user with the image. */
struct lks_refusal {
    uint64_t day; /* since 1970 */
    lks_text pool;
    enum lks_bar bar;
    lks_text user, image, node;
    uint64_t count;
};

struct lks_refusals {
    struct lks_refusal *list; /* owned; by day */
    uint32_t count, room;
    uint32_t *order; /* owned: places of the rows of the last day, for lks_refusals_find() */
    uint32_t order_count, order_room;
};

#endif
