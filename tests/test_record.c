#include "model/record/record.h"

#include "base/rng.h"
#include "codec/format/hex.h"
#include "tests/test.h"

enum { OUT_MAX = 8 << 20 };

static void *fields_of(struct lks_record *r)
{
    return &r->begun;
}

/* A value for a field that differs from field to field; `salt` makes another set of them. */
static void set_field(const struct lks_record_field *f, void *at, size_t n, unsigned salt)
{
    static const char *const texts[] = {"gn001", "", "sha256:ab", "gr\xc3\xbc\xc3\x9f"};
    n += salt;
    struct lks_str text = lks_str_from(texts[n % LKS_COUNT(texts)]);
    bool truth = n % 2 == 0;
    uint64_t word = n % 2;
    uint64_t number = salt % 3 == 0 ? UINT64_MAX - n : (uint64_t)n << (salt % 40);
    if (f->type == LKS_RECORD_TEXT)
        memcpy(at, &text, sizeof(text));
    else if (f->type == LKS_RECORD_TRUTH)
        memcpy(at, &truth, sizeof(truth));
    else
        memcpy(at, f->type == LKS_RECORD_WORD ? &word : &number, sizeof(number));
}

static bool same_field(const struct lks_record_field *f, const void *a, const void *b)
{
    if (f->type == LKS_RECORD_TEXT)
        return lks_str_eq(*(const struct lks_str *)a, *(const struct lks_str *)b);
    return memcmp(a, b, f->type == LKS_RECORD_TRUTH ? sizeof(bool) : sizeof(uint64_t)) == 0;
}

static struct lks_record filled(const struct lks_record_info *info, unsigned salt)
{
    struct lks_record r = {.kind = info->kind};
    for (size_t i = 0; i < info->count; i++)
        set_field(&info->fields[i], (char *)fields_of(&r) + info->fields[i].offset, i, salt);
    return r;
}

/* Every kind with every field set, several times over: what was packed is what is read. */
static void test_round_trip(void)
{
    for (size_t i = 0; i < lks_record_info_count; i++) {
        const struct lks_record_info *info = &lks_record_infos[i];
        for (unsigned salt = 0; salt < 50; salt++) {
            lks_test_case("%s, values %u", info->word, salt);
            struct lks_record r = filled(info, salt), back = {0};
            struct lks_err err = {0};
            LKS_CLEANUP(lks_buf_fini) struct lks_buf body = {0}, again = {0};
            lks_buf_init(&body, OUT_MAX);
            lks_buf_init(&again, OUT_MAX);
            lks_record_pack(&r, &body);
            CHECK_CODE(lks_record_unpack(info->kind, lks_record_version(info), lks_buf_view(&body),
                                         &back, &err),
                       LKS_OK);
            CHECK_INT(back.kind, info->kind);
            for (size_t j = 0; j < info->count; j++)
                CHECK(same_field(&info->fields[j], (char *)fields_of(&r) + info->fields[j].offset,
                                 (char *)fields_of(&back) + info->fields[j].offset));
            lks_record_pack(&back, &again);
            CHECK(lks_str_eq(lks_buf_view(&body), lks_buf_view(&again)));
        }
    }
}

/* The tables cover the structs: every byte of a kind belongs to exactly one of its fields, but for
 * what the compiler leaves free behind a truth. */
