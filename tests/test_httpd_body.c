/* Bodies that are read only when the handler says so: collected, or too large to be held and
 * fetched piece by piece; refused before they are read, cut in the middle; and answers whose length
 * is known before their bytes are. */
#include "drivers/http/httpd_parts.h"
#include "tests/site.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define HOST "Host: x\r\n"
#define KIB  ((size_t)1024)
#define MIB  (KIB * KIB)

enum { COLLECT_MAX = 16 };

static struct {
    uv_loop_t loop;
    struct lks_tree tree;
    char socket[96];
    struct lks_httpd *httpd;
    struct lks_httpd_exchange *x;
    struct lks_httpd_stream *stream;
    enum way { FETCH, HOLD, REFUSE, REFUSE_LATER, REFUSE_MIDDLE, SIZED, COLLECT } way;
    uv_check_t check; /* asks for the next piece, a round later */
    bool wants;
    uint64_t length, got, sum, most;
    unsigned handled, pieces, gone, ended, over;
    char body[64]; /* of what was collected */
    bool last;
} site;

static enum lks_httpd_how how(const char *method, const char *path, bool body)
{
    bool put = strcmp(method, "PUT") == 0;
    (void)body;
    return put && strcmp(path, "/large") == 0   ? LKS_HTTPD_PIECES
           : put && strcmp(path, "/ahead") == 0 ? LKS_HTTPD_AHEAD
                                                : LKS_HTTPD_WHOLE;
}

static void on_over(void *ctx, struct lks_httpd_peer *peer)
{
    (void)ctx, (void)peer;
    site.over++;
}

static void answer(int status, const char *text)
{
    struct lks_httpd_exchange *x = site.x;
    site.x = NULL;
    lks_httpd_reply(x, &(struct lks_httpd_reply){
                           .status = status, .type = "text/plain", .body = lks_str_from(text)});
}

static void take(void *ctx, struct lks_buf *moved, bool last)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf piece = LKS_MOVE(*moved);
    (void)ctx;
    site.pieces++;
    for (size_t i = 0; i < piece.len; i++)
        site.sum += (unsigned char)piece.ptr[i];
    site.got += piece.len;
    site.most = piece.len > site.most ? piece.len : site.most;
    site.last = last;
    if (site.way == REFUSE_MIDDLE)
        answer(507, "full");
    else if (last)
        answer(200, "taken");
    else if (site.pieces % 2 == 0)
        lks_httpd_more(site.x); /* from inside */
    else
        site.wants = true;
}

static void on_check(uv_check_t *check)
{
    (void)check;
    if (site.wants && site.x != NULL)
        lks_httpd_more(site.x);
    site.wants = false;
}

static void on_ended(void *ctx, struct lks_httpd_stream *stream)
{
    (void)ctx, (void)stream;
    site.ended++;
    site.stream = NULL;
}

static void handle(void *ctx, struct lks_httpd_exchange *x, const struct lks_httpd_request *r)
{
    (void)ctx;
    site.handled++;
    site.x = x;
    site.length = r->length;
    if (site.way == SIZED) {
        const struct lks_httpd_reply head = {
            .status = 206, .type = "application/octet-stream", .headers = "ETag: \"x\"\r\n"};
        site.x = NULL;
        site.stream = lks_httpd_stream_sized(x, &head, 10, 64 * KIB, on_ended, NULL);
    } else if (site.way == REFUSE) {
        answer(403, "no");
    } else if (r->ahead && site.way == COLLECT) {
        lks_httpd_collect(x, COLLECT_MAX);
    } else if (!r->large && !r->ahead) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf moved = lks_httpd_body_move(x);
        snprintf(site.body, sizeof(site.body), "%s", moved.len > 0 ? moved.ptr : "");
        answer(200, "small");
    }
}

static void on_gone(void *ctx, struct lks_httpd_exchange *x)
{
    (void)ctx, (void)x;
    site.gone++;
    site.x = NULL;
}

static void begin(enum way way)
{
    struct lks_err err = {0};
    memset(&site, 0, sizeof(site));
    site.way = way;
    site.tree = lks_tree_new();
    snprintf(site.socket, sizeof(site.socket), "unix:%s/s", site.tree.path);
    CHECK_INT(uv_loop_init(&site.loop), 0);
    CHECK_INT(uv_check_init(&site.loop, &site.check), 0);
    CHECK_INT(uv_check_start(&site.check, on_check), 0);
    const struct lks_httpd_options options = {
        .address = site.socket,
        .connections = 8,
        .body_max = 4096,
        .first_ms = LKS_WAIT_MS,
        .request_ms = LKS_WAIT_MS,
        .idle_ms = LKS_WAIT_MS,
        .socket_mode = 0600,
        .how = how,
        .over = on_over,
    };
    CHECK_CODE(lks_httpd_new(&site.loop, &options, handle, on_gone, NULL, &site.httpd, &err),
               LKS_OK);
}

