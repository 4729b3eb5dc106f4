#include "agent/helper/helper.h"

#include "agent/helper/subtask.h"
#include "agent/helper/wire.h"
#include "agent/state/boot.h"
#include "agent/state/ledger.h"
#include "base/file.h"
#include "codec/notation/hostlist.h"
#include "model/manifest/executor.h"
#include "probe/root/clock.h"
#include "probe/root/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
    HANDED_FD = 3, /* where systemd puts a socket */
    BACKLOG = 4,
    READER_MS = 180 * 1000,
    READER_WORDS = 4,
    HAZARD_MAX = 1024,
    LOOK_MS = 200,  /* how often to see whether a program that is silent has ended */
    SAID_MAX = 200, /* of what an executor says */
    PATH_SIZE = 4096,
    EXECUTOR_MAX_MS = 24 * 3600000, /* no command lives longer */
};

static void note(struct lks_helper *h, enum lks_level level, const char *msg, const char *key,
                 const char *value)
{
    struct lks_log_field fields[] = {{key, lks_str_from(value)}};
    lks_log_event(h->log, level, msg, fields, 1);
}

/* Opening ------------------------------------------------------------------------------------ */

/* What is trusted is root's, or ours in a test, and only its owner's to change. */
static enum lks_code read_mine(const char *path, struct lks_buf *out, struct lks_err *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return lks_fail(err, LKS_E_NOT_FOUND, "%s: %s", path, strerror(errno));
    if (lks_command_trust(path, &st, geteuid(), err) != LKS_OK)
        return lks_fail(err, LKS_E_DENIED,
                        "%s: not believed, as others than root may change it; chown root and "
                        "chmod go-w it",
                        path);
    return lks_file_read_plain(path, out, err);
}

static enum lks_code read_key(const char *path, struct lks_public_key *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(2 * (size_t)LKS_KEY_TEXT_SIZE);
    if (read_mine(path, &text, err) != LKS_OK)
        return err->code;
    return lks_key_public_file(path, lks_buf_view(&text), out, err);
}

/* A socket is of one of us that died: the ledger's lock says that none lives. Nothing else goes:
 * we are root, and the path may be mistaken. */
static enum lks_code clear_path(const char *path, struct lks_err *err)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return LKS_OK; /* what is wrong besides, bind() says */
    if (!S_ISSOCK(st.st_mode))
        return lks_fail(err, LKS_E_REFUSED, "%s: is there already and is no socket", path);
    return unlink(path) == 0 ? LKS_OK : lks_file_fail(err, path);
}

static enum lks_code listen_at(const char *path, uid_t user, int *out, struct lks_err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if ((size_t)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path) >=
        sizeof(address.sun_path))
        return lks_fail(err, LKS_E_INVALID, "%s: too long for the path of a socket", path);
    if (clear_path(path, err) != LKS_OK)
        return err->code;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return lks_fail(err, LKS_E_IO, "cannot make a socket: %s", strerror(errno));
    mode_t before = umask(0177);
    bool bound = bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
    (void)umask(before);
    if (!bound || (user != geteuid() && chown(path, user, (gid_t)-1) != 0) ||
        listen(fd, BACKLOG) != 0) {
        int number = errno;
        (void)close(fd);
        return lks_fail(err, LKS_E_IO, "%s: %s", path, strerror(number));
    }
    *out = fd;
    return LKS_OK;
}

enum lks_code lks_helper_open(const struct lks_helper_options *options, struct lks_log *log,
                              struct lks_helper *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_helper_close) struct lks_helper h = {.options = options, .log = log};
    lks_program_find(&h.program);
    if (read_key(options->command_key, &h.key, err) != LKS_OK ||
        lks_statedir_open(options->state, true, &h.dir, err) != LKS_OK ||
        lks_ledger_load(&h.dir, NULL, NULL, &h.once, err) != LKS_OK)
        return err->code;
    h.listener = HANDED_FD;
    if (options->socket != NULL &&
        listen_at(options->socket, options->user, &h.listener, err) != LKS_OK)
        return err->code;
    /* systemd hands it over open to programs and able to block, which ours must not be: a client
     * may be gone again before it is taken. */
    (void)fcntl(h.listener, F_SETFD, FD_CLOEXEC);
    (void)fcntl(h.listener, F_SETFL, O_NONBLOCK);
    *out = LKS_MOVE(h);
    return LKS_OK;
}

void lks_helper_close(struct lks_helper *h)
{
    if (h->listener > 0)
        (void)close(h->listener);
    lks_at_most_once_fini(&h->once);
    lks_statedir_close(&h->dir);
    *h = (struct lks_helper){0};
}

/* Judging ------------------------------------------------------------------------------------ */

