/*
 * Attributes of netlink messages: a length and a type of 16 bits each in the machine's own order,
 * the length counting both, then data, then padding to a multiple of four. Data of a nested
 * attribute is attributes again. Pure; what asks the kernel is probe/network/netlink.h.
 */
#ifndef LKS_CODEC_NLATTR_H
#define LKS_CODEC_NLATTR_H

#include "base/buf.h"

#define LKS_NLATTR_DATA_MAX 65531

struct lks_nlattr {
    uint16_t type;       /* without the flags "nested" and "network byte order" */
    struct lks_str data; /* without padding */
};

/* Take the next attribute off `rest`; false at the end, and where what follows is no whole
 * attribute: the kernel says how long its messages are, so the rest of one is of no use. */
bool lks_nlattr_next(struct lks_str *rest, struct lks_nlattr *out);

/* The first of `type`; empty where there is none. */
struct lks_str lks_nlattr_find(struct lks_str attrs, uint16_t type);

/* Its text, up to a terminator. */
struct lks_str lks_nlattr_text(struct lks_str data);

/* Append one. Data longer than LKS_NLATTR_DATA_MAX makes `out` fail with LIMIT. */
void lks_nlattr_add(struct lks_buf *out, uint16_t type, struct lks_str data);
void lks_nlattr_add_text(struct lks_buf *out, uint16_t type, struct lks_str text);
void lks_nlattr_add_u32(struct lks_buf *out, uint16_t type, uint32_t value);
void lks_nlattr_add_u8(struct lks_buf *out, uint16_t type, uint8_t value);

/* Append one whose data is the attributes in `attrs`, marked as nested. */
void lks_nlattr_add_nested(struct lks_buf *out, uint16_t type, struct lks_str attrs);

#endif
