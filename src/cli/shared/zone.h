/* The time zone of the user: times that are written without one are meant in it. */
#ifndef LKS_CLI_ZONE_H
#define LKS_CLI_ZONE_H

#include "codec/time/tz.h"

#include <limits.h>

struct lks_zone {
    struct lks_tz tz;
    char name[LKS_TZ_TEXT_MAX + 1]; /* "Europe/Berlin", or the rule; empty: UTC */
};

/* From $TZ, where it is set (`tz` is not NULL), else /etc/localtime. What cannot be read is UTC, as
 * in the C library; commands print the zone they used. */
void lks_zone_local(const char *tz, struct lks_zone *out);

/* From files below `root`, for tests: "/" on a machine. */
void lks_zone_read(const char *root, const char *tz, struct lks_zone *out);

/* "Europe/Berlin" or "UTC". */
const char *lks_zone_name(const struct lks_zone *zone);

#endif
