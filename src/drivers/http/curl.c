#include "drivers/http/curl.h"

#include "codec/format/base64.h"
#include "drivers/http/curl_body.h"
#include "drivers/http/curl_lib.h"
#include "drivers/http/curl_wide.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#define UNIX "unix:"

enum {
    KEPT = 16,
    SPARE_MAX = 64,           /* handles that are used again */
    PIN_MAX = 64,             /* "sha256//" and 44 characters */
    EXPECT_FROM = 256 * 1024, /* from so many bytes on it is worth asking whether they are wanted */
};

struct lks_curl_exchange {
    struct lks_curl *owner;
    LIST_ENTRY(lks_curl_exchange) others;
    CURL *easy;
    CURLM *multi; /* that it is carried on by */
    char url[LKS_CURL_URL_MAX + 1];
    struct lks_http_request request;
    struct lks_curl_body body;
    struct curl_slist *lines;
    struct lks_buf head, answer;
    struct lks_err why; /* our own reason to end it, or LKS_OK */
    lks_curl_done_fn *done;
    void *ctx;
};

struct lks_curl {
    const struct lks_curl_lib *lib;
    struct lks_curl_options options;
    CURLM *multi;              /* one connection for each peer; */
    struct lks_curl_wide wide; /* several */
    LIST_HEAD(exchanges, lks_curl_exchange) running;
    CURL *spare[SPARE_MAX];
    size_t spare_count;
};

/* Addresses --------------------------------------------------------------------------------- */

static bool is_host_char(char c)
{
    return isalnum((unsigned char)c) || c == '.' || c == '-';
}

/* "name", "10.0.0.1" or "[::1]": what is behind it is `rest`. */
static bool cut_host(struct lks_str s, struct lks_str *host, struct lks_str *rest)
{
    size_t n = 0;
    bool bracket = s.len > 0 && s.ptr[0] == '[';
    if (bracket) {
        while (n < s.len && s.ptr[n] != ']')
            n++;
        *host = (struct lks_str){s.ptr + 1, n - 1};
        n++;
        char text[INET6_ADDRSTRLEN] = "";
        struct in6_addr address;
        if (n > s.len || host->len >= sizeof(text))
            return false;
        memcpy(text, host->ptr, host->len);
        if (inet_pton(AF_INET6, text, &address) != 1)
            return false;
    } else {
        while (n < s.len && is_host_char(s.ptr[n]))
            n++;
        *host = (struct lks_str){s.ptr, n};
    }
    *rest = (struct lks_str){s.ptr + n, s.len - n};
    return host->len > 0 && host->ptr[0] != '-';
}

static bool is_loopback(struct lks_str host)
{
    char text[INET_ADDRSTRLEN] = "";
    uint8_t address[4];
    if (lks_str_is(host, "localhost") || lks_str_is(host, "::1"))
        return true;
    if (host.len >= sizeof(text))
        return false;
    memcpy(text, host.ptr, host.len);
    return inet_pton(AF_INET, text, address) == 1 && address[0] == 127;
}

/* What is behind the scheme. */
static struct lks_str skip_scheme(struct lks_str url)
{
    size_t skip = strlen(lks_str_starts(url, "https://") ? "https://" : "http://");
    skip = skip < url.len ? skip : url.len;
    return (struct lks_str){url.ptr + skip, url.len - skip};
}

bool lks_curl_url_local(const char *url)
{
    struct lks_str host, rest;
    return cut_host(skip_scheme(lks_str_from(url)), &host, &rest) && is_loopback(host);
}

