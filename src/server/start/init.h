/* `lockstepd init`: a new data directory with keys, certificates, configuration and an empty
 * journal whose first records make the admin token good; or one more controller of a site, with
 * the keys of the first, a certificate of its own, and the database that is there. */
#ifndef LKS_SERVER_INIT_H
#define LKS_SERVER_INIT_H

#include "base/err.h"
#include "base/str.h"

#include <stdio.h>

struct lks_init_options {
    const char *data;
    const struct lks_str *names; /* of this host; none: its own name and localhost */
    size_t name_count;
    const char *people, *agents, *socket; /* NULL: as the configuration has them */
    const char *seal_key;                 /* file that is kept elsewhere; NULL: made here */
    const char *postgres; /* the database of the journal; NULL: SQLite in the data directory */
    const char *join;     /* a copy of another controller's data directory; NULL: a new site */
};

/* REFUSED where the directory is there and not empty. What to do next is written to `out`. */
enum lks_code lks_init_run(const struct lks_init_options *options, FILE *out,
                           struct lks_err *err) LKS_MUST_CHECK;

#endif
