/* People with a role in one pool or at one site against the real daemon: they reach for nodes of
 * others through a domain, waive a gate for a site that is not theirs, name nodes that there are
 * not, and look for the alarms that concern them. */
#include "server/api/routes.h"
#include "tests/crew.h"
#include "tests/test.h"
#include "tests/tuples.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define WHY "{\"reason\":\"r\"}"

static const char config[] = "rate: {people_per_s: 100000, burst: 1000000}\n";

/* Domain rack1 is of both pools, and pool train is at both sites. */
static const char fleet[] =
    "lockstep: 1\nkind: Fleet\nname: here\nsites: {east: {}, west: {}}\ndomains: {rack1: {}}\n"
    "pools:\n"
    "  train: {posture: batch, stack: golden}\n"
    "  serve: {posture: batch, stack: golden}\n"
    "  spare: {posture: batch, stack: golden}\n"
    "nodes:\n"
    "  - {hosts: gpu1, pool: train, class: hgx-h200-8, site: east, domain: rack1}\n"
    "  - {hosts: gpu2, pool: train, class: hgx-h200-8, site: east}\n"
    "  - {hosts: gpu3, pool: train, class: hgx-h200-8, site: west}\n"
    "  - {hosts: inf1, pool: serve, class: hgx-h200-8, site: east, domain: rack1}\n"
    "  - {hosts: inf2, pool: serve, class: hgx-h200-8, site: west}\n"
    "  - {hosts: old1, pool: spare, class: hgx-h200-8, site: west}\n";

static const char *const names[] = {"gpu1", "gpu2", "gpu3", "inf1", "inf2"};

enum who { TRAIN, SERVE, SPARE, PEOPLE };

struct scene {
    struct crew crew;
    struct lks_client *agents[LKS_COUNT(names)];
    struct lks_client *operators[PEOPLE], *approver, *admin; /* of pools; the others of train */
    struct lks_client *east, *west;                          /* approvers of sites */
    uint64_t beats[LKS_COUNT(names)];
};

static bool scene_begin(struct scene *s)
{
    static const char *const cooler[] = {"name: ", "name: cooler",
                                         "  power_limit_w: ", "  power_limit_w: 650", NULL};
    static const char *const pools[PEOPLE] = {"train", "serve", "spare"};
    char digest[LKS_DIGEST_SIZE];
    *s = (struct scene){0};
    if (!crew_begin(&s->crew, config) || !crew_release(&s->crew, digest) ||
        !crew_release_with(&s->crew, cooler, digest) || !crew_fleet(&s->crew, fleet))
        return false;
    for (size_t i = 0; i < LKS_COUNT(names); i++) {
        s->agents[i] = crew_enroll(&s->crew, names[i]);
        if (s->agents[i] == NULL || !crew_report(s->agents[i], names[i], "", &s->beats[i]))
            return false;
    }
    for (size_t i = 0; i < PEOPLE; i++)
        s->operators[i] = crew_person(&s->crew, "operator", pools[i]);
    s->approver = crew_person(&s->crew, "approver", "train");
    s->admin = crew_person(&s->crew, "admin", "train");
    s->east = crew_person_at(&s->crew, "approver", "east");
    s->west = crew_person_at(&s->crew, "approver", "west");
    return s->approver != NULL && s->admin != NULL && s->east != NULL && s->west != NULL;
}

static void scene_end(struct scene *s)
{
    for (size_t i = 0; i < LKS_COUNT(names); i++)
        lks_client_free(s->agents[i]);
    for (size_t i = 0; i < PEOPLE; i++)
        lks_client_free(s->operators[i]);
    lks_client_free(s->approver);
    lks_client_free(s->admin);
    lks_client_free(s->east);
    lks_client_free(s->west);
    crew_end(&s->crew);
}

static const char *path_of(uint64_t id, const char *verb)
{
    static char path[96];
    (void)snprintf(path, sizeof(path), "/v1/changes/%llu/%s", (unsigned long long)id, verb);
    return path;
}

