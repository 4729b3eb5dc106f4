/* Any first line as a signature and any bytes behind it as a message: what was not signed is not
 * taken, what was is, and what is taken as a vote has all that a vote needs. */
#include "codec/format/digest.h"
#include "codec/format/json.h"
#include "server/form/forms.h"
#include "trust/webhook.h"

#include <stdint.h>
#include <string.h>

#define NOW ((lks_ms)1794700800000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_vote(struct lks_str body)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    if (lks_docs_init(&docs, "body", &err) != LKS_OK ||
        lks_json_parse(body, &docs, &err) != LKS_OK ||
        lks_schema_check(&docs, docs.first, &lks_ask_ticket, &err) != LKS_OK)
        return;
    struct lks_str decision = lks_doc_text(docs.first, "decision");
    const struct lks_doc *nodes = lks_doc_member(docs.first, "nodes");
    LKS_ASSERT(lks_str_is(decision, "approve") || lks_str_is(decision, "reject"));
    LKS_ASSERT(lks_digest_valid(lks_doc_text(docs.first, "plan")));
    LKS_ASSERT(nodes != NULL && nodes->number >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct lks_str secret = LKS_STR_C("0123456789abcdef-secret");
    struct lks_str text = {size > 0 ? (const char *)data : "", size}, header, body;
    char made[LKS_WEBHOOK_SIZE];
    struct lks_err err = {0};
    lks_ms at = 7;
    (void)lks_str_cut(text, '\n', &header, &body);
    if (lks_webhook_check(secret, header, body, NOW, &at, &err) == LKS_OK) {
        LKS_ASSERT(lks_webhook_sign(secret, at, body, made, &err) == LKS_OK);
        LKS_ASSERT(lks_str_is(lks_str_trim(header), made));
    } else {
        LKS_ASSERT(at == 7 && err.msg[0] != '\0');
    }
    LKS_ASSERT(lks_webhook_sign(secret, NOW, body, made, &err) == LKS_OK);
    LKS_ASSERT(lks_webhook_check(secret, lks_str_from(made), body, NOW, &at, &err) == LKS_OK);
    LKS_ASSERT(at == NOW);
    LKS_ASSERT(lks_webhook_check(secret, lks_str_from(made), text, NOW, &at, &err) != LKS_OK ||
               text.len == body.len);
    read_vote(body);
    return 0;
}
