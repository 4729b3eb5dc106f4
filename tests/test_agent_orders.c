/* What the agent does itself: orders on a simulated machine, its acceptance checks, the look
 * whether anything runs on the GPUs, and whether its program was replaced. */
#include "agent/helper/program.h"
#include "agent/reading/hazards.h"
#include "agent/reading/idle.h"
#include "base/file.h"
#include "lab/agent/simulated.h"
#include "tests/test.h"
#include "tests/tree.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 256, TEXT_MAX = 4096, ITEMS = 4 };

static struct {
    struct lks_tree tree;
    char root[PATH_SIZE], depot[PATH_SIZE], said[TEXT_MAX];
} at;

static void begin(void)
{
    at.tree = lks_tree_new();
    snprintf(at.root, sizeof(at.root), "%s/root", at.tree.path);
    snprintf(at.depot, sizeof(at.depot), "%s/depot", at.tree.path);
    lks_tree_dir(&at.tree, "/root");
    lks_tree_dir(&at.tree, "/depot");
}

/* Into the depot; its digest. */
static void put(struct lks_str bytes, char digest[LKS_DIGEST_SIZE])
{
    char path[PATH_SIZE];
    struct lks_err err = {0};
    CHECK_CODE(lks_digest_text(bytes, digest, &err), LKS_OK);
    snprintf(path, sizeof(path), "/depot/sha256/%.2s/%.62s", digest + 7, digest + 9);
    lks_tree_bytes(&at.tree, path, bytes);
}

/* "done: TEXT" of the order. */
static const char *carry_out(enum lks_order_kind kind, struct lks_order_item *items, size_t count)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf order = LKS_BUF(LKS_ORDER_BYTES_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    struct lks_envelope e = {.digest_count = 1};
    struct lks_err err = {0};
    struct lks_order o = {.kind = kind, .items = items, .count = count};
    if (kind == LKS_ORDER_HOOK || kind == LKS_ORDER_IMAGE)
        o.hook = LKS_STR("image");
    CHECK_CODE(lks_order_write(&o, &order, &err), LKS_OK);
    put(lks_buf_view(&order), e.digests[0]);
    snprintf(e.executor, sizeof(e.executor), "%s", lks_order_words[kind]);
    enum lks_outcome outcome = lks_simulated_order(at.root, at.depot, &e, &text);
    snprintf(at.said, sizeof(at.said), "%s: %.*s", lks_outcome_words[outcome], (int)text.len,
             text.ptr);
    return at.said;
}

static const char *accept_it(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    enum lks_outcome outcome = lks_simulated_accept(at.root, &text);
    snprintf(at.said, sizeof(at.said), "%s: %.*s", lks_outcome_words[outcome], (int)text.len,
             text.ptr);
    return at.said;
}

static void check_file(const char *path, const char *wanted)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    struct lks_err err = {0};
    enum lks_code code = lks_simulated_read(at.root, path, &text, &err);
    if (wanted == NULL)
        CHECK_CODE(code, LKS_E_NOT_FOUND);
    else if (CHECK_CODE(code, LKS_OK))
        CHECK_STR(lks_buf_view(&text), wanted);
}

#define DONE "done: 1 of the simulated machine's parts are as ordered"

