/* A change as it goes on. On a terminal, one line for each wave that is not yet passed, drawn over
 * themselves; anywhere else a plain line whenever a wave came further. lockstepd is asked again and
 * again, so that its restarts are nothing but a pause. */
#include "cli/change/cmd_change.h"

#include "base/process/interrupt.h"
#include "cli/shared/ask.h"
#include "cli/shared/render.h"
#include "core/stats/remaining.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

enum {
    LOOK_MS = 250,
    MANY = 10000, /* nodes of a change that is looked at less often, */
    LOOK_MANY_MS = 1000,
    AWAY_MS = 500,     /* between attempts to reach lockstepd again */
    LINES_SHOWN = 10,  /* waves, on a terminal */
    WAITS_SHOWN = 3,   /* nodes that it waits for */
    WAVES_KEPT = 4096, /* that plain lines are kept apart for */
    HALTS = 6,         /* so often halted in a row: no rollback follows */
    BAR = 20,
    NARROW = 72, /* below this there is no bar */
    TEXT_BYTES = 8192,
    JSON_BYTES = 64 << 20,
    NS_PER_MS = 1000000,
};

/* What was last said of a wave. */
struct said {
    char state[16];
    uint64_t tenth, failed;
};

struct follow {
    struct lks_cli *cli;
    const char *id;
    bool json;
    char state[24];       /* of the change, as last said */
    size_t drawn;         /* lines that are to be drawn over */
    bool low;             /* the terminal is lower than the picture: lines from then on */
    uint64_t passed;      /* waves that were said to be passed, for good */
    struct said *said;    /* owned; by wave */
    struct lks_buf last;  /* the answer that was shown last */
    unsigned halted;      /* how often in a row */
    bool away;            /* it was said that lockstepd does not answer */
    lks_ms began;         /* CLOCK_MONOTONIC, when it was first asked */
    struct lks_buf waits; /* nodes that were last said to be waited for */
};

static void follow_fini(struct follow *f)
{
    free(f->said);
    lks_buf_fini(&f->last);
    lks_buf_fini(&f->waits);
}

static void rest(int ms)
{
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    (void)nanosleep(&pause, NULL);
}

static const struct lks_doc *waves_of(const struct lks_doc *change)
{
    const struct lks_doc *waves = lks_doc_member(change, "waves");
    return waves != NULL ? waves->first : NULL;
}

static lks_ms mono(void)
{
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (lks_ms)t.tv_sec * LKS_SECOND + (lks_ms)t.tv_nsec / NS_PER_MS;
}

/* How long it takes ------------------------------------------------------------------------- */

static lks_ms time_of(const struct lks_doc *doc, const char *key)
{
    lks_ms at = 0;
    return lks_time_parse(lks_doc_text(doc, key), &at) ? at : 0;
}

/* A wave that passed soaked; one that did not will, or does. */
static void add_soak(struct lks_remaining *of, const struct lks_doc *wave)
{
    struct lks_str state = lks_doc_text(wave, "state");
    lks_ms soak = lks_render_number(wave, "soak_ms"), since = time_of(wave, "since"), past = 0;
    if (lks_str_is(state, "passed"))
        past = soak;
    else if (lks_str_is(state, "soaks") && since != 0 && of->now > since)
        past = of->now - since < soak ? of->now - since : soak;
    of->waited += past;
    of->waits += soak - past;
}

/* Milliseconds that a change in progress still takes; 0: not known. */
static lks_ms left_of(const struct lks_doc *change, lks_ms now)
{
    struct lks_remaining of = {.total = lks_render_number(change, "total"),
                               .started = time_of(change, "started"),
                               .now = now,
                               .forecast = lks_render_number(change, "forecast.took_middle_ms")};
    uint64_t ahead = lks_render_number(change, "members.pending+" LKS_CHANGE_UNDER_WAY);
    if (!lks_str_is(lks_doc_text(change, "state"), "running") || ahead > of.total)
        return 0;
    of.over = of.total - ahead;
    for (const struct lks_doc *w = waves_of(change); w != NULL; w = w->next)
        add_soak(&of, w);
    return lks_remaining(&of);
}

/* Lines ------------------------------------------------------------------------------------- */

/* Print a line that no data can drive the terminal with, and that takes one line there, or what of
 * it has room in one. */
static void print_line(const struct lks_cli *cli, enum lks_colour colour, bool cut,
                       struct lks_str text)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf clean = LKS_BUF((size_t)2 * TEXT_BYTES);
    lks_term_clean(&clean, text);
    struct lks_str line = lks_buf_view(&clean);
    if (cut && cli->term.cursor && cli->term.width > 0)
        line.len = lks_term_fit(line, cli->term.width);
    fprintf(cli->out, "%s%.*s%s\n", lks_term_on(&cli->term, colour), LKS_STR_ARG(line),
            lks_term_off(&cli->term, colour));
}

