#include "lab/bmcsim/bmcsim.h"

#include "base/rng.h"
#include "tests/asksim.h"
#include "tests/test.h"

#include <stdio.h>

#define V1    "/redfish/v1"
#define HOUR  3600
#define BYTES 20000

static const char now[] = "{\"@Redfish.OperationApplyTime\":\"Immediate\"}";

static void fault(struct lks_asksim *s, enum lks_bmcsim_fault what, const char *at, uint64_t amount,
                  uint32_t times)
{
    lks_bmcsim_fault(s->b,
                     &(struct lks_bmcsim_fault_set){
                         .fault = what, .at = lks_str_from(at), .amount = amount, .times = times});
}

static int push(struct lks_asksim *s, const char *class, const char *version, const char *how)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf package = {0};
    lks_asksim_package(s, class, version, BYTES, &package);
    return lks_asksim_push(s, how, lks_buf_view(&package));
}

static int members(struct lks_asksim *s, const char *path)
{
    const struct lks_doc *d =
        lks_asksim_get(s, path) == 200 ? lks_doc_member(s->doc, "Members") : NULL;
    return d != NULL ? (int)d->count : -1;
}

/* ---- One update with one fault ---- */

static const struct row {
    const char *name;
    enum lks_bmcsim_personality personality;
    const char *class;
    enum lks_bmcsim_fault fault;
    const char *at;
    int status; /* of the push; 0: nobody answers */
    const char *active, *staged, *backup;
    int flashes, activations;
    bool bricked;
    int tasks; /* that are listed an hour later; -1: nobody answers */
} rows[] = {
    {"power goes while the upload comes", LKS_BMCSIM_OPENBMC, "bmc", LKS_FAULT_POWER_LOSS, "upload",
     0, "1.0.0", "", "", 0, 0, false, 0},
    {"power goes while staging: the old bank runs", LKS_BMCSIM_OPENBMC, "bmc", LKS_FAULT_POWER_LOSS,
     "staging", 202, "1.0.0", "", "", 0, 0, false, 0},
    {"one bank too: it was not written yet", LKS_BMCSIM_DELL, "cpld", LKS_FAULT_POWER_LOSS,
     "staging", 202, "1.0.0", "", "", 0, 0, false, 1},
    {"one bank, power goes while activating", LKS_BMCSIM_DELL, "psu", LKS_FAULT_POWER_LOSS,
     "activating", 202, "", "", "", 1, 0, true, 1},
    {"one bank that recovers", LKS_BMCSIM_HPE, "bmc", LKS_FAULT_POWER_LOSS, "activating", 200,
     "1.0.0", "", "", 1, 0, false, 0},
    {"the old version runs again", LKS_BMCSIM_OPENBMC, "bmc", LKS_FAULT_REVERT, "", 202, "1.0.0",
     "", "", 1, 0, false, 0},
    {"the BMC restarts while the upload comes", LKS_BMCSIM_DELL, "bmc", LKS_FAULT_BMC_REBOOT,
     "upload", 0, "1.0.0", "", "", 0, 0, false, 0},
    {"the BMC restarts while staging", LKS_BMCSIM_DELL, "bmc", LKS_FAULT_BMC_REBOOT, "staging", 202,
     "1.0.0", "", "", 0, 0, false, 0},
    {"the BMC restarts while activating", LKS_BMCSIM_DELL, "bios", LKS_FAULT_BMC_REBOOT,
     "activating", 202, "1.1.0", "", "1.0.0", 1, 1, false, 0},
    {"a task is lost", LKS_BMCSIM_DELL, "bmc", LKS_FAULT_TASK_LOST, "", 202, "1.1.0", "", "1.0.0",
     1, 1, false, 0},
    {"a task is stuck", LKS_BMCSIM_DELL, "bmc", LKS_FAULT_TASK_STUCK, "", 202, "1.1.0", "", "1.0.0",
     1, 1, false, 1},
    {"this revision is bricked", LKS_BMCSIM_DELL, "nic", LKS_FAULT_BRICK, "A", 202, "", "", "", 1,
     0, true, 1},
    {"another revision is not", LKS_BMCSIM_DELL, "nic", LKS_FAULT_BRICK, "B", 202, "1.1.0", "",
     "1.0.0", 1, 1, false, 1},
    {"a bricked BMC says nothing", LKS_BMCSIM_DELL, "bmc", LKS_FAULT_BRICK, "A", 202, "", "", "", 1,
     0, true, -1},
};

