/* The command line as a whole: what it answers, where it says it, and with which exit status. */
#include "base/file.h"
#include "base/term/term.h"
#include "cli/shared/cli.h"
#include "cli/shared/selector.h"
#include "core/view/view_row.h"
#include "tests/manifests.h"
#include "tests/run_cli.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#define H100 "examples/h100-train.yaml"
#define H200 "examples/h200-train.yaml"
#define NEXT "examples/h200-train-next.yaml"
#define ROOT "tests/roots/h200"
#define RACK "examples/gb200-nvl72.yaml"

#define ARGS(...)                                                                                  \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

/* Of a build that was not told its commit. */
#define VERSION_LINE "lockstep " LKS_VERSION " (commit unknown: not built from a git checkout)\n"

#define COMPAT_NEEDS                                                                               \
    "lockstep: compat: needs --driver V --cuda V --gpu GPU, or --amdgpu V --rocm V --gpu GPU\n"

/* Where `out` or `err` is NULL, that stream is looked at in another test. */
static const struct {
    const char *name;
    const char *args[10];
    int exit;
    const char *out;
    const char *err;
} runs[] = {
    /* Commands. */
    {"unknown command", ARGS("fly"), 2, "",
     "lockstep: no command 'fly'; 'lockstep help' lists them\n"},
    {"misspelled command", ARGS("lifecylce"), 2, "",
     "lockstep: no command 'lifecylce'; did you mean 'lifecycle'? See 'lockstep help lifecycle'\n"},
    {"misspelled first word", ARGS("stak", "lint"), 2, "",
     "lockstep: no command 'stak lint'; did you mean 'stack lint'? See 'lockstep help stack "
     "lint'\n"},
    {"misspelled second word", ARGS("stack", "chekc", H100), 2, "",
     "lockstep: no command 'stack chekc'; did you mean 'stack check'? See 'lockstep help stack "
     "check'\n"},
    {"half a command", ARGS("stack"), 2, "",
     "lockstep: 'stack' needs a command: init, lint, digest, show, diff, check, classes, "
     "publish, ls, promote, retire, rollbacks; see 'lockstep help stack'\n"},
    {"half a command and something", ARGS("stack", "nope"), 2, "",
     "lockstep: no command 'stack nope'; commands of 'stack': init, lint, digest, show, "
     "diff, check, classes, publish, ls, promote, retire, rollbacks; see 'lockstep help stack'\n"},
    {"an option before the command", ARGS("--json", "stack"), 2, "",
     "lockstep: options follow the command: '--json'\n"},
    {"registers of an Xid that has none", ARGS("xid", "79", "--intr-info", "5"), 2, "",
     "lockstep: xid: only Xids 144 to 150 come with registers\n"},
    {"half the registers", ARGS("xid", "145", "--error-status", "1"), 2, "",
     "lockstep: xid: --error-status and --driver go with --intr-info\n"},
    {"registers of no driver", ARGS("xid", "145", "--intr-info", "1", "--driver", "abc"), 2, "",
     "lockstep: xid: --driver is a version such as 570.86.15\n"},
    {"standard input twice", ARGS("stack", "diff", "-", "-"), 2, "",
     "lockstep: stack diff: '-', standard input, can be read only once\n"},
    {"an empty value", ARGS("stack", "lint", "--class", "", "x"), 2, "",
     "lockstep: stack lint: --class needs FILE, not an empty word; see 'lockstep help stack "
     "lint'\n"},
    {"a slip in the first word", ARGS("chnage"), 2, "",
     "lockstep: no command 'chnage'; did you mean 'change'? See 'lockstep help change'\n"},
    {"a slip in the first word, and an argument", ARGS("ndoe", "gpu1"), 2, "",
     "lockstep: no command 'ndoe gpu1'; did you mean 'node'? See 'lockstep help node'\n"},
    {"an empty word", ARGS(""), 2, "", "lockstep: no command ''; 'lockstep help' lists them\n"},
    {"a slip in a role", ARGS("access", "grant", "kim", "aprover"), 3, "",
     "lockstep: access grant: there is no role 'aprover'; did you mean 'approver'? roles of people "
     "are viewer, operator, approver and admin\n"},
    {"no role", ARGS("access", "revoke", "kim", "king"), 3, "",
     "lockstep: access revoke: there is no role 'king'; roles of people are viewer, operator, "
     "approver and admin\n"},
    {"a table of records", ARGS("journal", "export", "-o", "table"), 2, "",
     "lockstep: journal export: --output table: records of different kinds have no common columns; "
     "leave the option out for a line of JSON for each record, give yaml or name, or use 'lockstep "
     "node history NODE' for a table\n"},
    {"a range that ends before it starts",
     ARGS("journal", "export", "--since", "1h ago", "--until", "2h ago"), 2, "",
     "lockstep: --since '1h ago' (2026-11-14T23:00:00.000Z) is later than --until '2h ago' "
     "(2026-11-14T22:00:00.000Z): no record is in that range; give the earlier time to --since\n"},
    {"no GPU to draft a stack from", ARGS("stack", "init", "--root", "tests/golden"), 1, "",
     "lockstep: error: unmeasured: kernel: kernel is not there (/proc/sys/kernel/osrelease), and "
     "every node has one\n"
     "lockstep: error: unmeasured: devices.gpus: devices.gpus could not be read: "
     "/sys/bus/pci/devices: not there (/sys/bus/pci/devices)\n"
     "lockstep: error: no-gpu: devices.gpus: no GPU was found: a golden stack is for a GPU node\n"
     "lockstep: no stack was written: run 'lockstep stack init' on a GPU node, or name a captured "
     "one with --root DIR ('lockstep inventory --capture DIR' makes one)\n"},
    {"help for no command", ARGS("help", "fly"), 2, "",
     "lockstep: no command 'fly'; 'lockstep help' lists them\n"},
    {"version", ARGS("version"), 0, VERSION_LINE, ""},
    {"version as an option", ARGS("--version"), 0, VERSION_LINE, ""},
    {"version in JSON", ARGS("version", "--json"), 0,
     "{\"version\":\"" LKS_VERSION "\",\"commit\":\"unknown\"}\n", ""},
    /* Arguments. */
    {"no file", ARGS("stack", "lint"), 2, "",
     "lockstep: an argument is missing: lockstep stack lint FILE...; see 'lockstep help stack "
     "lint'\n"},
    {"one file of two", ARGS("stack", "diff", H200), 2, "",
     "lockstep: an argument is missing: lockstep stack diff OLD NEW; see 'lockstep help stack "
     "diff'\n"},
    {"two files of one", ARGS("stack", "show", H100, H200), 2, "",
     "lockstep: '" H200
     "' is too many: lockstep stack show STACK; see 'lockstep help stack show'\n"},
    {"an argument too many", ARGS("version", "now"), 2, "",
     "lockstep: 'now' is too many: lockstep version takes no argument; see 'lockstep help "
     "version'\n"},
    {"no number", ARGS("xid"), 2, "",
     "lockstep: an argument is missing: lockstep xid NUMBER; see 'lockstep help xid'\n"},
    {"a clock time that is still to come", ARGS("journal", "at", "23:00", "--node", "n1"), 2, "",
     "lockstep: 23:00 is in the future; write 'yesterday 23:00' or a full date, such as "
     "'2026-11-15 03:37'\n"},
    {"a day that is still to come", ARGS("journal", "at", "2027-01-01", "--node", "n1"), 2, "",
     "lockstep: 2027-01-01 is in the future; write 2026-11-15T03:37:00Z, '2026-11-15 03:37' "
     "(local), 14:00 (today), 'yesterday 14:00' or '2h ago'\n"},
    {"list for ls", ARGS("node", "list"), 2, "",
     "lockstep: no command 'node list'; did you mean 'node ls'? See 'lockstep help node ls'\n"},
    {"a state for a verb", ARGS("change", "halt", "7"), 2, "",
     "lockstep: no command 'change halt'; did you mean 'change pause'? See 'lockstep help change "
     "pause'\n"},
    {"a verb of other tools", ARGS("change", "stop", "7"), 2, "",
     "lockstep: no command 'change stop'; did you mean 'change pause'? See 'lockstep help change "
     "pause'\n"},
    {"a noun for a verb", ARGS("rehearsal", "--help"), 2, "",
     "lockstep: no command 'rehearsal'; did you mean 'rehearse'? See 'lockstep help rehearse'\n"},
    {"a word for a group", ARGS("firmware"), 2, "",
     "lockstep: no command 'firmware'; did you mean 'flash'? See 'lockstep help flash'\n"},
    {"get", ARGS("get", "nodes"), 2, "",
     "lockstep: no command 'get'; did you mean 'node ls'? See 'lockstep help node ls'\n"},
    {"list of nothing", ARGS("list"), 2, "",
     "lockstep: no command 'list'; 'lockstep help' lists them\n"},
    /* Options. */
    {"misspelled option", ARGS("lifecycle", "--jsno"), 2, "",
     "lockstep: lifecycle: no option '--jsno'; did you mean '--json'? See 'lockstep help "
     "lifecycle'\n"},
    {"unknown option", ARGS("lifecycle", "--parallel"), 2, "",
     "lockstep: lifecycle: no option '--parallel'; see 'lockstep help lifecycle'\n"},
    {"an option of another command", ARGS("stack", "lint", "--canonical", H100), 2, "",
     "lockstep: stack lint: no option '--canonical'; see 'lockstep help stack lint'\n"},
    {"short option", ARGS("xid", "-x", "79"), 2, "",
     "lockstep: xid: no option '-x'; see 'lockstep help xid'\n"},
    {"option twice", ARGS("lifecycle", "--date", "2026-11-15", "--date=2026-11-16"), 2, "",
     "lockstep: lifecycle: --date is given twice; see 'lockstep help lifecycle'\n"},
    {"switch twice", ARGS("version", "--json", "--json"), 2, "",
     "lockstep: version: --json is given twice; see 'lockstep help version'\n"},
    {"option without its value", ARGS("lifecycle", "--date"), 2, "",
     "lockstep: lifecycle: --date needs DAY; see 'lockstep help lifecycle'\n"},
    {"switch with a value", ARGS("version", "--json=yes"), 2, "",
     "lockstep: version: --json takes no value; see 'lockstep help version'\n"},
    {"no such day", ARGS("lifecycle", "--date=2026-02-30"), 2, "",
     "lockstep: --date: '2026-02-30' is not a day such as 2026-11-15\n"},
    {"value with =", ARGS("stack", "digest", "--stack=gb200-nvl72", RACK), 0, NULL, ""},
    {"value as a word", ARGS("stack", "digest", RACK, "--stack", "gb200-nvl72"), 0, NULL, ""},
    {"-- ends the options", ARGS("stack", "lint", "--", "--json"), 3, "",
     "lockstep: --json: No such file or directory\n"},
    {"-- and no more", ARGS("version", "--"), 0, VERSION_LINE, ""},
    {"the second -- is an argument", ARGS("stack", "lint", "--", "--"), 3, "",
     "lockstep: --: No such file or directory\n"},
    /* Files. */
    {"missing file", ARGS("stack", "lint", "/nonexistent"), 3, "",
     "lockstep: /nonexistent: No such file or directory\n"},
    {"directory", ARGS("stack", "show", "examples"), 3, "",
     "lockstep: examples: is a directory, not a file\n"},
    {"empty file", ARGS("stack", "check", "/dev/null"), 3, "",
     "lockstep: /dev/null: holds no manifest\n"},
    {"not a manifest", ARGS("stack", "lint", ".clang-format"), 3, "",
     "lockstep: .clang-format:1:1: a manifest starts with 'lockstep: 1' and 'kind: ...'\n"},
    {"a class file that is missing", ARGS("stack", "lint", "--class", "/nonexistent", H100), 3, "",
     "lockstep: /nonexistent: No such file or directory\n"},
    {"a component that is misspelled", ARGS("stack", "lint", "examples/broken/spelling.yaml"), 0,
     NULL,
     "lockstep: examples/broken/spelling.yaml: warning: spelling: containred: unknown component; "
     "did you mean 'containerd'?\n"},
    {"a driver that was never released",
     ARGS("stack", "lint", "examples/broken/known-version.yaml", "--json"), 0, NULL,
     "lockstep: examples/broken/known-version.yaml: warning: known-version: driver: driver "
     "580.159.40 is in no table of versions; the nearest is 580.159.04\n"},
    {"a second file that is bad", ARGS("stack", "lint", "--json", H100, "/nonexistent"), 3, "",
     "lockstep: /nonexistent: No such file or directory\nlockstep: 1 of 2 files have errors\n"},
    {"no stack of that name", ARGS("stack", "show", "--stack", "x", H100), 3, "",
     "lockstep: " H100 ": no stack is called 'x'\n"},
    {"no stack at all", ARGS("stack", "show", "data/classes.yaml"), 3, "",
     "lockstep: data/classes.yaml: holds no stack\n"},
    {"check for a GPU of another vendor", ARGS("stack", "check", "--gpu", "MI300X", H100), 3, "",
     "lockstep: --gpu: Instinct MI300X is of amd and the stack of nvidia\n"},
    {"check for a GPU nobody knows", ARGS("stack", "check", "--gpu", "ZX-9000", H100), 3, "",
     "lockstep: --gpu: no row for 'ZX-9000'; write a family such as H100, a board or a PCI id\n"},
    {"no fleet", ARGS("stack", "check", "--fleet", H200, H100), 3, "",
     "lockstep: " H200 ": holds no fleet\n"},
    /* compat. */
    {"no question", ARGS("compat"), 2, "", COMPAT_NEEDS},
    {"half a question", ARGS("compat", "--driver", "580.126.20", "--cuda", "13.0"), 2, "",
     COMPAT_NEEDS},
    {"an empty value", ARGS("compat", "--driver", "580.126.20", "--cuda", "13.0", "--gpu="), 2, "",
     "lockstep: compat: --gpu needs GPU, not an empty word; see 'lockstep help compat'\n"},
    {"two vendors", ARGS("compat", "--driver", "580.126.20", "--rocm", "7.2.1", "--gpu", "H100"), 2,
     "", "lockstep: compat: ask with --driver and --cuda, or with --amdgpu and --rocm\n"},
    {"the other vendor",
     ARGS("compat", "--driver", "580.126.20", "--cuda", "13.0", "--gpu", "MI300X"), 2, "",
     "lockstep: compat: Instinct MI300X is a GPU of amd; ask with --amdgpu and --rocm\n"},
    {"the other vendor again",
     ARGS("compat", "--amdgpu", "30.30.3", "--rocm", "7.2.1", "--gpu", "L40S"), 2, "",
     "lockstep: compat: L40S is a GPU of nvidia; ask with --driver and --cuda\n"},
    {"no such modules",
     ARGS("compat", "--driver=580.126.20", "--cuda=13.0", "--gpu=H100", "--modules=closed"), 2, "",
     "lockstep: compat: --modules is open or proprietary\n"},
    {"no version", ARGS("compat", "--driver", "new", "--cuda", "13.0", "--gpu", "H100"), 3, "",
     "lockstep: compat: --driver: 'new' is not a whole version such as 580.126.20\n"},
    {"a branch is no version", ARGS("compat", "--driver", "580", "--cuda", "13.0", "--gpu", "H100"),
     3, "", "lockstep: compat: --driver: '580' is not a whole version such as 580.126.20\n"},
    {"characters that drive a terminal",
     ARGS("compat", "--driver=580.1", "--cuda=13.0", "--gpu=\t"), 3, "",
     "lockstep: compat: --gpu: has characters that do not print\n"},
    {"an option of NVIDIA alone",
     ARGS("compat", "--amdgpu=30.30.3", "--rocm=7.2.1", "--gpu=MI300X", "--needs-ptx-jit"), 2, "",
     "lockstep: compat: --modules, --compat-package and --needs-ptx-jit are for NVIDIA\n"},
    {"unknown GPU", ARGS("compat", "--driver=580.126.20", "--cuda=13.0", "--gpu=H1000"), 1, NULL,
     ""},
    /* xid. */
    {"unknown Xid", ARGS("xid", "9999"), 3, "",
     "lockstep: no row for Xid 9999; a newer table can be given with --data\n"},
    {"unknown SXid", ARGS("xid", "99999"), 3, "",
     "lockstep: no row for SXid 99999; a newer table can be given with --data\n"},
    {"unknown SXid by option", ARGS("xid", "79", "--sxid"), 3, "",
     "lockstep: no row for SXid 79; a newer table can be given with --data\n"},
    {"no number, but a word", ARGS("xid", "seventy"), 2, "",
     "lockstep: xid: 'seventy' is not a number of at most 2147483647\n"},
    {"no register", ARGS("xid", "144", "--intr-info", "zz"), 2, "",
     "lockstep: --intr-info: 'zz' is not a register such as 0x00000004\n"},
    /* Answers that are yes or no. */
    {"the same stack twice", ARGS("stack", "diff", H200, H200), 0, "the stacks are the same\n", ""},
    {"two stacks", ARGS("stack", "diff", H200, NEXT), 1, NULL, ""},
    {"two stacks, the first by name", ARGS("stack", "diff", "--stack", "h100-train", H100, NEXT), 1,
     NULL, ""},
    {"no stack of that name to go from", ARGS("stack", "diff", "--stack", "x", H100, NEXT), 3, "",
     "lockstep: " H100 ": no stack is called 'x'\n"},
    {"both by name", ARGS("stack", "diff", "--stack=h100-train", "--to=h200-train", H100, NEXT), 1,
     NULL, ""},
    {"no stack of that name to go to", ARGS("stack", "diff", "--to", "x", H100, NEXT), 3, "",
     "lockstep: " NEXT ": no stack is called 'x'\n"},
    {"known flaws", ARGS("advisories", H200), 1, NULL, ""},
    {"no known flaws", ARGS("advisories", NEXT), 0, NULL, ""},
    {"errors", ARGS("stack", "check", "examples/broken/compat.yaml"), 1, NULL, ""},
    {"only warnings", ARGS("stack", "check", "examples/broken/lifecycle.yaml"), 0, NULL, ""},
};

