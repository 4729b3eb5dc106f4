/* The journal of a real run in PostgreSQL, changed by a person who can write the database and has
 * no key: what they append, rewrite, cut off or bring back from an older copy is found by `journal
 * verify` or at the next start, a single row included. */
#include "drivers/store/postgres.h"
#include "engine/journal.h"
#include "tests/controller.h"
#include "tests/postgres.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <inttypes.h>
#include <stdio.h>

#define DATABASE "lockstep"

enum { NODES = 8, HOLDS = 3, TEXT_MAX = 1 << 20, BODY_MAX = 4096 };

static struct world {
    struct pg pg;
    struct ctl ctl;
    char conninfo[PG_CONNINFO_SIZE];
    uint64_t last, middle; /* rows: where the run ended, and where its first half did */
} world;

/* The database -------------------------------------------------------------------------------- */

static void sql(const char *fmt, ...) LKS_PRINTF(1, 2);
static void sql(const char *fmt, ...)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    va_list ap;
    va_start(ap, fmt);
    lks_buf_addf(&text, "set search_path to lockstep; ");
    lks_buf_addv(&text, fmt, ap);
    va_end(ap);
    if (!CHECK(pg_sql(&world.pg, DATABASE, text.ptr)))
        printf("%s\n", text.ptr);
}

/* Everything that the journal is, in a schema of its own, and back. */
static void keep_as(const char *name)
{
    sql("create schema %s; create table %s.journal as table journal; create table %s.head as table "
        "head; create table %s.tail as table tail; create table %s.blob as table blob",
        name, name, name, name, name);
}

static void bring_back(const char *name)
{
    sql("begin; delete from journal; delete from head; delete from tail; delete from aside; "
        "delete from snapshot; insert into journal select * from %s.journal; insert into head "
        "select * from %s.head; insert into tail select * from %s.tail; commit",
        name, name, name);
}

struct held_row {
    uint64_t seq;
    struct lks_row row;
    char body[BODY_MAX];
    bool found;
};

static bool hold_row(void *ctx, const struct lks_row *row)
{
    struct held_row *held = ctx;
    held->found = row->seq == held->seq && row->body.len <= sizeof(held->body);
    if (held->found) {
        held->row = *row;
        memcpy(held->body, row->body.ptr, row->body.len);
        held->row.body.ptr = held->body;
    }
    return false;
}

static bool read_row(uint64_t seq, struct held_row *out)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    struct lks_err err = {0};
    *out = (struct held_row){.seq = seq};
    return CHECK_CODE(lks_store_postgres_open(world.conninfo, LKS_STORE_READ, &store, &err),
                      LKS_OK) &&
           CHECK_CODE(store.ops->rows(store.self, seq, hold_row, out, &err), LKS_OK) &&
           CHECK(out->found);
}

/* `row` becomes the row `seq`, chained to the one before, and the end of the journal. */
static void put_row(uint64_t seq, const struct lks_row *row)
{
    static struct held_row before;
    struct lks_row put = *row;
    struct lks_err err = {0};
    char hex[2 * LKS_HASH_BYTES + 1] = "";
    struct lks_chain *chain = lks_chain_new();
    LKS_ASSERT(chain != NULL);
    if (read_row(seq - 1, &before)) {
        put.seq = seq;
        put.time = before.row.time;
        CHECK_CODE(lks_chain_hash(chain, before.row.hash, &put, put.hash, &err), LKS_OK);
    }
    lks_chain_free(chain);
    for (size_t i = 0; i < LKS_HASH_BYTES; i++)
        snprintf(hex + 2 * i, 3, "%02x", put.hash[i]);
    sql("begin; insert into journal select %" PRIu64 ", %" PRIu64 ", kind, version, body, "
        "'\\x%s' from kept.journal where seq = %" PRIu64 "; update tail set seq = %" PRIu64
        ", time = %" PRIu64 ", hash = '\\x%s'; commit",
        seq, put.time, hex, row->seq, seq, put.time, hex);
}

/* Damage -------------------------------------------------------------------------------------- */

static void append_from(uint64_t seq, unsigned count)
{
    static struct held_row held;
    if (!read_row(world.middle, &held))
        return;
    for (unsigned i = 0; i < count; i++)
        put_row(seq + i, &held.row);
}

static void append_one(void)
{
    append_from(world.last + 1, 1);
}

static void append_three(void)
{
    append_from(world.last + 1, 3);
}

static void rewrite_last(void)
{
    sql("delete from journal where seq = %" PRIu64, world.last);
    append_from(world.last, 1);
}

static void rewrite_and_behead(void)
{
    rewrite_last();
    sql("delete from head where seq > %" PRIu64, world.middle);
}

static void cut_with_heads(void)
{
    sql("begin; delete from journal where seq > %" PRIu64 "; delete from head where seq > %" PRIu64
        "; update tail set (seq, time, hash) = (select seq, time, hash from journal where "
        "seq = %" PRIu64 "); commit",
        world.middle, world.middle, world.middle);
}

