/* Machines that are not as they should be: one file at a time is damaged, and the inventory is
 * still taken, with everything in it that the file has nothing to do with. */
#include "base/file.h"
#include "probe/root/probes.h"
#include "tests/roots.h"
#include "tests/run_cli.h"
#include "tests/test.h"

#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PATH_SIZE 4096
#define FILES_MAX 4096

/* Named damage ------------------------------------------------------------------------------- */

#define NCCL   "/usr/lib/x86_64-linux-gnu/libnccl.so.2"
#define GPU    "/sys/bus/pci/devices/0000:1a:00.0"
#define STATUS "/var/lib/dpkg/status"

static void rewrite(const struct lks_tree *t, const char *path, struct lks_str content)
{
    char at[PATH_SIZE];
    snprintf(at, sizeof(at), "%s%s", t->path, path);
    (void)unlink(at);
    lks_tree_bytes(t, path, content);
}

static void relink(const struct lks_tree *t, const char *path, const char *target)
{
    char at[PATH_SIZE];
    snprintf(at, sizeof(at), "%s%s", t->path, path);
    CHECK(unlink(at) == 0);
    lks_tree_link(t, path, target);
}

static void stretch(const struct lks_tree *t, const char *path, off_t size)
{
    char at[PATH_SIZE];
    snprintf(at, sizeof(at), "%s%s", t->path, path);
    CHECK(truncate(at, size) == 0);
}

static void malformed_class(const struct lks_tree *t)
{
    rewrite(t, GPU "/class", LKS_STR("zebra\n"));
}

static void truncated_library(const struct lks_tree *t)
{
    relink(t, NCCL, "libnccl.so.2.99.1");
    lks_tree_bytes(t, NCCL ".99.1",
                   LKS_STR("\x7f"
                           "ELF\x02\x01\x01"));
}

static void library_fifo(const struct lks_tree *t)
{
    relink(t, NCCL, "libnccl.so.2.99.1");
    lks_tree_fifo(t, NCCL ".99.1");
}

static void library_directory(const struct lks_tree *t)
{
    relink(t, NCCL, "libnccl.so.2.99.1");
    lks_tree_dir(t, NCCL ".99.1");
}

static void library_circle(const struct lks_tree *t)
{
    relink(t, NCCL, "libnccl.so.2.99.1");
    lks_tree_link(t, NCCL ".99.1", "libnccl.so.2");
}

/* The bytes that are there come first, the rest is a hole. */
static void long_status(const struct lks_tree *t)
{
    stretch(t, STATUS, (off_t)300 << 20);
}

static void hole_as_status(const struct lks_tree *t)
{
    rewrite(t, STATUS, LKS_STR(""));
    stretch(t, STATUS, (off_t)300 << 20);
}

static void long_field(const struct lks_tree *t)
{
    static char text[1 << 20];
    memset(text, 'x', sizeof(text));
    memcpy(text, "Package: nvidia-driver-535-server\nVersion: ", 43);
    rewrite(t, STATUS, (struct lks_str){text, sizeof(text)});
}

static void nvml_without_columns(const struct lks_tree *t)
{
    rewrite(t, "/lockstep/nvml.csv", LKS_STR("key,code\nnvmlInit,ok\n"));
}

static void nvml_cut_off(const struct lks_tree *t)
{
    rewrite(t, "/lockstep/nvml.csv", LKS_STR("key,code,value\nnvmlInit,ok,0 x\nnvmlDevi"));
}

static void nvml_refuses(const struct lks_tree *t)
{
    rewrite(t, "/lockstep/nvml.csv", LKS_STR("key,code,value\nnvmlInit,ok,18 x\n"));
}

static void nvml_counts_too_many(const struct lks_tree *t)
{
    rewrite(t, "/lockstep/nvml.csv",
            LKS_STR("key,code,value\nnvmlInit,ok,0 x\nnvmlDeviceGetCount,ok,0 4294967295\n"));
}

static void terminal_sequence(const struct lks_tree *t)
{
    rewrite(t, "/sys/module/nvidia/version", LKS_STR("\x1b]0;owned\x07"));
    rewrite(t, "/proc/driver/nvidia/version", LKS_STR("\x1b[2J\n"));
}

