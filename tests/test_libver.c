#include "codec/program/libver.h"

#include "tests/elf_image.h"
#include "tests/test.h"

#include <stdio.h>

enum { IMAGE_MAX = 1024 * 1024 };

static const struct {
    const char *name;
    const char *component; /* NULL: none of ours */
    const char *stem;
} names[] = {
    {"libnccl.so.2", "nccl", "libnccl"},
    {"libnccl.so.2.28.9", "nccl", "libnccl"},
    {"libnccl.so", "nccl", "libnccl"},
    {"libcudart.so.13.0.96", "cuda", "libcudart"},
    {"libcudart-9335f6a2.so.12", "cuda", "libcudart"},
    {"libcudart.faf08d9a.so.13", "cuda", "libcudart"},
    {"libcudnn.so.9", "cudnn", "libcudnn"},
    {"libcudnn_graph.so.9.14.0", "cudnn", "libcudnn_graph"},
    {"libcudnn_ops.so.9", "cudnn", "libcudnn_ops"},
    {"libcudnn_ops_infer.so.8", "cudnn", "libcudnn_ops_infer"},
    {"libcuda.so.580.95.05", "driver", "libcuda"},
    {"libnvidia-ml.so.1", "driver", "libnvidia-ml"},
    {"librccl.so.1.0.60402", "rccl", "librccl"},
    {"libMIOpen.so.1", "miopen", "libMIOpen"},

    {"", NULL, NULL},
    {"libnccl", NULL, NULL},
    {"libnccl-net.so", NULL, NULL},
    {"libnccl-tuner-ofi.so.1", NULL, NULL},
    {"libnccl.so.2.debug", NULL, NULL},
    {"libnccl.so.", NULL, NULL},
    {"libnccl.so.2.", NULL, NULL},
    {"libnccl.so..2", NULL, NULL},
    {"libnccl.so2", NULL, NULL},
    {"libnccl.a", NULL, NULL},
    {"libnccl_static.a", NULL, NULL},
    {"libcudadebugger.so.1", NULL, NULL},
    {"libcudart-9335f6.so.12", NULL, NULL},
    {"libcudart-9335F6A2.so.12", NULL, NULL},
    {"xlibnccl.so.2", NULL, NULL},
    {"LIBNCCL.SO.2", NULL, NULL},
};

static void test_names(void)
{
    for (size_t i = 0; i < LKS_COUNT(names); i++) {
        lks_test_case("%s", names[i].name);
        const struct lks_libver_kind *kind = lks_libver_kind(lks_str_from(names[i].name));
        if (!CHECK((kind != NULL) == (names[i].component != NULL)) || kind == NULL)
            continue;
        CHECK_STR(lks_str_from(kind->component), names[i].component);
        CHECK_STR(lks_str_from(kind->stem), names[i].stem);
    }
}

static void test_kinds(void)
{
    size_t count = 0;
    for (const struct lks_libver_kind *kind; (kind = lks_libver_kind_at(count)) != NULL; count++) {
        char name[LKS_LIBVER_NAME_MAX + 1];
        lks_test_case("%s", kind->stem);
        snprintf(name, sizeof(name), "%s.so.1", kind->stem);
        CHECK(lks_libver_kind(lks_str_from(name)) == kind);
    }
    CHECK_INT(count, 10);
}

/* Machine code as found in real libraries. Numbers are little-endian:
 *
 *     0x5919 = 22809    0x58b1 = 22705    0x5338 = 21304    0x32c8 = 13000    0x2f30 = 12080
 *     0x16508 = 91400   0x22cb = 8907
 */

