#include "lab/bmcsim/parts.h"

#include <stdio.h>

static const struct lks_bmcsim_registry_row registries[LKS_BMCSIM_REGISTRIES] = {
    [LKS_REG_BASE] = {"Base", "1.18"},
    [LKS_REG_UPDATE] = {"Update", "1.2"},
    [LKS_REG_TASK] = {"TaskEvent", "1.0"},
    [LKS_REG_OEM] = {"OemUpdate", "1.0"},
};

#define OK       "OK"
#define WARNING  "Warning"
#define CRITICAL "Critical"

/* Keys and arguments are those of the standard registries; the sentences are ours. */
#define ROW(name, reg, sev, n, k, t, r)                                                            \
    [LKS_MSG_##name] = {.registry = LKS_REG_##reg,                                                 \
                        .key = (k),                                                                \
                        .text = (t),                                                               \
                        .severity = (sev),                                                         \
                        .resolution = (r),                                                         \
                        .args = (n)}
const struct lks_bmcsim_message_row lks_bmcsim_messages[LKS_MSG_COUNT] = {
    ROW(SUCCESS, BASE, OK, 0, "Success", "The request was carried out.", "None."),
    ROW(GENERAL_ERROR, BASE, CRITICAL, 0, "GeneralError",
        "Something went wrong; see the extended information.", "See the extended information."),
    ROW(CREATED, BASE, OK, 0, "Created", "The resource was created.", "None."),
    ROW(MALFORMED_JSON, BASE, CRITICAL, 0, "MalformedJSON",
        "The body of the request is not well-formed JSON.", "Correct the body and send it again."),
    ROW(PROPERTY_UNKNOWN, BASE, WARNING, 1, "PropertyUnknown", "The resource has no property %1.",
        "Leave the property out and send the request again."),
    ROW(PROPERTY_MISSING, BASE, WARNING, 1, "PropertyMissing",
        "The property %1 is needed and was not sent.",
        "Add the property and send the request again."),
    ROW(PROPERTY_VALUE, BASE, WARNING, 2, "PropertyValueNotInList",
        "The value %1 of property %2 is not one of those allowed.", "Choose an allowed value."),
    ROW(PROPERTY_TYPE, BASE, WARNING, 2, "PropertyValueTypeError",
        "The value %1 of property %2 is of another type than the property.", "Correct the value."),
    ROW(PARAMETER_MISSING, BASE, CRITICAL, 2, "ActionParameterMissing",
        "The action %1 needs the parameter %2.", "Add the parameter."),
    ROW(PARAMETER_VALUE, BASE, WARNING, 2, "ActionParameterValueNotInList",
        "The value %1 of parameter %2 is not one of those allowed.", "Choose an allowed value."),
    ROW(PARAMETER_UNKNOWN, BASE, WARNING, 2, "ActionParameterUnknown",
        "The action %1 has no parameter %2.", "Leave the parameter out."),
    ROW(NOT_FOUND, BASE, CRITICAL, 2, "ResourceNotFound",
        "There is no resource of type %1 named %2.", "Ask for one that exists."),
    ROW(NOT_ALLOWED, BASE, CRITICAL, 0, "OperationNotAllowed",
        "The resource does not take this method.", "See the Allow header."),
    ROW(MEDIA_TYPE, BASE, CRITICAL, 1, "UnsupportedMediaType",
        "The content type %1 is not taken here.", "Send another content type."),
    ROW(NO_SESSION, BASE, CRITICAL, 0, "NoValidSession", "There is no valid session.",
        "Log in first."),
    ROW(NO_PRIVILEGE, BASE, CRITICAL, 0, "InsufficientPrivilege", "The account may not do this.",
        "Use another account."),
    ROW(SESSION_LIMIT, BASE, CRITICAL, 0, "SessionLimitExceeded",
        "There are as many sessions as there may be.", "Close other sessions first."),
    ROW(PRECONDITION_FAILED, BASE, CRITICAL, 0, "PreconditionFailed",
        "The ETag is not that of the resource now.", "Read the resource again."),
    ROW(PRECONDITION_REQUIRED, BASE, CRITICAL, 0, "PreconditionRequired",
        "A request like this needs If-Match.", "Send If-Match."),
    ROW(HEADER_INVALID, BASE, CRITICAL, 1, "HeaderInvalid", "The header %1 is invalid.",
        "Correct the header and send the request again."),
    ROW(QUERY_UNSUPPORTED, BASE, WARNING, 0, "QueryNotSupported",
        "The service does not support the query.", "Leave the query out."),
    ROW(TOO_LARGE, BASE, CRITICAL, 0, "PayloadTooLarge",
        "The payload is larger than the service takes.", "Send a smaller one."),
    ROW(UNAVAILABLE, BASE, CRITICAL, 1, "ServiceTemporarilyUnavailable",
        "The service is not available now; try again in %1 seconds.", "Wait and try again."),
    ROW(INTERNAL, BASE, CRITICAL, 0, "InternalError", "The service failed.",
        "Try again; if it stays, reset the service."),
    ROW(RESET_REQUIRED, BASE, WARNING, 2, "ResetRequired", "To finish, reset %1 with type %2.",
        "Reset it."),
    ROW(IN_USE, BASE, WARNING, 0, "ResourceInUse", "The resource is busy.", "Try again later."),
    ROW(INVALID_OBJECT, BASE, CRITICAL, 1, "InvalidObject", "The object at %1 is invalid.",
        "Correct it."),
    ROW(NO_RESOURCES, BASE, CRITICAL, 1, "ResourceExhaustion", "The service lacks %1.",
        "Wait until other requests are done."),
    ROW(TARGETS_CONFLICT, BASE, WARNING, 2, "PropertyValueConflict",
        "%1 conflicts with %2: they are redundant peers.",
        "Update one peer, wait until it is back, then the other."),
    ROW(TARGET_DETERMINED, UPDATE, OK, 2, "TargetDetermined", "Device %1 will be updated with %2.",
        "None."),
    ROW(NO_TARGETS, UPDATE, WARNING, 1, "NoTargetsDetermined", "No device fits image %1.",
        "Check what the image is for."),
    ROW(IN_PROGRESS, UPDATE, WARNING, 0, "UpdateInProgress", "An update runs already.",
        "Wait until it ended."),
    ROW(TRANSFERRING, UPDATE, OK, 2, "TransferringToComponent", "Image %1 is transferred to %2.",
        "None."),
    ROW(VERIFYING, UPDATE, OK, 2, "VerifyingAtComponent", "Image %1 is verified at %2.", "None."),
    ROW(APPLYING, UPDATE, OK, 2, "ApplyingOnComponent", "Image %1 is applied on %2.", "None."),
    ROW(AWAIT_UPDATE, UPDATE, OK, 2, "AwaitToUpdate", "%1 waits to be updated with %2.",
        "Start the update."),
    ROW(AWAIT_ACTIVATE, UPDATE, OK, 2, "AwaitToActivate", "Image %1 waits on %2 to be activated.",
        "Reset the device in the way it needs."),
    ROW(UPDATE_SUCCESSFUL, UPDATE, OK, 2, "UpdateSuccessful", "%1 was updated with %2.", "None."),
    ROW(SKIPPED_SAME, UPDATE, OK, 2, "UpdateSkippedSameVersion",
        "%1 was left out: it has version %2.", "None."),
    ROW(NOT_APPLICABLE, UPDATE, WARNING, 2, "UpdateNotApplicable", "Image %1 is not for %2.",
        "Use the image of the device."),
    ROW(TRANSFER_FAILED, UPDATE, CRITICAL, 2, "TransferFailed",
        "Image %1 could not be transferred to %2.", "Try again."),
    ROW(VERIFICATION_FAILED, UPDATE, CRITICAL, 2, "VerificationFailed",
        "Image %1 failed its verification at %2.", "Use an image that is whole and signed."),
    ROW(APPLY_FAILED, UPDATE, CRITICAL, 2, "ApplyFailed", "Image %1 could not be applied on %2.",
        "Try again."),
    ROW(ACTIVATE_FAILED, UPDATE, CRITICAL, 2, "ActivateFailed",
        "Image %1 could not be activated on %2.", "Try again."),
    ROW(TASK_STARTED, TASK, OK, 1, "TaskStarted", "Task %1 started.", "None."),
    ROW(TASK_COMPLETED, TASK, OK, 1, "TaskCompletedOK", "Task %1 ended well.", "None."),
    ROW(TASK_ABORTED, TASK, CRITICAL, 1, "TaskAborted", "Task %1 was given up.",
        "See its messages."),
    ROW(STAMP_LOWER, OEM, CRITICAL, 2, "ComponentUpdateFailed",
        "Component comparison stamp of %1 is lower than that of %2.",
        "Ask for ForceUpdate if it is meant."),
    ROW(OEM_BUSY, OEM, WARNING, 0, "OemFirmwareAlreadyInUpdateMode",
        "The firmware is being updated already.", "Wait, or restart the BMC."),
    ROW(OEM_JOB_DONE, OEM, OK, 0, "PR19", "Job completed successfully.", "None."),
    ROW(OEM_JOB_FAILED, OEM, CRITICAL, 0, "JCP052", "The job could not be completed.",
        "Inspect the job; clear the queue."),
    ROW(OEM_RESET_REQUIRED, OEM, WARNING, 0, "SystemResetRequired",
        "The host must be reset to finish.", "Reset the host."),
    ROW(OEM_BAD_IMAGE, OEM, CRITICAL, 0, "InvalidFirmwareImage",
        "The image is not one for this machine, or is damaged.", "Use another image."),
};

