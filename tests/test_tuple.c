#include "model/tuple/tuple.h"

#include "base/rng.h"
#include "tests/test.h"
#include "tests/tuples.h"

#include <stdio.h>

enum { TEXT_MAX = 1024 * 1024, TUPLES = 500 };

/* Adding ------------------------------------------------------------------------------------ */

/* A byte for each that does not print; nothing else is changed. */
static const struct {
    const char *name;
    struct lks_str in;
    const char *out;
} texts[] = {
    {"plain", LKS_STR_C("580.126.20"), "580.126.20"},
    {"nothing", LKS_STR_C(""), ""},
    {"letters of all kinds", LKS_STR_C("caf\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80"),
     "caf\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80"},
    {"escape sequence", LKS_STR_C("a\x1b[2Jb"), "a?[2Jb"},
    {"line ends and tabs", LKS_STR_C("a\r\nb\tc"), "a??b?c"},
    {"zero byte", LKS_STR_C("a\0b"), "a?b"},
    {"not UTF-8", LKS_STR_C("a\xff\xc3"), "a??"},
    {"overlong", LKS_STR_C("\xc0\xaf"), "??"},
    {"turns direction",
     LKS_STR_C("a\xe2\x80\xae"
               "b"),
     "a???b"},
};

static void test_texts(void)
{
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
        struct lks_err err = {0};
        lks_test_case("%s", texts[i].name);
        lks_tuple_init(&t);
        t.node = texts[i].in;
        t.boot_id = texts[i].in;
        lks_tuple_add(&t, &(struct lks_reading){.name = LKS_STR("kernel"),
                                                .of = texts[i].in,
                                                .part = texts[i].in,
                                                .value = texts[i].in,
                                                .evidence = texts[i].in});
        if (!CHECK_CODE(lks_tuple_finish(&t, &err), LKS_OK) || !CHECK_INT(t.count, 1))
            continue;
        CHECK_STR(t.node, texts[i].out);
        CHECK_STR(t.boot_id, texts[i].out);
        CHECK_STR(t.readings[0].of, texts[i].out);
        CHECK_STR(t.readings[0].part, texts[i].out);
        CHECK_STR(t.readings[0].value, texts[i].out);
        CHECK_STR(t.readings[0].evidence, texts[i].out);
    }
}

static void test_cut(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf longest = LKS_BUF(TEXT_MAX);
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
    struct lks_err err = {0};
    /* A character of two bytes lies across each limit. */
    lks_buf_addc(&longest, 'n');
    while (longest.len < 3 * LKS_READING_VALUE_MAX)
        lks_buf_add(&longest, LKS_STR("\xc3\xa9"));
    struct lks_str s = lks_buf_view(&longest);
    lks_tuple_init(&t);
    lks_tuple_add(&t, &(struct lks_reading){s, s, s, LKS_MEASURED, s, s, NULL});
    if (!CHECK_CODE(lks_tuple_finish(&t, &err), LKS_OK))
        return;
    CHECK_INT(t.readings[0].name.len, LKS_READING_NAME_MAX - 1);
    CHECK_INT(t.readings[0].of.len, LKS_READING_NAME_MAX - 1);
    CHECK_INT(t.readings[0].part.len, LKS_READING_NAME_MAX - 1);
    CHECK_INT(t.readings[0].value.len, LKS_READING_VALUE_MAX - 1);
    CHECK_INT(t.readings[0].evidence.len, LKS_READING_VALUE_MAX - 1);
    CHECK(lks_str_printable(t.readings[0].value));
}

static void test_limits(void)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple many = {0};
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple large = {0};
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple few = {0};
    struct lks_err err = {0};
    char value[LKS_READING_VALUE_MAX];
    memset(value, 'x', sizeof(value));
    lks_tuple_init(&many);
    lks_tuple_init(&large);
    lks_tuple_init(&few);
    lks_tuple_add(&few, &(struct lks_reading){.value = LKS_STR("of nothing")});
    CHECK_CODE(lks_tuple_finish(&few, &err), LKS_OK);
    CHECK_INT(few.count, 0);
    for (unsigned i = 0; i <= LKS_TUPLE_READINGS_MAX; i++) {
        char of[32];
        snprintf(of, sizeof(of), "gpu %u", i);
        struct lks_reading r = {.name = LKS_STR("settings.ecc"), .of = lks_str_from(of)};
        lks_tuple_add(&many, &r);
        memcpy(value, of, strlen(of));
        r.value = (struct lks_str){value, sizeof(value)};
        lks_tuple_add(&large, &r);
        if (i + 1 == LKS_TUPLE_READINGS_MAX)
            CHECK_CODE(many.failed, LKS_OK);
    }
    CHECK_CODE(lks_tuple_finish(&many, &err), LKS_E_LIMIT);
    CHECK_HAS(lks_str_from(err.msg), "more than 16384 readings");
    CHECK_CODE(lks_tuple_finish(&large, &err), LKS_E_LIMIT);
    CHECK(large.arena.used <= LKS_TUPLE_MEMORY_MAX);
}

