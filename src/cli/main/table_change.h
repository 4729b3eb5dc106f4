/* Commands of changes: their rows and options, for table.c alone. */
#ifndef LKS_CLI_TABLE_CHANGE_H
#define LKS_CLI_TABLE_CHANGE_H

#include "cli/shared/commands.h"

extern const struct lks_option lks_change_propose_options[], lks_change_show_options[],
    lks_change_procedure_options[], lks_change_ls_options[], lks_change_vote_options[],
    lks_change_waive_options[], lks_change_start_options[], lks_change_resume_options[],
    lks_change_skip_options[], lks_freeze_options[], lks_unfreeze_options[], lks_rehearse_options[];

#define LKS_CHANGE_COUNTS                                                                          \
    "members: {pending, waiting, asked, reading, done, reverted, fenced, needs_hands, unknown, "   \
    "skipped}"
#define LKS_CHANGE_WISH                                                                            \
    "kind, stack?, name?, hosts?, failures_max, rolls_back, one_way, not_before?, not_after?, "    \
    "windows?, class?, advisory?, quorum, expires?, needs_standby"
#define LKS_CHANGE_APPROVALS "approvals: {needed, given, pool?, site?}"
#define LKS_CHANGE_STANDS                                                                          \
    "state, by?, reason?, proposed, started?, started_by?, moved?, moved_by?, moved_reason?, "     \
    "standby?, total, "                                                                            \
    "failed, " LKS_CHANGE_COUNTS
#define LKS_CHANGE_PLAN                                                                            \
    "nodes, gpus, assets, units, canaries, waves: [{wave, kind, pool?, units, nodes, assets, "     \
    "width, width_text?, soak_ms, failures_max, controls?, state?, since?, until?, text?, busy?, " \
    "failed?, "                                                                                    \
    "limit?, limit_text?, gate?: [{metric, kind, critical, verdict, text?, looks, changed, "       \
    "expected, controls, events?, control_events?, margin?, estimate?, worst?, best?, waived}], "  \
    "members?}], recipes: [{recipe, members, steps: [{kind, rank, layer?, component?, version?, "  \
    "before?, executor?, order?, order_back?, bundle?, image?, bundle_back?, image_back?, "        \
    "revert?, one_way, missing?, limit_ms, retries, jobs?, signal?, grace_ms?}]}], notes: "        \
    "[{kind, text}], "                                                                             \
    "orders: [{digest, size}]"
#define LKS_CHANGE_JOBS                                                                            \
    "jobs?: {listed?, missing?, rows: [{wave, pool, nodes, busy, jobs, requeue, ends?, "           \
    "unknown_ends, lost_gpu_hours, idle_gpu_hours, unknown_idle, unlisted}], top: [{job, user?, "  \
    "account?, nodes, of, started?, ends?, requeue}]}"
#define LKS_CHANGE_MOVED "{seq, id, state, nodes, gpus, " LKS_CHANGE_APPROVALS ", frozen?}"

/* clang-format off */
#define LKS_CHANGE_UNREACHABLE "unreachable?: {needed, reachable, pool?, site?, text}"

