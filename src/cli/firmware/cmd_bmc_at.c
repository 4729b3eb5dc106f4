/* The endpoint that a command of `bmc` talks to: see cmd_bmc.h. */
#include "base/file.h"
#include "cli/firmware/cmd_bmc.h"
#include "codec/format/json.h"
#include "drivers/http/login.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { TURN_MS = 200, COMMAND_MAX = LKS_CURL_URL_MAX + PATH_MAX + 64 };

#define MAPPED "::ffff:" /* in front of an IPv4 address that is written as IPv6 */

/* Where ------------------------------------------------------------------------------------- */

/* The address without what people leave at its end, in small letters: one endpoint, one name. */
static void settle_url(const char *given, char out[LKS_CURL_URL_MAX + 1])
{
    size_t len = strnlen(given, LKS_CURL_URL_MAX);
    while (len > 0 && given[len - 1] == '/')
        len--;
    for (size_t i = 0; i < len; i++)
        out[i] = given[i] >= 'A' && given[i] <= 'Z' ? (char)(given[i] - 'A' + 'a') : given[i];
    out[len] = '\0';
    if (len > 4 && strcmp(out + len - 4, ":443") == 0)
        out[len - 4] = '\0';
}

/* Colons of an IPv6 address look otherwise than the one before the port: [::1]:2 is not [::1:2]. */
void lks_bmc_at_name(const char *url, char out[LKS_CURL_URL_MAX + 1])
{
    const char *from = url + strlen("https://");
    bool six = false;
    size_t n = 0;
    for (; *from != '\0'; from++) {
        if (*from == '[' || *from == ']')
            six = *from == '[';
        else if (*from == ':')
            out[n++] = six ? '+' : '_';
        else
            out[n++] = *from;
    }
    out[n] = '\0';
}

enum lks_code lks_bmc_at_url(const struct lks_args *args, struct lks_bmc_at *out,
                             struct lks_err *err)
{
    const char *given = args->positional[0];
    *out = (struct lks_bmc_at){0};
    if (strlen(given) > LKS_CURL_URL_MAX)
        return lks_fail(err, LKS_E_USAGE, "an address of more than %d characters",
                        LKS_CURL_URL_MAX);
    settle_url(given, out->url);
    if (lks_curl_url_check(out->url, false, err) != LKS_OK) {
        err->code = LKS_E_USAGE;
        return err->code;
    }
    lks_bmc_at_name(out->url, out->name);
    out->peer.url = out->url;
    return LKS_OK;
}

/* An address as a URL, in the one way that we write it. */
static void add_address(struct lks_bmc_at *at, const struct addrinfo *a, const char *port)
{
    char host[NI_MAXHOST], url[NI_MAXHOST + 32], settled[LKS_CURL_URL_MAX + 1];
    if (getnameinfo(a->ai_addr, a->ai_addrlen, host, sizeof(host), NULL, 0, NI_NUMERICHOST) != 0)
        return;
    bool six = strchr(host, ':') != NULL;
    const char *four = strncmp(host, MAPPED, strlen(MAPPED)) == 0 ? host + strlen(MAPPED) : NULL;
    if (four != NULL && strchr(four, '.') != NULL)
        snprintf(url, sizeof(url), "https://%s:%s", four, port);
    else
        snprintf(url, sizeof(url), six ? "https://[%s]:%s" : "https://%s:%s", host, port);
    settle_url(url, settled);
    for (size_t i = 0; i < at->address_count; i++) {
        if (strcmp(at->addresses[i], settled) == 0)
            return;
    }
    if (at->address_count < LKS_BMC_ADDRESSES_MAX && strlen(settled) < LKS_BMC_ADDRESS_SIZE)
        memcpy(at->addresses[at->address_count++], settled, strlen(settled) + 1);
}

void lks_bmc_at_resolve(struct lks_bmc_at *at)
{
    char host[LKS_CURL_URL_MAX + 1];
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    const char *from = at->url + strlen("https://");
    bool bracket = from[0] == '[';
    size_t len = strcspn(from, bracket ? "]" : ":");
    const char *port = strchr(from + len, ':');
    snprintf(host, sizeof(host), "%.*s", (int)len - bracket, from + bracket);
    at->address_count = 0;
    if (getaddrinfo(host, NULL, &hints, &found) != 0)
        return;
    for (const struct addrinfo *a = found; a != NULL; a = a->ai_next)
        add_address(at, a, port != NULL ? port + 1 : "443");
    freeaddrinfo(found);
}

