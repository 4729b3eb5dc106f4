/* NVIDIA's GPUs: from recorded answers, from a library that only passes for NVML and misbehaves in
 * every way, and without any. */
#include "probe/gpu/nvidia_gpu.h"
#include "probe/gpu/nvml.h"
#include "probe/root/probes.h"
#include "tests/heard.h"
#include "tests/test.h"
#include "tests/tree.h"

#include <stdio.h>
#include <stdlib.h>

static const struct lks_probe_options options = {.call_ms = 300, .probe_ms = 5000};

/* Recorded answers ---------------------------------------------------------------------------- */

/* "KEY: ANSWER" lines as a recorded table. */
static void plant_answers(const struct lks_tree *tree, const char *lines)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(1 << 20);
    lks_buf_addf(&text, "key,code,value\n");
    struct lks_str rest = lks_str_from(lines), line, key;
    while (rest.len > 0) {
        (void)lks_str_cut(rest, '\n', &line, &rest);
        ptrdiff_t colon = lks_str_find(line, LKS_STR(": "));
        if (!CHECK(colon > 0))
            return;
        key = (struct lks_str){line.ptr, (size_t)colon};
        line = (struct lks_str){line.ptr + colon + 2, line.len - (size_t)colon - 2};
        lks_buf_addf(&text, "\"%" LKS_STR_FMT "\",ok,\"%" LKS_STR_FMT "\"\n", LKS_STR_ARG(key),
                     LKS_STR_ARG(line));
    }
    lks_tree_bytes(tree, "/lockstep/nvml.csv", lks_buf_view(&text));
}

/* A V100 with the driver of its time: retired pages, no MIG, no GSP, six links one by one. */
static const char v100_answers[] =
    "nvmlInit: 0 /usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1\n"
    "nvmlDeviceGetCount: 0 1\n"
    "nvmlDeviceGetHandleByIndex 0: 0\n"
    "nvmlDeviceGetPciInfo 0: 0 address=0000:3b:00.0 device=1db510de subsystem=124910de\n"
    "nvmlDeviceGetFieldValues 0000:3b:00.0 77 79 29 30 142 143 144 145 170 230: 0 77=0 79=0 29=2 "
    "30=1 142=!3 143=!3 144=!3 145=!3 170=!2 230=!2\n"
    "nvmlDeviceGetClockInfo 0000:3b:00.0 0: 0 135\n"
    "nvmlDeviceGetClockInfo 0000:3b:00.0 2: 0 877\n"
    "nvmlDeviceGetApplicationsClock 0000:3b:00.0 0: 0 1005\n"
    "nvmlDeviceGetApplicationsClock 0000:3b:00.0 2: 0 877\n"
    "nvmlDeviceGetDefaultApplicationsClock 0000:3b:00.0 0: 0 1290\n"
    "nvmlDeviceGetDefaultApplicationsClock 0000:3b:00.0 2: 0 877\n"
    "nvmlDeviceGetCurrentClocksEventReasons 0000:3b:00.0: 0 1\n"
    "nvmlDeviceGetArchitecture 0000:3b:00.0: 0 5\n"
    "nvmlDeviceGetMinMaxClockOfPState 0000:3b:00.0 0 0: 13\n"
    "nvmlDeviceGetBoardPartNumber 0000:3b:00.0: 0 699-2G503-0203-230\n"
    "nvmlDeviceGetName 0000:3b:00.0: 0 Tesla V100-SXM2-32GB\n"
    "nvmlDeviceGetSerial 0000:3b:00.0: 0 0323618011111\n"
    "nvmlDeviceGetUUID 0000:3b:00.0: 0 GPU-0b1e2a3c-0000-1111-2222-333344445555\n"
    "nvmlDeviceGetModuleId 0000:3b:00.0: 13\n"
    "nvmlDeviceGetVbiosVersion 0000:3b:00.0: 0 88.00.4f.00.09\n"
    "nvmlDeviceGetInforomImageVersion 0000:3b:00.0: 0 G503.0203.00.05\n"
    "nvmlDeviceGetGspFirmwareVersion 0000:3b:00.0: 13\n"
    "nvmlDeviceGetPersistenceMode 0000:3b:00.0: 0 0\n"
    "nvmlDeviceGetComputeMode 0000:3b:00.0: 0 2\n"
    "nvmlDeviceGetMigMode 0000:3b:00.0: 3\n"
    "nvmlDeviceGetEccMode 0000:3b:00.0: 0 current=1 pending=0\n"
    "nvmlDeviceGetEnforcedPowerLimit 0000:3b:00.0: 0 249600\n"
    "nvmlDeviceGetFieldValues 0000:3b:00.0 165 165.1 165.2 165.3 165.4 165.5 165.6 165.7 165.8 "
    "165.9 165.10 165.11 165.12 165.13 165.14 165.15 165.16 165.17: 0 165=!2 165.1=!2 165.2=!2 "
    "165.3=!2 165.4=!2 165.5=!2 165.6=!2 165.7=!2 165.8=!2 165.9=!2 165.10=!2 165.11=!2 165.12=!2 "
    "165.13=!2 165.14=!2 165.15=!2 165.16=!2 165.17=!2\n"
    "nvmlDeviceGetNvLinkState 0000:3b:00.0 0: 0 1\n"
    "nvmlDeviceGetNvLinkState 0000:3b:00.0 1: 0 1\n"
    "nvmlDeviceGetNvLinkState 0000:3b:00.0 2: 0 0\n"
    "nvmlDeviceGetNvLinkState 0000:3b:00.0 3: 0 1\n"
    "nvmlDeviceGetNvLinkState 0000:3b:00.0 4: 0 1\n"
    "nvmlDeviceGetNvLinkState 0000:3b:00.0 5: 0 1\n"
    "nvmlDeviceGetNvLinkState 0000:3b:00.0 6: 2\n"
    "nvmlDeviceGetGpuFabricInfo 0000:3b:00.0: 13\n"
    "nvmlDeviceGetComputeRunningProcesses 0000:3b:00.0: 0 2\n"
    "nvmlDeviceGetGraphicsRunningProcesses 0000:3b:00.0: 0 1\n";

