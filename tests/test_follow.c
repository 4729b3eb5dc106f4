/* One leads, others follow: what they take over, what they refuse, and how the lead moves. */
#include "core/entity/entity.h"
#include "core/registry/book.h"
#include "core/state/barred.h"
#include "core/state/state.h"
#include "drivers/store/memory.h"
#include "engine/engine_parts.h"
#include "engine/journal.h"
#include "model/manifest/manifest.h"
#include "tests/facts.h"
#include "tests/journals.h"
#include "tests/test.h"
#include "tests/tuples.h"

#include <inttypes.h>
#include <stdio.h>

#define WALL    UINT64_C(1794700000000)
#define JOURNAL "00112233445566778899aabbccddeeff"
#define BY      LKS_STR("user:kim")
#define REASON  LKS_STR("a test")
#define TTL     ((lks_ms)6 * LKS_SECOND)

#define FLEET                                                                                      \
    "---\nlockstep: 1\nkind: Fleet\nname: %s\n"                                                    \
    "pools: {train: {posture: dev, stack: golden}}\n"                                              \
    "nodes: [{hosts: 'n[1-4]', pool: train, class: hgx-h200-8}]\n"

/* A controller: its view of the store, its engine, and how far it has read. */
struct controller {
    const char *name;
    struct lks_store store;
    struct lks_engine *engine;
    struct lks_engine_options options;
    struct lks_engine_place place;
};

struct bench {
    struct lks_memory_disk *disk;
    struct lks_key key;
    struct lks_now now;
    struct controller a, b;
};

static enum lks_code turn(struct bench *t, struct controller *c, const struct lks_event *event,
                          const struct lks_store_blob *blob, struct lks_err *err)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    uint64_t needs = 0;
    lks_decision_init(&d);
    enum lks_code code = lks_engine_turn(c->engine, t->now, event, blob, &d, &needs, err);
    if (code == LKS_OK && d.refused.code != LKS_OK)
        *err = d.refused;
    return code == LKS_OK ? d.refused.code : code;
}

static enum lks_code commit(struct bench *t, struct controller *c, struct lks_err *err)
{
    LKS_CLEANUP(lks_engine_batch_fini) struct lks_engine_batch batch = {0};
    if (!lks_engine_take(c->engine, t->now, &batch))
        return LKS_OK;
    enum lks_code code = lks_engine_commit(&c->options, &c->store, &batch, err);
    if (code == LKS_OK)
        lks_engine_durable(c->engine, &batch);
    return code;
}

static void commit_ok(struct bench *t, struct controller *c)
{
    struct lks_err err = {0};
    if (!CHECK_CODE(commit(t, c, &err), LKS_OK))
        printf("%s\n", err.msg);
}

static struct lks_engine_options options_of(const struct bench *t, bool follow)
{
    return (struct lks_engine_options){
        .facts = lks_test_facts(),
        .key = &t->key,
        .version = "1.2.3",
        .journal = JOURNAL,
        .seed = 1,
        .follow = follow,
    };
}

/* A store that `lockstepd init` prepared. */
static void begin_journal(struct bench *t)
{
    struct controller init = {.options = options_of(t, false)};
    struct lks_err err = {0};
    CHECK_CODE(lks_store_memory_open(t->disk, &init.store, &err), LKS_OK);
    CHECK_CODE(lks_engine_open(&init.store, &init.options, t->now, &init.engine, &err), LKS_OK);
    commit_ok(t, &init);
    lks_engine_free(init.engine);
    lks_store_close(&init.store);
}

static void open_controller(struct bench *t, struct controller *c, const char *name)
{
    struct lks_err err = {0};
    *c = (struct controller){.name = name, .options = options_of(t, true)};
    CHECK_CODE(lks_store_memory_share(t->disk, &c->store, &err), LKS_OK);
    if (!CHECK_CODE(lks_engine_open(&c->store, &c->options, t->now, &c->engine, &err), LKS_OK))
        printf("%s\n", err.msg);
    LKS_ASSERT(c->engine != NULL);
    c->place = lks_engine_place(c->engine);
}

static void close_controller(struct controller *c)
{
    lks_engine_free(c->engine);
    c->engine = NULL;
    lks_store_close(&c->store);
}

