#include "model/manifest/bundle.h"

#include "tests/facts.h"
#include "tests/test.h"

#include <stdio.h>

#define DIGEST_A "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define DIGEST_B "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define TOP(artifacts)                                                                             \
    "{\"lockstep\":1,\"kind\":\"Bundle\",\"name\":\"b\",\"version\":\"1\",\"artifacts\":"          \
    "[" artifacts "]}"
#define ONE(name, component, rest)                                                                 \
    "{\"name\":\"" name "\",\"digest\":\"" DIGEST_A "\",\"size\":5,\"component\":\"" component     \
    "\",\"version\":\"1.2\"" rest "}"
#define OTHER(name, component)                                                                     \
    "{\"name\":\"" name "\",\"digest\":\"" DIGEST_B "\",\"size\":6,\"component\":\"" component     \
    "\",\"version\":\"1.3\"}"

static enum lks_code parse(const char *text, struct lks_bundle *out, struct lks_err *err)
{
    return lks_bundle_parse(lks_str_from(text), "b.json", lks_test_facts(), out, err);
}

#define FILE_NAME(path, name)                                                                      \
    "b.json: " path ".name: '" name                                                                \
    "' is no name of a file here: no folder, no blank, no quote, no '.' or '-' in front"

static const struct {
    const char *name, *text;
    const char *message; /* NULL: it is taken */
} rows[] = {
    {"one file", TOP(ONE("a.fwpkg", "bmc", "")), NULL},
    {"two files", TOP(ONE("a.fwpkg", "bmc", "") "," OTHER("b.bin", "bios")), NULL},
    {"an entry of an inventory", TOP(ONE("a.fwpkg", "HGX_FW_GPU_3", "")), NULL},
    {"an id in small letters and numbers", TOP(ONE("a.fwpkg", "bmc_active", "")), NULL},
    {"one file for two components", TOP(ONE("a", "bmc", "") "," ONE("a", "bios", "")), NULL},
    {"all that can be said",
     TOP(ONE("a", "bmc",
             ",\"kind\":\"firmware\",\"one_way\":true,\"hardware_classes\":[\"hgx-h100-8\"],"
             "\"hardware_revisions\":[\"A01\"],\"from\":[\"1.1\",\">=1.0 <1.1\"]")),
     NULL},
    {"software as a package", TOP(ONE("a.deb", "driver", ",\"kind\":\"package\"")), NULL},

    {"nothing", "", "b.json:1:1: unexpected token near end of file"},
    {"not an object", "[]", "b.json: expected Bundle as a map, found a list of 0"},
    {"no files", TOP(""), "b.json: artifacts: at least 1 expected, found 0"},
    {"no name",
     "{\"lockstep\":1,\"kind\":\"Bundle\",\"version\":\"1\",\"artifacts\":[" ONE("a", "bmc",
                                                                                 "") "]}",
     "b.json: Bundle needs 'name': how it is called"},
    {"another kind", "{\"lockstep\":1,\"kind\":\"Stack\",\"name\":\"b\"}",
     "b.json: kind: no such value 'Stack'; one of: Bundle"},
    {"a key that is not known", TOP(ONE("a", "bmc", ",\"sha1\":\"00\"")),
     "b.json: artifacts[1].sha1: unknown key; artifact takes "},
    {"a key twice", TOP(ONE("a", "bmc", ",\"size\":6")), "b.json:1:212: duplicate object key"},
    {"the way out", TOP(ONE("../a", "bmc", "")), FILE_NAME("artifacts[1]", "../a")},
    {"a folder", TOP(ONE("x/a", "bmc", "")), FILE_NAME("artifacts[1]", "x/a")},
    {"the root", TOP(ONE("/etc/passwd", "bmc", "")), FILE_NAME("artifacts[1]", "/etc/passwd")},
    {"hidden", TOP(ONE(".a", "bmc", "")), FILE_NAME("artifacts[1]", ".a")},
    {"an option", TOP(ONE("-rf", "bmc", "")), FILE_NAME("artifacts[1]", "-rf")},
    {"a blank", TOP(ONE("a b", "bmc", "")), FILE_NAME("artifacts[1]", "a b")},
    {"the manifest itself", TOP(ONE("bundle.json", "bmc", "")),
     FILE_NAME("artifacts[1]", "bundle.json")},
    {"its signature", TOP(ONE("bundle.sig", "bmc", "")), FILE_NAME("artifacts[1]", "bundle.sig")},
    {"not ASCII", TOP(ONE("\xc3\xa4", "bmc", "")), FILE_NAME("artifacts[1]", "\xc3\xa4")},
    {"the same twice", TOP(ONE("a", "bmc", "") "," ONE("a", "bmc", "")),
     "b.json: artifacts[2].name: 'a' is listed twice for bmc"},
    {"two files of one name", TOP(ONE("a", "bmc", "") "," OTHER("a", "bios")),
     "b.json: artifacts[2].name: two files are called 'a'"},
    {"no size",
     TOP("{\"name\":\"a\",\"digest\":\"" DIGEST_A "\",\"component\":\"bmc\",\"version\":\"1\"}"),
     "b.json: artifacts[1]: artifact needs 'size': bytes of the file"},
    {"an empty file",
     TOP("{\"name\":\"a\",\"digest\":\"" DIGEST_A
         "\",\"size\":0,\"component\":\"bmc\",\"version\":\"1\"}"),
     "b.json: artifacts[1].size: 0 is not between 1 and 68719476736"},
    {"a size below zero",
     TOP("{\"name\":\"a\",\"digest\":\"" DIGEST_A
         "\",\"size\":-1,\"component\":\"bmc\",\"version\":\"1\"}"),
     "b.json: artifacts[1].size: -1 is not between 1 and 68719476736"},
    {"a size in parts",
     TOP("{\"name\":\"a\",\"digest\":\"" DIGEST_A
         "\",\"size\":1.5,\"component\":\"bmc\",\"version\":\"1\"}"),
     "fraction"},
    {"too large",
     TOP("{\"name\":\"a\",\"digest\":\"" DIGEST_A
         "\",\"size\":68719476737,\"component\":\"bmc\",\"version\":\"1\"}"),
     "b.json: artifacts[1].size: 68719476737 is not between"},
    {"another digest",
     TOP("{\"name\":\"a\",\"digest\":\"sha1:00\",\"size\":1,\"component\":"
         "\"bmc\",\"version\":\"1\"}"),
     "b.json: artifacts[1].digest: "},
    {"a component nobody knows", TOP(ONE("a", "bmx", "")),
     "b.json: artifacts[1].component: no component 'bmx' is known; did you mean 'bmc'?"},
    {"another name for one", TOP(ONE("a", "idrac", "")),
     "b.json: artifacts[1].component: no component 'idrac' is known; did you mean 'bmc'?"},
    {"an id with a path in it", TOP(ONE("a", "../BMC", "")),
     "b.json: artifacts[1].component: no component '../BMC' is known"},
    {"software as firmware", TOP(ONE("a", "driver", "")),
     "b.json: artifacts[1].component: driver is software, and the file has kind firmware; set "
     "kind: package or image"},
    {"no such kind", TOP(ONE("a", "bmc", ",\"kind\":\"rom\"")),
     "b.json: artifacts[1].kind: no such value 'rom'; one of: firmware, package, image"},
    {"a range that is none", TOP(ONE("a", "bmc", ",\"from\":[\">=2 <1\"]")),
     "b.json: artifacts[1].from[1]: "},
    {"two lines", TOP(ONE("a", "bmc", ",\"from\":[\"1\\n2\"]")),
     "b.json: artifacts[1].from[1]: a line break or control character has no place here"},
};