static void test_one_fault(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        const struct row *row = &rows[i];
        lks_test_case("%s", row->name);
        LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
        lks_asksim_open(&s, row->personality, 1);
        fault(&s, row->fault, row->at, 0, 1);
        bool supply = row->personality == LKS_BMCSIM_DELL && row->class[0] == 'p';
        const char *how = supply ? "{\"Targets\":[\"" V1 "/UpdateService/FirmwareInventory/"
                                   "Installed-104684-1.0.0__PSU.Slot.1\"]}"
                                 : now;
        CHECK_INT(push(&s, row->class, "1.1.0", how), row->status);
        CHECK_INT(lks_bmcsim_updates(s.b), row->status != 0);
        lks_asksim_wait(&s, HOUR);
        struct lks_bmcsim_device d = lks_asksim_device(&s, row->class, 0);
        CHECK_STR(d.active, row->active);
        CHECK_STR(d.staged, row->staged);
        CHECK_STR(d.backup, row->backup);
        CHECK_INT(d.flashes, row->flashes);
        CHECK_INT(d.begun, row->status != 0);
        CHECK_INT(d.activations, row->activations);
        CHECK_INT(d.bricked, row->bricked);
        CHECK_INT(members(&s, V1 "/TaskService/Tasks"), row->tasks);
        CHECK(lks_bmcsim_next(s.b) == UINT64_MAX);
    }
}

/* An image with a flaw: a device of that hardware revision takes it and cannot start it. */
static void test_flawed_image(void)
{
    static const struct {
        const char *name, *fails_on;
        unsigned slower;
        const char *active;
        int activations;
    } flaws[] = {
        {"on this revision the old one runs on", "A", 0, "1.0.0", 0},
        {"on another revision it is good", "B", 0, "1.1.0", 1},
        {"good everywhere, and slow", NULL, 20, "1.1.0", 1},
        {"slow where it runs", "A", 20, "1.0.0", 0},
    };
    for (size_t i = 0; i < LKS_COUNT(flaws); i++) {
        LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf package = LKS_BUF((size_t)1 << 20);
        struct lks_err err = {0};
        lks_test_case("%s", flaws[i].name);
        lks_asksim_open(&s, LKS_BMCSIM_OPENBMC, 1);
        double tokens = lks_bmcsim_metrics_tokens(s.b, HOUR);
        CHECK_CODE(lks_bmcsim_image_package_make(
                       &(struct lks_bmcsim_make){.personality = LKS_BMCSIM_OPENBMC,
                                                 .class = "bmc",
                                                 .version = "1.1.0",
                                                 .fails_on = flaws[i].fails_on,
                                                 .slower = flaws[i].slower,
                                                 .size = BYTES},
                       &package, &err),
                   LKS_OK);
        CHECK_INT(lks_asksim_push(&s, now, lks_buf_view(&package)), 202);
        lks_asksim_wait(&s, HOUR);
        struct lks_bmcsim_device d = lks_asksim_device(&s, "bmc", 0);
        CHECK_STR(d.active, flaws[i].active);
        CHECK_INT(d.flashes, 1);
        CHECK_INT(d.activations, flaws[i].activations);
        double share = d.activations > 0 ? 1 - flaws[i].slower / 1000.0 : 1;
        CHECK(lks_bmcsim_metrics_tokens(s.b, HOUR) == tokens * share);
    }
}

/* Machines differ, and so do readings of one; whoever reads a moment again reads the same. */
static void test_metrics(void)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    lks_asksim_open(&s, LKS_BMCSIM_OPENBMC, 1);
    CHECK_INT(lks_asksim_get(&s, "/metrics"), 200);
    CHECK_HAS(lks_buf_view(&s.reply.body), "\nsim_tokens_per_second ");
    CHECK_HAS(lks_buf_view(&s.reply.body), "\nsim_gpu_busy_seconds_total ");
    double now_and_later[] = {lks_bmcsim_metrics_tokens(s.b, 5000),
                              lks_bmcsim_metrics_tokens(s.b, 6000)};
    CHECK(now_and_later[0] != now_and_later[1]);
    CHECK(now_and_later[0] == lks_bmcsim_metrics_tokens(s.b, 5999));
    CHECK(now_and_later[0] > 900 && now_and_later[0] < 1100);
}

