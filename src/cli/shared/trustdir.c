#include "cli/shared/trustdir.h"

#include "base/file.h"
#include "cli/shared/controller.h"
#include "codec/format/json.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX  ".key"
#define HISTORY "history"

enum { NOTE_MAX = 8192, FILE_NAME_SIZE = LKS_PIN_NAME_MAX + sizeof(SUFFIX) };

enum lks_code lks_trustdir_path(const struct lks_cli *cli, const char *state, char out[PATH_MAX],
                                struct lks_err *err)
{
    if (state == NULL || state[0] == '\0')
        return lks_path_state(cli, "trust", out, err);
    return lks_path_join(out, state, "trust", err);
}

/* Reading ----------------------------------------------------------------------------------- */

/* The name of the key in a file called so; false: it is no such file. */
static bool key_name(const char *file, struct lks_str *out)
{
    struct lks_str name = lks_str_from(file);
    if (!lks_str_ends(name, SUFFIX))
        return false;
    name.len -= strlen(SUFFIX);
    *out = name;
    return lks_signature_pin_name(name);
}

static int is_key(const struct dirent *entry)
{
    struct lks_str name;
    return key_name(entry->d_name, &name);
}

static enum lks_code read_key(const char *dir, const char *file, struct lks_trusted *out,
                              struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_PIN_TEXT_MAX);
    char path[PATH_MAX];
    struct lks_str name = {0};
    (void)key_name(file, &name);
    if (lks_path_join(path, dir, file, err) != LKS_OK || lks_path_ours(path, err) != LKS_OK ||
        lks_file_read_plain(path, &text, err) != LKS_OK)
        return err->code;
    if (lks_signature_pin_parse(lks_buf_view(&text), &out->pin, err) != LKS_OK)
        return lks_wrap(err, "%s", path);
    snprintf(out->name, sizeof(out->name), "%" LKS_STR_FMT, LKS_STR_ARG(name));
    return LKS_OK;
}

