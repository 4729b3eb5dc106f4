#include "tests/goldens.h"

#include "base/file.h"
#include "codec/format/hex.h"
#include "core/campaign/state_apply.h"
#include "tests/records.h"
#include "tests/test.h"

#include <inttypes.h>
#include <stdio.h>

const struct lks_golden lks_goldens[] = {
    {"tests/golden/journal-1", {49}, {NULL}},
    {"tests/golden/journal-2", {80}, {NULL}},
    {"tests/golden/journal-3", {94}, {NULL}},
    {"tests/golden/journal-4", {119}, {NULL}},
    {"tests/golden/journal-5", {139}, {NULL}},
    {"tests/golden/journal-6", {148}, {NULL}},
    {"tests/golden/journal-7", {152}, {NULL}},
    {LKS_GOLDEN_RICH,
     {100, 200, 300, 400, 453},
     {"fleet.yaml", "stack-a.yaml", "stack-b.yaml", "stack-c.yaml", "stack-z.yaml", "bundle.json",
      "report.json"}},
};
const size_t lks_golden_count = LKS_COUNT(lks_goldens);

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

static void load_row(struct lks_store *store, uint64_t seq, struct lks_str line)
{
    struct lks_str words[5] = {0};
    uint64_t kind = 0, version = 0;
    static uint8_t body[8192];
    struct lks_err err = {0};
    struct lks_row row = {.seq = seq};
    for (size_t i = 0; i < LKS_COUNT(words); i++)
        lks_str_cut(line, ' ', &words[i], &line);
    row.body = (struct lks_str){(const char *)body, words[4].len / 2};
    CHECK(lks_str_number(words[0], UINT64_MAX, &row.time) &&
          lks_str_number(words[1], UINT16_MAX, &kind) &&
          lks_str_number(words[2], UINT8_MAX, &version) && row.body.len <= sizeof(body) &&
          lks_hex_read(words[3], row.hash, sizeof(row.hash)) &&
          lks_hex_read(words[4], body, row.body.len));
    row.kind = (uint16_t)kind;
    row.version = (uint8_t)version;
    struct lks_store_batch batch = {.rows = &row, .row_count = 1};
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

static void load_blob(struct lks_store *store, const char *dir, const char *name)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = {0};
    struct lks_store_blob blob = {0};
    struct lks_store_batch batch = {.blobs = &blob, .blob_count = 1};
    struct lks_err err = {0};
    lks_golden_read(dir, name, &bytes);
    blob.bytes = lks_buf_view(&bytes);
    CHECK_CODE(lks_digest_text(blob.bytes, blob.digest, &err), LKS_OK);
    CHECK_CODE(store->ops->append(store->self, &batch, &err), LKS_OK);
}

static void load_blobs(struct lks_store *store, const char *dir)
{
    struct lks_store_batch life = {.blobs = lks_test_life_blobs,
                                   .blob_count = LKS_COUNT(lks_test_life_blobs)};
    struct lks_err err = {0};
    for (size_t i = 0; i < lks_golden_count; i++) {
        const struct lks_golden *g = &lks_goldens[i];
        for (size_t k = 0; strcmp(g->dir, dir) == 0 && g->blobs[k] != NULL; k++)
            load_blob(store, dir, g->blobs[k]);
    }
    CHECK_CODE(store->ops->append(store->self, &life, &err), LKS_OK);
}

void lks_golden_load(struct lks_store *store, const char *dir)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf rows = {0}, heads = {0};
    struct lks_str line, rest;
    lks_golden_read(dir, "rows", &rows);
    lks_golden_read(dir, "heads", &heads);
    rest = lks_buf_view(&rows);
    for (uint64_t seq = 1; rest.len > 0; seq++) {
        lks_str_cut(rest, '\n', &line, &rest);
        load_row(store, seq, line);
    }
    rest = lks_buf_view(&heads);
    while (rest.len > 0) {
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

bool lks_golden_save(struct lks_store *store, const struct lks_key *key, const char *dir)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf rows = {0}, heads = {0}, public_text = {0};
    struct lks_public_key public = lks_key_public(key);
    char text[LKS_KEY_TEXT_SIZE];
    struct lks_err err = {0};
    lks_buf_init(&rows, LKS_GOLDEN_BYTES_MAX);
    lks_buf_init(&heads, LKS_GOLDEN_BYTES_MAX);
    lks_buf_init(&public_text, LKS_GOLDEN_BYTES_MAX);
    lks_key_public_text(&public, text);
    lks_buf_addf(&public_text, "%s\n", text);
    return CHECK_CODE(store->ops->rows(store->self, 1, print_row, &rows, &err), LKS_OK) &&
           CHECK_CODE(store->ops->heads(store->self, 0, print_head, &heads, &err), LKS_OK) &&
           lks_golden_write(dir, "rows", lks_buf_view(&rows)) &&
           lks_golden_write(dir, "heads", lks_buf_view(&heads)) &&
           lks_golden_write(dir, "key", lks_buf_view(&public_text));
}

static enum lks_code print_record(void *ctx, lks_ms time, const struct lks_record *record,
                                  struct lks_err *err)
{
    struct lks_buf *out = ctx;
    struct lks_json_writer w = {.out = out};
    lks_buf_addf(out, "%" PRIu64 " ", time);
    lks_json_begin(&w, NULL, '{');
    lks_record_json(record, &w);
    lks_json_end(&w, '}');
    lks_buf_addc(out, '\n');
    return lks_buf_check(out, err);
}

void lks_golden_list(const struct lks_state *s, struct lks_buf *out)
{
    struct lks_err err = {0};
    lks_buf_addf(out, "row %" PRIu64 " at %" PRIu64 "\n", s->seq, s->clock);
    CHECK_CODE(lks_dump_state(s, print_record, out, &err), LKS_OK);
}
