#include "probe/gpu/nvidia_clocks.h"

#include "probe/root/clock.h"

#include <inttypes.h>
#include <stdio.h>

#define IDLE      0x1u
#define MASK_BITS 64
#define HOPPER    9 /* NVML's number for the architecture */

static const char *const reasons[] = {
    "idle",          "applications-clocks", "sw-power-cap",        "hw-slowdown",
    "sync-boost",    "sw-thermal-slowdown", "hw-thermal-slowdown", "hw-power-brake",
    "display-clocks"};

static const unsigned clock_kinds[2] = {LKS_NVML_CLOCK_GRAPHICS, LKS_NVML_CLOCK_MEMORY};

/* Judging ------------------------------------------------------------------------------------ */

/* An idle GPU that is neither at the bottom nor at the top is held there, or on its way. */
static bool doubtful(const struct lks_clocks_look *look)
{
    return !look->measured && look->idle && look->clock > look->min && look->clock < look->max;
}

enum lks_clocks_verdict lks_nvidia_clocks_first(const struct lks_clocks_look *look)
{
    return look->board == 0 && look->reliability == 0 && !doubtful(look) ? LKS_CLOCKS_FREE
                                                                         : LKS_CLOCKS_AGAIN;
}

enum lks_clocks_verdict lks_nvidia_clocks_second(const struct lks_clocks_look *look,
                                                 const struct lks_clocks_look *later)
{
    if (later->board < look->board || later->reliability < look->reliability)
        return LKS_CLOCKS_UNSURE; /* the driver began to count anew */
    uint64_t board = later->board - look->board;
    uint64_t reliability = later->reliability - look->reliability;
    uint64_t less = board < reliability ? board : reliability;
    uint64_t more = board < reliability ? reliability : board;
    if (less > 0)
        return less >= more - more / 10 ? LKS_CLOCKS_HELD : LKS_CLOCKS_UNSURE;
    if (more > 0)
        return LKS_CLOCKS_FREE; /* one alone is the limit it is named after */
    return doubtful(look) && later->clock == look->clock ? LKS_CLOCKS_UNSURE : LKS_CLOCKS_FREE;
}

/* Asking ------------------------------------------------------------------------------------- */

static void learn(struct lks_nvml *n, enum lks_nvml_call call, struct lks_nvml_gpu *gpu, unsigned a,
                  struct lks_clocks_known *out)
{
    *out = (struct lks_clocks_known){0};
    if (lks_nvml_number(n, call, gpu, a, 0, &out->value, &out->err) == LKS_OK)
        out->err.code = LKS_OK;
}

static bool known(const struct lks_clocks_known *k)
{
    return k->err.code == LKS_OK;
}

void lks_nvidia_clocks_ask(struct lks_nvml *n, struct lks_nvml_gpu *gpu, struct lks_clocks *c)
{
    for (size_t i = 0; i < LKS_COUNT(clock_kinds); i++) {
        unsigned kind = clock_kinds[i];
        learn(n, LKS_NVML_CLOCK, gpu, kind, &c->now[i]);
        learn(n, LKS_NVML_APP_CLOCK, gpu, kind, &c->app[i]);
        learn(n, LKS_NVML_APP_CLOCK_DEFAULT, gpu, kind, &c->app_default[i]);
    }
    learn(n, LKS_NVML_REASONS, gpu, 0, &c->reasons);
    struct lks_clocks_known architecture;
    learn(n, LKS_NVML_ARCHITECTURE, gpu, 0, &architecture);
    c->measured = known(&architecture) && architecture.value == HOPPER;
    struct lks_nvml_answer answer;
    struct lks_err err;
    if (c->measured)
        return;
    if (lks_nvml_ask(n, LKS_NVML_CLOCK_RANGE, gpu, LKS_NVML_CLOCK_GRAPHICS, 0, &answer, &err) !=
            LKS_OK ||
        lks_nvml_word_number(&answer, "min", &c->min, &err) != LKS_OK ||
        lks_nvml_word_number(&answer, "max", &c->max, &err) != LKS_OK)
        c->min = c->max = 0;
}

/* Telling ------------------------------------------------------------------------------------ */

static void tell_now(struct lks_probe *p, struct lks_str of, const struct lks_clocks *c)
{
    const char *evidence = lks_nvml_name(LKS_NVML_CLOCK);
    const struct lks_clocks_known *bad = !known(&c->now[0]) ? &c->now[0] : &c->now[1];
    if (!known(bad)) {
        lks_probe_failed(p, "gpu.clocks", of, evidence, &bad->err);
        return;
    }
    char text[64];
    snprintf(text, sizeof(text), "graphics=%" PRIu64 " memory=%" PRIu64, c->now[0].value,
             c->now[1].value);
    lks_probe_value(p, "gpu.clocks", of, LKS_STR(""), lks_str_from(text), evidence);
}

