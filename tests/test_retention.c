/* What keeps a journal usable: snapshots, repairs, trims and looking back. */
#include "core/campaign/state_apply.h"
#include "core/entity/entity.h"
#include "core/state/state.h"
#include "engine/chain_walk.h"
#include "tests/journals.h"
#include "tests/test.h"

#include <inttypes.h>
#include <stdio.h>

#define BY     LKS_STR("unix:0")
#define REASON LKS_STR("a disk lost power")

enum { BYTES_MAX = 4 << 20 };

/* Snapshots ---------------------------------------------------------------------------------- */

static void fold_ok(struct lks_test_world *w, struct lks_state *out)
{
    struct lks_err err = {0};
    if (!CHECK_CODE(lks_test_world_fold(w, 0, out, &err), LKS_OK))
        printf("%s\n", err.msg);
}

/* The state behind the first `count` rows, stored as the snapshot. */
static void put_snapshot_by(struct lks_test_world *w, size_t count, const char *fleet,
                            const struct lks_key *key)
{
    LKS_CLEANUP(lks_test_world_fini) struct lks_test_world other = lks_test_world_new(false);
    LKS_CLEANUP(lks_state_fini) struct lks_state state = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(BYTES_MAX);
    struct lks_store_tail tail = {0};
    struct lks_err err = {0};
    lks_test_live(&other.store, count, &other.key);
    CHECK_CODE(other.store.ops->tail(other.store.self, &tail, &err), LKS_OK);
    fold_ok(&other, &state);
    if (fleet != NULL) {
        struct lks_record forged = {.kind = LKS_RECORD_FLEET,
                                    .fleet = {.name = lks_str_from(fleet)}};
        CHECK_CODE(lks_state_apply(&state, state.seq, state.clock, &forged, &err), LKS_OK);
    }
    CHECK_CODE(lks_snapshot_pack_signed(&state, tail.hash, key, &bytes, &err), LKS_OK);
    CHECK_CODE(w->store.ops->snapshot_put(w->store.self, count, lks_buf_view(&bytes), &err),
               LKS_OK);
}

static void put_snapshot(struct lks_test_world *w, size_t count, const char *fleet)
{
    put_snapshot_by(w, count, fleet, &w->key);
}

static void test_a_snapshot_and_its_tail_fold_to_the_same(void)
{
    LKS_CLEANUP(lks_test_world_fini) struct lks_test_world plain = lks_test_world_lived(false);
    LKS_CLEANUP(lks_state_fini) struct lks_state whole = {0};
    fold_ok(&plain, &whole);
    for (size_t count = 1; count <= lks_test_life_count; count++) {
        LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_lived(false);
        LKS_CLEANUP(lks_state_fini) struct lks_state state = {0};
        struct lks_err why = {0};
        lks_test_case("a snapshot of row %zu", count);
        put_snapshot(&w, count, NULL);
        CHECK_INT(lks_test_world_verify(&w, NULL).fault, LKS_FAULT_NONE);
        if (count > 1) /* nothing before it is looked at */
            lks_memory_disk_row(w.disk, count - 1)->time = 0;
        fold_ok(&w, &state);
        if (!CHECK(lks_entity_equal(&whole, &state, &why)))
            printf("%s\n", why.msg);
    }
}

static void spoil(struct lks_test_world *w, size_t at)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(BYTES_MAX);
    struct lks_err err = {0};
    uint64_t seq = 0;
    CHECK_CODE(w->store.ops->snapshot(w->store.self, &seq, &bytes, &err), LKS_OK);
    bytes.ptr[at % bytes.len] ^= 1;
    CHECK_CODE(w->store.ops->snapshot_put(w->store.self, seq, lks_buf_view(&bytes), &err), LKS_OK);
}

static void test_a_damaged_snapshot_is_not_trusted(void)
{
    LKS_CLEANUP(lks_test_world_fini) struct lks_test_world plain = lks_test_world_lived(false);
    LKS_CLEANUP(lks_state_fini) struct lks_state whole = {0};
    fold_ok(&plain, &whole);
    for (size_t at = 0; at < 4000; at += 97) {
        LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_lived(false);
        LKS_CLEANUP(lks_state_fini) struct lks_state state = {0};
        struct lks_err why = {0};
        lks_test_case("byte %zu", at);
        put_snapshot(&w, 30, NULL);
        spoil(&w, at);
        fold_ok(&w, &state);
        CHECK(lks_entity_equal(&whole, &state, &why));
        CHECK_INT(lks_test_world_verify(&w, NULL).fault, LKS_FAULT_SNAPSHOT);
    }
}

