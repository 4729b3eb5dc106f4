#include "base/file.h"

#include "tests/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT = 1000 };

/* A folder with the files below in it, for as long as a test runs. */
struct folder {
    char path[64];
};

static void path_in(const struct folder *f, const char *name, char out[128])
{
    snprintf(out, 128, "%s/%s", f->path, name);
}

static void write_file(const struct folder *f, const char *name, size_t len)
{
    char path[128];
    path_in(f, name, path);
    FILE *file = fopen(path, "w");
    LKS_ASSERT(file != NULL);
    for (size_t i = 0; i < len; i++)
        fputc((int)(i % 256), file);
    LKS_ASSERT(fclose(file) == 0);
}

static const struct {
    const char *name;
    size_t len;
} files[] = {{"empty", 0}, {"full", LIMIT}, {"large", LIMIT + 1}, {"huge", 200000}};

static void folder_init(struct folder *f)
{
    snprintf(f->path, sizeof(f->path), "/tmp/lks-file-XXXXXX");
    LKS_ASSERT(mkdtemp(f->path) != NULL);
    for (size_t i = 0; i < LKS_COUNT(files); i++)
        write_file(f, files[i].name, files[i].len);
}

static void folder_fini(struct folder *f)
{
    for (size_t i = 0; i < LKS_COUNT(files); i++) {
        char path[128];
        path_in(f, files[i].name, path);
        unlink(path);
    }
    rmdir(f->path);
}

/* Files beside those of folder_init(). */
static int count_more(const struct folder *f)
{
    int count = -2 - (int)LKS_COUNT(files);
    DIR *dir = opendir(f->path);
    LKS_ASSERT(dir != NULL);
    while (readdir(dir) != NULL)
        count++;
    closedir(dir);
    return count;
}

static const struct {
    const char *name;
    const char *path; /* inside the folder unless it begins with a slash */
    enum lks_code code;
    size_t len;
    const char *message;
} reads[] = {
    {"empty", "empty", LKS_OK, 0, NULL},
    {"as long as allowed", "full", LKS_OK, LIMIT, NULL},
    {"a byte too long", "large", LKS_E_LIMIT, 0, "large: more than 1000 bytes"},
    {"much too long", "huge", LKS_E_LIMIT, 0, "huge: more than 1000 bytes"},
    {"missing", "missing", LKS_E_NOT_FOUND, 0, "missing: No such file"},
    {"below a file", "full/x", LKS_E_NOT_FOUND, 0, "full/x: Not a directory"},
    {"a directory", ".", LKS_E_INVALID, 0, "is a directory, not a file"},
    {"nothing at all", "/dev/null", LKS_OK, 0, NULL},
    {"without end", "/dev/zero", LKS_E_LIMIT, 0, "/dev/zero: more than 1000 bytes"},
};

static void test_reads(void)
{
    LKS_CLEANUP(folder_fini) struct folder f = {0};
    folder_init(&f);
    for (size_t i = 0; i < LKS_COUNT(reads); i++) {
        lks_test_case("%s", reads[i].name);
        char path[128];
        path_in(&f, reads[i].path, path);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(LIMIT);
        struct lks_err err = {0};
        const char *which = reads[i].path[0] == '/' ? reads[i].path : path;
        CHECK_CODE(lks_file_read(which, &out, &err), reads[i].code);
        if (reads[i].code == LKS_OK)
            CHECK_INT(out.len, reads[i].len);
        else
            CHECK_HAS(lks_str_from(err.msg), reads[i].message);
    }
}

/* Every byte arrives, behind what the buffer had, also across chunks. */
static void test_content(void)
{
    LKS_CLEANUP(folder_fini) struct folder f = {0};
    folder_init(&f);
    char path[128];
    path_in(&f, "huge", path);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(1000000);
    struct lks_err err = {0};
    lks_buf_addc(&out, '>');
    CHECK_CODE(lks_file_read(path, &out, &err), LKS_OK);
    CHECK_INT(out.len, 200001);
    CHECK_INT(out.ptr[0], '>');
    for (size_t i = 1; i < out.len; i++) {
        if (!CHECK_INT((unsigned char)out.ptr[i], (i - 1) % 256))
            break;
    }
}

/* Files are closed again: reading more of them than may be open at once works. */
static void test_closed(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(LIMIT);
    struct lks_err err = {0};
    for (int i = 0; i < 5000; i++) {
        if (!CHECK_CODE(lks_file_read("/dev/null", &out, &err), LKS_OK) ||
            !CHECK_CODE(lks_file_read("/tmp", &out, &err), LKS_E_INVALID))
            break;
    }
}

/* A new file is whole and never takes another's place; of one that found no room nothing is left.
 */
