#include "lab/bmcsim/parts.h"

#include <inttypes.h>
#include <stdio.h>

#define ROOT "/redfish/v1"

struct route {
    const char *path; /* a star is any one segment */
    uint32_t need;    /* flags of the personality */
    lks_bmcsim_get_fn *get;
    lks_bmcsim_act_fn *post, *patch, *del;
    lks_bmcsim_act_fn *answer; /* GET that writes the whole reply itself */
    bool open;                 /* for everyone */
};

static void refuse_account(struct lks_bmcsim_call *c)
{
    lks_bmcsim_reply_error(c, 403, LKS_MSG_NO_PRIVILEGE, NULL, NULL);
}

/* clang-format off */
static const struct route routes[] = {
    {.path = "/redfish", .get = lks_bmcsim_tree_get_versions, .open = true},
    {.path = ROOT, .get = lks_bmcsim_tree_get_root, .open = true},
    {.path = ROOT "/odata", .get = lks_bmcsim_tree_get_odata, .open = true},
    {.path = ROOT "/SessionService", .get = lks_bmcsim_session_get_service},
    {.path = ROOT "/SessionService/Sessions", .get = lks_bmcsim_session_get_all,
     .post = lks_bmcsim_session_open},
    {.path = ROOT "/SessionService/Sessions/Members", .post = lks_bmcsim_session_open},
    {.path = ROOT "/SessionService/Sessions/*", .get = lks_bmcsim_session_get,
     .del = lks_bmcsim_session_close},
    {.path = ROOT "/AccountService", .get = lks_bmcsim_session_get_account_service},
    {.path = ROOT "/AccountService/Accounts", .get = lks_bmcsim_session_get_accounts},
    {.path = ROOT "/AccountService/Accounts/*", .get = lks_bmcsim_session_get_account,
     .del = refuse_account, .patch = refuse_account},
    {.path = ROOT "/AccountService/Roles", .get = lks_bmcsim_session_get_roles},
    {.path = ROOT "/AccountService/Roles/*", .get = lks_bmcsim_session_get_role},
    {.path = ROOT "/Managers", .get = lks_bmcsim_tree_get_managers},
    {.path = ROOT "/Managers/*", .get = lks_bmcsim_tree_get_manager},
    {.path = ROOT "/Managers/*/ResetActionInfo", .need = LKS_HAS_ACTION_INFO,
     .get = lks_bmcsim_tree_get_reset_info},
    {.path = ROOT "/Managers/*/Actions/Manager.Reset", .post = lks_bmcsim_reset_post},
    {.path = ROOT "/Systems", .get = lks_bmcsim_tree_get_systems},
    {.path = ROOT "/Systems/*", .get = lks_bmcsim_tree_get_system,
     .patch = lks_bmcsim_tree_patch_system},
    {.path = ROOT "/Systems/*/Bios", .get = lks_bmcsim_tree_get_bios},
    {.path = ROOT "/Systems/*/ResetActionInfo", .need = LKS_HAS_ACTION_INFO,
     .get = lks_bmcsim_tree_get_reset_info},
    {.path = ROOT "/Systems/*/Actions/ComputerSystem.Reset", .post = lks_bmcsim_reset_post},
    {.path = ROOT "/Chassis", .get = lks_bmcsim_tree_get_chassis_all},
    {.path = ROOT "/Chassis/*", .get = lks_bmcsim_tree_get_chassis},
    {.path = ROOT "/Chassis/*/Actions/Chassis.Reset", .post = lks_bmcsim_reset_post},
    {.path = ROOT "/Chassis/*/PowerSubsystem", .get = lks_bmcsim_tree_get_power_subsystem},
    {.path = ROOT "/Chassis/*/PowerSubsystem/*", .get = lks_bmcsim_tree_get_power_units},
    {.path = ROOT "/Chassis/*/PowerSubsystem/*/*", .get = lks_bmcsim_tree_get_power_unit},
    {.path = ROOT "/UpdateService", .get = lks_bmcsim_tree_get_update_service,
     .patch = lks_bmcsim_upload_patch},
    {.path = ROOT "/UpdateService/FirmwareInventory", .get = lks_bmcsim_inventory_get},
    {.path = ROOT "/UpdateService/FirmwareInventory/*", .get = lks_bmcsim_inventory_get_entry},
    {.path = ROOT "/UpdateService/FirmwareInventory/*/Actions/*", .need = LKS_HAS_BANKS,
     .post = lks_bmcsim_inventory_post_entry},
    {.path = ROOT "/UpdateService/SoftwareInventory", .need = LKS_HAS_SOFTWARE,
     .get = lks_bmcsim_inventory_get_software},
    {.path = ROOT "/UpdateService/Actions/UpdateService.SimpleUpdate", .need = LKS_HAS_SIMPLE,
     .post = lks_bmcsim_upload_post_simple},
    {.path = ROOT "/UpdateService/Actions/UpdateService.StartUpdate", .need = LKS_HAS_START,
     .post = lks_bmcsim_upload_post_start},
    {.path = ROOT "/UpdateService/Actions/UpdateService.Activate", .need = LKS_HAS_ACTIVATE,
     .post = lks_bmcsim_upload_post_activate},
    {.path = ROOT "/TaskService", .get = lks_bmcsim_task_get_service},
    {.path = ROOT "/TaskService/Tasks", .get = lks_bmcsim_task_get_all},
    {.path = ROOT "/TaskService/Tasks/*", .get = lks_bmcsim_task_get,
     .del = lks_bmcsim_task_delete},
    {.path = ROOT "/TaskService/TaskMonitors/*", .answer = lks_bmcsim_task_get_monitor},
    {.path = ROOT "/Registries", .get = lks_bmcsim_message_get_registries},
    {.path = ROOT "/Registries/*", .get = lks_bmcsim_message_get_registry_file},
    {.path = ROOT "/Registries/*/*", .get = lks_bmcsim_message_get_registry},
    {.path = ROOT "/JsonSchemas", .get = lks_bmcsim_tree_get_schemas},
    {.path = ROOT "/JsonSchemas/*", .get = lks_bmcsim_tree_get_schema},
};
/* clang-format on */

