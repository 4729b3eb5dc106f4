/* change show, and how a plan is shown to people. */
#include "cli/change/cmd_change.h"

#include "cli/shared/ask.h"
#include "cli/shared/commands.h"
#include "cli/shared/output.h"
#include "cli/shared/render.h"
#include "model/record/record_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    TABLE_BYTES = 64 << 20,
    FORM_MAX = 128,
    WAVES_MAX = 4096,
    PEOPLE_SHOWN = 20,
    NARROW = 90, /* below this many columns waves show how they stand alone */
};

/* Plans ------------------------------------------------------------------------------------- */

static const struct lks_listing_column note_columns[] = {
    {"note", "kind", 0, "[{.=one-way}yellow|{.=warning}yellow|{.=uncovered}yellow]"},
    LKS_PLAIN_WRAP("to know before it is approved", "text"),
};

/* The heading of notes is for approvers; a change that is approved or finished has none to inform.
 */
static enum lks_code print_notes(struct lks_cli *cli, const struct lks_doc *change,
                                 struct lks_err *err)
{
    struct lks_listing_column columns[LKS_COUNT(note_columns)];
    struct lks_str state = lks_doc_text(change, "state");
    const struct lks_listing_part notes = {"notes", LKS_PART_COLUMNS(columns), NULL, true};
    memcpy(columns, note_columns, sizeof(columns));
    if (state.len > 0 && !lks_str_is(state, "proposed"))
        columns[1].header = "text";
    return lks_listing_part(cli, &notes, change, err);
}

#define WAVE                                                                                       \
    LKS_PLAIN_RIGHT("wave", "{wave#}"), LKS_PLAIN_LEFT("kind", "kind"),                            \
        LKS_PLAIN_WRAP("pool", "pool")
#define WAVE_STANDS                                                                                \
    {"state",                                                                                      \
     "[{state=passed}{members.reverted?}reverted (had passed)|" LKS_CHANGE_WAVE_STATE "]", 0,      \
     "[{.=passed}green|{.=halted}red|{.=held}yellow]"},                                            \
        LKS_PLAIN_WRAP("progress", LKS_CHANGE_PROGRESS)

static const struct lks_listing_column wave_columns[] = {
    WAVE,
    LKS_PLAIN_RIGHT("units", "{units#}"),
    LKS_PLAIN_RIGHT("nodes", "{nodes#}"),
    LKS_PLAIN_RIGHT("width", "{width#}"),
    LKS_PLAIN_LEFT("soak", "[{soak_ms~}|{kind!canary}after ring]"),
    WAVE_STANDS,
};
static const struct lks_listing_column narrow_columns[] = {WAVE, WAVE_STANDS};

static const struct lks_listing_column width_columns[] = {
    LKS_PLAIN_RIGHT("wave", "{wave#}"),
    LKS_PLAIN_RIGHT("width", "{width#}"),
    LKS_PLAIN_WRAP("limited by", "width_text"),
};
static const struct lks_listing_part widths = {"waves", LKS_PART_COLUMNS(width_columns),
                                               "\nwidths:\n", true};

/* The columns that a narrow terminal has no room for. */
static void note_left_out(struct lks_cli *cli)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(FORM_MAX);
    for (size_t i = 0; i < LKS_COUNT(wave_columns); i++) {
        bool shown = false;
        for (size_t k = 0; k < LKS_COUNT(narrow_columns); k++)
            shown = shown || strcmp(wave_columns[i].header, narrow_columns[k].header) == 0;
        if (!shown)
            lks_buf_addf(&line, "%s%s",
                         line.len > 0 ? ", " : "not shown: ", wave_columns[i].header);
    }
    lks_buf_addf(&line, " (--output wide)");
    fprintf(cli->out, "%s%s%s\n", lks_term_on(&cli->term, LKS_DIM), line.ptr,
            lks_term_off(&cli->term, LKS_DIM));
}

