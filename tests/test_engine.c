#include "core/entity/entity.h"
#include "core/registry/book.h"
#include "core/state/state.h"
#include "drivers/store/memory.h"
#include "engine/engine.h"
#include "engine/journal.h"
#include "model/manifest/fleet.h"
#include "model/manifest/fleet_gate.h"
#include "model/manifest/manifest.h"
#include "tests/facts.h"
#include "tests/journals.h"
#include "tests/manifests.h"
#include "tests/test.h"
#include "tests/tuples.h"

#include <inttypes.h>
#include <stdio.h>

#define WALL    UINT64_C(1794700000000)
#define JOURNAL "00112233445566778899aabbccddeeff"
#define BY      LKS_STR("user:kim")
#define REASON  LKS_STR("a test")

#define FLEET                                                                                      \
    "---\nlockstep: 1\nkind: Fleet\nname: %s\n"                                                    \
    "pools: {train: {posture: dev, stack: golden}}\n"                                              \
    "nodes: [{hosts: 'n[1-4]', pool: train, class: hgx-h200-8}]\n"

/* One disk, and the engine that has it. */
struct bench {
    struct lks_memory_disk *disk;
    struct lks_store store;
    struct lks_engine *engine;
    struct lks_engine_options options;
    struct lks_key key;
    struct lks_now now;
};

static enum lks_code start(struct bench *b, struct lks_err *err)
{
    enum lks_code code = lks_store_memory_open(b->disk, &b->store, err);
    LKS_ASSERT(code == LKS_OK);
    code = lks_engine_open(&b->store, &b->options, b->now, &b->engine, err);
    if (code != LKS_OK)
        lks_store_close(&b->store);
    return code;
}

static void stop(struct bench *b)
{
    lks_engine_free(b->engine);
    b->engine = NULL;
    lks_store_close(&b->store);
}

static void bench_init(struct bench *b)
{
    struct lks_err err = {0};
    *b = (struct bench){.disk = lks_memory_disk_new(), .key = lks_test_key()};
    b->now = (struct lks_now){.wall = WALL, .mono = 1000};
    b->options = (struct lks_engine_options){
        .facts = lks_test_facts(),
        .key = &b->key,
        .version = "1.2.3",
        .journal = JOURNAL,
        .seed = 1,
    };
    if (!CHECK_CODE(start(b, &err), LKS_OK))
        printf("%s\n", err.msg);
    LKS_ASSERT(b->engine != NULL);
}

static void bench_fini(struct bench *b)
{
    if (b->engine != NULL)
        stop(b);
    lks_memory_disk_free(b->disk);
}

/* What was decided; its refusal is the answer. */
static enum lks_code turn(struct bench *b, const struct lks_event *event,
                          const struct lks_store_blob *blob, uint64_t *needs, struct lks_err *err)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    uint64_t ignored = 0;
    lks_decision_init(&d);
    enum lks_code code =
        lks_engine_turn(b->engine, b->now, event, blob, &d, needs != NULL ? needs : &ignored, err);
    if (code == LKS_OK && d.refused.code != LKS_OK)
        *err = d.refused;
    return code == LKS_OK ? d.refused.code : code;
}

static void turn_ok(struct bench *b, const struct lks_event *event)
{
    struct lks_err err = {0};
    if (!CHECK_CODE(turn(b, event, NULL, NULL, &err), LKS_OK))
        printf("%s\n", err.msg);
}

static const struct lks_event started = {
    .kind = LKS_EVENT_STARTED,
    .started = {.version = LKS_STR_C("1.2.3"), .host = LKS_STR_C("control")},
};

static enum lks_code commit(struct bench *b, struct lks_err *err)
{
    LKS_CLEANUP(lks_engine_batch_fini) struct lks_engine_batch batch = {0};
    if (!lks_engine_take(b->engine, b->now, &batch))
        return LKS_OK;
    enum lks_code code = lks_engine_commit(&b->options, &b->store, &batch, err);
    if (code == LKS_OK)
        lks_engine_durable(b->engine, &batch);
    return code;
}

static void commit_ok(struct bench *b)
{
    struct lks_err err = {0};
    CHECK_CODE(commit(b, &err), LKS_OK);
}

