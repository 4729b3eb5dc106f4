/* The copy of a fleet that lockstepd has: what it knows now, and the manifests that this names. */
#include "cli/change/cmd_rehearse.h"

#include "cli/shared/remote.h"
#include "lab/rehearse/listed.h"

#include <time.h>

static void forget(void *self)
{
    lks_remote_fini(self);
}

static enum lks_code fetch(void *self, const char *digest, struct lks_buf *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer answer = {0};
    char found[LKS_DIGEST_SIZE], path[sizeof("/v1/journal/manifests/") + LKS_DIGEST_SIZE];
    snprintf(path, sizeof(path), "/v1/journal/manifests/%s", digest);
    if (lks_remote_get(self, path, &answer, err) != LKS_OK)
        return err->code;
    struct lks_str bytes = lks_buf_view(&answer.http.body);
    if (lks_digest_text(bytes, found, err) != LKS_OK)
        return err->code;
    if (strcmp(found, digest) != 0)
        return lks_fail(err, LKS_E_INVALID, "lockstepd sent something else as manifest %s", digest);
    lks_buf_add(out, bytes);
    return lks_buf_check(out, err);
}

/* The jobs of schedulers come once they were listed for us: soon, or not at all. */
enum { TRIES = 12, PAUSE_SECONDS = 1 };

/* A controller of before this route has no jobs to tell; without them they are drawn. */
static enum lks_code fetch_jobs(struct lks_remote *remote, struct lks_listed *out,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer answer = {0};
    if (lks_remote_get(remote, "/v1/schedulers/jobs", &answer, err) != LKS_OK) {
        bool older = err->code == LKS_E_NOT_FOUND;
        if (older)
            *err = (struct lks_err){0};
        return older ? LKS_OK : err->code;
    }
    return lks_listed_read(lks_buf_view(&answer.http.body), out, err);
}

static enum lks_code take_jobs(struct lks_remote *remote, struct lks_world *w, struct lks_err *err)
{
    LKS_CLEANUP(lks_listed_fini) struct lks_listed listed = {0};
    for (unsigned i = 0; i < TRIES && (i == 0 || listed.awaited); i++) {
        if (i > 0)
            (void)nanosleep(&(struct timespec){.tv_sec = PAUSE_SECONDS}, NULL);
        lks_listed_fini(&listed);
        if (fetch_jobs(remote, &listed, err) != LKS_OK)
            return err->code;
    }
    return lks_world_listed_take(w, &listed, err);
}

enum lks_code lks_rehearse_ask(struct lks_cli *cli, const struct lks_args *args,
                               const struct lks_world_options *options, struct lks_world **out,
                               struct lks_err *err)
{
    static const struct lks_store_ops ops = {.name = "lockstepd", .blob = fetch, .close = forget};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer answer = {0};
    struct lks_remote remote = {0}; /* outlives the store that asks it */
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    if (lks_remote_open(cli, args, &remote, err) != LKS_OK)
        return err->code;
    store = (struct lks_store){&ops, &remote};
    if (lks_remote_get(&remote, "/v1/journal/state", &answer, err) != LKS_OK)
        return err->code;
    if (lks_world_of_snapshot(lks_buf_view(&answer.http.body), &store, options, out, err) != LKS_OK)
        return err->code;
    return take_jobs(&remote, *out, err);
}
