#include "core/registry/images.h"

#include "tests/asked.h"
#include "tests/facts.h"
#include "tests/test.h"

#include <stdio.h>

#define D1 "sha256:1111111111111111111111111111111111111111111111111111111111111111"
#define D2 "sha256:2222222222222222222222222222222222222222222222222222222222222222"
#define D9 "sha256:9999999999999999999999999999999999999999999999999999999999999999"

static const struct lks_rec_image catalogue[] = {
    {.ref = LKS_STR_C("registry.example/train:v7"),
     .digest = LKS_STR_C(D1),
     .nccl = LKS_STR_C("2.25.1"),
     .cudnn = LKS_STR_C("9.7.0"),
     .cuda = LKS_STR_C("12.8"),
     .source = LKS_STR_C("sbom")},
    {.ref = LKS_STR_C("registry.example:5000/rocm:6"),
     .rccl = LKS_STR_C("2.22.3"),
     .source = LKS_STR_C("scan")},
    {.ref = LKS_STR_C("docker.io/library/bare:1"), .nccl = LKS_STR_C("2.1.1")},
    {.ref = LKS_STR_C("docker.io/me/mine:1"), .nccl = LKS_STR_C("2.2.2")},
    {.ref = LKS_STR_C("short:2"), .nccl = LKS_STR_C("2.3.3")},
    {.ref = LKS_STR_C("/images/train.sqsh"), .nccl = LKS_STR_C("2.4.4")},
    {.ref = LKS_STR_C("nvcr.io/nvidia/pytorch:24.12-py3"),
     .nccl = LKS_STR_C("2.99.0"),
     .source = LKS_STR_C("ours")},
    {.ref = LKS_STR_C("seen:1"),
     .digest = LKS_STR_C(D2),
     .nccl = LKS_STR_C("2.5.5"),
     .source = LKS_STR_C("layers"),
     .by = LKS_STR_C("node:n1")},
    {.ref = LKS_STR_C("moved:1"),
     .source = LKS_STR_C("layers, nodes differ"),
     .by = LKS_STR_C("node:n2")},
    {.ref = LKS_STR_C("me/mine:1"), /* as Docker on a node calls it */
     .nccl = LKS_STR_C("2.6.6"),
     .source = LKS_STR_C("layers"),
     .by = LKS_STR_C("nodes")},
    {.ref = LKS_STR_C("nvcr.io/nvidia/pytorch:26.06-py3"),
     .nccl = LKS_STR_C("2.7.7"),
     .source = LKS_STR_C("layers"),
     .by = LKS_STR_C("nodes")},
    {.ref = LKS_STR_C("person:1"),
     .nccl = LKS_STR_C("2.8.8"),
     .source = LKS_STR_C("layers"),
     .by = LKS_STR_C("kim")},
};

#define TRAIN "nccl 2.25.1 cudnn 9.7.0 cuda 12.8 of catalogue sbom"
#define NGC   "nccl 2.30.5 cudnn 9.23.0 cuda 13.3.0 of NGC 26.06"

static const struct {
    const char *name, *ref, *found;
} refs[] = {
    {"as it is in the catalogue", "registry.example/train:v7", TRAIN},
    {"by a scheme", "docker://registry.example/train:v7", TRAIN},
    {"as enroot and pyxis write it", "registry.example#train:v7", TRAIN},
    {"as enroot writes it in full", "docker://kim@registry.example#train:v7", TRAIN},
    {"by its digest alone", "other.example/x@" D1, TRAIN},
    {"by tag and digest", "registry.example/train:v7@" D1, TRAIN},
    {"a digest nobody knows: the tag may have moved", "registry.example/train:v7@" D9, "unknown"},
    {"another tag", "registry.example/train:v8", "unknown"},
    {"another registry", "other.example/train:v7", "unknown"},
    {"no registry is Docker's, not ours", "train:v7", "unknown"},
    {"a registry with a port", "registry.example:5000/rocm:6", "rccl 2.22.3 of catalogue scan"},
    {"the same by enroot", "registry.example:5000#rocm:6", "rccl 2.22.3 of catalogue scan"},
    {"Docker's own", "bare:1", "nccl 2.1.1 of catalogue "},
    {"somebody's at Docker", "me/mine:1", "nccl 2.2.2 of catalogue "},
    {"Docker's, spelled in full", "docker://docker.io/me/mine:1", "nccl 2.2.2 of catalogue "},
    {"a short name that was added as such", "short:2", "nccl 2.3.3 of catalogue "},
    {"a file", "/images/train.sqsh", "nccl 2.4.4 of catalogue "},
    {"NVIDIA's", "nvcr.io/nvidia/pytorch:26.06-py3", NGC},
    {"NVIDIA's by a scheme", "docker://nvcr.io/nvidia/pytorch:26.06-py3", NGC},
    {"NVIDIA's by pyxis", "nvcr.io#nvidia/pytorch:26.06-py3", NGC},
    {"NVIDIA's by enroot", "docker://$oauthtoken@nvcr.io#nvidia/pytorch:26.06-py3", NGC},
    {"NVIDIA's without a registry", "nvidia/pytorch:26.06-py3", NGC},
    {"NVIDIA's with a digest", "nvcr.io/nvidia/pytorch:26.06-py3@" D9, NGC},
    {"NVIDIA's elsewhere is somebody else's", "my.example/nvidia/pytorch:26.06-py3", "unknown"},
    {"a tag of NVIDIA's that the table lacks", "nvcr.io/nvidia/pytorch:26.06-igpu", "unknown"},
    {"the catalogue comes first", "nvcr.io/nvidia/pytorch:24.12-py3",
     "nccl 2.99.0 of catalogue ours"},
    {"a month of which less is known", "nvcr.io/nvidia/pytorch:23.01-py3",
     "cuda 12.0.1 of NGC 23.01"},
    {"what is no digest is none", "registry.example/train:v7@sha256:1", "unknown"},
    {"what an agent saw", "seen:1", "nccl 2.5.5 of layers node:n1"},
    {"what an agent saw, by its digest", "r.io/x@" D2, "nccl 2.5.5 of layers node:n1"},
    {"what agents saw differently", "moved:1", "unknown"},
    {"a person who says layers is no agent", "person:1", "nccl 2.8.8 of catalogue layers"},
    {"nothing", "", "unknown"},
    {"only marks", "#@/:", "unknown"},
};

