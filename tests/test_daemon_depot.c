/* The real lockstepd as a depot: put in one piece and in many, asked for whole and in ranges, lied
 * to, killed, full, slowed down; and what is let go, and what never is. */
#include "base/file.h"
#include "codec/format/digest.h"
#include "tests/controller.h"
#include "tests/manifests.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define KIB    ((size_t)1024)
#define MIB    (KIB * KIB)
#define ZEROES "0000000000000000000000000000000000000000000000000000000000000000"
#define BYTES  "application/octet-stream"

enum { PATH_SIZE = 256, KILLS = 8 };

static const char quick[] = "rate: {people_per_s: 100000, burst: 1000000}\n"
                            "depot: {keep_days: 0, artifact_max: 33554432, spare_bytes: 0}\n";

static struct {
    struct ctl ctl;
    struct lks_client *client;
    struct lks_http_answer answer;
    struct lks_err err;
} at;

/* Something to put, which differs with `mark`, and its path. */
struct thing {
    char *bytes;
    size_t size;
    char digest[LKS_DIGEST_SIZE];
    char path[PATH_SIZE];
};

static struct thing thing_new(size_t size, unsigned mark)
{
    struct thing t = {.bytes = malloc(size), .size = size};
    for (size_t i = 0; i < size; i++)
        t.bytes[i] = (char)((i * 2654435761U + mark) >> 7);
    CHECK_CODE(lks_digest_text((struct lks_str){t.bytes, size}, t.digest, &at.err), LKS_OK);
    snprintf(t.path, sizeof(t.path), "/v1/artifacts/%s", t.digest);
    return t;
}

static void thing_fini(struct thing *t)
{
    free(t->bytes);
}

static void dial(void)
{
    lks_client_free(at.client);
    at.client = ctl_client(&at.ctl, CTL_TLS);
}

static void begin(const char *settings)
{
    memset(&at, 0, sizeof(at));
    ctl_init(&at.ctl, settings);
    CHECK(ctl_start(&at.ctl));
    dial();
}

static void end(void)
{
    lks_http_answer_fini(&at.answer);
    lks_client_free(at.client);
    CHECK_INT(ctl_stop(&at.ctl), 0);
    ctl_fini(&at.ctl);
}

/* One exchange; the answer stays in at.answer. 0: none. */
static int ask(const char *method, const char *path, struct lks_str body, const char *head)
{
    lks_http_answer_fini(&at.answer);
    bool put = strcmp(method, "PUT") == 0;
    enum lks_code code = lks_client_exchange(at.client, method, path, put ? BYTES : NULL, body,
                                             head, &at.answer, &at.err);
    return code == LKS_OK ? at.answer.status : 0;
}

static struct lks_str body(void)
{
    return at.answer.body.ptr != NULL ? lks_buf_view(&at.answer.body) : LKS_STR("");
}

static int put_part(const struct thing *t, size_t from, size_t len)
{
    char head[128];
    snprintf(head, sizeof(head), "Content-Range: bytes %zu-%zu/%zu\r\n", from, from + len - 1,
             t->size);
    return ask("PUT", t->path, (struct lks_str){t->bytes + from, len}, head);
}

static int put(const struct thing *t)
{
    return ask("PUT", t->path, (struct lks_str){t->bytes, t->size}, "");
}

static uint64_t have(const struct thing *t)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "/v1/artifacts/%s?part=1", t->digest);
    CHECK_INT(ask("GET", path, LKS_STR(""), ""), 200);
    return ctl_number(&at.answer.body, "have");
}

/* All of it is there, byte for byte. */
static void check_there(const struct thing *t)
{
    CHECK_INT(ask("GET", t->path, LKS_STR(""), ""), 200);
    CHECK(body().len == t->size && memcmp(body().ptr, t->bytes, t->size) == 0);
}

static void check_gone(const struct thing *t)
{
    CHECK_INT(ask("GET", t->path, LKS_STR(""), ""), 404);
}

static void file_of(const struct thing *t, char out[PATH_SIZE])
{
    const char *digits = t->digest + strlen("sha256:");
    snprintf(out, PATH_SIZE, "%s/depot/sha256/%.2s/%.62s", at.ctl.data, digits, digits + 2);
}

/* ---- Asking. ---- */

