/*
 * sim up, sim down: a controller and hundreds of agents and BMCs on this machine, to look at and to
 * rehearse with. The programs are the real ones; only the machines they read are captured ones, and
 * the BMCs are those of lockstep-bmcsim. Everything lies in one directory, and ends with it.
 */
#include "base/file.h"
#include "cli/shared/commands.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"
#include "cli/sim/fleetdir.h"
#include "cli/sim/spawn.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { NODES_MAX = 5000, NODES_DEFAULT = 50, READY_TRIES = 200, READY_MS = 50, BMCS_TRIES = 1200 };
enum {
    ASKED_SPEED_MAX = 1000, /* of lockstepd; BMCs may be faster */
    LEAST_BEAT_MS = 1000,   /* late and lost count in no shorter ones: machines are busy */
};

#define VERSIONS_MAX ((size_t)64 << 10)
#define SOCKET_MAX   (sizeof(((struct sockaddr_un *)0)->sun_path) - 1)

struct sim {
    struct lks_cli *cli;
    char dir[PATH_MAX];
    struct lks_fleetdir_fleet fleet; /* its texts are ours or of the arguments */
    uint64_t heartbeat_ms, bmc_speed;
    bool bmcs;
    char server[PATH_MAX]; /* unix:DIR/controller/lockstepd.sock */
    struct lks_remote remote;
    unsigned people, agents; /* ports */
    bool stays;              /* the directory, although we failed: it says why */
};

static volatile sig_atomic_t stopped;

static void on_signal(int signal)
{
    (void)signal;
    stopped = 1;
}

/* Steps of sim up --------------------------------------------------------------------------- */

static enum lks_code make_controller(struct sim *s, struct lks_err *err)
{
    char data[PATH_MAX], people[32], agents[32];
    if (lks_path_join(data, s->dir, "controller", err) != LKS_OK ||
        lks_spawn_free_port(&s->people, err) != LKS_OK ||
        lks_spawn_free_port(&s->agents, err) != LKS_OK)
        return err->code;
    snprintf(people, sizeof(people), "127.0.0.1:%u", s->people);
    snprintf(agents, sizeof(agents), "127.0.0.1:%u", s->agents);
    const char *argv[] = {"lockstepd", "init",      "--data", data,     "--people",
                          people,      "--agents",  agents,   "--name", "localhost",
                          "--name",    "127.0.0.1", NULL};
    return lks_spawn_wait(s->cli, argv, NULL, err);
}

/* A heartbeat of its own, so that a demonstration need not wait two minutes for a lost node; and
 * BMCs that are fast are asked fast. */
static enum lks_code quicken(const struct sim *s, struct lks_err *err)
{
    char path[PATH_MAX];
    if (lks_path_join(path, s->dir, "controller/lockstepd.yaml", err) != LKS_OK)
        return err->code;
    FILE *f = fopen(path, "ae");
    if (f == NULL)
        return lks_fail(err, LKS_E_IO, "%s: %s", path, strerror(errno));
    if (s->heartbeat_ms > 0) {
        uint64_t beat = s->heartbeat_ms > LEAST_BEAT_MS ? s->heartbeat_ms : LEAST_BEAT_MS;
        fprintf(f,
                "limits:\n  heartbeat_ms: %" PRIu64 "\n  late_ms: %" PRIu64 "\n  lost_ms: %" PRIu64
                "\n",
                s->heartbeat_ms, 3 * beat, 12 * beat);
    }
    if (s->bmcs && s->bmc_speed > 1)
        fprintf(f, "bmc:\n  speed: %" PRIu64 "\n",
                s->bmc_speed < ASKED_SPEED_MAX ? s->bmc_speed : ASKED_SPEED_MAX);
    return fclose(f) == 0 ? LKS_OK : lks_fail(err, LKS_E_IO, "%s: %s", path, strerror(errno));
}

static enum lks_code is_ready(struct sim *s, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer answer = {0};
    return lks_remote_get(&s->remote, "/v1/ready", &answer, err);
}