static enum lks_code apply_fleet(struct bench *b, const char *name, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(1 << 20);
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest manifest = {0};
    struct lks_store_blob blob = {0};
    lks_buf_addf(&text, "%s" FLEET, lks_test_node_stack, name);
    blob.bytes = lks_buf_view(&text);
    CHECK_CODE(lks_digest_text(blob.bytes, blob.digest, err), LKS_OK);
    if (!CHECK_CODE(lks_manifest_parse("f", blob.bytes, lks_test_facts(), NULL, &manifest, err),
                    LKS_OK))
        printf("%s\n", err->msg);
    struct lks_event event = {
        .kind = LKS_EVENT_FLEET,
        .by = BY,
        .reason = REASON,
        .fleet = {.manifest = &manifest, .digest = lks_str_from(blob.digest), .accept = true},
    };
    return turn(b, &event, &blob, NULL, err);
}

static void fleet_ok(struct bench *b, const char *name)
{
    struct lks_err err = {0};
    if (!CHECK_CODE(apply_fleet(b, name, &err), LKS_OK))
        printf("%s\n", err.msg);
}

static void hold(struct bench *b, const char *node)
{
    struct lks_event event = {
        .kind = LKS_EVENT_HOLD, .by = BY, .reason = REASON, .name = lks_str_from(node)};
    turn_ok(b, &event);
}

/* The state of a new process on the same disk is the state that was lived. */
static void check_restart(struct bench *b)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state folded = {0};
    struct lks_store_tail tail = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_state_init(&folded, 9, &err), LKS_OK);
    CHECK_CODE(lks_journal_fold(&b->store, NULL, 0, &folded, &tail, &err), LKS_OK);
    if (!CHECK(lks_entity_equal(&folded, lks_engine_state(b->engine), &err)))
        printf("%s\n", err.msg);
}

/* Turns and commits -------------------------------------------------------------------------- */

static void test_an_answer_needs_its_rows_durable(void)
{
    LKS_CLEANUP(bench_fini) struct bench b = {0};
    struct lks_err err = {0};
    uint64_t needs = 0;
    bench_init(&b);
    CHECK_INT(lks_engine_seq(b.engine), 2); /* the journal has begun, and says that it is signed */
    CHECK_INT(lks_engine_durable_seq(b.engine), 0);
    CHECK_CODE(turn(&b, &started, NULL, &needs, &err), LKS_OK);
    CHECK_INT(needs, 3);
    CHECK_INT(lks_engine_durable_seq(b.engine), 0);
    commit_ok(&b);
    CHECK_INT(lks_engine_durable_seq(b.engine), 3);
    check_restart(&b);

    struct lks_event nobody = {
        .kind = LKS_EVENT_HOLD, .by = BY, .reason = REASON, .name = LKS_STR("n9")};
    CHECK_CODE(turn(&b, &nobody, NULL, &needs, &err), LKS_E_NOT_FOUND);
    CHECK_INT(needs, 3);
    turn_ok(&b, &started);
    CHECK_CODE(turn(&b, &nobody, NULL, &needs, &err), LKS_E_NOT_FOUND);
    CHECK_INT(needs, 4); /* the refusal may rest on the row that is not durable yet */
}

static void test_many_turns_are_one_batch(void)
{
    LKS_CLEANUP(bench_fini) struct bench b = {0};
    LKS_CLEANUP(lks_engine_batch_fini) struct lks_engine_batch batch = {0}, other = {0};
    struct lks_err err = {0};
    bench_init(&b);
    fleet_ok(&b, "one");
    hold(&b, "n1");
    hold(&b, "n2");
    uint64_t last = lks_engine_seq(b.engine);
    CHECK(lks_engine_take(b.engine, b.now, &batch));
    CHECK_INT(batch.last, last);
    CHECK_INT(batch.store.row_count, last);
    CHECK_INT(batch.store.blob_count, 1);

    /* While it is written, turns go on; the batch has its own bytes. */
    for (unsigned i = 0; i < 100; i++)
        hold(&b, i % 2 == 0 ? "n3" : "n4");
    CHECK(!lks_engine_take(b.engine, b.now, &other));
    CHECK_CODE(lks_engine_commit(&b.options, &b.store, &batch, &err), LKS_OK);
    lks_engine_durable(b.engine, &batch);
    CHECK_INT(lks_engine_durable_seq(b.engine), last);
    commit_ok(&b);
    CHECK_INT(lks_engine_durable_seq(b.engine), lks_engine_seq(b.engine));
    CHECK(!lks_engine_take(b.engine, b.now, &other));
    check_restart(&b);
}

static void test_trying_changes_nothing(void)
{
    LKS_CLEANUP(bench_fini) struct bench b = {0};
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    struct lks_err err = {0};
    bench_init(&b);
    lks_decision_init(&d);
    CHECK_CODE(lks_engine_try(b.engine, b.now, &started, &d, &err), LKS_OK);
    CHECK_INT(d.count, 1);
    CHECK_INT(lks_engine_seq(b.engine), 2);
}