static const struct {
    const char *name;
    const char *artifact; /* of component nccl */
    const char *value;    /* empty: it goes */
    const char *said, *accepted;
    const char *version, *answers; /* the two files afterwards */
} rows[] = {
    {"a whole file", "{\"files\":{\"/etc/nccl\":\"2.28.3\\n\"}}", "2.28.3", DONE,
     "done: nothing is broken", "2.28.3\n", "a=570.1 b=570.1\n"},
    {"a text within a file",
     "{\"files\":{\"/lockstep/a.csv\":{\"from\":\"570.1\",\"to\":\"580\"}}}", "1", DONE,
     "done: nothing is broken", "2.27.7\n", "a=580 b=580\n"},
    {"a text that is there already",
     "{\"files\":{\"/lockstep/a.csv\":{\"from\":\"560\",\"to\":\"570.1\"}}}", "1", DONE,
     "done: nothing is broken", "2.27.7\n", "a=570.1 b=570.1\n"},
    {"a text that is not there",
     "{\"files\":{\"/lockstep/a.csv\":{\"from\":\"560\",\"to\":\"580\"}}}", "1",
     "failed: nccl 1: /lockstep/a.csv has no '560'", "done: nothing is broken", "2.27.7\n",
     "a=570.1 b=570.1\n"},
    {"a file that goes", "{\"files\":{\"/etc/nccl\":null}}", "1", DONE, "done: nothing is broken",
     NULL, "a=570.1 b=570.1\n"},
    {"a package that goes",
     "{\"files\":{\"/etc/nccl\":\"x\",\"/lockstep/a.csv\":{\"from\":\"560\",\"to\":\"570.1\"}}}",
     "", DONE, "done: nothing is broken", NULL, "a=560 b=560\n"},
    {"one that fails on this revision",
     "{\"files\":{\"/etc/nccl\":\"2.28.3\\n\"},\"fails_on\":[\"A03\"]}", "2.28.3",
     "failed: nccl 2.28.3: it cannot be installed on revision A03", "done: nothing is broken",
     "2.27.7\n", "a=570.1 b=570.1\n"},
    {"one that fails on another revision",
     "{\"files\":{\"/etc/nccl\":\"2.28.3\\n\"},\"fails_on\":[\"A02\"]}", "2.28.3", DONE,
     "done: nothing is broken", "2.28.3\n", "a=570.1 b=570.1\n"},
    {"one that does not work on this revision",
     "{\"files\":{\"/etc/nccl\":\"2.28.3\\n\"},\"breaks_on\":[\"A03\"]}", "2.28.3", DONE,
     "failed: nccl 2.28.3 does not work on this machine", "2.28.3\n", "a=570.1 b=570.1\n"},
    {"no JSON", "ELF", "1", "failed: nccl 1: artifact:1:3: ", NULL, "2.27.7\n",
     "a=570.1 b=570.1\n"},
    {"a way out", "{\"files\":{\"/../x\":\"1\"}}", "1",
     "failed: nccl 1: '/../x' is no path of a machine", NULL, "2.27.7\n", "a=570.1 b=570.1\n"},
    {"a path through a link", "{\"files\":{\"/out/x\":\"1\"}}", "1", "failed: nccl 1: ", NULL,
     "2.27.7\n", "a=570.1 b=570.1\n"},
};

static void what_artifacts_do(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        char digest[LKS_DIGEST_SIZE];
        struct lks_order_item item = {.component = LKS_STR("nccl"), .file = LKS_STR("n.deb")};
        lks_test_case("%s", rows[i].name);
        begin();
        lks_tree_file(&at.tree, "/root/etc/nccl", "2.27.7\n");
        lks_tree_file(&at.tree, "/root/lockstep/a.csv", "a=570.1 b=570.1\n");
        lks_tree_file(&at.tree, "/root/lockstep/revision", "A03\n");
        lks_tree_link(&at.tree, "/root/out", "/tmp");
        put(lks_str_from(rows[i].artifact), digest);
        item.digest = lks_str_from(digest);
        item.value = lks_str_from(rows[i].value);
        CHECK_HAS(lks_str_from(carry_out(LKS_ORDER_APT, &item, 1)), rows[i].said);
        if (rows[i].accepted != NULL)
            CHECK_STR(lks_str_from(accept_it()), rows[i].accepted);
        check_file("/etc/nccl", rows[i].version);
        check_file("/lockstep/a.csv", rows[i].answers);
        lks_tree_free(&at.tree);
    }
}

/* What was broken is whole again once something else is in its place, and not before. */
static void what_is_broken_stays_so(void)
{
    char bad[LKS_DIGEST_SIZE], good[LKS_DIGEST_SIZE];
    struct lks_order_item item = {.component = LKS_STR("nccl"), .file = LKS_STR("n.deb")};
    begin();
    lks_tree_file(&at.tree, "/root/lockstep/revision", "A03\n");
    put(LKS_STR("{\"breaks_on\":[\"A03\"]}"), bad);
    put(LKS_STR("{}"), good);
    item.digest = lks_str_from(bad);
    item.value = LKS_STR("2");
    CHECK_STR(lks_str_from(carry_out(LKS_ORDER_APT, &item, 1)), DONE);
    item.component = LKS_STR("cuda");
    item.digest = lks_str_from(good);
    CHECK_STR(lks_str_from(carry_out(LKS_ORDER_APT, &item, 1)), DONE);
    CHECK_STR(lks_str_from(accept_it()), "failed: nccl 2 does not work on this machine");
    item.component = LKS_STR("nccl");
    item.value = LKS_STR("1");
    CHECK_STR(lks_str_from(carry_out(LKS_ORDER_APT, &item, 1)), DONE);
    CHECK_STR(lks_str_from(accept_it()), "done: nothing is broken");
    lks_tree_free(&at.tree);
}

