/* slurmctld runs this before a job starts. `lockstep admit` asks lockstepd whether the job may
 * start on the nodes that Slurm chose. */
#include "agent/hooks/about.h"
#include "agent/hooks/hook.h"
#include "agent/hooks/prolog_last.h"
#include "agent/hooks/prolog_question.h"
#include "agent/hooks/prolog_retry.h"
#include "base/commit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <syslog.h>
#include <unistd.h>

enum {
    SECONDS = 10, /* for an answer */
    SECONDS_MAX = 300,
    TELL_SECONDS = 5, /* for scontrol */
    LAST = 600,       /* how old a yes may be */
    LAST_MAX = 86400,
    RETRY_MAX = 110,                  /* Slurm itself tries again after 120 s */
    FIXED = 2 + LKS_PROLOG_WORDS_MAX, /* words before those of the caller */
    COMPONENT_WAIT_MS = 50,           /* between looks at components that are missing */
    COMPONENT_WAITS = 20,
    ARENA_MAX = 64 << 20,
    TEXT_SIZE = LKS_NOTICE_TEXT_SIZE + LKS_ERR_MSG_MAX + 8,
};

/* Slurm starts the job after 0. After any other status it requeues a batch job, and cancels one
 * that waits at a terminal. */
enum { START = 0, REFUSE = 1 };

enum without { WITHOUT_START, WITHOUT_REFUSE, WITHOUT_LAST };

struct options {
    const char *job, *lockstep, *scontrol;
    const char *state;           /* folder of the nodes that were admitted last; NULL: none */
    const struct lks_args *args; /* positional: options of lockstep admit */
    uint64_t seconds, last, retry;
    enum without without; /* an answer */
    bool unanswered;      /* lockstepd gave none */
    struct timespec asked;
};

static void print_help(void)
{
    lks_manual_help(&lks_about_prolog, stdout);
}

static enum lks_code read_seconds(const struct lks_args *args, const char *name, uint64_t max,
                                  uint64_t *out, struct lks_err *err)
{
    const char *text = lks_args_get(args, name);
    if (text != NULL && (!lks_str_number(lks_str_from(text), max, out) || *out == 0))
        return lks_fail(err, LKS_E_USAGE, "%s: '%s' is not from 1 to %d", name, text, (int)max);
    return LKS_OK;
}

static enum lks_code read_without(const struct lks_args *args, struct options *out,
                                  struct lks_err *err)
{
    static const struct lks_str_named words[] = {
        {"start", WITHOUT_START}, {"refuse", WITHOUT_REFUSE}, {"last", WITHOUT_LAST}};
    const char *text = lks_args_get(args, "--without-answer");
    int without = text != NULL ? lks_str_lookup(lks_str_from(text), words, LKS_COUNT(words), -1)
                               : WITHOUT_START;
    if (without < 0)
        return lks_fail(err, LKS_E_USAGE,
                        "--without-answer: '%s' is none of start, refuse and last", text);
    out->without = (enum without)without;
    if (without == WITHOUT_LAST && out->state == NULL)
        return lks_fail(err, LKS_E_USAGE, "--without-answer last needs --state DIR");
    return LKS_OK;
}

static enum lks_code read_options(const struct lks_args *args, struct options *out,
                                  struct lks_err *err)
{
    const char *lockstep = lks_args_get(args, "--lockstep");
    const char *scontrol = lks_args_get(args, "--scontrol");
    *out = (struct options){.args = args,
                            .seconds = SECONDS,
                            .last = LAST,
                            .state = lks_args_get(args, "--state"),
                            .lockstep = lockstep != NULL ? lockstep : "lockstep",
                            .scontrol = scontrol != NULL ? scontrol : "scontrol"};
    if (read_without(args, out, err) != LKS_OK ||
        read_seconds(args, "--seconds", SECONDS_MAX, &out->seconds, err) != LKS_OK ||
        read_seconds(args, "--last", LAST_MAX, &out->last, err) != LKS_OK)
        return err->code;
    return read_seconds(args, "--retry", RETRY_MAX, &out->retry, err);
}

