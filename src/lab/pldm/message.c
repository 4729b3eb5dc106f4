#include "lab/pldm/message.h"

#include "pldm/bytes.h"

enum { REQUEST_BIT = 0x80, DATAGRAM_BIT = 0x40, INSTANCE_MASK = 0x1f, TYPE_MASK = 0x3f };

/* What a message is made of, one after the other. Numbers up to 8 are numbers of so many bytes. */
enum kind {
    END = 0,
    LATER2 =
        0x10, /* a number of two bytes that older versions do not have; left out when it is 0 */
    LENGTH,   /* four bytes: the length of the list at the end */
    HEAD,     /* type and length of a text */
    TEXT,     /* its bytes, which may come later */
    REST,     /* all bytes up to the end */
    TLVS,     /* likewise, with a list in them */
    ENTRIES,
    DEVICES,
    DEVICE_ENTRIES,
};

struct field {
    enum kind kind;
    size_t at; /* in struct lks_pldm_message */
};

enum { FIELDS_MAX = 10 };

struct layout {
    uint16_t command;
    bool answer;
    struct field fields[FIELDS_MAX];
};

#define AT(member) offsetof(struct lks_pldm_message, body.member)
#define N(width, member)                                                                           \
    {                                                                                              \
        (enum kind)(width), AT(member)                                                             \
    }
#define F(kind, member)                                                                            \
    {                                                                                              \
        (kind), AT(member)                                                                         \
    }
#define NO_FIELDS                                                                                  \
    {                                                                                              \
        {                                                                                          \
            END, 0                                                                                 \
        }                                                                                          \
    }
#define ASK(name, ...)                                                                             \
    {                                                                                              \
        LKS_PLDM_##name, false, __VA_ARGS__                                                        \
    }
#define ANSWER(name, ...)                                                                          \
    {                                                                                              \
        LKS_PLDM_##name, true, __VA_ARGS__                                                         \
    }
#define PART_ASK                                                                                   \
    {                                                                                              \
        N(4, part_ask.handle), N(1, part_ask.operation)                                            \
    }
#define PART                                                                                       \
    {                                                                                              \
        N(4, part.next), N(1, part.flag), F(REST, part.data)                                       \
    }

