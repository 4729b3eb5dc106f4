/* The programs between a job and its GPUs: container run times, the toolkits of the vendors, the
 * daemons of the fabric, the schedulers' agents. Each is asked its version; all are started before
 * the first is waited for. Two are read instead of asked: enroot makes directories whatever it is
 * asked, and pyxis is no program. */
#include "codec/notation/version.h"
#include "codec/package/cdi.h"
#include "probe/root/command.h"
#include "probe/root/probe.h"
#include "probe/root/probes.h"

#include <ctype.h>
#include <stdio.h>
#include <unistd.h>

enum {
    PROGRAMS_MAX = 4,   /* of one name, in different directories */
    OUTPUT_MAX = 16384, /* of a program that is asked its version */
    ANSWER_MAX = 32768,
    TEXT_SIZE = LKS_ROOT_PATH_MAX + 128,
    SCRIPT_MAX = 256 * 1024,
    PLUGIN_MAX = 16 * 1024 * 1024,
    OVERLAP = 128, /* bytes a text may be cut by the end of a piece */
};

#define NODE    LKS_STR("")
#define NO_PART LKS_STR("")

/* How a component is asked, and what stands before the version in its answer. */
static const struct asked {
    const char *component;
    const char *programs[3]; /* the first that is there is the one that counts */
    const char *argument;
    const char *before;
} asked[] = {
    {"container-toolkit", {"nvidia-ctk", "nvidia-container-runtime-hook"}, "--version", "version "},
    {"libnvidia-container", {"nvidia-container-cli"}, "--version", "lib-version:"},
    {"amd-container-toolkit", {"amd-ctk"}, "--version", "version"},
    {"containerd", {"containerd"}, "--version", "containerd"},
    {"docker", {"dockerd"}, "--version", "Docker version "},
    {"podman", {"podman"}, "--version", "podman version "},
    {"cri-o", {"crio"}, "--version", "crio version "},
    {"kubelet", {"kubelet"}, "--version", "Kubernetes "},
    {"slurmd", {"slurmd"}, "-V", "slurm"},
    {"fabric-manager", {"nv-fabricmanager"}, "--version", "Fabric Manager version is"},
    {"imex", {"nvidia-imex"}, "--version", "IMEX version is"},
    {"dcgm", {"nv-hostengine", "dcgmi"}, "--version", "ersion"},
};

/* One program that was found and started. */
struct started {
    const struct asked *asked;
    struct lks_command command;
    struct stat st;
    enum lks_code code; /* not LKS_OK: it was not started, for the reason in `err` */
    struct lks_err err;
};

struct run {
    struct lks_probe *p;
    struct started *list;
    size_t count;
};

/* Versions in texts -------------------------------------------------------------------------- */

/* A word that is a version: digits, a dot, a digit, and what makers put behind them. */
static bool is_version(struct lks_str word)
{
    size_t at = 0;
    while (at < word.len && isdigit((unsigned char)word.ptr[at]))
        at++;
    if (at == 0 || at + 1 >= word.len || word.ptr[at] != '.' ||
        !isdigit((unsigned char)word.ptr[at + 1]))
        return false;
    for (; at < word.len; at++) {
        char c = word.ptr[at];
        if (c == '\0' || (!isalnum((unsigned char)c) && strchr(".+~-_", c) == NULL))
            return false;
    }
    return word.len <= LKS_VERSION_LEN_MAX;
}

/* The first word behind `before` that is a version, without a 'v', a comma and the mark of a
 * source that a distribution repacked. */
static struct lks_str version_in(struct lks_str text, const char *before)
{
    struct lks_str word;
    ptrdiff_t at = lks_str_find(text, lks_str_from(before));
    if (at < 0)
        return NODE;
    size_t skip = (size_t)at + strlen(before);
    text = (struct lks_str){text.ptr + skip, text.len - skip};
    while (lks_str_word(&text, &word)) {
        if (word.ptr[0] == 'v')
            word = (struct lks_str){word.ptr + 1, word.len - 1};
        if (word.len > 0 && word.ptr[word.len - 1] == ',')
            word.len--;
        if (is_version(word))
            return lks_str_find(word, LKS_STR("-")) < 0 ? lks_version_upstream(word) : word;
    }
    return NODE;
}