/* The number of a change that `who` proposes for the nodes; 0 is a failed check. */
static uint64_t propose(struct lks_client *who, const char *nodes)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char body[160];
    (void)snprintf(body, sizeof(body),
                   "{\"stack\":\"cooler\",\"nodes\":\"%s\",\"class\":\"routine\",\"canary_max\":1,"
                   "\"reason\":\"r\"}",
                   nodes);
    return crew_fine(who, "propose", "/v1/changes", body, &t) ? (uint64_t)crew_number(&t, "id") : 0;
}

/* Proposals --------------------------------------------------------------------------------- */

/* What an operator of train proposes; 200: they may. */
static const struct {
    const char *name, *key, *value;
    int status;
    const char *detail;
} wishes[] = {
    {"their own node", "nodes", "gpu2", 200, ""},
    {"another pool's node", "nodes", "inf2", 403, "may not operate here"},
    {"another pool", "pool", "serve", 403, "may not operate here"},
    {"a node whose domain has one of another pool", "nodes", "gpu1", 403, "may not operate here"},
    {"the same among others", "nodes", "gpu[1-3]", 403, "may not operate here"},
    {"the same beside an unknown one", "nodes", "gpu1,nope", 403, "may not operate here"},
    {"the whole domain", "nodes", "gpu1,inf1", 403, "may not operate here"},
    {"their pool, which has such a node", "pool", "train", 403, "may not operate here"},
    {"an unknown node", "nodes", "nope", 403, "may not operate here"},
    {"an unknown node beside their own", "nodes", "gpu2,nope", 403, "may not operate here"},
    {"an unknown node before another pool's", "nodes", "nope,inf2", 403, "may not operate here"},
    {"an unknown pool", "pool", "nope", 403, "may not operate here"},
};

/* The answer before the act: of a list its names, of a pool all of it. To people who do not see all
 * nodes an unknown one is as one that they may not read, in the question and in the act. */
static void check_can(struct lks_client *who, const char *act, bool pool, const char *name,
                      int status)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char path[160];
    (void)snprintf(path, sizeof(path), "/v1/access/can?act=%s&%s=%s", act, pool ? "pool" : "name",
                   name);
    if (crew_fine(who, "can", path, NULL, &t))
        CHECK(crew_truth(&t, "yes") == (status != 403));
}

static void check_wishes(struct scene *s)
{
    for (size_t i = 0; i < LKS_COUNT(wishes); i++) {
        LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
        char body[160];
        (void)snprintf(body, sizeof(body), "{\"stack\":\"cooler\",\"%s\":\"%s\",\"reason\":\"r\"}",
                       wishes[i].key, wishes[i].value);
        lks_test_case("%s", wishes[i].name);
        check_can(s->operators[TRAIN], "propose", wishes[i].key[0] == 'p', wishes[i].value,
                  wishes[i].status);
        if (wishes[i].status != 200)
            crew_refused(s->operators[TRAIN], "propose", "/v1/changes", body, wishes[i].status,
                         wishes[i].detail);
        else if (crew_fine(s->operators[TRAIN], "propose", "/v1/changes", body, &t))
            crew_fine(s->operators[TRAIN], "abortChange",
                      path_of((uint64_t)crew_number(&t, "id"), "abort"), WHY, &t);
    }
}

static void test_proposals(void)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct scene s;
    if (CHECK(scene_begin(&s))) {
        check_wishes(&s);
        /* With the other pool as well, the domain is theirs. */
        crew_fine(s.crew.root, "grant", "/v1/access",
                  "{\"identity\":\"operator-train\",\"role\":\"operator\",\"pool\":\"serve\"}", &t);
        uint64_t id = propose(s.operators[TRAIN], "gpu1,inf1");
        if (CHECK(id != 0) &&
            crew_fine(s.operators[TRAIN], "changeMembers", path_of(id, "members"), NULL, &t))
            CHECK_INT(crew_count(&t, "items"), 2);
    }
    scene_end(&s);
}

/* Unknown nodes ----------------------------------------------------------------------------- */

static struct lks_client *person_for(const struct scene *s, enum lks_permission permission)
{
    return permission == LKS_MAY_APPROVE ? s->approver
           : permission == LKS_MAY_ADMIN ? s->admin
                                         : s->operators[TRAIN];
}