/* How a program failed, with the first line that it printed. */
static const char *how_failed(const char *output, const struct lks_err *why, char text[TEXT_SIZE])
{
    char line[LKS_NOTICE_TEXT_SIZE];
    lks_notice_line(lks_str_from(output), line);
    snprintf(text, TEXT_SIZE, "%s%s%s", line, line[0] != '\0' ? "; " : "", why->msg);
    return text;
}

/* slurmctld discards what its prolog prints, so the system's log gets it, too. */
static void report(const char *job, const char *text)
{
    fprintf(stderr, "slurm-prolog: job %s: %s\n", job, text);
    syslog(LOG_WARNING, "job %s: %s", job, text);
}

/* What the job's owner sees in Slurm. It waits, and nothing else tells them why. */
static void tell_owner(const struct options *o, const char *text)
{
    struct lks_err err = {0};
    char id[32], comment[TEXT_SIZE + 64], output[LKS_HOOK_OUTPUT_SIZE], how[TEXT_SIZE];
    char failed[TEXT_SIZE + 64];
    const char *words[] = {"/usr/bin/env", o->scontrol, "update", id, comment, NULL};
    char *argv[LKS_COUNT(words)];
    snprintf(id, sizeof(id), "jobid=%s", o->job);
    snprintf(comment, sizeof(comment), "admincomment=lockstep: %s", text);
    memcpy(argv, words, sizeof(argv));
    if (lks_hook_command(argv, TELL_SECONDS, output, &err) == LKS_OK)
        return;
    snprintf(failed, sizeof(failed), "its comment was not written: %s",
             how_failed(output, &err, how));
    report(o->job, failed);
}

static int refuse(const struct options *o, const char *text)
{
    report(o->job, text);
    tell_owner(o, text);
    return REFUSE;
}

/* The nodes that lockstepd admitted last; 0: they are not kept, or cannot be. */
static int open_state(const struct options *o)
{
    struct lks_err err = {0};
    int dir = 0;
    if (o->state == NULL || lks_prolog_last_open(o->state, &dir, &err) == LKS_OK)
        return dir;
    report(o->job, err.msg);
    return 0;
}

/* Whether the job starts all the same, and why, or why not. `q` NULL: nothing could be asked. */
static bool starts_without(const struct options *o, const struct lks_prolog_question *q, char *text,
                           size_t size)
{
    if (o->without != WITHOUT_LAST) {
        snprintf(text, size, "%s",
                 o->without == WITHOUT_START ? "; the job starts without one" : "");
        return o->without == WITHOUT_START;
    }
    int dir = q != NULL ? open_state(o) : 0;
    if (dir == 0) {
        snprintf(text, size, "%s",
                 q != NULL ? "; the folder of --state cannot be read (see the log); the job waits"
                           : "; the job waits");
        return false;
    }
    const struct lks_str *node =
        lks_prolog_last_unknown(dir, &q->nodes, time(NULL), (time_t)o->last);
    bool stored = node == NULL || lks_prolog_last_stored(dir, *node);
    (void)close(dir);
    if (!stored)
        snprintf(text, size,
                 "; no admission is stored for %" LKS_STR_FMT
                 ": start the first jobs with --without-answer start",
                 LKS_STR_ARG(*node));
    else if (node != NULL)
        snprintf(text, size, "; %" LKS_STR_FMT " was not admitted in the last %d s",
                 LKS_STR_ARG(*node), (int)o->last);
    else
        snprintf(text, size, "; the job starts: all its nodes were admitted in the last %d s",
                 (int)o->last);
    return node == NULL;
}

static int go_without(struct options *o, const struct lks_prolog_question *q, const char *why)
{
    char text[2 * TEXT_SIZE], then[TEXT_SIZE];
    bool starts = starts_without(o, q, then, sizeof(then));
    snprintf(text, sizeof(text), "no answer from lockstepd: %s%s", why, then);
    o->unanswered = true;
    if (!starts)
        return refuse(o, text);
    report(o->job, text);
    int dir = open_state(o);
    if (dir != 0) {
        lks_prolog_last_count(dir, 1);
        (void)close(dir);
    }
    return START;
}