/* A file that trees share is replaced, not written to. */
static void others_keep_their_files(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    char digest[LKS_DIGEST_SIZE], ours[PATH_SIZE + 16], theirs[PATH_SIZE];
    struct lks_order_item item = {.component = LKS_STR("nccl"), .file = LKS_STR("n.deb")};
    struct lks_err err = {0};
    begin();
    lks_tree_file(&at.tree, "/shared", "old");
    lks_tree_dir(&at.tree, "/root/etc");
    snprintf(ours, sizeof(ours), "%s/etc/nccl", at.root);
    snprintf(theirs, sizeof(theirs), "%s/shared", at.tree.path);
    CHECK(link(theirs, ours) == 0);
    put(LKS_STR("{\"files\":{\"/etc/nccl\":\"new\"}}"), digest);
    item.digest = lks_str_from(digest);
    item.value = LKS_STR("2");
    CHECK_STR(lks_str_from(carry_out(LKS_ORDER_FIRMWARE, &item, 1)), DONE);
    check_file("/etc/nccl", "new");
    CHECK_CODE(lks_file_read(theirs, &text, &err), LKS_OK);
    CHECK_STR(lks_buf_view(&text), "old");
    lks_tree_free(&at.tree);
}

#define NVML                                                                                       \
    "key,code,value\n\"nvmlDeviceGetEnforcedPowerLimit 0000:00:06.0\",ok,\"0 700000\"\n"           \
    "\"nvmlDeviceGetEccMode 0000:00:06.0\",ok,\"0 current=1 pending=1\"\n"

static const struct {
    const char *name, *setting, *before, *value, *said;
    const char *nvml, *cmdline;
} settings[] = {
    {"a power limit", "settings.power_limit_w", "700", "500", "done: ",
     "key,code,value\n\"nvmlDeviceGetEnforcedPowerLimit 0000:00:06.0\",ok,\"0 500000\"\n"
     "\"nvmlDeviceGetEccMode 0000:00:06.0\",ok,\"0 current=1 pending=1\"\n",
     "quiet a=1\n"},
    {"ECC", "settings.ecc", "true", "false", "done: ",
     "key,code,value\n\"nvmlDeviceGetEnforcedPowerLimit 0000:00:06.0\",ok,\"0 700000\"\n"
     "\"nvmlDeviceGetEccMode 0000:00:06.0\",ok,\"0 current=0 pending=0\"\n",
     "quiet a=1\n"},
    {"parameters", "settings.kernel_cmdline", "", "[\"b=2\",\"c=3\"]", "done: ", NVML,
     "quiet a=1 b=2 c=3\n"},
    {"parameters in the place of others", "settings.kernel_cmdline", "[\"a=1\"]", "[\"b=2\"]",
     "done: ", NVML, "quiet b=2\n"},
    {"parameters that go", "settings.kernel_cmdline", "[\"a=1\"]", "", "done: ", NVML, "quiet\n"},
    {"a value of nothing", "settings.power_limit_w", "700", "", "done: ", NVML, "quiet a=1\n"},
    {"one that a simulated machine does not have", "settings.memory_mode", "", "cdmm",
     "failed: settings.memory_mode cdmm: a simulated machine cannot be set so", NVML,
     "quiet a=1\n"},
};

static void settings_change_what_the_tree_answers(void)
{
    for (size_t i = 0; i < LKS_COUNT(settings); i++) {
        struct lks_order_item item = {.component = lks_str_from(settings[i].setting),
                                      .before = lks_str_from(settings[i].before),
                                      .value = lks_str_from(settings[i].value)};
        lks_test_case("%s", settings[i].name);
        begin();
        lks_tree_file(&at.tree, "/root/lockstep/nvml.csv", NVML);
        lks_tree_file(&at.tree, "/root/proc/cmdline", "quiet a=1\n");
        for (int again = 0; again < 2; again++) /* twice is once */
            CHECK_HAS(lks_str_from(carry_out(LKS_ORDER_SETTINGS, &item, 1)), settings[i].said);
        check_file("/lockstep/nvml.csv", settings[i].nvml);
        check_file("/proc/cmdline", settings[i].cmdline);
        lks_tree_free(&at.tree);
    }
}