static void older_copy(void)
{
    bring_back("older");
}

static void older_copy_that_goes_on(void)
{
    bring_back("older");
    append_from(world.middle + 1, (unsigned)(world.last - world.middle));
}

static const struct {
    const char *name;
    void (*act)(void);
    enum lks_fault fault;
    const char *says; /* at the start */
} damages[] = {
    {"a row appended", append_one, LKS_FAULT_SIGNATURE, "has no signed head"},
    {"three rows appended", append_three, LKS_FAULT_SIGNATURE, "have no signed head"},
    {"the last row rewritten", rewrite_last, LKS_FAULT_REWRITTEN, "(rewritten)"},
    {"the last row rewritten, its head gone", rewrite_and_behead, LKS_FAULT_SIGNATURE,
     "have no signed head"},
    {"cut off with its heads", cut_with_heads, LKS_FAULT_NONE, "was seen in it"},
    {"an older copy", older_copy, LKS_FAULT_NONE, "was seen in it"},
    {"an older copy that goes on", older_copy_that_goes_on, LKS_FAULT_SIGNATURE,
     "have no signed head"},
};

/* The run ------------------------------------------------------------------------------------- */

/* A controller that shares its database follows before it leads. */
static bool start_leading(void)
{
    bool leads = ctl_start(&world.ctl);
    for (struct lks_wait w = {0}; leads && !ctl_leads(&world.ctl) && lks_wait(&w);) {
    }
    return leads && CHECK(ctl_leads(&world.ctl));
}

static void hold(unsigned from)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    for (unsigned i = from; i < from + HOLDS; i++) {
        char path[64];
        snprintf(path, sizeof(path), "/v1/nodes/n%u/hold", i);
        CHECK_INT(ctl_once(&world.ctl, "POST", path, "{\"reason\":\"because of this\"}", &answer),
                  200);
        world.last = ctl_number(&answer, "seq");
    }
    CHECK_INT(ctl_stop(&world.ctl), 0);
}

static bool live(void)
{
    if (!pg_start_pair(&world.pg) ||
        !CHECK(pg_sql(&world.pg, "postgres", "create database " DATABASE)))
        return false;
    pg_conninfo(&world.pg, DATABASE, world.conninfo);
    ctl_init_shared(&world.ctl, "--postgres", world.conninfo, "");
    ctl_configure(&world.ctl, "controller:\n  lease_ms: 2000\n");
    if (!start_leading())
        return false;
    ctl_apply(&world.ctl, NODES);
    hold(0);
    world.middle = world.last;
    keep_as("older");
    if (!start_leading())
        return false;
    hold(HOLDS);
    keep_as("kept");
    ctl_copy(world.ctl.data, ctl_path(&world.ctl, "kept"));
    return true;
}

static void check_verified(enum lks_fault fault)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    struct lks_public_key key = ctl_key(&world.ctl);
    struct lks_verify v = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_store_postgres_open(world.conninfo, LKS_STORE_READ, &store, &err), LKS_OK);
    CHECK_CODE(lks_journal_verify(&store, &(struct lks_verify_options){.key = &key}, &v, &err),
               LKS_OK);
    if (!CHECK_INT(v.fault, fault))
        printf("%s\n", v.text);
}

/* A person takes the journal as it is, and nothing begins until they say so. */
static void check_accepted(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = {0};
    world.ctl.option = "--accept-lost-rows";
    if (start_leading()) {
        CHECK_INT(ctl_once(&world.ctl, "GET", "/v1/journal", NULL, &said), 200);
        CHECK_HAS(lks_buf_view(&said), "\"kind\":\"frozen\"");
        CHECK_INT(ctl_stop(&world.ctl), 0);
    }
    world.ctl.option = NULL;
    if (start_leading())
        CHECK_INT(ctl_stop(&world.ctl), 0);
    check_verified(LKS_FAULT_NONE);
}

static void test_every_change_is_found(void)
{
    for (size_t i = 0; i < LKS_COUNT(damages); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(TEXT_MAX);
        bool faulty = damages[i].fault != LKS_FAULT_NONE;
        lks_test_case("%s", damages[i].name);
        bring_back("kept");
        ctl_copy(ctl_path(&world.ctl, "kept"), world.ctl.data);
        check_verified(LKS_FAULT_NONE);
        damages[i].act();
        check_verified(damages[i].fault);
        CHECK_INT(ctl_refused(&world.ctl, &said), faulty ? 3 : 1);
        CHECK_HAS(lks_buf_view(&said), damages[i].says);
        if (!faulty)
            check_accepted();
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"tamper: every change of a database is found", test_every_change_is_found},
        {0},
    };
    int status = live() ? lks_test_main(tests) : 1;
    if (world.ctl.pid != 0)
        ctl_kill(&world.ctl);
    pg_free(&world.pg);
    if (world.ctl.data[0] != '\0')
        ctl_fini(&world.ctl);
    return status;
}
