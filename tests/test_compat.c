/* The oracle of compat-questions.csv was written from the vendors' documents, apart from the engine
 * it judges. Here every question is put to the engine. */
#include "core/compat/compat.h"

#include "base/file.h"
#include "codec/format/csv.h"
#include "tests/facts.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

enum { QUESTIONS_WANTED = 60, FILE_MAX = 1024 * 1024 };

/* The next command-line word, in which a quoted product name counts as one. */
static bool next_word(struct lks_str *rest, struct lks_str *word)
{
    struct lks_str s = lks_str_trim(*rest);
    if (s.len > 0 && s.ptr[0] == '\'')
        return lks_str_cut((struct lks_str){s.ptr + 1, s.len - 1}, '\'', word, rest);
    return lks_str_word(rest, word);
}

static void parse_args(struct lks_str args, struct lks_compat_question *q)
{
    const struct {
        const char *name;
        struct lks_str *value;
    } options[] = {
        {"--driver", &q->driver},   {"--cuda", &q->toolkit},
        {"--amdgpu", &q->driver},   {"--rocm", &q->toolkit},
        {"--gpu", &q->gpu},         {"--compat-package", &q->compat_package},
        {"--modules", &q->modules},
    };
    struct lks_str word;
    while (next_word(&args, &word)) {
        bool known = lks_str_is(word, "--needs-ptx-jit");
        q->needs_ptx_jit = q->needs_ptx_jit || known;
        for (size_t i = 0; i < LKS_COUNT(options); i++) {
            if (lks_str_is(word, options[i].name))
                known = next_word(&args, options[i].value);
        }
        CHECK(known);
    }
}

static void ask(const struct lks_csv *csv)
{
    lks_test_case("%" LKS_STR_FMT, LKS_STR_ARG(csv->fields[0]));
    struct lks_compat_question q = {0};
    parse_args(csv->fields[1], &q);
    LKS_CLEANUP(lks_compat_answer_fini) struct lks_compat_answer answer = {0};
    lks_compat_ask(lks_test_facts(), &q, &answer);
    struct lks_err err = {0};
    CHECK_CODE(lks_report_check(&answer.rules, &err), LKS_OK);
    struct lks_str reason = lks_str_from(lks_compat_reason_name(answer.reason));
    struct lks_str verdict = lks_str_from(lks_compat_reason_verdict(answer.reason));
    CHECK(lks_str_eq(reason, csv->fields[3]));
    CHECK(lks_str_eq(verdict, csv->fields[2]));
    if (!lks_str_eq(reason, csv->fields[3]))
        printf("    %s, expected %.*s: %.*s\n", lks_compat_reason_name(answer.reason),
               LKS_STR_ARG(csv->fields[3]), LKS_STR_ARG(csv->fields[1]));
    CHECK(csv->fields[4].len > 0);
    CHECK(answer.rules.count > 0);
    /* An answer that is not a plain yes comes with a way out, unless nothing is known. */
    if (answer.reason >= LKS_NO_DRIVER && answer.board != NULL)
        CHECK(answer.remedy.len > 0);
}

static void test_questions(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(FILE_MAX);
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    lks_arena_init(&arena, FILE_MAX);
    struct lks_err err = {0};
    struct lks_csv csv;
    CHECK_CODE(lks_file_read("tests/compat-questions.csv", &text, &err), LKS_OK);
    if (!CHECK_CODE(lks_csv_open(&csv, lks_buf_view(&text), &arena, &err), LKS_OK))
        return;
    size_t asked = 0;
    for (bool more = true; more; asked += more) {
        if (!CHECK_CODE(lks_csv_next(&csv, &more, &err), LKS_OK))
            return;
        if (more)
            ask(&csv);
    }
    lks_test_case("number of questions");
    CHECK(asked >= QUESTIONS_WANTED);
}

/* Whether the reasoning holds a warning of `rule` in which `text` stands. */
static bool warns(const struct lks_report *rules, const char *rule, const char *text)
{
    for (size_t i = 0; i < rules->count; i++) {
        const struct lks_finding *f = &rules->findings[i];
        if (f->severity == LKS_WARNING && strcmp(f->rule, rule) == 0 &&
            lks_str_find(f->text, lks_str_from(text)) >= 0)
            return true;
    }
    return false;
}

