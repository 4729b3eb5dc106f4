/*
 * The parts of the bench: each measures one promise beside its rival in the same run, and fills in
 * rows of a table. Each runs in a process of its own, whose TMPDIR is an empty directory that goes
 * with it. A number that is missed is only a number; bench_die() is for what does not run.
 */
#ifndef LKS_BENCH_BENCH_H
#define LKS_BENCH_BENCH_H

#include "bench/measure.h"

void bench_programs(struct lks_table *t); /* load, check, inventory: the command line */
void bench_journal(struct lks_table *t);  /* appends through the engine */
void bench_restart(struct lks_table *t);  /* opening, folding and verifying a journal */
void bench_admit(struct lks_table *t);    /* may this job start */
void bench_beats(struct lks_table *t);    /* heartbeats over mutual TLS */
void bench_flood(struct lks_table *t);    /* the same while strangers send large bodies */
void bench_drift(struct lks_table *t);    /* a fleet against a stack */
void bench_plan(struct lks_table *t);     /* a change of many nodes, planned */
void bench_campaign(struct lks_table *t); /* one that is carried out, simulated */
void bench_rehearse(struct lks_table *t); /* one that is tried out, many times */
void bench_agent(struct lks_table *t);    /* what a node pays */
void bench_top(struct lks_table *t);      /* the screen of a person */
void bench_sweep(struct lks_table *t);    /* inventories of many BMCs */
void bench_sched(struct lks_table *t);    /* drains, through a real Slurm */
void bench_submit(struct lks_table *t);   /* jobs that a real Slurm takes in */
void bench_prolog(struct lks_table *t);   /* what a start of a job waits for */
void bench_pldm(struct lks_table *t);     /* verifying a firmware package */

#endif