static const struct {
    const char *name, *head;
    int status;
    size_t from, len;
    const char *range; /* Content-Range of the answer */
} asked[] = {
    {"all", "", 200, 0, 1000000, ""},
    {"a range", "Range: bytes=10-19\r\n", 206, 10, 10, "bytes 10-19/1000000"},
    {"one byte", "Range: bytes=999999-999999\r\n", 206, 999999, 1, "bytes 999999-999999/1000000"},
    {"to the end", "Range: bytes=600000-\r\n", 206, 600000, 400000, "bytes 600000-999999/1000000"},
    {"the tail", "Range: bytes=-5\r\n", 206, 999995, 5, "bytes 999995-999999/1000000"},
    {"beyond the end", "Range: bytes=1000000-\r\n", 416, 0, 0, "bytes */1000000"},
    {"far beyond", "Range: bytes=18446744073709551615-\r\n", 416, 0, 0, "bytes */1000000"},
    {"beyond numbers", "Range: bytes=0-18446744073709551616\r\n", 200, 0, 1000000, ""},
    {"several", "Range: bytes=0-1,5-6\r\n", 200, 0, 1000000, ""},
    {"if it is that one", "Range: bytes=0-1\r\nIf-Range: ETAG\r\n", 206, 0, 2, "bytes 0-1/1000000"},
    {"if it were another", "Range: bytes=0-1\r\nIf-Range: \"x\"\r\n", 200, 0, 1000000, ""},
    {"have it already", "If-None-Match: ETAG\r\n", 304, 0, 0, ""},
    {"have another", "If-None-Match: \"x\"\r\n", 200, 0, 1000000, ""},
};

static void ranges(void)
{
    begin(quick);
    struct thing t = thing_new(1000000, 1);
    char path[PATH_SIZE], etag[LKS_DIGEST_SIZE + 2];
    check_gone(&t);
    snprintf(path, sizeof(path), "/v1/artifacts/%s?name=firmware", t.digest);
    CHECK_INT(ask("PUT", path, (struct lks_str){t.bytes, t.size}, ""), 200);
    CHECK(ctl_number(&at.answer.body, "seq") > 0);
    snprintf(etag, sizeof(etag), "\"%s\"", t.digest);
    for (size_t i = 0; i < LKS_COUNT(asked); i++) {
        struct lks_str before, behind = {0}, head = lks_str_from(asked[i].head);
        char text[256];
        ptrdiff_t place = lks_str_find(head, LKS_STR("ETAG"));
        before = place < 0 ? head : (struct lks_str){head.ptr, (size_t)place};
        if (place >= 0)
            behind = (struct lks_str){head.ptr + place + 4, head.len - (size_t)place - 4};
        snprintf(text, sizeof(text), "%" LKS_STR_FMT "%s%" LKS_STR_FMT, LKS_STR_ARG(before),
                 place >= 0 ? etag : "", LKS_STR_ARG(behind));
        lks_test_case("%s", asked[i].name);
        CHECK_INT(ask("GET", t.path, LKS_STR(""), text), asked[i].status);
        CHECK_STR(lks_http_answer_header(&at.answer, "content-range"), asked[i].range);
        CHECK_STR(lks_http_answer_header(&at.answer, "etag"), etag);
        if (asked[i].len > 0)
            CHECK(body().len == asked[i].len &&
                  memcmp(body().ptr, t.bytes + asked[i].from, asked[i].len) == 0);
    }
    lks_test_case("listed");
    CHECK_INT(ask("GET", "/v1/artifacts", LKS_STR(""), ""), 200);
    CHECK_HAS(body(), "\"name\":\"firmware\",\"size\":1000000");
    CHECK_INT(have(&t), t.size);
    CHECK_INT(put(&t), 200); /* again: it is there */
    thing_fini(&t);
    end();
}

/* ---- Putting. ---- */

