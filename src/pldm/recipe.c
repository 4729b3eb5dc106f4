#include "pldm/recipe.h"

#include "base/near.h"
#include "base/time.h"
#include "codec/format/hex.h"
#include "model/schema/tables.h"
#include "pldm/bytes.h"
#include "pldm/package_parts.h"

#define MEMORY_MAX ((size_t)32 << 20)

enum {
    TEXT_MAX = 255,           /* a version */
    HEX_MAX = 2 * 4096,       /* digits of a descriptor */
    FILES_OF_A_RECORD = 2,    /* package data and manifest */
    FILES_OF_A_COMPONENT = 2, /* image and opaque data */
};

/* ---- The keys. ---- */

#define VERSION_TEXT                                                                               \
    {                                                                                              \
        .type = LKS_TYPE_TEXT, .max = TEXT_MAX                                                     \
    }

static const struct lks_field descriptor_fields[] = {
    {"type", LKS_OF(TEXT), LKS_REQUIRED, NULL,
     "such as pci-vendor, or a number such as \"0x0200\""},
    {"value", LKS_OF(SCALAR), 0, NULL, "as people write it"},
    {"hex", LKS_HEX(2, HEX_MAX), 0, NULL, "the bytes as they are stored, instead of a value"},
    {"title", VERSION_TEXT, 0, NULL, "of a vendor's own"},
};
static const struct lks_form descriptor_form = {
    .name = "descriptor", .about = "what identifies a device", LKS_FIELDS(descriptor_fields)};

#define RECORD_FIELDS                                                                              \
    {"descriptors", LKS_LIST_FROM_TO(1, 255, LKS_FORM(descriptor_form)), LKS_REQUIRED, NULL,       \
     "what such a device says of itself; the first names a vendor"},                               \
        {"components", LKS_LIST_FROM_TO(1, LKS_PLDM_RECIPE_COMPONENTS_MAX, LKS_OF(NAME)), 0, NULL, \
         "those that are for it; without it, all"},                                                \
        {"package_data", LKS_OF(TEXT), 0, NULL, "file with the package data for the device"},      \
    {                                                                                              \
        "manifest", LKS_OF(TEXT), 0, NULL, "file with its reference manifest; revision 4"          \
    }

static const struct lks_field device_fields[] = {
    {"version", VERSION_TEXT, LKS_REQUIRED, NULL, "of the set of images"},
    {"continue_after_failure", LKS_OF(BOOL), 0, "false",
     "update the other components all the same"},
    {"streams", LKS_OF(BOOL), 0, "false", "it has no flash and boots from what is streamed"},
    RECORD_FIELDS,
};
static const struct lks_form device_form = {
    .name = "device", .about = "devices the package is for", LKS_FIELDS(device_fields)};

static const struct lks_field downstream_fields[] = {
    {"min_version", VERSION_TEXT, 0, NULL, "the least version that can activate by itself"},
    {"min_stamp", LKS_NUMBERS(0, UINT32_MAX), 0, NULL, "and its stamp"},
    RECORD_FIELDS,
};
static const struct lks_form downstream_form = {
    .name = "downstream", .about = "devices behind a device", LKS_FIELDS(downstream_fields)};

static const struct lks_field component_fields[] = {
    {"name", LKS_OF(NAME), LKS_REQUIRED, NULL, "how devices here call it; not stored"},
    {"file", LKS_OF(TEXT), LKS_REQUIRED, NULL, "its image"},
    {"version", VERSION_TEXT, LKS_REQUIRED, NULL, "its version, in quotes"},
    {"id", LKS_NUMBERS(0, UINT16_MAX), LKS_REQUIRED, NULL, "the number its vendor gave it"},
    {"classification", LKS_OF(SCALAR), 0, "firmware", "a name, or a vendor's number from 32768 on"},
    {"stamp", LKS_NUMBERS(0, UINT32_MAX), 0, NULL, "a number by which devices compare versions"},
    {"force", LKS_OF(BOOL), 0, "false", "ask for the update even if the device has it"},
    {"activation", LKS_LIST(LKS_OF(TEXT)), 0, NULL, "how it becomes active"},
    {"opaque", LKS_OF(TEXT), 0, NULL, "file with opaque data for it; revision 3 and later"},
};
static const struct lks_form component_form = {
    .name = "component", .about = "an image in the package", LKS_FIELDS(component_fields)};

