#include "core/governance/backing.h"

#include "base/buf.h"
#include "core/rows/credential.h"
#include "core/state/access.h"
#include "core/state/state.h"

#define UNKNOWN "?"

/* Lists ------------------------------------------------------------------------------------- */

static bool names(struct lks_str list, struct lks_str person)
{
    struct lks_str word;
    while (lks_str_word(&list, &word)) {
        if (lks_access_same_person(word, person))
            return true;
    }
    return false;
}

/* Each person once, by whatever name. */
static void add(struct lks_buf *out, struct lks_str person)
{
    if (person.len == 0 || names(lks_buf_view(out), person))
        return;
    if (out->len > 0)
        lks_buf_addc(out, ' ');
    lks_buf_add(out, person);
}

uint32_t lks_backing_count(struct lks_str minters)
{
    struct lks_str word;
    uint32_t count = 0;
    while (lks_str_word(&minters, &word))
        count++;
    return count;
}

/* The next of those behind it: first the minters, then the caller. */
static bool next_person(struct lks_backing *left, struct lks_str *out)
{
    if (lks_str_word(&left->minters, out))
        return true;
    *out = left->by;
    left->by = (struct lks_str){"", 0};
    return out->len > 0;
}

struct lks_str lks_backing_who(struct lks_backing a, struct lks_backing b)
{
    struct lks_str person;
    while (next_person(&a, &person)) {
        if ((b.by.len > 0 && lks_access_same_person(person, b.by)) || names(b.minters, person))
            return person;
    }
    return (struct lks_str){"", 0};
}

bool lks_backing_shared(struct lks_backing a, struct lks_backing b)
{
    struct lks_str unknown = LKS_STR(UNKNOWN);
    return names(a.minters, unknown) || names(b.minters, unknown) || lks_backing_who(a, b).len > 0;
}

/* Credentials ------------------------------------------------------------------------------- */

/* Records of before did not say `root`, and snapshots of before did not say who. */
void lks_backing_made(const struct lks_state *s, const struct lks_made *made, struct lks_buf *out)
{
    struct lks_str by = lks_state_text(s, made->by), minters = lks_state_text(s, made->minters);
    struct lks_str word;
    if (!made->root && !lks_str_is(by, "unix:0"))
        add(out, by.len > 0 ? by : LKS_STR(UNKNOWN));
    while (lks_str_word(&minters, &word))
        add(out, word);
}

/* A person who logged in with an identity provider got the token from no person here. */
void lks_backing_token(const struct lks_state *s, const struct lks_api_token *token,
                       struct lks_buf *out)
{
    if (token->issuer == 0)
        lks_backing_made(s, &token->made, out);
}

static void add_roles(const struct lks_state *s, struct lks_str identity, struct lks_buf *out)
{
    uint32_t count = 0;
    const struct lks_binding *b = lks_state_bindings(s, identity, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (b[i].made.by != 0) /* a snapshot of before does not say who */
            lks_backing_made(s, &b[i].made, out);
    }
}

static void add_all(const struct lks_state *s, struct lks_str identity, struct lks_buf *out)
{
    for (uint32_t i = 0; i < s->token_count; i++) {
        if (lks_str_eq(lks_state_text(s, s->tokens[i].identity), identity))
            lks_backing_token(s, &s->tokens[i], out);
    }
    for (uint32_t i = 0; i < s->person_count; i++) {
        if (lks_str_eq(lks_state_text(s, s->persons[i].identity), identity))
            lks_backing_made(s, &s->persons[i].made, out);
    }
    if (lks_str_starts(identity, "unix:"))
        add_roles(s, identity, out);
}

void lks_backing_minters(const struct lks_state *s, struct lks_str identity,
                         struct lks_str credential, struct lks_buf *out)
{
    struct lks_str kind, id;
    if (!lks_str_cut(credential, ':', &kind, &id)) {
        add_all(s, identity, out);
    } else if (lks_str_is(kind, "token")) {
        const struct lks_api_token *token = lks_state_token(s, id);
        if (token != NULL)
            lks_backing_token(s, token, out);
        else
            add(out, LKS_STR(UNKNOWN));
    } else if (lks_str_is(kind, "certificate")) {
        const struct lks_state_person *person = lks_state_person(s, id);
        if (person != NULL)
            lks_backing_made(s, &person->made, out);
        else
            add(out, LKS_STR(UNKNOWN));
    } else if (lks_str_is(kind, "unix")) {
        add_roles(s, identity, out);
    }
}

/* Independence ------------------------------------------------------------------------------ */

void lks_backing_rivals(const struct lks_backing *voices, uint32_t count, uint64_t *rivals)
{
    LKS_ASSERT(count <= LKS_BACKING_VOICES);
    for (uint32_t i = 0; i < count; i++)
        rivals[i] = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (!lks_backing_shared(voices[i], voices[k]))
                continue;
            rivals[i] |= UINT64_C(1) << k;
            rivals[k] |= UINT64_C(1) << i;
        }
    }
}

/* Whether all its rivals are each other's: then taking it costs nothing. */
static bool is_simple(const uint64_t *rivals, uint64_t among, unsigned voice)
{
    uint64_t near = rivals[voice] & among;
    for (uint64_t left = near; left != 0; left &= left - 1) {
        unsigned other = (unsigned)__builtin_ctzll(left);
        if ((near & ~rivals[other] & ~(UINT64_C(1) << other)) != 0)
            return false;
    }
    return true;
}

/* Those of one minter are each other's rivals, so the first branch is nearly always taken. What is
 * left is tried with and without the voice that has the most rivals. */
uint32_t lks_backing_most(const uint64_t *rivals, uint64_t among)
{
    uint32_t taken = 0;
    while (among != 0) {
        unsigned best = 0, simple = LKS_BACKING_VOICES;
        int most = -1;
        for (uint64_t left = among; left != 0 && simple == LKS_BACKING_VOICES; left &= left - 1) {
            unsigned voice = (unsigned)__builtin_ctzll(left);
            LKS_ASSERT(voice < LKS_BACKING_VOICES);
            int degree = __builtin_popcountll(rivals[voice] & among);
            if (is_simple(rivals, among, voice))
                simple = voice;
            best = degree > most ? voice : best;
            most = degree > most ? degree : most;
        }
        if (simple == LKS_BACKING_VOICES) {
            uint64_t without = among & ~(UINT64_C(1) << best);
            uint32_t with = 1 + lks_backing_most(rivals, without & ~rivals[best]);
            uint32_t others = lks_backing_most(rivals, without);
            return taken + (with > others ? with : others);
        }
        among &= ~(rivals[simple] | UINT64_C(1) << simple);
        taken++;
    }
    return taken;
}
