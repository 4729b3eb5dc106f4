#include "server/base/config.h"

#include "base/file.h"
#include "base/near.h"
#include "codec/format/yaml.h"
#include "codec/notation/hostlist.h"
#include "model/record/record.h"
#include "port/measures.h"
#include "server/base/config_parts.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#define YEAR_MS ((uint64_t)365 * 86400 * 1000)

enum { TEXT_MAX = 1024, KEY_MAX = 64, DAY_MS = 86400 * 1000, PORT_MAX = 65535 };

#define RATE_MAX  ((uint64_t)1 << 40)
#define SIZE_MOST ((uint64_t)1 << 50)

static const char *const levels[] = {"debug", "info", "warning", "error", NULL};
static const char *const truths[] = {"no", "yes", NULL};
static const char *const formats[] = {"logfmt", "json", NULL};

#define AT(member) offsetof(struct lks_config, member)

/* clang-format off */
const struct lks_config_key lks_config_keys[] = {
    {"data", LKS_CONFIG_PATH, NULL, 0, 0, NULL, false, AT(data),
     "directory of the journal, certificates and sealed keys"},
    {"people.listen", LKS_CONFIG_ADDRESS, "127.0.0.1:7443", 0, 0, NULL, false, AT(people_listen),
     "address of the API for people and programs"},
    {"agents.listen", LKS_CONFIG_ADDRESS, "127.0.0.1:7444", 0, 0, NULL, false, AT(agents_listen),
     "address agents report to"},
    {"socket", LKS_CONFIG_PATH, "$data/lockstepd.sock", 0, 0, NULL, false, AT(socket),
     "Unix socket of the same API, for this machine"},
    {"names", LKS_CONFIG_HOSTS, "localhost", 0, 0, NULL, false, AT(names),
     "host names and addresses of this machine; agents receive the first"},
    {"seal_key", LKS_CONFIG_SECRET, "file:$data/seal.key", 0, 0, NULL, false, AT(seal_key),
     "where the key comes from that sealed keys and backups are opened with"},
    {"tls.site_ca", LKS_CONFIG_PATH, "", 0, 0, NULL, true, AT(site_ca),
     "CA certificates (PEM) of the site whose node certificates are taken too; empty: none"},
    {"tls.node_days", LKS_CONFIG_NUMBER, "30", 1, 825, NULL, true, AT(node_days),
     "life of an agent's certificate; it is renewed after two thirds"},
    {"tls.user_days", LKS_CONFIG_NUMBER, "90", 1, 825, NULL, true, AT(user_days),
     "longest life of a person's certificate or API token"},
    {"tls.user_hours", LKS_CONFIG_NUMBER, "24", 1, 19800, NULL, true, AT(user_hours),
     "life of a person's certificate or API token for which none is asked for"},
    {"limits.heartbeat_ms", LKS_CONFIG_NUMBER, "10000", 100, 600000, NULL, true, AT(heartbeat_ms),
     "how often an agent reports"},
    {"limits.late_ms", LKS_CONFIG_NUMBER, "30000", 200, DAY_MS, NULL, true, AT(late_ms),
     "a node not heard for so long is late"},
    {"limits.lost_ms", LKS_CONFIG_NUMBER, "120000", 300, DAY_MS, NULL, true, AT(lost_ms),
     "a node not heard for so long is lost"},
    {"limits.mass_floor", LKS_CONFIG_NUMBER, "10", 1, 1000000, NULL, true, AT(mass_floor),
     "so many nodes of a pool may turn for the worse before automatic acts wait ..."},
    {"limits.mass_percent", LKS_CONFIG_NUMBER, "2", 0, 100, NULL, true, AT(mass_percent),
     "... or this share of the pool, whichever is more ..."},
    {"limits.mass_window_ms", LKS_CONFIG_NUMBER, "300000", 1000, DAY_MS, NULL, true,
     AT(mass_window_ms), "... within this time"},
    {"limits.skew_ms", LKS_CONFIG_NUMBER, "5000", 100, DAY_MS, NULL, true, AT(skew_ms),
     "a node's clock may be off by so much"},
    {"limits.call_nodes", LKS_CONFIG_NUMBER, "10", 1, 100000, NULL, true, AT(call_nodes),
     "most nodes in one call outside a change"},
    {"limits.validity_ms", LKS_CONFIG_NUMBER, "60000", 100, DAY_MS, NULL, true, AT(validity_ms),
     "a job that is admitted may start within"},
    {"limits.staleness_ms", LKS_CONFIG_NUMBER, "5000", 100, DAY_MS, NULL, true, AT(staleness_ms),
     "a controller that follows admits no job when what it knows may be older than this"},
    {"limits.outband_age_ms", LKS_CONFIG_NUMBER, "604800000", 60000, YEAR_MS, NULL, true,
     AT(outband_age_ms), "what was read out of band is good for so long"},
    {"limits.proposal_age_ms", LKS_CONFIG_NUMBER, "1209600000", 1000, YEAR_MS, NULL, true,
     AT(proposal_age_ms),
     "a change that is not approved within this time, or not started within it after its "
     "approval, expires"},
    {"store.postgres", LKS_CONFIG_TEXT, "", 0, 0, NULL, false, AT(postgres),
     "connection of a PostgreSQL database that several controllers share; a password belongs in a "
     "passfile; empty: SQLite in the data directory"},
    {"store.require_sync", LKS_CONFIG_WORD, "yes", 0, 0, truths, false, AT(require_sync),
     "lead only while that database is replicated synchronously"},
    {"controller.name", LKS_CONFIG_TEXT, "", 0, 0, NULL, false, AT(controller_name),
     "name of this one of several controllers; empty: the first of `names`"},
    {"controller.url", LKS_CONFIG_TEXT, "", 0, 0, NULL, false, AT(controller_url),
     "where the others reach its API for people; empty: the first of `names` and the port"},
    {"controller.agents", LKS_CONFIG_TEXT, "", 0, 0, NULL, false, AT(controller_agents),
     "URLs of all controllers for agents, separated by blanks; empty: only this controller"},
    {"controller.lease_ms", LKS_CONFIG_NUMBER, "6000", 1000, 600000, NULL, false, AT(lease_ms),
     "a leader that is not heard for so long is replaced; the same on all controllers"},
    {"rate.people_per_s", LKS_CONFIG_NUMBER, "50", 1, 100000, NULL, true, AT(people_per_s),
     "requests a second of one identity, in the long run"},
    {"rate.burst", LKS_CONFIG_NUMBER, "200", 1, 1000000, NULL, true, AT(burst),
     "requests it may make at once after a pause"},
    {"admit.socket", LKS_CONFIG_PATH, "$data/admit.sock", 0, 0, NULL, false, AT(admit_socket),
     "Unix socket of admission alone: one JSON object a line in, one out"},
    {"admit.connections", LKS_CONFIG_NUMBER, "256", 2, 10000, NULL, false, AT(admit_connections),
     "most connections of it, half of them of one user"},
    {"admit.per_s", LKS_CONFIG_NUMBER, "1000", 1, 1000000, NULL, true, AT(admit_per_s),
     "questions a second of one identity, here and at the API"},
    {"admit.log_sample", LKS_CONFIG_NUMBER, "100", 0, 1000000000, NULL, true, AT(decision_sample),
     "one of so many jobs without a reason against them is in the log of admissions; 0: none"},
    {"admit.log_bytes", LKS_CONFIG_NUMBER, "1048576", 4096, 33554432, NULL, false,
     AT(decision_bytes), "most bytes of one file of that log"},
    {"admit.log_files", LKS_CONFIG_NUMBER, "16", 2, 10000, NULL, false, AT(decision_files),
     "most of its files; the oldest goes"},
    {"audit.bytes", LKS_CONFIG_NUMBER, "16777216", 4096, 1073741824, NULL, false, AT(audit_bytes),
     "most bytes of one file of the audit log"},
    {"audit.files", LKS_CONFIG_NUMBER, "8", 2, 10000, NULL, false, AT(audit_files),
     "most of its files; the oldest goes"},
    {"audit.reads", LKS_CONFIG_WORD, "no", 0, 0, truths, true, AT(audit_reads),
     "audit every read; no: those of sensitive routes"},
    {"audit.syslog", LKS_CONFIG_PATH, "", 0, 0, NULL, true, AT(audit_syslog),
     "socket of the machine's syslog that gets audit lines too, such as /dev/log; empty: none"},
    {"sweep.run", LKS_CONFIG_WORD, "yes", 0, 0, truths, true, AT(sweep_run),
     "read management endpoints when they are due; no: others do, by leases"},
    {"sweep.leases", LKS_CONFIG_NUMBER, "1024", 1, 1000000, NULL, true, AT(sweep_leases),
     "management endpoints that are read at a time ..."},
    {"sweep.site_leases", LKS_CONFIG_NUMBER, "128", 1, 1000000, NULL, true, AT(sweep_site_leases),
     "... and of one site"},
    {"bmc.concurrency", LKS_CONFIG_NUMBER, "64", 1, 10000, NULL, false, AT(bmc_concurrency),
     "management endpoints that are asked something at the same time ..."},
    {"bmc.site_concurrency", LKS_CONFIG_NUMBER, "32", 1, 10000, NULL, false,
     AT(bmc_site_concurrency), "... and of one site"},
    {"bmc.timeout_ms", LKS_CONFIG_NUMBER, "300000", 1000, DAY_MS, NULL, true, AT(bmc_timeout_ms),
     "reading one endpoint may take so long"},
    {"bmc.speed", LKS_CONFIG_NUMBER, "1", 1, 1000, NULL, false, AT(bmc_speed),
     "waits between requests are so much shorter: for rehearsals with lockstep-bmcsim --speed; an "
     "update keeps 20 seconds at least"},
    {"bmc.pull", LKS_CONFIG_TEXT, "", 0, 0, NULL, true, AT(bmc_pull),
     "https:// URL under which endpoints can fetch artifacts by digest; empty: images are pushed"},
    {"bmc.pull_ca", LKS_CONFIG_PATH, "", 0, 0, NULL, true, AT(bmc_pull_ca),
     "CA certificates (PEM) of that server: lockstepd reads an image and compares its digest "
     "before it makes an endpoint fetch it"},
    {"metrics.url", LKS_CONFIG_TEXT, "", 0, 0, NULL, true, AT(metrics_url),
     "Prometheus, or what speaks its API, that gates ask for measurements; empty: none"},
    {"metrics.ca", LKS_CONFIG_PATH, "", 0, 0, NULL, true, AT(metrics_ca),
     "CA certificates (PEM) it is known by; http:// is taken on this machine alone"},
    {"metrics.login", LKS_CONFIG_WORD, "none", 0, 0, lks_measure_login_words, true,
     AT(metrics_login), "how lockstepd authenticates to it"},
    {"metrics.credentials", LKS_CONFIG_TEXT, "", 0, 0, NULL, true, AT(metrics_credentials),
     "file:/PATH, exec:/PROGRAM or env:NAME with USER:PASSWORD; of a bearer the password counts"},
    {"metrics.label", LKS_CONFIG_TEXT, "", 0, 0, NULL, true, AT(metrics_label),
     "label that names the node; empty: node, Hostname, hostname, nodename, kubernetes_node, "
     "instance, the first there is"},
    {"metrics.load", LKS_CONFIG_TEXT,
     "15 * sum by (Hostname) (sum_over_time((DCGM_FI_DEV_GPU_UTIL > bool 10)[$window:15s]))", 0, 0,
     NULL, true, AT(metrics_load),
     "query for GPU-seconds under load; empty: load is not asked for"},
    {"metrics.every_ms", LKS_CONFIG_NUMBER, "60000", 100, DAY_MS, NULL, true, AT(metrics_every_ms),
     "how often it is queried while a gate evaluates a wave"},
    {"slurm.bridges", LKS_CONFIG_BRIDGES, "", 0, 0, NULL, true, AT(slurm_bridges),
     "bridges to Slurm (lockstep-slurm-bridge): SITE=https://HOST:PORT or SITE=unix:/PATH; '*' is "
     "every site; two of a site are asked in turn; 'rest+' before an address: slurmrestd is there"},
    {"slurm.ca", LKS_CONFIG_PATH, "", 0, 0, NULL, true, AT(slurm_ca),
     "CA certificates (PEM) that bridges are known by"},
    {"slurm.certificate", LKS_CONFIG_PATH, "", 0, 0, NULL, true, AT(slurm_certificate),
     "certificate (PEM) that lockstepd shows to bridges"},
    {"slurm.key", LKS_CONFIG_PATH, "", 0, 0, NULL, true, AT(slurm_key),
     "private key (PEM) of that certificate"},
    {"slurm.publish", LKS_CONFIG_WORD, "yes", 0, 0, truths, true, AT(slurm_publish),
     "show verdict and stack of each node as features of Slurm; no: remove them"},
    {"slurm.stale_s", LKS_CONFIG_NUMBER, "600", 10, 86400, NULL, true, AT(slurm_stale_s),
     "seconds that job_submit/lockstep uses the last policy for, if lockstepd or the bridge does "
     "not answer"},
    {"slurm.stale_closed", LKS_CONFIG_TEXT, "", 0, 0, NULL, true, AT(slurm_stale_closed),
     "pools, separated by blanks, that refuse jobs after that; '*': all. Other pools take jobs as "
     "they are"},
    {"slurm.rest_user", LKS_CONFIG_TEXT, "slurm", 0, 0, NULL, true, AT(slurm_rest_user),
     "the user whom slurmrestd knows lockstepd as: only drains that this user set are lockstep's"},
    {"slurm.rest_token", LKS_CONFIG_SECRET, "", 0, 0, NULL, true, AT(slurm_rest_token),
     "file:/PATH of that user's JSON web token (scontrol token), read before each conversation; "
     "empty: slurmrestd knows the user by its Unix socket"},
    {"kubernetes.bridges", LKS_CONFIG_BRIDGES, "", 0, 0, NULL, true, AT(kubernetes_bridges),
     "API servers of Kubernetes: SITE=https://HOST:PORT; '*' is every site; two of a site are "
     "asked in turn"},
    {"kubernetes.ca", LKS_CONFIG_PATH, "", 0, 0, NULL, true, AT(kubernetes_ca),
     "CA certificates (PEM) that API servers are known by"},
    {"kubernetes.token_file", LKS_CONFIG_PATH, "", 0, 0, NULL, true, AT(kubernetes_token_file),
     "file of the bearer token that lockstepd shows to API servers, read before each conversation: "
     "tokens of service accounts are renewed"},
    {"kubernetes.certificate", LKS_CONFIG_PATH, "", 0, 0, NULL, true, AT(kubernetes_certificate),
     "certificate (PEM) that lockstepd shows to API servers, in place of a token"},
    {"kubernetes.key", LKS_CONFIG_PATH, "", 0, 0, NULL, true, AT(kubernetes_key),
     "private key (PEM) of that certificate"},
    {"kubernetes.publish", LKS_CONFIG_WORD, "yes", 0, 0, truths, true, AT(kubernetes_publish),
     "show verdict and stack of each node as labels, an annotation and a condition of Kubernetes; "
     "no: remove them"},
    {"webhook.listen", LKS_CONFIG_ADDRESS, "", 0, 0, NULL, false, AT(webhook_listen),
     "address that API servers of Kubernetes send pods to before they create them; empty: none "
     "(docs/kubernetes.md)"},
    {"webhook.client_ca", LKS_CONFIG_PATH, "", 0, 0, NULL, true, AT(webhook_client_ca),
     "CA certificates (PEM) of the certificates that API servers show there"},
    {"webhook.clients", LKS_CONFIG_HOSTS, "kube-apiserver", 0, 0, NULL, true, AT(webhook_clients),
     "names in those certificates; others are refused before their request is read"},
    {"simulated.bridges", LKS_CONFIG_BRIDGES, "", 0, 0, NULL, true, AT(simulated_bridges),
     "bridges, as in slurm.bridges, to the scheduler of lockstep's own tests; no fleet manifest "
     "can name it"},
    {"cadence.every_ms", LKS_CONFIG_NUMBER, "600000", 100, DAY_MS, NULL, true,
     AT(cadence_every_ms), "how often pools are compared with what is released"},
    {"tickets.secret", LKS_CONFIG_SECRET, "", 0, 0, NULL, true, AT(tickets_secret),
     "where the secret comes from that is shared with a ticket system: one line of 16 bytes or "
     "more; empty: no messages from or to a ticket system"},
    {"tickets.people", LKS_CONFIG_PEOPLE, "", 0, 0, NULL, true, AT(tickets_people),
     "whose votes it may pass on, as it calls them and as they are called here: "
     "kim@example.com=user:kim"},
    {"tickets.url", LKS_CONFIG_TEXT, "", 0, 0, NULL, true, AT(tickets_url),
     "URL that receives the state of changes, by POST; http:// only on this machine; empty: none"},
    {"tickets.ca", LKS_CONFIG_PATH, "", 0, 0, NULL, true, AT(tickets_ca),
     "CA certificates (PEM) that it is known by there"},
    {"oidc.issuer", LKS_CONFIG_TEXT, "", 0, 0, NULL, true, AT(oidc_issuer),
     "https:// URL of the OpenID provider that people log in with; empty: none (docs/login.md)"},
    {"oidc.client_id", LKS_CONFIG_TEXT, "lockstep", 0, 0, NULL, true, AT(oidc_client_id),
     "the name under which the provider knows lockstep"},
    {"oidc.client_secret", LKS_CONFIG_SECRET, "", 0, 0, NULL, true, AT(oidc_client_secret),
     "where the secret comes from that the provider gave this client; empty: it has none"},
    {"oidc.ca", LKS_CONFIG_PATH, "/etc/ssl/certs/ca-certificates.crt", 0, 0, NULL, true,
     AT(oidc_ca), "CA certificates (PEM) that the provider is known by"},
    {"oidc.scopes", LKS_CONFIG_TEXT, "openid profile email groups", 0, 0, NULL, true,
     AT(oidc_scopes), "scopes that the provider is asked for, with blanks between"},
    {"oidc.username_claim", LKS_CONFIG_TEXT, "email", 0, 0, NULL, true, AT(oidc_username),
     "claim of the ID token that names the person: kim there is user:kim here"},
    {"oidc.groups_claim", LKS_CONFIG_TEXT, "groups", 0, 0, NULL, true, AT(oidc_groups),
     "claim that lists the person's groups"},
    {"oidc.roles", LKS_CONFIG_ROLES, "", 0, 0, NULL, true, AT(oidc_roles),
     "roles that groups have, in a pool or everywhere: sre=operator, board=approver@train"},
    {"oidc.session_hours", LKS_CONFIG_NUMBER, "12", 1, 168, NULL, true, AT(oidc_session_hours),
     "how long a login is good; it is not renewed"},
    {"http.connections", LKS_CONFIG_NUMBER, "16384", 8, 1000000, NULL, false, AT(connections),
     "most connections of each listener"},
    {"http.per_address", LKS_CONFIG_NUMBER, "0", 0, 1000000, NULL, false, AT(per_address),
     "most of them from one address; 0: no limit"},
    {"http.first_ms", LKS_CONFIG_NUMBER, "10000", 100, 600000, NULL, false, AT(first_ms),
     "handshake and headers of a connection's first request are there within"},
    {"http.request_ms", LKS_CONFIG_NUMBER, "30000", 100, 600000, NULL, false, AT(request_ms),
     "headers and body of each request are there within"},
    {"http.idle_ms", LKS_CONFIG_NUMBER, "120000", 100, DAY_MS, NULL, false, AT(idle_ms),
     "a connection without a request is closed after"},
    {"http.body_max", LKS_CONFIG_NUMBER, "8388608", 65536, 67108864, NULL, false, AT(body_max),
     "most bytes of any request's body; each route has its own limit besides"},
    {"http.bodies_max", LKS_CONFIG_NUMBER, "268435456", 1048576, SIZE_MOST, NULL, true,
     AT(bodies_max),
     "memory that bodies in progress may take before more of them get 503: those of people, and as "
     "much again of agents"},
    {"http.identity_bodies", LKS_CONFIG_NUMBER, "67108864", 1048576, SIZE_MOST, NULL, true,
     AT(identity_bodies), "the same for one identity, which gets 429"},
    {"http.identity_calls", LKS_CONFIG_NUMBER, "128", 1, 1000000, NULL, true, AT(identity_calls),
     "most calls of one identity in progress, until their answers are sent; more get 429; root on "
     "the socket and questions whether a job may start are exempt"},
    {"http.address_calls", LKS_CONFIG_NUMBER, "16", 1, 1000000, NULL, true, AT(address_calls),
     "most enrolments, logins and ticket votes in progress from one address; more get 429"},
    {"events.readers", LKS_CONFIG_NUMBER, "256", 1, 100000, NULL, true, AT(event_readers),
     "most streams of events; root on the socket has 16 more"},
    {"events.identity_readers", LKS_CONFIG_NUMBER, "16", 1, 100000, NULL, true,
     AT(identity_readers), "most of them of one identity; more get 429"},
    {"journal.snapshot_rows", LKS_CONFIG_NUMBER, "100000", 100, 100000000, NULL, false,
     AT(snapshot_rows), "write a snapshot after so many rows, so that a restart is short"},
    {"journal.keep_days", LKS_CONFIG_NUMBER, "0", 0, 36500, NULL, false, AT(keep_days),
     "rows older than this are removed at startup; 0: never removed"},
    {"depot.rate_bytes_per_s", LKS_CONFIG_NUMBER, "0", 0, RATE_MAX, NULL, true, AT(depot_rate),
     "artifacts are sent and received at this rate, all together; 0: as fast as it goes"},
    {"depot.concurrency", LKS_CONFIG_NUMBER, "256", 1, 100000, NULL, true, AT(depot_concurrency),
     "most artifacts on their way to agents at the same time; more are asked to come again"},
    {"depot.people", LKS_CONFIG_NUMBER, "64", 1, 100000, NULL, true, AT(depot_people),
     "most artifacts on their way to and from people and programs, beside those of agents"},
    {"depot.identity", LKS_CONFIG_NUMBER, "8", 1, 100000, NULL, true, AT(depot_identity),
     "most artifacts on their way of one identity, a person or a node; more get 429"},
    {"depot.stall_ms", LKS_CONFIG_NUMBER, "30000", 100, DAY_MS, NULL, true, AT(depot_stall_ms),
     "a download whose reader takes less than 512 KiB in this time, although it could, is cut"},
    {"depot.keep_days", LKS_CONFIG_NUMBER, "7", 0, 36500, NULL, true, AT(depot_keep_days),
     "an artifact that nothing needs is kept for so long after it was put"},
    {"depot.collect_s", LKS_CONFIG_NUMBER, "86400", 1, 31536000, NULL, true, AT(depot_collect_s),
     "how often such artifacts are searched for, seconds"},
    {"depot.look_s", LKS_CONFIG_NUMBER, "60", 1, 31536000, NULL, true, AT(depot_look_s),
     "how often a controller searches for files that the journal has and its disk lacks, "
     "seconds; it fetches them from controller.agents"},
    {"depot.artifact_max", LKS_CONFIG_NUMBER, "68719476736", 1, SIZE_MOST, NULL, true,
     AT(depot_artifact_max), "most bytes of one artifact"},
    {"depot.spare_bytes", LKS_CONFIG_NUMBER, "1073741824", 0, SIZE_MOST, NULL, true,
     AT(depot_spare), "so much of the disk artifacts leave free, for the journal's sake"},
    {"depot.mirrors", LKS_CONFIG_MIRRORS, "", 0, 0, NULL, true, AT(depot_mirrors),
     "servers that agents of a site ask for artifacts first: SITE=https://HOST:PORT"},
    {"log.level", LKS_CONFIG_WORD, "info", 0, 0, levels, true, AT(log_level),
     "the least important events that are written"},
    {"log.format", LKS_CONFIG_WORD, "logfmt", 0, 0, formats, true, AT(log_format),
     "how they are written"},
};
/* clang-format on */
const size_t lks_config_key_count = LKS_COUNT(lks_config_keys);