static enum lks_code start_controller(struct sim *s, struct lks_err *err)
{
    char config[PATH_MAX], log[PATH_MAX];
    if (lks_path_join(config, s->dir, "controller/lockstepd.yaml", err) != LKS_OK ||
        lks_path_join(log, s->dir, "controller/log", err) != LKS_OK)
        return err->code;
    const char *argv[] = {"lockstepd", "run", "--config", config, NULL};
    if (lks_spawn_start(s->cli, argv, log, s->dir, "lockstepd", err) != LKS_OK)
        return err->code;
    for (unsigned i = 0; i < READY_TRIES && !stopped; i++) {
        if (is_ready(s, err) == LKS_OK)
            return LKS_OK;
        nanosleep(&(struct timespec){.tv_nsec = READY_MS * 1000000L}, NULL);
    }
    s->stays = !stopped;
    return lks_wrap(err, "lockstepd does not become ready; %s says why, and so %s stays", log,
                    s->dir);
}

static uint64_t bmc_count(const struct sim *s)
{
    return s->bmcs
               ? s->fleet.nodes + lks_fleetdir_trays(&s->fleet) + lks_fleetdir_shelves(&s->fleet)
               : 0;
}

/* Its first line, or the complaint it ended with. */
static enum lks_code await_bmcs(struct sim *s, const char *log, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(VERSIONS_MAX);
    for (unsigned i = 0; i < BMCS_TRIES && !stopped; i++) {
        lks_buf_truncate(&said, 0);
        if (lks_file_read(log, &said, err) != LKS_OK)
            return err->code;
        struct lks_str line, rest;
        if (lks_str_cut(lks_buf_view(&said), '\n', &line, &rest))
            return lks_str_starts(line, "ready ")
                       ? LKS_OK
                       : lks_fail(err, LKS_E_UNAVAILABLE, "%" LKS_STR_FMT, LKS_STR_ARG(line));
        nanosleep(&(struct timespec){.tv_nsec = READY_MS * 1000000L}, NULL);
    }
    s->stays = !stopped;
    return lks_fail(err, LKS_E_TIMEOUT, "lockstep-bmcsim does not become ready; see %s", log);
}

/* Where they are and what they write. */
struct bmc_paths {
    char dir[PATH_MAX], log[PATH_MAX], control[PATH_MAX], ca[PATH_MAX];
};

static enum lks_code make_bmc_dir(const struct sim *s, struct bmc_paths *p, struct lks_err *err)
{
    if (lks_path_join(p->dir, s->dir, "bmcs", err) != LKS_OK ||
        lks_path_join(p->log, p->dir, "log", err) != LKS_OK ||
        lks_path_join(p->control, p->dir, "control.sock", err) != LKS_OK ||
        lks_path_join(p->ca, s->dir, "controller/ca.crt", err) != LKS_OK)
        return err->code;
    if (mkdir(p->dir, 0700) != 0)
        return lks_fail(err, LKS_E_IO, "%s: %s", p->dir, strerror(errno));
    return LKS_OK;
}

/* One for each node, tray and power shelf, whose devices run what the captured machine's do. */
static enum lks_code start_bmcs(struct sim *s, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf versions = LKS_BUF(VERSIONS_MAX);
    char listen[64], nodes[64], speed[32], trays[80] = "switch=", shelves[80] = "shelf=";
    const char *revisions = s->fleet.revisions != NULL ? s->fleet.revisions : "A";
    struct bmc_paths p;
    if (make_bmc_dir(s, &p, err) != LKS_OK ||
        lks_fleetdir_versions(s->cli, &s->fleet, &versions, err) != LKS_OK ||
        lks_spawn_free_port(&s->fleet.bmc_port, err) != LKS_OK)
        return err->code;
    snprintf(listen, sizeof(listen), LKS_FLEETDIR_BMC_FIRST ":%u", s->fleet.bmc_port);
    snprintf(speed, sizeof(speed), "%" PRIu64, s->bmc_speed);
    snprintf(nodes, sizeof(nodes), "hgx=sim[0001-%04" PRIu64 "]", s->fleet.nodes);
    lks_fleetdir_assets(trays + strlen(trays), "switch", lks_fleetdir_trays(&s->fleet));
    lks_fleetdir_assets(shelves + strlen(shelves), "shelf", lks_fleetdir_shelves(&s->fleet));
    const char *option = versions.len > 0 ? "--versions" : NULL;
    const char *argv[] = {"lockstep-bmcsim", "--dir",   p.dir,         "--listen",  listen,
                          "--bmc",           nodes,     "--bmc",       trays,       "--bmc",
                          shelves,           "--speed", speed,         "--pull-ca", p.ca,
                          "--control",       p.control, "--revisions", revisions,   option,
                          versions.ptr,      NULL};
    if (lks_spawn_start(s->cli, argv, p.log, s->dir, "lockstep-bmcsim", err) != LKS_OK)
        return err->code;
    return await_bmcs(s, p.log, err);
}