static void test_a_full_disk_stalls_and_loses_nothing(void)
{
    LKS_CLEANUP(bench_fini) struct bench b = {0};
    LKS_CLEANUP(lks_engine_batch_fini) struct lks_engine_batch batch = {0};
    struct lks_err err = {0}, why = {0};
    bench_init(&b);
    fleet_ok(&b, "one");
    hold(&b, "n1");
    lks_memory_disk_fail(b.disk, LKS_MEMORY_FULL, 0);
    CHECK(lks_engine_take(b.engine, b.now, &batch));
    turn_ok(&b, &started); /* decided before anyone knew */
    CHECK_CODE(lks_engine_commit(&b.options, &b.store, &batch, &err), LKS_E_UNAVAILABLE);
    lks_engine_stall(b.engine, &err);
    CHECK(lks_engine_stalled(b.engine, &why));
    CHECK_HAS(lks_str_from(why.msg), "no space left");
    CHECK_CODE(turn(&b, &started, NULL, NULL, &err), LKS_E_UNAVAILABLE);
    CHECK_HAS(lks_str_from(err.msg), "the journal cannot be written");
    CHECK(lks_engine_next(b.engine) == UINT64_MAX);
    CHECK_CODE(lks_engine_commit(&b.options, &b.store, &batch, &err), LKS_E_UNAVAILABLE);

    lks_memory_disk_fail(b.disk, LKS_MEMORY_NO_CRASH, 0);
    CHECK_CODE(lks_engine_commit(&b.options, &b.store, &batch, &err), LKS_OK);
    lks_engine_durable(b.engine, &batch);
    CHECK(!lks_engine_stalled(b.engine, NULL));
    turn_ok(&b, &started);
    commit_ok(&b);
    CHECK_INT(lks_engine_durable_seq(b.engine), lks_engine_seq(b.engine));
    check_restart(&b);
}

/* Wherever it falls, a crash leaves all of a batch or nothing. */
static void test_a_crash_at_every_statement(void)
{
    static const enum lks_memory_crash ways[] = {LKS_MEMORY_CRASH_BEFORE, LKS_MEMORY_CRASH_AFTER};
    unsigned crashes = 0;
    for (uint64_t i = 0; i < 40; i++) {
        LKS_CLEANUP(bench_fini) struct bench b = {0};
        struct lks_err err = {0};
        enum lks_memory_crash how = ways[i % 2];
        lks_test_case("crash %s statement %" PRIu64, i % 2 == 0 ? "before" : "after", i / 2);
        bench_init(&b);
        commit_ok(&b);
        fleet_ok(&b, "one");
        hold(&b, "n1");
        uint64_t before = lks_engine_durable_seq(b.engine), last = lks_engine_seq(b.engine);
        lks_memory_disk_fail(b.disk, how, i / 2);
        enum lks_code code = commit(&b, &err);
        stop(&b);
        lks_memory_disk_fail(b.disk, LKS_MEMORY_NO_CRASH, 0);
        CHECK_CODE(start(&b, &err), LKS_OK);
        crashes += code == LKS_E_IO;
        bool all = code == LKS_OK || how == LKS_MEMORY_CRASH_AFTER;
        CHECK_INT(lks_engine_seq(b.engine), all ? last : before);
        CHECK((lks_engine_book(b.engine)->manifest != NULL) == all);
        fleet_ok(&b, "two");
        commit_ok(&b);
        check_restart(&b);
    }
    CHECK(crashes > 10 && crashes < 40);
}

static void test_too_much_waiting_is_refused(void)
{
    LKS_CLEANUP(bench_fini) struct bench b = {0};
    struct lks_err err = {0};
    bench_init(&b);
    while (lks_engine_seq(b.engine) < LKS_ENGINE_BATCH_ROWS_MAX)
        turn_ok(&b, &started);
    CHECK_CODE(turn(&b, &started, NULL, NULL, &err), LKS_E_UNAVAILABLE);
    CHECK_HAS(lks_str_from(err.msg), "try again");
    commit_ok(&b);
    turn_ok(&b, &started);
}

/* Signatures --------------------------------------------------------------------------------- */

static bool count_one(void *ctx, const struct lks_head *head)
{
    unsigned *count = ctx;
    (void)head;
    (*count)++;
    return true;
}

static unsigned count_heads(struct bench *b)
{
    struct lks_err err = {0};
    unsigned count = 0;
    CHECK_CODE(b->store.ops->heads(b->store.self, 1, count_one, &count, &err), LKS_OK);
    return count;
}