bool lks_helper_enabled(struct lks_str text, const char *name)
{
    while (text.len > 0) {
        struct lks_str line, rest;
        lks_str_cut(text, '\n', &line, &text);
        lks_str_cut(line, '#', &line, &rest);
        if (lks_str_is(lks_str_trim(line), name))
            return true;
    }
    return false;
}

/* Root's, or ours in a test, and only its owner's to change. */
static enum lks_code check_mine(const char *path, bool directory, struct lks_err *err)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return lks_fail(err, LKS_E_NOT_FOUND, "%s: %s", path, strerror(errno));
    if (directory ? !S_ISDIR(st.st_mode) : !S_ISREG(st.st_mode))
        return lks_fail(err, LKS_E_DENIED, "%s: is not a plain %s", path,
                        directory ? "directory" : "file");
    if (!directory && (st.st_mode & S_IXUSR) == 0)
        return lks_fail(err, LKS_E_DENIED, "%s: is not a program", path);
    return lks_command_trust(path, &st, geteuid(), err);
}

static enum lks_code find_executor(const struct lks_helper *h, const char *name,
                                   char path[PATH_SIZE], struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf enabled = LKS_BUF(LKS_HELPER_ENABLED_MAX);
    if (!lks_envelope_executor_name(lks_str_from(name)))
        return lks_fail(err, LKS_E_DENIED, "an executor cannot have that name");
    if (check_mine(h->options->executors, true, err) != LKS_OK ||
        read_mine(h->options->enabled, &enabled, err) != LKS_OK)
        return err->code;
    if (!lks_helper_enabled(lks_buf_view(&enabled), name))
        return lks_fail(err, LKS_E_DENIED, "executor '%s' is not enabled on this node (%s)", name,
                        h->options->enabled);
    if (snprintf(path, PATH_SIZE, "%s/%s", h->options->executors, name) >= PATH_SIZE)
        return lks_fail(err, LKS_E_INVALID, "the path of executor '%s' is too long", name);
    return check_mine(path, false, err);
}

/* Running ------------------------------------------------------------------------------------ */

static void wait_errand(struct lks_subtask *e)
{
    struct pollfd p = {.fd = e->fd, .events = POLLIN};
    while (!lks_subtask_hear(e)) {
        int64_t left = e->ends - lks_clock_ms();
        (void)poll(&p, 1, left > LOOK_MS ? LOOK_MS : left > 0 ? (int)left : 0);
    }
}

/* Run the program that reads the machine with up to READER_WORDS arguments; `text` gets its output,
 * also when it fails. */
static enum lks_code run_reader(const struct lks_helper *h, const char *const words[READER_WORDS],
                                size_t max, int ms, struct lks_buf *text, struct lks_err *err)
{
    const char *path = h->options->reader, *list[READER_WORDS + 2] = {path};
    char *argv[LKS_COUNT(list)];
    struct lks_subtask errand = {0};
    struct lks_str said = {0};
    memcpy(list + 1, words, READER_WORDS * sizeof(list[0]));
    memcpy(argv, list, sizeof(argv)); /* execve() promises not to change them */
    const struct lks_subtask_program program = {.path = path, .argv = argv, .max = max, .ms = ms};
    if (check_mine(path, false, err) != LKS_OK ||
        lks_subtask_start(&errand, &program, err) != LKS_OK)
        return err->code;
    wait_errand(&errand);
    enum lks_code code = lks_subtask_end(&errand, &said, err);
    lks_buf_add(text, said);
    lks_subtask_fini(&errand);
    return code;
}

static lks_ms wall_ms(void)
{
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_REALTIME, &t);
    return (lks_ms)t.tv_sec * LKS_SECOND + (lks_ms)t.tv_nsec / 1000000;
}

/* A command that expires is not wanted any more; what it began was stopped half-way. */
static int executor_ms(const struct lks_helper *h, const struct lks_envelope *e)
{
    lks_ms wall = wall_ms(), left = e->expires > wall ? e->expires - wall : 0;
    lks_ms most = h->options->timeout_s > 0 ? (lks_ms)h->options->timeout_s * LKS_SECOND
                                            : (lks_ms)EXECUTOR_MAX_MS;
    return (int)(left < most ? left : most);
}

/* Whether the next boot would leave the node broken; `text` says how. The reader runs as root here:
 * an unprivileged agent can read neither grub.cfg nor the EFI system partition. A reader that fails
 * is no hazard, or a node whose boot loader is not known could never be rebooted. */
