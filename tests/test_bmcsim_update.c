#include "lab/bmcsim/bmcsim.h"

#include "pldm/package.h"
#include "tests/asksim.h"
#include "tests/test.h"

#include <stdio.h>

#define V1    "/redfish/v1"
#define INV   V1 "/UpdateService/FirmwareInventory/"
#define HOUR  3600
#define BYTES 40000 /* of an image */

static const char bmc_reset[] = "{\"ResetType\":\"GracefulRestart\"}";

/* The state of the last task that the service lists. */
static struct lks_str last_task(struct lks_asksim *s, const char *field)
{
    char path[256];
    CHECK_INT(lks_asksim_get(s, V1 "/TaskService/Tasks"), 200);
    const struct lks_doc *members = lks_doc_member(s->doc, "Members");
    if (members == NULL || members->count == 0)
        return LKS_STR("none");
    (void)snprintf(path, sizeof(path), "%" LKS_STR_FMT,
                   LKS_STR_ARG(lks_doc_text(members->last, "@odata.id")));
    CHECK_INT(lks_asksim_get(s, path), 200);
    return lks_asksim_text(s, field);
}

/* Whether a message of the last task has this key. */
static bool task_told(struct lks_asksim *s, const char *key)
{
    (void)last_task(s, "Id");
    const struct lks_doc *messages = lks_doc_member(s->doc, "Messages");
    for (const struct lks_doc *m = messages != NULL ? messages->first : NULL; m != NULL;
         m = m->next)
        if (lks_str_is(lks_str_last(lks_doc_text(m, "MessageId"), '.'), key))
            return true;
    return false;
}

/* ---- One update of each kind, all the way ---- */

static const struct flow {
    const char *name;
    enum lks_bmcsim_personality personality;
    const char *class, *parameters;
    int status;
    const char *staged;             /* of the device after the task; "": it runs already */
    const char *state, *health;     /* of the task then; NULL: it is forgotten */
    const char *reset, *reset_body; /* that activates it; NULL: none is needed */
    const char *before;             /* ... and one that has to come first */
} flows[] = {
    {"OpenBMC: BMC, at its reset", LKS_BMCSIM_OPENBMC, "bmc",
     "{\"Targets\":[\"" V1 "/Managers/bmc\"]}", 202, "1.1.0", "Completed", "OK",
     V1 "/Managers/bmc/Actions/Manager.Reset", bmc_reset, NULL},
    {"OpenBMC: BMC, at once", LKS_BMCSIM_OPENBMC, "bmc",
     "{\"@Redfish.OperationApplyTime\":\"Immediate\"}", 202, "", NULL, NULL, NULL, NULL, NULL},
    {"OpenBMC: BIOS waits as Stopping", LKS_BMCSIM_OPENBMC, "bios", "{}", 202, "1.1.0", "Stopping",
     "OK", V1 "/Systems/system/Actions/ComputerSystem.Reset", "{\"ResetType\":\"PowerCycle\"}",
     NULL},
    {"OpenBMC: CPLD", LKS_BMCSIM_OPENBMC, "cpld", "{}", 202, "1.1.0", "Stopping", "OK",
     V1 "/Chassis/chassis/Actions/Chassis.Reset", "{\"ResetType\":\"PowerCycle\"}", NULL},
    {"HGX: GPUs", LKS_BMCSIM_HGX, "vbios", "{\"Targets\":[\"" V1 "/Chassis/HGX_Chassis_0\"]}", 202,
     "1.1.0", "Completed", "OK", V1 "/Chassis/BMC_0/Actions/Oem/NvidiaChassis.AuxPowerReset",
     "{\"ResetType\":\"AuxPowerCycle\"}", NULL},
    {"HGX: the BMC tray", LKS_BMCSIM_HGX, "bmc", "{\"Targets\":[]}", 202, "1.1.0", "Completed",
     "OK", V1 "/Managers/BMC_0/Actions/Manager.Reset", bmc_reset, NULL},
    {"Supermicro: BMC", LKS_BMCSIM_SUPERMICRO, "bmc",
     "{\"Targets\":[\"" V1 "/Managers/1\"],\"Oem\":{\"Supermicro\":{}}}", 202, "", "Completed",
     "OK", NULL, NULL, NULL},
    {"Supermicro: BIOS", LKS_BMCSIM_SUPERMICRO, "bios", "{\"Targets\":[\"" V1 "/Systems/1/Bios\"]}",
     202, "1.1.0", "Completed", "OK", V1 "/Systems/1/Actions/ComputerSystem.Reset",
     "{\"ResetType\":\"ForceRestart\"}", NULL},
    {"Supermicro: CPLD", LKS_BMCSIM_SUPERMICRO, "cpld", "{}", 202, "1.1.0", "Completed", "OK",
     V1 "/Systems/1/Actions/Oem/OemSystemExtensions.Reset", "{\"ResetType\":\"ACCycle\"}", NULL},
    {"Dell: iDRAC", LKS_BMCSIM_DELL, "bmc", "{\"Targets\":[],\"Oem\":{}}", 202, "", "Completed",
     "OK", NULL, NULL, NULL},
    {"Dell: BIOS at once restarts the host", LKS_BMCSIM_DELL, "bios", "{}", 202, "", "Completed",
     "OK", NULL, NULL, NULL},
    {"Dell: BIOS later", LKS_BMCSIM_DELL, "bios", "{\"@Redfish.OperationApplyTime\":\"OnReset\"}",
     202, "1.1.0", "Pending", "OK", V1 "/Systems/System.Embedded.1/Actions/ComputerSystem.Reset",
     "{\"ResetType\":\"GracefulRestart\"}", NULL},
    {"Dell: CPLD", LKS_BMCSIM_DELL, "cpld", "{}", 202, "1.1.0", "Pending", "OK",
     V1 "/Chassis/System.Embedded.1/Actions/Oem/DellOemChassis.ExtendedReset",
     "{\"ResetType\":\"PowerCycle\",\"FinalPowerState\":\"On\"}",
     V1 "/Systems/System.Embedded.1/Actions/ComputerSystem.Reset"},
    {"HPE: iLO", LKS_BMCSIM_HPE, "bmc", NULL, 200, "", NULL, NULL, NULL, NULL, NULL},
    {"HPE: ROM", LKS_BMCSIM_HPE, "bios", NULL, 200, "1.1.0", "Completed", "OK",
     V1 "/Systems/1/Actions/ComputerSystem.Reset", "{\"ResetType\":\"GracefulRestart\"}", NULL},
    {"HPE: logic", LKS_BMCSIM_HPE, "cpld", NULL, 200, "1.1.0", "Completed", "OK",
     V1 "/Systems/1/Actions/Oem/Hpe/HpeComputerSystemExt.SystemReset",
     "{\"ResetType\":\"AuxCycle\"}", V1 "/Systems/1/Actions/ComputerSystem.Reset"},
    {"shelf: a supply by itself", LKS_BMCSIM_SHELF, "psu", "{\"Targets\":[\"" INV "PSU_1\"]}", 202,
     "", "Completed", "OK", NULL, NULL, NULL},
    {"shelf: its controller", LKS_BMCSIM_SHELF, "power-shelf",
     "{\"Targets\":[\"" V1 "/Managers/PMC\"]}", 202, "1.1.0", "Completed", "OK",
     V1 "/Managers/PMC/Actions/Manager.Reset", bmc_reset, NULL},
};

