/* The method of procedure: golden documents, what names a plan, and names that others chose. */
#include "base/file.h"
#include "core/campaign/state_apply.h"
#include "core/procedure/procedure.h"
#include "core/rows/change.h"
#include "core/rules/decide.h"
#include "core/state/lookup.h"
#include "tests/campaigns.h"
#include "tests/facts.h"
#include "tests/reload.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>

enum { FILE_MAX = 1 << 20 };

#define GOLDEN "tests/golden/procedure/"
#define T      LKS_STR_C
#define R(KIND, member, ...)                                                                       \
    {                                                                                              \
        .kind = LKS_RECORD_##KIND, .member = { __VA_ARGS__ }                                       \
    }

/* Flaws are published every month: documents that are kept have none. */
static struct lks_facts *facts_without_flaws(void)
{
    static struct lks_facts facts;
    facts = *lks_test_facts();
    facts.advisories.count = 0;
    return &facts;
}

static void write_as(const struct campaign *w, const struct lks_facts *facts, const char *price,
                     bool json, struct lks_buf *out)
{
    LKS_CLEANUP(lks_document_fini) struct lks_document document = {0};
    struct lks_book book = {.facts = facts, .manifest = &w->a.manifest};
    struct lks_price said = {0};
    struct lks_err err = {0};
    struct lks_json_writer writer = {.out = out};
    lks_buf_fini(out);
    lks_buf_init(out, FILE_MAX);
    CHECK(lks_procedure_price_parse(lks_str_from(price), &said));
    if (!CHECK_CODE(
            lks_procedure_make(&w->a.state, &book, campaign_change(w), &said, &document, &err),
            LKS_OK))
        return;
    if (json) {
        lks_json_begin(&writer, NULL, '{');
        lks_document_json(&document, &writer);
        lks_json_end(&writer, '}');
        lks_buf_addc(out, '\n');
    } else {
        lks_document_markdown(&document, out);
    }
    CHECK_CODE(lks_buf_check(out, &err), LKS_OK);
}

/* Golden documents -------------------------------------------------------------------------- */

#define NOTE(is, said) R(PLAN_NOTE, plan_note, .change = 1, .kind = LKS_PLAN_##is, .text = T(said))

static const struct lks_record measured[] = {
    R(PLAN_METRIC, plan_metric, .change = 1, .name = T("step_time"), .pools = T("train"),
      .kind = LKS_METRIC_MEAN, .better = LKS_BETTER_LOWER, .margin = T("1"), .critical = true,
      .query = T("q"), .alpha = T("0.05"), .sigma = T("0.8")),
    R(PLAN_GATE, plan_gate, .change = 1, .pool = T("train"), .min_load = 7200,
      .min_soak = CAMPAIGN_HOUR, .max_soak = 4 * CAMPAIGN_HOUR, .loss_budget = 2),
    NOTE(EVIDENCE, "wave 0, canary: 2 nodes with 2 controls do not pass a loss of 2 %"),
    NOTE(ONE_WAY, "firmware/bmc can only be replaced by a spare, of which there are 3"),
    NOTE(UNCOVERED, "revision B: 1 node, in none of the canary's racks"),
    R(GRANTED, granted, .identity = T("user:ann"), .role = LKS_ROLE_APPROVER),
    R(CHANGE_VOTED, change_voted, .change = 1, .yes = true, .by = T("user:ann"),
      .reason = T("looked at the canary")),
    R(WAIVED, waived, .change = 1, .gate = T("soak"), .until = 4000000000000, .by = T("user:ann"),
      .reason = T("the same bits ran in the lab")),
    R(FORECAST, forecast, .change = 1, .runs = 1000, .took_low = 7200000, .took_middle = 9000000,
      .took_high = 10801000, .gpu_hours_low = 10, .gpu_hours_middle = 20, .gpu_hours_high = 31,
      .kept_high = 1, .reached_high = 2, .by = T("user:kim")),
};

/* Names that others chose: each would be markup, a cell or a link. */
static const struct lks_record hostile[] = {
    NOTE(WARNING,
         "a|b `c` *d* _e_ [f](https://evil.example) <script>1</script> &lt; www.g.example"),
    NOTE(WARNING, "# one\\two $x$ ~~y~~ !z {q}"),
    R(CHANGE_VOTED, change_voted, .change = 1, .yes = false, .by = T("user:|ann|"),
      .reason = T("no | no <!-- no")),
};

