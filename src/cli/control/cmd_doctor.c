/* doctor: what could be wrong, looked at one thing after the other. */
#include "base/file.h"
#include "base/time.h"
#include "cli/shared/commands.h"
#include "cli/shared/controller.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"
#include "cli/shared/remote.h"
#include "drivers/http/client.h"
#include "drivers/store/secrets.h"
#include "drivers/store/seen.h"
#include "engine/engine.h"
#include "engine/journal.h"
#include "probe/root/probe.h"
#include "trust/x509.h"

#include <inttypes.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timex.h>

enum {
    SOON_DAYS = 14,
    DAY_S = 86400,
    ROOM_MIB = 512,
    MIB = 1 << 20,
    TEXT_MAX = 1024,
    ANSWER_MS = 5000,
    MISSING_TOLD = 5,
    DIGEST_TOLD = 19, /* "sha256:" and twelve digits */
};

enum state { GOOD, NOTE, BAD };
static const char *const states[] = {"good", "note", "bad"};

struct doctor {
    struct lks_cli *cli;
    const char *dir; /* NULL: this machine alone */
    struct lks_json_writer *w;
    bool bad;
};

static void say(struct doctor *d, const char *check, enum state state, const char *fmt, ...)
    LKS_PRINTF(4, 5);

static void say(struct doctor *d, const char *check, enum state state, const char *fmt, ...)
{
    char text[TEXT_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    d->bad = d->bad || state == BAD;
    lks_json_write(d->w, "{'check': '%s', 'state': '%s', 'text': '%s'}", check, states[state],
                   text);
}

/* This machine ------------------------------------------------------------------------------ */

static void check_version(struct doctor *d)
{
    const char *commit = d->cli->commit != NULL ? d->cli->commit : "unknown";
    say(d, "version", GOOD, "lockstep %s (commit %s)", LKS_VERSION, commit);
}

static void check_clock(struct doctor *d)
{
    struct timex t = {0};
    int state = adjtimex(&t);
    if (state < 0 || (t.status & STA_UNSYNC) != 0)
        say(d, "clock", NOTE, "not known to be synchronised: certificates and records rely on it");
    else
        say(d, "clock", GOOD, "synchronised, estimated error %ld us", t.esterror);
}

/* Beside probes: what speaks to hardware and was tried on models of it alone. */
static const char *const unproven[] = {"updates by a BMC over Redfish", "updates by a switch tray",
                                       "PLDM with a device, MCTP on a serial line",
                                       "Xids, ports that go down and reference loads, for gates"};

static void check_hardware(struct doctor *d)
{
    for (size_t i = 0; i < LKS_COUNT(unproven); i++)
        say(d, "hardware", NOTE, "%s: never tried on the hardware itself", unproven[i]);
    for (size_t i = 0; i < lks_probe_count; i++) {
        if (lks_probes[i].unproven)
            say(d, "hardware", NOTE, "the probe '%s' never ran on the hardware it is for",
                lks_probes[i].name);
    }
}

/* The data directory ------------------------------------------------------------------------ */

static void check_folder(struct doctor *d)
{
    struct stat st;
    struct statvfs fs;
    if (stat(d->dir, &st) != 0 || statvfs(d->dir, &fs) != 0) {
        struct lks_err err;
        (void)!lks_file_fail(&err, d->dir);
        say(d, "directory", BAD, "%s", err.msg);
        return;
    }
    if (!S_ISDIR(st.st_mode))
        say(d, "directory", BAD, "%s: not a directory", d->dir);
    else if ((st.st_mode & 077U) != 0)
        say(d, "directory", BAD, "%s: readable by others (mode %03o); chmod 700", d->dir,
            (unsigned)st.st_mode & 0777U);
    else
        say(d, "directory", GOOD, "%s, for its owner alone", d->dir);
    uint64_t free_mib = (uint64_t)fs.f_bavail * fs.f_frsize / MIB;
    say(d, "disk", free_mib < ROOM_MIB ? BAD : GOOD, "%" PRIu64 " MiB free", free_mib);
}

/* lockstepd runs as the owner of the directory. A command that root gave there may have left files
 * that this user cannot write, and a file of a third user is that user's to change. */
static void check_owners(struct doctor *d)
{
    static const char *const names[] = {"journal.db", "journal.db-wal", "journal.db-shm",
                                        "seal.key",   "secrets",        "depot",
                                        "decisions",  "audit"};
    char path[PATH_MAX];
    struct stat home, st;
    struct lks_err err;
    if (stat(d->dir, &home) != 0)
        return;
    for (size_t i = 0; i < LKS_COUNT(names); i++) {
        if (lks_path_join(path, d->dir, names[i], &err) == LKS_OK && stat(path, &st) == 0 &&
            st.st_uid != home.st_uid)
            say(d, "owner", BAD,
                "%s belongs to user %u, and the directory to user %u, as lockstepd runs; chown -R "
                "it to that user",
                path, (unsigned)st.st_uid, (unsigned)home.st_uid);
    }
}

static void check_home(struct doctor *d)
{
    struct lks_err err;
    if (lks_controller_at_home(d->dir, &err) != LKS_OK)
        say(d, "config", BAD, "%s", err.msg);
    else
        say(d, "config", GOOD,
            "it is for this directory; 'lockstepd --check --config FILE' validates every key");
}

/* Whether lockstepd should run is for the caller to know; that it runs and cannot work is bad. */
static void check_socket(struct doctor *d)
{
    struct lks_client *client = NULL;
    struct lks_http_answer answer = {0};
    struct lks_err err;
    char server[PATH_MAX];
    if (lks_controller_server(d->dir, server, &err) != LKS_OK)
        return; /* the configuration was complained of */
    struct lks_client_options options = {.server = server, .timeout_ms = ANSWER_MS};
    if (lks_client_new(&options, &client, &err) != LKS_OK)
        say(d, "socket", BAD, "%s", err.msg);
    else if (lks_client_exchange(client, "GET", "/v1/ready", NULL, LKS_STR(""), "", &answer,
                                 &err) != LKS_OK)
        say(d, "socket", NOTE, "lockstepd does not run: %s", err.msg);
    else if (answer.status >= 400)
        say(d, "socket", BAD, "lockstepd is not ready: /v1/ready answers with status %d",
            answer.status);
    else
        say(d, "socket", GOOD, "lockstepd answers at %s", server);
    lks_http_answer_fini(&answer);
    lks_client_free(client);
}

/* "calls 12, bodies 3" of the metrics' lines that count anything. */
static void list_limits(struct lks_str metrics, struct lks_buf *out)
{
    const struct lks_str name = LKS_STR("lockstep_http_limited_total{limit=\"");
    struct lks_str line, limit, count;
    uint64_t number = 0;
    for (bool more = true; more;) {
        more = lks_str_cut(metrics, '\n', &line, &metrics);
        if (line.len <= name.len || memcmp(line.ptr, name.ptr, name.len) != 0)
            continue;
        line = (struct lks_str){line.ptr + name.len, line.len - name.len};
        if (lks_str_cut(line, '"', &limit, &line) && lks_str_cut(line, ' ', &line, &count) &&
            lks_str_number(count, UINT64_MAX, &number) && number > 0)
            lks_buf_addf(out, "%s%" LKS_STR_FMT " %" PRIu64, out->len > 0 ? ", " : "",
                         LKS_STR_ARG(limit), number);
    }
}

/* Requests that a limit of callers turned away: one caller that asks too much, or a limit that is
 * too low. */
static void check_limits(struct doctor *d, struct lks_str metrics)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf met = LKS_BUF(TEXT_MAX / 2);
    list_limits(metrics, &met);
    if (met.len > 0)
        say(d, "limits", NOTE,
            "requests turned away since lockstepd started, by limit: %s; "
            "docs/controller.md, \"Limits of callers\", has the key of each",
            met.ptr);
    else
        say(d, "limits", GOOD, "no request was turned away by a limit of callers");
}

