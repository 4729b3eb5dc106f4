#include "codec/package/sbom.h"

#include "base/buf.h"
#include "tests/test.h"

#include <stdio.h>

#define DIGEST "sha256:0f3a7c525b1e4d539a386c1d2e8f9b100f3a7c525b1e4d539a386c1d2e8f9b10"
#define HEX    "0f3a7c525b1e4d539a386c1d2e8f9b100f3a7c525b1e4d539a386c1d2e8f9b10"

/* A bill in either format around what a row says. */
#define CDX(image, components)                                                                     \
    "{\"bomFormat\":\"CycloneDX\",\"specVersion\":\"1.5\",\"version\":1,\"metadata\":{"            \
    "\"timestamp\":\"2026-10-01T10:00:00Z\"" image "},\"components\":[" components "]}"
#define IMAGE(name, version)                                                                       \
    ",\"component\":{\"bom-ref\":\"a\",\"type\":\"container\",\"name\":\"" name                    \
    "\",\"version\":\"" version "\"}"
#define LIB(name, version)                                                                         \
    "{\"type\":\"library\",\"name\":\"" name "\",\"version\":\"" version "\"}"
#define SPDX(packages)                                                                             \
    "{\"spdxVersion\":\"SPDX-2.3\",\"dataLicense\":\"CC0-1.0\",\"SPDXID\":\"SPDXRef-DOCUMENT\","   \
    "\"name\":\"d\",\"packages\":[" packages "]}"
#define PKG(name, version)                                                                         \
    "{\"name\":\"" name "\",\"SPDXID\":\"SPDXRef-1\",\"versionInfo\":\"" version                   \
    "\",\"downloadLocation\":\"NOASSERTION\"}"

/* "format|name|digest|nccl ...|..." of what was found. */
static void tell(const struct lks_sbom *s, char *out, size_t size)
{
    int len = snprintf(out, size, "%.*s|%.*s|%.*s", LKS_STR_ARG(s->format), LKS_STR_ARG(s->name),
                       LKS_STR_ARG(s->digest));
    for (size_t i = 0; i < LKS_SBOM_LIBRARY_COUNT; i++) {
        const struct lks_sbom_found *f = &s->libraries[i];
        if (f->version.len > 0)
            len += snprintf(out + len, size - (size_t)len, "|%s %.*s by %.*s", lks_sbom_words[i],
                            LKS_STR_ARG(f->version), LKS_STR_ARG(f->package));
        if (f->other.len > 0)
            len += snprintf(out + len, size - (size_t)len, " and %.*s by %.*s",
                            LKS_STR_ARG(f->other), LKS_STR_ARG(f->other_package));
    }
}

