/* The running kernel and the next one, what they are told, what is built for them, and the
 * distribution around them. */
#include "base/secret.h"
#include "probe/kernel/module.h"
#include "probe/kernel/next_kernel.h"
#include "probe/root/probes.h"

#include <stdio.h>

#define NONE              LKS_STR("")
#define CMDLINE_MAX       ((size_t)64 << 10)
#define OS_RELEASE_MAX    ((size_t)64 << 10)
#define NCCL_CONF_MAX     ((size_t)256 << 10)
#define NCCL_VARS_MAX     1024
#define VARIABLE_MAX      128 /* bytes of its name */
#define SETTING_MAX       ((size_t)8 << 10)
#define DKMS_MODULES_MAX  256
#define DKMS_VERSIONS_MAX 64

/* Command line ------------------------------------------------------------------------------- */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Take the next parameter off `rest` as the kernel does: blanks within double quotes belong to it,
 * and a quote cannot be escaped. */
static bool next_parameter(struct lks_str *rest, struct lks_str *out)
{
    size_t from = 0;
    if (rest->len == 0)
        return false;
    while (from < rest->len && is_space(rest->ptr[from]))
        from++;
    size_t to = from;
    for (bool quoted = false; to < rest->len && (quoted || !is_space(rest->ptr[to])); to++)
        quoted = quoted != (rest->ptr[to] == '"');
    *out = (struct lks_str){rest->ptr + from, to - from};
    *rest = (struct lks_str){rest->ptr + to, rest->len - to};
    return out->len > 0;
}

