/* Tables of columns and of computed members obey the rules that answers, lists and the reference
 * page rest on. Columns that are recorded but not restored are found elsewhere: by tools/columns.py
 * (a member of a struct that is no column), test_reload.c and the simulator (a column that differs
 * after a snapshot was loaded). */
#include "core/rows/text.h"
#include "core/view/view.h"
#include "core/view/view_sort.h"
#include "model/schema/tables.h"
#include "tests/test.h"

enum { ANSWERED = LKS_USE_LISTED | LKS_USE_SHOWN | LKS_USE_LIVE };
enum { ASKED = LKS_USE_FILTER | LKS_USE_SORT };

static bool is_documented(const char *about)
{
    return about != NULL && about[0] != '\0' && about[strlen(about) - 1] == '.';
}

static bool can_filter(const struct lks_column *c)
{
    return c->count == 1 && (c->type == LKS_COLUMN_TEXT || c->type == LKS_COLUMN_WORD ||
                             c->type == LKS_COLUMN_TRUTH || c->type == LKS_COLUMN_POOL);
}

static bool can_show(const struct lks_column *c)
{
    return c->count == 1 && c->type != LKS_COLUMN_REAL && c->type != LKS_COLUMN_BYTES;
}

/* A text that is dropped with its last use could go while a list is sorted in slices. */
static bool can_sort(const struct lks_column *c)
{
    return can_show(c) && c->type != LKS_COLUMN_DIGEST && (c->flags & LKS_COLUMN_PASSING) == 0 &&
           (c->use & (LKS_USE_LINES | LKS_USE_PARTED)) == 0;
}

/* What is wrong with how a column is used; NULL: nothing. */
static const char *fault_of(const struct lks_column *c)
{
    if (!is_documented(c->about))
        return "is not documented";
    if ((c->flags & LKS_COLUMN_SECRET) != 0 && c->use != 0)
        return "is secret and used";
    if ((c->use & LKS_USE_LISTED) != 0 && (c->use & LKS_USE_SHOWN) != 0)
        return "is in an answer twice";
    if ((c->use & ASKED) != 0 && (c->use & LKS_USE_LISTED) == 0)
        return "is asked for and not in the list";
    if ((c->use & LKS_USE_FILTER) != 0 && !can_filter(c))
        return "has a type that no filter takes";
    if ((c->use & LKS_USE_SORT) != 0 && !can_sort(c))
        return "has a type that this list cannot be sorted by";
    if ((c->use & ANSWERED) != 0 && !can_show(c))
        return "has a type that no answer shows";
    return NULL;
}

static const char *fault_of_computed(const struct lks_view_computed *m)
{
    if (!is_documented(m->field.about))
        return "is not documented";
    if ((m->use & ANSWERED) == 0)
        return "is in no answer";
    if ((m->use & ASKED) != 0 && (m->use & LKS_USE_LISTED) == 0)
        return "is asked for and not in the list";
    return NULL;
}

/* Every member with a use is in the walk, once, under a name of its own. */
static const char *fault_of_walk(const struct lks_view *v, unsigned use)
{
    size_t count = 0, found = 0;
    struct lks_field field, other;
    for (size_t i = 0; i < v->entity->column_count; i++)
        count += (v->entity->columns[i].use & use) != 0;
    for (size_t i = 0; i < v->computed_count; i++)
        count += (v->computed[i].use & use) != 0;
    for (; lks_view_row_field(v, use, found, &field); found++) {
        for (size_t k = 0; k < found; k++) {
            CHECK(lks_view_row_field(v, use, k, &other));
            if (strcmp(field.key, other.key) == 0)
                return "has a name twice";
        }
    }
    return found == count ? NULL : "has computed members out of order";
}