enum lks_code lks_curl_url_check(const char *url, bool plain, struct lks_err *err)
{
    struct lks_str all = lks_str_from(url), host, rest;
    bool tls = lks_str_starts(all, "https://"), bare = lks_str_starts(all, "http://");
    uint64_t port = 0;
    if (all.len > LKS_CURL_URL_MAX)
        return lks_fail(err, LKS_E_INVALID, "an address of more than %d characters",
                        LKS_CURL_URL_MAX);
    if (memchr(all.ptr, '@', all.len) != NULL) /* and is not repeated: it may hold a password */
        return lks_fail(err, LKS_E_INVALID,
                        "an endpoint is named by https://HOST[:PORT], without a user or a password "
                        "in it; credentials are given by reference");
    if (plain && lks_str_starts(all, UNIX "/"))
        return LKS_OK;
    if (!tls && !bare)
        return lks_fail(err, LKS_E_INVALID, "%s: an endpoint is named by https://HOST[:PORT]", url);
    bool good = cut_host(skip_scheme(all), &host, &rest);
    if (good && rest.len > 0)
        good = rest.len > 1 && rest.ptr[0] == ':' && rest.ptr[1] != '0' &&
               lks_str_number((struct lks_str){rest.ptr + 1, rest.len - 1}, 65535, &port);
    if (!good)
        return lks_fail(err, LKS_E_INVALID,
                        "%s: an endpoint is named by https://HOST[:PORT] and nothing else", url);
    if (bare && !(plain && is_loopback(host)))
        return lks_fail(err, LKS_E_INVALID,
                        "%s: without TLS the server is not verified, and the password is sent in "
                        "clear text; use https://",
                        url);
    return LKS_OK;
}

/* What libcurl calls ------------------------------------------------------------------------ */

static size_t on_read(char *out, size_t size, size_t count, void *ctx)
{
    struct lks_curl_exchange *x = ctx;
    size_t got = 0;
    if (lks_curl_body_read(&x->body, out, size * count, &got, &x->why) != LKS_OK)
        return CURL_READFUNC_ABORT;
    return got;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *ctx)
{
    struct lks_curl_exchange *x = ctx;
    lks_buf_add(&x->answer, (struct lks_str){bytes, size * count});
    return x->answer.failed == LKS_OK ? size * count : 0;
}

/* "Name: value" in the form of a response: the name in lower case, the value as one line. */
static void add_line(struct lks_buf *out, struct lks_str name, struct lks_str value)
{
    for (size_t i = 0; i < name.len; i++)
        lks_buf_addc(out, (char)tolower((unsigned char)name.ptr[i]));
    lks_buf_add(out, LKS_STR(": "));
    for (size_t i = 0; i < value.len; i++)
        lks_buf_addc(out, (unsigned char)value.ptr[i] < 0x20 ? ' ' : value.ptr[i]);
    lks_buf_addc(out, '\n');
}

static size_t on_head(char *bytes, size_t size, size_t count, void *ctx)
{
    struct lks_curl_exchange *x = ctx;
    struct lks_str line = {bytes, size * count}, name, value;
    while (line.len > 0 && (line.ptr[line.len - 1] == '\n' || line.ptr[line.len - 1] == '\r'))
        line.len--;
    if (lks_str_starts(line, "HTTP/")) { /* "100 Continue" comes before the answer itself */
        lks_buf_truncate(&x->head, 0);
        lks_buf_truncate(&x->answer, 0);
    } else if (lks_str_cut(line, ':', &name, &value)) {
        add_line(&x->head, name, lks_str_trim(value));
    }
    return x->head.failed == LKS_OK ? size * count : 0;
}

/* Exchanges --------------------------------------------------------------------------------- */

/* Header lines may hold a password or a token. */
static void free_lines(const struct lks_curl_lib *lib, struct curl_slist *lines)
{
    for (struct curl_slist *l = lines; l != NULL; l = l->next)
        explicit_bzero(l->data, strlen(l->data));
    lib->slist_free_all(lines);
}

static void put_easy(struct lks_curl *c, CURL *easy)
{
    if (easy == NULL)
        return;
    c->lib->easy_reset(easy);
    if (c->spare_count < SPARE_MAX)
        c->spare[c->spare_count++] = easy;
    else
        c->lib->easy_cleanup(easy);
}

static void free_exchange(struct lks_curl_exchange *x)
{
    struct lks_curl *c = x->owner;
    put_easy(c, x->easy);
    free_lines(c->lib, x->lines);
    lks_curl_body_fini(&x->body);
    lks_http_request_fini(&x->request);
    if (x->answer.ptr != NULL)
        explicit_bzero(x->answer.ptr, x->answer.len); /* of a login it is the session */
    if (x->head.ptr != NULL)
        explicit_bzero(x->head.ptr, x->head.len);
    lks_buf_fini(&x->answer);
    lks_buf_fini(&x->head);
    free(x);
}