/* ncclGetVersion(): test rdi, rdi; je; mov [rdi], 22809; xor eax, eax; ret; mov eax, 4; ret */
#define NCCL_X86 "\x48\x85\xff\x74\x09\xc7\x07\x19\x59\x00\x00\x31\xc0\xc3\xb8\x04\x00\x00\x00\xc3"
/* mov x1, x0; cbz x0; mov w2, 22705; mov w0, 0; str w2, [x1]; ret; mov w0, 4; ret */
#define NCCL_ARM                                                                                   \
    "\xe1\x03\x00\xaa\xa0\x00\x00\xb4\x22\x16\x8b\x52\x00\x00\x80\x52\x22\x00\x00\xb9"             \
    "\xc0\x03\x5f\xd6\x80\x00\x80\x52\xc0\x03\x5f\xd6"
/* RCCL of Debian begins with endbr64, and with bti c; mov w9, 21304; str w9, [x0]; mov w0, wzr. */
#define RCCL_X86 "\xf3\x0f\x1e\xfa\x48\x85\xff\x74\x09\xc7\x07\x38\x53\x00\x00\x31\xc0\xc3"
#define RCCL_ARM                                                                                   \
    "\x5f\x24\x03\xd5\xa0\x00\x00\xb4\x09\x67\x8a\x52\x09\x00\x00\xb9\xe0\x03\x1f\x2a"             \
    "\xc0\x03\x5f\xd6"
/* cudaRuntimeGetVersion() calls the function that stores 13000; here that follows it. push rbx;
 * mov rdi, r12; call +4; pop rbx; ret; int3 (2) */
#define CUDART_X86                                                                                 \
    "\x53\x4c\x89\xe7\xe8\x04\x00\x00\x00\x5b\xc3\xcc\xcc"                                         \
    "\x48\x85\xff\x74\x0b\xc7\x07\xc8\x32\x00\x00\x31\xc0\xc3"
/* mov x0, x20; bl +12; ret; nop; cbz x0; mov x1, x0; mov w2, 12080; mov w0, 0; str w2, [x1]; ret */
#define CUDART_ARM                                                                                 \
    "\xe0\x03\x14\xaa\x03\x00\x00\x94\xc0\x03\x5f\xd6\x1f\x20\x03\xd5\xc0\x00\x00\xb4"             \
    "\xe1\x03\x00\xaa\x02\xe6\x85\x52\x00\x00\x80\x52\x22\x00\x00\xb9\xc0\x03\x5f\xd6"
/* The end of cudnnGetVersion(): add rsp, 0x10020; mov eax, 91400; pop rbx, r12, r13, r14, rbp; ret
 */
#define CUDNN_X86                                                                                  \
    "\x55\x48\x89\xe5\x48\x81\xc4\x20\x00\x01\x00\xb8\x08\x65\x01\x00\x5b\x41\x5c\x41\x5d\x41"     \
    "\x5e\x5d\xc3"
/* mov x0, 0x6508; ldr d8; ldp x29, x30; movk x0, 1, lsl 16; ldp x19, x20; ldp x21, x22; ldr x23;
 * add sp, sp, 0x50; add sp, sp, 0x10, lsl 12; ret */
#define CUDNN_ARM                                                                                  \
    "\xfd\x03\x00\x91\x00\xa1\x8c\xd2\xe8\x1f\x40\xfd\xfd\x7b\x40\xa9\x20\x00\xa0\xf2"             \
    "\xf3\x53\x41\xa9\xf5\x5b\x42\xa9\xf7\x1b\x40\xf9\xff\x43\x01\x91\xff\x43\x40\x91"             \
    "\xc0\x03\x5f\xd6"
/* As cuDNN 8.9.7 has it: mov eax, 8907; add rsp, 8; ret */
#define CUDNN_8_X86 "\xb8\xcb\x22\x00\x00\x48\x83\xc4\x08\xc3"
/* What passes calls on: pop rbx; pop r12; pop rbp; jmp rax */
#define PASSES_ON "\x5b\x41\x5c\x5d\xff\xe0"

