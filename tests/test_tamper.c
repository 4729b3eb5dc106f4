/* The journal of a real run, changed behind lockstepd's back in every way we could think of: the
 * command line finds it, lockstepd does not start on it, and a repair sets aside what cannot be
 * trusted and says so in the journal. What was rewritten with stolen keys only agents can tell. */
#include "base/file.h"
#include "drivers/store/secrets.h"
#include "drivers/store/seen.h"
#include "engine/journal.h"
#include "tests/controller.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

enum { NODES = 8, HOLDS = 12, TEXT_MAX = 1 << 20, ROWS_MAX = 256, BODY_MAX = 4096 };

/* The run, as it was left; each test changes a copy of it in its place. */
struct world {
    struct ctl ctl;
    uint64_t last, middle; /* rows: the last, and one that is amid signed ones */
    sqlite3 *db;           /* while it is tampered with */
    struct lks_key key;    /* that signs heads, as a thief has it */
};

static struct world world;

/* The file ------------------------------------------------------------------------------------ */

static void sql(const char *fmt, ...) LKS_PRINTF(1, 2);
static void sql(const char *fmt, ...)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    va_list ap;
    va_start(ap, fmt);
    lks_buf_addv(&text, fmt, ap);
    va_end(ap);
    if (!CHECK_INT(sqlite3_exec(world.db, text.ptr, NULL, NULL, NULL), SQLITE_OK))
        printf("%s: %s\n", text.ptr, sqlite3_errmsg(world.db));
}

static uint64_t ask_number(const char *text)
{
    sqlite3_stmt *stmt = NULL;
    uint64_t number = 0;
    CHECK_INT(sqlite3_prepare_v2(world.db, text, -1, &stmt, NULL), SQLITE_OK);
    if (CHECK_INT(sqlite3_step(stmt), SQLITE_ROW))
        number = (uint64_t)sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return number;
}

static void open_file(void)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/journal.db", world.ctl.data);
    CHECK_INT(sqlite3_open(path, &world.db), SQLITE_OK);
}

static void close_file(void)
{
    CHECK_INT(sqlite3_close(world.db), SQLITE_OK);
    world.db = NULL;
}

/* Rows as they are, for recomputing what a chain is made of. */
struct held_row {
    struct lks_row row;
    char body[BODY_MAX];
};

static bool read_row(uint64_t seq, struct held_row *out)
{
    sqlite3_stmt *stmt = NULL;
    char text[128];
    snprintf(text, sizeof(text),
             "SELECT time, kind, version, body, hash FROM journal WHERE seq = %" PRIu64, seq);
    CHECK_INT(sqlite3_prepare_v2(world.db, text, -1, &stmt, NULL), SQLITE_OK);
    bool found = sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_bytes(stmt, 3) <= BODY_MAX;
    if (found) {
        size_t len = (size_t)sqlite3_column_bytes(stmt, 3);
        memcpy(out->body, sqlite3_column_blob(stmt, 3), len);
        out->row = (struct lks_row){
            .seq = seq,
            .time = (lks_ms)sqlite3_column_int64(stmt, 0),
            .kind = (uint16_t)sqlite3_column_int64(stmt, 1),
            .version = (uint8_t)sqlite3_column_int64(stmt, 2),
            .body = {out->body, len},
        };
        memcpy(out->row.hash, sqlite3_column_blob(stmt, 4), LKS_HASH_BYTES);
    }
    sqlite3_finalize(stmt);
    return CHECK(found);
}

static void write_hex(struct lks_buf *out, const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        lks_buf_addf(out, "%02x", bytes[i]);
}

static void write_hash(uint64_t seq, const uint8_t hash[LKS_HASH_BYTES])
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf hex = LKS_BUF(TEXT_MAX);
    write_hex(&hex, hash, LKS_HASH_BYTES);
    sql("UPDATE journal SET hash = x'%s' WHERE seq = %" PRIu64, hex.ptr, seq);
    if (seq == world.last)
        sql("UPDATE tail SET hash = x'%s'", hex.ptr);
}