/* So many commits of one row, so far apart: each is signed, one head a second stays, and agents are
 * told those that stay. */
static void test_every_commit_is_signed_and_one_head_a_second_stays(void)
{
    static const struct {
        const char *name;
        unsigned commits;
        lks_ms apart;
        unsigned heads, told; /* beside that of the first commit */
    } cases[] = {
        {"all at once", 5, 0, 0, 0},
        {"within a second", 9, 100, 0, 0},
        {"across three seconds", 30, 100, 3, 3},
        {"a second apart", 4, 1000, 4, 4},
        {"minutes apart", 3, 60000, 3, 3},
    };
    for (size_t i = 0; i < LKS_COUNT(cases); i++) {
        LKS_CLEANUP(bench_fini) struct bench b = {0};
        struct lks_verify v = {0};
        struct lks_err err = {0};
        unsigned told = 0;
        lks_test_case("%s", cases[i].name);
        bench_init(&b);
        struct lks_public_key key = lks_key_public(&b.key);
        CHECK_INT(lks_engine_head(b.engine)->seq, 0);
        commit_ok(&b);
        for (unsigned n = 0; n < cases[i].commits; n++) {
            uint64_t before = lks_engine_told(b.engine)->seq;
            b.now.mono += cases[i].apart;
            turn_ok(&b, &started);
            commit_ok(&b);
            told += lks_engine_told(b.engine)->seq != before;
            CHECK_INT(lks_engine_head(b.engine)->seq, lks_engine_seq(b.engine));
            CHECK(lks_chain_head_verify(&key, lks_engine_head(b.engine)));
        }
        CHECK_INT(told, cases[i].told);
        CHECK_INT(count_heads(&b), cases[i].heads + 1);
        CHECK_CODE(
            lks_journal_verify(&b.store, &(struct lks_verify_options){.key = &key}, &v, &err),
            LKS_OK);
        CHECK_INT(v.fault, LKS_FAULT_NONE);
        CHECK_INT(v.unsigned_rows, 0);
        CHECK_INT(v.signed_from, 2);
    }
}

/* Agents are told the last head of a quiet night without another row, and what they were told is
 * not replaced. */
static void test_a_head_is_told_when_its_second_is_over(void)
{
    LKS_CLEANUP(bench_fini) struct bench b = {0};
    struct lks_event tick = {.kind = LKS_EVENT_TICK};
    struct lks_err err = {0};
    bench_init(&b);
    commit_ok(&b);
    CHECK_INT(lks_engine_told(b.engine)->seq, 0);
    CHECK_INT(lks_engine_next(b.engine), b.now.mono + LKS_ENGINE_HEAD_EVERY);
    b.now.mono += LKS_ENGINE_HEAD_EVERY;
    turn_ok(&b, &tick);
    CHECK_INT(lks_engine_told(b.engine)->seq, 2);
    CHECK(lks_engine_next(b.engine) == UINT64_MAX);
    turn_ok(&b, &started);
    commit_ok(&b);
    CHECK_INT(count_heads(&b), 2);
    stop(&b);
    CHECK_CODE(start(&b, &err), LKS_OK);
    CHECK_INT(lks_engine_told(b.engine)->seq, 3);
    turn_ok(&b, &started);
    commit_ok(&b);
    CHECK_INT(count_heads(&b), 3); /* a start replaces none, however soon it is */
}

/* A head whose second is over while a commit of that second is under way goes with that commit. */
static void test_a_head_that_is_being_replaced_is_not_told(void)
{
    LKS_CLEANUP(bench_fini) struct bench b = {0};
    LKS_CLEANUP(lks_engine_batch_fini) struct lks_engine_batch batch = {0};
    struct lks_event tick = {.kind = LKS_EVENT_TICK};
    struct lks_err err = {0};
    bench_init(&b);
    commit_ok(&b);
    turn_ok(&b, &started);
    CHECK(lks_engine_take(b.engine, b.now, &batch));
    CHECK_INT(batch.store.replaces, 2);
    b.now.mono += 2 * LKS_ENGINE_HEAD_EVERY;
    turn_ok(&b, &tick);
    CHECK_INT(lks_engine_told(b.engine)->seq, 0);
    CHECK_CODE(lks_engine_commit(&b.options, &b.store, &batch, &err), LKS_OK);
    lks_engine_durable(b.engine, &batch);
    turn_ok(&b, &tick);
    CHECK_INT(lks_engine_told(b.engine)->seq, 3);
    CHECK_INT(count_heads(&b), 1);
}