/* Order and look-ups ------------------------------------------------------------------------ */

static void show(const struct lks_tuple *t, struct lks_buf *out)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct lks_reading *r = &t->readings[i];
        lks_buf_addf(out, "%" LKS_STR_FMT "@%" LKS_STR_FMT "#%" LKS_STR_FMT "%c%" LKS_STR_FMT "\n",
                     LKS_STR_ARG(r->name), LKS_STR_ARG(r->of), LKS_STR_ARG(r->part),
                     "=~?"[r->state], LKS_STR_ARG(r->value));
    }
}

static const struct {
    const char *name;
    const char *in;
    const char *out;
} orders[] = {
    {"nothing", "", ""},
    {"by name, device, part, value", "b=1\na@y=1\na@x#q=1\na@x#p=2\na@x#p=1\na=0\n",
     "a@#=0\na@x#p=1\na@x#p=2\na@x#q=1\na@y#=1\nb@#=1\n"},
    {"exact repetitions", "a@x=1\na@x=1\na@y=1\na@x=1\n", "a@x#=1\na@y#=1\n"},
    {"absent twice", "a~\na~\n", "a@#~\n"},
    {"an absent one keeps no value", "a~whatever\n", "a@#~\n"},
    {"unmeasured for two reasons is unmeasured", "a?why\na?because\n", "a@#?because\n"},
    {"unmeasured for no reason", "a?\n", "a@#?no reason was given\n"},
    {"measured, absent and unmeasured at once", "a?why\na~\na=1\n", "a@#=1\na@#~\na@#?why\n"},
    {"an empty value is a value", "settings.mig.profiles@gpu 1=\n",
     "settings.mig.profiles@gpu 1#=\n"},
};

static void test_order(void)
{
    for (size_t i = 0; i < LKS_COUNT(orders); i++) {
        LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
        lks_test_case("%s", orders[i].name);
        lks_test_tuple(orders[i].in, &t);
        show(&t, &text);
        CHECK_STR(lks_buf_view(&text), orders[i].out);
    }
}

/* Evidence of a repetition: the first that is there. */
static void test_two_witnesses(void)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
    struct lks_err err = {0};
    struct lks_reading r = {
        .name = LKS_STR("kernel"), .value = LKS_STR("6.8"), .evidence = LKS_STR("uname")};
    lks_tuple_init(&t);
    lks_tuple_add(&t, &r);
    r.evidence = LKS_STR("/proc/version");
    lks_tuple_add(&t, &r);
    CHECK_CODE(lks_tuple_finish(&t, &err), LKS_OK);
    if (CHECK_INT(t.count, 1))
        CHECK_STR(t.readings[0].evidence, "/proc/version");
}

static void test_range(void)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
    static const struct {
        const char *name;
        size_t count;
    } ranges[] = {{"a", 0}, {"b", 1}, {"b.c", 3}, {"b.cc", 0}, {"c", 2}, {"d", 0}, {"", 0}};
    lks_test_tuple("b=1\nb.c@1=1\nb.c@2=1\nb.c@3~\nc@1=1\nc@2?why\n", &t);
    for (size_t i = 0; i < LKS_COUNT(ranges); i++) {
        size_t count;
        lks_test_case("'%s'", ranges[i].name);
        const struct lks_reading *first = lks_tuple_range(&t, lks_str_from(ranges[i].name), &count);
        CHECK_INT(count, ranges[i].count);
        CHECK((first != NULL) == (count > 0));
        CHECK(lks_tuple_find(&t, ranges[i].name) == first);
        for (size_t j = 0; j < count; j++)
            CHECK_STR(first[j].name, ranges[i].name);
    }
}

