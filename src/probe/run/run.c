/* Every probe in a child of its own. The child speaks through a pipe, one message a reading, and
 * keeps a shared page up to date with what it is about to do; the parent reads the page when the
 * child has been still for too long, kills it, and runs it again without that. */
#include "probe/root/clock.h"
#include "probe/root/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ATTEMPTS_MAX 4
#define WHAT_MAX     512
#define TEXTS        5 /* of a reading */
#define MESSAGE_MAX  (1 + TEXTS * (sizeof(uint32_t) + LKS_READING_VALUE_MAX))
#define SCRATCH_MAX  ((size_t)64 << 20)
#define PIECES_MAX   16 /* read of one child before the others have their turn */
#define PATIENCE_MAX 64
#define SAID_MAX     (LKS_TUPLE_READINGS_MAX / 4) /* by one probe; no honest one comes near it */
#define POLL_MS      20
#define REAP_MS      200

/* Of all probes together, so that there is room to say what is missing. */
#define KEPT_MAX (LKS_TUPLE_READINGS_MAX - 1024)

/* What a message begins with: the state of a reading, or that the probe came to its end. */
enum { MESSAGE_END = LKS_UNMEASURED + 1 };

/* What the child is doing, where the parent can see it even when the child cannot speak. */
struct page {
    _Atomic unsigned count;    /* of things begun */
    _Atomic unsigned patience; /* how many silences the one begun last may take */
    _Atomic unsigned granted;  /* silences granted so far beyond the usual */
    char what[WHAT_MAX];
    long private_kib;
};

struct child {
    const struct lks_probe_kind *kind;
    pid_t pid;
    int pipe;
    struct page *page; /* shared with the child; owned */
    struct lks_buf heard;
    struct lks_tuple said;   /* by this attempt, */
    struct lks_tuple before; /* and by the one that said most before it */
    char skipped[ATTEMPTS_MAX][WHAT_MAX];
    char reasons[ATTEMPTS_MAX][WHAT_MAX + 64];
    size_t skipped_count;
    unsigned seen; /* of page->count */
    int64_t begun, moved;
    bool ended;          /* it said that it came to its end, */
    bool capture_failed; /* and that its part of the capture could not be written */
    bool over;
};

struct runner {
    struct lks_root *root;
    const struct lks_facts *facts;
    const struct lks_probe_options *options;
    struct lks_tuple *out;
    struct child *children;
    size_t count;
    bool capture_failed;
};

/* In the child ------------------------------------------------------------------------------- */

static void note_asking(void *ctx, const char *what)
{
    struct child *c = ctx;
    snprintf(c->page->what, sizeof(c->page->what), "%s", what);
    atomic_store(&c->page->patience, 1);
    atomic_fetch_add(&c->page->count, 1);
}

static void note_patience(void *ctx, unsigned times)
{
    struct child *c = ctx;
    atomic_store(&c->page->patience, times);
    atomic_fetch_add(&c->page->granted, times > 0 ? times - 1 : 0);
}

static const char *note_skip(void *ctx, const char *what)
{
    struct child *c = ctx;
    for (size_t i = 0; i < c->skipped_count; i++) {
        if (strncmp(c->skipped[i], what, WHAT_MAX - 1) == 0)
            return c->reasons[i];
    }
    return NULL;
}

static void put_text(struct lks_buf *b, struct lks_str s)
{
    uint32_t len = (uint32_t)(s.len < LKS_READING_VALUE_MAX ? s.len : LKS_READING_VALUE_MAX);
    lks_buf_add(b, (struct lks_str){(const char *)&len, sizeof(len)});
    lks_buf_add(b, (struct lks_str){s.ptr, len});
}

/* `body` behind its length. Without a listener there is no more to do. */
static void send_message(struct child *c, const struct lks_buf *body)
{
    struct lks_buf b = {0};
    lks_buf_init(&b, MESSAGE_MAX + sizeof(uint32_t));
    uint32_t size = (uint32_t)body->len;
    lks_buf_add(&b, (struct lks_str){(const char *)&size, sizeof(size)});
    lks_buf_add(&b, lks_buf_view(body));
    if (body->failed != LKS_OK || b.failed != LKS_OK)
        _exit(1);
    for (size_t sent = 0; sent < b.len;) {
        ssize_t n = write(c->pipe, b.ptr + sent, b.len - sent);
        if (n < 0 && errno != EINTR)
            _exit(1);
        sent += n > 0 ? (size_t)n : 0;
    }
    lks_buf_fini(&b);
    atomic_fetch_add(&c->page->count, 1);
}