/* clang-format off */
static const struct layout layouts[] = {
    ASK(SET_TID, {N(1, tid)}),
    ANSWER(SET_TID, NO_FIELDS),
    ASK(GET_TID, NO_FIELDS),
    ANSWER(GET_TID, {N(1, tid)}),
    ASK(GET_VERSION,
        {N(4, version_ask.handle), N(1, version_ask.operation), N(1, version_ask.type)}),
    ANSWER(GET_VERSION, PART),
    ASK(GET_TYPES, NO_FIELDS),
    ANSWER(GET_TYPES, {N(8, types)}),
    ASK(GET_COMMANDS, {N(1, commands_ask.type), N(4, commands_ask.version)}),
    ANSWER(GET_COMMANDS,
        {N(8, commands[0]), N(8, commands[1]), N(8, commands[2]), N(8, commands[3])}),
    ASK(QUERY_DEVICE_IDENTIFIERS, NO_FIELDS),
    ANSWER(QUERY_DEVICE_IDENTIFIERS,
        {F(LENGTH, identifiers.tlvs), N(1, identifiers.count), F(TLVS, identifiers.tlvs)}),
    ASK(GET_FIRMWARE_PARAMETERS, NO_FIELDS),
    ANSWER(GET_FIRMWARE_PARAMETERS,
        {N(4, parameters.capabilities), N(2, parameters.count), F(HEAD, parameters.active),
         F(HEAD, parameters.pending), F(TEXT, parameters.active), F(TEXT, parameters.pending),
         F(ENTRIES, parameters.components)}),
    ASK(QUERY_DOWNSTREAM_DEVICES, NO_FIELDS),
    ANSWER(QUERY_DOWNSTREAM_DEVICES,
        {N(1, downstream_devices.supported), N(2, downstream_devices.count),
         N(2, downstream_devices.max), N(4, downstream_devices.capabilities)}),
    ASK(QUERY_DOWNSTREAM_IDENTIFIERS, PART_ASK),
    ANSWER(QUERY_DOWNSTREAM_IDENTIFIERS,
        {N(4, downstream_identifiers.next), N(1, downstream_identifiers.flag),
         F(LENGTH, downstream_identifiers.devices), N(2, downstream_identifiers.count),
         F(DEVICES, downstream_identifiers.devices)}),
    ASK(GET_DOWNSTREAM_PARAMETERS, PART_ASK),
    ANSWER(GET_DOWNSTREAM_PARAMETERS,
        {N(4, downstream_parameters.next), N(1, downstream_parameters.flag),
         N(4, downstream_parameters.capabilities), N(2, downstream_parameters.count),
         F(DEVICE_ENTRIES, downstream_parameters.devices)}),
    ASK(REQUEST_UPDATE,
        {N(4, request_update.max_transfer), N(2, request_update.components),
         N(1, request_update.max_outstanding), N(2, request_update.package_data),
         F(HEAD, request_update.version), F(TEXT, request_update.version)}),
    ANSWER(REQUEST_UPDATE,
        {N(2, update_answer.metadata), N(1, update_answer.gets_package_data),
         F(LATER2, update_answer.max_part)}),
    ASK(GET_PACKAGE_DATA, PART_ASK),
    ANSWER(GET_PACKAGE_DATA, PART),
    ASK(GET_DEVICE_METADATA, PART_ASK),
    ANSWER(GET_DEVICE_METADATA, PART),
    ASK(PASS_COMPONENT_TABLE,
        {N(1, pass_component.flag), N(2, pass_component.class), N(2, pass_component.id),
         N(1, pass_component.index), N(4, pass_component.stamp), F(HEAD, pass_component.version),
         F(TEXT, pass_component.version)}),
    ANSWER(PASS_COMPONENT_TABLE, {N(1, pass_answer.response), N(1, pass_answer.code)}),
    ASK(UPDATE_COMPONENT,
        {N(2, update_component.class), N(2, update_component.id), N(1, update_component.index),
         N(4, update_component.stamp), N(4, update_component.size),
         N(4, update_component.options), F(HEAD, update_component.version),
         F(TEXT, update_component.version)}),
    ANSWER(UPDATE_COMPONENT,
        {N(1, update_component_answer.response), N(1, update_component_answer.code),
         N(4, update_component_answer.options), N(2, update_component_answer.seconds)}),
    ASK(REQUEST_FIRMWARE_DATA, {N(4, data_ask.offset), N(4, data_ask.length)}),
    ANSWER(REQUEST_FIRMWARE_DATA, {F(REST, data)}),
    ASK(TRANSFER_COMPLETE, {N(1, complete.result)}),
    ANSWER(TRANSFER_COMPLETE, NO_FIELDS),
    ASK(VERIFY_COMPLETE, {N(1, complete.result)}),
    ANSWER(VERIFY_COMPLETE, NO_FIELDS),
    ASK(APPLY_COMPLETE, {N(1, complete.result), N(2, complete.methods)}),
    ANSWER(APPLY_COMPLETE, NO_FIELDS),
    ASK(GET_METADATA, PART_ASK),
    ANSWER(GET_METADATA, PART),
    ASK(ACTIVATE_FIRMWARE, {N(1, self_contained)}),
    ANSWER(ACTIVATE_FIRMWARE, {N(2, seconds)}),
    ASK(GET_STATUS, NO_FIELDS),
    ANSWER(GET_STATUS,
        {N(1, status.state), N(1, status.previous), N(1, status.aux), N(1, status.aux_status),
         N(1, status.progress), N(1, status.reason), N(4, status.options)}),
    ASK(CANCEL_UPDATE_COMPONENT, NO_FIELDS),
    ANSWER(CANCEL_UPDATE_COMPONENT, NO_FIELDS),
    ASK(CANCEL_UPDATE, NO_FIELDS),
    ANSWER(CANCEL_UPDATE, {N(1, cancel_answer.broken), N(8, cancel_answer.components)}),
    ASK(ACTIVATE_PENDING_SET, NO_FIELDS),
    ANSWER(ACTIVATE_PENDING_SET, {N(2, seconds)}),
    ASK(ACTIVATE_PENDING_IMAGE,
        {N(2, component.class), N(2, component.id), N(1, component.index)}),
    ANSWER(ACTIVATE_PENDING_IMAGE, {N(2, seconds)}),
    ASK(REQUEST_DOWNSTREAM_UPDATE,
        {N(4, downstream_update.max_transfer), N(1, downstream_update.max_outstanding),
         N(2, downstream_update.package_data)}),
    ANSWER(REQUEST_DOWNSTREAM_UPDATE,
        {N(2, update_answer.metadata), N(1, update_answer.gets_package_data),
         N(2, update_answer.max_part)}),
    ASK(GET_OPAQUE_DATA, PART_ASK),
    ANSWER(GET_OPAQUE_DATA, PART),
    ASK(UPDATE_SECURITY_REVISION,
        {N(2, component.class), N(2, component.id), N(1, component.index)}),
    ANSWER(UPDATE_SECURITY_REVISION, NO_FIELDS),
};
/* clang-format on */

