/* The fleet of a seed, and what people do before anything changes. */
#include "sim/campaign.h"

#include "tests/facts.h"
#include "trust/signature.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define TEXT_MAX ((size_t)64 << 20)

static const char *const pool_names[CAM_POOLS] = {"lab", "serve", "train"};
static const char *const postures[CAM_POOLS] = {"dev", "online-inference", "pre-training"};
static const char *const revisions[] = {"a", "b"};

const char *cam_pool_name(unsigned pool)
{
    return pool_names[pool];
}

/* Who is where --------------------------------------------------------------------------------- */

static void draw_stacks(struct cam *w)
{
    for (unsigned s = 1; s < CAM_STACKS; s++) {
        w->stacks[s] = w->stacks[s - 1];
        do {
            for (unsigned a = 0; a < CAM_HMC; a++)
                if (lks_rng_percent(&w->rng, a == CAM_BOARD ? 20 : 40))
                    w->stacks[s] = cam_with(w->stacks[s], (enum cam_axis)a, s);
        } while (cam_of_type(w->stacks[s], CAM_NODE) == cam_of_type(w->stacks[s - 1], CAM_NODE));
    }
}

static void draw_badness(struct cam *w)
{
    w->badness = CAM_GOOD;
    if (!lks_rng_percent(&w->rng, 40))
        return;
    w->badness = (enum cam_badness)(1 + lks_rng_below(&w->rng, CAM_BAD_COUNT - 1));
    w->bad_revision = (unsigned)lks_rng_below(&w->rng, LKS_COUNT(revisions));
    w->bad_axis = (enum cam_axis)lks_rng_below(&w->rng, CAM_BOARD + 1);
}

static void machine_init(struct cam *w, uint32_t i, enum cam_type type)
{
    struct cam_machine *m = &w->machines[i];
    (void)snprintf(m->name, sizeof(m->name), type == CAM_NODE ? "n%06" PRIu32 : "a%06" PRIu32,
                   i + 1);
    m->type = type;
    m->placed = true;
    m->up = m->agent_up = type == CAM_NODE;
    m->boot = 1;
    m->life = 1;
    m->truth = cam_of_type(w->stacks[0], type);
    m->revision = (unsigned)lks_rng_below(&w->rng, LKS_COUNT(revisions));
    m->stray = cam_chance(w, w->weather.stray);
    m->deaf = cam_chance(w, w->weather.sched_deaf);
    m->bmc.silent = cam_chance(w, w->weather.bmc_silent);
    m->bmc.liar = cam_chance(w, w->weather.bmc_lies);
}

/* Nodes are dealt out to pools in runs; those of a domain are in the pool `train`. */
static void draw_places(struct cam *w)
{
    enum { RACK = 18 };
    uint32_t per = w->domains > 0 ? w->nodes / 2 / w->domains : 0;
    per = per > RACK ? RACK : per;
    for (uint32_t i = 0; i < w->nodes; i++) {
        struct cam_machine *m = &w->machines[i];
        machine_init(w, i, CAM_NODE);
        m->pool = w->pools == 1 ? 2 : (unsigned)(i * w->pools / w->nodes) + CAM_POOLS - w->pools;
        if (per >= 2 && i + per * w->domains >= w->nodes) {
            m->pool = 2;
            m->domain = (w->nodes - 1 - i) / per + 1;
            m->revision = m->domain % LKS_COUNT(revisions);
            if (w->domain_nodes[m->domain].count++ == 0)
                w->domain_nodes[m->domain].first = i;
        }
    }
    if (per < 2)
        w->domains = 0;
    for (uint32_t i = w->nodes; i < w->count; i++) {
        uint32_t k = i - w->nodes;
        machine_init(w, i, k % 3 == 0 ? CAM_SWITCH_TRAY : CAM_POWER_SHELF);
        w->machines[i].domain = k / 3 + 1;
        w->machines[i].side = k % 3;
    }
}

