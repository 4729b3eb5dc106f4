/*
 * MCTP packets on a serial line (DSP0253):
 *
 *     7e 01 length packet fcs fcs 7e
 *
 * The length counts the packet before escaping; in the packet, and only there, 7e and 7d are sent
 * as 7d and the byte with bit 5 turned. The FCS is CRC-16/CCITT, reflected, begun with ones and not
 * complemented, over revision, length and the packet as it was before, most significant byte first.
 *
 * So Linux does it since its check begins with ones; before, it began with zeroes and did not
 * understand others. Old libmctp sends two zero bytes and does not look: `no_fcs` speaks with that.
 */
#ifndef LKS_PLDM_MCTP_SERIAL_H
#define LKS_PLDM_MCTP_SERIAL_H

#include "base/buf.h"

#define LKS_MCTP_SERIAL_PACKET_MAX 255
#define LKS_MCTP_SERIAL_FRAME_MAX  (2 * LKS_MCTP_SERIAL_PACKET_MAX + 6)

/* Append a frame. A packet that is empty or too long fails `out` with LIMIT. */
void lks_mctp_serial_frame(struct lks_str packet, bool no_fcs, struct lks_buf *out);

struct lks_mctp_serial { /* the receiving end; all zero to begin with */
    bool no_fcs;
    int state;
    uint8_t length;
    uint8_t got;
    uint16_t fcs;
    uint8_t packet[LKS_MCTP_SERIAL_PACKET_MAX];
    uint64_t frames; /* that were whole */
    uint64_t broken; /* that were begun and were not */
};

/* Read from `rest` up to the end of the next whole frame: true, and its packet, valid until the
 * next call. False when all of `rest` was read without one. Bytes between frames are skipped. */
bool lks_mctp_serial_next(struct lks_mctp_serial *s, struct lks_str *rest, struct lks_str *packet);

#endif