/* Rows from `from` to `to` follow on each other again. */
static void rechain(uint64_t from, uint64_t to)
{
    static struct held_row row;
    uint8_t hash[LKS_HASH_BYTES] = {0};
    struct lks_err err = {0};
    struct lks_chain *chain = lks_chain_new();
    LKS_ASSERT(chain != NULL);
    if (read_row(from - 1, &row))
        memcpy(hash, row.row.hash, sizeof(hash));
    for (uint64_t seq = from; seq <= to && read_row(seq, &row); seq++) {
        CHECK_CODE(lks_chain_hash(chain, hash, &row.row, hash, &err), LKS_OK);
        write_hash(seq, hash);
    }
    lks_chain_free(chain);
}

/* Each head from `from` on says what is there now. */
static void sign_again(uint64_t from, const struct lks_key *key)
{
    static struct held_row row;
    char journal[LKS_JOURNAL_ID_SIZE];
    sqlite3_stmt *stmt = NULL;
    CHECK_INT(sqlite3_prepare_v2(world.db, "SELECT journal FROM head", -1, &stmt, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_step(stmt), SQLITE_ROW);
    snprintf(journal, sizeof(journal), "%s", (const char *)sqlite3_column_text(stmt, 0));
    sqlite3_finalize(stmt);
    for (uint64_t seq = from; seq <= world.last; seq++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf hash = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf signature = LKS_BUF(TEXT_MAX);
        struct lks_head head = {.seq = seq};
        struct lks_err err = {0};
        if (!read_row(seq, &row))
            return;
        memcpy(head.journal, journal, sizeof(journal));
        memcpy(head.hash, row.row.hash, sizeof(head.hash));
        head.time = row.row.time;
        CHECK_CODE(lks_chain_head_sign(key, &head, &err), LKS_OK);
        lks_buf_init(&hash, TEXT_MAX);
        write_hex(&hash, head.hash, sizeof(head.hash));
        write_hex(&signature, head.signature, sizeof(head.signature));
        sql("UPDATE head SET time = %" PRIu64
            ", hash = x'%s', signature = x'%s' WHERE seq = %" PRIu64,
            head.time, hash.ptr, signature.ptr, seq);
    }
}

/* Damage -------------------------------------------------------------------------------------- */

/* The reason of a hold is another, of the same length: the record still reads well. */
static void change_body(uint64_t seq)
{
    sql("UPDATE journal SET body = CAST(replace(CAST(body AS TEXT), 'because', 'BECAUSE') AS BLOB) "
        "WHERE seq = %" PRIu64,
        seq);
    CHECK_INT(sqlite3_changes(world.db), 1);
}

static void edit(void)
{
    change_body(world.middle);
}

static void edit_with_hash(void)
{
    change_body(world.middle);
    rechain(world.middle, world.middle);
}

static void edit_time(void)
{
    sql("UPDATE journal SET time = time + 1 WHERE seq = %" PRIu64, world.middle);
}

static void drop(void)
{
    sql("DELETE FROM journal WHERE seq = %" PRIu64, world.middle);
}

static void drop_and_renumber(void)
{
    drop();
    for (uint64_t seq = world.middle + 1; seq <= world.last; seq++)
        sql("UPDATE journal SET seq = seq - 1 WHERE seq = %" PRIu64, seq);
    sql("UPDATE tail SET seq = seq - 1");
}

static void swap(void)
{
    sql("UPDATE journal SET seq = 1000000 WHERE seq = %" PRIu64, world.middle);
    sql("UPDATE journal SET seq = %" PRIu64 " WHERE seq = %" PRIu64, world.middle,
        world.middle + 1);
    sql("UPDATE journal SET seq = %" PRIu64 " WHERE seq = 1000000", world.middle + 1);
}

static void cut_end(void)
{
    sql("DELETE FROM journal WHERE seq > %" PRIu64, world.middle);
}

static void cut_end_and_tail(void)
{
    cut_end();
    sql("UPDATE tail SET seq = %" PRIu64 ", (time, hash) = (SELECT time, hash FROM journal WHERE "
        "seq = %" PRIu64 ")",
        world.middle, world.middle);
}

static void cut_end_and_heads(void)
{
    cut_end_and_tail();
    sql("DELETE FROM head WHERE seq > %" PRIu64, world.middle);
}

static void rewrite(void)
{
    change_body(world.middle);
    rechain(world.middle, world.last);
}

static void rewrite_and_behead(void)
{
    rewrite();
    sql("DELETE FROM head");
}

static void rewrite_with_own_key(void)
{
    struct lks_key key;
    struct lks_err err = {0};
    static const uint8_t seed[LKS_KEY_BYTES] = {7};
    rewrite();
    CHECK_CODE(lks_key_make(seed, &key, &err), LKS_OK);
    sign_again(world.middle, &key);
}

static void rewrite_with_stolen_key(void)
{
    rewrite();
    sign_again(world.middle, &world.key);
}

/* Only the end, which has no head any more. */
static void rewrite_end_and_behead(void)
{
    sql("UPDATE journal SET time = time + 1 WHERE seq = %" PRIu64, world.last);
    rechain(world.last, world.last);
    sql("UPDATE tail SET time = time + 1");
    sql("DELETE FROM head WHERE seq > %" PRIu64, world.middle);
}

/* One more hold, and it is chained as it should be. */
static void append_rows(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        sql("INSERT INTO journal SELECT (SELECT max(seq) + 1 FROM journal), time, kind, version, "
            "body, hash FROM journal WHERE seq = %" PRIu64,
            world.middle);
        sql("UPDATE journal SET time = (SELECT time FROM tail) WHERE seq = (SELECT max(seq) FROM "
            "journal)");
    }
    uint64_t last = ask_number("SELECT max(seq) FROM journal");
    rechain(last - count + 1, last);
    sql("UPDATE tail SET (seq, time, hash) = (SELECT seq, time, hash FROM journal WHERE "
        "seq = %" PRIu64 ")",
        last);
}

