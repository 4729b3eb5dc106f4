/* Artifacts: who may have which part of which, and what is recorded of them. The bytes themselves
 * move on the server thread (server/http/depot.h). */
#include "core/registry/artifacts.h"
#include "core/rows/registry.h"
#include "core/state/state.h"
#include "server/api/handle.h"
#include "server/auth/authz.h"
#include "server/auth/rows.h"
#include "server/base/config.h"
#include "server/base/daemon.h"
#include "server/call/depot_ask.h"
#include "server/form/views.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    COLLECT_SLICE = 64,
    LOOKS_MAX = 50000, /* at what may need an artifact, before others have their turn */
    DAY_S = 86400,
};

/* What may need an artifact. */
static uint64_t weight_of(const struct lks_state *s)
{
    return (uint64_t)s->stack_count + s->bundle_count;
}

void lks_handle_artifacts(struct lks_authz *authz, struct lks_call *call)
{
    static const struct lks_rows artifacts = {
        .view = &lks_view_artifacts, .weight = weight_of, .work_max = LOOKS_MAX};
    lks_rows_page(authz, call, &artifacts);
}

/* The digest of the path; false, and the answer written, where it is none. */
static bool read_digest(struct lks_call *call)
{
    struct lks_str text = call->named;
    if (!lks_digest_valid(text)) {
        lks_call_problem(call, LKS_E_INVALID,
                         "an artifact is asked for by its digest: sha256: and 64 digits");
        return false;
    }
    snprintf(call->depot->digest, sizeof(call->depot->digest), "%" LKS_STR_FMT, LKS_STR_ARG(text));
    return true;
}

/* Reading -------------------------------------------------------------------------------------- */

/* What of it is wanted. A part of what it was before is no part of it now: but it is always the
 * same, so an If-Range that names another digest means that the client mistook it. */
static void choose_range(struct lks_call *call, const char *etag)
{
    struct lks_depot_ask *ask = call->depot;
    bool part = ask->if_range[0] == '\0' || strcmp(ask->if_range, etag) == 0;
    enum lks_byterange_kind kind =
        lks_byterange_ask(lks_str_from(part ? ask->want : ""), ask->size, &ask->range);
    call->status = kind == LKS_BYTERANGE_SOME ? 206 : 200;
    call->type = "application/octet-stream";
    if (kind == LKS_BYTERANGE_NONE) {
        lks_call_problem_http(call, 416, "range", "it has %" PRIu64 " bytes", ask->size);
        lks_call_header(call, "Content-Range: bytes */%" PRIu64, ask->size);
    } else if (kind == LKS_BYTERANGE_SOME) {
        lks_call_header(call, "Content-Range: bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64,
                        ask->range.from, ask->range.from + ask->range.len - 1, ask->size);
    }
}

static void put_etag(struct lks_call *call, char etag[LKS_DIGEST_SIZE + 2])
{
    struct lks_depot_ask *ask = call->depot;
    snprintf(etag, LKS_DIGEST_SIZE + 2, "\"%s\"", ask->digest);
    lks_call_header(call, "ETag: %s", etag);
    lks_call_header(call, "Accept-Ranges: bytes");
    if (strcmp(ask->if_none_match, etag) == 0)
        call->status = 304;
    else
        choose_range(call, etag);
}

/* Agents cannot ask for it. */
static bool asks_part(const struct lks_call *call)
{
    return call->route->query != NULL && LKS_ASKED(call, lks_query_part)->part == 1;
}

/* What executors of a change are told is in the journal, and is asked for as a file is. */
static void answer_order(struct lks_call *call, struct lks_str text)
{
    struct lks_depot_ask *ask = call->depot;
    char etag[LKS_DIGEST_SIZE + 2];
    ask->size = text.len;
    if (asks_part(call)) {
        struct lks_json_writer w = lks_call_json(call);
        lks_json_cstr(&w, "digest", ask->digest);
        lks_json_int(&w, "have", (int64_t)text.len);
        lks_json_bool(&w, "whole", true);
        lks_json_end(&w, '}');
        return;
    }
    put_etag(call, etag);
    if (call->status == 200 || call->status == 206)
        lks_buf_add(&call->out,
                    (struct lks_str){text.ptr + ask->range.from, (size_t)ask->range.len});
}

