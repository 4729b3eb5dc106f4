/* The NVIDIA driver's numbers: of the module that is loaded, of the one on disk that the next load
 * would take, and of the library that programs talk to it through. And the modules beside it. */
#include "probe/kernel/module.h"
#include "probe/library/libread.h"
#include "probe/library/loader.h"
#include "probe/root/probes.h"

#include <stdio.h>

#define MODULE       "/sys/module/nvidia"
#define PROC_VERSION "/proc/driver/nvidia/version"
#define NONE         LKS_STR("")

static void value(struct lks_probe *p, const char *name, const char *text, const char *evidence)
{
    lks_probe_value(p, name, NONE, NONE, lks_str_from(text), evidence);
}

/* The loaded module -------------------------------------------------------------------------- */

struct loaded {
    char version[LKS_ROOT_LINE_MAX]; /* empty: not loaded, or not known */
    const char *evidence;
    char banner[LKS_ROOT_LINE_MAX]; /* first line of PROC_VERSION, or empty */
    bool there;                     /* a module is loaded */
    char why[LKS_ERR_MSG_MAX];      /* its version is not known */
};

/* "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build ...": the
 * first word of digits and dots. */
static bool version_in(const char *banner, char out[LKS_ROOT_LINE_MAX])
{
    struct lks_str rest = lks_str_from(banner), word;
    while (lks_str_word(&rest, &word)) {
        size_t dots = 0, others = 0;
        for (size_t i = 0; i < word.len; i++) {
            dots += word.ptr[i] == '.';
            others += word.ptr[i] != '.' && (word.ptr[i] < '0' || word.ptr[i] > '9');
        }
        if (dots == 0 || others > 0 || word.ptr[0] == '.')
            continue;
        snprintf(out, LKS_ROOT_LINE_MAX, "%" LKS_STR_FMT, LKS_STR_ARG(word));
        return true;
    }
    return false;
}

static void look_at_loaded(struct lks_probe *p, struct loaded *l)
{
    struct lks_err err = {0};
    *l = (struct loaded){.evidence = MODULE "/version"};
    enum lks_code proc = lks_root_line(p->root, PROC_VERSION, l->banner, &err);
    if (proc != LKS_OK)
        l->banner[0] = '\0';
    enum lks_code code = lks_root_line(p->root, MODULE "/version", l->version, &err);
    l->there = code != LKS_E_NOT_FOUND || proc == LKS_OK || lks_root_exists(p->root, MODULE);
    if (code == LKS_OK)
        return;
    l->version[0] = '\0';
    snprintf(l->why, sizeof(l->why), "%s",
             code == LKS_E_NOT_FOUND ? "the loaded module does not say its version" : err.msg);
    if (version_in(l->banner, l->version))
        l->evidence = PROC_VERSION;
}

static void tell_flavour(struct lks_probe *p, const struct loaded *l)
{
    const char *name = "driver.modules";
    if (!l->there)
        lks_probe_absent(p, name, NONE, PROC_VERSION);
    else if (l->banner[0] == '\0')
        lks_probe_unmeasured(p, name, NONE, PROC_VERSION, "%s is not there or cannot be read",
                             PROC_VERSION);
    else if (strstr(l->banner, "Open Kernel Module") != NULL)
        value(p, name, "open", PROC_VERSION);
    else if (strstr(l->banner, "Kernel Module") != NULL)
        value(p, name, "proprietary", PROC_VERSION);
    else
        lks_probe_unmeasured(p, name, NONE, PROC_VERSION, "unexpected text '%.100s'", l->banner);
}

static void tell_loaded(struct lks_probe *p, const struct loaded *l)
{
    if (l->version[0] != '\0')
        value(p, "driver.loaded", l->version, l->evidence);
    else if (l->there)
        lks_probe_unmeasured(p, "driver.loaded", NONE, l->evidence, "%s", l->why);
    else
        lks_probe_absent(p, "driver.loaded", NONE, l->evidence);
    tell_flavour(p, l);
    lks_probe_line(p, "driver.build.srcversion", NONE, MODULE "/srcversion");
}

/* The module on disk ------------------------------------------------------------------------- */

static enum lks_code find_on_disk(struct lks_probe *p, char path[LKS_ROOT_PATH_MAX],
                                  struct lks_err *err)
{
    char release[LKS_ROOT_LINE_MAX];
    if (lks_root_line(p->root, "/proc/sys/kernel/osrelease", release, err) != LKS_OK)
        return err->code;
    return lks_module_find(p->root, release, "nvidia", path, err);
}

static void tell_hash(struct lks_probe *p, const char *path)
{
    char sha256[LKS_SHA256_TEXT_SIZE];
    struct lks_err err = {0};
    struct lks_libread reader = {.root = p->root, .arena = p->arena};
    if (!p->options->libraries)
        return; /* who does not hash files says nothing of their hashes */
    if (lks_libread_sha256(&reader, lks_str_from(path), sha256, &err) == LKS_OK)
        value(p, "driver.build.sha256", sha256, path);
    else
        lks_probe_failed(p, "driver.build.sha256", NONE, path, &err);
}

