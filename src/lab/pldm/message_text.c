#include "lab/pldm/message.h"

#include "pldm/words.h"

static const struct lks_pldm_word commands[] = {
    {LKS_PLDM_SET_TID, "SetTID"},
    {LKS_PLDM_GET_TID, "GetTID"},
    {LKS_PLDM_GET_VERSION, "GetPLDMVersion"},
    {LKS_PLDM_GET_TYPES, "GetPLDMTypes"},
    {LKS_PLDM_GET_COMMANDS, "GetPLDMCommands"},
    {LKS_PLDM_QUERY_DEVICE_IDENTIFIERS, "QueryDeviceIdentifiers"},
    {LKS_PLDM_GET_FIRMWARE_PARAMETERS, "GetFirmwareParameters"},
    {LKS_PLDM_QUERY_DOWNSTREAM_DEVICES, "QueryDownstreamDevices"},
    {LKS_PLDM_QUERY_DOWNSTREAM_IDENTIFIERS, "QueryDownstreamIdentifiers"},
    {LKS_PLDM_GET_DOWNSTREAM_PARAMETERS, "GetDownstreamFirmwareParameters"},
    {LKS_PLDM_REQUEST_UPDATE, "RequestUpdate"},
    {LKS_PLDM_GET_PACKAGE_DATA, "GetPackageData"},
    {LKS_PLDM_GET_DEVICE_METADATA, "GetDeviceMetaData"},
    {LKS_PLDM_PASS_COMPONENT_TABLE, "PassComponentTable"},
    {LKS_PLDM_UPDATE_COMPONENT, "UpdateComponent"},
    {LKS_PLDM_REQUEST_FIRMWARE_DATA, "RequestFirmwareData"},
    {LKS_PLDM_TRANSFER_COMPLETE, "TransferComplete"},
    {LKS_PLDM_VERIFY_COMPLETE, "VerifyComplete"},
    {LKS_PLDM_APPLY_COMPLETE, "ApplyComplete"},
    {LKS_PLDM_GET_METADATA, "GetMetaData"},
    {LKS_PLDM_ACTIVATE_FIRMWARE, "ActivateFirmware"},
    {LKS_PLDM_GET_STATUS, "GetStatus"},
    {LKS_PLDM_CANCEL_UPDATE_COMPONENT, "CancelUpdateComponent"},
    {LKS_PLDM_CANCEL_UPDATE, "CancelUpdate"},
    {LKS_PLDM_ACTIVATE_PENDING_SET, "ActivatePendingComponentImageSet"},
    {LKS_PLDM_ACTIVATE_PENDING_IMAGE, "ActivatePendingComponentImage"},
    {LKS_PLDM_REQUEST_DOWNSTREAM_UPDATE, "RequestDownstreamDeviceUpdate"},
    {LKS_PLDM_GET_OPAQUE_DATA, "GetComponentOpaqueData"},
    {LKS_PLDM_UPDATE_SECURITY_REVISION, "UpdateSecurityRevision"},
};

static const struct lks_pldm_word codes[] = {
#define X(name, value, words) {value, words},
    LKS_PLDM_CODES(X)
#undef X
};

static const struct lks_pldm_word offers[] = {
    {LKS_PLDM_OFFER_OK, "it can be updated"},
    {LKS_PLDM_OFFER_STAMP_SAME, "it has this very image (the comparison stamp is the same)"},
    {LKS_PLDM_OFFER_STAMP_LOWER, "it has a newer image (the comparison stamp is lower)"},
    {LKS_PLDM_OFFER_STAMP_INVALID, "the comparison stamp or the version is not valid"},
    {LKS_PLDM_OFFER_CONFLICT, "it conflicts with another component"},
    {LKS_PLDM_OFFER_PREREQUISITES, "something that it needs first is not there"},
    {LKS_PLDM_OFFER_NOT_SUPPORTED, "the device has no such component"},
    {LKS_PLDM_OFFER_SECURITY, "security rules do not allow it"},
    {LKS_PLDM_OFFER_INCOMPLETE_SET, "the set of images is not complete"},
    {LKS_PLDM_OFFER_NO_MATCH, "it does not match what was announced, or cannot be updated now"},
    {LKS_PLDM_OFFER_VERSION_SAME, "it has this very version"},
    {LKS_PLDM_OFFER_VERSION_LOWER, "it has a newer version"},
};