enum lks_code lks_bmc_at_state(const struct lks_cli *cli, const struct lks_args *args,
                               struct lks_bmc_at *at, struct lks_err *err)
{
    const char *state = lks_args_get(args, "--state");
    at->elsewhere = state != NULL;
    if (state != NULL)
        return lks_path_absolute(at->state, state, err);
    return lks_path_state(cli, "", at->state, err);
}

enum lks_code lks_bmc_at_path(const struct lks_bmc_at *at, const char *folder, const char *suffix,
                              char out[PATH_MAX], struct lks_err *err)
{
    char base[PATH_MAX], name[sizeof(at->name) + 16];
    snprintf(name, sizeof(name), "%s.%s", at->name, suffix);
    if (lks_path_join(base, at->state, folder, err) != LKS_OK)
        return err->code;
    return lks_path_join(out, base, name, err);
}

enum lks_code lks_bmc_at_read(const struct lks_bmc_at *at, const char *folder, const char *suffix,
                              struct lks_docs *docs, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_BMC_STATE_MAX);
    char path[PATH_MAX];
    if (lks_bmc_at_path(at, folder, suffix, path, err) != LKS_OK ||
        lks_file_read_plain(path, &text, err) != LKS_OK)
        return err->code;
    if (lks_docs_init(docs, path, err) != LKS_OK ||
        lks_json_parse(lks_buf_view(&text), docs, err) != LKS_OK)
        return err->code;
    if (docs->first->kind != LKS_DOC_MAP)
        return lks_doc_fail(docs, docs->first, err, "expected an object");
    return LKS_OK;
}

enum lks_code lks_bmc_at_write(const struct lks_bmc_at *at, const char *folder, const char *suffix,
                               const struct lks_buf *json, struct lks_err *err)
{
    char path[PATH_MAX];
    if (lks_buf_check(json, err) != LKS_OK ||
        lks_path_join(path, at->state, folder, err) != LKS_OK ||
        lks_path_make(path, err) != LKS_OK ||
        lks_bmc_at_path(at, folder, suffix, path, err) != LKS_OK)
        return err->code;
    return lks_file_replace(path, lks_buf_view(json), err);
}

/* Who --------------------------------------------------------------------------------------- */

/* A writer of the file would decide which endpoint is trusted. */
static enum lks_code read_kept(const struct lks_bmc_at *at, struct lks_docs *docs,
                               struct lks_err *err)
{
    char folder[PATH_MAX], path[PATH_MAX];
    if (lks_path_join(folder, at->state, "endpoints", err) != LKS_OK ||
        lks_bmc_at_path(at, "endpoints", "json", path, err) != LKS_OK ||
        lks_path_ours(path, err) != LKS_OK || lks_path_ours(folder, err) != LKS_OK)
        return err->code;
    return lks_bmc_at_read(at, "endpoints", "json", docs, err);
}

/* The command that trusts the key of the endpoint, in the same state folder. */
static void trust_command(const struct lks_bmc_at *at, char *out, size_t size)
{
    snprintf(out, size, "lockstep bmc trust %s%s%s", at->url, at->elsewhere ? " --state " : "",
             at->elsewhere ? at->state : "");
}

/* What 'bmc trust' kept, unless an option says it. */
static enum lks_code find_trust(const struct lks_cli *cli, const struct lks_args *args,
                                struct lks_bmc_at *at, struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    at->peer.ca = lks_args_get(args, "--ca");
    at->peer.fingerprint = lks_args_get(args, "--fingerprint");
    if (at->peer.fingerprint != NULL && !lks_digest_valid(lks_str_from(at->peer.fingerprint)))
        return lks_fail(err, LKS_E_USAGE,
                        "--fingerprint: it is 'sha256:' and 64 hexadecimal digits");
    if (at->peer.ca != NULL || at->peer.fingerprint != NULL)
        return LKS_OK;
    if (lks_bmc_at_state(cli, args, at, err) != LKS_OK)
        return err->code;
    enum lks_code code = read_kept(at, &docs, err);
    char command[COMMAND_MAX];
    trust_command(at, command, sizeof(command));
    if (code == LKS_E_NOT_FOUND)
        return lks_fail(err, LKS_E_DENIED,
                        "%s: its key is not trusted yet; '%s' shows its certificate and keeps it, "
                        "or name --ca FILE or --fingerprint FP",
                        at->url, command);
    if (code != LKS_OK)
        return code;
    struct lks_str kept = lks_doc_text(docs.first, "fingerprint");
    if (!lks_digest_valid(kept))
        return lks_doc_fail(&docs, docs.first, err, "has no fingerprint");
    memcpy(at->fingerprint, kept.ptr, kept.len);
    at->peer.fingerprint = at->fingerprint;
    return LKS_OK;
}

