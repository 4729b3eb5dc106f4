/* Updates against the personalities of bmcsim: what goes well, what is refused before anything is
 * sent, and what goes wrong behind the BMC. In each the word at the end is held against the truth.
 */
#include "tests/bmcs.h"
#include "tests/facts.h"
#include "tests/test.h"

#include <stdlib.h>

#define NEW   "2.0.0"
#define SPEED 10

struct row {
    const char *name;
    enum lks_bmcsim_personality personality;
    const char *class;
    const char *component;        /* NULL: the class */
    enum lks_bmc_outcome outcome; /* what it ends as */
    const char *via;              /* NULL: nothing is sent */
    const char *says;             /* a piece of the reason */
    unsigned running;             /* devices that have the new version in the end */
};

static void begin(struct lks_bmcs *m, const struct row *row, struct lks_bmc_intent *intent)
{
    lks_bmcs_init(m, row->personality, 1, SPEED);
    lks_bmcs_package(m, row->personality, row->class, NEW, intent);
    intent->one_way = true;
    if (row->component != NULL)
        intent->component = lks_str_from(row->component);
}

static void finish(struct lks_bmcs *m, const struct row *row, const struct lks_bmc_intent *intent)
{
    struct lks_bmcs_result result;
    lks_test_case("%s", row->name);
    lks_bmcs_update(m, row->personality, intent, &result);
    CHECK_INT(result.end, LKS_BMCS_DONE);
    CHECK_STR(lks_str_from(lks_bmc_outcome_words[result.status.outcome]),
              lks_bmc_outcome_words[row->outcome]);
    CHECK_HAS(result.status.text, row->says);
    CHECK_STR(result.status.via, row->via != NULL ? row->via : "");
    struct lks_bmcs_truth truth = lks_bmcs_truth(m, row->class, NEW);
    CHECK_INT(truth.running, row->running);
    CHECK(truth.most_flashes <= 1);
    CHECK_INT(result.status.percent, 100);
    CHECK(lks_str_find(lks_buf_view(&m->saved), LKS_STR(LKS_BMCS_PASSWORD)) < 0);
    free(result.value);
}

/* What goes well ---------------------------------------------------------------------------- */

#define MULTIPART "MultipartHttpPushUri"
#define FORM      "HttpPushUri (form)"
#define NVOS      "fetch and install"
#define AGREES    "3 times in a row"

