#include "tests/bmcd.h"

#include "base/file.h"
#include "codec/format/base64.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LINE_MAX_SIZE = 256,
    NETS = 100, /* second bytes of addresses that tests use, from FIRST_NET on */
    FIRST_NET = 100,
};

/* Tests run beside each other, so each process has a network of its own. */
void bmcd_init(struct bmcd *b)
{
    unsigned id = (unsigned)getpid();
    *b = (struct bmcd){.tree = lks_tree_new()};
    snprintf(b->dir, sizeof(b->dir), "%s/bmcs", b->tree.path);
    snprintf(b->ca, sizeof(b->ca), "%s/ca.pem", b->dir);
    snprintf(b->login, sizeof(b->login), "%s/login", b->dir);
    snprintf(b->control, sizeof(b->control), "%s/control", b->tree.path);
    snprintf(b->listen, sizeof(b->listen), "127.%u.%u.1:0", FIRST_NET + id % NETS, id / NETS % 200);
}

void bmcd_fini(struct bmcd *b)
{
    if (b->pid != 0)
        bmcd_kill(b);
    lks_tree_free(&b->tree);
    *b = (struct bmcd){0};
}

/* ---- The process. ---- */

static _Noreturn void become(const struct bmcd *b, const char *program, const char *const *options,
                             int out)
{
    const char *words[BMCD_ARGS_MAX + 8] = {program,   "--dir",     b->dir,    "--listen",
                                            b->listen, "--control", b->control};
    char *argv[BMCD_ARGS_MAX + 8] = {NULL}, log[128];
    size_t count = 7;
    for (size_t i = 0; options[i] != NULL && i < BMCD_ARGS_MAX; i++)
        words[count++] = options[i];
    for (size_t i = 0; i < count; i++)
        argv[i] = strdup(words[i]);
    snprintf(log, sizeof(log), "%s/log", b->tree.path);
    int err = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (err >= 0 && dup2(out, STDOUT_FILENO) >= 0 && dup2(err, STDERR_FILENO) >= 0)
        execv(program, argv);
    _exit(127);
}

/* "ready https://127.64.0.1:7500 https://127.64.0.9:7500" */
static bool read_ready(struct bmcd *b, int from)
{
    char line[LINE_MAX_SIZE] = {0};
    size_t len = 0;
    struct pollfd state = {.fd = from, .events = POLLIN};
    while (len + 1 < sizeof(line) && memchr(line, '\n', len) == NULL) {
        ssize_t got = poll(&state, 1, LKS_WAIT_MS) == 1 ? read(from, line + len, 1) : 0;
        if (got <= 0)
            return false;
        len += (size_t)got;
    }
    if (sscanf(line, "ready https://%u.%u.%u.%u:%u ", &b->first[0], &b->first[1], &b->first[2],
               &b->first[3], &b->port) != 5)
        return false;
    snprintf(b->listen, sizeof(b->listen), "%u.%u.%u.%u:%u", b->first[0], b->first[1], b->first[2],
             b->first[3], b->port);
    return true;
}

static bool read_login(struct bmcd *b)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LINE_MAX_SIZE);
    struct lks_err err = {0};
    struct lks_str user, password;
    if (lks_file_read_plain(b->login, &text, &err) != LKS_OK ||
        !lks_str_cut(lks_buf_view(&text), ':', &user, &password))
        return false;
    (void)lks_str_cut(password, '\n', &password, &(struct lks_str){0});
    snprintf(b->user, sizeof(b->user), "%" LKS_STR_FMT, LKS_STR_ARG(user));
    snprintf(b->password, sizeof(b->password), "%" LKS_STR_FMT, LKS_STR_ARG(password));
    return true;
}

static void print_log(const struct bmcd *b)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF((size_t)1 << 20);
    struct lks_err err = {0};
    char log[128];
    snprintf(log, sizeof(log), "%s/log", b->tree.path);
    if (lks_file_read_plain(log, &text, &err) == LKS_OK && text.len > 0)
        printf("%s", text.ptr);
}

bool bmcd_start(struct bmcd *b, const char *program, const char *const *options)
{
    int out[2];
    if (!CHECK(pipe2(out, O_CLOEXEC) == 0))
        return false;
    fflush(stdout);
    b->pid = fork();
    if (b->pid == 0)
        become(b, program, options, out[1]);
    close(out[1]);
    bool ready = b->pid > 0 && read_ready(b, out[0]) && read_login(b);
    close(out[0]);
    if (!ready) {
        print_log(b);
        bmcd_kill(b);
    }
    return CHECK(ready);
}

void bmcd_kill(struct bmcd *b)
{
    if (b->pid <= 0)
        return;
    (void)kill(b->pid, SIGKILL);
    (void)waitpid(b->pid, NULL, 0);
    b->pid = 0;
}

int bmcd_stop(struct bmcd *b)
{
    int status;
    (void)kill(b->pid, SIGTERM);
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        if (waitpid(b->pid, &status, WNOHANG) == b->pid) {
            b->pid = 0;
            return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        }
    }
    bmcd_kill(b);
    return -1;
}

/* ---- Asking. ---- */

void bmcd_url(const struct bmcd *b, size_t i, char out[BMCD_URL_MAX])
{
    size_t at = ((size_t)b->first[1] << 16 | (size_t)b->first[2] << 8 | b->first[3]) + i;
    snprintf(out, BMCD_URL_MAX, "https://%u.%zu.%zu.%zu:%u", b->first[0], at >> 16, at >> 8 & 255,
             at & 255, b->port);
}

struct lks_client *bmcd_client(const struct bmcd *b, size_t i)
{
    char url[BMCD_URL_MAX];
    struct lks_client *client = NULL;
    struct lks_err err = {0};
    bmcd_url(b, i, url);
    const struct lks_client_options options = {
        .server = url, .ca = b->ca, .timeout_ms = LKS_WAIT_MS};
    CHECK_CODE(lks_client_new(&options, &client, &err), LKS_OK);
    return client;
}

void bmcd_basic(const struct bmcd *b, char *out, size_t size)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf login = LKS_BUF(LINE_MAX_SIZE);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(2 * LINE_MAX_SIZE);
    lks_buf_addf(&login, "%s:%s", b->user, b->password);
    lks_base64_add(&text, lks_buf_view(&login));
    snprintf(out, size, "Authorization: Basic %s\r\n", text.ptr);
}

int bmcd_ask(struct lks_client *client, const char *method, const char *path, const char *head,
             const char *body, struct lks_buf *answer)
{
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer got = {0};
    struct lks_err err = {0};
    lks_buf_truncate(answer, 0);
    if (lks_client_exchange(client, method, path, body != NULL ? "application/json" : NULL,
                            lks_str_from(body != NULL ? body : ""), head, &got, &err) != LKS_OK) {
        lks_buf_add(answer, lks_str_from(err.msg));
        return 0;
    }
    lks_buf_add(answer, lks_buf_view(&got.body));
    return got.status;
}

int bmcd_control(const struct bmcd *b, const char *method, const char *path, const char *body,
                 struct lks_buf *answer)
{
    char server[112];
    struct lks_client *client = NULL;
    struct lks_err err = {0};
    snprintf(server, sizeof(server), "unix:%s", b->control);
    const struct lks_client_options options = {.server = server, .timeout_ms = LKS_WAIT_MS};
    if (!CHECK_CODE(lks_client_new(&options, &client, &err), LKS_OK))
        return 0;
    int status = bmcd_ask(client, method, path, "", body, answer);
    lks_client_free(client);
    return status;
}
