/*
 * A library that passes for NVML: GPUs of the H200's kind that do as the environment says.
 *
 *     LKS_STUB_GPUS=8                         how many there are; STUB_GPUS (2) without it
 *     LKS_STUB_HANG=nvmlDeviceGetSerial:1     this call on this GPU never returns (all GPUs
 *                                             without a number; * for every call)
 *     LKS_STUB_CRASH=nvmlDeviceGetName:0      it takes the process with it
 *     LKS_STUB_FAIL=nvmlDeviceGetUUID:0=999   it returns this code
 *     LKS_STUB_LOSE=1:9                       from its tenth call on, this GPU is lost
 *     LKS_STUB_STUCK=1:9                      from its tenth call on, calls on it never return
 *     LKS_STUB_LOCK=1                         someone holds the clocks of this GPU
 *     LKS_STUB_MIG=1                          it has MIG enabled, and instances
 *
 * Built with STUB_OLD it is the NVML of a driver from before there were versions of functions.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define GPUS_MAX 16
#ifndef STUB_GPUS
#define STUB_GPUS 2
#endif
#ifndef STUB_BUS
#define STUB_BUS 16 /* of the first one */
#endif
#define API(name, ...)                                                                             \
    unsigned name(__VA_ARGS__);                                                                    \
    unsigned name(__VA_ARGS__)

enum { OK = 0, INVALID = 2, UNSUPPORTED = 3, NOT_FOUND = 6, TOO_SMALL = 7, LOST = 15 };

static struct gpu {
    unsigned calls;
} gpus[GPUS_MAX];

static unsigned gpu_count(void)
{
    const char *text = getenv("LKS_STUB_GPUS");
    unsigned long n = text != NULL ? strtoul(text, NULL, 10) : STUB_GPUS;
    return n < GPUS_MAX ? (unsigned)n : GPUS_MAX;
}

/* Whether the variable names this call on this GPU; `rest` is what follows '='. */
static bool named(const char *variable, const char *call, unsigned gpu, unsigned long *rest)
{
    const char *text = getenv(variable);
    size_t len = text != NULL ? strcspn(text, ":=") : 0;
    if (text == NULL ||
        (strncmp(text, "*", len) != 0 && (strlen(call) != len || strncmp(text, call, len) != 0)))
        return false;
    char *end = NULL;
    if (text[len] == ':' && strtoul(text + len + 1, &end, 10) != gpu)
        return false;
    const char *value = strchr(text, '=');
    *rest = value != NULL ? strtoul(value + 1, NULL, 10) : 0;
    return true;
}

static bool is_gpu(const char *variable, unsigned gpu)
{
    const char *text = getenv(variable);
    return text != NULL && strtoul(text, NULL, 10) == gpu;
}

/* "GPU:CALLS": whether it is this GPU, and it had so many. */
static bool spent(const char *variable, unsigned gpu)
{
    const char *text = getenv(variable);
    char *end = NULL;
    return text != NULL && strtoul(text, &end, 10) == gpu && *end == ':' &&
           gpus[gpu].calls > strtoul(end + 1, NULL, 10);
}

_Noreturn static void hang(void)
{
    for (;;)
        (void)pause();
}

/* What happens before a call does its work. */
static unsigned begin(const char *call, unsigned gpu)
{
    unsigned long code = 0;
    if (named("LKS_STUB_HANG", call, gpu, &code))
        hang();
    if (named("LKS_STUB_CRASH", call, gpu, &code))
        (void)raise(SIGKILL);
    if (named("LKS_STUB_FAIL", call, gpu, &code))
        return (unsigned)code;
    if (gpu >= GPUS_MAX)
        return OK;
    gpus[gpu].calls++;
    if (spent("LKS_STUB_STUCK", gpu))
        hang();
    return spent("LKS_STUB_LOSE", gpu) ? LOST : OK;
}

static unsigned index_of(const void *gpu)
{
    return (unsigned)((const struct gpu *)gpu - gpus);
}

#define BEGIN(gpu)                                                                                 \
    do {                                                                                           \
        unsigned begun_ = begin(__func__, index_of(gpu));                                          \
        if (begun_ != OK)                                                                          \
            return begun_;                                                                         \
    } while (0)

/* The library and its GPUs ------------------------------------------------------------------- */

static unsigned init(const char *call)
{
    memset(gpus, 0, sizeof(gpus));
    return begin(call, GPUS_MAX);
}

static unsigned count(const char *call, unsigned *out)
{
    *out = gpu_count();
    return begin(call, GPUS_MAX);
}

static unsigned by_index(const char *call, unsigned index, void **out)
{
    if (index >= gpu_count())
        return INVALID;
    *out = &gpus[index];
    return begin(call, index);
}

struct pci {
    char legacy[16];
    unsigned domain, bus, device, id, subsystem;
};

static unsigned pci(const char *call, const void *gpu, struct pci *out)
{
    *out = (struct pci){
        .bus = 16 * index_of(gpu) + STUB_BUS, .id = 0x233510de, .subsystem = 0x18bf10de};
    return begin(call, index_of(gpu));
}

