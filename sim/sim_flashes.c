/*
 * Updates of firmware in a simulated fleet.
 *
 * The engine, its rules and the drivers for management endpoints are the production code; the BMCs
 * are those of src/lab/bmcsim with PLDM devices behind them; network, disk and time are invented.
 * Each seed draws a few BMCs, what is wrong with them, and how unkind the world is: requests and
 * answers that are lost, uploads that are cut, the controller killed before and after each of its
 * commits and at any moment between. Then it turns calm, and everything has to settle. Checked at
 * the end against the truth about the devices:
 *
 *     - none was flashed twice, and none that was refused was touched (promises 8 and 9);
 *     - what is called done runs on all of them, and what is called staged waits on all of them;
 *     - every update has ended (promise 11), and where nothing went wrong it is done.
 *
 *     sim_flashes           run many seeds, and rules that are broken on purpose
 *     sim_flashes 17        run one and print what happens
 */
#include "base/rng.h"
#include "core/rows/flash.h"
#include "core/state/state.h"
#include "drivers/store/memory.h"
#include "engine/engine.h"
#include "model/manifest/bundle.h"
#include "model/manifest/manifest.h"
#include "tests/bmcs.h"
#include "tests/facts.h"
#include "tests/test.h"
#include "tests/tuples.h"
#include "trust/signature.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define SEEDS     60
#define NODES_MAX 5
#define BEGIN     UINT64_C(1763200000000)
#define STORM     (90 * 60 * LKS_SECOND)
#define DEADLINE  (5 * LKS_BMCS_HOUR)
#define END       (7 * LKS_BMCS_HOUR)
#define TURNS_MAX 200000
#define NEW       "2.0.0"

/* What is updated on a BMC of each personality. */
static const char *const classes[LKS_BMCSIM_PERSONALITIES] = {
    [LKS_BMCSIM_OPENBMC] = "bmc", [LKS_BMCSIM_HGX] = "vbios",  [LKS_BMCSIM_SUPERMICRO] = "bmc",
    [LKS_BMCSIM_DELL] = "bios",   [LKS_BMCSIM_HPE] = "bmc",    [LKS_BMCSIM_SHELF] = "power-shelf",
    [LKS_BMCSIM_SWITCH] = "bmc",  [LKS_BMCSIM_LENOVO] = "bmc",
};

/* Rules that are broken on purpose: what the checks are worth. */
enum breach { KEPT, FORGETS_SAVED, SENDS_BEFORE_SAVING, BREACHES };

enum place { READY, ON_THE_WAY };

struct node {
    char name[16];
    enum lks_bmcsim_personality personality;
    struct lks_bmcs bmcs;
    char digest[LKS_DIGEST_SIZE]; /* of its image */
    bool faulty;
    uint64_t flash;
    void *value; /* of its conversation; NULL: none */
    enum place place;
    lks_ms due;
    bool answered; /* what is on the way is an answer */
    int status;
    struct lks_buf head, body;
};

struct world {
    uint64_t seed;
    struct lks_rng rng;
    bool print, broken, kind; /* kind: nothing goes wrong */
    enum breach breach;
    lks_ms now;
    unsigned mishaps;
    struct node nodes[NODES_MAX];
    size_t count;
    struct lks_memory_disk *disk;
    struct lks_store store;
    struct lks_engine *engine; /* NULL: it was killed */
    lks_ms restart_at;
    struct lks_engine_options options;
    struct lks_key key;
    char bundle[LKS_DIGEST_SIZE];
};

static void say(const struct world *w, const char *fmt, ...) LKS_PRINTF(2, 3);
static void say(const struct world *w, const char *fmt, ...)
{
    if (!w->print)
        return;
    printf("%10.3f  ", (double)(w->now - BEGIN) / 1000);
    va_list ap;
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n");
}

static void require(struct world *w, bool ok, const char *what)
{
    if (ok)
        return;
    say(w, "BROKEN: %s", what);
    if (w->breach == KEPT && !w->broken) {
        lks_test_case("seed %" PRIu64 ": %s", w->seed, what);
        CHECK(ok);
    }
    w->broken = true;
}

static bool chance(struct world *w, unsigned percent)
{
    if (w->kind || w->now > BEGIN + STORM || !lks_rng_percent(&w->rng, percent))
        return false;
    w->mishaps++;
    return true;
}

static struct lks_now clocks(const struct world *w)
{
    return (struct lks_now){.wall = w->now, .mono = w->now};
}

/* The controller ---------------------------------------------------------------------------- */