/* Programs ----------------------------------------------------------------------------------- */

static bool is_known(const struct run *run, const struct stat *st)
{
    for (size_t i = 0; i < run->count; i++) {
        const struct stat *other = &run->list[i].st;
        if (st->st_ino != 0 && other->st_ino == st->st_ino && other->st_dev == st->st_dev)
            return true;
    }
    return false;
}

/* All of one name, each file once: the directories of some systems are links to each other. */
static size_t start_program(struct run *run, const struct asked *a, const char *program)
{
    size_t dir = 0, found = 0;
    const char *args[] = {a->argument, NULL};
    while (found < PROGRAMS_MAX) {
        char path[LKS_ROOT_PATH_MAX];
        struct started *s = &run->list[run->count];
        struct stat st = {0};
        struct lks_err err = {0};
        enum lks_code code = lks_command_find(run->p->root, program, &dir, path, &st, &err);
        if (code == LKS_E_NOT_FOUND)
            break;
        if (is_known(run, &st))
            continue;
        *s = (struct started){.asked = a, .st = st, .code = code, .err = err};
        if (code == LKS_OK)
            lks_command_start(&s->command, run->p->root, path, args, OUTPUT_MAX, 0, LKS_COMMAND_MS);
        else
            snprintf(s->command.path, sizeof(s->command.path), "%s", path);
        run->count++;
        found++;
    }
    return found;
}

static void start_all(struct run *run)
{
    for (size_t i = 0; i < LKS_COUNT(asked); i++) {
        size_t found = 0;
        for (size_t j = 0; asked[i].programs[j] != NULL && found == 0; j++)
            found = start_program(run, &asked[i], asked[i].programs[j]);
    }
}

/* The first of a component is what its daemon's unit or a shell would run, as a rule; others are
 * copies beside it. */
static void collect_one(struct lks_probe *p, struct started *s, bool first)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(ANSWER_MAX);
    char evidence[TEXT_SIZE], name[LKS_READING_NAME_MAX];
    lks_command_text(&s->command, evidence, sizeof(evidence));
    snprintf(name, sizeof(name), "%s%s", first ? "" : "copy.", s->asked->component);
    struct lks_str of = first ? NODE : lks_str_from(s->command.path);
    struct lks_str part = first ? NO_PART : LKS_STR("system");
    if (s->code == LKS_OK)
        s->code = lks_command_collect(&s->command, p->root, &answer, &s->err);
    if (s->code != LKS_OK) { /* the program is there, so it is not absent */
        lks_probe_unmeasured(p, name, of, evidence, "%s", s->err.msg);
        return;
    }
    struct lks_str version = version_in(lks_buf_view(&answer), s->asked->before);
    if (version.len == 0)
        lks_probe_unmeasured(p, name, of, evidence, "says no version: %.100s",
                             answer.ptr != NULL ? answer.ptr : "");
    else
        lks_probe_value(p, name, of, part, version, evidence);
}

static void collect_all(struct run *run)
{
    for (size_t i = 0; i < run->count; i++)
        collect_one(run->p, &run->list[i], i == 0 || run->list[i].asked != run->list[i - 1].asked);
}

/* The name of the library says its version, where there is no program to ask. */
static bool say_library(struct lks_probe *p)
{
    static const char *const dirs[] = {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
                                       "/usr/lib64"};
    static const char library[] = "libnvidia-container.so.1";
    for (size_t i = 0; i < LKS_COUNT(dirs); i++) {
        char path[LKS_ROOT_PATH_MAX], target[LKS_ROOT_PATH_MAX];
        struct lks_err err;
        snprintf(path, sizeof(path), "%s/%s", dirs[i], library);
        if (lks_root_link(p->root, path, target, &err) != LKS_OK)
            continue;
        const char *version = strstr(target, ".so.");
        if (version == NULL || !is_version(lks_str_from(version + 4)))
            continue;
        lks_probe_value(p, "libnvidia-container", NODE, NO_PART, lks_str_from(version + 4), path);
        return true;
    }
    return false;
}