static void append_one(void)
{
    append_rows(1);
}

static void append_three(void)
{
    append_rows(3);
}

static void append_and_sign(void)
{
    struct lks_key key;
    struct lks_err err = {0};
    static const uint8_t seed[LKS_KEY_BYTES] = {7};
    append_rows(1);
    sql("INSERT INTO head SELECT seq + 1, journal, time, hash, signature FROM head WHERE "
        "seq = %" PRIu64,
        world.last);
    CHECK_CODE(lks_key_make(seed, &key, &err), LKS_OK);
    world.last++;
    sign_again(world.last, &key);
    world.last--;
}

/* The whole file as it was when the hold in the middle was the last row. */
static void swap_in(const char *from)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF((size_t)64 << 20);
    struct lks_err err = {0};
    char path[128];
    sql("COMMIT");
    close_file();
    CHECK_CODE(lks_file_read_plain(from, &bytes, &err), LKS_OK);
    snprintf(path, sizeof(path), "%s/journal.db", world.ctl.data);
    CHECK_CODE(lks_file_replace(path, lks_buf_view(&bytes), &err), LKS_OK);
    open_file();
    sql("BEGIN");
}

static void swap_in_older(void)
{
    swap_in(ctl_path(&world.ctl, "older/journal.db"));
}

/* As a thief of a backup would have it go on. */
static void swap_in_older_and_append(void)
{
    swap_in_older();
    append_rows((unsigned)(world.last - world.middle));
}

static void swap_in_backup(void)
{
    swap_in(ctl_path(&world.ctl, "restored/journal.db"));
}

static void tear_last(void)
{
    sql("UPDATE journal SET body = substr(body, 1, length(body) / 2) WHERE seq = %" PRIu64,
        world.last);
}

static void tear_last_with_hash(void)
{
    tear_last();
    rechain(world.last, world.last);
}