void lks_handle_artifact(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_depot_ask *ask = call->depot;
    char etag[LKS_DIGEST_SIZE + 2];
    if (!read_digest(call))
        return;
    struct lks_str order = lks_state_order(authz->state, lks_str_from(ask->digest));
    if (order.len > 0) {
        answer_order(call, order);
        return;
    }
    const struct lks_state_artifact *have =
        lks_state_artifact(authz->state, lks_str_from(ask->digest));
    ask->known = have != NULL;
    if (asks_part(call)) {
        ask->act = LKS_DEPOT_HAVE;
        call->status = 200;
        return;
    }
    if (have == NULL) {
        lks_call_problem(call, LKS_E_NOT_FOUND, "there is no artifact %s", ask->digest);
        return;
    }
    ask->size = have->size;
    put_etag(call, etag);
    if (call->status == 200 || call->status == 206)
        ask->act = LKS_DEPOT_GET;
}

/* Writing -------------------------------------------------------------------------------------- */

static void tell_stored(struct lks_call *call, uint64_t seq)
{
    const struct lks_depot_ask *ask = call->depot;
    struct lks_json_writer w = lks_call_json(call);
    lks_json_cstr(&w, "digest", ask->digest);
    lks_json_int(&w, "have", (int64_t)ask->size);
    lks_json_int(&w, "size", (int64_t)ask->size);
    if (seq != 0)
        lks_json_int(&w, "seq", (int64_t)seq);
    lks_json_end(&w, '}');
}

/* It is there as a whole, and is what it is called. The record it may have had when it began to
 * come may have ended since. */
static void record(struct lks_authz *authz, struct lks_call *call)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    struct lks_depot_ask *ask = call->depot;
    struct lks_str name = LKS_ASKED(call, lks_query_artifact)->name;
    struct lks_str digest = lks_str_from(ask->digest);
    ask->act = LKS_DEPOT_NOTHING;
    if (lks_state_artifact(authz->state, digest) != NULL) {
        tell_stored(call, 0);
        return;
    }
    struct lks_event event = {
        .kind = LKS_EVENT_ARTIFACT,
        .artifact = {digest, name.len > 0 ? name : digest, ask->size, {0}},
    };
    if (lks_authz_turn(authz, call, &event, NULL, &d))
        tell_stored(call, call->needs);
}

/* Which part of it the body is. */
static bool read_content(struct lks_call *call, uint64_t most)
{
    struct lks_depot_ask *ask = call->depot;
    ask->range = (struct lks_byterange){0, ask->length};
    ask->size = ask->length;
    if (ask->content[0] != '\0' &&
        !lks_byterange_content(lks_str_from(ask->content), most, &ask->range, &ask->size))
        lks_call_problem(call, LKS_E_INVALID,
                         "Content-Range: expected bytes FIRST-LAST/SIZE, with a size of at most "
                         "%" PRIu64 " (depot.artifact_max)",
                         most);
    else if (ask->range.len != ask->length)
        lks_call_problem(call, LKS_E_INVALID,
                         "Content-Range: tells of %" PRIu64 " bytes, and the body has %" PRIu64,
                         ask->range.len, ask->length);
    else if (ask->size == 0)
        lks_call_problem(call, LKS_E_INVALID, "an artifact is not empty");
    else if (ask->size > most)
        lks_call_problem(call, LKS_E_LIMIT,
                         "an artifact has at most %" PRIu64 " bytes (depot.artifact_max)", most);
    return call->status == 0;
}