static void test_new(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(LIMIT);
    struct folder f;
    struct stat st;
    struct rlimit before, little;
    struct lks_err err = {0};
    char path[128], bytes[LIMIT] = {0};
    folder_init(&f);
    path_in(&f, "full", path);
    CHECK_CODE(lks_file_new(path, 0600, LKS_STR("x"), &err), LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "File exists");
    CHECK(stat(path, &st) == 0 && st.st_size == LIMIT);
    path_in(&f, "new", path);
    CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
    little = (struct rlimit){.rlim_cur = LIMIT / 2, .rlim_max = before.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &little) == 0);
    enum lks_code code = lks_file_new(path, 0600, (struct lks_str){bytes, LIMIT}, &err);
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
    signal(SIGXFSZ, handler);
    CHECK(code != LKS_OK);
    CHECK(stat(path, &st) != 0);
    CHECK_CODE(lks_file_new(path, 0600, LKS_STR("all of it"), &err), LKS_OK);
    CHECK_CODE(lks_file_read(path, &out, &err), LKS_OK);
    CHECK_STR(lks_buf_view(&out), "all of it");
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
    unlink(path);
    folder_fini(&f);
}

/* What is there and is no file stays what it is, also behind a link; a link to a file does not. */
static void test_replace_others(void)
{
    struct folder f;
    struct stat st;
    struct lks_err err = {0};
    char pipe[128], link[128];
    folder_init(&f);
    path_in(&f, "pipe", pipe);
    path_in(&f, "link", link);
    CHECK(mkfifo(pipe, 0600) == 0 && symlink("pipe", link) == 0);
    CHECK_CODE(lks_file_replace(pipe, LKS_STR("x"), &err), LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "is there and is not a plain file");
    CHECK_CODE(lks_file_replace(link, LKS_STR("x"), &err), LKS_E_INVALID);
    CHECK(lstat(pipe, &st) == 0 && S_ISFIFO(st.st_mode));
    CHECK(unlink(link) == 0 && symlink("full", link) == 0);
    CHECK_CODE(lks_file_replace(link, LKS_STR("x"), &err), LKS_OK);
    CHECK(lstat(link, &st) == 0 && S_ISREG(st.st_mode));
    unlink(link);
    unlink(pipe);
    folder_fini(&f);
}

/* Asking changes nothing: not what is there, and there is nothing beside it afterwards. */
static void test_replaceable(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(16);
    struct folder f;
    struct lks_err err = {0};
    char path[128];
    folder_init(&f);
    path_in(&f, "picture", path);
    CHECK_CODE(lks_file_replaceable(path, &err), LKS_OK);
    CHECK_CODE(lks_file_replace(path, LKS_STR("x"), &err), LKS_OK);
    CHECK_CODE(lks_file_replaceable(path, &err), LKS_OK);
    CHECK_CODE(lks_file_read(path, &text, &err), LKS_OK);
    CHECK_STR(lks_buf_view(&text), "x");
    CHECK_INT(count_more(&f), 1);
    CHECK_CODE(lks_file_replaceable("/tmp", &err), LKS_E_INVALID);
    CHECK_CODE(lks_file_replaceable("/nonexistent/x", &err), LKS_E_NOT_FOUND);
    unlink(path);
    folder_fini(&f);
}

/* On a full disk the old content stays, and nothing is beside it. */
static void test_replace_full(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(LIMIT);
    struct folder f;
    struct rlimit before, little;
    struct lks_err err = {0};
    char path[128], bytes[LIMIT] = {0};
    folder_init(&f);
    path_in(&f, "kept", path);
    CHECK_CODE(lks_file_replace(path, LKS_STR("old"), &err), LKS_OK);
    CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
    little = (struct rlimit){.rlim_cur = LIMIT / 2, .rlim_max = before.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &little) == 0);
    CHECK_CODE(lks_file_replace(path, (struct lks_str){bytes, LIMIT}, &err), LKS_E_IO);
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
    signal(SIGXFSZ, handler);
    CHECK_HAS(lks_str_from(err.msg), "/kept: File too large; the file is as it was before");
    CHECK_CODE(lks_file_read(path, &out, &err), LKS_OK);
    CHECK_STR(lks_buf_view(&out), "old");
    CHECK_INT(count_more(&f), 1);
    unlink(path);
    folder_fini(&f);
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    CHECK_CODE(lks_file_put(full, "x", LKS_STR("x"), &err), LKS_E_IO);
    CHECK_STR(lks_str_from(err.msg), "x: No space left on device");
    close(full);
}

/* What is beside a file that is replaced: only what a killed writer of this file left is removed.
 */
static const struct {
    const char *name;
    bool stays;
} beside[] = {
    {"kept.0123456789abcdef.new", false},
    {"kept.fedcba9876543210.new", false},
    {"kept.new", true},
    {"kept.0123456789abcde.new", true},
    {"kept.0123456789abcdeX.new", true},
    {"kept.0123456789abcdef.new2", true},
    {"other.0123456789abcdef.new", true},
    {"kept.00000000000000aa.new", true}, /* a link */
    {"kept.00000000000000bb.new", true}, /* of a writer that still writes */
};
enum { LINK = 7, LOCKED = 8 };

static void make_beside(const struct folder *f)
{
    char at[128];
    for (size_t i = 0; i < LKS_COUNT(beside); i++) {
        if (i != LINK)
            write_file(f, beside[i].name, 1);
    }
    path_in(f, beside[LINK].name, at);
    CHECK(symlink("full", at) == 0);
}

