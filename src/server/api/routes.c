#include "server/api/routes.h"

#include "core/state/pulse.h"
#include "server/api/handlers.h"
#include "server/form/forms.h"

#include <stdio.h>
#include <string.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

#define PEOPLE    LKS_LISTENER_PEOPLE
#define AGENTS    LKS_LISTENER_AGENTS
#define ETAG      LKS_ROUTE_ETAG
#define WRITE     LKS_ROUTE_WRITE
#define COUNTS    LKS_ROUTE_COUNTS
#define REPORT    LKS_ROUTE_REPORT
#define DEPOT     LKS_ROUTE_DEPOT
#define LARGE     LKS_ROUTE_LARGE
#define OFTEN     LKS_ROUTE_OFTEN
#define SIGNED    LKS_ROUTE_SIGNED
#define SENSITIVE LKS_ROUTE_SENSITIVE
#define LOGIN     LKS_ROUTE_LOGIN
#define PLAN      LKS_ROUTE_PLAN
#define POLL      LKS_ROUTE_POLL

/* clang-format off */
#define NO_QUERY NULL
#define NO_BODY  NULL, NULL, 0
#define JSON(f)  &(f), NULL, 64 * KIB
#define LONG_JSON(f) &(f), NULL, 1 * MIB
#define BYTES(type, max) NULL, type, max
#define FORM(f)  &(f), NULL
#define TYPE(t)  NULL, t

