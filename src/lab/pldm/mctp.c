#include "lab/pldm/mctp.h"

#include "pldm/bytes.h"

#include <stdlib.h>

enum { VERSION = 1, VERSION_MASK = 0x0f, TYPE_MASK = 0x7f, INTEGRITY = 0x80, SEQUENCES = 4 };
enum { QUEUE_MAX = 1 << 20 };

/* Control commands and their codes. */
enum {
    SET_EID = 1,
    GET_EID = 2,
    GET_UUID = 3,
    GET_VERSION = 4,
    GET_TYPES = 5,
};
enum { SUCCESS = 0, INVALID_DATA = 2, INVALID_LENGTH = 3, UNSUPPORTED = 5, NO_SUCH_TYPE = 0x80 };
enum { REQUEST_BIT = 0x80, DATAGRAM_BIT = 0x40, CONTROL_INSTANCE = 0x1f };

struct slot { /* a message that is being put together */
    bool used;
    uint8_t source, tag, sequence;
    bool owner;
    size_t unit; /* payload of all its packets but the last */
    uint64_t age;
    struct lks_buf bytes;
};

struct lks_mctp {
    uint8_t eid;
    unsigned mtu;
    uint8_t uuid[LKS_MCTP_UUID_SIZE];
    uint8_t next_tag;
    struct slot slots[LKS_MCTP_SLOTS];
    uint64_t clock;       /* counts messages begun: the oldest gives way */
    struct lks_buf queue; /* packets, each with its length in two bytes before it */
    size_t taken;
};

bool lks_mctp_packet_read(struct lks_str bytes, struct lks_mctp_packet *out)
{
    struct lks_bytes in = lks_bytes_of(bytes);
    uint8_t version = lks_bytes_u8(&in), dest = lks_bytes_u8(&in), source = lks_bytes_u8(&in),
            flags = lks_bytes_u8(&in);
    if (in.failed || in.rest.len == 0 || (version & VERSION_MASK) != VERSION)
        return false;
    *out = (struct lks_mctp_packet){
        .dest = dest,
        .source = source,
        .first = (flags & 0x80) != 0,
        .last = (flags & 0x40) != 0,
        .sequence = flags >> 4 & 3,
        .owner = (flags & 0x08) != 0,
        .tag = flags & 7,
        .payload = in.rest,
    };
    return true;
}

void lks_mctp_packet_write(const struct lks_mctp_packet *packet, struct lks_buf *out)
{
    unsigned flags = (packet->first ? 0x80U : 0) | (packet->last ? 0x40U : 0) |
                     (packet->sequence & 3U) << 4 | (packet->owner ? 0x08U : 0) |
                     (packet->tag & 7U);
    lks_bytes_put_u8(out, VERSION);
    lks_bytes_put_u8(out, packet->dest);
    lks_bytes_put_u8(out, packet->source);
    lks_bytes_put_u8(out, (uint8_t)flags);
    lks_buf_add(out, packet->payload);
}

enum lks_code lks_mctp_new(const struct lks_mctp_options *options, struct lks_mctp **out,
                           struct lks_err *err)
{
    if (options->mtu != 0 && (options->mtu < LKS_MCTP_MTU || options->mtu > LKS_MCTP_MTU_MAX))
        return lks_fail(err, LKS_E_INVALID, "an MTU of %u: %d to %d are possible", options->mtu,
                        LKS_MCTP_MTU, LKS_MCTP_MTU_MAX);
    struct lks_mctp *m = calloc(1, sizeof(*m));
    if (m == NULL)
        return lks_fail_nomem(err);
    m->eid = options->eid;
    m->mtu = options->mtu == 0 ? LKS_MCTP_MTU : options->mtu;
    memcpy(m->uuid, options->uuid, sizeof(m->uuid));
    for (size_t i = 0; i < LKS_MCTP_SLOTS; i++)
        lks_buf_init(&m->slots[i].bytes, LKS_MCTP_MESSAGE_MAX);
    lks_buf_init(&m->queue, QUEUE_MAX);
    *out = m;
    return LKS_OK;
}

void lks_mctp_free(struct lks_mctp *m)
{
    if (m == NULL)
        return;
    for (size_t i = 0; i < LKS_MCTP_SLOTS; i++)
        lks_buf_fini(&m->slots[i].bytes);
    lks_buf_fini(&m->queue);
    free(m);
}

uint8_t lks_mctp_eid(const struct lks_mctp *m)
{
    return m->eid;
}

