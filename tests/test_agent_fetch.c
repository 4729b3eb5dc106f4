/* Artifacts on their way to a node: servers that are true, that lie, that are away; room that is
 * short; and the real agent with the real lockstepd, killed in the middle. */
#include "agent/loop/fetch.h"

#include "base/file.h"
#include "codec/format/json.h"
#include "drivers/depot/depot_files.h"
#include "tests/controller.h"
#include "tests/liar.h"
#include "tests/test.h"
#include "tests/wait.h"
#include "trust/signature.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define KIB ((size_t)1024)
#define MIB (KIB * KIB)
/* Of "hello artifact". */
#define HELLO  "hello artifact"
#define WHOLE  "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-13/14\r\n"
#define LENGTH "Content-Length: 14\r\n\r\n"

enum { PATH_SIZE = 256, SERVERS = 2 };

/* ---- The program's inside, with servers that say what a test wrote down. ---- */

static struct {
    struct lks_tree tree;
    struct lks_pair authority, server, node;
    char digest[LKS_DIGEST_SIZE];
    struct lks_err err;
} at;

static void begin(void)
{
    at.tree = lks_tree_new();
    at.err = (struct lks_err){0};
    lks_pki_authority(&at.authority);
    lks_pki_issue(&at.authority, (struct lks_pki_wish){.use = LKS_X509_SERVER, .name = "localhost"},
                  &at.server);
    lks_pki_issue(&at.authority, (struct lks_pki_wish){.use = LKS_X509_NODE, .name = "n1"},
                  &at.node);
    lks_tree_bytes(&at.tree, "/ca.crt", lks_buf_view(&at.authority.certificate));
    lks_tree_bytes(&at.tree, "/node.crt", lks_buf_view(&at.node.certificate));
    lks_tree_bytes(&at.tree, "/node.key", lks_buf_view(&at.node.key));
    CHECK_CODE(lks_digest_text(LKS_STR(HELLO), at.digest, &at.err), LKS_OK);
}

static void end(void)
{
    lks_pair_fini(&at.authority);
    lks_pair_fini(&at.server);
    lks_pair_fini(&at.node);
    lks_tree_free(&at.tree);
}

/* A part of it that was there before. */
static void plant_part(const char *bytes)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "/depot/parts/%.64s", at.digest + strlen("sha256:"));
    lks_tree_file(&at.tree, path, bytes);
}

static bool is_there(void)
{
    LKS_CLEANUP(lks_depot_close) struct lks_depot depot = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf got = LKS_BUF(64);
    char path[PATH_SIZE];
    uint64_t size = 0;
    int fd = -1;
    snprintf(path, sizeof(path), "%s/depot", at.tree.path);
    if (!CHECK_CODE(lks_depot_open(path, &depot, &at.err), LKS_OK) ||
        lks_depot_find(&depot, at.digest, &fd, &size, &at.err) != LKS_OK)
        return false;
    CHECK_CODE(lks_depot_read(fd, 0, size, &got, &at.err), LKS_OK);
    CHECK_STR(lks_buf_view(&got), HELLO);
    close(fd);
    return true;
}

struct told {
    struct lks_liar liars[SERVERS];
    struct lks_buf said;
};

static enum lks_code fetch(struct told *t, uint64_t bytes)
{
    char servers[160] = "";
    char *said = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&said, &size);
    for (size_t i = 0; i < SERVERS; i++) {
        struct lks_liar *l = &t->liars[i];
        l->own = &at.server;
        l->authority = &at.authority;
        lks_liar_start(l);
        size_t used = strlen(servers);
        snprintf(servers + used, sizeof(servers) - used, " https://localhost:%u", l->port);
    }
    const struct lks_fetch_options options = {.state = at.tree.path,
                                              .digests = at.digest,
                                              .servers = servers,
                                              .certificate = "node.crt",
                                              .key = "node.key",
                                              .bytes = bytes};
    enum lks_code code = lks_fetch_run(&options, out, &at.err);
    (void)fclose(out);
    lks_buf_init(&t->said, 4096);
    lks_buf_add(&t->said, lks_str_from(said));
    free(said);
    return code;
}

static void told_fini(struct told *t)
{
    for (size_t i = 0; i < SERVERS; i++)
        lks_liar_fini(&t->liars[i]);
    lks_buf_fini(&t->said);
}

#define SAYS(text)                                                                                 \
    {                                                                                              \
        LKS_LIAR_CLOSE, LKS_STR_C(text)                                                            \
    }
