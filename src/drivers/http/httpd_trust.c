/* Who may speak TLS with us. MHD asks for a client certificate and accepts none, keeps tickets off
 * and loads certificates once; a session exists before its handshake begins, so all of that is set
 * on the session, with credentials of our own. */
#include "drivers/http/httpd_parts.h"

#include <gnutls/x509.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

struct lks_httpd_trust {
    unsigned refs;
    enum lks_httpd_clients clients;
    gnutls_certificate_credentials_t credentials;
};

static const struct lks_httpd_refusal certificate_bad = {
    MHD_HTTP_FORBIDDEN, LKS_E_DENIED,
    "the client certificate is not of a known authority, not valid now, or not a client's"};

void lks_httpd_trust_drop(struct lks_httpd_trust *trust)
{
    if (trust == NULL || --trust->refs > 0)
        return;
    gnutls_certificate_free_credentials(trust->credentials);
    free(trust);
}

static gnutls_datum_t datum(struct lks_str s)
{
    return (gnutls_datum_t){(unsigned char *)s.ptr, (unsigned)s.len};
}

static enum lks_code load(struct lks_httpd_trust *trust, const struct lks_httpd_options *o,
                          struct lks_err *err)
{
    gnutls_datum_t certificate = datum(o->certificate), key = datum(o->key),
                   ca = datum(o->client_ca);
    int code = gnutls_certificate_allocate_credentials(&trust->credentials);
    if (code < 0)
        return lks_fail_nomem(err);
    code = gnutls_certificate_set_x509_key_mem2(trust->credentials, &certificate, &key,
                                                GNUTLS_X509_FMT_PEM, NULL, 0);
    if (code < 0)
        return lks_fail(err, LKS_E_INVALID, "the server's certificate and key: %s",
                        gnutls_strerror(code));
    if (o->clients == LKS_HTTPD_CLIENTS_NONE)
        return LKS_OK;
    code = gnutls_certificate_set_x509_trust_mem(trust->credentials, &ca, GNUTLS_X509_FMT_PEM);
    if (code <= 0)
        return lks_fail(err, LKS_E_INVALID, "the authority of clients: %s",
                        code < 0 ? gnutls_strerror(code) : "no certificate in it");
    return LKS_OK;
}

enum lks_code lks_httpd_trust_new(const struct lks_httpd_options *o, struct lks_httpd_trust **out,
                                  struct lks_err *err)
{
    struct lks_httpd_trust *trust = calloc(1, sizeof(*trust));
    if (trust == NULL)
        return lks_fail_nomem(err);
    trust->refs = 1;
    trust->clients = o->clients;
    enum lks_code code = load(trust, o, err);
    if (code != LKS_OK) {
        lks_httpd_trust_drop(trust);
        return code;
    }
    *out = trust;
    return LKS_OK;
}

static gnutls_session_t session_of(const struct lks_httpd_peer_state *peer)
{
    return MHD_get_connection_info(peer->exchange.connection, MHD_CONNECTION_INFO_GNUTLS_SESSION)
        ->tls_session;
}

size_t lks_httpd_trust_pending(const struct lks_httpd_peer_state *peer)
{
    return gnutls_record_check_pending(session_of(peer));
}

void lks_httpd_stale(struct lks_httpd_peer_state *peer)
{
    if (peer->fresh)
        TAILQ_REMOVE(&peer->httpd->fresh, peer, heard);
    peer->fresh = false;
}

/* GnuTLS reads through this, so that we know who was heard. */
static ssize_t pull(gnutls_transport_ptr_t ptr, void *out, size_t size)
{
    struct lks_httpd_peer_state *peer = ptr;
    ssize_t got = recv(peer->fd, out, size, 0);
    peer->coming = peer->coming || got > 0;
    if (got > 0 && !peer->fresh) {
        peer->fresh = true;
        TAILQ_INSERT_TAIL(&peer->httpd->fresh, peer, heard);
    }
    return got;
}

/* And writes through this. An answer leaves in more than one piece, and the library makes no
 * callback for its first: that too is something done. */
static ssize_t push(gnutls_transport_ptr_t ptr, const giovec_t *pieces, int count)
{
    struct lks_httpd_peer_state *peer = ptr;
    struct msghdr message = {.msg_iov = (struct iovec *)pieces, .msg_iovlen = (size_t)count};
    ssize_t sent = sendmsg(peer->fd, &message, MSG_NOSIGNAL);
    peer->httpd->progress += sent > 0 && peer->exchange.stage == LKS_STAGE_ANSWERED;
    return sent;
}

void lks_httpd_trust_send(const struct lks_httpd_peer_state *peer, struct lks_str bytes)
{
    (void)gnutls_record_send(session_of(peer), bytes.ptr, bytes.len);
    (void)gnutls_bye(session_of(peer), GNUTLS_SHUT_WR);
}

void lks_httpd_trust_begin(struct lks_httpd_peer_state *peer)
{
    static const gnutls_certificate_request_t requests[] = {
        [LKS_HTTPD_CLIENTS_NONE] = GNUTLS_CERT_IGNORE,
        [LKS_HTTPD_CLIENTS_OPTIONAL] = GNUTLS_CERT_REQUEST,
        [LKS_HTTPD_CLIENTS_REQUIRED] = GNUTLS_CERT_REQUIRE,
    };
    struct lks_httpd *h = peer->httpd;
    gnutls_session_t session = session_of(peer);
    peer->trust = h->trust;
    peer->trust->refs++;
    gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, peer->trust->credentials);
    gnutls_certificate_server_set_request(session, requests[peer->trust->clients]);
    gnutls_session_ticket_enable_server(session, &h->ticket_key);
    gnutls_transport_set_ptr(session, peer);
    gnutls_transport_set_pull_function(session, pull);
    gnutls_transport_set_vec_push_function(session, push);
}

/* This also covers a resumed session: its ticket carries the chain, which is judged again against
 * today's date. The purpose keeps a server's certificate from passing as a client's. */
const struct lks_httpd_refusal *lks_httpd_trust_judge(struct lks_httpd_peer_state *peer)
{
    gnutls_session_t session = session_of(peer);
    gnutls_typed_vdata_st purpose = {GNUTLS_DT_KEY_PURPOSE_OID,
                                     (unsigned char *)GNUTLS_KP_TLS_WWW_CLIENT, 0};
    unsigned count = 0, faults = 0;
    if (peer->trust->clients == LKS_HTTPD_CLIENTS_NONE)
        return NULL;
    const gnutls_datum_t *chain = gnutls_certificate_get_peers(session, &count);
    if (count == 0 && peer->trust->clients == LKS_HTTPD_CLIENTS_OPTIONAL)
        return NULL;
    if (count == 0 || gnutls_certificate_verify_peers(session, &purpose, 1, &faults) != 0 ||
        faults != 0)
        return &certificate_bad;
    peer->peer.kind = LKS_PEER_CERTIFICATE;
    peer->ends = gnutls_certificate_expiration_time_peers(session);
    peer->peer.certificate = (struct lks_str){(const char *)chain[0].data, chain[0].size};
    return NULL;
}

const struct lks_httpd_refusal *lks_httpd_trust_again(const struct lks_httpd_peer_state *peer)
{
    return peer->ends != 0 && time(NULL) > peer->ends ? &certificate_bad : NULL;
}
