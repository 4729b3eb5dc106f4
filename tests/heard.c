#include "tests/heard.h"

#include "tests/facts.h"
#include "tests/test.h"

#include <stdlib.h>

enum { LINES_MAX = 1 << 20, SCRATCH_MAX = 1 << 26, SORTED_MAX = 512 };

static void line(void *ctx, const struct lks_reading *r)
{
    struct lks_heard *heard = ctx;
    static const char marks[] = {[LKS_MEASURED] = '=', [LKS_ABSENT] = '~', [LKS_UNMEASURED] = '?'};
    struct lks_buf *out = &heard->lines;
    size_t start = out->len;
    lks_buf_add(out, r->name);
    if (r->of.len > 0)
        lks_buf_addf(out, "@%" LKS_STR_FMT, LKS_STR_ARG(r->of));
    lks_buf_addf(&heard->evidence, "%" LKS_STR_FMT "@%" LKS_STR_FMT ": %" LKS_STR_FMT "\n",
                 LKS_STR_ARG(r->name), LKS_STR_ARG(r->of), LKS_STR_ARG(r->evidence));
    if (r->part.len > 0)
        lks_buf_addf(out, "#%" LKS_STR_FMT, LKS_STR_ARG(r->part));
    lks_buf_addf(out, "%c%" LKS_STR_FMT, marks[r->state], LKS_STR_ARG(r->value));
    struct lks_str all = lks_buf_view(out);
    lks_buf_addf(&heard->full, "%" LKS_STR_FMT " < %" LKS_STR_FMT "\n", (int)(all.len - start),
                 all.ptr + start, LKS_STR_ARG(r->evidence));
    lks_buf_addc(out, '\n');
}

static void init(struct lks_heard *heard)
{
    lks_buf_init(&heard->lines, LINES_MAX);
    lks_buf_init(&heard->evidence, LINES_MAX);
    lks_buf_init(&heard->full, LINES_MAX);
}

void lks_hear(void (*run)(struct lks_probe *p), struct lks_root *root,
              const struct lks_probe_options *options, struct lks_heard *out)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena scratch = {0};
    lks_arena_init(&scratch, SCRATCH_MAX);
    init(out);
    struct lks_probe p = {root, lks_test_facts(), options, &scratch, line, out};
    run(&p);
    CHECK_CODE(out->lines.failed, LKS_OK);
    CHECK_CODE(out->evidence.failed, LKS_OK);
    CHECK_CODE(out->full.failed, LKS_OK);
}

void lks_hear_tree(void (*run)(struct lks_probe *p), const struct lks_tree *tree,
                   const struct lks_probe_options *options, struct lks_heard *out)
{
    static const struct lks_probe_options none;
    struct lks_root root;
    struct lks_err err = {0};
    *out = (struct lks_heard){0};
    if (!CHECK_CODE(lks_root_open(tree->path, NULL, &root, &err), LKS_OK))
        return;
    lks_hear(run, &root, options != NULL ? options : &none, out);
    lks_root_close(&root);
}

void lks_heard_tuple(const struct lks_tuple *tuple, struct lks_heard *out)
{
    init(out);
    for (size_t i = 0; i < tuple->count; i++)
        line(out, &tuple->readings[i]);
}

void lks_heard_fini(struct lks_heard *heard)
{
    lks_buf_fini(&heard->lines);
    lks_buf_fini(&heard->evidence);
    lks_buf_fini(&heard->full);
}

struct lks_str lks_heard_only(const struct lks_heard *heard, const char *part)
{
    static char text[65536];
    size_t len = 0;
    struct lks_str rest = lks_buf_view(&heard->lines), one;
    while (rest.len > 0) {
        (void)lks_str_cut(rest, '\n', &one, &rest);
        if (lks_str_find(one, lks_str_from(part)) < 0 || len + one.len + 1 > sizeof(text))
            continue;
        memcpy(text + len, one.ptr, one.len);
        len += one.len;
        text[len++] = '\n';
    }
    return (struct lks_str){text, len};
}

static int compare(const void *a, const void *b)
{
    return lks_str_cmp(*(const struct lks_str *)a, *(const struct lks_str *)b);
}

/* What there is, in the order of its bytes. */
static void sort(struct lks_str full, struct lks_buf *out)
{
    struct lks_str lines[SORTED_MAX];
    size_t count = 0;
    while (full.len > 0 && CHECK(count < SORTED_MAX)) {
        (void)lks_str_cut(full, '\n', &lines[count], &full);
        if (lks_str_find(lines[count], LKS_STR("~ < ")) < 0)
            count++;
    }
    qsort(lines, count, sizeof(lines[0]), compare);
    for (size_t i = 0; i < count; i++)
        lks_buf_addf(out, "%" LKS_STR_FMT "\n", LKS_STR_ARG(lines[i]));
}

/* The name of a line and its device: all before the mark. */
static struct lks_str name_of(struct lks_str line)
{
    size_t len = 0;
    while (len < line.len && strchr("=~?", line.ptr[len]) == NULL)
        len++;
    return (struct lks_str){line.ptr, len};
}

static struct lks_str same_name(struct lks_str full, const char *want)
{
    struct lks_str name = name_of(lks_str_from(want)), one;
    while (full.len > 0) {
        (void)lks_str_cut(full, '\n', &one, &full);
        if (lks_str_eq(name_of(one), name))
            return one;
    }
    return LKS_STR("(nothing)");
}

bool lks_heard_check(enum lks_heard_how how, void (*run)(struct lks_probe *p),
                     const struct lks_tree *tree, const char *want, const char *file, int line)
{
    LKS_CLEANUP(lks_heard_fini) struct lks_heard heard = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf sorted = LKS_BUF(LINES_MAX);
    lks_hear_tree(run, tree, NULL, &heard);
    struct lks_str got = lks_buf_view(&heard.full);
    if (how == LKS_HEARD_HAS)
        return lks_check_has(got, want, "what it says", file, line);
    if (how == LKS_HEARD_LINE)
        got = same_name(got, want);
    if (how == LKS_HEARD_SORTED) {
        sort(got, &sorted);
        got = lks_buf_view(&sorted);
    }
    return lks_check_str(got, want, "what it says", file, line);
}