static const struct lks_field recipe_fields[] = {
    {"revision", LKS_NUMBERS(1, LKS_PLDM_REVISION_MAX), LKS_REQUIRED, NULL, "of the header"},
    {"version", VERSION_TEXT, LKS_REQUIRED, NULL, "of the package, in quotes"},
    {"released", LKS_OF(TEXT), LKS_REQUIRED, NULL, "a day or a time, in quotes"},
    {"devices", LKS_LIST_FROM_TO(1, 255, LKS_FORM(device_form)), LKS_REQUIRED, NULL,
     "what it is for"},
    {"downstream", LKS_LIST_FROM_TO(1, 255, LKS_FORM(downstream_form)), 0, NULL,
     "what is behind those; revision 2 and later"},
    {"components", LKS_LIST_FROM_TO(1, LKS_PLDM_RECIPE_COMPONENTS_MAX, LKS_FORM(component_form)),
     LKS_REQUIRED, NULL, "what is in it"},
};
static const struct lks_form recipe_form = {
    .name = "package", .about = "A PLDM firmware update package", LKS_FIELDS(recipe_fields)};

/* ---- Reading. ---- */

struct reading {
    const struct lks_docs *docs;
    struct lks_pldm_recipe *r;
    struct lks_err *err;
};

void lks_pldm_recipe_fini(struct lks_pldm_recipe *r)
{
    lks_pldm_package_fini(&r->package);
    *r = (struct lks_pldm_recipe){0};
}

static enum lks_code no_room(struct reading *c)
{
    return lks_arena_fail(&c->r->package.arena, c->err);
}

static void *make_array(struct reading *c, size_t count, size_t size)
{
    return lks_arena_array(&c->r->package.arena, count > 0 ? count : 1, size);
}

static struct lks_pldm_string string_of(struct lks_str text)
{
    uint8_t type = LKS_PLDM_STRING_ASCII;
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] >= 0x80)
            type = LKS_PLDM_STRING_UTF8;
    return (struct lks_pldm_string){type, text};
}

/* A file that is named under `key`, if it is. */
static void want(struct reading *c, const struct lks_doc *map, const char *key,
                 struct lks_str *into, size_t component)
{
    const struct lks_doc *at = lks_doc_member(map, key);
    if (at != NULL)
        c->r->wanted[c->r->wanted_count++] = (struct lks_pldm_wanted){
            .path = at->text, .at = at, .into = into, .component = component};
}

/* "2026-11-15", or a moment; UTC. */
static enum lks_code read_released(struct reading *c, const struct lks_doc *at)
{
    char text[LKS_TIME_TEXT_SIZE];
    lks_ms ms = 0;
    lks_day day = 0;
    bool good = lks_time_parse(at->text, &ms);
    if (!good && lks_time_day_parse(at->text, &day) && day >= 0) {
        ms = (lks_ms)day * 24 * 3600 * LKS_SECOND;
        good = true;
    }
    if (!good)
        return lks_doc_fail(c->docs, at, c->err,
                            "is neither a day (\"2026-11-15\") nor a time "
                            "(\"2026-11-15T08:00:00Z\")");
    static const struct {
        size_t at, len;
    } parts[] = {{0, 4}, {5, 2}, {8, 2}, {11, 2}, {14, 2}, {17, 2}, {20, 3}};
    uint64_t values[LKS_COUNT(parts)] = {0};
    (void)lks_time_text(ms, text);
    for (size_t i = 0; i < LKS_COUNT(parts); i++)
        (void)lks_str_number((struct lks_str){text + parts[i].at, parts[i].len}, 9999, &values[i]);
    c->r->package.released = (struct lks_pldm_time){
        .year = (uint16_t)values[0],
        .month = (uint8_t)values[1],
        .day = (uint8_t)values[2],
        .hour = (uint8_t)values[3],
        .minute = (uint8_t)values[4],
        .second = (uint8_t)values[5],
        .microsecond = (uint32_t)values[6] * 1000,
    };
    return LKS_OK;
}