/* Those of a large fleet are visited in no order, and each visit to a page of 4 KiB would have to
 * look up where it is: a tenth of a run. Large pages are a wish; without them it is only slower. */
static struct cam_machine *machines_new(uint32_t count)
{
    const size_t page = count < CAM_FLEET_LARGE ? CAM_LINE : (size_t)2 << 20;
    const size_t size = (count * sizeof(struct cam_machine) + page - 1) / page * page;
    struct cam_machine *machines = aligned_alloc(page, size);
    LKS_ASSERT(machines != NULL);
    if (count >= CAM_FLEET_LARGE)
        (void)madvise(machines, size, MADV_HUGEPAGE);
    memset(machines, 0, size);
    return machines;
}

void cam_fleet_draw(struct cam *w, uint32_t nodes)
{
    w->nodes = nodes;
    w->pools = 1 + (unsigned)lks_rng_below(&w->rng, CAM_POOLS);
    w->domains = nodes >= 4 && lks_rng_percent(&w->rng, 50)
                     ? 1 + (unsigned)lks_rng_below(&w->rng, nodes >= 8 ? 2 : 1)
                     : 0;
    if (nodes >= CAM_FLEET_LARGE)
        w->domains = CAM_DOMAINS_MAX;
    w->count = nodes + 3 * w->domains;
    w->spares = (unsigned)lks_rng_below(&w->rng, 2);
    w->machines = machines_new(w->count);
    if (nodes >= CAM_FLEET_LARGE) {
        w->queue.about = (const char *)w->machines;
        w->queue.about_size = sizeof(w->machines[0]);
        w->queue.soon = cam_control_soon;
        w->queue.world = w;
    }
    w->drains_drift = lks_rng_percent(&w->rng, 60);
    draw_stacks(w);
    draw_badness(w);
    draw_places(w);
    if (w->domains == 0)
        w->count = nodes;
    for (unsigned p = 0; p < CAM_POOLS; p++) {
        w->enforce[p] = p > 0 && lks_rng_percent(&w->rng, 70);
        w->scheduled[p] = lks_rng_percent(&w->rng, 60);
        w->requeues[p] = w->scheduled[p] && (w->seed + p) % 3 == 0; /* draws nothing */
    }
}

/* As text -------------------------------------------------------------------------------------- */

static void write_stack(struct cam *w, unsigned s, struct lks_buf *out)
{
    lks_buf_addf(out,
                 "---\nlockstep: 1\nkind: Stack\nname: s%u\nversion: '%u'\nvendor: nvidia\n"
                 "hardware: [tray-a, tray-b]\ncomponents:\n"
                 "  kernel: {version: '6.8.0-71-generic'}\n"
                 "  driver: {version: '%s'}\n  dcgm: {version: '%s'}\n"
                 "  cuda: {absent: images bring it}\n  nccl: {absent: images bring it}\n"
                 "  container-toolkit: {absent: none is used}\n"
                 "firmware:\n",
                 s, s, cam_version_text(CAM_DRIVER, cam_version(w->stacks[s], CAM_DRIVER)),
                 cam_version_text(CAM_DCGM, cam_version(w->stacks[s], CAM_DCGM)));
    for (unsigned a = CAM_BMC; a < CAM_AXES; a++) {
        const char *more = a == CAM_BOARD                 ? ", revert: one-way"
                           : cam_axes[a].type != CAM_NODE ? ", scope: domain, revert: revertible"
                                                          : ", revert: revertible";
        if (a == CAM_HMC ? !w->stages : cam_axes[a].type != CAM_NODE && w->domains == 0)
            continue;
        lks_buf_addf(out, "  - {class: %s, version: '%s'%s}\n", cam_axes[a].component,
                     cam_version_text((enum cam_axis)a, cam_version(w->stacks[s], a)), more);
    }
    lks_buf_addf(out, "settings: {power_limit_w: %s}\n",
                 cam_version_text(CAM_POWER, cam_version(w->stacks[s], CAM_POWER)));
}

