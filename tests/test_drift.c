/* Nothing that a machine runs can change unseen: for each machine a stack is drafted, and then
 * every reading that tells builds apart is changed, one at a time, and every value of the stack. */
#include "codec/format/yaml.h"
#include "core/conform/conform.h"
#include "core/conform/draft.h"
#include "model/manifest/manifest.h"
#include "probe/root/probes.h"
#include "tests/facts.h"
#include "tests/mutate.h"
#include "tests/roots.h"
#include "tests/test.h"

#include <stdio.h>

#define YAML_MAX ((size_t)4 << 20)

/* A machine with its stack. */
struct machine {
    struct lks_tuple tuple;
    struct lks_buf yaml;
    struct lks_manifest manifest;
    struct lks_report report; /* what the draft left out */
};

static void machine_fini(struct machine *m)
{
    lks_tuple_fini(&m->tuple);
    lks_buf_fini(&m->yaml);
    lks_manifest_fini(&m->manifest);
    lks_report_fini(&m->report);
}

static bool machine_init(struct machine *m, const struct lks_test_root *root)
{
    struct lks_planted planted;
    struct lks_err err = {0};
    lks_day today = 0;
    *m = (struct machine){0};
    lks_test_plant(root, &planted);
    m->tuple = lks_test_read(planted.path, NULL, lks_probes, lks_probe_count);
    lks_test_planted_free(&planted);
    lks_buf_init(&m->yaml, YAML_MAX);
    lks_report_init(&m->report);
    CHECK(lks_time_day_parse(LKS_STR("2026-11-15"), &today));
    bool ok = lks_draft_stack(lks_test_facts(), &m->tuple, LKS_STR("golden"), LKS_STR("1"), today,
                              &m->yaml, &m->report, &err) == LKS_OK &&
              m->report.errors == 0 &&
              lks_manifest_parse("draft", lks_buf_view(&m->yaml), lks_test_facts(), NULL,
                                 &m->manifest, &err) == LKS_OK;
    CHECK_STR(lks_str_from(err.msg), "");
    return CHECK(ok) && CHECK_INT(m->manifest.stack_count, 1);
}

/* Conforming --------------------------------------------------------------------------------- */

static bool is_bad(const struct lks_judgement *row)
{
    return row->verdict == LKS_DRIFT || row->verdict == LKS_NOT_MEASURED;
}

static bool has(struct lks_str text, struct lks_str part)
{
    return lks_str_find(text, part) >= 0;
}

/* Rows that are about a reading by another name. */
static const struct {
    const char *reading, *subject;
} called[] = {
    {"gpu.pci_id", "devices.gpu"}, {"driver.loaded", "driver"},  {"driver.disk", "driver"},
    {"driver.library", "driver"},  {"driver.package", "driver"}, {"amdgpu.loaded", "amdgpu"},
    {"amdgpu.package", "amdgpu"},
};

static bool is_about(const struct lks_judgement *row, struct lks_str reading)
{
    if (has(row->subject, reading))
        return true;
    for (size_t i = 0; i < LKS_COUNT(called); i++) {
        if (lks_str_is(reading, called[i].reading) && lks_str_is(row->subject, called[i].subject))
            return true;
    }
    return false;
}

/* The row that says no to `reading`, of the device `of`; NULL where there is none. */
static const struct lks_judgement *verdict_on(const struct lks_conformance *c,
                                              struct lks_str reading)
{
    for (size_t i = 0; i < c->count; i++) {
        if (is_bad(&c->rows[i]) && is_about(&c->rows[i], reading))
            return &c->rows[i];
    }
    return NULL;
}

/* Readings ----------------------------------------------------------------------------------- */

/* What may be absent without being missed: not to have a thing is what turning it off comes to, and
 * jobs may bring an environment of their own. */