static bool is_numeric(int family, struct lks_str s)
{
    char text[INET6_ADDRSTRLEN];
    struct in6_addr bytes;
    int len = snprintf(text, sizeof(text), "%" LKS_STR_FMT, LKS_STR_ARG(s));
    return len > 0 && (size_t)len < sizeof(text) && inet_pton(family, text, &bytes) == 1;
}

/* A name or an address. What ends with a dot and a number is an IPv4 address, or nothing. */
static bool is_host(struct lks_str s)
{
    struct lks_str last = lks_str_last(s, '.'), part, rest = s;
    uint64_t number;
    if (memchr(s.ptr, ':', s.len) != NULL)
        return is_numeric(AF_INET6, s);
    if (last.len < s.len && lks_str_number(last, UINT64_MAX, &number))
        return is_numeric(AF_INET, s);
    for (bool more = true; more;) {
        more = lks_str_cut(rest, '.', &part, &rest);
        if (!lks_hostlist_is_name(part) || part.len > LKS_CONFIG_LABEL_MAX)
            return false;
    }
    return s.len <= LKS_HOST_NAME_MAX;
}

struct address {
    struct lks_str host; /* without brackets */
    uint64_t port;
};

static bool is_address(struct lks_str s, struct address *out)
{
    struct lks_str port = lks_str_last(s, ':'), host = {s.ptr, s.len - port.len}, scope;
    uint64_t number;
    if (host.len < 2 || !lks_str_number(port, PORT_MAX, &number))
        return false;
    host.len--;
    bool v6 = lks_str_starts(host, "[") && lks_str_ends(host, "]");
    if (v6)
        lks_str_cut((struct lks_str){host.ptr + 1, host.len - 2}, '%', &host, &scope);
    *out = (struct address){host, number};
    return v6 ? is_numeric(AF_INET6, host)
              : memchr(host.ptr, ':', host.len) == NULL && is_host(host);
}

