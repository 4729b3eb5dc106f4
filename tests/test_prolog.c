/* What slurm-prolog asks about, which nodes it knows to have been admitted, and which refusals are
 * tried again at once. */
#include "agent/hooks/prolog_last.h"
#include "agent/hooks/prolog_question.h"
#include "agent/hooks/prolog_retry.h"
#include "tests/test.h"
#include "tests/tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define X64 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

/* The variables of slurmctld: "NAME=VALUE", NULL behind the last. */
enum { VARIABLES = 8 };
static const char *const *variables;

static char *get(const char *name)
{
    static char values[VARIABLES][2048];
    for (size_t i = 0; i < VARIABLES && variables[i] != NULL; i++) {
        struct lks_str key, value;
        (void)lks_str_cut(lks_str_from(variables[i]), '=', &key, &value);
        if (lks_str_is(key, name)) {
            snprintf(values[i], sizeof(values[i]), "%" LKS_STR_FMT, LKS_STR_ARG(value));
            return values[i];
        }
    }
    return NULL;
}

#define JOB      "SLURM_JOB_ID=42"
#define NODES    "SLURM_JOB_NODELIST=n[1-2]"
#define ASKS     "admit --brief --job 42 --nodes n[1-2]"
#define IMAGE    "SPANK_LOCKSTEP_IMAGE="
#define STACK    "SPANK_LOCKSTEP_STACK="
#define NO_IMAGE "the image name has blanks, '='"
#define NO_STACK "--stack of the job is no stack's name, NAME/VERSION or digest"