static void test_runs(void)
{
    for (size_t i = 0; i < LKS_COUNT(runs); i++) {
        lks_test_case("%s", runs[i].name);
        struct lks_run run = lks_run(runs[i].args);
        CHECK_INT(run.exit, runs[i].exit);
        if (runs[i].out != NULL)
            CHECK_STR(run.out, runs[i].out);
        if (runs[i].err != NULL)
            CHECK_STR(run.err, runs[i].err);
        lks_run_fini(&run);
    }
}

/* Longer answers, by what must be in them. */
static const struct {
    const char *name;
    const char *args[10];
    const char *has[4];
} answers[] = {
    {"no arguments", {NULL}, {"usage: lockstep COMMAND", "stack init|", "Exit status: 0 yes"}},
    {"--help", ARGS("--help"), {"usage: lockstep COMMAND", "version\n"}},
    {"lint of several documents",
     ARGS("stack", "lint", RACK, H100),
     {RACK ": Stack gb200-nvl72 2026.11.1: 21 components, sha256:",
      RACK ": Fleet north: 18 nodes, 21 assets, 2 pools\n", H100 ": Stack h100-train"}},
    {"canonical bytes",
     ARGS("stack", "digest", "--canonical", H100),
     {"{\"components\":{\"container-toolkit\":{\"version\":\"1.19.1\"},",
      "\"windows\":{\"container-toolkit\":\">=1.19.1 <1.20\","}},
    {"show",
     ARGS("stack", "show", H100),
     {"h100-train 2026.11.1 (nvidia)\nsha256:", "hardware: hgx-h100-8 (8 x H100 SXM5 80GB)\n",
      "firmware/psu[side a]  ", "firmware/nic[MCX75310AAS-NEAT]  "}},
    {"show a setting by its dotted name",
     ARGS("stack", "show", H200),
     {"nic.congestion_control ", "nic.pfc ", "tuning.env.NCCL_IB_TC "}},
    {"show what is absent",
     ARGS("stack", "show", H200),
     {"absent: the RDMA drivers of the kernel are used"}},
    {"built-in classes",
     ARGS("stack", "classes"),
     {"hgx-h100-8        8 x H100 SXM5 80GB", "mi355x-oam-8 "}},
    {"check for a day",
     ARGS("stack", "check", "--date", "2028-05-01", H100),
     {"support of branch R580 ends on 2028-06-30 (60 days left); another source says 2028-08-04"}},
    {"check for another GPU", ARGS("stack", "check", "--gpu", "L40S", H100), {"compat      L40S "}},
    {"check with sources",
     ARGS("stack", "check", "--sources", H100),
     {"https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/index.html"}},
    {"the policy of a fleet elsewhere",
     ARGS("stack", "check", "--fleet", RACK, RACK),
     {"gb200-nvl72 2026.11.1: yes"}},
    {"compat for a family",
     ARGS("compat", "--driver", "580.126.20", "--cuda", "13.0", "--gpu", "H100"),
     {"yes: NATIVE on H100 PCIe 80GB", "driver-toolkit"}},
    {"compat with every flag",
     ARGS("compat", "--driver=580.126.20", "--cuda=13.2.0", "--gpu=2330", "--needs-ptx-jit"),
     {"no: NO_DRIVER on H100 SXM5 80GB", "remedy: "}},
    {"compat for AMD",
     ARGS("compat", "--amdgpu", "30.30.3", "--rocm", "7.2.1", "--gpu", "MI300X"),
     {"yes: NATIVE on Instinct MI300X"}},
    {"flaws and what closes them",
     ARGS("advisories", H200),
     {"CVE-2026-24187", "580.159.03", "13 advisories open, 1 to check by hand"}},
    {"all branches", ARGS("lifecycle"), {"R580    LTSB", "R418    LTSB"}},
    {"branches of new features", ARGS("lifecycle"), {"R565    NFB", "R560    NFB"}},
    {"help names the members of the answer",
     ARGS("help", "stack", "digest", "--json"),
     {"\"json\":\"{name, version, digest}\""}},
    {"an Xid",
     ARGS("xid", "79"),
     {"Xid 79: GPU has fallen off the bus\n", "do now         RESTART_BM"}},
    {"an SXid", ARGS("xid", "10001"), {"SXid 10001: Host_priv_error\n", "potentially-fatal"}},
    {"what differs",
     ARGS("stack", "diff", H200, NEXT),
     {"driver                        580.126.20  580.178.04  upgrade",
      "advisories closed: CVE-2026-24187 (8.8)", "advisories opened: none\n",
      "change class: routine"}},
};

