/* What a firmware device is asked, and what it answers. */
#include "lab/pldm/fd_parts.h"

/* Codes of type 0 that have the numbers of others in type 5. */
enum { BASE_INVALID_OPERATION = 0x81, BASE_INVALID_TYPE = 0x83 };
enum { TID_UNASSIGNED = 0, TID_RESERVED = 0xff };
enum { BASE = 0, UPDATE = 5 };

/* Versions of the two types, 1.0.0 and 1.1.0, each with its CRC-32 behind it. */
static const struct lks_str base_version = LKS_STR_C("\x00\xf0\xf0\xf1\xfb\x8f\x86\x4a");
static const struct lks_str update_version = LKS_STR_C("\x00\xf0\xf1\xf1\xba\xbe\x9d\x53");

typedef uint8_t carry_fn(struct lks_fd *fd, lks_ms now, const union lks_pldm_body *in,
                         union lks_pldm_body *out);

/* States in which a command is carried out, as bits. */
#define IN(state) (1U << (state))
enum {
    ANY = 0x7f,
    AT_COMPONENT = IN(LKS_PLDM_DOWNLOAD) | IN(LKS_PLDM_VERIFY) | IN(LKS_PLDM_APPLY),
};

struct command {
    uint16_t command;
    unsigned states;
    uint8_t elsewhere; /* the code in other states; in IDLE it is always NOT_IN_UPDATE_MODE */
    bool anyone;       /* also for others than the agent whose update it is */
    bool changes;
    carry_fn *carry_out;
};

static carry_fn set_tid, get_tid, get_version, get_types, get_commands, query_identifiers,
    get_parameters, request_update, get_device_metadata, pass_component, update_component,
    activate_firmware, get_status, cancel_component, cancel_update;

/* clang-format off */
static const struct command commands[] = {
    {LKS_PLDM_SET_TID,      ANY, 0, true, false, set_tid},
    {LKS_PLDM_GET_TID,      ANY, 0, true, false, get_tid},
    {LKS_PLDM_GET_VERSION,  ANY, 0, true, false, get_version},
    {LKS_PLDM_GET_TYPES,    ANY, 0, true, false, get_types},
    {LKS_PLDM_GET_COMMANDS, ANY, 0, true, false, get_commands},
    {LKS_PLDM_QUERY_DEVICE_IDENTIFIERS, ANY, 0, true, false, query_identifiers},
    {LKS_PLDM_GET_FIRMWARE_PARAMETERS,  ANY, 0, true, false, get_parameters},
    {LKS_PLDM_REQUEST_UPDATE, IN(LKS_PLDM_IDLE), LKS_PLDM_CC_ALREADY_IN_UPDATE_MODE, false, true,
        request_update},
    {LKS_PLDM_GET_DEVICE_METADATA, IN(LKS_PLDM_LEARN), LKS_PLDM_CC_INVALID_STATE, false, false,
        get_device_metadata},
    {LKS_PLDM_PASS_COMPONENT_TABLE, IN(LKS_PLDM_LEARN), LKS_PLDM_CC_INVALID_STATE, false, true,
        pass_component},
    {LKS_PLDM_UPDATE_COMPONENT, IN(LKS_PLDM_READY), LKS_PLDM_CC_INVALID_STATE, false, true,
        update_component},
    {LKS_PLDM_ACTIVATE_FIRMWARE, IN(LKS_PLDM_READY), LKS_PLDM_CC_INVALID_STATE, false, true,
        activate_firmware},
    {LKS_PLDM_GET_STATUS, ANY, 0, true, false, get_status},
    /* As in libpldm: without a component in progress there is no mode to leave. */
    {LKS_PLDM_CANCEL_UPDATE_COMPONENT, AT_COMPONENT, LKS_PLDM_CC_NOT_IN_UPDATE_MODE, false, true,
        cancel_component},
    /* libpldm's device ends even an activation. Ours is busy until it ended: half an activation has
     * no defined state. */
    {LKS_PLDM_CANCEL_UPDATE, ANY & ~IN(LKS_PLDM_IDLE) & ~IN(LKS_PLDM_ACTIVATE), LKS_PLDM_CC_BUSY,
        true, true, cancel_update},
};
/* clang-format on */

