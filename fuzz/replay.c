/* Runs a fuzz target over files, and over all files of a directory: how the corpus becomes an
 * ordinary test in builds without a fuzzing engine. A target that finds its property broken aborts,
 * so every input is counted before it is tried and named if it was the last. */
#include "base/buf.h"
#include "base/file.h"

#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { INPUT_MAX = 16 * 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char now_at[1024];
static unsigned passed, failed;

/* abort() was called by our own code, so the handler may print. */
static void on_abort(int sig)
{
    (void)sig;
    /* NOLINTBEGIN(bugprone-signal-handler,cert-sig30-c): abort() raises it synchronously */
    printf("%s: property broken\n%u passed, %u failed\n", now_at, passed, failed + 1);
    fflush(stdout);
    /* NOLINTEND(bugprone-signal-handler,cert-sig30-c) */
}

static void replay_file(const char *path)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf input = LKS_BUF(INPUT_MAX);
    struct lks_err err = {0};
    snprintf(now_at, sizeof(now_at), "%s", path);
    if (lks_file_read(path, &input, &err) != LKS_OK) {
        printf("%s\n", err.msg);
        failed++;
        return;
    }
    struct lks_str view = lks_buf_view(&input);
    LLVMFuzzerTestOneInput((const uint8_t *)view.ptr, view.len);
    passed++;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* The files of a directory in the order of their names, or the one file `path` is. */
static void replay(const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, is_visible, alphasort);
    if (count < 0) {
        replay_file(path);
        return;
    }
    for (int i = 0; i < count; i++) {
        char inner[1024];
        snprintf(inner, sizeof(inner), "%s/%s", path, entries[i]->d_name);
        replay_file(inner);
        free(entries[i]);
    }
    free(entries);
}

int main(int argc, char **argv)
{
    signal(SIGABRT, on_abort);
    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    printf("%u passed, %u failed\n", passed, failed);
    return failed > 0 || passed == 0;
}
