/* Requests that are refused: one line names the member, what it was and what it should be. */
#include "codec/format/json.h"
#include "server/api/routes.h"
#include "server/call/call.h"
#include "server/form/asks.h"
#include "server/form/forms.h"
#include "tests/test.h"

#include <stdio.h>

enum { TEXT_MAX = 4096 };

static const struct lks_route *route_called(const char *id)
{
    for (size_t i = 0; i < lks_route_count; i++) {
        if (strcmp(lks_routes[i].id, id) == 0)
            return &lks_routes[i];
    }
    return NULL;
}

/* Read `text` as the body of a call. */
static struct lks_call *post(const struct lks_route *route, const char *text)
{
    struct lks_call *call = lks_call_new(NULL);
    LKS_ASSERT(call != NULL && route != NULL);
    call->route = route;
    lks_buf_add(&call->bytes, lks_str_from(text));
    call->failed.code = lks_call_read(call, &call->failed);
    return call;
}

/* The same as a query with one parameter. */
static struct lks_call *get(const struct lks_route *route, const char *name, const char *value)
{
    struct lks_call *call = lks_call_new(NULL);
    LKS_ASSERT(call != NULL && route != NULL);
    call->route = route;
    CHECK_CODE(lks_docs_init(&call->asked, "query", &call->failed), LKS_OK);
    struct lks_doc *map = lks_doc_add(&call->asked, NULL, LKS_DOC_MAP);
    CHECK(map != NULL && lks_call_query_add(call, map, name, value));
    call->failed.code = lks_call_query_take(call, map, &call->failed);
    return call;
}

static void check_refused(struct lks_call *call, const char *line)
{
    CHECK_CODE(call->failed.code, LKS_E_INVALID);
    CHECK_STR(lks_str_from(call->failed.msg), line);
    CHECK(call->ask == NULL);
    lks_call_free(call);
}

static const struct {
    const char *route, *text, *line;
} bodies[] = {
    {"releaseNode", "[]", "body: expected Release as a map, found a list of 0"},
    {"releaseNode", "{}", "body: Release needs 'reason': why, for the journal"},
    {"releaseNode", "{\"reason\":7}",
     "body: reason: expected text, found the number 7; put it in quotes"},
    {"releaseNode", "{\"reason\":1.5}",
     "body: reason: expected text, found the number 1.5; put it in quotes"},
    {"releaseNode", "{\"reason\":null}",
     "body: reason: nothing is written here; leave the key out or give it a value"},
    {"releaseNode", "{\"reason\":\" \"}", "body: reason: expected text, found an empty text"},
    {"releaseNode", "{\"reason\":\"a\",\"force\":\"yes\"}",
     "body: force: expected true or false, found 'yes'"},
    {"releaseNode", "{\"reason\":\"a\",\"force\":\"true\"}",
     "body: force: expected true or false, found 'true'; write it without quotes"},
    {"releaseNode", "{\"reason\":\"a\",\"forced\":true}",
     "body: forced: unknown key; did you mean 'force'?"},
    {"releaseNode", "{\"reason\":\"a\",\"until\":true}",
     "body: until: unknown key; Release takes reason, force"},
    {"enrollNode", "{\"ttl_seconds\":1e9}",
     "body: ttl_seconds: 1000000000.0 has a fraction or an exponent; write a whole number from 1 "
     "to 315360000"},
    {"enrollNode", "{\"ttl_seconds\":0.5}",
     "body: ttl_seconds: 0.5 has a fraction or an exponent; write a whole number from 1 to "
     "315360000"},
    {"enrollNode", "{\"ttl_seconds\":0}", "body: ttl_seconds: 0 is not between 1 and 315360000"},
    {"enrollNode", "{\"ttl_seconds\":9007199254740993}",
     "body: ttl_seconds: 9007199254740993 is not between 1 and 315360000"},
    {"enrollNode", "{\"ttl_seconds\":\"60\"}",
     "body: ttl_seconds: expected a whole number from 1 to 315360000, found '60'; write 60, "
     "without "
     "quotes"},
    {"enrollNode", "{\"ttl_seconds\":\"1h\"}",
     "body: ttl_seconds: expected a whole number from 1 to 315360000, found '1h'"},
    {"commandNode", "{\"executor\":\"Reboot\",\"reason\":\"a\"}",
     "body: executor: 'Reboot' is not a name: lower-case letters, digits, '.', '-', '_'"},
    {"commandNode", "{\"digests\":\"sha256:00\"}",
     "body: digests: expected a list, found 'sha256:00'"},
    {"commandNode", "{\"digests\":[\"sha256:00\"]}",
     "body: digests[1]: 'sha256:00' is not a digest: sha256: and 64 lower-case hexadecimal "
     "digits"},
    {"nodeCondition", "{\"condition\":\"sick\"}",
     "body: condition: no such value 'sick'; one of: unhealthy, changing, attested, checked"},
    {"nodeCondition", "{\"condition\":true}",
     "body: condition: expected one of unhealthy, changing, attested, checked, found true"},
    {"nodeCondition", "{\"until\":\"tomorrow\"}",
     "body: until: 'tomorrow' is not a moment such as 2026-11-15T03:37:00Z"},
    {"nodeCondition", "{\"until\":1794700800}",
     "body: until: expected a moment, found the number 1794700800; put it in quotes"},
    {"admit", "{\"images\":[{\"ref\":\"a\"},{\"ranks\":\"0\"}]}",
     "body: images[2]: JobImage needs 'ref': registry/name:tag, or with @sha256:..."},
    {"admit", "{\"images\":[{\"ref\":7}]}",
     "body: images[1].ref: expected text, found the number 7; put it in quotes"},
    {"enroll", "{\"request\":7}", "body: request: expected text, found the number 7"},
};

