#include "base/commit.h"
#include "base/file.h"
#include "base/process/args.h"
#include "base/term/term.h"
#include "lab/bmcd/serve.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

#define PACKAGE_MAX (LKS_BMCSIM_IMAGE_MAX + ((size_t)1 << 20))

enum { SETS_MAX = 256, SPEED_MAX = 1000000 };

static const struct lks_option serve_options[] = {
    {"--dir DIR", "folder for ca.pem and login (for credentials: file:/DIR/login)"},
    {"--listen ADDRESS:PORT",
     "loopback address of the first BMC; the others follow (127.64.0.1:7500)"},
    {"--count N", "number of BMCs, or with --rack of racks (1)"},
    {"--personality LIST", "their personalities, in turn, separated by commas (openbmc)"},
    {"--rack nvl72", "whole racks: 18 compute trays, 9 switch trays, 8 power shelves"},
    {"--bmc PERSONALITY=HOSTS...", "BMCs by name, such as hgx=gpu[01-16]; may be repeated"},
    {"--tree DIR", "serve a recorded tree (DIR/redfish/v1/index.json), read-only"},
    {"--user NAME", "user name for logins (admin)"},
    {"--password-file FILE", "password of that user; default: a generated one"},
    {"--firmware VERSION", "initial version of all devices (1.0.0)"},
    {"--versions LIST", "initial version of some classes: bmc=25.04,bios=1.2.3"},
    {"--seed N", "seed of the random generator (1)"},
    {"--speed N", "speed as a multiple of real devices; 0: no delays (1)"},
    {"--faults MIX", "faults, and the percentage of BMCs that have them: "
                     "revert=5,slow:2000=10"},
    {"--pull-ca FILE", "the CA of https servers that SimpleUpdate may fetch from"},
    {"--control PATH", "Unix socket that reports the real state and accepts faults"},
    {"--fleet-file FILE", "write a manifest of these BMCs for 'lockstep fleet apply'"},
    {"--revisions LIST", "hardware revisions, in turn (A,A,A,B)"},
    {"--class NAME", "hardware class of the nodes in it (hgx-h200-8; of racks "
                     "gb200-nvl72-tray)"},
    {"--version", "print the version and exit"},
    {"--help", "print this help and exit"},
    {0},
};

static const struct lks_option package_options[] = {
    {"--personality NAME", "personality of the BMCs that the package is for"},
    {"--class CLASS", "class of the devices, such as bmc or bios; default: all"},
    {"--version VERSION", "version of the components"},
    {"--fails-on REVISION",
     "hardware revision whose devices cannot start the image and keep the old one"},
    {"--slower THOUSANDTHS", "machines with this image are slower by so many thousandths"},
    {"--size BYTES", "size of each component (65536)"},
    {"--seed N", "seed of the content (1)"},
    {"--output FILE", "package to write"},
    {"--help", "print this help and exit"},
    {0},
};

static void print_words(const char *title, const char *const *words)
{
    printf("\n%s:", title);
    for (size_t i = 0; words[i] != NULL; i++)
        printf(" %s", words[i]);
    printf("\n");
}

static void print_help(void)
{
    printf("usage: lockstep-bmcsim --dir DIR [OPTION...]\n"
           "       lockstep-bmcsim make-package --personality NAME --version VERSION --output "
           "FILE\n\n"
           "Simulated BMCs with firmware devices behind them, each on a loopback address of its "
           "own.\n\n");
    lks_args_print(serve_options, LKS_TERM_TEXT_COLUMNS, stdout);
    print_words("personalities", lks_bmcsim_words);
    print_words("faults", lks_bmcsim_fault_words);
    printf("\nmake-package:\n");
    lks_args_print(package_options, LKS_TERM_TEXT_COLUMNS, stdout);
    printf("\nPrints \"ready URL URL\" (the first and the last) once all of them answer; SIGTERM "
           "ends the program.\nExit status: 0 done, 1 refused, 2 usage, 3 bad input, 4 cannot "
           "reach, 5 not "
           "permitted, 6 internal.\n");
}

