/* The machine below the operating system: what it is, its firmware, its memory, and how far its
 * boot can be trusted. */
#include "base/secret.h"
#include "probe/platform/mounts.h"
#include "probe/platform/smbios_file.h"
#include "probe/root/probes.h"

#include <stdio.h>

#define NONE          LKS_STR("")
#define DMI           "/sys/class/dmi/id/"
#define CPUINFO_MAX   ((size_t)16 << 20)
#define CPUS_MAX      8192
#define VALUES_MAX    16 /* different ones among the CPUs of a machine */
#define ATTRIBUTE_MAX 4096
#define EFIVAR_MAX    4096
#define GIB           ((uint64_t)1 << 30)

/* Make and model ----------------------------------------------------------------------------- */

static void read_product(struct lks_probe *p)
{
    char vendor[LKS_ROOT_LINE_MAX], product[LKS_ROOT_LINE_MAX];
    struct lks_err err = {0};
    static const char name[] = "platform.product";
    enum lks_code code = lks_root_line(p->root, DMI "sys_vendor", vendor, &err);
    if (code == LKS_OK)
        code = lks_root_line(p->root, DMI "product_name", product, &err);
    if (code != LKS_OK) {
        lks_probe_failed(p, name, NONE, DMI "sys_vendor, product_name", &err);
        return;
    }
    struct lks_str value = lks_arena_format(p->arena, "%s %s", vendor, product);
    if (value.ptr != NULL)
        lks_probe_value(p, name, NONE, NONE, value, DMI "sys_vendor, product_name");
}

/* CPUs --------------------------------------------------------------------------------------- */

/* What the CPUs say of one thing, each answer once. */
struct values {
    struct lks_str list[VALUES_MAX];
    size_t count;
    size_t cpus; /* that said something */
    bool more;   /* than fit */
};

static void add_value(struct values *v, struct lks_str s)
{
    v->cpus++;
    for (size_t i = 0; i < v->count; i++) {
        if (lks_str_eq(v->list[i], s))
            return;
    }
    if (v->count < VALUES_MAX)
        v->list[v->count++] = s;
    else
        v->more = true;
}

/* Mixed processors are told as they are: one reading each. */
static void say_values(struct lks_probe *p, const char *name, struct lks_str of,
                       const struct values *v, const char *evidence)
{
    if (v->more) {
        lks_probe_unmeasured(p, name, of, evidence, "more than %d different answers", VALUES_MAX);
        return;
    }
    for (size_t i = 0; i < v->count; i++)
        lks_probe_value(p, name, of, NONE, v->list[i], evidence);
    if (v->count == 0)
        lks_probe_absent(p, name, of, evidence);
}

struct cpuinfo {
    struct values model, microcode;
    struct lks_str implementer, part; /* Arm: of the CPU being read */
};

/* Arm has no name for a CPU here, only who made it and which part it is. */
static void end_cpu(struct lks_probe *p, struct cpuinfo *c)
{
    if (c->implementer.len > 0 && c->part.len > 0) {
        struct lks_str model = lks_arena_format(p->arena, "arm %" LKS_STR_FMT "/%" LKS_STR_FMT,
                                                LKS_STR_ARG(c->implementer), LKS_STR_ARG(c->part));
        if (model.ptr != NULL)
            add_value(&c->model, model);
    }
    c->implementer = c->part = (struct lks_str){0};
}

static void parse_cpuinfo(struct lks_probe *p, struct lks_str text, struct cpuinfo *c)
{
    for (bool more = true; more;) {
        struct lks_str line, key, value;
        more = lks_str_cut(text, '\n', &line, &text);
        if (!lks_str_cut(line, ':', &key, &value)) {
            end_cpu(p, c);
            continue;
        }
        key = lks_str_trim(key);
        value = lks_str_trim(value);
        if (value.len == 0 || value.len > LKS_READING_NAME_MAX || !lks_str_printable(value))
            continue;
        if (lks_str_is(key, "model name"))
            add_value(&c->model, value);
        else if (lks_str_is(key, "microcode"))
            add_value(&c->microcode, value);
        else if (lks_str_is(key, "CPU implementer"))
            c->implementer = value;
        else if (lks_str_is(key, "CPU part"))
            c->part = value;
    }
    end_cpu(p, c);
}

/* The microcode as sysfs has it, which is there for CPUs that are offline too. False when it does
 * not say for all of them; some kernels let only root read it. */