static const struct row good[] = {
    {"openbmc: the BMC", LKS_BMCSIM_OPENBMC, "bmc", NULL, LKS_BMC_DONE, MULTIPART, AGREES, 1},
    {"openbmc: host firmware, and no way back", LKS_BMCSIM_OPENBMC, "bios", NULL, LKS_BMC_DONE,
     MULTIPART, "cannot be reverted to 1.0.0: the lowest version it takes is now 2.0.0", 1},
    {"openbmc: a power cycle by the chassis", LKS_BMCSIM_OPENBMC, "cpld", NULL, LKS_BMC_DONE,
     MULTIPART, AGREES, 1},
    {"openbmc: one entry by its id", LKS_BMCSIM_OPENBMC, "nic", "NIC_1", LKS_BMC_DONE, MULTIPART,
     AGREES, 1},
    {"hgx: the BMC of the tray", LKS_BMCSIM_HGX, "bmc", NULL, LKS_BMC_DONE, MULTIPART, AGREES, 1},
    {"hgx: eight GPUs", LKS_BMCSIM_HGX, "vbios", NULL, LKS_BMC_DONE, MULTIPART, "8 of 8", 8},
    {"hgx: versions with a suffix", LKS_BMCSIM_HGX, "erot", NULL, LKS_BMC_DONE, MULTIPART, "9 of 9",
     9},
    {"hgx: only a reset of the domain makes it run", LKS_BMCSIM_HGX, "nvswitch", NULL,
     LKS_BMC_STAGED, MULTIPART, "waits for a reset of kind 'domain'", 0},
    {"supermicro: the BMC", LKS_BMCSIM_SUPERMICRO, "bmc", NULL, LKS_BMC_DONE, MULTIPART, AGREES, 1},
    {"supermicro: host firmware in two tasks", LKS_BMCSIM_SUPERMICRO, "bios", NULL, LKS_BMC_DONE,
     MULTIPART, AGREES, 1},
    {"supermicro: a power cycle of its own", LKS_BMCSIM_SUPERMICRO, "cpld", NULL, LKS_BMC_DONE,
     MULTIPART, AGREES, 1},
    {"dell: ids change with the version", LKS_BMCSIM_DELL, "bmc", NULL, LKS_BMC_DONE, MULTIPART,
     "1 of 1", 1},
    {"dell: host firmware", LKS_BMCSIM_DELL, "bios", NULL, LKS_BMC_DONE, MULTIPART, AGREES, 1},
    {"dell: off before the power cycle", LKS_BMCSIM_DELL, "cpld", NULL, LKS_BMC_DONE, MULTIPART,
     AGREES, 1},
    {"hpe: the BMC by the form", LKS_BMCSIM_HPE, "bmc", NULL, LKS_BMC_DONE, FORM, AGREES, 1},
    {"hpe: an error that is only a reset", LKS_BMCSIM_HPE, "bios", NULL, LKS_BMC_DONE, FORM, AGREES,
     1},
    {"hpe: off before the power cycle", LKS_BMCSIM_HPE, "cpld", NULL, LKS_BMC_DONE, FORM, AGREES,
     1},
    {"lenovo: the BMC, write-protected as each entry is", LKS_BMCSIM_LENOVO, "bmc", NULL,
     LKS_BMC_DONE, MULTIPART, AGREES, 1},
    {"lenovo: host firmware", LKS_BMCSIM_LENOVO, "bios", NULL, LKS_BMC_DONE, MULTIPART, AGREES, 1},
    {"lenovo: two adapters", LKS_BMCSIM_LENOVO, "nic", NULL, LKS_BMC_DONE, MULTIPART, "2 of 2", 2},
    {"shelf: its controller", LKS_BMCSIM_SHELF, "power-shelf", NULL, LKS_BMC_DONE, MULTIPART,
     AGREES, 1},
    {"shelf: one power supply", LKS_BMCSIM_SHELF, "psu", "PSU_1", LKS_BMC_DONE, MULTIPART, AGREES,
     1},
    {"shelf: not both sides of a pair", LKS_BMCSIM_SHELF, "psu", NULL, LKS_BMC_REFUSED, MULTIPART,
     "they are redundant peers", 0},
    {"switch: host firmware", LKS_BMCSIM_SWITCH, "bios", NULL, LKS_BMC_DONE, NVOS, AGREES, 1},
    {"switch: two switch chips, one after the other", LKS_BMCSIM_SWITCH, "nvswitch", NULL,
     LKS_BMC_DONE, NVOS, "2 of 2", 2},
    {"switch: a power cycle", LKS_BMCSIM_SWITCH, "cpld", NULL, LKS_BMC_DONE, NVOS, AGREES, 1},
};

static void test_good(void)
{
    for (size_t i = 0; i < LKS_COUNT(good); i++) {
        LKS_CLEANUP(lks_bmcs_fini) struct lks_bmcs m = {0};
        struct lks_bmc_intent intent;
        begin(&m, &good[i], &intent);
        finish(&m, &good[i], &intent);
    }
}

/* Refused before anything is sent ----------------------------------------------------------- */

static void older(struct lks_bmc_intent *intent)
{
    intent->version = LKS_STR("0.9.0");
}
static void same(struct lks_bmc_intent *intent)
{
    intent->version = LKS_STR("1.0.0");
}
static void huge(struct lks_bmc_intent *intent)
{
    intent->image_size = UINT64_C(1) << 40;
}
static void strange_time(struct lks_bmc_intent *intent)
{
    intent->apply_time = LKS_STR("OnStartUpdateRequest");
}
static void not_acknowledged(struct lks_bmc_intent *intent)
{
    intent->one_way = false;
}
static void overridden(struct lks_bmc_intent *intent)
{
    intent->write_protected = true;
}
static void no_address(struct lks_bmc_intent *intent)
{
    intent->pull = LKS_STR("");
}
static void too_late(struct lks_bmc_intent *intent)
{
    intent->deadline = 1;
}
static void by_switch(struct lks_bmc_intent *intent)
{
    intent->act = LKS_BMC_SWITCH;
}
static void by_abort(struct lks_bmc_intent *intent)
{
    intent->act = LKS_BMC_ABORT;
}

