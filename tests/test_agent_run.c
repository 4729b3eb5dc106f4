/* The agent's program against a small controller on loopback: what it says, in what order, and that
 * nothing of it is lost whatever the controller, the network or a kill does. */
#include "base/file.h"
#include "base/rng.h"
#include "tests/fake_controller.h"
#include "tests/test.h"
#include "trust/chain.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *people_address(const struct fake *f)
{
    static char text[64];
    snprintf(text, sizeof(text), "https://127.0.0.1:%u", lks_httpd_port(f->people));
    return text;
}

/* The first start and every later one. */
static pid_t start_agent(struct fake *f)
{
    static const char *const more[] = {
        "--inventory-seconds", "1", "--log-level", "debug", "--node", FAKE_NODE, NULL};
    return fake_agent(f, more);
}

static void kill_agent(struct fake *f, pid_t pid)
{
    CHECK(kill(pid, SIGKILL) == 0);
    CHECK_INT(fake_wait(f, pid), -1);
}

/* How often the log has it. */
static unsigned count_log(const struct fake *f, const char *text)
{
    unsigned count = 0;
    struct lks_str rest = fake_text(f, "log"), line;
    while (rest.len > 0) {
        (void)lks_str_cut(rest, '\n', &line, &rest);
        count += lks_str_find(line, lks_str_from(text)) >= 0;
    }
    return count;
}

static unsigned read_enough;
static bool was_read(const struct fake *f)
{
    return count_log(f, "msg=\"the machine was read\"") >= read_enough;
}

/* Readings that wait on the node. */
static unsigned spooled_enough;
static bool was_spooled(const struct fake *f)
{
    unsigned count = 0;
    DIR *dir = opendir(fake_path(f, "state/spool"));
    for (struct dirent *e = dir != NULL ? readdir(dir) : NULL; e != NULL; e = readdir(dir))
        count += e->d_name[0] != '.' && lks_str_ends(lks_str_from(e->d_name), ".tuple");
    if (dir != NULL)
        (void)closedir(dir);
    return count >= spooled_enough;
}

static void show_log(const struct fake *f)
{
    struct lks_str log = fake_text(f, "log");
    printf("%" LKS_STR_FMT "\n", LKS_STR_ARG(log));
}

/* Nobody but its owner may read a file of the state. */
static void check_private(const struct fake *f)
{
    DIR *dir = opendir(fake_path(f, "state"));
    CHECK(dir != NULL);
    if (dir == NULL)
        return;
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        struct stat st;
        lks_test_case("%s", e->d_name);
        if (strcmp(e->d_name, "..") != 0)
            CHECK(fstatat(dirfd(dir), e->d_name, &st, 0) == 0 && (st.st_mode & 077) == 0);
    }
    (void)closedir(dir);
}

static void test_life(void)
{
    struct fake f;
    struct stat st;
    fake_start(&f);
    pid_t pid = start_agent(&f);
    if (!CHECK(fake_until(&f, fake_settled)))
        show_log(&f);
    CHECK_INT(f.enrolled, 1);
    CHECK(stat(fake_path(&f, "token"), &st) != 0);
    CHECK_INT(f.last.health, 0);
    CHECK_INT(f.last.protocol, LKS_BEAT_PROTOCOL);
    check_private(&f);
    /* It reads the machine every second, and what is the same is not told again. */
    read_enough = count_log(&f, "the machine was read") + 2;
    CHECK(fake_until(&f, was_read));
    CHECK_INT(f.tuples, 1);
    uint64_t before = f.last.seq;
    fake_agent_end(&f, pid);

    f.beats = 0;
    pid = start_agent(&f); /* the token's file is gone, and not missed */
    CHECK(fake_until(&f, fake_three_beats));
    CHECK_INT(f.enrolled, 1);
    CHECK_INT(f.tuples, 1);
    CHECK(f.last.seq > before && f.numbers_rise);
    fake_agent_end(&f, pid);
    fake_stop(&f);
}

