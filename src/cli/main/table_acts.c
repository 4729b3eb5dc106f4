#include "cli/main/table_acts.h"

#include "cli/shared/listing.h"
#include "cli/shared/remote.h"

#define WHY                                                                                        \
    {                                                                                              \
        "--reason TEXT", "reason; required, recorded"                                              \
    }
#define HOLDER                                                                                     \
    {                                                                                              \
        "--holder NAME", "name of the reader that leases endpoints; required"                      \
    }

const struct lks_option lks_acts_condition_options[] = {
    LKS_REMOTE_OPTIONS,
    WHY,
    {"--off", "the condition no longer holds"},
    {"--until TIME", "with attested, its end: a time, or a span from now such as 12h"},
    {"--passed TIME", "with checked, when the check passed (now)"},
    {"--stack STACK", "with changing, the stack that the node gets, by name or digest"},
    {0},
};

const struct lks_option lks_acts_plain_options[] = {LKS_REMOTE_OPTIONS, {0}};
const struct lks_option lks_acts_reason_options[] = {LKS_REMOTE_OPTIONS, WHY, {0}};
const struct lks_option lks_acts_list_options[] = {LKS_REMOTE_OPTIONS, LKS_LISTING_OPTIONS, {0}};

const struct lks_option lks_acts_override_options[] = {
    LKS_REMOTE_OPTIONS,
    WHY,
    {"--until TIME", "end of the override, required, at most 24 h from now: a time, or a span such "
                     "as 2h"},
    {0},
};

const struct lks_option lks_acts_flash_ls_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--all", "include updates that ended"},
    {"--node NODES", "only updates of these nodes or assets"},
    {"--act ACT", "only this act: update, stage, activate, abort or switch"},
    {"--outcome OUTCOME",
     "with --all, only this outcome: open, done, staged, same, refused, failed or unknown"},
    LKS_LISTING_OPTIONS,
    {0},
};

const struct lks_option lks_acts_flash_show_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--follow", "print the progress, until the update ends; exit status 1 if it did not succeed"},
    {0},
};

const struct lks_option lks_acts_flash_start_options[] = {
    LKS_REMOTE_OPTIONS,
    WHY,
    {"--bundle BUNDLE", "verified bundle with the image, by name, digest or the start of one"},
    {"--image DIGEST", "file of the bundle, if it has several for the component"},
    {"--to V", "version that the component runs afterwards (default: that of the bundle)"},
    {"--act ACT", "update, stage, activate, abort or switch (update)"},
    {"--apply-time T", "Immediate, OnReset, ... if the service supports it"},
    {"--force",
     "permit an older version, and an update from a version that the bundle does not list"},
    {"--one-way", "acknowledge that the update is irreversible"},
    {"--deadline MIN", "minutes until lockstepd gives up (120)"},
    {"--follow", "print the progress, until the update ends; exit status 1 if it did not succeed"},
    {0},
};

const struct lks_option lks_acts_endpoint_ls_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--node NODES", "only the endpoints of these nodes or assets"},
    {"--url URL", "only the endpoint with this address"},
    LKS_LISTING_OPTIONS,
    {0},
};

const struct lks_option lks_acts_lease_options[] = {
    LKS_REMOTE_OPTIONS,
    HOLDER,
    {"--max N", "at most N endpoints, 1 to 1000; required"},
    {"--ttl SPAN", "length of the lease, such as 5m, at most 1h; required"},
    {0},
};

const struct lks_option lks_acts_sweep_fail_options[] = {
    LKS_REMOTE_OPTIONS, HOLDER, {"--reason TEXT", "what went wrong; required"}, {0}};

const struct lks_option lks_acts_sweep_put_options[] = {
    LKS_REMOTE_OPTIONS, {"--holder NAME", "name of the reader that had the lease, if any"}, {0}};

const struct lks_option lks_acts_artifact_put_options[] = {
    LKS_REMOTE_OPTIONS, {"--name NAME", "name of the artifact (default: that of the file)"}, {0}};

const struct lks_option lks_acts_artifact_get_options[] = {
    LKS_REMOTE_OPTIONS, {"--output FILE", "file to write, required; must not exist"}, {0}};

const struct lks_option lks_acts_certificate_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--output FILE",
     "file for the private key (mode 0600), required; the certificate goes to FILE.crt"},
    {"--ttl SPAN", "lifetime of the certificate, such as 12h or 7d (tls.user_hours, 24h); at most "
                   "tls.user_days (90)"},
    LKS_REMOTE_REASON,
    {0},
};
