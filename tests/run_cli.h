/* The command line as a user has it, for tests: arguments in, exit status and both streams out. */
#ifndef LKS_TESTS_RUN_CLI_H
#define LKS_TESTS_RUN_CLI_H

#include "cli/shared/cli.h"
#include "codec/format/json.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LKS_RUN_ARGS_MAX 20
#define LKS_RUN_TODAY    "2026-11-15"

/* The time it is, for tests beside real programs; 0: the beginning of that day. */
static int64_t lks_run_now;

struct lks_run {
    int exit;
    struct lks_str out, err; /* owned */
};

/* Run the program with `args`, which end with NULL and do not hold the program's name, on a
 * terminal of `width` columns (0: no terminal). */
static inline struct lks_run lks_run_wide(const char *const *args, unsigned width)
{
    char *argv[LKS_RUN_ARGS_MAX] = {(char *)(uintptr_t) "lockstep"};
    int argc = 1;
    while (args[argc - 1] != NULL && argc + 1 < LKS_RUN_ARGS_MAX) {
        argv[argc] = (char *)(uintptr_t)args[argc - 1];
        argc++;
    }
    char *out = NULL, *err = NULL;
    size_t out_len = 0, err_len = 0;
    struct lks_cli cli = {
        .out = open_memstream(&out, &out_len),
        .err = open_memstream(&err, &err_len),
        .term = {.width = width},
    };
    CHECK(lks_time_day_parse(LKS_STR(LKS_RUN_TODAY), &cli.today));
    cli.now = lks_run_now != 0 ? lks_run_now : (int64_t)cli.today * 86400;
    struct lks_run run = {.exit = lks_cli_run(&cli, argc, argv)};
    fclose(cli.out);
    fclose(cli.err);
    run.out = (struct lks_str){out, out_len};
    run.err = (struct lks_str){err, err_len};
    return run;
}

static inline struct lks_run lks_run(const char *const *args)
{
    return lks_run_wide(args, 0);
}

static inline void lks_run_fini(struct lks_run *run)
{
    free((void *)(uintptr_t)run->out.ptr);
    free((void *)(uintptr_t)run->err.ptr);
    *run = (struct lks_run){0};
}

/* What was printed, read as JSON; NULL when it is none. The caller owes lks_docs_fini(). */
static inline const struct lks_doc *lks_run_json(const struct lks_run *run, struct lks_docs *docs)
{
    struct lks_err err = {0};
    if (!CHECK(lks_docs_init(docs, "answer", &err) == LKS_OK))
        return NULL;
    enum lks_code code = lks_json_parse(run->out, docs, &err);
    CHECK_STR(lks_str_from(err.msg), "");
    return code == LKS_OK ? docs->first : NULL;
}

/* JSON that commands print ------------------------------------------------------------------- */

/* Whether `word` stands in `text` between other characters than those of words. */
static inline bool lks_run_names(struct lks_str text, struct lks_str word)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";
    while (text.len > 0) {
        size_t skip = strcspn(text.ptr, letters), len = strspn(text.ptr + skip, letters);
        if (lks_str_eq((struct lks_str){text.ptr + skip, len}, word))
            return true;
        text.ptr += skip + len;
        text.len -= skip + len;
    }
    return false;
}

static inline void lks_run_check_within(struct lks_str documented, const struct lks_doc *doc)
{
    CHECK(doc->kind != LKS_DOC_NULL);
    CHECK(doc->kind != LKS_DOC_TEXT || doc->text.len > 0);
    for (const struct lks_doc *item = doc->first; item != NULL; item = item->next) {
        if (doc->kind == LKS_DOC_MAP && !CHECK(lks_run_names(documented, item->key)))
            printf("    '%.*s'\n", LKS_STR_ARG(item->key));
        if (!lks_str_is(item->key, "identity")) /* which is a manifest's, and not ours */
            lks_run_check_within(documented, item);
    }
}

/* Every member is one that help names, and nothing is said in one way: it is left out. */
static inline void lks_run_check_members(const char *command, const struct lks_doc *doc)
{
    for (size_t i = 0; i < lks_command_count; i++) {
        if (strcmp(lks_commands[i].name, command) == 0)
            lks_run_check_within(lks_str_from(lks_commands[i].json), doc);
    }
}

/* Commands with a test of their own that also reads their JSON: tests/test_cli_bundle.c,
 * test_cli_bmc.c, test_cli_change.c, test_context.c, test_pldm_package_cli.c. */
static inline bool lks_run_has_own_test(const char *command)
{
    static const char *const groups[] = {"bmc ",    "bundle ", "trust ",   "pldm ",
                                         "change ", "freeze",  "unfreeze", "rehearse",
                                         "login",   "logout",  "config "};
    for (size_t i = 0; i < LKS_COUNT(groups); i++) {
        if (strncmp(command, groups[i], strlen(groups[i])) == 0)
            return true;
    }
    return false;
}

/* Commands that ask lockstepd or work on its directory: tests/test_cli_daemon.c has those; and
 * those that have a test program of their own. */
static inline bool lks_run_needs_controller(const char *command)
{
    static const char *const groups[] = {
        "fleet ",        "node ",           "access ",       "whoami",       "alarm ",
        "journal ",      "backup",          "restore",       "doctor",       "top",
        "sim ",          "drift",           "deviation ",    "admit",        "image ",
        "stack publish", "stack ls",        "stack promote", "stack retire", "command ",
        "override ",     "flash ",          "endpoint ",     "sweep ",       "artifact ",
        "scheduler ",    "stack rollbacks", "bundle show",   "job "};
    for (size_t i = 0; i < LKS_COUNT(groups); i++) {
        if (strncmp(command, groups[i], strlen(groups[i])) == 0)
            return true;
    }
    return false;
}

#endif