/* Of several controllers one answers; the others are away, as after a takeover. */
static void test_several(void)
{
    struct fake f;
    char agents[128];
    fake_start(&f);
    pid_t pid = start_agent(&f);
    CHECK(fake_until(&f, fake_settled));
    fake_agent_end(&f, pid);
    f.beats = 0;
    snprintf(agents, sizeof(agents),
             "https://127.0.0.1:1 https://127.0.0.1:2  https://127.0.0.1:%u", f.port);
    const char *argv[] = {LKS_AGENT_PROGRAM,
                          "--state",
                          fake_path(&f, "state"),
                          "--root",
                          fake_path(&f, "root"),
                          "--agents",
                          agents,
                          NULL};
    pid = fake_spawn(&f, "log", argv);
    if (!CHECK(fake_until(&f, fake_three_beats)))
        show_log(&f);
    fake_agent_end(&f, pid);
    fake_stop(&f);
}

static bool two_tuples(const struct fake *f)
{
    return f->tuples >= 2;
}

static bool mail_taken(const struct fake *f)
{
    return f->tuples >= 2 && f->mails >= 1;
}

static bool reading_failed(const struct fake *f)
{
    return (f->last.health & LKS_HEALTH_INVENTORY_FAILED) != 0;
}

static void test_change(void)
{
    struct fake f;
    fake_start(&f);
    pid_t pid = start_agent(&f);
    CHECK(fake_until(&f, fake_settled));
    struct lks_beat before = f.last;
    lks_tree_file(&f.tree, "/root/proc/sys/kernel/osrelease", "6.1.0-41-amd64\n");
    CHECK(fake_until(&f, two_tuples));
    f.beats = 0;
    CHECK(fake_until(&f, fake_three_beats));
    CHECK(memcmp(before.tuple, f.last.tuple, sizeof(before.tuple)) != 0);
    f.tuples = 1;
    f.want_tuple = true; /* asked for: sent though nothing changed */
    CHECK(fake_until(&f, mail_taken));
    fake_agent_end(&f, pid);
    fake_stop(&f);
}

/* Trouble ------------------------------------------------------------------------------------- */

static unsigned asked_enough;
static bool was_asked(const struct fake *f)
{
    return f->asked >= asked_enough;
}

/* A change of the machine is found while the controller is no good; it is told when it is again. */
static void test_trouble(void)
{
    static const struct {
        const char *name;
        enum fake_mode mode;
    } rows[] = {
        {"503", FAKE_BUSY},
        {"403", FAKE_FORBIDS},
        {"garbage", FAKE_GARBAGE},
        {"answers that drip", FAKE_DRIPS},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct fake f;
        lks_test_case("%s", rows[i].name);
        fake_start(&f);
        pid_t pid = start_agent(&f);
        CHECK(fake_until(&f, fake_settled));
        f.mode = rows[i].mode;
        lks_tree_file(&f.tree, "/root/proc/sys/kernel/osrelease", "6.1.0-41-amd64\n");
        asked_enough = f.asked + 2;
        CHECK(fake_until(&f, was_asked));
        CHECK_INT(f.tuples, 1);
        f.mode = FAKE_FINE;
        if (!CHECK(fake_until(&f, two_tuples)))
            show_log(&f);
        CHECK(f.numbers_rise);
        fake_agent_end(&f, pid);
        fake_stop(&f);
    }
}

