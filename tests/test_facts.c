#include "model/facts.h"

#include "codec/csv.h"
#include "model/class.h"
#include "model/facts_tables.h"
#include "tests/facts.h"
#include "tests/test.h"

#include <stdio.h>

enum { TEXT_MAX = 4 * 1024 * 1024 };

static struct lks_str builtin(const char *name)
{
    for (const struct lks_embedded *e = lks_embedded_data; e->name != NULL; e++) {
        if (strcmp(e->name, name) == 0)
            return e->bytes;
    }
    CHECK(false);
    return (struct lks_str){"", 0};
}

/* Load with one table replaced. */
static enum lks_code load(const char *name, struct lks_str text, struct lks_facts *out,
                          struct lks_err *err)
{
    char shown[64];
    snprintf(shown, sizeof(shown), "site/%s", name);
    struct lks_facts_file file = {name, shown, text};
    return lks_facts_load(lks_embedded_data, &file, 1, out, err);
}

/* Refused, with this message, and nothing is there afterwards. */
static void check_refused(const char *name, struct lks_str text, const char *message)
{
    static const struct lks_facts nothing;
    LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
    struct lks_err err = {0};
    CHECK_CODE(load(name, text, &facts, &err), LKS_E_INVALID);
    CHECK_STR(lks_str_from(err.msg), message);
    CHECK(memcmp(&facts, &nothing, sizeof(facts)) == 0);
}

/* How many rows each table has at the least, and one thing we know to be in it. */
static void test_counts(void)
{
    const struct lks_facts *f = lks_test_facts();
    const struct {
        const char *name;
        size_t count, least;
    } rows[] = {
        {"gpus", f->gpus.count, 30},
        {"branches", f->branches.count, 10},
        {"drivers", f->drivers.count, 50},
        {"toolkits", f->toolkits.count, 15},
        {"compat packages", f->compat_packages.count, 10},
        {"cudnns", f->cudnns.count, 5},
        {"nccls", f->nccls.count, 10},
        {"container toolkits", f->ctks.count, 5},
        {"dcgms", f->dcgms.count, 2},
        {"operators", f->operators.count, 5},
        {"images", f->images.count, 5},
        {"rocms", f->rocms.count, 10},
        {"rocm windows", f->rocm_windows.count, 5},
        {"xids", f->xids.count, 100},
        {"sxids", f->sxids.count, 50},
        {"actions", f->xid_actions.count, 20},
        {"NVLink 5 rows", f->xid_nvlink5.count, 90},
        {"update classes", f->update_classes.count, 7},
        {"change classes", f->change_classes.count, 4},
        {"postures", f->postures.count, 5},
        {"components", f->components.count, 60},
        {"settings", f->settings.count, 14},
        {"edges", f->edges.count, 30},
        {"advisories", f->advisories.count, 20},
        {"classes", f->classes.count, 10},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s: %zu", rows[i].name, rows[i].count);
        CHECK(rows[i].count >= rows[i].least);
    }
}