static const struct {
    const char *name, *variables[VARIABLES], *asks;
    enum lks_code code;
    const char *why;
} questions[] = {
    {"a job", {JOB, NODES}, ASKS, LKS_OK, NULL},
    {"its wishes",
     {JOB, NODES, IMAGE "nvcr.io#nvidia/pytorch:26.06", STACK "golden/1",
      "SPANK_LOCKSTEP_CANARY_OK=1"},
     ASKS " --image nvcr.io#nvidia/pytorch:26.06 --stack golden/1 --canary-ok",
     LKS_OK,
     NULL},
    {"its user", {JOB, NODES, "SLURM_JOB_USER=kim"}, ASKS " --user kim", LKS_OK, NULL},
    {"a user whose name is too long", {JOB, NODES, "SLURM_JOB_USER=" X64 "x"}, ASKS, LKS_OK, NULL},
    {"a user that is an option", {JOB, NODES, "SLURM_JOB_USER=--start"}, ASKS, LKS_OK, NULL},
    {"no opting in by another word",
     {JOB, NODES, "SPANK_LOCKSTEP_CANARY_OK=yes"},
     ASKS,
     LKS_OK,
     NULL},
    {"an empty image", {JOB, NODES, IMAGE}, ASKS, LKS_OK, NULL},
    {"an image with ranks of its own", {JOB, NODES, IMAGE "a=0-1"}, NULL, LKS_E_REFUSED, NO_IMAGE},
    {"an image of a blank", {JOB, NODES, IMAGE " "}, NULL, LKS_E_REFUSED, NO_IMAGE},
    {"an image with a blank", {JOB, NODES, IMAGE "a b"}, NULL, LKS_E_REFUSED, NO_IMAGE},
    {"an image that is an option", {JOB, NODES, IMAGE "--start"}, NULL, LKS_E_REFUSED, NO_IMAGE},
    {"an image with a colour", {JOB, NODES, IMAGE "\x1b[31m"}, NULL, LKS_E_REFUSED, NO_IMAGE},
    {"a long image",
     {JOB, NODES, IMAGE X64 X64 X64 X64 X64 X64 X64 X64 "x"},
     NULL,
     LKS_E_REFUSED,
     NO_IMAGE},
    {"a stack that is an option", {JOB, NODES, STACK "--start"}, NULL, LKS_E_REFUSED, NO_STACK},
    {"an empty stack", {JOB, NODES, STACK}, NULL, LKS_E_REFUSED, NO_STACK},
    {"a stack with a line feed", {JOB, NODES, STACK "a\nb"}, NULL, LKS_E_REFUSED, NO_STACK},
    {"all components, by the first",
     {JOB, NODES, "SLURM_HET_JOB_NODELIST=n[1-4]", "SLURM_HET_JOB_OFFSET=0"},
     ASKS ",n[3-4]",
     LKS_OK,
     NULL},
    {"an image of the first component, which is not the first by name",
     {JOB, "SLURM_JOB_NODELIST=n[3-4]", "SLURM_HET_JOB_NODELIST=n[1-4]", IMAGE "a"},
     "admit --brief --job 42 --nodes n[3-4],n[1-2] --image a=0-1",
     LKS_OK,
     NULL},
    {"one component that has all nodes",
     {JOB, NODES, "SLURM_HET_JOB_NODELIST=n[1-2]", IMAGE "a"},
     ASKS " --image a",
     LKS_OK,
     NULL},
    {"another component",
     {JOB, NODES, "SLURM_HET_JOB_ID=41", "SLURM_HET_JOB_OFFSET=1", "SPANK_LOCKSTEP_IMAGE=b"},
     ASKS " --image b",
     LKS_OK,
     NULL},
    {"a component that Slurm does not have",
     {JOB, NODES, "SLURM_HET_JOB_ID=41", "SLURM_HET_JOB_OFFSET=128"},
     NULL,
     LKS_E_REFUSED,
     "more than 128 components"},
    {"a component of no job",
     {JOB, NODES, "SLURM_HET_JOB_ID=0", "SLURM_HET_JOB_OFFSET=1"},
     NULL,
     LKS_E_USAGE,
     "SLURM_HET_JOB_ID"},
    {"restarts that are no number",
     {JOB, NODES, "SLURM_HET_JOB_ID=41", "SLURM_HET_JOB_OFFSET=1", "SLURM_JOB_RESTART_COUNT=../1"},
     NULL,
     LKS_E_USAGE,
     "SLURM_JOB_RESTART_COUNT"},
    {"no job", {NODES}, NULL, LKS_E_USAGE, "SLURM_JOB_ID is not a job's ID"},
    {"no number", {"SLURM_JOB_ID=42;reboot", NODES}, NULL, LKS_E_USAGE, "SLURM_JOB_ID"},
    {"no nodes", {JOB}, NULL, LKS_E_USAGE, "SLURM_JOB_NODELIST is empty"},
    {"a list that is none", {JOB, "SLURM_JOB_NODELIST=n[1-"}, NULL, LKS_E_INVALID, "never closed"},
    {"a list of no nodes", {JOB, "SLURM_JOB_NODELIST=../x"}, NULL, LKS_E_INVALID, ""},
};

static void check_words(const struct lks_prolog_question *q, const char *expected)
{
    char text[1024] = "";
    for (size_t w = 0; w < q->count; w++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", w > 0 ? " " : "",
                 q->words[w]);
    CHECK_STR(lks_str_from(text), expected);
}

static void test_questions(void)
{
    for (size_t i = 0; i < LKS_COUNT(questions); i++) {
        LKS_CLEANUP(lks_prolog_question_fini) struct lks_prolog_question q = {0};
        struct lks_err err = {0};
        lks_test_case("%s", questions[i].name);
        variables = questions[i].variables;
        CHECK_CODE(lks_prolog_question_read(get, &q, &err), questions[i].code);
        if (questions[i].code != LKS_OK) {
            CHECK_HAS(lks_str_from(err.msg), questions[i].why);
            continue;
        }
        check_words(&q, questions[i].asks);
        CHECK(q.wishes ==
              (get("SPANK_LOCKSTEP_IMAGE") != NULL || get("SPANK_LOCKSTEP_STACK") != NULL ||
               get("SPANK_LOCKSTEP_CANARY_OK") != NULL));
    }
}

