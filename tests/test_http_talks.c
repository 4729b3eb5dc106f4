#include "drivers/http/talks.h"

#include "tests/test.h"
#include "tests/wait.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PEERS = 8, LINES_MAX = 64, DELAY_MS = 2, URL_SIZE = 64 };

/* Peers ------------------------------------------------------------------------------------- */

/* All of them in one thread: each answers what it is asked a little later, or closes ("/drop"), and
 * notes how much it was asked at a time. */
struct line {
    int fd; /* 0: free */
    unsigned peer;
    char text[2048];
    size_t len;
    lks_ms due; /* 0: no request is there */
};

static struct {
    int listening[PEERS];
    unsigned ports[PEERS];
    struct line lines[LINES_MAX];
    unsigned open[PEERS], all;                         /* now */
    atomic_uint peer_most, site_most, all_most, asked; /* ever */
    atomic_uint most[PEERS];
    atomic_bool stop;
    pthread_t thread;
} server;

static lks_ms now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (lks_ms)t.tv_sec * 1000 + (lks_ms)t.tv_nsec / 1000000;
}

static void most(atomic_uint *of, unsigned value)
{
    if (value > atomic_load(of))
        atomic_store(of, value);
}

static void count(const struct line *l)
{
    unsigned site = 0;
    server.open[l->peer]++;
    server.all++;
    for (unsigned i = l->peer % 2; i < PEERS; i += 2)
        site += server.open[i];
    most(&server.peer_most, server.open[l->peer]);
    most(&server.most[l->peer], server.open[l->peer]);
    most(&server.site_most, site);
    most(&server.all_most, server.all);
    atomic_fetch_add(&server.asked, 1);
}

static void hang_up(struct line *l)
{
    close(l->fd);
    *l = (struct line){0};
}

static void take(struct line *l)
{
    ssize_t got = recv(l->fd, l->text + l->len, sizeof(l->text) - 1 - l->len, 0);
    if (got <= 0) {
        if (l->due != 0)
            server.open[l->peer]--, server.all--;
        hang_up(l);
        return;
    }
    l->len += (size_t)got;
    l->text[l->len] = '\0';
    if (strstr(l->text, "\r\n\r\n") == NULL)
        return;
    count(l);
    l->due = now_ms() + DELAY_MS;
}

static void answer(struct line *l)
{
    static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    bool drop = strstr(l->text, "/drop") != NULL;
    server.open[l->peer]--;
    server.all--;
    l->due = 0;
    l->len = 0;
    if (drop || send(l->fd, text, sizeof(text) - 1, MSG_NOSIGNAL) < 0)
        hang_up(l);
}

static void welcome(unsigned peer)
{
    for (size_t i = 0; i < LINES_MAX; i++) {
        if (server.lines[i].fd != 0)
            continue;
        server.lines[i] =
            (struct line){.fd = accept(server.listening[peer], NULL, NULL), .peer = peer};
        return;
    }
}

static void *serve(void *ctx)
{
    (void)ctx;
    while (!atomic_load(&server.stop)) {
        struct pollfd fds[PEERS + LINES_MAX];
        for (size_t i = 0; i < PEERS; i++)
            fds[i] = (struct pollfd){.fd = server.listening[i], .events = POLLIN};
        for (size_t i = 0; i < LINES_MAX; i++) {
            const struct line *l = &server.lines[i];
            fds[PEERS + i] =
                (struct pollfd){.fd = l->fd > 0 && l->due == 0 ? l->fd : -1, .events = POLLIN};
        }
        poll(fds, PEERS + LINES_MAX, 1);
        for (size_t i = 0; i < LINES_MAX; i++) {
            struct line *l = &server.lines[i];
            if (l->due != 0 && now_ms() >= l->due)
                answer(l);
            else if (fds[PEERS + i].revents != 0)
                take(l);
        }
        for (unsigned i = 0; i < PEERS; i++) {
            if (fds[i].revents != 0)
                welcome(i);
        }
    }
    return NULL;
}

