#include "probe/root/command.h"

#include "probe/root/clock.h"
#include "probe/root/supervisor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    KEY_SIZE = LKS_ROOT_PATH_MAX + 512,
    SHOWN_MAX = 120, /* bytes of its complaint that a message repeats */
    NOT_STARTED = 127,
    REAP_MS = 50,
    SLACK_MS = 100,     /* for us to notice that its time is up */
    TRUNCATE_SINCE = 3, /* version of Landlock */
};

#ifndef LANDLOCK_ACCESS_FS_TRUNCATE /* Linux 6.2 */
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif

#define DEVICES "/dev"
#define DEVICE  "nvidia" /* and what follows: nvidia0, nvidiactl, nvidia-caps */

const char *const lks_command_dirs[] = {"/usr/local/sbin",
                                        "/usr/local/bin",
                                        "/usr/sbin",
                                        "/usr/bin",
                                        "/sbin",
                                        "/bin",
                                        "/opt/bin",
                                        "/opt/slurm/sbin",
                                        "/opt/slurm/bin",
                                        "/opt/cni/bin",
                                        "/opt/nvidia/bin",
                                        "/usr/local/nvidia/bin",
                                        "/usr/local/nvidia/toolkit",
                                        "/usr/local/slurm/sbin",
                                        NULL};

enum lks_code lks_command_trust(const char *path, const struct stat *st, uid_t us,
                                struct lks_err *err)
{
    if ((st->st_mode & S_IWOTH) != 0)
        return lks_fail(err, LKS_E_DENIED, "%s: not run, as anyone may change it", path);
    if ((st->st_mode & S_IWGRP) != 0 && st->st_gid != 0)
        return lks_fail(err, LKS_E_DENIED, "%s: not run, as group %u may change it", path,
                        (unsigned)st->st_gid);
    if (st->st_uid != 0 && st->st_uid != us)
        return lks_fail(err, LKS_E_DENIED, "%s: not run, as it belongs to user %u", path,
                        (unsigned)st->st_uid);
    return LKS_OK;
}

enum lks_code lks_command_find(struct lks_root *root, const char *name, size_t *dir,
                               char path[LKS_ROOT_PATH_MAX], struct stat *st, struct lks_err *err)
{
    for (; lks_command_dirs[*dir] != NULL; (*dir)++) {
        snprintf(path, LKS_ROOT_PATH_MAX, "%s/%s", lks_command_dirs[*dir], name);
        enum lks_code code = lks_root_stat(root, path, st, err);
        if (code == LKS_E_NOT_FOUND)
            continue;
        (*dir)++;
        if (code != LKS_OK)
            return code;
        if (!S_ISREG(st->st_mode))
            return lks_fail(err, LKS_E_INVALID, "%s: not a plain file", path);
        return root->live ? lks_command_trust(path, st, geteuid(), err) : LKS_OK;
    }
    return lks_fail(err, LKS_E_NOT_FOUND, "%s: not there", name);
}

void lks_command_looked(const char *name, char *out, size_t size)
{
    size_t count = 0;
    while (lks_command_dirs[count] != NULL)
        count++;
    snprintf(out, size, "no %s in %s and %zu other directories of programs", name,
             lks_command_dirs[0], count - 1);
}

void lks_command_text(const struct lks_command *c, char *out, size_t size)
{
    size_t len = (size_t)snprintf(out, size, "%s", c->path);
    for (size_t i = 0; c->args[i] != NULL && len < size; i++)
        len += (size_t)snprintf(out + len, size - len, " %s", c->args[i]);
}

/* Starting ----------------------------------------------------------------------------------- */

int lks_command_guard(void)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return version > 0 ? (int)version : 0;
}

/* What cannot be allowed stays forbidden. */
static void allow_writing(int rules, int dir, const char *name, uint64_t access)
{
    struct landlock_path_beneath_attr path = {
        .allowed_access = access,
        .parent_fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC),
    };
    if (path.parent_fd < 0)
        return;
    (void)syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &path, 0);
    (void)close(path.parent_fd);
}