/* Two changes and a restart while nobody listens: both are told, in order. */
static void test_away(void)
{
    struct fake f;
    fake_start(&f);
    pid_t pid = start_agent(&f);
    CHECK(fake_until(&f, fake_settled));
    uint64_t id = fake_command(&f, "inventory", NULL);
    CHECK(fake_until(&f, fake_all_ended));
    CHECK_STR(lks_str_from(f.outcome[id - 1]), "done");
    CHECK_STR(lks_str_from(f.reports), "tuple tuple 1=done ");
    fake_leave(&f);
    lks_tree_file(&f.tree, "/root/proc/sys/kernel/osrelease", "6.1.0-41-amd64\n");
    spooled_enough = 1;
    CHECK(fake_until(&f, was_spooled));
    kill_agent(&f, pid);
    lks_tree_file(&f.tree, "/root/proc/sys/kernel/osrelease", "6.1.0-42-amd64\n");
    pid = start_agent(&f);
    spooled_enough = 2;
    CHECK(fake_until(&f, was_spooled));
    fake_return(&f);
    f.tuples = 0;
    if (!CHECK(fake_until(&f, two_tuples)))
        show_log(&f);
    CHECK_STR(lks_str_from(f.reports), "tuple tuple 1=done tuple tuple ");
    CHECK(f.numbers_rise);
    fake_agent_end(&f, pid);
    fake_stop(&f);
}

/* An agent that was told to be heard every ten minutes is told otherwise by the answer to its first
 * heartbeat: the next ones follow at once, and a restart has it still. */
static void test_pace(void)
{
    enum { SLOW = 600000, FAST = 100 };
    struct fake f;
    fake_start(&f);
    f.enrol_heartbeat = SLOW;
    f.heartbeat = FAST;
    pid_t pid = start_agent(&f);
    if (!CHECK(fake_until(&f, fake_three_beats)))
        show_log(&f);
    CHECK_HAS(fake_text(&f, "state/controller.json"), "\"heartbeat_ms\":100,");
    CHECK_HAS(fake_text(&f, "log"), "heartbeats have another interval");
    fake_agent_end(&f, pid);

    lks_test_case("after a restart, with a controller that does not say");
    f.heartbeat = 0;
    f.beats = 0;
    pid = start_agent(&f);
    CHECK(fake_until(&f, fake_three_beats));

    lks_test_case("one that asks for what cannot be");
    f.heartbeat = 1;
    f.beats = 0;
    CHECK(fake_until(&f, fake_three_beats));
    CHECK_HAS(fake_text(&f, "log"), "heartbeat_ms: not from 100 to 600000");
    CHECK_HAS(fake_text(&f, "state/controller.json"), "\"heartbeat_ms\":100,");
    fake_agent_end(&f, pid);
    fake_stop(&f);
}

/* Told to end while it waits for an answer that drips: at once, and cleanly. */
static void test_end_while_waiting(void)
{
    struct fake f;
    fake_start(&f);
    pid_t pid = start_agent(&f);
    CHECK(fake_until(&f, fake_settled));
    f.mode = FAKE_DRIPS;
    asked_enough = f.asked + 1;
    CHECK(fake_until(&f, was_asked));
    fake_agent_end(&f, pid);
    fake_stop(&f);
}

/* Commands ------------------------------------------------------------------------------------ */

static void test_commands(void)
{
    static const struct {
        const char *name, *executor, *boot, *outcome;
        unsigned boots; /* more than before */
    } rows[] = {
        {"a reading", "inventory", NULL, "done", 0},
        {"an executor nobody has", "flash", NULL, "refused", 0},
        {"another boot", "reboot", "00000000-0000-4000-8000-000000000001", "refused", 0},
        {"a boot", "reboot", NULL, "done", 1},
        {"a reading after it", "inventory", NULL, "done", 0},
        {"a look at the GPUs", "idle", NULL, "done", 0},
        {"acceptance", "accept", NULL, "done", 0},
        {"packages without an order", "apt", NULL, "failed", 0},
    };
    struct fake f;
    fake_start(&f);
    pid_t pid = start_agent(&f);
    CHECK(fake_until(&f, fake_settled));
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        unsigned boots = f.boots;
        uint64_t id = fake_command(&f, rows[i].executor, rows[i].boot);
        if (!CHECK(fake_until(&f, fake_all_ended)))
            show_log(&f);
        f.beats = 0;
        CHECK(fake_until(&f, fake_three_beats));
        CHECK_STR(lks_str_from(f.outcome[id - 1]), rows[i].outcome);
        CHECK_INT(f.boots - boots, rows[i].boots);
    }
    CHECK_INT(f.results, LKS_COUNT(rows));
    CHECK_INT(f.contradictions, 0);
    fake_agent_end(&f, pid);
    fake_stop(&f);
}

