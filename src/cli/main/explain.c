/* `explain KIND.FIELD`: fields of manifests, of the state that answers show, of records and of
 * lockstepd.yaml, from the tables that the programs work with. */
#include "base/near.h"
#include "cli/main/help.h"
#include "cli/shared/commands.h"
#include "cli/shared/input.h"
#include "cli/shared/output.h"
#include "core/view/view.h"
#include "model/facts/class.h"
#include "model/manifest/bundle.h"
#include "model/manifest/fleet.h"
#include "model/manifest/stack.h"
#include "model/record/moves.h"
#include "model/record/record.h"
#include "server/base/config.h"

#include <string.h>

enum { TEXT_MAX = 4096, PATH_MAX_BYTES = 256, LISTED_MAX = 40 };

/* Where a path leads: a field, and the fields inside it. The kind itself has no key. */
struct place {
    struct lks_field field;
    const struct lks_form *form; /* its fields are those of one of these, or it has none */
    const struct lks_entity *entity;
    const struct lks_record_info *record;
    bool records; /* the kinds of records are its fields */
    bool config;  /* the keys of lockstepd.yaml are */
    bool named;   /* a name of the writer's choice may come first */
    const char *in, *about;
};

/* Kinds ------------------------------------------------------------------------------------- */

static const struct {
    const char *kind, *in;
    const struct lks_form *form;
} forms[] = {
    {"stack", "manifest of kind Stack", &lks_stack_form},
    {"fleet", "manifest of kind Fleet", &lks_fleet_form},
    {"hardware-class", "manifest of kind HardwareClass", &lks_class_form},
    {"bundle", "manifest of kind Bundle", &lks_bundle_source_form},
};

/* The table called `kind` at or below these. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static const struct lks_entity *find_entity(const struct lks_entity *const *tables, size_t count,
                                            struct lks_str kind)
{
    for (size_t i = 0; i < count; i++) {
        const struct lks_entity *found =
            lks_str_is(kind, tables[i]->name)
                ? tables[i]
                : find_entity(tables[i]->children, tables[i]->child_count, kind);
        if (found != NULL)
            return found;
    }
    return NULL;
}

enum { STARTS_MAX = 5 };

static struct place start_of_entity(const struct lks_entity *t)
{
    return (struct place){.entity = t, .in = "table of the state", .about = t->about};
}

static const struct place start_of_records = {
    .records = true, .in = "journal", .about = "A record of the journal, by its kind."};
static const struct place start_of_config = {
    .config = true, .in = "lockstepd.yaml", .about = "The configuration of lockstepd."};

static bool find_group(struct lks_str kind, struct place *out);

/* The places with which a path of this kind starts; how many. */
static size_t find_starts(struct lks_str kind, struct place out[STARTS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < LKS_COUNT(forms); i++) {
        if (lks_str_is(kind, forms[i].kind))
            out[count++] = (struct place){
                .form = forms[i].form, .in = forms[i].in, .about = forms[i].form->about};
    }
    if (find_group(kind, &out[count]))
        count++;
    const struct lks_entity *entity = find_entity(lks_entities, lks_entity_count, kind);
    if (entity != NULL)
        out[count++] = start_of_entity(entity);
    if (lks_str_is(kind, "record"))
        out[count++] = start_of_records;
    if (lks_str_is(kind, "config"))
        out[count++] = start_of_config;
    return count;
}

/* Fields ------------------------------------------------------------------------------------ */

typedef void see_fn(const struct place *field, void *arg);

static void see_form(const struct lks_form *form, see_fn *see, void *arg)
{
    struct lks_field field;
    for (size_t i = 0; lks_schema_at(form, i, &field); i++) {
        struct place inner = {.field = field, .about = field.about};
        const struct lks_shape *shape = &field.shape;
        for (; shape->type == LKS_TYPE_LIST || shape->type == LKS_TYPE_DICT; shape = shape->of)
            inner.named = inner.named || shape->type == LKS_TYPE_DICT;
        inner.form = shape->type == LKS_TYPE_FORM ? shape->form : NULL;
        see(&inner, arg);
    }
}

