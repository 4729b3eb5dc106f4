/* doctor: the checks that read lists of a running controller. */
#include "cli/control/doctor.h"
#include "cli/shared/controller.h"
#include "cli/shared/render.h"
#include "codec/format/digest.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

enum {
    NAMED_MOST = 5,   /* nodes or files that a finding names */
    DIGEST_TOLD = 19, /* "sha256:" and twelve digits */
    SLOTS = 3,        /* of a pool */
};

#define GOOD LKS_DOCTOR_GOOD
#define NOTE LKS_DOCTOR_NOTE
#define BAD  LKS_DOCTOR_BAD

/* Rows of a list that are worth a finding, and the names of the first. */
struct look {
    struct lks_doctor *d;
    uint64_t all, found;
    uint64_t unfenced; /* nodes whose scheduler refuses no old controller */
    struct lks_buf names;
    const char *first; /* a form, of the command for the first */
    char fix[LKS_DOCTOR_FIX_MAX];
};

static void name_row(struct look *l, const struct lks_doc *item, const char *form)
{
    LKS_CLEANUP(lks_buf_fini)
    struct lks_buf fix = LKS_BUF(LKS_DOCTOR_FIX_MAX - 1);
    if (l->found++ < NAMED_MOST) {
        lks_buf_addf(&l->names, "%s", l->found > 1 ? ", " : "");
        lks_render(&l->names, form, &(struct lks_render){.doc = item});
    }
    if (l->found > 1 || l->first == NULL)
        return;
    lks_render(&fix, l->first, &(struct lks_render){.doc = item});
    snprintf(l->fix, sizeof(l->fix), "%" LKS_STR_FMT, LKS_STR_ARG(lks_buf_view(&fix)));
}

static bool walk(struct look *l, const char *where, lks_remote_item *fn, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    lks_buf_init(&l->names, LKS_DOCTOR_TEXT_MAX / 2);
    lks_remote_path_init(&path, where);
    return lks_remote_list(&l->d->remote, &path, "after", 0, fn, l, err) == LKS_OK;
}

static void look_fini(struct look *l)
{
    lks_buf_fini(&l->names);
}

static const char *more(const struct look *l)
{
    return l->found > NAMED_MOST ? ", ..." : "";
}

static enum lks_code look_at_sched(void *ctx, const struct lks_doc *item, struct lks_err *err)
{
    struct look *l = ctx;
    (void)err;
    l->all++;
    l->unfenced += lks_render_number(item, "unfenced");
    if (lks_render_number(item, "failing") > 0)
        name_row(l, item, "[{name}|{pool}] ({failing#node}: {text})");
    if (lks_render_number(item, "missing") > 0)
        name_row(l, item, "[{name}|{pool}] ({missing#node} unknown there)");
    return LKS_OK;
}

enum { GRES_PERCENT = 2, PERCENT = 100 };

/* Whether there is no finding in the list of schedulers, which is said unless the list is empty. */
static bool is_good(struct look *l, lks_remote_item *fn, const char *name, const char *good)
{
    struct lks_err err = {0};
    bool any = l->d->remote.client != NULL && walk(l, "/v1/schedulers", fn, &err) && l->all > 0;
    if (any && l->found == 0)
        lks_doctor_say(l->d, name, GOOD, "%s", good);
    return !any || l->found == 0;
}

/* One node is drift as any other; many at once are a line of slurm.conf. */
static enum lks_code look_at_gres(void *ctx, const struct lks_doc *item, struct lks_err *err)
{
    struct look *l = ctx;
    uint64_t differ = lks_render_number(item, "gres_differ"), all = lks_render_number(item, "gres");
    (void)err;
    l->all += all;
    if (differ > 1 && differ * PERCENT > all * GRES_PERCENT)
        name_row(l, item, "[{name}|{pool}] ({gres_differ#node} of {gres})");
    return LKS_OK;
}

void lks_doctor_gres(struct lks_doctor *d)
{
    LKS_CLEANUP(look_fini)
    struct look l = {
        .d = d, .names = LKS_BUF(LKS_DOCTOR_TEXT_MAX / 2), .first = "lockstep drift --pool {pool}"};
    if (is_good(&l, look_at_gres, "gres", "schedulers advertise the GPUs that stacks pin"))
        return;
    lks_doctor_fix(d, "%s", l.fix);
    lks_doctor_say(d, "gres", NOTE,
                   "schedulers advertise other GPUs than stacks pin; compare Gres in slurm.conf: "
                   "%s%s",
                   l.names.ptr, more(&l));
}