static const char v100_readings[] =
    "gpu.board_part@gpu 0000:3b:00.0=699-2G503-0203-230\n"
    "gpu.pci_id@gpu 0000:3b:00.0=10de:1db5\n"
    "gpu.subsystem_id@gpu 0000:3b:00.0=10de:1249\n"
    "gpu.product@gpu 0000:3b:00.0=Tesla V100-SXM2-32GB\n"
    "gpu.serial@gpu 0000:3b:00.0=0323618011111\n"
    "gpu.uuid@gpu 0000:3b:00.0=GPU-0b1e2a3c-0000-1111-2222-333344445555\n"
    "gpu.module_id@gpu 0000:3b:00.0~\n"
    "firmware/vbios@gpu 0000:3b:00.0#699-2G503-0203-230=88.00.4F.00.09\n"
    "firmware/inforom@gpu 0000:3b:00.0#699-2G503-0203-230=G503.0203.00.05\n"
    "firmware/gsp@gpu 0000:3b:00.0~\n"
    "settings.persistence@gpu 0000:3b:00.0=false\n"
    "settings.compute_mode@gpu 0000:3b:00.0=prohibited\n"
    "settings.mig.mode@gpu 0000:3b:00.0~\n"
    "gpu.mig_pending@gpu 0000:3b:00.0~\n"
    "settings.mig.profiles@gpu 0000:3b:00.0~\n"
    "settings.ecc@gpu 0000:3b:00.0=true\n"
    "gpu.ecc_pending@gpu 0000:3b:00.0=false\n"

    "gpu.remapped_rows@gpu 0000:3b:00.0~\n"
    "gpu.retired_pages@gpu 0000:3b:00.0=single-bit=2 double-bit=1\n"
    "gpu.remap_pending@gpu 0000:3b:00.0~\n"
    "gpu.remap_failed@gpu 0000:3b:00.0~\n"
    "gpu.recovery_action@gpu 0000:3b:00.0~\n"
    "settings.memory_mode@gpu 0000:3b:00.0~\n"
    "settings.power_limit_w@gpu 0000:3b:00.0=250\n"
    "devices.nvlinks_up@gpu 0000:3b:00.0=5\n"
    "gpu.nvlinks@gpu 0000:3b:00.0=up up down up up up\n"
    "gpu.fabric_state@gpu 0000:3b:00.0~\n"
    "gpu.processes@gpu 0000:3b:00.0=compute=2 graphics=1\n"
    "gpu.clocks@gpu 0000:3b:00.0=graphics=135 memory=877\n"
    "gpu.throttle@gpu 0000:3b:00.0=idle\n"
    "settings.clocks.locked@gpu 0000:3b:00.0=true\n"
    "settings.clocks.graphics_mhz@gpu 0000:3b:00.0=1005\n"
    "settings.clocks.memory_mhz@gpu 0000:3b:00.0~\n";

static void test_recorded(void)
{
    struct lks_tree tree = lks_tree_new();
    plant_answers(&tree, v100_answers);
    struct lks_heard heard;
    lks_hear_tree(lks_probe_nvidia, &tree, &options, &heard);
    CHECK_STR(lks_buf_view(&heard.lines), v100_readings);
    lks_heard_fini(&heard);
    lks_tree_free(&tree);
}

/* Each reading the probe may give is in the list for GPUs without NVML, and the other way round. */
static void test_all_listed(void)
{
    struct lks_str rest = lks_str_from(v100_readings), line, name;
    size_t count = 0, listed = 0;
    for (; lks_nvidia_gpu_readings[listed] != NULL; listed++)
        CHECK(strstr(v100_readings, lks_nvidia_gpu_readings[listed]) != NULL);
    while (rest.len > 0) {
        (void)lks_str_cut(rest, '\n', &line, &rest);
        (void)lks_str_cut(line, '@', &name, &line);
        bool found = false;
        for (size_t i = 0; i < listed; i++)
            found = found || lks_str_is(name, lks_nvidia_gpu_readings[i]);
        lks_test_case("%" LKS_STR_FMT, LKS_STR_ARG(name));
        CHECK(found);
        count++;
    }
    CHECK_INT(count, listed);
    CHECK(listed <= 64);
}