static const struct {
    const char *name, *text, *found;
} bills[] = {
    {"an image of Ubuntu, as syft writes it",
     CDX(IMAGE("registry.example/train/pytorch:v7", DIGEST),
         LIB("libnccl2", "2.25.1-1+cuda12.8") "," LIB("libcudnn9-cuda-12", "9.7.0.66-1") "," LIB(
             "cuda-toolkit-12-8", "12.8.0-1") "," LIB("numpy", "1.26.4")),
     "CycloneDX 1.5|registry.example/train/pytorch:v7|" DIGEST
     "|nccl 2.25.1 by libnccl2|cudnn 9.7.0 by libcudnn9-cuda-12|cuda 12.8.0 by cuda-toolkit-12-8"},
    {"as trivy writes it: the digest in the purl",
     "{\"bomFormat\":\"CycloneDX\",\"specVersion\":\"1.6\",\"metadata\":{\"component\":{\"type\":"
     "\"container\",\"name\":\"nvcr.io/nvidia/pytorch:25.01-py3\",\"purl\":\"pkg:oci/"
     "pytorch@sha256%3A" HEX "?arch=amd64\"}}}",
     "CycloneDX 1.6|nvcr.io/nvidia/pytorch:25.01-py3|" DIGEST},
    {"wheels", CDX("", LIB("nvidia-nccl-cu12", "2.21.5") "," LIB("nvidia-cudnn-cu12", "9.1.0.70")),
     "CycloneDX 1.5|||nccl 2.21.5 by nvidia-nccl-cu12|cudnn 9.1.0 by nvidia-cudnn-cu12"},
    {"CUDA's run time tells two numbers of the toolkit's",
     CDX("", LIB("nvidia-cuda-runtime-cu12", "12.4.127")),
     "CycloneDX 1.5|||cuda 12.4 by nvidia-cuda-runtime-cu12"},
    {"the toolkit tells more than the run time",
     CDX("", LIB("cuda-cudart-12-8", "12.8.57-1") "," LIB("cuda-libraries-12-8", "12.8.1-1")),
     "CycloneDX 1.5|||cuda 12.8.1 by cuda-libraries-12-8"},
    {"and in the other order too",
     CDX("", LIB("cuda-libraries-12-8", "12.8.1-1") "," LIB("cuda-cudart-12-8", "12.8.57-1")),
     "CycloneDX 1.5|||cuda 12.8.1 by cuda-libraries-12-8"},
    {"ROCm", CDX("", LIB("rccl6.4.1", "2.22.3.60401-83~22.04")),
     "CycloneDX 1.5|||rccl 2.22.3 by rccl6.4.1"},
    {"an epoch is nothing of the maker's", CDX("", LIB("libnccl2", "1:2.25.1-1")),
     "CycloneDX 1.5|||nccl 2.25.1 by libnccl2"},
    {"two NCCLs in one image",
     CDX("", LIB("libnccl2", "2.25.1-1+cuda12.8") "," LIB("nvidia-nccl-cu12", "2.21.5")),
     "CycloneDX 1.5|||nccl 2.25.1 by libnccl2 and 2.21.5 by nvidia-nccl-cu12"},
    {"the same one twice is one",
     CDX("", LIB("libnccl2", "2.25.1-1+cuda12.8") "," LIB("nvidia-nccl-cu12", "2.25.1")),
     "CycloneDX 1.5|||nccl 2.25.1 by libnccl2"},
    {"components in components",
     CDX("", "{\"type\":\"application\",\"name\":\"conda\",\"components\":[" LIB("nccl",
                                                                                 "2.23.4.1") "]}"),
     "CycloneDX 1.5|||nccl 2.23.4 by nccl"},
    {"development files and names alike are no library",
     CDX("", LIB("libnccl-dev", "2.25.1") "," LIB("libnccl2-x", "1.2") "," LIB("xrccl", "1.2")),
     "CycloneDX 1.5||"},
    {"a version that is none is not found", CDX("", LIB("libnccl2", "unknown")), "CycloneDX 1.5||"},
    {"a score with a fraction is nothing to refuse",
     CDX("", "{\"type\":\"library\",\"name\":\"x\",\"evidence\":{\"confidence\":0.8}}"),
     "CycloneDX 1.5||"},
    {"SPDX of an image",
     SPDX("{\"name\":\"registry.example/rl\",\"versionInfo\":\"v3\",\"primaryPackagePurpose\":"
          "\"CONTAINER\",\"checksums\":[{\"algorithm\":\"SHA1\",\"checksumValue\":\"00\"},{"
          "\"algorithm\":\"SHA256\",\"checksumValue\":\"" HEX "\"}]}," PKG(
              "libnccl2", "2.25.1-1+cuda12.8") "," PKG("libcudnn8", "8.9.7.29-1+cuda12.2")),
     "SPDX-2.3|registry.example/rl:v3|" DIGEST "|nccl 2.25.1 by libnccl2|cudnn 8.9.7 by libcudnn8"},
    {"SPDX of an image, the digest in a purl and as the version",
     SPDX("{\"name\":\"a/b@" DIGEST "\",\"versionInfo\":\"" DIGEST
          "\",\"primaryPackagePurpose\":\"CONTAINER\",\"externalRefs\":[{\"referenceType\":"
          "\"purl\",\"referenceLocator\":\"pkg:oci/b@sha256%3a" HEX "\"}]}"),
     "SPDX-2.3|a/b|" DIGEST},
    {"SPDX of nothing", SPDX(""), "SPDX-2.3||"},
};

