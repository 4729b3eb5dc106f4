/* stack lint, digest, show, classes: a stack as a thing one can hold. */
#include "cli/shared/commands.h"
#include "cli/shared/input.h"
#include "cli/shared/output.h"
#include "cli/shared/render.h"
#include "cli/stack/stackref.h"
#include "cli/stack/stackwarn.h"
#include "core/check/check.h"

/* lint -------------------------------------------------------------------------------------- */

static void lint_text(struct lks_cli *cli, const struct lks_manifest *m, size_t inherited)
{
    const char *source = m->docs.source.ptr;
    for (size_t i = inherited; i < m->class_count; i++)
        fprintf(cli->out, "%s: HardwareClass %.*s: %lld x %.*s\n", source,
                LKS_STR_ARG(m->classes[i].name), (long long)m->classes[i].gpus,
                LKS_STR_ARG(m->classes[i].gpu));
    for (size_t i = 0; i < m->stack_count; i++)
        fprintf(cli->out, "%s: Stack %.*s %.*s: %zu components, %s\n", source,
                LKS_STR_ARG(m->stacks[i].name), LKS_STR_ARG(m->stacks[i].version),
                m->stacks[i].component_count, m->stacks[i].digest);
    for (size_t i = 0; i < m->fleet_count; i++)
        fprintf(cli->out, "%s: Fleet %.*s: %zu nodes, %zu assets, %zu pools\n", source,
                LKS_STR_ARG(m->fleets[i].name), m->fleets[i].node_count, m->fleets[i].asset_count,
                m->fleets[i].pool_count);
}

static void begin_document(struct lks_json_writer *w, const struct lks_manifest *m,
                           const char *kind, struct lks_str name)
{
    lks_json_begin(w, NULL, '{');
    lks_json_some(w, "file", m->docs.source);
    lks_json_cstr(w, "kind", kind);
    lks_json_some(w, "name", name);
}

static void lint_json(struct lks_json_writer *w, const struct lks_manifest *m, size_t inherited)
{
    for (size_t i = inherited; i < m->class_count; i++) {
        begin_document(w, m, "HardwareClass", m->classes[i].name);
        lks_json_end(w, '}');
    }
    for (size_t i = 0; i < m->stack_count; i++) {
        begin_document(w, m, "Stack", m->stacks[i].name);
        lks_json_some(w, "version", m->stacks[i].version);
        lks_json_cstr(w, "digest", m->stacks[i].digest);
        lks_json_end(w, '}');
    }
    for (size_t i = 0; i < m->fleet_count; i++) {
        begin_document(w, m, "Fleet", m->fleets[i].name);
        lks_json_int(w, "nodes", (int64_t)m->fleets[i].node_count);
        lks_json_int(w, "assets", (int64_t)m->fleets[i].asset_count);
        lks_json_end(w, '}');
    }
}

/* What is most likely misspelled, beside the answer. */
enum lks_code lks_stack_warn(struct lks_cli *cli, const struct lks_facts *facts,
                             const struct lks_stack *stack, const char *file, struct lks_err *err)
{
    LKS_CLEANUP(lks_report_fini) struct lks_report report = {0};
    lks_report_init(&report);
    if (lks_check_names(facts, stack, &report, err) != LKS_OK)
        return err->code;
    lks_output_findings_aside(cli, file, &report);
    return LKS_OK;
}

static enum lks_code lint_names(struct lks_cli *cli, const struct lks_facts *facts,
                                const struct lks_manifest *m, struct lks_err *err)
{
    for (size_t i = 0; i < m->stack_count; i++)
        if (lks_stack_warn(cli, facts, &m->stacks[i], m->docs.source.ptr, err) != LKS_OK)
            return err->code;
    return LKS_OK;
}

static enum lks_code lint_file(struct lks_cli *cli, const struct lks_args *args,
                               const struct lks_input *input, const char *file,
                               struct lks_json_writer *w, struct lks_err *err)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
    struct lks_doc_faults faults;
    if (lks_input_lint(input, file, &faults, &m, err) != LKS_OK)
        return lks_input_faults(cli, file, &faults, err);
    if (lint_names(cli, &input->facts, &m, err) != LKS_OK)
        return err->code;
    if (lks_args_has(args, "--json"))
        lint_json(w, &m, input->library.class_count);
    else
        lint_text(cli, &m, input->library.class_count);
    return LKS_OK;
}