#define ARM                 LKS_TEST_ELF_AARCH64
#define CODE(symbol, bytes) .symbols = {{symbol, LKS_STR_C(bytes), true}}
#define DATA(symbol, bytes) .symbols = {{symbol, LKS_STR_C(bytes), false}}
#define TEXT(bytes)         .rodata = LKS_STR_C(bytes)

/* What was found as "version|build|from|evidence|named", or the message. */
static const struct {
    const char *name;
    const char *file;
    struct lks_test_elf elf;
    enum lks_code code;
    const char *found;
} libraries[] = {
    {"NCCL",
     "libnccl.so.2",
     {TEXT("a\0NCCL version 2.28.9+cuda13.0\0NCCL version detected : rank %d\0"
           "NCCL version 2.28.9 compiled with CUDA 13.0\0NCCL version %s, but\0")},
     LKS_OK,
     "2.28.9|cuda13.0|string|NCCL version 2.28.9+cuda13.0|"},
    {"NCCL, the second text alone",
     "libnccl.so.2.28.3",
     {TEXT("NCCL version 2.28.3 compiled with CUDA 13.0\0")},
     LKS_OK,
     "2.28.3||string|NCCL version 2.28.3 compiled with CUDA 13.0|2.28.3"},
    {"NCCL whose file lies",
     "libnccl.so.2.19.3",
     {TEXT("NCCL version 2.28.9+cuda13.0")},
     LKS_OK,
     "2.28.9|cuda13.0|string|NCCL version 2.28.9+cuda13.0|2.19.3"},
    {"NCCL without texts",
     "libnccl.so.2",
     {CODE("ncclGetVersion", NCCL_X86)},
     LKS_OK,
     "2.28.9||symbol|ncclGetVersion() = 22809|"},
    {"NCCL on aarch64",
     "libnccl.so.2",
     {.machine = ARM, CODE("ncclGetVersion", NCCL_ARM)},
     LKS_OK,
     "2.27.5||symbol|ncclGetVersion() = 22705|"},
    {"NCCL with two versions",
     "libnccl.so.2",
     {TEXT("NCCL version 2.28.9+cuda13.0\0NCCL version 2.27.3 or older"),
      CODE("ncclGetVersion", NCCL_X86)},
     LKS_OK,
     "2.28.9||symbol|ncclGetVersion() = 22809|"},
    {"two versions and nothing else",
     "libnccl.so.2",
     {TEXT("NCCL version 2.28.9+cuda13.0\0NCCL version 2.27.3 or older")},
     LKS_E_NOT_FOUND,
     "\"NCCL version \" precedes both 2.28.9 and 2.27.3"},
    {"numbers that are no version",
     "libnccl.so.2",
     {TEXT("NCCL version 2.28\0NCCL version 2\0NCCL version 123456.1.1\0NCCL version .1.2.3\0")},
     LKS_E_NOT_FOUND,
     "no text \"NCCL version \" with a version in .rodata"},
    {"no sections: the symbol tells",
     "libnccl.so.2",
     {.no_sections = true, TEXT("NCCL version 2.27.1+cuda12.9"), CODE("ncclGetVersion", NCCL_X86)},
     LKS_OK,
     "2.28.9||symbol|ncclGetVersion() = 22809|"},
    {"nothing but the name",
     "libnccl.so.2.28.9",
     {TEXT("x")},
     LKS_OK,
     "2.28.9||file name|libnccl.so.2.28.9|2.28.9"},
    {"a name that is no version",
     "libnccl.so.2",
     {.no_sections = true},
     LKS_E_NOT_FOUND,
     "no section .rodata"},

    {"RCCL of ROCm 6",
     "librccl.so.1.0.60402",
     {TEXT("RCCL version : 2.22.3\0HIP version  : 6.4.43484-123eb5128\nROCm version : 6.4.2.0\0")},
     LKS_OK,
     "2.22.3||string|RCCL version : 2.22.3|"},
    {"RCCL of ROCm 5",
     "librccl.so.1.0",
     {TEXT("RCCL version 2.13.4+hip5.7\0")},
     LKS_OK,
     "2.13.4|hip5.7|string|RCCL version 2.13.4+hip5.7|"},
    {"RCCL without texts",
     "librccl.so.1",
     {CODE("ncclGetVersion", RCCL_X86)},
     LKS_OK,
     "2.13.4||symbol|ncclGetVersion() = 21304|"},
    {"RCCL on aarch64",
     "librccl.so.1",
     {.machine = ARM, CODE("ncclGetVersion", RCCL_ARM)},
     LKS_OK,
     "2.13.4||symbol|ncclGetVersion() = 21304|"},
    {"RCCL's file is never named after it",
     "librccl.so.1.0.60402",
     {TEXT("x")},
     LKS_E_NOT_FOUND,
     "no text \"RCCL version : \" with a version in .rodata"},

    {"MIOpen",
     "libMIOpen.so.1.0",
     {TEXT(", MIOpen version 3.5.1.dabb6df2b9\0")},
     LKS_OK,
     "3.5.1|dabb6df2b9|string|MIOpen version 3.5.1.dabb6df2b9|"},
    {"MIOpen of Debian",
     "libMIOpen.so.1.0",
     {TEXT(", MIOpen version 3.4.0.\0")},
     LKS_OK,
     "3.4.0||string|MIOpen version 3.4.0.|"},

    {"CUDA run time",
     "libcudart.so.13",
     {CODE("cudaRuntimeGetVersion", CUDART_X86)},
     LKS_OK,
     "13.0||symbol|cudaRuntimeGetVersion() = 13000|"},
    {"CUDA run time on aarch64",
     "libcudart.so.12.8.90",
     {.machine = ARM, CODE("cudaRuntimeGetVersion", CUDART_ARM)},
     LKS_OK,
     "12.8||symbol|cudaRuntimeGetVersion() = 12080|12.8.90"},
    {"CUDA run time, renamed",
     "libcudart-9335f6a2.so.12.4.127",
     {CODE("cudaRuntimeGetVersion", CUDART_X86)},
     LKS_OK,
     "13.0||symbol|cudaRuntimeGetVersion() = 13000|12.4.127"},
    {"11.0 is the name of 11.8's interface",
     "libcudart.so.11.0",
     {TEXT("x")},
     LKS_E_NOT_FOUND,
     "no symbol cudaRuntimeGetVersion"},
    {"code that we cannot make out",
     "libcudart.so.13",
     {CODE("cudaRuntimeGetVersion", "\xe8\x00\x00\x00\x00\xc3")},
     LKS_E_NOT_FOUND,
     "cudaRuntimeGetVersion() hands out no number that we can make out"},
    {"a variable of that name",
     "libcudart.so.13",
     {DATA("cudaRuntimeGetVersion", CUDART_X86)},
     LKS_E_NOT_FOUND,
     "symbol cudaRuntimeGetVersion is no function"},

    {"cuDNN 9",
     "libcudnn_graph.so.9",
     {DATA("cudnn_graph_version", "\x00\x0e\x09\x00"), TEXT("cudnn_version_9_14_0_64_\0")},
     LKS_OK,
     "9.14.0|64|symbol|cudnn_graph_version = 0x090e00|"},
    {"cuDNN 9.10 on aarch64",
     "libcudnn_graph.so.9.10.2",
     {.machine = ARM,
      DATA("cudnn_graph_version", "\x02\x0a\x09\x00"),
      TEXT("cudnn_version_9_10_2_21_36061468_e0\0")},
     LKS_OK,
     "9.10.2|21|symbol|cudnn_graph_version = 0x090a02|9.10.2"},
    {"cuDNN 8",
     "libcudnn_ops_infer.so.8",
     {DATA("cudnn_ops_infer_version", "\x07\x09\x08\x00"),
      TEXT("cudnn_version_8_9_7_29_c33594778_e0\0")},
     LKS_OK,
     "8.9.7|29|symbol|cudnn_ops_infer_version = 0x080907|"},
    {"a text of another version beside it",
     "libcudnn_graph.so.9",
     {DATA("cudnn_graph_version", "\x00\x0e\x09\x00"), TEXT("cudnn_version_9_13_0_50_\0")},
     LKS_OK,
     "9.14.0||symbol|cudnn_graph_version = 0x090e00|"},
    {"cuDNN without its variable",
     "libcudnn_graph.so.9",
     {CODE("cudnnGetVersion", CUDNN_X86)},
     LKS_OK,
     "9.14.0||symbol|cudnnGetVersion() = 91400|"},
    {"and on aarch64",
     "libcudnn_graph.so.9",
     {.machine = ARM, CODE("cudnnGetVersion", CUDNN_ARM)},
     LKS_OK,
     "9.14.0||symbol|cudnnGetVersion() = 91400|"},
    {"cuDNN 8 without its variable",
     "libcudnn_ops_infer.so.8",
     {CODE("cudnnGetVersion", CUDNN_8_X86)},
     LKS_OK,
     "8.9.7||symbol|cudnnGetVersion() = 8907|"},
    {"a variable that is no version",
     "libcudnn_graph.so.9",
     {DATA("cudnn_graph_version", "\x01\x02\x03\x04")},
     LKS_E_NOT_FOUND,
     "cudnn_graph_version does not hold a version"},
    {"a variable of another size",
     "libcudnn_graph.so.9",
     {DATA("cudnn_graph_version", "\x00\x0e\x09\x00\x00\x00\x00\x00")},
     LKS_E_NOT_FOUND,
     "symbol cudnn_graph_version is no variable of 4 bytes"},
    {"cuDNN's front",
     "libcudnn.so.9",
     {CODE("cudnnGetVersion", PASSES_ON)},
     LKS_E_NOT_FOUND,
     "it only passes calls on; its version is in libcudnn_graph or libcudnn_ops_infer beside it"},
    {"cuDNN's front with a whole name",
     "libcudnn.so.9.14.0",
     {CODE("cudnnGetVersion", PASSES_ON)},
     LKS_OK,
     "9.14.0||file name|libcudnn.so.9.14.0|9.14.0"},

    {"driver",
     "libcuda.so.1",
     {TEXT("470.57.01\0"
           "525.65\0/usr/share/nvidia/nvidia-application-profiles-580.95.05-rc:x\0"
           "libnvidia-pkcs11-openssl3.so.580.95.05\0libnvidia-pkcs11.so.580.95.05\0")},
     LKS_OK,
     "580.95.05||string|libnvidia-pkcs11.so.580.95.05|"},
    {"driver with two numbers",
     "libcuda.so.510.54",
     {TEXT("470.57.01\0nvidia-application-profiles-510.54-rc:/usr\0")},
     LKS_OK,
     "510.54||string|nvidia-application-profiles-510.54-rc:/usr|510.54"},
    {"other texts of that beginning",
     "libcuda.so.1.1",
     {TEXT("libnvidia-pkcs11.so.1\0libnvidia-pkcs11.so.580.95.05x\0"
           "nvidia-application-profiles-rc\0nvidia-application-profiles-580.95.05-key\0")},
     LKS_E_NOT_FOUND,
     "no text \"libnvidia-pkcs11.so.\" with a version in .rodata"},
    {"NVML",
     "libnvidia-ml.so.1",
     {TEXT("10.5\0"
           "13.580.95.05\0"
           "580.95.05\0")},
     LKS_OK,
     "580.95.05||string|13.580.95.05|"},
    {"NVML, and what looks a little like it",
     "libnvidia-ml.so.1",
     {TEXT("x\0"
           "127.0.0.1\0"
           "12.550.163.01\0"
           "v13.580.95.05\0"
           "13.580.95.05 \0"
           "1.2.3.4\0")},
     LKS_OK,
     "550.163.01||string|12.550.163.01|"},
    {"NVML with two",
     "libnvidia-ml.so.1",
     {TEXT("x\0"
           "12.550.163.01\0"
           "13.580.95.05\0")},
     LKS_E_NOT_FOUND,
     "\"NN.version\" precedes both 550.163.01 and 580.95.05"},
};