static bool has_hazard(struct lks_helper *h, const struct lks_envelope *e, struct lks_buf *text)
{
    static const char *const words[READER_WORDS] = {"--hazards"};
    struct lks_err err = {0};
    int left = executor_ms(h, e);
    enum lks_code code =
        run_reader(h, words, HAZARD_MAX, left < READER_MS ? left : READER_MS, text, &err);
    while (text->len > 0 && text->ptr[text->len - 1] == '\n')
        lks_buf_truncate(text, text->len - 1);
    if (code == LKS_E_REFUSED && text->len > 0)
        return true;
    if (code != LKS_OK)
        note(h, LKS_LEVEL_WARNING, "the next boot could not be read", "why", err.msg);
    lks_buf_truncate(text, 0);
    return false;
}

/* A command may expire while the reader runs: then it is not begun. */
static bool bars_reboot(struct lks_helper *h, const struct lks_envelope *e, struct lks_buf *text)
{
    if (has_hazard(h, e, text))
        return true;
    if (wall_ms() < e->expires)
        return false;
    lks_buf_add(text, LKS_STR("the command expired while the next boot was read"));
    return true;
}

/* The outcome of a program that was stopped half-way is unknown. */
static enum lks_outcome outcome_of(enum lks_code code)
{
    if (code == LKS_OK)
        return LKS_OUTCOME_DONE;
    return code == LKS_E_TIMEOUT ? LKS_OUTCOME_UNKNOWN : LKS_OUTCOME_FAILED;
}

static enum lks_outcome run_executor(const struct lks_helper *h, const char *path,
                                     const struct lks_envelope *e, struct lks_buf *text)
{
    char copy[PATH_SIZE], digests[LKS_ENVELOPE_DIGESTS_MAX][LKS_DIGEST_SIZE];
    char *argv[LKS_ENVELOPE_DIGESTS_MAX + 2] = {copy};
    char depot[PATH_SIZE + sizeof(LKS_HELPER_DEPOT) + 1];
    struct lks_subtask errand = {0};
    struct lks_str said = {0};
    struct lks_err err = {0};
    snprintf(copy, sizeof(copy), "%s", path);
    snprintf(depot, sizeof(depot), LKS_HELPER_DEPOT "=%.*s", PATH_SIZE - 1,
             h->options->depot != NULL ? h->options->depot : "");
    memcpy(digests, e->digests, sizeof(digests));
    for (size_t i = 0; i < e->digest_count; i++)
        argv[i + 1] = digests[i];
    const struct lks_subtask_program program = {.path = path,
                                                .argv = argv,
                                                .variable =
                                                    h->options->depot != NULL ? depot : NULL,
                                                .errors = true,
                                                .cut = true,
                                                .orphan = true,
                                                .max = SAID_MAX,
                                                .ms = executor_ms(h, e)};
    enum lks_code code = lks_subtask_start(&errand, &program, &err);
    if (code == LKS_OK) {
        wait_errand(&errand);
        code = lks_subtask_end(&errand, &said, &err);
    }
    lks_buf_addf(text, "%s%s", code != LKS_OK ? err.msg : "",
                 code != LKS_OK && said.len > 0 ? ": " : "");
    lks_buf_add(text, lks_str_trim(said));
    lks_subtask_fini(&errand);
    return outcome_of(code);
}

/* Begun is durable before it runs, ended before it is told. */
static enum lks_outcome begin_and_run(struct lks_helper *h, const struct lks_envelope *e,
                                      struct lks_buf *text)
{
    struct lks_err err = {0};
    char path[PATH_SIZE];
    if (find_executor(h, e->executor, path, &err) != LKS_OK ||
        lks_at_most_once_begin(&h->once, e, &err) != LKS_OK) {
        lks_buf_add(text, lks_str_from(err.msg));
        return LKS_OUTCOME_REFUSED;
    }
    enum lks_outcome outcome = LKS_OUTCOME_REFUSED;
    if (lks_ledger_save(&h->dir, &h->once, &err) != LKS_OK) {
        lks_buf_add(text, lks_str_from(err.msg));
    } else if (lks_executor_reboots(lks_str_from(e->executor)) && bars_reboot(h, e, text)) {
        note(h, LKS_LEVEL_WARNING, "a reboot was refused", "why", text->ptr);
    } else {
        note(h, LKS_LEVEL_INFO, "executor starts", "executor", e->executor);
        outcome = run_executor(h, path, e, text);
        note(h, LKS_LEVEL_INFO, "executor ended", "outcome", lks_outcome_words[outcome]);
    }
    lks_at_most_once_end(&h->once, e->id, outcome, lks_buf_view(text));
    if (lks_ledger_save(&h->dir, &h->once, &err) != LKS_OK)
        note(h, LKS_LEVEL_ERROR, "the ledger cannot be written", "why", err.msg);
    return outcome;
}

