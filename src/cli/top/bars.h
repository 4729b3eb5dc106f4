/* How a row of marks is shared between states of nodes. */
#ifndef LKS_CLI_TOP_BARS_H
#define LKS_CLI_TOP_BARS_H

#include "base/term/term.h"
#include "codec/format/docs.h"

enum { LKS_TOP_BAR_PARTS = 4 };

struct lks_top_bar_part {
    const char *word; /* of people */
    const char *path; /* of the number, as in {path#} of cli/shared/render.h */
    char mark;
    enum lks_colour colour;
};

/* In the order of a bar; the first part takes what the others leave. */
extern const struct lks_top_bar_part lks_top_bar_liveness[LKS_TOP_BAR_PARTS];
extern const struct lks_top_bar_part lks_top_bar_progress[LKS_TOP_BAR_PARTS];

/* How many marks of `room` each part gets: at least one for any that a node is in, as long as there
 * is room, those that matter most first; the rest is for the first part. */
void lks_top_bar_share(const struct lks_top_bar_part parts[LKS_TOP_BAR_PARTS],
                       const struct lks_doc *doc, uint64_t room, uint64_t marks[LKS_TOP_BAR_PARTS]);

#endif
