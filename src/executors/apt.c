/*
 * Packages of Debian's kind: exactly the files of the order, from nowhere else, held afterwards.
 *
 * What apt would do is asked first. It has to be the packages of the order and no other: a
 * dependency that is not there, or a package that would have to go, is a refusal before anything is
 * touched. What a process that was killed left half-way is put in order before.
 */
#include "executors/packages.h"
#include "executors/tool.h"
#include "probe/root/clock.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { NAME_SIZE = LKS_PACKAGE_NAME_SIZE, INFO_MAX = 4 << 20, LOCK_MS = 300 * 1000, LOOK_MS = 50 };

#define KEEP_OLD "Dpkg::Options::=--force-confold"
#define KEEP_DEF "Dpkg::Options::=--force-confdef"

/* What the files are ------------------------------------------------------------------------- */

/* The value of a field, as `dpkg-deb -f` and dpkg-query print one on a line. */
static enum lks_code ask_field(const char *path, const char *field, char out[NAME_SIZE],
                               struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(NAME_SIZE);
    const char *argv[] = {"dpkg-deb", "-f", path, field, NULL};
    struct lks_str line, rest;
    if (lks_tool_ask(argv, &text, err) != LKS_OK)
        return err->code;
    lks_str_cut(lks_buf_view(&text), '\n', &line, &rest);
    line = lks_str_trim(line);
    if (line.len == 0 || line.len >= NAME_SIZE || memchr(line.ptr, ' ', line.len) != NULL ||
        line.ptr[0] == '-')
        return lks_fail(err, LKS_E_INVALID, "%s: no package, as it has no proper %s", path, field);
    (void)lks_executor_job_text(line, out, NAME_SIZE);
    return LKS_OK;
}

/* The name is "libnccl2:amd64". */
static enum lks_code ask_file(const struct lks_packages *w, struct lks_package *p,
                              struct lks_err *err)
{
    char architecture[NAME_SIZE], name[NAME_SIZE];
    if (ask_field(p->path, "Package", name, err) != LKS_OK ||
        ask_field(p->path, "Version", p->version, err) != LKS_OK ||
        ask_field(p->path, "Architecture", architecture, err) != LKS_OK)
        return err->code;
    bool all = strcmp(architecture, "all") == 0;
    int n = all ? snprintf(p->name, sizeof(p->name), "%s", name)
                : snprintf(p->name, sizeof(p->name), "%s:%s", name, architecture);
    if (n >= (int)sizeof(p->name))
        return lks_fail(err, LKS_E_LIMIT, "%s: its name is too long", p->path);
    for (size_t i = 0; i < w->count; i++) {
        if (strcmp(w->list[i].name, p->name) == 0)
            return lks_fail(err, LKS_E_INVALID, "%s: two files of the order are of it", p->name);
    }
    return LKS_OK;
}

/* What the machine has ----------------------------------------------------------------------- */

/* "hold ok installed 2.28.3"; empty where dpkg does not know it. */
static void ask_status(const char *name, char out[NAME_SIZE])
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(NAME_SIZE);
    struct lks_err ignored = {0};
    const char *argv[] = {"dpkg-query", "-W", "-f", "${Status} ${Version}\n", name, NULL};
    struct lks_str line, rest;
    out[0] = '\0';
    if (lks_tool_ask(argv, &text, &ignored) != LKS_OK)
        return;
    lks_str_cut(lks_buf_view(&text), '\n', &line, &rest);
    (void)lks_executor_job_text(line, out, NAME_SIZE);
}

/* Whether the bits are those of the file, too: versions may be given twice. Sums of the files, as
 * the package has them; one without them is believed by its version. */
static bool same_bits(const struct lks_package *p)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf ours = LKS_BUF(INFO_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf theirs = LKS_BUF(INFO_MAX);
    struct lks_err ignored = {0};
    const char *file[] = {"dpkg-deb", "-I", p->path, "md5sums", NULL};
    const char *installed[] = {"dpkg-query", "--control-show", p->name, "md5sums", NULL};
    if (lks_tool_ask(file, &ours, &ignored) != LKS_OK ||
        lks_tool_ask(installed, &theirs, &ignored) != LKS_OK)
        return true;
    return lks_str_eq(lks_buf_view(&ours), lks_buf_view(&theirs));
}

