#include "tests/controller.h"

#include "base/file.h"
#include "codec/format/json.h"
#include "drivers/store/sqlite.h"
#include "engine/journal.h"
#include "model/record/record.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT_BYTES_MAX = 64 << 20 };

const char *ctl_path(const struct ctl *c, const char *name)
{
    static char paths[4][256];
    static size_t at;
    at = (at + 1) % LKS_COUNT(paths);
    snprintf(paths[at], sizeof(paths[at]), "%s/%s", c->tree.path, name);
    return paths[at];
}

/* Processes --------------------------------------------------------------------------------- */

/* In the child. It ends with us, however we end. */
static _Noreturn void become(const char *const *argv, const char *log)
{
    int null = open("/dev/null", O_RDONLY);
    int out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (null >= 0 && out >= 0 && dup2(null, 0) == 0 && dup2(out, 1) == 1 && dup2(out, 2) == 2) {
        char *args[CTL_ARGS_MAX] = {NULL};
        for (size_t i = 0; i + 1 < CTL_ARGS_MAX && argv[i] != NULL; i++)
            args[i] = strdup(argv[i]);
        execv(args[0], args);
        fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
    }
    _exit(127);
}

/* Which lockstepd is tested: another build may be named. */
static const char *program(void)
{
    const char *named = getenv("LKS_DAEMON");
    return named != NULL ? named : LKS_DAEMON_PROGRAM;
}

static pid_t spawn(const char *const *argv, const char *log)
{
    (void)unlink(log);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        become(argv, log);
    CHECK(pid > 0);
    return pid;
}

/* The exit status; -1 after a signal, or when it does not end and is killed. */
static int await(pid_t pid)
{
    int status;
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        if (waitpid(pid, &status, WNOHANG) == pid) {
            if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
                printf("ended by signal %d\n", WTERMSIG(status));
            return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        }
    }
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, &status, 0);
    return -1;
}

/* Children of what was killed come to us: they end by themselves, and soon. */
static void reap_orphans(void)
{
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        pid_t pid;
        do
            pid = waitpid(-1, NULL, WNOHANG);
        while (pid > 0);
        if (pid < 0)
            return;
    }
    lks_check(false, "every process that was started has ended", __FILE__, __LINE__);
}

int ctl_run(const char *const *argv, struct lks_buf *said)
{
    char log[64] = "/tmp/lks-said-XXXXXX";
    struct lks_err err = {0};
    int fd = mkstemp(log);
    if (!CHECK(fd >= 0))
        return -1;
    close(fd);
    int status = await(spawn(argv, log));
    CHECK_CODE(lks_file_read_plain(log, said, &err), LKS_OK);
    (void)unlink(log);
    return status;
}

void ctl_copy(const char *from, const char *to)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(TEXT_BYTES_MAX);
    CHECK_INT(ctl_run((const char *[]){"/bin/rm", "-rf", to, NULL}, &said), 0);
    CHECK_INT(ctl_run((const char *[]){"/bin/cp", "-a", from, to, NULL}, &said), 0);
}

/* The data directory ------------------------------------------------------------------------ */

/* With one option more, or none for NULL. */
static void init_at(struct ctl *c, const char *data, const char *option, const char *value,
                    const char *more)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(TEXT_BYTES_MAX);
    const char *argv[CTL_ARGS_MAX] = {
        program(),  "init",        "--data",   data,          "--name", "localhost",
        "--people", "127.0.0.1:0", "--agents", "127.0.0.1:0", option,   value,
    };
    snprintf(c->data, sizeof(c->data), "%s", data);
    snprintf(c->config, sizeof(c->config), "%s/lockstepd.yaml", data);
    snprintf(c->socket, sizeof(c->socket), "unix:%s/lockstepd.sock", data);
    if (!CHECK_INT(ctl_run(argv, &said), 0))
        printf("%s\n", said.ptr);
    /* Endpoints of fleets in tests are mostly nobody's. */
    ctl_configure(c, more);
    if (strstr(more, "sweep:") == NULL)
        ctl_configure(c, "sweep: {run: 'no'}\n");
}

void ctl_configure(const struct ctl *c, const char *lines)
{
    FILE *config = fopen(c->config, "ae");
    if (!CHECK(config != NULL))
        return;
    fputs(lines, config);
    CHECK(fclose(config) == 0);
}

void ctl_init_at(struct ctl *c, const char *data, const char *more)
{
    init_at(c, data, NULL, NULL, more);
}

int ctl_init_with(const char *data, const char *option, const char *value, struct lks_buf *said)
{
    return ctl_run((const char *[]){program(), "init", "--data", data, option, value, NULL}, said);
}

