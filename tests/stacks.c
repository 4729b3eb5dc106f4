/* The value, and how one is made. */
#include "tests/stacks_parts.h"

#include <stdio.h>

struct lks_doc *stack_put(struct lks_docs *docs, struct lks_doc *parent, const char *key,
                          enum lks_doc_kind kind)
{
    struct lks_doc *doc = lks_doc_add(docs, parent, kind);
    LKS_ASSERT(doc != NULL);
    doc->key = lks_arena_copy(&docs->arena, lks_str_from(key));
    return doc;
}

struct lks_doc *stack_put_text(struct lks_docs *docs, struct lks_doc *parent, const char *key,
                               const char *text)
{
    struct lks_doc *doc = stack_put(docs, parent, key, LKS_DOC_TEXT);
    doc->text = lks_arena_copy(&docs->arena, lks_str_from(text));
    return doc;
}

void stack_put_quoted(struct lks_docs *docs, struct lks_doc *parent, const char *key,
                      const char *text)
{
    stack_put_text(docs, parent, key, text)->quoted = true;
}

void stack_put_number(struct lks_docs *docs, struct lks_doc *parent, const char *key, int64_t n)
{
    stack_put(docs, parent, key, LKS_DOC_NUMBER)->number = n;
}

void stack_put_bool(struct lks_docs *docs, struct lks_doc *parent, const char *key, bool truth)
{
    stack_put(docs, parent, key, LKS_DOC_BOOL)->truth = truth;
}

struct lks_doc *stack_put_set(struct lks_docs *docs, struct lks_doc *parent, const char *key)
{
    struct lks_doc *list = stack_put(docs, parent, key, LKS_DOC_LIST);
    list->truth = true;
    return list;
}

struct lks_doc *stack_find(const struct lks_doc *map, const char *key)
{
    struct lks_doc *child = map != NULL ? map->first : NULL;
    while (child != NULL && !lks_str_is(child->key, key))
        child = child->next;
    return child;
}

void stack_take_out(struct lks_doc *parent, const struct lks_doc *doc)
{
    struct lks_doc *before = NULL;
    for (struct lks_doc *d = parent->first; d != doc; d = d->next)
        before = d;
    *(before != NULL ? &before->next : &parent->first) = doc->next;
    if (parent->last == doc)
        parent->last = before;
    parent->count--;
}

struct maker {
    struct lks_docs *docs;
    struct lks_rng rng;
    bool amd;
};

static bool chance(struct maker *m, unsigned percent)
{
    return lks_rng_percent(&m->rng, percent);
}

static const char *pick(struct maker *m, const char *const *words)
{
    size_t count = 0;
    while (words[count] != NULL)
        count++;
    return words[lks_rng_below(&m->rng, count)];
}
#define PICK(m, ...) pick((m), (const char *const[]){__VA_ARGS__, NULL})

static void put_hex(struct maker *m, struct lks_doc *parent, const char *key, const char *prefix,
                    int digits)
{
    char text[80];
    int len = snprintf(text, sizeof(text), "%s", prefix);
    for (int i = 0; i < digits; i++)
        text[len++] = "0123456789abcdef"[lks_rng_below(&m->rng, 16)];
    text[len] = '\0';
    stack_put_quoted(m->docs, parent, key, text);
}

static void put_identity(struct maker *m, struct lks_doc *pin)
{
    if (chance(m, 30)) {
        struct lks_doc *build = stack_put(m->docs, pin, "build", LKS_DOC_MAP);
        put_hex(m, build, "build_id", "", 40);
        if (chance(m, 50))
            stack_put_text(m->docs, build, "srcversion", "A1B2C3");
    }
    if (chance(m, 30)) {
        struct lks_doc *artifacts = stack_put_set(m->docs, pin, "artifacts");
        for (uint64_t n = 1 + lks_rng_below(&m->rng, 3); n > 0; n--)
            put_hex(m, artifacts, "", "sha256:", 64);
    }
}

static const struct {
    const char *name;
    bool nvidia, amd, required;
    const char *versions[3];
} softwares[] = {
    {"kernel", true, true, true, {"6.8.0-45-generic", "5.15.0-91", "6.1.0"}},
    {"driver", true, false, true, {"580.95.05", "570.133.20", "535.161.08"}},
    {"cuda", true, false, true, {"13.0", "12.4.1", "12.10"}},
    {"nccl", true, false, true, {"2.27.7", "2.18.5", "2.20"}},
    {"container-toolkit", true, false, true, {"1.18.0", "1.17.8", "1.9"}},
    {"fabric-manager", true, false, true, {"580.95.05", "570.133.20", "535.161.08"}},
    {"amdgpu", false, true, true, {"6.12.12", "6.10.5", "30.10"}},
    {"rocm", false, true, true, {"6.4.1", "7.0.2", "6.2"}},
    {"rccl", false, true, true, {"2.22.3", "2.21.5", "2.20"}},
    {"dcgm", true, false, false, {"1:3.3.9", "4.4.2-1", "3.1.8"}},
    {"slurmd", true, true, false, {"24.05.3", "23.11.10", "25.05"}},
    {"containerd", true, true, false, {"1.7.27", "2.0.5", "1.6.0"}},
    {"site-agent", true, true, false, {"7", "v1.10", "24.10-3"}},
};