/* The program of real nodes reads a captured machine, and acts on none. */
static void test_only_read(void)
{
    static const struct {
        const char *executor, *outcome;
    } rows[] = {
        {"inventory", "done"}, {"idle", "done"},   {"reboot", "refused"},   {"accept", "refused"},
        {"apt", "refused"},    {"dnf", "refused"}, {"settings", "refused"}, {"firmware", "refused"},
    };
    struct fake f;
    fake_start(&f);
    pid_t pid = fake_agent_as(&f, LKS_AGENT_PROGRAM, NULL);
    CHECK(fake_until(&f, fake_settled));
    unsigned boots = f.boots;
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].executor);
        uint64_t id = fake_command(&f, rows[i].executor, NULL);
        if (!CHECK(fake_until(&f, fake_all_ended)))
            show_log(&f);
        CHECK_STR(lks_str_from(f.outcome[id - 1]), rows[i].outcome);
    }
    CHECK_INT(f.boots, boots);
    CHECK_HAS(fake_text(&f, "log"), "lockstep-agentsim acts");
    fake_agent_end(&f, pid);
    fake_stop(&f);
}

static bool asked_for_more(const struct fake *f)
{
    return f->results > 0 && f->mails > f->mails_before;
}

/* Behind each result it asks what comes next, though no heartbeat says that there is something. */
static void test_next_command(void)
{
    struct fake f;
    fake_start(&f);
    pid_t pid = start_agent(&f);
    CHECK(fake_until(&f, fake_settled));
    (void)fake_command(&f, "idle", NULL);
    if (!CHECK(fake_until(&f, asked_for_more)))
        show_log(&f);
    CHECK_INT(f.results, 1);
    fake_agent_end(&f, pid);
    fake_stop(&f);
}

/* A copy of the program in the tree, whole or not there. */
static void plant_agent(struct fake *f, const char *name)
{
    char temporary[64];
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF((size_t)256 << 20);
    struct lks_err err = {0};
    snprintf(temporary, sizeof(temporary), "%s.new", name);
    CHECK_CODE(lks_file_read(LKS_AGENTSIM_PROGRAM, &bytes, &err), LKS_OK);
    CHECK_CODE(lks_file_new(fake_path(f, temporary), 0755, lks_buf_view(&bytes), &err), LKS_OK);
    CHECK(rename(fake_path(f, temporary), fake_path(f, name)) == 0);
}

/* Another version of it is installed under its feet: it goes on as that one, as the same process,
 * with its ledger, and a command that was answered is not run again. */
static void test_replaced(void)
{
    struct fake f;
    fake_start(&f);
    plant_agent(&f, "agent");
    const char *argv[] = {
        fake_path(&f, "agent"), "--state", fake_path(&f, "state"),  "--controller",
        people_address(&f),     "--ca",    fake_path(&f, "ca.crt"), "--token-file",
        fake_path(&f, "token"), "--root",  fake_path(&f, "root"),   NULL};
    pid_t pid = fake_spawn(&f, "log", argv);
    CHECK(fake_until(&f, fake_settled));
    (void)fake_command(&f, "reboot", NULL);
    CHECK(fake_until(&f, fake_all_ended));
    f.beats = 0;
    CHECK(fake_until(&f, fake_three_beats));
    unsigned boots = f.boots;
    plant_agent(&f, "agent");
    f.beats = 0;
    if (!CHECK(fake_until(&f, fake_three_beats)))
        show_log(&f);
    CHECK_HAS(fake_text(&f, "log"), "our program was replaced: starting anew");
    f.ended[0] = false; /* asked again: the ledger knows */
    uint64_t id = fake_command(&f, "idle", NULL);
    CHECK(fake_until(&f, fake_all_ended));
    CHECK_STR(lks_str_from(f.outcome[id - 1]), "done");
    CHECK_INT(f.boots, boots);
    CHECK_INT(f.enrolled, 1);
    CHECK_INT(f.contradictions, 0);
    CHECK(f.numbers_rise);
    fake_agent_end(&f, pid);
    fake_stop(&f);
}

