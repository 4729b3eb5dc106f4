/* fleet import: a table of nodes, as spreadsheets and asset databases export it, as a manifest. */
#include "base/file.h"
#include "base/intern.h"
#include "base/near.h"
#include "base/vec.h"
#include "cli/shared/commands.h"
#include "cli/shared/input.h"
#include "cli/shared/output.h"
#include "codec/format/csv.h"
#include "codec/notation/hostlist.h"

#include <stdlib.h>

enum { ROWS_MAX = 200000, MEMORY_MAX = 512 << 20 };

/* What a row may say of a node, in the order in which the manifest says it. */
enum column { POOL, CLASS, SITE, RACK, DOMAIN, ZONE, LOOP, REVISION, SUPPLIER, SIDE, COLUMNS };
static const char *const columns[COLUMNS] = {
    [POOL] = "pool",         [CLASS] = "class",
    [SITE] = "site",         [RACK] = "rack",
    [DOMAIN] = "domain",     [ZONE] = "power_zone",
    [LOOP] = "cooling_loop", [REVISION] = "hardware_revision",
    [SUPPLIER] = "supplier", [SIDE] = "side",
};

struct row {
    unsigned line;
    struct lks_str name, posture;
    struct lks_str values[COLUMNS];
};

struct import {
    struct lks_arena arena;
    struct row *rows;
    size_t count, room;
    struct lks_str posture; /* of pools without one */
};

static void import_fini(struct import *im)
{
    free(im->rows);
    lks_arena_fini(&im->arena);
    *im = (struct import){0};
}

/* Reading ----------------------------------------------------------------------------------- */

/* A column that is needed, and the heading that may be a slip of it. */
static enum lks_code fail_column(const struct lks_csv *csv, const char *needed, struct lks_err *err)
{
    struct lks_near near = lks_near_to(lks_str_from(needed));
    for (size_t c = 0; c < csv->columns; c++)
        lks_near_try(&near, csv->names[c]);
    if (near.best.len > 0)
        return lks_fail(err, LKS_E_INVALID,
                        "line 1 names no column '%s', which each node needs; rename the column "
                        "'%" LKS_STR_FMT "' if that is it",
                        needed, LKS_STR_ARG(near.best));
    return lks_fail(err, LKS_E_INVALID,
                    "line 1 names no column '%s', which each node needs; the columns name, pool "
                    "and class are required ('lockstep help fleet import' lists all)",
                    needed);
}

static enum lks_code fail_unknown(struct lks_str name, struct lks_err *err)
{
    char hint[LKS_NEAR_HINT_SIZE];
    struct lks_near near = lks_near_to(name);
    lks_near_try(&near, LKS_STR("name"));
    lks_near_try(&near, LKS_STR("posture"));
    for (size_t i = 0; i < COLUMNS; i++)
        lks_near_try(&near, lks_str_from(columns[i]));
    return lks_fail(err, LKS_E_INVALID,
                    "line 1: a fleet has no column '%" LKS_STR_FMT "'%s; rename or remove it. The "
                    "columns are name, posture, pool, class, site, rack, domain, power_zone, "
                    "cooling_loop, hardware_revision, supplier, side",
                    LKS_STR_ARG(name), lks_near_hint(&near, hint));
}

static enum lks_code check_columns(const struct lks_csv *csv, struct lks_err *err)
{
    static const char *const needed[] = {"name", "pool", "class"};
    for (size_t i = 0; i < LKS_COUNT(needed); i++) {
        if (lks_csv_column(csv, needed[i]) < 0)
            return fail_column(csv, needed[i], err);
    }
    for (size_t c = 0; c < csv->columns; c++) {
        bool known = lks_str_is(csv->names[c], "name") || lks_str_is(csv->names[c], "posture");
        for (size_t i = 0; !known && i < COLUMNS; i++)
            known = lks_str_is(csv->names[c], columns[i]);
        if (!known)
            return fail_unknown(csv->names[c], err);
    }
    return LKS_OK;
}