static void future_last(void)
{
    sql("UPDATE journal SET kind = 9999 WHERE seq = %" PRIu64, world.last);
    rechain(world.last, world.last);
    sql("DELETE FROM head WHERE seq = %" PRIu64, world.last);
}

static void lose_manifest(void)
{
    sql("DELETE FROM blob");
}

enum start { REPAIRED, LOST, ACCEPTED };

static const struct damage {
    const char *name;
    void (*act)(void);
    const char *alone;     /* the fault without witnesses; NULL: none is found */
    const char *witnessed; /* and with them */
    enum start start;      /* lockstepd starts after a repair; or not even then; or where a person
                              accepts what is lost */
    const char *says;      /* part of the line with which it does not */
} damages[] = {
    {"a byte edited", edit, "edited", "edited", REPAIRED, "row 16 (edited)"},
    {"a byte edited, its hash computed", edit_with_hash, "rewritten", "rewritten", REPAIRED,
     "row 17 (edited)"},
    {"a time edited", edit_time, "edited", "edited", REPAIRED, "row 16 (edited)"},
    {"a row dropped", drop, "dropped", "dropped", REPAIRED, "row 16 (dropped)"},
    {"a row dropped, the others renumbered", drop_and_renumber, "edited", "edited", REPAIRED,
     "row 16 (edited)"},
    {"two rows swapped", swap, "reordered", "reordered", REPAIRED, "row 16 (reordered)"},
    {"the end cut off", cut_end, "truncated", "truncated", REPAIRED, "row 17 (truncated)"},
    {"the end cut off, the tail adjusted", cut_end_and_tail, "truncated", "truncated", REPAIRED,
     "row 17 (truncated)"},
    {"the end cut off, no head left of it", cut_end_and_heads, NULL, "truncated", ACCEPTED,
     "seen-head: the store ends with row 16, and row 22 was seen in it"},
    {"rewritten", rewrite, "rewritten", "rewritten", REPAIRED, "row 22 (rewritten)"},
    {"rewritten, no head left", rewrite_and_behead, "signature", "rewritten", LOST,
     "no signed head"},
    {"rewritten, signed by another", rewrite_with_own_key, "signature", "signature", REPAIRED,
     "the head at row 22 is not signed with this key"},
    {"rewritten, signed with the stolen key", rewrite_with_stolen_key, NULL, "rewritten", ACCEPTED,
     "seen-head: row 22 of the store is not the one that was seen in it"},
    {"the last record rewritten, its head gone", rewrite_end_and_behead, "signature", "rewritten",
     REPAIRED, "rows 17 to 22 have no signed head"},
    {"a row appended", append_one, "signature", "signature", REPAIRED, "row 23 has no signed head"},
    {"three rows appended", append_three, "signature", "signature", REPAIRED,
     "rows 23 to 25 have no signed head"},
    {"a row appended, signed by another", append_and_sign, "signature", "signature", REPAIRED,
     "the head at row 23 is not signed with this key"},
    {"an older copy", swap_in_older, NULL, "truncated", ACCEPTED,
     "seen-head: the store ends with row 16, and row 22 was seen in it"},
    {"an older copy that goes on", swap_in_older_and_append, "signature", "rewritten", REPAIRED,
     "rows 17 to 22 have no signed head"},
    {"the journal of a backup", swap_in_backup, NULL, "truncated", ACCEPTED,
     "seen-head: the store ends with row 16, and row 22 was seen in it"},
    {"the last record torn", tear_last, "edited", "edited", REPAIRED, "row 22 (edited)"},
    {"the last record torn, its hash computed", tear_last_with_hash, "unreadable", "unreadable",
     REPAIRED, "row 22 (unreadable)"},
    {"a last record of a kind to come", future_last, "unreadable", "unreadable", REPAIRED,
     "a newer lockstep wrote it"},
    {"what a row refers to is gone", lose_manifest, "blob", "blob", LOST, "the fleet's manifest"},
};

/* The run ------------------------------------------------------------------------------------- */