static void unlink_exchange(struct lks_curl_exchange *x)
{
    struct lks_curl *c = x->owner;
    (void)c->lib->multi_remove_handle(x->multi, x->easy);
    LIST_REMOVE(x, others);
}

static bool add_header(struct lks_curl_exchange *x, const char *line)
{
    struct curl_slist *longer = x->owner->lib->slist_append(x->lines, line);
    if (longer != NULL)
        x->lines = longer;
    return longer != NULL;
}

/* The lines of the request, which is ours to cut up. From which size on a body is announced
 * differs between versions of libcurl, so it is said here; an empty "Expect:" keeps libcurl from
 * adding one of its own. */
static enum lks_code make_lines(struct lks_curl_exchange *x, struct lks_err *err)
{
    bool good = true;
    char *line = x->request.head.ptr;
    for (char *end; good && line != NULL && (end = strstr(line, "\r\n")) != NULL; line = end + 2) {
        *end = '\0';
        good = add_header(x, line);
    }
    bool announced = lks_http_request_length(&x->request) >= EXPECT_FROM;
    if (good)
        good = add_header(x, announced ? "Expect: 100-continue" : "Expect:");
    return good ? LKS_OK : lks_fail_nomem(err);
}

/* Who it has to be. Either is checked in the handshake, before anything of ours is sent. */
static CURLcode set_trust(const struct lks_curl_exchange *x, const struct lks_curl_peer *peer)
{
    const struct lks_curl_lib *lib = x->owner->lib;
    uint8_t raw[LKS_DIGEST_BYTES];
    CURLcode code = lib->easy_setopt(x->easy, CURLOPT_SSL_VERIFYPEER, peer->ca != NULL ? 1L : 0L);
    if (code == CURLE_OK)
        code = lib->easy_setopt(x->easy, CURLOPT_SSL_VERIFYHOST, peer->ca != NULL ? 2L : 0L);
    if (code == CURLE_OK && peer->ca != NULL)
        code = lib->easy_setopt(x->easy, CURLOPT_CAINFO, peer->ca);
    if (code == CURLE_OK) /* and not those that the system trusts */
        code = lib->easy_setopt(x->easy, CURLOPT_CAPATH, (char *)NULL);
    if (code == CURLE_OK && peer->fingerprint != NULL) {
        char pin[PIN_MAX];
        LKS_CLEANUP(lks_buf_fini) struct lks_buf base64 = LKS_BUF(PIN_MAX);
        bool digest = lks_digest_read(lks_str_from(peer->fingerprint), raw);
        LKS_ASSERT(digest); /* check_peer() saw to it */
        lks_base64_add(&base64, (struct lks_str){(const char *)raw, sizeof(raw)});
        if (base64.failed != LKS_OK)
            return CURLE_OUT_OF_MEMORY;
        snprintf(pin, sizeof(pin), "sha256//%s", base64.ptr);
        code = lib->easy_setopt(x->easy, CURLOPT_PINNEDPUBLICKEY, pin);
    }
    return code;
}

/* Who we are, for peers that ask; and the way to one on this machine. */
static CURLcode set_way(const struct lks_curl_exchange *x, const struct lks_curl_peer *peer)
{
    const struct lks_curl_lib *lib = x->owner->lib;
    CURLcode code = CURLE_OK;
    if (lks_str_starts(lks_str_from(peer->url), UNIX))
        code = lib->easy_setopt(x->easy, CURLOPT_UNIX_SOCKET_PATH, peer->url + strlen(UNIX));
    if (code == CURLE_OK && peer->certificate != NULL)
        code = lib->easy_setopt(x->easy, CURLOPT_SSLCERT, peer->certificate);
    if (code == CURLE_OK && peer->key != NULL)
        code = lib->easy_setopt(x->easy, CURLOPT_SSLKEY, peer->key);
    return code;
}

static bool has_body(const struct lks_http_request *r)
{
    return strcmp(r->method, "POST") == 0 || strcmp(r->method, "PUT") == 0 ||
           strcmp(r->method, "PATCH") == 0 || lks_http_request_length(r) > 0;
}

