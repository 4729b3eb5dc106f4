#include "core/campaign/state_apply.h"
#include "core/entity/entity.h"
#include "core/state/state.h"
#include "sim/controllers.h"
#include "tests/reload.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { YES_MAX = 1024, EPOCHS_MAX = 1024 };

/* What is known apart from all controllers: the durable rows, folded as they come, and what was
 * promised to whom. */
struct ctl_model {
    struct lks_state state;
    struct lks_store store;
    uint8_t hash[LKS_HASH_BYTES];
    uint64_t acked; /* the last row that was acknowledged */
    uint8_t acked_hash[LKS_HASH_BYTES];
    uint64_t epoch;              /* of the last LED record */
    char owners[EPOCHS_MAX][24]; /* who committed in an epoch */
    uint64_t answered;           /* the highest epoch that a leader answered in */
    struct ctl_yes yeses[YES_MAX];
    size_t yes_count;
};

void ctl_model_init(struct ctl_world *w)
{
    struct lks_err err = {0};
    w->model = calloc(1, sizeof(*w->model));
    LKS_ASSERT(w->model != NULL && lks_state_init(&w->model->state, 3, &err) == LKS_OK &&
               lks_store_memory_share(w->disk, &w->model->store, &err) == LKS_OK);
}

void ctl_model_fini(struct ctl_world *w)
{
    if (w->model == NULL)
        return;
    lks_state_fini(&w->model->state);
    lks_store_close(&w->model->store);
    free(w->model);
    w->model = NULL;
}

/* Rows ---------------------------------------------------------------------------------------- */

/* No step begins on a node while a yes that names it is good. */
static void begin_step(struct ctl_world *w, struct ctl_node *t)
{
    uint64_t bit = (uint64_t)1 << (t - w->nodes);
    if (t->stepped_until > w->now)
        return;
    t->stepped_until = w->now + ctl_between(w, 5 * LKS_SECOND, 25 * LKS_SECOND);
    w->changes++;
    ctl_say(w, "a step begins on %s", t->name);
    for (size_t i = 0; i < w->model->yes_count && ctl_truth_enforced(w, t); i++) {
        const struct ctl_yes *yes = &w->model->yeses[i];
        ctl_require(w, (yes->nodes & bit) == 0 || yes->valid_until <= w->now,
                    "no step begins on a node while a yes that names it is good");
    }
}

/* Before it is applied. */
static void note_record(struct ctl_world *w, lks_ms time, const struct lks_record *r)
{
    struct ctl_model *m = w->model;
    bool closes = r->kind == LKS_RECORD_CONDITION &&
                  r->condition.condition == LKS_CONDITION_CHANGING && r->condition.on;
    ctl_truth_note(w, time, r);
    if (r->kind == LKS_RECORD_LED) {
        ctl_require(w, r->led.epoch > m->epoch, "epochs of leaders count up");
        m->epoch = r->led.epoch;
        w->leads++;
    } else if (r->kind == LKS_RECORD_COMMAND && !lks_str_is(r->command.executor, "idle")) {
        begin_step(w, ctl_truth_node(w, r->command.node));
    } else if (closes && w->broken == CTL_NO_QUIET) {
        begin_step(w, ctl_truth_node(w, r->condition.node));
    } else if (r->kind == LKS_RECORD_DRIFT) {
        w->drifts += r->drift.on;
    }
}

static void print_row(const struct ctl_world *w, const struct lks_row *row)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_RECORD_BODY_MAX);
    struct lks_err err = {0};
    if (!w->print)
        return;
    if (lks_journal_json(row, &text, &err) == LKS_OK)
        ctl_say(w, "%.240s", text.ptr);
}

static bool fold_row(void *ctx, const struct lks_row *row)
{
    struct ctl_world *w = ctx;
    struct ctl_model *m = w->model;
    struct lks_record record;
    struct lks_err err = {0};
    print_row(w, row);
    ctl_require(w, row->seq == m->state.seq + 1, "rows count up without a gap");
    ctl_require(w, row->time >= m->state.clock, "the journal's clock never goes back");
    memcpy(m->hash, row->hash, sizeof(m->hash));
    bool ok = lks_record_unpack(row->kind, row->version, row->body, &record, &err) == LKS_OK;
    if (ok) {
        note_record(w, row->time, &record);
        ok = lks_state_apply(&m->state, row->seq, row->time, &record, &err) == LKS_OK;
    }
    ctl_require(w, ok, err.msg);
    return !w->failed;
}

