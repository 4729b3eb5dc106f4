/* What the parts of the bench share: clocks, medians, processes, and rows of the table. */
#ifndef LKS_BENCH_MEASURE_H
#define LKS_BENCH_MEASURE_H

#include "base/term/table.h"

#include <sys/types.h>

/* Say why and end this part. */
_Noreturn void bench_die(const char *what, const char *why);

double bench_now_ms(void);

/* What another process, with all its threads, has used of the processors. */
double bench_cpu_us(pid_t pid);

/* Sorts `values`. */
double bench_median(double *values, size_t count);

/* This process and those it starts from now on: on one core, on any. Where there is one only, all
 * share it. */
void bench_pin(unsigned core);
void bench_unpin(void);

void bench_rest(unsigned ms);

/* Whether PATH has such a program. */
bool bench_has_program(const char *name);

/* Start it, found by PATH, with its output into `out`, or thrown away for -1; it ends with us,
 * however we end. */
pid_t bench_spawn(const char *const *argv, int out);
void bench_end(pid_t pid);

/* Kibibytes that are this process's alone, from smaps_rollup. */
double bench_private_kib(pid_t pid);

/* One row. `rival` "-": there is none; `theirs` 0: it is not here. */
struct bench_figure {
    const char *what, *bar, *rival, *unit;
    double ours, theirs;
};

void bench_columns(struct lks_table *t);
void bench_row(struct lks_table *t, const struct bench_figure *f);

#endif
