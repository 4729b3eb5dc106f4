/* bmc inventory, trust. */
#include "cli/firmware/cmd_bmc.h"

#include "base/term/confirm.h"
#include "cli/shared/commands.h"
#include "cli/shared/input.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"
#include "cli/shared/render.h"

enum { TIMEOUT_S = 120, TIMEOUT_MAX = 86400, LOOK_MS = 15000 };

/* Inventory --------------------------------------------------------------------------------- */

static const struct lks_listing_column entry_columns[] = {
    {"class", "class", 0, "[{.=unknown}yellow]"},
    LKS_PLAIN_LEFT("device", "of"),
    {"bank", "bank", 0, "[{.=staged}yellow]"},
    LKS_PLAIN_WRAP("version", "version"),
    LKS_PLAIN_LEFT("updateable", "updateable"),
    LKS_PLAIN_LEFT("write-protected", "write_protected"),
    LKS_PLAIN_LEFT("lowest", "lowest"),
    {"entry", "id", LKS_COLUMN_WRAP, "dim"},
};
static const struct lks_listing_part entries = {"components", LKS_PART_COLUMNS(entry_columns), NULL,
                                                true};

static enum lks_code inventory_text(struct lks_cli *cli, const struct lks_args *args,
                                    const struct lks_doc *inventory, struct lks_err *err)
{
    const struct lks_doc *list = lks_doc_member(inventory, "components");
    size_t unknown = 0;
    (void)args;
    for (const struct lks_doc *i = list != NULL ? list->first : NULL; i != NULL; i = i->next)
        unknown += lks_str_is(lks_doc_text(i, "class"), "unknown");
    lks_render_print(cli->out,
                     "{url}[, {vendor}][, {product}][, {model}][, serial {serial}]"
                     "[, power {power}]\n\n",
                     inventory);
    if (lks_listing_part(cli, &entries, inventory, err) != LKS_OK)
        return err->code;
    lks_render_print(cli->out, "\n{components#} entries, ", inventory);
    fprintf(cli->out, "%zu of unknown class, ", unknown);
    lks_render_print(cli->out, "{missing#} that cannot be read\n", inventory);
    lks_render_each(cli->out, "notes", "note: {.}\n", inventory, NULL);
    return LKS_OK;
}

static enum lks_code print_inventory(struct lks_cli *cli, const struct lks_args *args,
                                     const struct lks_bmc_at *at, const struct lks_bmc_inventory *i,
                                     struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    struct lks_json_writer *w = lks_output_begin(&o);
    lks_json_cstr(w, "url", at->url);
    lks_bmc_inventory_json(i, w);
    return lks_output_show(cli, args, &o, inventory_text, err);
}

enum lks_code lks_cmd_bmc_inventory(struct lks_cli *cli, const struct lks_args *args,
                                    struct lks_err *err)
{
    LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
    LKS_CLEANUP(lks_bmc_at_fini) struct lks_bmc_at at = {0};
    LKS_CLEANUP(lks_bmc_inventory_fini) struct lks_bmc_inventory inventory = {0};
    uint64_t seconds;
    lks_bmc_inventory_init(&inventory);
    if (lks_listing_number(args, "--timeout", TIMEOUT_MAX, TIMEOUT_S, &seconds, err) != LKS_OK ||
        lks_bmc_at_open(cli, args, &at, err) != LKS_OK ||
        lks_input_facts(cli->data_dir, &facts, err) != LKS_OK ||
        lks_bmc_at_inventory(&at, &facts, seconds, &inventory, err) != LKS_OK)
        return err->code;
    return print_inventory(cli, args, &at, &inventory, err);
}

/* Trust ------------------------------------------------------------------------------------- */

static void time_member(struct lks_json_writer *w, const char *key, int64_t seconds)
{
    char text[LKS_TIME_TEXT_SIZE];
    lks_json_cstr(w, key, lks_time_text(seconds > 0 ? (lks_ms)seconds * 1000 : 0, text));
}

static void certificate_members(struct lks_json_writer *w, const struct lks_bmc_at *at,
                                const struct lks_curl_certificate *c)
{
    lks_json_cstr(w, "url", at->url);
    lks_json_cstr(w, "fingerprint", c->fingerprint);
    lks_json_cstr(w, "certificate", c->certificate);
    lks_json_some(w, "subject", lks_str_from(c->subject));
    lks_json_some(w, "issuer", lks_str_from(c->issuer));
    time_member(w, "not_before", c->not_before);
    time_member(w, "not_after", c->not_after);
}

static void print_certificate(struct lks_cli *cli, const struct lks_bmc_at *at,
                              const struct lks_curl_certificate *c)
{
    char from[LKS_DAY_TEXT_SIZE], to[LKS_DAY_TEXT_SIZE];
    bool expired = c->not_after < cli->now;
    fprintf(
        cli->out,
        "%s shows\n  fingerprint  %s (of its public key)\n  certificate  %s\n"
        "  subject      %s\n  issuer       %s%s\n  valid        %s to %s%s\n",
        at->url, c->fingerprint, c->certificate, c->subject, c->issuer,
        c->self_signed ? " (itself)" : "", lks_time_day_text(lks_time_day_of(c->not_before), from),
        lks_time_day_text(lks_time_day_of(c->not_after), to), expired ? ", and has expired" : "");
}