static struct lks_str field(const struct lks_csv *csv, const char *name)
{
    int c = lks_csv_column(csv, name);
    return c >= 0 ? lks_str_trim(csv->fields[c]) : LKS_STR("");
}

/* What the manifest's place of a fault would not lead anyone to. */
static enum lks_code check_row(const struct row *row, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf folded = LKS_BUF(LKS_HOSTLIST_BYTES_MAX);
    if (lks_hostlist_fold(&row->name, 1, &folded, err) != LKS_OK)
        return lks_wrap(err, "line %u", row->line);
    for (size_t i = 0; i < COLUMNS; i++) {
        if (!lks_str_printable(row->values[i]))
            return lks_fail(err, LKS_E_INVALID,
                            "line %u: %s: only what can be printed, on one line, is a name",
                            row->line, columns[i]);
    }
    return LKS_OK;
}

static enum lks_code add_row(struct import *im, const struct lks_csv *csv, struct lks_err *err)
{
    if (im->count == ROWS_MAX)
        return lks_fail(err, LKS_E_LIMIT, "more than %d nodes", ROWS_MAX);
    if (LKS_VEC_RESERVE(im->rows, im->room, im->count + 1, err) != LKS_OK)
        return err->code;
    struct row *row = &im->rows[im->count++];
    row->line = csv->line;
    row->name = field(csv, "name");
    row->posture = field(csv, "posture");
    for (size_t i = 0; i < COLUMNS; i++)
        row->values[i] = field(csv, columns[i]);
    if (row->name.len == 0 || row->values[POOL].len == 0 || row->values[CLASS].len == 0)
        return lks_fail(err, LKS_E_INVALID, "line %u: name, pool and class may not be empty",
                        csv->line);
    return check_row(row, err);
}

static enum lks_code read_rows(struct import *im, struct lks_str text, struct lks_err *err)
{
    struct lks_csv csv;
    bool more = true;
    if (lks_csv_open(&csv, text, &im->arena, err) != LKS_OK || check_columns(&csv, err) != LKS_OK)
        return err->code;
    while (more) {
        if (lks_csv_next(&csv, &more, err) != LKS_OK || (more && add_row(im, &csv, err) != LKS_OK))
            return err->code;
    }
    if (im->count == 0)
        return lks_fail(err, LKS_E_INVALID, "the table has no nodes");
    return LKS_OK;
}

/* Writing ----------------------------------------------------------------------------------- */

static int compare_places(const struct row *a, const struct row *b)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        int order = lks_str_cmp(a->values[i], b->values[i]);
        if (order != 0)
            return order;
    }
    return 0;
}

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int order = compare_places(x, y);
    return order != 0 ? order : lks_str_cmp(x->name, y->name);
}

/* What the map of `column` says of one of its names. */
static void add_about(const struct import *im, const struct row *row, enum column column,
                      struct lks_buf *out)
{
    const char *key = column == POOL ? "posture" : column == ZONE ? "site" : NULL;
    struct lks_str value = column == ZONE         ? row->values[SITE]
                           : row->posture.len > 0 ? row->posture
                                                  : im->posture;
    if (key == NULL) {
        lks_buf_add(out, LKS_STR(": {}\n"));
        return;
    }
    lks_buf_addf(out, ": {%s: ", key);
    lks_json_string(out, value);
    lks_buf_add(out, LKS_STR("}\n"));
}

/* A name for each different value of a column, each once, as keys of a map. */
static void add_names(const struct import *im, enum column column, const char *key,
                      struct lks_buf *out)
{
    LKS_CLEANUP(lks_intern_fini) struct lks_intern seen = {0};
    struct lks_err err;
    lks_intern_init(&seen, MEMORY_MAX);
    for (size_t i = 0; i < im->count; i++) {
        const struct row *row = &im->rows[i];
        uint32_t id, before = lks_intern_count(&seen);
        struct lks_str value = row->values[column];
        if (value.len == 0 || lks_intern_id(&seen, value, &id, &err) != LKS_OK || id < before)
            continue;
        if (before == 0)
            lks_buf_addf(out, "%s:\n", key);
        lks_buf_add(out, LKS_STR("  "));
        lks_json_string(out, value);
        add_about(im, row, column, out);
    }
}