/* Nothing answers while the BMC is away; then it works again, and the same update goes through. */
static void test_comes_back(void)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    lks_asksim_open(&s, LKS_BMCSIM_OPENBMC, 1);
    fault(&s, LKS_FAULT_POWER_LOSS, "staging", 0, 1);
    CHECK_INT(push(&s, "bmc", "1.1.0", now), 202);
    lks_asksim_wait(&s, 5 + 90);
    CHECK_INT(lks_asksim_get(&s, V1), 0);
    lks_asksim_wait(&s, 90);
    CHECK_INT(lks_asksim_get(&s, V1), 200);
    CHECK_INT(push(&s, "bmc", "1.1.0", now), 202);
    lks_asksim_wait(&s, HOUR);
    CHECK_STR(lks_asksim_device(&s, "bmc", 0).active, "1.1.0");
    CHECK_INT(lks_asksim_device(&s, "bmc", 0).begun, 2);
    CHECK_INT(lks_asksim_device(&s, "bmc", 0).flashes, 1);
}

/* ---- Faults of answers ---- */

static void test_dropped(void)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    lks_asksim_open(&s, LKS_BMCSIM_DELL, 1);
    fault(&s, LKS_FAULT_DROP, "", 2, 1);
    CHECK_INT(lks_asksim_get(&s, V1), 200);
    CHECK_INT(push(&s, "bmc", "1.1.0", now), 0); /* carried out all the same */
    CHECK_INT(s.reply.head.len, 0);
    CHECK_INT(lks_bmcsim_updates(s.b), 1);
    CHECK_INT(lks_asksim_get(&s, V1), 200);
}

static void test_page(void)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    lks_asksim_open(&s, LKS_BMCSIM_DELL, 1);
    fault(&s, LKS_FAULT_PAGE, "", 2, 1);
    CHECK_INT(lks_asksim_get(&s, V1), 200);
    CHECK_INT(push(&s, "bmc", "1.1.0", now), 200); /* carried out all the same */
    CHECK_HAS(lks_buf_view(&s.reply.body), "<html>");
    CHECK_INT(s.reply.head.len, 0);
    CHECK_INT(lks_bmcsim_updates(s.b), 1);
    CHECK_INT(lks_asksim_get(&s, V1), 200);
    CHECK_HAS(lks_buf_view(&s.reply.body), "UpdateService");
}

static void test_cut(void)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    lks_asksim_open(&s, LKS_BMCSIM_OPENBMC, 1);
    struct lks_bmcsim_request request = {.method = "POST",
                                         .path = LKS_STR(V1 "/UpdateService/update"),
                                         .head =
                                             LKS_STR("authorization: Basic "
                                                     "cm9vdDpzZWNyZXQxMg==\n"
                                                     "content-type: application/octet-stream\n"),
                                         .body = LKS_STR("half of it"),
                                         .cut = true};
    lks_bmcsim_ask(s.b, s.now, &request, &s.reply);
    CHECK_INT(s.reply.status, 0);
    CHECK_INT(lks_bmcsim_updates(s.b), 0);
}

static void test_refused(void)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    lks_asksim_open(&s, LKS_BMCSIM_OPENBMC, 1);
    fault(&s, LKS_FAULT_REFUSE, "", 503, 2);
    CHECK_INT(push(&s, "bmc", "1.1.0", now), 503);
    CHECK_STR(lks_asksim_header(&s, "Retry-After"), "30");
    CHECK_INT(push(&s, "bmc", "1.1.0", now), 503);
    CHECK_INT(push(&s, "bmc", "1.1.0", now), 202);
}

static void test_memory(void)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    lks_asksim_open(&s, LKS_BMCSIM_OPENBMC, 1);
    fault(&s, LKS_FAULT_MEMORY, "", 0, 0);
    CHECK_INT(push(&s, "bmc", "1.1.0", now), 202);
    CHECK_INT(push(&s, "bmc", "1.1.0", now), 500);
    CHECK_STR(lks_asksim_error(&s), "ResourceExhaustion");
    lks_asksim_wait(&s, HOUR);
    CHECK_STR(lks_asksim_device(&s, "bmc", 0).active, "1.1.0");
}

static void test_slow_and_certificate(void)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    lks_asksim_open(&s, LKS_BMCSIM_HGX, 1);
    CHECK_INT(lks_asksim_get(&s, V1), 200);
    CHECK_INT(s.reply.delay, 0);
    fault(&s, LKS_FAULT_SLOW, "", 700, 1);
    CHECK_INT(lks_asksim_get(&s, V1), 200);
    CHECK_INT(s.reply.delay, 700);
    CHECK(!lks_bmcsim_certificate_changed(s.b));
    fault(&s, LKS_FAULT_CERTIFICATE, "", 0, 0);
    CHECK(lks_bmcsim_certificate_changed(s.b));
}