static const struct command *find(uint16_t command)
{
    for (size_t i = 0; i < LKS_COUNT(commands); i++) {
        if (commands[i].command == command)
            return &commands[i];
    }
    return NULL;
}

bool lks_fd_changes(uint16_t command)
{
    const struct command *c = find(command);
    return c != NULL && c->changes;
}

uint8_t lks_fd_permit(const struct lks_fd *fd, uint8_t peer, uint16_t command)
{
    const struct command *c = find(command);
    unsigned type = command >> 8;
    if (c == NULL)
        return type == BASE || type == UPDATE ? LKS_PLDM_CC_UNSUPPORTED : LKS_PLDM_CC_INVALID_TYPE;
    if (fd->state != LKS_PLDM_IDLE && !c->anyone && peer != fd->peer)
        return LKS_PLDM_CC_NOT_READY;
    if ((c->states & IN(fd->state)) != 0)
        return LKS_PLDM_CC_SUCCESS;
    return fd->state == LKS_PLDM_IDLE ? LKS_PLDM_CC_NOT_IN_UPDATE_MODE : c->elsewhere;
}

uint8_t lks_fd_carry_out(struct lks_fd *fd, lks_ms now, const struct lks_pldm_message *m,
                         struct lks_pldm_message *answer)
{
    return find(m->command)->carry_out(fd, now, &m->body, &answer->body);
}

static bool is_known_type(uint8_t type)
{
    return type == BASE || type == UPDATE;
}

static uint8_t set_tid(struct lks_fd *fd, lks_ms now, const union lks_pldm_body *in,
                       union lks_pldm_body *out)
{
    (void)now, (void)out;
    if (in->tid == TID_UNASSIGNED || in->tid == TID_RESERVED)
        return LKS_PLDM_CC_INVALID_DATA;
    fd->tid = in->tid;
    return LKS_PLDM_CC_SUCCESS;
}

static uint8_t get_tid(struct lks_fd *fd, lks_ms now, const union lks_pldm_body *in,
                       union lks_pldm_body *out)
{
    (void)now, (void)in;
    out->tid = fd->tid;
    return LKS_PLDM_CC_SUCCESS;
}

static uint8_t get_version(struct lks_fd *fd, lks_ms now, const union lks_pldm_body *in,
                           union lks_pldm_body *out)
{
    (void)fd, (void)now;
    if (!is_known_type(in->version_ask.type))
        return BASE_INVALID_TYPE;
    if (in->version_ask.operation != LKS_PLDM_FIRST_PART)
        return BASE_INVALID_OPERATION;
    out->part.next = 0;
    out->part.flag = LKS_PLDM_PART_ALL;
    out->part.data = in->version_ask.type == BASE ? base_version : update_version;
    return LKS_PLDM_CC_SUCCESS;
}

static uint8_t get_types(struct lks_fd *fd, lks_ms now, const union lks_pldm_body *in,
                         union lks_pldm_body *out)
{
    (void)fd, (void)now, (void)in;
    out->types = 1U << BASE | 1U << UPDATE;
    return LKS_PLDM_CC_SUCCESS;
}

static uint8_t get_commands(struct lks_fd *fd, lks_ms now, const union lks_pldm_body *in,
                            union lks_pldm_body *out)
{
    (void)fd, (void)now;
    if (!is_known_type(in->commands_ask.type))
        return BASE_INVALID_TYPE;
    for (size_t i = 0; i < LKS_COUNT(commands); i++) {
        unsigned number = commands[i].command & 0xff;
        if (commands[i].command >> 8 == in->commands_ask.type)
            out->commands[number / 64] |= UINT64_C(1) << (number % 64);
    }
    return LKS_PLDM_CC_SUCCESS;
}

