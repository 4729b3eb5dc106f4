/* The pins of a draft: software by name, and firmware by class and part. */
#include "core/compat/parts.h"
#include "core/conform/draft_parts.h"
#include "core/conform/node_readings.h"

#include <stdlib.h>

/* Names ------------------------------------------------------------------------------------- */

/* What a reading of a component can be called beside the component itself. */
static const char *const suffixes[] = {
    ".package", ".modules",          ".loaded",       ".disk",
    ".library", ".build.srcversion", ".build.sha256", ".build.build_id",
};

/* The component a reading speaks of: "nccl" of "nccl.package" and of "copy.nccl". */
static struct lks_str component_of(struct lks_str name)
{
    const char copy[] = "copy.";
    if (lks_str_starts(name, copy))
        return (struct lks_str){name.ptr + strlen(copy), name.len - strlen(copy)};
    for (size_t i = 0; i < LKS_COUNT(suffixes); i++) {
        size_t len = strlen(suffixes[i]);
        if (name.len > len && memcmp(name.ptr + name.len - len, suffixes[i], len) == 0)
            return (struct lks_str){name.ptr, name.len - len};
    }
    return name;
}

static const struct lks_reading *measured(const struct lks_draft *d, struct lks_str component,
                                          const char *suffix)
{
    return lks_node_measured(
        d->tuple, LKS_DRAFT_TEXT(d, "%" LKS_STR_FMT "%s", LKS_STR_ARG(component), suffix));
}

static bool is_required(const struct lks_draft *d, struct lks_str component)
{
    const char *name;
    for (size_t i = 0; (name = lks_stack_required(d->vendor, d->nvswitch, i)) != NULL; i++) {
        if (lks_str_is(component, name))
            return true;
    }
    return false;
}

/* What a stack of this vendor takes under `components`. */
static bool is_software(const struct lks_draft *d, struct lks_str component)
{
    const struct lks_component_kind *kind = lks_facts_component(d->facts, component);
    return kind != NULL && kind->sort == LKS_SOFTWARE && lks_str_eq(kind->name, component) &&
           (kind->vendor == LKS_VENDOR_ANY || kind->vendor == d->vendor);
}

/* Software ---------------------------------------------------------------------------------- */

static void begin_pin(struct lks_draft *d, struct lks_str component)
{
    lks_buf_addf(&d->components, "  %" LKS_STR_FMT ": {", LKS_STR_ARG(component));
}

static void put_text(struct lks_buf *out, const char *key, struct lks_str value)
{
    lks_buf_addf(out, "%s: ", key);
    lks_buf_quote(out, value);
}

/* Hexadecimal digits as a manifest takes them, two for each byte. */
static bool is_hex(struct lks_str s, size_t least, size_t most)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '\0' || strchr("0123456789abcdef", s.ptr[i]) == NULL)
            return false;
    }
    return s.len >= least && s.len <= most && s.len % 2 == 0;
}

static const struct {
    const char *suffix, *key;
    size_t least, most; /* digits; 0: any text */
} builds[] = {
    {".build.srcversion", "srcversion", 0, 0},
    {".build.sha256", "sha256", 64, 64},
    {".build.build_id", "build_id", 16, 128},
};

/* DKMS builds on each machine: no two have the same bytes, nor one after it was built again. What
 * it was built from is its srcversion. */
static bool is_built_here(struct lks_draft *d, struct lks_str name, const struct lks_accord_of *of)
{
    if (!lks_str_ends(name, ".sha256") || of->first == NULL ||
        lks_str_find(of->first->evidence, LKS_STR("/dkms/")) < 0)
        return false;
    lks_draft_left_out(d, LKS_INFO, name,
                       "DKMS built it on this machine: no other has these bytes");
    lks_draft_said(d, name);
    return true;
}

static void put_builds(struct lks_draft *d, struct lks_str component)
{
    size_t put = 0;
    for (size_t i = 0; i < LKS_COUNT(builds); i++) {
        struct lks_str name =
            LKS_DRAFT_TEXT(d, "%" LKS_STR_FMT "%s", LKS_STR_ARG(component), builds[i].suffix);
        struct lks_accord_of of = lks_draft_accord(d, name);
        if (of.accord != LKS_ACCORD_ONE || lks_str_trim(of.value).len == 0 ||
            (builds[i].most > 0 && !is_hex(of.value, builds[i].least, builds[i].most)) ||
            is_built_here(d, name, &of))
            continue;
        lks_buf_addf(&d->components, "%s", put++ == 0 ? ", build: {" : ", ");
        put_text(&d->components, builds[i].key, of.value);
        lks_draft_said(d, name);
    }
    if (put > 0)
        lks_buf_addf(&d->components, "}");
}