static void bench_init(struct bench *t)
{
    *t = (struct bench){.disk = lks_memory_disk_new(), .key = lks_test_key()};
    t->now = (struct lks_now){.wall = WALL, .mono = 1000};
    lks_memory_disk_clock(t->disk, t->now.mono);
    begin_journal(t);
    open_controller(t, &t->a, "a");
    open_controller(t, &t->b, "b");
}

static void bench_fini(struct bench *t)
{
    close_controller(&t->a);
    close_controller(&t->b);
    lks_memory_disk_free(t->disk);
}

static void pass(struct bench *t, lks_ms time)
{
    t->now.wall += time;
    t->now.mono += time;
    lks_memory_disk_clock(t->disk, t->now.mono);
}

/* Read and follow once; how many rows came. */
static enum lks_code follow(struct bench *t, struct controller *c, size_t *rows, bool *more,
                            struct lks_err *err)
{
    LKS_CLEANUP(lks_engine_news_fini) struct lks_engine_news news = {0};
    enum lks_code code = lks_engine_look(&c->options, &c->store, &c->place, &news, err);
    if (code == LKS_OK) {
        *rows = news.batch.store.row_count;
        *more = news.more;
        code = lks_engine_follow(c->engine, t->now, &news, err);
    }
    return code;
}

static size_t follow_all(struct bench *t, struct controller *c)
{
    struct lks_err err = {0};
    size_t rows = 0, all = 0;
    for (bool more = true; more; all += rows) {
        if (!CHECK_CODE(follow(t, c, &rows, &more, &err), LKS_OK)) {
            printf("%s\n", err.msg);
            break;
        }
    }
    return all;
}

/* What a controller does that would lead: the lease, what is left to read, and the first record. */
static bool lead(struct bench *t, struct controller *c)
{
    struct lks_store_lease lease = {0};
    struct lks_err err = {0};
    CHECK_CODE(c->store.ops->lead(c->store.self, c->name, "https://c:7443", TTL, &lease, &err),
               LKS_OK);
    if (strcmp(lease.name, c->name) != 0)
        return false;
    if (!lks_engine_follows(c->engine))
        return true;
    follow_all(t, c);
    if (!CHECK_CODE(lks_engine_lead(c->engine, t->now, lease.epoch, lks_str_from(c->name),
                                    LKS_STR("https://c:7443"), &err),
                    LKS_OK))
        printf("%s\n", err.msg);
    return true;
}

static enum lks_code apply_fleet(struct bench *t, struct controller *c, const char *name)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(1 << 20);
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest manifest = {0};
    struct lks_store_blob blob = {0};
    struct lks_err err = {0};
    lks_buf_addf(&text, "%s" FLEET, lks_test_node_stack, name);
    blob.bytes = lks_buf_view(&text);
    CHECK_CODE(lks_digest_text(blob.bytes, blob.digest, &err), LKS_OK);
    CHECK_CODE(lks_manifest_parse("f", blob.bytes, lks_test_facts(), NULL, &manifest, &err),
               LKS_OK);
    struct lks_event event = {
        .kind = LKS_EVENT_FLEET,
        .by = BY,
        .reason = REASON,
        .fleet = {.manifest = &manifest, .digest = lks_str_from(blob.digest), .accept = true},
    };
    enum lks_code code = turn(t, c, &event, &blob, &err);
    if (code != LKS_OK)
        printf("%s\n", err.msg);
    return code;
}

static const struct lks_event started = {
    .kind = LKS_EVENT_STARTED,
    .started = {.version = LKS_STR_C("1.2.3"), .host = LKS_STR_C("control")},
};

static enum lks_code hold(struct bench *t, struct controller *c, const char *node)
{
    struct lks_err err = {0};
    struct lks_event event = {
        .kind = LKS_EVENT_HOLD, .by = BY, .reason = REASON, .name = lks_str_from(node)};
    return turn(t, c, &event, NULL, &err);
}

static void check_same(const struct bench *t)
{
    struct lks_err why = {0};
    if (!CHECK(
            lks_entity_equal(lks_engine_state(t->a.engine), lks_engine_state(t->b.engine), &why)))
        printf("%s\n", why.msg);
}

