#include "agent/helper/about.h"

#include "agent/state/ledger.h"

const struct lks_option lks_about_helper_options[] = {
    {"--socket PATH", "socket for the agent; not needed when systemd passes the socket"},
    {"--executors DIR", "directory of the executors, writable by root only; required"},
    {"--enabled FILE", "names of the executors that may run here, one per line; required"},
    {"--command-key FILE", "public key of signed commands (command.pub of lockstepd); required"},
    {"--user UID", "user of the agent, by number or name; other users are refused; required"},
    {"--state DIR", "folder for the ledger (/var/lib/lockstep-helper)"},
    {"--node NAME", "name of this node in the controller (the host name)"},
    {"--reader PROGRAM", "program that reads the machine (/usr/bin/lockstep-agent)"},
    {"--depot DIR", "folder of the agent's artifacts: depot in its state folder"},
    {"--timeout SECONDS", "time limit for an executor, in seconds (until its command expires)"},
    {"--version", "print the version and exit"},
    {"--help", "print this help and exit"},
    {0},
};

static const struct lks_manual_row files[] = {
    {"/etc/lockstep/command.pub", "public key of signed commands, as the systemd unit names it"},
    {"/etc/lockstep/executors.enabled", "executors that may run here, as the unit names it"},
    {"STATE/" LKS_LEDGER_FILE, "commands that were carried out, so that none runs twice"},
    {"/run/lockstep-helper/socket", "socket that systemd passes"},
    {0},
};

static const struct lks_manual_row signals[] = {
    {"SIGTERM, SIGINT", "exit after the executor in progress"},
    {0},
};

const struct lks_manual lks_about_helper = {
    .name = "lockstep-helper",
    .summary = "Run signed commands on a node as root, if they are enabled there",
    .about = "systemd starts the helper when the agent first asks. The helper does not trust the "
             "agent: it verifies the controller's signature, runs the executors of --enabled "
             "only, and each command once.",
    .usages = {"[OPTION...]"},
    .parts = {{"Options", lks_about_helper_options}},
    .files = files,
    .signals = signals,
    .see = "lockstep-agent(8), lockstepd(8)",
};
