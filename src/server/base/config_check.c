/* What holds between the keys of a section, and of addresses that a form does not tell. */
#include "codec/notation/hostlist.h"
#include "drivers/http/curl.h"
#include "port/http.h"
#include "port/measures.h"
#include "port/ticket.h"
#include "server/base/bridges.h"
#include "server/base/config_parts.h"

#include <stdio.h>
#include <string.h>
#include <sys/un.h>

static enum lks_code check_controller(struct lks_config_reader *r, const struct lks_doc *top)
{
    const struct lks_config *c = r->out;
    if (lks_str_find(c->postgres, LKS_STR("password=")) >= 0)
        return LKS_CONFIG_FAIL(
            r, lks_doc_member(top, "store"),
            "postgres: a password does not belong here; name a passfile with passfile=PATH");
    if (c->controller_name.len > 0 && (!lks_hostlist_is_name(c->controller_name) ||
                                       c->controller_name.len > LKS_CONFIG_LABEL_MAX))
        return LKS_CONFIG_FAIL(r, lks_doc_member(top, "controller"),
                               "name: expected letters, digits, '.', '-' and '_', %d at the most",
                               LKS_CONFIG_LABEL_MAX);
    if (c->controller_url.len > 0 && !lks_str_starts(c->controller_url, "https://"))
        return LKS_CONFIG_FAIL(r, lks_doc_member(top, "controller"),
                               "url: expected https://HOST:PORT");
    return LKS_OK;
}

/* Whether a peer there would be asked: the same rule as at use. `peer` is the address without a
 * path, `ca` the authority that certifies it. */
static enum lks_code check_peer(struct lks_config_reader *r, const struct lks_doc *section,
                                struct lks_str peer, struct lks_str ca)
{
    const struct lks_doc *at = lks_doc_member(section, "url");
    char text[LKS_CURL_URL_MAX + 2];
    struct lks_err why = {0};
    snprintf(text, sizeof(text), "%" LKS_STR_FMT, LKS_STR_ARG(peer));
    bool secure = lks_str_starts(peer, "https://"), bare = lks_str_starts(peer, "http://");
    if (!secure && !bare)
        return LKS_CONFIG_FAIL(r, at, "expected https://, or http:// on this machine");
    if (bare && lks_str_find(peer, LKS_STR("@")) < 0 && !lks_curl_url_local(text))
        return LKS_CONFIG_FAIL(
            r, at,
            "%s is not on this machine, and without TLS the answering server is not verified; use "
            "https:// and name a ca",
            text);
    if (lks_curl_url_check(text, true, &why) != LKS_OK)
        return LKS_CONFIG_FAIL(r, at, "%s", why.msg);
    if (secure && ca.len == 0)
        return LKS_CONFIG_FAIL(
            r, section,
            "ca: needed for an https:// url: the file of the authority that signs for it");
    return LKS_OK;
}

/* Whether the other end can be known, and we to it. */
static enum lks_code check_metrics(struct lks_config_reader *r, const struct lks_doc *top)
{
    const struct lks_config *c = r->out;
    const struct lks_doc *at = lks_doc_member(top, "metrics");
    if (c->metrics_url.len == 0)
        return LKS_OK;
    if (check_peer(r, at, c->metrics_url, c->metrics_ca) != LKS_OK)
        return r->err->code;
    if (c->metrics_login != LKS_MEASURE_OPEN && c->metrics_credentials.len == 0)
        return LKS_CONFIG_FAIL(
            r, at, "credentials: needed for this login: file:/PATH, exec:/PROGRAM or env:NAME");
    return LKS_OK;
}

/* slurmrestd knows us by a token, but at a socket; a certificate may be wanted by the TLS in front
 * of it. */
static enum lks_code check_rest(struct lks_config_reader *r, const struct lks_doc *at,
                                const char *url)
{
    const struct lks_config *c = r->out;
    struct lks_str peer = lks_str_from(url);
    if (lks_str_starts(peer, "https:") && c->slurm_ca.len == 0)
        return LKS_CONFIG_FAIL(r, at, "ca: needed for slurmrestd with an https:// url");
    if (!lks_str_starts(peer, "unix:") && c->slurm_rest_token.len == 0)
        return LKS_CONFIG_FAIL(r, at,
                               "rest_token: needed for slurmrestd but at a Unix socket: file:/PATH "
                               "of a JSON web token");
    return LKS_OK;
}

static enum lks_code check_bridge(struct lks_config_reader *r, const struct lks_doc *at,
                                  const char *url)
{
    static const char rest[] = "rest+";
    const struct lks_config *c = r->out;
    struct lks_err why = {0};
    bool is_rest = lks_str_starts(lks_str_from(url), rest);
    url = is_rest ? url + strlen(rest) : url;
    if (lks_curl_url_check(url, true, &why) != LKS_OK)
        return LKS_CONFIG_FAIL(r, at, "bridges: %s", why.msg);
    if (is_rest)
        return check_rest(r, at, url);
    bool tls = lks_str_starts(lks_str_from(url), "https:");
    if (tls && (c->slurm_ca.len == 0 || c->slurm_certificate.len == 0 || c->slurm_key.len == 0))
        return LKS_CONFIG_FAIL(r, at,
                               "ca, certificate and key: needed for a bridge with an https:// url");
    return LKS_OK;
}