static const struct refusal {
    struct row row;
    void (*change)(struct lks_bmc_intent *intent);
} refusals[] = {
    {{"older", LKS_BMCSIM_OPENBMC, "bmc", NULL, LKS_BMC_REFUSED, NULL, "0.9.0 is older than 1.0.0",
      0},
     older},
    {{"the same", LKS_BMCSIM_OPENBMC, "bmc", NULL, LKS_BMC_SAME, NULL, "runs 1.0.0 already", 0},
     same},
    {{"too large", LKS_BMCSIM_OPENBMC, "bmc", NULL, LKS_BMC_REFUSED, NULL, "MaxImageSizeBytes", 0},
     huge},
    {{"an apply time it does not offer", LKS_BMCSIM_OPENBMC, "bmc", NULL, LKS_BMC_REFUSED, NULL,
      "does not offer the apply time", 0},
     strange_time},
    {{"one-way and not acknowledged", LKS_BMCSIM_SHELF, "psu", "PSU_1", LKS_BMC_REFUSED, NULL,
      "is irreversible", 0},
     not_acknowledged},
    {{"not updateable", LKS_BMCSIM_HGX, "vbios", "HGX_InfoROM_GPU_SXM_1", LKS_BMC_REFUSED, NULL,
      "not updateable", 0},
     NULL},
    {{"write-protected", LKS_BMCSIM_SUPERMICRO, "bmc", "PowerSupply1", LKS_BMC_REFUSED, NULL,
      "PowerSupply1 is write-protected", 0},
     NULL},
    {{"lenovo: not updateable, with the override", LKS_BMCSIM_LENOVO, "bmc", "GPU1",
      LKS_BMC_REFUSED, NULL, "GPU1 is write-protected and not updateable", 0},
     overridden},
    {{"not updateable, with the override", LKS_BMCSIM_SUPERMICRO, "bmc", "PowerSupply1",
      LKS_BMC_REFUSED, NULL, "PowerSupply1 is write-protected and not updateable", 0},
     overridden},
    {{"nothing of that name", LKS_BMCSIM_DELL, "bmc", "frobnicator", LKS_BMC_REFUSED, NULL,
      "no entry frobnicator", 0},
     NULL},
    {{"a tray that is not told from where", LKS_BMCSIM_SWITCH, "bios", NULL, LKS_BMC_REFUSED, NULL,
      "set bmc.pull", 0},
     no_address},
    {{"a deadline that is over", LKS_BMCSIM_DELL, "bmc", NULL, LKS_BMC_REFUSED, NULL, "deadline",
      0},
     too_late},
    {{"no switch of banks here", LKS_BMCSIM_DELL, "bios", NULL, LKS_BMC_REFUSED, NULL,
      "flash the version before", 0},
     by_switch},
    {{"nothing to give up", LKS_BMCSIM_SUPERMICRO, "cpld", NULL, LKS_BMC_SAME, NULL,
      "nothing of cpld is staged", 0},
     by_abort},
};

static void test_refusals(void)
{
    for (size_t i = 0; i < LKS_COUNT(refusals); i++) {
        LKS_CLEANUP(lks_bmcs_fini) struct lks_bmcs m = {0};
        struct lks_bmc_intent intent;
        begin(&m, &refusals[i].row, &intent);
        if (refusals[i].change != NULL)
            refusals[i].change(&intent);
        if (intent.deadline == 1)
            intent.deadline = m.now + 5; /* before the first answer */
        finish(&m, &refusals[i].row, &intent);
        CHECK_INT(m.uploads, 0);
        CHECK_INT(lks_bmcsim_updates(m.sim), 0);
    }
}

/* The lowest version rises with an update, and then an older one is refused whatever is said. */
static void test_lowest(void)
{
    LKS_CLEANUP(lks_bmcs_fini) struct lks_bmcs m = {0};
    struct lks_bmc_intent intent;
    const struct row row = {"below the lowest",
                            LKS_BMCSIM_SUPERMICRO,
                            "bios",
                            NULL,
                            LKS_BMC_REFUSED,
                            NULL,
                            "below 2.0.0, the lowest",
                            1};
    struct lks_bmcs_result first;
    begin(&m, &row, &intent);
    lks_bmcs_update(&m, row.personality, &intent, &first);
    CHECK_INT(first.status.outcome, LKS_BMC_DONE);
    free(first.value);
    lks_buf_truncate(&m.saved, 0);
    intent.version = LKS_STR("1.5.0");
    intent.force = true;
    finish(&m, &row, &intent);
}

