#include "agent/hooks/prolog_retry.h"

#include "agent/hooks/hook.h"
#include "probe/root/clock.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST_MS = 1000, LAST_MS = 8000, COMMAND_SECONDS = 5, WORD_SIZE = 320 };

bool lks_prolog_retry_shows(struct lks_str output, const char *key, const char *flag)
{
    struct lks_str word, name, value, one;
    (void)lks_str_cut(output, '\n', &output, &word);
    while (lks_str_word(&output, &word)) {
        if (!lks_str_cut(word, '=', &name, &value) || !lks_str_is(name, key))
            continue;
        for (bool more = true; more;) {
            more = lks_str_cut(value, '+', &one, &value);
            if (lks_str_is(one, flag))
                return true;
        }
        return false;
    }
    return false;
}

/* `what` is "job" or "node". */
static bool shows(const char *scontrol, const char *what, const char *name, const char *key,
                  const char *flag)
{
    char output[LKS_HOOK_OUTPUT_SIZE];
    struct lks_err err = {0};
    const char *words[] = {"/usr/bin/env", scontrol, "--oneliner", "show", what, name, NULL};
    char *argv[LKS_COUNT(words)];
    memcpy(argv, words, sizeof(argv));
    return lks_hook_command(argv, COMMAND_SECONDS, output, &err) == LKS_OK &&
           lks_prolog_retry_shows(lks_str_from(output), key, flag);
}

int lks_prolog_retry_pause(int last_ms)
{
    if (last_ms == 0)
        return FIRST_MS;
    return last_ms < LAST_MS / 2 ? last_ms * 2 : LAST_MS;
}

int lks_prolog_retry_place(int dir)
{
    char name[sizeof(".retry.") + 4];
    for (int i = 0; i < LKS_PROLOG_RETRY_PLACES; i++) {
        snprintf(name, sizeof(name), ".retry.%d", i);
        int fd = openat(dir, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
            return fd;
        if (fd >= 0)
            (void)close(fd);
    }
    return -1;
}

static void await(const char *scontrol, const char *job, const char *node, int seconds)
{
    char output[LKS_HOOK_OUTPUT_SIZE], id[WORD_SIZE];
    struct lks_err err = {0};
    const char *words[] = {"/usr/bin/env", scontrol, "update", id, "starttime=now", NULL};
    char *argv[LKS_COUNT(words)];
    const int64_t until = lks_clock_ms() + (int64_t)seconds * 1000;
    snprintf(id, sizeof(id), "jobid=%s", job);
    memcpy(argv, words, sizeof(argv));
    for (int pause = lks_prolog_retry_pause(0); lks_clock_ms() < until;
         pause = lks_prolog_retry_pause(pause)) {
        (void)poll(NULL, 0, pause);
        if (shows(scontrol, "job", job, "JobState", "PENDING") &&
            shows(scontrol, "node", node, "State", "DRAIN") &&
            lks_hook_command(argv, COMMAND_SECONDS, output, &err) == LKS_OK)
            return;
    }
}

/* slurmctld waits until the output of its prolog is closed, and ends the prolog's process group. */
bool lks_prolog_retry_start(const char *scontrol, const char *job, const char *node, int seconds)
{
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (setsid() < 0 || null < 0)
            _exit(1);
        for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
            (void)dup2(null, fd);
        pid_t helper = fork();
        if (helper != 0)
            _exit(helper < 0);
        await(scontrol, job, node, seconds);
        _exit(0);
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}