/* The bits that admission goes by say what the records say. */
static void check_standing(struct ctl_world *w, const struct ctl_node *t, uint32_t node)
{
    uint64_t bars = lks_node_status_bars(&w->model->state, node, CTL_WALL + w->now);
    char text[LKS_ERR_MSG_MAX];
    if ((bars != 0) == ctl_truth_closed(w, t))
        return;
    (void)snprintf(text, sizeof(text), "%s is %s, and its bars are %" PRIx64, t->name,
                   bars != 0 ? "open" : "closed", bars);
    ctl_require(w, false, text);
}

void ctl_check_rows(struct ctl_world *w)
{
    struct ctl_model *m = w->model;
    struct lks_err err = {0};
    uint64_t before = m->state.seq;
    enum lks_code code = m->store.ops->rows(m->store.self, before + 1, fold_row, w, &err);
    ctl_require(w, code == LKS_OK, err.msg);
    for (uint32_t n = 0; n < w->node_count && m->state.seq > before; n++) {
        struct ctl_node *t = &w->nodes[n];
        uint32_t node = lks_state_node(&m->state, lks_str_from(t->name));
        if (node == LKS_NO_NODE)
            continue;
        bool closed = ctl_truth_closed(w, t);
        t->closed = !closed ? 0 : t->closed != 0 ? t->closed : w->now;
        check_standing(w, t, node);
    }
}

/* Leaders ------------------------------------------------------------------------------------- */

static void check_chain(struct ctl_world *w, const struct lks_public_key *key)
{
    struct ctl_model *m = w->model;
    struct lks_verify found = {0};
    struct lks_verify_options options = {.key = key};
    struct lks_err err = {0};
    enum lks_code code = lks_journal_verify(&m->store, &options, &found, &err);
    ctl_require(w, code == LKS_OK, err.msg);
    ctl_require(w, found.fault == LKS_FAULT_NONE, found.text);
    const struct lks_row *row = lks_memory_disk_row(w->disk, m->acked);
    ctl_require(w,
                m->acked == 0 ||
                    (row != NULL && memcmp(row->hash, m->acked_hash, sizeof(row->hash)) == 0),
                "what was acknowledged is there, and all before it");
}

void ctl_check_takeover(struct ctl_world *w, const struct ctl *c)
{
    ctl_check_rows(w);
    check_chain(w, NULL);
    ctl_require(w, lks_engine_seq(c->engine) == w->model->state.seq,
                "whoever leads knows all that was written before");
}

static void note_answer(struct ctl_world *w, uint64_t epoch)
{
    ctl_require(w, epoch >= w->model->answered, "no leader answers after a later one did");
    w->model->answered = epoch;
}

void ctl_check_batch(struct ctl_world *w, const struct ctl *c)
{
    struct ctl_model *m = w->model;
    char *owner = m->owners[c->epoch % EPOCHS_MAX];
    ctl_require(w, c->epoch != 0, "a follower writes nothing");
    ctl_require(w, c->epoch == lks_memory_disk_lease(w->disk).epoch,
                "a batch is taken in the epoch of the lease alone");
    if (owner[0] == '\0')
        (void)snprintf(owner, sizeof(m->owners[0]), "%s:%u", c->name, c->life);
    ctl_require(w, strcmp(owner, c->lease.holder) == 0, "an epoch has one leader");
}

void ctl_check_commit(struct ctl_world *w, const struct ctl *c)
{
    struct ctl_model *m = w->model;
    note_answer(w, c->epoch);
    ctl_require(w, m->state.seq >= lks_engine_durable_seq(c->engine),
                "what is acknowledged was written");
    m->acked = m->state.seq;
    memcpy(m->acked_hash, m->hash, sizeof(m->hash));
}

