#include "bridge/slurm/slurm_truth.h"

#include "bridge/slurm/slurm_parts.h"
#include "codec/notation/drain_reason.h"

#include <errno.h>
#include <stdlib.h>

#define NAMES_MAX ((size_t)4 << 20)
#define TEXTS_MAX ((size_t)64 << 20)
#define LISTS_MAX ((size_t)1 << 20) /* features of a node, and nodes of a request */

enum { REFUSED_FEW = 8 }; /* nodes that are looked for by halves */

/* The rows with the nodes they are about. */
struct truths {
    const struct lks_bridge_truth *truth;
    struct lks_slurm_truth_end *ends;
    const node_info_t **nodes; /* by row, in the arena; NULL: Slurm has none */
    struct lks_arena arena;
    struct lks_intern names;  /* of rows: the id is the row */
    struct lks_intern groups; /* texts to be written */
    uint32_t *group;          /* by row; UINT32_MAX: the node has them already, or fails */
    uint32_t *members;        /* rows of one group */
    uint32_t refused;         /* rows that slurmctld refused */
};

static struct lks_str text(const char *maybe)
{
    return lks_str_from(lks_slurm_text(maybe));
}

static struct lks_str active(const node_info_t *node)
{
    return text(node->features_act != NULL ? node->features_act : node->features);
}

static void fini(struct truths *t)
{
    lks_arena_fini(&t->arena);
    lks_intern_fini(&t->names);
    lks_intern_fini(&t->groups);
}

static enum lks_code find_nodes(const struct lks_slurm *s, const struct lks_bridge_truth *truth,
                                struct lks_slurm_truth_end *ends, struct truths *t,
                                struct lks_err *err)
{
    uint32_t id = 0;
    t->truth = truth;
    t->ends = ends;
    lks_arena_init(&t->arena, TEXTS_MAX);
    lks_intern_init(&t->names, NAMES_MAX);
    lks_intern_init(&t->groups, TEXTS_MAX);
    t->nodes = lks_arena_array(&t->arena, truth->count + (size_t)1, sizeof(*t->nodes));
    t->group = lks_arena_array(&t->arena, truth->count + (size_t)1, sizeof(*t->group));
    t->members = lks_arena_array(&t->arena, truth->count + (size_t)1, sizeof(*t->members));
    if (t->nodes == NULL || t->group == NULL || t->members == NULL)
        return lks_arena_fail(&t->arena, err);
    for (uint32_t i = 0; i < truth->count; i++) {
        if (lks_intern_id(&t->names, truth->rows[i].node, &id, err) != LKS_OK)
            return err->code;
    }
    for (uint32_t i = 0; s->node_msg != NULL && i < s->node_msg->record_count; i++) {
        const node_info_t *node = &s->node_msg->node_array[i];
        if (lks_intern_find(&t->names, text(node->name), &id))
            t->nodes[id] = node;
    }
    return LKS_OK;
}

/* The digest is shown, or there is no place for it. */
static bool has_digest(const node_info_t *node, struct lks_str digest)
{
    struct lks_str extra = text(node->extra), comment = text(node->comment);
    return lks_bridge_truth_place(extra, comment) == LKS_BRIDGE_TRUTH_NOWHERE ||
           lks_str_eq(lks_bridge_truth_digest(extra, comment), digest);
}

static bool shows(const node_info_t *node, const struct lks_bridge_truth_row *row)
{
    return lks_bridge_truth_is(text(node->features), row->features) &&
           lks_bridge_truth_is(active(node), row->features) && has_digest(node, row->digest);
}

/* Sending ----------------------------------------------------------------------------------- */

/* The texts of a group, one line each: available and active features, extra, comment. A line "=" is
 * left as it is. */
enum { AVAILABLE, ACTIVE, EXTRA, COMMENT, LINES };

static void write_group(const node_info_t *node, const struct lks_bridge_truth_row *row,
                        struct lks_buf *out)
{
    enum lks_bridge_truth_place place =
        lks_bridge_truth_place(text(node->extra), text(node->comment));
    bool same = has_digest(node, row->digest);
    lks_bridge_truth_merge(text(node->features), row->features, out);
    lks_buf_addc(out, '\n');
    lks_bridge_truth_merge(active(node), row->features, out);
    for (int i = LKS_BRIDGE_TRUTH_EXTRA; i <= LKS_BRIDGE_TRUTH_COMMENT; i++) {
        if (same || place != (enum lks_bridge_truth_place)i)
            lks_buf_addf(out, "\n=");
        else
            lks_buf_addf(out, "\n%s%" LKS_STR_FMT, row->digest.len > 0 ? LKS_DRAIN_REASON_MARK : "",
                         LKS_STR_ARG(row->digest));
    }
}

static enum lks_code put_in_group(struct truths *t, uint32_t row, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf made = LKS_BUF(LISTS_MAX);
    write_group(t->nodes[row], &t->truth->rows[row], &made);
    if (lks_buf_check(&made, err) != LKS_OK)
        return err->code;
    return lks_intern_id(&t->groups, lks_buf_view(&made), &t->group[row], err);
}

