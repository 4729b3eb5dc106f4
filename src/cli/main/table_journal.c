#include "cli/main/table_journal.h"

#include "cli/shared/remote.h"

const struct lks_option lks_journal_export_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--from ROW", "first row to print"},
    {"--since TIME", "only records from this time on"},
    {"--until TIME", "only records up to this time"},
    {"--by IDENTITY", "only records caused by this identity, such as kim or unix:0"},
    {"--kind KIND", "only records of this kind, such as held"},
    {"--node NODES", "only records about these nodes, such as gpu[001-064]"},
    {0},
};

const struct lks_option lks_journal_at_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--node NODES", "nodes to show, such as gpu001 or gpu[001-064]; or"},
    {"--pool NAME", "all nodes that were in this pool at that time"},
    {"--readings", "also show what they ran; always shown for a single node"},
    {"--key FILE",
     "with DIR, a copy of journal.pub that you kept elsewhere; default: DIR/journal.pub"},
    {0},
};

const struct lks_option lks_journal_verify_options[] = {
    {"--witness FILE",
     "journal heads that agents stored: a file, or a directory of agents' state folders"},
    {"--key FILE",
     "copy of journal.pub that you kept elsewhere. Default: DIR/journal.pub, which proves nothing "
     "against a person who can write DIR; without either, signatures are not verified"},
    {0},
};

const struct lks_option lks_journal_repair_options[] = {
    {"--reason TEXT", "reason; required, recorded"},
    {0},
};

const struct lks_option lks_backup_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--out FILE", "file to write, required; must not exist"},
    {0},
};

const struct lks_option lks_restore_options[] = {
    {"--to DIR", "data directory to create for lockstepd, required; must not exist"},
    {"--seal-key FILE",
     "copy of the sealing key of the controller that was backed up (its seal.key); required"},
    {0},
};
