/* One thing of a value, changed. */
#include "tests/stacks_parts.h"

#include <stdio.h>

/* The first entry under `key` of the top that has `member`. */
static struct lks_doc *entry_with(const struct lks_docs *stack, const char *key, const char *member)
{
    struct lks_doc *entries = stack_find(stack->first, key);
    struct lks_doc *entry = entries != NULL ? entries->first : NULL;
    while (entry != NULL && stack_find(entry, member) == NULL)
        entry = entry->next;
    return entry;
}

static bool set_text(struct lks_docs *stack, struct lks_doc *map, const char *key, const char *text)
{
    struct lks_doc *member = stack_find(map, key);
    if (map == NULL || (member != NULL && lks_str_is(member->text, text)))
        return false;
    if (member == NULL)
        stack_put_quoted(stack, map, key, text);
    else
        member->text = lks_arena_copy(&stack->arena, lks_str_from(text));
    return true;
}

static bool drop(struct lks_doc *map, const char *key)
{
    struct lks_doc *member = stack_find(map, key);
    if (member != NULL)
        stack_take_out(map, member);
    return member != NULL;
}

/* One more number behind: newer than before, so that a window stays true. */
static bool raise_version(struct lks_docs *stack, struct lks_doc *pin)
{
    char text[160];
    struct lks_doc *version = stack_find(pin, "version");
    if (version == NULL)
        return false;
    snprintf(text, sizeof(text), "%" LKS_STR_FMT ".1", LKS_STR_ARG(version->text));
    version->text = lks_arena_copy(&stack->arena, lks_str_from(text));
    return true;
}

/* One more behind; a list of one has no order yet. */
static bool add_element(struct lks_docs *stack, struct lks_doc *map, const char *key,
                        const char *text)
{
    if (map == NULL)
        return false;
    struct lks_doc *list = stack_find(map, key);
    stack_put_quoted(stack, list != NULL ? list : stack_put(stack, map, key, LKS_DOC_LIST), "",
                     text);
    return true;
}

/* The first goes behind the last; false where that makes no difference. */
static bool rotate(struct lks_doc *list)
{
    struct lks_doc *first = list != NULL ? list->first : NULL;
    if (first == NULL || lks_str_eq(first->text, list->last->text))
        return false;
    list->first = first->next;
    list->last->next = first;
    list->last = first;
    first->next = NULL;
    return true;
}

static bool flip(struct lks_doc *doc)
{
    if (doc == NULL)
        return false;
    doc->truth = !doc->truth;
    doc->number++;
    return true;
}

#define DIGEST "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static bool change_component(struct lks_docs *s, unsigned change)
{
    struct lks_doc *pin = entry_with(s, "components", "version");
    struct lks_doc *built = entry_with(s, "components", "build");
    switch (change) {
    case 0:
        return raise_version(s, pin);
    case 1:
        return set_text(s, pin, "owner", "image");
    case 2:
        return drop(entry_with(s, "components", "owner"), "owner");
    case 3:
        return set_text(s, pin, "scope", "chassis");
    case 4:
        return built != NULL &&
               set_text(s, stack_find(built, "build"), "build_id", "00ff00ff00ff00ff");
    case 5:
        return drop(built, "build");
    case 6:
        return add_element(s, pin, "artifacts", DIGEST);
    case 7:
        return set_text(s, stack_put(s, stack_find(s->first, "components"), "podman", LKS_DOC_MAP),
                        "version", "5.1.0");
    case 8:
        return set_text(s, stack_put(s, stack_find(s->first, "components"), "podman", LKS_DOC_MAP),
                        "absent", "none");
    default:
        pin = stack_find(stack_find(s->first, "components"), "driver");
        return stack_find(pin, "version") != NULL && set_text(s, pin, "modules", "open");
    }
}

static bool change_firmware(struct lks_docs *s, unsigned change)
{
    struct lks_doc *pin = entry_with(s, "firmware", "version");
    struct lks_doc *list = stack_find(s->first, "firmware");
    switch (change) {
    case 10:
        return raise_version(s, pin);
    case 11:
        return set_text(s, pin, "banks", "ab");
    case 12:
        return set_text(s, pin, "part", "ANOTHER");
    case 13:
        if (list == NULL || list->count == 0)
            return false;
        stack_take_out(list, list->first);
        return true;
    default:
        list = list != NULL ? list : stack_put_set(s, s->first, "firmware");
        pin = stack_put(s, list, "", LKS_DOC_MAP);
        return set_text(s, pin, "class", "cpld") && set_text(s, pin, "version", "1");
    }
}