/* Lists that the path of a route names. */
static const struct {
    const char *name, *nodes;
    int status;
} lists[] = {
    {"an unknown node", "nope", 403},
    {"an unknown node behind their own", "gpu2,nope", 403},
    {"an unknown node behind another pool's", "inf2,nope", 403},
};

static void check_routes(const struct scene *s)
{
    for (size_t i = 0; i < lks_route_count; i++) {
        const struct lks_route *r = &lks_routes[i];
        struct lks_str head, rest, name, tail;
        if (r->scope != LKS_SCOPE_NODES || r->listener != LKS_LISTENER_PEOPLE ||
            !CHECK(lks_str_cut(lks_str_from(r->path), '{', &head, &rest)))
            continue;
        (void)lks_str_cut(rest, '}', &name, &tail);
        for (size_t k = 0; k < LKS_COUNT(lists); k++) {
            LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
            char path[256];
            lks_test_case("%s: %s", r->id, lists[k].name);
            (void)snprintf(path, sizeof(path), "%" LKS_STR_FMT "%s%" LKS_STR_FMT, LKS_STR_ARG(head),
                           lists[k].nodes, LKS_STR_ARG(tail));
            const char *body = strcmp(r->method, "GET") != 0 ? "{}" : NULL;
            check_can(person_for(s, r->permission), r->id, false, lists[k].nodes, lists[k].status);
            CHECK_INT(crew_ask(person_for(s, r->permission), r->method, path, body, &t),
                      lists[k].status);
        }
    }
}

/* Nodes that a body names; $ is a time from now. */
#define DEVIATES ",\"subject\":\"dcgm\",\"owner\":\"kim\",\"expires\":\"$\",\"reason\":\"r\"}"
#define STARTS   ",\"job\":\"7\"}"
#define OVERRIDE ",\"job\":\"7\",\"until\":\"$\",\"reason\":\"r\"}"
#define FLASHES  ",\"component\":\"bmc\",\"version\":\"1\",\"reason\":\"r\"}"
static const struct {
    const char *name, *id, *path;
    enum lks_permission permission;
    const char *body;
    int status;
    const char *detail;
} bodies[] = {
    {"a deviation", "deviate", "/v1/deviations", LKS_MAY_OPERATE, "{\"nodes\":\"nope\"" DEVIATES,
     403, "may not operate here"},
    {"a deviation, behind another pool's", "deviate", "/v1/deviations", LKS_MAY_OPERATE,
     "{\"nodes\":\"inf2,nope\"" DEVIATES, 403, "may not operate here"},
    {"an override", "override", "/v1/overrides", LKS_MAY_APPROVE, "{\"nodes\":\"nope\"" OVERRIDE,
     403, "may not approve here"},
    {"an override, before another pool's", "override", "/v1/overrides", LKS_MAY_APPROVE,
     "{\"nodes\":\"nope,inf2\"" OVERRIDE, 403, "may not approve here"},
    {"a job beside another pool's", "admit", "/v1/admit", LKS_MAY_READ,
     "{\"nodes\":\"nope,inf2\"" STARTS, 403, "may not read here"},
    {"an update", "flash", "/v1/flashes", LKS_MAY_OPERATE, "{\"node\":\"nope\"" FLASHES, 403,
     "may not operate here"},
};

/* The body with a time of an hour from now in place of its $. */
static const char *soon(const char *body)
{
    static char text[256];
    struct lks_str head, tail = {0};
    char at[LKS_TIME_TEXT_SIZE];
    lks_time_text(((lks_ms)time(NULL) + 3600) * LKS_SECOND, at);
    bool timed = lks_str_cut(lks_str_from(body), '$', &head, &tail);
    (void)snprintf(text, sizeof(text), "%" LKS_STR_FMT "%s%" LKS_STR_FMT, LKS_STR_ARG(head),
                   timed ? at : "", LKS_STR_ARG(tail));
    return text;
}