static bool is_secret(struct lks_str s)
{
    return lks_str_starts(s, "file:/") || lks_str_starts(s, "exec:/");
}

/* What a text of this kind looks like; NULL: it is fine. */
static const char *text_fault(const struct lks_config_key *key, struct lks_str s)
{
    bool may_be_empty = key->fallback != NULL && key->fallback[0] == '\0';
    if (s.len == 0)
        return may_be_empty ? NULL : "a value that is not empty";
    if (s.len > TEXT_MAX || !lks_str_printable(s))
        return "one line of text";
    if (key->type == LKS_CONFIG_PATH && s.ptr[0] != '/')
        return "a path that starts with '/'";
    struct address ignored;
    if (key->type == LKS_CONFIG_ADDRESS && !is_address(s, &ignored))
        return "ADDRESS:PORT, such as 127.0.0.1:7443 or [::]:7443";
    if (key->type == LKS_CONFIG_SECRET && !is_secret(s))
        return "file:/PATH or exec:/PROGRAM";
    return NULL;
}

static enum lks_code set_text(struct lks_config_reader *r, const struct lks_config_key *key,
                              const struct lks_doc *doc)
{
    if (doc->kind != LKS_DOC_TEXT)
        return LKS_CONFIG_FAIL(r, doc, "expected text, found %s", lks_doc_kind_name(doc->kind));
    const char *want = text_fault(key, doc->text);
    /* What should name a secret may be one: it is not repeated. */
    if (want != NULL)
        return LKS_CONFIG_FAIL(r, doc, "expected %s", want);
    struct lks_str copy = lks_arena_copy(&r->out->arena, doc->text);
    if (copy.ptr == NULL)
        return lks_arena_fail(&r->out->arena, r->err);
    *(struct lks_str *)lks_config_place(r->out, key) = copy;
    return LKS_OK;
}