#define TRUE_ANSWER SAYS(WHOLE LENGTH HELLO)
#define NOT_FOUND   SAYS("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")
#define REST        "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 5-13/14\r\n"
#define BEYOND      SAYS("HTTP/1.1 416 No\r\nContent-Length: 0\r\n\r\n")

static const struct {
    const char *name;
    const char *part; /* there before */
    struct lks_liar_turn first[3], second[3];
    enum lks_code code;
    const char *said;  /* a part of what it prints; "": nothing at all */
    const char *asked; /* a part of what the second, or else the first, was asked */
} stories[] = {
    {"the first has it", "", {TRUE_ANSWER}, {{0}}, LKS_OK, "", "Range: bytes=0-4194303\r\n"},
    {"the first answers with all of it",
     "",
     {SAYS("HTTP/1.1 200 OK\r\n" LENGTH HELLO)},
     {{0}},
     LKS_OK,
     "",
     "GET /v1/artifacts/sha256:"},
    {"the first does not have it", "", {NOT_FOUND}, {TRUE_ANSWER}, LKS_OK, "", "bytes=0-"},
    {"the first is broken",
     "",
     {SAYS("gibberish\r\n\r\n")},
     {TRUE_ANSWER},
     LKS_OK,
     "lied ",
     "bytes=0-"},
    {"the first breaks off",
     "",
     {SAYS(WHOLE LENGTH "hello")},
     {TRUE_ANSWER},
     LKS_OK,
     "",
     "bytes=0-"},
    {"the first lies",
     "",
     {SAYS(WHOLE LENGTH "HELLO ARTIFACT")},
     {TRUE_ANSWER},
     LKS_OK,
     "lied https://localhost:",
     "bytes=0-"},
    {"the first tells of another range",
     "",
     {SAYS("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 3-16/17\r\n" LENGTH HELLO)},
     {TRUE_ANSWER},
     LKS_OK,
     "lied ",
     "bytes=0-"},
    {"the first tells of more than it sends",
     "",
     {SAYS("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-99/100\r\n" LENGTH HELLO)},
     {TRUE_ANSWER},
     LKS_OK,
     "lied ",
     "bytes=0-"},
    {"the first tells of more than there can be",
     "",
     {SAYS("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-13/999999999\r\n" LENGTH HELLO)},
     {TRUE_ANSWER},
     LKS_OK,
     "",
     "bytes=0-"},
    {"the first is too talkative",
     "",
     {SAYS("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nx")},
     {TRUE_ANSWER},
     LKS_OK,
     "",
     "bytes=0-"},
    {"goes on where it stopped",
     "hello",
     {SAYS(REST "Content-Length: 9\r\n\r\n artifact")},
     {{0}},
     LKS_OK,
     "",
     "Range: bytes=5-4194308\r\n"},
    {"what was there was wrong, and nobody is blamed",
     "HELLO",
     {SAYS(REST "Content-Length: 9\r\n\r\n artifact"), TRUE_ANSWER},
     {{0}},
     LKS_OK,
     "",
     "Range: bytes=0-4194303\r\n"},
    {"more was there than there is",
     "hello artifact and more",
     {BEYOND, TRUE_ANSWER},
     {{0}},
     LKS_OK,
     "",
     "Range: bytes=0-4194303\r\n"},
    {"nobody has it", "", {NOT_FOUND}, {NOT_FOUND}, LKS_E_NOT_FOUND, "failed sha256:", "bytes=0-"},
    {"all lie",
     "",
     {SAYS(WHOLE LENGTH "HELLO ARTIFACT")},
     {SAYS(WHOLE LENGTH "HELLO ARTIFACt")},
     LKS_E_INVALID,
     "failed sha256:",
     "bytes=0-"},
};

static size_t turns_of(const struct lks_liar_turn *turns, struct lks_liar *l)
{
    while (l->turn_count < 3 && turns[l->turn_count].text.len > 0) {
        l->turns[l->turn_count] = turns[l->turn_count];
        l->turn_count++;
    }
    return l->turn_count;
}

