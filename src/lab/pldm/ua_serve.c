/* What the device asks of its update agent. */
#include "lab/pldm/ua_parts.h"

static bool is_complete(uint16_t command)
{
    return command == LKS_PLDM_TRANSFER_COMPLETE || command == LKS_PLDM_VERIFY_COMPLETE ||
           command == LKS_PLDM_APPLY_COMPLETE;
}

static bool is_cancelling(const struct lks_ua *ua)
{
    enum lks_ua_step step = lks_ua_really_at(ua);
    return step == LKS_UA_STEP_ABORT || step == LKS_UA_STEP_DROP;
}

/*
 * Which pieces may be asked for. The reference update agent refuses every request below 32 bytes,
 * though libpldm's device asks for a short last piece: here one that ends with the image is fine.
 * What lies up to 32 bytes behind the end is zeroes, for devices that never ask for less.
 */
static uint8_t check_piece(const struct lks_ua *ua, uint32_t offset, uint32_t length)
{
    uint32_t size = ua->o.components[ua->at].size;
    uint64_t end = (uint64_t)offset + length;
    if (length == 0 || length > ua->o.max_transfer || (length < LKS_PLDM_BASELINE && end != size))
        return LKS_PLDM_CC_INVALID_TRANSFER_LENGTH;
    if (offset >= size || end > (uint64_t)size + LKS_PLDM_BASELINE)
        return LKS_PLDM_CC_DATA_OUT_OF_RANGE;
    return LKS_PLDM_CC_SUCCESS;
}

/* More questions than any way through the image needs: the device goes in circles. */
static bool asks_too_much(const struct lks_ua *ua)
{
    return ua->asks > 2 * (ua->o.components[ua->at].size / LKS_PLDM_BASELINE) + 1024;
}

static uint8_t serve_data(struct lks_ua *ua, lks_ms now, const union lks_pldm_body *in,
                          union lks_pldm_body *out)
{
    enum lks_ua_step step = lks_ua_really_at(ua);
    uint32_t offset = in->data_ask.offset, length = in->data_ask.length;
    if (is_cancelling(ua))
        return LKS_PLDM_CC_CANCEL_PENDING;
    if (step != LKS_UA_STEP_TRANSFER && step != LKS_UA_STEP_OFFER)
        return LKS_PLDM_CC_NOT_EXPECTED;
    uint8_t code = check_piece(ua, offset, length);
    if (code != LKS_PLDM_CC_SUCCESS)
        return code;
    /* It asks, so it has accepted the component, even if its answer to that was lost. */
    if (ua->step != LKS_UA_STEP_TRANSFER) {
        ua->served_unknown = ua->served_unknown || ua->resumed;
        ua->resumed = false;
        lks_ua_go(ua, now, LKS_UA_STEP_TRANSFER);
    }
    ua->asks++;
    if (asks_too_much(ua)) {
        lks_ua_broken(ua, now, true, "the device asks for data without end");
        return LKS_PLDM_CC_CANCEL_PENDING;
    }
    uint32_t left = ua->o.components[ua->at].size - offset;
    uint32_t real = length < left ? length : left;
    lks_buf_truncate(&ua->data, 0);
    lks_buf_pad(&ua->data, '\0', (ptrdiff_t)length);
    if (ua->data.failed != LKS_OK ||
        !ua->o.read(ua->o.ctx, ua->at, offset, real, (uint8_t *)ua->data.ptr)) {
        lks_ua_because(ua, "component %zu: its image cannot be read at byte %u", ua->at, offset);
        lks_ua_abort(ua, now, LKS_UA_FAILED);
        return LKS_PLDM_CC_CANCEL_PENDING;
    }
    ua->wait_until = now + ua->o.timers.t2;
    ua->served = offset + real > ua->served ? offset + real : ua->served;
    out->data = lks_buf_view(&ua->data);
    return LKS_PLDM_CC_SUCCESS;
}

/* Is this what the update waits for now, and not an echo of the component before? */
static bool is_awaited(const struct lks_ua *ua, uint16_t command, uint8_t result)
{
    enum lks_ua_step step = lks_ua_really_at(ua);
    if (command == LKS_PLDM_VERIFY_COMPLETE)
        return step == LKS_UA_STEP_VERIFY;
    if (command == LKS_PLDM_APPLY_COMPLETE)
        return step == LKS_UA_STEP_APPLY;
    return step == LKS_UA_STEP_TRANSFER &&
           (result != LKS_PLDM_RESULT_OK || ua->served_unknown || ua->resumed ||
            ua->served == ua->o.components[ua->at].size);
}

static void take_complete(struct lks_ua *ua, lks_ms now, uint16_t command,
                          const union lks_pldm_body *in)
{
    bool applied = command == LKS_PLDM_APPLY_COMPLETE;
    uint8_t result = in->complete.result;
    ua->heard = command;
    ua->resumed = false;
    if (applied && result == LKS_PLDM_APPLY_OK_OTHER_METHOD) {
        if (in->complete.methods != 0)
            ua->parts[ua->at].methods = in->complete.methods;
        result = LKS_PLDM_RESULT_OK;
    }
    if (result != LKS_PLDM_RESULT_OK)
        lks_ua_broken(ua, now, true, "%s failed with 0x%02x: %s",
                      command == LKS_PLDM_TRANSFER_COMPLETE ? "the transfer"
                      : applied                             ? "writing it"
                                                            : "its verification",
                      result, lks_pldm_message_result_text(command, result));
    else if (applied)
        lks_ua_applied(ua, now);
    else
        lks_ua_go(ua, now,
                  command == LKS_PLDM_TRANSFER_COMPLETE ? LKS_UA_STEP_VERIFY : LKS_UA_STEP_APPLY);
}

