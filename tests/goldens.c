#include "tests/goldens.h"

#include "base/file.h"
#include "base/intern.h"
#include "codec/format/hex.h"
#include "core/campaign/state_apply.h"
#include "core/entity/entity.h"
#include "core/state/state.h"
#include "engine/chain_walk.h"
#include "tests/list_state.h"
#include "tests/records.h"
#include "tests/test.h"

#include <inttypes.h>
#include <stdio.h>

#define RICH_BLOBS                                                                                 \
    "fleet.yaml", "stack-a.yaml", "stack-b.yaml", "stack-c.yaml", "stack-z.yaml", "bundle.json",   \
        "report.json"

const struct lks_golden lks_goldens[] = {
    {"tests/golden/journal-1", {49}, {NULL}},
    {"tests/golden/journal-2", {80}, {NULL}},
    {"tests/golden/journal-3", {94}, {NULL}},
    {"tests/golden/journal-4", {119}, {NULL}},
    {"tests/golden/journal-5", {139}, {NULL}},
    {"tests/golden/journal-6", {148}, {NULL}},
    {"tests/golden/journal-7", {152}, {NULL}},
    {"tests/golden/journal-8", {0}, {NULL}},
    {"tests/golden/rich-1", {100, 200, 300, 400, 453}, {RICH_BLOBS}},
    {LKS_GOLDEN_RICH, {0}, {RICH_BLOBS}},
    {"tests/golden/sim-campaign-23", {130, 260, 378}, {LKS_GOLDEN_LINES}},
    {"tests/golden/sim-fleet-12", {50, 105}, {LKS_GOLDEN_LINES}},
};
const size_t lks_golden_count = LKS_COUNT(lks_goldens);

static const struct lks_golden *golden_at(const char *dir)
{
    for (size_t i = 0; i < lks_golden_count; i++) {
        if (strcmp(lks_goldens[i].dir, dir) == 0)
            return &lks_goldens[i];
    }
    return NULL;
}

bool lks_golden_is_ours(const struct lks_golden *g)
{
    return !lks_str_starts(lks_str_from(g->dir), "tests/golden/sim-");
}

/* Files -------------------------------------------------------------------------------------- */

void lks_golden_read(const char *dir, const char *name, struct lks_buf *out)
{
    char path[256];
    struct lks_err err = {0};
    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    lks_buf_init(out, LKS_GOLDEN_BYTES_MAX);
    if (!CHECK_CODE(lks_file_read_plain(path, out, &err), LKS_OK))
        printf("%s\n", err.msg);
    lks_buf_add(out, LKS_STR("")); /* terminated even when empty */
}

bool lks_golden_write(const char *dir, const char *name, struct lks_str bytes)
{
    char path[256];
    struct lks_err err = {0};
    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    if (lks_file_replace_as(path, 0644, bytes, &err) == LKS_OK)
        return true;
    printf("%s\n", err.msg);
    return false;
}

const char *lks_golden_snapshot_name(uint64_t row, const char *ending)
{
    static char name[40];
    (void)snprintf(name, sizeof(name), "snapshot-%" PRIu64 "%s", row, ending);
    return name;
}

struct lks_public_key lks_golden_key(const char *dir)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    struct lks_public_key key = {0};
    struct lks_str line, rest;
    struct lks_err err = {0};
    lks_golden_read(dir, "key", &text);
    lks_str_cut(lks_buf_view(&text), '\n', &line, &rest);
    CHECK_CODE(lks_key_public_parse(line, &key, &err), LKS_OK);
    return key;
}

/* Reading ------------------------------------------------------------------------------------ */

/* The body is decoded in its place in `line`, and stays a view of it. */
static struct lks_row read_row(uint64_t seq, struct lks_str line)
{
    struct lks_str words[5] = {0};
    uint64_t kind = 0, version = 0;
    struct lks_row row = {.seq = seq};
    for (size_t i = 0; i < LKS_COUNT(words); i++)
        lks_str_cut(line, ' ', &words[i], &line);
    row.body = (struct lks_str){words[4].ptr, words[4].len / 2};
    CHECK(lks_str_number(words[0], UINT64_MAX, &row.time) &&
          lks_str_number(words[1], UINT16_MAX, &kind) &&
          lks_str_number(words[2], UINT8_MAX, &version) &&
          lks_hex_read(words[3], row.hash, sizeof(row.hash)) &&
          lks_hex_read(words[4], (uint8_t *)words[4].ptr, row.body.len));
    row.kind = (uint16_t)kind;
    row.version = (uint8_t)version;
    return row;
}

