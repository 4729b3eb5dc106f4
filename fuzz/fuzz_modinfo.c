/* Any bytes at all: the first says into how large pieces the rest is cut. However it is cut, the
 * scanner finds the same, and what it finds stands in the bytes behind its key. */
#include "base/buf.h"
#include "codec/program/modinfo.h"

#include <stdint.h>

enum { TEXT_MAX = 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Feed pieces of `step` bytes, 0 for all at once; to the end, or until it says that it is done. */
static enum lks_code scan(struct lks_str bytes, size_t step, bool stop, struct lks_modinfo *out)
{
    struct lks_modinfo_scanner scanner = {0};
    struct lks_err err = {0};
    bool done = false;
    for (size_t at = 0; at < bytes.len && !(done && stop);) {
        size_t len = step == 0 || step > bytes.len - at ? bytes.len - at : step;
        bool now = lks_modinfo_feed(&scanner, (struct lks_str){bytes.ptr + at, len});
        LKS_ASSERT(now || !done);
        done = now;
        at += len;
    }
    enum lks_code code = lks_modinfo_end(&scanner, out, &err);
    LKS_ASSERT(code == err.code && (code == LKS_OK) == (err.msg[0] == '\0'));
    LKS_ASSERT(!done || code == LKS_OK);
    return code;
}

static void check_stands(struct lks_str bytes, const char *key, const char *value)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    lks_buf_addf(&text, "%s=%s", key, value);
    lks_buf_addc(&text, '\0');
    LKS_ASSERT(value[0] == '\0' || lks_str_find(bytes, lks_buf_view(&text)) >= 0);
    LKS_ASSERT(lks_str_printable(lks_str_from(value)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lks_modinfo whole = {0}, cut = {0};
    if (size == 0)
        return 0;
    struct lks_str bytes = {(const char *)data + 1, size - 1};
    enum lks_code code = scan(bytes, 0, false, &whole);
    for (unsigned stop = 0; stop < 2; stop++) {
        LKS_ASSERT(scan(bytes, 1 + (size_t)data[0], stop != 0, &cut) == code);
        LKS_ASSERT(memcmp(&whole, &cut, sizeof(whole)) == 0);
    }
    if (code == LKS_OK) {
        LKS_ASSERT(whole.vermagic[0] != '\0');
        check_stands(bytes, "name", whole.name);
        check_stands(bytes, "version", whole.version);
        check_stands(bytes, "srcversion", whole.srcversion);
        check_stands(bytes, "vermagic", whole.vermagic);
        check_stands(bytes, "license", whole.license);
    }
    return 0;
}
