/* Commands for acts of the API on jobs, firmware, endpoints and the depot: their rows and options,
 * for table.c alone. */
#ifndef LKS_CLI_TABLE_ACTS_H
#define LKS_CLI_TABLE_ACTS_H

#include "cli/shared/commands.h"

extern const struct lks_option lks_acts_condition_options[], lks_acts_plain_options[],
    lks_acts_reason_options[], lks_acts_list_options[], lks_acts_override_options[],
    lks_acts_flash_ls_options[], lks_acts_flash_show_options[], lks_acts_flash_start_options[],
    lks_acts_endpoint_ls_options[], lks_acts_lease_options[], lks_acts_sweep_fail_options[],
    lks_acts_sweep_put_options[], lks_acts_artifact_put_options[], lks_acts_artifact_get_options[],
    lks_acts_certificate_options[];

#define LKS_ACTS_FLASH_JSON                                                                        \
    "{id, node, act, component, version?, bundle?, image?, apply_time?, force, one_way, begun, "   \
    "deadline, by?, reason?, phase?, percent, outcome, ended?, found?, text?, uploads?, "          \
    "resolved?, resolved_by?, resolved_reason?}"

/* clang-format off */
#define LKS_ACT_COMMANDS                                                                           \
    {LKS_OPERATE, "node condition", "NODES CONDITION", 2, 2, lks_acts_condition_options,           \
     "Record that nodes are unhealthy, changing, attested or checked, or no longer",               \
     "For programs that watch nodes: a health check, an attestation service, a change that "       \
     "another tool runs. CONDITION is unhealthy, changing, attested or checked. Admission "        \
     "refuses unhealthy and changing nodes where their pool enforces. A pool that requires it "    \
     "also refuses nodes that are not attested or not checked.",                                   \
     "{seq, nodes, gpus}", lks_ask_cmd},                                                           \
    {LKS_LOOK, "command show", "ID", 1, 1, lks_acts_plain_options,                                 \
     "Show the progress of a command",                                                             \
     "ID is the number that 'node command' printed.",                                              \
     "{id, node, executor, ended, outcome?, text?, sent, expires}", lks_ask_cmd},                  \
    {LKS_LOOK, "override ls", "", 0, 0, lks_acts_list_options,                                     \
     "List jobs that are admitted despite refusals", "",                                           \
     "{items: [{job, nodes, reason, by?, until}]}", lks_cmd_override_ls},                          \
    {LKS_OPERATE, "override add", "JOB NODES", 2, 2, lks_acts_override_options,                    \
     "Admit a job on these nodes despite refusals, until a time",                                  \
     "'admit --override' does the same and asks for the admission at once. Needs the role "        \
     "approver.", "{seq, nodes, gpus}", lks_ask_cmd},                                              \
    {LKS_OPERATE, "image rm", "REF", 1, 1, lks_acts_reason_options,                                \
     "Remove a job image from the catalogue",                                                      \
     "Admission no longer knows the libraries of the image.", "{seq}", lks_ask_cmd},               \
    {LKS_LOOK, "flash ls", "", 0, 0, lks_acts_flash_ls_options,                                    \
     "List firmware updates that lockstepd runs through management endpoints",                     \
     "Without --all, lists updates in progress and those whose unknown outcome waits for "         \
     "'node resolve'.", "{items: [" LKS_ACTS_FLASH_JSON "]}", lks_cmd_flash_ls},                   \
    {LKS_LOOK, "flash show", "ID", 1, 1, lks_acts_flash_show_options,                              \
     "Show the progress of an update",                                                             \
     "", LKS_ACTS_FLASH_JSON, lks_cmd_flash_show},                                                 \
    {LKS_CHANGE, "flash start", "NODE COMPONENT", 2, 2, lks_acts_flash_start_options,              \
     "Have lockstepd update a node's firmware by hand",                                            \
     "NODE must be drained and idle, and 'changing' ('node condition'); most updates belong "      \
     "into a change ('change propose'), which does all of this. COMPONENT is a class such as "     \
     "bmc or bios, or the ID of an inventory entry.",                                              \
     "{id, warning?, seq, nodes, gpus}; with --follow " LKS_ACTS_FLASH_JSON,                       \
     lks_cmd_flash_start},                                                                         \
    {LKS_LOOK, "endpoint ls", "", 0, 0, lks_acts_endpoint_ls_options,                              \
     "List management endpoints, their identity and when they were read",                          \
     "An endpoint is known by a CA file of the fleet's manifest or by the fingerprint of its "     \
     "public key.",                                                                                \
     "{items: [{node, url, driver, trust, fingerprint?, read?, failed?, failure?, changing, "      \
     "idle, flashing?, managed}]}", lks_cmd_endpoint_ls},                                          \
    {LKS_OPERATE, "endpoint trust", "NODE FINGERPRINT", 2, 2, lks_acts_reason_options,             \
     "Trust the certificate of a node's management endpoint",                                      \
     "Replaces the recorded fingerprint, for example after the BMC was replaced. Compare "         \
     "FINGERPRINT first with what 'bmc trust URL --json' shows on a network that you trust.",      \
     "{seq, nodes, gpus}", lks_ask_cmd},                                                           \
    {LKS_OPERATE, "endpoint distrust", "NODES", 1, 1, lks_acts_reason_options,                     \
     "Forget the certificate of a node's management endpoint",                                     \
     "lockstepd sends nothing to the endpoint until 'endpoint trust' records another one.",        \
     "{seq, nodes, gpus}", lks_ask_cmd},                                                           \
    {LKS_LOOK, "scheduler ls", "", 0, 0, lks_acts_list_options,                                    \
     "Show whether schedulers answer, and the drains they have, by pool",                          \
     "Only pools whose 'sched' names slurm are listed. lockstepd asks the bridges of "             \
     "slurm.bridges in lockstepd.yaml. A pool with several schedulers has a row for each.",        \
     "{items: [{pool, scheduler, name?, nodes, draining, drained, "                                \
     "foreign, missing, unfenced, published, behind, failing, late, gres, gres_differ, "           \
     "slots, slotless, reserved, unreserved?, policy?, policy_text?, oldest?, text?, late_text?, " \
     "runs_failing?, runs_text?, runs_gap?, unlisted?, unlisted_text?}]}",                         \
     lks_cmd_scheduler_ls},                                                                        \
    {LKS_LOOK, "sweep ls", "", 0, 0, lks_acts_list_options,                                        \
     "Show how well management endpoints are read, by pool", "",                                   \
     "{items: [{pool, endpoints, never, oldest_ms, every}]}", lks_cmd_sweep_ls},                   \
    {LKS_OPERATE, "sweep lease", "", 0, 0, lks_acts_lease_options,                                 \
     "Lease management endpoints that are due, to read them with a program of your own",           \
     "lockstepd leases an endpoint to one reader at a time. End each lease with 'sweep put' or "   \
     "'sweep fail'.", "{items: [{name, site?, url, until}]}", lks_cmd_sweep_lease},                \
    {LKS_OPERATE, "sweep put", "NODE FILE", 2, 2, lks_acts_sweep_put_options,                      \
     "Record what a management endpoint reported",                                                 \
     "FILE is a tuple in JSON with out-of-band readings; '-' is standard input.",                  \
     "{seq, nodes, gpus}", lks_cmd_sweep_put},                                                     \
    {LKS_OPERATE, "sweep fail", "NODES", 1, 1, lks_acts_sweep_fail_options,                        \
     "Report that a leased management endpoint could not be read",                                 \
     "lockstepd leases the endpoint again later.", "{done}", lks_ask_cmd},                         \
    {LKS_OPERATE, "sweep end", "NODES", 1, 1, lks_acts_reason_options,                             \
     "End the validity of out-of-band readings",                                                   \
     "Use it after a reset, a power cycle, an update or a replaced part: what the endpoint "       \
     "reported before is no longer evidence.", "{seq, nodes, gpus}", lks_ask_cmd},                 \
    {LKS_LOOK, "bundle show", "BUNDLE", 1, 1, lks_acts_plain_options,                              \
     "Show a verified bundle of lockstepd and its files",                                          \
     "BUNDLE is a name, a digest or the start of a digest.",                                       \
     "{digest, name, version, signer, key, site, added, by?, revoked?, revoked_by?, "              \
     "revoked_reason?, manifest, artifacts}", lks_ask_cmd},                                        \
    {LKS_LOOK, "artifact ls", "", 0, 0, lks_acts_list_options, "List the files of the depot", "",  \
     "{items: [{digest, name?, size, by?, added?, needed}]}", lks_cmd_artifact_ls},                \
    {LKS_LOOK, "artifact get", "DIGEST", 1, 1, lks_acts_artifact_get_options,                      \
     "Download a file of the depot, and verify its digest", "", "{file, size}",                    \
     lks_cmd_artifact_get},                                                                        \
    {LKS_OPERATE, "artifact put", "FILE", 1, 1, lks_acts_artifact_put_options,                     \
     "Upload a file to the depot",                                                                 \
     "Prints its digest. An interrupted upload resumes. A file that no bundle and no stack "       \
     "names is collected within a day; 'bundle push' uploads files together with their bundle.",   \
     "{digest, size}", lks_cmd_artifact_put},                                                      \
    {LKS_OPERATE, "artifact collect", "", 0, 0, lks_acts_plain_options,                            \
     "Remove files from the depot that nothing refers to",                                         \
     "lockstepd does this once a day by itself.", "{gone, files, parts, bytes, missing}",          \
     lks_ask_cmd},                                                                                 \
    {LKS_LOOK, "stack rollbacks", "", 0, 0, lks_acts_list_options,                                 \
     "List rollbacks that were exercised, by hardware class and stacks",                           \
     "A change exercises the rollback on one node of each hardware class first, unless it is "     \
     "in this list.",                                                                              \
     "{items: [{class, from, to, node, change, took_ms, at}]}", lks_cmd_stack_rollbacks},          \
    {LKS_LOOK, "journal head", "", 0, 0, lks_acts_plain_options,                                   \
     "Show the newest signed head of the journal",                                                 \
     "Keep it elsewhere: 'journal verify --witness FILE' compares a journal with it.",             \
     "{head?, key}", lks_ask_cmd},                                                                 \
    {LKS_ADMINISTER, "access certificate", "NAME", 1, 1, lks_acts_certificate_options,             \
     "Create a key and a certificate for a person",                                                \
     "The identity is user:NAME; 'access grant' gives it roles. The key is made here and never "   \
     "sent. 'access revoke --certificate' ends the certificate at once.",                          \
     "{serial, expires, key_file, certificate_file}", lks_cmd_access_certificate}
/* clang-format on */

#endif