/* ---- Descriptors. ---- */

static enum lks_code read_type(struct reading *c, const struct lks_doc *at, uint16_t *out)
{
    uint64_t number;
    char hint[LKS_NEAR_HINT_SIZE];
    struct lks_str text = at->text;
    if (lks_pldm_package_descriptor_find(text, out))
        return LKS_OK;
    if (lks_str_starts(text, "0x") &&
        lks_str_hex((struct lks_str){text.ptr + 2, text.len - 2}, UINT16_MAX, &number)) {
        *out = (uint16_t)number;
        return LKS_OK;
    }
    struct lks_near near = lks_near_to(text);
    for (uint32_t i = 0; i <= UINT16_MAX; i++) {
        const char *name = lks_pldm_package_descriptor_name((uint16_t)i);
        if (name != NULL)
            lks_near_try(&near, lks_str_from(name));
    }
    return lks_doc_fail(c->docs, at, c->err, "no descriptor type '%.*s'%s", (int)text.len, text.ptr,
                        lks_near_hint(&near, hint));
}

/* A number into `len` bytes, least significant first. */
static struct lks_str number_bytes(struct reading *c, uint64_t value, size_t len)
{
    char *bytes = lks_arena_alloc(&c->r->package.arena, len);
    for (size_t i = 0; bytes != NULL && i < len; i++)
        bytes[i] = (char)(value >> (8 * i) & 0xff);
    return (struct lks_str){bytes, len};
}

static struct lks_str hex_bytes(struct reading *c, struct lks_str digits)
{
    size_t len = digits.len / 2;
    uint8_t *bytes = lks_arena_alloc(&c->r->package.arena, len + 1);
    if (bytes != NULL)
        LKS_ASSERT(lks_hex_read(digits, bytes, len)); /* the form says so */
    return (struct lks_str){(const char *)bytes, len};
}

static enum lks_code read_uuid(struct reading *c, const struct lks_doc *at, struct lks_str *out)
{
    enum { TEXT = 36, DIGITS = 32 };
    char digits[DIGITS];
    uint8_t bytes[DIGITS / 2];
    size_t n = 0;
    bool good = at->kind == LKS_DOC_TEXT && at->text.len == TEXT;
    for (size_t i = 0; good && i < TEXT; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        good = (at->text.ptr[i] == '-') == dash && (dash || n < DIGITS);
        if (good && !dash)
            digits[n++] = at->text.ptr[i];
    }
    if (!good || !lks_hex_read((struct lks_str){digits, n}, bytes, sizeof(bytes)))
        return lks_doc_fail(c->docs, at, c->err,
                            "is no UUID: 32 lower-case hexadecimal digits as 8-4-4-4-12");
    *out =
        lks_arena_copy(&c->r->package.arena, (struct lks_str){(const char *)bytes, sizeof(bytes)});
    return out->ptr != NULL ? LKS_OK : no_room(c);
}

static enum lks_code read_vendor(struct reading *c, const struct lks_doc *map, struct lks_str data,
                                 struct lks_str *out)
{
    const struct lks_doc *title = lks_doc_member(map, "title");
    if (title == NULL)
        return lks_doc_fail(c->docs, map, c->err, "a vendor's descriptor needs a title");
    size_t len = 2 + title->text.len + data.len;
    char *bytes = lks_arena_alloc(&c->r->package.arena, len);
    if (bytes == NULL)
        return no_room(c);
    bytes[0] = (char)string_of(title->text).type;
    bytes[1] = (char)title->text.len;
    memcpy(bytes + 2, title->text.ptr, title->text.len);
    memcpy(bytes + 2 + title->text.len, data.ptr, data.len);
    *out = (struct lks_str){bytes, len};
    return LKS_OK;
}

