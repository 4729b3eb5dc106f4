/*
 * PLDM messages of firmware update (DSP0267, type 5) and of discovery (DSP0240, type 0), as bytes
 * and as values. What lies before a message on the wire (the MCTP message type) is not part of it.
 *
 * Decoding checks form alone: that every field is there, that lists hold as many entries as they
 * say, that nothing is left over. Whether a value makes sense is for the caller to decide. Texts
 * and lists of a decoded message are views into its bytes.
 *
 * Of each pair of request and answer, encode(decode(bytes)) gives the same bytes, except where an
 * answer says that it failed: what some devices put behind such a code is not kept.
 */
#ifndef LKS_PLDM_MESSAGE_H
#define LKS_PLDM_MESSAGE_H

#include "pldm/package.h"

#define LKS_PLDM_HEAD         3  /* bytes before a request's fields; answers have one more */
#define LKS_PLDM_INSTANCES    32 /* numbers that tell requests apart */
#define LKS_PLDM_BASELINE     32 /* bytes of an image that any two can exchange at a time */
#define LKS_PLDM_TRANSFER_MAX ((uint32_t)64 << 10)
#define LKS_PLDM_MESSAGE_MAX  ((size_t)LKS_PLDM_TRANSFER_MAX + 1024)
#define LKS_PLDM_DATE_SIZE    8 /* "YYYYMMDD", not terminated */

/* The type is in the high byte. */
enum lks_pldm_command {
    LKS_PLDM_SET_TID = 0x001,
    LKS_PLDM_GET_TID = 0x002,
    LKS_PLDM_GET_VERSION = 0x003,
    LKS_PLDM_GET_TYPES = 0x004,
    LKS_PLDM_GET_COMMANDS = 0x005,

    LKS_PLDM_QUERY_DEVICE_IDENTIFIERS = 0x501,
    LKS_PLDM_GET_FIRMWARE_PARAMETERS = 0x502,
    LKS_PLDM_QUERY_DOWNSTREAM_DEVICES = 0x503,
    LKS_PLDM_QUERY_DOWNSTREAM_IDENTIFIERS = 0x504,
    LKS_PLDM_GET_DOWNSTREAM_PARAMETERS = 0x505,
    LKS_PLDM_REQUEST_UPDATE = 0x510,
    LKS_PLDM_GET_PACKAGE_DATA = 0x511,
    LKS_PLDM_GET_DEVICE_METADATA = 0x512,
    LKS_PLDM_PASS_COMPONENT_TABLE = 0x513,
    LKS_PLDM_UPDATE_COMPONENT = 0x514,
    LKS_PLDM_REQUEST_FIRMWARE_DATA = 0x515,
    LKS_PLDM_TRANSFER_COMPLETE = 0x516,
    LKS_PLDM_VERIFY_COMPLETE = 0x517,
    LKS_PLDM_APPLY_COMPLETE = 0x518,
    LKS_PLDM_GET_METADATA = 0x519,
    LKS_PLDM_ACTIVATE_FIRMWARE = 0x51a,
    LKS_PLDM_GET_STATUS = 0x51b,
    LKS_PLDM_CANCEL_UPDATE_COMPONENT = 0x51c,
    LKS_PLDM_CANCEL_UPDATE = 0x51d,
    LKS_PLDM_ACTIVATE_PENDING_SET = 0x51e,
    LKS_PLDM_ACTIVATE_PENDING_IMAGE = 0x51f,
    LKS_PLDM_REQUEST_DOWNSTREAM_UPDATE = 0x520,
    LKS_PLDM_GET_OPAQUE_DATA = 0x521,
    LKS_PLDM_UPDATE_SECURITY_REVISION = 0x522,
};

