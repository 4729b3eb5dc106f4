#include "lab/bmcsim/parts.h"
#include "lab/pldm/fd.h"
#include "lab/pldm/ua.h"

#include <stdio.h>

/* How a device of this unit answers who it is. */
struct identity {
    uint8_t uuid[16];
    struct lks_pldm_descriptor descriptors[2];
};

static void identify(const struct lks_bmcsim *b, const struct lks_bmcsim_unit *u,
                     struct identity *out)
{
    static const char iana[4] = {0x47, 0x16, 0, 0};
    lks_bmcsim_image_row_uuid(b->personality, u->row->class, out->uuid);
    out->descriptors[0] = (struct lks_pldm_descriptor){
        .type = LKS_PLDM_UUID, .value = {(const char *)out->uuid, sizeof(out->uuid)}};
    out->descriptors[1] =
        (struct lks_pldm_descriptor){.type = LKS_PLDM_IANA, .value = {iana, sizeof(iana)}};
}

/* The component of the package that is for this unit; NULL: none. */
static const struct lks_pldm_component *component_for(const struct lks_bmcsim *b, unsigned unit,
                                                      const struct lks_pldm_package *package)
{
    const struct lks_bmcsim_unit *u = &b->units[unit];
    struct identity id;
    identify(b, u, &id);
    if ((u->row->flags & LKS_ROW_FIXED) != 0 || u->bricked)
        return NULL;
    for (size_t r = 0; r < package->device_count; r++) {
        const struct lks_pldm_record *record = &package->devices[r];
        if (!lks_pldm_package_record_matches(record, id.descriptors, LKS_COUNT(id.descriptors)))
            continue;
        for (size_t i = 0; i < record->component_count; i++) {
            const struct lks_pldm_component *c = &package->components[record->components[i]];
            if (c->id == lks_bmcsim_image_row_component(u->row->class))
                return c;
        }
    }
    return NULL;
}

enum lks_bmcsim_message lks_bmcsim_flash_targets(struct lks_bmcsim *b,
                                                 const struct lks_bmcsim_job *job, uint64_t *out)
{
    LKS_CLEANUP(lks_pldm_package_fini) struct lks_pldm_package package = {0};
    struct lks_err err;
    if (lks_pldm_package_open(lks_buf_view(&job->image), false, &package, &err) != LKS_OK)
        return LKS_MSG_VERIFICATION_FAILED;
    uint64_t units = 0;
    for (unsigned i = 0; i < b->unit_count; i++)
        if ((!job->wish.targeted || (job->wish.targets >> i & 1U) != 0) &&
            component_for(b, i, &package) != NULL)
            units |= UINT64_C(1) << i;
    if (units == 0)
        return job->wish.targeted ? LKS_MSG_NOT_APPLICABLE : LKS_MSG_NO_TARGETS;
    *out = units;
    return LKS_MSG_SUCCESS;
}

/* Whether the unit may go to this version. */
static enum lks_bmcsim_message judge(const struct lks_bmcsim *b, const struct lks_bmcsim_unit *u,
                                     const char *version, bool force)
{
    int order = lks_bmcsim_image_version_cmp(u, version, u->active);
    bool strict = (b->kind->flags & LKS_HAS_NO_DOWNGRADE) != 0 && !force;
    if (u->lowest[0] != '\0' && lks_bmcsim_image_version_cmp(u, version, u->lowest) < 0)
        return LKS_MSG_VERIFICATION_FAILED;
    if (order < 0 && (strict || (u->row->flags & LKS_ROW_ONE_WAY) != 0))
        return LKS_MSG_STAMP_LOWER;
    return order == 0 && strict ? LKS_MSG_SKIPPED_SAME : LKS_MSG_SUCCESS;
}

/* ---- The device, as the update agent meets it ---- */

#define PIECE ((uint32_t)16 << 10) /* bytes of the image at a time */

struct device {
    const struct lks_bmcsim *b;
    const struct lks_bmcsim_unit *unit;
    const struct lks_pldm_component *component;
    struct lks_str image;   /* in the package: what the agent has */
    struct lks_buf written; /* what the device has of it */
    char version[LKS_BMCSIM_VERSION_SIZE];
    enum lks_bmcsim_message why;
    bool applied;
};