static const struct {
    const char *name;
    const char *in;
    const char *answer; /* name and value, or NULL */
} components[] = {
    {"not there", "nccl-plugin=1\n", NULL},
    {"both", "nccl=1\nnccl.package=2\n", "nccl 1"},
    {"only the package", "nccl.package=2\n", "nccl.package 2"},
    {"absent, and a package", "nccl~\nnccl.package=2\n", "nccl.package 2"},
    {"unmeasured, and a package", "nccl?why\nnccl.package=2\n", "nccl.package 2"},
    {"unmeasured, and no package", "nccl?why\nnccl.package~\n", "nccl why"},
    {"absent, and an unmeasured package", "nccl~\nnccl.package?why\n", "nccl "},
    {"an unmeasured package alone", "nccl.package?why\n", "nccl.package why"},
    {"the first that was measured", "nccl@a~\nnccl@b=2\nnccl@c=3\n", "nccl 2"},
};

static void test_component(void)
{
    for (size_t i = 0; i < LKS_COUNT(components); i++) {
        LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
        char text[64] = "";
        lks_test_case("%s", components[i].name);
        lks_test_tuple(components[i].in, &t);
        const struct lks_reading *r = lks_tuple_component(&t, LKS_STR("nccl"));
        if (!CHECK((r != NULL) == (components[i].answer != NULL)) || r == NULL)
            continue;
        snprintf(text, sizeof(text), "%" LKS_STR_FMT " %" LKS_STR_FMT, LKS_STR_ARG(r->name),
                 LKS_STR_ARG(r->value));
        CHECK_STR(lks_str_from(text), components[i].answer);
    }
}

/* The digest -------------------------------------------------------------------------------- */

static const char small[] = "driver=580.126.20\n"
                            "settings.ecc@gpu 1=true\n"
                            "settings.ecc@gpu 2=true\n"
                            "firmware/vbios@gpu 1#PN=96.00\n"
                            "kernel?no access\n"
                            "gpu.serial@gpu 1=123\n"
                            "gpu.clocks@gpu 1=1980 3201\n"
                            "copy.nccl@/opt/a#python=2.28.9\n"
                            "platform.uuid=abc\n"
                            "settings.kernel_cmdline=root=UUID=1 iommu=pt quiet\n";

/* What a change of the node above does to its digest. */
static const struct {
    const char *name;
    const char *changes;
    bool same;
} digests[] = {
    {"nothing", "", true},
    {"a serial number", "gpu.serial@gpu 1=124\n", true},
    {"a UUID that is gone", "!platform.uuid\n", true},
    {"clocks of the moment", "gpu.clocks@gpu 1=345 3201\n", true},
    {"a copy of a library", "copy.nccl@/opt/a#python=2.28.3\n", true},
    {"another address", "!settings.ecc@gpu 1\nsettings.ecc@gpu 7=true\n", true},
    {"a reason", "kernel?was not asked\n", true},
    {"something absent", "doca-ofed~\n", true},
    {"the host's own disk", "settings.kernel_cmdline=root=UUID=2 iommu=pt quiet\n", true},
    {"the hash of a file", "nccl.build.sha256=12\n", true},
    {"a file that a stack wants read", "settings.other./proc/sys/vm/swappiness=60\n", true},
    {"a parameter of the kernel", "settings.kernel_cmdline=root=UUID=1 iommu=on quiet\n", false},
    {"the order of parameters", "settings.kernel_cmdline=root=UUID=1 quiet iommu=pt\n", false},
    {"a version", "driver=580.126.21\n", false},
    {"a setting of one device", "settings.ecc@gpu 1=false\n", false},
    {"a device less", "!settings.ecc@gpu 1\n", false},
    {"a device more", "settings.ecc@gpu 3=true\n", false},
    {"a part", "firmware/vbios@gpu 1#PM=96.00\n", false},
    {"a part that is not told", "firmware/vbios@gpu 1=96.00\n", false},
    {"measured now", "kernel=6.8\n", false},
    {"unmeasured now", "driver?hangs\n", false},
    {"unmeasured and not even tried", "!kernel\n", false},
    {"absent now", "driver~\n", false},
    {"a component more", "slurmd=25.05\n", false},
    {"an empty value", "settings.mig.profiles=\n", false},
    {"a value called unmeasured", "kernel=unmeasured\n", false},
};

