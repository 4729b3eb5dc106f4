/* stack diff. */
#include "cli/shared/commands.h"
#include "cli/shared/input.h"
#include "cli/shared/output.h"
#include "core/compat/stackdiff.h"

static enum lks_code print_differences(struct lks_cli *cli, const struct lks_stackdiff *diff,
                                       struct lks_err *err)
{
    static const struct lks_output_column columns[] = {{"what", LKS_COLUMN_WRAP},
                                                       {"old", LKS_COLUMN_WRAP},
                                                       {"new", LKS_COLUMN_WRAP},
                                                       {"change", 0},
                                                       {"class", 0},
                                                       {"reboot", 0},
                                                       {"rollback", 0}};
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    lks_output_columns(&t, columns, LKS_COUNT(columns));
    for (size_t i = 0; i < diff->count; i++) {
        const struct lks_difference *d = &diff->differences[i];
        lks_output_cell(&t, LKS_BOLD, d->subject);
        lks_output_cell(&t, LKS_PLAIN, d->from);
        lks_output_cell(&t, LKS_PLAIN, d->to);
        lks_table_cell(&t, LKS_PLAIN, lks_str_from(d->direction));
        lks_table_cell(&t, LKS_PLAIN, d->class);
        lks_table_cell(&t, LKS_PLAIN, d->reboot);
        lks_table_cell(&t, d->one_way ? LKS_RED : LKS_PLAIN, d->revert);
    }
    return lks_output_table(cli, &t, err);
}

/* What flashing takes, from the reversible to the irreversible. */
static enum lks_code print_flashes(struct lks_cli *cli, const struct lks_stackdiff *diff,
                                   struct lks_err *err)
{
    static const struct lks_output_column columns[] = {{"firmware, in this order", LKS_COLUMN_WRAP},
                                                       {"by", LKS_COLUMN_WRAP},
                                                       {"banks", 0},
                                                       {"minutes", 0},
                                                       {"reset", 0},
                                                       {"rollback", 0},
                                                       {"a failure affects", 0},
                                                       {"unavailable during it", LKS_COLUMN_WRAP}};
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    lks_output_columns(&t, columns, LKS_COUNT(columns));
    for (size_t i = 0; i < diff->flash_count; i++) {
        const struct lks_difference *d = diff->flashes[i];
        const struct lks_firmware_update *u = d->update;
        char minutes[48];
        snprintf(minutes, sizeof(minutes), "%lld+%lld", (long long)u->stage_min,
                 (long long)u->activate_min);
        lks_output_cell(&t, LKS_BOLD, d->subject);
        lks_output_cell(&t, LKS_PLAIN, u->transport);
        lks_table_cell(&t, LKS_PLAIN, u->banks);
        lks_table_cell(&t, LKS_PLAIN, lks_str_from(minutes));
        lks_table_cell(&t, LKS_PLAIN, u->reset);
        lks_table_cell(&t, d->one_way ? LKS_RED : LKS_PLAIN,
                       d->one_way ? LKS_STR("one-way") : u->revert);
        lks_table_cell(&t, LKS_PLAIN, u->blast);
        lks_output_cell(&t, LKS_PLAIN, u->loses);
    }
    fprintf(cli->out, "\n");
    return lks_output_table(cli, &t, err);
}

/* What a platform or a redundant pair demands beside the order. */
static void print_rules(struct lks_cli *cli, const struct lks_stackdiff *diff)
{
    for (size_t i = 0; i < diff->flash_count; i++) {
        const struct lks_firmware_update *u = diff->flashes[i]->update;
        if (u->pair)
            fprintf(cli->out, "%.*s: one redundant side at a time\n", LKS_STR_ARG(u->component));
        if (u->exception.len > 0)
            fprintf(cli->out, "%.*s: exception: %.*s\n", LKS_STR_ARG(u->component),
                    LKS_STR_ARG(u->exception));
    }
}

static void print_flaws(struct lks_cli *cli, const char *label, const struct lks_flaws *flaws)
{
    fprintf(cli->out, "%s: ", label);
    for (size_t i = 0; i < flaws->count; i++)
        fprintf(cli->out, "%s%.*s (%.*s)", i > 0 ? ", " : "", LKS_STR_ARG(flaws->list[i]->id),
                LKS_STR_ARG(lks_output_or_dash(flaws->list[i]->cvss)));
    fprintf(cli->out, "%s\n", flaws->count > 0 ? "" : "none");
}

static void print_summary(struct lks_cli *cli, const struct lks_stackdiff *diff)
{
    if (diff->count == 0) {
        fprintf(cli->out, "the stacks are the same\n");
        return;
    }
    fprintf(cli->out, "\n");
    print_flaws(cli, "advisories closed", &diff->closed);
    print_flaws(cli, "advisories opened", &diff->opened);
    fprintf(cli->out, "reboot: %s\nirreversible steps: %zu\n", diff->reboot, diff->one_way);
    if (diff->class != NULL)
        fprintf(cli->out, "change class: %.*s (approval: %.*s; rollout: %.*s; rollback: %.*s%s)\n",
                LKS_STR_ARG(diff->class->name), LKS_STR_ARG(diff->class->approval),
                LKS_STR_ARG(diff->class->pattern), LKS_STR_ARG(diff->class->revert),
                diff->one_way > 0 ? "; irreversible steps: no rollback" : "");
}

