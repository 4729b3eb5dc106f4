/*
 * A thousand simulated BMCs behind the real lockstepd: they are inventoried, and one component of
 * each is updated, while things go wrong with one in five of them and lockstepd is killed again and
 * again. In the end what lockstepd says is what the devices have, and none was flashed twice.
 */
#include "tests/flashes.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    BMCS = 1000,
    KILLS = 8,
    KILL_EVERY_MS = 2500,
    TICK_MS = 250,
    FAULT_EACH = 5, /* one of so many has a fault */
    NAME_SIZE = 16,
    /* Until an update is given up, by lockstepd's fast clock: later than the story may last, and
     * soon where nothing else ends it. */
    MINUTES = 1000,
    STUCK_MINUTES = 150,
};

#define CLASS   "bmc"
#define BEFORE  "1.0.0"
#define VERSION "2.0.0"

static const enum lks_bmcsim_personality kinds[] = {LKS_BMCSIM_OPENBMC, LKS_BMCSIM_SUPERMICRO,
                                                    LKS_BMCSIM_DELL, LKS_BMCSIM_HPE};
#define PERSONALITIES "openbmc,supermicro,dell,hpe"

/* What goes wrong; `lies`: the inventory says what does not run; `stuck`: until its deadline. */
static const struct {
    const char *body;
    bool lies, stuck;
} faults[] = {
    {"{\"fault\":\"power-loss\",\"at\":\"upload\"}", false, false},
    {"{\"fault\":\"power-loss\",\"at\":\"staging\"}", false, false},
    {"{\"fault\":\"power-loss\",\"at\":\"activating\"}", false, false},
    {"{\"fault\":\"revert\"}", false, false},
    {"{\"fault\":\"wrong-version\",\"times\":2}", true, false},
    {"{\"fault\":\"task-stuck\"}", false, true},
    {"{\"fault\":\"task-lost\"}", false, false},
    {"{\"fault\":\"bmc-reboot\",\"at\":\"upload\"}", false, false},
    {"{\"fault\":\"bmc-reboot\",\"at\":\"staging\"}", false, false},
    {"{\"fault\":\"bmc-reboot\",\"at\":\"activating\"}", false, false},
    {"{\"fault\":\"slow\",\"amount\":2000,\"times\":0}", false, false},
    {"{\"fault\":\"session\",\"amount\":20000,\"times\":0}", false, false},
    {"{\"fault\":\"drop\",\"amount\":3}", false, false},
    {"{\"fault\":\"drop\",\"amount\":12}", false, false},
    {"{\"fault\":\"drop\",\"amount\":17}", false, false},
    {"{\"fault\":\"page\",\"amount\":9}", false, false},
    {"{\"fault\":\"page\",\"amount\":17,\"times\":3}", false, false},
    {"{\"fault\":\"refuse\",\"amount\":503,\"times\":2}", false, false},
    {"{\"fault\":\"task-lies\"}", false, false},
};

struct story {
    struct flashes f;
    uint64_t ids[BMCS];
    char outcomes[BMCS][16];
    char found[BMCS][LKS_DIGEST_SIZE];
    size_t ended, done, failed, unknown, kills;
};

static void name_of(size_t i, char out[NAME_SIZE])
{
    snprintf(out, NAME_SIZE, "bmc%04zu", i + 1);
}

static size_t fault_of(size_t i)
{
    return i % FAULT_EACH == FAULT_EACH - 1 ? i / FAULT_EACH % LKS_COUNT(faults)
                                            : LKS_COUNT(faults);
}

static bool is_stuck(size_t i)
{
    return fault_of(i) < LKS_COUNT(faults) && faults[fault_of(i)].stuck;
}

/* Inventory ----------------------------------------------------------------------------------- */

static size_t count_read(struct story *s)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    size_t read = 0;
    crew_fine(s->f.crew.root, "endpoints", "/v1/endpoints?limit=1000", NULL, &t);
    const struct lks_doc *items = lks_doc_member(t.doc, "items");
    for (const struct lks_doc *d = items != NULL ? items->first : NULL; d != NULL; d = d->next)
        read += lks_doc_text(d, "read").len > 0;
    return read;
}

static bool inventory(struct story *s)
{
    size_t read = 0;
    for (struct lks_wait w = {0}; read < BMCS && lks_wait_on(&w);) {
        lks_rest(TICK_MS);
        read = count_read(s);
    }
    return CHECK_INT(read, BMCS);
}

/* Updates ------------------------------------------------------------------------------------- */

static bool spoil(struct story *s)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(1 << 16);
    for (size_t i = 0; i < BMCS; i++) {
        char name[NAME_SIZE], path[64];
        if (fault_of(i) == LKS_COUNT(faults))
            continue;
        name_of(i, name);
        snprintf(path, sizeof(path), "/bmcs/%s/fault", name);
        if (!CHECK_INT(bmcd_control(&s->f.bmcs, "POST", path, faults[fault_of(i)].body, &answer),
                       200))
            return false;
    }
    return true;
}

