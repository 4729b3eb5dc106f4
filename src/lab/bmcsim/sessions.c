#include "codec/format/base64.h"
#include "lab/bmcsim/parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The least where devices are fast: those who ask them are not, and rest between requests. */
#define LEAST (30 * LKS_SECOND)

static lks_ms lasts(const struct lks_bmcsim *b)
{
    const struct lks_bmcsim_trouble *t = lks_bmcsim_fault_trouble_on(b, LKS_FAULT_SESSION, NULL);
    if (t != NULL)
        return t->amount;
    lks_ms fast = lks_bmcsim_span(b, b->kind->session_seconds);
    return fast > LEAST ? fast : LEAST;
}

/* Sessions end when they were not used for a while; with the fault, whether used or not. */
static void expire(struct lks_bmcsim *b)
{
    bool fault = lks_bmcsim_fault_trouble_on(b, LKS_FAULT_SESSION, NULL) != NULL;
    lks_ms limit = lasts(b);
    size_t kept = 0;
    for (size_t i = 0; i < b->session_count; i++) {
        const struct lks_bmcsim_session *s = &b->sessions[i];
        lks_ms since = fault ? s->opened : s->used;
        if (b->now < since + limit)
            b->sessions[kept++] = b->sessions[i];
    }
    b->session_count = kept;
}

bool lks_bmcsim_session_token_good(struct lks_bmcsim *b, struct lks_str token)
{
    expire(b);
    for (size_t i = 0; i < b->session_count; i++) {
        if (lks_str_is(token, b->sessions[i].token)) {
            b->sessions[i].used = b->now;
            return true;
        }
    }
    return false;
}

static bool basic_good(struct lks_bmcsim *b, struct lks_str value)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(1024);
    struct lks_str scheme, encoded, user, password;
    struct lks_err err;
    if (!lks_str_cut(value, ' ', &scheme, &encoded) ||
        !lks_str_eq_nocase(scheme, LKS_STR("basic")) ||
        lks_base64_read(lks_str_trim(encoded), &text, &err) != LKS_OK)
        return false;
    return lks_str_cut(lks_buf_view(&text), ':', &user, &password) && lks_str_is(user, b->user) &&
           lks_str_is(password, b->password);
}

bool lks_bmcsim_session_allowed(struct lks_bmcsim_call *c)
{
    struct lks_str token = lks_http_header(c->request->head, "x-auth-token");
    struct lks_str basic = lks_http_header(c->request->head, "authorization");
    if (token.len > 0 ? lks_bmcsim_session_token_good(c->b, token) : basic_good(c->b, basic))
        return true;
    lks_bmcsim_reply_header(c, "WWW-Authenticate", "Basic realm=\"management\"");
    lks_bmcsim_reply_error(c, 401, LKS_MSG_NO_SESSION, NULL, NULL);
    return false;
}

static struct lks_bmcsim_session *open_one(struct lks_bmcsim *b)
{
    if (b->sessions == NULL)
        b->sessions = calloc(LKS_BMCSIM_SESSIONS_MAX, sizeof(*b->sessions));
    if (b->sessions == NULL)
        return NULL;
    struct lks_bmcsim_session *s = &b->sessions[b->session_count++];
    *s = (struct lks_bmcsim_session){.number = ++b->last_session, .used = b->now, .opened = b->now};
    (void)snprintf(s->token, sizeof(s->token), "%016" PRIx64 "%016" PRIx64, lks_rng_next(&b->rng),
                   lks_rng_next(&b->rng));
    return s;
}

void lks_bmcsim_session_open(struct lks_bmcsim_call *c)
{
    struct lks_bmcsim *b = c->b;
    const struct lks_bmcsim_trouble *none =
        lks_bmcsim_fault_trouble(b, LKS_FAULT_NO_SESSIONS, NULL);
    expire(b);
    if (none != NULL)
        lks_bmcsim_reply_error(c, (int)(none->amount >= 400 ? none->amount : 404),
                               LKS_MSG_NOT_FOUND, "Sessions", "asked for");
    else if (lks_doc_member(c->body, "UserName") == NULL ||
             lks_doc_member(c->body, "Password") == NULL)
        lks_bmcsim_reply_error(
            c, 400, LKS_MSG_PROPERTY_MISSING,
            lks_doc_member(c->body, "UserName") == NULL ? "UserName" : "Password", NULL);
    else if (!lks_str_is(lks_doc_text(c->body, "UserName"), b->user) ||
             !lks_str_is(lks_doc_text(c->body, "Password"), b->password))
        lks_bmcsim_reply_error(c, 401, LKS_MSG_NO_SESSION, NULL, NULL);
    else if (b->session_count >= b->kind->sessions)
        lks_bmcsim_reply_error(c, 503, LKS_MSG_SESSION_LIMIT, NULL, NULL);
    else {
        const struct lks_bmcsim_session *s = open_one(b);
        if (s == NULL) {
            lks_bmcsim_reply_error(c, 500, LKS_MSG_INTERNAL, NULL, NULL);
            return;
        }
        lks_bmcsim_reply_header(c, "X-Auth-Token", "%s", s->token);
        char path[LKS_BMCSIM_PATH_SIZE];
        (void)snprintf(path, sizeof(path), "/redfish/v1/SessionService/Sessions/%u", s->number);
        lks_bmcsim_reply_header(c, "Location", "%s", path);
        (void)lks_bmcsim_route_render(b, lks_str_from(path), 0, &c->reply->body);
        c->reply->status = 201;
    }
}

