#include "tests/real/ask.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

static int wait_for(pid_t pid)
{
    int status;
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

int lks_ask(const char *const *argv, struct lks_buf *out)
{
    int pipes[2];
    pid_t pid;
    posix_spawn_file_actions_t actions;
    if (pipe(pipes) != 0)
        return -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipes[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, pipes[0]);
    int failed = posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(pipes[1]);

    char chunk[4096];
    for (ssize_t got; failed == 0 && (got = read(pipes[0], chunk, sizeof(chunk))) > 0;)
        lks_buf_add(out, (struct lks_str){chunk, (size_t)got});
    close(pipes[0]);
    return failed == 0 ? wait_for(pid) : -1;
}