static void strange_names(const struct lks_tree *t)
{
    lks_tree_file(t, "/sys/bus/pci/devices/\x1b[31m/class", "0x030200\n");
    lks_tree_file(t, "/sys/bus/pci/devices/0000:zz:00.0/class", "0x030200\n");
    lks_tree_file(t, "/sys/class/nvme/\xff\xfe/transport", "pcie\n");
    lks_tree_file(t, "/var/lib/dkms/a\nb/1/x", "x");
}

static void many_devices(const struct lks_tree *t)
{
    for (unsigned i = 0; i < 200; i++) {
        char path[128];
        snprintf(path, sizeof(path), "/sys/bus/pci/devices/0001:%02x:00.0/class", i);
        lks_tree_file(t, path, "0x030200\n");
        snprintf(path, sizeof(path), "/sys/bus/pci/devices/0001:%02x:00.0/vendor", i);
        lks_tree_file(t, path, "0x10de\n");
    }
}

static void deep_json(const struct lks_tree *t)
{
    static char text[60000];
    memset(text, '[', sizeof(text));
    rewrite(t, "/usr/local/cuda-12.2/version.json", (struct lks_str){text, sizeof(text)});
}

static void toolkit_circle(const struct lks_tree *t)
{
    relink(t, "/usr/local/cuda", "cuda");
}

static void yaml_bomb(const struct lks_tree *t)
{
    lks_tree_file(t, "/etc/cdi/nvidia.yaml",
                  "a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b]\n");
}

static void disk_of_itself(const struct lks_tree *t)
{
    relink(t, "/sys/dev/block/259:2", "/sys/devices/virtual/block/dm-7");
    lks_tree_file(t, "/sys/devices/virtual/block/dm-7/dm/uuid", "LVM-0\n");
    lks_tree_link(t, "/sys/devices/virtual/block/dm-7/slaves/dm-7",
                  "/sys/devices/virtual/block/dm-7");
    lks_tree_link(t, "/sys/class/block/dm-7", "/sys/devices/virtual/block/dm-7");
}

static const struct {
    const char *name;
    void (*plant)(const struct lks_tree *t);
    const char *reading, *of; /* what must be said of it */
    enum lks_reading_state state;
    const char *says;
} rows[] = {
    {"a class of PCI that is none", malformed_class, "devices.gpus", "", LKS_UNMEASURED,
     GPU "/class: 'zebra'"},
    {"a library that is cut off", truncated_library, "nccl", "", LKS_UNMEASURED, ""},
    {"a library that is a pipe", library_fifo, "nccl", "", LKS_UNMEASURED, "not a plain file"},
    {"a library that is a directory", library_directory, "nccl", "", LKS_UNMEASURED,
     "not a plain file"},
    {"a library that is a circle of links", library_circle, "nccl", "", LKS_UNMEASURED,
     "in a circle"},
    {"a status of 300 MB", long_status, "driver.package", "", LKS_UNMEASURED, "larger than"},
    {"a status of 300 MB that is a hole", hole_as_status, "driver.package", "", LKS_UNMEASURED,
     "larger than"},
    {"a version of a megabyte", long_field, "driver.package", "", LKS_UNMEASURED, ""},
    {"answers without their columns", nvml_without_columns, "firmware/vbios", "gpu 0000:1a:00.0",
     LKS_MEASURED, "88.00.4F.00.09"}, /* from the module, without NVML */
    {"answers without their columns, for what NVML alone knows", nvml_without_columns,
     "settings.ecc", "gpu 0000:1a:00.0", LKS_UNMEASURED, "key, code and value"},
    {"answers that are cut off", nvml_cut_off, "settings.ecc", "gpu 0000:1a:00.0", LKS_UNMEASURED,
     "nvml.csv"},
    {"a library that refuses the module", nvml_refuses, "settings.ecc", "gpu 0000:1a:00.0",
     LKS_UNMEASURED, "of different versions"},
    {"more GPUs than can be", nvml_counts_too_many, "settings.ecc", "gpu 0000:1a:00.0",
     LKS_UNMEASURED, ""},
    {"what would drive a terminal", terminal_sequence, "driver", "", LKS_UNMEASURED,
     "does not hold a line of text"},
    {"names nobody gives", strange_names, "devices.gpus", "", LKS_MEASURED, "8"},
    {"two hundred GPUs", many_devices, "devices.gpus", "", LKS_MEASURED, "208"},
    {"JSON without a bottom", deep_json, "cuda", "", LKS_UNMEASURED, ""},
    {"a toolkit that is a circle of links", toolkit_circle, "cuda", "", LKS_UNMEASURED,
     "in a circle"},
    {"a specification that unfolds", yaml_bomb, "cdi.driver", "cdi /etc/cdi/nvidia.yaml",
     LKS_UNMEASURED, ""},
    {"a disk that lies on itself", disk_of_itself, "platform.disk_encryption", "", LKS_UNMEASURED,
     "too many layers"},
};

