/* Whether two states say the same of who may what, and of the credentials of people. */
#include "core/fold/equal_parts.h"

static const struct member binding_texts[] = {TEXT(lks_binding, identity), TEXT(lks_binding, site),
                                              TEXT(lks_binding, pool)};
static const struct member token_texts[] = {TEXT(lks_api_token, id), TEXT(lks_api_token, identity),
                                            TEXT(lks_api_token, hash), TEXT(lks_api_token, issuer),
                                            TEXT(lks_api_token, grants)};
static const struct member person_texts[] = {TEXT(lks_state_person, serial),
                                             TEXT(lks_state_person, identity)};
static const struct member made_texts[] = {TEXT(lks_made, by), TEXT(lks_made, minters)};

static bool same_made(const struct pair *p, const struct lks_made *x, const struct lks_made *y)
{
    return x->root == y->root && text_differs(p, x, y, made_texts, LKS_COUNT(made_texts)) == NULL;
}

static bool same_persons(const struct pair *p)
{
    for (uint32_t i = 0; i < p->a->person_count; i++) {
        const struct lks_state_person *x = &p->a->persons[i], *y = &p->b->persons[i];
        if (memcmp(&x->certificate, &y->certificate, sizeof(x->certificate)) != 0 ||
            x->life != y->life || !same_made(p, &x->made, &y->made) ||
            text_differs(p, x, y, person_texts, LKS_COUNT(person_texts)) != NULL)
            return differs(p, "certificate", lks_state_text(p->a, x->identity));
    }
    return true;
}

bool lks_equal_access(const struct pair *p)
{
    if (p->a->binding_count != p->b->binding_count || p->a->token_count != p->b->token_count ||
        p->a->person_count != p->b->person_count)
        return differs(p, "count", LKS_STR("access"));
    for (uint32_t i = 0; i < p->a->binding_count; i++) {
        const struct lks_binding *x = &p->a->bindings[i], *y = &p->b->bindings[i];
        if (x->role != y->role || !same_made(p, &x->made, &y->made) ||
            text_differs(p, x, y, binding_texts, LKS_COUNT(binding_texts)) != NULL)
            return differs(p, "binding", lks_state_text(p->a, x->identity));
    }
    for (uint32_t i = 0; i < p->a->token_count; i++) {
        const struct lks_api_token *x = &p->a->tokens[i], *y = &p->b->tokens[i];
        if (x->expires != y->expires || x->life != y->life || !same_made(p, &x->made, &y->made) ||
            text_differs(p, x, y, token_texts, LKS_COUNT(token_texts)) != NULL)
            return differs(p, "token", lks_state_text(p->a, x->id));
    }
    return same_persons(p);
}
