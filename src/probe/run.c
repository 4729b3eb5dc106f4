/* Every probe in a child of its own. The child speaks through a pipe, one message a reading, and
 * keeps a shared page up to date with what it is about to do; the parent reads the page when the
 * child has been still for too long, kills it, and runs it again without that. */
#include "probe/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ATTEMPTS_MAX   4
#define WHAT_MAX       512
#define MESSAGE_MAX    (4 * LKS_READING_VALUE_MAX)
#define SCRATCH_MAX    ((size_t)64 << 20)
#define POLL_MS        20
#define REAP_MS        200
#define CAPTURE_BROKEN 3 /* exit status of a child that could not write its part of the capture */

/* What the child is doing, where the parent can see it even when the child cannot speak. */
struct page {
    _Atomic unsigned count;    /* of things begun */
    _Atomic unsigned patience; /* how many silences the one begun last may take */
    char what[WHAT_MAX];
    long private_kib;
};

struct child {
    const struct lks_probe_kind *kind;
    pid_t pid;
    int pipe;
    struct page *page; /* shared with the child; owned */
    struct lks_buf heard;
    struct lks_tuple said; /* by this attempt */
    char skipped[ATTEMPTS_MAX][WHAT_MAX];
    char reasons[ATTEMPTS_MAX][WHAT_MAX + 64];
    size_t skipped_count;
    unsigned seen; /* of page->count */
    int64_t begun, moved;
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

static int64_t now_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

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

/* A reading as its length, its state and five texts. Without a listener there is no more to do. */
static void send_reading(void *ctx, const struct lks_reading *r)
{
    struct child *c = ctx;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf b = {0};
    lks_buf_init(&b, MESSAGE_MAX + sizeof(uint32_t));
    uint32_t size = 0;
    lks_buf_add(&b, (struct lks_str){(const char *)&size, sizeof(size)});
    lks_buf_addc(&b, (char)r->state);
    const struct lks_str texts[] = {r->name, r->of, r->part, r->value, r->evidence};
    for (size_t i = 0; i < LKS_COUNT(texts); i++)
        put_text(&b, texts[i]);
    if (b.failed != LKS_OK)
        return;
    size = (uint32_t)(b.len - sizeof(size));
    memcpy(b.ptr, &size, sizeof(size));
    for (size_t sent = 0; sent < b.len;) {
        ssize_t n = write(c->pipe, b.ptr + sent, b.len - sent);
        if (n < 0 && errno != EINTR)
            _exit(1);
        sent += n > 0 ? (size_t)n : 0;
    }
    atomic_fetch_add(&c->page->count, 1);
}

static long private_kib(void)
{
    FILE *f = fopen("/proc/self/smaps_rollup", "re");
    char line[256];
    long sum = 0, kib;
    while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
        if (sscanf(line, "Private_Clean: %ld", &kib) == 1 ||
            sscanf(line, "Private_Dirty: %ld", &kib) == 1)
            sum += kib;
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
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd <= 2 && null >= 0; fd++)
        (void)dup2(null, fd); /* vendors' libraries print */
    struct lks_root root = *r->root;
    root.asking = note_asking;
    root.skip = note_skip;
    root.patience = note_patience;
    root.ctx = c;
    struct lks_arena scratch = {0};
    lks_arena_init(&scratch, SCRATCH_MAX);
    struct lks_probe p = {&root, r->facts, r->options, &scratch, send_reading, c};
    c->kind->run(&p);
    if (r->options->cost)
        c->page->private_kib = private_kib();
    _exit(root.capture_failed ? CAPTURE_BROKEN : 0);
}

/* In the parent ------------------------------------------------------------------------------ */

static enum lks_code start(struct runner *r, struct child *c, struct lks_err *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return lks_fail(err, LKS_E_IO, "cannot make a pipe for a probe: %s", strerror(errno));
    lks_tuple_fini(&c->said);
    lks_tuple_init(&c->said);
    lks_buf_fini(&c->heard);
    lks_buf_init(&c->heard, (size_t)2 * MESSAGE_MAX);
    c->page->count = 0;
    c->page->patience = 1;
    c->seen = 0;
    c->moved = now_ms();
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
    if (body.len < 1 || (unsigned char)body.ptr[0] > LKS_UNMEASURED)
        return false;
    r.state = (enum lks_reading_state)body.ptr[0];
    struct lks_str rest = {body.ptr + 1, body.len - 1};
    struct lks_str *texts[] = {&r.name, &r.of, &r.part, &r.value, &r.evidence};
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        if (!take_text(&rest, texts[i]))
            return false;
    }
    if (r.name.len == 0 || rest.len != 0)
        return false;
    lks_tuple_add(&c->said, &r);
    return true;
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

enum heard { HEARD_MORE, HEARD_END, HEARD_NONSENSE };

