#include "submit/policy.h"

#include "codec/notation/word.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_MAX   ((size_t)16 << 20)
#define FNV_BASIS   UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME   UINT64_C(0x100000001b3)
#define NUMBER_MAX  (UINT64_MAX / 2)
#define MAGIC       "lockstep-policy"
#define SECONDS_MAX 31536000

const char *const lks_policy_enforce_words[] = {"observe", "warn", "on", NULL};

void lks_policy_fini(struct lks_policy *p)
{
    lks_arena_fini(&p->arena);
    *p = (struct lks_policy){0};
}

static uint64_t checksum(lks_ms confirmed, struct lks_str body)
{
    char number[32];
    uint64_t hash = FNV_BASIS;
    int len = snprintf(number, sizeof(number), "%" PRIu64 "\n", confirmed);
    for (int i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)number[i]) * FNV_PRIME;
    for (size_t i = 0; i < body.len; i++)
        hash = (hash ^ (unsigned char)body.ptr[i]) * FNV_PRIME;
    return hash;
}

/* Writing ----------------------------------------------------------------------------------- */

static bool put(struct lks_buf *out, struct lks_str word, bool optional)
{
    bool none = optional && word.len == 0;
    if (!none && !lks_word_fits(word))
        return false;
    lks_buf_addf(out, " %" LKS_STR_FMT, LKS_STR_ARG(none ? LKS_STR("-") : word));
    return true;
}

static bool put_pools(const struct lks_policy *p, struct lks_buf *out)
{
    bool good = true;
    for (uint32_t i = 0; i < p->pool_count && good; i++) {
        const struct lks_policy_pool *pool = &p->pools[i];
        lks_buf_addf(out, "pool");
        good = put(out, pool->name, false);
        lks_buf_addf(out, " %s %s %" PRIu64, lks_policy_enforce_words[pool->enforce],
                     pool->closed ? "closed" : "open", pool->stale);
        good = good && put(out, pool->nccl, true) && put(out, pool->unfit, true);
        lks_buf_addc(out, '\n');
    }
    return good;
}

static struct lks_str pool_of(const struct lks_policy *p, uint32_t pool)
{
    return pool < p->pool_count ? p->pools[pool].name : LKS_STR("");
}

static bool put_stacks(const struct lks_policy *p, struct lks_buf *out)
{
    bool good = true;
    for (uint32_t i = 0; i < p->stack_count && good; i++) {
        const struct lks_policy_stack *stack = &p->stacks[i];
        lks_buf_addf(out, "stack");
        good = put(out, pool_of(p, stack->pool), false);
        if (stack->slot < LKS_POLICY_SLOTS)
            lks_buf_addf(out, " %" PRIu32, stack->slot);
        else
            lks_buf_addf(out, " -");
        lks_buf_addf(out, " %" PRIu64, stack->nodes);
        good = good && put(out, stack->digest, false) && put(out, stack->name, true) &&
               put(out, stack->version, true);
        lks_buf_addc(out, '\n');
    }
    return good;
}

static bool put_partitions(const struct lks_policy *p, struct lks_buf *out)
{
    bool good = true;
    for (uint32_t i = 0; i < p->partition_count && good; i++) {
        const struct lks_policy_partition *part = &p->partitions[i];
        lks_buf_addf(out, "partition");
        good = put(out, part->name, false);
        lks_buf_addf(out, " %d", part->is_default);
        good = good && put(out, pool_of(p, part->pool), true);
        lks_buf_addf(out, " %" PRIu64 " %" PRIu64, part->nodes, part->foreign);
        for (unsigned k = 0; k < LKS_POLICY_SLOTS; k++)
            lks_buf_addf(out, " %" PRIu64, part->slots[k]);
        lks_buf_addc(out, '\n');
    }
    return good;
}

static bool put_images(const struct lks_policy *p, struct lks_buf *out)
{
    bool good = true;
    for (uint32_t i = 0; i < p->image_count && good; i++) {
        lks_buf_addf(out, "image");
        good = put(out, p->images[i].nccl, false) && put(out, p->images[i].ref, false);
        lks_buf_addc(out, '\n');
    }
    return good;
}

enum lks_code lks_policy_write(const struct lks_policy *p, struct lks_buf *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(LKS_POLICY_BYTES_MAX);
    if (!put_pools(p, &body) || !put_stacks(p, &body) || !put_partitions(p, &body) ||
        !put_images(p, &body))
        return lks_fail(err, LKS_E_INVALID,
                        "a name in the policy is empty, too long, or has blanks");
    if (lks_buf_check(&body, err) != LKS_OK)
        return lks_wrap(err, "policy");
    struct lks_str text = lks_buf_view(&body);
    lks_buf_addf(out, MAGIC " %d %" PRIu64 " %zu %016" PRIx64 "\n", LKS_POLICY_FORMAT, p->confirmed,
                 text.len, checksum(p->confirmed, text));
    lks_buf_add(out, text);
    return lks_buf_check(out, err);
}

