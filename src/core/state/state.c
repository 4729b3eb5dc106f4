#include "core/state/state.h"

#include "base/near.h"
#include "base/vec.h"
#include "codec/format/base64.h"
#include "codec/format/digest.h"
#include "core/rows/alarm.h"
#include "core/rows/change.h"
#include "core/rows/command.h"
#include "core/rows/credential.h"
#include "core/rows/deviation.h"
#include "core/rows/flash.h"
#include "core/rows/pool.h"
#include "core/rows/registry.h"
#include "core/rows/verdict.h"
#include "core/state/change_room.h"
#include "core/state/heartbeat.h"
#include "core/state/mass.h"
#include "core/state/node_status.h"
#include "core/state/refusals.h"
#include "core/state/runs.h"
#include "core/state/state_room.h"
#include "model/facts/facts.h"

#include <stdlib.h>

/* Places -------------------------------------------------------------------------------------- */

enum lks_code lks_state_place(struct lks_state *s, struct lks_str name, uint32_t *out,
                              struct lks_err *err)
{
    uint32_t id = 0, room = s->node_room;
    uint32_t turns_room = room; /* the arrays grow together */
    if (lks_intern_id(&s->names, name, &id, err) != LKS_OK)
        return err->code;
    if (id == s->node_count) {
        if (LKS_VEC_RESERVE_MAX(s->pulses, room, id + 1, LKS_STATE_NODES_MAX, err) != LKS_OK ||
            LKS_VEC_RESERVE_MAX(s->turns, turns_room, id + 1, LKS_STATE_NODES_MAX, err) != LKS_OK ||
            LKS_VEC_RESERVE_MAX(s->nodes, s->node_room, id + 1, LKS_STATE_NODES_MAX, err) != LKS_OK)
            return lks_wrap(err, "nodes");
        s->nodes[id].pool = LKS_NO_POOL;
        s->node_count++;
        if (lks_node_status_grow(s, err) != LKS_OK)
            return err->code;
        lks_node_status_update(s, id);
    }
    *out = id;
    return LKS_OK;
}

enum lks_code lks_state_pool_place(struct lks_state *s, struct lks_str name, uint32_t *out,
                                   struct lks_err *err)
{
    uint32_t id = 0, room = s->pool_room;
    lks_text text = 0;
    if (lks_intern_id(&s->pool_names, name, &id, err) != LKS_OK ||
        lks_intern_id(&s->texts, name, &text, err) != LKS_OK)
        return err->code;
    if (id == s->pool_count) {
        if (LKS_VEC_RESERVE_MAX(s->mass, room, id + 1, LKS_STATE_POOLS_MAX, err) != LKS_OK ||
            LKS_VEC_RESERVE_MAX(s->pools, s->pool_room, id + 1, LKS_STATE_POOLS_MAX, err) != LKS_OK)
            return lks_wrap(err, "pools");
        s->pools[id].name = text;
        s->pool_count++;
    }
    *out = id;
    return LKS_OK;
}

enum lks_code lks_state_basis_place(struct lks_state *s, struct lks_str digest, uint32_t *out,
                                    struct lks_err *err)
{
    uint32_t id = 0;
    if (digest.len == 0) {
        *out = 0;
        return LKS_OK;
    }
    if (lks_intern_id(&s->basis_digests, digest, &id, err) != LKS_OK ||
        LKS_VEC_RESERVE_MAX(s->bases, s->basis_room, id + 1, LKS_STATE_BASES_MAX, err) != LKS_OK)
        return lks_wrap(err, "bases");
    *out = id + 1;
    return LKS_OK;
}

/* Beginning and end ------------------------------------------------------------------------- */

enum lks_code lks_state_init(struct lks_state *s, uint64_t seed, struct lks_err *err)
{
    *s = (struct lks_state){
        .limits = lks_limits_default,
        .next_alarm = 1,
        .next_command = 1,
        .next_deviation = 1,
        .next_flash = 1,
        .next_change = 1,
        .commands_due = UINT64_MAX,
        .flashes_due = UINT64_MAX,
        .deviations_due = UINT64_MAX,
    };
    struct lks_intern *const interns[] = {&s->texts, &s->names, &s->pool_names, &s->basis_digests};
    for (size_t i = 0; i < LKS_COUNT(interns); i++) {
        lks_intern_init(interns[i], LKS_STATE_TEXT_MAX);
        lks_intern_seed(interns[i], seed + i);
    }
    lks_refintern_init(&s->passing, seed);
    lks_heap_init(&s->deadlines, LKS_STATE_NODES_MAX);
    lks_heap_init(&s->outband_ends, LKS_STATE_NODES_MAX);
    lks_heap_init(&s->members_due, LKS_STATE_NODES_MAX);
    lks_text empty = 0;
    if (lks_intern_id(&s->texts, LKS_STR(""), &empty, err) != LKS_OK)
        return err->code;
    return lks_node_status_init(s, err);
}

