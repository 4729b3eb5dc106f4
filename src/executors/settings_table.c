/* The table of settings, and the ways of those that NVIDIA's own program sets. */
#include "executors/settings.h"

#include "codec/notation/glob.h"
#include "executors/tool.h"

#include <stdio.h>

enum { WORD_MAX = 512 };

#define SMI "nvidia-smi"

const char *const lks_setting_needs_words[] = {"nothing", "drain", "reset", "boot", NULL};

static enum lks_code smi(const char *option, const char *value, struct lks_err *err)
{
    const char *argv[] = {SMI, option, value, NULL};
    return lks_tool_run(&(struct lks_tool){.argv = argv}, err);
}

/* What each GPU answers to `query`, a line each. */
static enum lks_code ask_smi(const char *query, struct lks_buf *out, struct lks_err *err)
{
    const char *argv[] = {SMI, query, "--format=csv,noheader,nounits", NULL};
    lks_buf_init(out, LKS_TOOL_OUTPUT_MAX);
    return lks_tool_ask(argv, out, err);
}

/* A value of plain characters: it becomes an argument, which is no option. */
static enum lks_code plain(struct lks_str words, char out[WORD_MAX], struct lks_err *err)
{
    for (size_t i = 0; i < words.len; i++) {
        char c = words.ptr[i];
        bool good = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                    (i > 0 && strchr(".+- ", c) != NULL);
        if (!good || i + 1 >= WORD_MAX)
            return lks_fail(err, LKS_E_INVALID, "'%.60s' is no value for it", words.ptr);
    }
    (void)lks_executor_job_text(words, out, WORD_MAX);
    return LKS_OK;
}

