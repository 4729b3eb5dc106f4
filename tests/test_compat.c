/* The oracle of compat-questions.csv was written from the vendors' documents, apart from the engine
 * it judges. Here every question is put to the engine. */
#include "core/compat.h"

#include "base/file.h"
#include "codec/csv.h"
#include "tests/facts.h"
#include "tests/test.h"

#include <stdio.h>

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
    struct lks_str reason = lks_str_from(lks_reason_name(answer.reason));
    struct lks_str verdict = lks_str_from(lks_reason_verdict(answer.reason));
    CHECK(lks_str_eq(reason, csv->fields[3]));
    CHECK(lks_str_eq(verdict, csv->fields[2]));
    if (!lks_str_eq(reason, csv->fields[3]))
        printf("    %s, expected %.*s: %.*s\n", lks_reason_name(answer.reason),
               LKS_STR_ARG(csv->fields[3]), LKS_STR_ARG(csv->fields[1]));
    CHECK(csv->fields[4].len > 0);
    CHECK(answer.rules.count > 0);
    /* An answer that is not a plain yes comes with a way out, unless nothing is known. */
    if (answer.reason >= LKS_NO_DRIVER && answer.board != NULL)
        CHECK(answer.remedy.len > 0);
}

static void test_questions(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    lks_buf_init(&text, FILE_MAX);
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

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"compat answers every question as the sources do", test_questions},
        {0},
    });
}