/* Only nodes that are behind for a while: each new verdict takes seconds to be published. */
static enum lks_code look_at_verdicts(void *ctx, const struct lks_doc *item, struct lks_err *err)
{
    struct look *l = ctx;
    (void)err;
    l->all += lks_render_number(item, "published") + lks_render_number(item, "behind");
    if (l->found == 0)
        l->first = lks_str_is(lks_doc_text(item, "scheduler"), "kubernetes")
                       ? "kubectl auth can-i patch nodes --subresource=status "
                         "--as=system:serviceaccount:lockstep:lockstep"
                       : "journalctl -u lockstep-slurm-bridge -n 50    # on the bridge's host";
    if (lks_render_number(item, "late") > 0)
        name_row(l, item,
                 "[{name}|{pool}] ({late#node}: [{late_text}|requests succeed, and the nodes do "
                 "not keep "
                 "what they set])");
    return LKS_OK;
}

void lks_doctor_verdicts(struct lks_doctor *d)
{
    LKS_CLEANUP(look_fini)
    struct look l = {.d = d, .names = LKS_BUF(LKS_DOCTOR_TEXT_MAX / 2)};
    if (is_good(&l, look_at_verdicts, "verdicts", "no scheduler shows an old verdict on a node"))
        return;
    lks_doctor_fix(d, "%s", l.fix);
    lks_doctor_say(d, "verdicts", BAD,
                   "schedulers have shown another verdict or stack than lockstep's for more than "
                   "10 minutes, and place jobs by it: %s%s",
                   l.names.ptr, more(&l));
}

static enum lks_code look_at_slots(void *ctx, const struct lks_doc *item, struct lks_err *err)
{
    struct look *l = ctx;
    (void)err;
    uint64_t used = lks_render_number(item, "slots");
    l->all += used;
    if (used == SLOTS && lks_render_number(item, "slotless") > 0)
        name_row(l, item, "{pool} ({slotless#node})");
    return LKS_OK;
}

/* With a fourth stack, jobs on several nodes leave some nodes of a pool out. A stack that waits for
 * a slot while one becomes free is no finding. */
void lks_doctor_slots(struct lks_doctor *d)
{
    LKS_CLEANUP(look_fini)
    struct look l = {.d = d, .names = LKS_BUF(LKS_DOCTOR_TEXT_MAX / 2)};
    struct lks_err err = {0};
    if (d->remote.client == NULL || !walk(&l, "/v1/schedulers", look_at_slots, &err) ||
        l.all + l.found == 0)
        return;
    if (l.found == 0) {
        lks_doctor_say(d, "slots", GOOD, "no pool has more stacks than slots");
        return;
    }
    lks_doctor_fix(d, "lockstep scheduler ls");
    lks_doctor_say(
        d, "slots", NOTE,
        "nodes without a slot, which jobs on several nodes leave out: %s%s; end a change "
        "or a pin of the pool",
        l.names.ptr, more(&l));
}

static enum lks_code look_at_policy(void *ctx, const struct lks_doc *item, struct lks_err *err)
{
    struct look *l = ctx;
    (void)err;
    l->all += lks_render_truth(item, "policy");
    if (lks_render_truth(item, "policy_text"))
        name_row(l, item, "{pool} ({policy_text})");
    return LKS_OK;
}

void lks_doctor_submissions(struct lks_doctor *d)
{
    LKS_CLEANUP(look_fini)
    struct look l = {.d = d, .names = LKS_BUF(LKS_DOCTOR_TEXT_MAX / 2)};
    struct lks_err err = {0};
    if (d->remote.client == NULL || !walk(&l, "/v1/schedulers", look_at_policy, &err) ||
        l.all + l.found == 0)
        return;
    if (l.found == 0) {
        lks_doctor_say(d, "submissions", GOOD, "bridges write the submission policy");
        return;
    }
    lks_doctor_fix(d, "journalctl -u lockstep-slurm-bridge -n 50    # on the bridge's host");
    lks_doctor_say(d, "submissions", BAD,
                   "bridges do not write the submission policy: slurmctld uses the last one for "
                   "slurm.stale_s seconds, then takes jobs as they are, or refuses them in pools "
                   "of slurm.stale_closed: %s%s",
                   l.names.ptr, more(&l));
}

