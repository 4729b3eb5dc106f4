#include "cli/output/format.h"

#include "base/near.h"
#include "cli/shared/output.h"
#include "cli/shared/render.h"
#include "codec/format/yaml.h"

#include <string.h>

enum { NAME_MAX_BYTES = 1 << 20 };

static const char *const formats[] = {"table", "wide", "json", "yaml", "name"};
enum format { TABLE, WIDE, JSON, YAML, NAME };

/* Names ------------------------------------------------------------------------------------- */

/* A name is what other commands take as an argument: unique where there is a choice. */
static const struct lks_str_pair names[] = {
    {"access ls", "bindings.identity tokens.id certificates.serial"},
    {"advisories", "advisories.id items.id"},
    {"alarm ls", "items.id"},
    {"artifact ls", "items.digest"},
    {"artifact put", "digest"},
    {"bmc inventory", "components.id"},
    {"bundle inspect", "digest"},
    {"bundle ls", "items.digest"},
    {"bundle push", "digest"},
    {"bundle show", "digest"},
    {"bundle verify", "digest"},
    {"change ls", "items.id"},
    {"change propose", "id"},
    {"change show", "id items.name"},
    {"command show", "id"},
    {"config ls", "items.name"},
    {"conform", "judgements.component rows.subject"},
    {"deviation add", "id"},
    {"deviation ls", "items.id"},
    {"doctor", "checks.check"},
    {"drift", "items.node node"},
    {"endpoint ls", "items.node"},
    {"explain", "items.path"},
    {"flash ls", "items.id"},
    {"flash show", "id"},
    {"flash start", "id"},
    {"fleet show", "pools.name"},
    {"freeze", "pools.pool"},
    {"help", "commands.name"},
    {"image ls", "items.ref"},
    {"inventory", "readings.name"},
    {"job ls", "items.job"},
    {"job show", "items.job"},
    {"journal export", "seq"},
    {"lifecycle", "branches.branch support.branch"},
    {"node command", "id"},
    {"node history", "items.seq"},
    {"node ls", "items.name"},
    {"node show", "name"},
    {"override ls", "items.job"},
    {"pldm inspect", "components.id"},
    {"pldm verify", "checks.check"},
    {"scheduler ls", "items.pool"},
    {"stack classes", "classes.name"},
    {"stack diff", "differences.what"},
    {"stack digest", "digest"},
    {"stack lint", "documents.name"},
    {"stack ls", "items.digest"},
    {"stack publish", "digest"},
    {"stack rollbacks", "items.change"},
    {"stack show", "digest"},
    {"sweep lease", "items.name"},
    {"sweep ls", "items.pool"},
    {"top", "pools.name"},
    {"trust ls", "items.name"},
    {"version", "version"},
    {"whoami", "identity"},
};

const char *lks_format_names(const char *command)
{
    for (size_t i = 0; i < LKS_COUNT(names); i++) {
        if (strcmp(names[i].name, command) == 0)
            return names[i].value;
    }
    return NULL;
}

/* The member at `path`, a line; of a list that of each item. */
static void put_name(const struct lks_format *f, const struct lks_doc *doc, struct lks_str path)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(NAME_MAX_BYTES);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf clean = LKS_BUF(NAME_MAX_BYTES);
    struct lks_str part, rest;
    if (doc != NULL && doc->kind == LKS_DOC_LIST) {
        for (const struct lks_doc *i = doc->first; i != NULL; i = i->next)
            put_name(f, i, path);
        return;
    }
    if (path.len > 0) {
        lks_str_cut(path, '.', &part, &rest);
        put_name(f, lks_doc_find(doc, part), rest);
        return;
    }
    lks_render_value(&text, doc);
    lks_term_clean(&clean, lks_buf_view(&text));
    if (clean.len > 0)
        fprintf(f->out, "%" LKS_STR_FMT "\n", LKS_STR_ARG(lks_buf_view(&clean)));
}

static void put_names(const struct lks_format *f, const struct lks_doc *doc)
{
    struct lks_str paths = lks_str_from(f->names), path;
    while (lks_str_word(&paths, &path))
        put_name(f, doc, path);
}

/* Conversion -------------------------------------------------------------------------------- */

static enum lks_code put_yaml(struct lks_format *f, const struct lks_doc *doc)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf yaml = LKS_BUF(LKS_OUTPUT_BYTES_MAX);
    FILE *converted = f->cli->out;
    if (lks_yaml_write(doc, &yaml, &f->failed) != LKS_OK)
        return f->failed.code;
    if (f->documents++ > 0)
        fputs("---\n", f->out);
    f->cli->out = f->out;
    enum lks_code code = lks_output_bytes(f->cli, lks_buf_view(&yaml), &f->failed);
    f->cli->out = converted;
    return code;
}

/* One line of JSON. */
static enum lks_code convert(struct lks_format *f, struct lks_str line)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    if (line.len == 0)
        return LKS_OK;
    if (lks_docs_init(&docs, "the answer", &f->failed) != LKS_OK)
        return f->failed.code;
    lks_docs_large(&docs);
    docs.fractions = true;
    if (lks_json_parse(line, &docs, &f->failed) != LKS_OK)
        return lks_wrap(&f->failed, "--output %s: not JSON", formats[f->names ? NAME : YAML]);
    if (f->names == NULL)
        return put_yaml(f, docs.first);
    put_names(f, docs.first);
    return LKS_OK;
}

