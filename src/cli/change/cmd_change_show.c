/* change show, and how a plan is shown to people. */
#include "cli/change/cmd_change.h"

#include "cli/shared/commands.h"
#include "cli/shared/output.h"
#include "model/record/record_words.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    TABLE_BYTES = 64 << 20,
    TEXT_BYTES = 8192,
    WAVES_MAX = 4096,
    PEOPLE_SHOWN = 20,
    NARROW = 90, /* below this many columns waves show how they stand alone */
};

/* Words ------------------------------------------------------------------------------------- */

uint64_t lks_change_number(const struct lks_doc *map, const char *key)
{
    const struct lks_doc *value = lks_doc_member(map, key);
    return value != NULL && value->kind == LKS_DOC_NUMBER && value->number > 0
               ? (uint64_t)value->number
               : 0;
}

static bool truth(const struct lks_doc *map, const char *key)
{
    const struct lks_doc *value = lks_doc_member(map, key);
    return value != NULL && value->kind == LKS_DOC_BOOL && value->truth;
}

const char *lks_change_size_text(const struct lks_doc *change, char out[LKS_CHANGE_SIZE_TEXT])
{
    uint64_t nodes = lks_change_number(change, "nodes"), gpus = lks_change_number(change, "gpus");
    uint64_t assets = lks_change_number(change, "assets");
    char one[LKS_COUNT_TEXT_SIZE], other[LKS_COUNT_TEXT_SIZE];
    int len = snprintf(out, LKS_CHANGE_SIZE_TEXT, "%s, %s", lks_str_count_text(nodes, "node", one),
                       lks_str_count_text(gpus, "GPU", other));
    if (assets > 0 && len > 0 && len < LKS_CHANGE_SIZE_TEXT)
        snprintf(out + len, LKS_CHANGE_SIZE_TEXT - (size_t)len, ", %s",
                 lks_str_count_text(assets, "asset", one));
    return out;
}

const char *lks_change_span_text(uint64_t ms, char out[LKS_CHANGE_SPAN_TEXT])
{
    return ms > 0 ? lks_time_span_text(ms, out) : "-";
}

/* Plans ------------------------------------------------------------------------------------- */

static const struct lks_doc *items(const struct lks_doc *map, const char *key)
{
    const struct lks_doc *list = lks_doc_member(map, key);
    return list != NULL ? list->first : NULL;
}

static enum lks_code print_notes(struct lks_cli *cli, const struct lks_doc *change,
                                 struct lks_err *err)
{
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    lks_table_init(&t, TABLE_BYTES);
    lks_table_column(&t, "note", 0);
    lks_table_column(&t, "to know before it is approved", LKS_COLUMN_WRAP);
    for (const struct lks_doc *n = items(change, "notes"); n != NULL; n = n->next) {
        struct lks_str kind = lks_doc_text(n, "kind");
        bool loud = lks_str_is(kind, "one-way") || lks_str_is(kind, "warning") ||
                    lks_str_is(kind, "uncovered");
        lks_table_cell(&t, loud ? LKS_YELLOW : LKS_PLAIN, kind);
        lks_output_cell(&t, LKS_PLAIN, lks_doc_text(n, "text"));
    }
    return lks_output_table(cli, &t, err);
}

