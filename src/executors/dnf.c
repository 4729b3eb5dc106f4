/*
 * Packages of Red Hat's kind: exactly the files of the order, from nowhere else, locked afterwards.
 * rpm does it itself, since it knows of no archive: what the files need has to be among them or
 * installed, and it is asked before anything is touched. Where dnf has its plugin for it, versions
 * are locked.
 */
#include "base/file.h"
#include "executors/packages.h"
#include "executors/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { NAME_SIZE = LKS_PACKAGE_NAME_SIZE, LIST_MAX = 1 << 20 };

#define LOCK_FOLDER "/etc/dnf/plugins"
#define LOCK_CONF   LOCK_FOLDER "/versionlock.conf"
#define LOCK_LIST   LOCK_FOLDER "/versionlock.list"
#define ABOUT       "%{NAME} %{EPOCHNUM}:%{VERSION}-%{RELEASE}.%{ARCH}\n"

/* Kernels come beside those that are there: what runs is not taken away, and is the one that an
 * order back starts again. */
enum way { GOES, BESIDE, COMES };

static enum way way_of(const struct lks_package *p)
{
    if (p->goes)
        return GOES;
    return lks_str_is(p->item->component, "kernel") ? BESIDE : COMES;
}

/* "NAME VERSION" of a file, or of what is installed under a name: of several the one that `version`
 * holds already, else the first. */
static enum lks_code ask(const char *option, const char *what, char name[NAME_SIZE],
                         char version[NAME_SIZE], struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_TOOL_OUTPUT_MAX);
    const char *argv[] = {"rpm", option, "--qf", ABOUT, what, NULL};
    struct lks_str line, rest, head, tail;
    if (lks_tool_ask(argv, &text, err) != LKS_OK)
        return err->code;
    lks_str_cut(lks_buf_view(&text), '\n', &line, &rest);
    for (struct lks_str each = line; each.len > 0; lks_str_cut(rest, '\n', &each, &rest)) {
        if (lks_str_cut(each, ' ', &head, &tail) && lks_str_is(tail, version))
            line = each;
    }
    if (!lks_str_cut(line, ' ', &head, &tail) || head.len == 0 || head.ptr[0] == '-' ||
        head.len >= NAME_SIZE || tail.len >= NAME_SIZE)
        return lks_fail(err, LKS_E_INVALID, "%.200s: no package", what);
    (void)lks_executor_job_text(head, name, NAME_SIZE);
    (void)lks_executor_job_text(tail, version, NAME_SIZE);
    return LKS_OK;
}

/* The version is "0:2.28.3-1.x86_64". */
static enum lks_code ask_file(const struct lks_packages *w, struct lks_package *p,
                              struct lks_err *err)
{
    (void)w;
    return ask("-qp", p->path, p->name, p->version, err);
}

/* Locks -------------------------------------------------------------------------------------- */

static bool can_lock(void)
{
    struct stat st;
    return stat(LOCK_CONF, &st) == 0;
}

static void lock_line(const struct lks_package *p, char out[2 * NAME_SIZE])
{
    snprintf(out, (size_t)2 * NAME_SIZE, "%s-%s", p->name, p->version);
}

static bool is_locked(const struct lks_package *p, struct lks_str locks)
{
    char line[2 * NAME_SIZE];
    struct lks_str each;
    lock_line(p, line);
    while (locks.len > 0) {
        lks_str_cut(locks, '\n', &each, &locks);
        if (lks_str_is(lks_str_trim(each), line))
            return true;
    }
    return false;
}

static enum lks_code read_locks(struct lks_buf *out, struct lks_err *err)
{
    lks_buf_init(out, LIST_MAX);
    enum lks_code code = lks_file_read_plain(LOCK_LIST, out, err);
    return code == LKS_E_NOT_FOUND ? LKS_OK : code;
}

/* "NAME-EPOCH:": any lock of this package. */
static bool is_of(struct lks_str line, const struct lks_package *p)
{
    size_t len = strlen(p->name);
    struct lks_str rest, epoch, version;
    uint64_t number;
    line = lks_str_trim(line);
    if (line.len <= len + 1 || memcmp(line.ptr, p->name, len) != 0 || line.ptr[len] != '-')
        return false;
    rest = (struct lks_str){line.ptr + len + 1, line.len - len - 1};
    return lks_str_cut(rest, ':', &epoch, &version) && lks_str_number(epoch, UINT32_MAX, &number);
}