static void forget(struct node *n)
{
    free(n->value);
    n->value = NULL;
    n->place = READY;
}

static void die(struct world *w, const char *why)
{
    say(w, "the controller is killed %s", why);
    for (size_t i = 0; i < w->count; i++)
        forget(&w->nodes[i]);
    lks_engine_free(w->engine);
    w->engine = NULL;
    lks_store_close(&w->store);
    w->restart_at = w->now + LKS_SECOND + lks_rng_below(&w->rng, 60 * LKS_SECOND);
}

/* Make what was decided durable. False: the controller died of it. */
static bool commit(struct world *w)
{
    struct lks_engine_batch batch;
    struct lks_err err = {0};
    while (lks_engine_take(w->engine, clocks(w), &batch)) {
        if (chance(w, 4))
            lks_memory_disk_fail(
                w->disk, chance(w, 50) ? LKS_MEMORY_CRASH_BEFORE : LKS_MEMORY_CRASH_AFTER, 0);
        enum lks_code code = lks_engine_commit(&w->options, &w->store, &batch, &err);
        if (code == LKS_OK)
            lks_engine_durable(w->engine, &batch);
        lks_engine_batch_fini(&batch);
        if (code != LKS_OK) {
            die(w, "while it writes");
            return false;
        }
    }
    return true;
}

/* Decide, and make it durable. False: refused, or the controller died. */
static bool turn(struct world *w, const struct lks_event *event, const struct lks_store_blob *blob)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    struct lks_err err = {0};
    uint64_t needs = 0;
    lks_decision_init(&d);
    enum lks_code code = lks_engine_turn(w->engine, clocks(w), event, blob, &d, &needs, &err);
    require(w, code == LKS_OK, err.msg);
    if (d.refused.code != LKS_OK)
        say(w, "refused: %s", d.refused.msg);
    bool good = code == LKS_OK && d.refused.code == LKS_OK;
    return commit(w) && good;
}

static void intent_of(const struct lks_state *s, const struct lks_state_flash *f,
                      struct lks_bmc_intent *out)
{
    *out = (struct lks_bmc_intent){
        .act = f->act,
        .component = lks_state_text(s, f->component),
        .version = lks_state_text(s, f->version),
        .image = {.length = f->size},
        .image_size = f->size,
        .image_name = lks_state_text(s, f->image_name),
        .apply_time = lks_state_text(s, f->apply_time),
        .pull = LKS_STR("https://depot.example/image"),
        .force = f->force,
        .one_way = f->one_way,
        .deadline = f->deadline,
    };
    struct lks_str digest = lks_state_text(s, f->image);
    LKS_ASSERT(digest.len < sizeof(out->image.digest));
    memcpy(out->image.digest, digest.ptr, digest.len);
}

/* Begin an update, or go on with it where it stood. */
static void issue(struct world *w, struct node *n)
{
    const struct lks_bmc_driver *driver = lks_bmcs_driver(n->personality);
    const struct lks_state *s = lks_engine_state(w->engine);
    const struct lks_state_flash *f = lks_state_flash(s, n->flash);
    struct lks_bmc_secret secret = lks_bmcs_secret();
    struct lks_bmc_intent intent;
    struct lks_err err = {0};
    if (f == NULL || f->outcome != LKS_BMC_OPEN)
        return;
    intent_of(s, f, &intent);
    n->value = calloc(1, driver->update->size);
    LKS_ASSERT(n->value != NULL);
    enum lks_code code = driver->update_begin(n->value, lks_test_facts(), &secret, &intent, &err);
    require(w, code == LKS_OK, err.msg);
    n->place = READY;
    n->due = w->now;
    if (f->saved == NULL || w->breach == FORGETS_SAVED)
        return;
    code = driver->update->load(n->value, (struct lks_str){f->saved, f->saved_len}, &err);
    require(w, code == LKS_OK, err.msg);
    lks_conversation_feed(driver->update, n->value, w->now, NULL);
}

static void restart(struct world *w)
{
    struct lks_err err = {0};
    lks_memory_disk_fail(w->disk, LKS_MEMORY_NO_CRASH, 0);
    enum lks_code code = lks_store_memory_open(w->disk, &w->store, &err);
    require(w, code == LKS_OK, err.msg);
    code = lks_engine_open(&w->store, &w->options, clocks(w), &w->engine, &err);
    require(w, code == LKS_OK, err.msg);
    say(w, "the controller starts");
    if (!commit(w))
        return;
    for (size_t i = 0; i < w->count; i++)
        issue(w, &w->nodes[i]);
}

