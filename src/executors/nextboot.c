#include "executors/nextboot.h"

#include "codec/machine/bootcfg.h"
#include "executors/executor.h"
#include "executors/tool.h"
#include "probe/kernel/next_kernel.h"

#include <stdio.h>
#include <unistd.h>

enum { VALUE_SIZE = LKS_BOOT_PATH_MAX + 32 };

/* The machine, as the probe of kernels reads it. */
struct machine {
    struct lks_root root;
    struct lks_arena arena;
    struct lks_probe probe;
};

static void machine_fini(struct machine *m)
{
    lks_root_close(&m->root);
    lks_arena_fini(&m->arena);
}

static enum lks_code machine_open(struct machine *m, struct lks_err *err)
{
    lks_arena_init(&m->arena, LKS_BOOT_MEMORY_MAX);
    m->probe = (struct lks_probe){.root = &m->root, .arena = &m->arena};
    return lks_root_open(NULL, NULL, &m->root, err);
}

struct lks_str lks_nextboot_of(const struct lks_order *order)
{
    for (size_t i = 0; i < order->count; i++) {
        if (lks_str_is(order->items[i].component, "kernel"))
            return order->items[i].value;
    }
    return (struct lks_str){0};
}

/* What the boot loader says; a guess from the files of /boot is none. */
static enum lks_code read_next(struct machine *m, struct lks_str *out, struct lks_err *err)
{
    struct lks_next_kernel next = lks_next_kernel(&m->probe);
    if (next.state == LKS_MEASURED && !next.guessed) {
        *out = next.release;
        return LKS_OK;
    }
    struct lks_str why = next.state == LKS_UNMEASURED ? next.why : next.evidence;
    return lks_fail(err, LKS_E_REFUSED,
                    "no boot loader says which kernel boots next (%" LKS_STR_FMT
                    "); set it up, or install kernels by an image",
                    LKS_STR_ARG(why));
}

bool lks_nextboot_is(struct lks_str release)
{
    LKS_CLEANUP(machine_fini) struct machine m = {.root = {.fd = -1, .capture = -1}};
    struct lks_err ignored = {0};
    struct lks_str next = {0};
    if (release.len == 0)
        return true;
    return machine_open(&m, &ignored) == LKS_OK && read_next(&m, &next, &ignored) == LKS_OK &&
           lks_str_eq(next, release);
}

/* Half of a boot loader's file is a machine that does not start: its program goes on to its end. */
static enum lks_code tell(const char *const *argv, struct lks_err *err)
{
    return lks_tool_run(
        &(struct lks_tool){.argv = argv, .lock = lks_executor_lock(), .apart = true}, err);
}

/* What was asked for the next boot alone would come before the default. */
static enum lks_code tell_grub(const struct lks_boot_target *t, struct lks_err *err)
{
    char file[PATH_MAX], value[VALUE_SIZE];
    const char *program = lks_tool_there("grub-editenv") ? "grub-editenv" : "grub2-editenv";
    const char *set[] = {program, file, "set", value, NULL};
    const char *unset[] = {program, file, "unset", "next_entry", NULL};
    snprintf(file, sizeof(file), "%.*s/grubenv", LKS_STR_ARG(t->folder));
    snprintf(value, sizeof(value), "saved_entry=%.*s", LKS_STR_ARG(t->id));
    return tell(set, err) == LKS_OK ? tell(unset, err) : err->code;
}

static enum lks_code tell_systemd_boot(const struct lks_boot_target *t, struct lks_err *err)
{
    char id[VALUE_SIZE];
    const char *set[] = {"bootctl", "set-default", id, NULL};
    const char *unset[] = {"bootctl", "set-oneshot", "", NULL};
    snprintf(id, sizeof(id), "%.*s", LKS_STR_ARG(t->id));
    return tell(set, err) == LKS_OK ? tell(unset, err) : err->code;
}

/* A kernel is on the disk before it is the default, and what is said to be the default is, too:
 * tools do not wait for the disk. */
static enum lks_code tell_loader(struct machine *m, struct lks_str release, struct lks_err *err)
{
    struct lks_boot_target target = {0};
    if (lks_next_kernel_boot_target(&m->probe, release, &target, err) != LKS_OK)
        return err->code;
    sync();
    enum lks_code code =
        target.loader == LKS_BOOT_GRUB ? tell_grub(&target, err) : tell_systemd_boot(&target, err);
    sync();
    return code;
}

static enum lks_code set(struct machine *m, struct lks_str release, struct lks_err *err)
{
    struct lks_str next = {0};
    if (tell_loader(m, release, err) != LKS_OK || read_next(m, &next, err) != LKS_OK)
        return err->code;
    if (!lks_str_eq(next, release))
        return lks_fail(err, LKS_E_REFUSED, "the boot loader starts kernel %" LKS_STR_FMT,
                        LKS_STR_ARG(next));
    return LKS_OK;
}

enum lks_code lks_nextboot_keep(struct lks_str release, struct lks_err *err)
{
    LKS_CLEANUP(machine_fini) struct machine m = {.root = {.fd = -1, .capture = -1}};
    struct lks_str next = {0};
    if (release.len == 0)
        return LKS_OK;
    if (machine_open(&m, err) != LKS_OK || read_next(&m, &next, err) != LKS_OK ||
        set(&m, next, err) != LKS_OK)
        return lks_wrap(err, "kernel %" LKS_STR_FMT " cannot be made the default",
                        LKS_STR_ARG(release));
    return LKS_OK;
}

enum lks_code lks_nextboot_set(struct lks_str release, struct lks_err *err)
{
    LKS_CLEANUP(machine_fini) struct machine m = {.root = {.fd = -1, .capture = -1}};
    if (release.len == 0 || lks_nextboot_is(release))
        return LKS_OK;
    if (machine_open(&m, err) != LKS_OK || set(&m, release, err) != LKS_OK)
        return lks_wrap(err, "kernel %" LKS_STR_FMT " is not the default", LKS_STR_ARG(release));
    return LKS_OK;
}

void lks_nextboot_say(struct lks_str release, struct lks_buf *said)
{
    if (release.len > 0)
        lks_buf_addf(said, ", and the next boot starts kernel %" LKS_STR_FMT, LKS_STR_ARG(release));
}