#ifdef STUB_OLD
API(nvmlInit, void)
{
    return init(__func__);
}
API(nvmlDeviceGetCount, unsigned *out)
{
    return count(__func__, out);
}
API(nvmlDeviceGetHandleByIndex, unsigned index, void **out)
{
    return by_index(__func__, index, out);
}
API(nvmlDeviceGetPciInfo, void *gpu, struct pci *out)
{
    return pci(__func__, gpu, out);
}
#else
API(nvmlInit_v2, void)
{
    return init(__func__);
}
API(nvmlDeviceGetCount_v2, unsigned *out)
{
    return count(__func__, out);
}
API(nvmlDeviceGetHandleByIndex_v2, unsigned index, void **out)
{
    return by_index(__func__, index, out);
}
API(nvmlDeviceGetPciInfo_v3, void *gpu, struct pci *out)
{
    return pci(__func__, gpu, out);
}
API(nvmlDeviceGetHandleByPciBusId_v2, const char *address, void **out)
{
    for (unsigned i = 0; i < gpu_count(); i++) {
        char mine[24];
        snprintf(mine, sizeof(mine), "0000:%02x:00.0", 16 * i + STUB_BUS);
        if (strcmp(mine, address) == 0) {
            *out = &gpus[i];
            return begin(__func__, i);
        }
    }
    return NOT_FOUND;
}
#endif

/* Texts -------------------------------------------------------------------------------------- */

#define TEXT(name, ...)                                                                            \
    API(name, void *gpu, char *out, unsigned len)                                                  \
    {                                                                                              \
        BEGIN(gpu);                                                                                \
        (void)snprintf(out, len, __VA_ARGS__);                                                     \
        return OK;                                                                                 \
    }

TEXT(nvmlDeviceGetName, "NVIDIA H200")
TEXT(nvmlDeviceGetSerial, "165372402711%u", index_of(gpu))
TEXT(nvmlDeviceGetUUID, "GPU-a4da8049-cf69-4957-3803-ab33e397f97%u", index_of(gpu))
TEXT(nvmlDeviceGetBoardPartNumber, "692-2G520-0282-001")
TEXT(nvmlDeviceGetVbiosVersion, "96.00.A5.00.1A")
TEXT(nvmlDeviceGetInforomImageVersion, "G520.0282.02.02")

/* Numbers ------------------------------------------------------------------------------------ */

#define NUMBER(name, number)                                                                       \
    API(name, void *gpu, unsigned *out)                                                            \
    {                                                                                              \
        BEGIN(gpu);                                                                                \
        *out = (number);                                                                           \
        return OK;                                                                                 \
    }

NUMBER(nvmlDeviceGetPersistenceMode, 1)
NUMBER(nvmlDeviceGetComputeMode, 3)
NUMBER(nvmlDeviceGetPowerManagementLimit, 700000)

/* Clocks ------------------------------------------------------------------------------------- */

#define CLOCK(name, graphics)                                                                      \
    API(name, void *gpu, unsigned kind, unsigned *out)                                             \
    {                                                                                              \
        BEGIN(gpu);                                                                                \
        *out = kind == 0 ? (graphics) : 3201;                                                      \
        return OK;                                                                                 \
    }

CLOCK(nvmlDeviceGetClockInfo, is_gpu("LKS_STUB_LOCK", index_of(gpu)) ? 600 : 345)
CLOCK(nvmlDeviceGetApplicationsClock, 1980)
CLOCK(nvmlDeviceGetDefaultApplicationsClock, 1980)

API(nvmlDeviceGetCurrentClocksThrottleReasons, void *gpu, unsigned long long *out)
{
    BEGIN(gpu);
    *out = 1;
    return OK;
}

/* The list is never asked for, only its length. */
API(nvmlDeviceGetComputeRunningProcesses, void *gpu, unsigned *number, void *list)
{
    (void)list;
    BEGIN(gpu);
    *number = index_of(gpu) == 1 ? 3 : 0;
    return *number > 0 ? TOO_SMALL : OK;
}

API(nvmlDeviceGetEccMode, void *gpu, unsigned *current, unsigned *pending)
{
    BEGIN(gpu);
    *current = *pending = 1;
    return OK;
}

API(nvmlDeviceGetNvLinkState, void *gpu, unsigned link, unsigned *out)
{
    BEGIN(gpu);
    if (link >= 6)
        return INVALID;
    *out = link != 4;
    return OK;
}

/* What old drivers do not have --------------------------------------------------------------- */

#ifndef STUB_OLD
CLOCK(nvmlDeviceGetMaxClockInfo, 1980)
NUMBER(nvmlDeviceGetArchitecture, index_of(gpu) == 1 ? 10 : 9)
NUMBER(nvmlDeviceGetModuleId, index_of(gpu) + 1)
NUMBER(nvmlDeviceGetEnforcedPowerLimit, index_of(gpu) == 1 ? 499500 : 700000)

