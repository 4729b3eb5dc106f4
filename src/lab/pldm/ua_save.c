/* What of an update agent survives a restart: where it was, and what became of each component. */
#include "lab/pldm/ua_parts.h"
#include "pldm/bytes.h"

enum { FORMAT = 1, PART_BYTES = 5 };
enum { ACTIVATED = 1, SELF_CONTAINED = 2, NO_SELF_ACTIVATION = 4, UNWANTED = 1, WAS_PENDING = 2 };

void lks_ua_save(const struct lks_ua *ua, struct lks_buf *out)
{
    unsigned flags = (ua->out.activated ? ACTIVATED : 0U) |
                     (ua->out.self_contained ? SELF_CONTAINED : 0U) |
                     (ua->no_self_activation ? NO_SELF_ACTIVATION : 0U);
    size_t reason = strlen(ua->out.reason);
    lks_bytes_put_u8(out, FORMAT);
    lks_bytes_put_u8(out, (uint8_t)lks_ua_really_at(ua));
    lks_bytes_put_u8(out, (uint8_t)ua->out.end);
    lks_bytes_put_u8(out, (uint8_t)ua->ending);
    lks_bytes_put_u8(out, ua->next_instance);
    lks_bytes_put_u8(out, (uint8_t)ua->restarts);
    lks_bytes_put_u8(out, (uint8_t)flags);
    lks_bytes_put_u16(out, (uint16_t)ua->at);
    lks_bytes_put_u16(out, ua->out.seconds);
    lks_bytes_put_u16(out, ua->out.methods);
    lks_bytes_put_u16(out, ua->heard);
    lks_bytes_put_u16(out, (uint16_t)reason);
    lks_buf_add(out, (struct lks_str){ua->out.reason, reason});
    lks_bytes_put_u16(out, (uint16_t)ua->o.component_count);
    for (size_t i = 0; i < ua->o.component_count; i++) {
        const struct lks_ua_part *part = &ua->parts[i];
        lks_bytes_put_u8(out, part->fate);
        lks_bytes_put_u8(out, part->index);
        lks_bytes_put_u8(out, (uint8_t)((part->unwanted ? UNWANTED : 0U) |
                                        (part->was_pending ? WAS_PENDING : 0U)));
        lks_bytes_put_u16(out, part->methods);
    }
}

static bool read_parts(struct lks_ua *ua, struct lks_bytes *in)
{
    if (lks_bytes_u16(in) != ua->o.component_count)
        return false;
    for (size_t i = 0; i < ua->o.component_count && !in->failed; i++) {
        struct lks_ua_part *part = &ua->parts[i];
        part->fate = lks_bytes_u8(in);
        part->index = lks_bytes_u8(in);
        uint8_t flags = lks_bytes_u8(in);
        part->unwanted = (flags & UNWANTED) != 0;
        part->was_pending = (flags & WAS_PENDING) != 0;
        part->methods = lks_bytes_u16(in);
        if (part->fate > LKS_UA_BROKEN)
            return false;
        ua->finished += part->fate == LKS_UA_APPLIED ? ua->o.components[i].size : 0;
    }
    return lks_bytes_done(in);
}

/* Whether what it does there is done to component `at`. */
static bool at_component(uint8_t step)
{
    return (step >= LKS_UA_STEP_TABLE && step <= LKS_UA_STEP_APPLY) || step == LKS_UA_STEP_REREAD;
}

/* Whether it is on its way to an end that is decided. */
static bool is_ending(uint8_t step)
{
    return step >= LKS_UA_STEP_ACTIVATE && step <= LKS_UA_STEP_ABORT;
}

static bool read_saved(struct lks_ua *ua, struct lks_str saved)
{
    struct lks_bytes in = lks_bytes_of(saved);
    uint8_t format = lks_bytes_u8(&in), step = lks_bytes_u8(&in), end = lks_bytes_u8(&in),
            ending = lks_bytes_u8(&in);
    ua->next_instance = lks_bytes_u8(&in) % LKS_PLDM_INSTANCES;
    ua->restarts = lks_bytes_u8(&in);
    uint8_t flags = lks_bytes_u8(&in);
    ua->at = lks_bytes_u16(&in);
    ua->out.seconds = lks_bytes_u16(&in);
    ua->out.methods = lks_bytes_u16(&in);
    ua->heard = lks_bytes_u16(&in);
    struct lks_str reason = lks_bytes_take(&in, lks_bytes_u16(&in));
    if (format != FORMAT || step >= LKS_UA_STEPS || step == LKS_UA_STEP_RESYNC ||
        end > LKS_UA_UNKNOWN || ending > LKS_UA_UNKNOWN || in.failed ||
        reason.len >= sizeof(ua->out.reason) || ua->at > ua->o.component_count ||
        (end == LKS_UA_RUNNING) != (step != LKS_UA_STEP_ENDED) ||
        (is_ending(step) && ending == LKS_UA_RUNNING) ||
        (ua->at == ua->o.component_count && at_component(step)))
        return false;
    memcpy(ua->out.reason, reason.ptr, reason.len);
    ua->lost = (enum lks_ua_step)step;
    ua->out.end = (enum lks_ua_end)end;
    ua->ending = (enum lks_ua_end)ending;
    ua->out.activated = (flags & ACTIVATED) != 0;
    ua->out.self_contained = (flags & SELF_CONTAINED) != 0;
    ua->no_self_activation = (flags & NO_SELF_ACTIVATION) != 0;
    return read_parts(ua, &in);
}

enum lks_code lks_ua_load(const struct lks_ua_options *options, lks_ms now, struct lks_str saved,
                          struct lks_ua **out, struct lks_err *err)
{
    enum lks_code code = lks_ua_check(options, err);
    struct lks_ua *ua = code == LKS_OK ? lks_ua_make(options) : NULL;
    if (ua == NULL)
        return code != LKS_OK ? code : lks_fail_nomem(err);
    if (!read_saved(ua, saved)) {
        lks_ua_free(ua);
        return lks_fail(err, LKS_E_INVALID,
                        "the saved state does not match the update: start it again");
    }
    ua->silent_until = now + ua->o.timers.t3;
    if (ua->lost == LKS_UA_STEP_ENDED) {
        lks_ua_end(ua, ua->out.end);
    } else {
        ua->resumed = true;
        lks_ua_go(ua, now, LKS_UA_STEP_LOOK);
    }
    *out = ua;
    return LKS_OK;
}
