/* Slurm's partitions with the pools of their nodes, for the submission policy. */
#include "bridge/slurm/slurm_parts.h"
#include "bridge/view/truth.h"
#include "codec/notation/word.h"

#include <errno.h>
#include <stdio.h>

#define ARENA_MAX ((size_t)64 << 20)
#define HOSTS_MAX ((size_t)64 << 20) /* names of the nodes of one partition */
#define NAMES_MAX ((size_t)16 << 20)

enum { NAME_SHOWN = 60 };

struct finding {
    const struct lks_slurm *s;
    const struct lks_bridge_policy *from;
    struct lks_intern names; /* of the pools' nodes: the id is the place in ... */
    uint32_t *pools;         /* in the arena */
    struct lks_intern known; /* of Slurm's nodes: the id is the place in `nodes` */
    const node_info_t **nodes;
    struct lks_arena *arena;
};

static void fini(struct finding *f)
{
    lks_intern_fini(&f->names);
    lks_intern_fini(&f->known);
}

/* A node that is in two pools of the request is in the first. */
static enum lks_code index_pools(struct finding *f, struct lks_err *err)
{
    size_t count = 0;
    uint32_t id = 0;
    for (uint32_t i = 0; i < f->from->policy.pool_count; i++)
        count += f->from->nodes[i].count;
    f->pools = lks_arena_array(f->arena, count + 1, sizeof(*f->pools));
    if (f->pools == NULL)
        return lks_arena_fail(f->arena, err);
    for (uint32_t i = 0; i < f->from->policy.pool_count; i++) {
        for (size_t k = 0; k < f->from->nodes[i].count; k++) {
            uint32_t before = lks_intern_count(&f->names);
            if (lks_intern_id(&f->names, f->from->nodes[i].names[k], &id, err) != LKS_OK)
                return err->code;
            if (id >= before)
                f->pools[id] = i;
        }
    }
    return LKS_OK;
}

static enum lks_code index_nodes(struct finding *f, struct lks_err *err)
{
    uint32_t id = 0, count = f->s->node_msg != NULL ? f->s->node_msg->record_count : 0;
    f->nodes = lks_arena_array(f->arena, (size_t)count + 1, sizeof(*f->nodes));
    if (f->nodes == NULL)
        return lks_arena_fail(f->arena, err);
    for (uint32_t i = 0; i < count; i++) {
        const node_info_t *node = &f->s->node_msg->node_array[i];
        if (lks_intern_id(&f->known, lks_str_from(lks_slurm_text(node->name)), &id, err) != LKS_OK)
            return err->code;
        f->nodes[id] = node;
    }
    return LKS_OK;
}

static void count_slots(const node_info_t *node, struct lks_policy_partition *out)
{
    const char *active = node->features_act != NULL ? node->features_act : node->features;
    struct lks_str word, list = lks_str_from(lks_slurm_text(active));
    for (bool more = list.len > 0; more;) {
        more = lks_str_cut(list, ',', &word, &list);
        size_t digit = sizeof(LKS_BRIDGE_TRUTH_SLOT) - 1;
        if (lks_bridge_truth_ours(word) && word.len == digit + 1 && word.ptr[digit] >= '0' &&
            word.ptr[digit] < '0' + LKS_POLICY_SLOTS)
            out->slots[word.ptr[digit] - '0']++;
    }
}

static void add_node(const struct finding *f, struct lks_str name, struct lks_policy_partition *out)
{
    uint32_t id = 0, at = 0;
    if (!lks_intern_find(&f->names, name, &id)) {
        out->foreign++;
        return;
    }
    uint32_t pool = f->pools[id];
    out->pool = out->nodes == 0 || out->pool == pool ? pool : LKS_POLICY_NO_POOL;
    out->nodes++;
    if (lks_intern_find(&f->known, name, &at))
        count_slots(f->nodes[at], out);
}

/* A partition without nodes of lockstep is none of the policy, and one whose nodes cannot be read
 * must not hide the others: its jobs are taken as they are. The first warning stays. */
static enum lks_code add_partition(const struct finding *f, const partition_info_t *part,
                                   struct lks_policy *out, char warning[LKS_ERR_MSG_MAX],
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {.max = HOSTS_MAX};
    struct lks_policy_partition made = {.pool = LKS_POLICY_NO_POOL};
    struct lks_str nodes = lks_str_from(lks_slurm_text(part->nodes));
    struct lks_hostlist list = {0};
    struct lks_err why = {0};
    struct lks_str name = lks_str_from(lks_slurm_text(part->name));
    if (nodes.len == 0 || !lks_word_fits(name))
        return LKS_OK;
    enum lks_code code = lks_hostlist_parse(nodes, &arena, &list, &why);
    if (code == LKS_E_NOMEM)
        return lks_fail_nomem(err);
    if (code != LKS_OK && warning[0] == '\0')
        snprintf(warning, LKS_ERR_MSG_MAX,
                 "the nodes of partition '%.*s' cannot be read, and its jobs are taken as they "
                 "are: %.300s",
                 name.len < NAME_SHOWN ? (int)name.len : NAME_SHOWN, name.ptr, why.msg);
    for (size_t i = 0; i < list.count; i++)
        add_node(f, list.names[i], &made);
    if (made.nodes == 0)
        return LKS_OK;
    made.name = lks_arena_copy(f->arena, name);
    made.is_default = (part->flags & PART_FLAG_DEFAULT) != 0;
    out->partitions[out->partition_count++] = made;
    return made.name.ptr != NULL ? LKS_OK : lks_arena_fail(f->arena, err);
}

enum lks_code lks_slurm_partitions(const struct lks_slurm *s, const struct lks_bridge_policy *from,
                                   struct lks_policy *out, char warning[LKS_ERR_MSG_MAX],
                                   struct lks_err *err)
{
    LKS_CLEANUP(fini) struct finding f = {.s = s, .from = from, .arena = &out->arena};
    partition_info_msg_t *msg = NULL;
    warning[0] = '\0';
    lks_arena_init(&out->arena, ARENA_MAX);
    lks_intern_init(&f.names, NAMES_MAX);
    lks_intern_init(&f.known, NAMES_MAX);
    if (index_pools(&f, err) != LKS_OK || index_nodes(&f, err) != LKS_OK)
        return err->code;
    if (slurm_load_partitions(0, &msg, SHOW_ALL) != 0)
        return lks_slurm_fail(errno, "cannot read the partitions", err);
    uint32_t count = msg->record_count < LKS_POLICY_PARTITIONS_MAX ? msg->record_count
                                                                   : LKS_POLICY_PARTITIONS_MAX;
    enum lks_code code = LKS_OK;
    out->partitions = lks_arena_array(&out->arena, (size_t)count + 1, sizeof(*out->partitions));
    if (out->partitions == NULL) {
        slurm_free_partition_info_msg(msg);
        return lks_arena_fail(&out->arena, err);
    }
    for (uint32_t i = 0; i < count && code == LKS_OK; i++)
        code = add_partition(&f, &msg->partition_array[i], out, warning, err);
    slurm_free_partition_info_msg(msg);
    return code;
}