/* `text` with %1 and %2 replaced. */
static void fill(struct lks_buf *out, const char *text, const char *const args[3])
{
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '%' && p[1] >= '1' && p[1] <= '3') {
            const char *arg = args[p[1] - '1'];
            lks_buf_add(out, lks_str_from(arg != NULL ? arg : ""));
            p++;
        } else {
            lks_buf_addc(out, *p);
        }
    }
}

const struct lks_bmcsim_registry_row *
lks_bmcsim_message_registry(const struct lks_bmcsim_kind *kind, enum lks_bmcsim_registry registry)
{
    return registry != LKS_REG_BASE && kind->messages != NULL ? kind->messages
                                                              : &registries[registry];
}

/* `severity`: MessageSeverity; empty: there is none. */
static void write_message(struct lks_json_writer *w, const struct lks_bmcsim_kind *kind,
                          enum lks_bmcsim_message message, const char *const args[3],
                          const char *severity)
{
    const struct lks_bmcsim_message_row *row = &lks_bmcsim_messages[message];
    const struct lks_bmcsim_registry_row *registry =
        lks_bmcsim_message_registry(kind, row->registry);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(1024);
    fill(&text, row->text, args);
    lks_json_write(w,
                   "'@odata.type': '#Message.v1_1_1.Message', 'MessageId': '%s.%s.%s', "
                   "'Message': '%.*s', 'MessageArgs': [",
                   registry->prefix, registry->version, row->key, LKS_STR_ARG(lks_buf_view(&text)));
    for (unsigned i = 0; i < row->args; i++)
        lks_json_cstr(w, NULL, args[i] != NULL ? args[i] : "");
    lks_json_write(w, "], 'MessageSeverity'?: '%s', 'Severity': '%s', 'Resolution': '%s'", severity,
                   row->severity, row->resolution);
}

