/* Heads of the journal as agents kept them, for `journal verify --witness`. */
#ifndef LKS_CLI_WITNESSES_H
#define LKS_CLI_WITNESSES_H

#include "model/record/row.h"

#define LKS_WITNESSES_MAX 1000000

struct lks_witnesses {
    struct lks_head *heads; /* owned */
    size_t count, room;
};

/* `place` is a file of head lines, or a directory: then every file `witness` in it, or up to
 * two levels below, is read. NULL: none. */
enum lks_code lks_witnesses_read(const char *place, struct lks_witnesses *out,
                                 struct lks_err *err) LKS_MUST_CHECK;
void lks_witnesses_fini(struct lks_witnesses *w);

#endif
