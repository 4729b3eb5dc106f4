/* A file into the depot, piece by piece. */
#include "cli/stack/upload.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 4 << 20 };

enum lks_code lks_upload_open(struct lks_upload *u, struct lks_cli *cli,
                              const struct lks_args *args, struct lks_err *err)
{
    u->piece = malloc(PIECE);
    if (u->piece == NULL)
        return lks_fail_nomem(err);
    return lks_remote_open(cli, args, &u->remote, err);
}

void lks_upload_fini(struct lks_upload *u)
{
    lks_remote_fini(&u->remote);
    free(u->piece);
    *u = (struct lks_upload){0};
}

static lks_ms now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (lks_ms)ts.tv_sec * LKS_SECOND + (lks_ms)ts.tv_nsec / 1000000;
}

void lks_upload_start(struct lks_upload *u, struct lks_cli *cli, uint64_t total)
{
    struct lks_term term = {0};
    lks_term_of(cli->err, &term);
    lks_progress_init(&u->progress, cli->err, &term, "uploading", total);
    lks_progress_at(&u->progress, 0, now());
}

void lks_upload_end(struct lks_upload *u)
{
    lks_progress_end(&u->progress, now());
}

/* How much of it lockstepd has: an upload that broke off goes on there. */
static enum lks_code ask_have(struct lks_upload *u, const struct lks_upload_of *a, uint64_t *have,
                              bool *whole, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer answer = {0};
    lks_remote_path_init(&path, "/v1/artifacts");
    lks_remote_path_add(&path, a->digest);
    lks_remote_path_query(&path, "part", LKS_STR("1"));
    if (lks_remote_call(&u->remote, "GET", &path, NULL, LKS_STR(""), &answer, err) != LKS_OK)
        return err->code;
    const struct lks_doc *number = lks_doc_member(answer.doc, "have");
    const struct lks_doc *all = lks_doc_member(answer.doc, "whole");
    if (number == NULL || number->kind != LKS_DOC_NUMBER || number->number < 0)
        return lks_fail(err, LKS_E_INVALID, "lockstepd did not say how much of it is there");
    *have = (uint64_t)number->number;
    *whole = all != NULL && all->kind == LKS_DOC_BOOL && all->truth;
    return LKS_OK;
}

static enum lks_code read_piece(struct lks_upload *u, int fd, uint64_t at, size_t len,
                                struct lks_err *err)
{
    for (size_t got = 0; got < len;) {
        ssize_t n = pread(fd, u->piece + got, len - got, (off_t)(at + got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return lks_fail(err, LKS_E_IO, "the file became shorter while it was read");
        got += (size_t)n;
    }
    return LKS_OK;
}

static enum lks_code send_piece(struct lks_upload *u, const struct lks_upload_of *a, uint64_t at,
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
    return lks_remote_send(&u->remote, "PUT", &path, "application/octet-stream",
                           (struct lks_str){u->piece, len}, head, &answer, err);
}

enum lks_code lks_upload_file(struct lks_upload *u, const struct lks_upload_of *a,
                              struct lks_err *err)
{
    uint64_t at = 0;
    bool whole = false;
    if (ask_have(u, a, &at, &whole, err) != LKS_OK)
        return err->code;
    at = at < a->size ? at : 0; /* it has the bytes and no record of them: that takes them all */
    while (!whole && at < a->size) {
        size_t len = a->size - at < PIECE ? (size_t)(a->size - at) : PIECE;
        if (read_piece(u, a->fd, at, len, err) != LKS_OK ||
            send_piece(u, a, at, len, err) != LKS_OK)
            return err->code;
        at += len;
        lks_progress_at(&u->progress, u->done + at, now());
    }
    u->done += a->size;
    lks_progress_at(&u->progress, u->done, now());
    return LKS_OK;
}
