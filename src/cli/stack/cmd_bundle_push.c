/* bundle push: its files into the depot by digest, then the manifest and its signature. */
#include "base/process/interrupt.h"
#include "cli/shared/bundledir.h"
#include "cli/shared/commands.h"
#include "cli/shared/input.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"
#include "cli/stack/upload.h"

#include <stdlib.h>
#include <unistd.h>

#define BODY_MAX ((size_t)4 << 20) /* as much as lockstepd takes */

struct pushing {
    struct lks_bundledir dir;
    struct lks_facts facts;
    struct lks_upload upload;
    struct lks_str reason;
};

static void pushing_fini(struct pushing *p)
{
    lks_bundledir_fini(&p->dir);
    lks_facts_fini(&p->facts);
    lks_upload_fini(&p->upload);
    *p = (struct pushing){0};
}

/* Whom it trusts ---------------------------------------------------------------------------- */

struct trust {
    struct lks_trusted keys[LKS_TRUSTDIR_KEYS_MAX];
    size_t count;
};

static enum lks_code take_key(void *ctx, const struct lks_doc *item, struct lks_err *err)
{
    struct trust *trust = ctx;
    struct lks_str name = lks_doc_text(item, "name");
    if (trust->count == LKS_COUNT(trust->keys))
        return LKS_OK;
    struct lks_trusted *key = &trust->keys[trust->count];
    if (!lks_signature_pin_name(name) ||
        lks_signature_pin_parse(lks_doc_text(item, "key"), &key->pin, err) != LKS_OK)
        return lks_fail(err, LKS_E_INVALID, "lockstepd trusts a key that we do not understand");
    snprintf(key->name, sizeof(key->name), "%" LKS_STR_FMT, LKS_STR_ARG(name));
    trust->count++;
    return LKS_OK;
}

/* lockstepd decides, and that it will say no is better known before much is sent. */
static enum lks_code check_evidence(struct pushing *p, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    struct trust *trust = calloc(1, sizeof(*trust));
    if (trust == NULL)
        return lks_fail_nomem(err);
    lks_remote_path_init(&path, "/v1/trust");
    enum lks_code code =
        lks_remote_list(&p->upload.remote, &path, "after", 0, take_key, trust, err);
    if (code == LKS_OK)
        lks_bundledir_verify(&p->dir, trust->keys, trust->count, NULL);
    free(trust);
    if (code == LKS_OK && p->dir.verdict.verdict != LKS_EVIDENCE_GOOD)
        return lks_fail(err, LKS_E_REFUSED, "%s", p->dir.verdict.line);
    return code;
}

/* Its files --------------------------------------------------------------------------------- */

static enum lks_code send_files(struct lks_cli *cli, struct pushing *p, struct lks_err *err)
{
    uint64_t total = 0;
    for (size_t i = 0; i < p->dir.bundle.count; i++)
        total += p->dir.bundle.artifacts[i].size;
    lks_upload_start(&p->upload, cli, total);
    enum lks_code code = LKS_OK;
    for (size_t i = 0; i < p->dir.bundle.count && code == LKS_OK; i++) {
        const struct lks_bundle_artifact *a = &p->dir.bundle.artifacts[i];
        int fd = -1;
        code = lks_bundledir_file(&p->dir, a, &fd, err);
        if (code != LKS_OK)
            break;
        code = lks_upload_file(&p->upload, &(struct lks_upload_of){a->digest, a->name, a->size, fd},
                               err);
        if (code != LKS_OK)
            code = lks_wrap(err, "%" LKS_STR_FMT, LKS_STR_ARG(a->name));
        close(fd);
    }
    lks_upload_end(&p->upload);
    return code;
}

/* The signature travels as text, whatever form it has in the folder. */
static enum lks_code bring(struct pushing *p, struct lks_remote_answer *answer, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = {0}, signature = {0};
    struct lks_signature s = {0};
    if (lks_signature_parse(lks_buf_view(&p->dir.signature), &s, err) != LKS_OK)
        return err->code;
    lks_buf_init(&signature, LKS_SIGNATURE_TEXT_MAX);
    lks_buf_init(&body, BODY_MAX);
    lks_signature_write(&s, &signature);
    struct lks_json_writer w = {.out = &body};
    lks_json_begin(&w, NULL, '{');
    lks_json_text(&w, "manifest", lks_buf_view(&p->dir.manifest));
    lks_json_text(&w, "signature", lks_buf_view(&signature));
    lks_json_some(&w, "reason", p->reason);
    lks_json_end(&w, '}');
    if (lks_buf_check(&signature, err) != LKS_OK || lks_buf_check(&body, err) != LKS_OK)
        return err->code;
    lks_remote_path_init(&path, "/v1/bundles");
    return lks_remote_call(&p->upload.remote, "POST", &path, "application/json",
                           lks_buf_view(&body), answer, err);
}

enum lks_code lks_cmd_bundle_push(struct lks_cli *cli, const struct lks_args *args,
                                  struct lks_err *err)
{
    LKS_CLEANUP(pushing_fini) struct pushing p = {.reason = lks_args_str(args, "--reason")};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer answer = {0};
    const char *dir = args->positional[0];
    if (lks_input_facts(cli->data_dir, &p.facts, err) != LKS_OK ||
        lks_bundledir_read(dir, &p.facts, &p.dir, err) != LKS_OK)
        return err->code;
    if (lks_upload_open(&p.upload, cli, args, err) != LKS_OK)
        return err->code;
    if (check_evidence(&p, err) != LKS_OK)
        return lks_wrap(err, "%s", dir);
    lks_interrupt_note(
        "the bundle was not published; to continue the upload: lockstep bundle push %s", dir);
    if (send_files(cli, &p, err) != LKS_OK || bring(&p, &answer, err) != LKS_OK)
        return err->code;
    lks_interrupt_end(); /* it is published */
    const struct lks_doc *site = lks_doc_member(answer.doc, "site");
    struct lks_str signer = lks_doc_text(answer.doc, "signer");
    return lks_listing_done(
        cli, args, &answer, err,
        "%" LKS_STR_FMT " %" LKS_STR_FMT " %s: good, signed by '%" LKS_STR_FMT "'%s",
        LKS_STR_ARG(p.dir.bundle.name), LKS_STR_ARG(p.dir.bundle.version), p.dir.bundle.digest,
        LKS_STR_ARG(signer), site != NULL && site->truth ? ", for this site" : "");
}