static uint8_t query_identifiers(struct lks_fd *fd, lks_ms now, const union lks_pldm_body *in,
                                 union lks_pldm_body *out)
{
    (void)now, (void)in;
    out->identifiers.count = fd->o.descriptor_count;
    out->identifiers.tlvs = fd->o.descriptors;
    return LKS_PLDM_CC_SUCCESS;
}

static uint8_t get_parameters(struct lks_fd *fd, lks_ms now, const union lks_pldm_body *in,
                              union lks_pldm_body *out)
{
    (void)now, (void)in;
    lks_buf_truncate(&fd->entries, 0);
    fd->entries.failed = LKS_OK;
    for (size_t i = 0; i < fd->o.component_count; i++)
        lks_pldm_message_entry_add(&fd->entries, &fd->o.components[i]);
    if (fd->entries.failed != LKS_OK)
        return LKS_PLDM_CC_ERROR;
    out->parameters.capabilities = fd->o.capabilities;
    out->parameters.count = (uint16_t)fd->o.component_count;
    if (fd->o.set_active != NULL)
        out->parameters.active = *fd->o.set_active;
    if (fd->o.set_pending != NULL)
        out->parameters.pending = *fd->o.set_pending;
    out->parameters.components = lks_buf_view(&fd->entries);
    return LKS_PLDM_CC_SUCCESS;
}

static uint8_t request_update(struct lks_fd *fd, lks_ms now, const union lks_pldm_body *in,
                              union lks_pldm_body *out)
{
    uint32_t most = in->request_update.max_transfer;
    if (most < LKS_PLDM_BASELINE || in->request_update.max_outstanding < 1 ||
        in->request_update.components < 1)
        return LKS_PLDM_CC_INVALID_DATA;
    fd->max_transfer = most < fd->o.max_transfer ? most : fd->o.max_transfer;
    fd->passed = fd->applied = 0;
    fd->table_begun = false;
    fd->wants_data = fd->o.wants_package_data && in->request_update.package_data > 0;
    lks_fd_go(fd, LKS_PLDM_LEARN, now);
    if (fd->wants_data)
        lks_fd_ask_package_data(fd, now, 0, LKS_PLDM_FIRST_PART);
    out->update_answer.metadata = (uint16_t)fd->o.metadata.len;
    out->update_answer.gets_package_data = fd->wants_data;
    return LKS_PLDM_CC_SUCCESS;
}

static uint8_t get_device_metadata(struct lks_fd *fd, lks_ms now, const union lks_pldm_body *in,
                                   union lks_pldm_body *out)
{
    (void)now;
    if (fd->o.metadata.len == 0)
        return LKS_PLDM_CC_NO_DEVICE_METADATA;
    return lks_pldm_message_part(fd->o.metadata, fd->max_transfer, in, out);
}

/* Its place in the owner's list, or the number of them. */
static size_t find_component(const struct lks_fd *fd, uint16_t class, uint16_t id, uint8_t index)
{
    size_t i = 0;
    while (i < fd->o.component_count &&
           (fd->o.components[i].class != class || fd->o.components[i].id != id ||
            fd->o.components[i].index != index))
        i++;
    return i;
}

uint8_t lks_fd_judge(const struct lks_pldm_entry *have, const struct lks_fd_update *offered)
{
    bool stamps = have->active_stamp != LKS_PLDM_STAMP_NONE && have->active_stamp != 0 &&
                  offered->stamp != LKS_PLDM_STAMP_NONE;
    if (offered->force)
        return LKS_PLDM_OFFER_OK;
    if (stamps && offered->stamp == 0)
        return LKS_PLDM_OFFER_STAMP_INVALID;
    if (stamps && offered->stamp == have->active_stamp)
        return LKS_PLDM_OFFER_STAMP_SAME;
    if (stamps && offered->stamp < have->active_stamp)
        return LKS_PLDM_OFFER_STAMP_LOWER;
    if (!stamps && lks_str_eq(offered->version.bytes, have->active.bytes))
        return LKS_PLDM_OFFER_VERSION_SAME;
    return LKS_PLDM_OFFER_OK;
}

