/* top: the fleet as it is, again and again. */
#include "cli/change/cmd_change.h"
#include "cli/shared/commands.h"
#include "cli/shared/listing.h"
#include "cli/shared/render.h"
#include "cli/top/bars.h"
#include "cli/top/screen.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <time.h>
#include <unistd.h>

enum {
    ROUNDS_MAX = 1000000,
    ALARMS_SHOWN = 5,
    INTERVAL_MAX_S = 3600,
    TEXT_MAX = 4096,
    BAR = 30,
    NAME = 12,   /* columns for a pool's name, beside its bar */
    NARROW = 40, /* below this it stands above */
};

static volatile sig_atomic_t stopped;

static void on_signal(int signal)
{
    (void)signal;
    stopped = 1;
}

/* Plain lines ------------------------------------------------------------------------------- */

static const struct lks_top_bar_part *const states = lks_top_bar_liveness;

/* A line in the making, that goes on below in an indent where the terminal ends. */
struct line {
    struct lks_cli *cli;
    size_t at, indent;
};

static void break_line(struct line *l)
{
    fprintf(l->cli->out, "\n%*s", (int)l->indent, "");
    l->at = l->indent;
}

static void put_word(struct line *l, enum lks_colour colour, struct lks_str word)
{
    struct lks_cli *cli = l->cli;
    size_t width = cli->term.width, columns = lks_term_columns(word);
    if (l->at > l->indent && width > 0 && l->at + 1 + columns > width)
        break_line(l);
    else if (l->at > l->indent)
        l->at += (size_t)fprintf(cli->out, " ");
    /* What is longer than a line is cut where the line ends. */
    while (width > l->indent && l->at + columns > width) {
        size_t fits = lks_term_fit(word, width - l->at);
        if (fits == 0)
            break;
        fprintf(cli->out, "%.*s", (int)fits, word.ptr);
        word = (struct lks_str){word.ptr + fits, word.len - fits};
        columns = lks_term_columns(word);
        break_line(l);
    }
    fprintf(cli->out, "%s%.*s%s", lks_term_on(&cli->term, colour), LKS_STR_ARG(word),
            lks_term_off(&cli->term, colour));
    l->at += columns;
}

/* Words of ours or of data, none of which can drive the terminal. */
static void put(struct line *l, enum lks_colour colour, const char *fmt, ...) LKS_PRINTF(3, 4);

static void put(struct line *l, enum lks_colour colour, const char *fmt, ...)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0}, clean = {0};
    va_list ap;
    lks_buf_init(&text, TEXT_MAX);
    lks_buf_init(&clean, TEXT_MAX);
    va_start(ap, fmt);
    lks_buf_addv(&text, fmt, ap);
    va_end(ap);
    lks_term_clean(&clean, lks_buf_view(&text));
    struct lks_str rest = lks_buf_view(&clean), word;
    while (lks_str_word(&rest, &word))
        put_word(l, colour, word);
}

static void end_line(struct line *l)
{
    fputc('\n', l->cli->out);
    l->at = 0;
}

/* "[#######!!xx......]": what part of the pool is in which state. */
static void print_bar(struct line *l, const struct lks_doc *pool)
{
    enum { ENDS = 2, LEAST = 4 };
    struct lks_cli *cli = l->cli;
    uint64_t marks[LKS_TOP_BAR_PARTS], room = BAR;
    if (cli->term.width > 0 && cli->term.width < l->at + ENDS + BAR)
        room = cli->term.width > l->at + ENDS + LEAST ? cli->term.width - l->at - ENDS : LEAST;
    lks_top_bar_share(states, pool, room, marks);
    fputc('[', cli->out);
    for (size_t i = 0; i < LKS_TOP_BAR_PARTS; i++) {
        if (marks[i] == 0)
            continue;
        fputs(lks_term_on(&cli->term, states[i].colour), cli->out);
        for (uint64_t m = 0; m < marks[i]; m++)
            fputc(states[i].mark, cli->out);
        fputs(lks_term_off(&cli->term, states[i].colour), cli->out);
    }
    fputc(']', cli->out);
    break_line(l);
}

