/* Tables that are refused: which cell, which row, and the message. */
#include "base/buf.h"
#include "codec/format/csv.h"
#include "model/facts/facts_tables.h"
#include "tests/facts.h"
#include "tests/test.h"

#include <stdio.h>

enum { TEXT_MAX = 4 * 1024 * 1024 };

/* Refused, with this message, and nothing is there afterwards. */
static void check_refused(const char *name, struct lks_str text, const char *message)
{
    static const struct lks_facts nothing;
    LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_test_facts_load(name, text, &facts, &err), LKS_E_INVALID);
    CHECK_STR(lks_str_from(err.msg), message);
    CHECK(memcmp(&facts, &nothing, sizeof(facts)) == 0);
}

/* Bad cells --------------------------------------------------------------------------------- */

/* A value that is not of the type, and how the refusal ends; NULL where every text is one. */
static const struct {
    const char *value;
    const char *expected;
} bad_cells[] = {
    [LKS_CELL_TEXT] = {NULL, NULL},
    [LKS_CELL_VERSION] = {"twelve", "a version"},
    [LKS_CELL_PATTERN] = {"6.4.x.x", "a version such as 6.4.1 or 6.4.x"},
    [LKS_CELL_PATTERNS] = {"6.4.x 6.x.3", "versions such as 6.4.1 or 6.4.x with single blanks "
                                          "between them"},
    [LKS_CELL_BRANCH] = {"Rx", "a branch such as R580"},
    [LKS_CELL_DAY] = {"2026-13-01", "a date such as 2026-11-15 or 2026-11"},
    [LKS_CELL_NUMBER] = {"-1", "a whole number"},
    [LKS_CELL_CHOICE] = {"perhaps", "one of"},
    [LKS_CELL_WORD] = {"perhaps", "one of"},
    [LKS_CELL_BOOL] = {"true", "yes or no"},
    [LKS_CELL_WORDS] = {"a  b", "words with single blanks between them"},
    [LKS_CELL_BITS] = {"------000000-------------000000", "32 characters of 0, 1 and -"},
    [LKS_CELL_HEX] = {"0x1 2", "numbers such as 0x00000001 with single blanks between them"},
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
    CHECK_CODE(lks_csv_open(&csv, lks_test_facts_text(table->file), &arena, &err), LKS_OK);
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
    CHECK_CODE(lks_csv_open(&csv, lks_test_facts_text(table->file), &arena, &err), LKS_OK);
    return lks_csv_column(&csv, name);
}

static void check_cell(const struct lks_facts_table *table, const struct lks_facts_column *column,
                       const char *cell)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf message = LKS_BUF(1024);
    first_row(table, column_of(table, column->name), NULL, cell, &text);
    lks_buf_addf(&message, "site/%s: line 2: %s: ", table->file, column->name);
    if (cell[0] == '\0')
        lks_buf_addf(&message, "is empty");
    else
        lks_buf_addf(&message, "'%s' is not %s", cell, bad_cells[column->cell].expected);
    const char *gap = ": ";
    for (size_t i = 0; cell[0] != '\0' && column->values != NULL && column->values[i]; i++) {
        if (column->values[i][0] != '\0') {
            lks_buf_addf(&message, "%s%s", gap, column->values[i]);
            gap = ", ";
        }
    }
    lks_buf_addc(&message, '\0');
    check_refused(table->file, lks_buf_view(&text), message.ptr);
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
     "site/container-toolkit.csv: line 3: status: 'sure' is not one of: confirmed, partly, "
     "sibling, unconfirmed"},
    {"an update class that is not there", "components.csv",
     LKS_STR_C("name,vendor,kind,scheme,update_class,reboot,scope,aliases,summary,status,source\n"
               "x,any,software,dotted,sofware,no,node,,x,confirmed,x\n"),
     "site/components.csv: line 2: update_class: no update class 'sofware' in "
     "update-classes.csv; did you mean 'software'?"},
    {"a driver of another branch", "driver-versions.csv",
     LKS_STR_C("version,branch,date,datacenter,status,source\n580.95.05,R570,,yes,confirmed,x\n"),
     "site/driver-versions.csv: line 2: version: '580.95.05' is not of branch R570"},
    {"a driver of a branch that is not there", "driver-versions.csv",
     LKS_STR_C("version,branch,date,datacenter,status,source\n1.2,R1,,yes,confirmed,x\n"),
     "site/driver-versions.csv: line 2: branch: no branch R1 in driver-branches.csv"},
    {"an action that is not there", "xid-actions.csv",
     LKS_STR_C("action,actor,meaning,disruption,status,source\nWAIT,x,x,no,confirmed,x\n"),
     "xid.csv: line 6: immediate_action: no action 'CONTACT_SUPPORT' in xid-actions.csv"},
    {"an edge that is no range", "requires.site.csv",
     LKS_STR_C("id,kind,component,range,other,other_range,gpus,condition,note,status,source\n"
               "e1,requires,driver,>=580,cuda,=>13,,,,confirmed,x\n"),
     "site/requires.site.csv: line 2: other_range: condition 1: unknown operator '=>' (there are "
     "= != < <= > >=)"},
    {"an edge of a kind that is not there", "requires.site.csv",
     LKS_STR_C("id,kind,component,range,other,other_range,gpus,condition,note,status,source\n"
               "e1,needs,driver,>=580,cuda,>=13,,,,confirmed,x\n"),
     "site/requires.site.csv: line 2: kind: 'needs' is not one of: requires, conflicts"},
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
     "site/advisories.yaml:2:114: advisories[1].affected[1].range: condition 1: 'x' is not a "
     "dotted version"},
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

