/* Faults of a journal are found and told apart, on every store. */
#include "core/state/state.h"
#include "engine/chain_walk.h"
#include "engine/engine.h"
#include "engine/journal.h"
#include "tests/facts.h"
#include "tests/journals.h"
#include "tests/test.h"

/* Faults that a disk or a person makes ------------------------------------------------------- */

static void edit_body(struct lks_memory_disk *disk)
{
    static const char zeros[256];
    lks_memory_disk_row(disk, 7)->body.ptr = zeros;
}

static void edit_time(struct lks_memory_disk *disk)
{
    lks_memory_disk_row(disk, 7)->time++;
}

static void edit_kind(struct lks_memory_disk *disk)
{
    lks_memory_disk_row(disk, 7)->kind = LKS_RECORD_REMOVED;
}

static void edit_hash(struct lks_memory_disk *disk)
{
    memset(lks_memory_disk_row(disk, 7)->hash, 0, LKS_HASH_BYTES);
}

static void edit_last(struct lks_memory_disk *disk)
{
    lks_memory_disk_row(disk, lks_test_life_count)->version = 9;
}

static void drop_one(struct lks_memory_disk *disk)
{
    lks_memory_disk_drop(disk, 7);
}

static void drop_three(struct lks_memory_disk *disk)
{
    for (uint64_t seq = 7; seq <= 9; seq++)
        lks_memory_disk_drop(disk, seq);
}

static void swap(struct lks_memory_disk *disk, uint64_t a, uint64_t b, bool hashes)
{
    struct lks_row *x = lks_memory_disk_row(disk, a), *y = lks_memory_disk_row(disk, b);
    struct lks_row kept = *x;
    *x = *y;
    *y = kept;
    x->seq = a;
    y->seq = b;
    if (!hashes) {
        uint8_t hash[LKS_HASH_BYTES];
        memcpy(hash, x->hash, sizeof(hash));
        memcpy(x->hash, y->hash, sizeof(hash));
        memcpy(y->hash, hash, sizeof(hash));
    }
}

static void swap_neighbours(struct lks_memory_disk *disk)
{
    swap(disk, 7, 8, true);
}

static void swap_far(struct lks_memory_disk *disk)
{
    swap(disk, 7, 30, true);
}

static void swap_content(struct lks_memory_disk *disk)
{
    swap(disk, 7, 8, false);
}

static void cut_end(struct lks_memory_disk *disk)
{
    lks_memory_disk_drop(disk, lks_test_life_count);
    lks_memory_disk_drop(disk, lks_test_life_count - 1);
}

static void cut_beginning(struct lks_memory_disk *disk)
{
    lks_memory_disk_drop(disk, 1);
    lks_memory_disk_drop(disk, 2);
}

#define SWAP(a, b)                                                                                 \
    "UPDATE journal SET seq = 1000 WHERE seq = " #a "; UPDATE journal SET seq = " #a               \
    " WHERE seq = " #b "; UPDATE journal SET seq = " #b " WHERE seq = 1000"

static const struct {
    const char *name;
    void (*memory)(struct lks_memory_disk *disk);
    const char *sql;
    enum lks_fault fault;
    uint64_t at; /* 0: behind the last row but two */
    const char *text;
} damages[] = {
    {"a body edited", edit_body, "UPDATE journal SET body = zeroblob(length(body)) WHERE seq = 7",
     LKS_FAULT_EDITED, 7, "row 7 is not what was written"},
    {"a time edited", edit_time, "UPDATE journal SET time = time + 1 WHERE seq = 7",
     LKS_FAULT_EDITED, 7, "row 7 is not what was written"},
    {"a kind edited", edit_kind, "UPDATE journal SET kind = 14 WHERE seq = 7", LKS_FAULT_EDITED, 7,
     "row 7 is not what was written"},
    {"a hash edited", edit_hash, "UPDATE journal SET hash = zeroblob(32) WHERE seq = 7",
     LKS_FAULT_EDITED, 7, "row 7 is not what was written"},
    {"the last row edited", edit_last,
     "UPDATE journal SET version = 9 WHERE seq = (SELECT max(seq) FROM journal)", LKS_FAULT_EDITED,
     UINT64_MAX, "is not what was written"},
    {"a row dropped", drop_one, "DELETE FROM journal WHERE seq = 7", LKS_FAULT_DROPPED, 7,
     "row 7 is missing"},
    {"three rows dropped", drop_three, "DELETE FROM journal WHERE seq BETWEEN 7 AND 9",
     LKS_FAULT_DROPPED, 7, "rows 7 to 9 are missing"},
    {"neighbours swapped", swap_neighbours, SWAP(7, 8), LKS_FAULT_REORDERED, 7,
     "the content of row 7 is in row 8"},
    {"far rows swapped", swap_far, SWAP(7, 30), LKS_FAULT_REORDERED, 7,
     "the content of row 7 is in row 30"},
    {"contents swapped, hashes not", swap_content,
     "CREATE TEMP TABLE kept AS SELECT seq, hash FROM journal WHERE seq IN (7, 8); " SWAP(
         7, 8) "; UPDATE journal SET hash = (SELECT hash FROM kept WHERE kept.seq = journal.seq) "
               "WHERE seq IN (7, 8)",
     LKS_FAULT_REORDERED, 7, "the content of row 7 is in row 8"},
    {"the end cut off", cut_end,
     "DELETE FROM journal WHERE seq > (SELECT max(seq) - 2 FROM journal)", LKS_FAULT_TRUNCATED, 0,
     "the journal ends with row"},
    {"the beginning cut off", cut_beginning, "DELETE FROM journal WHERE seq < 3",
     LKS_FAULT_TRUNCATED, 1, "the journal starts with row 3"},
};

