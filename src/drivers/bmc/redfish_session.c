/* Sessions, and the answers that mean the same at every step. */
#include "codec/format/json.h"
#include "core/firmware/firmware_names.h"
#include "drivers/bmc/redfish.h"

#include <stdio.h>

#define LOGIN_AGAIN (2 * LKS_SECOND)

bool lks_redfish_keep(char *out, size_t size, struct lks_str value)
{
    bool fits = value.len < size;
    snprintf(out, size, "%" LKS_STR_FMT, fits ? (int)value.len : 0, value.ptr);
    return fits && value.len > 0;
}

void lks_redfish_begin(struct lks_redfish *r, const struct lks_bmc_secret *secret, lks_ms deadline)
{
    *r = (struct lks_redfish){.head = {.deadline = deadline}, .secret = *secret};
    lks_redfish_keep(r->root, sizeof(r->root), LKS_STR("/redfish/v1/"));
}

/* Requests ---------------------------------------------------------------------------------- */

void lks_redfish_ask(const struct lks_redfish *r, const char *method, struct lks_str path,
                     struct lks_http_request *out)
{
    out->method = method;
    lks_buf_add(&out->path, path);
    lks_http_request_header(out, "Accept", "application/json");
    lks_http_request_header(out, "OData-Version", "4.0");
    if (r->secret.token[0] != '\0')
        lks_http_request_header(out, "X-Auth-Token", "%s", r->secret.token);
    else if (r->basic)
        lks_http_request_basic(out, r->secret.user, r->secret.password);
}

void lks_redfish_ask_json(const struct lks_redfish *r, const char *method, struct lks_str path,
                          struct lks_http_request *out)
{
    lks_redfish_ask(r, method, path, out);
    lks_http_request_header(out, "Content-Type", "application/json");
}

void lks_redfish_ask_expanded(const struct lks_redfish *r, struct lks_str path,
                              struct lks_http_request *out)
{
    static const char *const queries[] = {
        [LKS_EXPAND_NOT] = "",
        [LKS_EXPAND_DOT] = "$expand=.",
        [LKS_EXPAND_LEVELS] = "$expand=.($levels=1)",
        [LKS_EXPAND_ALL] = "$expand=*",
    };
    lks_redfish_ask(r, "GET", path, out);
    if (r->expand != LKS_EXPAND_NOT)
        lks_buf_addf(&out->path, "%c%s", lks_str_find(path, LKS_STR("?")) >= 0 ? '&' : '?',
                     queries[r->expand]);
}

bool lks_redfish_wants_login(const struct lks_redfish *r)
{
    return r->has_root && !r->basic && r->secret.token[0] == '\0' && r->secret.user[0] != '\0';
}

void lks_redfish_ask_login(const struct lks_redfish *r, struct lks_http_request *out)
{
    lks_redfish_ask_json(r, "POST", lks_str_from(r->sessions), out);
    struct lks_json_writer w = {.out = &out->body};
    lks_json_begin(&w, NULL, '{');
    lks_json_cstr(&w, "UserName", r->secret.user);
    lks_json_cstr(&w, "Password", r->secret.password);
    lks_json_end(&w, '}');
}

void lks_redfish_finish(struct lks_redfish *r, lks_ms now, uint32_t logout)
{
    if (r->secret.keep || r->session[0] == '\0' || r->secret.token[0] == '\0') {
        lks_conversation_end(&r->head);
        return;
    }
    r->failed = r->head.err;
    r->head.err = (struct lks_err){0};
    r->head.ended = false;
    lks_conversation_go(&r->head, logout, now);
}

void lks_redfish_ask_logout(const struct lks_redfish *r, struct lks_http_request *out)
{
    lks_redfish_ask(r, "DELETE", lks_str_from(r->session), out);
}

void lks_redfish_hear_logout(struct lks_redfish *r)
{
    r->secret.token[0] = r->session[0] = '\0';
    r->head.err = r->failed;
    lks_conversation_end(&r->head);
}

/* Answers ----------------------------------------------------------------------------------- */

/* Where the session is, so that it can be closed: the header, or else what the body calls it. */
static void keep_session(struct lks_redfish *r, const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_str at = lks_http_response_location(answer);
    if (at.len == 0)
        at = lks_bmc_json_path(lks_redfish_read(answer, &docs), "@odata.id");
    lks_redfish_keep(r->session, sizeof(r->session), at);
}

/* Only a service that has no sessions gets the password with each request; one that refuses the
 * password does not. */
static bool no_sessions(int status)
{
    return status == 404 || status == 405 || status == 501;
}