static void test_a_snapshot_of_another_chain_is_not_used(void)
{
    LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_lived(false);
    LKS_CLEANUP(lks_state_fini) struct lks_state state = {0}, honest = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(BYTES_MAX);
    struct lks_err err = {0};
    uint8_t hash[LKS_HASH_BYTES] = {1};
    fold_ok(&w, &honest);
    CHECK_CODE(lks_snapshot_pack_signed(&honest, hash, &w.key, &bytes, &err), LKS_OK);
    CHECK_CODE(w.store.ops->snapshot_put(w.store.self, honest.seq, lks_buf_view(&bytes), &err),
               LKS_OK);
    fold_ok(&w, &state);
    CHECK(lks_entity_equal(&honest, &state, &err));
}

static void test_a_forged_snapshot_is_found(void)
{
    LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_lived(false);
    put_snapshot(&w, 30, "forged");
    struct lks_verify found = lks_test_world_verify(&w, NULL);
    CHECK_INT(found.fault, LKS_FAULT_SNAPSHOT);
    CHECK_INT(found.at, 30);

    struct lks_err err = {0};
    LKS_CLEANUP(lks_state_fini) struct lks_state state = {0};
    CHECK_CODE(lks_journal_repair(&w.store, &w.key, 30000, BY, REASON, &found, &err), LKS_OK);
    CHECK_INT(lks_test_world_verify(&w, NULL).fault, LKS_FAULT_NONE);
    fold_ok(&w, &state);
    CHECK_STR(lks_state_text(&state, state.fleet_name), "golden");
}

/* Who has no key makes one that is whole and of this chain. */
static void test_a_snapshot_that_somebody_else_signed(void)
{
    struct lks_key other = lks_test_other_key();
    for (unsigned i = 0; i < 2; i++) {
        LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_lived(false);
        LKS_CLEANUP(lks_state_fini) struct lks_state state = {0};
        struct lks_err err = {0};
        uint64_t through = 0;
        bool trimmed = i == 1;
        lks_test_case(trimmed ? "rows are gone" : "all rows are there");
        put_snapshot(&w, 30, NULL);
        if (trimmed)
            CHECK_CODE(lks_journal_trim(&w.store, &w.key, 22000, 9000, BY, &through, &err), LKS_OK);
        put_snapshot_by(&w, 30, "forged", &other);
        struct lks_verify found = lks_test_world_verify(&w, NULL);
        CHECK_INT(found.fault, LKS_FAULT_SNAPSHOT);
        CHECK_HAS(lks_str_from(found.text), "not signed by the journal's key");
        CHECK_CODE(lks_test_world_fold(&w, 0, &state, &err), trimmed ? LKS_E_INVALID : LKS_OK);
        if (trimmed) {
            CHECK_HAS(lks_str_from(err.msg), "restore a backup");
            continue;
        }
        CHECK_STR(lks_state_text(&state, state.fleet_name), "golden");
        CHECK_CODE(lks_journal_trim(&w.store, &w.key, 22000, 9000, BY, &through, &err), LKS_OK);
        CHECK_INT(through, 0); /* nothing stands for what would go */
    }
}

/* What the store itself cannot put together is a damaged snapshot like any other. */
static void test_a_snapshot_with_a_part_missing(void)
{
    LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_lived(true);
    LKS_CLEANUP(lks_state_fini) struct lks_state state = {0};
    struct lks_verify found = {0};
    struct lks_err err = {0};
    put_snapshot(&w, 30, NULL);
    lks_test_world_tamper(&w, "UPDATE snapshot SET size = size + 1");
    fold_ok(&w, &state);
    CHECK_STR(lks_state_text(&state, state.fleet_name), "golden");
    found = lks_test_world_verify(&w, NULL);
    CHECK_INT(found.fault, LKS_FAULT_SNAPSHOT);
    CHECK_HAS(lks_str_from(found.text), "a part of the snapshot is missing");
    CHECK_CODE(lks_journal_repair(&w.store, &w.key, 30000, BY, REASON, &found, &err), LKS_OK);
    CHECK_INT(lks_test_world_verify(&w, NULL).fault, LKS_FAULT_NONE);
}

/* Rows were cut off behind the store's back, heads and all, and the snapshot of a later row stayed.
 */
