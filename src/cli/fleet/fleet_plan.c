#include "cli/fleet/fleet_plan.h"

#include "base/file.h"
#include "cli/shared/input.h"
#include "cli/shared/render.h"
#include "model/manifest/manifest_docs.h"

#include <string.h>

#define TEXT_BYTES ((size_t)16 << 20)
enum { INDENT = 4 };

void lks_fleet_plan_fini(struct lks_fleet_plan *plan)
{
    lks_fleet_diff_fini(&plan->diff);
    lks_docs_fini(&plan->now);
    lks_docs_fini(&plan->wanted);
    lks_buf_fini(&plan->text);
}

/* Reading ----------------------------------------------------------------------------------- */

/* False: lockstepd does not say it. */
static bool read_now(struct lks_cli *cli, const struct lks_args *args, char digest[LKS_DIGEST_SIZE],
                     struct lks_docs *out)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    struct lks_err err = {0};
    lks_remote_question_init(&q, "GET", "/v1/fleet/manifest");
    if (lks_remote_question_ask(cli, args, &q, &err) != LKS_OK)
        return false;
    struct lks_str text = lks_buf_view(&q.answer.http.body);
    if (lks_digest_text(text, digest, &err) != LKS_OK)
        return false;
    if (text.len == 0)
        return lks_docs_init(out, "now", &err) == LKS_OK;
    return lks_manifest_docs("now", text, false, out, &err) == LKS_OK;
}

enum lks_code lks_fleet_plan_read(const char *file, struct lks_fleet_plan *out, struct lks_err *err)
{
    out->file = strcmp(file, "-") == 0 ? "standard input" : file;
    lks_buf_init(&out->text, LKS_DOC_BYTES_MAX);
    return lks_file_read(file, &out->text, err);
}

enum lks_code lks_fleet_plan_compare(struct lks_cli *cli, const struct lks_args *args,
                                     struct lks_fleet_plan *plan, struct lks_err *err)
{
    struct lks_err ignored = {0};
    if (lks_manifest_docs(plan->file, lks_buf_view(&plan->text), false, &plan->wanted, &ignored) !=
            LKS_OK ||
        !read_now(cli, args, plan->from, &plan->now))
        return LKS_OK;
    plan->known = true;
    return lks_fleet_diff(&plan->now, &plan->wanted, &plan->diff, err);
}

/* A file that is refused -------------------------------------------------------------------- */

/* The message of lockstepd, which calls the file "manifest", about this fault. */
static bool is_same(const struct lks_fleet_plan *plan, const struct lks_err *theirs,
                    const struct lks_err *ours)
{
    static const char called[] = ": manifest";
    size_t file = strlen(plan->file);
    return strncmp(theirs->msg, plan->file, file) == 0 &&
           strncmp(ours->msg, plan->file, file) == 0 &&
           strncmp(theirs->msg + file, called, strlen(called)) == 0 &&
           strcmp(theirs->msg + file + strlen(called), ours->msg + file) == 0;
}

enum lks_code lks_fleet_plan_faults(struct lks_cli *cli, const struct lks_fleet_plan *plan,
                                    struct lks_err *err)
{
    LKS_CLEANUP(lks_input_fini) struct lks_input input = {0};
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest ignored = {0};
    struct lks_doc_faults faults = {0};
    struct lks_err first = {0};
    if (lks_input_facts(cli->data_dir, &input.facts, &first) != LKS_OK ||
        lks_manifest_lint(plan->file, lks_buf_view(&plan->text), &input.facts, NULL, &faults,
                          &ignored, &first) == LKS_OK)
        return err->code;
    for (size_t i = 0; i < faults.count; i++) {
        if (!is_same(plan, err, &faults.list[i].err))
            continue;
        *err = faults.list[i].err;
        return lks_input_faults(cli, plan->file, &faults, err);
    }
    return err->code;
}

/* Differences ------------------------------------------------------------------------------- */

static enum lks_colour colour_of(char mark)
{
    if (mark == '+')
        return LKS_GREEN;
    return mark == '-' ? LKS_RED : LKS_YELLOW;
}

/* A line of the plan, wrapped where people read it. */
static void print_line(struct lks_cli *cli, FILE *out, enum lks_colour colour, size_t indent,
                       const struct lks_buf *text)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf clean = LKS_BUF(2 * TEXT_BYTES);
    size_t width = cli->term.width > 0 ? cli->term.width : SIZE_MAX;
    lks_term_clean(&clean, lks_buf_view(text));
    fprintf(out, "%*s%s", (int)indent, "", lks_term_on(&cli->term, colour));
    lks_term_flow(out, lks_buf_view(&clean), indent, indent + INDENT, width);
    fputs(lks_term_off(&cli->term, colour), out);
}

