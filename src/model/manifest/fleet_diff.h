/*
 * Two fleet manifests compared, field by field, by the tables of their kinds.
 *
 * Pools, sites, power zones, domains, stacks and hardware classes are compared by name, nodes and
 * assets by host: a group that is written as two, or in another place of the file, is no
 * difference. A field that says what its absence means is none either. Hosts with the same
 * difference are one thing of the result.
 */
#ifndef LKS_MODEL_FLEET_DIFF_H
#define LKS_MODEL_FLEET_DIFF_H

#include "model/schema/schema.h"

/* A field that differs. */
struct lks_fleet_diff_field {
    char mark;               /* '+': only in the new one; '-': only in the old one; '~': in both */
    struct lks_str path;     /* "gate.min_soak" */
    struct lks_str old, new; /* empty where it is absent */
    uint32_t line;           /* of the field in the new file; 0: it has none, or JSON */
};

/* A thing that differs. */
struct lks_fleet_diff_thing {
    char mark;
    const char *what;                    /* "pool", "nodes", "Stack" */
    struct lks_str name;                 /* of hosts a host list */
    size_t hosts;                        /* nodes, assets: how many */
    uint32_t line;                       /* in the new file; of a removed thing in the old one */
    struct lks_fleet_diff_field *fields; /* none for a whole stack or hardware class */
    size_t field_count, field_room;
};

struct lks_fleet_diff {
    struct lks_arena arena; /* owns all that follows */
    struct lks_fleet_diff_thing *things;
    size_t count, room;
};

/* The documents are those of lks_manifest_docs(), and outlive `out`; `old` may have none. The
 * caller owes lks_fleet_diff_fini(). */
enum lks_code lks_fleet_diff(const struct lks_docs *old, const struct lks_docs *new,
                             struct lks_fleet_diff *out, struct lks_err *err) LKS_MUST_CHECK;
void lks_fleet_diff_fini(struct lks_fleet_diff *diff);

/* The thing of this kind and name, and its field; NULL: it does not differ. */
const struct lks_fleet_diff_thing *lks_fleet_diff_find(const struct lks_fleet_diff *diff,
                                                       const char *what, struct lks_str name);
const struct lks_fleet_diff_field *lks_fleet_diff_field(const struct lks_fleet_diff_thing *thing,
                                                        const char *path);

#endif