/* One class more, or the last of several gone. */
static bool change_hardware(struct lks_docs *s)
{
    struct lks_doc *hardware = stack_find(s->first, "hardware");
    if (!lks_str_is(stack_find(s->first, "vendor")->text, "amd"))
        return add_element(s, s->first, "hardware", "hgx-h200-8");
    bool first = lks_str_is(hardware->first->text, "mi300x-oam-8");
    if (hardware->count == 1)
        return add_element(s, s->first, "hardware", first ? "mi355x-oam-8" : "mi300x-oam-8");
    stack_take_out(hardware, hardware->last);
    return true;
}

static bool change_rest(struct lks_docs *s, unsigned change)
{
    struct lks_doc *settings = stack_find(s->first, "settings"),
                   *tuning = stack_find(s->first, "tuning");
    struct lks_doc *windows = stack_find(s->first, "windows");
    switch (change) {
    case 15:
        return windows != NULL &&
               stack_find(stack_find(stack_find(s->first, "components"), "kernel"), "version") &&
               set_text(s, windows, "kernel", ">=1");
    case 16:
        return drop(s->first, "windows");
    case 17:
        return change_hardware(s);
    case 18:
        return flip(stack_find(settings, "ecc"));
    case 19:
        return flip(stack_find(settings, "power_limit_w"));
    case 20:
        return add_element(s, settings, "kernel_cmdline", "nokaslr");
    case 21:
        return set_text(s, stack_find(tuning, "env"), "NCCL_ALGO", "NVLS");
    case 22:
        return stack_find(tuning, "table") != NULL &&
               set_text(s, stack_find(tuning, "table"), "digest", DIGEST);
    default:
        return drop(s->first, "tuning");
    }
}

/* Order, and what is easily overlooked. */
static bool change_more(struct lks_docs *s, unsigned change)
{
    struct lks_doc *settings = stack_find(s->first, "settings"), *nic = stack_find(settings, "nic");
    struct lks_doc *pin = entry_with(s, "firmware", "version");
    switch (change) {
    case 24:
        return rotate(stack_find(settings, "kernel_cmdline"));
    case 25:
        return rotate(stack_find(stack_find(settings, "mig"), "profiles"));
    case 26:
        return stack_find(pin, "scope") == NULL && set_text(s, pin, "scope", "node");
    case 27:
        return drop(entry_with(s, "firmware", "scope"), "scope");
    case 28:
        return set_text(s, stack_find(entry_with(s, "components", "build"), "build"), "srcversion",
                        "F0");
    case 29:
        return flip(stack_find(stack_find(nic, "options"), "PCI_WR_ORDERING"));
    case 30:
        return set_text(s, stack_find(settings, "bios"), "Boot Mode", "Uefi");
    case 31:
        return drop(settings, "kernel_cmdline");
    default:
        return set_text(s, pin, "side", "b");
    }
}

static const char *const change_names[LKS_TEST_CHANGES] = {
    "a version",        "an owner",          "the usual owner",
    "a scope",          "a build id",        "no build",
    "an artifact",      "a component",       "an absence",
    "modules",          "a firmware",        "banks",
    "a part",           "no such firmware",  "one more firmware",
    "a window",         "no windows",        "a hardware class",
    "a setting: truth", "a setting: number", "a setting: element",
    "an environment",   "a table",           "no tuning",
    "cmdline's order",  "profiles' order",   "the usual scope",
    "no scope said",    "a srcversion",      "a NIC's option",
    "a BIOS attribute", "no cmdline",        "a side",
};

const char *lks_test_change_name(unsigned change)
{
    LKS_ASSERT(change < LKS_TEST_CHANGES);
    return change_names[change];
}

bool lks_test_stack_change(struct lks_docs *stack, unsigned change)
{
    LKS_ASSERT(change < LKS_TEST_CHANGES);
    if (change < 10)
        return change_component(stack, change);
    if (change < 15)
        return change_firmware(stack, change);
    return change < 24 ? change_rest(stack, change) : change_more(stack, change);
}
