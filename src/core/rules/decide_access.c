#include "base/intern.h"
#include "base/near.h"
#include "core/campaign/campaign.h"
#include "core/governance/govern.h"
#include "core/registry/book.h"
#include "core/rows/alarm.h"
#include "core/rows/credential.h"
#include "core/rules/decide_rules.h"
#include "core/state/resets.h"
#include "core/state/state.h"
#include "model/manifest/manifest.h"
#include "trust/token.h"

/* Names ------------------------------------------------------------------------------------- */

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Letters, digits, '.', '-', '_' and '@', beginning with a letter or digit. */
bool lks_decide_access_is_name(struct lks_str s)
{
    if (s.len == 0 || s.len > LKS_TOKEN_ID_MAX || !is_alnum(s.ptr[0]))
        return false;
    for (size_t i = 0; i < s.len; i++) {
        if (!is_alnum(s.ptr[i]) && (s.ptr[i] == '\0' || strchr(".-_@", s.ptr[i]) == NULL))
            return false;
    }
    return true;
}

/* As the socket's peer is written: without zeros in front, since 7 and 07 would be two. */
static bool is_uid(struct lks_str s)
{
    uint64_t uid;
    return lks_str_number(s, UINT32_MAX - 1, &uid) && (s.len == 1 || s.ptr[0] != '0');
}

/* "user:NAME" as in certificates, "unix:UID", or a plain name, which tokens are made for. Nodes are
 * agents by their certificates and nothing else, so "node:NAME" is none of them. */
bool lks_decide_access_identity(struct lks_deciding *d, struct lks_str identity)
{
    struct lks_str prefix, rest;
    bool fine = false;
    if (!lks_str_cut(identity, ':', &prefix, &rest))
        fine = lks_decide_access_is_name(identity);
    else if (lks_str_is(prefix, "user"))
        fine = lks_decide_access_is_name(rest);
    else if (lks_str_is(prefix, "unix"))
        fine = is_uid(rest);
    if (!fine)
        lks_decision_refuse(d, LKS_E_INVALID,
                            "'%" LKS_STR_FMT "' is no identity: NAME of letters, digits, '.', '-', "
                            "'_', '@', or user:NAME, or unix:UID",
                            LKS_STR_ARG(identity));
    return fine;
}

/* Bindings ---------------------------------------------------------------------------------- */

static bool check_pool(struct lks_deciding *d, struct lks_str pool)
{
    uint32_t found = 0;
    return pool.len == 0 || lks_decision_pool(d, pool, &found);
}

/* The sites as the fleet was written, or NULL. */
static const struct lks_doc *written_sites(const struct lks_deciding *d)
{
    const struct lks_manifest *manifest = d->book != NULL ? d->book->manifest : NULL;
    const struct lks_doc *sites = NULL;
    if (manifest != NULL && manifest->fleet_count > 0)
        sites = lks_doc_member(manifest->fleets[0].doc, "sites");
    return sites != NULL ? sites->first : NULL;
}

/* A site is one that the fleet lists, or in which a node stands. */
static bool check_site(struct lks_deciding *d, struct lks_str site)
{
    const struct lks_state *s = d->state;
    struct lks_near near = lks_near_to(site);
    char hint[LKS_NEAR_HINT_SIZE];
    lks_text text = 0;
    if (site.len == 0)
        return true;
    for (const struct lks_doc *item = written_sites(d); item != NULL; item = item->next) {
        if (lks_str_eq(item->key, site))
            return true;
        lks_near_try(&near, item->key);
    }
    bool known = lks_intern_find(&s->texts, site, &text);
    for (uint32_t n = 0; known && n < s->node_count; n++) {
        if (s->nodes[n].placed && s->nodes[n].site == text)
            return true;
    }
    lks_decision_refuse(d, LKS_E_NOT_FOUND, "no site '%" LKS_STR_FMT "' in the fleet%s",
                        LKS_STR_ARG(site), lks_near_hint(&near, hint));
    return false;
}

static bool has_binding(const struct lks_state *s, const struct lks_event *e)
{
    uint32_t count = 0;
    const struct lks_binding *b = lks_state_bindings(s, e->grant.identity, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (b[i].role == e->grant.role && lks_str_eq(lks_state_text(s, b[i].site), e->grant.site) &&
            lks_str_eq(lks_state_text(s, b[i].pool), e->grant.pool))
            return true;
    }
    return false;
}

/* A proposer does not choose the approvers of their own change while it is open. An admin of
 * everything could make an approver of anything, so neither is granted then. */
static bool may_grant(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    struct lks_scope scope = {.site = e->grant.site, .pool = e->grant.pool};
    bool admin = e->grant.role == LKS_ROLE_ADMIN && scope.site.len == 0 && scope.pool.len == 0;
    if ((e->grant.role != LKS_ROLE_APPROVER && !admin) || e->root ||
        lks_access_same_person(e->grant.identity, e->by))
        return true;
    const struct lks_state_change *own =
        lks_govern_own_at(d->state, lks_decision_backing(d), scope);
    if (own != NULL)
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "%" LKS_STR_FMT " proposed change %llu, which could be approved by "
                            "this: another person has to grant it, or they when "
                            "it is finished",
                            LKS_STR_ARG(lks_state_text(d->state, own->by)),
                            (unsigned long long)own->id);
    return own == NULL;
}

/* Before there is a fleet any scope may be written: access is often set up first. What is granted
 * already is granted. */
