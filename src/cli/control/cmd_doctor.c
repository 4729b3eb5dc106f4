/* doctor: what could be wrong, looked at one thing after the other. */
#include "base/file.h"
#include "base/time.h"
#include "cli/control/doctor.h"
#include "cli/shared/commands.h"
#include "cli/shared/controller.h"
#include "cli/shared/input.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"
#include "cli/shared/render.h"
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
    SOON_DAYS = 30,
    FACTS_DAYS = 120, /* without an advisory: vendors publish more often */
    DAY_S = 86400,
    ROOM_MIB = 512,
    MIB = 1 << 20,
};

#define GOOD LKS_DOCTOR_GOOD
#define NOTE LKS_DOCTOR_NOTE
#define BAD  LKS_DOCTOR_BAD

static const char *const states[] = {"good", "note", "bad"};

void lks_doctor_fix(struct lks_doctor *d, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(d->fix, sizeof(d->fix), fmt, ap);
    va_end(ap);
}

void lks_doctor_say(struct lks_doctor *d, const char *name, enum lks_doctor_state state,
                    const char *fmt, ...)
{
    char text[LKS_DOCTOR_TEXT_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    d->bad = d->bad || state == BAD;
    lks_json_begin(d->w, NULL, '{');
    lks_json_cstr(d->w, "check", name);
    lks_json_cstr(d->w, "state", states[state]);
    lks_json_cstr(d->w, "text", text);
    lks_json_some(d->w, "fix", lks_str_from(d->fix));
    lks_json_end(d->w, '}');
    d->fix[0] = '\0';
}

/* This machine
 * ------------------------------------------------------------------------------
 */

static void check_version(struct lks_doctor *d)
{
    const char *commit = d->cli->commit != NULL ? d->cli->commit : "unknown";
    lks_doctor_say(d, "version", GOOD, "lockstep %s (commit %s)", LKS_VERSION, commit);
}

static void check_clock(struct lks_doctor *d)
{
    struct timex t = {0};
    int state = adjtimex(&t);
    if (state < 0 || (t.status & STA_UNSYNC) != 0) {
        lks_doctor_fix(d, "timedatectl set-ntp true");
        lks_doctor_say(d, "clock", NOTE,
                       "not known to be synchronised: certificates and records rely on it");
    } else {
        lks_doctor_say(d, "clock", GOOD, "synchronised, estimated error %ld us", t.esterror);
    }
}

/* Without new advisories, exposure is evaluated by what was known long ago. */
static void check_facts(struct lks_doctor *d)
{
    LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
    struct lks_err err = {0};
    lks_day newest = 0;
    char day[LKS_DAY_TEXT_SIZE];
    if (lks_input_facts(d->cli->data_dir, &facts, &err) != LKS_OK) {
        lks_doctor_fix(d, "unset LOCKSTEP_DATA");
        lks_doctor_say(d, "facts", BAD, "%s", err.msg);
        return;
    }
    for (size_t i = 0; i < facts.advisories.count; i++) {
        if (facts.advisories.rows[i].published > newest)
            newest = facts.advisories.rows[i].published;
    }
    bool old = d->cli->today - newest > FACTS_DAYS;
    if (old)
        lks_doctor_fix(d, "apt-get install --only-upgrade lockstep");
    lks_doctor_say(d, "facts", old ? NOTE : GOOD, "the newest advisory known is of %s%s",
                   lks_time_day_text(newest, day), old ? ": a newer release knows more" : "");
}

/* Beside probes: what speaks to hardware and was tried on models of it alone.
 */
static const char *const unproven[] = {"updates by a BMC over Redfish", "updates by a switch tray",
                                       "PLDM with a device, MCTP on a serial line",
                                       "Xids, ports that go down and reference loads, for gates"};

static void check_hardware(struct lks_doctor *d)
{
    for (size_t i = 0; i < LKS_COUNT(unproven); i++)
        lks_doctor_say(d, "hardware", NOTE, "%s: never tried on the hardware itself", unproven[i]);
    for (size_t i = 0; i < lks_probe_count; i++) {
        if (lks_probes[i].unproven)
            lks_doctor_say(d, "hardware", NOTE,
                           "the probe '%s' never ran on the hardware it is for",
                           lks_probes[i].name);
    }
}

/* The data directory
 * ------------------------------------------------------------------------ */

static void check_folder(struct lks_doctor *d)
{
    struct stat st;
    struct statvfs fs;
    if (stat(d->dir, &st) != 0 || statvfs(d->dir, &fs) != 0) {
        struct lks_err err = {0};
        (void)!lks_file_fail(&err, d->dir);
        lks_doctor_say(d, "directory", BAD, "%s", err.msg);
        return;
    }
    if (!S_ISDIR(st.st_mode)) {
        lks_doctor_say(d, "directory", BAD, "%s: not a directory", d->dir);
    } else if ((st.st_mode & 077U) != 0) {
        lks_doctor_fix(d, "chmod 700 %s", d->dir);
        lks_doctor_say(d, "directory", BAD, "%s: readable by others (mode %03o); chmod 700", d->dir,
                       (unsigned)st.st_mode & 0777U);
    } else {
        lks_doctor_say(d, "directory", GOOD, "%s, for its owner alone", d->dir);
    }
    uint64_t free_mib = (uint64_t)fs.f_bavail * fs.f_frsize / MIB;
    if (free_mib < ROOM_MIB)
        lks_doctor_fix(d, "lockstep artifact collect && df -h %s", d->dir);
    lks_doctor_say(d, "disk", free_mib < ROOM_MIB ? BAD : GOOD, "%" PRIu64 " MiB free", free_mib);
}

/* lockstepd runs as the owner of the directory. A command that root gave there
 * may have left files that this user cannot write, and a file of a third user
 * is that user's to change. */
static void check_owners(struct lks_doctor *d)
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
            st.st_uid != home.st_uid) {
            lks_doctor_fix(d, "chown -R %u %s", (unsigned)home.st_uid, d->dir);
            lks_doctor_say(d, "owner", BAD,
                           "%s belongs to user %u, and the directory to user %u, as "
                           "lockstepd runs; chown -R "
                           "it to that user",
                           path, (unsigned)st.st_uid, (unsigned)home.st_uid);
        }
    }
}