/* All in one transaction: a store on a disk syncs once. */
static void load_rows(struct lks_store *store, struct lks_str text)
{
    static struct lks_row rows[LKS_GOLDEN_ROWS_MAX];
    struct lks_store_batch batch = {.rows = rows};
    struct lks_str line;
    struct lks_err err = {0};
    while (text.len > 0) {
        LKS_ASSERT(batch.row_count < LKS_COUNT(rows));
        lks_str_cut(text, '\n', &line, &text);
        rows[batch.row_count] = read_row(batch.row_count + 1, line);
        batch.row_count++;
    }
    CHECK_CODE(store->ops->append(store->self, &batch, &err), LKS_OK);
}

static void load_head(struct lks_store *store, struct lks_str line)
{
    struct lks_head head;
    struct lks_err err = {0};
    CHECK_CODE(lks_row_head_parse(line, &head, &err), LKS_OK);
    struct lks_store_batch batch = {.head = &head};
    CHECK_CODE(store->ops->append(store->self, &batch, &err), LKS_OK);
}

static void put_blob(struct lks_store *store, struct lks_str bytes)
{
    struct lks_store_blob blob = {.bytes = bytes};
    struct lks_store_batch batch = {.blobs = &blob, .blob_count = 1};
    struct lks_err err = {0};
    CHECK_CODE(lks_digest_text(blob.bytes, blob.digest, &err), LKS_OK);
    CHECK_CODE(store->ops->append(store->self, &batch, &err), LKS_OK);
}

/* A file, or each line of it. */
static void load_blob(struct lks_store *store, const char *dir, const char *name)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = {0};
    struct lks_str line, rest;
    static uint8_t blob[1 << 16];
    lks_golden_read(dir, name, &bytes);
    if (strcmp(name, LKS_GOLDEN_LINES) != 0) {
        put_blob(store, lks_buf_view(&bytes));
        return;
    }
    for (rest = lks_buf_view(&bytes); rest.len > 0;) {
        lks_str_cut(rest, '\n', &line, &rest);
        if (CHECK(line.len / 2 <= sizeof(blob) && lks_hex_read(line, blob, line.len / 2)))
            put_blob(store, (struct lks_str){(const char *)blob, line.len / 2});
    }
}

static void load_blobs(struct lks_store *store, const char *dir)
{
    const struct lks_golden *g = golden_at(dir);
    for (size_t i = 0; g != NULL && i < LKS_GOLDEN_BLOBS && g->blobs[i] != NULL; i++)
        load_blob(store, dir, g->blobs[i]);
    for (size_t i = 0; i < LKS_COUNT(lks_test_life_blobs); i++)
        put_blob(store, lks_test_life_blobs[i].bytes);
}

void lks_golden_load(struct lks_store *store, const char *dir)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf rows = {0}, heads = {0};
    struct lks_str line, rest;
    lks_golden_read(dir, "rows", &rows);
    lks_golden_read(dir, "heads", &heads);
    load_rows(store, lks_buf_view(&rows));
    for (rest = lks_buf_view(&heads); rest.len > 0;) {
        lks_str_cut(rest, '\n', &line, &rest);
        load_head(store, line);
    }
    load_blobs(store, dir);
}

void lks_golden_records(const char *dir, lks_golden_record_fn *fn, void *ctx)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = {0};
    struct lks_str line, rest, time, json;
    lks_golden_read(dir, "records", &bytes);
    for (rest = lks_buf_view(&bytes); rest.len > 0;) {
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        struct lks_record r;
        lks_ms at = 0;
        lks_str_cut(rest, '\n', &line, &rest);
        if (lks_str_starts(line, "#"))
            continue;
        if (!CHECK(lks_str_cut(line, ' ', &time, &json) && lks_str_number(time, UINT64_MAX, &at)) ||
            !lks_test_record_parse(json, &docs, &r)) {
            printf("%" LKS_STR_FMT "\n", LKS_STR_ARG(line));
            return;
        }
        fn(ctx, at, &r);
    }
}

