/* Keys, bundles and updates by management endpoints, as records. */
#include "core/fold/texts.h"
#include "tests/dump_state.h"

static void dump_keys(struct lks_dump *d)
{
    for (uint32_t i = 0; i < d->s->key_count; i++) {
        const struct lks_state_key *k = &d->s->keys[i];
        struct lks_record r = {.kind = LKS_RECORD_KEY_PINNED};
        lks_texts_dump(d, &lks_texts_key, k, &r.key_pinned);
        lks_dump_say(d, k->pinned, r);
    }
}

static void dump_bundles(struct lks_dump *d)
{
    for (uint32_t i = 0; i < d->s->bundle_count; i++) {
        const struct lks_state_bundle *b = &d->s->bundles[i];
        struct lks_record r = {.kind = LKS_RECORD_BUNDLE, .bundle = {.site = b->site}};
        lks_texts_dump(d, &lks_texts_bundle, b, &r.bundle);
        lks_dump_say(d, b->added, r);
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
    struct lks_record r = {.kind = LKS_RECORD_FLASH,
                           .flash = {.id = f->id,
                                     .node = lks_state_name(d->s, f->node),
                                     .act = f->act,
                                     .size = f->size,
                                     .force = f->force,
                                     .one_way = f->one_way,
                                     .deadline = f->deadline}};
    lks_texts_dump(d, &lks_texts_flash, f, &r.flash);
    lks_dump_say(d, f->begun, r);
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
