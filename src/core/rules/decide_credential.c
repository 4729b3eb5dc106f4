/* Credentials of people, and who stands behind what is asked by them: core/governance/backing.h. */
#include "base/near.h"
#include "core/rows/credential.h"
#include "core/rules/decide_rules.h"
#include "core/state/access.h"
#include "core/state/state.h"
#include "trust/token.h"

/* Behind ------------------------------------------------------------------------------------ */

/* The maker of a credential is a minter of it, with all of the maker's own minters. */
static bool is_traceable(struct lks_deciding *d, struct lks_str minters)
{
    if (lks_backing_count(minters) < LKS_BACKING_MAX)
        return true;
    lks_decision_refuse(d, LKS_E_LIMIT,
                        "%d people are behind the credential of %" LKS_STR_FMT
                        ", which is the most: have this one made by a person nearer to root",
                        LKS_BACKING_MAX, LKS_STR_ARG(d->event->by));
    return false;
}

/* API tokens -------------------------------------------------------------------------------- */

static void add_token(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    struct lks_str minters = lks_decision_backing(d).minters;
    if (is_traceable(d, minters))
        lks_decision_add(d, LKS_RECORD_API_TOKEN)->api_token =
            (struct lks_rec_api_token){.id = e->api_token.id,
                                       .identity = e->api_token.identity,
                                       .hash = e->api_token.hash,
                                       .expires = e->api_token.expires,
                                       .by = e->by,
                                       .minters = minters,
                                       .root = e->root,
                                       .life = e->api_token.life,
                                       .reason = lks_str_trim(e->reason)};
}

void lks_decide_api_token(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    struct lks_str id = e->api_token.id;
    LKS_ASSERT(e->api_token.hash.len > 0);
    if (!lks_decision_reason_fits(d))
        return;
    if (!lks_decide_access_is_name(id))
        lks_decision_refuse(d, LKS_E_INVALID,
                            "'%" LKS_STR_FMT "' is no name for a token: letters, digits, '.', "
                            "'-', '_', '@', at most %d",
                            LKS_STR_ARG(id), LKS_TOKEN_ID_MAX);
    else if (lks_str_starts(id, LKS_LOGIN_ID))
        lks_decision_refuse(d, LKS_E_INVALID,
                            "'%" LKS_STR_FMT
                            "' is no name for a token: those that start with '" LKS_LOGIN_ID
                            "' are of logins",
                            LKS_STR_ARG(id));
    else if (!lks_decide_access_identity(d, e->api_token.identity))
        return;
    else if (lks_str_starts(e->api_token.identity, "unix:"))
        lks_decision_refuse(d, LKS_E_INVALID,
                            "'%" LKS_STR_FMT "' is the user with that uid at the socket; a token "
                            "is for NAME or user:NAME",
                            LKS_STR_ARG(e->api_token.identity));
    else if (lks_state_token(d->state, id) != NULL)
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "there is a token '%" LKS_STR_FMT "' already; revoke it first, or "
                            "choose another name",
                            LKS_STR_ARG(id));
    else if (e->api_token.expires != 0 && e->api_token.expires <= d->now.wall)
        lks_decision_refuse(d, LKS_E_INVALID, "a token that ends in the past opens nothing");
    else if (d->state->token_count >= LKS_STATE_TOKENS_MAX)
        lks_decision_refuse(d, LKS_E_LIMIT, "there are %d tokens, which is the most",
                            LKS_STATE_TOKENS_MAX);
    else
        add_token(d);
}

void lks_decide_api_token_gone(struct lks_deciding *d)
{
    const struct lks_state *s = d->state;
    struct lks_str id = d->event->api_token.id;
    if (!lks_decision_reason_fits(d))
        return;
    if (lks_state_token(s, id) != NULL) {
        lks_decision_add(d, LKS_RECORD_API_TOKEN_GONE)->api_token_gone =
            (struct lks_rec_api_token_gone){
                .id = id, .by = d->event->by, .reason = lks_str_trim(d->event->reason)};
        return;
    }
    struct lks_near near = lks_near_to(id);
    char hint[LKS_NEAR_HINT_SIZE];
    for (uint32_t i = 0; i < s->token_count && near.distance > 1; i++)
        lks_near_try(&near, lks_state_text(s, s->tokens[i].id));
    lks_decision_refuse(d, LKS_E_NOT_FOUND, "no token '%" LKS_STR_FMT "'%s", LKS_STR_ARG(id),
                        lks_near_hint(&near, hint));
}

/* By its holder. Its minters stay what they are, and it never ends sooner for being renewed. */
void lks_decide_api_token_renew(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    const struct lks_api_token *token = lks_state_token(d->state, e->api_token.id);
    if (token == NULL || !lks_str_eq(lks_state_text(d->state, token->identity), e->by)) {
        lks_decision_refuse(d, LKS_E_DENIED,
                            "token '%" LKS_STR_FMT "' is not one that %" LKS_STR_FMT " shows",
                            LKS_STR_ARG(e->api_token.id), LKS_STR_ARG(e->by));
        return;
    }
    if (token->expires == 0 || token->life == 0) {
        lks_decision_refuse(d, LKS_E_REFUSED, "token '%" LKS_STR_FMT "' %s",
                            LKS_STR_ARG(e->api_token.id),
                            token->expires == 0  ? "does not end, so there is nothing to renew"
                            : token->issuer != 0 ? "is of a login; log in again"
                                                 : "was made before tokens could be renewed; have "
                                                   "another one made");
        return;
    }
    lks_ms expires = d->now.wall + token->life;
    if (e->api_token.expires != 0 && e->api_token.expires < expires)
        expires = e->api_token.expires;
    if (expires > token->expires)
        lks_decision_add(d, LKS_RECORD_TOKEN_RENEWED)->token_renewed =
            (struct lks_rec_token_renewed){.id = e->api_token.id, .expires = expires, .by = e->by};
}