/* What may not be sent twice gets a fresh connection: on a kept one that turns out to be dead
 * libcurl would send it again by itself. The kept one goes where a peer has one at a time. */
static CURLcode set_method(const struct lks_curl_exchange *x)
{
    const struct lks_curl_lib *lib = x->owner->lib;
    const char *method = x->request.method;
    bool body = has_body(&x->request);
    CURLcode code = lib->easy_setopt(x->easy, CURLOPT_CUSTOMREQUEST, method);
    if (code == CURLE_OK && strcmp(method, "HEAD") == 0)
        code = lib->easy_setopt(x->easy, CURLOPT_NOBODY, 1L);
    if (code == CURLE_OK && body)
        code = lib->easy_setopt(x->easy, CURLOPT_UPLOAD, 1L);
    if (code == CURLE_OK && body && !x->request.repeatable)
        code = lib->easy_setopt(x->easy, CURLOPT_FRESH_CONNECT, 1L);
    if (code == CURLE_OK && body)
        code = lib->easy_setopt(x->easy, CURLOPT_INFILESIZE_LARGE,
                                (curl_off_t)lks_http_request_length(&x->request));
    return code;
}

static CURLcode set_callbacks(struct lks_curl_exchange *x)
{
    const struct lks_curl_lib *lib = x->owner->lib;
    const struct {
        CURLoption fn, data;
        size_t (*call)(char *, size_t, size_t, void *);
    } calls[] = {
        {CURLOPT_READFUNCTION, CURLOPT_READDATA, on_read},
        {CURLOPT_WRITEFUNCTION, CURLOPT_WRITEDATA, on_body},
        {CURLOPT_HEADERFUNCTION, CURLOPT_HEADERDATA, on_head},
    };
    CURLcode code = CURLE_OK;
    for (size_t i = 0; code == CURLE_OK && i < LKS_COUNT(calls); i++) {
        code = lib->easy_setopt(x->easy, calls[i].fn, calls[i].call);
        if (code == CURLE_OK)
            code = lib->easy_setopt(x->easy, calls[i].data, x);
    }
    return code;
}

static enum lks_code set_up(struct lks_curl_exchange *x, const struct lks_curl_peer *peer,
                            lks_ms timeout, struct lks_err *err)
{
    const struct lks_curl_lib *lib = x->owner->lib;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf url = LKS_BUF(LKS_CURL_URL_MAX + LKS_HTTP_PATH_MAX);
    bool local = lks_str_starts(lks_str_from(x->url), UNIX);
    curl_off_t most = (curl_off_t)x->answer.max;
    lks_buf_addf(&url, "%s%s", local ? "http://localhost" : x->url, x->request.path.ptr);
    if (lks_buf_check(&url, err) != LKS_OK || make_lines(x, err) != LKS_OK)
        return err->code;
    CURLcode code = lks_curl_common(lib, x->easy, timeout);
    if (code == CURLE_OK)
        code = lib->easy_setopt(x->easy, CURLOPT_URL, url.ptr);
    if (code == CURLE_OK)
        code = lib->easy_setopt(x->easy, CURLOPT_PRIVATE, x);
    if (code == CURLE_OK)
        code = lib->easy_setopt(x->easy, CURLOPT_MAXFILESIZE_LARGE, most);
    if (code == CURLE_OK)
        code = lib->easy_setopt(x->easy, CURLOPT_HTTPHEADER, x->lines);
    if (code == CURLE_OK)
        code = set_trust(x, peer);
    if (code == CURLE_OK)
        code = set_way(x, peer);
    if (code == CURLE_OK)
        code = set_method(x);
    if (code == CURLE_OK)
        code = set_callbacks(x);
    return code == CURLE_OK ? LKS_OK : lks_curl_fail(lib, code, x->url, err);
}

static enum lks_code check_peer(const struct lks_curl_peer *peer, struct lks_err *err)
{
    if (lks_curl_url_check(peer->url, peer->plain, err) != LKS_OK)
        return err->code;
    if (peer->fingerprint != NULL && !lks_digest_valid(lks_str_from(peer->fingerprint)))
        return lks_fail(err, LKS_E_INVALID,
                        "%s: a fingerprint is 'sha256:' and 64 hexadecimal digits", peer->url);
    if (peer->ca == NULL && peer->fingerprint == NULL &&
        lks_str_starts(lks_str_from(peer->url), "https:"))
        return lks_fail(err, LKS_E_DENIED,
                        "%s: its key is not trusted yet: name its authority or its fingerprint",
                        peer->url);
    return LKS_OK;
}