/* Its state and five texts. */
static void send_reading(void *ctx, const struct lks_reading *r)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(MESSAGE_MAX);
    lks_buf_addc(&body, (char)r->state);
    const struct lks_str texts[TEXTS] = {r->name, r->of, r->part, r->value, r->evidence};
    for (size_t i = 0; i < LKS_COUNT(texts); i++)
        put_text(&body, texts[i]);
    send_message(ctx, &body);
}

/* Reported, and not left to be inferred from our death: to close an unhealthy device can take a
 * while. */
static void send_end(struct child *c, bool capture_failed)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(MESSAGE_MAX);
    lks_buf_addc(&body, MESSAGE_END);
    lks_buf_addc(&body, (char)capture_failed);
    send_message(c, &body);
}

static long private_kib(void)
{
    FILE *f = fopen("/proc/self/smaps_rollup", "re");
    char line[256];
    long sum = 0;
    while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
        struct lks_str name, rest, number;
        uint64_t kib;
        (void)lks_str_cut(lks_str_from(line), ':', &name, &rest);
        if ((lks_str_is(name, "Private_Clean") || lks_str_is(name, "Private_Dirty")) &&
            lks_str_word(&rest, &number) && lks_str_number(number, LONG_MAX / 4, &kib))
            sum += (long)kib;
    }
    if (f != NULL)
        (void)fclose(f);
    return sum;
}

_Noreturn static void be_child(struct runner *r, struct child *c, pid_t parent)
{
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    LKS_ASSERT(c->pipe > STDERR_FILENO && r->root->fd > STDERR_FILENO);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && null >= 0; fd++)
        (void)dup2(null, fd); /* vendors' libraries print */
    struct lks_root root = *r->root;
    root.asking = note_asking;
    root.skip = note_skip;
    root.patience = note_patience;
    root.call_ms = r->options->call_ms;
    root.ctx = c;
    struct lks_arena scratch = {0};
    lks_arena_init(&scratch, SCRATCH_MAX);
    struct lks_probe p = {&root, r->facts, r->options, &scratch, send_reading, c};
    c->kind->run(&p);
    if (r->options->cost)
        c->page->private_kib = private_kib();
    send_end(c, root.capture_failed);
    _exit(0);
}

/* In the parent ------------------------------------------------------------------------------ */

static enum lks_code start(struct runner *r, struct child *c, struct lks_err *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return lks_fail(err, LKS_E_IO, "cannot make a pipe for a probe: %s", strerror(errno));
    if (c->said.count > c->before.count) {
        lks_tuple_fini(&c->before);
        c->before = LKS_MOVE(c->said);
    }
    lks_tuple_fini(&c->said);
    lks_tuple_init(&c->said);
    lks_buf_fini(&c->heard);
    lks_buf_init(&c->heard, 4 * MESSAGE_MAX);
    c->page->count = 0;
    c->page->patience = 1;
    c->page->what[0] = '\0';
    c->seen = 0;
    c->moved = lks_clock_ms();
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        c->pipe = ends[1];
        be_child(r, c, parent);
    }
    int number = errno;
    (void)close(ends[1]);
    if (pid < 0) {
        (void)close(ends[0]);
        return lks_fail(err, LKS_E_IO, "cannot start a process for a probe: %s", strerror(number));
    }
    (void)setpgid(pid, pid); /* so does the child; one of them is first */
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    c->pid = pid;
    c->pipe = ends[0];
    return LKS_OK;
}

static bool take_text(struct lks_str *rest, struct lks_str *out)
{
    uint32_t len;
    if (rest->len < sizeof(len))
        return false;
    memcpy(&len, rest->ptr, sizeof(len));
    if (len > rest->len - sizeof(len))
        return false;
    *out = (struct lks_str){rest->ptr + sizeof(len), len};
    *rest = (struct lks_str){out->ptr + len, rest->len - sizeof(len) - len};
    return true;
}

