/* rehearse: a change on a copy of the fleet, many times. */
#include "cli/change/cmd_rehearse.h"

#include "base/file.h"
#include "base/process/interrupt.h"
#include "cli/shared/commands.h"
#include "cli/shared/controller.h"
#include "cli/shared/input.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"
#include "core/rows/change.h"
#include "core/state/state.h"
#include "core/stats/ramp.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

enum {
    SEEDS_USUAL = 1000,
    NODES_MAX = 1000000,
    JOBS_MAX = 256,
    SQLITE_MARK = 15,
    RESTART_SECONDS = 600
};
#define MANIFEST_BYTES_MAX ((size_t)256 << 20)
#define HOUR_MS            (3600 * LKS_SECOND)

/* Where the fleet comes from ------------------------------------------------------------------ */

static bool is_journal(const char *path, struct lks_str bytes)
{
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return true;
    return bytes.len > SQLITE_MARK && memcmp(bytes.ptr, "SQLite format 3", SQLITE_MARK) == 0;
}

static enum lks_code open_journal(const char *path, const struct lks_world_options *options,
                                  struct lks_world **out, struct lks_world_seen *seen,
                                  struct lks_err *err)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    if (lks_controller_journal(path, LKS_STORE_READ, &store, err) != LKS_OK ||
        lks_world_of_journal(&store, options, out, err) != LKS_OK)
        return err->code;
    return lks_world_see(&store, lks_world_state(*out)->placed_count, seen, err);
}

static enum lks_code open_fleet(const char *path, const struct lks_world_options *options,
                                struct lks_world **out, struct lks_world_seen *seen,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(MANIFEST_BYTES_MAX);
    if (is_journal(path, LKS_STR("")))
        return open_journal(path, options, out, seen, err);
    if (lks_file_read(path, &text, err) != LKS_OK)
        return err->code;
    if (is_journal(path, lks_buf_view(&text)))
        return open_journal(path, options, out, seen, err);
    if (!lks_str_utf8(lks_buf_view(&text), NULL))
        return lks_fail(err, LKS_E_INVALID,
                        "%s: neither a journal, nor a controller's data directory, nor a fleet's "
                        "file",
                        path);
    return lks_world_of_manifest(path, lks_buf_view(&text), options, out, err);
}

/* What is rehearsed --------------------------------------------------------------------------- */

static enum lks_code read_wish(const struct lks_args *args, struct lks_plan_wish *out,
                               struct lks_err *err)
{
    uint64_t soak = 0, canary = 0, failures = 0;
    struct lks_str hook = lks_args_str(args, "--hook");
    if (lks_listing_span(args, "--soak", &soak, err) != LKS_OK ||
        lks_listing_number(args, "--canary-max", NODES_MAX, 0, &canary, err) != LKS_OK ||
        lks_listing_number(args, "--failures", NODES_MAX, 0, &failures, err) != LKS_OK)
        return err->code;
    *out = (struct lks_plan_wish){
        .kind = LKS_CHANGE_STACK,
        .stack = lks_args_str(args, "--to"),
        .hosts = lks_args_str(args, "--nodes"),
        .pool = lks_args_str(args, "--pool"),
        .hook = hook.len > 0 ? hook : LKS_STR("site"),
        .windows = lks_args_str(args, "--window"),
        .canary_max = (uint32_t)canary,
        .failures_max = (uint32_t)failures,
        .soak = soak * LKS_SECOND,
        .rolls_back = lks_args_has(args, "--roll-back"),
        .one_way = lks_args_has(args, "--one-way"),
    };
    if (out->stack.len == 0)
        return lks_fail(err, LKS_E_USAGE,
                        "say which change by its number, or with --to and --pool or --nodes what "
                        "would be proposed");
    if ((out->hosts.len > 0) == (out->pool.len > 0))
        return lks_fail(err, LKS_E_USAGE, "--nodes or --pool has to say who changes, one of them");
    return LKS_OK;
}

/* Either a change that is there, or words of one that would be proposed: a forecast that passed
 * over what was asked for would be read as one that did not. */
