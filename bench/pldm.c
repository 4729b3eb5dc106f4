/*
 * A firmware package of 256 MiB, verified: header and rules, SHA-256 of the whole, SHA-256 of each
 * of its four images, CRC-32 of the payload, all in one pass. The rival runs the same three
 * algorithms over the same bytes in one bare loop, and knows nothing of packages. Once over bytes
 * in memory; then as the whole command, beside the same loop over the file. Rounds of both
 * alternate. Time is that of the processor: none of it waits for anything.
 */
#include "bench/bench.h"

#include "base/file.h"
#include "pldm/package.h"
#include "tests/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

enum { IMAGES = 4, ROUNDS = 5, BLOCK = 32 << 10, PORTION = 256 << 10, MIB = 1 << 20 };

#define FILE_BYTES  ((size_t)256 << 20)
#define IMAGE_BYTES (FILE_BYTES / IMAGES - 128) /* the header has its share */

struct bench {
    struct lks_buf file;
    char path[128];
};

/* What we, or the children that ended, have used of the processors. */
static double used_ms(int who)
{
    struct rusage u = {0};
    if (getrusage(who, &u) != 0)
        bench_die("pldm", strerror(errno));
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}

/* ---- The package. ---- */

static char *make_image(size_t size, uint32_t seed)
{
    char *bytes = malloc(size);
    if (bytes == NULL)
        bench_die("pldm", "no memory");
    for (size_t i = 0; i < size; i++) {
        seed = seed * 1664525 + 1013904223;
        bytes[i] = (char)(seed >> 24);
    }
    return bytes;
}

static void make_package(struct bench *b)
{
    struct lks_pldm_string version = {LKS_PLDM_STRING_ASCII, LKS_STR("1.0")};
    struct lks_pldm_descriptor vendor = {LKS_PLDM_PCI_VENDOR, LKS_STR("\xde\x10")};
    uint16_t all[IMAGES];
    struct lks_pldm_component components[IMAGES] = {0};
    char *bytes[IMAGES];
    struct lks_str images[IMAGES];
    struct lks_err err = {0};
    for (unsigned i = 0; i < IMAGES; i++) {
        all[i] = (uint16_t)i;
        bytes[i] = make_image(IMAGE_BYTES, i);
        images[i] = (struct lks_str){bytes[i], IMAGE_BYTES};
        components[i] = (struct lks_pldm_component){.classification = 10,
                                                    .id = (uint16_t)i,
                                                    .stamp = LKS_PLDM_STAMP_NONE,
                                                    .version = version};
    }
    struct lks_pldm_record device = {.version = version,
                                     .descriptors = &vendor,
                                     .descriptor_count = 1,
                                     .components = all,
                                     .component_count = IMAGES};
    struct lks_pldm_package p = {.revision = 4,
                                 .released = {.year = 2026, .month = 11, .day = 15},
                                 .version = version,
                                 .devices = &device,
                                 .device_count = 1,
                                 .components = components,
                                 .component_count = IMAGES};
    lks_buf_init(&b->file, 2 * FILE_BYTES);
    if (lks_pldm_package_build(&p, images, &b->file, &err) != LKS_OK ||
        lks_file_replace(b->path, lks_buf_view(&b->file), &err) != LKS_OK)
        bench_die("pldm", err.msg);
    for (size_t i = 0; i < IMAGES; i++)
        free(bytes[i]);
}

/* ---- Ours. ---- */

static double pass_ms(struct lks_str file)
{
    LKS_CLEANUP(lks_pldm_package_fini) struct lks_pldm_package p = {0};
    LKS_CLEANUP(lks_pldm_package_pass_fini) struct lks_pldm_pass pass = {0};
    struct lks_pldm_pass_options options = {.file_size = file.len};
    struct lks_pldm_sums sums;
    struct lks_err err = {0};
    double begun = used_ms(RUSAGE_SELF);
    if (lks_pldm_package_parse(file, file.len, true, &p, &err) != LKS_OK ||
        lks_pldm_package_pass_init(&pass, &p, &options, &err) != LKS_OK ||
        lks_pldm_package_pass_feed(&pass, file, &err) != LKS_OK ||
        lks_pldm_package_pass_finish(&pass, &sums, &err) != LKS_OK ||
        lks_pldm_package_sums_check(&p, &sums, &err) != LKS_OK)
        bench_die("pldm", err.msg);
    return used_ms(RUSAGE_SELF) - begun;
}

