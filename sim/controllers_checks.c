#include "sim/controllers.h"

#include "codec/base64.h"
#include "tests/tuples.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { YES_MAX = 4096, EPOCHS_MAX = 4096 };

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

void ctl_require(struct ctl_world *w, bool ok, const char *what)
{
    if (ok || w->failed)
        return;
    w->failed = true;
    (void)snprintf(w->why, sizeof(w->why), "%s", what);
    ctl_say(w, "BROKEN: %s", what);
}

/* Tuples: the first two conform and differ within what was tested, the third does not.
 * ------------- */

static struct lks_tuple tuples[CTL_VARIANTS];

const struct lks_tuple *ctl_tuple(unsigned variant)
{
    static const char *const changes[CTL_VARIANTS] = {"platform.serial=board-0\n", "dcgm=4.6.0\n",
                                                      "settings.ecc@gpu *=false\n"};
    if (tuples[variant].readings == NULL)
        lks_test_tuple_with(lks_test_node, changes[variant], &tuples[variant]);
    return &tuples[variant];
}

void ctl_tuples_free(void)
{
    for (unsigned v = 0; v < CTL_VARIANTS; v++)
        lks_tuple_fini(&tuples[v]);
}

void ctl_digest_bytes(const char *digest, uint8_t out[LKS_HASH_BYTES])
{
    LKS_ASSERT(lks_hex_read(lks_str_from(digest + strlen("sha256:")), out, LKS_HASH_BYTES));
}

/* The model
 * ----------------------------------------------------------------------------------------- */

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

static struct ctl_node *node_of(struct ctl_world *w, struct lks_str name)
{
    for (uint32_t n = 0; n < w->node_count; n++)
        if (lks_str_is(name, w->nodes[n].name))
            return &w->nodes[n];
    return NULL;
}

/* A step begins on a node: no yes that names it may still be good. */
static void begin_step(struct ctl_world *w, struct ctl_node *t)
{
    uint64_t bit = (uint64_t)1 << (t - w->nodes);
    if (t->stepped_until > w->now)
        return;
    t->stepped_until = w->now + 5 * LKS_SECOND + lks_rng_below(&w->rng, 20 * LKS_SECOND);
    w->changes++;
    ctl_say(w, "a step begins on %s", t->name);
    for (size_t i = 0; i < w->model->yes_count; i++) {
        const struct ctl_yes *yes = &w->model->yeses[i];
        ctl_require(w, (yes->nodes & bit) == 0 || yes->valid_until <= w->now,
                    "no step begins on a node while a yes that names it is good");
    }
}

/* Before it is applied. */
static void note_record(struct ctl_world *w, const struct lks_record *r)
{
    struct ctl_model *m = w->model;
    if (r->kind == LKS_RECORD_LED) {
        ctl_require(w, r->led.epoch > m->epoch, "epochs of leaders count up");
        m->epoch = r->led.epoch;
        w->leads++;
    }
    if (r->kind == LKS_RECORD_COMMAND)
        begin_step(w, node_of(w, r->command.node));
    if (r->kind == LKS_RECORD_CONDITION && r->condition.condition == LKS_CONDITION_CHANGING &&
        r->condition.on && w->broken == CTL_NO_QUIET)
        begin_step(w, node_of(w, r->condition.node));
}

static bool fold_row(void *ctx, const struct lks_row *row)
{
    struct ctl_world *w = ctx;
    struct ctl_model *m = w->model;
    struct lks_record record;
    struct lks_err err = {0};
    ctl_require(w, row->seq == m->state.seq + 1, "rows count up without a gap");
    ctl_require(w, row->time >= m->state.clock, "the journal's clock never goes back");
    memcpy(m->hash, row->hash, sizeof(m->hash));
    bool ok = lks_record_unpack(row->kind, row->version, row->body, &record, &err) == LKS_OK;
    if (ok) {
        note_record(w, &record);
        ok = lks_state_apply(&m->state, row->seq, row->time, &record, &err) == LKS_OK;
    }
    ctl_require(w, ok, err.msg);
    return !w->failed;
}

/* Why no job may start on it, as the records say. */
static bool is_closed(const struct lks_state *s, uint32_t node)
{
    const struct lks_node *n = &s->nodes[node];
    return n->changing != 0 || n->unhealthy || n->held || n->intake || n->liveness != LKS_LIVE ||
           n->drained_by != 0 || lks_state_judged(s, node) != LKS_JUDGED_CONFORMS;
}