/* Conversations ----------------------------------------------------------------------------- */

static bool save(struct world *w, struct node *n, const struct lks_bmc_status *status)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf saved = LKS_BUF(LKS_CONVERSATION_SAVED_MAX);
    lks_bmcs_driver(n->personality)->update->save(n->value, &saved);
    require(w, saved.failed == LKS_OK, "what is saved has room");
    say(w, "%s: saved, %s", n->name, status->phase);
    return turn(w,
                &(struct lks_event){.kind = LKS_EVENT_FLASH_SAVED,
                                    .flash_saved = {.id = n->flash,
                                                    .saved = lks_buf_view(&saved),
                                                    .phase = lks_str_from(status->phase),
                                                    .percent = status->percent}},
                NULL);
}

static void send(struct world *w, struct node *n, const struct lks_talk *talk)
{
    LKS_CLEANUP(lks_bmcsim_reply_fini) struct lks_bmcsim_reply reply = {0};
    bool lost = chance(w, 2), cut = talk->request.body.len > 0 && chance(w, 5);
    lks_bmcsim_reply_init(&reply);
    n->bmcs.amount = (unsigned)lks_rng_below(&w->rng, 1000);
    if (!lost)
        lks_bmcs_deliver(&n->bmcs, &talk->request, cut, &reply);
    n->answered = !lost && !cut && reply.status != 0 && !chance(w, 2);
    n->status = reply.status;
    lks_buf_truncate(&n->head, 0);
    lks_buf_truncate(&n->body, 0);
    lks_bmcs_head(lks_buf_view(&reply.head), &n->head);
    lks_buf_add(&n->body, lks_buf_view(&reply.body));
    lks_ms delay = n->answered ? reply.delay + lks_rng_below(&w->rng, 100) : LKS_SECOND;
    n->due = w->now + (chance(w, 2) ? 20 * delay + LKS_SECOND : delay) + 1;
    n->place = ON_THE_WAY;
    say(w, "%s: %s %s: %d%s", n->name, talk->request.method, talk->request.path.ptr, n->status,
        n->answered ? ""
        : lost      ? ", lost"
        : cut       ? ", cut"
                    : ", no answer");
}

static void finish(struct world *w, struct node *n, const struct lks_talk *talk)
{
    struct lks_bmc_status status;
    lks_bmcs_driver(n->personality)->update_status(n->value, &status);
    struct lks_rec_flash_ended ended = {
        .id = n->flash,
        .outcome = status.outcome,
        .found = status.found,
        .text = talk->kind == LKS_TALK_FAIL ? lks_str_from(talk->err.msg) : status.text,
        .uploads = status.uploads,
    };
    require(w, status.outcome != LKS_BMC_OPEN, "what has ended has an outcome");
    say(w, "%s: %s: %.*s", n->name, lks_bmc_outcome_words[status.outcome], LKS_STR_ARG(ended.text));
    if (turn(w, &(struct lks_event){.kind = LKS_EVENT_FLASH_ENDED, .flash_ended = ended}, NULL))
        forget(n);
}

static void go_on(struct world *w, struct node *n)
{
    const struct lks_bmc_driver *driver = lks_bmcs_driver(n->personality);
    LKS_CLEANUP(lks_conversation_talk_fini) struct lks_talk talk = {0};
    struct lks_bmc_status status;
    lks_conversation_talk_init(&talk);
    lks_conversation_next(driver->update, n->value, w->now, &talk);
    driver->update_status(n->value, &status);
    bool late = w->breach == SENDS_BEFORE_SAVING && talk.kind == LKS_TALK_SEND;
    if (late)
        send(w, n, &talk);
    if (talk.checkpoint && talk.kind != LKS_TALK_FAIL && talk.kind != LKS_TALK_DONE &&
        !save(w, n, &status))
        return;
    if (chance(w, 1))
        die(w, "between two steps");
    else if (talk.kind == LKS_TALK_WAIT)
        n->due = talk.until;
    else if (talk.kind == LKS_TALK_SEND && !late)
        send(w, n, &talk);
    else if (talk.kind != LKS_TALK_SEND)
        finish(w, n, &talk);
}