static enum lks_code read_hex_number(struct reading *c, const struct lks_doc *at, size_t len,
                                     struct lks_str *out)
{
    uint64_t number;
    if (at->kind != LKS_DOC_TEXT || !lks_str_hex(at->text, (UINT64_C(1) << (8 * len)) - 1, &number))
        return lks_doc_fail(c->docs, at, c->err, "expected up to %zu hexadecimal digits in quotes",
                            2 * len);
    *out = number_bytes(c, number, len);
    return out->ptr != NULL ? LKS_OK : no_room(c);
}

static enum lks_code read_number(struct reading *c, const struct lks_doc *at, size_t len,
                                 struct lks_str *out)
{
    if (at->kind != LKS_DOC_NUMBER || at->number < 0 || at->number > UINT32_MAX)
        return lks_doc_fail(c->docs, at, c->err, "expected a number of at most 32 bits");
    *out = number_bytes(c, (uint64_t)at->number, len);
    return out->ptr != NULL ? LKS_OK : no_room(c);
}

static enum lks_code read_value(struct reading *c, const struct lks_doc *map, uint16_t type,
                                struct lks_str *out)
{
    const struct lks_doc *at = lks_doc_member(map, "value");
    const char *name = lks_pldm_package_descriptor_name(type);
    size_t len = lks_pldm_package_descriptor_len(type);
    switch (lks_pldm_package_manner(type)) {
    case LKS_PLDM_AS_HEX_NUMBER:
        return read_hex_number(c, at, len, out);
    case LKS_PLDM_AS_NUMBER:
        return read_number(c, at, len, out);
    case LKS_PLDM_AS_UUID:
        return read_uuid(c, at, out);
    case LKS_PLDM_AS_TEXT:
    case LKS_PLDM_AS_VENDOR:
        if (at->kind != LKS_DOC_TEXT || at->text.len == 0)
            return lks_doc_fail(c->docs, at, c->err, "expected text; put it in quotes");
        if (type != LKS_PLDM_VENDOR_DEFINED && at->text.len != len)
            return lks_doc_fail(c->docs, at, c->err,
                                "%s has exactly %zu characters and this has %zu; pad it as the "
                                "device does",
                                name, len, at->text.len);
        *out = at->text;
        return LKS_OK;
    case LKS_PLDM_AS_BYTES:
    default:
        return lks_doc_fail(c->docs, at, c->err, "give the bytes of this type as hex: \"...\"");
    }
}

static enum lks_code read_descriptor(struct reading *c, const struct lks_doc *map,
                                     struct lks_pldm_descriptor *out)
{
    const struct lks_doc *hex = lks_doc_member(map, "hex");
    const struct lks_doc *value = lks_doc_member(map, "value");
    if (read_type(c, lks_doc_member(map, "type"), &out->type) != LKS_OK)
        return c->err->code;
    size_t len = lks_pldm_package_descriptor_len(out->type);
    bool vendor = out->type == LKS_PLDM_VENDOR_DEFINED;
    if ((hex == NULL) == (value == NULL))
        return lks_doc_fail(c->docs, map, c->err, "give either value or hex");
    if (!vendor && lks_doc_member(map, "title") != NULL)
        return lks_doc_fail(c->docs, lks_doc_member(map, "title"), c->err,
                            "only a vendor's own descriptor has a title");
    if (hex != NULL && len != 0 && hex->text.len != 2 * len)
        return lks_doc_fail(c->docs, hex, c->err, "%s has %zu bytes and this has %zu",
                            lks_pldm_package_descriptor_name(out->type), len, hex->text.len / 2);
    if (hex != NULL)
        out->value = hex_bytes(c, hex->text);
    else if (read_value(c, map, out->type, &out->value) != LKS_OK)
        return c->err->code;
    if (out->value.ptr == NULL)
        return no_room(c);
    return vendor ? read_vendor(c, map, out->value, &out->value) : LKS_OK;
}

