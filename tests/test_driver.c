/* The NVIDIA driver: loaded, on disk in every packing, its library, and the modules beside it. */
#include "probe/kernel/module.h"
#include "probe/root/probes.h"
#include "probe/root/unpack.h"
#include "tests/elf_image.h"
#include "tests/heard.h"
#include "tests/test.h"
#include "tests/tree.h"

#include <fcntl.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

/* What the kernel modules of either make write into /proc/driver/nvidia/version. */
static const char open_banner[] =
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\n";
static const char closed_banner[] =
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15\n";

#define RELEASE   "6.8.0-85-generic"
#define MODULES   "/lib/modules/" RELEASE
#define BYTES_MAX (4 << 20)

static const struct lks_probe_options quick = {.call_ms = 1000, .probe_ms = 5000};
static const struct lks_probe_options slow = {.libraries = true, .call_ms = 1000, .probe_ms = 5000};

/* Packing ------------------------------------------------------------------------------------- */

static size_t pack_plain(struct lks_str in, unsigned char *out)
{
    memcpy(out, in.ptr, in.len);
    return in.len;
}

static size_t pack_gzip(struct lks_str in, unsigned char *out)
{
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)in.ptr,
                  .avail_in = (uInt)in.len,
                  .next_out = out,
                  .avail_out = BYTES_MAX};
    CHECK(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
    CHECK(deflateEnd(&z) == Z_OK);
    return BYTES_MAX - z.avail_out;
}

static size_t pack_xz(struct lks_str in, unsigned char *out)
{
    size_t len = 0;
    CHECK(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, (const uint8_t *)in.ptr, in.len, out,
                                  &len, BYTES_MAX) == LZMA_OK);
    return len;
}

static size_t pack_zstd(struct lks_str in, unsigned char *out)
{
    size_t len = ZSTD_compress(out, BYTES_MAX, in.ptr, in.len, 3);
    CHECK(!ZSTD_isError(len));
    return len;
}

static const struct {
    const char *name, *suffix;
    size_t (*pack)(struct lks_str in, unsigned char *out);
} packings[] = {
    {"plain", "", pack_plain},
    {"gzip", ".gz", pack_gzip},
    {"xz", ".xz", pack_xz},
    {"zstd", ".zst", pack_zstd},
};

/* Unpacking ----------------------------------------------------------------------------------- */

struct gathered {
    struct lks_buf bytes;
    size_t enough;
};

static bool gather(void *ctx, struct lks_str bytes)
{
    struct gathered *g = ctx;
    lks_buf_add(&g->bytes, bytes);
    return g->bytes.len < g->enough;
}

static enum lks_code unpack_bytes(struct lks_str packed, uint64_t max, struct gathered *g,
                                  struct lks_err *err)
{
    struct lks_root root = {.capture = -1};
    char path[] = "/tmp/lks-unpack-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0 && unlink(path) == 0);
    CHECK(write(fd, packed.ptr, packed.len) == (ssize_t)packed.len);
    enum lks_code code = lks_unpack(&root, fd, "file", max, gather, g, err);
    CHECK(close(fd) == 0);
    return code;
}

/* Noise does not shrink, so that it takes many pieces; zeroes shrink to almost nothing. */
static struct lks_str make_bytes(bool noise, size_t len)
{
    static char bytes[BYTES_MAX / 2];
    uint32_t state = 1;
    for (size_t i = 0; i < len; i++) {
        state = state * 1664525u + 1013904223u;
        bytes[i] = noise ? (char)(state >> 24) : 0;
    }
    return (struct lks_str){bytes, len};
}

static void check_packing(size_t which, struct lks_str bytes, unsigned char *packed)
{
    struct gathered all = {.enough = SIZE_MAX}, some = {.enough = 1}, none = {.enough = SIZE_MAX};
    struct lks_err err = {0};
    size_t len = packings[which].pack(bytes, packed);
    struct lks_str view = {(const char *)packed, len};
    lks_buf_init(&all.bytes, BYTES_MAX);
    lks_buf_init(&some.bytes, BYTES_MAX);
    lks_buf_init(&none.bytes, BYTES_MAX);
    CHECK_CODE(unpack_bytes(view, BYTES_MAX, &all, &err), LKS_OK);
    CHECK(lks_str_eq(lks_buf_view(&all.bytes), bytes));
    CHECK_CODE(unpack_bytes(view, BYTES_MAX, &some, &err), LKS_OK);
    CHECK(some.bytes.len > 0 && some.bytes.len <= bytes.len);
    CHECK_CODE(unpack_bytes(view, bytes.len - 1, &none, &err), LKS_E_LIMIT);
    bool plain = packings[which].suffix[0] == '\0';
    view.len -= 1;
    CHECK_CODE(unpack_bytes(view, BYTES_MAX, &none, &err), plain ? LKS_OK : LKS_E_INVALID);
    packed[len / 2] ^= 0x55;
    packed[len / 2 + 1] ^= 0x55;
    view.len = len;
    enum lks_code code = unpack_bytes(view, BYTES_MAX, &none, &err);
    CHECK(code == LKS_OK || code == LKS_E_INVALID || code == LKS_E_LIMIT);
    lks_buf_fini(&all.bytes);
    lks_buf_fini(&some.bytes);
    lks_buf_fini(&none.bytes);
}

