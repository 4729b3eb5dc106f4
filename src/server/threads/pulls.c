#include "server/threads/pulls.h"

#include "drivers/service/image_check.h"
#include "port/ticket.h"
#include "server/threads/client_parts.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    GOOD_MS = 600000,
    PATIENCE_MS = 120000,
    LASTS_MS = 3600000,
    PEER_MAX = LKS_CURL_URL_MAX + 1,
};

struct lks_pulling {
    struct lks_client_dialog talk; /* first: by it the thread finds whose dialog ended */
    struct lks_client_thread *client;
    struct lks_pulling *next;
    struct lks_dialog *dialog; /* NULL: over, or not begun */
    struct lks_image_check check;
    char digest[LKS_DIGEST_SIZE];
    char peer[PEER_MAX], path[LKS_HTTP_PATH_MAX];
};

static void pulling_free(struct lks_pulling *p)
{
    struct lks_pulling **at = &p->client->pulls.open;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    if (p->dialog != NULL)
        lks_talks_cancel(p->client->talks, p->dialog);
    lks_image_check_fini(&p->check);
    free(p);
}

void lks_pulls_fini(struct lks_client_thread *c)
{
    while (c->pulls.open != NULL)
        pulling_free(c->pulls.open);
}

/* Every job that waits for this image. A job is over only once its end was recorded, so that none
 * goes away meanwhile. */
static void tell(struct lks_client_thread *c, const char *digest, const struct lks_err *why)
{
    for (struct lks_client_job *job = c->jobs; job != NULL; job = job->next) {
        if (job->pulling && strcmp(job->intent.image.digest, digest) == 0)
            lks_client_pulled(job, why);
    }
}

static void ended(struct lks_client_dialog *talk, const struct lks_err *why)
{
    struct lks_pulling *p = (struct lks_pulling *)talk;
    struct lks_client_thread *c = p->client;
    struct lks_pulls *pulls = &c->pulls;
    struct lks_err told = *why;
    char digest[LKS_DIGEST_SIZE];
    memcpy(digest, p->digest, sizeof(digest));
    if (why->code != LKS_OK)
        (void)!lks_fail(
            &told, why->code, "no endpoint is asked to fetch %s%s, which %s: %s", p->peer, p->path,
            why->code == LKS_E_INVALID ? "is another file" : "cannot be read", why->msg);
    p->dialog = NULL; /* it is gone when this returns */
    pulling_free(p);
    if (why->code == LKS_OK) {
        memcpy(pulls->good[pulls->next].digest, digest, sizeof(digest));
        pulls->good[pulls->next].until = lks_daemon_now().mono + GOOD_MS;
        pulls->next = (pulls->next + 1) % LKS_PULLS_GOOD;
    }
    tell(c, digest, &told);
}

static enum lks_code begin(struct lks_pulling *p, const struct lks_client_job *job,
                           struct lks_err *err)
{
    struct lks_client_thread *c = p->client;
    const struct lks_config *config = lks_daemon_config(c->daemon);
    struct lks_str peer, path;
    lks_ticket_split(job->intent.pull, &peer, &path);
    if (peer.len >= sizeof(p->peer) || path.len >= sizeof(p->path))
        return lks_fail(err, LKS_E_INVALID, "bmc.pull is too long");
    memcpy(p->digest, job->intent.image.digest, sizeof(p->digest));
    snprintf(p->peer, sizeof(p->peer), "%" LKS_STR_FMT, LKS_STR_ARG(peer));
    snprintf(p->path, sizeof(p->path), "%" LKS_STR_FMT, LKS_STR_ARG(path));
    p->check = (struct lks_image_check){
        .path = lks_str_from(p->path),
        .digest = p->digest,
        .size = job->intent.image_size,
        .deadline = lks_talks_now(c->talks) + LASTS_MS * c->speed,
        .patience = PATIENCE_MS,
    };
    const struct lks_dialog_options options = {
        .peer = {.url = p->peer, .ca = config->bmc_pull_ca.ptr},
        .impatient = true,
        .ops = &lks_image_check_talk,
        .ctx = &p->talk,
    };
    if (lks_image_check_init(&p->check, err) != LKS_OK ||
        lks_talks_add(c->talks, &options, &p->dialog, err) != LKS_OK)
        return err->code;
    lks_image_check_begin(lks_talks_value(p->dialog), &p->check);
    lks_talks_start(c->talks, p->dialog, false);
    return LKS_OK;
}

static bool is_open(const struct lks_client_thread *c, const char *digest)
{
    const struct lks_pulling *p = c->pulls.open;
    while (p != NULL && strcmp(p->digest, digest) != 0)
        p = p->next;
    return p != NULL;
}

bool lks_pulls_ready(struct lks_client_thread *c, struct lks_client_job *job)
{
    const char *digest = job->intent.image.digest;
    struct lks_err err = {0};
    for (size_t i = 0; i < LKS_PULLS_GOOD; i++) {
        if (strcmp(c->pulls.good[i].digest, digest) == 0 &&
            lks_daemon_now().mono < c->pulls.good[i].until)
            return true;
    }
    job->pulling = true;
    if (is_open(c, digest))
        return false;
    struct lks_pulling *p = calloc(1, sizeof(*p));
    if (p == NULL)
        abort(); /* as elsewhere in this thread */
    *p = (struct lks_pulling){.talk = {.ended = ended}, .client = c, .next = c->pulls.open};
    c->pulls.open = p;
    if (begin(p, job, &err) == LKS_OK)
        return false;
    pulling_free(p);
    lks_client_pulled(job, &err);
    return false;
}
