/* Routes of the API and the commands that send them: each route of people has a command, or the
 * reason why there is none. */
#ifndef LKS_CLI_ACTS_H
#define LKS_CLI_ACTS_H

#include <stddef.h>

struct lks_act {
    const char *route;   /* the operationId */
    const char *command; /* "node hold"; NULL: none, for the */
    const char *reason;
};
extern const struct lks_act lks_acts[];
extern const size_t lks_act_count;

/* The act that a command is for; NULL: it sends none. */
const struct lks_act *lks_acts_of_command(const char *command);

#endif