/* The line of the answer, behind warnings: "yes" or "no", perhaps with a reason. False: there is
 * none. */
static bool find_answer(const char *output, bool yes, char line[LKS_NOTICE_TEXT_SIZE])
{
    struct lks_str one, rest = lks_str_from(output);
    for (bool more = true; more;) {
        more = lks_str_cut(rest, '\n', &one, &rest);
        if (lks_str_is(one, yes ? "yes" : "no") || lks_str_starts(one, yes ? "yes: " : "no: ")) {
            lks_notice_line(one, line);
            return true;
        }
    }
    return false;
}

/* lockstepd learns with the next answer how many jobs started without one. A report that it does
 * not take waits for the answer after that. */
static void report_starts(const struct options *o, int dir)
{
    int taken = -1;
    uint64_t jobs = lks_prolog_last_take(dir, &taken);
    struct lks_err err = {0};
    char output[LKS_HOOK_OUTPUT_SIZE], count[32];
    const char *words[FIXED + LKS_ARGS_MAX + 1] = {"/usr/bin/env", o->lockstep, "admit",
                                                   "--unanswered", count};
    char *argv[LKS_COUNT(words)];
    if (jobs == 0)
        return;
    snprintf(count, sizeof(count), "%" PRIu64, jobs);
    memcpy(words + 5, o->args->positional,
           o->args->positional_count * sizeof(o->args->positional[0]));
    memcpy(argv, words, sizeof(argv));
    bool reported = lks_hook_command(argv, TELL_SECONDS, output, &err) == LKS_OK;
    lks_prolog_last_end(dir, taken, reported ? jobs : 0);
}

/* A yes that is for this job alone, by its wishes or by an override, says nothing of other jobs. */
static void note(const struct options *o, const struct lks_prolog_question *q, bool yes,
                 const char *line)
{
    bool plain = strcmp(line, "yes") == 0 && !q->wishes;
    int dir = open_state(o);
    if (dir == 0)
        return;
    if (!yes || plain)
        lks_prolog_last_note(dir, &q->nodes, yes, o->asked);
    report_starts(o, dir);
    (void)close(dir);
}

/* Each process asks Slurm again and again, so there are few, and none without a folder that counts
 * them. */
static void retry(const struct options *o, const char *node)
{
    static const char *const not_again = "no retry; Slurm tries the job again after 120 s:";
    char text[TEXT_SIZE];
    int dir = open_state(o), place = dir != 0 ? lks_prolog_retry_place(dir) : -1;
    const char *why = dir == 0 ? "--retry needs --state" : "as many jobs as may be wait for nodes";
    if (place >= 0)
        why = lks_prolog_retry_start(o->scontrol, o->job, node, (int)o->retry)
                  ? NULL
                  : "cannot start a process";
    if (why != NULL) {
        snprintf(text, sizeof(text), "%s %s", not_again, why);
        report(o->job, text);
    }
    if (place >= 0)
        (void)close(place);
    if (dir != 0)
        (void)close(dir);
}

static int take_no(const struct options *o, const struct lks_prolog_question *q, const char *line)
{
    char name[LKS_HOST_NAME_MAX + 1];
    struct lks_str node = lks_prolog_question_offender(lks_str_from(line));
    note(o, q, false, line);
    snprintf(name, sizeof(name), "%" LKS_STR_FMT, LKS_STR_ARG(node));
    int status = refuse(o, line);
    if (o->retry > 0 && node.len > 0)
        retry(o, name);
    return status;
}

/* What a user asks for may not turn the question into one that has no answer: the job would start
 * without one. */
static int refuse_wishes(const struct options *o, const char *how)
{
    char text[TEXT_SIZE + 128];
    snprintf(text, sizeof(text),
             "no: lockstepd cannot evaluate the image or the stack that the job names: %s", how);
    return refuse(o, text);
}