/* A file that is bad does not keep the others from being read. */
enum lks_code lks_cmd_stack_lint(struct lks_cli *cli, const struct lks_args *args,
                                 struct lks_err *err)
{
    LKS_CLEANUP(lks_input_fini) struct lks_input input = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(LKS_OUTPUT_BYTES_MAX);
    struct lks_json_writer w = {.out = &json};
    struct lks_err failed = {0};
    size_t bad = 0, count = args->positional_count;
    if (lks_input_begin(cli, args, &input, err) != LKS_OK)
        return err->code;
    lks_json_begin(&w, NULL, '{');
    lks_json_begin(&w, "documents", '[');
    for (size_t i = 0; i < count; i++) {
        struct lks_err one = {0};
        if (lint_file(cli, args, &input, args->positional[i], &w, &one) == LKS_OK)
            continue;
        if (count > 1)
            fprintf(cli->err, "lockstep: %s\n", one.msg);
        failed = one;
        bad++;
    }
    lks_json_end(&w, ']');
    lks_json_end(&w, '}');
    *err = failed;
    if (bad > 0)
        return count > 1 ? lks_fail(err, failed.code, "%zu of %zu files have errors", bad, count)
                         : err->code;
    return lks_args_has(args, "--json") ? lks_output_json(cli, &json, err) : LKS_OK;
}

/* digest ------------------------------------------------------------------------------------ */

enum lks_code lks_cmd_stack_digest(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_input_fini) struct lks_input input = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_OUTPUT_BYTES_MAX);
    const struct lks_stack *stack;
    if (lks_input_load_stack(cli, args, &input, &stack, err) != LKS_OK)
        return err->code;
    if (lks_args_has(args, "--canonical")) {
        if (lks_stack_canonical(stack, &text, err) != LKS_OK)
            return err->code;
        fwrite(text.ptr, 1, text.len, cli->out); /* exactly the hashed bytes: no line end */
        return LKS_OK;
    }
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    lks_json_write(lks_output_begin(&o), "'name'?: '%.*s', 'version'?: '%.*s', 'digest': '%s'",
                   LKS_STR_ARG(stack->name), LKS_STR_ARG(stack->version), stack->digest);
    return lks_output_form(cli, args, &o, "{digest}\n", err);
}

/* show -------------------------------------------------------------------------------------- */

static enum lks_code add_version(struct lks_table *t, const struct lks_component *c,
                                 struct lks_err *err)
{
    bool absent = c->absent.len > 0;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_OUTPUT_BYTES_MAX);
    lks_buf_add(&text, absent ? LKS_STR("absent: ") : c->version);
    lks_buf_add(&text, !absent && c->modules.len > 0 ? LKS_STR(" ") : LKS_STR(""));
    lks_buf_add(&text, absent ? c->absent : c->modules);
    lks_output_cell(t, absent ? LKS_DIM : LKS_PLAIN, lks_buf_view(&text));
    return lks_buf_check(&text, err);
}

static enum lks_code show_components(struct lks_cli *cli, const struct lks_facts *facts,
                                     const struct lks_stack *stack, struct lks_err *err)
{
    static const struct lks_output_column columns[] = {{"component", LKS_COLUMN_WRAP},
                                                       {"version", LKS_COLUMN_WRAP},
                                                       {"window", LKS_COLUMN_WRAP},
                                                       {"owner, scope", LKS_COLUMN_WRAP},
                                                       {"class", 0},
                                                       {"reboot", 0}};
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    lks_output_columns(&t, columns, LKS_COUNT(columns));
    for (size_t i = 0; i < stack->component_count; i++) {
        const struct lks_component *c = &stack->components[i];
        const struct lks_component_kind *kind = lks_facts_component(facts, c->name);
        lks_output_cell(&t, LKS_BOLD, c->label);
        if (add_version(&t, c, err) != LKS_OK)
            return err->code;
        lks_output_cell(&t, LKS_PLAIN, c->window);
        bool of_node = lks_str_is(c->scope, "node"); /* which goes without saying */
        lks_table_cellf(&t, LKS_PLAIN, "%.*s%s%.*s", LKS_STR_ARG(c->owner), of_node ? "" : ", ",
                        of_node ? 0 : (int)c->scope.len, c->scope.ptr);
        lks_table_cell(&t, LKS_PLAIN, kind != NULL ? kind->update_class : LKS_STR("unknown"));
        lks_table_cell(&t, LKS_PLAIN, kind != NULL ? kind->reboot : LKS_STR("unknown"));
    }
    return lks_output_table(cli, &t, err);
}

