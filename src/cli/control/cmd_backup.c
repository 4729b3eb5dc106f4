/* journal repair, backup, restore. */
#include "base/file.h"
#include "base/time.h"
#include "cli/shared/commands.h"
#include "cli/shared/controller.h"
#include "cli/shared/output.h"
#include "cli/shared/remote.h"
#include "drivers/store/backup.h"
#include "drivers/store/secrets.h"
#include "drivers/store/seen.h"
#include "engine/journal.h"

#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

/* journal repair ---------------------------------------------------------------------------- */

static enum lks_code print_repair(struct lks_cli *cli, const struct lks_args *args,
                                  const struct lks_verify *v, struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    lks_json_write(lks_output_begin(&o), "'fault': '%s', 'at': %lu, 'text': '%s', 'repaired': true",
                   lks_fault_words[v->fault], v->at, v->text);
    return lks_output_form(cli, args, &o,
                           "{fault} at row {at}: [{text}]\n[{fault=snapshot}it was rebuilt from "
                           "the rows|the rows from there on were set aside], and that was "
                           "recorded\n",
                           err);
}

enum lks_code lks_cmd_journal_repair(struct lks_cli *cli, const struct lks_args *args,
                                     struct lks_err *err)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    LKS_CLEANUP(lks_key_wipe) struct lks_key key = {0};
    struct lks_verify v = {0};
    char who[LKS_CONTROLLER_WHO_SIZE];
    const char *dir = args->positional[0];
    struct lks_str reason = lks_args_str(args, "--reason");
    if (reason.len == 0)
        return lks_fail(err, LKS_E_USAGE, "journal repair: --reason has to say why");
    if (lks_controller_journal_key(dir, &key, err) != LKS_OK ||
        lks_controller_journal(dir, LKS_STORE_OWN, &store, err) != LKS_OK ||
        lks_journal_repair(&store, &key, (lks_ms)cli->now * LKS_SECOND + cli->now_ms,
                           lks_str_from(lks_controller_who(who)), reason, &v, err) != LKS_OK)
        return err->code;
    return print_repair(cli, args, &v, err);
}

/* backup ------------------------------------------------------------------------------------ */

/* From the running controller, wherever it is. */
static enum lks_code fetch_backup(struct lks_cli *cli, const struct lks_args *args,
                                  const char *file, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_fini) struct lks_remote remote = {0};
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer answer = {0};
    lks_remote_path_init(&path, "/v1/backup");
    if (lks_remote_open(cli, args, &remote, err) != LKS_OK ||
        lks_remote_call(&remote, "POST", &path, NULL, LKS_STR(""), &answer, err) != LKS_OK)
        return err->code;
    return lks_file_replace(file, lks_buf_view(&answer.http.body), err);
}

/* Of a data directory of this machine, whether or not lockstepd runs, and however large. */
static enum lks_code make_backup(const char *dir, const char *file, struct lks_err *err)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    struct lks_seal_key key;
    enum lks_code code = lks_controller_seal_key(dir, &key, err);
    if (code == LKS_OK)
        code = lks_controller_journal(dir, LKS_STORE_READ, &store, err);
    if (code == LKS_OK)
        code = lks_backup_make(dir, &store, &key, file, err);
    explicit_bzero(&key, sizeof(key));
    return code;
}

enum lks_code lks_cmd_backup(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    const char *file = lks_args_get(args, "--out");
    struct stat st;
    if (file == NULL)
        return lks_fail(err, LKS_E_USAGE, "backup: --out has to name the file to write");
    if (args->positional_count > 0 && lks_remote_unused(args, err) != LKS_OK)
        return err->code;
    if (access(file, F_OK) == 0)
        return lks_fail(err, LKS_E_INVALID, "%s: is there already", file);
    if ((args->positional_count > 0 ? make_backup(args->positional[0], file, err)
                                    : fetch_backup(cli, args, file, err)) != LKS_OK)
        return err->code;
    if (stat(file, &st) != 0)
        return lks_file_fail(err, file);
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    lks_json_write(lks_output_begin(&o), "'file': '%s', 'bytes': %ld", file, (long)st.st_size);
    return lks_output_form(cli, args, &o,
                           "{file}: {bytes} bytes, sealed with the controller's key; keep that key "
                           "elsewhere\n",
                           err);
}

/* restore ----------------------------------------------------------------------------------- */

/* What was restored is good only if its journal is. From then on lockstepd knows what it has seen
 * of it: a copy that is older still is refused. */
static enum lks_code check_restored(const char *dir, const struct lks_seal_key *seal,
                                    struct lks_verify *v, struct lks_err *err)
{
    struct lks_store_tail tail = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    struct lks_public_key key;
    char path[PATH_MAX];
    if (lks_path_join(path, dir, "journal.pub", err) != LKS_OK ||
        lks_controller_public_key(path, &key, err) != LKS_OK ||
        lks_controller_journal(dir, LKS_STORE_READ, &store, err) != LKS_OK ||
        lks_journal_verify(&store, &(struct lks_verify_options){.key = &key}, v, err) != LKS_OK)
        return err->code;
    if (v->fault != LKS_FAULT_NONE)
        return lks_fail(err, LKS_E_INVALID, "the restored journal is %s at row %" PRIu64 ": %s",
                        lks_fault_words[v->fault], v->at, v->text);
    if (store.ops->tail(store.self, &tail, err) != LKS_OK)
        return err->code;
    struct lks_seen seen = {.seq = tail.seq, .time = tail.time};
    memcpy(seen.hash, tail.hash, sizeof(seen.hash));
    return lks_seen_write(dir, seal, &seen, err);
}

/* The message names the backup, once. */
static enum lks_code about(const char *file, struct lks_err *err)
{
    return lks_str_starts(lks_str_from(err->msg), file) ? err->code : lks_wrap(err, "%s", file);
}

enum lks_code lks_cmd_restore(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    struct lks_seal_key key;
    struct lks_verify v = {0};
    char reference[PATH_MAX];
    const char *dir = lks_args_get(args, "--to"), *file = lks_args_get(args, "--seal-key");
    if (dir == NULL || file == NULL)
        return lks_fail(err, LKS_E_USAGE,
                        "restore: --to names a new directory, --seal-key the key");
    if (access(dir, F_OK) == 0)
        return lks_fail(err, LKS_E_INVALID, "--to: %s: is there already; it names a new directory",
                        dir);
    int len = snprintf(reference, sizeof(reference), "file:%s", file);
    if (len < 0 || (size_t)len >= sizeof(reference))
        return lks_fail(err, LKS_E_INVALID, "--seal-key: too long for a path");
    if (lks_secrets_key(".", reference, &key, err) != LKS_OK)
        return err->code;
    enum lks_code code = lks_backup_restore(args->positional[0], &key, dir, err);
    if (code == LKS_OK)
        code = check_restored(dir, &key, &v, err);
    explicit_bzero(&key, sizeof(key));
    if (code != LKS_OK || lks_controller_move_in(dir, err) != LKS_OK)
        return about(args->positional[0], err);
    if (!lks_args_has(args, "--json")) {
        fprintf(cli->out,
                "%s holds the controller as it was at row %" PRIu64
                ". Put its sealing key where\n%s/lockstepd.yaml says, and start lockstepd.\n",
                dir, v.last, dir);
        return LKS_OK;
    }
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    lks_json_write(lks_output_begin(&o), "'directory': '%s', 'rows': %lu", dir, v.rows);
    return lks_output_end(cli, &o, err);
}