static void in_parts(void)
{
    begin(quick);
    struct thing t = thing_new(2 * MIB + 77, 2);
    CHECK_INT(have(&t), 0);
    CHECK_INT(put_part(&t, 0, 300 * KIB), 202);
    CHECK_INT(ctl_number(&at.answer.body, "have"), 300 * KIB);
    CHECK_INT(have(&t), 300 * KIB);
    check_gone(&t); /* a part of it is nothing yet */
    lks_test_case("a gap");
    CHECK_INT(put_part(&t, 400 * KIB, 1000), 409);
    CHECK_HAS(body(), "307200 bytes of it are there");
    lks_test_case("a little back");
    CHECK_INT(put_part(&t, 200 * KIB, MIB), 202);
    lks_test_case("another lockstepd goes on");
    ctl_kill(&at.ctl);
    CHECK(ctl_start(&at.ctl));
    dial();
    CHECK_INT(have(&t), 200 * KIB + MIB);
    CHECK_INT(put_part(&t, 200 * KIB + MIB, t.size - 200 * KIB - MIB), 200);
    check_there(&t);
    lks_test_case("a part of what is there");
    CHECK_INT(put_part(&t, 0, 1000), 200);
    check_there(&t);
    thing_fini(&t);
    end();
}

#define A_DIGEST "sha256:" ZEROES

static const struct {
    const char *name, *method, *path, *head, *body;
    int status;
    const char *text;
} hostile[] = {
    {"no digest", "GET", "/v1/artifacts/latest", "", "", 400, "by its digest"},
    {"too short", "GET", "/v1/artifacts/sha256:00", "", "", 400, "by its digest"},
    {"large digits", "GET",
     "/v1/artifacts/sha256:ABCDEF0000000000000000000000000000000000000000000000000000000000", "",
     "", 400, "by its digest"},
    {"a path", "GET", "/v1/artifacts/..%2f..%2fseal.key", "", "", 400, ""},
    {"dots", "GET", "/v1/artifacts/..", "", "", 400, ""},
    {"a path to put", "PUT", "/v1/artifacts/sha256:%2e%2e%2f", "", "x", 400, ""},
    {"put, no digest", "PUT", "/v1/artifacts/x", "", "x", 400, "by its digest"},
    {"nothing to put", "PUT", "/v1/artifacts/" A_DIGEST, "", "", 400, "not empty"},
    {"another digest", "PUT", "/v1/artifacts/" A_DIGEST, "", "lie", 422, "thrown away"},
    {"fewer than told", "PUT", "/v1/artifacts/" A_DIGEST, "Content-Range: bytes 0-9/10\r\n", "abc",
     400, "tells of 10 bytes, and the body has 3"},
    {"more than told", "PUT", "/v1/artifacts/" A_DIGEST, "Content-Range: bytes 0-1/10\r\n", "abc",
     400, "tells of 2 bytes"},
    {"behind the end", "PUT", "/v1/artifacts/" A_DIGEST, "Content-Range: bytes 8-10/10\r\n", "abc",
     400, "expected bytes FIRST-LAST/SIZE"},
    {"an end that wraps", "PUT", "/v1/artifacts/" A_DIGEST,
     "Content-Range: bytes 18446744073709551614-18446744073709551616/18446744073709551615\r\n",
     "abc", 400, "expected bytes FIRST-LAST/SIZE"},
    {"no size", "PUT", "/v1/artifacts/" A_DIGEST, "Content-Range: bytes 0-2/*\r\n", "abc", 400,
     "expected bytes FIRST-LAST/SIZE"},
    {"too large", "PUT", "/v1/artifacts/" A_DIGEST, "Content-Range: bytes 0-2/33554433\r\n", "abc",
     400, "depot.artifact_max"},
    {"begins in the middle", "PUT", "/v1/artifacts/" A_DIGEST, "Content-Range: bytes 3-5/6\r\n",
     "abc", 409, "start at 0"},
    {"an unknown question", "GET", "/v1/artifacts/" A_DIGEST "?parts=1", "", "", 400, "parts"},
    {"a name of two lines", "PUT", "/v1/artifacts/" A_DIGEST "?name=a%0ab", "", "abc", 400, "name"},
};

static void lies(void)
{
    begin(quick);
    for (size_t i = 0; i < LKS_COUNT(hostile); i++) {
        lks_test_case("%s", hostile[i].name);
        CHECK_INT(
            ask(hostile[i].method, hostile[i].path, lks_str_from(hostile[i].body), hostile[i].head),
            hostile[i].status);
        CHECK_HAS(body(), hostile[i].text);
    }
    lks_test_case("what is left");
    CHECK_INT(ask("GET", "/v1/artifacts/" A_DIGEST "?part=1", LKS_STR(""), ""), 200);
    CHECK_INT(ctl_number(&at.answer.body, "have"), 0);
    end();
}