static void test_digest(void)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple before = {0};
    lks_test_tuple(small, &before);
    for (size_t i = 0; i < LKS_COUNT(digests); i++) {
        LKS_CLEANUP(lks_tuple_fini) struct lks_tuple after = {0};
        lks_test_case("%s", digests[i].name);
        lks_test_tuple_with(small, digests[i].changes, &after);
        CHECK((strcmp(before.digest, after.digest) == 0) == digests[i].same);
    }
}

/* Digests are kept in files and compared over years: these bytes are hashed and no others. */
static void test_digest_bytes(void)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
    struct lks_err err = {0};
    char want[LKS_DIGEST_SIZE];
    lks_test_tuple("b@x#p=1\nb@y=2\na?why\nc~\ngpu.serial=7\n", &t);
    CHECK_CODE(lks_digest_text(LKS_STR("[{\"name\":\"a\",\"unmeasured\":true},"
                                       "{\"name\":\"b\",\"value\":\"2\"},"
                                       "{\"name\":\"b\",\"part\":\"p\",\"value\":\"1\"}]"),
                               want, &err),
               LKS_OK);
    CHECK_STR(lks_str_from(t.digest), want);
}

/* JSON -------------------------------------------------------------------------------------- */

#define TUPLE(readings, digest)                                                                    \
    "{\"boot_id\":\"b\",\"digest\":\"" digest "\",\"kind\":\"Tuple\",\"lockstep\":1,"              \
    "\"node\":\"n1\",\"readings\":[" readings "],\"taken\":\"2026-11-15T06:25:20Z\"}"
#define EMPTY_DIGEST  "sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"
#define READING(more) TUPLE("{\"evidence\":\"e\",\"name\":\"gpu.serial\"" more "}", EMPTY_DIGEST)

static void test_json(void)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    struct lks_err err = {0};
    lks_test_tuple("gpu.serial@gpu 1#p=\"x\\y\"\ngpu.uuid~\nnic.mac?no access\n", &t);
    CHECK_CODE(lks_tuple_json(&t, LKS_STR(""), &text, &err), LKS_OK);
    CHECK_STR(lks_buf_view(&text),
              "{\"boot_id\":\"0f3a7c52-5b1e-4d53-9a38-6c1d2e8f9b10\","
              "\"digest\":\"" EMPTY_DIGEST "\",\"kind\":\"Tuple\",\"lockstep\":1,\"node\":\"n1\","
              "\"readings\":["
              "{\"evidence\":\"proof of gpu.serial\",\"name\":\"gpu.serial\",\"of\":\"gpu 1\","
              "\"part\":\"p\",\"value\":\"\\\"x\\\\y\\\"\"},"
              "{\"absent\":true,\"evidence\":\"proof of gpu.uuid\",\"name\":\"gpu.uuid\"},"
              "{\"evidence\":\"proof of nic.mac\",\"name\":\"nic.mac\","
              "\"unmeasured\":\"no access\"}],"
              "\"taken\":\"2026-11-15T06:35:20Z\"}");
}

/* What was found goes along for other readers and is nothing to the tuple. */
static void test_findings(void)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple back = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    struct lks_err err = {0};
    lks_test_tuple("gpu.uuid~\n", &t);
    CHECK_CODE(lks_tuple_json(&t, LKS_STR("[{\"rule\":\"driver\"}]"), &text, &err), LKS_OK);
    CHECK_HAS(lks_buf_view(&text), "\",\"findings\":[{\"rule\":\"driver\"}],\"kind\":\"Tuple\"");
    CHECK_CODE(lks_tuple_parse(lks_buf_view(&text), "t.json", &back, &err), LKS_OK);
    CHECK_STR(lks_str_from(back.digest), t.digest);
    CHECK_INT(back.count, 1);
}

static const struct {
    int64_t taken;
    const char *text; /* NULL: refused */
} times[] = {
    {0, "1970-01-01T00:00:00Z"},
    {951782399, "2000-02-28T23:59:59Z"},
    {1709164800, "2024-02-29T00:00:00Z"},
    {INT64_C(253402300799), "9999-12-31T23:59:59Z"},
    {INT64_C(253402300800), NULL},
    {-1, NULL},
    {INT64_MIN, NULL},
};

