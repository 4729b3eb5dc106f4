/*
 * Files by their digest: what is found is what was put, whoever interrupts, whatever fails, and
 * whatever else lies in the folder.
 *
 * The calls that change the disk are this program's own here: each can fail, or be the last thing
 * that a process does.
 */
#include "drivers/depot/depot_files.h"
#include "tests/test.h"
#include "tests/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KIB ((size_t)1024)

enum { DIED = 77, STEPS_MAX = 100, PIECES = 3, PATH_SIZE = 160 };

/* ---- the disk ---- */

static struct {
    bool on, die, happened;
    int left, number;
} fault;

static bool falls(void)
{
    if (!fault.on || fault.left-- > 0)
        return false;
    if (fault.die)
        _exit(DIED);
    fault.on = false;
    fault.happened = true;
    errno = fault.number;
    return true;
}

/* A write that fails has got half way. */
ssize_t pwrite64(int fd, const void *buf, size_t n, off64_t offset)
{
    bool fell = falls();
    ssize_t put = syscall(SYS_pwrite64, fd, buf, fell ? n / 2 : n, offset);
    if (fell)
        errno = fault.number;
    return fell ? -1 : put;
}

int fsync(int fd)
{
    return falls() ? -1 : (int)syscall(SYS_fsync, fd);
}

int renameat(int oldfd, const char *old, int newfd, const char *new)
{
    return falls() ? -1 : (int)syscall(SYS_renameat2, oldfd, old, newfd, new, 0);
}

int mkdirat(int fd, const char *path, mode_t mode)
{
    return falls() ? -1 : (int)syscall(SYS_mkdirat, fd, path, mode);
}

int ftruncate64(int fd, off64_t length)
{
    return falls() ? -1 : (int)syscall(SYS_ftruncate, fd, length);
}

int unlinkat(int fd, const char *name, int flag)
{
    return falls() ? -1 : (int)syscall(SYS_unlinkat, fd, name, flag);
}

/* ---- a depot and something to put there ---- */

static struct {
    struct lks_tree tree;
    struct lks_depot depot;
    char bytes[PIECES * 100 * 1024];
    char digest[LKS_DIGEST_SIZE];
    struct lks_err err;
} at;

static void begin(void)
{
    at.err = (struct lks_err){0};
    at.tree = lks_tree_new();
    for (size_t i = 0; i < sizeof(at.bytes); i++)
        at.bytes[i] = (char)(i * 31 >> 3);
    CHECK_CODE(lks_digest_text((struct lks_str){at.bytes, sizeof(at.bytes)}, at.digest, &at.err),
               LKS_OK);
    CHECK_CODE(lks_depot_open(at.tree.path, &at.depot, &at.err), LKS_OK);
}

static void end(void)
{
    fault.on = false;
    lks_depot_close(&at.depot);
    lks_tree_free(&at.tree);
}

static enum lks_code finish(struct lks_depot_part *part)
{
    for (bool done = false; !done;) {
        if (lks_depot_part_look(part, &done, &at.err) != LKS_OK)
            return at.err.code;
    }
    return lks_depot_part_finish(&at.depot, part, &at.err);
}

/* Put it, going on where there is a part of it; a process would do the same after a crash. */
static enum lks_code put(void)
{
    LKS_CLEANUP(lks_depot_part_fini) struct lks_depot_part part = {0};
    uint64_t from = lks_depot_have(&at.depot, at.digest);
    if (lks_depot_part_open(&at.depot, at.digest, from, sizeof(at.bytes) - from, 0, &part,
                            &at.err) != LKS_OK)
        return at.err.code;
    while (part.size < sizeof(at.bytes)) {
        size_t left = sizeof(at.bytes) - part.size, len = sizeof(at.bytes) / PIECES;
        struct lks_str piece = {at.bytes + part.size, left < len ? left : len};
        if (lks_depot_part_add(&part, piece, &at.err) != LKS_OK ||
            lks_depot_part_keep(&at.depot, &part, &at.err) != LKS_OK)
            return at.err.code;
    }
    return finish(&part);
}