static void test_tables(void)
{
    static const size_t sizes[] = {
#define X(number, NAME, member, word) sizeof(struct lks_rec_##member),
        LKS_RECORDS(X)
#undef X
    };
    for (size_t i = 0; i < lks_record_info_count; i++) {
        const struct lks_record_info *info = &lks_record_infos[i];
        size_t covered = 0, padding = 0;
        lks_test_case("%s", info->word);
        CHECK(lks_record_info(info->kind) == info);
        CHECK(info->about[strlen(info->about) - 1] == '.');
        for (size_t j = 0; j < info->count; j++) {
            const struct lks_record_field *f = &info->fields[j];
            lks_test_case("%s %s", info->word, f->key);
            size_t size = f->type == LKS_RECORD_TEXT    ? sizeof(struct lks_str)
                          : f->type == LKS_RECORD_TRUTH ? sizeof(bool)
                                                        : sizeof(uint64_t);
            covered += size;
            padding += size % sizeof(uint64_t) == 0 ? 0 : sizeof(uint64_t) - size;
            CHECK(f->about[strlen(f->about) - 1] == '.');
            CHECK((f->words != NULL) == (f->type == LKS_RECORD_WORD));
            CHECK(f->since >= 1 && f->since <= lks_record_version(info));
            CHECK(j == 0 || f->since >= info->fields[j - 1].since);
            /* A row as JSON has these before the record's own. */
            CHECK(strcmp(f->key, "seq") != 0 && strcmp(f->key, "time") != 0 &&
                  strcmp(f->key, "kind") != 0);
            for (size_t k = 0; k < j; k++)
                CHECK(strcmp(f->key, info->fields[k].key) != 0 &&
                      f->offset != info->fields[k].offset);
        }
        CHECK(covered <= sizes[i] && covered + padding >= sizes[i]);
    }
    CHECK(lks_record_info(0) == NULL);
    CHECK(lks_record_info(9) == NULL);
    CHECK(lks_record_info(72) == NULL);
    CHECK(lks_record_info(UINT32_MAX) == NULL);
}