static void free_names(struct dirent **names, int count)
{
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

enum lks_code lks_trustdir_read(const char *dir, struct lks_trusted **out, size_t *count,
                                struct lks_err *err)
{
    struct dirent **names = NULL;
    int found = scandir(dir, &names, is_key, alphasort);
    if (found < 0 && errno == ENOENT) {
        *out = NULL;
        *count = 0;
        return LKS_OK;
    }
    if (found < 0)
        return lks_file_fail(err, dir);
    enum lks_code code = lks_path_ours(dir, err);
    if (code == LKS_OK && found > LKS_TRUSTDIR_KEYS_MAX)
        code = lks_fail(err, LKS_E_LIMIT, "%s: more than %d keys", dir, LKS_TRUSTDIR_KEYS_MAX);
    struct lks_trusted *keys = calloc((size_t)found + 1, sizeof(*keys));
    if (code == LKS_OK && keys == NULL)
        code = lks_fail_nomem(err);
    for (int i = 0; i < found && code == LKS_OK; i++)
        code = read_key(dir, names[i]->d_name, &keys[i], err);
    free_names(names, found);
    if (code != LKS_OK) {
        free(keys);
        return code;
    }
    *out = keys;
    *count = (size_t)found;
    return LKS_OK;
}

/* Changing ---------------------------------------------------------------------------------- */

/* A line of the history: who did what, and why. */
static enum lks_code note(const struct lks_cli *cli, const char *dir, const char *act,
                          struct lks_str name, const struct lks_pin *pin, struct lks_str reason,
                          struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = {0};
    struct lks_json_writer w = {.out = &line};
    char path[PATH_MAX], time[LKS_TIME_TEXT_SIZE], who[LKS_CONTROLLER_WHO_SIZE];
    lks_buf_init(&line, NOTE_MAX);
    lks_json_begin(&w, NULL, '{');
    lks_json_cstr(&w, "time", lks_time_text((lks_ms)cli->now * LKS_SECOND, time));
    lks_json_cstr(&w, "by", lks_controller_who(who));
    lks_json_cstr(&w, "act", act);
    lks_json_text(&w, "name", name);
    lks_json_cstr(&w, "fingerprint", pin->fingerprint);
    lks_json_text(&w, "reason", reason);
    lks_json_end(&w, '}');
    lks_buf_addc(&line, '\n');
    if (lks_buf_check(&line, err) != LKS_OK || lks_path_join(path, dir, HISTORY, err) != LKS_OK)
        return err->code;
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return lks_file_fail(err, path);
    struct stat before;
    bool known = fstat(fd, &before) == 0;
    enum lks_code code = lks_file_put(fd, path, lks_buf_view(&line), err);
    if (code == LKS_OK && fsync(fd) != 0)
        code = lks_file_fail(err, path);
    /* Half a line would join the next one. */
    if (code != LKS_OK && known && ftruncate(fd, before.st_size) != 0)
        code = lks_wrap(err, "%s: remove the last line", path);
    close(fd);
    return code;
}

static enum lks_code file_of(const char *dir, struct lks_str name, char out[PATH_MAX],
                             struct lks_err *err)
{
    char file[FILE_NAME_SIZE];
    if (!lks_signature_pin_name(name))
        return lks_fail(err, LKS_E_INVALID,
                        "'%" LKS_STR_FMT
                        "' is no name of a key: lower-case letters, digits, '.', '-', '_'",
                        LKS_STR_ARG(name));
    snprintf(file, sizeof(file), "%" LKS_STR_FMT SUFFIX, LKS_STR_ARG(name));
    return lks_path_join(out, dir, file, err);
}

/* Whether the key is there already under that name; REFUSED where one of the two is taken. */
static enum lks_code find_same(const struct lks_trusted *keys, size_t count, struct lks_str name,
                               const struct lks_pin *pin, bool *there, struct lks_err *err)
{
    *there = false;
    LKS_ASSERT(keys != NULL || count == 0);
    for (size_t i = 0; i < count; i++) {
        bool same_name = lks_str_is(name, keys[i].name);
        bool same_key = strcmp(keys[i].pin.fingerprint, pin->fingerprint) == 0;
        if (same_name && !same_key)
            return lks_fail(err, LKS_E_REFUSED,
                            "'%s' is another key already; give this one another name, or remove "
                            "that one first",
                            keys[i].name);
        if (same_key && !same_name)
            return lks_fail(err, LKS_E_REFUSED, "this key is pinned already, as '%s'",
                            keys[i].name);
        *there |= same_name;
    }
    return LKS_OK;
}

enum lks_code lks_trustdir_add(const struct lks_cli *cli, const char *dir, struct lks_str name,
                               const struct lks_pin *pin, struct lks_str reason,
                               struct lks_err *err)
{
    struct lks_trusted *keys = NULL;
    size_t count = 0;
    bool there = false;
    char path[PATH_MAX], line[LKS_PIN_LINE_SIZE + 1];
    if (file_of(dir, name, path, err) != LKS_OK || lks_path_make(dir, err) != LKS_OK ||
        lks_trustdir_read(dir, &keys, &count, err) != LKS_OK)
        return err->code;
    enum lks_code code = find_same(keys, count, name, pin, &there, err);
    free(keys);
    if (code != LKS_OK || there)
        return code;
    if (count >= LKS_TRUSTDIR_KEYS_MAX)
        return lks_fail(err, LKS_E_LIMIT, "%s: %zu keys are the most", dir, count);
    lks_signature_pin_text(pin, line);
    size_t len = strlen(line);
    line[len++] = '\n';
    if (note(cli, dir, "pinned", name, pin, reason, err) != LKS_OK)
        return err->code;
    return lks_file_replace(path, (struct lks_str){line, len}, err);
}

enum lks_code lks_trustdir_remove(const struct lks_cli *cli, const char *dir, struct lks_str name,
                                  struct lks_str reason, struct lks_err *err)
{
    char path[PATH_MAX], file[FILE_NAME_SIZE];
    struct lks_trusted key;
    if (file_of(dir, name, path, err) != LKS_OK)
        return err->code;
    snprintf(file, sizeof(file), "%" LKS_STR_FMT SUFFIX, LKS_STR_ARG(name));
    if (access(path, F_OK) != 0)
        return lks_fail(err, LKS_E_NOT_FOUND, "no key '%" LKS_STR_FMT "' is pinned in %s",
                        LKS_STR_ARG(name), dir);
    if (read_key(dir, file, &key, err) != LKS_OK ||
        note(cli, dir, "removed", name, &key.pin, reason, err) != LKS_OK)
        return err->code;
    return unlink(path) == 0 ? LKS_OK : lks_file_fail(err, path);
}

enum lks_code lks_trustdir_key(const char *text_or_file, struct lks_pin *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_PIN_TEXT_MAX);
    struct lks_str given = lks_str_from(text_or_file);
    for (size_t i = 0; lks_pin_kind_words[i] != NULL; i++) {
        struct lks_str word, rest;
        if (lks_str_cut(given, ':', &word, &rest) && lks_str_is(word, lks_pin_kind_words[i]))
            return lks_signature_pin_parse(given, out, err);
    }
    bool piped = strcmp(text_or_file, "-") == 0;
    if ((piped ? lks_file_read : lks_file_read_plain)(text_or_file, &text, err) != LKS_OK)
        return err->code;
    if (lks_signature_pin_parse(lks_buf_view(&text), out, err) != LKS_OK)
        return lks_wrap(err, "%s", text_or_file);
    return LKS_OK;
}
