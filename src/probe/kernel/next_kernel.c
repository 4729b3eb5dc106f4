#include "probe/kernel/next_kernel.h"

#include "codec/machine/bootcfg.h"
#include "codec/notation/version.h"

#include <fnmatch.h>
#include <stdlib.h>

#define ENTRY_FILES_MAX 256
#define SHOWN_MAX       120 /* bytes of a title or id in a message */
#define EFIVAR_MAX      4096
#define EFIVARS         "/sys/firmware/efi/efivars/"
#define LOADER_GUID     "4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"

/* One look at the machine: what was read lives in its arena, what was found in the probe's. */
struct look {
    struct lks_probe *p;
    struct lks_arena arena;
    struct lks_boot_entry entries[ENTRY_FILES_MAX];
    size_t count;
    struct lks_next_kernel found;
    struct lks_str wanted; /* the release whose entry is looked for, or empty: the default */
    struct lks_boot_target target;
    struct lks_err why; /* why the boot loader's configuration does not tell */
};

static int shown(struct lks_str s)
{
    return (int)(s.len < SHOWN_MAX ? s.len : SHOWN_MAX);
}

static void measured(struct look *l, struct lks_str release, struct lks_str evidence)
{
    l->found = (struct lks_next_kernel){
        .state = LKS_MEASURED,
        .release = lks_arena_copy(l->p->arena, release),
        .evidence = lks_arena_copy(l->p->arena, evidence),
    };
}

/* A file as a view that lives as long as the look. */
static enum lks_code read_text(struct look *l, const char *dir, const char *name, size_t max,
                               struct lks_str *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    struct lks_str path = lks_arena_format(&l->arena, "%s%s", dir, name);
    lks_buf_init(&text, max);
    if (path.ptr == NULL)
        return lks_arena_fail(&l->arena, err);
    if (lks_root_read(l->p->root, path.ptr, max, &text, err) != LKS_OK)
        return err->code;
    struct lks_str copy = lks_arena_copy(&l->arena, lks_buf_view(&text));
    if (copy.ptr == NULL)
        return lks_arena_fail(&l->arena, err);
    *out = copy;
    return LKS_OK;
}

/* The release by the name of what `dir`/`name` is a link to. */
static struct lks_str linked_release(struct look *l, const char *dir, struct lks_str name)
{
    char target[LKS_ROOT_PATH_MAX];
    struct lks_err err = {0};
    struct lks_str path = lks_arena_format(&l->arena, "%s/%" LKS_STR_FMT, dir, LKS_STR_ARG(name));
    if (path.ptr == NULL || lks_root_link(l->p->root, path.ptr, target, &err) != LKS_OK)
        return (struct lks_str){0};
    return lks_bootcfg_release(lks_arena_copy(&l->arena, lks_str_from(target)));
}

/* The release of a kernel by its path as a boot loader has it, which leaves out where the file
 * system is mounted. */
static struct lks_str release_of(struct look *l, struct lks_str path)
{
    struct lks_str release = lks_bootcfg_release(path);
    if (release.len > 0 || path.len == 0)
        return release;
    struct lks_str name = lks_str_last(path, '/');
    release = linked_release(l, "/boot", name);
    return release.len > 0 ? release : linked_release(l, "", name);
}

/* Entries of the Boot Loader Specification ---------------------------------------------------- */

static int entry_cmp(const void *a, const void *b)
{
    return lks_bootcfg_entry_cmp(a, b);
}

/* Add those of `dir` in the order of a menu. A directory that is not there has none. */
static enum lks_code read_entries(struct look *l, const char *dir, struct lks_err *err)
{
    struct lks_names names = {0};
    enum lks_code code = lks_root_list(l->p->root, dir, &l->arena, &names, err);
    if (code != LKS_OK)
        return code == LKS_E_NOT_FOUND ? LKS_OK : code;
    for (size_t i = 0; i < names.count; i++) {
        struct lks_str text = {0};
        struct lks_str name =
            lks_arena_format(&l->arena, "/%" LKS_STR_FMT, LKS_STR_ARG(names.list[i]));
        if (!lks_str_ends(names.list[i], ".conf"))
            continue;
        if (name.ptr == NULL)
            return lks_arena_fail(&l->arena, err);
        if (l->count == ENTRY_FILES_MAX)
            return lks_fail(err, LKS_E_LIMIT, "%s: more than %d entries", dir, ENTRY_FILES_MAX);
        if (read_text(l, dir, name.ptr, LKS_BOOT_ENTRY_MAX, &text, err) != LKS_OK)
            return err->code;
        lks_bootcfg_entry_parse(names.list[i], text, &l->entries[l->count++]);
    }
    if (l->count > 0)
        qsort(l->entries, l->count, sizeof(l->entries[0]), entry_cmp);
    return LKS_OK;
}

