#include "lab/bmcsim/parts.h"

#include <stdio.h>
#include <stdlib.h>

const char *const lks_bmcsim_fault_words[] = {
    [LKS_FAULT_POWER_LOSS] = "power-loss",
    [LKS_FAULT_REVERT] = "revert",
    [LKS_FAULT_WRONG_VERSION] = "wrong-version",
    [LKS_FAULT_TASK_STUCK] = "task-stuck",
    [LKS_FAULT_TASK_LOST] = "task-lost",
    [LKS_FAULT_BMC_REBOOT] = "bmc-reboot",
    [LKS_FAULT_MEMORY] = "memory",
    [LKS_FAULT_SLOW] = "slow",
    [LKS_FAULT_CERTIFICATE] = "certificate",
    [LKS_FAULT_SESSION] = "session",
    [LKS_FAULT_BRICK] = "brick",
    [LKS_FAULT_DROP] = "drop",
    [LKS_FAULT_PAGE] = "page",
    [LKS_FAULT_REFUSE] = "refuse",
    [LKS_FAULT_TASK_LIES] = "task-lies",
    [LKS_FAULT_CRITICAL] = "critical",
    [LKS_FAULT_SEVERITY] = "severity",
    [LKS_FAULT_NO_SESSIONS] = "no-sessions",
    [LKS_FAULT_SWITCH] = "switch",
    [LKS_BMCSIM_FAULT_COUNT] = NULL,
};

#define FOR_EVER UINT32_MAX

void lks_bmcsim_fault(struct lks_bmcsim *b, const struct lks_bmcsim_fault_set *fault)
{
    if (fault->fault == LKS_FAULT_CERTIFICATE) {
        b->certificate = true;
        return;
    }
    if (b->troubles == NULL)
        b->troubles = calloc(LKS_BMCSIM_FAULTS_MAX, sizeof(*b->troubles));
    if (b->troubles == NULL)
        return;
    if (b->trouble_count == LKS_BMCSIM_FAULTS_MAX) { /* the oldest makes room */
        memmove(b->troubles, b->troubles + 1, (LKS_BMCSIM_FAULTS_MAX - 1) * sizeof(*b->troubles));
        b->trouble_count--;
    }
    struct lks_bmcsim_trouble *t = &b->troubles[b->trouble_count++];
    *t = (struct lks_bmcsim_trouble){.fault = fault->fault,
                                     .amount = fault->amount,
                                     .times = fault->times == 0 ? FOR_EVER : fault->times};
    (void)snprintf(t->at, sizeof(t->at), "%" LKS_STR_FMT, LKS_STR_ARG(fault->at));
}

static struct lks_bmcsim_trouble *find(const struct lks_bmcsim *b, enum lks_bmcsim_fault fault,
                                       const char *at)
{
    for (size_t i = 0; i < b->trouble_count; i++) {
        struct lks_bmcsim_trouble *t = &b->troubles[i];
        if (t->fault == fault && t->times > 0 && (at == NULL || strcmp(t->at, at) == 0))
            return t;
    }
    return NULL;
}

const struct lks_bmcsim_trouble *
lks_bmcsim_fault_trouble_on(const struct lks_bmcsim *b, enum lks_bmcsim_fault fault, const char *at)
{
    return find(b, fault, at);
}

const struct lks_bmcsim_trouble *
lks_bmcsim_fault_trouble(struct lks_bmcsim *b, enum lks_bmcsim_fault fault, const char *at)
{
    struct lks_bmcsim_trouble *t = find(b, fault, at);
    if (t != NULL && t->times != FOR_EVER)
        t->times--;
    return t;
}

bool lks_bmcsim_fault_turn_of(struct lks_bmcsim *b, enum lks_bmcsim_fault fault)
{
    struct lks_bmcsim_trouble *t = find(b, fault, NULL);
    if (t == NULL || ++t->count < t->amount)
        return false;
    t->count = 0;
    if (t->times != FOR_EVER)
        t->times--;
    return true;
}

/* What is drawn from: phases and amounts that make sense for each. */
static const struct draw {
    enum lks_bmcsim_fault fault;
    const char *at;
    uint64_t least, most;
    uint32_t times;
} draws[] = {
    {LKS_FAULT_POWER_LOSS, "upload", 0, 0, 1},
    {LKS_FAULT_POWER_LOSS, "staging", 0, 0, 1},
    {LKS_FAULT_REVERT, "", 0, 0, 1},
    {LKS_FAULT_WRONG_VERSION, "", 0, 0, 2},
    {LKS_FAULT_TASK_STUCK, "", 0, 0, 1},
    {LKS_FAULT_TASK_LOST, "", 0, 0, 1},
    {LKS_FAULT_BMC_REBOOT, "upload", 0, 0, 1},
    {LKS_FAULT_BMC_REBOOT, "staging", 0, 0, 1},
    {LKS_FAULT_BMC_REBOOT, "activating", 0, 0, 1},
    {LKS_FAULT_SLOW, "", 200, 3000, 0},
    {LKS_FAULT_SESSION, "", 30000, 120000, 0},
    {LKS_FAULT_DROP, "", 1, 40, 1},
    {LKS_FAULT_PAGE, "", 1, 40, 2},
    {LKS_FAULT_REFUSE, "", 503, 503, 2},
    {LKS_FAULT_MEMORY, "", 0, 0, 1},
    {LKS_FAULT_TASK_LIES, "", 0, 0, 1},
};

void lks_bmcsim_fault_draw(struct lks_rng *rng, struct lks_bmcsim_fault_set *out)
{
    const struct draw *d = &draws[lks_rng_below(rng, LKS_COUNT(draws))];
    *out = (struct lks_bmcsim_fault_set){
        .fault = d->fault, .at = lks_str_from(d->at), .amount = d->least, .times = d->times};
    if (d->most > d->least)
        out->amount += lks_rng_below(rng, d->most - d->least + 1);
}

unsigned lks_bmcsim_faults_draw(struct lks_bmcsim *b, uint64_t seed, unsigned percent)
{
    struct lks_rng rng = {.state = seed};
    unsigned drawn = 0;
    while (drawn < LKS_BMCSIM_FAULTS_MAX / 2 && lks_rng_percent(&rng, percent)) {
        struct lks_bmcsim_fault_set fault;
        lks_bmcsim_fault_draw(&rng, &fault);
        lks_bmcsim_fault(b, &fault);
        drawn++;
    }
    return drawn;
}
