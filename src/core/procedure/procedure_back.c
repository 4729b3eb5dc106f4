/* What can go wrong at each step and what is done about it automatically, and the rollback. */
#include "core/campaign/campaign.h"
#include "core/procedure/procedure_parts.h"
#include "core/rows/change_index.h"
#include "core/state/state.h"

#define BIT(name) (1U << LKS_FAILURE_##name)

/* How a step of each kind can fail. */
static const unsigned fails[LKS_DO_COUNT] = {
    [LKS_DO_STAGE] = BIT(REFUSED) | BIT(STEP) | BIT(ENDPOINT) | BIT(UNKNOWN),
    [LKS_DO_LEAVE] = BIT(BUSY) | BIT(LOST),
    [LKS_DO_APPLY] = BIT(REFUSED) | BIT(STEP) | BIT(LOST) | BIT(UNKNOWN),
    [LKS_DO_FLASH] = BIT(REFUSED) | BIT(STEP) | BIT(WRONG) | BIT(ENDPOINT) | BIT(UNKNOWN),
    [LKS_DO_ACTIVATE] = BIT(REFUSED) | BIT(STEP) | BIT(WRONG) | BIT(ENDPOINT) | BIT(UNKNOWN),
    [LKS_DO_REBOOT] = BIT(REFUSED) | BIT(STEP) | BIT(LOST),
    [LKS_DO_CHECK] = BIT(WRONG) | BIT(LOST),
    [LKS_DO_ACCEPT] = BIT(REFUSED) | BIT(ACCEPT) | BIT(LOST),
    [LKS_DO_RETURN] = BIT(WRONG) | BIT(LOST),
};

/* What becomes of a member that is neither retried nor rolled back. */
static const char *const ends[LKS_MEMBER_STATE_COUNT] = {
    [LKS_MEMBER_FENCED] = "out of service until a person inspected it",
    [LKS_MEMBER_HANDS] = "out of service, and an alarm names the place for manual intervention",
    [LKS_MEMBER_UNKNOWN] = ("out of service and never sent again blindly, until a person resolves "
                            "it"),
};

static uint32_t told_retries(const struct lks_step *step)
{
    return step->kind == LKS_DO_LEAVE ? 0 : step->retries;
}

static bool fails_alike(const struct lks_step *a, const struct lks_step *b)
{
    return a->kind == b->kind && a->component == b->component && a->one_way == b->one_way &&
           told_retries(a) == told_retries(b);
}

static struct lks_str answer(struct lks_procedure_work *w, const struct lks_step *step,
                             enum lks_failure failure)
{
    const struct lks_failure_rule *rule = &lks_failure_rules[failure];
    const char *end = ends[rule->ends] != NULL ? ends[rule->ends] : "";
    bool back = rule->reverts && !step->one_way;
    uint32_t retries = rule->retries ? told_retries(step) : 0;
    char times[LKS_COUNT_TEXT_SIZE];
    if (retries == 0)
        return lks_document_text(w->p, "%s%s", back ? "it is rolled back; if that fails, " : "",
                                 end);
    return lks_document_text(w->p, "tried again, %s; then %s%s",
                             lks_str_count_text(retries, "time", times),
                             back ? "it is rolled back; if that fails, " : "", end);
}

static struct lks_str gate_of(enum lks_failure failure)
{
    return lks_failure_rules[failure].hard
               ? LKS_STR("hard failures: the first halts the change")
               : LKS_STR("failure count: more than may fail halt the change");
}

static void add_failure(struct lks_procedure_work *w, const struct lks_procedure_step *at,
                        enum lks_failure failure)
{
    const struct lks_failure_rule *rule = &lks_failure_rules[failure];
    const struct lks_cell row[] = {
        lks_cell_text(lks_procedure_step_text(w, at->step)),
        lks_cell_count(at->members),
        lks_cell_text(lks_str_from(rule->about)),
        lks_cell_text(answer(w, at->step, failure)),
        lks_cell_text(gate_of(failure)),
    };
    lks_document_row(w->p, row);
}

