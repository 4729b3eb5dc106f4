/* bmc inventory, trust and update, against lockstep-bmcsim. */
#include "base/file.h"
#include "tests/cli_bmc.h"
#include "tests/liar.h"
#include "tests/pki.h"
#include "tests/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The BMCs are as fast as can be; our own clock only so much that a slow machine keeps up. */
#define SIM_SPEED "20000"
#define SPEED     "--speed=600"
#define DEADLINE  "--deadline=10000"

/* Trust and inventory ----------------------------------------------------------------------- */

#define STATE "--state=DIR/state"
#define WHO   "--credentials=file:LOGIN"
#define AT    "bmc", "update", "URL", STATE, WHO
#define WITH  AT, "--bundle=DIR/bundle-2.0.0"
#define BY_CA "--pull-ca=DIR/bmcs/ca.pem"
#define LOOK  "bmc", "inventory", "URL", STATE, WHO
#define OTHER "sha256:0000000000000000000000000000000000000000000000000000000000000000"

static const struct cli_bmc_row before_trust[] = {
    {"nothing is known", {LOOK}, 5, "", "'lockstep bmc trust https://"},
    {"nobody to ask", {"bmc", "trust", "URL", STATE}, 2, "fingerprint  sha256:", "--accept FP"},
    {"another was accepted",
     {"bmc", "trust", "URL", STATE, "--accept", OTHER},
     1,
     "",
     "which is not"},
    {"no fingerprint", {"bmc", "trust", "URL", STATE, "--accept", "x"}, 2, "", "--accept"},
    {"no address", {"bmc", "trust", "127.0.0.1", STATE}, 2, "", "https://HOST"},
    {"a password in it", {"bmc", "trust", "https://a:hunter2@h"}, 2, "", "without a user or"},
    {"nobody there", {"bmc", "trust", "https://127.0.0.1:1", STATE}, 4, "", "cannot connect"},
    {"what is there", {"bmc", "trust", "URL", STATE, "--yes"}, 0, "from now on", ""},
    {"again, by another spelling", {"bmc", "trust", "URL/", STATE}, 0, "is the stored one", ""},
    {"another one", {"bmc", "trust", "URL2", STATE, "--yes"}, 0, "from now on", ""},
};

static const struct cli_bmc_row inventories[] = {
    {"a table", {LOOK}, 0, "bmc_active", ""},
    {"one of another kind", {"bmc", "inventory", "URL2", STATE, WHO}, 0, "HGX_FW_GPU_SXM_8", ""},
    {"unknown ones too", {LOOK}, 0, "of unknown class", ""},
    {"by its authority",
     {"bmc", "inventory", "URL", "--ca=DIR/bmcs/ca.pem", WHO},
     0,
     "bmc_active",
     ""},
    {"by another key",
     {"bmc", "inventory", "URL", "--fingerprint", OTHER, WHO},
     5,
     "",
     "another key than the one that is trusted; nothing was sent. 'lockstep bmc trust https://"},
    {"by an authority of others",
     {"bmc", "inventory", "URL", "--ca=DIR/other.pem"},
     5,
     "",
     "shows what it is; give the file of its authority with --ca FILE"},
    {"by no fingerprint",
     {"bmc", "inventory", "URL", "--fingerprint=x", WHO},
     2,
     "",
     "--fingerprint"},
    {"nobody says who we are", {"bmc", "inventory", "URL", STATE}, 5, "", "--credentials"},
    {"a wrong password",
     {"bmc", "inventory", "URL", STATE, "--credentials=file:DIR/wrong"},
     5,
     "",
     "401"},
    {"a password itself",
     {"bmc", "inventory", "URL", STATE, "--credentials=root:pw"},
     3,
     "",
     "by reference"},
    {"no such driver", {LOOK, "--driver=ipmi"}, 2, "", "redfish"},
    {"nobody there",
     {"bmc", "inventory", "https://127.0.0.1:1", "--fingerprint", OTHER},
     4,
     "",
     "cannot connect"},
};