static enum lks_code set_number(struct lks_config_reader *r, const struct lks_config_key *key,
                                const struct lks_doc *doc)
{
    if (doc->kind != LKS_DOC_NUMBER)
        return LKS_CONFIG_FAIL(r, doc, "expected a number, found %s", lks_doc_kind_name(doc->kind));
    if (doc->number < 0 || (uint64_t)doc->number < key->min || (uint64_t)doc->number > key->max)
        return LKS_CONFIG_FAIL(r, doc, "%lld is not between %llu and %llu", (long long)doc->number,
                               (unsigned long long)key->min, (unsigned long long)key->max);
    *(uint64_t *)lks_config_place(r->out, key) = (uint64_t)doc->number;
    return LKS_OK;
}

static enum lks_code set_word(struct lks_config_reader *r, const struct lks_config_key *key,
                              const struct lks_doc *doc)
{
    char hint[LKS_NEAR_HINT_SIZE], list[128] = "";
    struct lks_near near = lks_near_to(doc->text);
    for (size_t i = 0; key->words[i] != NULL; i++) {
        if (doc->kind == LKS_DOC_TEXT && lks_str_is(doc->text, key->words[i])) {
            *(uint64_t *)lks_config_place(r->out, key) = i;
            return LKS_OK;
        }
        lks_near_try(&near, lks_str_from(key->words[i]));
        size_t len = strlen(list);
        snprintf(list + len, sizeof(list) - len, "%s%s", i > 0 ? ", " : "", key->words[i]);
    }
    return LKS_CONFIG_FAIL(r, doc, "expected one of %s%s", list, lks_near_hint(&near, hint));
}