#define LKS_CHANGE_COMMANDS                                                                        \
    {LKS_PLAN, "change propose", "", 0, 0, lks_change_propose_options,                             \
     "Plan a change to another stack, and propose it",                                             \
     "Shows the notes for approvers, the waves, their gates with what these would wait for now, "  \
     "and the steps of change and rollback. No node is changed before as many other people "       \
     "approve for each pool as the class of change requires (standard 0, routine 2, emergency "    \
     "1, power-fabric 3) and a person runs 'change start'. Freezes that keep its nodes from "      \
     "starting are named. A proposal expires after 14 days (emergency 2, power-fabric 30). "       \
     "Exit status 1 if no plan can be made.",                                                      \
     "{id?, seq?, dry_run, " LKS_CHANGE_WISH ", " LKS_CHANGE_PLAN ", gates: [{gate, from?, to?, "  \
     "metric?, source?, critical?, limit, waits?}], freezes: [{pool?, by?, reason?, since?, "      \
     "from?, until?, now?, description?}], " LKS_CHANGE_JOBS ", " LKS_CHANGE_UNREACHABLE "}",      \
     lks_cmd_change_propose},                                                                      \
    {LKS_LOOK, "change show", "ID", 1, 1, lks_change_show_options, "Show or follow a change",      \
     "With --follow, prints a line for each wave until the change is finished or halted, "         \
     "across restarts of lockstepd, and waits while the change is paused, frozen or on HOLD. "     \
     "Exit status with --follow: 0 if the change is done, 1 if it was halted, rolled back, "       \
     "aborted or rejected.",                                                                       \
     "{id, " LKS_CHANGE_WISH ", " LKS_CHANGE_STANDS ", " LKS_CHANGE_PLAN ", waits: [{wave, node, " \
     "state, doing?, why?, until?}], reserved?: [{name, site?, pool, nodes, from, "                \
     "until}], unlisted?: [{site?, scheduler, since, text?}], "                                   \
     "jobs_touched?, job_acts?: [{job, site?, user?, node?, act, "                                \
     "state, signal?, at?, until?, text?}], " LKS_CHANGE_JOBS ", frozen?, "                       \
     LKS_CHANGE_APPROVALS ", " LKS_CHANGE_UNREACHABLE                                              \
     ", votes: [{yes, by?, reason?, at?, ends?, ticket?, who?, credential?, minters?: []}], "      \
     "break_glass?: {at, by?, reason?, review_until, reviewed?, reviewed_by?, "                    \
     "reviewed_reason?}, forecast?: {runs, "                                                       \
     "took_low_ms, took_middle_ms, took_high_ms, gpu_hours_low, gpu_hours_middle, "                \
     "gpu_hours_high, kept_high, reached_high, by?, at?, actual_ms?, actual_gpu_hours, "           \
     "actual_kept}, waived: [{gate, until, pool?, by?, reason?}]}; with --follow such a line "     \
     "whenever it is another, without the plan; with "                                             \
     "--nodes {items: [{node, asset?, pool?, domain?, wave, recipe, from?, proves, state, step, "  \
     "steps, doing?, component?, back, pass, attempt, begun?, since?, until?, work?, failure?, "   \
     "text?}]}",                                                                                   \
     lks_cmd_change_show},                                                                         \
    {LKS_PLAN, "change procedure", "ID", 1, 1, lks_change_procedure_options,                       \
     "Write the method of procedure (MOP) of a change, for the approval board",                    \
     "Describes the steps, what can go wrong, the rollback, duration and cost, remaining risks, "  \
     "and the approvals: in Markdown, or with --json for programs. The document is derived from "  \
     "the journal alone, and names its plan by a digest.",                                         \
     "{title, jobs?: {about, listed?, missing?, rows: [...], top: [...]}, summary: {about, "       \
     "text}, change: {about, id, plan, ...}, happens: {about, waves: "                             \
     "[...], gates: [...], metrics: [...], steps: [...], ...}, wrong: {about, failures: [...]}, "  \
     "back: {about, ways: [...], commands: [...], ...}, cost: {about, rehearsed, costs: [...], "   \
     "...}, risk: {about, risks: [{kind, text}]}, approvals: {about, needed, given, votes: [...], "\
     "signatures: [...], ...}}",                                                                   \
     lks_cmd_change_procedure},                                                                    \
    {LKS_LOOK, "change ls", "", 0, 0, lks_change_ls_options, "List unfinished changes", "",        \
     "{items: [{id, " LKS_CHANGE_WISH ", " LKS_CHANGE_STANDS ", waves, passed}]}",                 \
     lks_cmd_change_ls},                                                                           \
    {LKS_CHANGE, "change approve", "ID", 1, 1, lks_change_vote_options,                            \
     "Approve a change that another person proposed", "", LKS_CHANGE_MOVED,                        \
     lks_ask_cmd},                                                                                 \
    {LKS_CHANGE, "change reject", "ID", 1, 1, lks_change_vote_options,                             \
     "Reject a change permanently",                                                                \
     "A single rejection by an approver of one of its pools ends a change that has not "           \
     "started; the proposer uses 'change abort'. A change that has started is ended with "         \
     "'change abort' or 'change rollback'.",                                                       \
     LKS_CHANGE_MOVED, lks_ask_cmd},                                                               \
    {LKS_CHANGE, "change withdraw", "ID", 1, 1, lks_change_vote_options, "Withdraw your approval", \
     "A change that then lacks approvals is proposed again. Refused once the change has "          \
     "started, unless by break-glass; use 'change pause', 'change abort' or 'change rollback' "    \
     "then.",                                                                                      \
     LKS_CHANGE_MOVED, lks_ask_cmd},                                                               \
    {LKS_CHANGE, "change review", "ID", 1, 1, lks_change_vote_options,                             \
     "Review a change that started without its approvals",                                         \
     "Records what you found about a break-glass start, and closes its alarm. A review is not "    \
     "an approval: rings still wait for the approvals. Needs the role approver, and neither "      \
     "the proposer nor the person who started the change may review it. Due within 24 h "          \
     "(emergency: 72 h); after that a second alarm is raised, and the first one also needs "       \
     "'alarm release'.", LKS_CHANGE_MOVED,                                                         \
     lks_ask_cmd},                                                                                 \
    {LKS_CHANGE, "change waive", "ID", 1, 1, lks_change_waive_options,                             \
     "Waive a gate for a limited time",                                                            \
     "Until --until the gate does not stop the change, however bad its result; a change that "     \
     "is halted already continues only after 'change resume'. Needs the role approver in a "       \
     "pool of the change; not for its proposer or the person who started it by break-glass. A "    \
     "waiver of 'acceptance' is for the gate after a wave: a node still returns to service "       \
     "only if its own checks pass. Nodes that need manual intervention or have an unknown "        \
     "outcome are never waived.", LKS_CHANGE_MOVED,                                                \
     lks_ask_cmd},                                                                                 \
    {LKS_CHANGE, "change start", "ID", 1, 1, lks_change_start_options, "Start an approved change", \
     "An approved change does not start by itself. --nodes and --gpus repeat the size of the "     \
     "change, to confirm that you read the plan. --break-glass starts a change that is not "       \
     "approved yet: lab and canary run, rings wait for the approvals, an alarm is raised, and "    \
     "another person must review the change.",                                                     \
     LKS_CHANGE_MOVED, lks_cmd_change_start},                                                      \
    {LKS_CHANGE, "change pause", "ID", 1, 1, lks_change_vote_options,                              \
     "Pause a change: nodes in progress finish, no further node is changed",                       \
     "", LKS_CHANGE_MOVED,                                                                         \
     lks_ask_cmd},                                                                                 \
    {LKS_CHANGE, "change resume", "ID", 1, 1, lks_change_resume_options,                           \
     "Resume a change, or retry nodes of it that failed",                                          \
     "Without --nodes, resumes a change that was paused or halted; after a halt by a metric, an "  \
     "approver must first waive that gate ('change waive'). With --nodes, retries these nodes, "   \
     "or with --as-is returns them to service as they are; the state of the change stays the "     \
     "same.",                                                                                      \
     LKS_CHANGE_MOVED, lks_cmd_change_resume},                                                     \
    {LKS_CHANGE, "change skip", "ID NODES", 2, 2, lks_change_skip_options,                         \
     "Stop waiting for nodes of a change",                                                         \
     "Nodes that did not start, or were lost before any step ran on them, stay in service as "     \
     "they are. A node that was lost later stays drained. 'change show' lists the nodes that a "   \
     "change waits for.",                                                                          \
     LKS_CHANGE_MOVED, lks_ask_cmd},                                                               \
    {LKS_CHANGE, "change abort", "ID", 1, 1, lks_change_vote_options,                              \
     "Abort a change: nodes in progress roll back, finished nodes keep the new stack",             \
     "Needs no approval. The pool then runs two stacks: its pin stays the old one, so finished "   \
     "nodes are drift ('partial wave'), and jobs across both are refused where the pool "          \
     "enforces. An aborted change cannot be resumed. 'change rollback' also returns the "          \
     "finished nodes, until the abort has ended; afterwards propose a change to the stack that "   \
     "all nodes are to run.",                                                                      \
     LKS_CHANGE_MOVED,                                                                             \
     lks_ask_cmd},                                                                                 \
    {LKS_CHANGE, "change rollback", "ID", 1, 1, lks_change_vote_options,                           \
     "Roll back a change on every node that it reached",                                           \
     "Needs no approval, and starts at once in all waves. Each node is drained, rolled back, "     \
     "read again and returned to service, at most as many of a pool at a time as its wave is "     \
     "wide. Nodes with an irreversible step keep the new stack, and lost nodes are fenced. "       \
     "Possible until the change ends; a finished change is undone by proposing the stack "         \
     "before. A freeze also stops rollbacks; freeze days and windows do not.", LKS_CHANGE_MOVED,   \
     lks_ask_cmd},                                                                                 \
    {LKS_PLAN, "rehearse", "[CHANGE]", 0, 1, lks_rehearse_options,                                 \
     "Simulate a change on a copy of the fleet, many times, in virtual time",                      \
     "The copy comes from lockstepd (requires the viewer role for the whole fleet) or from "       \
     "--fleet: a controller's data directory or journal, or a fleet's manifest whose nodes run "   \
     "what their pools pin. Jobs are those that the schedulers of lockstepd's nodes list now; "    \
     "with --fleet they are drawn. The fleet is not touched. Without CHANGE, --to and --pool or "  \
     "--nodes describe the change. --seed N prints the events of a single run; the same seed "     \
     "gives the same run.",                                                                        \
     "{title, runs, plain_runs, ends: [{end, runs}], seconds: {low, middle, high, most}, "         \
     "gpu_hours, money?, currency?, calls, nodes_lost, jobs: {drawn_nodes, sites: [{site, "        \
     "scheduler, nodes, missing?, age_seconds?, jobs?, endless?}], draining_gpu_hours?, "          \
     "requeued?, requeue_gpu_hours?}, bad_image?: {runs, stopped, reached, hurt, "                 \
     "stopped_seconds, gates: [{gate, wave, runs}]}, point_seconds, pools: [{pool, nodes, in_use, "\
     "least_in_use, largest_gang, gang, starves, starved_seconds, jobs: [{nodes, waits, "          \
     "waited_seconds}], in_use_curve: [[low, middle, high]], gang_curve}]}",                       \
     lks_cmd_rehearse},                                                                            \
    {LKS_CHANGE, "freeze", "", 0, 0, lks_freeze_options,                                           \
     "Freeze a pool or the whole fleet: no further node is changed",                               \
     "Nodes in progress finish their change, or roll back if it fails. A freeze also stops "       \
     "rollbacks, drains for drift, automatic proposals, and updates and commands by hand. Jobs "   \
     "are admitted as before. An operator of the pool, without --pool of the whole fleet, can "    \
     "freeze; an approver ends the freeze ('unfreeze'). --list also shows the freeze days of "     \
     "the fleet's manifest. A freeze of what is frozen before changes nothing, and names the "     \
     "person who froze it.",                                                                       \
     "{seq, already?, by?, reason?, since?}; with --list {frozen, by?, reason?, since?, pools: "   \
     "[{pool, by?, reason?, since?}], days: [{from, until, now, pools?, description?}]}",          \
     lks_cmd_freeze},                                                                              \
    {LKS_CHANGE, "unfreeze", "", 0, 0, lks_unfreeze_options,                                       \
     "End a freeze",                                                                               \
     "Needs the role approver for the pool, without --pool for the whole fleet; root at the "      \
     "socket of lockstepd has every role, and needs no other person. Ends one "                    \
     "freeze: without --pool that of the whole fleet, while single pools that were frozen stay "   \
     "so; with --pool that of the pool, which still waits while the whole fleet is frozen. "       \
     "Changes and drains for drift then continue by themselves. Freeze days of the manifest "      \
     "are not affected. Exit status 1 if it is not frozen; the message names what is.",            \
     "{seq}",                                                                                      \
     lks_ask_cmd}
/* clang-format on */

#endif