/* Whether a view computes a member of this name: answers have it instead of the column. */
static bool is_computed(const struct lks_entity *t, const char *key)
{
    bool found = false;
    for (size_t v = 0; v < lks_view_count; v++) {
        for (size_t i = 0; lks_views[v]->entity == t && i < lks_views[v]->computed_count; i++)
            found = found || strcmp(lks_views[v]->computed[i].field.key, key) == 0;
    }
    return found;
}

static void see_column(const struct lks_entity *t, const struct lks_column *c, see_fn *see,
                       void *arg)
{
    bool hidden = (c->flags & LKS_COLUMN_SECRET) != 0 || c->type == LKS_COLUMN_BYTES;
    if (hidden || is_computed(t, lks_view_row_key(c)))
        return;
    struct place p = {.field = {.key = lks_view_row_key(c)}, .about = c->about};
    p.field.shape = c->type == LKS_COLUMN_REAL
                        ? (struct lks_shape){.type = LKS_TYPE_NUMBER, .max = LKS_DOC_NUMBER_MAX}
                        : lks_view_row_shape(c);
    see(&p, arg);
}

/* Columns, members that views compute, and the tables inside this one. */
static void see_entity(const struct lks_entity *t, see_fn *see, void *arg)
{
    static const struct lks_shape any = {.type = LKS_TYPE_FORM};
    for (size_t i = 0; i < t->column_count; i++)
        see_column(t, &t->columns[i], see, arg);
    for (size_t v = 0; v < lks_view_count; v++) {
        for (size_t i = 0; lks_views[v]->entity == t && i < lks_views[v]->computed_count; i++) {
            const struct lks_field *field = &lks_views[v]->computed[i].field;
            see(&(struct place){.field = *field, .about = field->about}, arg);
        }
    }
    for (size_t i = 0; i < t->child_count; i++) {
        const struct lks_entity *inner = t->children[i];
        see(&(struct place){.field = {.key = inner->name,
                                      .shape = {.type = LKS_TYPE_LIST, .of = &any}},
                            .entity = inner,
                            .about = inner->about},
            arg);
    }
}

static void see_record(const struct lks_record_info *info, see_fn *see, void *arg)
{
    static const struct lks_shape shapes[] = {
        [LKS_RECORD_TEXT] = {.type = LKS_TYPE_TEXT},
        [LKS_RECORD_NUMBER] = {.type = LKS_TYPE_NUMBER, .max = LKS_DOC_NUMBER_MAX},
        [LKS_RECORD_TIME] = {.type = LKS_TYPE_TIME},
        [LKS_RECORD_TRUTH] = {.type = LKS_TYPE_BOOL},
        [LKS_RECORD_WORD] = {.type = LKS_TYPE_CHOICE},
    };
    for (size_t i = 0; i < info->count; i++) {
        const struct lks_record_field *f = &info->fields[i];
        struct place p = {.field = {.key = f->key, .shape = shapes[f->type]}, .about = f->about};
        p.field.shape.values = f->words;
        if (!f->hidden)
            see(&p, arg);
    }
}

static void see_records(see_fn *see, void *arg)
{
    for (size_t i = 0; i < lks_record_info_count; i++) {
        const struct lks_record_info *info = &lks_record_infos[i];
        see(&(struct place){.field = {.key = info->word, .shape = {.type = LKS_TYPE_FORM}},
                            .record = info,
                            .about = info->about},
            arg);
    }
}

