/*
 * The contract of schedulers (sched_contract.h) for the drivers that have a model: the bridge's
 * against the simulated scheduler, which speaks its protocol, and slurmrestd's against the same one
 * as slurmrestd and an API server of Kubernetes would show it. Then the next request to a
 * scheduler, and the meaning of its answer.
 */
#include "core/plan/drain.h"
#include "core/sched/jobs.h"
#include "tests/facts.h"
#include "tests/kubernetes_model.h"
#include "tests/sched_contract.h"
#include "tests/slurmrestd_model.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THEIRS "kim"

/* The simulated one ------------------------------------------------------------------------- */

static void *sim_new(size_t size, enum scene scene, lks_ms now)
{
    static const struct lks_schedsim_job jobs[SCENES] = {
        [BUSY] = {.kind = LKS_SCHEDSIM_BATCH, .length = JOB_ENDS},
        [TRAINS] = {.kind = LKS_SCHEDSIM_TRAINING, .checkpoint = 10 * MINUTE},
        [HANGS] = {.kind = LKS_SCHEDSIM_DEV, .length = MINUTE},
        [SERVES] = {.kind = LKS_SCHEDSIM_SERVICE, .length = MINUTE, .minimum = 1, .requests = 3},
        [NEEDS_ALL] = {.kind = LKS_SCHEDSIM_SERVICE, .length = MINUTE, .minimum = 2, .requests = 3},
    };
    bool both = scene == TRAINS || scene == SERVES || scene == NEEDS_ALL;
    struct lks_schedsim *m = calloc(1, size);
    LKS_ASSERT(m != NULL);
    lks_schedsim_init(m, 1, now);
    uint32_t nodes[] = {lks_schedsim_add(m, "g1", LKS_SCHEDSIM_BATCH),
                        lks_schedsim_add(m, "g2", LKS_SCHEDSIM_BATCH)};
    if (scene != IDLE)
        LKS_ASSERT(lks_schedsim_start(m, &jobs[scene], nodes, both ? 2 : 1));
    m->nodes[0].stuck = scene == HANGS;
    return m;
}

static void *sim_begin(enum scene scene, lks_ms now)
{
    return sim_new(sizeof(struct lks_schedsim), scene, now);
}

static void sim_end(void *model)
{
    lks_schedsim_fini(model);
    free(model);
}

static void sim_take(void *model, const struct lks_http_request *request,
                     struct lks_schedsim_reply *out)
{
    lks_schedsim_take(model, request, out);
}

static void sim_pass(void *model, lks_ms now)
{
    lks_schedsim_pass(model, now);
}

static void sim_other(void *model, const char *owner)
{
    lks_schedsim_other(model, 0, owner);
}

static void sim_restart(void *model)
{
    lks_schedsim_restart(model, true);
}

static void sim_fault(void *model, enum lks_schedsim_fault fault, unsigned from, unsigned count)
{
    struct lks_schedsim *m = model;
    m->fault = fault;
    m->fault_from = m->requests + from;
    m->fault_count = count;
}

/* A bridge that is killed did nothing; a scheduler did what it was asked, and does not say so. */
static void sim_kill(void *model, enum contract_kill kill)
{
    struct lks_schedsim *m = model;
    sim_fault(m, kill == KILL_BRIDGE ? LKS_SCHEDSIM_LOST : LKS_SCHEDSIM_UNSAID, 1, 1);
    if (kill != KILL_BRIDGE)
        lks_schedsim_restart(m, false);
}

static struct truth sim_truth(const void *model)
{
    const struct lks_schedsim *m = model;
    const struct lks_schedsim_view *v = &m->nodes[0].now;
    struct truth t = {.closed = v->closed, .busy = lks_schedsim_busy(m, 0)};
    struct lks_str owner = lks_str_from(v->owner);
    if (lks_str_starts(owner, "lockstep:"))
        owner =
            lks_str_last(owner, ':').len > 0 ? lks_str_from(v->owner + strlen("lockstep:")) : owner;
    snprintf(t.owner, sizeof(t.owner), "%" LKS_STR_FMT, LKS_STR_ARG(owner));
    snprintf(t.reason, sizeof(t.reason), "%s", v->reason);
    return t;
}