/* An API server: the network is between us, so there is TLS, and the token or certificate says who
 * we are. */
static enum lks_code check_kubernetes(struct lks_config_reader *r, const struct lks_doc *at,
                                      const char *url)
{
    const struct lks_config *c = r->out;
    struct lks_err why = {0};
    if (!lks_str_starts(lks_str_from(url), "https:"))
        return LKS_CONFIG_FAIL(r, at, "bridges: expected SITE=https://HOST:PORT, not '%s'", url);
    if (lks_curl_url_check(url, false, &why) != LKS_OK)
        return LKS_CONFIG_FAIL(r, at, "bridges: %s", why.msg);
    if (c->kubernetes_ca.len == 0)
        return LKS_CONFIG_FAIL(r, at, "ca: needed for an API server of Kubernetes");
    if ((c->kubernetes_certificate.len == 0) != (c->kubernetes_key.len == 0))
        return LKS_CONFIG_FAIL(r, at, "certificate and key: one of them is missing");
    if ((c->kubernetes_token_file.len == 0) == (c->kubernetes_key.len == 0))
        return LKS_CONFIG_FAIL(r, at, "needs either token_file, or certificate and key");
    return LKS_OK;
}

/* Whether bridges can be known, and we to them; a socket of this machine needs no certificate. */
static enum lks_code check_bridges(struct lks_config_reader *r, const struct lks_doc *top)
{
    const struct lks_config *c = r->out;
    const struct lks_doc *at = lks_doc_member(top, "slurm");
    struct lks_bridges_at next = {0};
    struct lks_bridge b;
    if (lks_str_starts(c->slurm_rest_token, "exec:"))
        return LKS_CONFIG_FAIL(r, at, "rest_token: expected file:/PATH");
    if ((c->slurm_certificate.len == 0) != (c->slurm_key.len == 0))
        return LKS_CONFIG_FAIL(r, at, "certificate and key: one of them is missing");
    while (lks_bridges_next(c, &next, &b)) {
        const struct lks_doc *its = lks_doc_member(top, b.sched);
        bool kubernetes = strcmp(b.sched, "kubernetes") == 0;
        if ((kubernetes ? check_kubernetes : check_bridge)(r, its, b.url.ptr) != LKS_OK)
            return r->err->code; /* the form was checked */
    }
    return LKS_OK;
}

static struct lks_str outside_name(struct lks_str person)
{
    return (struct lks_str){person.ptr, person.len - lks_str_last(person, '=').len - 1};
}

/* A vote is that of one person: no name stands for two. */
static enum lks_code check_people(struct lks_config_reader *r, const struct lks_doc *at)
{
    const struct lks_config_list *people = &r->out->tickets_people;
    for (size_t i = 0; i < people->count; i++) {
        struct lks_str name = outside_name(people->items[i]);
        for (size_t k = 0; k < i; k++) {
            if (lks_str_eq(name, outside_name(people->items[k])))
                return LKS_CONFIG_FAIL(
                    r, at, "people: '%" LKS_STR_FMT "' is there twice; whose vote is it?",
                    LKS_STR_ARG(name));
        }
    }
    return LKS_OK;
}

/* Valid in the line of a request without escapes: anything else would fail at each message, though
 * it passed the check. */
static bool is_request_path(struct lks_str path)
{
    for (size_t i = 0; i < path.len; i++) {
        if (path.ptr[i] <= ' ' || path.ptr[i] > '~' || path.ptr[i] == '#')
            return false;
    }
    return path.len < LKS_HTTP_PATH_MAX;
}

/* The same for a ticket system. */
static enum lks_code check_tickets(struct lks_config_reader *r, const struct lks_doc *top)
{
    const struct lks_config *c = r->out;
    const struct lks_doc *at = lks_doc_member(top, "tickets");
    struct lks_str peer, path;
    if (check_people(r, at) != LKS_OK)
        return r->err->code;
    if (c->tickets_url.len == 0)
        return LKS_OK;
    lks_ticket_split(c->tickets_url, &peer, &path);
    if (check_peer(r, at, peer, c->tickets_ca) != LKS_OK)
        return r->err->code;
    if (!is_request_path(path))
        return LKS_CONFIG_FAIL(
            r, lks_doc_member(at, "url"),
            "what follows the host is less than %d plain characters, without blanks or "
            "'#'; write others as %%XX",
            LKS_HTTP_PATH_MAX);
    if (c->tickets_secret.len == 0)
        return LKS_CONFIG_FAIL(
            r, at, "secret: needed where tickets are sent: file:/PATH or exec:/PROGRAM");
    return LKS_OK;
}

/* A server that answers in the provider's place can name any person: there is no way without TLS,
 * not even on this machine. */