static void check_staged(struct lks_asksim *s, const struct flow *row)
{
    struct lks_bmcsim_device d = lks_asksim_device(s, row->class, 0);
    CHECK_INT(d.begun, 1);
    CHECK_INT(d.flashes, 1);
    CHECK_STR(d.staged, row->staged);
    CHECK_STR(d.active, row->staged[0] != '\0' ? "1.0.0" : "1.1.0");
    CHECK_STR(last_task(s, "TaskState"), row->state != NULL ? row->state : "none");
    if (row->state != NULL)
        CHECK_STR(last_task(s, "TaskStatus"), row->health);
}

static void run_flow(const struct flow *row, uint64_t speed)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf package = {0};
    lks_test_case("%s, speed %u", row->name, (unsigned)speed);
    lks_asksim_open(&s, row->personality, speed);
    lks_asksim_package(&s, row->class, "1.1.0", BYTES, &package);
    if (!CHECK_INT(lks_asksim_push(&s, row->parameters, lks_buf_view(&package)), row->status))
        return;
    CHECK_INT(lks_bmcsim_updates(s.b), 1);
    lks_asksim_wait(&s, HOUR);
    check_staged(&s, row);
    if (row->before != NULL) {
        CHECK_INT(lks_asksim_post(&s, row->reset, row->reset_body), 409);
        CHECK(lks_asksim_post(&s, row->before, "{\"ResetType\":\"GracefulShutdown\"}") < 300);
        lks_asksim_wait(&s, HOUR);
    }
    if (row->reset != NULL) {
        CHECK(lks_asksim_post(&s, row->reset, row->reset_body) < 300);
        lks_asksim_wait(&s, HOUR);
    }
    struct lks_bmcsim_device d = lks_asksim_device(&s, row->class, 0);
    CHECK_STR(d.active, "1.1.0");
    CHECK_STR(d.staged, "");
    CHECK_INT(d.activations, 1);
    CHECK_INT(d.flashes, 1);
    CHECK(lks_bmcsim_next(s.b) == UINT64_MAX);
    CHECK_INT(lks_asksim_get(&s, V1 "/UpdateService/FirmwareInventory"), 200);
}

static void test_flows(void)
{
    for (size_t i = 0; i < LKS_COUNT(flows); i++) {
        run_flow(&flows[i], 1);
        run_flow(&flows[i], 0);
    }
}

/* ---- What is refused at once ---- */

