#include "codec/format/yaml.h"

#include "base/buf.h"
#include "base/rng.h"
#include "codec/format/json.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>

enum { OUT_MAX = 64 * 1024 * 1024 };

/* Every document of `text` in canonical JSON, one a line. */
static enum lks_code canonical(struct lks_str text, struct lks_buf *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    lks_buf_init(out, OUT_MAX);
    if (lks_docs_init(&docs, "f.yaml", err) != LKS_OK || lks_yaml_parse(text, &docs, err) != LKS_OK)
        return err->code;
    for (const struct lks_doc *doc = docs.first; doc != NULL; doc = doc->next) {
        if (doc != docs.first)
            lks_buf_addc(out, '\n');
        if (lks_json_canonical(doc, out, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

/* What each text means. */
static const struct {
    const char *name;
    const char *text;
    const char *json;
} meanings[] = {
    {"nothing", "", ""},
    {"only a comment", "# gold\n", ""},
    {"a document without a value", "---\n", "null"},
    {"text", "a: gold", "{\"a\":\"gold\"}"},
    {"text with blanks in it", "a: gold  stack \n", "{\"a\":\"gold  stack\"}"},
    {"truth", "[true, false]", "[true,false]"},
    {"truth in quotes", "['true', \"false\"]", "[\"true\",\"false\"]"},
    {"null", "[~, null, Null, NULL]", "[null,null,null,null]"},
    {"null by absence", "a:\nb: 1", "{\"a\":null,\"b\":1}"},
    {"null by a dash", "-\n- 1", "[null,1]"},
    {"a spelling that no version takes for null", "nuLL", "\"nuLL\""},
    {"null in quotes", "['', \"~\", 'null']", "[\"\",\"~\",\"null\"]"},
    {"numbers", "[0, 7, -7, 10, 580]", "[0,7,-7,10,580]"},
    {"negative zero", "-0", "0"},
    {"numbers in quotes", "['7', \"12.10\"]", "[\"7\",\"12.10\"]"},
    {"the largest number", "9007199254740991", "9007199254740991"},
    {"the smallest number", "-9007199254740991", "-9007199254740991"},
    {"what begins like a number", "[1a, 12.x, 5.15.0-91-generic, 0x, 0xfg, 1:a, 7d]",
     "[\"1a\",\"12.x\",\"5.15.0-91-generic\",\"0x\",\"0xfg\",\"1:a\",\"7d\"]"},
    {"what begins like a word", "[yesterday, nope, offline, oncology, trueish, nil]",
     "[\"yesterday\",\"nope\",\"offline\",\"oncology\",\"trueish\",\"nil\"]"},
    {"signs alone", "[+, '-', ., .., +a, .a]", "[\"+\",\"-\",\".\",\"..\",\"+a\",\".a\"]"},
    {"single quotes", "'it''s \\n'", "\"it's \\\\n\""},
    {"double quotes", "\"a\\tb\\u00e9\\x41\\\\\"",
     "\"a\\tb\xc3\xa9"
     "A\\\\\""},
    {"folded inside quotes", "\"a\n  b\n\n  c\"", "\"a b\\nc\""},
    {"plain over two lines", "a: b\n  c\n", "{\"a\":\"b c\"}"},
    {"literal block", "a: |\n  x\n   y\n\n", "{\"a\":\"x\\n y\\n\"}"},
    {"literal block without its end", "a: |-\n  x\n  y\n", "{\"a\":\"x\\ny\"}"},
    {"literal block with all of its end", "a: |+\n  x\n\n", "{\"a\":\"x\\n\\n\"}"},
    {"folded block", "a: >\n  x\n  y\n", "{\"a\":\"x y\\n\"}"},
    {"a number in a block is text", "a: |-\n  12.10\n", "{\"a\":\"12.10\"}"},
    {"block and flow", "a:\n  - b: 1\n    c: [x, {d: 2}]\n  - []\n  - {}\n",
     "{\"a\":[{\"b\":1,\"c\":[\"x\",{\"d\":2}]},[],{}]}"},
    {"list at the column of its key", "a:\n- 1\n- 2\n", "{\"a\":[1,2]}"},
    {"comments", "# x\na: 1 # y\n\n  # z\nb: '#no' # yes\nc: d#e\n",
     "{\"a\":1,\"b\":\"#no\",\"c\":\"d#e\"}"},
    {"carriage returns", "a: 1\r\nb:\r\n  - c\r\n", "{\"a\":1,\"b\":[\"c\"]}"},
    {"explicit key", "? a\n: 1\n", "{\"a\":1}"},
    {"keys in quotes", "'on': 1\n\"\": 2\n'<<': 3\n'1': 4", "{\"\":2,\"1\":4,\"<<\":3,\"on\":1}"},
    {"not a comma and not a colon", "{a: b:c, d: 'e,f'}", "{\"a\":\"b:c\",\"d\":\"e,f\"}"},
    {"several documents", "a: 1\n---\nb: 2\n...\n---\n- c\n", "{\"a\":1}\n{\"b\":2}\n[\"c\"]"},
    {"a version of YAML", "%YAML 1.1\n---\na: 1\n", "{\"a\":1}"},
    {"JSON is YAML", "{\"a\": [1, true, null, \"x\\u0041\"]}", "{\"a\":[1,true,null,\"xA\"]}"},
    {"a byte order mark is skipped",
     "\xef\xbb\xbf"
     "a: 1",
     "{\"a\":1}"},
    {"beyond ASCII", "\xc3\xa9: \xf0\x9f\x98\x80", "{\"\xc3\xa9\":\"\xf0\x9f\x98\x80\"}"},
};

static void test_meanings(void)
{
    for (size_t i = 0; i < LKS_COUNT(meanings); i++) {
        lks_test_case("%s", meanings[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = {0};
        struct lks_err err = {0};
        if (!CHECK_CODE(canonical(lks_str_from(meanings[i].text), &out, &err), LKS_OK))
            printf("    %s\n", err.msg);
        CHECK_STR(lks_buf_view(&out), meanings[i].json);
    }
}

#define TRUTHY                                                                                     \
    "YAML 1.1 reads it as true or false, YAML 1.2 as text; for a switch write true or false"
#define OCTAL   "YAML 1.1 reads it as octal, YAML 1.2 as decimal"
#define BASED   "YAML 1.1 and 1.2 disagree on numbers with a base"
#define SIXTY   "YAML 1.1 reads it in base 60, YAML 1.2 as text"
#define DATE    "YAML 1.1 reads it as a date, YAML 1.2 as text"
#define NUMBER  "it would be read as a number, and 12.10 would become 12.1"
#define SPECIAL "it has a meaning of its own in YAML 1.1"

/* Plain scalars that are refused, and taken as text once they stand in quotes. */
static const struct {
    const char *reason;
    const char *scalars[32];
} ambiguous[] = {
    {TRUTHY, {"y",  "Y",   "n",   "N",   "yes",  "Yes",  "YES",   "no",    "No",  "NO", "on",  "On",
              "ON", "off", "Off", "OFF", "True", "TRUE", "False", "FALSE", "yEs", "oN", "tRUE"}},
    {OCTAL, {"010", "00", "-010", "+07", "0_7", "08", "0987654321"}},
    {BASED, {"0o7", "0b101", "-0x1F", "0x_1", "0O17"}},
    {BASED "; for a number write 31", {"0x1F", "0X1f"}},
    {BASED "; for a number write 32120", {"0x7d78"}},
    {SIXTY, {"1:30", "190:20:30", "-1:30", "1:30.5", "12:34:56"}},
    {DATE, {"2026-01-01", "2026-1-1", "2026-01-01T00:00:00Z", "2026-01-01 10:00:00"}},
    {NUMBER,
     {"12.10", "1e3", ".5", "-.5", "5.", "1.0", "1_000", "+5", "580.95.05", "1.2E+3", ".inf",
      "-.INF", ".NaN", "2026-11", "24.10-3"}},
    {SPECIAL, {"=", "<<"}},
};

static void check_ambiguous(const char *scalar, const char *reason)
{
    lks_test_case("%s", scalar);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf quoted = {0};
    char text[128], message[256];
    struct lks_err err = {0};
    snprintf(text, sizeof(text), "v:\n  - %s\n", scalar);
    snprintf(message, sizeof(message), "f.yaml:2:5: %s needs quotes (\"%s\"): %s", scalar, scalar,
             reason);
    CHECK_CODE(canonical(lks_str_from(text), &out, &err), LKS_E_INVALID);
    CHECK_STR(lks_str_from(err.msg), message);

    snprintf(text, sizeof(text), "v: '%s'\n", scalar);
    snprintf(message, sizeof(message), "{\"v\":\"%s\"}", scalar);
    CHECK_CODE(canonical(lks_str_from(text), &quoted, &err), LKS_OK);
    CHECK_STR(lks_buf_view(&quoted), message);
}

static void test_ambiguous(void)
{
    for (size_t i = 0; i < LKS_COUNT(ambiguous); i++) {
        for (size_t j = 0; ambiguous[i].scalars[j] != NULL; j++)
            check_ambiguous(ambiguous[i].scalars[j], ambiguous[i].reason);
    }
}

#define KEY_MESSAGE "a key that could be read as anything but text needs quotes"
#define ANCHORS     "anchors and tags are not read here; write the value out"

static const struct {
    const char *name;
    struct lks_str text;
    const char *message;
} refusals[] = {
    {"key: on", LKS_STR_C("on: 1"), "f.yaml:1:1: " KEY_MESSAGE},
    {"key: No", LKS_STR_C("a: 1\nNo: 1"), "f.yaml:2:1: " KEY_MESSAGE},
    {"key: true", LKS_STR_C("{a: {true: 1}}"), "f.yaml:1:6: " KEY_MESSAGE},
    {"key: null", LKS_STR_C("null: 1"), "f.yaml:1:1: " KEY_MESSAGE},
    {"key: nothing", LKS_STR_C("?\n: 1"), "f.yaml:1:2: " KEY_MESSAGE},
    {"key: number", LKS_STR_C("1: a"), "f.yaml:1:1: " KEY_MESSAGE},
    {"key: octal", LKS_STR_C("010: a"), "f.yaml:1:1: " KEY_MESSAGE},
    {"key: version", LKS_STR_C("12.10: a"), "f.yaml:1:1: " KEY_MESSAGE},
    {"key: date", LKS_STR_C("2026-01-01: a"), "f.yaml:1:1: " KEY_MESSAGE},
    {"merge key", LKS_STR_C("a:\n  <<: {b: 1}"),
     "f.yaml:2:3: merge keys are not read here; write the values out"},
    {"value key", LKS_STR_C("=: 1"),
     "f.yaml:1:1: merge keys are not read here; write the values out"},
    {"list as a key", LKS_STR_C("? [a]\n: 1"), "f.yaml:1:3: a key must be plain text"},
    {"map as a key", LKS_STR_C("{{a: 1}: 2}"), "f.yaml:1:2: a key must be plain text"},
    {"anchor", LKS_STR_C("a: &x 1"), "f.yaml:1:4: " ANCHORS},
    {"anchor of a list", LKS_STR_C("a: &x [1]"), "f.yaml:1:4: " ANCHORS},
    {"anchor of a map", LKS_STR_C("a: &x\n  b: 1"), "f.yaml:1:4: " ANCHORS},
    {"anchor of a key", LKS_STR_C("&x a: 1"), "f.yaml:1:1: " ANCHORS},
    {"alias", LKS_STR_C("a: *x"), "f.yaml:1:4: aliases are not read here; write the value out"},
    {"tag", LKS_STR_C("a: !!str 12.10"), "f.yaml:1:4: " ANCHORS},
    {"tag of our own", LKS_STR_C("a: !secret x"), "f.yaml:1:4: " ANCHORS},
    {"tag of a list", LKS_STR_C("!!set [a]"), "f.yaml:1:1: " ANCHORS},
    {"tag of a map", LKS_STR_C("a: !!map {}"), "f.yaml:1:4: " ANCHORS},
    {"duplicate key", LKS_STR_C("a: 1\nb: 2\na: 3"),
     "f.yaml:3:1: a: this key is already there, on line 1"},
    {"duplicate key in quotes", LKS_STR_C("x:\n  a: 1\n  'a': 1"),
     "f.yaml:3:3: x.a: this key is already there, on line 2"},
    {"duplicate key on one line", LKS_STR_C("[{a: 1, b: 2, a: 3}]"),
     "f.yaml:1:15: [1].a: this key is already there, on line 1"},
    {"more than 2^53 - 1", LKS_STR_C("a:\n  b: 9007199254740992"),
     "f.yaml:2:3: a.b: 9007199254740992 is beyond 2^53 - 1; quote it"},
    {"less than 1 - 2^53", LKS_STR_C("[-9007199254740992]"),
     "f.yaml:1:2: [1]: -9007199254740992 is beyond 2^53 - 1; quote it"},
    {"more than 64 bits", LKS_STR_C("99999999999999999999999"),
     "f.yaml:1:1: 99999999999999999999999 is beyond 2^53 - 1; quote it"},
    {"zero byte, escaped", LKS_STR_C("a: \"b\\0\""),
     "f.yaml:1:4: a zero byte has no place in text"},
    {"zero byte in a key", LKS_STR_C("\"\\0\": 1"), "f.yaml:1:1: a zero byte has no place in text"},
    {"zero byte", LKS_STR_C("a: \0b"), "f.yaml: byte 3: control characters are not allowed"},
    {"control character", LKS_STR_C("a: \007"),
     "f.yaml: byte 3: control characters are not allowed"},
    {"tab before a key", LKS_STR_C("a:\n\tb: 1"),
     "f.yaml:2:1: found character that cannot start any token"},
    {"not UTF-8", LKS_STR_C("a: \xff"), "f.yaml: byte 3: invalid leading UTF-8 octet"},
    {"overlong UTF-8", LKS_STR_C("\xc0\x80"), "f.yaml: byte 0: invalid length of a UTF-8 sequence"},
    {"half a character", LKS_STR_C("a: \xc3"), "f.yaml: byte 3: incomplete UTF-8 octet sequence"},
    {"surrogate in UTF-8", LKS_STR_C("\xed\xa0\x80"), "f.yaml: byte 0: invalid Unicode character"},
    {"UTF-16 with its mark",
     LKS_STR_C("\xff\xfe"
               "a\0:\0"),
     "f.yaml: byte 0: invalid leading UTF-8 octet"},
    {"UTF-16, the other end first", LKS_STR_C("\xfe\xff\0a\0:"),
     "f.yaml: byte 0: invalid leading UTF-8 octet"},
    {"left open", LKS_STR_C("a: [1,\n  2"), "f.yaml:3:1: did not find expected ',' or ']'"},
    {"quote left open", LKS_STR_C("a: 'b\n"), "f.yaml:2:1: found unexpected end of stream"},
    {"two values", LKS_STR_C("a: b: c"),
     "f.yaml:1:5: mapping values are not allowed in this context"},
    {"wrong indentation", LKS_STR_C("a:\n   b: 1\n  c: 2"),
     "f.yaml:3:3: did not find expected key"},
    {"a directive we do not know", LKS_STR_C("%YAML 3.0\n---\na: 1"),
     "f.yaml:1:1: found incompatible YAML document"},
};

static void test_refusals(void)
{
    for (size_t i = 0; i < LKS_COUNT(refusals); i++) {
        lks_test_case("%s", refusals[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = {0};
        struct lks_err err = {0};
        CHECK_CODE(canonical(refusals[i].text, &out, &err), LKS_E_INVALID);
        CHECK_STR(lks_str_from(err.msg), refusals[i].message);
    }
}

/* What may be a secret is not repeated, even where the reader knows nothing of manifests. */
static void test_secrets(void)
{
    static const char *const texts[] = {
        "credentials: 0123456",   "credentials: 99999999999999999999", "password: 1e5",
        "credentials: [0123456]", "a: {token: {x: 1}, secret: 0x1F}",
    };
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        lks_test_case("%s", texts[i]);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = {0};
        struct lks_err err = {0};
        CHECK_CODE(canonical(lks_str_from(texts[i]), &out, &err), LKS_E_INVALID);
        struct lks_str message = lks_str_from(err.msg);
        CHECK(lks_str_find(message, LKS_STR("0123456")) < 0);
        CHECK(lks_str_find(message, LKS_STR("9999999")) < 0);
        CHECK(lks_str_find(message, LKS_STR("1e5")) < 0);
        CHECK(lks_str_find(message, LKS_STR("0x1F")) < 0);
    }
}

/* Where each value stands: a member where its key does, anything else where it begins. */
static const struct {
    const char *name;
    const char *path; /* steps from the top: a member by its name, an element by its number */
    uint32_t line, column;
    enum lks_doc_kind kind;
    bool quoted;
} places[] = {
    {"top", "", 2, 1, LKS_DOC_MAP, false},
    {"number", "a", 2, 1, LKS_DOC_NUMBER, false},
    {"list", "b", 3, 1, LKS_DOC_LIST, false},
    {"map in a list", "b.1", 4, 5, LKS_DOC_MAP, false},
    {"member of it", "b.1.c", 4, 5, LKS_DOC_TEXT, true},
    {"the next member", "b.1.d", 5, 5, LKS_DOC_TEXT, true},
    {"plain text in a list", "b.2", 6, 5, LKS_DOC_TEXT, false},
    {"behind characters of several bytes", "e", 7, 1, LKS_DOC_MAP, false},
    {"in them", "e.g", 7, 14, LKS_DOC_BOOL, false},
    {"block", "h", 8, 1, LKS_DOC_TEXT, true},
    {"after a block", "i", 11, 1, LKS_DOC_NULL, false},
};

static const struct lks_doc *walk(const struct lks_doc *doc, const char *path)
{
    struct lks_str rest = lks_str_from(path), step;
    while (doc != NULL && rest.len > 0) {
        lks_str_cut(rest, '.', &step, &rest);
        uint64_t number = 0;
        bool element = lks_str_number(step, 100, &number);
        const struct lks_doc *child = doc->first;
        for (; child != NULL; child = child->next) {
            if (element ? --number == 0 : lks_str_eq(child->key, step))
                break;
        }
        doc = child;
    }
    return doc;
}

static void test_places(void)
{
    static const char text[] = "# first\n"
                               "a: 1\n"
                               "b:\n"
                               "  - c: 'x'\n"
                               "    d: \"y\"\n"
                               "  - z\n"
                               "e: {f: '\xc3\xa9\xf0\x9f\x98\x80', g: true}\n"
                               "h: |\n"
                               "  one\n"
                               "  two\n"
                               "i:\n";
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_docs_init(&docs, "f.yaml", &err), LKS_OK);
    if (!CHECK_CODE(lks_yaml_parse(lks_str_from(text), &docs, &err), LKS_OK))
        return;
    for (size_t i = 0; i < LKS_COUNT(places); i++) {
        lks_test_case("%s", places[i].name);
        const struct lks_doc *doc = walk(docs.first, places[i].path);
        if (!CHECK(doc != NULL))
            continue;
        CHECK_INT(doc->line, places[i].line);
        CHECK_INT(doc->column, places[i].column);
        CHECK_INT(doc->kind, places[i].kind);
        CHECK_INT(doc->quoted, places[i].quoted);
    }
}

static const struct {
    const char *name;
    const char *open;
    char close;
    int depth;
    const char *message; /* NULL when it is accepted */
} depths[] = {
    {"as deep as allowed", "[", ']', LKS_DOC_DEPTH_MAX, NULL},
    {"one list more", "[", ']', LKS_DOC_DEPTH_MAX + 1,
     "f.yaml:1:33: nested too deeply (32 levels at most)"},
    {"maps as deep as allowed", "{a: ", '}', LKS_DOC_DEPTH_MAX, NULL},
    {"one map more", "{a: ", '}', LKS_DOC_DEPTH_MAX + 1,
     "f.yaml:1:129: nested too deeply (32 levels at most)"},
    {"very deep", "[", ']', 100000, "f.yaml:1:33: nested too deeply (32 levels at most)"},
};

static void test_depth(void)
{
    for (size_t i = 0; i < LKS_COUNT(depths); i++) {
        lks_test_case("%s", depths[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(OUT_MAX);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = {0};
        struct lks_err err = {0};
        for (int j = 0; j < depths[i].depth; j++)
            lks_buf_add(&text, lks_str_from(depths[i].open));
        lks_buf_addc(&text, 'x');
        lks_buf_pad(&text, depths[i].close, depths[i].depth);
        bool fine = depths[i].message == NULL;
        CHECK_CODE(canonical(lks_buf_view(&text), &out, &err), fine ? LKS_OK : LKS_E_LIMIT);
        if (!fine)
            CHECK_STR(lks_str_from(err.msg), depths[i].message);
    }
}

static void test_size(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_DOC_BYTES_MAX + 1);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf more = {0};
    struct lks_err err = {0};
    lks_buf_pad(&text, '#', LKS_DOC_BYTES_MAX);
    CHECK_CODE(canonical(lks_buf_view(&text), &out, &err), LKS_OK);
    lks_buf_addc(&text, '#');
    CHECK_CODE(canonical(lks_buf_view(&text), &more, &err), LKS_E_LIMIT);
    CHECK_STR(lks_str_from(err.msg), "f.yaml: more than 8388608 bytes");
}

/* The ceiling of memory is a limit of the file, told with its name; for a value and for a key. */
static void test_full(void)
{
    static const char *const texts[] = {"[x, y, z]", "{key: {key: {key: x}}}"};
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        for (size_t room = 0; room < 2 * sizeof(struct lks_doc); room += 16) {
            lks_test_case("%s with %zu bytes", texts[i], room);
            LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
            struct lks_err err = {0};
            CHECK_CODE(lks_docs_init(&docs, "f.yaml", &err), LKS_OK);
            docs.arena.max = docs.arena.used + room;
            CHECK_CODE(lks_yaml_parse(lks_str_from(texts[i]), &docs, &err), LKS_E_LIMIT);
            CHECK_HAS(lks_str_from(err.msg), "f.yaml: needs more than the ");
        }
    }
}

/* Written ----------------------------------------------------------------------------------- */

/* `json` as YAML, and that read back as canonical JSON. */
static void write_and_read(struct lks_str json, struct lks_buf *yaml, struct lks_buf *back)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    lks_buf_init(yaml, OUT_MAX);
    CHECK_CODE(lks_docs_init(&docs, "f.json", &err), LKS_OK);
    CHECK_CODE(lks_json_parse(json, &docs, &err), LKS_OK);
    CHECK_CODE(lks_yaml_write(docs.first, yaml, &err), LKS_OK);
    CHECK_CODE(canonical(lks_buf_view(yaml), back, &err), LKS_OK);
    CHECK_STR(lks_str_from(err.msg), "");
}

static const struct {
    const char *name;
    const char *json; /* canonical */
    const char *yaml;
} written[] = {
    {"text", "{\"a\":\"gold\"}", "a: gold\n"},
    {"truth, null and a number", "{\"a\":true,\"b\":null,\"c\":-7}", "a: true\nb: null\nc: -7\n"},
    {"text that reads as truth", "{\"a\":\"true\",\"b\":\"No\"}", "a: 'true'\nb: 'No'\n"},
    {"text that reads as a number", "{\"a\":\"12.10\",\"b\":\"007\"}", "a: '12.10'\nb: '007'\n"},
    {"a time", "{\"a\":\"2026-11-15T03:37:00Z\"}", "a: '2026-11-15T03:37:00Z'\n"},
    {"a key that reads as truth", "{\"on\":1}", "'on': 1\n"},
    {"no text", "{\"a\":\"\"}", "a: ''\n"},
    {"a list of maps", "{\"a\":[{\"b\":1,\"c\":2},{\"b\":3}]}", "a:\n- b: 1\n  c: 2\n- b: 3\n"},
    {"nothing in a list and in a map", "{\"a\":[],\"b\":{}}", "a: []\nb: {}\n"},
    {"characters with a meaning", "{\"a\":\"b: #c\",\"d\":\"- e\",\"f\":\"*g\"}",
     "a: 'b: #c'\nd: '- e'\nf: '*g'\n"},
    {"several lines", "{\"a\":\"b\\n c\\n\"}", "a: \"b\\n c\\n\"\n"},
    {"a control character", "{\"a\":\"\\u001b[31m\"}", "a: \"\\e[31m\"\n"},
    {"letters of others", "{\"a\":\"\xc3\xa9\"}", "a: \xc3\xa9\n"},
    {"a line longer than a screen",
     "{\"a\":\"one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
     "fifteen\"}",
     "a: one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
     "fifteen\n"},
};

static void test_written(void)
{
    for (size_t i = 0; i < LKS_COUNT(written); i++) {
        lks_test_case("%s", written[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf yaml = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf back = {0};
        write_and_read(lks_str_from(written[i].json), &yaml, &back);
        CHECK_STR(lks_buf_view(&yaml), written[i].yaml);
        CHECK_STR(lks_buf_view(&back), written[i].json);
    }
}

/* Any text of a few characters that have a meaning somewhere in YAML reads back as itself, as a
 * value and as a key. */
static void test_written_any(void)
{
    static const char letters[] = "aynol01.:-_ #'\"[]{},&*!|>%@`?=~+eExXtTrRuU\n\t\\/Z";
    struct lks_rng rng = {25};
    for (int i = 0; i < 20000; i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(OUT_MAX);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf yaml = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf back = {0};
        char text[8];
        size_t len = lks_rng_below(&rng, sizeof(text));
        for (size_t k = 0; k < len; k++)
            text[k] = letters[lks_rng_below(&rng, sizeof(letters) - 1)];
        lks_buf_add(&json, LKS_STR("{"));
        lks_json_string(&json, (struct lks_str){text, len});
        lks_buf_add(&json, LKS_STR(":["));
        lks_json_string(&json, (struct lks_str){text, len});
        lks_buf_add(&json, LKS_STR("]}"));
        lks_test_case("%s", json.ptr);
        write_and_read(lks_buf_view(&json), &yaml, &back);
        CHECK_STR(lks_buf_view(&back), json.ptr);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"yaml: meanings", test_meanings},
        {"yaml: ambiguous scalars", test_ambiguous},
        {"yaml: refusals", test_refusals},
        {"yaml: secrets are not repeated", test_secrets},
        {"yaml: places", test_places},
        {"yaml: depth", test_depth},
        {"yaml: size", test_size},
        {"yaml: memory", test_full},
        {"yaml: written", test_written},
        {"yaml: any text is written", test_written_any},
        {0},
    });
}
