#include "tests/fake_controller.h"

#include "base/file.h"
#include "codec/format/json.h"
#include "tests/test.h"
#include "tests/wait.h"
#include "trust/chain.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TICK_MS = 5, BODY_MAX = 8 << 20, HEARTBEAT_MS = 200 };

static int64_t clock_ms(clockid_t id)
{
    struct timespec t = {0};
    (void)clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

const char *fake_path(const struct fake *f, const char *name)
{
    static char paths[16][256];
    static size_t at;
    at = (at + 1) % LKS_COUNT(paths);
    snprintf(paths[at], sizeof(paths[at]), "%s/%s", f->tree.path, name);
    return paths[at];
}

struct lks_str fake_text(const struct fake *f, const char *name)
{
    static struct lks_buf text;
    struct lks_err err = {0};
    lks_buf_fini(&text);
    lks_buf_init(&text, BODY_MAX);
    if (lks_file_read_plain(fake_path(f, name), &text, &err) != LKS_OK)
        return LKS_STR("");
    return lks_buf_view(&text);
}

/* Answers ------------------------------------------------------------------------------------- */

static void reply(struct lks_httpd_exchange *x, int status, struct lks_str body)
{
    lks_httpd_reply(
        x, &(struct lks_httpd_reply){.status = status, .type = "application/json", .body = body});
}

static void reply_problem(struct lks_httpd_exchange *x, int status, const char *detail)
{
    char text[256];
    snprintf(text, sizeof(text), "{\"detail\":\"%s\"}", detail);
    reply(x, status, lks_str_from(text));
}

static void issue(struct fake *f, struct lks_str request, struct lks_buf *out)
{
    struct lks_x509_about about = {0};
    struct lks_err err = {0};
    /* Begun long ago, so that a short one is due for renewal. */
    int64_t from = (int64_t)time(NULL) - 100000;
    const struct lks_x509_wish wish = {
        .use = LKS_X509_NODE, .name = LKS_STR(FAKE_NODE), .now = from, .seconds = 100000 + f->life};
    lks_buf_init(out, LKS_X509_PEM_MAX);
    CHECK_CODE(lks_x509_issue(lks_buf_view(&f->ca), lks_buf_view(&f->ca_key), request, &wish, out,
                              &about, &err),
               LKS_OK);
}

static void answer_enroll(struct fake *f, struct lks_httpd_exchange *x, const struct lks_doc *body)
{
    char key[LKS_KEY_TEXT_SIZE], address[64];
    struct lks_public_key journal = lks_key_public(&f->journal);
    struct lks_public_key command = lks_key_public(&f->command);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf certificate = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(BODY_MAX);
    if (!lks_str_is(lks_doc_text(body, "token"), f->token)) {
        reply_problem(x, 403, "the token is not known");
        return;
    }
    issue(f, lks_doc_text(body, "request"), &certificate);
    struct lks_json_writer w = {.out = &json};
    lks_json_begin(&w, NULL, '{');
    lks_json_cstr(&w, "node", FAKE_NODE);
    lks_json_text(&w, "certificate", lks_buf_view(&certificate));
    lks_json_text(&w, "ca", lks_buf_view(&f->ca));
    lks_json_cstr(&w, "journal", FAKE_JOURNAL);
    lks_key_public_text(&journal, key);
    lks_json_cstr(&w, "journal_key", key);
    lks_key_public_text(&command, key);
    lks_json_cstr(&w, "command_key", key);
    snprintf(address, sizeof(address), "https://127.0.0.1:%u", f->port);
    lks_json_cstr(&w, "agents", address);
    lks_json_int(&w, "heartbeat_ms", (int64_t)f->enrol_heartbeat);
    lks_json_end(&w, '}');
    f->enrolled++;
    reply(x, 200, lks_buf_view(&json));
}

static bool waiting(const struct fake *f)
{
    for (size_t i = 0; i < f->command_count; i++) {
        if (!f->ended[i])
            return true;
    }
    return f->want_tuple || f->load != NULL;
}

static void answer_beat(struct fake *f, struct lks_httpd_exchange *x, struct lks_str body)
{
    struct lks_beat beat = {0};
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(BODY_MAX);
    CHECK_CODE(lks_heartbeat_unpack(body, &beat, &err), LKS_OK);
    bool same_boot = f->heard && memcmp(beat.boot, f->last.boot, sizeof(beat.boot)) == 0;
    if (same_boot && beat.seq <= f->last.seq)
        f->numbers_rise = false;
    f->boots += !same_boot;
    f->heard = true;
    f->last = beat;
    f->beats++;
    struct lks_json_writer w = {.out = &json};
    lks_json_begin(&w, NULL, '{');
    if (f->head[0] != '\0')
        lks_json_cstr(&w, "head", f->head);
    if (f->heartbeat != 0)
        lks_json_int(&w, "heartbeat_ms", (int64_t)f->heartbeat);
    if (f->barred)
        lks_json_bool(&w, "barred", true);
    if (f->changing)
        lks_json_bool(&w, "changing", true);
    lks_json_bool(&w, "mail", waiting(f));
    lks_json_int(&w, "time", clock_ms(CLOCK_REALTIME));
    lks_json_end(&w, '}');
    reply(x, 200, lks_buf_view(&json));
}

static void note_report(struct fake *f, const char *text)
{
    size_t len = strlen(f->reports);
    snprintf(f->reports + len, sizeof(f->reports) - len, "%s ", text);
}

static void answer_tuple(struct fake *f, struct lks_httpd_exchange *x, const struct lks_doc *body)
{
    CHECK_STR(lks_doc_text(body, "node"), FAKE_NODE);
    f->tuples++;
    f->want_tuple = false;
    note_report(f, "tuple");
    reply(x, 200, LKS_STR("{\"seq\":1}"));
}

static void answer_result(struct fake *f, struct lks_httpd_exchange *x, const struct lks_doc *body)
{
    char text[64];
    const struct lks_doc *id = lks_doc_member(body, "id");
    struct lks_str outcome = lks_doc_text(body, "outcome");
    if (!CHECK(id != NULL && id->number > 0 && (size_t)id->number <= f->command_count))
        return;
    size_t at = (size_t)id->number - 1;
    f->contradictions += f->ended[at] && !lks_str_is(outcome, f->outcome[at]);
    f->ended[at] = true;
    f->results++;
    f->mails_before = f->mails;
    snprintf(f->outcome[at], sizeof(f->outcome[at]), "%" LKS_STR_FMT, LKS_STR_ARG(outcome));
    snprintf(text, sizeof(text), "%d=%s", (int)id->number, f->outcome[at]);
    note_report(f, text);
    reply(x, 200, LKS_STR("{\"seq\":1}"));
}

static void answer_check(struct fake *f, struct lks_httpd_exchange *x, const struct lks_doc *body)
{
    const struct lks_doc *passed = lks_doc_member(body, "passed");
    if (!CHECK(passed != NULL && passed->kind == LKS_DOC_BOOL))
        return;
    f->checks++;
    snprintf(f->check, sizeof(f->check), "%" LKS_STR_FMT,
             LKS_STR_ARG(passed->truth ? LKS_STR("passed") : lks_doc_text(body, "text")));
    reply(x, 200, LKS_STR("{\"seq\":1}"));
}

static void answer_mail(struct fake *f, struct lks_httpd_exchange *x)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(BODY_MAX);
    struct lks_json_writer w = {.out = &json};
    lks_json_begin(&w, NULL, '{');
    lks_json_bool(&w, "want_tuple", f->want_tuple);
    lks_json_begin(&w, "commands", '[');
    for (size_t i = 0; i < f->command_count; i++) {
        if (!f->ended[i])
            lks_json_text(&w, NULL, lks_buf_view(&f->commands[i]));
    }
    lks_json_end(&w, ']');
    if (f->load != NULL)
        lks_json_cstr(&w, "load", f->load);
    lks_json_end(&w, '}');
    f->mails++;
    reply(x, 200, lks_buf_view(&json));
}