/* One wrong among the right ----------------------------------------------------------------- */

#define EDGE_COLUMNS "id,kind,component,range,other,other_range,gpus,condition,note,status,source\n"
#define EDGE(component, range, other, other_range, gpus)                                           \
    LKS_STR_C(EDGE_COLUMNS "e1,requires," component "," range "," other "," other_range "," gpus   \
                           ",,,confirmed,x\n")
#define ADVISORY(rest)                                                                             \
    LKS_STR_C("advisories:\n- {id: X, vendor: x, summary: x, status: confirmed, source: x, " rest  \
              "}\n")

/* A built-in table with one text in it replaced, once, or with rows behind its last. */
static const struct {
    const char *name;
    const char *file;
    const char *old; /* NULL: `new` is added at the end */
    const char *new;
    const char *message;
} slips[] = {
    {"gpus: a product twice", "gpus.csv", ",Tesla P40,", ",Tesla P100 SXM2 16GB,",
     "site/gpus.csv: line 14: product: the same as in line 13"},
    {"gpus: an architecture no driver knows", "gpus.csv", ",P40,Pascal,", ",P40,Pascall,",
     "site/gpus.csv: line 14: architecture: no branch in driver-branches.csv has 'Pascall'"},
    {"gpus: a branch that is not there", "gpus.csv", ",P40,Pascal,6.1,24,,,1b38,Tesla P40,,,R580,",
     ",P40,Pascal,6.1,24,,,1b38,Tesla P40,,,R581,",
     "site/gpus.csv: line 14: max_driver_branch: no branch R581 in driver-branches.csv"},
    {"gpus: a family others name is gone", "gpus.csv", ",GB300,GB300,", ",GB300,GB301,",
     "requires.csv: line 26: gpus: no GPU family 'GB300' in gpus.csv; did you mean 'GB200'?"},
    {"branches: a branch twice", "driver-branches.csv", "\nR440,", "\nR418,",
     "site/driver-branches.csv: line 8: branch: the same as in line 7"},
    {"branches: a type", "driver-branches.csv", "\nR440,NFB,", "\nR440,NF,",
     "site/driver-branches.csv: line 8: type: 'NF' is not one of: LTSB, PB, NFB, dev"},
    {"branches: open modules", "driver-branches.csv", ",available,", ",availble,",
     "site/driver-branches.csv: line 16: open_modules: 'availble' is not one of: no, available, "
     "default"},
    {"branches: an architecture no board has", "driver-branches.csv", "Kepler Maxwell",
     "Kepler Maxwel",
     "site/driver-branches.csv: line 7: architectures: no architecture 'Maxwel' in gpus.csv; did "
     "you mean 'Maxwell'?"},
    {"drivers: a version twice, written differently", "driver-versions.csv", NULL,
     "418.87.1,R418,,no,no,confirmed,x\n",
     "site/driver-versions.csv: line 182: version: the same as in line 6"},
    {"cuda: a version twice", "cuda.csv", "\n13.4.0,", "\n13.4.1,",
     "site/cuda.csv: line 7: cuda: the same as in line 6"},
    {"cuda: a branch that is not there", "cuda.csv", NULL, "1.0,x,1.1,1.1,526,no,,confirmed,x\n",
     "site/cuda.csv: line 63: backward_from: no branch R526 in driver-branches.csv"},
    {"cuda-compat: a pair twice", "cuda-compat.csv", "13-4,13.4,R570", "13-4,13.4,R535",
     "site/cuda-compat.csv: line 6: cuda and branch: the same as in line 5"},
    {"cuda-compat: a branch that is not there", "cuda-compat.csv", "13-4,13.4,R570",
     "13-4,13.4,R571",
     "site/cuda-compat.csv: line 6: branch: no branch R571 in driver-branches.csv"},
    {"cuda-compat: a verdict", "cuda-compat.csv", ",not-needed,", ",not-neeeded,",
     "site/cuda-compat.csv: line 11: verdict: 'not-neeeded' is not one of: compatible, "
     "not-needed, not-compatible"},
    {"nccl: a version twice", "nccl.csv", "\n2.18.3,", "\n2.18.1,",
     "site/nccl.csv: line 6: nccl: the same as in line 5"},
    {"container-toolkit: a version twice", "container-toolkit.csv", "\n1.19.1,", "\n1.20,",
     "site/container-toolkit.csv: line 5: version: the same as in line 4"},
    {"dcgm: a version twice", "dcgm.csv", "\n2.1,", "\n2.0,",
     "site/dcgm.csv: line 6: dcgm: the same as in line 5"},
    {"operators: a version twice", "gpu-operator.csv", "\n23.9.2,", "\n23.9.1,",
     "site/gpu-operator.csv: line 6: operator: the same as in line 5"},
    {"operators: support", "gpu-operator.csv", ",deprecated,", ",depreciated,",
     "site/gpu-operator.csv: line 21: support: 'depreciated' is not one of: supported, "
     "deprecated, end-of-support"},
    {"images: a tag twice", "ngc-pytorch.csv", "\n23.02,", "\n23.01,",
     "site/ngc-pytorch.csv: line 6: tag: the same as in line 5"},
    {"rocm: a version twice", "rocm.csv", "\n6.0.2,", "\n6.0.0,",
     "site/rocm.csv: line 7: rocm: the same as in line 6"},
    {"rocm: a family that is not there", "rocm.csv", "MI100 MI210", "MI101 MI210",
     "site/rocm.csv: line 6: gpus: no GPU family 'MI101' in gpus.csv; did you mean 'MI100'?"},
    {"rocm: an older family that is not there", "rocm.csv", ",MI300X MI300A", ",MI300Y MI300A",
     "site/rocm.csv: line 27: older_gpus: no GPU family 'MI300Y' in gpus.csv; did you mean "
     "'MI300A'?"},
    {"rocm: a driver", "rocm.csv", ",6.0.x,", ",6.0.y,",
     "site/rocm.csv: line 6: amdgpu: '6.0.y' is not versions such as 6.4.1 or 6.4.x with single "
     "blanks between them"},
    {"rocm: firmware of no family", "rocm.csv", "MI325X=01.25.03.03", "MI325Y=01.25.03.03",
     "site/rocm.csv: line 23: firmware: no GPU family 'MI325Y' in gpus.csv; did you mean "
     "'MI325X'?"},
    {"rocm: firmware without a version", "rocm.csv", "MI325X=01.25.03.03", "MI325X",
     "site/rocm.csv: line 23: firmware: 'MI325X' is not FAMILY=VERSION"},
    {"rocm: firmware of a bad version", "rocm.csv", "MI325X=01.25.03.03", "MI325X=1.2/new+",
     "site/rocm.csv: line 23: firmware: 'new+' is not a firmware version"},
    {"rocm window: a driver twice", "rocm-window.csv", "\n30.30.2,", "\n30.30.3,",
     "site/rocm-window.csv: line 5: amdgpu: the same as in line 4"},
    {"xid: a number twice", "xid.csv", "\n2,", "\n1,",
     "site/xid.csv: line 7: xid: the same as in line 6"},
    {"xid: an action that is not there", "xid.csv", ",CONTACT_SUPPORT,", ",CONTACT_SUPORT,",
     "site/xid.csv: line 6: immediate_action: no action 'CONTACT_SUPORT' in xid-actions.csv; did "
     "you mean 'CONTACT_SUPPORT'?"},
    {"sxid: a number twice", "sxid.csv", "\n10002,", "\n10001,",
     "site/sxid.csv: line 7: sxid: the same as in line 6"},
    {"sxid: an action that is not there", "sxid.csv", ",non-fatal,IGNORE,", ",non-fatal,IGNOR,",
     "site/sxid.csv: line 6: recommended_action: no action 'IGNOR' in xid-actions.csv; 2 names "
     "start with it: IGNORE, IGNORE_SYMPATHETIC"},
    {"actions: one twice", "xid-actions.csv", "\nRESTART_APP,", "\nIGNORE,",
     "site/xid-actions.csv: line 6: action: the same as in line 5"},
    {"actions: disruption", "xid-actions.csv", ",by-bits,", ",by-bit,",
     "site/xid-actions.csv: line 37: disruption: 'by-bit' is not one of: no, service, service-if, "
     "gpu, gpu-if, gpu-or-fabric, vm, node, node-out, fabric, hands, change, by-154, by-bits, "
     "by-table"},
    {"nvlink5: a pattern too short", "xid-nvlink5.csv", "0000100001,", "000010000,",
     "site/xid-nvlink5.csv: line 6: intrinfo_v1: '------000000----------000010000' is not 32 "
     "characters of 0, 1 and -"},
    {"nvlink5: a pattern of other characters", "xid-nvlink5.csv", "0000100001,", "00001O0001,",
     "site/xid-nvlink5.csv: line 6: intrinfo_v1: '------000000----------00001O0001' is not 32 "
     "characters of 0, 1 and -"},
    {"nvlink5: a status", "xid-nvlink5.csv", ",0x00000001,", ",0x0000001G,",
     "site/xid-nvlink5.csv: line 6: error_status: '0x0000001G' is not numbers such as 0x00000001 "
     "with single blanks between them"},
    {"nvlink5: a status of more bits", "xid-nvlink5.csv", ",0x00000001,", ",0x100000000,",
     "site/xid-nvlink5.csv: line 6: error_status: '0x100000000' is not numbers such as 0x00000001 "
     "with single blanks between them"},
    {"nvlink5: an action that is not there", "xid-nvlink5.csv", ",RESET_GPU,,,,", ",RESET_GPUS,,,,",
     "site/xid-nvlink5.csv: line 7: action: no action 'RESET_GPUS' in xid-actions.csv; did you "
     "mean 'RESET_GPU'?"},
    {"nvlink5: a second action without a pattern", "xid-nvlink5.csv", ",IGNORE,,,,",
     ",IGNORE,,,RESET_GPU,",
     "site/xid-nvlink5.csv: line 6: action2: has no pattern in intrinfo_v1_action2 or "
     "intrinfo_v2_action2"},
    {"nvlink5: a second pattern without an action", "xid-nvlink5.csv", "10000110,RESET_GPU,",
     "10000110,,",
     "site/xid-nvlink5.csv: line 27: action2: is empty, but there is a pattern for "
     "it"},
    {"nvlink5: a cause", "xid-nvlink5.csv", ",hw sw,", ",hw su,",
     "site/xid-nvlink5.csv: line 30: cause: 'hw su' is not words with single blanks between them: "
     "hw, sw, fw"},
    {"update classes: one twice", "update-classes.csv", "\nbmc,", "\nsoftware,",
     "site/update-classes.csv: line 8: class: the same as in line 7"},
    {"update classes: disruption", "update-classes.csv", ",domain,banks,", ",rack,banks,",
     "site/update-classes.csv: line 11: disruption: 'rack' is not one of: none, service, reboot, "
     "reset, domain, power"},
    {"update classes: revert", "update-classes.csv", ",one-way,", ",oneway,",
     "site/update-classes.csv: line 13: revert: 'oneway' is not one of: cheap, banks, reflash, "
     "vendor, one-way"},
    {"change classes: one twice", "change-classes.csv", "\nroutine,", "\nstandard,",
     "site/change-classes.csv: line 14: class: the same as in line 13"},
    {"change classes: rings", "change-classes.csv", ",5 25 100,100,", ",5 25 9,100,",
     "site/change-classes.csv: line 14: rings: '5 25 9' is not a list of rising percents up to "
     "100"},
    {"change classes: nobody is asked", "change-classes.csv", ",full-board,3,", ",full-board,0,",
     "site/change-classes.csv: line 16: quorum: only a class that covers 'window' needs no "
     "approval"},
    {"gate metrics: a margin", "gate-metrics.csv", ",node,1,0.57,yes,", ",node,1%,0.57,yes,",
     "site/gate-metrics.csv: line 10: margin: '1%' is not a number such as 0.5"},
    {"gate metrics: below zero", "gate-metrics.csv", ",node,1,0.57,yes,", ",node,1,-1,yes,",
     "site/gate-metrics.csv: line 10: sigma: '-1' is not a number such as 0.5"},
    {"postures: one twice", "postures.csv", "\nbatch,", "\ndev,",
     "site/postures.csv: line 22: posture: the same as in line 21"},
    {"postures: pinning", "postures.csv", ",loose,", ",lose,",
     "site/postures.csv: line 21: pinning: 'lose' is not one of: strict, trainer-strict, "
     "per-service, loose, per-job"},
    {"postures: a way to leave", "postures.csv", ",per-job,480,", ",at-once,480,",
     "site/postures.csv: line 22: leave: 'at-once' is not one of: wait-job, out-of-rotation, "
     "opportunistic, per-job"},
    {"postures: how long", "postures.csv", ",per-job,480,", ",per-job,8h,",
     "site/postures.csv: line 22: leave_minutes: '8h' is not a whole number"},
    {"postures: and then", "postures.csv", ",480,3,skip,", ",480,3,kill,",
     "site/postures.csv: line 22: leave_then: 'kill' is not one of: hold, skip"},
    {"postures: what becomes of jobs", "postures.csv", ",480,3,skip,wait,", ",480,3,skip,kill,",
     "site/postures.csv: line 22: leave_jobs: 'kill' is not one of: wait, requeue"},
    {"postures: a signal", "postures.csv", ",480,3,skip,wait,,", ",480,3,skip,requeue,KILL,",
     "site/postures.csv: line 22: leave_signal: 'KILL' is not one of: USR1, USR2, HUP, TERM"},
    {"components: a name twice", "components.csv", "\nkernel,", "\nos-image,",
     "site/components.csv: line 6: name: the same as in line 5"},
    {"components: reboot", "components.csv", ",software,node,node,", ",software,nodes,node,",
     "site/components.csv: line 5: reboot: 'nodes' is not one of: no, service, node, domain"},
    {"components: scope", "components.csv", ",software,node,node,", ",software,node,rack,",
     "site/components.csv: line 5: scope: 'rack' is not one of: node, chassis, domain, site"},
    {"components: an update class that is not there", "components.csv", ",firmware,bmc,",
     ",firmware,bcm,",
     "site/components.csv: line 46: update_class: no update class 'bcm' in update-classes.csv; "
     "did you mean 'bmc'?"},
    {"settings: a name twice", "settings.csv", "\necc,", "\nmig,",
     "site/settings.csv: line 5: name: the same as in line 4"},
    {"settings: reboot", "settings.csv", ",reset,", ",gpu-reset,",
     "site/settings.csv: line 4: reboot: 'gpu-reset' is not one of: no, service, reset, node"},
    {"settings: revert", "settings.csv", ",reset,cheap,", ",reset,easy,",
     "site/settings.csv: line 4: revert: 'easy' is not one of: cheap, reboot"},
    {"requires: an id twice", "requires.csv", "\nctk-docker,", "\nctk-containerd,",
     "site/requires.csv: line 8: id: the same as in line 7"},
    {"requires: a blank in a family", "requires.csv", ",RTX-PRO-6000,", ",RTX PRO 6000,",
     "site/requires.csv: line 17: gpus: no GPU family 'RTX' in gpus.csv; 2 names start with it: "
     "RTX-PRO-6000, RTX-PRO-4500"},
    {"advisories: an id twice", "advisories.yaml", "CVE-2022-42265", "CVE-2023-0208",
     "site/advisories.yaml:22:5: advisories[2].id: the same as in line 7"},
    {"advisories: a component", "advisories.yaml", "    component: dcgm\n", "    component: dgcm\n",
     "site/advisories.yaml:9:5: advisories[1].component: no component 'dgcm' in components.csv; "
     "did you mean 'dcgm'?"},
    {"advisories: an affected component by another name", "advisories.yaml", "- component: driver",
     "- component: nvidia-driver",
     "site/advisories.yaml:34:9: advisories[2].affected[1].component: no component "
     "'nvidia-driver' in components.csv; did you mean 'driver'?"},
    {"advisories: a branch that is not there", "advisories.yaml", "branch: \"R470\"",
     "branch: \"R471\"",
     "site/advisories.yaml:35:9: advisories[2].affected[1].branch: no branch R471 in "
     "driver-branches.csv"},
    {"advisories: no branch", "advisories.yaml", "branch: \"R470\"", "branch: \"R47O\"",
     "site/advisories.yaml:35:9: advisories[2].affected[1].branch: 'R47O' is not a branch such as "
     "R580"},
    {"advisories: fixed", "advisories.yaml", "fixed: \"470.239.06\"", "fixed: \"soon\"",
     "site/advisories.yaml:37:9: advisories[2].affected[1].fixed: is not a dotted version"},
    {"advisories: a score", "advisories.yaml", "cvss: \"8.4\"", "cvss: \"8,4\"",
     "site/advisories.yaml:11:5: advisories[1].cvss: is not a score from 0.0 to 10.0"},
    {"advisories: a score above the highest", "advisories.yaml", "cvss: \"8.4\"", "cvss: \"10.1\"",
     "site/advisories.yaml:11:5: advisories[1].cvss: is not a score from 0.0 to 10.0"},
    {"advisories: severity", "advisories.yaml", "severity: high", "severity: severe",
     "site/advisories.yaml:13:5: advisories[1].severity: no such value 'severe'; one of: low, "
     "medium, high, critical"},
    {"classes: a name twice", "classes.yaml", "name: hgx-h200-8", "name: hgx-h100-8",
     "site/classes.yaml:18:1: name: the same as in line 5"},
};