/* Staged now, activated later --------------------------------------------------------------- */

static const struct row staged[] = {
    {"openbmc: host firmware", LKS_BMCSIM_OPENBMC, "bios", NULL, LKS_BMC_STAGED, MULTIPART,
     "waits for its activation", 0},
    {"hgx: eight GPUs", LKS_BMCSIM_HGX, "vbios", NULL, LKS_BMC_STAGED, MULTIPART,
     "waits for its activation", 0},
    {"supermicro: host firmware", LKS_BMCSIM_SUPERMICRO, "bios", NULL, LKS_BMC_STAGED, MULTIPART,
     "waits for its activation", 0},
    {"dell: host firmware", LKS_BMCSIM_DELL, "bios", NULL, LKS_BMC_STAGED, MULTIPART,
     "waits for its activation", 0},
    {"hpe: host firmware", LKS_BMCSIM_HPE, "bios", NULL, LKS_BMC_STAGED, FORM,
     "waits for its activation", 0},
};

static void test_staged(void)
{
    for (size_t i = 0; i < LKS_COUNT(staged); i++) {
        LKS_CLEANUP(lks_bmcs_fini) struct lks_bmcs m = {0};
        struct lks_bmc_intent intent;
        begin(&m, &staged[i], &intent);
        intent.act = LKS_BMC_STAGE;
        finish(&m, &staged[i], &intent);
        struct lks_bmcs_truth truth = lks_bmcs_truth(&m, staged[i].class, NEW);
        CHECK_INT(truth.staged, truth.devices);
        struct row later = staged[i];
        later.outcome = LKS_BMC_DONE;
        later.says = AGREES;
        later.via = NULL;
        later.running = truth.devices;
        lks_buf_truncate(&m.saved, 0);
        intent.act = LKS_BMC_ACTIVATE;
        intent.deadline = m.now + LKS_BMCS_HOUR;
        finish(&m, &later, &intent);
        CHECK_INT(m.uploads, 1);
    }
}

/* Given up, and back to the other bank: a bank that is staged is not that of the version before,
 * and no image is sent a second time. */
static void test_banks(void)
{
    LKS_CLEANUP(lks_bmcs_fini) struct lks_bmcs m = {0};
    struct lks_bmc_intent intent;
    const char *class = "bmc";
    struct row row = {"given up", LKS_BMCSIM_OPENBMC,         class, NULL, LKS_BMC_STAGED,
                      MULTIPART,  "waits for its activation", 0};
    begin(&m, &row, &intent);
    intent.act = LKS_BMC_STAGE;
    finish(&m, &row, &intent);
    const struct {
        const char *name, *via, *says, *version;
        enum lks_bmc_act act;
        enum lks_bmc_outcome outcome;
        unsigned running;
    } steps[] = {
        {"what is staged is given up", "", "nothing of bmc is staged any more; it runs 1.0.0", NEW,
         LKS_BMC_ABORT, LKS_BMC_DONE, 0},
        {"there is nothing to give up", "", "nothing of bmc is staged", NEW, LKS_BMC_ABORT,
         LKS_BMC_SAME, 0},
        {"it is brought once more", MULTIPART, AGREES, NEW, LKS_BMC_UPDATE, LKS_BMC_DONE, 1},
        {"back to the other bank", "", AGREES, "1.0.0", LKS_BMC_SWITCH, LKS_BMC_DONE, 0},
        {"and forth, whatever it holds", "", AGREES, "", LKS_BMC_SWITCH, LKS_BMC_DONE, 1},
    };
    for (size_t i = 0; i < LKS_COUNT(steps); i++) {
        struct lks_bmcs_result result;
        lks_test_case("%s", steps[i].name);
        lks_buf_truncate(&m.saved, 0);
        intent.act = steps[i].act;
        intent.version = lks_str_from(steps[i].version);
        intent.deadline = m.now + LKS_BMCS_HOUR;
        lks_bmcs_update(&m, row.personality, &intent, &result);
        CHECK_INT(result.end, LKS_BMCS_DONE);
        CHECK_STR(lks_str_from(lks_bmc_outcome_words[result.status.outcome]),
                  lks_bmc_outcome_words[steps[i].outcome]);
        CHECK_HAS(result.status.text, steps[i].says);
        CHECK_STR(result.status.via, steps[i].via);
        CHECK_INT(lks_bmcs_truth(&m, class, NEW).running, steps[i].running);
        CHECK_INT(lks_bmcs_truth(&m, class, NEW).staged, 0);
        free(result.value);
    }
    CHECK_INT(m.uploads, 2);
}