static enum lks_code read_library(const struct lks_buf *image, size_t step, const char *file,
                                  struct lks_buf *out)
{
    struct lks_test_reader reader = {.bytes = lks_buf_view(image), .step = step};
    struct lks_elf_file source = lks_test_reader_file(&reader, image->len);
    const struct lks_libver_kind *kind = lks_libver_kind(lks_str_from(file));
    struct lks_elf elf;
    struct lks_libver v;
    struct lks_err err = {0};
    enum lks_code code = lks_elf_read(&source, &elf, &err);
    if (code == LKS_OK)
        code = lks_libver_read(kind, &elf, lks_str_from(file), &v, &err);
    if (code == LKS_OK)
        lks_buf_addf(out, "%s|%s|%s|%s|%s", v.version, v.build, lks_libver_from_text(v.from),
                     v.evidence, v.named);
    else
        lks_buf_add(out, lks_str_from(err.msg));
    return code;
}

static void test_libraries(void)
{
    for (size_t i = 0; i < LKS_COUNT(libraries); i++) {
        for (size_t step = 0; step <= 5; step += 5) {
            lks_test_case("%s, step %zu", libraries[i].name, step);
            LKS_CLEANUP(lks_buf_fini) struct lks_buf image = LKS_BUF(IMAGE_MAX);
            LKS_CLEANUP(lks_buf_fini) struct lks_buf shown = LKS_BUF(IMAGE_MAX);
            lks_test_elf_build(&libraries[i].elf, &image);
            CHECK_CODE(read_library(&image, step, libraries[i].file, &shown), libraries[i].code);
            CHECK_STR(lks_buf_view(&shown), libraries[i].found);
        }
    }
}

