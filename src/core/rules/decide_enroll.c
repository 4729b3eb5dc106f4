/* Tokens that let a node in, once, and the certificates it then has. */
#include "core/rules/decide_rules.h"
#include "core/state/state.h"
#include "trust/token.h"

/* A token for several nodes. */
enum {
    NODES_MAX = 1024,
    HOURS_MAX = 24, /* that it is good for */
};

static bool has_agent(struct lks_deciding *d, uint32_t node)
{
    if (d->state->nodes[node].asset == 0)
        return true;
    lks_decision_refuse(d, LKS_E_REFUSED, "%" LKS_STR_FMT " is an asset and has no agent",
                        LKS_STR_ARG(lks_state_name(d->state, node)));
    return false;
}

static void add_token(struct lks_deciding *d, uint32_t node)
{
    const struct lks_event *e = d->event;
    lks_decision_add(d, LKS_RECORD_TOKEN)->token = (struct lks_rec_token){
        .node = lks_state_name(d->state, node),
        .hash = e->token.hash,
        .expires = e->token.expires,
        .by = e->by,
        .reason = lks_str_trim(e->reason),
    };
}

/* Any of these nodes that is broken into can use the secret as the others: so it ends soon, and
 * replaces the certificate of none that is enrolled. */
static bool may_share(struct lks_deciding *d, const struct lks_hostlist *hosts)
{
    const lks_ms most = (lks_ms)HOURS_MAX * 3600 * LKS_SECOND;
    if (hosts->count > NODES_MAX) {
        lks_decision_refuse(d, LKS_E_REFUSED, "these are %zu nodes, and one token enrols %d",
                            hosts->count, NODES_MAX);
        return false;
    }
    if (d->event->token.expires - d->now.wall > most) {
        lks_decision_refuse(d, LKS_E_INVALID, "a token for several nodes is good for at most %d h",
                            HOURS_MAX);
        return false;
    }
    for (size_t i = 0; i < hosts->count; i++) {
        uint32_t node = lks_state_node(d->state, hosts->names[i]);
        if (!has_agent(d, node))
            return false;
        if (d->state->nodes[node].enrolled) {
            lks_decision_refuse(d, LKS_E_REFUSED,
                                "%" LKS_STR_FMT " is enrolled: leave it out, or make a token for "
                                "it alone with 'lockstep node enroll %" LKS_STR_FMT "'",
                                LKS_STR_ARG(hosts->names[i]), LKS_STR_ARG(hosts->names[i]));
            return false;
        }
    }
    return true;
}

/* One secret for several nodes is a token of each: a node uses up its own, and no other node has
 * one. */
static void share_token(struct lks_deciding *d)
{
    struct lks_hostlist hosts = {0};
    if (!lks_decision_hosts(d, &hosts) || !may_share(d, &hosts))
        return;
    for (size_t i = 0; i < hosts.count; i++)
        add_token(d, lks_state_node(d->state, hosts.names[i]));
}

void lks_decide_token(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    bool one = lks_hostlist_is_name(e->name);
    uint32_t node = LKS_NO_NODE;
    if (!lks_decision_reason_fits(d))
        return;
    if (one && (!lks_decision_node(d, &node) || !has_agent(d, node)))
        return;
    if (e->token.hash.len == 0 || e->token.expires <= d->now.wall)
        lks_decision_refuse(d, LKS_E_INVALID, "a token that has expired is of no use");
    else if (one)
        add_token(d, node);
    else
        share_token(d);
}

/* A stranger learns nothing from the answer: not whether the node exists, nor whether it has a
 * token, nor what was wrong with the one that was shown. */
static void deny(struct lks_deciding *d)
{
    lks_decision_refuse(d, LKS_E_DENIED,
                        "this enrolment token is not good; an operator can make a new one");
}

static bool token_good(const struct lks_deciding *d, const struct lks_node *node)
{
    struct lks_str want = lks_state_text(d->state, node->token_hash);
    struct lks_str shown = d->event->certificate.token_hash;
    bool same = lks_token_same(want, shown);
    return node->placed && node->token_hash != 0 && same && d->now.wall < node->token_expires;
}

/* The token was made for this name by an operator, so a node that is enrolled already may use it
 * too: what it had is then good for nothing. */
void lks_decide_enroll(struct lks_deciding *d)
{
    static const struct lks_node nobody = {0};
    const struct lks_event *e = d->event;
    uint32_t at = lks_state_node(d->state, e->name);
    const struct lks_node *node = at == LKS_NO_NODE ? &nobody : &d->state->nodes[at];
    if (!token_good(d, node) || e->certificate.fingerprint.len == 0) {
        deny(d);
        return;
    }
    struct lks_str name = lks_state_name(d->state, at);
    if (node->enrolled)
        lks_decision_add(d, LKS_RECORD_REVOKED)->revoked = (struct lks_rec_revoked){
            .node = name, .by = e->by, .reason = LKS_STR("enrolled anew with a token")};
    lks_decision_add(d, LKS_RECORD_ENROLLED)->enrolled = (struct lks_rec_enrolled){
        .node = name,
        .fingerprint = e->certificate.fingerprint,
        .serial = e->certificate.serial,
        .expires = e->certificate.expires,
    };
}

static void certify(struct lks_deciding *d, struct lks_str fingerprint, struct lks_str serial,
                    lks_ms expires)
{
    lks_decision_add(d, LKS_RECORD_CERTIFIED)->certified = (struct lks_rec_certified){
        .node = lks_state_name(d->state, d->event->node),
        .fingerprint = fingerprint,
        .serial = serial,
        .expires = expires,
    };
}

/* Two certificates are good: the newest, and the one before it, since the answer that carries a new
 * one may be lost. An agent that shows the older one never got the newer: it is the older that
 * stays beside what is made now. */
void lks_decide_renew(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    const struct lks_state *s = d->state;
    if (e->node >= s->node_count || !s->nodes[e->node].placed || !s->nodes[e->node].enrolled ||
        e->certificate.shown.len == 0 || e->certificate.fingerprint.len == 0) {
        lks_decision_refuse(d, LKS_E_DENIED, "only an enrolled node renews its certificate");
        return;
    }
    const struct lks_certificate *have = s->nodes[e->node].certificates;
    char before[LKS_DIGEST_SIZE];
    bool older = lks_state_certificate_is(&have[1], e->certificate.shown);
    if (!older && !lks_state_certificate_is(&have[0], e->certificate.shown)) {
        lks_decision_refuse(d, LKS_E_DENIED, "the certificate that asks is not this node's newest");
        return;
    }
    if (older)
        certify(d, lks_decision_text(d, "%s", lks_state_certificate_text(&have[1], before)),
                LKS_STR(""), have[1].expires);
    certify(d, e->certificate.fingerprint, e->certificate.serial, e->certificate.expires);
}
