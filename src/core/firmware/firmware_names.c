#include "core/firmware/firmware_names.h"

#include "codec/notation/glob.h"

#include <ctype.h>

enum { PATTERN_MAX = 128 };

static struct lks_str field_of(const struct lks_firmware_hint *hint, struct lks_str field)
{
    if (lks_str_is(field, "name"))
        return hint->name;
    if (lks_str_is(field, "software_id"))
        return hint->software_id;
    return lks_str_is(field, "related") ? hint->related : hint->id;
}

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

static bool row_fits(const struct lks_firmware_alias *row, const struct lks_firmware_hint *hint,
                     struct lks_firmware_name *out)
{
    struct lks_str text = field_of(hint, row->field), key;
    if (!lks_str_is(row->vendor, "any") && !lks_str_eq(row->vendor, hint->vendor))
        return false;
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
            break;
    }
    return name;
}

/* Words that a service uses of itself, and whose names its entries then have. */
static const struct lks_str_pair vendors[] = {
    {"Supermicro", "supermicro"},
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