static void test_times(void)
{
    for (size_t i = 0; i < LKS_COUNT(times); i++) {
        LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
        LKS_CLEANUP(lks_tuple_fini) struct lks_tuple back = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
        struct lks_err err = {0};
        lks_test_case("%lld", (long long)times[i].taken);
        lks_test_tuple("", &t);
        t.taken = times[i].taken;
        if (times[i].text == NULL) {
            CHECK_CODE(lks_tuple_json(&t, LKS_STR(""), &text, &err), LKS_E_INVALID);
            continue;
        }
        CHECK_CODE(lks_tuple_json(&t, LKS_STR(""), &text, &err), LKS_OK);
        CHECK_HAS(lks_buf_view(&text), times[i].text);
        CHECK_CODE(lks_tuple_parse(lks_buf_view(&text), "t.json", &back, &err), LKS_OK);
        CHECK_INT(back.taken, times[i].taken);
    }
}

static const struct {
    const char *name;
    const char *json;
    const char *message; /* NULL: taken */
} inputs[] = {
    {"empty", TUPLE("", EMPTY_DIGEST), NULL},
    {"a reading", READING(",\"value\":\"1\""), NULL},
    {"not JSON", "{", "t.json:1:1: "},
    {"not a map", "[]", "t.json: expected a map, found list"},
    {"nothing said", "{}", "t.json: 'digest' is missing"},
    {"a later format", "{\"lockstep\":2,\"news\":1}",
     "t.json: lockstep: is 2, and this program knows 1"},
    {"another kind",
     "{\"boot_id\":\"\",\"digest\":\"\",\"kind\":\"Stack\",\"lockstep\":1,\"node\":\"\","
     "\"readings\":[],\"taken\":\"\"}",
     "t.json: kind: is not 'Tuple'"},
    {"a member too many",
     "{\"boot_id\":\"\",\"digest\":\"\",\"kind\":\"Tuple\",\"lockstep\":1,\"node\":\"\","
     "\"reading\":[],\"taken\":\"\"}",
     "t.json: reading: unknown key; did you mean 'readings'?"},
    {"a time of another form",
     "{\"boot_id\":\"\",\"digest\":\"\",\"kind\":\"Tuple\",\"lockstep\":1,\"node\":\"\","
     "\"readings\":[],\"taken\":\"2026-11-15 06:25:20\"}",
     "t.json: taken: is not a time in UTC such as 2026-11-15T06:25:20Z"},
    {"no such time",
     "{\"boot_id\":\"\",\"digest\":\"\",\"kind\":\"Tuple\",\"lockstep\":1,\"node\":\"\","
     "\"readings\":[],\"taken\":\"2026-11-15T24:00:00Z\"}",
     "t.json: taken: is not a time"},
    {"a number for a text",
     "{\"boot_id\":7,\"digest\":\"\",\"kind\":\"Tuple\",\"lockstep\":1,\"node\":\"\","
     "\"readings\":[],\"taken\":\"\"}",
     "t.json: boot_id: expected text, found number"},
    {"another digest", TUPLE("", "sha256:00"),
     "t.json: digest: does not match the readings, whose digest is " EMPTY_DIGEST},
    {"a reading changed by hand",
     TUPLE("{\"evidence\":\"e\",\"name\":\"driver\",\"value\":\"1\"}", EMPTY_DIGEST),
     "t.json: digest: does not match the readings, whose digest is sha256:"},
    {"a reading that is none", TUPLE("7", EMPTY_DIGEST),
     "t.json: readings[1]: expected a map, found number"},
    {"a member of a reading", READING(",\"values\":\"1\""),
     "t.json: readings[1].values: unknown key; did you mean 'value'?"},
    {"without evidence", TUPLE("{\"name\":\"driver\",\"value\":\"1\"}", EMPTY_DIGEST),
     "t.json: readings[1]: 'evidence' is missing"},
    {"without a name", TUPLE("{\"evidence\":\"e\",\"name\":\"\",\"value\":\"1\"}", EMPTY_DIGEST),
     "t.json: readings[1].name: is empty"},
    {"neither of the three", READING(""),
     "t.json: readings[1]: needs one of 'value', 'absent' and 'unmeasured', and no two"},
    {"two of the three", READING(",\"value\":\"1\",\"absent\":true"),
     "t.json: readings[1]: needs one of"},
    {"absent: false", READING(",\"absent\":false"),
     "t.json: readings[1].absent: is true or absent"},
    {"unmeasured without a reason", READING(",\"unmeasured\":\"\""),
     "t.json: readings[1].unmeasured: says why"},
    {"a number for a value", READING(",\"value\":1"),
     "t.json: readings[1].value: expected text, found number"},
    {"what does not print", READING(",\"value\":\"\\u001b[2J\""),
     "t.json: readings[1].value: holds characters that do not print"},
};