static void test_answers(void)
{
    for (size_t i = 0; i < LKS_COUNT(answers); i++) {
        lks_test_case("%s", answers[i].name);
        struct lks_run run = lks_run(answers[i].args);
        CHECK_STR(run.err, "");
        for (size_t j = 0; j < LKS_COUNT(answers[i].has) && answers[i].has[j] != NULL; j++)
            CHECK_HAS(run.out, answers[i].has[j]);
        lks_run_fini(&run);
    }
}

/* JSON -------------------------------------------------------------------------------------- */

static const struct {
    const char *command;
    const char *args[9];
    int exit;
} json_runs[] = {
    {"explain", ARGS("explain"), 0},
    {"explain", ARGS("explain", "stack"), 0},
    {"explain", ARGS("explain", "change.state"), 0},
    {"stack lint", ARGS("stack", "lint", RACK, H100), 0},
    {"stack lint", ARGS("stack", "lint", "data/classes.yaml"), 0},
    {"stack digest", ARGS("stack", "digest", H100), 0},
    {"stack digest", ARGS("stack", "digest", "--canonical", RACK), 0},
    {"stack show", ARGS("stack", "show", RACK), 0},
    {"stack diff", ARGS("stack", "diff", H200, NEXT), 1},
    {"stack diff", ARGS("stack", "diff", H100, H100), 0},
    {"stack check", ARGS("stack", "check", RACK), 0},
    {"stack check", ARGS("stack", "check", "--sources", "examples/broken/dcgm.yaml"), 1},
    {"stack classes", ARGS("stack", "classes"), 0},
    {"compat", ARGS("compat", "--driver=580.126.20", "--cuda=12.9", "--gpu=V100"), 0},
    {"compat", ARGS("compat", "--driver=580.126.20", "--cuda=13.0", "--gpu=V100"), 1},
    {"compat", ARGS("compat", "--driver=580.126.20", "--cuda=13.0", "--gpu=\"\\"), 1},
    {"compat", ARGS("compat", "--amdgpu=30.30.3", "--rocm=7.2.1", "--gpu=MI300X"), 0},
    {"advisories", ARGS("advisories", H200), 1},
    {"lifecycle", ARGS("lifecycle"), 0},
    {"lifecycle", ARGS("lifecycle", "examples/v100-inference.yaml"), 0},
    {"xid", ARGS("xid", "79"), 0},
    {"xid", ARGS("xid", "144", "--intr-info", "0x4", "--error-status", "0x1"), 0},
    {"xid", ARGS("xid", "10001"), 0},
    {"inventory", ARGS("inventory", "--root", ROOT), 0},
    {"inventory", ARGS("inventory", "--root", ROOT, "--quick"), 0},
    {"inventory", ARGS("inventory", "--root", ROOT, "--cost"), 0},
    {"conform", ARGS("conform", "--root", ROOT, "--stack", H200), 1},
    {"stack init", ARGS("stack", "init", "--root", ROOT), 0},
    {"stack init", ARGS("stack", "init", "--root", "tests/golden"), 1},
    {"help", ARGS("help"), 0},
    {"help", ARGS("help", "stack", "check"), 0},
    {"completion", ARGS("completion", "bash"), 0},
    {"version", ARGS("version"), 0},
};

