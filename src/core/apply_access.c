/* Records about who may what, and by which credentials people are known. */
#include "core/apply.h"
#include "core/state_room.h"

/* Roles ------------------------------------------------------------------------------------- */

enum lks_code lks_apply_granted(const struct lks_applying *a)
{
    const struct lks_rec_granted *g = &a->r->granted;
    struct lks_state *s = a->s;
    struct lks_binding made = {.role = (enum lks_role)g->role, .made = {.root = g->root}};
    uint32_t at = 0;
    if (g->role >= LKS_ROLE_COUNT || lks_state_binding_at(s, g, &at))
        return LKS_OK;
    const struct lks_kept list[] = {{g->identity, &made.identity},
                                    {g->site, &made.site},
                                    {g->pool, &made.pool},
                                    {g->by, &made.made.by},
                                    {g->minters, &made.made.minters}};
    if (lks_apply_keep_all(a, list, LKS_COUNT(list)) != LKS_OK ||
        LKS_ROOM(s->bindings, &s->binding_room, s->binding_count + 1, LKS_STATE_BINDINGS_MAX,
                 a->err) != LKS_OK)
        return lks_wrap(a->err, "bindings");
    lks_apply_open_gap(s->bindings, s->binding_count++, at, sizeof(made));
    s->bindings[at] = made;
    return LKS_OK;
}

enum lks_code lks_apply_ungranted(const struct lks_applying *a)
{
    const struct lks_rec_ungranted *u = &a->r->ungranted;
    const struct lks_rec_granted want = {
        .identity = u->identity, .role = u->role, .site = u->site, .pool = u->pool};
    uint32_t at = 0;
    if (lks_state_binding_at(a->s, &want, &at))
        lks_apply_close_gap(a->s->bindings, a->s->binding_count--, at, sizeof(a->s->bindings[0]));
    return LKS_OK;
}

/* API tokens -------------------------------------------------------------------------------- */

enum lks_code lks_apply_api_token(const struct lks_applying *a)
{
    const struct lks_rec_api_token *t = &a->r->api_token;
    struct lks_state *s = a->s;
    struct lks_api_token made = {.expires = t->expires, .life = t->life, .made = {.root = t->root}};
    uint32_t at = 0;
    const struct lks_kept list[] = {{t->id, &made.id},
                                    {t->identity, &made.identity},
                                    {t->hash, &made.hash},
                                    {t->by, &made.made.by},
                                    {t->minters, &made.made.minters}};
    if (lks_apply_keep_all(a, list, LKS_COUNT(list)) != LKS_OK)
        return a->err->code;
    if (!lks_state_token_at(s, t->id, &at)) {
        if (LKS_ROOM(s->tokens, &s->token_room, s->token_count + 1, LKS_STATE_TOKENS_MAX, a->err) !=
            LKS_OK)
            return lks_wrap(a->err, "API tokens");
        lks_apply_open_gap(s->tokens, s->token_count++, at, sizeof(made));
    }
    s->tokens[at] = made;
    return LKS_OK;
}

enum lks_code lks_apply_api_token_gone(const struct lks_applying *a)
{
    uint32_t at = 0;
    if (lks_state_token_at(a->s, a->r->api_token_gone.id, &at))
        lks_apply_close_gap(a->s->tokens, a->s->token_count--, at, sizeof(a->s->tokens[0]));
    return LKS_OK;
}

enum lks_code lks_apply_token_renewed(const struct lks_applying *a)
{
    uint32_t at = 0;
    if (lks_state_token_at(a->s, a->r->token_renewed.id, &at))
        a->s->tokens[at].expires = a->r->token_renewed.expires;
    return LKS_OK;
}

/* Certificates of people -------------------------------------------------------------------- */

/* Those that are over leave with the next that is made: renewals would pile up otherwise. */
static void drop_expired(struct lks_state *s, lks_ms time)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->person_count; i++) {
        if (s->persons[i].certificate.expires > time)
            s->persons[kept++] = s->persons[i];
    }
    s->person_count = kept;
}

enum lks_code lks_apply_person_certified(const struct lks_applying *a)
{
    const struct lks_rec_person_certified *from = &a->r->person_certified;
    struct lks_state *s = a->s;
    struct lks_state_person made = {.certificate = {.expires = from->expires},
                                    .life = from->life,
                                    .made = {.root = from->root}};
    uint32_t at = 0;
    drop_expired(s, a->time);
    if (!lks_digest_read(from->fingerprint, made.certificate.fingerprint) ||
        from->expires <= a->time || lks_state_person_at(s, from->serial, &at))
        return LKS_OK;
    const struct lks_kept list[] = {{from->serial, &made.serial},
                                    {from->identity, &made.identity},
                                    {from->minter, &made.made.by},
                                    {from->minters, &made.made.minters}};
    if (lks_apply_keep_all(a, list, LKS_COUNT(list)) != LKS_OK ||
        LKS_ROOM(s->persons, &s->person_room, s->person_count + 1, LKS_STATE_PERSONS_MAX, a->err) !=
            LKS_OK)
        return lks_wrap(a->err, "certificates of people");
    lks_apply_open_gap(s->persons, s->person_count++, at, sizeof(made));
    s->persons[at] = made;
    return LKS_OK;
}

enum lks_code lks_apply_person_revoked(const struct lks_applying *a)
{
    uint32_t at = 0;
    if (lks_state_person_at(a->s, a->r->person_revoked.serial, &at))
        lks_apply_close_gap(a->s->persons, a->s->person_count--, at, sizeof(a->s->persons[0]));
    return LKS_OK;
}
