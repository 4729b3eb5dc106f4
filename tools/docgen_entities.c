/* The page of the tables of the state; see docgen.c. */
#include "core/view/view.h"
#include "tools/docgen.h"

static const char *const types[] = {
    [LKS_COLUMN_TRUTH] = "true or false", [LKS_COLUMN_NUMBER] = "number",
    [LKS_COLUMN_TIME] = "time",           [LKS_COLUMN_SPAN] = "milliseconds",
    [LKS_COLUMN_REAL] = "real number",    [LKS_COLUMN_WORD] = "one of",
    [LKS_COLUMN_TEXT] = "text",           [LKS_COLUMN_NODE] = "node",
    [LKS_COLUMN_POOL] = "pool",           [LKS_COLUMN_BASIS] = "digest of readings",
    [LKS_COLUMN_DIGEST] = "digest",       [LKS_COLUMN_BYTES] = "bytes",
    [LKS_COLUMN_LETTERS] = "text",
};

static void put_word(struct lks_buf *page, size_t *count, bool so, const char *word)
{
    if (so)
        lks_buf_addf(page, "%s%s", (*count)++ > 0 ? ", " : "", word);
}

static void put_uses(struct lks_buf *page, unsigned flags, unsigned use, const char *key)
{
    size_t count = 0;
    lks_buf_addf(page, " | ");
    put_word(page, &count, (use & LKS_USE_LISTED) != 0, "list");
    put_word(page, &count, (use & LKS_USE_SHOWN) != 0, "show");
    put_word(page, &count, (use & LKS_USE_LIVE) != 0, "show now");
    put_word(page, &count, (use & LKS_USE_FILTER) != 0, "filter");
    put_word(page, &count, (use & LKS_USE_SORT) != 0, "sort");
    put_word(page, &count, (flags & LKS_COLUMN_SETTABLE) != 0, "set");
    put_word(page, &count, (flags & LKS_COLUMN_SECRET) != 0, "secret");
    put_word(page, &count, (flags & LKS_COLUMN_DERIVED) != 0, "derived");
    if (key != NULL)
        lks_buf_addf(page, "%sas `%s`", count > 0 ? ", " : "", key);
    lks_buf_addf(page, " |\n");
}

static void put_column(struct lks_buf *page, const struct lks_column *c)
{
    lks_buf_addf(page, "| `%s` | %s%s", c->name, c->count > 1 ? "list: " : "", types[c->type]);
    for (size_t i = 0; c->words != NULL && c->words[i] != NULL; i++)
        lks_buf_addf(page, "%s`%s`", i > 0 ? ", " : ": ", c->words[i]);
    lks_buf_addf(page, " | ");
    lks_docgen_cell(page, c->about);
    put_uses(page, c->flags, c->use, c->key);
}

static void put_computed(struct lks_buf *page, const struct lks_entity *t)
{
    for (size_t v = 0; v < lks_view_count; v++) {
        for (size_t i = 0; lks_views[v]->entity == t && i < lks_views[v]->computed_count; i++) {
            const struct lks_view_computed *m = &lks_views[v]->computed[i];
            lks_buf_addf(page, "| `%s` | computed | ", m->field.key);
            lks_docgen_cell(page, m->field.about);
            put_uses(page, 0, m->use, NULL);
        }
    }
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static void put_entity(struct lks_buf *page, const struct lks_entity *t, const char *in)
{
    lks_buf_addf(page, "\n## %s\n\n%s", t->name, t->about);
    if (in != NULL)
        lks_buf_addf(page, " Rows belong to a row of `%s`.", in);
    if (t->column_count > 0)
        lks_buf_addf(page, "\n\n| column | type | meaning | use |\n|---|---|---|---|\n");
    else
        lks_buf_addf(page, " The table has no columns of its own.\n");
    for (size_t i = 0; i < t->column_count; i++)
        put_column(page, &t->columns[i]);
    put_computed(page, t);
    for (size_t i = 0; i < t->child_count; i++)
        put_entity(page, t->children[i], t->name);
}

void lks_docgen_entities(struct lks_buf *page)
{
    lks_docgen_banner(page, "the tables of src/core/entity and src/core/view");
    lks_buf_addf(
        page, "# Tables of the state\n\n"
              "A controller computes its state from the journal. The state has the tables "
              "below. Snapshots hold these tables; answers of the API hold some of the "
              "columns.\n\n"
              "The type `computed` marks a member of answers that is not a column. Where a "
              "column has the same name, answers hold the computed member.\n\n"
              "| use | meaning |\n|---|---|\n"
              "| (empty) | Snapshots hold the column. Answers about pools and changes hold some "
              "of these columns: see [api](api.md). |\n"
              "| `list` | Lists, and answers about a single row, have this member. |\n"
              "| `show` | Only answers about a single row have this member. |\n"
              "| `show now` | As `show`, but answers about a past time do not have it. |\n"
              "| `filter` | The list has a query parameter of this name. |\n"
              "| `sort` | The list can be sorted by it: `sort=NAME`, in reverse `sort=-NAME`. |\n"
              "| `set` | People set the column: `lockstep node set`. |\n"
              "| `secret` | No answer has the column. |\n"
              "| `derived` | The column follows from others; snapshots do not hold it. |\n"
              "| `as NAME` | Answers use this name for the column. |\n");
    for (size_t i = 0; i < lks_entity_count; i++)
        put_entity(page, lks_entities[i], NULL);
}
