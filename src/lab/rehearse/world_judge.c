/* What is read of an invented machine: which stack it comes from, by which recipe it goes, and how
 * many of its steps are done. And how that compares with a stack. */
#include "base/vec.h"
#include "core/conform/basis.h"
#include "core/rows/change.h"
#include "core/state/lookup.h"
#include "lab/rehearse/world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MARK WORLD_READING "\t\t\t=\t" /* as core/conform/basis.h writes it */

/* Steps that change what the machine runs. */
static bool changes(const struct lks_step *step)
{
    return step->kind == LKS_DO_APPLY || step->kind == LKS_DO_FLASH ||
           step->kind == LKS_DO_ACTIVATE;
}

/* Of a value "DIGEST RECIPE STAGE". */
struct truth {
    struct lks_str from;
    uint64_t recipe, stage;
};

static bool read_truth(struct lks_str basis, struct truth *out)
{
    ptrdiff_t at = lks_str_find(basis, LKS_STR(MARK));
    struct lks_str line, rest, number;
    if (at < 0 || (at > 0 && basis.ptr[at - 1] != '\n'))
        return false;
    size_t skip = (size_t)at + strlen(MARK);
    lks_str_cut((struct lks_str){basis.ptr + skip, basis.len - skip}, '\n', &line, &rest);
    return lks_str_word(&line, &out->from) && lks_str_word(&line, &number) &&
           lks_str_number(number, UINT32_MAX, &out->recipe) && lks_str_word(&line, &number) &&
           lks_str_number(number, UINT32_MAX, &out->stage);
}

/* A line for each component that is not what the stack wants. */
static void add_wrong(const struct lks_state *s, const struct lks_step *step, struct lks_buf *out)
{
    struct lks_str words = lks_state_text(s, step->component), word;
    while (lks_str_word(&words, &word))
        lks_buf_addf(out, "%" LKS_STR_FMT "\tother version\tas pinned\tas it was\t\n",
                     LKS_STR_ARG(word));
}

/* Steps that are missing on the way to the change's stack, or done on the way from the other. */
static uint32_t list_wrong(const struct lks_world *w, const struct truth *t, bool to,
                           struct lks_buf *out)
{
    const struct lks_state *s = lks_engine_state(w->engine);
    const struct lks_state_change *c = lks_world_change(w);
    const struct lks_recipe *r =
        c != NULL && t->recipe < c->recipe_count ? &c->recipes[t->recipe] : NULL;
    uint32_t wrong = 0;
    for (uint32_t i = 0; r != NULL && i < r->count; i++) {
        if (!changes(&r->steps[i]) || (i < t->stage) == to)
            continue;
        add_wrong(s, &r->steps[i], out);
        wrong++;
    }
    return wrong;
}

bool lks_world_judge(void *ctx, struct lks_str basis, struct lks_arena *arena,
                     struct lks_rec_verdict *v)
{
    const struct lks_world *w = ctx;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf wrong = LKS_BUF(LKS_BASIS_BYTES_MAX);
    const struct lks_state_change *c = lks_world_change(w);
    struct truth t;
    if (!read_truth(basis, &t))
        return false;
    const struct lks_state *s = lks_engine_state(w->engine);
    bool to = c != NULL && lks_str_eq(v->stack, lks_state_text(s, c->stack));
    bool from = lks_str_eq(v->stack, t.from);
    uint32_t count = to || from ? list_wrong(w, &t, to && !from, &wrong) : 0;
    if (!to && !from) {
        lks_buf_addf(&wrong, "%s\tother version\tas pinned\tas it was\t\n", WORLD_READING);
        count = 1;
    }
    v->judged = count > 0 ? LKS_JUDGED_DRIFT : LKS_JUDGED_CONFORMS;
    v->drifted = count;
    v->unmeasured = 0;
    v->first = count > 0 ? LKS_STR("not all of its steps are done") : LKS_STR("");
    v->wrong = wrong.len > 0 ? lks_arena_copy(arena, lks_buf_view(&wrong)) : LKS_STR("");
    v->values = lks_arena_format(arena, "%s\t%" LKS_STR_FMT " %" PRIu64 "\n", WORLD_READING,
                                 LKS_STR_ARG(t.from), t.stage);
    return v->wrong.ptr != NULL && v->values.ptr != NULL;
}

/* Tuples ------------------------------------------------------------------------------------ */

static void fill(struct lks_world *w, struct world_tuple *made)
{
    struct lks_err err = {0};
    char value[LKS_DIGEST_SIZE + 32];
    struct lks_str from = lks_state_text(lks_engine_state(w->engine), made->from);
    lks_tuple_init(&made->tuple);
    (void)snprintf(value, sizeof(value), "%" LKS_STR_FMT " %" PRIu32 " %" PRIu32, LKS_STR_ARG(from),
                   made->recipe, made->stage);
    lks_tuple_add(&made->tuple, &(struct lks_reading){.name = LKS_STR(WORLD_READING),
                                                      .of = LKS_STR(""),
                                                      .part = LKS_STR(""),
                                                      .state = LKS_MEASURED,
                                                      .value = lks_str_from(value),
                                                      .evidence = LKS_STR("rehearsed")});
    if (lks_tuple_finish(&made->tuple, &err) != LKS_OK)
        lks_world_break(w, err.code, err.msg);
}

const struct lks_tuple *lks_world_tuple(struct lks_world *w, lks_text from, uint32_t recipe,
                                        uint32_t stage)
{
    for (size_t i = 0; i < w->tuple_count; i++) {
        const struct world_tuple *t = w->tuples[i];
        if (t->from == from && t->recipe == recipe && t->stage == stage)
            return &t->tuple;
    }
    LKS_ASSERT(LKS_VEC_RESERVE(w->tuples, w->tuple_room, w->tuple_count + 1, NULL) == LKS_OK);
    struct world_tuple *made = calloc(1, sizeof(*made));
    LKS_ASSERT(made != NULL);
    *made = (struct world_tuple){.from = from, .recipe = recipe, .stage = stage};
    w->tuples[w->tuple_count++] = made;
    fill(w, made);
    return &made->tuple;
}

void lks_world_tuples_fini(struct lks_world *w)
{
    for (size_t i = 0; i < w->tuple_count; i++) {
        lks_tuple_fini(&w->tuples[i]->tuple);
        free(w->tuples[i]);
    }
    free(w->tuples);
    w->tuples = NULL;
    w->tuple_count = w->tuple_room = 0;
}