bool lks_mctp_next(struct lks_mctp *m, struct lks_str *packet)
{
    if (m->queue.len == m->taken) {
        lks_buf_truncate(&m->queue, 0);
        m->taken = 0;
        return false;
    }
    struct lks_bytes in = {.rest = {m->queue.ptr + m->taken, m->queue.len - m->taken}};
    uint16_t len = lks_bytes_u16(&in);
    *packet = lks_bytes_take(&in, len);
    LKS_ASSERT(!in.failed);
    m->taken = m->queue.len - in.rest.len;
    return true;
}

/* Take the message apart. All packets have the same length but the last. */
static void queue_packets(struct lks_mctp *m, struct lks_mctp_packet *packet, struct lks_str all)
{
    size_t before = m->queue.len;
    for (size_t at = 0; at < all.len; at += m->mtu) {
        size_t left = all.len - at, len = left < m->mtu ? left : m->mtu;
        packet->first = at == 0;
        packet->last = len == left;
        packet->payload = (struct lks_str){all.ptr + at, len};
        lks_bytes_put_u16(&m->queue, (uint16_t)(LKS_MCTP_HEAD + len));
        lks_mctp_packet_write(packet, &m->queue);
        packet->sequence = (uint8_t)((packet->sequence + 1) % SEQUENCES);
    }
    if (m->queue.failed != LKS_OK) { /* the whole message, or none of it */
        m->queue.failed = LKS_OK;
        lks_buf_truncate(&m->queue, before);
    }
}

void lks_mctp_send(struct lks_mctp *m, const struct lks_mctp_message *message)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf all = LKS_BUF(LKS_MCTP_MESSAGE_MAX);
    struct lks_mctp_packet packet = {
        .dest = message->peer,
        .source = m->eid,
        .owner = message->owner,
        .tag = message->owner ? m->next_tag : message->tag,
    };
    lks_bytes_put_u8(&all, message->type);
    lks_buf_add(&all, message->body);
    if (message->owner)
        m->next_tag = (uint8_t)((m->next_tag + 1) % LKS_MCTP_TAGS);
    if (all.failed == LKS_OK)
        queue_packets(m, &packet, lks_buf_view(&all));
}

/* ---- control ---- */

static uint8_t set_eid(struct lks_mctp *m, struct lks_str data, struct lks_buf *out)
{
    if (data.len != 2)
        return INVALID_LENGTH;
    unsigned operation = (uint8_t)data.ptr[0] & 3;
    uint8_t eid = (uint8_t)data.ptr[1];
    if (operation > 1 || eid < LKS_MCTP_FIRST_EID || eid == LKS_MCTP_BROADCAST_EID)
        return INVALID_DATA;
    m->eid = eid;
    lks_bytes_put_u8(out, 0); /* accepted; no pool of its own */
    lks_bytes_put_u8(out, eid);
    lks_bytes_put_u8(out, 0);
    return SUCCESS;
}

static uint8_t get_eid(struct lks_mctp *m, struct lks_str data, struct lks_buf *out)
{
    if (data.len != 0)
        return INVALID_LENGTH;
    lks_bytes_put_u8(out, m->eid);
    lks_bytes_put_u8(out, 0); /* a simple endpoint whose EID can change */
    lks_bytes_put_u8(out, 0);
    return SUCCESS;
}

static uint8_t get_uuid(struct lks_mctp *m, struct lks_str data, struct lks_buf *out)
{
    if (data.len != 0)
        return INVALID_LENGTH;
    lks_buf_add(out, (struct lks_str){(const char *)m->uuid, sizeof(m->uuid)});
    return SUCCESS;
}

static uint8_t get_version(struct lks_mctp *m, struct lks_str data, struct lks_buf *out)
{
    (void)m;
    if (data.len != 1)
        return INVALID_LENGTH;
    uint8_t type = (uint8_t)data.ptr[0];
    if (type != LKS_MCTP_CONTROL && type != LKS_MCTP_PLDM && type != 0xff)
        return NO_SUCH_TYPE;
    lks_bytes_put_u8(out, 1);
    /* Most significant first, unlike everything else: 1.3.1 of the base, 1.0.0 of PLDM. */
    lks_buf_add(out,
                type == LKS_MCTP_PLDM ? LKS_STR("\xf1\xf0\xf0\x00") : LKS_STR("\xf1\xf3\xf1\x00"));
    return SUCCESS;
}

static uint8_t get_types(struct lks_mctp *m, struct lks_str data, struct lks_buf *out)
{
    (void)m;
    if (data.len != 0)
        return INVALID_LENGTH;
    lks_bytes_put_u8(out, 1);
    lks_bytes_put_u8(out, LKS_MCTP_PLDM);
    return SUCCESS;
}

static const struct {
    uint8_t command;
    uint8_t (*answer)(struct lks_mctp *m, struct lks_str data, struct lks_buf *out);
} commands[] = {
    {SET_EID, set_eid},         {GET_EID, get_eid},     {GET_UUID, get_uuid},
    {GET_VERSION, get_version}, {GET_TYPES, get_types},
};