/* The keys are dotted, and a path may name all of a map: "http" is "http.idle_ms" and others. */
static void see_config(see_fn *see, void *arg)
{
    for (size_t i = 0; i < lks_config_key_count; i++) {
        const struct lks_config_key *k = &lks_config_keys[i];
        struct place p = {.field = {.key = k->key, .fallback = k->fallback}, .about = k->about};
        p.field.flags = k->fallback == NULL ? LKS_FIELD_REQUIRED : 0;
        if (k->type == LKS_CONFIG_NUMBER)
            p.field.shape = (struct lks_shape){
                .type = LKS_TYPE_NUMBER, .min = (int64_t)k->min, .max = (int64_t)k->max};
        else if (k->words != NULL)
            p.field.shape = (struct lks_shape){.type = LKS_TYPE_CHOICE, .values = k->words};
        see(&p, arg);
    }
}

static void see_fields(const struct place *p, see_fn *see, void *arg)
{
    if (p->form != NULL)
        see_form(p->form, see, arg);
    else if (p->entity != NULL)
        see_entity(p->entity, see, arg);
    else if (p->record != NULL)
        see_record(p->record, see, arg);
    else if (p->records)
        see_records(see, arg);
    else if (p->config)
        see_config(see, arg);
}

/* Paths ------------------------------------------------------------------------------------- */

struct search {
    struct lks_str key;
    struct place found;
    bool is_found;
    struct lks_near near;
};

static void see_wanted(const struct place *field, void *arg)
{
    struct search *s = arg;
    lks_near_try(&s->near, lks_str_from(field->field.key));
    if (!lks_str_is(s->key, field->field.key))
        return;
    s->found = *field;
    s->is_found = true;
}

/* The groups of a fleet's file by their singular: "pool" has the fields of "fleet.pools". */
static bool find_group(struct lks_str kind, struct place *out)
{
    char key[PATH_MAX_BYTES];
    if (kind.len + 2 > sizeof(key))
        return false;
    snprintf(key, sizeof(key), "%" LKS_STR_FMT "s", LKS_STR_ARG(kind));
    struct search s = {.key = lks_str_from(key)};
    see_form(&lks_fleet_form, see_wanted, &s);
    if (!s.is_found || s.found.form == NULL)
        return false;
    *out = (struct place){
        .form = s.found.form, .in = "manifest of kind Fleet", .about = s.found.about};
    return true;
}

/* "; fields: name, stack and 12 more": the fields of a place, where none is near to the one asked
 * for. */
struct listed {
    struct lks_buf *out;
    size_t count;
};

static void see_listed(const struct place *field, void *arg)
{
    struct listed *l = arg;
    if (l->count++ < LISTED_MAX)
        lks_buf_addf(l->out, "%s%s", l->count == 1 ? "; fields: " : ", ", field->field.key);
}

static void list_fields(const struct place *p, struct lks_buf *out)
{
    struct listed l = {.out = out};
    see_fields(p, see_listed, &l);
    if (l.count > LISTED_MAX)
        lks_buf_addf(out, " and %zu more", l.count - LISTED_MAX);
    else if (l.count == 0)
        lks_buf_addf(out, "; there are no fields inside");
}

static enum lks_code fail_field(const struct place *p, const struct search *s, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf fields = LKS_BUF(LKS_ERR_MSG_MAX);
    char hint[LKS_NEAR_HINT_SIZE];
    lks_buf_addf(&fields, "%s", lks_near_hint(&s->near, hint));
    if (fields.len == 0)
        list_fields(p, &fields);
    return lks_fail(err, LKS_E_USAGE, "no field '%" LKS_STR_FMT "'%s", LKS_STR_ARG(s->key),
                    fields.ptr);
}

/* `stack.driver` is short for `stack.components.driver`. */
static bool find_component(struct lks_cli *cli, const struct place *p, struct search *s)
{
    LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
    struct lks_err ignored = {0};
    if (p->form != &lks_stack_form || lks_input_facts(cli->data_dir, &facts, &ignored) != LKS_OK ||
        lks_facts_component(&facts, s->key) == NULL)
        return false;
    s->key = LKS_STR("components");
    see_fields(p, see_wanted, s);
    s->found.named = false;
    return s->is_found;
}