static void check_chain(struct bench *t)
{
    struct lks_public_key key = lks_key_public(&t->key);
    struct lks_verify_options options = {.key = &key};
    struct lks_verify found = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_journal_verify(&t->a.store, &options, &found, &err), LKS_OK);
    if (!CHECK_INT(found.fault, LKS_FAULT_NONE))
        printf("%s\n", found.text);
}

/* A leads, and has a fleet. */
static void begin(struct bench *t)
{
    bench_init(t);
    CHECK(lead(t, &t->a));
    CHECK_CODE(apply_fleet(t, &t->a, "one"), LKS_OK);
    commit_ok(t, &t->a);
}

/* Following ----------------------------------------------------------------------------------- */

#define CERTIFICATE "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* A certificate of a machine that was replaced stays out on every controller, and on one that takes
 * over from a snapshot. */
static void test_a_follower_bars_what_the_leader_bars(void)
{
    LKS_CLEANUP(bench_fini) struct bench t = {0};
    begin(&t);
    struct lks_err err = {0};
    lks_ms later = t.now.wall + 3600 * LKS_SECOND;
    const struct lks_event events[] = {
        {.kind = LKS_EVENT_TOKEN,
         .by = BY,
         .name = LKS_STR("n2"),
         .token = {.hash = LKS_STR(CERTIFICATE), .expires = later}},
        {.kind = LKS_EVENT_ENROLL,
         .name = LKS_STR("n2"),
         .certificate = {.token_hash = LKS_STR(CERTIFICATE),
                         .fingerprint = LKS_STR(CERTIFICATE),
                         .expires = later}},
        {.kind = LKS_EVENT_REPLACE, .by = BY, .name = LKS_STR("n2"), .reason = REASON},
    };
    for (size_t i = 0; i < LKS_COUNT(events); i++)
        if (!CHECK_CODE(turn(&t, &t.a, &events[i], NULL, &err), LKS_OK))
            printf("%s\n", err.msg);
    commit_ok(&t, &t.a);
    CHECK(follow_all(&t, &t.b) > 0);
    check_same(&t);
    const struct lks_state *s = lks_engine_state(t.b.engine);
    uint32_t node = lks_state_node(s, LKS_STR("n2"));
    CHECK(lks_barred_is(s, node, LKS_STR(CERTIFICATE)));
    CHECK(!lks_barred_is(s, lks_state_node(s, LKS_STR("n1")), LKS_STR(CERTIFICATE)));
}

static void test_a_follower_knows_what_the_leader_wrote(void)
{
    LKS_CLEANUP(bench_fini) struct bench t = {0};
    begin(&t);
    CHECK(follow_all(&t, &t.b) > 0);
    check_same(&t);
    const struct lks_state *s = lks_engine_state(t.b.engine);
    CHECK_INT(s->epoch, 1);
    CHECK_STR(lks_state_text(s, s->leader), "a");
    CHECK_STR(lks_state_text(s, s->leader_url), "https://c:7443");
    CHECK(lks_engine_book(t.b.engine)->manifest != NULL);
    CHECK_INT(lks_engine_head(t.b.engine)->seq, lks_engine_seq(t.a.engine));
    CHECK_INT(lks_engine_durable_seq(t.b.engine), lks_engine_seq(t.a.engine));

    CHECK_INT(follow_all(&t, &t.b), 0);
    CHECK_CODE(hold(&t, &t.a, "n2"), LKS_OK);
    CHECK_INT(follow_all(&t, &t.b), 0); /* it is not durable yet */
    commit_ok(&t, &t.a);
    CHECK_INT(follow_all(&t, &t.b), 1);
    check_same(&t);
}

/* The leader goes on while another controller starts: between any two looks at the store. */
static struct {
    struct lks_store_ops inner, ops;
    struct bench *bench;
    unsigned tails, rows; /* looks, before which it writes; counted down */
} race;

static void race_on(unsigned *left)
{
    if (*left == 0 || --*left > 0)
        return;
    CHECK_CODE(hold(race.bench, &race.bench->a, left == &race.rows ? "n1" : "n2"), LKS_OK);
    commit_ok(race.bench, &race.bench->a);
}

static enum lks_code race_tail(void *self, struct lks_store_tail *out, struct lks_err *err)
{
    enum lks_code code = race.inner.tail(self, out, err);
    race_on(&race.tails);
    return code;
}