static void answer_renew(struct fake *f, struct lks_httpd_exchange *x, const struct lks_doc *body)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf certificate = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(BODY_MAX);
    f->life = 1000000;
    issue(f, lks_doc_text(body, "request"), &certificate);
    struct lks_json_writer w = {.out = &json};
    lks_json_begin(&w, NULL, '{');
    lks_json_text(&w, "certificate", lks_buf_view(&certificate));
    lks_json_end(&w, '}');
    f->renewals++;
    reply(x, 200, lks_buf_view(&json));
}

static void drip_over(void *ctx, struct lks_httpd_stream *s)
{
    struct fake *f = ctx;
    if (f->drip == s)
        f->drip = NULL;
}

/* True when the mode had its way with the request. */
static bool misbehave(struct fake *f, struct lks_httpd_exchange *x)
{
    switch (f->mode) {
    case FAKE_BUSY:
        reply_problem(x, 503, "the journal cannot be written");
        return true;
    case FAKE_FORBIDS:
        reply_problem(x, 403, "not this node");
        return true;
    case FAKE_GARBAGE:
        reply(x, 200, LKS_STR("<html>proxy error</html>"));
        return true;
    case FAKE_DRIPS:
        if (f->drip != NULL)
            reply_problem(x, 503, "one at a time");
        else
            f->drip = lks_httpd_stream_new(x, "application/json", BODY_MAX, drip_over, f);
        return true;
    case FAKE_FINE:
    case FAKE_MODE_COUNT:
        break;
    }
    return false;
}