/* A text is found wherever it lies to the blocks in which we read. */
static void test_blocks(void)
{
    for (size_t before = 32000; before < 33400; before += 7) {
        lks_test_case("%zu bytes before it", before);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(IMAGE_MAX);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf image = LKS_BUF(IMAGE_MAX);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf shown = LKS_BUF(IMAGE_MAX);
        lks_buf_pad(&text, 'x', (ptrdiff_t)before);
        lks_buf_add(&text, LKS_STR("NCCL version 2.28.9+cuda13.0\0"));
        lks_buf_pad(&text, 'y', (ptrdiff_t)(before % 3 * 40000));
        struct lks_test_elf spec = {.rodata = lks_buf_view(&text)};
        lks_test_elf_build(&spec, &image);
        CHECK_CODE(read_library(&image, 0, "libnccl.so.2", &shown), LKS_OK);
        CHECK_STR(lks_buf_view(&shown), "2.28.9|cuda13.0|string|NCCL version 2.28.9+cuda13.0|");
    }
}

/* And wherever it lies to the windows in which we go back from the end. */
static void test_windows(void)
{
    static const struct lks_str version = LKS_STR_C("NCCL version 2.28.9+cuda13.0\0");
    enum { LARGE = 10 * 1024 * 1024 };
    for (unsigned i = 0; i < 12; i++) {
        ptrdiff_t after =
            (ptrdiff_t)LKS_LIBVER_WINDOW * (1 + i / 6) - (ptrdiff_t)version.len * (i % 6) / 4;
        lks_test_case("%td bytes after it", after);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LARGE);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf image = LKS_BUF(LARGE);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf shown = LKS_BUF(IMAGE_MAX);
        lks_buf_pad(&text, 'x', 1000 + i);
        lks_buf_add(&text, version);
        lks_buf_pad(&text, 'y', after);
        struct lks_test_elf spec = {.rodata = lks_buf_view(&text)};
        lks_test_elf_build(&spec, &image);
        CHECK_CODE(read_library(&image, 0, "libnccl.so.2", &shown), LKS_OK);
        CHECK_STR(lks_buf_view(&shown), "2.28.9|cuda13.0|string|NCCL version 2.28.9+cuda13.0|");
    }
}

