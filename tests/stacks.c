#include "tests/stacks.h"

#include <stdarg.h>
#include <stdio.h>

/* The value: documents as the codecs have them. In a text `quoted` says that it needs quotes, in a
 * list `truth` says that its order means nothing. ------------------------------------------- */

static struct lks_doc *put(struct lks_docs *docs, struct lks_doc *parent, const char *key,
                           enum lks_doc_kind kind)
{
    struct lks_doc *doc = lks_doc_add(docs, parent, kind);
    LKS_ASSERT(doc != NULL);
    doc->key = lks_arena_copy(&docs->arena, lks_str_from(key));
    return doc;
}

static struct lks_doc *put_text(struct lks_docs *docs, struct lks_doc *parent, const char *key,
                                const char *text)
{
    struct lks_doc *doc = put(docs, parent, key, LKS_DOC_TEXT);
    doc->text = lks_arena_copy(&docs->arena, lks_str_from(text));
    return doc;
}

static void put_quoted(struct lks_docs *docs, struct lks_doc *parent, const char *key,
                       const char *text)
{
    put_text(docs, parent, key, text)->quoted = true;
}

static void put_number(struct lks_docs *docs, struct lks_doc *parent, const char *key, int64_t n)
{
    put(docs, parent, key, LKS_DOC_NUMBER)->number = n;
}

static void put_bool(struct lks_docs *docs, struct lks_doc *parent, const char *key, bool truth)
{
    put(docs, parent, key, LKS_DOC_BOOL)->truth = truth;
}

static struct lks_doc *put_set(struct lks_docs *docs, struct lks_doc *parent, const char *key)
{
    struct lks_doc *list = put(docs, parent, key, LKS_DOC_LIST);
    list->truth = true;
    return list;
}

static struct lks_doc *find(const struct lks_doc *map, const char *key)
{
    struct lks_doc *child = map != NULL ? map->first : NULL;
    while (child != NULL && !lks_str_is(child->key, key))
        child = child->next;
    return child;
}

static void take_out(struct lks_doc *parent, const struct lks_doc *doc)
{
    struct lks_doc *before = NULL;
    for (struct lks_doc *d = parent->first; d != doc; d = d->next)
        before = d;
    *(before != NULL ? &before->next : &parent->first) = doc->next;
    if (parent->last == doc)
        parent->last = before;
    parent->count--;
}

/* Making ------------------------------------------------------------------------------------ */

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
    put_quoted(m->docs, parent, key, text);
}