/* The file of the request, where it has one. */
static enum lks_code open_file(const struct lks_curl *c, const struct lks_http_request *r, int *fd,
                               struct lks_err *err)
{
    *fd = -1;
    if (r->file.digest[0] == '\0')
        return LKS_OK;
    if (c->options.open == NULL)
        return lks_fail(err, LKS_E_NOT_FOUND, "%s: there are no files to send here",
                        r->file.digest);
    *fd = c->options.open(c->options.ctx, r->file.digest, err);
    return *fd >= 0 ? LKS_OK : err->code;
}

static enum lks_code prepare(struct lks_curl_exchange *x, const struct lks_curl_peer *peer,
                             lks_ms timeout, struct lks_err *err)
{
    struct lks_curl *c = x->owner;
    int fd;
    if (check_peer(peer, err) != LKS_OK || lks_http_request_check(&x->request, err) != LKS_OK ||
        open_file(c, &x->request, &fd, err) != LKS_OK)
        return err->code;
    if (peer->wide && lks_curl_wide_make(&c->wide, c->lib, err) != LKS_OK)
        return err->code;
    x->multi = peer->wide ? c->wide.multi : c->multi;
    snprintf(x->url, sizeof(x->url), "%s", peer->url);
    if (lks_curl_body_init(&x->body, &x->request, fd, err) != LKS_OK)
        return err->code;
    x->easy = c->spare_count > 0 ? c->spare[--c->spare_count] : c->lib->easy_init();
    if (x->easy == NULL)
        return lks_fail_nomem(err);
    return set_up(x, peer, timeout, err);
}

enum lks_code lks_curl_begin(struct lks_curl *c, const struct lks_curl_peer *peer,
                             struct lks_http_request *request, lks_ms timeout,
                             lks_curl_done_fn *done, void *ctx, struct lks_curl_exchange **out,
                             struct lks_err *err)
{
    struct lks_curl_exchange *x = calloc(1, sizeof(*x));
    if (x == NULL) {
        lks_http_request_fini(request);
        return lks_fail_nomem(err);
    }
    x->owner = c;
    x->request = LKS_MOVE(*request);
    x->body.fd = -1;
    x->done = done;
    x->ctx = ctx;
    lks_buf_init(&x->head, LKS_CURL_HEAD_MAX);
    lks_buf_init(&x->answer,
                 x->request.answer_max > 0 ? x->request.answer_max : LKS_HTTP_RESPONSE_MAX);
    enum lks_code code = prepare(x, peer, timeout, err);
    if (code == LKS_OK && c->lib->multi_add_handle(x->multi, x->easy) != CURLM_OK)
        code = lks_fail_nomem(err);
    if (code != LKS_OK) {
        free_exchange(x);
        return code;
    }
    LIST_INSERT_HEAD(&c->running, x, others);
    *out = x;
    return LKS_OK;
}

void lks_curl_cancel(struct lks_curl *c, struct lks_curl_exchange *x)
{
    LKS_ASSERT(x->owner == c);
    unlink_exchange(x);
    free_exchange(x);
}

uint64_t lks_curl_sent(const struct lks_curl_exchange *x)
{
    return x->body.at;
}

/* Turns ------------------------------------------------------------------------------------- */

/* Why there is no answer; OK: there is one. */
static enum lks_code judge(const struct lks_curl_exchange *x, CURLcode result, int status,
                           struct lks_err *err)
{
    if (x->why.code != LKS_OK) {
        *err = x->why;
        return lks_wrap(err, "%s", x->url);
    }
    if (x->head.failed != LKS_OK || x->answer.failed != LKS_OK)
        return lks_fail(err, LKS_E_LIMIT, "%s: the answer is too large", x->url);
    if (result != CURLE_OK)
        return lks_curl_fail(x->owner->lib, result, x->url, err);
    if (status < 200 || status > 599)
        return lks_fail(err, LKS_E_UNAVAILABLE, "%s: what it says is not HTTP", x->url);
    return LKS_OK;
}

