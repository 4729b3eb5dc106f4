#include "bridge/view/policy.h"

#include "codec/notation/word.h"

#define ARENA_MAX     ((size_t)64 << 20)
#define NODES_MAX     200000
#define STALE_MAX     31536000
#define NODE_COUNT_OF UINT32_MAX

enum { TEXT_SHOWN = 60 };

void lks_bridge_policy_fini(struct lks_bridge_policy *p)
{
    lks_arena_fini(&p->arena);
    *p = (struct lks_bridge_policy){0};
}

/* A text that can be a word of the file. */
static enum lks_code take(const struct lks_doc *map, const char *key, bool optional,
                          struct lks_bridge_policy *p, struct lks_str *out, struct lks_err *err)
{
    struct lks_str text = lks_doc_text(map, key);
    if (!(optional && text.len == 0) && !lks_word_fits(text))
        return lks_fail(err, LKS_E_INVALID, "%s '%.*s' is not printable ASCII without blanks", key,
                        text.len < TEXT_SHOWN ? (int)text.len : TEXT_SHOWN, text.ptr);
    *out = lks_arena_copy(&p->arena, text);
    return out->ptr != NULL ? LKS_OK : lks_arena_fail(&p->arena, err);
}

static bool take_number(const struct lks_doc *map, const char *key, uint64_t max, uint64_t *out)
{
    const struct lks_doc *doc = lks_doc_member(map, key);
    if (doc == NULL || doc->kind != LKS_DOC_NUMBER || doc->fraction || doc->number < 0 ||
        (uint64_t)doc->number > max)
        return false;
    *out = (uint64_t)doc->number;
    return true;
}

static const struct lks_doc *list_of(const struct lks_doc *map, const char *key, size_t max)
{
    const struct lks_doc *list = lks_doc_member(map, key);
    return list != NULL && list->kind == LKS_DOC_LIST && list->count <= max ? list : NULL;
}

static bool read_stack(const struct lks_doc *doc, uint32_t pool, struct lks_bridge_policy *p,
                       struct lks_err *err)
{
    struct lks_policy_stack *out = &p->policy.stacks[p->policy.stack_count++];
    uint64_t slot = LKS_POLICY_SLOTS;
    *out = (struct lks_policy_stack){.pool = pool};
    bool good = take(doc, "name", true, p, &out->name, err) == LKS_OK &&
                take(doc, "version", true, p, &out->version, err) == LKS_OK &&
                take(doc, "digest", false, p, &out->digest, err) == LKS_OK &&
                take_number(doc, "nodes", NODE_COUNT_OF, &out->nodes);
    if (lks_doc_member(doc, "slot") != NULL)
        good = good && take_number(doc, "slot", LKS_POLICY_SLOTS - 1, &slot);
    out->slot = (uint32_t)slot;
    return good;
}

static bool read_enforce(struct lks_str word, enum lks_policy_enforce *out)
{
    for (int i = 0; lks_policy_enforce_words[i] != NULL; i++) {
        if (!lks_str_is(word, lks_policy_enforce_words[i]))
            continue;
        *out = (enum lks_policy_enforce)i;
        return true;
    }
    return false;
}

/* Names the pool. `err` has a text that is no word, or nothing yet. */
static enum lks_code fail_pool(const struct lks_doc *doc, struct lks_err *err)
{
    struct lks_str name = lks_doc_text(doc, "name");
    int shown = name.len < TEXT_SHOWN ? (int)name.len : TEXT_SHOWN;
    if (err->code == LKS_OK)
        return lks_fail(err, LKS_E_INVALID,
                        "pools: pool '%.*s' needs {name, nodes, enforce, closed, stale, nccl, "
                        "unfit, stacks}, and is named once",
                        shown, name.ptr);
    return lks_wrap(err, "pools: pool '%.*s'", shown, name.ptr);
}

