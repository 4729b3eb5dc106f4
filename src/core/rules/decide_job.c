/* Jobs that start, overrides that let one start, what observing pools would have refused, and which
 * controller leads. */
#include "core/admission/admit.h"
#include "core/rows/job.h"
#include "core/rules/decide_rules.h"
#include "core/state/state.h"

#define HOUR            (3600 * LKS_SECOND)
#define OVERRIDE_MS_MAX (24 * HOUR)

enum { IMAGES_BYTES_MAX = 64 << 10, LEADER_NAME_MAX = 64, LEADER_URL_MAX = 256 };

/* The nodes of a job as a folded host list. All of them are nodes of the fleet; how many there are
 * is the job's business. */
static bool check_hosts(struct lks_deciding *d, struct lks_str hosts, struct lks_str *out)
{
    struct lks_hostlist list = {0};
    struct lks_err err = {0};
    if (lks_hostlist_parse(hosts, &d->out->arena, &list, &err) != LKS_OK) {
        lks_decision_refuse(d, LKS_E_INVALID, "nodes: %s", err.msg);
        return false;
    }
    if (list.count == 0) {
        lks_decision_refuse(d, LKS_E_INVALID, "nodes: the list names none");
        return false;
    }
    for (size_t i = 0; i < list.count; i++) {
        uint32_t node = lks_state_node(d->state, list.names[i]);
        if (node == LKS_NO_NODE) {
            lks_decision_no_node(d, list.names[i]);
            return false;
        }
        if (d->state->nodes[node].asset != 0) {
            lks_decision_refuse(d, LKS_E_INVALID, "nodes: %" LKS_STR_FMT " is an asset, no node",
                                LKS_STR_ARG(list.names[i]));
            return false;
        }
    }
    if (lks_decision_fold(d, list.names, list.count, out))
        return true;
    if (d->out->failed == LKS_OK)
        lks_decision_refuse(d, LKS_E_LIMIT, "nodes: the list is too long");
    return false;
}

void lks_decide_job(struct lks_deciding *d)
{
    struct lks_rec_job job = d->event->job;
    if (!lks_decision_line(d, "job", job.job, LKS_ADMIT_JOB_MAX) ||
        (job.images.len > 0 && !lks_decision_line(d, "images", job.images, IMAGES_BYTES_MAX)) ||
        (job.override.len > 0 && !lks_decision_line(d, "override", job.override, LKS_REASON_MAX)) ||
        !check_hosts(d, job.hosts, &job.hosts))
        return;
    job.by = d->event->by;
    lks_decision_add(d, LKS_RECORD_JOB)->job = job;
}

/* An override is for a night, not a policy: what has to hold for longer is a deviation. */
static bool check_until(struct lks_deciding *d, lks_ms until)
{
    if (until <= d->now.wall) {
        lks_decision_refuse(d, LKS_E_INVALID, "until: that time has passed");
        return false;
    }
    if (until - d->now.wall > OVERRIDE_MS_MAX) {
        lks_decision_refuse(d, LKS_E_INVALID,
                            "until: at most %llu hours from now; what holds for longer is a "
                            "deviation ('lockstep deviation add')",
                            (unsigned long long)(OVERRIDE_MS_MAX / HOUR));
        return false;
    }
    return true;
}

/* Older ones that are over make room. */
static bool has_room(struct lks_deciding *d)
{
    const struct lks_state *s = d->state;
    uint32_t open = 0;
    for (uint32_t i = 0; i < s->override_count; i++)
        open += s->overrides[i].until > d->now.wall;
    return lks_decision_space(d, "overrides that hold", open, LKS_STATE_OVERRIDES_MAX);
}

void lks_decide_override(struct lks_deciding *d)
{
    struct lks_rec_override override = d->event->override;
    override.reason = lks_str_trim(override.reason);
    override.by = d->event->by;
    if (!lks_decision_line(d, "job", override.job, LKS_ADMIT_JOB_MAX) ||
        !lks_decision_line(d, "reason", override.reason, LKS_REASON_MAX) ||
        !check_until(d, override.until) || !check_hosts(d, override.hosts, &override.hosts) ||
        !has_room(d))
        return;
    lks_decision_add(d, LKS_RECORD_OVERRIDE)->override = override;
}

/* Counts of a pool that is gone by now are dropped. */
void lks_decide_observed(struct lks_deciding *d)
{
    lks_decide_refusals(d);
    for (size_t i = 0; i < d->event->observed_count; i++) {
        const struct lks_rec_observed *seen = &d->event->observed[i];
        LKS_ASSERT(seen->bar < LKS_BAR_COUNT);
        if ((seen->asked > 0 || seen->refused > 0) &&
            lks_state_pool(d->state, seen->pool) != UINT32_MAX)
            lks_decision_add(d, LKS_RECORD_OBSERVED)->observed = *seen;
    }
}

/* The epoch is the store's and counts up each time the lead changes hands. */
void lks_decide_lead(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    if (!lks_decision_line(d, "controller's name", e->lead.name, LEADER_NAME_MAX) ||
        (e->lead.url.len > 0 &&
         !lks_decision_line(d, "controller's url", e->lead.url, LEADER_URL_MAX)))
        return;
    if (e->lead.epoch <= d->state->epoch) {
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "epoch %llu is not behind %llu, in which %" LKS_STR_FMT " leads",
                            (unsigned long long)e->lead.epoch, (unsigned long long)d->state->epoch,
                            LKS_STR_ARG(lks_state_text(d->state, d->state->leader)));
        return;
    }
    lks_decision_add(d, LKS_RECORD_LED)->led =
        (struct lks_rec_led){.epoch = e->lead.epoch, .name = e->lead.name, .url = e->lead.url};
}
