#include "tests/reload.h"

#include "base/buf.h"
#include "base/err.h"
#include "core/campaign/state_apply.h"
#include "core/entity/entity.h"
#include "core/state/state.h"
#include "tests/test.h"

#include <stdio.h>

bool lks_test_reloads(const struct lks_state *s, struct lks_state *out, struct lks_err *why)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = {0}, again = {0};
    lks_buf_init(&bytes, (size_t)1 << 30);
    lks_buf_init(&again, (size_t)1 << 30);
    if (lks_state_init(out, 4711, why) != LKS_OK ||
        lks_entity_pack(s, false, &bytes, why) != LKS_OK ||
        lks_entity_unpack(lks_buf_view(&bytes), out, why) != LKS_OK ||
        lks_state_index(out, why) != LKS_OK || !lks_entity_equal(s, out, why) ||
        lks_entity_pack(out, false, &again, why) != LKS_OK)
        return false;
    return lks_str_eq(lks_buf_view(&bytes), lks_buf_view(&again)) ||
           lks_fail(why, LKS_E_INVALID, "packed again it has other bytes") == LKS_OK;
}

void lks_test_reload(const struct lks_state *s, struct lks_state *out)
{
    struct lks_err why = {0};
    if (!CHECK(lks_test_reloads(s, out, &why)))
        printf("reload: %s\n", why.msg);
}