static enum lks_code race_rows(void *self, uint64_t from, lks_store_row_fn *fn, void *ctx,
                               struct lks_err *err)
{
    enum lks_code code = race.inner.rows(self, from, fn, ctx, err);
    race_on(&race.rows);
    return code;
}

static void test_a_start_while_another_leads(void)
{
    static const struct {
        const char *name;
        unsigned tails, rows;
    } cases[] = {
        {"behind the look for the end", 1, 0},
        {"behind the rows", 0, 1},
        {"behind both", 1, 1},
    };
    for (size_t i = 0; i < LKS_COUNT(cases); i++) {
        LKS_CLEANUP(bench_fini) struct bench t = {0};
        struct controller late = {.name = "late"};
        struct lks_err err = {0};
        lks_test_case("%s", cases[i].name);
        begin(&t);
        late.options = options_of(&t, true);
        CHECK_CODE(lks_store_memory_share(t.disk, &late.store, &err), LKS_OK);
        race.inner = race.ops = *late.store.ops;
        race.ops.tail = race_tail;
        race.ops.rows = race_rows;
        race.bench = &t;
        race.tails = cases[i].tails;
        race.rows = cases[i].rows;
        late.store.ops = &race.ops;
        CHECK_CODE(lks_engine_open(&late.store, &late.options, t.now, &late.engine, &err), LKS_OK);
        CHECK_STR(lks_str_from(err.msg), "");
        if (late.engine != NULL) {
            late.place = lks_engine_place(late.engine);
            CHECK(late.place.head <= late.place.seq);
            follow_all(&t, &late);
            CHECK_INT(lks_engine_seq(late.engine), lks_engine_seq(t.a.engine));
        }
        close_controller(&late);
    }
}

/* A row that is chained as it should be, and has no head: as a person writes it who has no key. */
static void append_forged(struct bench *t)
{
    LKS_CLEANUP(lks_engine_batch_fini) struct lks_engine_batch batch = {0};
    struct lks_err err = {0};
    CHECK_CODE(turn(t, &t->a, &started, NULL, &err), LKS_OK);
    CHECK(lks_engine_take(t->a.engine, t->now, &batch));
    batch.sign = false;
    CHECK_CODE(lks_engine_commit(&t->a.options, &t->a.store, &batch, &err), LKS_OK);
}

static struct lks_head forged;

static enum lks_code heads_forged(void *self, uint64_t from, lks_store_head_fn *fn, void *ctx,
                                  struct lks_err *err)
{
    (void)self, (void)from, (void)err;
    (void)fn(ctx, &forged);
    return LKS_OK;
}

static enum lks_code no_tail(void *self, struct lks_store_tail *out, struct lks_err *err)
{
    (void)self, (void)out;
    return lks_fail(err, LKS_E_UNAVAILABLE, "no answer");
}

static void test_rows_without_a_head_are_not_followed(void)
{
    LKS_CLEANUP(bench_fini) struct bench t = {0};
    struct controller late = {.name = "late"};
    struct lks_err err = {0};
    size_t rows = 0;
    bool more = false;
    begin(&t);
    follow_all(&t, &t.b);
    append_forged(&t);
    uint64_t seq = lks_engine_seq(t.b.engine);
    CHECK_CODE(follow(&t, &t.b, &rows, &more, &err), LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "have no signed head");
    CHECK_INT(lks_engine_seq(t.b.engine), seq);
    race.ops = *t.b.store.ops;
    race.ops.heads = heads_forged;
    t.b.store.ops = &race.ops;
    forged = t.b.place.newest;
    forged.signature[0]++; /* what differs least */
    CHECK_CODE(follow(&t, &t.b, &rows, &more, &err), LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "is not signed with this key");
    race.ops.tail = no_tail;
    CHECK_CODE(follow(&t, &t.b, &rows, &more, &err), LKS_E_UNAVAILABLE);
    late.options = options_of(&t, true);
    CHECK_CODE(lks_store_memory_share(t.disk, &late.store, &err), LKS_OK);
    CHECK_CODE(lks_engine_open(&late.store, &late.options, t.now, &late.engine, &err),
               LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "has no signed head");
    close_controller(&late);
}

