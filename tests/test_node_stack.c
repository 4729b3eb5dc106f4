/* The file with a node's stack for its jobs, which variables it may set, and which values jobs get.
 */
#include "agent/hooks/job_env.h"
#include "agent/hooks/node_stack.h"
#include "agent/hooks/node_stack_read.h"
#include "tests/test.h"
#include "tests/tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD "lockstep-stack-1\n"
#define WHO  "digest sha256:0123456789abcdef\nname golden\nversion 1.2\n"
#define X64  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

static const struct {
    const char *name, *bytes, *again; /* `again` NULL: it prints as it was */
    const char *refused;              /* NULL: it is taken */
} files[] = {
    {"all of it", HEAD WHO "bar drift\nwhy it drifts\nenforce on\nenv NCCL_ALGO=Ring\n", NULL,
     NULL},
    {"no stack", HEAD, NULL, NULL},
    {"a value with blanks and '='", HEAD "env NCCL_IB_HCA==mlx5_0:1, mlx5_1\n", NULL, NULL},
    {"an empty value", HEAD "env NCCL_ALGO=\n", NULL, NULL},
    {"a key of a later release", HEAD "colour blue\n" WHO, HEAD WHO, NULL},
    {"a blank line", HEAD "\n" WHO, HEAD WHO, NULL},
    {"another word for enforce", HEAD "enforce off\n", HEAD, NULL},
    {"a later format", "lockstep-stack-2\n" WHO, NULL, "another format"},
    {"nothing", "", NULL, "another format"},
    {"one line without an end", "lockstep-stack-1", NULL, "another format"},
    {"it was cut", HEAD "name gold", NULL, "not complete"},
    {"two names", HEAD "name a\nname b\n", NULL, "'name'"},
    {"no name", HEAD "name \n", NULL, "'name'"},
    {"a long name", HEAD "name " X64 X64 X64 "\n", NULL, "'name'"},
    {"a colour", HEAD "why \x1b[31mred\n", NULL, "'why'"},
    {"no UTF-8", HEAD "why \xff\n", NULL, "'why'"},
    {"a loader's variable", HEAD "env LD_PRELOAD=/tmp/x.so\n", NULL, "not one for jobs"},
    {"a variable of Slurm", HEAD "env CUDA_VISIBLE_DEVICES=0\n", NULL, "not one for jobs"},
    {"a variable without a value", HEAD "env NCCL_ALGO\n", NULL, "not one for jobs"},
    {"a name with a blank", HEAD "env NCCL_A B=1\n", NULL, "not one for jobs"},
    {"a value that drives a terminal", HEAD "env NCCL_A=\x1b[31m\n", NULL, "not one for jobs"},
};

static void test_files(void)
{
    for (size_t i = 0; i < LKS_COUNT(files); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf again = LKS_BUF(LKS_NODE_STACK_BYTES_MAX);
        struct lks_node_stack s = {.name = "before"};
        struct lks_err err = {0};
        lks_test_case("%s", files[i].name);
        enum lks_code code = lks_node_stack_parse(lks_str_from(files[i].bytes), &s, &err);
        if (files[i].refused != NULL) {
            CHECK(code != LKS_OK);
            CHECK_HAS(lks_str_from(err.msg), files[i].refused);
            CHECK_STR(lks_str_from(s.name), "before"); /* an output is not touched on failure */
            continue;
        }
        CHECK_CODE(code, LKS_OK);
        lks_node_stack_pack(&s, &again);
        CHECK_STR(lks_buf_view(&again), files[i].again != NULL ? files[i].again : files[i].bytes);
    }
}

