#include "server/call/depot_ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void copy_header(char *out, size_t size, const char *value)
{
    size_t len = value != NULL ? strlen(value) : 0;
    snprintf(out, size, "%s", len < size ? (value != NULL ? value : "") : "?");
}

struct lks_depot_ask *lks_depot_ask_new(const struct lks_httpd_exchange *x,
                                        const struct lks_httpd_request *request)
{
    struct lks_depot_ask *ask = calloc(1, sizeof(*ask));
    if (ask == NULL)
        return NULL;
    copy_header(ask->want, sizeof(ask->want), lks_httpd_header(x, "Range"));
    copy_header(ask->if_range, sizeof(ask->if_range), lks_httpd_header(x, "If-Range"));
    copy_header(ask->if_none_match, sizeof(ask->if_none_match),
                lks_httpd_header(x, "If-None-Match"));
    copy_header(ask->content, sizeof(ask->content), lks_httpd_header(x, "Content-Range"));
    ask->length = request->length;
    return ask;
}

void lks_depot_ask_free(struct lks_depot_ask *ask)
{
    if (ask != NULL)
        free(ask->recorded);
    free(ask);
}