static void allow_devices(int rules, uint64_t access)
{
    DIR *dir = opendir(DEVICES);
    const struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (strncmp(entry->d_name, DEVICE, sizeof(DEVICE) - 1) == 0)
            allow_writing(rules, dirfd(dir), entry->d_name, access);
    }
    if (dir != NULL)
        (void)closedir(dir);
}

/* No writing to any file but /dev/null, and to NVIDIA's devices where that is allowed. -1: kernels
 * without Landlock, such as those before 5.13, leave it at the program's word. Made before the
 * fork, as a vendor's library may have started threads, and behind a fork little is safe then. */
static int make_rules(unsigned flags)
{
    uint64_t truncate = lks_command_guard() >= TRUNCATE_SINCE ? LANDLOCK_ACCESS_FS_TRUNCATE : 0;
    uint64_t access = LANDLOCK_ACCESS_FS_WRITE_FILE | truncate;
    struct landlock_ruleset_attr all = {
        .handled_access_fs = access | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                             LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                             LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                             LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                             LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM};
    int rules = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);
    if (rules < 0)
        return -1;
    allow_writing(rules, AT_FDCWD, DEVICES "/null", access);
    if ((flags & LKS_COMMAND_DEVICES) != 0)
        allow_devices(rules, access);
    return rules;
}

_Noreturn static void be_program(const struct lks_command *c, int out, int rules)
{
    static char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    static char locale[] = "LC_ALL=C";
    char *env[] = {path, locale, NULL};
    char *argv[LKS_COMMAND_ARGS_MAX + 2] = {0};
    const char *program = c->path;
    memcpy(argv, &program, sizeof(program)); /* execve() does not write to them */
    memcpy(argv + 1, c->args, sizeof(c->args));
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGPIPE, SIG_DFL);
    int null = open(DEVICES "/null", O_RDWR);
    if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 ||
        dup2((c->flags & LKS_COMMAND_QUIET) != 0 ? null : out, 2) < 0 || chdir("/") != 0 ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        _exit(NOT_STARTED);
    if (rules >= 0 && syscall(SYS_landlock_restrict_self, rules, 0) != 0)
        _exit(NOT_STARTED);
    if (lks_supervisor_close_others())
        (void)execve(c->path, argv, env);
    _exit(NOT_STARTED);
}

void lks_command_start(struct lks_command *c, struct lks_root *root, const char *path,
                       const char *const *args, size_t output_max, unsigned flags, int ms)
{
    *c = (struct lks_command){.output_max = output_max, .flags = flags, .pipe = -1};
    snprintf(c->path, sizeof(c->path), "%s", path);
    for (size_t i = 0; args[i] != NULL; i++) {
        LKS_ASSERT(i < LKS_COMMAND_ARGS_MAX);
        c->args[i] = args[i];
    }
    char key[KEY_SIZE];
    lks_command_text(c, key, sizeof(key));
    if (!root->live || (root->skip != NULL && root->skip(root->ctx, key) != NULL))
        return;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        c->start_errno = errno;
        return;
    }
    c->ends = lks_clock_ms() + ms;
    int rules = make_rules(flags);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        (void)setpgid(0, 0);
        (void)lks_supervisor_begin(parent);
        be_program(c, ends[1], rules);
    }
    c->start_errno = pid < 0 ? errno : 0;
    (void)close(ends[1]);
    if (rules >= 0)
        (void)close(rules);
    if (pid < 0) {
        (void)close(ends[0]);
        return;
    }
    c->pid = pid;
    c->pipe = ends[0];
}

/* Collecting --------------------------------------------------------------------------------- */

/* How it ended, or false where it did not before `until`. It stays to be reaped, so that its number
 * is not reused meanwhile. */
static bool ended_until(const struct lks_command *c, int64_t until, siginfo_t *how)
{
    for (;;) {
        *how = (siginfo_t){0};
        int failed = waitid(P_PID, (id_t)c->pid, how, WEXITED | WNOHANG | WNOWAIT);
        if (failed == 0 && how->si_pid == c->pid)
            return true;
        if ((failed != 0 && errno != EINTR) || lks_clock_ms() >= until)
            return false;
        (void)usleep(200);
    }
}