/* The head that agents are told now becomes a line of the witness file. */
static void witness(uint64_t at_least)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    char line[LKS_HEAD_TEXT_MAX + 1];
    struct lks_head head = {0};
    struct lks_err err = {0};
    for (struct lks_wait w = {0}; head.seq < at_least && lks_wait(&w);) {
        CHECK_INT(ctl_once(&world.ctl, "GET", "/v1/journal/head", NULL, &answer), 200);
        ctl_text(&answer, "head", line, sizeof(line));
        CHECK_CODE(lks_row_head_parse(lks_str_from(line), &head, &err), LKS_OK);
    }
    FILE *file = fopen(ctl_path(&world.ctl, "witness"), "a");
    if (CHECK(file != NULL && head.seq >= at_least)) {
        fprintf(file, "%s\n", line);
        CHECK(fclose(file) == 0);
    }
}

static void steal_key(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf seed = LKS_BUF(LKS_SECRET_MAX);
    struct lks_seal_key seal;
    struct lks_err err = {0};
    CHECK_CODE(lks_secrets_key(world.ctl.data, "file:seal.key", &seal, &err), LKS_OK);
    CHECK_CODE(lks_secrets_read(world.ctl.data, &seal, "journal.key", &seed, &err), LKS_OK);
    if (CHECK_INT(seed.len, LKS_KEY_BYTES))
        CHECK_CODE(lks_key_make((const uint8_t *)seed.ptr, &world.key, &err), LKS_OK);
}

static void hold(unsigned i)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    char path[64];
    snprintf(path, sizeof(path), "/v1/nodes/n%u/%s", i % NODES, i < NODES ? "hold" : "release");
    CHECK_INT(ctl_once(&world.ctl, "POST", path, "{\"reason\":\"because of this\"}", &answer), 200);
    world.last = ctl_number(&answer, "seq");
    witness(world.last);
}

/* The journal as it is now, and a backup of it: what a thief or an old disk has. */
static void keep_older(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(TEXT_MAX);
    const char *backup = ctl_path(&world.ctl, "backup");
    CHECK_INT(ctl_stop(&world.ctl), 0);
    ctl_copy(world.ctl.data, ctl_path(&world.ctl, "older"));
    CHECK_INT(
        ctl_run((const char *[]){LKS_CLI_PROGRAM, "backup", world.ctl.data, "--out", backup, NULL},
                &said),
        0);
    world.middle = world.last;
}

/* In two lives: the head that the first ended with stays, whatever the second signs. */
static void live(void)
{
    ctl_init(&world.ctl, "");
    if (!ctl_start(&world.ctl))
        return;
    ctl_apply(&world.ctl, NODES);
    for (unsigned i = 0; i <= HOLDS / 2; i++)
        hold(i);
    keep_older();
    if (!ctl_start(&world.ctl))
        return;
    for (unsigned i = HOLDS / 2 + 1; i < HOLDS; i++)
        hold(i);
    CHECK_INT(ctl_stop(&world.ctl), 0);
    open_file();
    CHECK_INT(ask_number("SELECT max(seq) FROM journal"), world.last);
    CHECK_INT(ask_number("SELECT max(seq) FROM head"), world.last);
    close_file();
    steal_key();
    ctl_copy(world.ctl.data, ctl_path(&world.ctl, "kept"));
}

/* What the programs say ----------------------------------------------------------------------- */

static int verify(bool witnessed, struct lks_buf *said)
{
    const char *argv[] = {LKS_CLI_PROGRAM, "journal", "verify", world.ctl.data, NULL, NULL, NULL};
    lks_buf_fini(said);
    lks_buf_init(said, TEXT_MAX);
    if (witnessed) {
        argv[4] = "--witness";
        argv[5] = ctl_path(&world.ctl, "witness");
    }
    return ctl_run(argv, said);
}

