#include "codec/program/modinfo.h"

#include "base/buf.h"
#include "base/rng.h"
#include "tests/test.h"

enum { BYTES_MAX = 1024 * 1024, STREAMS = 2000 };

#define MAGIC    "6.8.0-85-generic SMP preempt mod_unload modversions "
#define VERMAGIC "vermagic=" MAGIC "\0"

/* As nvidia.ko has it. */
#define NVIDIA                                                                                     \
    "alias=char-major-195-*\0version=580.95.05\0supported=external\0license=Dual MIT/GPL\0"        \
    "firmware=nvidia/580.95.05/gsp_ga10x.bin\0srcversion=A97B69E4C6B1B7BF6D6C7F6\0"                \
    "alias=pci:v000010DEd*sv*sd*bc03sc02i00*\0depends=\0retpoline=Y\0name=nvidia\0" VERMAGIC       \
    "parm=NvSwitchRegDwords:NvSwitch regkey (charp)\0"
#define NVIDIA_FOUND "nvidia|580.95.05|A97B69E4C6B1B7BF6D6C7F6|" MAGIC "|Dual MIT/GPL"

#define ZEROES_16 "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define ZEROES_64 ZEROES_16 ZEROES_16 ZEROES_16 ZEROES_16

static const struct {
    const char *name;
    struct lks_str bytes;
    const char *found; /* name|version|srcversion|vermagic|license, or NULL where there is none */
} streams[] = {
    {"the section alone", LKS_STR_C(NVIDIA), NVIDIA_FOUND},
    {"between others", LKS_STR_C("\x48\x89\xe5\xc3 text\0\1\2" NVIDIA "\1\0\xff etc"),
     NVIDIA_FOUND},
    {"the proprietary one", LKS_STR_C("license=NVIDIA\0version=570.86.15\0" VERMAGIC),
     "|570.86.15||" MAGIC "|NVIDIA"},
    {"one of the kernel's own", LKS_STR_C("license=GPL\0intree=Y\0name=nsh\0" VERMAGIC),
     "nsh|||" MAGIC "|GPL"},
    {"vermagic first", LKS_STR_C(VERMAGIC "name=nsh\0"), "nsh|||" MAGIC "|"},
    {"zeroes between", LKS_STR_C("name=nsh\0\0\0\0" VERMAGIC "\0\0license=GPL\0"),
     "nsh|||" MAGIC "|GPL"},
    {"as many as there may be", LKS_STR_C("name=nsh" ZEROES_64 VERMAGIC), "nsh|||" MAGIC "|"},
    {"too many: another section", LKS_STR_C("name=nsh\0" ZEROES_64 VERMAGIC), "|||" MAGIC "|"},
    {"the first run counts", LKS_STR_C("name=a\0" VERMAGIC "\1name=b\0" VERMAGIC),
     "a|||" MAGIC "|"},
    {"a run without vermagic does not", LKS_STR_C("name=a\0version=1\0\1name=b\0" VERMAGIC),
     "b|||" MAGIC "|"},
    {"line ends and Latin-1 in values",
     LKS_STR_C("author=Ren\xe9\0parm=x:one\n\ttwo\0name=b\0" VERMAGIC), "b|||" MAGIC "|"},
    {"the first value counts", LKS_STR_C("name=a\0name=b\0" VERMAGIC), "a|||" MAGIC "|"},
    {"empty values", LKS_STR_C("name=\0license=\0" VERMAGIC), "|||" MAGIC "|"},
    {"formats of the program next to it", LKS_STR_C("\1version=%s\n\0version=2\0" VERMAGIC),
     "|2||" MAGIC "|"},
    {"what would drive a terminal", LKS_STR_C("license=a\x1b[2Jb\0name=a\0" VERMAGIC),
     "a|||" MAGIC "|"},
    {"not UTF-8", LKS_STR_C("license=a\xff\0name=a\0" VERMAGIC), "a|||" MAGIC "|"},

    {"no zero byte before it", LKS_STR_C("\x86\xdd\xcclicense=GPL v2\0" VERMAGIC),
     "|||" MAGIC "|GPL v2"},
    {"a capital before it (nsh.ko)", LKS_STR_C("\x88Glicense=GPL v2\0" VERMAGIC),
     "|||" MAGIC "|GPL v2"},
    {"letters before it", LKS_STR_C("\x88xylicense=GPL v2\0" VERMAGIC), "|||" MAGIC "|GPL v2"},
    {"many letters before it",
     LKS_STR_C("abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzlicense=GPL\0" VERMAGIC),
     "|||" MAGIC "|GPL"},
    {"the longest key counts", LKS_STR_C("\1zsrcversion=A1\0version=2\0" VERMAGIC),
     "|2|A1|" MAGIC "|"},
    {"whole keys must be whole", LKS_STR_C("a\0subversion=1\0rename=2\0" VERMAGIC),
     "|||" MAGIC "|"},

    {"nothing", LKS_STR_C(""), NULL},
    {"no vermagic", LKS_STR_C("name=nvidia\0version=580.95.05\0license=NVIDIA\0"), NULL},
    {"an empty vermagic", LKS_STR_C("name=nvidia\0vermagic=\0"), NULL},
    {"cut short", LKS_STR_C("name=nvidia\0vermagic=6.8.0-85-gene"), NULL},
    {"a text that only speaks of it", LKS_STR_C("no vermagic here\0see vermagic: 1\0"), NULL},
};

