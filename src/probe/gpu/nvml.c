#include "probe/gpu/nvml.h"

#include "probe/root/clock.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>

/* Without persistence mode NVML wakes the GPUs one by one, some two seconds each. */
#define INIT_PATIENCE 8

#define TABLE         "nvml"
#define LIBRARY       "libnvidia-ml.so.1"
#define KEY_MAX       256
#define LATER_STEP_MS 10
#define INSTANCES_MAX 16
#define UNANSWERED    998 /* not NVML's: it left a field untouched */

enum {
    NVML_SUCCESS = 0,
    NVML_INVALID_ARGUMENT = 2,
    NVML_NOT_SUPPORTED = 3,
    NVML_INSUFFICIENT_SIZE = 7,
    NVML_FUNCTION_NOT_FOUND = 13,
    NVML_VERSION_MISMATCH = 25,
    NVML_UNKNOWN = 999,
};

/* Where drivers in containers and on other systems put the library, when the loader finds none. */
static const char *const places[] = {
    "/usr/local/nvidia/lib64/" LIBRARY,
    "/run/nvidia/driver/usr/lib/x86_64-linux-gnu/" LIBRARY,
    "/run/nvidia/driver/usr/lib/aarch64-linux-gnu/" LIBRARY,
    "/run/nvidia/driver/usr/lib64/" LIBRARY,
    "/usr/lib/wsl/lib/" LIBRARY,
};

static const struct lks_err_known codes[] = {
    {1, LKS_E_UNAVAILABLE, "NVML is not initialised"},
    {2, LKS_E_UNAVAILABLE, "NVML does not take the argument"},
    {3, LKS_E_NOT_FOUND, "not supported by this GPU"},
    {4, LKS_E_DENIED, "not permitted"},
    {6, LKS_E_UNAVAILABLE, "not found"},
    {7, LKS_E_UNAVAILABLE, "the answer is too long"},
    {8, LKS_E_UNAVAILABLE, "the GPU lacks a power cable"},
    {9, LKS_E_UNAVAILABLE, "the driver is not loaded"},
    {10, LKS_E_TIMEOUT, "the driver timed out"},
    {11, LKS_E_UNAVAILABLE, "the GPU's interrupts do not arrive"},
    {12, LKS_E_UNAVAILABLE, "a library of the driver is missing"},
    {13, LKS_E_NOT_FOUND, "not supported by this NVML"},
    {14, LKS_E_UNAVAILABLE, "the InfoROM is corrupted"},
    {15, LKS_E_UNAVAILABLE, "the GPU is lost"},
    {16, LKS_E_UNAVAILABLE, "the GPU must be reset first"},
    {17, LKS_E_UNAVAILABLE, "the operating system refuses the GPU"},
    {18, LKS_E_UNAVAILABLE, "the loaded driver and the library are of different versions"},
    {19, LKS_E_UNAVAILABLE, "the GPU is busy"},
    {20, LKS_E_UNAVAILABLE, "out of memory"},
    {21, LKS_E_UNAVAILABLE, "no data"},
    {23, LKS_E_UNAVAILABLE, "out of resources"},
    {25, LKS_E_NOT_FOUND, "not supported by this NVML"},
    {26, LKS_E_NOT_FOUND, "no longer supported"},
    {27, LKS_E_UNAVAILABLE, "not ready"},
    {28, LKS_E_UNAVAILABLE, "there is no GPU"},
    {UNANSWERED, LKS_E_UNAVAILABLE, "NVML left the field unanswered"},
    {NVML_UNKNOWN, LKS_E_UNAVAILABLE, "unknown error"},
};

/* One question on its way to the library. */
struct asked {
    struct lks_nvml *nvml;
    const struct call *call;
    struct lks_nvml_gpu *gpu;
    unsigned args[2];
    void *symbol;
    size_t version; /* which of the names was found */
    struct lks_nvml_field *fields;
    size_t field_count;
    int64_t until;
};

struct call {
    const char *name;       /* in keys and evidence */
    const char *symbols[4]; /* newest first; none: it is called as its name */
    unsigned args;
    unsigned (*invoke)(const struct asked *q, struct lks_buf *out);
};

/* dlsym() gives a pointer to an object; C wants the bytes moved to make it one to a function. */
#define FUNCTION(type, symbol)                                                                     \
    __extension__({                                                                                \
        __typeof__(type) *lks_fn_;                                                                 \
        memcpy(&lks_fn_, &(symbol), sizeof(lks_fn_));                                              \
        lks_fn_;                                                                                   \
    })

