#include "codec/format/digest.h"
#include "codec/notation/version.h"
#include "lab/bmcsim/parts.h"
#include "pldm/bytes.h"
#include "pldm/package.h"

#include <stdio.h>
#include <stdlib.h>

/* An image starts with a head of fixed size: magic, class, version, and a seal over all of it that
 * does not occur by chance. It represents a vendor's signature: devices take nothing without it. */
#define MAGIC      "LKSIMAGE"
#define CLASS_AT   8
#define CLASS_SIZE 24
#define VER_AT     (CLASS_AT + CLASS_SIZE)
#define SEAL_AT    (VER_AT + LKS_BMCSIM_VERSION_SIZE)
#define HEAD_SIZE  (SEAL_AT + LKS_DIGEST_SIZE)
#define SEAL_KEY   "a key that only makers of simulated firmware have"
#define FLAW       "flaws:" /* a payload that begins so has behind it a revision that it fails on */
#define SLOW_AT    (sizeof(FLAW) - 1 + LKS_BMCSIM_REVISION_SIZE) /* and how much slower it makes */
#define FLAW_SIZE  (SLOW_AT + 5)
#define IANA_ID    5703 /* of the samples that everyone uses */

/* The seal of an image whose head up to the seal and whose payload are given. */
static bool seal(struct lks_str head, struct lks_str payload, char out[LKS_DIGEST_SIZE])
{
    char digest[LKS_DIGEST_SIZE];
    struct lks_err err;
    if (lks_digest_text(payload, digest, &err) != LKS_OK)
        return false;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf all = LKS_BUF(1024);
    lks_buf_add(&all, LKS_STR(SEAL_KEY));
    lks_buf_add(&all, head);
    lks_buf_add(&all, lks_str_from(digest));
    return all.failed == LKS_OK && lks_digest_text(lks_buf_view(&all), out, &err) == LKS_OK;
}

enum lks_bmcsim_seal lks_bmcsim_image_check(struct lks_str image, const char *class,
                                            const char *version)
{
    if (image.len < HEAD_SIZE || memcmp(image.ptr, MAGIC, strlen(MAGIC)) != 0)
        return LKS_SEAL_NONE;
    char want[LKS_DIGEST_SIZE];
    struct lks_str payload = {image.ptr + HEAD_SIZE, image.len - HEAD_SIZE};
    if (!seal((struct lks_str){image.ptr, SEAL_AT}, payload, want) ||
        memcmp(want, image.ptr + SEAL_AT, LKS_DIGEST_SIZE) != 0)
        return LKS_SEAL_BAD;
    if (strncmp(image.ptr + CLASS_AT, class, CLASS_SIZE) != 0 ||
        strncmp(image.ptr + VER_AT, version, LKS_BMCSIM_VERSION_SIZE) != 0)
        return LKS_SEAL_OTHER;
    return LKS_SEAL_GOOD;
}

struct lks_bmcsim_flaw lks_bmcsim_image_flaw(struct lks_str image)
{
    struct lks_bmcsim_flaw flaw = {0};
    const char *payload = image.ptr + HEAD_SIZE;
    uint64_t slower = 0;
    if (image.len < HEAD_SIZE + FLAW_SIZE || memcmp(payload, FLAW, strlen(FLAW)) != 0)
        return flaw;
    (void)snprintf(flaw.fails_on, sizeof(flaw.fails_on), "%.*s", LKS_BMCSIM_REVISION_SIZE - 1,
                   payload + strlen(FLAW));
    if (lks_str_number((struct lks_str){payload + SLOW_AT, 4}, LKS_BMCSIM_SLOWER_MAX, &slower))
        flaw.slower = (unsigned)slower;
    return flaw;
}

static void add_flaw(const struct lks_bmcsim_make *make, struct lks_buf *out)
{
    char flaw[FLAW_SIZE] = FLAW;
    if (make->fails_on != NULL)
        (void)snprintf(flaw + strlen(FLAW), LKS_BMCSIM_REVISION_SIZE, "%s", make->fails_on);
    (void)snprintf(flaw + SLOW_AT, FLAW_SIZE - SLOW_AT, "%04u", make->slower % 10000);
    lks_buf_add(out, (struct lks_str){flaw, sizeof(flaw)});
}

