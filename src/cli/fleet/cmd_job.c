/* job ls, show. */
#include "cli/shared/commands.h"
#include "cli/shared/listing.h"
#include "core/view/view.h"

enum { EMPTY_SIZE = 256 };

static const struct lks_listing jobs = {
    .path = "/v1/jobs",
    .view = &lks_view_runs,
    .shown = "job,count,user,pool,nodes,ended,state,cause,by",
    .empty = "no runs of jobs are recorded",
};

/* A moment of an option, as the query has it. */
static enum lks_code add_moment(const struct lks_cli *cli, const struct lks_args *args,
                                const char *option, struct lks_remote_path *path,
                                struct lks_err *err)
{
    char text[LKS_TIME_TEXT_SIZE];
    lks_ms at = 0;
    if (!lks_args_has(args, option))
        return LKS_OK;
    if (lks_listing_moment(cli, args, option, &at, err) != LKS_OK)
        return err->code;
    lks_remote_path_query(path, option + 2, lks_str_from(lks_time_text(at, text)));
    return LKS_OK;
}

static void add_component(const struct lks_args *args, struct lks_remote_path *path)
{
    struct lks_str component, version = {0};
    if (!lks_args_has(args, "--component"))
        return;
    (void)lks_str_cut(lks_args_str(args, "--component"), '=', &component, &version);
    lks_remote_path_query(path, "component", component);
    if (version.len > 0)
        lks_remote_path_query(path, "version", version);
}

enum lks_code lks_cmd_job_ls(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    lks_remote_path_init(&path, jobs.path);
    lks_remote_path_options(&path, args,
                            LKS_WORDS("--user", "--account", "--partition", "--pool", "--site",
                                      "--node", "--stack", "--interrupted"));
    add_component(args, &path);
    if (add_moment(cli, args, "--since", &path, err) != LKS_OK ||
        add_moment(cli, args, "--until", &path, err) != LKS_OK)
        return err->code;
    return lks_listing_print_at(cli, args, &jobs, &path, err);
}

enum lks_code lks_cmd_job_show(struct lks_cli *cli, const struct lks_args *args,
                               struct lks_err *err)
{
    char empty[EMPTY_SIZE];
    const struct lks_listing runs = {
        .view = &lks_view_runs,
        .shown = "job,nodes,started,ended,state,exit,cause,by,stacks",
        .empty = empty,
    };
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    lks_remote_path_init(&path, jobs.path);
    lks_remote_path_query(&path, "id", lks_str_from(args->positional[0]));
    snprintf(empty, sizeof(empty),
             "no run of job %.64s is recorded. Runs in progress are not listed; short runs are "
             "counted together: lockstep job ls --user NAME",
             args->positional[0]);
    return lks_listing_print_at(cli, args, &runs, &path, err);
}