static void read_cmdline(struct lks_probe *p)
{
    static const char name[] = "settings.kernel_cmdline", path[] = "/proc/cmdline";
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(CMDLINE_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf list = LKS_BUF(LKS_READING_VALUE_MAX);
    struct lks_err err = {0};
    struct lks_str one;
    if (lks_root_read(p->root, path, CMDLINE_MAX, &text, &err) != LKS_OK) {
        lks_probe_failed(p, name, NONE, path, &err);
        return;
    }
    struct lks_str rest = lks_buf_view(&text);
    while (rest.len > 0 && rest.ptr[rest.len - 1] == '\n')
        rest.len--;
    /* What follows "--" is for init and none of the kernel's business. */
    while (next_parameter(&rest, &one) && !lks_str_is(one, "--")) {
        if (list.len > 0)
            lks_buf_addc(&list, ' ');
        lks_buf_add(&list, one);
    }
    if (lks_buf_check(&list, &err) != LKS_OK)
        lks_probe_unmeasured(p, name, NONE, path, "%s: longer than %d bytes", path,
                             LKS_READING_VALUE_MAX);
    else if (!lks_str_printable(lks_buf_view(&list)))
        lks_probe_unmeasured(p, name, NONE, path, "%s: does not hold text", path);
    else
        lks_probe_value(p, name, NONE, NONE, lks_buf_view(&list), path);
}

/* Distribution ------------------------------------------------------------------------------- */

/* The value of KEY=VALUE as a shell reads it: quotes taken off, and within double ones what a
 * backslash protects. False when it is not written so. */
static bool unquote(struct lks_str value, struct lks_buf *out)
{
    value = lks_str_trim(value);
    char quote = value.len > 0 && (value.ptr[0] == '"' || value.ptr[0] == '\'') ? value.ptr[0] : 0;
    if (quote != 0 && (value.len < 2 || value.ptr[value.len - 1] != quote))
        return false;
    size_t from = quote != 0, to = value.len - (quote != 0);
    for (size_t i = from; i < to; i++) {
        if (value.ptr[i] == '\\' && quote != '\'' && i + 1 < to)
            i++;
        lks_buf_addc(out, value.ptr[i]);
    }
    return lks_str_printable(lks_buf_view(out));
}

/* The last line of `text` that gives `key`, which is how a shell would have it. */
static bool os_field(struct lks_str text, const char *wanted, struct lks_buf *out)
{
    struct lks_str found = {0};
    for (bool more = true; more;) {
        struct lks_str line, key, value;
        more = lks_str_cut(text, '\n', &line, &text);
        if (lks_str_cut(line, '=', &key, &value) && lks_str_is(lks_str_trim(key), wanted))
            found = value;
    }
    return unquote(found, out);
}

static void read_os(struct lks_probe *p)
{
    static const char name[] = "platform.os";
    const char *path = "/etc/os-release";
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(OS_RELEASE_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf id = LKS_BUF(LKS_READING_NAME_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf version = LKS_BUF(LKS_READING_NAME_MAX);
    struct lks_err err = {0};
    enum lks_code code = lks_root_read(p->root, path, OS_RELEASE_MAX, &text, &err);
    if (code == LKS_E_NOT_FOUND) {
        path = "/usr/lib/os-release";
        code = lks_root_read(p->root, path, OS_RELEASE_MAX, &text, &err);
    }
    if (code != LKS_OK) {
        lks_probe_failed(p, name, NONE, path, &err);
        return;
    }
    bool ok = os_field(lks_buf_view(&text), "ID", &id) &&
              os_field(lks_buf_view(&text), "VERSION_ID", &version);
    bool named = id.len > 0;
    if (version.len > 0)
        lks_buf_addf(&id, " %s", version.ptr);
    if (ok && named && lks_buf_check(&id, &err) == LKS_OK)
        lks_probe_value(p, name, NONE, NONE, lks_buf_view(&id), path);
    else
        lks_probe_unmeasured(p, name, NONE, path, "%s: does not say which it is", path);
}

/* DKMS --------------------------------------------------------------------------------------- */

/* Whether `dir` (MODULE/VERSION/KERNEL) has a module for one of the architectures in it. */
static enum lks_code is_built(struct lks_probe *p, const char *dir, bool *out, struct lks_err *err)
{
    struct lks_names arches = {0};
    *out = false;
    enum lks_code code = lks_root_list(p->root, dir, p->arena, &arches, err);
    if (code != LKS_OK)
        return code == LKS_E_NOT_FOUND ? LKS_OK : code;
    for (size_t i = 0; i < arches.count; i++) {
        struct lks_names files = {0};
        struct lks_str path = lks_arena_format(p->arena, "%s/%" LKS_STR_FMT "/module", dir,
                                               LKS_STR_ARG(arches.list[i]));
        if (path.ptr == NULL)
            return lks_arena_fail(p->arena, err);
        code = lks_root_list(p->root, path.ptr, p->arena, &files, err);
        if (code != LKS_OK && code != LKS_E_NOT_FOUND && code != LKS_E_INVALID)
            return code;
        for (size_t k = 0; k < files.count; k++)
            *out = *out || lks_module_is_file(files.list[k]);
    }
    return LKS_OK;
}

/* One version of a module that DKMS has. */
struct dkms {
    struct lks_str module, version;
    struct lks_str dir; /* of what is built for the next kernel */
    enum lks_code code; /* whether it could be told; `why` if not */
    bool built;
    struct lks_err why;
};

static void look_at_dkms(struct lks_probe *p, const struct lks_next_kernel *next, struct dkms *d)
{
    if (next->state != LKS_MEASURED) {
        d->dir = next->evidence;
        d->code = lks_fail(&d->why, LKS_E_UNAVAILABLE,
                           "%" LKS_STR_FMT "/%" LKS_STR_FMT ": the next kernel is not known",
                           LKS_STR_ARG(d->module), LKS_STR_ARG(d->version));
        return;
    }
    d->dir = lks_arena_format(
        p->arena, "/var/lib/dkms/%" LKS_STR_FMT "/%" LKS_STR_FMT "/%" LKS_STR_FMT,
        LKS_STR_ARG(d->module), LKS_STR_ARG(d->version), LKS_STR_ARG(next->release));
    d->code = d->dir.ptr != NULL ? is_built(p, d->dir.ptr, &d->built, &d->why)
                                 : lks_arena_fail(p->arena, &d->why);
}

/* DKMS builds the newest version alone: an older one beside it lacks nothing. */
static void say_dkms(struct lks_probe *p, const struct dkms *d, bool another,
                     const struct lks_next_kernel *next)
{
    struct lks_str of = lks_arena_format(p->arena, "dkms %" LKS_STR_FMT, LKS_STR_ARG(d->module));
    const char *evidence = d->dir.ptr != NULL ? d->dir.ptr : "/var/lib/dkms";
    if (of.ptr == NULL)
        return;
    if (d->code != LKS_OK) {
        lks_probe_unmeasured(p, "platform.dkms", of, evidence, "%s", d->why.msg);
        return;
    }
    const char *how = d->built  ? " built"
                      : another ? " beside another that is built"
                                : " not built for ";
    struct lks_str kernel = d->built || another ? NONE : next->release;
    struct lks_str value =
        lks_arena_format(p->arena, "%" LKS_STR_FMT "/%" LKS_STR_FMT "%s%" LKS_STR_FMT,
                         LKS_STR_ARG(d->module), LKS_STR_ARG(d->version), how, LKS_STR_ARG(kernel));
    if (value.ptr != NULL)
        lks_probe_value(p, "platform.dkms", of, NONE, value, evidence);
}

/* Beside its versions a module has links by kernel ("kernel-6.8.0-90-generic-x86_64"), and the
 * module it replaced. */
static bool is_version(struct lks_probe *p, struct lks_str module, struct lks_str name)
{
    struct stat st;
    struct lks_err err = {0};
    if (lks_str_starts(name, "kernel-") || lks_str_is(name, "original_module"))
        return false;
    struct lks_str path = lks_arena_format(p->arena, "/var/lib/dkms/%" LKS_STR_FMT "/%" LKS_STR_FMT,
                                           LKS_STR_ARG(module), LKS_STR_ARG(name));
    return path.ptr != NULL && lks_root_stat(p->root, path.ptr, &st, &err) == LKS_OK &&
           S_ISDIR(st.st_mode);
}

/* How many versions of `module` there are, each said. */
static size_t read_dkms_module(struct lks_probe *p, struct lks_str module,
                               const struct lks_next_kernel *next)
{
    struct lks_names names = {0};
    struct lks_err err = {0};
    struct lks_str path =
        lks_arena_format(p->arena, "/var/lib/dkms/%" LKS_STR_FMT, LKS_STR_ARG(module));
    if (path.ptr == NULL || lks_root_list(p->root, path.ptr, p->arena, &names, &err) != LKS_OK)
        return 0; /* keys and notes of DKMS itself */
    size_t count = 0, most = names.count < DKMS_VERSIONS_MAX ? names.count : DKMS_VERSIONS_MAX;
    struct dkms *all = lks_arena_array(p->arena, most + 1, sizeof(*all));
    bool any = false;
    for (size_t i = 0; all != NULL && i < names.count && count < most; i++) {
        if (!is_version(p, module, names.list[i]))
            continue;
        all[count] = (struct dkms){.module = module, .version = names.list[i]};
        look_at_dkms(p, next, &all[count]);
        any = any || all[count].built;
        count++;
    }
    for (size_t i = 0; i < count; i++)
        say_dkms(p, &all[i], any, next);
    return count;
}

static void read_dkms(struct lks_probe *p, const struct lks_next_kernel *next)
{
    static const char dir[] = "/var/lib/dkms";
    struct lks_names modules = {0};
    struct lks_err err = {0};
    if (lks_root_list(p->root, dir, p->arena, &modules, &err) != LKS_OK) {
        lks_probe_failed(p, "platform.dkms", NONE, dir, &err);
        return;
    }
    size_t found = 0;
    for (size_t i = 0; i < modules.count && i < DKMS_MODULES_MAX; i++)
        found += read_dkms_module(p, modules.list[i], next);
    if (found == 0)
        lks_probe_absent(p, "platform.dkms", NONE, dir);
}

/* Settings from files ------------------------------------------------------------------------ */

struct nccl {
    struct lks_str seen[NCCL_VARS_MAX];
    size_t count;
};

/* One line as NCCL reads it: no blanks taken off, a '#' comments only at its beginning, and of a
 * variable that is repeated the first stays. */
static void read_variable(struct lks_probe *p, struct nccl *n, struct lks_str line, unsigned at)
{
    static const char path[] = "/etc/nccl.conf";
    struct lks_str key, value;
    if (line.len == 0 || line.ptr[0] == '#' || !lks_str_cut(line, '=', &key, &value))
        return;
    struct lks_str plain = lks_str_trim(key);
    for (size_t i = 0; i < n->count; i++) {
        if (lks_str_eq(n->seen[i], key))
            return;
    }
    if (!lks_str_is_variable(plain) || plain.len > VARIABLE_MAX || n->count == NCCL_VARS_MAX)
        return;
    n->seen[n->count++] = key;
    char name[LKS_READING_NAME_MAX];
    snprintf(name, sizeof(name), "tuning.env.%" LKS_STR_FMT, LKS_STR_ARG(plain));
    if (plain.len != key.len)
        lks_probe_unmeasured(p, name, NONE, path,
                             "line %u: NCCL takes the blanks for a part of the name", at);
    else if (lks_secret_key(key))
        lks_probe_unmeasured(p, name, NONE, path, "line %u: resembles a secret, not kept", at);
    else
        lks_probe_value(p, name, NONE, NONE, value, path);
}

static void read_nccl_conf(struct lks_probe *p)
{
    static const char path[] = "/etc/nccl.conf";
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(NCCL_CONF_MAX);
    struct lks_err err = {0};
    struct nccl *n = lks_arena_alloc(p->arena, sizeof(*n));
    if (n == NULL)
        return;
    enum lks_code code = lks_root_read(p->root, path, NCCL_CONF_MAX, &text, &err);
    if (code != LKS_OK) {
        if (code != LKS_E_NOT_FOUND)
            lks_probe_unmeasured(p, "tuning.env.*", NONE, path, "%s", err.msg);
        return;
    }
    struct lks_str rest = lks_buf_view(&text);
    unsigned at = 0;
    for (bool more = true; more;) {
        struct lks_str line;
        more = lks_str_cut(rest, '\n', &line, &rest);
        read_variable(p, n, line, ++at);
    }
}

/* Tabs between numbers, as many files of /proc/sys have them, become blanks. */
static bool one_line(struct lks_str text, struct lks_buf *out)
{
    while (text.len > 0 && is_space(text.ptr[text.len - 1]))
        text.len--;
    for (size_t i = 0; i < text.len; i++)
        lks_buf_addc(out, text.ptr[i] == '\t' ? ' ' : text.ptr[i]);
    return lks_str_printable(lks_buf_view(out));
}

static void read_other(struct lks_probe *p, struct lks_str file)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(SETTING_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf value = LKS_BUF(SETTING_MAX);
    struct lks_err err = {0};
    struct lks_str name =
        lks_arena_format(p->arena, "settings.other.%" LKS_STR_FMT, LKS_STR_ARG(file));
    if (name.ptr == NULL)
        return;
    const char *path = name.ptr + strlen("settings.other.");
    if (!lks_str_starts(file, "/proc/sys/") && !lks_str_starts(file, "/sys/"))
        lks_probe_unmeasured(p, name.ptr, NONE, path, "only files of /proc/sys and /sys are read");
    else if (lks_root_read(p->root, path, SETTING_MAX, &text, &err) != LKS_OK)
        lks_probe_failed(p, name.ptr, NONE, path, &err);
    else if (!one_line(lks_buf_view(&text), &value))
        lks_probe_unmeasured(p, name.ptr, NONE, path, "%s: is not one line of text", path);
    else
        lks_probe_value(p, name.ptr, NONE, NONE, lks_buf_view(&value), path);
}

void lks_probe_kernel(struct lks_probe *p)
{
    lks_probe_line(p, "kernel", NONE, "/proc/sys/kernel/osrelease");
    read_cmdline(p);
    read_os(p);
    struct lks_next_kernel next = lks_next_kernel(p);
    const char *evidence = next.evidence.ptr != NULL ? next.evidence.ptr : "/boot";
    if (next.state == LKS_MEASURED && next.release.ptr != NULL)
        lks_probe_value(p, "platform.next_kernel", NONE, NONE, next.release, evidence);
    else if (next.state == LKS_ABSENT)
        lks_probe_absent(p, "platform.next_kernel", NONE, evidence);
    else
        lks_probe_unmeasured(p, "platform.next_kernel", NONE, evidence, "%" LKS_STR_FMT,
                             LKS_STR_ARG(next.why));
    read_dkms(p, &next);
    read_nccl_conf(p);
    for (size_t i = 0; p->options->also != NULL && i < p->options->also->count; i++)
        read_other(p, p->options->also->list[i]);
}
