/* Records that say who may what, and by which credentials people are known. */
#include "tests/dump_state.h"

static void dump_bindings(struct lks_dump *d)
{
    for (uint32_t i = 0; i < d->s->binding_count; i++) {
        const struct lks_binding *b = &d->s->bindings[i];
        lks_dump_say(d, d->s->clock,
                     (struct lks_record){.kind = LKS_RECORD_GRANTED,
                                         .granted = {.identity = lks_dump_text(d, b->identity),
                                                     .role = b->role,
                                                     .site = lks_dump_text(d, b->site),
                                                     .pool = lks_dump_text(d, b->pool),
                                                     .by = lks_dump_text(d, b->made.by),
                                                     .minters = lks_dump_text(d, b->made.minters),
                                                     .root = b->made.root}});
    }
}

/* Logins at the beginning of time: one that is made drops those that were over long before. */
static void dump_tokens(struct lks_dump *d)
{
    for (uint32_t i = 0; i < d->s->token_count; i++) {
        const struct lks_api_token *t = &d->s->tokens[i];
        lks_dump_say(d, t->issuer != 0 ? 0 : d->s->clock,
                     (struct lks_record){.kind = LKS_RECORD_API_TOKEN,
                                         .api_token = {.id = lks_dump_text(d, t->id),
                                                       .identity = lks_dump_text(d, t->identity),
                                                       .hash = lks_dump_text(d, t->hash),
                                                       .expires = t->expires,
                                                       .by = lks_dump_text(d, t->made.by),
                                                       .minters = lks_dump_text(d, t->made.minters),
                                                       .root = t->made.root,
                                                       .life = t->life,
                                                       .issuer = lks_dump_text(d, t->issuer),
                                                       .grants = lks_dump_text(d, t->grants)}});
    }
}

/* Said at the beginning of time: one that is made drops those that are over by then. */
static void dump_persons(struct lks_dump *d)
{
    char fingerprint[LKS_DIGEST_SIZE];
    for (uint32_t i = 0; i < d->s->person_count; i++) {
        const struct lks_state_person *p = &d->s->persons[i];
        lks_dump_say(d, 0,
                     (struct lks_record){.kind = LKS_RECORD_PERSON_CERTIFIED,
                                         .person_certified = {
                                             .identity = lks_dump_text(d, p->identity),
                                             .serial = lks_dump_text(d, p->serial),
                                             .fingerprint = lks_str_from(lks_state_certificate_text(
                                                 &p->certificate, fingerprint)),
                                             .expires = p->certificate.expires,
                                             .minter = lks_dump_text(d, p->made.by),
                                             .minters = lks_dump_text(d, p->made.minters),
                                             .root = p->made.root,
                                             .life = p->life}});
    }
}

void lks_dump_access(struct lks_dump *d)
{
    dump_bindings(d);
    dump_tokens(d);
    dump_persons(d);
}
