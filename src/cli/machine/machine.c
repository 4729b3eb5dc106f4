#include "cli/machine/machine.h"

#include "base/file.h"
#include "cli/shared/input.h"
#include "probe/root/scrub.h"

#define TUPLE_BYTES_MAX ((size_t)8 << 20)
#define CALL_MS         3000
#define TIMEOUT_MAX_S   3600
#define PROBE_TIMES     5 /* how many silences all of a probe may take */

static enum lks_code read_tuple(const char *path, struct lks_tuple *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TUPLE_BYTES_MAX);
    if (lks_file_read(path, &text, err) != LKS_OK)
        return err->code;
    return lks_tuple_parse(lks_buf_view(&text), path, out, err);
}

/* A tuple in a file was read when it was read; nothing about the reading can be chosen any more. */
static enum lks_code check_options(const struct lks_args *args, struct lks_err *err)
{
    static const char *const about_reading[] = {"--root", "--quick",   "--cache",
                                                "--nvml", "--timeout", "--capture"};
    bool tuple = lks_args_has(args, "--tuple");
    for (size_t i = 0; i < LKS_COUNT(about_reading); i++) {
        if (tuple && lks_args_has(args, about_reading[i]))
            return lks_fail(err, LKS_E_USAGE, "--tuple is read as it is; %s does not go with it",
                            about_reading[i]);
    }
    if (lks_args_has(args, "--scrub") && !lks_args_has(args, "--capture"))
        return lks_fail(err, LKS_E_USAGE, "--scrub is about a capture; add --capture DIR");
    if (lks_args_has(args, "--root") &&
        (lks_args_has(args, "--nvml") || lks_args_has(args, "--cache")))
        return lks_fail(err, LKS_E_USAGE,
                        "a captured tree answers for itself; --nvml and --cache "
                        "go without --root");
    return LKS_OK;
}

static enum lks_code read_timeout(const struct lks_args *args, struct lks_probe_options *options,
                                  struct lks_err *err)
{
    uint64_t seconds = 0;
    const char *text = lks_args_get(args, "--timeout");
    options->call_ms = CALL_MS;
    if (text != NULL) {
        if (!lks_str_number(lks_str_from(text), TIMEOUT_MAX_S, &seconds) || seconds == 0)
            return lks_fail(err, LKS_E_USAGE,
                            "--timeout: '%s' is not a number of seconds from 1 "
                            "to %d",
                            text, TIMEOUT_MAX_S);
        options->call_ms = (int)seconds * 1000;
    }
    options->probe_ms = PROBE_TIMES * options->call_ms;
    return LKS_OK;
}

/* The files that settings.other of `stack` names. */
static enum lks_code wanted_files(const struct lks_stack *stack, struct lks_arena *arena,
                                  struct lks_names *out, struct lks_err *err)
{
    const struct lks_doc *other = stack != NULL ? lks_stack_setting(stack, "other") : NULL;
    if (other == NULL)
        return LKS_OK;
    out->list = lks_arena_array(arena, other->count + 1, sizeof(*out->list));
    if (out->list == NULL)
        return lks_arena_fail(arena, err);
    for (const struct lks_doc *d = other->first; d != NULL; d = d->next) {
        if (lks_str_starts(d->key, "/"))
            out->list[out->count++] = d->key;
    }
    return LKS_OK;
}

static enum lks_code read_machine(const struct lks_args *args, const struct lks_facts *facts,
                                  const struct lks_probe_options *options, struct lks_tuple *out,
                                  struct lks_probe_cost *cost, struct lks_err *err)
{
    const char *capture = lks_args_get(args, "--capture");
    LKS_CLEANUP(lks_root_close) struct lks_root root = {.capture = -1};
    if (lks_root_open(lks_args_get(args, "--root"), capture, &root, err) != LKS_OK)
        return err->code;
    root.nvml = lks_args_get(args, "--nvml");
    if (lks_probe_run(lks_probes, lks_probe_count, &root, facts, options, out, cost, err) != LKS_OK)
        return err->code;
    if (root.capture_failed)
        return lks_fail(err, LKS_E_IO, "%s: the capture could not be written whole; is there room?",
                        capture);
    if (lks_args_has(args, "--scrub"))
        return lks_scrub(root.capture, out, err);
    return LKS_OK;
}

enum lks_code lks_machine_tuple(struct lks_cli *cli, const struct lks_args *args,
                                const struct lks_facts *facts, const struct lks_stack *stack,
                                struct lks_tuple *out, struct lks_probe_cost *cost,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    lks_arena_init(&arena, LKS_TUPLE_MEMORY_MAX);
    struct lks_names also = {0};
    struct lks_probe_options options = {
        .libraries = !lks_args_has(args, "--quick"),
        .cache = lks_args_get(args, "--cache"),
        .cost = lks_args_has(args, "--cost"),
        .also = &also,
    };
    if (check_options(args, err) != LKS_OK || read_timeout(args, &options, err) != LKS_OK ||
        wanted_files(stack, &arena, &also, err) != LKS_OK)
        return err->code;
    const char *file = lks_args_get(args, "--tuple");
    if (file != NULL)
        return read_tuple(file, out, err);
    lks_tuple_init(out);
    out->taken = cli->now;
    return read_machine(args, facts, &options, out, cost, err);
}

enum lks_code lks_machine_read(struct lks_cli *cli, const struct lks_args *args,
                               struct lks_machine_look *out, struct lks_probe_cost *cost,
                               struct lks_err *err)
{
    lks_report_init(&out->report);
    if (lks_input_facts(cli->data_dir, &out->facts, err) != LKS_OK)
        return err->code;
    return lks_machine_tuple(cli, args, &out->facts, NULL, &out->tuple, cost, err);
}

void lks_machine_fini(struct lks_machine_look *m)
{
    lks_tuple_fini(&m->tuple);
    lks_report_fini(&m->report);
    lks_facts_fini(&m->facts);
}