static void put_field(struct lks_buf *out, const struct lks_fleet_diff_field *f)
{
    lks_buf_addf(out, "%c %" LKS_STR_FMT ": ", f->mark, LKS_STR_ARG(f->path));
    if (f->mark != '+')
        lks_buf_add(out, f->old);
    if (f->mark == '~')
        lks_buf_add(out, LKS_STR(" -> "));
    if (f->mark != '-')
        lks_buf_add(out, f->new);
}

/* A thing that is new, or gone, as one line: "+ pool lab: posture dev, enforce on". */
static void put_whole(struct lks_buf *out, const struct lks_fleet_diff_thing *t)
{
    for (size_t i = 0; i < t->field_count; i++) {
        const struct lks_fleet_diff_field *f = &t->fields[i];
        struct lks_str value = t->mark == '-' ? f->old : f->new;
        lks_buf_addf(out, "%s%" LKS_STR_FMT " %" LKS_STR_FMT, i == 0 ? ": " : ", ",
                     LKS_STR_ARG(f->path), LKS_STR_ARG(value));
    }
}

static void print_thing(struct lks_cli *cli, const struct lks_fleet_diff_thing *t)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_BYTES);
    lks_buf_addf(&text, "%c %s %" LKS_STR_FMT, t->mark, t->what, LKS_STR_ARG(t->name));
    if (t->hosts > 1)
        lks_buf_addf(&text, " (%zu)", t->hosts);
    if (t->mark != '~')
        put_whole(&text, t);
    print_line(cli, cli->out, colour_of(t->mark), 0, &text);
    for (size_t i = 0; i < t->field_count && t->mark == '~'; i++) {
        lks_buf_truncate(&text, 0);
        put_field(&text, &t->fields[i]);
        print_line(cli, cli->out, colour_of(t->fields[i].mark), INDENT, &text);
    }
}

/* What it causes ---------------------------------------------------------------------------- */

static void print_cause(struct lks_cli *cli, const struct lks_buf *text)
{
    print_line(cli, cli->out, LKS_PLAIN, 2, text);
}

/* Nodes that come, go, or move to another pool. */
static void print_nodes(struct lks_cli *cli, const struct lks_fleet_diff_thing *t)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_BYTES);
    const struct lks_fleet_diff_field *pool = lks_fleet_diff_field(t, "pool");
    char count[LKS_COUNT_TEXT_SIZE];
    const char *are = t->hosts == 1 ? "is" : "are";
    (void)lks_str_count_text(t->hosts, "node", count);
    if (strcmp(t->what, "nodes") != 0 || pool == NULL)
        return;
    if (t->mark == '+')
        lks_buf_addf(&text,
                     "%s %s added to pool %" LKS_STR_FMT ": not enrolled until the agent enrols "
                     "with a token ('lockstep node enroll')",
                     count, are, LKS_STR_ARG(pool->new));
    else if (t->mark == '-')
        lks_buf_addf(&text, "%s %s removed from pool %" LKS_STR_FMT, count, are,
                     LKS_STR_ARG(pool->old));
    else
        lks_buf_addf(&text, "%s %s moved from pool %" LKS_STR_FMT " to pool %" LKS_STR_FMT, count,
                     are, LKS_STR_ARG(pool->old), LKS_STR_ARG(pool->new));
    print_cause(cli, &text);
}

/* What lockstepd found out, by effect; the names of nodes follow. Plurals are those of the count.
 */
static const struct {
    const char *effect, *form;
} effects[] = {
    {"joins", "pool {pool}: {nodes#node} join[{nodes=1}s]"},
    {"leaves", "pool {pool}: {nodes#node} leave[{nodes=1}s]"},
    {"intent", "pool {pool}: the stack that {nodes#node} should run changes"},
    {"conforms", "pool {pool}: {nodes#node} conform[{nodes=1}s] to it already"},
    {"drifts", "pool {pool}: {nodes#node} will drift from it"},
    {"unmeasured", "pool {pool}: {nodes#node} cannot be measured against all of it"},
    {"uncompared", "pool {pool}: {nodes#node} will be compared with it afterwards"},
    {"drains", "pool {pool}: {nodes#node} will be drained for drift"},
    {"admitted", "pool {pool}: admission stops refusing jobs on {nodes#node}"},
    {"refused", "pool {pool}: admission starts to refuse jobs on {nodes#node} ({reason})"},
    {"change", "change {id} has {nodes#affected node}"},
    {"deviation", "deviation {id} names {nodes#affected node}"},
};

