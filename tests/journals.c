#include "tests/journals.h"

#include "core/state/state.h"
#include "drivers/store/sqlite.h"
#include "tests/test.h"

#include <sqlite3.h>
#include <stdio.h>

#define T LKS_STR_C
/* Rows leave out the fields that later versions of their kinds added: they are zero, as they are
 * when a journal from before is read. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define KIM     LKS_STR_C("user:kim")
#define WHY     LKS_STR_C("for the golden journal")
#define BOOT    LKS_STR_C("0f3a7c52-5b1e-4d53-9a38-6c1d2e8f9b10")
#define BYTES_1 "a manifest of the golden journal\n"
#define BYTES_2 "a report of the golden journal\n"
#define SHA_1   "sha256:31fe5facb22c8519b4bc0650fd66e1844afc9412210d463fb3d033e397ea3da0"
#define SHA_2   "sha256:9af4caba8adb9efd5bcfa3c2770a62de9fa060999e0ada298796ef6e1d41d794"
#define SHA_3   "sha256:303d03f701f0908231d07f2adba99525d62792316f5d4feba788f7a14431427c"
#define CHANGED "driver\tdpkg: 2026-11-15 03:12:09 upgrade 580.1-1 -> 570.1-1"
#define R(KIND, member, ...)                                                                       \
    {                                                                                              \
        .kind = LKS_RECORD_##KIND, .member = { __VA_ARGS__ }                                       \
    }

const char lks_test_life_journal[] = "0123456789abcdef0123456789abcdef";

const struct lks_store_blob lks_test_life_blobs[2] = {
    {SHA_1, T(BYTES_1)},
    {SHA_2, T(BYTES_2)},
};

const struct lks_test_deed lks_test_life[] = {
    {1000, R(BEGUN, begun, T("0123456789abcdef0123456789abcdef"), T("0.1.0"))},
    {1000, R(STARTED, started, T("0.1.0"), T("control"))},
    {1000, R(LIMITS, limits, 10000, 30000, 120000, 1, 2, 300000, 5000, 10, 0, 0, 0, 0, 0)},
    {2000, R(GRANTED, granted, KIM, LKS_ROLE_ADMIN, T(""), T(""), T(""))},
    {2000, R(API_TOKEN, api_token, T("ci"), T("user:ci"), T(SHA_3), 90000000, KIM)},
    {2500, R(GRANTED, granted, T("user:ci"), LKS_ROLE_VIEWER, T("fra"), T("train"), KIM)},
    {3000, R(FLEET, fleet, T("golden"), T(SHA_1), KIM)},
    {3000, R(POOL, pool, T("train"), T("pre-training"), 90, T("warn"), T("slurm"), T("h200"),
             T(SHA_3), KIM, T(""), false, false, 0, 0)},
    {3000, R(POOL, pool, T("dev"), T("dev"), 1, T("observe"), T(""), T(""), T(""), KIM, T(""),
             false, false, 0, 0)},
    {3000, R(PLACED, placed, T("n[1-3]"), T("train"), T("hgx-h200-8"), T(""), T("fra"), T("r1"),
             T("d1"), T("z1"), T("c1"), T("A1"), T("acme"), T("left"), KIM)},
    {3000, R(PLACED, placed, T("sw1"), T(""), T(""), T("switch-tray"), T("fra"), T("r1"), T("d1"),
             T(""), T(""), T(""), T(""), T(""), KIM)},
    {3000, R(PLACED, placed, T("n9"), T("dev"), T("hgx-h200-8"), T(""), T("fra"), T(""), T(""),
             T(""), T(""), T(""), T(""), T(""), KIM)},
    {4000, R(TOKEN, token, T("n1"), T(SHA_3), 3604000, KIM)},
    {5000, R(ENROLLED, enrolled, T("n1"), T(SHA_1), T("01"), 2592005000)},
    {5000, R(ENROLLED, enrolled, T("n2"), T(SHA_2), T("02"), 2592005000)},
    {5000, R(TOKEN, token, T("n3"), T(SHA_2), 3605000, KIM)},
    {6000, R(LIVENESS, liveness, T("n1"), LKS_LIVE)},
    {6000, R(BOOTED, booted, T("n1"), BOOT)},
    {6500, R(LIVENESS, liveness, T("n2"), LKS_LIVE)},
    {7000, R(TUPLE_KNOWN, tuple_known, T(SHA_3), T("[[\"driver\",\"\",\"580.126.20\"]]"))},
    {7000, R(TUPLE, tuple, T("n1"), T(SHA_3), T(SHA_2), BOOT, 6900, T(SHA_3), LKS_JUDGED_CONFORMS,
             0, 0, T(""), T(""), T(""), T(""))},
    {7000, R(PARTS, parts, T("n1"), T(SHA_1), T(SHA_2), T(SHA_3), T("board B1"))},
    {7000, R(INTAKE, intake, T("n1"), T("first seen"))},
    {8000, R(ACCEPTED, accepted, T("n[1-2]"), KIM, WHY)},
    {9000, R(CERTIFIED, certified, T("n1"), T(SHA_3), T("03"), 2592009000)},
    {9500, R(HELD, held, T("n2"), KIM, WHY)},
    {10000, R(COMMAND, command, 1, T("n1"), BOOT, T("reboot"), T(""), 1, 310000, KIM, WHY)},
    {11000, R(COMMAND_ENDED, command_ended, 1, T("n1"), LKS_OUTCOME_DONE, T("booted"))},
    {11000, R(COMMAND, command, 2, T("n1"), BOOT, T("collect"), T(SHA_1), 1, 311000, KIM, WHY)},
    {12000, R(TUPLE, tuple, T("n1"), T(SHA_3), T(SHA_2), BOOT, 11900, T(SHA_3), LKS_JUDGED_DRIFT, 1,
              0, T("driver: 570 is not 580"), T(""), T(""), T(""))},
    {13000, R(LIVENESS, liveness, T("n1"), LKS_LATE)},
    {13000, R(LIVENESS, liveness, T("n2"), LKS_LATE)},
    {13000, R(ALARM, alarm, 1, LKS_ALARM_MASS, T("train"), T("3 of 3 nodes turned"))},
    {13000, R(MASS, mass, T("train"), T("late"), 3, 3, 1)},
    {14000, R(NOTED, noted, T("n2"), LKS_NOTE_SKEW, true, T("its clock is off"))},
    {14000, R(ALARM, alarm, 2, LKS_ALARM_CLOCK, T("lockstepd"), T("jumped"))},
    {14000, R(CLOCK, clock, 14000, 60000, 0, T("jumped"))},
    {15000, R(ALARM_RELEASED, alarm_released, 2, KIM, WHY)},
    {16000, R(LIVENESS, liveness, T("n2"), LKS_LOST)},
    {17000, R(REVOKED, revoked, T("n2"), KIM, WHY)},
    {17000, R(UNHELD, unheld, T("n2"), KIM, WHY)},
    {18000, R(REPLACED, replaced, T("n2"), KIM, WHY)},
    {19000, R(UNGRANTED, ungranted, T("user:ci"), LKS_ROLE_VIEWER, T("fra"), T("train"), KIM)},
    {19000, R(API_TOKEN_GONE, api_token_gone, T("ci"), KIM)},
    {20000, R(REMOVED, removed, T("n9"), KIM, WHY)},
    {20000, R(POOL_REMOVED, pool_removed, T("dev"), KIM)},
    {21000, R(REPAIRED, repaired, 900, 0, KIM, WHY, T(SHA_3))},
    {21000, R(TRIMMED, trimmed, 0, T(""), T(SHA_3), KIM)},
    {22000, R(LIVENESS, liveness, T("n1"), LKS_LIVE)},
    {23000, R(LED, led, 3, T("control-1"), T("https://control-1:8443"))},
    {23000,
     R(LIMITS, limits, 10000, 30000, 120000, 1, 2, 300000, 5000, 10, 30000, 2000, 86400000, 0, 0)},
    {23000, R(POOL, pool, T("train"), T("pre-training"), 90, T("on"), T("slurm"), T("h200"),
              T(SHA_3), KIM, T("alarm drain"), true, true, 3600000, 43200000)},
    {24000, R(BASIS, basis, T(SHA_3), T("driver\t\t\t=\t570.1\n"))},
    {24000, R(BASIS, basis, T(SHA_2), T("bmc\t\t\t=\t1.2\n"))},
    {24000, R(VERDICT, verdict, T(SHA_3), T(SHA_3), LKS_JUDGED_DRIFT, 1, 0, T("driver: 570.1"),
              T("driver\tother version\t580.1\t570.1\t\n"), T("driver\t570.1\n"))},
    {24000, R(VERDICT, verdict, T(SHA_3), T(SHA_1), LKS_JUDGED_CONFORMS, 0, 0, T(""), T(""),
              T("driver\t570.1\n"))},
    {24000, R(TUPLE, tuple, T("n1"), T(SHA_3), T(SHA_2), BOOT, 23900, T(""), LKS_JUDGED_NOT, 0, 0,
              T(""), T(SHA_3), T(SHA_3), T(CHANGED))},
    {24500, R(OUTBAND, outband, T("n1"), T(SHA_2), T(SHA_3), T(SHA_2), 24400, T(""), T(""))},
    {25000,
     R(DRIFT, drift, T("n1"), true, T(SHA_3), LKS_DRIFT_REVERTED, T("driver: 570.1"), T(SHA_2))},
    {25000, R(DRAINED, drained, T("n1"), T("lockstep:drift"), T("drift"))},
    {25000, R(DRAINED, drained, T("n2"), KIM, WHY)},
    {25500, R(UNDRAINED, undrained, T("n2"), KIM, WHY)},
    {26000,
     R(CONDITION, condition, T("n1"), LKS_CONDITION_CHANGING, true, 0, T(SHA_1), KIM, T("step 1"))},
    {26000,
     R(CONDITION, condition, T("n1"), LKS_CONDITION_ATTESTED, true, 90000000, T(""), KIM, T(""))},
    {26500, R(DEVIATION, deviation, 1, T("n[1-2]"), T("driver"), T("570.1"), T("user:lee"), WHY,
              T("user:ann"), 80000000, KIM, false)},
    {26500, R(DEVIATION, deviation, 2, T("n3"), T("*"), T(""), T("user:lee"), WHY, T(""), 81000000,
              KIM, false)},
    {27000, R(DEVIATION_ENDED, deviation_ended, 2, KIM, WHY)},
    {28000, R(PUBLISHED, published, T(SHA_3), T("h200"), T(SHA_1), T("{}"), T(SHA_2), KIM, WHY)},
    {28500, R(STEPPED, stepped, T(SHA_3), LKS_STEP_LAB, T("run 7"), KIM)},
    {28600, R(STEPPED, stepped, T(SHA_3), LKS_STEP_CANARY, T("change 8"), T("user:ann"))},
    {29000, R(IMAGE, image, T("team/train:1"), T(SHA_1), T("2.28.9"), T(""), T("9.17"), T("13.1"),
              T("sbom"), KIM)},
    {29000,
     R(IMAGE, image, T("team/old:1"), T(""), T("2.20"), T(""), T(""), T(""), T("label"), KIM)},
    {29500, R(IMAGE_GONE, image_gone, T("team/old:1"), KIM, WHY)},
    {30000, R(ARTIFACT, artifact, T(SHA_2), T("driver.run"), 4096, KIM)},
    {30000, R(ARTIFACT, artifact, T(SHA_1), T("old.run"), 17, KIM)},
    {30500, R(ARTIFACT_GONE, artifact_gone, T(SHA_1), T(""), T("no stack names it"))},
    {31000, R(OVERRIDE, override, T("job-7"), T("n[1-2]"), WHY, KIM, 7231000)},
    {31000, R(JOB, job, T("job-7"), T("n[1-2]"), T(SHA_3), T("team/train:1"), T("slurm"), WHY)},
    {32000, R(OBSERVED, observed, T("train"), LKS_BAR_DRIFT, 5, 2)},
    {32000, R(OBSERVED, observed, T("train"), LKS_BAR_STALE, 0, 1)},
    {33000, R(KEY_PINNED, key_pinned, T("vendor"), T("ed25519:a"), KIM, WHY)},
    {33000, R(KEY_PINNED, key_pinned, T("site"), T("ed25519:b"), KIM, WHY)},
    {33000, R(KEY_GONE, key_gone, T("vendor"), KIM, WHY)},
    {33500, R(BUNDLE, bundle, T(SHA_1), T("hgx"), T("25.02"), T(SHA_1), T("site"), T(SHA_3),
              T(SHA_2), true, KIM)},
    {33500, R(BUNDLE, bundle, T(SHA_2), T("old"), T("24.11"), T(SHA_2), T("vendor"), T(SHA_3),
              T(SHA_2), false, KIM)},
    {33600, R(BUNDLE_REVOKED, bundle_revoked, T(SHA_2), T("user:ann"), WHY)},
    {34000, R(ENDPOINT, endpoint, T("n1"), T(SHA_1), KIM, WHY)},
    {34000, R(ENDPOINT, endpoint, T("n2"), T(SHA_2), KIM, WHY)},
    {34100, R(FLASH, flash, 1, T("n1"), LKS_BMC_UPDATE, T("bmc"), T("1.4.2"), T(SHA_1), T(SHA_2),
              4096, T("bmc.fwpkg"), T("OnReset"), false, true, 90000000, KIM, WHY)},
    {34100, R(FLASH, flash, 2, T("n2"), LKS_BMC_STAGE, T("bios"), T("2.0"), T(SHA_1), T(SHA_2),
              4096, T("bios.rom"), T(""), true, false, 90000000, KIM, WHY)},
    {34200, R(FLASH_SAVED, flash_saved, 1, T("{\"task\":1}"), T("uploading"), 40)},
    {34300, R(FLASH_SAVED, flash_saved, 2, T("{\"task\":2}"), T("waiting"), 60)},
    {35000, R(FLASH_ENDED, flash_ended, 2, T("n2"), LKS_BMC_UNKNOWN, T("1.9"), T("no answer"), 1)},
    {36000, R(FLASH_RESOLVED, flash_resolved, 2, T("n2"), KIM, WHY)},
    {37000, R(CHANGE, change, 1, LKS_CHANGE_STACK, T("n[1-3]"), T(SHA_3), T("h200"), 2, true, false,
              1000, 90000000, T("mon-fri 02:00-06:00"), KIM, WHY, T("routine"), T(""), 1, 95000000,
              86400000, 3600000, true)},
    {37000, R(PLAN_STEP, plan_step, 1, 0, 0, LKS_DO_LEAVE, 0, 0, T(""), T(""), T(""), T(""), T(""),
              T(""), T(""), T(""), T(""), T(""), T(""), T(""), LKS_BMC_UPDATE, false, 3600000, 0)},
    {37000, R(PLAN_STEP, plan_step, 1, 0, 1, LKS_DO_APPLY, 1, 1, T("driver nccl"), T(""), T(""),
              T("apt"), T(SHA_1), T(SHA_2), T(SHA_2), T(SHA_2), T(""), T(""), T(""), T(""),
              LKS_BMC_UPDATE, false, 600000, 2)},
    {37000, R(PLAN_STEP, plan_step, 1, 0, 2, LKS_DO_FLASH, 2, 2, T("bmc"), T("1.4.3"), T("1.4.2"),
              T(""), T(""), T(""), T(""), T(""), T(SHA_1), T(SHA_2), T(SHA_1), T(SHA_2),
              LKS_BMC_SWITCH, true, 900000, 1)},
    {37000, R(PLAN_STEP, plan_step, 1, 0, 3, LKS_DO_RETURN, 9, 0, T(""), T(""), T(""), T(""), T(""),
              T(""), T(""), T(""), T(""), T(""), T(""), T(""), LKS_BMC_UPDATE, false, 60000, 0)},
    {37000, R(PLAN_WAVE, plan_wave, 1, 0, LKS_WAVE_CANARY, T(""), 1, 600000, 0, T("n3"), T("all"))},
    {37000,
     R(PLAN_WAVE, plan_wave, 1, 1, LKS_WAVE_RING, T("train"), 2, 60000, 1, T(""), T("headroom"))},
    {37000, R(PLAN_PART, plan_part, 1, 0, 0, T(""), T(SHA_1), true, T("n1"))},
    {37000, R(PLAN_PART, plan_part, 1, 1, 0, T("d1"), T(SHA_1), false, T("n[2-3]"))},
    {37000, R(PLAN_PART, plan_part, 1, 1, 0, T("d1"), T(SHA_1), false, T("sw1"))},
    {37000, R(PLAN_ORDER, plan_order, 1, T(SHA_1), T("{\"kind\":\"apt\"}"))},
    {37000, R(PLAN_NOTE, plan_note, 1, LKS_PLAN_ONE_WAY, T("bmc has no way back"))},
    {37100, R(CHANGE_VOTED, change_voted, 1, true, T("user:ann"), WHY)},
    {37100,
     R(CHANGE_MOVED, change_moved, 1, LKS_CHANGE_APPROVED, T("user:ann"), WHY, T(""), false)},
    {37200, R(CHANGE_MOVED, change_moved, 1, LKS_CHANGE_RUNNING, KIM, WHY, T("user:lee"), true)},
    {37200, R(WAVE, wave, 1, 0, LKS_WAVE_BEGUN, 0, T(""))},
    {37300, R(MEMBER, member, 1, T("n1"), LKS_MEMBER_WAITING, 0, false, 0, 1, 0, 0,
              LKS_FAILURE_NONE, T(""))},
    {37400, R(MEMBER, member, 1, T("n1"), LKS_MEMBER_ASKED, 1, true, 1, 1, 90000000, 2,
              LKS_FAILURE_STEP, T("it failed once"))},
    {37500, R(REVERT_PROVEN, revert_proven, T("hgx-h200-8"), T(SHA_1), T(SHA_3), 1, 100, T("n1"))},
    {37600, R(MEMBER, member, 1, T("n1"), LKS_MEMBER_DONE, 3, false, 2, 1, 0, 0, LKS_FAILURE_NONE,
              T("done"))},
    {37600, R(WAVE, wave, 1, 0, LKS_WAVE_SOAKS, 38200, T("watched"))},
    {37700, R(MEMBER, member, 1, T("n2"), LKS_MEMBER_FENCED, 2, true, 0, 2, 0, 2,
              LKS_FAILURE_REVERT, T("stays out"))},
    {37800, R(FROZEN, frozen, T("train"), true, KIM, WHY)},
    {37800, R(FROZEN, frozen, T(""), true, KIM, WHY)},
    {37900, R(FROZEN, frozen, T(""), false, T("user:ann"), WHY)},
    {38000, R(PLAN_METRIC, plan_metric, 1, T("step_time"), T("train"), LKS_METRIC_MEAN,
              LKS_BETTER_LOWER, LKS_UNIT_NODE, T("1"), true, T("train_step_seconds"),
              LKS_SOURCE_PROMETHEUS, T("0.05"), T("0.57"), T(""))},
    {38000,
     R(PLAN_METRIC, plan_metric, 1, T("xid"), T("train dev"), LKS_METRIC_RATE, LKS_BETTER_LOWER,
       LKS_UNIT_NODE, T(""), false, T(""), LKS_SOURCE_AGENT, T(""), T(""), T("0.000158"))},
    {38000, R(PLAN_GATE, plan_gate, 1, T("train"), 7200, 3600000, 7200000, 2, T("burn"))},
    {38100, R(MEASURED, measured, 1, 0, T("n1"), T("step_time"), T("1.25"), T("1.2625"), 60, 37600,
              38100, 512, 0, 0)},
    {38100, R(MEASURED, measured, 1, 0, T("n3"), T("step_time"), T("1.25"), T(""), 0, 37600, 38100,
              0, 0, 0)},
    {38200, R(MEASURED, measured, 1, 0, T("n1"), T("step_time"), T("1.25"), T("1.26"), 70, 37600,
              38200, 600, 0, 0)},
    {38200,
     R(MEASURED, measured, 1, 0, T("n1"), T("xid"), T(""), T(""), 0, 37600, 38200, 600, 1, 500)},
    {38300, R(GATE_LOOKED, gate_looked, 1, 0, T("step_time"), 1, LKS_GATE_EXTEND, T("0.8 %"))},
    {38400, R(GATE_LOOKED, gate_looked, 1, 0, T("step_time"), 2, LKS_GATE_HOLD, T("no data"))},
    {38450, R(JOB_ACT, job_act, 1, T("17"), T("north"), T("slurm"), T("n1"), T("ada"),
              LKS_JOB_SIGNAL, LKS_JOB_DONE, T("USR1"), 38000, 39050, T("sent"))},
    {38500, R(WAVE_LIMIT, wave_limit, 1, 1, 1, T("0 of 1 failed"))},
    {38600, R(VOTE_WITHDRAWN, vote_withdrawn, 1, T("user:ann"), WHY)},
    {38700, R(GLASS_BROKEN, glass_broken, 1, 90000, KIM, WHY)},
    {38800, R(REVIEWED, reviewed, 1, T("user:lee"), WHY)},
    {38850, R(LOWERED, lowered, T("train"), T("margin of step time 1 to 2 %"), T("user:kim"))},
    {38900, R(FORECAST, forecast, 1, 100, 1000, 2000, 3000, 10, 20, 30, 2, 16, T("user:kim"))},
    {38950, R(DEVIATION_AGREED, deviation_agreed, 1, T("user:lee"), WHY)},
    {39000, R(WAIVED, waived, 1, T("soak"), 99000, T("user:lee"), WHY, T("train"))},
    {39100, R(TICKET_TOLD, ticket_told, 3, true)},
    {39200, R(TICKET_DUE, ticket_due, 5, 39200, 1, LKS_CHANGE_RUNNING, T("user:kim"), WHY)},
    {39300, R(TICKET_HEARD, ticket_heard, T("m-1"), 99000, 1, T("user:lee"), T("CHG-7"),
              T("lee@example.com"))},
    {39400, R(RESET, reset, T("n1"), LKS_RESET_ASKED, BOOT, 99000, 0, KIM, WHY)},
    {39500, R(RESET, reset, T("n1"), LKS_RESET_APPROVED, T(""), 0, 9, T("user:lee"), WHY)},
    {39500, R(GRANTED, granted, T("unix:7"), LKS_ROLE_APPROVER, T(""), T("train"), T("unix:990"),
              T(""), true)},
    {39500, R(API_TOKEN, api_token, T("lee-1"), T("user:lee"), T(SHA_3), 90000000, KIM,
              T("user:ann"), false, 86400000)},
    {39600, R(TOKEN_RENEWED, token_renewed, T("lee-1"), 95000000, T("user:lee"))},
    {39700, R(PERSON_CERTIFIED, person_certified, T("user:lee"), T("0a"), T(SHA_1), 90000000,
              T("unix:0"), T(""), true, 86400000, T(""), T("unix:0"))},
    {39800, R(PERSON_CERTIFIED, person_certified, T("user:lee"), T("0b"), T(SHA_2), 95000000,
              T("unix:0"), T(""), true, 86400000, T("0a"), T("user:lee"))},
    {39900, R(PERSON_REVOKED, person_revoked, T("0a"), KIM)},
    {40000, R(CHANGE_VOTED, change_voted, 1, true, T("user:lee"), WHY, T("token:lee-1"),
              T("user:kim user:ann"))},
    {40100, R(BARRED, barred, T("n1"), T(SHA_2), 95000000)},
    {40200, R(AUDITED, audited, 33400, 7, 2, 1, 3)},
    {40300, R(TRIMMED, trimmed, 0, T(""), T(SHA_3), KIM, 0)},
    {40310, R(NODE_SET, node_set, T("n1"), T("assigned_to"), T("OPS-4711"), KIM, WHY)},
    {40320, R(NODE_SET, node_set, T("n1"), T("assigned_to"), T(""), KIM, WHY)},
    {40330, R(ADVERTISED, advertised, T("n1"), T("gpu:h200:8"), T("jobs hold more"), T(SHA_3))},
    {40335, R(SLOT, slot, T("train"), 0, T(SHA_2))},
    {40340, R(JOB_ENDED, job_ended, T("17"), T("fra"), T("slurm"), KIM, T("llm"), T("main"),
              T("pretrain"), T("train"), T("n1"), 1, 8, T(SHA_3), 33000, 40000, LKS_RUN_REQUEUED,
              T("0:15"), 1, 56000, LKS_RUN_BY_LOCKSTEP, T("change:1"), T("NodeDown"))},
    {40350, R(JOB_BATCH, job_batch, T("18"), T("fra"), T("slurm"), KIM, T("train"), T(SHA_3),
              LKS_RUN_PREEMPTED, LKS_RUN_BY_PREEMPTION, 100, 5000, 33000, 40000)},
    {40360, R(RUNS_READ, runs_read, T("fra"), T("slurm"), 40000, T("17"), 10000, 20000)},
    {40370, R(REFUSAL, refusal, T("train"), LKS_BAR_IMAGE, T("lee"), T("r.io/a:1"), T(""), 3)},
    {40400, R(SIGNED, signing, 161, 4)},
};
const size_t lks_test_life_count = 49;
const size_t lks_test_life_all = LKS_COUNT(lks_test_life);

static struct lks_key make_key(uint8_t first)
{
    uint8_t seed[LKS_KEY_BYTES] = {first};
    struct lks_key key;
    struct lks_err err = {0};
    LKS_ASSERT(lks_key_make(seed, &key, &err) == LKS_OK);
    return key;
}

struct lks_key lks_test_key(void)
{
    return make_key(1);
}

struct lks_key lks_test_other_key(void)
{
    return make_key(2);
}

void lks_test_append(struct lks_store *store, struct lks_row row, const struct lks_store_blob *blob,
                     const struct lks_key *key)
{
    struct lks_store_tail tail = {0};
    struct lks_err err = {0};
    struct lks_chain *chain = lks_chain_new();
    LKS_ASSERT(chain != NULL && store->ops->tail(store->self, &tail, &err) == LKS_OK);
    row.seq = tail.seq + 1;
    LKS_ASSERT(lks_chain_hash(chain, tail.hash, &row, row.hash, &err) == LKS_OK);
    lks_chain_free(chain);
    struct lks_head head = {.seq = row.seq, .time = row.time};
    memcpy(head.journal, lks_test_life_journal, sizeof(head.journal));
    memcpy(head.hash, row.hash, sizeof(head.hash));
    if (key != NULL)
        LKS_ASSERT(lks_chain_head_sign(key, &head, &err) == LKS_OK);
    struct lks_store_batch batch = {
        .rows = &row,
        .row_count = 1,
        .blobs = blob,
        .blob_count = blob != NULL,
        .head = key != NULL ? &head : NULL,
    };
    LKS_ASSERT(store->ops->append(store->self, &batch, &err) == LKS_OK);
}

void lks_test_append_record(struct lks_store *store, lks_ms time, const struct lks_record *record,
                            const struct lks_store_blob *blob, const struct lks_key *key)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(LKS_RECORD_BODY_MAX);
    const struct lks_record_info *info = lks_record_info((unsigned)record->kind);
    lks_record_pack(record, &body);
    LKS_ASSERT(info != NULL && body.failed == LKS_OK);
    struct lks_row row = {
        .time = time,
        .kind = (uint16_t)record->kind,
        .version = (uint8_t)lks_record_version(info),
        .body = lks_buf_view(&body),
    };
    lks_test_append(store, row, blob, key);
}

void lks_test_live(struct lks_store *store, size_t count, const struct lks_key *key)
{
    for (size_t i = 0; i < count; i++) {
        const struct lks_record *r = &lks_test_life[i].record;
        const struct lks_store_blob *blob = NULL;
        if (r->kind == LKS_RECORD_FLEET || r->kind == LKS_RECORD_PUBLISHED)
            blob = &lks_test_life_blobs[0];
        if (r->kind == LKS_RECORD_BUNDLE)
            blob = &lks_test_life_blobs[lks_str_is(r->bundle.manifest, SHA_2)];
        if (r->kind == LKS_RECORD_TUPLE || r->kind == LKS_RECORD_OUTBAND)
            blob = &lks_test_life_blobs[1];
        bool sign = (i + 1) % LKS_TEST_HEAD_EVERY == 0 || i + 1 == count;
        lks_test_append_record(store, lks_test_life[i].time, r, blob, sign ? key : NULL);
    }
}

/* Worlds ------------------------------------------------------------------------------------- */