/* `12/20 done, 3 in progress, 1 failed: why`. */
void lks_change_put_progress(const struct lks_doc *wave, struct lks_buf *out)
{
    static const struct {
        const char *word;
        const char *keys[4];
    } parts[] = {
        {"in progress", {"waiting", "asked", "reading", NULL}},
        {"reverted", {"reverted", NULL}},
        {"fenced", {"fenced", NULL}},
        {"needing hands", {"needs_hands", NULL}},
        {"unknown", {"unknown", NULL}},
        {"skipped", {"skipped", NULL}},
    };
    const struct lks_doc *members = lks_doc_member(wave, "members");
    struct lks_str text = lks_doc_text(wave, "text");
    uint64_t total = 0;
    for (const struct lks_doc *m = members != NULL ? members->first : NULL; m != NULL; m = m->next)
        total += m->kind == LKS_DOC_NUMBER ? (uint64_t)m->number : 0;
    lks_buf_addf(out, "%" PRIu64 "/%" PRIu64 " done", lks_change_number(members, "done"), total);
    for (size_t i = 0; i < LKS_COUNT(parts); i++) {
        uint64_t count = 0;
        for (size_t k = 0; parts[i].keys[k] != NULL; k++)
            count += lks_change_number(members, parts[i].keys[k]);
        if (count > 0)
            lks_buf_addf(out, ", %" PRIu64 " %s", count, parts[i].word);
    }
    if (text.len > 0 && !lks_str_is(lks_doc_text(wave, "state"), "passed"))
        lks_buf_addf(out, ": %" LKS_STR_FMT, LKS_STR_ARG(text));
}

static enum lks_colour wave_colour(struct lks_str state)
{
    return lks_str_is(state, "passed")   ? LKS_GREEN
           : lks_str_is(state, "halted") ? LKS_RED
           : lks_str_is(state, "held")   ? LKS_YELLOW
                                         : LKS_PLAIN;
}

/* What of a wave there is room for: how it was planned, how it stands. */
enum { WAVE_PLAN = 1, WAVE_STANDS = 2 };

static void add_wave(struct lks_table *t, const struct lks_doc *wave, unsigned what)
{
    static const char *const numbers[] = {"units", "nodes", "width"};
    char soak[LKS_CHANGE_SPAN_TEXT];
    lks_table_cellf(t, LKS_PLAIN, "%" PRIu64, lks_change_number(wave, "wave"));
    lks_table_cell(t, LKS_PLAIN, lks_doc_text(wave, "kind"));
    lks_output_cell(t, LKS_PLAIN, lks_doc_text(wave, "pool"));
    for (size_t i = 0; (what & WAVE_PLAN) != 0 && i < LKS_COUNT(numbers); i++)
        lks_table_cellf(t, LKS_PLAIN, "%" PRIu64, lks_change_number(wave, numbers[i]));
    if ((what & WAVE_PLAN) != 0)
        lks_table_cell(
            t, LKS_PLAIN,
            lks_str_from(lks_change_span_text(lks_change_number(wave, "soak_ms"), soak)));
    if ((what & WAVE_STANDS) == 0)
        return;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_BYTES);
    struct lks_str state = lks_doc_text(wave, "state");
    lks_change_put_progress(wave, &text);
    lks_table_cell(t, wave_colour(state), state);
    lks_output_cell(t, LKS_PLAIN, lks_buf_view(&text));
}

static enum lks_code print_waves(struct lks_cli *cli, const struct lks_doc *change,
                                 struct lks_err *err)
{
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    const struct lks_doc *first = items(change, "waves");
    bool stands = first != NULL && lks_doc_text(first, "state").len > 0;
    bool narrow = stands && cli->term.width > 0 && cli->term.width < NARROW;
    unsigned what = (stands ? WAVE_STANDS : 0) | (narrow ? 0 : WAVE_PLAN);
    lks_table_init(&t, TABLE_BYTES);
    lks_table_column(&t, "wave", LKS_COLUMN_RIGHT);
    lks_table_column(&t, "kind", 0);
    lks_table_column(&t, "pool", LKS_COLUMN_WRAP);
    if (!narrow) {
        lks_table_column(&t, "units", LKS_COLUMN_RIGHT);
        lks_table_column(&t, "nodes", LKS_COLUMN_RIGHT);
        lks_table_column(&t, "width", LKS_COLUMN_RIGHT);
        lks_table_column(&t, "soak", 0);
    }
    if (stands) {
        lks_table_column(&t, "state", 0);
        lks_table_column(&t, "progress", LKS_COLUMN_WRAP);
    }
    for (const struct lks_doc *w = first; w != NULL; w = w->next)
        add_wave(&t, w, what);
    return lks_output_table(cli, &t, err);
}

