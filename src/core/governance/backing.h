/*
 * The people behind an act, where two people have to agree.
 *
 * The maker of a credential has held its secret, or could have made its key, and can act by it in
 * another's name. So behind an act are the identity that asked and the minters of its credential:
 * the person who made it, and those behind the credential by which that was made, and so on. They
 * are recorded with the act and with each credential, so nothing is to be traced back later. One
 * whom two acts have in common may have done both, and they count as one person's.
 *
 * Credentials, as records name them:
 *
 *     token:ID            an API token; its minters are those of its record. That of a login with
 *                         the site's identity provider has none: token:login.NAME.CHANCE
 *     certificate:SERIAL  a person's certificate, the same
 *     unix:UID            the socket's peer. The person who gave it its roles counts as its minter:
 *                         that person may have the uid
 *     ticket:SYSTEM       a signed message of a ticket system: no minter
 *
 * Root on a controller's own socket can replace the program and is no minter: what root makes has
 * no person behind it but the one it was made for. That is how a site gets people who are
 * independent of each other.
 */
#ifndef LKS_CORE_BACKING_H
#define LKS_CORE_BACKING_H

#include "base/str.h"

struct lks_api_token;
struct lks_buf;
struct lks_made;
struct lks_state;

#define LKS_BACKING_MAX      32 /* people behind a credential */
#define LKS_BACKING_TEXT_MAX ((size_t)64 * 1024)
#define LKS_BACKING_VOICES   64 /* whose independence is looked at together */

struct lks_backing {
    struct lks_str by;      /* the identity */
    struct lks_str minters; /* others, with blanks between; "?": not known */
};

/* Whether one person may be behind both. */
bool lks_backing_shared(struct lks_backing a, struct lks_backing b);

/* The first person behind both, for messages; an empty view: none, or none known. */
struct lks_str lks_backing_who(struct lks_backing a, struct lks_backing b);

/* The minters of a credential of `identity`, into `out`. Where it is empty, as a controller of an
 * earlier version forwards calls, those of all credentials that the identity has. */
void lks_backing_minters(const struct lks_state *s, struct lks_str identity,
                         struct lks_str credential, struct lks_buf *out);

/* Those of what was made so: its maker and the people behind them. */
void lks_backing_made(const struct lks_state *s, const struct lks_made *made, struct lks_buf *out);

/* The same of an API token; of a login there are none. */
void lks_backing_token(const struct lks_state *s, const struct lks_api_token *token,
                       struct lks_buf *out);

/* How many people a list of minters names. */
uint32_t lks_backing_count(struct lks_str minters);

/* For each of `count` voices (at most LKS_BACKING_VOICES) those that may be the same person's, as
 * bits; and the most of those in `among` that are of different people. */
void lks_backing_rivals(const struct lks_backing *voices, uint32_t count, uint64_t *rivals);
uint32_t lks_backing_most(const uint64_t *rivals, uint64_t among);

#endif
