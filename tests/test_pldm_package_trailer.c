/* The signature behind a package: read within its bounds, good only for what it signs. */
#include "tests/packages.h"
#include "tests/test.h"

enum { FILE_MAX = 1 << 20 };

/* A signed file, and all that is known about it. */
struct signed_file {
    struct lks_buf file, pem;
    struct lks_pldm_package package;
    struct lks_pldm_trailer trailer;
};

static struct lks_str tail_of(const struct lks_buf *file)
{
    return (struct lks_str){file->ptr + file->len - LKS_PLDM_TRAILER_BYTES, LKS_PLDM_TRAILER_BYTES};
}

static void signed_make(struct signed_file *s, uint8_t revision)
{
    *s = (struct signed_file){0};
    struct lks_err err = {0};
    lks_buf_init(&s->file, FILE_MAX);
    lks_buf_init(&s->pem, FILE_MAX);
    lks_test_package_sample_file(revision, &s->file);
    lks_test_package_sign(&s->file, &s->pem);
    CHECK_CODE(lks_pldm_package_parse(lks_buf_view(&s->file), s->file.len, true, &s->package, &err),
               LKS_OK);
    CHECK_CODE(lks_pldm_trailer_parse(tail_of(&s->file), s->file.len - LKS_PLDM_TRAILER_BYTES,
                                      &s->trailer, &err),
               LKS_OK);
}

static void signed_end(struct signed_file *s)
{
    lks_buf_fini(&s->file);
    lks_buf_fini(&s->pem);
    lks_pldm_package_fini(&s->package);
}

static void sum_up(const struct signed_file *s, struct lks_pldm_sums *out)
{
    LKS_CLEANUP(lks_pldm_package_pass_fini) struct lks_pldm_pass pass = {0};
    struct lks_err err = {0};
    struct lks_pldm_pass_options options = {
        .file_size = s->file.len,
        .trailer_size = LKS_PLDM_TRAILER_BYTES,
        .signed_size = s->trailer.signed_size,
    };
    CHECK_CODE(lks_pldm_package_pass_init(&pass, &s->package, &options, &err), LKS_OK);
    for (size_t at = 0; at < s->file.len; at += 100) {
        size_t n = s->file.len - at < 100 ? s->file.len - at : 100;
        CHECK_CODE(lks_pldm_package_pass_feed(&pass, (struct lks_str){s->file.ptr + at, n}, &err),
                   LKS_OK);
    }
    CHECK_CODE(lks_pldm_package_pass_finish(&pass, out, &err), LKS_OK);
    out->components = NULL; /* goes with the pass */
}

static void good_signature_is_good(void)
{
    for (uint8_t revision = 1; revision <= LKS_PLDM_REVISION_MAX; revision++) {
        struct signed_file s;
        struct lks_pldm_sums sums = {0};
        struct lks_pin pin;
        struct lks_err err = {0};
        lks_test_case("revision %u", revision);
        signed_make(&s, revision);
        CHECK_INT(s.trailer.major, 3);
        CHECK_INT(s.trailer.security_version, 1);
        CHECK(lks_str_eq(s.trailer.key, lks_buf_view(&s.pem)));
        CHECK_INT(s.trailer.signed_size, s.file.len - LKS_PLDM_TRAILER_BYTES + 18 + s.pem.len);
        sum_up(&s, &sums);
        CHECK_CODE(lks_pldm_trailer_verify(&s.trailer, sums.signed_part, NULL, &err), LKS_OK);
        CHECK_CODE(lks_signature_pin_parse(lks_buf_view(&s.pem), &pin, &err), LKS_OK);
        CHECK_CODE(lks_pldm_trailer_verify(&s.trailer, sums.signed_part, &pin, &err), LKS_OK);
        CHECK_CODE(lks_pldm_package_sums_check(&s.package, &sums, &err), LKS_OK);
        CHECK_INT(sums.loose + sums.behind, 0);
        signed_end(&s);
    }
}

/* The payload's checksum may run to the end of the file or only to that of the package. */
static void both_checksums_are_good(void)
{
    struct signed_file s;
    struct lks_pldm_sums sums = {0};
    struct lks_err err = {0};
    signed_make(&s, 4);
    sum_up(&s, &sums);
    CHECK(sums.payload_crc != sums.package_crc);
    CHECK_INT(s.package.payload_crc, sums.package_crc);
    CHECK(lks_test_package_mend(&s.file)); /* now it covers the trailer too */
    LKS_CLEANUP(lks_pldm_package_fini) struct lks_pldm_package other = {0};
    CHECK_CODE(lks_pldm_package_open(lks_buf_view(&s.file), true, &other, &err), LKS_OK);
    CHECK_INT(other.payload_crc, sums.payload_crc);
    CHECK_CODE(lks_pldm_package_sums_check(&other, &sums, &err), LKS_OK);
    signed_end(&s);
}