static void put_identity(struct maker *m, struct lks_doc *pin)
{
    if (chance(m, 30)) {
        struct lks_doc *build = put(m->docs, pin, "build", LKS_DOC_MAP);
        put_hex(m, build, "build_id", "", 40);
        if (chance(m, 50))
            put_text(m->docs, build, "srcversion", "A1B2C3");
    }
    if (chance(m, 30)) {
        struct lks_doc *artifacts = put_set(m->docs, pin, "artifacts");
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
    struct lks_doc *components = put(m->docs, top, "components", LKS_DOC_MAP);
    for (size_t i = 0; i < LKS_COUNT(softwares); i++) {
        if (!(m->amd ? softwares[i].amd : softwares[i].nvidia) ||
            (!softwares[i].required && chance(m, 50)))
            continue;
        struct lks_doc *pin = put(m->docs, components, softwares[i].name, LKS_DOC_MAP);
        if (chance(m, 10)) {
            put_text(m->docs, pin, "absent", "not used here");
            continue;
        }
        put_quoted(m->docs, pin, "version", softwares[i].versions[lks_rng_below(&m->rng, 3)]);
        put_identity(m, pin);
        if (chance(m, 30))
            put_text(m->docs, pin, "scope", PICK(m, "chassis", "domain", "site"));
        if (chance(m, 30))
            put_text(m->docs, pin, "owner", PICK(m, "image", "gpu-operator", "external"));
        if (lks_str_is(pin->key, "driver") && chance(m, 50))
            put_text(m->docs, pin, "modules", PICK(m, "open", "proprietary"));
    }
}

static void put_firmware(struct maker *m, struct lks_doc *top)
{
    static const char *const classes[] = {"bmc", "bios", "nic", "psu", "ssd-backplane"};
    if (chance(m, 30))
        return;
    struct lks_doc *list = put_set(m->docs, top, "firmware");
    for (size_t i = 0; i < LKS_COUNT(classes); i++) {
        if (chance(m, 50))
            continue;
        struct lks_doc *pin = put(m->docs, list, "", LKS_DOC_MAP);
        put_text(m->docs, pin, "class", classes[i]);
        if (chance(m, 40))
            put_text(m->docs, pin, "part", PICK(m, "MCX75310AAS-NEAT", "PN 1", "x"));
        if (chance(m, 20))
            put_text(m->docs, pin, "side", PICK(m, "a", "b"));
        if (chance(m, 10)) {
            put_text(m->docs, pin, "absent", "not used here");
            continue;
        }
        put_quoted(m->docs, pin, "version", PICK(m, "24.10-3", "28.39.2048", "U8X", "1.0"));
        put_identity(m, pin);
        if (chance(m, 30)) /* every one counts: what is usual depends on the class */
            put_text(m->docs, pin, "scope", PICK(m, "node", "chassis", "domain", "site"));
        if (chance(m, 30))
            put_text(m->docs, pin, "owner", "external");
        if (chance(m, 30))
            put_text(m->docs, pin, "transport", PICK(m, "redfish", "pldm", "in-band"));
        if (chance(m, 30))
            put_text(m->docs, pin, "banks", PICK(m, "single", "ab"));
        if (chance(m, 30))
            put_text(m->docs, pin, "revert", PICK(m, "revertible", "one-way"));
    }
}

static void put_windows(struct maker *m, struct lks_doc *top)
{
    struct lks_doc *windows = NULL;
    for (struct lks_doc *pin = find(top, "components")->first; pin != NULL; pin = pin->next) {
        const struct lks_doc *version = find(pin, "version");
        if (version == NULL || chance(m, 70))
            continue;
        if (windows == NULL)
            windows = put(m->docs, top, "windows", LKS_DOC_MAP);
        char range[160];
        snprintf(range, sizeof(range), ">=%" LKS_STR_FMT, LKS_STR_ARG(version->text));
        struct lks_doc *window = put_text(m->docs, windows, "", range);
        window->key = pin->key;
        window->quoted = true;
    }
}

static void put_nic(struct maker *m, struct lks_doc *settings)
{
    struct lks_doc *nic = put(m->docs, settings, "nic", LKS_DOC_MAP);
    put_text(m->docs, nic, "link_type", PICK(m, "ethernet", "infiniband"));
    struct lks_doc *pfc = put_set(m->docs, nic, "pfc");
    for (int64_t priority = 0; priority < 8; priority++) {
        if (chance(m, 30))
            put_number(m->docs, pfc, "", priority);
    }
    struct lks_doc *options = put(m->docs, nic, "options", LKS_DOC_MAP);
    put_number(m->docs, options, "PCI_WR_ORDERING", (int64_t)lks_rng_below(&m->rng, 3));
    put_text(m->docs, options, "ATS_ENABLED", "on");
    put_bool(m->docs, options, "ROCE_ADAPTIVE_ROUTING_EN", chance(m, 50));
}

static void put_settings(struct maker *m, struct lks_doc *top)
{
    if (chance(m, 25))
        return;
    struct lks_doc *settings = put(m->docs, top, "settings", LKS_DOC_MAP);
    put_bool(m->docs, settings, "ecc", chance(m, 80));
    if (chance(m, 50))
        put_number(m->docs, settings, "power_limit_w",
                   (int64_t)(300 + lks_rng_below(&m->rng, 900)));
    if (chance(m, 40)) {
        struct lks_doc *mig = put(m->docs, settings, "mig", LKS_DOC_MAP);
        put_text(m->docs, mig, "mode", "enabled");
        struct lks_doc *profiles = put(m->docs, mig, "profiles", LKS_DOC_LIST);
        for (uint64_t n = lks_rng_below(&m->rng, 6); n > 0; n--)
            put_text(m->docs, profiles, "", PICK(m, "1g.10gb", "3g.40gb"));
    }
    if (chance(m, 50)) {
        struct lks_doc *cmdline = put(m->docs, settings, "kernel_cmdline", LKS_DOC_LIST);
        put_text(m->docs, cmdline, "", "iommu=pt");
        if (chance(m, 50))
            put_text(m->docs, cmdline, "", "pci=realloc=off");
        put_text(m->docs, cmdline, "", PICK(m, "quiet", "numa_balancing=disable"));
    }
    if (chance(m, 50))
        put_nic(m, settings);
    if (chance(m, 30)) {
        struct lks_doc *bios = put(m->docs, settings, "bios", LKS_DOC_MAP);
        put_text(m->docs, bios, "SR-IOV Support", PICK(m, "Enabled", "Disabled", "caf\xc3\xa9"));
        put_number(m->docs, bios, "NPS", 1);
    }
}

static void put_tuning(struct maker *m, struct lks_doc *top)
{
    if (chance(m, 40))
        return;
    struct lks_doc *tuning = put(m->docs, top, "tuning", LKS_DOC_MAP);
    struct lks_doc *env = put(m->docs, tuning, "env", LKS_DOC_MAP);
    put_quoted(m->docs, env, "NCCL_IB_QPS_PER_CONNECTION", PICK(m, "1", "2", "4"));
    if (chance(m, 50))
        put_text(m->docs, env, "NCCL_ALGO", PICK(m, "Ring", "Tree", "no"));
    if (chance(m, 50))
        put_hex(m, put(m->docs, tuning, "table", LKS_DOC_MAP), "digest", "sha256:", 64);
}

static void put_hardware(struct maker *m, struct lks_doc *top)
{
    static const char *const classes[2][4] = {
        {"hgx-h100-8", "hgx-b200-8", "gb200-nvl72-tray", "l40s-pcie-8"},
        {"mi300x-oam-8", "mi355x-oam-8"},
    };
    struct lks_doc *hardware = put_set(m->docs, top, "hardware");
    for (size_t i = 0; i < 4 && classes[m->amd][i] != NULL; i++) {
        if (chance(m, 50))
            put_text(m->docs, hardware, "", classes[m->amd][i]);
    }
    if (hardware->count == 0)
        put_text(m->docs, hardware, "", classes[m->amd][0]);
}

void lks_test_stack_make(uint64_t seed, struct lks_docs *out)
{
    struct lks_err err = {0};
    LKS_ASSERT(lks_docs_init(out, "made", &err) == LKS_OK);
    struct maker m = {.docs = out, .rng = {seed}};
    m.amd = chance(&m, 30);
    struct lks_doc *top = put(out, NULL, "", LKS_DOC_MAP);
    put_text(out, top, "vendor", m.amd ? "amd" : "nvidia");
    put_hardware(&m, top);
    put_softwares(&m, top);
    put_firmware(&m, top);
    put_windows(&m, top);
    put_settings(&m, top);
    put_tuning(&m, top);
}

/* Spelling ---------------------------------------------------------------------------------- */

enum { MEMBERS_MAX = 64 };

struct speller {
    struct lks_rng *rng;
    struct lks_buf *out;
    struct lks_docs extra; /* what is added to the value without meaning anything */
    bool json;
    int indent;
};

static bool maybe(struct speller *s, unsigned percent)
{
    return lks_rng_percent(s->rng, percent);
}

static void put_note(struct speller *s, struct lks_doc *parent, const char *key, unsigned percent)
{
    static const char *const notes[] = {
        "tested", "see the wiki: page 7",   "# no comment", "it's", "on",
        "12.10",  "caf\xc3\xa9 \"quoted\"", "a\\b"};
    if (maybe(s, percent))
        put_quoted(&s->extra, parent, key, notes[lks_rng_below(s->rng, LKS_COUNT(notes))]);
}

static struct lks_doc *clone(struct speller *s, struct lks_doc *parent, const struct lks_doc *doc)
{
    struct lks_doc *copy = lks_doc_add(&s->extra, parent, doc->kind);
    LKS_ASSERT(copy != NULL);
    copy->key = doc->key;
    copy->text = doc->text;
    copy->quoted = doc->quoted;
    copy->truth = doc->truth;
    copy->number = doc->number;
    for (const struct lks_doc *child = doc->first; child != NULL; child = child->next)
        clone(s, copy, child);
    return copy;
}

/* What an entry can say without saying anything. */
static void decorate_pin(struct speller *s, struct lks_doc *pin, bool software)
{
    put_note(s, pin, "note", 30);
    struct lks_doc *absent = find(pin, "absent");
    if (absent != NULL) {
        take_out(pin, absent);
        put_note(s, pin, "absent", 100);
        return;
    }
    if (software && find(pin, "scope") == NULL && maybe(s, 30))
        put_text(&s->extra, pin, "scope", "node");
    if (find(pin, "owner") == NULL && maybe(s, 30))
        put_text(&s->extra, pin, "owner", software ? "package" : "bundle");
    if (find(pin, "build") == NULL && maybe(s, 20))
        put(&s->extra, pin, "build", LKS_DOC_MAP);
    struct lks_doc *artifacts = find(pin, "artifacts");
    if (artifacts != NULL && maybe(s, 30)) /* a set holds each thing once */
        clone(s, artifacts, artifacts->first);
}

static void decorate_maps(struct speller *s, struct lks_doc *top)
{
    static const char *const empties[] = {"windows", "settings", "tuning"};
    for (size_t i = 0; i < LKS_COUNT(empties); i++) {
        if (find(top, empties[i]) == NULL && maybe(s, 30))
            put(&s->extra, top, empties[i], LKS_DOC_MAP);
    }
    if (find(top, "firmware") == NULL && maybe(s, 30))
        put_set(&s->extra, top, "firmware");
    struct lks_doc *settings = find(top, "settings"), *tuning = find(top, "tuning");
    static const char *const groups[] = {"clocks", "partition", "nic", "bios", "other"};
    for (size_t i = 0; settings != NULL && i < LKS_COUNT(groups); i++) {
        if (find(settings, groups[i]) == NULL && maybe(s, 20))
            put(&s->extra, settings, groups[i], LKS_DOC_MAP);
    }
    struct lks_doc *nic = find(settings, "nic");
    if (nic != NULL && nic->count == 0 && maybe(s, 50))
        put(&s->extra, nic, "options", LKS_DOC_MAP);
    if (tuning != NULL && find(tuning, "env") == NULL && maybe(s, 30))
        put(&s->extra, tuning, "env", LKS_DOC_MAP);
    struct lks_doc *table = find(tuning, "table");
    if (table != NULL)
        put_note(s, table, "name", 50);
}

static void decorate(struct speller *s, struct lks_doc *top)
{
    put_number(&s->extra, top, "lockstep", 1);
    put_text(&s->extra, top, "kind", "Stack");
    put_text(&s->extra, top, "name", maybe(s, 50) ? "gold" : "silver-7");
    put_quoted(&s->extra, top, "version", maybe(s, 50) ? "1" : "2026.10");
    put_note(s, top, "description", 50);
    struct lks_doc *evidence = maybe(s, 50) ? put(&s->extra, top, "evidence", LKS_DOC_LIST) : NULL;
    for (uint64_t n = lks_rng_below(s->rng, 3); n > 0 && evidence != NULL; n--) {
        struct lks_doc *item = put(&s->extra, evidence, "", LKS_DOC_MAP);
        put_note(s, item, "what", 100);
        put_note(s, item, "by", 50);
        if (maybe(s, 50))
            put_quoted(&s->extra, item, "date", maybe(s, 50) ? "2026-11-15" : "2026-10");
        put_quoted(&s->extra, item, "url", "https://wiki.example.com/stacks/7");
    }
    for (struct lks_doc *pin = find(top, "components")->first; pin != NULL; pin = pin->next)
        decorate_pin(s, pin, true);
    struct lks_doc *firmware = find(top, "firmware");
    for (struct lks_doc *pin = firmware != NULL ? firmware->first : NULL; pin != NULL;
         pin = pin->next)
        decorate_pin(s, pin, false);
    decorate_maps(s, top);
}

/* The children of `doc`, in another order where order means nothing. */
static size_t children(struct speller *s, const struct lks_doc *doc, const struct lks_doc **out)
{
    size_t n = 0;
    for (const struct lks_doc *child = doc->first; child != NULL; child = child->next) {
        LKS_ASSERT(n < MEMBERS_MAX);
        out[n++] = child;
    }
    bool free_order = doc->kind == LKS_DOC_MAP || doc->truth;
    for (size_t i = n; free_order && i > 1; i--) {
        size_t j = (size_t)lks_rng_below(s->rng, i);
        const struct lks_doc *swap = out[i - 1];
        out[i - 1] = out[j];
        out[j] = swap;
    }
    return n;
}

static bool is_plain(struct lks_str text)
{
    bool letter = text.len > 3 && text.ptr[0] >= 'a' && text.ptr[0] <= 'z';
    for (size_t i = 0; i < text.len; i++)
        letter = letter && strchr("abcdefghijklmnopqrstuvwxyz0123456789-_", text.ptr[i]) != NULL;
    return letter && !lks_str_is(text, "true") && !lks_str_is(text, "false") &&
           !lks_str_is(text, "null");
}

static void put_double(struct speller *s, struct lks_str text)
{
    lks_buf_addc(s->out, '"');
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '"' || c == '\\')
            lks_buf_addf(s->out, "\\%c", c);
        else if ((unsigned char)c < 0x80 && maybe(s, 3))
            lks_buf_addf(s->out, "\\u%04x", (unsigned)c);
        else
            lks_buf_addc(s->out, c);
    }
    lks_buf_addc(s->out, '"');
}

