/*
 * A snapshot: a line with the digest of all that follows, then the row it stands at, and the tables
 * of the state. Numbers are big-endian.
 *
 *     lockstep-snapshot-2 sha256:...\n
 *     seq 8, time 8, hash 32
 *     tables, as lks_entity_pack() writes them
 *
 * Versions before 0.2 wrote records that fold to the state, and these are read for ever:
 *
 *     lockstep-snapshot-1 sha256:...\n
 *     seq 8, time 8, hash 32, count 8
 *     count times: time 8, kind 2, version 1, length 4, body
 *
 * A start trusts it in place of rows that may be gone, so what is stored has one more line in
 * front, with the signature of the line above:
 *
 *     lockstep-signed-1 HEXADECIMAL\n
 */
#include "codec/format/hex.h"
#include "core/campaign/state_apply.h"
#include "core/entity/entity.h"
#include "core/state/state.h"
#include "engine/chain_walk.h"
#include "model/record/record.h"

#include <inttypes.h>

#define SIGNED       "lockstep-signed-1 "
#define MAGIC_1      "lockstep-snapshot-1 "
#define MAGIC        "lockstep-snapshot-2 "
#define LINE_BYTES   (sizeof(MAGIC) - 1 + LKS_DIGEST_SIZE)
#define SIGNED_BYTES (sizeof(SIGNED) + 2 * (size_t)LKS_SIGNATURE_BYTES)
#define HEAD_BYTES   (8 + 8 + LKS_HASH_BYTES)
#define ENTRY_BYTES  (8 + 2 + 1 + 4)

static void add_number(struct lks_buf *out, uint64_t value, unsigned bytes)
{
    for (unsigned i = bytes; i-- > 0;)
        lks_buf_addc(out, (char)(value >> (8 * i)));
}

static uint64_t take_number(struct lks_str *in, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | (uint8_t)in->ptr[i];
    in->ptr += bytes;
    in->len -= bytes;
    return value;
}

/* What is known only at the end is written into the room that was left for it. */
static void fill(struct lks_buf *out, size_t at, struct lks_str bytes)
{
    memcpy(out->ptr + at, bytes.ptr, bytes.len);
}

static enum lks_code seal(struct lks_buf *out, size_t start, struct lks_err *err)
{
    char digest[LKS_DIGEST_SIZE];
    struct lks_str rest = {out->ptr + start + LINE_BYTES, out->len - start - LINE_BYTES};
    if (lks_digest_text(rest, digest, err) != LKS_OK)
        return lks_wrap(err, "snapshot");
    fill(out, start + sizeof(MAGIC) - 1, lks_str_from(digest));
    return LKS_OK;
}

static enum lks_code pack(const struct lks_state *s, const uint8_t hash[LKS_HASH_BYTES], bool shown,
                          struct lks_buf *out, struct lks_err *err)
{
    size_t start = out->len;
    lks_buf_add(out, LKS_STR(MAGIC));
    lks_buf_pad(out, '0', LKS_DIGEST_SIZE - 1);
    lks_buf_addc(out, '\n');
    add_number(out, s->seq, 8);
    add_number(out, s->clock, 8);
    lks_buf_add(out, (struct lks_str){(const char *)hash, LKS_HASH_BYTES});
    if (lks_entity_pack(s, shown, out, err) != LKS_OK)
        return lks_wrap(err, "snapshot");
    return seal(out, start, err);
}

enum lks_code lks_snapshot_pack_state(const struct lks_state *s, const uint8_t hash[LKS_HASH_BYTES],
                                      struct lks_buf *out, struct lks_err *err)
{
    return pack(s, hash, false, out, err);
}

enum lks_code lks_snapshot_pack_shown(const struct lks_state *s, struct lks_buf *out,
                                      struct lks_err *err)
{
    static const uint8_t none[LKS_HASH_BYTES];
    return pack(s, none, true, out, err);
}