/* Reading ----------------------------------------------------------------------------------- */

/* A line, word by word; `bad` once one is not what it should be. */
struct line {
    struct lks_str rest;
    bool more, bad;
    struct lks_arena *arena;
};

static struct lks_str word(struct line *l, bool optional)
{
    struct lks_str at = {0};
    if (!l->more || l->bad) {
        l->bad = true;
        return at;
    }
    l->more = lks_str_cut(l->rest, ' ', &at, &l->rest);
    if (optional && lks_str_is(at, "-"))
        return LKS_STR("");
    l->bad = !lks_word_fits(at);
    return at;
}

/* As it is printed: without zeros in front. */
static uint64_t number(struct line *l, uint64_t max)
{
    struct lks_str at = word(l, false);
    uint64_t value = 0;
    l->bad = l->bad || !lks_str_number(at, max, &value) || (at.len > 1 && at.ptr[0] == '0');
    return value;
}

static struct lks_str text(struct line *l, bool optional)
{
    struct lks_str at = word(l, optional), kept = lks_arena_copy(l->arena, at);
    l->bad = l->bad || kept.ptr == NULL;
    return kept;
}

static uint32_t pool(struct line *l, const struct lks_policy *p, bool optional)
{
    struct lks_str name = word(l, optional);
    for (uint32_t i = 0; i < p->pool_count; i++) {
        if (lks_str_eq(p->pools[i].name, name))
            return i;
    }
    l->bad = l->bad || name.len > 0;
    return LKS_POLICY_NO_POOL;
}

static void read_pool(struct line *l, struct lks_policy *p)
{
    struct lks_policy_pool *out = &p->pools[p->pool_count];
    struct lks_str name = text(l, false), enforce = word(l, false), stale = word(l, false);
    int at = 0;
    while (lks_policy_enforce_words[at] != NULL &&
           !lks_str_is(enforce, lks_policy_enforce_words[at]))
        at++;
    l->bad = l->bad || lks_policy_enforce_words[at] == NULL;
    for (uint32_t i = 0; i < p->pool_count; i++)
        l->bad = l->bad || lks_str_eq(p->pools[i].name, name);
    out->name = name;
    out->enforce = l->bad ? LKS_POLICY_OBSERVE : (enum lks_policy_enforce)at;
    out->closed = lks_str_is(stale, "closed");
    l->bad = l->bad || (!out->closed && !lks_str_is(stale, "open"));
    out->stale = number(l, SECONDS_MAX);
    out->nccl = text(l, true);
    out->unfit = text(l, true);
    p->pool_count++;
}

static void read_stack(struct line *l, struct lks_policy *p)
{
    struct lks_policy_stack *out = &p->stacks[p->stack_count++];
    uint64_t slot = LKS_POLICY_SLOTS;
    out->pool = pool(l, p, false);
    struct lks_str at = word(l, true);
    l->bad =
        l->bad || (at.len > 0 && (at.len != 1 || !lks_str_number(at, LKS_POLICY_SLOTS - 1, &slot)));
    out->slot = (uint32_t)slot;
    out->nodes = number(l, UINT32_MAX);
    out->digest = text(l, false);
    out->name = text(l, true);
    out->version = text(l, true);
}

static void read_partition(struct line *l, struct lks_policy *p)
{
    struct lks_policy_partition *out = &p->partitions[p->partition_count++];
    out->name = text(l, false);
    out->is_default = number(l, 1) == 1;
    out->pool = pool(l, p, true);
    out->nodes = number(l, UINT32_MAX);
    out->foreign = number(l, UINT32_MAX);
    for (unsigned k = 0; k < LKS_POLICY_SLOTS; k++)
        out->slots[k] = number(l, UINT32_MAX);
}

static void read_image(struct line *l, struct lks_policy *p)
{
    struct lks_policy_image *out = &p->images[p->image_count++];
    out->nccl = text(l, false);
    out->ref = text(l, false);
}

/* Kinds come in this order. */
static const struct {
    const char *word;
    void (*read)(struct line *l, struct lks_policy *p);
    size_t count; /* offsetof() */
    uint32_t max;
} kinds[] = {
    {"pool", read_pool, offsetof(struct lks_policy, pool_count), LKS_POLICY_POOLS_MAX},
    {"stack", read_stack, offsetof(struct lks_policy, stack_count), LKS_POLICY_STACKS_MAX},
    {"partition", read_partition, offsetof(struct lks_policy, partition_count),
     LKS_POLICY_PARTITIONS_MAX},
    {"image", read_image, offsetof(struct lks_policy, image_count), LKS_POLICY_IMAGES_MAX},
};

