/*
 * MCTP (DSP0236) of an endpoint: packets with a header of four bytes, messages taken apart into
 * packets and put together again, and the control commands that every endpoint answers. A value
 * without wires: its owner carries the packets (lab/pldm/mctp_serial.h puts them on a line).
 *
 * A packet that does not belong is dropped without a word, as the standard has it: the wrong
 * version or destination, a sequence with a hole, a length that changes in the middle. What is lost
 * so is repeated by the protocols above.
 */
#ifndef LKS_PLDM_MCTP_H
#define LKS_PLDM_MCTP_H

#include "lab/pldm/message.h"

#define LKS_MCTP_HEAD        4
#define LKS_MCTP_MTU         64  /* bytes of a packet behind its head that everyone can take */
#define LKS_MCTP_MTU_MAX     251 /* with the head a byte can count them */
#define LKS_MCTP_MESSAGE_MAX (LKS_PLDM_MESSAGE_MAX + 1)
#define LKS_MCTP_SLOTS       8 /* messages that can be put together at the same time */
#define LKS_MCTP_TAGS        8
#define LKS_MCTP_UUID_SIZE   16

enum { LKS_MCTP_NULL_EID = 0, LKS_MCTP_FIRST_EID = 8, LKS_MCTP_BROADCAST_EID = 0xff };
enum lks_mctp_type { LKS_MCTP_CONTROL = 0, LKS_MCTP_PLDM = 1 };

struct lks_mctp_packet {
    uint8_t dest, source;
    bool first, last;
    uint8_t sequence; /* 0 to 3 */
    bool owner;       /* the sender made the tag: it asks */
    uint8_t tag;      /* 0 to 7 */
    struct lks_str payload;
};

/* False for another version, or without a payload. */
bool lks_mctp_packet_read(struct lks_str bytes, struct lks_mctp_packet *out);
void lks_mctp_packet_write(const struct lks_mctp_packet *packet, struct lks_buf *out);

struct lks_mctp_message {
    uint8_t peer;
    bool owner;
    uint8_t tag;
    uint8_t type;        /* enum lks_mctp_type, or another */
    struct lks_str body; /* behind the type */
};

struct lks_mctp; /* an endpoint */

struct lks_mctp_options {
    uint8_t eid;  /* 0: none yet, it waits for SetEndpointID */
    unsigned mtu; /* of what it sends; 0: LKS_MCTP_MTU */
    uint8_t uuid[LKS_MCTP_UUID_SIZE];
};

enum lks_code lks_mctp_new(const struct lks_mctp_options *options, struct lks_mctp **out,
                           struct lks_err *err) LKS_MUST_CHECK;
void lks_mctp_free(struct lks_mctp *m);

uint8_t lks_mctp_eid(const struct lks_mctp *m);

/* A packet came. True when it ends a message for the owner, whose body is valid until the next
 * call; control messages are answered here and never told. */
bool lks_mctp_receive(struct lks_mctp *m, struct lks_str packet, struct lks_mctp_message *out);

/* Send a message. A question has `owner` set and gets a tag of its own; an answer has the tag of
 * the question. One that is too long, or cannot be queued, is lost. */
void lks_mctp_send(struct lks_mctp *m, const struct lks_mctp_message *message);

/* Take the next packet that is to go out; false when there is none. Valid until the next call. */
bool lks_mctp_next(struct lks_mctp *m, struct lks_str *packet);

#endif