static void test_parse(void)
{
    for (size_t i = 0; i < LKS_COUNT(inputs); i++) {
        LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
        struct lks_err err = {0};
        lks_test_case("%s", inputs[i].name);
        enum lks_code code = lks_tuple_parse(lks_str_from(inputs[i].json), "t.json", &t, &err);
        CHECK_CODE(code, inputs[i].message == NULL ? LKS_OK : LKS_E_INVALID);
        if (inputs[i].message != NULL)
            CHECK_HAS(lks_str_from(err.msg), inputs[i].message);
        CHECK(code == LKS_OK || (t.readings == NULL && t.count == 0));
    }
}

/* One byte more than a text may have, in each place that has a text. */
static void test_parse_limits(void)
{
    static const struct {
        const char *before, *after;
        size_t max;
    } places[] = {
        {"{\"boot_id\":\"", "\"}", LKS_READING_NAME_MAX},
        {"{\"node\":\"", "\"}", LKS_READING_NAME_MAX},
    };
    for (size_t i = 0; i < LKS_COUNT(places); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(TEXT_MAX);
        LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
        struct lks_err err = {0};
        lks_test_case("%s", places[i].before);
        lks_buf_add(&json, lks_str_from(places[i].before));
        lks_buf_pad(&json, 'x', (ptrdiff_t)places[i].max + 1);
        lks_buf_add(&json, lks_str_from(places[i].after));
        CHECK_CODE(lks_tuple_parse(lks_buf_view(&json), "t.json", &t, &err), LKS_E_INVALID);
        CHECK_HAS(lks_str_from(err.msg), "is longer than 256 bytes");
    }
}

static void test_too_many(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(TEXT_MAX);
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
    struct lks_err err = {0};
    lks_buf_add(&json,
                LKS_STR("{\"boot_id\":\"\",\"digest\":\"\",\"kind\":\"Tuple\",\"lockstep\":1,"
                        "\"node\":\"\",\"taken\":\"2026-11-15T06:25:20Z\",\"readings\":[0"));
    for (unsigned i = 0; i < LKS_TUPLE_READINGS_MAX; i++)
        lks_buf_add(&json, LKS_STR(",0"));
    lks_buf_add(&json, LKS_STR("]}"));
    CHECK_CODE(lks_tuple_parse(lks_buf_view(&json), "t.json", &t, &err), LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "t.json: readings: more than 16384 readings");
}

/* Properties over random tuples ------------------------------------------------------------- */

static const char *const names[] = {
    "driver",        "driver.package", "settings.ecc", "firmware/vbios", "gpu.serial",
    "gpu.clocks",    "copy.nccl",      "nccl",         "kernel",         "settings.bios.NPS",
    "platform.uuid", "nic.state",      "cdi.driver",   "slurmd",         "devices.nvlinks_up",
};

static struct lks_str random_text(struct lks_rng *rng, char *out, size_t max)
{
    static const char bytes[] = "abcz019.-+~ \"\\/\x1b\n\xc3\xa9\xff";
    size_t len = lks_rng_below(rng, max);
    for (size_t i = 0; i < len; i++)
        out[i] = bytes[lks_rng_below(rng, sizeof(bytes) - 1)];
    return (struct lks_str){out, len};
}

/* What a random tuple is made of; `salt` is in everything that must not matter. */
static void add_random(struct lks_rng *rng, uint64_t salt, struct lks_tuple *t)
{
    char of[64], evidence[32], part[4], value[12];
    struct lks_reading r = {
        .name = lks_str_from(names[lks_rng_below(rng, LKS_COUNT(names))]),
        .part = random_text(rng, part, sizeof(part)),
        .state = (enum lks_reading_state)lks_rng_below(rng, 3),
        .value = random_text(rng, value, sizeof(value)),
    };
    unsigned device = (unsigned)lks_rng_below(rng, 4);
    snprintf(of, sizeof(of), "gpu %u of %u", device, (unsigned)salt);
    snprintf(evidence, sizeof(evidence), "evidence %u", (unsigned)salt);
    r.of = lks_str_from(of);
    r.evidence = lks_str_from(evidence);
    bool counts = lks_reading_kind(r.name)->class == LKS_READING_IDENTITY;
    if (salt > 0 && (!counts || r.state == LKS_UNMEASURED))
        r.value = r.evidence;
    lks_tuple_add(t, &r);
}