/* A row for each value below `doc`, whose name is in `path`. A list is one value. */
static enum lks_code add_leaves(struct lks_table *t, struct lks_buf *path,
                                const struct lks_doc *doc, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf value = LKS_BUF(LKS_OUTPUT_BYTES_MAX);
    if (doc->kind != LKS_DOC_MAP) {
        if (doc->kind == LKS_DOC_TEXT)
            lks_buf_add(&value, doc->text);
        else if (lks_json_canonical(doc, &value, err) != LKS_OK)
            return err->code;
        lks_output_cell(t, LKS_BOLD, lks_buf_view(path));
        lks_output_cell(t, LKS_PLAIN, lks_buf_view(&value));
        return lks_buf_check(&value, err);
    }
    size_t len = path->len;
    for (const struct lks_doc *item = doc->first; item != NULL; item = item->next) {
        lks_buf_add(path, len > 0 ? LKS_STR(".") : LKS_STR(""));
        lks_buf_add(path, item->key);
        if (lks_buf_check(path, err) != LKS_OK || add_leaves(t, path, item, err) != LKS_OK)
            return err->code;
        lks_buf_truncate(path, len);
    }
    return LKS_OK;
}

static enum lks_code show_settings(struct lks_cli *cli, const struct lks_stack *stack,
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf path = LKS_BUF(LKS_OUTPUT_BYTES_MAX);
    lks_table_init(&t, LKS_OUTPUT_BYTES_MAX);
    lks_table_column(&t, "setting", LKS_COLUMN_WRAP);
    lks_table_column(&t, "value", LKS_COLUMN_WRAP);
    if (stack->settings != NULL && add_leaves(&t, &path, stack->settings, err) != LKS_OK)
        return err->code;
    lks_buf_add(&path, LKS_STR("tuning"));
    if (stack->tuning != NULL && add_leaves(&t, &path, stack->tuning, err) != LKS_OK)
        return err->code;
    if (t.first != NULL)
        fprintf(cli->out, "\n");
    return lks_output_table(cli, &t, err);
}

static void put_entry(struct lks_json_writer *w, const struct lks_doc *entry)
{
    const struct lks_doc *pools = lks_doc_member(entry, "pools");
    lks_json_some(w, "step", lks_doc_text(entry, "step"));
    lks_json_begin(w, "pools", '[');
    for (const struct lks_doc *p = pools != NULL ? pools->first : NULL; p != NULL; p = p->next)
        lks_json_text(w, NULL, p->text);
    lks_json_end(w, ']');
    if (lks_render_truth(entry, "rolled_back"))
        lks_json_int(w, "rolled_back", (int64_t)lks_render_number(entry, "rolled_back"));
}

/* `entry` is what the registry knows of the stack; NULL: it is of a file. */
static enum lks_code show_json(struct lks_cli *cli, const struct lks_stack *stack,
                               const struct lks_doc *entry, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf identity = LKS_BUF(LKS_OUTPUT_BYTES_MAX);
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    if (lks_stack_canonical(stack, &identity, err) != LKS_OK)
        return err->code;
    struct lks_json_writer *w = lks_output_begin(&o);
    lks_json_write(w, "'name'?: '%.*s', 'version'?: '%.*s', 'digest': '%s', 'identity': %.*s",
                   LKS_STR_ARG(stack->name), LKS_STR_ARG(stack->version), stack->digest,
                   LKS_STR_ARG(lks_buf_view(&identity)));
    if (entry != NULL)
        put_entry(w, entry);
    return lks_output_end(cli, &o, err);
}