static bool tell_disk(struct lks_probe *p)
{
    const char *name = "driver.disk";
    char path[LKS_ROOT_PATH_MAX];
    struct lks_modinfo info;
    struct lks_err err = {0};
    if (find_on_disk(p, path, &err) != LKS_OK) {
        lks_probe_failed(p, name, NONE, "/lib/modules", &err);
        return err.code != LKS_E_NOT_FOUND;
    }
    if (lks_module_info(p->root, path, &info, &err) != LKS_OK)
        lks_probe_failed(p, name, NONE, path, &err);
    else if (info.version[0] == '\0')
        lks_probe_unmeasured(p, name, NONE, path, "the module does not say its version");
    else
        value(p, name, info.version, path);
    tell_hash(p, path);
    return true;
}

/* The library -------------------------------------------------------------------------------- */

/* Programs take the CUDA library; NVML is of the same make, and stands for it where that is not. */
static const char *const library_names[] = {"libcuda.so.1", "libnvidia-ml.so.1"};

/* Where drivers that came in a container put it, which the loader of the host does not know. */
static const char *const library_places[] = {
    "/run/nvidia/driver/usr/lib/x86_64-linux-gnu",
    "/run/nvidia/driver/usr/lib/aarch64-linux-gnu",
    "/run/nvidia/driver/usr/lib64",
    "/usr/local/nvidia/lib64",
    "/usr/lib/wsl/lib",
};

static bool find_library(struct lks_probe *p, char path[LKS_ROOT_PATH_MAX])
{
    struct lks_loadables all = {0};
    struct lks_err err;
    char at[LKS_ROOT_PATH_MAX];
    if (lks_loader_read(p->root, p->arena, &all, &err) != LKS_OK)
        all.count = 0;
    for (size_t i = 0; i < LKS_COUNT(library_names); i++) {
        for (size_t k = 0; k < all.count; k++) {
            snprintf(at, sizeof(at), "%" LKS_STR_FMT, LKS_STR_ARG(all.list[k].path));
            if (lks_str_is(all.list[k].name, library_names[i]) &&
                lks_root_real(p->root, at, path, &err) == LKS_OK)
                return true;
        }
        for (size_t k = 0; k < LKS_COUNT(library_places); k++) {
            snprintf(at, sizeof(at), "%s/%s", library_places[k], library_names[i]);
            if (lks_root_real(p->root, at, path, &err) == LKS_OK)
                return true;
        }
    }
    return false;
}

static void tell_of_library(struct lks_probe *p, const char *name, struct lks_str text,
                            const char *path, const char *why)
{
    if (text.len > 0)
        lks_probe_value(p, name, NONE, NONE, text, path);
    else
        lks_probe_unmeasured(p, name, NONE, path, "%s", why);
}

static bool tell_library(struct lks_probe *p)
{
    const char *names[] = {"driver.library", "driver.build.build_id"};
    char path[LKS_ROOT_PATH_MAX];
    struct lks_err err = {0};
    struct lks_libread reader = {.root = p->root, .arena = p->arena};
    struct lks_library library = {0};
    if (!find_library(p, path)) {
        for (size_t i = 0; i < LKS_COUNT(names); i++)
            lks_probe_absent(p, names[i], NONE, library_names[0]);
        return false;
    }
    struct lks_str at = lks_str_from(path);
    bool read = lks_libread(&reader, at, lks_str_last(at, '/'), &library, &err) == LKS_OK;
    tell_of_library(p, names[0], library.version, path,
                    read ? "the library does not say its version" : err.msg);
    tell_of_library(p, names[1], library.build_id, path,
                    read ? "the library has no build-id" : err.msg);
    return true;
}

/* Modules beside it -------------------------------------------------------------------------- */

static const struct lks_str_pair beside[] = {
    {"nvidia-peermem", "/sys/module/nvidia_peermem"},
    {"gds", "/sys/module/nvidia_fs"},
    {"gdrcopy", "/sys/module/gdrdrv"},
};

static void tell_beside(struct lks_probe *p, const char *name, const char *module)
{
    char path[128], line[LKS_ROOT_LINE_MAX];
    struct lks_err err = {0};
    snprintf(path, sizeof(path), "%s/version", module);
    enum lks_code code = lks_root_line(p->root, path, line, &err);
    if (code == LKS_OK)
        value(p, name, line, path);
    else if (code == LKS_E_NOT_FOUND && lks_root_exists(p->root, module))
        lks_probe_unmeasured(p, name, NONE, path, "the loaded module does not say its version");
    else
        lks_probe_failed(p, name, NONE, path, &err);
}

/* -------------------------------------------------------------------------------------------- */

void lks_probe_driver(struct lks_probe *p)
{
    struct loaded loaded;
    look_at_loaded(p, &loaded);
    tell_loaded(p, &loaded);
    bool on_disk = tell_disk(p);
    bool library = tell_library(p);
    if (loaded.version[0] != '\0')
        value(p, "driver", loaded.version, loaded.evidence);
    else if (loaded.there)
        lks_probe_unmeasured(p, "driver", NONE, loaded.evidence, "%s", loaded.why);
    else if (on_disk || library)
        lks_probe_unmeasured(p, "driver", NONE, MODULE, "the module is not loaded");
    else
        lks_probe_absent(p, "driver", NONE, MODULE);
    for (size_t i = 0; i < LKS_COUNT(beside); i++)
        tell_beside(p, beside[i].name, beside[i].value);
    if (!loaded.there && !on_disk && !library)
        lks_probe_absent(p, "settings.gds", NONE, "/sys/module/nvidia_fs");
    else
        value(p, "settings.gds",
              lks_root_exists(p->root, "/sys/module/nvidia_fs") ? "true" : "false",
              "/sys/module/nvidia_fs");
}