static enum lks_colour verdict_colour(struct lks_str verdict)
{
    return lks_str_is(verdict, "pass")   ? LKS_GREEN
           : lks_str_is(verdict, "halt") ? LKS_RED
           : lks_str_is(verdict, "hold") ? LKS_YELLOW
                                         : LKS_PLAIN;
}

/* "-0.42 % (-1.1 to +0.3)", or how many had an event. */
static void put_found(const struct lks_doc *row, struct lks_buf *out)
{
    struct lks_str estimate = lks_doc_text(row, "estimate"), best = lks_doc_text(row, "best");
    if (lks_doc_member(row, "events") != NULL)
        lks_buf_addf(out, "%" PRIu64 " with, %" PRIu64 " controls",
                     lks_change_number(row, "events"), lks_change_number(row, "control_events"));
    if (estimate.len > 0)
        lks_buf_addf(out, "%" LKS_STR_FMT " %% (%" LKS_STR_FMT " to %" LKS_STR_FMT ")",
                     LKS_STR_ARG(estimate), LKS_STR_ARG(lks_doc_text(row, "worst")),
                     LKS_STR_ARG(best.len > 0 ? best : LKS_STR("?")));
}

/* Passed for want of data is not passed by what was found. */
static struct lks_str gate_verdict(const struct lks_doc *row)
{
    struct lks_str verdict = lks_doc_text(row, "verdict");
    bool events = lks_doc_member(row, "events") != NULL;
    bool known =
        events ? lks_change_number(row, "changed") > 0 : lks_doc_text(row, "estimate").len > 0;
    if (truth(row, "waived"))
        return LKS_STR("waived");
    return lks_str_is(verdict, "pass") && !known ? LKS_STR("no data") : verdict;
}

static void add_gate(struct lks_table *t, const struct lks_doc *wave, const struct lks_doc *row)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf found = LKS_BUF(TEXT_BYTES);
    struct lks_str verdict = gate_verdict(row), margin = lks_doc_text(row, "margin");
    put_found(row, &found);
    lks_table_cellf(t, LKS_PLAIN, "%" PRIu64, lks_change_number(wave, "wave"));
    lks_table_cell(t, LKS_PLAIN, lks_doc_text(row, "metric"));
    lks_table_cellf(t, LKS_PLAIN, "%" PRIu64 "/%" PRIu64, lks_change_number(row, "changed"),
                    lks_change_number(row, "expected"));
    lks_table_cellf(t, LKS_PLAIN, "%" PRIu64, lks_change_number(row, "controls"));
    lks_output_cell(t, LKS_PLAIN, lks_buf_view(&found));
    lks_output_cell(t, LKS_PLAIN, margin);
    lks_table_cell(t, verdict_colour(verdict), verdict);
    lks_table_cellf(t, LKS_PLAIN, "%" PRIu64, lks_change_number(row, "looks"));
}

static enum lks_code print_gate(struct lks_cli *cli, const struct lks_doc *change,
                                struct lks_err *err)
{
    static const struct {
        const char *name;
        unsigned flags;
    } columns[] = {{"wave", LKS_COLUMN_RIGHT},
                   {"metric", 0},
                   {"changed", LKS_COLUMN_RIGHT},
                   {"controls", LKS_COLUMN_RIGHT},
                   {"found", LKS_COLUMN_WRAP},
                   {"margin %", LKS_COLUMN_RIGHT},
                   {"verdict", 0},
                   {"looks", LKS_COLUMN_RIGHT}};
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    size_t count = 0;
    lks_table_init(&t, TABLE_BYTES);
    for (size_t i = 0; i < LKS_COUNT(columns); i++)
        lks_table_column(&t, columns[i].name, columns[i].flags);
    for (const struct lks_doc *w = items(change, "waves"); w != NULL; w = w->next) {
        for (const struct lks_doc *g = items(w, "gate"); g != NULL; g = g->next, count++)
            add_gate(&t, w, g);
    }
    if (count == 0)
        return LKS_OK;
    fprintf(cli->out, "\ngate:\n");
    return lks_output_table(cli, &t, err);
}

