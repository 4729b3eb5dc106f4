/* `change skip`: a person says that a change does not wait for nodes any longer. */
#include "core/campaign/campaign_parts.h"
#include "core/rows/flash.h"
#include "core/rows/node.h"
#include "core/rules/decide_rules.h"

static bool is_away(const struct lks_look *k)
{
    return k->n->asset == 0 && k->n->liveness != LKS_LIVE;
}

static bool is_named(const struct lks_hostlist *hosts, struct lks_str name)
{
    for (size_t i = 0; i < hosts->count; i++) {
        if (lks_str_eq(hosts->names[i], name))
            return true;
    }
    return false;
}

/* A domain that did not begin is skipped as a whole, or its others would go without that one. */
static bool is_whole(struct lks_deciding *d, const struct lks_look *k,
                     const struct lks_hostlist *hosts)
{
    for (uint32_t i = 0; i < k->u->count; i++) {
        const struct lks_member *o = &k->c->members[k->u->first + i];
        struct lks_str name = lks_state_name(k->s, o->node);
        if (o->state != LKS_MEMBER_PENDING || is_named(hosts, name))
            continue;
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "domain %" LKS_STR_FMT " changes as one: name %" LKS_STR_FMT
                            " of it, too, or none of it",
                            LKS_STR_ARG(lks_look_text(k, k->u->domain)), LKS_STR_ARG(name));
        return false;
    }
    return true;
}

/* One in progress: nothing was done to it, or it is not there to have more done. */
static bool may_leave(struct lks_deciding *d, const struct lks_look *k)
{
    const struct lks_state_flash *f = lks_state_flashing(k->s, k->m->node);
    if (f != NULL)
        lks_decision_refuse(d, LKS_E_REFUSED, "update %llu of %" LKS_STR_FMT " %s",
                            (unsigned long long)f->id, LKS_STR_ARG(lks_look_name(k)),
                            f->outcome == LKS_BMC_OPEN
                                ? "is in progress: wait for its end"
                                : "has an unknown outcome: inspect the node, and resolve it "
                                  "first");
    else if (!is_away(k) && (k->u->count > 1 || !lks_campaign_look_untouched(k)))
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "%" LKS_STR_FMT " is heard of and at step %s: it goes on to its end; "
                            "pause, abort or roll back change %llu instead",
                            LKS_STR_ARG(lks_look_name(k)),
                            k->step != NULL ? lks_step_kind_titles[k->step->kind] : "end",
                            (unsigned long long)k->c->id);
    else /* one that returns to service: no job starts beside a command that still runs there */
        return k->n->liveness == LKS_LOST || !lks_campaign_look_untouched(k) ||
               lks_decide_command_answered(d, k->m->node);
    return false;
}

static bool may_skip(struct lks_deciding *d, const struct lks_look *k,
                     const struct lks_hostlist *hosts)
{
    if (lks_member_over(k->m)) {
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "%" LKS_STR_FMT " is %s in change %llu, which does not wait for it",
                            LKS_STR_ARG(lks_look_name(k)), lks_member_state_words[k->m->state],
                            (unsigned long long)k->c->id);
        return false;
    }
    return k->m->state == LKS_MEMBER_PENDING ? is_whole(d, k, hosts) : may_leave(d, k);
}

/* What was decided about it is by a person's word. */
static void sign(struct lks_deciding *d, size_t from, const struct lks_look *k)
{
    for (size_t i = from; i < d->out->count; i++) {
        struct lks_record *r = &d->out->records[i];
        if (r->kind == LKS_RECORD_MEMBER && lks_str_eq(r->member.node, lks_look_name(k)))
            r->member.by = d->event->by;
    }
}

/* A node that something was done to is fenced as one that was lost, and its domain follows. */
static void skip(struct lks_deciding *d, const struct lks_look *k)
{
    size_t from = d->out->count;
    struct lks_str text =
        lks_decision_text(d, "skipped by %" LKS_STR_FMT ": %" LKS_STR_FMT,
                          LKS_STR_ARG(d->event->by), LKS_STR_ARG(lks_str_trim(d->event->reason)));
    if (k->m->state == LKS_MEMBER_PENDING || (k->u->count == 1 && lks_campaign_look_untouched(k)))
        lks_campaign_member_leave(d, k, text);
    else
        lks_campaign_member_fail(d, k, LKS_FAILURE_LOST, true, text);
    sign(d, from, k);
}

void lks_decide_member_skip(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    const struct lks_state_change *c = lks_decide_change(d, e->member.change);
    struct lks_hostlist hosts = {0};
    if (c == NULL || !lks_decision_reason(d) || !lks_decision_hosts(d, &hosts))
        return;
    if (c->state <= LKS_CHANGE_APPROVED || lks_change_over(c)) {
        lks_decision_refuse(d, LKS_E_REFUSED, "change %llu is %s: %s", (unsigned long long)c->id,
                            lks_change_state_words[c->state],
                            lks_change_over(c) ? "it waits for nothing any more"
                                               : "propose it without these nodes instead");
        return;
    }
    for (size_t i = 0; i < hosts.count; i++) {
        struct lks_look k;
        if (!lks_decide_member(d, c, hosts.names[i], &k) || !may_skip(d, &k, &hosts))
            return;
        skip(d, &k);
    }
}
