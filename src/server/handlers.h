/* What routes do: prepare in the thread pool, handle on the state thread, work in the pool. */
#ifndef LKS_SERVER_HANDLERS_H
#define LKS_SERVER_HANDLERS_H

struct lks_call;
struct lks_desk;

typedef void lks_preparer(struct lks_call *call);
typedef void lks_handler(struct lks_desk *desk, struct lks_call *call);

/* handlers_fleet.c */
lks_preparer lks_prepare_fleet;
lks_handler lks_handle_health, lks_handle_ready, lks_handle_openapi, lks_handle_whoami,
    lks_handle_metrics, lks_handle_fleet, lks_handle_apply, lks_handle_pools;
/* handlers_nodes.c */
lks_handler lks_handle_nodes, lks_handle_node, lks_handle_tuple, lks_handle_history, lks_handle_at,
    lks_handle_enroll_node, lks_handle_hold, lks_handle_release, lks_handle_replace,
    lks_handle_remove, lks_handle_command, lks_handle_command_get;
/* handlers_alarms.c */
lks_handler lks_handle_alarms, lks_handle_alarm_release;
/* handlers_access.c */
lks_preparer lks_prepare_certificate;
lks_handler lks_handle_access, lks_handle_grant, lks_handle_ungrant, lks_handle_token,
    lks_handle_token_gone, lks_handle_certificate;
/* handlers_journal.c */
lks_handler lks_handle_journal, lks_handle_head, lks_handle_events, lks_handle_backup;
/* handlers_agents.c */
lks_preparer lks_prepare_enroll, lks_prepare_tuple, lks_prepare_renew;
lks_handler lks_handle_enroll, lks_handle_beat, lks_handle_report, lks_handle_mail,
    lks_handle_result, lks_handle_renew;

#endif