static enum lks_code read_number(const struct lks_args *args, const char *name, uint64_t most,
                                 uint64_t usual, uint64_t *out, struct lks_err *err)
{
    const char *text = lks_args_get(args, name);
    *out = usual;
    if (text != NULL && !lks_str_number(lks_str_from(text), most, out))
        return lks_fail(err, LKS_E_USAGE, "%s: '%s' is not a number up to %llu", name, text,
                        (unsigned long long)most);
    return LKS_OK;
}

static const char *get_or(const struct lks_args *args, const char *name, const char *usual)
{
    const char *value = lks_args_get(args, name);
    return value != NULL ? value : usual;
}

/* ---- make-package. ---- */

static enum lks_code make_package(int argc, char **argv, struct lks_err *err)
{
    static struct lks_args args;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(PACKAGE_MAX);
    enum lks_bmcsim_personality personality;
    uint64_t size, seed, slower;
    if (lks_args_read(argc, argv, package_options, &args, err) != LKS_OK)
        return err->code;
    if (lks_args_has(&args, "--help")) {
        print_help();
        return LKS_OK;
    }
    const char *version = lks_args_get(&args, "--version"),
               *output = lks_args_get(&args, "--output");
    if (args.positional_count > 0 || version == NULL || output == NULL ||
        !lks_args_has(&args, "--personality"))
        return lks_fail(err, LKS_E_USAGE,
                        "usage: lockstep-bmcsim make-package --personality NAME --version VERSION "
                        "--output FILE; see --help");
    if (lks_layout_personality(lks_args_str(&args, "--personality"), &personality, err) != LKS_OK)
        return lks_wrap(err, "--personality");
    if (read_number(&args, "--size", LKS_BMCSIM_IMAGE_MAX, 65536, &size, err) != LKS_OK ||
        read_number(&args, "--seed", UINT64_MAX, 1, &seed, err) != LKS_OK ||
        read_number(&args, "--slower", LKS_BMCSIM_SLOWER_MAX, 0, &slower, err) != LKS_OK)
        return err->code;
    const struct lks_bmcsim_make make = {.personality = personality,
                                         .class = lks_args_get(&args, "--class"),
                                         .version = version,
                                         .fails_on = lks_args_get(&args, "--fails-on"),
                                         .slower = (unsigned)slower,
                                         .seed = seed,
                                         .size = size};
    if (lks_bmcsim_image_package_make(&make, &out, err) != LKS_OK)
        return err->code;
    return lks_file_replace(output, lks_buf_view(&out), err);
}

/* ---- Serving. ---- */

static enum lks_code read_layout(const struct lks_args *args, struct lks_layout *out,
                                 struct lks_err *err)
{
    const char *sets[SETS_MAX];
    struct lks_layout_wish wish = {.listen = get_or(args, "--listen", "127.64.0.1:7500"),
                                   .personalities = get_or(args, "--personality", "openbmc"),
                                   .rack = lks_args_get(args, "--rack"),
                                   .revisions = get_or(args, "--revisions", "A,A,A,B"),
                                   .sets = sets};
    size_t at = 0;
    const char *set;
    while ((set = lks_args_next(args, "--bmc", &at)) != NULL) {
        if (wish.set_count == SETS_MAX)
            return lks_fail(err, LKS_E_USAGE, "--bmc: more than %d of them", SETS_MAX);
        sets[wish.set_count++] = set;
    }
    bool mixed = lks_args_has(args, "--count") || lks_args_has(args, "--personality");
    if (wish.set_count > 0 && (mixed || wish.rack != NULL))
        return lks_fail(
            err, LKS_E_USAGE,
            "--bmc names each BMC; --count, --personality and --rack do not go with it");
    if (wish.rack != NULL && lks_args_has(args, "--personality"))
        return lks_fail(err, LKS_E_USAGE,
                        "--rack says what is in it; --personality does not go "
                        "with it");
    if (read_number(args, "--count", LKS_LAYOUT_MAX, 1, &wish.count, err) != LKS_OK)
        return err->code;
    return lks_layout_make(&wish, out, err);
}