static enum lks_code promote(struct sim *s, struct lks_str digest, const char *step,
                             struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer answer = {0};
    char body[128];
    snprintf(body, sizeof(body), "{\"to\":\"%s\",\"evidence\":\"a simulated fleet\"}", step);
    lks_remote_path_init(&path, "/v1/stacks");
    lks_remote_path_add(&path, digest);
    lks_remote_path_add(&path, LKS_STR("promote"));
    return lks_remote_call(&s->remote, "POST", &path, "application/json", lks_str_from(body),
                           &answer, err);
}

/* Production pools are pinned to what was released. */
static enum lks_code release_stack(struct sim *s, struct lks_str manifest, struct lks_err *err)
{
    static const char *const steps[] = {"lab", "canary", "released"};
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer answer = {0};
    lks_remote_path_init(&path, "/v1/stacks?stack=golden");
    if (lks_remote_call(&s->remote, "POST", &path, "application/yaml", manifest, &answer, err) !=
        LKS_OK)
        return err->code;
    for (size_t i = 0; i < LKS_COUNT(steps); i++) {
        if (promote(s, lks_doc_text(answer.doc, "digest"), steps[i], err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

/* The first fleet: every node runs what the captured machine runs, so everything conforms. */
static enum lks_code apply_fleet(struct sim *s, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer answer = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf manifest = LKS_BUF(LKS_DOC_BYTES_MAX);
    if (lks_fleetdir_manifest(s->cli, &s->fleet, &manifest, err) != LKS_OK ||
        release_stack(s, lks_buf_view(&manifest), err) != LKS_OK)
        return err->code;
    lks_remote_path_init(&path, "/v1/fleet?accept=true");
    return lks_remote_call(&s->remote, "PUT", &path, "application/yaml", lks_buf_view(&manifest),
                           &answer, err);
}

static enum lks_code make_token(struct sim *s, const char *node, const char *file,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer answer = {0};
    lks_remote_path_init(&path, "/v1/nodes");
    lks_remote_path_add(&path, lks_str_from(node));
    lks_remote_path_add(&path, LKS_STR("enroll"));
    if (lks_remote_call(&s->remote, "POST", &path, "application/json", LKS_STR("{}"), &answer,
                        err) != LKS_OK)
        return lks_wrap(err, "%s", node);
    return lks_file_replace(file, lks_doc_text(answer.doc, "token"), err);
}

static enum lks_code start_agent(struct sim *s, uint64_t number, struct lks_err *err)
{
    char node[32], dir[PATH_MAX], state[PATH_MAX], root[PATH_MAX], token[PATH_MAX], ca[PATH_MAX],
        log[PATH_MAX], controller[64];
    lks_fleetdir_node(node, number);
    if (lks_fleetdir_agent(dir, s->dir, node, err) != LKS_OK ||
        lks_path_join(state, dir, "state", err) != LKS_OK ||
        lks_path_join(root, dir, "root", err) != LKS_OK ||
        lks_path_join(token, dir, "token", err) != LKS_OK ||
        lks_path_join(log, dir, "log", err) != LKS_OK ||
        lks_path_join(ca, s->dir, "controller/ca.crt", err) != LKS_OK ||
        lks_fleetdir_copy(s->fleet.root, root, err) != LKS_OK ||
        make_token(s, node, token, err) != LKS_OK)
        return err->code;
    snprintf(controller, sizeof(controller), "https://localhost:%u", s->people);
    const char *argv[] = {"lockstep-agentsim",
                          "--state",
                          state,
                          "--controller",
                          controller,
                          "--ca",
                          ca,
                          "--node",
                          node,
                          "--root",
                          root,
                          "--token-file",
                          token,
                          NULL};
    return lks_spawn_start(s->cli, argv, log, s->dir, node, err);
}

/* Domains and the lab are parts of all nodes, and leave some. */
static enum lks_code read_parts(struct sim *s, const struct lks_args *args, struct lks_err *err)
{
    struct lks_fleetdir_fleet *f = &s->fleet;
    f->revisions = lks_args_get(args, "--revisions");
    f->flash = lks_args_get(args, "--flash");
    if (lks_listing_number(args, "--domains", NODES_MAX / LKS_FLEETDIR_DOMAIN, 0, &f->domains,
                           err) != LKS_OK ||
        lks_listing_number(args, "--lab", NODES_MAX, 0, &f->lab, err) != LKS_OK)
        return err->code;
    uint64_t taken = f->domains * LKS_FLEETDIR_DOMAIN + f->lab;
    if (taken > 0 && taken + 2 > f->nodes)
        return lks_fail(err, LKS_E_USAGE,
                        "sim up: %" PRIu64 " nodes in domains (%d each) and lab, of %" PRIu64
                        "; two at least are in pools besides",
                        taken, LKS_FLEETDIR_DOMAIN, f->nodes);
    return LKS_OK;
}

/* The captured machine that comes with this program, installed or built; false: none is there. */
static bool find_sample(char out[PATH_MAX])
{
    static const char *const places[] = {"../share/lockstep/roots/h200", "../tests/roots/h200"};
    char self[PATH_MAX], path[PATH_MAX], real[PATH_MAX]; /* realpath() also writes where it fails */
    ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[len > 0 ? len : 0] = '\0';
    char *slash = strrchr(self, '/');
    if (slash == NULL)
        return false;
    *slash = '\0';
    for (size_t i = 0; i < LKS_COUNT(places); i++) {
        struct lks_err ignored = {0};
        if (lks_path_join(path, self, places[i], &ignored) == LKS_OK &&
            realpath(path, real) != NULL) {
            memcpy(out, real, sizeof(real));
            return true;
        }
    }
    return false;
}

static enum lks_code refuse_no_root(struct lks_err *err)
{
    char sample[PATH_MAX] = "PREFIX/share/lockstep/roots/h200";
    (void)find_sample(sample);
    return lks_fail(err, LKS_E_USAGE,
                    "sim up: --root has to name a captured machine, such as --root %s; 'lockstep "
                    "inventory --capture DIR' makes one",
                    sample);
}

static enum lks_code read_wishes(struct sim *s, const struct lks_args *args, struct lks_err *err)
{
    s->fleet = (struct lks_fleetdir_fleet){.dir = s->dir, .root = lks_args_get(args, "--root")};
    s->bmcs = !lks_args_has(args, "--no-bmcs");
    if (s->fleet.root == NULL)
        return refuse_no_root(err);
    if (lks_path_absolute(s->dir, args->positional[0], err) != LKS_OK)
        return err->code;
    int len = snprintf(s->server, sizeof(s->server), "unix:%s/controller/lockstepd.sock", s->dir);
    if (len < 0 || (size_t)len > SOCKET_MAX + strlen("unix:"))
        return lks_fail(err, LKS_E_INVALID,
                        "%s: too long: a socket's path has at most %zu bytes, and the controller's "
                        "would have %zu",
                        s->dir, SOCKET_MAX, (size_t)len - strlen("unix:"));
    s->cli->server = s->server; /* and no context, CA or token: those are of other controllers */
    s->cli->ca = s->cli->token_file = NULL;
    s->cli->context.chosen = true;
    if (lks_listing_number(args, "--nodes", NODES_MAX, NODES_DEFAULT, &s->fleet.nodes, err) !=
            LKS_OK ||
        read_parts(s, args, err) != LKS_OK)
        return err->code;
    if (lks_listing_number(args, "--heartbeat-ms", 600000, 0, &s->heartbeat_ms, err) != LKS_OK ||
        lks_listing_number(args, "--bmc-speed", 1000000, 1, &s->bmc_speed, err) != LKS_OK)
        return err->code;
    return lks_fleetdir_check(s->fleet.root, err);
}

static enum lks_code bring_up(struct sim *s, const struct lks_args *args, struct lks_err *err)
{
    enum lks_code code = make_controller(s, err);
    if (code == LKS_OK)
        code = quicken(s, err);
    if (code == LKS_OK)
        code = lks_remote_open(s->cli, args, &s->remote, err);
    if (code == LKS_OK)
        code = start_controller(s, err);
    if (code == LKS_OK && s->bmcs)
        code = start_bmcs(s, err);
    if (code == LKS_OK)
        code = apply_fleet(s, err);
    for (uint64_t i = 1; code == LKS_OK && !stopped && i <= s->fleet.nodes; i++)
        code = start_agent(s, i, err);
    lks_remote_fini(&s->remote);
    return stopped ? lks_fail(err, LKS_E_REFUSED, "sim up: stopped") : code;
}

/* What we started ends, and what we made goes, so that the next try finds nothing in its way. */
static enum lks_code take_back(const struct sim *s, struct lks_err *err)
{
    lks_spawn_end(s->dir);
    if (!s->stays && !lks_fleetdir_remove(s->dir))
        return lks_wrap(err, "%s could not be removed (%s)", s->dir, strerror(errno));
    return err->code;
}

static enum lks_code print_json(const struct sim *s, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = {0};
    struct lks_json_writer w = {.out = &json};
    lks_buf_init(&json, LKS_OUTPUT_BYTES_MAX);
    lks_json_begin(&w, NULL, '{');
    lks_json_cstr(&w, "server", s->server);
    lks_json_int(&w, "nodes", (int64_t)s->fleet.nodes);
    lks_json_int(&w, "bmcs", (int64_t)bmc_count(s));
    lks_json_end(&w, '}');
    return lks_output_json(s->cli, &json, err);
}

enum lks_code lks_cmd_sim_up(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    struct sim s = {.cli = cli};
    if (read_wishes(&s, args, err) != LKS_OK)
        return err->code;
    if (mkdir(s.dir, 0700) != 0)
        return lks_fail(err, LKS_E_INVALID, "%s: %s; 'sim up' makes a new directory", s.dir,
                        strerror(errno));
    sigaction(SIGINT, &(struct sigaction){.sa_handler = on_signal}, NULL);
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = on_signal}, NULL);
    if (bring_up(&s, args, err) != LKS_OK)
        return take_back(&s, err);
    if (lks_args_has(args, "--json"))
        return print_json(&s, err);
    fprintf(cli->out,
            "%" PRIu64 " agents, %" PRIu64 " BMCs and their controller run in %s\n\n"
            "    export LOCKSTEP_SERVER=%s\n    lockstep top\n    lockstep sim down %s\n",
            s.fleet.nodes, bmc_count(&s), s.dir, s.server, s.dir);
    return LKS_OK;
}

enum lks_code lks_cmd_sim_down(struct lks_cli *cli, const struct lks_args *args,
                               struct lks_err *err)
{
    const char *dir = args->positional[0];
    char pids[PATH_MAX];
    if (lks_path_join(pids, dir, "pids", err) != LKS_OK)
        return err->code;
    if (access(pids, R_OK) != 0)
        return lks_fail(err, LKS_E_NOT_FOUND, "%s: no simulation runs there", dir);
    unsigned ended = lks_spawn_end(dir);
    if (lks_args_has(args, "--json"))
        fprintf(cli->out, "{\"ended\":%u}\n", ended);
    else
        fprintf(cli->out, "%u programs ended; what they wrote stays in %s\n", ended, dir);
    return LKS_OK;
}
