/* Published stacks, images, and what published vulnerabilities and ends of support mean for the
 * fleet. */
#include "base/near.h"
#include "base/vec.h"
#include "core/exposure/exposure.h"
#include "core/registry/named.h"
#include "core/rows/pool.h"
#include "core/rows/registry.h"
#include "core/state/state.h"
#include "model/manifest/manifest.h"
#include "server/api/handle.h"
#include "server/api/routes.h"
#include "server/auth/authz.h"
#include "server/auth/reads.h"
#include "server/auth/rows.h"
#include "server/base/daemon.h"
#include "server/form/views.h"
#include "trust/dsse.h"

#include <stdlib.h>

enum { EXPOSURE_SLICE = 10000 }; /* nodes that are copied before others have their turn */

/* Stacks ------------------------------------------------------------------------------------ */

/* Whether a stack has the name that is asked for; else the answer is written. */
static bool is_a_name(const struct lks_state *s, struct lks_call *call, struct lks_str name)
{
    struct lks_near near = lks_near_to(name);
    char hint[LKS_NEAR_HINT_SIZE];
    for (uint32_t i = 0; i < s->stack_count; i++) {
        if (lks_str_eq(lks_state_text(s, s->stacks[i].name), name))
            return true;
        lks_near_try(&near, lks_state_text(s, s->stacks[i].name));
    }
    lks_call_problem(call, LKS_E_NOT_FOUND, "no stack is called '%" LKS_STR_FMT "'%s",
                     LKS_STR_ARG(name), lks_near_hint(&near, hint));
    return false;
}

static bool begin_stacks(struct lks_rows_walk *walk)
{
    struct lks_str name = LKS_ASKED(walk->call, lks_query_stacks)->name;
    return name.len == 0 || is_a_name(walk->authz->state, walk->call, name);
}

static bool shows_stack(struct lks_rows_walk *walk, const void *row)
{
    const struct lks_query_stacks *ask = LKS_ASKED(walk->call, lks_query_stacks);
    const struct lks_state_stack *stack = row;
    return ask->name.len == 0 ||
           lks_str_eq(ask->name, lks_state_text(walk->authz->state, stack->name));
}

void lks_handle_stacks(struct lks_authz *authz, struct lks_call *call)
{
    static const struct lks_rows stacks = {
        .view = &lks_view_stacks, .begin = begin_stacks, .shows = shows_stack};
    lks_rows_page(authz, call, &stacks);
}

/* The stack {digest}, which may be a name; NULL, and the answer written, where there is none. */
static const struct lks_state_stack *find_stack(const struct lks_authz *authz,
                                                struct lks_call *call)
{
    const struct lks_state_stack *stack = NULL;
    struct lks_err err = {0};
    if (lks_named_stack(authz->state, call->named, &stack, &err) != LKS_OK)
        lks_call_problem_err(call, &err);
    return stack;
}

static void put_evidence(struct lks_json_writer *w, const struct lks_state *s,
                         const struct lks_state_stack *stack)
{
    lks_json_begin(w, "evidence", '[');
    for (size_t i = 0; i < LKS_STEP_COUNT; i++) {
        if (stack->evidence[i] == 0)
            continue;
        lks_json_begin(w, NULL, '{');
        lks_json_cstr(w, "step", lks_step_words[i]);
        lks_json_text(w, "text", lks_state_text(s, stack->evidence[i]));
        lks_view_text(w, "by", lks_state_text(s, stack->evidence_by[i]));
        lks_json_end(w, '}');
    }
    lks_json_end(w, ']');
}

void lks_handle_stack(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state *s = authz->state;
    const struct lks_state_stack *stack = find_stack(authz, call);
    if (stack == NULL)
        return;
    struct lks_json_writer w = lks_call_json(call);
    lks_view_row_put(&w, &lks_view_stacks, LKS_USE_LISTED | LKS_USE_SHOWN,
                     &(struct lks_view_of){.s = s, .row = stack});
    put_evidence(&w, s, stack);
    lks_json_end(&w, '}');
}

void lks_handle_stack_manifest(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state_stack *stack = find_stack(authz, call);
    if (stack != NULL)
        lks_read_from_store(call, lks_state_text(authz->state, stack->manifest));
}

void lks_handle_stack_envelope(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state_stack *stack = find_stack(authz, call);
    if (stack == NULL)
        return;
    lks_buf_add(&call->out, lks_state_text(authz->state, stack->envelope));
    call->status = 200;
    call->type = call->route->answer_type;
}