static enum lks_code update(const char *nodes, struct lks_str group, struct lks_err *err)
{
    update_node_msg_t msg;
    char *lines[LINES] = {NULL}, *names = strdup(nodes);
    enum lks_code code = names != NULL ? LKS_OK : lks_fail_nomem(err);
    struct lks_str line;
    for (size_t i = 0; i < LINES && code == LKS_OK; i++) {
        lks_str_cut(group, '\n', &line, &group);
        if (!lks_str_is(line, "=") && (lines[i] = strndup(line.ptr, line.len)) == NULL)
            code = lks_fail_nomem(err);
    }
    slurm_init_update_node_msg(&msg);
    msg.node_names = names;
    msg.features = lines[AVAILABLE];
    msg.features_act = lines[ACTIVE];
    msg.extra = lines[EXTRA];
    msg.comment = lines[COMMENT];
    if (code == LKS_OK && slurm_update_node(&msg) != 0)
        code = lks_slurm_fail(errno, "cannot set features", err);
    for (size_t i = 0; i < LINES; i++)
        free(lines[i]);
    free(names);
    return code;
}

static enum lks_code update_rows(struct truths *t, const uint32_t *rows, uint32_t count,
                                 struct lks_str texts, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf names = LKS_BUF(LISTS_MAX);
    for (uint32_t i = 0; i < count; i++)
        lks_buf_addf(&names, "%s%" LKS_STR_FMT, i > 0 ? "," : "",
                     LKS_STR_ARG(t->truth->rows[rows[i]].node));
    if (lks_buf_check(&names, err) != LKS_OK)
        return err->code;
    for (uint32_t i = 0; i < count; i++)
        t->ends[rows[i]].sent = true;
    return update(names.ptr, texts, err);
}

/* Rows with the same texts as one request. slurmctld refuses a list for one of its nodes: then each
 * half is sent, so that a node costs as many requests as the list can be halved. After several such
 * nodes the rest is sent one by one, which is less if all are refused. */
static enum lks_code send_rows(struct truths *t, const uint32_t *rows, uint32_t count,
                               struct lks_str texts, struct lks_err *err)
{
    struct lks_err why = {0};
    enum lks_code code = update_rows(t, rows, count, texts, &why);
    if (code == LKS_E_UNAVAILABLE || code == LKS_E_NOMEM) {
        *err = why;
        return code;
    }
    if (code == LKS_OK || count == 1) {
        t->refused += code != LKS_OK;
        t->ends[rows[0]].err = why;
        return LKS_OK;
    }
    uint32_t piece = t->refused < REFUSED_FEW ? (count + 1) / 2 : 1;
    for (uint32_t i = 0; i < count; i += piece) {
        uint32_t left = count - i;
        if (send_rows(t, rows + i, left < piece ? left : piece, texts, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

static enum lks_code send_group(struct truths *t, uint32_t group, struct lks_err *err)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->truth->count; i++) {
        if (t->group[i] == group)
            t->members[count++] = i;
    }
    return send_rows(t, t->members, count, lks_intern_text(&t->groups, group), err);
}

enum lks_code lks_slurm_truth_send(struct lks_slurm *s, const struct lks_bridge_truth *truth,
                                   struct lks_slurm_truth_end *ends, struct lks_err *err)
{
    LKS_CLEANUP(fini) struct truths t = {0};
    if (find_nodes(s, truth, ends, &t, err) != LKS_OK)
        return err->code;
    for (uint32_t i = 0; i < truth->count; i++) {
        t.group[i] = UINT32_MAX;
        if (t.nodes[i] != NULL && !shows(t.nodes[i], &truth->rows[i]) &&
            put_in_group(&t, i, err) != LKS_OK)
            return err->code;
    }
    for (uint32_t i = 0; i < lks_intern_count(&t.groups); i++) {
        if (send_group(&t, i, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

enum lks_code lks_slurm_truth_verify(struct lks_slurm *s, const struct lks_bridge_truth *truth,
                                     struct lks_slurm_truth_end *ends, struct lks_err *err)
{
    LKS_CLEANUP(fini) struct truths t = {0};
    if (find_nodes(s, truth, ends, &t, err) != LKS_OK)
        return err->code;
    for (uint32_t i = 0; i < truth->count; i++) {
        struct lks_err *end = &ends[i].err;
        if (t.nodes[i] != NULL && shows(t.nodes[i], &truth->rows[i]))
            *end = (struct lks_err){0};
        else if (t.nodes[i] == NULL)
            (void)!lks_fail(end, LKS_E_NOT_FOUND, "Slurm has no node of this name");
        else if (end->code == LKS_OK)
            (void)!lks_fail(end, LKS_E_REFUSED,
                            "the features are others than those that were set; another program "
                            "changes them");
    }
    return LKS_OK;
}