/* Where the ledger cannot be written, as on a full disk, nothing runs; and what cannot be spooled
 * is found again once there is room. */
static void test_no_room(void)
{
    struct fake f;
    fake_start(&f);
    pid_t pid = start_agent(&f);
    CHECK(fake_until(&f, fake_settled));
    unsigned boots = f.boots;
    lks_tree_dir(&f.tree, "/state/.tmp-ledger");
    lks_tree_dir(&f.tree, "/state/spool/.tmp-00000000000000000001.tuple");
    uint64_t id = fake_command(&f, "reboot", NULL);
    CHECK(fake_until(&f, fake_all_ended));
    CHECK_STR(lks_str_from(f.outcome[id - 1]), "refused");
    CHECK_INT(f.boots, boots);
    lks_tree_file(&f.tree, "/root/proc/sys/kernel/osrelease", "6.1.0-41-amd64\n");
    if (!CHECK(fake_until(&f, reading_failed)))
        show_log(&f);
    CHECK_INT(f.tuples, 1);
    CHECK(rmdir(fake_path(&f, "state/spool/.tmp-00000000000000000001.tuple")) == 0);
    CHECK(fake_until(&f, two_tuples));
    fake_agent_end(&f, pid);
    fake_stop(&f);
}

/* Commands that were tampered with, or are for somebody else, do nothing at all. */
static void test_strange_commands(void)
{
    struct fake f;
    fake_start(&f);
    pid_t pid = start_agent(&f);
    CHECK(fake_until(&f, fake_settled));
    unsigned boots = f.boots;
    struct lks_key right = f.command;
    f.command = f.journal; /* the wrong key */
    uint64_t id = fake_command(&f, "reboot", NULL);
    f.command = right;
    unsigned mails = f.mails;
    asked_enough = f.asked + 10;
    CHECK(fake_until(&f, was_asked));
    CHECK(f.mails > mails);
    CHECK(!f.ended[id - 1]);
    CHECK_INT(f.boots, boots);
    CHECK_HAS(fake_text(&f, "log"), "a command was not opened");
    fake_agent_end(&f, pid);
    fake_stop(&f);
}

/* Killed again and again at moments of chance: each command has one outcome and no more than one
 * boot, every command ends, and no number of a heartbeat is used twice. */
static void test_kills(void)
{
    enum { KILLS = 12 };
    struct fake f;
    struct lks_rng rng = {4};
    fake_start(&f);
    pid_t pid = start_agent(&f);
    CHECK(fake_until(&f, fake_settled));
    unsigned boots = f.boots;
    for (int i = 0; i < KILLS; i++) {
        lks_test_case("kill %d", i);
        fake_command(&f, "reboot", NULL);
        fake_serve(&f, (int)lks_rng_below(&rng, 400));
        kill_agent(&f, pid);
        pid = start_agent(&f);
        if (!CHECK(fake_until(&f, fake_all_ended)))
            show_log(&f);
        f.beats = 0;
        CHECK(fake_until(&f, fake_three_beats));
    }
    unsigned done = 0, refused = 0;
    for (size_t i = 0; i < f.command_count; i++) {
        done += strcmp(f.outcome[i], "done") == 0;
        refused += strcmp(f.outcome[i], "refused") == 0;
    }
    CHECK_INT(refused, 0);
    CHECK_INT(f.contradictions, 0);
    CHECK(f.boots - boots >= done && f.boots - boots <= KILLS);
    CHECK(f.numbers_rise);
    CHECK(fake_until(&f, fake_settled));
    fake_agent_end(&f, pid);
    fake_stop(&f);
}

/* Certificates and heads ----------------------------------------------------------------------- */

