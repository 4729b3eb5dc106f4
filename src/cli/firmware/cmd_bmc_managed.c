/* What lockstepd has to say about an update by the command line: see cmd_bmc_update.h. */
#include "cli/firmware/cmd_bmc_update.h"

#include "cli/shared/bundledir.h"
#include "cli/shared/context.h"
#include "cli/shared/remote.h"
#include "cli/shared/render.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* An endpoint that lockstepd manages is changed by lockstepd, or within a change of its in which it
 * does not flash the same endpoint itself. */
static enum lks_code judge(const struct lks_remote_answer *a, struct lks_bmc_update *u,
                           struct lks_err *err)
{
    const struct lks_bmc_at *at = u->at;
    const struct lks_doc *items = lks_doc_member(a->doc, "items");
    for (const struct lks_doc *i = items != NULL ? items->first : NULL; i != NULL; i = i->next) {
        struct lks_str node = lks_doc_text(i, "node");
        u->managed = u->managed || lks_render_truth(i, "managed");
        const char *why = NULL;
        if (lks_doc_member(i, "flashing") != NULL)
            why = "which lockstepd updates itself, or of which it does not know how the last "
                  "update ended";
        else if (lks_render_truth(i, "managed") && !lks_render_truth(i, "changing"))
            why = "which lockstepd manages and which is in no change; its firmware is changed "
                  "through lockstepd";
        if (why != NULL)
            return lks_fail(err, LKS_E_REFUSED, "%s belongs to %" LKS_STR_FMT ", %s", at->url,
                            LKS_STR_ARG(node), why);
        if (lks_render_truth(i, "managed") && !lks_render_truth(i, "idle"))
            return lks_fail(err, LKS_E_REFUSED,
                            "%s belongs to %" LKS_STR_FMT
                            ", which is production and not known to be idle; drain it and read it "
                            "first: lockstep node command %" LKS_STR_FMT " idle",
                            at->url, LKS_STR_ARG(node), LKS_STR_ARG(node));
    }
    return LKS_OK;
}

/* Whether there is a controller to ask: by the environment or a context, since --ca is the
 * endpoint's here; or where it listens on this machine. */
static bool has_server(const struct lks_cli *cli)
{
    const char *socket = LKS_REMOTE_DEFAULT;
    return cli->server != NULL || access(socket + strlen("unix:"), F_OK) == 0 || errno == EACCES;
}

static enum lks_code ask_about(struct lks_cli *cli, struct lks_bmc_update *u, const char *url,
                               const char *suffix, struct lks_err *err)
{
    static const struct lks_args none;
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    char text[LKS_CURL_URL_MAX + 8];
    snprintf(text, sizeof(text), "%s%s", url, suffix);
    lks_remote_question_init(&q, "GET", "/v1/endpoints");
    lks_remote_path_query(&q.path, "url", lks_str_from(text));
    if (lks_remote_question_ask(cli, &none, &q, err) == LKS_OK)
        return judge(&q.answer, u, err);
    struct lks_err why = *err;
    return lks_fail(err, why.code,
                    "%s: lockstepd does not say whether it manages this endpoint (%s); start it, "
                    "or say --unmanaged where it is known that it does not",
                    u->at->url, why.msg);
}

/* By the address as it is written, with and without the port that need not be. */
static enum lks_code ask_both(struct lks_cli *cli, struct lks_bmc_update *u, const char *url,
                              struct lks_err *err)
{
    const char *end = strrchr(url, ']');
    bool has_port = strchr(end != NULL ? end : url + strlen("https://"), ':') != NULL;
    if (ask_about(cli, u, url, "", err) != LKS_OK)
        return err->code;
    return has_port ? LKS_OK : ask_about(cli, u, url, ":443", err);
}

enum lks_code lks_bmc_update_managed(struct lks_cli *cli, const struct lks_args *args,
                                     struct lks_bmc_update *u, struct lks_err *err)
{
    const struct lks_bmc_at *at = u->at;
    if (lks_context_apply(cli, args, err) != LKS_OK)
        return err->code;
    u->unasked = !has_server(cli);
    if (u->unasked)
        return LKS_OK;
    enum lks_code code = ask_both(cli, u, at->url, err);
    for (size_t i = 0; i < at->address_count && code == LKS_OK; i++) {
        if (strcmp(at->addresses[i], at->url) != 0)
            code = ask_both(cli, u, at->addresses[i], err);
    }
    if (code == LKS_OK || code == LKS_E_REFUSED || !lks_args_has(args, "--unmanaged"))
        return code;
    fprintf(cli->err, "lockstep: %s\n", err->msg);
    return LKS_OK;
}

enum lks_code lks_bmc_update_unasked(const struct lks_args *args, const struct lks_bmc_update *u,
                                     struct lks_err *err)
{
    if (!u->unasked || !lks_args_has(args, "--yes") || lks_args_has(args, "--unmanaged") ||
        lks_curl_url_local(u->at->url))
        return LKS_OK;
    return lks_fail(err, LKS_E_REFUSED,
                    "%s: no controller is configured here, so whether one manages this endpoint is "
                    "unknown; name the controller ($LOCKSTEP_SERVER, or a context of 'lockstep "
                    "config'), or give --unmanaged if none manages it",
                    u->at->url);
}

enum lks_code lks_bmc_update_revoked(struct lks_cli *cli, const struct lks_args *args,
                                     const struct lks_bmc_update *u, struct lks_err *err)
{
    if (lks_context_apply(cli, args, err) != LKS_OK)
        return err->code;
    if (u->bundle[0] == '\0' || !has_server(cli))
        return LKS_OK;
    enum lks_code code = lks_bundledir_revoked(cli, u->folder, u->bundle, u->managed, err);
    return code == LKS_E_REFUSED || !lks_args_has(args, "--unmanaged") ? code : LKS_OK;
}
