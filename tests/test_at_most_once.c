#include "core/agentlink/at_most_once.h"

#include "base/rng.h"
#include "tests/test.h"

#include <stdio.h>

#define JOURNAL "00112233445566778899aabbccddeeff"
#define OTHER   "ffeeddccbbaa99887766554433221100"
#define BOOT    "11111111-2222-3333-4444-555555555555"
#define HEAD    "lockstep ledger 1\njournal " JOURNAL "\nepoch 3\nfloor 7\n"
#define UNKNOWN "the agent stopped after it started and before it ended"

enum { WALL = 1000000 };

static struct lks_envelope command(uint64_t id)
{
    return (struct lks_envelope){
        .id = id,
        .journal = JOURNAL,
        .node = "gpu1",
        .boot = BOOT,
        .epoch = 3,
        .attempt = 1,
        .expires = WALL + 1,
        .executor = "reboot",
    };
}

static enum lks_at_most_once_verdict judge(const struct lks_at_most_once *o,
                                           const struct lks_envelope *e,
                                           struct lks_at_most_once_entry *entry, const char **why)
{
    return lks_at_most_once_judge(o, e, LKS_STR("gpu1"), LKS_STR(BOOT), WALL, entry, why);
}

/* A ledger in which 8 ended, 9 runs, and 7 and below are forgotten. */
#define LEDGER HEAD "8 failed exit status 3\n9 begun \nend 2\n"

static const struct {
    const char *name;
    struct lks_envelope e;
    enum lks_at_most_once_verdict verdict;
    const char *why;          /* of a refusal */
    enum lks_outcome outcome; /* of a repetition */
    const char *text;
} verdicts[] = {
    {"a new one", {.id = 10}, LKS_AT_MOST_ONCE_RUN, NULL, 0, NULL},
    {"a newer leader", {.id = 10, .epoch = 4}, LKS_AT_MOST_ONCE_RUN, NULL, 0, NULL},
    {"an older leader",
     {.id = 10, .epoch = 2},
     LKS_AT_MOST_ONCE_REFUSE,
     "no longer leads",
     0,
     NULL},
    {"another node", {.id = 10, .node = "gpu2"}, LKS_AT_MOST_ONCE_REFUSE, "another node", 0, NULL},
    {"a node whose name begins alike",
     {.id = 10, .node = "gpu"},
     LKS_AT_MOST_ONCE_REFUSE,
     "another node",
     0,
     NULL},
    {"another journal",
     {.id = 10, .journal = OTHER},
     LKS_AT_MOST_ONCE_REFUSE,
     "another journal",
     0,
     NULL},
    {"another boot", {.id = 10, .boot = "x"}, LKS_AT_MOST_ONCE_REFUSE, "another boot", 0, NULL},
    {"expired at this very moment",
     {.id = 10, .expires = WALL},
     LKS_AT_MOST_ONCE_REFUSE,
     "expired",
     0,
     NULL},
    {"forgotten", {.id = 7}, LKS_AT_MOST_ONCE_REFUSE, "older than what", 0, NULL},
    {"long forgotten", {.id = 1}, LKS_AT_MOST_ONCE_REFUSE, "older than what", 0, NULL},
    {"ended", {.id = 8}, LKS_AT_MOST_ONCE_REPEAT, NULL, LKS_OUTCOME_FAILED, "exit status 3"},
    {"ended, expired since",
     {.id = 8, .expires = 1},
     LKS_AT_MOST_ONCE_REPEAT,
     NULL,
     LKS_OUTCOME_FAILED,
     "exit status 3"},
    {"ended before the boot",
     {.id = 8, .boot = "x"},
     LKS_AT_MOST_ONCE_REPEAT,
     NULL,
     LKS_OUTCOME_FAILED,
     "exit status 3"},
    {"ended under an older leader",
     {.id = 8, .epoch = 1},
     LKS_AT_MOST_ONCE_REPEAT,
     NULL,
     LKS_OUTCOME_FAILED,
     "exit status 3"},
    {"of the same number in another journal",
     {.id = 8, .journal = OTHER},
     LKS_AT_MOST_ONCE_REFUSE,
     "another journal",
     0,
     NULL},
    {"begun and never ended",
     {.id = 9},
     LKS_AT_MOST_ONCE_REPEAT,
     NULL,
     LKS_OUTCOME_UNKNOWN,
     UNKNOWN},
};

/* A row says only what is not as usual. */
static struct lks_envelope filled(const struct lks_envelope *row)
{
    struct lks_envelope e = command(row->id);
    if (row->node[0] != '\0')
        snprintf(e.node, sizeof(e.node), "%s", row->node);
    if (row->journal[0] != '\0')
        snprintf(e.journal, sizeof(e.journal), "%s", row->journal);
    if (row->boot[0] != '\0')
        snprintf(e.boot, sizeof(e.boot), "%s", row->boot);
    e.epoch = row->epoch != 0 ? row->epoch : e.epoch;
    e.expires = row->expires != 0 ? row->expires : e.expires;
    return e;
}