static double command_ms(const struct bench *b)
{
    const char *const argv[] = {LKS_CLI_PROGRAM, "pldm", "verify", b->path, NULL};
    int status = 0;
    double begun = used_ms(RUSAGE_CHILDREN);
    pid_t pid = bench_spawn(argv, -1);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0)
        bench_die("pldm", "'lockstep pldm verify' does not verify");
    return used_ms(RUSAGE_CHILDREN) - begun;
}

/* ---- The rival. ---- */

struct bare {
    EVP_MD_CTX *whole, *image;
    uint32_t crc;
};

static void bare_init(struct bare *r)
{
    *r = (struct bare){.whole = EVP_MD_CTX_new(), .image = EVP_MD_CTX_new()};
    if (r->whole == NULL || r->image == NULL ||
        EVP_DigestInit_ex(r->whole, EVP_sha256(), NULL) != 1 ||
        EVP_DigestInit_ex(r->image, EVP_sha256(), NULL) != 1)
        bench_die("pldm", "no SHA-256");
}

static void bare_feed(struct bare *r, const char *bytes, size_t len)
{
    for (size_t at = 0; at < len; at += BLOCK) {
        size_t n = len - at < BLOCK ? len - at : BLOCK;
        (void)EVP_DigestUpdate(r->whole, bytes + at, n);
        (void)EVP_DigestUpdate(r->image, bytes + at, n);
        r->crc = (uint32_t)crc32_z(r->crc, (const unsigned char *)bytes + at, n);
    }
}

static void bare_fini(struct bare *r)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    (void)EVP_DigestFinal_ex(r->whole, digest, NULL);
    (void)EVP_DigestFinal_ex(r->image, digest, NULL);
    EVP_MD_CTX_free(r->whole);
    EVP_MD_CTX_free(r->image);
}

static double bare_ms(struct lks_str file)
{
    struct bare r;
    double begun = used_ms(RUSAGE_SELF);
    bare_init(&r);
    bare_feed(&r, file.ptr, file.len);
    bare_fini(&r);
    return used_ms(RUSAGE_SELF) - begun;
}

static double bare_file_ms(const struct bench *b)
{
    static char portion[PORTION];
    struct bare r;
    double begun = used_ms(RUSAGE_SELF);
    int fd = open(b->path, O_RDONLY | O_CLOEXEC);
    bare_init(&r);
    for (ssize_t n; fd >= 0 && (n = read(fd, portion, sizeof(portion))) > 0;)
        bare_feed(&r, portion, (size_t)n);
    bare_fini(&r);
    if (fd < 0 || close(fd) != 0)
        bench_die("pldm", strerror(errno));
    return used_ms(RUSAGE_SELF) - begun;
}

/* ---- Both. ---- */

static void show(struct lks_table *t, const char *what, const char *rival, double *ours,
                 double *theirs)
{
    double mib = (double)FILE_BYTES / MIB * 1000;
    bench_row(t, &(struct bench_figure){what, "ratio 0.90", rival, "MiB/s",
                                        mib / bench_median(ours, ROUNDS),
                                        mib / bench_median(theirs, ROUNDS)});
}

void bench_pldm(struct lks_table *t)
{
    LKS_CLEANUP(lks_tree_free) struct lks_tree tree = lks_tree_new();
    struct bench b = {0};
    double ours[ROUNDS], theirs[ROUNDS];
    snprintf(b.path, sizeof(b.path), "%s/package.fwpkg", tree.path);
    make_package(&b);
    for (size_t i = 0; i < ROUNDS; i++) {
        ours[i] = pass_ms(lks_buf_view(&b.file));
        theirs[i] = bare_ms(lks_buf_view(&b.file));
    }
    show(t, "a package of 256 MiB, verified in memory", "the same algorithms in a bare loop", ours,
         theirs);
    lks_buf_fini(&b.file);
    for (size_t i = 0; i < ROUNDS; i++) {
        ours[i] = command_ms(&b);
        theirs[i] = bare_file_ms(&b);
    }
    show(t, "'lockstep pldm verify' of it, the whole command", "the bare loop over the file", ours,
         theirs);
}