/* SITE=https://HOST:PORT */
static bool is_mirror(struct lks_str s)
{
    struct lks_str site, url;
    return s.len <= TEXT_MAX && lks_str_printable(s) && lks_str_cut(s, '=', &site, &url) &&
           site.len > 0 && lks_str_starts(url, "https://") && url.len > strlen("https://") &&
           memchr(url.ptr, ' ', url.len) == NULL;
}

/* SITE=https://HOST:PORT or SITE=unix:/PATH, and "rest+" before an address of slurmrestd. */
static bool is_bridge(struct lks_str s)
{
    static const char *const forms[] = {"https://", "unix:/", "rest+https://", "rest+http://",
                                        "rest+unix:/"};
    struct lks_str site, url;
    bool good = s.len <= TEXT_MAX && lks_str_printable(s) && lks_str_cut(s, '=', &site, &url) &&
                site.len > 0 && memchr(url.ptr, ' ', url.len) == NULL;
    for (size_t i = 0; i < LKS_COUNT(forms) && good; i++) {
        if (lks_str_starts(url, forms[i]) && url.len > strlen(forms[i]))
            return true;
    }
    return false;
}

/* kim@example.com=user:kim. What stands behind the last '=' is who that is here. */
static bool is_person(struct lks_str s)
{
    struct lks_str here = lks_str_last(s, '=');
    return s.len <= TEXT_MAX && lks_str_printable(s) && here.len > 0 && here.len + 1 < s.len;
}

