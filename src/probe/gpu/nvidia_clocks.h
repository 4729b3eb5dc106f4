/*
 * Whether the clocks of a GPU are locked.
 *
 * NVML tells application clocks, and has no way to ask for locked ones (nvidia-smi -lgc). What
 * gives a lock away are two counters of the driver: the time for which clocks were held down by a
 * limit of the board and by reliability. While a lock of any kind is in force, even one to the
 * whole range, idle or busy, both grow with the wall clock, in steps of a tenth of a second;
 * without one both stand still, whatever the load and the power limit. The clock itself proves
 * nothing: a GPU that becomes idle passes through every clock on its way down, and may rest there.
 *
 * This was measured on Hopper. Of other generations only the growth is believed: where counters
 * are constant while an idle GPU keeps a clock between its lowest and its highest, it is unknown.
 */
#ifndef LKS_PROBE_NVIDIA_CLOCKS_H
#define LKS_PROBE_NVIDIA_CLOCKS_H

#include "probe/gpu/nvml.h"
#include "probe/root/probe.h"

/* The counters move every 100 ms, NVML keeps what it read as long, and the movement was always seen
 * within 155 ms. */
#define LKS_CLOCKS_WINDOW_MS 180

enum lks_clocks_verdict { LKS_CLOCKS_FREE, LKS_CLOCKS_HELD, LKS_CLOCKS_UNSURE, LKS_CLOCKS_AGAIN };

/* One look at a GPU; MHz and nanoseconds. */
struct lks_clocks_look {
    uint64_t board, reliability;
    bool
        measured; /* a generation on which the counters are known to tell; the rest is not needed */
    bool idle;
    uint64_t clock;
    uint64_t min, max; /* both 0: not known */
};

/* The verdict of one look: FREE where there never was a lock, AGAIN where a second look decides. */
enum lks_clocks_verdict lks_nvidia_clocks_first(const struct lks_clocks_look *look);

/* The verdict of two looks: never AGAIN. Only board, reliability and clock of the later count. */
enum lks_clocks_verdict lks_nvidia_clocks_second(const struct lks_clocks_look *look,
                                                 const struct lks_clocks_look *later);

/* What was learnt of one GPU so far; each value with how asking went. */
struct lks_clocks_known {
    uint64_t value;
    struct lks_err err; /* code LKS_OK: it is known */
};
struct lks_clocks {
    struct lks_clocks_known app[2], app_default[2]; /* graphics, memory */
    struct lks_clocks_known now[2];
    struct lks_clocks_known reasons;
    struct lks_nvml_field counters[2]; /* board limit, reliability */
    struct lks_err counters_err;
    int64_t looked; /* when, on lks_clock_ms()'s clock */
    bool measured;
    uint64_t min, max;
};

/* Ask what the first look needs; `counters` were asked by the caller, together with others. */
void lks_nvidia_clocks_ask(struct lks_nvml *n, struct lks_nvml_gpu *gpu, struct lks_clocks *c);

/* Say settings.clocks.*, gpu.clocks and gpu.throttle. Waits for the second look where it must. */
void lks_nvidia_clocks_tell(struct lks_probe *p, struct lks_nvml *n, struct lks_nvml_gpu *gpu,
                            struct lks_str of, struct lks_clocks *c);

#endif