static void test_another_key_is_refused(void)
{
    LKS_CLEANUP(bench_fini) struct bench b = {0};
    struct lks_err err = {0};
    bench_init(&b);
    commit_ok(&b);
    stop(&b);
    b.key = lks_test_other_key();
    CHECK_CODE(start(&b, &err), LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "not signed with this key");
}

/* Time --------------------------------------------------------------------------------------- */

static void test_the_journals_clock(void)
{
    static const struct {
        const char *name;
        int64_t wall; /* against the first record */
        lks_ms mono, want;
    } steps[] = {
        {"as the wall's", 1000, 1000, 1000},
        {"the wall's jumps ahead", 500000, 2000, 500000},
        {"and back: it goes on from where it was", 3000, 10000, 507000},
        {"a little slower", 11000, 18000, 514000},
        {"until the wall's has caught up", 600000, 19000, 600000},
        {"and is followed again", 601000, 20000, 601000},
    };
    LKS_CLEANUP(bench_fini) struct bench b = {0};
    bench_init(&b);
    struct lks_now first = b.now;
    for (size_t i = 0; i < LKS_COUNT(steps); i++) {
        lks_test_case("%s", steps[i].name);
        b.now.wall = (lks_ms)((int64_t)first.wall + steps[i].wall);
        b.now.mono = first.mono + steps[i].mono;
        turn_ok(&b, &started);
        CHECK_INT(lks_engine_state(b.engine)->clock - first.wall, steps[i].want);
        CHECK_INT(lks_engine_now(b.engine, b.now).wall - first.wall, steps[i].want);
    }
    commit_ok(&b);
    check_restart(&b);
}

static void test_a_restart_behind_its_own_journal(void)
{
    LKS_CLEANUP(bench_fini) struct bench b = {0};
    struct lks_err err = {0};
    bench_init(&b);
    commit_ok(&b);
    stop(&b);
    b.now = (struct lks_now){.wall = WALL - 90000, .mono = 7}; /* another machine, another clock */
    CHECK_CODE(start(&b, &err), LKS_OK);
    turn_ok(&b, &started);
    CHECK_INT(lks_engine_state(b.engine)->clock, WALL);
    b.now.mono += 8000;
    turn_ok(&b, &started);
    CHECK_INT(lks_engine_state(b.engine)->clock, WALL + 7000);
}

/* Opening ------------------------------------------------------------------------------------ */

static void test_the_manifest_is_kept_in_step(void)
{
    LKS_CLEANUP(bench_fini) struct bench b = {0};
    struct lks_err err = {0};
    bench_init(&b);
    CHECK(lks_engine_book(b.engine)->manifest == NULL);
    fleet_ok(&b, "one");
    CHECK_STR(lks_engine_book(b.engine)->manifest->fleets[0].name, "one");
    fleet_ok(&b, "two");
    CHECK_STR(lks_engine_book(b.engine)->manifest->fleets[0].name, "two");
    commit_ok(&b);
    stop(&b);
    CHECK_CODE(start(&b, &err), LKS_OK);
    CHECK_STR(lks_engine_book(b.engine)->manifest->fleets[0].name, "two");
    check_restart(&b);
}

/* What was accepted once ---------------------------------------------------------------------- */

#define KEPT_HEAD                                                                                  \
    LKS_STACK("golden", "nvidia", "hgx-h200-8",                                                    \
              "  kernel: {version: '6.8.0-71-generic'}\n"                                          \
              "  driver: {version: '580.126.20', modules: open}\n"                                 \
              "  fabric-manager: {version: '580.126.20'}\n  cudnn: {version: '9.14.0'}\n"          \
              "  nccl: {version: '2.28.9'}\n  container-toolkit: {version: '1.19.1'}\n")
#define KEPT_FLEET                                                                                 \
    "---\nlockstep: 1\nkind: Fleet\nname: old\npools: {train: {posture: dev, stack: golden%s}}\n"  \
    "nodes: [{hosts: 'n[1-4]', pool: train, class: hgx-h200-8%s}]\n%s"

