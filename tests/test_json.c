#include "codec/format/json.h"

#include "base/rng.h"
#include "tests/test.h"

enum { OUT_MAX = 16 * 1024 * 1024, TREES = 2000, NAMES = 20000 };

static enum lks_code canonical(struct lks_str text, struct lks_buf *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    lks_buf_init(out, OUT_MAX);
    if (lks_docs_init(&docs, "f.json", err) != LKS_OK || lks_json_parse(text, &docs, err) != LKS_OK)
        return err->code;
    CHECK_INT(docs.count, 1);
    return lks_json_canonical(docs.first, out, err);
}

static const struct {
    const char *name;
    const char *text;
    const char *canonical; /* NULL where it is refused */
    const char *message;   /* then */
} texts[] = {
    {"null", "null", "null", NULL},
    {"truth", " [true ,\tfalse]\r\n", "[true,false]", NULL},
    {"numbers", "[0,-0,7,-9007199254740991,9007199254740991]",
     "[0,0,7,-9007199254740991,9007199254740991]", NULL},
    {"empty", "[{},[],\"\"]", "[{},[],\"\"]", NULL},
    {"nested", "{\"b\":[1,{\"c\":null}],\"a\":{}}", "{\"a\":{},\"b\":[1,{\"c\":null}]}", NULL},
    {"empty name", "{\"a\":1,\"\":2}", "{\"\":2,\"a\":1}", NULL},
    {"name that begins another", "{\"ab\":1,\"a\":2}", "{\"a\":2,\"ab\":1}", NULL},
    {"version stays text", "\"12.10\"", "\"12.10\"", NULL},
    /* RFC 8785, 3.2.2.2 */
    {"rfc 8785 string", "\"\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\\"\\/\"",
     "\"\xe2\x82\xac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"", NULL},
    /* RFC 8785, 3.2.3 */
    {"rfc 8785 order",
     "{\"\\u20ac\":\"Euro Sign\",\"\\r\":\"Carriage Return\","
     "\"\\ufb33\":\"Hebrew Letter Dalet With Dagesh\",\"1\":\"One\","
     "\"\\ud83d\\ude00\":\"Emoji: Grinning Face\",\"\\u0080\":\"Control\","
     "\"\\u00f6\":\"Latin Small Letter O With Diaeresis\"}",
     "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\xc2\x80\":\"Control\","
     "\"\xc3\xb6\":\"Latin Small Letter O With Diaeresis\",\"\xe2\x82\xac\":\"Euro Sign\","
     "\"\xf0\x9f\x98\x80\":\"Emoji: Grinning Face\","
     "\"\xef\xac\xb3\":\"Hebrew Letter Dalet With Dagesh\"}",
     NULL},
    {"control characters", "\"\\b\\t\\n\\f\\r\\u0001\\u001f\\u007f\"",
     "\"\\b\\t\\n\\f\\r\\u0001\\u001f\x7f\"", NULL},

    {"no text", "", NULL, "f.json:1:1: unexpected token near end of file"},
    {"left open", "{\"a\":\n [1", NULL, "f.json:2:3: ']' expected near end of file"},
    {"comma at the end", "[1,]", NULL, "f.json:1:4: unexpected token"},
    {"two values", "1 2", NULL, "f.json:1:3: end of file expected"},
    {"duplicate name", "{\"a\":1,\n\"a\":2}", NULL, "f.json:2:3: duplicate object key"},
    {"duplicate name, escaped", "{\"a\":1,\"\\u0061\":2}", NULL,
     "f.json:1:15: duplicate object key"},
    {"byte order mark", "\xef\xbb\xbf{}", NULL, "f.json:1:1: invalid token"},
    {"not UTF-8", "\"\xff\"", NULL, "f.json:1:1: unable to decode byte 0xff"},
    {"half a surrogate pair", "\"\\ud800\"", NULL, "f.json:1:8: invalid Unicode '\\uD800'"},
    {"raw control character", "\"a\001\"", NULL, "f.json:1:2: control character 0x1"},
    {"zero byte in text", "\"a\\u0000b\"", NULL, "f.json:1:10: a zero byte has no place in text"},
    {"zero byte in a name", "{\"\\u0000\":1}", NULL,
     "f.json:1:9: a zero byte has no place in text"},
    {"more than 64 bits", "99999999999999999999", NULL,
     "f.json:1:20: a number beyond 2^53 - 1; quote it"},
    {"more than 53 bits", "{\"a\":[0,9007199254740992]}", NULL,
     "f.json: a[2]: a number beyond 2^53 - 1; quote it"},
    {"less than -53 bits", "-9007199254740992", NULL, "f.json: a number beyond 2^53 - 1; quote it"},
    {"fraction", "{\"driver\":{\"version\":12.10}}", NULL,
     "f.json: driver.version: a number with a fraction or an exponent; quote it"},
    {"whole number with an exponent", "[1e3]", NULL,
     "f.json: [1]: a number with a fraction or an exponent; quote it"},
    {"huge exponent", "1e999", NULL, "f.json:1:5: a number beyond 2^53 - 1; quote it"},
    {"not a number", "NaN", NULL, "f.json:1:3: invalid token"},
    {"comment", "// x\n1", NULL, "f.json:1:1: invalid token"},
    {"single quotes", "{'a':1}", NULL, "f.json:1:2: string or '}' expected"},
};

static void test_texts(void)
{
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        lks_test_case("%s", texts[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = {0};
        struct lks_err err = {0};
        enum lks_code code = canonical(lks_str_from(texts[i].text), &out, &err);
        CHECK_CODE(code, texts[i].canonical != NULL ? LKS_OK : LKS_E_INVALID);
        if (texts[i].canonical != NULL)
            CHECK_STR(lks_buf_view(&out), texts[i].canonical);
        else
            CHECK_STR(lks_str_from(err.msg), texts[i].message);
    }
}

static const struct {
    const char *name;
    struct lks_str text;
    const char *message;
} zeroes[] = {
    {"after the value", LKS_STR_C("{}\0"), "f.json:1:3: a zero byte has no place in text"},
    {"before the value", LKS_STR_C("\0{}"), "f.json:1:1: a zero byte has no place in text"},
    {"in a string", LKS_STR_C("\"\xc3\xa9\0\""), "f.json:1:3: a zero byte has no place in text"},
    {"after a number", LKS_STR_C("[\n\n1\0]"), "f.json:3:2: a zero byte has no place in text"},
    {"no bytes at all", {NULL, 0}, "f.json:1:1: unexpected token near end of file"},
};

static void test_zero_bytes(void)
{
    for (size_t i = 0; i < LKS_COUNT(zeroes); i++) {
        lks_test_case("%s", zeroes[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = {0};
        struct lks_err err = {0};
        CHECK_CODE(canonical(zeroes[i].text, &out, &err), LKS_E_INVALID);
        CHECK_STR(lks_str_from(err.msg), zeroes[i].message);
    }
}

/* What is wrong is told, and never what stands there: it may be a secret. */
static const char *const secrets[] = {
    "{\"password\":hunter2}",
    "{\"password\":'hunter2'}",
    "{\"password\":\"hunter2\"",
    "{\"password\":\"hunter2",
    "{\"password\":\"hunter2\"]",
    "{\"password\" \"hunter2\"}",
    "{\"password\":\"hunter2\",}",
    "{\"password\":\"hunter2\" near 'hunter2'}",
    "{\"password\":\" near 'hunter2\" x}",
    "{\"password\":\"hunter2\\q\"}",
    "{\"password\":\"hunter2\\u12\"}",
    "{\"password\":\"hunter2\\ud800\"}",
    "{\"password\":\"hunter2\001\"}",
    "{\"password\":\"hunter2\n\"}",
    "{\"password\":\"hunter2\xff\"}",
    "{\"password\":\"hunter2\xc3\"}",
    "{\"a\":\"hunter2\",\"a\":\"hunter2\"}",
    "{\"hunter2\":1,\"hunter2\":2}",
    "{\"hunter2\" 1}",
    "{hunter2:1}",
    "[\"hunter2\" \"hunter2\"]",
    "\"hunter2\" \"hunter2\"",
    "hunter2",
    "{\"password\":\"hunter2\\u0000\"}",
    "{\"password\":9012345678901234}",
    "{\"password\":[9012345678901234]}",
    "{\"password\":90123456789012345678901234}",
    "{\"password\":90123456789012345.5}",
    "{\"password\":09012345678901234}",
};

static void test_secrets(void)
{
    for (size_t i = 0; i < LKS_COUNT(secrets); i++) {
        lks_test_case("%s", secrets[i]);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = {0};
        struct lks_err err = {0};
        CHECK_CODE(canonical(lks_str_from(secrets[i]), &out, &err), LKS_E_INVALID);
        struct lks_str message = lks_str_from(err.msg);
        CHECK(message.len > 0);
        CHECK(lks_str_find(message, LKS_STR("hunter2")) < 0);
        CHECK(lks_str_find(message, LKS_STR("90123")) < 0);
    }
}

/* `depth` lists around a number, or maps. */
static void add_nested(struct lks_buf *out, const char *open, char close, int depth)
{
    for (int i = 0; i < depth; i++)
        lks_buf_add(out, lks_str_from(open));
    lks_buf_addc(out, '0');
    lks_buf_pad(out, close, depth);
}

static void test_depth(void)
{
    static const struct {
        const char *open;
        char close;
        int depth;
        enum lks_code code;
    } rows[] = {
        {"[", ']', LKS_DOC_DEPTH_MAX, LKS_OK},
        {"[", ']', LKS_DOC_DEPTH_MAX + 1, LKS_E_LIMIT},
        {"{\"a\":", '}', LKS_DOC_DEPTH_MAX, LKS_OK},
        {"{\"a\":", '}', LKS_DOC_DEPTH_MAX + 1, LKS_E_LIMIT},
        {"[", ']', 100000, LKS_E_LIMIT},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%d times %s", rows[i].depth, rows[i].open);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(OUT_MAX);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = {0};
        struct lks_err err = {0};
        add_nested(&text, rows[i].open, rows[i].close, rows[i].depth);
        CHECK_CODE(canonical(lks_buf_view(&text), &out, &err), rows[i].code);
        if (rows[i].code == LKS_OK)
            CHECK(lks_str_eq(lks_buf_view(&out), lks_buf_view(&text)));
        else
            CHECK_STR(lks_str_from(err.msg), "f.json: nested too deeply (32 levels at most)");
    }
}

static void test_size(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(OUT_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = {0};
    struct lks_err err = {0};
    lks_buf_addc(&text, '1');
    lks_buf_pad(&text, ' ', LKS_DOC_BYTES_MAX - 1);
    CHECK_CODE(canonical(lks_buf_view(&text), &out, &err), LKS_OK);
    CHECK_STR(lks_buf_view(&out), "1");
    lks_buf_addc(&text, ' ');
    lks_buf_fini(&out);
    CHECK_CODE(canonical(lks_buf_view(&text), &out, &err), LKS_E_LIMIT);
    CHECK_STR(lks_str_from(err.msg), "f.json: more than 8388608 bytes");
}

/* What the parser hands on besides the values. */
static void test_document(void)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    if (!CHECK_CODE(lks_docs_init(&docs, "f.json", &err), LKS_OK) ||
        !CHECK_CODE(lks_json_parse(LKS_STR("{\"v\":\"1.0\",\"list\":[1,2]}"), &docs, &err), LKS_OK))
        return;
    const struct lks_doc *list = lks_doc_member(docs.first, "list");
    const struct lks_doc *v = lks_doc_member(docs.first, "v");
    CHECK_INT(docs.first->count, 2);
    if (CHECK(list != NULL))
        CHECK_INT(list->count, 2);
    if (CHECK(v != NULL)) {
        CHECK_STR(v->text, "1.0");
        CHECK(v->quoted);
        CHECK_INT(v->line, 0);
    }
}

static const struct {
    const char *name;
    struct lks_str text;
    const char *json;
} strings[] = {
    {"empty", LKS_STR_C(""), "\"\""},
    {"plain", LKS_STR_C("gpu001"), "\"gpu001\""},
    {"quote and backslash", LKS_STR_C("\"\\"), "\"\\\"\\\\\""},
    {"slash stays", LKS_STR_C("a/b"), "\"a/b\""},
    {"zero byte", LKS_STR_C("a\0b"), "\"a\\u0000b\""},
    {"lower-case hexadecimal", LKS_STR_C("\x1f\v"), "\"\\u001f\\u000b\""},
    {"UTF-8 stays", LKS_STR_C("\xf0\x9f\x98\x80"), "\"\xf0\x9f\x98\x80\""},
    {"line separator stays", LKS_STR_C("\xe2\x80\xa8"), "\"\xe2\x80\xa8\""},
    {"stray byte", LKS_STR_C("a\xff\n"), "\"a\xef\xbf\xbd\\n\""},
    {"cut sequence", LKS_STR_C("\xe2\x82"), "\"\xef\xbf\xbd\xef\xbf\xbd\""},
    {"surrogate", LKS_STR_C("\xed\xa0\x80z"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\""},
};

static void test_strings(void)
{
    for (size_t i = 0; i < LKS_COUNT(strings); i++) {
        lks_test_case("%s", strings[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(OUT_MAX);
        lks_json_string(&out, strings[i].text);
        CHECK_STR(lks_buf_view(&out), strings[i].json);
    }
}

static void test_by_hand(void)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(OUT_MAX);
    struct lks_err err = {0};
    if (!CHECK_CODE(lks_docs_init(&docs, "hand", &err), LKS_OK))
        return;

    struct lks_doc *map = lks_doc_add(&docs, NULL, LKS_DOC_MAP);
    for (int i = 0; i < 2; i++)
        lks_doc_add(&docs, map, LKS_DOC_NULL)->key = LKS_STR("same");
    CHECK_CODE(lks_json_canonical(map, &out, &err), LKS_E_INVALID);
    CHECK_STR(lks_str_from(err.msg), "two members called 'same'");

    struct lks_doc *deep = lks_doc_add(&docs, NULL, LKS_DOC_LIST), *inner = deep;
    for (int i = 0; i < LKS_DOC_DEPTH_MAX; i++)
        inner = lks_doc_add(&docs, inner, LKS_DOC_LIST);
    CHECK_CODE(lks_json_canonical(deep, &out, &err), LKS_OK);
    lks_doc_add(&docs, inner, LKS_DOC_NULL);
    CHECK_CODE(lks_json_canonical(deep, &out, &err), LKS_E_LIMIT);

    LKS_CLEANUP(lks_buf_fini) struct lks_buf small = LKS_BUF(8);
    CHECK_CODE(lks_json_canonical(deep->first, &small, &err), LKS_E_LIMIT);
}

static void test_writer(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(OUT_MAX);
    struct lks_json_writer w = {.out = &out};
    lks_json_begin(&w, NULL, '{');
    lks_json_cstr(&w, "na\"me", "gpu001");
    lks_json_text(&w, "raw", LKS_STR("\t"));
    lks_json_int(&w, "least", INT64_MIN);
    lks_json_begin(&w, "list", '[');
    lks_json_begin(&w, NULL, '[');
    lks_json_end(&w, ']');
    lks_json_bool(&w, NULL, true);
    lks_json_bool(&w, NULL, false);
    lks_json_null(&w, NULL);
    lks_json_end(&w, ']');
    lks_json_raw(&w, "is", LKS_STR("{\"a\":1}"));
    lks_json_some(&w, "some", LKS_STR("text"));
    lks_json_some(&w, "empty", LKS_STR(""));
    lks_json_end(&w, '}');
    CHECK_STR(lks_buf_view(&out), "{\"na\\\"me\":\"gpu001\",\"raw\":\"\\t\","
                                  "\"least\":-9223372036854775808,"
                                  "\"list\":[[],true,false,null],\"is\":{\"a\":1},"
                                  "\"some\":\"text\"}");
}

/* What each template writes into an object that has one member. */
static void check_template(const char *name, struct lks_buf *out, const char *expected)
{
    lks_test_case("%s", name);
    CHECK_STR(lks_buf_view(out), expected);
    lks_buf_truncate(out, 0);
    lks_buf_add(out, LKS_STR("{\"a\":1"));
}

#define TEMPLATE(name, expected, ...)                                                              \
    do {                                                                                           \
        struct lks_json_writer w = {.out = &out, .need_comma = true};                              \
        lks_json_write(&w, __VA_ARGS__);                                                           \
        check_template(name, &out, "{\"a\":1" expected);                                           \
    } while (0)

static void test_template(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(OUT_MAX);
    struct lks_str view = LKS_STR("gpu001");
    lks_buf_add(&out, LKS_STR("{\"a\":1"));
    TEMPLATE("words", ",\"b\":[1,true,null,\"x y\"]}", "'b': [1, true, null, 'x y']}");
    TEMPLATE("an object of its own", ",\"b\":{\"c\":{},\"d\":[]}", "'b': {'c': {}, 'd': []}");
    TEMPLATE("left open", ",\"b\":[{\"c\":2", "'b': [{'c': 2");
    TEMPLATE("closed", "},3]", "}, 3]");
    TEMPLATE("numbers", ",\"b\":-1,\"c\":2,\"d\":-9223372036854775808,\"e\":18446744073709551615",
             "'b': %d, 'c': %zu, 'd': %ld, 'e': %lu", -1, (size_t)2, INT64_MIN, UINT64_MAX);
    TEMPLATE("texts", ",\"b\":\"/nodes/gpu001\",\"gpu001\":\"a\\\"b\\n%1 {it's}\"",
             "'b': '/nodes/%.*s', '%.*s': '%s'", LKS_STR_ARG(view), LKS_STR_ARG(view),
             "a\"b\n%1 {it's}");
    TEMPLATE("values that are JSON", ",\"b\":true,\"c\":[1,2]", "'b': %s, 'c': %.*s",
             LKS_JSON_TRUTH(true), 5, "[1,2]");
    TEMPLATE("a number in a text", ",\"b\":\"7/8\"", "'b': '%u/%u'", 7, 8);
    TEMPLATE("left out where empty", ",\"e\":\"x\",\"f\":\"\",\"g\":1",
             "'b'?: '%s', 'c'?: %d, 'd'?: %s, 'e'?: '%s', 'f': '', 'g'?: 1, 'h'?: ''", "", 0,
             LKS_JSON_TRUTH(false), "x");
    TEMPLATE("left out at the beginning", ",\"b\":{\"d\":1}", "'b': {'c'?: '', 'd': 1}");
    TEMPLATE("not UTF-8", ",\"b\":\"\xef\xbf\xbd\"", "'b': '%s'", "\xff");
    TEMPLATE("an empty view", ",\"b\":\"\"", "'b': '%.*s'", LKS_STR_ARG((struct lks_str){0}));
}

/* The definition, for comparison: as UTF-16, unit by unit. */
static size_t to_utf16(const uint32_t *points, size_t count, uint16_t *out)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t p = points[i];
        if (p >= 0x10000)
            out[n++] = (uint16_t)(0xd800 + ((p - 0x10000) >> 10));
        out[n++] = (uint16_t)(p < 0x10000 ? p : 0xdc00 + ((p - 0x10000) & 0x3ff));
    }
    return n;
}

static void add_utf8(struct lks_buf *out, uint32_t p)
{
    static const struct {
        uint32_t below, lead;
        int tail;
    } forms[] = {{0x80, 0, 0}, {0x800, 0xc0, 1}, {0x10000, 0xe0, 2}, {0x110000, 0xf0, 3}};
    size_t f = 0;
    while (p >= forms[f].below)
        f++;
    lks_buf_addc(out, (char)(forms[f].lead | p >> 6 * forms[f].tail));
    for (int i = forms[f].tail - 1; i >= 0; i--)
        lks_buf_addc(out, (char)(0x80 | (p >> 6 * i & 0x3f)));
}

struct name {
    struct lks_buf utf8;
    uint16_t units[8];
    size_t count;
};

static void random_name(struct lks_rng *rng, struct name *name)
{
    /* Both sides of every boundary at which the two encodings could disagree. */
    static const uint32_t near[] = {'a',     0x7f,    0x80,     0x7ff,   0x800,   0xd7ff,
                                    0xe000,  0xefff,  0xf000,   0xffff,  0x10000, 0x3ffff,
                                    0x40000, 0xfffff, 0x100000, 0x10ffff};
    uint32_t points[4];
    size_t count = lks_rng_below(rng, LKS_COUNT(points) + 1);
    lks_buf_init(&name->utf8, 64);
    for (size_t i = 0; i < count; i++) {
        points[i] = near[lks_rng_below(rng, LKS_COUNT(near))];
        add_utf8(&name->utf8, points[i]);
    }
    name->count = to_utf16(points, count, name->units);
}

static int units_cmp(const struct name *a, const struct name *b)
{
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        if (a->units[i] != b->units[i])
            return a->units[i] < b->units[i] ? -1 : 1;
    }
    return (a->count > b->count) - (a->count < b->count);
}

static void test_key_order(void)
{
    for (uint64_t seed = 0; seed < NAMES; seed++) {
        lks_test_case("seed %u", (unsigned)seed);
        struct lks_rng rng = {seed};
        struct name a, b;
        random_name(&rng, &a);
        random_name(&rng, &b);
        int order = lks_json_key_cmp(lks_buf_view(&a.utf8), lks_buf_view(&b.utf8));
        CHECK_INT((order > 0) - (order < 0), units_cmp(&a, &b));
        lks_buf_fini(&a.utf8);
        lks_buf_fini(&b.utf8);
    }
}

/* Random JSON with blanks and escapes where they may stand, names in any order. */
static void random_json(struct lks_rng *rng, int depth, struct lks_buf *out)
{
    static const char *const scalars[] = {
        "null",
        "true",
        "false",
        "0",
        "-12",
        " 9007199254740991",
        "\"\"",
        "\"\\u0041\\/\"",
        "\"\\ud83d\\ude00\\u0007\"",
        "\"\xc3\xa9\" ",
    };
    unsigned kind = depth == 0 ? 0 : (unsigned)lks_rng_below(rng, 3);
    if (kind == 0) {
        lks_buf_add(out, lks_str_from(scalars[lks_rng_below(rng, LKS_COUNT(scalars))]));
        return;
    }
    size_t count = lks_rng_below(rng, 5);
    lks_buf_addc(out, kind == 1 ? '[' : '{');
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            lks_buf_add(out, LKS_STR(",\n"));
        if (kind == 2)
            lks_buf_addf(out, "\"%c%zu\" : ", (char)('a' + lks_rng_below(rng, 26)), i);
        random_json(rng, depth - 1, out);
    }
    lks_buf_addc(out, kind == 1 ? ']' : '}');
}

static void test_canonical_again(void)
{
    for (uint64_t seed = 0; seed < TREES; seed++) {
        lks_test_case("seed %u", (unsigned)seed);
        struct lks_rng rng = {seed};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(OUT_MAX);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf once = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf twice = {0};
        struct lks_err err = {0};
        random_json(&rng, 5, &text);
        CHECK_CODE(canonical(lks_buf_view(&text), &once, &err), LKS_OK);
        CHECK_CODE(canonical(lks_buf_view(&once), &twice, &err), LKS_OK);
        CHECK(lks_str_eq(lks_buf_view(&once), lks_buf_view(&twice)));
    }
}

static size_t count_values(const struct lks_doc *doc)
{
    size_t count = 1;
    for (const struct lks_doc *d = doc->first; d != NULL; d = d->next)
        count += count_values(d);
    return count;
}

/* Never fewer than there are, for any text that parses; commas and brackets in strings are none. */
static void test_values(void)
{
    static const struct {
        const char *text;
        size_t most;
    } known[] = {{"1", 1}, {"[]", 2}, {"[1,2,3]", 4}, {"\"a,[{\"", 1}, {"{\"a\\\",\":[1]}", 3},
                 {"", 1}};
    for (size_t i = 0; i < LKS_COUNT(known); i++) {
        lks_test_case("%s", known[i].text);
        CHECK_INT(lks_json_values(lks_str_from(known[i].text)), known[i].most);
    }
    for (unsigned seed = 1; seed <= 200; seed++) {
        lks_test_case("seed %u", seed);
        struct lks_rng rng = {seed};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(OUT_MAX);
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        struct lks_err err = {0};
        random_json(&rng, 5, &text);
        CHECK_CODE(lks_docs_init(&docs, "json", &err), LKS_OK);
        CHECK_CODE(lks_json_parse(lks_buf_view(&text), &docs, &err), LKS_OK);
        CHECK(lks_json_values(lks_buf_view(&text)) >= count_values(docs.first));
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"json texts", test_texts},
        {"json zero bytes", test_zero_bytes},
        {"json secrets", test_secrets},
        {"json depth", test_depth},
        {"json size", test_size},
        {"json document", test_document},
        {"json strings", test_strings},
        {"json by hand", test_by_hand},
        {"json writer", test_writer},
        {"json templates", test_template},
        {"json key order", test_key_order},
        {"json canonical again", test_canonical_again},
        {"json values", test_values},
        {0},
    });
}