static const struct layout *find_layout(uint16_t command, bool answer)
{
    for (size_t i = 0; i < LKS_COUNT(layouts); i++) {
        if (layouts[i].command == command && layouts[i].answer == answer)
            return &layouts[i];
    }
    return NULL;
}

static void set_number(void *at, unsigned width, uint64_t value)
{
    if (width == 1)
        *(uint8_t *)at = (uint8_t)value;
    else if (width == 2)
        *(uint16_t *)at = (uint16_t)value;
    else if (width == 4)
        *(uint32_t *)at = (uint32_t)value;
    else
        *(uint64_t *)at = value;
}

static uint64_t get_number(const void *at, unsigned width)
{
    if (width == 1)
        return *(const uint8_t *)at;
    if (width == 2)
        return *(const uint16_t *)at;
    if (width == 4)
        return *(const uint32_t *)at;
    return *(const uint64_t *)at;
}

static bool is_number(enum kind kind)
{
    return kind > END && kind <= (enum kind)8;
}

/* How many entries a list has, and whether they are all of it. */
static bool count_list(enum kind kind, struct lks_str list, size_t *count)
{
    struct lks_pldm_descriptor tlv;
    struct lks_pldm_entry entry;
    struct lks_pldm_downstream device;
    *count = 0;
    while ((kind == TLVS && lks_pldm_message_tlv_next(&list, &tlv)) ||
           (kind == ENTRIES && lks_pldm_message_entry_next(&list, &entry)) ||
           (kind == DEVICES && lks_pldm_message_downstream_next(&list, &device)) ||
           (kind == DEVICE_ENTRIES && lks_pldm_message_downstream_params_next(&list, &entry)))
        (*count)++;
    return list.len == 0;
}

static size_t list_count(const struct lks_pldm_message *m)
{
    if (m->command == LKS_PLDM_QUERY_DEVICE_IDENTIFIERS)
        return m->body.identifiers.count;
    if (m->command == LKS_PLDM_GET_FIRMWARE_PARAMETERS)
        return m->body.parameters.count;
    if (m->command == LKS_PLDM_QUERY_DOWNSTREAM_IDENTIFIERS)
        return m->body.downstream_identifiers.count;
    return m->body.downstream_parameters.count;
}

