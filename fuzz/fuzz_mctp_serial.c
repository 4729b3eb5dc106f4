/*
 * A serial line with anything on it. The first byte says in what pieces the rest arrives, and
 * whether the check counts. Pieces make no difference; a packet that was received can be sent and
 * is received again; and an endpoint that hears all of them answers in packets that can be read,
 * no longer than its MTU.
 */
#include "lab/pldm/mctp.h"
#include "lab/pldm/mctp_serial.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OUT_MAX = 1 << 24, EID = 9 };

static void send_again(struct lks_str packet, bool no_fcs)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf frame = LKS_BUF(OUT_MAX);
    struct lks_mctp_serial line = {.no_fcs = no_fcs};
    struct lks_str rest, back;
    lks_mctp_serial_frame(packet, no_fcs, &frame);
    LKS_ASSERT(frame.failed == LKS_OK && frame.len <= LKS_MCTP_SERIAL_FRAME_MAX);
    rest = lks_buf_view(&frame);
    LKS_ASSERT(lks_mctp_serial_next(&line, &rest, &back) && rest.len == 0);
    LKS_ASSERT(lks_str_eq(packet, back) && line.broken == 0);
}

static void take_answers(struct lks_mctp *endpoint)
{
    struct lks_str bytes;
    struct lks_mctp_packet p;
    while (lks_mctp_next(endpoint, &bytes)) {
        LKS_ASSERT(lks_mctp_packet_read(bytes, &p));
        LKS_ASSERT(p.payload.len <= LKS_MCTP_MTU && p.source == lks_mctp_eid(endpoint));
    }
}

/* All packets, one after the other, appended to `out`. */
static void hear(struct lks_str all, size_t piece, bool no_fcs, struct lks_mctp *endpoint,
                 struct lks_buf *out)
{
    struct lks_mctp_serial line = {.no_fcs = no_fcs};
    struct lks_mctp_message message;
    struct lks_str packet;
    while (all.len > 0) {
        size_t len = all.len < piece ? all.len : piece;
        struct lks_str rest = {all.ptr, len};
        while (lks_mctp_serial_next(&line, &rest, &packet)) {
            LKS_ASSERT(packet.len > 0);
            lks_buf_add(out, packet);
            lks_buf_addc(out, '|');
            if (endpoint == NULL)
                continue;
            send_again(packet, no_fcs);
            if (lks_mctp_receive(endpoint, packet, &message)) {
                LKS_ASSERT(message.type != LKS_MCTP_CONTROL);
                message.owner = false;
                lks_mctp_send(endpoint, &message);
            }
            take_answers(endpoint);
        }
        LKS_ASSERT(rest.len == 0);
        all.ptr += len;
        all.len -= len;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf whole = {0}, pieces = {0};
    struct lks_mctp_options options = {.eid = EID};
    struct lks_mctp *endpoint = NULL;
    struct lks_err err = {0};
    if (size == 0)
        return 0;
    bool no_fcs = (data[0] & 0x80) != 0;
    struct lks_str all = {(const char *)data + 1, size - 1};
    LKS_ASSERT(lks_mctp_new(&options, &endpoint, &err) == LKS_OK);
    lks_buf_init(&whole, OUT_MAX);
    lks_buf_init(&pieces, OUT_MAX);
    hear(all, all.len + 1, no_fcs, endpoint, &whole);
    hear(all, 1 + (data[0] & 0x7f), no_fcs, NULL, &pieces);
    LKS_ASSERT(lks_str_eq(lks_buf_view(&whole), lks_buf_view(&pieces)));
    lks_mctp_free(endpoint);
    return 0;
}
