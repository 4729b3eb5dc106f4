/*
 * Versions and ranges of them.
 *
 * One version string, four ways to order it: what 1.10 and 1.9, 580~rc1 and 580, or 96.00.A5 and
 * 96.00.1A mean to each other depends on who numbers. Every scheme is a total order in which equal
 * means "the same version written differently" (dotted 1.0 and 1.0.0, 570.5 and 570.05). Numbers
 * have no largest value; only the text has a limit.
 *
 * dotted: 580.95.05, v2.18.1, R580, 3.3.0-1, 4.4.2-4.7.0. Numbers between dots, perhaps with one
 * 'R' or 'v' in front and a revision of the same form behind a dash. Missing numbers are 0, a
 * missing revision too. "+build" is not accepted: ignoring it would make different builds equal,
 * and no rule orders it.
 *
 * debian: [epoch:]upstream[-revision] as in deb-version(7), '~' sorting before the end. The
 * upstream version begins with a digit.
 *
 * vbios: 96.00.A5.00.1A. Pairs of hexadecimal digits between dots; missing ones are 00.
 *
 * firmware: 28.39.2048, 24.10-3, HGX-22.10-1-rc67, U8X, 00.02.0134.0000_n00. Runs of digits or of
 * letters, with at most one separator (. - _ + ~ :) between two, and at least one digit in all:
 * "unknown" is no version. Separators only separate, and case does not matter. Missing runs are 0;
 * letters come after 0 and before 1, so that 1.0 = 1.0.0 < 1.0a < 1.0b < 1.0.1. "rc" means nothing
 * special: vendors ship rc67.
 */
#ifndef LKS_CODEC_VERSION_H
#define LKS_CODEC_VERSION_H

#include "base/err.h"
#include "base/str.h"

enum lks_version_scheme {
    LKS_VERSION_DOTTED,
    LKS_VERSION_DEBIAN,
    LKS_VERSION_VBIOS,
    LKS_VERSION_FIRMWARE,
    LKS_VERSION_SCHEME_COUNT
};

#define LKS_VERSION_LEN_MAX 128

const char *lks_version_scheme_name(enum lks_version_scheme scheme);

/* True when `v` can be ordered under `scheme`. */
bool lks_version_valid(struct lks_str v, enum lks_version_scheme scheme);

/* True when `v` is valid and whole, as its maker writes it: in dotted numbering it begins with a
 * digit and has a dot. "R580" and "580" are branches, "v580.1" is another spelling. */
bool lks_version_whole(struct lks_str v, enum lks_version_scheme scheme);

/* Negative, zero or positive. Never fails: what is not valid is ordered bytewise, after all that
 * is, so that sorting stays a total order whatever a machine reports. */
int lks_version_cmp(struct lks_str a, struct lks_str b, enum lks_version_scheme scheme);

/* The first number of a dotted version, whatever follows its first dot or dash: 580 of "580.95.05",
 * "R580" or "580.95.05-0ubuntu1"; -1 if there is none. */
int lks_version_major(struct lks_str v);

/* Equal, as dotted versions, as far as `prefix` goes: 6.4.x and 6.4 both cover 6.4.3, and 30.10
 * covers 30.10.2 but not 30.1. Nothing covers, and nothing is covered by, what is not valid. */
bool lks_version_covers(struct lks_str prefix, struct lks_str v);

/* What the maker of the software numbered, in a Debian version of a package of it: without epoch
 * and revision, and without the mark of a repacked source. "1:4.5.3-1" is 4.5.3,
 * "20.10.24+dfsg1-1+deb12u1" is 20.10.24. A view of `package`. */
struct lks_str lks_version_upstream(struct lks_str package);

/* What a program or a library says of its version, in dotted numbering, with no more detail than
 * `like` has: without "+build", and without a revision in numbers. 2.28.9 of "2.28.9+cuda13.0",
 * 6.4.3 of "6.4.3-128". A candidate stays one: "1.19.1-rc.2" is not 1.19.1. */
struct lks_str lks_version_stated(struct lks_str v, struct lks_str like);

/*
 * A range is conditions that must all hold, separated by blanks or commas, each an operator
 * (=, !=, <, <=, >, >=) and a version: ">=580.95.05 <581". A bare version means "=". Blanks may
 * follow the operator.
 */
#define LKS_RANGE_TERMS_MAX 8
#define LKS_RANGE_LEN_MAX   2048

enum lks_range_op {
    LKS_RANGE_EQ,
    LKS_RANGE_NE,
    LKS_RANGE_LT,
    LKS_RANGE_LE,
    LKS_RANGE_GT,
    LKS_RANGE_GE,
    LKS_RANGE_OP_COUNT
};

struct lks_range {
    size_t count;
    struct {
        enum lks_range_op op;
        struct lks_str version; /* a view of the text that was parsed */
    } terms[LKS_RANGE_TERMS_MAX];
};

/* The message says what is wrong with which condition. A range nothing can satisfy (">=2 <1", or
 * "<0" where 0 is the least there is) is refused: it is always a mistake. */
enum lks_code lks_version_range_parse(struct lks_str text, enum lks_version_scheme scheme,
                                      struct lks_range *out, struct lks_err *err) LKS_MUST_CHECK;

/* Whether `v` meets every condition. What is not a valid version is in no range, however wide: a
 * machine that reports nonsense must not pass as new enough. */
bool lks_version_range_has(const struct lks_range *range, struct lks_str v,
                           enum lks_version_scheme scheme);

#endif