static void servers(void)
{
    for (size_t i = 0; i < LKS_COUNT(stories); i++) {
        LKS_CLEANUP(told_fini) struct told t = {0};
        lks_test_case("%s", stories[i].name);
        begin();
        bool second = turns_of(stories[i].second, &t.liars[1]) > 0;
        turns_of(stories[i].first, &t.liars[0]);
        if (stories[i].part[0] != '\0')
            plant_part(stories[i].part);
        CHECK_CODE(fetch(&t, MIB), stories[i].code);
        CHECK(is_there() == (stories[i].code == LKS_OK));
        CHECK_HAS(lks_buf_view(&t.said), stories[i].said);
        CHECK((t.said.len == 0) == (stories[i].said[0] == '\0'));
        lks_liar_join(&t.liars[second]);
        CHECK_HAS(lks_buf_view(&t.liars[second].heard), stories[i].asked);
        end();
    }
}

/* What is there under its name is looked at, too: another file in its place is fetched anew. */
static void replaced(void)
{
    static const struct {
        const char *name, *bytes;
        bool asks;
    } rows[] = {{"as it should be", HELLO, false}, {"another", "HELLO ARTIFACT", true}};
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(told_fini) struct told t = {0};
        char path[PATH_SIZE];
        lks_test_case("%s", rows[i].name);
        begin();
        snprintf(path, sizeof(path), "/depot/sha256/%.2s/%s", at.digest + 7, at.digest + 9);
        lks_tree_file(&at.tree, path, rows[i].bytes);
        if (rows[i].asks)
            turns_of((const struct lks_liar_turn[3]){TRUE_ANSWER}, &t.liars[0]);
        CHECK_CODE(fetch(&t, MIB), LKS_OK);
        CHECK(is_there());
        lks_liar_join(&t.liars[0]);
        CHECK_INT(t.liars[0].heard.len > 0, rows[i].asks);
        end();
    }
}

/* What was used longest ago makes room; what is wanted now does not, and nothing does where that
 * would not help. */
static void room(void)
{
    static const char *const names[] = {"11", "22", "33"};
    for (int large = 0; large < 2; large++) {
        LKS_CLEANUP(told_fini) struct told t = {0};
        char path[PATH_SIZE];
        lks_test_case("%s", large ? "it does not fit at all" : "two have to go");
        begin();
        for (size_t i = 0; i < LKS_COUNT(names); i++) {
            snprintf(path, sizeof(path), "/depot/sha256/%s/%062d", names[i], 0);
            lks_tree_file(&at.tree, path, "0123456789");
            snprintf(path, sizeof(path), "%s/depot/sha256/%s/%062d", at.tree.path, names[i], 0);
            const struct timespec times[2] = {{.tv_sec = 1000 + (time_t)(i == 1 ? 0 : i + 1)},
                                              {.tv_sec = 1000 + (time_t)(i == 1 ? 0 : i + 1)}};
            CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
        }
        turns_of((const struct lks_liar_turn[3]){TRUE_ANSWER}, &t.liars[0]);
        turns_of((const struct lks_liar_turn[3]){TRUE_ANSWER}, &t.liars[1]);
        CHECK_CODE(fetch(&t, large ? 13 : 24), large ? LKS_E_REFUSED : LKS_OK);
        CHECK(is_there() == !large);
        for (size_t i = 0; i < LKS_COUNT(names); i++) {
            snprintf(path, sizeof(path), "%s/depot/sha256/%s/%062d", at.tree.path, names[i], 0);
            CHECK((access(path, F_OK) == 0) == (large || i == 2));
        }
        if (large)
            CHECK_HAS(lks_buf_view(&t.said), "do not fit into the 13 of --depot-bytes");
        end();
    }
}

/* ---- The real ones. ---- */

static struct {
    struct ctl ctl;
    struct lks_tree tree; /* the agent's: state, root, token */
    pid_t pid;
    struct lks_buf answer;
} site;

static void spawn(void)
{
    char url[64], state[PATH_SIZE], ca[PATH_SIZE], token[PATH_SIZE], root[PATH_SIZE],
        log[PATH_SIZE];
    snprintf(url, sizeof(url), "https://localhost:%u", site.ctl.people);
    snprintf(ca, sizeof(ca), "%s/ca.crt", site.ctl.data);
    snprintf(state, sizeof(state), "%s/state", site.tree.path);
    snprintf(token, sizeof(token), "%s/token", site.tree.path);
    snprintf(root, sizeof(root), "%s/root", site.tree.path);
    snprintf(log, sizeof(log), "%s/log", site.tree.path);
    site.pid = fork();
    if (site.pid != 0) {
        CHECK(site.pid > 0);
        return;
    }
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    (void)dup2(fd, STDERR_FILENO);
    (void)execl(LKS_AGENTSIM_PROGRAM, LKS_AGENTSIM_PROGRAM, "--state", state, "--controller", url,
                "--ca", ca, "--token-file", token, "--root", root, "--quick", "--inventory-seconds",
                "600", (char *)NULL);
    _exit(127);
}