void lks_state_fini(struct lks_state *s)
{
    for (uint32_t i = 0; i < s->basis_room; i++)
        free(s->bases[i].readings);
    for (uint32_t i = 0; i < s->deviation_count; i++)
        free(s->deviations[i].nodes);
    for (uint32_t i = 0; i < s->flash_count; i++)
        free(s->flashes[i].saved);
    for (uint32_t i = 0; i < s->change_count; i++)
        lks_change_fini(&s->changes[i]);
    lks_tickets_fini(&s->tickets);
    lks_resets_fini(&s->resets);
    lks_runs_fini(&s->runs);
    lks_refusals_fini(&s->refusals);
    lks_node_status_fini(s);
    lks_refintern_fini(&s->passing);
    struct lks_intern *const interns[] = {&s->texts, &s->names, &s->pool_names, &s->basis_digests};
    for (size_t i = 0; i < LKS_COUNT(interns); i++)
        lks_intern_fini(interns[i]);
    struct lks_heap *const heaps[] = {&s->deadlines, &s->outband_ends, &s->members_due};
    for (size_t i = 0; i < LKS_COUNT(heaps); i++)
        lks_heap_fini(heaps[i]);
    void *const arrays[] = {s->nodes,     s->pulses,     s->pools,    s->mass,   s->bases,
                            s->verdicts,  s->deviations, s->stacks,   s->images, s->artifacts,
                            s->overrides, s->barred,     s->bindings, s->tokens, s->persons,
                            s->alarms,    s->commands,   s->turns,    s->keys,   s->bundles,
                            s->flashes,   s->changes,    s->proven,   s->touched};
    for (size_t i = 0; i < LKS_COUNT(arrays); i++)
        free(arrays[i]);
    *s = (struct lks_state){0};
}

/* Looking things up ------------------------------------------------------------------------- */

struct lks_str lks_state_text(const struct lks_state *s, lks_text text)
{
    if ((text & LKS_TEXT_PASSING) != 0)
        return lks_refintern_text(&s->passing, text & ~LKS_TEXT_PASSING);
    return lks_intern_text(&s->texts, text);
}

uint32_t lks_state_node(const struct lks_state *s, struct lks_str name)
{
    uint32_t id = 0;
    return lks_intern_find(&s->names, name, &id) && s->nodes[id].placed ? id : LKS_NO_NODE;
}

struct lks_str lks_state_name(const struct lks_state *s, uint32_t node)
{
    return lks_intern_text(&s->names, node);
}

uint32_t lks_state_pool(const struct lks_state *s, struct lks_str name)
{
    uint32_t id = 0;
    return lks_intern_find(&s->pool_names, name, &id) && s->pools[id].known ? id : LKS_NO_POOL;
}

void lks_state_near_nodes(const struct lks_state *s, struct lks_near *near)
{
    enum { TRIES_MAX = 2000 };
    for (uint32_t n = 0, tries = 0; n < s->node_count && tries < TRIES_MAX; n++) {
        if (!s->nodes[n].placed)
            continue;
        lks_near_try(near, lks_state_name(s, n));
        tries++;
    }
}

void lks_state_near_pools(const struct lks_state *s, struct lks_near *near)
{
    for (uint32_t i = 0; i < s->pool_count; i++) {
        if (s->pools[i].known)
            lks_near_try(near, lks_state_text(s, s->pools[i].name));
    }
}

const struct lks_state_alarm *lks_state_alarm(const struct lks_state *s, uint64_t id)
{
    return LKS_STATE_BY_ID(s->alarms, s->alarm_count, id);
}

const struct lks_state_command *lks_state_command(const struct lks_state *s, uint64_t id)
{
    return LKS_STATE_BY_ID(s->commands, s->command_count, id);
}

/* Lists in order of a text ------------------------------------------------------------------ */