static void test_verdicts(void)
{
    LKS_CLEANUP(lks_at_most_once_fini) struct lks_at_most_once o = {0};
    struct lks_err err = {0};
    if (!CHECK_CODE(lks_at_most_once_parse(LKS_STR(LEDGER), &o, &err), LKS_OK))
        return;
    for (size_t i = 0; i < LKS_COUNT(verdicts); i++) {
        lks_test_case("%s", verdicts[i].name);
        struct lks_envelope e = filled(&verdicts[i].e);
        struct lks_at_most_once_entry entry = {0};
        const char *why = "";
        CHECK_INT(judge(&o, &e, &entry, &why), verdicts[i].verdict);
        CHECK_HAS(lks_str_from(why), verdicts[i].why != NULL ? verdicts[i].why : "");
        CHECK_INT(entry.ended, verdicts[i].text != NULL);
        CHECK_INT(entry.outcome, verdicts[i].outcome);
        CHECK_STR(lks_str_from(entry.text), verdicts[i].text != NULL ? verdicts[i].text : "");
    }
}

/* While it runs it is neither run again nor over. */
static void test_running(void)
{
    LKS_CLEANUP(lks_at_most_once_fini) struct lks_at_most_once o = {0};
    struct lks_err err = {0};
    struct lks_at_most_once_entry entry = {0};
    const char *why = NULL;
    struct lks_envelope e = command(5), other = command(6);
    CHECK_INT(judge(&o, &e, &entry, &why), LKS_AT_MOST_ONCE_RUN);
    CHECK_CODE(lks_at_most_once_begin(&o, &e, &err), LKS_OK);
    CHECK_STR(lks_str_from(o.journal), JOURNAL);
    CHECK_INT(o.epoch, 3);
    CHECK_INT(judge(&o, &e, &entry, &why), LKS_AT_MOST_ONCE_REPEAT);
    CHECK(!entry.ended);
    CHECK_INT(entry.outcome, LKS_OUTCOME_UNKNOWN); /* for whoever looks no further */
    lks_at_most_once_end(&o, 5, LKS_OUTCOME_DONE, LKS_STR("well"));
    CHECK_INT(judge(&o, &e, &entry, &why), LKS_AT_MOST_ONCE_REPEAT);
    CHECK(entry.ended);
    CHECK_INT(entry.outcome, LKS_OUTCOME_DONE);
    CHECK_STR(lks_str_from(entry.text), "well");
    snprintf(other.journal, sizeof(other.journal), OTHER);
    CHECK_INT(judge(&o, &other, &entry, &why), LKS_AT_MOST_ONCE_REFUSE);
}

#define D49  "0123456789012345678901234567890123456789012345678"
#define B51  D49 "\xc3\xa9"
#define B255 B51 B51 B51 B51 B51

static const struct {
    const char *name;
    struct lks_str text;
    const char *kept;
} endings[] = {
    {"nothing", {NULL, 0}, ""},
    {"a line", LKS_STR_C("exit status 3"), "exit status 3"},
    {"two lines", LKS_STR_C("a\nb"), "a b"},
    {"a line with its end", LKS_STR_C("already so: 3 packages\n"), "already so: 3 packages"},
    {"ends of lines alone", LKS_STR_C("\r\n\n"), ""},
    {"a zero", LKS_STR_C("a\0b"), "a?b"},
    {"an escape sequence", LKS_STR_C("\x1b[2J"), "?[2J"},
    {"not UTF-8", LKS_STR_C("a\xff\xc3"), "a??"},
    {"as much as fits", LKS_STR_C(B255), B255},
    {"one more", LKS_STR_C(B255 "x"), B255},
    {"a character across the end", LKS_STR_C("x" B255), "x" B51 B51 B51 B51 D49},
};

static void test_endings(void)
{
    for (size_t i = 0; i < LKS_COUNT(endings); i++) {
        lks_test_case("%s", endings[i].name);
        LKS_CLEANUP(lks_at_most_once_fini) struct lks_at_most_once o = {0};
        LKS_CLEANUP(lks_at_most_once_fini) struct lks_at_most_once again = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_AT_MOST_ONCE_TEXT_MAX);
        struct lks_err err = {0};
        struct lks_envelope e = command(5);
        CHECK_CODE(lks_at_most_once_begin(&o, &e, &err), LKS_OK);
        lks_at_most_once_end(&o, 5, LKS_OUTCOME_REFUSED, endings[i].text);
        lks_at_most_once_print(&o, &text);
        if (!CHECK_CODE(lks_at_most_once_parse(lks_buf_view(&text), &again, &err), LKS_OK))
            continue;
        CHECK_STR(lks_str_from(again.entries[0].text), o.entries[0].text);
        CHECK_STR(lks_str_from(o.entries[0].text), endings[i].kept);
    }
}

