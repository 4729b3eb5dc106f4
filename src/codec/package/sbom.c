#include "codec/package/sbom.h"

#include "codec/format/digest.h"
#include "codec/notation/glob.h"
#include "codec/notation/version.h"

#include <jansson.h>

enum { MEMORY_MAX = 64 << 10 };

const char *const lks_sbom_words[] = {"nccl", "rccl", "cudnn", "cuda", NULL};

/* Names of packages that carry a library: of Debian and RPM, of wheels, of conda. `numbers` of its
 * version are the library's; `alone`: they say less than another package of the same library. */
static const struct {
    const char *pattern;
    enum lks_sbom_library library;
    unsigned numbers;
    bool alone;
} carriers[] = {
    {"libnccl2", LKS_SBOM_NCCL, 3, false},
    {"libnccl", LKS_SBOM_NCCL, 3, false},
    {"nvidia-nccl-cu#", LKS_SBOM_NCCL, 3, false},
    {"nccl", LKS_SBOM_NCCL, 3, false},
    {"rccl", LKS_SBOM_RCCL, 3, false},
    {"rccl#.#.#", LKS_SBOM_RCCL, 3, false},
    {"libcudnn#", LKS_SBOM_CUDNN, 3, false},
    {"libcudnn#-cuda-#", LKS_SBOM_CUDNN, 3, false},
    {"nvidia-cudnn-cu#", LKS_SBOM_CUDNN, 3, false},
    {"cudnn", LKS_SBOM_CUDNN, 3, false},
    {"cuda-toolkit-#-#", LKS_SBOM_CUDA, 3, false},
    {"cuda-libraries-#-#", LKS_SBOM_CUDA, 3, false},
    {"cuda-runtime-#-#", LKS_SBOM_CUDA, 3, false},
    {"cuda-cudart-#-#", LKS_SBOM_CUDA, 2, true},
    {"cuda-cudart", LKS_SBOM_CUDA, 2, true},
    {"nvidia-cuda-runtime-cu#", LKS_SBOM_CUDA, 2, true},
    {"nvidia-cuda-runtime", LKS_SBOM_CUDA, 2, true},
};

struct reader {
    const char *source;
    struct lks_sbom *out;
    bool alone[LKS_SBOM_LIBRARY_COUNT]; /* what was found came from such a package */
    struct lks_err *err;
};

static struct lks_str text_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    struct lks_str text = {json_string_value(value), json_string_length(value)};
    return text.ptr != NULL ? text : LKS_STR("");
}

static enum lks_code keep(struct reader *r, struct lks_str text, struct lks_str *out)
{
    struct lks_str copy = lks_arena_copy(&r->out->arena, text);
    if (copy.ptr == NULL)
        return lks_arena_fail(&r->out->arena, r->err);
    *out = copy;
    return LKS_OK;
}

/* Packages ---------------------------------------------------------------------------------- */

/* What its maker numbers, `numbers` of them at the most; empty for what is no version. */
static struct lks_str numbers_of(struct lks_str v, unsigned numbers)
{
    struct lks_str epoch, rest;
    if (lks_str_cut(v, ':', &epoch, &rest))
        v = rest;
    size_t len = 0;
    for (unsigned dots = 0; len < v.len; len++) {
        bool dot = v.ptr[len] == '.';
        if (!dot && (v.ptr[len] < '0' || v.ptr[len] > '9'))
            break;
        dots += dot;
        if (dots == numbers)
            break;
    }
    v.len = len;
    return lks_version_whole(v, LKS_VERSION_DOTTED) ? v : LKS_STR("");
}

static bool same(struct lks_str a, struct lks_str b)
{
    return lks_version_covers(a, b) || lks_version_covers(b, a);
}

static enum lks_code found(struct reader *r, size_t carrier, struct lks_str package,
                           struct lks_str version)
{
    enum lks_sbom_library library = carriers[carrier].library;
    struct lks_sbom_found *f = &r->out->libraries[library];
    bool alone = carriers[carrier].alone;
    bool first = f->version.len == 0;
    bool better = !first && same(f->version, version) && r->alone[library] && !alone;
    struct lks_str kept_version, kept_package;
    if (!first && !better && (f->other.len > 0 || same(f->version, version)))
        return LKS_OK;
    if (keep(r, version, &kept_version) != LKS_OK || keep(r, package, &kept_package) != LKS_OK)
        return r->err->code;
    if (first || better) {
        f->version = kept_version;
        f->package = kept_package;
        r->alone[library] = alone;
    } else {
        f->other = kept_version;
        f->other_package = kept_package;
    }
    return LKS_OK;
}