/* What is refused says where and leaves nothing behind. */
static void test_rows(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        LKS_CLEANUP(lks_bundle_fini) struct lks_bundle b = {0};
        struct lks_err err = {0};
        enum lks_code code = parse(rows[i].text, &b, &err);
        if (rows[i].message == NULL) {
            if (!CHECK_CODE(code, LKS_OK))
                fprintf(stderr, "%s\n", err.msg);
            CHECK(b.count > 0 && lks_digest_valid(lks_str_from(b.digest)));
        } else {
            CHECK_CODE(code, LKS_E_INVALID);
            CHECK_HAS(lks_str_from(err.msg), rows[i].message);
            CHECK(b.count == 0 && b.artifacts == NULL);
        }
    }
}

static void test_limits(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_BUNDLE_BYTES_MAX * 2);
    LKS_CLEANUP(lks_bundle_fini) struct lks_bundle b = {0};
    struct lks_err err = {0};
    lks_buf_pad(&text, ' ', (ptrdiff_t)LKS_BUNDLE_BYTES_MAX);
    lks_buf_add(&text, LKS_STR(TOP(ONE("a", "bmc", ""))));
    CHECK_CODE(lks_bundle_parse(lks_buf_view(&text), "b.json", NULL, &b, &err), LKS_E_LIMIT);

    lks_buf_truncate(&text, 0);
    lks_buf_addf(&text, "{\"lockstep\":1,\"kind\":\"Bundle\",\"name\":\"b\",\"version\":\"1\","
                        "\"artifacts\":[");
    for (int i = 0; i <= LKS_BUNDLE_ARTIFACTS_MAX; i++)
        lks_buf_addf(&text,
                     "%s{\"name\":\"f%d\",\"digest\":\"" DIGEST_A
                     "\",\"size\":5,\"component\":\"bmc\",\"version\":\"1\"}",
                     i > 0 ? "," : "", i);
    lks_buf_addf(&text, "]}");
    CHECK_CODE(lks_bundle_parse(lks_buf_view(&text), "b.json", NULL, &b, &err), LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "artifacts: at most 1000 allowed, found 1001");
}