static void test_json(void)
{
    for (size_t i = 0; i < LKS_COUNT(json_runs); i++) {
        lks_test_case("%s (row %zu)", json_runs[i].command, i);
        const char *args[10];
        size_t count = 0;
        bool canonical = false;
        for (; json_runs[i].args[count] != NULL; count++) {
            args[count] = json_runs[i].args[count];
            canonical = canonical || strcmp(args[count], "--canonical") == 0;
        }
        args[count++] = "--json";
        args[count] = NULL;
        struct lks_run run = lks_run(args);
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        CHECK_INT(run.exit, json_runs[i].exit);
        CHECK_STR(run.err, "");
        const struct lks_doc *answer = lks_run_json(&run, &docs);
        if (CHECK(answer != NULL && answer->kind == LKS_DOC_MAP) && !canonical)
            lks_run_check_members(json_runs[i].command, answer);
        lks_run_fini(&run);
    }
}

/* What scripts were promised, letter by letter. */
static const struct {
    const char *name;
    const char *args[9];
    const char *has[3];
} members[] = {
    {"boards of an Xid",
     ARGS("xid", "79", "--json"),
     {"\"boards\":[\"A100\",\"H100\",\"B100\",\"GB200\"]"}},
    {"registers that no row matches",
     ARGS("xid", "144", "--intr-info=0x1", "--error-status=0x4000", "--json"),
     {"\"registers\":[]"}},
    {"boards that answer differently",
     ARGS("compat", "--driver=525.85.12", "--cuda=12.0", "--gpu=H100", "--json"),
     {"\"other_boards\":[{\"board\":\"H100 NVL "
      "94GB\",\"verdict\":\"no\",\"reason\":\"NO_DRIVER\"}"}},
    {"exposures are codes",
     ARGS("advisories", H200, "--json"),
     {"\"exposure\":\"exposed\"", "\"exposure\":\"by-hand\""}},
    {"a difference",
     ARGS("stack", "diff", H200, NEXT, "--json"),
     {"\"one_way\":false,\"tolerated\":false}", "\"one_way_steps\":1", "\"flaws_opened\":[]"}},
};