/* Whether people can log in. Where no provider is configured there is no such metric. */
static void check_login(struct doctor *d, struct lks_str metrics)
{
    static const char name[] = "lockstep_oidc_failing_seconds ";
    struct lks_str line;
    uint64_t seconds = 0;
    for (bool more = true; more;) {
        more = lks_str_cut(metrics, '\n', &line, &metrics);
        if (!lks_str_starts(line, name))
            continue;
        line = (struct lks_str){line.ptr + strlen(name), line.len - strlen(name)};
        if (lks_str_number(line, UINT64_MAX, &seconds) && seconds > 0)
            say(d, "login", BAD,
                "the OpenID provider has not answered for %" PRIu64 " s: no login can start, and "
                "open ones continue; "
                "lockstepd's log has the "
                "cause",
                seconds);
        else
            say(d, "login", GOOD, "the OpenID provider answered when it was last asked");
    }
}

static void check_snapshot(struct doctor *d, struct lks_str metrics)
{
    if (lks_str_find(metrics, LKS_STR("\nlockstep_snapshots_unused_total 1\n")) >= 0)
        say(d, "snapshot", NOTE,
            "lockstepd rejected the stored snapshot when it started, and read all rows; see "
            "'the snapshot was not used' in its log for the cause; the next snapshot replaces it");
    else if (lks_str_find(metrics, LKS_STR("\nlockstep_snapshots_unused_total 0\n")) >= 0)
        say(d, "snapshot", GOOD, "lockstepd rejected no snapshot when it started");
}

