/* `lockstep rehearse` as a user has it: a fleet's file, many runs, one story, and what is said of
 * places that are no fleet. */
#include "base/file.h"
#include "tests/rehearsals.h"
#include "tests/run_cli.h"

#include <sys/stat.h>
#include <unistd.h>

enum { NODES = 100, NARROW = 40, NOBODY = 65534 };
static char dir[64], fleet[96], picture[96], junk[96], empty[96];

static void write_file(const char *path, struct lks_str bytes)
{
    struct lks_err err = {0};
    CHECK_CODE(lks_file_replace(path, bytes, &err), LKS_OK);
}

static bool begin(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    (void)snprintf(dir, sizeof(dir), "/tmp/lks-rehearse-XXXXXX");
    if (!CHECK(mkdtemp(dir) != NULL))
        return false;
    (void)snprintf(fleet, sizeof(fleet), "%s/fleet.yaml", dir);
    (void)snprintf(picture, sizeof(picture), "%s/forecast.svg", dir);
    (void)snprintf(junk, sizeof(junk), "%s/journal.db", dir);
    (void)snprintf(empty, sizeof(empty), "%s/classes.yaml", dir);
    rehearsals_fleet(NODES, "", &text);
    write_file(fleet, lks_buf_view(&text));
    write_file(junk, (struct lks_str){"\xff\xfe\0junk", 7});
    write_file(empty, LKS_STR("lockstep: 1\nkind: HardwareClass\nname: tray\nvendor: nvidia\n"
                              "gpu: {product: 'H200', count: 8}\n"));
    return true;
}

/* What is refused, and with which words. */
static const struct {
    const char *name;
    const char *args[12];
    int exit;
    const char *has;
} refusals[] = {
    {"nobody to ask", {"rehearse", "7", "--server", "unix:/nonexistent"}, 4, "/nonexistent"},
    {"no journal to read", {"rehearse", "7", "--checkpoint", "60s"}, 2, "--fleet has to name"},
    {"nothing to do", {"rehearse", "--fleet", fleet}, 2, "say which change by its number"},
    {"nobody", {"rehearse", "--fleet", fleet, "--to", "s1"}, 2, "--nodes or --pool"},
    {"no number", {"rehearse", "seven", "--fleet", fleet}, 2, "is not the number of a change"},
    {"no such change", {"rehearse", "7", "--fleet", fleet}, 3, "there is no change 7"},
    {"no journal", {"rehearse", "7", "--fleet", junk}, 3, "neither a journal, nor"},
    {"no fleet in it", {"rehearse", "7", "--fleet", empty}, 3, "there is no fleet in it"},
    {"not there", {"rehearse", "7", "--fleet", "/nonexistent"}, 3, "/nonexistent"},
    {"a fault that nobody knows",
     {"rehearse", "--fleet", fleet, "--to", "s1", "--pool", "train", "--faults", "rain=1%"},
     2,
     "--faults 'rain=1%': it can be"},
    {"no price",
     {"rehearse", "--fleet", fleet, "--to", "s1", "--pool", "train", "--gpu-hour", "dear"},
     2,
     "is not a price"},
    {"no such stack", {"rehearse", "--fleet", fleet, "--to", "s9", "--pool", "train"}, 3, "s9"},
    {"a number and what would be proposed",
     {"rehearse", "7", "--fleet", fleet, "--to", "s1"},
     2,
     "--to is for a change that is not proposed yet"},
    {"a number and how else it would be",
     {"rehearse", "7", "--fleet", fleet, "--soak", "8h"},
     2,
     "--soak is for a change that is not proposed yet"},
    {"a number and one more word of a proposal",
     {"rehearse", "7", "--fleet", fleet, "--roll-back"},
     2,
     "--roll-back is for a change that is not proposed yet"},
    {"one run and many",
     {"rehearse", "--fleet", fleet, "--to", "s1", "--pool", "train", "--seed", "3", "--seeds", "5"},
     2,
     "--seed is one run, and --seeds are many"},
    {"nothing to keep it with",
     {"rehearse", "--fleet", fleet, "--to", "s1", "--pool", "train", "--keep"},
     2,
     "--keep needs the number of a change"},
    {"bad on what nobody has",
     {"rehearse", "--fleet", fleet, "--to", "s1", "--pool", "train", "--faults", "bad=revision:Z9"},
     3,
     "no node of the change is of hardware revision 'Z9'"},
};

static void test_refusals(void)
{
    for (size_t i = 0; i < LKS_COUNT(refusals); i++) {
        lks_test_case("%s", refusals[i].name);
        struct lks_run run = lks_run(refusals[i].args);
        CHECK_INT(run.exit, refusals[i].exit);
        CHECK_HAS(run.err, refusals[i].has);
        CHECK_INT(run.out.len, 0);
        lks_run_fini(&run);
    }
}