static uint64_t damaged_at(uint64_t at)
{
    if (at == UINT64_MAX)
        return lks_test_life_count;
    return at == 0 ? lks_test_life_count - 1 : at;
}

static void test_damage_is_found_and_told_apart(void)
{
    for (size_t i = 0; i < 2 * LKS_COUNT(damages); i++) {
        bool sqlite = i % 2 == 1;
        LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_lived(sqlite);
        LKS_CLEANUP(lks_state_fini) struct lks_state state = {0};
        struct lks_err err = {0};
        lks_test_case("%s, %s", damages[i / 2].name, w.store.ops->name);
        CHECK_INT(lks_test_world_verify(&w, NULL).fault, LKS_FAULT_NONE);
        if (sqlite)
            lks_test_world_tamper(&w, damages[i / 2].sql);
        else
            damages[i / 2].memory(w.disk);
        struct lks_verify found = lks_test_world_verify(&w, NULL);
        CHECK_STR(lks_str_from(lks_fault_words[found.fault]),
                  lks_fault_words[damages[i / 2].fault]);
        CHECK_INT(found.at, damaged_at(damages[i / 2].at));
        CHECK_HAS(lks_str_from(found.text), damages[i / 2].text);
        CHECK_CODE(lks_test_world_fold(&w, 0, &state, &err), LKS_E_INVALID);
        CHECK_HAS(lks_str_from(err.msg), lks_fault_words[found.fault]);
        CHECK_HAS(lks_str_from(err.msg), "lockstep journal verify");
        CHECK_HAS(lks_str_from(err.msg),
                  found.at > 1 ? "lockstep journal repair" : "`lockstep restore`");
        CHECK((lks_str_find(lks_str_from(err.msg), LKS_STR("repair")) >= 0) == (found.at > 1));
    }
}

/* Faults that someone makes who knows how ---------------------------------------------------- */

static void write_head(struct lks_test_world *w, uint64_t seq, const uint8_t *hash,
                       const struct lks_key *key)
{
    struct lks_err err = {0};
    struct lks_head head = {.seq = seq, .time = 5000};
    memcpy(head.journal, lks_test_life_journal, sizeof(head.journal));
    memcpy(head.hash, hash, sizeof(head.hash));
    CHECK_CODE(lks_chain_head_sign(key, &head, &err), LKS_OK);
    struct lks_store_batch batch = {.head = &head};
    CHECK_CODE(w->store.ops->append(w->store.self, &batch, &err), LKS_OK);
}

struct heads {
    struct lks_head items[64];
    size_t count;
};

static bool keep_head(void *ctx, const struct lks_head *head)
{
    struct heads *h = ctx;
    LKS_ASSERT(h->count < LKS_COUNT(h->items));
    h->items[h->count++] = *head;
    return true;
}

static struct heads heads_of(struct lks_test_world *w)
{
    struct heads h = {0};
    struct lks_err err = {0};
    CHECK_CODE(w->store.ops->heads(w->store.self, 0, keep_head, &h, &err), LKS_OK);
    return h;
}