static enum lks_code read_pool(const struct lks_doc *doc, size_t *nodes,
                               struct lks_bridge_policy *p, struct lks_err *err)
{
    uint32_t pool = p->policy.pool_count++;
    struct lks_policy_pool *out = &p->policy.pools[pool];
    const struct lks_doc *closed = lks_doc_member(doc, "closed");
    const struct lks_doc *stacks =
        list_of(doc, "stacks", LKS_POLICY_STACKS_MAX - p->policy.stack_count);
    size_t count = 0;
    bool good = take(doc, "name", false, p, &out->name, err) == LKS_OK &&
                take(doc, "nccl", true, p, &out->nccl, err) == LKS_OK &&
                take(doc, "unfit", true, p, &out->unfit, err) == LKS_OK &&
                take_number(doc, "stale", STALE_MAX, &out->stale) && closed != NULL &&
                closed->kind == LKS_DOC_BOOL && stacks != NULL &&
                read_enforce(lks_doc_text(doc, "enforce"), &out->enforce);
    out->closed = good && closed->truth;
    for (const struct lks_doc *one = good ? stacks->first : NULL; one != NULL && good;
         one = one->next)
        good = read_stack(one, pool, p, err);
    for (uint32_t i = 0; i < pool && good; i++)
        good = !lks_str_eq(p->policy.pools[i].name, out->name);
    if (!good)
        return fail_pool(doc, err);
    if (lks_hostlist_count(lks_doc_text(doc, "nodes"), &count, err) != LKS_OK)
        return lks_wrap(err, "nodes");
    *nodes += count;
    if (*nodes > NODES_MAX)
        return lks_fail(err, LKS_E_INVALID, "nodes: more than %d in all", NODES_MAX);
    return lks_hostlist_parse(lks_doc_text(doc, "nodes"), &p->arena, &p->nodes[pool], err);
}

/* An image whose texts are no words of the file is left out: the catalogue may have one, and it
 * must not keep all pools without a policy. */
static enum lks_code read_image(const struct lks_doc *doc, struct lks_bridge_policy *p,
                                struct lks_err *err)
{
    const struct lks_doc *ref = lks_doc_member(doc, "ref"), *nccl = lks_doc_member(doc, "nccl");
    struct lks_policy_image made = {0};
    if (ref == NULL || nccl == NULL || ref->kind != LKS_DOC_TEXT || nccl->kind != LKS_DOC_TEXT)
        return lks_fail(err, LKS_E_INVALID, "images: each has a ref and a version of NCCL");
    if (!lks_word_fits(ref->text) || !lks_word_fits(nccl->text))
        return LKS_OK;
    if (take(doc, "ref", false, p, &made.ref, err) != LKS_OK ||
        take(doc, "nccl", false, p, &made.nccl, err) != LKS_OK)
        return err->code;
    p->policy.images[p->policy.image_count++] = made;
    return LKS_OK;
}

static enum lks_code read_all(const struct lks_doc *pools, const struct lks_doc *images,
                              struct lks_bridge_policy *p, struct lks_err *err)
{
    size_t nodes = 0;
    p->policy.pools = lks_arena_array(&p->arena, pools->count + 1, sizeof(*p->policy.pools));
    p->nodes = lks_arena_array(&p->arena, pools->count + 1, sizeof(*p->nodes));
    p->policy.images = lks_arena_array(&p->arena, images->count + 1, sizeof(*p->policy.images));
    p->policy.stacks = lks_arena_array(&p->arena, LKS_POLICY_STACKS_MAX, sizeof(*p->policy.stacks));
    if (p->policy.pools == NULL || p->nodes == NULL || p->policy.images == NULL ||
        p->policy.stacks == NULL)
        return lks_arena_fail(&p->arena, err);
    for (const struct lks_doc *one = pools->first; one != NULL; one = one->next) {
        if (read_pool(one, &nodes, p, err) != LKS_OK)
            return err->code;
    }
    for (const struct lks_doc *one = images->first; one != NULL; one = one->next) {
        if (read_image(one, p, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

enum lks_code lks_bridge_policy_read(const struct lks_doc *body, struct lks_bridge_policy *out,
                                     struct lks_err *err)
{
    const struct lks_doc *policy = lks_doc_member(body, "policy");
    const struct lks_doc *pools = list_of(policy, "pools", LKS_POLICY_POOLS_MAX);
    const struct lks_doc *images = list_of(policy, "images", LKS_POLICY_IMAGES_MAX);
    struct lks_bridge_policy made = {0};
    if (pools == NULL || images == NULL)
        return lks_fail(err, LKS_E_INVALID, "policy: {\"pools\": [...], \"images\": [...]}");
    lks_arena_init(&made.arena, ARENA_MAX);
    if (read_all(pools, images, &made, err) == LKS_OK)
        *out = made;
    else
        lks_bridge_policy_fini(&made);
    return err->code;
}