enum lks_outcome lks_helper_command(struct lks_helper *h, struct lks_str envelope,
                                    struct lks_buf *text)
{
    struct lks_envelope e = {0};
    struct lks_at_most_once_entry entry = {0};
    struct lks_err err = {0};
    char boot[LKS_BOOT_ID_SIZE];
    const char *why = "";
    if (lks_envelope_open(envelope, &h->key, 1, &e, &err) != LKS_OK ||
        lks_boot_read(NULL, boot, &err) != LKS_OK) {
        note(h, LKS_LEVEL_WARNING, "a command was refused", "why", err.msg);
        lks_buf_add(text, lks_str_from(err.msg));
        return LKS_OUTCOME_REFUSED;
    }
    enum lks_at_most_once_verdict verdict = lks_at_most_once_judge(
        &h->once, &e, lks_str_from(h->options->node), lks_str_from(boot), wall_ms(), &entry, &why);
    if (verdict == LKS_AT_MOST_ONCE_RUN)
        return begin_and_run(h, &e, text);
    if (verdict == LKS_AT_MOST_ONCE_REPEAT) {
        lks_buf_add(text, lks_str_from(entry.text));
        return entry.outcome;
    }
    note(h, LKS_LEVEL_WARNING, "a command was refused", "why", why);
    lks_buf_addf(text, "the helper refuses it: %s", why);
    return LKS_OUTCOME_REFUSED;
}

static enum lks_outcome read_machine(struct lks_helper *h, bool quick, struct lks_buf *text)
{
    const char *const words[READER_WORDS] = {"--read", "--node", h->options->node,
                                             quick ? "--quick" : NULL};
    struct lks_err err = {0};
    if (run_reader(h, words, LKS_INVENTORY_MAX, READER_MS, text, &err) == LKS_OK)
        return LKS_OUTCOME_DONE;
    lks_buf_truncate(text, 0);
    lks_buf_addf(text, "%s: %s", h->options->reader, err.msg);
    return LKS_OUTCOME_FAILED;
}

/* Answering ---------------------------------------------------------------------------------- */

static enum lks_outcome answer(struct lks_helper *h, struct lks_str question, struct lks_buf *text)
{
    struct lks_str line, body;
    lks_str_cut(question, '\n', &line, &body);
    if (lks_str_is(line, LKS_WIRE_COMMAND))
        return lks_helper_command(h, body, text);
    if (lks_str_is(line, LKS_WIRE_INVENTORY) || lks_str_is(line, LKS_WIRE_INVENTORY_QUICK))
        return read_machine(h, lks_str_is(line, LKS_WIRE_INVENTORY_QUICK), text);
    lks_buf_add(text, LKS_STR("the helper does not know that question"));
    return LKS_OUTCOME_REFUSED;
}

static void converse(struct lks_helper *h, int fd)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf question = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_INVENTORY_MAX + SAID_MAX);
    struct ucred peer = {0};
    socklen_t size = sizeof(peer);
    struct lks_err err = {0};
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
        peer.uid != h->options->user) {
        note(h, LKS_LEVEL_WARNING, "a stranger was turned away", "user", "not the agent's");
        return;
    }
    if (lks_wire_recv(fd, LKS_WIRE_QUESTION_MAX, lks_clock_ms() + LKS_WIRE_MS, &question, &err) !=
        LKS_OK) {
        note(h, LKS_LEVEL_WARNING, "a question was not understood", "why", err.msg);
        return;
    }
    enum lks_outcome outcome = answer(h, lks_buf_view(&question), &text);
    if (text.failed != LKS_OK)
        lks_buf_truncate(&text, 0);
    if (lks_wire_send(fd, lks_outcome_words[outcome], lks_buf_view(&text),
                      lks_clock_ms() + LKS_WIRE_MS, &err) != LKS_OK)
        note(h, LKS_LEVEL_WARNING, "an answer was not heard", "why", err.msg);
}

enum lks_code lks_helper_serve(struct lks_helper *h, int stop, struct lks_err *err)
{
    struct pollfd fds[] = {{.fd = stop, .events = POLLIN}, {.fd = h->listener, .events = POLLIN}};
    for (;;) {
        if (poll(fds, LKS_COUNT(fds), -1) < 0 && errno != EINTR)
            return lks_fail(err, LKS_E_IO, "cannot wait: %s", strerror(errno));
        if (fds[0].revents != 0)
            return LKS_OK;
        int fd = accept4(h->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0)
            continue;
        converse(h, fd);
        (void)close(fd);
        if (h->options->socket == NULL && lks_program_replaced(&h->program))
            return LKS_OK; /* systemd has the socket, and starts the new one */
    }
}