#define CUT_TO(row)                                                                                \
    "DELETE FROM journal WHERE seq > " row ";"                                                     \
    "DELETE FROM head WHERE seq > " row ";"                                                        \
    "UPDATE tail SET seq = " row ", time = (SELECT time FROM journal WHERE seq = " row "),"        \
    "                hash = (SELECT hash FROM journal WHERE seq = " row ")"

static void test_a_snapshot_ahead_of_a_shortened_journal(void)
{
    LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_lived(true);
    LKS_CLEANUP(lks_test_world_fini) struct lks_test_world shorter = lks_test_world_new(false);
    LKS_CLEANUP(lks_state_fini) struct lks_state state = {0}, left = {0};
    struct lks_public_key key = lks_key_public(&w.key);
    struct lks_journal_start start = {0};
    struct lks_store_tail tail = {0};
    struct lks_err err = {0};
    lks_test_live(&shorter.store, 25, &shorter.key);
    fold_ok(&shorter, &left);
    put_snapshot(&w, 30, NULL);
    lks_test_world_tamper(&w, CUT_TO("25"));
    CHECK_CODE(lks_state_init(&state, 1, &err), LKS_OK);
    CHECK_CODE(lks_journal_fold_start(&w.store, &key, &state, &tail, &start, &err), LKS_OK);
    CHECK_INT(start.used, 0);
    CHECK_INT(start.passed_over, 30);
    CHECK_STR(lks_str_from(start.why.msg), "snapshot: of row 30, and the journal has 1 to 25");
    CHECK(lks_entity_equal(&left, &state, &err));
    struct lks_verify found = lks_test_world_verify(&w, NULL);
    CHECK_INT(found.fault, LKS_FAULT_SNAPSHOT);
    CHECK_STR(lks_str_from(found.text),
              "the snapshot is of row 30, and the journal ends before it");
}

/* The rows before were trimmed, so nothing else replaces them. */
static void test_a_snapshot_ahead_of_a_trimmed_journal(void)
{
    LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_lived(true);
    LKS_CLEANUP(lks_state_fini) struct lks_state state = {0};
    struct lks_err err = {0};
    struct lks_verify found = {0};
    uint64_t through = 0;
    put_snapshot(&w, 30, NULL);
    CHECK_CODE(lks_journal_trim(&w.store, &w.key, 22000, 9000, BY, &through, &err), LKS_OK);
    lks_test_world_tamper(&w, CUT_TO("27"));
    CHECK_CODE(lks_test_world_fold(&w, 0, &state, &err), LKS_E_INVALID);
    CHECK_STR(lks_str_from(err.msg),
              "journal: rows before 25 were trimmed, and nothing replaces them: snapshot: of row "
              "30, and the journal has 25 to 27; restore a backup to read earlier rows");
    found = lks_test_world_verify(&w, NULL);
    CHECK_INT(found.fault, LKS_FAULT_TRUNCATED); /* the record of the trim went too */
    CHECK_CODE(lks_journal_repair(&w.store, &w.key, 30000, BY, REASON, &found, &err),
               LKS_E_REFUSED);
    CHECK_HAS(lks_str_from(err.msg), "restore a backup");
}

/* Looking back ------------------------------------------------------------------------------- */

static const struct {
    lks_ms until;
    uint64_t seq;
    enum lks_liveness n1;
    bool held;
} past[] = {
    {999, 0, LKS_NEVER_SEEN, false},   {1000, 3, LKS_NEVER_SEEN, false},
    {5999, 16, LKS_NEVER_SEEN, false}, {6000, 18, LKS_LIVE, false},
    {9500, 26, LKS_LIVE, true},        {13000, 34, LKS_LATE, true},
    {17000, 41, LKS_LATE, false},      {UINT64_MAX, 0, LKS_LIVE, false},
};

static void test_looking_back(void)
{
    for (size_t i = 0; i < 2 * LKS_COUNT(past); i++) {
        LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_lived(i % 2 == 1);
        LKS_CLEANUP(lks_state_fini) struct lks_state state = {0};
        struct lks_err err = {0};
        lks_ms until = past[i / 2].until;
        lks_test_case("until %" PRIu64 ", %s", until, w.store.ops->name);
        put_snapshot(&w, 28, NULL); /* of 11000: used from then on */
        CHECK_CODE(lks_test_world_fold(&w, until, &state, &err), LKS_OK);
        CHECK_INT(state.seq, until == UINT64_MAX ? lks_test_life_count : past[i / 2].seq);
        uint32_t n1 = lks_state_node(&state, LKS_STR("n1"));
        uint32_t n2 = lks_state_node(&state, LKS_STR("n2"));
        if (past[i / 2].seq <= 3 && until != UINT64_MAX) {
            CHECK_INT(n1, LKS_NO_NODE);
            continue;
        }
        CHECK_INT(state.nodes[n1].liveness, past[i / 2].n1);
        CHECK_INT(state.nodes[n2].held, past[i / 2].held);
    }
}