static const struct {
    const char *name, *price;
    struct campaign_plan plan;
    const struct lks_record *more;
    size_t count;
} scenes[] = {
    {"planned",
     "",
     {.nodes = 3,
      .waves = {1, 2},
      .width = 2,
      .soak = CAMPAIGN_HOUR,
      .unapproved = true,
      .proves = true},
     NULL,
     0},
    {"rehearsed",
     "2.5 EUR",
     {.nodes = 5,
      .waves = {2, 2},
      .soak = CAMPAIGN_HOUR,
      .retries = 2,
      .controls = "n[4-5]",
      .one_way = true,
      .unapproved = true,
      .windows = "Mon-Fri 22:00-04:00",
      .rolls_back = true},
     measured,
     LKS_COUNT(measured)},
    {"domain",
     "1",
     {.nodes = 4,
      .domain = 3,
      .spares = 1,
      .stages = true,
      .one_way = true,
      .missing = "firmware/bmc 25.02.11",
      .unapproved = true,
      .failures_max = 1},
     NULL,
     0},
    {"agent", "", {.nodes = 2, .agent = true, .unapproved = true}, NULL, 0},
    {"hostile", "", {.nodes = 1, .unapproved = true}, hostile, LKS_COUNT(hostile)},
};

/* Files are written again with LOCKSTEP_GOLDEN=write, and looked at before they are kept. */
static void check_file(const char *name, const char *kind, struct lks_str got)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf want = LKS_BUF(FILE_MAX);
    const char *mode = getenv("LOCKSTEP_GOLDEN");
    struct lks_err err = {0};
    char path[256];
    snprintf(path, sizeof(path), GOLDEN "%s.%s", name, kind);
    if (mode != NULL && lks_str_is(lks_str_from(mode), "write"))
        CHECK_CODE(lks_file_replace(path, got, &err), LKS_OK);
    else if (CHECK_CODE(lks_file_read(path, &want, &err), LKS_OK)) {
        lks_buf_addc(&want, '\0');
        CHECK_STR(got, want.ptr);
    }
}

static void test_golden(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    for (size_t i = 0; i < LKS_COUNT(scenes); i++) {
        struct campaign w;
        lks_test_case("%s", scenes[i].name);
        campaign_begin(&w, &scenes[i].plan);
        for (size_t k = 0; k < scenes[i].count; k++)
            lks_asked_apply(&w.a, &scenes[i].more[k]);
        write_as(&w, facts_without_flaws(), scenes[i].price, false, &text);
        check_file(scenes[i].name, "md", lks_buf_view(&text));
        write_as(&w, facts_without_flaws(), scenes[i].price, true, &text);
        check_file(scenes[i].name, "json", lks_buf_view(&text));
        campaign_end(&w);
    }
}

/* What a board signs says first what it is about, when gates pass, and has lines to sign on. */
static void test_for_a_board(void)
{
    static const char *const says[] = {
        "## Summary\n",
        "Change 1 moves 4 nodes with 32 GPUs of pool train from golden to silver.",
        "Nodes change in 2 waves, the first with 2 nodes, at most ",
        "By 1000 rehearsed runs it takes 150 min in half of them and up to 181 min in 19 of 20",
        "rolls back by itself",
        "of 1 approval.",
        "| hard failures | no node of the wave needs manual intervention or has an unknown",
        "### Signatures\n",
        "| signs as | name | date | signature |\n",
        "| proposer | \\_",
        "| approver 1 of 1 | \\_",
    };
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    struct campaign w;
    campaign_begin(&w, &scenes[1].plan);
    for (size_t k = 0; k < scenes[1].count; k++)
        lks_asked_apply(&w.a, &scenes[1].more[k]);
    write_as(&w, facts_without_flaws(), "", false, &text);
    for (size_t i = 0; i < LKS_COUNT(says); i++)
        CHECK_HAS(lks_buf_view(&text), says[i]);
    CHECK(lks_str_find(lks_buf_view(&text), LKS_STR("## Summary")) <
          lks_str_find(lks_buf_view(&text), LKS_STR("## The change")));
    CHECK(lks_str_find(lks_buf_view(&text), LKS_STR("are for plan")) <
          lks_str_find(lks_buf_view(&text), LKS_STR("### Signatures")));
    campaign_end(&w);
}

