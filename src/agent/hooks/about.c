#include "agent/hooks/about.h"

#include "agent/hooks/notice.h"

#define RUN "folder of the agent's socket (" LKS_NOTICE_RUN ")"

const struct lks_option lks_about_health_options[] = {
    {"--run DIR", RUN},
    {"--timeout SECONDS", "time limit of the check, in seconds (50); slurmd's own is 60"},
    {"--fallback PROGRAM", "program to run instead if no agent answers; its exit status counts"},
    {"--version", "print the version and exit"},
    {"--help", "print this help and exit"},
    {0},
};

const struct lks_option lks_about_epilog_options[] = {
    {"--run DIR", RUN},
    {"--version", "print the version and exit"},
    {"--help", "print this help and exit"},
    {0},
};

const struct lks_option lks_about_prolog_options[] = {
    {"--without-answer WHAT",
     "start (the default), refuse, or last: whether the job starts if lockstepd gives no answer; "
     "last: if all its nodes were admitted lately"},
    {"--last N", "with --without-answer last: maximum age of an admission, in seconds (600)"},
    {"--state DIR",
     "folder of SlurmUser that keeps which nodes were admitted when, and how many jobs started "
     "without an answer; their number is reported to lockstepd. With it, the images of a "
     "heterogeneous job's components are compared"},
    {"--retry N", "after a no about a node, let Slurm try again as soon as it drains that node, "
                  "if it does within N seconds (at most 110); needs --state"},
    {"--seconds N", "time limit of the answer, in seconds (10)"},
    {"--lockstep PROGRAM", "lockstep, if it is not in PATH"},
    {"--scontrol PROGRAM", "scontrol, if it is not in PATH"},
    {"--version", "print the version and exit"},
    {"--help", "print this help and exit"},
    {0},
};

static const struct lks_manual_row health_files[] = {
    {"/etc/lockstep/slurm-health", "check to run if the command line names none"},
    {LKS_NOTICE_RUN "/" LKS_NOTICE_SOCKET, "socket of lockstep-agent"},
    {LKS_NOTICE_RUN "/" LKS_NOTICE_STATE, "whether the node is in service; checks run only then"},
    {0},
};

static const struct lks_manual_row epilog_files[] = {
    {LKS_NOTICE_RUN "/" LKS_NOTICE_SOCKET, "socket of lockstep-agent"},
    {0},
};

const struct lks_manual lks_about_health = {
    .name = "slurm-health",
    .summary = "Run a site's health check for slurmd, and report its result to lockstep",
    .about = "For HealthCheckProgram in slurm.conf. A node whose check fails is unhealthy in "
             "lockstep until the check passes. While lockstep changes the node, the check is not "
             "run. The exit status is 0 whatever the check finds, so that only lockstep acts on "
             "the result. NHC runs with MARK_OFFLINE=0: it neither drains nor resumes the node.",
    .usages = {"[OPTION...] [--] [PROGRAM [ARGUMENT...]]"},
    .parts = {{"Options", lks_about_health_options}},
    .files = health_files,
    .see = "slurm-epilog(8), lockstep-agent(8), lockstep-node(1), slurm.conf(5)",
};

const struct lks_manual lks_about_epilog = {
    .name = "slurm-epilog",
    .summary = "Report to lockstep that a job ended on this node",
    .about = "For Epilog in slurm.conf. If the node drains for a change, its agent sends "
             "heartbeats every 2 s for 20 s, so that the drain is verified within seconds. The "
             "exit status is 0 in any case: another one would make Slurm drain the node.",
    .usages = {"[OPTION...]"},
    .parts = {{"Options", lks_about_epilog_options}},
    .files = epilog_files,
    .see = "slurm-health(8), lockstep-agent(8), slurm.conf(5)",
};

const struct lks_manual lks_about_prolog = {
    .name = "slurm-prolog",
    .summary = "Ask lockstep whether a job may start on the nodes that Slurm chose",
    .about = "For PrologSlurmctld in slurm.conf, which takes no arguments: name a script that runs "
             "this program, which runs 'lockstep admit' with the job's ID and nodes and with the "
             "options after --, such as --server and --token-file. The SPANK plugin passes on the "
             "requests of the job as SPANK_LOCKSTEP_STACK, SPANK_LOCKSTEP_IMAGE and "
             "SPANK_LOCKSTEP_CANARY_OK. "
             "With exit status 0 the job starts. With any other status Slurm requeues the job, or "
             "cancels it if it is no batch job; after a refusal the status is 1, and the job's "
             "AdminComment has the reason. The system's log has refusals and starts without an "
             "answer. HOME is not set, PATH is a fixed one, and the working directory is /.",
    .usages = {"[OPTION...] [-- OPTION_OF_ADMIT...]"},
    .parts = {{"Options", lks_about_prolog_options}},
    .see = "lockstep-admit(1), slurm-health(8), slurm.conf(5)",
};