/* Components that are kept, by their offset, and what the one that comes last asks about. */
#define GANG "admit --brief --job 41 --nodes "
static const struct {
    const char *name;
    struct lks_prolog_component kept[4];
    size_t count;
    bool mix, lack;
    const char *asks; /* NULL: the job is refused */
} gangs[] = {
    {"two images",
     {{0, LKS_STR_C("n[1-2]"), LKS_STR_C("a")}, {1, LKS_STR_C("n3"), LKS_STR_C("b")}},
     2,
     true,
     false,
     GANG "n[1-2],n3 --image a=0-1 --image b=2 --canary-ok --user kim"},
    {"the same from the other end",
     {{1, LKS_STR_C("n3"), LKS_STR_C("b")}, {0, LKS_STR_C("n[1-2]"), LKS_STR_C("a")}},
     2,
     true,
     false,
     GANG "n[1-2],n3 --image a=0-1 --image b=2 --canary-ok --user kim"},
    {"an image of two components, and a component without one between them",
     {{0, LKS_STR_C("n1"), LKS_STR_C("a")},
      {3, LKS_STR_C("n[7-8]"), LKS_STR_C("a")},
      {1, LKS_STR_C("n[2-3]"), {"", 0}},
      {2, LKS_STR_C("n[4-6]"), LKS_STR_C("b")}},
     4,
     true,
     false,
     GANG "n1,n[2-3],n[4-6],n[7-8] --image a=0,6-7 --image b=3-5 --canary-ok --user kim"},
    {"one image",
     {{0, LKS_STR_C("n1"), LKS_STR_C("a")}, {1, LKS_STR_C("n2"), LKS_STR_C("a")}},
     2,
     false,
     false,
     GANG "n1,n2 --image a=0,1 --canary-ok --user kim"},
    {"the first component did not come so far",
     {{1, LKS_STR_C("n1"), LKS_STR_C("a")}, {2, LKS_STR_C("n2"), LKS_STR_C("b")}},
     2,
     true,
     true,
     GANG "n1,n2 --image a=0 --image b=1 --canary-ok --user kim"},
    {"no image of its own",
     {{0, LKS_STR_C("n1"), LKS_STR_C("a")}, {1, LKS_STR_C("n2"), {"", 0}}},
     2,
     false,
     false,
     GANG "n1,n2 --image a=0 --canary-ok --user kim"},
    {"a node of two components",
     {{0, LKS_STR_C("n[1-2]"), LKS_STR_C("a")}, {1, LKS_STR_C("n[2-3]"), LKS_STR_C("b")}},
     2,
     true,
     false,
     NULL},
};

static int open_folder(const struct lks_tree *tree)
{
    struct lks_err err = {0};
    int dir = 0;
    CHECK(chmod(tree->path, 0700) == 0);
    CHECK_CODE(lks_prolog_last_open(tree->path, &dir, &err), LKS_OK);
    return dir;
}

static void test_gangs(void)
{
    const struct lks_prolog_start start = {41, 2};
    for (size_t i = 0; i < LKS_COUNT(gangs); i++) {
        struct lks_tree tree = lks_tree_new();
        LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
        LKS_CLEANUP(lks_prolog_question_fini) struct lks_prolog_question gang = {0};
        static struct lks_prolog_components c;
        struct lks_prolog_question own = {.start = start, .user = "kim"};
        struct lks_err err = {0};
        lks_test_case("%s", gangs[i].name);
        lks_arena_init(&arena, 1 << 20);
        int dir = open_folder(&tree);
        for (size_t k = 0; k < gangs[i].count; k++) {
            own.own = gangs[i].kept[k];
            CHECK_CODE(lks_prolog_components_keep(dir, start, &own.own, time(NULL), &err), LKS_OK);
        }
        CHECK_CODE(lks_prolog_components_read(dir, start, time(NULL), &arena, &c, &err), LKS_OK);
        CHECK_INT(c.count, gangs[i].count);
        CHECK(lks_prolog_components_mix(&c, &own.own) == gangs[i].mix);
        CHECK(lks_prolog_components_lack(&c) == gangs[i].lack);
        enum lks_code code = lks_prolog_question_gang(&own, &c, &gang, &err);
        CHECK_CODE(code, gangs[i].asks != NULL ? LKS_OK : LKS_E_REFUSED);
        if (code == LKS_OK)
            check_words(&gang, gangs[i].asks);
        else
            CHECK_HAS(lks_str_from(err.msg), "node n2 is in two of its components");
        (void)close(dir);
        lks_tree_free(&tree);
    }
}