static bool fits(const char *pattern, struct lks_str path, struct lks_str arg[3])
{
    struct lks_str rest = lks_str_from(pattern), part, segment;
    unsigned args = 0;
    bool more, longer;
    do {
        more = lks_str_cut(rest, '/', &part, &rest);
        longer = lks_str_cut(path, '/', &segment, &path);
        if (lks_str_is(part, "*")) {
            if (segment.len == 0)
                return false;
            arg[args++] = segment;
        } else if (!lks_str_eq(part, segment)) {
            return false;
        }
    } while (more && longer);
    return more == longer;
}

static const struct route *find(const struct lks_bmcsim *b, struct lks_str path,
                                struct lks_str arg[3])
{
    for (size_t i = 0; i < LKS_COUNT(routes); i++)
        if ((routes[i].need & ~b->kind->flags) == 0 && fits(routes[i].path, path, arg))
            return &routes[i];
    return NULL;
}

bool lks_bmcsim_route_render(struct lks_bmcsim *b, struct lks_str path, unsigned expand,
                             struct lks_buf *out)
{
    struct lks_bmcsim_call c = {.b = b, .path = path, .expand = expand};
    const struct route *route = find(b, path, c.arg);
    if (route == NULL || route->get == NULL)
        return false;
    size_t before = out->len;
    c.w = (struct lks_json_writer){.out = out};
    lks_json_begin(&c.w, NULL, '{');
    if (!route->get(&c)) {
        lks_buf_truncate(out, before);
        return false;
    }
    lks_json_end(&c.w, '}');
    return true;
}

/* FNV-1a of the body: it changes when the resource does. */
void lks_bmcsim_route_tag(const struct lks_bmcsim *b, struct lks_str body, char out[32])
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < body.len; i++)
        hash = (hash ^ (uint8_t)body.ptr[i]) * UINT64_C(0x100000001b3);
    bool weak = (b->kind->flags & LKS_HAS_WEAK_TAGS) != 0;
    (void)snprintf(out, 32, weak ? "W/\"%08" PRIX64 "\"" : "\"%016" PRIx64 "\"",
                   weak ? hash >> 32 : hash);
}

/* Queries that begin with "$" change what is asked for, so one that is not known is refused: false.
 * Others are ignored. `levels`: how deep "$expand=.($levels=2)" and its shorter forms ask. */