static void check_metrics(struct doctor *d)
{
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
    struct lks_client *client = NULL;
    struct lks_err err;
    char server[PATH_MAX];
    if (lks_controller_server(d->dir, server, &err) != LKS_OK)
        return;
    struct lks_client_options options = {.server = server, .timeout_ms = ANSWER_MS};
    bool asked = lks_client_new(&options, &client, &err) == LKS_OK &&
                 lks_client_exchange(client, "GET", "/metrics", NULL, LKS_STR(""), "", &answer,
                                     &err) == LKS_OK &&
                 answer.status == 200;
    lks_client_free(client);
    if (!asked)
        return; /* whether it answers at all was checked before */
    check_limits(d, lks_buf_view(&answer.body));
    check_snapshot(d, lks_buf_view(&answer.body));
    check_login(d, lks_buf_view(&answer.body));
}

static void check_token(struct doctor *d)
{
    char path[PATH_MAX];
    struct lks_err err;
    struct stat st;
    if (lks_path_join(path, d->dir, "admin.token", &err) == LKS_OK && stat(path, &st) == 0)
        say(d, "admin token", NOTE, "%s still lies there; keep it elsewhere", path);
}

/* Every secret opens, under the key that the configuration refers to. */
static void check_secrets(struct doctor *d)
{
    static const char *const names[] = {"ca.key", "server.key", "journal.key", "command.key"};
    struct lks_seal_key key;
    struct lks_err err;
    bool good = true;
    if (lks_controller_seal_key(d->dir, &key, &err) != LKS_OK) {
        say(d, "secrets", BAD, "%s", err.msg);
        return;
    }
    for (size_t i = 0; i < LKS_COUNT(names); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf plain = LKS_BUF(LKS_SECRET_MAX);
        if (lks_secrets_read(d->dir, &key, names[i], &plain, &err) != LKS_OK) {
            say(d, "secrets", BAD, "%s", err.msg);
            good = false;
        }
        if (plain.ptr != NULL)
            explicit_bzero(plain.ptr, plain.cap);
    }
    explicit_bzero(&key, sizeof(key));
    if (good)
        say(d, "secrets", GOOD, "the sealing key is there and fits");
}