static bool renewed(const struct fake *f)
{
    return f->renewals >= 1 && f->beats >= 3;
}

static void test_renewal(void)
{
    struct fake f;
    char before[LKS_DIGEST_SIZE];
    struct stat st;
    fake_start(&f);
    f.life = 3600; /* of a hundred thousand seconds: due */
    pid_t pid = start_agent(&f);
    if (!CHECK(fake_until(&f, renewed)))
        show_log(&f);
    f.beats = 0;
    CHECK(fake_until(&f, fake_three_beats));
    CHECK_INT(f.renewals, 1);
    memcpy(before, f.fingerprint, sizeof(before));
    CHECK(stat(fake_path(&f, "state/agent.new.key"), &st) != 0);
    fake_agent_end(&f, pid);
    pid = start_agent(&f);
    f.beats = 0;
    CHECK(fake_until(&f, fake_three_beats));
    CHECK_STR(lks_str_from(f.fingerprint), before); /* it is the one that is kept */
    CHECK_INT(f.renewals, 1);
    fake_agent_end(&f, pid);
    fake_stop(&f);
}

static void sign_head(struct fake *f, uint64_t seq, uint8_t hash)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_HEAD_TEXT_MAX);
    struct lks_head head = {.journal = FAKE_JOURNAL, .seq = seq, .time = 1000, .hash = {hash}};
    struct lks_err err = {0};
    CHECK_CODE(lks_chain_head_sign(&f->journal, &head, &err), LKS_OK);
    lks_row_head_text(&head, &text);
    snprintf(f->head, sizeof(f->head), "%s", text.ptr);
}

static bool head_seen(const struct fake *f)
{
    return f->last.head_seq == 7;
}

static bool contradiction_told(const struct fake *f)
{
    return (f->last.health & LKS_HEALTH_WITNESS) != 0;
}

static void test_witness(void)
{
    struct fake f;
    fake_start(&f);
    sign_head(&f, 7, 1);
    pid_t pid = start_agent(&f);
    CHECK(fake_until(&f, head_seen));
    CHECK_INT(f.last.head_hash[0], 1);
    CHECK_HAS(fake_text(&f, "state/witness"), f.head);
    sign_head(&f, 7, 2); /* the journal was written anew */
    CHECK(fake_until(&f, contradiction_told));
    CHECK_INT(f.last.head_hash[0], 1);
    CHECK_HAS(fake_text(&f, "state/witness-contradictions"), f.head);
    fake_agent_end(&f, pid);
    fake_stop(&f);
}

/* Starting that does not work ------------------------------------------------------------------ */