static enum lks_colour colour_of(struct lks_str state)
{
    static const struct lks_str_named moods[] = {
        {"passed", LKS_GREEN}, {"done", LKS_GREEN},       {"held", LKS_YELLOW},
        {"halted", LKS_RED},   {"rolled back", LKS_RED},  {"aborted", LKS_RED},
        {"rejected", LKS_RED}, {"rolling back", LKS_RED}, {"planned", LKS_DIM},
    };
    return (enum lks_colour)lks_str_lookup(state, moods, LKS_COUNT(moods), LKS_PLAIN);
}

/* How many nodes of a wave are over, and of how many. */
static void count_over(const struct lks_doc *wave, uint64_t *over, uint64_t *all)
{
    *all = lks_render_number(wave, "members");
    *over = *all - lks_render_number(wave, "members.pending+" LKS_CHANGE_UNDER_WAY);
}

static void put_bar(const struct lks_doc *wave, struct lks_buf *out)
{
    uint64_t over, all;
    count_over(wave, &over, &all);
    uint64_t marks = all > 0 ? over * BAR / all : 0;
    lks_buf_addc(out, '[');
    for (uint64_t i = 0; i < BAR; i++)
        lks_buf_addc(out, i < marks ? '#' : '.');
    lks_buf_add(out, LKS_STR("] "));
}

/* `wave 1 canary serve: begun, 3/20 done, 2 in progress` */
static void print_wave(const struct lks_cli *cli, const struct lks_doc *wave, bool bar)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_BYTES);
    const struct lks_render of = {.doc = wave};
    lks_render(&text, "wave {wave#} {kind}[ {pool}]", &of);
    lks_buf_add(&text, bar ? LKS_STR(" ") : LKS_STR(": "));
    if (bar)
        put_bar(wave, &text);
    lks_render(&text, "[" LKS_CHANGE_WAVE_STATE "], " LKS_CHANGE_PROGRESS, &of);
    print_line(cli, colour_of(lks_doc_text(wave, "state")), true, lks_buf_view(&text));
}

static void print_change(const struct follow *f, const struct lks_doc *change)
{
    char span[LKS_SPAN_TEXT_SIZE];
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_BYTES);
    lks_buf_addf(&text, "change %s ", f->id);
    lks_render(&text, "{state}[{frozen?} (frozen)]: " LKS_CHANGE_PROGRESS,
               &(struct lks_render){.doc = change});
    lks_ms left = left_of(change, (lks_ms)f->cli->now * LKS_SECOND + mono() - f->began);
    if (left > 0)
        lks_buf_addf(&text, ", about %s left", lks_change_rough_text(left, span));
    print_line(f->cli, colour_of(lks_doc_text(change, "state")), true, lks_buf_view(&text));
}

static void put_wait(const struct lks_doc *wait, struct lks_buf *key)
{
    lks_render(key, "\n{node} {doing}\n", &(struct lks_render){.doc = wait});
}

/* A node that it waits for, with the whole reason. How many lines that took. */
static size_t print_wait(const struct follow *f, const struct lks_doc *wait)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_BYTES);
    size_t len = 0, lines = 0, width = f->cli->term.width > 0 ? f->cli->term.width : SIZE_MAX;
    char *flowed = NULL;
    FILE *out = open_memstream(&flowed, &len);
    if (out == NULL)
        return 0;
    lks_render(&text,
               "waits for {node}[{doing=leave} (drain)|{doing=return} (return to service)| "
               "({doing})][: {why}][, until {until}]",
               &(struct lks_render){.doc = wait});
    lks_term_flow(out, lks_buf_view(&text), 0, 2, width);
    fclose(out);
    for (size_t i = 0; i < len; i++)
        lines += flowed[i] == '\n';
    fputs(flowed, f->cli->out);
    free(flowed);
    return lines;
}

/* Nodes that it waits for, but for those that are among `told`. How many lines that took. */
static size_t print_waits(const struct follow *f, const struct lks_doc *change, struct lks_str told)
{
    const struct lks_doc *waits = lks_doc_member(change, "waits");
    size_t lines = 0, shown = 0, left = 0;
    for (const struct lks_doc *w = waits != NULL ? waits->first : NULL; w != NULL; w = w->next) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf key = LKS_BUF(TEXT_BYTES);
        put_wait(w, &key);
        if (lks_str_find(told, lks_buf_view(&key)) >= 0)
            continue;
        if (shown++ < WAITS_SHOWN)
            lines += print_wait(f, w);
        else
            left++;
    }
    if (left == 0)
        return lines;
    fprintf(f->cli->out, "and %zu more: lockstep change show %s\n", left, f->id);
    return lines + 1;
}