static unsigned sim_writes(const void *model)
{
    return ((const struct lks_schedsim *)model)->writes;
}

static const char *sim_node(const void *model)
{
    (void)model;
    return "g1";
}

#define MODEL                                                                                      \
    .end = sim_end, .node = sim_node, .pass = sim_pass, .other = sim_other,                        \
    .restart = sim_restart, .fault = sim_fault, .kill = sim_kill, .truth = sim_truth,              \
    .writes = sim_writes, .kills_at = 3

static void rest_take(void *model, const struct lks_http_request *request,
                      struct lks_schedsim_reply *out)
{
    slurmrestd_model_take(model, "v0.0.42", request, out);
}

static void rest40_take(void *model, const struct lks_http_request *request,
                        struct lks_schedsim_reply *out)
{
    slurmrestd_model_take(model, "v0.0.40", request, out);
}

static void rest38_take(void *model, const struct lks_http_request *request,
                        struct lks_schedsim_reply *out)
{
    slurmrestd_model_take(model, "v0.0.38", request, out);
}

static void *kubernetes_begin(enum scene scene, lks_ms now)
{
    return sim_new(sizeof(struct kubernetes_model), scene, now);
}

static void kubernetes_take(void *model, const struct lks_http_request *request,
                            struct lks_schedsim_reply *out)
{
    kubernetes_model_take(model, request, out);
}

#define REST                                                                                       \
    .driver = &lks_sched_slurmrestd, .sched = "slurm", .person = THEIRS,                           \
    .user = SLURMRESTD_MODEL_USER, .job = "17", .refusal = "Invalid node state specified",         \
    .no_revisions = CONTRACT_NO_REVISIONS, .no_epochs = CONTRACT_NO_EPOCHS,                        \
    .no_scene = {[TRAINS] = CONTRACT_NO_CHECKPOINT,                                                \
                 [SERVES] = CONTRACT_NO_SERVICES,                                                  \
                 [NEEDS_ALL] = CONTRACT_NO_SERVICES},                                              \
    .site_refused = "use lockstep-slurm-bridge", .mishaps_at = 6, .begin = sim_begin, MODEL

static const struct contract_side all_sides[] = {
    {.name = "simulated",
     .driver = &lks_sched_bridge,
     .sched = "simulated",
     .person = THEIRS,
     .refusal = LKS_SCHEDSIM_UPGRADED,
     .job = "1",
     .only_jobs = "the simulated scheduler shows no verdicts and reserves nothing",
     .site_kills_at = 1,
     .mishaps_at = 4,
     .begin = sim_begin,
     .take = sim_take,
     MODEL},
    {.name = "slurmrestd v0.0.42", .take = rest_take, REST},
    {.name = "slurmrestd v0.0.40", .take = rest40_take, REST},
    {.name = "slurmrestd v0.0.38",
     .take = rest38_take,
     .no_writes = "slurmrestd has no route that changes a node before v0.0.39",
     .no_faults = "the other versions have them",
     .no_restart = "nothing is drained through it",
     REST},
    {.name = "kubernetes",
     .driver = &lks_sched_kubernetes,
     .sched = "kubernetes",
     .person = THEIRS,
     .why = " without a reason",
     .token = "abc.def-ghi",
     .job = KUBERNETES_MODEL_JOB,
     .refusal = LKS_SCHEDSIM_UPGRADED,
     .no_revisions = CONTRACT_OPAQUE,
     .no_scene = {[TRAINS] = CONTRACT_NO_WATERMARK,
                  [SERVES] = CONTRACT_NO_ROTATION,
                  [NEEDS_ALL] = CONTRACT_NO_ROTATION},
     .no_job = KUBERNETES_MODEL_NO_JOB,
     CONTRACT_KUBERNETES,
     .site_kills_at = 4, /* behind the node, and two pages of pods */
     .mishaps_at = 6,
     .begin = kubernetes_begin,
     .take = kubernetes_take,
     MODEL},
};