/* It is not there; or all of it is, byte for byte. */
static bool is_there(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf got = {0};
    uint64_t size = 0;
    int fd = -1;
    if (lks_depot_find(&at.depot, at.digest, &fd, &size, &at.err) != LKS_OK) {
        CHECK_CODE(at.err.code, LKS_E_NOT_FOUND);
        return false;
    }
    lks_buf_init(&got, sizeof(at.bytes));
    CHECK_INT(size, sizeof(at.bytes));
    CHECK_CODE(lks_depot_read(fd, 0, size, &got, &at.err), LKS_OK);
    CHECK(got.len == sizeof(at.bytes) && memcmp(got.ptr, at.bytes, got.len) == 0);
    close(fd);
    return true;
}

static void put_and_found(void)
{
    begin();
    CHECK(!is_there());
    CHECK_INT(lks_depot_have(&at.depot, at.digest), 0);
    CHECK_CODE(put(), LKS_OK);
    CHECK(is_there());
    CHECK_INT(lks_depot_have(&at.depot, at.digest), 0); /* it is no part any more */
    CHECK_CODE(put(), LKS_OK);                          /* again, over itself */
    CHECK(is_there());
    CHECK_CODE(lks_depot_remove(&at.depot, at.digest, &at.err), LKS_OK);
    CHECK(!is_there());
    CHECK_CODE(lks_depot_remove(&at.depot, at.digest, &at.err), LKS_OK);
    end();
}

/* ---- interruptions ---- */

/* What a story leaves that ends before its step number `step`; false when it was over before. */
static bool killed_at(int step, enum lks_code (*story)(void))
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        fault.on = fault.die = true;
        fault.left = step;
        _exit(story() == LKS_OK ? 0 : 1);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == DIED || WEXITSTATUS(status) == 0);
    return WEXITSTATUS(status) == DIED;
}

static void killed_while_putting(void)
{
    int step = 0, whole = 0;
    for (bool died = true; died && step < STEPS_MAX; step++) {
        lks_test_case("killed before step %d", step);
        begin();
        died = killed_at(step, put);
        bool there = is_there();
        whole += there;
        CHECK(there || died);
        CHECK_CODE(put(), LKS_OK); /* goes on, or begins again */
        CHECK(is_there());
        CHECK_INT(lks_depot_have(&at.depot, at.digest), 0);
        end();
    }
    CHECK(step > 8 && step < STEPS_MAX);
    CHECK(whole > 1); /* the last steps came after it was there */
}

static enum lks_code take_away(void)
{
    return lks_depot_remove(&at.depot, at.digest, &at.err);
}

static void killed_while_removing(void)
{
    int step = 0;
    for (bool died = true; died && step < STEPS_MAX; step++) {
        lks_test_case("killed before step %d", step);
        begin();
        CHECK_CODE(put(), LKS_OK);
        died = killed_at(step, take_away);
        (void)is_there(); /* whole, or not there */
        CHECK_CODE(take_away(), LKS_OK);
        CHECK(!is_there());
        end();
    }
    CHECK(step > 1 && step < STEPS_MAX);
}

static void disk_fails(void)
{
    static const int numbers[] = {EIO, ENOSPC, EDQUOT};
    for (size_t i = 0; i < LKS_COUNT(numbers); i++) {
        int step = 0;
        for (bool happened = true; happened && step < STEPS_MAX; step++) {
            lks_test_case("%s at step %d", strerror(numbers[i]), step);
            begin();
            fault.on = true;
            fault.die = fault.happened = false;
            fault.left = step;
            fault.number = numbers[i];
            bool said = put() == LKS_OK;
            fault.on = false;
            happened = fault.happened;
            bool there = is_there();
            CHECK(there || !said);
            CHECK_CODE(put(), LKS_OK); /* as soon as the disk is well */
            CHECK(is_there());
            end();
        }
        CHECK(step > 8 && step < STEPS_MAX);
    }
}