static void put_string(struct speller *s, struct lks_str text, bool quotes)
{
    uint64_t style = s->json ? 0 : lks_rng_below(s->rng, 3);
    if (style == 2 && !quotes && is_plain(text)) {
        lks_buf_add(s->out, text);
    } else if (style == 1) {
        lks_buf_addc(s->out, '\'');
        for (size_t i = 0; i < text.len; i++)
            lks_buf_pad(s->out, text.ptr[i], text.ptr[i] == '\'' ? 2 : 1);
        lks_buf_addc(s->out, '\'');
    } else {
        put_double(s, text);
    }
}

static void put_scalar(struct speller *s, const struct lks_doc *doc)
{
    if (doc->kind == LKS_DOC_TEXT)
        put_string(s, doc->text, doc->quoted);
    else if (doc->kind == LKS_DOC_NUMBER)
        lks_buf_addf(s->out, "%lld", (long long)doc->number);
    else
        lks_buf_add(s->out, doc->truth ? LKS_STR("true") : LKS_STR("false"));
}

static void put_flow(struct speller *s, const struct lks_doc *doc)
{
    if (doc->kind != LKS_DOC_MAP && doc->kind != LKS_DOC_LIST) {
        put_scalar(s, doc);
        return;
    }
    const struct lks_doc *order[MEMBERS_MAX];
    size_t n = children(s, doc, order);
    lks_buf_addc(s->out, doc->kind == LKS_DOC_MAP ? '{' : '[');
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            lks_buf_add(s->out, maybe(s, 10) ? LKS_STR(",\n                  ") : LKS_STR(", "));
        if (doc->kind == LKS_DOC_MAP) {
            put_string(s, order[i]->key, false);
            lks_buf_add(s->out, LKS_STR(": "));
        }
        put_flow(s, order[i]);
    }
    lks_buf_addc(s->out, doc->kind == LKS_DOC_MAP ? '}' : ']');
}