/* What an API server does beside the faults that every scheduler has. */
static const struct {
    const char *name;
    struct kubernetes_model_faults faults;
    enum lks_code code;
    const char *text;
    unsigned evicted;
    bool busy; /* the pod is there after it */
} evictions[] = {
    {"the place in the list is forgotten", {.gone = 2}, LKS_OK, "", 1, false},
    {"a budget never allows it",
     {.budget = "never"},
     LKS_E_UNAVAILABLE,
     "not evicted now: The disruption budget never",
     0,
     true},
    {"it is overloaded, and says when to come again", {.busy = 2}, LKS_OK, "", 1, false},
    {"a pod that is evicted does not end", {.stuck = true}, LKS_OK, "", 1, true},
    {"another pod has the name by then",
     {.replaced = 1},
     LKS_E_NOT_FOUND,
     "the run that is meant has ended",
     0,
     true},
};

static void test_evictions(void)
{
    for (size_t i = 0; i < LKS_COUNT(evictions); i++) {
        const struct contract_side *side = &all_sides[LKS_COUNT(all_sides) - 1];
        struct contract_rig r;
        struct lks_sched_jobs jobs = {0};
        lks_test_case("%s", evictions[i].name);
        contract_rig_init(&r, side, BUSY);
        CHECK_CODE(contract_ask(&r, LKS_SCHED_DRAIN, OURS), LKS_OK);
        kubernetes_model_faults = evictions[i].faults;
        struct lks_sched_site_wish wish = {.verb = LKS_SCHED_SITE_JOBS,
                                           .jobs = &jobs,
                                           .node = LKS_STR("g1"),
                                           .login = {.token = LKS_STR("abc")},
                                           .deadline = r.now + LKS_SCHED_DEADLINE};
        CHECK_CODE(contract_ask_site(&r, &wish), LKS_OK);
        CHECK_INT(jobs.count, 1);
        wish.verb = LKS_SCHED_SITE_REQUEUE;
        wish.job = jobs.jobs[0].id;
        wish.started = jobs.jobs[0].started;
        CHECK_CODE(contract_ask_site(&r, &wish), evictions[i].code);
        CHECK_HAS(lks_str_from(r.err.msg), evictions[i].text);
        CHECK_INT(kubernetes_model_faults.evicted, evictions[i].evicted);
        CHECK_INT(lks_schedsim_busy(r.model, 0), evictions[i].busy);
        CHECK(evictions[i].code != LKS_OK || contract_ask_site(&r, &wish) != LKS_E_REFUSED);
        CHECK_INT(kubernetes_model_faults.evicted, evictions[i].evicted); /* never twice */
        kubernetes_model_faults = (struct kubernetes_model_faults){0};
        lks_sched_jobs_fini(&jobs);
        contract_rig_fini(&r);
    }
}

/* A job of the model that is requeued runs again later, and requests about its first run never
 * reach the second. */
static void test_restart(void)
{
    struct contract_rig r;
    contract_rig_init(&r, &all_sides[0], BUSY);
    struct lks_schedsim *m = r.model;
    const struct lks_schedsim_job *job = &m->jobs[0];
    struct lks_sched_site_wish wish = {.verb = LKS_SCHED_SITE_REQUEUE,
                                       .job = LKS_STR("1"),
                                       .signal = LKS_STR("TERM"),
                                       .started = job->begun,
                                       .deadline = NOW + 60 * MINUTE};
    CHECK_CODE(contract_ask_site(&r, &wish), LKS_OK);
    CHECK(!lks_schedsim_busy(m, 0) && !lks_schedsim_busy(m, 1));
    CHECK_CODE(contract_ask_site(&r, &wish), LKS_E_NOT_FOUND); /* it waits */
    r.now += 5 * MINUTE;
    lks_schedsim_pass(m, r.now);
    CHECK(lks_schedsim_busy(m, 0) && job->begun > wish.started);
    CHECK_CODE(contract_ask_site(&r, &wish), LKS_E_NOT_FOUND);
    CHECK_INT(job->restarts, 1);
    wish.verb = LKS_SCHED_SITE_SIGNAL;
    CHECK_CODE(contract_ask_site(&r, &wish), LKS_E_NOT_FOUND);
    CHECK_INT(job->signals, 0);
    wish.started = job->begun;
    CHECK_CODE(contract_ask_site(&r, &wish), LKS_OK);
    CHECK_INT(job->signals, 1);
    contract_rig_fini(&r);
}

#define HOLD "hold:7"

/* What is to be asked ----------------------------------------------------------------------- */