static void step(struct world *w, struct node *n)
{
    const struct lks_bmc_driver *driver = lks_bmcs_driver(n->personality);
    lks_bmcs_pass(&n->bmcs, w->now);
    if (n->place == ON_THE_WAY) {
        const struct lks_http_response answer = {
            .status = n->status, .head = lks_buf_view(&n->head), .body = lks_buf_view(&n->body)};
        n->place = READY;
        if (chance(w, 1))
            die(w, "before it reads an answer");
        else
            lks_conversation_feed(driver->update, n->value, w->now, n->answered ? &answer : NULL);
        return;
    }
    go_on(w, n);
}

/* The beginning ----------------------------------------------------------------------------- */

static void apply_fleet(struct world *w)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF((size_t)1 << 20);
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest manifest = {0};
    struct lks_store_blob blob = {0};
    struct lks_err err = {0};
    lks_buf_addf(&text,
                 "%s---\nlockstep: 1\nkind: Fleet\nname: sim\n"
                 "pools: {lab: {posture: dev, enforce: observe, stack: golden}}\n"
                 "nodes:\n  - {hosts: 'n[1-%zu]', pool: lab, class: hgx-h200-8, "
                 "bmc: {url: 'https://{host}.example', credentials: 'file:/x'}}\n",
                 lks_test_node_stack, w->count);
    enum lks_code code =
        lks_manifest_parse("sim", lks_buf_view(&text), lks_test_facts(), NULL, &manifest, &err);
    require(w, code == LKS_OK, err.msg);
    blob.bytes = lks_buf_view(&text);
    LKS_ASSERT(lks_digest_text(blob.bytes, blob.digest, &err) == LKS_OK);
    bool done = turn(w,
                     &(struct lks_event){.kind = LKS_EVENT_FLEET,
                                         .by = LKS_STR("somebody"),
                                         .reason = LKS_STR("the first"),
                                         .fleet = {.manifest = &manifest,
                                                   .give = &manifest,
                                                   .digest = lks_str_from(blob.digest),
                                                   .accept = true}},
                     &blob);
    require(w, done, "a fleet");
}

/* A key, the images and a bundle that names them. */
static void vouch(struct world *w)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf digests = LKS_BUF((size_t)1 << 16);
    struct lks_public_key public = lks_key_public(&w->key);
    struct lks_store_blob blob = {.bytes = LKS_STR("{}")};
    struct lks_err err = {0};
    struct lks_pin pin;
    char text[LKS_KEY_TEXT_SIZE];
    lks_key_public_text(&public, text);
    LKS_ASSERT(lks_signature_pin_parse(lks_str_from(text), &pin, &err) == LKS_OK);
    LKS_ASSERT(lks_digest_text(blob.bytes, blob.digest, &err) == LKS_OK);
    struct lks_event event = {.kind = LKS_EVENT_KEY_PIN,
                              .by = LKS_STR("somebody"),
                              .reason = LKS_STR("ours"),
                              .key = {.name = LKS_STR("site"), .key = lks_str_from(text)}};
    require(w, turn(w, &event, NULL), "a key");
    for (size_t i = 0; i < w->count; i++) {
        struct node *n = &w->nodes[i];
        lks_buf_addf(&digests, "%s%s", i > 0 ? " " : "", n->digest);
        event = (struct lks_event){.kind = LKS_EVENT_ARTIFACT,
                                   .by = LKS_STR("somebody"),
                                   .artifact = {.digest = lks_str_from(n->digest),
                                                .name = LKS_STR("image.fwpkg"),
                                                .size = n->bmcs.image.len}};
        require(w, turn(w, &event, NULL), "an artifact");
    }
    memcpy(w->bundle, blob.digest, sizeof(w->bundle));
    event = (struct lks_event){.kind = LKS_EVENT_BUNDLE,
                               .by = LKS_STR("somebody"),
                               .bundle = {.digest = lks_str_from(w->bundle),
                                          .name = LKS_STR("firmware"),
                                          .version = LKS_STR(NEW),
                                          .manifest = lks_str_from(blob.digest),
                                          .signer = LKS_STR("site"),
                                          .key = lks_str_from(pin.fingerprint),
                                          .artifacts = lks_buf_view(&digests)}};
    require(w, turn(w, &event, &blob), "a bundle");
}