static const struct refusal {
    const char *name;
    enum lks_bmcsim_personality personality;
    const char *class, *parameters;
    int status;
    const char *error;
} refusals[] = {
    {"OpenBMC: a key it does not know", LKS_BMCSIM_OPENBMC, "bmc", "{\"ForceUpdate\":true}", 400,
     "PropertyUnknown"},
    {"OpenBMC: two targets", LKS_BMCSIM_OPENBMC, "nic",
     "{\"Targets\":[\"" INV "NIC_0\",\"" INV "NIC_1\"]}", 400, "PropertyValueNotInList"},
    {"OpenBMC: not a target", LKS_BMCSIM_OPENBMC, "bmc", "{\"Targets\":[\"" V1 "/Chassis\"]}", 400,
     "PropertyValueNotInList"},
    {"OpenBMC: a time it does not offer", LKS_BMCSIM_OPENBMC, "bmc",
     "{\"@Redfish.OperationApplyTime\":\"OnStartUpdateRequest\"}", 400, "PropertyValueNotInList"},
    {"OpenBMC: no parameters", LKS_BMCSIM_OPENBMC, "bmc", "", 400, "MalformedJSON"},
    {"HGX: Targets are missing", LKS_BMCSIM_HGX, "vbios", "{}", 400, "PropertyMissing"},
    {"HGX: the board and the tray", LKS_BMCSIM_HGX, "bmc",
     "{\"Targets\":[\"" INV "FW_BMC_0\",\"" INV "HGX_FW_GPU_SXM_1\"]}", 400, "InvalidObject"},
    {"HGX: an InfoROM", LKS_BMCSIM_HGX, "vbios", "{\"Targets\":[\"" INV "HGX_InfoROM_GPU_SXM_1\"]}",
     400, "PropertyValueNotInList"},
    {"HGX: later is not offered", LKS_BMCSIM_HGX, "bmc",
     "{\"Targets\":[],\"@Redfish.OperationApplyTime\":\"OnReset\"}", 400, "PropertyValueNotInList"},
    {"Supermicro: its own names, no entries", LKS_BMCSIM_SUPERMICRO, "bios",
     "{\"Targets\":[\"" INV "BIOS\"]}", 400, "PropertyValueNotInList"},
    {"shelf: Targets are missing", LKS_BMCSIM_SHELF, "psu", "{}", 400, "PropertyMissing"},
    {"shelf: both sides of a pair", LKS_BMCSIM_SHELF, "psu",
     "{\"Targets\":[\"" INV "PSU_3\",\"" INV "PSU_4\"]}", 409, "PropertyValueConflict"},
};

static void test_refusals(void)
{
    for (size_t i = 0; i < LKS_COUNT(refusals); i++) {
        const struct refusal *row = &refusals[i];
        lks_test_case("%s", row->name);
        LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf package = {0};
        lks_asksim_open(&s, row->personality, 1);
        lks_asksim_package(&s, row->class, "1.1.0", BYTES, &package);
        CHECK_INT(lks_asksim_push(&s, row->parameters, lks_buf_view(&package)), row->status);
        CHECK_STR(lks_asksim_error(&s), row->error);
        CHECK_INT(lks_bmcsim_updates(s.b), 0);
        CHECK(lks_bmcsim_next(s.b) == UINT64_MAX);
    }
}

/* Sides of different pairs can go together. */
static void test_pairs(void)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf package = {0};
    lks_asksim_open(&s, LKS_BMCSIM_SHELF, 1);
    lks_asksim_package(&s, "psu", "1.1.0", BYTES, &package);
    const char *odd = "{\"Targets\":[\"" INV "PSU_1\",\"" INV "PSU_3\",\"" INV "PSU_5\"]}";
    const char *even = "{\"Targets\":[\"" INV "PSU_2\",\"" INV "PSU_4\",\"" INV "PSU_6\"]}";
    CHECK_INT(lks_asksim_push(&s, odd, lks_buf_view(&package)), 202);
    lks_asksim_wait(&s, 5 + 3 * 300 + 60); /* all are written, and restart */
    CHECK_INT(lks_asksim_push(&s, even, lks_buf_view(&package)), 409);
    CHECK_STR(lks_asksim_error(&s), "PropertyValueConflict");
    lks_asksim_wait(&s, HOUR);
    CHECK_INT(lks_asksim_push(&s, even, lks_buf_view(&package)), 202);
    lks_asksim_wait(&s, HOUR);
    for (size_t i = 0; i < 6; i++)
        CHECK_STR(lks_asksim_device(&s, "psu", i).active, "1.1.0");
}

/* ---- Images that no device may take ---- */

enum spoiled {
    NOT_A_PACKAGE,
    WRONG_UUID,
    EMPTY_METADATA,
    HEADER_CRC,
    UNSIGNED,
    BAD_SIGNATURE,
    TRUNCATED,
    OTHER_DEVICE,
    OTHER_CLASS,
};
static const struct bad_image {
    const char *name;
    enum spoiled how;
    const char *told;
} bad_images[] = {
    {"no package at all", NOT_A_PACKAGE, "VerificationFailed"},
    {"the UUID of no revision", WRONG_UUID, "VerificationFailed"},
    {"a header of zeroes", EMPTY_METADATA, "VerificationFailed"},
    {"a header that was changed", HEADER_CRC, "VerificationFailed"},
    {"an unsigned component", UNSIGNED, "VerificationFailed"},
    {"a bad signature", BAD_SIGNATURE, "VerificationFailed"},
    {"cut short", TRUNCATED, "VerificationFailed"},
    {"for another machine", OTHER_DEVICE, "NoTargetsDetermined"},
    {"for a class that it has not", OTHER_CLASS, "NoTargetsDetermined"},
};

static void spoil(struct lks_asksim *s, enum spoiled how, struct lks_buf *package)
{
    struct lks_err err;
    struct lks_pldm_package header = {0};
    if (how == OTHER_DEVICE || how == OTHER_CLASS) {
        bool hgx = s->personality == LKS_BMCSIM_HGX;
        lks_buf_truncate(package, 0);
        CHECK_CODE(lks_bmcsim_image_package(hgx ? LKS_BMCSIM_DELL : LKS_BMCSIM_HGX,
                                            how == OTHER_CLASS ? (hgx ? "psu" : "nvswitch") : "bmc",
                                            "1.1.0", 1, BYTES, package, &err),
                   LKS_OK);
        return;
    }
    CHECK_CODE(lks_pldm_package_parse(lks_buf_view(package), package->len, true, &header, &err),
               LKS_OK);
    uint32_t at = header.components[0].offset;
    lks_pldm_package_fini(&header);
    if (how == NOT_A_PACKAGE)
        memset(package->ptr, 'x', package->len);
    else if (how == WRONG_UUID)
        package->ptr[3] ^= 1;
    else if (how == EMPTY_METADATA)
        memset(package->ptr + 17, 0, at - 17);
    else if (how == HEADER_CRC)
        package->ptr[40] ^= 1;
    else if (how == UNSIGNED)
        memset(package->ptr + at, 0, 200);
    else if (how == BAD_SIGNATURE)
        package->ptr[at + 1000] ^= 1;
    else
        lks_buf_truncate(package, package->len / 2);
}