static const struct {
    const char *name;
    const char *stack;             /* behind the components that are pinned, */
    const char *pool, *node, *end; /* and in the fleet */
    const char *message;           /* that a new file of this sort gets */
} kept[] = {
    {"a pin that became required", "", "", "", "", "'cuda' is not pinned"},
    {"a name that became another's", "  cuda: {version: '13.0.2'}\n  libgdrapi: {version: '2.5'}\n",
     "", "", "", "this component is called 'gdrcopy' here"},
    {"a component that became firmware", "  cuda: {version: '13.0.2'}\n  bios: {version: '1.2'}\n",
     "", "", "", "is firmware"},
    {"a component of another vendor", "  cuda: {version: '13.0.2'}\n  rocm: {version: '7.0.0'}\n",
     "", "", "", "belongs to a stack of vendor"},
    {"a numbering that became another", "  cuda: {version: 'r13'}\n", "", "", "",
     "is not a whole version of cuda"},
    {"a window of what is not pinned",
     "  cuda: {version: '13.0.2'}\nwindows:\n  dcgm: '>=4.5.3 <4.7'\n", "", "", "",
     "a window is for a pinned component"},
    {"a window that it is not in", "  cuda: {version: '13.0.2'}\nwindows:\n  cuda: '>=14 <15'\n",
     "", "", "", "lies outside its own window"},
    {"hosts behind one address", "  cuda: {version: '13.0.2'}\n", "",
     ", bmc: {url: 'https://bmc', credentials: 'file:/c'}", "", "4 hosts share this address"},
    {"days of a pool that is gone", "  cuda: {version: '13.0.2'}\n", "", "",
     "freezes: [{from: '2026-12-24', until: '2027-01-02', pools: [gone]}]\n",
     "there is no pool 'gone'"},
    {"an outage that ends before it begins", "  cuda: {version: '13.0.2'}\n", "", "",
     "outages: [{hosts: n1, from: '2026-11-16T00:00:00Z', until: '2026-11-15T00:00:00Z'}]\n",
     "it ends before it starts"},
    {"events that agents do not tell", "  cuda: {version: '13.0.2'}\n",
     ", gate: {metrics: {smoke: {query: smoke, kind: hard, better: lower, from: agent}}}", "", "",
     "agents tell of two sorts of events"},
    {"a preset that is gone", "  cuda: {version: '13.0.2'}\n",
     ", gate: {metrics: {smoke: {margin: 1, better: lower}}}", "", "", "no preset 'smoke'"},
    {"a preset that is gone, and all that it said", "  cuda: {version: '13.0.2'}\n",
     ", gate: {metrics: {smoke: {}}}", "", "", "no preset 'smoke'"},
};

static void apply_kept(struct bench *b, struct lks_str text)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest manifest = {0};
    struct lks_store_blob blob = {.bytes = text};
    struct lks_err err = {0};
    CHECK_CODE(lks_digest_text(text, blob.digest, &err), LKS_OK);
    CHECK_CODE(lks_manifest_parse_kept("f", text, lks_test_facts(), &manifest, &err), LKS_OK);
    struct lks_event event = {
        .kind = LKS_EVENT_FLEET,
        .by = BY,
        .reason = REASON,
        .fleet = {.manifest = &manifest,
                  .give = &manifest,
                  .digest = lks_str_from(blob.digest),
                  .accept = true},
    };
    CHECK_CODE(turn(b, &event, &blob, NULL, &err), LKS_OK);
    CHECK_STR(lks_str_from(err.msg), "");
}

/* A journal of a time when a rule was not there: who starts on it starts, and who comes with the
 * same file anew is told. */
static void test_what_was_accepted_is_not_judged_again(void)
{
    for (size_t i = 0; i < LKS_COUNT(kept); i++) {
        LKS_CLEANUP(bench_fini) struct bench b = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(1 << 20);
        LKS_CLEANUP(lks_manifest_fini) struct lks_manifest ignored = {0};
        struct lks_err err = {0}, why = {0};
        lks_test_case("%s", kept[i].name);
        bench_init(&b);
        lks_buf_addf(&text, KEPT_HEAD "%s" KEPT_FLEET, kept[i].stack, kept[i].pool, kept[i].node,
                     kept[i].end);
        CHECK_CODE(
            lks_manifest_parse("f", lks_buf_view(&text), lks_test_facts(), NULL, &ignored, &why),
            LKS_E_INVALID);
        CHECK_HAS(lks_str_from(why.msg), kept[i].message);
        apply_kept(&b, lks_buf_view(&text));
        commit_ok(&b);
        stop(&b);
        CHECK_CODE(start(&b, &err), LKS_OK);
        CHECK_STR(lks_str_from(err.msg), "");
        if (b.engine == NULL || !CHECK(lks_engine_book(b.engine)->manifest != NULL))
            continue;
        const struct lks_fleet *fleet = &lks_engine_book(b.engine)->manifest->fleets[0];
        const struct lks_pool_gate_wish *gate = fleet->pools[0].gate;
        CHECK_STR(fleet->name, "old");
        lks_test_case("%s: a gate that cannot be asked does not pass in silence", kept[i].name);
        CHECK(gate == NULL || gate->metrics[0].critical);
        CHECK(gate == NULL || gate->metrics[0].kind != LKS_METRIC_MEAN ||
              gate->metrics[0].margin > 0);
    }
}