/* On a terminal ----------------------------------------------------------------------------- */

static void draw(struct follow *f, const struct lks_doc *change)
{
    struct lks_cli *cli = f->cli;
    uint64_t at = 0, left = 0;
    size_t lines = 1;
    for (const struct lks_doc *w = waves_of(change); w != NULL; w = w->next, at++) {
        if (at == f->passed && lks_str_is(lks_doc_text(w, "state"), "passed")) {
            print_wave(cli, w, false);
            f->passed++;
        }
    }
    print_change(f, change);
    at = 0;
    for (const struct lks_doc *w = waves_of(change); w != NULL; w = w->next) {
        if (at++ < f->passed)
            continue;
        if (lines <= LINES_SHOWN) {
            print_wave(cli, w, cli->term.width >= NARROW);
            lines++;
        } else {
            left++;
        }
    }
    if (left > 0) {
        fprintf(cli->out, "and %" PRIu64 " more: lockstep change show %s\n", left, f->id);
        lines++;
    }
    f->drawn = lines + print_waits(f, change, LKS_STR(""));
}

/* Anywhere else ----------------------------------------------------------------------------- */

/* Whether there is something new to say of a wave. */
static bool is_news(struct said *said, const struct lks_doc *wave)
{
    uint64_t over, all, failed = lks_render_number(wave, "failed");
    struct lks_str state = lks_doc_text(wave, "state");
    count_over(wave, &over, &all);
    uint64_t tenth = all > 0 ? over * 10 / all : 0;
    bool same = lks_str_is(state, said->state) && said->tenth == tenth && said->failed == failed;
    bool first = said->state[0] == '\0' && lks_str_is(state, "planned");
    snprintf(said->state, sizeof(said->state), "%" LKS_STR_FMT, LKS_STR_ARG(state));
    said->tenth = tenth;
    said->failed = failed;
    return !same && !first;
}

/* Nodes that it waits for since the last time, or that are to do something else now. Reasons hold
 * numbers that change all the time, and do not count. */
static void tell_waits(struct follow *f, const struct lks_doc *change)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(JSON_BYTES);
    const struct lks_doc *waits = lks_doc_member(change, "waits");
    (void)print_waits(f, change, lks_buf_view(&f->waits));
    for (const struct lks_doc *w = waits != NULL ? waits->first : NULL; w != NULL; w = w->next)
        put_wait(w, &text);
    lks_buf_truncate(&f->waits, 0);
    lks_buf_add(&f->waits, lks_buf_view(&text));
}

static void tell(struct follow *f, const struct lks_doc *change)
{
    struct lks_str state = lks_doc_text(change, "state");
    size_t at = 0;
    if (!lks_str_is(state, f->state)) {
        snprintf(f->state, sizeof(f->state), "%" LKS_STR_FMT, LKS_STR_ARG(state));
        print_change(f, change);
    }
    for (const struct lks_doc *w = waves_of(change); w != NULL && at < WAVES_KEPT; w = w->next) {
        if (is_news(&f->said[at++], w))
            print_wave(f->cli, w, false);
    }
    tell_waits(f, change);
}

/* The picture is drawn over itself, which no terminal can that is lower than it: there, lines are
 * printed, as in a pipe. */
static void draw_or_tell(struct follow *f, const struct lks_doc *change)
{
    struct lks_cli *cli = f->cli;
    FILE *out = cli->out;
    size_t len = 0, before = f->drawn;
    char *picture = NULL;
    if (cli->term.tty) /* the size may be another now */
        lks_term_of(out, &cli->term);
    if (before > 0)
        fprintf(out, "\033[%zuA\033[J", before);
    f->drawn = 0;
    cli->out = open_memstream(&picture, &len);
    if (cli->out != NULL) {
        draw(f, change);
        fclose(cli->out);
    }
    cli->out = out;
    f->low = f->drawn == 0 || (cli->term.height > 0 && f->drawn >= cli->term.height);
    if (f->low)
        tell(f, change);
    else
        fwrite(picture, 1, len, out);
    free(picture);
}

/* Whether it is another answer than the last time. */
static bool is_other(struct follow *f, const struct lks_remote_answer *answer)
{
    struct lks_str body = lks_buf_view(&answer->http.body);
    if (lks_str_eq(body, lks_buf_view(&f->last)))
        return false;
    lks_buf_truncate(&f->last, 0);
    lks_buf_add(&f->last, body);
    return true;
}