static void answer_stack(struct fake *f, struct lks_httpd_exchange *x)
{
    f->stacks++;
    reply(x, 200, lks_str_from(f->stack));
}

static void hear_agent(struct fake *f, struct lks_httpd_exchange *x,
                       const struct lks_httpd_request *r, const struct lks_doc *body)
{
    struct lks_x509_about about = {0};
    struct lks_err err = {0};
    f->asked++;
    CHECK_CODE(lks_x509_read(r->peer->certificate, &about, &err), LKS_OK);
    CHECK_STR(lks_str_from(about.name), FAKE_NODE);
    CHECK_STR(lks_str_from(lks_httpd_header(x, "Lockstep-Protocol")), "1");
    memcpy(f->fingerprint, about.fingerprint, sizeof(f->fingerprint));
    if (misbehave(f, x))
        return;
    if (strcmp(r->path, "/v1/agent/beat") == 0)
        answer_beat(f, x, r->body);
    else if (strcmp(r->path, "/v1/agent/tuple") == 0)
        answer_tuple(f, x, body);
    else if (strcmp(r->path, "/v1/agent/result") == 0)
        answer_result(f, x, body);
    else if (strcmp(r->path, "/v1/agent/check") == 0 && !f->old)
        answer_check(f, x, body);
    else if (strcmp(r->path, "/v1/agent/stack") == 0 && f->stack != NULL)
        answer_stack(f, x);
    else if (strcmp(r->path, "/v1/agent/mail") == 0)
        answer_mail(f, x);
    else if (strcmp(r->path, "/v1/agent/renew") == 0)
        answer_renew(f, x, body);
    else
        reply_problem(x, 404, "no such path");
}

static void hear(void *ctx, struct lks_httpd_exchange *x, const struct lks_httpd_request *r)
{
    struct fake *f = ctx;
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    bool json = r->body.len > 0 && r->body.ptr[0] == '{';
    CHECK_CODE(lks_docs_init(&docs, "body", &err), LKS_OK);
    if (json)
        CHECK_CODE(lks_json_parse(r->body, &docs, &err), LKS_OK);
    if (strcmp(r->path, "/v1/enroll") == 0)
        answer_enroll(f, x, docs.first);
    else
        hear_agent(f, x, r, docs.first);
}

static void gone(void *ctx, struct lks_httpd_exchange *x)
{
    (void)ctx;
    (void)x;
}

/* Its life ------------------------------------------------------------------------------------ */

static void tick(uv_timer_t *timer)
{
    struct fake *f = timer->data;
    if (f->drip != NULL)
        (void)lks_httpd_stream_write(f->drip, LKS_STR(" "));
    uv_stop(&f->loop);
}

static struct lks_httpd *listener(struct fake *f, unsigned port, bool agents)
{
    char address[64];
    struct lks_httpd *h = NULL;
    struct lks_err err = {0};
    snprintf(address, sizeof(address), "127.0.0.1:%u", port);
    const struct lks_httpd_options options = {
        .address = address,
        .certificate = lks_buf_view(&f->server),
        .key = lks_buf_view(&f->server_key),
        .client_ca = lks_buf_view(&f->ca),
        .clients = agents ? LKS_HTTPD_CLIENTS_REQUIRED : LKS_HTTPD_CLIENTS_NONE,
        .connections = 32,
        .body_max = BODY_MAX,
        .first_ms = LKS_WAIT_MS,
        .request_ms = LKS_WAIT_MS,
        .idle_ms = LKS_WAIT_MS,
    };
    if (!CHECK_CODE(lks_httpd_new(&f->loop, &options, hear, gone, f, &h, &err), LKS_OK))
        printf("%s\n", err.msg);
    return h;
}