void ctl_init_shared(struct ctl *c, const char *option, const char *value, const char *more)
{
    char data[sizeof(c->data)];
    *c = (struct ctl){.tree = lks_tree_new()};
    snprintf(data, sizeof(data), "%s/data", c->tree.path);
    init_at(c, data, option, value, more);
}

void ctl_init(struct ctl *c, const char *more)
{
    ctl_init_shared(c, NULL, NULL, more);
}

void ctl_fini(struct ctl *c)
{
    if (c->pid != 0)
        ctl_kill(c);
    reap_orphans();
    lks_tree_free(&c->tree);
    *c = (struct ctl){0};
}

bool ctl_store(const struct ctl *c, struct lks_store *out)
{
    char path[128];
    struct lks_err err = {0};
    snprintf(path, sizeof(path), "%s/journal.db", c->data);
    enum lks_code code = lks_store_sqlite_open(path, LKS_STORE_READ, out, &err);
    return CHECK_STR(lks_str_from(err.msg), "") && code == LKS_OK;
}

/* The daemon -------------------------------------------------------------------------------- */

bool ctl_leads(const struct ctl *c)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    return c->pid != 0 && access(c->socket + strlen("unix:"), F_OK) == 0 &&
           ctl_once(c, "GET", "/metrics", NULL, &answer) == 200 &&
           lks_str_find(lks_buf_view(&answer), LKS_STR("\nlockstep_leader 1\n")) >= 0;
}

bool ctl_follows(const struct ctl *c)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    return c->pid != 0 && access(c->socket + strlen("unix:"), F_OK) == 0 &&
           ctl_once(c, "GET", "/metrics", NULL, &answer) == 200 &&
           lks_str_find(lks_buf_view(&answer), LKS_STR("\nlockstep_leader 0\n")) >= 0 &&
           lks_str_find(lks_buf_view(&answer), LKS_STR("\nlockstep_epoch 0\n")) < 0;
}

struct lks_str ctl_log(const struct ctl *c)
{
    static struct lks_buf text;
    struct lks_err err = {0};
    lks_buf_fini(&text);
    lks_buf_init(&text, TEXT_BYTES_MAX);
    if (lks_file_read_plain(ctl_path(c, "log"), &text, &err) != LKS_OK)
        return LKS_STR("");
    return lks_buf_view(&text);
}

static unsigned port_of(struct lks_str log, const char *key)
{
    ptrdiff_t at = lks_str_find(log, lks_str_from(key));
    unsigned port = 0;
    for (size_t i = at < 0 ? log.len : (size_t)at + strlen(key);
         i < log.len && log.ptr[i] >= '0' && log.ptr[i] <= '9'; i++)
        port = port * 10 + (unsigned)(log.ptr[i] - '0');
    return port;
}

void ctl_spawn(struct ctl *c)
{
    const char *argv[] = {program(), "run", "--config", c->config, c->option, NULL};
    LKS_ASSERT(c->pid == 0);
    c->pid = spawn(argv, ctl_path(c, "log"));
}

void ctl_ports(struct ctl *c)
{
    struct lks_str log = ctl_log(c);
    c->people = port_of(log, "people_port=");
    c->webhook = port_of(log, "webhook_port=");
    c->agents = port_of(log, "agents_port=");
}

bool ctl_ready(struct ctl *c)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    int status = 0, ended = 0;
    for (struct lks_wait w = {0}; status != 200 && lks_wait(&w);) {
        if (waitpid(c->pid, &ended, WNOHANG) == c->pid) {
            c->pid = 0;
            break;
        }
        status = access(c->socket + strlen("unix:"), F_OK) == 0
                     ? ctl_once(c, "GET", "/v1/ready", NULL, &answer)
                     : 0;
    }
    ctl_ports(c);
    if (CHECK_INT(status, 200))
        return true;
    struct lks_str log = ctl_log(c);
    printf("it ended with %x and said:\n%" LKS_STR_FMT "\n", (unsigned)ended, LKS_STR_ARG(log));
    return false;
}

bool ctl_start(struct ctl *c)
{
    ctl_spawn(c);
    return ctl_ready(c);
}

void ctl_kill(struct ctl *c)
{
    CHECK(c->pid > 0 && kill(c->pid, SIGKILL) == 0);
    CHECK_INT(await(c->pid), -1);
    c->pid = 0;
}

int ctl_stop(struct ctl *c)
{
    CHECK(c->pid > 0 && kill(c->pid, SIGTERM) == 0);
    int status = await(c->pid);
    c->pid = 0;
    return status;
}