static void spoil(const char *file, const char *old, const char *new, struct lks_buf *out)
{
    struct lks_str text = lks_test_facts_text(file);
    lks_buf_init(out, TEXT_MAX);
    ptrdiff_t at = old != NULL ? lks_str_find(text, lks_str_from(old)) : (ptrdiff_t)text.len;
    if (!CHECK(at >= 0))
        return;
    size_t rest = (size_t)at + (old != NULL ? strlen(old) : 0);
    lks_buf_add(out, (struct lks_str){text.ptr, (size_t)at});
    lks_buf_add(out, lks_str_from(new));
    lks_buf_add(out, (struct lks_str){text.ptr + rest, text.len - rest});
}

static void test_slips(void)
{
    for (size_t i = 0; i < LKS_COUNT(slips); i++) {
        lks_test_case("%s", slips[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
        spoil(slips[i].file, slips[i].old, slips[i].new, &text);
        check_refused(slips[i].file, lks_buf_view(&text), slips[i].message);
    }
}

/* Whatever the table, its last row cannot stand twice where the table has a key. */
static void test_repeated_rows(void)
{
    for (size_t i = 0; i < lks_facts_table_count; i++) {
        const struct lks_facts_table *table = &lks_facts_tables[i];
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
        LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
        struct lks_err err = {0};
        struct lks_str all = lks_test_facts_text(table->file), last = all;
        bool key = false;
        for (size_t j = 0; j < table->column_count; j++)
            key = key || table->columns[j].key;
        for (last.len--; last.ptr[last.len - 1] != '\n';)
            last.len--;
        last = (struct lks_str){all.ptr + last.len, all.len - last.len};
        lks_buf_add(&text, all);
        lks_buf_add(&text, last);
        lks_test_case("%s", table->file);
        CHECK_CODE(lks_test_facts_load(table->file, lks_buf_view(&text), &facts, &err),
                   key ? LKS_E_INVALID : LKS_OK);
        CHECK(!key || strstr(err.msg, ": the same as in line ") != NULL);
    }
}

static const struct {
    const char *name;
    struct lks_str text;
    const char *message; /* NULL where it is good */
} site_edges[] = {
    {"a component of the site", EDGE("burn-in-agent", ">=2", "our-exporter", ">=1", ""), NULL},
    {"firmware with and without its prefix", EDGE("firmware/nic", ">=28", "bmc", ">=1", ""), NULL},
    {"a setting below another", EDGE("driver", ">=580", "settings.nic.roce", "=on", ""), NULL},
    {"the boards ask", EDGE("", "", "driver", ">=580", "H100 RTX-PRO-6000"), NULL},
    {"a misspelled component", EDGE("drivr", ">=580", "cuda", ">=13", ""),
     "site/requires.site.csv: line 2: component: no component 'drivr' in components.csv; did you "
     "mean 'driver'?"},
    {"another spelling", EDGE("driver", ">=580", "cuda-toolkit", ">=13", ""),
     "site/requires.site.csv: line 2: other: no component 'cuda-toolkit' in components.csv; did "
     "you mean 'cuda'?"},
    {"misspelled firmware", EDGE("driver", ">=580", "firmware/vbois", "", ""),
     "site/requires.site.csv: line 2: other: no component 'vbois' in components.csv; did you mean "
     "'vbios'?"},
    {"software that is called firmware", EDGE("firmware/driver", ">=580", "cuda", ">=13", ""),
     "site/requires.site.csv: line 2: component: driver is software, and no firmware"},
    {"a misspelled setting", EDGE("driver", ">=580", "settings.eec", "true", ""),
     "site/requires.site.csv: line 2: other: no setting 'eec' in settings.csv; did you mean "
     "'ecc'?"},
    {"no such setting", EDGE("driver", ">=580", "settings.turbo.level", "true", ""),
     "site/requires.site.csv: line 2: other: no setting 'turbo' in settings.csv"},
    {"a setting with an order", EDGE("driver", ">=580", "settings.power_limit_w", ">=500", ""),
     "site/requires.site.csv: line 2: other_range: '>=500': a setting has no order, only = and "
     "!="},
    {"a range of nothing", EDGE("", ">=580", "cuda", ">=13", ""),
     "site/requires.site.csv: line 2: range: '>=580' is a range of no component"},
    {"a range of another numbering", EDGE("vbios", ">=96.00.zz", "cuda", ">=13", ""),
     "site/requires.site.csv: line 2: range: condition 1: '96.00.zz' is not a vbios version"},
    {"a family that is not there", EDGE("driver", ">=580", "cuda", ">=13", "H100 H210"),
     "site/requires.site.csv: line 2: gpus: no GPU family 'H210' in gpus.csv; did you mean "
     "'H20'?"},
    {"an id of the built-in table",
     LKS_STR_C("# ours\n" EDGE_COLUMNS "ctk-docker,requires,cuda,,driver,,,,,confirmed,x\n"),
     "site/requires.site.csv: line 3: id: the same as in requires.csv, line 8"},
    {"an id twice",
     LKS_STR_C(EDGE_COLUMNS "b,requires,cuda,,driver,,,,,confirmed,x\n"
                            "a,requires,cuda,,driver,,,,,confirmed,x\n"
                            "b,requires,nccl,,driver,,,,,confirmed,x\n"),
     "site/requires.site.csv: line 4: id: the same as in line 2"},
};

static void test_site_edge_names(void)
{
    for (size_t i = 0; i < LKS_COUNT(site_edges); i++) {
        lks_test_case("%s", site_edges[i].name);
        LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
        struct lks_err err = {0};
        if (site_edges[i].message != NULL)
            check_refused(LKS_FACTS_SITE_EDGES, site_edges[i].text, site_edges[i].message);
        else if (!CHECK_CODE(
                     lks_test_facts_load(LKS_FACTS_SITE_EDGES, site_edges[i].text, &facts, &err),
                     LKS_OK))
            printf("    %s\n", err.msg);
    }
}

static const struct {
    const char *name;
    struct lks_str text;
    const char *message;
} bulletins[] = {
    {"a family that is not there",
     ADVISORY("component: vbios, affected: [{component: vbios, gpus: [H100, H1000]}]"),
     "site/advisories.yaml:2:125: advisories[1].affected[1].gpus[2]: no GPU family 'H1000' in "
     "gpus.csv; did you mean 'H100'?"},
    {"a blank in a family",
     ADVISORY("component: vbios, affected: [{component: vbios, gpus: [RTX PRO 6000]}]"),
     "site/advisories.yaml:2:119: advisories[1].affected[1].gpus[1]: no GPU family 'RTX PRO 6000' "
     "in gpus.csv; did you mean 'RTX-PRO-6000'?"},
};

static void test_bulletins(void)
{
    for (size_t i = 0; i < LKS_COUNT(bulletins); i++) {
        lks_test_case("%s", bulletins[i].name);
        check_refused("advisories.yaml", bulletins[i].text, bulletins[i].message);
    }
}

static void add_boards(struct lks_buf *out, int from, int to, const char *family)
{
    for (int i = from; i <= to; i++)
        lks_buf_addf(out,
                     "nvidia,Board %d,%s,Hopper,9.0,,,,,,,,,,,supported,yes,no,no,confirmed,,x\n",
                     i, family);
}

static void test_family_limits(void)
{
    LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
    struct lks_err err = {0};
    char family[LKS_FAMILY_LEN_MAX + 2] = {0};
    memset(family, 'F', LKS_FAMILY_LEN_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    lks_buf_add(&text, lks_test_facts_text("gpus.csv"));
    add_boards(&text, 1, LKS_FAMILY_BOARDS_MAX - 1, family);
    add_boards(&text, LKS_FAMILY_BOARDS_MAX, LKS_FAMILY_BOARDS_MAX, "Fine");
    CHECK_CODE(lks_test_facts_load("gpus.csv", lks_buf_view(&text), &facts, &err), LKS_OK);

    add_boards(&text, 101, 101, family);
    family[0] = 'f'; /* the same family to whoever asks */
    add_boards(&text, 102, 102, family);
    check_refused("gpus.csv", lks_buf_view(&text),
                  "site/gpus.csv: line 96: family: more than 16 boards of "
                  "'fFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF'");

    LKS_CLEANUP(lks_buf_fini) struct lks_buf longer = LKS_BUF(TEXT_MAX);
    lks_buf_add(&longer, lks_test_facts_text("gpus.csv"));
    family[LKS_FAMILY_LEN_MAX] = 'F';
    add_boards(&longer, 1, 1, family);
    check_refused("gpus.csv", lks_buf_view(&longer),
                  "site/gpus.csv: line 79: family: longer than 63 bytes");
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"facts: every column refuses what it is not", test_columns},
        {"facts: bad tables", test_tables},
        {"facts: one slip in a table", test_slips},
        {"facts: a row twice", test_repeated_rows},
        {"facts: names in a site's edges", test_site_edge_names},
        {"facts: names in advisories", test_bulletins},
        {"facts: how large a family may be", test_family_limits},
        {0},
    });
}