static void put_softwares(struct maker *m, struct lks_doc *top)
{
    struct lks_doc *components = stack_put(m->docs, top, "components", LKS_DOC_MAP);
    for (size_t i = 0; i < LKS_COUNT(softwares); i++) {
        if (!(m->amd ? softwares[i].amd : softwares[i].nvidia) ||
            (!softwares[i].required && chance(m, 50)))
            continue;
        struct lks_doc *pin = stack_put(m->docs, components, softwares[i].name, LKS_DOC_MAP);
        if (chance(m, 10)) {
            stack_put_text(m->docs, pin, "absent", "not used here");
            continue;
        }
        stack_put_quoted(m->docs, pin, "version", softwares[i].versions[lks_rng_below(&m->rng, 3)]);
        put_identity(m, pin);
        if (chance(m, 30))
            stack_put_text(m->docs, pin, "scope", PICK(m, "chassis", "domain", "site"));
        if (chance(m, 30))
            stack_put_text(m->docs, pin, "owner", PICK(m, "image", "gpu-operator", "external"));
        if (lks_str_is(pin->key, "driver") && chance(m, 50))
            stack_put_text(m->docs, pin, "modules", PICK(m, "open", "proprietary"));
    }
}

static void put_firmware(struct maker *m, struct lks_doc *top)
{
    static const char *const classes[] = {"bmc", "bios", "nic", "psu", "ssd-backplane"};
    if (chance(m, 30))
        return;
    struct lks_doc *list = stack_put_set(m->docs, top, "firmware");
    for (size_t i = 0; i < LKS_COUNT(classes); i++) {
        if (chance(m, 50))
            continue;
        struct lks_doc *pin = stack_put(m->docs, list, "", LKS_DOC_MAP);
        stack_put_text(m->docs, pin, "class", classes[i]);
        if (chance(m, 40))
            stack_put_text(m->docs, pin, "part", PICK(m, "MCX75310AAS-NEAT", "PN 1", "x"));
        if (chance(m, 20))
            stack_put_text(m->docs, pin, "side", PICK(m, "a", "b"));
        if (chance(m, 10)) {
            stack_put_text(m->docs, pin, "absent", "not used here");
            continue;
        }
        stack_put_quoted(m->docs, pin, "version", PICK(m, "24.10-3", "28.39.2048", "U8X", "1.0"));
        put_identity(m, pin);
        if (chance(m, 30)) /* every one counts: what is usual depends on the class */
            stack_put_text(m->docs, pin, "scope", PICK(m, "node", "chassis", "domain", "site"));
        if (chance(m, 30))
            stack_put_text(m->docs, pin, "owner", "external");
        if (chance(m, 30))
            stack_put_text(m->docs, pin, "transport", PICK(m, "redfish", "pldm", "in-band"));
        if (chance(m, 30))
            stack_put_text(m->docs, pin, "banks", PICK(m, "single", "ab"));
        if (chance(m, 30))
            stack_put_text(m->docs, pin, "revert", PICK(m, "revertible", "one-way"));
    }
}

static void put_windows(struct maker *m, struct lks_doc *top)
{
    struct lks_doc *windows = NULL;
    for (struct lks_doc *pin = stack_find(top, "components")->first; pin != NULL; pin = pin->next) {
        const struct lks_doc *version = stack_find(pin, "version");
        if (version == NULL || chance(m, 70))
            continue;
        if (windows == NULL)
            windows = stack_put(m->docs, top, "windows", LKS_DOC_MAP);
        char range[160];
        snprintf(range, sizeof(range), ">=%" LKS_STR_FMT, LKS_STR_ARG(version->text));
        struct lks_doc *window = stack_put_text(m->docs, windows, "", range);
        window->key = pin->key;
        window->quoted = true;
    }
}