/* Golden: one record of each kind, with the values of set_field(), for ever. */
static const struct {
    const char *word, *hex;
} golden[] = {
    {"begun", "05676e30303100"},
    {"started", "05676e30303100"},
    {"limits", "4050607080019001a001b001c001d001e001f0018002"},
    {"clock", "405060066772c3bcc39f"},
    {"repaired", "4050097368613235363a6162066772c3bcc39f05676e303031"},
    {"trimmed", "4000097368613235363a6162066772c3bcc39f8001"},
    {"led", "4000097368613235363a6162"},
    {"signed", "4050"},
    {"fleet", "05676e30303100097368613235363a6162066772c3bcc39f"},
    {"pool", "05676e3030310060066772c3bcc39f05676e30303100097368613235363a6162066772c3bcc39f05676e3"
             "030310001f001800200"},
    {"pool-removed", "05676e30303100"},
    {"placed", "05676e30303100097368613235363a6162066772c3bcc39f05676e30303100097368613235363a61620"
               "66772c3bcc39f05676e30303100097368613235363a6162066772c3bcc39f05676e303031"},
    {"removed", "05676e30303100097368613235363a6162"},
    {"token", "05676e3030310060066772c3bcc39f05676e303031"},
    {"enrolled", "05676e30303100097368613235363a616270"},
    {"certified", "05676e30303100097368613235363a616270"},
    {"revoked", "05676e30303100097368613235363a6162"},
    {"liveness", "05676e30303101"},
    {"booted", "05676e30303100"},
    {"tuple-known", "05676e30303100"},
    {"tuple", "05676e30303100097368613235363a6162066772c3bcc39f80010000b001c00100097368613235363a61"
              "62066772c3bcc39f05676e303031"},
    {"parts", "05676e30303100097368613235363a6162066772c3bcc39f05676e303031"},
    {"noted", "05676e3030310101066772c3bcc39f"},
    {"basis", "05676e30303100"},
    {"verdict", "05676e303031000070800100097368613235363a6162066772c3bcc39f"},
    {"out-of-band", "05676e30303100097368613235363a6162066772c3bcc39f800100097368613235363a6162"},
    {"drift", "05676e30303100097368613235363a61620105676e30303100"},
    {"intake", "05676e30303100"},
    {"accepted", "05676e30303100097368613235363a6162"},
    {"held", "05676e30303100097368613235363a616270"},
    {"unheld", "05676e30303100097368613235363a6162"},
    {"replaced", "05676e30303100097368613235363a6162"},
    {"condition", "05676e30303101017005676e30303100097368613235363a6162"},
    {"drained", "05676e30303100097368613235363a616270"},
    {"undrained", "05676e30303100097368613235363a6162"},
    {"node-set", "05676e30303100097368613235363a6162066772c3bcc39f05676e303031"},
    {"advertised", "05676e30303100097368613235363a6162066772c3bcc39f"},
    {"alarm", "4001097368613235363a6162066772c3bcc39f"},
    {"alarm-released", "4000097368613235363a6162"},
    {"mass", "05676e3030310060708001"},
    {"slot", "05676e30303150097368613235363a6162"},
    {"granted", "05676e30303101097368613235363a6162066772c3bcc39f05676e3030310001066772c3bcc39f"},
    {"ungranted", "05676e30303101097368613235363a6162066772c3bcc39f05676e30303100"},
    {"api-token",
     "05676e30303100097368613235363a61627005676e3030310001b00105676e30303100097368613235363a6162"},
    {"api-token-gone", "05676e30303100097368613235363a6162"},
    {"token-renewed", "05676e30303150097368613235363a6162"},
    {"person-certified",
     "05676e30303100097368613235363a61627005676e3030310001b00105676e30303100097368613235363a6162"},
    {"person-revoked", "05676e30303100097368613235363a6162"},
    {"command",
     "4000097368613235363a6162066772c3bcc39f05676e3030319001a001066772c3bcc39f05676e303031"},
    {"command-ended", "400000066772c3bcc39f"},
    {"deviation", "4000097368613235363a6162066772c3bcc39f05676e30303100097368613235363a6162b0010567"
                  "6e30303100097368613235363a6162"},
    {"deviation-ended", "4000097368613235363a6162"},
    {"published", "05676e30303100097368613235363a6162066772c3bcc39f05676e30303100097368613235363a61"
                  "62066772c3bcc39f"},
    {"stepped", "05676e30303101097368613235363a6162066772c3bcc39f05676e303031"},
    {"image", "05676e30303100097368613235363a6162066772c3bcc39f05676e30303100097368613235363a616206"
              "6772c3bcc39f05676e303031"},
    {"image-gone", "05676e30303100097368613235363a6162"},
    {"artifact", "05676e3030310060066772c3bcc39f"},
    {"artifact-gone", "05676e30303100097368613235363a6162"},
    {"job", "05676e30303100097368613235363a6162066772c3bcc39f05676e30303100"},
    {"override", "05676e30303100097368613235363a6162066772c3bcc39f8001"},
    {"observed", "05676e303031016070"},
    {"job-ended", "05676e30303100097368613235363a6162066772c3bcc39f05676e30303100097368613235363a61"
                  "62066772c3bcc39f05676e303031d001e001066772c3bcc39f8002900200066772c3bcc39fc002d0"
                  "0200066772c3bcc39f05676e303031"},
    {"job-batch", "05676e30303100097368613235363a6162066772c3bcc39f05676e303031000001c001d001e0"
                  "01f001"},
    {"runs-read", "05676e3030310060066772c3bcc39f80019001"},
    {"refusal", "05676e30303101097368613235363a6162066772c3bcc39f05676e3030319001"},
    {"key-pinned", "05676e30303100097368613235363a6162066772c3bcc39f"},
    {"key-gone", "05676e30303100097368613235363a6162"},
    {"bundle", "05676e30303100097368613235363a6162066772c3bcc39f05676e30303100097368613235363a61620"
               "005676e30303100"},
    {"bundle-revoked", "05676e30303100097368613235363a6162"},
    {"endpoint", "05676e30303100097368613235363a6162066772c3bcc39f"},
    {"flash", "400000066772c3bcc39f05676e30303100097368613235363a6162b00105676e30303100010080020009"
              "7368613235363a6162"},
    {"flash-saved", "4000097368613235363a616270"},
    {"flash-ended", "400000066772c3bcc39f05676e3030319001"},
    {"flash-resolved", "4000097368613235363a6162066772c3bcc39f"},
    {"change", "4001097368613235363a6162066772c3bcc39f05676e30303190010100c001d001097368613235363a6"
               "162066772c3bcc39f05676e30303100097368613235363a6162b002c002d002e0020005676e303031"},
    {"plan-step",
     "4050600180019001097368613235363a6162066772c3bcc39f05676e30303100097368613235363a6162066772c3b"
     "cc39f05676e30303100097368613235363a6162066772c3bcc39f05676e303031000000800390030006"
     "6772c3bcc39fc00300"},
    {"plan-wave", "405000066772c3bcc39f80019001a001066772c3bcc39f05676e303031"},
    {"plan-part", "405060066772c3bcc39f05676e30303100097368613235363a6162"},
    {"plan-order", "4000097368613235363a6162"},
    {"plan-note", "4001097368613235363a6162"},
    {"change-voted", "4000097368613235363a6162066772c3bcc39f05676e30303100"},
    {"change-moved", "4001097368613235363a6162066772c3bcc39f05676e30303100"},
    {"wave", "4050007005676e303031"},
    {"member", "40000070019001a001b001c00101097368613235363a6162066772c3bcc39f8002"},
    {"revert-proven", "05676e30303100097368613235363a616270800100"},
    {"frozen", "05676e30303100097368613235363a6162066772c3bcc39f"},
    {"vote-withdrawn", "4000097368613235363a6162"},
    {"glass-broken", "4050097368613235363a6162066772c3bcc39f05676e303031"},
    {"reviewed", "4000097368613235363a6162066772c3bcc39f"},
    {"waived", "400060066772c3bcc39f05676e30303100097368613235363a6162"},
    {"plan-metric", "4000097368613235363a6162010001097368613235363a61620005676e30303101097368613235"
                    "363a6162066772c3bcc39f05676e303031"},
    {"plan-gate", "4000607080019001097368613235363a6162"},
    {"measured", "4050097368613235363a6162066772c3bcc39f05676e30303100a001b001c001d001e001f001"},
    {"gate-looked", "4050097368613235363a6162700000"},
    {"wave-limit", "405060066772c3bcc39f"},
    {"forecast", "4050607080019001a001b001c001d001097368613235363a6162"},
    {"job-act",
     "4000097368613235363a6162066772c3bcc39f05676e30303100000105676e303031d001e001066772c3bcc3"
     "9f"},
    {"lowered", "05676e30303100097368613235363a6162066772c3bcc39f"},
    {"deviation-agreed", "4000097368613235363a6162066772c3bcc39f"},
    {"ticket-heard", "05676e3030315060066772c3bcc39f05676e30303100"},
    {"ticket-told", "4000"},
    {"ticket-due", "4050600105676e30303100"},
    {"reset",
     "05676e30303101097368613235363a616270800100097368613235363a6162066772c3bcc39f05676e303031"},
    {"barred", "05676e3030310060"},
    {"audited", "405060708001"},
};