static void ask_for(struct world *w, struct node *n)
{
    struct lks_event event = {.kind = LKS_EVENT_CONDITION,
                              .by = LKS_STR("somebody"),
                              .name = lks_str_from(n->name),
                              .condition = {.condition = LKS_CONDITION_CHANGING,
                                            .on = true,
                                            .stack = LKS_STR(""),
                                            .text = LKS_STR("a change")}};
    require(w, turn(w, &event, NULL), "a node that changes");
    n->flash = lks_engine_state(w->engine)->next_flash;
    struct lks_bundle_artifact artifact = {.name = LKS_STR("image.fwpkg"),
                                           .digest = lks_str_from(n->digest),
                                           .size = n->bmcs.image.len,
                                           .component = lks_str_from(classes[n->personality]),
                                           .version = LKS_STR(NEW),
                                           .kind = LKS_BUNDLE_FIRMWARE};
    const struct lks_bundle said = {
        .name = LKS_STR("firmware"), .version = LKS_STR(NEW), .artifacts = &artifact, .count = 1};
    event = (struct lks_event){.kind = LKS_EVENT_FLASH,
                               .said = &said,
                               .by = LKS_STR("somebody"),
                               .reason = LKS_STR("a newer version"),
                               .name = lks_str_from(n->name),
                               .flash = {.act = LKS_BMC_UPDATE,
                                         .component = lks_str_from(classes[n->personality]),
                                         .version = LKS_STR(NEW),
                                         .bundle = lks_str_from(w->bundle),
                                         .image = lks_str_from(n->digest),
                                         .image_name = LKS_STR(""),
                                         .apply_time = LKS_STR(""),
                                         .deadline = w->now + DEADLINE}};
    require(w, turn(w, &event, NULL), "an update");
}

/* One thing that is wrong with the BMC itself, sometimes. */
static void draw_fault(struct world *w, struct node *n)
{
    static const char *const phases[] = {"upload", "staging", "activating", "reset"};
    if (w->kind || !lks_rng_percent(&w->rng, 40))
        return;
    struct lks_bmcsim_fault_set fault = {
        .fault = (enum lks_bmcsim_fault)lks_rng_below(&w->rng, LKS_BMCSIM_FAULT_COUNT),
        .at = lks_str_from(phases[lks_rng_below(&w->rng, LKS_COUNT(phases))]),
        .amount = 1 + lks_rng_below(&w->rng, 30),
        .times = 1,
    };
    if (fault.fault == LKS_FAULT_BRICK)
        fault.at = LKS_STR("A");
    if (fault.fault == LKS_FAULT_REFUSE)
        fault.amount = 400;
    if (fault.fault == LKS_FAULT_SESSION)
        fault.amount *= LKS_SECOND; /* one of milliseconds nobody can use */
    n->faulty = true;
    say(w, "%s: fault %s at %.*s", n->name, lks_bmcsim_fault_words[fault.fault],
        LKS_STR_ARG(fault.at));
    lks_bmcsim_fault(n->bmcs.sim, &fault);
}

static void node_init(struct world *w, struct node *n, size_t i)
{
    struct lks_bmc_intent intent;
    *n = (struct node){0};
    snprintf(n->name, sizeof(n->name), "n%zu", i + 1);
    n->personality = (enum lks_bmcsim_personality)lks_rng_below(&w->rng, LKS_BMCSIM_PERSONALITIES);
    lks_bmcs_init(&n->bmcs, n->personality, lks_rng_next(&w->rng), 1);
    lks_bmcs_package(&n->bmcs, n->personality, classes[n->personality], NEW, &intent);
    memcpy(n->digest, intent.image.digest, sizeof(n->digest));
    lks_buf_init(&n->head, LKS_HTTP_LINES_MAX);
    lks_buf_init(&n->body, LKS_HTTP_RESPONSE_MAX);
    say(w, "%s: %s, %s", n->name, lks_bmcsim_words[n->personality], classes[n->personality]);
    draw_fault(w, n);
}

static void world_init(struct world *w, uint64_t seed, enum breach breach, bool print)
{
    uint8_t bytes[LKS_KEY_BYTES] = {1, 2, 3};
    struct lks_err err = {0};
    *w = (struct world){
        .seed = seed, .rng.state = seed, .print = print, .breach = breach, .now = BEGIN};
    w->kind = lks_rng_percent(&w->rng, 15);
    w->count = 1 + (size_t)lks_rng_below(&w->rng, NODES_MAX);
    w->disk = lks_memory_disk_new();
    LKS_ASSERT(w->disk != NULL && lks_key_make(bytes, &w->key, &err) == LKS_OK);
    w->options = (struct lks_engine_options){
        .facts = lks_test_facts(),
        .key = &w->key,
        .version = "1.2.3",
        .journal = "00112233445566778899aabbccddeeff",
        .seed = 7,
    };
    for (size_t i = 0; i < w->count; i++)
        node_init(w, &w->nodes[i], i);
}