static enum lks_code print_waves(struct lks_cli *cli, const struct lks_doc *change,
                                 struct lks_err *err)
{
    const struct lks_doc *waves = lks_doc_member(change, "waves");
    bool stands = waves != NULL && waves->first != NULL && lks_render_truth(waves->first, "state");
    bool narrow = stands && !cli->wide && cli->term.width > 0 && cli->term.width < NARROW;
    struct lks_listing_part part = {"waves", LKS_PART_COLUMNS(wave_columns), NULL, true};
    if (narrow)
        part = (struct lks_listing_part){"waves", LKS_PART_COLUMNS(narrow_columns), NULL, true};
    if (!stands) /* a plan alone: the last two are of what became of it */
        part.column_count -= 2;
    if (lks_listing_part(cli, &part, change, err) != LKS_OK)
        return err->code;
    if (narrow)
        note_left_out(cli);
    /* Plans of earlier versions do not have it. */
    bool known =
        waves != NULL && waves->first != NULL && lks_render_truth(waves->first, "width_text");
    return known ? lks_listing_part(cli, &widths, change, err) : LKS_OK;
}

/* A gate that passed without data shows "no data", not "pass". */
#define VERDICT                                                                                    \
    "[{waived?}waived|{verdict!pass}{verdict}|{events:}{changed?}{verdict}|{events:}no data|"      \
    "{estimate?}{verdict}|no data]"

static const struct lks_listing_column gate_columns[] = {
    LKS_PLAIN_RIGHT("wave", "{^wave}"),
    LKS_PLAIN_LEFT("metric", "metric"),
    LKS_PLAIN_RIGHT("changed", "{changed#}/{expected#}"),
    LKS_PLAIN_RIGHT("controls", "{controls#}"),
    /* "-0.42 % (-1.1 to +0.3)", or how many had an event. */
    LKS_PLAIN_WRAP("found", "[{events} with, {control_events#} controls]"
                            "[{estimate} % ([{worst}] to [{best}|?])]"),
    LKS_PLAIN_RIGHT("margin %", "margin"),
    {"verdict", VERDICT, 0, "[{.=pass}green|{.=halt}red|{.=hold}yellow]"},
    LKS_PLAIN_RIGHT("looks", "{looks#}"),
};
static const struct lks_listing_part gates = {"waves.gate", LKS_PART_COLUMNS(gate_columns),
                                              "\ngate:\n", true};

/* What gates will ask, of a plan that is proposed. */
static const struct lks_listing_column asks_columns[] = {
    LKS_PLAIN_LEFT("gate", "gate"),
    LKS_PLAIN_LEFT("waves", "[{from}[{from<to}-{to}]|before]"),
    LKS_PLAIN_WRAP("passes when", "[{metric} ({source}[{critical?}, critical]): ]{limit}"),
    {"would wait now", "waits", LKS_COLUMN_WRAP, "yellow"},
};
static const struct lks_listing_part asks = {"gates", LKS_PART_COLUMNS(asks_columns), "\ngates:\n",
                                             true};

/* What a step leads to, and what reverts it. */
static const struct lks_listing_column step_columns[] = {
    LKS_PLAIN_RIGHT("step", "{@}"),
    LKS_PLAIN_LEFT("what", "[{kind=leave}drain|{kind=return}return to service|{kind}]"),
    LKS_PLAIN_WRAP("of", "component"),
    LKS_PLAIN_WRAP("change", "[{version}[ (was {before})][{executor?} ]][by {executor}]"),
    {"rollback",
     "[{missing?}no bundle has {missing}|{one_way?}irreversible|{revert?}[{before} ]by "
     "{revert}|"
     "{order_back?}by [{executor}]]",
     LKS_COLUMN_WRAP, "[{one_way?}yellow]"},
};
static const struct lks_listing_part steps = {"steps", LKS_PART_COLUMNS(step_columns),
                                              "\nsteps of {members#node} or asset[{members!1}s]:\n",
                                              true};