/* board=approver@train. What stands behind the last '=' is a role, and where it holds. */
static bool is_role(struct lks_str s)
{
    struct lks_str last = lks_str_last(s, '='), role, pool;
    uint64_t number = 0;
    bool scoped = lks_str_cut(last, '@', &role, &pool);
    return s.len <= TEXT_MAX && lks_str_printable(s) && last.len + 1 < s.len &&
           lks_record_word_find(lks_role_words, scoped ? role : last, &number) &&
           number != LKS_ROLE_AGENT && (!scoped || lks_hostlist_is_name(pool));
}

#define BRIDGE_FORMS                                                                               \
    "SITE=https://HOST:PORT or SITE=unix:/PATH, or with 'rest+' before an address of slurmrestd"

/* What an item of a list has to be; NULL: it is. */
static const char *item_fault(const struct lks_config_key *key, const struct lks_doc *item)
{
    bool text = item->kind == LKS_DOC_TEXT && item->text.len > 0;
    if (key->type == LKS_CONFIG_MIRRORS)
        return text && is_mirror(item->text) ? NULL : "SITE=https://HOST:PORT";
    if (key->type == LKS_CONFIG_BRIDGES)
        return text && is_bridge(item->text) ? NULL : BRIDGE_FORMS;
    if (key->type == LKS_CONFIG_PEOPLE)
        return text && is_person(item->text) ? NULL : "NAME=IDENTITY, such as kim@x.org=user:kim";
    if (key->type == LKS_CONFIG_ROLES)
        return text && is_role(item->text) ? NULL
                                           : "GROUP=ROLE or GROUP=ROLE@POOL, with one of viewer, "
                                             "operator, approver and admin";
    return text && is_host(item->text)
               ? NULL
               : "a host name or an address, such as ctl.example.com or 10.0.0.5";
}