/* The inventory lies as often as it is asked to; what runs is another matter. */
static void test_wrong_version(void)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    const char *entry = V1 "/UpdateService/FirmwareInventory/bmc_active";
    lks_asksim_open(&s, LKS_BMCSIM_OPENBMC, 1);
    CHECK_INT(push(&s, "bmc", "1.1.0", now), 202);
    lks_asksim_wait(&s, HOUR);
    fault(&s, LKS_FAULT_WRONG_VERSION, "", 0, 2);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(lks_asksim_get(&s, entry), 200);
        CHECK_STR(lks_asksim_text(&s, "Version"), i < 2 ? "1.0.0" : "1.1.0");
    }
    CHECK_STR(lks_asksim_device(&s, "bmc", 0).active, "1.1.0");
}

static void test_task_lies(void)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    lks_asksim_open(&s, LKS_BMCSIM_OPENBMC, 1);
    fault(&s, LKS_FAULT_TASK_LIES, "", 0, 1);
    CHECK_INT(lks_asksim_push(&s, now, LKS_STR("no image")), 202);
    lks_asksim_wait(&s, HOUR);
    CHECK_INT(lks_asksim_get(&s, V1 "/TaskService/Tasks/0"), 200);
    CHECK_STR(lks_asksim_text(&s, "TaskState"), "Completed");
    CHECK_STR(lks_asksim_text(&s, "TaskStatus"), "OK");
    CHECK_STR(lks_asksim_device(&s, "bmc", 0).active, "1.0.0");
}

/* A bricked BIOS keeps the host off. */
static void test_bricked_host(void)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    lks_asksim_open(&s, LKS_BMCSIM_DELL, 1);
    fault(&s, LKS_FAULT_BRICK, "A", 0, 1);
    CHECK_INT(push(&s, "bios", "1.1.0", now), 202);
    lks_asksim_wait(&s, HOUR);
    CHECK_INT(lks_asksim_get(&s, V1 "/Systems/System.Embedded.1"), 200);
    CHECK_STR(lks_asksim_text(&s, "PowerState"), "Off");
}

/* ---- By seed ---- */

/* Whatever is drawn: the machine can be asked again in the end, has one of the two versions, and
 * the same seed gives the same history. */
static void live(uint64_t seed, char out[128])
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    lks_asksim_open(&s, (enum lks_bmcsim_personality)(seed % 5), 1);
    unsigned drawn = lks_bmcsim_faults_draw(s.b, seed, 70);
    const char *how = seed % 5 == LKS_BMCSIM_HGX ? "{\"Targets\":[]}" : "{}";
    for (int i = 0; i < 3; i++) {
        (void)push(&s, "bmc", "1.1.0", how);
        lks_asksim_wait(&s, HOUR);
    }
    int status = lks_asksim_get(&s, V1);
    for (int i = 0; i < 8 && status != 200; i++)
        status = lks_asksim_get(&s, V1);
    CHECK_INT(status, 200);
    struct lks_bmcsim_device d = lks_asksim_device(&s, "bmc", 0);
    CHECK(lks_str_is(d.active, "1.0.0") || lks_str_is(d.active, "1.1.0"));
    CHECK(!d.bricked && d.flashes <= d.begun && d.activations <= d.flashes);
    CHECK(d.begun <= lks_bmcsim_updates(s.b));
    (void)snprintf(out, 128, "%u %s %u %u %u", drawn, d.active.ptr, d.flashes, d.begun,
                   d.activations);
}

static void test_by_seed(void)
{
    bool differ = false;
    char first[128] = "";
    for (uint64_t seed = 1; seed <= 200; seed++) {
        char once[128], again[128];
        lks_test_case("seed %u", (unsigned)seed);
        live(seed, once);
        live(seed, again);
        CHECK_STR(lks_str_from(again), once);
        differ = differ || (first[0] != '\0' && !lks_str_is(lks_str_from(first), once));
        (void)snprintf(first, sizeof(first), "%s", once);
    }
    CHECK(differ);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"one fault", test_one_fault},
        {"a flawed image", test_flawed_image},
        {"what machines do", test_metrics},
        {"comes back", test_comes_back},
        {"dropped", test_dropped},
        {"a page for people", test_page},
        {"cut", test_cut},
        {"refused", test_refused},
        {"memory", test_memory},
        {"slow, certificate", test_slow_and_certificate},
        {"wrong version", test_wrong_version},
        {"a task lies", test_task_lies},
        {"bricked host", test_bricked_host},
        {"by seed", test_by_seed},
        {0},
    };
    return lks_test_main(tests);
}