/* Jobs on the nodes of a plan, and what their drain costs now. */
static const struct lks_listing_column job_columns[] = {
    LKS_PLAIN_RIGHT("wave", "{wave#}"),
    LKS_PLAIN_WRAP("pool", "pool"),
    LKS_PLAIN_RIGHT("nodes", "{nodes#}"),
    LKS_PLAIN_RIGHT("busy", "{busy#}"),
    LKS_PLAIN_RIGHT("jobs", "{jobs#}"),
    LKS_PLAIN_RIGHT("may be requeued", "{requeue#}"),
    LKS_PLAIN_LEFT("last end", "[{ends}|-][{unknown_ends?} ({unknown_ends#} unknown)]"),
    LKS_PLAIN_RIGHT("GPU-hours lost by requeue", "{lost_gpu_hours#}"),
    LKS_PLAIN_RIGHT("idle by waiting",
                    "{idle_gpu_hours#}[{unknown_idle?} and {unknown_idle#} nodes unknown]"),
};
static const struct lks_listing_part job_rows = {
    "rows", LKS_PART_COLUMNS(job_columns), "\njobs on these nodes, as listed at {listed}:\n", true};

static const struct lks_listing_column top_columns[] = {
    LKS_PLAIN_LEFT("job", "job"),
    LKS_PLAIN_LEFT("user", "user"),
    LKS_PLAIN_LEFT("account", "account"),
    LKS_PLAIN_RIGHT("nodes", "{nodes#} of {of#}"),
    LKS_PLAIN_LEFT("ends", "[{ends}|unknown]"),
    LKS_PLAIN_LEFT("may be requeued", "[{requeue?}yes|no]"),
};
static const struct lks_listing_part top_jobs = {"top", LKS_PART_COLUMNS(top_columns),
                                                 "\njobs with the most of these nodes:\n", true};

static enum lks_code print_jobs(struct lks_cli *cli, const struct lks_doc *change,
                                struct lks_err *err)
{
    const struct lks_doc *jobs = lks_doc_member(change, "jobs");
    if (jobs == NULL)
        return LKS_OK;
    if (lks_render_truth(jobs, "missing"))
        fprintf(cli->out, "\njobs: %" LKS_STR_FMT "\n", LKS_STR_ARG(lks_doc_text(jobs, "missing")));
    if (!lks_render_truth(jobs, "listed"))
        return LKS_OK;
    if (lks_listing_part(cli, &job_rows, jobs, err) != LKS_OK)
        return err->code;
    return lks_listing_part(cli, &top_jobs, jobs, err);
}

enum lks_code lks_change_print_plan(struct lks_cli *cli, const struct lks_doc *change,
                                    struct lks_err *err)
{
    const struct lks_doc *recipes = lks_doc_member(change, "recipes");
    if (print_notes(cli, change, err) != LKS_OK)
        return err->code;
    if (lks_render_truth(change, "notes"))
        fputc('\n', cli->out);
    if (print_waves(cli, change, err) != LKS_OK ||
        lks_listing_part(cli, &asks, change, err) != LKS_OK ||
        lks_listing_part(cli, &gates, change, err) != LKS_OK)
        return err->code;
    for (const struct lks_doc *r = recipes != NULL ? recipes->first : NULL; r != NULL;
         r = r->next) {
        if (lks_listing_part(cli, &steps, r, err) != LKS_OK)
            return err->code;
    }
    return print_jobs(cli, change, err);
}

/* One change -------------------------------------------------------------------------------- */

/* "WHO, WHEN: WHY", as far as it is known. */
#define WHO(by, when, why) "[{" by "}|-], [{" when "}][: {" why "}]"

#define MISSING "{approvals.given<approvals.needed}"