static void control(struct lks_mctp *m, const struct lks_mctp_message *ask)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf fields = {0}, body = {0};
    struct lks_bytes in = lks_bytes_of(ask->body);
    uint8_t head = lks_bytes_u8(&in), command = lks_bytes_u8(&in), code = UNSUPPORTED;
    if (in.failed || (head & REQUEST_BIT) == 0 || (head & DATAGRAM_BIT) != 0)
        return;
    lks_buf_init(&fields, LKS_MCTP_MESSAGE_MAX);
    lks_buf_init(&body, LKS_MCTP_MESSAGE_MAX);
    for (size_t i = 0; i < LKS_COUNT(commands); i++) {
        if (commands[i].command == command)
            code = commands[i].answer(m, in.rest, &fields);
    }
    lks_bytes_put_u8(&body, head & CONTROL_INSTANCE);
    lks_bytes_put_u8(&body, command);
    lks_bytes_put_u8(&body, code);
    lks_buf_add(&body, code == SUCCESS ? lks_buf_view(&fields) : LKS_STR(""));
    lks_mctp_send(m, &(struct lks_mctp_message){.peer = ask->peer,
                                                .tag = ask->tag,
                                                .type = LKS_MCTP_CONTROL,
                                                .body = lks_buf_view(&body)});
}

/* ---- putting together ---- */

static struct slot *find_slot(struct lks_mctp *m, const struct lks_mctp_packet *p)
{
    for (size_t i = 0; i < LKS_MCTP_SLOTS; i++) {
        struct slot *s = &m->slots[i];
        if (s->used && s->source == p->source && s->tag == p->tag && s->owner == p->owner)
            return s;
    }
    return NULL;
}

/* For a message that begins: the slot of one that did not end, a free one, or the oldest. */
static struct slot *pick_slot(struct lks_mctp *m, const struct lks_mctp_packet *p)
{
    struct slot *slot = find_slot(m, p);
    if (slot != NULL)
        return slot;
    slot = &m->slots[0];
    for (size_t i = 0; i < LKS_MCTP_SLOTS && slot->used; i++) {
        if (!m->slots[i].used || m->slots[i].age < slot->age)
            slot = &m->slots[i];
    }
    return slot;
}

static struct slot *begin_slot(struct lks_mctp *m, const struct lks_mctp_packet *p)
{
    struct slot *slot = pick_slot(m, p);
    lks_buf_truncate(&slot->bytes, 0);
    slot->bytes.failed = LKS_OK;
    slot->used = true;
    slot->source = p->source;
    slot->tag = p->tag;
    slot->owner = p->owner;
    slot->sequence = p->sequence;
    slot->unit = p->payload.len;
    slot->age = ++m->clock;
    return slot;
}

/* Does the packet go on where the message stopped? */
static bool continues(const struct slot *s, const struct lks_mctp_packet *p)
{
    return p->sequence == s->sequence &&
           (p->last ? p->payload.len <= s->unit : p->payload.len == s->unit);
}

static bool end_message(struct slot *s, struct lks_mctp_message *out)
{
    struct lks_str all = lks_buf_view(&s->bytes);
    uint8_t type = (uint8_t)all.ptr[0];
    s->used = false;
    *out = (struct lks_mctp_message){
        .peer = s->source,
        .owner = s->owner,
        .tag = s->tag,
        .type = type & TYPE_MASK,
        .body = {all.ptr + 1, all.len - 1},
    };
    return (type & INTEGRITY) == 0; /* none of the types here has a check of its own */
}

bool lks_mctp_receive(struct lks_mctp *m, struct lks_str packet, struct lks_mctp_message *out)
{
    struct lks_mctp_packet p;
    struct lks_mctp_message message;
    if (!lks_mctp_packet_read(packet, &p) ||
        (p.dest != m->eid && p.dest != LKS_MCTP_NULL_EID && p.dest != LKS_MCTP_BROADCAST_EID))
        return false;
    struct slot *slot = p.first ? begin_slot(m, &p) : find_slot(m, &p);
    if (slot == NULL)
        return false;
    if (!p.first && !continues(slot, &p)) {
        slot->used = false;
        return false;
    }
    lks_buf_add(&slot->bytes, p.payload);
    slot->sequence = (uint8_t)((p.sequence + 1) % SEQUENCES);
    if (slot->bytes.failed != LKS_OK)
        slot->used = false;
    if (!slot->used || !p.last || !end_message(slot, &message))
        return false;
    if (message.type == LKS_MCTP_CONTROL) {
        if (message.owner)
            control(m, &message);
        return false;
    }
    *out = message;
    return true;
}
