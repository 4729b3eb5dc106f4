#include "model/manifest/stack.h"

#include "base/near.h"
#include "base/vec.h"
#include "model/schema/tables.h"

#include <stdlib.h>

/* The table of a stack ---------------------------------------------------------------------- */

#define SCOPES LKS_ONE_OF("node", "chassis", "domain", "site")

static const struct lks_field build_fields[] = {
    {"sha256", LKS_HEX(64, 64), 0, NULL, "SHA-256 of the installed file"},
    {"build_id", LKS_HEX(16, 128), 0, NULL, "ELF build-id"},
    {"srcversion", LKS_OF(TEXT), 0, NULL, "srcversion of the kernel module"},
};
static const struct lks_form build_form = {
    .name = "build",
    .about = "which build of the version; the same version from another build is drift",
    LKS_FIELDS(build_fields)};

/* clang-format off */
#define PIN_FIELDS                                                                                 \
    {"version", LKS_OF(VERSION), 0, NULL, "the exact version, in quotes"},                         \
    {"absent", LKS_OF(TEXT), LKS_PRESENCE, NULL, "why the component is deliberately not there"},   \
    {"build", LKS_FORM(build_form), 0, NULL, "identity of the build"},                         \
    {"artifacts", LKS_LIST_FROM_TO(1, 64, LKS_OF(SHA256)), LKS_SET, NULL,                          \
     "artifacts it is installed from"},                                                            \
    {"note", LKS_OF(TEXT), LKS_NOTE, NULL, "a sentence for people"}
/* clang-format on */

static const struct lks_field component_fields[] = {
    PIN_FIELDS,
    {"scope", SCOPES, 0, "node", "what one copy of it serves"},
    {"owner", LKS_ONE_OF("package", "image", "gpu-operator", "external"), 0, "package",
     "who installs it; external is observed and never driven"},
    {"modules", LKS_ONE_OF("open", "proprietary"), 0, NULL, "driver: flavour of kernel modules"},
};
static const struct lks_form component_form = {
    .name = "component", .about = "one pinned component", LKS_FIELDS(component_fields)};

static const struct lks_field firmware_fields[] = {
    {"class", LKS_OF(NAME), LKS_REQUIRED, NULL, "kind of device: bmc, bios, vbios, nic, psu ..."},
    {"part", LKS_OF(TEXT), 0, NULL, "part number it is limited to; without one, every part"},
    {"side", LKS_ONE_OF("a", "b"), 0, NULL, "side of a redundant pair it is limited to"},
    PIN_FIELDS,
    {"scope", SCOPES, 0, NULL,
     "what one copy of it serves; without it, what is usual for the class"},
    {"owner", LKS_ONE_OF("bundle", "external"), 0, "bundle",
     "who flashes it; external is observed and never driven"},
    {"transport", LKS_ONE_OF("redfish", "pldm", "in-band", "rack-controller", "vendor-tool"), 0,
     NULL, "how the image gets there"},
    {"banks", LKS_ONE_OF("single", "ab"), 0, NULL, "whether a second bank keeps the old image"},
    {"revert", LKS_ONE_OF("revertible", "one-way"), 0, NULL, "whether the device can be reverted"},
};
static const struct lks_form firmware_form = {
    .name = "firmware entry", .about = "one pinned firmware", LKS_FIELDS(firmware_fields)};

static const struct lks_field mig_fields[] = {
    {"mode", LKS_ONE_OF("disabled", "enabled"), LKS_REQUIRED, NULL, "MIG mode of every GPU"},
    {"profiles", LKS_LIST_FROM_TO(0, 8, LKS_OF(TEXT)), 0, NULL, "instances of each GPU, in order"},
};
static const struct lks_form mig_form = {
    .name = "mig", .about = "multi-instance GPU geometry", LKS_FIELDS(mig_fields)};

static const struct lks_field clock_fields[] = {
    {"locked", LKS_OF(BOOL), 0, NULL,
     "false: no clock may be held; true goes with the clocks below"},
    {"graphics_mhz", LKS_NUMBERS(1, 10000), 0, NULL, "locked graphics clock"},
    {"memory_mhz", LKS_NUMBERS(1, 20000), 0, NULL, "locked memory clock"},
};
static const struct lks_form clock_form = {
    .name = "clocks", .about = "locked clocks", LKS_FIELDS(clock_fields)};

