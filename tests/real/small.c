#include "tests/real/small.h"

#include "base/file.h"
#include "drivers/store/sqlite.h"
#include "model/record/record.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TEXT_MAX = 1 << 20,
    PATH_SIZE = SMALL_PATH,
    PACKAGE_BYTES = 4096,
    PORTS_FROM = 20000, /* below those that the kernel gives to whoever connects */
    PORTS = 12000,
};

#define ROOT     "tests/roots/h200"
#define BOOT_ID  "proc/sys/kernel/random/boot_id"
#define PACKAGE  "ucx"
#define OLD_UCX  "1.16.0"
#define NEW_UCX  "1.17.0"
#define FIRMWARE "cpld" /* that nobody can read in-band */
#define OLD_CPLD "1.0.0"
#define NEW_CPLD "2.0.0"
#define CLASS                                                                                      \
    "lockstep: 1\nkind: HardwareClass\nname: small\nvendor: nvidia\n"                              \
    "gpu: {product: \"H200 SXM 141GB\", count: 1}\nmemory_gib: 128\n"
#define STACK(name, ucx, watts, cpld)                                                              \
    CLASS "---\nlockstep: 1\nkind: Stack\nname: " name "\nversion: \"1\"\nvendor: nvidia\n"        \
          "hardware: [small]\ncomponents:\n"                                                       \
          "  container-toolkit: {absent: none}\n"                                                  \
          "  cuda: {version: \"13.0.2\"}\n  cudnn: {version: \"9.14.0\"}\n"                        \
          "  driver: {version: \"580.159.04\", modules: open}\n"                                   \
          "  kernel: {version: \"6.18.44-gpu\"}\n  nccl: {version: \"2.28.3\"}\n"                  \
          "  " PACKAGE ": {version: \"" ucx "\"}\n"                                                \
          "firmware:\n  - {class: " FIRMWARE ", version: \"" cpld "\", owner: bundle}\n"           \
          "settings:\n  power_limit_w: " watts "\n"

static const char stack_a[] = STACK("a", OLD_UCX, "700", OLD_CPLD);
static const char stack_b[] = STACK("b", NEW_UCX, "650", NEW_CPLD);

/* The fleet ----------------------------------------------------------------------------------- */

const char *small_name(size_t i)
{
    static char names[SMALL_NODES_MAX][8];
    snprintf(names[i], sizeof(names[i]), "g%zu", i + 1);
    return names[i];
}

/* A port of loopback that nobody listens on now. Agents come back to the same one, so it is none
 * that somebody else may be given while lockstepd is away. */
static unsigned free_port(void)
{
    static unsigned next;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    bool found = false;
    if (next == 0)
        next = (unsigned)getpid() * 16 % PORTS;
    for (unsigned tries = 0; tries < PORTS && !found; tries++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        next = (next + 1) % PORTS;
        address.sin_port = htons((uint16_t)(PORTS_FROM + next));
        found = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
        close(fd);
    }
    CHECK(found);
    return ntohs(address.sin_port);
}

bool small_fix_ports(struct ctl *c)
{
    unsigned *const ports[] = {&c->people, &c->agents}; /* in their order there */
    size_t count = 0;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(TEXT_MAX);
    struct lks_err err = {0};
    if (!CHECK_CODE(lks_file_read_plain(c->config, &text, &err), LKS_OK))
        return false;
    struct lks_str rest = lks_buf_view(&text), mark = LKS_STR("127.0.0.1:0");
    for (ptrdiff_t at; (at = lks_str_find(rest, mark)) >= 0;) {
        lks_buf_add(&out, (struct lks_str){rest.ptr, (size_t)at});
        unsigned port = free_port();
        if (count < LKS_COUNT(ports))
            *ports[count++] = port;
        lks_buf_addf(&out, "127.0.0.1:%u", port);
        rest = (struct lks_str){rest.ptr + at + mark.len, rest.len - (size_t)at - mark.len};
    }
    lks_buf_add(&out, rest);
    return CHECK_CODE(lks_file_replace(c->config, lks_buf_view(&out), &err), LKS_OK);
}

static bool start_daemon(struct small *s, const char *config)
{
    struct crew *crew = &s->f.crew;
    *crew = (struct crew){0};
    ctl_init(&crew->c, config);
    if (!small_fix_ports(&crew->c) || !CHECK(ctl_start(&crew->c)))
        return false;
    crew->root = ctl_client(&crew->c, CTL_UNIX);
    return CHECK(crew->root != NULL);
}