const struct lks_route lks_routes[] = {
    {"GET", "/v1/health", "health", PEOPLE, LKS_MAY_NOTHING, LKS_SCOPE_NONE, NO_QUERY, NO_BODY,
     FORM(lks_form_health), 0, NULL, lks_handle_health, "Whether the program runs"},
    {"GET", "/v1/ready", "ready", PEOPLE, LKS_MAY_NOTHING, LKS_SCOPE_NONE, NO_QUERY, NO_BODY,
     FORM(lks_form_ready), 0, NULL, lks_handle_ready,
     "Whether the journal can be written; 503 with the cause where it cannot"},
    {"POST", "/v1/enroll", "enroll", PEOPLE, LKS_MAY_NOTHING, LKS_SCOPE_NONE, NO_QUERY,
     JSON(lks_ask_enroll), FORM(lks_form_enrolled), WRITE, lks_prepare_enroll,
     lks_handle_enroll, "A node shows its enrolment token and gets its certificate"},
    {"POST", "/v1/login/device", "loginDevice", PEOPLE, LKS_MAY_NOTHING, LKS_SCOPE_NONE, NO_QUERY,
     NO_BODY, FORM(lks_form_login_device), 0, lks_prepare_login_device, lks_handle_login_device,
     "Start a login with the OpenID provider: the address and the code for the person "
     "(docs/login.md)"},
    {"POST", "/v1/login/device/poll", "loginPoll", PEOPLE, LKS_MAY_NOTHING, LKS_SCOPE_NONE,
     NO_QUERY, JSON(lks_ask_login_poll), FORM(lks_form_login), WRITE | POLL, lks_prepare_login_poll,
     lks_handle_login_poll, "Whether the person did, and then a token"},
    {"GET", "/v1/login", "login", PEOPLE, LKS_MAY_NOTHING, LKS_SCOPE_NONE, NO_QUERY, NO_BODY,
     TYPE("text/html; charset=utf-8"), LOGIN, lks_prepare_login, lks_handle_login,
     "Log in with the OpenID provider in a browser: a page that leads there"},
    {"GET", "/v1/login/callback", "loginCallback", PEOPLE, LKS_MAY_NOTHING, LKS_SCOPE_NONE,
     &lks_query_login, NO_BODY, TYPE("text/html; charset=utf-8"), LOGIN | SENSITIVE,
     lks_prepare_login_callback, lks_handle_login_callback,
     "Where the provider leads back to: the login becomes a cookie"},
    {"POST", "/v1/logout", "logout", PEOPLE, LKS_MAY_KNOW, LKS_SCOPE_NONE, NO_QUERY, NO_BODY,
     FORM(lks_form_seq), WRITE, NULL, lks_handle_logout, "End the login that the call shows"},
    {"GET", "/v1/openapi.json", "openapi", PEOPLE, LKS_MAY_KNOW, LKS_SCOPE_NONE, NO_QUERY, NO_BODY,
     TYPE("application/json"), 0, NULL, lks_handle_openapi, "This document"},
    {"GET", "/v1/whoami", "whoami", PEOPLE, LKS_MAY_KNOW, LKS_SCOPE_NONE, NO_QUERY, NO_BODY,
     FORM(lks_form_whoami), 0, NULL, lks_handle_whoami, "The identity of the caller, and its "
                                                        "roles"},
    {"GET", "/metrics", "metrics", PEOPLE, LKS_MAY_READ, LKS_SCOPE_EVERYWHERE, NO_QUERY, NO_BODY,
     TYPE("application/openmetrics-text; version=1.0.0; charset=utf-8"), COUNTS, NULL,
     lks_handle_metrics, "Numbers for a monitoring system, as OpenMetrics"},
    {"GET", "/v1/fleet", "fleet", PEOPLE, LKS_MAY_READ, LKS_SCOPE_SOMEWHERE, NO_QUERY, NO_BODY,
     FORM(lks_form_fleet), ETAG, NULL, lks_handle_fleet, "The fleet at a glance"},
    {"PUT", "/v1/fleet", "applyFleet", PEOPLE, LKS_MAY_ADMIN, LKS_SCOPE_EVERYWHERE,
     &lks_query_apply, BYTES("application/yaml", 8 * MIB), FORM(lks_form_applied), WRITE,
     lks_prepare_fleet, lks_handle_apply, "Make the fleet what a manifest says"},
    {"GET", "/v1/pools", "pools", PEOPLE, LKS_MAY_READ, LKS_SCOPE_SOMEWHERE, &lks_query_page,
     NO_BODY, FORM(lks_form_pools), ETAG, NULL, lks_handle_pools, "The pools"},
    {"GET", "/v1/nodes", "nodes", PEOPLE, LKS_MAY_READ, LKS_SCOPE_SOMEWHERE, &lks_query_nodes,
     NO_BODY, FORM(lks_form_nodes), ETAG, NULL, lks_handle_nodes,
     "Nodes that answer to all filters. A page may be short and still have a next one"},
    {"GET", "/v1/nodes/{name}", "node", PEOPLE, LKS_MAY_READ, LKS_SCOPE_NODES, NO_QUERY, NO_BODY,
     FORM(lks_form_node), 0, NULL, lks_handle_node, "All there is to know about a node"},
    {"DELETE", "/v1/nodes/{name}", "removeNode", PEOPLE, LKS_MAY_ADMIN, LKS_SCOPE_NODES,
     &lks_query_reason, NO_BODY, FORM(lks_form_seq), WRITE, NULL, lks_handle_remove,
     "Take nodes out of the fleet and revoke their certificates"},
    {"GET", "/v1/nodes/{name}/tuple", "nodeTuple", PEOPLE, LKS_MAY_READ, LKS_SCOPE_NODES, NO_QUERY,
     NO_BODY, TYPE("application/json"), 0, NULL, lks_handle_tuple,
     "The tuple of the node, as its agent last reported it"},
    {"GET", "/v1/nodes/{name}/history", "nodeHistory", PEOPLE, LKS_MAY_READ, LKS_SCOPE_NODES,
     &lks_query_history, NO_BODY, FORM(lks_form_rows), 0, NULL, lks_handle_history,
     "The journal's records about the node, newest first"},
    {"GET", "/v1/nodes/{name}/at", "nodeAt", PEOPLE, LKS_MAY_READ, LKS_SCOPE_NODES, &lks_query_at,
     NO_BODY, FORM(lks_form_at), 0, NULL, lks_handle_at, "The state of the node at a given time"},
    {"POST", "/v1/nodes/{name}/enroll", "enrollNode", PEOPLE, LKS_MAY_OPERATE, LKS_SCOPE_NODES,
     NO_QUERY, JSON(lks_ask_enroll_node), FORM(lks_form_node_token), WRITE, NULL,
     lks_handle_enroll_node, "Make the token with which the node enrols once"},
    {"POST", "/v1/nodes/{name}/hold", "holdNode", PEOPLE, LKS_MAY_OPERATE, LKS_SCOPE_NODES,
     NO_QUERY, JSON(lks_ask_reason), FORM(lks_form_seq), WRITE, NULL, lks_handle_hold,
     "Put nodes on hold; {name} may be a host list"},
    {"POST", "/v1/nodes/{name}/release", "releaseNode", PEOPLE, LKS_MAY_OPERATE, LKS_SCOPE_NODES,
     NO_QUERY, JSON(lks_ask_release), FORM(lks_form_released), WRITE, NULL, lks_handle_release,
     "End a hold, or accept nodes that wait in intake; {name} may be a host list"},
    {"POST", "/v1/nodes/{name}/replace", "replaceNode", PEOPLE, LKS_MAY_OPERATE, LKS_SCOPE_NODES,
     NO_QUERY, JSON(lks_ask_reason), FORM(lks_form_seq), WRITE, NULL, lks_handle_replace,
     "Another machine takes the node's name: certificates end, intake starts"},
    {"POST", "/v1/nodes/{name}/command", "commandNode", PEOPLE, LKS_MAY_OPERATE, LKS_SCOPE_NODES,
     NO_QUERY, JSON(lks_ask_command), FORM(lks_form_commanded), WRITE, NULL, lks_handle_command,
     "Have the node's agent run an executor: on a drained and idle node, with verified artifacts"},
    {"POST", "/v1/nodes/{name}/reset", "askReset", PEOPLE, LKS_MAY_OPERATE, LKS_SCOPE_NODES,
     NO_QUERY, JSON(lks_ask_reason), FORM(lks_form_seq), WRITE, NULL, lks_handle_reset,
     "Ask for the reset of a drained or unhealthy node whose GPU process does not end"},
    {"POST", "/v1/nodes/{name}/reset/approve", "approveReset", PEOPLE, LKS_MAY_APPROVE,
     LKS_SCOPE_NODES, NO_QUERY, JSON(lks_ask_reason), FORM(lks_form_commanded), WRITE, NULL,
     lks_handle_reset_approve, "Approve the reset that another person asked for: the node reboots"},
    {"POST", "/v1/nodes/{name}/reset/review", "reviewReset", PEOPLE, LKS_MAY_APPROVE,
     LKS_SCOPE_NODES, NO_QUERY, JSON(lks_ask_reason), FORM(lks_form_seq), WRITE, NULL,
     lks_handle_reset_review, "Review a reset, which ends its alarm"},
    {"GET", "/v1/commands/{id}", "command", PEOPLE, LKS_MAY_READ, LKS_SCOPE_COMMAND, NO_QUERY,
     NO_BODY, FORM(lks_form_command), ETAG, NULL, lks_handle_command_get,
     "How far a command is"},
    {"GET", "/v1/alarms", "alarms", PEOPLE, LKS_MAY_READ, LKS_SCOPE_SOMEWHERE, &lks_query_alarms,
     NO_BODY, FORM(lks_form_alarms), ETAG, NULL, lks_handle_alarms, "Alarms"},
    {"POST", "/v1/alarms/{id}/release", "releaseAlarm", PEOPLE, LKS_MAY_OPERATE, LKS_SCOPE_ALARM,
     NO_QUERY, JSON(lks_ask_reason), FORM(lks_form_seq), WRITE, NULL, lks_handle_alarm_release,
     "Close an alarm: automatic acts continue"},
    {"GET", "/v1/drift", "drift", PEOPLE, LKS_MAY_READ, LKS_SCOPE_SOMEWHERE, &lks_query_drift,
     NO_BODY, FORM(lks_form_drift), 0, NULL, lks_handle_drift,
     "Nodes that differ from their intent, and how many do"},
    {"GET", "/v1/deviations", "deviations", PEOPLE, LKS_MAY_READ, LKS_SCOPE_SOMEWHERE,
     &lks_query_deviations, NO_BODY, FORM(lks_form_deviations), ETAG, NULL, lks_handle_deviations,
     "Exceptions, newest first. A page may be short and still have a next one"},
    {"POST", "/v1/deviations", "deviate", PEOPLE, LKS_MAY_OPERATE, LKS_SCOPE_ASKED, NO_QUERY,
     LONG_JSON(lks_ask_deviation), FORM(lks_form_numbered), WRITE, NULL, lks_handle_deviate,
     "Allow nodes to differ in something, until a time"},
    {"POST", "/v1/deviations/{id}/approve", "approveDeviation", PEOPLE, LKS_MAY_APPROVE,
     LKS_SCOPE_DEVIATION, NO_QUERY, JSON(lks_ask_reason), FORM(lks_form_seq), WRITE, NULL,
     lks_handle_deviation_approve, "Approve a deviation that another person asks for"},
    {"POST", "/v1/deviations/{id}/close", "closeDeviation", PEOPLE, LKS_MAY_OPERATE,
     LKS_SCOPE_DEVIATION, NO_QUERY, JSON(lks_ask_reason), FORM(lks_form_seq), WRITE, NULL,
     lks_handle_deviation_close, "End an exception: what differs drifts again"},
    {"POST", "/v1/nodes/{name}/condition", "nodeCondition", PEOPLE, LKS_MAY_OPERATE,
     LKS_SCOPE_NODES, NO_QUERY, JSON(lks_ask_condition), FORM(lks_form_seq), WRITE, NULL,
     lks_handle_condition,
     "Say that nodes are unhealthy, changing, attested or checked, or no longer"},
    {"PUT", "/v1/nodes/{name}/outband", "readOutband", PEOPLE, LKS_MAY_OPERATE, LKS_SCOPE_NODES,
     &lks_query_holder, BYTES("application/json", 1 * MIB), FORM(lks_form_seq), WRITE,
     lks_prepare_tuple, lks_handle_outband,
     "The out-of-band readings of a node or asset, as a tuple"},
    {"DELETE", "/v1/nodes/{name}/outband", "endOutband", PEOPLE, LKS_MAY_OPERATE, LKS_SCOPE_NODES,
     &lks_query_reason, NO_BODY, FORM(lks_form_seq), WRITE, NULL, lks_handle_outband_gone,
     "End the validity of out-of-band readings: after a reset, a power cycle, an update, another "
     "part"},
    {"GET", "/v1/sweeps", "sweeps", PEOPLE, LKS_MAY_READ, LKS_SCOPE_SOMEWHERE, &lks_query_page,
     NO_BODY, FORM(lks_form_sweeps), 0, NULL, lks_handle_sweeps,
     "How well management endpoints are read, by pool"},
    {"POST", "/v1/sweeps/lease", "leaseSweeps", PEOPLE, LKS_MAY_OPERATE, LKS_SCOPE_EVERYWHERE,
     NO_QUERY, JSON(lks_ask_lease), FORM(lks_form_leases), 0, NULL, lks_handle_sweep_lease,
     "Management endpoints that are due, for one reader at a time"},
    {"POST", "/v1/sweeps/{name}/failed", "failSweep", PEOPLE, LKS_MAY_OPERATE, LKS_SCOPE_NODES,
     NO_QUERY, JSON(lks_ask_sweep_failed), FORM(lks_form_done), 0, NULL, lks_handle_sweep_failed,
     "A management endpoint could not be read: it is tried again later"},
    {"POST", "/v1/admit", "admit", PEOPLE, LKS_MAY_READ, LKS_SCOPE_ASKED, NO_QUERY,
     LONG_JSON(lks_ask_admit), FORM(lks_form_admit), WRITE | OFTEN, NULL, lks_handle_admit,
     "Whether a job may start on nodes: 200 for yes and for no"},
    {"GET", "/v1/overrides", "overrides", PEOPLE, LKS_MAY_READ, LKS_SCOPE_EVERYWHERE,
     &lks_query_page, NO_BODY, FORM(lks_form_overrides), ETAG, NULL, lks_handle_overrides,
     "Jobs that start although they should not, newest first"},
    {"POST", "/v1/overrides", "override", PEOPLE, LKS_MAY_APPROVE, LKS_SCOPE_ASKED, NO_QUERY,
     LONG_JSON(lks_ask_override), FORM(lks_form_seq), WRITE, NULL, lks_handle_override,
     "Let a job start although it should not, until a time"},
    {"GET", "/v1/admissions", "admissions", PEOPLE, LKS_MAY_READ, LKS_SCOPE_SOMEWHERE,
     &lks_query_admissions, NO_BODY, FORM(lks_form_admissions), 0, NULL, lks_handle_admissions,
     "Recent decisions, by job and reason: every no, and some of the yeses"},
    {"GET", "/v1/observed", "observed", PEOPLE, LKS_MAY_READ, LKS_SCOPE_SOMEWHERE, NO_QUERY,
     NO_BODY, FORM(lks_form_observed), 0, NULL, lks_handle_observed,
     "A week of what pools refuse, or would refuse if they enforced"},
    {"GET", "/v1/flashes", "flashes", PEOPLE, LKS_MAY_READ, LKS_SCOPE_SOMEWHERE, &lks_query_flashes,
     NO_BODY, FORM(lks_form_flashes), ETAG, NULL, lks_handle_flashes,
     "Updates by management endpoints, newest first. A page may be short and still have a next "
     "one"},
    {"POST", "/v1/flashes", "flash", PEOPLE, LKS_MAY_OPERATE, LKS_SCOPE_NODE, NO_QUERY,
     JSON(lks_ask_flash), FORM(lks_form_numbered), WRITE, lks_prepare_flash, lks_handle_flash,
     "Start an update of a node's firmware by its endpoint; the endpoint must be in a change"},
    {"GET", "/v1/flashes/{id}", "flashOne", PEOPLE, LKS_MAY_READ, LKS_SCOPE_FLASH, NO_QUERY,
     NO_BODY, FORM(lks_form_flash), ETAG, NULL, lks_handle_flash_get, "How far an update is"},
    {"POST", "/v1/nodes/{name}/resolve", "resolveNode", PEOPLE, LKS_MAY_OPERATE, LKS_SCOPE_NODES,
     NO_QUERY, JSON(lks_ask_reason), FORM(lks_form_seq), WRITE, NULL, lks_handle_resolve,
     "Mark an update with unknown outcome as resolved"},
    {"GET", "/v1/changes", "changes", PEOPLE, LKS_MAY_READ, LKS_SCOPE_SOMEWHERE, &lks_query_changes,
     NO_BODY, FORM(lks_form_changes), ETAG, NULL, lks_handle_changes,
     "Changes, newest first. A page may be short and still have a next one"},
    {"POST", "/v1/changes", "propose", PEOPLE, LKS_MAY_OPERATE, LKS_SCOPE_WISH, NO_QUERY,
     LONG_JSON(lks_ask_change), FORM(lks_form_proposed), WRITE | PLAN, lks_prepare_propose,
     lks_handle_propose, "Plan a change and propose it; with `dry_run` the plan alone"},
    {"GET", "/v1/changes/{id}", "change", PEOPLE, LKS_MAY_READ, LKS_SCOPE_CHANGE_PART,
     &lks_query_change, NO_BODY, FORM(lks_form_change), ETAG, NULL, lks_handle_change,
     "A change, its plan, and how far it is"},
    {"GET", "/v1/changes/{id}/procedure", "changeProcedure", PEOPLE, LKS_MAY_READ,
     LKS_SCOPE_CHANGE_PART, &lks_query_procedure, NO_BODY, FORM(lks_form_procedure), ETAG, NULL,
     lks_handle_change_procedure, "The method of procedure of a change, for approvers"},
    {"GET", "/v1/changes/{id}/procedure.md", "changePaper", PEOPLE, LKS_MAY_READ,
     LKS_SCOPE_CHANGE_PART, &lks_query_procedure, NO_BODY, TYPE("text/markdown; charset=utf-8"),
     ETAG, NULL, lks_handle_change_paper, "The same as Markdown"},
    {"GET", "/v1/changes/{id}/members", "changeMembers", PEOPLE, LKS_MAY_READ, LKS_SCOPE_CHANGE,
     &lks_query_members, NO_BODY, FORM(lks_form_members), ETAG, NULL, lks_handle_change_members,
     "Nodes and assets of a change, by wave. A page may be short and still have a next one"},
    {"POST", "/v1/changes/{id}/members", "moveMembers", PEOPLE, LKS_MAY_OPERATE, LKS_SCOPE_CHANGE,
     NO_QUERY, LONG_JSON(lks_ask_members), FORM(lks_form_moved), WRITE, NULL,
     lks_handle_member_move, "Let nodes that failed go, or try them again"},
    {"POST", "/v1/changes/{id}/skip", "skipMembers", PEOPLE, LKS_MAY_OPERATE, LKS_SCOPE_CHANGE,
     NO_QUERY, LONG_JSON(lks_ask_skip), FORM(lks_form_moved), WRITE, NULL, lks_handle_member_skip,
     "The change does not wait for these nodes any longer"},
    {"POST", "/v1/changes/{id}/approve", "approveChange", PEOPLE, LKS_MAY_APPROVE,
     LKS_SCOPE_CHANGE_PART, NO_QUERY, JSON(lks_ask_reason), FORM(lks_form_moved), WRITE, NULL,
     lks_handle_change_vote, "Approve a change that another person proposed"},
    {"POST", "/v1/changes/{id}/reject", "rejectChange", PEOPLE, LKS_MAY_APPROVE,
     LKS_SCOPE_CHANGE_PART, NO_QUERY, JSON(lks_ask_reason), FORM(lks_form_moved), WRITE, NULL,
     lks_handle_change_vote, "Reject a change; that is final"},
    {"POST", "/v1/changes/{id}/withdraw", "withdrawApproval", PEOPLE, LKS_MAY_APPROVE,
     LKS_SCOPE_CHANGE_PART, NO_QUERY, JSON(lks_ask_reason), FORM(lks_form_moved), WRITE, NULL,
     lks_handle_change_vote, "Withdraw your approval, before the change starts"},
    {"POST", "/v1/changes/{id}/waive", "waiveGate", PEOPLE, LKS_MAY_APPROVE,
     LKS_SCOPE_CHANGE_PART, NO_QUERY, JSON(lks_ask_waive), FORM(lks_form_moved), WRITE, NULL,
     lks_handle_change_waive, "A gate of a change, or one of its metrics, goes unasked"},
    {"POST", "/v1/changes/{id}/review", "reviewChange", PEOPLE, LKS_MAY_APPROVE,
     LKS_SCOPE_CHANGE_PART, NO_QUERY, JSON(lks_ask_reason), FORM(lks_form_moved), WRITE, NULL,
     lks_handle_change_review, "Review a change that started without its approvals, as another "
                               "person"},
    {"POST", "/v1/changes/{id}/start", "startChange", PEOPLE, LKS_MAY_OPERATE, LKS_SCOPE_CHANGE,
     NO_QUERY, JSON(lks_ask_start), FORM(lks_form_moved), WRITE, NULL, lks_handle_change_move,
     "Start an approved change; `nodes` and `gpus` repeat its size"},
    {"POST", "/v1/changes/{id}/pause", "pauseChange", PEOPLE, LKS_MAY_OPERATE, LKS_SCOPE_CHANGE,
     NO_QUERY, JSON(lks_ask_reason), FORM(lks_form_moved), WRITE, NULL, lks_handle_change_move,
     "Pause: nodes in progress finish, no new node starts"},
    {"POST", "/v1/changes/{id}/resume", "resumeChange", PEOPLE, LKS_MAY_OPERATE, LKS_SCOPE_CHANGE,
     NO_QUERY, JSON(lks_ask_reason), FORM(lks_form_moved), WRITE, NULL, lks_handle_change_move,
     "Go on with a change that was paused or halted"},
    {"POST", "/v1/changes/{id}/abort", "abortChange", PEOPLE, LKS_MAY_OPERATE, LKS_SCOPE_CHANGE,
     NO_QUERY, JSON(lks_ask_reason), FORM(lks_form_moved), WRITE, NULL, lks_handle_change_move,
     "Abort: nodes in progress roll back, finished nodes stay"},
    {"POST", "/v1/changes/{id}/rollback", "rollBackChange", PEOPLE, LKS_MAY_OPERATE,
     LKS_SCOPE_CHANGE, NO_QUERY, JSON(lks_ask_reason), FORM(lks_form_moved), WRITE, NULL,
     lks_handle_change_move, "Roll back every node that the change reached"},
    {"POST", "/v1/changes/{id}/forecast", "forecastChange", PEOPLE, LKS_MAY_OPERATE,
     LKS_SCOPE_CHANGE, NO_QUERY, JSON(lks_ask_forecast), FORM(lks_form_moved), WRITE, NULL,
     lks_handle_change_forecast, "Store the forecast of a change that did not start"},
    {"POST", "/v1/tickets", "ticket", PEOPLE, LKS_MAY_NOTHING, LKS_SCOPE_NONE, NO_QUERY,
     JSON(lks_ask_ticket), FORM(lks_form_moved), WRITE | SIGNED, lks_prepare_ticket,
     lks_handle_ticket,
     "A vote by way of a ticket system, which signs it with a shared secret (docs/tickets.md)"},
    {"GET", "/v1/freeze", "frozen", PEOPLE, LKS_MAY_READ, LKS_SCOPE_SOMEWHERE, NO_QUERY, NO_BODY,
     FORM(lks_form_frozen), ETAG, NULL, lks_handle_frozen, "Freezes in effect"},
    {"POST", "/v1/freeze", "freeze", PEOPLE, LKS_MAY_OPERATE, LKS_SCOPE_POOL, NO_QUERY,
     JSON(lks_ask_freeze), FORM(lks_form_seq), WRITE, NULL, lks_handle_freeze,
     "Freeze a pool or the whole fleet: no new node starts"},
    {"POST", "/v1/unfreeze", "unfreeze", PEOPLE, LKS_MAY_APPROVE, LKS_SCOPE_POOL, NO_QUERY,
     JSON(lks_ask_freeze), FORM(lks_form_seq), WRITE, NULL, lks_handle_freeze,
     "Changes go on, in a pool or in the whole fleet"},
    {"GET", "/v1/proven", "proven", PEOPLE, LKS_MAY_READ, LKS_SCOPE_SOMEWHERE, &lks_query_page,
     NO_BODY, FORM(lks_form_proven), ETAG, NULL, lks_handle_proven,
     "Rollbacks that were exercised, by hardware class and stacks"},
    {"GET", "/v1/endpoints", "endpoints", PEOPLE, LKS_MAY_READ, LKS_SCOPE_SOMEWHERE,
     &lks_query_endpoints, NO_BODY, FORM(lks_form_endpoints), ETAG, NULL, lks_handle_endpoints,
     "Management endpoints of the fleet, and what they are known by"},
    {"PUT", "/v1/endpoints/{name}", "trustEndpoint", PEOPLE, LKS_MAY_OPERATE, LKS_SCOPE_NODES,
     NO_QUERY, JSON(lks_ask_endpoint), FORM(lks_form_seq), WRITE, NULL, lks_handle_endpoint_put,
     "Take a certificate of a node's management endpoint for good"},
    {"GET", "/v1/stacks", "stacks", PEOPLE, LKS_MAY_READ, LKS_SCOPE_SOMEWHERE, &lks_query_stacks,
     NO_BODY, FORM(lks_form_stacks), ETAG, NULL, lks_handle_stacks,
     "Published stacks, newest first"},
    {"POST", "/v1/stacks", "publish", PEOPLE, LKS_MAY_ADMIN, LKS_SCOPE_EVERYWHERE,
     &lks_query_publish, BYTES("application/yaml", 8 * MIB), FORM(lks_form_published), WRITE,
     lks_prepare_publish, lks_handle_publish, "Put a stack of a manifest into the registry"},
    {"GET", "/v1/stacks/{digest}", "stack", PEOPLE, LKS_MAY_READ, LKS_SCOPE_SOMEWHERE, NO_QUERY,
     NO_BODY, FORM(lks_form_stack), ETAG, NULL, lks_handle_stack,
     "A published stack, and what its steps rest on; {digest} may be the beginning of one, or a "
     "name"},
    {"GET", "/v1/stacks/{digest}/manifest", "stackManifest", PEOPLE, LKS_MAY_READ,
     LKS_SCOPE_SOMEWHERE, NO_QUERY, NO_BODY, TYPE("application/yaml"), 0, NULL,
     lks_handle_stack_manifest, "The file it came in"},
    {"GET", "/v1/stacks/{digest}/envelope", "stackEnvelope", PEOPLE, LKS_MAY_READ,
     LKS_SCOPE_SOMEWHERE, NO_QUERY, NO_BODY, TYPE("application/json"), 0, NULL,
     lks_handle_stack_envelope, "Our signature over its digest (DSSE), by the journal's key"},
    {"POST", "/v1/stacks/{digest}/promote", "promote", PEOPLE, LKS_MAY_APPROVE,
     LKS_SCOPE_EVERYWHERE, NO_QUERY, JSON(lks_ask_promote), FORM(lks_form_seq), WRITE, NULL,
     lks_handle_promote, "A stack's next step: lab, canary, released"},
    {"POST", "/v1/stacks/{digest}/retire", "retire", PEOPLE, LKS_MAY_APPROVE, LKS_SCOPE_EVERYWHERE,
     NO_QUERY, JSON(lks_ask_retire), FORM(lks_form_seq), WRITE, NULL, lks_handle_retire,
     "A stack's last step: it is not pinned any more"},
    {"GET", "/v1/images", "images", PEOPLE, LKS_MAY_READ, LKS_SCOPE_SOMEWHERE, &lks_query_page,
     NO_BODY, FORM(lks_form_images), ETAG, NULL, lks_handle_images,
     "The libraries of images that were recorded here"},
    {"POST", "/v1/images", "addImage", PEOPLE, LKS_MAY_OPERATE, LKS_SCOPE_EVERYWHERE, NO_QUERY,
     JSON(lks_ask_image), FORM(lks_form_seq), WRITE, NULL, lks_handle_image,
     "Say what libraries an image brings"},
    {"DELETE", "/v1/images", "removeImage", PEOPLE, LKS_MAY_OPERATE, LKS_SCOPE_EVERYWHERE,
     &lks_query_image, NO_BODY, FORM(lks_form_seq), WRITE, NULL, lks_handle_image_gone,
     "Take an image out of the catalogue"},
    {"GET", "/v1/exposure/advisories", "fleetAdvisories", PEOPLE, LKS_MAY_READ,
     LKS_SCOPE_SOMEWHERE, &lks_query_cve, NO_BODY, FORM(lks_form_advisories), 0, NULL,
     lks_handle_advisories, "Advisories, and what of the fleet is exposed to them"},
    {"GET", "/v1/exposure/remedies", "fleetRemedies", PEOPLE, LKS_MAY_READ, LKS_SCOPE_SOMEWHERE,
     &lks_query_one_cve, NO_BODY, FORM(lks_form_remedies), 0, NULL, lks_handle_remedies,
     "Published stacks that close an advisory, pool by pool, the nearest first"},
    {"GET", "/v1/exposure/lifecycle", "fleetLifecycle", PEOPLE, LKS_MAY_READ, LKS_SCOPE_SOMEWHERE,
     NO_QUERY, NO_BODY, FORM(lks_form_lifecycle), 0, NULL, lks_handle_lifecycle,
     "Ends of support, and the combinations of GPU, driver and CUDA that run"},
    {"GET", "/v1/access", "access", PEOPLE, LKS_MAY_ADMIN, LKS_SCOPE_EVERYWHERE, NO_QUERY, NO_BODY,
     FORM(lks_form_access), ETAG | SENSITIVE, NULL, lks_handle_access,
     "Roles, API tokens and certificates of people"},
    {"POST", "/v1/access", "grant", PEOPLE, LKS_MAY_ADMIN, LKS_SCOPE_EVERYWHERE, NO_QUERY,
     JSON(lks_ask_binding), FORM(lks_form_seq), WRITE, NULL, lks_handle_grant, "Give a role"},
    {"DELETE", "/v1/access", "ungrant", PEOPLE, LKS_MAY_ADMIN, LKS_SCOPE_EVERYWHERE,
     &lks_query_binding, NO_BODY, FORM(lks_form_seq), WRITE, NULL, lks_handle_ungrant,
     "Take a role back"},
    {"POST", "/v1/tokens", "makeToken", PEOPLE, LKS_MAY_ADMIN, LKS_SCOPE_EVERYWHERE, NO_QUERY,
     JSON(lks_ask_token), FORM(lks_form_token), WRITE, NULL, lks_handle_token,
     "Make an API token; it is shown once"},
    {"DELETE", "/v1/tokens/{id}", "endToken", PEOPLE, LKS_MAY_ADMIN, LKS_SCOPE_EVERYWHERE, NO_QUERY,
     NO_BODY, FORM(lks_form_seq), WRITE, NULL, lks_handle_token_gone, "End an API token"},
    {"POST", "/v1/certificates", "makeCertificate", PEOPLE, LKS_MAY_ADMIN, LKS_SCOPE_EVERYWHERE,
     NO_QUERY, JSON(lks_ask_certificate), FORM(lks_form_certificate), WRITE,
     lks_prepare_certificate, lks_handle_certificate, "Certify a person"},
    {"POST", "/v1/tokens/renew", "renewToken", PEOPLE, LKS_MAY_KNOW, LKS_SCOPE_NONE, NO_QUERY,
     NO_BODY, FORM(lks_form_token_renewed), WRITE, NULL, lks_handle_token_renew,
     "Renew the API token that is shown, for as long as it was made for"},
    {"POST", "/v1/certificates/renew", "renewCertificate", PEOPLE, LKS_MAY_KNOW, LKS_SCOPE_NONE,
     NO_QUERY, JSON(lks_ask_recertify), FORM(lks_form_certificate), WRITE, lks_prepare_recertify,
     lks_handle_recertify, "Renew the certificate that is shown, for as long as it was made for"},
    {"DELETE", "/v1/certificates/{id}", "endCertificate", PEOPLE, LKS_MAY_ADMIN,
     LKS_SCOPE_EVERYWHERE, NO_QUERY, NO_BODY, FORM(lks_form_seq), WRITE, NULL,
     lks_handle_certificate_gone, "End a person's certificate, by its serial number, at once"},
    {"GET", "/v1/journal", "journal", PEOPLE, LKS_MAY_READ, LKS_SCOPE_EVERYWHERE,
     &lks_query_journal, NO_BODY, TYPE("application/x-ndjson"), SENSITIVE, NULL, lks_handle_journal,
     "Rows of the journal, one JSON object a line. A page may be short: `Lockstep-Next` has the "
     "`from` of the next one, where there is one"},
    {"GET", "/v1/journal/at", "journalAt", PEOPLE, LKS_MAY_READ, LKS_SCOPE_SOMEWHERE,
     &lks_query_past, NO_BODY, FORM(lks_form_past), 0, NULL, lks_handle_past,
     "The state of nodes, or of a pool's nodes, at a given time"},
    {"GET", "/v1/journal/head", "journalHead", PEOPLE, LKS_MAY_READ, LKS_SCOPE_SOMEWHERE, NO_QUERY,
     NO_BODY, FORM(lks_form_head), 0, NULL, lks_handle_head, "The newest signed head"},
    {"GET", "/v1/journal/state", "journalState", PEOPLE, LKS_MAY_READ, LKS_SCOPE_EVERYWHERE,
     NO_QUERY, NO_BODY, TYPE("application/octet-stream"), SENSITIVE, NULL, lks_handle_state,
     "The current state as a snapshot without digests of tokens: for a rehearsal elsewhere"},
    {"GET", "/v1/journal/manifests/{digest}", "journalManifest", PEOPLE, LKS_MAY_READ,
     LKS_SCOPE_EVERYWHERE, NO_QUERY, NO_BODY, TYPE("application/octet-stream"), SENSITIVE, NULL,
     lks_handle_manifest, "The manifest of the fleet, a stack or a bundle, byte for byte"},
    {"GET", "/v1/events", "events", PEOPLE, LKS_MAY_READ, LKS_SCOPE_EVERYWHERE, &lks_query_events,
     NO_BODY, TYPE("text/event-stream"), SENSITIVE, NULL, lks_handle_events,
     "Rows of the journal as they become durable (server-sent events); resumes by Last-Event-ID; "
     "409 where it is beyond the end, or before the oldest row that is kept"},
    {"POST", "/v1/backup", "backup", PEOPLE, LKS_MAY_ADMIN, LKS_SCOPE_EVERYWHERE, NO_QUERY, NO_BODY,
     TYPE("application/octet-stream"), WRITE | SENSITIVE, NULL, lks_handle_backup,
     "A sealed copy of everything, for `lockstep restore`"},
    {"GET", "/v1/bundles", "bundles", PEOPLE, LKS_MAY_READ, LKS_SCOPE_SOMEWHERE, &lks_query_page,
     NO_BODY, FORM(lks_form_bundles), ETAG, NULL, lks_handle_bundles,
     "Bundles that were found good, newest first"},
    {"POST", "/v1/bundles", "bringBundle", PEOPLE, LKS_MAY_OPERATE, LKS_SCOPE_EVERYWHERE, NO_QUERY,
     &lks_ask_bundle, NULL, 4 * MIB, FORM(lks_form_taken), WRITE, lks_prepare_bundle,
     lks_handle_bundle_put, "Verify a bundle whose artifacts are in the depot, and keep it"},
    {"GET", "/v1/bundles/{digest}", "bundle", PEOPLE, LKS_MAY_READ, LKS_SCOPE_SOMEWHERE, NO_QUERY,
     NO_BODY, FORM(lks_form_bundle), 0, NULL, lks_handle_bundle,
     "A bundle and its files; {digest} may be the start of one, or a name"},
    {"GET", "/v1/bundles/{digest}/manifest", "bundleManifest", PEOPLE, LKS_MAY_READ,
     LKS_SCOPE_SOMEWHERE, NO_QUERY, NO_BODY, TYPE("application/json"), 0, NULL,
     lks_handle_bundle_manifest, "Its manifest, byte for byte as it was signed"},
    {"POST", "/v1/bundles/{digest}/revoke", "revokeBundle", PEOPLE, LKS_MAY_APPROVE,
     LKS_SCOPE_EVERYWHERE, NO_QUERY, JSON(lks_ask_reason), FORM(lks_form_seq), WRITE, NULL,
     lks_handle_bundle_revoke, "Revoke a bundle; revocation is final"},
    {"GET", "/v1/trust", "trust", PEOPLE, LKS_MAY_READ, LKS_SCOPE_SOMEWHERE, &lks_query_page,
     NO_BODY, FORM(lks_form_keys), ETAG, NULL, lks_handle_keys, "Keys whose signatures count"},
    {"POST", "/v1/trust", "pinKey", PEOPLE, LKS_MAY_ADMIN, LKS_SCOPE_EVERYWHERE, NO_QUERY,
     JSON(lks_ask_key), FORM(lks_form_seq), WRITE, NULL, lks_handle_key_pin,
     "Trust a key from now on"},
    {"DELETE", "/v1/trust/{name}", "unpinKey", PEOPLE, LKS_MAY_ADMIN, LKS_SCOPE_EVERYWHERE,
     &lks_query_reason, NO_BODY, FORM(lks_form_seq), WRITE, NULL, lks_handle_key_gone,
     "Trust it no more; bundles that were good by it stay so"},
    {"GET", "/v1/artifacts", "artifacts", PEOPLE, LKS_MAY_READ, LKS_SCOPE_SOMEWHERE,
     &lks_query_page, NO_BODY, FORM(lks_form_artifacts), 0, NULL, lks_handle_artifacts,
     "The artifacts of the depot. A page may be short and still have a next one"},
    {"GET", "/v1/artifacts/{digest}", "artifact", PEOPLE, LKS_MAY_READ, LKS_SCOPE_SOMEWHERE,
     &lks_query_part, NO_BODY, TYPE("application/octet-stream"), DEPOT, NULL, lks_handle_artifact,
     "An artifact, or one range of it; with `part=1` how much of it is there"},
    {"PUT", "/v1/artifacts/{digest}", "putArtifact", PEOPLE, LKS_MAY_OPERATE,
     LKS_SCOPE_EVERYWHERE, &lks_query_artifact, BYTES("application/octet-stream", 0),
     FORM(lks_form_stored), WRITE | DEPOT | LARGE, NULL, lks_handle_artifact_put,
     "Put an artifact, or with Content-Range the next part of one; 202 while more has to come"},
    {"POST", "/v1/artifacts/collect", "collectArtifacts", PEOPLE, LKS_MAY_OPERATE,
     LKS_SCOPE_EVERYWHERE, NO_QUERY, NO_BODY, FORM(lks_form_collected), WRITE | DEPOT, NULL,
     lks_handle_collect, "Remove unreferenced artifacts; also runs once a day by itself"},
    {"GET", "/v1/artifacts/{digest}", "agentArtifact", AGENTS, LKS_MAY_REPORT, LKS_SCOPE_SELF,
     NO_QUERY, NO_BODY, TYPE("application/octet-stream"), DEPOT, NULL, lks_handle_artifact,
     "An artifact, or one range of it"},
    {"POST", "/v1/agent/beat", "beat", AGENTS, LKS_MAY_REPORT, LKS_SCOPE_SELF, NO_QUERY,
     BYTES("application/octet-stream", LKS_BEAT_BYTES_MAX), FORM(lks_form_beat), 0, NULL,
     lks_handle_beat, "A heartbeat"},
    {"PUT", "/v1/agent/tuple", "report", AGENTS, LKS_MAY_REPORT, LKS_SCOPE_SELF, NO_QUERY,
     BYTES("application/json", 1 * MIB), FORM(lks_form_seq), REPORT, lks_prepare_tuple,
     lks_handle_report, "The tuple of the node"},
    {"GET", "/v1/agent/mail", "mail", AGENTS, LKS_MAY_REPORT, LKS_SCOPE_SELF, NO_QUERY, NO_BODY,
     FORM(lks_form_mail), 0, NULL, lks_handle_mail, "The work that waits for the agent"},
    {"POST", "/v1/agent/result", "result", AGENTS, LKS_MAY_REPORT, LKS_SCOPE_SELF, NO_QUERY,
     JSON(lks_ask_result), FORM(lks_form_seq), WRITE | REPORT, NULL, lks_handle_result,
     "How a command ended; saying it again is harmless"},
    {"POST", "/v1/agent/renew", "renew", AGENTS, LKS_MAY_REPORT, LKS_SCOPE_SELF, NO_QUERY,
     JSON(lks_ask_renew), FORM(lks_form_renewed), WRITE | REPORT, lks_prepare_renew,
     lks_handle_renew, "The next certificate for the same node"},
};
/* clang-format on */
const size_t lks_route_count = LKS_COUNT(lks_routes);

