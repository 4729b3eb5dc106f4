/* Any bytes as the code of the functions that hand out a version, for x86-64 or, where the first
 * byte is odd, for aarch64. In a library that is otherwise sound the answer is a number or that
 * there is none; the number is the same whichever library has the function; and on x86-64, where it
 * stands whole in one instruction, it is in the file. */
#include "codec/program/libver.h"
#include "tests/elf_image.h"

#include <string.h>

enum { CODE_MAX = 4 * LKS_LIBVER_CODE_MAX, IMAGE_MAX = 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum lks_code read_version(const struct lks_elf *elf, const char *file,
                                  struct lks_libver *out)
{
    struct lks_err err = {0};
    struct lks_str name = lks_str_from(file);
    enum lks_code code = lks_libver_read(lks_libver_kind(name), elf, name, out, &err);
    LKS_ASSERT(code == LKS_OK || code == LKS_E_NOT_FOUND);
    LKS_ASSERT(code == err.code && (code == LKS_OK) == (err.msg[0] == '\0'));
    LKS_ASSERT(code != LKS_OK || (out->from == LKS_LIBVER_SYMBOL && out->version[0] != '\0'));
    return code;
}

static void check_in_file(const struct lks_libver *found, struct lks_str image)
{
    struct lks_str name, digits;
    uint64_t number;
    LKS_ASSERT(lks_str_cut(lks_str_from(found->evidence), '=', &name, &digits));
    LKS_ASSERT(lks_str_number(lks_str_trim(digits), 999999, &number) && number >= 1000);
    char bytes[4];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)(number >> (8 * i) & 0xff);
    LKS_ASSERT(lks_str_find(image, (struct lks_str){bytes, sizeof(bytes)}) >= 0);
}

static void build(struct lks_str code, bool arm, struct lks_buf *image)
{
    struct lks_test_elf spec = {.machine = arm ? LKS_TEST_ELF_AARCH64 : LKS_TEST_ELF_X86_64,
                                .symbols = {{"ncclGetVersion", code, true},
                                            {"cudaRuntimeGetVersion", code, true},
                                            {"cudnnGetVersion", code, true}}};
    lks_buf_init(image, IMAGE_MAX);
    lks_test_elf_build(&spec, image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const files[] = {"libnccl.so.2", "librccl.so.1", "libcudart.so.13",
                                        "libcudnn_graph.so.9", "libcudnn_ops_infer.so.8"};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf image = {0};
    struct lks_libver found[LKS_COUNT(files)] = {0};
    enum lks_code codes[LKS_COUNT(files)];
    struct lks_err err = {0};
    struct lks_elf elf;
    if (size < 2 || size > CODE_MAX)
        return 0;
    bool arm = data[0] & 1;
    build((struct lks_str){(const char *)data + 1, size - 1}, arm, &image);
    struct lks_test_reader reader = {.bytes = lks_buf_view(&image)};
    struct lks_elf_file file = lks_test_reader_file(&reader, image.len);
    enum lks_code code = lks_elf_read(&file, &elf, &err);
    LKS_ASSERT(code == LKS_OK);
    for (size_t i = 0; i < LKS_COUNT(files); i++) {
        codes[i] = read_version(&elf, files[i], &found[i]);
        if (codes[i] == LKS_OK && !arm)
            check_in_file(&found[i], lks_buf_view(&image));
    }
    LKS_ASSERT(codes[0] == codes[1] && strcmp(found[0].version, found[1].version) == 0);
    LKS_ASSERT(codes[3] == codes[4] && strcmp(found[3].version, found[4].version) == 0);
    return 0;
}