static void test_limits(void)
{
    static char long_value[1025];
    struct lks_node_stack s = {0};
    char name[32];
    int taken = 0;
    memset(long_value, 'x', sizeof(long_value) - 1);
    lks_test_case("the longest value");
    CHECK(lks_node_stack_add(&s, LKS_STR("NCCL_A"), (struct lks_str){long_value, 1024}));
    lks_test_case("a longer one");
    CHECK(!lks_node_stack_add(&s, LKS_STR("NCCL_B"), (struct lks_str){long_value, 1025}));
    lks_test_case("more than fit");
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "NCCL_%d", i);
        taken += lks_node_stack_add(&s, lks_str_from(name), (struct lks_str){long_value, 1000});
    }
    CHECK(taken > 10 && taken < 20);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_NODE_STACK_BYTES_MAX);
    struct lks_node_stack back = {0};
    struct lks_err err = {0};
    lks_node_stack_pack(&s, &bytes);
    CHECK_CODE(lks_node_stack_parse(lks_buf_view(&bytes), &back, &err), LKS_OK);
    CHECK_STR(lks_str_from(back.env), s.env);
}

static const struct {
    const char *wish;
    bool good, is; /* it could name a stack; it names golden/1.2, sha256:0123456789abcdef */
} wishes[] = {
    {"golden", true, true},
    {"golden/1.2", true, true},
    {"sha256:0123456789abcdef", true, true},
    {"sha256:01234567", true, true},
    {"sha256:0123456", true, false},
    {"sha256:", true, false},
    {"sha256:0123456789abcdef0", true, false},
    {"01234567", true, false},
    {"golden/1.3", true, false},
    {"gold", true, false},
    {"golden/", true, false},
    {"", false, false},
    {"-x", false, false},
    {"a b", false, false},
    {"a\x1b[31m", false, false},
    {"a\n", false, false},
    {"$(id)", false, false},
    {"\xc3\xa9", false, false},
    {X64 X64 X64, false, false},
};

static void test_wishes(void)
{
    const struct lks_node_stack s = {
        .digest = "sha256:0123456789abcdef", .name = "golden", .version = "1.2"};
    const struct lks_node_stack none = {0};
    for (size_t i = 0; i < LKS_COUNT(wishes); i++) {
        lks_test_case("%s", wishes[i].wish);
        CHECK(lks_node_stack_wish(lks_str_from(wishes[i].wish)) == wishes[i].good);
        CHECK(lks_node_stack_is(&s, lks_str_from(wishes[i].wish)) == wishes[i].is);
        CHECK(!lks_node_stack_is(&none, lks_str_from(wishes[i].wish)));
    }
}

/* What a job has of NCCL_ALGO that it inherited with that list. */
#define RING "7787478b"
static const struct {
    const char *name, *current, *list;
    bool stacks; /* a stack set it */
} values[] = {
    {"no list", "Ring", "", false},
    {"a stack's", "Ring", "NCCL_A=job NCCL_ALGO=stack:" RING, true},
    {"a stack's by force", "Ring", "NCCL_ALGO=forced:" RING, true},
    {"another value since then", "Tree", "NCCL_ALGO=stack:" RING, false},
    {"an empty value since then", "", "NCCL_ALGO=stack:" RING, false},
    {"the job's own value in a step", "Ring", "NCCL_ALGO=job", false},
    {"a list that names others", "Ring", "NCCL_ALGORITHM=stack:" RING, false},
    {"a source that there is not", "Ring", "NCCL_ALGO=job:" RING, false},
    {"a list without hashes", "Ring", "NCCL_ALGO=stack NCCL_ALGO NCCL_ALGO=stack:", false},
    {"too few digits", "Ring", "NCCL_ALGO=stack:7787478", false},
    {"a name that is none", "Ring", "NCCL-ALGO=stack:" RING, false},
};

static void test_values(void)
{
    for (size_t i = 0; i < LKS_COUNT(values); i++) {
        struct lks_str name, rest = lks_str_from(values[i].list);
        uint32_t hash = 0, own = lks_job_env_hash(lks_str_from(values[i].current));
        bool stacks = false;
        lks_test_case("%s", values[i].name);
        while (lks_job_env_next(&rest, &name, &hash))
            stacks = stacks || (lks_str_is(name, "NCCL_ALGO") && hash == own);
        CHECK_INT(stacks, values[i].stacks);
    }
}