/* What a step leads to, and what reverts it. */
static void put_there(const struct lks_doc *step, struct lks_buf *out)
{
    struct lks_str version = lks_doc_text(step, "version"), before = lks_doc_text(step, "before");
    struct lks_str executor = lks_doc_text(step, "executor");
    lks_buf_add(out, version);
    if (version.len > 0 && before.len > 0)
        lks_buf_addf(out, " (was %" LKS_STR_FMT ")", LKS_STR_ARG(before));
    if (executor.len > 0)
        lks_buf_addf(out, "%sby %" LKS_STR_FMT, version.len > 0 ? " " : "", LKS_STR_ARG(executor));
}

static void put_back(const struct lks_doc *step, struct lks_buf *out)
{
    struct lks_str revert = lks_doc_text(step, "revert"), before = lks_doc_text(step, "before");
    struct lks_str executor = lks_doc_text(step, "executor");
    if (truth(step, "one_way"))
        lks_buf_add(out, LKS_STR("irreversible"));
    else if (revert.len > 0)
        lks_buf_addf(out, "%" LKS_STR_FMT "%sby %" LKS_STR_FMT, LKS_STR_ARG(before),
                     before.len > 0 ? " " : "", LKS_STR_ARG(revert));
    else if (lks_doc_text(step, "order_back").len > 0)
        lks_buf_addf(out, "by %" LKS_STR_FMT, LKS_STR_ARG(executor));
}

static void add_step(struct lks_table *t, const struct lks_doc *step, uint64_t number)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf there = LKS_BUF(TEXT_BYTES);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf back = LKS_BUF(TEXT_BYTES);
    put_there(step, &there);
    put_back(step, &back);
    lks_table_cellf(t, LKS_PLAIN, "%" PRIu64, number);
    lks_table_cell(t, LKS_PLAIN, lks_doc_text(step, "kind"));
    lks_output_cell(t, LKS_PLAIN, lks_doc_text(step, "component"));
    lks_output_cell(t, LKS_PLAIN, lks_buf_view(&there));
    lks_output_cell(t, truth(step, "one_way") ? LKS_YELLOW : LKS_PLAIN, lks_buf_view(&back));
}

static enum lks_code print_recipe(struct lks_cli *cli, const struct lks_doc *recipe,
                                  struct lks_err *err)
{
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    uint64_t members = lks_change_number(recipe, "members"), number = 0;
    lks_table_init(&t, TABLE_BYTES);
    lks_table_column(&t, "step", LKS_COLUMN_RIGHT);
    lks_table_column(&t, "what", 0);
    lks_table_column(&t, "of", LKS_COLUMN_WRAP);
    lks_table_column(&t, "there", LKS_COLUMN_WRAP);
    lks_table_column(&t, "back", LKS_COLUMN_WRAP);
    for (const struct lks_doc *s = items(recipe, "steps"); s != NULL; s = s->next)
        add_step(&t, s, number++);
    fprintf(cli->out, "\nsteps of %" PRIu64 " node%s or asset%s:\n", members,
            members == 1 ? "" : "s", members == 1 ? "" : "s");
    return lks_output_table(cli, &t, err);
}