static void server_start(void)
{
    for (size_t i = 0; i < PEERS; i++) {
        struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t size = sizeof(in);
        server.listening[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        CHECK(bind(server.listening[i], (const struct sockaddr *)&in, sizeof(in)) == 0);
        CHECK(getsockname(server.listening[i], (struct sockaddr *)&in, &size) == 0);
        CHECK(listen(server.listening[i], 64) == 0);
        server.ports[i] = ntohs(in.sin_port);
    }
    LKS_ASSERT(pthread_create(&server.thread, NULL, serve, NULL) == 0);
}

static void server_end(void)
{
    atomic_store(&server.stop, true);
    pthread_join(server.thread, NULL);
    for (size_t i = 0; i < PEERS; i++)
        close(server.listening[i]);
    for (size_t i = 0; i < LINES_MAX; i++) {
        if (server.lines[i].fd != 0)
            close(server.lines[i].fd);
    }
}

/* A driver ---------------------------------------------------------------------------------- */

/* Asks `steps` times for `path`, and saves before each where it is to. */
struct value {
    struct lks_conversation c;
    const char *path;
    unsigned steps;
    bool saves;
    unsigned heard, lost;
};

static lks_ms ask(const void *value, struct lks_http_request *out)
{
    const struct value *v = value;
    out->method = "GET";
    lks_buf_add(&out->path, lks_str_from(v->path));
    return 5 * LKS_SECOND;
}

static void hear(void *value, lks_ms now, const struct lks_http_response *answer_)
{
    struct value *v = value;
    if (answer_ == NULL) {
        v->lost++;
        lks_conversation_retry(&v->c, now);
        return;
    }
    CHECK_STR(answer_->body, "hi");
    if (++v->heard == v->steps)
        lks_conversation_end(&v->c);
    else if (v->saves)
        lks_conversation_go_checkpoint(&v->c, v->heard, now);
    else
        lks_conversation_go(&v->c, v->heard, now + 1);
}

static void save(const void *value, struct lks_buf *out)
{
    const struct value *v = value;
    lks_buf_addf(out, "%u", v->heard);
}

static const struct lks_conversation_ops ops = {
    .name = "test", .size = sizeof(struct value), .ask = ask, .hear = hear, .save = save};

/* What the owner was told. */
static struct {
    unsigned ended, failed, heard, saved;
    bool hold; /* do not resume at once */
    struct lks_dialog *held;
    char text[64];
    struct lks_err why;
} told;
static struct lks_talks *talks;
static lks_ms fake_now;

static lks_ms fake_clock(void *ctx)
{
    (void)ctx;
    return fake_now;
}

static void on_checkpoint(void *ctx, struct lks_dialog *d, struct lks_str saved)
{
    (void)ctx;
    told.saved++;
    snprintf(told.text, sizeof(told.text), "%" LKS_STR_FMT, LKS_STR_ARG(saved));
    if (told.hold)
        told.held = d;
    else
        lks_talks_resume(talks, d);
}

static void on_heard(void *ctx, struct lks_dialog *d)
{
    (void)ctx, (void)d;
    told.heard++;
}

static void on_ended(void *ctx, struct lks_dialog *d, const struct lks_err *why)
{
    const struct value *v = lks_talks_value(d);
    (void)ctx;
    told.ended++;
    told.failed += why->code != LKS_OK;
    told.why = *why;
    CHECK(why->code != LKS_OK || v->heard == v->steps);
}

static void begin(struct lks_talks_options options)
{
    struct lks_err err = {0};
    options.checkpoint = on_checkpoint;
    options.heard = on_heard;
    options.ended = on_ended;
    memset(&told, 0, sizeof(told));
    atomic_store(&server.asked, 0);
    CHECK_CODE(lks_talks_new(&options, &talks, &err), LKS_OK);
    CHECK_STR(lks_str_from(err.msg), "");
}

static struct lks_dialog *add_wide(unsigned peer, unsigned port, unsigned lanes, struct value value)
{
    struct lks_dialog *d = NULL;
    struct lks_err err = {0};
    char url[URL_SIZE];
    snprintf(url, sizeof(url), "http://127.0.0.1:%u", port);
    struct lks_dialog_options o = {
        .peer = {.url = url, .plain = true}, .site = peer % 2, .lanes = lanes, .ops = &ops};
    CHECK_CODE(lks_talks_add(talks, &o, &d, &err), LKS_OK);
    LKS_ASSERT(d != NULL);
    struct value *v = lks_talks_value(d);
    *v = value;
    v->c.deadline = lks_talks_now(talks) + LKS_WAIT_MS;
    return d;
}

static struct lks_dialog *add(unsigned peer, unsigned port, struct value value)
{
    return add_wide(peer, port, 0, value);
}

static void turn(lks_ms wait)
{
    struct lks_err err = {0};
    CHECK_CODE(lks_talks_turn(talks, wait, &err), LKS_OK);
}

static void turn_until(unsigned ended)
{
    for (struct lks_wait w = {0}; told.ended < ended && lks_wait_on(&w);)
        turn(100);
    CHECK_INT(told.ended, ended);
}

/* Tests ------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    unsigned all_max, site_max;
    unsigned all, site; /* at a time, at the most */
} limits[] = {
    {"of all", 3, 100, 3, 3},
    {"of a site", 100, 2, 4, 2},
    {"of both", 3, 2, 3, 2},
    {"of none but the peers", 100, 100, PEERS, PEERS / 2},
};

