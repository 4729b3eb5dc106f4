/* Every route has a command, or a written reason for having none. */
#include "cli/shared/ask.h"
#include "cli/shared/cli.h"
#include "server/api/routes.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 256 };

#define PROGRAMS "for programs: agents, browsers, monitoring and ticket systems"
#define SERVED   "read by other commands, which show what is in it"

/* By the route's id: the command that sends it, or why none does. */
static const struct act {
    const char *route, *command, *reason;
} acts[] = {
    {"health", NULL, PROGRAMS},
    {"ready", "doctor", NULL},
    {"enroll", NULL, PROGRAMS},
    {"loginDevice", "login", NULL},
    {"loginPoll", "login", NULL},
    {"login", NULL, PROGRAMS},
    {"loginCallback", NULL, PROGRAMS},
    {"logout", "logout", NULL},
    {"openapi", NULL, PROGRAMS},
    {"whoami", "whoami", NULL},
    {"metrics", "doctor", NULL},
    {"fleet", "fleet show", NULL},
    {"applyFleet", "fleet apply", NULL},
    {"fleetManifest", "fleet export", NULL},
    {"pools", "fleet show", NULL},
    {"nodes", "node ls", NULL},
    {"node", "node show", NULL},
    {"removeNode", "node rm", NULL},
    {"nodeTuple", "node show", NULL},
    {"nodeHistory", "node history", NULL},
    {"nodeAt", "journal at", NULL},
    {"enrollNode", "node enroll", NULL},
    {"holdNode", "node hold", NULL},
    {"releaseNode", "node release", NULL},
    {"setNode", "node set", NULL},
    {"replaceNode", "node replace", NULL},
    {"commandNode", "node command", NULL},
    {"askReset", "node command", NULL},
    {"approveReset", "node approve", NULL},
    {"reviewReset", "node review", NULL},
    {"command", "command show", NULL},
    {"alarms", "alarm ls", NULL},
    {"releaseAlarm", "alarm release", NULL},
    {"drift", "drift", NULL},
    {"deviations", "deviation ls", NULL},
    {"deviate", "deviation add", NULL},
    {"approveDeviation", "deviation approve", NULL},
    {"closeDeviation", "deviation close", NULL},
    {"nodeCondition", "node condition", NULL},
    {"readOutband", "sweep put", NULL},
    {"endOutband", "sweep end", NULL},
    {"sweeps", "sweep ls", NULL},
    {"leaseSweeps", "sweep lease", NULL},
    {"failSweep", "sweep fail", NULL},
    {"admit", "admit", NULL},
    {"overrides", "override ls", NULL},
    {"override", "override add", NULL},
    {"admissions", "admit", NULL},
    {"observed", "admit", NULL},
    {"flashes", "flash ls", NULL},
    {"flash", "flash start", NULL},
    {"flashOne", "flash show", NULL},
    {"resolveNode", "node resolve", NULL},
    {"changes", "change ls", NULL},
    {"propose", "change propose", NULL},
    {"change", "change show", NULL},
    {"changeProcedure", "change procedure", NULL},
    {"changePaper", "change procedure", NULL},
    {"changeMembers", "change show", NULL},
    {"moveMembers", "change resume", NULL},
    {"skipMembers", "change skip", NULL},
    {"approveChange", "change approve", NULL},
    {"rejectChange", "change reject", NULL},
    {"withdrawApproval", "change withdraw", NULL},
    {"waiveGate", "change waive", NULL},
    {"reviewChange", "change review", NULL},
    {"startChange", "change start", NULL},
    {"pauseChange", "change pause", NULL},
    {"resumeChange", "change resume", NULL},
    {"abortChange", "change abort", NULL},
    {"rollBackChange", "change rollback", NULL},
    {"forecastChange", "rehearse", NULL},
    {"ticket", NULL, PROGRAMS},
    {"frozen", "freeze", NULL},
    {"freeze", "freeze", NULL},
    {"unfreeze", "unfreeze", NULL},
    {"proven", "stack rollbacks", NULL},
    {"endpoints", "endpoint ls", NULL},
    {"trustEndpoint", "endpoint trust", NULL},
    {"stacks", "stack ls", NULL},
    {"publish", "stack publish", NULL},
    {"stack", NULL, SERVED},
    {"stackManifest", NULL, SERVED},
    {"stackEnvelope", NULL, PROGRAMS},
    {"promote", "stack promote", NULL},
    {"retire", "stack retire", NULL},
    {"images", "image ls", NULL},
    {"addImage", "image add", NULL},
    {"removeImage", "image rm", NULL},
    {"fleetAdvisories", "advisories", NULL},
    {"fleetRemedies", "advisories", NULL},
    {"fleetLifecycle", "lifecycle", NULL},
    {"access", "access ls", NULL},
    {"grant", "access grant", NULL},
    {"ungrant", "access revoke", NULL},
    {"makeToken", "access token", NULL},
    {"endToken", "access revoke", NULL},
    {"makeCertificate", "access certificate", NULL},
    {"renewToken", "access renew", NULL},
    {"renewCertificate", NULL,
     "for programs that log in with a certificate; commands log in with a token"},
    {"endCertificate", "access revoke", NULL},
    {"journal", "journal export", NULL},
    {"journalAt", "journal at", NULL},
    {"journalHead", "journal head", NULL},
    {"journalState", "rehearse", NULL},
    {"journalManifest", "rehearse", NULL},
    {"events", "drift", NULL},
    {"backup", "backup", NULL},
    {"bundles", "bundle ls", NULL},
    {"bringBundle", "bundle push", NULL},
    {"bundle", "bundle show", NULL},
    {"bundleManifest", NULL, SERVED},
    {"revokeBundle", "bundle revoke", NULL},
    {"trust", "trust ls", NULL},
    {"pinKey", "trust add", NULL},
    {"unpinKey", "trust rm", NULL},
    {"artifacts", "artifact ls", NULL},
    {"artifact", "artifact get", NULL},
    {"putArtifact", "artifact put", NULL},
    {"collectArtifacts", "artifact collect", NULL},
};