static const struct lks_listing_fact head[] = {
    {"change", "{id#}", NULL},
    {"state", "{state}[: {moved_reason}][{frozen?} (frozen: no further node is changed)]", NULL},
    {"cannot start", "{cannot_start}", NULL},
    {"to", "{name} {stack}", NULL},
    {"withdraw",
     "[{state=rolled back}{kind=stack}the stack keeps its stage in the registry: once no pool is "
     "pinned to it, 'lockstep stack retire {name} --evidence TEXT' withdraws it]",
     NULL},
    {"for", LKS_ASK_CHANGE_SIZE, NULL},
    /* When it is given up, and when its nodes may begin. */
    {"halts",
     "[{failures_max?}when more than {failures_max#node} fail[{failures_max=1}s], in lab and "
     "canary when one does|when a node fails][{rolls_back?}, and rolls back at once]",
     NULL},
    {"windows", "{windows}", NULL},
    {"not before", "{not_before}", NULL},
    {"not after", "{not_after}", NULL},
    /* Its class, and how many of those that have to stand behind it do. */
    {"class", "[{class}[, closes {advisory}]]", NULL},
    {"approvals",
     "[{class?}{approvals.given#} of {approvals.needed#}[" MISSING " for pool {approvals.pool}]]"
     "[" MISSING "{state=proposed}, until {expires}][; {unreachable.text}]",
     NULL},
    {"proposed by", WHO("by", "proposed", "reason"), NULL},
    {"started", "{started}[ by {started_by}]", NULL},
    {"took",
     "[{state=done}{started~moved}|{state=halted}{started~moved}|{state=rolled "
     "back}{started~moved}|"
     "{state=aborted}{started~moved}]",
     NULL},
    {"stands by", "{standby}", NULL},
    /* It began without them. */
    {"glass broken",
     "[{break_glass?}" WHO("break_glass.by", "break_glass.at", "break_glass.reason") "]", NULL},
    {"reviewed by",
     "[{break_glass.reviewed?}" WHO("break_glass.reviewed_by", "break_glass.reviewed",
                                    "break_glass.reviewed_reason") "|"
                                                                   "{break_glass?}not yet; until "
                                                                   "[{break_glass.review_until}]]",
     NULL},
    {"[{yes?}approved by|rejected by]",
     WHO("by", "at", "reason") "[ (ticket {ticket}, as [{who}])]", "votes"},
};

const char *lks_change_rough_text(lks_ms ms, char out[LKS_SPAN_TEXT_SIZE])
{
    enum { UNITS_MIN = 2, PER_MINUTE = 60 };
    double seconds = (double)ms / LKS_SECOND, minutes = seconds / PER_MINUTE;
    if (minutes < UNITS_MIN)
        (void)snprintf(out, LKS_SPAN_TEXT_SIZE, "%.0f s", seconds);
    else if (minutes < UNITS_MIN * PER_MINUTE)
        (void)snprintf(out, LKS_SPAN_TEXT_SIZE, "%.0f min", minutes);
    else
        (void)snprintf(out, LKS_SPAN_TEXT_SIZE, "%.1f h", minutes / PER_MINUTE);
    return out;
}

/* What a rehearsal came to, beside what came. */
static enum lks_code print_forecast(struct lks_cli *cli, const struct lks_doc *change,
                                    struct lks_err *err)
{
    static const struct {
        const char *what, *low, *middle, *high, *actual;
        bool span;
    } rows[] = {
        {"time", "took_low_ms", "took_middle_ms", "took_high_ms", "actual_ms", true},
        {"GPU-hours", "gpu_hours_low", "gpu_hours_middle", "gpu_hours_high", "actual_gpu_hours",
         false},
        {"nodes left to a person", NULL, NULL, "kept_high", "actual_kept", false},
    };
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    const struct lks_doc *f = lks_doc_member(change, "forecast");
    char text[LKS_SPAN_TEXT_SIZE];
    if (f == NULL)
        return LKS_OK;
    lks_table_init(&t, TABLE_BYTES);
    lks_table_column(&t, "rehearsed", LKS_COLUMN_WRAP);
    lks_table_column(&t, "1 in 20", LKS_COLUMN_RIGHT);
    lks_table_column(&t, "half", LKS_COLUMN_RIGHT);
    lks_table_column(&t, "19 in 20", LKS_COLUMN_RIGHT);
    lks_table_column(&t, "came", LKS_COLUMN_RIGHT);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        const char *const keys[] = {rows[i].low, rows[i].middle, rows[i].high, rows[i].actual};
        lks_table_cell(&t, LKS_PLAIN, lks_str_from(rows[i].what));
        for (size_t k = 0; k < LKS_COUNT(keys); k++) {
            bool there = keys[k] != NULL && lks_doc_member(f, keys[k]) != NULL;
            uint64_t value = there ? lks_render_number(f, keys[k]) : 0;
            (void)snprintf(text, sizeof(text), "%" PRIu64, value);
            if (rows[i].span)
                (void)lks_change_rough_text(value, text);
            lks_table_cell(&t, LKS_PLAIN, there ? lks_str_from(text) : LKS_STR("-"));
        }
    }
    fputc('\n', cli->out);
    return lks_output_table(cli, &t, err);
}