static void check_home(struct lks_doctor *d)
{
    struct lks_err err;
    if (lks_controller_at_home(d->dir, &err) != LKS_OK) {
        lks_doctor_fix(d, "lockstepd --check --config %s/lockstepd.yaml", d->dir);
        lks_doctor_say(d, "config", BAD, "%s", err.msg);
    } else {
        lks_doctor_say(d, "config", GOOD,
                       "it is for this directory; 'lockstepd --check --config "
                       "FILE' validates every key");
    }
}

static void check_token(struct lks_doctor *d)
{
    char path[PATH_MAX];
    struct lks_err err;
    struct stat st;
    if (lks_path_join(path, d->dir, "admin.token", &err) == LKS_OK && stat(path, &st) == 0) {
        lks_doctor_fix(d, "install -m 600 %s ~/lockstep.token && rm %s", path, path);
        lks_doctor_say(d, "admin token", NOTE, "%s still lies there; keep it elsewhere", path);
    }
}

/* Every secret opens, under the key that the configuration refers to. */
static void check_secrets(struct lks_doctor *d)
{
    static const char *const names[] = {"ca.key", "server.key", "journal.key", "command.key"};
    struct lks_seal_key key;
    struct lks_err err;
    bool good = true;
    if (lks_controller_seal_key(d->dir, &key, &err) != LKS_OK) {
        lks_doctor_say(d, "secrets", BAD, "%s", err.msg);
        return;
    }
    for (size_t i = 0; i < LKS_COUNT(names); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf plain = LKS_BUF(LKS_SECRET_MAX);
        if (lks_secrets_read(d->dir, &key, names[i], &plain, &err) != LKS_OK) {
            lks_doctor_say(d, "secrets", BAD, "%s", err.msg);
            good = false;
        }
        if (plain.ptr != NULL)
            explicit_bzero(plain.ptr, plain.cap);
    }
    explicit_bzero(&key, sizeof(key));
    if (good)
        lks_doctor_say(d, "secrets", GOOD, "the sealing key is there and fits");
}