void lks_handle_artifact_put(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_depot_ask *ask = call->depot;
    if (ask->stored) {
        record(authz, call);
        return;
    }
    if (!read_digest(call) ||
        !read_content(call, lks_daemon_config(authz->daemon)->depot_artifact_max))
        return;
    const struct lks_state_artifact *have =
        lks_state_artifact(authz->state, lks_str_from(ask->digest));
    ask->known = have != NULL;
    if (have != NULL && have->size != ask->size) {
        lks_call_problem(call, LKS_E_REFUSED, "%s has %" PRIu64 " bytes, not %" PRIu64, ask->digest,
                         have->size, ask->size);
        return;
    }
    ask->act = LKS_DEPOT_PUT;
    call->status = 200;
}

/* Collecting ----------------------------------------------------------------------------------- */

/* Whether the record was ended. A record that a rule keeps stays, and is no error. */
static bool let_go(struct lks_authz *authz, struct lks_call *call, struct lks_str digest)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    struct lks_err err = {0};
    struct lks_event event = {
        .kind = LKS_EVENT_ARTIFACT_GONE,
        .by = lks_str_from(call->identity),
        .reason = LKS_STR("nothing needs it"),
        .artifact = {.digest = digest},
    };
    lks_decision_init(&d);
    enum lks_code code =
        lks_engine_turn(authz->engine, authz->now, &event, NULL, &d, &call->needs, &err);
    if (code == LKS_E_IO)
        lks_daemon_die(authz->daemon, "the journal is in an unknown state", &err);
    if (code != LKS_OK)
        lks_call_problem_err(call, &err);
    call->wrote |= code == LKS_OK && d.count > 0;
    return code == LKS_OK && d.refused.code == LKS_OK;
}

/* All that have a record now. */
static void list_recorded(const struct lks_authz *authz, struct lks_call *call,
                          enum lks_depot_act act)
{
    const struct lks_state *s = authz->state;
    struct lks_depot_ask *ask = call->depot;
    ask->recorded = calloc((size_t)s->artifact_count + 1, sizeof(*ask->recorded));
    if (ask->recorded == NULL) {
        lks_call_problem(call, LKS_E_NOMEM, "out of memory");
        return;
    }
    for (uint32_t i = 0; i < s->artifact_count; i++) {
        struct lks_depot_recorded *r = &ask->recorded[i];
        snprintf(r->digest, sizeof(r->digest), "%" LKS_STR_FMT,
                 LKS_STR_ARG(lks_state_text(s, s->artifacts[i].digest)));
        r->size = s->artifacts[i].size;
    }
    ask->recorded_count = s->artifact_count;
    ask->act = act;
    call->status = 200;
    /* A record that another call ended a moment ago is gone once that is durable: a file whose
     * record came back would be missed. */
    call->needs = lks_engine_seq(authz->engine);
}

void lks_handle_look(struct lks_authz *authz, struct lks_call *call)
{
    call->depot->following = authz->following;
    list_recorded(authz, call, LKS_DEPOT_LOOK);
}

/* In slices: the cursor is behind the first artifact that was not looked at. */
void lks_handle_collect(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state *s = authz->state;
    lks_ms kept = lks_daemon_config(authz->daemon)->depot_keep_days * DAY_S * LKS_SECOND;
    uint32_t at = call->cursor > 0 ? (uint32_t)call->cursor - 1 : 0;
    uint64_t looked = 0;
    if (authz->following) {
        lks_call_problem(call, LKS_E_REFUSED, "another controller leads, and collects");
        return;
    }
    for (unsigned i = 0; i < COLLECT_SLICE && looked < LOOKS_MAX && at < s->artifact_count; i++) {
        const struct lks_state_artifact *a = &s->artifacts[at];
        struct lks_str digest = lks_state_text(s, a->digest);
        bool gone = a->added + kept <= authz->now.wall && !lks_artifact_needed(s, digest) &&
                    let_go(authz, call, digest);
        if (call->status != 0)
            return;
        call->depot->gone += gone;
        at += !gone; /* the next one took its place */
        looked += s->stack_count + s->bundle_count;
    }
    call->cursor = (uint64_t)at + 1;
    if (at >= s->artifact_count)
        list_recorded(authz, call, LKS_DEPOT_COLLECT);
}