static const struct lks_field partition_fields[] = {
    {"compute", LKS_ONE_OF("SPX", "DPX", "TPX", "QPX", "CPX"), 0, NULL, "compute partition"},
    {"memory", LKS_ONE_OF("NPS1", "NPS2", "NPS4", "NPS8"), 0, NULL, "memory partition"},
};
static const struct lks_form partition_form = {
    .name = "partition", .about = "partition modes of an AMD GPU", LKS_FIELDS(partition_fields)};

static const struct lks_field nic_fields[] = {
    {"link_type", LKS_ONE_OF("ethernet", "infiniband"), 0, NULL, "link type of the fabric ports"},
    {"congestion_control", LKS_OF(TEXT), 0, NULL, "algorithm, such as dcqcn"},
    {"pfc", LKS_LIST_FROM_TO(0, 8, LKS_NUMBERS(0, 7)), LKS_SET, NULL,
     "priorities with flow control"},
    {"ecn", LKS_LIST_FROM_TO(0, 8, LKS_NUMBERS(0, 7)), LKS_SET, NULL,
     "priorities that mark congestion"},
    {"options", LKS_DICT(TEXT, LKS_STACK_ATTRIBUTES_MAX, LKS_OF(SCALAR)), 0, NULL,
     "other settings by the device's own names"},
};
static const struct lks_form nic_form = {
    .name = "nic", .about = "settings of the fabric adapters", LKS_FIELDS(nic_fields)};

static const struct lks_field setting_fields[] = {
    {"mig", LKS_FORM(mig_form), 0, NULL, "multi-instance GPU geometry"},
    {"ecc", LKS_OF(BOOL), 0, NULL, "error correction of GPU memory"},
    {"power_limit_w", LKS_NUMBERS(1, 10000), 0, NULL, "power limit of each GPU in watts"},
    {"clocks", LKS_FORM(clock_form), 0, NULL, "locked clocks"},
    {"persistence", LKS_OF(BOOL), 0, NULL, "persistence mode"},
    {"compute_mode", LKS_ONE_OF("default", "exclusive-process", "prohibited"), 0, NULL,
     "who may use a GPU at once"},
    {"memory_mode", LKS_ONE_OF("numa", "cdmm"), 0, NULL,
     "Grace: GPU memory as NUMA nodes, or managed by the driver"},
    {"gds", LKS_OF(BOOL), 0, NULL, "GPUDirect Storage is enabled"},
    {"partition", LKS_FORM(partition_form), 0, NULL, "AMD partition modes"},
    {"kernel_cmdline", LKS_LIST_FROM_TO(1, 256, LKS_OF(TEXT)), 0, NULL,
     "parameters the kernel must have, in this order (it matters: hugepagesz, console)"},
    {"nic", LKS_FORM(nic_form), 0, NULL, "settings of the fabric adapters"},
    {"bios", LKS_DICT(TEXT, LKS_STACK_ATTRIBUTES_MAX, LKS_OF(SCALAR)), 0, NULL,
     "BIOS attributes by the vendor's names"},
    {"unattended_upgrades", LKS_OF(BOOL), 0, NULL,
     "whether the package manager may upgrade on its own; false is what a pinned node wants"},
    {"other", LKS_DICT(TEXT, LKS_STACK_ATTRIBUTES_MAX, LKS_OF(SCALAR)), 0, NULL,
     "anything else a site compares"},
};
static const struct lks_form setting_form = {
    .name = "settings", .about = "settings that must hold", LKS_FIELDS(setting_fields)};

static const struct lks_field table_fields[] = {
    {"name", LKS_OF(TEXT), LKS_NOTE, NULL, "file name, for people"},
    {"digest", LKS_OF(SHA256), LKS_REQUIRED, NULL, "digest of the table"},
};
static const struct lks_form table_form = {
    .name = "table", .about = "a tuning table by digest", LKS_FIELDS(table_fields)};

static const struct lks_field tuning_fields[] = {
    {"env", LKS_DICT(TEXT, LKS_STACK_ATTRIBUTES_MAX, LKS_OF(TEXT)), 0, NULL,
     "environment of NCCL or RCCL"},
    {"table", LKS_FORM(table_form), 0, NULL, "table for the tuner plugin"},
};
static const struct lks_form tuning_form = {
    .name = "tuning", .about = "tuning of the collectives", LKS_FIELDS(tuning_fields)};