static bool sysfs_microcode(struct lks_probe *p, struct values *out)
{
    static const char dir[] = "/sys/devices/system/cpu";
    struct lks_names names = {0};
    struct lks_err err = {0};
    if (lks_root_list(p->root, dir, p->arena, &names, &err) != LKS_OK)
        return false;
    for (size_t i = 0, cpus = 0; i < names.count && cpus < CPUS_MAX; i++) {
        char line[LKS_ROOT_LINE_MAX];
        uint64_t number;
        struct lks_str name = names.list[i];
        if (!lks_str_starts(name, "cpu") ||
            !lks_str_number((struct lks_str){name.ptr + 3, name.len - 3}, CPUS_MAX, &number))
            continue;
        cpus++;
        struct lks_str path = lks_arena_format(p->arena, "%s/%" LKS_STR_FMT "/microcode/version",
                                               dir, LKS_STR_ARG(name));
        if (path.ptr == NULL || lks_root_line(p->root, path.ptr, line, &err) != LKS_OK)
            return false;
        struct lks_str value = lks_arena_copy(p->arena, lks_str_from(line));
        if (value.ptr != NULL)
            add_value(out, value);
    }
    return out->count > 0;
}

static void read_cpus(struct lks_probe *p)
{
    static const char path[] = "/proc/cpuinfo";
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(CPUINFO_MAX);
    struct cpuinfo info = {0};
    struct values microcode = {0};
    struct lks_err err = {0};
    enum lks_code code = lks_root_read(p->root, path, CPUINFO_MAX, &text, &err);
    if (code == LKS_OK) {
        parse_cpuinfo(p, lks_buf_view(&text), &info);
        say_values(p, "platform.cpu", NONE, &info.model, path);
    } else {
        lks_probe_failed(p, "platform.cpu", NONE, path, &err);
    }
    if (sysfs_microcode(p, &microcode))
        say_values(p, "firmware/microcode", LKS_STR("cpu"), &microcode,
                   "/sys/devices/system/cpu/cpu*/microcode/version");
    else if (code == LKS_OK)
        say_values(p, "firmware/microcode", LKS_STR("cpu"), &info.microcode, path);
    else
        lks_probe_failed(p, "firmware/microcode", LKS_STR("cpu"), path, &err);
}

/* Memory ------------------------------------------------------------------------------------- */

/* How many of the kernel's memory blocks are online. */
static enum lks_code count_blocks(struct lks_probe *p, const char *dir, uint64_t *out,
                                  struct lks_err *err)
{
    struct lks_names names = {0};
    uint64_t online = 0, number;
    if (lks_root_list(p->root, dir, p->arena, &names, err) != LKS_OK)
        return err->code;
    for (size_t i = 0; i < names.count; i++) {
        char path[LKS_READING_NAME_MAX], state[LKS_ROOT_LINE_MAX];
        struct lks_str name = names.list[i];
        size_t skip = strlen("memory");
        if (!lks_str_starts(name, "memory") || name.len > 32 ||
            !lks_str_number((struct lks_str){name.ptr + skip, name.len - skip}, UINT32_MAX,
                            &number))
            continue;
        snprintf(path, sizeof(path), "%s/%" LKS_STR_FMT "/state", dir, LKS_STR_ARG(name));
        if (lks_root_line(p->root, path, state, err) != LKS_OK)
            return err->code;
        online += strcmp(state, "online") == 0;
    }
    *out = online;
    return LKS_OK;
}

static void say_memory(struct lks_probe *p, uint64_t bytes, const char *evidence)
{
    char value[32];
    /* Modules come in whole GiB; what is less is lost to rounding by the firmware. */
    snprintf(value, sizeof(value), "%llu", (unsigned long long)((bytes + GIB / 2) / GIB));
    lks_probe_value(p, "devices.memory_gib", NONE, NONE, lks_str_from(value), evidence);
}

/* The memory the kernel has, in its blocks. What MemTotal says is less by what the kernel took for
 * itself at its start, differently on each boot, and no measure for a machine. */
