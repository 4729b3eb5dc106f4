#include "lab/bmcd/recorded.h"

#include "base/file.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#define ROOT     "/redfish/v1"
#define SESSIONS "/redfish/v1/SessionService/Sessions"
#define TYPE     "application/json"
#define FILE_MAX ((size_t)16 << 20)

enum lks_code lks_recorded_check(const char *dir, struct lks_err *err)
{
    char path[PATH_MAX];
    int len = snprintf(path, sizeof(path), "%s" ROOT "/index.json", dir);
    if (len < 0 || (size_t)len >= sizeof(path) || access(path, R_OK) != 0)
        return lks_fail(err, LKS_E_INVALID,
                        "--tree: %s: no recorded tree, for it has no " ROOT "/index.json", dir);
    return LKS_OK;
}

static void fail(struct lks_bmcsim_reply *out, int status, const char *key, const char *text)
{
    out->status = status;
    out->type = TYPE;
    lks_buf_addf(&out->body,
                 "{\"error\":{\"code\":\"Base.1.15.%s\",\"message\":\"%s\",\"@Message.ExtendedInfo"
                 "\":[{\"MessageId\":\"Base.1.15.%s\",\"Message\":\"%s\"}]}}",
                 key, text, key, text);
}

/* A path as a place in the tree, never outside of it. */
static bool place_of(const char *dir, struct lks_str path, char out[PATH_MAX])
{
    struct lks_str ignored;
    lks_str_cut(path, '?', &path, &ignored);
    while (path.len > 1 && path.ptr[path.len - 1] == '/')
        path.len--;
    if (!lks_str_starts(path, "/redfish") || lks_str_find(path, LKS_STR("/.")) >= 0 ||
        memchr(path.ptr, '\0', path.len) != NULL)
        return false;
    int len = snprintf(out, PATH_MAX, "%s%" LKS_STR_FMT "/index.json", dir, LKS_STR_ARG(path));
    return len > 0 && len < PATH_MAX;
}

static void show(const char *dir, struct lks_str path, struct lks_bmcsim_reply *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(FILE_MAX);
    char place[PATH_MAX];
    struct lks_err err = {0};
    if (!place_of(dir, path, place) || lks_file_read_plain(place, &text, &err) != LKS_OK) {
        fail(out, 404, "ResourceMissingAtURI", "The tree has nothing there.");
        return;
    }
    out->status = 200;
    out->type = TYPE;
    lks_buf_fini(&out->body);
    out->body = LKS_MOVE(text);
}

static void log_in(struct lks_bmcsim_reply *out)
{
    out->status = 201;
    out->type = TYPE;
    lks_buf_addf(&out->head, "Location: " SESSIONS "/1\r\nX-Auth-Token: recorded\r\n");
    lks_buf_addf(&out->body, "{\"@odata.id\":\"" SESSIONS "/1\",\"@odata.type\":"
                             "\"#Session.v1_7_0.Session\",\"Id\":\"1\",\"Name\":\"Session\"}");
}

void lks_recorded_ask(const char *dir, const struct lks_bmcsim_request *request,
                      struct lks_bmcsim_reply *out)
{
    bool session = lks_str_starts(request->path, SESSIONS);
    if (strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0)
        show(dir, request->path, out);
    else if (session && strcmp(request->method, "POST") == 0)
        log_in(out);
    else if (session && strcmp(request->method, "DELETE") == 0)
        out->status = 204;
    else
        fail(out, 405, "OperationNotAllowed", "A recorded tree can only be read.");
}