static const struct lks_field evidence_fields[] = {
    {"what", LKS_OF(TEXT), LKS_REQUIRED, NULL, "what was tested or signed"},
    {"by", LKS_OF(TEXT), 0, NULL, "who did"},
    {"date", LKS_OF(DATE), 0, NULL, "when"},
    {"url", LKS_OF(URL), 0, NULL, "where it can be read"},
};
static const struct lks_form evidence_form = {
    .name = "evidence", .about = "why this stack is believed in", LKS_FIELDS(evidence_fields)};

static const struct lks_field stack_fields[] = {
    LKS_ENVELOPE("Stack"),
    {"version", LKS_OF(VERSION), LKS_REQUIRED | LKS_NOTE, NULL, "version of the stack, in quotes"},
    {"vendor", LKS_VENDORS, LKS_REQUIRED, NULL, "whose GPUs"},
    {"hardware", LKS_LIST_FROM_TO(1, LKS_STACK_CLASSES_MAX, LKS_OF(NAME)), LKS_REQUIRED | LKS_SET,
     NULL, "hardware classes it is for"},
    {"components", LKS_DICT(NAME, LKS_STACK_COMPONENTS_MAX, LKS_FORM(component_form)), LKS_REQUIRED,
     NULL, "software by name"},
    {"firmware", LKS_LIST_FROM_TO(0, LKS_STACK_COMPONENTS_MAX, LKS_FORM(firmware_form)), LKS_SET,
     NULL, "firmware by class"},
    {"windows", LKS_DICT(COMPONENT, LKS_STACK_COMPONENTS_MAX, LKS_OF(RANGE)), 0, NULL,
     "tested ranges by component: inside one, another version than the pin conforms too"},
    {"settings", LKS_FORM(setting_form), 0, NULL, "settings that must hold"},
    {"tuning", LKS_FORM(tuning_form), 0, NULL, "tuning of the collectives"},
    {"evidence", LKS_LIST_FROM_TO(0, 256, LKS_FORM(evidence_form)), LKS_NOTE, NULL,
     "why it is believed in"},
};
const struct lks_form lks_stack_form = {
    .name = "Stack",
    .about = "A golden stack: components, firmware, settings and tuning, pinned together.",
    LKS_FIELDS(stack_fields)};

/* What a stack of a vendor may not leave out (it may say `absent: REASON`). */
static const struct {
    enum lks_vendor vendor;
    const char *component;
    bool only_with_nvswitch;
} required_pins[] = {
    {LKS_VENDOR_NVIDIA, "kernel", false},
    {LKS_VENDOR_NVIDIA, "driver", false},
    {LKS_VENDOR_NVIDIA, "cuda", false},
    {LKS_VENDOR_NVIDIA, "nccl", false},
    {LKS_VENDOR_NVIDIA, "container-toolkit", false},
    {LKS_VENDOR_NVIDIA, "fabric-manager", true},
    {LKS_VENDOR_AMD, "kernel", false},
    {LKS_VENDOR_AMD, "amdgpu", false},
    {LKS_VENDOR_AMD, "rocm", false},
    {LKS_VENDOR_AMD, "rccl", false},
};

/* Reading ----------------------------------------------------------------------------------- */

struct reader {
    struct lks_docs *docs;
    const struct lks_facts *facts;
    struct lks_stack *stack;
    struct lks_err *err;
};

#define FAIL(r, doc, ...) lks_doc_fail((r)->docs, (doc), (r)->err, __VA_ARGS__)
#define RULE(r, doc, ...) LKS_DOC_RULE((r)->docs, (doc), (r)->err, __VA_ARGS__)

/* Whether it is good, or its failure was noted. */
#define TRY(r, call) ((call) == LKS_OK || lks_doc_goes_on((r)->docs, (r)->err))

const struct lks_class *lks_stack_class_find(const struct lks_class_lookup *lookup,
                                             struct lks_str name)
{
    for (size_t i = lookup->beside_count; i > 0; i--) {
        if (lks_str_eq(lookup->beside[i - 1].name, name))
            return &lookup->beside[i - 1];
    }
    return lks_facts_class(lookup->facts, name);
}