static void test_members(void)
{
    for (size_t i = 0; i < LKS_COUNT(members); i++) {
        lks_test_case("%s", members[i].name);
        struct lks_run run = lks_run(members[i].args);
        for (size_t j = 0; j < LKS_COUNT(members[i].has) && members[i].has[j] != NULL; j++)
            CHECK_HAS(run.out, members[i].has[j]);
        lks_run_fini(&run);
    }
}

/* A command without a row above, or in tests/test_cli_daemon.c, is one whose JSON nobody reads. */
static void test_json_complete(void)
{
    for (size_t i = 0; i < lks_command_count; i++) {
        lks_test_case("%s", lks_commands[i].name);
        bool found = lks_run_needs_controller(lks_commands[i].name) ||
                     lks_run_has_own_test(lks_commands[i].name);
        for (size_t j = 0; j < LKS_COUNT(json_runs); j++)
            found = found || strcmp(json_runs[j].command, lks_commands[i].name) == 0;
        CHECK(found);
    }
}

/* Output that does not get out --------------------------------------------------------------- */

static void test_full_disk(void)
{
    static const struct {
        const char *name;
        const char *argv[6];
        int argc;
        const char *err;
    } full[] = {
        {"text", {"lockstep", "version"}, 2, "lockstep: cannot write the answer: "},
        {"table", {"lockstep", "lifecycle"}, 2, "lockstep: cannot write a table: "},
        {"JSON", {"lockstep", "stack", "show", H100, "--json"}, 5, "lockstep: cannot write "},
        /* A "no" that nobody could read is no answer either. */
        {"no", {"lockstep", "stack", "diff", H200, NEXT, "--json"}, 6, "lockstep: cannot write "},
    };
    for (size_t i = 0; i < LKS_COUNT(full); i++) {
        lks_test_case("%s", full[i].name);
        char *err = NULL;
        size_t err_len = 0;
        struct lks_cli cli = {.out = fopen("/dev/full", "we"),
                              .err = open_memstream(&err, &err_len)};
        if (CHECK(cli.out != NULL)) {
            CHECK_INT(lks_cli_run(&cli, full[i].argc, (char **)(uintptr_t)full[i].argv), 6);
            fclose(cli.out);
        }
        fclose(cli.err);
        CHECK_HAS(((struct lks_str){err, err_len}), full[i].err);
        CHECK_HAS(((struct lks_str){err, err_len}), "No space left on device\n");
        free(err);
    }
}