/* What a pool has its scheduler do; one that does not wait for jobs has the seed's grace. */
static const char *sched_text(const struct cam *w, unsigned p)
{
    static char text[160];
    if (w->bridges.on && w->scheduled[p]) {
        (void)snprintf(text, sizeof(text), "slurm%s%s%s",
                       w->requeues[p]
                           ? ", drain_jobs: requeue, drain_signal: USR1, drain_grace_minutes: 2"
                           : "",
                       w->bridges.reserves[p] ? ", reserve: true" : "",
                       w->bridges.holds[p] ? ", on_resume: hold" : "");
        return text;
    }
    if (!w->requeues[p])
        return "none";
    return w->slurm.on ? "slurm, drain_jobs: requeue, drain_signal: USR1, drain_grace_minutes: 2"
                       : "slurm, drain_jobs: requeue";
}

bool cam_drains_refused(const struct cam *w, unsigned p)
{
    return w->enforce[p] && (w->seed + p) % 5 == 2; /* draws nothing */
}

static void write_pools(const struct cam *w, struct lks_buf *out)
{
    for (unsigned p = CAM_POOLS - w->pools; p < CAM_POOLS; p++)
        lks_buf_addf(
            out, "  %s: {posture: %s, criticality: %u, enforce: %s, sched: %s, stack: s0%s%s%s}\n",
            pool_names[p], postures[p], 10 * (p + 1), w->enforce[p] ? "'on'" : "observe",
            sched_text(w, p), w->drains_drift ? ", on_drift: [drain]" : "",
            cam_drains_refused(w, p) ? ", drain_refused: true" : "", cam_gates_text(w));
}

static bool alike(const struct cam_machine *a, const struct cam_machine *b)
{
    return a->pool == b->pool && a->site == b->site && a->domain == b->domain &&
           a->revision == b->revision && a->type == b->type && a->type == CAM_NODE;
}

/* Runs of machines that are alike are one line. */
static void write_machines(const struct cam *w, uint32_t from, uint32_t to, struct lks_buf *out)
{
    static const char *const classes[CAM_TYPES] = {"tray-", "switch-tray", "power-shelf"};
    static const char *const sides[] = {"", ", side: a", ", side: b"};
    for (uint32_t i = from, last; i < to; i = last + 1) {
        const struct cam_machine *m = &w->machines[i];
        for (last = i; last + 1 < to && alike(m, &w->machines[last + 1]);)
            last++;
        lks_buf_addf(out, "  - {hosts: '%c[%06" PRIu32 "-%06" PRIu32 "]', class: %s%s", m->name[0],
                     i + 1, last + 1, classes[m->type],
                     m->type == CAM_NODE ? revisions[m->revision] : "");
        if (m->type == CAM_NODE)
            lks_buf_addf(out, ", pool: %s, hardware_revision: %s", pool_names[m->pool],
                         revisions[m->revision]);
        if (m->domain > 0)
            lks_buf_addf(out, ", domain: d%u", m->domain);
        if (w->sites > 1)
            lks_buf_addf(out, ", site: %s", cam_site_name(m->site));
        lks_buf_addf(out,
                     "%s, rack: 'r%" PRIu32 "', bmc: {url: 'https://{host}.example', "
                     "credentials: 'file:/x'}}\n",
                     m->type == CAM_POWER_SHELF ? sides[m->side] : "", i / 8);
    }
}

static void write_classes(struct lks_buf *out)
{
    for (unsigned r = 0; r < LKS_COUNT(revisions); r++)
        lks_buf_addf(out,
                     "%slockstep: 1\nkind: HardwareClass\nname: tray-%s\nvendor: nvidia\n"
                     "gpu: {product: 'H200', count: 1}\n",
                     r > 0 ? "---\n" : "", revisions[r]);
}

