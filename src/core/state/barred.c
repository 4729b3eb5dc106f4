#include "core/state/barred.h"

#include "base/time.h"
#include "base/vec.h"
#include "core/rows/credential.h"
#include "core/state/state.h"

bool lks_barred_is(const struct lks_state *s, uint32_t node, struct lks_str fingerprint)
{
    for (uint32_t i = 0; i < s->barred_count; i++)
        if (s->barred[i].node == node &&
            lks_state_certificate_is(&s->barred[i].certificate, fingerprint))
            return true;
    return false;
}

static void thin(struct lks_state *s, lks_ms now)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->barred_count; i++)
        if (s->barred[i].certificate.expires > now)
            s->barred[kept++] = s->barred[i];
    if (kept == s->barred_count)
        LKS_VEC_REMOVE(s->barred, kept, 0);
    s->barred_count = kept;
}

enum lks_code lks_barred_add(struct lks_state *s, struct lks_barred barred, lks_ms now,
                             struct lks_err *err)
{
    if (s->barred_count == LKS_STATE_BARRED_MAX)
        thin(s, now);
    if (LKS_VEC_ADD(s->barred, s->barred_room, s->barred_count, LKS_STATE_BARRED_MAX, barred,
                    err) != LKS_OK)
        return lks_wrap(err, "certificates of replaced machines");
    return LKS_OK;
}
