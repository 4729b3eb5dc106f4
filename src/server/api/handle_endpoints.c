/* Management endpoints of the fleet, and the certificates they are known by. */
#include "base/bitset.h"
#include "core/actions/drained.h"
#include "core/firmware/endpoint.h"
#include "core/rows/flash.h"
#include "core/state/state.h"
#include "server/api/handle.h"
#include "server/api/sweeps.h"
#include "server/auth/authz.h"
#include "server/auth/lookup.h"
#include "server/form/views.h"

struct listing {
    const struct lks_authz *authz;
    struct lks_authz_view sight;
    struct lks_json_writer *w;
    struct lks_bitset nodes; /* empty: all */
    struct lks_str url, after;
    struct lks_buf address;
    uint64_t left;
    bool begun;          /* behind `after` */
    bool more;           /* than the page has room for */
    struct lks_str last; /* of the page */
};

static void listing_fini(struct listing *l)
{
    lks_bitset_fini(&l->nodes);
    lks_buf_fini(&l->address);
}

static bool is_wanted(struct listing *l, struct lks_str name, const struct lks_endpoint *endpoint)
{
    uint32_t node = lks_state_node(l->authz->state, name);
    lks_endpoint_url(endpoint->url, name, &l->address);
    return node != LKS_NO_NODE && lks_authz_sees(&l->sight, node) &&
           (l->nodes.words == NULL || lks_bitset_test(&l->nodes, node)) &&
           (l->url.len == 0 || lks_str_eq(l->url, lks_buf_view(&l->address)));
}

/* What becomes of it here: read, or why not, and updated. */
static void view_doings(const struct listing *l, uint32_t n, struct lks_str name)
{
    const struct lks_state *s = l->authz->state;
    const struct lks_node *node = &s->nodes[n];
    const struct lks_state_flash *flash = lks_state_flashing(s, n);
    lks_ms failed = 0;
    struct lks_str why = lks_handle_sweep_failure(l->authz, name, &failed);
    lks_view_time(l->w, "read", node->outband_taken);
    lks_view_time(l->w, "failed", failed);
    lks_view_text(l->w, "failure", why);
    lks_json_bool(l->w, "changing", node->changing != 0);
    enum lks_drained how = LKS_DRAINED_YES;
    const struct lks_book *book = lks_engine_book(l->authz->engine);
    uint32_t other = lks_drained_not(s, book->facts, n, l->authz->now.wall, &how);
    lks_json_bool(l->w, "idle", other == LKS_NO_NODE);
    if (flash != NULL)
        lks_json_int(l->w, "flashing", (int64_t)flash->id);
}

static bool list_one(void *ctx, struct lks_str name, const struct lks_endpoint *endpoint)
{
    struct listing *l = ctx;
    const struct lks_state *s = l->authz->state;
    bool begun = l->begun;
    l->begun = l->begun || lks_str_eq(name, l->after);
    if (!begun || !is_wanted(l, name, endpoint))
        return true;
    l->more = l->left == 0;
    if (l->more)
        return false;
    uint32_t node = lks_state_node(s, name);
    lks_json_begin(l->w, NULL, '{');
    lks_json_text(l->w, "node", name);
    lks_json_text(l->w, "url", lks_buf_view(&l->address));
    lks_json_text(l->w, "driver", endpoint->driver);
    lks_json_text(l->w, "trust", endpoint->trust);
    lks_view_text(l->w, "fingerprint", lks_state_text(s, s->nodes[node].endpoint));
    view_doings(l, node, name);
    lks_json_bool(l->w, "managed", true);
    lks_json_end(l->w, '}');
    l->last = name;
    l->left--;
    return true;
}

/* In the order of the fleet's file: `after` is the name of the last one of the page before. An
 * address is asked for as it is written there. */
void lks_handle_endpoints(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_query_endpoints *ask = LKS_ASKED(call, lks_query_endpoints);
    struct lks_json_writer w = {0};
    LKS_CLEANUP(listing_fini)
    struct listing l = {
        .authz = authz,
        .sight = lks_authz_sight(authz, call),
        .w = &w,
        .url = ask->url,
        .after = ask->page.after,
        .left = ask->page.limit,
    };
    if (!lks_lookup_hosts(authz, call, "node", ask->node, LKS_LOOKUP_ALL, &l.nodes))
        return;
    w = lks_call_list(call);
    l.begun = l.after.len == 0;
    lks_buf_init(&l.address, LKS_ENDPOINT_URL_MAX);
    lks_endpoint_each(lks_engine_book(authz->engine), list_one, &l);
    lks_call_list_end_at(&w, l.more ? l.last : LKS_STR(""));
}

void lks_handle_endpoint_put(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_ask_endpoint *ask = LKS_ASKED(call, lks_ask_endpoint);
    struct lks_event event;
    if (!lks_lookup_event(authz, call, LKS_EVENT_ENDPOINT, ask->reason, &event))
        return;
    event.fingerprint = ask->fingerprint;
    lks_authz_record(authz, call, &event);
}
