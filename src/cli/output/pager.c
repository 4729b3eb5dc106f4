#include "cli/output/pager.h"

#include "cli/shared/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_FOUND = 127, NOT_EXECUTABLE = 126 }; /* as shells report a program that did not run */

static bool has_program(const char *path, const char *name)
{
    struct lks_str rest = lks_str_from(path != NULL ? path : ""), folder;
    for (bool more = rest.len > 0; more;) {
        char file[PATH_MAX];
        more = lks_str_cut(rest, ':', &folder, &rest);
        int len = snprintf(file, sizeof(file), "%" LKS_STR_FMT "/%s", LKS_STR_ARG(folder), name);
        if (len > 0 && len < (int)sizeof(file) && access(file, X_OK) == 0)
            return true;
    }
    return false;
}

const char *lks_pager_choose(const char *own, const char *general, const char *path)
{
    const char *chosen = own != NULL ? own : general;
    if (chosen == NULL)
        return has_program(path, "less") ? "less -FRX" : NULL;
    return chosen[0] != '\0' && strcmp(chosen, "cat") != 0 ? chosen : NULL;
}

/* Commands that read but whose output has no end, draws the screen or is a file. */
static const char *const unpaged[] = {"top", "journal export", "artifact get"};

bool lks_pager_wants(const struct lks_cli *cli, const struct lks_command *command,
                     const struct lks_args *args)
{
    if (!cli->term.tty || !cli->term.cursor || cli->pager == NULL || cli->term.height == 0 ||
        lks_args_has(args, "--no-pager"))
        return false;
    if (command == NULL || lks_args_has(args, "--help"))
        return true;
    for (size_t i = 0; i < LKS_COUNT(unpaged); i++) {
        if (strcmp(unpaged[i], command->name) == 0)
            return false;
    }
    return (command->group == LKS_LOOK || lks_str_ends(lks_str_from(command->name), " ls")) &&
           !lks_args_has(args, "--follow") && !lks_args_has(args, "--watch");
}

void lks_pager_begin(struct lks_pager *p, struct lks_cli *cli, const struct lks_command *command,
                     const struct lks_args *args)
{
    *p = (struct lks_pager){0};
    if (!lks_pager_wants(cli, command, args))
        return;
    FILE *stream = open_memstream(&p->text, &p->len);
    if (stream == NULL)
        return;
    p->out = cli->out;
    cli->out = stream;
}

/* Behind an escape sequence that begins at `at`: "\033[31m". */
static size_t skip_colour(struct lks_str text, size_t at)
{
    while (at < text.len && text.ptr[at] != 'm' && text.ptr[at] != '\n')
        at++;
    return at;
}

size_t lks_pager_rows(struct lks_str text, unsigned width)
{
    size_t rows = 0;
    struct lks_str line;
    while (text.len > 0) {
        lks_str_cut(text, '\n', &line, &text);
        size_t columns = lks_term_columns(line);
        for (size_t i = 0; i < line.len; i++) {
            if (line.ptr[i] != '\033')
                continue;
            size_t end = skip_colour(line, i); /* the escape takes no column, what follows does */
            columns -= end - i;
            i = end;
        }
        rows += width > 0 && columns > width ? (columns + width - 1) / width : 1;
    }
    return rows;
}

/* Ctrl-C is for the pager while it is there; a person who pressed it wants no more of the text. */
static volatile sig_atomic_t pressed;

static void note_key(int number)
{
    pressed = number;
}

static void hand_keys(bool to_pager)
{
    static struct sigaction before[2];
    static const int keys[] = {SIGINT, SIGQUIT};
    struct sigaction note = {.sa_handler = note_key};
    if (to_pager)
        pressed = 0;
    for (size_t i = 0; i < LKS_COUNT(keys); i++) {
        if (to_pager)
            (void)sigaction(keys[i], &note, &before[i]);
        else
            (void)sigaction(keys[i], &before[i], NULL);
    }
}

/* In the child: become the pager. A shell reads the command line, as for every other program that
 * has $PAGER; the person who starts us wrote it. */
_Noreturn static void become(const char *command, int input)
{
    static const char shell[] = "/bin/sh";
    hand_keys(false);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)setenv("LESS", "FRX", 0); /* colours, and the screen stays, also for a plain "less" */
    if (dup2(input, STDIN_FILENO) >= 0)
        execl(shell, shell, "-c", command, (char *)NULL);
    _exit(NOT_FOUND);
}

/* All of it, or as much as the pager reads. */
static void feed(int fd, struct lks_str text)
{
    while (text.len > 0) {
        ssize_t put = write(fd, text.ptr, text.len);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return;
        text = (struct lks_str){text.ptr + put, text.len - (size_t)put};
    }
}

/* Run the pager to its end. False: there was none. `status` is as waitpid() has it. */
static bool run_pager(const char *command, struct lks_str text, int *status)
{
    int fds[2];
    *status = 0;
    if (pipe2(fds, O_CLOEXEC) != 0)
        return false;
    hand_keys(true); /* before there is a pager: no key can come between */
    pid_t pid = fork();
    if (pid == 0)
        become(command, fds[0]);
    close(fds[0]);
    if (pid > 0)
        feed(fds[1], text);
    close(fds[1]);
    while (pid > 0 && waitpid(pid, status, 0) < 0 && errno == EINTR) {
    }
    hand_keys(false);
    return pid > 0 && !(WIFEXITED(*status) && (WEXITSTATUS(*status) == NOT_FOUND ||
                                               WEXITSTATUS(*status) == NOT_EXECUTABLE));
}

/* A pager that failed may have shown nothing, so all of it follows. A reader who had enough ends
 * the pager with status 0, or by Ctrl-C. */
static bool show_by_pager(struct lks_cli *cli, struct lks_str text)
{
    int status = 0;
    if (!run_pager(cli->pager, text, &status))
        return false;
    if (pressed != 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
        return true;
    if (WIFSIGNALED(status))
        fprintf(cli->err, "lockstep: pager '%s' was killed by signal %d", cli->pager,
                WTERMSIG(status));
    else
        fprintf(cli->err, "lockstep: pager '%s' failed with status %d", cli->pager,
                WEXITSTATUS(status));
    fprintf(cli->err, "; all of the output follows. --no-pager does without a pager\n");
    (void)fflush(cli->err);
    return false;
}

enum lks_code lks_pager_end(struct lks_pager *p, struct lks_cli *cli, enum lks_code code,
                            struct lks_err *err)
{
    struct lks_err lost = {0};
    if (p->out == NULL)
        return code;
    if (lks_output_close(cli->out, &lost) != LKS_OK && code == LKS_OK) {
        *err = lost;
        code = err->code;
    }
    cli->out = p->out;
    struct lks_str text = {p->text != NULL ? p->text : "", p->text != NULL ? p->len : 0};
    fflush(cli->err);
    if (lks_pager_rows(text, cli->term.width) < cli->term.height || !show_by_pager(cli, text))
        fwrite(text.ptr, 1, text.len, cli->out);
    free(p->text);
    *p = (struct lks_pager){0};
    return code;
}