/* A reader that had enough is no failure, and the exit status is that of the answer. */
static void test_reader_left(void)
{
    static const struct {
        const char *name;
        const char *argv[6];
        int argc, exit;
    } left[] = {
        {"text", {"lockstep", "version"}, 2, 0},
        {"table", {"lockstep", "lifecycle"}, 2, 0},
        {"JSON", {"lockstep", "stack", "show", H100, "--json"}, 5, 0},
        {"no", {"lockstep", "stack", "diff", H200, NEXT}, 5, 1},
        {"a failure of another kind", {"lockstep", "stack", "lint", "/nonexistent"}, 4, 3},
    };
    signal(SIGPIPE, SIG_IGN); /* as main() does */
    for (size_t i = 0; i < LKS_COUNT(left); i++) {
        lks_test_case("%s", left[i].name);
        int ends[2];
        char *err = NULL;
        size_t err_len = 0;
        if (!CHECK(pipe(ends) == 0))
            return;
        close(ends[0]);
        struct lks_cli cli = {.out = fdopen(ends[1], "w"), .err = open_memstream(&err, &err_len)};
        setvbuf(cli.out, NULL, _IOFBF,
                64); /* so that writes fail early, and not at the end alone */
        CHECK_INT(lks_cli_run(&cli, left[i].argc, (char **)(uintptr_t)left[i].argv), left[i].exit);
        fclose(cli.out);
        fclose(cli.err);
        CHECK_INT(err_len > 0, left[i].exit == 3);
        free(err);
    }
}