bool small_start_bmcs(struct small *s)
{
    char nodes[32], speed[16];
    const char *const options[] = {"--bmc", nodes, "--speed", speed, NULL};
    snprintf(speed, sizeof(speed), "%u",
             s->site != NULL && s->site->speed != 0 ? s->site->speed : 1000);
    snprintf(nodes, sizeof(nodes), "openbmc=g[1-%zu]", s->nodes);
    return bmcd_start(&s->f.bmcs, LKS_BMCSIM_PROGRAM, options);
}

static bool release(struct small *s, const char *stack)
{
    static const char *const steps[] = {"lab", "canary", "released"};
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char path[PATH_SIZE], body[96];
    if (!crew_fine(s->f.crew.root, "publish", "/v1/stacks?reason=first", stack, &t))
        return false;
    snprintf(path, sizeof(path), "/v1/stacks/%" LKS_STR_FMT "/promote",
             LKS_STR_ARG(crew_text(&t, "digest")));
    for (size_t i = 0; i < LKS_COUNT(steps); i++) {
        snprintf(body, sizeof(body), "{\"to\":\"%s\",\"evidence\":\"ran a week\"}", steps[i]);
        if (!crew_fine(s->f.crew.root, "promote", path, body, &t))
            return false;
    }
    return true;
}

static bool apply_fleet(struct small *s)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    char url[BMCD_URL_MAX], headroom[32] = "";
    if (s->site != NULL && s->site->headroom != 0)
        snprintf(headroom, sizeof(headroom), ", headroom: %u", s->site->headroom);
    const char *dev = s->site != NULL && s->site->dev != NULL ? s->site->dev : "";
    lks_buf_addf(&text,
                 "%s---\nlockstep: 1\nkind: Fleet\nname: small\nsites: {here: {}}\n"
                 "domains: {pair: {site: here}}\n"
                 "pools:\n  dev: {posture: dev, criticality: 0, stack: a%s%s}\n"
                 "  train: {posture: pre-training, criticality: 50, stack: a%s%s}\nnodes:\n",
                 CLASS, s->pools, dev, headroom, s->pools);
    for (size_t i = 0; i < s->nodes; i++) {
        bmcd_url(&s->f.bmcs, i, url);
        lks_buf_addf(&text,
                     "  - {hosts: %s, pool: %s, class: small, site: here, %s"
                     "bmc: {url: \"%s\", trust: \"file:%s\", credentials: \"file:%s\"}}\n",
                     small_name(i), i == 0 ? "dev" : "train",
                     i == 1 || i == 2 ? "domain: pair, " : "", url, s->f.bmcs.ca, s->f.bmcs.login);
    }
    return CHECK(text.failed == LKS_OK) && crew_fleet(&s->f.crew, text.ptr);
}

/* The bundle ---------------------------------------------------------------------------------- */

static void add_artifact(struct lks_buf *out, const char *file, const char *digest, size_t size,
                         const char *component, const char *version)
{
    lks_buf_addf(out,
                 "%s{\"name\":\"%s\",\"kind\":\"%s\",\"digest\":\"%s\",\"size\":%zu,"
                 "\"component\":\"%s\",\"version\":\"%s\"}",
                 out->ptr[out->len - 1] == '[' ? "" : ",", file,
                 strcmp(component, PACKAGE) == 0 ? "package" : "firmware", digest, size, component,
                 version);
}

static bool add_package(struct small *s, struct lks_buf *manifest, const char *version,
                        const char *other)
{
    char text[256], file[64], digest[LKS_DIGEST_SIZE];
    snprintf(file, sizeof(file), PACKAGE "_%s.deb", version);
    snprintf(text, sizeof(text),
             "{\"files\":{\"/var/lib/dpkg/status\":{\"from\":\"Version: %s+ds-5ubuntu1\","
             "\"to\":\"Version: %s+ds-5ubuntu1\"}}}",
             other, version);
    if (!flashes_store(&s->f, file, lks_str_from(text), digest))
        return false;
    add_artifact(manifest, file, digest, strlen(text), PACKAGE, version);
    return true;
}

