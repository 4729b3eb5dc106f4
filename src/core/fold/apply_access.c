/* Records about who may what, and by which credentials people are known. */
#include "base/vec.h"
#include "codec/format/digest.h"
#include "core/fold/sets.h"
#include "core/rows/credential.h"
#include "core/state/state.h"
#include "core/state/state_room.h"
#include "model/record/record.h"
#include "model/record/record_words.h"

/* Roles ------------------------------------------------------------------------------------- */

enum lks_code lks_apply_granted(const struct lks_applying *a)
{
    const struct lks_rec_granted *g = &a->r->granted;
    struct lks_state *s = a->s;
    struct lks_binding made = {0};
    uint32_t at = 0;
    if (g->role >= LKS_ROLE_COUNT || lks_state_binding_at(s, g, &at))
        return LKS_OK;
    if (lks_sets_apply(a, &made) != LKS_OK ||
        LKS_VEC_INSERT(s->bindings, s->binding_room, s->binding_count, at, LKS_STATE_BINDINGS_MAX,
                       a->err) != LKS_OK)
        return lks_wrap(a->err, "bindings");
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
        LKS_VEC_REMOVE(a->s->bindings, a->s->binding_count, at);
    return LKS_OK;
}

/* API tokens -------------------------------------------------------------------------------- */

static void drop_token(struct lks_state *s, uint32_t at)
{
    lks_apply_drop(s, &s->tokens[at].id);
    lks_apply_drop(s, &s->tokens[at].hash);
    LKS_VEC_REMOVE(s->tokens, s->token_count, at);
}

/* "approver@train viewer". What this version does not know gives nothing. */
static enum lks_code read_roles(const struct lks_applying *a, struct lks_str text,
                                struct lks_api_token *out)
{
    struct lks_str word, role, pool;
    uint64_t number = 0;
    while (lks_str_word(&text, &word) && out->role_count < LKS_LOGIN_ROLES) {
        if (!lks_str_cut(word, '@', &role, &pool))
            pool = LKS_STR("");
        if (!lks_record_word_find(lks_role_words, role, &number))
            continue;
        struct lks_login_role *to = &out->roles[out->role_count++];
        to->role = (enum lks_role)number;
        if (lks_apply_keep(a, pool, &to->pool) != LKS_OK)
            return a->err->code;
    }
    return LKS_OK;
}

/* Logins that are over are kept for a while, for the sake of votes by them; and of one person's
 * there are only so many: the one that ends first leaves. */
static void make_place(struct lks_state *s, const struct lks_api_token *next, lks_ms time)
{
    uint32_t own = 0, first = 0;
    for (uint32_t i = s->token_count; i-- > 0;) {
        const struct lks_api_token *t = &s->tokens[i];
        if (t->issuer != 0 && t->expires + LKS_LOGIN_KEPT <= time) {
            drop_token(s, i);
            first -= own > 0; /* which stood behind it */
        } else if (t->issuer != 0 && t->identity == next->identity) {
            first = own == 0 || t->expires <= s->tokens[first].expires ? i : first;
            own++;
        }
    }
    if (own >= LKS_LOGINS_OF_PERSON)
        drop_token(s, first);
}

enum lks_code lks_apply_api_token(const struct lks_applying *a)
{
    const struct lks_rec_api_token *t = &a->r->api_token;
    struct lks_state *s = a->s;
    struct lks_api_token made = {0};
    uint32_t at = 0;
    if (lks_sets_apply(a, &made) != LKS_OK || read_roles(a, t->grants, &made) != LKS_OK)
        return a->err->code;
    if (lks_state_sorted_at(s, LKS_SORTED_TOKENS, t->id, &at))
        drop_token(s, at);
    if (made.issuer != 0)
        make_place(s, &made, a->time);
    return lks_state_sorted_put(s, LKS_SORTED_TOKENS, &made, a->err);
}

enum lks_code lks_apply_api_token_gone(const struct lks_applying *a)
{
    uint32_t at = 0;
    if (lks_state_sorted_at(a->s, LKS_SORTED_TOKENS, a->r->api_token_gone.id, &at))
        drop_token(a->s, at);
    return LKS_OK;
}

enum lks_code lks_apply_token_renewed(const struct lks_applying *a)
{
    uint32_t at = 0;
    if (lks_state_sorted_at(a->s, LKS_SORTED_TOKENS, a->r->token_renewed.id, &at))
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
    struct lks_state_person made = {0};
    drop_expired(s, a->time);
    if (!lks_digest_read(from->fingerprint, made.certificate.fingerprint) ||
        from->expires <= a->time || lks_state_person(s, from->serial) != NULL)
        return LKS_OK;
    if (lks_sets_apply(a, &made) != LKS_OK)
        return a->err->code;
    return lks_state_sorted_put(s, LKS_SORTED_PERSONS, &made, a->err);
}

/* Loaded rows ------------------------------------------------------------------------------- */

enum lks_code lks_apply_index_access(const struct lks_applying *a)
{
    for (uint32_t i = 0; i < a->s->token_count; i++) {
        struct lks_api_token *t = &a->s->tokens[i];
        if (read_roles(a, lks_state_text(a->s, t->grants), t) != LKS_OK)
            return a->err->code;
    }
    return LKS_OK;
}