static void test_trust(void)
{
    char shown[CLI_BMC_WORD];
    const char *look[CLI_BMC_WORDS] = {"bmc", "trust", "URL", STATE, "--json"};
    cli_bmc_answer("bmc trust", look, "fingerprint", shown);
    CHECK_HAS(lks_str_from(shown), "sha256:");
    cli_bmc_check_rows(before_trust, LKS_COUNT(before_trust));
}

static void test_inventory(void)
{
    char url[CLI_BMC_WORD];
    lks_tree_file(&cli_bmc_sim.tree, "/wrong", "admin:wrong\n");
    CHECK(chmod(cli_bmc_fill("DIR/wrong", url), 0600) == 0);
    LKS_CLEANUP(lks_pair_fini) struct lks_pair other = {0};
    lks_pki_authority(&other);
    lks_tree_bytes(&cli_bmc_sim.tree, "/other.pem", lks_buf_view(&other.certificate));
    cli_bmc_check_rows(inventories, LKS_COUNT(inventories));
    const struct cli_bmc_row open = {"others may write", {LOOK}, 1, "", "others can write there"};
    CHECK(chmod(cli_bmc_fill("DIR/state/endpoints", url), 0777) == 0);
    cli_bmc_check_rows(&open, 1);
    CHECK(chmod(url, 0700) == 0);
    const char *words[CLI_BMC_WORDS] = {"bmc", "inventory", "URL2", STATE, WHO, "--json"};
    cli_bmc_answer("bmc inventory", words, "url", url);
    CHECK_STR(lks_str_from(url), cli_bmc_urls[1]);
}

/* Updates ------------------------------------------------------------------------------------ */