/* "200 nodes, 150 live, 50 lost; automatic acts wait" */
static void print_counts(struct line *l, const struct lks_doc *pool)
{
    const char *last = lks_render_truth(pool, "acts_wait") ? ";" : "";
    uint64_t left = 0;
    for (size_t i = 0; i < LKS_TOP_BAR_PARTS; i++)
        left += lks_render_number(pool, states[i].path);
    put(l, LKS_PLAIN, "%" PRIu64 " nodes%s", lks_render_number(pool, "nodes"),
        left > 0 ? "," : last);
    for (size_t i = 0; i < LKS_TOP_BAR_PARTS; i++) {
        uint64_t count = lks_render_number(pool, states[i].path);
        left -= count;
        if (count > 0)
            put(l, states[i].colour, "%" PRIu64 " %s%s", count, states[i].word,
                left > 0 ? "," : last);
    }
    if (last[0] != '\0')
        put(l, LKS_RED, "automatic acts wait");
}

static void print_pool(struct lks_cli *cli, const struct lks_doc *pool)
{
    struct line l = {.cli = cli};
    size_t indent = cli->term.width == 0 || cli->term.width >= NARROW ? NAME + 1 : 2;
    struct lks_str name = lks_doc_text(pool, "name");
    put(&l, LKS_PLAIN, "%.*s", LKS_STR_ARG(name));
    l.indent = indent;
    if (l.at < indent)
        l.at += (size_t)fprintf(cli->out, "%*s", (int)(indent - l.at), "");
    else
        break_line(&l);
    print_bar(&l, pool);
    print_counts(&l, pool);
    end_line(&l);
}

static void print_alarms(struct lks_cli *cli, const struct lks_doc *alarms)
{
    const struct lks_doc *items = lks_doc_member(alarms, "items");
    size_t shown = 0;
    for (const struct lks_doc *a = items != NULL ? items->first : NULL; a != NULL; a = a->next) {
        struct line l = {.cli = cli};
        struct lks_str text = lks_doc_text(a, "text");
        if (shown++ >= ALARMS_SHOWN)
            continue;
        put(&l, LKS_RED, "alarm %" PRIu64, lks_render_number(a, "id"));
        l.indent = 2;
        put(&l, LKS_PLAIN, "%.*s", LKS_STR_ARG(text));
        end_line(&l);
    }
    if (shown > ALARMS_SHOWN)
        fprintf(cli->out, "and %zu more alarms: lockstep alarm ls\n", shown - ALARMS_SHOWN);
}

/* A line by a form; a form that gives nothing gives no line. */
static void print_item(struct lks_cli *cli, const struct lks_doc *item, const char *form,
                       enum lks_colour colour)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    struct line l = {.cli = cli};
    lks_render(&text, form, &(struct lks_render){.doc = item});
    if (text.len == 0)
        return;
    put(&l, colour, "%.*s", LKS_STR_ARG(lks_buf_view(&text)));
    end_line(&l);
}

static void print_items(struct lks_cli *cli, const struct lks_doc *list, const char *form,
                        enum lks_colour colour)
{
    for (const struct lks_doc *i = list != NULL ? list->first : NULL; i != NULL; i = i->next)
        print_item(cli, i, form, colour);
}

static void print_changes(struct lks_cli *cli, const struct lks_doc *changes)
{
    print_items(cli, lks_doc_member(changes, "items"),
                "change {id}[ to {name}]: {state}, " LKS_CHANGE_PROGRESS
                ", {passed#} of {waves#wave} passed",
                LKS_PLAIN);
}

static void print_freezes(struct lks_cli *cli, const struct lks_doc *freezes)
{
    print_item(cli, freezes, "[{frozen?}freeze of the fleet[ by {by}][: {reason}]]", LKS_YELLOW);
    print_items(cli, lks_doc_member(freezes, "pools"),
                "freeze of pool {pool}[ by {by}][: {reason}]", LKS_YELLOW);
    print_items(cli, lks_doc_member(freezes, "days"),
                "[{now?}freeze from {from} to {until}[ of {pools}][: {description}]]", LKS_YELLOW);
}

static void print_head(struct lks_cli *cli, const struct lks_doc *fleet)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    struct line l = {.cli = cli};
    lks_render(&text, "[fleet {name}|no fleet yet], journal row {seq#}[ of {clock}]",
               &(struct lks_render){.doc = fleet});
    put(&l, LKS_PLAIN, "%" LKS_STR_FMT, LKS_STR_ARG(lks_buf_view(&text)));
    end_line(&l);
}