static void make_certificates(struct fake *f)
{
    struct lks_str names[] = {LKS_STR("127.0.0.1"), LKS_STR("localhost")};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf request = {0};
    struct lks_x509_about about = {0};
    struct lks_err err = {0};
    struct lks_buf *bufs[] = {&f->ca, &f->ca_key, &f->server, &f->server_key, &request};
    for (size_t i = 0; i < LKS_COUNT(bufs); i++)
        lks_buf_init(bufs[i], LKS_X509_PEM_MAX);
    struct lks_x509_wish wish = {.use = LKS_X509_CA,
                                 .name = LKS_STR("test CA"),
                                 .now = (int64_t)time(NULL) - 200000,
                                 .seconds = 10000000};
    CHECK_CODE(lks_x509_key(&f->ca_key, &err), LKS_OK);
    CHECK_CODE(lks_x509_make_ca(lks_buf_view(&f->ca_key), &wish, &f->ca, &err), LKS_OK);
    wish.use = LKS_X509_SERVER;
    wish.name = LKS_STR("localhost");
    wish.alternatives = names;
    wish.alternative_count = LKS_COUNT(names);
    wish.seconds = 1000000;
    CHECK_CODE(lks_x509_key(&f->server_key, &err), LKS_OK);
    CHECK_CODE(lks_x509_request(lks_buf_view(&f->server_key), wish.name, &request, &err), LKS_OK);
    CHECK_CODE(lks_x509_issue(lks_buf_view(&f->ca), lks_buf_view(&f->ca_key),
                              lks_buf_view(&request), &wish, &f->server, &about, &err),
               LKS_OK);
}

void fake_start(struct fake *f)
{
    char hash[LKS_DIGEST_SIZE];
    const uint8_t chance[LKS_TOKEN_CHANCE] = {1, 2, 3}, one[LKS_KEY_BYTES] = {1};
    const uint8_t two[LKS_KEY_BYTES] = {2};
    struct lks_err err = {0};
    *f = (struct fake){.life = 1000000,
                       .enrol_heartbeat = HEARTBEAT_MS,
                       .numbers_rise = true,
                       .tree = lks_tree_new()};
    make_certificates(f);
    CHECK_CODE(lks_key_make(one, &f->journal, &err), LKS_OK);
    CHECK_CODE(lks_key_make(two, &f->command, &err), LKS_OK);
    CHECK_CODE(lks_token_make(LKS_TOKEN_NODE, LKS_STR(FAKE_NODE), chance, f->token, hash, &err),
               LKS_OK);
    lks_tree_bytes(&f->tree, "/ca.crt", lks_buf_view(&f->ca));
    lks_tree_file(&f->tree, "/token", f->token);
    lks_tree_file(&f->tree, "/root/proc/sys/kernel/osrelease", "6.1.0-40-amd64\n");
    CHECK(uv_loop_init(&f->loop) == 0);
    CHECK(uv_timer_init(&f->loop, &f->tick) == 0);
    f->tick.data = f;
    uv_timer_start(&f->tick, tick, TICK_MS, TICK_MS);
    f->people = listener(f, 0, false);
    f->agents = listener(f, 0, true);
    f->port = f->agents != NULL ? lks_httpd_port(f->agents) : 0;
}

void fake_leave(struct fake *f)
{
    lks_httpd_free(f->agents);
    f->agents = NULL;
    f->drip = NULL;
}

void fake_return(struct fake *f)
{
    f->agents = listener(f, f->port, true);
}

void fake_stop(struct fake *f)
{
    if (f->agents != NULL)
        fake_leave(f);
    lks_httpd_free(f->people);
    uv_close((uv_handle_t *)&f->tick, NULL);
    (void)uv_run(&f->loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&f->loop) == 0);
    struct lks_buf *bufs[] = {&f->ca, &f->ca_key, &f->server, &f->server_key};
    for (size_t i = 0; i < LKS_COUNT(bufs); i++)
        lks_buf_fini(bufs[i]);
    for (size_t i = 0; i < f->command_count; i++)
        lks_buf_fini(&f->commands[i]);
    lks_tree_free(&f->tree);
}

