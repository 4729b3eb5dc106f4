#include "model/record/row.h"

#include "tests/test.h"

#define JOURNAL "00112233445566778899aabbccddeeff"
#define HASH    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define SIGNATURE                                                                                  \
    "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+Pw=="
#define LINE JOURNAL " 42 1794713858123 " HASH " " SIGNATURE

static struct lks_head head(void)
{
    struct lks_head h = {.journal = JOURNAL, .seq = 42, .time = 1794713858123};
    for (unsigned i = 0; i < LKS_HASH_BYTES; i++)
        h.hash[i] = (uint8_t)((i % 8 * 2) << 4 | (i % 8 * 2 + 1));
    for (unsigned i = 0; i < LKS_SIGNATURE_BYTES; i++)
        h.signature[i] = (uint8_t)i;
    return h;
}

static void test_both_ways(void)
{
    struct lks_head want = head(), got = {0};
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(LKS_HEAD_TEXT_MAX);
    lks_row_head_text(&want, &out);
    CHECK_STR(lks_buf_view(&out), LINE);
    CHECK_CODE(lks_row_head_parse(LKS_STR(LINE), &got, &err), LKS_OK);
    CHECK_STR(lks_str_from(got.journal), JOURNAL);
    CHECK_INT(got.seq, 42);
    CHECK_INT(got.time, 1794713858123);
    CHECK(memcmp(got.hash, want.hash, sizeof(got.hash)) == 0);
    CHECK(memcmp(got.signature, want.signature, sizeof(got.signature)) == 0);
}

/* The largest numbers there are still fit the limit. */
static void test_longest(void)
{
    struct lks_head want = head(), got = {0};
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(LKS_HEAD_TEXT_MAX);
    want.seq = want.time = UINT64_MAX;
    lks_row_head_text(&want, &out);
    CHECK_CODE(lks_buf_check(&out, &err), LKS_OK);
    CHECK_CODE(lks_row_head_parse(lks_buf_view(&out), &got, &err), LKS_OK);
    CHECK(got.seq == UINT64_MAX && got.time == UINT64_MAX);
}

static const struct {
    const char *name, *line, *says;
} refused[] = {
    {"nothing", "", "journal"},
    {"a journal alone", JOURNAL, "sequence"},
    {"a short journal", "0011 42 1 " HASH " " SIGNATURE, "journal"},
    {"a journal in capitals", "00112233445566778899AABBCCDDEEFF 42 1 " HASH " " SIGNATURE,
     "journal"},
    {"sequence number zero", JOURNAL " 0 1 " HASH " " SIGNATURE, "sequence"},
    {"a sequence number with a sign", JOURNAL " +4 1 " HASH " " SIGNATURE, "sequence"},
    {"a sequence number with a zero in front", JOURNAL " 042 1 " HASH " " SIGNATURE, "sequence"},
    {"a sequence number beyond 64 bits", JOURNAL " 18446744073709551616 1 " HASH " " SIGNATURE,
     "sequence"},
    {"a time with a fraction", JOURNAL " 42 1.5 " HASH " " SIGNATURE, "time"},
    {"two blanks", JOURNAL " 42  1 " HASH " " SIGNATURE, "time"},
    {"a short hash", JOURNAL " 42 1 0123 " SIGNATURE, "hash"},
    {"no signature", JOURNAL " 42 1 " HASH, "signature"},
    {"a short signature", JOURNAL " 42 1 " HASH " AAAA", "signature"},
    {"a signature that is not base64", JOURNAL " 42 1 " HASH " ?" SIGNATURE, "signature"},
    {"more behind it", LINE " ", "signature"},
    {"a line end", LINE "\n", "signature"},
    {"a blank before it", " " LINE, "journal"},
    {"too long", LINE LINE, "at most"},
};

static void test_refused(void)
{
    for (size_t i = 0; i < LKS_COUNT(refused); i++) {
        lks_test_case("%s", refused[i].name);
        struct lks_err err = {0};
        struct lks_head got = {.seq = 7};
        CHECK_CODE(lks_row_head_parse(lks_str_from(refused[i].line), &got, &err), LKS_E_INVALID);
        CHECK_HAS(lks_str_from(err.msg), refused[i].says);
        CHECK_INT(got.seq, 7);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"row: a head both ways", test_both_ways},
        {"row: the longest head", test_longest},
        {"row: a head refused", test_refused},
        {0},
    });
}