/* Whether a component that was kept is found again. */
static const struct {
    const char *name;
    struct lks_prolog_start start;
    int later; /* seconds */
    bool found;
} starts[] = {
    {"the same start", {41, 2}, 0, true},
    {"its last second", {41, 2}, LKS_PROLOG_COMPONENTS_SECONDS, true},
    {"too long ago", {41, 2}, LKS_PROLOG_COMPONENTS_SECONDS + 2, false},
    {"the clock was set back", {41, 2}, -LKS_PROLOG_COMPONENTS_SECONDS - 2, false},
    {"the next start", {41, 3}, 0, false},
    {"another job", {412, 2}, 0, false},
};

static void test_starts(void)
{
    struct lks_tree tree = lks_tree_new();
    const struct lks_prolog_component own = {0, LKS_STR("n1"), LKS_STR("a")};
    struct lks_err err = {0};
    int dir = open_folder(&tree);
    const time_t now = time(NULL);
    CHECK_CODE(lks_prolog_components_keep(dir, (struct lks_prolog_start){41, 2}, &own, now, &err),
               LKS_OK);
    for (size_t i = 0; i < LKS_COUNT(starts); i++) {
        LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
        static struct lks_prolog_components c;
        lks_test_case("%s", starts[i].name);
        lks_arena_init(&arena, 1 << 20);
        CHECK_CODE(lks_prolog_components_read(dir, starts[i].start, now + starts[i].later, &arena,
                                              &c, &err),
                   LKS_OK);
        CHECK_INT(c.count, starts[i].found);
    }
    (void)close(dir);
    lks_tree_free(&tree);
}

/* Write a file of a component by its name; the folder is there after another one was kept. */
static void write_kept(int dir, const char *name, const char *bytes)
{
    char path[64];
    snprintf(path, sizeof(path), ".components/%s", name);
    int fd = openat(dir, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && write(fd, bytes, strlen(bytes)) == (ssize_t)strlen(bytes));
    (void)close(fd);
}

static void test_kept(void)
{
    struct lks_tree tree = lks_tree_new();
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    static struct lks_prolog_components c;
    const struct lks_prolog_component own = {0, LKS_STR("n1"), LKS_STR("a")};
    const struct lks_prolog_start start = {41, 0}, other = {42, 0};
    struct lks_err err = {0};
    const time_t now = time(NULL);
    char name[32];
    int dir = open_folder(&tree);
    lks_arena_init(&arena, 1 << 20);
    lks_test_case("files that are too old go with the next one");
    CHECK_CODE(lks_prolog_components_keep(dir, start, &own, now, &err), LKS_OK);
    CHECK_CODE(
        lks_prolog_components_keep(dir, other, &own, now + LKS_PROLOG_COMPONENTS_SECONDS + 2, &err),
        LKS_OK);
    CHECK(faccessat(dir, ".components/41.0.0", F_OK, 0) != 0);
    lks_test_case("a file that is not one");
    write_kept(dir, "41.0.1", "n1\n../b");
    CHECK_CODE(lks_prolog_components_read(dir, start, now, &arena, &c, &err), LKS_E_INVALID);
    lks_test_case("as many as may be");
    for (int i = 0; i < LKS_PROLOG_COMPONENTS_FILES; i++) {
        snprintf(name, sizeof(name), "7.%d.0", i);
        write_kept(dir, name, "");
    }
    CHECK_CODE(lks_prolog_components_keep(dir, start, &own, now, &err), LKS_E_LIMIT);
    (void)close(dir);
    lks_tree_free(&tree);
}

static const struct {
    const char *name, *bytes, *why; /* NULL: it is one */
} files[] = {
    {"nodes and an image", "n[1-2]\na\n", NULL},
    {"no image", "n1\n\n", NULL},
    {"cut", "n1\na", "two lines"},
    {"more", "n1\na\nb\n", "two lines"},
    {"an image that is an option", "n1\n--start\n", "name of an image"},
    {"an image with ranks", "n1\na=0\n", "name of an image"},
    {"no node", "\na\n", "no node"},
    {"a list that is none", "n[1-\na\n", "never closed"},
};