static void end(void)
{
    lks_httpd_free(site.httpd);
    uv_close((uv_handle_t *)&site.check, NULL);
    uv_run(&site.loop, UV_RUN_DEFAULT);
    CHECK_INT(uv_loop_close(&site.loop), 0);
    lks_tree_free(&site.tree);
}

static void dial(struct lks_wire *w)
{
    lks_wire_unix(w, &site.loop, site.socket + strlen("unix:"));
}

static bool until(const unsigned *number, unsigned wanted)
{
    for (struct lks_wait w = {0}; *number < wanted && lks_wait_on(&w);)
        lks_wire_round(&site.loop);
    return *number >= wanted;
}

static void send_head(struct lks_wire *w, size_t length, const char *more)
{
    char head[256];
    int len =
        snprintf(head, sizeof(head), "PUT /large HTTP/1.1\r\n" HOST "Content-Length: %zu\r\n%s\r\n",
                 length, more);
    CHECK(lks_wire_send(w, (struct lks_str){head, (size_t)len}));
}

/* Whatever is wanted of the handler is done as soon as it waits. */
static void serve(struct lks_wire *w, size_t length)
{
    char *bytes = malloc(length + 1);
    memset(bytes, 1, length + 1);
    size_t sent = 0;
    for (struct lks_wait wait = {0}; (sent < length || site.x != NULL) && lks_wait_on(&wait);) {
        size_t piece = length - sent < 64 * KIB ? length - sent : 64 * KIB;
        if (piece > 0 && !lks_wire_send(w, (struct lks_str){bytes, piece}))
            break; /* it is refused */
        sent += piece;
        lks_wire_round(&site.loop);
    }
    free(bytes);
    CHECK(site.x == NULL);
}

static void fetched_in_pieces(void)
{
    static const size_t lengths[] = {0, 1, 4096, 256 * KIB, 3 * MIB + 17};
    for (size_t i = 0; i < LKS_COUNT(lengths); i++) {
        struct lks_wire w = {0};
        lks_test_case("%zu bytes", lengths[i]);
        begin(FETCH);
        dial(&w);
        send_head(&w, lengths[i], "");
        CHECK(until(&site.handled, 1));
        CHECK_INT(site.length, lengths[i]);
        CHECK_INT(site.pieces, 0); /* nothing is read before it is asked for */
        lks_httpd_fetch(site.x, take, NULL);
        serve(&w, lengths[i]);
        CHECK(lks_wire_until(&w, "taken"));
        CHECK_INT(site.got, lengths[i]);
        CHECK_INT(site.sum, lengths[i]);
        CHECK(site.most <= LKS_HTTPD_PIECE_MAX);
        if (lengths[i] > 0) { /* the connection goes on */
            CHECK(lks_wire_send(&w, LKS_STR("GET /a HTTP/1.1\r\n" HOST "\r\n")));
            CHECK(lks_wire_until(&w, "small"));
        }
        lks_wire_close(&w);
        end();
    }
}

static void asked_before_it_is_sent(void)
{
    struct lks_wire w = {0};
    begin(FETCH);
    dial(&w);
    send_head(&w, 10, "Expect: 100-continue\r\n");
    CHECK(until(&site.handled, 1));
    CHECK_HAS(lks_buf_view(&w.got), "");
    lks_httpd_fetch(site.x, take, NULL);
    CHECK(lks_wire_until(&w, "100 Continue"));
    serve(&w, 10);
    CHECK(lks_wire_until(&w, "taken"));
    lks_wire_close(&w);
    end();
}

static const struct {
    const char *name;
    enum way way;
    size_t length, sent;
    const char *answer;
} refusals[] = {
    {"at once", REFUSE, 10 * MIB, 0, "403 Forbidden"},
    {"at once, small", REFUSE, 10, 10, "403 Forbidden"},
    {"later, before a byte came", REFUSE_LATER, 10 * MIB, 0, "403 Forbidden"},
    {"later, small: the rest is read first", REFUSE_LATER, 700 * KIB, 700 * KIB, "403 Forbidden"},
    {"in the middle", REFUSE_MIDDLE, 2 * MIB, 270 * KIB, "507 Insufficient"},
    {"in the middle, near the end", REFUSE_MIDDLE, 400 * KIB, 400 * KIB, "507 Insufficient"},
};