/* What goes wrong behind the BMC ------------------------------------------------------------ */

static const struct trouble {
    struct row row;
    struct lks_bmcsim_fault_set fault;
} troubles[] = {
    {{"the old version comes back", LKS_BMCSIM_OPENBMC, "bios", NULL, LKS_BMC_FAILED, MULTIPART,
      "still runs 1.0.0", 0},
     {LKS_FAULT_REVERT, {"", 0}, 0, 0}},
    {{"a wrong version now and then", LKS_BMCSIM_OPENBMC, "bmc", NULL, LKS_BMC_DONE, MULTIPART,
      AGREES, 1},
     {LKS_FAULT_WRONG_VERSION, {"", 0}, 0, 3}},
    {{"a task that never ends: it did its part", LKS_BMCSIM_HGX, "vbios", NULL, LKS_BMC_DONE,
      MULTIPART, AGREES, 8},
     {LKS_FAULT_TASK_STUCK, {"", 0}, 0, 1}},
    {{"a task that never ends: the inventory tells at the deadline", LKS_BMCSIM_SHELF, "psu",
      "PSU_1", LKS_BMC_DONE, MULTIPART, AGREES, 1},
     {LKS_FAULT_TASK_STUCK, {"", 0}, 0, 1}},
    {{"a task that vanishes", LKS_BMCSIM_OPENBMC, "bmc", NULL, LKS_BMC_DONE, MULTIPART, AGREES, 1},
     {LKS_FAULT_TASK_LOST, {"", 0}, 0, 1}},
    {{"the BMC restarts while it writes", LKS_BMCSIM_DELL, "bios", NULL, LKS_BMC_UNKNOWN, MULTIPART,
      "vanished", 0},
     {LKS_FAULT_BMC_REBOOT, LKS_STR_C("staging"), 0, 1}},
    {{"the BMC restarts during the reset", LKS_BMCSIM_DELL, "bios", NULL, LKS_BMC_DONE, MULTIPART,
      AGREES, 1},
     {LKS_FAULT_BMC_REBOOT, LKS_STR_C("reset"), 0, 1}},
    {{"power is lost while it writes", LKS_BMCSIM_SUPERMICRO, "bmc", NULL, LKS_BMC_FAILED,
      MULTIPART, "1.0.0", 0},
     {LKS_FAULT_POWER_LOSS, LKS_STR_C("staging"), 0, 1}},
    {{"sessions end every minute", LKS_BMCSIM_SUPERMICRO, "bios", NULL, LKS_BMC_DONE, MULTIPART,
      AGREES, 1},
     {LKS_FAULT_SESSION, {"", 0}, 60000, 0}},
    {{"slow", LKS_BMCSIM_HPE, "bios", NULL, LKS_BMC_DONE, FORM, AGREES, 1},
     {LKS_FAULT_SLOW, {"", 0}, 4000, 0}},
    {{"uploads are refused", LKS_BMCSIM_OPENBMC, "bmc", NULL, LKS_BMC_REFUSED, MULTIPART,
      "the service refused it: status 400", 0},
     {LKS_FAULT_REFUSE, {"", 0}, 400, 0}},
    {{"uploads fail without a word", LKS_BMCSIM_OPENBMC, "bmc", NULL, LKS_BMC_FAILED, MULTIPART,
      "3 times and never arrived", 0},
     {LKS_FAULT_REFUSE, {"", 0}, 500, 0}},
};

static void test_troubles(void)
{
    for (size_t i = 0; i < LKS_COUNT(troubles); i++) {
        LKS_CLEANUP(lks_bmcs_fini) struct lks_bmcs m = {0};
        struct lks_bmc_intent intent;
        begin(&m, &troubles[i].row, &intent);
        lks_bmcsim_fault(m.sim, &troubles[i].fault);
        finish(&m, &troubles[i].row, &intent);
    }
}