static uint8_t device_offer(void *ctx, const struct lks_fd_update *u, bool table)
{
    struct device *d = ctx;
    if (table)
        return LKS_PLDM_OFFER_OK;
    enum lks_bmcsim_message why = judge(d->b, d->unit, d->version, u->force);
    if (why == LKS_MSG_SUCCESS)
        return LKS_PLDM_OFFER_OK;
    d->why = why;
    return why == LKS_MSG_STAMP_LOWER    ? LKS_PLDM_OFFER_STAMP_LOWER
           : why == LKS_MSG_SKIPPED_SAME ? LKS_PLDM_OFFER_STAMP_SAME
                                         : LKS_PLDM_OFFER_SECURITY;
}

static uint8_t device_write(void *ctx, const struct lks_fd_update *u, uint32_t offset,
                            struct lks_str bytes)
{
    struct device *d = ctx;
    (void)u;
    LKS_ASSERT(offset == d->written.len);
    lks_buf_add(&d->written, bytes);
    return d->written.failed == LKS_OK ? LKS_PLDM_RESULT_OK : LKS_PLDM_TRANSFER_ABORTED;
}

static struct lks_fd_result device_verify(void *ctx, const struct lks_fd_update *u)
{
    struct device *d = ctx;
    (void)u;
    enum lks_bmcsim_seal seal =
        lks_bmcsim_image_check(lks_buf_view(&d->written), d->unit->row->class, d->version);
    if (seal == LKS_SEAL_GOOD)
        return (struct lks_fd_result){0};
    d->why = LKS_MSG_VERIFICATION_FAILED;
    return (struct lks_fd_result){.result = seal == LKS_SEAL_OTHER ? LKS_PLDM_VERIFY_VERSION
                                                                   : LKS_PLDM_VERIFY_SECURITY};
}

static struct lks_fd_result device_apply(void *ctx, const struct lks_fd_update *u)
{
    struct device *d = ctx;
    (void)u;
    d->applied = true;
    return (struct lks_fd_result){0};
}

static struct lks_fd_activation device_activate(void *ctx, bool self_contained)
{
    (void)ctx;
    (void)self_contained; /* what is staged runs after the reset that the model brings about */
    return (struct lks_fd_activation){.code = LKS_PLDM_CC_SUCCESS};
}

static const struct lks_fd_ops device_ops = {
    .offer = device_offer,
    .write = device_write,
    .verify = device_verify,
    .apply = device_apply,
    .activate = device_activate,
};

static bool agent_read(void *ctx, size_t component, uint32_t offset, uint32_t length, uint8_t *out)
{
    const struct device *d = ctx;
    (void)component;
    memcpy(out, d->image.ptr + offset, length);
    return true;
}

/* Carry messages between the two until the agent ends. Nothing is lost on the way, so the number
 * of messages is known. */
static void converse(struct lks_ua *ua, struct lks_fd *fd, uint32_t size)
{
    lks_ms now = 1;
    struct lks_str bytes;
    uint8_t peer;
    struct lks_ua_outcome outcome;
    for (uint32_t turns = 1000 + 8 * (size / PIECE); turns > 0; turns--) {
        while (lks_ua_send(ua, &bytes))
            lks_fd_receive(fd, now, 1, bytes);
        bool moved = false;
        while (lks_fd_send(fd, &peer, &bytes)) {
            lks_ua_receive(ua, now, bytes);
            moved = true;
        }
        lks_ua_outcome(ua, &outcome);
        if (outcome.end != LKS_UA_RUNNING)
            return;
        if (moved)
            continue;
        lks_ms next = lks_ua_next(ua) < lks_fd_next(fd) ? lks_ua_next(ua) : lks_fd_next(fd);
        now = next > now && next != LKS_UA_NEVER ? next : now + 1;
        lks_fd_tick(fd, now);
        lks_ua_tick(ua, now);
    }
}

