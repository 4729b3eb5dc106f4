/* Any bytes as a bill of materials: what is accepted has a format that prints, versions of numbers
 * and dots, a second one only beside a first and never the same, and a digest that is one. */
#include "codec/format/digest.h"
#include "codec/package/sbom.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_version(struct lks_str version, struct lks_str package)
{
    bool dot = false;
    LKS_ASSERT((version.len == 0) == (package.len == 0));
    for (size_t i = 0; i < version.len; i++) {
        dot |= version.ptr[i] == '.';
        LKS_ASSERT(version.ptr[i] == '.' || (version.ptr[i] >= '0' && version.ptr[i] <= '9'));
    }
    LKS_ASSERT(version.len == 0 || dot);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_sbom_fini) struct lks_sbom sbom = {0};
    struct lks_str text = {(const char *)data, size};
    struct lks_err err = {0};
    enum lks_code code = lks_sbom_parse("bill.json", text, &sbom, &err);
    LKS_ASSERT((code == LKS_OK) == (err.code == LKS_OK));
    LKS_ASSERT(code == LKS_OK ||
               (lks_str_starts(lks_str_from(err.msg), "bill.json") && sbom.format.len == 0));
    if (code != LKS_OK)
        return 0;
    LKS_ASSERT(sbom.format.len > 0 && lks_str_printable(sbom.format));
    LKS_ASSERT(lks_str_printable(sbom.name));
    LKS_ASSERT(sbom.digest.len == 0 || lks_digest_valid(sbom.digest));
    for (size_t i = 0; i < LKS_SBOM_LIBRARY_COUNT; i++) {
        const struct lks_sbom_found *f = &sbom.libraries[i];
        check_version(f->version, f->package);
        check_version(f->other, f->other_package);
        LKS_ASSERT(f->other.len == 0 || (f->version.len > 0 && !lks_str_eq(f->other, f->version)));
    }
    return 0;
}