static void put_remark(struct speller *s, int column)
{
    if (maybe(s, 10))
        lks_buf_addc(s->out, '\n');
    if (maybe(s, 10)) {
        lks_buf_pad(s->out, ' ', column);
        lks_buf_add(s->out, LKS_STR("# key: 'value' [and so on\n"));
    }
}

/* The value behind "key:" or "-", in flow or as a block further in. */
static void put_block(struct speller *s, const struct lks_doc *doc, int column)
{
    bool nested = (doc->kind == LKS_DOC_MAP || doc->kind == LKS_DOC_LIST) && doc->count > 0;
    if (!nested || maybe(s, 30)) {
        lks_buf_addc(s->out, ' ');
        put_flow(s, doc);
        lks_buf_add(s->out, maybe(s, 10) ? LKS_STR("  # remark\n") : LKS_STR("\n"));
        return;
    }
    lks_buf_add(s->out, maybe(s, 10) ? LKS_STR(" # remark\n") : LKS_STR("\n"));
    const struct lks_doc *order[MEMBERS_MAX];
    size_t n = children(s, doc, order);
    for (size_t i = 0; i < n; i++) {
        put_remark(s, column);
        lks_buf_pad(s->out, ' ', column);
        if (doc->kind == LKS_DOC_MAP) {
            put_string(s, order[i]->key, false);
            lks_buf_addc(s->out, ':');
        } else {
            lks_buf_addc(s->out, '-');
        }
        put_block(s, order[i], column + s->indent);
    }
}