static bool is_missed(const struct lks_reading *r)
{
    static const char *const off[] = {"false", "disabled", ""};
    for (size_t i = 0; i < LKS_COUNT(off); i++) {
        if (lks_str_is(r->value, off[i]))
            return false;
    }
    return !lks_str_starts(r->name, "tuning.env.");
}

/* The bytes of a module that DKMS built on the machine are no part of a stack. */
static bool is_built_here(const struct lks_reading *r)
{
    return lks_str_ends(r->name, ".build.sha256") &&
           lks_str_find(r->evidence, LKS_STR("/dkms/")) >= 0;
}

static bool is_tried(const struct lks_reading *r, enum lks_mutation mutation)
{
    return r->state == LKS_MEASURED && !is_built_here(r) &&
           lks_reading_kind(r->name)->class == LKS_READING_IDENTITY &&
           (mutation != LKS_MUTATE_ABSENT || is_missed(r));
}

/* With several devices of a kind it has to be said which one is not like the others. */
static bool is_one_of_several(const struct lks_tuple *t, const struct lks_reading *r)
{
    size_t count;
    (void)lks_tuple_range(t, r->name, &count);
    return count > 1 && r->of.len > 0;
}

static void try_reading(const struct machine *m, const char *root, size_t at,
                        enum lks_mutation mutation)
{
    const struct lks_reading *r = &m->tuple.readings[at];
    struct lks_conformance c = {0};
    struct lks_err err = {0};
    struct lks_tuple changed = lks_mutate_tuple(&m->tuple, at, mutation);
    lks_test_case("%s: %.*s of %.*s %s", root, LKS_STR_ARG(r->name), LKS_STR_ARG(r->of),
                  lks_mutation_name(mutation));
    if (CHECK(lks_conform(lks_test_facts(), m->manifest.stacks, &changed, &c, &err) == LKS_OK)) {
        CHECK(!lks_conformance_yes(&c));
        const struct lks_judgement *row = verdict_on(&c, r->name);
        CHECK(row != NULL);
        if (row != NULL && is_one_of_several(&m->tuple, r))
            CHECK(has(row->of, r->of));
    }
    lks_conform_fini(&c);
    lks_tuple_fini(&changed);
}

static void test_readings(void)
{
    for (size_t i = 0; i < lks_test_root_count; i++) {
        const struct lks_test_root *root = &lks_test_roots[i];
        struct machine m;
        size_t tried = 0;
        if (!root->golden)
            continue;
        lks_test_case("%s", root->name);
        bool ok = machine_init(&m, root);
        for (size_t at = 0; ok && at < m.tuple.count; at++) {
            for (int k = 0; k < LKS_MUTATIONS; k++) {
                if (!is_tried(&m.tuple.readings[at], (enum lks_mutation)k))
                    continue;
                try_reading(&m, root->name, at, (enum lks_mutation)k);
                tried++;
            }
        }
        lks_test_case("%s", root->name);
        CHECK(tried > 100);
        machine_fini(&m);
    }
}

/* The stack ---------------------------------------------------------------------------------- */

/* Members of a manifest that say nothing a machine could have otherwise. */
static bool is_note(const struct lks_doc *doc)
{
    static const char *const keys[] = {"lockstep", "kind",  "name",   "vendor", "hardware",
                                       "evidence", "owner", "absent", "class",  "part"};
    for (size_t i = 0; i < LKS_COUNT(keys); i++) {
        if (lks_str_is(doc->key, keys[i]))
            return true;
    }
    return doc->parent != NULL && doc->parent->parent == NULL && lks_str_is(doc->key, "version");
}

/* The subject of the row that judges a leaf: "nccl.build.sha256", "firmware/nic", "settings.ecc".
 */
