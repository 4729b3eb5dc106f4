#include "core/state/refintern.h"

#include "base/intern.h"

#include <stdlib.h>

enum { FIRST_ROOM = 64, ROOM_MAX = 1 << 30 };

void lks_refintern_init(struct lks_refintern *p, uint64_t seed)
{
    *p = (struct lks_refintern){.seed = seed};
}

void lks_refintern_fini(struct lks_refintern *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        free(p->entries[i].text);
    free(p->entries);
    free(p->buckets);
    *p = (struct lks_refintern){0};
}

static uint32_t *bucket_of(const struct lks_refintern *p, uint32_t tag)
{
    return &p->buckets[tag & (p->bucket_count - 1)];
}

/* As many buckets as there are places: chains stay short. */
static enum lks_code grow(struct lks_refintern *p, struct lks_err *err)
{
    uint32_t room = p->room == 0 ? FIRST_ROOM : p->room * 2;
    if (room > ROOM_MAX)
        return lks_fail(err, LKS_E_LIMIT, "more than %u texts at once", p->room);
    struct lks_refintern_entry *entries = reallocarray(p->entries, room, sizeof(entries[0]));
    if (entries == NULL)
        return lks_fail_nomem(err);
    p->entries = entries;
    uint32_t *buckets = calloc(room, sizeof(buckets[0]));
    if (buckets == NULL)
        return lks_fail_nomem(err);
    free(p->buckets);
    p->buckets = buckets;
    p->bucket_count = p->room = room;
    for (uint32_t i = 0; i < p->count; i++) { /* none is free where there is no room */
        uint32_t *bucket = bucket_of(p, entries[i].tag);
        entries[i].next = *bucket;
        *bucket = i + 1;
    }
    return LKS_OK;
}

static bool find(const struct lks_refintern *p, struct lks_str text, uint32_t tag, uint32_t *id)
{
    if (p->bucket_count == 0)
        return false;
    for (uint32_t at = *bucket_of(p, tag); at != 0; at = p->entries[at - 1].next) {
        const struct lks_refintern_entry *e = &p->entries[at - 1];
        if (e->tag == tag && lks_str_eq((struct lks_str){e->text, e->len}, text)) {
            *id = at - 1;
            return true;
        }
    }
    return false;
}

enum lks_code lks_refintern_take(struct lks_refintern *p, struct lks_str text, uint32_t *id,
                                 struct lks_err *err)
{
    uint32_t tag = (uint32_t)lks_intern_hash((const uint64_t[2]){p->seed, ~p->seed}, text);
    if (find(p, text, tag, id)) {
        p->entries[*id].uses++;
        return LKS_OK;
    }
    if (text.len >= UINT32_MAX)
        return lks_fail(err, LKS_E_LIMIT, "a text of %zu bytes", text.len);
    if (p->free == 0 && p->count == p->room && grow(p, err) != LKS_OK)
        return err->code;
    char *copy = calloc(text.len + 1, 1);
    if (copy == NULL)
        return lks_fail_nomem(err);
    if (text.len > 0)
        memcpy(copy, text.ptr, text.len);
    uint32_t at = p->free == 0 ? p->count : p->free - 1;
    if (p->free == 0)
        p->count++;
    else
        p->free = p->entries[at].next;
    uint32_t *bucket = bucket_of(p, tag);
    p->entries[at] = (struct lks_refintern_entry){
        .text = copy, .len = (uint32_t)text.len, .uses = 1, .next = *bucket, .tag = tag};
    *bucket = at + 1;
    *id = at;
    return LKS_OK;
}

void lks_refintern_drop(struct lks_refintern *p, uint32_t id)
{
    LKS_ASSERT(id < p->count && p->entries[id].uses > 0);
    struct lks_refintern_entry *e = &p->entries[id];
    if (--e->uses > 0)
        return;
    uint32_t *link = bucket_of(p, e->tag);
    while (*link != id + 1)
        link = &p->entries[*link - 1].next;
    *link = e->next;
    free(e->text);
    *e = (struct lks_refintern_entry){.next = p->free};
    p->free = id + 1;
}

struct lks_str lks_refintern_text(const struct lks_refintern *p, uint32_t id)
{
    LKS_ASSERT(id < p->count && p->entries[id].uses > 0);
    return (struct lks_str){p->entries[id].text, p->entries[id].len};
}