static void write_fleet(struct cam *w, uint32_t nodes, struct lks_buf *out)
{
    lks_buf_init(out, TEXT_MAX);
    write_classes(out);
    for (unsigned s = 0; s < CAM_STACKS; s++)
        write_stack(w, s, out);
    lks_buf_addf(out,
                 "---\nlockstep: 1\nkind: Fleet\nname: sim\nspares: {hgx-firmware: %u}\npools:\n",
                 w->nodes < CAM_FLEET_LARGE ? 2 : 1000000);
    write_pools(w, out);
    if (w->sites > 1)
        lks_buf_addf(out, "sites: {%s: {}, %s: {}}\n", cam_site_name(0), cam_site_name(1));
    if (w->domains > 0)
        lks_buf_addf(out, "domains:\n");
    for (unsigned d = 1; d <= w->domains; d++)
        lks_buf_addf(out, "  d%u: {spares: %u}\n", d, w->spares);
    lks_buf_addf(out, "nodes:\n");
    write_machines(w, 0, nodes, out);
    if (w->domains > 0)
        lks_buf_addf(out, "assets:\n");
    write_machines(w, w->nodes, w->count, out);
}

static void parse_fleet(struct cam *w, uint32_t nodes, struct lks_buf *text,
                        struct lks_manifest *out, char digest[LKS_DIGEST_SIZE])
{
    struct lks_err err = {0};
    write_fleet(w, nodes, text);
    enum lks_code code =
        lks_manifest_parse("sim", lks_buf_view(text), lks_test_facts(), NULL, out, &err);
    if (code == LKS_OK)
        code = lks_digest_text(lks_buf_view(text), digest, &err);
    if (code != LKS_OK && w->print)
        printf("%s\n", text->ptr);
    cam_require(w, code == LKS_OK, "setup", "%s", err.msg);
    for (size_t p = 0; code == LKS_OK && p < out->fleets[0].pool_count; p++)
        if (w->scheduled[CAM_POOLS - w->pools + p]) /* no file may say so */
            out->fleets[0].pools[p].sched = w->seconded[CAM_POOLS - w->pools + p]
                                                ? LKS_STR("slurm+simulated")
                                                : LKS_STR("simulated");
}

/* Bundles -------------------------------------------------------------------------------------- */

const char *cam_artifact(const struct cam *w, enum cam_axis axis, unsigned s)
{
    return w->artifacts[axis][s];
}

static bool add_artifact(struct cam *w, struct lks_buf *out, unsigned s, unsigned a, bool first)
{
    const struct cam_axis_info *i = &cam_axes[a];
    char *digest = w->artifacts[a][s], name[128];
    size_t size = 4096;
    if (i->package == NULL)
        return false;
    cam_digest(digest, i->component, s);
    if (w->redfish && a == CAM_BMC)
        memcpy(digest, cam_redfish_image(s, &size), LKS_DIGEST_SIZE);
    (void)snprintf(name, sizeof(name), "%s%s%s", i->package, i->versions[s], i->ending);
    lks_buf_addf(out,
                 "%s{\"component\":\"%s\",\"digest\":\"%s\",\"kind\":\"%s\",\"name\":\"%s\","
                 "\"size\":%zu,\"version\":\"%s\"}",
                 first ? "" : ",", i->component, digest, i->flashed ? "firmware" : "package", name,
                 size, i->versions[s]);
    return true;
}

/* One for each version of everything. */
static void write_bundle(struct cam *w, unsigned s, struct lks_buf *out)
{
    struct lks_err err = {0};
    lks_buf_init(out, LKS_BUNDLE_BYTES_MAX);
    lks_buf_addf(out, "{\"artifacts\":[");
    for (unsigned a = 0, n = 0; a < CAM_AXES; a++)
        n += add_artifact(w, out, s, a, n == 0);
    lks_buf_addf(out, "],\"kind\":\"Bundle\",\"lockstep\":1,\"name\":\"b%u\",\"version\":\"%u\"}",
                 s, s);
    enum lks_code code =
        lks_bundle_parse(lks_buf_view(out), "sim", lks_test_facts(), &w->bundles[s], &err);
    cam_require(w, code == LKS_OK, "setup", "%s", err.msg);
    w->bundle_there[s] = code == LKS_OK;
}