/* In a pool that says so, a board reads that nodes are reserved for the window. */
static void test_reserved(void)
{
    static const struct {
        const char *name, *says, *windows;
        bool told;
    } rows[] = {
        {"with a window", "sched: slurm, reserve: true", "Mon-Fri 22:00-04:00", true},
        {"without one", "sched: slurm, reserve: true", NULL, false},
        {"a pool that does not say so", "sched: slurm", "Mon-Fri 22:00-04:00", false},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
        struct campaign w;
        lks_test_case("%s", rows[i].name);
        campaign_begin(&w, &(struct campaign_plan){.nodes = 1,
                                                   .unapproved = true,
                                                   .sched = "slurm",
                                                   .pool_says = rows[i].says,
                                                   .windows = rows[i].windows});
        write_as(&w, facts_without_flaws(), "", false, &text);
        CHECK((lks_str_find(lks_buf_view(&text),
                            LKS_STR("| train | slurm reserves nodes from the start of the window "
                                    "to its end, as many as change at once")) >= 0) ==
              rows[i].told);
        campaign_end(&w);
    }
}

/* The driver of the new stack is one of those that a published flaw reaches. */
static void test_flaws(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 1, .unapproved = true});
    write_as(&w, lks_test_facts(), "", false, &text);
    CHECK_HAS(lks_buf_view(&text), "CVE-2026-24187 stays open in driver (exposed, high) |");
    campaign_end(&w);
}

/* Steps that take longer on some hardware, or are done by other means, fail alike: one row. */
static void test_rows_once(void)
{
    static const struct {
        const char *step, *nodes; /* that fail so */
    } rows[] = {{"drain", "5"}, {"accept", "5"}, {"check", "5"}, {"activate bmc", "4"}};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 4,
                                               .domain = 3,
                                               .shelf_leaves = 2 * CAMPAIGN_HOUR,
                                               .stages = true,
                                               .unapproved = true});
    write_as(&w, facts_without_flaws(), "", false, &text);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        char row[64];
        size_t once = 0;
        lks_test_case("%s", rows[i].step);
        snprintf(row, sizeof(row), "\n| %s | ", rows[i].step);
        struct lks_str rest = lks_buf_view(&text), mark = LKS_STR("not come back in time");
        for (struct lks_str line; lks_str_cut(rest, '\n', &line, &rest);)
            once += lks_str_starts(line, row + 1) && lks_str_find(line, mark) >= 0;
        CHECK(once <= 1);
        snprintf(row, sizeof(row), "\n| %s | %s | ", rows[i].step, rows[i].nodes);
        CHECK_HAS(lks_buf_view(&text), row);
    }
    campaign_end(&w);
}

/* What names a plan ------------------------------------------------------------------------- */

static void digest_of(const struct campaign *w, char out[LKS_DIGEST_SIZE])
{
    struct lks_err err = {0};
    CHECK_CODE(lks_procedure_plan_digest(&w->a.state, campaign_change(w), out, &err), LKS_OK);
}

static void test_digest_stays(void)
{
    struct campaign w;
    struct lks_state copy = {0};
    struct lks_err err = {0};
    char before[LKS_DIGEST_SIZE], after[LKS_DIGEST_SIZE];
    campaign_begin(&w, &(struct campaign_plan){.nodes = 3, .waves = {1, 2}});
    digest_of(&w, before);
    CHECK(lks_digest_valid(lks_str_from(before)));
    (void)campaign_run(&w, CAMPAIGN_HOUR);
    CHECK(campaign_change(&w)->states[LKS_MEMBER_DONE] > 0);
    digest_of(&w, after);
    CHECK_STR(lks_str_from(after), before);
    lks_test_reload(&w.a.state, &copy);
    CHECK_CODE(lks_procedure_plan_digest(&copy, lks_state_change(&copy, w.change), after, &err),
               LKS_OK);
    CHECK_STR(lks_str_from(after), before);
    lks_state_fini(&copy);
    campaign_end(&w);
}