enum lks_code lks_stack_class_fail(const struct lks_class_lookup *lookup,
                                   const struct lks_docs *docs, const struct lks_doc *at,
                                   struct lks_err *err)
{
    char hint[LKS_NEAR_HINT_SIZE];
    struct lks_near near = lks_near_to(at->text);
    for (size_t i = 0; i < lookup->beside_count; i++)
        lks_near_try(&near, lookup->beside[i].name);
    for (size_t i = 0; i < lookup->facts->classes.count; i++)
        lks_near_try(&near, lookup->facts->classes.rows[i].name);
    return lks_doc_fail(
        docs, at, err, "no hardware class '%" LKS_STR_FMT "'%s", LKS_STR_ARG(at->text),
        near.best.len > 0 ? lks_near_hint(&near, hint)
                          : "; 'lockstep stack classes' lists those built in; write others "
                            "in the same file, after '---'");
}

static void read_pin(const struct lks_doc *doc, const struct lks_form *form,
                     struct lks_component *c)
{
    c->doc = doc;
    c->version = lks_doc_text(doc, "version");
    c->absent = lks_doc_text(doc, "absent");
    c->scope = lks_schema_text(doc, form, "scope");
    c->owner = lks_schema_text(doc, form, "owner");
}

/* Whether an entry says more than what is absent and why. */
static bool says_more(const struct lks_doc *doc)
{
    static const char *const allowed[] = {"absent", "class", "note", "part", "side"};
    for (const struct lks_doc *item = doc->first; item != NULL; item = item->next) {
        bool known = false;
        for (size_t i = 0; i < LKS_COUNT(allowed); i++)
            known = known || lks_str_is(item->key, allowed[i]);
        if (!known)
            return true;
    }
    return false;
}

/* A pin says a version or why there is none, and the version is one its numbering allows. */
static enum lks_code check_pin(const struct reader *r, const struct lks_component *c)
{
    if (c->version.len == 0 && c->absent.len == 0)
        return FAIL(r, c->doc, "needs a version, or absent: REASON");
    if (c->version.len > 0 && c->absent.len > 0)
        return FAIL(r, c->doc, "has a version and is absent; it cannot be both");
    if (c->absent.len > 0 && says_more(c->doc))
        return RULE(r, c->doc, "is absent, so it has no other fields");
    enum lks_version_scheme scheme = lks_facts_scheme(r->facts, c->name);
    bool firmware = lks_str_starts(c->name, "firmware/"); /* each vendor numbers in its own way */
    if (c->version.len > 0 && !firmware && !lks_version_whole(c->version, scheme))
        return RULE(r, lks_doc_member(c->doc, "version"),
                    "'%" LKS_STR_FMT "' is not a whole version of %" LKS_STR_FMT " (%s numbering)",
                    LKS_STR_ARG(c->version), LKS_STR_ARG(c->name), lks_version_scheme_name(scheme));
    return LKS_OK;
}

/* `at` names a component, which must be of the sort that is pinned there. */
static enum lks_code check_component_name(const struct reader *r, const struct lks_doc *at,
                                          struct lks_str name, enum lks_component_sort sort)
{
    if (lks_str_starts(name, "settings."))
        return FAIL(r, at, "settings go under settings, they are no components");
    const struct lks_component_kind *alias = lks_facts_component_alias(r->facts, name);
    if (alias != NULL)
        return RULE(r, at, "this component is called '%" LKS_STR_FMT "' here",
                    LKS_STR_ARG(alias->name));
    const struct lks_component_kind *kind = lks_facts_component(r->facts, name);
    if (kind == NULL)
        return LKS_OK;
    if (kind->sort != sort && sort == LKS_SOFTWARE)
        return RULE(r, at, "is firmware; pin it under firmware with class: %" LKS_STR_FMT,
                    LKS_STR_ARG(name));
    if (kind->sort != sort)
        return RULE(r, at, "%" LKS_STR_FMT " is software; pin it under components",
                    LKS_STR_ARG(name));
    if (kind->vendor != LKS_VENDOR_ANY && kind->vendor != r->stack->vendor)
        return RULE(r, at, "belongs to a stack of vendor %s, and this is one of %s",
                    lks_facts_vendor_name(kind->vendor), lks_facts_vendor_name(r->stack->vendor));
    return LKS_OK;
}