struct living {
    struct lks_store *store;
    const struct lks_key *key;
    uint64_t last, row;
};

static void count_record(void *ctx, lks_ms time, const struct lks_record *r)
{
    struct living *l = ctx;
    (void)time;
    (void)r;
    l->last++;
}

static void append_record(void *ctx, lks_ms time, const struct lks_record *r)
{
    struct living *l = ctx;
    bool sign = ++l->row % LKS_TEST_HEAD_EVERY == 0 || l->row == l->last;
    lks_test_append_record(l->store, time, r, NULL, sign ? l->key : NULL);
}

void lks_golden_live(struct lks_store *store, const char *dir, const struct lks_key *key)
{
    struct living l = {.store = store, .key = key};
    lks_golden_records(dir, count_record, &l);
    lks_golden_records(dir, append_record, &l);
}

struct folding {
    struct lks_state *state;
    uint64_t rows;
    uint8_t *hash;
};

static bool fold_row(void *ctx, const struct lks_row *row)
{
    struct folding *f = ctx;
    struct lks_record r;
    struct lks_err err = {0};
    if (row->seq > f->rows)
        return false;
    if (!CHECK_CODE(lks_record_unpack(row->kind, row->version, row->body, &r, &err), LKS_OK) ||
        !CHECK_CODE(lks_state_apply(f->state, row->seq, row->time, &r, &err), LKS_OK)) {
        printf("row %" PRIu64 ": %s\n", row->seq, err.msg);
        return false;
    }
    memcpy(f->hash, row->hash, sizeof(row->hash));
    return row->seq < f->rows;
}

void lks_golden_fold(struct lks_store *store, uint64_t rows, struct lks_state *out,
                     uint8_t hash[LKS_HASH_BYTES])
{
    struct folding f = {.state = out, .rows = rows, .hash = hash};
    struct lks_err err = {0};
    memset(hash, 0, LKS_HASH_BYTES);
    CHECK_CODE(lks_state_init(out, 1, &err), LKS_OK);
    CHECK_CODE(store->ops->rows(store->self, 1, fold_row, &f, &err), LKS_OK);
    CHECK_INT(out->seq, rows);
}

/* Writing ------------------------------------------------------------------------------------ */

/* A row a line: time, kind, version, hash and body, the last two in hexadecimal; and heads as
 * agents keep them. */
static bool print_row(void *ctx, const struct lks_row *row)
{
    struct lks_buf *out = ctx;
    lks_buf_addf(out, "%" PRIu64 " %u %u ", row->time, (unsigned)row->kind, (unsigned)row->version);
    lks_hex_add(out, row->hash, sizeof(row->hash));
    lks_buf_addc(out, ' ');
    lks_hex_add(out, (const uint8_t *)row->body.ptr, row->body.len);
    lks_buf_addc(out, '\n');
    return true;
}

static bool print_head(void *ctx, const struct lks_head *head)
{
    lks_row_head_text(head, ctx);
    lks_buf_addc(ctx, '\n');
    return true;
}

/* Bytes that rows refer to, each once. */
struct gathering {
    struct lks_store *store;
    struct lks_buf *out;
    struct lks_intern known;
};

static bool gather_blob(void *ctx, const struct lks_row *row)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_GOLDEN_BYTES_MAX);
    struct gathering *g = ctx;
    struct lks_record r;
    struct lks_err err = {0};
    char digest[LKS_DIGEST_SIZE];
    uint32_t id = 0, count = lks_intern_count(&g->known);
    if (!CHECK_CODE(lks_record_unpack(row->kind, row->version, row->body, &r, &err), LKS_OK))
        return false;
    struct lks_str name = lks_chain_walk_blob(&r);
    if (name.len == 0 || name.len >= sizeof(digest) ||
        lks_intern_id(&g->known, name, &id, &err) != LKS_OK || id < count)
        return true;
    (void)snprintf(digest, sizeof(digest), "%" LKS_STR_FMT, LKS_STR_ARG(name));
    if (!CHECK_CODE(g->store->ops->blob(g->store->self, digest, &bytes, &err), LKS_OK))
        return false;
    lks_hex_add(g->out, (const uint8_t *)bytes.ptr, bytes.len);
    lks_buf_addc(g->out, '\n');
    return true;
}