static enum lks_code set_list(struct lks_config_reader *r, const struct lks_config_key *key,
                              const struct lks_doc *doc)
{
    size_t least = key->type == LKS_CONFIG_HOSTS;
    if (doc->kind != LKS_DOC_LIST || doc->count < least || doc->count > LKS_CONFIG_NAMES_MAX)
        return LKS_CONFIG_FAIL(
            r, doc, "expected a list of %zu to %d %s", least, LKS_CONFIG_NAMES_MAX,
            least > 0                         ? "host names or addresses"
            : key->type == LKS_CONFIG_PEOPLE  ? "people, NAME=IDENTITY each"
            : key->type == LKS_CONFIG_BRIDGES ? "bridges, " BRIDGE_FORMS " each"
            : key->type == LKS_CONFIG_ROLES   ? "roles, GROUP=ROLE or GROUP=ROLE@POOL each"
                                              : "mirrors, SITE=https://HOST:PORT each");
    struct lks_config_list *list = lks_config_place(r->out, key);
    struct lks_str *items = lks_arena_array(&r->out->arena, doc->count + 1, sizeof(*items));
    if (items == NULL)
        return lks_arena_fail(&r->out->arena, r->err);
    size_t count = 0;
    for (const struct lks_doc *item = doc->first; item != NULL; item = item->next) {
        const char *want = item_fault(key, item);
        if (want != NULL)
            return LKS_CONFIG_FAIL(r, item, "expected %s", want);
        items[count] = lks_arena_copy(&r->out->arena, item->text);
        if (items[count++].ptr == NULL)
            return lks_arena_fail(&r->out->arena, r->err);
    }
    *list = (struct lks_config_list){items, count};
    return LKS_OK;
}

static enum lks_code set_value(struct lks_config_reader *r, const struct lks_config_key *key,
                               const struct lks_doc *doc)
{
    if (key->type == LKS_CONFIG_NUMBER)
        return set_number(r, key, doc);
    if (key->type == LKS_CONFIG_WORD)
        return set_word(r, key, doc);
    if (lks_config_is_list(key))
        return set_list(r, key, doc);
    return set_text(r, key, doc);
}

/* Whether `prefix` is the name of a map that holds keys. */
static bool is_section(const char *prefix)
{
    size_t len = strlen(prefix);
    for (size_t i = 0; i < lks_config_key_count; i++) {
        if (strncmp(lks_config_keys[i].key, prefix, len) == 0 && lks_config_keys[i].key[len] == '.')
            return true;
    }
    return false;
}

static enum lks_code fail_unknown(struct lks_config_reader *r, const struct lks_doc *doc,
                                  const char *path)
{
    char hint[LKS_NEAR_HINT_SIZE], section[KEY_MAX];
    struct lks_near near = lks_near_to(lks_str_from(path));
    for (size_t i = 0; i < lks_config_key_count; i++) {
        const char *key = lks_config_keys[i].key;
        snprintf(section, sizeof(section), "%s", key);
        char *dot = strchr(section, '.');
        if (dot != NULL)
            *dot = '\0';
        lks_near_try(&near, lks_str_from(doc->kind == LKS_DOC_MAP ? section : key));
        if (near.best.ptr == section) /* outlives the loop only as what it is part of */
            near.best = (struct lks_str){key, strlen(section)};
    }
    if (near.best.len == 0)
        return LKS_CONFIG_FAIL(r, doc, "unknown key; 'lockstepd --dump-config' shows all");
    return LKS_CONFIG_FAIL(r, doc, "unknown key%s", lks_near_hint(&near, hint));
}

static enum lks_code read_map(struct lks_config_reader *r, const struct lks_doc *map,
                              const char *prefix)
{
    for (const struct lks_doc *item = map->first; item != NULL; item = item->next) {
        char path[KEY_MAX];
        int len = snprintf(path, sizeof(path), "%s%s%" LKS_STR_FMT, prefix,
                           prefix[0] != '\0' ? "." : "", LKS_STR_ARG(item->key));
        if (len < 0 || (size_t)len >= sizeof(path))
            return LKS_CONFIG_FAIL(r, item, "unknown key; 'lockstepd --dump-config' shows all");
        const struct lks_config_key *found = NULL;
        for (size_t i = 0; i < lks_config_key_count && found == NULL; i++) {
            if (strcmp(lks_config_keys[i].key, path) == 0)
                found = &lks_config_keys[i];
        }
        bool section = found == NULL && prefix[0] == '\0' && is_section(path);
        if (found == NULL && !section)
            return fail_unknown(r, item, path);
        if (section && item->kind != LKS_DOC_MAP)
            return LKS_CONFIG_FAIL(r, item, "expected a map, found %s",
                                   lks_doc_kind_name(item->kind));
        if ((section ? read_map(r, item, path) : set_value(r, found, item)) != LKS_OK)
            return r->err->code;
    }
    return LKS_OK;
}

