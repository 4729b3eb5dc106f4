#include "server/api/routes.h"
#include "server/form/forms.h"

#include <stdio.h>
#include <string.h>

enum { SCHEMA_MAX = 256 * 1024, REF_MAX = 128 };

static void put_ref(struct lks_json_writer *w, const char *key, const char *name)
{
    char ref[REF_MAX];
    snprintf(ref, sizeof(ref), "#/components/schemas/%s", name);
    lks_json_begin(w, key, '{');
    lks_json_cstr(w, "$ref", ref);
    lks_json_end(w, '}');
}

/* "TYPE": {"schema": ...}, the schema by name, or none in particular where there is no form. */
static void put_type(struct lks_json_writer *w, const char *type, const struct lks_form *form)
{
    lks_json_begin(w, type, '{');
    if (form != NULL)
        put_ref(w, "schema", form->name);
    lks_json_end(w, '}');
}

static void put_content(struct lks_json_writer *w, const char *type, const struct lks_form *form)
{
    lks_json_begin(w, "content", '{');
    put_type(w, type, form);
    lks_json_end(w, '}');
}

static void put_parameter(struct lks_json_writer *w, const char *in, struct lks_str name,
                          const struct lks_field *field)
{
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "name", name);
    lks_json_cstr(w, "in", in);
    lks_json_bool(w, "required", field == NULL || (field->flags & LKS_FIELD_REQUIRED) != 0);
    if (field != NULL) {
        lks_json_cstr(w, "description", field->about);
        lks_schema_shape_json(w, "schema", &field->shape);
    } else {
        lks_schema_shape_json(w, "schema", &(struct lks_shape){.type = LKS_TYPE_TEXT});
    }
    lks_json_end(w, '}');
}

static void put_parameters(struct lks_json_writer *w, const struct lks_route *r)
{
    lks_json_begin(w, "parameters", '[');
    for (struct lks_str part, rest = lks_str_from(r->path); lks_str_cut(rest, '{', &part, &rest);) {
        struct lks_str name;
        lks_str_cut(rest, '}', &name, &rest);
        put_parameter(w, "path", name, NULL);
    }
    struct lks_field field;
    for (size_t i = 0; r->query != NULL && lks_schema_at(r->query, i, &field); i++)
        put_parameter(w, "query", lks_str_from(field.key), &field);
    lks_json_end(w, ']');
}

/* Statuses ---------------------------------------------------------------------------------- */

static bool always(const struct lks_route *r)
{
    (void)r;
    return true;
}

static bool is_read(const struct lks_route *r)
{
    return strcmp(r->method, "GET") == 0;
}

static bool by_name(const struct lks_route *r)
{
    return r->permission != LKS_MAY_NOTHING && r->permission != LKS_MAY_REPORT;
}

static bool by_agent(const struct lks_route *r)
{
    return r->permission == LKS_MAY_REPORT;
}

static bool is_login(const struct lks_route *r)
{
    return (r->flags & LKS_ROUTE_LOGIN) != 0;
}

/* Who is known may not everything; and enrolment, logins and tickets have proofs of their own. */
static bool by_right(const struct lks_route *r)
{
    return is_login(r) ||
           (r->permission != LKS_MAY_KNOW && (r->permission != LKS_MAY_NOTHING || !is_read(r)));
}

/* It names something, in its path, its query or its body. */
static bool names(const struct lks_route *r)
{
    return !is_read(r) || is_login(r) || r->query != NULL || strchr(r->path, '{') != NULL;
}

static bool has_etag(const struct lks_route *r)
{
    return (r->flags & (LKS_ROUTE_ETAG | (is_read(r) ? LKS_ROUTE_DEPOT : 0))) != 0;
}

static bool has_ranges(const struct lks_route *r)
{
    return is_read(r) && (r->flags & LKS_ROUTE_DEPOT) != 0;
}

static bool in_parts(const struct lks_route *r)
{
    return (r->flags & LKS_ROUTE_LARGE) != 0;
}

/* Every status that an operation answers with, beside 200: the document has no others, and a test
 * holds answers against it. What breaks inside (500) is a fault, and no part of the interface. */
