#include "tests/admits.h"
#include "tests/test.h"

#define IMAGES                                                                                     \
    "image r.io/good:1 nccl=2.28.9 cudnn=9.7.0 cuda=12.8\n"                                        \
    "image r.io/good:2 nccl=2.28.9+cuda12.8 cudnn=9.7.0.66 cuda=12.8.1\n"                          \
    "image r.io/near:1 nccl=2.28.7 cudnn=9.7.0 cuda=12.8\n"                                        \
    "image r.io/old:1 nccl=2.20.5 cudnn=9.7.0 cuda=12.8\n"                                         \
    "image r.io/dnn:1 nccl=2.28.9 cudnn=8.9.7 cuda=12.8\n"                                         \
    "image r.io/half:1 nccl=2.28.9 cuda=12.8\n"                                                    \
    "image r.io/amd:1 rccl=2.27.7\n"                                                               \
    "image r.io/amd:2 rccl=2.22.3\n"                                                               \
    "image r.io/both:1 nccl=2.28.9 rccl=2.27.7\n"
#define PINNED(posture, enforce, stack)                                                            \
    "pool train " posture " " enforce " " stack "\nnodes g[1-4] train\nverdict v " stack           \
    " driver=580 nccl=2.28.9\nrun g[1-4] v\n" IMAGES
/* Nodes of a stack that is not in the book. */
#define UNPINNED(values)                                                                           \
    "pool train pre-training on lost\nnodes g[1-4] train\nverdict v lost " values                  \
    "\nrun g[1-4] v\n" IMAGES
#define AMD_LOST UNPINNED("amdgpu=6.16 rccl=2.27.7")
#define UNRESOLVED(verb)                                                                           \
    verb " image r.io/x:1 in train: what it brings is not known: it is not in the catalogue "      \
         "(lockstep image add) nor in NVIDIA's tables\n"
#define OLD(verb, pin)                                                                             \
    verb " image r.io/old:1 in train: brings NCCL 2.20.5 (catalogue sbom), pinned " pin "\n"