/* What the last leader told agents is known to the one that takes over: heads that stay. */
static void test_heads_that_were_told_are_known_to_the_next(void)
{
    LKS_CLEANUP(bench_fini) struct bench t = {0};
    struct lks_err err = {0};
    begin(&t);
    for (unsigned i = 0; i < 40; i++) {
        pass(&t, 100);
        CHECK_CODE(turn(&t, &t.a, &started, NULL, &err), LKS_OK);
        commit_ok(&t, &t.a);
        if (i % 3 == 0)
            follow_all(&t, &t.b);
    }
    const struct lks_state *a = lks_engine_state(t.a.engine), *b = lks_engine_state(t.b.engine);
    pass(&t, TTL);
    CHECK(lead(&t, &t.b));
    CHECK(a->head_count > 3);
    for (uint32_t i = 0; i < a->head_count; i++) {
        bool found = false;
        for (uint32_t k = 0; k < b->head_count; k++)
            found = found || b->heads[k].seq == a->heads[i].seq;
        CHECK(found);
    }
    CHECK(b->head_count <= a->head_count + 3);
}

static void test_a_follower_decides_and_writes_nothing(void)
{
    LKS_CLEANUP(bench_fini) struct bench t = {0};
    LKS_CLEANUP(lks_engine_batch_fini) struct lks_engine_batch batch = {0};
    struct lks_err err = {0};
    begin(&t);
    follow_all(&t, &t.b);
    uint64_t seq = lks_engine_seq(t.b.engine);
    struct lks_event tick = {.kind = LKS_EVENT_TICK};
    CHECK_CODE(turn(&t, &t.b, &tick, NULL, &err), LKS_E_UNAVAILABLE);
    CHECK_HAS(lks_str_from(err.msg), "follows");
    CHECK_CODE(hold(&t, &t.b, "n1"), LKS_E_UNAVAILABLE);
    struct lks_beat beat = {.protocol = LKS_BEAT_PROTOCOL, .seq = 1};
    CHECK_CODE(lks_engine_hear(t.b.engine, t.now, 0, &beat, &err), LKS_OK);
    CHECK(!lks_engine_state(t.b.engine)->pulses[0].heard);
    CHECK(!lks_engine_take(t.b.engine, t.now, &batch));
    CHECK(lks_engine_next(t.b.engine) == UINT64_MAX);
    CHECK_INT(lks_engine_seq(t.b.engine), seq);
}

static void test_many_rows_come_in_pieces(void)
{
    LKS_CLEANUP(bench_fini) struct bench t = {0};
    struct lks_err err = {0};
    size_t rows = 0;
    bool more = false;
    begin(&t);
    follow_all(&t, &t.b);
    for (unsigned i = 0; i < LKS_ENGINE_NEWS_ROWS_MAX + 10; i++) {
        CHECK_CODE(turn(&t, &t.a, &started, NULL, &err), LKS_OK);
        if (i % 1000 == 0)
            commit_ok(&t, &t.a);
    }
    commit_ok(&t, &t.a);
    CHECK_CODE(follow(&t, &t.b, &rows, &more, &err), LKS_OK);
    CHECK_INT(rows, LKS_ENGINE_NEWS_ROWS_MAX);
    CHECK(more);
    CHECK_CODE(follow(&t, &t.b, &rows, &more, &err), LKS_OK);
    CHECK_INT(rows, 10);
    CHECK(!more);
    check_same(&t);
}

static void test_an_empty_store_is_not_followed(void)
{
    struct lks_memory_disk *disk = lks_memory_disk_new();
    struct bench t = {.key = lks_test_key()};
    struct lks_store store = {0};
    struct lks_engine *engine = NULL;
    struct lks_engine_options options = options_of(&t, true);
    struct lks_err err = {0};
    CHECK_CODE(lks_store_memory_share(disk, &store, &err), LKS_OK);
    CHECK_CODE(lks_engine_open(&store, &options, t.now, &engine, &err), LKS_E_NOT_FOUND);
    CHECK_HAS(lks_str_from(err.msg), "lockstepd init");
    lks_store_close(&store);
    lks_memory_disk_free(disk);
}

/* What a follower does not follow ------------------------------------------------------------- */

static void edit(struct bench *t, uint64_t last)
{
    lks_memory_disk_row(t->disk, last)->time++;
}

