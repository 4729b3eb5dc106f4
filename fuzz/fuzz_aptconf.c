/* Any bytes as a configuration of apt: what is accepted can be written again, one setting a line,
 * and reads back as the same settings. */
#include "base/buf.h"
#include "codec/package/aptconf.h"

#include <stdint.h>
#include <string.h>

enum { MEMORY_MAX = 64 * 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A name may begin with what would be a comment or a statement of its own, such as "//". */
static bool is_plain(struct lks_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '#' || name.ptr[i] == '/')
            return false;
    }
    return name.len > 0;
}

struct rewritten {
    struct lks_buf *out;
    bool plain;
};

static void rewrite(void *ctx, enum lks_aptconf_act act, struct lks_str name, struct lks_str value)
{
    struct rewritten *r = ctx;
    LKS_ASSERT(name.len < LKS_APTCONF_NAME_MAX);
    LKS_ASSERT(memchr(value.len > 0 ? value.ptr : "", '"', value.len) == NULL);
    r->plain = r->plain && is_plain(name);
    if (act == LKS_APTCONF_CLEAR)
        lks_buf_addf(r->out, "#clear %" LKS_STR_FMT ";\n", LKS_STR_ARG(name));
    else
        lks_buf_addf(r->out, "%" LKS_STR_FMT " \"", LKS_STR_ARG(name));
    if (act == LKS_APTCONF_CLEAR)
        return;
    lks_buf_add(r->out, value);
    lks_buf_add(r->out, LKS_STR("\";\n"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf once = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf twice = {0};
    struct lks_err err = {0};
    struct rewritten first = {&once, true}, second = {&twice, true};
    lks_buf_init(&once, MEMORY_MAX);
    lks_buf_init(&twice, MEMORY_MAX);
    enum lks_code code =
        lks_aptconf_parse((struct lks_str){(const char *)data, size}, rewrite, &first, &err);
    LKS_ASSERT(code == LKS_OK || lks_str_starts(lks_str_from(err.msg), "line "));
    if (code != LKS_OK || !first.plain)
        return 0;
    LKS_ASSERT(lks_aptconf_parse(lks_buf_view(&once), rewrite, &second, &err) == LKS_OK);
    LKS_ASSERT(lks_str_eq(lks_buf_view(&once), lks_buf_view(&twice)));
    return 0;
}