/* Published from a file of its own; what became of it is its digest. */
static void publish_ok(struct bench *b, char digest[LKS_DIGEST_SIZE])
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest manifest = {0};
    struct lks_store_blob blob = {.bytes = lks_str_from(lks_test_node_stack)};
    struct lks_err err = {0};
    CHECK_CODE(lks_digest_text(blob.bytes, blob.digest, &err), LKS_OK);
    CHECK_CODE(lks_manifest_parse("s", blob.bytes, lks_test_facts(), NULL, &manifest, &err),
               LKS_OK);
    struct lks_event event = {
        .kind = LKS_EVENT_PUBLISH,
        .by = BY,
        .publish = {.stack = &manifest.stacks[0], .manifest = lks_str_from(blob.digest)},
    };
    memcpy(digest, manifest.stacks[0].digest, LKS_DIGEST_SIZE);
    CHECK_CODE(turn(b, &event, &blob, NULL, &err), LKS_OK);
}

static bool has_stack(const struct bench *b, const char *digest)
{
    return lks_book_stack(lks_engine_book(b->engine), lks_str_from(digest)) != NULL;
}

/* Published stacks are at hand at once, after a restart, and until they are retired and unused. */
static void test_published_stacks_are_at_hand(void)
{
    LKS_CLEANUP(bench_fini) struct bench b = {0};
    struct lks_err err = {0};
    char digest[LKS_DIGEST_SIZE];
    bench_init(&b);
    publish_ok(&b, digest);
    CHECK(has_stack(&b, digest));
    publish_ok(&b, digest); /* the same again */
    commit_ok(&b);
    stop(&b);
    CHECK_CODE(start(&b, &err), LKS_OK);
    CHECK(has_stack(&b, digest));
    struct lks_event retire = {
        .kind = LKS_EVENT_STEP,
        .by = BY,
        .step = {.digest = lks_str_from(digest), .to = LKS_STEP_RETIRED, .evidence = REASON},
    };
    turn_ok(&b, &retire);
    CHECK(has_stack(&b, digest)); /* others may point to it until the end of the process */
    commit_ok(&b);
    stop(&b);
    CHECK_CODE(start(&b, &err), LKS_OK);
    CHECK(!has_stack(&b, digest));
    check_restart(&b);
}

static bool keep_none(void *ctx, const char *digest)
{
    (void)ctx;
    (void)digest;
    return false;
}

static void test_stores_that_are_refused(void)
{
    LKS_CLEANUP(bench_fini) struct bench b = {0};
    struct lks_err err = {0};
    bench_init(&b);
    fleet_ok(&b, "one");
    commit_ok(&b);
    stop(&b);

    lks_test_case("a row that was edited");
    lks_memory_disk_row(b.disk, 2)->time++;
    CHECK_CODE(start(&b, &err), LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "journal row 2 (edited)");
    CHECK_HAS(lks_str_from(err.msg), "lockstep journal repair");
    lks_memory_disk_row(b.disk, 2)->time--;
    CHECK_CODE(start(&b, &err), LKS_OK);

    lks_test_case("no manifest");
    CHECK_CODE(b.store.ops->trim(b.store.self, 0, keep_none, NULL, &err), LKS_OK);
    stop(&b);
    CHECK_CODE(start(&b, &err), LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "the fleet's manifest sha256:");
    CHECK_HAS(lks_str_from(err.msg), "restore a backup");

    lks_test_case("an empty one without a name for it");
    lks_memory_disk_free(b.disk);
    b.disk = lks_memory_disk_new();
    b.options.journal[0] = '\0';
    CHECK_CODE(start(&b, &err), LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "32 hexadecimal digits");
}

static void test_a_snapshot_shortens_the_start(void)
{
    LKS_CLEANUP(bench_fini) struct bench b = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(1 << 20);
    struct lks_err err = {0};
    uint64_t seq = 0;
    bench_init(&b);
    fleet_ok(&b, "one");
    hold(&b, "n1");
    commit_ok(&b);
    CHECK_CODE(lks_engine_snapshot(b.engine, &bytes, &seq, &err), LKS_OK);
    CHECK_INT(seq, lks_engine_seq(b.engine));
    CHECK_CODE(b.store.ops->snapshot_put(b.store.self, seq, lks_buf_view(&bytes), &err), LKS_OK);
    hold(&b, "n2");
    commit_ok(&b);
    uint64_t last = lks_engine_seq(b.engine);
    stop(&b);
    lks_memory_disk_row(b.disk, 2)->time++; /* behind it nothing is read */
    CHECK_CODE(start(&b, &err), LKS_OK);
    CHECK_INT(lks_engine_seq(b.engine), last);
    const struct lks_state *state = lks_engine_state(b.engine);
    CHECK(state->nodes[lks_state_node(state, LKS_STR("n1"))].held);
    CHECK(state->nodes[lks_state_node(state, LKS_STR("n2"))].held);
}