static void world_fini(struct world *w)
{
    for (size_t i = 0; i < w->count; i++) {
        forget(&w->nodes[i]);
        lks_bmcs_fini(&w->nodes[i].bmcs);
        lks_buf_fini(&w->nodes[i].head);
        lks_buf_fini(&w->nodes[i].body);
    }
    lks_engine_free(w->engine);
    lks_store_close(&w->store);
    lks_memory_disk_free(w->disk);
}

/* One run ----------------------------------------------------------------------------------- */

static bool has_ended(const struct world *w)
{
    for (size_t i = 0; i < w->count; i++) {
        if (w->nodes[i].value != NULL)
            return false;
    }
    return w->engine != NULL;
}

/* The next thing that happens; NULL: the controller starts. */
static struct node *next_node(struct world *w)
{
    struct node *next = NULL;
    for (size_t i = 0; i < w->count && w->engine != NULL; i++) {
        struct node *n = &w->nodes[i];
        if (n->value != NULL && (next == NULL || n->due < next->due))
            next = n;
    }
    return next;
}

static void check_node(struct world *w, struct node *n)
{
    const struct lks_state_flash *f = lks_state_flash(lks_engine_state(w->engine), n->flash);
    lks_bmcs_pass(&n->bmcs, w->now + LKS_BMCS_HOUR);
    struct lks_bmcs_truth truth = lks_bmcs_truth(&n->bmcs, classes[n->personality], NEW);
    require(w, f != NULL && f->outcome != LKS_BMC_OPEN, "every update ends");
    require(w, truth.most_flashes <= 1, "no device is flashed twice");
    if (f == NULL)
        return;
    if (f->outcome == LKS_BMC_DONE)
        require(w, truth.running == truth.devices, "what is done runs");
    if (f->outcome == LKS_BMC_REFUSED)
        require(w, truth.most_flashes == 0, "what is refused is not touched");
    if (!n->faulty && w->mishaps == 0)
        require(w, f->outcome == LKS_BMC_DONE, "where nothing goes wrong it is done");
}

static void run(struct world *w)
{
    bool kind = w->kind;
    w->kind = true; /* until all is asked for */
    restart(w);
    apply_fleet(w);
    vouch(w);
    for (size_t i = 0; i < w->count; i++)
        ask_for(w, &w->nodes[i]);
    w->kind = kind;
    for (size_t i = 0; i < w->count; i++)
        issue(w, &w->nodes[i]);
    for (unsigned i = 0; i < TURNS_MAX && !has_ended(w) && w->now < BEGIN + END; i++) {
        struct node *n = next_node(w);
        lks_ms due = n != NULL ? n->due : w->restart_at;
        w->now = due > w->now ? due : w->now;
        if (n != NULL)
            step(w, n);
        else
            restart(w);
    }
    require(w, has_ended(w), "everything settles");
    for (size_t i = 0; i < w->count && w->engine != NULL; i++)
        check_node(w, &w->nodes[i]);
}

static bool run_seed(uint64_t seed, enum breach breach, bool print)
{
    struct world w;
    world_init(&w, seed, breach, print);
    run(&w);
    world_fini(&w);
    return w.broken;
}

/* Beside the first ones those that found something once: 94 and 111 a page in place of the answer
 * to a login, 134 to 543 sessions so short that the eighth came before the end. */
static void test_seeds(void)
{
    static const uint64_t found[] = {94, 111, 134, 183, 412, 543};
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        CHECK(!run_seed(seed, KEPT, false));
    for (size_t i = 0; i < LKS_COUNT(found); i++)
        CHECK(!run_seed(found[i], KEPT, false));
}

/* A check that finds nothing in rules that are broken proves nothing about those that are kept. */
static void test_breaches(void)
{
    for (enum breach breach = KEPT + 1; breach < BREACHES; breach++) {
        bool found = false;
        lks_test_case("breach %d", (int)breach);
        for (uint64_t seed = 1; seed <= 10 * SEEDS && !found; seed++)
            found = run_seed(seed, breach, false);
        CHECK(found);
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = 0;
    if (argc > 1 && lks_str_number(lks_str_from(argv[1]), UINT64_MAX, &seed)) {
        bool broken = run_seed(seed, KEPT, true);
        printf("seed %" PRIu64 ": %s\n", seed, broken ? "broken" : "good");
        return broken ? EXIT_FAILURE : EXIT_SUCCESS;
    }
    return lks_test_main((const struct lks_test[]){
        {"flashes: seeds", test_seeds},
        {"flashes: broken rules are found", test_breaches},
        {0},
    });
}