/* Completion codes and their words, the only list of them. */
/* clang-format off */
#define LKS_PLDM_CODES(X)                                                                          \
    X(SUCCESS,                  0x00, "success")                                                   \
    X(ERROR,                    0x01, "an error that it does not name")                            \
    X(INVALID_DATA,             0x02, "a field has a value that is not allowed")                   \
    X(INVALID_LENGTH,           0x03, "the message has the wrong length")                          \
    X(NOT_READY,                0x04, "not ready")                                                 \
    X(UNSUPPORTED,              0x05, "the command is not supported")                              \
    X(INVALID_TYPE,             0x20, "the PLDM type is not supported")                            \
    X(NOT_IN_UPDATE_MODE,       0x80, "not in update mode")                                        \
    X(ALREADY_IN_UPDATE_MODE,   0x81, "already in update mode")                                    \
    X(DATA_OUT_OF_RANGE,        0x82, "the data asked for lies outside the image")                 \
    X(INVALID_TRANSFER_LENGTH,  0x83, "the length asked for is not allowed")                       \
    X(INVALID_STATE,            0x84, "the command does not fit the state of the update")          \
    X(INCOMPLETE_UPDATE,        0x85, "the update is not complete")                                \
    X(BUSY,                     0x86, "busy in the background")                                    \
    X(CANCEL_PENDING,           0x87, "a cancel is on its way")                                    \
    X(NOT_EXPECTED,             0x88, "the command was not expected")                              \
    X(RETRY_DATA,               0x89, "ask for the data again later")                              \
    X(UNABLE_TO_INITIATE,       0x8a, "the update cannot be started")                              \
    X(ACTIVATION_NOT_REQUIRED,  0x8b, "no activation is needed")                                   \
    X(NO_SELF_ACTIVATION,       0x8c, "it cannot activate the image by itself")                    \
    X(NO_DEVICE_METADATA,       0x8d, "there is no device metadata")                               \
    X(RETRY_UPDATE,             0x8e, "ask for the update again later")                            \
    X(NO_PACKAGE_DATA,          0x8f, "there is no package data")                                  \
    X(INVALID_HANDLE,           0x90, "the transfer handle is not known")                          \
    X(INVALID_OPERATION,        0x91, "the transfer operation is not known")                       \
    X(PENDING_NOT_PERMITTED,    0x92, "a pending image may not be activated so")                   \
    X(PACKAGE_DATA_ERROR,       0x93, "the package data is wrong")                                 \
    X(NO_OPAQUE_DATA,           0x94, "there is no opaque data")                                   \
    X(REVISION_NOT_PERMITTED,   0x95, "the security revision may not be changed")                  \
    X(DOWNSTREAM_CHANGED,       0x96, "the list of downstream devices has changed")

enum lks_pldm_code {
#define X(name, value, words) LKS_PLDM_CC_##name = (value),
    LKS_PLDM_CODES(X)
#undef X
};
/* clang-format on */

/* States of a firmware device; why it became idle; what its last operation is doing. */
enum lks_pldm_state {
    LKS_PLDM_IDLE,
    LKS_PLDM_LEARN,
    LKS_PLDM_READY,
    LKS_PLDM_DOWNLOAD,
    LKS_PLDM_VERIFY,
    LKS_PLDM_APPLY,
    LKS_PLDM_ACTIVATE,
    LKS_PLDM_STATES
};
enum lks_pldm_reason {
    LKS_PLDM_BY_START,
    LKS_PLDM_BY_ACTIVATION,
    LKS_PLDM_BY_CANCEL,
    LKS_PLDM_BY_LEARN_TIMEOUT, /* and one for each state that follows, up to APPLY */
    LKS_PLDM_BY_READY_TIMEOUT,
    LKS_PLDM_BY_DOWNLOAD_TIMEOUT,
    LKS_PLDM_BY_VERIFY_TIMEOUT,
    LKS_PLDM_BY_APPLY_TIMEOUT,
};
enum lks_pldm_aux {
    LKS_PLDM_AUX_RUNNING,
    LKS_PLDM_AUX_SUCCESS,
    LKS_PLDM_AUX_FAILED,
    LKS_PLDM_AUX_NONE,
};
#define LKS_PLDM_PROGRESS_UNKNOWN 101

/* Results of TransferComplete, VerifyComplete and ApplyComplete that are used here. */
enum {
    LKS_PLDM_RESULT_OK = 0,
    LKS_PLDM_TRANSFER_CORRUPT = 1, /* libpldm says 2, which is also "of another version" */
    LKS_PLDM_TRANSFER_ABORTED = 3,
    LKS_PLDM_VERIFY_FAILED = 1,
    LKS_PLDM_VERIFY_VERSION = 2,
    LKS_PLDM_VERIFY_SECURITY = 3,
    LKS_PLDM_VERIFY_INCOMPLETE = 4,
    LKS_PLDM_APPLY_OK_OTHER_METHOD = 1,
    LKS_PLDM_APPLY_MEMORY = 2,
    LKS_PLDM_RESULT_TIMEOUT = 9,
    LKS_PLDM_RESULT_GENERIC = 0xa,
};

/* What a device says about a component that is offered to it. */
enum {
    LKS_PLDM_OFFER_OK = 0,
    LKS_PLDM_OFFER_STAMP_SAME = 1,
    LKS_PLDM_OFFER_STAMP_LOWER = 2,
    LKS_PLDM_OFFER_STAMP_INVALID = 3,
    LKS_PLDM_OFFER_CONFLICT = 4,
    LKS_PLDM_OFFER_PREREQUISITES = 5,
    LKS_PLDM_OFFER_NOT_SUPPORTED = 6,
    LKS_PLDM_OFFER_SECURITY = 7,
    LKS_PLDM_OFFER_INCOMPLETE_SET = 8,
    LKS_PLDM_OFFER_NO_MATCH = 9,
    LKS_PLDM_OFFER_VERSION_SAME = 0xa,
    LKS_PLDM_OFFER_VERSION_LOWER = 0xb,
};