/* Heartbeats --------------------------------------------------------------------------------- */

static void test_only_news_makes_rows(void)
{
    LKS_CLEANUP(bench_fini) struct bench b = {0};
    struct lks_err err = {0};
    bench_init(&b);
    fleet_ok(&b, "one");
    uint32_t node = lks_state_node(lks_engine_state(b.engine), LKS_STR("n1"));
    struct lks_beat beat = {.protocol = 1, .boot = {1}, .seq = 1, .sent = b.now.wall};
    uint64_t seq = lks_engine_seq(b.engine);
    CHECK_CODE(lks_engine_hear(b.engine, b.now, node, &beat, &err), LKS_OK);
    CHECK(lks_engine_seq(b.engine) > seq);
    CHECK_INT(lks_engine_state(b.engine)->nodes[node].liveness, LKS_LIVE);
    seq = lks_engine_seq(b.engine);
    for (beat.seq = 2; beat.seq < 50; beat.seq++) {
        b.now.mono += 10000;
        b.now.wall += 10000;
        beat.sent = b.now.wall;
        CHECK_CODE(lks_engine_hear(b.engine, b.now, node, &beat, &err), LKS_OK);
    }
    CHECK_INT(lks_engine_seq(b.engine), seq);

    b.now.mono += 30000;
    CHECK(lks_engine_next(b.engine) <= b.now.mono);
    turn_ok(&b, &(struct lks_event){.kind = LKS_EVENT_TICK});
    CHECK_INT(lks_engine_state(b.engine)->nodes[node].liveness, LKS_LATE);
    commit_ok(&b);
    check_restart(&b);
}

/* A clock that was set back is the controller's fault, not the node's. */
static void test_skew_is_told_from_the_wall(void)
{
    LKS_CLEANUP(bench_fini) struct bench b = {0};
    struct lks_err err = {0};
    bench_init(&b);
    fleet_ok(&b, "one");
    uint32_t node = lks_state_node(lks_engine_state(b.engine), LKS_STR("n1"));
    b.now.wall -= 600000;
    struct lks_beat beat = {.protocol = 1, .boot = {1}, .seq = 1, .sent = b.now.wall};
    CHECK_CODE(lks_engine_hear(b.engine, b.now, node, &beat, &err), LKS_OK);
    CHECK_INT(lks_engine_state(b.engine)->pulses[node].skew, 0);
}

static const struct lks_test tests[] = {
    {"engine: an answer needs its rows durable", test_an_answer_needs_its_rows_durable},
    {"engine: many turns are one batch", test_many_turns_are_one_batch},
    {"engine: trying changes nothing", test_trying_changes_nothing},
    {"engine: a full disk stalls and loses nothing", test_a_full_disk_stalls_and_loses_nothing},
    {"engine: a crash at every statement", test_a_crash_at_every_statement},
    {"engine: too much waiting is refused", test_too_much_waiting_is_refused},
    {"engine: every commit is signed, and one head a second stays",
     test_every_commit_is_signed_and_one_head_a_second_stays},
    {"engine: a head is told when its second is over", test_a_head_is_told_when_its_second_is_over},
    {"engine: a head that is being replaced is not told",
     test_a_head_that_is_being_replaced_is_not_told},
    {"engine: another key is refused", test_another_key_is_refused},
    {"engine: the journal's clock", test_the_journals_clock},
    {"engine: a restart behind its own journal", test_a_restart_behind_its_own_journal},
    {"engine: the manifest is kept in step", test_the_manifest_is_kept_in_step},
    {"engine: what was accepted once is not judged again",
     test_what_was_accepted_is_not_judged_again},
    {"engine: published stacks are at hand", test_published_stacks_are_at_hand},
    {"engine: stores that are refused", test_stores_that_are_refused},
    {"engine: a snapshot shortens the start", test_a_snapshot_shortens_the_start},
    {"engine: only news makes rows", test_only_news_makes_rows},
    {"engine: skew is told from the wall", test_skew_is_told_from_the_wall},
    {0},
};

int main(void)
{
    return lks_test_main(tests);
}
