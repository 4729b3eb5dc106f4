/* A small fleet of real parts: lockstepd on SQLite, an agent for each node on a captured machine of
 * its own, and lockstep-bmcsim for their BMCs. The first node is for development, the second and
 * the third are one domain. All of them run stack A; B, which is released too, differs from it in a
 * package, a setting and the firmware of a device behind the BMC. */
#ifndef LKS_TESTS_REAL_SMALL_H
#define LKS_TESTS_REAL_SMALL_H

#include "model/record/record.h"
#include "tests/flashes.h"

#define SMALL_NODES_MAX 16
#define SMALL_PATH      512
#define SMALL_SORT_SIZE 96

struct small;

/* Where it is not one lockstepd on SQLite. */
struct small_site {
    bool (*start)(struct small *s, void *ctx); /* until s->f.crew can be asked */
    bool (*store)(void *ctx, struct lks_store *out);
    struct crew *people; /* whom people ask */
    unsigned speed;      /* of BMCs; 0: 1000 */
    unsigned headroom;   /* of pool "train"; 0: a tenth */
    const char *pools;   /* more of each pool in the fleet's file; NULL: nothing */
    const char *dev;     /* and of pool "dev" alone; NULL: nothing */
    const char *host;    /* of lockstepd, for agents; NULL: localhost */
    /* In the process that becomes the agent of a node; false: it ends. NULL: nothing to do. */
    bool (*enter)(void *ctx, size_t node);
    void *ctx;
};

struct small {
    struct flashes f;
    const struct small_site *site;                     /* NULL: none */
    struct lks_client *approver, *for_train, *for_dev; /* two for each pool */
    const char *pools;                                 /* more of each pool in the fleet's file */
    size_t nodes;
    char roots[SMALL_NODES_MAX][SMALL_PATH / 2 + 8];
    pid_t agents[SMALL_NODES_MAX]; /* 0: none runs */
};

const char *small_name(size_t i); /* "g1" ... */

/* All of it, until every node conforms to A; false is a failed check. Its end is due either way. */
bool small_begin(struct small *s, size_t nodes, const char *config);
bool small_begin_pools(struct small *s, size_t nodes, const char *config, const char *pools);
bool small_begin_at(struct small *s, size_t nodes, const struct small_site *site);
void small_end(struct small *s);

/* Before it starts: ports that are the same each time, and known in `c`. */
bool small_fix_ports(struct ctl *c);

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
