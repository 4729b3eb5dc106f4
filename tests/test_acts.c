/* Every route has a command, or a written reason for having none. */
#include "cli/control/acts.h"
#include "cli/shared/ask.h"
#include "cli/shared/cli.h"
#include "server/api/routes.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 256 };

static const struct lks_act *act_of(const char *route)
{
    for (size_t i = 0; i < lks_act_count; i++) {
        if (strcmp(lks_acts[i].route, route) == 0)
            return &lks_acts[i];
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
        if (lks_routes[i].listener != LKS_LISTENER_PEOPLE)
            continue; /* no person has a certificate of an agent or of an API server */
        const struct lks_act *act = act_of(lks_routes[i].id);
        if (!CHECK(act != NULL))
            continue;
        CHECK((act->command == NULL) != (act->reason == NULL));
        CHECK(act->command == NULL || command_called(act->command) != NULL);
    }
}

static void test_every_row_is_of_a_route(void)
{
    for (size_t i = 0; i < lks_act_count; i++) {
        bool found = false;
        lks_test_case("%s", lks_acts[i].route);
        CHECK(act_of(lks_acts[i].route) == &lks_acts[i]);
        for (size_t r = 0; r < lks_route_count && !found; r++)
            found = strcmp(lks_routes[r].id, lks_acts[i].route) == 0;
        CHECK(found);
    }
}

static bool writes(const char *id)
{
    for (size_t i = 0; i < lks_route_count; i++) {
        if (strcmp(lks_routes[i].id, id) == 0)
            return strcmp(lks_routes[i].method, "GET") != 0;
    }
    return false;
}

/* Of a command that reads and writes, the question whether a person may use it is about a write. */
static void test_the_first_row_is_what_a_command_is_for(void)
{
    for (size_t i = 0; i < lks_act_count; i++) {
        const char *command = lks_acts[i].command;
        if (command == NULL)
            continue;
        lks_test_case("%s: %s", command, lks_acts[i].route);
        CHECK(!writes(lks_acts[i].route) || writes(lks_acts_of_command(command)->route));
    }
}

/* Commands that write and keep no reason. */
static const struct {
    const char *command, *why;
} silent[] = {
    {"admit", "--override is the reason; without it a scheduler asks"},
    {"backup", "a copy changes nothing"},
    {"login", "a person gets a credential of their own"},
    {"logout", "a person ends a credential of their own"},
    {"access renew", "a person renews a credential of their own"},
    {"rehearse", "a forecast is no act on the fleet"},
    {"artifact put", "no record but its digest and name; a bundle gives it meaning"},
    {"artifact collect", "lockstepd does it by itself once a day"},
    {"sweep lease", "programs read endpoints again and again"},
    {"sweep put", "programs read endpoints again and again"},
};

static bool has_option(const struct lks_command *command, const char *name)
{
    for (const struct lks_option *o = command->options; o != NULL && o->usage != NULL; o++) {
        if (lks_str_is(lks_args_name(o), name))
            return true;
    }
    return false;
}

static void test_every_act_takes_a_reason(void)
{
    size_t used = 0;
    for (size_t i = 0; i < lks_command_count; i++) {
        const struct lks_act *act = lks_acts_of_command(lks_commands[i].name);
        bool is_silent = false;
        if (act == NULL || !writes(act->route))
            continue;
        lks_test_case("%s", lks_commands[i].name);
        for (size_t s = 0; s < LKS_COUNT(silent); s++)
            is_silent |= strcmp(silent[s].command, lks_commands[i].name) == 0;
        bool gives = has_option(&lks_commands[i], "--reason") ||
                     has_option(&lks_commands[i], "--evidence"); /* of a stack's stage */
        used += is_silent;
        CHECK(gives != is_silent);
    }
    CHECK_INT(used, LKS_COUNT(silent));
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
        const struct lks_act *act = act_of(route->id);
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
    {"every act takes a reason", test_every_act_takes_a_reason},
    {"the first row is what a command is for", test_the_first_row_is_what_a_command_is_for},
    {"requests are the routes they are named for", test_requests_are_the_routes_they_are_named_for},
    {"requests send what their routes take", test_requests_send_what_their_routes_take},
    {NULL, NULL},
};

int main(void)
{
    return lks_test_main(tests);
}
