#include "server/base/config.h"

#include "tests/test.h"

#include <stdio.h>

/* Each is read behind a line that gives the data directory, unless it begins with '!'. */
static const struct {
    const char *name;
    const char *text;
    const char *message; /* NULL: it is taken */
} texts[] = {
    {"nothing more", "", NULL},
    {"a number", "limits:\n  heartbeat_ms: 500\n", NULL},
    {"a list", "names: [\"a.example\", \"10.0.0.1\", \"::1\"]\n", NULL},
    {"a word", "log:\n  level: debug\n  format: json\n", NULL},
    {"IPv6", "people:\n  listen: \"[::1]:7443\"\n", NULL},
    {"IPv6 of one link", "people:\n  listen: \"[fe80::1%eth0]:7443\"\n", NULL},
    {"one port, two addresses", "agents:\n  listen: \"10.0.0.1:7443\"\n", NULL},
    {"ports of the kernel's choice",
     "people: {listen: \"0.0.0.0:0\"}\nagents: {listen: \"0.0.0.0:0\"}\n", NULL},
    {"a name that is a number", "names: [\"123456789012\"]\n", NULL},
    {"no site CA", "tls:\n  site_ca: \"\"\n", NULL},
    {"mirrors", "depot: {mirrors: [\"oslo=https://m1\", \"oslo=https://[::1]:443\"]}\n", NULL},
    {"no mirrors", "depot: {mirrors: []}\n", NULL},
    {"JSON is YAML", "rate: {\"burst\": 5}\n", NULL},

    {"empty file", "!", "expected one map of keys"},
    {"a list at the top", "!- 1\n", "expected one map of keys"},
    {"two documents", "---\ndata: /x\n", "expected one map of keys"},
    {"no data", "!socket: /x\n", "needs 'data'"},
    {"data is relative", "!data: var\n", "data: expected a path that starts with '/'"},
    {"misspelled key", "limits:\n  heartbeet_ms: 1\n",
     "c:3:3: limits.heartbeet_ms: unknown key; did you mean 'limits.heartbeat_ms'?"},
    {"misspelled section", "limit:\n  late_ms: 1\n", "limit: unknown key; did you mean 'limits'?"},
    {"unlike any", "zzzzzzzzzz: 1\n", "unknown key; 'lockstepd --dump-config' shows all"},
    {"deeper than there is", "limits:\n  late_ms:\n    x: 1\n", "expected a number, found map"},
    {"a section that is none", "limits: 3\n", "limits: expected a map, found number"},
    {"twice", "socket: /a\nsocket: /b\n", "socket"},
    {"too small", "limits:\n  heartbeat_ms: 1\n", "1 is not between 100 and 600000"},
    {"too large", "limits:\n  mass_percent: 101\n", "101 is not between 0 and 100"},
    {"a log that could not be read again", "admit:\n  log_bytes: 33554433\n",
     "is not between 4096 and 33554432"},
    {"negative", "limits:\n  mass_percent: -1\n", "-1 is not between 0 and 100"},
    {"text for a number", "rate:\n  burst: many\n", "expected a number, found text"},
    {"number for text", "socket: 3\n", "expected text, found number"},
    {"unknown word", "log:\n  level: debgu\n",
     "expected one of debug, info, warning, error; did you mean 'debug'?"},
    {"no port", "people:\n  listen: localhost\n", "expected ADDRESS:PORT"},
    {"port too large", "people:\n  listen: \"localhost:65536\"\n", "expected ADDRESS:PORT"},
    {"no names", "names: []\n", "expected a list of 1 to 64"},
    {"a name with a blank", "names: [\"a b\"]\n", "expected a host name or an address"},
    {"an IPv4 address that is none", "names: [\"999.1.1.1\"]\n",
     "expected a host name or an address"},
    {"an IPv6 address that is none", "names: [\"::g\"]\n", "expected a host name or an address"},
    {"an empty label", "names: [\"a..b\"]\n", "expected a host name or an address"},
    {"a dot at the end", "names: [\"a.\"]\n", "expected a host name or an address"},
    {"an empty name", "names: [\"\"]\n", "expected a host name or an address"},
    {"IPv6 without brackets", "agents:\n  listen: \"::1\"\n", "expected ADDRESS:PORT"},
    {"IPv6 and a port without brackets", "agents:\n  listen: \"::1:7444\"\n",
     "expected ADDRESS:PORT"},
    {"no address before the port", "agents:\n  listen: \":7444\"\n", "expected ADDRESS:PORT"},
    {"a name in brackets", "agents:\n  listen: \"[a]:7444\"\n", "expected ADDRESS:PORT"},
    {"listening at an address that is none", "agents:\n  listen: \"1.2.3.400:1\"\n",
     "expected ADDRESS:PORT"},
    {"two listeners at one place", "agents:\n  listen: \"127.0.0.1:7443\"\n",
     "people.listen and agents.listen are the same place"},
    {"one listener everywhere", "agents:\n  listen: \"[::]:7443\"\n",
     "people.listen and agents.listen are the same place"},
    {"a socket with too long a path",
     "socket: /7890123456789012345678901234567890123456789012345678901234567890"
     "1234567890123456789012345678901234567890123\n",
     "a path has at most 107 bytes here, and this one 108"},
    {"late before the heartbeat", "limits:\n  late_ms: 10000\n",
     "late_ms has to be more than heartbeat_ms (10000)"},
    {"lost before late", "limits:\n  lost_ms: 30000\n", "lost_ms has to be more than late_ms"},
    {"a password in the open", "store: {postgres: \"host=a password=secret\"}\n",
     "a password does not belong here; name a passfile"},
    {"a name that no controller has", "controller: {name: \"a b\"}\n", "name: expected letters"},
    {"a controller without TLS", "controller: {url: \"http://a:7443\"}\n",
     "url: expected https://HOST:PORT"},
    {"metrics from a place that is none", "metrics: {url: prometheus}\n", "url: expected https://"},
    {"metrics from somebody unknown", "metrics: {url: \"https://p:9090\"}\n",
     "ca: needed for an https:// url"},
    {"metrics from elsewhere without TLS", "metrics: {url: \"http://mon:9090\"}\n",
     "c:2:11: metrics.url: http://mon:9090 is not on this machine, and without TLS the "
     "answering server is not verified; use https://"},
    {"metrics from a name that begins like this machine",
     "metrics: {url: \"http://127.0.0.1.example:9090\"}\n", "is not on this machine"},
    {"metrics from this machine without TLS", "metrics: {url: \"http://[::1]:9090\"}\n", NULL},
    {"metrics behind a path", "metrics: {url: \"http://127.0.0.1:9090/prom\"}\n",
     "metrics.url: http://127.0.0.1:9090/prom: an endpoint is named by https://HOST[:PORT]"},
    {"metrics with a password in the open", "metrics: {url: \"http://me:secret@mon\"}\n",
     "c:2:11: metrics.url: an endpoint is named by https://HOST[:PORT], without a user"},
    {"a login without credentials", "metrics: {url: \"http://127.0.0.1:9090\", login: basic}\n",
     "credentials: needed for this login"},
    {"images from a mirror", "bmc: {pull: \"https://mirror.example/lks\", pull_ca: /m.crt}\n",
     NULL},
    {"images from a mirror that is not known", "bmc: {pull: \"https://mirror.example/lks\"}\n",
     "bmc.pull: needs bmc.pull_ca"},
    {"images over plain http", "bmc:\n  pull: \"http://mirror.example/lks\"\n",
     "c:3:3: bmc.pull: expected https://HOST/PATH"},
    {"images over plain http on this machine", "bmc: {pull: \"http://localhost:80/lks\"}\n",
     "bmc.pull: expected https://HOST/PATH"},
    {"images from nowhere", "bmc: {pull: \"https://\"}\n", "bmc.pull: "},
    {"images with a password", "bmc: {pull: \"https://a:b@mirror/lks\"}\n", "bmc.pull: "},
    {"images under a query", "bmc: {pull: \"https://mirror/lks?d=\"}\n",
     "without blanks, '#' or '?'"},
    {"slurmrestd at a socket", "slurm: {bridges: [\"a=rest+unix:/run/s\"]}\n", NULL},
    {"slurmrestd on this machine",
     "slurm: {bridges: [\"a=rest+http://127.0.0.1:6820\"], rest_token: \"file:/t\"}\n", NULL},
    {"slurmrestd without a token", "slurm: {bridges: [\"a=rest+http://127.0.0.1:6820\"]}\n",
     "rest_token: needed for slurmrestd"},
    {"slurmrestd elsewhere without TLS",
     "slurm: {bridges: [\"a=rest+http://slurm1:6820\"], rest_token: \"file:/t\"}\n",
     "without TLS the server is not verified"},
    {"slurmrestd that nobody certifies",
     "slurm: {bridges: [\"a=rest+https://slurm1:6820\"], rest_token: \"file:/t\"}\n",
     "ca: needed for slurmrestd"},
    {"slurmrestd behind TLS",
     "slurm: {bridges: [\"a=rest+https://slurm1:6820\"], rest_token: \"file:/t\", ca: /c}\n", NULL},
    {"a token from a program", "slurm: {rest_token: \"exec:/t\"}\n",
     "rest_token: expected file:/PATH"},
    {"a certificate for bridges without its key", "slurm: {certificate: /c}\n",
     "certificate and key: one of them is missing"},
    {"an API server with a token",
     "kubernetes: {bridges: [\"a=https://api:6443\"], ca: /c, token_file: /t}\n", NULL},
    {"an API server with a certificate",
     "kubernetes: {bridges: [\"*=https://api:6443\"], ca: /c, certificate: /d, key: /k}\n", NULL},
    {"an API server that nothing certifies",
     "kubernetes: {bridges: [\"a=https://api:6443\"], token_file: /t}\n", "ca: needed"},
    {"an API server that does not know lockstepd",
     "kubernetes: {bridges: [\"a=https://api:6443\"], ca: /c}\n", "either token_file, or"},
    {"an API server that knows it twice",
     "kubernetes: {bridges: [\"a=https://api:1\"], ca: /c, token_file: /t, certificate: /d, "
     "key: /k}\n",
     "either token_file, or"},
    {"a certificate for API servers without its key",
     "kubernetes: {bridges: [\"a=https://api:6443\"], ca: /c, certificate: /d}\n",
     "one of them is missing"},
    {"an API server at a socket",
     "kubernetes: {bridges: [\"a=unix:/run/api\"], ca: /c, token_file: /t}\n",
     "expected SITE=https://HOST:PORT, not 'unix:/run/api'"},
    {"an API server with a path",
     "kubernetes: {bridges: [\"a=https://api:6443/k8s\"], ca: /c, token_file: /t}\n",
     "bridges: https://api:6443/k8s"},
    {"a listener for API servers without their authority", "webhook: {listen: \"127.0.0.1:0\"}\n",
     "client_ca: needed with listen"},
    {"a listener for API servers", "webhook: {listen: \"127.0.0.1:0\", client_ca: /c}\n", NULL},
    {"a bridge over plain http", "slurm: {bridges: [\"a=http://127.0.0.1:1\"]}\n", "rest+"},
    {"tickets to a place that is none", "tickets: {url: desk}\n", "url: expected https://"},
    {"tickets to elsewhere without TLS",
     "tickets:\n  secret: \"file:/s\"\n  url: \"http://desk.example:80/hook\"\n",
     "c:4:3: tickets.url: http://desk.example:80 is not on this machine"},
    {"tickets to this machine without TLS",
     "tickets: {url: \"http://localhost:80/hook\", secret: \"file:/s\"}\n", NULL},
    {"tickets to a port that is none",
     "tickets: {url: \"https://desk:port/hook\", secret: \"file:/s\", ca: /c}\n",
     "tickets.url: https://desk:port: an endpoint is named by"},
    {"tickets to a path with a blank",
     "tickets:\n  secret: \"file:/s\"\n  url: \"http://localhost:80/a b\"\n",
     "c:4:3: tickets.url: what follows the host is less than 2048 plain characters"},
    {"tickets to a path with a part of a page",
     "tickets: {url: \"http://localhost:80/a#b\", secret: \"file:/s\"}\n", "without blanks or '#'"},
    {"tickets to a path with a query",
     "tickets: {url: \"http://localhost:80/a%20b?c=d\", secret: \"file:/s\"}\n", NULL},
    {"tickets to somebody unknown", "tickets: {url: \"https://t/hook\", secret: \"file:/s\"}\n",
     "ca: needed for an https:// url"},
    {"tickets that nobody signs", "tickets: {url: \"http://127.0.0.1:80/\"}\n",
     "secret: needed where tickets are sent"},
    {"the secret of tickets itself", "tickets: {secret: 0123456789abcdef}\n",
     "expected file:/PATH or exec:/PROGRAM"},
    {"a provider", "oidc: {issuer: \"https://id.example/dex\", roles: [a=viewer, b=admin@p-1]}\n",
     NULL},
    {"a group whose name has more in it",
     "oidc: {issuer: \"https://id.example:5556\", roles: [\"cn=a b,dc=x=approver@train\"]}\n",
     NULL},
    {"a provider without TLS", "oidc: {issuer: \"http://id.example\"}\n",
     "oidc.issuer: expected https://HOST/PATH, on this machine too"},
    {"a provider on this machine without TLS", "oidc: {issuer: \"http://127.0.0.1:5556/dex\"}\n",
     "oidc.issuer: expected https://HOST/PATH, on this machine too"},
    {"a provider with a query", "oidc: {issuer: \"https://id.example/dex?a=b\"}\n",
     "as the provider writes its issuer"},
    {"a provider at a port that is none", "oidc: {issuer: \"https://id:port\"}\n",
     "oidc.issuer: https://id:port: an endpoint is named by"},
    {"roles without a provider", "oidc: {roles: [a=viewer]}\n", "issuer: needed"},
    {"a secret without a provider", "oidc: {client_secret: \"file:/s\"}\n", "issuer: needed"},
    {"a role that is none", "oidc: {issuer: \"https://id\", roles: [a=boss]}\n",
     "expected GROUP=ROLE or GROUP=ROLE@POOL"},
    {"a role of nodes", "oidc: {issuer: \"https://id\", roles: [a=agent]}\n",
     "expected GROUP=ROLE or GROUP=ROLE@POOL"},
    {"a role of no group", "oidc: {issuer: \"https://id\", roles: [=viewer]}\n",
     "expected GROUP=ROLE or GROUP=ROLE@POOL"},
    {"a role in no pool", "oidc: {issuer: \"https://id\", roles: [a=viewer@]}\n",
     "expected GROUP=ROLE or GROUP=ROLE@POOL"},
    {"a role in two pools", "oidc: {issuer: \"https://id\", roles: [\"a=viewer@p q\"]}\n",
     "expected GROUP=ROLE or GROUP=ROLE@POOL"},
    {"scopes without the one", "oidc: {issuer: \"https://id\", scopes: email}\n",
     "scopes: 'openid' has to be among them"},
    {"a login for ever", "oidc: {issuer: \"https://id\", session_hours: 169}\n",
     "169 is not between 1 and 168"},
    {"a person who is nobody here", "tickets: {people: [kim]}\n", "expected NAME=IDENTITY"},
    {"a person who is two here", "tickets: {people: [\"k@x=user:kim\", \"k@x=user:lee\"]}\n",
     "people: 'k@x' is there twice"},
    {"nobody who is a person here", "tickets: {people: [\"=user:kim\"]}\n",
     "expected NAME=IDENTITY"},
    {"a lease of no length", "controller: {lease_ms: 999}\n", "999 is not between 1000 and 600000"},
    {"neither yes nor no", "store: {require_sync: perhaps}\n", "expected one of no, yes"},
    {"the secret itself", "seal_key: 0123456789abcdef\n", "expected file:/PATH or exec:/PROGRAM"},
    {"a mirror of no site", "depot: {mirrors: [\"https://m1\"]}\n", "SITE=https://HOST:PORT"},
    {"a mirror without TLS", "depot: {mirrors: [\"oslo=http://m1\"]}\n", "SITE=https://HOST:PORT"},
    {"a mirror with a blank", "depot: {mirrors: [\"oslo=https://m 1\"]}\n",
     "SITE=https://HOST:PORT"},
    {"one mirror and no list", "depot: {mirrors: oslo=https://m1}\n", "expected a list of 0 to 64"},
};