static const struct sorted {
    const char *name;          /* in messages */
    size_t items, count, room; /* in the state */
    size_t size, key;          /* of an element, and where it has its key */
    uint32_t max;
} sorted[LKS_SORTED_COUNT] = {
#define SORTED(list, one, by, most, called)                                                        \
    {                                                                                              \
        .name = (called), .items = offsetof(struct lks_state, list),                               \
        .count = offsetof(struct lks_state, one##_count),                                          \
        .room = offsetof(struct lks_state, one##_room),                                            \
        .size = sizeof(((struct lks_state *)0)->list[0]),                                          \
        .key = offsetof(__typeof__(((struct lks_state *)0)->list[0]), by), .max = (most),          \
    }
    [LKS_SORTED_ARTIFACTS] =
        SORTED(artifacts, artifact, digest, LKS_STATE_ARTIFACTS_MAX, "artifacts"),
    [LKS_SORTED_IMAGES] = SORTED(images, image, ref, LKS_STATE_IMAGES_MAX, "images"),
    [LKS_SORTED_KEYS] = SORTED(keys, key, name, LKS_STATE_KEYS_MAX, "keys"),
    [LKS_SORTED_PERSONS] =
        SORTED(persons, person, serial, LKS_STATE_PERSONS_MAX, "certificates of people"),
    [LKS_SORTED_TOKENS] = SORTED(tokens, token, id, LKS_STATE_TOKENS_MAX, "API tokens"),
};

/* A pointer of another type is read and written as bytes. */
static void *items_of(const struct lks_state *s, enum lks_sorted list)
{
    void *items;
    memcpy(&items, (const char *)s + sorted[list].items, sizeof(items));
    return items;
}

static uint32_t count_of(const struct lks_state *s, enum lks_sorted list)
{
    return *(const uint32_t *)(const void *)((const char *)s + sorted[list].count);
}

static struct lks_str key_of(const struct lks_state *s, enum lks_sorted list, const void *item)
{
    return lks_state_text(s,
                          *(const lks_text *)(const void *)((const char *)item + sorted[list].key));
}

static void *item_of(const struct lks_state *s, enum lks_sorted list, uint32_t at)
{
    return (char *)items_of(s, list) + at * sorted[list].size;
}

bool lks_state_sorted_at(const struct lks_state *s, enum lks_sorted list, struct lks_str key,
                         uint32_t *at)
{
    uint32_t count = count_of(s, list);
    LKS_VEC_PLACE(*at, count, lks_str_cmp(key_of(s, list, item_of(s, list, *at)), key) < 0);
    return *at < count && lks_str_eq(key_of(s, list, item_of(s, list, *at)), key);
}

static const void *find_sorted(const struct lks_state *s, enum lks_sorted list, struct lks_str key)
{
    uint32_t at = 0;
    return lks_state_sorted_at(s, list, key, &at) ? item_of(s, list, at) : NULL;
}

enum lks_code lks_state_sorted_put(struct lks_state *s, enum lks_sorted list, const void *made,
                                   struct lks_err *err)
{
    const struct sorted *l = &sorted[list];
    uint32_t *count = (uint32_t *)(void *)((char *)s + l->count);
    uint32_t *room = (uint32_t *)(void *)((char *)s + l->room);
    uint32_t at = 0;
    if (!lks_state_sorted_at(s, list, key_of(s, list, made), &at)) {
        struct lks_vec v = {items_of(s, list), *room};
        if (*count == *room && lks_vec_grow(&v, *count + (size_t)1, l->size, l->max, err) != LKS_OK)
            return lks_wrap(err, "%s", l->name);
        memcpy((char *)s + l->items, &v.items, sizeof(v.items));
        *room = (uint32_t)v.cap;
        lks_vec_open_gap(v.items, (*count)++, at, l->size);
    }
    memcpy(item_of(s, list, at), made, l->size);
    return LKS_OK;
}

void lks_state_sorted_remove(struct lks_state *s, enum lks_sorted list, struct lks_str key)
{
    uint32_t *count = (uint32_t *)(void *)((char *)s + sorted[list].count);
    uint32_t at = 0;
    if (lks_state_sorted_at(s, list, key, &at))
        lks_vec_close_gap(items_of(s, list), (*count)--, at, sorted[list].size);
}

const struct lks_api_token *lks_state_token(const struct lks_state *s, struct lks_str id)
{
    return find_sorted(s, LKS_SORTED_TOKENS, id);
}

const struct lks_state_person *lks_state_person(const struct lks_state *s, struct lks_str serial)
{
    return find_sorted(s, LKS_SORTED_PERSONS, serial);
}

static const uint8_t no_certificate[LKS_DIGEST_BYTES];

const char *lks_state_certificate_text(const struct lks_certificate *c, char out[LKS_DIGEST_SIZE])
{
    if (memcmp(c->fingerprint, no_certificate, sizeof(no_certificate)) != 0)
        return lks_digest_write(c->fingerprint, out);
    out[0] = '\0';
    return out;
}

bool lks_state_certificate_is(const struct lks_certificate *c, struct lks_str fingerprint)
{
    uint8_t read[LKS_DIGEST_BYTES];
    return lks_digest_read(fingerprint, read) && memcmp(read, no_certificate, sizeof(read)) != 0 &&
           memcmp(read, c->fingerprint, sizeof(read)) == 0;
}

static int compare_binding(const struct lks_state *s, const struct lks_binding *b,
                           const struct lks_rec_granted *want)
{
    int order = lks_str_cmp(lks_state_text(s, b->identity), want->identity);
    if (order == 0 && b->role != want->role)
        order = b->role < want->role ? -1 : 1;
    if (order == 0)
        order = lks_str_cmp(lks_state_text(s, b->site), want->site);
    return order != 0 ? order : lks_str_cmp(lks_state_text(s, b->pool), want->pool);
}

bool lks_state_binding_at(const struct lks_state *s, const struct lks_rec_granted *want,
                          uint32_t *at)
{
    LKS_VEC_PLACE(*at, s->binding_count, compare_binding(s, &s->bindings[*at], want) < 0);
    return *at < s->binding_count && compare_binding(s, &s->bindings[*at], want) == 0;
}

const struct lks_binding *lks_state_bindings(const struct lks_state *s, struct lks_str identity,
                                             uint32_t *count)
{
    uint32_t first = 0;
    (void)lks_state_binding_at(s, &(struct lks_rec_granted){.identity = identity}, &first);
    uint32_t end = first;
    while (end < s->binding_count &&
           lks_str_eq(lks_state_text(s, s->bindings[end].identity), identity))
        end++;
    *count = end - first;
    return end > first ? &s->bindings[first] : NULL;
}

uint32_t lks_state_basis(const struct lks_state *s, struct lks_str digest)
{
    uint32_t id = 0;
    if (!lks_intern_find(&s->basis_digests, digest, &id) ||
        (s->bases[id].uses == 0 && s->bases[id].readings == NULL))
        return 0;
    return id + 1;
}

struct lks_str lks_state_readings(const struct lks_state *s, uint32_t basis)
{
    if (basis == 0 || s->bases[basis - 1].readings == NULL)
        return LKS_STR("");
    return (struct lks_str){s->bases[basis - 1].readings, s->bases[basis - 1].len};
}

uint32_t lks_state_verdict_find(const struct lks_state *s, uint32_t basis, lks_text stack)
{
    uint32_t v = basis == 0 || stack == 0 ? 0 : s->bases[basis - 1].verdict;
    while (v != 0 && s->verdicts[v].stack != stack)
        v = s->verdicts[v].next;
    return v;
}

const struct lks_state_verdict *lks_state_verdict(const struct lks_state *s, uint32_t node)
{
    uint32_t v = s->nodes[node].verdict;
    return v == 0 ? NULL : &s->verdicts[v];
}

enum lks_judged lks_state_judged(const struct lks_state *s, uint32_t node)
{
    const struct lks_state_verdict *v = lks_state_verdict(s, node);
    return v == NULL ? LKS_JUDGED_NOT : v->judged;
}

const struct lks_deviation *lks_state_deviation(const struct lks_state *s, uint64_t id)
{
    return LKS_STATE_BY_ID(s->deviations, s->deviation_count, id);
}

const struct lks_state_stack *lks_state_stack(const struct lks_state *s, struct lks_str digest)
{
    lks_text known = 0;
    if (!lks_intern_find(&s->texts, digest, &known))
        return NULL;
    return LKS_VEC_FIND(s->stacks, s->stack_count, stack, stack->digest == known);
}

const struct lks_state_image *lks_state_image(const struct lks_state *s, struct lks_str ref)
{
    return find_sorted(s, LKS_SORTED_IMAGES, ref);
}

const struct lks_state_artifact *lks_state_artifact(const struct lks_state *s,
                                                    struct lks_str digest)
{
    return find_sorted(s, LKS_SORTED_ARTIFACTS, digest);
}

const struct lks_state_key *lks_state_key(const struct lks_state *s, struct lks_str name)
{
    return find_sorted(s, LKS_SORTED_KEYS, name);
}

const struct lks_state_bundle *lks_state_bundle(const struct lks_state *s, struct lks_str digest)
{
    lks_text known = 0;
    if (!lks_intern_find(&s->texts, digest, &known))
        return NULL;
    return LKS_VEC_FIND(s->bundles, s->bundle_count, bundle, bundle->digest == known);
}

bool lks_state_bundle_names(const struct lks_state *s, const struct lks_state_bundle *bundle,
                            struct lks_str artifact)
{
    return lks_facts_words_have(lks_state_text(s, bundle->artifacts), artifact);
}

bool lks_state_vouched(const struct lks_state *s, struct lks_str artifact)
{
    for (uint32_t i = 0; i < s->bundle_count; i++) {
        if (s->bundles[i].revoked == 0 && lks_state_bundle_names(s, &s->bundles[i], artifact))
            return true;
    }
    return false;
}

const struct lks_state_flash *lks_state_flash(const struct lks_state *s, uint64_t id)
{
    return LKS_STATE_BY_ID(s->flashes, s->flash_count, id);
}

bool lks_state_flash_over(const struct lks_state_flash *f)
{
    return f->outcome != LKS_BMC_OPEN && (f->outcome != LKS_BMC_UNKNOWN || f->resolved != 0);
}

const struct lks_state_flash *lks_state_flashing(const struct lks_state *s, uint32_t node)
{
    uint32_t place = s->nodes[node].flashing > 0 ? s->nodes[node].flash : 0;
    while (place != 0 && lks_state_flash_over(&s->flashes[place - 1]))
        place = s->flashes[place - 1].before;
    return place != 0 ? &s->flashes[place - 1] : NULL;
}

lks_ms lks_state_flash_due(const struct lks_state_flash *f)
{
    static const lks_ms grace = 900 * LKS_SECOND;
    if (f->revoked)
        return 0;
    return f->deadline > UINT64_MAX - grace ? UINT64_MAX : f->deadline + grace;
}

lks_ms lks_state_command_over(const struct lks_state *s, const struct lks_state_command *command)
{
    lks_ms over = command->expires + s->limits.lost;
    return over < command->expires ? UINT64_MAX : over;
}

/* What follows from it ---------------------------------------------------------------------- */

lks_text lks_state_intent(const struct lks_state *s, uint32_t n)
{
    const struct lks_node *node = &s->nodes[n];
    if (node->changing != 0 && node->target != 0)
        return node->target;
    if (node->pin != 0)
        return node->pin;
    if (node->asset != 0)
        return lks_node_status_domain_pin(s, n);
    return node->pool == LKS_NO_POOL ? 0 : s->pools[node->pool].stack_digest;
}

bool lks_state_acts_wait(const struct lks_state *s, uint32_t pool)
{
    return pool < s->pool_count && s->pools[pool].mass_alarm != 0;
}

/* A change has further steps for it, and has it read behind them. */
static bool is_read_later(const struct lks_state *s, uint32_t n)
{
    const struct lks_state_change *c = lks_state_changing(s, n);
    const struct lks_member *m = c == NULL ? NULL : lks_state_change_member(c, n);
    const struct lks_recipe *r = m == NULL ? NULL : &c->recipes[m->recipe];
    return r != NULL && m->state != LKS_MEMBER_READING && m->step < r->count &&
           r->steps[m->step].kind != LKS_DO_RETURN;
}

bool lks_state_wants_tuple(const struct lks_state *s, uint32_t n)
{
    static const uint8_t nothing[LKS_HASH_BYTES];
    const struct lks_node *node = &s->nodes[n];
    const struct lks_heartbeat *pulse = &s->pulses[n];
    if (!node->placed || !pulse->heard || memcmp(pulse->tuple, nothing, sizeof(nothing)) == 0)
        return false;
    bool over = node->tuple != 0 && node->tuple_boot == 0;
    return (node->tuple_boot != node->boot && !(over && is_read_later(s, n))) ||
           lks_state_readings(s, node->inband).len == 0 || lks_heartbeat_tuple_differs(s, n);
}
