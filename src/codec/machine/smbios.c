#include "codec/machine/smbios.h"

#define HEADER 4

/* Little-endian numbers of a formatted area; the caller knows that it is long enough. */
static uint64_t number(struct lks_str area, size_t at, size_t bytes)
{
    uint64_t n = 0;
    for (size_t i = bytes; i > 0; i--)
        n = n << 8 | (unsigned char)area.ptr[at + i - 1];
    return n;
}

void lks_smbios_open(struct lks_smbios *s, struct lks_str table)
{
    *s = (struct lks_smbios){.rest = table};
}

/* The bytes of the strings behind the formatted area, without the empty one that ends them; -1
 * when they do not end. */
static ptrdiff_t strings_end(struct lks_str rest, size_t from)
{
    for (size_t i = from; i + 1 < rest.len; i++) {
        if (rest.ptr[i] == '\0' && rest.ptr[i + 1] == '\0')
            return (ptrdiff_t)i;
    }
    return -1;
}

enum lks_code lks_smbios_next(struct lks_smbios *s, struct lks_smbios_structure *out, bool *more,
                              struct lks_err *err)
{
    *more = false;
    if (s->rest.len == 0)
        return LKS_OK;
    if (s->count >= LKS_SMBIOS_COUNT_MAX)
        return lks_fail(err, LKS_E_LIMIT, "more than %d structures", LKS_SMBIOS_COUNT_MAX);
    if (s->rest.len < HEADER)
        return lks_fail(err, LKS_E_INVALID, "offset %zu: a header that is cut short", s->at);
    size_t length = (unsigned char)s->rest.ptr[1];
    if (length < HEADER || length > s->rest.len)
        return lks_fail(err, LKS_E_INVALID, "offset %zu: a structure of %zu bytes in %zu", s->at,
                        length, s->rest.len);
    ptrdiff_t end = strings_end(s->rest, length);
    if (end < 0)
        return lks_fail(err, LKS_E_INVALID, "offset %zu: strings that do not end", s->at);
    /* Without strings the two zero bytes follow at once; else the first belongs to the last one. */
    size_t strings = (size_t)end > length ? (size_t)end + 1 - length : 0;
    *out = (struct lks_smbios_structure){
        .type = (uint8_t)s->rest.ptr[0],
        .handle = (uint16_t)number(s->rest, 2, 2),
        .area = {s->rest.ptr, length},
        .strings = {s->rest.ptr + length, strings},
    };
    size_t used = (size_t)end + 2;
    bool last = out->type == LKS_SMBIOS_END;
    s->rest = (struct lks_str){s->rest.ptr + used, last ? 0 : s->rest.len - used};
    s->at += used;
    s->count++;
    *more = true;
    return LKS_OK;
}

struct lks_str lks_smbios_string(const struct lks_smbios_structure *s, unsigned index)
{
    struct lks_str rest = s->strings, one = {0};
    for (unsigned i = 0; i < index; i++) {
        if (rest.len == 0)
            return (struct lks_str){0};
        (void)lks_str_cut(rest, '\0', &one, &rest);
    }
    return one;
}

/* Memory ------------------------------------------------------------------------------------- */

/* Offsets and values of DSP0134: 7.17 Physical Memory Array, 7.18 Memory Device. */
enum {
    ARRAY_LENGTH_MIN = 0x0f,
    ARRAY_USE = 0x05,
    USE_VIDEO = 0x04, /* from here to USE_CACHE: not what programs run in */
    USE_CACHE = 0x07,

    DEVICE_LENGTH_MIN = 0x15,
    DEVICE_ARRAY = 0x04,
    DEVICE_SIZE = 0x0c,
    DEVICE_EXTENDED_SIZE = 0x1c,
    DEVICE_TECHNOLOGY = 0x28,
    DEVICE_VOLATILE_SIZE = 0x3c,
    SIZE_UNKNOWN = 0xffff,
    SIZE_IN_EXTENDED = 0x7fff,
    SIZE_IN_KIB = 0x8000,
    TECHNOLOGY_NVDIMM_N = 0x04, /* from here to TECHNOLOGY_OPTANE: keeps its content */
    TECHNOLOGY_OPTANE = 0x07,
};

/* The next structure of `type`; `*more` says whether there is one. */
static enum lks_code next_of(struct lks_smbios *smbios, enum lks_smbios_type type,
                             struct lks_smbios_structure *out, bool *more, struct lks_err *err)
{
    do {
        if (lks_smbios_next(smbios, out, more, err) != LKS_OK)
            return err->code;
    } while (*more && out->type != (uint8_t)type);
    return LKS_OK;
}

struct arrays {
    uint16_t other[LKS_SMBIOS_ARRAYS_MAX]; /* handles of arrays that are no system memory */
    size_t count;
};

