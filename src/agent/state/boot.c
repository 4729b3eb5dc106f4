#include "agent/state/boot.h"

#include "base/file.h"
#include "core/state/heartbeat.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_MAX = 256 };

/* Read leniently and written again: only the kernel's own way of writing it stays the same. */
bool lks_boot_bytes(struct lks_str text, uint8_t out[LKS_BOOT_BYTES])
{
    uint8_t bytes[LKS_BOOT_BYTES];
    char again[LKS_BOOT_TEXT_SIZE];
    if (!lks_heartbeat_boot_parse(text, bytes))
        return false;
    lks_heartbeat_boot_text(bytes, again);
    if (!lks_str_eq_nocase(text, lks_str_from(again)))
        return false;
    memcpy(out, bytes, sizeof(bytes));
    return true;
}

static bool is_machine(const char *root)
{
    return root == NULL || strcmp(root, "/") == 0;
}

enum lks_code lks_boot_read(const char *root, char out[LKS_BOOT_ID_SIZE], struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    char path[PATH_MAX];
    uint8_t bytes[LKS_BOOT_BYTES];
    snprintf(path, sizeof(path), "%s" LKS_BOOT_PATH, is_machine(root) ? "" : root);
    enum lks_code code = lks_file_read_plain(path, &text, err);
    if (code == LKS_E_NOT_FOUND && !is_machine(root)) {
        if (lks_boot_renew(root, err) != LKS_OK)
            return err->code;
        code = lks_file_read_plain(path, &text, err);
    }
    if (code != LKS_OK)
        return code;
    struct lks_str line, rest;
    lks_str_cut(lks_buf_view(&text), '\n', &line, &rest);
    if (!lks_boot_bytes(lks_str_trim(line), bytes))
        return lks_fail(err, LKS_E_INVALID, "%s: not a boot id", path);
    lks_heartbeat_boot_text(bytes, out);
    return LKS_OK;
}

/* Directories above the file, within the tree. */
static void make_dirs(char *path, size_t from)
{
    for (char *at = path + from + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        (void)mkdir(path, 0755);
        *at = '/';
    }
}

static enum lks_code write_id(const char *path, const char *id, struct lks_err *err)
{
    char temporary[PATH_MAX + 16];
    snprintf(temporary, sizeof(temporary), "%s.%ld", path, (long)getpid());
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        return lks_fail(err, LKS_E_IO, "%s: %s", path, strerror(errno));
    enum lks_code code = lks_file_put(fd, path, lks_str_from(id), err);
    if (code == LKS_OK)
        code = lks_file_put(fd, path, LKS_STR("\n"), err);
    if (code == LKS_OK && fsync(fd) != 0)
        code = lks_fail(err, LKS_E_IO, "%s: %s", path, strerror(errno));
    (void)close(fd);
    if (code == LKS_OK && rename(temporary, path) != 0)
        code = lks_fail(err, LKS_E_IO, "%s: %s", path, strerror(errno));
    if (code != LKS_OK)
        (void)unlink(temporary);
    return code;
}

enum lks_code lks_boot_renew(const char *root, struct lks_err *err)
{
    LKS_ASSERT(!is_machine(root));
    uint8_t bytes[LKS_BOOT_BYTES];
    char id[LKS_BOOT_ID_SIZE], path[PATH_MAX];
    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return lks_fail(err, LKS_E_IO, "no random numbers: %s", strerror(errno));
    bytes[6] = (uint8_t)((bytes[6] & 0x0f) | 0x40); /* as the kernel makes them: version 4, */
    bytes[8] = (uint8_t)((bytes[8] & 0x3f) | 0x80); /* of RFC 9562 */
    lks_heartbeat_boot_text(bytes, id);
    snprintf(path, sizeof(path), "%s" LKS_BOOT_PATH, root);
    make_dirs(path, strlen(root));
    return write_id(path, id, err);
}

/* "BOOT LAST" */
enum lks_code lks_boot_seq_load(const struct lks_statedir *dir, const char *boot, uint64_t *last,
                                bool *damaged, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    struct lks_str id, number, rest;
    uint8_t bytes[LKS_BOOT_BYTES];
    uint64_t value = 0;
    enum lks_code code = lks_statedir_read(dir, LKS_SEQ_FILE, TEXT_MAX, &text, err);
    if (code != LKS_OK && code != LKS_E_NOT_FOUND && code != LKS_E_LIMIT)
        return code;
    *damaged = false;
    *last = 0;
    if (code == LKS_E_NOT_FOUND)
        return LKS_OK;
    bool whole = code == LKS_OK && lks_str_cut(lks_buf_view(&text), '\n', &id, &rest) &&
                 rest.len == 0 && lks_str_cut(id, ' ', &id, &number) && lks_boot_bytes(id, bytes) &&
                 lks_str_number(number, UINT64_MAX / 2, &value);
    *damaged = !whole;
    if (*damaged)
        *last = LKS_SEQ_UNCERTAIN;
    else if (lks_str_is(id, boot))
        *last = value;
    return LKS_OK;
}

enum lks_code lks_boot_seq_reserve(const struct lks_statedir *dir, const char *boot, uint64_t last,
                                   struct lks_err *err)
{
    char text[TEXT_MAX];
    snprintf(text, sizeof(text), "%s %llu\n", boot, (unsigned long long)last);
    return lks_statedir_write(dir, LKS_SEQ_FILE, lks_str_from(text), err);
}