void lks_procedure_wrong(struct lks_procedure_work *w)
{
    static const struct lks_document_column columns[] = {
        {"step", "step"},           {"members", "nodes and assets"},
        {"failure", "failure"},     {"answer", "what is done about it without anybody"},
        {"gate", "where it stops"},
    };
    lks_document_section(
        w->p, "wrong", "Failures and reactions",
        "A node that fails never returns by itself: a person tries it again or returns it as it "
        "is. After a halt no further node is changed; nodes in progress continue to a safe end. A "
        "metric "
        "that gets worse without failures is found by the evidence gate, within its power. A "
        "crash of the controller at any point loses no record, and repeats no flash.");
    lks_document_table(w->p, "failures", "Failures, step by step", "The plan has no steps.",
                       columns, LKS_COUNT(columns));
    lks_procedure_list(w, fails_alike);
    for (uint32_t i = 0; i < w->step_count; i++) {
        for (unsigned f = 0; f < LKS_FAILURE_COUNT; f++) {
            if ((fails[w->steps[i].step->kind] & 1U << f) != 0)
                add_failure(w, &w->steps[i], (enum lks_failure)f);
        }
    }
    const struct lks_cell row[] = {
        lks_cell_text(LKS_STR("any of them, during the rollback")),
        lks_cell_count(w->c->member_count),
        lks_cell_text(lks_str_from(lks_failure_rules[LKS_FAILURE_REVERT].about)),
        lks_cell_text(lks_str_from(ends[lks_failure_rules[LKS_FAILURE_REVERT].ends])),
        lks_cell_text(gate_of(LKS_FAILURE_REVERT)),
    };
    lks_document_row(w->p, row);
}

/* The rollback ------------------------------------------------------------------------------ */

static bool is_update(const struct lks_step *step)
{
    return step->kind == LKS_DO_STAGE || step->kind == LKS_DO_FLASH ||
           step->kind == LKS_DO_ACTIVATE;
}

static struct lks_str way(struct lks_procedure_work *w, const struct lks_step *step)
{
    struct lks_str before = lks_procedure_text(w, step->before);
    if (step->missing != 0)
        return lks_document_text(w->p, "none: no verified bundle had %" LKS_STR_FMT,
                                 LKS_STR_ARG(lks_procedure_text(w, step->missing)));
    if (step->one_way)
        return step->kind == LKS_DO_APPLY ? LKS_STR("none")
                                          : LKS_STR("none: a spare takes its place");
    if (step->kind == LKS_DO_STAGE)
        return LKS_STR("what was staged is given up, or staged over with what runs");
    if (is_update(step))
        return lks_document_text(w->p, "%" LKS_STR_FMT " %s", LKS_STR_ARG(before),
                                 step->revert == LKS_BMC_SWITCH
                                     ? "by switching to the other bank, else by its image"
                                     : "by its image");
    if (step->order_back != 0)
        return lks_document_text(w->p, "the order that leads back, by %" LKS_STR_FMT,
                                 LKS_STR_ARG(lks_procedure_text(w, step->executor)));
    if (step->kind == LKS_DO_APPLY)
        return LKS_STR("none");
    return LKS_STR("no revert needed");
}

/* There and back by the same means. */
static bool returns_alike(const struct lks_step *a, const struct lks_step *b)
{
    return a->kind == b->kind && a->component == b->component && a->before == b->before &&
           a->executor == b->executor && a->revert == b->revert && a->one_way == b->one_way &&
           a->missing == b->missing && (a->order_back != 0) == (b->order_back != 0);
}

static void add_ways(struct lks_procedure_work *w)
{
    static const struct lks_document_column columns[] = {{"step", "step"},
                                                         {"members", "nodes and assets"},
                                                         {"way", "rollback"},
                                                         {"one_way", "no rollback"}};
    static const bool changes[LKS_DO_COUNT] = {[LKS_DO_STAGE] = true,
                                               [LKS_DO_APPLY] = true,
                                               [LKS_DO_FLASH] = true,
                                               [LKS_DO_ACTIVATE] = true};
    lks_document_table(w->p, "ways", "The revert of each step", "No step changes anything.",
                       columns, LKS_COUNT(columns));
    lks_procedure_list(w, returns_alike);
    for (uint32_t i = 0; i < w->step_count; i++) {
        const struct lks_step *step = w->steps[i].step;
        const struct lks_cell row[] = {
            lks_cell_text(lks_procedure_step_text(w, step)),
            lks_cell_count(w->steps[i].members),
            lks_cell_text(way(w, step)),
            lks_cell_truth(step->one_way),
        };
        if (changes[step->kind])
            lks_document_row(w->p, row);
    }
}