static const struct act *act_of(const char *route)
{
    for (size_t i = 0; i < LKS_COUNT(acts); i++) {
        if (strcmp(acts[i].route, route) == 0)
            return &acts[i];
    }
    return NULL;
}

static const struct lks_command *command_called(const char *name)
{
    for (size_t i = 0; i < lks_command_count; i++) {
        if (strcmp(lks_commands[i].name, name) == 0)
            return &lks_commands[i];
    }
    return NULL;
}

static void test_every_route_has_a_command(void)
{
    for (size_t i = 0; i < lks_route_count; i++) {
        lks_test_case("%s", lks_routes[i].id);
        if (lks_routes[i].listener == LKS_LISTENER_AGENTS)
            continue; /* no person has a certificate of an agent */
        const struct act *act = act_of(lks_routes[i].id);
        if (!CHECK(act != NULL))
            continue;
        CHECK((act->command == NULL) != (act->reason == NULL));
        CHECK(act->command == NULL || command_called(act->command) != NULL);
    }
}

static void test_every_row_is_of_a_route(void)
{
    for (size_t i = 0; i < LKS_COUNT(acts); i++) {
        bool found = false;
        lks_test_case("%s", acts[i].route);
        CHECK(act_of(acts[i].route) == &acts[i]);
        for (size_t r = 0; r < lks_route_count && !found; r++)
            found = strcmp(lks_routes[r].id, acts[i].route) == 0;
        CHECK(found);
    }
}

/* "/v1/nodes/{}/hold", of a route or of a row of requests. */
static void blank(const char *path, char out[PATH_SIZE])
{
    size_t len = 0;
    for (; *path != '\0' && len + 1 < PATH_SIZE; path++) {
        out[len++] = *path;
        if (*path == '{')
            path += strcspn(path, "}") - 1;
    }
    out[len] = '\0';
}

static const struct lks_route *route_of(const struct lks_ask *ask)
{
    char want[PATH_SIZE], path[PATH_SIZE];
    blank(ask->path, want);
    for (size_t i = 0; i < lks_route_count; i++) {
        blank(lks_routes[i].path, path);
        if (lks_routes[i].listener == LKS_LISTENER_PEOPLE && strcmp(want, path) == 0 &&
            strcmp(ask->method, lks_routes[i].method) == 0)
            return &lks_routes[i];
    }
    return NULL;
}

/* Commands that send the request of another one's route, with other members. */
static bool is_second(const char *command)
{
    return strcmp(command, "endpoint distrust") == 0;
}

static void test_requests_are_the_routes_they_are_named_for(void)
{
    for (size_t i = 0; i < lks_ask_row_count; i++) {
        const struct lks_ask *ask = &lks_ask_rows[i];
        lks_test_case("%s", ask->command);
        const struct lks_route *route = route_of(ask);
        CHECK(command_called(ask->command) != NULL);
        if (!CHECK(route != NULL) || is_second(ask->command))
            continue;
        const struct act *act = act_of(route->id);
        CHECK_STR(lks_str_from(act != NULL && act->command != NULL ? act->command : ""),
                  ask->command);
    }
}

/* The members of a request are those that its route takes, and none that it requires is missing. */
static void check_members(const struct lks_ask *ask, const struct lks_form *form)
{
    struct lks_field field;
    for (const struct lks_ask_member *m = ask->members; m != NULL && m->key != NULL; m++) {
        bool taken = false;
        for (size_t f = 0; form != NULL && lks_schema_at(form, f, &field); f++)
            taken = taken || strcmp(field.key, m->key) == 0;
        lks_test_case("%s: %s", ask->command, m->key);
        CHECK(taken);
    }
    for (size_t f = 0; form != NULL && lks_schema_at(form, f, &field); f++) {
        bool sent = (field.flags & LKS_FIELD_REQUIRED) == 0;
        for (const struct lks_ask_member *m = ask->members; m != NULL && m->key != NULL; m++)
            sent = sent || strcmp(field.key, m->key) == 0;
        lks_test_case("%s: %s", ask->command, field.key);
        CHECK(sent);
    }
}

static void test_requests_send_what_their_routes_take(void)
{
    for (size_t i = 0; i < lks_ask_row_count; i++) {
        const struct lks_route *route = route_of(&lks_ask_rows[i]);
        if (route != NULL)
            check_members(&lks_ask_rows[i], route->body != NULL ? route->body : route->query);
    }
}

static const struct lks_test tests[] = {
    {"every route has a command", test_every_route_has_a_command},
    {"every row is of a route", test_every_row_is_of_a_route},
    {"requests are the routes they are named for", test_requests_are_the_routes_they_are_named_for},
    {"requests send what their routes take", test_requests_send_what_their_routes_take},
    {NULL, NULL},
};

int main(void)
{
    return lks_test_main(tests);
}