static enum lks_code check_words(const struct lks_args *args, struct lks_err *err)
{
    static const char *const words[] = {"--to",        "--nodes",  "--pool",       "--hook",
                                        "--window",    "--soak",   "--canary-max", "--failures",
                                        "--roll-back", "--one-way"};
    bool number = args->positional_count > 0;
    if (!number && lks_args_has(args, "--keep"))
        return lks_fail(err, LKS_E_USAGE, "--keep needs the number of a change");
    if (lks_args_has(args, "--seed") && lks_args_has(args, "--seeds"))
        return lks_fail(err, LKS_E_USAGE, "--seed is one run, and --seeds are many: one of them");
    for (size_t i = 0; i < LKS_COUNT(words); i++) {
        if (number && lks_args_has(args, words[i]))
            return lks_fail(err, LKS_E_USAGE,
                            "%s is for a change that is not proposed yet: say the number of one, "
                            "or what would be proposed",
                            words[i]);
    }
    return LKS_OK;
}

static enum lks_code choose(struct lks_world *w, const struct lks_args *args, struct lks_err *err)
{
    struct lks_plan_wish wish;
    uint64_t id = 0;
    if (args->positional_count == 0)
        return read_wish(args, &wish, err) == LKS_OK ? lks_world_propose(w, &wish, err) : err->code;
    if (!lks_str_number(lks_str_from(args->positional[0]), UINT64_MAX, &id))
        return lks_fail(err, LKS_E_USAGE, "'%.40s' is not the number of a change",
                        args->positional[0]);
    return lks_world_choose(w, id, err);
}

static enum lks_code read_faults(const struct lks_args *args, struct lks_rehearse_faults *out,
                                 struct lks_err *err)
{
    *out = lks_rehearse_faults_usual;
    return lks_rehearse_faults_parse(lks_args_str(args, "--faults"), out, err);
}

/* A revision that no node has would make every run a good one. */
static enum lks_code check_faults(const struct lks_world *w,
                                  const struct lks_rehearse_faults *faults, struct lks_err *err)
{
    const struct lks_state *s = lks_world_state(w);
    const struct lks_state_change *c = lks_world_change(w);
    if (faults->revision[0] == '\0')
        return LKS_OK;
    for (uint32_t i = 0; i < c->member_count; i++) {
        const struct lks_node *node = &s->nodes[c->members[i].node];
        if (lks_str_is(lks_state_text(s, node->hardware_revision), faults->revision))
            return LKS_OK;
    }
    return lks_fail(err, LKS_E_INVALID,
                    "--faults: no node of the change is of hardware revision '%s'; the "
                    "fleet's file has those there are",
                    faults->revision);
}

/* "2.5" or "2.5 EUR". */
static enum lks_code read_price(const struct lks_args *args, struct lks_forecast_about *about,
                                struct lks_err *err)
{
    const char *text = lks_args_get(args, "--gpu-hour");
    char *end = NULL;
    about->money = "money";
    if (text == NULL)
        return LKS_OK;
    about->gpu_hour = strtod(text, &end);
    if (end == text || !(about->gpu_hour > 0) || about->gpu_hour > 1e6)
        return lks_fail(err, LKS_E_USAGE, "--gpu-hour: '%.40s' is not a price such as 2.5", text);
    while (*end == ' ')
        end++;
    if (*end != '\0')
        about->money = end;
    return LKS_OK;
}

/* What came of it ----------------------------------------------------------------------------- */

static void tell(void *ctx, lks_ms after, const char *text)
{
    struct lks_cli *cli = ctx;
    lks_ms minutes = after / (60 * LKS_SECOND);
    fprintf(cli->out, "%5llu:%02llu  %s\n", (unsigned long long)(minutes / 60),
            (unsigned long long)(minutes % 60), text);
}

static enum lks_code one_story(struct lks_cli *cli, struct lks_world *w, uint64_t seed, bool quiet,
                               const struct lks_rehearse_faults *faults,
                               struct lks_rehearse_runs *runs, struct lks_err *err)
{
    struct lks_world_say say = {cli, tell};
    runs->list = calloc(1, sizeof(runs->list[0]));
    if (runs->list == NULL)
        return lks_fail_nomem(err);
    if (lks_world_run(w, seed, faults, quiet ? NULL : &say, runs->list, err) != LKS_OK)
        return err->code;
    runs->count = runs->room = 1;
    if (!quiet)
        fputc('\n', cli->out);
    return LKS_OK;
}

