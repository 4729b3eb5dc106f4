#include "drivers/store/secrets.h"

#include "base/file.h"
#include "base/time.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KEY_TEXT_MAX = 4096, OTHERS = 077, CHANGERS = 022, PROGRAM_MS = 10000 };

/* The sealing key --------------------------------------------------------------------------- */

static enum lks_code check_private(const char *path, struct lks_err *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return lks_file_fail(err, path);
    if (!S_ISREG(st.st_mode) || (st.st_mode & OTHERS) != 0)
        return lks_fail(err, LKS_E_DENIED,
                        "%s: others may read this file; chmod 600 would keep them out (mode %03o)",
                        path, (unsigned)st.st_mode & 0777U);
    return LKS_OK;
}

/* The owner of a program or a folder above it, or a user who may write there, decides what it
 * prints. In a folder like /tmp only owners may replace what is theirs. */
static enum lks_code check_changers(const char *program, struct lks_err *err)
{
    char at[PATH_MAX];
    struct stat st;
    if (realpath(program, at) == NULL || stat(at, &st) != 0)
        return lks_file_fail(err, program);
    if (!S_ISREG(st.st_mode))
        return lks_fail(err, LKS_E_DENIED, "%s: is not a plain file", program);
    for (;;) {
        const char *part = at[0] != '\0' ? at : "/";
        if (stat(part, &st) != 0)
            return lks_file_fail(err, part);
        if (st.st_uid != 0 && st.st_uid != geteuid())
            return lks_fail(err, LKS_E_DENIED,
                            "%s: user %u owns %s and may change this program; chown it to root",
                            program, (unsigned)st.st_uid, part);
        if ((st.st_mode & CHANGERS) != 0 && (!S_ISDIR(st.st_mode) || (st.st_mode & S_ISVTX) == 0))
            return lks_fail(err, LKS_E_DENIED,
                            "%s: others may change this program; chmod go-w %s (mode %03o)",
                            program, part, (unsigned)st.st_mode & 0777U);
        char *slash = strrchr(at, '/');
        if (slash == NULL)
            return LKS_OK;
        *slash = '\0';
    }
}

/* In the child: the program alone, with nothing of ours but the pipe. */
_Noreturn static void become(const char *program, int out)
{
    char *argv[] = {NULL, NULL};
    memcpy(argv, &program, sizeof(program)); /* exec does not change it */
    char *const environment[] = {NULL};
    int null = open("/dev/null", O_RDONLY);
    if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
        close_range(STDERR_FILENO + 1, ~0U, 0) == 0)
        execve(program, argv, environment);
    _exit(127);
}

static lks_ms now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (lks_ms)t.tv_sec * 1000 + (lks_ms)t.tv_nsec / 1000000;
}

/* What the program prints, until it ends, its time is over or it says too much. */
static enum lks_code gather(int fd, struct lks_buf *out)
{
    char piece[256];
    lks_ms until = now_ms() + PROGRAM_MS;
    enum lks_code code = LKS_E_TIMEOUT;
    for (lks_ms now; code == LKS_E_TIMEOUT && (now = now_ms()) < until;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, (int)(until - now)) <= 0)
            continue;
        ssize_t got = read(fd, piece, sizeof(piece));
        if (got > 0)
            lks_buf_add(out, (struct lks_str){piece, (size_t)got});
        code = got == 0 ? LKS_OK : got < 0 ? LKS_E_IO : code;
        code = out->failed != LKS_OK ? out->failed : code;
    }
    explicit_bzero(piece, sizeof(piece));
    return code;
}

/* How it ended, for the author of the program. */
static enum lks_code judge_program(const char *program, const char *what, enum lks_code code,
                                   int status, struct lks_err *err)
{
    if (code == LKS_E_TIMEOUT)
        return lks_fail(err, LKS_E_UNAVAILABLE, "%s: printed no %s: it took longer than %d s",
                        program, what, PROGRAM_MS / 1000);
    if (code != LKS_OK)
        return lks_fail(err, LKS_E_UNAVAILABLE, "%s: printed no %s", program, what);
    if (WIFSIGNALED(status))
        return lks_fail(err, LKS_E_UNAVAILABLE, "%s: printed no %s: signal %d ended it", program,
                        what, WTERMSIG(status));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return lks_fail(err, LKS_E_UNAVAILABLE,
                        "%s: printed no %s: it failed, with exit status %d%s", program, what,
                        WEXITSTATUS(status), WEXITSTATUS(status) == 127 ? " (cannot be run?)" : "");
    return LKS_OK;
}