/* A password is in memory from here on: it is not left in a file when we crash. */
static void leave_no_core(void)
{
    struct rlimit core;
    if (getrlimit(RLIMIT_CORE, &core) == 0) {
        core.rlim_cur = 0;
        (void)setrlimit(RLIMIT_CORE, &core);
    }
}

enum lks_code lks_bmc_at_open(struct lks_cli *cli, const struct lks_args *args,
                              struct lks_bmc_at *out, struct lks_err *err)
{
    const char *credentials = lks_args_get(args, "--credentials");
    if (lks_bmc_at_url(args, out, err) != LKS_OK || find_trust(cli, args, out, err) != LKS_OK)
        return err->code;
    out->driver = lks_bmc_driver(lks_args_str(args, "--driver"));
    if (out->driver == NULL)
        return lks_fail(err, LKS_E_USAGE, "--driver: it is redfish or nvos");
    if (credentials == NULL)
        return LKS_OK;
    leave_no_core();
    return lks_login_get(credentials, &out->secret, err);
}

void lks_bmc_at_fini(struct lks_bmc_at *at)
{
    lks_login_wipe(&at->secret);
    *at = (struct lks_bmc_at){0};
}

/* Reading ----------------------------------------------------------------------------------- */

void lks_bmc_at_ended(void *ctx, struct lks_dialog *d, const struct lks_err *why)
{
    struct lks_bmc_talk *talk = ctx;
    (void)d;
    talk->ended = true;
    talk->why = *why;
}

static enum lks_code read_over(struct lks_talks *talks, struct lks_bmc_at *at,
                               const struct lks_facts *facts, uint64_t seconds,
                               struct lks_bmc_talk *reading, struct lks_bmc_inventory *out,
                               struct lks_err *err)
{
    struct lks_dialog *d = NULL;
    struct lks_dialog_options options = {
        .peer = at->peer, .ops = at->driver->read, .impatient = true};
    if (lks_talks_add(talks, &options, &d, err) != LKS_OK)
        return err->code;
    at->driver->read_begin(lks_talks_value(d), facts, &at->secret,
                           lks_talks_now(talks) + seconds * LKS_SECOND, out);
    lks_talks_start(talks, d, false);
    while (!reading->ended) {
        if (lks_talks_turn(talks, TURN_MS, err) != LKS_OK)
            return err->code;
    }
    if (reading->why.code == LKS_OK)
        return LKS_OK;
    *err = reading->why;
    return err->code;
}

/* What a person can do about it: the endpoint has another certificate, or wants credentials. */
static enum lks_code explain(const struct lks_bmc_at *at, struct lks_err *err)
{
    struct lks_err why = *err;
    bool other = lks_str_find(lks_str_from(why.msg), LKS_STR("another key")) >= 0;
    bool uncertified = lks_str_find(lks_str_from(why.msg), LKS_STR("not certified by")) >= 0;
    char command[COMMAND_MAX];
    trust_command(at, command, sizeof(command));
    if (why.code == LKS_E_DENIED && (other || uncertified))
        return lks_fail(err, why.code, "%s; nothing was sent. '%s' shows what it is; %s", why.msg,
                        command,
                        other ? "with --accept FINGERPRINT it is trusted from then on"
                              : "give the file of its authority with --ca FILE");
    if (why.code == LKS_E_DENIED && at->secret.user[0] == '\0')
        return lks_fail(err, why.code, "%s; --credentials REF says who we are", why.msg);
    return why.code;
}

enum lks_code lks_bmc_at_inventory(struct lks_bmc_at *at, const struct lks_facts *facts,
                                   uint64_t seconds, struct lks_bmc_inventory *out,
                                   struct lks_err *err)
{
    struct lks_bmc_talk reading = {0};
    struct lks_talks *talks = NULL;
    struct lks_talks_options options = {.ctx = &reading, .ended = lks_bmc_at_ended};
    if (lks_talks_new(&options, &talks, err) != LKS_OK)
        return err->code;
    enum lks_code code = read_over(talks, at, facts, seconds, &reading, out, err);
    lks_talks_free(talks);
    return code == LKS_OK ? LKS_OK : explain(at, err);
}