static bool read_query(const struct lks_bmcsim_call *c, unsigned *levels)
{
    bool expands = (c->b->kind->flags & LKS_HAS_EXPAND) != 0;
    struct lks_str rest = c->query, one;
    bool more = rest.len > 0;
    *levels = 0;
    while (more) {
        more = lks_str_cut(rest, '&', &one, &rest);
        if (expands && (lks_str_starts(one, "$expand=") || lks_str_starts(one, "%24expand=")))
            *levels = lks_str_find(one, LKS_STR("evels=2")) >= 0 ? 2 : 1;
        else if (lks_str_starts(one, "$") || lks_str_starts(one, "%24"))
            return false;
    }
    return true;
}

/* The type of a resource, as in "Session.v1_5_0.Session"; empty: the body is not one. */
static struct lks_str type_of(struct lks_str body)
{
    struct lks_str head, type = {0}, rest;
    if (lks_str_starts(body, "{\"@odata.type\":\"#")) {
        lks_str_cut(body, '#', &head, &rest);
        lks_str_cut(rest, '"', &type, &rest);
    }
    return type;
}

/* Where the schema of a type is published: the type without its last part. */
static void link_schema(struct lks_bmcsim_call *c, struct lks_str type)
{
    type.len -= lks_str_last(type, '.').len + 1;
    lks_bmcsim_reply_header(
        c, "Link", "<http://redfish.dmtf.org/schemas/v1/%" LKS_STR_FMT ".json>; rel=describedby",
        LKS_STR_ARG(type));
}

static void allow(struct lks_bmcsim_call *c, const struct route *route)
{
    lks_bmcsim_reply_header(
        c, "Allow", "%s%s%s%s", route->get != NULL || route->answer != NULL ? "GET, HEAD" : "POST",
        route->post != NULL && route->get != NULL ? ", POST" : "",
        route->patch != NULL ? ", PATCH" : "", route->del != NULL ? ", DELETE" : "");
}

static void answer_get(struct lks_bmcsim_call *c, const struct route *route, bool head)
{
    struct lks_buf *body = &c->reply->body;
    unsigned levels;
    if (!read_query(c, &levels)) {
        lks_bmcsim_reply_error(c, 501, LKS_MSG_QUERY_UNSUPPORTED, NULL, NULL);
        return;
    }
    if (!lks_bmcsim_route_render(c->b, c->path, levels, body)) {
        char name[LKS_BMCSIM_ID_SIZE];
        (void)snprintf(name, sizeof(name), "%" LKS_STR_FMT,
                       LKS_STR_ARG(lks_str_last(c->path, '/')));
        lks_bmcsim_reply_error(c, 404, LKS_MSG_NOT_FOUND, "Resource", name);
        return;
    }
    char tag[32];
    lks_bmcsim_route_tag(c->b, lks_buf_view(body), tag);
    lks_bmcsim_reply_header(c, "ETag", "%s", tag);
    allow(c, route);
    struct lks_str type = type_of(lks_buf_view(body));
    if (type.len > 0)
        link_schema(c, type);
    c->reply->status =
        lks_str_is(lks_http_header(c->request->head, "if-none-match"), tag) ? 304 : 200;
    if (head || c->reply->status == 304) {
        lks_buf_truncate(body, 0);
        return;
    }
    if (type.len == 0) /* the protocol's own documents have no properties of resources */
        return;
    lks_buf_truncate(body, body->len - 1);
    lks_buf_add(body, LKS_STR(",\"@odata.etag\":"));
    lks_json_string(body, lks_str_from(tag));
    lks_buf_addc(body, '}');
}

/* If-Match is asked for by some, and must be right wherever it is. */
static bool matches(struct lks_bmcsim_call *c, struct lks_str resource)
{
    struct lks_str want = lks_http_header(c->request->head, "if-match");
    if (want.len == 0) {
        if ((c->b->kind->flags & LKS_HAS_MUST_MATCH) == 0)
            return true;
        lks_bmcsim_reply_error(c, 428, LKS_MSG_PRECONDITION_REQUIRED, NULL, NULL);
        return false;
    }
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(LKS_BMCSIM_REPLY_MAX);
    char tag[32];
    if (lks_str_is(want, "*") || !lks_bmcsim_route_render(c->b, resource, 0, &body))
        return true;
    lks_bmcsim_route_tag(c->b, lks_buf_view(&body), tag);
    if (lks_str_is(want, tag))
        return true;
    lks_bmcsim_reply_error(c, 412, LKS_MSG_PRECONDITION_FAILED, NULL, NULL);
    return false;
}