static enum lks_code keep(struct lks_cli *cli, const struct lks_bmc_at *at,
                          const struct lks_curl_certificate *c, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = {0};
    struct lks_json_writer w = {.out = &json};
    lks_buf_init(&json, LKS_BMC_STATE_MAX);
    lks_json_begin(&w, NULL, '{');
    certificate_members(&w, at, c);
    time_member(&w, "recorded", cli->now);
    lks_json_end(&w, '}');
    lks_buf_addc(&json, '\n');
    return lks_bmc_at_write(at, "endpoints", "json", &json, err);
}

/* May what is shown be kept? REFUSED, where it is another key than before, unless that very key was
 * accepted: a yes to whatever is there is not enough then. */
static enum lks_code decide(struct lks_cli *cli, const struct lks_args *args,
                            const struct lks_bmc_at *at, const struct lks_curl_certificate *c,
                            const struct lks_doc *kept, struct lks_err *err)
{
    struct lks_str accepted = lks_args_str(args, "--accept");
    struct lks_str before = lks_doc_text(kept, "fingerprint");
    struct lks_str recorded = lks_doc_text(kept, "recorded");
    if (accepted.len > 0 && !lks_str_is(accepted, c->fingerprint))
        return lks_fail(err, LKS_E_REFUSED, "%s shows %s, which is not what was accepted", at->url,
                        c->fingerprint);
    if (accepted.len > 0)
        return LKS_OK;
    if (before.len > 0)
        return lks_fail(err, LKS_E_REFUSED,
                        "%s shows another key than the one stored on %.10s. A third party may "
                        "intercept the connection. If the endpoint was replaced or reset, "
                        "compare the fingerprint at its console and give it with --accept %s",
                        at->url, recorded.len >= 10 ? recorded.ptr : "an unknown day",
                        c->fingerprint);
    if (lks_args_has(args, "--yes"))
        return LKS_OK;
    return lks_confirm(cli->err, "Is this its certificate, and may it be kept?",
                       "compare the fingerprint with what the endpoint's console says, then "
                       "give it with --accept FP, or --yes to take what is there",
                       err);
}

static enum lks_code trust_json(struct lks_cli *cli, const struct lks_bmc_at *at,
                                const struct lks_curl_certificate *c, bool recorded,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    struct lks_json_writer *w = lks_output_begin(&o);
    certificate_members(w, at, c);
    lks_json_bool(w, "self_signed", c->self_signed);
    lks_json_bool(w, "recorded", recorded);
    return lks_output_end(cli, &o, err);
}

static enum lks_code trust(struct lks_cli *cli, const struct lks_args *args,
                           const struct lks_bmc_at *at, const struct lks_doc *kept,
                           struct lks_err *err)
{
    struct lks_curl_certificate c = {0};
    bool json = lks_args_has(args, "--json");
    bool asked = lks_args_has(args, "--yes") || lks_args_has(args, "--accept");
    if (lks_curl_certificate(at->url, LOOK_MS, &c, err) != LKS_OK)
        return err->code;
    if (!json)
        print_certificate(cli, at, &c);
    if (lks_str_is(lks_doc_text(kept, "fingerprint"), c.fingerprint) &&
        !lks_args_has(args, "--accept")) {
        if (!json)
            fprintf(cli->out, "The key is the stored one.\n");
        return json ? trust_json(cli, at, &c, true, err) : LKS_OK;
    }
    if (json && !asked && kept == NULL) /* a program looks, and decides nothing */
        return trust_json(cli, at, &c, false, err);
    if (decide(cli, args, at, &c, kept, err) != LKS_OK || keep(cli, at, &c, err) != LKS_OK)
        return err->code;
    if (json)
        return trust_json(cli, at, &c, true, err);
    fprintf(cli->out, "The endpoint is identified by this key from now on.\n");
    return LKS_OK;
}

enum lks_code lks_cmd_bmc_trust(struct lks_cli *cli, const struct lks_args *args,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_bmc_at at;
    struct lks_str accepted = lks_args_str(args, "--accept");
    if (lks_bmc_at_url(args, &at, err) != LKS_OK || lks_bmc_at_state(cli, args, &at, err) != LKS_OK)
        return err->code;
    if (lks_args_has(args, "--accept") && !lks_digest_valid(accepted))
        return lks_fail(err, LKS_E_USAGE, "--accept: it is 'sha256:' and 64 hexadecimal digits");
    enum lks_code code = lks_bmc_at_read(&at, "endpoints", "json", &docs, err);
    if (code != LKS_OK && code != LKS_E_NOT_FOUND)
        return code;
    return trust(cli, args, &at, code == LKS_OK ? docs.first : NULL, err);
}