/* The life with another seventh row, chained as if it had always been so. */
static struct lks_test_world world_rewritten(bool sqlite, const struct lks_key *key)
{
    struct lks_test_world w = lks_test_world_new(sqlite);
    lks_test_live(&w.store, 6, key);
    struct lks_record other = lks_test_life[6].record;
    other.fleet.name = LKS_STR("another");
    lks_test_append_record(&w.store, lks_test_life[6].time, &other, &lks_test_life_blobs[0], NULL);
    for (size_t i = 7; i < lks_test_life_count; i++)
        lks_test_append_record(&w.store, lks_test_life[i].time, &lks_test_life[i].record,
                               &lks_test_life_blobs[1],
                               (i + 1) % LKS_TEST_HEAD_EVERY == 0 ? key : NULL);
    return w;
}

/* Row 7 was rewritten and row 10 shows it: what lies between must not be signed by a repair. */
static void check_repair_signs_nothing_false(struct lks_test_world *w)
{
    struct lks_verify found = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_journal_repair(&w->store, &w->key, 30000, LKS_STR("unix:0"),
                                  LKS_STR("somebody was here"), &found, &err),
               LKS_OK);
    CHECK_INT(found.at, 6);
    found = lks_test_world_verify(w, NULL);
    CHECK_INT(found.fault, LKS_FAULT_NONE);
    CHECK_INT(found.last, 6); /* the record of the repair */
    CHECK_INT(found.signed_to, 6);
}

static void test_a_chain_that_was_rewritten(void)
{
    for (unsigned i = 0; i < 2; i++) {
        LKS_CLEANUP(lks_test_world_fini)
        struct lks_test_world honest = lks_test_world_lived(i == 1);
        struct heads witnessed = heads_of(&honest);
        struct lks_key key = lks_test_key(), other = lks_test_other_key();
        LKS_CLEANUP(lks_test_world_fini)
        struct lks_test_world unsigned_heads = world_rewritten(i == 1, NULL);
        LKS_CLEANUP(lks_test_world_fini)
        struct lks_test_world stolen_key = world_rewritten(i == 1, &key);
        LKS_CLEANUP(lks_test_world_fini)
        struct lks_test_world wrong_key = world_rewritten(i == 1, &other);

        lks_test_case("old heads, %s", honest.store.ops->name);
        write_head(&unsigned_heads, 5, witnessed.items[0].hash, &key);
        write_head(&unsigned_heads, 10, witnessed.items[1].hash, &key);
        struct lks_verify found = lks_test_world_verify(&unsigned_heads, NULL);
        CHECK_INT(found.fault, LKS_FAULT_REWRITTEN);
        CHECK_INT(found.at, 10);
        CHECK_HAS(lks_str_from(found.text), "rows up to 5 agree");
        CHECK_INT(found.signed_to, 5);
        check_repair_signs_nothing_false(&unsigned_heads);

        lks_test_case("the key was stolen, %s", honest.store.ops->name);
        CHECK_INT(lks_test_world_verify(&stolen_key, NULL).fault, LKS_FAULT_NONE);
        struct lks_verify_options options = {.witnesses = &witnessed.items[3], .witness_count = 1};
        found = lks_test_world_verify(&stolen_key, &options);
        CHECK_INT(found.fault, LKS_FAULT_REWRITTEN);
        CHECK_INT(found.at, 20);
        CHECK_HAS(lks_str_from(found.text), "witness");
        CHECK_INT(lks_test_world_verify(&honest, &options).fault, LKS_FAULT_NONE);
        CHECK_INT(lks_test_world_verify(&honest, &options).witnesses, 1);

        lks_test_case("another key, %s", honest.store.ops->name);
        found = lks_test_world_verify(&wrong_key, NULL);
        CHECK_INT(found.fault, LKS_FAULT_SIGNATURE);
        CHECK_INT(found.at, 5);
    }
}

/* A start looks for heads at the end first; one that is far from it still counts. */
static void test_a_head_that_is_far_from_the_end(void)
{
    LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_new(false);
    LKS_CLEANUP(lks_state_fini) struct lks_state good = {0}, bad = {0};
    struct lks_err err = {0};
    uint8_t other[LKS_HASH_BYTES] = {1};
    lks_test_live(&w.store, 5, &w.key);
    const struct lks_record *live = &lks_test_life[lks_test_life_count - 1].record;
    for (unsigned i = 0; i < LKS_WALK_RECENT + 10; i++)
        lks_test_append_record(&w.store, 22000, live, NULL, NULL);
    CHECK_CODE(lks_test_world_fold(&w, 0, &good, &err), LKS_OK);
    write_head(&w, 5, other, &w.key);
    CHECK_CODE(lks_test_world_fold(&w, 0, &bad, &err), LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "journal row 5 (rewritten)");
}