static void test_bodies(void)
{
    for (size_t i = 0; i < LKS_COUNT(bodies); i++) {
        lks_test_case("%s", bodies[i].text);
        check_refused(post(route_called(bodies[i].route), bodies[i].text), bodies[i].line);
    }
}

static const struct {
    const char *route, *name, *value, *line;
} queries[] = {
    {"nodes", "limit", "many",
     "query: limit: expected a whole number from 1 to 1000, found 'many'"},
    {"nodes", "limit", "0x10",
     "query: limit: expected a whole number from 1 to 1000, found '0x10'; write 16"},
    {"nodes", "limit", "0", "query: limit: 0 is not between 1 and 1000"},
    {"nodes", "limit", "99999999999999999999",
     "query: limit: expected a whole number from 1 to 1000, found '99999999999999999999'"},
    {"nodes", "held", "yes", "query: held: expected true or false, found 'yes'"},
    {"nodes", "judged", "good",
     "query: judged: no such value 'good'; one of: unjudged, conforms, drift, unmeasured, "
     "deviation"},
    {"nodes", "component", "Driver",
     "query: component: 'Driver' is not a component: a name, or firmware/NAME"},
    {"nodes", "pool", "", "query: pool: expected text, found an empty text"},
    {"alarms", "colour", "red",
     "query: colour: unknown key; AlarmsQuery takes limit, after, sort, open, kind"},
    {"nodeAt", "time", "yesterday",
     "query: time: 'yesterday' is not a moment such as 2026-11-15T03:37:00Z"},
    {"fleet", "limit", "1", "query: limit: unknown key; this request takes no parameters"},
};

static void test_queries(void)
{
    for (size_t i = 0; i < LKS_COUNT(queries); i++) {
        lks_test_case("%s=%s", queries[i].name, queries[i].value);
        check_refused(get(route_called(queries[i].route), queries[i].name, queries[i].value),
                      queries[i].line);
    }
}

/* A value of each kind, and how a line that refuses it shows it. */
static const struct {
    const char *json, *shown;
} wrong[] = {
    {"null", "nothing is written here"},
    {"true", "found true"},
    {"-7", "-7"},
    {"1.5", "1.5"},
    {"1e9", "1000000000.0"},
    {"\"\"", "an empty text"},
    {"\"No such-thing\"", "'No such-thing'"},
    {"[]", "a list of 0"},
    {"[1,2]", "a list of 2"},
    {"{}", "found a map"},
};

/* Whether the value at `at` is one that a field takes. */
static bool takes(const struct lks_shape *shape, size_t at)
{
    enum lks_type type = shape->type;
    bool text = wrong[at].json[0] == '"', list = wrong[at].json[0] == '[';
    if (text && wrong[at].json[1] != '"')
        return type == LKS_TYPE_TEXT || type == LKS_TYPE_LINES;
    return (type == LKS_TYPE_BOOL && strcmp(wrong[at].json, "true") == 0) ||
           (type == LKS_TYPE_LIST && list);
}

static void check_member(const struct lks_route *route, const struct lks_field *field, size_t at)
{
    char text[TEXT_MAX], start[TEXT_MAX];
    bool one = field->shape.type == LKS_TYPE_CHOICE && wrong[at].json[0] == '[';
    snprintf(text, sizeof(text), "{\"%s\":%s}", field->key, wrong[at].json);
    snprintf(start, sizeof(start), "body: %s: ", field->key);
    lks_test_case("%s: %s", route->id, text);
    struct lks_call *call = post(route, text);
    struct lks_str line = lks_str_from(call->failed.msg);
    CHECK_CODE(call->failed.code, LKS_E_INVALID);
    CHECK(lks_str_starts(line, start) && lks_str_printable(line));
    CHECK_HAS(line, one ? "not a list of" : wrong[at].shown);
    lks_call_free(call);
}

/* Every member of every body, with a value of each kind that it does not take. */
static void test_members(void)
{
    size_t lines = 0;
    for (size_t i = 0; i < lks_route_count; i++) {
        const struct lks_form *form = lks_routes[i].body;
        for (size_t f = 0; form != NULL && f < form->count; f++) {
            for (size_t at = 0; at < LKS_COUNT(wrong); at++) {
                if (takes(&form->fields[f].shape, at))
                    continue;
                check_member(&lks_routes[i], &form->fields[f], at);
                lines++;
            }
        }
    }
    CHECK(lines > 1000);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"requests: bodies that are refused", test_bodies},
        {"requests: queries that are refused", test_queries},
        {"requests: every member with values of other kinds", test_members},
        {0},
    };
    return lks_test_main(tests);
}