static void check_bad_image(enum lks_bmcsim_personality p, const struct bad_image *row)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf package = {0};
    lks_test_case("%s: %s", lks_bmcsim_words[p], row->name);
    lks_asksim_open(&s, p, 1);
    lks_asksim_package(&s, "bmc", "1.1.0", BYTES, &package);
    spoil(&s, row->how, &package);
    int status =
        lks_asksim_push(&s, p == LKS_BMCSIM_HGX ? "{\"Targets\":[],\"ForceUpdate\":true}" : "{}",
                        lks_buf_view(&package));
    CHECK_INT(status, p == LKS_BMCSIM_HPE ? 200 : 202);
    lks_asksim_wait(&s, HOUR);
    static const char *const states[] = {"Exception", "Exception", "Exception", "Completed",
                                         "Exception"};
    static const char *const healths[] = {"Warning", "OK", "Critical", "Critical", "Critical"};
    CHECK_STR(last_task(&s, "TaskState"), states[p]);
    CHECK_STR(last_task(&s, "TaskStatus"), healths[p]);
    const char *told =
        p == LKS_BMCSIM_HGX && row->how >= OTHER_DEVICE ? "UpdateNotApplicable" : row->told;
    CHECK(task_told(&s, told));
    for (size_t i = 0; i < lks_bmcsim_device_count(s.b); i++) {
        struct lks_bmcsim_device d;
        lks_bmcsim_device(s.b, i, &d);
        CHECK_INT(d.flashes, 0);
        CHECK_INT(d.activations, 0);
        CHECK_STR(d.staged, "");
    }
    if (p == LKS_BMCSIM_HPE) {
        CHECK_INT(lks_asksim_get(&s, V1 "/UpdateService"), 200);
        CHECK_STR(lks_asksim_text(&s, "Oem/Hpe/State"), "Error");
    }
}

static void test_bad_images(void)
{
    for (unsigned p = 0; p <= LKS_BMCSIM_HPE; p++)
        for (size_t i = 0; i < LKS_COUNT(bad_images); i++)
            check_bad_image((enum lks_bmcsim_personality)p, &bad_images[i]);
}

static void test_too_large(void)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf big = LKS_BUF((size_t)64 << 20);
    lks_asksim_open(&s, LKS_BMCSIM_OPENBMC, 1);
    lks_buf_pad(&big, 'x', ((ptrdiff_t)30 << 20) + 1);
    CHECK_INT(lks_asksim_push(&s, "{}", lks_buf_view(&big)), 413);
    CHECK_STR(lks_asksim_error(&s), "PayloadTooLarge");
    CHECK_INT(lks_bmcsim_updates(s.b), 0);
}

/* ---- One at a time ---- */

static void test_busy(void)
{
    static const struct busy {
        enum lks_bmcsim_personality personality;
        int status;
        const char *error;
    } rows[] = {
        {LKS_BMCSIM_OPENBMC, 503, "UpdateInProgress"},
        {LKS_BMCSIM_HGX, 503, "UpdateInProgress"},
        {LKS_BMCSIM_SUPERMICRO, 405, "OemFirmwareAlreadyInUpdateMode"},
        {LKS_BMCSIM_DELL, 400, "UpdateInProgress"},
        {LKS_BMCSIM_HPE, 400, "UpdateInProgress"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf package = {0};
        lks_test_case("%s", lks_bmcsim_words[rows[i].personality]);
        lks_asksim_open(&s, rows[i].personality, 1);
        lks_asksim_package(&s, "bmc", "1.1.0", BYTES, &package);
        const char *how = rows[i].personality == LKS_BMCSIM_HGX ? "{\"Targets\":[]}" : "{}";
        CHECK(lks_asksim_push(&s, how, lks_buf_view(&package)) <= 202);
        lks_asksim_wait(&s, 60);
        CHECK_INT(lks_asksim_push(&s, how, lks_buf_view(&package)), rows[i].status);
        CHECK_STR(lks_asksim_error(&s), rows[i].error);
        CHECK_INT(lks_bmcsim_updates(s.b), 1);
        lks_asksim_wait(&s, HOUR);
        CHECK_INT(lks_asksim_device(&s, "bmc", 0).flashes, 1);
    }
}

/* ---- Manners of single personalities ---- */

/* OpenBMC's monitor says 202, then 204 once whatever came of it, then 404; tasks die with it. */
static void test_openbmc_monitor(void)
{
    for (int bad = 0; bad < 2; bad++) {
        LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf package = {0};
        lks_asksim_open(&s, LKS_BMCSIM_OPENBMC, 1);
        lks_asksim_package(&s, "bmc", "1.1.0", BYTES, &package);
        if (bad)
            package.ptr[package.len - 1] ^= 1;
        CHECK_INT(lks_asksim_push(&s, "{}", lks_buf_view(&package)), 202);
        CHECK_STR(lks_asksim_header(&s, "Retry-After"), "30");
        char monitor[256];
        (void)snprintf(monitor, sizeof(monitor), "%" LKS_STR_FMT,
                       LKS_STR_ARG(lks_asksim_header(&s, "Location")));
        CHECK_STR(lks_str_from(monitor), V1 "/TaskService/TaskMonitors/0");
        lks_asksim_wait(&s, 5 + 90); /* half of it */
        CHECK_INT(lks_asksim_get(&s, monitor), 202);
        CHECK_STR(last_task(&s, "PercentComplete"), "50");
        lks_asksim_wait(&s, HOUR);
        CHECK_INT(lks_asksim_get(&s, monitor), 204);
        CHECK_INT(lks_asksim_get(&s, monitor), 404);
        CHECK_STR(last_task(&s, "TaskState"), bad ? "Exception" : "Completed");
        CHECK_INT(lks_asksim_post(&s, V1 "/Managers/bmc/Actions/Manager.Reset", bmc_reset), 204);
        CHECK_INT(lks_asksim_get(&s, V1), 0);
        lks_asksim_wait(&s, 120);
        CHECK_STR(last_task(&s, "Id"), "none");
    }
}

/* HttpPushUri: the BMC's image, at once, and this content type exactly. */
static void test_openbmc_push(void)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf package = {0};
    lks_asksim_open(&s, LKS_BMCSIM_OPENBMC, 1);
    lks_asksim_package(&s, "bmc", "1.1.0", BYTES, &package);
    CHECK_INT(lks_asksim(&s, "POST", V1 "/UpdateService/update",
                         "content-type: application/octet-stream; x=y\n", lks_buf_view(&package)),
              415);
    CHECK_INT(lks_asksim(&s, "POST", V1 "/UpdateService/update",
                         "content-type: application/octet-stream\n", lks_buf_view(&package)),
              202);
    lks_asksim_wait(&s, HOUR);
    CHECK_STR(lks_asksim_device(&s, "bmc", 0).active, "1.1.0");
}

