#include "server/start/about.h"

const struct lks_option lks_about_init_options[] = {
    {"--data DIR", "data directory to create; required"},
    {"--name HOST...", "a name or address of this host; may be repeated"},
    {"--people ADDRESS:PORT", "listening address for people (127.0.0.1:7443)"},
    {"--agents ADDRESS:PORT", "listening address for agents (127.0.0.1:7444)"},
    {"--socket PATH", "Unix socket (DIR/lockstepd.sock)"},
    {"--seal-key FILE", "use this key instead of a new one: 64 hexadecimal digits"},
    {"--postgres CONNINFO", "keep the journal in this database, for several controllers"},
    {"--join DIR", "copy of another controller's data directory; share its keys and its "
                   "database"},
    {"--help", "print this help"},
    {0},
};

const struct lks_option lks_about_run_options[] = {
    {"--config FILE", "configuration file"},
    {"--dump-config", "print every value in effect, and exit"},
    {"--check", "read the configuration, the keys and every secret file that it names, and exit"},
    {"--accept-lost-rows",
     "start although known rows of the journal are missing, and freeze the fleet"},
    {"--version", "print the version"},
    {"--help", "print this help"},
    {0},
};

/* Paths in the data directory: docs/controller.md has the same list for people who back them up. */
static const struct lks_manual_row files[] = {
    {"DIR/lockstepd.yaml", "configuration, which init writes: lockstepd.yaml(5)"},
    {"DIR/journal.db", "the journal, reports and manifests (SQLite)"},
    {"DIR/ca.crt", "CA certificate that agents and the command line trust"},
    {"DIR/server.crt", "certificate of the server"},
    {"DIR/journal.pub", "key that verifies the journal"},
    {"DIR/command.pub", "key that verifies commands to nodes"},
    {"DIR/secrets/*.sealed", "private keys, sealed"},
    {"DIR/seal.key", "key that seals them; move it, and set seal_key"},
    {"DIR/seen-head", "last row of the journal that was durable, sealed"},
    {"DIR/admin.token", "first API token, of an admin, valid for 24 hours"},
    {"DIR/depot", "artifacts, by digest"},
    {"DIR/audit", "audit log"},
    {"DIR/lockstepd.sock", "Unix socket for root and lockstepd's own user (init --socket)"},
    {0},
};

static const struct lks_manual_row signals[] = {
    {"SIGTERM, SIGINT", "finish the requests in progress, and exit"},
    {"SIGHUP", "read the configuration and the certificates again; keys without \"reload\" in "
               "lockstepd.yaml(5) need a restart"},
    {0},
};

const struct lks_manual lks_about_lockstepd = {
    .name = "lockstepd",
    .summary = "Keep the state of a GPU fleet, and serve people and agents",
    .about = "init creates a data directory with keys and certificates; run serves it.",
    .usages = {"init --data DIR [--name HOST]... [OPTION...]", "[run] --config FILE [OPTION...]"},
    .parts = {{"Options of init", lks_about_init_options},
              {"Options of run", lks_about_run_options}},
    .files = files,
    .signals = signals,
    .see = "lockstep(1), lockstepd.yaml(5), lockstep-agent(8), lockstep-helper(8)",
};