static bool save_blobs(struct lks_store *store, const char *dir)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = {0};
    struct gathering g = {.store = store, .out = &out};
    struct lks_err err = {0};
    lks_buf_init(&out, LKS_GOLDEN_BYTES_MAX);
    lks_intern_init(&g.known, LKS_GOLDEN_BYTES_MAX);
    bool ok = CHECK_CODE(store->ops->rows(store->self, 1, gather_blob, &g, &err), LKS_OK);
    lks_intern_fini(&g.known);
    return ok && lks_golden_write(dir, LKS_GOLDEN_LINES, lks_buf_view(&out));
}

static bool save_rows(struct lks_store *store, const char *dir)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf rows = {0}, heads = {0};
    struct lks_err err = {0};
    lks_buf_init(&rows, LKS_GOLDEN_BYTES_MAX);
    lks_buf_init(&heads, LKS_GOLDEN_BYTES_MAX);
    return CHECK_CODE(store->ops->rows(store->self, 1, print_row, &rows, &err), LKS_OK) &&
           CHECK_CODE(store->ops->heads(store->self, 0, print_head, &heads, &err), LKS_OK) &&
           lks_golden_write(dir, "rows", lks_buf_view(&rows)) &&
           lks_golden_write(dir, "heads", lks_buf_view(&heads));
}

bool lks_golden_save_state(struct lks_store *store, const char *dir)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state state = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf listed = LKS_BUF(LKS_GOLDEN_BYTES_MAX);
    struct lks_store_tail tail = {0};
    struct lks_err err = {0};
    uint8_t hash[LKS_HASH_BYTES];
    CHECK_CODE(store->ops->tail(store->self, &tail, &err), LKS_OK);
    lks_golden_fold(store, tail.seq, &state, hash);
    lks_list_state(&state, NULL, &listed);
    return lks_golden_write(dir, "state", lks_buf_view(&listed));
}

bool lks_golden_save(struct lks_store *store, const struct lks_key *key, const char *dir)
{
    const struct lks_golden *g = golden_at(dir);
    struct lks_public_key public = lks_key_public(key);
    char text[LKS_KEY_TEXT_SIZE], line[LKS_KEY_TEXT_SIZE + 1];
    lks_key_public_text(&public, text);
    (void)snprintf(line, sizeof(line), "%s\n", text);
    bool lines = g != NULL && g->blobs[0] != NULL && strcmp(g->blobs[0], LKS_GOLDEN_LINES) == 0;
    return save_rows(store, dir) && lks_golden_write(dir, "key", lks_str_from(line)) &&
           lks_golden_save_state(store, dir) && (!lines || save_blobs(store, dir));
}

static bool save_snapshot(struct lks_store *store, const struct lks_key *key, const char *dir,
                          uint64_t row)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state state = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_GOLDEN_BYTES_MAX);
    uint8_t hash[LKS_HASH_BYTES];
    struct lks_err err = {0};
    lks_golden_fold(store, row, &state, hash);
    return CHECK_CODE(lks_snapshot_pack_signed(&state, hash, key, &bytes, &err), LKS_OK) &&
           lks_golden_write(dir, lks_golden_snapshot_name(row, ".2"), lks_buf_view(&bytes));
}

bool lks_golden_snapshots(struct lks_store *store, const struct lks_key *key, const char *dir)
{
    const struct lks_golden *g = golden_at(dir);
    for (size_t i = 0; g != NULL && g->snapshots[i] != 0; i++) {
        bool last = g->snapshots[i + 1] == 0 && lks_golden_is_ours(g);
        if (last && !save_snapshot(store, key, dir, g->snapshots[i]))
            return false;
    }
    if (g == NULL)
        printf("%s: not in the table of tests/goldens.c; add it there\n", dir);
    return g != NULL;
}