/* Follow `path` from `p`, which becomes where it leads. `near` is set where it leads nowhere and
 * another field is meant. */
static enum lks_code follow(struct lks_cli *cli, struct lks_str path, struct place *p, bool *near,
                            struct lks_err *err)
{
    struct lks_str head, rest = path;
    for (bool more = true; more;) {
        more = lks_str_cut(rest, '.', &head, &rest) && !p->config;
        /* A key of the configuration has dots of its own. */
        struct search s = {.key = p->config ? path : head};
        s.near = lks_near_to(s.key);
        see_fields(p, see_wanted, &s);
        if (!s.is_found && p->named && (more || s.near.best.len == 0)) {
            p->named = false;
            continue;
        }
        if (!s.is_found && !find_component(cli, p, &s)) {
            *near = s.near.best.len > 0;
            return fail_field(p, &s, err);
        }
        s.found.in = p->in;
        *p = s.found;
    }
    return LKS_OK;
}

/* Answers ----------------------------------------------------------------------------------- */

static void put_field(struct lks_json_writer *w, const struct lks_field *f)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf type = LKS_BUF(TEXT_MAX);
    lks_schema_shape_words(&f->shape, "", &type);
    lks_json_text(w, "type", lks_buf_view(&type));
    if ((f->flags & LKS_FIELD_REQUIRED) != 0)
        lks_json_bool(w, "required", true);
    if (f->fallback != NULL && f->fallback[0] != '\0')
        lks_json_cstr(w, "default", f->fallback);
}

static void put_inner(const struct place *field, void *arg)
{
    struct lks_json_writer *w = arg;
    lks_json_begin(w, NULL, '{');
    lks_json_cstr(w, "name", field->field.key);
    put_field(w, &field->field);
    lks_json_cstr(w, "about", field->about);
    lks_json_end(w, '}');
}

/* Where the values are the states of a machine: how they follow each other. */
static void put_moves(struct lks_json_writer *w, const char *const *values)
{
    static const struct lks_machine *const machines[] = {&lks_moves_change, &lks_moves_wave,
                                                         &lks_moves_member};
    for (size_t i = 0; i < LKS_COUNT(machines); i++) {
        const struct lks_machine *m = machines[i];
        if (values == NULL || m->words != values)
            continue;
        lks_json_begin(w, "transitions", '[');
        for (unsigned at = 0; at < m->count * m->count; at++) {
            if (m->when[at] != NULL)
                lks_json_write(w, "{'from': '%s', 'to': '%s', 'when': '%s'}",
                               m->words[at / m->count], m->words[at % m->count], m->when[at]);
        }
        lks_json_end(w, ']');
    }
}

static void put_place(struct lks_json_writer *w, struct lks_str path, const struct place *p)
{
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "path", path);
    lks_json_cstr(w, "in", p->in);
    if (p->field.key != NULL)
        put_field(w, &p->field);
    lks_json_cstr(w, "about", p->about);
    put_moves(w, p->field.shape.values);
    lks_json_begin(w, "fields", '[');
    see_fields(p, put_inner, w);
    lks_json_end(w, ']');
    lks_json_end(w, '}');
}

static void put_kind(struct lks_json_writer *w, const char *kind, const char *in, const char *about)
{
    lks_json_write(w, "{'path': '%s', 'in': '%s', 'about': '%s'}", kind, in, about);
}

static void put_kinds(struct lks_json_writer *w)
{
    for (size_t i = 0; i < LKS_COUNT(forms); i++)
        put_kind(w, forms[i].kind, forms[i].in, forms[i].form->about);
    for (size_t i = 0; i < lks_entity_count; i++)
        put_kind(w, lks_entities[i]->name, "table of the state", lks_entities[i]->about);
    put_kind(w, "record", start_of_records.in, start_of_records.about);
    put_kind(w, "config", start_of_config.in, start_of_config.about);
}

