/* The copy of a fleet that lockstepd has: what it knows now, and the manifests that this names. */
#include "cli/change/cmd_rehearse.h"

#include "cli/shared/remote.h"

static void forget(void *self)
{
    lks_remote_fini(self);
}

static enum lks_code ask(struct lks_remote *remote, const char *begin, const char *part,
                         struct lks_remote_answer *out, struct lks_err *err)
{
    struct lks_remote_path path;
    lks_remote_path_init(&path, begin);
    if (part != NULL)
        lks_remote_path_add(&path, lks_str_from(part));
    enum lks_code code = lks_remote_call(remote, "GET", &path, NULL, LKS_STR(""), out, err);
    lks_remote_path_fini(&path);
    return code;
}

static enum lks_code fetch(void *self, const char *digest, struct lks_buf *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer answer = {0};
    char found[LKS_DIGEST_SIZE];
    if (ask(self, "/v1/journal/manifests", digest, &answer, err) != LKS_OK)
        return err->code;
    struct lks_str bytes = lks_buf_view(&answer.http.body);
    if (lks_digest_text(bytes, found, err) != LKS_OK)
        return err->code;
    if (strcmp(found, digest) != 0)
        return lks_fail(err, LKS_E_INVALID, "lockstepd sent something else as manifest %s", digest);
    lks_buf_add(out, bytes);
    return lks_buf_check(out, err);
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
    if (ask(&remote, "/v1/journal/state", NULL, &answer, err) != LKS_OK)
        return err->code;
    return lks_world_of_snapshot(lks_buf_view(&answer.http.body), &store, options, out, err);
}
