#include "cli/sim/spawn.h"

#include "base/file.h"
#include "cli/shared/path.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PIDS "pids" /* in the directory: a line for each process */

enum {
    ARGS_MAX = 32,
    STAT_MAX = 64 << 10,
    PIDS_MAX = 1 << 20,
    GRACE_TRIES = 100,
    GRACE_MS = 50,
    NOT_STARTED = 127, /* as shells say it */
};

/* Programs ---------------------------------------------------------------------------------- */

/* Where the program called `name` lies: beside us, else wherever the path leads. */
static void find_program(const struct lks_cli *cli, const char *name, char out[PATH_MAX])
{
    const char *slash = cli->program != NULL ? strrchr(cli->program, '/') : NULL;
    int len = -1;
    if (slash != NULL)
        len = snprintf(out, PATH_MAX, "%.*s/%s", (int)(slash - cli->program), cli->program, name);
    if (len < 0 || len >= PATH_MAX || access(out, X_OK) != 0)
        snprintf(out, PATH_MAX, "%s", name);
}

/* What a program that we start gets: its output, its complaints, and the pipe that says when to
 * begin; -1 for at once. */
struct streams {
    int out, err;
    int go[2];
};

/* Whether the parent says so, or is gone. */
static bool may_begin(int go)
{
    char byte;
    ssize_t got;
    while (go >= 0 && (got = read(go, &byte, 1)) != 1) {
        if (got == 0 || errno != EINTR)
            return false;
    }
    return true;
}

/* In the child: become the program. Its words are ours, so there is no shell to mislead. */
_Noreturn static void become(const char *path, const char *const *argv, const struct streams *s)
{
    char *words[ARGS_MAX + 1] = {0};
    size_t count = 0;
    while (count < ARGS_MAX && argv[count] != NULL)
        count++;
    memcpy(words, argv, count * sizeof(argv[0])); /* exec changes none of them */
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (!may_begin(s->go[0]))
        _exit(NOT_STARTED);
    if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(s->out, STDOUT_FILENO) >= 0 &&
        dup2(s->err, STDERR_FILENO) >= 0)
        execvp(path, words);
    dprintf(STDERR_FILENO, "%s: %s\n", path, strerror(errno));
    _exit(NOT_STARTED);
}

static enum lks_code start(struct lks_cli *cli, const char *const *argv, const struct streams *s,
                           pid_t *pid, struct lks_err *err)
{
    char path[PATH_MAX];
    find_program(cli, argv[0], path);
    fflush(cli->out);
    *pid = fork();
    if (*pid < 0)
        return lks_fail(err, LKS_E_UNAVAILABLE, "cannot start %s: %s", argv[0], strerror(errno));
    if (*pid == 0) {
        if (s->go[1] >= 0) { /* it stays; the pipe ends with its parent */
            setsid();
            close(s->go[1]);
        }
        become(path, argv, s);
    }
    return LKS_OK;
}