/* A page of another server, such as a proxy's, is no answer, whatever its status. */
static enum lks_code get_object(struct lks_remote *remote, const char *path,
                                struct lks_remote_answer *out, struct lks_err *err)
{
    if (lks_remote_get(remote, path, out, err) != LKS_OK)
        return err->code;
    return lks_remote_object(out, err);
}

static enum lks_code draw(struct lks_cli *cli, struct lks_remote *remote, bool anew,
                          struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer fleet = {0};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer changes = {0};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer alarms = {0};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer freezes = {0};
    if (get_object(remote, "/v1/fleet", &fleet, err) != LKS_OK ||
        get_object(remote, "/v1/changes?open=true", &changes, err) != LKS_OK ||
        get_object(remote, "/v1/alarms?open=true", &alarms, err) != LKS_OK ||
        get_object(remote, "/v1/freeze", &freezes, err) != LKS_OK)
        return err->code;
    if (cli->term.tty) /* it may be wider now */
        lks_term_of(cli->out, &cli->term);
    if (cli->term.cursor && anew)
        fputs("\033[H\033[2J", cli->out);
    print_head(cli, fleet.doc);
    const struct lks_doc *pools = lks_doc_member(fleet.doc, "pools");
    for (const struct lks_doc *p = pools != NULL ? pools->first : NULL; p != NULL; p = p->next)
        print_pool(cli, p);
    print_changes(cli, changes.doc);
    print_alarms(cli, alarms.doc);
    print_freezes(cli, freezes.doc);
    fflush(cli->out);
    return LKS_OK;
}

static enum lks_code print_json(struct lks_cli *cli, const struct lks_args *args,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_fini) struct lks_remote remote = {0};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer fleet = {0};
    if (lks_remote_open(cli, args, &remote, err) != LKS_OK ||
        lks_remote_get(&remote, "/v1/fleet", &fleet, err) != LKS_OK)
        return err->code;
    return lks_listing_thing(cli, args, &fleet, err);
}

static enum lks_code print_rounds(struct lks_cli *cli, const struct lks_args *args, uint64_t rounds,
                                  uint64_t seconds, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_fini) struct lks_remote remote = {0};
    if (lks_remote_open(cli, args, &remote, err) != LKS_OK)
        return err->code;
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    for (uint64_t i = 0; i < rounds && !stopped; i++) {
        struct timespec pause = {.tv_sec = (time_t)seconds};
        if (i > 0 && nanosleep(&pause, NULL) != 0)
            break;
        if (draw(cli, &remote, rounds > 1, err) == LKS_OK) {
            if (ferror(cli->out))
                break; /* the reader is gone */
            continue;
        }
        if (!cli->term.tty || !lks_err_code_info(err->code)->transient)
            return err->code;
        fprintf(cli->out, "%s; trying again\n", err->msg); /* it may be starting anew */
    }
    return LKS_OK;
}

/* Whether a person sits at a terminal that can be drawn on, and did not ask for lines. */
static bool full_screen(const struct lks_cli *cli, const struct lks_args *args)
{
    return cli->term.tty && cli->term.cursor && isatty(STDIN_FILENO) &&
           !lks_args_has(args, "--plain") && !lks_args_has(args, "--rounds");
}

enum lks_code lks_cmd_top(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    uint64_t rounds, seconds;
    bool unfit = true;
    if (lks_listing_number(args, "--rounds", ROUNDS_MAX, cli->term.tty ? ROUNDS_MAX : 1, &rounds,
                           err) != LKS_OK ||
        lks_listing_number(args, "--interval", INTERVAL_MAX_S, 1, &seconds, err) != LKS_OK)
        return err->code;
    if (lks_args_has(args, "--json"))
        return print_json(cli, args, err);
    if (full_screen(cli, args) &&
        lks_top_screen_run(cli, args, seconds * LKS_SECOND, &unfit, err) != LKS_OK)
        return err->code;
    return unfit ? print_rounds(cli, args, rounds, seconds, err) : LKS_OK;
}