static enum lks_code read_lines(struct lks_str body, struct lks_policy *p, struct lks_err *err)
{
    size_t kind = 0, at = 1;
    while (body.len > 0) {
        struct line l = {.more = true, .arena = &p->arena};
        l.bad = !lks_str_cut(body, '\n', &l.rest, &body);
        struct lks_str name = word(&l, false);
        while (kind < LKS_COUNT(kinds) && !lks_str_is(name, kinds[kind].word))
            kind++;
        if (kind == LKS_COUNT(kinds) || l.bad ||
            *(uint32_t *)(void *)((char *)p + kinds[kind].count) == kinds[kind].max)
            return lks_fail(err, LKS_E_INVALID, "policy: line %zu is none of this format", at);
        kinds[kind].read(&l, p);
        if (l.bad || l.more)
            return lks_fail(err, LKS_E_INVALID, "policy: line %zu is damaged", at);
        at++;
    }
    return LKS_OK;
}

/* The first line; the rest is in `body`. */
static enum lks_code read_head(struct lks_str bytes, struct lks_policy *out, struct lks_str *body,
                               struct lks_err *err)
{
    struct line l = {.more = true, .arena = &out->arena};
    bool whole = lks_str_cut(bytes, '\n', &l.rest, body);
    if (!whole || !lks_str_is(word(&l, false), MAGIC))
        return lks_fail(err, LKS_E_INVALID, "policy: the file is not a policy of lockstep");
    uint64_t format = number(&l, NUMBER_MAX);
    if (!l.bad && format != LKS_POLICY_FORMAT)
        return lks_fail(err, LKS_E_REFUSED,
                        "policy: format %" PRIu64 ", and this program reads %d: bridge and plugin "
                        "are of different releases",
                        format, LKS_POLICY_FORMAT);
    out->confirmed = number(&l, LKS_TIME_MAX);
    uint64_t len = number(&l, LKS_POLICY_BYTES_MAX);
    struct lks_str sum = word(&l, false);
    char want[32];
    snprintf(want, sizeof(want), "%016" PRIx64, checksum(out->confirmed, *body));
    if (l.bad || l.more || len != body->len || !lks_str_is(sum, want))
        return lks_fail(err, LKS_E_INVALID, "policy: the file is torn or damaged");
    return LKS_OK;
}

static int by_ref(const void *left, const void *right)
{
    const struct lks_policy_image *a = left, *b = right;
    int order = lks_str_cmp(a->ref, b->ref);
    return order != 0 ? order : lks_str_cmp(a->nccl, b->nccl);
}

static int is_ref(const void *ref, const void *image)
{
    return lks_str_cmp(*(const struct lks_str *)ref, ((const struct lks_policy_image *)image)->ref);
}

const struct lks_policy_image *lks_policy_image(const struct lks_policy *p, struct lks_str ref)
{
    if (p->image_count == 0)
        return NULL;
    return bsearch(&ref, p->images, p->image_count, sizeof(p->images[0]), is_ref);
}

static bool make_room(struct lks_policy *p, size_t lines)
{
    const size_t most[] = {LKS_POLICY_POOLS_MAX, LKS_POLICY_STACKS_MAX, LKS_POLICY_PARTITIONS_MAX,
                           LKS_POLICY_IMAGES_MAX};
    size_t room[LKS_COUNT(most)];
    for (size_t i = 0; i < LKS_COUNT(most); i++)
        room[i] = lines < most[i] ? lines : most[i];
    p->pools = lks_arena_array(&p->arena, room[0], sizeof(*p->pools));
    p->stacks = lks_arena_array(&p->arena, room[1], sizeof(*p->stacks));
    p->partitions = lks_arena_array(&p->arena, room[2], sizeof(*p->partitions));
    p->images = lks_arena_array(&p->arena, room[3], sizeof(*p->images));
    return p->pools != NULL && p->stacks != NULL && p->partitions != NULL && p->images != NULL;
}

enum lks_code lks_policy_read(struct lks_str bytes, struct lks_policy *out, struct lks_err *err)
{
    struct lks_policy made = {0};
    struct lks_str body = {0};
    if (bytes.len > LKS_POLICY_BYTES_MAX)
        return lks_fail(err, LKS_E_INVALID, "policy: the file is too large");
    lks_arena_init(&made.arena, ARENA_MAX);
    enum lks_code code = read_head(bytes, &made, &body, err);
    if (code == LKS_OK)
        code = make_room(&made, lks_str_count(body, '\n') + 1) ? read_lines(body, &made, err)
                                                               : lks_arena_fail(&made.arena, err);
    if (code != LKS_OK) {
        lks_policy_fini(&made);
        return code;
    }
    qsort(made.images, made.image_count, sizeof(made.images[0]), by_ref);
    *out = made;
    return code;
}
