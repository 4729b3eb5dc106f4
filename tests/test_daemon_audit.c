/* The audit log of the real daemon: its files, syslog, the journal, and a disk that takes nothing.
 */
#include "base/file.h"
#include "tests/crew.h"
#include "tests/test.h"
#include "tests/wait.h"
#include "trust/token.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { LOG_MAX = 16 << 20, MESSAGE_MAX = 8192, ASKED = 400 };

#define FLEET                                                                                      \
    "lockstep: 1\nkind: Fleet\nname: here\nsites: {lab: {}}\npools:\n  p: {posture: batch}\n"      \
    "nodes:\n  - {hosts: gpu1, pool: p, class: hgx-h200-8, site: lab}\n"

/* All files of the audit log, the oldest first. */
static void read_all(const struct ctl *c, struct lks_buf *out)
{
    struct dirent **names = NULL;
    struct lks_err err = {0};
    char dir[128], path[512];
    snprintf(dir, sizeof(dir), "%s/audit", c->data);
    lks_buf_fini(out);
    lks_buf_init(out, LOG_MAX);
    int count = scandir(dir, &names, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, names[i]->d_name);
        if (names[i]->d_name[0] != '.')
            CHECK_CODE(lks_file_read_plain(path, out, &err), LKS_OK);
        free(names[i]);
    }
    free(names);
}

static int listen_syslog(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0);
    return fd;
}

static struct lks_client *stranger(const struct ctl *c, const char *token)
{
    char server[64];
    struct lks_client *client = NULL;
    struct lks_err err = {0};
    snprintf(server, sizeof(server), "https://localhost:%u", c->people);
    struct lks_client_options options = {.server = server,
                                         .ca = ctl_path(c, "data/ca.crt"),
                                         .token = token,
                                         .timeout_ms = LKS_WAIT_MS};
    CHECK_CODE(lks_client_new(&options, &client, &err), LKS_OK);
    return client;
}

static const char forged[] = "lks_api_admin_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/* A login that fails, calls that are denied, a sensitive read, and one that is not. */
static void ask_all(struct crew *crew)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct lks_client *viewer = crew_person(crew, "viewer", "");
    struct lks_client *nobody = stranger(&crew->c, NULL), *liar = stranger(&crew->c, forged);
    lks_test_case("calls");
    CHECK_INT(crew_ask(nobody, "GET", "/v1/nodes", NULL, &t), 401);
    CHECK_INT(crew_ask(liar, "POST", "/v1/access", "{}", &t), 401);
    CHECK_INT(crew_ask(viewer, "POST", "/v1/nodes/gpu1/hold", "{\"reason\":\"x\"}", &t), 403);
    CHECK_INT(crew_ask(viewer, "DELETE", "/v1/tokens/a%1B%0Ab", NULL, &t), 403);
    CHECK_INT(crew_ask(viewer, "GET", "/v1/journal", NULL, &t), 200);
    CHECK_INT(crew_ask(viewer, "GET", "/v1/nodes", NULL, &t), 200);
    lks_client_free(viewer);
    lks_client_free(nobody);
    lks_client_free(liar);
}

static const char *const lines[] = {
    "\"event\":\"login\",\"identity\":\"\",\"route\":\"nodes\",\"method\":\"GET\"",
    "\"event\":\"login\",\"identity\":\"\",\"route\":\"grant\",\"method\":\"POST\"",
    "\"event\":\"denied\",\"identity\":\"viewer-\",\"route\":\"holdNode\",\"method\":\"POST\"",
    "\"object\":\"gpu1\",\"address\":\"127.0.0.1\",\"status\":403}",
    "\"route\":\"endToken\",\"method\":\"DELETE\",\"object\":\"a\\u001b\\nb\"",
    "\"event\":\"read\",\"identity\":\"viewer-\",\"route\":\"journal\",\"method\":\"GET\"",
};

static void check_syslog(int fd)
{
    char message[MESSAGE_MAX + 1];
    size_t found = 0;
    for (ssize_t n; (n = recv(fd, message, MESSAGE_MAX, 0)) > 0;) {
        message[n] = '\0';
        lks_test_case("syslog: %s", message);
        CHECK(strncmp(message, "<85>", 4) == 0 && strstr(message, " lockstepd[") != NULL);
        CHECK(lks_str_printable((struct lks_str){message, (size_t)n}));
        for (size_t i = 0; i < LKS_COUNT(lines); i++)
            found += strstr(message, lines[i]) != NULL;
    }
    CHECK_INT(found, LKS_COUNT(lines)); /* two of them in one message */
}

