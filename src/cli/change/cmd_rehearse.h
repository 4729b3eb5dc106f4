/* What the files of `rehearse` share. */
#ifndef LKS_CLI_CMD_REHEARSE_H
#define LKS_CLI_CMD_REHEARSE_H

#include "cli/shared/cli.h"
#include "lab/rehearse/forecast.h"

#define LKS_REHEARSE_SEEDS_MAX 100000

/* Runs that are over. */
struct lks_rehearse_runs {
    struct lks_rehearsed *list; /* owned */
    size_t count, room;
};

/* Seeds from `first` on, each in a process of its own that begins as a copy of this one, as many at
 * a time as there are processors (`jobs`, 0: that many). Ctrl-C ends it with those that are over.
 */
enum lks_code lks_rehearse_many(struct lks_cli *cli, struct lks_world *w, uint64_t first,
                                uint64_t count, unsigned jobs,
                                const struct lks_rehearse_faults *faults,
                                struct lks_rehearse_runs *out, struct lks_err *err) LKS_MUST_CHECK;

/* The copy comes from the lockstepd that the options name. */
enum lks_code lks_rehearse_ask(struct lks_cli *cli, const struct lks_args *args,
                               const struct lks_world_options *options, struct lks_world **out,
                               struct lks_err *err) LKS_MUST_CHECK;

/* The forecast as tables. */
enum lks_code lks_rehearse_print(struct lks_cli *cli, const struct lks_forecast *f,
                                 const struct lks_forecast_about *about,
                                 struct lks_err *err) LKS_MUST_CHECK;

#endif