static enum lks_code lock(const struct lks_packages *w, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf before = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf after = LKS_BUF(LIST_MAX);
    char ours[2 * NAME_SIZE];
    if (!can_lock())
        return LKS_OK;
    if (read_locks(&before, err) != LKS_OK)
        return err->code;
    for (struct lks_str rest = lks_buf_view(&before), line; rest.len > 0;) {
        bool ordered = false;
        lks_str_cut(rest, '\n', &line, &rest);
        for (size_t i = 0; i < w->count; i++)
            ordered = ordered || is_of(line, &w->list[i]);
        if (!ordered)
            lks_buf_addf(&after, "%" LKS_STR_FMT "\n", LKS_STR_ARG(line));
    }
    for (size_t i = 0; i < w->count; i++) {
        lock_line(&w->list[i], ours);
        if (!w->list[i].goes)
            lks_buf_addf(&after, "%s\n", ours);
    }
    if (lks_buf_check(&after, err) != LKS_OK)
        return err->code;
    return lks_file_replace_as(LOCK_LIST, 0644, lks_buf_view(&after), err);
}

/* What the machine has ----------------------------------------------------------------------- */

static enum lks_code look_all(struct lks_packages *w, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf locks = {0};
    if (can_lock() && read_locks(&locks, err) != LKS_OK)
        return err->code;
    for (size_t i = 0; i < w->count; i++) {
        struct lks_package *p = &w->list[i];
        char name[NAME_SIZE];
        struct lks_err ignored = {0};
        snprintf(p->found, sizeof(p->found), "%s", p->version);
        bool there = ask("-q", p->name, name, p->found, &ignored) == LKS_OK;
        if (!there)
            snprintf(p->found, sizeof(p->found), "not installed");
        bool locked = !can_lock() || is_locked(p, lks_buf_view(&locks));
        p->so = p->goes ? !there : there && strcmp(p->found, p->version) == 0 && locked;
    }
    return LKS_OK;
}

/* Doing it ----------------------------------------------------------------------------------- */

/* Those of one way: the names of those that go, else the files. */
static enum lks_code rpm(const struct lks_packages *w, enum way way, bool test, struct lks_err *err)
{
    const char *argv[LKS_TOOL_ARGS_MAX] = {"rpm"};
    size_t count = 1, given = 0;
    argv[count++] = way == GOES ? "-e" : way == BESIDE ? "-i" : "-U";
    if (way != GOES) {
        argv[count++] = "--oldpackage";
        argv[count++] = "--replacepkgs";
    }
    if (test)
        argv[count++] = "--test";
    for (size_t i = 0; i < w->count && count + 1 < LKS_TOOL_ARGS_MAX; i++) {
        const struct lks_package *p = &w->list[i];
        if (way_of(p) != way || (way != COMES && p->so))
            continue;
        argv[count++] = way == GOES ? p->name : p->path;
        given++;
    }
    return given > 0 ? lks_tool_run(&(struct lks_tool){.argv = argv}, err) : LKS_OK;
}

static enum lks_code change(struct lks_packages *w, struct lks_err *err)
{
    for (enum way way = GOES; way <= COMES; way++) {
        if (rpm(w, way, true, err) != LKS_OK || rpm(w, way, false, err) != LKS_OK)
            return err->code;
    }
    return lock(w, err);
}

static const char *remark(void)
{
    return can_lock() ? "" : ", and not locked: dnf has no versionlock plugin here";
}

static enum lks_code run(struct lks_job *job, struct lks_buf *said, struct lks_err *err)
{
    static const struct lks_packages_ops ops = {
        .ask = ask_file, .look = look_all, .change = change, .remark = remark};
    return lks_packages_run(&ops, job, said, err);
}

int main(int argc, char **argv)
{
    return lks_executor_main(argc, argv, LKS_ORDER_DNF, run);
}