static void test_limits(void)
{
    enum { EACH = 3, STEPS = 4 };
    for (size_t i = 0; i < LKS_COUNT(limits); i++) {
        lks_test_case("%s", limits[i].name);
        begin((struct lks_talks_options){.all_max = limits[i].all_max,
                                         .site_max = limits[i].site_max});
        atomic_store(&server.peer_most, 0);
        atomic_store(&server.site_most, 0);
        atomic_store(&server.all_most, 0);
        for (unsigned k = 0; k < PEERS * EACH; k++)
            lks_talks_start(talks,
                            add(k % PEERS, server.ports[k % PEERS],
                                (struct value){.path = "/", .steps = STEPS}),
                            false);
        CHECK_INT(lks_talks_count(talks), PEERS * EACH);
        turn_until(PEERS * EACH);
        CHECK_INT(told.failed, 0);
        CHECK_INT(told.heard, PEERS * EACH * STEPS);
        CHECK_INT(atomic_load(&server.asked), PEERS * EACH * STEPS);
        CHECK_INT(atomic_load(&server.peer_most), 1);
        CHECK(atomic_load(&server.site_most) <= limits[i].site);
        CHECK(atomic_load(&server.all_most) <= limits[i].all);
        CHECK(atomic_load(&server.all_most) > 1);
        CHECK_INT(lks_talks_count(talks), 0);
        lks_talks_free(talks);
    }
}

/* A peer that takes several requests at a time gets as many; what asks others is limited as before,
 * and neither limits the other. */
static void test_lanes(void)
{
    enum { EACH = 12, STEPS = 4, LANES = 4 };
    begin((struct lks_talks_options){.all_max = 1, .site_max = 1});
    for (size_t i = 0; i < PEERS; i++)
        atomic_store(&server.most[i], 0);
    for (unsigned k = 0; k < 3 * EACH; k++)
        lks_talks_start(talks,
                        add_wide(k % 3, server.ports[k % 3], k % 3 == 0 ? LANES : k % 3 - 1,
                                 (struct value){.path = "/", .steps = STEPS}),
                        false);
    turn_until(3 * EACH);
    CHECK_INT(told.failed, 0);
    CHECK_INT(atomic_load(&server.asked), 3 * EACH * STEPS);
    CHECK_INT(atomic_load(&server.most[0]), LANES);
    CHECK_INT(atomic_load(&server.most[1]), 1);
    CHECK_INT(atomic_load(&server.most[2]), 1);
    lks_talks_free(talks);
}

static unsigned count_lost(struct lks_dialog *const *all, size_t count)
{
    unsigned lost = 0;
    for (size_t i = 0; i < count; i++)
        lost += ((const struct value *)lks_talks_value(all[i]))->lost;
    return lost;
}