static const struct cli_bmc_row no_updates[] = {
    {"nothing to install", {AT}, 2, "", "--bundle"},
    {"an override without a reason",
     {WITH, "--write-protected= "},
     2,
     "",
     "--write-protected: exp"},
    {"an override with a reason",
     {WITH, "--write-protected=ticket 7"},
     2,
     "override   of write protection that the endpoint reports: ticket 7",
     "--yes"},
    {"two things at once", {AT, "--stage", "--switch"}, 2, "", "one of"},
    {"of what", {AT, "--switch"}, 2, "", "--component"},
    {"a version of one's own", {AT, "--bundle=DIR/nothing", "--to=9"}, 2, "", "--to says"},
    {"beside a bundle", {AT, "--activate", "--bundle=DIR/nothing", "--to=9"}, 2, "", "--to says"},
    {"a secret", {WITH, "--pull=https://a:b@c/d"}, 2, "", "--pull"},
    {"without TLS", {WITH, "--pull=http://127.0.0.1/d"}, 2, "", "expected https://HOST/PATH"},
    {"without a CA", {WITH, "--pull=https://127.0.0.1/d"}, 2, "", "--pull-ca: the CA of that"},
    {"another file", {WITH, "--pull=URL/redfish", BY_CA}, 1, "", "is another file: it has "},
    {"no bundle", {AT, "--bundle=DIR/nothing"}, 3, "", "nothing"},
    {"nobody trusts its signer",
     {"bmc", "update", "URL", "--state=DIR/other", "--fingerprint", OTHER, WHO,
      "--bundle=DIR/bundle-2.0.0"},
     1,
     "",
     "lockstep trust add NAME KEYFILE --reason TEXT --state /"},
    {"trusted in another folder",
     {"bmc", "update", "URL", "--state=DIR/empty", WHO, "--bundle=DIR/bundle-2.0.0"},
     5,
     "",
     "/empty' shows its certificate"},
    {"not for this", {AT, "--bundle=DIR/bundle-2.0.0", "--component=bios"}, 3, "", "bios"},
    {"no way back, says the bundle",
     {AT, "--yes", "--bundle=DIR/bundle-2.1.0"},
     1,
     "",
     "this update of bmc is irreversible; acknowledge that with --one-way"},
    {"no way back, and only staged for now",
     {AT, "--yes", "--stage", "--bundle=DIR/bundle-2.1.0"},
     1,
     "",
     "--one-way"},
    {"no way back, acknowledged",
     {AT, "--one-way", "--bundle=DIR/bundle-2.1.0"},
     2,
     "revert     none",
     "--yes"},
    {"for some hardware",
     {AT, "--one-way", "--bundle=DIR/bundle-2.1.0"},
     2,
     "only for   hardware class k1, k2; make sure that this is one",
     "--yes"},
#define FOR_SOME AT, "--one-way", "--bundle=DIR/bundle-2.1.0"
    {"for some hardware, and nobody is asked",
     {FOR_SOME, "--yes"},
     1,
     "",
     "only for hardware-class k1, k2, and the endpoint does not report it; give it"},
    {"for other hardware", {FOR_SOME, "--yes", "--hardware-class=k3"}, 1, "", "and this is k3"},
    {"for this hardware", {FOR_SOME, "--hardware-class=k2"}, 2, "class k1, k2\n", "--yes"},
    {"may not follow what runs",
     {AT, "--yes", "--bundle=DIR/bundle-2.2.0"},
     1,
     "",
     "does not say that 2.2.0 may follow 1.0.0; --force"},
    {"may not follow, and is to all the same",
     {AT, "--force", "--bundle=DIR/bundle-2.2.0"},
     2,
     "to         2.2.0",
     "--yes"},
    {"two files for it",
     {AT, "--component=bmc", "--bundle=DIR/bundle-2.3.0"},
     3,
     "",
     "--component and --file: bundle 'fw' has both bmc.fwpkg (bmc) and other.img (bmc); say which"},
    {"one of two files",
     {AT, "--file=other.img", "--bundle=DIR/bundle-2.3.0"},
     2,
     "image      other.img, 5 bytes",
     "--yes"},
    {"nobody to ask", {AT, "--bundle=DIR/bundle-2.0.0"}, 2, "from       1.0.0", "--yes"},
    {"not who it should be",
     {"bmc", "update", "URL", STATE, "--fingerprint", OTHER, WHO, "--yes",
      "--bundle=DIR/bundle-2.0.0"},
     5,
     "",
     "another key"},
    {"nobody there",
     {"bmc", "update", "https://127.0.0.1:1", STATE, "--fingerprint", OTHER, "--yes",
      "--bundle=DIR/bundle-2.0.0"},
     4,
     "",
     "cannot connect"},
    {"nobody there either",
     {"bmc", "update", "https://[::1]:1", STATE, "--fingerprint", OTHER, "--yes",
      "--bundle=DIR/bundle-2.0.0"},
     4,
     "",
     "cannot connect"},
    {"nothing staged", {AT, "--yes", "--activate", "--component=bmc"}, 1, "", "nothing is staged"},
    {"no controller to ask, and no question",
     {"bmc", "update", "https://192.0.2.1", STATE, "--fingerprint", OTHER, "--yes",
      "--bundle=DIR/bundle-2.0.0"},
     1,
     "",
     "no controller is configured here, so whether one manages this endpoint is unknown; name"},
    {"no controller to ask, and a question",
     {AT, "--bundle=DIR/bundle-2.0.0"},
     2,
     "controller none is configured here: whether one manages this endpoint is unknown",
     "--yes"},
    {"no controller manages it",
     {AT, "--bundle=DIR/bundle-2.0.0", "--unmanaged"},
     2,
     "none is configured here; --unmanaged states that none manages this endpoint",
     "--yes"},
    {"a real device is not hurried",
     {"bmc", "update", "https://192.0.2.1", STATE, "--fingerprint", OTHER, "--yes", SPEED,
      "--bundle=DIR/bundle-2.0.0"},
     2,
     "",
     "--speed"},
};

#define UPDATE(version)                                                                            \
    {                                                                                              \
        AT, "--bundle=DIR/bundle-" version, "--yes", SPEED, DEADLINE                               \
    }

static const struct cli_bmc_row updates[] = {
    {"done", UPDATE("2.0.0"), 0, "done: bmc", "100 %"},
    {"nothing to do", UPDATE("2.0.0"), 0, "same: bmc", ""},
    {"an older one", UPDATE("1.5.0"), 1, "refused: bmc", ""},
};

