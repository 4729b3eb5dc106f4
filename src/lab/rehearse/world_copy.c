/* The copy of a fleet, and the change in it. */
#include "core/campaign/state_apply.h"
#include "core/rows/change.h"
#include "core/rows/pool.h"
#include "core/rows/registry.h"
#include "core/state/state.h"
#include "engine/journal.h"
#include "lab/rehearse/world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define BY     LKS_STR("user:rehearsal")
#define REASON LKS_STR("as rehearsed")
enum { APPROVERS_MAX = 16 };

/* NULL, and `err` says why. */
static struct lks_world *world_new(const struct lks_world_options *options, struct lks_err *err)
{
    static const uint8_t seed[LKS_KEY_BYTES] = {1};
    struct lks_world *w = calloc(1, sizeof(*w));
    if (w == NULL) {
        (void)!lks_fail_nomem(err);
        return NULL;
    }
    w->options = *options;
    w->judge = (struct lks_judge){.ctx = w, .say = lks_world_judge};
    if (lks_key_make(seed, &w->key, err) != LKS_OK) {
        free(w);
        return NULL;
    }
    w->engine_options = (struct lks_engine_options){
        .facts = options->facts,
        .key = &w->key,
        .version = "rehearsal",
        .journal = "00000000000000000000000000000000",
        .judge = &w->judge,
        .unchained = true,
    };
    return w;
}

void lks_world_free(struct lks_world *w)
{
    if (w == NULL)
        return;
    lks_engine_free(w->engine);
    lks_store_close(&w->store);
    lks_memory_disk_free(w->disk);
    lks_world_tuples_fini(w);
    for (size_t i = 0; i < w->bundle_count; i++)
        lks_bundle_fini(&w->bundles[i]);
    free(w->bundles);
    if (w->queue != NULL)
        lks_queue_fini(w->queue);
    free(w->queue);
    free(w->machines);
    free(w->jobs);
    lks_world_listed_fini(w);
    free(w);
}

/* Rows that were decided are durable at once, and `fn`, if there is one, sees each. */
bool lks_world_flush(struct lks_world *w, void (*fn)(struct lks_world *, const struct lks_record *))
{
    struct lks_err err = {0};
    struct lks_engine_batch batch = {0};
    while (!w->broken && lks_engine_take(w->engine, lks_world_now(w), &batch)) {
        lks_engine_durable(w->engine, &batch);
        for (size_t i = 0; i < batch.store.row_count && fn != NULL && !w->broken; i++) {
            const struct lks_row *row = &batch.rows[i];
            struct lks_record record;
            if (!lks_world_row_counts(row->kind))
                continue;
            if (lks_record_unpack(row->kind, row->version, row->body, &record, &err) != LKS_OK)
                lks_world_break(w, err.code, err.msg);
            else
                fn(w, &record);
        }
        if (w->out != NULL)
            w->out->rows += batch.store.row_count;
        lks_engine_batch_fini(&batch);
        batch = (struct lks_engine_batch){0};
    }
    return !w->broken;
}

/* A journal's -------------------------------------------------------------------------------- */

/* Endpoints are not read again while nothing happens to them, and schedulers are never asked: the
 * agents' idle check is used for every pool. */
static enum lks_code relax(struct lks_state *s, struct lks_err *err)
{
    struct lks_limits limits = s->limits;
    limits.outband_age = UINT64_MAX / 4;
    for (uint32_t i = 0; i < s->pool_count; i++)
        s->pools[i].sched = 0; /* its text is freed with the copy */
    struct lks_record record = {.kind = LKS_RECORD_LIMITS,
                                .limits = lks_limits_record(&limits, s->yeses_until)};
    return lks_state_apply(s, s->seq, s->clock, &record, err);
}