/* The readings of `seed`, from the last to the first where `salt` is not 0. */
static void make_random(uint64_t seed, uint64_t salt, struct lks_tuple *t)
{
    struct lks_err err = {0};
    lks_tuple_init(t);
    t->node = LKS_STR("n1");
    t->taken = (int64_t)seed * 86399;
    size_t count = (size_t)(seed % 23);
    for (size_t i = 0; i < count; i++) {
        struct lks_rng rng = {seed << 8 | (salt > 0 ? count - 1 - i : i)};
        add_random(&rng, salt, t);
    }
    LKS_ASSERT(lks_tuple_finish(t, &err) == LKS_OK);
}

static void test_round_trip(void)
{
    for (uint64_t seed = 0; seed < TUPLES; seed++) {
        LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
        LKS_CLEANUP(lks_tuple_fini) struct lks_tuple back = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf once = LKS_BUF(TEXT_MAX);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf twice = LKS_BUF(TEXT_MAX);
        struct lks_err err = {0};
        lks_test_case("seed %u", (unsigned)seed);
        make_random(seed, 0, &t);
        CHECK_CODE(lks_tuple_json(&t, LKS_STR(""), &once, &err), LKS_OK);
        CHECK_CODE(lks_tuple_parse(lks_buf_view(&once), "t.json", &back, &err), LKS_OK);
        CHECK_CODE(lks_tuple_json(&back, LKS_STR(""), &twice, &err), LKS_OK);
        CHECK(lks_str_eq(lks_buf_view(&once), lks_buf_view(&twice)));
        CHECK_STR(lks_str_from(back.digest), t.digest);
    }
}

static void test_digest_invariant(void)
{
    for (uint64_t seed = 0; seed < TUPLES; seed++) {
        LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
        LKS_CLEANUP(lks_tuple_fini) struct lks_tuple same = {0};
        LKS_CLEANUP(lks_tuple_fini) struct lks_tuple other = {0};
        struct lks_err err = {0};
        lks_test_case("seed %u", (unsigned)seed);
        make_random(seed, 0, &t);
        make_random(seed, 7, &same);
        CHECK_STR(lks_str_from(same.digest), t.digest);
        make_random(seed, 0, &other);
        for (size_t i = 0; i < other.count; i++) {
            struct lks_reading *r = &other.readings[i];
            struct lks_str before = r->value;
            if (r->state != LKS_MEASURED ||
                lks_reading_kind(r->name)->class != LKS_READING_IDENTITY)
                continue;
            r->value = LKS_STR("changed");
            CHECK_CODE(lks_tuple_finish(&other, &err), LKS_OK);
            CHECK(strcmp(other.digest, t.digest) != 0);
            r->value = before;
            break;
        }
    }
}

/* The whole node of the other tests: what is in memory is a small multiple of its text. */
static void test_size(void)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
    lks_test_tuple(lks_test_node, &t);
    CHECK(t.count > 150);
    CHECK(t.arena.used + t.room * sizeof(*t.readings) < 128 * t.count + 64 * 1024);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"tuple: texts are cleaned", test_texts},
        {"tuple: texts are cut", test_cut},
        {"tuple: limits", test_limits},
        {"tuple: order", test_order},
        {"tuple: two witnesses", test_two_witnesses},
        {"tuple: ranges", test_range},
        {"tuple: components", test_component},
        {"tuple: digest", test_digest},
        {"tuple: digest bytes", test_digest_bytes},
        {"tuple: json", test_json},
        {"tuple: findings beside it", test_findings},
        {"tuple: times", test_times},
        {"tuple: parsing", test_parse},
        {"tuple: limits of parsing", test_parse_limits},
        {"tuple: too many to parse", test_too_many},
        {"tuple: round trip", test_round_trip},
        {"tuple: digest of random tuples", test_digest_invariant},
        {"tuple: size", test_size},
        {0},
    });
}