/* The whole --------------------------------------------------------------------------------- */

static void show(struct follow *f, const struct lks_remote_answer *answer)
{
    if (!is_other(f, answer))
        return;
    if (f->json)
        fprintf(f->cli->out, "%.*s\n", LKS_STR_ARG(lks_buf_view(&answer->http.body)));
    else if (f->cli->term.cursor && !f->low)
        draw_or_tell(f, answer->doc);
    else
        tell(f, answer->doc);
    fflush(f->cli->out);
}

/* Whether it ended, well or not. A halt is no end where a rollback follows at once. */
static bool is_over(struct follow *f, const struct lks_doc *change)
{
    static const char *const bad[] = {"rejected", "aborted", "rolled back"};
    struct lks_str state = lks_doc_text(change, "state");
    unsigned most = lks_render_truth(change, "rolls_back") ? HALTS : 1;
    f->halted = lks_str_is(state, "halted") ? f->halted + 1 : 0;
    bool over = f->halted >= most;
    for (size_t i = 0; i < LKS_COUNT(bad); i++)
        over = over || lks_str_is(state, bad[i]);
    f->cli->no = over;
    return over || lks_str_is(state, "done");
}

/* The text of the wave that was halted; empty where none was. */
static struct lks_str halted_text(const struct lks_doc *change)
{
    for (const struct lks_doc *w = waves_of(change); w != NULL; w = w->next) {
        if (lks_str_is(lks_doc_text(w, "state"), "halted"))
            return lks_doc_text(w, "text");
    }
    return LKS_STR("");
}

static void print_part(const struct follow *f, const char *word, struct lks_str text)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(TEXT_BYTES);
    lks_buf_addf(&line, "%s: %" LKS_STR_FMT, word, LKS_STR_ARG(text));
    print_line(f->cli, LKS_PLAIN, false, lks_buf_view(&line));
}

/* Why it ended so, whole, and what to look at. */
static void print_end(const struct follow *f, const struct lks_doc *change)
{
    struct lks_str end = lks_doc_text(change, "moved_reason"), halted = halted_text(change);
    if (f->json || !f->cli->no)
        return;
    bool told = halted.len > 0 && lks_str_find(end, halted) >= 0;
    if (halted.len > 0)
        print_part(f, "why", halted);
    if (end.len > 0 && !told)
        print_part(f, halted.len > 0 ? "end" : "why", end);
    fprintf(f->cli->out, "see: lockstep change show %s\n", f->id);
}

/* It may be starting anew: say so once, and try again. */
static void wait_for(struct follow *f, const struct lks_err *why)
{
    if (!f->away && !f->json)
        fprintf(f->cli->err, "%s; trying again\n", why->msg);
    if (!f->away)
        f->drawn = 0; /* that line stands in between */
    lks_buf_truncate(&f->last, 0);
    f->away = true;
    fflush(f->cli->err);
    rest(AWAY_MS);
}

static enum lks_code run(struct follow *f, const struct lks_args *args, struct lks_err *err)
{
    for (bool seen = false;; seen = true) {
        LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
        while (lks_ask_get(f->cli, args, "/v1/changes/{1}?plan=false", NULL, &q, err) != LKS_OK) {
            if (!seen || !lks_err_code_info(err->code)->transient)
                return err->code;
            lks_remote_question_fini(&q);
            wait_for(f, err);
        }
        *err = (struct lks_err){0};
        f->away = false;
        show(f, &q.answer);
        if (is_over(f, q.answer.doc)) {
            print_end(f, q.answer.doc);
            return LKS_OK;
        }
        if (ferror(f->cli->out))
            return LKS_OK; /* the reader is gone */
        rest(lks_render_number(q.answer.doc, "total") > MANY ? LOOK_MANY_MS : LOOK_MS);
    }
}

enum lks_code lks_change_follow(struct lks_cli *cli, const struct lks_args *args, const char *id,
                                struct lks_err *err)
{
    LKS_CLEANUP(follow_fini)
    struct follow f = {.cli = cli, .id = id, .json = lks_args_has(args, "--json")};
    lks_buf_init(&f.last, JSON_BYTES);
    lks_buf_init(&f.waits, JSON_BYTES);
    f.began = mono();
    f.said = calloc(WAVES_KEPT, sizeof(*f.said));
    if (f.said == NULL)
        return lks_fail(err, LKS_E_NOMEM, "out of memory");
    lks_interrupt_note("change %s goes on; to pause it: lockstep change pause %s --reason TEXT", id,
                       id);
    return run(&f, args, err);
}