/* Any byte of the code may differ: then we read another number, or none, but never fail. */
static void test_other_code(void)
{
    for (size_t i = 0; i < LKS_COUNT(libraries); i++) {
        struct lks_test_elf spec = libraries[i].elf;
        struct lks_str code = spec.symbols[0].bytes;
        char changed[128];
        if (code.len == 0 || libraries[i].code != LKS_OK)
            continue;
        for (size_t at = 0; at < code.len; at++) {
            LKS_CLEANUP(lks_buf_fini) struct lks_buf image = LKS_BUF(IMAGE_MAX);
            LKS_CLEANUP(lks_buf_fini) struct lks_buf shown = LKS_BUF(IMAGE_MAX);
            lks_test_case("%s, byte %zu", libraries[i].name, at);
            LKS_ASSERT(code.len <= sizeof(changed));
            memcpy(changed, code.ptr, code.len);
            changed[at] = (char)(changed[at] ^ 0x41);
            spec.symbols[0].bytes.ptr = changed;
            lks_test_elf_build(&spec, &image);
            enum lks_code got = read_library(&image, 0, libraries[i].file, &shown);
            CHECK(got == LKS_OK || got == LKS_E_NOT_FOUND);
        }
    }
}

static void test_beside(void)
{
    static const struct {
        const char *file;
        size_t which;
        const char *beside; /* NULL: none */
    } rows[] = {
        {"libcudnn.so.9", 0, "libcudnn_graph.so.9"},
        {"libcudnn.so.9.14.0", 0, "libcudnn_graph.so.9.14.0"},
        {"libcudnn.so.8", 1, "libcudnn_ops_infer.so.8"},
        {"libcudnn.so", 0, "libcudnn_graph.so"},
        {"libcudnn.so.9", 2, NULL},
        {"libcudnn_graph.so.9", 0, NULL},
        {"libnccl.so.2", 0, NULL},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s %zu", rows[i].file, rows[i].which);
        struct lks_str file = lks_str_from(rows[i].file);
        char beside[LKS_LIBVER_NAME_MAX + 1];
        bool has = lks_libver_beside(lks_libver_kind(file), file, rows[i].which, beside);
        if (CHECK(has == (rows[i].beside != NULL)) && has)
            CHECK_STR(lks_str_from(beside), rows[i].beside);
    }
}

/* What is damaged does not pass under the name of its file. */
static void test_damaged(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf image = LKS_BUF(IMAGE_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf shown = LKS_BUF(IMAGE_MAX);
    struct lks_test_elf spec = {TEXT("x")};
    lks_test_elf_build(&spec, &image);
    size_t sections = (size_t)lks_test_elf_get(&image, 40, 8);
    lks_test_elf_set(&image, sections + (size_t)3 * 64 + 32, 1 << 20, 8); /* size of .rodata */
    CHECK_CODE(read_library(&image, 0, "libnccl.so.2.28.9", &shown), LKS_E_INVALID);
    CHECK_HAS(lks_buf_view(&shown), "section .rodata, 1048576 bytes at byte ");
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"names", test_names},   {"kinds", test_kinds},     {"libraries", test_libraries},
        {"blocks", test_blocks}, {"windows", test_windows}, {"other code", test_other_code},
        {"beside", test_beside}, {"damaged", test_damaged}, {NULL, NULL},
    };
    return lks_test_main(tests);
}
