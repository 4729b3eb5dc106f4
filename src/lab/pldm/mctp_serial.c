#include "lab/pldm/mctp_serial.h"

#include "pldm/bytes.h"

enum {
    FLAG = 0x7e,
    ESCAPE = 0x7d,
    TURN = 0x20,
    REVISION = 1,
    FCS_INIT = 0xffff,
    FCS_POLY = 0x8408
};

/* What is expected next. */
enum state { NOTHING, START, LENGTH, PACKET, ESCAPED, FCS_HIGH, FCS_LOW, STOP };

static uint16_t fcs_add(uint16_t fcs, uint8_t byte)
{
    unsigned sum = fcs ^ byte;
    for (int i = 0; i < 8; i++)
        sum = (sum & 1) != 0 ? sum >> 1 ^ FCS_POLY : sum >> 1;
    return (uint16_t)sum;
}

static uint16_t fcs_of(struct lks_str packet)
{
    uint16_t fcs = fcs_add(fcs_add(FCS_INIT, REVISION), (uint8_t)packet.len);
    for (size_t i = 0; i < packet.len; i++)
        fcs = fcs_add(fcs, (uint8_t)packet.ptr[i]);
    return fcs;
}

void lks_mctp_serial_frame(struct lks_str packet, bool no_fcs, struct lks_buf *out)
{
    if (packet.len == 0 || packet.len > LKS_MCTP_SERIAL_PACKET_MAX) {
        if (out->failed == LKS_OK)
            out->failed = LKS_E_LIMIT;
        return;
    }
    uint16_t fcs = no_fcs ? 0 : fcs_of(packet);
    lks_bytes_put_u8(out, FLAG);
    lks_bytes_put_u8(out, REVISION);
    lks_bytes_put_u8(out, (uint8_t)packet.len);
    for (size_t i = 0; i < packet.len; i++) {
        uint8_t byte = (uint8_t)packet.ptr[i];
        bool escape = byte == FLAG || byte == ESCAPE;
        if (escape)
            lks_bytes_put_u8(out, ESCAPE);
        lks_bytes_put_u8(out, escape ? byte ^ TURN : byte);
    }
    lks_bytes_put_u8(out, (uint8_t)(fcs >> 8));
    lks_bytes_put_u8(out, (uint8_t)(fcs & 0xff));
    lks_bytes_put_u8(out, FLAG);
}

static enum state broken(struct lks_mctp_serial *s, uint8_t byte)
{
    s->broken++;
    /* A flag where none can be is the start of the next frame. */
    return byte == FLAG ? START : NOTHING;
}

static enum state take(struct lks_mctp_serial *s, uint8_t byte)
{
    s->packet[s->got++] = byte;
    return s->got == s->length ? FCS_HIGH : PACKET;
}

static enum state begin_packet(struct lks_mctp_serial *s, uint8_t byte)
{
    s->length = byte;
    s->got = 0;
    return byte == 0 ? broken(s, byte) : PACKET;
}

static bool is_good(const struct lks_mctp_serial *s)
{
    struct lks_str packet = {(const char *)s->packet, s->length};
    return s->no_fcs || s->fcs == fcs_of(packet);
}

static enum state stop(struct lks_mctp_serial *s, uint8_t byte)
{
    if (byte != FLAG || !is_good(s))
        return broken(s, byte);
    s->frames++;
    return START; /* one flag may end a frame and start the next */
}

static enum state step(struct lks_mctp_serial *s, uint8_t byte)
{
    switch ((enum state)s->state) {
    case NOTHING:
        return byte == FLAG ? START : NOTHING;
    case START:
        if (byte == FLAG)
            return START;
        return byte == REVISION ? LENGTH : broken(s, byte);
    case LENGTH:
        return begin_packet(s, byte);
    case PACKET:
        if (byte == FLAG)
            return broken(s, byte);
        return byte == ESCAPE ? ESCAPED : take(s, byte);
    case ESCAPED:
        return byte == FLAG ? broken(s, byte) : take(s, byte ^ TURN);
    case FCS_HIGH:
        s->fcs = (uint16_t)(byte << 8);
        return FCS_LOW;
    case FCS_LOW:
        s->fcs |= byte;
        return STOP;
    case STOP:
        return stop(s, byte);
    }
    return NOTHING;
}

bool lks_mctp_serial_next(struct lks_mctp_serial *s, struct lks_str *rest, struct lks_str *packet)
{
    struct lks_bytes in = lks_bytes_of(*rest);
    while (in.rest.len > 0) {
        uint64_t frames = s->frames;
        s->state = (int)step(s, lks_bytes_u8(&in));
        if (s->frames == frames)
            continue;
        *packet = (struct lks_str){(const char *)s->packet, s->length};
        *rest = in.rest;
        return true;
    }
    *rest = in.rest;
    return false;
}