static void say_missing(const struct run *run)
{
    for (size_t i = 0; i < LKS_COUNT(asked); i++) {
        bool there = false;
        for (size_t j = 0; j < run->count; j++)
            there = there || run->list[j].asked == &asked[i];
        bool library = strcmp(asked[i].component, "libnvidia-container") == 0;
        if (there || (library && say_library(run->p)))
            continue;
        char evidence[TEXT_SIZE];
        lks_command_looked(asked[i].programs[0], evidence, sizeof(evidence));
        lks_probe_absent(run->p, asked[i].component, NODE, evidence);
    }
}

/* enroot ------------------------------------------------------------------------------------- */

/* A script that has its version in a line of its own: export ENROOT_VERSION="3.5.0" */
static void say_enroot(struct lks_probe *p)
{
    char path[LKS_ROOT_PATH_MAX];
    struct stat st;
    struct lks_err err = {0};
    size_t dir = 0;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(SCRIPT_MAX);
    enum lks_code code = lks_command_find(p->root, "enroot", &dir, path, &st, &err);
    if (code == LKS_OK)
        code = lks_root_read(p->root, path, SCRIPT_MAX, &text, &err);
    if (code != LKS_OK) {
        char looked[TEXT_SIZE];
        lks_command_looked("enroot", looked, sizeof(looked));
        lks_probe_failed(p, "enroot", NODE, code == LKS_E_NOT_FOUND ? looked : path, &err);
        return;
    }
    static const struct lks_str mark = LKS_STR_C("ENROOT_VERSION=\"");
    ptrdiff_t at = lks_str_find(lks_buf_view(&text), mark);
    struct lks_str version = {text.ptr, 0}, rest;
    if (at >= 0)
        version = (struct lks_str){text.ptr + at + mark.len, text.len - (size_t)at - mark.len};
    if (lks_str_cut(version, '"', &version, &rest) && is_version(version))
        lks_probe_value(p, "enroot", NODE, NO_PART, version, path);
    else
        lks_probe_unmeasured(p, "enroot", NODE, path, "does not say ENROOT_VERSION");
}

/* pyxis -------------------------------------------------------------------------------------- */

struct plugin {
    struct lks_root *root;
    const char *path;
};

/* The version in a piece of the plugin, which logs "pyxis: version v0.21.0" when it starts. */
static bool find_version(struct lks_str piece, struct lks_buf *out)
{
    static const struct lks_str mark = LKS_STR_C("pyxis: version v");
    ptrdiff_t at = lks_str_find(piece, mark);
    if (at < 0)
        return false;
    struct lks_str rest = {piece.ptr + at + mark.len, piece.len - (size_t)at - mark.len}, version;
    if (!lks_str_cut(rest, '\0', &version, &rest) || !is_version(version))
        return false;
    lks_buf_add(out, version);
    return true;
}

static enum lks_code read_plugin(void *ctx, struct lks_buf *out, struct lks_err *err)
{
    const struct plugin *plugin = ctx;
    char piece[8192];
    struct stat st;
    int fd = -1;
    if (lks_root_file(plugin->root, plugin->path, &fd, &st, err) != LKS_OK)
        return err->code;
    bool found = false;
    for (off_t at = 0; !found && at < PLUGIN_MAX; at += (off_t)(sizeof(piece) - OVERLAP)) {
        ssize_t n = pread(fd, piece, sizeof(piece), at);
        if (n <= 0)
            break;
        found = find_version((struct lks_str){piece, (size_t)n}, out);
    }
    (void)close(fd);
    return found ? LKS_OK : lks_fail(err, LKS_E_INVALID, "%s: has no version in it", plugin->path);
}

