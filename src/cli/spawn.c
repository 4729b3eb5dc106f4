#include "cli/spawn.h"

#include "base/file.h"

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

enum { ARGS_MAX = 32, OUTPUT_MAX = 64 << 10, PIDS_MAX = 1 << 20, GRACE_TRIES = 100, GRACE_MS = 50 };

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

/* In the child: become the program. Its words are ours, so there is no shell to mislead. */
_Noreturn static void become(const char *path, const char *const *argv, int out)
{
    char *words[ARGS_MAX + 1] = {0};
    size_t count = 0;
    while (count < ARGS_MAX && argv[count] != NULL)
        count++;
    memcpy(words, argv, count * sizeof(argv[0])); /* exec changes none of them */
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
        dup2(out, STDERR_FILENO) >= 0)
        execvp(path, words);
    dprintf(STDERR_FILENO, "%s: %s\n", path, strerror(errno));
    _exit(127);
}

static enum lks_code start(struct lks_cli *cli, const char *const *argv, int out, bool apart,
                           pid_t *pid, struct lks_err *err)
{
    char path[PATH_MAX];
    find_program(cli, argv[0], path);
    fflush(cli->out);
    *pid = fork();
    if (*pid < 0)
        return lks_fail(err, LKS_E_UNAVAILABLE, "cannot start %s: %s", argv[0], strerror(errno));
    if (*pid == 0) {
        if (apart)
            setsid();
        become(path, argv, out);
    }
    return LKS_OK;
}

static enum lks_code open_output(const char *path, int *fd, struct lks_err *err)
{
    *fd = path != NULL ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)
                       : memfd_create("output", MFD_CLOEXEC);
    if (*fd < 0)
        return lks_fail(err, LKS_E_IO, "%s: %s", path != NULL ? path : "output", strerror(errno));
    return LKS_OK;
}

/* The first line of what the program said. */
static void read_line(int fd, char *out, size_t size)
{
    ssize_t got = pread(fd, out, size - 1, 0);
    out[got > 0 ? got : 0] = '\0';
    out[strcspn(out, "\n")] = '\0';
}

enum lks_code lks_spawn_wait(struct lks_cli *cli, const char *const *argv, const char *out,
                             struct lks_err *err)
{
    int fd, status;
    pid_t pid;
    char line[LKS_ERR_MSG_MAX];
    if (open_output(out, &fd, err) != LKS_OK)
        return err->code;
    enum lks_code code = start(cli, argv, fd, false, &pid, err);
    if (code != LKS_OK) {
        close(fd);
        return code;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    read_line(fd, line, sizeof(line));
    close(fd);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return lks_fail(err, LKS_E_UNAVAILABLE, "%s failed: %s", argv[0],
                        out == NULL ? line : "its output is in the file");
    return LKS_OK;
}

/* Processes that stay ----------------------------------------------------------------------- */

/* When a process began, in the kernel's ticks since the boot: field 22 of its stat line, behind a
 * name that may hold anything. 0 when it is gone. */
static uint64_t began(pid_t pid)
{
    enum { FIELD = 20 }; /* counted from behind the name */
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    char path[64];
    struct lks_err err;
    uint64_t value = 0;
    lks_buf_init(&text, OUTPUT_MAX);
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

enum lks_code lks_spawn_start(struct lks_cli *cli, const char *const *argv, const char *log,
                              const char *dir, const char *name, struct lks_err *err)
{
    char path[PATH_MAX];
    int fd;
    pid_t pid;
    int len = snprintf(path, sizeof(path), "%s/pids", dir);
    if (len < 0 || (size_t)len >= sizeof(path))
        return lks_fail(err, LKS_E_INVALID, "%s: too long for a path", dir);
    if (open_output(log, &fd, err) != LKS_OK)
        return err->code;
    enum lks_code code = start(cli, argv, fd, true, &pid, err);
    close(fd);
    if (code != LKS_OK)
        return code;
    FILE *f = fopen(path, "ae");
    if (f == NULL)
        return lks_fail(err, LKS_E_IO, "%s: %s", path, strerror(errno));
    fprintf(f, "%d %" PRIu64 " %s\n", (int)pid, began(pid), name);
    return fclose(f) == 0 ? LKS_OK : lks_fail(err, LKS_E_IO, "%s: %s", path, strerror(errno));
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

/* Reap those that are our own children; the others are someone else's to reap. */
static void reap(void)
{
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
}

unsigned lks_spawn_end(const char *dir)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    char path[PATH_MAX];
    struct lks_err err;
    lks_buf_init(&text, PIDS_MAX);
    int len = snprintf(path, sizeof(path), "%s/pids", dir);
    if (len < 0 || (size_t)len >= sizeof(path) || lks_file_read(path, &text, &err) != LKS_OK)
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