/* A peer that fails all its lanes at once failed once; one conversation tries it then, until it
 * answers. */
static void test_lanes_backoff(void)
{
    enum { COUNT = 8, LANES = 4 };
    struct lks_dialog *all[COUNT];
    fake_now = 1000000;
    begin((struct lks_talks_options){.clock = fake_clock});
    for (size_t i = 0; i < COUNT; i++) {
        all[i] = add_wide(0, server.ports[0], LANES, (struct value){.path = "/drop", .steps = 1});
        lks_talks_start(talks, all[i], false);
    }
    for (struct lks_wait w = {0}; count_lost(all, COUNT) < LANES && lks_wait_on(&w);)
        turn(1);
    for (unsigned tries = 0; tries < 3; tries++) {
        lks_test_case("pause %u", tries);
        fake_now += (LKS_SECOND << tries) - 1;
        for (int i = 0; i < 20; i++)
            turn(1);
        CHECK_INT(atomic_load(&server.asked), LANES + tries);
        fake_now += 1;
        for (struct lks_wait w = {0};
             count_lost(all, COUNT) < LANES + tries + 1 && lks_wait_on(&w);)
            turn(1);
    }
    for (size_t i = 0; i < COUNT; i++) /* the peer is there again */
        ((struct value *)lks_talks_value(all[i]))->path = "/";
    atomic_store(&server.most[0], 0);
    fake_now += 8 * LKS_SECOND;
    turn_until(COUNT);
    CHECK_INT(told.failed, 0);
    CHECK_INT(atomic_load(&server.asked), LANES + 3 + COUNT);
    CHECK(atomic_load(&server.most[0]) > 1);
    lks_talks_free(talks);
}

/* Nothing is asked before what was said is durable. */
static void test_checkpoint(void)
{
    begin((struct lks_talks_options){0});
    told.hold = true;
    lks_talks_start(talks,
                    add(0, server.ports[0], (struct value){.path = "/", .steps = 2, .saves = true}),
                    false);
    for (struct lks_wait w = {0}; told.held == NULL && lks_wait_on(&w);)
        turn(100);
    CHECK_INT(told.saved, 1);
    CHECK_STR(lks_str_from(told.text), "1");
    for (int i = 0; i < 10; i++)
        turn(1);
    CHECK_INT(atomic_load(&server.asked), 1);
    if (CHECK(told.held != NULL))
        lks_talks_resume(talks, told.held);
    turn_until(1);
    CHECK_INT(atomic_load(&server.asked), 2);
    CHECK_INT(told.saved, 1);
    lks_talks_free(talks);
}

/* A restart is an answer that did not come. */
static void test_restored(void)
{
    begin((struct lks_talks_options){0});
    struct lks_dialog *d = add(0, server.ports[0], (struct value){.path = "/", .steps = 1});
    const struct value *v = lks_talks_value(d);
    lks_talks_start(talks, d, true);
    CHECK_INT(v->lost, 1);
    turn_until(1);
    CHECK_INT(told.failed, 0);
    lks_talks_free(talks);
}

/* Whoever asks a peer that does not answer waits longer and longer. */
static void test_backoff(void)
{
    fake_now = 1000000;
    begin((struct lks_talks_options){.clock = fake_clock});
    struct lks_dialog *d = add(0, server.ports[0], (struct value){.path = "/drop", .steps = 1});
    struct value *v = lks_talks_value(d);
    lks_talks_start(talks, d, false);
    for (unsigned tries = 1; tries < LKS_CONVERSATION_TRIES_MAX; tries++) {
        for (struct lks_wait w = {0}; v->lost < tries && lks_wait_on(&w);)
            turn(1);
        CHECK_CODE(lks_talks_trouble(d)->code, LKS_E_UNAVAILABLE);
        fake_now += (LKS_SECOND << (tries - 1)) - 1;
        for (int i = 0; i < 5; i++)
            turn(0);
        CHECK_INT(atomic_load(&server.asked), tries);
        fake_now += 1;
    }
    turn_until(1);
    CHECK_CODE(told.why.code, LKS_E_UNAVAILABLE);
    CHECK_INT(atomic_load(&server.asked), LKS_CONVERSATION_TRIES_MAX);
    /* Another one finds the peer as it is. */
    lks_talks_start(talks, add(0, server.ports[0], (struct value){.path = "/", .steps = 1}), false);
    for (int i = 0; i < 5; i++)
        turn(0);
    CHECK_INT(atomic_load(&server.asked), LKS_CONVERSATION_TRIES_MAX);
    fake_now += 40 * LKS_SECOND;
    turn_until(2);
    CHECK_INT(told.failed, 1);
    lks_talks_free(talks);
}