size_t lks_route_body_max(enum lks_listener listener)
{
    size_t most = 0;
    for (size_t i = 0; i < lks_route_count; i++) {
        if (lks_routes[i].listener == listener && lks_routes[i].body_max > most)
            most = lks_routes[i].body_max;
    }
    return most;
}

/* Hold a path against a pattern, part by part. */
static bool matches(struct lks_str pattern, struct lks_str path, struct lks_route_match *out)
{
    out->count = 0;
    for (bool more = true; more;) {
        struct lks_str want, got;
        more = lks_str_cut(pattern, '/', &want, &pattern);
        if (lks_str_cut(path, '/', &got, &path) != more)
            return false;
        if (want.len == 0 || want.ptr[0] != '{') {
            if (!lks_str_eq(want, got))
                return false;
            continue;
        }
        if (got.len == 0)
            return false;
        LKS_ASSERT(out->count < LKS_ROUTE_PARAMS_MAX);
        out->names[out->count] = (struct lks_str){want.ptr + 1, want.len - 2};
        out->values[out->count++] = got;
    }
    return true;
}

void lks_route_find(enum lks_listener listener, const char *method, const char *path,
                    struct lks_route_match *out)
{
    *out = (struct lks_route_match){0};
    size_t used = 0;
    for (size_t i = 0; i < lks_route_count && out->route == NULL; i++) {
        const struct lks_route *r = &lks_routes[i];
        if (r->listener != listener || !matches(lks_str_from(r->path), lks_str_from(path), out))
            continue;
        out->known_path = true;
        if (strcmp(r->method, method) == 0) {
            out->route = r;
            return;
        }
        int len = snprintf(out->allow + used, sizeof(out->allow) - used, "%s%s",
                           used > 0 ? ", " : "", r->method);
        used += len > 0 && (size_t)len < sizeof(out->allow) - used ? (size_t)len : 0;
    }
    out->count = 0;
}