static void plant_other_ca(struct fake *f, int64_t from)
{
    struct lks_x509_wish wish = {
        .use = LKS_X509_CA, .name = LKS_STR("another CA"), .now = from, .seconds = 10000000};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf key = LKS_BUF(LKS_X509_PEM_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf ca = LKS_BUF(LKS_X509_PEM_MAX);
    struct lks_err err = {0};
    CHECK_CODE(lks_x509_key(&key, &err), LKS_OK);
    CHECK_CODE(lks_x509_make_ca(lks_buf_view(&key), &wish, &ca, &err), LKS_OK);
    lks_tree_bytes(&f->tree, "/other.crt", lks_buf_view(&ca));
}

/* A token as it could be, of another secret. */
static void plant_other_token(struct fake *f, const char *path, enum lks_token_kind kind)
{
    char text[LKS_TOKEN_TEXT_MAX], hash[LKS_DIGEST_SIZE];
    const uint8_t chance[LKS_TOKEN_CHANCE] = {9};
    struct lks_err err = {0};
    CHECK_CODE(lks_token_make(kind, LKS_STR(FAKE_NODE), chance, text, hash, &err), LKS_OK);
    lks_tree_file(&f->tree, path, text);
}

static unsigned waits_enough;
static bool waits(const struct fake *f)
{
    return count_log(f, "not enrolled: waiting for a file") >= waits_enough;
}

/* An image has no token: the agent waits for it, says so once, and takes it when it comes. This one
 * is of several nodes: the agent shows that of its own name. */
static void test_token_later(void)
{
    struct fake f;
    char shared[LKS_TOKEN_TEXT_MAX];
    fake_start(&f);
    snprintf(shared, sizeof(shared), "lks_nodes_%s\n", f.token + strlen("lks_node_" FAKE_NODE "_"));
    lks_tree_file(&f.tree, "/token", shared);
    CHECK(rename(fake_path(&f, "token"), fake_path(&f, "later")) == 0);
    pid_t pid = start_agent(&f);
    waits_enough = 1;
    CHECK(fake_until(&f, waits));
    fake_agent_end(&f, pid);
    pid = start_agent(&f);
    waits_enough = 2;
    CHECK(fake_until(&f, waits));
    lks_tree_file(&f.tree, "/token", ""); /* somebody begins to write it */
    fake_serve(&f, 1500);
    CHECK_INT(f.enrolled, 0);
    CHECK(rename(fake_path(&f, "later"), fake_path(&f, "token")) == 0);
    if (!CHECK(fake_until(&f, fake_settled)))
        show_log(&f);
    CHECK_INT(f.enrolled, 1);
    CHECK_INT(count_log(&f, "not enrolled: waiting for a file"), 2);
    fake_agent_end(&f, pid);
    fake_stop(&f);
}

static const struct {
    const char *name, *ca, *token, *node;
    int status;
    const char *says;
} refusals[] = {
    {"a token nobody gave", "ca.crt", "other-token", FAKE_NODE, 5, "refuses the token"},
    {"a token of several nodes that was never given", "ca.crt", "nodes-token", FAKE_NODE, 5,
     "refuses the token"},
    {"a token of several nodes, for no name", "ca.crt", "nodes-token", "a b", 3,
     "give another with --node NAME"},
    {"a token for people", "ca.crt", "api-token", FAKE_NODE, 3, "not a token for a node"},
    {"no token at all", "ca.crt", "garbage", FAKE_NODE, 3, "garbage: "},
    {"another CA", "other.crt", "token", FAKE_NODE, 5, "cannot trust https://127.0.0.1"},
    {"a token for another name", "ca.crt", "token", "gpu-2", 1, "is for node gpu-1"},
    {"a CA that is no CA", "garbage", "token", FAKE_NODE, 3, "garbage"},
};

static void test_refusals(void)
{
    struct fake f;
    fake_start(&f);
    plant_other_ca(&f, (int64_t)time(NULL) - 1000);
    plant_other_token(&f, "/other-token", LKS_TOKEN_NODE);
    plant_other_token(&f, "/api-token", LKS_TOKEN_API);
    plant_other_token(&f, "/nodes-token", LKS_TOKEN_NODES);
    lks_tree_file(&f.tree, "/garbage", "garbage\n");
    for (size_t i = 0; i < LKS_COUNT(refusals); i++) {
        char log[32];
        lks_test_case("%s", refusals[i].name);
        snprintf(log, sizeof(log), "log-%zu", i);
        char state[256], ca[256], token[256];
        snprintf(state, sizeof(state), "%s-%zu", fake_path(&f, "state"), i);
        snprintf(ca, sizeof(ca), "%s", fake_path(&f, refusals[i].ca));
        snprintf(token, sizeof(token), "%s", fake_path(&f, refusals[i].token));
        const char *argv[] = {LKS_AGENT_PROGRAM,
                              "--state",
                              state,
                              "--controller",
                              people_address(&f),
                              "--ca",
                              ca,
                              "--token-file",
                              token,
                              "--node",
                              refusals[i].node,
                              "--root",
                              fake_path(&f, "root"),
                              NULL};
        CHECK_INT(fake_wait(&f, fake_spawn(&f, log, argv)), refusals[i].status);
        CHECK_HAS(fake_text(&f, log), refusals[i].says);
        CHECK(lks_str_find(fake_text(&f, log), lks_str_from(f.token)) < 0);
    }
    fake_stop(&f);
}

static void test_clock_off(void)
{
    struct fake f;
    fake_start(&f);
    plant_other_ca(&f, (int64_t)time(NULL) + 1000000);
    const char *argv[] = {LKS_AGENT_PROGRAM,
                          "--state",
                          fake_path(&f, "state"),
                          "--controller",
                          people_address(&f),
                          "--ca",
                          fake_path(&f, "other.crt"),
                          "--token-file",
                          fake_path(&f, "token"),
                          "--root",
                          f.tree.path,
                          NULL};
    CHECK_INT(fake_wait(&f, fake_spawn(&f, "log", argv)), 5);
    CHECK_HAS(fake_text(&f, "log"), "set the clock");
    fake_stop(&f);
}

static void test_two(void)
{
    struct fake f;
    fake_start(&f);
    pid_t pid = start_agent(&f);
    CHECK(fake_until(&f, fake_settled));
    pid_t second = start_agent(&f);
    CHECK_INT(fake_wait(&f, second), 1);
    CHECK_HAS(fake_text(&f, "log"), "another program is using it");
    const char *argv[] = {LKS_AGENT_PROGRAM, "--state", fake_path(&f, "state"),
                          "--node",          "gpu-9",   NULL};
    fake_agent_end(&f, pid);
    CHECK_INT(fake_wait(&f, fake_spawn(&f, "log2", argv)), 1);
    CHECK_HAS(fake_text(&f, "log2"), "this state is of node gpu-1");
    fake_stop(&f);
}

static void test_usage(void)
{
    static const struct {
        const char *option, *value;
        int status;
        const char *says;
    } rows[] = {
        {"--nonsense", NULL, 2, "no option '--nonsense'"},
        {"extra", NULL, 2, "'extra' is not an option"},
        {"--inventory-seconds", "0", 2, "--inventory-seconds: '0'"},
        {"--log-level", "loud", 2, "--log-level: 'loud'"},
        {"--quick", NULL, 2, "is not enrolled yet"},
    };
    struct fake f;
    fake_start(&f);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        char log[32];
        snprintf(log, sizeof(log), "log-%zu", i);
        lks_test_case("%s", rows[i].option);
        const char *argv[] = {LKS_AGENT_PROGRAM, "--state",     fake_path(&f, "state"),
                              rows[i].option,    rows[i].value, NULL};
        CHECK_INT(fake_wait(&f, fake_spawn(&f, log, argv)), rows[i].status);
        CHECK_HAS(fake_text(&f, log), rows[i].says);
    }
    lks_test_case("a captured machine that is this one");
    const char *argv[] = {
        LKS_AGENTSIM_PROGRAM, "--state", fake_path(&f, "state"), "--root", "/", NULL};
    CHECK_INT(fake_wait(&f, fake_spawn(&f, "log-sim", argv)), 2);
    CHECK_HAS(fake_text(&f, "log-sim"), "'/' is this machine, not a captured one");
    fake_stop(&f);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"a life", test_life},
        {"several controllers", test_several},
        {"a change of the machine", test_change},
        {"a controller in trouble", test_trouble},
        {"a controller that is away", test_away},
        {"another interval of heartbeats", test_pace},
        {"told to end while it waits", test_end_while_waiting},
        {"commands", test_commands},
        {"a captured machine that is only read", test_only_read},
        {"the next command", test_next_command},
        {"its program is replaced", test_replaced},
        {"no room on the disk", test_no_room},
        {"commands of strangers", test_strange_commands},
        {"kill -9 at any point", test_kills},
        {"a certificate is renewed", test_renewal},
        {"heads are witnessed", test_witness},
        {"a token that comes later", test_token_later},
        {"starts that are refused", test_refusals},
        {"a clock that is off", test_clock_off},
        {"two on one state", test_two},
        {"usage", test_usage},
        {NULL, NULL},
    };
    return lks_test_main(tests);
}