static const struct lks_sched_said
    unknown = {0},
    open_node = {.known = true},
    held = {.known = true, .closed = true, .lockstep = true, .owner = OURS},
    hold = {.known = true, .closed = true, .lockstep = true, .owner = HOLD},
    left = {.known = true, .closed = true, .lockstep = true, .owner = BEFORE},
    theirs = {.known = true, .closed = true, .owner = THEIRS};

static const struct {
    const char *name, *sched;
    const char *drained; /* by whom, as the state has it */
    const struct lks_sched_said *last;
    const char *verb; /* NULL: nothing is to be asked */
    const char *owner, *from;
    bool held; /* by kim, in row 7 */
} nexts[] = {
    {"without a scheduler none is asked", "none", OURS, NULL, NULL, "", "", false},
    {"nor one that has no driver", "lsf", OURS, NULL, NULL, "", "", false},
    {"nothing is known yet", "simulated", "", NULL, "look", "", "", false},
    {"it is open and should be", "simulated", "", &open_node, NULL, "", "", false},
    {"it is open and should not be", "simulated", OURS, &open_node, "drain", OURS, "", false},
    {"it is ours: does something run there?", "simulated", OURS, &held, "look", OURS, "", false},
    {"it is ours and is over", "simulated", "", &held, "release", OURS, "", false},
    {"it is that of a change before", "simulated", OURS, &left, "drain", OURS, BEFORE, false},
    {"that one is over, too", "simulated", "", &left, "release", BEFORE, "", false},
    {"a person has it, and we want it as well", "simulated", OURS, &theirs, "drain", OURS, "",
     false},
    {"a person has it", "simulated", "", &theirs, NULL, "", "", false},
    {"it does not know the node", "simulated", OURS, &unknown, "look", OURS, "", false},
    {"it is on hold, and open", "simulated", "", &open_node, "drain", HOLD, "", true},
    {"it is drained for the hold", "simulated", "", &hold, "look", HOLD, "", true},
    {"the hold ended", "simulated", "", &hold, "release", HOLD, "", false},
    {"its change is over, and it is on hold", "simulated", "", &held, "drain", HOLD, OURS, true},
    {"it is on hold, and a change wants it", "simulated", OURS, &hold, "drain", OURS, HOLD, true},
    {"a change has it, and a hold as well", "simulated", OURS, &held, "look", OURS, "", true},
    {"a hold ended, and a change wants it", "simulated", OURS, &hold, "drain", OURS, HOLD, false},
    {"a person has it, and it is on hold", "simulated", "", &theirs, "drain", HOLD, "", true},
    {"on hold without a scheduler", "none", "", NULL, NULL, "", "", true},
    {"nor need it", "simulated", "", &unknown, NULL, "", "", false},
};

static void put_on_hold(struct lks_asked *a)
{
    lks_asked_apply(a, &(struct lks_record){.kind = LKS_RECORD_HELD,
                                            .held = {.node = LKS_STR("g1"),
                                                     .by = LKS_STR("user:kim"),
                                                     .reason = LKS_STR("bad fan"),
                                                     .row = 7}});
}

static void test_next(void)
{
    for (size_t i = 0; i < LKS_COUNT(nexts); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        struct lks_sched_wish wish = {0};
        lks_test_case("%s", nexts[i].name);
        lks_asked_init(&a);
        contract_set_pool(&a, nexts[i].sched);
        contract_set_drain(&a, nexts[i].drained);
        char space[LKS_SCHED_HOLD_SIZE];
        if (nexts[i].held)
            put_on_hold(&a);
        bool asks = lks_sched_next(&a.state, lks_test_facts(), lks_fleet_node(&a, "g1"),
                                   nexts[i].last, space, &wish);
        CHECK_INT(asks, nexts[i].verb != NULL);
        if (!asks || nexts[i].verb == NULL)
            continue;
        CHECK_STR(lks_str_from(lks_sched_verb_words[wish.verb]), nexts[i].verb);
        CHECK_STR(wish.owner, nexts[i].owner);
        CHECK_STR(wish.from, nexts[i].from);
        CHECK_STR(wish.node, "g1");
        CHECK_INT(wish.checkpoint, nexts[i].drained[0] != '\0'); /* a hold stops no job */
        if (strcmp(nexts[i].owner, HOLD) == 0 && nexts[i].held) {
            CHECK_STR(wish.by, "user:kim");
            CHECK_STR(wish.reason, "bad fan");
            CHECK_INT(wish.row, 7);
        }
    }
}