/* GRUB ---------------------------------------------------------------------------------------- */

static enum lks_code read_grub(struct look *l, const char *dir, struct lks_str *env,
                               struct lks_err *err)
{
    struct lks_str custom = lks_arena_format(&l->arena, "%s/custom.cfg", dir);
    if (custom.ptr == NULL)
        return lks_arena_fail(&l->arena, err);
    if (lks_root_exists(l->p->root, custom.ptr))
        return lks_fail(err, LKS_E_REFUSED, "custom.cfg beside it may change the default");
    enum lks_code code = read_text(l, dir, "/grubenv", LKS_BOOT_ENTRY_MAX, env, err);
    if (code != LKS_OK && code != LKS_E_NOT_FOUND)
        return code;
    l->count = 0;
    return read_entries(l, "/boot/loader/entries", err);
}

static enum lks_code grub_choose(struct look *l, const char *dir, struct lks_str cfg,
                                 struct lks_grub_choice *out, struct lks_err *err)
{
    struct lks_str env = {0};
    if (read_grub(l, dir, &env, err) != LKS_OK)
        return err->code;
    return lks_grub_default(cfg, env, l->entries, l->count, &l->arena, out, err);
}

static void take_target(struct look *l, enum lks_boot_loader loader, struct lks_str folder,
                        struct lks_str id)
{
    l->target = (struct lks_boot_target){
        .loader = loader,
        .folder = lks_arena_copy(l->p->arena, folder),
        .id = lks_arena_copy(l->p->arena, id),
    };
}

/* The entry of the kernel that is wanted, in this GRUB. */
static enum lks_code grub_target(struct look *l, const char *dir, struct lks_str cfg,
                                 struct lks_err *err)
{
    struct lks_str env = {0}, id = {0};
    if (read_grub(l, dir, &env, err) != LKS_OK ||
        lks_grub_entry_of(cfg, l->entries, l->count, l->wanted, &l->arena, &id, err) != LKS_OK) {
        err->code = err->code == LKS_E_NOT_FOUND ? LKS_E_REFUSED : err->code;
        return lks_wrap(err, "%s/grub.cfg", dir);
    }
    take_target(l, LKS_BOOT_GRUB, lks_str_from(dir), id);
    return LKS_OK;
}

static enum lks_code from_grub(struct look *l, const char *dir, struct lks_err *err)
{
    struct lks_str cfg = {0};
    struct lks_grub_choice choice = {0};
    if (read_text(l, dir, "/grub.cfg", LKS_BOOT_CFG_MAX, &cfg, err) != LKS_OK)
        return err->code;
    if (l->wanted.len > 0)
        return grub_target(l, dir, cfg, err);
    if (grub_choose(l, dir, cfg, &choice, err) != LKS_OK) {
        err->code = err->code == LKS_E_NOT_FOUND ? LKS_E_REFUSED : err->code;
        return lks_wrap(err, "%s/grub.cfg", dir);
    }
    struct lks_str release = release_of(l, choice.kernel);
    if (release.len == 0)
        return lks_fail(err, LKS_E_REFUSED, "%s/grub.cfg: entry '%.*s' names no kernel's release",
                        dir, shown(choice.title), choice.title.len > 0 ? choice.title.ptr : "");
    struct lks_str evidence = lks_arena_format(
        &l->arena, "%s/grub.cfg: default '%.*s'%s", dir, shown(choice.wanted),
        choice.wanted.len > 0 ? choice.wanted.ptr : "", choice.once ? " for the next boot" : "");
    measured(l, release, evidence);
    return LKS_OK;
}

