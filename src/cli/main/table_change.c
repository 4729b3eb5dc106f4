#include "cli/main/table_change.h"

#include "cli/shared/listing.h"
#include "cli/shared/remote.h"

#define WHY                                                                                        \
    {                                                                                              \
        "--reason TEXT", "reason; required, recorded"                                              \
    }
#define POOL                                                                                       \
    {                                                                                              \
        "--pool NAME", "only this pool; default: the whole fleet"                                  \
    }

/* What a change and its rehearsal both take. */
#define HOOK_AND_WINDOW                                                                            \
    {"--hook NAME",                                                                                \
     "program of the site, /etc/lockstep/hooks/NAME on the nodes, for components that no bundle "  \
     "has; lockstep verifies the versions afterwards, not the files"},                             \
    {                                                                                              \
        "--window TEXT",                                                                           \
            "when the change of a node may start, in the timezone of its site (fleet manifest; "   \
            "UTC): "                                                                               \
            "'Mon-Fri 22:00-04:00'. Nodes in progress finish, and rollbacks do not wait"           \
    }
#define ON_FAILURE                                                                                 \
    {"--failures N", "failed nodes that the change tolerates before it is halted (0)"},            \
        {"--roll-back",                                                                            \
         "when the change is halted by failures or a gate, roll back every node that it reached; " \
         "default: stop, and leave changed nodes as they are"},                                    \
    {                                                                                              \
        "--one-way", "acknowledge that some steps are irreversible"                                \
    }

const struct lks_option lks_change_propose_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--to STACK", "published stack, by digest, the start of one, or a name that only one stack "
                   "has; for production pools it must be released, also for the canary"},
    {"--agent VERSION", "instead of a stack: this version of the lockstep agent"},
    {"--nodes NODES", "nodes to change, such as gpu[001-512]; or"},
    {"--pool NAME", "all nodes of this pool"},
    WHY,
    HOOK_AND_WINDOW,
    {"--soak SPAN", "soak time of the canary, such as 4h (standard 30m, routine 1h, emergency 15m, "
                    "power-fabric 2h); rings soak for a quarter of it, of power-fabric half"},
    {"--canary-max N", "maximum number of canary nodes (a tenth of the nodes, at least 8); "
                       "combinations left uncovered are named"},
    {"--strength T", "the canary covers all combinations of T of these: hardware revision, "
                     "supplier, base firmware, rack (2); 1 to 3"},
    {"--catch SHARE", "the canary must catch a fault that affects this share of nodes, such as 1% "
                      "(5% if only --confidence is given); default: one node of each combination"},
    {"--confidence SHARE", "confidence for --catch (95%)"},
    ON_FAILURE,
    {"--not-before TIME", "no node is changed earlier: a time, or a span from now"},
    {"--not-after TIME",
     "the change of no node starts later: a time, or a span from now. The change is then halted, "
     "without a rollback; nodes that did not start keep their stack"},
    {"--class CLASS", "standard, routine, emergency or power-fabric, if stricter than the class "
                      "that the plan gives"},
    {"--advisory ID", "with --class emergency, the advisory that the change closes"},
    {"--dry-run", "show the plan and propose nothing"},
    {0},
};

const struct lks_option lks_change_show_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--follow",
     "follow the change until it is finished or halted; continues during a pause or HOLD"},
    {"--watch", "the same as --follow"},
    {"--nodes STATE", "list its nodes in this state, or 'all': pending (untouched), waiting (for "
                      "its next step), asked (a step is in progress), reading (being read again), "
                      "done, reverted, fenced (out of service), needs-hands (fenced, manual "
                      "intervention needed), unknown (outcome of a step), skipped"},
    {"--wave N", "with --nodes, only nodes of this wave"},
    {0},
};

const struct lks_option lks_change_procedure_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--gpu-hour PRICE", "price of a GPU hour, such as '2.5 EUR', to report the cost"},
    {"--output FILE", "file to write, instead of standard output"},
    {0},
};

const struct lks_option lks_change_ls_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--all", "include finished changes"},
    LKS_LISTING_OPTIONS,
    {0},
};

const struct lks_option lks_change_vote_options[] = {LKS_REMOTE_OPTIONS, WHY, {0}};

const struct lks_option lks_change_waive_options[] = {
    LKS_REMOTE_OPTIONS,
    WHY,
    {"--gate NAME",
     "required: 'failure count', soak, acceptance, or a metric of the change's gates"},
    {"--until TIME", "end of the waiver, required: a time, or a span from now of at most 7 days"},
    {"--pool NAME", "only for nodes of this pool; default: all pools that you may approve for"},
    {0},
};

const struct lks_option lks_change_start_options[] = {
    LKS_REMOTE_OPTIONS,
    WHY,
    {"--nodes N", "number of nodes in the change, as shown by 'change show'; required. Confirms "
                  "the number and selects no nodes"},
    {"--gpus N", "number of their GPUs, required; 0 if the change is for assets only"},
    {"--standby WHO", "person on standby at the site, if the class of change requires one"},
    {"--break-glass", "start without the approvals: lab and canary only, with an alarm and "
                      "a review"},
    {"--follow", "follow the change, as 'change show --follow' does"},
    {0},
};

const struct lks_option lks_change_resume_options[] = {
    LKS_REMOTE_OPTIONS,
    WHY,
    {"--nodes NODES", "failed nodes to retry"},
    {"--as-is",
     "with --nodes, return them to service without a retry, although they failed; they are drift "
     "if they do not conform"},
    {0},
};

const struct lks_option lks_change_skip_options[] = {LKS_REMOTE_OPTIONS, WHY, {0}};

const struct lks_option lks_freeze_options[] = {
    LKS_REMOTE_OPTIONS, POOL, WHY, {"--list", "list the freezes and add none"}, {0},
};

const struct lks_option lks_unfreeze_options[] = {LKS_REMOTE_OPTIONS, POOL, WHY, {0}};

const struct lks_option lks_rehearse_options[] = {
    {"--fleet PLACE",
     "data directory or journal of a controller, or a fleet's manifest; default: ask lockstepd"},
    {"--seeds N", "number of runs (1000)"},
    {"--seed N", "run once with this seed, and print each event"},
    {"--faults LIST",
     "faults to inject: step=1%,lost=0.1%,bmc=1%,brick=0.01%,slow=1%,bad=5%, bad=revision:B, "
     "way=accept|step|dies|slow, or none"},
    {"--to STACK", "published stack, by name or digest"},
    {"--nodes NODES", "nodes that would change, such as gpu[001-512]; or"},
    {"--pool NAME", "all nodes of this pool"},
    HOOK_AND_WINDOW,
    {"--soak SPAN", "soak time of the canary, such as 4h; default and rings: see 'change propose'"},
    {"--canary-max N", "maximum number of canary nodes"},
    ON_FAILURE,
    {"--gpu-hour PRICE", "price of a GPU hour, such as '2.5 EUR'"},
    {"--svg FILE", "write the forecast to this file as a picture"},
    {"--checkpoint SPAN",
     "time that a job needs to write a checkpoint; prints how often to write one"},
    {"--jobs N", "runs at a time (default: number of processors)"},
    {"--keep",
     "store the forecast with CHANGE, so that 'change show' compares it with the actual run"},
    LKS_REMOTE_OPTIONS,
    {0},
};