static bool make_image(const struct lks_bmcsim_make *make, const char *class, struct lks_buf *out)
{
    char head[HEAD_SIZE] = MAGIC;
    (void)snprintf(head + CLASS_AT, CLASS_SIZE, "%s", class);
    (void)snprintf(head + VER_AT, LKS_BMCSIM_VERSION_SIZE, "%s", make->version);
    size_t payload = make->size > HEAD_SIZE + FLAW_SIZE ? make->size - HEAD_SIZE : FLAW_SIZE;
    lks_buf_init(out, HEAD_SIZE + payload + 8);
    lks_buf_add(out, (struct lks_str){head, HEAD_SIZE});
    if (make->fails_on != NULL || make->slower > 0)
        add_flaw(make, out);
    struct lks_rng rng = {.state = make->seed ^ lks_bmcsim_image_row_component(class)};
    for (size_t left = HEAD_SIZE + payload - out->len; left > 0;) {
        uint64_t word = lks_rng_next(&rng);
        char bytes[8];
        size_t n = left < sizeof(bytes) ? left : sizeof(bytes);
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (char)(word >> (8 * i));
        lks_buf_add(out, (struct lks_str){bytes, n});
        left -= n;
    }
    return out->failed == LKS_OK &&
           seal((struct lks_str){out->ptr, SEAL_AT},
                (struct lks_str){out->ptr + HEAD_SIZE, payload}, out->ptr + SEAL_AT);
}

/* ---- What identifies devices ---- */

void lks_bmcsim_image_row_uuid(enum lks_bmcsim_personality personality, const char *class,
                               uint8_t out[16])
{
    struct lks_rng rng = {.state = (uint64_t)personality + 1};
    for (const char *p = class; *p != '\0'; p++)
        rng.state = rng.state * 31 + (uint8_t)*p;
    uint64_t high = lks_rng_next(&rng), low = lks_rng_next(&rng);
    for (unsigned i = 0; i < 8; i++) {
        out[i] = (uint8_t)(high >> (8 * i));
        out[8 + i] = (uint8_t)(low >> (8 * i));
    }
}

uint16_t lks_bmcsim_image_row_component(const char *class)
{
    unsigned sum = 0;
    for (const char *p = class; *p != '\0'; p++)
        sum = sum * 31 + (uint8_t)*p;
    return (uint16_t)(sum & 0x7fffU);
}

uint32_t lks_bmcsim_image_stamp(struct lks_str version)
{
    uint32_t stamp = 0;
    struct lks_str rest = version, part;
    for (unsigned i = 0; i < 4; i++) {
        uint64_t number = 0;
        lks_str_cut(rest, '.', &part, &rest);
        if (!lks_str_number(part, 254, &number))
            number = part.len > 0 ? 254 : 0;
        stamp = stamp << 8 | (uint32_t)number;
    }
    return stamp;
}

int lks_bmcsim_image_version_cmp(const struct lks_bmcsim_unit *u, const char *a, const char *b)
{
    enum lks_version_scheme scheme =
        strcmp(u->row->class, "vbios") == 0 ? LKS_VERSION_VBIOS : LKS_VERSION_FIRMWARE;
    return lks_version_cmp(lks_str_from(a), lks_str_from(b), scheme);
}

/* ---- Packages ---- */

#define CLASSES_MAX 32

struct made {
    size_t count;
    const char *classes[CLASSES_MAX];
    uint8_t uuids[CLASSES_MAX][16];
    struct lks_buf images[CLASSES_MAX];
    struct lks_str views[CLASSES_MAX];
    uint16_t indices[CLASSES_MAX];
    struct lks_pldm_descriptor descriptors[CLASSES_MAX][2];
    struct lks_pldm_record records[CLASSES_MAX];
    struct lks_pldm_component components[CLASSES_MAX];
};

static void made_fini(struct made *m)
{
    for (size_t i = 0; i < m->count; i++)
        lks_buf_fini(&m->images[i]);
    m->count = 0;
}

static void choose(enum lks_bmcsim_personality personality, const char *class,
                   const char *out[CLASSES_MAX], size_t *count)
{
    const struct lks_bmcsim_kind *kind = &lks_bmcsim_kinds[personality];
    *count = 0;
    for (size_t i = 0; i < kind->row_count && *count < CLASSES_MAX; i++) {
        const struct lks_bmcsim_row *row = &kind->rows[i];
        bool known =
            (row->flags & LKS_ROW_FIXED) != 0 || (class != NULL && strcmp(class, row->class) != 0);
        for (size_t j = 0; j < *count; j++)
            known = known || strcmp(out[j], row->class) == 0;
        if (!known)
            out[(*count)++] = row->class;
    }
}

