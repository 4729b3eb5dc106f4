/* The plugin of slurmctld, without slurmctld: nodes of jobs, messages of a chain of plugins, and
 * files that cannot be read. tests/real/slurm_submit.py has it in a real one. */
#include "submit/policy.h"
#include "tests/test.h"
#include "tests/tree.h"

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SLOTS   "[lks0|lks1|lks2]"
#define REFUSAL "lockstep: no node of pool 'train' runs the stack 'none'; its stacks: h200"

/* What slurmctld calls. */
int init(void);
int fini(void);
int job_submit(job_desc_msg_t *job, uint32_t uid, char **message);
/* slurmctld passes the message since 23.02. In an earlier one the register of a fourth argument has
 * something else: so the tests pass one to the plugin of every release. */
int job_modify(job_desc_msg_t *job, void *record, uint32_t uid, char **message);

/* What slurmctld has. */
char *slurm_xstrdup(const char *text);
void *slurm_xrecalloc(void **at, size_t count, size_t size, bool clear, bool try, const char *file,
                      int line, const char *function);
void slurm_xfree(void **at);
void slurm_info(const char *format, ...) LKS_PRINTF(1, 2);
int slurm_error(const char *format, ...) LKS_PRINTF(1, 2);

static unsigned errors;
static time_t later; /* seconds that have passed for the plugin */

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): glibc's are reserved */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    long status = syscall(SYS_clock_gettime, clock, now);
    now->tv_sec += clock == CLOCK_MONOTONIC ? later : 0;
    return (int)status;
}

char *slurm_xstrdup(const char *text)
{
    char *copy = strdup(text);
    LKS_ASSERT(copy != NULL);
    return copy;
}

void *slurm_xrecalloc(void **at, size_t count, size_t size, bool clear, bool try, const char *file,
                      int line, const char *function)
{
    (void)clear, (void)try, (void)file, (void)line, (void)function;
    *at = realloc(*at, count * size);
    LKS_ASSERT(*at != NULL);
    return *at;
}

void slurm_xfree(void **at)
{
    free(*at);
    *at = NULL;
}

void slurm_info(const char *format, ...)
{
    (void)format;
}

int slurm_error(const char *format, ...)
{
    (void)format;
    errors++;
    return 0;
}

/* A tree with the policy of one pool, whose four nodes have one slot. */
static struct lks_tree start(const char *bytes)
{
    static struct lks_policy_pool pool = {
        .name = LKS_STR_C("train"), .enforce = LKS_POLICY_ON, .closed = true, .stale = 600};
    static struct lks_policy_stack stack = {.nodes = 4,
                                            .digest = LKS_STR_C("sha256:0123456789abcdef"),
                                            .name = LKS_STR_C("h200"),
                                            .version = LKS_STR_C("1")};
    static struct lks_policy_partition parts[] = {{LKS_STR_C("main"), true, 0, 4, 0, {4, 0, 0}},
                                                  {LKS_STR_C("split"), false, 0, 6, 0, {4, 2, 0}}};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_POLICY_BYTES_MAX);
    const struct lks_policy p = {.confirmed = (lks_ms)time(NULL) * LKS_SECOND,
                                 .pools = &pool,
                                 .stacks = &stack,
                                 .partitions = parts,
                                 .pool_count = 1,
                                 .stack_count = 1,
                                 .partition_count = LKS_COUNT(parts)};
    struct lks_tree tree = lks_tree_new();
    struct lks_err err = {0};
    static char path[256];
    CHECK_CODE(lks_policy_write(&p, &text, &err), LKS_OK);
    snprintf(path, sizeof(path), "%s/policy", tree.path);
    lks_tree_bytes(&tree, "/policy", bytes != NULL ? lks_str_from(bytes) : lks_buf_view(&text));
    CHECK(setenv("LOCKSTEP_POLICY", path, 1) == 0);
    CHECK_INT(init(), SLURM_SUCCESS);
    return tree;
}

static void end(struct lks_tree *tree)
{
    CHECK_INT(fini(), SLURM_SUCCESS);
    lks_tree_free(tree);
}

/* As slurm_init_job_desc_msg() leaves it, and as sbatch of Slurm 22.05 and 24.11 sets min_cpus. */
static job_desc_msg_t job_new(void)
{
    job_desc_msg_t job = {0};
    job.min_nodes = job.max_nodes = job.num_tasks = NO_VAL;
    job.min_cpus = 1;
    job.cpus_per_task = job.ntasks_per_node = NO_VAL16;
    return job;
}