static enum lks_code check_oidc(struct lks_config_reader *r, const struct lks_doc *top)
{
    const struct lks_config *c = r->out;
    const struct lks_doc *section = lks_doc_member(top, "oidc");
    const struct lks_doc *at = lks_doc_member(section, "issuer");
    struct lks_str peer, path;
    char text[LKS_CURL_URL_MAX + 2];
    struct lks_err why = {0};
    if (c->oidc_issuer.len == 0)
        return c->oidc_roles.count == 0 && c->oidc_client_secret.len == 0
                   ? LKS_OK
                   : LKS_CONFIG_FAIL(r, section, "issuer: needed to log in: https://HOST/PATH");
    if (!lks_str_starts(c->oidc_issuer, "https://"))
        return LKS_CONFIG_FAIL(r, at, "expected https://HOST/PATH, on this machine too");
    lks_ticket_split(c->oidc_issuer, &peer, &path);
    snprintf(text, sizeof(text), "%" LKS_STR_FMT, LKS_STR_ARG(peer));
    if (lks_curl_url_check(text, false, &why) != LKS_OK)
        return LKS_CONFIG_FAIL(r, at, "%s", why.msg);
    if (!is_request_path(path) || memchr(path.ptr, '?', path.len) != NULL)
        return LKS_CONFIG_FAIL(
            r, at,
            "what follows the host is a path of less than %d plain characters, without "
            "blanks, '#' or '?', as the provider writes its issuer",
            LKS_HTTP_PATH_MAX);
    if (lks_str_find(c->oidc_scopes, LKS_STR("openid")) < 0)
        return LKS_CONFIG_FAIL(r, section, "scopes: 'openid' has to be among them");
    return LKS_OK;
}

/* Endpoints fetch what they flash from there: over plain http anybody on the way chooses it. */
static enum lks_code check_pull(struct lks_config_reader *r, const struct lks_doc *top)
{
    const struct lks_doc *at = lks_doc_member(lks_doc_member(top, "bmc"), "pull");
    struct lks_str pull = r->out->bmc_pull, peer, path;
    char text[LKS_CURL_URL_MAX + 2];
    struct lks_err why = {0};
    if (pull.len == 0)
        return LKS_OK;
    if (!lks_str_starts(pull, "https://"))
        return LKS_CONFIG_FAIL(
            r, at,
            "expected https://HOST/PATH: without TLS an attacker on the way chooses what "
            "an endpoint flashes");
    lks_ticket_split(pull, &peer, &path);
    snprintf(text, sizeof(text), "%" LKS_STR_FMT, LKS_STR_ARG(peer));
    if (lks_curl_url_check(text, true, &why) != LKS_OK)
        return LKS_CONFIG_FAIL(r, at, "%s", why.msg);
    if (!is_request_path(path) || memchr(path.ptr, '?', path.len) != NULL)
        return LKS_CONFIG_FAIL(r, at,
                               "what follows the host is a path of less than %d plain characters, "
                               "without blanks, '#' or '?': the digest is added to it",
                               LKS_HTTP_PATH_MAX);
    if (r->out->bmc_pull_ca.len == 0)
        return LKS_CONFIG_FAIL(
            r, at, "needs bmc.pull_ca: lockstepd reads an image there before an endpoint does");
    return LKS_OK;
}

static enum lks_code check_sockets(struct lks_config_reader *r, const struct lks_doc *top)
{
    const struct {
        const char *key;
        struct lks_str path;
    } sockets[] = {{"socket", r->out->socket}, {"admit.socket", r->out->admit_socket}};
    for (size_t i = 0; i < LKS_COUNT(sockets); i++) {
        if (sockets[i].path.len >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
            return LKS_CONFIG_FAIL(
                r, top,
                "%s: a path has at most %zu bytes here, and this one %zu; give a "
                "shorter one as '%s'",
                sockets[i].key, sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1,
                sockets[i].path.len, sockets[i].key);
    }
    if (lks_str_eq(r->out->socket, r->out->admit_socket))
        return LKS_CONFIG_FAIL(r, top,
                               "socket and admit.socket are the same place; give each its own");
    return LKS_OK;
}

/* Without an authority any caller could pass as an API server. */
static enum lks_code check_webhook(struct lks_config_reader *r, const struct lks_doc *top)
{
    const struct lks_config *c = r->out;
    if (c->webhook_listen.len > 0 && c->webhook_client_ca.len == 0)
        return LKS_CONFIG_FAIL(r, lks_doc_member(top, "webhook"),
                               "client_ca: needed with listen: the file of the authority that "
                               "signs certificates of API servers");
    return LKS_OK;
}

enum lks_code lks_config_check(struct lks_config_reader *r, const struct lks_doc *top)
{
    if (check_controller(r, top) != LKS_OK || check_metrics(r, top) != LKS_OK ||
        check_tickets(r, top) != LKS_OK || check_oidc(r, top) != LKS_OK ||
        check_pull(r, top) != LKS_OK || check_bridges(r, top) != LKS_OK ||
        check_webhook(r, top) != LKS_OK)
        return r->err->code;
    return check_sockets(r, top);
}