/* lockstepd renews a certificate of its own CA by itself, in time before this check complains: none
 * ran, or it could not. A certificate of another CA is replaced by the site. */
static void fix_certificate(struct lks_doctor *d, const char *name, const struct lks_buf *pem)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf ca = LKS_BUF(LKS_X509_PEM_MAX);
    struct lks_err ignored;
    char path[PATH_MAX];
    if (strcmp(name, "server.crt") == 0 &&
        lks_path_join(path, d->dir, "ca.crt", &ignored) == LKS_OK &&
        lks_file_read_plain(path, &ca, &ignored) == LKS_OK &&
        lks_x509_issued_by(lks_buf_view(pem), lks_buf_view(&ca)))
        lks_doctor_fix(d, "systemctl reload-or-restart lockstepd");
}

static void check_certificate(struct lks_doctor *d, const char *name)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf pem = LKS_BUF(LKS_X509_PEM_MAX);
    struct lks_x509_about about;
    struct lks_err err;
    char path[PATH_MAX], until[LKS_TIME_TEXT_SIZE];
    if (lks_path_join(path, d->dir, name, &err) != LKS_OK ||
        lks_file_read_plain(path, &pem, &err) != LKS_OK ||
        lks_x509_read(lks_buf_view(&pem), &about, &err) != LKS_OK) {
        lks_doctor_say(d, name, BAD, "%s", err.msg);
        return;
    }
    int64_t left = about.not_after - d->cli->now;
    lks_time_text((lks_ms)about.not_after * LKS_SECOND, until);
    if (about.not_before <= d->cli->now && left < (int64_t)SOON_DAYS * DAY_S)
        fix_certificate(d, name, &pem);
    if (about.not_before > d->cli->now)
        lks_doctor_say(d, name, BAD, "not valid yet: is the clock right?");
    else
        lks_doctor_say(d, name,
                       left < 0                            ? BAD
                       : left < (int64_t)SOON_DAYS * DAY_S ? NOTE
                                                           : GOOD,
                       "good until %s, %lld days", until, (long long)(left > 0 ? left / DAY_S : 0));
}

static void check_ca(struct lks_doctor *d)
{
    check_certificate(d, "ca.crt");
}

static void check_server(struct lks_doctor *d)
{
    check_certificate(d, "server.crt");
}

/* Read before the journal: lockstepd may write both meanwhile, and the file
 * after the rows. */
struct seen_look {
    struct lks_seen seen;
    struct lks_err why;
    enum lks_code code;
};

static void read_seen(const struct lks_doctor *d, struct seen_look *look)
{
    struct lks_seal_key key;
    look->code = lks_controller_seal_key(d->dir, &key, &look->why);
    if (look->code == LKS_OK)
        look->code = lks_seen_read(d->dir, &key, &look->seen, &look->why);
    explicit_bzero(&key, sizeof(key));
}

/* What lockstepd last saw of the journal is still in it. */
static void check_seen(struct lks_doctor *d, struct seen_look *look, const struct lks_verify *v,
                       struct lks_store *store)
{
    struct lks_engine_place place = {.seq = look->seen.seq, .time = look->seen.time};
    memcpy(place.hash, look->seen.hash, sizeof(place.hash));
    if (look->code == LKS_E_NOT_FOUND && v->signed_from == 0)
        lks_doctor_say(d, "seen-head", NOTE, "not there yet: the next start writes it");
    else if (look->code == LKS_OK && look->seen.plain)
        lks_doctor_say(d, "seen-head", BAD,
                       "not sealed: lockstepd of this version did not write it");
    else if (look->code != LKS_OK || lks_engine_place_check(store, &place, &look->why) != LKS_OK)
        lks_doctor_say(d, "seen-head", BAD, "%s", look->why.msg);
    else
        lks_doctor_say(d, "seen-head", GOOD, "row %" PRIu64 ", which the journal has", place.seq);
}

/* A backup, and a repair, need room for a copy. A journal in PostgreSQL is not
 * here. */