/* The resource that an action belongs to. */
static struct lks_str owner(struct lks_str path)
{
    ptrdiff_t at = lks_str_find(path, LKS_STR("/Actions/"));
    return at < 0 ? path : (struct lks_str){path.ptr, (size_t)at};
}

void lks_bmcsim_route_with_json(struct lks_bmcsim_call *c, lks_bmcsim_act_fn *fn)
{
    struct lks_str type = lks_http_header(c->request->head, "content-type");
    struct lks_str text = c->request->body;
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err;
    if (text.len > 0) {
        if (!lks_str_starts(type, "application/json")) {
            lks_bmcsim_reply_error(c, 415, LKS_MSG_MEDIA_TYPE, "that was sent", NULL);
            return;
        }
        if (text.len > LKS_BMCSIM_JSON_MAX) {
            lks_bmcsim_reply_error(c, 413, LKS_MSG_TOO_LARGE, NULL, NULL);
            return;
        }
        if (lks_docs_init(&docs, "body", &err) != LKS_OK ||
            lks_json_parse(text, &docs, &err) != LKS_OK || docs.first->kind != LKS_DOC_MAP) {
            lks_bmcsim_reply_error(c, 400, LKS_MSG_MALFORMED_JSON, NULL, NULL);
            return;
        }
        c->body = docs.first;
    }
    fn(c);
    c->body = NULL;
}

static void not_allowed(struct lks_bmcsim_call *c, const struct route *route)
{
    allow(c, route);
    lks_bmcsim_reply_error(c, 405, LKS_MSG_NOT_ALLOWED, NULL, NULL);
}

static void dispatch(struct lks_bmcsim_call *c, const struct route *route)
{
    struct lks_str method = lks_str_from(c->request->method);
    bool head = lks_str_is(method, "HEAD");
    if (head || lks_str_is(method, "GET")) {
        if (route->answer != NULL)
            route->answer(c);
        else if (route->get != NULL)
            answer_get(c, route, head);
        else
            not_allowed(c, route);
        return;
    }
    lks_bmcsim_act_fn *fn = lks_str_is(method, "POST")     ? route->post
                            : lks_str_is(method, "PATCH")  ? route->patch
                            : lks_str_is(method, "DELETE") ? route->del
                                                           : NULL;
    if (fn == NULL)
        not_allowed(c, route);
    else if (fn == lks_bmcsim_session_open || lks_str_is(method, "DELETE") ||
             matches(c, owner(c->path)))
        lks_bmcsim_route_with_json(c, fn);
}

void lks_bmcsim_route(struct lks_bmcsim_call *c)
{
    lks_str_cut(c->request->path, '?', &c->path, &c->query);
    while (c->path.len > 1 && c->path.ptr[c->path.len - 1] == '/')
        c->path.len--;
    if (lks_str_is(c->path, "/metrics") && strcmp(c->request->method, "GET") == 0) {
        lks_bmcsim_metrics(c); /* of the machine, and for anybody, as exporters have it */
        return;
    }
    if ((c->b->kind->flags & LKS_HAS_NVUE) != 0) {
        lks_bmcsim_nvue(c);
        return;
    }
    lks_bmcsim_reply_header(c, "OData-Version", "4.0");
    lks_bmcsim_reply_header(c, "Cache-Control", "no-cache");
    struct lks_str version = lks_http_header(c->request->head, "odata-version");
    if (version.len > 0 && !lks_str_is(version, "4.0")) {
        lks_bmcsim_reply_error(c, 412, LKS_MSG_HEADER_INVALID, "OData-Version", NULL);
        return;
    }
    if (lks_str_is(c->path, ROOT "/$metadata")) {
        (void)lks_bmcsim_tree_get_metadata(c);
        return;
    }
    const struct route *route = find(c->b, c->path, c->arg);
    bool form = (c->b->kind->flags & LKS_HAS_FORM) != 0 && lks_str_is(c->path, c->b->kind->push);
    bool login = route != NULL && route->post == lks_bmcsim_session_open &&
                 lks_str_is(lks_str_from(c->request->method), "POST");
    if (!login && !form && (route == NULL || !route->open) && !lks_bmcsim_session_allowed(c))
        return;
    if (lks_bmcsim_upload_other(c))
        return;
    if (route == NULL)
        lks_bmcsim_reply_error(c, 404, LKS_MSG_NOT_FOUND, "Resource", "asked for");
    else
        dispatch(c, route);
}