static int repair(struct lks_buf *said)
{
    lks_buf_fini(said);
    lks_buf_init(said, TEXT_MAX);
    return ctl_run((const char *[]){LKS_CLI_PROGRAM, "journal", "repair", world.ctl.data,
                                    "--reason", "the disk was damaged", NULL},
                   said);
}

static void check_verified(const char *fault, bool witnessed)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = {0};
    CHECK_INT(verify(witnessed, &said), fault != NULL ? 1 : 0);
    char start[32];
    snprintf(start, sizeof(start), "%s", fault != NULL ? fault : "good");
    CHECK_HAS(lks_buf_view(&said), start);
    CHECK(lks_str_starts(lks_buf_view(&said), start));
}

/* One line: what, where, and the way on. */
static void check_refused(const char *says, bool faulty)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(TEXT_MAX);
    CHECK_INT(ctl_refused(&world.ctl, &said), faulty ? 3 : 1);
    struct lks_str line, rest;
    lks_str_cut(lks_buf_view(&said), '\n', &line, &rest);
    CHECK_STR(rest, "");
    CHECK(lks_str_starts(line, "lockstepd: "));
    CHECK_HAS(line, says);
    CHECK_HAS(line, faulty ? "`lockstep journal verify`" : "--accept-lost-rows");
}

/* A person takes the journal as it is: nothing begins until they thaw the fleet, and from then on
 * it is this journal that was seen. */
static void check_accepted(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = {0};
    CHECK_INT(repair(&said), 1); /* it has no fault */
    lks_buf_truncate(&said, 0);
    CHECK_INT(ctl_run((const char *[]){LKS_CLI_PROGRAM, "doctor", world.ctl.data, NULL}, &said), 1);
    CHECK_HAS(lks_buf_view(&said), "seen-head    bad");
    world.ctl.option = "--accept-lost-rows";
    if (ctl_start(&world.ctl)) {
        CHECK_INT(ctl_once(&world.ctl, "GET", "/v1/journal", NULL, &said), 200);
        CHECK_HAS(lks_buf_view(&said), "\"kind\":\"frozen\"");
        CHECK_HAS(lks_buf_view(&said), "--accept-lost-rows");
        CHECK_INT(ctl_stop(&world.ctl), 0);
    }
    world.ctl.option = NULL;
    if (ctl_start(&world.ctl))
        CHECK_INT(ctl_stop(&world.ctl), 0);
    check_verified(NULL, false);
}

static void check_repaired(uint64_t rows_before)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf rows = {0};
    if (!CHECK_INT(repair(&said), 0))
        printf("%s\n", said.ptr);
    check_verified(NULL, false);
    open_file();
    uint64_t left = ask_number("SELECT count(*) FROM journal");
    uint64_t aside = ask_number("SELECT count(*) FROM aside");
    close_file();
    CHECK_INT(left - 1 + aside, rows_before); /* nothing is gone, and the repair is a row */
    if (!ctl_start(&world.ctl))
        return;
    CHECK_INT(ctl_once(&world.ctl, "GET", "/v1/journal", NULL, &rows), 200);
    CHECK_HAS(lks_buf_view(&rows), "\"kind\":\"repaired\"");
    CHECK_HAS(lks_buf_view(&rows), "\"reason\":\"the disk was damaged\"");
    CHECK_INT(ctl_once(&world.ctl, "POST", "/v1/access",
                       "{\"identity\":\"user:kim\",\"role\":\"viewer\"}", &rows),
              200);
    CHECK_INT(ctl_stop(&world.ctl), 0);
}

static void check_lost(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = {0};
    CHECK_INT(repair(&said), 1);
    CHECK_HAS(lks_buf_view(&said), "restore a backup");
}