static void end_agent(int number)
{
    int status = 0;
    CHECK(kill(site.pid, number) == 0);
    CHECK(waitpid(site.pid, &status, 0) == site.pid);
}

static void start_site(const char *settings)
{
    char token[PATH_SIZE];
    memset(&site, 0, sizeof(site));
    site.tree = lks_tree_new();
    lks_tree_file(&site.tree, "/root/proc/sys/kernel/random/boot_id",
                  "6c0a8d2e-7f0b-4d6c-9f9e-5a1d0b3c2e4f\n");
    ctl_init(&site.ctl, settings);
    CHECK(ctl_start(&site.ctl));
    ctl_apply(&site.ctl, 1);
    CHECK_INT(ctl_once(&site.ctl, "POST", "/v1/nodes/n0/enroll", "{}", &site.answer), 200);
    ctl_text(&site.answer, "token", token, sizeof(token));
    lks_tree_file(&site.tree, "/token", token);
    spawn();
}

static void stop_site(void)
{
    end_agent(SIGTERM);
    CHECK_INT(ctl_stop(&site.ctl), 0);
    ctl_fini(&site.ctl);
    lks_tree_free(&site.tree);
    lks_buf_fini(&site.answer);
}

/* As soon as the node has booted for the controller. */
static uint64_t command(const char *digest)
{
    char body[256];
    snprintf(body, sizeof(body),
             "{\"executor\":\"reboot\",\"digests\":[\"%s\"],\"reason\":\"a test\"}", digest);
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        if (ctl_once(&site.ctl, "POST", "/v1/nodes/n0/command", body, &site.answer) == 200)
            return ctl_number(&site.answer, "id");
    }
    CHECK_HAS(lks_buf_view(&site.answer), "\"id\"");
    return 0;
}

/* How it ended; the whole answer stays. */
static void wait_for(uint64_t id, const char *outcome)
{
    char path[64], got[32] = "";
    snprintf(path, sizeof(path), "/v1/commands/%llu", (unsigned long long)id);
    for (struct lks_wait w = {0}; got[0] == '\0' && lks_wait(&w);) {
        if (!CHECK_INT(ctl_once(&site.ctl, "GET", path, NULL, &site.answer), 200))
            return;
        ctl_text(&site.answer, "outcome", got, sizeof(got));
    }
    CHECK_STR(lks_str_from(got), outcome);
}

static void put(const struct lks_buf *bytes, char digest[LKS_DIGEST_SIZE])
{
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
    struct lks_client *client = ctl_client(&site.ctl, CTL_UNIX);
    struct lks_err err = {0};
    char path[128];
    CHECK_CODE(lks_digest_text(lks_buf_view(bytes), digest, &err), LKS_OK);
    snprintf(path, sizeof(path), "/v1/artifacts/%s", digest);
    CHECK_CODE(lks_client_exchange(client, "PUT", path, "application/octet-stream",
                                   lks_buf_view(bytes), "", &answer, &err),
               LKS_OK);
    CHECK_INT(answer.status, 200);
    lks_client_free(client);
}

static void post(const char *path, const struct lks_buf *body)
{
    if (!CHECK_INT(ctl_once(&site.ctl, "POST", path, body->ptr, &site.answer), 200))
        printf("%s\n", site.answer.ptr);
}

/* A key is pinned, and a bundle that it signs names the artifact. */
static void vouch(const char *digest, size_t size)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = {0}, text = {0};
    struct lks_signature s = {0};
    struct lks_key key;
    struct lks_pin pin;
    struct lks_err err = {0};
    uint8_t seed[LKS_KEY_BYTES] = {1};
    char line[LKS_PIN_LINE_SIZE], manifest[512];
    snprintf(manifest, sizeof(manifest),
             "{\"lockstep\":1,\"kind\":\"Bundle\",\"name\":\"x\",\"version\":\"1\",\"artifacts\":"
             "[{\"name\":\"x\",\"digest\":\"%s\",\"size\":%zu,\"component\":\"bmc\","
             "\"version\":\"1\"}]}",
             digest, size);
    lks_buf_init(&body, 8 * KIB);
    lks_buf_init(&text, LKS_SIGNATURE_TEXT_MAX);
    LKS_ASSERT(lks_key_make(seed, &key, &err) == LKS_OK &&
               lks_signature_pin_of(&key, &pin, &err) == LKS_OK);
    lks_signature_pin_text(&pin, line);
    lks_buf_addf(&body, "{\"name\":\"vendor\",\"key\":\"%s\",\"reason\":\"a test\"}", line);
    post("/v1/trust", &body);
    LKS_ASSERT(lks_signature_make(&key, lks_str_from(manifest), false, &s, &err) == LKS_OK);
    lks_signature_write(&s, &text);
    body.len = 0;
    struct lks_json_writer w = {.out = &body};
    lks_json_begin(&w, NULL, '{');
    lks_json_cstr(&w, "manifest", manifest);
    lks_json_text(&w, "signature", lks_buf_view(&text));
    lks_json_end(&w, '}');
    post("/v1/bundles", &body);
}