API(nvmlDeviceGetClock, void *gpu, unsigned kind, unsigned id, unsigned *out)
{
    (void)id;
    return nvmlDeviceGetClockInfo(gpu, kind, out);
}

API(nvmlDeviceGetGspFirmwareVersion, void *gpu, char *out)
{
    BEGIN(gpu);
    (void)snprintf(out, 64, "580.159.04");
    return OK;
}

API(nvmlDeviceGetMinMaxClockOfPState, void *gpu, unsigned kind, unsigned state, unsigned *min,
    unsigned *max)
{
    BEGIN(gpu);
    *min = kind == 0 && state == 0 ? 345 : 3201;
    *max = kind == 0 && state == 0 ? 1980 : 3201;
    return OK;
}

API(nvmlDeviceGetGraphicsRunningProcesses_v3, void *gpu, unsigned *number, void *list)
{
    (void)list;
    BEGIN(gpu);
    *number = 0;
    return OK;
}

API(nvmlDeviceGetMigMode, void *gpu, unsigned *current, unsigned *pending)
{
    BEGIN(gpu);
    *current = is_gpu("LKS_STUB_MIG", index_of(gpu));
    *pending = *current;
    return OK;
}

struct memory {
    unsigned long long total, free, used;
};

API(nvmlDeviceGetMemoryInfo, void *gpu, struct memory *out)
{
    BEGIN(gpu);
    out->total = 143771ull << 20;
    return OK;
}

struct profile {
    unsigned version, id, p2p, slices, instances, rest[6];
    unsigned long long memory;
    char name[96];
};

/* As measured: 1g twice, 2g, 3g. Their names are left empty, as the H200's driver leaves them. */
static const struct {
    unsigned profile, id, slices;
    unsigned long long memory;
    unsigned starts[2], count;
} profiles[] = {
    {0, 19, 1, 16384, {6, 0}, 1}, {1, 14, 2, 33280, {4, 0}, 1}, {2, 9, 3, 71424, {0, 0}, 1},
    {7, 20, 1, 16384, {7, 0}, 1}, {9, 15, 1, 33280, {0, 0}, 0},
};

API(nvmlDeviceGetGpuInstanceProfileInfoV, void *gpu, unsigned number, struct profile *out)
{
    BEGIN(gpu);
    if (out->version != (sizeof(*out) | 2u << 24))
        return INVALID;
    for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++) {
        if (profiles[i].profile != number)
            continue;
        out->id = profiles[i].id;
        out->slices = profiles[i].slices;
        out->memory = profiles[i].memory;
        return OK;
    }
    return number < 17 ? UNSUPPORTED : INVALID;
}

struct instance {
    void *gpu;
    unsigned id, profile, start, size;
};
static struct instance instances[8];

API(nvmlDeviceGetGpuInstances, void *gpu, unsigned id, void **list, unsigned *number)
{
    BEGIN(gpu);
    *number = 0;
    for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++) {
        for (unsigned j = 0; profiles[i].id == id && j < profiles[i].count; j++) {
            instances[i] = (struct instance){.start = profiles[i].starts[j]};
            list[(*number)++] = &instances[i];
        }
    }
    return OK;
}

API(nvmlGpuInstanceGetInfo, void *instance, struct instance *out)
{
    *out = *(const struct instance *)instance;
    return OK;
}

struct fabric {
    unsigned version;
    unsigned char cluster[16];
    unsigned status, clique;
    unsigned char state;
    unsigned mask;
};

/* A driver that knows the second version of the struct and not the third. */
API(nvmlDeviceGetGpuFabricInfoV, void *gpu, struct fabric *out)
{
    BEGIN(gpu);
    if (out->version != (sizeof(*out) | 2u << 24))
        return 25;
    out->state = index_of(gpu) == 0 ? 3 : 2;
    return OK;
}

struct field {
    unsigned id, scope;
    long long timestamp, latency;
    unsigned type, code;
    unsigned long long value;
};

static unsigned long long now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (unsigned long long)t.tv_sec * 1000000000u + (unsigned long long)t.tv_nsec;
}

static void one_field(struct field *f, unsigned gpu)
{
    unsigned long long held = now_ns() / 100000000u * 100000000u;
    f->type = 3;
    f->code = OK;
    if (f->id == 77 || f->id == 79)
        f->value = is_gpu("LKS_STUB_LOCK", gpu) ? held : 0;
    else if (f->id >= 142 && f->id <= 145 && !is_gpu("LKS_STUB_MIG", gpu))
        f->value = f->id == 143 ? gpu : 0;
    else if (f->id == 165 && f->scope < 18)
        f->value = f->scope != 3 || gpu != 1;
    else if (f->id == 230)
        f->value = gpu == 1 ? 4 : 0;
    else if (f->id != 147) /* which this driver leaves as it was */
        f->code = UNSUPPORTED;
}

API(nvmlDeviceGetFieldValues, void *gpu, int number, struct field *fields)
{
    BEGIN(gpu);
    for (int i = 0; i < number; i++)
        one_field(&fields[i], index_of(gpu));
    return OK;
}
#endif