/* What is staged has an entry of its own, and the manager says which one runs. */
static void test_openbmc_staged_entry(void)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf package = {0};
    lks_asksim_open(&s, LKS_BMCSIM_OPENBMC, 1);
    lks_asksim_package(&s, "bmc", "1.1.0", BYTES, &package);
    CHECK_INT(lks_asksim_get(&s, INV "bmc_staged"), 404);
    CHECK_INT(lks_asksim_push(&s, "{}", lks_buf_view(&package)), 202);
    lks_asksim_wait(&s, HOUR);
    CHECK_INT(lks_asksim_get(&s, INV "bmc_staged"), 200);
    CHECK_STR(lks_asksim_text(&s, "Version"), "1.1.0");
    CHECK_STR(lks_asksim_text(&s, "Staged"), "true");
    CHECK_INT(lks_asksim_get(&s, INV "bmc_active"), 200);
    CHECK_STR(lks_asksim_text(&s, "Version"), "1.0.0");
    CHECK_INT(lks_asksim_get(&s, V1 "/Managers/bmc"), 200);
    CHECK_STR(lks_asksim_text(&s, "Links/ActiveSoftwareImage/@odata.id"), INV "bmc_active");
    CHECK_STR(lks_asksim_text(&s, "FirmwareVersion"), "1.0.0");
}

/* What is staged can be given up, and what ran before made to run again. */
static void test_openbmc_banks(void)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf package = {0};
    lks_asksim_open(&s, LKS_BMCSIM_OPENBMC, 1);
    lks_asksim_package(&s, "bios", "1.1.0", BYTES, &package);
    const char *restart = V1 "/Systems/system/Actions/ComputerSystem.Reset";
    for (int i = 0; i < 2; i++) {
        CHECK_INT(lks_asksim_push(&s, "{}", lks_buf_view(&package)), 202);
        lks_asksim_wait(&s, HOUR);
        if (i == 0)
            CHECK_INT(lks_asksim_post(&s, INV "bios_staged/Actions/SoftwareInventory.Cancel", "{}"),
                      204);
        CHECK_INT(lks_asksim_post(&s, restart, "{\"ResetType\":\"ForceRestart\"}"), 204);
        lks_asksim_wait(&s, HOUR);
        CHECK_STR(lks_asksim_device(&s, "bios", 0).active, i == 0 ? "1.0.0" : "1.1.0");
    }
    CHECK_INT(lks_asksim_get(&s, INV "bios_backup"), 200);
    CHECK_STR(lks_asksim_text(&s, "Version"), "1.0.0");
    CHECK_STR(lks_asksim_text(&s, "Active"), "false");
    CHECK_INT(lks_asksim_post(&s, INV "bios_backup/Actions/SoftwareInventory.Cancel", "{}"), 404);
    CHECK_INT(lks_asksim_post(&s, INV "bios_backup/Actions/SoftwareInventory.Activate", "{}"), 204);
    CHECK_INT(lks_asksim_post(&s, restart, "{\"ResetType\":\"ForceRestart\"}"), 204);
    lks_asksim_wait(&s, HOUR);
    CHECK_STR(lks_asksim_device(&s, "bios", 0).active, "1.0.0");
    CHECK_STR(lks_asksim_device(&s, "bios", 0).backup, "1.1.0");
    CHECK_INT(lks_asksim_device(&s, "bios", 0).flashes, 2);
}