/* No probe may be lost to what it reads; that it left out what is too much it may say. */
static void check_probes(const struct lks_tuple *t)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct lks_reading *r = &t->readings[i];
        if (!lks_str_starts(r->name, "probe.") ||
            lks_str_find(r->value, LKS_STR("the rest is left out")) >= 0)
            continue;
        printf("    %.*s: %.*s\n", LKS_STR_ARG(r->name), LKS_STR_ARG(r->value));
        CHECK(false);
    }
}

static const struct lks_reading *find(const struct lks_tuple *t, struct lks_str name,
                                      struct lks_str of)
{
    size_t count;
    const struct lks_reading *r = lks_tuple_range(t, name, &count);
    for (size_t i = 0; i < count; i++) {
        if (lks_str_eq(r[i].of, of))
            return &r[i];
    }
    return NULL;
}

static void test_named(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_planted planted;
        lks_test_case("%s", rows[i].name);
        lks_test_plant(&lks_test_roots[0], &planted);
        rows[i].plant(&planted.tree);
        struct lks_tuple t = lks_test_read(planted.path, NULL, lks_probes, lks_probe_count);
        check_probes(&t);
        const struct lks_reading *r =
            find(&t, lks_str_from(rows[i].reading), lks_str_from(rows[i].of));
        if (CHECK(r != NULL)) {
            CHECK_INT(r->state, rows[i].state);
            CHECK_HAS(r->value, rows[i].says);
        }
        lks_tuple_fini(&t);
        lks_test_planted_free(&planted);
    }
}

/* Every file --------------------------------------------------------------------------------- */

/* What each probe said of the machine when it was well, and which files it asked for. */
struct well {
    const char *path;
    struct lks_tuple all;
    struct lks_tuple *said; /* by probe */
    struct lks_arena arena;
    struct {
        struct lks_str path; /* where it really lies in the tree */
        size_t probe;
    } asked[FILES_MAX];
    size_t asked_count;
};

struct asking {
    struct well *well;
    struct lks_root *root;
    const char *capture;
    size_t probe;
};

/* Probes go through links; what counts is where the file lies. */
static void note_asked(struct asking *a, const char *path)
{
    char real[LKS_ROOT_PATH_MAX];
    struct well *w = a->well;
    struct lks_err err;
    if (lks_root_real(a->root, path, real, &err) != LKS_OK)
        snprintf(real, sizeof(real), "%s", path);
    if (!CHECK(w->asked_count < FILES_MAX))
        return;
    w->asked[w->asked_count].path = lks_arena_copy(&w->arena, lks_str_from(real));
    w->asked[w->asked_count++].probe = a->probe;
}

/* The first field of each row of a table of answers: for files, their path. */
static void note_keys(struct asking *a, const char *table)
{
    char at[PATH_SIZE], path[PATH_SIZE];
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF((size_t)16 << 20);
    snprintf(at, sizeof(at), "%s%s", a->capture, table);
    if (!CHECK(lks_file_read(at, &text, &err) == LKS_OK))
        return;
    struct lks_str rest = lks_buf_view(&text), line, key;
    while (rest.len > 0) {
        (void)lks_str_cut(rest, '\n', &line, &rest);
        if (!lks_str_starts(line, "\"/"))
            continue;
        (void)lks_str_cut((struct lks_str){line.ptr + 1, line.len - 1}, '"', &key, &line);
        snprintf(path, sizeof(path), "%.*s", LKS_STR_ARG(key));
        note_asked(a, path);
    }
}

/* Files that are read on the way to an answer of a table; a capture has only the answer. */
static const struct {
    const char *table, *file;
} on_the_way[] = {
    {"/lockstep/loader.csv", "/proc/self/mountinfo"},
    {"/lockstep/search.csv", "/proc/self/mountinfo"},
    {"/lockstep/module.csv", "modules.dep"},
};