static enum lks_code look_at_reserved(void *ctx, const struct lks_doc *item, struct lks_err *err)
{
    struct look *l = ctx;
    (void)err;
    l->all += lks_render_number(item, "reserved");
    if (lks_render_truth(item, "unreserved"))
        name_row(l, item, "[{name}|{pool}] ({unreserved})");
    return LKS_OK;
}

/* A change does not wait for a reservation: jobs do. */
void lks_doctor_reservations(struct lks_doctor *d)
{
    LKS_CLEANUP(look_fini)
    struct look l = {.d = d, .names = LKS_BUF(LKS_DOCTOR_TEXT_MAX / 2)};
    struct lks_err err = {0};
    if (d->remote.client == NULL || !walk(&l, "/v1/schedulers", look_at_reserved, &err) ||
        l.all + l.found == 0)
        return;
    if (l.found == 0) {
        lks_doctor_say(d, "reservations", GOOD, "schedulers reserve nodes for windows of changes");
        return;
    }
    lks_doctor_fix(d, "lockstep scheduler ls");
    lks_doctor_say(d, "reservations", NOTE,
                   "schedulers do not reserve nodes for windows of changes, so jobs may run into "
                   "a window: %s%s",
                   l.names.ptr, more(&l));
}

static enum lks_code look_at_list(void *ctx, const struct lks_doc *item, struct lks_err *err)
{
    struct look *l = ctx;
    (void)err;
    l->all++;
    if (lks_doc_text(item, "unlisted").len > 0)
        name_row(l, item, "[{name}|{pool}] (since {unlisted}: {unlisted_text})");
    return LKS_OK;
}

static enum lks_code look_at_runs(void *ctx, const struct lks_doc *item, struct lks_err *err)
{
    struct look *l = ctx;
    (void)err;
    l->all++;
    if (lks_render_truth(item, "runs_failing"))
        name_row(l, item, "[{name}|{pool}] (not read since {runs_failing}: {runs_text})");
    else if (lks_render_truth(item, "runs_gap"))
        name_row(l, item, "[{name}|{pool}] (a gap until {runs_gap})");
    return LKS_OK;
}

void lks_doctor_runs(struct lks_doctor *d)
{
    LKS_CLEANUP(look_fini)
    struct look l = {.d = d, .names = LKS_BUF(LKS_DOCTOR_TEXT_MAX / 2)};
    if (is_good(&l, look_at_runs, "runs", "runs of jobs that ended are read"))
        return;
    lks_doctor_fix(d, "journalctl -u lockstep-slurm-bridge -n 50    # on the bridge's host");
    lks_doctor_say(d, "runs", NOTE, "'lockstep job ls' may miss runs of jobs that ended: %s%s",
                   l.names.ptr, more(&l));
}

void lks_doctor_job_lists(struct lks_doctor *d)
{
    LKS_CLEANUP(look_fini)
    struct look l = {.d = d, .names = LKS_BUF(LKS_DOCTOR_TEXT_MAX / 2)};
    if (is_good(&l, look_at_list, "job lists", "every list of jobs that is asked for comes"))
        return;
    lks_doctor_fix(d, "journalctl -u lockstep-slurm-bridge -n 50    # on the bridge's host");
    lks_doctor_say(d, "job lists", BAD,
                   "schedulers do not list their jobs, so plans show old lists and no job of a "
                   "draining node is requeued: %s%s",
                   l.names.ptr, more(&l));
}

void lks_doctor_schedulers(struct lks_doctor *d)
{
    LKS_CLEANUP(look_fini)
    struct look l = {.d = d, .names = LKS_BUF(LKS_DOCTOR_TEXT_MAX / 2)};
    struct lks_err err = {0};
    if (d->remote.client == NULL || !walk(&l, "/v1/schedulers", look_at_sched, &err) || l.all == 0)
        return;
    if (l.found == 0 && l.unfenced > 0) {
        lks_doctor_fix(d, "run lockstep-slurm-bridge; docs/slurm.md, \"slurmrestd\"");
        lks_doctor_say(d, "schedulers", NOTE,
                       "no scheduler fails to answer; slurmrestd drains nodes without epochs: a "
                       "controller that lost its lease is not refused");
        return;
    }
    if (l.found == 0) {
        lks_doctor_say(d, "schedulers", GOOD, "all schedulers answer and know the nodes");
        return;
    }
    lks_doctor_fix(d, "lockstep scheduler ls");
    lks_doctor_say(d, "schedulers", BAD,
                   "schedulers do not answer for these nodes or do not know them, so they are "
                   "neither drained nor returned to service: %s%s",
                   l.names.ptr, more(&l));
}