static void every_change_is_found(void)
{
    for (size_t i = 0; i < LKS_COUNT(damages); i++) {
        const struct damage *d = &damages[i];
        lks_test_case("%s", d->name);
        ctl_copy(ctl_path(&world.ctl, "kept"), world.ctl.data);
        check_verified(NULL, true);
        open_file();
        sql("BEGIN");
        d->act();
        sql("COMMIT");
        uint64_t rows = ask_number("SELECT count(*) FROM journal");
        close_file();
        check_verified(d->alone, false);
        check_verified(d->witnessed, true);
        check_refused(d->says, d->start != ACCEPTED);
        if (d->start == REPAIRED)
            check_repaired(rows);
        if (d->start == LOST)
            check_lost();
        if (d->start == ACCEPTED)
            check_accepted();
    }
}

/* Without its key a backup opens for nobody; with it, the restored controller knows its journal
 * from its first start on. */
static void a_backup_is_restored_with_what_was_seen(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(TEXT_MAX);
    const char *to = ctl_path(&world.ctl, "restored"), *wrong = ctl_path(&world.ctl, "wrong.key");
    char key[128];
    struct lks_err err = {0};
    const char *argv[] = {LKS_CLI_PROGRAM, "restore", ctl_path(&world.ctl, "backup"),
                          "--to",          to,        "--seal-key",
                          wrong,           NULL};
    CHECK_CODE(lks_file_replace(wrong,
                                LKS_STR("000102030405060708090a0b0c0d0e0f"
                                        "000102030405060708090a0b0c0d0e0f\n"),
                                &err),
               LKS_OK);
    CHECK_INT(ctl_run(argv, &said), 5);
    CHECK(access(to, F_OK) != 0);
    snprintf(key, sizeof(key), "%s/seal.key", world.ctl.data);
    argv[6] = key;
    if (!CHECK_INT(ctl_run(argv, &said), 0))
        printf("%s\n", said.ptr);
    struct lks_seal_key seal;
    struct lks_seen seen = {0};
    CHECK_CODE(lks_secrets_key(world.ctl.data, "file:seal.key", &seal, &err), LKS_OK);
    CHECK_CODE(lks_seen_read(to, &seal, &seen, &err), LKS_OK);
    CHECK_INT(seen.seq, world.middle);
    CHECK(!seen.plain);
}

static void write_seen(const char *text)
{
    char path[128];
    struct lks_err err = {0};
    snprintf(path, sizeof(path), "%s/seen-head", world.ctl.data);
    if (text == NULL)
        CHECK(unlink(path) == 0);
    else
        CHECK_CODE(lks_file_replace(path, lks_str_from(text), &err), LKS_OK);
}

/* Whoever can write the database alone cannot write this file; whoever can write it has no key. */
static void the_file_of_what_was_seen(void)
{
    static const struct {
        const char *name, *text, *says;
    } files[] = {
        {"gone", NULL, "seen-head: is not there"},
        {"plain", "1 000102030405060708090a0b0c0d0e0f000102030405060708090a0b0c0d0e0f\n",
         "seen-head: row 1 of the store is not the one that was seen"},
        {"no such line", "hello\n", "seen-head"},
        {"empty", "", "seen-head"},
        {"sealed with another key",
         "lockstep-sealed-1 0011223344556677\nabcdefghijklmnopqrstuvwxyz", "seen-head"},
    };
    for (size_t i = 0; i < LKS_COUNT(files); i++) {
        lks_test_case("%s", files[i].name);
        ctl_copy(ctl_path(&world.ctl, "kept"), world.ctl.data);
        write_seen(files[i].text);
        check_refused(files[i].says, false);
        check_accepted();
    }
}

static void a_plain_file_is_no_downgrade(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    static struct held_row row;
    ctl_copy(ctl_path(&world.ctl, "older"), world.ctl.data);
    open_file();
    if (read_row(1, &row)) {
        lks_buf_addf(&text, "1 ");
        write_hex(&text, row.row.hash, sizeof(row.row.hash));
        write_seen(text.ptr);
    }
    close_file();
    check_refused("seen-head: is not sealed", false);
}