static void test_unpack(void)
{
    static unsigned char packed[BYTES_MAX];
    static const struct {
        bool noise;
        size_t len;
    } contents[] = {{true, 100}, {true, 1 << 20}, {false, 1 << 20}};
    for (size_t i = 0; i < LKS_COUNT(packings) * LKS_COUNT(contents); i++) {
        size_t which = i % LKS_COUNT(packings), content = i / LKS_COUNT(packings);
        lks_test_case("%s %zu", packings[which].name, content);
        check_packing(which, make_bytes(contents[content].noise, contents[content].len), packed);
    }
}

/* The module on disk -------------------------------------------------------------------------- */

#define INFO(version, license)                                                                     \
    LKS_STR("license=" license "\0version=" version "\0srcversion=30F84026E8DDE832E1CA4C5\0"       \
            "vermagic=" RELEASE " SMP preempt\0name=nvidia\0")

static void plant_module(const struct lks_tree *tree, const char *path, size_t packing,
                         struct lks_str info)
{
    static unsigned char packed[BYTES_MAX];
    LKS_CLEANUP(lks_buf_fini) struct lks_buf image = LKS_BUF(BYTES_MAX);
    char at[256];
    lks_test_elf_build(&(struct lks_test_elf){.modinfo = info}, &image);
    size_t len = packings[packing].pack(lks_buf_view(&image), packed);
    snprintf(at, sizeof(at), "%s%s", path, packings[packing].suffix);
    lks_tree_bytes(tree, at, (struct lks_str){(const char *)packed, len});
}

static void test_packed_modules(void)
{
    for (size_t i = 0; i < LKS_COUNT(packings); i++) {
        lks_test_case("%s", packings[i].name);
        struct lks_tree tree = lks_tree_new();
        struct lks_heard heard;
        lks_tree_file(&tree, "/proc/sys/kernel/osrelease", RELEASE "\n");
        plant_module(&tree, MODULES "/updates/dkms/nvidia.ko", i, INFO("580.95.05", "NVIDIA"));
        lks_hear_tree(lks_probe_driver, &tree, &quick, &heard);
        CHECK_STR(lks_heard_only(&heard, "driver.disk"), "driver.disk=580.95.05\n");
        lks_heard_fini(&heard);
        lks_tree_free(&tree);
    }
}

/* Which file counts: what modules.dep says, before where such files usually are. */
static const struct {
    const char *name, *dep, *file, *reading;
} places[] = {
    {"listed", "kernel/nvidia-580/nvidia.ko: kernel/x.ko\n", "kernel/nvidia-580/nvidia.ko",
     "driver.disk=580.95.05\n"},
    {"after others", "a/nvidia-uvm.ko: b\nc/nvidia_drm.ko.xz:\nextra/nvidia.ko: a/x.ko\n",
     "extra/nvidia.ko", "driver.disk=580.95.05\n"},
    {"absolute", "/opt/nvidia.ko:\n", "../../../opt/nvidia.ko", "driver.disk=580.95.05\n"},
    {"not listed, where it usually is", "kernel/x.ko:\n", "kernel/drivers/video/nvidia.ko",
     "driver.disk=580.95.05\n"},
    {"no list", NULL, "weak-updates/nvidia/nvidia.ko", "driver.disk=580.95.05\n"},
    {"listed and gone", "extra/nvidia.ko:\n", NULL, "driver.disk~\n"},
    {"none", "kernel/x.ko:\n", NULL, "driver.disk~\n"},
    {"only another one", NULL, "extra/nvidia-uvm.ko", "driver.disk~\n"},
};

static void test_places(void)
{
    for (size_t i = 0; i < LKS_COUNT(places); i++) {
        lks_test_case("%s", places[i].name);
        struct lks_tree tree = lks_tree_new();
        struct lks_heard heard;
        char path[256];
        lks_tree_file(&tree, "/proc/sys/kernel/osrelease", RELEASE "\n");
        if (places[i].dep != NULL)
            lks_tree_file(&tree, MODULES "/modules.dep", places[i].dep);
        if (places[i].file != NULL && places[i].file[0] == '.')
            plant_module(&tree, "/opt/nvidia.ko", 0, INFO("580.95.05", "NVIDIA"));
        else if (places[i].file != NULL) {
            snprintf(path, sizeof(path), MODULES "/%s", places[i].file);
            plant_module(&tree, path, 0, INFO("580.95.05", "NVIDIA"));
        }
        lks_hear_tree(lks_probe_driver, &tree, &quick, &heard);
        CHECK_STR(lks_heard_only(&heard, "driver.disk"), places[i].reading);
        lks_heard_fini(&heard);
        lks_tree_free(&tree);
    }
}