/* All it prints, until it closes its end, has printed too much, or its time is up. */
static enum lks_code read_output(struct lks_command *c, struct lks_buf *text, struct lks_err *err)
{
    char piece[16384];
    for (;;) {
        struct pollfd fd = {.fd = c->pipe, .events = POLLIN};
        int64_t left = c->ends - lks_clock_ms();
        int ready = left > 0 ? poll(&fd, 1, (int)left) : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready == 0)
            return lks_fail(err, LKS_E_TIMEOUT, "did not end in time");
        ssize_t n = read(c->pipe, piece, sizeof(piece));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return LKS_OK;
        lks_buf_add(text, (struct lks_str){piece, (size_t)n});
        if (text->failed != LKS_OK)
            return lks_fail(err, LKS_E_LIMIT, "printed more than %zu bytes", c->output_max);
    }
}

static void end_command(struct lks_command *c)
{
    if (c->pid == 0)
        return;
    siginfo_t how;
    (void)kill(-c->pid, SIGKILL);
    (void)kill(c->pid, SIGKILL);
    if (ended_until(c, lks_clock_ms() + REAP_MS, &how)) /* one stuck in the kernel is left to it */
        (void)waitpid(c->pid, NULL, 0);
    (void)close(c->pipe);
    c->pid = 0;
    c->pipe = -1;
}

/* Its first line that says anything. */
static struct lks_str complaint(struct lks_str text)
{
    struct lks_str line = {0};
    while (line.len == 0 && text.len > 0) {
        (void)lks_str_cut(text, '\n', &line, &text);
        line = lks_str_trim(line);
    }
    if (line.len > SHOWN_MAX)
        line.len = SHOWN_MAX;
    return line;
}

static enum lks_code judge_end(const struct lks_command *c, struct lks_str text,
                               struct lks_err *err)
{
    siginfo_t how;
    if (!ended_until(c, c->ends, &how))
        return lks_fail(err, LKS_E_TIMEOUT, "did not end in time");
    if (how.si_code != CLD_EXITED)
        return lks_fail(err, LKS_E_IO, "was ended by signal %d", how.si_status);
    struct lks_str said = complaint(text);
    if (how.si_status == NOT_STARTED)
        return lks_fail(err, LKS_E_IO, "could not be run%s%" LKS_STR_FMT, said.len > 0 ? ": " : "",
                        LKS_STR_ARG(said));
    if (how.si_status != 0)
        return lks_fail(err, LKS_E_IO, "ended with status %d%s%" LKS_STR_FMT, how.si_status,
                        said.len > 0 ? ": " : "", LKS_STR_ARG(said));
    return LKS_OK;
}

struct question {
    struct lks_command *command;
    struct lks_root *root;
};

static enum lks_code collect(void *ctx, struct lks_buf *out, struct lks_err *err)
{
    const struct question *q = ctx;
    struct lks_command *c = q->command;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    lks_buf_init(&text, c->output_max);
    if (c->pid == 0)
        return lks_fail(err, LKS_E_IO, "could not be started: %s", strerror(c->start_errno));
    lks_root_patience_ms(q->root, c->ends - lks_clock_ms() + REAP_MS + SLACK_MS);
    enum lks_code code = read_output(c, &text, err);
    if (code == LKS_OK)
        code = judge_end(c, lks_buf_view(&text), err);
    end_command(c);
    if (code != LKS_OK)
        return code;
    for (size_t i = 0; i < text.len; i++)
        lks_buf_addc(out, text.ptr[i] == '\n' ? ' ' : text.ptr[i]);
    return LKS_OK;
}

enum lks_code lks_command_collect(struct lks_command *c, struct lks_root *root, struct lks_buf *out,
                                  struct lks_err *err)
{
    char key[KEY_SIZE];
    struct question q = {c, root};
    lks_command_text(c, key, sizeof(key));
    enum lks_code code = lks_root_ask(root, "command", key, collect, &q, out, err);
    end_command(c); /* the root may have left it out */
    return code;
}
