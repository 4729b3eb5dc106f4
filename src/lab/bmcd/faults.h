/*
 * Faults by seed: "revert=5,task-lost=2,power-loss@staging=1,slow:2000=10". Each is set once on so
 * many BMCs in a hundred, drawn from the seed; `@` says where and `:` how much, where a fault asks
 * for it. "any=20" draws from all that leave a BMC usable, perhaps several for one.
 */
#ifndef LKS_BMCD_FAULTS_H
#define LKS_BMCD_FAULTS_H

#include "lab/bmcsim/bmcsim.h"

#define LKS_FAULTS_MAX 32

struct lks_faults {
    struct {
        struct lks_bmcsim_fault_set set; /* its text is of the mix that was read */
        bool any;
        unsigned percent;
    } items[LKS_FAULTS_MAX];
    size_t count;
};

enum lks_code lks_faults_parse(struct lks_str mix, struct lks_faults *out,
                               struct lks_err *err) LKS_MUST_CHECK;

/* A fault by its word. */
enum lks_code lks_faults_word(struct lks_str word, enum lks_bmcsim_fault *out,
                              struct lks_err *err) LKS_MUST_CHECK;

/* Set on BMC number `number` what is drawn for it. */
void lks_faults_set(const struct lks_faults *f, uint64_t seed, size_t number, struct lks_bmcsim *b);

#endif