/* ---- Records. ---- */

static bool find_component(const struct lks_doc *components, struct lks_str name, size_t *out)
{
    size_t i = 0;
    for (const struct lks_doc *item = components->first; item != NULL; item = item->next, i++)
        if (lks_str_eq(lks_doc_text(item, "name"), name)) {
            *out = i;
            return true;
        }
    return false;
}

static enum lks_code unknown_component(struct reading *c, const struct lks_doc *components,
                                       const struct lks_doc *at)
{
    char hint[LKS_NEAR_HINT_SIZE];
    struct lks_near near = lks_near_to(at->text);
    for (const struct lks_doc *item = components->first; item != NULL; item = item->next)
        lks_near_try(&near, lks_doc_text(item, "name"));
    return lks_doc_fail(c->docs, at, c->err, "no component '%.*s'%s", LKS_STR_ARG(at->text),
                        lks_near_hint(&near, hint));
}

/* Those it names, or all, as indices in order. */
static enum lks_code read_applicable(struct reading *c, const struct lks_doc *map,
                                     const struct lks_doc *components, struct lks_pldm_record *out)
{
    const struct lks_doc *named = lks_doc_member(map, "components");
    bool *chosen = make_array(c, components->count, sizeof(*chosen));
    out->components = make_array(c, components->count, sizeof(*out->components));
    if (chosen == NULL || out->components == NULL)
        return no_room(c);
    for (const struct lks_doc *at = named != NULL ? named->first : NULL; at != NULL;
         at = at->next) {
        size_t index = 0;
        if (!find_component(components, at->text, &index))
            return unknown_component(c, components, at);
        if (chosen[index])
            return lks_doc_fail(c->docs, at, c->err, "this component is named twice");
        chosen[index] = true;
    }
    for (size_t i = 0; i < components->count; i++)
        if (named == NULL || chosen[i])
            out->components[out->component_count++] = (uint16_t)i;
    return LKS_OK;
}

static enum lks_code read_record(struct reading *c, const struct lks_doc *map,
                                 const struct lks_doc *components, struct lks_pldm_record *out)
{
    const struct lks_doc *descriptors = lks_doc_member(map, "descriptors");
    const struct lks_doc *manifest = lks_doc_member(map, "manifest");
    if (manifest != NULL && c->r->package.revision < 4)
        return lks_doc_fail(c->docs, manifest, c->err, "a reference manifest needs revision 4");
    out->descriptors = make_array(c, descriptors->count, sizeof(*out->descriptors));
    if (out->descriptors == NULL)
        return no_room(c);
    for (const struct lks_doc *at = descriptors->first; at != NULL; at = at->next)
        if (read_descriptor(c, at, &out->descriptors[out->descriptor_count++]) != LKS_OK)
            return c->err->code;
    if (out->descriptors[0].type > LKS_PLDM_SCSI_VENDOR)
        return lks_doc_fail(c->docs, descriptors->first, c->err,
                            "the first descriptor names a vendor: one of pci-vendor, "
                            "iana-enterprise, uuid, pnp-vendor, acpi-vendor, ieee-company and "
                            "scsi-vendor");
    want(c, map, "package_data", &out->data, 0);
    want(c, map, "manifest", &out->manifest, 0);
    return read_applicable(c, map, components, out);
}

static enum lks_code read_device(struct reading *c, const struct lks_doc *map,
                                 const struct lks_doc *components, struct lks_pldm_record *out)
{
    out->version = string_of(lks_doc_text(map, "version"));
    if (lks_schema_truth(map, &device_form, "continue_after_failure"))
        out->options |= LKS_PLDM_DEVICE_CONTINUES;
    if (lks_schema_truth(map, &device_form, "streams"))
        out->options |= LKS_PLDM_DEVICE_STREAMS;
    return read_record(c, map, components, out);
}