static void read_blocks(struct lks_probe *p, const struct lks_err *smbios)
{
    static const char dir[] = "/sys/devices/system/memory", name[] = "devices.memory_gib";
    char line[LKS_ROOT_LINE_MAX], evidence[LKS_ERR_MSG_MAX * 2];
    struct lks_err err = {0};
    uint64_t size = 0, blocks = 0;
    if (lks_root_line(p->root, "/sys/devices/system/memory/block_size_bytes", line, &err) !=
            LKS_OK ||
        count_blocks(p, dir, &blocks, &err) != LKS_OK) {
        lks_probe_unmeasured(p, name, NONE, LKS_SMBIOS_FILE, "%s; %s", smbios->msg, err.msg);
        return;
    }
    if (!lks_str_hex(lks_str_from(line), UINT64_MAX, &size) || size == 0 || blocks == 0 ||
        blocks > UINT64_MAX / 2 / size) {
        lks_probe_unmeasured(p, name, NONE, dir, "%s: %llu blocks of 0x%.32s bytes cannot be", dir,
                             (unsigned long long)blocks, line);
        return;
    }
    snprintf(evidence, sizeof(evidence), "%s: %llu blocks of %llu MiB online (%s)", dir,
             (unsigned long long)blocks, (unsigned long long)(size >> 20), smbios->msg);
    say_memory(p, size * blocks, evidence);
}

static void read_memory(struct lks_probe *p)
{
    struct lks_smbios_memory m = {0};
    struct lks_err err = {0};
    char evidence[128];
    if (lks_smbios_file_memory(p->root, &m, &err) != LKS_OK) {
        read_blocks(p, &err);
        return;
    }
    snprintf(evidence, sizeof(evidence), "%s: %u modules in %u slots", LKS_SMBIOS_FILE, m.modules,
             m.slots);
    say_memory(p, m.bytes, evidence);
}

/* BIOS attributes ---------------------------------------------------------------------------- */

static void read_attribute(struct lks_probe *p, const char *dir, struct lks_str attribute)
{
    char value[LKS_ROOT_LINE_MAX];
    struct lks_err err = {0};
    struct lks_str name =
        lks_arena_format(p->arena, "settings.bios.%" LKS_STR_FMT, LKS_STR_ARG(attribute));
    struct lks_str path = lks_arena_format(p->arena, "%s/%" LKS_STR_FMT "/current_value", dir,
                                           LKS_STR_ARG(attribute));
    if (name.ptr == NULL || path.ptr == NULL)
        return;
    if (lks_secret_key(attribute)) {
        lks_probe_unmeasured(p, name.ptr, NONE, path.ptr, "resembles a secret, not read");
        return;
    }
    enum lks_code code = lks_root_line(p->root, path.ptr, value, &err);
    if (code == LKS_OK)
        lks_probe_value(p, name.ptr, NONE, NONE, lks_str_from(value), path.ptr);
    else if (code != LKS_E_NOT_FOUND)
        lks_probe_unmeasured(p, name.ptr, NONE, path.ptr, "%s", err.msg);
}

/* The vendors' drivers put what the firmware offers under one class. Servers mostly have none. */
static void read_attributes(struct lks_probe *p)
{
    static const char class[] = "/sys/class/firmware-attributes";
    struct lks_names drivers = {0};
    struct lks_err err = {0};
    if (lks_root_list(p->root, class, p->arena, &drivers, &err) != LKS_OK)
        return;
    size_t found = 0;
    for (size_t i = 0; i < drivers.count; i++) {
        struct lks_names attributes = {0};
        struct lks_str dir = lks_arena_format(p->arena, "%s/%" LKS_STR_FMT "/attributes", class,
                                              LKS_STR_ARG(drivers.list[i]));
        if (dir.ptr == NULL ||
            lks_root_list(p->root, dir.ptr, p->arena, &attributes, &err) != LKS_OK)
            continue;
        for (size_t k = 0; k < attributes.count && found < ATTRIBUTE_MAX; k++, found++)
            read_attribute(p, dir.ptr, attributes.list[k]);
    }
}

/* Boot --------------------------------------------------------------------------------------- */

#define EFIVARS    "/sys/firmware/efi/efivars"
#define SECUREBOOT EFIVARS "/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
#define SHIM_STATE EFIVARS "/MokSBStateRT-605dab50-e046-4300-abb6-3dd810dd8b23"