static void open_store(struct lks_test_world *w, enum lks_store_mode mode)
{
    struct lks_err err = {0};
    enum lks_code code = w->sqlite ? lks_store_sqlite_open(w->path, mode, &w->store, &err)
                                   : lks_store_memory_open(w->disk, &w->store, &err);
    if (!CHECK_CODE(code, LKS_OK))
        printf("%s\n", err.msg);
    LKS_ASSERT(code == LKS_OK);
}

struct lks_test_world lks_test_world_new(bool sqlite)
{
    struct lks_test_world w = {.sqlite = sqlite, .key = lks_test_key()};
    if (sqlite) {
        w.tree = lks_tree_new();
        snprintf(w.path, sizeof(w.path), "%s/journal.db", w.tree.path);
    } else {
        w.disk = lks_memory_disk_new();
    }
    open_store(&w, LKS_STORE_CREATE);
    return w;
}

struct lks_test_world lks_test_world_lived(bool sqlite)
{
    struct lks_test_world w = lks_test_world_new(sqlite);
    lks_test_live(&w.store, lks_test_life_count, &w.key);
    return w;
}

void lks_test_world_fini(struct lks_test_world *w)
{
    lks_store_close(&w->store);
    lks_memory_disk_free(w->disk);
    if (w->sqlite)
        lks_tree_free(&w->tree);
    *w = (struct lks_test_world){0};
}