static void test_look_ups(void)
{
    const struct lks_facts *f = lks_test_facts();
    const struct lks_branch *r580 = lks_facts_branch(f, 580);
    if (CHECK(r580 != NULL)) {
        CHECK_STR(r580->type, "LTSB");
        CHECK(r580->eol != LKS_DAY_NONE && r580->eol > r580->first_release);
    }
    CHECK(lks_facts_branch(f, 581) == NULL);
    const struct lks_driver *driver = lks_facts_driver(f, LKS_STR("580.95.05"));
    if (CHECK(driver != NULL))
        CHECK_INT(driver->branch, 580);
    CHECK(lks_facts_driver(f, LKS_STR("580.95.5")) == driver); /* the same, written differently */
    CHECK(lks_facts_driver(f, LKS_STR("580.95.06")) == NULL);

    const struct lks_component_kind *bmc = lks_facts_component(f, LKS_STR("bmc"));
    CHECK(bmc != NULL && bmc->sort == LKS_FIRMWARE);
    CHECK(lks_facts_component(f, LKS_STR("firmware/bmc")) == bmc);
    CHECK(lks_facts_component(f, LKS_STR("openbmc")) == NULL);
    CHECK(lks_facts_component_alias(f, LKS_STR("openbmc")) == bmc);
    CHECK(lks_facts_component_alias(f, LKS_STR("bmc")) == NULL);
    CHECK_INT(lks_facts_scheme(f, LKS_STR("vbios")), LKS_VERSION_VBIOS);
    CHECK_INT(lks_facts_scheme(f, LKS_STR("kernel")), LKS_VERSION_DEBIAN);
    CHECK_INT(lks_facts_scheme(f, LKS_STR("never heard of")), LKS_VERSION_FIRMWARE);

    CHECK(lks_facts_setting(f, LKS_STR("ecc")) != NULL);
    CHECK(lks_facts_setting(f, LKS_STR("eccc")) == NULL);
    CHECK(lks_facts_update_class(f, LKS_STR("power")) != NULL);
    CHECK(lks_facts_update_class(f, LKS_STR("")) == NULL);
    CHECK(lks_facts_class(f, LKS_STR("hgx-h100-8")) != NULL);
    CHECK(lks_facts_class(f, LKS_STR("hgx")) == NULL);
    CHECK(lks_words_have(LKS_STR("H100 GB200"), LKS_STR("gb200")));
    CHECK(!lks_words_have(LKS_STR("H100 GB200"), LKS_STR("B200")));
    CHECK(!lks_words_have(LKS_STR(""), LKS_STR("")));
}

/* Every table is named once, and every name is a table. */
static void test_names(void)
{
    size_t count = 0;
    for (const char *name; (name = lks_facts_file_name(count)) != NULL; count++) {
        lks_test_case("%s", name);
        CHECK(builtin(name).len > 0);
        for (size_t i = 0; i < count; i++)
            CHECK(strcmp(lks_facts_file_name(i), name) != 0);
    }
    CHECK_INT(count, 25);
}

/* Without any one of them there is no answer. */
static void test_missing(void)
{
    struct lks_embedded some[64];
    const char *name;
    for (size_t i = 0; (name = lks_facts_file_name(i)) != NULL; i++) {
        lks_test_case("without %s", name);
        size_t n = 0;
        for (const struct lks_embedded *e = lks_embedded_data; e->name != NULL; e++) {
            if (strcmp(e->name, name) != 0)
                some[n++] = *e;
        }
        some[n] = (struct lks_embedded){0};
        LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
        struct lks_err err = {0};
        char message[64];
        snprintf(message, sizeof(message), "table %s is missing", name);
        CHECK_CODE(lks_facts_load(some, NULL, 0, &facts, &err), LKS_E_NOT_FOUND);
        CHECK_STR(lks_str_from(err.msg), message);
    }
}

/* Bad cells --------------------------------------------------------------------------------- */

/* A value that is not of the type, and how the refusal ends; NULL where every text is one. */
static const struct {
    const char *value;
    const char *expected;
} bad_cells[] = {
    [LKS_CELL_TEXT] = {NULL, "UTF-8 text"},
    [LKS_CELL_VERSION] = {"twelve", "a version"},
    [LKS_CELL_RANGE] = {">=", "a version range such as >=1.2 <2"},
    [LKS_CELL_BRANCH] = {"Rx", "a branch such as R580"},
    [LKS_CELL_DAY] = {"2026-13-01", "a date such as 2026-11-15 or 2026-11"},
    [LKS_CELL_NUMBER] = {"-1", "a whole number"},
    [LKS_CELL_CHOICE] = {"perhaps", "one of the words this column knows"},
    [LKS_CELL_BOOL] = {"true", "yes or no"},
    [LKS_CELL_WORDS] = {"a  b", "words with single blanks between them"},
};