/* The same of kinds that have more fields by now, as the version before wrote them. */
static const struct {
    const char *word, *hex;
} golden_before[] = {
    {"limits", "4050607080019001a001b001"},
    {"trimmed", "4000097368613235363a6162066772c3bcc39f"},
    {"pool", "05676e3030310060066772c3bcc39f05676e30303100097368613235363a6162066772c3bcc39f"},
    {"tuple", "05676e30303100097368613235363a6162066772c3bcc39f80010000b001c00100"},
    {"change",
     "4001097368613235363a6162066772c3bcc39f05676e30303190010100c001d001097368613235363a6162066772"
     "c3bcc39f05676e303031"},
    {"change-moved", "4001097368613235363a6162066772c3bcc39f"},
    {"waived", "400060066772c3bcc39f05676e303031"},
    {"deviation",
     "4000097368613235363a6162066772c3bcc39f05676e30303100097368613235363a6162b00105676e303031"},
    {"plan-metric",
     "4000097368613235363a6162010001097368613235363a61620005676e30303101097368613235363a616206"
     "6772c3bcc39f"},
    {"granted", "05676e30303101097368613235363a6162066772c3bcc39f05676e303031"},
    {"api-token", "05676e30303100097368613235363a61627005676e303031"},
    {"published",
     "05676e30303100097368613235363a6162066772c3bcc39f05676e30303100097368613235363a6162"},
    {"stepped", "05676e30303101097368613235363a6162066772c3bcc39f"},
    {"change-voted", "4000097368613235363a6162066772c3bcc39f"},
    {"glass-broken", "4050097368613235363a6162066772c3bcc39f"},
    {"reviewed", "4000097368613235363a6162"},
    {"lowered", "05676e30303100097368613235363a6162"},
    {"deviation-agreed", "4000097368613235363a6162"},
    {"reset", "05676e30303101097368613235363a616270800100097368613235363a6162"},
    {"fleet", "05676e30303100097368613235363a6162"},
    {"token", "05676e3030310060066772c3bcc39f"},
    {"ungranted", "05676e30303101097368613235363a6162066772c3bcc39f05676e303031"},
    {"api-token-gone", "05676e30303100"},
    {"person-certified", "05676e30303100097368613235363a61627005676e3030310001b00105676e30303100"},
    {"person-revoked", "05676e30303100"},
    {"image", "05676e30303100097368613235363a6162066772c3bcc39f05676e30303100097368613235363a616206"
              "6772c3bcc39f"},
    {"bundle", "05676e30303100097368613235363a6162066772c3bcc39f05676e30303100097368613235363a61620"
               "005676e303031"},
    {"plan-wave", "405000066772c3bcc39f80019001a001066772c3bcc39f"},
    {"plan-step",
     "4050600180019001097368613235363a6162066772c3bcc39f05676e30303100097368613235363a6162066772c3b"
     "cc39f05676e30303100097368613235363a6162066772c3bcc39f05676e30303100000080039003"},
};