/* The controller loses a file of its depot. */
static void lose(const char *digest)
{
    char path[PATH_SIZE * 2];
    const char *hex = digest + strlen("sha256:");
    snprintf(path, sizeof(path), "%s/depot/sha256/%.2s/%s", site.ctl.data, hex, hex + 2);
    CHECK(unlink(path) == 0);
}

static uint64_t size_at(const char *folder, const char *name)
{
    char path[PATH_SIZE * 2];
    struct stat st = {0};
    snprintf(path, sizeof(path), "%s/state/depot/%s/%s", site.tree.path, folder, name);
    return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static void fill(struct lks_buf *bytes)
{
    lks_buf_init(bytes, 8 * MIB);
    for (unsigned i = 0; i < 6 * MIB / 4; i++)
        lks_buf_add(bytes, (struct lks_str){(const char *)&i, 4});
}

static void wait_part(const char *digest)
{
    const char *name = digest + strlen("sha256:");
    for (struct lks_wait w = {0}; size_at("parts", name) < 4 * MIB && lks_wait(&w);) {
    } /* the whole of the first piece */
}

/* Two pieces, slowly: the agent is killed when it has the first, and the next one goes on. */
static void real_agent(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = {0};
    char digest[LKS_DIGEST_SIZE], rest[LKS_DIGEST_SIZE + 1];
    struct lks_liar mirror = {.turns = {{LKS_LIAR_GARBAGE, LKS_STR_C("no TLS\r\n")}},
                              .turn_count = 1};
    char settings[512];
    lks_liar_start(&mirror);
    snprintf(settings, sizeof(settings),
             "limits: {heartbeat_ms: 200, late_ms: 60000, lost_ms: 120000}\n"
             "rate: {people_per_s: 100000, burst: 1000000}\n"
             "depot: {rate_bytes_per_s: 3000000, spare_bytes: 0,\n"
             "  mirrors: ['elsewhere=https://localhost:1', 'lab=https://localhost:%u']}\n",
             mirror.port);
    start_site(settings);
    fill(&bytes);
    lks_test_case("one that is not in the depot");
    LKS_CLEANUP(lks_buf_fini) struct lks_buf lost = LKS_BUF(64);
    lks_buf_add(&lost, LKS_STR("lost"));
    put(&lost, digest);
    vouch(digest, lost.len);
    lose(digest);
    wait_for(command(digest), "refused");
    CHECK_HAS(lks_buf_view(&site.answer), "its artifacts could not be fetched");
    lks_liar_join(&mirror);
    CHECK_INT(mirror.accepted, 1); /* the one of its site was asked first */
    lks_liar_fini(&mirror);
    lks_test_case("one that is");
    put(&bytes, digest);
    vouch(digest, bytes.len);
    uint64_t id = command(digest);
    wait_part(digest);
    CHECK_INT(size_at("parts", digest + strlen("sha256:")), 4 * MIB);
    end_agent(SIGKILL);
    spawn();
    wait_for(id, "done");
    snprintf(rest, sizeof(rest), "%.2s/%s", digest + strlen("sha256:"),
             digest + strlen("sha256:") + 2);
    CHECK_INT(size_at("sha256", rest), 6 * MIB);
    CHECK_INT(size_at("parts", digest + strlen("sha256:")), 0);
    stop_site();
}

int main(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
    static const struct lks_test tests[] = {
        {"servers, true or not", servers},
        {"what is there already", replaced},
        {"room", room},
        {"the real agent", real_agent},
        {NULL, NULL},
    };
    return lks_test_main(tests);
}