static const struct lks_listing_column wait_columns[] = {
    LKS_RIGHT("wave", "wave"), LKS_LEFT("node", "node"),   LKS_LEFT("doing", "doing"),
    LKS_WRAP("why", "why"),    LKS_LEFT("until", "until"),
};

/* Nodes that its waves wait for, with what for and until when. */
static const struct lks_listing_part waits = {"waits", LKS_PART_COLUMNS(wait_columns),
                                              "\nwaits for:\n", false};

static const struct lks_listing_column reserved_columns[] = {
    LKS_LEFT("site", "[{site}|-]"), LKS_LEFT("pool", "pool"),   LKS_WRAP("nodes", "nodes"),
    LKS_LEFT("from", "from"),       LKS_LEFT("until", "until"),
};
static const struct lks_listing_part reserved = {"reserved", LKS_PART_COLUMNS(reserved_columns),
                                                 "\nreserved by schedulers:\n", false};

static const struct lks_listing_column unlisted_columns[] = {
    LKS_LEFT("site", "[{site}|-]"),
    LKS_LEFT("scheduler", "scheduler"),
    LKS_LEFT("since", "since"),
    LKS_WRAP("why", "text"),
};
static const struct lks_listing_part unlisted = {
    "unlisted", LKS_PART_COLUMNS(unlisted_columns),
    "\nno list of jobs comes, so none is signalled or requeued:\n", false};

static const struct lks_listing_column act_columns[] = {
    LKS_LEFT("job", "job"),
    LKS_LEFT("user", "user"),
    LKS_LEFT("node", "node"),
    LKS_LEFT("act", "act"),
    {"state", "state", 0, "[{.=refused}yellow]"},
    LKS_LEFT("at", "at"),
    LKS_WRAP("why", "text"),
};
static const struct lks_listing_part acts = {"job_acts", LKS_PART_COLUMNS(act_columns),
                                             "\n{jobs_touched#job} signalled or requeued:\n",
                                             false};

static const struct lks_listing_column waiting_columns[] = {
    LKS_LEFT("node", "node"),
    LKS_LEFT("state", "state"),
    LKS_WRAP("why", "text"),
};
static const struct lks_listing_part waiting = {"items", LKS_PART_COLUMNS(waiting_columns), NULL,
                                                false};