/* The one byte of an EFI variable, behind the 4 of its attributes. */
static enum lks_code read_efi_byte(struct lks_probe *p, const char *path, unsigned *out,
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(EFIVAR_MAX);
    if (lks_root_read(p->root, path, EFIVAR_MAX, &bytes, err) != LKS_OK)
        return err->code;
    if (bytes.len != 5)
        return lks_fail(err, LKS_E_INVALID, "%s: %zu bytes, not 5", path, bytes.len);
    *out = (unsigned char)bytes.ptr[4];
    return LKS_OK;
}

/* As the kernel judges it: a firmware without the variable has no secure boot, and a shim that was
 * told not to verify undoes it. */
static void read_secure_boot(struct lks_probe *p, const struct lks_mounts *mounts)
{
    static const char name[] = "platform.secure_boot";
    struct lks_err err = {0};
    unsigned on = 0, shim = 0;
    if (!lks_root_exists(p->root, "/sys/firmware/efi")) {
        lks_probe_absent(p, name, NONE, "/sys/firmware/efi");
        return;
    }
    enum lks_code code = read_efi_byte(p, SECUREBOOT, &on, &err);
    if (code == LKS_E_NOT_FOUND && !lks_mounts_at(mounts, EFIVARS))
        lks_probe_unmeasured(p, name, NONE, EFIVARS, "efivarfs is not mounted");
    else if (code == LKS_E_NOT_FOUND)
        lks_probe_value(p, name, NONE, NONE, LKS_STR("disabled"), EFIVARS ": no SecureBoot");
    else if (code != LKS_OK)
        lks_probe_unmeasured(p, name, NONE, SECUREBOOT, "%s", err.msg);
    else if (on > 1)
        lks_probe_unmeasured(p, name, NONE, SECUREBOOT, SECUREBOOT ": %u is neither 0 nor 1", on);
    else if (on == 1 && read_efi_byte(p, SHIM_STATE, &shim, &err) == LKS_OK && shim == 1)
        lks_probe_value(p, name, NONE, NONE, LKS_STR("disabled"),
                        SHIM_STATE ": shim does not verify");
    else
        lks_probe_value(p, name, NONE, NONE, on == 1 ? LKS_STR("enabled") : LKS_STR("disabled"),
                        SECUREBOOT);
}

static void read_tpm(struct lks_probe *p, const struct lks_mounts *mounts)
{
    static const char log[] = "/sys/kernel/security/tpm0/binary_bios_measurements";
    static const char dir[] = "/sys/class/tpm/tpm0";
    struct lks_err err = {0};
    struct stat st;
    if (!lks_root_exists(p->root, dir)) {
        lks_probe_absent(p, "platform.tpm", NONE, dir);
        lks_probe_absent(p, "platform.event_log", NONE, dir);
        return;
    }
    char version[LKS_ROOT_LINE_MAX];
    enum lks_code code =
        lks_root_line(p->root, "/sys/class/tpm/tpm0/tpm_version_major", version, &err);
    if (code == LKS_OK)
        lks_probe_value(p, "platform.tpm", NONE, NONE, lks_str_from(version),
                        "/sys/class/tpm/tpm0/tpm_version_major");
    else
        lks_probe_unmeasured(p, "platform.tpm", NONE, dir,
                             "a TPM is there, but this kernel does not say its version");
    code = lks_root_stat(p->root, log, &st, &err);
    if (code == LKS_OK)
        lks_probe_value(p, "platform.event_log", NONE, NONE, LKS_STR("present"), log);
    else if (code != LKS_E_NOT_FOUND)
        lks_probe_unmeasured(p, "platform.event_log", NONE, log, "%s", err.msg);
    else if (!lks_mounts_at(mounts, "/sys/kernel/security"))
        lks_probe_unmeasured(p, "platform.event_log", NONE, log, "securityfs is not mounted");
    else
        lks_probe_value(p, "platform.event_log", NONE, NONE, LKS_STR("missing"), log);
}

void lks_probe_platform(struct lks_probe *p)
{
    struct lks_mounts mounts = {0};
    read_product(p);
    lks_probe_line(p, "platform.serial", NONE, DMI "product_serial");
    lks_probe_line(p, "platform.uuid", NONE, DMI "product_uuid");
    lks_probe_line(p, "firmware/bios", LKS_STR("bios"), DMI "bios_version");
    read_cpus(p);
    read_memory(p);
    read_attributes(p);
    lks_mounts_read(p, &mounts);
    read_secure_boot(p, &mounts);
    lks_mounts_encryption(p, &mounts);
    read_tpm(p, &mounts);
}