/* For people -------------------------------------------------------------------------------- */

/* "name  type; required; default: x", and what it means on lines below. */
static void print_field(struct lks_cli *cli, const struct lks_doc *f)
{
    enum { ABOUT = 6, NAME = 2 };
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(TEXT_MAX);
    struct lks_str name = lks_doc_text(f, "name"), fallback = lks_doc_text(f, "default");
    lks_buf_addf(&line, "%" LKS_STR_FMT "  <%" LKS_STR_FMT ">", LKS_STR_ARG(name),
                 LKS_STR_ARG(lks_doc_text(f, "type")));
    if (lks_doc_member(f, "required") != NULL)
        lks_buf_addf(&line, " required");
    if (fallback.len > 0)
        lks_buf_addf(&line, " default: %" LKS_STR_FMT, LKS_STR_ARG(fallback));
    fprintf(cli->out, "%*s", NAME, "");
    lks_term_flow(cli->out, lks_buf_view(&line), NAME, ABOUT, lks_help_columns(cli));
    fprintf(cli->out, "%*s", ABOUT, "");
    lks_term_flow(cli->out, lks_doc_text(f, "about"), ABOUT, ABOUT, lks_help_columns(cli));
}

static void print_moves(struct lks_cli *cli, const struct lks_doc *moves)
{
    enum { INDENT = 2, DEEPER = 6 };
    if (moves != NULL)
        fprintf(cli->out, "\nTransitions:\n");
    for (const struct lks_doc *m = moves != NULL ? moves->first : NULL; m != NULL; m = m->next) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(TEXT_MAX);
        lks_buf_addf(&line, "%" LKS_STR_FMT " -> %" LKS_STR_FMT ": %" LKS_STR_FMT,
                     LKS_STR_ARG(lks_doc_text(m, "from")), LKS_STR_ARG(lks_doc_text(m, "to")),
                     LKS_STR_ARG(lks_doc_text(m, "when")));
        fprintf(cli->out, "%*s", INDENT, "");
        lks_term_flow(cli->out, lks_buf_view(&line), INDENT, DEEPER, lks_help_columns(cli));
    }
}

static void print_place(struct lks_cli *cli, const struct lks_doc *p)
{
    struct lks_str path = lks_doc_text(p, "path"), type = lks_doc_text(p, "type");
    struct lks_str fallback = lks_doc_text(p, "default");
    fprintf(cli->out, "%" LKS_STR_FMT " (%" LKS_STR_FMT ")\n", LKS_STR_ARG(path),
            LKS_STR_ARG(lks_doc_text(p, "in")));
    if (type.len > 0) {
        fprintf(cli->out, "\nType: ");
        lks_term_flow(cli->out, type, strlen("Type: "), strlen("Type: "), lks_help_columns(cli));
    }
    if (lks_doc_member(p, "required") != NULL)
        fprintf(cli->out, "Required.\n");
    if (fallback.len > 0)
        fprintf(cli->out, "Default: %" LKS_STR_FMT "\n", LKS_STR_ARG(fallback));
    fputc('\n', cli->out);
    lks_term_flow(cli->out, lks_doc_text(p, "about"), 0, 0, lks_help_columns(cli));
    print_moves(cli, lks_doc_member(p, "transitions"));
    const struct lks_doc *fields = lks_doc_member(p, "fields");
    if (fields == NULL || fields->first == NULL)
        return;
    fprintf(cli->out, "\nFields:\n");
    for (const struct lks_doc *f = fields->first; f != NULL; f = f->next)
        print_field(cli, f);
}