/* What becomes of an answer ----------------------------------------------------------------- */

static void test_event(void)
{
    struct lks_sched_said said = held, other = held;
    struct lks_event event;
    lks_sched_event(7, &said, &event);
    CHECK_INT(event.kind, LKS_EVENT_SCHED);
    CHECK_INT(event.node, 7);
    CHECK(event.sched.drained);
    CHECK_STR(event.sched.owner, OURS);
    other.jobs = 2;
    lks_sched_event(7, &other, &event);
    CHECK(!event.sched.drained);
    CHECK_INT(event.sched.jobs, 2);
    other = held;
    other.settles = true;
    lks_sched_event(7, &other, &event);
    CHECK(!event.sched.drained && !event.sched.foreign);
    other = theirs;
    lks_sched_event(7, &other, &event);
    CHECK_STR(event.sched.owner, "");
    snprintf(other.owner, sizeof(other.owner), OURS); /* a person with the name of a change */
    lks_sched_event(7, &other, &event);
    CHECK_STR(event.sched.owner, "");
}

/* What people are told while a node is on hold, and what is recorded of its drain. */
static const struct heard {
    const char *name;
    bool drained; /* and recorded as such, before */
    struct lks_event_sched said;
    const char *told; /* records; "": none */
} heards[] = {
    {"drained",
     false,
     {.drained = true, .owner = LKS_STR_C(HOLD), .text = LKS_STR_C("drained")},
     "noted node=g1 note=emptied on=1 text=drained"},
    {"drained, and heard before",
     true,
     {.drained = true, .owner = LKS_STR_C(HOLD), .text = LKS_STR_C("")},
     ""},
    {"a job runs there",
     false,
     {.jobs = 1, .owner = LKS_STR_C(HOLD), .text = LKS_STR_C("1 job")},
     ""},
    {"drained by a person",
     false,
     {.drained = true,
      .foreign = true,
      .owner = LKS_STR_C(""),
      .text = LKS_STR_C("drained by 'root': DIMM")},
     "alarm=scheduler subject=g1 text=hold:7 waits for it in slurm: drained by 'root': DIMM"},
    {"unknown there",
     false,
     {.missing = true, .owner = LKS_STR_C(""), .text = LKS_STR_C("no such node")},
     "alarm=scheduler subject=g1"},
    {"resumed by a person",
     true,
     {.lost = true, .owner = LKS_STR_C(""), .text = LKS_STR_C("open for work")},
     "text=drained in slurm for hold:7, and then another ended the drain (open for work)"},
    {"resumed, and no longer drained",
     true,
     {.lost = true, .owner = LKS_STR_C(""), .text = LKS_STR_C("open")},
     "noted node=g1 note=emptied"},
    {"a job all the same",
     true,
     {.jobs = 1, .owner = LKS_STR_C(HOLD), .text = LKS_STR_C("1 job")},
     "and then the node is not empty any more"},
    {"no answer",
     true,
     {.unknown = true, .refused = true, .owner = LKS_STR_C(""), .text = LKS_STR_C("bad ca")},
     "alarm=bridge subject=g1"},
    {"no answer, which no longer counts as drained",
     true,
     {.unknown = true, .refused = true, .owner = LKS_STR_C(""), .text = LKS_STR_C("bad ca")},
     "noted node=g1 note=emptied text=bad ca"},
    {"an answer that is too old, as after a start of lockstepd",
     true,
     {.unknown = true,
      .old = true,
      .since = (lks_ms)1 << 60,
      .owner = LKS_STR_C(""),
      .text = LKS_STR_C("no answer yet")},
     "noted node=g1 note=emptied text=no answer yet"},
    {"one of a node that is not reported as drained",
     false,
     {.unknown = true, .old = true, .owner = LKS_STR_C(""), .text = LKS_STR_C("no answer yet")},
     ""},
    {"no answer for a moment",
     true,
     {.unknown = true,
      .since = (lks_ms)1 << 60,
      .owner = LKS_STR_C(""),
      .text = LKS_STR_C("timeout")},
     ""},
};