/* Services as they were seen in the field: older schemas, no sessions, and a failure that only a
 * message tells. */
static const struct {
    struct row row;
    struct lks_bmcsim_fault_set fault;
    bool old; /* its messages have Severity alone */
} services[] = {
    {{"Completed and OK, with a critical message", LKS_BMCSIM_OPENBMC, "bmc", NULL, LKS_BMC_FAILED,
      MULTIPART, "The job could not be completed", 0},
     {LKS_FAULT_CRITICAL, {"", 0}, 0, 0},
     false},
    {{"the same with Severity in place of MessageSeverity", LKS_BMCSIM_OPENBMC, "bmc", NULL,
      LKS_BMC_FAILED, MULTIPART, "The job could not be completed", 0},
     {LKS_FAULT_CRITICAL, {"", 0}, 0, 0},
     true},
    {{"no sessions: 404", LKS_BMCSIM_OPENBMC, "bmc", NULL, LKS_BMC_DONE, MULTIPART, AGREES, 1},
     {LKS_FAULT_NO_SESSIONS, {"", 0}, 404, 0},
     false},
    {{"no sessions: 405", LKS_BMCSIM_DELL, "bios", NULL, LKS_BMC_DONE, MULTIPART, AGREES, 1},
     {LKS_FAULT_NO_SESSIONS, {"", 0}, 405, 0},
     false},
    {{"no sessions: 501", LKS_BMCSIM_LENOVO, "bios", NULL, LKS_BMC_DONE, MULTIPART, AGREES, 1},
     {LKS_FAULT_NO_SESSIONS, {"", 0}, 501, 0},
     true},
};

static void test_services(void)
{
    for (size_t i = 0; i < LKS_COUNT(services); i++) {
        LKS_CLEANUP(lks_bmcs_fini) struct lks_bmcs m = {0};
        struct lks_bmc_intent intent;
        begin(&m, &services[i].row, &intent);
        lks_bmcsim_fault(m.sim, &services[i].fault);
        if (services[i].old)
            lks_bmcsim_fault(m.sim, &(struct lks_bmcsim_fault_set){.fault = LKS_FAULT_SEVERITY});
        finish(&m, &services[i].row, &intent);
    }
}

/* Back to the other bank, where that goes wrong. What did not switch is flashed again with the
 * version before. */
static const struct {
    const char *name, *at;
    enum lks_bmc_outcome outcome;
    const char *says;
    bool flashed; /* again, with the version before */
} switches[] = {
    {"refused", "refuse", LKS_BMC_REFUSED, "the switch of banks was refused: ", true},
    {"failed", "fail", LKS_BMC_FAILED, "Image 1.0.0 could not be activated on bmc_active", true},
    {"202 without a task", "no-task", LKS_BMC_DONE, AGREES, false},
};

static void run_to(struct lks_bmcs *m, struct lks_bmc_intent *intent, enum lks_bmc_outcome outcome,
                   const char *says)
{
    struct lks_bmcs_result result;
    lks_buf_truncate(&m->saved, 0);
    intent->deadline = m->now + LKS_BMCS_HOUR;
    lks_bmcs_update(m, LKS_BMCSIM_OPENBMC, intent, &result);
    CHECK_INT(result.end, LKS_BMCS_DONE);
    CHECK_STR(lks_str_from(lks_bmc_outcome_words[result.status.outcome]),
              lks_bmc_outcome_words[outcome]);
    CHECK_HAS(result.status.text, says);
    free(result.value);
}