void lks_bmcsim_message_write(struct lks_json_writer *w, const struct lks_bmcsim_kind *kind,
                              enum lks_bmcsim_message message, const char *const args[3])
{
    write_message(w, kind, message, args, lks_bmcsim_messages[message].severity);
}

void lks_bmcsim_message_write_old(struct lks_json_writer *w, const struct lks_bmcsim_kind *kind,
                                  enum lks_bmcsim_message message, const char *const args[3])
{
    write_message(w, kind, message, args, "");
}

/* ---- The registries as resources ---- */

/* Registry `i` of a personality; NULL: there are fewer. */
static const struct lks_bmcsim_registry_row *registry_at(const struct lks_bmcsim_kind *kind,
                                                         size_t i)
{
    size_t count = kind->messages != NULL ? LKS_REG_BASE + 2 : LKS_BMCSIM_REGISTRIES;
    return i < count ? lks_bmcsim_message_registry(kind, (enum lks_bmcsim_registry)i) : NULL;
}

static const struct lks_bmcsim_registry_row *registry_of(const struct lks_bmcsim_call *c)
{
    const struct lks_bmcsim_registry_row *row;
    for (size_t i = 0; (row = registry_at(c->b->kind, i)) != NULL; i++)
        if (lks_str_is(c->arg[0], row->prefix))
            break;
    return row;
}