static void subject_of(const struct lks_doc *leaf, struct lks_buf *out)
{
    const struct lks_doc *up = leaf->parent;
    if (up == NULL)
        return;
    if (up->parent == NULL) {
        lks_buf_addf(out, "devices.%.*s", LKS_STR_ARG(leaf->key));
        return;
    }
    if (lks_str_is(leaf->key, "version"))
        leaf = up;
    if (leaf->parent->kind == LKS_DOC_LIST && lks_str_is(leaf->parent->key, "firmware")) {
        lks_buf_addf(out, "firmware/%.*s", LKS_STR_ARG(lks_doc_text(leaf, "class")));
        return;
    }
    struct lks_str path[8];
    size_t depth = 0;
    for (; leaf->parent != NULL && depth < LKS_COUNT(path); leaf = leaf->parent) {
        if (leaf->key.len > 0 && !lks_str_is(leaf->key, "components"))
            path[depth++] = leaf->key;
    }
    while (depth > 0) {
        lks_buf_addf(out, "%s%.*s", out->len > 0 ? "." : "", LKS_STR_ARG(path[depth - 1]));
        depth--;
    }
}

/* Of a hardware class: where the table of devices has what its members say. */
static const struct {
    const char *path, *subject;
} counts[] = {
    {"gpu.product", "devices.gpu"},           {"gpu.count", "devices.gpus"},
    {"gpu.nvlinks_up", "devices.nvlinks_up"}, {"nics.count", "devices.nics"},
    {"nics.gbps", "devices.nic_gbps"},
};

static void try_leaf(const struct machine *m, const char *root, const struct lks_doc *leaf)
{
    struct lks_manifest other = {0};
    struct lks_conformance c = {0};
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf yaml = {0}, subject = {0};
    lks_buf_init(&yaml, YAML_MAX);
    lks_buf_init(&subject, 4096);
    subject_of(leaf, &subject);
    for (size_t i = 0; i < LKS_COUNT(counts); i++) {
        if (lks_str_is(lks_buf_view(&subject), counts[i].path)) {
            lks_buf_truncate(&subject, 0);
            lks_buf_addf(&subject, "%s", counts[i].subject);
        }
    }
    lks_test_case("%s: %.*s of the stack, line %u", root, LKS_STR_ARG(lks_buf_view(&subject)),
                  leaf->line);
    lks_mutate_leaf(lks_buf_view(&m->yaml), leaf, &yaml);
    if (lks_manifest_parse("draft", lks_buf_view(&yaml), lks_test_facts(), NULL, &other, &err) !=
        LKS_OK) {
        CHECK_STR(lks_str_from(err.msg), "");
    } else if (CHECK(lks_conform(lks_test_facts(), other.stacks, &m->tuple, &c, &err) == LKS_OK)) {
        CHECK(!lks_conformance_yes(&c));
        CHECK(verdict_on(&c, lks_buf_view(&subject)) != NULL);
    }
    lks_conform_fini(&c);
    lks_manifest_fini(&other);
}

static size_t try_leaves(const struct machine *m, const char *root, const struct lks_doc *doc)
{
    size_t tried = 0;
    if (is_note(doc))
        return 0;
    if (doc->kind != LKS_DOC_MAP && doc->kind != LKS_DOC_LIST) {
        try_leaf(m, root, doc);
        return 1;
    }
    for (const struct lks_doc *inner = doc->first; inner != NULL; inner = inner->next)
        tried += try_leaves(m, root, inner);
    return tried;
}

static void test_leaves(void)
{
    for (size_t i = 0; i < lks_test_root_count; i++) {
        const struct lks_test_root *root = &lks_test_roots[i];
        struct machine m;
        size_t tried = 0;
        if (!root->golden)
            continue;
        lks_test_case("%s", root->name);
        bool ok = machine_init(&m, root);
        const struct lks_doc *doc = ok ? m.manifest.docs.first : NULL;
        for (; doc != NULL; doc = doc->next)
            tried += try_leaves(&m, root->name, doc);
        lks_test_case("%s", root->name);
        CHECK(tried > 40);
        machine_fini(&m);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"drift: each reading of a machine", test_readings},
        {"drift: each value of its stack", test_leaves},
        {0},
    });
}