static void put_nic(struct maker *m, struct lks_doc *settings)
{
    struct lks_doc *nic = stack_put(m->docs, settings, "nic", LKS_DOC_MAP);
    stack_put_text(m->docs, nic, "link_type", PICK(m, "ethernet", "infiniband"));
    struct lks_doc *pfc = stack_put_set(m->docs, nic, "pfc");
    for (int64_t priority = 0; priority < 8; priority++) {
        if (chance(m, 30))
            stack_put_number(m->docs, pfc, "", priority);
    }
    struct lks_doc *options = stack_put(m->docs, nic, "options", LKS_DOC_MAP);
    stack_put_number(m->docs, options, "PCI_WR_ORDERING", (int64_t)lks_rng_below(&m->rng, 3));
    stack_put_text(m->docs, options, "ATS_ENABLED", "on");
    stack_put_bool(m->docs, options, "ROCE_ADAPTIVE_ROUTING_EN", chance(m, 50));
}

static void put_settings(struct maker *m, struct lks_doc *top)
{
    if (chance(m, 25))
        return;
    struct lks_doc *settings = stack_put(m->docs, top, "settings", LKS_DOC_MAP);
    stack_put_bool(m->docs, settings, "ecc", chance(m, 80));
    if (chance(m, 50))
        stack_put_number(m->docs, settings, "power_limit_w",
                         (int64_t)(300 + lks_rng_below(&m->rng, 900)));
    if (chance(m, 40)) {
        struct lks_doc *mig = stack_put(m->docs, settings, "mig", LKS_DOC_MAP);
        stack_put_text(m->docs, mig, "mode", "enabled");
        struct lks_doc *profiles = stack_put(m->docs, mig, "profiles", LKS_DOC_LIST);
        for (uint64_t n = lks_rng_below(&m->rng, 6); n > 0; n--)
            stack_put_text(m->docs, profiles, "", PICK(m, "1g.10gb", "3g.40gb"));
    }
    if (chance(m, 50)) {
        struct lks_doc *cmdline = stack_put(m->docs, settings, "kernel_cmdline", LKS_DOC_LIST);
        stack_put_text(m->docs, cmdline, "", "iommu=pt");
        if (chance(m, 50))
            stack_put_text(m->docs, cmdline, "", "pci=realloc=off");
        stack_put_text(m->docs, cmdline, "", PICK(m, "quiet", "numa_balancing=disable"));
    }
    if (chance(m, 50))
        put_nic(m, settings);
    if (chance(m, 30)) {
        struct lks_doc *bios = stack_put(m->docs, settings, "bios", LKS_DOC_MAP);
        stack_put_text(m->docs, bios, "SR-IOV Support",
                       PICK(m, "Enabled", "Disabled", "caf\xc3\xa9"));
        stack_put_number(m->docs, bios, "NPS", 1);
    }
}

static void put_tuning(struct maker *m, struct lks_doc *top)
{
    if (chance(m, 40))
        return;
    struct lks_doc *tuning = stack_put(m->docs, top, "tuning", LKS_DOC_MAP);
    struct lks_doc *env = stack_put(m->docs, tuning, "env", LKS_DOC_MAP);
    stack_put_quoted(m->docs, env, "NCCL_IB_QPS_PER_CONNECTION", PICK(m, "1", "2", "4"));
    if (chance(m, 50))
        stack_put_text(m->docs, env, "NCCL_ALGO", PICK(m, "Ring", "Tree", "no"));
    if (chance(m, 50))
        put_hex(m, stack_put(m->docs, tuning, "table", LKS_DOC_MAP), "digest", "sha256:", 64);
}

static void put_hardware(struct maker *m, struct lks_doc *top)
{
    static const char *const classes[2][4] = {
        {"hgx-h100-8", "hgx-b200-8", "gb200-nvl72-tray", "l40s-pcie-8"},
        {"mi300x-oam-8", "mi355x-oam-8"},
    };
    struct lks_doc *hardware = stack_put_set(m->docs, top, "hardware");
    for (size_t i = 0; i < 4 && classes[m->amd][i] != NULL; i++) {
        if (chance(m, 50))
            stack_put_text(m->docs, hardware, "", classes[m->amd][i]);
    }
    if (hardware->count == 0)
        stack_put_text(m->docs, hardware, "", classes[m->amd][0]);
}

void lks_test_stack_make(uint64_t seed, struct lks_docs *out)
{
    struct lks_err err = {0};
    LKS_ASSERT(lks_docs_init(out, "made", &err) == LKS_OK);
    struct maker m = {.docs = out, .rng = {seed}};
    m.amd = chance(&m, 30);
    struct lks_doc *top = stack_put(out, NULL, "", LKS_DOC_MAP);
    stack_put_text(out, top, "vendor", m.amd ? "amd" : "nvidia");
    put_hardware(&m, top);
    put_softwares(&m, top);
    put_firmware(&m, top);
    put_windows(&m, top);
    put_settings(&m, top);
    put_tuning(&m, top);
}