/* The child has a vendor's library in it and may say anything. */
static bool take_message(struct child *c, struct lks_str body)
{
    struct lks_reading r = {0};
    if (body.len == 2 && body.ptr[0] == MESSAGE_END) {
        c->ended = true;
        c->capture_failed = body.ptr[1] != 0;
        return true;
    }
    if (body.len < 1 || (unsigned char)body.ptr[0] > LKS_UNMEASURED || c->ended)
        return false;
    r.state = (enum lks_reading_state)body.ptr[0];
    struct lks_str rest = {body.ptr + 1, body.len - 1};
    struct lks_str *texts[TEXTS] = {&r.name, &r.of, &r.part, &r.value, &r.evidence};
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        if (!take_text(&rest, texts[i]))
            return false;
    }
    if (r.name.len == 0 || rest.len != 0)
        return false;
    lks_tuple_add(&c->said, &r);
    return c->said.failed == LKS_OK && c->said.count <= SAID_MAX;
}

static bool take_messages(struct child *c)
{
    size_t at = 0;
    uint32_t size;
    while (c->heard.len - at >= sizeof(size)) {
        memcpy(&size, c->heard.ptr + at, sizeof(size));
        if (size > MESSAGE_MAX)
            return false;
        if (c->heard.len - at - sizeof(size) < size)
            break;
        if (!take_message(c, (struct lks_str){c->heard.ptr + at + sizeof(size), size}))
            return false;
        at += sizeof(size) + size;
    }
    if (at > 0) {
        memmove(c->heard.ptr, c->heard.ptr + at, c->heard.len - at);
        lks_buf_truncate(&c->heard, c->heard.len - at);
    }
    return true;
}

enum heard { HEARD_MORE, HEARD_END, HEARD_NOTHING_MORE, HEARD_NONSENSE };

static enum heard hear(struct child *c)
{
    char piece[16384];
    for (size_t i = 0; i < PIECES_MAX && !c->ended; i++) {
        ssize_t n = read(c->pipe, piece, sizeof(piece));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN ? HEARD_MORE : HEARD_NOTHING_MORE;
        if (n == 0)
            return c->heard.len == 0 ? HEARD_NOTHING_MORE : HEARD_NONSENSE;
        lks_buf_add(&c->heard, (struct lks_str){piece, (size_t)n});
        if (c->heard.failed != LKS_OK || !take_messages(c))
            return HEARD_NONSENSE;
    }
    return c->ended ? HEARD_END : HEARD_MORE;
}

static void end_child(struct child *c)
{
    (void)kill(-c->pid, SIGKILL);
    (void)kill(c->pid, SIGKILL);
    if (c->pipe >= 0)
        (void)close(c->pipe);
    c->pipe = -1;
}

/* Its exit status, or -1 where it cannot be had: a process that waits for a dead device does not
 * die of SIGKILL, and we do not wait for it longer than until `until`. */
static int reap(struct child *c, int64_t until)
{
    for (;;) {
        int status;
        pid_t pid = waitpid(c->pid, &status, WNOHANG);
        bool gone = pid == c->pid || (pid < 0 && errno != EINTR);
        if (gone)
            c->pid = 0;
        if (gone || lks_clock_ms() >= until)
            return pid > 0 ? status : -1;
        (void)usleep(500);
    }
}

static bool promised(const struct lks_tuple *said, const char *name)
{
    for (size_t i = 0; i < said->count; i++) {
        if (lks_str_is(said->readings[i].name, name))
            return true;
    }
    return false;
}

static void add_unmeasured(struct lks_tuple *t, const char *name, const char *probe,
                           const char *why)
{
    char evidence[64];
    snprintf(evidence, sizeof(evidence), "probe %s", probe);
    lks_tuple_add(t, &(struct lks_reading){.name = lks_str_from(name),
                                           .state = LKS_UNMEASURED,
                                           .value = lks_str_from(why),
                                           .evidence = lks_str_from(evidence)});
}

/* What it said is kept, of several attempts that of the one that said most; what it owed is
 * unmeasured. `why` NULL: it came to its end. */