/* Stacks that are large ---------------------------------------------------------------------- */

/* A valid stack can be shown and compared, however long its values are. */
static void test_large(void)
{
    enum { WORDS = 40, LONG = 4000, ATTRIBUTES = 3000 };
    char path[] = "/tmp/lockstep-test-XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!CHECK(file != NULL))
        return;
    fprintf(file, LKS_STACK("large", "nvidia", "l40s-pcie-8",
                            LKS_STACK_ABSENT "settings:\n  kernel_cmdline:\n"));
    for (int i = 0; i < WORDS; i++)
        fprintf(file, "    - '%0*d'\n", LONG, i);
    fprintf(file, "  bios:\n");
    for (int i = 0; i < ATTRIBUTES; i++)
        fprintf(file, "    Attribute%d: 'a value of some length'\n", i);
    CHECK(fclose(file) == 0);

    struct lks_run run = lks_run((const char *[]){"stack", "show", path, NULL});
    CHECK_INT(run.exit, 0);
    CHECK_STR(run.err, "");
    CHECK_HAS(run.out, "... (160121 bytes; --json has all)\n");
    CHECK_HAS(run.out, "bios.Attribute2999  a value of some length\n");
    lks_run_fini(&run);
    run = lks_run((const char *[]){"stack", "diff", H100, path, NULL});
    CHECK_INT(run.exit, 1);
    CHECK_STR(run.err, "");
    CHECK_HAS(run.out, "settings.bios.Attribute2999 ");
    lks_run_fini(&run);
    unlink(path);
}

/* Tables of a site -------------------------------------------------------------------------- */

#define EDGE_HEADER "id,kind,component,range,other,other_range,gpus,condition,note,status,source\n"

/* In the message, @ is the folder. */
static const struct {
    const char *name, *file, *text;
    int exit;
    const char *err;
} sites[] = {
    {"no table", "README.md", "words", 0, ""},
    {"hidden file", ".cuda.csv", "words", 0, ""},
    {"misspelled table", "cudda.csv", "", 3,
     "lockstep: @/cudda.csv: no table has this name; did you mean 'cuda.csv'?\n"},
    {"no such table", "my-own-list.csv", "", 3,
     "lockstep: @/my-own-list.csv: no table has this name\n"},
    {"site edges", "requires.site.csv",
     EDGE_HEADER "a,requires,driver,>=580,dcgm,>=4,,,,confirmed,us\n", 0, ""},
    {"no such kind", "requires.site.csv",
     "# ours\n" EDGE_HEADER "a,requires,driver,>=580,dcgm,>=4,,,,confirmed,us\n"
     "b,wants,driver,>=580,dcgm,>=4,,,,confirmed,us\n",
     3, "lockstep: @/requires.site.csv: line 4: kind: 'wants' is "},
    {"too few cells", "requires.site.csv", EDGE_HEADER "a,requires,driver\n", 3,
     "lockstep: @/requires.site.csv: line 2: "},
    {"empty table", "nccl.csv", "", 3, "lockstep: @/nccl.csv"},
};

static void test_site_tables(void)
{
    for (size_t i = 0; i < LKS_COUNT(sites); i++) {
        lks_test_case("%s", sites[i].name);
        char dir[] = "/tmp/lockstep-test-XXXXXX", path[128], line[256];
        if (!CHECK(mkdtemp(dir) != NULL))
            continue;
        snprintf(path, sizeof(path), "%s/%s", dir, sites[i].file);
        FILE *file = fopen(path, "we");
        CHECK(file != NULL && fputs(sites[i].text, file) >= 0 && fclose(file) == 0);

        struct lks_run run = lks_run((const char *[]){"stack", "check", "--data", dir, H100, NULL});
        CHECK_INT(run.exit, sites[i].exit);
        struct lks_str before, behind;
        bool placed = lks_str_cut(lks_str_from(sites[i].err), '@', &before, &behind);
        snprintf(line, sizeof(line), "%.*s%s%.*s", LKS_STR_ARG(before), placed ? dir : "",
                 LKS_STR_ARG(behind));
        CHECK_HAS(run.err, line);
        CHECK(run.exit == 0 || run.out.len == 0);
        lks_run_fini(&run);
        unlink(path);
        rmdir(dir);
    }
    lks_test_case("no such folder");
    struct lks_run run = lks_run((const char *[]){"lifecycle", "--data", "/nonexistent", NULL});
    CHECK_INT(run.exit, 3);
    CHECK_STR(run.err, "lockstep: /nonexistent: No such file or directory\n");
    lks_run_fini(&run);
}

/* Files with many errors -------------------------------------------------------------------- */

/* All of them by their lines: of the form, of what documents refer to, and of more than are
 * printed. A good file beside a bad one is read. */
