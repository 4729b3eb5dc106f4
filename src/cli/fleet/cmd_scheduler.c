/* scheduler ls: whether the schedulers of pools answer, and the drains they have. */
#include "cli/shared/commands.h"
#include "cli/shared/listing.h"

static const struct lks_listing_column columns[] = {
    LKS_LEFT("pool", "pool"),
    LKS_LEFT("scheduler", "scheduler"),
    LKS_RIGHT("nodes", "nodes"),
    LKS_RIGHT("draining", "draining"),
    LKS_RIGHT("drained", "drained"),
    LKS_RIGHT("published", "published"),
    {"behind", "behind", LKS_COLUMN_RIGHT, "[{late!0}red|{.!0}yellow]"},
    {"of others", "foreign", LKS_COLUMN_RIGHT, "[{.!0}yellow]"},
    {"unknown", "missing", LKS_COLUMN_RIGHT, "[{.!0}red]"},
    {"no answer", "failing", LKS_COLUMN_RIGHT, "[{.!0}red]"},
    {"other GPUs", "gres_differ", LKS_COLUMN_RIGHT, "[{.!0}red]"},
    {"no slot", "slotless", LKS_COLUMN_RIGHT, "[{.!0}yellow]"},
    LKS_RIGHT("reserved", "reserved"),
    LKS_LEFT("oldest answer", "[{oldest}|-]"),
    LKS_WRAP("reason", "[{text}|{unlisted_text}|{late_text}|{policy_text}|{unreserved}|-]"),
};

static const struct lks_listing schedulers = {
    .path = "/v1/schedulers", LKS_COLUMNS(columns), .empty = "no pool has a scheduler"};

enum lks_code lks_cmd_scheduler_ls(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_err *err)
{
    return lks_listing_print(cli, args, &schedulers, err);
}