/* Repairs ------------------------------------------------------------------------------------ */

static bool last_row(void *ctx, const struct lks_row *row)
{
    struct lks_rec_repaired *out = ctx;
    struct lks_record r;
    struct lks_err err = {0};
    if (!CHECK_INT(row->kind, LKS_RECORD_REPAIRED) ||
        !CHECK_CODE(lks_record_unpack(row->kind, row->version, row->body, &r, &err), LKS_OK))
        return false;
    CHECK_STR(r.repaired.reason, "a disk lost power");
    CHECK_STR(r.repaired.by, "unix:0");
    *out = r.repaired;
    return true;
}

static void check_repaired(struct lks_test_world *w, uint64_t from, uint64_t count)
{
    struct lks_rec_repaired record = {0};
    struct lks_err err = {0};
    LKS_CLEANUP(lks_state_fini) struct lks_state state = {0};
    CHECK_CODE(w->store.ops->rows(w->store.self, from, last_row, &record, &err), LKS_OK);
    CHECK_INT(record.from, from);
    CHECK_INT(record.count, count);
    struct lks_verify found = lks_test_world_verify(w, NULL);
    if (!CHECK_INT(found.fault, LKS_FAULT_NONE))
        printf("%s\n", found.text);
    CHECK_INT(found.last, from);
    CHECK_INT(found.unsigned_rows, 0);
    fold_ok(w, &state);
    CHECK_INT(state.seq, from);
}

static const struct {
    const char *name;
    const char *sql;
    uint64_t from, aside;
} repairs[] = {
    {"an edited row", "UPDATE journal SET time = time + 1 WHERE seq = 20", 20, 30},
    {"a dropped row", "DELETE FROM journal WHERE seq = 20", 20, 29},
    {"a cut end", "DELETE FROM journal WHERE seq >= 45", 45, 0},
    {"a bad last row", "UPDATE journal SET hash = zeroblob(32) WHERE seq = 49", 49, 1},
    {"a bad signature", "UPDATE head SET signature = zeroblob(64) WHERE seq = 35", 35, 15},
    {"a bad end, noted", "UPDATE tail SET hash = zeroblob(32)", 49, 1},
};

static void test_a_repair_sets_aside_and_says_so(void)
{
    CHECK_INT(lks_test_life_count, 49);
    for (size_t i = 0; i < LKS_COUNT(repairs); i++) {
        LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_lived(true);
        struct lks_verify found = {0};
        struct lks_err err = {0};
        lks_test_case("%s", repairs[i].name);
        put_snapshot(&w, 12, NULL);
        lks_test_world_tamper(&w, repairs[i].sql);
        if (!CHECK_CODE(lks_journal_repair(&w.store, &w.key, 30000, BY, REASON, &found, &err),
                        LKS_OK))
            printf("%s\n", err.msg);
        CHECK_INT(found.at, repairs[i].from);
        check_repaired(&w, repairs[i].from, repairs[i].aside);
        lks_test_world_reopen(&w);
        check_repaired(&w, repairs[i].from, repairs[i].aside);
    }
}

/* All rows are good, and the last of them stays: the record of the repair is behind it. */
static const struct {
    const char *name;
    const char *fleet; /* a forged snapshot; NULL: an honest one */
    const char *sql;
    uint64_t last;
} snapshots[] = {
    {"forged", "forged", "", 49},
    {"bytes changed", NULL, "UPDATE snapshot SET bytes = zeroblob(length(bytes))", 49},
    {"a part missing", NULL, "UPDATE snapshot SET size = size + 1", 49},
    {"ahead of the journal", NULL, CUT_TO("25"), 25},
};

