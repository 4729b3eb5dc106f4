#include "executors/settings.h"

#include "base/embedded.h"
#include "core/conform/node_readings.h"
#include "probe/root/probe.h"

#include <stdio.h>

enum { CALL_MS = 5000, PROBE_TIMES = 6, KINDS_MAX = 8 };

/* The probes that read what is set here. */
static const char *const names[] = {"nvidia", "kernel", "upgrades"};

static size_t choose(struct lks_probe_kind out[KINDS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < lks_probe_count; i++) {
        for (size_t k = 0; k < LKS_COUNT(names); k++) {
            if (strcmp(lks_probes[i].name, names[k]) == 0)
                out[count++] = lks_probes[i];
        }
    }
    LKS_ASSERT(count == LKS_COUNT(names));
    return count;
}

void lks_settings_machine_fini(struct lks_machine *m)
{
    lks_tuple_fini(&m->tuple);
    lks_facts_fini(&m->facts);
}

enum lks_code lks_settings_machine_read(struct lks_machine *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_settings_machine_fini) struct lks_machine m = {0};
    LKS_CLEANUP(lks_root_close) struct lks_root root = {.fd = -1, .capture = -1};
    struct lks_probe_kind kinds[KINDS_MAX];
    /* Not in a hurry: a lock of clocks is looked for twice. */
    const struct lks_probe_options how = {
        .libraries = true, .call_ms = CALL_MS, .probe_ms = PROBE_TIMES * CALL_MS};
    if (lks_facts_load(lks_embedded_data, NULL, 0, &m.facts, err) != LKS_OK ||
        lks_root_open(NULL, NULL, &root, err) != LKS_OK)
        return err->code;
    lks_tuple_init(&m.tuple);
    if (lks_probe_run(kinds, choose(kinds), &root, &m.facts, &how, &m.tuple, NULL, err) != LKS_OK)
        return err->code;
    *out = LKS_MOVE(m);
    return LKS_OK;
}

static bool same_words(struct lks_str a, struct lks_str b)
{
    struct lks_str x, y;
    for (;;) {
        bool more = lks_str_word(&a, &x), other = lks_str_word(&b, &y);
        if (!more || !other)
            return more == other;
        if (!lks_str_eq(x, y))
            return false;
    }
}

bool lks_settings_words_hold(struct lks_str line, struct lks_str words)
{
    struct lks_str wanted, word;
    while (lks_str_word(&words, &wanted)) {
        do {
            if (!lks_str_word(&line, &word))
                return false;
        } while (!lks_str_eq(word, wanted));
    }
    return true;
}

/* Not to have a thing is what turning it off comes to. */
static bool is_off(struct lks_str name, struct lks_str words)
{
    bool off = words.len == 0 || lks_str_is(words, "false") || lks_str_is(words, "disabled");
    return off && lks_node_setting_lacks_as_off(name);
}

bool lks_settings_machine_holds(const struct lks_machine *m, struct lks_str name,
                                struct lks_str words, char why[LKS_MACHINE_WHY_SIZE])
{
    size_t count = 0;
    const struct lks_reading *r = lks_tuple_range(&m->tuple, name, &count);
    /* Parameters of the kernel hold wherever they stand. */
    bool cmdline = lks_str_is(name, "settings.kernel_cmdline");
    snprintf(why, LKS_MACHINE_WHY_SIZE, "nothing here has it");
    for (size_t i = 0; i < count; i++) {
        bool holds = r[i].state == LKS_ABSENT ? is_off(name, words)
                     : cmdline                ? lks_settings_words_hold(r[i].value, words)
                                              : same_words(r[i].value, words);
        if (holds && r[i].state != LKS_UNMEASURED)
            continue;
        bool tells = r[i].state != LKS_UNMEASURED, device = r[i].of.len > 0;
        snprintf(why, LKS_MACHINE_WHY_SIZE, "%.*s%s%.100s", LKS_STR_ARG(r[i].of),
                 !tells   ? " does not tell: "
                 : device ? " has "
                          : "it is ",
                 r[i].state == LKS_ABSENT || r[i].value.len == 0 ? "none" : r[i].value.ptr);
        lks_str_make_printable(why);
        return false;
    }
    return count > 0 || is_off(name, words);
}