/* An exit status alone is no answer: a command that failed for another reason has one, too. */
static int ask(struct options *o, const struct lks_prolog_question *q)
{
    static const struct lks_err neither = {.msg = "it printed neither yes nor no"};
    struct lks_err err = {0};
    char output[LKS_HOOK_OUTPUT_SIZE], line[LKS_NOTICE_TEXT_SIZE], how[TEXT_SIZE];
    const char *words[FIXED + LKS_ARGS_MAX + 1] = {"/usr/bin/env", o->lockstep};
    char *argv[LKS_COUNT(words)];
    memcpy(words + 2, q->words, q->count * sizeof(q->words[0]));
    memcpy(words + 2 + q->count, o->args->positional,
           o->args->positional_count * sizeof(o->args->positional[0]));
    memcpy(argv, words, sizeof(argv));
    (void)clock_gettime(CLOCK_REALTIME, &o->asked);
    enum lks_code code = lks_hook_command(argv, (int)o->seconds, output, &err);
    if (code == LKS_OK && find_answer(output, true, line)) {
        note(o, q, true, line);
        return START;
    }
    if (code == LKS_E_REFUSED && find_answer(output, false, line))
        return take_no(o, q, line);
    how_failed(output, code == LKS_OK ? &neither : &err, how);
    if (code == LKS_E_INVALID && q->wishes)
        return refuse_wishes(o, how);
    return go_without(o, q, how);
}

static int fail(const struct options *o, const struct lks_err *why);

/* Components of this start so far. Those before the last one are waited for, because ranks count
 * their nodes. */
static enum lks_code read_components(const struct lks_prolog_question *q, int dir,
                                     struct lks_arena *arena, struct lks_prolog_components *out,
                                     struct lks_err *err)
{
    const struct timespec pause = {.tv_nsec = COMPONENT_WAIT_MS * 1000000L};
    for (int i = 0; i <= COMPONENT_WAITS; i++) {
        if (i > 0)
            (void)nanosleep(&pause, NULL);
        if (lks_prolog_components_read(dir, q->start, time(NULL), arena, out, err) != LKS_OK)
            return err->code;
        if (!lks_prolog_components_mix(out, &q->own) || !lks_prolog_components_lack(out))
            break;
    }
    return LKS_OK;
}

/* The job's first component is what its owner looks at. */
static int ask_gang(struct options *o, const struct lks_prolog_question *q,
                    const struct lks_prolog_components *c)
{
    LKS_CLEANUP(lks_prolog_question_fini) struct lks_prolog_question gang = {0};
    struct lks_err err = {0};
    char text[TEXT_SIZE];
    enum lks_code code = lks_prolog_question_gang(q, c, &gang, &err);
    if (code == LKS_OK) {
        o->job = gang.job;
        int status = ask(o, &gang);
        o->job = q->job;
        return status;
    }
    if (code != LKS_E_REFUSED)
        return go_without(o, q, err.msg);
    snprintf(text, sizeof(text), "no: %s", err.msg);
    return refuse(o, text);
}

/* A component that may start by itself, against the images of the others. */
static int compare(struct options *o, const struct lks_prolog_question *q, int dir)
{
    static struct lks_prolog_components components;
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_err err = {0};
    lks_arena_init(&arena, ARENA_MAX);
    if (read_components(q, dir, &arena, &components, &err) != LKS_OK)
        return go_without(o, q, err.msg);
    return lks_prolog_components_mix(&components, &q->own) ? ask_gang(o, q, &components) : START;
}

/* It is kept before it is asked about, so that the others find it while they are. One without an
 * image is kept for the ranks of the others alone. */