/* What may be found of bridges. */
enum { REFUSES, SILENT, UNKNOWN_SITE, BRIDGE_FINDINGS };

static const struct {
    enum lks_doctor_state state;
    const char *name; /* forms: of a row, */
    const char *fix;  /* and of the command for the first */
    const char *text;
} bridge_findings[BRIDGE_FINDINGS] = {
    [REFUSES] = {BAD, "{url} ({text})", "docs/slurm.md, \"Epochs\"",
                 "refuse the epoch of this leader, so nothing of it is written through them"},
    [SILENT] = {BAD, "{url} ({text})",
                "systemctl restart lockstep-slurm-bridge    # on the host of {url}",
                "do not confirm the epoch of this leader, so an earlier leader can still write "
                "through them"},
    [UNKNOWN_SITE] = {NOTE, "{site}={url}",
                      "lockstep node ls --columns node,site    # then slurm.bridges",
                      "are for sites at which the fleet has no node"},
};

static enum lks_code look_at_bridge(void *ctx, const struct lks_doc *item, struct lks_err *err)
{
    struct look *looks = ctx;
    struct lks_str epoch = lks_doc_text(item, "epoch");
    (void)err;
    looks[0].all++;
    if (lks_str_is(epoch, "refused"))
        name_row(&looks[REFUSES], item, bridge_findings[REFUSES].name);
    if (lks_str_is(epoch, "failing"))
        name_row(&looks[SILENT], item, bridge_findings[SILENT].name);
    if (!lks_render_truth(item, "known"))
        name_row(&looks[UNKNOWN_SITE], item, bridge_findings[UNKNOWN_SITE].name);
    return LKS_OK;
}

static void say_bridges(struct lks_doctor *d, const struct look *looks)
{
    uint64_t found = 0;
    for (size_t i = 0; i < BRIDGE_FINDINGS; i++) {
        const struct look *l = &looks[i];
        found += l->found;
        if (l->found == 0)
            continue;
        lks_doctor_fix(d, "%s", l->fix);
        lks_doctor_say(d, "bridges", bridge_findings[i].state,
                       "%" PRIu64 " of %" PRIu64 " bridges in slurm.bridges %s: %s%s", l->found,
                       looks[0].all, bridge_findings[i].text, l->names.ptr, more(l));
    }
    if (looks[0].all > 0 && found == 0)
        lks_doctor_say(d, "bridges", GOOD,
                       "no bridge refuses the epoch of this leader, and the fleet has nodes at "
                       "their sites");
}

void lks_doctor_bridges(struct lks_doctor *d)
{
    struct look looks[BRIDGE_FINDINGS] = {0};
    struct lks_err err = {0};
    for (size_t i = 0; i < BRIDGE_FINDINGS; i++) {
        looks[i] = (struct look){.d = d, .first = bridge_findings[i].fix};
        lks_buf_init(&looks[i].names, LKS_DOCTOR_TEXT_MAX / 2);
    }
    if (d->remote.client != NULL && walk(looks, "/v1/schedulers/bridges", look_at_bridge, &err))
        say_bridges(d, looks);
    for (size_t i = 0; i < BRIDGE_FINDINGS; i++)
        look_fini(&looks[i]);
}

static enum lks_code look_at_sweep(void *ctx, const struct lks_doc *item, struct lks_err *err)
{
    struct look *l = ctx;
    (void)err;
    l->all++;
    if (lks_render_number(item, "never") > 0 ||
        lks_render_number(item, "oldest_ms") > 2 * lks_render_number(item, "every"))
        name_row(l, item, "{pool} [{never?}{never#endpoint} never read|oldest {oldest_ms~}]");
    return LKS_OK;
}