/* Whatever the spelling, what is written is one form, and says the same. */
static void test_both_ways(void)
{
    static const char other[] = " {\"version\": \"1\", \"name\": \"b\", \"kind\": \"Bundle\",\n"
                                "\"artifacts\":[" ONE("a", "bmc", "") "], \"lockstep\": 1}\n";
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = {0}, again = {0};
    LKS_CLEANUP(lks_bundle_fini) struct lks_bundle a = {0}, b = {0}, c = {0};
    struct lks_err err = {0};
    lks_buf_init(&out, LKS_BUNDLE_BYTES_MAX);
    lks_buf_init(&again, LKS_BUNDLE_BYTES_MAX);
    CHECK_CODE(parse(TOP(ONE("a", "bmc", "")), &a, &err), LKS_OK);
    CHECK_CODE(parse(other, &b, &err), LKS_OK);
    CHECK_CODE(lks_bundle_write(&a, &out, &err), LKS_OK);
    CHECK_CODE(lks_bundle_write(&b, &again, &err), LKS_OK);
    CHECK(lks_str_eq(lks_buf_view(&out), lks_buf_view(&again)));
    CHECK(!lks_str_eq(lks_str_from(a.digest), lks_str_from(b.digest))); /* of bytes, not meaning */
    CHECK_CODE(lks_bundle_parse(lks_buf_view(&out), "again", lks_test_facts(), &c, &err), LKS_OK);
    CHECK_STR(c.artifacts[0].component, "bmc");
    CHECK_INT(c.artifacts[0].size, 5);
}

static void test_reading(void)
{
    LKS_CLEANUP(lks_bundle_fini) struct lks_bundle b = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf digests = LKS_BUF(LKS_BUNDLE_BYTES_MAX);
    struct lks_err err = {0};
    CHECK_CODE(parse(TOP(ONE("a", "bmc", "") "," ONE("a", "erot", ",\"one_way\":true") "," OTHER(
                         "b.deb", "bios")),
                     &b, &err),
               LKS_OK);
    CHECK_STR(b.name, "b");
    CHECK_STR(b.vendor, "");
    CHECK_STR(b.artifacts[2].version, "1.3");
    CHECK(!b.artifacts[0].one_way && b.artifacts[1].one_way);
    CHECK_INT(b.artifacts[2].kind, LKS_BUNDLE_FIRMWARE);
    lks_bundle_digests(&b, &digests);
    CHECK_STR(lks_buf_view(&digests), DIGEST_A " " DIGEST_B);
}