/* Names stand in a line of the login file, "USER:PASSWORD". */
static enum lks_code check_user(const char *user, struct lks_err *err)
{
    struct lks_str s = lks_str_from(user);
    if (s.len == 0 || s.len > 127 || !lks_str_printable(s) || memchr(s.ptr, ':', s.len) != NULL)
        return lks_fail(err, LKS_E_USAGE, "--user: a name of 1 to 127 bytes without a colon");
    return LKS_OK;
}

static enum lks_code check_versions(const char *versions, struct lks_err *err)
{
    struct lks_str rest = lks_str_from(versions != NULL ? versions : ""), item, class, version;
    for (bool more = rest.len > 0; more;) {
        more = lks_str_cut(rest, ',', &item, &rest);
        if (!lks_str_cut(item, '=', &class, &version) || class.len == 0 || version.len == 0)
            return lks_fail(err, LKS_E_USAGE, "--versions: '%" LKS_STR_FMT "' is not CLASS=VERSION",
                            LKS_STR_ARG(item));
    }
    return LKS_OK;
}

static enum lks_code read_options(const struct lks_args *args, struct lks_serve_options *o,
                                  struct lks_err *err)
{
    bool rack = lks_args_has(args, "--rack");
    o->dir = lks_args_get(args, "--dir");
    o->user = get_or(args, "--user", "admin");
    o->password_file = lks_args_get(args, "--password-file");
    o->version = get_or(args, "--firmware", "1.0.0");
    o->versions = lks_args_get(args, "--versions");
    o->tree = lks_args_get(args, "--tree");
    o->pull_ca = lks_args_get(args, "--pull-ca");
    o->control = lks_args_get(args, "--control");
    o->fleet_file = lks_args_get(args, "--fleet-file");
    o->class = get_or(args, "--class", rack ? "gb200-nvl72-tray" : "hgx-h200-8");
    if (o->dir == NULL)
        return lks_fail(err, LKS_E_USAGE,
                        "--dir has to say where ca.pem and login are written; see --help");
    if (read_number(args, "--seed", UINT64_MAX, 1, &o->seed, err) != LKS_OK ||
        read_number(args, "--speed", SPEED_MAX, 1, &o->speed, err) != LKS_OK ||
        check_user(o->user, err) != LKS_OK || check_versions(o->versions, err) != LKS_OK)
        return err->code;
    if (lks_faults_parse(lks_args_str(args, "--faults"), &o->faults, err) != LKS_OK)
        return lks_wrap(err, "--faults");
    return LKS_OK;
}

static enum lks_code serve(int argc, char **argv, struct lks_err *err)
{
    static struct lks_args args;
    LKS_CLEANUP(lks_layout_fini) struct lks_layout layout = {0};
    struct lks_serve_options options = {.layout = &layout};
    if (lks_args_read(argc, argv, serve_options, &args, err) != LKS_OK)
        return err->code;
    if (lks_args_about(&args, print_help, "lockstep-bmcsim", LKS_COMMIT))
        return LKS_OK;
    if (args.positional_count > 0)
        return lks_fail(err, LKS_E_USAGE, "no command '%s'; there is make-package",
                        args.positional[0]);
    if (read_options(&args, &options, err) != LKS_OK || read_layout(&args, &layout, err) != LKS_OK)
        return err->code;
    return lks_serve_run(&options, stdout, err);
}

int main(int argc, char **argv)
{
    struct lks_err err = {0};
    enum lks_code code;
    umask(077);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file at its limit is a write that fails */
    if (argc > 1 && strcmp(argv[1], "make-package") == 0)
        code = make_package(argc - 2, argv + 2, &err);
    else
        code = serve(argc - 1, argv + 1, &err);
    if (code == LKS_OK && (fflush(stdout) != 0 || ferror(stdout)) && errno != EPIPE)
        code = lks_fail(&err, LKS_E_IO, "cannot write the answer: %s", strerror(errno));
    if (code != LKS_OK)
        fprintf(stderr, "lockstep-bmcsim: %s\n", err.msg);
    return lks_err_code_info(code)->exit;
}
