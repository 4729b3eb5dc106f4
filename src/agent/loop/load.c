#include "agent/loop/load.h"

#include "agent/loop/agent.h"
#include "probe/root/command.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOKER "/proc/self/exe"

enum {
    LOOK_MS = 30000,
    SAID_MAX = 1024,
    BEATS = 3,        /* for so many of them what was said holds, */
    LASTS_MIN = 2000, /* and for this long at the least */
};

void lks_load_want(struct lks_agent *a, const char *name)
{
    struct lks_load *l = &a->load;
    lks_ms lasts = BEATS * a->controller.heartbeat;
    if (strcmp(l->wanted, name) != 0) {
        lks_load_stop(a);
        l->again = 0;
        lks_agent_note(a, LKS_LEVEL_INFO,
                       name[0] != '\0' ? "a reference load is wanted"
                                       : "no reference load is wanted any more",
                       "name", name[0] != '\0' ? name : l->wanted);
    }
    snprintf(l->wanted, sizeof(l->wanted), "%s", name);
    l->lasts = lks_agent_now() + (lasts > LASTS_MIN ? lasts : LASTS_MIN);
}

void lks_load_stop(struct lks_agent *a)
{
    lks_subtask_fini(&a->load.errand);
    a->load.part = LKS_LOAD_OFF;
    a->load.ran = false;
    a->load.deaf = false;
}

bool lks_load_on(const struct lks_load *l)
{
    return l->part == LKS_LOAD_RUNS || l->ran;
}

lks_ms lks_load_due(const struct lks_agent *a)
{
    const struct lks_load *l = &a->load;
    if (l->wanted[0] == '\0' || a->command != 0)
        return UINT64_MAX;
    if (l->part == LKS_LOAD_OFF)
        return l->again < l->lasts ? l->again : l->lasts;
    return (lks_ms)l->errand.ends < l->lasts ? (lks_ms)l->errand.ends : l->lasts;
}

/* It could not begin, or came to a bad end. */
static void try_later(struct lks_agent *a, const char *why)
{
    lks_load_stop(a);
    a->load.again = lks_agent_now() + LKS_LOAD_AGAIN_MS;
    lks_agent_note(a, LKS_LEVEL_WARNING, "the reference load does not run", "why", why);
}

/* Ourselves with --idle, as before a change: vendors' libraries are no part of this process. */
static void begin_look(struct lks_agent *a)
{
    const char *words[] = {LOOKER, "--idle", a->options->root != NULL ? "--root" : NULL,
                           a->options->root, NULL};
    char *argv[LKS_COUNT(words)];
    struct lks_err err = {0};
    memcpy(argv, words, sizeof(argv)); /* execve() promises not to change them */
    const struct lks_subtask_program program = {
        .path = LOOKER, .argv = argv, .errors = true, .cut = true, .max = SAID_MAX, .ms = LOOK_MS};
    if (lks_subtask_start(&a->load.errand, &program, &err) != LKS_OK)
        try_later(a, err.msg);
    else
        a->load.part = LKS_LOAD_LOOKS;
}

/* A plain program that root put there, or on a captured machine we. */
static enum lks_code find_program(const struct lks_agent *a, char path[PATH_MAX],
                                  struct lks_err *err)
{
    const char *root = a->options->root;
    uid_t us = root != NULL ? geteuid() : 0;
    char folder[PATH_MAX];
    struct stat st;
    snprintf(folder, sizeof(folder), "%s" LKS_LOAD_FOLDER, root != NULL ? root : "");
    if (lstat(folder, &st) == 0 && lks_command_trust(folder, &st, us, err) != LKS_OK)
        return err->code;
    if (snprintf(path, PATH_MAX, "%s" LKS_LOAD_FOLDER "/%s", root != NULL ? root : "",
                 a->load.wanted) >= PATH_MAX)
        return lks_fail(err, LKS_E_INVALID, "its path is too long");
    if (lstat(path, &st) != 0)
        return lks_fail(err, LKS_E_NOT_FOUND, "%s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode) || (st.st_mode & S_IXUSR) == 0)
        return lks_fail(err, LKS_E_DENIED, "%s: is not a plain program", path);
    return lks_command_trust(path, &st, us, err);
}

static void begin_run(struct lks_agent *a)
{
    char path[PATH_MAX], seconds[48];
    char *argv[] = {path, NULL};
    struct lks_err err = {0};
    snprintf(seconds, sizeof(seconds), "LOCKSTEP_LOAD_SECONDS=%d", LKS_LOAD_SLICE_MS / 1000);
    const struct lks_subtask_program program = {.path = path,
                                                .argv = argv,
                                                .variable = seconds,
                                                .errors = true,
                                                .cut = true,
                                                .family = true,
                                                .max = SAID_MAX,
                                                .ms = LKS_LOAD_SLICE_MS};
    if (find_program(a, path, &err) != LKS_OK ||
        lks_subtask_start(&a->load.errand, &program, &err) != LKS_OK)
        try_later(a, err.msg);
    else
        a->load.part = LKS_LOAD_RUNS;
}

/* A slice that came to its end, by itself or because its time was up, is followed by the next. */
void lks_load_hear(struct lks_agent *a)
{
    struct lks_load *l = &a->load;
    struct lks_str text = {0};
    struct lks_err err = {0};
    if (!l->deaf && lks_subtask_hear(&l->errand))
        l->deaf = true;
    if (!lks_subtask_over(&l->errand))
        return;
    enum lks_load_part was = l->part;
    enum lks_code code = lks_subtask_end(&l->errand, &text, &err);
    lks_subtask_fini(&l->errand);
    l->part = LKS_LOAD_OFF;
    l->deaf = false;
    if (was == LKS_LOAD_LOOKS && code == LKS_OK)
        begin_run(a);
    else if (was == LKS_LOAD_LOOKS)
        try_later(a, "something runs on the GPUs, or they cannot be read");
    else if (code == LKS_OK || code == LKS_E_TIMEOUT)
        l->ran = true; /* the next step looks again */
    else
        try_later(a, err.msg);
    l->ran = l->ran && l->part != LKS_LOAD_RUNS;
}

void lks_load_step(struct lks_agent *a)
{
    struct lks_load *l = &a->load;
    lks_ms now = lks_agent_now();
    bool wanted = l->wanted[0] != '\0' && now < l->lasts;
    if (!wanted && l->wanted[0] != '\0')
        lks_load_want(a, "");
    if (!wanted || a->command != 0)
        lks_load_stop(a);
    else if (l->part == LKS_LOAD_OFF && now >= l->again)
        begin_look(a);
}
