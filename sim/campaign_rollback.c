/* What a rollback leaves behind: each node that still runs the new stack has a reason by the truth,
 * and the change states one. And what it does where a bank cannot be switched. */
#include "sim/campaign.h"

#include <inttypes.h>

typedef bool reason_fn(const struct cam *w, const struct cam_change *c, uint32_t i);

static bool is_of_unit(const struct cam_change *c, uint32_t i, uint32_t k)
{
    return c->members[k].in && c->members[k].unit == c->members[i].unit;
}

static bool is_gone(const struct cam *w, const struct cam_change *c, uint32_t i)
{
    (void)c;
    return !w->machines[i].placed;
}

/* Something of its unit cannot be undone. */
static bool is_one_way(const struct cam *w, const struct cam_change *c, uint32_t i)
{
    for (uint32_t k = 0; k < w->count; k++)
        if (is_of_unit(c, i, k) && c->recipes[c->members[k].recipe].one_way)
            return true;
    return false;
}

/* Another change has, or had, one of its unit. */
static bool is_of_another(const struct cam *w, const struct cam_change *c, uint32_t i)
{
    for (uint32_t k = 0; k < w->count; k++)
        if (is_of_unit(c, i, k) && w->machines[k].last_change != c->id)
            return true;
    return false;
}

/* One of its domain is not in the change, or was left out, and would be mixed with it. */
static bool is_beside(const struct cam *w, const struct cam_change *c, uint32_t i)
{
    unsigned domain = w->machines[i].domain;
    for (uint32_t k = 0; k < w->count && domain > 0; k++)
        if (w->machines[k].domain == domain && w->machines[k].placed &&
            (!c->members[k].in || c->members[k].state == LKS_MEMBER_SKIPPED))
            return true;
    return false;
}

/* A person returned one of its unit to service as it was. */
static bool is_let_go(const struct cam *w, const struct cam_change *c, uint32_t i)
{
    for (uint32_t k = 0; k < w->count; k++)
        if (is_of_unit(c, i, k) && w->machines[k].released)
            return true;
    return false;
}

static reason_fn *const reasons[] = {is_gone, is_one_way, is_of_another, is_beside, is_let_go};

/* A node that failed is kept out of service, and its row says why: campaign_rows.c. */
static bool stays(const struct cam *w, const struct cam_change *c, uint32_t i)
{
    const struct cam_member *m = &c->members[i];
    return m->in && m->done && (m->state == LKS_MEMBER_DONE || m->state == LKS_MEMBER_SKIPPED) &&
           cam_is_stack(w, &w->machines[i], c->stack) && !cam_is_stack(w, &w->machines[i], m->from);
}

/* What the change says of nodes that stay although they did not fail. */
static bool is_stated(struct lks_str reason)
{
    static const char *const words[] = {"irreversible steps keep ", "another change has ",
                                        " stays on it"};
    for (size_t i = 0; i < LKS_COUNT(words); i++)
        if (memmem(reason.ptr, reason.len, words[i], strlen(words[i])) != NULL)
            return true;
    return false;
}

void cam_rollback_check(struct cam *w, const struct cam_change *c, struct lks_str reason)
{
    for (uint32_t i = 0; i < w->count && w->nodes < CAM_FLEET_LARGE; i++) {
        bool has = !stays(w, c, i);
        for (size_t k = 0; k < LKS_COUNT(reasons) && !has; k++)
            has = reasons[k](w, c, i);
        cam_require(w, has, "rollback",
                    "%s still runs what change %" PRIu64 " brought, and nothing kept it from going "
                    "back",
                    w->machines[i].name, c->id);
        bool says = c->members[i].state != LKS_MEMBER_DONE || !w->machines[i].placed ||
                    !stays(w, c, i) || is_stated(reason);
        cam_require(w, says, "rollback",
                    "%s still runs what change %" PRIu64 " brought: %" LKS_STR_FMT,
                    w->machines[i].name, c->id, LKS_STR_ARG(reason));
    }
}

/* Banks ------------------------------------------------------------------------------------- */

/* The change that is in progress on the machine and has the image before; NULL: none. */
static const struct cam_change *change_with_image(const struct cam *w, const struct cam_flash *f)
{
    for (size_t k = w->change_count; k-- > 0;) {
        const struct cam_change *c = &w->changes[k];
        if (cam_member_under_way(c, f->node))
            return (c->recipes[c->members[f->node].recipe].images >> f->axis & 1) != 0 ? c : NULL;
    }
    return NULL;
}

/* A switch of banks that failed is followed by the image before, and not by another switch. */
void cam_rollback_flash(struct cam *w, const struct cam_flash *f)
{
    struct cam_machine *m = &w->machines[f->node];
    const struct cam_change *c = change_with_image(w, f);
    cam_require(w, c == NULL || f->act != LKS_BMC_SWITCH || m->switch_failed[f->axis] != c->id,
                "rollback", "%s: the switch of banks of %s failed, and is asked for again", m->name,
                cam_axes[f->axis].component);
    m->switch_failed[f->axis] = 0;
}

void cam_rollback_flash_ended(struct cam *w, const struct cam_flash *f,
                              enum lks_bmc_outcome outcome)
{
    const struct cam_change *c = change_with_image(w, f);
    bool failed = outcome == LKS_BMC_FAILED || outcome == LKS_BMC_REFUSED;
    w->machines[f->node].switch_failed[f->axis] =
        c != NULL && f->act == LKS_BMC_SWITCH && failed ? c->id : 0;
}
