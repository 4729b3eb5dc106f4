/* Commands of changes: their rows and options, for table.c and nobody else. */
#ifndef LKS_CLI_TABLE_CHANGE_H
#define LKS_CLI_TABLE_CHANGE_H

#include "cli/commands.h"

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
    "state, by?, reason?, proposed, started?, moved?, moved_by?, moved_reason?, standby?, total, " \
    "failed, " LKS_CHANGE_COUNTS
#define LKS_CHANGE_PLAN                                                                            \
    "nodes, gpus, assets, units, canaries, waves: [{wave, kind, pool?, units, nodes, assets, "     \
    "width, soak_ms, failures_max, controls?, state?, since?, until?, text?, busy?, failed?, "     \
    "limit?, limit_text?, gate?: [{metric, kind, critical, verdict, text?, looks, changed, "       \
    "expected, controls, events?, control_events?, margin?, estimate?, worst?, best?, waived}], "  \
    "members?}], recipes: [{recipe, members, steps: [{kind, rank, layer?, component?, version?, "  \
    "before?, executor?, order?, order_back?, bundle?, image?, bundle_back?, image_back?, "        \
    "revert?, one_way, limit_ms, retries}]}], notes: [{kind, text}], orders: [{digest, size}]"
#define LKS_CHANGE_MOVED "{seq, id, state, nodes, gpus, " LKS_CHANGE_APPROVALS "}"

/* clang-format off */
#define LKS_CHANGE_UNREACHABLE "unreachable?: {needed, reachable, pool?, site?, text}"