void lks_doctor_sweeps(struct lks_doctor *d)
{
    LKS_CLEANUP(look_fini)
    struct look l = {.d = d, .names = LKS_BUF(LKS_DOCTOR_TEXT_MAX / 2)};
    struct lks_err err = {0};
    if (d->remote.client == NULL || !walk(&l, "/v1/sweeps", look_at_sweep, &err) || l.all == 0)
        return;
    if (l.found == 0) {
        lks_doctor_say(d, "sweeps", GOOD, "management endpoints are read as often as they should");
        return;
    }
    lks_doctor_fix(d, "lockstep endpoint ls");
    lks_doctor_say(d, "sweeps", NOTE, "management endpoints are read too seldom, by pool: %s%s",
                   l.names.ptr, more(&l));
}

/* An endpoint that shows another key than the recorded one is another device,
 * or an attack. */
static bool is_other(const struct lks_doc *item)
{
    return lks_str_find(lks_doc_text(item, "failure"), LKS_STR("another key")) >= 0;
}

static bool is_unpinned(const struct lks_doc *item)
{
    return lks_str_is(lks_doc_text(item, "trust"), "fingerprint") &&
           lks_doc_text(item, "fingerprint").len == 0;
}

/* What may be found of endpoints. */
enum { OTHER, FAILED, UNPINNED, FINDINGS };

static const struct {
    enum lks_doctor_state state;
    const char *name; /* forms: of a row, */
    const char *fix;  /* and of the command for the first */
    const char *text;
} findings[FINDINGS] = {
    [OTHER] = {BAD, "{node}",
               "lockstep bmc trust {url} --json && lockstep endpoint trust "
               "{node} FINGERPRINT "
               "--reason replaced",
               "show another key than the recorded one, and nothing is sent to "
               "them: compare the "
               "key with the device, then trust it"},
    [FAILED] = {NOTE, "{node} ({failure})", "lockstep endpoint ls --node {node}",
                "could not be read"},
    [UNPINNED] = {NOTE, "{node}",
                  "lockstep bmc trust {url} --json && lockstep endpoint trust "
                  "{node} FINGERPRINT "
                  "--reason 'first seen'",
                  "have no recorded key yet"},
};

static enum lks_code look_at_endpoint(void *ctx, const struct lks_doc *item, struct lks_err *err)
{
    struct look *looks = ctx;
    (void)err;
    looks[0].all++;
    if (is_other(item))
        name_row(&looks[OTHER], item, findings[OTHER].name);
    else if (lks_doc_text(item, "failed").len > 0)
        name_row(&looks[FAILED], item, findings[FAILED].name);
    if (is_unpinned(item))
        name_row(&looks[UNPINNED], item, findings[UNPINNED].name);
    return LKS_OK;
}

static void say_endpoints(struct lks_doctor *d, const struct look *looks)
{
    uint64_t all = looks[0].all, found = 0;
    for (size_t i = 0; i < FINDINGS; i++) {
        const struct look *l = &looks[i];
        found += l->found;
        if (l->found == 0)
            continue;
        lks_doctor_fix(d, "%s", l->fix);
        lks_doctor_say(d, "endpoints", findings[i].state,
                       "%" PRIu64 " of %" PRIu64 " management endpoints %s: %s%s", l->found, all,
                       findings[i].text, l->names.ptr, more(l));
    }
    if (all > 0 && found == 0)
        lks_doctor_say(d, "endpoints", GOOD,
                       "all %" PRIu64 " management endpoints answer, and are known by their key",
                       all);
}

void lks_doctor_endpoints(struct lks_doctor *d)
{
    struct look looks[FINDINGS] = {0};
    struct lks_err err = {0};
    for (size_t i = 0; i < FINDINGS; i++) {
        looks[i] = (struct look){.d = d, .first = findings[i].fix};
        lks_buf_init(&looks[i].names, LKS_DOCTOR_TEXT_MAX / 2);
    }
    if (d->remote.client != NULL && walk(looks, "/v1/endpoints", look_at_endpoint, &err))
        say_endpoints(d, looks);
    for (size_t i = 0; i < FINDINGS; i++)
        look_fini(&looks[i]);
}

void lks_doctor_alarms(struct lks_doctor *d)
{
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer answer = {0};
    struct lks_err err = {0};
    char count[LKS_COUNT_TEXT_SIZE];
    if (d->remote.client == NULL ||
        lks_remote_get(&d->remote, "/v1/fleet", &answer, &err) != LKS_OK)
        return;
    uint64_t open = lks_render_number(answer.doc, "alarms_open");
    if (open > 0)
        lks_doctor_fix(d, "lockstep alarm ls");
    lks_doctor_say(d, "alarms", open > 0 ? NOTE : GOOD, "%s open",
                   open > 0 ? lks_str_count_text(open, "alarm", count) : "no alarm is");
}