static void look(struct lks_package *p)
{
    char status[NAME_SIZE];
    struct lks_str want, error, state, rest;
    ask_status(p->name, status);
    lks_str_cut(lks_str_from(status), ' ', &want, &rest);
    lks_str_cut(rest, ' ', &error, &rest);
    lks_str_cut(rest, ' ', &state, &rest);
    bool known = status[0] != '\0' && !lks_str_is(state, "not-installed") &&
                 !lks_str_is(state, "config-files");
    bool installed =
        lks_str_is(state, "installed") && lks_str_is(error, "ok") && lks_str_is(rest, p->version);
    if (p->goes)
        p->so = !known;
    else
        p->so = installed && lks_str_is(want, "hold") && same_bits(p);
    snprintf(p->found, sizeof(p->found), "%s", status[0] != '\0' ? status : "not installed");
}

static enum lks_code look_all(struct lks_packages *w, struct lks_err *err)
{
    (void)err;
    for (size_t i = 0; i < w->count; i++)
        look(&w->list[i]);
    return LKS_OK;
}

/* Asking apt --------------------------------------------------------------------------------- */

struct words {
    const char *list[LKS_TOOL_ARGS_MAX];
    size_t count;
    char (*going)[NAME_SIZE + 1]; /* "name-" */
};

static void words_fini(struct words *w)
{
    free(w->going);
}

static enum lks_code make_words(const struct lks_packages *w, bool simulate, struct words *out,
                                struct lks_err *err)
{
    static const char *const first[] = {
        "apt-get", "install", "-y", "--allow-downgrades", "--allow-change-held-packages",
        "--reinstall", "--no-install-recommends", "--no-remove",
        /* It knows of no archive, so there is nothing it could fetch. */
        "-o", "Dir::Etc::SourceList=/dev/null", "-o", "Dir::Etc::SourceParts=/dev/null", "-o",
        KEEP_OLD, "-o", KEEP_DEF, "-o", "DPkg::Lock::Timeout=300", "-o", "APT::Sandbox::User=root"};
    struct words words = {0};
    bool removes = false;
    words.going = calloc(w->count + 1, sizeof(*words.going));
    if (words.going == NULL)
        return lks_fail_nomem(err);
    for (size_t i = 0; i < w->count; i++)
        removes = removes || (w->list[i].goes && !w->list[i].so);
    for (size_t i = 0; i < LKS_COUNT(first); i++) {
        if (!removes || strcmp(first[i], "--no-remove") != 0)
            words.list[words.count++] = first[i];
    }
    if (simulate)
        words.list[words.count++] = "--simulate";
    for (size_t i = 0; i < w->count; i++) {
        const struct lks_package *p = &w->list[i];
        if (words.count + 1 >= LKS_TOOL_ARGS_MAX)
            break;
        snprintf(words.going[i], sizeof(words.going[0]), "%s-", p->name);
        if (!p->goes)
            words.list[words.count++] = p->path;
        else if (!p->so)
            words.list[words.count++] = words.going[i];
    }
    words.list[words.count] = NULL;
    *out = words;
    return LKS_OK;
}

/* Whether the order has a package of that name, and whether it comes or goes. apt leaves the
 * machine's own architecture out; another one has to be ours. */
static bool is_ordered(const struct lks_packages *w, struct lks_str name, bool goes)
{
    for (size_t i = 0; i < w->count; i++) {
        struct lks_str plain, arch, asked, asked_arch;
        lks_str_cut(lks_str_from(w->list[i].name), ':', &plain, &arch);
        lks_str_cut(name, ':', &asked, &asked_arch);
        if (lks_str_eq(plain, asked) && w->list[i].goes == goes &&
            (asked_arch.len == 0 || lks_str_eq(arch, asked_arch)))
            return true;
    }
    return false;
}

/* "Inst NAME [OLD] (NEW ...)", "Remv NAME [OLD]": none but ours. */
static enum lks_code check_plan(const struct lks_packages *w, struct lks_str text,
                                struct lks_err *err)
{
    while (text.len > 0) {
        struct lks_str line, verb, name;
        lks_str_cut(text, '\n', &line, &text);
        if (!lks_str_word(&line, &verb) || !lks_str_word(&line, &name))
            continue;
        bool comes = lks_str_is(verb, "Inst");
        if (!comes && !lks_str_is(verb, "Remv") && !lks_str_is(verb, "Purg"))
            continue;
        if (!is_ordered(w, name, !comes))
            return lks_fail(err, LKS_E_REFUSED, "%.*s would be %s, and is not in the order",
                            LKS_STR_ARG(name), comes ? "installed" : "removed");
    }
    return LKS_OK;
}

static enum lks_code ask_apt(const struct lks_packages *w, struct lks_err *err)
{
    LKS_CLEANUP(words_fini) struct words words = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_TOOL_OUTPUT_MAX);
    if (make_words(w, true, &words, err) != LKS_OK ||
        lks_tool_ask(words.list, &text, err) != LKS_OK)
        return err->code;
    return check_plan(w, lks_buf_view(&text), err);
}