static void add_cell(struct lks_buf *out, struct lks_str cell)
{
    lks_buf_add(out,
                out->len > 0 && out->ptr[out->len - 1] != '\n' ? LKS_STR(",\"") : LKS_STR("\""));
    for (size_t i = 0; i < cell.len; i++)
        lks_buf_pad(out, cell.ptr[i], cell.ptr[i] == '"' ? 2 : 1);
    lks_buf_addc(out, '"');
}

/* The header and the first row of a table, with `name` for the name of column `spoilt` or `cell`
 * for its value, where they are given. */
static void first_row(const struct lks_facts_table *table, int spoilt, const char *name,
                      const char *cell, struct lks_buf *out)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_csv csv;
    struct lks_err err = {0};
    bool more;
    lks_arena_init(&arena, TEXT_MAX);
    lks_buf_init(out, TEXT_MAX);
    CHECK_CODE(lks_csv_open(&csv, builtin(table->file), &arena, &err), LKS_OK);
    for (int i = 0; i < (int)csv.columns; i++)
        add_cell(out, i == spoilt && name != NULL ? lks_str_from(name) : csv.names[i]);
    lks_buf_addc(out, '\n');
    CHECK_CODE(lks_csv_next(&csv, &more, &err), LKS_OK);
    for (int i = 0; i < (int)csv.columns; i++)
        add_cell(out, i == spoilt && cell != NULL ? lks_str_from(cell) : csv.fields[i]);
    lks_buf_addc(out, '\n');
}

static int column_of(const struct lks_facts_table *table, const char *name)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_csv csv;
    struct lks_err err = {0};
    lks_arena_init(&arena, TEXT_MAX);
    CHECK_CODE(lks_csv_open(&csv, builtin(table->file), &arena, &err), LKS_OK);
    return lks_csv_column(&csv, name);
}

static void check_cell(const struct lks_facts_table *table, const struct lks_facts_column *column,
                       const char *cell)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    char message[256];
    first_row(table, column_of(table, column->name), NULL, cell, &text);
    snprintf(message, sizeof(message), "site/%s: line 2: %s: '%s' is not %s", table->file,
             column->name, cell, bad_cells[column->cell].expected);
    check_refused(table->file, lks_buf_view(&text), message);
}

/* In every column of every table: a value of the wrong type, nothing where something is needed,
 * and no such column. */
static void test_columns(void)
{
    for (size_t i = 0; i < lks_facts_table_count; i++) {
        const struct lks_facts_table *table = &lks_facts_tables[i];
        for (size_t j = 0; j < table->column_count; j++) {
            const struct lks_facts_column *column = &table->columns[j];
            lks_test_case("%s, %s", table->file, column->name);
            if (bad_cells[column->cell].value != NULL)
                check_cell(table, column, bad_cells[column->cell].value);
            if (column->required)
                check_cell(table, column, "");

            LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
            char message[128];
            first_row(table, column_of(table, column->name), "renamed", NULL, &text);
            snprintf(message, sizeof(message), "site/%s: line 1: no column '%s'", table->file,
                     column->name);
            check_refused(table->file, lks_buf_view(&text), message);
        }
    }
}