static bool read_field(struct lks_bytes *in, const struct field *f, struct lks_pldm_message *m,
                       uint64_t *length)
{
    char *at = (char *)m + f->at;
    struct lks_pldm_string *text = (void *)at;
    size_t count = 0;
    if (is_number(f->kind)) {
        set_number(at, f->kind, lks_bytes_number(in, f->kind));
    } else if (f->kind == LATER2) {
        set_number(at, 2, in->rest.len > 0 ? lks_bytes_number(in, 2) : 0);
    } else if (f->kind == LENGTH) {
        *length = lks_bytes_u32(in);
    } else if (f->kind == HEAD) {
        text->type = lks_bytes_u8(in);
        text->bytes.len = lks_bytes_u8(in);
    } else if (f->kind == TEXT) {
        text->bytes = lks_bytes_take(in, text->bytes.len);
    } else {
        struct lks_str list = lks_bytes_take(in, in->rest.len);
        *(struct lks_str *)(void *)at = list;
        if (f->kind != REST && (!count_list(f->kind, list, &count) || count != list_count(m)))
            return false;
        return *length == UINT64_MAX || *length == list.len;
    }
    return true;
}

bool lks_pldm_message_head(struct lks_str bytes, struct lks_pldm_message *out)
{
    struct lks_bytes in = lks_bytes_of(bytes);
    uint8_t first = lks_bytes_u8(&in), second = lks_bytes_u8(&in), third = lks_bytes_u8(&in);
    bool request = (first & REQUEST_BIT) != 0, datagram = (first & DATAGRAM_BIT) != 0;
    if (in.failed || (second & ~TYPE_MASK) != 0 || (datagram && !request))
        return false;
    *out = (struct lks_pldm_message){
        .command = (uint16_t)((second & TYPE_MASK) << 8 | third),
        .answer = !request,
        .datagram = datagram,
        .instance = first & INSTANCE_MASK,
    };
    return true;
}

enum lks_pldm_code lks_pldm_message_decode(struct lks_str bytes, struct lks_pldm_message *out)
{
    struct lks_pldm_message m;
    if (bytes.len > LKS_PLDM_MESSAGE_MAX || !lks_pldm_message_head(bytes, &m))
        return LKS_PLDM_CC_ERROR;
    const struct layout *layout = find_layout(m.command, m.answer);
    if (layout == NULL)
        return m.command >> 8 == 0 || m.command >> 8 == 5 ? LKS_PLDM_CC_UNSUPPORTED
                                                          : LKS_PLDM_CC_INVALID_TYPE;
    struct lks_bytes in = {.rest = {bytes.ptr + LKS_PLDM_HEAD, bytes.len - LKS_PLDM_HEAD}};
    uint64_t length = UINT64_MAX;
    bool well = true;
    m.code = m.answer ? lks_bytes_u8(&in) : LKS_PLDM_CC_SUCCESS;
    if (m.code != LKS_PLDM_CC_SUCCESS) {
        *out = m;
        return LKS_PLDM_CC_SUCCESS;
    }
    for (const struct field *f = layout->fields; f->kind != END && well; f++)
        well = read_field(&in, f, &m, &length);
    if (!well || !lks_bytes_done(&in))
        return LKS_PLDM_CC_INVALID_LENGTH;
    *out = m;
    return LKS_PLDM_CC_SUCCESS;
}

/* Type and length of a text; one that has no such length fails the buffer. */
static void put_head(struct lks_buf *out, const struct lks_pldm_string *text)
{
    if (text->bytes.len > UINT8_MAX && out->failed == LKS_OK)
        out->failed = LKS_E_LIMIT;
    lks_bytes_put_u8(out, text->type);
    lks_bytes_put_u8(out, (uint8_t)text->bytes.len);
}

static void write_field(struct lks_buf *out, const struct field *f,
                        const struct lks_pldm_message *m)
{
    const char *at = (const char *)m + f->at;
    const struct lks_str *bytes = (const void *)at;
    const struct lks_pldm_string *text = (const void *)at;
    if (is_number(f->kind))
        lks_bytes_put_number(out, get_number(at, f->kind), f->kind);
    else if (f->kind == LATER2 && get_number(at, 2) != 0)
        lks_bytes_put_number(out, get_number(at, 2), 2);
    else if (f->kind == LENGTH)
        lks_bytes_put_u32(out, (uint32_t)bytes->len);
    else if (f->kind == HEAD)
        put_head(out, text);
    else if (f->kind == TEXT)
        lks_buf_add(out, text->bytes);
    else if (f->kind != LATER2)
        lks_buf_add(out, *bytes);
}