/* Doing it ----------------------------------------------------------------------------------- */

static enum lks_code install(const struct lks_packages *w, struct lks_err *err)
{
    LKS_CLEANUP(words_fini) struct words words = {0};
    if (make_words(w, false, &words, err) != LKS_OK)
        return err->code;
    return lks_tool_run(&(struct lks_tool){.argv = words.list}, err);
}

/* A dpkg whose executor was killed goes on until it is done with what it has. */
static enum lks_code wait_for_dpkg(struct lks_err *err)
{
    static const char *const locks[] = {"/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock"};
    int64_t until = lks_clock_ms() + LOCK_MS;
    for (size_t i = 0; i < LKS_COUNT(locks); i++) {
        struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int fd = open(locks[i], O_RDWR | O_CREAT | O_CLOEXEC, 0640);
        bool got = false;
        while (fd >= 0 && !(got = fcntl(fd, F_SETLK, &whole) == 0) && lks_clock_ms() < until)
            (void)poll(NULL, 0, LOOK_MS);
        if (fd >= 0)
            (void)close(fd);
        if (!got)
            return lks_fail(err, LKS_E_UNAVAILABLE, "%s: another process holds it", locks[i]);
    }
    return LKS_OK;
}

/* Half-way is where a killed one stopped: unpacked and not configured, or not even that. What
 * dpkg cannot put in order alone, the files of the order can. */
static enum lks_code repair(const struct lks_packages *w, struct lks_err *err)
{
    static const char *const configure[] = {
        "dpkg", "--force-confold", "--force-confdef", "--configure", "-a", NULL};
    const char *unpack[LKS_TOOL_ARGS_MAX] = {"dpkg", "--force-confold", "--force-confdef",
                                             "--force-downgrade", "--unpack"};
    size_t count = 5;
    if (lks_tool_run(&(struct lks_tool){.argv = configure}, err) == LKS_OK)
        return LKS_OK;
    for (size_t i = 0; i < w->count && count + 1 < LKS_TOOL_ARGS_MAX; i++) {
        if (!w->list[i].goes)
            unpack[count++] = w->list[i].path;
    }
    struct lks_err ignored = {0};
    if (count > 5)
        (void)!lks_tool_run(&(struct lks_tool){.argv = unpack}, &ignored);
    return lks_tool_run(&(struct lks_tool){.argv = configure}, err);
}

/* Packages that need to be unpacked once more are no business of apt's before they were. */
static enum lks_code repair_half(const struct lks_packages *w, struct lks_err *err)
{
    for (size_t i = 0; i < w->count; i++) {
        const struct lks_package *p = &w->list[i];
        if (p->goes || strstr(p->found, "half-installed") == NULL)
            continue;
        const char *argv[] = {"dpkg",
                              "--force-confold",
                              "--force-confdef",
                              "--force-downgrade",
                              "--force-depends",
                              "--unpack",
                              p->path,
                              NULL};
        if (lks_tool_run(&(struct lks_tool){.argv = argv}, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

static enum lks_code hold(const struct lks_packages *w, struct lks_err *err)
{
    const char *argv[LKS_TOOL_ARGS_MAX] = {"apt-mark", "hold"};
    size_t count = 2;
    for (size_t i = 0; i < w->count && count + 1 < LKS_TOOL_ARGS_MAX; i++) {
        if (!w->list[i].goes)
            argv[count++] = w->list[i].name;
    }
    return count > 2 ? lks_tool_run(&(struct lks_tool){.argv = argv}, err) : LKS_OK;
}

static enum lks_code change(struct lks_packages *w, struct lks_err *err)
{
    if (wait_for_dpkg(err) != LKS_OK || look_all(w, err) != LKS_OK) /* as it is now */
        return err->code;
    if (repair_half(w, err) != LKS_OK || repair(w, err) != LKS_OK || ask_apt(w, err) != LKS_OK ||
        install(w, err) != LKS_OK || hold(w, err) != LKS_OK)
        return err->code;
    return LKS_OK;
}

static enum lks_code run(struct lks_job *job, struct lks_buf *said, struct lks_err *err)
{
    static const struct lks_packages_ops ops = {
        .ask = ask_file, .look = look_all, .change = change};
    return lks_packages_run(&ops, job, said, err);
}

int main(int argc, char **argv)
{
    return lks_executor_main(argc, argv, LKS_ORDER_APT, run);
}