static void test_an_end_that_only_witnesses_know(void)
{
    for (unsigned i = 0; i < 2; i++) {
        LKS_CLEANUP(lks_test_world_fini) struct lks_test_world whole = lks_test_world_lived(i == 1);
        LKS_CLEANUP(lks_test_world_fini) struct lks_test_world shorter = lks_test_world_new(i == 1);
        lks_test_case("%s", whole.store.ops->name);
        lks_test_live(&shorter.store, 20, &shorter.key);
        struct heads witnessed = heads_of(&whole);
        struct lks_verify_options options = {.witnesses = &witnessed.items[witnessed.count - 1],
                                             .witness_count = 1};
        CHECK_INT(lks_test_world_verify(&shorter, NULL).fault, LKS_FAULT_NONE);
        struct lks_verify found = lks_test_world_verify(&shorter, &options);
        CHECK_INT(found.fault, LKS_FAULT_TRUNCATED);
        CHECK_INT(found.at, 21);
    }
}

static void test_a_witness_of_another_journal(void)
{
    LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_lived(false);
    struct heads witnessed = heads_of(&w);
    struct lks_err err = {0};
    memset(witnessed.items[2].journal, 'f', LKS_JOURNAL_ID_SIZE - 1);
    CHECK_CODE(lks_chain_head_sign(&w.key, &witnessed.items[2], &err), LKS_OK);
    struct lks_verify found = lks_test_world_verify(
        &w, &(struct lks_verify_options){.witnesses = &witnessed.items[2], .witness_count = 1});
    CHECK_INT(found.fault, LKS_FAULT_REWRITTEN);
    CHECK_HAS(lks_str_from(found.text), "another journal");
}

/* Whoever has the file and not the key can make a chain that is whole, and remove heads. */
static const struct {
    const char *name, *sql;
    bool record; /* then add a record that explains it, unsigned */
    enum lks_fault fault;
    uint64_t at;
} unsigned_acts[] = {
    {"all heads removed", "DELETE FROM head", false, LKS_FAULT_SIGNATURE, 1},
    {"the beginning removed up to a head",
     "DELETE FROM journal WHERE seq <= 20; UPDATE tail SET first = 21", false, LKS_FAULT_TRUNCATED,
     1},
    {"the same, with a record of a trim",
     "DELETE FROM journal WHERE seq <= 20; UPDATE tail SET first = 21", true, LKS_FAULT_TRUNCATED,
     1},
};

static void add_trim(struct lks_test_world *w, const struct lks_head *head,
                     const struct lks_key *key)
{
    static const char digits[] = "0123456789abcdef";
    char hex[2 * LKS_HASH_BYTES];
    for (size_t i = 0; i < LKS_HASH_BYTES; i++) {
        hex[2 * i] = digits[head->hash[i] >> 4];
        hex[2 * i + 1] = digits[head->hash[i] & 15];
    }
    struct lks_record trimmed = {.kind = LKS_RECORD_TRIMMED,
                                 .trimmed = {.through = head->seq, .hash = {hex, sizeof(hex)}}};
    lks_test_append_record(&w->store, 30000, &trimmed, NULL, key);
}

static void test_what_can_be_done_without_the_key(void)
{
    for (size_t i = 0; i < LKS_COUNT(unsigned_acts); i++) {
        LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_lived(true);
        lks_test_case("%s", unsigned_acts[i].name);
        struct heads heads = heads_of(&w);
        CHECK_INT(heads.items[3].seq, 20);
        lks_test_world_tamper(&w, unsigned_acts[i].sql);
        if (unsigned_acts[i].record)
            add_trim(&w, &heads.items[3], NULL);
        struct lks_verify found = lks_test_world_verify(&w, NULL);
        CHECK_STR(lks_str_from(lks_fault_words[found.fault]),
                  lks_fault_words[unsigned_acts[i].fault]);
        CHECK_INT(found.at, unsigned_acts[i].at);
        if (!unsigned_acts[i].record)
            continue;
        lks_test_case("%s that is signed", unsigned_acts[i].name);
        add_trim(&w, &heads.items[3], &w.key);
        found = lks_test_world_verify(&w, NULL);
        CHECK_INT(found.fault,
                  LKS_FAULT_SNAPSHOT); /* the chain is good, and no start is possible */
        CHECK_HAS(lks_str_from(found.text), "there is no snapshot that replaces them");
    }
}