static enum lks_code default_text(struct lks_config_reader *r, const struct lks_config_key *key)
{
    struct lks_arena *arena = &r->out->arena;
    struct lks_str head, tail, made;
    struct lks_str fallback = lks_str_from(key->fallback);
    if (lks_str_cut(fallback, '$', &head, &tail))
        made = lks_arena_format(arena, "%" LKS_STR_FMT "%" LKS_STR_FMT "%s", LKS_STR_ARG(head),
                                LKS_STR_ARG(r->out->data), tail.ptr + strlen("data"));
    else
        made = lks_arena_copy(arena, fallback);
    if (made.ptr == NULL)
        return lks_arena_fail(arena, r->err);
    *(struct lks_str *)lks_config_place(r->out, key) = made;
    return LKS_OK;
}

/* What a key that is not written means. */
static enum lks_code set_default(struct lks_config_reader *r, const struct lks_config_key *key)
{
    if (key->fallback == NULL)
        return LKS_OK;
    void *place = lks_config_place(r->out, key);
    if (key->type == LKS_CONFIG_NUMBER) {
        bool ok = lks_str_number(lks_str_from(key->fallback), UINT64_MAX, place);
        LKS_ASSERT(ok);
        return LKS_OK;
    }
    if (key->type == LKS_CONFIG_WORD) {
        for (uint64_t i = 0; key->words[i] != NULL; i++) {
            if (strcmp(key->words[i], key->fallback) == 0)
                *(uint64_t *)place = i;
        }
        return LKS_OK;
    }
    if (lks_config_is_list(key) && key->type != LKS_CONFIG_HOSTS)
        return LKS_OK;
    if (key->type != LKS_CONFIG_HOSTS)
        return default_text(r, key);
    struct lks_str *item = lks_arena_array(&r->out->arena, 1, sizeof(*item));
    if (item == NULL)
        return lks_arena_fail(&r->out->arena, r->err);
    *item = lks_str_from(key->fallback);
    *(struct lks_config_list *)place = (struct lks_config_list){item, 1};
    return LKS_OK;
}

/* The data directory comes first: other defaults lie in it. */
static enum lks_code read_data(struct lks_config_reader *r, const struct lks_doc *top)
{
    const struct lks_doc *data = lks_doc_member(top, "data");
    if (data == NULL)
        return LKS_CONFIG_FAIL(r, top, "the configuration needs 'data': %s",
                               lks_config_keys[0].about);
    return set_value(r, &lks_config_keys[0], data);
}

/* Whether one of them would keep the other from listening. */
static bool same_place(struct lks_str a, struct lks_str b)
{
    static const char *const all[] = {"0.0.0.0", "::"};
    struct address one = {0}, two = {0};
    if (!is_address(a, &one) || !is_address(b, &two) || one.port != two.port || one.port == 0)
        return false;
    bool same = lks_str_eq(one.host, two.host);
    for (size_t i = 0; i < LKS_COUNT(all); i++)
        same = same || lks_str_is(one.host, all[i]) || lks_str_is(two.host, all[i]);
    return same;
}

/* What one value cannot tell. */
static enum lks_code check_together(struct lks_config_reader *r, const struct lks_doc *top)
{
    const struct lks_config *c = r->out;
    const struct lks_doc *limits = lks_doc_member(top, "limits");
    if (c->late_ms <= c->heartbeat_ms)
        return LKS_CONFIG_FAIL(r, limits, "late_ms has to be more than heartbeat_ms (%llu)",
                               (unsigned long long)c->heartbeat_ms);
    if (c->lost_ms <= c->late_ms)
        return LKS_CONFIG_FAIL(r, limits, "lost_ms has to be more than late_ms (%llu)",
                               (unsigned long long)c->late_ms);
    if (lks_config_check(r, top) != LKS_OK)
        return r->err->code;
    if (same_place(c->people_listen, c->agents_listen))
        return LKS_CONFIG_FAIL(
            r, top, "people.listen and agents.listen are the same place; give each a port");
    return LKS_OK;
}

static enum lks_code read_config(struct lks_config_reader *r, struct lks_str text)
{
    if (lks_yaml_parse(text, r->docs, r->err) != LKS_OK)
        return r->err->code;
    const struct lks_doc *top = r->docs->first;
    if (top == NULL || r->docs->count != 1 || top->kind != LKS_DOC_MAP)
        return lks_fail(r->err, LKS_E_INVALID, "%" LKS_STR_FMT ": expected one map of keys",
                        LKS_STR_ARG(r->docs->source));
    if (read_data(r, top) != LKS_OK)
        return r->err->code;
    for (size_t i = 0; i < lks_config_key_count; i++) {
        if (set_default(r, &lks_config_keys[i]) != LKS_OK)
            return r->err->code;
    }
    if (read_map(r, top, "") != LKS_OK)
        return r->err->code;
    return check_together(r, top);
}

enum lks_code lks_config_parse(const char *source, struct lks_str text, struct lks_config *out,
                               struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    LKS_CLEANUP(lks_config_fini) struct lks_config config = {0};
    lks_arena_init(&config.arena, LKS_CONFIG_BYTES_MAX * 4);
    if (lks_docs_init(&docs, source, err) != LKS_OK)
        return err->code;
    struct lks_config_reader r = {&docs, &config, err};
    if (read_config(&r, text) != LKS_OK)
        return err->code;
    *out = LKS_MOVE(config);
    return LKS_OK;
}

enum lks_code lks_config_load(const char *path, struct lks_config *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_CONFIG_BYTES_MAX);
    if (lks_file_read(path, &text, err) != LKS_OK)
        return err->code;
    return lks_config_parse(path, lks_buf_view(&text), out, err);
}

void lks_config_fini(struct lks_config *c)
{
    lks_arena_fini(&c->arena);
    *c = (struct lks_config){0};
}