static void put_modules(struct lks_draft *d, struct lks_str component)
{
    const struct lks_reading *r = measured(d, component, ".modules");
    if (!lks_str_is(component, "driver") || r == NULL ||
        (!lks_str_is(r->value, "open") && !lks_str_is(r->value, "proprietary")))
        return;
    lks_buf_addf(&d->components, ", modules: %" LKS_STR_FMT, LKS_STR_ARG(r->value));
    lks_draft_said(d, r->name);
}

/* The sides of a driver are judged with it, so each must be known. */
static void check_sides(struct lks_draft *d, struct lks_str component)
{
    static const char *const sides[] = {".loaded", ".disk", ".library", ".package"};
    for (size_t i = 0; i < LKS_COUNT(sides); i++) {
        struct lks_str name =
            LKS_DRAFT_TEXT(d, "%" LKS_STR_FMT "%s", LKS_STR_ARG(component), sides[i]);
        struct lks_accord_of of = lks_draft_accord(d, name);
        if (of.accord == LKS_ACCORD_UNMEASURED)
            LKS_DRAFT_REFUSE(
                d, "not-measured", name,
                "%" LKS_STR_FMT " could not be read: %" LKS_STR_FMT " (%" LKS_STR_FMT ")",
                LKS_STR_ARG(name), LKS_STR_ARG(of.first->value), LKS_STR_ARG(of.first->evidence));
    }
}

/* The package of anything else is a reading of its own in the manifest; where it cannot be written
 * it is judged with what runs, and then it must be of it. */
static void check_package(struct lks_draft *d, struct lks_str component, struct lks_str version)
{
    struct lks_str name = LKS_DRAFT_TEXT(d, "%" LKS_STR_FMT ".package", LKS_STR_ARG(component));
    struct lks_accord_of of = lks_draft_accord(d, name);
    const struct lks_reading *package = lks_node_measured(d->tuple, name);
    bool agrees = lks_node_package_agrees(d->facts, d->tuple, component, version);
    bool kernel = lks_str_is(component, "kernel");
    bool writable = of.accord == LKS_ACCORD_ONE && lks_str_trim(of.value).len > 0 &&
                    of.value.len <= LKS_VERSION_LEN_MAX;
    if (!writable && !agrees && !kernel)
        LKS_DRAFT_REFUSE(d, "package-differs", component,
                         "%" LKS_STR_FMT " is %" LKS_STR_FMT
                         ", and none of its packages is: one is %" LKS_STR_FMT " (%" LKS_STR_FMT
                         ")",
                         LKS_STR_ARG(component), LKS_STR_ARG(version), LKS_STR_ARG(package->value),
                         LKS_STR_ARG(package->evidence));
}

static void pin_installed(struct lks_draft *d, struct lks_str component, struct lks_str version)
{
    begin_pin(d, component);
    put_text(&d->components, "version", version);
    put_modules(d, component);
    put_builds(d, component);
    lks_buf_addf(&d->components, "}\n");
    if (lks_str_is(component, "driver") || lks_str_is(component, "amdgpu"))
        check_sides(d, component);
    else
        check_package(d, component, version);
    lks_draft_said(d, component);
}

/* The version that the images on this machine agree on; empty when there is none. What they do not
 * agree on is refused. */
static struct lks_str image_version(struct lks_draft *d, struct lks_str component)
{
    struct lks_str name = LKS_DRAFT_TEXT(d, "copy.%" LKS_STR_FMT, LKS_STR_ARG(component));
    enum lks_version_scheme scheme = lks_facts_scheme(d->facts, component);
    const struct lks_reading *first = NULL;
    size_t count;
    const struct lks_reading *r = lks_tuple_range(d->tuple, name, &count);
    for (; count > 0; count--, r++) {
        if (!lks_node_copy_of_image(r) || r->state != LKS_MEASURED)
            continue;
        first = first == NULL ? r : first;
        if (lks_version_cmp(first->value, r->value, scheme) == 0)
            continue;
        LKS_DRAFT_REFUSE(d, "which-copy", component,
                         "%" LKS_STR_FMT " is %" LKS_STR_FMT " in %" LKS_STR_FMT
                         " and %" LKS_STR_FMT " in %" LKS_STR_FMT
                         ", and the system has none: which is golden?",
                         LKS_STR_ARG(component), LKS_STR_ARG(first->value), LKS_STR_ARG(first->of),
                         LKS_STR_ARG(r->value), LKS_STR_ARG(r->of));
        lks_report_remedy(d->report, "keep one of them on the machine");
        return (struct lks_str){"", 0};
    }
    return first != NULL ? first->value : (struct lks_str){"", 0};
}