static void test_a_repair_of_the_snapshot_keeps_all_rows(void)
{
    for (size_t i = 0; i < LKS_COUNT(snapshots); i++) {
        LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_lived(true);
        struct lks_store_tail before = {0}, after = {0};
        struct lks_verify found = {0};
        struct lks_err err = {0};
        lks_test_case("%s", snapshots[i].name);
        put_snapshot(&w, 30, snapshots[i].fleet);
        lks_test_world_tamper(&w, snapshots[i].sql);
        CHECK_CODE(w.store.ops->tail(w.store.self, &before, &err), LKS_OK);
        CHECK_INT(before.seq, snapshots[i].last);
        if (!CHECK_CODE(lks_journal_repair(&w.store, &w.key, 30000, BY, REASON, &found, &err),
                        LKS_OK))
            printf("%s\n", err.msg);
        check_repaired(&w, snapshots[i].last + 1, 0);
        CHECK_CODE(lks_chain_walk_row(&w.store, snapshots[i].last, &after, &err), LKS_OK);
        CHECK(after.seq == before.seq && memcmp(after.hash, before.hash, LKS_HASH_BYTES) == 0);
    }
}

/* Rows never go without the record that says so, whenever the power fails. */
static void test_a_repair_is_whole_or_not_at_all(void)
{
    bool done = false;
    for (uint64_t i = 0; i < 64 && !done; i++) {
        LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_lived(false);
        struct lks_verify found = {0};
        struct lks_err err = {0};
        lks_test_case("crash %s statement %" PRIu64, i % 2 == 0 ? "before" : "after", i / 2);
        lks_memory_disk_row(w.disk, 20)->time++;
        lks_memory_disk_fail(w.disk, i % 2 == 0 ? LKS_MEMORY_CRASH_BEFORE : LKS_MEMORY_CRASH_AFTER,
                             i / 2);
        done = lks_journal_repair(&w.store, &w.key, 30000, BY, REASON, &found, &err) == LKS_OK;
        lks_memory_disk_fail(w.disk, LKS_MEMORY_NO_CRASH, 0);
        lks_test_world_reopen(&w);
        found = lks_test_world_verify(&w, NULL);
        if (found.fault == LKS_FAULT_NONE)
            check_repaired(&w, 20, 30);
        else
            CHECK_INT(found.last, 19);
        CHECK_INT(lks_memory_disk_aside(w.disk), found.fault == LKS_FAULT_NONE ? 30 : 0);
    }
    CHECK(done);
}

static const struct {
    const char *name;
    const char *sql;
    struct lks_str reason;
    enum lks_code code;
    const char *message;
} refusals[] = {
    {"no fault", "SELECT 1", LKS_STR_C("why not"), LKS_E_REFUSED, "has no fault"},
    {"no reason", "DELETE FROM journal WHERE seq = 20", LKS_STR_C(""), LKS_E_USAGE,
     "needs a reason"},
    {"no beginning", "DELETE FROM journal WHERE seq < 4", LKS_STR_C("why not"), LKS_E_REFUSED,
     "restore a backup"},
    {"bytes lost", "DELETE FROM blob", LKS_STR_C("why not"), LKS_E_REFUSED, "restore a backup"},
};

static void test_repairs_that_are_refused(void)
{
    for (size_t i = 0; i < LKS_COUNT(refusals); i++) {
        LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_lived(true);
        struct lks_store_tail before = {0}, after = {0};
        struct lks_verify found = {0};
        struct lks_err err = {0};
        lks_test_case("%s", refusals[i].name);
        lks_test_world_tamper(&w, refusals[i].sql);
        CHECK_CODE(w.store.ops->tail(w.store.self, &before, &err), LKS_OK);
        CHECK_CODE(
            lks_journal_repair(&w.store, &w.key, 30000, BY, refusals[i].reason, &found, &err),
            refusals[i].code);
        CHECK_HAS(lks_str_from(err.msg), refusals[i].message);
        CHECK_CODE(w.store.ops->tail(w.store.self, &after, &err), LKS_OK);
        CHECK_INT(after.seq, before.seq);
    }
}

static bool keep_head(void *ctx, const struct lks_head *head)
{
    *(struct lks_head *)ctx = *head;
    return true;
}

static void test_witnesses_from_before_a_repair_are_explained_by_it(void)
{
    LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_lived(true);
    struct lks_head newest = {0};
    struct lks_verify found = {0};
    struct lks_err err = {0};
    CHECK_CODE(w.store.ops->heads(w.store.self, 0, keep_head, &newest, &err), LKS_OK);
    struct lks_verify_options options = {.witnesses = &newest, .witness_count = 1};
    lks_test_world_tamper(&w, "UPDATE journal SET time = time + 1 WHERE seq = 20");
    CHECK_CODE(lks_journal_repair(&w.store, &w.key, 30000, BY, REASON, &found, &err), LKS_OK);
    CHECK_INT(lks_test_world_verify(&w, &options).fault, LKS_FAULT_NONE);

    newest.time = 40000; /* after the repair it would have to be in the chain */
    CHECK_CODE(lks_chain_head_sign(&w.key, &newest, &err), LKS_OK);
    CHECK_INT(lks_test_world_verify(&w, &options).fault, LKS_FAULT_TRUNCATED);
}