static void tell_reasons(struct lks_probe *p, struct lks_str of, const struct lks_clocks *c)
{
    const char *evidence = lks_nvml_name(LKS_NVML_REASONS);
    if (!known(&c->reasons)) {
        lks_probe_failed(p, "gpu.throttle", of, evidence, &c->reasons.err);
        return;
    }
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_READING_VALUE_MAX);
    for (unsigned bit = 0; bit < MASK_BITS; bit++) {
        if ((c->reasons.value >> bit & 1) == 0)
            continue;
        lks_buf_addf(&text, "%s", text.len > 0 ? " " : "");
        if (bit < LKS_COUNT(reasons))
            lks_buf_addf(&text, "%s", reasons[bit]);
        else
            lks_buf_addf(&text, "reason-%u", bit);
    }
    if (text.len == 0)
        lks_buf_addf(&text, "none");
    lks_probe_value(p, "gpu.throttle", of, LKS_STR(""), lks_buf_view(&text), evidence);
}

static const char *const held_names[2] = {"settings.clocks.graphics_mhz",
                                          "settings.clocks.memory_mhz"};

static bool app_differs(const struct lks_clocks *c, size_t i)
{
    return known(&c->app[i]) && known(&c->app_default[i]) &&
           c->app[i].value != c->app_default[i].value;
}

static void tell_mhz(struct lks_probe *p, struct lks_str of, size_t i, uint64_t mhz,
                     const char *evidence)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, mhz);
    lks_probe_value(p, held_names[i], of, LKS_STR(""), lks_str_from(text), evidence);
}

/* Application clocks other than the default ones: NVML says so itself. */
static void tell_app(struct lks_probe *p, struct lks_str of, const struct lks_clocks *c)
{
    const char *evidence = "nvmlDeviceGetApplicationsClock is not its default";
    lks_probe_value(p, "settings.clocks.locked", of, LKS_STR(""), LKS_STR("true"), evidence);
    for (size_t i = 0; i < LKS_COUNT(held_names); i++) {
        if (app_differs(c, i))
            tell_mhz(p, of, i, c->app[i].value, evidence);
        else
            lks_probe_absent(p, held_names[i], of, evidence);
    }
}

static void tell_unknown(struct lks_probe *p, struct lks_str of, const char *why)
{
    const char *evidence = lks_nvml_name(LKS_NVML_FIELDS);
    lks_probe_unmeasured(p, "settings.clocks.locked", of, evidence, "%s", why);
    for (size_t i = 0; i < LKS_COUNT(held_names); i++)
        lks_probe_unmeasured(p, held_names[i], of, evidence, "%s", why);
}

static void tell_free(struct lks_probe *p, struct lks_str of, const char *evidence)
{
    lks_probe_value(p, "settings.clocks.locked", of, LKS_STR(""), LKS_STR("false"), evidence);
    for (size_t i = 0; i < LKS_COUNT(held_names); i++)
        lks_probe_absent(p, held_names[i], of, evidence);
}

/* A lock of memory clocks shows in the memory clock alone, and so does an idle GPU's. */
static void tell_held(struct lks_probe *p, struct lks_nvml *n, struct lks_nvml_gpu *gpu,
                      struct lks_str of, const struct lks_clocks *c)
{
    const char *evidence = "nvmlDeviceGetFieldValues 77, 79: time held by a limit grows";
    lks_probe_value(p, "settings.clocks.locked", of, LKS_STR(""), LKS_STR("true"), evidence);
    const char *clock = lks_nvml_name(LKS_NVML_CLOCK);
    if (known(&c->now[0]))
        tell_mhz(p, of, 0, c->now[0].value, clock);
    else
        lks_probe_failed(p, held_names[0], of, clock, &c->now[0].err);
    struct lks_clocks_known top;
    learn(n, LKS_NVML_CLOCK_MAX, gpu, LKS_NVML_CLOCK_MEMORY, &top);
    if (known(&c->now[1]) && known(&top) && c->now[1].value >= top.value)
        lks_probe_absent(p, held_names[1], of, clock);
    else
        lks_probe_unmeasured(p, held_names[1], of, clock,
                             "the memory clock is below its maximum: idle or held, NVML does not "
                             "tell");
}

static bool counted(const struct lks_clocks *c)
{
    return c->counters_err.code == LKS_OK && c->counters[0].code == 0 && c->counters[1].code == 0;
}