/* The limit of a file's size stands for a disk that is full in the middle of a write. */
static void no_room(void)
{
    LKS_CLEANUP(lks_depot_part_fini) struct lks_depot_part part = {0};
    struct rlimit before, low;
    begin();
    CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
    low = (struct rlimit){100 * KIB + 5, before.rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &low) == 0);
    CHECK_CODE(put(), LKS_E_UNAVAILABLE);
    CHECK_INT(lks_depot_have(&at.depot, at.digest), 100 * KIB + 5); /* what fitted is there */
    CHECK(!is_there());
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK_CODE(put(), LKS_OK);
    CHECK(is_there());
    CHECK_CODE(lks_depot_part_open(&at.depot, at.digest, 0, 1, UINT64_MAX, &part, &at.err),
               LKS_E_UNAVAILABLE);
    CHECK_HAS(lks_str_from(at.err.msg), "not enough space");
    CHECK_CODE(lks_depot_part_open(&at.depot, at.digest, 0, UINT64_MAX, 1, &part, &at.err),
               LKS_E_UNAVAILABLE);
    CHECK_CODE(lks_depot_part_open(&at.depot, at.digest, 0, 3, 1, &part, &at.err), LKS_OK);
    CHECK_CODE(lks_depot_part_add(&part, LKS_STR("abc"), &at.err), LKS_OK);
    part.spare = UINT64_MAX; /* as if others had filled the disk meanwhile */
    CHECK_CODE(lks_depot_part_add(&part, LKS_STR("d"), &at.err), LKS_E_UNAVAILABLE);
    CHECK_HAS(lks_str_from(at.err.msg), "not enough space");
    CHECK_INT(part.size, 3);
    end();
}

/* ---- lies and strangers ---- */

static void another_digest(void)
{
    LKS_CLEANUP(lks_depot_part_fini) struct lks_depot_part part = {0};
    begin();
    CHECK_CODE(lks_depot_part_open(&at.depot, at.digest, 0, 3, 0, &part, &at.err), LKS_OK);
    CHECK_CODE(lks_depot_part_add(&part, LKS_STR("lie"), &at.err), LKS_OK);
    CHECK_CODE(finish(&part), LKS_E_INVALID);
    CHECK_HAS(lks_str_from(at.err.msg), "thrown away");
    CHECK_INT(lks_depot_have(&at.depot, at.digest), 0);
    CHECK(!is_there());
    CHECK_CODE(put(), LKS_OK);
    end();
}

/* What is in its place is looked at again where that is asked for: another file does not stay. */
static void in_its_place(void)
{
    char path[LKS_DEPOT_PATH_MAX + LKS_DIGEST_SIZE + 16];
    begin();
    CHECK_CODE(put(), LKS_OK);
    CHECK_CODE(lks_depot_check(&at.depot, at.digest, &at.err), LKS_OK);
    CHECK(is_there());
    const char *hex = at.digest + strlen("sha256:");
    snprintf(path, sizeof(path), "%s/sha256/%.2s/%s", at.depot.path, hex, hex + 2);
    int fd = open(path, O_RDWR | O_TRUNC | O_CLOEXEC);
    CHECK(fd >= 0 && write(fd, "lie", 3) == 3);
    CHECK_CODE(lks_depot_sum(fd, 3, at.digest, &at.err), LKS_E_INVALID);
    (void)close(fd);
    CHECK_CODE(lks_depot_check(&at.depot, at.digest, &at.err), LKS_E_INVALID);
    CHECK(!is_there());
    CHECK_CODE(lks_depot_check(&at.depot, at.digest, &at.err), LKS_E_NOT_FOUND);
    end();
}

