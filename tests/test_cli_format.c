/* Answers that are converted or collected before they are printed: failures are reported, and
 * nothing of the answer is lost without one. */
#include "cli/output/format.h"
#include "cli/output/pager.h"
#include "tests/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct lks_command command = {.name = "node ls"};
static const struct lks_option output = {"-o, --output FORMAT", ""};

static struct lks_args yaml_args(void)
{
    return (struct lks_args){.given = {{&output, "yaml"}}, .given_count = 1};
}

/* A stream that loses what is written, as a memory stream does without memory. */
static ssize_t lose(void *cookie, const char *bytes, size_t size)
{
    (void)cookie, (void)bytes, (void)size;
    errno = ENOSPC;
    return 0;
}

static FILE *open_lossy(void)
{
    FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = lose});
    CHECK(stream != NULL);
    return stream;
}

/* The first line fails; whatever is written after it is dropped, whole lines or not. */
static void test_after_failure(void)
{
    static const char *const parts[] = {"{\"a\":\n", "{\"b\":1}\n{\"c\":2}\n", "{\"d\":", "3}\n{"};
    struct lks_args args = yaml_args();
    struct lks_format f;
    struct lks_err err = {0};
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    struct lks_cli cli = {.out = out};
    if (!CHECK(lks_format_begin(&f, &cli, &command, &args, &err) == LKS_OK))
        return;
    for (size_t i = 0; i < LKS_COUNT(parts); i++) {
        fputs(parts[i], cli.out);
        fflush(cli.out);
        CHECK_INT(f.line.len, 0);
    }
    CHECK(lks_format_end(&f, LKS_OK, &err) != LKS_OK);
    CHECK_HAS(lks_str_from(err.msg), "--output yaml: not JSON");
    CHECK(cli.out == out);
    fclose(out);
    CHECK_INT(len, 0);
    free(text);
}

static void test_many_options(void)
{
    static struct lks_args args;
    struct lks_format f;
    struct lks_err err = {0};
    struct lks_cli cli = {.out = stdout};
    args = yaml_args();
    for (; args.given_count < LKS_ARGS_MAX; args.given_count++)
        args.given[args.given_count] = args.given[0];
    CHECK_INT(lks_format_begin(&f, &cli, &command, &args, &err), LKS_E_USAGE);
    CHECK_HAS(lks_str_from(err.msg), "--output: more than 1023 other options");
    CHECK(cli.out == stdout);
}

/* The answer did not reach the conversion. */
static void test_lost_format(void)
{
    struct lks_cli cli = {.out = open_lossy()};
    struct lks_format f = {.cli = &cli, .out = stdout};
    struct lks_err err = {0};
    lks_buf_init(&f.line, 1);
    fputs("{}\n", cli.out);
    CHECK_INT(lks_format_end(&f, LKS_OK, &err), LKS_E_IO);
    CHECK_HAS(lks_str_from(err.msg), "part of the answer is lost");
    CHECK(cli.out == stdout);
}

/* The answer was not collected whole: part of it is not shown as all of it. */
static void test_lost_pager(void)
{
    static const bool flushed[] = {false, true};
    for (size_t i = 0; i < LKS_COUNT(flushed); i++) {
        struct lks_cli cli = {.out = open_lossy(), .err = stderr, .term = {.height = 24}};
        struct lks_pager p = {.out = stdout};
        struct lks_err err = {0};
        lks_test_case("%s", flushed[i] ? "an earlier write" : "the last write");
        fputs("x\n", cli.out);
        if (flushed[i])
            fflush(cli.out);
        CHECK_INT(lks_pager_end(&p, &cli, LKS_OK, &err), LKS_E_IO);
        CHECK_HAS(lks_str_from(err.msg), "part of the answer is lost");
        CHECK(cli.out == stdout);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"nothing is converted after a failure", test_after_failure},
        {"as many options as there can be", test_many_options},
        {"an answer that is lost before its conversion", test_lost_format},
        {"an answer that is lost before the pager", test_lost_pager},
        {0},
    });
}