static void add_returns(struct lks_buf *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf plain = *out;
    lks_buf_init(out, plain.max);
    for (size_t i = 0; i < plain.len; i++) {
        if (plain.ptr[i] == '\n')
            lks_buf_addc(out, '\r');
        lks_buf_addc(out, plain.ptr[i]);
    }
}

void lks_test_stack_spell(const struct lks_docs *stack, struct lks_rng *rng, struct lks_buf *out)
{
    struct lks_err err = {0};
    LKS_CLEANUP(lks_docs_fini) struct lks_docs extra = {0};
    LKS_ASSERT(lks_docs_init(&extra, "spelled", &err) == LKS_OK);
    lks_buf_init(out, 1024 * 1024);
    struct speller s = {.rng = rng, .out = out, .extra = extra};
    s.json = maybe(&s, 20);
    s.indent = 1 + (int)lks_rng_below(rng, 6);
    struct lks_doc *top = clone(&s, NULL, stack->first);
    decorate(&s, top);
    if (s.json) {
        put_flow(&s, top);
    } else {
        lks_buf_add(out, LKS_STR("# a stack\n---"));
        put_block(&s, top, 0);
        lks_buf_add(out, maybe(&s, 20) ? LKS_STR("...\n") : LKS_STR(""));
    }
    if (maybe(&s, 20))
        add_returns(out);
    extra = s.extra;
    LKS_ASSERT(lks_buf_check(out, &err) == LKS_OK);
}