static void test_files(void)
{
    for (size_t i = 0; i < LKS_COUNT(files); i++) {
        struct lks_prolog_component c = {0};
        struct lks_err err = {0};
        lks_test_case("%s", files[i].name);
        CHECK_CODE(lks_prolog_components_parse(lks_str_from(files[i].bytes), &c, &err),
                   files[i].why == NULL ? LKS_OK : LKS_E_INVALID);
        if (files[i].why != NULL)
            CHECK_HAS(lks_str_from(err.msg), files[i].why);
    }
}

static const struct {
    const char *answer, *offender;
} answers[] = {
    {"no: drift n2: driver: 570.1, pinned 580.1", "n2"},
    {"no: stale n2: it is lost, and 3 more reasons", "n2"},
    {"no: unhealthy gpu-1.rack: no GPU 3", "gpu-1.rack"},
    {"no: unchecked n2", "n2"},
    {"no: unknown n3: no node 'n3' in the fleet", ""},
    {"no: changing n2: a step runs", ""},
    {"no: canary n2: it soaks", ""},
    {"no: disagrees n2: nccl", ""},
    {"no: image nvcr.io/x: brings NCCL 2", ""},
    {"no: posture: dev", ""},
    {"no: drift ../n2: x", ""},
    {"no: drift", ""},
    {"no", ""},
    {"", ""},
};

static void test_offenders(void)
{
    for (size_t i = 0; i < LKS_COUNT(answers); i++) {
        lks_test_case("%s", answers[i].answer);
        CHECK_STR(lks_prolog_question_offender(lks_str_from(answers[i].answer)),
                  answers[i].offender);
    }
}

static const struct {
    const char *output, *key, *flag;
    bool shows;
} shown[] = {
    {"NodeName=n1 State=IDLE+DRAIN Reason=x\n", "State", "DRAIN", true},
    {"NodeName=n1 State=DRAIN\n", "State", "DRAIN", true},
    {"NodeName=n1 State=IDLE+NOTDRAIN\n", "State", "DRAIN", false},
    {"NodeName=n1 State=IDLE Reason=State=DRAIN\n", "State", "DRAIN", false},
    {"NodeName=n1\nState=DRAIN\n", "State", "DRAIN", false},
    {"JobId=4 JobState=PENDING Reason=BeginTime", "JobState", "PENDING", true},
    {"JobId=4 JobName=JobState=PENDING JobState=RUNNING", "JobState", "PENDING", false},
    {"", "State", "DRAIN", false},
};

static void test_shown(void)
{
    for (size_t i = 0; i < LKS_COUNT(shown); i++) {
        lks_test_case("%s", shown[i].output);
        CHECK(lks_prolog_retry_shows(lks_str_from(shown[i].output), shown[i].key, shown[i].flag) ==
              shown[i].shows);
    }
}

/* Processes that wait for a drain: few, each less and less often. */
static void test_places(void)
{
    static const int pauses[] = {1000, 2000, 4000, 8000, 8000};
    struct lks_tree tree = lks_tree_new();
    int dir = open_folder(&tree), places[LKS_PROLOG_RETRY_PLACES], last = 0;
    lks_test_case("as many as may be");
    for (size_t i = 0; i < LKS_COUNT(places); i++) {
        places[i] = lks_prolog_retry_place(dir);
        CHECK(places[i] >= 0);
    }
    lks_test_case("one more");
    CHECK_INT(lks_prolog_retry_place(dir), -1);
    lks_test_case("one that ended");
    (void)close(places[3]);
    places[3] = lks_prolog_retry_place(dir);
    CHECK(places[3] >= 0);
    CHECK_INT(lks_prolog_retry_place(dir), -1);
    for (size_t i = 0; i < LKS_COUNT(places); i++)
        (void)close(places[i]);
    lks_test_case("pauses");
    for (size_t i = 0; i < LKS_COUNT(pauses); i++) {
        last = lks_prolog_retry_pause(last);
        CHECK_INT(last, pauses[i]);
    }
    (void)close(dir);
    lks_tree_free(&tree);
}