void lks_decide_grant(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    LKS_ASSERT(e->grant.role < LKS_ROLE_COUNT);
    if (!lks_decide_access_identity(d, e->grant.identity) || !lks_decision_reason_fits(d))
        return;
    if (d->state->fleet_manifest != 0 &&
        (!check_site(d, e->grant.site) || !check_pool(d, e->grant.pool)))
        return;
    if (has_binding(d->state, e) || !may_grant(d))
        return;
    if (d->state->binding_count >= LKS_STATE_BINDINGS_MAX) {
        lks_decision_refuse(d, LKS_E_LIMIT, "there are %d bindings, which is the most",
                            LKS_STATE_BINDINGS_MAX);
        return;
    }
    lks_decision_add(d, LKS_RECORD_GRANTED)->granted =
        (struct lks_rec_granted){.identity = e->grant.identity,
                                 .role = e->grant.role,
                                 .site = e->grant.site,
                                 .pool = e->grant.pool,
                                 .by = e->by,
                                 .minters = lks_decision_backing(d).minters,
                                 .root = e->root,
                                 .reason = lks_str_trim(e->reason)};
}

static uint32_t admins_everywhere(const struct lks_state *s)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->binding_count; i++) {
        const struct lks_binding *b = &s->bindings[i];
        count += b->role == LKS_ROLE_ADMIN && b->site == 0 && b->pool == 0;
    }
    return count;
}

void lks_decide_ungrant(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    LKS_ASSERT(e->grant.role < LKS_ROLE_COUNT);
    bool everywhere = e->grant.site.len == 0 && e->grant.pool.len == 0;
    if (!lks_decision_reason_fits(d))
        return;
    if (!has_binding(d->state, e)) {
        lks_decision_refuse(d, LKS_E_NOT_FOUND,
                            "'%" LKS_STR_FMT "' is not %s %s; see lockstep access ls",
                            LKS_STR_ARG(e->grant.identity), lks_role_words[e->grant.role],
                            everywhere ? "everywhere" : "there");
        return;
    }
    if (e->grant.role == LKS_ROLE_ADMIN && everywhere && admins_everywhere(d->state) == 1) {
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "'%" LKS_STR_FMT "' is the last admin of everything; grant that to "
                            "another identity first",
                            LKS_STR_ARG(e->grant.identity));
        return;
    }
    lks_decision_add(d, LKS_RECORD_UNGRANTED)->ungranted =
        (struct lks_rec_ungranted){.identity = e->grant.identity,
                                   .role = e->grant.role,
                                   .site = e->grant.site,
                                   .pool = e->grant.pool,
                                   .by = e->by,
                                   .reason = lks_str_trim(e->reason)};
}

/* Alarms ------------------------------------------------------------------------------------ */

/* A change that started without its approvals has an alarm until another person reviewed it. */
static bool is_reviewed(struct lks_deciding *d, const struct lks_state_alarm *alarm)
{
    char space[LKS_CHANGE_OWNER_SIZE];
    struct lks_str subject = lks_state_text(d->state, alarm->subject);
    for (uint32_t i = 0; i < d->state->change_count; i++) {
        const struct lks_state_change *c = &d->state->changes[i];
        if (c->glass.at == 0 || c->glass.reviewed != 0 ||
            !lks_str_eq(lks_state_change_owner(c->id, space), subject))
            continue;
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "change %llu started without its approvals, and was not reviewed "
                            "yet: lockstep change review %llu",
                            (unsigned long long)c->id, (unsigned long long)c->id);
        return false;
    }
    return true;
}

static bool is_reset_reviewed(struct lks_deciding *d, const struct lks_state_alarm *alarm)
{
    struct lks_str name = lks_state_text(d->state, alarm->subject);
    uint32_t node = lks_state_node(d->state, name);
    const struct lks_reset *r = node != LKS_NO_NODE ? lks_state_reset(d->state, node) : NULL;
    if (r == NULL || r->approved == 0)
        return true;
    lks_decision_refuse(d, LKS_E_REFUSED,
                        "the reset of %" LKS_STR_FMT " is not reviewed yet: lockstep node review "
                        "%" LKS_STR_FMT,
                        LKS_STR_ARG(name), LKS_STR_ARG(name));
    return false;
}

void lks_decide_alarm_release(struct lks_deciding *d)
{
    unsigned long long id = d->event->alarm;
    if (!lks_decision_reason(d))
        return;
    const struct lks_state_alarm *alarm = lks_state_alarm(d->state, id);
    if (alarm == NULL) {
        lks_decision_refuse(d, LKS_E_NOT_FOUND, "no alarm %llu; see lockstep alarm ls", id);
        return;
    }
    if (alarm->released != 0) {
        struct lks_str by = lks_state_text(d->state, alarm->by);
        lks_decision_refuse(d, LKS_E_REFUSED, "alarm %llu was released by %" LKS_STR_FMT, id,
                            LKS_STR_ARG(by));
        return;
    }
    bool glass = alarm->kind == LKS_ALARM_GLASS || alarm->kind == LKS_ALARM_REVIEW;
    if ((glass && !is_reviewed(d, alarm)) ||
        (alarm->kind == LKS_ALARM_WEDGED && !is_reset_reviewed(d, alarm)))
        return;
    uint32_t pool = lks_state_pool(d->state, lks_state_text(d->state, alarm->subject));
    bool mass = alarm->kind == LKS_ALARM_MASS && pool != UINT32_MAX;
    if (mass)
        lks_decide_refused_acts(d, pool);
    lks_decision_add(d, LKS_RECORD_ALARM_RELEASED)->alarm_released =
        (struct lks_rec_alarm_released){
            .id = id, .by = d->event->by, .reason = lks_str_trim(d->event->reason)};
    if (mass)
        lks_decide_acts(d, pool);
}