/* How an image comes to run, as bits. */
enum {
    LKS_PLDM_ACTIVATES_BY_ITSELF = 1 << 0,
    LKS_PLDM_ACTIVATES_SELF_CONTAINED = 1 << 1,
    LKS_PLDM_ACTIVATES_BY_MEDIUM_RESET = 1 << 2,
    LKS_PLDM_ACTIVATES_BY_REBOOT = 1 << 3,
    LKS_PLDM_ACTIVATES_BY_DC_CYCLE = 1 << 4,
    LKS_PLDM_ACTIVATES_BY_AC_CYCLE = 1 << 5,
    LKS_PLDM_ACTIVATES_PENDING_IMAGE = 1 << 6,
    LKS_PLDM_ACTIVATES_PENDING_SET = 1 << 7,
};

/* Which part of something long this is, and which is asked for. */
enum {
    LKS_PLDM_PART_START = 1,
    LKS_PLDM_PART_MIDDLE = 2,
    LKS_PLDM_PART_END = 4,
    LKS_PLDM_PART_ALL = 5,
};
enum { LKS_PLDM_NEXT_PART = 0, LKS_PLDM_FIRST_PART = 1 };
enum { LKS_PLDM_OPTION_FORCE = 1 << 0 };

/* What a device has of a component: an entry of GetFirmwareParameters. A downstream device's entry
 * has its number in `id` and neither class nor index. */
struct lks_pldm_entry {
    uint16_t class;
    uint16_t id;
    uint8_t index;
    uint32_t active_stamp;
    struct lks_pldm_string active;
    char active_date[LKS_PLDM_DATE_SIZE];
    uint32_t pending_stamp;
    struct lks_pldm_string pending;
    char pending_date[LKS_PLDM_DATE_SIZE];
    uint16_t methods;
    uint32_t capabilities;
};

struct lks_pldm_downstream { /* an entry of QueryDownstreamIdentifiers */
    uint16_t index;
    uint8_t count;
    struct lks_str tlvs;
};

/* Fields of all messages. Commands that have the same fields share a struct. */
union lks_pldm_body {
    uint8_t tid; /* SetTID; answer of GetTID */
    struct {
        uint32_t handle;
        uint8_t operation;
        uint8_t type;
    } version_ask;  /* GetPLDMVersion */
    uint64_t types; /* answer of GetPLDMTypes: bit n is type n */
    struct {
        uint8_t type;
        uint32_t version;
    } commands_ask;       /* GetPLDMCommands */
    uint64_t commands[4]; /* answer: bit n is command n */
    struct {
        uint8_t count;
        struct lks_str tlvs;
    } identifiers; /* answer of QueryDeviceIdentifiers */
    struct {
        uint32_t capabilities;
        uint16_t count;
        struct lks_pldm_string active;
        struct lks_pldm_string pending;
        struct lks_str components; /* entries, see lks_pldm_message_entry_next() */
    } parameters;                  /* answer of GetFirmwareParameters */
    struct {
        uint8_t supported;
        uint16_t count;
        uint16_t max;
        uint32_t capabilities;
    } downstream_devices; /* answer of QueryDownstreamDevices */
    struct {
        uint32_t handle;
        uint8_t operation;
    } part_ask; /* everything that is asked for in parts */
    struct {
        uint32_t next;
        uint8_t flag;
        struct lks_str data;
    } part; /* its answers: version, package data, metadata, opaque data */
    struct {
        uint32_t next;
        uint8_t flag;
        uint16_t count;
        struct lks_str devices; /* see lks_pldm_message_downstream_next() */
    } downstream_identifiers;
    struct {
        uint32_t next;
        uint8_t flag;
        uint32_t capabilities;
        uint16_t count;
        struct lks_str devices; /* see lks_pldm_message_downstream_params_next() */
    } downstream_parameters;
    struct {
        uint32_t max_transfer;
        uint16_t components;
        uint8_t max_outstanding;
        uint16_t package_data;
        struct lks_pldm_string version; /* of the image set */
    } request_update;
    struct {
        uint32_t max_transfer;
        uint8_t max_outstanding;
        uint16_t package_data;
    } downstream_update;
    struct {
        uint16_t metadata; /* its length */
        uint8_t gets_package_data;
        uint16_t max_part; /* 0: not said; RequestUpdate's answer may leave it out */
    } update_answer;
    struct {
        uint8_t flag;
        uint16_t class;
        uint16_t id;
        uint8_t index;
        uint32_t stamp;
        struct lks_pldm_string version;
    } pass_component;
    struct {
        uint8_t response;
        uint8_t code;
    } pass_answer;
    struct {
        uint16_t class;
        uint16_t id;
        uint8_t index;
        uint32_t stamp;
        uint32_t size;
        uint32_t options;
        struct lks_pldm_string version;
    } update_component;
    struct {
        uint8_t response;
        uint8_t code;
        uint32_t options;
        uint16_t seconds; /* before the device asks for data */
    } update_component_answer;
    struct {
        uint32_t offset;
        uint32_t length;
    } data_ask;
    struct lks_str data; /* answer of RequestFirmwareData */
    struct {
        uint8_t result;
        uint16_t methods; /* ApplyComplete alone */
    } complete;
    uint8_t self_contained; /* ActivateFirmware */
    uint16_t seconds;       /* answers of the three that activate */
    struct {
        uint8_t state, previous, aux, aux_status, progress, reason;
        uint32_t options;
    } status;
    struct {
        uint8_t broken;
        uint64_t components; /* bit n: component n does not work any more */
    } cancel_answer;
    struct {
        uint16_t class;
        uint16_t id;
        uint8_t index;
    } component; /* ActivatePendingComponentImage, UpdateSecurityRevision */
};