/* NVML's structs, as far as they are read. The version is the size and a number in the top byte. */
#define VERSION(type, n) ((unsigned)sizeof(type) | ((unsigned)(n) << 24))

struct pci_info { /* all versions begin so and are no longer */
    char legacy_id[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char id[32];
};
struct memory_info {
    unsigned long long total, free, used;
};
struct fabric_info { /* the function without a version has all of it but the ends */
    unsigned char cluster[16];
    unsigned status, clique;
    unsigned char state;
};
struct fabric_info_v3 {
    unsigned version;
    struct fabric_info info;
    unsigned health_mask;
    unsigned char health; /* the only thing version 2 has not */
};
struct fabric_info_v2 {
    unsigned version;
    struct fabric_info info;
    unsigned health_mask;
};
struct profile_info {
    unsigned id, p2p, slices, instances, multiprocessors, copy, decoders, encoders, jpeg, ofa;
    unsigned long long memory_mb;
};
struct profile_info_v2 {
    unsigned version, id, p2p, slices, instances, multiprocessors, copy, decoders, encoders, jpeg;
    unsigned ofa;
    unsigned long long memory_mb;
    char name[96];
};
struct instance_info {
    void *gpu;
    unsigned id, profile_id, start, size;
};
struct field_value {
    unsigned id, scope;
    long long timestamp, latency;
    unsigned type, code;
    union {
        double d;
        unsigned u;
        unsigned long ul;
        unsigned long long ull;
        long long ll;
        int i;
        unsigned short us;
    } value;
};

typedef unsigned plain_fn(void);
typedef unsigned count_fn(unsigned *out);
typedef unsigned by_index_fn(unsigned index, void **gpu);
typedef unsigned by_address_fn(const char *address, void **gpu);
typedef unsigned text_fn(void *gpu, char *out, unsigned len);
typedef unsigned short_text_fn(void *gpu, char *out);
typedef unsigned number_fn(void *gpu, unsigned *out);
typedef unsigned pair_fn(void *gpu, unsigned *current, unsigned *pending);
typedef unsigned of_fn(void *gpu, unsigned what, unsigned *out);
typedef unsigned of_two_fn(void *gpu, unsigned what, unsigned which, unsigned *out);
typedef unsigned range_fn(void *gpu, unsigned kind, unsigned state, unsigned *min, unsigned *max);
typedef unsigned mask_fn(void *gpu, unsigned long long *out);
typedef unsigned struct_fn(void *gpu, void *out);
typedef unsigned list_fn(void *gpu, unsigned *count, void *list);
typedef unsigned profile_fn(void *gpu, unsigned profile, void *out);
typedef unsigned instances_fn(void *gpu, unsigned profile_id, void **list, unsigned *count);
typedef unsigned instance_fn(void *instance, struct instance_info *out);
typedef unsigned fields_fn(void *gpu, int count, struct field_value *fields);

/* Calling ------------------------------------------------------------------------------------ */

static unsigned call_count(const struct asked *q, struct lks_buf *out)
{
    unsigned count = 0;
    unsigned code = FUNCTION(count_fn, q->symbol)(&count);
    lks_buf_addf(out, "%u", count);
    return code;
}

static unsigned call_by_index(const struct asked *q, struct lks_buf *out)
{
    (void)out;
    return FUNCTION(by_index_fn, q->symbol)(q->gpu->index, &q->gpu->handle);
}

static unsigned call_by_address(const struct asked *q, struct lks_buf *out)
{
    (void)out;
    return FUNCTION(by_address_fn, q->symbol)(q->gpu->address, &q->gpu->handle);
}

static unsigned call_pci(const struct asked *q, struct lks_buf *out)
{
    struct pci_info pci = {0};
    unsigned code = FUNCTION(struct_fn, q->symbol)(q->gpu->handle, &pci);
    lks_buf_addf(out, "address=%04x:%02x:%02x.0 device=%08x subsystem=%08x", pci.domain, pci.bus,
                 pci.device, pci.device_id, pci.subsystem_id);
    return code;
}

/* Text of the library's, of any bytes and perhaps without an end. */
static void add_text(struct lks_buf *out, const char *text, size_t room)
{
    for (size_t i = 0; i < room && text[i] != '\0'; i++)
        lks_buf_addc(out, text[i] >= ' ' && text[i] <= '~' ? text[i] : '?');
}

static unsigned call_text(const struct asked *q, struct lks_buf *out)
{
    char text[128] = "";
    unsigned code = FUNCTION(text_fn, q->symbol)(q->gpu->handle, text, sizeof(text));
    add_text(out, text, sizeof(text));
    return code;
}

/* The one function that takes no length; 64 bytes are promised to be enough for it. */
static unsigned call_short_text(const struct asked *q, struct lks_buf *out)
{
    char text[256] = "";
    unsigned code = FUNCTION(short_text_fn, q->symbol)(q->gpu->handle, text);
    add_text(out, text, sizeof(text));
    return code;
}

static unsigned call_number(const struct asked *q, struct lks_buf *out)
{
    unsigned number = 0;
    unsigned code = FUNCTION(number_fn, q->symbol)(q->gpu->handle, &number);
    lks_buf_addf(out, "%u", number);
    return code;
}

static unsigned call_pair(const struct asked *q, struct lks_buf *out)
{
    unsigned current = 0, pending = 0;
    unsigned code = FUNCTION(pair_fn, q->symbol)(q->gpu->handle, &current, &pending);
    lks_buf_addf(out, "current=%u pending=%u", current, pending);
    return code;
}

static unsigned call_of(const struct asked *q, struct lks_buf *out)
{
    unsigned number = 0;
    unsigned code = FUNCTION(of_fn, q->symbol)(q->gpu->handle, q->args[0], &number);
    lks_buf_addf(out, "%u", number);
    return code;
}

static unsigned call_of_two(const struct asked *q, struct lks_buf *out)
{
    unsigned number = 0;
    unsigned code = FUNCTION(of_two_fn, q->symbol)(q->gpu->handle, q->args[0], q->args[1], &number);
    lks_buf_addf(out, "%u", number);
    return code;
}

static unsigned call_range(const struct asked *q, struct lks_buf *out)
{
    unsigned min = 0, max = 0;
    unsigned code =
        FUNCTION(range_fn, q->symbol)(q->gpu->handle, q->args[0], q->args[1], &min, &max);
    lks_buf_addf(out, "min=%u max=%u", min, max);
    return code;
}

static unsigned call_mask(const struct asked *q, struct lks_buf *out)
{
    unsigned long long mask = 0;
    unsigned code = FUNCTION(mask_fn, q->symbol)(q->gpu->handle, &mask);
    lks_buf_addf(out, "%llu", mask);
    return code;
}

/* Without room for a list only its length is told, as a failure unless it is 0. */
static unsigned call_length(const struct asked *q, struct lks_buf *out)
{
    unsigned count = 0;
    unsigned code = FUNCTION(list_fn, q->symbol)(q->gpu->handle, &count, NULL);
    lks_buf_addf(out, "%u", count);
    return code == NVML_INSUFFICIENT_SIZE ? NVML_SUCCESS : code;
}

static unsigned call_memory(const struct asked *q, struct lks_buf *out)
{
    struct memory_info memory = {0};
    unsigned code = FUNCTION(struct_fn, q->symbol)(q->gpu->handle, &memory);
    lks_buf_addf(out, "%llu", memory.total);
    return code;
}

static bool other_version(unsigned code)
{
    return code == NVML_VERSION_MISMATCH || code == NVML_INVALID_ARGUMENT;
}

static unsigned call_fabric(const struct asked *q, struct lks_buf *out)
{
    struct_fn *fn = FUNCTION(struct_fn, q->symbol);
    struct fabric_info_v3 v3 = {.version = VERSION(struct fabric_info_v3, 3)};
    unsigned code;
    if (q->version > 0) {
        code = fn(q->gpu->handle, &v3.info);
    } else {
        code = fn(q->gpu->handle, &v3);
        struct fabric_info_v2 v2 = {.version = VERSION(struct fabric_info_v2, 2)};
        if (other_version(code)) {
            code = fn(q->gpu->handle, &v2);
            v3 = (struct fabric_info_v3){.info = v2.info};
        }
    }
    lks_buf_addf(out, "state=%u status=%u clique=%u health=%u", v3.info.state, v3.info.status,
                 v3.info.clique, v3.health);
    return code;
}

static unsigned call_profile(const struct asked *q, struct lks_buf *out)
{
    profile_fn *fn = FUNCTION(profile_fn, q->symbol);
    struct profile_info_v2 v2 = {.version = VERSION(struct profile_info_v2, 2)};
    struct profile_info v1 = {0};
    bool old = q->version > 0;
    unsigned code = fn(q->gpu->handle, q->args[0], old ? (void *)&v1 : (void *)&v2);
    lks_buf_addf(out, "id=%u slices=%u memory=%llu name=", old ? v1.id : v2.id,
                 old ? v1.slices : v2.slices, old ? v1.memory_mb : v2.memory_mb);
    const char *name = strncmp(v2.name, "MIG ", 4) == 0 ? v2.name + 4 : v2.name;
    add_text(out, name, sizeof(v2.name) - (size_t)(name - v2.name));
    return code;
}

static unsigned call_instances(const struct asked *q, struct lks_buf *out)
{
    void *list[INSTANCES_MAX] = {0};
    unsigned count = INSTANCES_MAX;
    unsigned code = FUNCTION(instances_fn, q->symbol)(q->gpu->handle, q->args[0], list, &count);
    if (code != NVML_SUCCESS || count == 0)
        return code;
    void *symbol = dlsym(q->nvml->library, "nvmlGpuInstanceGetInfo");
    if (symbol == NULL || count > INSTANCES_MAX)
        return symbol == NULL ? NVML_FUNCTION_NOT_FOUND : NVML_INSUFFICIENT_SIZE;
    for (unsigned i = 0; i < count && code == NVML_SUCCESS; i++) {
        struct instance_info info = {0};
        code = FUNCTION(instance_fn, symbol)(list[i], &info);
        lks_buf_addf(out, "%s%u", i > 0 ? " " : "", info.start);
    }
    return code;
}

static bool field_number(const struct field_value *v, unsigned long long *out)
{
    switch (v->type) {
    case 0:
        *out = v->value.d >= 0 && v->value.d < 1e18 ? (unsigned long long)v->value.d : 0;
        return v->value.d >= 0 && v->value.d < 1e18;
    case 1:
        *out = v->value.u;
        return true;
    case 2:
        *out = v->value.ul;
        return true;
    case 3:
        *out = v->value.ull;
        return true;
    case 4:
        *out = (unsigned long long)v->value.ll;
        return v->value.ll >= 0;
    case 5:
        *out = (unsigned long long)v->value.i;
        return v->value.i >= 0;
    case 6:
        *out = v->value.us;
        return true;
    default:
        return false;
    }
}

/* All of them have another value than they came with. */
static bool all_changed(const struct asked *q, const struct field_value *values)
{
    for (size_t i = 0; i < q->field_count; i++) {
        unsigned long long number = 0;
        if (values[i].code == 0 && field_number(&values[i], &number) &&
            number == q->fields[i].value)
            return false;
    }
    return true;
}

/* The name of a field in keys and answers. */
static void add_field(struct lks_buf *out, const struct lks_nvml_field *f)
{
    lks_buf_addf(out, "%u", f->id);
    if (f->scope != 0)
        lks_buf_addf(out, ".%u", f->scope);
}

static unsigned call_fields(const struct asked *q, struct lks_buf *out)
{
    struct field_value values[LKS_NVML_FIELDS_MAX];
    LKS_ASSERT(q->field_count <= LKS_NVML_FIELDS_MAX);
    unsigned code;
    for (;;) {
        for (size_t i = 0; i < q->field_count; i++)
            values[i] = (struct field_value){
                .id = q->fields[i].id, .scope = q->fields[i].scope, .code = UNANSWERED};
        code = FUNCTION(fields_fn, q->symbol)(q->gpu->handle, (int)q->field_count, values);
        if (code != NVML_SUCCESS || lks_clock_ms() >= q->until || all_changed(q, values))
            break;
        (void)nanosleep(&(struct timespec){0, LATER_STEP_MS * 1000000L}, NULL);
    }
    for (size_t i = 0; i < q->field_count; i++) {
        unsigned long long number = 0;
        unsigned is = values[i].code;
        if (is == NVML_SUCCESS && !field_number(&values[i], &number))
            is = NVML_UNKNOWN;
        lks_buf_addf(out, "%s", i > 0 ? " " : "");
        add_field(out, &q->fields[i]);
        lks_buf_addf(out, "=%s%llu", is == NVML_SUCCESS ? "" : "!",
                     is == NVML_SUCCESS ? number : is);
    }
    return code;
}

/* clang-format off */
static const struct call calls[LKS_NVML_CALLS] = {
    [LKS_NVML_COUNT] = {"nvmlDeviceGetCount",
        {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}, 0, call_count},
    [LKS_NVML_BY_INDEX] = {"nvmlDeviceGetHandleByIndex",
        {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"}, 0, call_by_index},
    [LKS_NVML_BY_ADDRESS] = {"nvmlDeviceGetHandleByPciBusId",
        {"nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetHandleByPciBusId"}, 0, call_by_address},
    [LKS_NVML_PCI] = {"nvmlDeviceGetPciInfo",
        {"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"},
        0, call_pci},
    [LKS_NVML_NAME] = {"nvmlDeviceGetName", {0}, 0, call_text},
    [LKS_NVML_SERIAL] = {"nvmlDeviceGetSerial", {0}, 0, call_text},
    [LKS_NVML_UUID] = {"nvmlDeviceGetUUID", {0}, 0, call_text},
    [LKS_NVML_BOARD_PART] = {"nvmlDeviceGetBoardPartNumber", {0}, 0, call_text},
    [LKS_NVML_VBIOS] = {"nvmlDeviceGetVbiosVersion", {0}, 0, call_text},
    [LKS_NVML_INFOROM] = {"nvmlDeviceGetInforomImageVersion", {0}, 0, call_text},
    [LKS_NVML_GSP] = {"nvmlDeviceGetGspFirmwareVersion", {0}, 0, call_short_text},
    [LKS_NVML_MODULE_ID] = {"nvmlDeviceGetModuleId", {0}, 0, call_number},
    [LKS_NVML_ARCHITECTURE] = {"nvmlDeviceGetArchitecture", {0}, 0, call_number},
    [LKS_NVML_MIG] = {"nvmlDeviceGetMigMode", {0}, 0, call_pair},
    [LKS_NVML_ECC] = {"nvmlDeviceGetEccMode", {0}, 0, call_pair},
    [LKS_NVML_PERSISTENCE] = {"nvmlDeviceGetPersistenceMode", {0}, 0, call_number},
    [LKS_NVML_COMPUTE_MODE] = {"nvmlDeviceGetComputeMode", {0}, 0, call_number},
    [LKS_NVML_POWER_SET] = {"nvmlDeviceGetPowerManagementLimit", {0}, 0, call_number},
    [LKS_NVML_POWER_ENFORCED] = {"nvmlDeviceGetEnforcedPowerLimit", {0}, 0, call_number},
    [LKS_NVML_CLOCK] = {"nvmlDeviceGetClockInfo", {0}, 1, call_of},
    [LKS_NVML_CLOCK_AGAIN] = {"nvmlDeviceGetClock", {0}, 2, call_of_two},
    [LKS_NVML_CLOCK_MAX] = {"nvmlDeviceGetMaxClockInfo", {0}, 1, call_of},
    [LKS_NVML_APP_CLOCK] = {"nvmlDeviceGetApplicationsClock", {0}, 1, call_of},
    [LKS_NVML_APP_CLOCK_DEFAULT] = {"nvmlDeviceGetDefaultApplicationsClock", {0}, 1, call_of},
    [LKS_NVML_CLOCK_RANGE] = {"nvmlDeviceGetMinMaxClockOfPState", {0}, 2, call_range},
    [LKS_NVML_REASONS] = {"nvmlDeviceGetCurrentClocksEventReasons",
        {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"},
        0, call_mask},
    [LKS_NVML_COMPUTE] = {"nvmlDeviceGetComputeRunningProcesses",
        {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2",
         "nvmlDeviceGetComputeRunningProcesses"}, 0, call_length},
    [LKS_NVML_GRAPHICS] = {"nvmlDeviceGetGraphicsRunningProcesses",
        {"nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v2",
         "nvmlDeviceGetGraphicsRunningProcesses"}, 0, call_length},
    [LKS_NVML_MEMORY] = {"nvmlDeviceGetMemoryInfo", {0}, 0, call_memory},
    [LKS_NVML_LINK_STATE] = {"nvmlDeviceGetNvLinkState", {0}, 1, call_of},
    [LKS_NVML_FABRIC] = {"nvmlDeviceGetGpuFabricInfo",
        {"nvmlDeviceGetGpuFabricInfoV", "nvmlDeviceGetGpuFabricInfo"}, 0, call_fabric},
    [LKS_NVML_PROFILE] = {"nvmlDeviceGetGpuInstanceProfileInfo",
        {"nvmlDeviceGetGpuInstanceProfileInfoV", "nvmlDeviceGetGpuInstanceProfileInfo"},
        1, call_profile},
    [LKS_NVML_INSTANCES] = {"nvmlDeviceGetGpuInstances", {0}, 1, call_instances},
    [LKS_NVML_FIELDS] = {"nvmlDeviceGetFieldValues", {0}, 0, call_fields},
};
/* clang-format on */

const char *lks_nvml_name(enum lks_nvml_call call)
{
    return calls[call].name;
}

/* Loading ------------------------------------------------------------------------------------ */

/* dlerror() begins with the file that it is about: a library that is there and lacks another one is
 * not missing. */
bool lks_nvml_missing(const char *path, const char *why)
{
    size_t len = strlen(path);
    return strncmp(why, path, len) == 0 && why[len] == ':' &&
           strstr(why, "No such file or directory") != NULL;
}

/* A library that is there and cannot be loaded is another matter than none. */
static enum lks_code load_from(struct lks_nvml *n, const char *path, struct lks_err *err)
{
    n->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (n->library != NULL)
        return LKS_OK;
    const char *why = dlerror();
    if (why == NULL || lks_nvml_missing(path, why))
        return lks_fail(err, LKS_E_NOT_FOUND, "NVML is not installed: no %s", path);
    return lks_fail(err, LKS_E_UNAVAILABLE, "NVML cannot be loaded: %s", why);
}

static enum lks_code load(struct lks_nvml *n, struct lks_err *err)
{
    if (n->root->nvml != NULL)
        return load_from(n, n->root->nvml, err);
    enum lks_code code = load_from(n, LIBRARY, err);
    struct lks_err other;
    for (size_t i = 0; code == LKS_E_NOT_FOUND && i < LKS_COUNT(places); i++) {
        if (load_from(n, places[i], &other) != LKS_E_NOT_FOUND) {
            *err = other;
            return n->library != NULL ? LKS_OK : other.code;
        }
    }
    return code;
}

/* Answers with the path of what was loaded. */
static enum lks_code ask_init(void *ctx, struct lks_buf *out, struct lks_err *err)
{
    struct lks_nvml *n = ctx;
    if (load(n, err) != LKS_OK)
        return err->code;
    void *symbol = dlsym(n->library, "nvmlInit_v2");
    if (symbol == NULL)
        symbol = dlsym(n->library, "nvmlInit");
    if (symbol == NULL)
        return lks_fail(err, LKS_E_UNAVAILABLE, "the library called NVML has no nvmlInit");
    lks_root_patience(n->root, INIT_PATIENCE);
    unsigned code = FUNCTION(plain_fn, symbol)();
    Dl_info info = {0};
    lks_buf_addf(out, "%u ", code);
    if (dladdr(symbol, &info) != 0 && info.dli_fname != NULL)
        add_text(out, info.dli_fname, LKS_NVML_TEXT_MAX / 2);
    return LKS_OK;
}

/* Answers ------------------------------------------------------------------------------------ */

static enum lks_code fail_code(const char *name, uint64_t code, struct lks_err *err)
{
    const struct lks_err_known *f =
        code <= INT_MAX ? lks_err_find(codes, LKS_COUNT(codes), (int)code) : NULL;
    if (f != NULL)
        return lks_fail(err, f->code, "%s: %s", name, f->text);
    return lks_fail(err, LKS_E_UNAVAILABLE, "%s: NVML error %llu", name, (unsigned long long)code);
}

/* "CODE" or "CODE TEXT". */
static enum lks_code read_answer(const char *name, unsigned args, struct lks_str line,
                                 struct lks_nvml_answer *out, struct lks_err *err)
{
    struct lks_str code_word, text;
    uint64_t code;
    (void)lks_str_cut(line, ' ', &code_word, &text);
    text = lks_str_trim(text);
    if (!lks_str_number(code_word, UINT32_MAX, &code) || text.len >= sizeof(out->text))
        return lks_fail(err, LKS_E_INVALID, "%s: its recorded answer is damaged", name);
    if (code == NVML_INVALID_ARGUMENT && args > 0) /* a link or a profile it does not have */
        code = NVML_NOT_SUPPORTED;
    if (code != NVML_SUCCESS)
        return fail_code(name, code, err);
    if (text.len > 0)
        memcpy(out->text, text.ptr, text.len);
    out->text[text.len] = '\0';
    return LKS_OK;
}

enum lks_code lks_nvml_open(struct lks_nvml *n, struct lks_root *root, struct lks_err *err)
{
    *n = (struct lks_nvml){.root = root};
    struct lks_nvml_answer answer;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(LKS_NVML_TEXT_MAX);
    enum lks_code code = lks_root_ask(root, TABLE, "nvmlInit", ask_init, n, &line, err);
    if (code == LKS_E_TIMEOUT)
        return lks_wrap(err,
                        "nvmlInit, which takes seconds to wake each GPU that is not kept awake");
    if (code != LKS_OK)
        return code;
    return read_answer("nvmlInit", 0, lks_buf_view(&line), &answer, err);
}

static const char *symbol_of(const struct call *call, size_t version)
{
    return version == 0 && call->symbols[0] == NULL ? call->name : call->symbols[version];
}

static enum lks_code ask_call(void *ctx, struct lks_buf *out, struct lks_err *err)
{
    struct asked *q = ctx;
    for (q->version = 0; q->version < LKS_COUNT(q->call->symbols); q->version++) {
        const char *symbol = symbol_of(q->call, q->version);
        q->symbol = symbol != NULL ? dlsym(q->nvml->library, symbol) : NULL;
        if (q->symbol != NULL)
            break;
    }
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_NVML_TEXT_MAX);
    unsigned code = q->symbol != NULL ? q->call->invoke(q, &text) : NVML_FUNCTION_NOT_FOUND;
    if (lks_buf_check(&text, err) != LKS_OK)
        return err->code;
    lks_buf_addf(out, "%u", code);
    if (code == NVML_SUCCESS && text.len > 0)
        lks_buf_addf(out, " %s", text.ptr);
    return LKS_OK;
}

/* What a capture does not have was not asked when it was made: it is unknown. */
static enum lks_code ask_key(struct asked *q, const char *key, struct lks_nvml_answer *out,
                             struct lks_err *err)
{
    if (q->gpu != NULL && q->gpu->hung >= LKS_NVML_HUNG_MAX)
        return lks_fail(err, LKS_E_TIMEOUT, "left out: NVML hung on this GPU %u times",
                        q->gpu->hung);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(LKS_NVML_TEXT_MAX);
    enum lks_code code = lks_root_ask(q->nvml->root, TABLE, key, ask_call, q, &line, err);
    if (code == LKS_E_TIMEOUT && q->gpu != NULL)
        q->gpu->hung++;
    if (code == LKS_E_NOT_FOUND)
        return lks_fail(err, LKS_E_UNAVAILABLE, "%s: not asked when the tree was captured",
                        q->call->name);
    return code != LKS_OK
               ? code
               : read_answer(q->call->name, q->call->args, lks_buf_view(&line), out, err);
}

static void add_gpu(struct lks_buf *key, const struct lks_nvml_gpu *gpu)
{
    if (gpu != NULL && gpu->address[0] != '\0')
        lks_buf_addf(key, " %s", gpu->address);
    else if (gpu != NULL)
        lks_buf_addf(key, " %u", gpu->index);
}

enum lks_code lks_nvml_ask(struct lks_nvml *n, enum lks_nvml_call call, struct lks_nvml_gpu *gpu,
                           unsigned a, unsigned b, struct lks_nvml_answer *out, struct lks_err *err)
{
    struct asked q = {.nvml = n, .call = &calls[call], .gpu = gpu, .args = {a, b}};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf key = LKS_BUF(KEY_MAX);
    lks_buf_addf(&key, "%s", q.call->name);
    add_gpu(&key, gpu);
    for (unsigned i = 0; i < q.call->args && i < LKS_COUNT(q.args); i++)
        lks_buf_addf(&key, " %u", q.args[i]);
    if (lks_buf_check(&key, err) != LKS_OK)
        return err->code;
    return ask_key(&q, key.ptr, out, err);
}

enum lks_code lks_nvml_number(struct lks_nvml *n, enum lks_nvml_call call, struct lks_nvml_gpu *gpu,
                              unsigned a, unsigned b, uint64_t *out, struct lks_err *err)
{
    struct lks_nvml_answer answer;
    if (lks_nvml_ask(n, call, gpu, a, b, &answer, err) != LKS_OK)
        return err->code;
    if (!lks_str_number(lks_str_from(answer.text), UINT64_MAX, out))
        return lks_fail(err, LKS_E_INVALID, "%s: '%s' is no number", calls[call].name, answer.text);
    return LKS_OK;
}

enum lks_code lks_nvml_word(const struct lks_nvml_answer *answer, const char *key,
                            struct lks_str *out, struct lks_err *err)
{
    struct lks_str rest = lks_str_from(answer->text), word, name;
    while (lks_str_word(&rest, &word)) {
        struct lks_str value;
        if (lks_str_cut(word, '=', &name, &value) && lks_str_is(name, key)) {
            *out = value;
            return LKS_OK;
        }
    }
    return lks_fail(err, LKS_E_INVALID, "NVML's answer '%s' has no %s", answer->text, key);
}

enum lks_code lks_nvml_word_number(const struct lks_nvml_answer *answer, const char *key,
                                   uint64_t *out, struct lks_err *err)
{
    struct lks_str word = {0};
    if (lks_nvml_word(answer, key, &word, err) != LKS_OK)
        return err->code;
    if (!lks_str_number(word, UINT64_MAX, out))
        return lks_fail(err, LKS_E_INVALID, "NVML's answer '%s': %s is no number", answer->text,
                        key);
    return LKS_OK;
}

enum lks_code lks_nvml_pci_id(const struct lks_nvml_answer *answer, const char *key, char out[10],
                              struct lks_err *err)
{
    struct lks_str word = {0};
    if (lks_nvml_word(answer, key, &word, err) != LKS_OK)
        return err->code;
    uint64_t id;
    if (word.len != 8 || !lks_str_hex(word, UINT32_MAX, &id))
        return lks_fail(err, LKS_E_INVALID, "NVML's answer '%s': %s is no PCI id", answer->text,
                        key);
    snprintf(out, 10, "%04x:%04x", (unsigned)(id & 0xffff), (unsigned)(id >> 16));
    return LKS_OK;
}

/* Fields ------------------------------------------------------------------------------------- */

/* "77=0" or "77=!3", in the order they were asked for. */
static bool read_field(struct lks_str *rest, struct lks_nvml_field *f)
{
    struct lks_str word, name, value;
    uint64_t number;
    char want[32];
    snprintf(want, sizeof(want), f->scope != 0 ? "%u.%u" : "%u", f->id, f->scope);
    if (!lks_str_word(rest, &word) || !lks_str_cut(word, '=', &name, &value) ||
        !lks_str_is(name, want))
        return false;
    bool failed = lks_str_starts(value, "!");
    if (failed)
        value = (struct lks_str){value.ptr + 1, value.len - 1};
    if (!lks_str_number(value, failed ? UINT32_MAX : UINT64_MAX, &number))
        return false;
    f->code = failed ? (unsigned)number : NVML_SUCCESS;
    f->value = failed ? 0 : number;
    return true;
}

static enum lks_code ask_fields(struct lks_nvml *n, struct lks_nvml_gpu *gpu,
                                struct lks_nvml_field *fields, size_t count, const char *when,
                                int64_t until, struct lks_err *err)
{
    struct asked q = {.nvml = n,
                      .call = &calls[LKS_NVML_FIELDS],
                      .gpu = gpu,
                      .fields = fields,
                      .field_count = count,
                      .until = until};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf key = LKS_BUF(KEY_MAX);
    lks_buf_addf(&key, "%s", q.call->name);
    add_gpu(&key, gpu);
    for (size_t i = 0; i < count; i++) {
        lks_buf_addc(&key, ' ');
        add_field(&key, &fields[i]);
    }
    lks_buf_addf(&key, "%s", when);
    struct lks_nvml_answer answer;
    if (lks_buf_check(&key, err) != LKS_OK || ask_key(&q, key.ptr, &answer, err) != LKS_OK)
        return err->code;
    struct lks_str rest = lks_str_from(answer.text);
    for (size_t i = 0; i < count; i++) {
        if (!read_field(&rest, &fields[i]))
            return lks_fail(err, LKS_E_INVALID, "%s: its recorded answer is damaged", q.call->name);
    }
    return LKS_OK;
}

enum lks_code lks_nvml_fields(struct lks_nvml *n, struct lks_nvml_gpu *gpu,
                              struct lks_nvml_field *fields, size_t count, struct lks_err *err)
{
    return ask_fields(n, gpu, fields, count, "", 0, err);
}

enum lks_code lks_nvml_fields_later(struct lks_nvml *n, struct lks_nvml_gpu *gpu,
                                    struct lks_nvml_field *fields, size_t count, bool still,
                                    int64_t until, struct lks_err *err)
{
    return ask_fields(n, gpu, fields, count, still ? " later still" : " later", until, err);
}

enum lks_code lks_nvml_field_fail(const struct lks_nvml_field *field, struct lks_err *err)
{
    const char *name = calls[LKS_NVML_FIELDS].name;
    if (field->code == NVML_SUCCESS)
        return LKS_OK;
    if (field->code == NVML_INVALID_ARGUMENT) /* a field this driver does not know */
        return fail_code(name, NVML_FUNCTION_NOT_FOUND, err);
    return fail_code(name, field->code, err);
}