static void check_size(struct lks_doctor *d)
{
    struct lks_err err = {0};
    struct statvfs fs;
    struct stat st;
    char path[PATH_MAX];
    if (lks_path_join(path, d->dir, "journal.db", &err) != LKS_OK || stat(path, &st) != 0 ||
        statvfs(d->dir, &fs) != 0)
        return;
    uint64_t size = (uint64_t)st.st_size, room = (uint64_t)fs.f_bavail * fs.f_frsize;
    if (room < size)
        lks_doctor_fix(d, "df -h %s", d->dir);
    lks_doctor_say(d, "size", room < size ? NOTE : GOOD, "%" PRIu64 " MiB%s", size / MIB,
                   room < size ? ": more than is free on the disk, and a backup needs a copy" : "");
}

static void check_journal(struct lks_doctor *d)
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
        lks_doctor_say(d, "journal", BAD, "%s", err.msg);
        return;
    }
    if (v.fault != LKS_FAULT_NONE) {
        lks_doctor_fix(d, "lockstep journal verify %s", d->dir);
        lks_doctor_say(d, "journal", BAD, "%s at row %" PRIu64 ": %s", lks_fault_words[v.fault],
                       v.at, v.text);
    } else {
        lks_doctor_say(d, "journal", GOOD, "%" PRIu64 " rows, %" PRIu64 " signed heads", v.rows,
                       v.heads);
    }
    check_size(d);
    check_seen(d, &seen, &v, &store);
    if (tail.time > ((lks_ms)d->cli->now + 60) * LKS_SECOND) {
        lks_doctor_fix(d, "timedatectl set-ntp true");
        lks_doctor_say(d, "journal clock", BAD,
                       "ahead of this machine's by %" PRIu64 " s: one of them is wrong",
                       tail.time / LKS_SECOND - (lks_ms)d->cli->now);
    }
}

/* The table
 * ---------------------------------------------------------------------------------
 */

const char *const lks_doctor_place_words[] = {"this machine", "DIR", "controller"};