/* The kinds, under a heading where those of another sort start. */
static void print_kinds(struct lks_cli *cli, const struct lks_doc *items)
{
    enum { NAME = 15, ABOUT = 2 + NAME + 1 };
    static const struct {
        const char *in, *heading;
    } headings[] = {
        {"manifest", "Manifests"}, {"table", "State, as answers show it"}, {"", "Others"}};
    size_t before = LKS_COUNT(headings);
    for (const struct lks_doc *p = items->first; p != NULL; p = p->next) {
        struct lks_str path = lks_doc_text(p, "path");
        size_t h = 0;
        while (!lks_str_starts(lks_doc_text(p, "in"), headings[h].in))
            h++;
        if (h != before)
            fprintf(cli->out, "\n%s:\n", headings[h].heading);
        before = h;
        fprintf(cli->out, "  %-*.*s ", NAME, LKS_STR_ARG(path));
        lks_term_flow(cli->out, lks_doc_text(p, "about"), ABOUT, ABOUT, lks_help_columns(cli));
    }
}

static enum lks_code show(struct lks_cli *cli, const struct lks_args *args,
                          const struct lks_doc *doc, struct lks_err *err)
{
    (void)err;
    const struct lks_doc *items = lks_doc_member(doc, "items");
    if (args->positional_count == 0) {
        fprintf(cli->out, "usage: lockstep explain [FIELD]\n");
        print_kinds(cli, items);
        return LKS_OK;
    }
    for (const struct lks_doc *p = items->first; p != NULL; p = p->next) {
        if (p != items->first)
            fputc('\n', cli->out);
        print_place(cli, p);
    }
    return LKS_OK;
}

static enum lks_code fail_kind(struct lks_str kind, struct lks_err *err)
{
    char hint[LKS_NEAR_HINT_SIZE];
    struct lks_near near = lks_near_to(kind);
    for (size_t i = 0; i < LKS_COUNT(forms); i++)
        lks_near_try(&near, lks_str_from(forms[i].kind));
    for (size_t i = 0; i < lks_entity_count; i++)
        lks_near_try(&near, lks_str_from(lks_entities[i]->name));
    lks_near_try(&near, LKS_STR("record"));
    lks_near_try(&near, LKS_STR("config"));
    return lks_help_see(lks_fail(err, LKS_E_USAGE, "no kind '%" LKS_STR_FMT "'%s",
                                 LKS_STR_ARG(kind), lks_near_hint(&near, hint)),
                        err, "explain", near.best);
}

/* Every place that the path leads to: a word may be a kind of manifest and a table as well. */
static enum lks_code put_places(struct lks_cli *cli, struct lks_str path, struct lks_json_writer *w,
                                struct lks_err *err)
{
    struct place starts[STARTS_MAX];
    struct lks_str kind, rest;
    bool inside = lks_str_cut(path, '.', &kind, &rest);
    size_t count = find_starts(kind, starts), found = 0;
    struct lks_err shown = {0};
    bool shown_near = false;
    for (size_t i = 0; i < count; i++) {
        struct lks_err why = {0};
        bool near = false;
        if (!inside || follow(cli, rest, &starts[i], &near, &why) == LKS_OK) {
            put_place(w, path, &starts[i]);
            found++;
        } else if (shown.code == LKS_OK || (near && !shown_near)) {
            shown = why;
            shown_near = near;
        }
    }
    if (count == 0)
        return fail_kind(kind, err);
    if (found > 0)
        return LKS_OK;
    return lks_help_see(
        lks_fail(err, LKS_E_USAGE, "%" LKS_STR_FMT ": %s", LKS_STR_ARG(path), shown.msg), err,
        "explain", kind);
}

enum lks_code lks_explain_cmd(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    struct lks_json_writer *w = lks_output_begin(&o);
    enum lks_code code = LKS_OK;
    lks_json_begin(w, "items", '[');
    if (args->positional_count == 0)
        put_kinds(w);
    else
        code = put_places(cli, lks_str_from(args->positional[0]), w, err);
    lks_json_end(w, ']');
    return code == LKS_OK ? lks_output_show(cli, args, &o, show, err) : code;
}