static uint8_t offer(struct lks_fd *fd, const struct lks_fd_update *u, bool table)
{
    if (u->component == fd->o.component_count)
        return LKS_PLDM_OFFER_NOT_SUPPORTED;
    if (!table && (fd->passed & UINT64_C(1) << u->component) == 0)
        return LKS_PLDM_OFFER_NO_MATCH;
    if (fd->o.ops->offer != NULL)
        return fd->o.ops->offer(fd->o.ctx, u, table);
    return fd->o.compare ? lks_fd_judge(&fd->o.components[u->component], u) : LKS_PLDM_OFFER_OK;
}

static uint8_t pass_component(struct lks_fd *fd, lks_ms now, const union lks_pldm_body *in,
                              union lks_pldm_body *out)
{
    struct lks_fd_update u = {
        .component = find_component(fd, in->pass_component.class, in->pass_component.id,
                                    in->pass_component.index),
        .stamp = in->pass_component.stamp,
        .version = in->pass_component.version,
    };
    uint8_t flag = in->pass_component.flag;
    bool first = flag == LKS_PLDM_PART_START || flag == LKS_PLDM_PART_ALL;
    bool last = flag == LKS_PLDM_PART_END || flag == LKS_PLDM_PART_ALL;
    if ((!first && !last && flag != LKS_PLDM_PART_MIDDLE) || (!first && !fd->table_begun))
        return LKS_PLDM_CC_INVALID_DATA;
    if (fd->wants_data)
        return LKS_PLDM_CC_NOT_READY;
    if (first)
        fd->passed = 0;
    fd->table_begun = true;
    if (u.component < fd->o.component_count)
        fd->passed |= UINT64_C(1) << u.component;
    out->pass_answer.code = offer(fd, &u, true);
    out->pass_answer.response = out->pass_answer.code != LKS_PLDM_OFFER_OK;
    if (last)
        lks_fd_go(fd, LKS_PLDM_READY, now);
    return LKS_PLDM_CC_SUCCESS;
}

static uint8_t update_component(struct lks_fd *fd, lks_ms now, const union lks_pldm_body *in,
                                union lks_pldm_body *out)
{
    struct lks_fd_update u = {
        .component = find_component(fd, in->update_component.class, in->update_component.id,
                                    in->update_component.index),
        .size = in->update_component.size,
        .stamp = in->update_component.stamp,
        .force = (in->update_component.options & LKS_PLDM_OPTION_FORCE) != 0,
        .version = in->update_component.version,
    };
    if (u.size == 0)
        return LKS_PLDM_CC_INVALID_DATA;
    out->update_component_answer.code = offer(fd, &u, false);
    out->update_component_answer.response = out->update_component_answer.code != LKS_PLDM_OFFER_OK;
    if (out->update_component_answer.code != LKS_PLDM_OFFER_OK)
        return LKS_PLDM_CC_SUCCESS;
    out->update_component_answer.options = u.force ? LKS_PLDM_OPTION_FORCE : 0;
    memcpy(fd->version, u.version.bytes.ptr, u.version.bytes.len);
    u.version.bytes.ptr = fd->version;
    fd->update = u;
    fd->offset = 0;
    fd->odd_answers = 0;
    lks_fd_go(fd, LKS_PLDM_DOWNLOAD, now);
    if (fd->o.ops->begin != NULL)
        fd->o.ops->begin(fd->o.ctx, &fd->update);
    lks_fd_ask_data(fd, now);
    return LKS_PLDM_CC_SUCCESS;
}

/* What would be activated: applied now, or staged before. */
static bool to_activate(const struct lks_fd *fd, size_t i)
{
    return (fd->applied & UINT64_C(1) << i) != 0 || fd->o.components[i].pending.bytes.len > 0;
}