static void drop(struct bench *t, uint64_t last)
{
    lks_memory_disk_drop(t->disk, last - 1);
}

static void drop_both(struct bench *t, uint64_t last)
{
    drop(t, last);
    drop(t, last + 1);
}

/* A row that no engine of ours wrote, and a head signed with `key`. */
static void append_other(struct bench *t, const struct lks_key *key)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(LKS_RECORD_BODY_MAX);
    struct lks_store *store = &t->a.store;
    struct lks_chain *chain = lks_chain_new();
    struct lks_record r = {.kind = LKS_RECORD_STARTED, .started = {.host = LKS_STR("other")}};
    struct lks_store_tail tail = {0};
    struct lks_err err = {0};
    lks_record_pack(&r, &body);
    CHECK_CODE(store->ops->tail(store->self, &tail, &err), LKS_OK);
    struct lks_row row = {
        .seq = tail.seq + 1,
        .time = tail.time,
        .kind = LKS_RECORD_STARTED,
        .version = (uint8_t)lks_record_version(lks_record_info(LKS_RECORD_STARTED)),
        .body = lks_buf_view(&body),
    };
    CHECK_CODE(lks_chain_hash(chain, tail.hash, &row, row.hash, &err), LKS_OK);
    struct lks_head head = {.journal = JOURNAL, .seq = row.seq, .time = row.time};
    memcpy(head.hash, row.hash, sizeof(head.hash));
    CHECK_CODE(lks_chain_head_sign(key, &head, &err), LKS_OK);
    struct lks_store_batch batch = {.epoch = 1, .rows = &row, .row_count = 1, .head = &head};
    CHECK_CODE(store->ops->append(store->self, &batch, &err), LKS_OK);
    lks_chain_free(chain);
}

/* The rows of `from` on are gone, and others may stand in their place. */
static void fork_from(struct bench *t, uint64_t from, unsigned others)
{
    struct lks_store_tail tail = {.first = 1, .seq = from - 1};
    struct lks_err err = {0};
    const struct lks_row *row = lks_memory_disk_row(t->disk, from - 1);
    tail.time = row->time;
    memcpy(tail.hash, row->hash, sizeof(tail.hash));
    CHECK_CODE(t->a.store.ops->cut(t->a.store.self, from, &tail, NULL, &err), LKS_OK);
    for (unsigned i = 0; i < others; i++)
        append_other(t, &t->key);
}

static void lose(struct bench *t, uint64_t last)
{
    fork_from(t, last - 2, 0);
}

static void replace(struct bench *t, uint64_t last)
{
    fork_from(t, last - 2, 1);
}

static void rewrite(struct bench *t, uint64_t last)
{
    fork_from(t, last - 2, 4);
}

static void sign_otherwise(struct bench *t, uint64_t last)
{
    struct lks_key other = lks_test_other_key();
    (void)last;
    append_other(t, &other);
}

struct spoiled {
    const char *name;
    void (*spoil)(struct bench *t, uint64_t last);
    enum lks_code code;
    const char *says;
};

/* The follower has read up to two rows before the last. */
static void test_what_is_wrong_is_not_followed(void)
{
    static const struct spoiled cases[] = {
        {"a row was edited", edit, LKS_E_INVALID, "is not what was written"},
        {"a row is missing", drop, LKS_E_INVALID, "is missing"},
        {"all rows are missing", drop_both, LKS_E_INVALID, "row 8 was committed and is not there"},
        {"rows that were seen are gone", lose, LKS_E_REFUSED, "lost what was acknowledged"},
        {"another row has the last one's place", replace, LKS_E_REFUSED, "another history"},
        {"another chain goes on behind it", rewrite, LKS_E_INVALID, "is not what was written"},
        {"a head is signed with another key", sign_otherwise, LKS_E_INVALID, "not signed"},
    };
    for (size_t i = 0; i < LKS_COUNT(cases); i++) {
        LKS_CLEANUP(bench_fini) struct bench t = {0};
        struct lks_err err = {0};
        size_t rows = 0;
        bool more = false;
        lks_test_case("%s", cases[i].name);
        begin(&t);
        follow_all(&t, &t.b);
        CHECK_CODE(hold(&t, &t.a, "n1"), LKS_OK);
        CHECK_CODE(hold(&t, &t.a, "n2"), LKS_OK);
        uint64_t seen = lks_engine_seq(t.b.engine), last = lks_engine_seq(t.a.engine);
        commit_ok(&t, &t.a);
        cases[i].spoil(&t, last);
        struct lks_engine_place place = t.b.place;
        CHECK_CODE(follow(&t, &t.b, &rows, &more, &err), cases[i].code);
        CHECK_HAS(lks_str_from(err.msg), cases[i].says);
        CHECK_INT(lks_engine_seq(t.b.engine), seen);
        CHECK_INT(t.b.place.seq, place.seq);
    }
}