/* What each GPU has if it is never set: they may differ. */
static enum lks_code set_default_power(struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    if (ask_smi("--query-gpu=index,power.default_limit", &text, err) != LKS_OK)
        return err->code;
    for (struct lks_str rest = lks_buf_view(&text), line, index, watts; rest.len > 0;) {
        char gpu[WORD_MAX], limit[WORD_MAX];
        lks_str_cut(rest, '\n', &line, &rest);
        if (!lks_str_cut(line, ',', &index, &watts))
            continue;
        if (plain(lks_str_trim(index), gpu, err) != LKS_OK ||
            plain(lks_str_trim(watts), limit, err) != LKS_OK)
            return err->code;
        const char *set[] = {SMI, "-i", gpu, "-pl", limit, NULL};
        if (lks_tool_run(&(struct lks_tool){.argv = set}, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

static enum lks_code set_power(const struct lks_order_item *item, struct lks_str words,
                               struct lks_err *err)
{
    char watts[WORD_MAX];
    (void)item;
    if (words.len == 0)
        return set_default_power(err);
    return plain(words, watts, err) != LKS_OK ? err->code : smi("-pl", watts, err);
}

/* Readings tell the limit, and not that it is the one they are born with. */
static enum lks_code placed_power(const struct lks_order_item *item, struct lks_str words,
                                  bool *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    (void)item;
    *out = false;
    if (words.len > 0)
        return LKS_OK;
    if (ask_smi("--query-gpu=power.limit,power.default_limit", &text, err) != LKS_OK)
        return err->code;
    bool all = true;
    for (struct lks_str rest = lks_buf_view(&text), line, now, normal; rest.len > 0;) {
        lks_str_cut(rest, '\n', &line, &rest);
        if (lks_str_cut(line, ',', &now, &normal))
            all = all && lks_str_eq(lks_str_trim(now), lks_str_trim(normal));
    }
    *out = all;
    return LKS_OK;
}

static enum lks_code set_truth(const char *option, struct lks_str words, struct lks_err *err)
{
    return smi(option, lks_str_is(words, "true") ? "1" : "0", err);
}

static enum lks_code set_persistence(const struct lks_order_item *item, struct lks_str words,
                                     struct lks_err *err)
{
    (void)item;
    return set_truth("-pm", words, err);
}

static enum lks_code set_ecc(const struct lks_order_item *item, struct lks_str words,
                             struct lks_err *err)
{
    (void)item;
    return set_truth("-e", words, err);
}

static enum lks_code set_compute_mode(const struct lks_order_item *item, struct lks_str words,
                                      struct lks_err *err)
{
    static const struct lks_str_pair modes[] = {
        {"default", "0"}, {"prohibited", "2"}, {"exclusive-process", "3"}};
    (void)item;
    for (size_t i = 0; i < LKS_COUNT(modes); i++) {
        if (lks_str_is(words, modes[i].name))
            return smi("-c", modes[i].value, err);
    }
    return lks_fail(err, LKS_E_INVALID, "no compute mode is called so");
}

/* Clocks: held at one frequency, or free. */
static enum lks_code hold(const char *hold_option, const char *free_option, struct lks_str words,
                          struct lks_err *err)
{
    char mhz[WORD_MAX], range[2 * WORD_MAX];
    if (words.len == 0)
        return smi(free_option, NULL, err);
    if (plain(words, mhz, err) != LKS_OK)
        return err->code;
    snprintf(range, sizeof(range), "%s,%s", mhz, mhz);
    return smi(hold_option, range, err);
}

static enum lks_code set_graphics(const struct lks_order_item *item, struct lks_str words,
                                  struct lks_err *err)
{
    (void)item;
    return hold("-lgc", "-rgc", words, err);
}

static enum lks_code set_memory(const struct lks_order_item *item, struct lks_str words,
                                struct lks_err *err)
{
    (void)item;
    return hold("-lmc", "-rmc", words, err);
}

/* That clocks are held goes with the clock they are held at; that none is is a thing of its own. */
static enum lks_code set_locked(const struct lks_order_item *item, struct lks_str words,
                                struct lks_err *err)
{
    (void)item;
    if (lks_str_is(words, "true"))
        return LKS_OK;
    enum lks_code code = smi("-rgc", NULL, err);
    struct lks_err ignored = {0};
    (void)!smi("-rmc", NULL, &ignored); /* not every GPU has it */
    return code;
}

/* One that has none is no failure to remove. */
static void remove_instances(void)
{
    static const char *const compute[] = {SMI, "mig", "-dci", NULL};
    static const char *const gpu[] = {SMI, "mig", "-dgi", NULL};
    struct lks_err ignored = {0};
    (void)!lks_tool_run(&(struct lks_tool){.argv = compute}, &ignored);
    (void)!lks_tool_run(&(struct lks_tool){.argv = gpu}, &ignored);
}

static enum lks_code set_mig_mode(const struct lks_order_item *item, struct lks_str words,
                                  struct lks_err *err)
{
    bool on = lks_str_is(words, "enabled");
    (void)item;
    if (!on)
        remove_instances();
    return smi("-mig", on ? "1" : "0", err);
}

/* All instances go, and those that are wanted come. */
static enum lks_code set_profiles(const struct lks_order_item *item, struct lks_str words,
                                  struct lks_err *err)
{
    char list[WORD_MAX] = "";
    (void)item;
    if (plain(words, list, err) != LKS_OK)
        return err->code;
    for (char *c = list; *c != '\0'; c++)
        *c = *c == ' ' ? ',' : *c;
    remove_instances();
    if (words.len == 0)
        return LKS_OK;
    const char *make[] = {SMI, "mig", "-cgi", list, "-C", NULL};
    return lks_tool_run(&(struct lks_tool){.argv = make}, err);
}

/* A lock of the memory's clock does not show in any reading of NVML's but the clock itself. */
static enum lks_code placed_memory(const struct lks_order_item *item, struct lks_str words,
                                   bool *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    (void)item;
    if (ask_smi("--query-gpu=clocks.mem", &text, err) != LKS_OK)
        return err->code;
    bool all = words.len > 0 && text.len > 0;
    for (struct lks_str rest = lks_buf_view(&text), line; rest.len > 0;) {
        lks_str_cut(rest, '\n', &line, &rest);
        all = all && (line.len == 0 || lks_str_eq(lks_str_trim(line), words));
    }
    *out = all;
    return LKS_OK;
}

/* In the order of work: what resets a GPU loses what the ones behind set. */
#define AT_ONCE LKS_SETTING_NOTHING
const struct lks_setting lks_settings[] = {
    {"settings.unattended_upgrades", AT_ONCE, false, NULL, NULL, true,
     "a file in /etc/apt/apt.conf.d, or masked units of dnf-automatic", lks_settings_set_upgrades,
     lks_settings_placed_upgrades, "true|false"},
    {"settings.kernel_cmdline", LKS_SETTING_BOOT, false, NULL, NULL, true,
     "a file in /etc/default/grub.d and update-grub, or grubby", lks_settings_set_cmdline,
     lks_settings_placed_cmdline, NULL},
    {"settings.memory_mode", LKS_SETTING_BOOT, false, NULL, NULL, true,
     "an option of the module nvidia in /etc/modprobe.d", lks_settings_set_memory_mode,
     lks_settings_placed_memory_mode, "numa|cdmm"},
    {"tuning.env.*", AT_ONCE, false, NULL, NULL, true, "a line of /etc/nccl.conf",
     lks_settings_set_variable, NULL, NULL},
    {"settings.ecc", LKS_SETTING_RESET, false, "gpu.ecc_pending", NULL, false,
     "nvidia-smi -e; the GPU keeps it", set_ecc, NULL, "true|false"},
    {"settings.mig.mode", LKS_SETTING_RESET, true, "gpu.mig_pending", "disabled", true,
     "nvidia-smi -mig", set_mig_mode, NULL, "disabled|enabled"},
    {"settings.mig.profiles", LKS_SETTING_DRAIN, true, NULL, NULL, true,
     "nvidia-smi mig: all instances are made anew", set_profiles, NULL, NULL},
    {"settings.persistence", AT_ONCE, true, NULL, NULL, false, "nvidia-smi -pm", set_persistence,
     NULL, "true|false"},
    {"settings.compute_mode", AT_ONCE, true, NULL, "default", true, "nvidia-smi -c",
     set_compute_mode, NULL, "default|exclusive-process|prohibited"},
    {"settings.power_limit_w", AT_ONCE, true, NULL, NULL, true, "nvidia-smi -pl", set_power,
     placed_power, LKS_SETTING_NUMBER},
    {"settings.clocks.locked", AT_ONCE, true, NULL, "false", true, "nvidia-smi -rgc, -rmc",
     set_locked, NULL, "true|false"},
    {"settings.clocks.graphics_mhz", AT_ONCE, true, NULL, NULL, true, "nvidia-smi -lgc",
     set_graphics, NULL, LKS_SETTING_NUMBER},
    {"settings.clocks.memory_mhz", AT_ONCE, true, NULL, NULL, true, "nvidia-smi -lmc", set_memory,
     placed_memory, LKS_SETTING_NUMBER},
};
const size_t lks_setting_count = LKS_COUNT(lks_settings);

const struct lks_setting *lks_setting_find(struct lks_str path)
{
    for (size_t i = 0; i < lks_setting_count; i++) {
        if (lks_glob_match(lks_str_from(lks_settings[i].path), path))
            return &lks_settings[i];
    }
    return NULL;
}

enum lks_code lks_setting_check(const struct lks_setting *setting, struct lks_str words,
                                struct lks_err *err)
{
    uint64_t number = 0;
    if (words.len == 0 || setting->takes == NULL)
        return LKS_OK;
    if (strcmp(setting->takes, LKS_SETTING_NUMBER) == 0) {
        if (lks_str_number(words, UINT32_MAX, &number) && number > 0)
            return LKS_OK;
    } else {
        for (struct lks_str rest = lks_str_from(setting->takes), one; rest.len > 0;) {
            lks_str_cut(rest, '|', &one, &rest);
            if (lks_str_eq(one, words))
                return LKS_OK;
        }
    }
    return lks_fail(err, LKS_E_INVALID, "'%.60s' is no value for it: it takes %s", words.ptr,
                    setting->takes);
}