static void pin_image(struct lks_draft *d, struct lks_str component, struct lks_str version)
{
    begin_pin(d, component);
    put_text(&d->components, "version", version);
    lks_buf_addf(&d->components, ", owner: image}\n");
    lks_draft_said(d, component);
}

static void refuse_unknown(struct lks_draft *d, struct lks_str component,
                           const struct lks_reading *r)
{
    const char *why = r == NULL                    ? "no probe searched for it"
                      : r->state == LKS_UNMEASURED ? "could not be read: "
                                                   : "is not there, though its package is: ";
    LKS_DRAFT_REFUSE(d, "not-measured", component,
                     "%" LKS_STR_FMT " must be pinned, and %s%" LKS_STR_FMT, LKS_STR_ARG(component),
                     why, LKS_STR_ARG(r == NULL ? LKS_STR("") : r->value));
}

/* It is required, and the machine does not have it: then that is what is golden, if it is known.
 * What could not be read may be there, whatever its package says. */
static void pin_absent(struct lks_draft *d, struct lks_str component)
{
    const struct lks_reading *r = lks_tuple_component(d->tuple, component);
    struct lks_accord_of own = lks_draft_accord(d, component);
    struct lks_accord_of package =
        lks_draft_accord(d, LKS_DRAFT_TEXT(d, "%" LKS_STR_FMT ".package", LKS_STR_ARG(component)));
    if (own.accord == LKS_ACCORD_UNMEASURED)
        r = own.first;
    else if (r != NULL && r->state == LKS_ABSENT && package.accord == LKS_ACCORD_UNMEASURED)
        r = package.first;
    if (r == NULL || r->state != LKS_ABSENT) {
        refuse_unknown(d, component, r);
        return;
    }
    begin_pin(d, component);
    put_text(&d->components, "absent", LKS_STR("not found on this machine"));
    lks_buf_addf(&d->components, "}\n");
}

/* A version that its own numbering does not allow cannot be pinned; the rest holds on to it. */
static bool is_pinnable(struct lks_draft *d, struct lks_str component, struct lks_str version)
{
    enum lks_version_scheme scheme = lks_facts_scheme(d->facts, component);
    if (lks_draft_is_version(version) && lks_version_whole(version, scheme))
        return true;
    if (is_required(d, component))
        LKS_DRAFT_REFUSE(d, "no-version", component,
                         "'%" LKS_STR_FMT "' is no whole version of %" LKS_STR_FMT
                         " (%s numbering), so it cannot be pinned",
                         LKS_STR_ARG(version), LKS_STR_ARG(component),
                         lks_version_scheme_name(scheme));
    return false;
}

static void draft_component(struct lks_draft *d, struct lks_str component)
{
    const struct lks_reading *own = measured(d, component, "");
    const struct lks_reading *package = measured(d, component, ".package");
    enum lks_accord accord = lks_draft_accord(d, component).accord;
    bool looked = accord != LKS_ACCORD_NONE;
    struct lks_str version = own != NULL                  ? own->value
                             : package != NULL && !looked ? package->value
                                                          : (struct lks_str){"", 0};
    if (own != NULL && accord != LKS_ACCORD_ONE) {
        LKS_DRAFT_REFUSE(d, "not-measured", component,
                         "the readings of %" LKS_STR_FMT " contradict each other",
                         LKS_STR_ARG(component));
        return;
    }
    if (version.len > 0) {
        if (is_pinnable(d, component, version))
            pin_installed(d, component, version);
        return;
    }
    size_t errors = d->report->errors;
    version = image_version(d, component);
    if (version.len > 0 && is_pinnable(d, component, version))
        pin_image(d, component, version);
    else if (version.len == 0 && is_required(d, component) && d->report->errors == errors)
        pin_absent(d, component);
}

static int by_text(const void *left, const void *right)
{
    const struct lks_str *a = left, *b = right;
    return lks_str_cmp(*a, *b);
}

/* All components that readings speak of or that must be pinned, in order, each once. */
static size_t list_components(struct lks_draft *d, struct lks_str *list, size_t room)
{
    size_t count = 0, kept = 0;
    const char *required;
    for (size_t i = 0; i < d->tuple->count && count < room; i++) {
        struct lks_str component = component_of(d->tuple->readings[i].name);
        if (is_software(d, component))
            list[count++] = component;
    }
    for (size_t i = 0; (required = lks_stack_required(d->vendor, d->nvswitch, i)) != NULL; i++) {
        if (count < room)
            list[count++] = lks_str_from(required);
    }
    qsort(list, count, sizeof(*list), by_text);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || !lks_str_eq(list[kept - 1], list[i]))
            list[kept++] = list[i];
    }
    return kept;
}