static void test_a_repair_explains_witnesses_only_where_it_is_signed(void)
{
    LKS_CLEANUP(lks_test_world_fini) struct lks_test_world whole = lks_test_world_lived(false);
    struct heads witnessed = heads_of(&whole);
    struct lks_verify_options options = {.witnesses = &witnessed.items[6], .witness_count = 1};
    struct lks_record repaired = {.kind = LKS_RECORD_REPAIRED, .repaired = {.from = 21}};
    for (unsigned i = 0; i < 2; i++) {
        LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_new(false);
        lks_test_case(i == 0 ? "somebody else's" : "signed");
        lks_test_live(&w.store, 20, &w.key);
        lks_test_append_record(&w.store, 30000, &repaired, NULL, i == 0 ? NULL : &w.key);
        CHECK_INT(lks_test_world_verify(&w, NULL).fault, LKS_FAULT_NONE);
        CHECK_INT(lks_test_world_verify(&w, &options).fault,
                  i == 0 ? LKS_FAULT_TRUNCATED : LKS_FAULT_NONE);
    }
}

static const struct {
    const char *name;
    uint16_t kind;
    uint8_t version;
    struct lks_str body;
} unreadable[] = {
    {"a kind of the future", 999, 1, LKS_STR_C("")},
    {"a version of the future", LKS_RECORD_LIVENESS, 200, LKS_STR_C("\2n1\1")},
    {"bytes left over", LKS_RECORD_LIVENESS, 1, LKS_STR_C("\2n1\1\1")},
    {"bytes missing", LKS_RECORD_LIVENESS, 1, LKS_STR_C("\2n")},
};

static void test_rows_that_are_whole_and_cannot_be_read(void)
{
    for (size_t i = 0; i < 2 * LKS_COUNT(unreadable); i++) {
        LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_new(i % 2 == 1);
        lks_test_case("%s, %s", unreadable[i / 2].name, w.store.ops->name);
        lks_test_live(&w.store, 10, &w.key);
        struct lks_row row = {.time = 9000,
                              .kind = unreadable[i / 2].kind,
                              .version = unreadable[i / 2].version,
                              .body = unreadable[i / 2].body};
        lks_test_append(&w.store, row, NULL, &w.key);
        struct lks_verify found = lks_test_world_verify(&w, NULL);
        CHECK_INT(found.fault, LKS_FAULT_UNREADABLE);
        CHECK_INT(found.at, 11);
    }
}

static void test_bytes_that_rows_refer_to(void)
{
    for (unsigned i = 0; i < 2; i++) {
        LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_new(i == 1);
        lks_test_live(&w.store, 6, &w.key);
        lks_test_append_record(&w.store, 3000, &lks_test_life[6].record, NULL, &w.key);
        lks_test_case("missing, %s", w.store.ops->name);
        struct lks_verify found = lks_test_world_verify(&w, NULL);
        CHECK_INT(found.fault, LKS_FAULT_BLOB);
        CHECK_INT(found.at, 7);
        CHECK_HAS(lks_str_from(found.text), "not there");

        lks_test_case("different, %s", w.store.ops->name);
        struct lks_store_blob other = lks_test_life_blobs[0];
        struct lks_err err = {0};
        struct lks_store_batch batch = {.blobs = &other, .blob_count = 1};
        other.bytes = LKS_STR("another manifest");
        CHECK_CODE(w.store.ops->append(w.store.self, &batch, &err), LKS_OK);
        found = lks_test_world_verify(&w, NULL);
        CHECK_INT(found.fault, LKS_FAULT_BLOB);
        CHECK_INT(found.at, 7);
        CHECK_HAS(lks_str_from(found.text), "others");
    }
}