/* Logins ------------------------------------------------------------------------------------ */

/* The provider names the person, and no person here made the token: it has no minters. */
void lks_decide_login(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    uint32_t count = 0;
    LKS_ASSERT(lks_str_starts(e->api_token.id, LKS_LOGIN_ID) && e->api_token.issuer.len > 0);
    LKS_ASSERT(e->api_token.expires > 0 && e->api_token.hash.len > 0);
    if (!lks_decide_access_identity(d, e->api_token.identity))
        return;
    (void)lks_state_bindings(d->state, e->api_token.identity, &count);
    if (e->api_token.grants.len == 0 && count == 0)
        lks_decision_refuse(d, LKS_E_DENIED,
                            "no group of %" LKS_STR_FMT " has a role here; an administrator maps "
                            "groups in oidc.roles, or grants one with 'lockstep access grant'",
                            LKS_STR_ARG(e->api_token.identity));
    else if (lks_backing_count(e->api_token.grants) > LKS_LOGIN_ROLES)
        lks_decision_refuse(d, LKS_E_LIMIT,
                            "the groups of %" LKS_STR_FMT " have more than %d roles here; map "
                            "fewer in oidc.roles",
                            LKS_STR_ARG(e->api_token.identity), LKS_LOGIN_ROLES);
    else if (d->state->token_count >= LKS_STATE_TOKENS_MAX)
        lks_decision_refuse(d, LKS_E_LIMIT, "there are %d tokens, which is the most",
                            LKS_STATE_TOKENS_MAX);
    else
        lks_decision_add(d, LKS_RECORD_API_TOKEN)->api_token =
            (struct lks_rec_api_token){.id = e->api_token.id,
                                       .identity = e->api_token.identity,
                                       .hash = e->api_token.hash,
                                       .expires = e->api_token.expires,
                                       .issuer = e->api_token.issuer,
                                       .grants = e->api_token.grants};
}

/* The token ends now. It is not revoked: votes by it stay. */
void lks_decide_logout(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    const struct lks_api_token *token = lks_state_token(d->state, e->api_token.id);
    if (token == NULL || token->issuer == 0 ||
        !lks_str_eq(lks_state_text(d->state, token->identity), e->by)) {
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "%" LKS_STR_FMT " did not log in, so there is nothing to end; "
                            "'lockstep access revoke' revokes tokens and "
                            "certificates",
                            LKS_STR_ARG(e->by));
        return;
    }
    if (d->now.wall < token->expires)
        lks_decision_add(d, LKS_RECORD_TOKEN_RENEWED)->token_renewed =
            (struct lks_rec_token_renewed){
                .id = e->api_token.id, .expires = d->now.wall, .by = e->by};
}

/* Certificates of people -------------------------------------------------------------------- */

/* The one that is shown, where this renews one; its minters are those of the new one. */
static bool renews(struct lks_deciding *d, struct lks_rec_person_certified *made)
{
    const struct lks_event *e = d->event;
    const struct lks_state_person *before = lks_state_person(d->state, e->certify.renews);
    if (before == NULL || !lks_str_eq(lks_state_text(d->state, before->identity), e->by) ||
        !lks_str_eq(e->by, e->certify.identity)) {
        lks_decision_refuse(d, LKS_E_DENIED,
                            "certificate %" LKS_STR_FMT " is not one that %" LKS_STR_FMT " shows",
                            LKS_STR_ARG(e->certify.renews), LKS_STR_ARG(e->by));
        return false;
    }
    made->minter = lks_state_text(d->state, before->made.by);
    made->minters = lks_state_text(d->state, before->made.minters);
    made->root = before->made.root;
    made->life = before->life;
    return true;
}

void lks_decide_certify(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    struct lks_rec_person_certified made = {.identity = e->certify.identity,
                                            .serial = e->certify.serial,
                                            .fingerprint = e->certify.fingerprint,
                                            .expires = e->certify.expires,
                                            .life = e->certify.life,
                                            .renews = e->certify.renews,
                                            .by = e->by,
                                            .reason = lks_str_trim(e->reason)};
    LKS_ASSERT(lks_str_starts(e->certify.identity, "user:"));
    if (!lks_decide_access_identity(d, e->certify.identity) || !lks_decision_reason_fits(d))
        return;
    if (e->certify.renews.len > 0 && !renews(d, &made))
        return;
    if (e->certify.renews.len == 0) {
        made.minter = e->by;
        made.minters = lks_decision_backing(d).minters;
        made.root = e->root;
    }
    if (d->state->person_count >= LKS_STATE_PERSONS_MAX)
        lks_decision_refuse(d, LKS_E_LIMIT,
                            "there are %d certificates of people, which is the most",
                            LKS_STATE_PERSONS_MAX);
    else if (is_traceable(d, made.minters))
        lks_decision_add(d, LKS_RECORD_PERSON_CERTIFIED)->person_certified = made;
}

void lks_decide_certify_gone(struct lks_deciding *d)
{
    struct lks_str serial = d->event->certify.serial;
    if (!lks_decision_reason_fits(d))
        return;
    if (lks_state_person(d->state, serial) == NULL)
        lks_decision_refuse(d, LKS_E_NOT_FOUND,
                            "no certificate '%" LKS_STR_FMT "' of a person; 'lockstep access ls' "
                            "lists serial numbers",
                            LKS_STR_ARG(serial));
    else
        lks_decision_add(d, LKS_RECORD_PERSON_REVOKED)->person_revoked =
            (struct lks_rec_person_revoked){
                .serial = serial, .by = d->event->by, .reason = lks_str_trim(d->event->reason)};
}
