/*
 * An update agent: the side of a PLDM update that has the image. A value without sockets and
 * without a clock, driven like a firmware device (lab/pldm/fd.h):
 *
 *     lks_ua_receive()   a message came
 *     lks_ua_tick()      time went on, at least up to lks_ua_next()
 *     lks_ua_send()      take what is to go out, until there is nothing: after each of the above
 *     lks_ua_outcome()   how it stands; ended once `end` is not RUNNING. The device still waits for
 *                        what lks_ua_send() then has: the answer to its last message
 *
 * It looks first (GetStatus, QueryDeviceIdentifiers, GetFirmwareParameters), ends an update that
 * it does not know, and then goes through the whole flow. A request that is not answered is
 * repeated with the same instance number; when that does not help it asks for the status and
 * decides from the answer, and never assumes. A component that was applied is not sent again: where
 * the answer was lost, the pending version tells.
 *
 * Where it differs from openbmc's agent: it accepts a short last piece (ua_serve.c); takes "no
 * activation is needed" for success, and leaves a set of images alone of which one failed, unless
 * the package says otherwise (ua_steps.c); answers echoes of what it has heard with success; and
 * looks at the device again before it gives up.
 *
 * It always ends: every wait has a timer and every repetition a number. What it cannot know when it
 * ends (activation was asked for and the device is silent since) ends UNKNOWN.
 */
#ifndef LKS_PLDM_UA_H
#define LKS_PLDM_UA_H

#include "base/time.h"
#include "lab/pldm/message.h"

#define LKS_UA_COMPONENTS_MAX 1024
#define LKS_UA_SAVED_MAX      ((size_t)16 << 10)
#define LKS_UA_NEVER          UINT64_MAX

struct lks_ua;

enum lks_ua_mode {
    LKS_UA_ACTIVATE,        /* ActivateFirmware; a reset may still be needed (`methods`) */
    LKS_UA_SELF_ACTIVATE,   /* the device is to do it by itself now, or as above if it cannot */
    LKS_UA_STAGE,           /* transfer, verify and apply; the device leaves update mode later */
    LKS_UA_ACTIVATE_STAGED, /* what is pending already is not sent again */
    LKS_UA_IDENTIFY,        /* only look */
};

struct lks_ua_timers { /* 0: as here */
    lks_ms t1;         /* 5 s: a cancel is tried again */
    lks_ms t2;         /* 60 s: the device asks for no data */
    lks_ms t3;         /* 180 s: the device does not reach the state it should */
    lks_ms t4;         /* 5 s: RequestUpdate is tried again when the device asks for that */
    lks_ms t5;         /* 5 s: the device announced GetPackageData and does not send it */
    lks_ms t6;         /* 600 s: the device verifies, or applies */
    lks_ms answer;     /* 2 s: an answer comes */
    lks_ms not_ready;  /* 250 ms: before a device that was not ready is asked again */
    lks_ms poll;       /* 1 s: between looks at a device that is activating */
};

struct lks_ua_component {
    uint16_t class;
    uint16_t id;
    uint32_t stamp; /* LKS_PLDM_STAMP_NONE: none */
    uint32_t size;  /* bytes of the image */
    bool force;     /* also when the device has the same version or a newer one */
    struct lks_pldm_string version;
    struct lks_str opaque; /* for GetComponentOpaqueData */
};

struct lks_ua_options { /* all of it is the owner's and lives as long as the agent */
    const struct lks_ua_component *components;
    size_t component_count;
    struct lks_pldm_string version; /* of the image set */
    struct lks_str package_data;
    /* Descriptors that the device must have; none: any device. */
    struct lks_str descriptors; /* TLVs */
    enum lks_ua_mode mode;
    bool continue_after_failure; /* the package's option: other components are still updated */
    uint32_t max_transfer;       /* 0: 4096 */
    uint8_t first_instance;
    struct lks_ua_timers timers;
    /* Bytes of an image into `out`, which has room; never beyond its size. False: it cannot be
     * read, and the update fails. */
    bool (*read)(void *ctx, size_t component, uint32_t offset, uint32_t length, uint8_t *out);
    void *ctx;
};

enum lks_ua_end {
    LKS_UA_RUNNING,
    LKS_UA_DONE,
    LKS_UA_PARTLY,    /* some components were updated, others failed or were refused */
    LKS_UA_FAILED,    /* none was; the device runs what it ran */
    LKS_UA_CANCELLED, /* by lks_ua_cancel() */
    LKS_UA_UNKNOWN,   /* what the device has cannot be known from here: look at it again */
};

enum lks_ua_fate { /* of a component */
                   LKS_UA_WAITING,
                   LKS_UA_SENDING, /* UpdateComponent was sent; if it ends so, the device may have
                                      any part */
                   LKS_UA_VERIFYING,
                   LKS_UA_APPLYING,
                   LKS_UA_APPLIED, /* the device has it, and runs it once it is activated */
                   LKS_UA_REFUSED, /* before anything was sent */
                   LKS_UA_BROKEN,  /* the transfer, verification or application failed */
};

struct lks_ua_outcome {
    enum lks_ua_end end;
    char reason[256];    /* one line for people; "" while all is well */
    unsigned percent;    /* 97 at the most while transferring, 98 verify, 99 apply, 100 done */
    size_t component;    /* the one it is at */
    uint16_t methods;    /* of activation, of all applied components together */
    bool activated;      /* the device has accepted ActivateFirmware */
    bool self_contained; /* and does it by itself */
    uint16_t seconds;    /* that it said activation takes */
    uint64_t broken;     /* bit n: after a cancel the device's component n does not work */
    enum lks_pldm_state state; /* of the device, as it was heard of last */
};

/* Begin at `now`. */
enum lks_code lks_ua_new(const struct lks_ua_options *options, lks_ms now, struct lks_ua **out,
                         struct lks_err *err) LKS_MUST_CHECK;

/* Go on with what lks_ua_save() wrote before a restart: reads the device, and then finishes what is
 * still in progress or starts again. The options must be the same as then. */
enum lks_code lks_ua_load(const struct lks_ua_options *options, lks_ms now, struct lks_str saved,
                          struct lks_ua **out, struct lks_err *err) LKS_MUST_CHECK;
void lks_ua_free(struct lks_ua *ua);

/* Worth saving again whenever lks_ua_changes() has another value than at the last time. */
void lks_ua_save(const struct lks_ua *ua, struct lks_buf *out);
uint32_t lks_ua_changes(const struct lks_ua *ua);

void lks_ua_receive(struct lks_ua *ua, lks_ms now, struct lks_str bytes);
void lks_ua_tick(struct lks_ua *ua, lks_ms now);

/* When it has something to do by itself; LKS_UA_NEVER once it has ended. */
lks_ms lks_ua_next(const struct lks_ua *ua);

/* Take a message that is to go to the device; false when there is none. The bytes are valid until
 * the next call with `ua`. */
bool lks_ua_send(struct lks_ua *ua, struct lks_str *bytes);

/* Give the update up. Not possible once activation was asked for: it then goes on to its end. */
void lks_ua_cancel(struct lks_ua *ua, lks_ms now);

void lks_ua_outcome(const struct lks_ua *ua, struct lks_ua_outcome *out);
enum lks_ua_fate lks_ua_fate(const struct lks_ua *ua, size_t component);

/* What the device said of itself, once it has; empty before. Views into `ua`. */
struct lks_str lks_ua_descriptors(const struct lks_ua *ua); /* see lks_pldm_message_tlv_next() */
struct lks_str lks_ua_entries(const struct lks_ua *ua);     /* see lks_pldm_message_entry_next() */

#endif
