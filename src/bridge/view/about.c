#include "bridge/view/about.h"

const struct lks_option lks_about_bridge_options[] = {
    {"--listen ADDRESS...",
     "unix:/PATH, or ADDRESS:PORT with mutual TLS; may be repeated (" LKS_BRIDGE_SOCKET ")"},
    {"--state DIR", "folder of the highest epoch and revision (" LKS_BRIDGE_STATE ")"},
    {"--allow-user NAME...", "user that may use the Unix socket; may be repeated (root, and "
                             "lockstep where there is such a user)"},
    {"--certificate FILE", "certificate of the bridge, PEM; for ADDRESS:PORT"},
    {"--key FILE", "its private key, PEM"},
    {"--ca FILE", "CA of the controllers' certificates, PEM"},
    {"--client-name NAME...", "name in the certificate of a controller; may be repeated"},
    {"--policy FILE", "write the submission policy there, for the plugin in slurmctld (none)"},
    {"--slurm-conf FILE", "configuration of Slurm (SLURM_CONF, or Slurm's default)"},
    {"--stale SECONDS",
     "without slurmctld, answer reads for so long from its last answer, with its age (30)"},
    {"--version", "print the version and exit"},
    {"--help", "print this help and exit"},
    {0},
};

static const struct lks_manual_row files[] = {
    {"STATE/bridge.json", "highest epoch of a controller, and ceiling of revisions"},
    {"STATE/lock", "held while the bridge runs"},
    {"/etc/lockstep/slurm-bridge.conf",
     "LOCKSTEP_SLURM_BRIDGE_OPTIONS: options that the systemd unit adds"},
    {0},
};

static const struct lks_manual_row signals[] = {
    {"SIGTERM, SIGINT", "exit; a request that slurmctld has is not awaited longer than 15 s"},
    {0},
};

const struct lks_manual lks_about_bridge = {
    .name = "lockstep-slurm-bridge",
    .summary = "Show Slurm's nodes and jobs to lockstepd, and drain nodes for it",
    .about =
        "The bridge runs beside slurmctld, as a user that may change nodes: SlurmUser or root. "
        "No other program of lockstep uses libslurm. The reason of a drain starts with its "
        "owner, such as lockstep:change:17. The bridge ends only such drains, set by its own "
        "user, and kills no job. The only reservations that the bridge changes have a name that "
        "starts with lockstep_, and no user but its own. Once it listens, the bridge prints "
        "\"ready ADDRESS...\".",
    .usages = {"[OPTION...]"},
    .parts = {{"Options", lks_about_bridge_options}},
    .files = files,
    .signals = signals,
    .see = "lockstepd(8), lockstepd.yaml(5), slurm.conf(5)",
};