/* Changing ---------------------------------------------------------------------------------- */

/* The first entry under `key` of the top that has `member`. */
static struct lks_doc *entry_with(const struct lks_docs *stack, const char *key, const char *member)
{
    struct lks_doc *entries = find(stack->first, key);
    struct lks_doc *entry = entries != NULL ? entries->first : NULL;
    while (entry != NULL && find(entry, member) == NULL)
        entry = entry->next;
    return entry;
}

static bool set_text(struct lks_docs *stack, struct lks_doc *map, const char *key, const char *text)
{
    struct lks_doc *member = find(map, key);
    if (map == NULL || (member != NULL && lks_str_is(member->text, text)))
        return false;
    if (member == NULL)
        put_quoted(stack, map, key, text);
    else
        member->text = lks_arena_copy(&stack->arena, lks_str_from(text));
    return true;
}

static bool drop(struct lks_doc *map, const char *key)
{
    struct lks_doc *member = find(map, key);
    if (member != NULL)
        take_out(map, member);
    return member != NULL;
}

/* One more number behind: newer than before, so that a window stays true. */
static bool raise_version(struct lks_docs *stack, struct lks_doc *pin)
{
    char text[160];
    struct lks_doc *version = find(pin, "version");
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
    struct lks_doc *list = find(map, key);
    put_quoted(stack, list != NULL ? list : put(stack, map, key, LKS_DOC_LIST), "", text);
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
        return built != NULL && set_text(s, find(built, "build"), "build_id", "00ff00ff00ff00ff");
    case 5:
        return drop(built, "build");
    case 6:
        return add_element(s, pin, "artifacts", DIGEST);
    case 7:
        return set_text(s, put(s, find(s->first, "components"), "podman", LKS_DOC_MAP), "version",
                        "5.1.0");
    case 8:
        return set_text(s, put(s, find(s->first, "components"), "podman", LKS_DOC_MAP), "absent",
                        "none");
    default:
        pin = find(find(s->first, "components"), "driver");
        return find(pin, "version") != NULL && set_text(s, pin, "modules", "open");
    }
}