/* Nodes in a state that a person has to inspect. */
static enum lks_code print_waiting(struct lks_cli *cli, const struct lks_args *args,
                                   const struct lks_doc *change, struct lks_err *err)
{
    static const struct {
        const char *member, *word, *escaped;
    } rows[] = {{"members.needs_hands", "needs hands", "needs%20hands"},
                {"members.unknown", "unknown", "unknown"},
                {"members.fenced", "fenced", "fenced"}};
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
        uint64_t count = lks_render_number(change, rows[i].member);
        char path[FORM_MAX];
        if (count == 0)
            continue;
        snprintf(path, sizeof(path), "/v1/changes/{1}/members?state=%s&limit=%d", rows[i].escaped,
                 PEOPLE_SHOWN);
        if (lks_ask_get(cli, args, path, NULL, &q, err) != LKS_OK)
            return err->code;
        fprintf(cli->out, "\n%" PRIu64 " %s:\n", count, rows[i].word);
        if (lks_listing_part(cli, &waiting, q.answer.doc, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

static const struct lks_listing_column member_columns[] = {
    LKS_LEFT("node", "node"),      LKS_RIGHT("wave", "wave"),      LKS_LEFT("state", "state"),
    LKS_RIGHT("step", "step"),     LKS_RIGHT("of", "steps"),       LKS_LEFT("doing", "doing"),
    LKS_WRAP("what", "component"), LKS_LEFT("failure", "failure"), LKS_WRAP("why", "text"),
};

/* The journal's name for what was asked for; empty: all. Elsewhere --nodes is a host list, so a
 * host list here is an error. */
static enum lks_code state_of(const struct lks_args *args, struct lks_str *out, struct lks_err *err)
{
    struct lks_str asked = lks_args_str(args, "--nodes");
    *out = LKS_STR("");
    if (lks_str_is(asked, "all"))
        return LKS_OK;
    for (size_t i = 0; lks_member_state_words[i] != NULL; i++) {
        struct lks_str word = lks_str_from(lks_member_state_words[i]);
        bool same = word.len == asked.len;
        for (size_t at = 0; same && at < word.len; at++)
            same = asked.ptr[at] == word.ptr[at] || (asked.ptr[at] == '-' && word.ptr[at] == ' ');
        if (!same)
            continue;
        *out = word;
        return LKS_OK;
    }
    return lks_fail(err, LKS_E_USAGE,
                    "--nodes: '%s' is no state of nodes in a change: pending, waiting, asked, "
                    "reading, done, reverted, fenced, needs-hands, unknown, skipped, or all; of "
                    "one node 'lockstep node history' has every step",
                    lks_args_get(args, "--nodes"));
}

static enum lks_code print_members(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_err *err)
{
    static const struct lks_listing members = {LKS_COLUMNS(member_columns),
                                               .empty = "no such nodes"};
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    struct lks_str state;
    uint64_t wave = 0;
    if (state_of(args, &state, err) != LKS_OK)
        return err->code;
    if (lks_args_has(args, "--wave") &&
        !lks_str_number(lks_args_str(args, "--wave"), WAVES_MAX, &wave))
        return lks_fail(err, LKS_E_USAGE, "--wave: '%s' is not the number of a wave",
                        lks_args_get(args, "--wave"));
    lks_remote_path_init(&path, "/v1/changes");
    lks_remote_path_add(&path, lks_str_from(args->positional[0]));
    lks_remote_path_add(&path, LKS_STR("members"));
    if (state.len > 0)
        lks_remote_path_query(&path, "state", state);
    if (lks_args_has(args, "--wave"))
        lks_remote_path_query(&path, "wave", lks_args_str(args, "--wave"));
    return lks_listing_print_at(cli, args, &members, &path, err);
}

static bool is_followed(const struct lks_args *args)
{
    return lks_args_has(args, "--follow") || lks_args_has(args, "--watch");
}

static enum lks_code check_options(const struct lks_args *args, struct lks_err *err)
{
    if (lks_args_has(args, "--nodes") && is_followed(args))
        return lks_fail(err, LKS_E_USAGE, "--nodes does not go with --follow");
    if (lks_args_has(args, "--wave") && !lks_args_has(args, "--nodes"))
        return lks_fail(err, LKS_E_USAGE, "--wave goes with --nodes");
    return LKS_OK;
}

enum lks_code lks_cmd_change_show(struct lks_cli *cli, const struct lks_args *args,
                                  struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    if (check_options(args, err) != LKS_OK)
        return err->code;
    if (lks_args_has(args, "--nodes"))
        return print_members(cli, args, err);
    if (is_followed(args))
        return lks_change_follow(cli, args, args->positional[0], err);
    if (lks_ask_get(cli, args, "/v1/changes/{1}", NULL, &q, err) != LKS_OK)
        return err->code;
    if (lks_args_has(args, "--json"))
        return lks_listing_thing(cli, args, &q.answer, err);
    if (lks_listing_facts(cli, head, LKS_COUNT(head), q.answer.doc, err) != LKS_OK ||
        print_forecast(cli, q.answer.doc, err) != LKS_OK)
        return err->code;
    fputc('\n', cli->out);
    if (lks_change_print_plan(cli, q.answer.doc, err) != LKS_OK ||
        lks_listing_part(cli, &waits, q.answer.doc, err) != LKS_OK ||
        lks_listing_part(cli, &reserved, q.answer.doc, err) != LKS_OK ||
        lks_listing_part(cli, &unlisted, q.answer.doc, err) != LKS_OK ||
        lks_listing_part(cli, &acts, q.answer.doc, err) != LKS_OK)
        return err->code;
    return print_waiting(cli, args, q.answer.doc, err);
}