static enum lks_code read_downstream(struct reading *c, const struct lks_doc *map,
                                     const struct lks_doc *components, struct lks_pldm_record *out)
{
    const struct lks_doc *stamp = lks_doc_member(map, "min_stamp");
    out->version = string_of(lks_doc_text(map, "min_version"));
    if (c->r->package.revision < 2)
        return lks_doc_fail(c->docs, map, c->err, "downstream devices need revision 2 or later");
    if (stamp != NULL && out->version.bytes.len == 0)
        return lks_doc_fail(c->docs, stamp, c->err, "goes with min_version");
    if (stamp != NULL) {
        out->options |= LKS_PLDM_DOWNSTREAM_STAMP;
        out->stamp = (uint32_t)stamp->number;
    }
    return read_record(c, map, components, out);
}

/* ---- Components. ---- */

static enum lks_code read_classification(struct reading *c, const struct lks_doc *map,
                                         uint16_t *out)
{
    enum { OWN = 0x8000 };
    const struct lks_doc *at = lks_doc_member(map, "classification");
    if (at != NULL && at->kind == LKS_DOC_NUMBER) {
        if ((at->number < OWN &&
             lks_pldm_package_classification_name((uint16_t)at->number) == NULL) ||
            at->number < 0 || at->number > UINT16_MAX)
            return lks_doc_fail(c->docs, at, c->err,
                                "no classification %lld: there are 0 to 13, and a vendor's own "
                                "from 32768 to 65535",
                                (long long)at->number);
        *out = (uint16_t)at->number;
        return LKS_OK;
    }
    struct lks_str name = at != NULL ? at->text : LKS_STR("firmware");
    if (lks_pldm_package_classification_find(name, out))
        return LKS_OK;
    char hint[LKS_NEAR_HINT_SIZE];
    struct lks_near near = lks_near_to(name);
    for (uint32_t i = 0; i <= UINT16_MAX; i++)
        if (lks_pldm_package_classification_name((uint16_t)i) != NULL)
            lks_near_try(&near, lks_str_from(lks_pldm_package_classification_name((uint16_t)i)));
    return lks_doc_fail(c->docs, at, c->err, "no classification '%.*s'%s", LKS_STR_ARG(name),
                        lks_near_hint(&near, hint));
}

static enum lks_code read_activation(struct reading *c, const struct lks_doc *list, uint16_t *out)
{
    for (const struct lks_doc *at = list != NULL ? list->first : NULL; at != NULL; at = at->next) {
        char hint[LKS_NEAR_HINT_SIZE];
        unsigned bit = 0;
        struct lks_near near = lks_near_to(at->text);
        for (unsigned i = 0; lks_pldm_package_activation_name(i) != NULL; i++)
            lks_near_try(&near, lks_str_from(lks_pldm_package_activation_name(i)));
        if (!lks_pldm_package_activation_find(at->text, &bit))
            return lks_doc_fail(c->docs, at, c->err, "no way of activation '%.*s'%s",
                                LKS_STR_ARG(at->text), lks_near_hint(&near, hint));
        *out = (uint16_t)(*out | 1U << bit);
    }
    return LKS_OK;
}

