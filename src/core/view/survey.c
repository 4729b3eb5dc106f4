#include "core/view/survey.h"

#include "base/intern.h"
#include "base/vec.h"
#include "core/state/state.h"

#include <stdlib.h>

enum {
    MEMORY_MAX = 1 << 30,   /* of the texts of what differs */
    SCRATCH_MAX = 64 << 20, /* of one verdict */
    KEY_MAX = 1 << 20,
};

#define UNWANTED UINT32_MAX

struct work {
    const struct lks_state *s;
    const struct lks_facts *facts;
    const struct lks_stack *stack;
    struct lks_survey *out;
    struct lks_intern ways; /* "subject, tab, actual": the id is the place in `rows` */
    uint32_t row_room;
    uint32_t *whole;  /* by node: its basis, or UNWANTED. Nodes are far apart in memory */
    uint32_t *nodes;  /* by basis: how many have it */
    uint8_t *verdict; /* by basis: enum lks_judged */
    struct lks_buf key;
    struct lks_arena scratch;
    struct lks_err *err;
};

static void work_fini(struct work *w)
{
    lks_intern_fini(&w->ways);
    lks_buf_fini(&w->key);
    lks_arena_fini(&w->scratch);
    free(w->whole);
    free(w->nodes);
    free(w->verdict);
}

static enum lks_code no_memory(const struct work *w)
{
    return lks_fail(w->err, LKS_E_NOMEM, "the survey does not fit into memory");
}

static enum lks_code work_init(struct work *w)
{
    uint32_t bases = lks_intern_count(&w->s->basis_digests);
    lks_buf_init(&w->key, KEY_MAX);
    lks_arena_init(&w->scratch, SCRATCH_MAX);
    lks_arena_init(&w->out->arena, MEMORY_MAX);
    w->whole = calloc((size_t)w->s->node_count + 1, sizeof(w->whole[0]));
    w->nodes = calloc((size_t)bases + 1, sizeof(w->nodes[0]));
    w->verdict = calloc((size_t)bases + 1, sizeof(w->verdict[0]));
    if (w->whole == NULL || w->nodes == NULL || w->verdict == NULL)
        return no_memory(w);
    lks_intern_init(&w->ways, MEMORY_MAX);
    return lks_bitset_init(&w->out->differs, w->s->node_count, w->err);
}

/* What differs ------------------------------------------------------------------------------ */

static enum lks_code make_row(struct work *w, const struct lks_wrong *wrong)
{
    struct lks_survey *v = w->out;
    if (LKS_VEC_RESERVE(v->rows, w->row_room, v->row_count + 1, w->err) != LKS_OK)
        return w->err->code;
    struct lks_survey_row *row = &v->rows[v->row_count++];
    *row = (struct lks_survey_row){
        .subject = lks_arena_copy(&v->arena, wrong->subject),
        .pinned = lks_arena_copy(&v->arena, wrong->pinned),
        .actual = lks_arena_copy(&v->arena, wrong->actual),
    };
    return row->actual.ptr == NULL ? no_memory(w) : LKS_OK;
}

static enum lks_code count_wrong(struct work *w, struct lks_str lines, uint32_t nodes)
{
    struct lks_wrong wrong;
    while (lks_verdict_wrong_next(&lines, &wrong)) {
        uint32_t id = 0;
        lks_buf_truncate(&w->key, 0);
        lks_buf_add(&w->key, wrong.subject);
        lks_buf_addc(&w->key, '\t');
        lks_buf_add(&w->key, wrong.actual);
        if (lks_buf_check(&w->key, w->err) != LKS_OK ||
            lks_intern_id(&w->ways, lks_buf_view(&w->key), &id, w->err) != LKS_OK)
            return w->err->code;
        if (id == w->out->row_count && make_row(w, &wrong) != LKS_OK)
            return w->err->code;
        w->out->rows[id].nodes += nodes;
    }
    return LKS_OK;
}

