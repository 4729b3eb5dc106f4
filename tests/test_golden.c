/* Journals and snapshots that were stored long ago still open, and fold to the state they had.
 *
 *     test_golden journal DIR      write the journal of tests/journals.c as a golden one
 *     test_golden records DIR      write the journal of the file "records" there
 *     test_golden snapshots DIR    write the snapshots of a golden journal anew
 *     test_golden state DIR        write the state of a golden journal anew
 *
 * They are for people who add a golden journal, and no test runs them. */
#include "core/campaign/state_apply.h"
#include "core/entity/entity.h"
#include "core/rows/change.h"
#include "core/state/state.h"
#include "engine/journal.h"
#include "tests/goldens.h"
#include "tests/list_state.h"
#include "tests/reload.h"
#include "tests/test.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t last_row(struct lks_store *store)
{
    struct lks_store_tail tail = {0};
    struct lks_err err = {0};
    CHECK_CODE(store->ops->tail(store->self, &tail, &err), LKS_OK);
    return tail.seq;
}

/* From the snapshot in the store, where there is one that the journal's key signed. */
static void fold_all(struct lks_store *store, const char *dir, struct lks_state *out)
{
    struct lks_public_key key = lks_golden_key(dir);
    struct lks_store_tail tail = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_state_init(out, 1, &err), LKS_OK);
    if (!CHECK_CODE(lks_journal_fold(store, &key, 0, out, &tail, &err), LKS_OK))
        printf("%s\n", err.msg);
}

/* Journals ----------------------------------------------------------------------------------- */

/* A golden journal folds for ever to the state beside it. When a kind of record gets a new version,
 * another one is written next to it and this one stays. */
static void test_journals_fold_to_the_state_they_had(void)
{
    for (unsigned i = 0; i < 2 * lks_golden_count; i++) {
        const char *dir = lks_goldens[i / 2].dir;
        LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_new(i % 2 == 1);
        LKS_CLEANUP(lks_state_fini) struct lks_state folded = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf state = {0}, listed = {0};
        struct lks_public_key key = lks_golden_key(dir);
        struct lks_verify_options options = {.key = &key};
        struct lks_verify found = {0};
        struct lks_err err = {0};
        lks_test_case("%s, %s", dir, w.store.ops->name);
        lks_golden_load(&w.store, dir);
        CHECK_CODE(lks_journal_verify(&w.store, &options, &found, &err), LKS_OK);
        CHECK_INT(found.fault, LKS_FAULT_NONE);
        CHECK(found.rows > 40 && found.heads > 5 && found.unsigned_rows == 0);
        fold_all(&w.store, dir, &folded);
        lks_golden_read(dir, "state", &state);
        lks_buf_init(&listed, LKS_GOLDEN_BYTES_MAX);
        lks_list_state(&folded, NULL, &listed);
        CHECK_STR(lks_buf_view(&listed), state.ptr);
    }
}

static void test_the_newest_journal_has_every_kind_of_record(void)
{
    for (size_t i = 0; i < lks_record_info_count; i++) {
        bool found = false;
        for (size_t k = 0; k < lks_test_life_all && !found; k++)
            found = lks_test_life[k].record.kind == lks_record_infos[i].kind;
        lks_test_case("%s", lks_record_infos[i].word);
        CHECK(found);
    }
}

/* Snapshots ---------------------------------------------------------------------------------- */

static void check_same(const struct lks_state *want, const struct lks_state *got)
{
    struct lks_err why = {0};
    if (!CHECK(lks_entity_equal(want, got, &why)))
        printf("%s\n", why.msg);
}