static void refused(void)
{
    for (size_t i = 0; i < LKS_COUNT(refusals); i++) {
        struct lks_wire w = {0};
        lks_test_case("%s", refusals[i].name);
        begin(refusals[i].way);
        dial(&w);
        send_head(&w, refusals[i].length, "");
        CHECK(until(&site.handled, 1));
        if (site.way == REFUSE_LATER)
            answer(403, "no");
        if (site.way == REFUSE_MIDDLE)
            lks_httpd_fetch(site.x, take, NULL);
        serve(&w, refusals[i].sent);
        CHECK(lks_wire_until(&w, refusals[i].answer));
        CHECK_INT(site.gone, 0);
        lks_wire_close(&w);
        end();
    }
}

static void without_a_length(void)
{
    struct lks_wire w = {0};
    begin(FETCH);
    dial(&w);
    CHECK(lks_wire_send(
        &w, LKS_STR("PUT /large HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n")));
    CHECK(lks_wire_until(&w, "411 Length Required"));
    CHECK_INT(site.handled, 0);
    lks_wire_close(&w);
    end();
}

/* Ahead ---------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum way way; /* COLLECT: at once; FETCH: a little later; REFUSE, REFUSE_LATER */
    const char *head, *body, *answer;
    unsigned handled, gone;
    uint64_t read; /* bytes of the body that were */
} aheads[] = {
    {"at once", COLLECT, "Content-Length: 5\r\n", "hello", "small", 2, 0, 5},
    {"a little later", FETCH, "Content-Length: 5\r\n", "hello", "small", 2, 0, 5},
    {"in chunks, at once", COLLECT, "Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n",
     "small", 2, 0, 5},
    {"in chunks, a little later", FETCH, "Transfer-Encoding: chunked\r\n",
     "5\r\nhello\r\n0\r\n\r\n", "small", 2, 0, 5},
    {"asked for, at once", COLLECT, "Content-Length: 5\r\nExpect: 100-continue\r\n", "hello",
     "small", 2, 0, 5},
    {"asked for, later", FETCH, "Content-Length: 5\r\nExpect: 100-continue\r\n", "hello", "small",
     2, 0, 5},
    {"none at all", COLLECT, "Content-Length: 0\r\n", "", "small", 1, 0, 0},
    {"too long for all", COLLECT, "Content-Length: 5000\r\n", "hello", "413 Content", 0, 0, 0},
    {"too long for this one", COLLECT, "Transfer-Encoding: chunked\r\n",
     "14\r\n01234567890123456789\r\n0\r\n\r\n", "413 Content", 1, 1, 20},
    {"refused at once", REFUSE, "Content-Length: 4000\r\n", "hello", "403 Forbidden", 1, 0, 0},
    {"refused later, and not asked for", REFUSE_LATER,
     "Content-Length: 5\r\nExpect: 100-continue\r\n", "", "403 Forbidden", 1, 0, 0},
    {"refused later", REFUSE_LATER, "Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n",
     "403 Forbidden", 1, 0, 0},
};

static void seen_ahead(void)
{
    for (size_t i = 0; i < LKS_COUNT(aheads); i++) {
        struct lks_wire w = {0};
        char text[256];
        lks_test_case("%s", aheads[i].name);
        begin(aheads[i].way);
        dial(&w);
        int len = snprintf(text, sizeof(text), "PUT /ahead HTTP/1.1\r\n" HOST "%s\r\n%s",
                           aheads[i].head, aheads[i].body);
        CHECK(lks_wire_send(&w, (struct lks_str){text, (size_t)len}));
        if (aheads[i].way == FETCH || aheads[i].way == REFUSE_LATER) {
            CHECK(until(&site.handled, 1));
            CHECK_INT(lks_httpd_counts(site.httpd).body_bytes, 0);
        }
        if (aheads[i].way == FETCH)
            lks_httpd_collect(site.x, COLLECT_MAX);
        else if (aheads[i].way == REFUSE_LATER)
            answer(403, "no");
        CHECK(lks_wire_until(&w, aheads[i].answer));
        CHECK_INT(site.handled, aheads[i].handled);
        CHECK_INT(site.gone, aheads[i].gone);
        CHECK_INT(lks_httpd_counts(site.httpd).body_bytes, aheads[i].read);
        if (aheads[i].handled == 2)
            CHECK_STR(lks_str_from(site.body), "hello");
        CHECK(aheads[i].handled == 0 || until(&site.over, 1));
        lks_wire_close(&w);
        end();
    }
}

/* After a connection was suspended behind its headers the library shows them again, and now and
 * then more than once. None of these calls is the end of the body. */