static enum lks_code read_software(const struct reader *r, const struct lks_doc *doc)
{
    if (check_component_name(r, doc, doc->key, LKS_SOFTWARE) != LKS_OK)
        return r->err->code;
    struct lks_component *c = &r->stack->components[r->stack->component_count++];
    read_pin(doc, &component_form, c);
    c->name = doc->key;
    c->label = c->name;
    c->modules = lks_doc_text(doc, "modules");
    if (c->modules.len > 0 && !lks_str_is(c->name, "driver") &&
        RULE(r, doc, "only the driver has a flavour of modules") != LKS_OK)
        return r->err->code;
    return check_pin(r, c);
}

static enum lks_code read_firmware(const struct reader *r, const struct lks_doc *doc)
{
    struct lks_str class = lks_doc_text(doc, "class");
    if (check_component_name(r, lks_doc_member(doc, "class"), class, LKS_FIRMWARE) != LKS_OK)
        return r->err->code;
    struct lks_component *c = &r->stack->components[r->stack->component_count++];
    read_pin(doc, &firmware_form, c);

    c->part = lks_doc_text(doc, "part");
    c->side = lks_doc_text(doc, "side");
    c->name = lks_arena_format(&r->docs->arena, "firmware/%" LKS_STR_FMT, LKS_STR_ARG(class));
    c->label = c->name;
    if (c->part.len > 0 || c->side.len > 0)
        c->label = lks_arena_format(&r->docs->arena,
                                    "%" LKS_STR_FMT "[%" LKS_STR_FMT "%s%" LKS_STR_FMT "]",
                                    LKS_STR_ARG(c->name), LKS_STR_ARG(c->part),
                                    c->part.len == 0   ? "side "
                                    : c->side.len == 0 ? ""
                                                       : " side ",
                                    LKS_STR_ARG(c->side));
    if (c->name.ptr == NULL || c->label.ptr == NULL)
        return lks_arena_fail(&r->docs->arena, r->err);
    const struct lks_component_kind *kind = lks_facts_component(r->facts, c->name);
    if (c->scope.len == 0)
        c->scope = kind != NULL ? kind->scope : LKS_STR("node");
    c->transport = lks_doc_text(doc, "transport");
    c->banks = lks_doc_text(doc, "banks");
    c->revert = lks_doc_text(doc, "revert");
    return check_pin(r, c);
}

int lks_stack_component_cmp(const struct lks_component *a, const struct lks_component *b)
{
    int order = lks_str_cmp(a->name, b->name);
    if (order == 0)
        order = lks_str_cmp(a->part, b->part);
    return order != 0 ? order : lks_str_cmp(a->side, b->side);
}

static int by_identity(const void *left, const void *right)
{
    return lks_stack_component_cmp(left, right);
}

/* One thing, one pin: two entries for it could name two owners or two versions. */
static enum lks_code check_single_owner(const struct reader *r)
{
    for (size_t i = 1; i < r->stack->component_count; i++) {
        const struct lks_component *a = &r->stack->components[i - 1];
        const struct lks_component *b = &r->stack->components[i];
        if (lks_stack_component_cmp(a, b) != 0)
            continue;
        return FAIL(r, b->doc,
                    "%" LKS_STR_FMT " is pinned twice (owners %" LKS_STR_FMT " and %" LKS_STR_FMT
                    "); one component has one owner",
                    LKS_STR_ARG(b->name), LKS_STR_ARG(a->owner), LKS_STR_ARG(b->owner));
    }
    return LKS_OK;
}

static enum lks_code read_components(const struct reader *r, const struct lks_doc *doc)
{
    const struct lks_doc *software = lks_doc_member(doc, "components");
    const struct lks_doc *firmware = lks_doc_member(doc, "firmware");
    size_t room = software->count + (firmware != NULL ? firmware->count : 0);
    r->stack->components =
        lks_arena_array(&r->docs->arena, room + 1, sizeof(*r->stack->components));
    if (r->stack->components == NULL)
        return lks_arena_fail(&r->docs->arena, r->err);