static void print_effect(struct lks_cli *cli, const struct lks_doc *effect)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_BYTES);
    const struct lks_doc *names = lks_doc_member(effect, "first");
    uint64_t more = lks_render_number(effect, "nodes");
    for (size_t i = 0; i < LKS_COUNT(effects); i++)
        if (lks_str_is(lks_doc_text(effect, "effect"), effects[i].effect))
            lks_render(&text, effects[i].form, &(struct lks_render){.doc = effect});
    if (text.len == 0)
        return;
    for (const struct lks_doc *n = names != NULL ? names->first : NULL; n != NULL; n = n->next) {
        lks_buf_add(&text, n == names->first ? LKS_STR(": ") : LKS_STR(", "));
        lks_render_value(&text, n);
        more -= more > 0;
    }
    if (more > 0)
        lks_buf_addf(&text, ", and %llu more", (unsigned long long)more);
    print_cause(cli, &text);
}

/* Whether the file names nodes that the fleet does not have. */
static bool adds_nodes(const struct lks_fleet_plan *plan)
{
    for (size_t i = 0; i < plan->diff.count; i++)
        if (strcmp(plan->diff.things[i].what, "nodes") == 0 && plan->diff.things[i].mark == '+')
            return true;
    return false;
}

/* By `answer`, or by the differences where lockstepd is of a version that does not say it. */
static void print_effects(struct lks_cli *cli, const struct lks_fleet_plan *plan,
                          const struct lks_doc *answer)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_BYTES);
    const struct lks_doc *list = lks_doc_member(answer, "effects");
    for (size_t i = 0; i < plan->diff.count && list == NULL; i++)
        print_nodes(cli, &plan->diff.things[i]);
    if (list == NULL)
        return;
    for (const struct lks_doc *effect = list->first; effect != NULL; effect = effect->next)
        print_effect(cli, effect);
    lks_buf_add(&text, LKS_STR("new nodes are not enrolled until their agents enrol with a token "
                               "('lockstep node enroll')"));
    if (adds_nodes(plan))
        print_cause(cli, &text);
}

/* Records that say something the difference does not. */
static const struct {
    const char *kind, *form;
} causes[] = {
    {"accepted", "{hosts}: accepted without intake"},
    {"lowered", "pool {pool} asks less of its changes: {text}"},
    {"alarm", "alarm: {text}"},
};

static void print_record(struct lks_cli *cli, const struct lks_doc *record)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_BYTES);
    for (size_t i = 0; i < LKS_COUNT(causes); i++)
        if (lks_str_is(lks_doc_text(record, "kind"), causes[i].kind))
            lks_render(&text, causes[i].form, &(struct lks_render){.doc = record});
    if (text.len > 0)
        print_cause(cli, &text);
}

void lks_fleet_plan_print(struct lks_cli *cli, const struct lks_fleet_plan *plan,
                          const struct lks_doc *answer)
{
    const struct lks_doc *records = lks_doc_member(answer, "changes");
    for (size_t i = 0; i < plan->diff.count; i++)
        print_thing(cli, &plan->diff.things[i]);
    fputs("\nthis causes:\n", cli->out);
    print_effects(cli, plan, answer);
    for (const struct lks_doc *r = records != NULL ? records->first : NULL; r != NULL; r = r->next)
        print_record(cli, r);
    lks_render_print(cli->out, "  {nodes#enrolled node} with {gpus#GPU} affected\n", answer);
}

/* A file that is behind --------------------------------------------------------------------- */

void lks_fleet_plan_stale(struct lks_cli *cli, const struct lks_fleet_plan *plan)
{
    for (size_t i = 0; i < plan->diff.count; i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_BYTES);
        const struct lks_fleet_diff_thing *t = &plan->diff.things[i];
        const struct lks_fleet_diff_field *stack = lks_fleet_diff_field(t, "stack");
        if (strcmp(t->what, "pool") != 0 || t->mark != '~' || stack == NULL || stack->old.len == 0)
            continue;
        lks_buf_addf(&text, "%s:%u: pool %" LKS_STR_FMT ": stack: ", plan->file,
                     stack->line > 0 ? stack->line : t->line, LKS_STR_ARG(t->name));
        lks_buf_addf(&text, "%" LKS_STR_FMT " -> %" LKS_STR_FMT,
                     LKS_STR_ARG(stack->new.len > 0 ? stack->new : LKS_STR("none")),
                     LKS_STR_ARG(stack->old));
        lks_buf_addf(&text,
                     " (edit this line; to move the pool instead: lockstep change propose --pool "
                     "%" LKS_STR_FMT " --to %" LKS_STR_FMT " --reason TEXT)",
                     LKS_STR_ARG(t->name),
                     LKS_STR_ARG(stack->new.len > 0 ? stack->new : LKS_STR("STACK")));
        print_line(cli, cli->err, LKS_PLAIN, 0, &text);
    }
}
