#include "base/intern.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 64 };

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

/* FNV-1a; the last step brings the high bits, which are the better mixed, down to where the slot is
 * chosen. */
static uint64_t hash_of(struct lks_str text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ (unsigned char)text.ptr[i]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 32;
}

/* The slot that has `text`, or the free one where it belongs. There is always a free one, since
 * half of them are. */
static uint32_t *slot_of(const struct lks_intern *in, struct lks_str text, uint64_t hash)
{
    size_t mask = in->slot_count - 1;
    for (size_t at = (size_t)hash & mask;; at = (at + 1) & mask) {
        uint32_t *slot = &in->slots[at];
        if (*slot == 0)
            return slot;
        const struct lks_intern_entry *entry = &in->entries[*slot - 1];
        if (entry->hash == hash && lks_str_eq(entry->text, text))
            return slot;
    }
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
    uint32_t *slots = calloc(slot_count, sizeof(slots[0]));
    if (slots == NULL)
        return lks_fail_nomem(err);

    free(in->slots);
    in->slots = slots;
    in->slot_count = slot_count;
    for (uint32_t id = 0; id < in->count; id++)
        *slot_of(in, entries[id].text, entries[id].hash) = id + 1;
    return LKS_OK;
}

bool lks_intern_find(const struct lks_intern *in, struct lks_str text, uint32_t *id)
{
    if (in->count == 0)
        return false;
    const uint32_t *slot = slot_of(in, text, hash_of(text));
    if (*slot == 0)
        return false;
    *id = *slot - 1;
    return true;
}

enum lks_code lks_intern_id(struct lks_intern *in, struct lks_str text, uint32_t *id,
                            struct lks_err *err)
{
    if (lks_intern_find(in, text, id))
        return LKS_OK;
    if (in->count == in->slot_count / 2 && grow(in, err) != LKS_OK)
        return err->code;

    struct lks_intern_entry entry = {lks_arena_copy(&in->bytes, text), hash_of(text)};
    if (entry.text.ptr == NULL)
        return lks_arena_fail(&in->bytes, err);
    in->entries[in->count] = entry;
    *slot_of(in, text, entry.hash) = in->count + 1;
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
