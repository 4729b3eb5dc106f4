#include "sim/controllers.h"

#include "tests/tuples.h"

/* What machines run: the first two conform and differ within what was tested, the third does not.
 */
static struct lks_tuple tuples[CTL_VARIANTS], outbands[2];

const struct lks_tuple *ctl_tuple(unsigned variant)
{
    static const char *const changes[CTL_VARIANTS] = {"platform.serial=board-0\n",
                                                      "dcgm=4.6.0\ndcgm.package=4.6.0\n",
                                                      "settings.ecc@gpu *=false\n"};
    if (tuples[variant].readings == NULL)
        lks_test_tuple_with(lks_test_node, changes[variant], &tuples[variant]);
    return &tuples[variant];
}

/* What management controllers say: the same as the machine, or not. */
static const char *const outband_lines[] = {"firmware/bmc=25.02.11\n", "firmware/bmc=25.03.01\n"};

const struct lks_tuple *ctl_outband(bool disagrees, struct lks_store_blob *blob)
{
    struct lks_tuple *t = &outbands[disagrees];
    struct lks_err err = {0};
    if (t->readings == NULL)
        lks_test_tuple(outband_lines[disagrees], t);
    blob->bytes = lks_str_from(outband_lines[disagrees]);
    LKS_ASSERT(lks_digest_text(blob->bytes, blob->digest, &err) == LKS_OK);
    return t;
}

void ctl_tuples_free(void)
{
    for (unsigned v = 0; v < CTL_VARIANTS; v++)
        lks_tuple_fini(&tuples[v]);
    for (unsigned i = 0; i < 2; i++)
        lks_tuple_fini(&outbands[i]);
}

struct ctl_node *ctl_truth_node(struct ctl_world *w, struct lks_str name)
{
    for (uint32_t n = 0; n < w->node_count; n++)
        if (lks_str_is(name, w->nodes[n].name))
            return &w->nodes[n];
    return NULL;
}

/* Records ------------------------------------------------------------------------------------ */

static void note_tuple(struct ctl_world *w, lks_ms time, const struct lks_rec_tuple *r)
{
    struct ctl_node *t = ctl_truth_node(w, r->node);
    for (unsigned v = 0; v < CTL_VARIANTS; v++) {
        if (!lks_str_is(r->digest, ctl_tuple(v)->digest))
            continue;
        if (t->truth.runs != v + 1)
            t->values_since = w->now;
        t->truth.runs = v + 1;
    }
    t->truth.over = r->boot.len == 0;
    if (time >= t->truth.disagrees_until)
        t->truth.disagrees = false;
}

static void note_outband(struct ctl_world *w, lks_ms time, const struct lks_rec_outband *r)
{
    struct ctl_truth *truth = &ctl_truth_node(w, r->node)->truth;
    struct lks_store_blob blob;
    (void)ctl_outband(true, &blob);
    truth->disagrees_until = r->taken + w->limits.outband_age;
    truth->disagrees =
        lks_str_is(r->report, blob.digest) && r->basis.len > 0 && time < truth->disagrees_until;
}

static void note_condition(struct ctl_world *w, const struct lks_rec_condition *r)
{
    struct ctl_truth *truth = &ctl_truth_node(w, r->node)->truth;
    if (r->condition == LKS_CONDITION_CHANGING)
        truth->changing = r->on;
    if (r->condition == LKS_CONDITION_UNHEALTHY)
        truth->unhealthy = r->on;
}

/* In a pool that enforces it counts once an approver agreed. */
static void note_deviation(struct ctl_world *w, const struct lks_rec_deviation *r)
{
    LKS_ASSERT(r->id < CTL_DEVIATIONS_MAX);
    struct ctl_node *t = ctl_truth_node(w, r->hosts);
    w->deviations[r->id] = (uint32_t)(t - w->nodes) + 1;
    w->unagreed[r->id] = ctl_truth_enforced(w, t);
    t->truth.covered += !w->unagreed[r->id];
}

static void note_deviation_agreed(struct ctl_world *w, uint64_t id)
{
    uint32_t node = w->deviations[id];
    if (node != 0 && w->unagreed[id])
        w->nodes[node - 1].truth.covered++;
    w->unagreed[id] = false;
}

static void note_deviation_ended(struct ctl_world *w, const struct lks_rec_deviation_ended *r)
{
    uint32_t node = w->deviations[r->id];
    ctl_require(w, node != 0, "a deviation ends once");
    if (node == 0)
        return;
    w->deviations[r->id] = 0;
    w->nodes[node - 1].truth.covered -= !w->unagreed[r->id];
    w->expired += r->by.len == 0;
}

void ctl_truth_note(struct ctl_world *w, lks_ms time, const struct lks_record *r)
{
    if (r->kind == LKS_RECORD_TUPLE)
        note_tuple(w, time, &r->tuple);
    else if (r->kind == LKS_RECORD_OUTBAND)
        note_outband(w, time, &r->outband);
    else if (r->kind == LKS_RECORD_CONDITION)
        note_condition(w, &r->condition);
    else if (r->kind == LKS_RECORD_DEVIATION)
        note_deviation(w, &r->deviation);
    else if (r->kind == LKS_RECORD_DEVIATION_AGREED)
        note_deviation_agreed(w, r->deviation_agreed.id);
    else if (r->kind == LKS_RECORD_DEVIATION_ENDED)
        note_deviation_ended(w, &r->deviation_ended);
    else if (r->kind == LKS_RECORD_LIVENESS)
        ctl_truth_node(w, r->liveness.node)->truth.live = r->liveness.state == LKS_LIVE;
    else if (r->kind == LKS_RECORD_HELD)
        ctl_truth_node(w, r->held.node)->truth.held = true;
    else if (r->kind == LKS_RECORD_UNHELD)
        ctl_truth_node(w, r->unheld.node)->truth.held = false;
    else if (r->kind == LKS_RECORD_DRAINED)
        ctl_truth_node(w, r->drained.node)->truth.drained = true;
    else if (r->kind == LKS_RECORD_UNDRAINED)
        ctl_truth_node(w, r->undrained.node)->truth.drained = false;
    else if (r->kind == LKS_RECORD_COMMAND)
        ctl_truth_node(w, r->command.node)->truth.commands++;
    else if (r->kind == LKS_RECORD_COMMAND_ENDED)
        ctl_truth_node(w, r->command_ended.node)->truth.commands--;
    else if (r->kind == LKS_RECORD_DRIFT)
        ctl_truth_node(w, r->drift.node)->truth.drifting = r->drift.on;
}

/* What follows ------------------------------------------------------------------------------- */

bool ctl_truth_enforced(const struct ctl_world *w, const struct ctl_node *t)
{
    return w->enforces[t->serves];
}

bool ctl_truth_drifts(const struct ctl_node *t)
{
    return t->truth.disagrees || (t->truth.runs == CTL_VARIANTS && t->truth.covered == 0);
}

bool ctl_truth_closed(const struct ctl_world *w, const struct ctl_node *t)
{
    const struct ctl_truth *truth = &t->truth;
    bool deviates = truth->runs == CTL_VARIANTS && truth->covered > 0;
    return !truth->live || truth->runs == 0 || truth->over || truth->held || truth->unhealthy ||
           truth->changing || truth->commands > 0 || truth->drained || ctl_truth_drifts(t) ||
           (deviates && !w->takes_deviations && !t->serves);
}