/* What a controller remembers of the journal over a restart. */
static void test_a_place_that_was_seen_has_to_be_there(void)
{
    static const struct spoiled cases[] = {
        {"it is there", NULL, LKS_OK, ""},
        {"it is gone", lose, LKS_E_REFUSED, "lost what was acknowledged"},
        {"it is another", rewrite, LKS_E_REFUSED, "another history"},
    };
    for (size_t i = 0; i < LKS_COUNT(cases); i++) {
        LKS_CLEANUP(bench_fini) struct bench t = {0};
        struct lks_err err = {0};
        lks_test_case("%s", cases[i].name);
        begin(&t);
        follow_all(&t, &t.b);
        if (cases[i].spoil != NULL)
            cases[i].spoil(&t, lks_engine_seq(t.a.engine));
        CHECK_CODE(lks_engine_place_check(&t.b.store, &t.b.place, &err), cases[i].code);
        CHECK_HAS(lks_str_from(err.msg), cases[i].says);
        CHECK_CODE(lks_engine_place_check(&t.b.store, &(struct lks_engine_place){0}, &err), LKS_OK);
    }
}

/* Leading ------------------------------------------------------------------------------------- */

static void test_the_lead_changes_hands(void)
{
    LKS_CLEANUP(bench_fini) struct bench t = {0};
    struct lks_err err = {0};
    begin(&t);
    CHECK(!lead(&t, &t.b)); /* A has the lease */
    CHECK(lks_engine_follows(t.b.engine));
    CHECK_CODE(hold(&t, &t.a, "n1"), LKS_OK);
    commit_ok(&t, &t.a);
    uint64_t acknowledged = lks_engine_durable_seq(t.a.engine);
    CHECK_CODE(hold(&t, &t.a, "n2"), LKS_OK); /* and then it is paused */

    pass(&t, TTL + 1);
    CHECK(lead(&t, &t.b));
    CHECK(!lks_engine_follows(t.b.engine));
    CHECK_CODE(hold(&t, &t.b, "n3"), LKS_OK);
    commit_ok(&t, &t.b);
    const struct lks_state *s = lks_engine_state(t.b.engine);
    CHECK_INT(s->epoch, 2);
    CHECK(s->seq > acknowledged);
    CHECK(s->nodes[lks_state_node(s, LKS_STR("n1"))].held);
    CHECK(!s->nodes[lks_state_node(s, LKS_STR("n2"))].held);

    /* A wakes: what it decided and never acknowledged goes nowhere. */
    CHECK_CODE(commit(&t, &t.a, &err), LKS_E_REFUSED);
    check_chain(&t);
    close_controller(&t.a);
    open_controller(&t, &t.a, "a");
    check_same(&t);
}

/* The lease alone fences: the other's record need not be there yet. */
static void test_a_lease_fences_before_the_first_record(void)
{
    LKS_CLEANUP(bench_fini) struct bench t = {0};
    struct lks_err err = {0};
    begin(&t);
    CHECK_CODE(hold(&t, &t.a, "n2"), LKS_OK);
    pass(&t, TTL + 1);
    CHECK(lead(&t, &t.b)); /* decided, and not written */
    CHECK_CODE(commit(&t, &t.a, &err), LKS_E_REFUSED);
    commit_ok(&t, &t.b);
    check_chain(&t);
}

/* A state that is true in part ------------------------------------------------------------------
 */

/* No text is taken any more, so that a record cannot be made true, or not all of it. */
static void fill_texts(const struct controller *c)
{
    c->engine->state.texts.bytes.max = c->engine->state.texts.bytes.used;
}