static const struct {
    const char *name;
    const char *file;
    struct lks_str text;
    const char *message;
} bad_tables[] = {
    {"no header", "cuda.csv", LKS_STR_C("# nothing\n"),
     "site/cuda.csv: line 2: no row that names the columns"},
    {"not UTF-8", "dcgm.csv", LKS_STR_C("dcgm,\xff\n"), "site/dcgm.csv: line 1: not UTF-8"},
    {"a row too short", "container-toolkit.csv",
     LKS_STR_C("version,date,note,status,source\n1.18.0,,,confirmed,x\n# x\n1.18.1,,\n"),
     "site/container-toolkit.csv: line 4: 3 fields where the header has 5"},
    {"bad in its second row", "container-toolkit.csv",
     LKS_STR_C("version,date,note,status,source\n1.18.0,,,confirmed,x\n1.18.1,,,sure,x\n"),
     "site/container-toolkit.csv: line 3: status: 'sure' is not one of the words this column "
     "knows"},
    {"an update class that is not there", "components.csv",
     LKS_STR_C("name,vendor,kind,scheme,update_class,reboot,scope,aliases,summary,status,source\n"
               "x,any,software,dotted,sofware,no,node,,x,confirmed,x\n"),
     "components.csv: x: no update class 'sofware'"},
    {"a driver of another branch", "driver-versions.csv",
     LKS_STR_C("version,branch,date,datacenter,status,source\n580.95.05,R570,,yes,confirmed,x\n"),
     "driver-versions.csv: 580.95.05 is not of branch R570"},
    {"a driver of a branch that is not there", "driver-versions.csv",
     LKS_STR_C("version,branch,date,datacenter,status,source\n1.2,R1,,yes,confirmed,x\n"),
     "driver-versions.csv: 1.2 is not of branch R1"},
    {"an action that is not there", "xid-actions.csv",
     LKS_STR_C("action,actor,meaning,disruption,status,source\nWAIT,x,x,x,confirmed,x\n"),
     "xid.csv: 1: no action 'CONTACT_SUPPORT'"},
    {"an edge that is no range", "requires.site.csv",
     LKS_STR_C("id,kind,component,range,other,other_range,gpus,condition,note,status,source\n"
               "e1,requires,driver,>=580,cuda,=>13,,,,confirmed,x\n"),
     "edge e1: cuda: condition 1: unknown operator '=>' (there are = != < <= > >=)"},
    {"an edge of a kind that is not there", "requires.site.csv",
     LKS_STR_C("id,kind,component,range,other,other_range,gpus,condition,note,status,source\n"
               "e1,needs,driver,>=580,cuda,>=13,,,,confirmed,x\n"),
     "site/requires.site.csv: line 2: kind: 'needs' is not one of the words this column knows"},
    {"advisories: no YAML", "advisories.yaml", LKS_STR_C("a: [\n"),
     "site/advisories.yaml:2:1: did not find expected node content"},
    {"advisories: two documents", "advisories.yaml",
     LKS_STR_C("advisories: []\n---\nadvisories: []\n"),
     "site/advisories.yaml: expected one document, found 2"},
    {"advisories: no such key", "advisories.yaml", LKS_STR_C("advisory: []\n"),
     "site/advisories.yaml:1:1: advisory: unknown key; did you mean 'advisories'?"},
    {"advisories: a range of another numbering", "advisories.yaml",
     LKS_STR_C(
         "advisories:\n- {id: X, vendor: x, component: driver, summary: x, status: confirmed, "
         "source: x, affected: [{component: driver, range: '<x'}]}\n"),
     "site/advisories.yaml:2:94: advisories[1].affected[1]: condition 1: 'x' is not a dotted "
     "version"},
    {"classes: a bad one", "classes.yaml", LKS_STR_C("lockstep: 1\nkind: Stack\n"),
     "site/classes.yaml:2:1: kind: no such value 'Stack'; one of: HardwareClass"},
};

static void test_tables(void)
{
    for (size_t i = 0; i < LKS_COUNT(bad_tables); i++) {
        lks_test_case("%s", bad_tables[i].name);
        check_refused(bad_tables[i].file, bad_tables[i].text, bad_tables[i].message);
    }
}

/* Sites ------------------------------------------------------------------------------------- */