static void headers_shown_again(void)
{
    struct lks_wire w = {0};
    begin(HOLD);
    dial(&w);
    CHECK(lks_wire_send(&w, LKS_STR("PUT /ahead HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\n")));
    CHECK(until(&site.handled, 1));
    struct lks_httpd_exchange *x = site.x;
    lks_httpd_collect(x, COLLECT_MAX);
    for (int i = 0; i < 3; i++) {
        size_t size = 0;
        void *context = x;
        CHECK_INT(lks_httpd_on_request(site.httpd, x->connection, "/ahead", "PUT", "HTTP/1.1", NULL,
                                       &size, &context),
                  MHD_YES);
        CHECK_INT(site.handled, 1);
    }
    CHECK(lks_wire_send(&w, LKS_STR("hello")));
    CHECK(lks_wire_until(&w, "small"));
    CHECK_INT(site.handled, 2);
    CHECK_STR(lks_str_from(site.body), "hello");
    lks_wire_close(&w);
    end();
}

/* One whose sender leaves before it is whole is told as gone, and as over. */
static void left_ahead(void)
{
    struct lks_wire w = {0};
    begin(COLLECT);
    dial(&w);
    CHECK(lks_wire_send(&w,
                        LKS_STR("PUT /ahead HTTP/1.1\r\n" HOST "Content-Length: 9\r\n\r\nhello")));
    CHECK(until(&site.handled, 1));
    lks_wire_close(&w);
    CHECK(until(&site.over, 1));
    CHECK_INT(site.gone, 1);
    CHECK_INT(site.handled, 1);
    end();
}

/* The sender leaves: while it is waited for, and while it has to wait. */
static void left(void)
{
    for (int waits = 0; waits < 2; waits++) {
        struct lks_wire w = {0};
        lks_test_case("%s", waits ? "it had to wait" : "it was waited for");
        begin(HOLD);
        dial(&w);
        send_head(&w, MIB, "");
        CHECK(until(&site.handled, 1));
        if (!waits)
            lks_httpd_fetch(site.x, take, NULL);
        CHECK(lks_wire_send(&w, LKS_STR("abc")));
        for (int i = 0; i < 20; i++)
            lks_wire_round(&site.loop);
        lks_wire_close(&w);
        CHECK(until(&site.gone, 1));
        CHECK_INT(site.gone, 1);
        end();
    }
}

static void ended_in_the_middle(void)
{
    struct lks_wire w = {0};
    begin(HOLD);
    dial(&w);
    send_head(&w, MIB, "");
    CHECK(until(&site.handled, 1));
    lks_httpd_fetch(site.x, take, NULL);
    CHECK(lks_wire_send(&w, LKS_STR("abc")));
    lks_wire_round(&site.loop);
    end();
    CHECK_INT(site.gone, 1);
    lks_wire_close(&w);
}

static void sized_stream(void)
{
    struct lks_wire w = {0};
    begin(SIZED);
    dial(&w);
    for (unsigned i = 1; i <= 2; i++) { /* on the same connection */
        lks_test_case("request %u", i);
        CHECK(lks_wire_send(&w, LKS_STR("GET /a HTTP/1.1\r\n" HOST "\r\n")));
        CHECK(until(&site.handled, i));
        CHECK(lks_httpd_stream_write(site.stream, LKS_STR("01234")));
        CHECK(lks_wire_until(&w, "01234"));
        CHECK_INT(site.ended, i - 1);
        CHECK(lks_httpd_stream_write(site.stream, LKS_STR("abcde")));
        CHECK(until(&site.ended, i));
        CHECK(lks_wire_until(&w, "01234abcde"));
    }
    CHECK_HAS(lks_buf_view(&w.got), "206 Partial Content");
    CHECK_HAS(lks_buf_view(&w.got), "Content-Length: 10\r\n");
    CHECK_HAS(lks_buf_view(&w.got), "ETag: \"x\"\r\n");
    lks_test_case("cut");
    CHECK(lks_wire_send(&w, LKS_STR("GET /a HTTP/1.1\r\n" HOST "\r\n")));
    CHECK(until(&site.handled, 3));
    CHECK(lks_httpd_stream_write(site.stream, LKS_STR("xyz")));
    CHECK(lks_wire_until(&w, "xyz"));
    lks_httpd_stream_cut(site.stream);
    CHECK(lks_wire_end(&w, '\0'));
    lks_wire_close(&w);
    end();
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"fetched in pieces", fetched_in_pieces},
        {"asked before it is sent", asked_before_it_is_sent},
        {"refused", refused},
        {"without a length", without_a_length},
        {"seen ahead of its body", seen_ahead},
        {"headers that are shown more than once", headers_shown_again},
        {"the sender leaves before its body is whole", left_ahead},
        {"the sender leaves", left},
        {"the server ends in the middle", ended_in_the_middle},
        {"an answer of a known length", sized_stream},
        {NULL, NULL},
    };
    return lks_test_main(tests);
}
