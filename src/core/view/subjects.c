#include "core/view/subjects.h"

#include "base/near.h"
#include "core/conform/verdict.h"
#include "core/rows/node.h"
#include "core/rows/verdict.h"
#include "core/state/lookup.h"

enum { NAME_MAX_BYTES = 512 };

/* A walk over the names that there are. */
struct search {
    struct lks_str subject;
    struct lks_near near;
    struct lks_buf name;  /* the one that is looked at */
    struct lks_buf *best; /* the nearest, since `near` only has a view */
    bool found;
};

static void look(struct search *x)
{
    const char *before = x->near.best.ptr;
    struct lks_str name = lks_buf_view(&x->name);
    x->found = x->found || lks_str_eq(name, x->subject);
    lks_near_try(&x->near, name);
    if (x->near.best.ptr == before)
        return;
    lks_buf_truncate(x->best, 0);
    lks_buf_add(x->best, name);
    x->near.best = lks_buf_view(x->best);
}

static void look_components(struct search *x, const struct lks_stack *stack)
{
    static const char *const ends[] = {"", ".modules", ".build.sha256", ".build.build_id",
                                       ".build.srcversion"};
    for (size_t i = 0; i < stack->component_count; i++) {
        for (size_t e = 0; e < LKS_COUNT(ends); e++) {
            lks_buf_truncate(&x->name, 0);
            lks_buf_addf(&x->name, "%" LKS_STR_FMT "%s", LKS_STR_ARG(stack->components[i].label),
                         ends[e]);
            look(x);
        }
    }
}

/* Leaves by their dotted names. */
static void look_leaves(struct search *x, const struct lks_doc *doc)
{
    size_t length = x->name.len;
    if (doc == NULL)
        return;
    if (doc->kind != LKS_DOC_MAP) {
        look(x);
        return;
    }
    for (const struct lks_doc *i = doc->first; i != NULL; i = i->next) {
        lks_buf_addf(&x->name, ".%" LKS_STR_FMT, LKS_STR_ARG(i->key));
        look_leaves(x, i);
        lks_buf_truncate(&x->name, length);
    }
}

static void look_stack(struct search *x, const struct lks_stack *stack)
{
    look_components(x, stack);
    lks_buf_truncate(&x->name, 0);
    lks_buf_add(&x->name, LKS_STR("settings"));
    look_leaves(x, stack->settings);
    lks_buf_truncate(&x->name, 0);
    lks_buf_add(&x->name, LKS_STR("tuning"));
    look_leaves(x, stack->tuning);
}

/* What differs on the node now, whatever it is called. */
static void look_verdict(struct search *x, const struct lks_state *s, uint32_t node)
{
    const struct lks_state_verdict *v = lks_state_verdict(s, node);
    struct lks_str lines = v != NULL ? lks_state_text(s, v->wrong) : LKS_STR("");
    struct lks_wrong row;
    while (lks_verdict_wrong_next(&lines, &row)) {
        lks_buf_truncate(&x->name, 0);
        lks_buf_add(&x->name, row.subject);
        look(x);
    }
}

bool lks_subject_known(const struct lks_state *s, const struct lks_book *book,
                       const struct lks_hostlist *nodes, struct lks_str subject,
                       struct lks_buf *near)
{
    struct search x = {.subject = subject, .near = lks_near_to(subject), .best = near};
    const struct lks_stack *last = NULL;
    if (lks_str_is(subject, "*") || lks_str_starts(subject, "devices."))
        return true;
    lks_buf_init(&x.name, NAME_MAX_BYTES);
    for (size_t i = 0; i < nodes->count && !x.found; i++) {
        uint32_t node = lks_state_node(s, nodes->names[i]);
        if (node == LKS_NO_NODE)
            continue;
        const struct lks_stack *stack =
            lks_book_stack(book, lks_state_text(s, lks_state_intent(s, node)));
        look_verdict(&x, s, node);
        if (stack != NULL && stack != last)
            look_stack(&x, stack);
        last = stack != NULL ? stack : last;
    }
    lks_buf_fini(&x.name);
    return x.found || last == NULL;
}