/* Trims -------------------------------------------------------------------------------------- */

static const struct {
    lks_ms keep_after;
    size_t snapshot;
    uint64_t through;
} trims[] = {
    {500, 30, 0},    {1000, 30, 0},   {3000, 30, 6},   {9000, 30, 24},
    {15000, 30, 30}, {90000, 30, 30}, {90000, 49, 49}, {90000, 0, 0},
};

static void check_trimmed(struct lks_test_world *w, uint64_t through, const struct lks_state *want)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state state = {0};
    struct lks_err why = {0};
    struct lks_verify found = lks_test_world_verify(w, NULL);
    if (!CHECK_INT(found.fault, LKS_FAULT_NONE))
        printf("%s\n", found.text);
    CHECK_INT(found.first, through + 1);
    fold_ok(w, &state);
    state.seq = want->seq; /* the record of the trim is the only difference */
    state.clock = want->clock;
    if (!CHECK(lks_entity_equal(want, &state, &why)))
        printf("%s\n", why.msg);
}

static void test_a_trim_leaves_a_chain_that_verifies(void)
{
    for (size_t i = 0; i < 2 * LKS_COUNT(trims); i++) {
        LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_lived(i % 2 == 1);
        LKS_CLEANUP(lks_state_fini) struct lks_state whole = {0};
        struct lks_err err = {0};
        uint64_t through = UINT64_MAX;
        lks_ms keep = trims[i / 2].keep_after;
        lks_test_case("after %" PRIu64 ", snapshot %zu, %s", keep, trims[i / 2].snapshot,
                      w.store.ops->name);
        fold_ok(&w, &whole);
        if (trims[i / 2].snapshot > 0)
            put_snapshot(&w, trims[i / 2].snapshot, NULL);
        CHECK_CODE(lks_journal_trim(&w.store, &w.key, 22000, keep, BY, &through, &err), LKS_OK);
        CHECK_INT(through, trims[i / 2].through);
        check_trimmed(&w, through, &whole);
        CHECK_CODE(lks_journal_trim(&w.store, &w.key, 22000, keep, BY, &through, &err), LKS_OK);
        CHECK_INT(through, 0);
        lks_test_world_reopen(&w);
        check_trimmed(&w, trims[i / 2].through, &whole);
    }
}

/* Its row goes, and with its state its bytes stay. */
static void test_a_trim_leaves_the_manifest_of_a_bundle(void)
{
    LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_lived(false);
    LKS_CLEANUP(lks_state_fini) struct lks_state state = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = {0}, kept = {0};
    struct lks_store_tail tail = {0};
    struct lks_store_blob blob = {.bytes = LKS_STR("the manifest of a bundle")};
    struct lks_err err = {0};
    uint64_t through = 0;
    CHECK_CODE(lks_digest_text(blob.bytes, blob.digest, &err), LKS_OK);
    struct lks_record record = {
        .kind = LKS_RECORD_BUNDLE,
        .bundle = {.digest = lks_str_from(blob.digest), .manifest = lks_str_from(blob.digest)}};
    lks_test_append_record(&w.store, 23000, &record, &blob, &w.key);
    fold_ok(&w, &state);
    CHECK_CODE(w.store.ops->tail(w.store.self, &tail, &err), LKS_OK);
    lks_buf_init(&bytes, BYTES_MAX);
    lks_buf_init(&kept, BYTES_MAX);
    CHECK_CODE(lks_snapshot_pack_signed(&state, tail.hash, &w.key, &bytes, &err), LKS_OK);
    CHECK_CODE(w.store.ops->snapshot_put(w.store.self, tail.seq, lks_buf_view(&bytes), &err),
               LKS_OK);
    CHECK_CODE(lks_journal_trim(&w.store, &w.key, 24000, 90000, BY, &through, &err), LKS_OK);
    CHECK_INT(through, tail.seq);
    CHECK_CODE(w.store.ops->blob(w.store.self, blob.digest, &kept, &err), LKS_OK);
    CHECK_STR(lks_buf_view(&kept), "the manifest of a bundle");
}