/* NOT_FOUND when there is no GRUB. */
static enum lks_code from_any_grub(struct look *l, struct lks_err *err)
{
    static const char *const dirs[] = {"/boot/grub", "/boot/grub2"};
    for (size_t i = 0; i < LKS_COUNT(dirs); i++) {
        enum lks_code code = from_grub(l, dirs[i], err);
        if (code != LKS_E_NOT_FOUND)
            return code;
    }
    struct lks_names vendors = {0};
    if (lks_root_list(l->p->root, "/boot/efi/EFI", &l->arena, &vendors, err) != LKS_OK)
        return lks_fail(err, LKS_E_NOT_FOUND, "no grub.cfg");
    for (size_t i = 0; i < vendors.count; i++) {
        struct lks_str dir = lks_arena_format(&l->arena, "/boot/efi/EFI/%" LKS_STR_FMT,
                                              LKS_STR_ARG(vendors.list[i]));
        enum lks_code code =
            dir.ptr != NULL ? from_grub(l, dir.ptr, err) : lks_arena_fail(&l->arena, err);
        if (code != LKS_E_NOT_FOUND)
            return code;
    }
    return lks_fail(err, LKS_E_NOT_FOUND, "no grub.cfg");
}

/* systemd-boot -------------------------------------------------------------------------------- */

static const char *const esps[] = {"/efi", "/boot", "/boot/efi"};

/* An EFI variable of the boot loader interface: 4 bytes of attributes, then text in UTF-16. Empty
 * when there is none, or none in ASCII. */
static struct lks_str loader_variable(struct look *l, const char *name)
{
    struct lks_str bytes = {0}, path = lks_arena_format(&l->arena, "%s-" LOADER_GUID, name);
    struct lks_err err = {0};
    if (path.ptr == NULL || read_text(l, EFIVARS, path.ptr, EFIVAR_MAX, &bytes, &err) != LKS_OK ||
        bytes.len < 4)
        return (struct lks_str){0};
    char *text = lks_arena_alloc(&l->arena, bytes.len);
    size_t len = 0;
    for (size_t i = 4; text != NULL && i + 1 < bytes.len; i += 2) {
        char c = bytes.ptr[i];
        if (c == '\0' && bytes.ptr[i + 1] == '\0')
            break;
        if (bytes.ptr[i + 1] != '\0' || c < ' ' || c > '~')
            return (struct lks_str){0};
        text[len++] = c;
    }
    return (struct lks_str){text, len};
}

/* What loader.conf says of `default`. */
static struct lks_str loader_default(struct look *l)
{
    struct lks_err err = {0};
    for (size_t i = 0; i < LKS_COUNT(esps); i++) {
        struct lks_str text = {0};
        if (read_text(l, esps[i], "/loader/loader.conf", LKS_BOOT_ENTRY_MAX, &text, &err) == LKS_OK)
            return lks_bootcfg_loader_value(text, "default");
    }
    return (struct lks_str){0};
}

/* The first entry that fits a pattern; ids are written with and without ".conf". */
static const struct lks_boot_entry *matching(struct look *l, struct lks_str pattern)
{
    struct lks_str glob = lks_arena_copy(&l->arena, pattern);
    for (size_t i = 0; i < l->count && glob.len > 0; i++) {
        struct lks_str id =
            lks_arena_format(&l->arena, "%" LKS_STR_FMT ".conf", LKS_STR_ARG(l->entries[i].id));
        if (id.ptr == NULL)
            return NULL;
        char *bare = lks_arena_alloc(&l->arena, id.len + 1);
        if (bare == NULL)
            return NULL;
        memcpy(bare, id.ptr, id.len - strlen(".conf"));
        if (fnmatch(glob.ptr, id.ptr, 0) == 0 || fnmatch(glob.ptr, bare, 0) == 0)
            return &l->entries[i];
    }
    return NULL;
}

/* Images that hold kernel and command line in one file are entries too, and carry their release
 * inside. */
static bool has_images(struct look *l)
{
    for (size_t i = 0; i < LKS_COUNT(esps); i++) {
        struct lks_names names = {0};
        struct lks_err err = {0};
        struct lks_str dir = lks_arena_format(&l->arena, "%s/EFI/Linux", esps[i]);
        if (dir.ptr == NULL ||
            lks_root_list(l->p->root, dir.ptr, &l->arena, &names, &err) != LKS_OK)
            continue;
        for (size_t k = 0; k < names.count; k++) {
            if (lks_str_ends(names.list[k], ".efi"))
                return true;
        }
    }
    return false;
}