static void test_switches(void)
{
    for (size_t i = 0; i < LKS_COUNT(switches); i++) {
        LKS_CLEANUP(lks_bmcs_fini) struct lks_bmcs m = {0};
        struct lks_bmc_intent there, back;
        lks_test_case("%s", switches[i].name);
        lks_bmcs_init(&m, LKS_BMCSIM_OPENBMC, 1, SPEED);
        lks_bmcs_package(&m, LKS_BMCSIM_OPENBMC, "bmc", NEW, &there);
        run_to(&m, &there, LKS_BMC_DONE, AGREES);
        lks_bmcsim_fault(m.sim, &(struct lks_bmcsim_fault_set){LKS_FAULT_SWITCH,
                                                               lks_str_from(switches[i].at), 0, 0});
        back = there;
        back.act = LKS_BMC_SWITCH;
        back.version = LKS_STR("1.0.0");
        run_to(&m, &back, switches[i].outcome, switches[i].says);
        CHECK_INT(lks_bmcs_truth(&m, "bmc", NEW).running, switches[i].flashed);
        CHECK_INT(m.uploads, 1);
        if (!switches[i].flashed)
            continue;
        lks_bmcs_package(&m, LKS_BMCSIM_OPENBMC, "bmc", "1.0.0", &back);
        back.force = true;
        run_to(&m, &back, LKS_BMC_DONE, AGREES);
        CHECK_INT(lks_bmcs_truth(&m, "bmc", "1.0.0").running, 1);
        CHECK_INT(m.uploads, 2);
    }
}

/* From some request on nothing arrives any more. What had been sent by then decides: nothing, and
 * it is a failure to reach it; something, and only a person can tell. */
static void test_silence(void)
{
    for (unsigned at = 0; at < 14; at++) {
        LKS_CLEANUP(lks_bmcs_fini) struct lks_bmcs m = {0};
        struct lks_bmc_intent intent;
        struct lks_bmcs_result result;
        const struct row row = {"silence", LKS_BMCSIM_OPENBMC, "bmc", NULL, LKS_BMC_OPEN, NULL, "",
                                0};
        begin(&m, &row, &intent);
        m.lose_all = true;
        m.at = at;
        lks_test_case("silence from request %u on", at);
        lks_bmcs_update(&m, row.personality, &intent, &result);
        bool sent = m.uploads > 0;
        CHECK_INT(result.end, sent ? LKS_BMCS_DONE : LKS_BMCS_FAIL);
        CHECK_INT(result.status.outcome, sent ? LKS_BMC_UNKNOWN : LKS_BMC_REFUSED);
        CHECK_HAS(result.status.text, sent ? "does not answer" : "no good answer");
        CHECK(m.uploads <= 1);
        free(result.value);
    }
}

/* Another's update runs ---------------------------------------------------------------------- */

static void test_second(void)
{
    for (int p = 0; p < LKS_BMCSIM_PERSONALITIES; p++) {
        if (p == LKS_BMCSIM_SWITCH)
            continue;
        LKS_CLEANUP(lks_bmcs_fini) struct lks_bmcs m = {0};
        struct lks_bmc_intent intent;
        const struct row row = {lks_bmcsim_words[p],
                                (enum lks_bmcsim_personality)p,
                                p == LKS_BMCSIM_SHELF ? "power-shelf" : "bmc",
                                NULL,
                                LKS_BMC_REFUSED,
                                NULL,
                                "an update is running there already",
                                0};
        const struct lks_bmc_driver *driver = lks_bmcs_driver(row.personality);
        struct lks_bmc_secret secret = lks_bmcs_secret();
        struct lks_err err = {0};
        void *first = calloc(1, driver->update->size);
        LKS_ASSERT(first != NULL);
        begin(&m, &row, &intent);
        CHECK_CODE(driver->update_begin(first, lks_test_facts(), &secret, &intent, &err), LKS_OK);
        m.mishap = LKS_BMCS_KILL_SENT; /* the first one goes away when it has sent its image */
        m.at_upload = true;
        CHECK_INT(lks_bmcs_run(&m, driver->update, first), LKS_BMCS_KILLED);
        CHECK_INT(m.uploads, 1);
        lks_buf_truncate(&m.saved, 0); /* and the second one knows nothing of it */
        m.mishap = LKS_BMCS_NONE;
        m.now += 6 * LKS_SECOND;
        finish(&m, &row, &intent);
        CHECK_INT(m.uploads, 1);
        free(first);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"what goes well", test_good},
        {"refused before anything is sent", test_refusals},
        {"below the lowest version", test_lowest},
        {"staged now, activated later", test_staged},
        {"given up, and back to the other bank", test_banks},
        {"what goes wrong behind the BMC", test_troubles},
        {"services as they were seen in the field", test_services},
        {"the switch of banks goes wrong", test_switches},
        {"silence", test_silence},
        {"a second update while one runs", test_second},
        {0},
    };
    return lks_test_main(tests);
}