static void check_certificate(struct doctor *d, const char *name)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf pem = LKS_BUF(LKS_X509_PEM_MAX);
    struct lks_x509_about about;
    struct lks_err err;
    char path[PATH_MAX], until[LKS_TIME_TEXT_SIZE];
    if (lks_path_join(path, d->dir, name, &err) != LKS_OK ||
        lks_file_read_plain(path, &pem, &err) != LKS_OK ||
        lks_x509_read(lks_buf_view(&pem), &about, &err) != LKS_OK) {
        say(d, name, BAD, "%s", err.msg);
        return;
    }
    int64_t left = about.not_after - d->cli->now;
    lks_time_text((lks_ms)about.not_after * LKS_SECOND, until);
    if (about.not_before > d->cli->now)
        say(d, name, BAD, "not valid yet: is the clock right?");
    else
        say(d, name,
            left < 0                            ? BAD
            : left < (int64_t)SOON_DAYS * DAY_S ? NOTE
                                                : GOOD,
            "good until %s", until);
}

/* Read before the journal: lockstepd may write both meanwhile, and the file after the rows. */
struct seen_look {
    struct lks_seen seen;
    struct lks_err why;
    enum lks_code code;
};

static void read_seen(const struct doctor *d, struct seen_look *look)
{
    struct lks_seal_key key;
    look->code = lks_controller_seal_key(d->dir, &key, &look->why);
    if (look->code == LKS_OK)
        look->code = lks_seen_read(d->dir, &key, &look->seen, &look->why);
    explicit_bzero(&key, sizeof(key));
}

/* What lockstepd last saw of the journal is still in it. */
static void check_seen(struct doctor *d, struct seen_look *look, const struct lks_verify *v,
                       struct lks_store *store)
{
    struct lks_engine_place place = {.seq = look->seen.seq, .time = look->seen.time};
    memcpy(place.hash, look->seen.hash, sizeof(place.hash));
    if (look->code == LKS_E_NOT_FOUND && v->signed_from == 0)
        say(d, "seen-head", NOTE, "not there yet: the next start writes it");
    else if (look->code == LKS_OK && look->seen.plain)
        say(d, "seen-head", BAD, "not sealed: lockstepd of this version did not write it");
    else if (look->code != LKS_OK || lks_engine_place_check(store, &place, &look->why) != LKS_OK)
        say(d, "seen-head", BAD, "%s", look->why.msg);
    else
        say(d, "seen-head", GOOD, "row %" PRIu64 ", which the journal has", place.seq);
}

static void check_journal(struct doctor *d)
{
    struct seen_look seen = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    struct lks_public_key key;
    struct lks_verify v = {0};
    struct lks_store_tail tail;
    struct lks_err err;
    char path[PATH_MAX];
    read_seen(d, &seen);
    if (lks_path_join(path, d->dir, "journal.pub", &err) != LKS_OK ||
        lks_controller_public_key(path, &key, &err) != LKS_OK ||
        lks_controller_journal(d->dir, LKS_STORE_READ, &store, &err) != LKS_OK ||
        lks_journal_verify(&store, &(struct lks_verify_options){.key = &key}, &v, &err) != LKS_OK ||
        store.ops->tail(store.self, &tail, &err) != LKS_OK) {
        say(d, "journal", BAD, "%s", err.msg);
        return;
    }
    if (v.fault != LKS_FAULT_NONE)
        say(d, "journal", BAD, "%s at row %" PRIu64 ": %s", lks_fault_words[v.fault], v.at, v.text);
    else
        say(d, "journal", GOOD, "%" PRIu64 " rows, %" PRIu64 " signed heads", v.rows, v.heads);
    check_seen(d, &seen, &v, &store);
    if (tail.time > ((lks_ms)d->cli->now + 60) * LKS_SECOND)
        say(d, "journal clock", BAD,
            "ahead of this machine's by %" PRIu64 " s: one of them is wrong",
            tail.time / LKS_SECOND - (lks_ms)d->cli->now);
}

/* The depot ----------------------------------------------------------------------------------- */

struct depot_look {
    struct doctor *d;
    uint64_t recorded, missing;
    struct lks_buf names; /* of the first that are missing */
};

static bool is_held(const char *dir, struct lks_str digest, int64_t size)
{
    const size_t skip = strlen("sha256:");
    char path[PATH_MAX];
    struct stat st;
    if (!lks_digest_valid(digest))
        return false;
    int len = snprintf(path, sizeof(path), "%s/depot/sha256/%.2s/%.62s", dir, digest.ptr + skip,
                       digest.ptr + skip + 2);
    return len > 0 && (size_t)len < sizeof(path) && lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           st.st_size == size;
}

