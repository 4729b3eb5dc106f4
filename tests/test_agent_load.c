/* The reference load that an agent runs while its controller wants it: begun on an empty machine
 * alone, and gone with all that it started as soon as it is not wanted, or nobody is there to want
 * it. */
#include "tests/fake_controller.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOADS "/root/etc/lockstep/loads/"
#define BUSY  "/root/sys/class/kfd/kfd/proc/4711"

/* A program of the site: what it is, beside telling who it is. */
static void plant(struct fake *f, const char *name, const char *body, unsigned mode)
{
    char text[1024], path[256];
    snprintf(text, sizeof(text), "#!/bin/sh\necho $$ >%s/pid.new\nmv %s/pid.new %s/pid\n%s\n",
             f->tree.path, f->tree.path, f->tree.path, body);
    snprintf(path, sizeof(path), LOADS "%s", name);
    lks_tree_file(&f->tree, path, text);
    snprintf(path, sizeof(path), "%s" LOADS "%s", f->tree.path, name);
    CHECK(chmod(path, mode) == 0);
}

static pid_t number_in(const struct fake *f, const char *file)
{
    uint64_t number = 0;
    struct lks_str line, rest;
    lks_str_cut(fake_text(f, file), '\n', &line, &rest);
    return lks_str_number(line, INT32_MAX, &number) ? (pid_t)number : 0;
}

/* One that ended and that nobody asked about yet lives no more. */
static bool lives(pid_t pid)
{
    char path[64], state = 'X';
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *stat = pid > 0 ? fopen(path, "re") : NULL;
    if (stat == NULL)
        return false;
    bool read = fscanf(stat, "%*d (%*[^)]) %c", &state) == 1;
    fclose(stat);
    return read && state != 'Z' && state != 'X';
}

static bool is_loaded(const struct fake *f)
{
    return (f->last.health & LKS_HEALTH_LOAD) != 0;
}

static bool is_unloaded(const struct fake *f)
{
    return !is_loaded(f);
}

static bool ends(struct fake *f, pid_t pid)
{
    for (struct lks_wait w = {0}; lives(pid) && lks_wait_on(&w);)
        fake_serve(f, 50);
    return !lives(pid);
}

/* Who it says it is, once it does. */
static pid_t await_number(struct fake *f, const char *file)
{
    for (struct lks_wait w = {0}; !lives(number_in(f, file)) && lks_wait_on(&w);)
        fake_serve(f, 50);
    CHECK(lives(number_in(f, file)));
    return number_in(f, file);
}

/* From the beginning: one that was there before is over. */
static pid_t begin(struct fake *f, const char *name)
{
    f->load = NULL;
    CHECK(fake_until(f, is_unloaded));
    f->load = name;
    CHECK(fake_until(f, is_loaded));
    return await_number(f, "pid");
}

/* Both of them are gone. A test that fails leaves nothing behind either. */
static void check_gone(struct fake *f, pid_t pid, pid_t child)
{
    CHECK(ends(f, pid));
    CHECK(ends(f, child));
    if (lives(pid))
        (void)kill(pid, SIGKILL);
    if (lives(child))
        (void)kill(child, SIGKILL);
}

/* It has a child of its own, says much, and closes its output. */
#define BURNS "sleep 1000 &\necho $! >$(dirname $0)/../../../../child\nexec >&- 2>&-\nsleep 1000"

/* It sends the usual signal to all it started, itself among them, and goes on. */
#define TIDIES                                                                                     \
    "trap '' TERM\nkill 0\nsleep 1\necho $$ >$(dirname $0)/../../../../child\nexec sleep 1000"

static void test_it_ends(void)
{
    struct fake f;
    fake_start(&f);
    plant(&f, "burn", BURNS, 0755);
    plant(&f, "tidy", TIDIES, 0755);
    pid_t agent = fake_agent(&f, NULL);

    lks_test_case("not by ending what it started itself");
    pid_t pid = begin(&f, "tidy"), child = await_number(&f, "child");
    CHECK_INT(child, pid);

    lks_test_case("it is not wanted any more");
    pid = begin(&f, "burn");
    child = await_number(&f, "child");
    f.load = NULL;
    CHECK(fake_until(&f, is_unloaded));
    CHECK(ends(&f, pid) && ends(&f, child));

    lks_test_case("a command comes");
    pid = begin(&f, "burn");
    (void)fake_command(&f, "idle", NULL);
    CHECK(ends(&f, pid));
    f.load = NULL;
    CHECK(fake_until(&f, is_unloaded));
    fake_agent_end(&f, agent);
    fake_stop(&f);
}

static void test_it_ends_with_others(void)
{
    struct fake f;
    fake_start(&f);
    plant(&f, "burn", BURNS, 0755);
    pid_t agent = fake_agent(&f, NULL);

    lks_test_case("the agent ends");
    pid_t pid = begin(&f, "burn"), child = await_number(&f, "child");
    fake_agent_end(&f, agent);
    check_gone(&f, pid, child);

    lks_test_case("the agent is killed");
    f.last.health = 0;
    agent = fake_agent(&f, NULL);
    pid = begin(&f, "burn");
    child = await_number(&f, "child");
    CHECK(kill(agent, SIGKILL) == 0);
    CHECK_INT(fake_wait(&f, agent), -1);
    check_gone(&f, pid, child);

    f.last.health = 0;
    agent = fake_agent(&f, NULL);
    lks_test_case("the controller is away");
    pid = begin(&f, "burn");
    child = await_number(&f, "child");
    fake_leave(&f);
    check_gone(&f, pid, child);
    fake_agent_end(&f, agent);
    fake_stop(&f);
}

static const struct {
    const char *name, *load;
    unsigned mode; /* of the program; 0: there is none */
    bool busy;
    const char *says;
} refusals[] = {
    {"there is no such program", "absent", 0, false, "No such file or directory"},
    {"it is no program", "plain", 0644, false, "is not a plain program"},
    {"others may change it", "open", 0777, false, "anyone may change it"},
    {"a process is on a GPU", "burn", 0755, true, "something runs on the GPUs"},
};

static const char *awaited;
static bool is_said(const struct fake *f)
{
    return lks_str_find(fake_text(f, "log"), lks_str_from(awaited)) >= 0;
}

static void test_it_does_not_begin(void)
{
    struct fake f;
    fake_start(&f);
    pid_t agent = fake_agent(&f, NULL);
    for (size_t i = 0; i < LKS_COUNT(refusals); i++) {
        lks_test_case("%s", refusals[i].name);
        if (refusals[i].mode != 0)
            plant(&f, refusals[i].load, "sleep 1000", refusals[i].mode);
        if (refusals[i].busy)
            lks_tree_dir(&f.tree, BUSY);
        f.load = refusals[i].load;
        awaited = refusals[i].says;
        CHECK(fake_until(&f, is_said));
        CHECK(is_unloaded(&f) && access(fake_path(&f, "pid"), F_OK) != 0);
    }
    fake_agent_end(&f, agent);
    fake_stop(&f);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"it ends", test_it_ends},
        {"it ends with the agent, and without a controller", test_it_ends_with_others},
        {"it does not begin", test_it_does_not_begin},
        {0},
    });
}
