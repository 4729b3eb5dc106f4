#include "model/facts/facts.h"

#include "tests/facts.h"
#include "tests/test.h"

#include <stdio.h>

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
        {"gate metrics", f->gate_presets.count, 40},
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

static void test_memory(void)
{
    const struct lks_facts *f = lks_test_facts();
    static const struct {
        const char *product;
        int64_t gb;
    } rows[] = {{"A10", 24}, {"A10G", 24}, {"L2", 24}, {"L4", 24}};
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        size_t k = 0;
        lks_test_case("%s", rows[i].product);
        while (k < f->gpus.count && !lks_str_is(f->gpus.rows[k].product, rows[i].product))
            k++;
        if (CHECK(k < f->gpus.count))
            CHECK_INT(f->gpus.rows[k].memory_gb, rows[i].gb);
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
    static const int short_lived[] = {555, 560, 565, 575};
    for (size_t i = 0; i < LKS_COUNT(short_lived); i++) {
        lks_test_case("R%d is a new-feature branch", short_lived[i]);
        const struct lks_branch *branch = lks_facts_branch(f, short_lived[i]);
        if (CHECK(branch != NULL))
            CHECK_STR(branch->type, "NFB");
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
    CHECK_INT(lks_facts_scheme(f, LKS_STR("dcgm")), LKS_VERSION_DEBIAN);
    CHECK_INT(lks_facts_scheme(f, LKS_STR("never heard of")), LKS_VERSION_FIRMWARE);

    CHECK(lks_facts_setting(f, LKS_STR("ecc")) != NULL);
    CHECK(lks_facts_setting(f, LKS_STR("eccc")) == NULL);
    CHECK(lks_facts_update_class(f, LKS_STR("power")) != NULL);
    CHECK(lks_facts_update_class(f, LKS_STR("")) == NULL);
    CHECK(lks_facts_class(f, LKS_STR("hgx-h100-8")) != NULL);
    CHECK(lks_facts_class(f, LKS_STR("hgx")) == NULL);
    CHECK(lks_facts_words_have(LKS_STR("H100 GB200"), LKS_STR("gb200")));
    CHECK(!lks_facts_words_have(LKS_STR("H100 GB200"), LKS_STR("B200")));
    CHECK(!lks_facts_words_have(LKS_STR(""), LKS_STR("")));
}

/* Every table is named once, and every name is a table. */
static void test_names(void)
{
    size_t count = 0;
    for (const char *name; (name = lks_facts_file_name(count)) != NULL; count++) {
        lks_test_case("%s", name);
        CHECK(lks_test_facts_text(name).len > 0);
        for (size_t i = 0; i < count; i++)
            CHECK(strcmp(lks_facts_file_name(i), name) != 0);
    }
    CHECK_INT(count, 29);
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

/* Sites ------------------------------------------------------------------------------------- */

static void test_override(void)
{
    LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
    struct lks_err err = {0};
    static const char text[] = "\xef\xbb\xbf# ours\r\nsource,note,dcgm,status,more,min_driver,"
                               "min_driver_nvswitch\r\nus,\"a, \"\"b\"\"\",9.9,sibling,x,,\r\n";
    if (!CHECK_CODE(lks_test_facts_load("dcgm.csv", lks_str_from(text), &facts, &err), LKS_OK))
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
    if (!CHECK_CODE(lks_test_facts_load(LKS_FACTS_SITE_EDGES, lks_str_from(text), &facts, &err),
                    LKS_OK))
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
    CHECK(ours->site && !facts.edges.rows[before - 1].site);
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
    if (!CHECK_CODE(lks_test_facts_load("advisories.yaml", lks_str_from(text), &facts, &err),
                    LKS_OK) ||
        !CHECK_INT(facts.advisories.count, 1))
        return;
    const struct lks_advisory *a = &facts.advisories.rows[0];
    char day[LKS_DAY_TEXT_SIZE];
    CHECK_STR(a->id, "CVE-1");
    CHECK_STR(lks_str_from(lks_time_day_text(a->published, day)), "2026-10-31");
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
        {"facts: memory of boards", test_memory},
        {"facts: look-ups", test_look_ups},
        {"facts: names", test_names},
        {"facts: missing tables", test_missing},
        {"facts: a site's table", test_override},
        {"facts: a site's edges", test_site_edges},
        {"facts: advisories", test_advisories},
        {"facts: the end, repeated", test_repeated_end},
        {0},
    });
}