static const struct lks_admits_row images[] = {
    {"the pinned libraries", PINNED("pre-training", "on", "golden"), WITH("r.io/good:1"),
     "yes golden +60000\n"},
    {"in two images, each half of the ranks", PINNED("pre-training", "on", "golden"),
     WITH("r.io/good:1 0-1;r.io/good:2 2,3"), "yes golden +60000\n"},
    {"another NCCL", PINNED("pre-training", "on", "golden"), WITH("r.io/old:1"),
     "no golden\n" OLD("refused", "2.28.9")},
    {"another NCCL on some ranks", PINNED("pre-training", "on", "golden"),
     WITH("r.io/good:1 0-2;r.io/old:1 3"),
     "no golden\nrefused image r.io/old:1 3 in train: brings NCCL 2.20.5 (catalogue sbom), pinned "
     "2.28.9\n"},
    {"another NCCL, observed", PINNED("pre-training", "observe", "golden"), WITH("r.io/old:1"),
     "yes golden +60000\n" OLD("warned", "2.28.9")},
    {"another NCCL in a batch pool that pins it", PINNED("batch", "on", "golden"),
     WITH("r.io/old:1"), "no golden\n" OLD("refused", "2.28.9")},
    {"inside the window", PINNED("pre-training", "on", "lax"), WITH("r.io/near:1"),
     "yes lax +60000\n"},
    {"two builds inside the window", PINNED("pre-training", "on", "lax"),
     WITH("r.io/good:1 0-1;r.io/near:1 2-3"),
     "no lax\nrefused image r.io/near:1 2-3 in train: brings NCCL 2.28.7, where r.io/good:1 brings "
     "NCCL 2.28.9\n"},
    {"two builds where nobody has to agree", PINNED("batch", "on", "lax"),
     WITH("r.io/good:1 0-1;r.io/near:1 2-3"), "yes lax +60000\n"},
    {"outside the window", PINNED("pre-training", "on", "lax"), WITH("r.io/old:1"),
     "no lax\n" OLD("refused", "2.28.9, tested >=2.28.3 <2.29")},
    {"two builds where none is pinned", PINNED("pre-training", "on", "bare"),
     WITH("r.io/old:1 0;r.io/good:1 1-3"),
     "no bare\nrefused image r.io/good:1 1-3 in train: brings NCCL 2.28.9, where r.io/old:1 brings "
     "NCCL 2.20.5\n"},
    {"one build where none is pinned", PINNED("pre-training", "on", "bare"), WITH("r.io/old:1"),
     "yes bare +60000\n"},
    {"another cuDNN, which the stack leaves to images", PINNED("pre-training", "on", "golden"),
     WITH("r.io/dnn:1"),
     "no golden\nrefused image r.io/dnn:1 in train: brings cuDNN 8.9.7 (catalogue sbom), pinned "
     "9.7.0\n"},
    {"another cuDNN, which the stack installs", PINNED("pre-training", "on", "lax"),
     WITH("r.io/dnn:1"), "yes lax +60000\n"},
    {"a cuDNN that is not known", PINNED("pre-training", "on", "golden"), WITH("r.io/half:1"),
     "no golden\nrefused image r.io/half:1 in train: its cuDNN is not known (catalogue sbom)\n"},
    {"the same where it is not strict", PINNED("batch", "on", "golden"), WITH("r.io/half:1"),
     "yes golden +60000\nwarned image r.io/half:1 in train: its cuDNN is not known (catalogue "
     "sbom)\n"},
    {"not resolved: pre-training", PINNED("pre-training", "on", "golden"), WITH("r.io/x:1"),
     "no golden\n" UNRESOLVED("refused")},
    {"not resolved: post-training", PINNED("post-training", "on", "golden"), WITH("r.io/x:1"),
     "no golden\n" UNRESOLVED("refused")},
    {"not resolved: online inference", PINNED("online-inference", "on", "golden"), WITH("r.io/x:1"),
     "yes golden +60000\n" UNRESOLVED("warned")},
    {"not resolved: batch", PINNED("batch", "on", "golden"), WITH("r.io/x:1"),
     "yes golden +60000\n" UNRESOLVED("warned")},
    {"not resolved: strict, and observed", PINNED("pre-training", "warn", "golden"),
     WITH("r.io/x:1"), "yes golden +60000\n" UNRESOLVED("warned")},
    {"seen twice", PINNED("batch", "on", "golden") "image r.io/x:1 by=node:g1\n", WITH("r.io/x:1"),
     "yes golden +60000\nwarned image r.io/x:1 in train: what it brings is not known: layers, "
     "nodes differ in what they have under this name (lockstep image add)\n"},
    {"not resolved, and nobody cares", PINNED("batch", "on", "bare"), WITH("r.io/x:1"),
     "yes bare +60000\n"},
    {"NVIDIA's own", PINNED("pre-training", "on", "bare"),
     WITH("nvcr.io#nvidia/pytorch:26.06-py3 0;nvidia/pytorch:26.03-py3 1-3"),
     "no bare\nrefused image nvidia/pytorch:26.03-py3 1-3 in train: brings NCCL 2.29.7, where "
     "nvcr.io#nvidia/pytorch:26.06-py3 brings NCCL 2.30.5\n"},
    {"NVIDIA's, of which less is known", PINNED("pre-training", "on", "bare"),
     WITH("nvcr.io/nvidia/pytorch:25.01-py3"),
     "no bare\nrefused image nvcr.io/nvidia/pytorch:25.01-py3 in train: its NCCL is not known (NGC "
     "25.01)\n"},
    {"what the job says it loads",
     PINNED("pre-training", "on", "golden"),
     {.nodes = "g[1-4]", .nccl = "2.28.9"},
     "yes golden +60000\n"},
    {"another one",
     PINNED("pre-training", "on", "golden"),
     {.nodes = "g[1-4]", .nccl = "2.27.3"},
     "no golden\nrefused image in train: the job loads NCCL 2.27.3 (as it says), pinned 2.28.9\n"},
    {"not what its image brings",
     PINNED("pre-training", "on", "bare"),
     {.nodes = "g[1-4]", .images = "r.io/old:1", .nccl = "2.27.3"},
     "no bare\nrefused image r.io/old:1 in train: brings NCCL 2.20.5, where the job loads NCCL "
     "2.27.3\n"},
    {"a stack that is not in the book: what its nodes have counts",
     PINNED("pre-training", "on", "lost"), WITH("r.io/old:1"),
     "no lost\n" OLD("refused", "2.28.9")},
    {"AMD's", PINNED("pre-training", "on", "rocm"), WITH("r.io/amd:1"), "yes rocm +60000\n"},
    {"NVIDIA's image on AMD's nodes", PINNED("pre-training", "on", "rocm"), WITH("r.io/good:1"),
     "no rocm\nrefused image r.io/good:1 in train: its RCCL is not known (catalogue sbom)\n"},
    {"what the job says, on AMD's nodes",
     PINNED("pre-training", "on", "rocm"),
     {.nodes = "g[1-4]", .nccl = "2.28.9"},
     "no rocm\nrefused image in train: the job loads RCCL 2.28.9 (as it says), pinned 2.27.7\n"},
    {"AMD's, on nodes whose stack is not in the book", AMD_LOST, WITH("r.io/amd:1"),
     "yes lost +60000\n"},
    {"another RCCL there", AMD_LOST, WITH("r.io/amd:2"),
     "no lost\nrefused image r.io/amd:2 in train: brings RCCL 2.22.3 (catalogue sbom), pinned "
     "2.27.7\n"},
    {"NVIDIA's image there", AMD_LOST, WITH("r.io/good:1"),
     "no lost\nrefused image r.io/good:1 in train: its RCCL is not known (catalogue sbom)\n"},
    {"what the job says there",
     AMD_LOST,
     {.nodes = "g[1-4]", .images = "r.io/amd:1", .nccl = "2.27.7"},
     "yes lost +60000\n"},
    {"another one there",
     AMD_LOST,
     {.nodes = "g[1-4]", .nccl = "2.28.9"},
     "no lost\nrefused image in train: the job loads RCCL 2.28.9 (as it says), pinned 2.27.7\n"},
    {"one build of AMD's where none is found", UNPINNED("amdgpu=6.16"), WITH("r.io/amd:2"),
     "yes lost +60000\n"},
    {"two builds of AMD's where none is found", UNPINNED("amdgpu=6.16"),
     WITH("r.io/amd:1 0-1;r.io/amd:2 2-3"),
     "no lost\nrefused image r.io/amd:2 2-3 in train: brings RCCL 2.22.3, where r.io/amd:1 brings "
     "RCCL 2.27.7\n"},
    {"AMD's and NVIDIA's where none is found", UNPINNED("amdgpu=6.16"),
     WITH("r.io/amd:1 0-1;r.io/good:1 2-3"),
     "no lost\nrefused image r.io/good:1 2-3 in train: brings NCCL 2.28.9, where r.io/amd:1 brings "
     "RCCL 2.27.7\n"},
    {"an image of both vendors beside NVIDIA's", UNPINNED("driver=580"),
     WITH("r.io/both:1 0-1;r.io/good:1 2-3"), "yes lost +60000\n"},
    {"rollout workers bring their own",
     PINNED("post-training", "on", "golden") SECOND(
         "batch", "on") "pool second batch on bare\nverdict w bare driver=580\nrun h[1-2] w\n",
     {.nodes = "g[1-4],h[1-2]", .images = "r.io/good:1 0-3;r.io/old:1 4-5"},
     "yes  +60000\n"},
    {"of two pools the one that enforces answers",
     PINNED("batch", "observe", "golden") SECOND("batch", "on"),
     {.nodes = "g1,h1", .images = "r.io/old:1"},
     "no \nrefused image r.io/old:1 in second: brings NCCL 2.20.5 (catalogue sbom), pinned 2.28.9, "
     "tested >=2.28.3 <2.29\n"},
};

static void test_images(void)
{
    lks_admits_check(images, LKS_COUNT(images));
}

int main(void)
{
    static const struct lks_test tests[] = {{"images", test_images}, {0}};
    return lks_test_main(tests);
}
