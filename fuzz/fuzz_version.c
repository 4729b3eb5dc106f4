/* Lines of any bytes, under every scheme: the first three are put in order, which must be a total
 * order; the fourth is a range, and a range with "=v" added can be satisfied exactly if it has v.
 */
#include "base/buf.h"
#include "codec/notation/version.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

static void check_order(const struct lks_str v[3], enum lks_version_scheme scheme)
{
    int ab = sign(lks_version_cmp(v[0], v[1], scheme));
    int bc = sign(lks_version_cmp(v[1], v[2], scheme));
    int ac = sign(lks_version_cmp(v[0], v[2], scheme));
    LKS_ASSERT(lks_version_cmp(v[0], v[0], scheme) == 0);
    LKS_ASSERT(sign(lks_version_cmp(v[1], v[0], scheme)) == -ab);
    LKS_ASSERT(sign(lks_version_cmp(v[2], v[0], scheme)) == -ac);
    if (ab * bc >= 0)
        LKS_ASSERT(ac == (ab != 0 ? ab : bc));
}

static void check_range(struct lks_str text, struct lks_str v, enum lks_version_scheme scheme)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf narrowed = {0};
    struct lks_range range, one;
    struct lks_err err = {0};
    if (lks_version_range_parse(text, scheme, &range, &err) != LKS_OK) {
        LKS_ASSERT(err.code != LKS_OK && err.msg[0] != '\0');
        return;
    }
    LKS_ASSERT(range.count > 0);
    bool valid = lks_version_valid(v, scheme), has = lks_version_range_has(&range, v, scheme);
    LKS_ASSERT(valid || !has);
    size_t len = text.len + v.len + 2;
    if (!valid || range.count == LKS_RANGE_TERMS_MAX || len > LKS_RANGE_LEN_MAX)
        return;
    lks_buf_init(&narrowed, len);
    lks_buf_add(&narrowed, text);
    lks_buf_add(&narrowed, LKS_STR(" ="));
    lks_buf_add(&narrowed, v);
    enum lks_code code = lks_version_range_parse(lks_buf_view(&narrowed), scheme, &one, &err);
    LKS_ASSERT(code == (has ? LKS_OK : LKS_E_INVALID));
}

/* Equal versions are covered by the same prefixes. */
static void check_covers(const struct lks_str v[3])
{
    LKS_ASSERT(lks_version_major(v[0]) >= -1);
    bool same = lks_version_cmp(v[0], v[1], LKS_VERSION_DOTTED) == 0;
    if (same && lks_version_valid(v[0], LKS_VERSION_DOTTED)) {
        LKS_ASSERT(lks_version_covers(v[2], v[0]) == lks_version_covers(v[2], v[1]));
        LKS_ASSERT(lks_version_major(v[0]) == lks_version_major(v[1]));
        LKS_ASSERT(lks_version_covers(v[0], v[0]));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lks_str rest = {(const char *)data, size}, line[4];
    for (size_t i = 0; i < LKS_COUNT(line); i++)
        lks_str_cut(rest, '\n', &line[i], &rest);
    for (unsigned scheme = 0; scheme < LKS_VERSION_SCHEME_COUNT; scheme++) {
        check_order(line, (enum lks_version_scheme)scheme);
        for (size_t i = 0; i < 3; i++)
            check_range(line[3], line[i], (enum lks_version_scheme)scheme);
    }
    check_covers(line);
    return 0;
}
