/* Any bytes at all. As a line: every value that is read can be written again and reads back the
 * same. As keys and values, parted by zero bytes: each comes back from the line they are put into,
 * the first of those with the same key. */
#include "base/buf.h"
#include "codec/format/kv.h"

#include <stdint.h>
#include <stdio.h>

enum { TEXT_MAX = 64 * 1024, LINE_MAX_BYTES = 4 * TEXT_MAX };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_back(struct lks_str line, const char *key, struct lks_str value)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf got = LKS_BUF(LINE_MAX_BYTES);
    LKS_ASSERT(lks_kv_get(line, key, &got));
    LKS_ASSERT(lks_str_eq(lks_buf_view(&got), value));
}

static void as_line(struct lks_str line)
{
    static const char *const keys[] = {"a", "b", "version", ""};
    for (size_t i = 0; i < LKS_COUNT(keys); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf value = LKS_BUF(LINE_MAX_BYTES);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf again = LKS_BUF(LINE_MAX_BYTES);
        if (!lks_kv_get(line, keys[i], &value)) {
            LKS_ASSERT(value.len == 0);
            continue;
        }
        lks_kv_add(&again, lks_str_from(keys[i]), lks_buf_view(&value));
        check_back(lks_buf_view(&again), keys[i], lks_buf_view(&value));
    }
}

/* Keys are numbered, so that no two are the same and all are plain. */
static void as_values(struct lks_str rest)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(LINE_MAX_BYTES);
    struct lks_str value, all = rest;
    char key[16];
    unsigned count = 0;
    for (bool more = true; more && count < 64; count++) {
        more = lks_str_cut(rest, '\0', &value, &rest);
        snprintf(key, sizeof(key), "k%u", count);
        lks_kv_add(&line, lks_str_from(key), value);
    }
    lks_kv_add(&line, LKS_STR("all"), all);
    lks_kv_add(&line, LKS_STR("k0"), LKS_STR("later"));
    check_back(lks_buf_view(&line), "all", all);
    rest = all;
    for (unsigned i = 0; i < count; i++) {
        (void)lks_str_cut(rest, '\0', &value, &rest);
        snprintf(key, sizeof(key), "k%u", i);
        check_back(lks_buf_view(&line), key, value);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > TEXT_MAX / 4)
        return 0;
    struct lks_str bytes = {(const char *)data, size};
    as_line(bytes);
    as_values(bytes);
    return 0;
}