static enum lks_code take_bundle(struct lks_world *w, struct lks_store *store,
                                 const struct lks_state_bundle *b, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_STORE_BLOB_MAX);
    char digest[LKS_DIGEST_SIZE];
    struct lks_str manifest = lks_state_text(lks_engine_state(w->engine), b->manifest);
    (void)snprintf(digest, sizeof(digest), "%" LKS_STR_FMT, LKS_STR_ARG(manifest));
    if (store->ops->blob(store->self, digest, &bytes, err) != LKS_OK)
        return lks_wrap(err, "the manifest of a bundle");
    struct lks_bundle *to = &w->bundles[w->bundle_count];
    if (lks_bundle_parse(lks_buf_view(&bytes), "bundle", w->options.facts, to, err) != LKS_OK)
        return err->code;
    w->bundle_count++;
    return LKS_OK;
}

static enum lks_code take_bundles(struct lks_world *w, struct lks_store *store, struct lks_err *err)
{
    const struct lks_state *s = lks_engine_state(w->engine);
    w->bundles = calloc((size_t)s->bundle_count + 1, sizeof(w->bundles[0]));
    if (w->bundles == NULL)
        return lks_fail_nomem(err);
    for (uint32_t i = 0; i < s->bundle_count; i++) {
        if (s->bundles[i].revoked == 0 && take_bundle(w, store, &s->bundles[i], err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

static enum lks_code adopt(struct lks_world *w, struct lks_state *state, struct lks_store *store,
                           struct lks_err *err)
{
    if (state->fleet_manifest == 0)
        return lks_fail(err, LKS_E_INVALID, "the journal has no fleet yet");
    if (w->options.wall < state->clock)
        w->options.wall = state->clock;
    if (relax(state, err) != LKS_OK ||
        lks_engine_adopt(state, store, &w->engine_options, lks_world_now(w), &w->engine, err) !=
            LKS_OK)
        return err->code;
    return take_bundles(w, store, err);
}

static enum lks_code of_state(struct lks_state *state, struct lks_store *store,
                              const struct lks_world_options *options, struct lks_world **out,
                              struct lks_err *err)
{
    struct lks_world *w = world_new(options, err);
    if (w == NULL)
        return err->code;
    if (adopt(w, state, store, err) != LKS_OK) {
        lks_world_free(w);
        return err->code;
    }
    *out = w;
    return LKS_OK;
}

enum lks_code lks_world_of_journal(struct lks_store *store, const struct lks_world_options *options,
                                   struct lks_world **out, struct lks_err *err)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state state = {0};
    struct lks_store_tail tail;
    if (lks_state_init(&state, 0, err) != LKS_OK ||
        lks_journal_fold(store, NULL, 0, &state, &tail, err) != LKS_OK)
        return err->code;
    return of_state(&state, store, options, out, err);
}

enum lks_code lks_world_of_snapshot(struct lks_str bytes, struct lks_store *store,
                                    const struct lks_world_options *options, struct lks_world **out,
                                    struct lks_err *err)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state state = {0};
    uint8_t hash[LKS_HASH_BYTES];
    if (lks_state_init(&state, 0, err) != LKS_OK ||
        lks_snapshot_unpack_state(bytes, &state, hash, err) != LKS_OK)
        return err->code;
    return of_state(&state, store, options, out, err);
}

/* A file's ------------------------------------------------------------------------------------ */

/* No scheduler is asked: the agents' idle check is used. */
static void stand_in(struct lks_fleet *fleet)
{
    for (size_t i = 0; i < fleet->pool_count; i++)
        fleet->pools[i].sched = LKS_STR("none");
}

static enum lks_code enroll(struct lks_world *w, uint32_t node, struct lks_err *err)
{
    struct lks_str name = lks_state_name(lks_engine_state(w->engine), node);
    char hash[LKS_DIGEST_SIZE];
    struct lks_beat beat = {.protocol = LKS_BEAT_PROTOCOL, .seq = 1, .sent = lks_world_now(w).wall};
    (void)snprintf(hash, sizeof(hash), "sha256:%064" PRIx32, node + 1);
    beat.boot[0] = 1;
    bool yes = lks_world_turn(
                   w,
                   &(struct lks_event){.kind = LKS_EVENT_TOKEN,
                                       .by = BY,
                                       .reason = REASON,
                                       .name = name,
                                       .token = {.hash = lks_str_from(hash),
                                                 .expires = lks_world_now(w).wall + WORLD_HOUR}},
                   NULL) &&
               lks_world_turn(w,
                              &(struct lks_event){.kind = LKS_EVENT_ENROLL,
                                                  .node = node,
                                                  .name = name,
                                                  .certificate = {.token_hash = lks_str_from(hash),
                                                                  .fingerprint = lks_str_from(hash),
                                                                  .serial = LKS_STR("01"),
                                                                  .shown = LKS_STR(""),
                                                                  .expires = lks_world_now(w).wall +
                                                                             1000 * WORLD_DAY}},
                              NULL);
    return yes ? lks_engine_hear(w->engine, lks_world_now(w), node, &beat, err) : err->code;
}

/* It runs what it should. */
static bool read_pin(struct lks_world *w, uint32_t node)
{
    const struct lks_state *s = lks_engine_state(w->engine);
    lks_text intent = lks_state_intent(s, node);
    if (intent == 0)
        return true;
    struct lks_tuple tuple = *lks_world_tuple(w, intent, 0, 0);
    struct lks_event event = {.kind = LKS_EVENT_TUPLE, .node = node};
    tuple.node = lks_state_name(s, node);
    tuple.boot_id = LKS_STR("");
    tuple.taken = (int64_t)(lks_world_now(w).wall / LKS_SECOND);
    event.tuple.tuple = &tuple;
    event.tuple.report = lks_str_from(tuple.digest);
    if (s->nodes[node].asset != 0) {
        event = (struct lks_event){.kind = LKS_EVENT_OUTBAND, .name = tuple.node};
        event.outband.tuple = &tuple;
        event.outband.report = lks_str_from(tuple.digest);
    }
    return lks_world_turn(w, &event, NULL);
}

static enum lks_code take_nodes(struct lks_world *w, struct lks_err *err)
{
    uint32_t count = lks_engine_state(w->engine)->node_count;
    for (uint32_t i = 0; i < count; i++) {
        if (lks_engine_state(w->engine)->nodes[i].asset == 0 && enroll(w, i, err) != LKS_OK)
            return err->code;
        if (!read_pin(w, i) || !lks_world_flush(w, NULL))
            return err->code;
    }
    return LKS_OK;
}

static enum lks_code take_fleet(struct lks_world *w, struct lks_manifest *manifest,
                                struct lks_str text, struct lks_err *err)
{
    struct lks_store_blob blob = {.bytes = text};
    if (lks_digest_text(text, blob.digest, err) != LKS_OK)
        return err->code;
    stand_in(&manifest->fleets[0]);
    struct lks_event event = {
        .kind = LKS_EVENT_FLEET,
        .by = BY,
        .reason = REASON,
        .fleet = {.manifest = manifest, .digest = lks_str_from(blob.digest), .accept = true}};
    struct lks_event limits = {.kind = LKS_EVENT_LIMITS, .by = BY, .limits = lks_limits_default};
    limits.limits.mass_percent = 100;
    if (!lks_world_turn(w, &limits, NULL) || !lks_world_turn(w, &event, &blob) ||
        !lks_world_flush(w, NULL))
        return err->code;
    return take_nodes(w, err);
}

static enum lks_code make(struct lks_world *w, struct lks_manifest *manifest, struct lks_str text,
                          struct lks_err *err)
{
    w->err = err;
    w->disk = lks_memory_disk_new();
    if (w->disk == NULL)
        return lks_fail_nomem(err);
    if (lks_store_memory_open(w->disk, &w->store, err) != LKS_OK ||
        lks_engine_open(&w->store, &w->engine_options, lks_world_now(w), &w->engine, err) !=
            LKS_OK ||
        lks_world_publish(w, manifest, text, err) != LKS_OK ||
        lks_world_vouch_all(w, manifest, err) != LKS_OK)
        return err->code;
    enum lks_code code = take_fleet(w, manifest, text, err);
    w->err = NULL;
    return code;
}

enum lks_code lks_world_of_manifest(const char *source, struct lks_str text,
                                    const struct lks_world_options *options, struct lks_world **out,
                                    struct lks_err *err)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest manifest = {0};
    if (lks_manifest_parse(source, text, options->facts, NULL, &manifest, err) != LKS_OK)
        return err->code;
    if (manifest.fleet_count == 0)
        return lks_fail(err, LKS_E_INVALID, "%s: there is no fleet in it", source);
    struct lks_world *w = world_new(options, err);
    if (w == NULL)
        return err->code;
    if (make(w, &manifest, text, err) != LKS_OK) {
        lks_world_free(w);
        return err->code;
    }
    *out = w;
    return LKS_OK;
}

/* The change ---------------------------------------------------------------------------------- */

/* As if all that it takes had been said. */
static enum lks_code approve(struct lks_world *w, struct lks_err *err)
{
    char by[32];
    for (unsigned i = 1; i <= APPROVERS_MAX && !w->broken; i++) {
        if (lks_world_change(w)->state == LKS_CHANGE_APPROVED)
            break;
        (void)snprintf(by, sizeof(by), "user:rehearsal-%u", i);
        struct lks_event grant = {.kind = LKS_EVENT_GRANT,
                                  .by = WORLD_ADMIN,
                                  .grant = {.identity = lks_str_from(by),
                                            .role = LKS_ROLE_APPROVER,
                                            .site = LKS_STR(""),
                                            .pool = LKS_STR("")}};
        struct lks_event vote = {.kind = LKS_EVENT_VOTE,
                                 .by = lks_str_from(by),
                                 .reason = REASON,
                                 .vote = {.change = w->change, .yes = true}};
        if (!lks_world_turn(w, &grant, NULL) || !lks_world_turn(w, &vote, NULL))
            return err->code;
    }
    return lks_world_flush(w, NULL) ? LKS_OK : err->code;
}

enum lks_code lks_world_choose(struct lks_world *w, uint64_t change, struct lks_err *err)
{
    const struct lks_state_change *c = lks_state_change(lks_engine_state(w->engine), change);
    if (c == NULL)
        return lks_fail(err, LKS_E_NOT_FOUND, "there is no change %" PRIu64, change);
    if (c->state != LKS_CHANGE_PROPOSED && c->state != LKS_CHANGE_APPROVED)
        return lks_fail(err, LKS_E_REFUSED,
                        "change %" PRIu64 " is %s: only one that did not start can be rehearsed",
                        change, lks_change_state_words[c->state]);
    if (c->kind != LKS_CHANGE_STACK)
        return lks_fail(err, LKS_E_REFUSED, "only changes to a stack can be rehearsed");
    w->change = change;
    w->err = err;
    enum lks_code code = approve(w, err);
    w->err = NULL;
    return code;
}

enum lks_code lks_world_propose(struct lks_world *w, const struct lks_plan_wish *wish,
                                struct lks_err *err)
{
    struct lks_bundle_set known = {0};
    const struct lks_bundle **list = calloc(w->bundle_count + 1, sizeof(list[0]));
    if (list == NULL)
        return lks_fail_nomem(err);
    for (size_t i = 0; i < w->bundle_count; i++)
        list[known.count++] = &w->bundles[i];
    known.list = list;
    struct lks_event event = {.kind = LKS_EVENT_PROPOSE,
                              .by = BY,
                              .reason = REASON,
                              .propose = {.wish = *wish, .known = &known}};
    w->err = err;
    bool yes = lks_world_turn(w, &event, NULL) && lks_world_flush(w, NULL);
    w->err = NULL;
    free(list);
    if (!yes)
        return err->code;
    w->wished = true;
    const struct lks_state *s = lks_engine_state(w->engine);
    return lks_world_choose(w, s->changes[s->change_count - 1].id, err);
}
