/* What an answer says: its document, its error, an entry of an inventory. */
#include "core/firmware/firmware_names.h"
#include "drivers/bmc/bmc_version.h"
#include "drivers/bmc/redfish.h"

#include <stdio.h>

const struct lks_doc *lks_redfish_read(const struct lks_http_response *answer,
                                       struct lks_docs *docs)
{
    struct lks_err err = {0};
    if (lks_docs_init(docs, "answer", &err) != LKS_OK || answer->status < 200 ||
        answer->status > 299 || lks_bmc_json_parse(answer->body, docs, &err) != LKS_OK)
        return NULL;
    const struct lks_doc *doc = docs->first;
    bool is_error =
        lks_doc_member(doc, "error") != NULL && lks_doc_member(doc, "@odata.id") == NULL;
    return doc->kind == LKS_DOC_MAP && !is_error ? doc : NULL;
}

const struct lks_http_response *lks_redfish_heard(const struct lks_http_response *answer)
{
    bool good = answer != NULL && answer->status >= 200 && answer->status <= 299;
    return good && lks_str_starts(lks_str_trim(answer->body), "<") ? NULL : answer;
}

bool lks_redfish_readable(const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    return answer->body.len == 0 || (lks_docs_init(&docs, "answer", &err) == LKS_OK &&
                                     lks_bmc_json_parse(answer->body, &docs, &err) == LKS_OK);
}

/* Errors ------------------------------------------------------------------------------------ */

struct lks_str lks_redfish_message_key(const struct lks_doc *message)
{
    return lks_str_last(lks_bmc_json_text(message, "MessageId"), '.');
}

struct lks_str lks_redfish_clause(struct lks_str text)
{
    text = lks_str_trim(text);
    if (lks_str_ends(text, ".") && !lks_str_ends(text, ".."))
        text.len--;
    return text;
}

/* Add a message to the line, blanks for what does not print. */
static void add_line(struct lks_buf *line, struct lks_str text)
{
    text = lks_redfish_clause(text);
    if (text.len == 0 || line->len + text.len + 2 > line->max)
        return;
    if (line->len > 0)
        lks_buf_add(line, LKS_STR("; "));
    for (size_t i = 0; i < text.len; i++)
        lks_buf_addc(line, (unsigned char)text.ptr[i] < ' ' ? ' ' : text.ptr[i]);
}

static void add_messages(struct lks_buf *line, const struct lks_doc *list)
{
    if (list == NULL || list->kind != LKS_DOC_LIST)
        return;
    for (const struct lks_doc *one = list->first; one != NULL; one = one->next) {
        struct lks_str text = lks_bmc_json_text(one, "Message");
        add_line(line, text.len > 0 ? text : lks_redfish_message_key(one));
    }
}

/* Messages stand in the error, beside a property they are about, or at the top. */
static void add_error(struct lks_buf *line, const struct lks_doc *doc)
{
    static const char info[] = "@Message.ExtendedInfo";
    const struct lks_doc *error = lks_doc_member(doc, "error");
    add_messages(line, lks_doc_member(error, info));
    if (line->len == 0)
        add_line(line, lks_bmc_json_text(error, "message"));
    if (doc->kind != LKS_DOC_MAP)
        return;
    for (const struct lks_doc *one = doc->first; one != NULL; one = one->next) {
        if (lks_str_ends(one->key, info))
            add_messages(line, one);
    }
    if (line->len == 0) /* switches and proxies have other words for it */
        add_line(line, lks_bmc_json_text(doc, "message"));
    if (line->len == 0)
        add_line(line, lks_bmc_json_text(doc, "detail"));
}

void lks_redfish_error(const struct lks_http_response *answer, char out[LKS_REDFISH_TEXT_SIZE])
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(LKS_REDFISH_TEXT_SIZE - 32);
    struct lks_err err = {0};
    if (answer == NULL) {
        snprintf(out, LKS_REDFISH_TEXT_SIZE, "no answer");
        return;
    }
    if (lks_docs_init(&docs, "answer", &err) == LKS_OK &&
        lks_bmc_json_parse(answer->body, &docs, &err) == LKS_OK)
        add_error(&line, docs.first);
    if (line.len > 0)
        snprintf(out, LKS_REDFISH_TEXT_SIZE, "status %d: %s", answer->status, line.ptr);
    else
        snprintf(out, LKS_REDFISH_TEXT_SIZE, "status %d", answer->status);
}

/* Entries ----------------------------------------------------------------------------------- */

static enum lks_bmc_told told(const struct lks_doc *doc, const char *name)
{
    const struct lks_doc *at = lks_doc_member(doc, name);
    if (at == NULL || at->kind != LKS_DOC_BOOL)
        return LKS_TOLD_NOT;
    return at->truth ? LKS_TOLD_YES : LKS_TOLD_NO;
}

/* What is neither true nor false may protect it. */
static enum lks_bmc_told told_protected(const struct lks_doc *doc)
{
    const struct lks_doc *at = lks_doc_member(doc, "WriteProtected");
    bool odd = at != NULL && at->kind != LKS_DOC_BOOL && at->kind != LKS_DOC_NULL;
    return odd ? LKS_TOLD_YES : told(doc, "WriteProtected");
}