static void test_no_update(void)
{
    const struct cli_bmc_row prepare[] = {
        {"a key", {"trust", "key", "site", "--output=DIR/site.key"}, 0, "", ""},
        {"is pinned",
         {"trust", "add", "site", "DIR/site.key.pub", STATE, "--reason=test"},
         0,
         "",
         ""},
    };
    cli_bmc_check_rows(prepare, LKS_COUNT(prepare));
    cli_bmc_bundle("1.5.0", "");
    cli_bmc_bundle("2.0.0", "");
    cli_bmc_bundle("2.1.0",
                   "    one_way: true\n    from: [\">=1 <2\"]\n    hardware_classes: [k1, k2]\n");
    cli_bmc_bundle("2.2.0", "    from: [\">=1.1 <2\", \"0.9\"]\n");
    cli_bmc_bundle("2.3.0", "  - {file: other.img, component: bmc, version: \"2.3.0\"}\n");
    cli_bmc_check_rows(no_updates, LKS_COUNT(no_updates));
    cli_bmc_check_truth("1.0.0", 0);
    char path[CLI_BMC_WORD]; /* not that of https://[::1:1] */
    CHECK(access(cli_bmc_fill("DIR/state/updates/++1_1.lock", path), F_OK) == 0);
}

static void test_update(void)
{
    char outcome[CLI_BMC_WORD];
    cli_bmc_check_rows(updates, LKS_COUNT(updates));
    cli_bmc_check_truth("2.0.0", 1);
    const char *again[CLI_BMC_WORDS] = {
        "bmc",   "update", "URL",    STATE,   WHO, "--bundle=DIR/bundle-2.0.0",
        "--yes", SPEED,    DEADLINE, "--json"};
    cli_bmc_answer("bmc update", again, "outcome", outcome);
    CHECK_STR(lks_str_from(outcome), "same");
}

static void checkpoint_path(const char *suffix, char out[CLI_BMC_WORD])
{
    struct lks_str host, port, rest = lks_str_from(cli_bmc_urls[0] + strlen("https://"));
    CHECK(lks_str_cut(rest, ':', &host, &port));
    snprintf(out, CLI_BMC_WORD, "%s/state/updates/%" LKS_STR_FMT "_%" LKS_STR_FMT ".%s",
             cli_bmc_sim.tree.path, LKS_STR_ARG(host), LKS_STR_ARG(port), suffix);
}

/* Two operations in place of one, the way back, and what is remembered of them. A switch has a
 * quarter of an hour to be seen before it is helped along. */
#define OF_BMC(act, ...)                                                                           \
    {                                                                                              \
        AT, act, "--component=bmc", "--yes", __VA_ARGS__                                           \
    }
#define HASTE "--speed=6000"

static const struct {
    struct cli_bmc_row row;
    const char *kept; /* in what is remembered */
} steps[] = {
    {{"staged",
      {AT, "--bundle=DIR/bundle-2.5.0", "--yes", SPEED, DEADLINE, "--stage"},
      0,
      "staged: bmc",
      ""},
     "\"staged\":{\"version\":\"2.5.0\",\"digest\":\"sha256:"},
    {{"activated", OF_BMC("--activate", SPEED, DEADLINE), 0, "done: bmc", ""},
     "{\"bmc\":{\"version\":\"2.5.0\",\"digest\":"},
    {{"back to the other bank", OF_BMC("--switch", HASTE, DEADLINE), 0, "done: bmc", ""},
     "{\"bmc\":{\"version\":\"2.0.0\",\"digest\":"},
};

/* What the bundle said when it was staged holds when it is activated, under any name. */
static const struct cli_bmc_row one_way[] = {
    {"staged, and there is no way back",
     {AT, "--bundle=DIR/bundle-9.0.0", "--yes", SPEED, DEADLINE, "--stage", "--one-way"},
     0,
     "staged: bmc",
     ""},
    {"not activated", OF_BMC("--activate", SPEED), 1, "", "is irreversible"},
    {"nor by another name",
     {AT, "--activate", "--component=bmc_active", "--to=9.0.0", "--yes"},
     1,
     "",
     "is irreversible"},
    {"activated", OF_BMC("--activate", "--one-way", SPEED, DEADLINE), 0, "revert     none", ""},
};