static void not_allowed(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    char token[256];
    begin(quick);
    struct thing t = thing_new(3 * MIB, 3), small = thing_new(1000, 4);
    CHECK_INT(ctl_once(&at.ctl, "POST", "/v1/access", "{\"identity\":\"kim\",\"role\":\"viewer\"}",
                       &answer),
              200);
    CHECK_INT(
        ctl_once(&at.ctl, "POST", "/v1/tokens", "{\"id\":\"kim\",\"identity\":\"kim\"}", &answer),
        200);
    ctl_text(&answer, "token", token, sizeof(token));
    CHECK_INT(put(&small), 200);
    char server[64], ca[PATH_SIZE];
    snprintf(server, sizeof(server), "https://localhost:%u", at.ctl.people);
    snprintf(ca, sizeof(ca), "%s/ca.crt", at.ctl.data);
    const struct lks_client_options kim = {
        .server = server, .ca = ca, .token = token, .timeout_ms = LKS_WAIT_MS};
    lks_client_free(at.client);
    CHECK_CODE(lks_client_new(&kim, &at.client, &at.err), LKS_OK);
    check_there(&small);
    lks_test_case("little");
    CHECK_INT(put(&small), 403);
    lks_test_case("much"); /* a client that sends much may not read the reason; nothing is taken */
    int status = put(&t);
    CHECK(status == 403 || status == 0);
    CHECK_INT(have(&t), 0);
    thing_fini(&t);
    thing_fini(&small);
    end();
}

/* ---- Killed. ---- */

struct sender {
    pthread_t thread;
    const struct thing *thing;
    struct lks_client *client;
};

static void *send_it(void *arg)
{
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
    const struct sender *s = arg;
    struct lks_err err = {0};
    (void)!lks_client_exchange(s->client, "PUT", s->thing->path, BYTES,
                               (struct lks_str){s->thing->bytes, s->thing->size}, "", &answer,
                               &err);
    return NULL;
}

/* At another point of the way each time: what is found afterwards is whole, or goes on. */
static void killed(void)
{
    begin(quick);
    for (unsigned i = 0; i < KILLS; i++) {
        struct thing t = thing_new(20 * MIB, 100 + i);
        struct sender s = {.thing = &t, .client = ctl_client(&at.ctl, CTL_UNIX)};
        lks_test_case("kill %u", i);
        CHECK_INT(pthread_create(&s.thread, NULL, send_it, &s), 0);
        lks_rest(i * 30);
        ctl_kill(&at.ctl);
        CHECK_INT(pthread_join(s.thread, NULL), 0);
        lks_client_free(s.client);
        CHECK(ctl_start(&at.ctl));
        dial();
        uint64_t from = have(&t);
        bool whole = ask("GET", t.path, LKS_STR(""), "") == 200;
        CHECK(whole || at.answer.status == 404);
        if (!whole && from < t.size)
            CHECK_INT(put_part(&t, from, t.size - from), 200);
        else if (!whole) /* it is in its place, and its record is missing */
            CHECK_INT(put(&t), 200);
        check_there(&t);
        thing_fini(&t);
    }
    end();
}

/* ---- Full. ---- */

static void full(void)
{
    struct rlimit before, low;
    begin(quick);
    struct thing t = thing_new(5 * MIB, 5);
    CHECK(prlimit(at.ctl.pid, RLIMIT_FSIZE, NULL, &before) == 0);
    low = (struct rlimit){2 * MIB, before.rlim_max};
    CHECK(prlimit(at.ctl.pid, RLIMIT_FSIZE, &low, NULL) == 0);
    int status = put(&t);
    CHECK(status == 503 || status == 0); /* a client that sends much may not read it */
    dial();
    CHECK_INT(have(&t), 2 * MIB);
    CHECK_INT(ask("GET", "/v1/health", LKS_STR(""), ""), 200);
    CHECK(prlimit(at.ctl.pid, RLIMIT_FSIZE, &before, NULL) == 0);
    CHECK_INT(put_part(&t, 2 * MIB, 3 * MIB), 200);
    check_there(&t);
    thing_fini(&t);
    end();
    lks_test_case("no room is left to others");
    begin("depot: {spare_bytes: 1125899906842624}\n");
    t = thing_new(10, 6);
    CHECK_INT(put(&t), 503);
    CHECK_HAS(body(), "not enough space");
    thing_fini(&t);
    end();
}

/* ---- Slow. ---- */

