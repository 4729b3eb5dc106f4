/*
 * What a boot loader's configuration says it will start: the script and the environment block of
 * GRUB, and entries as the Boot Loader Specification has them (GRUB of Fedora and its kin,
 * systemd-boot).
 *
 * grub.cfg is a script. What decides the default entry is understood: variables, `if` with tests of
 * them, menu entries. A condition on what only GRUB knows at boot (the platform, a key held down)
 * is neither true nor false, and a default that hangs on one is refused rather than guessed.
 * Functions are not followed: what they set is only known at boot once they are called. Other files
 * that the script runs may set anything, so it is refused. Two are passed over: custom.cfg, which
 * is for the caller to look for, and user.cfg where the script asks whether it is there, the place
 * that grub2-setpassword has for its password.
 */
#ifndef LKS_CODEC_BOOTCFG_H
#define LKS_CODEC_BOOTCFG_H

#include "base/arena.h"

#define LKS_BOOT_CFG_MAX       ((size_t)1 << 20) /* bytes of a script */
#define LKS_BOOT_ENTRY_MAX     ((size_t)64 << 10)
#define LKS_BOOT_ENTRIES_MAX   1024
#define LKS_BOOT_DEPTH_MAX     16  /* blocks and submenus within each other */
#define LKS_BOOT_VARS_MAX      512 /* variables of a script */
#define LKS_BOOT_WORDS_MAX     128 /* of a command that are looked at */
#define LKS_BOOT_FUNCTIONS_MAX 64
#define LKS_BOOT_PATH_MAX      768 /* bytes of an entry's path; the environment block has 1024 */
#define LKS_BOOT_MEMORY_MAX    ((size_t)16 << 20)

/* Entries of the Boot Loader Specification ---------------------------------------------------- */

/* Views of the text and of the file's name. */
struct lks_boot_entry {
    struct lks_str id; /* the file's name without ".conf" and its counter of attempts */
    struct lks_str title, version, kernel, sort_key, machine_id;
    bool bad; /* no attempt left: comes last */
};

/* One file: lines of a key, blanks and a value. Of a key that is repeated the first counts. */
void lks_bootcfg_entry_parse(struct lks_str file, struct lks_str text, struct lks_boot_entry *out);

/* The order of the menu, where the first is taken when nothing else is said: negative when `a`
 * comes before `b`. */
int lks_bootcfg_entry_cmp(const struct lks_boot_entry *a, const struct lks_boot_entry *b);

/* The value of `wanted` in loader.conf, which has lines of the same form; the last counts. */
struct lks_str lks_bootcfg_loader_value(struct lks_str text, const char *wanted);

/* GRUB ---------------------------------------------------------------------------------------- */

struct lks_grub_choice {
    struct lks_str wanted; /* what `default` says: an index, an id or a title; perhaps empty */
    struct lks_str title;  /* of the entry that is taken */
    struct lks_str kernel; /* path of the kernel as GRUB has it; empty: it starts none */
    bool once;             /* asked for the next boot alone */
};

/* The entry that `cfg` starts with the environment `env` (the bytes of grubenv, or empty). `bls`
 * stands where the script says blscfg, in the order of its menu. Texts live in `arena` or are views
 * of the arguments. REFUSED when it depends on what is only known at boot, and NOT_FOUND when the
 * menu is empty; the message says which. */
enum lks_code lks_grub_default(struct lks_str cfg, struct lks_str env,
                               const struct lks_boot_entry *bls, size_t bls_count,
                               struct lks_arena *arena, struct lks_grub_choice *out,
                               struct lks_err *err) LKS_MUST_CHECK;

/* The entry of kernel `release`, as the saved default names it ("SUBMENU>ENTRY"); it lives in
 * `arena`. Its own name has the release, so that it starts no other kernel once a newer one is
 * installed. NOT_FOUND when no entry starts it, and REFUSED when the script would not take it as
 * its saved entry; the message says what to change. */
enum lks_code lks_grub_entry_of(struct lks_str cfg, const struct lks_boot_entry *bls,
                                size_t bls_count, struct lks_str release, struct lks_arena *arena,
                                struct lks_str *out, struct lks_err *err) LKS_MUST_CHECK;

/* The value of `wanted` in an environment block; empty when it has none. */
struct lks_str lks_bootcfg_grub_env(struct lks_str env, struct lks_str wanted);

/* The release a kernel's path is named after ("/boot/vmlinuz-6.8.0-90-generic"), as a view of it;
 * empty when the name does not say. */
struct lks_str lks_bootcfg_release(struct lks_str path);

#endif