static const struct told {
    int status;
    bool (*when)(const struct lks_route *r);
    const char *about;
} statuses[] = {
    {202, in_parts, "A part was taken, and more has to come"},
    {206, has_ranges, "The range that was asked for"},
    {304, has_etag, "Nothing changed since the ETag of If-None-Match"},
    {400, always, "The request is not well formed; the detail says what and where"},
    {401, by_name, "The caller has no known identity"},
    {403, by_right, "The caller may not do this, or not here"},
    {404, names, "Something that the request names does not exist"},
    {409, names, "Refused as things are now; the detail says why"},
    {411, in_parts, "The length of the body is missing"},
    {413, names, "More than is taken or given at once"},
    {414, always, "The request's target is too long"},
    {416, has_ranges, "The range is not within the artifact"},
    {422, in_parts, "The uploaded content has another digest"},
    {426, by_agent, "The agent speaks a protocol that is not understood"},
    {429, always, "Too many requests at once; Retry-After says when to try again"},
    {431, always, "The headers are too large"},
    {503, always,
     "The journal cannot be written, no controller leads, or lockstepd ends; try again"},
};

bool lks_openapi_documents(const struct lks_route *r, int status)
{
    for (size_t i = 0; i < LKS_COUNT(statuses); i++) {
        if (statuses[i].status == status)
            return statuses[i].when(r);
    }
    return status == 200;
}

static void put_answer(struct lks_json_writer *w, const struct lks_route *r)
{
    lks_json_begin(w, "content", '{');
    put_type(w, r->answer != NULL ? "application/json" : r->answer_type, r->answer);
    if (r->query == &lks_query_part) /* with `part=1` */
        put_type(w, "application/json", &lks_form_part);
    lks_json_end(w, '}');
}

static void put_responses(struct lks_json_writer *w, const struct lks_route *r)
{
    lks_json_begin(w, "responses", '{');
    lks_json_begin(w, "200", '{');
    lks_json_cstr(w, "description", r->answer != NULL ? r->answer->about : r->about);
    put_answer(w, r);
    lks_json_end(w, '}');
    for (size_t i = 0; i < LKS_COUNT(statuses); i++) {
        char status[8];
        if (!statuses[i].when(r))
            continue;
        snprintf(status, sizeof(status), "%d", statuses[i].status);
        lks_json_begin(w, status, '{');
        lks_json_cstr(w, "description", statuses[i].about);
        if (statuses[i].status >= 400)
            put_content(w, "application/problem+json", &lks_form_problem);
        else if (statuses[i].status < 300)
            put_answer(w, r);
        lks_json_end(w, '}');
    }
    lks_json_end(w, '}');
}

static void put_body(struct lks_json_writer *w, const struct lks_route *r)
{
    if (r->body == NULL && r->body_type == NULL)
        return;
    bool required = r->body == NULL;
    struct lks_field field;
    for (size_t i = 0; r->body != NULL && lks_schema_at(r->body, i, &field); i++)
        required |= (field.flags & LKS_FIELD_REQUIRED) != 0;
    lks_json_begin(w, "requestBody", '{');
    lks_json_bool(w, "required", required);
    put_content(w, r->body != NULL ? "application/json" : r->body_type, r->body);
    lks_json_end(w, '}');
}

static void put_security(struct lks_json_writer *w, const struct lks_route *r)
{
    lks_json_begin(w, "security", '[');
    if (r->permission != LKS_MAY_NOTHING) {
        static const char *const ways[] = {"certificate", "bearer"};
        for (size_t i = 0; i < (r->permission == LKS_MAY_REPORT ? 1 : LKS_COUNT(ways)); i++) {
            lks_json_begin(w, NULL, '{');
            lks_json_begin(w, ways[i], '[');
            lks_json_end(w, ']');
            lks_json_end(w, '}');
        }
    }
    lks_json_end(w, ']');
}

/* The same method at the same path for agents, beside one for people; NULL: none. */
static const struct lks_route *twin_of(const struct lks_route *r)
{
    for (size_t i = 0; i < lks_route_count; i++) {
        const struct lks_route *other = &lks_routes[i];
        if (other->listener != r->listener && strcmp(other->path, r->path) == 0 &&
            strcmp(other->method, r->method) == 0)
            return other;
    }
    return NULL;
}