/* Where a table does not fit each row is a list. */
static void test_narrow(void)
{
    const char *const args[] = {"rehearse", "--fleet",    fleet, "--to",   "s1", "--pool",
                                "train",    "--seeds",    "8",   "--soak", "1h", "--faults",
                                "bad=100%", "--gpu-hour", "2.5", NULL};
    struct lks_run run = lks_run_wide(args, NARROW);
    CHECK_INT(run.exit, 0);
    CHECK_HAS(run.out, "80 nodes, 640 GPUs to s1\n"
                       "jobs are drawn on 80 nodes: no scheduler was asked for them\n");
    CHECK_HAS(run.out, " runs without and 8 with a bad image; without:");
    CHECK_HAS(run.out, "with a bad image, 8 runs: stopped in 8");
    CHECK_HAS(run.out, "no bad image, at most: GPU-hours drained\n1 in 20: ");
    CHECK_HAS(run.out, "of a canary wave in 8");
    lks_run_fini(&run);
}

static struct lks_run story(const char *seed)
{
    const char *const args[] = {"rehearse", "--fleet", fleet, "--to",   "s1", "--pool",
                                "train",    "--soak",  "1h",  "--seed", seed, NULL};
    return lks_run(args);
}

static void test_story(void)
{
    struct lks_run first = story("5"), again = story("5"), other = story("6");
    CHECK_INT(first.exit, 0);
    CHECK_HAS(first.out, "    0:00  wave 0 is begun");
    CHECK(lks_str_eq(first.out, again.out));
    CHECK(!lks_str_eq(first.out, other.out));
    lks_run_fini(&first);
    lks_run_fini(&again);
    lks_run_fini(&other);
}

static struct lks_run many(const char *jobs)
{
    const char *const args[] = {"rehearse", "--fleet", fleet,     "--to",   "s1",
                                "--pool",   "train",   "--seeds", "6",      "--jobs",
                                jobs,       "--svg",   picture,   "--json", NULL};
    return lks_run(args);
}

/* However many run at a time, the forecast is the same. */
static void test_json_and_picture(void)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf svg = LKS_BUF((size_t)1 << 20);
    struct lks_run one = many("1"), three = many("3");
    struct lks_err err = {0};
    CHECK_INT(one.exit, 0);
    CHECK(lks_str_eq(one.out, three.out));
    if (CHECK_CODE(lks_docs_init(&docs, "forecast", &err), LKS_OK) &&
        CHECK_CODE(lks_json_parse(one.out, &docs, &err), LKS_OK)) {
        lks_run_check_members("rehearse", docs.first);
        CHECK_STR(lks_doc_text(docs.first, "title"), "80 nodes, 640 GPUs to s1");
        CHECK(lks_doc_member(docs.first, "bad_image") != NULL); /* every fourth seed has one */
        CHECK(lks_doc_member(docs.first, "pools") != NULL);
        CHECK_HAS(one.out, "\"jobs\":{\"drawn_nodes\":80,\"sites\":[]}");
    }
    CHECK_CODE(lks_file_read(picture, &svg, &err), LKS_OK);
    CHECK(lks_str_starts(lks_buf_view(&svg), "<svg xmlns="));
    CHECK(lks_str_ends(lks_buf_view(&svg), "</svg>\n"));
    CHECK_HAS(lks_buf_view(&svg), "Pool train: nodes");
    lks_run_fini(&one);
    lks_run_fini(&three);
}

/* Nobody waits for the runs to hear that the picture cannot be written. */
static const struct {
    const char *name, *path;
    int exit;
    const char *err;
} nowhere[] = {
    {"no folder", "/nonexistent/x.svg", 3,
     "lockstep: --svg: /nonexistent/x.svg: No such file or directory\n"},
    {"a folder", "/tmp", 3, "lockstep: --svg: /tmp: is a directory, not a file\n"},
    {"a device", "/dev/null", 3, "lockstep: --svg: /dev/null: is there and is not a plain file\n"},
    {"in a folder of others", picture, 5, "/forecast.svg: Permission denied\n"},
};

static void test_picture_nowhere(void)
{
    bool root = geteuid() == 0; /* whom no mode keeps out */
    CHECK(chmod(dir, 0500) == 0);
    for (size_t i = 0; i < LKS_COUNT(nowhere); i++) {
        lks_test_case("%s", nowhere[i].name);
        const char *const args[] = {"rehearse", "--fleet", fleet,           "--to",
                                    "s1",       "--pool",  "train",         "--seeds",
                                    "2",        "--svg",   nowhere[i].path, NULL};
        CHECK(!root || seteuid(NOBODY) == 0);
        struct lks_run run = lks_run(args);
        CHECK(!root || seteuid(0) == 0);
        CHECK_INT(run.exit, nowhere[i].exit);
        CHECK(lks_str_starts(run.err, "lockstep: --svg: "));
        CHECK(lks_str_ends(run.err, nowhere[i].err));
        CHECK_STR(run.out, "");
        lks_run_fini(&run);
    }
    CHECK(chmod(dir, 0700) == 0);
}

int main(void)
{
    if (!begin())
        return 1;
    int failed = lks_test_main((const struct lks_test[]){
        {"rehearse: what is refused", test_refusals},
        {"rehearse: a narrow terminal", test_narrow},
        {"rehearse: one story", test_story},
        {"rehearse: JSON and a picture", test_json_and_picture},
        {"rehearse: a picture that cannot be written", test_picture_nowhere},
        {0},
    });
    const char *const files[] = {fleet, picture, junk, empty};
    for (size_t i = 0; i < LKS_COUNT(files); i++)
        (void)unlink(files[i]);
    (void)rmdir(dir);
    return failed;
}