static void note_captured(void *ctx, const char *path)
{
    note_asked(ctx, path);
    if (strncmp(path, "/lockstep/", 10) == 0)
        note_keys(ctx, path);
    for (size_t i = 0; i < LKS_COUNT(on_the_way); i++) {
        if (strcmp(path, on_the_way[i].table) == 0)
            note_asked(ctx, on_the_way[i].file);
    }
}

static void well_init(struct well *w, const char *path)
{
    *w = (struct well){.path = path, .said = calloc(lks_probe_count, sizeof(*w->said))};
    LKS_CLEANUP(lks_root_close) struct lks_root root = {.capture = -1};
    struct lks_err err = {0};
    lks_arena_init(&w->arena, (size_t)16 << 20);
    CHECK(lks_root_open(path, NULL, &root, &err) == LKS_OK);
    w->all = lks_test_read(path, NULL, lks_probes, lks_probe_count);
    for (size_t i = 0; i < lks_probe_count && CHECK(w->said != NULL); i++) {
        struct lks_tree capture = lks_tree_new();
        w->said[i] = lks_test_read(path, capture.path, &lks_probes[i], 1);
        struct asking a = {w, &root, capture.path, i};
        lks_test_files(capture.path, note_captured, &a);
        lks_tree_free(&capture);
    }
}

static void well_fini(struct well *w)
{
    for (size_t i = 0; i < lks_probe_count && w->said != NULL; i++)
        lks_tuple_fini(&w->said[i]);
    free(w->said);
    lks_tuple_fini(&w->all);
    lks_arena_fini(&w->arena);
}

static bool asks_for(const struct well *w, size_t probe, const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    for (size_t i = 0; i < w->asked_count; i++) {
        if (w->asked[i].probe == probe &&
            (lks_str_is(w->asked[i].path, path) || lks_str_is(w->asked[i].path, name)))
            return true;
    }
    return false;
}

/* The part is another reading's business. */
static bool has_reading(const struct lks_tuple *t, const struct lks_reading *r)
{
    size_t count;
    const struct lks_reading *at = lks_tuple_range(t, r->name, &count);
    for (size_t i = 0; i < count; i++) {
        if (lks_str_eq(at[i].of, r->of) && at[i].state == r->state &&
            lks_str_eq(at[i].value, r->value))
            return true;
    }
    return false;
}

/* Probes that do not ask for the file say what they said before. */
static void check_others(const struct well *w, const struct lks_tuple *now, const char *path)
{
    for (size_t i = 0; i < lks_probe_count; i++) {
        if (asks_for(w, i, path))
            continue;
        for (size_t k = 0; k < w->said[i].count; k++) {
            const struct lks_reading *r = &w->said[i].readings[k];
            if (has_reading(now, r))
                continue;
            printf("    %s lost %.*s of %.*s\n", lks_probes[i].name, LKS_STR_ARG(r->name),
                   LKS_STR_ARG(r->of));
            CHECK(false);
            return;
        }
    }
}

/* What is damaged cannot be measured as something else. Counts may become smaller: an empty file is
 * what a device leaves that goes away. */
static void check_invented(const struct well *w, const struct lks_tuple *now)
{
    for (size_t i = 0; i < now->count; i++) {
        const struct lks_reading *r = &now->readings[i];
        if (r->state != LKS_MEASURED || has_reading(&w->all, r) ||
            lks_reading_kind(r->name)->class != LKS_READING_IDENTITY)
            continue;
        printf("    now %.*s of %.*s [%.*s] is '%.*s' (%.*s)\n", LKS_STR_ARG(r->name),
               LKS_STR_ARG(r->of), LKS_STR_ARG(r->part), LKS_STR_ARG(r->value),
               LKS_STR_ARG(r->evidence));
        CHECK(false);
    }
}

/* 64 bytes that are no text, no number and no format. */
static const char garbage[] = "\x01\x80\xff\x1b[31m\x00\xfe\x7f\x02\x9d\x0e\x00\xc3\x28"
                              "\xf0\x28\x8c\xbc\x03\x04\x05\x06\x07\x08\xa0\xa1\xe2\x28\xa1"
                              "\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1c\x1d\x1e\x1f"
                              "\x81\x82\x83\x84\x85\x86\x87\x88\x89\x8a\x8b\x8c";