static void read_related(const struct lks_doc *doc, struct lks_str out[LKS_FIRMWARE_RELATED_MAX])
{
    const struct lks_doc *list = lks_doc_member(doc, "RelatedItem");
    const struct lks_doc *one = list != NULL && list->kind == LKS_DOC_LIST ? list->first : NULL;
    for (size_t i = 0; i < LKS_FIRMWARE_RELATED_MAX; i++) {
        out[i] = one != NULL ? lks_bmc_json_path(one, "@odata.id") : (struct lks_str){"", 0};
        one = one != NULL ? one->next : NULL;
    }
}

static enum lks_bmc_bank bank_of(const struct lks_doc *doc, struct lks_str word)
{
    enum lks_bmc_bank bank = LKS_BANK_ACTIVE;
    for (int i = 0; i < LKS_BANK_COUNT; i++) {
        if (lks_str_is(word, lks_bank_words[i]))
            bank = (enum lks_bmc_bank)i;
    }
    struct lks_str state = lks_bmc_json_text(doc, "Status/State");
    bool spare = lks_str_is(state, "StandbySpare") || lks_str_is(state, "StandbyOffline");
    bool staged = told(doc, "Staged") == LKS_TOLD_YES;
    if (bank != LKS_BANK_ACTIVE || told(doc, "Active") == LKS_TOLD_YES)
        return bank;
    if (staged)
        return LKS_BANK_STAGED;
    return spare || told(doc, "Active") == LKS_TOLD_NO ? LKS_BANK_BACKUP : LKS_BANK_ACTIVE;
}

static struct lks_str id_of(const struct lks_doc *doc, struct lks_str uri)
{
    struct lks_str id = lks_bmc_json_text(doc, "Id");
    return id.len > 0 ? id : lks_str_last(uri, '/');
}

void lks_redfish_entry(const struct lks_facts *facts, struct lks_str vendor,
                       const struct lks_doc *doc, struct lks_redfish_entry *out)
{
    struct lks_str uri = lks_bmc_json_path(doc, "@odata.id");
    struct lks_bmc_item item = {
        .id = id_of(doc, uri),
        .uri = uri,
        .name = lks_bmc_json_text(doc, "Name"),
        .version = lks_bmc_version_said(lks_bmc_json_text(doc, "Version")),
        .software_id = lks_bmc_json_text(doc, "SoftwareId"),
        .manufacturer = lks_bmc_json_text(doc, "Manufacturer"),
        .released = lks_bmc_json_text(doc, "ReleaseDate"),
        .lowest = lks_bmc_version_said(lks_bmc_json_text(doc, "LowestSupportedVersion")),
        .health = lks_bmc_json_text(doc, "Status/Health"),
        .updateable = told(doc, "Updateable"),
        .write_protected = told_protected(doc),
    };
    struct lks_firmware_hint hint = {.vendor = vendor,
                                     .id = item.id,
                                     .name = item.name,
                                     .software_id = item.software_id,
                                     .description = lks_bmc_json_text(doc, "Description"),
                                     .manufacturer = item.manufacturer};
    read_related(doc, hint.related);
    struct lks_firmware_name name = lks_firmware_name(facts, &hint);
    item.related = hint.related[0];
    item.class = name.class;
    item.bank = bank_of(doc, name.bank);
    const struct lks_doc *actions = lks_doc_member(doc, "Actions");
    *out = (struct lks_redfish_entry){
        .item = item,
        .of = name.of,
        .index = name.index,
        .key = name.key.len > 0 ? name.key : item.id,
        .staged = lks_bmc_version_said(lks_bmc_json_text(doc, "Staged/Version")),
        .activate = lks_bmc_json_path(actions, "#SoftwareInventory.Activate/target"),
        .cancel = lks_bmc_json_path(actions, "#SoftwareInventory.Cancel/target"),
    };
}

void lks_redfish_entry_of(const struct lks_redfish_entry *e, char out[LKS_REDFISH_OF_SIZE])
{
    if (e->of.len > 0 && e->index >= 0)
        snprintf(out, LKS_REDFISH_OF_SIZE, "%" LKS_STR_FMT " %d", LKS_STR_ARG(e->of), e->index);
    else if (e->of.len > 0)
        snprintf(out, LKS_REDFISH_OF_SIZE, "%" LKS_STR_FMT, LKS_STR_ARG(e->of));
    else if (!lks_str_eq(e->key, e->item.id))
        snprintf(out, LKS_REDFISH_OF_SIZE, "%" LKS_STR_FMT, LKS_STR_ARG(e->key));
    else
        out[0] = '\0';
}

struct lks_str lks_redfish_uri_key(const struct lks_facts *facts, struct lks_str vendor,
                                   struct lks_str uri)
{
    struct lks_str id = lks_str_last(uri, '/');
    struct lks_firmware_name name =
        lks_firmware_name(facts, &(struct lks_firmware_hint){.vendor = vendor, .id = id});
    return name.key.len > 0 ? name.key : id;
}