static struct lks_bmcsim_session *find(struct lks_bmcsim *b, struct lks_str id)
{
    expire(b);
    uint64_t number;
    if (!lks_str_number(id, UINT32_MAX, &number))
        return NULL;
    for (size_t i = 0; i < b->session_count; i++)
        if (b->sessions[i].number == number)
            return &b->sessions[i];
    return NULL;
}

void lks_bmcsim_session_close(struct lks_bmcsim_call *c)
{
    struct lks_bmcsim_session *s = find(c->b, c->arg[0]);
    if (s == NULL) {
        lks_bmcsim_reply_error(c, 404, LKS_MSG_NOT_FOUND, "Session", "asked for");
        return;
    }
    *s = c->b->sessions[--c->b->session_count];
    lks_bmcsim_reply_success(c, 204);
}

bool lks_bmcsim_session_get_service(struct lks_bmcsim_call *c)
{
    lks_bmcsim_reply_head(c, "SessionService.v1_1_8.SessionService", "SessionService",
                          "Session service");
    lks_json_write(&c->w,
                   LKS_BMCSIM_ENABLED
                   ", 'ServiceEnabled': true, 'SessionTimeout': %u, "
                   "'Sessions': {'@odata.id': '/redfish/v1/SessionService/Sessions'}",
                   c->b->kind->session_seconds);
    return true;
}

bool lks_bmcsim_session_get_all(struct lks_bmcsim_call *c)
{
    expire(c->b);
    lks_bmcsim_reply_collection(c, "Session", "Sessions");
    for (size_t i = 0; i < c->b->session_count; i++)
        lks_bmcsim_reply_member(c, "/redfish/v1/SessionService/Sessions/%u",
                                c->b->sessions[i].number);
    lks_bmcsim_reply_collection_end(c, c->b->session_count);
    return true;
}

bool lks_bmcsim_session_get(struct lks_bmcsim_call *c)
{
    const struct lks_bmcsim_session *s = find(c->b, c->arg[0]);
    if (s == NULL)
        return false;
    char id[16], when[LKS_TIME_TEXT_SIZE];
    (void)snprintf(id, sizeof(id), "%u", s->number);
    lks_bmcsim_reply_head(c, "Session.v1_5_0.Session", id, "Session");
    lks_json_write(&c->w, "'UserName': '%s', 'CreatedTime': '%s'", c->b->user,
                   lks_time_text(s->opened, when));
    return true;
}

bool lks_bmcsim_session_get_account_service(struct lks_bmcsim_call *c)
{
    lks_bmcsim_reply_head(c, "AccountService.v1_12_0.AccountService", "AccountService",
                          "Account service");
    lks_json_write(&c->w, LKS_BMCSIM_ENABLED
                   ", 'ServiceEnabled': true, 'MinPasswordLength': 8, "
                   "'Accounts': {'@odata.id': '/redfish/v1/AccountService/Accounts'}, "
                   "'Roles': {'@odata.id': '/redfish/v1/AccountService/Roles'}");
    return true;
}

bool lks_bmcsim_session_get_accounts(struct lks_bmcsim_call *c)
{
    lks_bmcsim_reply_collection(c, "ManagerAccount", "Accounts");
    lks_bmcsim_reply_member(c, "/redfish/v1/AccountService/Accounts/1");
    lks_bmcsim_reply_collection_end(c, 1);
    return true;
}

bool lks_bmcsim_session_get_account(struct lks_bmcsim_call *c)
{
    if (!lks_str_is(c->arg[0], "1"))
        return false;
    lks_bmcsim_reply_head(c, "ManagerAccount.v1_9_0.ManagerAccount", "1", "Account");
    lks_json_write(&c->w,
                   "'UserName': '%s', 'Password': null, 'RoleId': 'Administrator', "
                   "'Enabled': true, 'Locked': false, 'AccountTypes': ['Redfish'], 'Links': "
                   "{'Role': {'@odata.id': '/redfish/v1/AccountService/Roles/Administrator'}}",
                   c->b->user);
    return true;
}

/* The roles that the specification predefines. */
static const struct role {
    const char *id;
    const char *const *privileges;
} roles[] = {
    {"Administrator", (const char *const[]){"Login", "ConfigureManager", "ConfigureUsers",
                                            "ConfigureSelf", "ConfigureComponents", NULL}},
    {"Operator", (const char *const[]){"Login", "ConfigureComponents", "ConfigureSelf", NULL}},
    {"ReadOnly", (const char *const[]){"Login", "ConfigureSelf", NULL}},
};

bool lks_bmcsim_session_get_roles(struct lks_bmcsim_call *c)
{
    lks_bmcsim_reply_collection(c, "Role", "Roles");
    for (size_t i = 0; i < LKS_COUNT(roles); i++)
        lks_bmcsim_reply_member(c, "/redfish/v1/AccountService/Roles/%s", roles[i].id);
    lks_bmcsim_reply_collection_end(c, LKS_COUNT(roles));
    return true;
}

bool lks_bmcsim_session_get_role(struct lks_bmcsim_call *c)
{
    for (size_t i = 0; i < LKS_COUNT(roles); i++) {
        if (!lks_str_is(c->arg[0], roles[i].id))
            continue;
        lks_bmcsim_reply_head(c, "Role.v1_3_1.Role", roles[i].id, "Role");
        lks_json_write(&c->w, "'RoleId': '%s', 'IsPredefined': true", roles[i].id);
        lks_bmcsim_reply_texts(&c->w, "AssignedPrivileges", roles[i].privileges);
        return true;
    }
    return false;
}