bool lks_bmcsim_message_get_registries(struct lks_bmcsim_call *c)
{
    const struct lks_bmcsim_registry_row *row;
    size_t count = 0;
    lks_bmcsim_reply_collection(c, "MessageRegistryFile", "Registry files");
    for (; (row = registry_at(c->b->kind, count)) != NULL; count++)
        lks_bmcsim_reply_member(c, "/redfish/v1/Registries/%s", row->prefix);
    lks_bmcsim_reply_collection_end(c, count);
    return true;
}

bool lks_bmcsim_message_get_registry_file(struct lks_bmcsim_call *c)
{
    const struct lks_bmcsim_registry_row *row = registry_of(c);
    if (row == NULL)
        return false;
    lks_bmcsim_reply_head(c, "MessageRegistryFile.v1_1_3.MessageRegistryFile", row->prefix,
                          "Message registry file");
    lks_json_write(&c->w,
                   "'Languages': ['en'], 'Registry': '%s.%s', 'Location': [{'Language': 'en', "
                   "'Uri': '/redfish/v1/Registries/%s/%s'}], 'Location@odata.count': 1",
                   row->prefix, row->version, row->prefix, row->prefix);
    return true;
}

static void registry_message(struct lks_json_writer *w, const struct lks_bmcsim_message_row *m)
{
    lks_json_write(w,
                   "'%s': {'Description': '%s', 'Message': '%s', 'Severity': '%s', "
                   "'MessageSeverity': '%s', 'NumberOfArgs': %u, 'ParamTypes': [",
                   m->key, m->text, m->text, m->severity, m->severity, m->args);
    for (unsigned i = 0; i < m->args; i++)
        lks_json_cstr(w, NULL, "string");
    lks_json_write(w, "], 'Resolution': '%s'}", m->resolution);
}

bool lks_bmcsim_message_get_registry(struct lks_bmcsim_call *c)
{
    const struct lks_bmcsim_registry_row *row = registry_of(c);
    if (row == NULL || !lks_str_eq(c->arg[0], c->arg[1]))
        return false;
    bool own = row == c->b->kind->messages || row == &registries[LKS_REG_OEM];
    char id[64];
    (void)snprintf(id, sizeof(id), "%s.%s.0", row->prefix, row->version);
    lks_bmcsim_reply_head(c, "MessageRegistry.v1_4_0.MessageRegistry", id, "Message registry");
    lks_json_write(&c->w,
                   "'Language': 'en', 'RegistryPrefix': '%s', 'RegistryVersion': '%s.0', "
                   "'OwningEntity': '%s', 'Messages': {",
                   row->prefix, row->version, own ? "Simulated" : "DMTF");
    for (size_t m = 0; m < LKS_MSG_COUNT; m++)
        if (lks_bmcsim_message_registry(c->b->kind, lks_bmcsim_messages[m].registry) == row)
            registry_message(&c->w, &lks_bmcsim_messages[m]);
    lks_json_end(&c->w, '}');
    return true;
}
