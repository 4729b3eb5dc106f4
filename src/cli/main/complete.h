/*
 * Completion of command lines. The scripts of the shells (packaging/completion) are thin: they give
 * the line up to the cursor to `lockstep __complete LINE` and offer what it prints:
 *
 *     WORD<tab>ABOUT    a word that can stand at the cursor, whole, and a note about it
 *     :file             files can stand there, too; the shell knows them
 *     :dir              the same for folders
 *
 * Nothing is printed where nothing fits or is known, and never an error: a person is typing.
 */
#ifndef LKS_CLI_COMPLETE_H
#define LKS_CLI_COMPLETE_H

#include "cli/shared/cli.h"
#include "cli/shared/remote.h"

enum lks_complete_kind {
    LKS_COMPLETE_NOTHING, /* numbers, times, texts */
    LKS_COMPLETE_FILES,
    LKS_COMPLETE_FOLDERS,
    LKS_COMPLETE_WORDS,
    LKS_COMPLETE_LIVE,     /* names that lockstepd knows */
    LKS_COMPLETE_COLUMNS,  /* of the rows that the command lists */
    LKS_COMPLETE_SELECTOR, /* the same, with '=' behind each */
    LKS_COMPLETE_SORTS,    /* those that it can sort by */
    LKS_COMPLETE_RECORDS,  /* kinds of records */
    LKS_COMPLETE_COMMANDS, /* the words of a command */
    LKS_COMPLETE_CONTEXTS, /* of the user's configuration */
};

/* A list that lockstepd has: its address, and a form (cli/shared/render.h) that makes a word of an
 * item and, behind a tab, a note about it. */
struct lks_complete_list {
    const char *path, *form;
    const char *also;   /* a form of another name that people know the item by; NULL: it has none */
    const char *member; /* of the answer, which is one page then; NULL: "items", page by page */
};

/* What can be the value of an option or an argument. */
struct lks_complete_source {
    const char *command; /* "change show", "change *", NULL: every command */
    const char *value;   /* "--pool", or what stands for it in usage lines: "NODES" */
    enum lks_complete_kind kind;
    const char *const *words; /* WORDS, up to NULL */
    const struct lks_complete_list *list;
    bool several; /* separated by commas */
};

/* The sources of a value: `name` is an option or empty, `value` stands for it in usage lines. Rows
 * for the same value follow each other; `count` is 0 where the table has no row. */
const struct lks_complete_source *lks_complete_table_find(const struct lks_command *command,
                                                          struct lks_str name, struct lks_str value,
                                                          size_t *count);

/* What stands for the value of an option in usage lines: "NODES" of "--nodes NODES..."; empty: it
 * takes none. The same for the argument of that number; false: there is none. */
struct lks_str lks_complete_table_value(const struct lks_option *option);
bool lks_complete_table_argument(const struct lks_command *command, size_t number,
                                 struct lks_str *out);

/* Names of a list, a line each as above, sorted: from the cache, which lives for some seconds, or
 * from lockstepd. Nothing where it does not answer. `typed` has --server and --context of the line.
 */
void lks_complete_live_names(struct lks_cli *cli, const struct lks_args *typed,
                             const struct lks_complete_list *list, struct lks_buf *out);

/* Hand each item of a list to `fn`, from lockstepd. */
enum lks_code lks_complete_live_each(struct lks_remote *remote,
                                     const struct lks_complete_list *list, lks_remote_item *fn,
                                     void *ctx, struct lks_err *err) LKS_MUST_CHECK;

/* A line as a shell splits it; the last word is the one at the cursor. */
enum { LKS_COMPLETE_LINE_MAX = 16384, LKS_COMPLETE_WORDS_MAX = 512 };
struct lks_complete_words {
    char text[LKS_COMPLETE_LINE_MAX];
    const char *words[LKS_COMPLETE_WORDS_MAX]; /* in `text` */
    size_t count, len;
};

/* False: the line is longer than any that a person types. `out` is all zero before. */
bool lks_complete_split(const char *text, struct lks_complete_words *out);

/* Print what can stand at the end of the line `text`. */
void lks_complete_line(struct lks_cli *cli, const char *text);

#endif