/* The file alone: it loads to the fold of the rows, and the last one is listed as they are. */
static void check_snapshot(const struct lks_golden *g, struct lks_store *store, uint64_t row,
                           struct lks_str bytes)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state folded = {0}, loaded = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf state = {0}, listed = {0};
    uint8_t hash[LKS_HASH_BYTES], said[LKS_HASH_BYTES] = {0};
    struct lks_err err = {0};
    lks_golden_fold(store, row, &folded, hash);
    CHECK_CODE(lks_state_init(&loaded, 2, &err), LKS_OK);
    if (!CHECK_CODE(lks_snapshot_unpack_state(bytes, &loaded, said, &err), LKS_OK))
        printf("%s\n", err.msg);
    CHECK(memcmp(hash, said, sizeof(hash)) == 0);
    check_same(&folded, &loaded);
    if (row != last_row(store))
        return;
    lks_golden_read(g->dir, "state", &state);
    lks_buf_init(&listed, LKS_GOLDEN_BYTES_MAX);
    lks_list_state(&loaded, NULL, &listed);
    CHECK_STR(lks_buf_view(&listed), state.ptr);
}

/* A start that finds the file in its store takes it, and not the rows before it. */
static void check_start(const struct lks_golden *g, struct lks_test_world *w, uint64_t row,
                        struct lks_str bytes)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state whole = {0}, started = {0};
    struct lks_public_key key = lks_golden_key(g->dir);
    struct lks_verify_options options = {.key = &key};
    struct lks_verify found = {0};
    struct lks_err err = {0};
    fold_all(&w->store, g->dir, &whole);
    CHECK_CODE(w->store.ops->snapshot_put(w->store.self, row, bytes, &err), LKS_OK);
    CHECK_CODE(lks_journal_verify(&w->store, &options, &found, &err), LKS_OK);
    if (!CHECK_INT(found.fault, LKS_FAULT_NONE))
        printf("%s\n", found.text);
    lks_memory_disk_row(w->disk, row - 1)->time = 0;
    fold_all(&w->store, g->dir, &started);
    check_same(&whole, &started);
}

static void check_file(const struct lks_golden *g, uint64_t row, const char *ending,
                       const char *format)
{
    LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_new(false);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = {0};
    const char *name = lks_golden_snapshot_name(row, ending);
    lks_test_case("%s/%s", g->dir, name);
    lks_golden_read(g->dir, name, &bytes);
    lks_golden_load(&w.store, g->dir);
    CHECK_HAS(lks_buf_view(&bytes), format);
    check_snapshot(g, &w.store, row, lks_buf_view(&bytes));
    check_start(g, &w, row, lks_buf_view(&bytes));
}

/* Every byte is as it was written and signed, and the rows cannot be taken: they are of a later
 * version, or a fault of ours. The rows of the journal are still there. */
static void test_a_start_without_a_snapshot_that_cannot_be_taken(void)
{
    const struct lks_golden *g = &lks_goldens[lks_golden_count - 1];
    while (strcmp(g->dir, LKS_GOLDEN_RICH) != 0)
        g--;
    LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_new(false);
    LKS_CLEANUP(lks_state_fini) struct lks_state state = {0}, started = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_GOLDEN_BYTES_MAX);
    struct lks_public_key key = lks_golden_key(g->dir);
    struct lks_verify_options options = {.key = &key};
    struct lks_verify found = {0};
    struct lks_err err = {0};
    uint8_t hash[LKS_HASH_BYTES];
    lks_golden_load(&w.store, g->dir);
    lks_golden_fold(&w.store, last_row(&w.store), &state, hash);
    uint32_t members = state.changes[0].member_count;
    state.changes[0].member_count = 0;
    CHECK_CODE(lks_snapshot_pack_signed(&state, hash, &w.key, &bytes, &err), LKS_OK);
    CHECK_CODE(w.store.ops->snapshot_put(w.store.self, state.seq, lks_buf_view(&bytes), &err),
               LKS_OK);
    state.changes[0].member_count = members;
    fold_all(&w.store, g->dir, &started);
    check_same(&state, &started);
    CHECK_CODE(lks_journal_verify(&w.store, &options, &found, &err), LKS_OK);
    CHECK_INT(found.fault, LKS_FAULT_SNAPSHOT);
    CHECK_STR(lks_str_from(found.text), "snapshot: a unit has no members");
}

