/*
 * Whatever is lost, and whenever the process ends, each device is flashed at most once, and what is
 * said about it in the end is true. "Whenever" is after each request of an update that would have
 * gone well: before it leaves, when a part of it arrived, when all of it did and the answer was not
 * read, and when it was read and what follows from it not yet durable.
 */
#include "tests/bmcs.h"
#include "tests/test.h"

#include <stdlib.h>

#define NEW          "2.0.0"
#define REQUESTS_MAX 512
#define SPEED        100 /* what takes minutes takes seconds: fewer looks at the same task */

/* One of each kind of end: the BMC itself, a host that restarts, power that is cycled, a task that
 * follows another, devices that restart by themselves, several at a time. */
static const struct row {
    enum lks_bmcsim_personality personality;
    const char *class;
    const char *component; /* NULL: the class */
    unsigned unknown;      /* runs, at the most, that have to end with a question */
} rows[] = {
    {LKS_BMCSIM_OPENBMC, "bmc", NULL, 0}, {LKS_BMCSIM_OPENBMC, "bios", NULL, 0},
    {LKS_BMCSIM_HGX, "vbios", NULL, 0},   {LKS_BMCSIM_SUPERMICRO, "bios", NULL, 0},
    {LKS_BMCSIM_DELL, "bios", NULL, 0},   {LKS_BMCSIM_HPE, "bios", NULL, 0},
    {LKS_BMCSIM_HPE, "cpld", NULL, 0},    {LKS_BMCSIM_SHELF, "psu", "PSU_1", 0},
    {LKS_BMCSIM_SWITCH, "bios", NULL, 2}, {LKS_BMCSIM_SWITCH, "nvswitch", "ASIC2", 2},
};

static const struct mishap {
    const char *name;
    enum lks_bmcs_mishap mishap;
    unsigned amount;
    bool uploads; /* only for requests with a file */
} mishaps[] = {
    {"request lost", LKS_BMCS_LOSE_REQUEST, 0, false},
    {"answer lost", LKS_BMCS_LOSE_ANSWER, 0, false},
    {"cut at the first byte", LKS_BMCS_CUT, 0, true},
    {"cut in the parameters", LKS_BMCS_CUT, 20, true},
    {"cut in the image", LKS_BMCS_CUT, 600, true},
    {"cut before the last byte", LKS_BMCS_CUT, 999, true},
    {"killed before it is sent", LKS_BMCS_KILL_BEFORE, 0, false},
    {"killed in the parameters", LKS_BMCS_KILL_CUT, 20, true},
    {"killed in the image", LKS_BMCS_KILL_CUT, 600, true},
    {"killed before the last byte", LKS_BMCS_KILL_CUT, 999, true},
    {"killed before the answer", LKS_BMCS_KILL_SENT, 0, false},
    {"killed after the answer", LKS_BMCS_KILL_HEARD, 0, false},
};

static void begin(struct lks_bmcs *m, const struct row *row, struct lks_bmc_intent *intent)
{
    lks_bmcs_init(m, row->personality, 1, SPEED);
    lks_bmcs_package(m, row->personality, row->class, NEW, intent);
    intent->one_way = true;
    if (row->component != NULL)
        intent->component = lks_str_from(row->component);
}

/* What is said is what is: done only when it runs, unknown only when nobody could know. */
static void check(const struct lks_bmcs *m, const struct row *row,
                  const struct lks_bmcs_result *result)
{
    struct lks_bmcs_truth truth = lks_bmcs_truth(m, row->class, NEW);
    unsigned all = row->component != NULL ? 1 : truth.devices;
    enum lks_bmc_outcome outcome = result->status.outcome;
    CHECK_INT(result->end, LKS_BMCS_DONE);
    CHECK_INT(truth.bricked, 0);
    CHECK(truth.most_flashes <= 1);
    CHECK(outcome == LKS_BMC_DONE || outcome == LKS_BMC_UNKNOWN);
    if (outcome == LKS_BMC_DONE)
        CHECK_INT(truth.running, all);
    CHECK(result->status.text.len > 0);
}