static enum lks_code run_program(const char *program, const char *what, struct lks_buf *out,
                                 struct lks_err *err)
{
    int ends[2], status = 0;
    if (check_changers(program, err) != LKS_OK)
        return err->code;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return lks_file_fail(err, program);
    pid_t pid = fork();
    if (pid == 0)
        become(program, ends[1]);
    close(ends[1]);
    enum lks_code code = pid > 0 ? gather(ends[0], out) : LKS_E_UNAVAILABLE;
    close(ends[0]);
    if (pid > 0 && code != LKS_OK)
        kill(pid, SIGKILL);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (lks_buf_check(out, err) != LKS_OK)
        return lks_wrap(err, "%s: printed no %s", program, what);
    return judge_program(program, what, code, status, err);
}

static enum lks_code resolve(const char *dir, struct lks_str name, char out[PATH_MAX],
                             struct lks_err *err)
{
    bool absolute = name.len > 0 && name.ptr[0] == '/';
    int len = snprintf(out, PATH_MAX, "%s%s%" LKS_STR_FMT, absolute ? "" : dir, absolute ? "" : "/",
                       LKS_STR_ARG(name));
    if (len < 0 || len >= PATH_MAX)
        return lks_fail(err, LKS_E_INVALID, "seal_key: too long for a path");
    return LKS_OK;
}

enum lks_code lks_secrets_text(struct lks_str kind, const char *path, const char *what,
                               struct lks_buf *out, struct lks_err *err)
{
    if (lks_str_is(kind, "exec"))
        return run_program(path, what, out, err);
    if (!lks_str_is(kind, "file"))
        return lks_fail(err, LKS_E_INVALID, "it is file:PATH or exec:PROGRAM");
    if (check_private(path, err) != LKS_OK)
        return err->code;
    return lks_file_read_plain(path, out, err);
}

enum lks_code lks_secrets_key(const char *dir, const char *reference, struct lks_seal_key *out,
                              struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(KEY_TEXT_MAX);
    struct lks_str kind, name;
    char path[PATH_MAX];
    lks_str_cut(lks_str_from(reference), ':', &kind, &name);
    if (resolve(dir, name, path, err) != LKS_OK)
        return err->code;
    enum lks_code code = lks_secrets_text(kind, path, "sealing key", &text, err);
    if (code == LKS_OK)
        code = lks_seal_key_parse(lks_buf_view(&text), out, err);
    if (text.ptr != NULL)
        explicit_bzero(text.ptr, text.cap);
    return code == LKS_OK ? LKS_OK : lks_wrap(err, "seal_key");
}

/* Sealed files ------------------------------------------------------------------------------ */

static enum lks_code sealed_path(const char *dir, const char *name, char out[PATH_MAX],
                                 struct lks_err *err)
{
    int len = snprintf(out, PATH_MAX, "%s/secrets/%s.sealed", dir, name);
    if (len < 0 || len >= PATH_MAX)
        return lks_fail(err, LKS_E_INVALID, "%s: too long for a path", dir);
    return LKS_OK;
}

enum lks_code lks_secrets_read(const char *dir, const struct lks_seal_key *key, const char *name,
                               struct lks_buf *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf sealed = LKS_BUF(2 * LKS_SECRET_MAX);
    char path[PATH_MAX];
    if (sealed_path(dir, name, path, err) != LKS_OK ||
        lks_file_read_plain(path, &sealed, err) != LKS_OK)
        return err->code;
    if (lks_seal_open(key, name, lks_buf_view(&sealed), out, err) != LKS_OK)
        return lks_wrap(err, "%s", path);
    return LKS_OK;
}

enum lks_code lks_secrets_write(const char *dir, const struct lks_seal_key *key, const char *name,
                                struct lks_str plain, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf sealed = LKS_BUF(2 * LKS_SECRET_MAX);
    uint8_t nonce[LKS_SEAL_NONCE_BYTES];
    char path[PATH_MAX];
    if (getrandom(nonce, sizeof(nonce), 0) != (ssize_t)sizeof(nonce))
        return lks_fail(err, LKS_E_IO, "the kernel gives no chance");
    if (sealed_path(dir, name, path, err) != LKS_OK ||
        lks_seal(key, nonce, name, plain, &sealed, err) != LKS_OK)
        return err->code;
    return lks_file_replace(path, lks_buf_view(&sealed), err);
}