static void finish(struct runner *r, struct child *c, const char *why)
{
    c->over = true;
    static const struct lks_tuple nothing = {0};
    const struct lks_tuple *said =
        why != NULL && c->before.count > c->said.count ? &c->before : &c->said;
    bool fits = said->count <= SAID_MAX && r->out->count + said->count <= KEPT_MAX;
    if (!fits) {
        said = &nothing;
        why = "its probe returned too much";
    }
    for (size_t i = 0; i < said->count; i++)
        lks_tuple_add(r->out, &said->readings[i]);
    const char *const *owed = c->kind->promises;
    for (; owed != NULL && *owed != NULL; owed++) {
        if (!promised(said, *owed))
            add_unmeasured(r->out, *owed, c->kind->name,
                           why != NULL ? why : "its probe returned nothing");
    }
    char name[64];
    snprintf(name, sizeof(name), "probe.%s", c->kind->name);
    if (why != NULL)
        add_unmeasured(r->out, name, c->kind->name, why);
}

/* How long all of a probe may take. What the child says of its patience is bounded, as all it says.
 */
static int64_t deadline(const struct runner *r, const struct child *c)
{
    unsigned granted = atomic_load(&c->page->granted);
    granted = granted < PATIENCE_MAX ? granted : PATIENCE_MAX;
    return r->options->probe_ms + (int64_t)granted * r->options->call_ms;
}

static int64_t silence(const struct runner *r, const struct child *c)
{
    unsigned times = atomic_load(&c->page->patience);
    times = times < 1 ? 1 : times < PATIENCE_MAX ? times : PATIENCE_MAX;
    return (int64_t)times * r->options->call_ms;
}

/* It hung or died in the middle of something: once more, without that, unless it is enough. */
static enum lks_code again(struct runner *r, struct child *c, const char *how, struct lks_err *err)
{
    char what[WHAT_MAX];
    memcpy(what, c->page->what, sizeof(what));
    what[sizeof(what) - 1] = '\0';
    char why[WHAT_MAX + 64];
    snprintf(why, sizeof(why), "%s%s%s", how, what[0] != '\0' ? " in " : "", what);
    bool known = what[0] == '\0';
    for (size_t i = 0; i < c->skipped_count; i++)
        known = known || strcmp(c->skipped[i], what) == 0;
    if (known || c->skipped_count + 1 >= ATTEMPTS_MAX ||
        lks_clock_ms() - c->begun + r->options->call_ms > deadline(r, c)) {
        finish(r, c, why);
        return LKS_OK;
    }
    memcpy(c->skipped[c->skipped_count], what, sizeof(what));
    snprintf(c->reasons[c->skipped_count], sizeof(c->reasons[0]), "%s", how);
    c->skipped_count++;
    return start(r, c, err);
}

static enum lks_code broke_off(struct runner *r, struct child *c, enum heard heard,
                               struct lks_err *err)
{
    char how[64];
    int status = heard == HEARD_NOTHING_MORE ? reap(c, lks_clock_ms() + REAP_MS) : -1;
    if (c->pid > 0)
        end_child(c);
    if (c->pid > 0)
        (void)reap(c, lks_clock_ms() + REAP_MS);
    if (heard == HEARD_NONSENSE)
        snprintf(how, sizeof(how), "its probe spoke nonsense");
    else if (status >= 0 && WIFSIGNALED(status))
        snprintf(how, sizeof(how), "crashed (signal %d)", WTERMSIG(status));
    else if (status >= 0)
        snprintf(how, sizeof(how), "its probe gave up (status %d)", WEXITSTATUS(status));
    else
        snprintf(how, sizeof(how), "its probe broke off");
    return again(r, c, how, err);
}

static enum lks_code watch(struct runner *r, struct child *c, bool readable, struct lks_err *err)
{
    enum heard heard = readable ? hear(c) : HEARD_MORE;
    if (heard == HEARD_END) {
        r->capture_failed = r->capture_failed || c->capture_failed;
        finish(r, c, NULL);
        return LKS_OK;
    }
    if (heard != HEARD_MORE)
        return broke_off(r, c, heard, err);
    int64_t now = lks_clock_ms();
    unsigned count = atomic_load(&c->page->count);
    if (count != c->seen) {
        c->seen = count;
        c->moved = now;
    }
    bool still = now - c->moved > silence(r, c);
    if (!still && now - c->begun <= deadline(r, c))
        return LKS_OK;
    int ms = (int)(still ? silence(r, c) : deadline(r, c));
    end_child(c);
    (void)reap(c, lks_clock_ms() + REAP_MS);
    char how[64];
    snprintf(how, sizeof(how), "timed out after %d.%d s", ms / 1000, ms % 1000 / 100);
    return again(r, c, how, err);
}