static void test_one_way(void)
{
    cli_bmc_bundle("9.0.0", "    one_way: true\n");
    cli_bmc_check_rows(one_way, LKS_COUNT(one_way));
}

static void test_steps(void)
{
    char path[CLI_BMC_WORD];
    cli_bmc_bundle("2.5.0", "");
    checkpoint_path("prior", path);
    for (size_t i = 0; i < LKS_COUNT(steps); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf kept = LKS_BUF(LKS_DOC_BYTES_MAX);
        struct lks_err err = {0};
        cli_bmc_check_rows(&steps[i].row, 1);
        CHECK_CODE(lks_file_read_plain(path, &kept, &err), LKS_OK);
        CHECK_HAS(lks_buf_view(&kept), steps[i].kept);
    }
    cli_bmc_check_truth("2.0.0", 2);
}

/* Interrupted -------------------------------------------------------------------------------- */

/* Wait for its first checkpoint, and `more` then; and end it. Its status as waitpid() has it. */
static int interrupt(pid_t pid, unsigned more, int how)
{
    char path[CLI_BMC_WORD];
    int status = -1;
    checkpoint_path("json", path);
    for (struct lks_wait w = {0}; access(path, F_OK) != 0 && lks_wait(&w);) {
    }
    lks_rest(more);
    kill(pid, how);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* However far it came, the same command finishes it, and nothing is flashed twice. */
static const struct {
    const char *version;
    unsigned more;
    int how;
} ends[] = {
    {"3.0.0", 0, SIGKILL},   {"4.0.0", 0, SIGINT},    {"5.0.0", 40, SIGKILL},
    {"6.0.0", 100, SIGKILL}, {"7.0.0", 200, SIGTERM},
};

/* Without its bundle it goes as far as it can. */
static void check_gone(const char *const *words, const char *bundle, bool open)
{
    char from[CLI_BMC_WORD], to[CLI_BMC_WORD + 8];
    (void)cli_bmc_fill(bundle + strlen("--bundle="), from);
    snprintf(to, sizeof(to), "%s.gone", from);
    CHECK(rename(from, to) == 0);
    struct lks_run run = cli_bmc_run(words);
    CHECK_HAS(run.err, open ? "going on without it as long as nothing has to be sent" : from);
    CHECK(run.exit == 0 || !open || lks_str_find(run.err, LKS_STR("has to be sent again")) >= 0);
    lks_run_fini(&run);
    CHECK(rename(to, from) == 0);
}

static void check_interrupted(size_t i, char bundle[CLI_BMC_WORD])
{
    const char *words[CLI_BMC_WORDS] = {"bmc",  "update", "URL", STATE,   WHO,
                                        bundle, "--yes",  SPEED, DEADLINE};
    char path[CLI_BMC_WORD];
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = {0};
    lks_test_case("%s after %u ms", ends[i].version, ends[i].more);
    int status = interrupt(cli_bmc_spawn(words, NULL), ends[i].more, ends[i].how);
    cli_bmc_said(&said);
    checkpoint_path("json", path);
    bool open = access(path, F_OK) == 0;
    bool over = lks_str_find(lks_buf_view(&said), LKS_STR("updating: 100 %")) >= 0;
    if (open) /* the plan is printed before anything is sent, also into a file */
        CHECK_HAS(lks_buf_view(&said), "  controller none is configured here");
    if (open && !over && ends[i].how != SIGKILL) {
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
        CHECK_HAS(lks_buf_view(&said), "the same command goes on with it");
    }
    if (open) { /* nothing else is begun before */
        const char *other[CLI_BMC_WORDS] = {"bmc",      "update",          "URL",  STATE, WHO,
                                            "--switch", "--component=bmc", "--yes"};
        struct lks_run run = cli_bmc_run(other);
        CHECK_INT(run.exit, 1);
        CHECK_HAS(run.err, "another update has not ended");
        lks_run_fini(&run);
    }
    check_gone(words, bundle, open);
    open = access(path, F_OK) == 0;
    struct lks_run run = cli_bmc_run(words);
    CHECK_INT(run.exit, 0);
    CHECK_HAS(run.out, open ? "going on with" : "");
    lks_run_fini(&run);
    CHECK(access(path, F_OK) != 0);
    cli_bmc_check_truth(ends[i].version, (int64_t)i + 3);
}

static void test_interrupted(void)
{
    size_t count = getenv("LKS_OFTEN") != NULL ? LKS_COUNT(ends) : 1;
    for (size_t i = 0; i < count; i++) {
        char bundle[CLI_BMC_WORD];
        cli_bmc_bundle(ends[i].version, "");
        snprintf(bundle, sizeof(bundle), "--bundle=DIR/bundle-%s", ends[i].version);
        check_interrupted(i, bundle);
    }
}

/* Where a switch was asked for, and its time is over, nobody knows: nothing was uploaded, but that
 * is not all that can be under way. The command that goes on with it does not repeat the override,
 * which the record has. */
static void test_deadline(void)
{
    const char *words[CLI_BMC_WORDS] =
        OF_BMC("--switch", SPEED, DEADLINE, "--write-protected=ticket 7");
    LKS_CLEANUP(lks_buf_fini) struct lks_buf kept = LKS_BUF(LKS_DOC_BYTES_MAX);
    struct lks_err err = {0};
    const struct cli_bmc_row row = {
        "too late", OF_BMC("--switch", "--speed=1000000", "--deadline=1"), 1, "unknown: bmc", ""};
    char path[CLI_BMC_WORD];
    (void)interrupt(cli_bmc_spawn(words, NULL), 0, SIGKILL);
    cli_bmc_check_rows(&row, 1);
    checkpoint_path("json", path);
    CHECK(access(path, F_OK) != 0);
    checkpoint_path("unknown", path);
    CHECK_CODE(lks_file_read_plain(path, &kept, &err), LKS_OK);
    CHECK_HAS(lks_buf_view(&kept), "\"write_protected\":\"ticket 7\"");
    CHECK(unlink(path) == 0);
}

/* What is kept is not what is asked for, or not enough to go on with. */
static void test_records(void)
{
#define KEPT(url, saved)                                                                           \
    "{\"url\":\"" url "\",\"driver\":\"redfish\",\"act\":\"switch\",\"component\":\"bmc\"" saved   \
    "}\n"
    static const struct {
        const char *kept;
        struct cli_bmc_row row;
    } rows[] = {
        {KEPT("https://other", ",\"saved\":\"{}\""),
         {"of another endpoint", OF_BMC("--switch", SPEED), 1, "", "another update has not ended"}},
        {KEPT("URL", ""), {"without a checkpoint", OF_BMC("--switch", SPEED), 3, "", "checkpoint"}},
        {KEPT("URL", ",\"saved\":\"{}\""),
         {"with another's checkpoint", OF_BMC("--switch", SPEED), 3, "", "remove this file"}},
        {"{\"url\":", {"cut off", OF_BMC("--switch", SPEED), 3, "", ".json"}},
    };
    char path[CLI_BMC_WORD], text[CLI_BMC_WORD];
    struct lks_err err = {0};
    checkpoint_path("json", path);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_str kept = lks_str_from(cli_bmc_fill(rows[i].kept, text));
        CHECK_CODE(lks_file_replace(path, kept, &err), LKS_OK);
        cli_bmc_check_rows(&rows[i].row, 1);
    }
    CHECK(unlink(path) == 0);
}