/* One answer of the V100's replaced, and what becomes of its reading. */
static const struct {
    const char *name, *key, *answer, *reading;
} odd_answers[] = {
    {"lost", "nvmlDeviceGetSerial", "15",
     "gpu.serial@gpu 0000:3b:00.0?nvmlDeviceGetSerial: the GPU is lost\n"},
    {"not permitted", "nvmlDeviceGetSerial", "4",
     "gpu.serial@gpu 0000:3b:00.0?nvmlDeviceGetSerial: not permitted\n"},
    {"a code nobody knows", "nvmlDeviceGetSerial", "77",
     "gpu.serial@gpu 0000:3b:00.0?nvmlDeviceGetSerial: NVML error 77\n"},
    {"no longer there", "nvmlDeviceGetSerial", "26", "gpu.serial@gpu 0000:3b:00.0~\n"},
    {"empty", "nvmlDeviceGetSerial", "0", "gpu.serial@gpu 0000:3b:00.0~\n"},
    {"not applicable", "nvmlDeviceGetSerial", "0 N/A", "gpu.serial@gpu 0000:3b:00.0~\n"},
    {"no code", "nvmlDeviceGetSerial", "what",
     "gpu.serial@gpu 0000:3b:00.0?nvmlDeviceGetSerial: its recorded answer is damaged\n"},
    {"no number", "nvmlDeviceGetPersistenceMode", "0 yes",
     "settings.persistence@gpu 0000:3b:00.0?unexpected answer 'yes'\n"},
    {"number out of range", "nvmlDeviceGetComputeMode", "0 9",
     "settings.compute_mode@gpu 0000:3b:00.0?unexpected answer '9'\n"},
    {"a word is missing", "nvmlDeviceGetEccMode", "0 current=1",
     "settings.ecc@gpu 0000:3b:00.0?NVML's answer 'current=1' has no pending\n"
     "gpu.ecc_pending@gpu 0000:3b:00.0?NVML's answer 'current=1' has no pending\n"},
    {"a mode nobody knows", "nvmlDeviceGetEccMode", "0 current=2 pending=0",
     "settings.ecc@gpu 0000:3b:00.0?unexpected answer 'current=2 pending=0'\n"
     "gpu.ecc_pending@gpu 0000:3b:00.0?unexpected answer 'current=2 pending=0'\n"},
    {"watts as text", "nvmlDeviceGetEnforcedPowerLimit", "0 many",
     "settings.power_limit_w@gpu 0000:3b:00.0?nvmlDeviceGetEnforcedPowerLimit: 'many' is no "
     "number\n"},
    {"not asked then", "nvmlDeviceGetNvLinkState 0000:3b:00.0 3", NULL,
     "devices.nvlinks_up@gpu 0000:3b:00.0?nvmlDeviceGetNvLinkState: not asked when the tree "
     "was captured\n"
     "gpu.nvlinks@gpu 0000:3b:00.0?nvmlDeviceGetNvLinkState: not asked when the tree was "
     "captured\n"},
};

