#include "core/view/view_manifest.h"

#include "codec/format/yaml.h"
#include "core/rows/node.h"
#include "core/rows/pool.h"
#include "core/state/lookup.h"

#define BYTES_MAX ((size_t)64 << 20)

struct copy {
    const struct lks_state *s;
    const struct lks_state_pool *pools;
    uint32_t pool_count;
    const struct lks_manifest *m;
    struct lks_docs to;
    struct lks_err *err;
};

static void copy_fini(struct copy *c)
{
    lks_docs_fini(&c->to);
}

static struct lks_doc *add(struct copy *c, struct lks_doc *parent, const struct lks_doc *from)
{
    struct lks_doc *made = lks_doc_add(&c->to, parent, from->kind);
    if (made == NULL) {
        (void)!lks_arena_fail(&c->to.arena, c->err);
        return NULL;
    }
    made->truth = from->truth;
    made->quoted = from->quoted;
    made->fraction = from->fraction;
    made->number = from->number;
    made->text = from->text; /* the manifest outlives the copy */
    made->key = from->key;
    return made;
}

/* Values nest no deeper than LKS_DOC_DEPTH_MAX. */
static void copy_all(struct copy *c, struct lks_doc *parent, const struct lks_doc *from)
{
    struct lks_doc *made = add(c, parent, from);
    for (const struct lks_doc *i = from->first; i != NULL && made != NULL; i = i->next)
        copy_all(c, made, i);
}

static void copy_text(struct copy *c, struct lks_doc *parent, const char *key, struct lks_str text)
{
    struct lks_doc like = {.kind = LKS_DOC_TEXT, .text = text, .key = lks_str_from(key)};
    (void)add(c, parent, &like);
}

/* Pools ------------------------------------------------------------------------------------- */

static void copy_pool(struct copy *c, struct lks_doc *pools, const struct lks_doc *from)
{
    uint32_t id = lks_state_pool(c->s, from->key);
    struct lks_str pin = lks_doc_text(from, "stack");
    if (id != UINT32_MAX)
        pin = lks_state_text(c->s, c->pools[id].stack);
    struct lks_doc *made = add(c, pools, from);
    bool put = pin.len == 0;
    for (const struct lks_doc *i = from->first; i != NULL && made != NULL; i = i->next) {
        if (!lks_str_is(i->key, "stack")) {
            copy_all(c, made, i);
        } else if (!put) {
            copy_text(c, made, "stack", pin);
            put = true;
        }
    }
    if (!put && made != NULL)
        copy_text(c, made, "stack", pin);
}

/* Hosts ------------------------------------------------------------------------------------- */

/* The names of a group that are still in the fleet, as a host list; as it was written where all of
 * them are. */
static enum lks_code placed_hosts(struct copy *c, struct lks_str written, struct lks_str *out)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(BYTES_MAX);
    struct lks_hostlist hosts = {0};
    size_t left = 0;
    lks_arena_init(&arena, BYTES_MAX);
    if (lks_hostlist_parse(written, &arena, &hosts, c->err) != LKS_OK)
        return c->err->code;
    for (size_t i = 0; i < hosts.count; i++)
        if (lks_state_node(c->s, hosts.names[i]) != LKS_NO_NODE)
            hosts.names[left++] = hosts.names[i];
    *out = written;
    if (left == hosts.count)
        return LKS_OK;
    if (lks_hostlist_fold(hosts.names, left, &text, c->err) != LKS_OK ||
        lks_buf_check(&text, c->err) != LKS_OK)
        return c->err->code;
    *out = lks_arena_copy(&c->to.arena, lks_buf_view(&text));
    return out->ptr != NULL ? LKS_OK : lks_arena_fail(&c->to.arena, c->err);
}

static void copy_group(struct copy *c, struct lks_doc *groups, const struct lks_doc *from)
{
    struct lks_str hosts = {0};
    if (placed_hosts(c, lks_doc_text(from, "hosts"), &hosts) != LKS_OK || hosts.len == 0)
        return;
    struct lks_doc *made = add(c, groups, from);
    for (const struct lks_doc *i = from->first; i != NULL && made != NULL; i = i->next) {
        if (lks_str_is(i->key, "hosts"))
            copy_text(c, made, "hosts", hosts);
        else
            copy_all(c, made, i);
    }
}

/* Documents --------------------------------------------------------------------------------- */

static void copy_fleet(struct copy *c, const struct lks_doc *from)
{
    struct lks_doc *made = add(c, NULL, from);
    for (const struct lks_doc *i = from->first; i != NULL && made != NULL; i = i->next) {
        bool groups = lks_str_is(i->key, "nodes") || lks_str_is(i->key, "assets");
        if (!groups && !lks_str_is(i->key, "pools")) {
            copy_all(c, made, i);
            continue;
        }
        struct lks_doc *list = add(c, made, i);
        for (const struct lks_doc *d = i->first; d != NULL && list != NULL; d = d->next)
            (groups ? copy_group : copy_pool)(c, list, d);
    }
}

/* Whether a pool is pinned to another stack of the same name: with this document beside it, the
 * file would move the pin. */
static bool is_outdated(const struct copy *c, const struct lks_stack *stack)
{
    for (uint32_t i = 0; i < c->pool_count; i++) {
        const struct lks_state_pool *p = &c->pools[i];
        if (p->known && lks_str_eq(lks_state_text(c->s, p->stack), stack->name) &&
            !lks_str_is(lks_state_text(c->s, p->stack_digest), stack->digest))
            return true;
    }
    return false;
}

static void copy_doc(struct copy *c, const struct lks_doc *doc)
{
    for (size_t i = 0; i < c->m->stack_count; i++)
        if (c->m->stacks[i].doc == doc && is_outdated(c, &c->m->stacks[i]))
            return;
    if (lks_str_is(lks_doc_text(doc, "kind"), lks_fleet_form.name))
        copy_fleet(c, doc);
    else
        copy_all(c, NULL, doc);
}

enum lks_code lks_view_manifest(const struct lks_state *s, const struct lks_state_pool *pools,
                                uint32_t pool_count, const struct lks_manifest *m,
                                struct lks_buf *out, struct lks_err *err)
{
    struct lks_err failed = {0};
    LKS_CLEANUP(copy_fini)
    struct copy c = {.s = s, .pools = pools, .pool_count = pool_count, .m = m, .err = &failed};
    if (lks_docs_init(&c.to, "manifest", err) != LKS_OK)
        return err->code;
    for (const struct lks_doc *d = m->docs.first; d != NULL && failed.code == LKS_OK; d = d->next)
        copy_doc(&c, d);
    if (failed.code != LKS_OK) {
        *err = failed;
        return err->code;
    }
    for (const struct lks_doc *d = c.to.first; d != NULL; d = d->next) {
        if (d != c.to.first)
            lks_buf_add(out, LKS_STR("---\n"));
        if (lks_yaml_write_quoted(d, out, err) != LKS_OK)
            return err->code;
    }
    return lks_buf_check(out, err);
}