    for (const struct lks_doc *item = software->first; item != NULL; item = item->next) {
        if (!TRY(r, read_software(r, item)))
            return r->err->code;
    }
    const struct lks_doc *first = firmware != NULL ? firmware->first : NULL;
    for (const struct lks_doc *item = first; item != NULL; item = item->next) {
        if (!TRY(r, read_firmware(r, item)))
            return r->err->code;
    }
    qsort(r->stack->components, r->stack->component_count, sizeof(*r->stack->components),
          by_identity);
    return check_single_owner(r);
}

/* The first component called `name`; they are sorted. As many as there are when none is. */
static size_t first_called(const struct lks_stack *stack, struct lks_str name)
{
    size_t at;
    LKS_VEC_PLACE(at, stack->component_count, lks_str_cmp(stack->components[at].name, name) < 0);
    return at;
}

static enum lks_code set_window(const struct reader *r, const struct lks_doc *doc,
                                struct lks_component *c)
{
    enum lks_version_scheme scheme = lks_facts_scheme(r->facts, c->name);
    struct lks_range range;
    struct lks_err inner = {0};
    if (lks_version_range_parse(doc->text, scheme, &range, &inner) != LKS_OK)
        return FAIL(r, doc, "%s", inner.msg);
    if (!lks_version_range_has(&range, c->version, scheme) &&
        RULE(r, doc, "the pinned version %" LKS_STR_FMT " lies outside its own window",
             LKS_STR_ARG(c->version)) != LKS_OK)
        return r->err->code;
    c->window = doc->text;
    return LKS_OK;
}

/* A window of a firmware class holds for all its parts and sides. */
static enum lks_code read_window(const struct reader *r, const struct lks_doc *doc)
{
    bool pinned = false;
    struct lks_stack *stack = r->stack;
    for (size_t i = first_called(stack, doc->key);
         i < stack->component_count && lks_str_eq(stack->components[i].name, doc->key); i++) {
        if (stack->components[i].version.len == 0)
            continue;
        if (set_window(r, doc, &stack->components[i]) != LKS_OK)
            return r->err->code;
        pinned = true;
    }
    if (!pinned)
        return RULE(r, doc, "a window is for a pinned component, and this one is not pinned");
    return LKS_OK;
}

static enum lks_code read_windows(const struct reader *r, const struct lks_doc *windows)
{
    const struct lks_doc *first = windows != NULL ? windows->first : NULL;
    for (const struct lks_doc *item = first; item != NULL; item = item->next) {
        if (!TRY(r, read_window(r, item)))
            return r->err->code;
    }
    return LKS_OK;
}

static enum lks_code read_class(const struct reader *r, const struct lks_doc *hardware,
                                const struct lks_doc *item, const struct lks_class_lookup *lookup)
{
    const struct lks_class *class = lks_stack_class_find(lookup, item->text);
    if (class == NULL)
        return lks_stack_class_fail(lookup, r->docs, item, r->err);
    for (const struct lks_doc *other = hardware->first; other != item; other = other->next) {
        if (lks_str_eq(other->text, item->text))
            return FAIL(r, item, "this class is named twice");
    }
    if (class->vendor != r->stack->vendor &&
        RULE(r, item, "hardware of %s in a stack of %s", lks_facts_vendor_name(class->vendor),
             lks_facts_vendor_name(r->stack->vendor)) != LKS_OK)
        return r->err->code;
    r->stack->classes[r->stack->class_count++] = class;
    return LKS_OK;
}

static enum lks_code read_classes(const struct reader *r, const struct lks_doc *hardware,
                                  const struct lks_class_lookup *lookup)
{
    for (const struct lks_doc *item = hardware->first; item != NULL; item = item->next) {
        if (!TRY(r, read_class(r, hardware, item, lookup)))
            return r->err->code;
    }
    return LKS_OK;
}

static bool is_stated(const struct lks_stack *stack, const char *name)
{
    for (size_t i = 0; i < stack->component_count; i++) {
        if (lks_str_is(stack->components[i].name, name))
            return true;
    }
    return false;
}

const char *lks_stack_required(enum lks_vendor vendor, bool nvswitch, size_t index)
{
    for (size_t i = 0; i < LKS_COUNT(required_pins); i++) {
        bool applies =
            required_pins[i].vendor == vendor && (nvswitch || !required_pins[i].only_with_nvswitch);
        if (applies && index-- == 0)
            return required_pins[i].component;
    }
    return NULL;
}