void lks_redfish_hear_login(struct lks_redfish *r, lks_ms now,
                            const struct lks_http_response *answer)
{
    char why[LKS_REDFISH_TEXT_SIZE];
    int status = answer != NULL ? answer->status : 0;
    struct lks_str token = {"", 0};
    if (answer != NULL && status >= 200 && status < 300)
        token = lks_http_response_header(answer, "x-auth-token");
    r->logins += token.len > 0;
    if (r->logins > LKS_REDFISH_LOGINS_MAX) {
        lks_conversation_fail(&r->head, LKS_E_DENIED,
                              "the service ends each session; %d were opened",
                              LKS_REDFISH_LOGINS_MAX);
    } else if (token.len > 0 && lks_redfish_keep(r->secret.token, sizeof(r->secret.token), token)) {
        keep_session(r, answer);
        lks_conversation_go(&r->head, r->head.step, now);
    } else if (no_sessions(status)) {
        r->basic = true;
        lks_conversation_go(&r->head, r->head.step, now);
    } else if (answer == NULL || status >= 500 || status == 429) {
        lks_conversation_retry(&r->head, now + (LOGIN_AGAIN << r->head.tries));
    } else {
        lks_redfish_error(answer, why);
        lks_conversation_fail(&r->head, LKS_E_DENIED, "no session for user %s: %s", r->secret.user,
                              why);
    }
}

bool lks_redfish_hear_common(struct lks_redfish *r, lks_ms now,
                             const struct lks_http_response *answer)
{
    int status = answer != NULL ? answer->status : 0;
    if (status != 0 && status != 401 && r->secret.token[0] != '\0')
        r->logins = 0; /* this session was of use, however short it was */
    if (status == 429 || status == 503) {
        lks_conversation_retry(&r->head,
                               now + lks_http_response_retry(answer, LKS_SECOND << r->head.tries));
        return true;
    }
    if (status != 401 || !r->has_root)
        return false;
    if (r->basic) {
        lks_conversation_fail(&r->head, LKS_E_DENIED,
                              "the service refuses user %s, or the password", r->secret.user);
        return true;
    }
    if (r->secret.user[0] == '\0') {
        lks_conversation_fail(&r->head, LKS_E_DENIED,
                              r->secret.token[0] != '\0'
                                  ? "the session expired, and there is no user to open another for"
                                  : "the service requires a login, and no credentials are given");
        return true;
    }
    r->secret.token[0] = r->session[0] = '\0';
    lks_conversation_go(&r->head, r->head.step, now);
    return true;
}

bool lks_redfish_moved(struct lks_redfish *r, const struct lks_http_response *answer)
{
    struct lks_str at = lks_http_response_location(answer);
    return answer->status >= 301 && answer->status <= 308 && at.len > 0 &&
           lks_redfish_keep(r->root, sizeof(r->root), at);
}

/* The root ---------------------------------------------------------------------------------- */

static enum lks_redfish_expand offered_expand(const struct lks_doc *root)
{
    const struct lks_doc *query = lks_bmc_json_at(root, "ProtocolFeaturesSupported/ExpandQuery");
    if (lks_bmc_json_true(query, "NoLinks"))
        return lks_bmc_json_true(query, "Levels") ? LKS_EXPAND_LEVELS : LKS_EXPAND_DOT;
    return lks_bmc_json_true(query, "ExpandAll") ? LKS_EXPAND_ALL : LKS_EXPAND_NOT;
}

static void keep_links(struct lks_redfish *r, const struct lks_doc *root)
{
    const struct {
        char *out;
        const char *path;
    } links[] = {
        {r->sessions, "Links/Sessions"},
        {r->update_service, "UpdateService"},
        {r->tasks, "Tasks"},
        {r->systems, "Systems"},
        {r->managers, "Managers"},
        {r->chassis, "Chassis"},
    };
    for (size_t i = 0; i < LKS_COUNT(links); i++)
        lks_redfish_keep(links[i].out, LKS_REDFISH_URI_SIZE,
                         lks_bmc_json_link(root, links[i].path));
}

bool lks_redfish_hear_root(struct lks_redfish *r, const struct lks_doc *root, struct lks_err *err)
{
    const struct lks_doc *oem = lks_bmc_json_at(root, "Oem");
    struct lks_str product = lks_bmc_json_text(root, "Product");
    struct lks_str named = oem != NULL && oem->first != NULL ? oem->first->key : LKS_STR("");
    keep_links(r, root);
    r->expand = offered_expand(root);
    lks_redfish_keep(r->product, sizeof(r->product), product);
    struct lks_str vendor = lks_firmware_vendor(lks_bmc_json_text(root, "Vendor"), product, named);
    lks_redfish_keep(r->vendor, sizeof(r->vendor), vendor);
    if (r->update_service[0] == '\0') {
        (void)!lks_fail(err, LKS_E_INVALID, "the service root names no UpdateService");
        return false;
    }
    /* The address of sessions that every version of the standard gives, for roots that name none.
     */
    if (r->sessions[0] == '\0')
        lks_redfish_keep(r->sessions, sizeof(r->sessions),
                         LKS_STR("/redfish/v1/SessionService/Sessions"));
    r->has_root = true;
    return true;
}
