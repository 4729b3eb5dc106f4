/* top: the fleet as it is, again and again. */
#include "cli/commands.h"
#include "cli/listing.h"
#include "cli/output.h"

#include <inttypes.h>
#include <signal.h>
#include <time.h>

enum { ROUNDS_MAX = 1000000, ALARMS_SHOWN = 5, BAR = 30, INTERVAL_MAX_S = 3600 };

static volatile sig_atomic_t stopped;

static void on_signal(int signal)
{
    (void)signal;
    stopped = 1;
}

/* Fetching ---------------------------------------------------------------------------------- */

static enum lks_code fetch(struct lks_remote *remote, const char *where,
                           struct lks_remote_answer *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    lks_remote_path_init(&path, where);
    return lks_remote_call(remote, "GET", &path, NULL, LKS_STR(""), out, err);
}

static uint64_t number(const struct lks_doc *map, const char *key)
{
    const struct lks_doc *value = lks_doc_member(map, key);
    return value != NULL && value->kind == LKS_DOC_NUMBER && value->number > 0
               ? (uint64_t)value->number
               : 0;
}

/* Drawing ----------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    char mark;
    enum lks_colour colour;
} states[] = {
    {"live", '#', LKS_GREEN},
    {"late", '!', LKS_YELLOW},
    {"lost", 'x', LKS_RED},
    {"unseen", '.', LKS_DIM},
};

/* "[#######!!xx......]": what part of the pool is in which state, at least one mark for any. */
static void print_bar(struct lks_cli *cli, const struct lks_doc *pool)
{
    const struct lks_doc *liveness = lks_doc_member(pool, "liveness");
    uint64_t nodes = number(pool, "nodes"), drawn = 0;
    fputc('[', cli->out);
    for (size_t i = LKS_COUNT(states); nodes > 0 && i-- > 1;) {
        uint64_t count = number(liveness, states[i].word);
        drawn += count > 0 ? (count * BAR + nodes - 1) / nodes : 0;
    }
    for (size_t i = 0; nodes > 0 && i < LKS_COUNT(states); i++) {
        uint64_t count = number(liveness, states[i].word);
        uint64_t marks = i > 0 ? (count * BAR + nodes - 1) / nodes : drawn < BAR ? BAR - drawn : 0;
        fputs(lks_term_on(&cli->term, states[i].colour), cli->out);
        for (uint64_t m = 0; m < marks; m++)
            fputc(states[i].mark, cli->out);
        fputs(lks_term_off(&cli->term, states[i].colour), cli->out);
    }
    fputs("]\n", cli->out);
}

static void print_pools(struct lks_cli *cli, const struct lks_doc *fleet)
{
    const struct lks_doc *pools = lks_doc_member(fleet, "pools");
    for (const struct lks_doc *p = pools != NULL ? pools->first : NULL; p != NULL; p = p->next) {
        const struct lks_doc *liveness = lks_doc_member(p, "liveness");
        const struct lks_doc *wait = lks_doc_member(p, "acts_wait");
        struct lks_str name = lks_doc_text(p, "name");
        fprintf(cli->out, "%-12.*s ", (int)name.len, name.ptr);
        print_bar(cli, p);
        fprintf(cli->out, "%-12s %" PRIu64 " nodes", "", number(p, "nodes"));
        for (size_t i = 0; i < LKS_COUNT(states); i++) {
            uint64_t count = number(liveness, states[i].word);
            if (count > 0)
                fprintf(cli->out, ", %s%" PRIu64 " %s%s", lks_term_on(&cli->term, states[i].colour),
                        count, states[i].word, lks_term_off(&cli->term, states[i].colour));
        }
        if (wait != NULL && wait->truth)
            fprintf(cli->out, "; %sautomatic acts wait%s", lks_term_on(&cli->term, LKS_RED),
                    lks_term_off(&cli->term, LKS_RED));
        fputc('\n', cli->out);
    }
}

static void print_alarms(struct lks_cli *cli, const struct lks_doc *alarms)
{
    const struct lks_doc *items = lks_doc_member(alarms, "items");
    size_t shown = 0;
    for (const struct lks_doc *a = items != NULL ? items->first : NULL; a != NULL; a = a->next) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
        lks_buf_init(&text, LKS_OUTPUT_CELL_MAX);
        lks_term_clean(&text, lks_doc_text(a, "text"));
        if (shown++ < ALARMS_SHOWN)
            fprintf(cli->out, "%salarm %" PRIu64 "%s %s\n", lks_term_on(&cli->term, LKS_RED),
                    number(a, "id"), lks_term_off(&cli->term, LKS_RED),
                    text.ptr != NULL ? text.ptr : "");
    }
    if (shown > ALARMS_SHOWN)
        fprintf(cli->out, "and %zu more alarms\n", shown - ALARMS_SHOWN);
}

static enum lks_code draw(struct lks_cli *cli, struct lks_remote *remote, bool anew,
                          struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer fleet = {0};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer alarms = {0};
    if (fetch(remote, "/v1/fleet", &fleet, err) != LKS_OK ||
        fetch(remote, "/v1/alarms?open=true", &alarms, err) != LKS_OK)
        return err->code;
    struct lks_str name = lks_doc_text(fleet.doc, "name"), clock = lks_doc_text(fleet.doc, "clock");
    if (cli->term.tty && anew)
        fputs("\033[H\033[2J", cli->out);
    fprintf(cli->out, "fleet %.*s, journal row %" PRIu64 " of %.*s\n", LKS_STR_ARG(name),
            number(fleet.doc, "seq"), LKS_STR_ARG(clock));
    print_pools(cli, fleet.doc);
    print_alarms(cli, alarms.doc);
    fflush(cli->out);
    return LKS_OK;
}

enum lks_code lks_cmd_top(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_fini) struct lks_remote remote = {0};
    uint64_t rounds, seconds;
    if (lks_listing_number(args, "--rounds", ROUNDS_MAX, cli->term.tty ? ROUNDS_MAX : 1, &rounds,
                           err) != LKS_OK ||
        lks_listing_number(args, "--interval", INTERVAL_MAX_S, 1, &seconds, err) != LKS_OK ||
        lks_remote_open(cli, args, &remote, err) != LKS_OK)
        return err->code;
    if (lks_args_has(args, "--json")) {
        LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer fleet = {0};
        if (fetch(&remote, "/v1/fleet", &fleet, err) != LKS_OK)
            return err->code;
        return lks_listing_thing(cli, args, &fleet, err);
    }
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    for (uint64_t i = 0; i < rounds && !stopped; i++) {
        struct timespec pause = {.tv_sec = (time_t)seconds};
        if (i > 0 && nanosleep(&pause, NULL) != 0)
            break;
        if (draw(cli, &remote, rounds > 1, err) == LKS_OK) {
            if (ferror(cli->out))
                break; /* nobody reads any more */
            continue;
        }
        if (!cli->term.tty || !lks_code_info(err->code)->transient)
            return err->code;
        fprintf(cli->out, "%s; trying again\n", err->msg); /* it may be starting anew */
    }
    return LKS_OK;
}
