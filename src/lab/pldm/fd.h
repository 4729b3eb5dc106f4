/*
 * A firmware device: the side of a PLDM update that has the flash. A value without sockets and
 * without a clock; its owner carries its messages and tells it the time:
 *
 *     lks_fd_receive()   a message came
 *     lks_fd_tick()      time went on, at least up to lks_fd_next()
 *     lks_fd_send()      take what is to go out, until there is nothing: after each of the above
 *
 * It asks for an image piece by piece, one question at a time, and repeats a question (FD_T2) until
 * it is answered or the whole update is given up (FD_T1). What the pieces become is the owner's
 * matter (struct lks_fd_ops), and so are its versions: `components` belongs to the owner, who
 * changes it in apply() and activate().
 *
 * Where it differs from libpldm's device: the last piece is padded and not short, unless asked to
 * (fd_talk.c); an activation cannot be cancelled half-way (fd_commands.c); an update agent that
 * gives wrong pieces for ever is given up. Codes for commands in the wrong state are the same.
 *
 * A command that comes twice with the same instance and the same bytes is carried out once: the
 * answer is repeated, for as long as an instance number may be remembered (6 s). Without that a
 * request which the network doubled could flash the same image again.
 */
#ifndef LKS_PLDM_FD_H
#define LKS_PLDM_FD_H

#include "base/time.h"
#include "lab/pldm/message.h"

#define LKS_FD_COMPONENTS_MAX 64 /* the bitmap of CancelUpdate has no more */
#define LKS_FD_NEVER          UINT64_MAX

struct lks_fd;

struct lks_fd_timers { /* 0: as here */
    lks_ms t1;         /* 120 s: without a word from the update agent the update ends */
    lks_ms t2;         /* 1 s: a question is asked again */
};

/* The component that is being updated, as the update agent described it. Texts live as long as the
 * call they are given to. */
struct lks_fd_update {
    size_t component; /* its place in the owner's list */
    uint32_t size;
    uint32_t stamp;
    bool force;
    struct lks_pldm_string version;
};

struct lks_fd_result {
    uint8_t result;   /* of VerifyComplete or ApplyComplete; 0: fine */
    lks_ms takes;     /* before it is told */
    uint16_t methods; /* apply: with result 1, the methods of activation instead of the known */
};

struct lks_fd_activation {
    uint8_t code; /* SUCCESS, or ACTIVATION_NOT_REQUIRED, or why not */
    lks_ms takes; /* told in whole seconds, rounded up */
};

/* What the owner does. Those marked may be NULL. Times may be anything; a call is never made again
 * for the same piece of work. */
struct lks_fd_ops {
    /* May it be updated so? An LKS_PLDM_OFFER_ code. NULL: lks_fd_judge() decides if
     * `options.compare`, otherwise every known component may. `table`: only asked for an opinion
     * (PassComponentTable), where `force` is not known yet and `size` is 0. */
    uint8_t (*offer)(void *ctx, const struct lks_fd_update *u, bool table);
    /* A transfer begins from offset 0. May be NULL. */
    void (*begin)(void *ctx, const struct lks_fd_update *u);
    /* The next bytes, in order and each once. 0, or the result to tell with TransferComplete. */
    uint8_t (*write)(void *ctx, const struct lks_fd_update *u, uint32_t offset,
                     struct lks_str bytes);
    /* Called when the work begins; its result is told after `takes`. A cancel in between calls
     * cancel(), and whatever apply() changed is then the owner's to undo or to keep. */
    struct lks_fd_result (*verify)(void *ctx, const struct lks_fd_update *u);
    struct lks_fd_result (*apply)(void *ctx, const struct lks_fd_update *u);
    /* ActivateFirmware, when it comes; after `takes` the device is idle, and activated() is called
     * (may be NULL). */
    struct lks_fd_activation (*activate)(void *ctx, bool self_contained);
    void (*activated)(void *ctx);
    /* The component `u` was cancelled, or given up when FD_T1 ran out: true when it does not work
     * any more. NULL: CancelUpdate for all of the update; what was applied before may be dropped
     * or kept. When FD_T1 runs out between components nothing is called: those that were applied
     * stay, which is how an image is staged. May be NULL. */
    bool (*cancel)(void *ctx, const struct lks_fd_update *u);
};

struct lks_fd_options {         /* all of it is the owner's and lives as long as the device */
    struct lks_str descriptors; /* TLVs, see lks_pldm_message_tlv_add() */
    uint8_t descriptor_count;
    const struct lks_pldm_entry *components; /* may change between calls, their number may not */
    size_t component_count;
    const struct lks_pldm_string *set_active;  /* versions of the whole; NULL: none */
    const struct lks_pldm_string *set_pending; /* likewise */
    uint32_t capabilities;                     /* of GetFirmwareParameters */
    uint32_t max_transfer;                     /* it asks for at a time; 0: 4096 */
    struct lks_str metadata;                   /* that it wants kept during the update */
    bool wants_package_data;                   /* asks for it, and gives it to `package_data` */
    void (*package_data)(void *ctx, struct lks_str bytes); /* in parts; empty at the end */
    bool exact_last_piece; /* asks for no more than there is, as libpldm does, even below 32 */
    bool compare;          /* stamps and versions decide, see lks_fd_judge() */
    uint8_t tid;
    struct lks_fd_timers timers;
    const struct lks_fd_ops *ops;
    void *ctx; /* for ops */
};

enum lks_code lks_fd_new(const struct lks_fd_options *options, struct lks_fd **out,
                         struct lks_err *err) LKS_MUST_CHECK;
void lks_fd_free(struct lks_fd *fd);

/* A PLDM message from `peer` (an EID, or any number that tells requesters apart). */
void lks_fd_receive(struct lks_fd *fd, lks_ms now, uint8_t peer, struct lks_str bytes);

void lks_fd_tick(struct lks_fd *fd, lks_ms now);

/* When it has something to do by itself; LKS_FD_NEVER when it only waits for others. */
lks_ms lks_fd_next(const struct lks_fd *fd);

/* Take a message that is to go to `peer`; false when there is none. The bytes are valid until the
 * next call with `fd`. */
bool lks_fd_send(struct lks_fd *fd, uint8_t *peer, struct lks_str *bytes);

/* As after a loss of power: idle, nothing outstanding, and cancel() was not called. */
void lks_fd_reset(struct lks_fd *fd);

enum lks_pldm_state lks_fd_state(const struct lks_fd *fd);

/* Bytes written so far of the component that is being updated. */
uint32_t lks_fd_offset(const struct lks_fd *fd);

/* Rules by stamp and version: the stamp when both have one, otherwise the version's text; the same
 * or lower is no update, unless forced. */
uint8_t lks_fd_judge(const struct lks_pldm_entry *have, const struct lks_fd_update *offered);

#endif