static enum lks_code parse(const char *text, struct lks_config *out, struct lks_err *err)
{
    char whole[512];
    snprintf(whole, sizeof(whole), "%s%s", text[0] == '!' ? "" : "data: /var/lib/lockstep\n",
             text[0] == '!' ? text + 1 : text);
    return lks_config_parse("c", lks_str_from(whole), out, err);
}

static void test_texts(void)
{
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        lks_test_case("%s", texts[i].name);
        LKS_CLEANUP(lks_config_fini) struct lks_config c = {0};
        struct lks_err err = {0};
        enum lks_code code = parse(texts[i].text, &c, &err);
        CHECK_CODE(code, texts[i].message == NULL ? LKS_OK : LKS_E_INVALID);
        if (texts[i].message != NULL)
            CHECK_HAS(lks_str_from(err.msg), texts[i].message);
        CHECK((c.data.len > 0) == (code == LKS_OK)); /* nothing is half-read */
    }
}

static void test_defaults(void)
{
    LKS_CLEANUP(lks_config_fini) struct lks_config c = {0};
    struct lks_err err = {0};
    if (!CHECK_CODE(parse("", &c, &err), LKS_OK))
        return;
    CHECK_STR(c.data, "/var/lib/lockstep");
    CHECK_STR(c.people_listen, "127.0.0.1:7443");
    CHECK_STR(c.agents_listen, "127.0.0.1:7444");
    CHECK_STR(c.socket, "/var/lib/lockstep/lockstepd.sock");
    CHECK_STR(c.seal_key, "file:/var/lib/lockstep/seal.key");
    CHECK_STR(c.site_ca, "");
    CHECK_INT(c.names.count, 1);
    CHECK_INT(c.heartbeat_ms, 10000);
    CHECK_INT(c.late_ms, 30000);
    CHECK_INT(c.lost_ms, 120000);
    CHECK_INT(c.mass_floor, 10);
    CHECK_INT(c.mass_percent, 2);
    CHECK_INT(c.mass_window_ms, 300000);
    CHECK_INT(c.call_nodes, 10);
    CHECK_INT(c.people_per_s, 50);
    CHECK_INT(c.burst, 200);
    CHECK_INT(c.log_level, LKS_LEVEL_INFO);
}