static enum lks_code loop(struct runner *r, struct lks_err *err)
{
    struct pollfd *fds = calloc(r->count, sizeof(*fds));
    if (fds == NULL)
        return lks_fail_nomem(err);
    enum lks_code code = LKS_OK;
    for (size_t left = r->count; left > 0 && code == LKS_OK;) {
        for (size_t i = 0; i < r->count; i++)
            fds[i] = (struct pollfd){.fd = r->children[i].over ? -1 : r->children[i].pipe,
                                     .events = POLLIN};
        (void)poll(fds, r->count, POLL_MS);
        left = 0;
        for (size_t i = 0; i < r->count && code == LKS_OK; i++) {
            struct child *c = &r->children[i];
            if (!c->over)
                code = watch(r, c, fds[i].revents != 0, err);
            left += !c->over;
        }
    }
    free(fds);
    return code;
}

static enum lks_code start_all(struct runner *r, const struct lks_probe_kind *kinds,
                               struct lks_err *err)
{
    for (size_t i = 0; i < r->count; i++) {
        struct child *c = &r->children[i];
        c->kind = &kinds[i];
        c->begun = lks_clock_ms();
        c->page =
            mmap(NULL, sizeof(*c->page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (c->page == MAP_FAILED) {
            c->page = NULL;
            return lks_fail_nomem(err);
        }
        if (start(r, c, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

/* Those that came to their end may still be closing a device: they are not waited for long. */
static void end_children(struct runner *r)
{
    int64_t until = lks_clock_ms() + REAP_MS;
    for (size_t i = 0; i < r->count; i++) {
        if (r->children[i].pid > 0)
            end_child(&r->children[i]);
    }
    for (size_t i = 0; i < r->count; i++) {
        if (r->children[i].pid > 0)
            (void)reap(&r->children[i], until);
    }
}

static void end_all(struct runner *r, struct lks_probe_cost *cost)
{
    end_children(r);
    for (size_t i = 0; i < r->count; i++) {
        struct child *c = &r->children[i];
        if (c->page != NULL && cost != NULL && c->page->private_kib > cost->child_kib) {
            cost->child_kib = c->page->private_kib;
            cost->child = c->kind->name;
        }
        if (c->page != NULL)
            (void)munmap(c->page, sizeof(*c->page));
        lks_buf_fini(&c->heard);
        lks_tuple_fini(&c->said);
        lks_tuple_fini(&c->before);
    }
    free(r->children);
}

/* The node's own words about itself; a captured tree without them has none. */
static struct lks_str node_line(struct lks_root *root, struct lks_tuple *t, const char *path)
{
    char line[LKS_ROOT_LINE_MAX];
    struct lks_err err;
    if (lks_root_line(root, path, line, &err) != LKS_OK)
        return LKS_STR("");
    return lks_arena_copy(&t->arena, lks_str_from(line));
}

enum lks_code lks_probe_run(const struct lks_probe_kind *kinds, size_t count, struct lks_root *root,
                            const struct lks_facts *facts, const struct lks_probe_options *options,
                            struct lks_tuple *out, struct lks_probe_cost *cost, struct lks_err *err)
{
    int64_t begun = lks_clock_ms();
    struct runner r = {root, facts, options, out, calloc(count, sizeof(*r.children)), count, false};
    if (r.children == NULL)
        return lks_fail_nomem(err);
    out->node = node_line(root, out, "/proc/sys/kernel/hostname");
    out->boot_id = node_line(root, out, "/proc/sys/kernel/random/boot_id");
    enum lks_code code = start_all(&r, kinds, err);
    if (code == LKS_OK)
        code = loop(&r, err);
    if (cost != NULL && options->cost)
        cost->parent_kib = private_kib();
    end_all(&r, cost);
    root->capture_failed = root->capture_failed || r.capture_failed;
    if (cost != NULL)
        cost->ms = (int)(lks_clock_ms() - begun);
    return code != LKS_OK ? code : lks_tuple_finish(out, err);
}