struct reader {
    pthread_t thread;
    const struct thing *thing;
    struct lks_client *client;
    struct lks_http_answer answer;
};

static void *read_it(void *arg)
{
    struct reader *r = arg;
    struct lks_err err = {0};
    (void)!lks_client_exchange(r->client, "GET", r->thing->path, NULL, LKS_STR(""), "", &r->answer,
                               &err);
    return NULL;
}

static bool under_way(unsigned count)
{
    char want[64];
    snprintf(want, sizeof(want), "\nlockstep_depot_transfers %u\n", count);
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        if (ask("GET", "/metrics", LKS_STR(""), "") == 200 &&
            lks_str_find(body(), lks_str_from(want)) >= 0)
            return true;
    }
    return CHECK_HAS(body(), want);
}

static void slow_and_few(void)
{
    begin("rate: {people_per_s: 100000, burst: 1000000}\n"
          "depot: {rate_bytes_per_s: 1000000, people: 2, spare_bytes: 0}\n");
    struct thing t = thing_new(2 * MIB, 7);
    struct reader readers[2] = {0};
    CHECK_INT(put(&t), 200);
    for (size_t i = 0; i < LKS_COUNT(readers); i++) {
        readers[i].thing = &t;
        readers[i].client = ctl_client(&at.ctl, CTL_TLS);
        CHECK_INT(pthread_create(&readers[i].thread, NULL, read_it, &readers[i]), 0);
    }
    if (under_way(2)) {
        CHECK_INT(ask("GET", t.path, LKS_STR(""), ""), 503);
        CHECK_STR(lks_http_answer_header(&at.answer, "retry-after"), "2");
        CHECK_HAS(body(), "depot.people");
        CHECK_INT(ask("GET", "/v1/health", LKS_STR(""), ""), 200); /* no other request waits */
    }
    for (size_t i = 0; i < LKS_COUNT(readers); i++) {
        CHECK_INT(pthread_join(readers[i].thread, NULL), 0);
        CHECK_INT(readers[i].answer.status, 200);
        CHECK(readers[i].answer.body.len == t.size &&
              memcmp(readers[i].answer.body.ptr, t.bytes, t.size) == 0);
        lks_http_answer_fini(&readers[i].answer);
        lks_client_free(readers[i].client);
    }
    CHECK(under_way(0));
    thing_fini(&t);
    end();
}

/* ---- Let go. ---- */

static void apply_naming(const struct thing *t)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0}, answer = {0};
    lks_buf_init(&text, 64 * KIB);
    ctl_fleet(1, "names an artifact", &text);
    lks_buf_addf(
        &text,
        "---\n" LKS_STACK(
            "gold", "nvidia", "l40s-pcie-8",
            "  kernel: {version: '6.8.0-45'}\n"
            "  driver: {version: '580.95.05', artifacts: ['%s']}\n  cuda: {version: '13.0'}\n"
            "  nccl: {version: '2.27.7'}\n  container-toolkit: {version: '1.18.0'}\n"),
        t->digest);
    if (!CHECK_INT(ctl_once(&at.ctl, "PUT", "/v1/fleet?accept=true", text.ptr, &answer), 200))
        printf("%s\n", answer.ptr);
}

static void check_doctor(int status, const char *says)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF((size_t)1 << 20);
    CHECK_INT(ctl_run((const char *const[]){LKS_CLI_PROGRAM, "doctor", at.ctl.data, NULL}, &said),
              status);
    CHECK_HAS(lks_buf_view(&said), says);
}

/* A needed artifact whose file is not on this controller, as after a failover, is named. */
static void check_missing(const struct thing *needed)
{
    char path[PATH_SIZE];
    lks_test_case("a file that is needed and missing");
    check_doctor(0, "all 2 artifacts of the journal are here");
    file_of(needed, path);
    CHECK(unlink(path) == 0);
    CHECK_INT(ask("POST", "/v1/artifacts/collect", LKS_STR(""), ""), 200);
    CHECK_HAS(body(), "\"missing\":1}");
    CHECK_INT(ask("GET", "/metrics", LKS_STR(""), ""), 200);
    CHECK_HAS(body(), "\nlockstep_depot_missing 1\n");
    check_doctor(1, "1 of 1 artifacts are missing here: ");
}