static void put_operation(struct lks_json_writer *w, const struct lks_route *r)
{
    char method[16];
    snprintf(method, sizeof(method), "%s", r->method);
    for (char *c = method; *c != '\0'; c++)
        *c = (char)(*c - 'A' + 'a');
    lks_json_begin(w, method, '{');
    lks_json_cstr(w, "operationId", r->id);
    lks_json_cstr(w, "summary", r->about);
    lks_json_cstr(w, "x-permission", lks_permission_words[r->permission]);
    lks_json_begin(w, "tags", '[');
    lks_json_cstr(w, NULL, lks_listener_words[r->listener]);
    if (twin_of(r) != NULL)
        lks_json_cstr(w, NULL, "agents");
    lks_json_end(w, ']');
    put_parameters(w, r);
    put_body(w, r);
    put_responses(w, r);
    put_security(w, r);
    lks_json_end(w, '}');
}

static bool path_before(size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (strcmp(lks_routes[i].path, lks_routes[at].path) == 0)
            return true;
    }
    return false;
}

static void put_paths(struct lks_json_writer *w)
{
    lks_json_begin(w, "paths", '{');
    for (size_t i = 0; i < lks_route_count; i++) {
        if (path_before(i))
            continue;
        lks_json_begin(w, lks_routes[i].path, '{');
        for (size_t k = i; k < lks_route_count; k++) {
            const struct lks_route *r = &lks_routes[k];
            bool told = r->listener == LKS_LISTENER_AGENTS && twin_of(r) != NULL;
            if (strcmp(r->path, lks_routes[i].path) == 0 && !told)
                put_operation(w, r);
        }
        lks_json_end(w, '}');
    }
    lks_json_end(w, '}');
}

/* Each form once, however many routes share it. */
static void put_schema(struct lks_json_writer *w, const struct lks_form *form, size_t before)
{
    for (size_t i = 0; form != NULL && i < before; i++) {
        if (lks_routes[i].body == form || lks_routes[i].answer == form)
            return;
    }
    if (form == NULL)
        return;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(SCHEMA_MAX);
    lks_schema_json(form, &json);
    lks_json_raw(w, form->name, lks_buf_view(&json));
}

static void put_components(struct lks_json_writer *w)
{
    lks_json_begin(w, "components", '{');
    lks_json_begin(w, "schemas", '{');
    put_schema(w, &lks_form_problem, 0);
    put_schema(w, &lks_form_part, 0);
    for (size_t i = 0; i < lks_route_count; i++) {
        put_schema(w, lks_routes[i].body, i);
        put_schema(w, lks_routes[i].answer, i);
    }
    lks_json_end(w, '}');
    lks_json_begin(w, "securitySchemes", '{');
    lks_json_begin(w, "bearer", '{');
    lks_json_cstr(w, "type", "http");
    lks_json_cstr(w, "scheme", "bearer");
    lks_json_end(w, '}');
    lks_json_begin(w, "certificate", '{');
    lks_json_cstr(w, "type", "mutualTLS");
    lks_json_end(w, '}');
    lks_json_end(w, '}');
    lks_json_end(w, '}');
}

void lks_openapi_json(const char *version, struct lks_buf *out)
{
    struct lks_json_writer w = {.out = out};
    lks_json_begin(&w, NULL, '{');
    lks_json_cstr(&w, "openapi", "3.1.0");
    lks_json_begin(&w, "info", '{');
    lks_json_cstr(&w, "title", "lockstep");
    lks_json_cstr(&w, "version", version);
    lks_json_cstr(
        &w, "description",
        "The control plane of a fleet. Operations tagged `agents` are served to agents on "
        "their own port, those tagged `people` to people, and those tagged `webhook` to API "
        "servers of Kubernetes, on a port that is off by default.");
    lks_json_end(&w, '}');
    put_paths(&w);
    put_components(&w);
    lks_json_end(&w, '}');
}