/* The run's record is in the journal, once. */
static void check_journal(struct crew *crew)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(LOG_MAX);
    lks_test_case("the journal");
    CHECK_INT(ctl_once(&crew->c, "GET", "/v1/journal?limit=10000", NULL, &answer), 200);
    struct lks_str text = lks_buf_view(&answer);
    ptrdiff_t at = lks_str_find(text, LKS_STR("\"kind\":\"audited\""));
    if (!CHECK(at >= 0))
        return;
    struct lks_str rest = {text.ptr + at, text.len - (size_t)at}, line, more;
    (void)lks_str_cut(rest, '\n', &line, &more);
    CHECK_HAS(line, "\"logins\":2,\"denied\":2,\"reads\":1}");
    CHECK(lks_str_find(more, LKS_STR("\"kind\":\"audited\"")) < 0);
}

static void test_lines(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    struct crew crew = {0};
    char path[128], config[256];
    struct lks_tree tree = lks_tree_new();
    snprintf(path, sizeof(path), "%s/log", tree.path);
    int fd = listen_syslog(path);
    snprintf(config, sizeof(config), "audit: {syslog: \"%s\"}\n", path);
    if (crew_begin(&crew, config) && crew_fleet(&crew, FLEET)) {
        ask_all(&crew);
        /* All of it is written by the end of the daemon. */
        CHECK(crew_again(&crew));
        read_all(&crew.c, &text);
        for (size_t i = 0; i < LKS_COUNT(lines); i++) {
            lks_test_case("%s", lines[i]);
            CHECK_HAS(lks_buf_view(&text), lines[i]);
        }
        lks_test_case("what is not there");
        CHECK(lks_str_find(lks_buf_view(&text), LKS_STR("AAAAAAAA")) < 0);
        CHECK(
            lks_str_find(lks_buf_view(&text), LKS_STR("\"event\":\"read\",\"identity\":\"viewer-\""
                                                      ",\"route\":\"nodes\"")) < 0);
        check_syslog(fd);
        check_journal(&crew);
    }
    crew_end(&crew);
    close(fd);
    lks_tree_free(&tree);
}

/* Strangers ask again and again: files stay within their limits, and so does the journal. */
static void test_bounds(void)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    struct crew crew = {0};
    if (crew_begin(&crew, "audit: {bytes: 4096, files: 2, reads: 'yes'}\n"
                          "rate: {people_per_s: 100000, burst: 1000000}\n")) {
        struct lks_client *nobody = stranger(&crew.c, NULL);
        for (size_t i = 0; i < ASKED; i++)
            CHECK_INT(crew_ask(nobody, "GET", "/v1/fleet", NULL, &t), 401);
        CHECK_INT(crew_ask(crew.root, "GET", "/v1/pools", NULL, &t), 200);
        CHECK_INT(crew_ask(crew.root, "GET", "/metrics", NULL, &t), 200);
        CHECK_HAS(lks_buf_view(&t.answer.body), "lockstep_audit_total{event=\"login\"} 400\n");
        CHECK_HAS(lks_buf_view(&t.answer.body), "lockstep_audit_withheld_total 3");
        lks_client_free(nobody);
        CHECK(crew_again(&crew));
        read_all(&crew.c, &text);
        CHECK(text.len > 0 && text.len <= (size_t)2 * 4096);
        CHECK_HAS(lks_buf_view(&text),
                  "\"event\":\"read\",\"identity\":\"unix:0\",\"route\":\"pools\"");
        CHECK_HAS(lks_buf_view(&text), "\"event\":\"withheld\",\"count\":3");
    }
    crew_end(&crew);
}

static bool has_lost(struct lks_client *root, struct crew_told *t)
{
    return CHECK_INT(crew_ask(root, "GET", "/metrics", NULL, t), 200) &&
           lks_str_find(lks_buf_view(&t->answer.body), LKS_STR("lockstep_audit_lost_total 1\n")) >=
               0;
}

/* A directory that cannot be written: the daemon serves, and its metrics say that lines are lost.
 */
static void test_broken(void)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct crew crew = {0};
    struct lks_err err = {0};
    ctl_init(&crew.c, "");
    CHECK_CODE(lks_file_replace(ctl_path(&crew.c, "data/audit"), LKS_STR("x"), &err), LKS_OK);
    if (CHECK(ctl_start(&crew.c))) {
        struct lks_client *nobody = stranger(&crew.c, NULL), *root = ctl_client(&crew.c, CTL_UNIX);
        CHECK_INT(crew_ask(nobody, "GET", "/v1/fleet", NULL, &t), 401);
        for (struct lks_wait w = {0}; !has_lost(root, &t) && lks_wait(&w);) {
        }
        CHECK_HAS(lks_buf_view(&t.answer.body), "lockstep_audit_lost_total 1\n");
        CHECK_HAS(ctl_log(&crew.c), "audit lines were not written");
        CHECK_INT(crew_ask(root, "GET", "/v1/ready", NULL, &t), 200);
        lks_client_free(nobody);
        lks_client_free(root);
    }
    crew_end(&crew);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"failed logins, denied calls and sensitive reads leave a line", test_lines},
        {"strangers fill neither disk nor journal", test_bounds},
        {"a disk that takes nothing stops no request", test_broken},
        {0},
    };
    return lks_test_main(tests);
}
