/* What the files of the update agent share. */
#ifndef LKS_PLDM_UA_PARTS_H
#define LKS_PLDM_UA_PARTS_H

#include "lab/pldm/memory.h"
#include "lab/pldm/ua.h"

/* What it is at. The numbers are saved: append only. */
enum lks_ua_step {
    LKS_UA_STEP_LOOK,     /* GetStatus before anything else */
    LKS_UA_STEP_CLEAR,    /* CancelUpdate of what is not known */
    LKS_UA_STEP_IDENTIFY, /* QueryDeviceIdentifiers */
    LKS_UA_STEP_READ,     /* GetFirmwareParameters */
    LKS_UA_STEP_REQUEST,  /* RequestUpdate */
    LKS_UA_STEP_PACKAGE,  /* waits for GetPackageData */
    LKS_UA_STEP_METADATA, /* GetDeviceMetaData */
    LKS_UA_STEP_TABLE,    /* PassComponentTable */
    LKS_UA_STEP_OFFER,    /* UpdateComponent */
    LKS_UA_STEP_TRANSFER, /* answers RequestFirmwareData */
    LKS_UA_STEP_VERIFY,   /* waits for VerifyComplete */
    LKS_UA_STEP_APPLY,    /* waits for ApplyComplete */
    LKS_UA_STEP_DROP,     /* CancelUpdateComponent */
    LKS_UA_STEP_ACTIVATE, /* ActivateFirmware */
    LKS_UA_STEP_SETTLE,   /* GetStatus until it is idle */
    LKS_UA_STEP_CONFIRM,  /* GetFirmwareParameters afterwards */
    LKS_UA_STEP_ABORT,    /* CancelUpdate, and then the end */
    LKS_UA_STEP_RESYNC,   /* GetStatus after a loss */
    LKS_UA_STEP_REREAD,   /* GetFirmwareParameters after a loss: was it applied? */
    LKS_UA_STEP_ENDED,
    LKS_UA_STEPS
};

struct lks_ua_part { /* a component's */
    uint8_t fate;
    uint8_t index;    /* the device's number for it among its likes */
    bool unwanted;    /* refused in the table */
    bool was_pending; /* the device had this version pending before we began */
    uint16_t methods;
};

struct lks_ua {
    struct lks_ua_options o;
    struct lks_ua_part *parts; /* owned; one for each component */
    enum lks_ua_step step;
    enum lks_ua_step lost; /* RESYNC, REREAD and a LOOK after a restart: what it was at */
    bool resumed;
    bool found_ready; /* the device is still in the update that staged its images */
    struct lks_ua_outcome out;
    enum lks_ua_end ending; /* ABORT: how it will end */
    size_t at;
    uint64_t total, finished; /* bytes of all images, and of those that are done */
    uint32_t served;          /* end of the last byte that was asked for */
    bool served_unknown;      /* after a restart */
    uint32_t asks;            /* for data of this component */
    bool no_self_activation;  /* the device said so */
    uint16_t heard;           /* the last ...Complete of this update */
    bool gets_data;           /* GetPackageData is still to come */
    uint16_t metadata_length;
    uint32_t handle; /* of the next part of the metadata */
    unsigned restarts, looks, cancels;
    uint32_t changes;

    uint16_t asking; /* command of the request that is not answered; 0: none */
    uint8_t instance, next_instance;
    unsigned tries;
    lks_ms again_at;      /* the request is repeated */
    lks_ms enter_at;      /* the step is begun again */
    lks_ms wait_until;    /* the step has taken too long */
    lks_ms look_at;       /* time to look whether the device is still at it */
    lks_ms patient_until; /* for a device that is not ready; 0: it was */
    lks_ms silent_until;  /* for a device that does not answer */
    lks_ms work_until;    /* RESYNC: how long the device may still take */
    struct lks_buf question;
    bool question_ready;
    struct lks_buf reply;
    bool reply_ready;
    struct lks_pldm_memory memory;
    uint8_t reply_instance;

    struct lks_buf descriptors, entries, metadata;
    struct lks_buf data; /* a piece of an image */
};

/* Options that can be used; a new one that is at nothing yet, or NULL without memory. */
enum lks_code lks_ua_check(const struct lks_ua_options *o, struct lks_err *err) LKS_MUST_CHECK;
struct lks_ua *lks_ua_make(const struct lks_ua_options *options);

/* Into a step, and begin it. */
void lks_ua_go(struct lks_ua *ua, lks_ms now, enum lks_ua_step step);

/* Do what the step begins with; again after a device was not ready. */
void lks_ua_enter(struct lks_ua *ua, lks_ms now);
void lks_ua_hear(struct lks_ua *ua, lks_ms now, const struct lks_pldm_message *m);

/* No answer, or none of the device's own requests, came in time. */
void lks_ua_lost(struct lks_ua *ua, lks_ms now);
void lks_ua_late(struct lks_ua *ua, lks_ms now);

/* What to make of the device's state after a loss or a restart. */
void lks_ua_resync(struct lks_ua *ua, lks_ms now, const struct lks_pldm_message *m);
/* Begin again from the look, ending what the device is at; fails when that was done too often. */
void lks_ua_start_over(struct lks_ua *ua, lks_ms now, bool in_update_mode);

void lks_ua_ask(struct lks_ua *ua, lks_ms now, struct lks_pldm_message *m);

/* The component is done, in one way or the other; the next one, or the end. */
void lks_ua_applied(struct lks_ua *ua, lks_ms now);
void lks_ua_broken(struct lks_ua *ua, lks_ms now, bool drop, const char *fmt, ...) LKS_PRINTF(4, 5);
void lks_ua_next_component(struct lks_ua *ua, lks_ms now);

/* Remember why; the first reason stays. */
void lks_ua_because(struct lks_ua *ua, const char *fmt, ...) LKS_PRINTF(2, 3);
void lks_ua_end(struct lks_ua *ua, enum lks_ua_end end);
/* Cancel the update and end so. */
void lks_ua_abort(struct lks_ua *ua, lks_ms now, enum lks_ua_end end);

/* What it is at, behind a look at the device that interrupted it. */
enum lks_ua_step lks_ua_really_at(const struct lks_ua *ua);

/* Was anything of a component sent, so that the device may have changed? */
bool lks_ua_begun(const struct lks_ua *ua);

/* The device's entry for a component; false when it has none. */
bool lks_ua_entry(const struct lks_ua *ua, size_t component, struct lks_pldm_entry *out);

/* Requests of the device. */
void lks_ua_serve(struct lks_ua *ua, lks_ms now, struct lks_str bytes);

#endif