void lks_pldm_message_encode(const struct lks_pldm_message *m, struct lks_buf *out)
{
    unsigned bits = (m->answer ? 0U : REQUEST_BIT) | (m->datagram ? DATAGRAM_BIT : 0U);
    LKS_ASSERT(m->instance < LKS_PLDM_INSTANCES);
    lks_bytes_put_u8(out, (uint8_t)(bits | m->instance));
    lks_bytes_put_u8(out, (uint8_t)(m->command >> 8));
    lks_bytes_put_u8(out, (uint8_t)m->command);
    if (m->answer)
        lks_bytes_put_u8(out, m->code);
    if (m->code != LKS_PLDM_CC_SUCCESS)
        return;
    const struct layout *layout = find_layout(m->command, m->answer);
    LKS_ASSERT(layout != NULL);
    for (const struct field *f = layout->fields; f->kind != END; f++)
        write_field(out, f, m);
}

bool lks_pldm_message_ask(struct lks_pldm_message *m, uint8_t *next_instance, struct lks_buf *out)
{
    m->answer = m->datagram = false;
    m->code = LKS_PLDM_CC_SUCCESS;
    m->instance = *next_instance;
    *next_instance = (uint8_t)((*next_instance + 1) % LKS_PLDM_INSTANCES);
    lks_buf_truncate(out, 0);
    out->failed = LKS_OK;
    lks_pldm_message_encode(m, out);
    return out->failed == LKS_OK;
}

enum lks_code lks_pldm_message_transfer_check(uint32_t most, const char *done, struct lks_err *err)
{
    if (most == 0 || (most >= LKS_PLDM_BASELINE && most <= LKS_PLDM_TRANSFER_MAX))
        return LKS_OK;
    return lks_fail(err, LKS_E_INVALID, "a transfer of %u bytes: %d to %u can be %s", most,
                    LKS_PLDM_BASELINE, LKS_PLDM_TRANSFER_MAX, done);
}

bool lks_pldm_message_tlv_next(struct lks_str *rest, struct lks_pldm_descriptor *out)
{
    struct lks_bytes in = lks_bytes_of(*rest);
    struct lks_pldm_descriptor tlv = {.type = lks_bytes_u16(&in)};
    uint16_t len = lks_bytes_u16(&in);
    tlv.value = lks_bytes_take(&in, len);
    if (in.failed)
        return false;
    *rest = in.rest;
    *out = tlv;
    return true;
}

void lks_pldm_message_tlv_add(struct lks_buf *out, const struct lks_pldm_descriptor *tlv)
{
    if (tlv->value.len > UINT16_MAX && out->failed == LKS_OK)
        out->failed = LKS_E_LIMIT;
    lks_bytes_put_u16(out, tlv->type);
    lks_bytes_put_u16(out, (uint16_t)tlv->value.len);
    lks_buf_add(out, tlv->value);
}

static void read_version(struct lks_bytes *in, uint32_t *stamp, struct lks_pldm_string *text,
                         char date[LKS_PLDM_DATE_SIZE])
{
    *stamp = lks_bytes_u32(in);
    text->type = lks_bytes_u8(in);
    text->bytes.len = lks_bytes_u8(in);
    struct lks_str bytes = lks_bytes_take(in, LKS_PLDM_DATE_SIZE);
    memcpy(date, bytes.ptr, bytes.len);
}

/* The same for components and downstream devices but for what they are called. */
static bool next_entry(struct lks_str *rest, bool component, struct lks_pldm_entry *out)
{
    struct lks_bytes in = lks_bytes_of(*rest);
    struct lks_pldm_entry e = {0};
    e.class = component ? lks_bytes_u16(&in) : 0;
    e.id = lks_bytes_u16(&in);
    e.index = component ? lks_bytes_u8(&in) : 0;
    read_version(&in, &e.active_stamp, &e.active, e.active_date);
    read_version(&in, &e.pending_stamp, &e.pending, e.pending_date);
    e.methods = lks_bytes_u16(&in);
    e.capabilities = lks_bytes_u32(&in);
    e.active.bytes = lks_bytes_take(&in, e.active.bytes.len);
    e.pending.bytes = lks_bytes_take(&in, e.pending.bytes.len);
    if (in.failed)
        return false;
    *rest = in.rest;
    *out = e;
    return true;
}

