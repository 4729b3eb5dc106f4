/* A fleet file compared with the fleet as it is now, as people read it before it is applied. */
#ifndef LKS_CLI_FLEET_PLAN_H
#define LKS_CLI_FLEET_PLAN_H

#include "cli/shared/remote.h"
#include "codec/format/digest.h"
#include "model/manifest/fleet_diff.h"

struct lks_fleet_plan {
    const char *file;    /* its name, for messages */
    struct lks_buf text; /* its bytes, which are tried, compared and applied: it is read once */
    bool known;          /* both could be read; if not, there is no `diff` */
    char from[LKS_DIGEST_SIZE]; /* of the manifest of the fleet as it is now, if known */
    struct lks_docs now, wanted;
    struct lks_fleet_diff diff;
};

/* Read the file; "-" is standard input. The caller owes lks_fleet_plan_fini(). */
enum lks_code lks_fleet_plan_read(const char *file, struct lks_fleet_plan *out,
                                  struct lks_err *err) LKS_MUST_CHECK;

/* Fetch the manifest of the fleet as it is now, and compare. A lockstepd that does not answer with
 * it, or a file that only lockstepd can read, leaves `known` false. */
enum lks_code lks_fleet_plan_compare(struct lks_cli *cli, const struct lks_args *args,
                                     struct lks_fleet_plan *plan,
                                     struct lks_err *err) LKS_MUST_CHECK;
void lks_fleet_plan_fini(struct lks_fleet_plan *plan);

/* After lockstepd refused the file by `err`, the first error in it: print all of them, with the
 * line in the file. This program finds them by its own facts; where lockstepd found another one,
 * `err` stays alone. Returns its code. */
enum lks_code lks_fleet_plan_faults(struct lks_cli *cli, const struct lks_fleet_plan *plan,
                                    struct lks_err *err) LKS_MUST_CHECK;

/* Print each difference, and what applying it causes, by `answer`: that of a dry run. */
void lks_fleet_plan_print(struct lks_cli *cli, const struct lks_fleet_plan *plan,
                          const struct lks_doc *answer);

/* Print, as errors, the lines of the file that name another stack than their pool is pinned to:
 * that is why a file is refused that was not edited after a change. */
void lks_fleet_plan_stale(struct lks_cli *cli, const struct lks_fleet_plan *plan);

#endif