static enum heard hear(struct child *c)
{
    char piece[16384];
    for (;;) {
        ssize_t n = read(c->pipe, piece, sizeof(piece));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN ? HEARD_MORE : HEARD_END;
        if (n == 0)
            return c->heard.len == 0 ? HEARD_END : HEARD_NONSENSE;
        lks_buf_add(&c->heard, (struct lks_str){piece, (size_t)n});
        if (c->heard.failed != LKS_OK || !take_messages(c))
            return HEARD_NONSENSE;
    }
}

/* Its exit status, or -1 where it cannot be had: a process that waits for a dead device does not
 * die of SIGKILL, and we do not wait for it. */
static int reap(struct child *c, bool kill_it)
{
    if (kill_it)
        (void)kill(-c->pid, SIGKILL);
    if (kill_it)
        (void)kill(c->pid, SIGKILL);
    (void)close(c->pipe);
    c->pipe = -1;
    int64_t until = now_ms() + REAP_MS;
    for (;;) {
        int status;
        pid_t pid = waitpid(c->pid, &status, WNOHANG);
        if (pid == c->pid)
            return status;
        if (pid < 0 && errno != EINTR)
            return -1;
        if (now_ms() >= until)
            return -1;
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

/* What it said is kept; what it owed is unmeasured. `why` NULL: it came to its end. */
static void finish(struct runner *r, struct child *c, const char *why)
{
    c->over = true;
    for (size_t i = 0; i < c->said.count; i++)
        lks_tuple_add(r->out, &c->said.readings[i]);
    if (c->said.failed != LKS_OK && r->out->failed == LKS_OK)
        r->out->failed = c->said.failed;
    const char *const *owed = c->kind->promises;
    for (; owed != NULL && *owed != NULL; owed++) {
        if (!promised(&c->said, *owed))
            add_unmeasured(r->out, *owed, c->kind->name,
                           why != NULL ? why : "its probe said nothing");
    }
    char name[64];
    snprintf(name, sizeof(name), "probe.%s", c->kind->name);
    if (why != NULL)
        add_unmeasured(r->out, name, c->kind->name, why);
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
        now_ms() - c->begun + r->options->call_ms > r->options->probe_ms) {
        finish(r, c, why);
        return LKS_OK;
    }
    memcpy(c->skipped[c->skipped_count], what, sizeof(what));
    snprintf(c->reasons[c->skipped_count], sizeof(c->reasons[0]), "%s", how);
    c->skipped_count++;
    return start(r, c, err);
}

static enum lks_code ended(struct runner *r, struct child *c, enum heard heard, struct lks_err *err)
{
    int status = reap(c, heard == HEARD_NONSENSE);
    char how[64] = "";
    if (heard == HEARD_NONSENSE)
        snprintf(how, sizeof(how), "its probe spoke nonsense");
    else if (status < 0)
        snprintf(how, sizeof(how), "its probe does not end");
    else if (WIFSIGNALED(status))
        snprintf(how, sizeof(how), "crashed (signal %d)", WTERMSIG(status));
    else if (WEXITSTATUS(status) == CAPTURE_BROKEN)
        r->capture_failed = true;
    else if (WEXITSTATUS(status) != 0)
        snprintf(how, sizeof(how), "its probe gave up (status %d)", WEXITSTATUS(status));
    if (how[0] != '\0')
        return again(r, c, how, err);
    finish(r, c, NULL);
    return LKS_OK;
}

static enum lks_code watch(struct runner *r, struct child *c, bool readable, struct lks_err *err)
{
    if (readable) {
        enum heard heard = hear(c);
        if (heard != HEARD_MORE)
            return ended(r, c, heard, err);
    }
    int64_t now = now_ms();
    unsigned count = atomic_load(&c->page->count);
    if (count != c->seen) {
        c->seen = count;
        c->moved = now;
    }
    int patience = r->options->call_ms * (int)atomic_load(&c->page->patience);
    bool still = now - c->moved > patience;
    if (!still && now - c->begun <= r->options->probe_ms + patience - r->options->call_ms)
        return LKS_OK;
    (void)reap(c, true);
    char how[64];
    int ms = still ? patience : r->options->probe_ms;
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
        c->begun = now_ms();
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

static void end_all(struct runner *r, struct lks_probe_cost *cost)
{
    for (size_t i = 0; i < r->count; i++) {
        struct child *c = &r->children[i];
        if (c->pid > 0 && !c->over)
            (void)reap(c, true);
        if (c->page != NULL && cost != NULL && c->page->private_kib > cost->child_kib) {
            cost->child_kib = c->page->private_kib;
            cost->child = c->kind->name;
        }
        if (c->page != NULL)
            (void)munmap(c->page, sizeof(*c->page));
        lks_buf_fini(&c->heard);
        lks_tuple_fini(&c->said);
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
    int64_t begun = now_ms();
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
        cost->ms = (int)(now_ms() - begun);
    return code != LKS_OK ? code : lks_tuple_finish(out, err);
}