/* Each answer is IO, which ends the process. */
static void check_given_up(struct bench *t, struct controller *c, const char *cause)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(1 << 20);
    LKS_CLEANUP(lks_engine_batch_fini) struct lks_engine_batch batch = {0};
    struct lks_err err = {0};
    uint64_t seq = 0;
    CHECK_CODE(turn(t, c, &started, NULL, &err), LKS_E_IO);
    CHECK_HAS(lks_str_from(err.msg), "nothing more can be recorded: ");
    CHECK_HAS(lks_str_from(err.msg), cause);
    CHECK_CODE(lks_engine_snapshot(c->engine, &bytes, &seq, &err), LKS_E_IO);
    CHECK_HAS(lks_str_from(err.msg), "no snapshot of a state that is not good: ");
    CHECK(!lks_engine_take(c->engine, t->now, &batch));
}

static void test_a_turn_that_is_applied_in_part(void)
{
    LKS_CLEANUP(bench_fini) struct bench t = {0};
    begin(&t);
    uint64_t seq = lks_engine_seq(t.a.engine);
    CHECK_CODE(hold(&t, &t.a, "n1"), LKS_OK); /* decided, and not written yet */
    fill_texts(&t.a);
    CHECK_CODE(apply_fleet(&t, &t.a, "two"), LKS_E_IO);
    check_given_up(&t, &t.a, "journal row ");
    follow_all(&t, &t.b);
    CHECK_INT(lks_engine_seq(t.b.engine), seq); /* nothing of it left */
    check_chain(&t);
}

static void test_rows_that_are_followed_in_part(void)
{
    LKS_CLEANUP(bench_fini) struct bench t = {0};
    struct lks_err err = {0};
    size_t rows = 0;
    bool more = false;
    begin(&t);
    follow_all(&t, &t.b);
    CHECK_CODE(apply_fleet(&t, &t.a, "two"), LKS_OK);
    commit_ok(&t, &t.a);
    fill_texts(&t.b);
    CHECK_CODE(follow(&t, &t.b, &rows, &more, &err), LKS_E_IO);
    CHECK_HAS(lks_str_from(err.msg), "journal row ");
    CHECK_CODE(follow(&t, &t.b, &rows, &more, &err), LKS_E_IO);
    CHECK_HAS(lks_str_from(err.msg), "nothing more can be followed: journal row ");
    check_given_up(&t, &t.b, "journal row ");
}

static void test_deadlines_count_anew(void)
{
    LKS_CLEANUP(bench_fini) struct bench t = {0};
    struct lks_err err = {0};
    begin(&t);
    pass(&t, 3600 * LKS_SECOND);
    CHECK(lead(&t, &t.b));
    uint64_t seq = lks_engine_seq(t.b.engine);
    struct lks_event tick = {.kind = LKS_EVENT_TICK};
    CHECK_CODE(turn(&t, &t.b, &tick, NULL, &err), LKS_OK);
    CHECK_INT(lks_engine_seq(t.b.engine), seq); /* nobody is late: nobody could be heard */
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"a follower knows what the leader wrote", test_a_follower_knows_what_the_leader_wrote},
        {"a follower bars what the leader bars", test_a_follower_bars_what_the_leader_bars},
        {"follow: a start while another leads", test_a_start_while_another_leads},
        {"follow: rows without a head are not followed", test_rows_without_a_head_are_not_followed},
        {"follow: heads that were told are known to the next",
         test_heads_that_were_told_are_known_to_the_next},
        {"follow: a follower decides and writes nothing",
         test_a_follower_decides_and_writes_nothing},
        {"follow: many rows come in pieces", test_many_rows_come_in_pieces},
        {"follow: an empty store is not followed", test_an_empty_store_is_not_followed},
        {"follow: what is wrong is not followed", test_what_is_wrong_is_not_followed},
        {"follow: a place that was seen has to be there",
         test_a_place_that_was_seen_has_to_be_there},
        {"lead: the lead changes hands", test_the_lead_changes_hands},
        {"lead: a lease fences before the first record",
         test_a_lease_fences_before_the_first_record},
        {"lead: deadlines count anew", test_deadlines_count_anew},
        {"engine: a turn that is applied in part", test_a_turn_that_is_applied_in_part},
        {"engine: rows that are followed in part", test_rows_that_are_followed_in_part},
        {0},
    });
}