static enum lks_code scan(struct lks_str bytes, size_t step, struct lks_buf *out)
{
    struct lks_modinfo_scanner scanner = {0};
    struct lks_modinfo m;
    struct lks_err err = {0};
    for (size_t at = 0; at < bytes.len; at += step) {
        size_t len = step < bytes.len - at ? step : bytes.len - at;
        lks_modinfo_feed(&scanner, (struct lks_str){bytes.ptr + at, len});
    }
    enum lks_code code = lks_modinfo_end(&scanner, &m, &err);
    if (code == LKS_OK)
        lks_buf_addf(out, "%s|%s|%s|%s|%s", m.name, m.version, m.srcversion, m.vermagic, m.license);
    else
        lks_buf_add(out, lks_str_from(err.msg));
    return code;
}

static void test_streams(void)
{
    for (size_t i = 0; i < LKS_COUNT(streams); i++) {
        for (size_t step = 1; step <= 4096; step *= 4) {
            lks_test_case("%s, %zu at a time", streams[i].name, step);
            LKS_CLEANUP(lks_buf_fini) struct lks_buf shown = LKS_BUF(BYTES_MAX);
            bool found = streams[i].found != NULL;
            CHECK_CODE(scan(streams[i].bytes, step, &shown), found ? LKS_OK : LKS_E_NOT_FOUND);
            if (found)
                CHECK_STR(lks_buf_view(&shown), streams[i].found);
            else
                CHECK_HAS(lks_buf_view(&shown), "no .modinfo with a vermagic in ");
        }
    }
}

/* The answer is there before the end, and what follows does not change it. */
static void test_done(void)
{
    struct lks_modinfo_scanner scanner = {0};
    struct lks_modinfo found;
    struct lks_err err = {0};
    CHECK(!lks_modinfo_feed(&scanner, LKS_STR("name=a\0" VERMAGIC)));
    CHECK(!lks_modinfo_feed(&scanner, LKS_STR("version=1\0")));
    CHECK(lks_modinfo_feed(&scanner, LKS_STR("\1")));
    CHECK(lks_modinfo_feed(&scanner, LKS_STR("license=GPL\0" VERMAGIC)));
    if (CHECK_CODE(lks_modinfo_end(&scanner, &found, &err), LKS_OK)) {
        CHECK_STR(lks_str_from(found.version), "1");
        CHECK_STR(lks_str_from(found.license), "");
    }
    CHECK_CODE(lks_modinfo_end(&scanner, &found, &err), LKS_OK);
}

static void test_limits(void)
{
    static const struct {
        const char *name;
        size_t version, parm; /* lengths of values */
        bool kept;
    } rows[] = {
        {"the longest value", LKS_MODINFO_VALUE_MAX, 0, true},
        {"a longer one is none", LKS_MODINFO_VALUE_MAX + 1, 0, false},
        {"the longest string", 1, LKS_MODINFO_STRING_MAX, true},
        {"a longer one ends the run", 1, LKS_MODINFO_STRING_MAX + 1, false},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(BYTES_MAX);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf shown = LKS_BUF(BYTES_MAX);
        lks_buf_add(&bytes, LKS_STR("version="));
        lks_buf_pad(&bytes, '1', (ptrdiff_t)rows[i].version);
        lks_buf_add(&bytes, LKS_STR("\0parm="));
        lks_buf_pad(&bytes, 'p', (ptrdiff_t)rows[i].parm);
        lks_buf_add(&bytes, LKS_STR("\0" VERMAGIC));
        CHECK_CODE(scan(lks_buf_view(&bytes), BYTES_MAX, &shown), LKS_OK);
        CHECK((lks_str_find(lks_buf_view(&shown), LKS_STR("|1")) == 0) == rows[i].kept);
    }
}

/* Random bytes that look like modules, cut into pieces of random sizes: always the same answer. */
static void test_pieces(void)
{
    static const struct lks_str parts[] = {
        LKS_STR_C("name="),   LKS_STR_C("version="), LKS_STR_C("srcversion="), LKS_STR_C("\0"),
        LKS_STR_C(VERMAGIC),  LKS_STR_C("license="), LKS_STR_C("GPL\0"),       LKS_STR_C("\1"),
        LKS_STR_C("0.1\0"),   LKS_STR_C("%s\0"),     LKS_STR_C("\0\0\0"),      LKS_STR_C("G"),
        LKS_STR_C(ZEROES_64), LKS_STR_C("="),        LKS_STR_C("x"),           LKS_STR_C("\xc3"),
    };
    for (uint64_t seed = 1; seed <= STREAMS; seed++) {
        lks_test_case("seed %u", (unsigned)seed);
        struct lks_rng rng = {seed};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(BYTES_MAX);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf whole = LKS_BUF(BYTES_MAX);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf cut = LKS_BUF(BYTES_MAX);
        for (uint64_t n = lks_rng_below(&rng, 40); n > 0; n--)
            lks_buf_add(&bytes, parts[lks_rng_below(&rng, LKS_COUNT(parts))]);
        size_t step = 1 + (size_t)lks_rng_below(&rng, 30);
        enum lks_code code = scan(lks_buf_view(&bytes), BYTES_MAX, &whole);
        CHECK_CODE(scan(lks_buf_view(&bytes), step, &cut), code);
        CHECK(lks_str_eq(lks_buf_view(&whole), lks_buf_view(&cut)));
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"streams", test_streams}, {"done", test_done}, {"limits", test_limits},
        {"pieces", test_pieces},   {NULL, NULL},
    };
    return lks_test_main(tests);
}