enum lks_code lks_snapshot_pack_signed(const struct lks_state *s,
                                       const uint8_t hash[LKS_HASH_BYTES],
                                       const struct lks_key *key, struct lks_buf *out,
                                       struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf hex = {0};
    uint8_t signature[LKS_SIGNATURE_BYTES];
    size_t start = out->len;
    lks_buf_add(out, LKS_STR(SIGNED));
    lks_buf_pad(out, '0', 2 * sizeof(signature));
    lks_buf_addc(out, '\n');
    if (lks_snapshot_pack_state(s, hash, out, err) != LKS_OK)
        return err->code;
    struct lks_str line = {out->ptr + start + SIGNED_BYTES, LINE_BYTES - 1};
    lks_buf_init(&hex, 2 * sizeof(signature));
    if (lks_key_sign(key, line, signature, err) != LKS_OK)
        return lks_wrap(err, "snapshot");
    lks_hex_add(&hex, signature, sizeof(signature));
    if (lks_buf_check(&hex, err) != LKS_OK)
        return lks_wrap(err, "snapshot");
    fill(out, start + sizeof(SIGNED) - 1, lks_buf_view(&hex));
    return LKS_OK;
}

/* Past the line with the signature, if `key` made it; without a key it need not be there. */
static enum lks_code unsign(const struct lks_public_key *key, struct lks_str *bytes,
                            struct lks_err *err)
{
    uint8_t signature[LKS_SIGNATURE_BYTES];
    struct lks_str hex = {bytes->ptr + sizeof(SIGNED) - 1, 2 * sizeof(signature)};
    if (!lks_str_starts(*bytes, SIGNED))
        return key == NULL ? LKS_OK : lks_fail(err, LKS_E_INVALID, "snapshot: it is not signed");
    if (bytes->len < SIGNED_BYTES + LINE_BYTES || bytes->ptr[SIGNED_BYTES - 1] != '\n' ||
        !lks_hex_read(hex, signature, sizeof(signature)))
        return lks_fail(err, LKS_E_INVALID, "snapshot: damaged, or not one");
    struct lks_str line = {bytes->ptr + SIGNED_BYTES, LINE_BYTES - 1};
    if (key != NULL && !lks_key_verify(key, line, signature))
        return lks_fail(err, LKS_E_INVALID, "snapshot: it is not signed by the journal's key");
    bytes->ptr += SIGNED_BYTES;
    bytes->len -= SIGNED_BYTES;
    return LKS_OK;
}

/* The next record of the entries; false where they do not hold one. */
static bool take_entry(struct lks_str *in, lks_ms *time, struct lks_record *record,
                       struct lks_err *err)
{
    if (in->len < ENTRY_BYTES)
        return false;
    *time = take_number(in, 8);
    unsigned kind = (unsigned)take_number(in, 2);
    unsigned version = (unsigned)take_number(in, 1);
    size_t len = (size_t)take_number(in, 4);
    if (len > in->len)
        return false;
    struct lks_str body = {in->ptr, len};
    in->ptr += len;
    in->len -= len;
    return lks_record_unpack(kind, version, body, record, err) == LKS_OK;
}

static bool whole(struct lks_str bytes, struct lks_str *rest)
{
    char digest[LKS_DIGEST_SIZE];
    struct lks_err ignored = {0};
    if (bytes.len < LINE_BYTES + HEAD_BYTES ||
        !(lks_str_starts(bytes, MAGIC) || lks_str_starts(bytes, MAGIC_1)) ||
        bytes.ptr[LINE_BYTES - 1] != '\n')
        return false;
    struct lks_str said = {bytes.ptr + sizeof(MAGIC) - 1, LKS_DIGEST_SIZE - 1};
    *rest = (struct lks_str){bytes.ptr + LINE_BYTES, bytes.len - LINE_BYTES};
    return lks_digest_text(*rest, digest, &ignored) == LKS_OK && lks_str_is(said, digest);
}

/* Whether all records of version 1 can be read, of which the first 8 bytes are the number. */
static enum lks_code check_entries(struct lks_str *entries, struct lks_err *err)
{
    struct lks_err why = {.msg = "it is not as long as it says"};
    uint64_t count = entries->len < 8 ? 1 : take_number(entries, 8);
    struct lks_str rest = *entries;
    lks_ms time = 0;
    struct lks_record record;
    while (count > 0 && take_entry(&rest, &time, &record, &why))
        count--;
    return count == 0 && rest.len == 0 ? LKS_OK
                                       : lks_fail(err, LKS_E_INVALID, "snapshot: %s", why.msg);
}