/* What is dumped is read again as the same, whatever the values are. */
static void test_dump_round_trip(void)
{
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        if (texts[i].message != NULL)
            continue;
        lks_test_case("%s", texts[i].name);
        LKS_CLEANUP(lks_config_fini) struct lks_config first = {0};
        LKS_CLEANUP(lks_config_fini) struct lks_config again = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_CONFIG_BYTES_MAX);
        struct lks_err err = {0};
        if (!CHECK_CODE(parse(texts[i].text, &first, &err), LKS_OK))
            continue;
        lks_config_dump(&first, &text);
        CHECK_CODE(lks_config_parse("d", lks_buf_view(&text), &again, &err), LKS_OK);
        CHECK_STR(lks_str_from(err.msg), "");
        for (size_t k = 0; k < lks_config_key_count; k++) {
            lks_test_case("%s: %s", texts[i].name, lks_config_keys[k].key);
            CHECK(lks_config_same(&first, &again, &lks_config_keys[k]));
            struct lks_str last = lks_str_last(lks_str_from(lks_config_keys[k].key), '.');
            char line[96];
            snprintf(line, sizeof(line), "%" LKS_STR_FMT ": ", LKS_STR_ARG(last));
            CHECK_HAS(lks_buf_view(&text), line);
        }
    }
}

static void test_same_tells_what_differs(void)
{
    LKS_CLEANUP(lks_config_fini) struct lks_config a = {0};
    LKS_CLEANUP(lks_config_fini) struct lks_config b = {0};
    struct lks_err err = {0};
    if (!CHECK_CODE(parse("", &a, &err), LKS_OK) ||
        !CHECK_CODE(parse("rate:\n  burst: 7\nnames: [x]\n", &b, &err), LKS_OK))
        return;
    for (size_t i = 0; i < lks_config_key_count; i++) {
        const char *key = lks_config_keys[i].key;
        lks_test_case("%s", key);
        bool differs = strcmp(key, "rate.burst") == 0 || strcmp(key, "names") == 0;
        CHECK(lks_config_same(&a, &b, &lks_config_keys[i]) == !differs);
        lks_config_take(&b, &a, &lks_config_keys[i]);
        CHECK(lks_config_same(&a, &b, &lks_config_keys[i]));
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"texts are taken or refused with one line", test_texts},
        {"what is not written has a default", test_defaults},
        {"a dump reads as what was dumped", test_dump_round_trip},
        {"keys that differ are told", test_same_tells_what_differs},
        {0},
    };
    return lks_test_main(tests);
}
