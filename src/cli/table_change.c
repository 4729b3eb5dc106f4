#include "cli/table_change.h"

#include "cli/remote.h"

#define WHY                                                                                        \
    {                                                                                              \
        "--reason", "TEXT", "why; it is recorded"                                                  \
    }
#define POOL                                                                                       \
    {                                                                                              \
        "--pool", "NAME", "only this pool; without it, the whole fleet"                            \
    }

const struct lks_option lks_change_propose_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--to", "STACK", "a published stack, by name or digest"},
    {"--agent", "VERSION", "instead of a stack: our own agent in this version"},
    {"--nodes", "NODES", "who changes, such as gpu[001-512]; or"},
    {"--pool", "NAME", "all nodes of this pool"},
    WHY,
    {"--hook", "NAME", "a program of the site that installs what no bundle has a package for"},
    {"--window", "TEXT", "when nodes may begin, in site time, such as 'Mon-Fri 22:00-04:00'"},
    {"--soak", "SPAN", "how long the canary is watched, such as 4h; rings a part of it"},
    {"--canary-max", "N", "most nodes of the canary; what is left uncovered is named"},
    {"--strength", "T", "the canary has all combinations of so many attributes (2)"},
    {"--catch", "SHARE", "a fault that hits this share of nodes is to be met by the canary: 1%"},
    {"--confidence", "SHARE", "with this confidence: 95%"},
    {"--failures", "N", "nodes that may fail before it is halted (none)"},
    {"--roll-back", NULL, "when it is halted it goes back at once"},
    {"--one-way", NULL, "acknowledge that some steps have no way back"},
    {"--not-before", "TIME", "no node starts earlier: a time, or a span from now"},
    {"--not-after", "TIME", "no node starts later: a time, or a span from now"},
    {"--class", "CLASS", "class of change, where it is to be a stricter one than it is by itself"},
    {"--advisory", "ID", "for --class emergency: the advisory that it closes"},
    {"--dry-run", NULL, "show the plan, and propose nothing"},
    {0},
};

const struct lks_option lks_change_show_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--follow", NULL, "go on until it is over or halted"},
    {"--nodes", "STATE",
     "its nodes that stand so (pending, asked, done, fenced, needs-hands ...), or 'all'"},
    {"--wave", "N", "with --nodes, only those of this wave"},
    {0},
};

const struct lks_option lks_change_procedure_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--gpu-hour", "PRICE", "what a GPU costs an hour, such as '2.5 EUR': money is told, too"},
    {"--output", "FILE", "write it there, instead of showing it"},
    {0},
};

const struct lks_option lks_change_ls_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--all", NULL, "those that are over too"},
    {0},
};

const struct lks_option lks_change_vote_options[] = {LKS_REMOTE_OPTIONS, WHY, {0}};

const struct lks_option lks_change_waive_options[] = {
    LKS_REMOTE_OPTIONS,
    WHY,
    {"--gate", "NAME", "'failure count', soak, acceptance, or a metric of its gates"},
    {"--until", "TIME", "how long: a time, or a span from now, of at most 7 days"},
    {"--pool", "NAME", "behind its nodes alone; without it, all that one may approve for"},
    {0},
};

const struct lks_option lks_change_start_options[] = {
    LKS_REMOTE_OPTIONS,
    WHY,
    {"--nodes", "N", "how many nodes it is for, as 'change show' says"},
    {"--gpus", "N", "and how many GPUs they have; 0 where it is for assets alone"},
    {"--standby", "WHO", "who stands by on site, where its class asks for somebody"},
    {"--break-glass", NULL, "without its approvals: lab and canary alone, alarmed and reviewed"},
    {"--follow", NULL, "and follow it, as 'change show' does"},
    {0},
};

const struct lks_option lks_change_resume_options[] = {
    LKS_REMOTE_OPTIONS,
    WHY,
    {"--nodes", "NODES", "of these that failed: they are tried again"},
    {"--as-is", NULL, "with --nodes, they go back into use as they are"},
    {0},
};

const struct lks_option lks_change_skip_options[] = {LKS_REMOTE_OPTIONS, WHY, {0}};

const struct lks_option lks_freeze_options[] = {
    LKS_REMOTE_OPTIONS,
    POOL,
    WHY,
    {"--list", NULL, "show where nothing begins, and freeze nothing"},
    {0},
};

const struct lks_option lks_unfreeze_options[] = {LKS_REMOTE_OPTIONS, POOL, WHY, {0}};

const struct lks_option lks_rehearse_options[] = {
    {"--fleet", "PLACE",
     "a controller's data directory, its journal, or a fleet's file; else lockstepd is asked"},
    {"--seeds", "N", "how many runs (1000)"},
    {"--seed", "N", "one run, and its story"},
    {"--faults", "LIST",
     "what goes wrong: step=1%,lost=0.1%,bmc=1%,brick=0.01%,slow=1%,bad=5%, "
     "bad=revision:B, way=accept|step|dies|slow, or none"},
    {"--to", "STACK", "a published stack, by name or digest"},
    {"--nodes", "NODES", "who would change, such as gpu[001-512]; or"},
    {"--pool", "NAME", "all nodes of this pool"},
    {"--hook", "NAME", "a program of the site that installs what no bundle has a package for"},
    {"--window", "TEXT", "when nodes may begin, in site time, such as 'Mon-Fri 22:00-04:00'"},
    {"--soak", "SPAN", "how long the canary is watched, such as 4h; rings a part of it"},
    {"--canary-max", "N", "most nodes of the canary"},
    {"--failures", "N", "nodes that may fail before it is halted (none)"},
    {"--roll-back", NULL, "when it is halted it goes back at once"},
    {"--one-way", NULL, "acknowledge that some steps have no way back"},
    {"--gpu-hour", "PRICE", "what a GPU costs an hour, such as '2.5 EUR'"},
    {"--svg", "FILE", "the forecast as a picture"},
    {"--checkpoint", "SPAN", "what a checkpoint of a job takes: how often to write one is advised"},
    {"--jobs", "N", "runs at a time (as many as there are processors)"},
    {"--keep", NULL,
     "keep the forecast with CHANGE, so that 'change show' has it beside what came"},
    LKS_REMOTE_OPTIONS,
    {0},
};