static const struct {
    const char *name;
    const char *text;
    const char *message; /* NULL where it is read */
} texts[] = {
    {"empty ledger", HEAD "end 0\n", NULL},
    {"before the first command", "lockstep ledger 1\njournal \nepoch 0\nfloor 0\nend 0\n", NULL},
    {"entries", LEDGER, NULL},
    {"an empty file", "", "line 1 of the ledger: it ends too early"},
    {"another file", "begun\n", "line 1 of the ledger: this is no ledger"},
    {"a newer one", "lockstep ledger 2\n", "line 1 of the ledger: this is no ledger"},
    {"half a journal", "lockstep ledger 1\njournal 0011\n", "line 2 of the ledger: not the id"},
    {"a journal of letters", "lockstep ledger 1\njournal xx112233445566778899aabbccddeeff\n",
     "line 2 of the ledger: not the id of a journal"},
    {"lines in another order", "lockstep ledger 1\nepoch 3\n", "line 2 of the ledger: another"},
    {"no epoch", "lockstep ledger 1\njournal \nepoch x\n", "line 3 of the ledger: not a number"},
    {"no floor", "lockstep ledger 1\njournal \nepoch 3\n", "line 4 of the ledger: it ends too"},
    {"cut between entries", HEAD "8 done \n", "line 6 of the ledger: it ends too early"},
    {"cut within the end", HEAD "8 done \nend 1", "line 6 of the ledger: it ends too early"},
    {"an entry lost", HEAD "8 done \nend 2\n", "line 6 of the ledger: entries are missing"},
    {"an entry too many", HEAD "8 done \nend 0\n", "line 6 of the ledger: entries are missing"},
    {"more behind the end", HEAD "end 0\n8 done \n", "line 5 of the ledger: something follows"},
    {"the same twice", HEAD "8 done \n8 done \nend 2\n", "line 6 of the ledger: ids do not rise"},
    {"falling", HEAD "9 done \n8 done \nend 2\n", "line 6 of the ledger: ids do not rise"},
    {"no id", HEAD "x done \nend 1\n", "line 5 of the ledger: not the id of a command"},
    {"too large an id", HEAD "18446744073709551616 done \nend 1\n",
     "line 5 of the ledger: not the id of a command"},
    {"no such outcome", HEAD "8 fine \nend 1\n", "line 5 of the ledger: no such outcome"},
    {"no outcome", HEAD "8\nend 1\n", "line 5 of the ledger: not an entry"},
    {"a control character", HEAD "8 done a\x1b\nend 1\n", "line 5 of the ledger: not an entry"},
    {"too long a text", HEAD "8 done " B255 "x\nend 1\n", "line 5 of the ledger: not an entry"},
};

static void test_texts(void)
{
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        lks_test_case("%s", texts[i].name);
        LKS_CLEANUP(lks_at_most_once_fini) struct lks_at_most_once o = {0};
        struct lks_err err = {0};
        bool fine = texts[i].message == NULL;
        CHECK_CODE(lks_at_most_once_parse(lks_str_from(texts[i].text), &o, &err),
                   fine ? LKS_OK : LKS_E_INVALID);
        CHECK_HAS(lks_str_from(err.msg), fine ? "" : texts[i].message);
        CHECK(fine || (o.entries == NULL && o.count == 0));
    }
}

static void test_print(void)
{
    LKS_CLEANUP(lks_at_most_once_fini) struct lks_at_most_once o = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_AT_MOST_ONCE_TEXT_MAX);
    struct lks_err err = {0};
    if (!CHECK_CODE(lks_at_most_once_parse(LKS_STR(LEDGER), &o, &err), LKS_OK))
        return;
    struct lks_envelope e = command(12);
    CHECK_CODE(lks_at_most_once_begin(&o, &e, &err), LKS_OK);
    lks_at_most_once_print(&o, &text);
    CHECK_STR(lks_buf_view(&text),
              HEAD "8 failed exit status 3\n9 unknown " UNKNOWN "\n12 begun \nend 3\n");
}