const struct lks_doctor_check lks_doctor_checks[] = {
    {"version", LKS_DOCTOR_MACHINE, check_version, "Version and commit of this program."},
    {"clock", LKS_DOCTOR_MACHINE, check_clock, "The clock of this machine is synchronised."},
    {"facts", LKS_DOCTOR_MACHINE, check_facts,
     "Age of the newest advisory in the tables of facts."},
    {"directory", LKS_DOCTOR_DATA, check_folder,
     "The data directory is there, for its owner alone."},
    {"disk", LKS_DOCTOR_DATA, NULL, "At least 512 MiB are free there."},
    {"owner", LKS_DOCTOR_DATA, check_owners,
     "Files in it belong to the user that lockstepd runs as."},
    {"admin token", LKS_DOCTOR_DATA, check_token, "The first token was moved elsewhere."},
    {"config", LKS_DOCTOR_DATA, check_home, "The configuration is for this directory."},
    {"socket", LKS_DOCTOR_CONTROLLER, lks_doctor_socket,
     "lockstepd answers, and can write its journal."},
    {"controller clock", LKS_DOCTOR_CONTROLLER, lks_doctor_clock,
     "With --server https://...: its clock and this machine's agree to 3 s."},
    {"followers", LKS_DOCTOR_CONTROLLER, lks_doctor_followers,
     "The controller leads, or is at most 5 s behind the leader."},
    {"limits", LKS_DOCTOR_CONTROLLER, lks_doctor_limits,
     "No request was turned away by a limit of callers."},
    {"snapshot", LKS_DOCTOR_CONTROLLER, lks_doctor_snapshot,
     "lockstepd could use its snapshot when it started."},
    {"login", LKS_DOCTOR_CONTROLLER, lks_doctor_login, "The OpenID provider answers."},
    {"served cert", LKS_DOCTOR_CONTROLLER, lks_doctor_served,
     "The certificate that lockstepd serves is valid for 30 days or more."},
    {"webhook", LKS_DOCTOR_CONTROLLER, lks_doctor_webhook,
     "With webhook.listen: API servers of Kubernetes ask about pods, with a certificate that is "
     "valid for 30 days or more."},
    {"alarms", LKS_DOCTOR_CONTROLLER, lks_doctor_alarms, "No alarm is open."},
    {"admission", LKS_DOCTOR_CONTROLLER, lks_doctor_unanswered,
     "No scheduler reported jobs that it started without an answer, or a person closed the alarm."},
    {"readings", LKS_DOCTOR_CONTROLLER, lks_doctor_readings,
     "Age of the oldest report of an agent."},
    {"schedulers", LKS_DOCTOR_CONTROLLER, lks_doctor_schedulers, "The schedulers of pools answer."},
    {"gres", LKS_DOCTOR_CONTROLLER, lks_doctor_gres,
     "Schedulers advertise the GPUs that stacks pin, but for a few nodes."},
    {"bridges", LKS_DOCTOR_CONTROLLER, lks_doctor_bridges,
     "Bridges to schedulers have the epoch of the leader, and the fleet has nodes at their sites."},
    {"verdicts", LKS_DOCTOR_CONTROLLER, lks_doctor_verdicts,
     "Schedulers show lockstep's verdicts on nodes, or have for less than 10 minutes not."},
    {"slots", LKS_DOCTOR_CONTROLLER, lks_doctor_slots,
     "No pool has more stacks than slots in its scheduler."},
    {"submissions", LKS_DOCTOR_CONTROLLER, lks_doctor_submissions,
     "Bridges that have --policy write the submission policy."},
    {"runs", LKS_DOCTOR_CONTROLLER, lks_doctor_runs,
     "The runs of jobs that ended are read, without a gap in the last 24 hours."},
    {"job lists", LKS_DOCTOR_CONTROLLER, lks_doctor_job_lists,
     "Schedulers list the jobs that plans and drains ask for."},
    {"reservations", LKS_DOCTOR_CONTROLLER, lks_doctor_reservations,
     "Schedulers reserve nodes for windows of changes, in pools with 'reserve: true'."},
    {"sweeps", LKS_DOCTOR_CONTROLLER, lks_doctor_sweeps,
     "Management endpoints are read as often as configured."},
    {"endpoints", LKS_DOCTOR_CONTROLLER, lks_doctor_endpoints,
     "Management endpoints answer and present the recorded key."},
    {"secrets", LKS_DOCTOR_DATA, check_secrets, "The sealing key opens every secret."},
    {"ca.crt", LKS_DOCTOR_DATA, check_ca,
     "The certificate of the CA is valid for 30 days or more."},
    {"server.crt", LKS_DOCTOR_DATA, check_server, "The certificate of the server, likewise."},
    {"journal", LKS_DOCTOR_DATA, check_journal, "The journal verifies: chain, signatures, heads."},
    {"size", LKS_DOCTOR_DATA, NULL, "The journal is smaller than the free space of the disk."},
    {"seen-head", LKS_DOCTOR_DATA, NULL, "The journal still has the row that lockstepd saw last."},
    {"journal clock", LKS_DOCTOR_DATA, NULL, "The newest record is not from the future."},
    {"depot", LKS_DOCTOR_DATA, lks_doctor_depot, "The artifacts of the journal are in the depot."},
    {"hardware", LKS_DOCTOR_MACHINE, check_hardware,
     "Functions that were never tried on real hardware."},
};
const size_t lks_doctor_check_count = LKS_COUNT(lks_doctor_checks);

/* The command
 * -------------------------------------------------------------------------------
 */

static void check_all(struct lks_doctor *d)
{
    for (size_t i = 0; i < lks_doctor_check_count; i++) {
        const struct lks_doctor_check *check = &lks_doctor_checks[i];
        if (check->run != NULL && (d->dir != NULL || check->place != LKS_DOCTOR_DATA))
            check->run(d);
    }
    lks_http_answer_fini(&d->metrics);
    lks_remote_fini(&d->remote);
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
    if (lks_listing_part(cli, &checks, found, err) != LKS_OK)
        return err->code;
    lks_render_each(cli->out, "checks", "[to fix {check}: {fix}\n]", found, args);
    return LKS_OK;
}

enum lks_code lks_cmd_doctor(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    struct lks_doctor d = {.cli = cli, .args = args, .w = lks_output_begin(&o)};
    d.dir = args->positional_count > 0 ? args->positional[0] : NULL;
    lks_json_begin(d.w, "checks", '[');
    check_all(&d);
    lks_json_end(d.w, ']');
    cli->no = d.bad;
    return lks_output_show(cli, args, &o, show, err);
}
