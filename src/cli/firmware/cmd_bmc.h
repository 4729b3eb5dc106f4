/*
 * What the commands of `bmc` share: the endpoint a command talks to, what is remembered of it, and
 * carrying a conversation out.
 *
 * The state folder has, by the endpoint's HOST_PORT:
 *
 *     endpoints/NAME.json    the certificate it is known by
 *     updates/NAME.json      an update that has not ended: what is asked, and its last checkpoint
 *     updates/NAME.unknown   one with an unknown outcome; a person removes it
 *     updates/NAME.prior     what was installed last, and what it took the place of
 *     updates/NAME.lock      held while an update runs
 *
 * Each is written whole or not at all. None of them holds a secret.
 */
#ifndef LKS_CLI_CMD_BMC_H
#define LKS_CLI_CMD_BMC_H

#include "cli/shared/cli.h"
#include "cli/shared/path.h"
#include "drivers/http/curl.h"
#include "drivers/http/talks.h"
#include "port/bmc.h"

#define LKS_BMC_STATE_MAX     ((size_t)128 << 10) /* bytes of one of these files */
#define LKS_BMC_ADDRESSES_MAX 8
#define LKS_BMC_ADDRESS_SIZE  80 /* "https://[", an IPv6 address, "]:" and a port */

#define LKS_BMC_STATE_OPTION                                                                       \
    {                                                                                              \
        "--state DIR",                                                                             \
            "folder for certificates and checkpoints; else lockstep in $XDG_STATE_HOME, or in "    \
            "~/.local/state"                                                                       \
    }

/* The options of commands that log in at an endpoint. */
#define LKS_BMC_OPTIONS                                                                            \
    {"--credentials REF", "file:/PATH, exec:/PROGRAM or env:NAME, which holds USER:PASSWORD"},     \
        {"--ca FILE", "CA certificate of the endpoint"},                                           \
        {"--fingerprint FP", "sha256:HEX of its public key, instead of the one stored by "         \
                             "'bmc trust'"},                                                       \
        {"--driver NAME", "redfish or nvos (redfish)"}, LKS_BMC_STATE_OPTION

/* An endpoint. The secret is wiped by lks_bmc_at_fini(). */
struct lks_bmc_at {
    char url[LKS_CURL_URL_MAX + 1];
    char name[LKS_CURL_URL_MAX + 1]; /* of its files */
    char state[PATH_MAX];
    bool elsewhere; /* --state names it */
    /* What its name stands for, written as a URL: one endpoint may go by several names. */
    char addresses[LKS_BMC_ADDRESSES_MAX][LKS_BMC_ADDRESS_SIZE];
    size_t address_count;
    struct lks_curl_peer peer; /* points to what is here and to the options */
    char fingerprint[LKS_DIGEST_SIZE];
    const struct lks_bmc_driver *driver;
    struct lks_bmc_secret secret;
};

/* Its address; nothing else. */
enum lks_code lks_bmc_at_url(const struct lks_args *args, struct lks_bmc_at *out,
                             struct lks_err *err) LKS_MUST_CHECK;

/* Find out its addresses. Where that fails there are none, and nothing will reach it. */
void lks_bmc_at_resolve(struct lks_bmc_at *at);

/* The name of the files of an endpoint at such an address. */
void lks_bmc_at_name(const char *url, char out[LKS_CURL_URL_MAX + 1]);

/* Where its files are: --state, or the default. */
enum lks_code lks_bmc_at_state(const struct lks_cli *cli, const struct lks_args *args,
                               struct lks_bmc_at *at, struct lks_err *err) LKS_MUST_CHECK;

/* With how it is known, who we are, and the driver. The state folder is only looked for where no
 * option says how it is known. DENIED where nothing says how to know it. */
enum lks_code lks_bmc_at_open(struct lks_cli *cli, const struct lks_args *args,
                              struct lks_bmc_at *out, struct lks_err *err) LKS_MUST_CHECK;
void lks_bmc_at_fini(struct lks_bmc_at *at);

/* The path of a file of the endpoint: FOLDER/NAME.SUFFIX in the state folder. */
enum lks_code lks_bmc_at_path(const struct lks_bmc_at *at, const char *folder, const char *suffix,
                              char out[PATH_MAX], struct lks_err *err) LKS_MUST_CHECK;

/* The document in such a file. NOT_FOUND, with nothing in `docs`, where there is none. */
enum lks_code lks_bmc_at_read(const struct lks_bmc_at *at, const char *folder, const char *suffix,
                              struct lks_docs *docs, struct lks_err *err) LKS_MUST_CHECK;

/* Write one, and make the folder it is in. */
enum lks_code lks_bmc_at_write(const struct lks_bmc_at *at, const char *folder, const char *suffix,
                               const struct lks_buf *json, struct lks_err *err) LKS_MUST_CHECK;

/* How a conversation that a command waits for ended; lks_bmc_at_ended() is told of it with this as
 * its `ctx`. */
struct lks_bmc_talk {
    bool ended;
    struct lks_err why;
};
void lks_bmc_at_ended(void *ctx, struct lks_dialog *d, const struct lks_err *why);

/* Read the inventory within `seconds`. */
enum lks_code lks_bmc_at_inventory(struct lks_bmc_at *at, const struct lks_facts *facts,
                                   uint64_t seconds, struct lks_bmc_inventory *out,
                                   struct lks_err *err) LKS_MUST_CHECK;

#endif
