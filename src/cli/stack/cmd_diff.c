/* stack diff. */
#include "cli/shared/commands.h"
#include "cli/shared/input.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"
#include "cli/stack/stackref.h"
#include "core/compat/stackdiff.h"

static const struct lks_listing_column difference_columns[] = {
    {"what", "what", LKS_COLUMN_WRAP, "bold"},
    LKS_PLAIN_WRAP("old", "old"),
    LKS_PLAIN_WRAP("new", "new"),
    LKS_PLAIN_LEFT("change", "change"),
    LKS_PLAIN_LEFT("class", "class"),
    LKS_PLAIN_LEFT("reboot", "reboot"),
    {"rollback", "way_back", 0, "[{one_way?}red]"},
};
static const struct lks_listing_part differences = {
    "differences", LKS_PART_COLUMNS(difference_columns), NULL, true};

/* What flashing takes, from the reversible to the irreversible. */
static const struct lks_listing_column flash_columns[] = {
    {"firmware, in this order", "what", LKS_COLUMN_WRAP, "bold"},
    LKS_PLAIN_WRAP("by", "transport"),
    LKS_PLAIN_LEFT("banks", "banks"),
    LKS_PLAIN_LEFT("minutes", "{stage_minutes}+{activate_minutes}"),
    LKS_PLAIN_LEFT("reset", "reset"),
    {"rollback", "[{one_way?}one-way|{revert}]", 0, "[{one_way?}red]"},
    LKS_PLAIN_LEFT("a failure affects", "blast"),
    LKS_PLAIN_WRAP("unavailable during it", "loses"),
};
static const struct lks_listing_part flashes = {"firmware", LKS_PART_COLUMNS(flash_columns), "\n",
                                                true};

static enum lks_code print_tables(struct lks_cli *cli, const struct lks_args *args,
                                  const struct lks_doc *diff, struct lks_err *err)
{
    (void)args;
    if (lks_listing_part(cli, &differences, diff, err) != LKS_OK)
        return err->code;
    return lks_listing_part(cli, &flashes, diff, err);
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

static enum lks_code print_diff(struct lks_cli *cli, const struct lks_args *args,
                                const struct lks_stack *from, const struct lks_stack *to,
                                const struct lks_stackdiff *diff, struct lks_err *err)
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
    return lks_output_show(cli, args, &o, print_tables, err);
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
    LKS_CLEANUP(lks_stackref_fini) struct lks_stackref old = {0}, new = {0};
    LKS_CLEANUP(lks_stackdiff_fini) struct lks_stackdiff diff = {0};
    const struct lks_stack *from, *to;
    if (lks_input_begin(cli, args, &input, err) != LKS_OK ||
        lks_stackref_read(cli, args, &input, args->positional[0], &old, &from, err) != LKS_OK ||
        lks_stackref_read(cli, args, &input, args->positional[1], &new, &to, err) != LKS_OK ||
        (from == NULL &&
         lks_input_stack(&old.manifest, lks_args_str(args, "--stack"), &from, err) != LKS_OK) ||
        (to == NULL && find_next(args, &new.manifest, &to, err) != LKS_OK) ||
        lks_stackdiff_make(&input.facts, from, to, &diff, err) != LKS_OK)
        return err->code;
    cli->no = !diff.same;
    enum lks_code code = print_diff(cli, args, from, to, &diff, err);
    if (code != LKS_OK || lks_args_has(args, "--json"))
        return code;
    print_rules(cli, &diff);
    print_summary(cli, &diff);
    return LKS_OK;
}