static void vouch(struct cam *w, unsigned s, struct lks_str key)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0}, digests = {0};
    struct lks_store_blob blob = {0};
    struct lks_err err = {0};
    write_bundle(w, s, &text);
    blob.bytes = lks_buf_view(&text);
    LKS_ASSERT(lks_digest_text(blob.bytes, blob.digest, &err) == LKS_OK);
    memcpy(w->bundle_digests[s], blob.digest, sizeof(blob.digest));
    lks_buf_init(&digests, LKS_BUNDLE_BYTES_MAX);
    lks_bundle_digests(&w->bundles[s], &digests);
    for (size_t i = 0; i < w->bundles[s].count; i++) {
        const struct lks_bundle_artifact *a = &w->bundles[s].artifacts[i];
        cam_person(w, &(struct lks_event){
                          .kind = LKS_EVENT_ARTIFACT,
                          .by = CAM_BY,
                          .artifact = {.digest = a->digest, .name = a->name, .size = a->size}});
    }
    bool yes = cam_turn(w,
                        &(struct lks_event){.kind = LKS_EVENT_BUNDLE,
                                            .by = CAM_BY,
                                            .bundle = {.digest = lks_str_from(blob.digest),
                                                       .name = w->bundles[s].name,
                                                       .version = w->bundles[s].version,
                                                       .manifest = lks_str_from(blob.digest),
                                                       .signer = LKS_STR("site"),
                                                       .key = key,
                                                       .artifacts = lks_buf_view(&digests)}},
                        &blob);
    cam_require(w, yes, "setup", "bundle %u", s);
}

static void pin_key(struct cam *w)
{
    struct lks_public_key public = lks_key_public(&w->key);
    struct lks_err err = {0};
    struct lks_pin pin;
    char text[LKS_KEY_TEXT_SIZE];
    lks_key_public_text(&public, text);
    LKS_ASSERT(lks_signature_pin_parse(lks_str_from(text), &pin, &err) == LKS_OK);
    cam_person(w, &(struct lks_event){.kind = LKS_EVENT_KEY_PIN,
                                      .by = CAM_BY,
                                      .reason = CAM_SAID,
                                      .key = {.name = LKS_STR("site"), .key = lks_str_from(text)}});
    for (unsigned s = 0; s < CAM_STACKS; s++)
        vouch(w, s, lks_str_from(pin.fingerprint));
}

/* Stacks and the fleet ------------------------------------------------------------------------- */

static void release_stack(struct cam *w, unsigned s)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    const struct lks_stack *stack = &w->manifest.stacks[s];
    struct lks_store_blob blob = {0};
    struct lks_err err = {0};
    write_classes(&text);
    write_stack(w, s, &text);
    blob.bytes = lks_buf_view(&text);
    LKS_ASSERT(lks_digest_text(blob.bytes, blob.digest, &err) == LKS_OK);
    memcpy(w->stack_digests[s], stack->digest, sizeof(w->stack_digests[s]));
    bool yes = cam_turn(
        w,
        &(struct lks_event){.kind = LKS_EVENT_PUBLISH,
                            .by = CAM_BY,
                            .publish = {.stack = stack, .manifest = lks_str_from(blob.digest)}},
        &blob);
    cam_require(w, yes, "setup", "stack %u is published", s);
    for (unsigned step = LKS_STEP_LAB; step <= LKS_STEP_RELEASED; step++)
        cam_person(w, &(struct lks_event){.kind = LKS_EVENT_STEP,
                                          .by = CAM_APPROVER,
                                          .step = {.digest = lks_str_from(stack->digest),
                                                   .to = (enum lks_stack_step)step,
                                                   .evidence = CAM_SAID}});
}

