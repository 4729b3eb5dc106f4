/* Any bytes at all, parted by the first zero byte into a script and an environment: a choice that
 * is made holds when comments, empty lines and a variable nobody asks for are added to the script.
 */
#include "base/buf.h"
#include "codec/machine/bootcfg.h"

#include <stdint.h>

enum { TEXT_MAX = 256 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool chosen(struct lks_str cfg, struct lks_str env, struct lks_arena *arena,
                   struct lks_grub_choice *out)
{
    struct lks_boot_entry e;
    struct lks_err err = {0};
    lks_bootcfg_entry_parse(LKS_STR("4f1c-6.1+2-1.conf"), env, &e);
    enum lks_code code = lks_grub_default(cfg, env, &e, 1, arena, out, &err);
    LKS_ASSERT(code == LKS_OK || err.msg[0] != '\0');
    return code == LKS_OK;
}

/* The entry that is found for a kernel starts that kernel once it is the saved one. */
static void find_kernel(struct lks_str cfg, struct lks_str release, struct lks_arena *arena)
{
    struct lks_str path = {0};
    struct lks_err err = {0};
    struct lks_grub_choice choice = {0};
    if (lks_grub_entry_of(cfg, NULL, 0, release, arena, &path, &err) != LKS_OK) {
        LKS_ASSERT(err.msg[0] != '\0');
        return;
    }
    struct lks_str env =
        lks_arena_format(arena, "saved_entry=%" LKS_STR_FMT "\n", LKS_STR_ARG(path));
    if (env.ptr == NULL || lks_grub_default(cfg, env, NULL, 0, arena, &choice, &err) != LKS_OK)
        return; /* no memory left */
    LKS_ASSERT(lks_str_eq(lks_bootcfg_release(choice.kernel), release));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf more = LKS_BUF((size_t)2 * TEXT_MAX);
    struct lks_str cfg, env;
    struct lks_grub_choice once = {0}, twice = {0};
    if (size > TEXT_MAX)
        return 0;
    (void)lks_str_cut((struct lks_str){(const char *)data, size}, '\0', &cfg, &env);
    lks_arena_init(&arena, 4 * LKS_BOOT_MEMORY_MAX);
    struct lks_str release = lks_bootcfg_release(cfg);
    LKS_ASSERT(release.len <= cfg.len);
    if (!chosen(cfg, env, &arena, &once))
        return 0;
    lks_buf_addf(&more, "# a comment\n\nset nobody_asks_for_this=1\n");
    lks_buf_add(&more, cfg);
    if (!chosen(lks_buf_view(&more), env, &arena, &twice))
        return 0; /* one variable more than there may be */
    LKS_ASSERT(lks_str_eq(once.title, twice.title) && lks_str_eq(once.kernel, twice.kernel));
    LKS_ASSERT(lks_str_eq(once.wanted, twice.wanted) && once.once == twice.once);
    find_kernel(cfg, lks_bootcfg_release(once.kernel), &arena);
    return 0;
}