static enum lks_code judge(struct work *w, uint32_t basis)
{
    struct lks_rec_verdict verdict = {0};
    struct lks_str readings = lks_state_readings(w->s, basis);
    if (readings.len == 0)
        return LKS_OK;
    lks_arena_fini(&w->scratch);
    lks_arena_init(&w->scratch, SCRATCH_MAX);
    if (lks_verdict_make(w->facts, w->stack, readings, &w->scratch, &verdict, w->err) != LKS_OK)
        return w->err->code;
    w->verdict[basis] = (uint8_t)verdict.judged;
    w->out->bases++;
    return count_wrong(w, verdict.wrong, w->nodes[basis]);
}

/* The nodes --------------------------------------------------------------------------------- */

static bool is_wanted(const struct lks_state *s, uint32_t n, uint32_t pool)
{
    const struct lks_node *node = &s->nodes[n];
    return node->placed && node->asset == 0 && (pool == UINT32_MAX || node->pool == pool);
}

static void count_nodes(struct work *w, uint32_t pool)
{
    for (uint32_t n = 0; n < w->s->node_count; n++) {
        w->whole[n] = is_wanted(w->s, n, pool) ? w->s->nodes[n].whole : UNWANTED;
        if (w->whole[n] != UNWANTED)
            w->nodes[w->whole[n]]++;
    }
}

static void judge_nodes(struct work *w)
{
    for (uint32_t n = 0; n < w->s->node_count; n++) {
        if (w->whole[n] == UNWANTED)
            continue;
        enum lks_judged judged = (enum lks_judged)w->verdict[w->whole[n]];
        w->out->judged[judged]++;
        if (judged == LKS_JUDGED_DRIFT || judged == LKS_JUDGED_UNMEASURED)
            lks_bitset_set(&w->out->differs, n);
    }
}

static int by_nodes(const void *left, const void *right)
{
    const struct lks_survey_row *a = left, *b = right;
    if (a->nodes != b->nodes)
        return a->nodes > b->nodes ? -1 : 1;
    int order = lks_str_cmp(a->subject, b->subject);
    return order != 0 ? order : lks_str_cmp(a->actual, b->actual);
}

static enum lks_code survey(struct work *w, uint32_t pool)
{
    if (work_init(w) != LKS_OK)
        return w->err->code;
    count_nodes(w, pool);
    for (uint32_t b = 1; b <= lks_intern_count(&w->s->basis_digests); b++) {
        if (w->nodes[b] > 0 && judge(w, b) != LKS_OK)
            return w->err->code;
    }
    judge_nodes(w);
    if (w->out->row_count > 1)
        qsort(w->out->rows, w->out->row_count, sizeof(w->out->rows[0]), by_nodes);
    return LKS_OK;
}

enum lks_code lks_survey_make(const struct lks_state *s, const struct lks_facts *facts,
                              const struct lks_stack *stack, uint32_t pool, struct lks_survey *out,
                              struct lks_err *err)
{
    LKS_CLEANUP(lks_survey_fini) struct lks_survey made = {0};
    LKS_CLEANUP(work_fini)
    struct work w = {.s = s, .facts = facts, .stack = stack, .out = &made, .err = err};
    if (survey(&w, pool) != LKS_OK)
        return err->code;
    *out = LKS_MOVE(made);
    return LKS_OK;
}

void lks_survey_fini(struct lks_survey *v)
{
    lks_arena_fini(&v->arena);
    lks_bitset_fini(&v->differs);
    free(v->rows);
    *v = (struct lks_survey){0};
}

void lks_survey_json(const struct lks_survey *v, struct lks_json_writer *w)
{
    for (size_t i = 0; i < LKS_JUDGED_COUNT; i++)
        lks_json_int(w, lks_judged_words[i], v->judged[i]);
    lks_json_begin(w, "rows", '[');
    for (size_t i = 0; i < v->row_count; i++) {
        lks_json_begin(w, NULL, '{');
        lks_json_text(w, "subject", v->rows[i].subject);
        lks_json_text(w, "pinned", v->rows[i].pinned);
        lks_json_text(w, "actual", v->rows[i].actual);
        lks_json_int(w, "nodes", v->rows[i].nodes);
        lks_json_end(w, '}');
    }
    lks_json_end(w, ']');
}