/* What the folder has of n1 and n2: seconds since they were admitted; -1: nothing. */
static const struct {
    const char *name;
    int first, second;
    const char *unknown; /* NULL: both were admitted lately */
} lasts[] = {
    {"both were admitted now", 0, 0, NULL},
    {"as long ago as allowed", 600, 0, NULL},
    {"longer ago", 0, 601, "n2"},
    {"one never was", -1, 0, "n1"},
    {"none was", -1, -1, "n1"},
    {"the clock was set back", -2, 0, "n1"},
};

static void set_time(int dir, const char *name, time_t now, int age)
{
    const struct timespec times[2] = {{.tv_sec = now - age}, {.tv_sec = now - age}};
    if (age == -1)
        return;
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && futimens(fd, times) == 0);
    (void)close(fd);
}

static struct timespec present(void)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_REALTIME, &now) == 0);
    return now;
}

static void test_lasts(void)
{
    static struct lks_str names[] = {LKS_STR_C("n1"), LKS_STR_C("n2")};
    static struct lks_str unseen = LKS_STR_C("n3");
    const struct lks_hostlist nodes = {names, 2}, new_node = {&unseen, 1};
    const time_t now = 1800000000;
    for (size_t i = 0; i < LKS_COUNT(lasts); i++) {
        struct lks_tree tree = lks_tree_new();
        struct lks_err err = {0};
        char path[256];
        int dir = 0;
        lks_test_case("%s", lasts[i].name);
        snprintf(path, sizeof(path), "%s/state", tree.path);
        CHECK_CODE(lks_prolog_last_open(path, &dir, &err), LKS_OK);
        set_time(dir, "n1", now, lasts[i].first);
        set_time(dir, "n2", now, lasts[i].second);
        const struct lks_str *node = lks_prolog_last_unknown(dir, &nodes, now, 600);
        CHECK_STR(node != NULL ? *node : LKS_STR(""),
                  lasts[i].unknown != NULL ? lasts[i].unknown : "");
        lks_test_case("%s: then they are admitted", lasts[i].name);
        lks_prolog_last_note(dir, &nodes, true, present());
        CHECK(lks_prolog_last_unknown(dir, &nodes, time(NULL), 600) == NULL);
        lks_test_case("%s: and then they are not", lasts[i].name);
        lks_prolog_last_note(dir, &nodes, false, present());
        CHECK(lks_prolog_last_unknown(dir, &nodes, time(NULL), 600) == &names[0]);
        CHECK(lks_prolog_last_stored(dir, names[0]) && !lks_prolog_last_stored(dir, unseen));
        lks_test_case("%s: a node that was never admitted is refused", lasts[i].name);
        lks_prolog_last_note(dir, &new_node, false, present());
        CHECK(lks_prolog_last_stored(dir, unseen));
        (void)close(dir);
        lks_tree_free(&tree);
    }
}

/* A question, and another run's no, in any order. */
static void test_races(void)
{
    static struct lks_str names[] = {LKS_STR_C("n1")};
    const struct lks_hostlist nodes = {names, 1};
    struct lks_tree tree = lks_tree_new();
    int dir = open_folder(&tree);
    const struct timespec before = present(), old = {.tv_sec = before.tv_sec - 300};
    lks_test_case("a yes asked for before a no, and written after it");
    lks_prolog_last_note(dir, &nodes, false, before);
    lks_prolog_last_note(dir, &nodes, true, before);
    CHECK(lks_prolog_last_unknown(dir, &nodes, time(NULL), 600) == &names[0]);
    lks_test_case("the next yes");
    lks_prolog_last_note(dir, &nodes, true, present());
    CHECK(lks_prolog_last_unknown(dir, &nodes, time(NULL), 600) == NULL);
    lks_test_case("a yes counts from when it was asked for");
    set_time(dir, ".no.n1", before.tv_sec, 1000);
    lks_prolog_last_note(dir, &nodes, true, old);
    CHECK(lks_prolog_last_unknown(dir, &nodes, before.tv_sec, 299) == &names[0]);
    CHECK(lks_prolog_last_unknown(dir, &nodes, before.tv_sec, 300) == NULL);
    lks_test_case("a no in the future, after the clock was set back");
    set_time(dir, ".no.n1", before.tv_sec, -100000);
    CHECK(lks_prolog_last_unknown(dir, &nodes, time(NULL), 600) == &names[0]);
    lks_prolog_last_note(dir, &nodes, true, present());
    CHECK(lks_prolog_last_unknown(dir, &nodes, time(NULL), 600) == NULL);
    (void)close(dir);
    lks_tree_free(&tree);
}