static void test_replace_leftovers(void)
{
    struct folder f;
    struct lks_err err = {0};
    char path[128], at[128];
    folder_init(&f);
    make_beside(&f);
    path_in(&f, beside[LOCKED].name, at);
    int fd = open(at, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0 && flock(fd, LOCK_EX) == 0);
    path_in(&f, "kept", path);
    CHECK_CODE(lks_file_replace(path, LKS_STR("x"), &err), LKS_OK);
    for (size_t i = 0; i < LKS_COUNT(beside); i++) {
        struct stat st;
        lks_test_case("%s", beside[i].name);
        path_in(&f, beside[i].name, at);
        CHECK((lstat(at, &st) == 0) == beside[i].stays);
        unlink(at);
    }
    path_in(&f, "full", at);
    CHECK(access(at, F_OK) == 0);
    close(fd);
    unlink(path);
    folder_fini(&f);
}

/* A writer that is killed leaves a file, and the next one removes it. */
static void test_replace_killed(void)
{
    struct folder f;
    struct lks_err err = {0};
    char path[128];
    int ready[2], status;
    folder_init(&f);
    path_in(&f, "kept", path);
    CHECK(pipe(ready) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct lks_file_temporary t = {0};
        if (lks_file_temporary_open(path, 0600, &t, &err) == LKS_OK && write(ready[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    char byte;
    close(ready[1]);
    CHECK(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    CHECK_CODE(lks_file_replaceable(path, &err), LKS_OK);
    CHECK_INT(count_more(&f), 1); /* still written */
    CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid);
    CHECK_INT(count_more(&f), 1);
    CHECK_CODE(lks_file_replaceable(path, &err), LKS_OK);
    CHECK_INT(count_more(&f), 0);
    folder_fini(&f);
}

/* Writers at the same time do not mix, and none fails. */
static void test_replace_together(void)
{
    enum { WRITERS = 8, TIMES = 100 };
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(LIMIT);
    struct folder f;
    struct lks_err err = {0};
    char path[128], bytes[LIMIT];
    folder_init(&f);
    path_in(&f, "kept", path);
    for (int w = 0; w < WRITERS; w++) {
        pid_t pid = fork();
        if (pid != 0)
            continue;
        size_t len = LIMIT - (size_t)w * 100;
        memset(bytes, 'a' + w, len);
        enum lks_code code = LKS_OK;
        for (int i = 0; i < TIMES && code == LKS_OK; i++)
            code = lks_file_replace(path, (struct lks_str){bytes, len}, &err);
        _exit(code != LKS_OK);
    }
    for (int w = 0, status; w < WRITERS; w++)
        CHECK(wait(&status) > 0 && status == 0);
    CHECK_CODE(lks_file_read(path, &out, &err), LKS_OK);
    int w = out.len > 0 ? out.ptr[0] - 'a' : -1;
    CHECK_INT(out.len, LIMIT - (size_t)w * 100);
    for (size_t i = 0; i < out.len; i++)
        LKS_ASSERT(out.ptr[i] == out.ptr[0]);
    CHECK_INT(count_more(&f), 1);
    unlink(path);
    folder_fini(&f);
}

/* A file that others read has its mode, whatever the umask is. */
static void test_replace_as(void)
{
    static const mode_t masks[] = {0, 022, 077, 0777};
    struct folder f;
    struct stat st;
    struct lks_err err = {0};
    char path[128];
    folder_init(&f);
    path_in(&f, "everybody", path);
    for (size_t i = 0; i < LKS_COUNT(masks); i++) {
        lks_test_case("umask %03o", (unsigned)masks[i]);
        mode_t mask = umask(masks[i]);
        CHECK_CODE(lks_file_replace(path, LKS_STR("x"), &err), LKS_OK);
        CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
        CHECK_CODE(lks_file_replace_as(path, 0644, LKS_STR("y"), &err), LKS_OK);
        CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0644);
        (void)umask(mask);
    }
    unlink(path);
    folder_fini(&f);
}

/* "-" reads what is piped in. */
static void test_standard_input(void)
{
    int ends[2];
    if (!CHECK(pipe(ends) == 0))
        return;
    int before = dup(STDIN_FILENO);
    CHECK(write(ends[1], "piped", 5) == 5);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);

    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(LIMIT);
    struct lks_err err = {0};
    CHECK_CODE(lks_file_read("-", &out, &err), LKS_OK);
    CHECK_STR(lks_buf_view(&out), "piped");
    if (before >= 0) {
        dup2(before, STDIN_FILENO);
        close(before);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"file: reads", test_reads},
        {"file: content", test_content},
        {"file: closed again", test_closed},
        {"file: new", test_new},
        {"file: in the place of what is no file", test_replace_others},
        {"file: in its place, for others to read", test_replace_as},
        {"file: whether it could be replaced", test_replaceable},
        {"file: replaced on a full disk", test_replace_full},
        {"file: leftovers of killed writers", test_replace_leftovers},
        {"file: a writer that is killed", test_replace_killed},
        {"file: writers at the same time", test_replace_together},
        {"file: standard input", test_standard_input},
        {0},
    });
}
