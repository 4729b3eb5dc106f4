/* journal verify: on a data directory, without lockstepd. */
#include "cli/control/cmd_journal.h"
#include "cli/shared/commands.h"
#include "cli/shared/controller.h"
#include "cli/shared/output.h"
#include "cli/shared/witnesses.h"
#include "engine/journal.h"

#include <inttypes.h>
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

static void verify_json(const struct lks_verify *v, bool key, struct lks_buf *json)
{
    struct lks_json_writer w = {.out = json};
    lks_json_write(&w, "{'good': %s", LKS_JSON_TRUTH(v->fault == LKS_FAULT_NONE));
    if (v->fault != LKS_FAULT_NONE)
        lks_json_write(&w, "'fault': '%s', 'at': %lu, 'text': '%s'", lks_fault_words[v->fault],
                       v->at, v->text);
    lks_json_write(&w,
                   "'first': %lu, 'last': %lu, 'rows': %lu, 'heads': %lu, 'witnesses': %lu, "
                   "'blobs': %lu, 'unsigned': %lu, 'signed_from': %lu, 'unsigned_before': %lu, "
                   "'signatures_checked': %s}",
                   v->first, v->last, v->rows, v->heads, v->witnesses, v->blobs, v->unsigned_rows,
                   v->signed_from, v->earlier_rows, LKS_JSON_TRUTH(key));
}

static void verify_text(struct lks_cli *cli, const struct lks_verify *v, bool key)
{
    if (v->fault != LKS_FAULT_NONE) {
        fprintf(cli->out, "%s%s%s at row %" PRIu64 ": %s\n", lks_term_on(&cli->term, LKS_RED),
                lks_fault_words[v->fault], lks_term_off(&cli->term, LKS_RED), v->at, v->text);
        return;
    }
    fprintf(cli->out,
            "%sgood%s: rows %" PRIu64 " to %" PRIu64 ", %" PRIu64 " signed heads, %" PRIu64
            " witnessed, %" PRIu64 " reports and manifests\n",
            lks_term_on(&cli->term, LKS_GREEN), lks_term_off(&cli->term, LKS_GREEN), v->first,
            v->last, v->heads, v->witnesses, v->blobs);
    if (v->unsigned_rows > 0)
        fprintf(cli->out,
                "%" PRIu64 " rows at the end have no signed head: only --witness can tell whether "
                "they are as they were written\n",
                v->unsigned_rows);
    if (v->earlier_rows > 0)
        fprintf(cli->out,
                "every commit is signed from row %" PRIu64 " on; the %" PRIu64
                " rows before it had no signed head then: only --witness can tell whether they "
                "are as they were written\n",
                v->signed_from, v->earlier_rows);
    if (!key)
        fprintf(cli->out, "signatures were not checked: no journal.pub here and no --key\n");
}

enum lks_code lks_cmd_journal_verify(struct lks_cli *cli, const struct lks_args *args,
                                     struct lks_err *err)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    LKS_CLEANUP(lks_witnesses_fini) struct lks_witnesses witnesses = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = {0};
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
    if (!lks_args_has(args, "--json")) {
        verify_text(cli, &v, has_key);
        return LKS_OK;
    }
    lks_buf_init(&json, LKS_OUTPUT_BYTES_MAX);
    verify_json(&v, has_key, &json);
    return lks_output_json(cli, &json, err);
}