enum lks_code lks_snapshot_read(struct lks_str bytes, const struct lks_public_key *key,
                                struct lks_snapshot *out, struct lks_err *err)
{
    struct lks_snapshot s = {0};
    struct lks_str rest = {"", 0};
    if (unsign(key, &bytes, err) != LKS_OK)
        return err->code;
    if (!whole(bytes, &rest))
        return lks_fail(err, LKS_E_INVALID, "snapshot: damaged, or not one");
    s.tables = lks_str_starts(bytes, MAGIC);
    s.seq = take_number(&rest, 8);
    s.time = take_number(&rest, 8);
    memcpy(s.hash, rest.ptr, sizeof(s.hash));
    s.entries = (struct lks_str){rest.ptr + sizeof(s.hash), rest.len - sizeof(s.hash)};
    if ((s.tables ? lks_entity_check(s.entries, err) : check_entries(&s.entries, err)) != LKS_OK)
        return s.tables ? lks_wrap(err, "snapshot") : err->code;
    *out = s;
    return LKS_OK;
}

enum lks_code lks_snapshot_load(struct lks_store *store, const struct lks_public_key *key,
                                struct lks_buf *bytes, struct lks_snapshot *out,
                                struct lks_err *why, struct lks_err *err)
{
    struct lks_snapshot s = {0};
    uint64_t seq = 0;
    *out = (struct lks_snapshot){0};
    *why = (struct lks_err){0};
    lks_buf_init(bytes, LKS_STORE_SNAPSHOT_MAX);
    enum lks_code code = store->ops->snapshot(store->self, &seq, bytes, why);
    out->kept = seq;
    if (code != LKS_OK && code != LKS_E_INVALID) {
        *err = *why;
        return lks_wrap(err, "snapshot");
    }
    if (code != LKS_OK || seq == 0 ||
        lks_snapshot_read(lks_buf_view(bytes), key, &s, why) != LKS_OK)
        return LKS_OK;
    s.kept = seq;
    if (s.seq == seq)
        *out = s;
    else
        (void)!lks_fail(why, LKS_E_INVALID,
                        "the snapshot kept for row %" PRIu64 " is of row %" PRIu64, seq, s.seq);
    return LKS_OK;
}

static enum lks_code apply_entries(const struct lks_snapshot *snapshot, struct lks_state *out,
                                   struct lks_err *err)
{
    struct lks_str rest = snapshot->entries;
    lks_ms time = 0;
    struct lks_record record;
    while (rest.len > 0) {
        if (!take_entry(&rest, &time, &record, err) ||
            lks_state_apply(out, snapshot->seq, time, &record, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

static enum lks_code apply_tables(const struct lks_snapshot *snapshot, struct lks_state *out,
                                  struct lks_err *err)
{
    if (lks_entity_unpack(snapshot->entries, out, err) != LKS_OK ||
        lks_state_index(out, err) != LKS_OK)
        return err->code;
    if (out->seq != snapshot->seq || out->clock != snapshot->time)
        return lks_fail(err, LKS_E_INVALID, "the state in it is that of another row");
    return LKS_OK;
}

/* What was read of a snapshot that cannot be used is forgotten: the rows may still be there. */
static enum lks_code forget(struct lks_state *s, struct lks_err *err)
{
    const struct lks_err why = *err;
    uint64_t seed = s->passing.seed;
    lks_state_fini(s);
    if (lks_state_init(s, seed, err) == LKS_OK)
        *err = why;
    return lks_wrap(err, "snapshot");
}

enum lks_code lks_snapshot_apply(const struct lks_snapshot *snapshot, struct lks_state *out,
                                 struct lks_err *err)
{
    enum lks_code code =
        snapshot->tables ? apply_tables(snapshot, out, err) : apply_entries(snapshot, out, err);
    if (code != LKS_OK)
        return forget(out, err);
    out->seq = snapshot->seq;
    out->clock = snapshot->time;
    return LKS_OK;
}

enum lks_code lks_snapshot_unpack_state(struct lks_str bytes, struct lks_state *out,
                                        uint8_t hash[LKS_HASH_BYTES], struct lks_err *err)
{
    struct lks_snapshot snapshot = {0};
    if (lks_snapshot_read(bytes, NULL, &snapshot, err) != LKS_OK)
        return err->code;
    if (lks_snapshot_apply(&snapshot, out, err) != LKS_OK)
        return err->code;
    memcpy(hash, snapshot.hash, sizeof(snapshot.hash));
    return LKS_OK;
}