static void orders_that_are_not_carried_out(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    struct lks_envelope e = {.digest_count = 0, .executor = "apt"};
    begin();
    CHECK_INT(lks_simulated_order(at.root, at.depot, &e, &text), LKS_OUTCOME_FAILED);
    CHECK_STR(lks_buf_view(&text), "the command names no order");
    e.digest_count = 1;
    put(LKS_STR("{\"executor\":\"dnf\",\"items\":[{\"component\":\"a\"}],\"lockstep\":1}"),
        e.digests[0]);
    lks_buf_truncate(&text, 0);
    CHECK_INT(lks_simulated_order(at.root, at.depot, &e, &text), LKS_OUTCOME_FAILED);
    CHECK_STR(lks_buf_view(&text), "the order is for executor dnf");
    lks_tree_free(&at.tree);
}

/* Idle ---------------------------------------------------------------------------------------- */

#define GPU "0000:00:06.0"
#define FIRST                                                                                      \
    "key,code,value\n\"nvmlInit\",ok,\"0 /usr/lib/libnvidia-ml.so.1\"\n"                           \
    "\"nvmlDeviceGetCount\",ok,\"0 1\"\n\"nvmlDeviceGetHandleByIndex 0\",ok,\"0\"\n"               \
    "\"nvmlDeviceGetPciInfo 0\",ok,\"0 address=" GPU " device=233510de subsystem=18bf10de\"\n"
#define COMPUTE(n)  "\"nvmlDeviceGetComputeRunningProcesses " GPU "\",ok,\"0 " n "\"\n"
#define GRAPHICS(n) "\"nvmlDeviceGetGraphicsRunningProcesses " GPU "\",ok,\"0 " n "\"\n"

#define OF_NODE      "pid:[4026531836]"
#define OF_CONTAINER "pid:[4026532301]"

static const struct {
    const char *name, *nvml;
    bool module, kfd;
    const char *said;      /* NULL: idle */
    const char *namespace; /* of PIDs; NULL: not captured */
} machines[] = {
    {"no GPU", NULL, false, false, NULL, NULL},
    {"nothing runs", FIRST COMPUTE("0") GRAPHICS("0"), true, false, NULL, NULL},
    {"a job runs", FIRST COMPUTE("2") GRAPHICS("0"), true, false, "2 GPU processes", NULL},
    {"one and a display", FIRST COMPUTE("1") GRAPHICS("2"), true, false, "3 GPU processes", NULL},
    {"a display", FIRST COMPUTE("0") GRAPHICS("1"), true, false, "1 GPU process", NULL},
    {"a GPU that does not tell", FIRST, true, false, "does not tell its processes", NULL},
    {"a process on an AMD GPU", NULL, false, true, "1 GPU process", NULL},
    {"nothing runs on the node", FIRST COMPUTE("0") GRAPHICS("0"), true, false, NULL, OF_NODE},
    {"nothing runs in the container", FIRST COMPUTE("0") GRAPHICS("0"), true, false,
     "hostPID: true", OF_CONTAINER},
    {"a job runs in the container", FIRST COMPUTE("1") GRAPHICS("0"), true, false, "1 GPU process",
     OF_CONTAINER},
    {"a container without a GPU", NULL, false, false, NULL, OF_CONTAINER},
};

static void whether_anything_runs(void)
{
    for (size_t i = 0; i < LKS_COUNT(machines); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(TEXT_MAX);
        struct lks_err err = {0};
        lks_test_case("%s", machines[i].name);
        begin();
        if (machines[i].nvml != NULL)
            lks_tree_file(&at.tree, "/root/lockstep/nvml.csv", machines[i].nvml);
        if (machines[i].module)
            lks_tree_file(&at.tree, "/root/sys/module/nvidia/version", "580.95.05\n");
        if (machines[i].kfd)
            lks_tree_dir(&at.tree, "/root/sys/class/kfd/kfd/proc/4711");
        if (machines[i].namespace != NULL)
            lks_tree_link(&at.tree, "/root/proc/self/ns/pid", machines[i].namespace);
        enum lks_code code = lks_idle_look(at.root, &out, &err);
        CHECK_CODE(code, machines[i].said != NULL ? LKS_E_REFUSED : LKS_OK);
        if (machines[i].said != NULL)
            CHECK_HAS(lks_str_from(err.msg), machines[i].said);
        else
            CHECK_STR(lks_buf_view(&out), "no GPU process\n");
        lks_tree_free(&at.tree);
    }
}

