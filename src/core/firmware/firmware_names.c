#include "core/firmware/firmware_names.h"

#include "codec/notation/glob.h"

#include <ctype.h>

enum { PATTERN_MAX = 128 };

/* Ids of iDRAC are "FRONT-COMPONENT-VERSION__DEVICE". The front tells the bank: "Current" is the
 * image of what runs, kept to install it again, and does not run itself. */
static const struct lks_str_pair dell_fronts[] = {
    {"Installed-", "active"},
    {"Current-", "golden"},
    {"Previous-", "backup"},
    {"Available-", "staged"},
};

/* The device that an id of iDRAC names, and its bank; an empty view: it is no such id. */
static struct lks_str device_of(const struct lks_firmware_hint *hint, struct lks_str *bank)
{
    struct lks_str id = hint->id;
    ptrdiff_t at = lks_str_is(hint->vendor, "dell") ? lks_str_find(id, LKS_STR("__")) : -1;
    for (size_t i = 0; i < LKS_COUNT(dell_fronts) && at >= 0; i++) {
        if (!lks_str_starts(id, dell_fronts[i].name) || (size_t)at + 2 == id.len)
            continue;
        *bank = lks_str_from(dell_fronts[i].value);
        return (struct lks_str){id.ptr + at + 2, id.len - (size_t)at - 2};
    }
    return LKS_STR("");
}

/* What an entry says in the field of a row: one text, or each of its related items. */
static const struct field {
    const char *name;
    size_t at, count;
} fields[] = {
    {"id", offsetof(struct lks_firmware_hint, id), 1},
    {"name", offsetof(struct lks_firmware_hint, name), 1},
    {"software_id", offsetof(struct lks_firmware_hint, software_id), 1},
    {"related", offsetof(struct lks_firmware_hint, related), LKS_FIRMWARE_RELATED_MAX},
    {"description", offsetof(struct lks_firmware_hint, description), 1},
    {"manufacturer", offsetof(struct lks_firmware_hint, manufacturer), 1},
};

/* The part of `text` that the pattern has behind its '|'; all of it where it has none. */
static bool fits(struct lks_str pattern, struct lks_str text, struct lks_str *key)
{
    struct lks_str front, back;
    *key = text;
    if (!lks_str_cut(pattern, '|', &front, &back))
        return lks_glob_match(pattern, text);
    for (size_t i = 0; i <= text.len; i++) {
        struct lks_str before = {text.ptr, i}, after = {text.ptr + i, text.len - i};
        if (lks_glob_match(front, before) && lks_glob_match(back, after)) {
            *key = after;
            return true;
        }
    }
    return false;
}

/* The last number in `text`, or -1. */
static int last_number(struct lks_str text)
{
    size_t end = text.len;
    while (end > 0 && !isdigit((unsigned char)text.ptr[end - 1]))
        end--;
    size_t begin = end;
    while (begin > 0 && isdigit((unsigned char)text.ptr[begin - 1]))
        begin--;
    uint64_t number = 0;
    if (begin == end ||
        !lks_str_number((struct lks_str){text.ptr + begin, end - begin}, INT32_MAX, &number))
        return -1;
    return (int)number;
}

static bool text_fits(const struct lks_firmware_alias *row, struct lks_str text,
                      const struct lks_firmware_hint *hint, struct lks_firmware_name *out)
{
    struct lks_str key;
    if (text.len == 0 || row->pattern.len > PATTERN_MAX || !fits(row->pattern, text, &key))
        return false;
    bool numbered = lks_str_find(row->pattern, LKS_STR("#")) >= 0;
    *out = (struct lks_firmware_name){
        .class = row->component,
        .of = row->of,
        .index = numbered && row->of.len > 0 ? last_number(text) : -1,
        .bank = row->bank,
        .key = lks_str_is(row->field, "id") ? key : hint->id,
    };
    return true;
}

/* An id such as "Previous-0-1.2__BOSS.SL.14-1" says what it is a copy of, whatever else names the
 * class. */
static bool keep_front(const struct lks_firmware_hint *hint, bool by_id,
                       struct lks_firmware_name *out)
{
    struct lks_str bank, device = by_id ? LKS_STR("") : device_of(hint, &bank);
    if (device.len > 0) {
        out->key = device;
        out->bank = bank;
    }
    return true;
}

static bool row_fits(const struct lks_firmware_alias *row, const struct lks_firmware_hint *hint,
                     struct lks_firmware_name *out)
{
    struct lks_str bank, device;
    if (!lks_str_is(row->vendor, "any") && !lks_str_eq(row->vendor, hint->vendor))
        return false;
    if (lks_str_is(row->field, "device")) {
        device = device_of(hint, &bank);
        if (!text_fits(row, device, hint, out))
            return false;
        out->key = device;
        out->bank = bank;
        return true;
    }
    for (size_t i = 0; i < LKS_COUNT(fields); i++) {
        const struct lks_str *texts =
            (const struct lks_str *)(const void *)((const char *)hint + fields[i].at);
        for (size_t k = 0; k < fields[i].count && lks_str_is(row->field, fields[i].name); k++) {
            if (text_fits(row, texts[k], hint, out))
                return keep_front(hint, lks_str_is(row->field, "id"), out);
        }
    }
    return false;
}

struct lks_firmware_name lks_firmware_name(const struct lks_facts *facts,
                                           const struct lks_firmware_hint *hint)
{
    struct lks_firmware_name name = {.class = LKS_STR(""),
                                     .of = LKS_STR(""),
                                     .index = -1,
                                     .bank = LKS_STR("active"),
                                     .key = hint->id};
    for (size_t i = 0; i < facts->firmware_names.count; i++) {
        if (row_fits(&facts->firmware_names.rows[i], hint, &name))
            return name;
    }
    struct lks_str device = device_of(hint, &name.bank);
    if (device.len > 0)
        name.key = device;
    return name;
}

/* Words that a service uses of itself, and whose names its entries then have. */
static const struct lks_str_pair vendors[] = {
    {"Supermicro", "supermicro"},
    {"Super Micro", "supermicro"},
    {"SMCI", "supermicro"},
    {"Dell", "dell"},
    {"iDRAC", "dell"},
    {"HPE", "hpe"},
    {"Hpe", "hpe"},
    {"iLO", "hpe"},
    {"Lenovo", "lenovo"},
    {"NVIDIA", "nvidia"},
    {"Nvidia", "nvidia"},
    {"AMI", "ami"},
    {"OpenBMC", "openbmc"},
};

struct lks_str lks_firmware_vendor(struct lks_str vendor, struct lks_str product,
                                   struct lks_str oem)
{
    const struct lks_str said[] = {vendor, product, oem};
    for (size_t s = 0; s < LKS_COUNT(said); s++) {
        for (size_t i = 0; i < LKS_COUNT(vendors); i++) {
            if (lks_str_find(said[s], lks_str_from(vendors[i].name)) >= 0)
                return lks_str_from(vendors[i].value);
        }
    }
    return LKS_STR("");
}