/* A part that was continued is looked at as a whole: what was there before counts. */
static void places(void)
{
    LKS_CLEANUP(lks_depot_part_fini) struct lks_depot_part part = {0};
    begin();
    CHECK_CODE(lks_depot_part_open(&at.depot, at.digest, 1, 1, 0, &part, &at.err), LKS_E_REFUSED);
    CHECK_HAS(lks_str_from(at.err.msg), "start at 0");
    CHECK_CODE(lks_depot_part_open(&at.depot, at.digest, 0, 1, 0, &part, &at.err), LKS_OK);
    CHECK_CODE(lks_depot_part_add(&part, (struct lks_str){at.bytes, 10 * KIB}, &at.err), LKS_OK);
    lks_depot_part_fini(&part);
    CHECK_CODE(lks_depot_part_open(&at.depot, at.digest, 10 * KIB + 1, 1, 0, &part, &at.err),
               LKS_E_REFUSED);
    CHECK_HAS(lks_str_from(at.err.msg), "10240 bytes of it are there");
    CHECK_CODE(lks_depot_part_open(&at.depot, at.digest, 4 * KIB, 1, 0, &part, &at.err), LKS_OK);
    CHECK_INT(lks_depot_have(&at.depot, at.digest), 4 * KIB); /* what was behind it is gone */
    CHECK_CODE(lks_depot_part_add(&part,
                                  (struct lks_str){at.bytes + 4 * KIB, sizeof(at.bytes) - 4 * KIB},
                                  &at.err),
               LKS_OK);
    CHECK_CODE(finish(&part), LKS_OK);
    CHECK(is_there());
    end();
}

static void path_of(char out[PATH_SIZE], const char *folder, const char *name)
{
    snprintf(out, PATH_SIZE, "%s/%s%s", at.tree.path, folder, name);
}

/* Something else where the artifact or its part should be: a link, a pipe, a folder. */
static void strangers(void)
{
    static const char *const kinds[] = {"link", "pipe", "folder"};
    for (size_t i = 0; i < LKS_COUNT(kinds) * 2; i++) {
        LKS_CLEANUP(lks_depot_part_fini) struct lks_depot_part part = {0};
        const char *kind = kinds[i / 2], *digits;
        char place[PATH_SIZE], inside[PATH_SIZE];
        uint64_t size = 0;
        int fd = -1;
        bool whole = i % 2 == 0;
        begin();
        digits = at.digest + strlen("sha256:");
        lks_test_case("a %s in the place of %s", kind, whole ? "an artifact" : "a part");
        lks_tree_file(&at.tree, "/secret", "secret");
        if (whole)
            snprintf(place, sizeof(place), "/sha256/%.2s/%.62s", digits, digits + 2);
        else
            snprintf(place, sizeof(place), "/parts/%.64s", digits);
        snprintf(inside, sizeof(inside), "%.150s/x", place);
        if (strcmp(kind, "link") == 0)
            lks_tree_link(&at.tree, place, whole ? "../../secret" : "../secret");
        else if (strcmp(kind, "pipe") == 0)
            lks_tree_fifo(&at.tree, place);
        else
            lks_tree_file(&at.tree, inside, "x");
        CHECK(lks_depot_find(&at.depot, at.digest, &fd, &size, &at.err) != LKS_OK);
        CHECK_INT(lks_depot_have(&at.depot, at.digest), 0);
        CHECK((lks_depot_part_open(&at.depot, at.digest, 0, 1, 0, &part, &at.err) == LKS_OK) ==
              whole);
        path_of(place, "secret", "");
        struct stat st = {0};
        CHECK(stat(place, &st) == 0 && st.st_size == 6); /* nobody wrote through it */
        end();
    }
}

static void linked_folders(void)
{
    static const char *const folders[] = {"sha256", "parts"};
    for (size_t i = 0; i < LKS_COUNT(folders); i++) {
        struct lks_depot other = {0};
        char path[PATH_SIZE];
        lks_test_case("%s", folders[i]);
        begin();
        lks_tree_dir(&at.tree, "/other");
        lks_tree_dir(&at.tree, "/elsewhere");
        snprintf(path, sizeof(path), "/other/%s", folders[i]);
        lks_tree_link(&at.tree, path, "../elsewhere");
        path_of(path, "other", "");
        CHECK(lks_depot_open(path, &other, &at.err) != LKS_OK);
        lks_depot_close(&other);
        end();
    }
    begin();
    char place[PATH_SIZE];
    lks_test_case("a folder of artifacts");
    lks_tree_dir(&at.tree, "/elsewhere");
    snprintf(place, sizeof(place), "/sha256/%.2s", at.digest + strlen("sha256:"));
    lks_tree_link(&at.tree, place, "../elsewhere");
    CHECK(put() != LKS_OK);
    CHECK(!is_there());
    end();
}

