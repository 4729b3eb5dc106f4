/* bmc update --pull: the image is read from where the endpoint is to fetch it, and compared. */
#include "cli/firmware/cmd_bmc_update.h"
#include "drivers/http/talks.h"
#include "drivers/service/image_check.h"
#include "port/ticket.h"

#include <stdio.h>

enum { TURN_MS = 500, PATIENCE_MS = 120000, LASTS_MS = 3600000 };

static enum lks_code read_image(struct lks_talks *talks, const struct lks_curl_peer *peer,
                                struct lks_image_check *check, const struct lks_bmc_talk *p,
                                struct lks_err *err)
{
    const struct lks_dialog_options options = {
        .peer = *peer, .impatient = true, .ops = &lks_image_check_talk};
    struct lks_dialog *dialog = NULL;
    check->deadline = lks_talks_now(talks) + LASTS_MS;
    check->patience = PATIENCE_MS;
    if (lks_talks_add(talks, &options, &dialog, err) != LKS_OK)
        return err->code;
    lks_image_check_begin(lks_talks_value(dialog), check);
    lks_talks_start(talks, dialog, false);
    while (!p->ended) {
        if (lks_talks_turn(talks, TURN_MS, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

enum lks_code lks_bmc_update_pulled(const struct lks_bmc_update *u, const char *ca,
                                    struct lks_err *err)
{
    struct lks_bmc_talk p = {0};
    const struct lks_talks_options options = {.ctx = &p, .ended = lks_bmc_at_ended};
    struct lks_talks *talks = NULL;
    char server[LKS_CURL_URL_MAX + 1];
    struct lks_str peer, path;
    if (u->pull[0] == '\0' || u->bundle[0] == '\0')
        return LKS_OK;
    if (ca == NULL)
        return lks_fail(
            err, LKS_E_USAGE,
            "--pull-ca: the CA of that server (PEM): the image is read there before the "
            "endpoint does");
    lks_ticket_split(lks_str_from(u->pull), &peer, &path);
    if (peer.len >= sizeof(server))
        return lks_fail(err, LKS_E_USAGE, "--pull: the name of its server is too long");
    snprintf(server, sizeof(server), "%" LKS_STR_FMT, LKS_STR_ARG(peer));
    struct lks_image_check check = {
        .path = path, .digest = u->intent.image.digest, .size = u->intent.image_size};
    if (lks_curl_url_check(server, false, err) != LKS_OK ||
        lks_image_check_init(&check, err) != LKS_OK)
        return err->code;
    enum lks_code code = lks_talks_new(&options, &talks, err);
    if (code == LKS_OK)
        code = read_image(talks, &(struct lks_curl_peer){.url = server, .ca = ca}, &check, &p, err);
    lks_talks_free(talks);
    lks_image_check_fini(&check);
    if (code != LKS_OK || p.why.code == LKS_OK)
        return code;
    bool other = p.why.code == LKS_E_INVALID;
    return lks_fail(err, other ? LKS_E_REFUSED : p.why.code, "--pull: %s %s: %s", u->pull,
                    other ? "is another file" : "cannot be read", p.why.msg);
}