enum damage { GARBAGE, EMPTY, DIRECTORY, DAMAGES };

static void damage(const char *at, enum damage how)
{
    CHECK(unlink(at) == 0);
    if (how == DIRECTORY) {
        CHECK(mkdir(at, 0755) == 0);
        return;
    }
    FILE *f = fopen(at, "w");
    if (!CHECK(f != NULL))
        return;
    if (how == GARBAGE)
        CHECK(fwrite(garbage, 1, sizeof(garbage) - 1, f) == sizeof(garbage) - 1);
    CHECK(fclose(f) == 0);
}

struct visit {
    struct well *well;
    char *seen; /* shapes of paths, each ended by a NUL */
    size_t seen_len;
    size_t files;
    unsigned share; /* of all visits, one in so many is made */
    unsigned count;
};

#define SEEN_MAX ((size_t)1 << 20)

/* Devices of a kind have files of a kind: digits are all the same to us. */
static bool is_new(struct visit *v, const char *path)
{
    char shape[PATH_SIZE];
    size_t len = 0;
    bool pci = strstr(path, "/sys/bus/pci/devices/") == path;
    for (size_t i = 0; path[i] != '\0' && len + 1 < sizeof(shape); i++) {
        bool digit = (path[i] >= '0' && path[i] <= '9') ||
                     (pci && i < 34 && path[i] >= 'a' && path[i] <= 'f' && i > 20);
        if (!digit || len == 0 || shape[len - 1] != '#')
            shape[len++] = digit ? '#' : path[i];
    }
    shape[len++] = '\0';
    for (size_t at = 0; at < v->seen_len; at += strlen(v->seen + at) + 1) {
        if (strcmp(v->seen + at, shape) == 0)
            return false;
    }
    if (!CHECK(v->seen_len + len < SEEN_MAX))
        return false;
    memcpy(v->seen + v->seen_len, shape, len);
    v->seen_len += len;
    return true;
}

static void damage_file(void *ctx, const char *path)
{
    static const char *const names[DAMAGES] = {"garbage", "empty", "a directory"};
    struct visit *v = ctx;
    char at[PATH_SIZE], kept[PATH_SIZE];
    if (!is_new(v, path))
        return;
    snprintf(at, sizeof(at), "%s%.3000s", v->well->path, path);
    snprintf(kept, sizeof(kept), "%s.kept", v->well->path);
    v->files++;
    for (int how = 0; how < DAMAGES; how++) {
        if (v->count++ % v->share != 0)
            continue;
        lks_test_case("%s is %s", path, names[how]);
        CHECK(link(at, kept) == 0);
        damage(at, (enum damage)how);
        struct lks_tuple now = lks_test_read(v->well->path, NULL, lks_probes, lks_probe_count);
        check_probes(&now);
        check_others(v->well, &now, path);
        if (how == GARBAGE)
            check_invented(v->well, &now);
        lks_tuple_fini(&now);
        CHECK((how == DIRECTORY ? rmdir(at) : unlink(at)) == 0);
        CHECK(rename(kept, at) == 0);
    }
}

/* The sanitizers make a process expensive, so with them only some are tried. */
#define SHARE (LKS_TEST_SANITIZED ? 8 : 1)

static void test_every_file(void)
{
    struct visit v = {.seen = calloc(1, SEEN_MAX), .share = SHARE};
    for (size_t i = 0; i < lks_test_root_count && CHECK(v.seen != NULL); i++) {
        struct lks_planted planted;
        struct well well;
        struct stat st;
        if (!lks_test_roots[i].golden ||
            (stat(lks_test_roots[i].from, &st) == 0 && S_ISDIR(st.st_mode)))
            continue; /* a capture is not ours to damage */
        lks_test_case("%s", lks_test_roots[i].name);
        lks_test_plant(&lks_test_roots[i], &planted);
        well_init(&well, planted.path);
        v.well = &well;
        lks_test_files(planted.path, damage_file, &v);
        well_fini(&well);
        lks_test_planted_free(&planted);
    }
    lks_test_case("all");
    CHECK(v.files > 100);
    free(v.seen);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"damage: by name", test_named},
        {"damage: every file, one at a time", test_every_file},
        {0},
    });
}