static void tell(const struct lks_image_found *f, char *out, size_t size)
{
    const struct lks_str versions[] = {f->nccl, f->rccl, f->cudnn, f->cuda};
    static const char *const words[] = {"nccl", "rccl", "cudnn", "cuda"};
    int len = snprintf(out, size, "%s", f->known ? "" : "unknown");
    for (size_t i = 0; i < LKS_COUNT(words); i++) {
        if (versions[i].len > 0)
            len += snprintf(out + len, size - (size_t)len, "%s %.*s ", words[i],
                            LKS_STR_ARG(versions[i]));
    }
    if (f->known)
        snprintf(out + len, size - (size_t)len, "of %.*s %.*s", LKS_STR_ARG(f->source),
                 LKS_STR_ARG(f->detail));
}

static void test_find(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    for (size_t i = 0; i < LKS_COUNT(catalogue); i++) {
        struct lks_record r = {.kind = LKS_RECORD_IMAGE, .image = catalogue[i]};
        lks_asked_apply(&a, &r);
    }
    for (size_t i = 0; i < LKS_COUNT(refs); i++) {
        struct lks_image_found found;
        char told[256];
        lks_test_case("%s: %s", refs[i].name, refs[i].ref);
        lks_image_find(&a.state, lks_test_facts(), lks_str_from(refs[i].ref), &found);
        tell(&found, told, sizeof(told));
        CHECK_STR(lks_str_from(told), refs[i].found);
    }
}

static void test_long(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    char ref[LKS_IMAGE_REF_MAX + 8];
    lks_asked_init(&a);
    memset(ref, 'a', sizeof(ref));
    for (size_t len = LKS_IMAGE_REF_MAX - 20; len < sizeof(ref); len++) {
        struct lks_image_found found = {.known = true};
        lks_image_find(&a.state, lks_test_facts(), (struct lks_str){ref, len}, &found);
        CHECK(!found.known);
    }
}

static const struct {
    const char *pinned, *window, *version;
    bool coarse, holds;
} pins[] = {
    {"2.25.1", "", "2.25.1", false, true},
    {"2.25.1", "", "2.25.1+cuda12.8", false, true},
    {"2.25.1", "", "2.25.2", false, false},
    {"2.25.1", "", "2.25", false, false},
    {"2.25.1", "", "2.25.1-1", false, true},
    {"2.25.1", ">=2.25.0 <2.26", "2.25.3", false, true},
    {"2.25.1", ">=2.25.0 <2.26", "2.25.3+cuda12.8", false, true},
    {"2.25.1", ">=2.25.0 <2.26", "2.26.0", false, false},
    {"2.25.1", ">=2.25.0 <2.26", "new", false, false},
    {"2.25.1", "nonsense of a window", "2.25.3", false, false},
    {"12.8.1", "", "12.8", true, true},
    {"12.8.1", "", "12.8", false, false},
    {"9.7.0", "", "9.7.0.66", true, true},
    {"12.8.1", "", "12.9", true, false},
    {"12.8.1", "", "12.8.2", true, false},
};

static void test_holds(void)
{
    for (size_t i = 0; i < LKS_COUNT(pins); i++) {
        lks_test_case("%s in %s of %s", pins[i].version, pins[i].window, pins[i].pinned);
        CHECK_INT(lks_image_holds(lks_str_from(pins[i].pinned), lks_str_from(pins[i].window),
                                  lks_str_from(pins[i].version), pins[i].coarse),
                  pins[i].holds);
    }
}

static const struct {
    const char *a, *b;
    bool same;
} builds[] = {
    {"2.25.1", "2.25.1", true},
    {"2.25.1", "2.25.1+cuda12.8", true},
    {"2.25.1+cuda12.8", "2.25.1+cuda12.8", true},
    {"2.25.1+cuda12.4", "2.25.1+cuda12.8", false},
    {"2.25.1", "2.25.2", false},
    {"2.25", "2.25.1", false},
};

static void test_same(void)
{
    for (size_t i = 0; i < LKS_COUNT(builds); i++) {
        struct lks_str a = lks_str_from(builds[i].a), b = lks_str_from(builds[i].b);
        lks_test_case("%s and %s", builds[i].a, builds[i].b);
        CHECK_INT(lks_image_same(a, b), builds[i].same);
        CHECK_INT(lks_image_same(b, a), builds[i].same);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"find", test_find}, {"long", test_long}, {"holds", test_holds}, {"same", test_same}, {0},
    };
    return lks_test_main(tests);
}