static void test_odd_modules(void)
{
    static const struct {
        const char *name, *content, *reading;
    } rows[] = {
        {"empty", "", "driver.disk?" MODULES "/extra/nvidia.ko: is no kernel module\n"},
        {"text", "not a module at all\n",
         "driver.disk?" MODULES "/extra/nvidia.ko: is no kernel module\n"},
        {"cut gzip", "\x1f\x8b\x08", "driver.disk?" MODULES "/extra/nvidia.ko: is damaged\n"},
        {"cut zstd", "\x28\xb5\x2f\xfd", "driver.disk?" MODULES "/extra/nvidia.ko: is damaged\n"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        struct lks_tree tree = lks_tree_new();
        struct lks_heard heard;
        lks_tree_file(&tree, "/proc/sys/kernel/osrelease", RELEASE "\n");
        lks_tree_file(&tree, MODULES "/extra/nvidia.ko", rows[i].content);
        lks_hear_tree(lks_probe_driver, &tree, &quick, &heard);
        CHECK_STR(lks_heard_only(&heard, "driver.disk"), rows[i].reading);
        CHECK_STR(lks_heard_only(&heard, "driver?"), "driver?the module is not loaded\n");
        lks_heard_fini(&heard);
        lks_tree_free(&tree);
    }
}

/* All of it ----------------------------------------------------------------------------------- */

static void plant_library(const struct lks_tree *tree, const char *dir, const char *version)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf image = LKS_BUF(BYTES_MAX);
    char at[256], text[64];
    snprintf(text, sizeof(text), "libnvidia-pkcs11.so.%s", version);
    lks_test_elf_build(
        &(struct lks_test_elf){.soname = "libcuda.so.1",
                               .build_id = LKS_STR("\x01\x23\x45\x67\x89\xab\xcd\xef"),
                               .rodata = {text, strlen(text) + 1}},
        &image);
    snprintf(at, sizeof(at), "%s/libcuda.so.%s", dir, version);
    lks_tree_bytes(tree, at, lks_buf_view(&image));
    snprintf(text, sizeof(text), "libcuda.so.%s", version);
    snprintf(at, sizeof(at), "%s/libcuda.so.1", dir);
    lks_tree_link(tree, at, text);
}

static void plant_all(const struct lks_tree *tree)
{
    lks_tree_file(tree, "/proc/sys/kernel/osrelease", RELEASE "\n");
    lks_tree_file(tree, "/proc/driver/nvidia/version", open_banner);
    lks_tree_file(tree, "/sys/module/nvidia/version", "580.159.04\n");
    lks_tree_file(tree, "/sys/module/nvidia/srcversion", "7F8CFD761780C24B1BBCA13\n");
    lks_tree_file(tree, "/sys/module/nvidia_peermem/version", "580.159.04\n");
    lks_tree_file(tree, "/sys/module/nvidia_fs/version", "2.26.6\n");
    lks_tree_dir(tree, "/sys/module/gdrdrv");
    lks_tree_file(tree, MODULES "/modules.dep", "updates/dkms/nvidia.ko.zst:\n");
    plant_module(tree, MODULES "/updates/dkms/nvidia.ko", 3, INFO("580.95.05", "Dual MIT/GPL"));
    plant_library(tree, "/usr/lib/x86_64-linux-gnu", "580.126.20");
}

static const char all_readings[] = "driver.loaded=580.159.04\n"
                                   "driver.modules=open\n"
                                   "driver.build.srcversion=7F8CFD761780C24B1BBCA13\n"
                                   "driver.disk=580.95.05\n"
                                   "driver.library=580.126.20\n"
                                   "driver.build.build_id=0123456789abcdef\n"
                                   "driver=580.159.04\n"
                                   "nvidia-peermem=580.159.04\n"
                                   "gds=2.26.6\n"
                                   "gdrcopy?the loaded module does not say its version\n"
                                   "settings.gds=true\n";

static const char none_readings[] = "driver.loaded~\n"
                                    "driver.modules~\n"
                                    "driver.build.srcversion~\n"
                                    "driver.disk~\n"
                                    "driver.library~\n"
                                    "driver.build.build_id~\n"
                                    "driver~\n"
                                    "nvidia-peermem~\n"
                                    "gds~\n"
                                    "gdrcopy~\n"
                                    "settings.gds~\n";

