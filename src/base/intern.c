#include "base/intern.h"

#include "base/eight.h"
#include "base/rng.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 64, BLOCK = 32 /* texts that are looked up together */ };

void lks_intern_init(struct lks_intern *in, size_t max_bytes)
{
    *in = (struct lks_intern){0};
    lks_arena_init(&in->bytes, max_bytes);
}

void lks_intern_fini(struct lks_intern *in)
{
    lks_arena_fini(&in->bytes);
    free(in->entries);
    free(in->slots);
    *in = (struct lks_intern){0};
}

void lks_intern_seed(struct lks_intern *in, uint64_t seed)
{
    LKS_ASSERT(in->count == 0);
    struct lks_rng rng = {seed};
    in->seed[0] = lks_rng_next(&rng);
    in->seed[1] = lks_rng_next(&rng);
}

static uint64_t rotate(uint64_t value, unsigned by)
{
    return value << by | value >> (64 - by);
}

static void mix(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] = rotate(v[2], 32);
}

uint64_t lks_intern_hash(const uint64_t seed[2], struct lks_str text)
{
    uint64_t v[4] = {
        seed[0] ^ UINT64_C(0x736f6d6570736575),
        seed[1] ^ UINT64_C(0x646f72616e646f6d),
        seed[0] ^ UINT64_C(0x6c7967656e657261),
        seed[1] ^ UINT64_C(0x7465646279746573),
    };
    for (size_t at = 0; at <= text.len; at += 8) {
        uint64_t word = lks_eight(text, at);
        if (text.len - at < 8)
            word |= (uint64_t)text.len << 56;
        v[3] ^= word;
        mix(v);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        mix(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static uint32_t tag_of(uint64_t hash)
{
    return (uint32_t)(hash >> 32);
}

/* The slot that has `text`, or the free one where it belongs. There is always a free one, since
 * half of them are. */
static struct lks_intern_slot *slot_of(const struct lks_intern *in, struct lks_str text,
                                       uint64_t hash)
{
    size_t mask = in->slot_count - 1;
    for (size_t at = (size_t)hash & mask;; at = (at + 1) & mask) {
        struct lks_intern_slot *slot = &in->slots[at];
        if (slot->next == 0 ||
            (slot->tag == tag_of(hash) && lks_str_eq(in->entries[slot->next - 1].text, text)))
            return slot;
    }
}

/* The first free slot for a text that has none. */
static struct lks_intern_slot *free_slot(const struct lks_intern *in, uint64_t hash)
{
    size_t mask = in->slot_count - 1;
    size_t at = (size_t)hash & mask;
    while (in->slots[at].next != 0)
        at = (at + 1) & mask;
    return &in->slots[at];
}

/* Twice the room: the work for it is spread over as many additions as there were before. */
static enum lks_code grow(struct lks_intern *in, struct lks_err *err)
{
    size_t slot_count = in->slot_count == 0 ? FIRST_SLOTS : in->slot_count * 2;
    if (slot_count > UINT32_MAX)
        return lks_fail(err, LKS_E_LIMIT, "more than %u different names", (unsigned)in->count);
    struct lks_intern_entry *entries =
        reallocarray(in->entries, slot_count / 2, sizeof(entries[0]));
    if (entries == NULL)
        return lks_fail_nomem(err);
    in->entries = entries;
    struct lks_intern_slot *slots = calloc(slot_count, sizeof(slots[0]));
    if (slots == NULL)
        return lks_fail_nomem(err);

    free(in->slots);
    in->slots = slots;
    in->slot_count = slot_count;
    for (uint32_t id = 0; id < in->count; id++)
        *free_slot(in, entries[id].hash) =
            (struct lks_intern_slot){id + 1, tag_of(entries[id].hash)};
    return LKS_OK;
}

/* False where it has no id. */
static bool find(const struct lks_intern *in, struct lks_str text, uint64_t hash, uint32_t *id)
{
    if (in->count == 0)
        return false;
    const struct lks_intern_slot *slot = slot_of(in, text, hash);
    if (slot->next == 0)
        return false;
    *id = slot->next - 1;
    return true;
}

bool lks_intern_find(const struct lks_intern *in, struct lks_str text, uint32_t *id)
{
    return find(in, text, lks_intern_hash(in->seed, text), id);
}

/* The first slot that may have a text of this hash, or the free one where it would be. */
static const struct lks_intern_slot *tagged(const struct lks_intern *in, uint64_t hash)
{
    size_t mask = in->slot_count - 1, at = (size_t)hash & mask;
    while (in->slots[at].next != 0 && in->slots[at].tag != tag_of(hash))
        at = (at + 1) & mask;
    return &in->slots[at];
}

/* One after the other: slots, entries and texts are far apart in memory, and each is asked for some
 * time before it is looked at. */
static void find_block(const struct lks_intern *in, const struct lks_str *texts, size_t count,
                       uint32_t *ids)
{
    uint64_t hashes[BLOCK];
    const struct lks_intern_entry *entries[BLOCK];
    for (size_t i = 0; i < count; i++) {
        hashes[i] = lks_intern_hash(in->seed, texts[i]);
        __builtin_prefetch(&in->slots[(size_t)hashes[i] & (in->slot_count - 1)]);
    }
    for (size_t i = 0; i < count; i++) {
        const struct lks_intern_slot *slot = tagged(in, hashes[i]);
        entries[i] = slot->next == 0 ? NULL : &in->entries[slot->next - 1];
        __builtin_prefetch(entries[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if (entries[i] != NULL)
            __builtin_prefetch(entries[i]->text.ptr);
    }
    for (size_t i = 0; i < count; i++) {
        ids[i] = UINT32_MAX;
        if (entries[i] != NULL && lks_str_eq(entries[i]->text, texts[i]))
            ids[i] = (uint32_t)(entries[i] - in->entries);
        else if (entries[i] != NULL)
            (void)find(in, texts[i], hashes[i], &ids[i]);
    }
}

void lks_intern_find_all(const struct lks_intern *in, const struct lks_str *texts, size_t count,
                         uint32_t *ids)
{
    for (size_t i = 0; i < count && in->count == 0; i++)
        ids[i] = UINT32_MAX;
    for (size_t i = 0; i < count && in->count > 0; i += BLOCK)
        find_block(in, texts + i, count - i < BLOCK ? count - i : BLOCK, ids + i);
}

enum lks_code lks_intern_id(struct lks_intern *in, struct lks_str text, uint32_t *id,
                            struct lks_err *err)
{
    uint64_t hash = lks_intern_hash(in->seed, text);
    if (find(in, text, hash, id))
        return LKS_OK;
    if (in->count == in->slot_count / 2 && grow(in, err) != LKS_OK)
        return err->code;

    struct lks_intern_entry entry = {lks_arena_copy(&in->bytes, text), hash};
    if (entry.text.ptr == NULL)
        return lks_arena_fail(&in->bytes, err);
    in->entries[in->count] = entry;
    *free_slot(in, hash) = (struct lks_intern_slot){in->count + 1, tag_of(hash)};
    *id = in->count++;
    return LKS_OK;
}

struct lks_str lks_intern_text(const struct lks_intern *in, uint32_t id)
{
    LKS_ASSERT(id < in->count);
    return in->entries[id].text;
}

uint32_t lks_intern_count(const struct lks_intern *in)
{
    return in->count;
}