static void test_golden(void)
{
    CHECK_INT(LKS_COUNT(golden), lks_record_info_count);
    for (size_t i = 0; i < LKS_COUNT(golden) && i < lks_record_info_count; i++) {
        const struct lks_record_info *info = &lks_record_infos[i];
        lks_test_case("%s", golden[i].word);
        struct lks_record r = filled(info, 4);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf body = {0}, hex = {0};
        lks_buf_init(&body, OUT_MAX);
        lks_buf_init(&hex, OUT_MAX);
        lks_record_pack(&r, &body);
        lks_hex_add(&hex, (const uint8_t *)body.ptr, body.len);
        CHECK_STR(lks_str_from(info->word), golden[i].word);
        CHECK_STR(lks_buf_view(&hex), golden[i].hex);
    }
}

/* What the version before wrote reads as if what is newer were zero. */
static void test_golden_before(void)
{
    for (size_t i = 0; i < LKS_COUNT(golden_before); i++) {
        const struct lks_record_info *info = NULL;
        for (size_t k = 0; k < lks_record_info_count; k++) {
            if (strcmp(lks_record_infos[k].word, golden_before[i].word) == 0)
                info = &lks_record_infos[k];
        }
        lks_test_case("%s", golden_before[i].word);
        if (!CHECK(info != NULL))
            continue;
        struct lks_record want = filled(info, 4), got = {0}, zero = {0};
        uint8_t body[256];
        struct lks_err err = {0};
        size_t len = strlen(golden_before[i].hex) / 2;
        if (!CHECK(len <= sizeof(body)) ||
            !CHECK(lks_hex_read(lks_str_from(golden_before[i].hex), body, len)))
            continue;
        CHECK_CODE(
            lks_record_unpack(info->kind, 1, (struct lks_str){(char *)body, len}, &got, &err),
            LKS_OK);
        for (size_t j = 0; j < info->count; j++) {
            const struct lks_record_field *f = &info->fields[j];
            struct lks_record *as = f->since > 1 ? &zero : &want;
            CHECK(same_field(f, (char *)fields_of(&got) + f->offset,
                             (char *)fields_of(as) + f->offset));
        }
    }
}

