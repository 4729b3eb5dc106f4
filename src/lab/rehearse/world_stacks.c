/* Of a fleet's file: its stacks are published and released, and a verified bundle names all that
 * they need, as if it had been built. */
#include "lab/rehearse/world.h"

#include "trust/signature.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define BY     LKS_STR("user:rehearsal")
#define OTHER  LKS_STR("user:approver")
#define REASON LKS_STR("as rehearsed")

static enum lks_code release(struct lks_world *w, const struct lks_stack *stack,
                             const struct lks_store_blob *blob, struct lks_err *err)
{
    struct lks_event event = {
        .kind = LKS_EVENT_PUBLISH,
        .by = BY,
        .publish = {.stack = stack, .manifest = lks_str_from(blob->digest)},
    };
    if (!lks_world_turn(w, &event, blob))
        return lks_wrap(err, "stack '%" LKS_STR_FMT "'", LKS_STR_ARG(stack->name));
    for (unsigned step = LKS_STEP_LAB; step <= LKS_STEP_RELEASED; step++) {
        event = (struct lks_event){.kind = LKS_EVENT_STEP,
                                   .by = OTHER,
                                   .step = {.digest = lks_str_from(stack->digest),
                                            .to = (enum lks_stack_step)step,
                                            .evidence = REASON}};
        if (!lks_world_turn(w, &event, NULL))
            return lks_wrap(err, "stack '%" LKS_STR_FMT "'", LKS_STR_ARG(stack->name));
    }
    return LKS_OK;
}

enum lks_code lks_world_publish(struct lks_world *w, const struct lks_manifest *manifest,
                                struct lks_str text, struct lks_err *err)
{
    struct lks_store_blob blob = {.bytes = text};
    if (lks_digest_text(text, blob.digest, err) != LKS_OK)
        return err->code;
    for (size_t i = 0; i < manifest->stack_count; i++)
        if (release(w, &manifest->stacks[i], &blob, err) != LKS_OK)
            return err->code;
    return lks_world_flush(w, NULL) ? LKS_OK : err->code;
}

/* Bundles ------------------------------------------------------------------------------------- */

static bool is_there(const struct lks_manifest *m, size_t stack, size_t component)
{
    const struct lks_component *c = &m->stacks[stack].components[component];
    for (size_t s = 0; s <= stack; s++) {
        size_t count = s == stack ? component : m->stacks[s].component_count;
        for (size_t i = 0; i < count; i++) {
            const struct lks_component *o = &m->stacks[s].components[i];
            if (lks_str_eq(o->name, c->name) && lks_str_eq(o->version, c->version))
                return true;
        }
    }
    return false;
}

static bool add_artifact(struct lks_buf *out, const struct lks_component *c, size_t number)
{
    bool firmware = lks_str_starts(c->name, "firmware/");
    struct lks_str name = c->name;
    if (c->version.len == 0 || c->absent.len > 0)
        return false;
    if (firmware)
        name = (struct lks_str){name.ptr + strlen("firmware/"), name.len - strlen("firmware/")};
    lks_buf_addf(out,
                 "%s{\"component\":\"%" LKS_STR_FMT "\",\"digest\":\"sha256:%064zx\",\"kind\":"
                 "\"%s\",\"name\":\"f%zu_%" LKS_STR_FMT "%s\",\"size\":4096,\"version\":"
                 "\"%" LKS_STR_FMT "\"}",
                 number > 1 ? "," : "", LKS_STR_ARG(name), number,
                 firmware ? "firmware" : "package", number, LKS_STR_ARG(c->version),
                 firmware ? ".fwpkg" : "_amd64.deb", LKS_STR_ARG(c->version));
    return true;
}

static void write_bundle(const struct lks_manifest *m, struct lks_buf *out)
{
    size_t number = 0;
    lks_buf_addf(out, "{\"artifacts\":[");
    for (size_t s = 0; s < m->stack_count; s++)
        for (size_t i = 0; i < m->stacks[s].component_count; i++)
            if (number < LKS_BUNDLE_ARTIFACTS_MAX && !is_there(m, s, i))
                number += add_artifact(out, &m->stacks[s].components[i], number + 1);
    lks_buf_addf(out, "],\"kind\":\"Bundle\",\"lockstep\":1,\"name\":\"rehearsal\","
                      "\"version\":\"1\"}");
}

/* Its files are in the depot, and it is good. */
static enum lks_code take(struct lks_world *w, const struct lks_store_blob *blob,
                          struct lks_str key, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf digests = LKS_BUF(LKS_BUNDLE_BYTES_MAX);
    const struct lks_bundle *b = &w->bundles[0];
    lks_bundle_digests(b, &digests);
    for (size_t i = 0; i < b->count; i++) {
        struct lks_event event = {.kind = LKS_EVENT_ARTIFACT,
                                  .by = BY,
                                  .artifact = {.digest = b->artifacts[i].digest,
                                               .name = b->artifacts[i].name,
                                               .size = b->artifacts[i].size}};
        if (!lks_world_turn(w, &event, NULL))
            return err->code;
    }
    struct lks_event event = {.kind = LKS_EVENT_BUNDLE,
                              .by = BY,
                              .bundle = {.digest = lks_str_from(blob->digest),
                                         .name = b->name,
                                         .version = b->version,
                                         .manifest = lks_str_from(blob->digest),
                                         .signer = LKS_STR("site"),
                                         .key = key,
                                         .artifacts = lks_buf_view(&digests)}};
    return lks_world_turn(w, &event, blob) && lks_world_flush(w, NULL) ? LKS_OK : err->code;
}

enum lks_code lks_world_vouch_all(struct lks_world *w, const struct lks_manifest *manifest,
                                  struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_BUNDLE_BYTES_MAX);
    struct lks_public_key public = lks_key_public(&w->key);
    struct lks_store_blob blob = {0};
    char key[LKS_KEY_TEXT_SIZE];
    struct lks_pin pin;
    lks_key_public_text(&public, key);
    write_bundle(manifest, &text);
    blob.bytes = lks_buf_view(&text);
    w->bundles = calloc(1, sizeof(w->bundles[0]));
    if (w->bundles == NULL)
        return lks_fail_nomem(err);
    if (lks_buf_check(&text, err) != LKS_OK ||
        lks_digest_text(blob.bytes, blob.digest, err) != LKS_OK ||
        lks_signature_pin_parse(lks_str_from(key), &pin, err) != LKS_OK ||
        lks_bundle_parse(blob.bytes, "rehearsal", NULL, &w->bundles[0], err) != LKS_OK)
        return err->code;
    w->bundle_count = 1;
    struct lks_event event = {.kind = LKS_EVENT_KEY_PIN,
                              .by = BY,
                              .reason = REASON,
                              .key = {.name = LKS_STR("site"), .key = lks_str_from(key)}};
    if (!lks_world_turn(w, &event, NULL))
        return err->code;
    return take(w, &blob, lks_str_from(pin.fingerprint), err);
}
