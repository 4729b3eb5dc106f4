/* Commands of logins, roles and tokens: their rows and options, for table.c alone. */
#ifndef LKS_CLI_TABLE_ACCESS_H
#define LKS_CLI_TABLE_ACCESS_H

#include "cli/shared/commands.h"

extern const struct lks_option lks_login_options[], lks_login_with_options[],
    lks_access_ls_options[], lks_access_grant_options[], lks_access_revoke_options[],
    lks_access_token_options[], lks_access_can_options[], lks_config_set_options[];

/* clang-format off */
#define LKS_ACCESS_COMMANDS                                                                        \
    {LKS_ADMINISTER, "login", "", 0, 0, lks_login_with_options,                                    \
     "Log in with the site's OpenID provider, a token or a certificate",                           \
     "Prints an address and a code to enter there, waits for the confirmation, and writes a token "\
     "to --token-file, else to the file of the context, else to NAME.token beside the contexts. "  \
     "Roles come from your groups (oidc.roles) and end with the login, after oidc.session_hours "  \
     "(12). With --with-token, or --certificate and --key, no provider is asked: lockstepd "       \
     "verifies the credential, and the context has it from then on, in a file for you alone.",     \
     "{identity, roles?: [], expires?, token_file?, certificate_file?}", lks_cmd_login},           \
    {LKS_ADMINISTER, "logout", "", 0, 0, lks_login_options,                                        \
     "End the login, and remove its token or certificate",                                         \
     "NAME.token or NAME.pem beside the contexts is removed. Other files stay; the context does "  \
     "not use them any more. A login ends at the controller as well; votes cast "                  \
     "with it stay valid. An API token and a certificate stay valid until their end: 'access "     \
     "revoke' revokes them.",                                                                      \
     "{seq?, removed?, kept?}", lks_cmd_logout},                                                   \
    {LKS_ADMINISTER, "access grant", "IDENTITY ROLE", 2, 2, lks_access_grant_options,              \
     "Grant a role to an identity: viewer, operator, approver or admin",                           \
     "Without --site and --pool the role holds for the whole fleet. viewer reads; operator "       \
     "also runs changes, holds and commands nodes, and freezes; approver reads, approves, "        \
     "waives, revokes bundles and unfreezes; admin does what an operator does, and manages the "   \
     "fleet, keys and access, but does not approve. IDENTITY is the name of an API token, "        \
     "user:NAME for a certificate, or unix:UID for the socket; logins get their roles from "       \
     "oidc.roles.",                                                                                \
     "{seq}", lks_cmd_access_grant},                                                               \
    {LKS_ADMINISTER, "access revoke", "IDENTITY [ROLE]", 1, 2, lks_access_revoke_options,          \
     "Revoke a role, an API token or a certificate",                                               \
     "Give IDENTITY and ROLE, or --token or --certificate. A role is revoked for exactly the "     \
     "scope that is given: without --site and --pool only the binding for the whole fleet, not "   \
     "those for sites and pools ('access ls' lists them). Credentials of the identity stay "       \
     "valid, without the role; approvals that need the role no longer count. A revoked token "     \
     "or certificate is refused from the next request on, also on open connections.",              \
     "{seq}", lks_cmd_access_revoke},                                                              \
    {LKS_ADMINISTER, "access token", "TOKEN-ID IDENTITY", 2, 2, lks_access_token_options,          \
     "Create an API token, which is printed once",                                                 \
     "Example: 'access token kim-laptop kim'. The token has the roles of IDENTITY ('access "       \
     "grant'); TOKEN-ID only names it. The controller stores only a hash. Its lifetime is "        \
     "tls.user_hours (24), or --ttl up to tls.user_days (90); its holder renews it with "          \
     "'access renew'. A token that you create does not vote on your own changes, because you "     \
     "could use it yourself; tokens that root creates on the controller's socket are exempt.",     \
     "{token, expires?, unknown?, nearest?}", lks_cmd_access_token},                               \
    {LKS_ADMINISTER, "access renew", "", 0, 0, lks_login_options,                                  \
     "Renew the API token in --token-file",                                                        \
     "The new lifetime starts now and is as long as the original one. The recorded creator stays " \
     "the same.",                                                                                  \
     "{id, expires}", lks_ask_cmd},                                                                \
    {LKS_LOOK, "access ls", "", 0, 0, lks_access_ls_options,                                       \
     "List roles, API tokens and certificates, with creator and expiry", "",                       \
     "{bindings: [{identity, role, site?, pool?}], tokens: [{id, identity, expires?, minter?, "    \
     "minters?: [], issuer?, roles?: []}], certificates: [{serial, identity, fingerprint, "        \
     "expires, minter?, minters?: []}]}",                                                          \
     lks_cmd_access_ls},                                                                           \
    {LKS_LOOK, "access can-i", "VERB [OBJECT] [NAME]", 1, 3, lks_access_can_options,               \
     "Ask whether you, or another person, may do something",                                       \
     "VERB and OBJECT are the words of a command in either order: 'start change' is 'change "      \
     "start'. NAME is what it would act on: nodes, or the ID of a change. Without NAME, --pool "   \
     "and --site, the question is about the whole fleet. lockstepd answers by the rules that it "  \
     "applies to the command itself, with the roles that give the permission, or with the "        \
     "command that would grant it. Only roles count: a freeze or a missing approval is not "       \
     "considered. Exit status 0 if yes, 1 if no.",                                                 \
     "{act, yes, identity, permission, where, root, grants: [{role, site?, pool?, login?, "        \
     "expires?}], role?, command?, refused?, unknown?, nearest?}", lks_cmd_access_can_i},          \
    {LKS_LOOK, "whoami", "", 0, 0, lks_login_options, "Show your identity and your roles",         \
     "The identity is the one that the journal records for your requests. Shows how you were "     \
     "authenticated, until when that holds, your roles, the context and the controller that "      \
     "answered. A role without a site or a pool holds for the whole fleet; 'access grant' "        \
     "explains the roles, and 'access can-i' asks for one act.",                                   \
     "{identity, by, credential?, issuer?, expires?, controller?, bindings: [{role, site?, "       \
     "pool?}], context?, server}", lks_cmd_whoami},                                                \
    {LKS_ADMINISTER, "config ls", "", 0, 0, NULL, "List the contexts: controllers by name",        \
     "Contexts are in $XDG_CONFIG_HOME/lockstep/contexts.yaml, else "                              \
     "~/.config/lockstep/contexts.yaml. --context wins over $LOCKSTEP_CONTEXT, and that over the " \
     "current context. --server and $LOCKSTEP_SERVER name a controller without a context. "        \
     "With a context, $LOCKSTEP_CA and $LOCKSTEP_TOKEN_FILE are not used.",                        \
     "{items: [{name, server, ca?, token_file?, certificate_file?, current}], file}",              \
     lks_cmd_config_ls},                                                                           \
    {LKS_ADMINISTER, "config set", "NAME", 1, 1, lks_config_set_options,                           \
     "Add a context, or change one",                                                               \
     "A setting whose option is not given stays as it is, but a new --server removes the CA and "  \
     "the token file of the old one. The first context becomes the current one. 'login' then "     \
     "writes the token.",                                                                          \
     "{name, server, current, removed_ca?, removed_token_file?, removed_certificate_file?, file}", \
     lks_cmd_config_set},                                                                          \
    {LKS_ADMINISTER, "config use", "NAME", 1, 1, NULL, "Choose the current context",               \
     "Commands then ask this controller. A command that changes something prints the context "     \
     "first, on standard error. For one command use --context, for one shell $LOCKSTEP_CONTEXT.",  \
     "{name, server, current, file}", lks_cmd_config_use},                                         \
    {LKS_ADMINISTER, "config rm", "NAME", 1, 1, NULL, "Remove a context",                          \
     "Its files, such as the token, stay.", "{name, current?, file}", lks_cmd_config_rm}
/* clang-format on */

#endif