static enum lks_code look_at_unanswered(void *ctx, const struct lks_doc *item, struct lks_err *err)
{
    (void)err;
    name_row(ctx, item, "{subject} (since {raised}: {text})");
    return LKS_OK;
}

/* Starts are reported afterwards, so the alarm may be the only trace of them. */
void lks_doctor_unanswered(struct lks_doctor *d)
{
    LKS_CLEANUP(look_fini)
    struct look l = {.d = d,
                     .names = LKS_BUF(LKS_DOCTOR_TEXT_MAX / 2),
                     .first = "lockstep alarm release {id} --reason TEXT    # when the cause is "
                              "repaired"};
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    struct lks_err err = {0};
    lks_remote_path_init(&path, "/v1/alarms");
    lks_remote_path_query(&path, "kind", LKS_STR("unanswered"));
    lks_remote_path_query(&path, "open", LKS_STR("true"));
    if (d->remote.client == NULL ||
        lks_remote_list(&d->remote, &path, "after", 0, look_at_unanswered, &l, &err) != LKS_OK)
        return;
    if (l.found == 0) {
        lks_doctor_say(d, "admission", GOOD, "no start of a job without an answer is reported");
        return;
    }
    lks_doctor_fix(d, "%s", l.fix);
    lks_doctor_say(d, "admission", NOTE, "schedulers started jobs without an answer: %s%s",
                   l.names.ptr, more(&l));
}

/* The depot ----------------------------------------------------------------------------------- */

static bool is_held(const char *dir, struct lks_str digest, int64_t size)
{
    const size_t skip = strlen("sha256:");
    char path[PATH_MAX];
    struct stat st;
    if (!lks_digest_valid(digest))
        return false;
    int len = snprintf(path, sizeof(path), "%s/depot/sha256/%.2s/%.62s", dir, digest.ptr + skip,
                       digest.ptr + skip + 2);
    return len > 0 && (size_t)len < sizeof(path) && lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           st.st_size == size;
}

static enum lks_code look_at_artifact(void *ctx, const struct lks_doc *item, struct lks_err *err)
{
    struct look *l = ctx;
    const struct lks_doc *size = lks_doc_member(item, "size");
    struct lks_str digest = lks_doc_text(item, "digest"), name = lks_doc_text(item, "name");
    (void)err;
    l->all++;
    if (is_held(l->d->dir, digest, size != NULL ? size->number : 0))
        return LKS_OK;
    if (l->found++ < NAMED_MOST)
        lks_buf_addf(&l->names, "%s%" LKS_STR_FMT "%s%.*s", l->found > 1 ? ", " : "",
                     LKS_STR_ARG(name), name.len > 0 ? " " : "",
                     (int)(digest.len < DIGEST_TOLD ? digest.len : DIGEST_TOLD), digest.ptr);
    return LKS_OK;
}

/* What the journal of the running lockstepd has, compared with the files of
 * this controller. What nothing needs is collected every day, so the rest may
 * be needed at any time. */
void lks_doctor_depot(struct lks_doctor *d)
{
    LKS_CLEANUP(look_fini)
    struct look l = {.d = d, .names = LKS_BUF(LKS_DOCTOR_TEXT_MAX / 2)};
    struct lks_err err = {0};
    if (d->remote.client == NULL) {
        lks_doctor_say(d, "depot", NOTE, "not compared with the journal: lockstepd does not run");
    } else if (!walk(&l, "/v1/artifacts", look_at_artifact, &err)) {
        lks_doctor_say(d, "depot", NOTE, "not compared with the journal: %s", err.msg);
    } else if (l.found > 0) {
        lks_doctor_fix(d, "lockstep bundle push DIR");
        lks_doctor_say(d, "depot", BAD,
                       "%" PRIu64 " of %" PRIu64 " artifacts are missing here: %s%s; they are "
                       "fetched from the controllers of controller.agents: put "
                       "those again that "
                       "none of them has",
                       l.found, l.all, l.names.ptr, more(&l));
    } else {
        lks_doctor_say(d, "depot", GOOD, "all %" PRIu64 " artifacts of the journal are here",
                       l.all);
    }
}