/* Hazards ------------------------------------------------------------------------------------- */

#define BUILT "/root/var/lib/dkms/nvidia/580.95.05/6.8.0-90-generic/x86_64/module/nvidia.ko"

static const struct {
    const char *name;
    const char *next;  /* kernel of the next boot; NULL: it cannot be told */
    const char *built; /* a file of DKMS */
    enum lks_code code;
    const char *said;
} next_boots[] = {
    {"no DKMS", "vmlinuz-6.8.0-90-generic", NULL, LKS_OK, "no hazard for the next boot\n"},
    {"the module is built", "vmlinuz-6.8.0-90-generic", BUILT, LKS_OK,
     "no hazard for the next boot\n"},
    {"the module is built for another kernel", "vmlinuz-6.8.0-91-generic", BUILT, LKS_E_REFUSED,
     "dkms-next-kernel: build it: dkms autoinstall -k 6.8.0-91-generic before a reboot; "
     "nvidia/580.95.05 not built for 6.8.0-91-generic"},
    {"the next kernel is not known", NULL, BUILT, LKS_E_UNAVAILABLE,
     "platform.dkms is not known: nvidia/580.95.05: the next kernel is not known"},
};

static void whether_the_next_boot_is_broken(void)
{
    for (size_t i = 0; i < LKS_COUNT(next_boots); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(TEXT_MAX);
        struct lks_err err = {0};
        lks_test_case("%s", next_boots[i].name);
        begin();
        if (next_boots[i].next != NULL)
            lks_tree_link(&at.tree, "/root/boot/vmlinuz", next_boots[i].next);
        if (next_boots[i].built != NULL)
            lks_tree_file(&at.tree, next_boots[i].built, "");
        enum lks_code code = lks_hazards_look(at.root, &out, &err);
        CHECK_CODE(code, next_boots[i].code);
        CHECK_HAS(code == LKS_OK ? lks_buf_view(&out) : lks_str_from(err.msg), next_boots[i].said);
        lks_tree_free(&at.tree);
    }
}

/* The program --------------------------------------------------------------------------------- */

static void plant_program(const char *path, const char *bytes, mode_t mode)
{
    char full[PATH_SIZE];
    snprintf(full, sizeof(full), "%s%s", at.tree.path, path);
    lks_tree_file(&at.tree, path, bytes);
    CHECK(chmod(full, mode) == 0);
}

static void whether_our_program_was_replaced(void)
{
    struct lks_program p = {0};
    struct stat st = {0};
    char next[PATH_SIZE];
    lks_program_find(&p);
    CHECK(p.path[0] == '/' && !lks_program_replaced(&p));
    begin();
    plant_program("/program", "one", 0755);
    plant_program("/next", "two", 0755);
    snprintf(p.path, sizeof(p.path), "%s/program", at.tree.path);
    snprintf(next, sizeof(next), "%s/next", at.tree.path);
    CHECK(stat(p.path, &st) == 0);
    p.device = st.st_dev;
    p.inode = st.st_ino;
    lks_test_case("the same");
    CHECK(!lks_program_replaced(&p));
    lks_test_case("another one");
    CHECK(rename(next, p.path) == 0 && lks_program_replaced(&p));
    lks_test_case("one that anyone may change");
    CHECK(chmod(p.path, 0777) == 0 && !lks_program_replaced(&p));
    lks_test_case("no program");
    CHECK(chmod(p.path, 0644) == 0 && !lks_program_replaced(&p));
    lks_test_case("gone");
    CHECK(unlink(p.path) == 0 && !lks_program_replaced(&p));
    lks_test_case("never known");
    p.path[0] = '\0';
    CHECK(!lks_program_replaced(&p));
    lks_tree_free(&at.tree);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"what artifacts do", what_artifacts_do},
        {"what is broken stays so", what_is_broken_stays_so},
        {"others keep their files", others_keep_their_files},
        {"settings change what the tree answers", settings_change_what_the_tree_answers},
        {"orders that are not carried out", orders_that_are_not_carried_out},
        {"whether anything runs", whether_anything_runs},
        {"whether the next boot is broken", whether_the_next_boot_is_broken},
        {"whether our program was replaced", whether_our_program_was_replaced},
        {NULL, NULL},
    };
    return lks_test_main(tests);
}