static const struct version_rule {
    const char *name;
    enum lks_bmcsim_personality personality;
    const char *class, *parameters, *first, *second;
    const char *told, *runs; /* after the second, reset included */
} version_rules[] = {
#define GPU1 "{\"Targets\":[\"" INV "HGX_FW_GPU_SXM_1\"]"
    {"HGX: an older one", LKS_BMCSIM_HGX, "vbios", GPU1 "}", "1.2.0", "1.1.0",
     "ComponentUpdateFailed", "1.2.0"},
    {"HGX: an older one, meant", LKS_BMCSIM_HGX, "vbios", GPU1 ",\"ForceUpdate\":true}", "1.2.0",
     "1.1.0", "UpdateSuccessful", "1.1.0"},
    {"HGX: the same", LKS_BMCSIM_HGX, "vbios", GPU1 "}", "1.2.0", "1.2.0",
     "UpdateSkippedSameVersion", "1.2.0"},
    {"HGX: below the lowest", LKS_BMCSIM_HGX, "hmc",
     "{\"Targets\":[\"" INV "HGX_FW_BMC_0\"],\"ForceUpdate\":true}", "2.0.0", "1.5.0",
     "VerificationFailed", "2.0.0"},
    {"OpenBMC: an older one", LKS_BMCSIM_OPENBMC, "bmc",
     "{\"@Redfish.OperationApplyTime\":\"Immediate\"}", "1.2.0", "1.1.0", NULL, "1.1.0"},
    {"shelf: a supply never goes back", LKS_BMCSIM_SHELF, "psu",
     "{\"Targets\":[\"" INV "PSU_1\"],\"ForceUpdate\":true}", "1.2.0", "1.1.0",
     "VerificationFailed", "1.2.0"},
};

static void cold_start(struct lks_asksim *s)
{
    if (s->personality == LKS_BMCSIM_HGX)
        CHECK_INT(lks_asksim_post(s, V1 "/Chassis/BMC_0/Actions/Oem/NvidiaChassis.AuxPowerReset",
                                  "{\"ResetType\":\"AuxPowerCycle\"}"),
                  204);
    lks_asksim_wait(s, HOUR);
}

static void test_version_rules(void)
{
    for (size_t i = 0; i < LKS_COUNT(version_rules); i++) {
        const struct version_rule *row = &version_rules[i];
        lks_test_case("%s", row->name);
        LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf first = {0}, second = {0};
        lks_asksim_open(&s, row->personality, 1);
        lks_asksim_package(&s, row->class, row->first, BYTES, &first);
        lks_asksim_package(&s, row->class, row->second, BYTES, &second);
        CHECK_INT(lks_asksim_push(&s, row->parameters, lks_buf_view(&first)), 202);
        lks_asksim_wait(&s, HOUR);
        cold_start(&s);
        CHECK_STR(lks_asksim_device(&s, row->class, 0).active, row->first);
        CHECK_INT(lks_asksim_push(&s, row->parameters, lks_buf_view(&second)), 202);
        lks_asksim_wait(&s, HOUR);
        if (row->told != NULL)
            CHECK(task_told(&s, row->told));
        cold_start(&s);
        CHECK_STR(lks_asksim_device(&s, row->class, 0).active, row->runs);
    }
}

/* Staged only: no reset makes it run until it is activated. */
static void test_hgx_stage_only(void)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf package = {0};
    lks_asksim_open(&s, LKS_BMCSIM_HGX, 1);
    lks_asksim_package(&s, "vbios", "1.1.0", BYTES, &package);
    CHECK_INT(lks_asksim_push(&s, GPU1 ",\"Oem\":{\"Nvidia\":{\"UpdateOption\":\"StageOnly\"}}}",
                              lks_buf_view(&package)),
              202);
    CHECK_STR(lks_asksim_text(&s, "Id"), "HGX_0");
    lks_asksim_wait(&s, HOUR);
    cold_start(&s);
    CHECK_STR(lks_asksim_device(&s, "vbios", 0).active, "1.0.0");
    CHECK_STR(lks_asksim_device(&s, "vbios", 0).staged, "1.1.0");
    CHECK_INT(lks_asksim_post(&s, V1 "/UpdateService/Actions/UpdateService.Activate", GPU1 "}"),
              204);
    cold_start(&s);
    CHECK_STR(lks_asksim_device(&s, "vbios", 0).active, "1.1.0");
    CHECK_STR(lks_asksim_device(&s, "vbios", 0).backup, "1.0.0");
    CHECK_INT(lks_asksim_device(&s, "vbios", 1).begun, 0);
}

/* One bad component does not stop the others. */
static void test_hgx_one_bad(void)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf package = {0};
    struct lks_pldm_package header = {0};
    struct lks_err err;
    lks_asksim_open(&s, LKS_BMCSIM_HGX, 1);
    lks_asksim_package(&s, NULL, "1.1.0", BYTES, &package);
    CHECK_CODE(lks_pldm_package_parse(lks_buf_view(&package), package.len, true, &header, &err),
               LKS_OK);
    package.ptr[header.components[header.component_count - 1].offset + 500] ^= 1;
    lks_pldm_package_fini(&header);
    CHECK_INT(lks_asksim_push(&s, "{\"Targets\":[\"" V1 "/Chassis/HGX_Chassis_0\"]}",
                              lks_buf_view(&package)),
              202);
    lks_asksim_wait(&s, HOUR);
    CHECK_STR(last_task(&s, "TaskState"), "Exception");
    cold_start(&s);
    CHECK_STR(lks_asksim_device(&s, "vbios", 7).active, "1.1.0");
    CHECK_STR(lks_asksim_device(&s, "retimer", 0).active, "1.0.0");
    CHECK_STR(lks_asksim_device(&s, "bmc", 0).active, "1.0.0");
}