static void test_bills(void)
{
    for (size_t i = 0; i < LKS_COUNT(bills); i++) {
        LKS_CLEANUP(lks_sbom_fini) struct lks_sbom sbom = {0};
        struct lks_err err = {0};
        char found[1024];
        lks_test_case("%s", bills[i].name);
        if (!CHECK_CODE(lks_sbom_parse("b.json", lks_str_from(bills[i].text), &sbom, &err), LKS_OK))
            continue;
        tell(&sbom, found, sizeof(found));
        CHECK_STR(lks_str_from(found), bills[i].found);
    }
}

static const struct {
    const char *name, *text;
    enum lks_code code;
    const char *message;
} refusals[] = {
    {"nothing", "", LKS_E_INVALID, "b.json:1:1: not JSON"},
    {"not JSON", "{\"a\":1,\n", LKS_E_INVALID, "b.json:2:"},
    {"a name twice", "{\"a\":1,\"a\":2}", LKS_E_INVALID, "duplicate"},
    {"a list", "[]", LKS_E_INVALID, "neither CycloneDX (bomFormat) nor SPDX 2 (spdxVersion)"},
    {"another document", "{\"name\":\"x\"}", LKS_E_INVALID, "neither CycloneDX"},
    {"CycloneDX of no version", "{\"bomFormat\":\"CycloneDX\"}", LKS_E_INVALID,
     "b.json: CycloneDX without a specVersion"},
    {"SPDX 3", "{\"spdxVersion\":\"SPDX-3.0\"}", LKS_E_INVALID, "spdxVersion is not SPDX-2.x"},
    {"SPDX of a number", "{\"spdxVersion\":2}", LKS_E_INVALID, "spdxVersion is not SPDX-2.x"},
};

static void test_refusals(void)
{
    for (size_t i = 0; i < LKS_COUNT(refusals); i++) {
        LKS_CLEANUP(lks_sbom_fini) struct lks_sbom sbom = {0};
        struct lks_err err = {0};
        lks_test_case("%s", refusals[i].name);
        CHECK_CODE(lks_sbom_parse("b.json", lks_str_from(refusals[i].text), &sbom, &err),
                   refusals[i].code);
        CHECK_HAS(lks_str_from(err.msg), refusals[i].message);
        CHECK_INT(sbom.packages, 0);
    }
}

static void test_depth(void)
{
    static const char open[] = "{\"components\":[", close[] = "]}";
    for (int deep = LKS_SBOM_DEPTH_MAX - 1; deep <= LKS_SBOM_DEPTH_MAX; deep++) {
        LKS_CLEANUP(lks_sbom_fini) struct lks_sbom sbom = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(65536);
        struct lks_err err = {0};
        lks_buf_addf(&text,
                     "{\"bomFormat\":\"CycloneDX\",\"specVersion\":\"1.5\",\"components\":[");
        for (int i = 0; i < deep; i++)
            lks_buf_addf(&text, "%s", open);
        for (int i = 0; i < deep; i++)
            lks_buf_addf(&text, "%s", close);
        lks_buf_addf(&text, "]}");
        lks_test_case("%d deep", deep);
        CHECK_CODE(lks_sbom_parse("b.json", lks_buf_view(&text), &sbom, &err),
                   deep < LKS_SBOM_DEPTH_MAX ? LKS_OK : LKS_E_LIMIT);
    }
}

static void test_size(void)
{
    LKS_CLEANUP(lks_sbom_fini) struct lks_sbom sbom = {0};
    struct lks_err err = {0};
    /* The bytes are not looked at: there are too many. */
    CHECK_CODE(lks_sbom_parse("b.json", (struct lks_str){"", LKS_SBOM_BYTES_MAX + 1}, &sbom, &err),
               LKS_E_LIMIT);
    CHECK_HAS(lks_str_from(err.msg), "b.json: more than");
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"bills", test_bills},
        {"refusals", test_refusals},
        {"depth", test_depth},
        {"size", test_size},
        {0},
    };
    return lks_test_main(tests);
}
