/* Requests that the library refuses by itself, with pages of its own. It reports each on its log
 * before it sends anything, but not for which connection; the connection is found by its state, and
 * gets our answer instead. */
#include "drivers/http/httpd_parts.h"

#include <string.h>

enum { PROBES_MAX = 8 };

static const struct lks_httpd_refusal headers_bad = {
    MHD_HTTP_BAD_REQUEST, LKS_E_INVALID,
    "the headers cannot be taken: Content-Length has to be a number"};
static const struct lks_httpd_refusal target_long = {
    MHD_HTTP_URI_TOO_LONG, LKS_E_LIMIT,
    "the path and the query are too long: about 7 KiB are taken"};
static const struct lks_httpd_refusal headers_long = {
    MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE, LKS_E_LIMIT,
    "the headers or the query are too large: about 7 KiB are taken, and 100 parts"};

/* Whether the library has no memory left for what this connection sends: it is asked to note one
 * more value, of a kind that is never read. That takes some bytes of a connection with memory left,
 * so it is done a few times for each request alone, and where something was heard. */
static bool is_full(struct lks_httpd_peer_state *peer)
{
    if (peer->probes == PROBES_MAX || (peer->trust != NULL && !peer->coming))
        return false;
    peer->probes++;
    return MHD_set_connection_value(peer->exchange.connection, MHD_POSTDATA_KIND, "", NULL) !=
           MHD_YES;
}

/* Headers that are all there and were not shown to us were refused, for a Content-Length that is no
 * number or cookies that are too long. The library would answer twice: it makes the answer when it
 * finds the fault, goes on as if there were none, and makes it again. */
static const struct lks_httpd_refusal *find_fault(struct lks_httpd_peer_state *peer,
                                                  unsigned status)
{
    enum lks_httpd_stage stage = peer->exchange.stage;
    bool long_target = status == MHD_HTTP_URI_TOO_LONG;
    bool long_headers = status == MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE;
    if (peer->shut || peer->answered || stage > LKS_STAGE_LINE)
        return NULL;
    if (stage == LKS_STAGE_NONE)
        return long_target && is_full(peer) ? &target_long : NULL;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(peer->exchange.connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (info != NULL && info->header_size > 0)
        return long_headers ? &headers_long : &headers_bad;
    return long_headers && is_full(peer) ? &headers_long : NULL;
}

void lks_httpd_on_fault(void *cls, const char *fmt, va_list args)
{
    struct lks_httpd *h = cls;
    struct lks_httpd_peer_state *peer = NULL;
    if (strstr(fmt, "HTTP response code is %u") == NULL)
        return; /* of other troubles, in which it sends nothing */
    unsigned status = va_arg(args, unsigned);
    TAILQ_FOREACH(peer, &h->peers, all)
    {
        const struct lks_httpd_refusal *why = find_fault(peer, status);
        if (why != NULL)
            lks_httpd_refuse_raw(peer, why);
    }
}