/* Supermicro: verified first, a second task writes. */
static void test_supermicro_start(void)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf package = {0};
    lks_asksim_open(&s, LKS_BMCSIM_SUPERMICRO, 1);
    lks_asksim_package(&s, "bios", "1.1.0", BYTES, &package);
    CHECK_INT(lks_asksim_post(&s, V1 "/UpdateService/Actions/UpdateService.StartUpdate", "{}"),
              400);
    CHECK_INT(lks_asksim_push(&s,
                              "{\"Targets\":[\"" V1 "/Systems/1/Bios\"],"
                              "\"@Redfish.OperationApplyTime\":\"OnStartUpdateRequest\"}",
                              lks_buf_view(&package)),
              202);
    CHECK(lks_doc_member(s.doc, "Accepted") != NULL);
    lks_asksim_wait(&s, HOUR);
    CHECK_STR(last_task(&s, "TaskState"), "Completed");
    CHECK(task_told(&s, "AwaitToUpdate"));
    CHECK_INT(lks_asksim_device(&s, "bios", 0).begun, 0);
    CHECK_INT(lks_asksim_push(&s, "{}", lks_buf_view(&package)), 405);
    CHECK_INT(lks_asksim_post(&s, V1 "/UpdateService/Actions/UpdateService.StartUpdate", "{}"),
              202);
    CHECK_STR(lks_asksim_header(&s, "Location"), V1 "/TaskService/TaskMonitors/1");
    lks_asksim_wait(&s, HOUR);
    CHECK_STR(lks_asksim_device(&s, "bios", 0).staged, "1.1.0");
    CHECK_INT(lks_asksim_get(&s, INV "Staging_BIOS"), 200);
    CHECK_STR(lks_asksim_text(&s, "Version"), "1.1.0");
    CHECK_INT(lks_asksim_get(&s, INV "Golden_BIOS"), 200);
    CHECK_STR(lks_asksim_text(&s, "Version"), "1.0.0");
}

/* Dell: Location and nothing else, a job that is not there yet, and ids that change. */
static void test_dell_job(void)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf package = {0};
    lks_asksim_open(&s, LKS_BMCSIM_DELL, 1);
    lks_asksim_package(&s, "bmc", "1.1.0", BYTES, &package);
    CHECK_INT(lks_asksim_push(&s, "{}", lks_buf_view(&package)), 202);
    CHECK_INT(s.reply.body.len, 0);
    CHECK_STR(lks_asksim_header(&s, "Location"), V1 "/TaskService/TaskMonitors/JID_400000000000");
    CHECK_INT(lks_asksim_get(&s, V1 "/TaskService/Tasks/JID_400000000000"), 404);
    lks_asksim_wait(&s, 5);
    CHECK_INT(lks_asksim_get(&s, V1 "/TaskService/Tasks/JID_400000000000"), 200);
    lks_asksim_wait(&s, HOUR);
    CHECK_STR(last_task(&s, "TaskState"), "Completed");
    CHECK(task_told(&s, "PR19"));
    CHECK_INT(lks_asksim_get(&s, INV "Installed-25227-1.0.0__iDRAC.Embedded.1-1"), 404);
    CHECK_INT(lks_asksim_get(&s, INV "Installed-25227-1.1.0__iDRAC.Embedded.1-1"), 200);
    CHECK_INT(lks_asksim_get(&s, INV "Previous-25227-1.0.0__iDRAC.Embedded.1-1"), 200);
}

/* HPE: the form's key is the session, the state is in the service, a needed reset is an error. */
static void test_hpe_state(void)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf package = {0};
    lks_asksim_open(&s, LKS_BMCSIM_HPE, 1);
    lks_asksim_package(&s, "bios", "1.1.0", BYTES, &package);
    CHECK_INT(lks_asksim_get(&s, V1 "/UpdateService"), 200);
    CHECK_STR(lks_asksim_text(&s, "Oem/Hpe/State"), "Idle");
    CHECK_INT(lks_asksim(&s, "POST", "/cgi-bin/uploadFile",
                         "content-type: multipart/form-data; boundary=q\n",
                         LKS_STR("--q\r\nContent-Disposition: form-data; name=\"files[]\"\r\n\r\n"
                                 "x\r\n--q--\r\n")),
              401);
    CHECK_INT(lks_asksim_push(&s, NULL, lks_buf_view(&package)), 200);
    lks_asksim_wait(&s, 60);
    CHECK_INT(lks_asksim_get(&s, V1 "/UpdateService"), 200);
    CHECK_STR(lks_asksim_text(&s, "Oem/Hpe/State"), "Updating");
    CHECK_INT(lks_asksim_get(&s, V1 "/TaskService/TaskMonitors/0"), 202);
    lks_asksim_wait(&s, HOUR);
    CHECK_INT(lks_asksim_get(&s, V1 "/TaskService/TaskMonitors/0"), 404);
    CHECK_INT(lks_asksim_get(&s, V1 "/UpdateService"), 200);
    CHECK_STR(lks_asksim_text(&s, "Oem/Hpe/State"), "Error");
    CHECK_STR(lks_asksim_text(&s, "Oem/Hpe/Result/MessageId"), "iLO.2.15.SystemResetRequired");
    CHECK_INT(lks_asksim_post(&s, V1 "/Systems/1/Actions/ComputerSystem.Reset",
                              "{\"ResetType\":\"ForceRestart\"}"),
              200);
    CHECK_INT(lks_asksim_push(&s, NULL, lks_buf_view(&package)), 400); /* the power turns */
    lks_asksim_wait(&s, HOUR);
    CHECK_STR(lks_asksim_device(&s, "bios", 0).active, "1.1.0");
    CHECK_INT(lks_asksim_get(&s, INV "3"), 200);
    CHECK_STR(lks_asksim_text(&s, "Version"), "1.0.0");
}

