/* Keys, bundles and updates by management endpoints, as records. */
#include "core/fold/dump.h"

static void dump_keys(struct lks_dump *d)
{
    for (uint32_t i = 0; i < d->s->key_count; i++) {
        const struct lks_state_key *k = &d->s->keys[i];
        lks_dump_say(d, k->pinned,
                     (struct lks_record){.kind = LKS_RECORD_KEY_PINNED,
                                         .key_pinned = {.name = lks_dump_text(d, k->name),
                                                        .key = lks_dump_text(d, k->key),
                                                        .by = lks_dump_text(d, k->by),
                                                        .reason = lks_dump_text(d, k->reason)}});
    }
}

static void dump_bundles(struct lks_dump *d)
{
    for (uint32_t i = 0; i < d->s->bundle_count; i++) {
        const struct lks_state_bundle *b = &d->s->bundles[i];
        lks_dump_say(d, b->added,
                     (struct lks_record){.kind = LKS_RECORD_BUNDLE,
                                         .bundle = {
                                             .digest = lks_dump_text(d, b->digest),
                                             .name = lks_dump_text(d, b->name),
                                             .version = lks_dump_text(d, b->version),
                                             .manifest = lks_dump_text(d, b->manifest),
                                             .signer = lks_dump_text(d, b->signer),
                                             .key = lks_dump_text(d, b->key),
                                             .artifacts = lks_dump_text(d, b->artifacts),
                                             .site = b->site,
                                             .by = lks_dump_text(d, b->by),
                                         }});
        if (b->revoked != 0)
            lks_dump_say(d, b->revoked,
                         (struct lks_record){
                             .kind = LKS_RECORD_BUNDLE_REVOKED,
                             .bundle_revoked = {.digest = lks_dump_text(d, b->digest),
                                                .by = lks_dump_text(d, b->revoked_by),
                                                .reason = lks_dump_text(d, b->revoked_reason)}});
    }
}

static void dump_begun(struct lks_dump *d, const struct lks_state_flash *f)
{
    lks_dump_say(d, f->begun,
                 (struct lks_record){.kind = LKS_RECORD_FLASH,
                                     .flash = {
                                         .id = f->id,
                                         .node = lks_state_name(d->s, f->node),
                                         .act = f->act,
                                         .component = lks_dump_text(d, f->component),
                                         .version = lks_dump_text(d, f->version),
                                         .bundle = lks_dump_text(d, f->bundle),
                                         .image = lks_dump_text(d, f->image),
                                         .size = f->size,
                                         .image_name = lks_dump_text(d, f->image_name),
                                         .apply_time = lks_dump_text(d, f->apply_time),
                                         .force = f->force,
                                         .one_way = f->one_way,
                                         .deadline = f->deadline,
                                         .by = lks_dump_text(d, f->by),
                                         .reason = lks_dump_text(d, f->reason),
                                     }});
}

static void dump_ended(struct lks_dump *d, const struct lks_state_flash *f)
{
    struct lks_str node = lks_state_name(d->s, f->node);
    if (f->outcome != LKS_BMC_OPEN)
        lks_dump_say(d, f->ended,
                     (struct lks_record){.kind = LKS_RECORD_FLASH_ENDED,
                                         .flash_ended = {.id = f->id,
                                                         .node = node,
                                                         .outcome = f->outcome,
                                                         .found = lks_dump_text(d, f->found),
                                                         .text = lks_dump_text(d, f->text),
                                                         .uploads = f->uploads}});
    if (f->resolved != 0)
        lks_dump_say(d, f->resolved,
                     (struct lks_record){
                         .kind = LKS_RECORD_FLASH_RESOLVED,
                         .flash_resolved = {.id = f->id,
                                            .node = node,
                                            .by = lks_dump_text(d, f->resolved_by),
                                            .reason = lks_dump_text(d, f->resolved_reason)}});
}

void lks_dump_flashes(struct lks_dump *d)
{
    dump_keys(d);
    dump_bundles(d);
    for (uint32_t i = 0; i < d->s->flash_count; i++) {
        const struct lks_state_flash *f = &d->s->flashes[i];
        struct lks_str saved =
            f->saved != NULL ? (struct lks_str){f->saved, f->saved_len} : LKS_STR("");
        dump_begun(d, f);
        if (saved.len > 0 || f->phase != 0 || f->percent != 0)
            lks_dump_say(d, f->begun,
                         (struct lks_record){.kind = LKS_RECORD_FLASH_SAVED,
                                             .flash_saved = {.id = f->id,
                                                             .saved = saved,
                                                             .phase = lks_dump_text(d, f->phase),
                                                             .percent = f->percent}});
        dump_ended(d, f);
    }
}
