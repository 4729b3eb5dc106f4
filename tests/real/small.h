/* A small fleet of real parts: lockstepd on SQLite, an agent for each node on a captured machine of
 * its own, and lockstep-bmcsim for their BMCs. The first node is for development, the second and
 * the third are one domain. All of them run stack A; B, which is released too, differs from it in a
 * package, a setting and the firmware of a device behind the BMC. */
#ifndef LKS_TESTS_REAL_SMALL_H
#define LKS_TESTS_REAL_SMALL_H

#include "model/record.h"
#include "tests/flashes.h"

#define SMALL_NODES_MAX 6
#define SMALL_PATH      512
#define SMALL_SORT_SIZE 96

struct small {
    struct flashes f;
    struct lks_client *approver, *for_train, *for_dev; /* two for each pool */
    size_t nodes;
    char roots[SMALL_NODES_MAX][SMALL_PATH / 2 + 8];
    pid_t agents[SMALL_NODES_MAX]; /* 0: none runs */
};

const char *small_name(size_t i); /* "g1" ... */

/* All of it, until every node conforms to A; false is a failed check. Its end is due either way. */
bool small_begin(struct small *s, size_t nodes, const char *config);
void small_end(struct small *s);

/* Parts of it that tests stop and start again. */
bool small_start_bmcs(struct small *s); /* new ones, at the addresses of those before */
bool small_start_agents(struct small *s);
void small_stop_agents(struct small *s);

/* Wait until every node conforms to its stack. */
bool small_conform(struct small *s);

/* What tells a record from others of its kind: where in the campaign it is. */
void small_sort(const struct lks_record *r, char out[SMALL_SORT_SIZE]);

/* How everything stands, by the truth, in lines: what nodes and devices run, how often a device was
 * flashed and an agent began to change its node. No command was begun that was not sent. */
void small_tell_end(struct small *s, struct lks_buf *out);

#endif