static void note_nodes(struct ctl_world *w)
{
    const struct lks_state *s = &w->model->state;
    for (uint32_t i = 0; i < w->node_count; i++) {
        struct ctl_node *t = &w->nodes[i];
        uint32_t node = lks_state_node(s, lks_str_from(t->name));
        if (node == LKS_NO_NODE)
            continue;
        const struct lks_state_verdict *v = lks_state_verdict(s, node);
        lks_text values = v != NULL ? v->values : 0;
        bool closed = is_closed(s, node);
        t->closed = !closed ? 0 : t->closed != 0 ? t->closed : w->now;
        if (values != t->values)
            t->values_since = w->now;
        t->values = values;
    }
}

void ctl_check_rows(struct ctl_world *w)
{
    struct ctl_model *m = w->model;
    struct lks_err err = {0};
    enum lks_code code = m->store.ops->rows(m->store.self, m->state.seq + 1, fold_row, w, &err);
    ctl_require(w, code == LKS_OK, err.msg);
    note_nodes(w);
}

/* Leaders
 * -------------------------------------------------------------------------------------------- */

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
    ctl_require(w, c->epoch == w->lease_epoch, "a batch is taken in the epoch of the lease alone");
    if (owner[0] == '\0')
        (void)snprintf(owner, sizeof(m->owners[0]), "%s:%u", c->name, c->life);
    ctl_require(w, strcmp(owner, c->holder) == 0, "an epoch has one leader");
}

void ctl_check_commit(struct ctl_world *w, const struct ctl *c)
{
    struct ctl_model *m = w->model;
    note_answer(w, c->epoch);
    m->acked = m->state.seq;
    memcpy(m->acked_hash, m->hash, sizeof(m->hash));
}

void ctl_check_follower(struct ctl_world *w, const struct ctl *c)
{
    struct lks_err why = {0};
    const struct lks_state *s = lks_engine_state(c->engine);
    if (s->seq != w->model->state.seq || w->steps % 16 != 0)
        return;
    bool same = lks_state_equal(s, &w->model->state, &why);
    ctl_require(w, same, why.msg);
    ctl_require(w, s->fleet_manifest == 0 || lks_engine_book(c->engine)->manifest != NULL,
                "a follower has the fleet's manifest");
    ctl_require(w, s->stack_count == 0 || lks_engine_book(c->engine)->shelf != NULL,
                "a follower has the stacks that were published");
}

/* Admission
 * ------------------------------------------------------------------------------------------ */

/* What was recorded before `bound` is known to whoever answers. */
static void check_gang(struct ctl_world *w, const struct ctl_yes *yes, lks_ms bound)
{
    const struct ctl_node *first = NULL;
    for (uint32_t n = 0; n < w->node_count; n++) {
        const struct ctl_node *t = &w->nodes[n];
        if ((yes->nodes >> n & 1) == 0)
            continue;
        ctl_require(w, t->stepped_until <= w->now, "no yes names a node on which a step runs");
        ctl_require(w, t->closed == 0 || t->closed > bound,
                    "no yes names a node that was closed for longer than the bound");
        if (t->values_since > bound)
            continue;
        ctl_require(w, first == NULL || first->values == t->values,
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

/* The end
 * --------------------------------------------------------------------------------------------- */

/* A node of which nothing is said takes jobs. */
static void check_open(struct ctl_world *w, const struct ctl_node *t)
{
    const struct lks_state *s = &w->model->state;
    uint32_t node = lks_state_node(s, lks_str_from(t->name));
    const struct lks_node *n = &s->nodes[node];
    const char *why = "";
    if (t->closed == 0 || t->stepped_until != 0 || n->unhealthy || n->changing != 0)
        return;
    (void)lks_node_admissible(s, node, CTL_WALL + w->now, &why);
    ctl_say(w, "%s is closed: %s", t->name, why);
    ctl_require(w, false, "when all is calm every node of which nothing is said takes jobs");
}

void ctl_check_end(struct ctl_world *w)
{
    struct ctl_model *m = w->model;
    struct lks_verify found = {0};
    struct lks_public_key key = lks_key_public(&w->key);
    struct lks_verify_options options = {.key = w->seed % 16 == 0 ? &key : NULL};
    struct lks_err err = {0};
    ctl_check_rows(w);
    enum lks_code code = lks_journal_verify(&m->store, &options, &found, &err);
    ctl_require(w, code == LKS_OK, err.msg);
    ctl_require(w, found.fault == LKS_FAULT_NONE, found.text);
    const struct lks_row *row = lks_memory_disk_row(w->disk, m->acked);
    ctl_require(w, row != NULL && memcmp(row->hash, m->acked_hash, sizeof(row->hash)) == 0,
                "what was acknowledged is there, and all before it");
    ctl_require(w, ctl_leader(w) != NULL, "when all is calm one leads");
    for (uint32_t n = 0; n < w->node_count; n++)
        check_open(w, &w->nodes[n]);
}