static void test_whole(void)
{
    struct lks_tree tree = lks_tree_new(), empty = lks_tree_new();
    struct lks_heard heard;
    plant_all(&tree);
    lks_hear_tree(lks_probe_driver, &tree, &quick, &heard);
    CHECK_STR(lks_buf_view(&heard.lines), all_readings);
    CHECK_HAS(lks_buf_view(&heard.evidence),
              "driver.disk@: " MODULES "/updates/dkms/nvidia.ko.zst\n");
    CHECK_HAS(lks_buf_view(&heard.evidence),
              "driver.library@: /usr/lib/x86_64-linux-gnu/libcuda.so.580.126.20\n");
    lks_heard_fini(&heard);
    lks_tree_file(&empty, "/proc/sys/kernel/osrelease", RELEASE "\n");
    lks_hear_tree(lks_probe_driver, &empty, &quick, &heard);
    CHECK_STR(lks_buf_view(&heard.lines), none_readings);
    lks_heard_fini(&heard);
    lks_tree_free(&tree);
    lks_tree_free(&empty);
}

/* The hash of the file is of the file as it lies there. */
static void test_hash(void)
{
    struct lks_tree tree = lks_tree_new();
    struct lks_heard heard;
    lks_tree_file(&tree, "/proc/sys/kernel/osrelease", RELEASE "\n");
    lks_tree_file(&tree, MODULES "/extra/nvidia.ko", "abc");
    lks_hear_tree(lks_probe_driver, &tree, &quick, &heard);
    CHECK_STR(lks_heard_only(&heard, "sha256"), "");
    lks_heard_fini(&heard);
    lks_hear_tree(lks_probe_driver, &tree, &slow, &heard);
    CHECK_STR(lks_heard_only(&heard, "sha256"),
              "driver.build.sha256="
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n");
    lks_heard_fini(&heard);
    lks_tree_free(&tree);
}

static void test_loaded(void)
{
    static const struct {
        const char *name, *proc, *sys, *readings;
    } rows[] = {
        {"open", open_banner, "580.159.04\n", "driver.loaded=580.159.04\ndriver.modules=open\n"},
        {"proprietary", closed_banner, "535.104.05\n",
         "driver.loaded=535.104.05\ndriver.modules=proprietary\n"},
        {"only in /proc", closed_banner, NULL,
         "driver.loaded=535.104.05\ndriver.modules=proprietary\n"},
        {"only in /sys", NULL, "535.104.05\n",
         "driver.loaded=535.104.05\n"
         "driver.modules?/proc/driver/nvidia/version is not there or cannot be read\n"},
        {"a banner without a number", "NVRM version: Kernel Module\n", NULL,
         "driver.loaded?the loaded module does not say its version\n"
         "driver.modules=proprietary\n"},
        {"another banner", "hello 1.2\n", NULL,
         "driver.loaded=1.2\ndriver.modules?unexpected text 'hello 1.2'\n"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        struct lks_tree tree = lks_tree_new();
        struct lks_heard heard;
        if (rows[i].proc != NULL)
            lks_tree_file(&tree, "/proc/driver/nvidia/version", rows[i].proc);
        if (rows[i].sys != NULL)
            lks_tree_file(&tree, "/sys/module/nvidia/version", rows[i].sys);
        lks_hear_tree(lks_probe_driver, &tree, &quick, &heard);
        CHECK(lks_str_starts(lks_buf_view(&heard.lines), rows[i].readings));
        lks_heard_fini(&heard);
        lks_tree_free(&tree);
    }
}

/* A capture holds no module and no library, and reads as the machine did. */
static void test_capture(void)
{
    struct lks_tree tree = lks_tree_new(), capture = lks_tree_new();
    struct lks_root root;
    struct lks_err err = {0};
    struct lks_heard live = {0}, replayed = {0};
    char path[256];
    plant_all(&tree);
    if (CHECK(lks_root_open(tree.path, capture.path, &root, &err) == LKS_OK)) {
        root.live = true;
        lks_hear(lks_probe_driver, &root, &slow, &live);
        lks_root_close(&root);
        snprintf(path, sizeof(path), "%s" MODULES, capture.path);
        CHECK(access(path, F_OK) != 0);
        lks_hear_tree(lks_probe_driver, &capture, &slow, &replayed);
        CHECK_STR(lks_buf_view(&replayed.lines), live.lines.ptr);
        CHECK_STR(lks_buf_view(&replayed.evidence), live.evidence.ptr);
    }
    lks_heard_fini(&live);
    lks_heard_fini(&replayed);
    lks_tree_free(&tree);
    lks_tree_free(&capture);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"driver unpack", test_unpack},
        {"driver packed modules", test_packed_modules},
        {"driver places of modules", test_places},
        {"driver odd modules", test_odd_modules},
        {"driver as a whole", test_whole},
        {"driver hash", test_hash},
        {"driver loaded", test_loaded},
        {"driver capture", test_capture},
        {0},
    });
}