/* Any byte that is signed counts. */
static void changed_bytes_are_seen(void)
{
    struct signed_file s;
    struct lks_err err = {0};
    signed_make(&s, 1);
    for (size_t at = 0; at < s.trailer.signed_size; at += 37) {
        struct lks_pldm_sums sums = {0};
        lks_test_case("byte %zu", at);
        s.file.ptr[at] ^= 1;
        sum_up(&s, &sums);
        s.file.ptr[at] ^= 1;
        CHECK_CODE(lks_pldm_trailer_verify(&s.trailer, sums.signed_part, NULL, &err),
                   LKS_E_REFUSED);
        CHECK_STR(lks_str_from(err.msg),
                  "the signature is not that of this file by the key that comes with it");
    }
    signed_end(&s);
}

static void other_keys_are_refused(void)
{
    struct signed_file s, other;
    struct lks_pldm_sums sums = {0};
    struct lks_pin pin;
    struct lks_err err = {0};
    signed_make(&s, 1);
    signed_make(&other, 1);
    sum_up(&s, &sums);
    CHECK_CODE(lks_signature_pin_parse(lks_buf_view(&other.pem), &pin, &err), LKS_OK);
    CHECK_CODE(lks_pldm_trailer_verify(&s.trailer, sums.signed_part, &pin, &err), LKS_E_REFUSED);
    CHECK_STR(lks_str_from(err.msg), "the signature is not that of this file by the pinned key");
    CHECK_CODE(lks_signature_pin_parse(
                   LKS_STR("ed25519:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="), &pin, &err),
               LKS_OK);
    CHECK_CODE(lks_pldm_trailer_verify(&s.trailer, sums.signed_part, &pin, &err), LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "made with a P-384 key, and this is a ed25519 one");
    signed_end(&s);
    signed_end(&other);
}

static const struct bad_row {
    const char *name;
    size_t at;
    struct lks_str bytes;
    const char *message;
} bad_rows[] = {
    {"no magic", 0, LKS_STR_C("\0"), "no signature trailer"},
    {"version 2", 4, LKS_STR_C("\x02"),
     "a signature trailer of version 2; only version 3 is known"},
    {"another algorithm", 13, LKS_STR_C("\x01"),
     "a signature trailer with an unknown algorithm: 1"},
    {"key elsewhere", 14, LKS_STR_C("\x00\x20"), "the key is not within the signature trailer"},
    {"key behind the end", 14, LKS_STR_C("\xff\xff"),
     "the key is not within the signature trailer"},
    {"key too long", 16, LKS_STR_C("\x03\xef"), "the key is not within the signature trailer"},
    {"no key", 16, LKS_STR_C("\x00\x00"), "the key is not within the signature trailer"},
    {"signature in the key", 7, LKS_STR_C("\x00\x12"),
     "the signature is not within the signature trailer"},
    {"signature at the very end", 7, LKS_STR_C("\x03\xff"),
     "the signature is not within the signature trailer"},
    {"signature behind the end", 7, LKS_STR_C("\x04\x00"),
     "the signature is not within the signature trailer"},
};

static void bounds_are_kept(void)
{
    struct signed_file s;
    signed_make(&s, 1);
    for (size_t i = 0; i < LKS_COUNT(bad_rows); i++) {
        const struct bad_row *row = &bad_rows[i];
        char tail[LKS_PLDM_TRAILER_BYTES];
        struct lks_pldm_trailer t = {0};
        struct lks_err err = {0};
        lks_test_case("%s", row->name);
        memcpy(tail, tail_of(&s.file).ptr, sizeof(tail));
        memcpy(tail + row->at, row->bytes.ptr, row->bytes.len);
        CHECK_CODE(lks_pldm_trailer_parse((struct lks_str){tail, sizeof(tail)}, 188, &t, &err),
                   LKS_E_INVALID);
        CHECK_STR(lks_str_from(err.msg), row->message);
        CHECK_INT(t.major, 0);
    }
    signed_end(&s);
}

static void broken_keys_are_told(void)
{
    struct signed_file s;
    struct lks_pldm_sums sums = {0};
    struct lks_err err = {0};
    signed_make(&s, 1);
    sum_up(&s, &sums);
    s.trailer.key = LKS_STR("-----BEGIN PUBLIC KEY-----\nnone\n-----END PUBLIC KEY-----\n");
    CHECK_CODE(lks_pldm_trailer_verify(&s.trailer, sums.signed_part, NULL, &err), LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "the key in the signature trailer: ");
    signed_end(&s);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"a signature is good by the key that comes with it, and by the same one pinned",
         good_signature_is_good},
        {"either form of the payload's checksum is good", both_checksums_are_good},
        {"a changed byte is seen", changed_bytes_are_seen},
        {"another key is refused", other_keys_are_refused},
        {"a trailer is read within its bounds", bounds_are_kept},
        {"a key that is none is told", broken_keys_are_told},
        {0},
    };
    return lks_test_main(tests);
}