static void add_notes(struct lks_procedure_work *w)
{
    static const struct lks_document_column columns[] = {{"text", "step without rollback"}};
    lks_document_table(w->p, "spares", "Steps without rollback, and the spares for them", NULL,
                       columns, LKS_COUNT(columns));
    for (uint32_t i = 0; i < w->c->note_count; i++) {
        const struct lks_cell row[] = {lks_cell_text(lks_procedure_text(w, w->c->notes[i].text))};
        if (w->c->notes[i].kind == LKS_PLAN_ONE_WAY)
            lks_document_row(w->p, row);
    }
}

/* By its kind of hardware, from each stack that members of it come from. */
static void add_proven(struct lks_procedure_work *w)
{
    static const struct lks_document_column columns[] = {{"hardware", "hardware"},
                                                         {"from", "from"},
                                                         {"node", "shown by"},
                                                         {"took_ms", "took"},
                                                         {"at", "when"}};
    lks_text to = w->c->stack != 0 ? w->c->stack : w->c->name;
    lks_document_table(w->p, "proven", "Rollbacks that were exercised already",
                       "None: the first unit of each kind of hardware goes there, back, and there "
                       "again.",
                       columns, LKS_COUNT(columns));
    for (uint32_t i = 0; i < w->s->proven_count; i++) {
        const struct lks_proven *p = &w->s->proven[i];
        bool ours = false;
        for (uint32_t r = 0; r < w->c->recipe_count && !ours; r++)
            ours = w->kinds[r] == p->class;
        const struct lks_cell row[] = {
            lks_cell_text(lks_procedure_text(w, p->class)),
            lks_cell_text(lks_procedure_text(w, p->from)),
            lks_cell_text(lks_procedure_text(w, p->node)),
            lks_cell_span(p->took),
            lks_cell_time(p->at),
        };
        if (ours && p->to == to && lks_change_comes_from(w->c, p->from))
            lks_document_row(w->p, row);
    }
}

static void add_commands(struct lks_procedure_work *w)
{
    static const struct lks_str_pair rows[] = {
        {"Pause: nodes in progress finish, no further node is changed", "pause"},
        {"Resume; after a halt by a metric, once an approver waived it", "resume"},
        {"Abort: nodes in progress roll back, finished nodes stay", "abort"},
        {"Roll back every node that it reached", "rollback"},
    };
    static const struct lks_document_column columns[] = {{"when", "when"}, {"command", "type"}};
    lks_document_table(w->p, "commands", "Commands: stopping and rolling back need no approval",
                       NULL, columns, LKS_COUNT(columns));
    for (size_t i = 0; i < LKS_COUNT(rows); i++)
        lks_document_row(
            w->p, (const struct lks_cell[]){lks_cell_text(lks_str_from(rows[i].name)),
                                            lks_cell_code(lks_document_text(
                                                w->p, "lockstep change %s %llu --reason '...'",
                                                rows[i].value, (unsigned long long)w->c->id))});
    lks_document_row(w->p, (const struct lks_cell[]){
                               lks_cell_text(LKS_STR("Freeze: no node is changed anywhere, in any "
                                                     "change")),
                               lks_cell_code(LKS_STR("lockstep freeze --reason '...'"))});
    lks_document_row(w->p, (const struct lks_cell[]){lks_cell_text(LKS_STR("See how far it is")),
                                                     lks_cell_code(lks_document_text(
                                                         w->p, "lockstep change show %llu --follow",
                                                         (unsigned long long)w->c->id))});
}

void lks_procedure_back(struct lks_procedure_work *w)
{
    lks_document_section(w->p, "back", "Rollback",
                         "A rollback runs the reverts in the reverse order, and needs no approval. "
                         "A domain that would be left with too few members rolls back as a whole.");
    add_ways(w);
    add_notes(w);
    add_proven(w);
    add_commands(w);
}