/* After a failure the rest is dropped: lks_format_end() reports it. */
static ssize_t take(void *cookie, const char *bytes, size_t size)
{
    struct lks_format *f = cookie;
    struct lks_str rest = {bytes, size}, part;
    if (f->failed.code != LKS_OK)
        return (ssize_t)size;
    while (f->failed.code == LKS_OK && lks_str_cut(rest, '\n', &part, &rest)) {
        lks_buf_add(&f->line, part);
        if (lks_buf_check(&f->line, &f->failed) == LKS_OK)
            (void)convert(f, lks_buf_view(&f->line));
        lks_buf_truncate(&f->line, 0);
        fflush(f->out);
    }
    if (f->failed.code == LKS_OK)
        lks_buf_add(&f->line, part);
    return (ssize_t)size;
}

/* Options ----------------------------------------------------------------------------------- */

bool lks_format_writes_file(const struct lks_command *command)
{
    const struct lks_option *o = command != NULL ? command->options : NULL;
    while (o != NULL && o->usage != NULL && !lks_str_is(lks_args_name(o), "--output"))
        o++;
    return o != NULL && o->usage != NULL;
}

static enum lks_code fail_format(const char *given, struct lks_err *err)
{
    char hint[LKS_NEAR_HINT_SIZE];
    struct lks_near near = lks_near_to(lks_str_from(given));
    for (size_t i = 0; i < LKS_COUNT(formats); i++)
        lks_near_try(&near, lks_str_from(formats[i]));
    return lks_fail(err, LKS_E_USAGE,
                    "--output: no format '%s'; give one of: table, wide, json, yaml, name%s", given,
                    lks_near_hint(&near, hint));
}

static enum lks_code read_format(const struct lks_args *args, enum format *out, struct lks_err *err)
{
    const char *given = lks_args_get(args, "--output");
    bool json = lks_args_has(args, "--json");
    for (size_t i = 0; given != NULL && i < LKS_COUNT(formats); i++) {
        if (strcmp(given, formats[i]) != 0)
            continue;
        if (json && i != JSON)
            return lks_fail(err, LKS_E_USAGE, "--json and --output %s: give one of them", given);
        *out = (enum format)i;
        return LKS_OK;
    }
    *out = json ? JSON : TABLE;
    return given != NULL ? fail_format(given, err) : LKS_OK;
}

/* The answer is needed as JSON. */
static enum lks_code add_json(struct lks_args *args, struct lks_err *err)
{
    static const struct lks_option json = {"--json", ""};
    if (lks_args_has(args, "--json"))
        return LKS_OK;
    if (args->given_count == LKS_ARGS_MAX)
        return lks_fail(err, LKS_E_USAGE, "--output: more than %d other options; give fewer",
                        LKS_ARGS_MAX - 1);
    args->given[args->given_count].option = &json;
    args->given[args->given_count++].value = "";
    return LKS_OK;
}

static enum lks_code start(struct lks_format *f, struct lks_err *err)
{
    FILE *stream = fopencookie(f, "w", (cookie_io_functions_t){.write = take});
    if (stream == NULL)
        return lks_fail_nomem(err);
    lks_buf_init(&f->line, LKS_OUTPUT_BYTES_MAX);
    f->out = f->cli->out;
    f->cli->out = stream;
    return LKS_OK;
}

enum lks_code lks_format_begin(struct lks_format *f, struct lks_cli *cli,
                               const struct lks_command *command, struct lks_args *args,
                               struct lks_err *err)
{
    enum format format = TABLE;
    const char *name = command == NULL || lks_args_has(args, "--help") ? "help" : command->name;
    *f = (struct lks_format){.cli = cli};
    if (lks_format_writes_file(command))
        return LKS_OK;
    if (read_format(args, &format, err) != LKS_OK)
        return err->code;
    cli->wide = format == WIDE;
    if (format == TABLE || format == WIDE)
        return LKS_OK;
    f->names = format == NAME ? lks_format_names(name) : NULL;
    if (format == NAME && f->names == NULL)
        return lks_fail(err, LKS_E_USAGE,
                        "--output name: the answer of '%s' has no names; give one of: table, json, "
                        "yaml",
                        name);
    if (add_json(args, err) != LKS_OK)
        return err->code;
    return format == JSON ? LKS_OK : start(f, err);
}

enum lks_code lks_format_end(struct lks_format *f, enum lks_code code, struct lks_err *err)
{
    struct lks_err lost = {0};
    if (f->out == NULL)
        return code;
    if (lks_output_close(f->cli->out, &lost) != LKS_OK && f->failed.code == LKS_OK)
        f->failed = lost;
    f->cli->out = f->out;
    if (f->failed.code == LKS_OK && f->line.len > 0)
        (void)convert(f, lks_buf_view(&f->line));
    lks_buf_fini(&f->line);
    if (code == LKS_OK && f->failed.code != LKS_OK) {
        *err = f->failed;
        return err->code;
    }
    return code;
}