static void finish(struct lks_curl_exchange *x, CURLcode result)
{
    long status = 0;
    struct lks_err err = {0};
    (void)x->owner->lib->easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &status);
    unlink_exchange(x);
    if (judge(x, result, (int)status, &err) == LKS_OK) {
        struct lks_http_response answer = {.status = (int)status,
                                           .head = lks_buf_view(&x->head),
                                           .body = lks_buf_view(&x->answer)};
        x->done(x->ctx, &answer, &err);
    } else {
        x->done(x->ctx, NULL, &err);
    }
    free_exchange(x);
}

static void hand_over(struct lks_curl *c, CURLM *multi, size_t *ended)
{
    int left = 0;
    for (const CURLMsg *m; (m = c->lib->multi_info_read(multi, &left)) != NULL; ++*ended) {
        struct lks_curl_exchange *x = NULL;
        CURLcode result = m->data.result;
        (void)c->lib->easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&x);
        finish(x, result);
    }
}

/* Carry on, and hand over what ended; how many did. */
static enum lks_code carry_on(struct lks_curl *c, size_t *ended, struct lks_err *err)
{
    int running = 0;
    CURLMcode code = c->lib->multi_perform(c->multi, &running);
    if (code != CURLM_OK)
        return lks_fail(err, LKS_E_IO, "libcurl: %s", c->lib->multi_strerror(code));
    if (c->wide.multi != NULL && lks_curl_wide_carry_on(&c->wide, err) != LKS_OK)
        return err->code;
    hand_over(c, c->multi, ended);
    if (c->wide.multi != NULL)
        hand_over(c, c->wide.multi, ended);
    return LKS_OK;
}

enum lks_code lks_curl_turn(struct lks_curl *c, lks_ms wait, struct lks_err *err)
{
    size_t ended = 0;
    if (carry_on(c, &ended, err) != LKS_OK)
        return err->code;
    if (ended > 0 || wait == 0)
        return LKS_OK;
    wait = lks_curl_wide_wait(&c->wide, wait);
    CURLMcode code = c->lib->multi_poll(c->multi, c->wide.fds, c->wide.count,
                                        wait < INT32_MAX ? (int)wait : INT32_MAX, NULL);
    if (code != CURLM_OK)
        return lks_fail(err, LKS_E_IO, "libcurl: %s", c->lib->multi_strerror(code));
    return carry_on(c, &ended, err);
}

void lks_curl_wake(struct lks_curl *c)
{
    (void)c->lib->multi_wakeup(c->multi);
}

/* The client -------------------------------------------------------------------------------- */

enum lks_code lks_curl_new(const struct lks_curl_options *options, struct lks_curl **out,
                           struct lks_err *err)
{
    const struct lks_curl_lib *lib = lks_curl_lib(err);
    if (lib == NULL)
        return err->code;
    struct lks_curl *c = calloc(1, sizeof(*c));
    if (c == NULL)
        return lks_fail_nomem(err);
    c->lib = lib;
    c->options = *options;
    c->multi = lib->multi_init();
    long kept = options->kept > 0 ? (long)options->kept : KEPT;
    if (c->multi == NULL || lib->multi_setopt(c->multi, CURLMOPT_MAXCONNECTS, kept) != CURLM_OK ||
        lib->multi_setopt(c->multi, CURLMOPT_MAX_HOST_CONNECTIONS, 1L) != CURLM_OK) {
        lks_curl_free(c);
        return lks_fail_nomem(err);
    }
    *out = c;
    return LKS_OK;
}

void lks_curl_free(struct lks_curl *c)
{
    if (c == NULL)
        return;
    while (!LIST_EMPTY(&c->running))
        lks_curl_cancel(c, LIST_FIRST(&c->running));
    for (size_t i = 0; i < c->spare_count; i++)
        c->lib->easy_cleanup(c->spare[i]);
    if (c->multi != NULL)
        (void)c->lib->multi_cleanup(c->multi);
    lks_curl_wide_fini(&c->wide);
    free(c);
}