/* All that are counted, reported. */
static uint64_t take_all(int dir)
{
    int taken = -1;
    uint64_t jobs = lks_prolog_last_take(dir, &taken);
    if (jobs > 0)
        lks_prolog_last_end(dir, taken, jobs);
    return jobs;
}

static void test_counts(void)
{
    struct lks_tree tree = lks_tree_new();
    struct lks_err err = {0};
    int dir = 0;
    CHECK(chmod(tree.path, 0700) == 0);
    CHECK_CODE(lks_prolog_last_open(tree.path, &dir, &err), LKS_OK);
    int taken = -1, other = -1;
    lks_test_case("no job started without an answer");
    CHECK_INT(take_all(dir), 0);
    lks_test_case("three did");
    for (int i = 0; i < 3; i++)
        lks_prolog_last_count(dir, 1);
    CHECK_INT(take_all(dir), 3);
    CHECK_INT(take_all(dir), 0);
    lks_test_case("a report that was not taken");
    lks_prolog_last_count(dir, 3);
    CHECK_INT(lks_prolog_last_take(dir, &taken), 3);
    lks_prolog_last_end(dir, taken, 0);
    lks_prolog_last_count(dir, 10000);
    CHECK_INT(take_all(dir), 10003);
    lks_test_case("jobs that are counted while others are reported");
    lks_prolog_last_count(dir, 5);
    CHECK_INT(lks_prolog_last_take(dir, &taken), 5);
    lks_prolog_last_count(dir, 2);
    CHECK_INT(lks_prolog_last_take(dir, &other), 0);
    lks_prolog_last_end(dir, taken, 5);
    CHECK_INT(take_all(dir), 2);
    lks_test_case("a run that was killed while it reported");
    lks_prolog_last_count(dir, 4);
    CHECK_INT(lks_prolog_last_take(dir, &taken), 4);
    (void)close(taken);
    CHECK_INT(take_all(dir), 4);
    lks_test_case("more than are counted");
    lks_prolog_last_count(dir, (uint64_t)2 * LKS_PROLOG_LAST_COUNT_MAX);
    CHECK_INT(take_all(dir), LKS_PROLOG_LAST_COUNT_MAX);
    (void)close(dir);
    lks_tree_free(&tree);
}

static void test_folders(void)
{
    struct lks_tree tree = lks_tree_new();
    struct lks_err err = {0};
    char path[256];
    int dir = 0;
    lks_test_case("others can write to it");
    CHECK(chmod(tree.path, 0777) == 0);
    CHECK_CODE(lks_prolog_last_open(tree.path, &dir, &err), LKS_E_DENIED);
    lks_test_case("a link");
    snprintf(path, sizeof(path), "%s/link", tree.path);
    CHECK(symlink("/", path) == 0);
    CHECK_CODE(lks_prolog_last_open(path, &dir, &err), LKS_E_IO);
    lks_test_case("no place for it");
    snprintf(path, sizeof(path), "%s/none/state", tree.path);
    CHECK_CODE(lks_prolog_last_open(path, &dir, &err), LKS_E_IO);
    CHECK_INT(dir, 0);
    lks_tree_free(&tree);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"questions", test_questions},
        {"images of components", test_gangs},
        {"starts of a job", test_starts},
        {"components that are kept", test_kept},
        {"their files", test_files},
        {"nodes behind a refusal", test_offenders},
        {"what scontrol shows", test_shown},
        {"processes that wait for a drain", test_places},
        {"nodes that were admitted last", test_lasts},
        {"a yes and a no at once", test_races},
        {"jobs that started without an answer", test_counts},
        {"their folder", test_folders},
        {0},
    });
}