static void put_version(struct lks_buf *out, uint32_t stamp, const struct lks_pldm_string *text,
                        const char date[LKS_PLDM_DATE_SIZE])
{
    lks_bytes_put_u32(out, stamp);
    put_head(out, text);
    lks_buf_add(out, (struct lks_str){date, LKS_PLDM_DATE_SIZE});
}

static void put_rest_of_entry(struct lks_buf *out, const struct lks_pldm_entry *e)
{
    put_version(out, e->active_stamp, &e->active, e->active_date);
    put_version(out, e->pending_stamp, &e->pending, e->pending_date);
    lks_bytes_put_u16(out, e->methods);
    lks_bytes_put_u32(out, e->capabilities);
    lks_buf_add(out, e->active.bytes);
    lks_buf_add(out, e->pending.bytes);
}

bool lks_pldm_message_entry_next(struct lks_str *rest, struct lks_pldm_entry *out)
{
    return next_entry(rest, true, out);
}

bool lks_pldm_message_downstream_params_next(struct lks_str *rest, struct lks_pldm_entry *out)
{
    return next_entry(rest, false, out);
}

void lks_pldm_message_entry_add(struct lks_buf *out, const struct lks_pldm_entry *entry)
{
    lks_bytes_put_u16(out, entry->class);
    lks_bytes_put_u16(out, entry->id);
    lks_bytes_put_u8(out, entry->index);
    put_rest_of_entry(out, entry);
}

void lks_pldm_message_downstream_params_add(struct lks_buf *out,
                                            const struct lks_pldm_entry *device)
{
    lks_bytes_put_u16(out, device->id);
    put_rest_of_entry(out, device);
}

bool lks_pldm_message_downstream_next(struct lks_str *rest, struct lks_pldm_downstream *out)
{
    struct lks_bytes in = lks_bytes_of(*rest);
    struct lks_pldm_downstream device = {.index = lks_bytes_u16(&in), .count = lks_bytes_u8(&in)};
    struct lks_pldm_descriptor tlv;
    struct lks_str tlvs = in.rest;
    if (in.failed)
        return false;
    for (unsigned i = 0; i < device.count; i++) {
        if (!lks_pldm_message_tlv_next(&in.rest, &tlv))
            return false;
    }
    device.tlvs = (struct lks_str){tlvs.ptr, tlvs.len - in.rest.len};
    *rest = in.rest;
    *out = device;
    return true;
}

void lks_pldm_message_downstream_add(struct lks_buf *out, const struct lks_pldm_downstream *device)
{
    lks_bytes_put_u16(out, device->index);
    lks_bytes_put_u8(out, device->count);
    lks_buf_add(out, device->tlvs);
}

uint8_t lks_pldm_message_part(struct lks_str all, uint32_t max, const union lks_pldm_body *ask,
                              union lks_pldm_body *out)
{
    bool first = ask->part_ask.operation == LKS_PLDM_FIRST_PART;
    size_t at = first ? 0 : ask->part_ask.handle;
    if (!first && ask->part_ask.operation != LKS_PLDM_NEXT_PART)
        return LKS_PLDM_CC_INVALID_OPERATION;
    if (at > all.len || (!first && at == 0))
        return LKS_PLDM_CC_INVALID_HANDLE;
    size_t left = all.len - at;
    size_t len = left < max ? left : max;
    out->part.data = (struct lks_str){all.ptr + at, len};
    out->part.next = len < left ? (uint32_t)(at + len) : 0;
    if (len == left)
        out->part.flag = first ? LKS_PLDM_PART_ALL : LKS_PLDM_PART_END;
    else
        out->part.flag = first ? LKS_PLDM_PART_START : LKS_PLDM_PART_MIDDLE;
    return LKS_PLDM_CC_SUCCESS;
}
