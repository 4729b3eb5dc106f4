/* The functions behind the table of commands, by the file they live in. */
#ifndef LKS_CLI_COMMANDS_H
#define LKS_CLI_COMMANDS_H

#include "cli/shared/cli.h"

typedef enum lks_code lks_command_fn(struct lks_cli *cli, const struct lks_args *args,
                                     struct lks_err *err);

/* cli.c, help.c, explain.c */
lks_command_fn lks_cli_version;
lks_command_fn lks_help_cmd;
lks_command_fn lks_explain_cmd;

/* complete.c */
lks_command_fn lks_complete_script;

/* ask.c: commands that are one request, such as node hold. */
lks_command_fn lks_ask_cmd;

/* cmd_bmc.c, cmd_bmc_update.c */
lks_command_fn lks_cmd_bmc_inventory;
lks_command_fn lks_cmd_bmc_trust;
lks_command_fn lks_cmd_bmc_update;

/* cmd_endpoint.c */
lks_command_fn lks_cmd_flash_ls;
lks_command_fn lks_cmd_flash_show;
lks_command_fn lks_cmd_flash_start;
lks_command_fn lks_cmd_endpoint_ls;
lks_command_fn lks_cmd_scheduler_ls;
lks_command_fn lks_cmd_sweep_ls;
lks_command_fn lks_cmd_sweep_lease;
lks_command_fn lks_cmd_sweep_put;

/* cmd_stack.c */
lks_command_fn lks_cmd_stack_lint;
lks_command_fn lks_cmd_stack_digest;
lks_command_fn lks_cmd_stack_show;
lks_command_fn lks_cmd_stack_classes;

/* cmd_check.c */
lks_command_fn lks_cmd_stack_check;
lks_command_fn lks_cmd_advisories;
lks_command_fn lks_cmd_lifecycle;

/* cmd_conform.c */
lks_command_fn lks_cmd_conform;
lks_command_fn lks_cmd_stack_init;

/* cmd_inventory.c */
lks_command_fn lks_cmd_inventory;

/* cmd_diff.c */
lks_command_fn lks_cmd_stack_diff;

/* cmd_compat.c */
lks_command_fn lks_cmd_compat;

/* cmd_fleet.c */
lks_command_fn lks_cmd_fleet_apply;
lks_command_fn lks_cmd_fleet_export;
lks_command_fn lks_cmd_fleet_show;
lks_command_fn lks_cmd_access_grant;
lks_command_fn lks_cmd_access_token;
lks_command_fn lks_cmd_access_revoke;
lks_command_fn lks_cmd_access_can_i;
lks_command_fn lks_cmd_access_ls;
lks_command_fn lks_cmd_whoami;
lks_command_fn lks_cmd_access_certificate;
lks_command_fn lks_cmd_login;
lks_command_fn lks_cmd_logout;

/* cmd_config.c */
lks_command_fn lks_cmd_config_ls;
lks_command_fn lks_cmd_config_set;
lks_command_fn lks_cmd_config_use;
lks_command_fn lks_cmd_config_rm;

/* cmd_import.c */
lks_command_fn lks_cmd_fleet_import;

/* cmd_node.c */
lks_command_fn lks_cmd_node_ls;
lks_command_fn lks_cmd_node_show;
lks_command_fn lks_cmd_node_history;
lks_command_fn lks_cmd_node_command;
lks_command_fn lks_cmd_node_set;
lks_command_fn lks_cmd_alarm_ls;

/* cmd_drift.c */
lks_command_fn lks_cmd_drift;
lks_command_fn lks_cmd_deviation_add;
lks_command_fn lks_cmd_deviation_ls;

/* cmd_change.c, cmd_change_procedure.c, cmd_change_show.c */
lks_command_fn lks_cmd_change_propose;
lks_command_fn lks_cmd_change_show;
lks_command_fn lks_cmd_change_procedure;
lks_command_fn lks_cmd_change_ls;
lks_command_fn lks_cmd_change_start;
lks_command_fn lks_cmd_change_resume;

/* cmd_freeze.c */
lks_command_fn lks_cmd_freeze;

/* cmd_survey.c: conform with --fleet. */
lks_command_fn lks_survey_fleet;

/* cmd_admit.c */
lks_command_fn lks_cmd_admit;
lks_command_fn lks_cmd_override_ls;
lks_command_fn lks_cmd_job_ls;
lks_command_fn lks_cmd_job_show;
lks_command_fn lks_cmd_image_add;
lks_command_fn lks_cmd_image_ls;

/* cmd_registry.c; the last two are advisories and lifecycle with --fleet. */
lks_command_fn lks_cmd_stack_publish;
lks_command_fn lks_cmd_stack_ls;
lks_command_fn lks_cmd_stack_rollbacks;
lks_command_fn lks_advisories_list;
lks_command_fn lks_registry_lifecycle;

/* cmd_bundle.c, cmd_bundle_build.c, cmd_bundle_push.c */
lks_command_fn lks_cmd_bundle_build;
lks_command_fn lks_cmd_bundle_inspect;
lks_command_fn lks_cmd_bundle_verify;
lks_command_fn lks_cmd_bundle_push;
lks_command_fn lks_cmd_bundle_ls;

/* cmd_artifact.c */
lks_command_fn lks_cmd_artifact_ls;
lks_command_fn lks_cmd_artifact_get;
lks_command_fn lks_cmd_artifact_put;

/* cmd_trust.c */
lks_command_fn lks_cmd_trust_add;
lks_command_fn lks_cmd_trust_ls;
lks_command_fn lks_cmd_trust_rm;
lks_command_fn lks_cmd_trust_key;

/* cmd_journal.c */
lks_command_fn lks_cmd_journal_verify;
lks_command_fn lks_cmd_journal_export;
lks_command_fn lks_cmd_journal_at;

/* cmd_backup.c */
lks_command_fn lks_cmd_journal_repair;
lks_command_fn lks_cmd_backup;
lks_command_fn lks_cmd_rehearse;
lks_command_fn lks_cmd_restore;

/* cmd_doctor.c */
lks_command_fn lks_cmd_doctor;

/* cmd_top.c */
lks_command_fn lks_cmd_top;

/* cmd_sim.c */
lks_command_fn lks_cmd_sim_up;
lks_command_fn lks_cmd_sim_down;

/* cmd_pldm.c, cmd_pldm_build.c */
lks_command_fn lks_cmd_pldm_inspect;
lks_command_fn lks_cmd_pldm_verify;
lks_command_fn lks_cmd_pldm_build;

/* cmd_xid.c */
lks_command_fn lks_cmd_xid;

#endif