void lks_draft_components(struct lks_draft *d)
{
    enum { REQUIRED_ROOM = 64 };
    size_t room = d->tuple->count + REQUIRED_ROOM;
    struct lks_str *list = lks_arena_array(&d->report->arena, room, sizeof(*list));
    if (list == NULL) {
        d->report->failed = LKS_E_LIMIT;
        return;
    }
    size_t count = list_components(d, list, room);
    for (size_t i = 0; i < count; i++)
        draft_component(d, list[i]);
}

/* Firmware ---------------------------------------------------------------------------------- */

static bool is_class(const struct lks_draft *d, struct lks_str class)
{
    const struct lks_component_kind *kind = lks_facts_component(d->facts, class);
    if (kind == NULL)
        return lks_schema_is_name(class) && lks_facts_component_alias(d->facts, class) == NULL;
    return kind->sort == LKS_FIRMWARE &&
           (kind->vendor == LKS_VENDOR_ANY || kind->vendor == d->vendor);
}

/* The readings of one class and part, of the `count` from `r` on that have this class: the version
 * they agree on, or none. They agree, or there would be no draft, so far as they were measured. */
static struct lks_str firmware_version(const struct lks_reading *r, size_t count,
                                       struct lks_str part)
{
    struct lks_str version = {"", 0};
    for (size_t i = 0; i < count; i++) {
        if (!lks_str_eq(r[i].part, part))
            continue;
        if (r[i].state != LKS_MEASURED)
            return (struct lks_str){"", 0};
        version = r[i].value;
    }
    return version;
}

/* A device that could not be read and does not tell its part may be of any: then nothing that is
 * pinned for the class holds of all its devices. */
static bool has_unknown(const struct lks_reading *r, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (r[i].state == LKS_UNMEASURED && r[i].part.len == 0)
            return true;
    }
    return false;
}

static bool is_first_of_part(const struct lks_reading *r, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (lks_str_eq(r[i].part, r[at].part))
            return false;
    }
    return true;
}

static bool is_pinnable_part(const struct lks_draft *d, const struct lks_reading *r, size_t count,
                             struct lks_str part)
{
    bool blank = part.len > 0 && lks_str_trim(part).len == 0;
    return !blank && is_class(d, lks_component_bare(r->name)) &&
           lks_draft_is_version(firmware_version(r, count, part));
}

static void draft_part(struct lks_draft *d, const struct lks_reading *r, size_t count, size_t at)
{
    struct lks_str part = r[at].part;
    lks_buf_addf(&d->firmware, "  - {");
    put_text(&d->firmware, "class", lks_component_bare(r->name));
    if (part.len > 0) {
        lks_buf_addf(&d->firmware, ", ");
        put_text(&d->firmware, "part", part);
    }
    lks_buf_addf(&d->firmware, ", ");
    put_text(&d->firmware, "version", firmware_version(r, count, part));
    lks_buf_addf(&d->firmware, ", owner: external}\n");
    for (size_t i = at; i < count; i++) {
        if (lks_str_eq(r[i].part, part))
            d->said[(size_t)(r - d->tuple->readings) + i] = true;
    }
}

/* The firmware of one class: all parts that were read, or none, since a device of a part that no
 * pin is about does not conform to a class that has pins. A pin without a part is one of every part
 * that has none, so it is made only where no part is left without. */
static void draft_class(struct lks_draft *d, const struct lks_reading *r, size_t count)
{
    bool all = true;
    for (size_t i = 0; i < count; i++)
        all = all && is_pinnable_part(d, r, count, r[i].part);
    for (size_t i = 0; i < count; i++) {
        bool pinned = is_pinnable_part(d, r, count, r[i].part) && (all || r[i].part.len > 0);
        if (r[i].state == LKS_MEASURED && !pinned)
            return;
    }
    for (size_t i = 0; i < count; i++) {
        if (r[i].state == LKS_MEASURED && is_first_of_part(r, i))
            draft_part(d, r, count, i);
    }
}

void lks_draft_firmware(struct lks_draft *d)
{
    const struct lks_tuple *t = d->tuple;
    for (size_t i = 0, count; i < t->count; i += count) {
        const struct lks_reading *r = &t->readings[i];
        for (count = 1; i + count < t->count && lks_str_eq(r[count].name, r->name);)
            count++;
        if (lks_component_is_firmware(r->name) && !has_unknown(r, count) &&
            !lks_draft_lacks_gpus(d, r, count))
            draft_class(d, r, count);
    }
}