static const char *fault_of_view(const struct lks_view *v)
{
    const char *fault = NULL;
    for (size_t i = 0; fault == NULL && i < v->entity->column_count; i++)
        fault = fault_of(&v->entity->columns[i]);
    for (size_t i = 0; fault == NULL && i < v->computed_count; i++)
        fault = fault_of_computed(&v->computed[i]);
    for (size_t i = 0; fault == NULL && i < v->computed_count; i++) {
        struct lks_view_sort sort;
        if ((v->computed[i].use & LKS_USE_SORT) != 0 &&
            !lks_view_sort_by(v, lks_str_from(v->computed[i].field.key), &sort))
            fault = "is sorted by and has no key";
    }
    for (unsigned use = 1; fault == NULL && use <= LKS_USE_SORT; use *= 2)
        fault = fault_of_walk(v, use);
    return fault != NULL ? fault : fault_of_walk(v, LKS_USE_LISTED | LKS_USE_SHOWN | LKS_USE_LIVE);
}

/* Values of these are looked up among nodes. */
static bool needs_nodes(const struct lks_column *c)
{
    return (c->use & LKS_USE_FILTER) != 0 &&
           (c->type == LKS_COLUMN_TEXT || c->type == LKS_COLUMN_POOL);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static void check_entity(const struct lks_entity *t)
{
    for (size_t i = 0; i < t->column_count; i++) {
        const char *fault = fault_of(&t->columns[i]);
        lks_test_case("%s.%s %s", t->name, t->columns[i].name, fault != NULL ? fault : "");
        CHECK(fault == NULL);
        CHECK(t == &lks_entity_node || !needs_nodes(&t->columns[i]));
    }
    for (size_t i = 0; i < t->child_count; i++)
        check_entity(t->children[i]);
}

static void test_columns_are_fit_for_their_use(void)
{
    for (size_t i = 0; i < lks_entity_count; i++)
        check_entity(lks_entities[i]);
    for (size_t i = 0; i < lks_view_count; i++) {
        const char *fault = fault_of_view(lks_views[i]);
        lks_test_case("%s %s", lks_views[i]->entity->name, fault != NULL ? fault : "");
        CHECK(fault == NULL);
    }
}

/* A column that is used has its view: without one no answer would show it. */
static void test_what_is_used_is_in_a_view(void)
{
    for (size_t i = 0; i < lks_entity_count; i++) {
        const struct lks_entity *t = lks_entities[i];
        bool used = false, viewed = false;
        for (size_t k = 0; k < t->column_count; k++)
            used = used || t->columns[k].use != 0;
        for (size_t k = 0; k < lks_view_count; k++)
            viewed = viewed || lks_views[k]->entity == t;
        lks_test_case("%s", t->name);
        CHECK(used == viewed);
    }
}

/* Tables with a fault ----------------------------------------------------------------------- */

struct row {
    lks_text a, b;
    bool open;
    char *bytes;
    uint32_t len;
};

#define COLUMN_OF(member, type_, ...)                                                              \
    {                                                                                              \
        .name = #member, .type = LKS_COLUMN_##type_, .offset = offsetof(struct row, member),       \
        .size = sizeof(((struct row *)0)->member), .count = 1, __VA_ARGS__                         \
    }

static const struct {
    struct lks_column columns[2];
    struct lks_view_computed computed[2];
    const char *fault;
} planted[] = {
    {.columns = {COLUMN_OF(a, TEXT, .about = "A.", .use = LKS_USE_LISTED | LKS_USE_FILTER),
                 COLUMN_OF(b, TEXT, .about = "B.")},
     .computed = {{{"x", LKS_OF(TEXT), 0, NULL, "X."}, LKS_USE_LISTED, LKS_VIEW_END, NULL},
                  {{"y", LKS_OF(TEXT), 0, NULL, "Y."}, LKS_USE_SHOWN, 0, NULL}}},
    {.columns = {COLUMN_OF(a, TEXT, .use = LKS_USE_LISTED), COLUMN_OF(b, TEXT, .about = "B.")},
     .fault = "is not documented"},
    {.columns = {COLUMN_OF(a, TEXT, .about = "A.", .flags = LKS_COLUMN_SECRET,
                           .use = LKS_USE_SHOWN)},
     .fault = "is secret and used"},
    {.columns = {COLUMN_OF(a, TEXT, .about = "A.", .flags = LKS_COLUMN_SECRET,
                           .use = LKS_USE_FILTER)},
     .fault = "is secret and used"},
    {.columns = {COLUMN_OF(a, TEXT, .about = "A.", .use = LKS_USE_LISTED | LKS_USE_SHOWN)},
     .fault = "is in an answer twice"},
    {.columns = {COLUMN_OF(a, TEXT, .about = "A.", .use = LKS_USE_FILTER | LKS_USE_SHOWN)},
     .fault = "is asked for and not in the list"},
    {.columns = {COLUMN_OF(a, NODE, .about = "A.", .use = LKS_USE_FILTER | LKS_USE_LISTED)},
     .fault = "has a type that no filter takes"},
    {.columns = {COLUMN_OF(a, TEXT, .about = "A.", .flags = LKS_COLUMN_PASSING,
                           .use = LKS_USE_SORT | LKS_USE_LISTED)},
     .fault = "has a type that this list cannot be sorted by"},
    {.columns = {COLUMN_OF(a, TEXT, .about = "A.")},
     .computed =
         {{{"x", LKS_OF(TEXT), 0, NULL, "X."}, LKS_USE_LISTED | LKS_USE_SORT, LKS_VIEW_END, NULL}},
     .fault = "is sorted by and has no key"},
    {.columns = {COLUMN_OF(bytes, BYTES, .about = "A.", .use = LKS_USE_LISTED)},
     .fault = "has a type that no answer shows"},
    {.columns = {COLUMN_OF(a, TEXT, .about = "A.", .use = LKS_USE_LISTED),
                 COLUMN_OF(b, TEXT, .about = "B.", .key = "a", .use = LKS_USE_SHOWN)},
     .fault = "has a name twice"},
    {.columns = {COLUMN_OF(a, TEXT, .about = "A.")},
     .computed = {{{"x", LKS_OF(TEXT), 0, NULL, NULL}, LKS_USE_LISTED, LKS_VIEW_END, NULL}},
     .fault = "is not documented"},
    {.columns = {COLUMN_OF(a, TEXT, .about = "A.")},
     .computed = {{{"x", LKS_OF(TEXT), 0, NULL, "X."}, LKS_USE_FILTER, LKS_VIEW_END, NULL}},
     .fault = "is in no answer"},
    {.columns = {COLUMN_OF(a, TEXT, .about = "A.")},
     .computed = {{{"x", LKS_OF(TEXT), 0, NULL, "X."}, LKS_USE_LISTED, LKS_VIEW_END, NULL},
                  {{"y", LKS_OF(TEXT), 0, NULL, "Y."}, LKS_USE_LISTED, 0, NULL}},
     .fault = "has computed members out of order"},
};

static void test_a_planted_fault_is_found(void)
{
    for (size_t i = 0; i < LKS_COUNT(planted); i++) {
        struct lks_entity t = {.name = "planted", .columns = planted[i].columns};
        while (t.column_count < 2 && planted[i].columns[t.column_count].name != NULL)
            t.column_count++;
        struct lks_view v = {.entity = &t, .computed = planted[i].computed};
        while (v.computed_count < 2 && planted[i].computed[v.computed_count].field.key != NULL)
            v.computed_count++;
        const char *fault = fault_of_view(&v);
        lks_test_case("%s", planted[i].fault != NULL ? planted[i].fault : "none");
        if (CHECK((fault == NULL) == (planted[i].fault == NULL)) && fault != NULL)
            CHECK(strcmp(fault, planted[i].fault) == 0);
    }
}

static const struct lks_test tests[] = {
    {"columns are fit for their use", test_columns_are_fit_for_their_use},
    {"a table with a column that is used has a view", test_what_is_used_is_in_a_view},
    {"a planted fault is found", test_a_planted_fault_is_found},
    {0},
};

int main(void)
{
    return lks_test_main(tests);
}