static void flaws_json(struct lks_json_writer *w, const char *key, const struct lks_flaws *flaws)
{
    lks_json_begin(w, key, '[');
    for (size_t i = 0; i < flaws->count; i++)
        lks_json_text(w, NULL, flaws->list[i]->id);
    lks_json_end(w, ']');
}

static void difference_json(struct lks_json_writer *w, const struct lks_difference *d)
{
    lks_json_write(w,
                   "{'what'?: '%.*s', 'old'?: '%.*s', 'new'?: '%.*s', 'change'?: '%s', "
                   "'class'?: '%.*s', 'reboot'?: '%.*s', 'way_back'?: '%.*s', 'one_way': %s, "
                   "'tolerated': %s}",
                   LKS_STR_ARG(d->subject), LKS_STR_ARG(d->from), LKS_STR_ARG(d->to), d->direction,
                   LKS_STR_ARG(d->class), LKS_STR_ARG(d->reboot), LKS_STR_ARG(d->revert),
                   LKS_JSON_TRUTH(d->one_way), LKS_JSON_TRUTH(d->tolerated));
}

static void flash_json(struct lks_json_writer *w, const struct lks_difference *d)
{
    const struct lks_firmware_update *u = d->update;
    lks_json_write(w,
                   "{'what'?: '%.*s', 'transport'?: '%.*s', 'banks'?: '%.*s', "
                   "'stage_minutes': %ld, 'activate_minutes': %ld, 'staging'?: '%.*s', "
                   "'reset'?: '%.*s', 'loses'?: '%.*s', 'revert'?: '%.*s'",
                   LKS_STR_ARG(d->subject), LKS_STR_ARG(u->transport), LKS_STR_ARG(u->banks),
                   u->stage_min, u->activate_min, LKS_STR_ARG(u->staging), LKS_STR_ARG(u->reset),
                   LKS_STR_ARG(u->loses), LKS_STR_ARG(u->revert));
    lks_json_write(w,
                   "'one_way': %s, 'blast'?: '%.*s', 'pair': %s, 'order': %ld, "
                   "'after'?: '%.*s', 'exception'?: '%.*s'}",
                   LKS_JSON_TRUTH(d->one_way), LKS_STR_ARG(u->blast), LKS_JSON_TRUTH(u->pair),
                   u->order, LKS_STR_ARG(u->after), LKS_STR_ARG(u->exception));
}

static enum lks_code diff_json(struct lks_cli *cli, const struct lks_stack *from,
                               const struct lks_stack *to, const struct lks_stackdiff *diff,
                               struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    struct lks_json_writer *w = lks_output_begin(&o);
    lks_json_cstr(w, "from", from->digest);
    lks_json_cstr(w, "to", to->digest);
    lks_json_bool(w, "same", diff->same);
    lks_json_begin(w, "differences", '[');
    for (size_t i = 0; i < diff->count; i++)
        difference_json(w, &diff->differences[i]);
    lks_json_end(w, ']');
    lks_json_begin(w, "firmware", '[');
    for (size_t i = 0; i < diff->flash_count; i++)
        flash_json(w, diff->flashes[i]);
    lks_json_end(w, ']');
    flaws_json(w, "flaws_closed", &diff->closed);
    flaws_json(w, "flaws_opened", &diff->opened);
    lks_json_cstr(w, "reboot", diff->reboot);
    lks_json_int(w, "one_way_steps", (int64_t)diff->one_way);
    if (diff->class != NULL)
        lks_json_some(w, "change_class", diff->class->name);
    return lks_output_end(cli, &o, err);
}

/* The stack to go to: the one of --to; else the only one there is, since the next stack may well
 * have another name; else the one called as the first. */
static enum lks_code find_next(const struct lks_args *args, const struct lks_manifest *manifest,
                               const struct lks_stack **out, struct lks_err *err)
{
    struct lks_str name = lks_args_str(args, "--to");
    if (name.len == 0 && manifest->stack_count != 1)
        name = lks_args_str(args, "--stack");
    return lks_input_stack(manifest, name, out, err);
}

enum lks_code lks_cmd_stack_diff(struct lks_cli *cli, const struct lks_args *args,
                                 struct lks_err *err)
{
    LKS_CLEANUP(lks_input_fini) struct lks_input input = {0};
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest other = {0};
    LKS_CLEANUP(lks_stackdiff_fini) struct lks_stackdiff diff = {0};
    const struct lks_stack *from, *to;
    if (lks_input_load(cli, args, args->positional[0], &input, err) != LKS_OK ||
        lks_input_manifest(&input, args->positional[1], &other, err) != LKS_OK ||
        lks_input_stack(&input.manifest, lks_args_str(args, "--stack"), &from, err) != LKS_OK ||
        find_next(args, &other, &to, err) != LKS_OK ||
        lks_stackdiff_make(&input.facts, from, to, &diff, err) != LKS_OK)
        return err->code;
    cli->no = !diff.same;
    if (lks_args_has(args, "--json"))
        return diff_json(cli, from, to, &diff, err);
    if (print_differences(cli, &diff, err) != LKS_OK ||
        (diff.flash_count > 0 && print_flashes(cli, &diff, err) != LKS_OK))
        return err->code;
    print_rules(cli, &diff);
    print_summary(cli, &diff);
    return LKS_OK;
}