static enum lks_code open_output(const char *path, int *fd, struct lks_err *err)
{
    *fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    return *fd >= 0 ? LKS_OK : lks_file_fail(err, path);
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

/* The first failure that ends a program with this exit status. */
static enum lks_code code_of(int status)
{
    for (int code = LKS_OK + 1; code < LKS_CODE_COUNT; code++) {
        if (WIFEXITED(status) &&
            lks_err_code_info((enum lks_code)code)->exit == WEXITSTATUS(status))
            return (enum lks_code)code;
    }
    return LKS_E_UNAVAILABLE;
}

/* The first line of what the program complained of, or how it ended. */
static enum lks_code fail_with(const char *program, int status, int said, struct lks_err *err)
{
    char line[LKS_ERR_MSG_MAX];
    ssize_t got = pread(said, line, sizeof(line) - 1, 0);
    line[got > 0 ? got : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    if (line[0] != '\0')
        return lks_fail(err, code_of(status), "%s", line);
    return lks_fail(err, code_of(status), "%s: ended with %s %d", program,
                    WIFEXITED(status) ? "exit status" : "signal",
                    WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

enum lks_code lks_spawn_wait(struct lks_cli *cli, const char *const *argv, const char *out,
                             struct lks_err *err)
{
    LKS_CLEANUP(close_fd) int to = -1;
    LKS_CLEANUP(close_fd) int said = -1;
    int status;
    pid_t pid;
    if (open_output(out != NULL ? out : "/dev/null", &to, err) != LKS_OK)
        return err->code;
    said = memfd_create("complaints", MFD_CLOEXEC);
    if (said < 0)
        return lks_fail(err, LKS_E_IO, "memfd: %s", strerror(errno));
    if (start(cli, argv, &(struct streams){to, said, {-1, -1}}, &pid, err) != LKS_OK)
        return err->code;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return fail_with(argv[0], status, said, err);
    return LKS_OK;
}

/* Processes that stay ----------------------------------------------------------------------- */

/* When a process began, in the kernel's ticks since the boot: field 22 of its stat line, behind a
 * name that may hold anything. 0 when it is gone. */
static uint64_t began(pid_t pid)
{
    enum { FIELD = 20 }; /* counted from behind the name */
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(STAT_MAX);
    char path[64];
    struct lks_err err;
    uint64_t value = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    if (lks_file_read(path, &text, &err) != LKS_OK)
        return 0;
    struct lks_str rest = lks_str_last(lks_buf_view(&text), ')'), word;
    for (int i = 0; i < FIELD && lks_str_word(&rest, &word); i++) {
        if (i == 0 && lks_str_is(word, "Z"))
            return 0;
        if (i == FIELD - 1 && !lks_str_number(word, UINT64_MAX, &value))
            return 0;
    }
    return value;
}

static enum lks_code note(const char *dir, pid_t pid, const char *name, struct lks_err *err)
{
    char path[PATH_MAX];
    if (lks_path_join(path, dir, PIDS, err) != LKS_OK)
        return err->code;
    FILE *f = fopen(path, "ae");
    if (f == NULL)
        return lks_file_fail(err, path);
    fprintf(f, "%d %" PRIu64 " %s\n", (int)pid, began(pid), name);
    return fclose(f) == 0 ? LKS_OK : lks_file_fail(err, path);
}

/* The child waits until it is noted: should we be killed in between, it ends, for the pipe does. */
enum lks_code lks_spawn_start(struct lks_cli *cli, const char *const *argv, const char *log,
                              const char *dir, const char *name, struct lks_err *err)
{
    LKS_CLEANUP(close_fd) int out = -1;
    int go[2];
    pid_t pid;
    if (open_output(log, &out, err) != LKS_OK)
        return err->code;
    if (pipe2(go, O_CLOEXEC) != 0)
        return lks_fail(err, LKS_E_IO, "pipe: %s", strerror(errno));
    enum lks_code code = start(cli, argv, &(struct streams){out, out, {go[0], go[1]}}, &pid, err);
    if (code == LKS_OK)
        code = note(dir, pid, name, err);
    if (code == LKS_OK && write(go[1], "", 1) != 1)
        code = lks_fail(err, LKS_E_IO, "pipe: %s", strerror(errno));
    close(go[0]);
    close(go[1]);
    return code;
}

struct child {
    pid_t pid;
    uint64_t began;
};

static bool read_child(struct lks_str *rest, struct child *out)
{
    struct lks_str line, word;
    uint64_t pid, when;
    lks_str_cut(*rest, '\n', &line, rest);
    if (!lks_str_word(&line, &word) || !lks_str_number(word, INT_MAX, &pid) ||
        !lks_str_word(&line, &word) || !lks_str_number(word, UINT64_MAX, &when) || pid < 2)
        return false;
    *out = (struct child){(pid_t)pid, when};
    return true;
}

/* Send `signal` to all of them that still are who they were; how many those are. */
static unsigned signal_all(struct lks_str pids, int signal)
{
    unsigned count = 0;
    for (struct child c; pids.len > 0;) {
        if (!read_child(&pids, &c) || c.began == 0 || began(c.pid) != c.began)
            continue;
        count++;
        kill(c.pid, signal);
    }
    return count;
}

/* Reap those that are our own children; the others are for their parents to reap. */
static void reap(void)
{
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
}

unsigned lks_spawn_end(const char *dir)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(PIDS_MAX);
    char path[PATH_MAX];
    struct lks_err err;
    if (lks_path_join(path, dir, PIDS, &err) != LKS_OK ||
        lks_file_read(path, &text, &err) != LKS_OK)
        return 0;
    unsigned count = signal_all(lks_buf_view(&text), SIGTERM), left = count;
    for (unsigned i = 0; left > 0 && i < GRACE_TRIES; i++) {
        nanosleep(&(struct timespec){.tv_nsec = GRACE_MS * 1000000L}, NULL);
        reap();
        left = signal_all(lks_buf_view(&text), 0);
    }
    if (left > 0)
        signal_all(lks_buf_view(&text), SIGKILL);
    unlink(path);
    return count;
}

enum lks_code lks_spawn_free_port(unsigned *out, struct lks_err *err)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool ok = fd >= 0 && bind(fd, (struct sockaddr *)&address, len) == 0 &&
              getsockname(fd, (struct sockaddr *)&address, &len) == 0;
    int number = errno;
    if (fd >= 0)
        close(fd);
    if (!ok)
        return lks_fail(err, LKS_E_UNAVAILABLE, "no free port: %s", strerror(number));
    *out = ntohs(address.sin_port);
    return LKS_OK;
}