/* Publishing -------------------------------------------------------------------------------- */

static const struct lks_stack *choose(const struct lks_manifest *m, struct lks_str name,
                                      struct lks_err *err)
{
    if (name.len == 0 && m->stack_count == 1)
        return &m->stacks[0];
    for (size_t i = 0; i < m->stack_count; i++) {
        if (lks_str_eq(m->stacks[i].name, name))
            return &m->stacks[i];
    }
    if (name.len > 0)
        (void)!lks_fail(err, LKS_E_INVALID, "manifest: no stack '%" LKS_STR_FMT "' in it",
                        LKS_STR_ARG(name));
    else
        (void)!lks_fail(err, LKS_E_INVALID,
                        "manifest: %zu stacks in it; say which with ?stack=", m->stack_count);
    return NULL;
}

/* Whose word it is, with the journal's key: by itself it shows what was published here. */
static enum lks_code sign_stack(struct lks_call *call, const struct lks_stack *stack)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf payload = LKS_BUF(LKS_DSSE_MAX);
    struct lks_json_writer w = {.out = &payload};
    lks_json_begin(&w, NULL, '{');
    lks_json_cstr(&w, "digest", stack->digest);
    lks_json_text(&w, "name", stack->name);
    lks_json_cstr(&w, "manifest", call->digest);
    lks_json_cstr(&w, "by", call->identity);
    lks_json_end(&w, '}');
    if (lks_buf_check(&payload, &call->failed) != LKS_OK)
        return call->failed.code;
    return lks_dsse_sign(&lks_daemon_secrets(call->daemon)->journal, LKS_STACK_TYPE,
                         lks_buf_view(&payload), &call->aside, &call->failed);
}

/* In the thread pool: the file is read, the stack found and signed. */
void lks_handle_publish_prepare(struct lks_call *call)
{
    lks_handle_fleet_prepare(call);
    if (call->manifest == NULL)
        return;
    const struct lks_stack *stack =
        choose(call->manifest, LKS_ASKED(call, lks_query_publish)->stack, &call->failed);
    if (stack != NULL)
        (void)!sign_stack(call, stack);
}

void lks_handle_publish(struct lks_authz *authz, struct lks_call *call)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    struct lks_err err = {0};
    const struct lks_query_publish *ask = LKS_ASKED(call, lks_query_publish);
    const struct lks_stack *stack = choose(call->manifest, ask->stack, &err);
    LKS_ASSERT(stack != NULL); /* it was found when the call was prepared */
    struct lks_store_blob blob = {.bytes = lks_buf_view(&call->bytes)};
    memcpy(blob.digest, call->digest, sizeof(blob.digest));
    char digest[LKS_DIGEST_SIZE];
    memcpy(digest, stack->digest, sizeof(digest));
    struct lks_event event = {
        .kind = LKS_EVENT_PUBLISH,
        .reason = ask->reason,
        .publish = {.stack = stack,
                    .manifest = lks_str_from(call->digest),
                    .envelope = lks_buf_view(&call->aside)},
    };
    if (!lks_authz_turn(authz, call, &event, &blob, &d))
        return;
    const struct lks_state_stack *made = lks_state_stack(authz->state, lks_str_from(digest));
    LKS_ASSERT(made != NULL);
    struct lks_json_writer w = lks_call_json(call);
    lks_json_cstr(&w, "digest", digest);
    lks_json_text(&w, "name", lks_state_text(authz->state, made->name));
    lks_json_cstr(&w, "step", lks_step_words[made->step]);
    lks_json_int(&w, "seq", (int64_t)call->needs);
    lks_json_end(&w, '}');
}

static void step(struct lks_authz *authz, struct lks_call *call, enum lks_stack_step to)
{
    const struct lks_state_stack *stack = find_stack(authz, call);
    if (stack == NULL)
        return;
    struct lks_event event = {
        .kind = LKS_EVENT_STEP,
        .step = {.digest = lks_state_text(authz->state, stack->digest),
                 .evidence = LKS_ASKED(call, lks_ask_promote)->evidence,
                 .to = to},
    };
    lks_authz_record(authz, call, &event);
}