static enum lks_code find_arrays(struct lks_str table, struct arrays *out, struct lks_err *err)
{
    struct lks_smbios smbios;
    struct lks_smbios_structure s;
    lks_smbios_open(&smbios, table);
    for (bool more = true;;) {
        if (next_of(&smbios, LKS_SMBIOS_MEMORY_ARRAY, &s, &more, err) != LKS_OK)
            return err->code;
        if (!more)
            return LKS_OK;
        if (s.area.len < ARRAY_LENGTH_MIN)
            continue;
        uint64_t use = number(s.area, ARRAY_USE, 1);
        if (use < USE_VIDEO || use > USE_CACHE)
            continue;
        if (out->count == LKS_SMBIOS_ARRAYS_MAX)
            return lks_fail(err, LKS_E_LIMIT, "more than %d memory arrays", LKS_SMBIOS_ARRAYS_MAX);
        out->other[out->count++] = s.handle;
    }
}

static bool is_system_memory(const struct arrays *arrays, const struct lks_smbios_structure *s)
{
    uint64_t handle = number(s->area, DEVICE_ARRAY, 2);
    for (size_t i = 0; i < arrays->count; i++) {
        if (arrays->other[i] == handle)
            return false;
    }
    return true;
}

static bool keeps_content(struct lks_str area)
{
    if (area.len <= DEVICE_TECHNOLOGY)
        return false;
    uint64_t technology = number(area, DEVICE_TECHNOLOGY, 1);
    return technology >= TECHNOLOGY_NVDIMM_N && technology <= TECHNOLOGY_OPTANE;
}

/* False when the module does not say; 0 bytes is an empty slot. */
static bool size_of(struct lks_str area, uint64_t *bytes)
{
    uint64_t size = number(area, DEVICE_SIZE, 2);
    if (size == SIZE_UNKNOWN)
        return false;
    if (size != 0 && keeps_content(area)) {
        if (area.len < DEVICE_VOLATILE_SIZE + 8)
            return false;
        *bytes = number(area, DEVICE_VOLATILE_SIZE, 8);
        return *bytes != UINT64_MAX;
    }
    if (size == SIZE_IN_EXTENDED) {
        if (area.len < DEVICE_EXTENDED_SIZE + 4)
            return false;
        *bytes = (number(area, DEVICE_EXTENDED_SIZE, 4) & 0x7fffffff) << 20;
        return true;
    }
    *bytes = (size & SIZE_IN_KIB) != 0 ? (size & 0x7fff) << 10 : size << 20;
    return true;
}

static enum lks_code add_device(const struct lks_smbios_structure *s, struct lks_smbios_memory *m,
                                struct lks_err *err)
{
    uint64_t bytes = 0;
    if (s->area.len < DEVICE_LENGTH_MIN || !size_of(s->area, &bytes))
        return lks_fail(err, LKS_E_INVALID, "memory device 0x%04x does not say its size",
                        s->handle);
    m->slots++;
    m->modules += bytes > 0;
    if (bytes > UINT64_MAX - m->bytes)
        return lks_fail(err, LKS_E_INVALID, "memory device 0x%04x has an impossible size",
                        s->handle);
    m->bytes += bytes;
    return LKS_OK;
}

enum lks_code lks_smbios_memory(struct lks_str table, struct lks_smbios_memory *out,
                                struct lks_err *err)
{
    struct arrays arrays = {0};
    struct lks_smbios_memory sum = {0};
    struct lks_smbios smbios;
    struct lks_smbios_structure s;
    if (find_arrays(table, &arrays, err) != LKS_OK)
        return err->code;
    lks_smbios_open(&smbios, table);
    for (bool more = true;;) {
        if (next_of(&smbios, LKS_SMBIOS_MEMORY_DEVICE, &s, &more, err) != LKS_OK)
            return err->code;
        if (!more)
            break;
        if (s.area.len >= DEVICE_LENGTH_MIN && !is_system_memory(&arrays, &s))
            continue;
        if (add_device(&s, &sum, err) != LKS_OK)
            return err->code;
    }
    if (sum.modules == 0)
        return lks_fail(err, LKS_E_NOT_FOUND, "no memory module in the table");
    *out = sum;
    return LKS_OK;
}

enum lks_code lks_smbios_has(struct lks_str table, enum lks_smbios_type type, bool *out,
                             struct lks_err *err)
{
    struct lks_smbios smbios;
    struct lks_smbios_structure s;
    bool found = false;
    lks_smbios_open(&smbios, table);
    if (next_of(&smbios, type, &s, &found, err) != LKS_OK)
        return err->code;
    *out = found;
    return LKS_OK;
}
