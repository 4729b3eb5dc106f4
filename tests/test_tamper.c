/* The journal of a real run, changed behind lockstepd's back in every way we could think of: the
 * command line finds it, lockstepd does not start on it, and a repair sets aside what cannot be
 * trusted and says so in the journal. What was rewritten with stolen keys only agents can tell. */
#include "base/file.h"
#include "drivers/store_secrets.h"
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
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    va_list ap;
    va_start(ap, fmt);
    lks_buf_init(&text, TEXT_MAX);
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
    LKS_CLEANUP(lks_buf_fini) struct lks_buf hex = {0};
    lks_buf_init(&hex, TEXT_MAX);
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
        LKS_CLEANUP(lks_buf_fini) struct lks_buf signature = {0};
        struct lks_head head = {.seq = seq};
        struct lks_err err = {0};
        if (!read_row(seq, &row))
            return;
        memcpy(head.journal, journal, sizeof(journal));
        memcpy(head.hash, row.row.hash, sizeof(head.hash));
        head.time = row.row.time;
        CHECK_CODE(lks_head_sign(key, &head, &err), LKS_OK);
        lks_buf_init(&hash, TEXT_MAX);
        lks_buf_init(&signature, TEXT_MAX);
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

enum start { STARTS, REPAIRED, LOST };

static const struct damage {
    const char *name;
    void (*act)(void);
    const char *alone;     /* the fault without witnesses; NULL: none is found */
    const char *witnessed; /* and with them */
    enum start start;      /* lockstepd starts; or does after a repair; or not even then */
    const char *says;      /* part of the line with which it does not */
} damages[] = {
    {"a byte edited", edit, "edited", "edited", REPAIRED, "row 15 (edited)"},
    {"a byte edited, its hash computed", edit_with_hash, "rewritten", "rewritten", REPAIRED,
     "row 16 (edited)"},
    {"a time edited", edit_time, "edited", "edited", REPAIRED, "row 15 (edited)"},
    {"a row dropped", drop, "dropped", "dropped", REPAIRED, "row 15 (dropped)"},
    {"a row dropped, the others renumbered", drop_and_renumber, "edited", "edited", REPAIRED,
     "row 15 (edited)"},
    {"two rows swapped", swap, "reordered", "reordered", REPAIRED, "row 15 (reordered)"},
    {"the end cut off", cut_end, "truncated", "truncated", REPAIRED, "row 16 (truncated)"},
    {"the end cut off, the tail adjusted", cut_end_and_tail, "truncated", "truncated", REPAIRED,
     "row 16 (truncated)"},
    {"the end cut off, no head left of it", cut_end_and_heads, NULL, "truncated", STARTS, NULL},
    {"rewritten", rewrite, "rewritten", "rewritten", REPAIRED, "row 20 (rewritten)"},
    {"rewritten, no head left", rewrite_and_behead, "signature", "rewritten", LOST,
     "none of its heads is left"},
    {"rewritten, signed by another", rewrite_with_own_key, "signature", "signature", REPAIRED,
     "the head at row 20 is not signed with this key"},
    {"rewritten, signed with the stolen key", rewrite_with_stolen_key, NULL, "rewritten", STARTS,
     NULL},
    {"the last record torn", tear_last, "edited", "edited", REPAIRED, "row 20 (edited)"},
    {"the last record torn, its hash computed", tear_last_with_hash, "unreadable", "unreadable",
     REPAIRED, "row 20 (unreadable)"},
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
        CHECK_CODE(lks_head_parse(lks_str_from(line), &head, &err), LKS_OK);
    }
    FILE *file = fopen(ctl_path(&world.ctl, "witness"), "a");
    if (CHECK(file != NULL && head.seq >= at_least)) {
        fprintf(file, "%s\n", line);
        CHECK(fclose(file) == 0);
    }
}

static void steal_key(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf seed = {0};
    struct lks_seal_key seal;
    struct lks_err err = {0};
    lks_buf_init(&seed, LKS_SECRET_MAX);
    CHECK_CODE(lks_secrets_key(world.ctl.data, "file:seal.key", &seal, &err), LKS_OK);
    CHECK_CODE(lks_secrets_read(world.ctl.data, &seal, "journal.key", &seed, &err), LKS_OK);
    if (CHECK_INT(seed.len, LKS_KEY_BYTES))
        CHECK_CODE(lks_key_make((const uint8_t *)seed.ptr, &world.key, &err), LKS_OK);
}

static void live(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    ctl_init(&world.ctl, "journal: {sign_rows: 1, sign_ms: 0}\n");
    if (!ctl_start(&world.ctl))
        return;
    ctl_apply(&world.ctl, NODES);
    for (unsigned i = 0; i < HOLDS; i++) {
        char path[64];
        snprintf(path, sizeof(path), "/v1/nodes/n%u/%s", i % NODES, i < NODES ? "hold" : "release");
        CHECK_INT(ctl_once(&world.ctl, "POST", path, "{\"reason\":\"because of this\"}", &answer),
                  200);
        uint64_t seq = ctl_number(&answer, "seq");
        world.middle = i == HOLDS / 2 ? seq : world.middle;
        witness(seq);
    }
    world.last = ctl_number(&answer, "seq");
    CHECK_INT(ctl_stop(&world.ctl), 0);
    open_file();
    CHECK_INT(ask_number("SELECT max(seq) FROM journal"), world.last);
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
static void check_refused(const char *says)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = {0};
    lks_buf_init(&said, TEXT_MAX);
    CHECK_INT(ctl_refused(&world.ctl, &said), 3);
    struct lks_str line, rest;
    lks_str_cut(lks_buf_view(&said), '\n', &line, &rest);
    CHECK_STR(rest, "");
    CHECK(lks_str_starts(line, "lockstepd: "));
    CHECK_HAS(line, says);
    CHECK_HAS(line, "`lockstep journal verify`");
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
        if (d->start != STARTS)
            check_refused(d->says);
        if (d->start == REPAIRED)
            check_repaired(rows);
        if (d->start == LOST)
            check_lost();
        if (d->start == STARTS && ctl_start(&world.ctl))
            CHECK_INT(ctl_stop(&world.ctl), 0);
    }
}

static void an_export_goes_on_behind_what_it_cannot_read(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = {0};
    char bad[48], last[32];
    ctl_copy(ctl_path(&world.ctl, "kept"), world.ctl.data);
    open_file();
    sql("UPDATE journal SET kind = 9999 WHERE seq = %" PRIu64, world.middle);
    close_file();
    lks_buf_init(&said, TEXT_MAX);
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
        {"every change is found", every_change_is_found},
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