static const struct {
    const char *component, *file, *found, *message;
} choices[] = {
    {"bmc", "", "a", NULL},
    {"bios", "b", "b", NULL},
    {"bios", "", NULL, "bundle 'b' has both b (bios) and c (bios); say which"},
    {"", "", NULL, "bundle 'b' has both a (bmc) and b (bios); say which"},
    {"", "c", "c", NULL},
    {"vbios", "", NULL, "bundle 'b' has nothing for vbios; it has something for bmc, bios, bios"},
    {"bmc", "c", NULL, "bundle 'b' has nothing for bmc"},
};

static void test_choosing(void)
{
    LKS_CLEANUP(lks_bundle_fini) struct lks_bundle b = {0};
    struct lks_err err = {0};
    CHECK_CODE(
        parse(TOP(ONE("a", "bmc", "") "," OTHER("b", "bios") "," OTHER("c", "bios")), &b, &err),
        LKS_OK);
    for (size_t i = 0; i < LKS_COUNT(choices); i++) {
        lks_test_case("'%s' in '%s'", choices[i].component, choices[i].file);
        const struct lks_bundle_artifact *found = NULL;
        enum lks_code code = lks_bundle_choose(&b, lks_str_from(choices[i].component),
                                               lks_str_from(choices[i].file), &found, &err);
        if (choices[i].found != NULL) {
            if (CHECK_CODE(code, LKS_OK))
                CHECK_STR(found->name, choices[i].found);
        } else {
            CHECK(code != LKS_OK && found == NULL);
            CHECK_HAS(lks_str_from(err.msg), choices[i].message);
        }
    }
}

static const struct {
    const char *version;
    bool follows;
} versions[] = {
    {"1.1", true},  {"1.0", true}, {"1.0.9", true}, {"1.2.1", false},
    {"0.9", false}, {"", false},   {"1.10", false}, {"U54 v1.40 (05/20/2023)", true},
    {"U54", false}, {"1.2", true}, /* which it is itself */
};

static void test_fitting(void)
{
    LKS_CLEANUP(lks_bundle_fini) struct lks_bundle b = {0};
    struct lks_err err = {0};
    CHECK_CODE(
        parse(
            TOP(ONE(
                "a", "bmc",
                ",\"hardware_classes\":[\"x\",\"y\"],\"hardware_revisions\":[\"A01\"],"
                "\"from\":[\"1.1\",\">=1.0 <1.1\",\"U54 v1.40 (05/20/2023)\"]") "," OTHER("b",
                                                                                          "bios")),
            &b, &err),
        LKS_OK);
    for (size_t i = 0; i < LKS_COUNT(versions); i++) {
        lks_test_case("from '%s'", versions[i].version);
        struct lks_str version = lks_str_from(versions[i].version);
        CHECK(lks_bundle_follows(lks_test_facts(), &b.artifacts[0], version) ==
              versions[i].follows);
        CHECK(lks_bundle_follows(lks_test_facts(), &b.artifacts[1], version));
    }
    lks_test_case("hardware");
    CHECK(lks_bundle_fits(&b.artifacts[0], LKS_STR("y"), LKS_STR("A01")));
    CHECK(!lks_bundle_fits(&b.artifacts[0], LKS_STR("y"), LKS_STR("A02")));
    CHECK(!lks_bundle_fits(&b.artifacts[0], LKS_STR("z"), LKS_STR("A01")));
    CHECK(!lks_bundle_fits(&b.artifacts[0], LKS_STR("y"), LKS_STR(""))); /* not known is not it */
    CHECK(lks_bundle_fits(&b.artifacts[1], LKS_STR(""), LKS_STR("")));
}

static const struct lks_test tests[] = {
    {"rows", test_rows},
    {"limits", test_limits},
    {"both ways", test_both_ways},
    {"reading", test_reading},
    {"choosing", test_choosing},
    {"fitting", test_fitting},
    {NULL, NULL},
};

int main(void)
{
    return lks_test_main(tests);
}
