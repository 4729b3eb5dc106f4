/* journal verify: on a data directory, without lockstepd. */
#include "cli/control/cmd_journal.h"
#include "cli/control/witnesses.h"
#include "cli/shared/commands.h"
#include "cli/shared/controller.h"
#include "cli/shared/output.h"
#include "cli/shared/render.h"
#include "engine/journal.h"

#include <unistd.h>

enum lks_code lks_journal_read_key(const struct lks_args *args, const char *place,
                                   struct lks_public_key *out, bool *found, struct lks_err *err)
{
    char path[PATH_MAX];
    const char *given = lks_args_get(args, "--key");
    if (lks_path_join(path, place, "journal.pub", err) != LKS_OK)
        return err->code;
    *found = given != NULL || access(path, R_OK) == 0;
    if (*found && lks_controller_public_key(given != NULL ? given : path, out, err) != LKS_OK)
        return lks_wrap(err, "the journal's key");
    return LKS_OK;
}

/* verify ------------------------------------------------------------------------------------ */

static enum lks_code show(struct lks_cli *cli, const struct lks_args *args,
                          const struct lks_doc *verdict, struct lks_err *err)
{
    (void)args;
    (void)err;
    lks_render_word(cli->out, &cli->term, "[{good?}green|red]", "[{fault}|good]", verdict);
    lks_render_print(
        cli->out,
        "[{fault?} at row {at}: [{text}]\n|: rows {first} to {last}, {heads} signed heads, "
        "{witnesses} witnessed, {blobs} reports and manifests\n"
        "[{unsigned?}{unsigned} rows at the end have no signed head: only --witness can show "
        "whether they were altered\n]"
        "[{unsigned_before?}every commit is signed from row {signed_from} on; the "
        "{unsigned_before} rows before it had no signed head then: only --witness can show whether "
        "they were altered\n]"
        "[{signatures_checked!}signatures were not checked: no journal.pub here and no --key\n]]",
        verdict);
    return LKS_OK;
}

static enum lks_code print(struct lks_cli *cli, const struct lks_args *args,
                           const struct lks_verify *v, bool key, struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    struct lks_json_writer *w = lks_output_begin(&o);
    lks_json_bool(w, "good", v->fault == LKS_FAULT_NONE);
    if (v->fault != LKS_FAULT_NONE)
        lks_json_write(w, "'fault': '%s', 'at': %lu, 'text': '%s'", lks_fault_words[v->fault],
                       v->at, v->text);
    lks_json_write(w,
                   "'first': %lu, 'last': %lu, 'rows': %lu, 'heads': %lu, 'witnesses': %lu, "
                   "'blobs': %lu, 'unsigned': %lu, 'signed_from': %lu, 'unsigned_before': %lu, "
                   "'signatures_checked': %s",
                   v->first, v->last, v->rows, v->heads, v->witnesses, v->blobs, v->unsigned_rows,
                   v->signed_from, v->earlier_rows, LKS_JSON_TRUTH(key));
    return lks_output_show(cli, args, &o, show, err);
}

enum lks_code lks_cmd_journal_verify(struct lks_cli *cli, const struct lks_args *args,
                                     struct lks_err *err)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    LKS_CLEANUP(lks_witnesses_fini) struct lks_witnesses witnesses = {0};
    struct lks_public_key key;
    struct lks_verify v = {0};
    bool has_key = false;
    const char *place = args->positional[0];
    if (lks_journal_read_key(args, place, &key, &has_key, err) != LKS_OK ||
        lks_witnesses_read(lks_args_get(args, "--witness"), &witnesses, err) != LKS_OK ||
        lks_controller_journal(place, LKS_STORE_READ, &store, err) != LKS_OK)
        return err->code;
    struct lks_verify_options options = {
        .key = has_key ? &key : NULL,
        .witnesses = witnesses.heads,
        .witness_count = witnesses.count,
    };
    if (lks_journal_verify(&store, &options, &v, err) != LKS_OK)
        return err->code;
    cli->no = v.fault != LKS_FAULT_NONE;
    return print(cli, args, &v, has_key, err);
}