static void say_pyxis(struct lks_probe *p)
{
    static const char *const dirs[] = {"/usr/lib/x86_64-linux-gnu/slurm",
                                       "/usr/lib/x86_64-linux-gnu/slurm-wlm",
                                       "/usr/lib/aarch64-linux-gnu/slurm",
                                       "/usr/lib/aarch64-linux-gnu/slurm-wlm",
                                       "/usr/lib64/slurm",
                                       "/usr/lib/slurm",
                                       "/usr/local/lib/slurm",
                                       "/usr/local/lib64/slurm",
                                       "/opt/slurm/lib/slurm",
                                       "/opt/slurm/lib64/slurm"};
    for (size_t i = 0; i < LKS_COUNT(dirs); i++) {
        char path[LKS_ROOT_PATH_MAX];
        struct lks_err err = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf version = LKS_BUF(LKS_VERSION_LEN_MAX);
        snprintf(path, sizeof(path), "%s/spank_pyxis.so", dirs[i]);
        if (!lks_root_exists(p->root, path))
            continue;
        struct plugin plugin = {p->root, path};
        if (lks_root_ask_file(p->root, "pyxis", path, read_plugin, &plugin, &version, &err) ==
            LKS_OK)
            lks_probe_value(p, "pyxis", NODE, NO_PART, lks_buf_view(&version), path);
        else
            lks_probe_failed(p, "pyxis", NODE, path, &err);
        return;
    }
    lks_probe_absent(p, "pyxis", NODE, "no spank_pyxis.so in the directories of Slurm's plugins");
}

/* CDI ---------------------------------------------------------------------------------------- */

static void say_spec(struct lks_probe *p, const char *path)
{
    char of[TEXT_SIZE];
    struct lks_cdi cdi = {0};
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_CDI_BYTES_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf value = {0};
    lks_buf_init(&value, sizeof(cdi.versions) + LKS_CDI_VERSIONS_MAX);
    snprintf(of, sizeof(of), "cdi %s", path);
    if (lks_root_read(p->root, path, LKS_CDI_BYTES_MAX, &text, &err) != LKS_OK ||
        lks_cdi_parse(lks_buf_view(&text), &cdi, &err) != LKS_OK) {
        lks_probe_unmeasured(p, "cdi.driver", lks_str_from(of), path, "%s", err.msg);
        return;
    }
    for (size_t i = 0; i < cdi.count; i++)
        lks_buf_addf(&value, "%s%s", i > 0 ? " " : "", cdi.versions[i]);
    if (cdi.count > 0)
        lks_probe_value(p, "cdi.driver", lks_str_from(of), NO_PART, lks_buf_view(&value), path);
    else
        lks_probe_absent(p, "cdi.driver", lks_str_from(of), path);
}

static bool is_spec(struct lks_str name)
{
    static const char *const ends[] = {".yaml", ".json"};
    for (size_t i = 0; i < LKS_COUNT(ends); i++) {
        size_t len = strlen(ends[i]);
        if (name.len > len && memcmp(name.ptr + name.len - len, ends[i], len) == 0)
            return name.ptr[0] != '.';
    }
    return false;
}

static void say_specs(struct lks_probe *p)
{
    static const char *const dirs[] = {"/etc/cdi", "/var/run/cdi"};
    bool found = false;
    for (size_t i = 0; i < LKS_COUNT(dirs); i++) {
        struct lks_names names = {0};
        struct lks_err err = {0};
        enum lks_code code = lks_root_list(p->root, dirs[i], p->arena, &names, &err);
        if (code != LKS_OK && code != LKS_E_NOT_FOUND) {
            found = true;
            lks_probe_unmeasured(p, "cdi.driver", NODE, dirs[i], "%s", err.msg);
        }
        for (size_t j = 0; j < names.count; j++) {
            char path[LKS_ROOT_PATH_MAX];
            snprintf(path, sizeof(path), "%s/%" LKS_STR_FMT, dirs[i], LKS_STR_ARG(names.list[j]));
            if (is_spec(names.list[j]))
                say_spec(p, path);
            found = found || is_spec(names.list[j]);
        }
    }
    if (!found)
        lks_probe_absent(p, "cdi.driver", NODE, "no specification in /etc/cdi or /var/run/cdi");
}

void lks_probe_containers(struct lks_probe *p)
{
    struct run run = {.p = p};
    run.list = lks_arena_array(p->arena, LKS_COUNT(asked) * PROGRAMS_MAX + 1, sizeof(*run.list));
    if (run.list != NULL)
        start_all(&run);
    say_enroot(p); /* while they run */
    say_pyxis(p);
    say_specs(p);
    collect_all(&run);
    if (run.list != NULL)
        say_missing(&run);
}