/* A device repeats what it was not heard to be told. Answering such an echo with anything but
 * success would make it fail an update that went well. */
static uint8_t serve_complete(struct lks_ua *ua, lks_ms now, uint16_t command,
                              const union lks_pldm_body *in)
{
    if (!is_cancelling(ua) && is_awaited(ua, command, in->complete.result)) {
        take_complete(ua, now, command, in);
        return LKS_PLDM_CC_SUCCESS;
    }
    if (ua->heard != 0 && command <= ua->heard)
        return LKS_PLDM_CC_SUCCESS;
    return is_cancelling(ua) ? LKS_PLDM_CC_CANCEL_PENDING : LKS_PLDM_CC_NOT_EXPECTED;
}

static uint8_t serve_package_data(struct lks_ua *ua, lks_ms now, const union lks_pldm_body *in,
                                  union lks_pldm_body *out)
{
    enum lks_ua_step step = lks_ua_really_at(ua);
    if (step < LKS_UA_STEP_REQUEST || step > LKS_UA_STEP_TABLE)
        return is_cancelling(ua) ? LKS_PLDM_CC_CANCEL_PENDING : LKS_PLDM_CC_NOT_EXPECTED;
    if (ua->o.package_data.len == 0)
        return LKS_PLDM_CC_NO_PACKAGE_DATA;
    uint8_t code = lks_pldm_message_part(ua->o.package_data, ua->o.max_transfer, in, out);
    bool end = code == LKS_PLDM_CC_SUCCESS && (out->part.flag & LKS_PLDM_PART_END) != 0;
    ua->gets_data = ua->gets_data && !end;
    if (ua->step == LKS_UA_STEP_PACKAGE) {
        ua->wait_until = LKS_UA_NEVER;
        lks_ua_enter(ua, now);
    }
    return code;
}

static uint8_t serve_parts(const struct lks_ua *ua, struct lks_str all, uint8_t none,
                           const union lks_pldm_body *in, union lks_pldm_body *out)
{
    enum lks_ua_step step = lks_ua_really_at(ua);
    if (step < LKS_UA_STEP_OFFER || step > LKS_UA_STEP_ACTIVATE)
        return LKS_PLDM_CC_NOT_EXPECTED;
    return all.len == 0 ? none : lks_pldm_message_part(all, ua->o.max_transfer, in, out);
}

static uint8_t serve(struct lks_ua *ua, lks_ms now, const struct lks_pldm_message *m,
                     union lks_pldm_body *out)
{
    bool at_one = ua->at < ua->o.component_count;
    if (m->command == LKS_PLDM_REQUEST_FIRMWARE_DATA)
        return serve_data(ua, now, &m->body, out);
    if (is_complete(m->command))
        return serve_complete(ua, now, m->command, &m->body);
    if (m->command == LKS_PLDM_GET_PACKAGE_DATA)
        return serve_package_data(ua, now, &m->body, out);
    if (m->command == LKS_PLDM_GET_METADATA)
        return serve_parts(ua, lks_buf_view(&ua->metadata), LKS_PLDM_CC_NO_DEVICE_METADATA,
                           &m->body, out);
    if (m->command == LKS_PLDM_GET_OPAQUE_DATA)
        return serve_parts(ua, at_one ? ua->o.components[ua->at].opaque : LKS_STR(""),
                           LKS_PLDM_CC_NO_OPAQUE_DATA, &m->body, out);
    return LKS_PLDM_CC_UNSUPPORTED;
}

void lks_ua_serve(struct lks_ua *ua, lks_ms now, struct lks_str bytes)
{
    struct lks_pldm_message m, reply;
    if (!lks_pldm_message_head(bytes, &m) || m.datagram)
        return;
    /* The network doubled it, or our answer was lost: the same answer again. */
    if (lks_pldm_memory_note(&ua->memory, now, 0, m.instance, bytes) && is_complete(m.command)) {
        ua->reply_ready =
            ua->reply_ready || (ua->reply_instance == m.instance && ua->reply.len > LKS_PLDM_HEAD &&
                                ua->reply.ptr[2] == bytes.ptr[2]);
        return;
    }
    reply = (struct lks_pldm_message){.command = m.command, .answer = true, .instance = m.instance};
    reply.code = (uint8_t)lks_pldm_message_decode(bytes, &m);
    if (reply.code == LKS_PLDM_CC_SUCCESS)
        reply.code = serve(ua, now, &m, &reply.body);
    lks_buf_truncate(&ua->reply, 0);
    ua->reply.failed = LKS_OK;
    lks_pldm_message_encode(&reply, &ua->reply);
    ua->reply_instance = m.instance;
    ua->reply_ready = ua->reply.failed == LKS_OK;
}