/* The rows from `first` on that are in one place, as one entry; how many those are. */
static enum lks_code add_group(const struct import *im, size_t first, struct lks_buf *out,
                               size_t *taken, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf hosts = LKS_BUF(LKS_HOSTLIST_BYTES_MAX);
    size_t end = first + 1;
    while (end < im->count && compare_places(&im->rows[end], &im->rows[first]) == 0)
        end++;
    struct lks_str *names = calloc(end - first, sizeof(*names));
    if (names == NULL)
        return lks_fail_nomem(err);
    for (size_t i = first; i < end; i++)
        names[i - first] = im->rows[i].name;
    enum lks_code code = lks_hostlist_fold(names, end - first, &hosts, err);
    free(names);
    if (code != LKS_OK)
        return code;
    lks_buf_add(out, LKS_STR("  - {hosts: "));
    lks_json_string(out, lks_buf_view(&hosts));
    for (size_t i = 0; i < COLUMNS; i++) {
        if (im->rows[first].values[i].len > 0) {
            lks_buf_addf(out, ", %s: ", columns[i]);
            lks_json_string(out, im->rows[first].values[i]);
        }
    }
    lks_buf_add(out, LKS_STR("}\n"));
    *taken = end - first;
    return LKS_OK;
}

static int compare_names(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int order = lks_str_cmp(x->name, y->name);
    return order != 0 ? order : x->line < y->line ? -1 : x->line > y->line;
}

/* A host stands in one place, however many lines name it. */
static enum lks_code check_places(struct import *im, struct lks_err *err)
{
    qsort(im->rows, im->count, sizeof(*im->rows), compare_names);
    for (size_t i = 1; i < im->count; i++) {
        const struct row *before = &im->rows[i - 1], *row = &im->rows[i];
        if (lks_str_eq(before->name, row->name) && compare_places(before, row) != 0)
            return lks_fail(err, LKS_E_INVALID,
                            "line %u: '%" LKS_STR_FMT "' is elsewhere in line %u", row->line,
                            LKS_STR_ARG(row->name), before->line);
    }
    return LKS_OK;
}

static int compare_postures(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int order = lks_str_cmp(x->values[POOL], y->values[POOL]);
    return order != 0 ? order : lks_str_cmp(y->posture, x->posture);
}

/* A pool has one posture, whichever of its lines say so. */
static enum lks_code settle_postures(struct import *im, struct lks_err *err)
{
    qsort(im->rows, im->count, sizeof(*im->rows), compare_postures);
    for (size_t i = 1; i < im->count; i++) {
        const struct row *before = &im->rows[i - 1];
        struct row *row = &im->rows[i];
        if (!lks_str_eq(before->values[POOL], row->values[POOL]))
            continue;
        if (row->posture.len == 0) /* these come behind those that say one */
            row->posture = before->posture;
        if (!lks_str_eq(before->posture, row->posture))
            return lks_fail(err, LKS_E_INVALID,
                            "line %u: pool '%" LKS_STR_FMT "' has another posture in line %u",
                            row->line, LKS_STR_ARG(row->values[POOL]), before->line);
    }
    return LKS_OK;
}

/* Pools without a posture become dev, which protects nodes least: the person who applies the
 * manifest has to know. Rows of one pool are neighbours. */
