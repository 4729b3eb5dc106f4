/*
 * Reading an image from where an endpoint is to fetch it, before it is told to, as a conversation
 * (port/conversation.h): in ranges, hashed and not kept. It ends well where the bytes have the
 * digest and the size that are wanted. INVALID: they have not. UNAVAILABLE: they cannot be read.
 */
#ifndef LKS_DRIVERS_IMAGE_CHECK_H
#define LKS_DRIVERS_IMAGE_CHECK_H

#include "port/conversation.h"

#define LKS_IMAGE_CHECK_PIECE ((uint64_t)4 << 20) /* bytes of one request */

/* The owner's: it outlives the conversation, and its texts do. */
struct lks_image_check {
    struct lks_str path;
    const char *digest;
    uint64_t size;
    lks_ms deadline; /* of all of it */
    lks_ms patience; /* with one answer */
    /* Its own. */
    uint64_t got;
    void *hash;
};

/* For what the upper members name. */
enum lks_code lks_image_check_init(struct lks_image_check *c, struct lks_err *err) LKS_MUST_CHECK;
void lks_image_check_fini(struct lks_image_check *c);

extern const struct lks_conversation_ops lks_image_check_talk;
void lks_image_check_begin(void *value, struct lks_image_check *c);

#endif