/* What is in the way --------------------------------------------------------------------------- */

/* The first BMC by another spelling of its address. */
static const char *alias_words[] = {"bmc",           "update", NULL, STATE,
                                    "--fingerprint", OTHER,    WHO,  "--bundle=DIR/bundle-2.0.0",
                                    "--yes",         NULL};

static void check_alias(const char *says)
{
    unsigned n[5];
    char alias[CLI_BMC_WORD];
    CHECK_INT(sscanf(cli_bmc_urls[0], "https://%u.%u.%u.%u:%u", &n[0], &n[1], &n[2], &n[3], &n[4]),
              5);
    snprintf(alias, sizeof(alias), "https://%u.%u.%u:%u", n[0], n[1], n[2] * 256 + n[3], n[4]);
    lks_test_case("%s: %s", alias, says);
    alias_words[2] = alias;
    struct lks_run run = cli_bmc_run(alias_words);
    CHECK_INT(run.exit, 1);
    CHECK_HAS(run.err, says);
    lks_run_fini(&run);
}

static void test_unknown(void)
{
    char path[CLI_BMC_WORD], text[CLI_BMC_WORD];
    struct lks_err err = {0};
    const struct cli_bmc_row row = {"a person looks first", UPDATE("2.0.0"), 1, "", "inspect the"};
    struct lks_str kept =
        lks_str_from(cli_bmc_fill("{\"url\":\"URL\",\"addresses\":\"URL\"}", text));
    checkpoint_path("unknown", path);
    CHECK_CODE(lks_file_replace(path, kept, &err), LKS_OK);
    cli_bmc_check_rows(&row, 1);
    check_alias("inspect the");
    CHECK(unlink(path) == 0);
    checkpoint_path("json", path);
    CHECK_CODE(lks_file_replace(path, kept, &err), LKS_OK);
    check_alias("finish it by that name first");
    CHECK(unlink(path) == 0);
}