/* The record that every commit is signed may be trimmed: the rule stays. */
static void test_a_trim_leaves_the_rule(void)
{
    LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_new(true);
    const struct lks_record *row = &lks_test_life[1].record;
    struct lks_err err = {0};
    uint64_t through = 0;
    lks_test_live(&w.store, lks_test_life_all, &w.key);
    put_snapshot(&w, lks_test_life_all, NULL);
    CHECK_CODE(lks_journal_trim(&w.store, &w.key, 90000, 90000, BY, &through, &err), LKS_OK);
    CHECK_INT(through, lks_test_life_all);
    struct lks_verify v = lks_test_world_verify(&w, NULL);
    CHECK(v.fault == LKS_FAULT_NONE && v.signed_from == lks_test_life_all);
    lks_test_append_record(&w.store, 90000, row, NULL, NULL);
    CHECK_INT(lks_test_world_verify(&w, NULL).fault, LKS_FAULT_SIGNATURE);
}

static void test_a_trim_does_not_remove_what_shows_a_fault(void)
{
    static const struct {
        const char *name, *sql;
        enum lks_code code;
    } rows[] = {
        {"a row that would go", "UPDATE journal SET time = time + 1 WHERE seq = 20", LKS_E_INVALID},
        {"a head", "UPDATE head SET signature = zeroblob(64) WHERE seq = 10", LKS_E_INVALID},
        {"bytes that no trim brings back", "DELETE FROM blob", LKS_OK},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_lived(true);
        struct lks_store_tail tail = {0};
        struct lks_err err = {0};
        uint64_t through = 0;
        lks_test_case("%s", rows[i].name);
        put_snapshot(&w, 30, NULL);
        lks_test_world_tamper(&w, rows[i].sql);
        CHECK_CODE(lks_journal_trim(&w.store, &w.key, 22000, 9000, BY, &through, &err),
                   rows[i].code);
        CHECK_CODE(w.store.ops->tail(w.store.self, &tail, &err), LKS_OK);
        CHECK_INT(tail.first, rows[i].code == LKS_OK ? 25 : 1);
        CHECK_INT(tail.seq, rows[i].code == LKS_OK ? 50 : 49);
    }
}

static void test_what_a_trim_leaves_can_still_be_damaged(void)
{
    static const struct {
        const char *name, *sql;
        enum lks_fault fault;
    } rows[] = {
        {"its first row edited", "UPDATE journal SET time = 1 WHERE seq = 25", LKS_FAULT_EDITED},
        {"more cut off", "DELETE FROM journal WHERE seq <= 26", LKS_FAULT_TRUNCATED},
        {"more cut off, noted", "DELETE FROM journal WHERE seq <= 26; UPDATE tail SET first = 27",
         LKS_FAULT_TRUNCATED},
        {"the snapshot spoiled", "UPDATE snapshot SET bytes = zeroblob(length(bytes))",
         LKS_FAULT_SNAPSHOT},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_lived(true);
        struct lks_err err = {0};
        uint64_t through = 0;
        lks_test_case("%s", rows[i].name);
        put_snapshot(&w, 30, NULL);
        CHECK_CODE(lks_journal_trim(&w.store, &w.key, 22000, 9000, BY, &through, &err), LKS_OK);
        lks_test_world_tamper(&w, rows[i].sql);
        CHECK_INT(lks_test_world_verify(&w, NULL).fault, rows[i].fault);
    }
}

static void test_without_its_snapshot_a_trimmed_journal_is_refused(void)
{
    LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_lived(false);
    LKS_CLEANUP(lks_state_fini) struct lks_state state = {0}, earlier = {0};
    struct lks_err err = {0};
    uint64_t through = 0;
    put_snapshot(&w, 30, NULL);
    CHECK_CODE(lks_journal_trim(&w.store, &w.key, 22000, 9000, BY, &through, &err), LKS_OK);
    CHECK_CODE(lks_test_world_fold(&w, 9500, &earlier, &err), LKS_E_NOT_FOUND);
    CHECK_HAS(lks_str_from(err.msg), "were trimmed");
    spoil(&w, 500);
    CHECK_CODE(lks_test_world_fold(&w, 0, &state, &err), LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "restore a backup");
}

/* Reading ------------------------------------------------------------------------------------ */