int ctl_check(const struct ctl *c, struct lks_buf *said)
{
    const char *argv[] = {program(), "--check", "--config", c->config, NULL};
    return ctl_run(argv, said);
}

int ctl_refused(struct ctl *c, struct lks_buf *said)
{
    const char *argv[] = {program(), "run", "--config", c->config, NULL};
    return ctl_run(argv, said);
}

static struct lks_str first_line(const struct lks_buf *text)
{
    struct lks_str line, rest;
    lks_str_cut(lks_buf_view(text), '\n', &line, &rest);
    return line;
}

struct lks_public_key ctl_key(const struct ctl *c)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_BYTES_MAX);
    struct lks_public_key key = {0};
    struct lks_err err = {0};
    char path[128];
    snprintf(path, sizeof(path), "%s/journal.pub", c->data);
    CHECK_CODE(lks_file_read_plain(path, &text, &err), LKS_OK);
    CHECK_CODE(lks_key_public_parse(first_line(&text), &key, &err), LKS_OK);
    return key;
}

uint64_t ctl_whole_in(const struct ctl *c, struct lks_store *store)
{
    struct lks_verify v = {0};
    struct lks_err err = {0};
    struct lks_public_key key = ctl_key(c);
    CHECK_CODE(lks_journal_verify(store, &(struct lks_verify_options){.key = &key}, &v, &err),
               LKS_OK);
    CHECK_STR(lks_str_from(v.text), "");
    return v.last;
}

uint64_t ctl_whole(const struct ctl *c)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    return ctl_store(c, &store) ? ctl_whole_in(c, &store) : 0;
}

/* Asking ------------------------------------------------------------------------------------ */

struct lks_client *ctl_client(const struct ctl *c, enum ctl_way way)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf token = LKS_BUF(1024);
    struct lks_client *client = NULL;
    struct lks_err err = {0};
    char address[64], ca[128], path[128];
    struct lks_client_options options = {.server = c->socket, .timeout_ms = LKS_WAIT_MS};
    if (way == CTL_TLS) {
        snprintf(address, sizeof(address), "https://localhost:%u", c->people);
        snprintf(ca, sizeof(ca), "%s/ca.crt", c->data);
        snprintf(path, sizeof(path), "%s/admin.token", c->data);
        CHECK_CODE(lks_file_read_plain(path, &token, &err), LKS_OK);
        lks_buf_truncate(&token, first_line(&token).len);
        options = (struct lks_client_options){
            .server = address, .ca = ca, .token = token.ptr, .timeout_ms = LKS_WAIT_MS};
    }
    enum lks_code code = lks_client_new(&options, &client, &err);
    CHECK_STR(lks_str_from(err.msg), "");
    return code == LKS_OK ? client : NULL;
}

int ctl_ask(struct lks_client *client, const char *method, const char *path, const char *body,
            struct lks_buf *answer)
{
    struct lks_http_answer a = {0};
    struct lks_err err = {0};
    lks_buf_fini(answer);
    lks_buf_init(answer, TEXT_BYTES_MAX);
    enum lks_code code =
        lks_client_exchange(client, method, path, body != NULL ? "application/json" : NULL,
                            lks_str_from(body != NULL ? body : ""), "", &a, &err);
    lks_buf_addf(answer, "%s", ""); /* a text, however empty */
    lks_buf_add(answer, code == LKS_OK ? lks_buf_view(&a.body) : lks_str_from(err.msg));
    int status = code == LKS_OK ? a.status : 0;
    lks_http_answer_fini(&a);
    return status;
}

int ctl_once(const struct ctl *c, const char *method, const char *path, const char *body,
             struct lks_buf *answer)
{
    struct lks_client *client = ctl_client(c, CTL_UNIX);
    int status = client != NULL ? ctl_ask(client, method, path, body, answer) : 0;
    lks_client_free(client);
    return status;
}

uint64_t ctl_number(const struct lks_buf *answer, const char *key)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    if (lks_docs_init(&docs, "answer", &err) != LKS_OK ||
        lks_json_parse(lks_buf_view(answer), &docs, &err) != LKS_OK)
        return 0;
    const struct lks_doc *member = lks_doc_member(docs.first, key);
    return member != NULL && member->kind == LKS_DOC_NUMBER ? (uint64_t)member->number : 0;
}

const char *ctl_text(const struct lks_buf *answer, const char *key, char *out, size_t size)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    out[0] = '\0';
    if (lks_docs_init(&docs, "answer", &err) == LKS_OK &&
        lks_json_parse(lks_buf_view(answer), &docs, &err) == LKS_OK)
        snprintf(out, size, "%" LKS_STR_FMT, LKS_STR_ARG(lks_doc_text(docs.first, key)));
    return out;
}