static const struct lks_pldm_word transfers[] = {
    {LKS_PLDM_RESULT_OK, "transferred"},
    {LKS_PLDM_TRANSFER_CORRUPT, "the image is corrupt"},
    {2, "the image is corrupt or of another version"},
    {LKS_PLDM_TRANSFER_ABORTED, "the device gave the transfer up"},
    {LKS_PLDM_RESULT_TIMEOUT, "it took too long"},
    {LKS_PLDM_RESULT_GENERIC, "an error that the device does not name"},
    {0x0b, "the device is in a low-power state"},
    {0x0c, "the device must be reset first"},
    {0x0d, "the image cannot be stored"},
    {0x0e, "the opaque data is wrong"},
    {0x0f, "a downstream device failed"},
    {0x10, "the security revision does not allow it"},
};

static const struct lks_pldm_word verdicts[] = {
    {LKS_PLDM_RESULT_OK, "verified"},
    {LKS_PLDM_VERIFY_FAILED, "the image is not valid"},
    {LKS_PLDM_VERIFY_VERSION, "the image has another version than announced"},
    {LKS_PLDM_VERIFY_SECURITY, "security checks of the image failed"},
    {LKS_PLDM_VERIFY_INCOMPLETE, "the image is not complete"},
    {LKS_PLDM_RESULT_TIMEOUT, "it took too long"},
    {LKS_PLDM_RESULT_GENERIC, "an error that the device does not name"},
    {0x10, "the security revision does not allow it"},
};

static const struct lks_pldm_word applied[] = {
    {LKS_PLDM_RESULT_OK, "applied"},
    {LKS_PLDM_APPLY_OK_OTHER_METHOD, "applied, to be activated in another way than announced"},
    {LKS_PLDM_APPLY_MEMORY, "the image could not be written"},
    {LKS_PLDM_RESULT_TIMEOUT, "it took too long"},
    {LKS_PLDM_RESULT_GENERIC, "an error that the device does not name"},
    {0x10, "the security revision does not allow it"},
};

const char *lks_pldm_message_command_text(uint16_t command)
{
    return lks_words_text(commands, LKS_COUNT(commands), command, "a command that is not known");
}

const char *lks_pldm_message_code_text(uint8_t code)
{
    return lks_words_text(codes, LKS_COUNT(codes), code, "a code that is not known");
}

const char *lks_pldm_message_offer_text(uint8_t code)
{
    return lks_words_text(offers, LKS_COUNT(offers), code,
                          code >= 0xd0 && code <= 0xef ? "a reason of its vendor's own"
                                                       : "a reason that is not known");
}

const char *lks_pldm_message_state_text(uint8_t state)
{
    static const char *const words[] = {
        "idle",     "learning components", "ready for a component", "downloading", "verifying",
        "applying", "activating"};
    _Static_assert(LKS_COUNT(words) == LKS_PLDM_STATES, "a word for each state");
    return state < LKS_PLDM_STATES ? words[state] : "in a state that is not known";
}

const char *lks_pldm_message_result_text(uint16_t command, uint8_t result)
{
    const char *otherwise = result >= 0x70 && result <= 0xcf ? "an error of its vendor's own"
                                                             : "a result that is not known";
    if (command == LKS_PLDM_TRANSFER_COMPLETE)
        return lks_words_text(transfers, LKS_COUNT(transfers), result, otherwise);
    if (command == LKS_PLDM_VERIFY_COMPLETE)
        return lks_words_text(verdicts, LKS_COUNT(verdicts), result, otherwise);
    return lks_words_text(applied, LKS_COUNT(applied), result, otherwise);
}