/* As systemd-boot asks for them, each before the next. */
static const struct lks_boot_entry *loader_choose(struct look *l, struct lks_str *wanted)
{
    struct lks_str conf = loader_default(l);
    bool saved = lks_str_is(conf, "@saved");
    const struct lks_str patterns[] = {
        loader_variable(l, "LoaderEntryOneShot"),
        loader_variable(l, "LoaderEntryDefault"),
        saved ? loader_variable(l, "LoaderEntryLastBooted") : conf,
    };
    for (size_t i = 0; i < LKS_COUNT(patterns); i++) {
        const struct lks_boot_entry *e = matching(l, patterns[i]);
        *wanted = patterns[i];
        if (e != NULL)
            return e;
    }
    *wanted = (struct lks_str){0};
    return &l->entries[0];
}

static struct lks_str entry_release(struct look *l, const struct lks_boot_entry *e)
{
    struct lks_str release = release_of(l, e->kernel);
    return release.len > 0 ? release : lks_bootcfg_release(e->version);
}

/* The entry of the kernel that is wanted; one without attempts left is not started. */
static enum lks_code systemd_target(struct look *l, struct lks_err *err)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct lks_boot_entry *e = &l->entries[i];
        if (e->bad || !lks_str_eq(entry_release(l, e), l->wanted))
            continue;
        struct lks_str id =
            lks_arena_format(&l->arena, "%" LKS_STR_FMT ".conf", LKS_STR_ARG(e->id));
        if (id.ptr == NULL)
            return lks_arena_fail(&l->arena, err);
        take_target(l, LKS_BOOT_SYSTEMD, LKS_STR("loader/entries"), id);
        return LKS_OK;
    }
    return lks_fail(err, LKS_E_REFUSED, "loader/entries: no entry starts kernel %" LKS_STR_FMT,
                    LKS_STR_ARG(l->wanted));
}

static enum lks_code from_systemd_boot(struct look *l, struct lks_err *err)
{
    l->count = 0;
    for (size_t i = 0; i < LKS_COUNT(esps); i++) {
        struct lks_str dir = lks_arena_format(&l->arena, "%s/loader/entries", esps[i]);
        if (dir.ptr == NULL)
            return lks_arena_fail(&l->arena, err);
        if (read_entries(l, dir.ptr, err) != LKS_OK)
            return err->code;
    }
    if (has_images(l))
        return lks_fail(err, LKS_E_REFUSED, "EFI/Linux: unified kernel images are not read");
    if (l->count == 0)
        return lks_fail(err, LKS_E_NOT_FOUND, "no entries for a boot loader");
    if (l->wanted.len > 0)
        return systemd_target(l, err);
    struct lks_str wanted;
    const struct lks_boot_entry *e = loader_choose(l, &wanted);
    struct lks_str release = entry_release(l, e);
    if (release.len == 0)
        return lks_fail(err, LKS_E_REFUSED, "entry '%.*s' names no kernel's release", shown(e->id),
                        e->id.ptr);
    measured(l, release,
             lks_arena_format(&l->arena, "loader/entries/%.*s.conf: default '%.*s'", shown(e->id),
                              e->id.ptr, shown(wanted), wanted.len > 0 ? wanted.ptr : ""));
    return LKS_OK;
}

/* Without a boot loader that tells ------------------------------------------------------------ */

static bool is_kernel_file(struct lks_str name)
{
    static const char *const starts[] = {"vmlinuz", "vmlinux", "Image-", "kernel-"};
    for (size_t i = 0; i < LKS_COUNT(starts); i++) {
        if (lks_str_starts(name, starts[i]))
            return true;
    }
    return false;
}