struct lks_pldm_message {
    uint16_t command; /* enum lks_pldm_command, or what a peer made up */
    bool answer;
    bool datagram; /* a request that wants no answer */
    uint8_t instance;
    uint8_t code; /* of an answer; where it is not SUCCESS there are no fields */
    union lks_pldm_body body;
};

/* The head alone; false when there is none, or of a header version that is not known. */
bool lks_pldm_message_head(struct lks_str bytes, struct lks_pldm_message *out);

/* All of it. Anything but SUCCESS is what a responder answers: INVALID_TYPE, UNSUPPORTED,
 * INVALID_LENGTH, or ERROR where there is not even a head to answer to. */
enum lks_pldm_code lks_pldm_message_decode(struct lks_str bytes, struct lks_pldm_message *out);

/* Append the bytes of a message whose command is one of the list; a text that is too long fails
 * `out` with LIMIT. */
void lks_pldm_message_encode(const struct lks_pldm_message *m, struct lks_buf *out);

/* Number a question, and write it in the place of what `out` held; false where it is too long. */
bool lks_pldm_message_ask(struct lks_pldm_message *m, uint8_t *next_instance, struct lks_buf *out);

/* The most that may be transferred at a time, where it is not 0; `done`: what can be done with it.
 */
enum lks_code lks_pldm_message_transfer_check(uint32_t most, const char *done,
                                              struct lks_err *err) LKS_MUST_CHECK;

/* Take the first entry off a list; false at its end, and where what follows is no whole entry. */
bool lks_pldm_message_tlv_next(struct lks_str *rest, struct lks_pldm_descriptor *out);
bool lks_pldm_message_entry_next(struct lks_str *rest, struct lks_pldm_entry *out);
bool lks_pldm_message_downstream_next(struct lks_str *rest, struct lks_pldm_downstream *out);
bool lks_pldm_message_downstream_params_next(struct lks_str *rest, struct lks_pldm_entry *out);

void lks_pldm_message_tlv_add(struct lks_buf *out, const struct lks_pldm_descriptor *tlv);
void lks_pldm_message_entry_add(struct lks_buf *out, const struct lks_pldm_entry *entry);
void lks_pldm_message_downstream_add(struct lks_buf *out, const struct lks_pldm_downstream *device);
void lks_pldm_message_downstream_params_add(struct lks_buf *out,
                                            const struct lks_pldm_entry *device);

/* Something long is asked for in parts: fill in the fields of the answer that brings the part asked
 * for, of `max` bytes at the most. Handles are offsets. SUCCESS, INVALID_HANDLE or
 * INVALID_OPERATION. */
uint8_t lks_pldm_message_part(struct lks_str all, uint32_t max, const union lks_pldm_body *ask,
                              union lks_pldm_body *out);

/* Words for people: "RequestUpdate", "already in update mode", "download". Never NULL. */
const char *lks_pldm_message_command_text(uint16_t command);
const char *lks_pldm_message_code_text(uint8_t code);
const char *lks_pldm_message_state_text(uint8_t state);
const char *lks_pldm_message_offer_text(uint8_t code);
/* `command` is the one of TransferComplete, VerifyComplete and ApplyComplete that gave it. */
const char *lks_pldm_message_result_text(uint16_t command, uint8_t result);

#endif