static const struct {
    const char *name;
    unsigned kind, version;
    struct lks_str body;
    const char *says;
} refused[] = {
    {"a kind we do not know", 72, 1, LKS_STR_C(""), "kind 72"},
    {"kind 0", 0, 1, LKS_STR_C(""), "kind 0"},
    {"a newer version", LKS_RECORD_LIVENESS, 2, LKS_STR_C("\3gn1\1"), "a newer lockstep wrote it"},
    {"version 0", LKS_RECORD_LIVENESS, 0, LKS_STR_C("\3gn1\1"), "version 0"},
    {"nothing", LKS_RECORD_LIVENESS, 1, LKS_STR_C(""), "node is missing"},
    {"a field missing", LKS_RECORD_LIVENESS, 1, LKS_STR_C("\3gn1"), "state is missing"},
    {"a byte left over", LKS_RECORD_LIVENESS, 1, LKS_STR_C("\3gn1\1\0"), "1 bytes left over"},
    {"a text cut short", LKS_RECORD_LIVENESS, 1, LKS_STR_C("\4gn1"), "node is cut short"},
    {"a text of no end", LKS_RECORD_LIVENESS, 1,
     LKS_STR_C("\xff\xff\xff\xff\xff\xff\xff\xff\xff\1gn1\1"), "node is cut short"},
    {"a word that is not in its list", LKS_RECORD_LIVENESS, 1, LKS_STR_C("\3gn1\4"), "no word"},
    {"a number in more bytes than it needs", LKS_RECORD_LIVENESS, 1, LKS_STR_C("\3gn1\x81\0"),
     "not a number"},
    {"a zero in two bytes", LKS_RECORD_LIVENESS, 1, LKS_STR_C("\3gn1\x80\0"), "not a number"},
    {"a length in more bytes than it needs", LKS_RECORD_LIVENESS, 1, LKS_STR_C("\x83\0gn1\1"),
     "node is not a number"},
    {"a number without an end", LKS_RECORD_LIVENESS, 1, LKS_STR_C("\3gn1\x81"), "not a number"},
    {"a number beyond 64 bits", LKS_RECORD_ALARM_RELEASED, 1,
     LKS_STR_C("\xff\xff\xff\xff\xff\xff\xff\xff\xff\2\0\0"), "id is not a number"},
    {"a number in eleven bytes", LKS_RECORD_ALARM_RELEASED, 1,
     LKS_STR_C("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\0\0"), "id is not a number"},
    {"bytes that are not UTF-8", LKS_RECORD_LIVENESS, 1, LKS_STR_C("\3g\xff\x31\1"), "not UTF-8"},
    {"a character cut in two", LKS_RECORD_LIVENESS, 1, LKS_STR_C("\1\xc3\1"), "not UTF-8"},
    {"a zero byte in a text", LKS_RECORD_LIVENESS, 1, LKS_STR_C("\3g\0001\1"), "not UTF-8"},
    {"a truth that is two", LKS_RECORD_NOTED, 1, LKS_STR_C("\3gn1\0\2\0"), "neither true nor"},
};

static void test_refused(void)
{
    for (size_t i = 0; i < LKS_COUNT(refused); i++) {
        lks_test_case("%s", refused[i].name);
        struct lks_record r = {.kind = LKS_RECORD_CLOCK, .clock = {.wall = 7}};
        struct lks_err err = {0};
        CHECK_CODE(
            lks_record_unpack(refused[i].kind, refused[i].version, refused[i].body, &r, &err),
            LKS_E_INVALID);
        CHECK_HAS(lks_str_from(err.msg), refused[i].says);
        CHECK(r.kind == LKS_RECORD_CLOCK && r.clock.wall == 7);
    }
}