static const struct {
    struct lks_record record;
    const char *name;
    bool about;
} abouts[] = {
    {{.kind = LKS_RECORD_LIVENESS, .liveness = {LKS_STR_C("n1"), 1}}, "n1", true},
    {{.kind = LKS_RECORD_LIVENESS, .liveness = {LKS_STR_C("n1"), 1}}, "n", false},
    {{.kind = LKS_RECORD_LIVENESS, .liveness = {LKS_STR_C("n1"), 1}}, "n11", false},
    {{.kind = LKS_RECORD_ACCEPTED, .accepted = {.hosts = LKS_STR_C("n[1-20]")}}, "n12", true},
    {{.kind = LKS_RECORD_ACCEPTED, .accepted = {.hosts = LKS_STR_C("n[1-20]")}}, "n21", false},
    {{.kind = LKS_RECORD_REMOVED, .removed = {.hosts = LKS_STR_C("a,n12")}}, "n12", true},
    {{.kind = LKS_RECORD_REMOVED, .removed = {.hosts = LKS_STR_C("a,n12")}}, "n1", false},
    {{.kind = LKS_RECORD_ALARM, .alarm = {.subject = LKS_STR_C("n1")}}, "n1", true},
    {{.kind = LKS_RECORD_GRANTED, .granted = {.identity = LKS_STR_C("n1")}}, "n1", false},
    {{.kind = LKS_RECORD_LIVENESS, .liveness = {LKS_STR_C("n1"), 1}}, "", false},
};

static void test_which_node_a_record_is_about(void)
{
    for (size_t i = 0; i < LKS_COUNT(abouts); i++) {
        lks_test_case("row %zu: %s", i, abouts[i].name);
        CHECK(lks_journal_record_about(&abouts[i].record, lks_str_from(abouts[i].name)) ==
              abouts[i].about);
    }
}

static bool json_row(void *ctx, const struct lks_row *row)
{
    struct lks_buf *out = ctx;
    struct lks_err err = {0};
    CHECK_CODE(lks_journal_json(row, out, &err), LKS_OK);
    lks_buf_addc(out, '\n');
    return row->seq < 17;
}

static void test_rows_as_json(void)
{
    LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_lived(false);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(BYTES_MAX);
    struct lks_err err = {0};
    CHECK_CODE(w.store.ops->rows(w.store.self, 17, json_row, &text, &err), LKS_OK);
    CHECK_STR(lks_buf_view(&text), "{\"seq\":17,\"time\":\"1970-01-01T00:00:06.000Z\","
                                   "\"kind\":\"liveness\",\"node\":\"n1\",\"state\":\"live\"}\n");
}

static const struct lks_test tests[] = {
    {"retention: a snapshot and its tail fold to the same",
     test_a_snapshot_and_its_tail_fold_to_the_same},
    {"retention: a damaged snapshot is not trusted", test_a_damaged_snapshot_is_not_trusted},
    {"retention: a snapshot of another chain is not used",
     test_a_snapshot_of_another_chain_is_not_used},
    {"retention: a forged snapshot is found", test_a_forged_snapshot_is_found},
    {"retention: a snapshot that somebody else signed", test_a_snapshot_that_somebody_else_signed},
    {"retention: a snapshot with a part missing", test_a_snapshot_with_a_part_missing},
    {"retention: a snapshot ahead of a shortened journal",
     test_a_snapshot_ahead_of_a_shortened_journal},
    {"retention: a snapshot ahead of a trimmed journal",
     test_a_snapshot_ahead_of_a_trimmed_journal},
    {"retention: looking back", test_looking_back},
    {"retention: a repair sets aside and says so", test_a_repair_sets_aside_and_says_so},
    {"retention: a repair of the snapshot keeps all rows",
     test_a_repair_of_the_snapshot_keeps_all_rows},
    {"retention: a repair is whole or not at all", test_a_repair_is_whole_or_not_at_all},
    {"retention: repairs that are refused", test_repairs_that_are_refused},
    {"retention: witnesses from before a repair are explained by it",
     test_witnesses_from_before_a_repair_are_explained_by_it},
    {"retention: a trim leaves a chain that verifies", test_a_trim_leaves_a_chain_that_verifies},
    {"retention: a trim leaves the manifest of a bundle",
     test_a_trim_leaves_the_manifest_of_a_bundle},
    {"retention: a trim leaves the rule", test_a_trim_leaves_the_rule},
    {"retention: a trim does not remove what shows a fault",
     test_a_trim_does_not_remove_what_shows_a_fault},
    {"retention: what a trim leaves can still be damaged",
     test_what_a_trim_leaves_can_still_be_damaged},
    {"retention: without its snapshot a trimmed journal is refused",
     test_without_its_snapshot_a_trimmed_journal_is_refused},
    {"retention: which node a record is about", test_which_node_a_record_is_about},
    {"retention: rows as JSON", test_rows_as_json},
    {0},
};

int main(void)
{
    return lks_test_main(tests);
}