/* Beside the reason, what a careful reader is warned of. */
static const struct {
    const char *name, *args;
    enum lks_reason reason;
    const char *rule, *text;
    bool warns;
} warnings[] = {
    {"stale package, backward", "--driver 580.126.20 --cuda 12.9 --gpu H100 --compat-package 12.9",
     LKS_BACKWARD, "compat-package", "cuda-compat-12-9 on R580: not-compatible; remove the package",
     true},
    {"stale package, native", "--driver 580.126.20 --cuda 13.0 --gpu H100 --compat-package 13.0",
     LKS_NATIVE, "compat-package", "cuda-compat-13-0 on R580: not-needed; remove the package",
     true},
    {"stale package, minor", "--driver 580.126.20 --cuda 13.1 --gpu H100 --compat-package 13.0",
     LKS_MINOR, "compat-package", "not-needed; remove the package", true},
    {"stale package, minor with PTX",
     "--driver 580.126.20 --cuda 13.1 --gpu H100 --compat-package 13.0 --needs-ptx-jit",
     LKS_NO_DRIVER, "compat-package", "not-needed; remove the package", true},
    {"no target", "--driver 550.163.01 --cuda 13.0 --gpu H100 --compat-package 13.0", LKS_NO_DRIVER,
     "compat-package", "R550 is no target of cuda-compat 13.0; remove the package", true},
    {"a package that helps", "--driver 535.216.01 --cuda 13.0 --gpu H100 --compat-package 13.0",
     LKS_FORWARD, "compat-package", "", false},
    {"no package", "--driver 580.126.20 --cuda 13.0 --gpu H100", LKS_NATIVE, "compat-package", "",
     false},
};

static void test_warnings(void)
{
    for (size_t i = 0; i < LKS_COUNT(warnings); i++) {
        lks_test_case("%s", warnings[i].name);
        struct lks_compat_question q = {0};
        parse_args(lks_str_from(warnings[i].args), &q);
        LKS_CLEANUP(lks_compat_answer_fini) struct lks_compat_answer answer = {0};
        lks_compat_ask(lks_test_facts(), &q, &answer);
        CHECK_STR(lks_str_from(lks_compat_reason_name(answer.reason)),
                  lks_compat_reason_name(warnings[i].reason));
        CHECK(warns(&answer.rules, warnings[i].rule, warnings[i].text) == warnings[i].warns);
    }
}

/* A floor for the boards of a family, whose name a list writes with '-' for its blanks. */
static void test_floors(void)
{
    static const char table[] =
        "id,kind,component,range,other,other_range,gpus,condition,note,status,source\n"
        "a,requires,,,driver,>=590,T4 RTX-PRO-6000,,,confirmed,us\n"
        "b,requires,,,driver,>=570,,,,confirmed,us\n";
    static const struct {
        const char *driver, *gpu;
        bool warns;
    } floors[] = {{"580.126.20", "RTX PRO 6000", true},
                  {"595.91.07", "RTX PRO 6000", false},
                  {"580.126.20", "T4", true},
                  {"580.126.20", "H100", false},
                  {"550.163.01", "H100", true}}; /* a floor of no family is one of all */
    struct lks_facts_file file = {LKS_FACTS_SITE_EDGES, "site", lks_str_from(table)};
    LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
    struct lks_err err = {0};
    if (!CHECK_CODE(lks_facts_load(lks_embedded_data, &file, 1, &facts, &err), LKS_OK))
        return;
    for (size_t i = 0; i < LKS_COUNT(floors); i++) {
        lks_test_case("%s on %s", floors[i].driver, floors[i].gpu);
        struct lks_compat_question q = {.driver = lks_str_from(floors[i].driver),
                                        .toolkit = LKS_STR("12.4"),
                                        .gpu = lks_str_from(floors[i].gpu)};
        LKS_CLEANUP(lks_compat_answer_fini) struct lks_compat_answer answer = {0};
        lks_compat_ask(&facts, &q, &answer);
        CHECK(warns(&answer.rules, "platform-floor", "wants driver") == floors[i].warns);
    }
}

