/* Commands of the journal, its backup included: their rows and options, for table.c alone. */
#ifndef LKS_CLI_TABLE_JOURNAL_H
#define LKS_CLI_TABLE_JOURNAL_H

#include "cli/shared/commands.h"

extern const struct lks_option lks_journal_verify_options[], lks_journal_export_options[],
    lks_journal_at_options[], lks_journal_repair_options[], lks_backup_options[],
    lks_restore_options[];

/* clang-format off */
#define LKS_JOURNAL_COMMANDS                                                                       \
    {LKS_ADMINISTER, "journal verify", "DIR", 1, 1, lks_journal_verify_options,                    \
     "Verify every record of a journal offline",                                                   \
     "DIR is lockstepd's data directory, or a copy of journal.db. Detects records that were "      \
     "edited, dropped, reordered, truncated or rewritten. Exit status 1 if the journal has a "     \
     "fault.",                                                                                     \
     "{good, fault?, at?, text?, first, last, rows, heads, witnesses, blobs, unsigned, "           \
     "signed_from, unsigned_before, signatures_checked}",                                          \
     lks_cmd_journal_verify},                                                                      \
    {LKS_LOOK, "journal export", "[DIR]", 0, 1, lks_journal_export_options,                        \
     "Print a journal, one line of JSON for each record",                                          \
     "Reads from lockstepd, or without it from its data directory DIR. A record must match all "   \
     "filters that are given. TIME has the formats of 'journal at'.",                              \
     "{seq, time, kind, ...} on each line", lks_cmd_journal_export},                               \
    {LKS_LOOK, "journal at", "TIME [DIR]", 1, 2, lks_journal_at_options,                           \
     "Show nodes as they were at a given time",                                                    \
     "Shows what 'node show' printed then: the node's intent (its pool's pin, or the target of "   \
     "the change that it was in), the stack that the verdict is about, the change, and what "      \
     "ran. TIME is 2026-11-15T03:37:00Z, '2026-11-15 03:37', HH:MM of today or 'yesterday "        \
     "14:00' in the local zone (TZ), or '2h ago', and not in the future; the zone is printed. "    \
     "With lockstepd's data directory DIR, no lockstepd is needed.",                               \
     "{node, time, seq, name, pool?, liveness, judged, tuple?, intake, held, enrolled, "           \
     "admissible, why?, boot?, report?, stack?, stack_digest?, intent_from?, judged_stack?, "      \
     "judged_stack_digest?, drifted, unmeasured, rows, first?, change?, ..., readings?: [[name, "  \
     "part, value]]}; for several nodes {time, seq, items: [...]}",                                \
     lks_cmd_journal_at},                                                                          \
    {LKS_ADMINISTER, "journal repair", "DIR", 1, 1, lks_journal_repair_options,                    \
     "Set aside the records of a journal from the first fault on",                                 \
     "For a journal with which lockstepd refuses to start; lockstepd must be stopped. Prefer "     \
     "'restore' if a backup has more records. The controller returns to its state before the "     \
     "fault: later holds, freezes, approvals, enrolments, revocations and changes no longer "      \
     "count. Run 'freeze' right after the start, and record them again. The records stay in "      \
     "journal.db, and the repair is recorded.",                                                    \
     "{fault, at, text, repaired}", lks_cmd_journal_repair},                                       \
    {LKS_ADMINISTER, "backup", "[DIR]", 0, 1, lks_backup_options,                                  \
     "Write an encrypted backup of a controller",                                                  \
     "Backs up the running controller (needs the role admin), or the data directory DIR on "       \
     "this machine, also while lockstepd runs. Holds the journal, the configuration, "             \
     "certificates and private keys; not the depot, the logs, or a PostgreSQL database, which "    \
     "is refused. The sealing key (seal_key, by default DIR/seal.key) encrypts the backup and "    \
     "is not in it: keep a copy of the key elsewhere, or the backup cannot be restored.",          \
     "{file, bytes}", lks_cmd_backup},                                                             \
    {LKS_ADMINISTER, "restore", "FILE", 1, 1, lks_restore_options,                                 \
     "Create a data directory from a backup",                                                      \
     "Verifies the journal in the backup first. Stop the old controller before you start "         \
     "lockstepd on the copy. Everything after the backup is forgotten, also holds, freezes, "      \
     "revocations and changes: run 'freeze' right after the start, and compare the fleet "         \
     "('node ls', 'drift') before 'unfreeze'. Agents that stored later heads raise the alarm "     \
     "'witness'.", "{directory, rows}", lks_cmd_restore}
/* clang-format on */

#endif