/* From the record `signed` on the last row has a head; before it, rows without one are counted. */
static void test_the_rule_holds_from_its_record_on(void)
{
    for (unsigned i = 0; i < 2; i++) {
        LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_new(i == 1);
        LKS_CLEANUP(lks_state_fini) struct lks_state before = {0}, after = {0};
        const struct lks_record *row = &lks_test_life[1].record;
        struct lks_record rule = {.kind = LKS_RECORD_SIGNED, .signing = {.from = 4, .earlier = 2}};
        struct lks_err err = {0};
        lks_test_case("%s", w.store.ops->name);
        lks_test_live(&w.store, 1, &w.key);
        lks_test_append_record(&w.store, 2000, row, NULL, NULL);
        lks_test_append_record(&w.store, 2000, row, NULL, NULL);
        struct lks_verify v = lks_test_world_verify(&w, NULL);
        CHECK(v.fault == LKS_FAULT_NONE && v.unsigned_rows == 2 && v.signed_from == 0);
        CHECK_CODE(lks_test_world_fold(&w, 0, &before, &err), LKS_OK);
        lks_test_append_record(&w.store, 2000, &rule, NULL, &w.key);
        v = lks_test_world_verify(&w, NULL);
        CHECK(v.fault == LKS_FAULT_NONE && v.unsigned_rows == 0);
        CHECK(v.signed_from == 4 && v.earlier_rows == 2);
        lks_test_append_record(&w.store, 2000, row, NULL, NULL);
        v = lks_test_world_verify(&w, NULL);
        CHECK(v.fault == LKS_FAULT_SIGNATURE && v.at == 5);
        CHECK_CODE(lks_test_world_fold(&w, 0, &after, &err), LKS_E_INVALID);
        CHECK_HAS(lks_str_from(err.msg), "row 5 has no signed head");
    }
}

/* An engine that leads on a journal from before writes that record, with how many rows no head
 * covered. */
static void test_an_engine_says_that_the_rule_holds(void)
{
    LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_new(false);
    LKS_CLEANUP(lks_engine_batch_fini) struct lks_engine_batch batch = {0};
    const struct lks_engine_options options = {
        .facts = lks_test_facts(), .key = &w.key, .version = "2", .seed = 1};
    const struct lks_now now = {.wall = 5000, .mono = 1};
    struct lks_engine *engine = NULL;
    struct lks_err err = {0};
    for (unsigned i = 0; i < 3; i++)
        lks_test_append_record(&w.store, 1000, &lks_test_life[i].record, NULL,
                               i == 0 ? &w.key : NULL);
    CHECK_CODE(lks_engine_open(&w.store, &options, now, &engine, &err), LKS_OK);
    CHECK(lks_engine_take(engine, now, &batch));
    CHECK_CODE(lks_engine_commit(&options, &w.store, &batch, &err), LKS_OK);
    lks_engine_free(engine);
    struct lks_verify v = lks_test_world_verify(&w, NULL);
    CHECK(v.fault == LKS_FAULT_NONE && v.unsigned_rows == 0);
    CHECK(v.signed_from == 4 && v.earlier_rows == 2);
}

static void test_a_pool_that_was_not_there_then(void)
{
    static const struct {
        const char *name, *pool, *says;
        lks_ms at;
    } rows[] = {
        {"misspelled", "trian", "the fleet had no pool 'trian' then; did you mean 'train'?", 19000},
        {"gone by then", "dev", "the fleet had no pool 'dev' then", 21000},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_lived(false);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(1 << 20);
        const struct lks_past past = {.at = rows[i].at, .pool = lks_str_from(rows[i].pool)};
        struct lks_err err = {0};
        lks_test_case("%s", rows[i].name);
        CHECK_CODE(lks_journal_past(&w.store, NULL, &past, &out, &err), LKS_E_NOT_FOUND);
        CHECK_STR(lks_str_from(err.msg), rows[i].says);
    }
}

static const struct lks_test tests[] = {
    {"journal: damage is found and told apart", test_damage_is_found_and_told_apart},
    {"journal: a chain that was rewritten", test_a_chain_that_was_rewritten},
    {"journal: a head that is far from the end", test_a_head_that_is_far_from_the_end},
    {"journal: an end that only witnesses know", test_an_end_that_only_witnesses_know},
    {"journal: a witness of another journal", test_a_witness_of_another_journal},
    {"journal: what can be done without the key", test_what_can_be_done_without_the_key},
    {"journal: a repair explains witnesses only where it is signed",
     test_a_repair_explains_witnesses_only_where_it_is_signed},
    {"journal: rows that are whole and cannot be read",
     test_rows_that_are_whole_and_cannot_be_read},
    {"journal: bytes that rows refer to", test_bytes_that_rows_refer_to},
    {"journal: a pool that was not there then", test_a_pool_that_was_not_there_then},
    {"journal: the rule holds from its record on", test_the_rule_holds_from_its_record_on},
    {"journal: an engine says that the rule holds", test_an_engine_says_that_the_rule_holds},
    {0},
};

int main(void)
{
    return lks_test_main(tests);
}
