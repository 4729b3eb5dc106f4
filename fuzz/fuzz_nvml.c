/* Any bytes as what NVML once answered: whatever they say, the probe says every reading of each GPU
 * exactly once, and nothing else. */
#include "probe/gpu/nvidia_gpu.h"
#include "probe/root/probes.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SCRATCH_MAX = 64 << 20, READINGS_MAX = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct heard {
    struct {
        char of[64];
        unsigned times[READINGS_MAX];
    } gpus[LKS_NVML_GPUS_MAX];
    size_t count;
};

static void hear(void *ctx, const struct lks_reading *r)
{
    struct heard *h = ctx;
    LKS_ASSERT(r->evidence.len > 0);
    LKS_ASSERT((r->state == LKS_ABSENT) == (r->value.len == 0));
    if (lks_str_is(r->name, "probe.nvidia"))
        return;
    LKS_ASSERT(lks_str_starts(r->of, "gpu "));
    size_t gpu = 0, reading = 0;
    while (gpu < h->count && !lks_str_is(r->of, h->gpus[gpu].of))
        gpu++;
    LKS_ASSERT(gpu < LKS_NVML_GPUS_MAX);
    if (gpu == h->count)
        snprintf(h->gpus[h->count++].of, sizeof(h->gpus[0].of), "%" LKS_STR_FMT,
                 LKS_STR_ARG(r->of));
    while (lks_nvidia_gpu_readings[reading] != NULL &&
           !lks_str_is(r->name, lks_nvidia_gpu_readings[reading]))
        reading++;
    LKS_ASSERT(lks_nvidia_gpu_readings[reading] != NULL);
    h->gpus[gpu].times[reading]++;
}

/* A tree with one file in it, made once for all inputs. */
static const char *tree(void)
{
    static char path[32];
    char dir[64];
    if (path[0] == '\0') {
        snprintf(path, sizeof(path), "/tmp/lks-fuzz-nvml-%ld", (long)getpid());
        snprintf(dir, sizeof(dir), "%s/lockstep", path);
        LKS_ASSERT(mkdir(path, 0700) == 0 && mkdir(dir, 0700) == 0);
    }
    return path;
}

static void write_answers(const uint8_t *data, size_t size)
{
    char file[64];
    snprintf(file, sizeof(file), "%s/lockstep/nvml.csv", tree());
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    LKS_ASSERT(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    LKS_ASSERT(close(fd) == 0);
}

static void clean(void)
{
    char path[64];
    snprintf(path, sizeof(path), "%s/lockstep/nvml.csv", tree());
    (void)unlink(path);
    snprintf(path, sizeof(path), "%s/lockstep", tree());
    (void)rmdir(path);
    (void)rmdir(tree());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool registered;
    if (!registered)
        registered = atexit(clean) == 0;
    static struct heard h;
    LKS_CLEANUP(lks_arena_fini) struct lks_arena scratch = {0};
    struct lks_root root;
    struct lks_err err;
    struct lks_probe_options options = {.call_ms = 1000, .probe_ms = 1000};
    memset(&h, 0, sizeof(h));
    write_answers(data, size);
    lks_arena_init(&scratch, SCRATCH_MAX);
    LKS_ASSERT(lks_root_open(tree(), NULL, &root, &err) == LKS_OK);
    struct lks_probe p = {
        .root = &root, .options = &options, .arena = &scratch, .emit = hear, .ctx = &h};
    lks_probe_nvidia(&p);
    lks_root_close(&root);
    for (size_t i = 0; i < h.count; i++) {
        for (size_t k = 0; lks_nvidia_gpu_readings[k] != NULL; k++)
            LKS_ASSERT(h.gpus[i].times[k] == 1);
    }
    return 0;
}
