#include "agent/loop/about.h"

#include "agent/loop/agent.h"
#include "agent/loop/fetch.h"
#include "agent/state/heads.h"
#include "agent/state/identity.h"
#include "agent/state/ledger.h"

const struct lks_option lks_about_agent_options[] = {
    {"--state DIR", "folder for this node's key, spool and ledger; required"},
    {"--controller URL", "first start: lockstepd's address for people, https://host:7443"},
    {"--ca FILE", "first start: CA certificate of lockstepd (ca.crt of lockstepd init)"},
    {"--token-file FILE", "first start: the token of lockstep node enroll; removed once used"},
    {"--agents URLS",
     "controllers to report to, separated by blanks, instead of those that enrolment gave"},
    {"--node NAME", "required name of this node; with a token of several nodes its name, which is "
                    "the host name by default"},
    {"--root DIR", "act as the captured machine in DIR; only lockstep-agentsim changes it"},
    {"--helper SOCKET", "socket of the root helper, which runs executors and reads what needs "
                        "root"},
    {"--run DIR", "folder for the socket of slurm-health and slurm-epilog"},
    {"--inventory-seconds N", "seconds between readings of the machine (300)"},
    {"--quick", "skip the search for copies of libraries, and hashing"},
    {"--log-level LEVEL", "debug, info, warning or error (info)"},
    {"--read", "read the machine, print the result, and exit"},
    {"--idle", "exit with a failure if a process uses the GPUs"},
    {"--hazards", "exit with a failure if the next boot would leave the node broken"},
    {"--cache FILE", "with --read: file that caches what was found inside libraries"},
    {"--depot-bytes N", "disk space for artifacts of commands, in bytes (34359738368)"},
    {"--fetch DIGESTS", "fetch artifacts into the state folder, separated by blanks, and exit"},
    {"--servers URLS", "with --fetch: servers to ask, in this order"},
    {"--certificate NAME", "with --fetch: client certificate, a file in the state folder,"},
    {"--key NAME", "and its key"},
    {"--version", "print the version and exit"},
    {"--help", "print this help and exit"},
    {0},
};

static const struct lks_manual_row files[] = {
    {"STATE/" LKS_IDENTITY_KEY, "private key of the node"},
    {"STATE/" LKS_IDENTITY_CERTIFICATE, "its certificate, renewed by itself"},
    {"STATE/" LKS_IDENTITY_CA, "CA certificate of lockstepd"},
    {"STATE/" LKS_AGENT_CONTROLLER_FILE, "controllers that enrolment gave"},
    {"STATE/spool", "reports that no controller has taken yet"},
    {"STATE/" LKS_LEDGER_FILE, "commands that were carried out, so that none runs twice"},
    {"STATE/" LKS_HEADS_FILE, "signed heads of the journal; collect them to detect rewritten ones"},
    {"STATE/" LKS_FETCH_FOLDER, "artifacts of commands, by digest"},
    {"RUN/" LKS_NOTICE_SOCKET, "socket on which programs of this node report"},
    {"RUN/" LKS_NOTICE_STATE, "whether the node is in service, for these programs"},
    {"RUN/" LKS_NODE_STACK_FILE, "the stack of the node, for the SPANK plugin of Slurm"},
    {"/etc/lockstep/agent.conf", "LOCKSTEP_AGENT_OPTIONS: options that the systemd unit adds"},
    {0},
};

static const struct lks_manual_row signals[] = {
    {"SIGTERM, SIGINT", "exit; what was not reported stays in the spool"},
    {"SIGHUP", "read the machine again"},
    {0},
};

const struct lks_manual lks_about_agent = {
    .name = "lockstep-agent",
    .summary = "Report what a node runs to lockstepd, and carry out its commands",
    .about = "The agent enrols at its first start, with the token of 'lockstep node enroll'. "
             "A user of its own is enough: the root helper runs the executors.",
    .usages = {"--state DIR [OPTION...]", "--read | --idle | --hazards [--root DIR]",
               "--state DIR --fetch DIGESTS --servers URLS [OPTION...]"},
    .parts = {{"Options", lks_about_agent_options}},
    .files = files,
    .signals = signals,
    .see = "lockstep-helper(8), slurm-health(8), slurm-epilog(8), lockstepd(8), lockstep-node(1)",
};