void lks_test_world_reopen(struct lks_test_world *w)
{
    lks_store_close(&w->store);
    open_store(w, LKS_STORE_OWN);
}

void lks_test_world_tamper(struct lks_test_world *w, const char *sql)
{
    sqlite3 *db = NULL;
    char *message = NULL;
    lks_store_close(&w->store);
    CHECK_INT(sqlite3_open(w->path, &db), SQLITE_OK);
    if (!CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, &message), SQLITE_OK))
        printf("%s: %s\n", sql, message);
    sqlite3_free(message);
    sqlite3_close(db);
    open_store(w, LKS_STORE_OWN);
}

struct lks_verify lks_test_world_verify(struct lks_test_world *w,
                                        const struct lks_verify_options *more)
{
    struct lks_public_key key = lks_key_public(&w->key);
    struct lks_verify_options options = more != NULL ? *more : (struct lks_verify_options){0};
    struct lks_verify found = {0};
    struct lks_err err = {0};
    options.key = &key;
    if (!CHECK_CODE(lks_journal_verify(&w->store, &options, &found, &err), LKS_OK))
        printf("%s\n", err.msg);
    return found;
}

enum lks_code lks_test_world_fold(struct lks_test_world *w, lks_ms until, struct lks_state *out,
                                  struct lks_err *err)
{
    struct lks_store_tail tail = {0};
    struct lks_public_key key = lks_key_public(&w->key);
    CHECK_CODE(lks_state_init(out, 1, err), LKS_OK);
    return lks_journal_fold(&w->store, &key, until, out, &tail, err);
}