void fake_serve(struct fake *f, int ms)
{
    int64_t until = clock_ms(CLOCK_MONOTONIC) + ms;
    while (clock_ms(CLOCK_MONOTONIC) < until)
        (void)uv_run(&f->loop, UV_RUN_DEFAULT);
}

bool fake_until(struct fake *f, bool (*done)(const struct fake *f))
{
    for (struct lks_wait w = {0}; !done(f) && lks_wait_on(&w);)
        (void)uv_run(&f->loop, UV_RUN_DEFAULT);
    return done(f);
}

static void uuid_text(const uint8_t b[16], char out[LKS_BOOT_ID_SIZE])
{
    snprintf(out, LKS_BOOT_ID_SIZE,
             "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
             b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
             b[15]);
}

uint64_t fake_command(struct fake *f, const char *executor, const char *boot)
{
    LKS_ASSERT(f->command_count < FAKE_COMMANDS_MAX);
    struct lks_buf *out = &f->commands[f->command_count];
    struct lks_envelope e = {
        .id = ++f->command_count,
        .journal = FAKE_JOURNAL,
        .node = FAKE_NODE,
        .epoch = 1,
        .attempt = 1,
        .expires = (lks_ms)clock_ms(CLOCK_REALTIME) + LKS_WAIT_MS,
    };
    struct lks_err err = {0};
    uuid_text(f->last.boot, e.boot);
    if (boot != NULL)
        snprintf(e.boot, sizeof(e.boot), "%s", boot);
    snprintf(e.executor, sizeof(e.executor), "%s", executor);
    lks_buf_init(out, LKS_DSSE_MAX);
    CHECK_CODE(lks_envelope_sign(&f->command, &e, out, &err), LKS_OK);
    return e.id;
}

pid_t fake_spawn(struct fake *f, const char *log, const char *const *argv)
{
    char *words[32] = {0};
    for (size_t i = 0; argv[i] != NULL && i + 1 < LKS_COUNT(words); i++)
        memcpy(&words[i], &argv[i], sizeof(words[i]));
    int fd = open(fake_path(f, log), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    pid_t pid = fork();
    if (pid == 0) {
        (void)dup2(fd, STDERR_FILENO);
        (void)execv(words[0], words);
        _exit(127);
    }
    CHECK(pid > 0);
    (void)close(fd);
    return pid;
}

int fake_wait(struct fake *f, pid_t pid)
{
    int status = 0;
    for (struct lks_wait w = {0}; lks_wait_on(&w);) {
        if (waitpid(pid, &status, WNOHANG) == pid)
            return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        (void)uv_run(&f->loop, UV_RUN_DEFAULT);
    }
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, &status, 0);
    return -1;
}

/* Agents ----------------------------------------------------------------------------------------
 */

pid_t fake_agent(struct fake *f, const char *const *more)
{
    return fake_agent_as(f, LKS_AGENTSIM_PROGRAM, more);
}

pid_t fake_agent_as(struct fake *f, const char *program, const char *const *more)
{
    char people[64];
    snprintf(people, sizeof(people), "https://127.0.0.1:%u", lks_httpd_port(f->people));
    const char *argv[20] = {program,
                            "--state",
                            fake_path(f, "state"),
                            "--controller",
                            people,
                            "--ca",
                            fake_path(f, "ca.crt"),
                            "--token-file",
                            fake_path(f, "token"),
                            "--root",
                            fake_path(f, "root")};
    for (size_t i = 11; more != NULL && *more != NULL && i + 1 < LKS_COUNT(argv); i++)
        argv[i] = *more++;
    return fake_spawn(f, "log", argv);
}

void fake_agent_end(struct fake *f, pid_t pid)
{
    CHECK(kill(pid, SIGTERM) == 0);
    CHECK_INT(fake_wait(f, pid), 0);
}

bool fake_settled(const struct fake *f)
{
    static const uint8_t none[LKS_HASH_BYTES];
    return f->tuples >= 1 && f->beats >= 2 && f->last.spooled == 0 &&
           memcmp(f->last.tuple, none, sizeof(none)) != 0;
}

bool fake_three_beats(const struct fake *f)
{
    return f->beats >= 3;
}

bool fake_all_ended(const struct fake *f)
{
    for (size_t i = 0; i < f->command_count; i++) {
        if (!f->ended[i])
            return false;
    }
    return true;
}