static bool ask_all(struct story *s)
{
    if (!flashes_change(&s->f, "bmc[0001-1000]"))
        return false;
    for (size_t i = 0; i < BMCS; i++) {
        char name[NAME_SIZE];
        name_of(i, name);
        s->f.minutes = is_stuck(i) ? STUCK_MINUTES : MINUTES;
        s->ids[i] = flashes_ask(&s->f, name, kinds[i % LKS_COUNT(kinds)], CLASS, VERSION);
        if (!CHECK(s->ids[i] != 0))
            return false;
    }
    return true;
}

/* Whether some are still open; `tell`: which. */
static bool any_open(struct story *s, bool tell)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    crew_fine(s->f.crew.root, "flashes",
              tell ? "/v1/flashes?open=true&limit=100" : "/v1/flashes?open=true&limit=1", NULL, &t);
    for (size_t i = 0; tell && i < crew_count(&t, "items"); i++) {
        const struct lks_doc *d = crew_item(&t, "items", i);
        printf("     %" LKS_STR_FMT " is still %" LKS_STR_FMT "\n",
               LKS_STR_ARG(lks_doc_text(d, "node")), LKS_STR_ARG(lks_doc_text(d, "phase")));
    }
    return crew_count(&t, "items") > 0;
}

/* Until all are over, and every few seconds lockstepd is killed. */
static bool run_all(struct story *s)
{
    unsigned since = 0;
    bool open = true;
    for (struct lks_wait w = {0}; open && lks_wait_on(&w); since += TICK_MS) {
        lks_rest(TICK_MS);
        open = any_open(s, false);
        if (since < KILL_EVERY_MS || s->kills == KILLS || !open)
            continue;
        since = 0;
        w = (struct lks_wait){0};
        s->kills++;
        if (!flashes_kill(&s->f))
            return false;
    }
    return CHECK(!any_open(s, true));
}

/* The truth ----------------------------------------------------------------------------------- */

static void note_end(struct story *s, size_t i)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    snprintf(s->outcomes[i], sizeof(s->outcomes[i]), "%s", flashes_outcome(&s->f, s->ids[i], &t));
    snprintf(s->found[i], sizeof(s->found[i]), "%" LKS_STR_FMT,
             LKS_STR_ARG(crew_text(&t, "found")));
    s->done += strcmp(s->outcomes[i], "done") == 0;
    s->failed += strcmp(s->outcomes[i], "failed") == 0;
    s->unknown += strcmp(s->outcomes[i], "unknown") == 0;
    if (fault_of(i) == LKS_COUNT(faults) && strcmp(s->outcomes[i], "done") != 0)
        CHECK_STR(crew_text(&t, "text"), "");
}

static void check_one(struct story *s, size_t i)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char name[NAME_SIZE];
    size_t fault = fault_of(i);
    bool done = strcmp(s->outcomes[i], "done") == 0;
    name_of(i, name);
    const struct lks_doc *device = flashes_truth(&s->f, name, CLASS, &t);
    lks_test_case("%s: %s, %s", name, s->outcomes[i],
                  fault < LKS_COUNT(faults) ? faults[fault].body : "nothing wrong with it");
    if (!CHECK(device != NULL))
        return;
    CHECK(lks_doc_member(device, "flashes")->number <= 1);
    if (fault == LKS_COUNT(faults))
        CHECK(done);
    if (done) {
        CHECK_STR(lks_doc_text(device, "active"), VERSION);
        CHECK_INT(lks_doc_member(device, "flashes")->number, 1);
    } else if (strcmp(s->outcomes[i], "failed") == 0 && s->found[i][0] == '\0') {
        /* On a slow machine its time ends before it starts. */
        CHECK_STR(lks_doc_text(device, "active"), BEFORE);
        CHECK_INT(lks_doc_member(device, "flashes")->number, 0);
    } else if (strcmp(s->outcomes[i], "failed") == 0 && !faults[fault].lies) {
        CHECK_STR(lks_doc_text(device, "active"), s->found[i]);
    }
}

static void check_all(struct story *s)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    for (size_t i = 0; i < BMCS; i++)
        note_end(s, i);
    for (size_t i = 0; i < BMCS; i++)
        check_one(s, i);
    printf("     %zu done, %zu failed, %zu unknown, lockstepd was killed %zu times\n", s->done,
           s->failed, s->unknown, s->kills);
    CHECK(s->done >= BMCS - BMCS / FAULT_EACH);
    crew_fine(s->f.crew.root, "alarms", "/v1/alarms?open=true&limit=1000", NULL, &t);
    CHECK_INT(crew_count(&t, "items"), s->unknown);
}

static void test_story(void)
{
    static const char *const options[] = {
        "--count", "1000", "--personality", PERSONALITIES, "--speed", "100", NULL};
    static const char config[] = "sweep: {run: 'yes', site_leases: 1024}\n"
                                 "limits: {call_nodes: 1000}\n"
                                 "bmc: {speed: 100, concurrency: 128, site_concurrency: 128}\n";
    struct story *s = calloc(1, sizeof(*s));
    LKS_ASSERT(s != NULL);
    bool begun = flashes_begin(&s->f, options, config);
    if (begun && inventory(s) && flashes_bundle(&s->f, kinds, LKS_COUNT(kinds), CLASS, VERSION) &&
        spoil(s) && ask_all(s) && run_all(s))
        check_all(s);
    flashes_end(&s->f);
    free(s);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"a thousand BMCs, updated once each", test_story},
        {0},
    });
}