/* SimpleUpdate: the BMC wants the image, and whoever runs it brings it. */
static void test_simple_update(void)
{
    for (int come = 0; come < 2; come++) {
        LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf package = {0};
        struct lks_str uri;
        lks_asksim_open(&s, LKS_BMCSIM_DELL, 1);
        lks_asksim_package(&s, "nic", "1.1.0", BYTES, &package);
        CHECK(!lks_bmcsim_job_wants(s.b, &uri));
        CHECK_INT(lks_asksim_post(&s, V1 "/UpdateService/Actions/UpdateService.SimpleUpdate",
                                  "{\"ImageURI\":\"https://depot/image\"}"),
                  202);
        CHECK(lks_bmcsim_job_wants(s.b, &uri));
        CHECK_STR(uri, "https://depot/image");
        lks_bmcsim_job_fetched(s.b, s.now + 1000, come ? lks_buf_view(&package) : LKS_STR(""));
        CHECK(!lks_bmcsim_job_wants(s.b, &uri));
        lks_asksim_wait(&s, HOUR);
        CHECK_INT(lks_asksim_device(&s, "nic", 1).flashes, come);
        CHECK_STR(last_task(&s, "TaskStatus"), come ? "OK" : "Critical");
    }
}

/* ---- The switch tray ---- */

static void test_switch(void)
{
    LKS_CLEANUP(lks_asksim_close) struct lks_asksim s = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf package = {0};
    struct lks_str uri;
    lks_asksim_open(&s, LKS_BMCSIM_SWITCH, 1);
    lks_asksim_package(&s, "bios", "1.1.0", BYTES, &package);
    CHECK_INT(lks_asksim_post(&s, "/nvue_v1/platform/firmware/BIOS",
                              "{\"@fetch\":{\"state\":\"start\",\"parameters\":"
                              "{\"remote-url\":\"https://depot/f/bios.fwpkg\"}}}"),
              200);
    CHECK_STR(lks_buf_view(&s.reply.body), "0");
    CHECK(lks_bmcsim_job_wants(s.b, &uri));
    lks_bmcsim_job_fetched(s.b, s.now, lks_buf_view(&package));
    CHECK_INT(lks_asksim_get(&s, "/nvue_v1/action/0"), 200);
    CHECK_STR(lks_asksim_text(&s, "state"), "action_success");
    CHECK_INT(lks_asksim_get(&s, "/nvue_v1/platform/firmware/BIOS/files"), 200);
    CHECK_STR(lks_asksim_text(&s, "bios.fwpkg/path"), "/host/fw-images/BIOS/bios.fwpkg");
    CHECK_INT(lks_asksim_post(&s, "/nvue_v1/platform/firmware/BIOS/files/none.fwpkg",
                              "{\"@install\":{\"state\":\"start\"}}"),
              404);
    CHECK_INT(lks_asksim_post(&s, "/nvue_v1/platform/firmware/BIOS/files/bios.fwpkg",
                              "{\"@install\":{\"state\":\"start\",\"parameters\":"
                              "{\"force\":false,\"skip-reboot\":true}}}"),
              200);
    CHECK_INT(lks_asksim_get(&s, "/nvue_v1/action/1"), 200);
    CHECK_STR(lks_asksim_text(&s, "state"), "running");
    lks_asksim_wait(&s, HOUR);
    CHECK_INT(lks_asksim_get(&s, "/nvue_v1/action/1"), 200);
    CHECK_STR(lks_asksim_text(&s, "state"), "action_success");
    CHECK_STR(lks_asksim_device(&s, "bios", 0).staged, "1.1.0");
    CHECK_INT(lks_asksim_post(&s, "/nvue_v1/system", "{\"@reboot\":{\"state\":\"start\"}}"), 200);
    CHECK_INT(lks_asksim_get(&s, "/nvue_v1/platform/firmware"), 0);
    lks_asksim_wait(&s, HOUR);
    CHECK_INT(lks_asksim_get(&s, "/nvue_v1/platform/firmware"), 200);
    CHECK_STR(lks_asksim_text(&s, "BIOS/actual-firmware"), "1.1.0");
    CHECK_INT(lks_asksim_get(&s, "/nvue_v1/action/1"), 404);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"flows", test_flows},
        {"refusals", test_refusals},
        {"pairs", test_pairs},
        {"bad images", test_bad_images},
        {"too large", test_too_large},
        {"busy", test_busy},
        {"OpenBMC: monitor", test_openbmc_monitor},
        {"OpenBMC: push", test_openbmc_push},
        {"OpenBMC: staged entry", test_openbmc_staged_entry},
        {"OpenBMC: banks", test_openbmc_banks},
        {"version rules", test_version_rules},
        {"HGX: stage only", test_hgx_stage_only},
        {"HGX: one bad component", test_hgx_one_bad},
        {"Supermicro: start", test_supermicro_start},
        {"Dell: job", test_dell_job},
        {"HPE: state", test_hpe_state},
        {"SimpleUpdate", test_simple_update},
        {"switch", test_switch},
        {0},
    };
    return lks_test_main(tests);
}