static void make_title(const struct lks_world *w, const struct lks_args *args, char *out,
                       size_t size)
{
    const struct lks_state *s = lks_world_state(w);
    const struct lks_state_change *c = lks_world_change(w);
    uint32_t nodes = 0, gpus = 0;
    char number[32] = "";
    lks_world_size(w, &nodes, &gpus);
    if (args->positional_count > 0)
        (void)snprintf(number, sizeof(number), "change %" PRIu64 ": ", c->id);
    (void)snprintf(out, size, "%s%u nodes, %u GPUs to %.*s", number, nodes, gpus,
                   LKS_STR_ARG(lks_state_text(s, c->name)));
}

/* The forecast is kept with the change, by the lockstepd that it was proposed to. */
static enum lks_code keep(struct lks_cli *cli, const struct lks_args *args,
                          const struct lks_forecast *f, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    const struct {
        const char *key;
        double value;
    } rows[] = {
        {"runs", f->plain},
        {"took_low_ms", f->hours.low * (double)HOUR_MS},
        {"took_middle_ms", f->hours.middle * (double)HOUR_MS},
        {"took_high_ms", f->hours.high * (double)HOUR_MS},
        {"gpu_hours_low", f->gpu_hours.low},
        {"gpu_hours_middle", f->gpu_hours.middle},
        {"gpu_hours_high", f->gpu_hours.high},
        {"kept_high", f->lost.high},
        {"reached_high", f->reached.high},
    };
    lks_remote_question_init(&q, "POST", "/v1/changes");
    lks_remote_path_add(&q.path, lks_str_from(args->positional[0]));
    lks_remote_path_add(&q.path, LKS_STR("forecast"));
    lks_json_begin(&q.w, NULL, '{');
    for (size_t i = 0; i < LKS_COUNT(rows); i++)
        lks_json_int(&q.w, rows[i].key, (int64_t)(rows[i].value + 0.5));
    lks_json_end(&q.w, '}');
    return lks_remote_question_ask(cli, args, &q, err);
}

static enum lks_code draw(const char *path, const struct lks_forecast *f,
                          const struct lks_forecast_about *about, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_OUTPUT_BYTES_MAX);
    lks_forecast_svg(f, about, &text);
    enum lks_code code = lks_buf_check(&text, err);
    return code == LKS_OK ? lks_file_replace(path, lks_buf_view(&text), err) : code;
}

/* Asked before the runs: who would wait hours for a picture is told at once that none can be there.
 */
static enum lks_code check_picture(const struct lks_args *args, struct lks_err *err)
{
    const char *picture = lks_args_get(args, "--svg");
    if (picture != NULL && lks_file_replaceable(picture, err) != LKS_OK)
        return lks_wrap(err, "--svg");
    return LKS_OK;
}

/* The numbers come first: what took hours is not lost to a disk that became full meanwhile. */
static enum lks_code show(struct lks_cli *cli, const struct lks_args *args,
                          const struct lks_rehearse_runs *runs,
                          const struct lks_forecast_about *about, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_OUTPUT_BYTES_MAX);
    const char *picture = lks_args_get(args, "--svg");
    struct lks_forecast *f = calloc(1, sizeof(*f));
    if (f == NULL)
        return lks_fail_nomem(err);
    enum lks_code code = lks_forecast_make(runs->list, runs->count, f, err);
    if (code == LKS_OK && lks_args_has(args, "--json")) {
        lks_forecast_json(f, about, &text);
        code = lks_output_json(cli, &text, err);
    } else if (code == LKS_OK) {
        code = lks_rehearse_print(cli, f, about, err);
    }
    if (code == LKS_OK && lks_args_has(args, "--keep"))
        code = keep(cli, args, f, err);
    if (code == LKS_OK && picture != NULL)
        code = draw(picture, f, about, err);
    free(f);
    return code;
}