static enum lks_code read_component(struct reading *c, const struct lks_doc *components,
                                    const struct lks_doc *map, size_t index)
{
    struct lks_pldm_component *out = &c->r->package.components[index];
    const struct lks_doc *stamp = lks_doc_member(map, "stamp");
    const struct lks_doc *opaque = lks_doc_member(map, "opaque");
    size_t first = 0;
    out->version = string_of(lks_doc_text(map, "version"));
    out->id = (uint16_t)lks_doc_member(map, "id")->number;
    out->stamp = stamp != NULL ? (uint32_t)stamp->number : LKS_PLDM_STAMP_NONE;
    if (stamp != NULL)
        out->options |= LKS_PLDM_COMPONENT_STAMP;
    if (lks_schema_truth(map, &component_form, "force"))
        out->options |= LKS_PLDM_COMPONENT_FORCE;
    if (find_component(components, lks_doc_text(map, "name"), &first) && first != index)
        return lks_doc_fail(c->docs, lks_doc_member(map, "name"), c->err,
                            "there is already a component of this name");
    if (opaque != NULL && c->r->package.revision < 3)
        return lks_doc_fail(c->docs, opaque, c->err, "opaque data needs revision 3 or later");
    want(c, map, "file", NULL, index);
    want(c, map, "opaque", &out->opaque, index);
    if (read_classification(c, map, &out->classification) != LKS_OK)
        return c->err->code;
    return read_activation(c, lks_doc_member(map, "activation"), &out->activation);
}

/* ---- All of it. ---- */

static enum lks_code make_room(struct reading *c, const struct lks_doc *doc)
{
    struct lks_pldm_package *p = &c->r->package;
    const struct lks_doc *downstream = lks_doc_member(doc, "downstream");
    p->device_count = lks_doc_member(doc, "devices")->count;
    p->downstream_count = downstream != NULL ? downstream->count : 0;
    p->component_count = lks_doc_member(doc, "components")->count;
    p->devices = make_array(c, p->device_count, sizeof(*p->devices));
    p->downstream = make_array(c, p->downstream_count, sizeof(*p->downstream));
    p->components = make_array(c, p->component_count, sizeof(*p->components));
    c->r->wanted = make_array(c,
                              FILES_OF_A_RECORD * (p->device_count + p->downstream_count) +
                                  FILES_OF_A_COMPONENT * p->component_count,
                              sizeof(*c->r->wanted));
    bool all = p->devices != NULL && p->downstream != NULL && p->components != NULL &&
               c->r->wanted != NULL;
    return all ? LKS_OK : no_room(c);
}

static enum lks_code read_lists(struct reading *c, const struct lks_doc *doc)
{
    const struct lks_doc *components = lks_doc_member(doc, "components");
    const struct lks_doc *downstream = lks_doc_member(doc, "downstream");
    size_t i = 0;
    for (const struct lks_doc *at = lks_doc_member(doc, "devices")->first; at != NULL;
         at = at->next)
        if (read_device(c, at, components, &c->r->package.devices[i++]) != LKS_OK)
            return c->err->code;
    i = 0;
    for (const struct lks_doc *at = downstream != NULL ? downstream->first : NULL; at != NULL;
         at = at->next)
        if (read_downstream(c, at, components, &c->r->package.downstream[i++]) != LKS_OK)
            return c->err->code;
    i = 0;
    for (const struct lks_doc *at = components->first; at != NULL; at = at->next)
        if (read_component(c, components, at, i++) != LKS_OK)
            return c->err->code;
    return LKS_OK;
}

enum lks_code lks_pldm_recipe_read(const struct lks_docs *docs, struct lks_pldm_recipe *out,
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_pldm_recipe_fini) struct lks_pldm_recipe r = {0};
    struct reading c = {.docs = docs, .r = &r, .err = err};
    if (docs->count != 1)
        return lks_fail(err, LKS_E_INVALID, "%.*s: holds %zu documents instead of one",
                        LKS_STR_ARG(docs->source), docs->count);
    if (lks_schema_check(docs, docs->first, &recipe_form, err) != LKS_OK)
        return err->code;
    lks_arena_init(&r.package.arena, MEMORY_MAX);
    r.package.revision = (uint8_t)lks_doc_member(docs->first, "revision")->number;
    r.package.version = string_of(lks_doc_text(docs->first, "version"));
    if (make_room(&c, docs->first) != LKS_OK ||
        read_released(&c, lks_doc_member(docs->first, "released")) != LKS_OK ||
        read_lists(&c, docs->first) != LKS_OK)
        return err->code;
    *out = LKS_MOVE(r);
    return LKS_OK;
}