/* One record with one component for a class. */
static bool add_class(struct made *m, const struct lks_bmcsim_make *make, const char *class)
{
    struct lks_str version = lks_str_from(make->version);
    static const char iana[4] = {IANA_ID & 0xff, IANA_ID >> 8, 0, 0};
    size_t i = m->count++;
    struct lks_pldm_string text = {.type = LKS_PLDM_STRING_ASCII, .bytes = version};
    lks_bmcsim_image_row_uuid(make->personality, class, m->uuids[i]);
    m->descriptors[i][0] = (struct lks_pldm_descriptor){.type = LKS_PLDM_UUID,
                                                        .value = {(const char *)m->uuids[i], 16}};
    m->descriptors[i][1] =
        (struct lks_pldm_descriptor){.type = LKS_PLDM_IANA, .value = {iana, sizeof(iana)}};
    m->indices[i] = (uint16_t)i;
    m->records[i] = (struct lks_pldm_record){.options = LKS_PLDM_DEVICE_CONTINUES,
                                             .version = text,
                                             .descriptors = m->descriptors[i],
                                             .descriptor_count = 2,
                                             .components = &m->indices[i],
                                             .component_count = 1};
    if (!make_image(make, class, &m->images[i]))
        return false;
    m->views[i] = lks_buf_view(&m->images[i]);
    m->components[i] = (struct lks_pldm_component){.classification = 0xa,
                                                   .id = lks_bmcsim_image_row_component(class),
                                                   .stamp = lks_bmcsim_image_stamp(version),
                                                   .options = LKS_PLDM_COMPONENT_STAMP,
                                                   .size = (uint32_t)m->views[i].len,
                                                   .version = text};
    return true;
}

enum lks_code lks_bmcsim_image_package_make(const struct lks_bmcsim_make *make, struct lks_buf *out,
                                            struct lks_err *err)
{
    LKS_CLEANUP(made_fini) struct made made = {0};
    const char *classes[CLASSES_MAX], *version = make->version;
    size_t count;
    if (strlen(version) >= LKS_BMCSIM_VERSION_SIZE || version[0] == '\0')
        return lks_fail(err, LKS_E_INVALID, "a version has 1 to %d characters",
                        LKS_BMCSIM_VERSION_SIZE - 1);
    if (make->fails_on != NULL && strlen(make->fails_on) >= LKS_BMCSIM_REVISION_SIZE)
        return lks_fail(err, LKS_E_INVALID, "a hardware revision has at most %d characters",
                        LKS_BMCSIM_REVISION_SIZE - 1);
    if (make->slower > LKS_BMCSIM_SLOWER_MAX)
        return lks_fail(err, LKS_E_INVALID, "slower by at most %d thousandths",
                        LKS_BMCSIM_SLOWER_MAX);
    choose(make->personality, make->class, classes, &count);
    if (count == 0)
        return lks_fail(err, LKS_E_NOT_FOUND, "%s has no device of class %s that can be updated",
                        lks_bmcsim_words[make->personality],
                        make->class != NULL ? make->class : "?");
    for (size_t i = 0; i < count; i++)
        if (!add_class(&made, make, classes[i]))
            return lks_fail_nomem(err);
    struct lks_pldm_package package = {
        .revision = 2,
        .released = {.year = 2026, .month = 11, .day = 15},
        .version = {.type = LKS_PLDM_STRING_ASCII, .bytes = lks_str_from(version)},
        .devices = made.records,
        .device_count = made.count,
        .components = made.components,
        .component_count = made.count,
    };
    return lks_pldm_package_build(&package, made.views, out, err);
}

enum lks_code lks_bmcsim_image_package(enum lks_bmcsim_personality personality, const char *class,
                                       const char *version, uint64_t seed, size_t size,
                                       struct lks_buf *out, struct lks_err *err)
{
    return lks_bmcsim_image_package_make(&(struct lks_bmcsim_make){.personality = personality,
                                                                   .class = class,
                                                                   .version = version,
                                                                   .seed = seed,
                                                                   .size = size},
                                         out, err);
}