static enum lks_code look_at(struct reader *r, struct lks_str name, struct lks_str version)
{
    if (++r->out->packages > LKS_SBOM_PACKAGES_MAX)
        return lks_fail(r->err, LKS_E_LIMIT, "%s: more than %d packages", r->source,
                        LKS_SBOM_PACKAGES_MAX);
    if (name.len > LKS_SBOM_NAME_MAX || version.len > LKS_VERSION_LEN_MAX)
        return LKS_OK;
    for (size_t i = 0; i < LKS_COUNT(carriers); i++) {
        if (!lks_glob_match(lks_str_from(carriers[i].pattern), name))
            continue;
        struct lks_str numbers = numbers_of(version, carriers[i].numbers);
        return numbers.len > 0 ? found(r, i, name, numbers) : LKS_OK;
    }
    return LKS_OK;
}

/* The image ---------------------------------------------------------------------------------- */

/* A digest is taken from where it stands behind "@", as in purls, where ':' may be written %3A, or
 * where it stands alone. */
static enum lks_code take_digest(struct reader *r, struct lks_str text)
{
    static const char *const marks[] = {"sha256:", "sha256%3A", "sha256%3a"};
    enum { HEX = 64 };
    char digest[LKS_DIGEST_SIZE] = "sha256:";
    for (size_t i = 0; i < LKS_COUNT(marks) && r->out->digest.len == 0; i++) {
        ptrdiff_t at = lks_str_find(text, lks_str_from(marks[i]));
        size_t skip = strlen(marks[i]);
        if (at < 0 || text.len - (size_t)at - skip < HEX)
            continue;
        memcpy(digest + strlen("sha256:"), text.ptr + at + skip, HEX);
        if (lks_digest_valid((struct lks_str){digest, sizeof(digest) - 1}) &&
            keep(r, (struct lks_str){digest, sizeof(digest) - 1}, &r->out->digest) != LKS_OK)
            return r->err->code;
    }
    return LKS_OK;
}

/* The image's name; a version beside it that is no digest is its tag, unless it has one. */
static enum lks_code take_name(struct reader *r, struct lks_str name, struct lks_str version)
{
    struct lks_str bare, digest;
    lks_str_cut(name, '@', &bare, &digest);
    if (r->out->name.len > 0 || bare.len == 0 || bare.len > LKS_SBOM_NAME_MAX ||
        !lks_str_printable(bare))
        return LKS_OK;
    bool tagged = lks_str_find(lks_str_last(bare, '/'), LKS_STR(":")) >= 0;
    bool tag = !tagged && version.len > 0 && lks_str_find(version, LKS_STR(":")) < 0 &&
               bare.len + version.len < LKS_SBOM_NAME_MAX && lks_str_printable(version);
    if (!tag)
        return keep(r, bare, &r->out->name);
    struct lks_str whole = lks_arena_format(&r->out->arena, "%" LKS_STR_FMT ":%" LKS_STR_FMT,
                                            LKS_STR_ARG(bare), LKS_STR_ARG(version));
    if (whole.ptr == NULL)
        return lks_arena_fail(&r->out->arena, r->err);
    r->out->name = whole;
    return LKS_OK;
}

static enum lks_code take_image(struct reader *r, struct lks_str name, struct lks_str version,
                                struct lks_str purl)
{
    if (take_name(r, name, version) != LKS_OK || take_digest(r, version) != LKS_OK ||
        take_digest(r, name) != LKS_OK || take_digest(r, purl) != LKS_OK)
        return r->err->code;
    return LKS_OK;
}

/* CycloneDX ---------------------------------------------------------------------------------- */

static enum lks_code read_components(struct reader *r, const json_t *list, unsigned depth)
{
    if (depth > LKS_SBOM_DEPTH_MAX)
        return lks_fail(r->err, LKS_E_LIMIT, "%s: components in components, more than %d deep",
                        r->source, LKS_SBOM_DEPTH_MAX);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        if (look_at(r, text_of(item, "name"), text_of(item, "version")) != LKS_OK ||
            read_components(r, json_object_get(item, "components"), depth + 1) != LKS_OK)
            return r->err->code;
    }
    return LKS_OK;
}

static enum lks_code read_cyclonedx(struct reader *r, const json_t *top)
{
    const json_t *image = json_object_get(json_object_get(top, "metadata"), "component");
    struct lks_str version = text_of(top, "specVersion");
    if (version.len == 0 || !lks_version_valid(version, LKS_VERSION_DOTTED))
        return lks_fail(r->err, LKS_E_INVALID, "%s: CycloneDX without a specVersion", r->source);
    r->out->format =
        lks_arena_format(&r->out->arena, "CycloneDX %" LKS_STR_FMT, LKS_STR_ARG(version));
    if (r->out->format.ptr == NULL)
        return lks_arena_fail(&r->out->arena, r->err);
    if (lks_str_is(text_of(image, "type"), "container") &&
        take_image(r, text_of(image, "name"), text_of(image, "version"), text_of(image, "purl")) !=
            LKS_OK)
        return r->err->code;
    return read_components(r, json_object_get(top, "components"), 1);
}