static void test_snapshots_load_to_the_fold_of_their_journal(void)
{
    for (size_t i = 0; i < lks_golden_count; i++) {
        const struct lks_golden *g = &lks_goldens[i];
        for (size_t k = 0; g->snapshots[k] != 0; k++) {
            check_file(g, g->snapshots[k], "", "\nlockstep-snapshot-1 sha256:");
            if (g->snapshots[k + 1] == 0 && lks_golden_is_ours(g))
                check_file(g, g->snapshots[k], ".2", "\nlockstep-snapshot-2 sha256:");
        }
    }
}

/* What is written today loads to the same as well, wherever it is taken. */
static bool fold_and_cut(void *ctx, const struct lks_row *row)
{
    struct lks_state *s = ctx;
    struct lks_record r;
    struct lks_err err = {0};
    if (!CHECK_CODE(lks_record_unpack(row->kind, row->version, row->body, &r, &err), LKS_OK) ||
        !CHECK_CODE(lks_state_apply(s, row->seq, row->time, &r, &err), LKS_OK))
        return false;
    lks_test_case("row %" PRIu64, row->seq);
    LKS_CLEANUP(lks_state_fini) struct lks_state loaded = {0};
    lks_test_reload(s, &loaded);
    return true;
}

static void test_a_snapshot_of_any_row_loads_to_the_fold_up_to_it(void)
{
    for (size_t i = 0; i < lks_golden_count; i++) {
        LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_new(false);
        LKS_CLEANUP(lks_state_fini) struct lks_state state = {0};
        struct lks_err err = {0};
        lks_golden_load(&w.store, lks_goldens[i].dir);
        CHECK_CODE(lks_state_init(&state, 1, &err), LKS_OK);
        CHECK_CODE(w.store.ops->rows(w.store.self, 1, fold_and_cut, &state, &err), LKS_OK);
        CHECK_INT(state.seq, last_row(&w.store));
    }
}

/* Writing, on purpose ------------------------------------------------------------------------ */

static bool write_journal(const char *dir)
{
    LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_new(false);
    lks_test_live(&w.store, lks_test_life_all, &w.key);
    return lks_golden_save(&w.store, &w.key, dir);
}

static bool write_records(const char *dir)
{
    LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_new(false);
    lks_golden_live(&w.store, dir, &w.key);
    return lks_golden_save(&w.store, &w.key, dir);
}

static bool write_snapshots(const char *dir)
{
    LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_new(false);
    lks_golden_load(&w.store, dir);
    return lks_golden_snapshots(&w.store, &w.key, dir);
}

static bool write_state(const char *dir)
{
    LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_new(false);
    lks_golden_load(&w.store, dir);
    return lks_golden_save_state(&w.store, dir);
}

static const struct {
    const char *name;
    bool (*write)(const char *dir);
} writers[] = {
    {"journal", write_journal},
    {"records", write_records},
    {"snapshots", write_snapshots},
    {"state", write_state},
};

static int write_golden(const char *what, const char *dir)
{
    for (size_t i = 0; i < LKS_COUNT(writers); i++) {
        if (strcmp(writers[i].name, what) == 0)
            return writers[i].write(dir) ? 0 : 6;
    }
    printf("usage: test_golden [journal|records|snapshots|state DIR]\n");
    return 2;
}

static const struct lks_test tests[] = {
    {"golden: journals fold to the state they had", test_journals_fold_to_the_state_they_had},
    {"golden: the newest journal has every kind of record",
     test_the_newest_journal_has_every_kind_of_record},
    {"golden: snapshots load to the fold of their journal",
     test_snapshots_load_to_the_fold_of_their_journal},
    {"golden: a start without a snapshot that cannot be taken",
     test_a_start_without_a_snapshot_that_cannot_be_taken},
    {"golden: a snapshot of any row loads to the fold up to it",
     test_a_snapshot_of_any_row_loads_to_the_fold_up_to_it},
    {0},
};

int main(int argc, char **argv)
{
    return argc == 3 ? write_golden(argv[1], argv[2]) : lks_test_main(tests);
}
