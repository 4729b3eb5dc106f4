/* Files that were built into the program (tools/embed.c). */
#ifndef LKS_BASE_EMBEDDED_H
#define LKS_BASE_EMBEDDED_H

#include "base/str.h"

struct lks_embedded {
    const char *name; /* without folders; NULL ends a table */
    struct lks_str bytes;
};

/* All of data/. */
extern const struct lks_embedded lks_embedded_data[];

/* All of packaging/completion/. */
extern const struct lks_embedded lks_embedded_completion[];

/* All of db/sqlite/, in order. */
extern const struct lks_embedded lks_embedded_schema[];

/* All of db/postgres/, likewise. */
extern const struct lks_embedded lks_embedded_postgres[];

#endif