/* The requests of an update that goes well. Those that repeat, as when a task is polled, count
 * once, and to those that change nothing only one thing happens, this or that; LKS_ALL is set for
 * all. */
struct calm {
    unsigned count, upload;
    bool tried[REQUESTS_MAX], acts[REQUESTS_MAX];
    uint64_t seen[REQUESTS_MAX];
};

static void note(void *context, const struct lks_http_request *request, int status)
{
    struct calm *calm = context;
    uint64_t hash = (uint64_t)(unsigned char)request->method[0];
    unsigned same = 0;
    (void)status;
    for (size_t i = 0; i < request->path.len; i++)
        hash = hash * 31 + (unsigned char)request->path.ptr[i];
    if (!CHECK(calm->count < REQUESTS_MAX))
        return;
    for (unsigned i = 0; i < calm->count; i++)
        same += calm->seen[i] == hash;
    bool all = getenv("LKS_ALL") != NULL;
    bool login = lks_str_find(lks_buf_view(&request->path), LKS_STR("Sessions")) >= 0;
    calm->tried[calm->count] = same == 0 || all;
    calm->acts[calm->count] = (strcmp(request->method, "GET") != 0 && !login) || all;
    calm->seen[calm->count++] = hash;
}

static void go_calmly(const struct row *row, struct calm *out)
{
    LKS_CLEANUP(lks_bmcs_fini) struct lks_bmcs m = {0};
    struct lks_bmc_intent intent;
    struct lks_bmcs_result result;
    *out = (struct calm){0};
    begin(&m, row, &intent);
    m.seen = note;
    m.context = out;
    lks_bmcs_update(&m, row->personality, &intent, &result);
    CHECK_STR(lks_str_from(lks_bmc_outcome_words[result.status.outcome]), "done");
    check(&m, row, &result);
    out->upload = m.first_upload;
    free(result.value);
}

static bool rough(const struct row *row, const struct mishap *mishap, unsigned at)
{
    LKS_CLEANUP(lks_bmcs_fini) struct lks_bmcs m = {0};
    struct lks_bmc_intent intent;
    struct lks_bmcs_result result;
    begin(&m, row, &intent);
    m.mishap = mishap->mishap;
    m.at = at;
    m.amount = mishap->amount;
    lks_bmcs_update(&m, row->personality, &intent, &result);
    check(&m, row, &result);
    bool unknown = result.status.outcome == LKS_BMC_UNKNOWN;
    free(result.value);
    return unknown;
}

static void try_row(const struct row *row)
{
    struct calm calm;
    unsigned runs = 0, unknown = 0;
    lks_test_case("%s %s", lks_bmcsim_words[row->personality], row->class);
    go_calmly(row, &calm);
    for (unsigned at = 0; at < calm.count; at++) {
        for (size_t i = 0; i < LKS_COUNT(mishaps); i++) {
            bool skipped = !calm.acts[at] && i != at % LKS_COUNT(mishaps);
            if (!calm.tried[at] || skipped || (mishaps[i].uploads && at != calm.upload))
                continue;
            lks_test_case("%s %s, request %u of %u, %s", lks_bmcsim_words[row->personality],
                          row->class, at, calm.count, mishaps[i].name);
            unknown += rough(row, &mishaps[i], at);
            runs++;
        }
    }
    lks_test_case("%s %s: %u of %u unknown", lks_bmcsim_words[row->personality], row->class,
                  unknown, runs);
    CHECK(unknown <= row->unknown);
}

static void test_each_request(void)
{
    for (size_t r = 0; r < LKS_COUNT(rows); r++)
        try_row(&rows[r]);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"the end of the process and losses at each request", test_each_request},
        {0},
    };
    return lks_test_main(tests);
}