static void test_unknown(void)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct scene s;
    if (CHECK(scene_begin(&s))) {
        check_routes(&s);
        for (size_t i = 0; i < LKS_COUNT(bodies); i++) {
            lks_test_case("%s", bodies[i].name);
            crew_refused(person_for(&s, bodies[i].permission), bodies[i].id, bodies[i].path,
                         soon(bodies[i].body), bodies[i].status, bodies[i].detail);
        }
        lks_test_case("a job");
        if (crew_fine(s.operators[TRAIN], "admit", "/v1/admit", "{\"nodes\":\"gpu2,nope\"" STARTS,
                      &t))
            CHECK_HAS(lks_buf_view(&t.answer.body), "nope");
        crew_fine(s.crew.root, "health", "/v1/health", NULL, &t); /* it still runs */
    }
    scene_end(&s);
}

/* Waivers ----------------------------------------------------------------------------------- */

/* Of a change of train, at both sites or at one. */
static void test_waivers(void)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char all[160], pool[192];
    (void)snprintf(all, sizeof(all), "%s",
                   soon("{\"gate\":\"soak\",\"until\":\"$\",\"reason\":\"r\"}"));
    (void)snprintf(pool, sizeof(pool), "%s",
                   soon("{\"gate\":\"soak\",\"pool\":\"train\",\"until\":\"$\",\"reason\":\"r\"}"));
    struct scene s;
    if (CHECK(scene_begin(&s))) {
        uint64_t east = propose(s.operators[TRAIN], "gpu2");
        crew_refused(s.west, "waiveGate", path_of(east, "waive"), all, 403, "may not approve here");
        crew_refused(s.west, "waiveGate", path_of(east, "waive"), pool, 403,
                     "may not approve here");
        crew_fine(s.east, "waiveGate", path_of(east, "waive"), pool, &t);
        crew_fine(s.operators[TRAIN], "abortChange", path_of(east, "abort"), WHY, &t);
        uint64_t both = propose(s.operators[TRAIN], "gpu[2-3]");
        crew_refused(s.east, "waiveGate", path_of(both, "waive"), pool, 403,
                     "may not approve for pool 'train'");
        crew_refused(s.west, "waiveGate", path_of(both, "waive"), pool, 403,
                     "may not approve for pool 'train'");
        crew_fine(s.approver, "waiveGate", path_of(both, "waive"), pool, &t);
        crew_fine(s.west, "waiveGate", path_of(both, "waive"), all, &t);
    }
    scene_end(&s);
}

/* Alarms ------------------------------------------------------------------------------------ */

/* Those with a node in it see that a change of two pools began without its approvals. */
static void test_alarms(void)
{
    static const struct {
        const char *name;
        enum who who;
        int64_t sees;
    } people[] = {
        {"an operator of train", TRAIN, 1},
        {"an operator of serve", SERVE, 1},
        {"an operator of spare", SPARE, 0},
    };
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct scene s;
    uint64_t id = CHECK(scene_begin(&s)) ? propose(s.crew.root, "gpu[2-3],inf2") : 0;
    if (CHECK(id != 0) &&
        crew_fine(s.crew.root, "startChange", path_of(id, "start"),
                  "{\"nodes\":3,\"gpus\":24,\"break_glass\":true,\"reason\":\"worm\"}", &t)) {
        for (size_t i = 0; i < LKS_COUNT(people); i++) {
            struct lks_client *who = s.operators[people[i].who];
            lks_test_case("%s", people[i].name);
            if (crew_fine(who, "alarms", "/v1/alarms?open=true", NULL, &t) &&
                CHECK_INT(crew_count(&t, "items"), people[i].sees) && people[i].sees > 0)
                CHECK_STR(lks_doc_text(crew_item(&t, "items", 0), "kind"), "break-glass");
            if (crew_fine(who, "fleet", "/v1/fleet", NULL, &t))
                CHECK_INT(crew_number(&t, "alarms_open"), people[i].sees);
            crew_refused(who, "releaseAlarm", "/v1/alarms/1/release", WHY, 403,
                         "may not operate here");
        }
    }
    scene_end(&s);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"proposals that reach another pool", test_proposals},
        {"nodes that there are not", test_unknown},
        {"waivers by another site's approver", test_waivers},
        {"alarms of a change of two pools", test_alarms},
        {0},
    });
}