/* Two rows as an earlier version left them: one head, nothing said of signatures, no such file. */
static void make_earlier(void)
{
    uint64_t last = world.last;
    ctl_copy(ctl_path(&world.ctl, "kept"), world.ctl.data);
    write_seen(NULL);
    world.last = 2;
    open_file();
    sql("BEGIN");
    sql("DELETE FROM journal WHERE seq = 2 OR seq > 3");
    sql("UPDATE journal SET seq = 2 WHERE seq = 3");
    rechain(2, 2);
    sql("UPDATE tail SET seq = 2, time = (SELECT time FROM journal WHERE seq = 2)");
    sql("DELETE FROM head WHERE seq < (SELECT max(seq) FROM head)");
    sql("UPDATE head SET seq = 1");
    sign_again(1, &world.key);
    sql("COMMIT");
    close_file();
    world.last = last;
}

static void a_journal_of_an_earlier_version_goes_on(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = {0};
    struct lks_seal_key seal;
    struct lks_seen seen = {0};
    struct lks_err err = {0};
    make_earlier();
    CHECK_INT(verify(false, &said), 0);
    CHECK_HAS(lks_buf_view(&said), "1 rows at the end have no signed head");
    if (!ctl_start(&world.ctl))
        return;
    CHECK_INT(ctl_once(&world.ctl, "GET", "/v1/journal", NULL, &said), 200);
    CHECK_HAS(lks_buf_view(&said), "\"kind\":\"signed\",\"from\":3,\"earlier\":1");
    CHECK_INT(ctl_stop(&world.ctl), 0);
    CHECK_INT(verify(false, &said), 0);
    CHECK_HAS(lks_buf_view(&said), "every commit is signed from row 3 on; the 1 rows before it");
    CHECK_CODE(lks_secrets_key(world.ctl.data, "file:seal.key", &seal, &err), LKS_OK);
    CHECK_CODE(lks_seen_read(world.ctl.data, &seal, &seen, &err), LKS_OK);
    CHECK(!seen.plain && seen.seq > 3);
}

static void an_export_goes_on_behind_what_it_cannot_read(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(TEXT_MAX);
    char bad[48], last[32];
    ctl_copy(ctl_path(&world.ctl, "kept"), world.ctl.data);
    open_file();
    sql("UPDATE journal SET kind = 9999 WHERE seq = %" PRIu64, world.middle);
    close_file();
    CHECK_INT(ctl_run((const char *[]){LKS_CLI_PROGRAM, "journal", "export", world.ctl.data, NULL},
                      &said),
              3);
    snprintf(bad, sizeof(bad), "{\"seq\":%" PRIu64 ",\"unreadable\":", world.middle);
    snprintf(last, sizeof(last), "{\"seq\":%" PRIu64 ",", world.last);
    CHECK_HAS(lks_buf_view(&said), bad);
    CHECK_HAS(lks_buf_view(&said), last);
}

static void repair_needs_a_fault_and_the_journal_for_itself(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = {0};
    ctl_copy(ctl_path(&world.ctl, "kept"), world.ctl.data);
    CHECK_INT(repair(&said), 1);
    CHECK_HAS(lks_buf_view(&said), "fault");
    check_verified(NULL, true);
    if (!ctl_start(&world.ctl))
        return;
    CHECK_INT(repair(&said), 1);
    CHECK_HAS(lks_buf_view(&said), "has it open");
    check_verified(NULL, true); /* beside the daemon, too */
    CHECK_INT(ctl_stop(&world.ctl), 0);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"a backup is restored with what was seen", a_backup_is_restored_with_what_was_seen},
        {"every change is found", every_change_is_found},
        {"the file of what was seen", the_file_of_what_was_seen},
        {"a plain file is no downgrade", a_plain_file_is_no_downgrade},
        {"a journal of an earlier version goes on", a_journal_of_an_earlier_version_goes_on},
        {"an export goes on behind what it cannot read",
         an_export_goes_on_behind_what_it_cannot_read},
        {"repair needs a fault, and the journal for itself",
         repair_needs_a_fault_and_the_journal_for_itself},
        {0},
    };
    live();
    int status = lks_test_main(tests);
    ctl_fini(&world.ctl);
    return status;
}