static enum lks_code rehearse(struct lks_cli *cli, const struct lks_args *args, struct lks_world *w,
                              struct lks_err *err)
{
    struct lks_rehearse_runs runs = {0};
    struct lks_rehearse_faults faults;
    struct lks_forecast_about about = {0};
    uint64_t seeds = 0, seed = 0, jobs = 0;
    struct lks_rehearse_site sites[LKS_REHEARSE_SITES];
    char title[256];
    if (read_faults(args, &faults, err) != LKS_OK || read_price(args, &about, err) != LKS_OK ||
        lks_listing_number(args, "--seeds", LKS_REHEARSE_SEEDS_MAX, SEEDS_USUAL, &seeds, err) !=
            LKS_OK ||
        lks_listing_number(args, "--seed", UINT64_MAX / 2, 0, &seed, err) != LKS_OK ||
        lks_listing_number(args, "--jobs", JOBS_MAX, 0, &jobs, err) != LKS_OK ||
        choose(w, args, err) != LKS_OK || check_faults(w, &faults, err) != LKS_OK)
        return err->code;
    make_title(w, args, title, sizeof(title));
    about.title = title;
    about.sites = sites;
    about.site_count = lks_world_listed_sites(w, sites, &about.drawn);
    bool one = lks_args_has(args, "--seed"), quiet = lks_args_has(args, "--json");
    enum lks_code code =
        one ? one_story(cli, w, seed, quiet, &faults, &runs, err)
            : lks_rehearse_many(cli, w, 1, seeds, (unsigned)jobs, &faults, &runs, err);
    lks_interrupt_end();
    if (code == LKS_OK)
        code = show(cli, args, &runs, &about, err);
    free(runs.list);
    return code;
}

/* How often a job of so many nodes should write a checkpoint, by how often nodes went away. */
static void advise(struct lks_cli *cli, const struct lks_world_seen *seen, double cost)
{
    static const uint32_t sizes[] = {8, 64, 512};
    if (seen->losses == 0) {
        fprintf(cli->out,
                "\nno node was lost in %.0f node-hours: nothing to advise on "
                "checkpoints\n",
                seen->node_hours);
        return;
    }
    double between = seen->node_hours / (double)seen->losses;
    fprintf(cli->out,
            "\na node was lost every %.0f node-hours (%" PRIu64 " times). Checkpoints "
            "that take %.0f s:\n",
            between, seen->losses, cost);
    for (size_t i = 0; i < LKS_COUNT(sizes); i++) {
        double fails = between * 3600 / sizes[i];
        double every = lks_ramp_checkpoint_daly(cost, fails);
        fprintf(cli->out,
                "  a job of %u nodes fails every %.1f h: one every %.0f min, and %.1f %% "
                "of its time is lost\n",
                sizes[i], fails / 3600, every / 60,
                100 * lks_ramp_checkpoint_waste(every, cost, fails, RESTART_SECONDS));
    }
}

enum lks_code lks_cmd_rehearse(struct lks_cli *cli, const struct lks_args *args,
                               struct lks_err *err)
{
    LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
    struct lks_world_options options = {.facts = &facts, .wall = (lks_ms)cli->now * LKS_SECOND};
    const char *fleet = lks_args_get(args, "--fleet");
    struct lks_world_seen seen = {0};
    struct lks_world *w = NULL;
    uint64_t cost = 0;
    enum lks_code code = check_words(args, err);
    lks_interrupt_note("the rehearsal has no result; the fleet was not changed");
    if (code == LKS_OK)
        code = check_picture(args, err);
    if (code == LKS_OK)
        code = lks_listing_span(args, "--checkpoint", &cost, err);
    if (code == LKS_OK && fleet == NULL && cost > 0)
        return lks_fail(err, LKS_E_USAGE,
                        "--checkpoint reads the whole journal: --fleet has to name it, or the "
                        "controller's data directory");
    if (code == LKS_OK)
        code = lks_input_facts(cli->data_dir, &facts, err);
    if (code == LKS_OK)
        code = fleet != NULL ? open_fleet(fleet, &options, &w, &seen, err)
                             : lks_rehearse_ask(cli, args, &options, &w, err);
    if (code == LKS_OK)
        code = rehearse(cli, args, w, err);
    if (code == LKS_OK && cost > 0 && !lks_args_has(args, "--json"))
        advise(cli, &seen, (double)cost);
    lks_world_free(w);
    return code;
}