enum lks_code lks_cmd_stack_show(struct lks_cli *cli, const struct lks_args *args,
                                 struct lks_err *err)
{
    LKS_CLEANUP(lks_input_fini) struct lks_input input = {0};
    LKS_CLEANUP(lks_stackref_fini) struct lks_stackref ref = {0};
    const struct lks_stack *stack;
    if (lks_input_begin(cli, args, &input, err) != LKS_OK ||
        lks_stackref_read(cli, args, &input, args->positional[0], &ref, &stack, err) != LKS_OK ||
        (stack == NULL &&
         lks_input_stack(&ref.manifest, lks_args_str(args, "--stack"), &stack, err) != LKS_OK))
        return err->code;
    if (lks_args_has(args, "--json"))
        return show_json(cli, stack, ref.entry.doc, err);
    fprintf(cli->out, "%.*s %.*s (%s)\n%s\nhardware:", LKS_STR_ARG(stack->name),
            LKS_STR_ARG(stack->version), lks_facts_vendor_name(stack->vendor), stack->digest);
    for (size_t i = 0; i < stack->class_count; i++)
        fprintf(cli->out, " %.*s (%lld x %.*s)", LKS_STR_ARG(stack->classes[i]->name),
                (long long)stack->classes[i]->gpus, LKS_STR_ARG(stack->classes[i]->gpu));
    fprintf(cli->out, "\n");
    if (ref.entry.doc != NULL)
        lks_render_print(cli->out,
                         "registry: {step}[, pinned by {pools}][\nrolled back by change "
                         "{rolled_back}[{pools!}; 'lockstep stack retire {name} --evidence TEXT' "
                         "withdraws it]]\n",
                         ref.entry.doc);
    fprintf(cli->out, "\n");
    if (show_components(cli, &input.facts, stack, err) != LKS_OK)
        return err->code;
    return show_settings(cli, stack, err);
}

/* classes ----------------------------------------------------------------------------------- */

static enum lks_code classes_json(struct lks_cli *cli, const struct lks_facts *facts,
                                  struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    struct lks_json_writer *w = lks_output_begin(&o);
    lks_json_begin(w, "classes", '[');
    for (size_t i = 0; i < facts->classes.count; i++) {
        const struct lks_class *c = &facts->classes.rows[i];
        lks_json_write(w,
                       "{'name'?: '%.*s', 'vendor'?: '%s', 'gpu'?: '%.*s', 'gpus': %ld, "
                       "'nvswitches': %ld, 'nics': %ld, 'nvlink_domain': %ld}",
                       LKS_STR_ARG(c->name), lks_facts_vendor_name(c->vendor), LKS_STR_ARG(c->gpu),
                       c->gpus, c->nvswitches, c->nics, c->nvlink_domain);
    }
    lks_json_end(w, ']');
    return lks_output_end(cli, &o, err);
}

enum lks_code lks_cmd_stack_classes(struct lks_cli *cli, const struct lks_args *args,
                                    struct lks_err *err)
{
    static const struct lks_output_column columns[] = {{"class", 0},
                                                       {"GPUs", 0},
                                                       {"NVSwitches", LKS_COLUMN_RIGHT},
                                                       {"NICs", 0},
                                                       {"NVLink domain", LKS_COLUMN_RIGHT}};
    LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
    if (lks_input_facts(cli->data_dir, &facts, err) != LKS_OK)
        return err->code;
    if (lks_args_has(args, "--json"))
        return classes_json(cli, &facts, err);
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    lks_output_columns(&t, columns, LKS_COUNT(columns));
    for (size_t i = 0; i < facts.classes.count; i++) {
        const struct lks_class *c = &facts.classes.rows[i];
        lks_table_cell(&t, LKS_BOLD, c->name);
        lks_table_cellf(&t, LKS_PLAIN, "%lld x %.*s", (long long)c->gpus, LKS_STR_ARG(c->gpu));
        lks_table_cellf(&t, LKS_PLAIN, "%lld", (long long)c->nvswitches);
        if (c->nics > 0)
            lks_table_cellf(&t, LKS_PLAIN, "%lld x %lld Gb/s", (long long)c->nics,
                            (long long)c->nic_gbps);
        else
            lks_table_cell(&t, LKS_PLAIN, LKS_STR("-"));
        lks_table_cellf(&t, LKS_PLAIN, "%lld", (long long)c->nvlink_domain);
    }
    return lks_output_table(cli, &t, err);
}