static void test_sources(void)
{
    static const struct {
        const char *name;
        bool set, force;
        const char *word;
    } cases[] = {
        {"the job sets nothing", false, false, "=stack:" RING},
        {"the job sets nothing, with env=force", false, true, "=stack:" RING},
        {"the job sets a value", true, false, "=job"},
        {"the job sets a value, with env=force", true, true, "=forced:" RING},
    };
    for (size_t i = 0; i < LKS_COUNT(cases); i++) {
        char word[LKS_JOB_ENV_MORE_SIZE];
        lks_test_case("%s", cases[i].name);
        lks_job_env_word(lks_job_env_decide(cases[i].set, cases[i].force), LKS_STR("Ring"), word);
        CHECK_STR(lks_str_from(word), cases[i].word);
    }
}

static const struct {
    const char *name;
    const char *text; /* NULL: there is no file */
    mode_t folder, file;
    time_t age;
    enum lks_code code;
} reads[] = {
    {"a file", HEAD WHO, 0700, 0600, 0, LKS_OK},
    {"one that others may read", HEAD WHO, 0755, 0644, 0, LKS_OK},
    {"as old as allowed", HEAD WHO, 0700, 0600, 60, LKS_OK},
    {"too old", HEAD WHO, 0700, 0600, 61, LKS_E_UNAVAILABLE},
    {"from a future that is too far", HEAD WHO, 0700, 0600, -61, LKS_E_UNAVAILABLE},
    {"no file", NULL, 0700, 0600, 0, LKS_E_UNAVAILABLE},
    {"a folder that others can write to", HEAD WHO, 0777, 0600, 0, LKS_E_DENIED},
    {"a file that others can write to", HEAD WHO, 0700, 0620, 0, LKS_E_DENIED},
    {"another format", "x\n", 0700, 0600, 0, LKS_E_INVALID},
};

static void test_reads(void)
{
    const time_t now = 1800000000;
    for (size_t i = 0; i < LKS_COUNT(reads); i++) {
        struct lks_tree tree = lks_tree_new();
        struct lks_node_stack s = {0};
        struct lks_err err = {0};
        char path[256];
        lks_test_case("%s", reads[i].name);
        snprintf(path, sizeof(path), "%s/" LKS_NODE_STACK_FILE, tree.path);
        if (reads[i].text != NULL) {
            const struct timespec times[2] = {{.tv_sec = now - reads[i].age},
                                              {.tv_sec = now - reads[i].age}};
            lks_tree_file(&tree, "/" LKS_NODE_STACK_FILE, reads[i].text);
            CHECK(chmod(path, reads[i].file) == 0);
            CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
        }
        CHECK(chmod(tree.path, reads[i].folder) == 0);
        CHECK_CODE(lks_node_stack_read(tree.path, now, 60, &s, &err), reads[i].code);
        CHECK_STR(lks_str_from(s.name), reads[i].code == LKS_OK ? "golden" : "");
        lks_tree_free(&tree);
    }
}

static void test_places(void)
{
    struct lks_tree tree = lks_tree_new();
    struct lks_node_stack s = {0};
    struct lks_err err = {0};
    char path[256];
    lks_test_case("no agent on the node");
    snprintf(path, sizeof(path), "%s/none", tree.path);
    CHECK_CODE(lks_node_stack_read(path, 0, 60, &s, &err), LKS_E_NOT_FOUND);
    lks_test_case("a pipe that nothing writes to");
    snprintf(path, sizeof(path), "%s/" LKS_NODE_STACK_FILE, tree.path);
    CHECK(mkfifo(path, 0600) == 0);
    CHECK_CODE(lks_node_stack_read(tree.path, time(NULL), 60, &s, &err), LKS_E_DENIED);
    lks_test_case("a link");
    CHECK(unlink(path) == 0);
    CHECK(symlink("/etc/passwd", path) == 0);
    CHECK_CODE(lks_node_stack_read(tree.path, time(NULL), 60, &s, &err), LKS_E_DENIED);
    lks_tree_free(&tree);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"the file", test_files},
        {"limits", test_limits},
        {"wishes", test_wishes},
        {"values in jobs", test_values},
        {"sources of values", test_sources},
        {"the file is read", test_reads},
        {"what is no file", test_places},
        {0},
    });
}
