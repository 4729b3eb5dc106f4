#include "bridge/view/node.h"
#include "bridge/view/truth.h"
#include "codec/notation/drain_reason.h"

#include <string.h>

static void write_words(struct lks_json_writer *w, const char *key, struct lks_str list)
{
    struct lks_str word;
    lks_json_begin(w, key, '[');
    for (bool more = list.len > 0; more;) {
        more = lks_str_cut(list, ',', &word, &list);
        if (word.len > 0)
            lks_json_text(w, NULL, word);
    }
    lks_json_end(w, ']');
}

/* What lockstep published: features that are available and active, and the digest. */
static void write_truth(struct lks_json_writer *w, const struct lks_bridge_node *node)
{
    struct lks_str word, list = node->active;
    struct lks_str digest = lks_bridge_truth_digest(node->extra, node->comment);
    bool whole = lks_bridge_truth_is(node->features, node->active);
    lks_json_begin(w, "truth", '{');
    lks_json_begin(w, "features", '[');
    for (bool more = whole && list.len > 0; more;) {
        more = lks_str_cut(list, ',', &word, &list);
        if (lks_bridge_truth_ours(word))
            lks_json_text(w, NULL, word);
    }
    lks_json_end(w, ']');
    lks_json_bool(w, "slots", true); /* a bridge of before refuses features such as lks0 */
    lks_json_bool(w, "shown",
                  lks_bridge_truth_place(node->extra, node->comment) != LKS_BRIDGE_TRUTH_NOWHERE);
    lks_json_text(w, "digest", digest);
    lks_json_end(w, '}');
}

/* A number that may not be known, or a moment that may not be. */
static void write_number(struct lks_json_writer *w, const char *key, bool known, uint64_t value)
{
    if (known)
        lks_json_int(w, key, (int64_t)value);
    else
        lks_json_null(w, key);
}

void lks_bridge_node_job_json(const struct lks_bridge_job *job, bool whole,
                              struct lks_json_writer *w)
{
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "id", job->id);
    if (!whole)
        lks_json_cstr(w, "kind", "batch");
    lks_json_text(w, "name", job->name);
    lks_json_text(w, "user", job->user);
    lks_json_text(w, "account", job->account);
    if (whole) {
        lks_json_text(w, "partition", job->partition);
        lks_json_text(w, "state", job->state);
        lks_json_text(w, "nodes", job->nodes);
    } else {
        lks_json_int(w, "nodes", job->node_count);
    }
    write_number(w, "started", job->started > 0, job->started);
    write_number(w, "ends", job->ends > 0, job->ends);
    lks_json_bool(w, "requeue", job->requeue);
    write_number(w, "gpus", job->gpus != LKS_BRIDGE_UNKNOWN, job->gpus);
    lks_json_end(w, '}');
}

/* FAIL keeps new work away as DRAIN does, and is a person's, whatever the reason is: one of
 * lockstep's may be left from its drain, which FAIL ended. */
static void write_drain(struct lks_json_writer *w, const struct lks_bridge_node *node)
{
    bool own = node->own && node->drained;
    if (!node->drained && !node->failing) {
        lks_json_null(w, "drain");
        return;
    }
    lks_json_begin(w, "drain", '{');
    lks_json_text(w, "owner", lks_drain_reason_owner(node->reason, own, node->user));
    lks_json_text(w, "reason", lks_drain_reason_why(node->reason, own));
    lks_json_int(w, "since", (int64_t)node->since);
    lks_json_end(w, '}');
}

static void write_reservation(struct lks_json_writer *w, const struct lks_bridge_reservation *r)
{
    if (r == NULL) {
        lks_json_null(w, "reservation");
        return;
    }
    lks_json_begin(w, "reservation", '{');
    lks_json_text(w, "name", r->name);
    lks_json_int(w, "from", (int64_t)r->from);
    lks_json_int(w, "until", (int64_t)r->until);
    lks_json_bool(w, "maint", r->maint);
    lks_json_bool(w, "own", r->own);
    write_words(w, "users", r->users);
    lks_json_end(w, '}');
}

void lks_bridge_node_json(const struct lks_bridge_node *node, const struct lks_bridge_load *load,
                          struct lks_buf *out)
{
    struct lks_json_writer w = {.out = out};
    lks_json_begin(&w, NULL, '{');
    lks_json_bool(&w, "accepts", node->accepts);
    write_drain(&w, node);
    lks_json_begin(&w, "jobs", '[');
    for (size_t i = 0; i < load->job_count; i++)
        lks_bridge_node_job_json(load->jobs[i], false, &w);
    lks_json_end(&w, ']');
    lks_json_bool(&w, "rotation", false);
    lks_json_int(&w, "requests", 0);
    lks_json_text(&w, "state", node->state);
    lks_json_bool(&w, "down", node->down);
    lks_json_bool(&w, "responding", node->responding);
    lks_json_text(&w, "reason", node->reason);
    write_words(&w, "features", node->features);
    write_words(&w, "active_features", node->active);
    write_truth(&w, node);
    lks_json_text(&w, "gres", node->gres);
    lks_json_text(&w, "gres_used", node->gres_used);
    write_reservation(&w, load->reservation);
    lks_json_end(&w, '}');
}

/* "gres/gpu=4", "gpu:h200:2(IDX:0-1)", "gpu=4", "gpu:4": the number, where the item is of GPUs. */
static bool read_gpus(struct lks_str item, uint64_t *out)
{
    struct lks_str name = item, count, kind;
    lks_str_cut(item, '(', &item, &kind);
    if (lks_str_starts(item, "gres/") || lks_str_starts(item, "gres:"))
        item = (struct lks_str){item.ptr + 5, item.len - 5};
    bool assigned = lks_str_cut(item, '=', &name, &count);
    if (!assigned) {
        count = lks_str_last(item, ':');
        lks_str_cut(item, ':', &name, &kind);
    } else if (memchr(name.ptr, ':', name.len) != NULL) {
        return false; /* "gres/gpu:h200=4" repeats what "gres/gpu=4" counts */
    }
    return lks_str_is(name, "gpu") && lks_str_number(count, UINT32_MAX - 1, out);
}

uint32_t lks_bridge_node_gpus(struct lks_str list)
{
    struct lks_str item;
    uint64_t all = 0, count = 0;
    bool seen = false;
    for (bool more = list.len > 0; more;) {
        more = lks_str_cut(list, ',', &item, &list);
        if (read_gpus(lks_str_trim(item), &count)) {
            seen = true;
            all += count;
        }
    }
    return seen && all < LKS_BRIDGE_UNKNOWN ? (uint32_t)all : LKS_BRIDGE_UNKNOWN;
}