#define NONE NO_VAL
static const struct {
    const char *how; /* of sbatch */
    uint32_t min, max, tasks, cpus;
    uint16_t each_cpus, each_node;
    const char *gpus;
    bool slots;
} sizes[] = {
    {"", NONE, NONE, NONE, 1, NO_VAL16, NO_VAL16, NULL, false},
    {"-n 16", NONE, NONE, 16, 16, NO_VAL16, NO_VAL16, NULL, true},
    {"-n 1", NONE, NONE, 1, 1, NO_VAL16, NO_VAL16, NULL, false},
    {"-N 2", 2, 2, NONE, 2, NO_VAL16, NO_VAL16, NULL, true},
    {"-N 1", 1, 1, NONE, 1, NO_VAL16, NO_VAL16, NULL, false},
    {"-N 1 -n 8", 1, 1, 8, 8, NO_VAL16, NO_VAL16, NULL, false},
    {"-N 1-3", 1, 3, NONE, 1, NO_VAL16, NO_VAL16, NULL, true},
    {"-w n1,n2", 2, NONE, NONE, 2, NO_VAL16, NO_VAL16, NULL, true},
    {"-c 4", NONE, NONE, NONE, 4, 4, NO_VAL16, NULL, false},
    {"-n 2 -c 8", NONE, NONE, 2, 16, 8, NO_VAL16, NULL, true},
    {"--gpus 8", NONE, NONE, NONE, 1, NO_VAL16, NO_VAL16, "gres:gpu:8", true},
    {"--ntasks-per-node 4", NONE, NONE, 4, 4, NO_VAL16, 4, NULL, true},
    {"-n 16 --ntasks-per-node 4", NONE, NONE, 16, 16, NO_VAL16, 4, NULL, true},
    {"-n 17 --ntasks-per-node 4", NONE, NONE, 17, 17, NO_VAL16, 4, NULL, false},
    {"CPUs of a request to slurmrestd", NONE, NONE, NONE, 64, NO_VAL16, NO_VAL16, NULL, true},
};

static void test_sizes(void)
{
    struct lks_tree tree = start(NULL);
    for (size_t i = 0; i < LKS_COUNT(sizes); i++) {
        job_desc_msg_t job = job_new();
        char *message = NULL, gpus[32];
        lks_test_case("sbatch %s", sizes[i].how);
        job.min_nodes = sizes[i].min;
        job.max_nodes = sizes[i].max;
        job.num_tasks = sizes[i].tasks;
        job.min_cpus = sizes[i].cpus;
        job.cpus_per_task = sizes[i].each_cpus;
        job.ntasks_per_node = sizes[i].each_node;
        snprintf(gpus, sizeof(gpus), "%s", sizes[i].gpus != NULL ? sizes[i].gpus : "");
        job.tres_per_job = sizes[i].gpus != NULL ? gpus : NULL;
        CHECK_INT(job_submit(&job, 0, &message), SLURM_SUCCESS);
        CHECK_STR(lks_str_from(job.features != NULL ? job.features : ""),
                  sizes[i].slots ? SLOTS : "");
        CHECK(message == NULL);
        free(job.features);
    }
    end(&tree);
}

/* In the middle of a campaign Slurm refuses a job that fits into no slot. */
static void test_needs(void)
{
    static const struct {
        const char *name;
        uint32_t tasks, cpus;
        const char *gpus;
        bool slots;
    } cases[] = {
        {"as many tasks as nodes of a slot", 4, 4, NULL, true},
        {"more tasks", 5, 5, NULL, false},
        {"as many GPUs", NONE, 1, "gres:gpu:h200:4", true},
        {"the same of Slurm 24.11", NONE, 1, "gres/gpu:4", true},
        {"more GPUs", NONE, 1, "gres:gpu:5", false},
        {"GPUs by thousands", NONE, 1, "gres:gpu:1K", false},
        {"GPUs and more", NONE, 1, "gres:gpu:2,gres:gpu:h200:2", false},
        {"CPUs", NONE, 4, NULL, true},
        {"more CPUs", NONE, 5, NULL, false},
    };
    struct lks_tree tree = start(NULL);
    for (size_t i = 0; i < LKS_COUNT(cases); i++) {
        job_desc_msg_t job = job_new();
        char *message = NULL, gpus[32], partition[] = "split";
        lks_test_case("%s", cases[i].name);
        job.partition = partition;
        job.num_tasks = cases[i].tasks;
        job.min_cpus = cases[i].cpus;
        snprintf(gpus, sizeof(gpus), "%s", cases[i].gpus != NULL ? cases[i].gpus : "");
        job.tres_per_job = cases[i].gpus != NULL ? gpus : NULL;
        CHECK_INT(job_submit(&job, 0, &message), SLURM_SUCCESS);
        CHECK_STR(lks_str_from(job.features != NULL ? job.features : ""),
                  cases[i].slots ? SLOTS : "");
        free(job.features);
    }
    end(&tree);
}

