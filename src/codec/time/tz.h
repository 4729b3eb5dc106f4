/*
 * Time zones as POSIX writes them: "CET-1CEST,M3.5.0,M10.5.0/3". A name of the zone database
 * ("Europe/Berlin") stands for the rule that it has for the time to come.
 *
 * Pure: what the time is there follows from the rule and the moment, whatever this machine has
 * installed.
 */
#ifndef LKS_CODEC_TZ_H
#define LKS_CODEC_TZ_H

#include "base/err.h"
#include "base/str.h"

#define LKS_TZ_TEXT_MAX 128

enum lks_tz_day_kind { LKS_TZ_MONTH, LKS_TZ_JULIAN, LKS_TZ_YEARDAY };

/* When the clock is changed: a day of the year, and seconds of local time behind its midnight. */
struct lks_tz_turn {
    enum lks_tz_day_kind kind;
    int month, week, weekday; /* MONTH: week 5 is the last; Sunday is 0 */
    int day;                  /* JULIAN: 1 to 365, never 29 February; YEARDAY: 0 to 365 */
    int32_t seconds;
};

struct lks_tz {
    int32_t standard, summer; /* seconds that clocks are ahead of UTC */
    bool turns;               /* there is a summer time */
    struct lks_tz_turn begins, ends;
};

/* A rule or a name; an empty text is UTC. */
enum lks_code lks_tz_parse(struct lks_str text, struct lks_tz *out,
                           struct lks_err *err) LKS_MUST_CHECK;

/* The rule for the time to come that a file of the zone database (/etc/localtime) ends with; false
 * for other bytes, and for files from before there was one. */
bool lks_tz_footer(struct lks_str file, struct lks_str *rule);

/* Seconds that clocks there are ahead of UTC at this moment (seconds since 1970). */
int32_t lks_tz_offset(const struct lks_tz *tz, int64_t at);

/* The next moment behind `at` at which that changes; INT64_MAX: never. */
int64_t lks_tz_next_turn(const struct lks_tz *tz, int64_t at);

/* The zones that have names: a rule, and who has it, with blanks between. */
struct lks_tz_zone {
    const char *rule, *names;
};
extern const struct lks_tz_zone lks_tz_zones[];
extern const size_t lks_tz_zone_count;

#endif