/* Where nothing says who the peer has to be, it is not asked, not even twice. */
static void test_untrusted(void)
{
    struct lks_dialog *d = NULL;
    struct lks_err err = {0};
    begin((struct lks_talks_options){0});
    struct lks_dialog_options o = {.peer = {.url = "https://127.0.0.1:1"}, .ops = &ops};
    CHECK_CODE(lks_talks_add(talks, &o, &d, &err), LKS_OK);
    *(struct value *)lks_talks_value(d) =
        (struct value){.path = "/", .steps = 1, .c.deadline = UINT64_MAX};
    lks_talks_start(talks, d, false);
    turn_until(1);
    CHECK_CODE(told.why.code, LKS_E_DENIED);
    CHECK_HAS(lks_str_from(told.why.msg), "fingerprint");
    o.peer.url = "http://10.0.0.1";
    CHECK_CODE(lks_talks_add(talks, &o, &d, &err), LKS_E_INVALID);
    lks_talks_free(talks);
}

/* In whatever state it is: one that was dropped is not heard of, and the others go on. */
static void test_cancel(void)
{
    begin((struct lks_talks_options){.all_max = 1});
    struct lks_dialog *dropped[5], *kept;
    for (size_t i = 0; i < LKS_COUNT(dropped); i++)
        dropped[i] = add(0, server.ports[i % 2], (struct value){.path = "/", .steps = 3});
    kept = add(0, server.ports[0], (struct value){.path = "/", .steps = 3});
    for (size_t i = 0; i + 1 < LKS_COUNT(dropped); i++)
        lks_talks_start(talks, dropped[i], false);
    lks_talks_start(talks, kept, false);
    turn(0);
    turn(0);
    for (size_t i = 0; i < LKS_COUNT(dropped); i++)
        lks_talks_cancel(talks, dropped[i]);
    turn_until(1);
    CHECK_INT(told.failed, 0);
    CHECK_INT(lks_talks_count(talks), 0);
    lks_talks_start(talks, add(0, server.ports[0], (struct value){.path = "/", .steps = 3}), false);
    turn(0);
    lks_talks_free(talks); /* with one under way */
    CHECK_INT(told.ended, 1);
}

static void test_tokens(void)
{
    begin((struct lks_talks_options){0});
    CHECK_STR(lks_str_from(lks_talks_token(talks, "https://a")), "");
    lks_talks_keep(talks, "https://a", "one");
    lks_talks_keep(talks, "https://b", "two");
    lks_talks_keep(talks, "https://a", "three");
    CHECK_STR(lks_str_from(lks_talks_token(talks, "https://a")), "three");
    CHECK_STR(lks_str_from(lks_talks_token(talks, "https://b")), "two");
    lks_talks_keep(talks, "https://a", "");
    CHECK_STR(lks_str_from(lks_talks_token(talks, "https://a")), "");
    lks_talks_wake(talks);
    turn(60 * LKS_SECOND);
    lks_talks_free(talks);
}

static const struct lks_test tests[] = {
    {"limits", test_limits},
    {"a peer that takes several requests", test_lanes},
    {"such a peer that fails", test_lanes_backoff},
    {"a checkpoint", test_checkpoint},
    {"after a restart", test_restored},
    {"a peer that does not answer", test_backoff},
    {"a peer that nobody vouches for", test_untrusted},
    {"dropped", test_cancel},
    {"sessions that stay open", test_tokens},
    {0},
};

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    server_start();
    int status = lks_test_main(tests);
    server_end();
    return status;
}