static struct lks_clocks_look first_look(const struct lks_clocks *c)
{
    return (struct lks_clocks_look){.board = c->counters[0].value,
                                    .reliability = c->counters[1].value,
                                    .measured = c->measured,
                                    .idle = known(&c->reasons) && (c->reasons.value & IDLE) != 0,
                                    .clock = c->now[0].value,
                                    .min = c->min,
                                    .max = c->max};
}

static enum lks_code look_again(struct lks_nvml *n, struct lks_nvml_gpu *gpu,
                                const struct lks_clocks *c, bool still,
                                struct lks_clocks_look *later, struct lks_err *err)
{
    struct lks_nvml_field fields[] = {c->counters[0], c->counters[1]};
    int64_t until = c->looked + LKS_CLOCKS_WINDOW_MS;
    if (lks_nvml_fields_later(n, gpu, fields, LKS_COUNT(fields), still, until, err) != LKS_OK ||
        lks_nvml_field_fail(&fields[0], err) != LKS_OK ||
        lks_nvml_field_fail(&fields[1], err) != LKS_OK)
        return err->code;
    later->board = fields[0].value;
    later->reliability = fields[1].value;
    if (c->measured)
        return LKS_OK;
    struct lks_clocks_known clock = {0};
    learn(n, LKS_NVML_CLOCK_AGAIN, gpu, LKS_NVML_CLOCK_GRAPHICS, &clock);
    later->clock = known(&clock) ? clock.value : c->now[0].value;
    return LKS_OK;
}

/* A lock that was just taken off is counted once more, at the next tick; one that holds is counted
 * at the tick after that, too. */
static enum lks_clocks_verdict look_a_third_time(struct lks_nvml *n, struct lks_nvml_gpu *gpu,
                                                 const struct lks_clocks *c,
                                                 const struct lks_clocks_look *second)
{
    struct lks_clocks after = *c;
    struct lks_clocks_look third = *second;
    struct lks_err err = {0};
    after.counters[0].value = second->board;
    after.counters[1].value = second->reliability;
    after.looked = lks_clock_ms();
    if (look_again(n, gpu, &after, true, &third, &err) != LKS_OK)
        return n->root->live ? LKS_CLOCKS_UNSURE : LKS_CLOCKS_HELD; /* not asked at the time */
    return lks_nvidia_clocks_second(second, &third);
}

static void tell_lock(struct lks_probe *p, struct lks_nvml *n, struct lks_nvml_gpu *gpu,
                      struct lks_str of, const struct lks_clocks *c)
{
    struct lks_clocks_look look = first_look(c), later = look;
    struct lks_err err = {0};
    /* The first lock of all is not counted before the next tick: who has the time looks for it. */
    bool never = lks_nvidia_clocks_first(&look) == LKS_CLOCKS_FREE;
    enum lks_code code = never && !p->options->libraries
                             ? LKS_E_NOT_FOUND
                             : look_again(n, gpu, c, false, &later, &err);
    if (code != LKS_OK && never && (!p->options->libraries || !p->root->live)) {
        tell_free(p, of, "nvmlDeviceGetFieldValues 77, 79: no lock since the driver was loaded");
        return;
    }
    if (code != LKS_OK) {
        tell_unknown(p, of, err.msg);
        return;
    }
    enum lks_clocks_verdict verdict = lks_nvidia_clocks_second(&look, &later);
    if (verdict == LKS_CLOCKS_HELD)
        verdict = look_a_third_time(n, gpu, c, &later);
    if (verdict == LKS_CLOCKS_HELD)
        tell_held(p, n, gpu, of, c);
    else if (verdict == LKS_CLOCKS_FREE)
        tell_free(p, of, "nvmlDeviceGetFieldValues 77, 79: time held by a limit does not grow");
    else
        tell_unknown(p, of, "the counters and the clock do not agree on whether clocks are held");
}

void lks_nvidia_clocks_tell(struct lks_probe *p, struct lks_nvml *n, struct lks_nvml_gpu *gpu,
                            struct lks_str of, struct lks_clocks *c)
{
    tell_now(p, of, c);
    tell_reasons(p, of, c);
    if (app_differs(c, 0) || app_differs(c, 1)) {
        tell_app(p, of, c);
        return;
    }
    if (counted(c)) {
        tell_lock(p, n, gpu, of, c);
        return;
    }
    struct lks_err err = c->counters_err;
    if (err.code == LKS_OK && lks_nvml_field_fail(&c->counters[0], &err) == LKS_OK)
        (void)lks_nvml_field_fail(&c->counters[1], &err);
    tell_unknown(p, of,
                 err.code == LKS_E_NOT_FOUND
                     ? "this GPU does not count how long its clocks are held: a lock is not visible"
                     : err.msg);
}