static enum lks_code check_required(const struct reader *r, const struct lks_doc *doc)
{
    bool nvswitch = false;
    for (size_t i = 0; i < r->stack->class_count; i++)
        nvswitch = nvswitch || lks_class_has_nvswitch(r->stack->classes[i]);
    for (size_t i = 0; i < LKS_COUNT(required_pins); i++) {
        if (required_pins[i].vendor != r->stack->vendor ||
            (required_pins[i].only_with_nvswitch && !nvswitch) ||
            is_stated(r->stack, required_pins[i].component))
            continue;
        bool switches = required_pins[i].only_with_nvswitch;
        if (!TRY(r, RULE(r, lks_doc_member(doc, "components"),
                         "'%s' is not pinned%s; give its version, or say absent: REASON",
                         required_pins[i].component,
                         switches ? " and the hardware has NVSwitches" : "")))
            return r->err->code;
    }
    return LKS_OK;
}

enum lks_code lks_stack_parse(struct lks_docs *docs, const struct lks_doc *doc,
                              const struct lks_class_lookup *lookup, struct lks_stack *out,
                              struct lks_err *err)
{
    struct lks_stack stack = {
        .name = lks_doc_text(doc, "name"),
        .version = lks_doc_text(doc, "version"),
        .vendor =
            lks_str_is(lks_doc_text(doc, "vendor"), "amd") ? LKS_VENDOR_AMD : LKS_VENDOR_NVIDIA,
        .settings = lks_doc_member(doc, "settings"),
        .tuning = lks_doc_member(doc, "tuning"),
        .doc = doc,
    };
    struct reader r = {docs, lookup->facts, &stack, err};
    if (!TRY(&r, read_components(&r, doc)) ||
        !TRY(&r, read_classes(&r, lks_doc_member(doc, "hardware"), lookup)))
        return err->code;
    if (lks_doc_is_faulty(docs)) /* what is missing may be what could not be read */
        return LKS_OK;
    if (check_required(&r, doc) != LKS_OK ||
        read_windows(&r, lks_doc_member(doc, "windows")) != LKS_OK)
        return err->code;

    LKS_CLEANUP(lks_buf_fini) struct lks_buf canonical = LKS_BUF(LKS_DOC_BYTES_MAX);
    if (lks_stack_canonical(&stack, &canonical, err) != LKS_OK ||
        lks_digest_text(lks_buf_view(&canonical), stack.digest, err) != LKS_OK)
        return err->code;
    *out = stack;
    return LKS_OK;
}

enum lks_code lks_stack_canonical(const struct lks_stack *stack, struct lks_buf *out,
                                  struct lks_err *err)
{
    return lks_schema_identity(stack->doc, &lks_stack_form, out, err);
}

const struct lks_component *lks_stack_find(const struct lks_stack *stack, const char *name)
{
    for (size_t i = 0; i < stack->component_count; i++) {
        const struct lks_component *c = &stack->components[i];
        if (lks_str_is(c->name, name) && c->version.len > 0)
            return c;
    }
    return NULL;
}

struct lks_str lks_stack_version(const struct lks_stack *stack, const char *name)
{
    const struct lks_component *c = lks_stack_find(stack, name);
    return c != NULL ? c->version : (struct lks_str){"", 0};
}

bool lks_stack_is_for(const struct lks_stack *stack, struct lks_str class)
{
    for (size_t i = 0; i < stack->class_count; i++) {
        if (lks_str_eq(stack->classes[i]->name, class))
            return true;
    }
    return false;
}

const struct lks_doc *lks_stack_setting(const struct lks_stack *stack, const char *path)
{
    const struct lks_doc *at = stack->settings;
    struct lks_str rest = lks_str_from(path), step;
    while (at != NULL && rest.len > 0) {
        lks_str_cut(rest, '.', &step, &rest);
        const struct lks_doc *found = NULL;
        const struct lks_doc *first = at->kind == LKS_DOC_MAP ? at->first : NULL;
        for (const struct lks_doc *item = first; item != NULL; item = item->next) {
            if (lks_str_eq(item->key, step))
                found = item;
        }
        at = found;
    }
    return at;
}