void lks_handle_promote(struct lks_authz *authz, struct lks_call *call)
{
    int to = LKS_ASKED(call, lks_ask_promote)->to;
    if (to == LKS_STEP_RETIRED)
        lks_call_problem(call, LKS_E_INVALID,
                         "body: to: a promotion does not retire a stack; 'lockstep stack retire' "
                         "does, and POST .../retire");
    else
        step(authz, call, (enum lks_stack_step)to);
}

void lks_handle_retire(struct lks_authz *authz, struct lks_call *call)
{
    step(authz, call, LKS_STEP_RETIRED);
}

/* Images ------------------------------------------------------------------------------------ */

void lks_handle_images(struct lks_authz *authz, struct lks_call *call)
{
    static const struct lks_rows images = {.view = &lks_view_images};
    lks_rows_page(authz, call, &images);
}

void lks_handle_image(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_event event = {
        .kind = LKS_EVENT_IMAGE,
        .reason = LKS_ASKED(call, lks_rec_image)->reason,
        .image = *LKS_ASKED(call, lks_rec_image),
    };
    lks_authz_record(authz, call, &event);
}

void lks_handle_image_gone(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_query_image *ask = LKS_ASKED(call, lks_query_image);
    struct lks_event event = {
        .kind = LKS_EVENT_IMAGE_GONE,
        .reason = ask->reason,
        .image = {.ref = ask->ref},
    };
    lks_authz_record(authz, call, &event);
}

/* Exposure ---------------------------------------------------------------------------------- */

static bool sees(void *ctx, uint32_t node)
{
    return lks_authz_sees(ctx, node);
}

static void drop_exposure(void *memory)
{
    lks_exposure_free(memory);
}

/* In slices: the fleet is copied, and `work` reads the copy on a thread of the pool. */
static void ask_exposure(struct lks_authz *authz, struct lks_call *call, lks_call_work *work)
{
    const struct lks_book *book = lks_engine_book(authz->engine);
    struct lks_exposure_fleet *e = call->memory;
    struct lks_authz_view sight = lks_authz_sight(authz, call);
    struct lks_err err = {0};
    bool done = false;
    enum lks_code code = e == NULL ? lks_exposure_new(book->facts, &e, &err) : LKS_OK;
    call->memory = e;
    call->drop = drop_exposure;
    call->cursor = 1;
    if (code == LKS_OK)
        code = lks_exposure_read(e, authz->state, book, EXPOSURE_SLICE, sight.all ? NULL : sees,
                                 &sight, &done, &err);
    if (code != LKS_OK)
        lks_call_problem_err(call, &err);
    else if (done)
        call->work = work;
    call->needs = lks_engine_seq(authz->engine); /* what the last slice saw */
}

static lks_day today(void)
{
    return lks_time_day_of((int64_t)(lks_daemon_now().wall / LKS_SECOND));
}

/* The object is begun; what is in it, or why not. */
static void end_exposure(struct lks_call *call, struct lks_json_writer *w, enum lks_code code,
                         const struct lks_err *err)
{
    lks_json_end(w, '}');
    if (code != LKS_OK)
        lks_call_problem_err(call, err);
}

static void find_advisories(struct lks_call *call)
{
    struct lks_json_writer w = lks_call_json(call);
    struct lks_err err = {0};
    enum lks_code code =
        lks_exposure_advisories(call->memory, LKS_ASKED(call, lks_ask_cve)->cve, today(), &w, &err);
    end_exposure(call, &w, code, &err);
}

/* That nothing is affected by a vulnerability is answered only for one that the tables have. */
void lks_handle_advisories(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_str cve = LKS_ASKED(call, lks_ask_cve)->cve;
    if (cve.len > 0 && lks_facts_advisory(lks_engine_book(authz->engine)->facts, cve) == NULL) {
        lks_call_problem(call, LKS_E_NOT_FOUND, "no advisory '%" LKS_STR_FMT "' is known",
                         LKS_STR_ARG(cve));
        return;
    }
    ask_exposure(authz, call, find_advisories);
}

static void find_lifecycle(struct lks_call *call)
{
    struct lks_json_writer w = lks_call_json(call);
    struct lks_err err = {0};
    enum lks_code code = lks_exposure_lifecycle(call->memory, today(), &w, &err);
    end_exposure(call, &w, code, &err);
}

void lks_handle_lifecycle(struct lks_authz *authz, struct lks_call *call)
{
    ask_exposure(authz, call, find_lifecycle);
}