/* SPDX --------------------------------------------------------------------------------------- */

static enum lks_code take_checksum(struct reader *r, const json_t *checksums)
{
    for (size_t i = 0; i < json_array_size(checksums); i++) {
        const json_t *sum = json_array_get(checksums, i);
        struct lks_str value = text_of(sum, "checksumValue");
        char digest[LKS_DIGEST_SIZE] = "sha256:";
        if (!lks_str_is(text_of(sum, "algorithm"), "SHA256") || value.len != 64)
            continue;
        memcpy(digest + strlen("sha256:"), value.ptr, value.len);
        if (take_digest(r, (struct lks_str){digest, sizeof(digest) - 1}) != LKS_OK)
            return r->err->code;
    }
    return LKS_OK;
}

/* The package that stands for the image itself. */
static enum lks_code read_container(struct reader *r, const json_t *item)
{
    struct lks_str purl = {"", 0};
    const json_t *refs = json_object_get(item, "externalRefs");
    for (size_t i = 0; i < json_array_size(refs) && purl.len == 0; i++) {
        const json_t *ref = json_array_get(refs, i);
        if (lks_str_is(text_of(ref, "referenceType"), "purl"))
            purl = text_of(ref, "referenceLocator");
    }
    if (take_image(r, text_of(item, "name"), text_of(item, "versionInfo"), purl) != LKS_OK)
        return r->err->code;
    return take_checksum(r, json_object_get(item, "checksums"));
}

static enum lks_code read_spdx(struct reader *r, const json_t *top)
{
    struct lks_str version = text_of(top, "spdxVersion");
    const json_t *packages = json_object_get(top, "packages");
    if (!lks_str_starts(version, "SPDX-2.") || version.len > LKS_VERSION_LEN_MAX ||
        !lks_str_printable(version))
        return lks_fail(r->err, LKS_E_INVALID,
                        "%s: spdxVersion is not SPDX-2.x, the one that is understood", r->source);
    if (keep(r, version, &r->out->format) != LKS_OK)
        return r->err->code;
    for (size_t i = 0; i < json_array_size(packages); i++) {
        const json_t *item = json_array_get(packages, i);
        bool container = lks_str_is(text_of(item, "primaryPackagePurpose"), "CONTAINER");
        enum lks_code code = container
                                 ? read_container(r, item)
                                 : look_at(r, text_of(item, "name"), text_of(item, "versionInfo"));
        if (code != LKS_OK)
            return code;
    }
    return LKS_OK;
}

/* -------------------------------------------------------------------------------------------- */

static enum lks_code read_any(struct reader *r, const json_t *top)
{
    if (lks_str_is(text_of(top, "bomFormat"), "CycloneDX"))
        return read_cyclonedx(r, top);
    if (json_object_get(top, "spdxVersion") != NULL)
        return read_spdx(r, top);
    return lks_fail(r->err, LKS_E_INVALID,
                    "%s: neither CycloneDX (bomFormat) nor SPDX 2 (spdxVersion); write the bill of "
                    "materials as JSON of one of them",
                    r->source);
}

void lks_sbom_fini(struct lks_sbom *sbom)
{
    lks_arena_fini(&sbom->arena);
    *sbom = (struct lks_sbom){0};
}

/* jansson is asked directly and not through codec/format/json.h: bills hold scores with fractions,
 * which no document of ours may, and are larger. */
enum lks_code lks_sbom_parse(const char *source, struct lks_str text, struct lks_sbom *out,
                             struct lks_err *err)
{
    LKS_CLEANUP(lks_sbom_fini) struct lks_sbom sbom = {0};
    json_error_t error;
    if (text.len > LKS_SBOM_BYTES_MAX)
        return lks_fail(err, LKS_E_LIMIT, "%s: more than %zu bytes", source, LKS_SBOM_BYTES_MAX);
    LKS_CLEANUP(json_decrefp)
    json_t *top =
        json_loadb(text.len > 0 ? text.ptr : "", text.len, JSON_REJECT_DUPLICATES, &error);
    if (top == NULL && json_error_code(&error) == json_error_out_of_memory)
        return lks_fail_nomem(err);
    if (top == NULL)
        return lks_fail(err, LKS_E_INVALID, "%s:%d:%d: not JSON: %s", source, error.line,
                        error.column > 0 ? error.column : 1, error.text);
    lks_arena_init(&sbom.arena, MEMORY_MAX);
    struct reader r = {.source = source, .out = &sbom, .err = err};
    if (read_any(&r, top) != LKS_OK)
        return err->code;
    *out = LKS_MOVE(sbom);
    return LKS_OK;
}
