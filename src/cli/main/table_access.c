#include "cli/main/table_access.h"

#include "cli/shared/listing.h"
#include "cli/shared/remote.h"

const struct lks_option lks_login_options[] = {LKS_REMOTE_OPTIONS, {0}};
const struct lks_option lks_access_ls_options[] = {LKS_REMOTE_OPTIONS, LKS_LISTING_OPTIONS, {0}};

const struct lks_option lks_login_with_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--with-token FILE", "log in with the API token in FILE; '-' is standard input, which is "
                          "prompted for without echo on a terminal"},
    {"--certificate FILE", "log in with this client certificate (PEM); needs --key"},
    {"--key FILE", "the private key of --certificate, readable for you alone"},
    {0},
};

const struct lks_option lks_access_grant_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--site NAME", "only in this site"},
    {"--pool NAME", "only in this pool"},
    LKS_REMOTE_REASON,
    {0},
};

const struct lks_option lks_access_revoke_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--site NAME", "the binding for this site"},
    {"--pool NAME", "the binding for this pool"},
    {"--token", "the argument is the ID of an API token"},
    {"--certificate", "the argument is the serial number of a person's certificate"},
    LKS_REMOTE_REASON,
    {0},
};

const struct lks_option lks_access_can_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--site NAME", "on all nodes of this site"},
    {"--pool NAME", "on all nodes of this pool"},
    {"--as IDENTITY", "ask for another person, such as user:kim; only admins may"},
    {0},
};

const struct lks_option lks_access_token_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--ttl SPAN",
     "lifetime of the token, such as 30m or 7d (tls.user_hours, 24h); at most tls.user_days (90)"},
    LKS_REMOTE_REASON,
    {0},
};

const struct lks_option lks_config_set_options[] = {
    {"--server ADDRESS", "https://HOST:PORT or unix:/PATH; required for a new context"},
    {"--ca FILE", "CA certificate of the server (ca.crt of 'lockstepd init')"},
    {"--no-ca", "remove the CA certificate from the context"},
    {"--token-file FILE", "file with an API token; 'lockstep login' writes it"},
    {"--no-token-file", "remove the token file from the context; the file stays"},
    {0},
};
