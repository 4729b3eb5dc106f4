#include "base/process/interrupt.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NOTE_MAX = 1024 };

/* Written before the handler is there, and read by it alone. */
static char note[NOTE_MAX];
static volatile sig_atomic_t note_len;

/* Nothing here but what a handler may call. */
static void on_interrupt(int number)
{
    ssize_t ignored = write(STDERR_FILENO, note, (size_t)note_len);
    (void)ignored;
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

/* On a terminal "^C" stands in the line, so the note begins with a line end. */
void lks_interrupt_note(const char *fmt, ...)
{
    struct sigaction before = {0};
    va_list ap;
    (void)sigaction(SIGINT, NULL, &before);
    if (before.sa_handler == SIG_IGN)
        return;
    (void)signal(SIGINT, SIG_DFL);
    note[0] = '\n';
    va_start(ap, fmt);
    (void)vsnprintf(note + 1, sizeof(note) - 2, fmt, ap);
    va_end(ap);
    note_len = (sig_atomic_t)strlen(note);
    note[note_len] = '\n';
    note_len++;
    (void)sigaction(SIGINT, &(struct sigaction){.sa_handler = on_interrupt}, NULL);
}

void lks_interrupt_end(void)
{
    note_len = 0;
}