static bool add_firmware(struct small *s, struct lks_buf *manifest, const char *version)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf package = LKS_BUF(TEXT_MAX);
    struct lks_err err = {0};
    char file[64], digest[LKS_DIGEST_SIZE];
    snprintf(file, sizeof(file), FIRMWARE "_%s.fwpkg", version);
    if (!CHECK_CODE(lks_bmcsim_image_package(LKS_BMCSIM_OPENBMC, FIRMWARE, version, 1,
                                             PACKAGE_BYTES, &package, &err),
                    LKS_OK) ||
        !flashes_store(&s->f, file, lks_buf_view(&package), digest))
        return false;
    add_artifact(manifest, file, digest, package.len, FIRMWARE, version);
    return true;
}

static bool bring_bundle(struct small *s)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf manifest = LKS_BUF(TEXT_MAX);
    lks_buf_add(&manifest, LKS_STR("{\"lockstep\":1,\"kind\":\"Bundle\",\"name\":\"all\","
                                   "\"version\":\"1\",\"artifacts\":["));
    if (!add_package(s, &manifest, OLD_UCX, NEW_UCX) ||
        !add_package(s, &manifest, NEW_UCX, OLD_UCX) || !add_firmware(s, &manifest, OLD_CPLD) ||
        !add_firmware(s, &manifest, NEW_CPLD))
        return false;
    lks_buf_add(&manifest, LKS_STR("]}"));
    return flashes_bring(&s->f, lks_buf_view(&manifest));
}

/* Agents -------------------------------------------------------------------------------------- */

/* In the child. It ends with us, however we end. */
static _Noreturn void become_agent(const struct small *s, size_t i, const char *dir)
{
    char state[PATH_SIZE + 8], token[PATH_SIZE + 8], log[PATH_SIZE + 8], server[64],
        root[PATH_SIZE];
    char ca[160], name[8];
    snprintf(state, sizeof(state), "%s/state", dir);
    snprintf(token, sizeof(token), "%s/token", dir);
    snprintf(log, sizeof(log), "%s/log", dir);
    snprintf(server, sizeof(server), "https://%s:%u",
             s->site != NULL && s->site->host != NULL ? s->site->host : "localhost",
             s->f.crew.c.people);
    snprintf(ca, sizeof(ca), "%s/ca.crt", s->f.crew.c.data);
    snprintf(root, sizeof(root), "%s", s->roots[i]);
    snprintf(name, sizeof(name), "%s", small_name(i));
    char *argv[] = {(char[]){LKS_AGENTSIM_PROGRAM},
                    (char[]){"--state"},
                    state,
                    (char[]){"--controller"},
                    server,
                    (char[]){"--ca"},
                    ca,
                    (char[]){"--node"},
                    name,
                    (char[]){"--root"},
                    root,
                    (char[]){"--token-file"},
                    token,
                    (char[]){"--quick"},
                    NULL};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (s->site != NULL && s->site->enter != NULL && !s->site->enter(s->site->ctx, i))
        _exit(126);
    if (freopen("/dev/null", "r", stdin) != NULL && freopen(log, "w", stdout) != NULL &&
        dup2(1, 2) == 2)
        execv(argv[0], argv);
    _exit(127);
}

static bool start_agent(struct small *s, size_t i)
{
    char dir[PATH_SIZE / 2];
    snprintf(dir, sizeof(dir), "%s/%s", s->f.crew.c.tree.path, small_name(i));
    fflush(stdout);
    s->agents[i] = fork();
    if (s->agents[i] == 0)
        become_agent(s, i, dir);
    return CHECK(s->agents[i] > 0);
}

bool small_start_agents(struct small *s)
{
    for (size_t i = 0; i < s->nodes; i++) {
        if (!start_agent(s, i))
            return false;
    }
    return true;
}