enum lks_code lks_change_print_plan(struct lks_cli *cli, const struct lks_doc *change,
                                    struct lks_err *err)
{
    if (print_notes(cli, change, err) != LKS_OK)
        return err->code;
    if (items(change, "notes") != NULL)
        fputc('\n', cli->out);
    if (print_waves(cli, change, err) != LKS_OK || print_gate(cli, change, err) != LKS_OK)
        return err->code;
    for (const struct lks_doc *r = items(change, "recipes"); r != NULL; r = r->next) {
        if (print_recipe(cli, r, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

/* One change -------------------------------------------------------------------------------- */

static void add_fact(struct lks_table *t, const char *name, const struct lks_buf *text)
{
    if (text->len == 0)
        return;
    lks_table_cell(t, LKS_PLAIN, lks_str_from(name));
    lks_output_cell(t, LKS_PLAIN, lks_buf_view(text));
}

/* "WHO, WHEN: WHY", as far as it is known. */
static void put_who(struct lks_buf *out, const struct lks_doc *from, const char *by,
                    const char *when, const char *why)
{
    struct lks_str reason = lks_doc_text(from, why);
    lks_buf_addf(out, "%" LKS_STR_FMT ", %" LKS_STR_FMT,
                 LKS_STR_ARG(lks_output_or_dash(lks_doc_text(from, by))),
                 LKS_STR_ARG(lks_doc_text(from, when)));
    if (reason.len > 0)
        lks_buf_addf(out, ": %" LKS_STR_FMT, LKS_STR_ARG(reason));
}

/* Its class, and how many of those that have to stand behind it do. */
static void add_class(struct lks_table *t, const struct lks_doc *change, struct lks_buf *text)
{
    const struct lks_doc *votes = lks_doc_member(change, "approvals");
    struct lks_str class = lks_doc_text(change, "class"), flaw = lks_doc_text(change, "advisory");
    struct lks_str pool = lks_doc_text(votes, "pool"), until = lks_doc_text(change, "expires");
    uint64_t needed = lks_change_number(votes, "needed"), given = lks_change_number(votes, "given");
    lks_buf_truncate(text, 0);
    if (class.len > 0)
        lks_buf_addf(text, "%" LKS_STR_FMT "%s%" LKS_STR_FMT, LKS_STR_ARG(class),
                     flaw.len > 0 ? ", closes " : "", LKS_STR_ARG(flaw));
    add_fact(t, "class", text);
    lks_buf_truncate(text, 0);
    if (class.len > 0)
        lks_buf_addf(text, "%" PRIu64 " of %" PRIu64, given, needed);
    if (class.len > 0 && given < needed && pool.len > 0)
        lks_buf_addf(text, " for pool %" LKS_STR_FMT, LKS_STR_ARG(pool));
    if (given < needed && until.len > 0 && lks_str_is(lks_doc_text(change, "state"), "proposed"))
        lks_buf_addf(text, ", until %" LKS_STR_FMT, LKS_STR_ARG(until));
    struct lks_str warning = lks_doc_text(lks_doc_member(change, "unreachable"), "text");
    if (warning.len > 0)
        lks_buf_addf(text, "; %" LKS_STR_FMT, LKS_STR_ARG(warning));
    add_fact(t, "approvals", text);
}

/* It began without them. */
static void add_glass(struct lks_table *t, const struct lks_doc *change, struct lks_buf *text)
{
    const struct lks_doc *glass = lks_doc_member(change, "break_glass");
    if (glass == NULL)
        return;
    lks_buf_truncate(text, 0);
    put_who(text, glass, "by", "at", "reason");
    add_fact(t, "glass broken", text);
    lks_buf_truncate(text, 0);
    if (lks_doc_text(glass, "reviewed").len > 0)
        put_who(text, glass, "reviewed_by", "reviewed", "reviewed_reason");
    else
        lks_buf_addf(text, "not yet; until %" LKS_STR_FMT,
                     LKS_STR_ARG(lks_doc_text(glass, "review_until")));
    add_fact(t, "reviewed by", text);
}

static void add_people(struct lks_table *t, const struct lks_doc *change, struct lks_buf *text)
{
    add_class(t, change, text);
    lks_buf_truncate(text, 0);
    put_who(text, change, "by", "proposed", "reason");
    add_fact(t, "proposed by", text);
    lks_buf_truncate(text, 0);
    lks_buf_add(text, lks_doc_text(change, "standby"));
    add_fact(t, "stands by", text);
    add_glass(t, change, text);
    for (const struct lks_doc *v = items(change, "votes"); v != NULL; v = v->next) {
        lks_buf_truncate(text, 0);
        put_who(text, v, "by", "at", "reason");
        if (lks_doc_text(v, "ticket").len > 0)
            lks_buf_addf(text, " (ticket %" LKS_STR_FMT ", as %" LKS_STR_FMT ")",
                         LKS_STR_ARG(lks_doc_text(v, "ticket")),
                         LKS_STR_ARG(lks_doc_text(v, "who")));
        add_fact(t, truth(v, "yes") ? "approved by" : "rejected by", text);
    }
}

/* When it is given up, and when its nodes may begin. */
static void add_terms(struct lks_table *t, const struct lks_doc *change, struct lks_buf *text)
{
    static const struct lks_str_pair times[] = {
        {"windows", "windows"}, {"not_before", "not before"}, {"not_after", "not after"}};
    uint64_t most = lks_change_number(change, "failures_max");
    char count[LKS_COUNT_TEXT_SIZE];
    lks_buf_truncate(text, 0);
    if (most == 0)
        lks_buf_add(text, LKS_STR("when a node fails"));
    else
        lks_buf_addf(text, "when more than %s fail%s, in lab and canary when one does",
                     lks_str_count_text(most, "node", count), most == 1 ? "s" : "");
    if (truth(change, "rolls_back"))
        lks_buf_add(text, LKS_STR(", and rolls back at once"));
    add_fact(t, "halts", text);
    for (size_t i = 0; i < LKS_COUNT(times); i++) {
        lks_buf_truncate(text, 0);
        lks_buf_add(text, lks_doc_text(change, times[i].name));
        add_fact(t, times[i].value, text);
    }
}

static enum lks_code print_head(struct lks_cli *cli, const struct lks_doc *change,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_OUTPUT_BYTES_MAX);
    char size[LKS_CHANGE_SIZE_TEXT];
    struct lks_str why = lks_doc_text(change, "moved_reason");
    lks_table_init(&t, TABLE_BYTES);
    lks_table_column(&t, "what", 0);
    lks_table_column(&t, "value", LKS_COLUMN_WRAP);
    lks_buf_addf(&text, "%" PRIu64, lks_change_number(change, "id"));
    add_fact(&t, "change", &text);
    lks_buf_truncate(&text, 0);
    lks_buf_addf(&text, "%" LKS_STR_FMT "%s%" LKS_STR_FMT "%s",
                 LKS_STR_ARG(lks_doc_text(change, "state")), why.len > 0 ? ": " : "",
                 LKS_STR_ARG(why),
                 truth(change, "frozen") ? " (frozen: no further node is changed)" : "");
    add_fact(&t, "state", &text);
    lks_buf_truncate(&text, 0);
    lks_buf_add(&text, lks_doc_text(change, "cannot_start"));
    add_fact(&t, "cannot start", &text);
    lks_buf_truncate(&text, 0);
    lks_buf_addf(&text, "%" LKS_STR_FMT " %" LKS_STR_FMT, LKS_STR_ARG(lks_doc_text(change, "name")),
                 LKS_STR_ARG(lks_doc_text(change, "stack")));
    add_fact(&t, "to", &text);
    lks_buf_truncate(&text, 0);
    lks_buf_add(&text, lks_str_from(lks_change_size_text(change, size)));
    add_fact(&t, "for", &text);
    add_terms(&t, change, &text);
    lks_buf_truncate(&text, 0);
    add_people(&t, change, &text);
    return lks_output_table(cli, &t, err);
}

/* A forecast is not as exact as its milliseconds: "90 s", "45 min", "6.5 h". */
static void rough_text(uint64_t ms, char out[LKS_CHANGE_SPAN_TEXT])
{
    enum { UNITS_MIN = 2, PER_MINUTE = 60 };
    double seconds = (double)ms / LKS_SECOND, minutes = seconds / PER_MINUTE;
    if (minutes < UNITS_MIN)
        (void)snprintf(out, LKS_CHANGE_SPAN_TEXT, "%.0f s", seconds);
    else if (minutes < UNITS_MIN * PER_MINUTE)
        (void)snprintf(out, LKS_CHANGE_SPAN_TEXT, "%.0f min", minutes);
    else
        (void)snprintf(out, LKS_CHANGE_SPAN_TEXT, "%.1f h", minutes / PER_MINUTE);
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
    char text[LKS_CHANGE_SPAN_TEXT];
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
            uint64_t value = there ? lks_change_number(f, keys[k]) : 0;
            (void)snprintf(text, sizeof(text), "%" PRIu64, value);
            if (rows[i].span)
                rough_text(value, text);
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
static enum lks_code print_waits(struct lks_cli *cli, const struct lks_doc *change,
                                 struct lks_err *err)
{
    const struct lks_doc *list = lks_doc_member(change, "waits");
    if (list == NULL || list->first == NULL)
        return LKS_OK;
    fprintf(cli->out, "\nwaits for:\n");
    return lks_listing_table(cli, wait_columns, LKS_COUNT(wait_columns), &list, 1, err);
}

static const struct lks_listing_column waiting_columns[] = {
    LKS_LEFT("node", "node"),
    LKS_LEFT("state", "state"),
    LKS_WRAP("why", "text"),
};

/* Nodes in a state that a person has to inspect. */
static enum lks_code print_waiting(struct lks_cli *cli, const struct lks_args *args,
                                   const struct lks_doc *change, struct lks_err *err)
{
    static const struct lks_str_pair rows[] = {
        {"needs_hands", "needs hands"}, {"unknown", "unknown"}, {"fenced", "fenced"}};
    const struct lks_doc *members = lks_doc_member(change, "members");
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
        uint64_t count = lks_change_number(members, rows[i].name);
        char limit[16];
        if (count == 0)
            continue;
        snprintf(limit, sizeof(limit), "%d", PEOPLE_SHOWN);
        lks_remote_question_init(&q, "GET", "/v1/changes");
        lks_remote_path_add(&q.path, lks_str_from(args->positional[0]));
        lks_remote_path_add(&q.path, LKS_STR("members"));
        lks_remote_path_query(&q.path, "state", lks_str_from(rows[i].value));
        lks_remote_path_query(&q.path, "limit", lks_str_from(limit));
        if (lks_remote_question_ask(cli, args, &q, err) != LKS_OK)
            return err->code;
        const struct lks_doc *list = lks_doc_member(q.answer.doc, "items");
        fprintf(cli->out, "\n%" PRIu64 " %s:\n", count, rows[i].value);
        if (lks_listing_table(cli, waiting_columns, LKS_COUNT(waiting_columns), &list, 1, err) !=
            LKS_OK)
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

static enum lks_code check_options(const struct lks_args *args, struct lks_err *err)
{
    if (lks_args_has(args, "--nodes") && lks_args_has(args, "--follow"))
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
    if (lks_args_has(args, "--follow"))
        return lks_change_follow(cli, args, args->positional[0], err);
    lks_remote_question_init(&q, "GET", "/v1/changes");
    lks_remote_path_add(&q.path, lks_str_from(args->positional[0]));
    if (lks_remote_question_ask(cli, args, &q, err) != LKS_OK)
        return err->code;
    if (lks_args_has(args, "--json"))
        return lks_listing_thing(cli, args, &q.answer, err);
    if (print_head(cli, q.answer.doc, err) != LKS_OK ||
        print_forecast(cli, q.answer.doc, err) != LKS_OK)
        return err->code;
    fputc('\n', cli->out);
    if (lks_change_print_plan(cli, q.answer.doc, err) != LKS_OK)
        return err->code;
    if (print_waits(cli, q.answer.doc, err) != LKS_OK)
        return err->code;
    return print_waiting(cli, args, q.answer.doc, err);
}