static void test_lint(void)
{
    static const char *const names[] = {"form", "meaning", "many", "nameless"};
    for (size_t i = 0; i < LKS_COUNT(names); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf all = LKS_BUF(LKS_DOC_BYTES_MAX);
        struct lks_err err = {0};
        char file[64], expected[64];
        lks_test_case("%s", names[i]);
        snprintf(file, sizeof(file), "tests/golden/lint/%s.yaml", names[i]);
        snprintf(expected, sizeof(expected), "tests/golden/lint/%s.txt", names[i]);
        CHECK_CODE(lks_file_read(expected, &all, &err), LKS_OK);
        struct lks_run run = lks_run((const char *[]){"stack", "lint", file, NULL});
        CHECK_INT(run.exit, 3);
        CHECK_STR(run.out, "");
        CHECK_STR(run.err, all.ptr);
        lks_run_fini(&run);
        run = lks_run((const char *[]){"stack", "lint", file, H100, NULL});
        lks_buf_addf(&all, "lockstep: 1 of 2 files have errors\n");
        CHECK_INT(run.exit, 3);
        CHECK_HAS(run.out, H100 ": Stack h100-train ");
        CHECK_STR(run.err, all.ptr);
        lks_run_fini(&run);
    }
}

/* Narrow terminals -------------------------------------------------------------------------- */

/* A table keeps to the width, as a grid while its columns that do not wrap leave room and as a list
 * below that. `head` begins its first line. */
static const struct {
    const char *name;
    const char *args[9];
    unsigned width;
    const char *head;
} narrow[] = {
    {"check, wide", ARGS("stack", "check", H200), 100, "severity  rule "},
    {"check", ARGS("stack", "check", H200), 50, "severity  rule "},
    {"check, 40", ARGS("stack", "check", H200), 40, "severity: warning"},
    {"check, 30", ARGS("stack", "check", H200), 30, "severity: warning"},
    {"compat, wide", ARGS("compat", "--driver=580.126.20", "--cuda=13.0", "--gpu=H100"), 100,
     "rule  "},
    {"compat, 44", ARGS("compat", "--driver=580.126.20", "--cuda=13.0", "--gpu=H100"), 44,
     "rule  "},
    {"compat, 40", ARGS("compat", "--driver=580.126.20", "--cuda=13.0", "--gpu=H100"), 40,
     "rule  "},
    {"compat, 40, short names", ARGS("compat", "--driver=580.126.20", "--cuda=13.0", "--gpu=H1"),
     40, "rule   "},
    {"compat, 30", ARGS("compat", "--driver=580.126.20", "--cuda=13.0", "--gpu=H100"), 30,
     "rule  "},
    {"diff, wide", ARGS("stack", "diff", H200, NEXT), 90, "what  "},
    {"diff, 40", ARGS("stack", "diff", H200, NEXT), 40, "what: driver"},
    {"diff, 30", ARGS("stack", "diff", H200, NEXT), 30, "what: driver"},
    {"show, 40: settings still fit", ARGS("stack", "show", H200), 40, "setting  "},
    {"advisories, wide", ARGS("advisories", H200), 100, "id  "},
};

/* The next line of `rest`, without its end. */
static struct lks_str take_line(struct lks_str *rest)
{
    struct lks_str line;
    lks_str_cut(*rest, '\n', &line, rest);
    return line;
}

static void test_narrow(void)
{
    for (size_t i = 0; i < LKS_COUNT(narrow); i++) {
        lks_test_case("%s", narrow[i].name);
        struct lks_run run = lks_run_wide(narrow[i].args, narrow[i].width);
        CHECK_STR(run.err, "");
        struct lks_str rest = run.out, line = {"", 0};
        while (rest.len > 0 && !lks_str_starts(line, narrow[i].head))
            line = take_line(&rest);
        CHECK(lks_str_starts(line, narrow[i].head));
        for (; line.len > 0; line = take_line(&rest)) {
            CHECK(lks_term_columns(line) <= narrow[i].width);
            CHECK(line.ptr[line.len - 1] != ' ');
        }
        lks_run_fini(&run);
    }
}

static bool has_option(const struct lks_command *c, const char *name)
{
    for (const struct lks_option *o = c->options; o != NULL && o->usage != NULL; o++) {
        if (lks_str_is(lks_args_name(o), name))
            return true;
    }
    return false;
}

/* A command that lists rows takes the options of lists; for rows of the state, every filter of
 * their table is one. */
static void test_lists(void)
{
    for (size_t i = 0; i < lks_command_count; i++) {
        const struct lks_view *view = lks_cli_view(&lks_commands[i]);
        struct lks_selector_of of;
        struct lks_field field;
        lks_test_case("%s", lks_commands[i].name);
        static const char *const options[] = {"--sort-by", "--columns", "--selector", "--limit"};
        for (size_t k = 0; k < LKS_COUNT(options); k++)
            CHECK(has_option(&lks_commands[i], options[k]) == lks_cli_rows(&lks_commands[i], &of));
        for (size_t k = 0; view != NULL && lks_view_row_field(view, LKS_USE_FILTER, k, &field);
             k++) {
            char option[64];
            snprintf(option, sizeof(option), "--%s", field.key);
            for (char *c = option; *c != '\0'; c++)
                *c = *c == '_' ? '-' : *c;
            lks_test_case("%s %s", lks_commands[i].name, option);
            CHECK(has_option(&lks_commands[i], option));
        }
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"short answers", test_runs},
        {"long answers", test_answers},
        {"JSON", test_json},
        {"JSON of every command", test_json_complete},
        {"members of JSON", test_members},
        {"a full disk", test_full_disk},
        {"a reader that left", test_reader_left},
        {"a large stack", test_large},
        {"tables of a site", test_site_tables},
        {"files with many errors", test_lint},
        {"narrow terminals", test_narrow},
        {"lists take columns of their table", test_lists},
        {0},
    });
}