/* A machine of its own, and what its agent needs to enrol. */
static bool make_node(struct small *s, size_t i)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct lks_err err = {0};
    char dir[PATH_SIZE / 2], path[PATH_SIZE], boot[64];
    snprintf(dir, sizeof(dir), "%s/%s", s->f.crew.c.tree.path, small_name(i));
    snprintf(s->roots[i], sizeof(s->roots[i]), "%s/root", dir);
    CHECK(mkdir(dir, 0700) == 0);
    ctl_copy(ROOT, s->roots[i]);
    snprintf(path, sizeof(path), "%s/" BOOT_ID, s->roots[i]);
    snprintf(boot, sizeof(boot), "%08zu-0000-4000-8000-000000000000\n", i + 1);
    CHECK_CODE(lks_file_replace(path, lks_str_from(boot), &err), LKS_OK);
    snprintf(path, sizeof(path), "/v1/nodes/%s/enroll", small_name(i));
    if (!crew_fine(s->f.crew.root, "enrollNode", path, "{}", &t))
        return false;
    snprintf(path, sizeof(path), "%s/token", dir);
    return CHECK_CODE(lks_file_replace(path, crew_text(&t, "token"), &err), LKS_OK);
}

void small_stop_agents(struct small *s)
{
    for (size_t i = 0; i < s->nodes; i++) {
        if (s->agents[i] <= 0)
            continue;
        (void)kill(s->agents[i], SIGKILL);
        (void)waitpid(s->agents[i], NULL, 0);
        s->agents[i] = 0;
    }
}

/* How a node stands, as a word: "conforms", "drifted" ... */
static struct lks_str judged(struct small *s, size_t i, struct crew_told *t)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "/v1/nodes/%s", small_name(i));
    return crew_fine(s->f.crew.root, "node", path, NULL, t) ? crew_text(t, "judged") : LKS_STR("");
}

bool small_conform(struct small *s)
{
    size_t good = 0;
    for (struct lks_wait w = {0}; good < s->nodes && lks_wait(&w);) {
        LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
        good = 0;
        for (size_t i = 0; i < s->nodes; i++)
            good += lks_str_is(judged(s, i, &t), "conforms");
    }
    if (CHECK_INT(good, s->nodes))
        return true;
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    (void)judged(s, 0, &t);
    printf("%s\n", t.answer.body.ptr);
    return false;
}

/* All of it but the start of who is asked. */
static bool begin(struct small *s)
{
    struct crew *people = s->site != NULL ? s->site->people : &s->f.crew;
    if (!release(s, stack_a) || !release(s, stack_b) || !apply_fleet(s) || !bring_bundle(s))
        return false;
    for (size_t i = 0; i < s->nodes; i++) {
        if (!make_node(s, i))
            return false;
    }
    s->approver = crew_person(people, "approver", "");
    s->for_train = crew_person(people, "approver", "train");
    s->for_dev = crew_person(people, "approver", "dev");
    return s->approver != NULL && s->for_train != NULL && s->for_dev != NULL &&
           small_start_agents(s) && small_conform(s);
}

bool small_begin(struct small *s, size_t nodes, const char *config)
{
    return small_begin_pools(s, nodes, config, "");
}

bool small_begin_pools(struct small *s, size_t nodes, const char *config, const char *pools)
{
    LKS_ASSERT(nodes <= SMALL_NODES_MAX);
    *s = (struct small){.nodes = nodes, .pools = pools};
    bmcd_init(&s->f.bmcs);
    return small_start_bmcs(s) && start_daemon(s, config) && begin(s);
}

bool small_begin_at(struct small *s, size_t nodes, const struct small_site *site)
{
    LKS_ASSERT(nodes <= SMALL_NODES_MAX);
    *s = (struct small){
        .nodes = nodes, .site = site, .pools = site->pools != NULL ? site->pools : ""};
    bmcd_init(&s->f.bmcs);
    return small_start_bmcs(s) && site->start(s, site->ctx) && begin(s);
}

void small_end(struct small *s)
{
    small_stop_agents(s);
    lks_client_free(s->approver);
    lks_client_free(s->for_train);
    lks_client_free(s->for_dev);
    flashes_end(&s->f);
}

/* The end ------------------------------------------------------------------------------------- */

void small_sort(const struct lks_record *r, char out[SMALL_SORT_SIZE])
{
    const char *word = lks_record_info(r->kind)->word;
    if (r->kind == LKS_RECORD_MEMBER)
        snprintf(out, SMALL_SORT_SIZE, "%s %s step %" PRIu64 " pass %" PRIu64 "%s", word,
                 lks_member_state_words[r->member.state], r->member.step, r->member.pass,
                 r->member.back ? " back" : "");
    else if (r->kind == LKS_RECORD_COMMAND)
        snprintf(out, SMALL_SORT_SIZE, "%s %" LKS_STR_FMT, word, LKS_STR_ARG(r->command.executor));
    else if (r->kind == LKS_RECORD_FLASH_SAVED)
        snprintf(out, SMALL_SORT_SIZE, "%s %" LKS_STR_FMT, word, LKS_STR_ARG(r->flash_saved.phase));
    else if (r->kind == LKS_RECORD_WAVE)
        snprintf(out, SMALL_SORT_SIZE, "%s %" PRIu64 " %s", word, r->wave.index,
                 lks_wave_state_words[r->wave.state]);
    else
        snprintf(out, SMALL_SORT_SIZE, "%s", word);
}