static bool change_firmware(struct lks_docs *s, unsigned change)
{
    struct lks_doc *pin = entry_with(s, "firmware", "version");
    struct lks_doc *list = find(s->first, "firmware");
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
        take_out(list, list->first);
        return true;
    default:
        list = list != NULL ? list : put_set(s, s->first, "firmware");
        pin = put(s, list, "", LKS_DOC_MAP);
        return set_text(s, pin, "class", "cpld") && set_text(s, pin, "version", "1");
    }
}

/* One class more, or the last of several gone. */
static bool change_hardware(struct lks_docs *s)
{
    struct lks_doc *hardware = find(s->first, "hardware");
    if (!lks_str_is(find(s->first, "vendor")->text, "amd"))
        return add_element(s, s->first, "hardware", "hgx-h200-8");
    bool first = lks_str_is(hardware->first->text, "mi300x-oam-8");
    if (hardware->count == 1)
        return add_element(s, s->first, "hardware", first ? "mi355x-oam-8" : "mi300x-oam-8");
    take_out(hardware, hardware->last);
    return true;
}

static bool change_rest(struct lks_docs *s, unsigned change)
{
    struct lks_doc *settings = find(s->first, "settings"), *tuning = find(s->first, "tuning");
    struct lks_doc *windows = find(s->first, "windows");
    switch (change) {
    case 15:
        return windows != NULL && find(find(find(s->first, "components"), "kernel"), "version") &&
               set_text(s, windows, "kernel", ">=1");
    case 16:
        return drop(s->first, "windows");
    case 17:
        return change_hardware(s);
    case 18:
        return flip(find(settings, "ecc"));
    case 19:
        return flip(find(settings, "power_limit_w"));
    case 20:
        return add_element(s, settings, "kernel_cmdline", "nokaslr");
    case 21:
        return set_text(s, find(tuning, "env"), "NCCL_ALGO", "NVLS");
    case 22:
        return find(tuning, "table") != NULL &&
               set_text(s, find(tuning, "table"), "digest", DIGEST);
    default:
        return drop(s->first, "tuning");
    }
}

/* Order, and what is easily overlooked. */
static bool change_more(struct lks_docs *s, unsigned change)
{
    struct lks_doc *settings = find(s->first, "settings"), *nic = find(settings, "nic");
    struct lks_doc *pin = entry_with(s, "firmware", "version");
    switch (change) {
    case 24:
        return rotate(find(settings, "kernel_cmdline"));
    case 25:
        return rotate(find(find(settings, "mig"), "profiles"));
    case 26:
        return find(pin, "scope") == NULL && set_text(s, pin, "scope", "node");
    case 27:
        return drop(entry_with(s, "firmware", "scope"), "scope");
    case 28:
        return set_text(s, find(entry_with(s, "components", "build"), "build"), "srcversion", "F0");
    case 29:
        return flip(find(find(nic, "options"), "PCI_WR_ORDERING"));
    case 30:
        return set_text(s, find(settings, "bios"), "Boot Mode", "Uefi");
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
