/* bundle push: its files into the depot by digest, then the manifest and its signature. */
#include "base/file.h"
#include "base/process/interrupt.h"
#include "base/term/progress.h"
#include "cli/shared/bundledir.h"
#include "cli/shared/commands.h"
#include "cli/shared/input.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BODY_MAX ((size_t)4 << 20) /* as much as lockstepd takes */

enum { PIECE = 4 << 20 };

struct pushing {
    struct lks_bundledir dir;
    struct lks_facts facts;
    struct lks_remote remote;
    struct lks_progress progress;
    char *piece; /* PIECE bytes */
    uint64_t done;
};

static void pushing_fini(struct pushing *p)
{
    lks_bundledir_fini(&p->dir);
    lks_facts_fini(&p->facts);
    lks_remote_fini(&p->remote);
    free(p->piece);
    *p = (struct pushing){0};
}

static lks_ms now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (lks_ms)ts.tv_sec * LKS_SECOND + (lks_ms)ts.tv_nsec / 1000000;
}

/* How much of it lockstepd has: an upload that broke off goes on there. */
static enum lks_code ask_have(struct pushing *p, const struct lks_bundle_artifact *a,
                              uint64_t *have, bool *whole, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer answer = {0};
    lks_remote_path_init(&path, "/v1/artifacts");
    lks_remote_path_add(&path, a->digest);
    lks_remote_path_query(&path, "part", LKS_STR("1"));
    if (lks_remote_call(&p->remote, "GET", &path, NULL, LKS_STR(""), &answer, err) != LKS_OK)
        return err->code;
    const struct lks_doc *number = lks_doc_member(answer.doc, "have");
    const struct lks_doc *all = lks_doc_member(answer.doc, "whole");
    if (number == NULL || number->kind != LKS_DOC_NUMBER || number->number < 0)
        return lks_fail(err, LKS_E_INVALID, "lockstepd did not say how much of it is there");
    *have = (uint64_t)number->number;
    *whole = all != NULL && all->kind == LKS_DOC_BOOL && all->truth;
    return LKS_OK;
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
    enum lks_code code = lks_remote_list(&p->remote, &path, "after", 0, take_key, trust, err);
    if (code == LKS_OK)
        lks_bundledir_verify(&p->dir, trust->keys, trust->count);
    free(trust);
    if (code == LKS_OK && p->dir.verdict.verdict != LKS_EVIDENCE_GOOD)
        return lks_fail(err, LKS_E_REFUSED, "%s", p->dir.verdict.line);
    return code;
}

/* Its files --------------------------------------------------------------------------------- */

static enum lks_code read_piece(struct pushing *p, int fd, uint64_t at, size_t len,
                                struct lks_err *err)
{
    for (size_t got = 0; got < len;) {
        ssize_t n = pread(fd, p->piece + got, len - got, (off_t)(at + got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return lks_fail(err, LKS_E_IO, "the file became shorter while it was read");
        got += (size_t)n;
    }
    return LKS_OK;
}

static enum lks_code send_piece(struct pushing *p, const struct lks_bundle_artifact *a, uint64_t at,
                                size_t len, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer answer = {0};
    char head[128];
    snprintf(head, sizeof(head), "Content-Range: bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64 "\r\n", at,
             at + len - 1, a->size);
    lks_remote_path_init(&path, "/v1/artifacts");
    lks_remote_path_add(&path, a->digest);
    lks_remote_path_query(&path, "name", a->name);
    return lks_remote_send(&p->remote, "PUT", &path, "application/octet-stream",
                           (struct lks_str){p->piece, len}, head, &answer, err);
}

static enum lks_code send_file(struct pushing *p, const struct lks_bundle_artifact *a, int fd,
                               struct lks_err *err)
{
    uint64_t at = 0;
    bool whole = false;
    if (ask_have(p, a, &at, &whole, err) != LKS_OK)
        return err->code;
    at = at < a->size ? at : 0; /* it has the bytes and no record of them: that takes them all */
    while (!whole && at < a->size) {
        size_t len = a->size - at < PIECE ? (size_t)(a->size - at) : PIECE;
        if (read_piece(p, fd, at, len, err) != LKS_OK || send_piece(p, a, at, len, err) != LKS_OK)
            return err->code;
        at += len;
        lks_progress_at(&p->progress, p->done + at, now());
    }
    p->done += a->size;
    lks_progress_at(&p->progress, p->done, now());
    return LKS_OK;
}

static enum lks_code send_files(struct lks_cli *cli, struct pushing *p, struct lks_err *err)
{
    uint64_t total = 0;
    for (size_t i = 0; i < p->dir.bundle.count; i++)
        total += p->dir.bundle.artifacts[i].size;
    struct lks_term term = {0};
    lks_term_of(cli->err, &term);
    lks_progress_init(&p->progress, cli->err, &term, "uploading", total);
    lks_progress_at(&p->progress, 0, now());
    enum lks_code code = LKS_OK;
    for (size_t i = 0; i < p->dir.bundle.count && code == LKS_OK; i++) {
        const struct lks_bundle_artifact *a = &p->dir.bundle.artifacts[i];
        int fd = -1;
        code = lks_bundledir_file(&p->dir, a, &fd, err);
        if (code != LKS_OK)
            break;
        code = send_file(p, a, fd, err);
        if (code != LKS_OK)
            code = lks_wrap(err, "%" LKS_STR_FMT, LKS_STR_ARG(a->name));
        close(fd);
    }
    lks_progress_end(&p->progress, now());
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
    lks_json_end(&w, '}');
    if (lks_buf_check(&signature, err) != LKS_OK || lks_buf_check(&body, err) != LKS_OK)
        return err->code;
    lks_remote_path_init(&path, "/v1/bundles");
    return lks_remote_call(&p->remote, "POST", &path, "application/json", lks_buf_view(&body),
                           answer, err);
}

enum lks_code lks_cmd_bundle_push(struct lks_cli *cli, const struct lks_args *args,
                                  struct lks_err *err)
{
    LKS_CLEANUP(pushing_fini) struct pushing p = {0};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer answer = {0};
    const char *dir = args->positional[0];
    if (lks_input_facts(cli->data_dir, &p.facts, err) != LKS_OK ||
        lks_bundledir_read(dir, &p.facts, &p.dir, err) != LKS_OK)
        return err->code;
    p.piece = malloc(PIECE);
    if (p.piece == NULL)
        return lks_fail_nomem(err);
    if (lks_remote_open(cli, args, &p.remote, err) != LKS_OK)
        return err->code;
    if (check_evidence(&p, err) != LKS_OK)
        return lks_wrap(err, "%s", dir);
    lks_interrupt_note(
        "the bundle was not published; to continue the upload: lockstep bundle push %s", dir);
    if (send_files(cli, &p, err) != LKS_OK || bring(&p, &answer, err) != LKS_OK)
        return err->code;
    const struct lks_doc *site = lks_doc_member(answer.doc, "site");
    struct lks_str signer = lks_doc_text(answer.doc, "signer");
    return lks_listing_done(
        cli, args, &answer, err,
        "%" LKS_STR_FMT " %" LKS_STR_FMT " %s: good, signed by '%" LKS_STR_FMT "'%s",
        LKS_STR_ARG(p.dir.bundle.name), LKS_STR_ARG(p.dir.bundle.version), p.dir.bundle.digest,
        LKS_STR_ARG(signer), site != NULL && site->truth ? ", for this site" : "");
}