/* Installed as it should be: a kernel to start, and the modules it loads. */
static struct lks_str newest_installed(struct look *l, const struct lks_names *boot)
{
    struct lks_str newest = {0};
    for (size_t i = 0; i < boot->count; i++) {
        struct lks_str release = lks_bootcfg_release(boot->list[i]);
        if (!is_kernel_file(boot->list[i]) || release.len == 0)
            continue;
        struct lks_str modules =
            lks_arena_format(&l->arena, "/lib/modules/%" LKS_STR_FMT, LKS_STR_ARG(release));
        if (modules.ptr == NULL || !lks_root_exists(l->p->root, modules.ptr))
            continue;
        if (newest.len == 0 || lks_version_cmp(release, newest, LKS_VERSION_FIRMWARE) > 0)
            newest = release;
    }
    return newest;
}

/* What there is to go by when the boot loader does not tell; the evidence says which. */
static void fall_back(struct look *l, const struct lks_names *boot)
{
    const char *why = l->why.code != LKS_OK ? l->why.msg : "no boot loader's configuration";
    struct lks_str release = linked_release(l, "/boot", LKS_STR("vmlinuz"));
    const char *how = "/boot/vmlinuz, a link";
    if (release.len == 0) {
        release = newest_installed(l, boot);
        how = "newest installed under /boot";
    }
    if (release.len > 0) {
        measured(l, release, lks_arena_format(&l->arena, "%s (%s)", how, why));
        l->found.guessed = true;
        return;
    }
    l->found = (struct lks_next_kernel){
        .state = LKS_UNMEASURED,
        .why = lks_arena_copy(l->p->arena, lks_str_from(why)),
        .evidence = LKS_STR("/boot"),
    };
}

static void without_loader(struct look *l, bool loader)
{
    struct lks_names boot = {0};
    struct lks_err err = {0};
    enum lks_code code = lks_root_list(l->p->root, "/boot", &l->arena, &boot, &err);
    bool kernel = loader;
    for (size_t i = 0; i < boot.count && !kernel; i++)
        kernel = is_kernel_file(boot.list[i]);
    if (code != LKS_OK && code != LKS_E_NOT_FOUND)
        l->found = (struct lks_next_kernel){
            .state = LKS_UNMEASURED,
            .why = lks_arena_copy(l->p->arena, lks_str_from(err.msg)),
            .evidence = LKS_STR("/boot"),
        };
    else if (!kernel)
        l->found = (struct lks_next_kernel){.state = LKS_ABSENT, .evidence = LKS_STR("/boot")};
    else
        fall_back(l, &boot);
}

/* The boot loader that started this machine comes first, if it says which one it is. */
static enum lks_code ask_loaders(struct look *l, struct lks_err *err)
{
    bool systemd = lks_str_starts(loader_variable(l, "LoaderInfo"), "systemd-boot");
    enum lks_code code = systemd ? from_systemd_boot(l, err) : from_any_grub(l, err);
    if (code == LKS_E_NOT_FOUND)
        code = systemd ? from_any_grub(l, err) : from_systemd_boot(l, err);
    return code;
}

static struct look *look_new(struct lks_probe *p, struct lks_str wanted)
{
    struct look *l = calloc(1, sizeof(*l));
    if (l == NULL)
        return NULL;
    l->p = p;
    l->wanted = wanted;
    lks_arena_init(&l->arena, LKS_BOOT_MEMORY_MAX);
    return l;
}

static void look_free(struct look *l)
{
    lks_arena_fini(&l->arena);
    free(l);
}

struct lks_next_kernel lks_next_kernel(struct lks_probe *p)
{
    struct lks_next_kernel found = {
        .state = LKS_UNMEASURED, .why = LKS_STR("out of memory"), .evidence = LKS_STR("/boot")};
    struct look *l = look_new(p, (struct lks_str){0});
    if (l == NULL)
        return found;
    enum lks_code code = ask_loaders(l, &l->why);
    if (code != LKS_OK)
        without_loader(l, code != LKS_E_NOT_FOUND);
    found = l->found;
    look_free(l);
    return found;
}

enum lks_code lks_next_kernel_boot_target(struct lks_probe *p, struct lks_str release,
                                          struct lks_boot_target *out, struct lks_err *err)
{
    struct look *l = look_new(p, release);
    if (l == NULL)
        return lks_fail_nomem(err);
    enum lks_code code = ask_loaders(l, err);
    *out = l->target;
    look_free(l);
    if (code == LKS_OK && (out->folder.ptr == NULL || out->id.ptr == NULL))
        return lks_fail_nomem(err);
    return code;
}
