#include "cli/table_journal.h"

#include "cli/remote.h"

const struct lks_option lks_journal_export_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--from", "ROW", "begin with this row"},
    {"--since", "TIME", "only records from this moment on"},
    {"--until", "TIME", "only records up to this moment"},
    {"--by", "IDENTITY", "only what this identity caused, such as token:kim or unix:0"},
    {"--kind", "KIND", "only records of this kind, such as held"},
    {"--node", "NODES", "only what is about these nodes, such as gpu[001-064]"},
    {0},
};

const struct lks_option lks_journal_at_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--node", "NODES", "which nodes, such as gpu001 or gpu[001-064]; or"},
    {"--pool", "NAME", "all nodes that were in this pool then"},
    {"--readings", NULL, "also what they ran; of one node it is always shown"},
    {"--key", "FILE", "the journal's public key, kept elsewhere (DIR/journal.pub)"},
    {0},
};