static void warn_posture(const struct import *im, FILE *err)
{
    size_t count = 0;
    const struct row *first = NULL;
    for (size_t i = 0; i < im->count; i++) {
        const struct row *row = &im->rows[i];
        if (row->posture.len > 0 ||
            (i > 0 && lks_str_eq(im->rows[i - 1].values[POOL], row->values[POOL])))
            continue;
        first = first == NULL ? row : first;
        count++;
    }
    if (first == NULL)
        return;
    char pools[LKS_COUNT_TEXT_SIZE];
    fprintf(err,
            "lockstep: warning: %s without a posture, the first is '%" LKS_STR_FMT
            "': written as dev, where commands by hand need neither a drained node nor an "
            "approval; add a column posture, or --posture\n",
            lks_str_count_text(count, "pool", pools), LKS_STR_ARG(first->values[POOL]));
}

/* The manifest is one that 'fleet apply' takes, with the classes of `classes` beside it. */
static enum lks_code check_manifest(struct lks_cli *cli, const char *classes, struct lks_str text,
                                    struct lks_err *err)
{
    LKS_CLEANUP(lks_input_fini) struct lks_input input = {0};
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest library = {0};
    if (lks_input_facts(cli->data_dir, &input.facts, err) != LKS_OK ||
        (classes != NULL && lks_input_manifest(&input, classes, &library, err) != LKS_OK))
        return err->code;
    return lks_manifest_parse("the manifest made of it", text, &input.facts, &library,
                              &input.manifest, err);
}

static enum lks_code write_manifest(struct import *im, struct lks_str name, struct lks_buf *out,
                                    struct lks_err *err)
{
    qsort(im->rows, im->count, sizeof(*im->rows), compare_rows);
    lks_buf_add(out, LKS_STR("lockstep: 1\nkind: Fleet\nname: "));
    lks_json_string(out, name);
    lks_buf_addc(out, '\n');
    add_names(im, SITE, "sites", out);
    add_names(im, ZONE, "power_zones", out);
    add_names(im, POOL, "pools", out);
    add_names(im, DOMAIN, "domains", out);
    lks_buf_add(out, LKS_STR("nodes:\n"));
    for (size_t i = 0, taken = 0; i < im->count; i += taken) {
        if (add_group(im, i, out, &taken, err) != LKS_OK)
            return err->code;
    }
    return lks_buf_check(out, err);
}

enum lks_code lks_cmd_fleet_import(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_err *err)
{
    LKS_CLEANUP(import_fini) struct import im = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0}, manifest = {0};
    const char *path = lks_args_get(args, "--csv");
    struct lks_str name = lks_args_str(args, "--name");
    if (path == NULL)
        return lks_fail(
            err, LKS_E_USAGE,
            "fleet import: --csv FILE is required: a table with the columns name, pool, class "
            "and more");
    im.posture = lks_args_has(args, "--posture") ? lks_args_str(args, "--posture") : LKS_STR("dev");
    lks_arena_init(&im.arena, MEMORY_MAX);
    lks_buf_init(&text, LKS_CSV_BYTES_MAX);
    lks_buf_init(&manifest, LKS_OUTPUT_BYTES_MAX);
    if (lks_file_read(path, &text, err) != LKS_OK)
        return err->code;
    if (read_rows(&im, lks_buf_view(&text), err) != LKS_OK || check_places(&im, err) != LKS_OK ||
        settle_postures(&im, err) != LKS_OK ||
        write_manifest(&im, name.len > 0 ? name : LKS_STR("fleet"), &manifest, err) != LKS_OK ||
        check_manifest(cli, lks_args_get(args, "--class"), lks_buf_view(&manifest), err) != LKS_OK)
        return lks_wrap(err, "%s", path);
    if (!lks_args_has(args, "--posture"))
        warn_posture(&im, cli->err);
    if (!lks_args_has(args, "--json")) {
        fwrite(manifest.ptr, 1, manifest.len, cli->out);
        return LKS_OK;
    }
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    struct lks_json_writer *w = lks_output_begin(&o);
    lks_json_text(w, "manifest", lks_buf_view(&manifest));
    return lks_output_end(cli, &o, err);
}