bool cam_fleet_apply(struct cam *w, bool smaller)
{
    if (smaller && w->smaller_text.len == 0)
        parse_fleet(w, w->nodes - 1, &w->smaller_text, &w->smaller, w->smaller_digest);
    const struct lks_buf *text = smaller ? &w->smaller_text : &w->manifest_text;
    struct lks_store_blob blob = {.bytes = lks_buf_view(text)};
    memcpy(blob.digest, smaller ? w->smaller_digest : w->manifest_digest, sizeof(blob.digest));
    return cam_turn(w,
                    &(struct lks_event){.kind = LKS_EVENT_FLEET,
                                        .by = CAM_BY,
                                        .reason = CAM_SAID,
                                        .fleet = {.manifest = smaller ? &w->smaller : &w->manifest,
                                                  .digest = lks_str_from(blob.digest),
                                                  .accept = true}},
                    &blob);
}

static void draw_limits(struct cam *w)
{
    struct lks_event limits = {.kind = LKS_EVENT_LIMITS, .by = CAM_BY};
    limits.limits = lks_limits_default;
    limits.limits.heartbeat = w->heartbeat;
    limits.limits.late = 3 * w->heartbeat;
    limits.limits.lost = 12 * w->heartbeat;
    if (w->nodes < CAM_FLEET_LARGE) {
        limits.limits.validity = cam_between(w, 1, 15) * CAM_MINUTE;
        limits.limits.mass_floor = 2 + lks_rng_below(&w->rng, 10);
        limits.limits.mass_percent = 2 + lks_rng_below(&w->rng, 98);
    }
    cam_person(w, &limits);
}

/* A node has a certificate, and its agent begins. */
void cam_enroll(struct cam *w, uint32_t i)
{
    struct cam_machine *m = &w->machines[i];
    char hash[LKS_DIGEST_SIZE], fingerprint[LKS_DIGEST_SIZE];
    cam_digest(hash, "token", i + 1);
    cam_digest(fingerprint, "certificate", i + 1);
    cam_person(w, &(struct lks_event){.kind = LKS_EVENT_TOKEN,
                                      .by = CAM_BY,
                                      .reason = CAM_SAID,
                                      .name = lks_str_from(m->name),
                                      .token = {.hash = lks_str_from(hash),
                                                .expires = cam_now(w).wall + CAM_HOUR}});
    cam_person(w,
               &(struct lks_event){.kind = LKS_EVENT_ENROLL,
                                   .node = cam_place(w, m),
                                   .name = lks_str_from(m->name),
                                   .certificate = {.token_hash = lks_str_from(hash),
                                                   .fingerprint = lks_str_from(fingerprint),
                                                   .serial = LKS_STR("01"),
                                                   .shown = LKS_STR(""),
                                                   .expires = cam_now(w).wall + 10000 * CAM_HOUR}});
}

void cam_setup(struct cam *w)
{
    parse_fleet(w, w->nodes, &w->manifest_text, &w->manifest, w->manifest_digest);
    if (w->broken)
        return;
    w->setting_up = true;
    draw_limits(w);
    for (unsigned s = 0; s < CAM_STACKS && !w->broken; s++)
        release_stack(w, s);
    pin_key(w);
    cam_require(w, cam_fleet_apply(w, false), "setup", "the fleet is taken");
    cam_votes_setup(w);
    cam_settle(w);
    for (uint32_t i = 0; i < w->nodes && !w->broken; i++)
        cam_enroll(w, i);
    cam_settle(w);
    w->setting_up = false;
    for (uint32_t i = 0; i < w->count && !w->broken; i++) {
        if (w->machines[i].type == CAM_NODE)
            cam_agent_begin(w, i);
        cam_sweep_later(w, i);
        cam_slurm_resume(w, i);
    }
}