static void test_odd_answers(void)
{
    for (size_t i = 0; i < LKS_COUNT(odd_answers); i++) {
        lks_test_case("%s", odd_answers[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf answers = LKS_BUF(1 << 16);
        struct lks_str rest = lks_str_from(v100_answers), line;
        while (rest.len > 0) {
            (void)lks_str_cut(rest, '\n', &line, &rest);
            ptrdiff_t colon = lks_str_find(line, LKS_STR(": "));
            bool this = lks_str_starts(line, odd_answers[i].key);
            if (!this)
                lks_buf_addf(&answers, "%" LKS_STR_FMT "\n", LKS_STR_ARG(line));
            else if (odd_answers[i].answer != NULL)
                lks_buf_addf(&answers, "%.*s: %s\n", (int)colon, line.ptr, odd_answers[i].answer);
        }
        struct lks_tree tree = lks_tree_new();
        plant_answers(&tree, answers.ptr);
        struct lks_heard heard;
        lks_hear_tree(lks_probe_nvidia, &tree, &options, &heard);
        CHECK_HAS(lks_buf_view(&heard.lines), odd_answers[i].reading);
        size_t lines = 0;
        for (size_t k = 0; k < heard.lines.len; k++)
            lines += heard.lines.ptr[k] == '\n';
        CHECK_INT(lines, 33);
        lks_heard_fini(&heard);
        lks_tree_free(&tree);
    }
}

/* A library that passes for NVML -------------------------------------------------------------- */

static const char *const stub_variables[] = {"LKS_STUB_GPUS", "LKS_STUB_HANG", "LKS_STUB_CRASH",
                                             "LKS_STUB_FAIL", "LKS_STUB_LOSE", "LKS_STUB_STUCK",
                                             "LKS_STUB_LOCK", "LKS_STUB_MIG"};

/* "NAME=VALUE NAME=VALUE", everything else unset. */
static void stub_set(const char *settings)
{
    for (size_t i = 0; i < LKS_COUNT(stub_variables); i++)
        (void)unsetenv(stub_variables[i]);
    struct lks_str rest = lks_str_from(settings), word, name, value;
    while (lks_str_word(&rest, &word)) {
        char n[64], v[128];
        (void)lks_str_cut(word, '=', &name, &value);
        snprintf(n, sizeof(n), "LKS_STUB_%" LKS_STR_FMT, LKS_STR_ARG(name));
        snprintf(v, sizeof(v), "%" LKS_STR_FMT, LKS_STR_ARG(value));
        CHECK(setenv(n, v, 1) == 0);
    }
}

/* The files of `tree`, and answers from the library as on a live machine. */
static bool open_live(const struct lks_tree *tree, const char *library, const char *capture,
                      struct lks_root *root)
{
    struct lks_err err = {0};
    if (!CHECK(lks_root_open(tree->path, capture, root, &err) == LKS_OK))
        return false;
    root->live = true;
    root->nvml = library;
    return true;
}

static void hear_stub(const char *settings, const char *library, struct lks_heard *heard)
{
    struct lks_tree tree = lks_tree_new();
    struct lks_root root;
    stub_set(settings);
    *heard = (struct lks_heard){0};
    if (open_live(&tree, library, NULL, &root)) {
        lks_hear(lks_probe_nvidia, &root, &options, heard);
        lks_root_close(&root);
    }
    lks_tree_free(&tree);
}

static const char h200_readings[] =
    "gpu.board_part@gpu 0000:10:00.0=692-2G520-0282-001\n"
    "gpu.pci_id@gpu 0000:10:00.0=10de:2335\n"
    "gpu.subsystem_id@gpu 0000:10:00.0=10de:18bf\n"
    "gpu.product@gpu 0000:10:00.0=NVIDIA H200\n"
    "gpu.serial@gpu 0000:10:00.0=1653724027110\n"
    "gpu.uuid@gpu 0000:10:00.0=GPU-a4da8049-cf69-4957-3803-ab33e397f970\n"
    "gpu.module_id@gpu 0000:10:00.0=1\n"
    "firmware/vbios@gpu 0000:10:00.0#692-2G520-0282-001=96.00.A5.00.1A\n"
    "firmware/inforom@gpu 0000:10:00.0#692-2G520-0282-001=G520.0282.02.02\n"
    "firmware/gsp@gpu 0000:10:00.0#692-2G520-0282-001=580.159.04\n"
    "settings.persistence@gpu 0000:10:00.0=true\n"
    "settings.compute_mode@gpu 0000:10:00.0=exclusive-process\n"
    "settings.mig.mode@gpu 0000:10:00.0=disabled\n"
    "gpu.mig_pending@gpu 0000:10:00.0=disabled\n"
    "settings.mig.profiles@gpu 0000:10:00.0~\n"
    "settings.ecc@gpu 0000:10:00.0=true\n"
    "gpu.ecc_pending@gpu 0000:10:00.0=true\n"

    "gpu.remapped_rows@gpu 0000:10:00.0=correctable=0 uncorrectable=0\n"
    "gpu.retired_pages@gpu 0000:10:00.0~\n"
    "gpu.remap_pending@gpu 0000:10:00.0=false\n"
    "gpu.remap_failed@gpu 0000:10:00.0=false\n"
    "gpu.recovery_action@gpu 0000:10:00.0=none\n"
    "settings.memory_mode@gpu 0000:10:00.0~\n"
    "settings.power_limit_w@gpu 0000:10:00.0=700\n"
    "devices.nvlinks_up@gpu 0000:10:00.0=18\n"
    "gpu.nvlinks@gpu 0000:10:00.0=up up up up up up up up up up up up up up up up up up\n"
    "gpu.fabric_state@gpu 0000:10:00.0=completed\n"
    "gpu.processes@gpu 0000:10:00.0=0\n"
    "gpu.clocks@gpu 0000:10:00.0=graphics=345 memory=3201\n"
    "gpu.throttle@gpu 0000:10:00.0=idle\n"
    "settings.clocks.locked@gpu 0000:10:00.0=false\n"
    "settings.clocks.graphics_mhz@gpu 0000:10:00.0~\n"
    "settings.clocks.memory_mhz@gpu 0000:10:00.0~\n";

/* What differs on the second GPU, and under which circumstances. */
static const struct {
    const char *name, *settings, *part, *lines;
} stub_cases[] = {
    {"the first GPU", "", "0000:10:00.0", h200_readings},
    {"links", "", "devices.nvlinks_up",
     "devices.nvlinks_up@gpu 0000:10:00.0=18\ndevices.nvlinks_up@gpu 0000:20:00.0=17\n"},
    {"half a watt", "", "settings.power_limit_w@gpu 0000:20:00.0",
     "settings.power_limit_w@gpu 0000:20:00.0=500\n"},
    {"processes", "", "gpu.processes@gpu 0000:20:00.0", "gpu.processes@gpu 0000:20:00.0=3\n"},
    {"eight", "GPUS=8", "gpu.module_id",
     "gpu.module_id@gpu 0000:10:00.0=1\ngpu.module_id@gpu 0000:20:00.0=2\n"
     "gpu.module_id@gpu 0000:30:00.0=3\ngpu.module_id@gpu 0000:40:00.0=4\n"
     "gpu.module_id@gpu 0000:50:00.0=5\ngpu.module_id@gpu 0000:60:00.0=6\n"
     "gpu.module_id@gpu 0000:70:00.0=7\ngpu.module_id@gpu 0000:80:00.0=8\n"},
    {"none", "GPUS=0", "", ""},
    {"instances in their order", "MIG=1", "mig",
     "settings.mig.mode@gpu 0000:10:00.0=disabled\n"
     "gpu.mig_pending@gpu 0000:10:00.0=disabled\n"
     "settings.mig.profiles@gpu 0000:10:00.0~\n"
     "settings.mig.mode@gpu 0000:20:00.0=enabled\n"
     "gpu.mig_pending@gpu 0000:20:00.0=enabled\n"
     "settings.mig.profiles@gpu 0000:20:00.0=3g.71gb 2g.35gb 1g.18gb 1g.18gb+me\n"},
    {"memory that cannot be looked at", "MIG=1", "remap_failed",
     "gpu.remap_failed@gpu 0000:10:00.0=false\n"
     "gpu.remap_failed@gpu 0000:20:00.0?NVML does not tell while MIG is enabled\n"},
    {"pages, which such a GPU never retires", "MIG=1", "retired",
     "gpu.retired_pages@gpu 0000:10:00.0~\ngpu.retired_pages@gpu 0000:20:00.0~\n"},
    {"instances we may not see", "MIG=1 FAIL=nvmlDeviceGetGpuInstances=4", "profiles",
     "settings.mig.profiles@gpu 0000:10:00.0~\n"
     "settings.mig.profiles@gpu 0000:20:00.0?nvmlDeviceGetGpuInstances: not permitted\n"},
    {"a lock", "LOCK=1", "settings.clocks",
     "settings.clocks.locked@gpu 0000:10:00.0=false\n"
     "settings.clocks.graphics_mhz@gpu 0000:10:00.0~\n"
     "settings.clocks.memory_mhz@gpu 0000:10:00.0~\n"
     "settings.clocks.locked@gpu 0000:20:00.0=true\n"
     "settings.clocks.graphics_mhz@gpu 0000:20:00.0=600\n"
     "settings.clocks.memory_mhz@gpu 0000:20:00.0~\n"},
    {"one call fails", "FAIL=nvmlDeviceGetUUID:0=999", "uuid",
     "gpu.uuid@gpu 0000:10:00.0?nvmlDeviceGetUUID: unknown error\n"
     "gpu.uuid@gpu 0000:20:00.0=GPU-a4da8049-cf69-4957-3803-ab33e397f971\n"},
    {"all fields fail", "FAIL=nvmlDeviceGetFieldValues:1=999", "settings.clocks.locked",
     "settings.clocks.locked@gpu 0000:10:00.0=false\n"
     "settings.clocks.locked@gpu 0000:20:00.0?nvmlDeviceGetFieldValues: unknown error\n"},
    {"a GPU without a handle", "FAIL=nvmlDeviceGetHandleByIndex_v2:0=15", "gpu.product",
     "gpu.product@gpu 0000:20:00.0=NVIDIA H200\n"},
    {"not initialised", "FAIL=nvmlInit_v2=18", "",
     "probe.nvidia?nvmlInit: the loaded driver and the library are of different versions\n"},
    {"no count", "FAIL=nvmlDeviceGetCount_v2=999", "",
     "probe.nvidia?nvmlDeviceGetCount: unknown error\n"},
};

static void test_stub(void)
{
    for (size_t i = 0; i < LKS_COUNT(stub_cases); i++) {
        lks_test_case("%s", stub_cases[i].name);
        struct lks_heard heard;
        hear_stub(stub_cases[i].settings, LKS_STUB_NVML, &heard);
        CHECK_STR(lks_heard_only(&heard, stub_cases[i].part), stub_cases[i].lines);
        lks_heard_fini(&heard);
    }
}

/* From its tenth call on the second GPU is gone; what was said of it before stands. */
static void test_lost(void)
{
    struct lks_heard heard;
    hear_stub("LOSE=1:9", LKS_STUB_NVML, &heard);
    CHECK_STR(lks_heard_only(&heard, "0000:10:00.0"), h200_readings);
    CHECK_STR(lks_heard_only(&heard, "gpu.remapped_rows@gpu 0000:20"),
              "gpu.remapped_rows@gpu 0000:20:00.0=correctable=0 uncorrectable=1\n");
    CHECK_STR(lks_heard_only(&heard, "gpu.serial@gpu 0000:20"),
              "gpu.serial@gpu 0000:20:00.0?nvmlDeviceGetSerial: the GPU is lost\n");
    CHECK_STR(lks_heard_only(&heard, "settings.ecc@gpu 0000:20"),
              "settings.ecc@gpu 0000:20:00.0?nvmlDeviceGetEccMode: the GPU is lost\n");
    lks_heard_fini(&heard);
}

static const char old_readings[] =
    "gpu.board_part@gpu 0000:10:00.0=692-2G520-0282-001\n"
    "gpu.pci_id@gpu 0000:10:00.0=10de:2335\n"
    "gpu.subsystem_id@gpu 0000:10:00.0=10de:18bf\n"
    "gpu.product@gpu 0000:10:00.0=NVIDIA H200\n"
    "gpu.serial@gpu 0000:10:00.0=1653724027110\n"
    "gpu.uuid@gpu 0000:10:00.0=GPU-a4da8049-cf69-4957-3803-ab33e397f970\n"
    "gpu.module_id@gpu 0000:10:00.0~\n"
    "firmware/vbios@gpu 0000:10:00.0#692-2G520-0282-001=96.00.A5.00.1A\n"
    "firmware/inforom@gpu 0000:10:00.0#692-2G520-0282-001=G520.0282.02.02\n"
    "firmware/gsp@gpu 0000:10:00.0~\n"
    "settings.persistence@gpu 0000:10:00.0=true\n"
    "settings.compute_mode@gpu 0000:10:00.0=exclusive-process\n"
    "settings.mig.mode@gpu 0000:10:00.0~\n"
    "gpu.mig_pending@gpu 0000:10:00.0~\n"
    "settings.mig.profiles@gpu 0000:10:00.0~\n"
    "settings.ecc@gpu 0000:10:00.0=true\n"
    "gpu.ecc_pending@gpu 0000:10:00.0=true\n"

    "gpu.remapped_rows@gpu 0000:10:00.0~\n"
    "gpu.retired_pages@gpu 0000:10:00.0~\n"
    "gpu.remap_pending@gpu 0000:10:00.0~\n"
    "gpu.remap_failed@gpu 0000:10:00.0~\n"
    "gpu.recovery_action@gpu 0000:10:00.0~\n"
    "settings.memory_mode@gpu 0000:10:00.0~\n"
    "settings.power_limit_w@gpu 0000:10:00.0=700\n"
    "devices.nvlinks_up@gpu 0000:10:00.0=5\n"
    "gpu.nvlinks@gpu 0000:10:00.0=up up up up down up\n"
    "gpu.fabric_state@gpu 0000:10:00.0~\n"
    "gpu.processes@gpu 0000:10:00.0=0\n"
    "gpu.clocks@gpu 0000:10:00.0=graphics=345 memory=3201\n"
    "gpu.throttle@gpu 0000:10:00.0=idle\n"
    "settings.clocks.locked@gpu 0000:10:00.0?this GPU does not count how long its clocks are "
    "held: a lock is not visible\n"
    "settings.clocks.graphics_mhz@gpu 0000:10:00.0?this GPU does not count how long its clocks "
    "are held: a lock is not visible\n"
    "settings.clocks.memory_mhz@gpu 0000:10:00.0?this GPU does not count how long its clocks "
    "are held: a lock is not visible\n";

/* An old library has none of the functions with a version in their name, and few of the others. */
static void test_old(void)
{
    struct lks_heard heard;
    hear_stub("GPUS=1", LKS_STUB_NVML_OLD, &heard);
    CHECK_STR(lks_buf_view(&heard.lines), old_readings);
    lks_heard_fini(&heard);
}

/* A capture of a machine that does everything at once reads as the machine did. */
static void test_capture(void)
{
    struct lks_tree tree = lks_tree_new(), capture = lks_tree_new();
    struct lks_root root;
    struct lks_heard live = {0}, replayed = {0};
    stub_set("GPUS=3 LOCK=0 MIG=1 LOSE=2:30 FAIL=nvmlDeviceGetSerial:1=4");
    if (open_live(&tree, LKS_STUB_NVML, capture.path, &root)) {
        lks_hear(lks_probe_nvidia, &root, &options, &live);
        CHECK(!root.capture_failed);
        lks_root_close(&root);
        lks_hear_tree(lks_probe_nvidia, &capture, &options, &replayed);
        CHECK(live.lines.len > 2000);
        CHECK_STR(lks_buf_view(&replayed.lines), live.lines.ptr);
        CHECK_STR(lks_buf_view(&replayed.evidence), live.evidence.ptr);
    }
    lks_heard_fini(&live);
    lks_heard_fini(&replayed);
    lks_tree_free(&tree);
    lks_tree_free(&capture);
}

/* In a child, as the product runs it: what hangs or crashes is left out the next time. */
static const struct {
    const char *name, *settings, *part, *lines;
} hang_cases[] = {
    {"one call hangs", "HANG=nvmlDeviceGetSerial:0", "gpu.serial",
     "gpu.serial@gpu 0000:10:00.0?timed out after 0.3 s\n"
     "gpu.serial@gpu 0000:20:00.0=1653724027111\n"},
    {"the rest of the GPU stands", "HANG=nvmlDeviceGetSerial:0", "gpu.product",
     "gpu.product@gpu 0000:10:00.0=NVIDIA H200\n"
     "gpu.product@gpu 0000:20:00.0=NVIDIA H200\n"},
    {"one call crashes", "CRASH=nvmlDeviceGetName:1", "gpu.product",
     "gpu.product@gpu 0000:10:00.0=NVIDIA H200\n"
     "gpu.product@gpu 0000:20:00.0?crashed (signal 9)\n"},
    {"a GPU that stops to answer", "STUCK=0:5", "gpu.product",
     "gpu.product@gpu 0000:10:00.0?left out: NVML hung on this GPU 2 times\n"
     "gpu.product@gpu 0000:20:00.0=NVIDIA H200\n"},
    {"a GPU that never answers", "HANG=*:0", "gpu.product",
     "gpu.product@gpu 0000:20:00.0=NVIDIA H200\n"},
    {"NVML hangs at once", "HANG=nvmlInit_v2", "",
     "probe.nvidia?nvmlInit, which takes seconds to wake each GPU that is not kept awake: "
     "timed "
     "out after 2.4 s\n"},
};

/* On a busy machine a healthy call takes as long as one that hangs now and then: it is tried again.
 */
static void test_hangs(void)
{
    static const struct lks_probe_kind kind = {.name = "nvidia", .run = lks_probe_nvidia};
    for (size_t i = 0, tries = 20; i < LKS_COUNT(hang_cases); i++) {
        lks_test_case("%s", hang_cases[i].name);
        struct lks_tree tree = lks_tree_new();
        struct lks_root root;
        struct lks_tuple tuple = {0};
        struct lks_heard heard = {0};
        struct lks_err err = {0};
        stub_set(hang_cases[i].settings);
        lks_tuple_init(&tuple);
        if (open_live(&tree, LKS_STUB_NVML, NULL, &root)) {
            CHECK(lks_probe_run(&kind, 1, &root, NULL, &options, &tuple, NULL, &err) == LKS_OK);
            lks_heard_tuple(&tuple, &heard);
            struct lks_str lines = lks_heard_only(&heard, hang_cases[i].part);
            bool again = tries > 0 && !lks_str_is(lines, hang_cases[i].lines);
            if (!again)
                CHECK_STR(lines, hang_cases[i].lines);
            tries -= again;
            i -= again;
            lks_root_close(&root);
        }
        lks_heard_fini(&heard);
        lks_tuple_fini(&tuple);
        lks_tree_free(&tree);
    }
}

/* Without NVML -------------------------------------------------------------------------------- */

static void plant_gpu(const struct lks_tree *tree, const char *address, const char *driver)
{
    static const char *const files[][2] = {{"vendor", "0x10de\n"},
                                           {"device", "0x2335\n"},
                                           {"subsystem_vendor", "0x10de\n"},
                                           {"subsystem_device", "0x18bf\n"},
                                           {"class", "0x030200\n"}};
    char path[128];
    for (size_t i = 0; i < LKS_COUNT(files); i++) {
        snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/%s", address, files[i][0]);
        lks_tree_file(tree, path, files[i][1]);
    }
    snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/driver", address);
    if (driver != NULL)
        lks_tree_link(tree, path, driver);
}

static const char information[] = "Model: \t\t NVIDIA H200\n"
                                  "IRQ:   \t\t 41\n"
                                  "GPU UUID: \t GPU-a4da8049-cf69-4957-3803-ab33e397f973\n"
                                  "Video BIOS: \t 96.00.a5.00.1a\n"
                                  "Bus Type: \t PCIe\n"
                                  "Bus Location: \t 0000:00:06.0\n"
                                  "GPU Firmware: \t 580.159.04\n"
                                  "GPU Excluded:\t No\n";
static const char asleep[] = "Model: \t\t NVIDIA H200\n"
                             "GPU UUID: \t GPU-???????\?-???\?-???\?-???\?-????????????\n"
                             "Video BIOS: \t ??.??.??.??.??\n"
                             "GPU Firmware: \t N/A\n";

static void test_without(void)
{
    struct lks_tree tree = lks_tree_new();
    struct lks_heard heard;
    plant_gpu(&tree, "0000:00:06.0", "../../../bus/pci/drivers/nvidia");
    plant_gpu(&tree, "0000:00:07.0", "../../../bus/pci/drivers/vfio-pci");
    plant_gpu(&tree, "0000:00:08.0", NULL);
    lks_tree_file(&tree, "/proc/driver/nvidia/gpus/0000:00:06.0/information", information);
    lks_tree_file(&tree, "/proc/driver/nvidia/gpus/0000:00:09.0/information", asleep);
    lks_tree_file(&tree, "/sys/bus/pci/devices/0000:00:01.0/vendor", "0x10de\n");
    lks_tree_file(&tree, "/sys/bus/pci/devices/0000:00:01.0/class", "0x068000\n");
    lks_tree_file(&tree, "/lockstep/nvml.csv", "key,code,value\nnvmlInit,ok,18\n");
    lks_hear_tree(lks_probe_nvidia, &tree, &options, &heard);
    CHECK_STR(lks_heard_only(&heard, "="),
              "gpu.product@gpu 0000:00:06.0=NVIDIA H200\n"
              "gpu.uuid@gpu 0000:00:06.0=GPU-a4da8049-cf69-4957-3803-ab33e397f973\n"
              "firmware/vbios@gpu 0000:00:06.0=96.00.A5.00.1A\n"
              "firmware/gsp@gpu 0000:00:06.0=580.159.04\n"
              "gpu.pci_id@gpu 0000:00:06.0=10de:2335\n"
              "gpu.subsystem_id@gpu 0000:00:06.0=10de:18bf\n"
              "gpu.pci_id@gpu 0000:00:07.0=10de:2335\n"
              "gpu.subsystem_id@gpu 0000:00:07.0=10de:18bf\n"
              "gpu.pci_id@gpu 0000:00:08.0=10de:2335\n"
              "gpu.subsystem_id@gpu 0000:00:08.0=10de:18bf\n"
              "gpu.product@gpu 0000:00:09.0=NVIDIA H200\n");
    CHECK_STR(lks_heard_only(&heard, "~"), "firmware/gsp@gpu 0000:00:09.0~\n");
    CHECK_STR(lks_heard_only(&heard, "settings.ecc"),
              "settings.ecc@gpu 0000:00:06.0?nvmlInit: the loaded driver and the library are of "
              "different versions\n"
              "settings.ecc@gpu 0000:00:07.0?the driver vfio-pci has this GPU, not NVIDIA's\n"
              "settings.ecc@gpu 0000:00:08.0?no driver has taken this GPU\n"
              "settings.ecc@gpu 0000:00:09.0?nvmlInit: the loaded driver and the library are of "
              "different versions\n");
    size_t lines = 0;
    for (size_t i = 0; i < heard.lines.len; i++)
        lines += heard.lines.ptr[i] == '\n';
    CHECK_INT(lines, 4 * 33);
    lks_heard_fini(&heard);
    lks_tree_free(&tree);
}

/* A GPU that NVML has no handle for by number, and says what is wrong with by address. */
static void test_unlisted(void)
{
    struct lks_tree tree = lks_tree_new();
    struct lks_root root;
    struct lks_heard heard = {0};
    plant_gpu(&tree, "0000:10:00.0", "../../../bus/pci/drivers/nvidia");
    plant_gpu(&tree, "0000:90:00.0", "../../../bus/pci/drivers/nvidia");
    stub_set("FAIL=nvmlDeviceGetHandleByIndex_v2:0=15");
    if (open_live(&tree, LKS_STUB_NVML, NULL, &root)) {
        lks_hear(lks_probe_nvidia, &root, &options, &heard);
        lks_root_close(&root);
    }
    CHECK_STR(lks_heard_only(&heard, "gpu.product"),
              "gpu.product@gpu 0000:10:00.0=NVIDIA H200\n"
              "gpu.product@gpu 0000:20:00.0=NVIDIA H200\n"
              "gpu.product@gpu 0000:90:00.0?nvmlDeviceGetHandleByPciBusId: not found\n");
    lks_heard_fini(&heard);
    lks_tree_free(&tree);
}

/* Grace: who manages the memory is a parameter of the module. */
static void test_memory_mode(void)
{
    static const struct {
        const char *name, *params, *reading;
    } rows[] = {
        {"numa", "EnableMSI: 1\nEnableUserNUMAManagement: 1\nNvLinkDisable: 0\n", "=numa\n"},
        {"cdmm", "EnableUserNUMAManagement: 0\nCoherentGPUMemoryMode: \"driver\"\n", "=cdmm\n"},
        {"not said", "EnableMSI: 1\n", "?has no EnableUserNUMAManagement\n"},
        {"no number", "EnableUserNUMAManagement: x\n", "?has no EnableUserNUMAManagement\n"},
        {"no file", NULL, "?/proc/driver/nvidia/params: not there\n"},
    };
    static const char fields[] = "nvmlDeviceGetFieldValues 0009:01:00.0 77 79 29 30 142 143 144 "
                                 "145 170 230: 0 77=0 79=0 29=!3 30=!3 142=0 143=0 144=0 145=0 "
                                 "170=10 230=7\n";
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        char answers[1024], want[128];
        struct lks_tree tree = lks_tree_new();
        struct lks_heard heard;
        snprintf(answers, sizeof(answers),
                 "nvmlInit: 0\nnvmlDeviceGetCount: 0 1\nnvmlDeviceGetHandleByIndex 0: 0\n"
                 "nvmlDeviceGetPciInfo 0: 0 address=0009:01:00.0 device=234210de "
                 "subsystem=16eb10de\n%s",
                 fields);
        plant_answers(&tree, answers);
        if (rows[i].params != NULL)
            lks_tree_file(&tree, "/proc/driver/nvidia/params", rows[i].params);
        lks_hear_tree(lks_probe_nvidia, &tree, &options, &heard);
        snprintf(want, sizeof(want), "settings.memory_mode@gpu 0009:01:00.0%s", rows[i].reading);
        CHECK_STR(lks_heard_only(&heard, "memory_mode"), want);
        CHECK_STR(lks_heard_only(&heard, "recovery"),
                  "gpu.recovery_action@gpu 0009:01:00.0=action-7\n");
        lks_heard_fini(&heard);
        lks_tree_free(&tree);
    }
}

/* A machine without a GPU of NVIDIA's has nothing to say, and one without NVML says so. */
static void test_none(void)
{
    struct lks_tree tree = lks_tree_new();
    struct lks_heard heard;
    lks_tree_file(&tree, "/sys/bus/pci/devices/0000:00:02.0/vendor", "0x8086\n");
    lks_tree_file(&tree, "/sys/bus/pci/devices/0000:00:02.0/class", "0x030000\n");
    lks_hear_tree(lks_probe_nvidia, &tree, &options, &heard);
    CHECK_STR(lks_buf_view(&heard.lines), "");
    lks_heard_fini(&heard);
    plant_gpu(&tree, "0000:00:06.0", "../../../bus/pci/drivers/nvidia");
    struct lks_root root;
    if (open_live(&tree, "/nonexistent/libnvidia-ml.so.1", NULL, &root)) {
        lks_hear(lks_probe_nvidia, &root, &options, &heard);
        lks_root_close(&root);
    }
    CHECK_STR(lks_heard_only(&heard, "settings.mig.mode"),
              "settings.mig.mode@gpu 0000:00:06.0?NVML is not installed: no "
              "/nonexistent/libnvidia-ml.so.1\n");
    lks_heard_fini(&heard);
    lks_tree_free(&tree);
}

/* A library that is there and lacks another one is not missing. */
static void test_missing(void)
{
    static const struct {
        const char *name, *path, *why;
        bool missing;
    } rows[] = {
        {"none", "libnvidia-ml.so.1",
         "libnvidia-ml.so.1: cannot open shared object file: No such file or directory", true},
        {"one that it needs", "libnvidia-ml.so.1",
         "libgone.so.2: cannot open shared object file: No such file or directory", false},
        {"one called alike", "libnvidia-ml.so",
         "libnvidia-ml.so.1: cannot open shared object file: No such file or directory", false},
        {"damaged", "/a/lib.so", "/a/lib.so: file too short", false},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        CHECK(lks_nvml_missing(rows[i].path, rows[i].why) == rows[i].missing);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"nvidia missing library", test_missing},
        {"nvidia recorded answers", test_recorded},
        {"nvidia readings are listed", test_all_listed},
        {"nvidia odd answers", test_odd_answers},
        {"nvidia stub", test_stub},
        {"nvidia lost GPU", test_lost},
        {"nvidia old library", test_old},
        {"nvidia capture", test_capture},
        {"nvidia hangs", test_hangs},
        {"nvidia without NVML", test_without},
        {"nvidia unlisted GPU", test_unlisted},
        {"nvidia memory mode", test_memory_mode},
        {"nvidia none", test_none},
        {0},
    });
}
