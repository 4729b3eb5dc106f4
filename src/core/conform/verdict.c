#include "core/conform/verdict.h"

#include "core/conform/conform.h"

enum {
    FIRST_BYTES_MAX = 256,
    FIELD_BYTES_MAX = 512, /* of a line; what is longer is cut */
};

/* Each field of each line, with its tab. */
#define LINES_BYTES_MAX ((size_t)LKS_VERDICT_LINES_MAX * 5 * (FIELD_BYTES_MAX + 1))

/* Writing ----------------------------------------------------------------------------------- */

static struct lks_str cut(struct lks_str text, size_t max)
{
    if (text.len <= max)
        return text;
    text.len = max;
    while (!lks_str_utf8(text, NULL))
        text.len--;
    return text;
}

/* Neither stacks nor readings have tabs or line breaks in their texts. */
static void add_field(struct lks_buf *out, struct lks_str text, char end)
{
    lks_buf_add(out, cut(text, FIELD_BYTES_MAX));
    lks_buf_addc(out, end);
}

/* Devices of a basis have numbers that are of no use to people. */
static struct lks_str shown_of(struct lks_str of)
{
    return memchr(of.ptr, ' ', of.len) == NULL ? of : (struct lks_str){"", 0};
}

static void add_wrong(struct lks_buf *out, const struct lks_judgement *row)
{
    add_field(out, row->subject, '\t');
    add_field(out, lks_str_from(lks_conform_cause_name(row->cause)), '\t');
    add_field(out, row->pinned, '\t');
    add_field(out, row->actual, '\t');
    add_field(out, shown_of(row->of), '\n');
}

/* What a gang has to agree in: components, and neither settings, counts of devices nor what the
 * scheduler advertises, which are equal to what is pinned or wrong. */
static bool is_component(struct lks_str subject)
{
    static const char *const others[] = {"settings.", "devices.", "tuning.", "scheduler."};
    for (size_t i = 0; i < LKS_COUNT(others); i++) {
        if (lks_str_starts(subject, others[i]))
            return false;
    }
    return true;
}

static void add_value(struct lks_buf *out, const struct lks_judgement *row)
{
    add_field(out, row->subject, '\t');
    add_field(out, row->value, '\n');
}

/* Judging ----------------------------------------------------------------------------------- */

/* The lines, and what they come to. */
struct draft {
    struct lks_buf wrong, values;
    size_t wrong_count, value_count;
    const struct lks_judgement *first;
};

static void draft_fini(struct draft *d)
{
    lks_buf_fini(&d->wrong);
    lks_buf_fini(&d->values);
}

static void add_row(struct draft *d, const struct lks_judgement *row)
{
    bool wrong = row->verdict == LKS_DRIFT || row->verdict == LKS_NOT_MEASURED;
    if (wrong && d->wrong_count++ < LKS_VERDICT_LINES_MAX)
        add_wrong(&d->wrong, row);
    if (wrong && d->first == NULL)
        d->first = row;
    if (is_component(row->subject) && d->value_count++ < LKS_VERDICT_LINES_MAX)
        add_value(&d->values, row);
}

static struct lks_str first_text(struct lks_arena *arena, const struct lks_judgement *row)
{
    if (row == NULL)
        return LKS_STR("");
    struct lks_str text = lks_arena_format(
        arena, "%" LKS_STR_FMT ": %" LKS_STR_FMT ", pinned %" LKS_STR_FMT,
        LKS_STR_ARG(row->subject), LKS_STR_ARG(row->actual), LKS_STR_ARG(row->pinned));
    return text.ptr == NULL ? text : cut(text, FIRST_BYTES_MAX);
}

enum lks_code lks_verdict_make(const struct lks_facts *facts, const struct lks_stack *stack,
                               struct lks_str basis, struct lks_arena *arena,
                               struct lks_rec_verdict *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple tuple = {0};
    LKS_CLEANUP(lks_conform_fini) struct lks_conformance c = {0};
    LKS_CLEANUP(draft_fini) struct draft d = {0};
    if (lks_basis_parse(basis, &tuple, err) != LKS_OK ||
        lks_conform(facts, stack, &tuple, &c, err) != LKS_OK)
        return err->code;
    lks_buf_init(&d.wrong, LINES_BYTES_MAX);
    lks_buf_init(&d.values, LINES_BYTES_MAX);
    for (size_t i = 0; i < c.count; i++)
        add_row(&d, &c.rows[i]);
    if (lks_buf_check(&d.wrong, err) != LKS_OK || lks_buf_check(&d.values, err) != LKS_OK)
        return err->code;
    struct lks_rec_verdict v = {
        .judged = c.drifted > 0      ? LKS_JUDGED_DRIFT
                  : c.unmeasured > 0 ? LKS_JUDGED_UNMEASURED
                                     : LKS_JUDGED_CONFORMS,
        .drifted = c.drifted,
        .unmeasured = c.unmeasured,
        .first = first_text(arena, d.first),
        .wrong = lks_arena_copy(arena, lks_buf_view(&d.wrong)),
        .values = lks_arena_copy(arena, lks_buf_view(&d.values)),
    };
    if (v.first.ptr == NULL || v.wrong.ptr == NULL || v.values.ptr == NULL)
        return lks_arena_fail(arena, err);
    v.basis = out->basis;
    v.stack = out->stack;
    *out = v;
    return LKS_OK;
}

/* Reading ----------------------------------------------------------------------------------- */

static bool next_line(struct lks_str *lines, struct lks_str *out)
{
    if (lines->len == 0)
        return false;
    (void)lks_str_cut(*lines, '\n', out, lines);
    return true;
}

bool lks_verdict_wrong_next(struct lks_str *lines, struct lks_wrong *out)
{
    struct lks_str line;
    if (!next_line(lines, &line))
        return false;
    (void)lks_str_cut(line, '\t', &out->subject, &line);
    (void)lks_str_cut(line, '\t', &out->cause, &line);
    (void)lks_str_cut(line, '\t', &out->pinned, &line);
    (void)lks_str_cut(line, '\t', &out->actual, &out->of);
    return true;
}

bool lks_verdict_value_next(struct lks_str *lines, struct lks_value *out)
{
    struct lks_str line;
    if (!next_line(lines, &line))
        return false;
    (void)lks_str_cut(line, '\t', &out->subject, &out->value);
    return true;
}