static void test_too_large(void)
{
    struct lks_record r = {0};
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(OUT_MAX);
    lks_buf_pad(&body, 'x', (ptrdiff_t)LKS_RECORD_BODY_MAX + 1);
    CHECK_CODE(lks_record_unpack(LKS_RECORD_LIVENESS, 1, lks_buf_view(&body), &r, &err),
               LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "at most");
}

/* A kind whose second version got two fields more. Bytes of the first read as if they were zero;
 * bytes of the second have them; neither passes for the other. */
struct grown {
    struct lks_str node;
    uint64_t count;
    struct lks_str why;
};
static const struct lks_record_field grown_fields[] = {
    {"node", LKS_RECORD_TEXT, offsetof(struct grown, node), NULL, 1, ".", false},
    {"count", LKS_RECORD_NUMBER, offsetof(struct grown, count), NULL, 2, ".", false},
    {"why", LKS_RECORD_TEXT, offsetof(struct grown, why), NULL, 2, ".", false},
};
static const struct lks_record_info grown = {LKS_RECORD_LIVENESS, "grown", grown_fields, 3, "."};

static void test_version_before(void)
{
    struct grown now = {LKS_STR("gn1"), 5, LKS_STR("x")}, got = {0};
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(OUT_MAX);
    lks_record_fields_pack(&grown, &now, &body);
    CHECK(lks_str_eq(lks_buf_view(&body), LKS_STR("\3gn1\5\1x")));
    CHECK_CODE(lks_record_fields_unpack(&grown, 2, lks_buf_view(&body), &got, &err), LKS_OK);
    CHECK(got.count == 5 && lks_str_is(got.why, "x"));

    struct grown old = {0};
    CHECK_CODE(lks_record_fields_unpack(&grown, 1, LKS_STR("\3gn2"), &old, &err), LKS_OK);
    CHECK_STR(old.node, "gn2");
    CHECK(old.count == 0 && old.why.len == 0);
    CHECK_CODE(lks_record_fields_unpack(&grown, 1, lks_buf_view(&body), &old, &err), LKS_E_INVALID);
    CHECK_CODE(lks_record_fields_unpack(&grown, 2, LKS_STR("\3gn2"), &old, &err), LKS_E_INVALID);
    CHECK_CODE(lks_record_fields_unpack(&grown, 3, lks_buf_view(&body), &old, &err), LKS_E_INVALID);
}

static const struct {
    const char *name;
    struct lks_record record;
    const char *json;
} jsons[] = {
    {"a word and a text",
     {.kind = LKS_RECORD_LIVENESS, .liveness = {LKS_STR_C("gn1"), LKS_LATE}},
     "{\"kind\":\"liveness\",\"node\":\"gn1\",\"state\":\"late\"}"},
    {"a word that is zero",
     {.kind = LKS_RECORD_LIVENESS, .liveness = {LKS_STR_C("gn1"), LKS_NEVER_SEEN}},
     "{\"kind\":\"liveness\",\"node\":\"gn1\",\"state\":\"unseen\"}"},
    {"an alarm's kind has another name",
     {.kind = LKS_RECORD_ALARM, .alarm = {3, LKS_ALARM_CLOCK, LKS_STR_C(""), LKS_STR_C("a\"b")}},
     "{\"kind\":\"alarm\",\"id\":3,\"alarm\":\"clock\",\"text\":\"a\\\"b\"}"},
    {"a time",
     {.kind = LKS_RECORD_CLOCK, .clock = {.wall = 1794713858123}},
     "{\"kind\":\"clock\",\"wall\":\"2026-11-15T03:37:38.123Z\"}"},
    {"the largest number",
     {.kind = LKS_RECORD_TRIMMED, .trimmed = {.through = UINT64_MAX}},
     "{\"kind\":\"trimmed\",\"through\":18446744073709551615}"},
    {"a truth that is false",
     {.kind = LKS_RECORD_NOTED, .noted = {LKS_STR_C("gn1"), LKS_NOTE_REPLAY, false, {0}}},
     "{\"kind\":\"noted\",\"node\":\"gn1\",\"note\":\"replay\",\"on\":false}"},
    {"nothing set", {.kind = LKS_RECORD_HELD}, "{\"kind\":\"held\"}"},
    {"no digest of a node's token",
     {.kind = LKS_RECORD_TOKEN,
      .token = {.node = LKS_STR_C("gn1"), .hash = LKS_STR_C("sha256:ab")}},
     "{\"kind\":\"token\",\"node\":\"gn1\"}"},
    {"no digest of an API token",
     {.kind = LKS_RECORD_API_TOKEN,
      .api_token = {.id = LKS_STR_C("t"), .hash = LKS_STR_C("sha256:ab")}},
     "{\"kind\":\"api-token\",\"id\":\"t\",\"root\":false}"},
};