static void test_messages(void)
{
    static const struct {
        const char *name, *before, *after;
    } cases[] = {
        {"the only plugin", NULL, REFUSAL},
        {"behind another one", "lua: use -p main", "lua: use -p main\n" REFUSAL},
        {"behind an empty message", "", REFUSAL},
    };
    struct lks_tree tree = start(NULL);
    for (size_t i = 0; i < LKS_COUNT(cases); i++) {
        job_desc_msg_t job = job_new();
        char comment[] = "lockstep:stack=none";
        char *message = cases[i].before != NULL ? slurm_xstrdup(cases[i].before) : NULL;
        lks_test_case("%s", cases[i].name);
        job.comment = comment;
        CHECK_INT(job_submit(&job, 0, &message), ESLURM_ACCESS_DENIED);
        CHECK_STR(lks_str_from(message != NULL ? message : ""), cases[i].after);
        free(message);
    }
    end(&tree);
}

/* Of a job that waits: `scontrol update`. */
static const struct {
    const char *name, *partition, *features, *comment;
    uint32_t min, max, tasks;
    const char *after; /* the constraint; NULL: the change is refused */
} changes[] = {
    {"a stack that the pool has not", "main", "a", "lockstep:stack=none", NONE, NONE, NONE, NULL},
    {"one that it has", "main", "a", "lockstep:stack=h200", NONE, NONE, NONE, "a&lks-0123456789ab"},
    {"without a constraint", "main", NULL, "lockstep:stack=none", NONE, NONE, NONE, ""},
    {"without a partition", NULL, "a", "lockstep:stack=none", NONE, NONE, NONE, "a"},
    {"a job of any size", "main", "a", "", NONE, NONE, NONE, "a&" SLOTS},
    {"an empty constraint", "main", "", "", NONE, NONE, NONE, SLOTS},
    {"in the middle of a campaign", "split", "a", "", NONE, NONE, NONE, "a&" SLOTS},
    {"NumNodes=1, and as many at most as before", "main", "a", "", 1, NONE, NONE, "a&" SLOTS},
    {"NumNodes=1-1", "main", "a", "", 1, 1, NONE, "a"},
    {"NumNodes=4", "split", "a", "", 4, NONE, NONE, "a&" SLOTS},
    {"NumNodes=5, which no slot has", "split", "a", "", 5, NONE, NONE, "a"},
    {"NumTasks=64 on nodes that are not named", "split", "a", "", NONE, NONE, 64, "a&" SLOTS},
    {"a constraint that cannot be combined, of one node perhaps", "main", "a*2", "", NONE, NONE,
     NONE, "a*2"},
};

static void test_changes(void)
{
    const bool has_message = SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0);
    struct lks_tree tree = start(NULL);
    for (size_t i = 0; i < LKS_COUNT(changes); i++) {
        job_desc_msg_t job = job_new();
        char partition[16], comment[32], *message = NULL;
        bool refused = changes[i].after == NULL;
        const char *features = changes[i].features, *after = refused ? features : changes[i].after;
        lks_test_case("%s", changes[i].name);
        snprintf(partition, sizeof(partition), "%s",
                 changes[i].partition != NULL ? changes[i].partition : "");
        snprintf(comment, sizeof(comment), "%s", changes[i].comment);
        job.min_cpus = NO_VAL;
        job.min_nodes = changes[i].min;
        job.max_nodes = changes[i].max;
        job.num_tasks = changes[i].tasks;
        job.partition = changes[i].partition != NULL ? partition : NULL;
        job.features = features != NULL ? slurm_xstrdup(features) : NULL;
        job.comment = comment;
        CHECK_INT(job_modify(&job, NULL, 0, &message),
                  refused ? ESLURM_ACCESS_DENIED : SLURM_SUCCESS);
        CHECK_STR(lks_str_from(job.features != NULL ? job.features : ""), after);
        CHECK_STR(lks_str_from(message != NULL ? message : ""),
                  refused && has_message ? REFUSAL : "");
        free(job.features);
        free(message);
    }
    end(&tree);
}

static bool stamps(void)
{
    job_desc_msg_t job = job_new();
    char *message = NULL;
    job.min_nodes = job.max_nodes = 2;
    CHECK_INT(job_submit(&job, 0, &message), SLURM_SUCCESS);
    bool stamped = job.features != NULL;
    free(job.features);
    return stamped;
}

static void test_files(void)
{
    lks_test_case("the same file after fini() and init()");
    struct lks_tree tree = start(NULL);
    CHECK(stamps());
    CHECK_INT(fini(), SLURM_SUCCESS);
    CHECK_INT(init(), SLURM_SUCCESS);
    CHECK(stamps());
    end(&tree);
    lks_test_case("a file that is none is tried again after a minute");
    errors = 0;
    tree = start("x");
    for (later = 0; later < 60; later += 2)
        CHECK(!stamps());
    CHECK_INT(errors, 1);
    later = 62;
    CHECK(!stamps());
    CHECK_INT(errors, 2);
    end(&tree);
    later = 0;
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"nodes of jobs", test_sizes},
        {"nodes that jobs may need", test_needs},
        {"messages of a chain", test_messages},
        {"changes of jobs that wait", test_changes},
        {"files of the policy", test_files},
        {0},
    });
}