static int ask_component(struct options *o, const struct lks_prolog_question *q)
{
    struct lks_err err = {.msg = "--state cannot be used"};
    bool images = q->own.image.len > 0;
    int dir = open_state(o);
    bool kept =
        dir != 0 && lks_prolog_components_keep(dir, q->start, &q->own, time(NULL), &err) == LKS_OK;
    if (dir != 0 && !kept)
        report(o->job, err.msg);
    int status = ask(o, q);
    if (images && o->state != NULL && status == START && !o->unanswered)
        status = kept ? compare(o, q, dir) : go_without(o, q, err.msg);
    if (dir != 0)
        (void)close(dir);
    return status;
}

/* What the job's user chose and cannot be asked about is refused in every mode: it is no outage. */
static int run(struct options *o)
{
    LKS_CLEANUP(lks_prolog_question_fini) struct lks_prolog_question q = {0};
    struct lks_err err = {0};
    char text[TEXT_SIZE];
    enum lks_code code = lks_prolog_question_read(getenv, &q, &err);
    o->job = q.job;
    if (code == LKS_OK)
        return q.start.job != 0 ? ask_component(o, &q) : ask(o, &q);
    if (code != LKS_E_REFUSED)
        return fail(o, &err);
    snprintf(text, sizeof(text), "no: %s", err.msg);
    return refuse(o, text);
}

/* A site's mistake must not stop every job: where slurmctld runs this, the job's variables are
 * there, and a fault of the command line is no answer. */
static int fail(const struct options *o, const struct lks_err *why)
{
    struct options job = *o;
    const char *id = getenv("SLURM_JOB_ID");
    uint64_t number = 0;
    job.job = id != NULL && lks_str_number(lks_str_from(id), UINT32_MAX, &number) ? id : "?";
    if (id != NULL)
        return go_without(&job, NULL, why->msg);
    fprintf(stderr, "slurm-prolog: %s\n", why->msg);
    return lks_err_code_info(why->code)->exit;
}

/* The next word behind the option `name` from argv[*at] on, or behind its "="; "" at the end of the
 * line. NULL: the option does not follow. */
static const char *next_value(char **argv, int *at, const char *name)
{
    size_t len = strlen(name);
    while (argv[*at] != NULL) {
        const char *word = argv[(*at)++];
        if (strncmp(word, name, len) != 0 || (word[len] != '\0' && word[len] != '='))
            continue;
        if (word[len] == '=')
            return word + len + 1;
        return argv[*at] != NULL ? argv[*at] : "";
    }
    return NULL;
}

/* What the site wants without an answer, from a command line that cannot be read: one mistake in it
 * must not start every job where the site refuses them. Nothing but "start" starts one. */
static enum without find_without(char **argv)
{
    enum without found = WITHOUT_START;
    const char *value;
    int at = 0;
    while ((value = next_value(argv, &at, "--without-answer")) != NULL) {
        if (strcmp(value, "start") != 0)
            found = strcmp(value, "last") == 0 ? WITHOUT_LAST : WITHOUT_REFUSE;
    }
    return found;
}

/* The job's owner learns the reason with the site's scontrol, if the command line has one. */
static int fail_line(char **argv, struct options *o, const struct lks_err *why)
{
    int at = 0;
    const char *scontrol = next_value(argv, &at, "--scontrol");
    o->scontrol = scontrol != NULL && scontrol[0] != '\0' ? scontrol : "scontrol";
    o->without = find_without(argv);
    return fail(o, why);
}

int main(int argc, char **argv)
{
    static struct lks_args args;
    struct options o = {0};
    struct lks_err err = {0};
    if (!lks_hook_settle()) /* no answer, and nowhere to say so */
        _exit(find_without(argv) == WITHOUT_START ? START : REFUSE);
    openlog("slurm-prolog", LOG_PID, LOG_DAEMON);
    if (lks_args_read(argc - 1, argv + 1, lks_about_prolog_options, &args, &err) == LKS_OK) {
        if (lks_args_about(&args, print_help, "slurm-prolog", LKS_COMMIT))
            return 0;
        if (read_options(&args, &o, &err) == LKS_OK)
            return run(&o);
    }
    return fail_line(argv, &o, &err);
}