/* A full ledger forgets its oldest entry that ended, and still refuses it; one that runs stays. */
static void test_room(void)
{
    LKS_CLEANUP(lks_at_most_once_fini) struct lks_at_most_once o = {0};
    struct lks_err err = {0};
    struct lks_at_most_once_entry entry = {0};
    const char *why = "";
    for (uint64_t id = 1; id <= LKS_AT_MOST_ONCE_ENTRIES_MAX; id++) {
        struct lks_envelope e = command(id);
        if (!CHECK_CODE(lks_at_most_once_begin(&o, &e, &err), LKS_OK))
            return;
    }
    struct lks_envelope next = command(LKS_AT_MOST_ONCE_ENTRIES_MAX + 1);
    CHECK_CODE(lks_at_most_once_begin(&o, &next, &err), LKS_E_LIMIT);
    CHECK_INT(o.count, LKS_AT_MOST_ONCE_ENTRIES_MAX);
    lks_at_most_once_end(&o, 2, LKS_OUTCOME_DONE, LKS_STR(""));
    CHECK_CODE(lks_at_most_once_begin(&o, &next, &err), LKS_OK);
    CHECK_INT(o.count, LKS_AT_MOST_ONCE_ENTRIES_MAX);
    CHECK_INT(o.floor, 2);
    struct lks_envelope running = command(1), forgotten = command(2);
    CHECK_INT(judge(&o, &running, &entry, &why), LKS_AT_MOST_ONCE_REPEAT);
    CHECK_INT(judge(&o, &forgotten, &entry, &why), LKS_AT_MOST_ONCE_REFUSE);
}

/* Commands arrive in any order and any number of times; the agent stops at any point, which is a
 * print and a parse: what was durable then is all it knows. `ran` counts. */
enum { IDS = 200, STEPS = 2000 };

struct agent {
    struct lks_rng rng;
    struct lks_at_most_once ledger;
    struct lks_buf disk;
    unsigned ran[IDS + 1];
    bool ended[IDS + 1]; /* durably so */
};

static void save(struct agent *a)
{
    lks_buf_truncate(&a->disk, 0);
    lks_at_most_once_print(&a->ledger, &a->disk);
}

static void restart(struct agent *a)
{
    struct lks_err err = {0};
    lks_at_most_once_fini(&a->ledger);
    CHECK_CODE(lks_at_most_once_parse(lks_buf_view(&a->disk), &a->ledger, &err), LKS_OK);
}

/* Begin, save, run, end, save: and it may all stop after each of these. */
static void run(struct agent *a, const struct lks_envelope *e)
{
    struct lks_err err = {0};
    uint64_t stop = lks_rng_below(&a->rng, 8);
    CHECK_CODE(lks_at_most_once_begin(&a->ledger, e, &err), LKS_OK);
    if (stop == 0) {
        restart(a);
        return;
    }
    save(a);
    if (stop != 1)
        a->ran[e->id]++;
    if (stop == 1 || stop == 2) {
        restart(a);
        return;
    }
    lks_at_most_once_end(&a->ledger, e->id, LKS_OUTCOME_DONE, LKS_STR("ok"));
    if (stop == 3) {
        restart(a);
        return;
    }
    save(a);
    a->ended[e->id] = true;
}

static void deliver(struct agent *a)
{
    struct lks_envelope e = command(1 + lks_rng_below(&a->rng, IDS));
    struct lks_at_most_once_entry entry = {0};
    const char *why = NULL;
    switch (judge(&a->ledger, &e, &entry, &why)) {
    case LKS_AT_MOST_ONCE_RUN:
        CHECK_INT(a->ran[e.id], 0);
        run(a, &e);
        return;
    case LKS_AT_MOST_ONCE_REPEAT:
        CHECK(entry.ended);
        CHECK_INT(entry.outcome, a->ended[e.id] ? LKS_OUTCOME_DONE : LKS_OUTCOME_UNKNOWN);
        return;
    case LKS_AT_MOST_ONCE_REFUSE:
        CHECK(false); /* nothing here deserves it */
        return;
    }
}

static void test_property(void)
{
    for (uint64_t seed = 1; seed <= LKS_TEST_ROUNDS(200); seed++) {
        lks_test_case("seed %d", (int)seed);
        struct agent a = {.rng = {seed}};
        unsigned ran = 0;
        lks_buf_init(&a.disk, LKS_AT_MOST_ONCE_TEXT_MAX);
        save(&a);
        for (unsigned i = 0; i < STEPS; i++) {
            deliver(&a);
            if (lks_rng_percent(&a.rng, 5))
                restart(&a);
        }
        for (unsigned id = 1; id <= IDS; id++) {
            CHECK(a.ran[id] <= 1);
            ran += a.ran[id];
        }
        CHECK(ran > IDS / 2); /* at most once, and mostly once */
        lks_at_most_once_fini(&a.ledger);
        lks_buf_fini(&a.disk);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"at most once: verdicts", test_verdicts},
        {"at most once: while it runs", test_running},
        {"at most once: what is kept of an ending", test_endings},
        {"at most once: texts", test_texts},
        {"at most once: printed", test_print},
        {"at most once: room", test_room},
        {"at most once: property at most once", test_property},
        {0},
    });
}