static enum lks_code look_at_artifact(void *ctx, const struct lks_doc *item, struct lks_err *err)
{
    struct depot_look *look = ctx;
    const struct lks_doc *size = lks_doc_member(item, "size");
    struct lks_str digest = lks_doc_text(item, "digest"), name = lks_doc_text(item, "name");
    (void)err;
    look->recorded++;
    if (is_held(look->d->dir, digest, size != NULL ? size->number : 0))
        return LKS_OK;
    if (look->missing++ < MISSING_TOLD)
        lks_buf_addf(&look->names, "%s%" LKS_STR_FMT "%s%.*s", look->missing > 1 ? ", " : "",
                     LKS_STR_ARG(name), name.len > 0 ? " " : "",
                     (int)(digest.len < DIGEST_TOLD ? digest.len : DIGEST_TOLD), digest.ptr);
    return LKS_OK;
}

/* What the journal of the running lockstepd has, compared with the files of this controller. What
 * nothing needs is collected every day, so the rest may be needed at any time. */
static void check_depot(struct doctor *d)
{
    struct depot_look look = {.d = d};
    struct lks_remote remote = {0};
    struct lks_remote_path path = {0};
    struct lks_err err = {0};
    char server[PATH_MAX];
    if (lks_controller_server(d->dir, server, &err) != LKS_OK)
        return;
    struct lks_client_options options = {.server = server, .timeout_ms = ANSWER_MS};
    lks_buf_init(&look.names, TEXT_MAX / 2);
    lks_remote_path_init(&path, "/v1/artifacts");
    if (lks_client_new(&options, &remote.client, &err) != LKS_OK ||
        lks_remote_list(&remote, &path, "after", 0, look_at_artifact, &look, &err) != LKS_OK)
        say(d, "depot", NOTE, "not compared with the journal: %s", err.msg);
    else if (look.missing > 0)
        say(d, "depot", BAD,
            "%" PRIu64 " of %" PRIu64
            " artifacts are missing here: %s%s; they are fetched from the "
            "controllers of controller.agents: put those again that none of them has",
            look.missing, look.recorded, look.names.ptr,
            look.missing > MISSING_TOLD ? ", ..." : "");
    else
        say(d, "depot", GOOD, "all %" PRIu64 " artifacts of the journal are here", look.recorded);
    lks_buf_fini(&look.names);
    lks_remote_path_fini(&path);
    lks_remote_fini(&remote);
}

/* The command ------------------------------------------------------------------------------- */

static void check_all(struct doctor *d)
{
    check_version(d);
    check_clock(d);
    if (d->dir != NULL) {
        check_folder(d);
        check_owners(d);
        check_token(d);
        check_home(d);
        check_socket(d);
        check_metrics(d);
        check_secrets(d);
        check_certificate(d, "ca.crt");
        check_certificate(d, "server.crt");
        check_journal(d);
        check_depot(d);
    }
    check_hardware(d);
}

static const struct lks_listing_column columns[] = {
    LKS_PLAIN_LEFT("check", "check"),
    {"state", "state", 0, "[{.=good}green|{.=note}yellow|red]"},
    LKS_PLAIN_WRAP("what", "text"),
};

static enum lks_code show(struct lks_cli *cli, const struct lks_args *args,
                          const struct lks_doc *found, struct lks_err *err)
{
    static const struct lks_listing_part checks = {"checks", LKS_PART_COLUMNS(columns), NULL, true};
    (void)args;
    return lks_listing_part(cli, &checks, found, err);
}

enum lks_code lks_cmd_doctor(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    struct doctor d = {.cli = cli, .w = lks_output_begin(&o)};
    d.dir = args->positional_count > 0 ? args->positional[0] : NULL;
    lks_json_begin(d.w, "checks", '[');
    check_all(&d);
    lks_json_end(d.w, ']');
    cli->no = d.bad;
    return lks_output_show(cli, args, &o, show, err);
}