/* What is answered about it; its pool is drained by a scheduler, and kim put it on hold. */
static struct lks_str hear(struct lks_asked *a, struct lks_event_sched said)
{
    const struct lks_event e = {
        .kind = LKS_EVENT_SCHED, .node = lks_fleet_node(a, "g1"), .sched = said};
    return lks_asked(a, &e);
}

static const struct lks_event_sched is_drained = {
    .drained = true, .owner = LKS_STR_C(HOLD), .text = LKS_STR_C("drained")};
static const struct lks_event_sched is_lost = {
    .lost = true, .owner = LKS_STR_C(""), .text = LKS_STR_C("open for work")};

static void hold_in(struct lks_asked *a)
{
    lks_asked_init(a);
    contract_set_pool(a, "slurm");
    put_on_hold(a);
}

static void test_hold_heard(void)
{
    for (size_t i = 0; i < LKS_COUNT(heards); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", heards[i].name);
        hold_in(&a);
        if (heards[i].drained)
            (void)hear(&a, is_drained);
        struct lks_str told = hear(&a, heards[i].said);
        if (heards[i].told[0] == '\0')
            CHECK_STR(told, "");
        else
            CHECK_HAS(told, heards[i].told);
    }
}

/* The end of a hold ends what was recorded of its drain, and what people are told of it. */
static void test_hold_ends(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    hold_in(&a);
    (void)hear(&a, is_drained);
    (void)hear(&a, is_lost);
    (void)hear(&a, is_drained);
    struct lks_event e = {.kind = LKS_EVENT_RELEASE,
                          .name = LKS_STR("g1"),
                          .by = LKS_STR("user:kim"),
                          .reason = LKS_STR("new fan")};
    struct lks_str told = lks_asked(&a, &e);
    CHECK_HAS(told, "unheld node=g1 by=user:kim reason=new fan");
    CHECK_HAS(told, "noted node=g1 note=emptied text=the hold ended");
    CHECK_INT(a.state.nodes[lks_fleet_node(&a, "g1")].emptied, 0);
    CHECK_HAS(hear(&a, is_drained), "alarm-released");
    CHECK_INT(a.state.alarms_open, 0);
}

/* A drain that nothing wants any more, while something is in progress. g1 is in a domain with g2
 * and with the asset s1. */
static const struct {
    const char *name, *node;
    bool updates; /* else it has a command */
    enum lks_bmc_act act;
    const char *verb; /* NULL: nothing is asked for now */
} works[] = {
    {"a command", "g1", false, LKS_BMC_UPDATE, NULL},
    {"a command to another node", "g2", false, LKS_BMC_UPDATE, "release"},
    {"an update", "g1", true, LKS_BMC_UPDATE, NULL},
    {"an update of an asset of its domain", "s1", true, LKS_BMC_UPDATE, NULL},
    {"an update of another node", "g2", true, LKS_BMC_UPDATE, "release"},
    {"an image is staged", "g1", true, LKS_BMC_STAGE, "release"},
    {"a staged image is given up", "g1", true, LKS_BMC_ABORT, "release"},
};

static void begin_work(struct lks_asked *a, size_t i)
{
    const struct lks_record places[] = {
        {.kind = LKS_RECORD_PLACED,
         .placed = {.hosts = LKS_STR_C("g[1-2]"),
                    .pool = LKS_STR_C("train"),
                    .domain = LKS_STR_C("rack1")}},
        {.kind = LKS_RECORD_PLACED,
         .placed = {.hosts = LKS_STR_C("s1"),
                    .asset = LKS_STR_C("power-shelf"),
                    .domain = LKS_STR_C("rack1")}},
    };
    const struct lks_record command = {
        .kind = LKS_RECORD_COMMAND,
        .command = {.id = 1, .node = lks_str_from(works[i].node), .executor = LKS_STR_C("reboot")}};
    const struct lks_record update = {.kind = LKS_RECORD_FLASH,
                                      .flash = {.id = 1,
                                                .node = lks_str_from(works[i].node),
                                                .act = works[i].act,
                                                .component = LKS_STR_C("bmc")}};
    for (size_t k = 0; k < LKS_COUNT(places); k++)
        lks_asked_apply(a, &places[k]);
    lks_asked_apply(a, works[i].updates ? &update : &command);
}