static void collected(void)
{
    begin(quick);
    struct thing needed = thing_new(1000, 10), old = thing_new(2000, 11), stray = thing_new(5, 12);
    char path[PATH_SIZE];
    CHECK_INT(put(&needed), 200);
    CHECK_INT(put(&old), 200);
    CHECK_INT(put_part(&stray, 0, 2), 202); /* young: it stays */
    file_of(&old, path);
    char *digits = strrchr(path, '/') + 1;
    digits[0] = digits[0] == '0' ? '1' : '0'; /* a file without a record */
    CHECK_CODE(lks_file_replace(path, LKS_STR("stray"), &at.err), LKS_OK);
    apply_naming(&needed);
    CHECK_INT(ask("POST", "/v1/artifacts/collect", LKS_STR(""), ""), 200);
    CHECK_STR(body(), "{\"gone\":1,\"files\":2,\"parts\":0,\"bytes\":1000,\"missing\":0}");
    check_there(&needed);
    check_gone(&old);
    CHECK(access(path, F_OK) != 0);
    file_of(&old, path);
    CHECK(access(path, F_OK) != 0);
    CHECK_INT(have(&stray), 2);
    CHECK_INT(ask("GET", "/v1/journal", LKS_STR(""), ""), 200);
    CHECK_HAS(body(), "artifact-gone");
    lks_test_case("put again");
    CHECK_INT(put(&old), 200);
    check_there(&old);
    lks_test_case("a record without its file");
    CHECK(unlink(path) == 0);
    CHECK_INT(ask("GET", old.path, LKS_STR(""), ""), 404);
    CHECK_HAS(body(), "is not held here");
    CHECK_INT(put(&old), 200);
    check_there(&old);
    check_missing(&needed);
    thing_fini(&needed);
    thing_fini(&old);
    thing_fini(&stray);
    end();
}

/* While it comes once more, its record is let go: it has one again when that is done. */
static void collected_meanwhile(void)
{
    char path[PATH_SIZE];
    begin("rate: {people_per_s: 100000, burst: 1000000}\n"
          "depot: {keep_days: 0, rate_bytes_per_s: 2000000, spare_bytes: 0}\n");
    struct thing t = thing_new(2 * MIB, 14);
    struct sender s = {.thing = &t, .client = ctl_client(&at.ctl, CTL_TLS)};
    CHECK_INT(put(&t), 200);
    file_of(&t, path);
    CHECK(unlink(path) == 0);
    CHECK_INT(pthread_create(&s.thread, NULL, send_it, &s), 0);
    CHECK(under_way(1));
    CHECK_INT(ask("POST", "/v1/artifacts/collect", LKS_STR(""), ""), 200);
    CHECK_HAS(body(), "\"gone\":1");
    CHECK_INT(pthread_join(s.thread, NULL), 0);
    lks_client_free(s.client);
    check_there(&t);
    thing_fini(&t);
    end();
}

static void young_ones(void)
{
    begin("depot: {spare_bytes: 0}\n");
    struct thing old = thing_new(2000, 11);
    CHECK_INT(put(&old), 200);
    CHECK_INT(ask("POST", "/v1/artifacts/collect", LKS_STR(""), ""), 200);
    CHECK_STR(body(), "{\"gone\":0,\"files\":0,\"parts\":0,\"bytes\":2000,\"missing\":0}");
    check_there(&old);
    thing_fini(&old);
    end();
}

static void by_itself(void)
{
    begin("depot: {keep_days: 0, collect_s: 1, spare_bytes: 0}\n");
    struct thing t = thing_new(2000, 13);
    bool there = CHECK_INT(put(&t), 200);
    for (struct lks_wait w = {0}; there && lks_wait(&w);)
        there = ask("GET", t.path, LKS_STR(""), "") == 200;
    check_gone(&t);
    CHECK_INT(ask("GET", "/v1/journal", LKS_STR(""), ""), 200);
    CHECK_HAS(body(), "lockstep:depot");
    thing_fini(&t);
    end();
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"ranges", ranges},
        {"in parts", in_parts},
        {"lies", lies},
        {"not allowed", not_allowed},
        {"killed", killed},
        {"full", full},
        {"slow and few", slow_and_few},
        {"collected", collected},
        {"collected while it comes", collected_meanwhile},
        {"young ones stay", young_ones},
        {"by itself", by_itself},
        {NULL, NULL},
    };
    return lks_test_main(tests);
}