static void test_override(void)
{
    LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
    struct lks_err err = {0};
    static const char text[] = "\xef\xbb\xbf# ours\r\nsource,note,dcgm,status,more,min_driver,"
                               "min_driver_nvswitch\r\nus,\"a, \"\"b\"\"\",9.9,sibling,x,,\r\n";
    if (!CHECK_CODE(load("dcgm.csv", lks_str_from(text), &facts, &err), LKS_OK))
        return;
    if (CHECK_INT(facts.dcgms.count, 1)) {
        CHECK_STR(facts.dcgms.rows[0].version, "9.9");
        CHECK_STR(facts.dcgms.rows[0].fact.note, "a, \"b\"");
        CHECK_STR(facts.dcgms.rows[0].fact.source, "us");
        CHECK_INT(facts.dcgms.rows[0].fact.status, LKS_SIBLING);
        CHECK_STR(facts.dcgms.rows[0].min_driver, "");
    }
    CHECK_INT(facts.gpus.count, lks_test_facts()->gpus.count); /* the rest is as it was */
    CHECK_INT(facts.edges.count, lks_test_facts()->edges.count);
}

static void test_site_edges(void)
{
    LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
    struct lks_err err = {0};
    static const char text[] =
        "id,kind,component,range,other,other_range,gpus,condition,note,status,source\n"
        "ours,conflicts,slurmd,<24,settings.ecc,!=true,H100,,,unconfirmed,us\n";
    if (!CHECK_CODE(load(LKS_FACTS_SITE_EDGES, lks_str_from(text), &facts, &err), LKS_OK))
        return;
    size_t before = lks_test_facts()->edges.count;
    if (!CHECK_INT(facts.edges.count, before + 1))
        return;
    CHECK(lks_str_eq(facts.edges.rows[0].id, lks_test_facts()->edges.rows[0].id));
    const struct lks_edge *ours = &facts.edges.rows[before];
    CHECK_STR(ours->id, "ours");
    CHECK_INT(ours->kind, LKS_CONFLICTS);
    CHECK_STR(ours->other_range, "!=true"); /* a setting has words, not versions */
    CHECK_INT(ours->fact.status, LKS_UNCONFIRMED);
}

static void test_advisories(void)
{
    LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
    struct lks_err err = {0};
    static const char text[] =
        "advisories:\n- {id: CVE-1, vendor: us, component: driver, published: '2026-10', cvss: "
        "'9.8', severity: critical, cwe: CWE-1, summary: bad, status: partly, source: here, "
        "affected: [{component: driver, branch: R580, range: '<580.95.05', fixed: '580.95.05', "
        "condition: always, gpus: [H100, GB200]}]}\n";
    if (!CHECK_CODE(load("advisories.yaml", lks_str_from(text), &facts, &err), LKS_OK) ||
        !CHECK_INT(facts.advisories.count, 1))
        return;
    const struct lks_advisory *a = &facts.advisories.rows[0];
    char day[LKS_DAY_TEXT_SIZE];
    CHECK_STR(a->id, "CVE-1");
    CHECK_STR(lks_str_from(lks_day_text(a->published, day)), "2026-10-31");
    CHECK_INT(a->fact.status, LKS_PARTLY);
    CHECK_STR(a->fact.source, "here");
    if (!CHECK_INT(a->affected_count, 1))
        return;
    CHECK_STR(a->affected[0].branch, "R580");
    CHECK_STR(a->affected[0].gpus, "H100 GB200");
    CHECK_STR(a->affected[0].condition, "always");
}

static void test_repeated_end(void)
{
    struct lks_facts facts = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_facts_load(lks_embedded_data, NULL, 0, &facts, &err), LKS_OK);
    lks_facts_fini(&facts);
    CHECK_INT(facts.gpus.count, 0);
    lks_facts_fini(&facts);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"facts: counts", test_counts},
        {"facts: look-ups", test_look_ups},
        {"facts: names", test_names},
        {"facts: missing tables", test_missing},
        {"facts: every column refuses what it is not", test_columns},
        {"facts: bad tables", test_tables},
        {"facts: a site's table", test_override},
        {"facts: a site's edges", test_site_edges},
        {"facts: advisories", test_advisories},
        {"facts: the end, repeated", test_repeated_end},
        {0},
    });
}
