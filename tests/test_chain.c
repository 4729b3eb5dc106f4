#include "trust/chain.h"

#include "codec/format/digest.h"
#include "codec/format/hex.h"
#include "tests/test.h"

static const uint8_t nothing[LKS_HASH_BYTES];

static void free_chain(struct lks_chain **chain)
{
    lks_chain_free(*chain);
}

static const struct lks_row first = {
    .seq = 1, .time = 1794713858123, .kind = 30, .version = 1, .body = LKS_STR_C("\x03gn1\x01")};

static void hash_of(struct lks_chain *chain, const uint8_t *before, const struct lks_row *row,
                    uint8_t *out)
{
    struct lks_err err = {0};
    CHECK_CODE(lks_chain_hash(chain, before, row, out, &err), LKS_OK);
}

/* The same bytes, laid out by hand as model/record/row.h says, through another way to hash. */
static void test_layout(void)
{
    LKS_CLEANUP(free_chain) struct lks_chain *chain = lks_chain_new();
    uint8_t hash[LKS_HASH_BYTES], want[LKS_HASH_BYTES];
    char digest[LKS_DIGEST_SIZE];
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(256);
    lks_buf_pad(&bytes, '\0', 32);
    lks_buf_add(&bytes, LKS_STR("\0\0\0\0\0\0\0\x01"));
    lks_buf_add(&bytes, LKS_STR("\x00\x00\x01\xa1\xdd\x48\x30\x4b"));
    lks_buf_add(&bytes, LKS_STR("\0\x1e\x01"));
    lks_buf_add(&bytes, LKS_STR("\x03gn1\x01"));
    CHECK_CODE(lks_digest_text(lks_buf_view(&bytes), digest, &err), LKS_OK);
    CHECK(lks_hex_read(lks_str_from(digest + 7), want, sizeof(want)));
    hash_of(chain, nothing, &first, hash);
    CHECK(memcmp(hash, want, sizeof(hash)) == 0);
}

/* Golden: journals that exist verify for ever. */
static void test_golden(void)
{
    LKS_CLEANUP(free_chain) struct lks_chain *chain = lks_chain_new();
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(256);
    uint8_t hash[LKS_HASH_BYTES] = {0};
    struct lks_row row = first;
    for (row.seq = 1; row.seq <= 3; row.seq++)
        hash_of(chain, hash, &row, hash);
    lks_hex_add(&text, hash, sizeof(hash));
    CHECK_STR(lks_buf_view(&text),
              "9efb9c57104431ed53824823fa500c09ee3306204596423586e61e2663e88975");
}

/* Whatever is changed in a row or before it, the hash is another. */
static void test_binding(void)
{
    LKS_CLEANUP(free_chain) struct lks_chain *chain = lks_chain_new();
    struct lks_row rows[6];
    const char *const names[] = {"seq", "time", "kind", "version", "body", "a longer body"};
    uint8_t hash[LKS_HASH_BYTES], other[LKS_HASH_BYTES];
    for (size_t i = 0; i < LKS_COUNT(rows); i++)
        rows[i] = first;
    rows[0].seq++;
    rows[1].time++;
    rows[2].kind++;
    rows[3].version++;
    rows[4].body = LKS_STR("\x03gn2\x01");
    rows[5].body = LKS_STR("\x03gn1\x01\0");
    hash_of(chain, nothing, &first, hash);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", names[i]);
        hash_of(chain, nothing, &rows[i], other);
        CHECK(memcmp(hash, other, sizeof(hash)) != 0);
    }
    hash_of(chain, hash, &first, other);
    CHECK(memcmp(hash, other, sizeof(hash)) != 0);
    struct lks_row empty = {.seq = 1};
    hash_of(chain, nothing, &empty, other);
    CHECK(memcmp(hash, other, sizeof(hash)) != 0);
}

static struct lks_key a_key(uint8_t byte)
{
    uint8_t seed[LKS_KEY_BYTES];
    struct lks_key key = {0};
    struct lks_err err = {0};
    memset(seed, byte, sizeof(seed));
    LKS_ASSERT(lks_key_make(seed, &key, &err) == LKS_OK);
    return key;
}

static void test_heads(void)
{
    struct lks_key key = a_key(1), other = a_key(2);
    struct lks_public_key half = lks_key_public(&key), other_half = lks_key_public(&other);
    struct lks_err err = {0};
    struct lks_head head = {
        .journal = "00112233445566778899aabbccddeeff", .seq = 9, .time = 5, .hash = {1, 2, 3}};
    CHECK(!lks_chain_head_verify(&half, &head));
    CHECK_CODE(lks_chain_head_sign(&key, &head, &err), LKS_OK);
    CHECK(lks_chain_head_verify(&half, &head));
    CHECK(!lks_chain_head_verify(&other_half, &head));

    struct lks_head changed[] = {head, head, head, head, head};
    changed[0].journal[0] = '1';
    changed[1].seq++;
    changed[2].time++;
    changed[3].hash[31] ^= 1;
    changed[4].signature[0] ^= 1;
    for (size_t i = 0; i < LKS_COUNT(changed); i++) {
        lks_test_case("field %zu", i);
        CHECK(!lks_chain_head_verify(&half, &changed[i]));
    }
}

/* The signature is over the very text that people see, behind words that keep it from being taken
 * for a signature of something else. */
static void test_signed_text(void)
{
    struct lks_key key = a_key(1);
    struct lks_public_key half = lks_key_public(&key);
    struct lks_err err = {0};
    struct lks_head head = {.journal = "00112233445566778899aabbccddeeff", .seq = 9, .time = 5};
    CHECK_CODE(lks_chain_head_sign(&key, &head, &err), LKS_OK);
    CHECK(lks_key_verify(&half,
                         LKS_STR("lockstep-head-1 00112233445566778899aabbccddeeff 9 5 "
                                 "00000000000000000000000000000000"
                                 "00000000000000000000000000000000"),
                         head.signature));
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"chain: what is hashed", test_layout},
        {"chain: golden", test_golden},
        {"chain: every part counts", test_binding},
        {"chain: signed heads", test_heads},
        {"chain: what is signed", test_signed_text},
        {0},
    });
}
