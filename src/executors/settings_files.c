/* Settings that are files: of GRUB, of modprobe, of apt or dnf, of NCCL. Each is one file of ours,
 * or one line of a file that is not; what others put beside it stays. */
#include "base/file.h"
#include "executors/settings.h"
#include "executors/tool.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define GRUB_FILE     "/etc/default/grub.d/zz-lockstep.cfg"
#define GRUB_CFG      "/boot/grub/grub.cfg"
#define MODPROBE_FILE "/etc/modprobe.d/zz-lockstep-nvidia.conf"
#define MEMORY_OPTION "NVreg_CoherentGPUMemoryMode"
#define APT_FOLDER    "/etc/apt/apt.conf.d"
#define APT_FILE      APT_FOLDER "/zz-lockstep-upgrades"
#define UNIT_FOLDER   "/etc/systemd/system"
#define NCCL_FILE     "/etc/nccl.conf"

enum { FILE_MAX = 1 << 20, CFG_MAX = 4 << 20, LINE_SIZE = 8192 };

static bool there(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static enum lks_code read_text(const char *path, size_t max, struct lks_buf *out,
                               struct lks_err *err)
{
    lks_buf_init(out, max);
    enum lks_code code = lks_file_read_plain(path, out, err);
    return code == LKS_E_NOT_FOUND ? LKS_OK : code;
}

static enum lks_code is_text(const char *path, const char *wanted, bool *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    if (read_text(path, FILE_MAX, &text, err) != LKS_OK)
        return err->code;
    *out = wanted != NULL ? lks_str_is(lks_buf_view(&text), wanted) : !there(path);
    return LKS_OK;
}

/* For everybody to read, as such files are; NULL: it goes. */
static enum lks_code put_text(const char *path, const char *wanted, struct lks_err *err)
{
    if (wanted == NULL)
        return unlink(path) == 0 || errno == ENOENT ? lks_file_sync_parent(path, err)
                                                    : lks_file_fail(err, path);
    return lks_file_replace_as(path, 0644, lks_str_from(wanted), err);
}

static enum lks_code make_folder(const char *path, struct lks_err *err)
{
    return mkdir(path, 0755) == 0 || errno == EEXIST ? LKS_OK : lks_file_fail(err, path);
}

/* The kernel's command line ------------------------------------------------------------------ */

/* A file of GRUB is read by a shell: nothing may stand there that it would take for its own. */
static enum lks_code check_words(struct lks_str words, struct lks_err *err)
{
    for (size_t i = 0; i < words.len; i++) {
        char c = words.ptr[i];
        if (c < ' ' || c > '~' || strchr("\"'`$\\;&|<>()!#*?~", c) != NULL)
            return lks_fail(err, LKS_E_INVALID, "a parameter with '%c' cannot be set",
                            c < ' ' || c > '~' ? '?' : c);
    }
    return words.len < LINE_SIZE / 2 ? LKS_OK : lks_fail(err, LKS_E_LIMIT, "too many parameters");
}

#define GRUB_REMARK "# Written by lockstep; changes here are lost.\n"

static const char *grub_text(struct lks_str words, char out[LINE_SIZE])
{
    snprintf(out, LINE_SIZE,
             GRUB_REMARK "GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX %" LKS_STR_FMT "\"\n",
             LKS_STR_ARG(words));
    return words.len > 0 ? out : NULL;
}

/* Every entry that starts a kernel in the usual way has them: recovery entries do, too. */
static bool cfg_has(struct lks_str cfg, struct lks_str words)
{
    size_t entries = 0;
    for (struct lks_str line, word; cfg.len > 0;) {
        lks_str_cut(cfg, '\n', &line, &cfg);
        struct lks_str rest = lks_str_trim(line);
        if (!lks_str_word(&rest, &word) || !lks_str_starts(word, "linux"))
            continue;
        entries++;
        if (!lks_settings_words_hold(rest, words))
            return false;
    }
    return entries > 0;
}

/* The list that was there before, as words; grubby has to be told what goes. */
static struct lks_str words_before(struct lks_str list, char out[LINE_SIZE])
{
    size_t len = 0;
    for (size_t i = 0; i < list.len && len + 1 < LINE_SIZE; i++) {
        char c = list.ptr[i];
        if (strchr("[]\"", c) == NULL)
            out[len++] = c == ',' ? ' ' : c;
    }
    return (struct lks_str){out, len};
}

/* 'args="ro quiet"' of each entry: it has what is wanted, and of what went before nothing else. */
static bool entry_has(struct lks_str args, struct lks_str words, struct lks_str before)
{
    struct lks_str word;
    if (!lks_settings_words_hold(args, words))
        return false;
    while (lks_str_word(&before, &word)) {
        if (lks_settings_words_hold(args, word) && !lks_settings_words_hold(words, word))
            return false;
    }
    return true;
}

static enum lks_code placed_by_grubby(const struct lks_order_item *item, struct lks_str words,
                                      bool *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(CFG_MAX);
    static const char *const argv[] = {"grubby", "--info=ALL", NULL};
    char before[LINE_SIZE];
    struct lks_str gone = words_before(item->before, before);
    size_t entries = 0, good = 0;
    if (lks_tool_ask(argv, &text, err) != LKS_OK)
        return err->code;
    for (struct lks_str rest = lks_buf_view(&text), line, args, tail; rest.len > 0;) {
        lks_str_cut(rest, '\n', &line, &rest);
        if (!lks_str_starts(line, "args=\""))
            continue;
        args = (struct lks_str){line.ptr + strlen("args=\""), line.len - strlen("args=\"")};
        lks_str_cut(args, '"', &args, &tail);
        entries++;
        good += entry_has(args, words, gone);
    }
    *out = entries > 0 && good == entries;
    return LKS_OK;
}

enum lks_code lks_settings_placed_cmdline(const struct lks_order_item *item, struct lks_str words,
                                          bool *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf cfg = {0};
    char text[LINE_SIZE];
    *out = false;
    if (check_words(words, err) != LKS_OK)
        return err->code;
    if (!lks_tool_there("update-grub"))
        return placed_by_grubby(item, words, out, err);
    if (is_text(GRUB_FILE, grub_text(words, text), out, err) != LKS_OK ||
        read_text(GRUB_CFG, CFG_MAX, &cfg, err) != LKS_OK)
        return err->code;
    bool newer = true;
    struct stat ours, made;
    if (words.len > 0 && stat(GRUB_FILE, &ours) == 0 && stat(GRUB_CFG, &made) == 0)
        newer = made.st_mtim.tv_sec > ours.st_mtim.tv_sec ||
                (made.st_mtim.tv_sec == ours.st_mtim.tv_sec &&
                 made.st_mtim.tv_nsec >= ours.st_mtim.tv_nsec);
    *out = *out && newer && (words.len == 0 || cfg_has(lks_buf_view(&cfg), words));
    return LKS_OK;
}

/* Half of a boot loader's file is a machine that does not start: it goes on to its end, whatever
 * becomes of us. */
static enum lks_code write_loader(const char *const *argv, struct lks_err *err)
{
    return lks_tool_run(
        &(struct lks_tool){.argv = argv, .lock = lks_executor_lock(), .apart = true}, err);
}

static enum lks_code tell_grubby(const char *option, struct lks_str words, struct lks_err *err)
{
    char value[LINE_SIZE];
    const char *argv[] = {"grubby", "--update-kernel=ALL", value, NULL};
    if (words.len == 0)
        return LKS_OK;
    snprintf(value, sizeof(value), "%s=%" LKS_STR_FMT, option, LKS_STR_ARG(words));
    return write_loader(argv, err);
}

/* A removal leaves an empty file until GRUB's own is made: so a kill in between can be detected. */
enum lks_code lks_settings_set_cmdline(const struct lks_order_item *item, struct lks_str words,
                                       struct lks_err *err)
{
    char text[LINE_SIZE];
    static const char *const update[] = {"update-grub", NULL};
    if (check_words(words, err) != LKS_OK)
        return err->code;
    if (!lks_tool_there("update-grub")) {
        if (tell_grubby("--remove-args", words_before(item->before, text), err) != LKS_OK)
            return err->code;
        return tell_grubby("--args", words, err);
    }
    const char *ours = grub_text(words, text);
    if (make_folder("/etc/default/grub.d", err) != LKS_OK ||
        put_text(GRUB_FILE, ours != NULL ? ours : GRUB_REMARK, err) != LKS_OK ||
        write_loader(update, err) != LKS_OK)
        return err->code;
    return ours != NULL ? LKS_OK : put_text(GRUB_FILE, NULL, err);
}

/* Memory mode -------------------------------------------------------------------------------- */

static const char *mode_text(struct lks_str words, char out[LINE_SIZE])
{
    snprintf(out, LINE_SIZE,
             "# Written by lockstep; changes here are lost.\n"
             "options nvidia " MEMORY_OPTION "=%s\n",
             lks_str_is(words, "cdmm") ? "driver" : "numa");
    return words.len > 0 ? out : NULL;
}

enum lks_code lks_settings_set_memory_mode(const struct lks_order_item *item, struct lks_str words,
                                           struct lks_err *err)
{
    char text[LINE_SIZE];
    (void)item;
    if (make_folder("/etc/modprobe.d", err) != LKS_OK)
        return err->code;
    return put_text(MODPROBE_FILE, mode_text(words, text), err);
}

enum lks_code lks_settings_placed_memory_mode(const struct lks_order_item *item,
                                              struct lks_str words, bool *out, struct lks_err *err)
{
    char text[LINE_SIZE];
    (void)item;
    return is_text(MODPROBE_FILE, mode_text(words, text), out, err);
}

/* Unattended upgrades ------------------------------------------------------------------------ */

static const char *const dnf_units[] = {"dnf-automatic.timer", "dnf-automatic-install.timer",
                                        "dnf-automatic-download.timer", "dnf5-automatic.timer",
                                        "yum-cron.service"};

static const char apt_off[] = "// Written by lockstep; changes here are lost.\n"
                              "APT::Periodic::Unattended-Upgrade \"0\";\n"
                              "Unattended-Upgrade::InstallOnShutdown \"false\";\n";
static const char apt_on[] = "// Written by lockstep; changes here are lost.\n"
                             "APT::Periodic::Enable \"1\";\n"
                             "APT::Periodic::Unattended-Upgrade \"1\";\n";

static bool is_masked(const char *path)
{
    char target[16];
    ssize_t len = readlink(path, target, sizeof(target));
    return len == (ssize_t)strlen("/dev/null") && memcmp(target, "/dev/null", (size_t)len) == 0;
}

/* Masked as systemctl does it; only a mask goes again. */
static enum lks_code mask_units(bool mask, struct lks_err *err)
{
    for (size_t i = 0; i < LKS_COUNT(dnf_units); i++) {
        char path[LINE_SIZE];
        snprintf(path, sizeof(path), UNIT_FOLDER "/%s", dnf_units[i]);
        bool masked = is_masked(path);
        bool ok = masked == mask ||
                  (mask ? symlink("/dev/null", path) == 0 || errno == EEXIST : unlink(path) == 0);
        if (!ok)
            return lks_file_fail(err, path);
    }
    return LKS_OK;
}

enum lks_code lks_settings_set_upgrades(const struct lks_order_item *item, struct lks_str words,
                                        struct lks_err *err)
{
    bool off = lks_str_is(words, "false");
    (void)item;
    if (there(APT_FOLDER))
        return put_text(APT_FILE, words.len == 0 ? NULL : off ? apt_off : apt_on, err);
    if (!there("/etc/dnf") && !there("/etc/yum.conf"))
        return lks_fail(err, LKS_E_NOT_FOUND, "there is neither apt nor dnf here");
    return mask_units(off, err);
}

/* Readings tell what is in force; that nothing of ours is left they do not. */
enum lks_code lks_settings_placed_upgrades(const struct lks_order_item *item, struct lks_str words,
                                           bool *out, struct lks_err *err)
{
    (void)item;
    (void)err;
    *out = words.len == 0 && !there(APT_FILE);
    for (size_t i = 0; *out && !there(APT_FOLDER) && i < LKS_COUNT(dnf_units); i++) {
        char path[LINE_SIZE];
        snprintf(path, sizeof(path), UNIT_FOLDER "/%s", dnf_units[i]);
        *out = !is_masked(path);
    }
    return LKS_OK;
}

/* Variables of NCCL -------------------------------------------------------------------------- */

/* The file without the lines of this variable, and with the one that is wanted. */
static enum lks_code edit_variables(struct lks_str text, struct lks_str name, struct lks_str value,
                                    struct lks_buf *out, struct lks_err *err)
{
    for (struct lks_str line, key, rest; text.len > 0;) {
        lks_str_cut(text, '\n', &line, &text);
        bool named = lks_str_cut(line, '=', &key, &rest) && lks_str_eq(lks_str_trim(key), name);
        if (!named)
            lks_buf_addf(out, "%" LKS_STR_FMT "\n", LKS_STR_ARG(line));
    }
    if (value.len > 0)
        lks_buf_addf(out, "%" LKS_STR_FMT "=%" LKS_STR_FMT "\n", LKS_STR_ARG(name),
                     LKS_STR_ARG(value));
    return lks_buf_check(out, err);
}

enum lks_code lks_settings_set_variable(const struct lks_order_item *item, struct lks_str words,
                                        struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf after = {0};
    size_t skip = strlen("tuning.env.");
    struct lks_str name = {item->component.ptr + skip, item->component.len - skip};
    (void)words; /* a value may have blanks that count */
    lks_buf_init(&after, FILE_MAX);
    if (read_text(NCCL_FILE, FILE_MAX, &text, err) != LKS_OK ||
        edit_variables(lks_buf_view(&text), name, item->value, &after, err) != LKS_OK)
        return err->code;
    return put_text(NCCL_FILE, after.len > 0 ? after.ptr : NULL, err);
}