static void test_locked(void)
{
    char path[CLI_BMC_WORD];
    const struct cli_bmc_row row = {"another one runs", UPDATE("2.0.0"), 1, "", "runs already"};
    checkpoint_path("lock", path);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0);
    cli_bmc_check_rows(&row, 1);
    check_alias("runs already");
    close(fd);
}

/* lockstepd's answer decides, where there is one. */
#define MANAGED(more) "{\"items\":[{\"node\":\"n1\",\"managed\":true,\"changing\":true" more "}]}"
static const struct {
    const char *name, *body;
    int exit;
    const char *says;
    size_t questions;
} managers[] = {
    {"it manages it", "{\"items\":[{\"node\":\"n1\",\"managed\":true}]}", 1, "belongs to n1", 1},
    {"within a change", MANAGED(",\"idle\":true"), 0, "same: bmc", 2},
    {"within a change, in service", MANAGED(",\"idle\":false"), 1, "not known to be idle", 1},
    {"it does it itself", MANAGED(",\"flashing\":7"), 1, "which lockstepd updates itself", 1},
    {"it does not know it", "{\"items\":[]}", 0, "same: bmc", 2},
    {"revoked there", "{\"revoked\":\"2026-11-15T00:00:00Z\",\"revoked_reason\":\"bad\"}", 1,
     "revoked at lockstepd: bad", 2},
};

static int run_at(const char *const *words, const char *server, struct lks_buf *said)
{
    int status = -1;
    pid_t pid = cli_bmc_spawn(words, server);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    cli_bmc_said(said);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void check_manager(size_t i)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0}, said = {0};
    const char *words[CLI_BMC_WORDS] = UPDATE("2.0.0");
    char path[CLI_BMC_WORD], server[CLI_BMC_WORD + 8];
    lks_test_case("%s", managers[i].name);
    lks_buf_init(&answer, CLI_BMC_WORD * 2);
    lks_buf_addf(&answer,
                 "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
                 "\r\n%s",
                 strlen(managers[i].body), managers[i].body);
    const struct lks_liar_turn turn = {LKS_LIAR_CLOSE, lks_buf_view(&answer)};
    struct lks_liar liar = {.turns = {turn, turn},
                            .turn_count = managers[i].questions,
                            .path = cli_bmc_fill("DIR/manager", path)};
    lks_liar_start(&liar);
    snprintf(server, sizeof(server), "unix:%s", path);
    CHECK_INT(run_at(words, server, &said), managers[i].exit);
    CHECK_HAS(lks_buf_view(&said), managers[i].says);
    lks_liar_fini(&liar);
    unlink(path);
}