/* Commands that were begun by the agent, as it wrote down itself. */
static unsigned count_begun(const struct small *s, size_t i, const char *what)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf log = LKS_BUF((size_t)16 << 20);
    struct lks_err err = {0};
    char path[PATH_SIZE];
    unsigned count = 0;
    snprintf(path, sizeof(path), "%s/%s/log", s->f.crew.c.tree.path, small_name(i));
    CHECK_CODE(lks_file_read_plain(path, &log, &err), LKS_OK);
    struct lks_str rest = lks_buf_view(&log), mark = lks_str_from(what);
    for (ptrdiff_t at; (at = lks_str_find(rest, mark)) >= 0; count++)
        rest = (struct lks_str){rest.ptr + at + mark.len, rest.len - (size_t)at - mark.len};
    return count;
}

/* Commands of each node, as the journal has them. */
struct commands {
    const struct small *s;
    unsigned sent[SMALL_NODES_MAX];
};

static bool count_command(void *ctx, const struct lks_row *row)
{
    struct commands *c = ctx;
    struct lks_record r;
    struct lks_err err = {0};
    if (row->kind != LKS_RECORD_COMMAND ||
        !CHECK_CODE(lks_record_unpack(row->kind, row->version, row->body, &r, &err), LKS_OK))
        return true;
    for (size_t i = 0; i < c->s->nodes; i++)
        c->sent[i] += lks_str_is(r.command.node, small_name(i));
    return true;
}

static void check_commands(struct small *s)
{
    struct commands c = {.s = s};
    struct lks_store store = {0};
    struct lks_err err = {0};
    if (s->site != NULL ? !s->site->store(s->site->ctx, &store) : !ctl_store(&s->f.crew.c, &store))
        return;
    CHECK_CODE(store.ops->rows(store.self, 1, count_command, &c, &err), LKS_OK);
    lks_store_close(&store);
    for (size_t i = 0; i < s->nodes; i++) {
        lks_test_case("commands of %s", small_name(i));
        CHECK(c.sent[i] > 0);
        CHECK(count_begun(s, i, "a command starts") <= c.sent[i]);
    }
}

static void tell_node(struct small *s, size_t i, struct lks_buf *out)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    unsigned packages = count_begun(s, i, "a command starts\" executor=apt"),
             settings = count_begun(s, i, "a command starts\" executor=settings");
    struct lks_str word = judged(s, i, &t);
    lks_buf_addf(out, "%s %" LKS_STR_FMT " %" LKS_STR_FMT "%s%s", small_name(i), LKS_STR_ARG(word),
                 LKS_STR_ARG(crew_text(&t, "stack")),
                 lks_doc_member(t.doc, "drained") != NULL ? " drained" : "",
                 lks_doc_member(t.doc, "changing") != NULL ? " changing" : "");
    const struct lks_doc *device = flashes_truth(&s->f, small_name(i), FIRMWARE, &t);
    if (CHECK(device != NULL))
        lks_buf_addf(out,
                     " " FIRMWARE " %" LKS_STR_FMT " flashes %" PRId64 ", apt %u, settings %u\n",
                     LKS_STR_ARG(lks_doc_text(device, "active")),
                     lks_doc_member(device, "flashes")->number, packages, settings);
}

/* How everything stands, by the truth. */
void small_tell_end(struct small *s, struct lks_buf *out)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    lks_buf_init(out, TEXT_MAX);
    CHECK(small_conform(s));
    for (size_t i = 0; i < s->nodes; i++)
        tell_node(s, i, out);
    crew_fine(s->f.crew.root, "alarms", "/v1/alarms?open=true", NULL, &t);
    lks_buf_addf(out, "alarms %zu\n", crew_count(&t, "items"));
    check_commands(s);
}