/* ---- many ---- */

static void digest_of(unsigned number, char out[LKS_DIGEST_SIZE])
{
    snprintf(out, LKS_DIGEST_SIZE, "sha256:%064u", number);
}

static unsigned open_parts(unsigned count)
{
    unsigned good = 0;
    for (unsigned i = 0; i < count; i++) {
        LKS_CLEANUP(lks_depot_part_fini) struct lks_depot_part part = {0};
        char digest[LKS_DIGEST_SIZE];
        digest_of(i, digest);
        good += lks_depot_part_open(&at.depot, digest, 0, 1, 0, &part, &at.err) == LKS_OK;
    }
    return good;
}

static bool keep_nothing(void *ctx, const char *digest)
{
    (void)ctx, (void)digest;
    return false;
}

static bool keep_one(void *ctx, const char *digest)
{
    return strcmp(digest, ctx) == 0;
}

static void many_parts(void)
{
    struct lks_depot_swept swept = {0};
    char wanted[LKS_DIGEST_SIZE];
    begin();
    CHECK_INT(open_parts(1000), LKS_DEPOT_PARTS_MAX);
    CHECK_CODE(at.err.code, LKS_E_LIMIT);
    digest_of(7, wanted);
    CHECK_CODE(lks_depot_sweep(&at.depot, keep_nothing, NULL, 1, &swept, &at.err), LKS_OK);
    CHECK_INT(swept.parts, 0); /* all are newer than that */
    CHECK_CODE(lks_depot_sweep(&at.depot, keep_one, wanted, INT64_MAX, &swept, &at.err), LKS_OK);
    CHECK_INT(swept.parts, LKS_DEPOT_PARTS_MAX - 1);
    CHECK_INT(open_parts(1), 1);
    end();
}

static void swept(void)
{
    struct lks_depot_swept swept = {0};
    begin();
    CHECK_CODE(put(), LKS_OK);
    lks_tree_file(&at.tree, "/sha256/README", "not ours");
    lks_tree_file(&at.tree, "/sha256/zz/x", "nor this");
    lks_tree_file(&at.tree, "/sha256/ab/short", "nor this");
    CHECK_CODE(lks_depot_sweep(&at.depot, keep_one, at.digest, INT64_MAX, &swept, &at.err), LKS_OK);
    CHECK_INT(swept.artifacts, 0);
    CHECK_INT(swept.bytes, sizeof(at.bytes));
    CHECK(is_there());
    CHECK_CODE(lks_depot_sweep(&at.depot, keep_nothing, NULL, INT64_MAX, &swept, &at.err), LKS_OK);
    CHECK_INT(swept.artifacts, 1);
    CHECK_INT(swept.bytes, 0);
    CHECK(!is_there());
    char path[PATH_SIZE];
    static const char *const others[] = {"sha256/README", "sha256/zz/x", "sha256/ab/short"};
    for (size_t i = 0; i < LKS_COUNT(others); i++) {
        path_of(path, others[i], "");
        CHECK(access(path, F_OK) == 0);
    }
    end();
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"put and found", put_and_found},
        {"killed while putting", killed_while_putting},
        {"killed while removing", killed_while_removing},
        {"the disk fails", disk_fails},
        {"no room", no_room},
        {"another digest", another_digest},
        {"another file in its place", in_its_place},
        {"places in a part", places},
        {"something else in its place", strangers},
        {"linked folders", linked_folders},
        {"many parts", many_parts},
        {"swept", swept},
        {NULL, NULL},
    };
    return lks_test_main(tests);
}