static uint8_t may_activate(const struct lks_fd *fd, bool self_contained)
{
    bool any = false, all_by_themselves = true;
    for (size_t i = 0; i < fd->o.component_count; i++) {
        bool it = to_activate(fd, i);
        any = any || it;
        if (it && (fd->o.components[i].methods & LKS_PLDM_ACTIVATES_SELF_CONTAINED) == 0)
            all_by_themselves = false;
    }
    if (!any)
        return LKS_PLDM_CC_INCOMPLETE_UPDATE;
    return self_contained && !all_by_themselves ? LKS_PLDM_CC_NO_SELF_ACTIVATION
                                                : LKS_PLDM_CC_SUCCESS;
}

static uint8_t activate_firmware(struct lks_fd *fd, lks_ms now, const union lks_pldm_body *in,
                                 union lks_pldm_body *out)
{
    if (in->self_contained > 1)
        return LKS_PLDM_CC_INVALID_DATA;
    uint8_t code = may_activate(fd, in->self_contained == 1);
    if (code != LKS_PLDM_CC_SUCCESS)
        return code;
    struct lks_fd_activation a = fd->o.ops->activate(fd->o.ctx, in->self_contained == 1);
    if (a.code != LKS_PLDM_CC_SUCCESS && a.code != LKS_PLDM_CC_ACTIVATION_NOT_REQUIRED)
        return a.code;
    lks_fd_go(fd, LKS_PLDM_ACTIVATE, now);
    lks_ms seconds = (a.takes + LKS_SECOND - 1) / LKS_SECOND;
    out->seconds = (uint16_t)(seconds < UINT16_MAX ? seconds : UINT16_MAX);
    fd->work_due = now + a.takes;
    if (a.code == LKS_PLDM_CC_ACTIVATION_NOT_REQUIRED)
        lks_fd_work_done(fd, now);
    return a.code;
}

static uint8_t get_status(struct lks_fd *fd, lks_ms now, const union lks_pldm_body *in,
                          union lks_pldm_body *out)
{
    (void)now, (void)in;
    bool loading = fd->state == LKS_PLDM_DOWNLOAD && fd->update.size > 0;
    out->status.state = (uint8_t)fd->state;
    out->status.previous = (uint8_t)fd->previous;
    out->status.aux = fd->aux;
    out->status.aux_status = fd->aux_status;
    out->status.progress = loading ? (uint8_t)((uint64_t)fd->offset * 100 / fd->update.size)
                                   : LKS_PLDM_PROGRESS_UNKNOWN;
    out->status.reason = fd->reason;
    out->status.options = lks_fd_at_component(fd) && fd->update.force ? LKS_PLDM_OPTION_FORCE : 0;
    return LKS_PLDM_CC_SUCCESS;
}

static bool drop_component(struct lks_fd *fd)
{
    return fd->o.ops->cancel != NULL && fd->o.ops->cancel(fd->o.ctx, &fd->update);
}

static uint8_t cancel_component(struct lks_fd *fd, lks_ms now, const union lks_pldm_body *in,
                                union lks_pldm_body *out)
{
    (void)in, (void)out;
    (void)drop_component(fd);
    lks_fd_go(fd, LKS_PLDM_READY, now);
    return LKS_PLDM_CC_SUCCESS;
}

static uint8_t cancel_update(struct lks_fd *fd, lks_ms now, const union lks_pldm_body *in,
                             union lks_pldm_body *out)
{
    (void)in;
    if (lks_fd_at_component(fd) && drop_component(fd)) {
        out->cancel_answer.broken = 1;
        out->cancel_answer.components = UINT64_C(1) << fd->update.component;
    }
    if (fd->o.ops->cancel != NULL)
        (void)fd->o.ops->cancel(fd->o.ctx, NULL);
    lks_fd_go(fd, LKS_PLDM_IDLE, now);
    fd->reason = LKS_PLDM_BY_CANCEL;
    return LKS_PLDM_CC_SUCCESS;
}