/* A family is as good as its best board, and a board is of one vendor. */
static void test_boards(void)
{
    const struct lks_facts *facts = lks_test_facts();
    struct lks_compat_question q = {
        .driver = LKS_STR("525.85.12"), .toolkit = LKS_STR("12.0"), .gpu = LKS_STR("H100")};
    const struct lks_gpu *best = lks_compat_best(facts, &q);
    if (CHECK(best != NULL))
        CHECK_INT(lks_compat_judge(facts, &q, best, NULL), LKS_NATIVE);
    q.gpu = LKS_STR("H100 NVL");
    best = lks_compat_best(facts, &q);
    if (CHECK(best != NULL))
        CHECK_INT(lks_compat_judge(facts, &q, best, NULL), LKS_NO_DRIVER);
    q.gpu = LKS_STR("ZX-9000");
    CHECK(lks_compat_best(facts, &q) == NULL);

    const struct lks_gpu *foreign = lks_compat_foreign(facts, LKS_STR("MI300X"), LKS_VENDOR_NVIDIA);
    if (CHECK(foreign != NULL))
        CHECK_INT(foreign->vendor, LKS_VENDOR_AMD);
    CHECK(lks_compat_foreign(facts, LKS_STR("MI300X"), LKS_VENDOR_AMD) == NULL);
    CHECK(lks_compat_foreign(facts, LKS_STR("ZX-9000"), LKS_VENDOR_AMD) == NULL);
}

/* How people and tools call a board, and the rows that are meant. */
static const struct {
    const char *name;
    const char *product; /* the first row */
    size_t count;
} spellings[] = {
    {"H200 SXM 141GB", "H200 SXM 141GB", 1},
    {"H200", "H200 SXM 141GB", 2},
    {"NVIDIA H200", "H200 SXM 141GB", 1},
    {"nvidia h200", "H200 SXM 141GB", 1},
    {"NVIDIA H200 NVL", "H200 NVL", 1},
    {"NVIDIA H100 80GB HBM3", "H100 SXM5 80GB", 1},
    {"NVIDIA H100 PCIe", "H100 PCIe 80GB", 1},
    {"NVIDIA H100", "H100 PCIe 80GB", 5}, /* people mean the family */
    {"NVIDIA A100-SXM4-80GB", "A100 SXM4 80GB", 1},
    {"NVIDIA A100 80GB PCIe", "A100 PCIe 80GB", 1},
    {"A100-SXM4-40GB", "A100 SXM4 40GB", 1}, /* as drivers before R470 have it */
    {"Tesla V100-SXM2-16GB", "Tesla V100 SXM2 16GB", 1},
    {"Tesla V100-SXM2-32GB-LS", "Tesla V100 SXM2 32GB", 1},
    {"Tesla T4", "Tesla T4", 1},
    {"NVIDIA GH200 480GB", "GH200 120GB/480GB", 1},
    {"NVIDIA GB200", "GB200", 1},
    {"NVIDIA B300 SXM6 AC", "B300 SXM6", 1},
    {"AMD Instinct MI300X OAM", "Instinct MI300X", 1},
    {"AMD Instinct MI300X", "Instinct MI300X", 1},
    {"10de:2335", "H200 SXM 141GB", 1},
    {"NVIDIA H2", NULL, 0},
    {"|", NULL, 0},
    {"", NULL, 0},
};

static void test_spellings(void)
{
    for (size_t i = 0; i < LKS_COUNT(spellings); i++) {
        const struct lks_gpu *boards[LKS_COMPAT_BOARDS_MAX];
        lks_test_case("'%s'", spellings[i].name);
        size_t count = lks_compat_boards(lks_test_facts(), lks_str_from(spellings[i].name), boards,
                                         LKS_COUNT(boards));
        CHECK_INT(count, spellings[i].count);
        if (count > 0 && spellings[i].count > 0)
            CHECK_STR(boards[0]->product, spellings[i].product);
    }
}

/* Whatever a tool calls a board means that row and no other. */
static void test_tool_names(void)
{
    const struct lks_facts *facts = lks_test_facts();
    size_t count = 0;
    for (size_t i = 0; i < facts->gpus.count; i++) {
        struct lks_str rest = facts->gpus.rows[i].names, name;
        for (bool more = rest.len > 0; more; count++) {
            const struct lks_gpu *boards[LKS_COMPAT_BOARDS_MAX];
            more = lks_str_cut(rest, '|', &name, &rest);
            name = lks_str_trim(name);
            lks_test_case("'%" LKS_STR_FMT "'", LKS_STR_ARG(name));
            if (CHECK_INT(lks_compat_boards(facts, name, boards, LKS_COUNT(boards)), 1))
                CHECK(boards[0] == &facts->gpus.rows[i]);
        }
    }
    CHECK(count >= 50);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"compat answers every question as the sources do", test_questions},
        {"compat: warnings beside the answer", test_warnings},
        {"compat: floors of boards", test_floors},
        {"compat: boards", test_boards},
        {"compat: spellings of boards", test_spellings},
        {"compat: what tools call boards", test_tool_names},
        {0},
    });
}
