/*
 * Things that a caller names in a filter: pools, sites, racks, domains, hardware classes, nodes,
 * tuples. One that is not there is refused with the nearest name, because an empty list would read
 * as "all is well". Callers see what nodes they may read have, and what others have is not there.
 */
#ifndef LKS_SERVER_LOOKUP_H
#define LKS_SERVER_LOOKUP_H

#include "core/entity/entity.h"
#include "server/auth/authz.h"

struct lks_bitset;
struct lks_view;

#define LKS_LOOKUP_TERMS_MAX 32

/* What a list is limited to, by columns with the use FILTER: values as numbers. */
struct lks_lookup_filter {
    struct {
        const struct lks_column *column;
        uint64_t wanted;
    } terms[LKS_LOOKUP_TERMS_MAX];
    size_t count;
};

/* Those that the query names. False, and the answer written, where it names a text or a pool, which
 * only lists of nodes take, that no node the caller sees has. */
bool lks_lookup_filter(const struct lks_authz *authz, struct lks_call *call,
                       const struct lks_view *view, struct lks_lookup_filter *out);
bool lks_lookup_fits(const struct lks_lookup_filter *f, const void *row);

/* A pool that the caller sees; `given` says whether `text` names one. False, and the answer
 * written, where there is none. */
bool lks_lookup_pool(const struct lks_authz *authz, struct lks_call *call, struct lks_str text,
                     bool *given, uint32_t *out);

/* The nodes of a host list in the parameter `key`, as bits of `out`, which the caller owes
 * lks_bitset_fini(); without a list it stays empty (`words` is NULL). */
enum lks_lookup_of {
    LKS_LOOKUP_NODES, /* of the fleet, without assets */
    LKS_LOOKUP_ALL,   /* nodes and assets of the fleet */
    LKS_LOOKUP_PAST,  /* those that it had, too, for callers who see the whole fleet */
};
bool lks_lookup_hosts(const struct lks_authz *authz, struct lks_call *call, const char *key,
                      struct lks_str text, enum lks_lookup_of of, struct lks_bitset *out);

/* `out` names a "stack" or a "bundle" (`what`) and becomes its digest; empty: it stays so. A name
 * that is not known stays as it is, since the fleet's own file may have it, or the decision refuses
 * it. False, and the answer written, where several have the name. */
bool lks_lookup_digest(const struct lks_authz *authz, struct lks_call *call, const char *what,
                       struct lks_str *out);

/* An event about the node of the path. False, and the answer written, where
 * the node is not there. */
bool lks_lookup_event(const struct lks_authz *authz, struct lks_call *call,
                      enum lks_event_kind kind, struct lks_str reason, struct lks_event *out);

/* "there is no node 'n9'; did you mean 'n8'?" of what the caller sees, as the answer. */
void lks_lookup_no_node(const struct lks_authz *authz, struct lks_call *call, struct lks_str name);
void lks_lookup_no_pool(const struct lks_authz *authz, struct lks_call *call, struct lks_str name);

/* "; or there is no node 'n9': ...", for a refusal that does not tell. Other nodes are not
 * suggested: the node may be there and unseen, and its name right. */
void lks_lookup_maybe_node(const struct lks_call *call, struct lks_str name, struct lks_buf *out);

/* Whether a person has a role, a token or a certificate. False: `nearest` is the nearest name of
 * those who have a role, or empty. */
bool lks_lookup_person(const struct lks_state *s, struct lks_str identity, struct lks_str *nearest);

/* Whether the fleet has or had a node or asset of this name, whose past is asked for; empty: true.
 * False, and the answer written, where it never had one, or has none that the caller sees. */
bool lks_lookup_ever(const struct lks_authz *authz, struct lks_call *call, struct lks_str name);

#endif