/* A fleet ----------------------------------------------------------------------------------- */

void ctl_fleet(unsigned nodes, const char *mark, struct lks_buf *out)
{
    lks_buf_addf(out,
                 "lockstep: 1\nkind: Fleet\nname: faults\ndescription: \"%s\"\n"
                 "sites:\n  lab: {timezone: \"Europe/Oslo\"}\n"
                 "pools:\n  p: {posture: dev, criticality: 10, sched: slurm}\n"
                 "nodes:\n  - {hosts: \"n[0-%u]\", pool: p, class: hgx-h200-8, site: lab}\n",
                 mark, nodes - 1);
}

void ctl_apply(const struct ctl *c, unsigned nodes)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_BYTES_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    ctl_fleet(nodes, "first", &text);
    if (!CHECK_INT(ctl_once(c, "PUT", "/v1/fleet?accept=true", text.ptr, &answer), 200))
        printf("%s\n", answer.ptr);
}

/* Load -------------------------------------------------------------------------------------- */

/* Whether it got a yes. */
static bool load_ask(struct ctl_load *l, const char *method, const char *path, const char *body)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    l->end = ctl_ask(l->client, method, path, body, &answer);
    if (l->end == 200)
        l->last_seq = ctl_number(&answer, "seq");
    else if (l->end != 0 && l->end != 503 && l->other == 0)
        l->other = l->end;
    return l->end == 200;
}

static void *load(void *arg)
{
    struct ctl_load *l = arg;
    for (l->end = 200; !l->stop && l->end != 0; l->asked++) {
        char body[96], path[96];
        unsigned long long asked = l->asked;
        snprintf(body, sizeof(body), "{\"identity\":\"user:l%u-%llu\",\"role\":\"viewer\"}", l->id,
                 asked);
        snprintf(path, sizeof(path), "/v1/access?identity=user:l%u-%llu&role=viewer", l->id, asked);
        if (!load_ask(l, "POST", "/v1/access", body))
            continue;
        l->yes[l->yes_count % CTL_LOAD_KEPT] = l->asked;
        l->yes_count++;
        (void)load_ask(l, "DELETE", path, NULL);
    }
    return NULL;
}

void ctl_load_begin(struct ctl_load *l, const struct ctl *c, unsigned id, enum ctl_way way)
{
    *l = (struct ctl_load){.id = id, .client = ctl_client(c, way)};
    CHECK(pthread_create(&l->thread, NULL, load, l) == 0);
}

void ctl_load_works(const struct ctl_load *l, size_t count)
{
    for (struct lks_wait w = {0}; l->yes_count < count && lks_wait(&w);) {
    }
    CHECK(l->yes_count >= count);
}

void ctl_load_end(struct ctl_load *l)
{
    l->stop = true;
    CHECK(pthread_join(l->thread, NULL) == 0);
    lks_client_free(l->client);
    CHECK_INT(l->other, 0);
    CHECK(l->yes_count > 0);
}

struct search {
    const struct ctl_load *loader;
    uint64_t found;
    struct lks_buf json;
};

static bool search_row(void *ctx, const struct lks_row *row)
{
    struct search *s = ctx;
    struct lks_err err = {0};
    char want[64];
    if (row->kind != LKS_RECORD_GRANTED || s->found == s->loader->yes_count)
        return true;
    lks_buf_truncate(&s->json, 0);
    CHECK_CODE(lks_journal_json(row, &s->json, &err), LKS_OK);
    snprintf(want, sizeof(want), "\"identity\":\"user:l%u-%llu\"", s->loader->id,
             (unsigned long long)s->loader->yes[s->found % CTL_LOAD_KEPT]);
    s->found += lks_str_find(lks_buf_view(&s->json), lks_str_from(want)) >= 0;
    return true;
}

void ctl_load_kept(const struct ctl *c, const struct ctl_load *l)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    size_t forgotten = l->yes_count > CTL_LOAD_KEPT ? l->yes_count - CTL_LOAD_KEPT : 0;
    struct search s = {.loader = l, .found = forgotten};
    struct lks_err err = {0};
    if (!ctl_store(c, &store))
        return;
    lks_buf_init(&s.json, TEXT_BYTES_MAX);
    CHECK_CODE(store.ops->rows(store.self, 1, search_row, &s, &err), LKS_OK);
    lks_buf_fini(&s.json);
    CHECK_INT(s.found, l->yes_count);
    CHECK(ctl_whole(c) >= l->last_seq);
}