static void test_managed(void)
{
    static const char nobody[] = "unix:/nonexistent/lockstepd.sock";
    const char *words[CLI_BMC_WORDS] = UPDATE("2.0.0");
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = {0}, alone = {0};
    for (size_t i = 0; i < LKS_COUNT(managers); i++)
        check_manager(i);
    lks_test_case("it does not answer");
    CHECK_INT(run_at(words, nobody, &said), 4);
    CHECK_HAS(lks_buf_view(&said), "does not say whether it manages");
    lks_test_case("it does not answer, and need not");
    words[9] = "--unmanaged";
    CHECK_INT(run_at(words, nobody, &alone), 0);
    CHECK_HAS(lks_buf_view(&alone), "same: bmc");
}

/* Another certificate: nothing is said to whoever shows it, until a person takes it. */
static void test_changed(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(LKS_DOC_BYTES_MAX);
    char shown[CLI_BMC_WORD];
    const struct cli_bmc_row refused[] = {
        {"nothing is sent", {LOOK}, 5, "", "nothing was sent"},
        {"nor updated", UPDATE("2.0.0"), 5, "", "another key"},
        {"a yes is not enough", {"bmc", "trust", "URL", STATE, "--yes"}, 1, "", "--accept sha256:"},
    };
    CHECK_INT(bmcd_control(&cli_bmc_sim, "POST", "/bmcs/bmc0001/fault",
                           "{\"fault\":\"certificate\"}", &answer),
              200);
    cli_bmc_check_rows(refused, LKS_COUNT(refused));
    const char *look[CLI_BMC_WORDS] = {"bmc", "trust", "URL", "--state=DIR/other", "--json"};
    cli_bmc_answer("bmc trust", look, "fingerprint", shown);
    const char *accept[CLI_BMC_WORDS] = {"bmc", "trust", "URL", STATE, "--accept", shown};
    struct lks_run run = cli_bmc_run(accept);
    CHECK_INT(run.exit, 0);
    lks_run_fini(&run);
    const struct cli_bmc_row again = {"it is known again", {LOOK}, 0, "bmc", ""};
    cli_bmc_check_rows(&again, 1);
}

static void test_begin(void)
{
    static const char *const options[] = {"--count", "2", "--personality", "openbmc,hgx", "--speed",
                                          SIM_SPEED, NULL};
    lks_run_now = (int64_t)time(NULL);
    bmcd_init(&cli_bmc_sim);
    LKS_ASSERT(bmcd_start(&cli_bmc_sim, LKS_BMCSIM_PROGRAM, options));
    for (size_t i = 0; i < CLI_BMC_COUNT; i++)
        bmcd_url(&cli_bmc_sim, i, cli_bmc_urls[i]);
}

static void test_end(void)
{
    CHECK_INT(bmcd_stop(&cli_bmc_sim), 0);
    bmcd_fini(&cli_bmc_sim);
}

static const struct lks_test tests[] = {
    {"BMCs start", test_begin},
    {"trust", test_trust},
    {"inventory", test_inventory},
    {"updates that are not begun", test_no_update},
    {"an update", test_update},
    {"one step after the other", test_steps},
    {"an update nobody knows the end of", test_unknown},
    {"two at once", test_locked},
    {"an endpoint that is managed", test_managed},
    {"interrupted", test_interrupted},
    {"another certificate", test_changed},
    {"what is kept of another one", test_records},
    {"no way back, in two steps", test_one_way},
    {"a switch that takes too long", test_deadline},
    {"they end", test_end},
    {0},
};

int main(void)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC); /* nobody is there to be asked */
    signal(SIGPIPE, SIG_IGN);
    LKS_ASSERT(null >= 0 && dup2(null, STDIN_FILENO) >= 0);
    return lks_test_main(tests);
}