static void end_work(struct lks_asked *a, size_t i)
{
    const struct lks_record command = {.kind = LKS_RECORD_COMMAND_ENDED,
                                       .command_ended = {.id = 1,
                                                         .node = lks_str_from(works[i].node),
                                                         .outcome = LKS_OUTCOME_DONE}};
    const struct lks_record update = {
        .kind = LKS_RECORD_FLASH_ENDED,
        .flash_ended = {.id = 1, .node = lks_str_from(works[i].node), .outcome = LKS_BMC_DONE}};
    lks_asked_apply(a, works[i].updates ? &update : &command);
}

static void check_next(struct lks_asked *a, const char *verb)
{
    struct lks_sched_wish wish = {0};
    char space[LKS_SCHED_HOLD_SIZE];
    bool asks =
        lks_sched_next(&a->state, lks_test_facts(), lks_fleet_node(a, "g1"), &hold, space, &wish);
    CHECK_INT(asks, verb != NULL);
    if (asks && verb != NULL)
        CHECK_STR(lks_str_from(lks_sched_verb_words[wish.verb]), verb);
}

static void test_work(void)
{
    for (size_t i = 0; i < LKS_COUNT(works); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", works[i].name);
        lks_asked_init(&a);
        contract_set_pool(&a, "slurm");
        begin_work(&a, i);
        check_next(&a, works[i].verb);
        end_work(&a, i);
        check_next(&a, "release");
    }
}

/* A bridge sends drains with the same text as one request. */
static void test_hold_together(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    char space[2][LKS_SCHED_HOLD_SIZE];
    lks_asked_init(&a);
    contract_set_pool(&a, "slurm");
    struct lks_event e = {.kind = LKS_EVENT_HOLD,
                          .name = LKS_STR("g[1-2]"),
                          .by = LKS_STR("user:kim"),
                          .reason = LKS_STR("bad fan")};
    CHECK_HAS(lks_asked(&a, &e), "held node=g2");
    struct lks_sched_cause one = lks_sched_cause(&a.state, lks_fleet_node(&a, "g1"), space[0]);
    struct lks_sched_cause two = lks_sched_cause(&a.state, lks_fleet_node(&a, "g2"), space[1]);
    CHECK(one.row != 0);
    CHECK_INT(one.row, two.row);
    CHECK_STR(one.owner, space[1]);
    CHECK_STR(two.owner, space[1]);
}

/* Plans and drivers agree about who can be asked. */
static void test_tables(void)
{
    static const char *const words[] = {"",      "none",       "simulated",
                                        "slurm", "kubernetes", "something"};
    for (size_t i = 0; i < LKS_COUNT(words); i++) {
        struct lks_str word = lks_str_from(words[i]);
        lks_test_case("%s", words[i]);
        CHECK_INT(lks_sched_driver(word) != NULL, lks_drain_sched(word) == LKS_DRAIN_DRIVEN);
    }
    for (size_t i = 0; i < LKS_COUNT(all_sides); i++)
        CHECK(lks_sched_driver(lks_str_from(all_sides[i].sched)) != NULL);
}

int main(void)
{
    contract_sides(all_sides, LKS_COUNT(all_sides));
    return lks_test_main((const struct lks_test[]){
        {"what each verb does", contract_verbs},
        {"wishes that are odd", contract_odd_wishes},
        {"waiting for what runs", contract_waiting},
        {"mishaps on the way", contract_mishaps},
        {"faults of the scheduler", contract_faults},
        {"kills", contract_kills},
        {"a whole site", contract_site},
        {"kills at requests about jobs", contract_site_kills},
        {"deadlines", contract_deadlines},
        {"stale answers", contract_stale},
        {"epochs of leaders", contract_epochs},
        {"one owner of ours after the other", contract_takes_over},
        {"evictions", test_evictions},
        {"a job that is requeued runs again", test_restart},
        {"what is to be asked", test_next},
        {"a release while something is in progress", test_work},
        {"requests are repeated", contract_keeps_asking},
        {"what becomes of an answer", test_event},
        {"what is heard of a node on hold", test_hold_heard},
        {"the end of a hold", test_hold_ends},
        {"a hold of several nodes", test_hold_together},
        {"tables", test_tables},
        {NULL, NULL},
    });
}
