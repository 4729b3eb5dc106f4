/* Commands of the command line against two simulated BMCs, as rows and one by one. */
#ifndef LKS_TESTS_CLI_BMC_H
#define LKS_TESTS_CLI_BMC_H

#include "tests/bmcd.h"
#include "tests/run_cli.h"

enum { CLI_BMC_WORDS = 14, CLI_BMC_WORD = 256, CLI_BMC_COUNT = 2 };

/* The caller starts it, and fills the addresses in. */
extern struct bmcd cli_bmc_sim;
extern char cli_bmc_urls[CLI_BMC_COUNT][BMCD_URL_MAX];

/* A word of a row: DIR, URL, URL2, LOGIN stand for what they are here. `out` is returned. */
const char *cli_bmc_fill(const char *word, char out[CLI_BMC_WORD]);

struct lks_run cli_bmc_run(const char *const *words);

struct cli_bmc_row {
    const char *name;
    const char *words[CLI_BMC_WORDS];
    int exit;
    const char *out, *err;
};

/* Run each and check what it says; no row may show a password. */
void cli_bmc_check_rows(const struct cli_bmc_row *rows, size_t count);

/* A text of the JSON that a command answers with, which has the members that help names. */
void cli_bmc_answer(const char *command, const char *const *words, const char *key,
                    char out[CLI_BMC_WORD]);

/* A device of the first BMC as it is, whatever the BMC reports; views of `docs`. */
bool cli_bmc_truth(const char *id, struct lks_str *active, int64_t *flashes, struct lks_docs *docs);

/* The same of the BMC's own firmware, checked. */
void cli_bmc_check_truth(const char *active, int64_t flashes);

/* DIR/bundle-VERSION: an image for the BMC itself; `more` lines of its manifest. */
void cli_bmc_bundle(const char *version, const char *more);

/* The program itself, with its output in DIR/said; `server`, or NULL, is its controller. */
pid_t cli_bmc_spawn(const char *const *words, const char *server);

/* That output. */
void cli_bmc_said(struct lks_buf *out);

#endif