void ctl_check_follower(struct ctl_world *w, const struct ctl *c)
{
    struct lks_err why = {0};
    const struct lks_state *s = lks_engine_state(c->engine);
    if (s->seq != w->model->state.seq || w->steps % 16 != 0)
        return;
    LKS_CLEANUP(lks_state_fini) struct lks_state loaded = {0};
    bool same = lks_entity_equal(s, &w->model->state, &why) && lks_test_reloads(s, &loaded, &why);
    ctl_require(w, same, why.msg);
    ctl_require(w, s->fleet_manifest == 0 || lks_engine_book(c->engine)->manifest != NULL,
                "a follower has the fleet's manifest");
    ctl_require(w, s->stack_count == 0 || lks_engine_book(c->engine)->registry != NULL,
                "a follower has the stacks that were published");
}

/* Admission ----------------------------------------------------------------------------------- */

/* Nodes that are trained on run the same values: the second variant has one of its own. */
static bool has_own_value(const struct ctl_node *t)
{
    return t->truth.runs == 2;
}

/* What was recorded before `bound` is known to whoever answers. Pools that do not enforce have no
 * such promise. */
static void check_gang(struct ctl_world *w, const struct ctl_yes *yes, lks_ms bound)
{
    const struct ctl_node *first = NULL;
    for (uint32_t n = 0; n < w->node_count; n++) {
        const struct ctl_node *t = &w->nodes[n];
        if ((yes->nodes >> n & 1) == 0 || !ctl_truth_enforced(w, t))
            continue;
        ctl_require(w, t->stepped_until <= w->now, "no yes names a node on which a step runs");
        ctl_require(w, t->closed == 0 || t->closed > bound,
                    "no yes names a node that was closed for longer than the bound");
        if (t->values_since > bound || t->serves)
            continue;
        ctl_require(w, first == NULL || has_own_value(first) == has_own_value(t),
                    "no yes names nodes that run different values");
        first = t;
    }
}

void ctl_check_yes(struct ctl_world *w, const struct ctl_yes *yes)
{
    struct ctl_model *m = w->model;
    if (yes->epoch != 0)
        note_answer(w, yes->epoch);
    if (yes->valid_until <= w->now)
        return; /* it came too late to be used */
    ctl_require(w, yes->valid_until <= yes->decided + w->limits.validity + w->limits.skew / 3,
                "a yes is good for so long");
    lks_ms staleness = w->limits.staleness;
    lks_ms bound = yes->epoch != 0            ? yes->decided
                   : yes->decided > staleness ? yes->decided - staleness
                                              : 0;
    check_gang(w, yes, bound);
    size_t kept = 0;
    for (size_t i = 0; i < m->yes_count; i++)
        if (m->yeses[i].valid_until > w->now)
            m->yeses[kept++] = m->yeses[i];
    LKS_ASSERT(kept < YES_MAX);
    m->yeses[kept++] = *yes;
    m->yes_count = kept;
}

/* The end ------------------------------------------------------------------------------------- */

static void check_settled(struct ctl_world *w, const struct ctl_node *t)
{
    uint32_t node = lks_state_node(&w->model->state, lks_str_from(t->name));
    const struct ctl_truth *truth = &t->truth;
    ctl_require(w, truth->runs == t->variant + 1 && !truth->over,
                "when all is calm what a node runs is known");
    ctl_require(w, truth->drifting == ctl_truth_drifts(t),
                "when all is calm drift is recorded where there is drift");
    ctl_require(w, truth->covered == 0, "when all is calm no deviation is left");
    ctl_require(w, t->stepped_until <= w->now && w->model->state.nodes[node].pending == 0,
                "when all is calm no step is left");
    ctl_require(w, t->closed == 0 || ctl_truth_drifts(t),
                "when all is calm every node that does not drift takes jobs");
}

void ctl_check_end(struct ctl_world *w)
{
    struct ctl_model *m = w->model;
    struct lks_public_key key = lks_key_public(&w->key);
    ctl_check_rows(w);
    check_chain(w, w->seed % 16 == 0 ? &key : NULL);
    ctl_require(w, ctl_leader(w) != NULL, "when all is calm one leads");
    for (uint32_t n = 0; n < w->node_count && !w->failed; n++)
        check_settled(w, &w->nodes[n]);
    for (size_t i = 0; i < m->yes_count; i++)
        ctl_require(w, m->yeses[i].valid_until <= w->now, "when all is calm no yes is good");
}
