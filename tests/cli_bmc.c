#include "tests/cli_bmc.h"

#include "lab/bmcsim/bmcsim.h"
#include "tests/wait.h"

#include "base/file.h"

#include <fcntl.h>
#include <unistd.h>

enum { IMAGE = 512 << 10 };

struct bmcd cli_bmc_sim;
char cli_bmc_urls[CLI_BMC_COUNT][BMCD_URL_MAX];

const char *cli_bmc_fill(const char *word, char out[CLI_BMC_WORD])
{
    const struct {
        const char *name, *value;
    } names[] = {{"URL2", cli_bmc_urls[1]},
                 {"URL", cli_bmc_urls[0]},
                 {"LOGIN", cli_bmc_sim.login},
                 {"DIR", cli_bmc_sim.tree.path}};
    size_t n = 0;
    out[0] = '\0';
    for (const char *c = word; *c != '\0' && n + 1 < CLI_BMC_WORD;) {
        const char *value = NULL;
        for (size_t i = 0; value == NULL && i < LKS_COUNT(names); i++) {
            if (strncmp(c, names[i].name, strlen(names[i].name)) == 0) {
                value = names[i].value;
                c += strlen(names[i].name);
            }
        }
        n += (size_t)(value != NULL ? snprintf(out + n, CLI_BMC_WORD - n, "%s", value)
                                    : snprintf(out + n, CLI_BMC_WORD - n, "%c", *c++));
    }
    return out;
}

struct lks_run cli_bmc_run(const char *const *words)
{
    char storage[CLI_BMC_WORDS][CLI_BMC_WORD];
    const char *args[CLI_BMC_WORDS + 1] = {0};
    for (size_t i = 0; i < CLI_BMC_WORDS && words[i] != NULL; i++)
        args[i] = cli_bmc_fill(words[i], storage[i]);
    return lks_run(args);
}

void cli_bmc_check_rows(const struct cli_bmc_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        lks_test_case("%s", rows[i].name);
        struct lks_run run = cli_bmc_run(rows[i].words);
        CHECK_INT(run.exit, rows[i].exit);
        CHECK_HAS(run.out, rows[i].out);
        CHECK_HAS(run.err, rows[i].err);
        CHECK(lks_str_find(run.out, lks_str_from(cli_bmc_sim.password)) < 0);
        CHECK(lks_str_find(run.err, lks_str_from(cli_bmc_sim.password)) < 0);
        CHECK(lks_str_find(run.err, LKS_STR("hunter2")) < 0);
        lks_run_fini(&run);
    }
}

void cli_bmc_answer(const char *command, const char *const *words, const char *key,
                    char out[CLI_BMC_WORD])
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_run run = cli_bmc_run(words);
    const struct lks_doc *doc = lks_run_json(&run, &docs);
    out[0] = '\0';
    CHECK_INT(run.exit, 0);
    if (CHECK(doc != NULL)) {
        lks_run_check_members(command, doc);
        snprintf(out, CLI_BMC_WORD, "%" LKS_STR_FMT, LKS_STR_ARG(lks_doc_text(doc, key)));
    }
    lks_run_fini(&run);
}

bool cli_bmc_truth(const char *id, struct lks_str *active, int64_t *flashes, struct lks_docs *docs)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_DOC_BYTES_MAX);
    struct lks_err err = {0};
    CHECK_INT(bmcd_control(&cli_bmc_sim, "GET", "/bmcs/bmc0001", NULL, &text), 200);
    if (!CHECK(lks_docs_init(docs, "truth", &err) == LKS_OK &&
               lks_json_parse(lks_buf_view(&text), docs, &err) == LKS_OK))
        return false;
    const struct lks_doc *devices = lks_doc_member(docs->first, "devices");
    for (const struct lks_doc *d = devices != NULL ? devices->first : NULL; d != NULL;
         d = d->next) {
        const struct lks_doc *count = lks_doc_member(d, "flashes");
        if (!lks_str_is(lks_doc_text(d, "id"), id) || count == NULL)
            continue;
        *active = lks_doc_text(d, "active");
        *flashes = count->number;
        return true;
    }
    return CHECK(false);
}

void cli_bmc_check_truth(const char *active, int64_t flashes)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_str is = {0};
    int64_t count = 0;
    if (!cli_bmc_truth("bmc_active", &is, &count, &docs))
        return;
    CHECK_STR(is, active);
    CHECK_INT(count, flashes);
}

void cli_bmc_bundle(const char *version, const char *more)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF((size_t)2 * IMAGE);
    struct lks_err err = {0};
    char text[CLI_BMC_WORD * 2], output[CLI_BMC_WORD];
    CHECK_CODE(lks_bmcsim_image_package(LKS_BMCSIM_OPENBMC, "bmc", version, 1, IMAGE, &bytes, &err),
               LKS_OK);
    lks_tree_bytes(&cli_bmc_sim.tree, "/src/bmc.fwpkg", lks_buf_view(&bytes));
    lks_tree_file(&cli_bmc_sim.tree, "/src/other.img", "other");
    snprintf(text, sizeof(text),
             "lockstep: 1\nkind: Bundle\nname: fw\nversion: \"%s\"\nfiles:\n"
             "  - file: bmc.fwpkg\n    component: bmc\n%s",
             version, more);
    lks_tree_file(&cli_bmc_sim.tree, "/src/bundle.yaml", text);
    snprintf(output, sizeof(output), "--output=DIR/bundle-%s", version);
    const char *build[CLI_BMC_WORDS] = {"bundle", "build", "DIR/src", output,
                                        "--sign=DIR/site.key"};
    struct lks_run run = cli_bmc_run(build);
    CHECK_STR(run.err, "");
    lks_run_fini(&run);
}

pid_t cli_bmc_spawn(const char *const *words, const char *server)
{
    char storage[CLI_BMC_WORDS][CLI_BMC_WORD], said[CLI_BMC_WORD];
    char *argv[CLI_BMC_WORDS + 2] = {storage[0]};
    snprintf(storage[0], CLI_BMC_WORD, "lockstep");
    for (size_t i = 0; i + 1 < CLI_BMC_WORDS && words[i] != NULL; i++)
        argv[i + 1] = (char *)(uintptr_t)cli_bmc_fill(words[i], storage[i + 1]);
    (void)cli_bmc_fill("DIR/said", said);
    fflush(stdout);
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    int fd = open(said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (server != NULL)
        setenv("LOCKSTEP_SERVER", server, 1);
    if (fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0 && dup2(fd, STDERR_FILENO) >= 0)
        execv(LKS_CLI_PROGRAM, argv);
    _exit(127);
}

void cli_bmc_said(struct lks_buf *out)
{
    char path[CLI_BMC_WORD];
    struct lks_err err = {0};
    lks_buf_init(out, LKS_DOC_BYTES_MAX);
    CHECK_CODE(lks_file_read_plain(cli_bmc_fill("DIR/said", path), out, &err), LKS_OK);
}