static void test_digest_differs(void)
{
    static const struct {
        const char *name;
        struct campaign_plan plan;
    } rows[] = {
        {"as it is", {.nodes = 3}},
        {"one node more", {.nodes = 4}},
        {"in two waves", {.nodes = 3, .waves = {1, 2}}},
        {"fewer at a time", {.nodes = 3, .width = 1}},
        {"watched for longer", {.nodes = 3, .soak = CAMPAIGN_HOUR}},
        {"a step is one-way", {.nodes = 3, .one_way = true}},
        {"for want of an image", {.nodes = 3, .one_way = true, .missing = "firmware/bmc 1"}},
        {"tried again", {.nodes = 3, .retries = 1}},
        {"one may fail", {.nodes = 3, .failures_max = 1}},
        {"it exercises the rollback", {.nodes = 3, .proves = true}},
        {"other windows", {.nodes = 3, .windows = "Mon-Fri 22:00-04:00"}},
    };
    char seen[LKS_COUNT(rows)][LKS_DIGEST_SIZE];
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        campaign_begin(&w, &rows[i].plan);
        digest_of(&w, seen[i]);
        for (size_t k = 0; k < i; k++) {
            lks_test_case("%s, and %s", rows[i].name, rows[k].name);
            CHECK(!lks_str_is(lks_str_from(seen[i]), seen[k]));
        }
        campaign_end(&w);
    }
}

/* Values ------------------------------------------------------------------------------------ */

static void test_price(void)
{
    static const struct {
        const char *text;
        bool good;
        double hour;
        const char *currency;
    } rows[] = {
        {"", true, 0, ""},
        {"2.5", true, 2.5, ""},
        {"2.5 EUR", true, 2.5, "EUR"},
        {"3  US$", true, 3, "US$"},
        {"1000000", true, 1e6, ""},
        {"1000001", false, 0, ""},
        {"0", false, 0, ""},
        {"-1", false, 0, ""},
        {"nan", false, 0, ""},
        {"EUR", false, 0, ""},
        {"0x10", false, 0, ""},
        {"1 \x1b[2J", false, 0, ""},
        {"1 12345678901234567", false, 0, ""},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_price p = {.hour = 7};
        lks_test_case("'%s'", rows[i].text);
        CHECK(lks_procedure_price_parse(lks_str_from(rows[i].text), &p) == rows[i].good);
        CHECK_NEAR(p.hour, rows[i].good ? rows[i].hour : 7, 1e-12);
        CHECK_STR(p.currency, rows[i].currency);
    }
}

static void test_markdown(void)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"n1", "n1"},
        {"25.03.01", "25.03.01"},
        {"a|b", "a\\|b"},
        {"`x`", "\\`x\\`"},
        {"[t](u)", "\\[t\\](u)"},
        {"<b>", "\\<b\\>"},
        {"\\|", "\\\\\\|"},
        {"http://x", "http\\://x"},
        {"www.x", "www\\.x"},
        {"a: b", "a: b"},
        {"a\nb\tc\r", "a?b?c?"},
        {"\x1b[31m", "?\\[31m"},
        {"gr\xc3\xbcn", "gr\xc3\xbcn"},
        {"\xff\xfe", "??"},
        {"\xe2\x80\xae", "?"}, /* turns the direction of text */
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(FILE_MAX);
        lks_test_case("'%s'", rows[i].want);
        lks_document_markdown_text(&out, lks_str_from(rows[i].text));
        CHECK_STR(lks_buf_view(&out), rows[i].want);
    }
}

static const struct lks_test tests[] = {
    {"golden documents", test_golden},
    {"what a board reads first and signs", test_for_a_board},
    {"nodes that are reserved", test_reserved},
    {"flaws that stay open", test_flaws},
    {"steps that fail alike are told once", test_rows_once},
    {"a plan has one digest, however far it is", test_digest_stays},
    {"plans that differ have others", test_digest_differs},
    {"prices", test_price},
    {"texts of others in Markdown", test_markdown},
    {NULL, NULL},
};

int main(void)
{
    return lks_test_main(tests);
}