static enum lks_bmcsim_message exchange(struct device *d, const struct lks_fd_options *there,
                                        const struct lks_ua_options *here)
{
    struct lks_fd *fd = NULL;
    struct lks_ua *ua = NULL;
    struct lks_err err;
    if (lks_fd_new(there, &fd, &err) == LKS_OK && lks_ua_new(here, 1, &ua, &err) == LKS_OK)
        converse(ua, fd, d->component->size);
    lks_ua_free(ua);
    lks_fd_free(fd);
    return d->applied ? LKS_MSG_SUCCESS : d->why;
}

/* Both ends for one device, and what they say to each other. */
static enum lks_bmcsim_message update(struct device *d, const struct lks_bmcsim_wish *wish)
{
    struct identity id;
    identify(d->b, d->unit, &id);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf tlvs = LKS_BUF(256);
    for (size_t i = 0; i < LKS_COUNT(id.descriptors); i++)
        lks_pldm_message_tlv_add(&tlvs, &id.descriptors[i]);
    const struct lks_pldm_component *c = d->component;
    struct lks_pldm_string active = {.type = LKS_PLDM_STRING_ASCII,
                                     .bytes = lks_str_from(d->unit->active)};
    struct lks_pldm_entry entry = {.class = c->classification,
                                   .id = c->id,
                                   .active_stamp = lks_bmcsim_image_stamp(active.bytes),
                                   .active = active,
                                   .pending_stamp = LKS_PLDM_STAMP_NONE};
    struct lks_fd_options there = {.descriptors = lks_buf_view(&tlvs),
                                   .descriptor_count = LKS_COUNT(id.descriptors),
                                   .components = &entry,
                                   .component_count = 1,
                                   .max_transfer = PIECE,
                                   .ops = &device_ops,
                                   .ctx = d};
    struct lks_ua_component part = {.class = c->classification,
                                    .id = c->id,
                                    .stamp = c->stamp,
                                    .size = c->size,
                                    .force = wish->force,
                                    .version = c->version};
    struct lks_ua_options here = {.components = &part,
                                  .component_count = 1,
                                  .version = c->version,
                                  .descriptors = lks_buf_view(&tlvs),
                                  .mode = wish->stage_only ? LKS_UA_STAGE : LKS_UA_ACTIVATE,
                                  .max_transfer = PIECE,
                                  .read = agent_read,
                                  .ctx = d};
    return exchange(d, &there, &here);
}

/* It is detected when it runs, or when the machine's work with it is measured. */
static void note_flaw(struct lks_bmcsim_unit *u, const char *version, struct lks_bmcsim_flaw flaw)
{
    memcpy(u->staged_fails_on, flaw.fails_on, sizeof(u->staged_fails_on));
    if (flaw.slower == 0)
        return;
    (void)snprintf(u->slow_version, sizeof(u->slow_version), "%s", version);
    u->slower = flaw.slower;
}

enum lks_bmcsim_message lks_bmcsim_flash(struct lks_bmcsim *b, struct lks_bmcsim_job *job,
                                         unsigned unit, char version[LKS_BMCSIM_VERSION_SIZE])
{
    LKS_CLEANUP(lks_pldm_package_fini) struct lks_pldm_package package = {0};
    struct lks_err err;
    struct lks_str file = lks_buf_view(&job->image);
    if (lks_pldm_package_parse(file, file.len, false, &package, &err) != LKS_OK)
        return LKS_MSG_VERIFICATION_FAILED;
    const struct lks_pldm_component *c = component_for(b, unit, &package);
    if (c == NULL || c->version.bytes.len >= LKS_BMCSIM_VERSION_SIZE)
        return LKS_MSG_NOT_APPLICABLE;
    struct device d = {.b = b,
                       .unit = &b->units[unit],
                       .component = c,
                       .image = {file.ptr + c->offset, c->size},
                       .why = LKS_MSG_TRANSFER_FAILED};
    (void)snprintf(d.version, sizeof(d.version), "%" LKS_STR_FMT, LKS_STR_ARG(c->version.bytes));
    memcpy(version, d.version, LKS_BMCSIM_VERSION_SIZE);
    lks_buf_init(&d.written, c->size);
    enum lks_bmcsim_message why = update(&d, &job->wish);
    if (why == LKS_MSG_SUCCESS)
        note_flaw(&b->units[unit], d.version, lks_bmcsim_image_flaw(lks_buf_view(&d.written)));
    lks_buf_fini(&d.written);
    return why;
}