static void test_json(void)
{
    for (size_t i = 0; i < LKS_COUNT(jsons); i++) {
        lks_test_case("%s", jsons[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = {0};
        struct lks_json_writer w = {.out = &out};
        lks_buf_init(&out, OUT_MAX);
        lks_json_begin(&w, NULL, '{');
        lks_record_json_shown(&jsons[i].record, &w);
        lks_json_end(&w, '}');
        CHECK_STR(lks_buf_view(&out), jsons[i].json);
    }
}

static void test_words(void)
{
    uint64_t n = 7;
    CHECK(lks_record_word_find(lks_role_words, LKS_STR("admin"), &n));
    CHECK_INT(n, LKS_ROLE_ADMIN);
    CHECK(lks_record_word_find(lks_outcome_words, LKS_STR("unknown"), &n));
    CHECK_INT(n, LKS_OUTCOME_UNKNOWN);
    CHECK(lks_record_word_find(lks_judged_words, LKS_STR("unmeasured"), &n));
    CHECK_INT(n, LKS_JUDGED_UNMEASURED);
    CHECK(lks_record_word_find(lks_note_words, LKS_STR("contradiction"), &n));
    CHECK_INT(n, LKS_NOTE_CONTRADICTION);
    n = 7;
    CHECK(!lks_record_word_find(lks_role_words, LKS_STR("Admin"), &n));
    CHECK(!lks_record_word_find(lks_role_words, LKS_STR(""), &n));
    CHECK_INT(n, 7);
}

/* Bytes nobody wrote are refused, or are exactly what packing what was read gives again. */
static void test_noise(void)
{
    struct lks_rng rng = {3};
    size_t taken = 0;
    for (int i = 0; i < 200000; i++) {
        char bytes[12];
        size_t len = lks_rng_below(&rng, sizeof(bytes) + 1);
        for (size_t j = 0; j < len; j++)
            bytes[j] = (char)lks_rng_below(&rng, lks_rng_percent(&rng, 80) ? 4 : 256);
        const struct lks_record_info *info =
            &lks_record_infos[lks_rng_below(&rng, lks_record_info_count)];
        struct lks_record r = {0};
        struct lks_err err = {0};
        const struct lks_str body = {bytes, len};
        if (lks_record_unpack(info->kind, lks_record_version(info), body, &r, &err) != LKS_OK)
            continue;
        LKS_CLEANUP(lks_buf_fini) struct lks_buf again = LKS_BUF(OUT_MAX);
        lks_record_pack(&r, &again);
        taken++;
        if (!CHECK(lks_str_eq(lks_buf_view(&again), body)))
            return;
    }
    CHECK(taken > 100);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"record: every kind, every field", test_round_trip},
        {"record: the tables", test_tables},
        {"record: golden", test_golden},
        {"record: golden, of the version before", test_golden_before},
        {"record: refused", test_refused},
        {"record: too large", test_too_large},
        {"record: the version before", test_version_before},
        {"record: JSON", test_json},
        {"record: words", test_words},
        {"record: noise", test_noise},
        {0},
    });
}