#define LKS_CHANGE_COMMANDS                                                                        \
    {"change propose", "", 0, 0, lks_change_propose_options,                                       \
     "Plan a change to another stack, and propose it",                                             \
     "Shows what whoever approves has to know, the waves, and the steps there and back. Nothing "  \
     "begins before somebody else approved it. Exit status 1 where no plan can be made.",          \
     "{id?, seq?, dry_run, " LKS_CHANGE_WISH ", " LKS_CHANGE_PLAN ", " LKS_CHANGE_UNREACHABLE "}", \
     lks_cmd_change_propose},                                                                      \
    {"change show", "ID", 1, 1, lks_change_show_options, "Show a change, or follow it",            \
     "With --follow a line for each wave until the change is over or halted, through restarts of " \
     "lockstepd; exit status 0 when it is done, 1 when it was halted, rolled back, aborted or "    \
     "rejected.",                                                                                  \
     "{id, " LKS_CHANGE_WISH ", " LKS_CHANGE_STANDS ", " LKS_CHANGE_PLAN ", waits: [{wave, node, " \
     "state, doing?, why?, until?}], frozen?, "                                                    \
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
    {"change procedure", "ID", 1, 1, lks_change_procedure_options,                                 \
     "Write the method of procedure of a change, for the board that approves it",                  \
     "What will happen, what can go wrong, how to go back, how long it takes and what it costs, "  \
     "what stays at risk, and who approved: Markdown, or with --json the same for programs. It "   \
     "follows from the journal alone, and names its plan by a digest.",                            \
     "{title, summary: {about, text}, change: {about, id, plan, ...}, happens: {about, waves: "    \
     "[...], gates: [...], metrics: [...], steps: [...], ...}, wrong: {about, failures: [...]}, "  \
     "back: {about, ways: [...], commands: [...], ...}, cost: {about, rehearsed, costs: [...], "   \
     "...}, risk: {about, risks: [{kind, text}]}, approvals: {about, needed, given, votes: [...], "\
     "signatures: [...], ...}}",                                                                   \
     lks_cmd_change_procedure},                                                                    \
    {"change ls", "", 0, 0, lks_change_ls_options, "List changes that are not over", "",           \
     "{items: [{id, " LKS_CHANGE_WISH ", " LKS_CHANGE_STANDS ", waves, passed}]}",                 \
     lks_cmd_change_ls},                                                                           \
    {"change approve", "ID", 1, 1, lks_change_vote_options,                                        \
     "Approve a change that somebody else proposed", "", LKS_CHANGE_MOVED,                         \
     lks_cmd_change_approve},                                                                      \
    {"change reject", "ID", 1, 1, lks_change_vote_options, "Reject a change for good", "",         \
     LKS_CHANGE_MOVED, lks_cmd_change_reject},                                                     \
    {"change withdraw", "ID", 1, 1, lks_change_vote_options, "Take one's own approval back", "",   \
     LKS_CHANGE_MOVED, lks_cmd_change_withdraw},                                                   \
    {"change review", "ID", 1, 1, lks_change_vote_options,                                         \
     "Say what one found about a change that began without its approvals", "", LKS_CHANGE_MOVED,   \
     lks_cmd_change_review},                                                                       \
    {"change waive", "ID", 1, 1, lks_change_waive_options,                                         \
     "Let a gate of a change go unasked for a while", "", LKS_CHANGE_MOVED,                        \
     lks_cmd_change_waive},                                                                        \
    {"change start", "ID", 1, 1, lks_change_start_options, "Begin an approved change",             \
     "--nodes and --gpus repeat how large it is: whoever starts it has looked. --break-glass "     \
     "begins one that is not approved yet: lab and canary go, rings wait for the approvals, an "   \
     "alarm says so, and somebody else has to review it.",                                         \
     LKS_CHANGE_MOVED, lks_cmd_change_start},                                                      \
    {"change pause", "ID", 1, 1, lks_change_vote_options,                                          \
     "Let nobody else begin; who is under way goes on to its end", "", LKS_CHANGE_MOVED,           \
     lks_cmd_change_pause},                                                                        \
    {"change resume", "ID", 1, 1, lks_change_resume_options,                                       \
     "Go on with a change, or with nodes of it that failed",                                       \
     "Without --nodes a change that was paused or halted goes on; one that a metric halted, once " \
     "an approver let that go ('change waive'). With it, these nodes are tried again, or with "    \
     "--as-is go back into use as they are; the change stays as it is.",                           \
     LKS_CHANGE_MOVED, lks_cmd_change_resume},                                                     \
    {"change skip", "ID NODES", 2, 2, lks_change_skip_options,                                     \
     "Stop waiting for nodes of a change",                                                         \
     "Nodes that did not begin, or were lost before anything was done to them, stay in service "   \
     "as they are. A node that was lost later stays drained. 'change show' lists the nodes that "  \
     "a change waits for.",                                                                        \
     LKS_CHANGE_MOVED, lks_cmd_change_skip},                                                       \
    {"change abort", "ID", 1, 1, lks_change_vote_options,                                          \
     "End a change: who is under way goes back, who is done stays", "", LKS_CHANGE_MOVED,          \
     lks_cmd_change_abort},                                                                        \
    {"change rollback", "ID", 1, 1, lks_change_vote_options,                                       \
     "Take a change back on every node that it reached", "", LKS_CHANGE_MOVED,                     \
     lks_cmd_change_rollback},                                                                     \
    {"rehearse", "[CHANGE]", 0, 1, lks_rehearse_options,                                           \
     "Try a change out on a copy of the fleet, many times, in virtual time",                       \
     "The copy is what lockstepd knows of the fleet (a viewer of all of it may ask), or "          \
     "--fleet: a controller's data directory or journal, or a fleet's file whose nodes run what "  \
     "their pools pin. Nothing of the fleet is touched. Without CHANGE, --to and --pool or "       \
     "--nodes say what would be proposed. --seed N tells one story; the same seed has the same "   \
     "one.",                                                                                       \
     "{title, runs, plain_runs, ends: [{end, runs}], seconds: {low, middle, high, most}, "         \
     "gpu_hours, money?, currency?, calls, nodes_lost, bad_image?: {runs, stopped, reached, hurt, "\
     "stopped_seconds, gates: [{gate, wave, runs}]}, point_seconds, pools: [{pool, nodes, in_use, "\
     "least_in_use, largest_gang, gang, starves, starved_seconds, jobs: [{nodes, waits, "          \
     "waited_seconds}], in_use_curve: [[low, middle, high]], gang_curve}]}",                       \
     lks_cmd_rehearse},                                                                            \
    {"freeze", "", 0, 0, lks_freeze_options, "Let nobody begin, in a pool or the whole fleet",     \
     "Who is under way goes on to its safe end, and nothing is updated or commanded by hand. Any " \
     "operator may; an approver ends it. --list has the days of the fleet's file, too.",           \
     "{seq}; with --list {frozen, by?, reason?, since?, pools: [{pool, by?, reason?, since?}], "   \
     "days: [{from, until, now, pools?, description?}]}", lks_cmd_freeze},                         \
    {"unfreeze", "", 0, 0, lks_unfreeze_options, "Let changes go on", "", "{seq}",                 \
     lks_cmd_unfreeze}
/* clang-format on */

#endif
