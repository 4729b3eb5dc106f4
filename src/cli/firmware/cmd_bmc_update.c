/* bmc update. */
#include "cli/firmware/cmd_bmc_update.h"

#include "base/process/interrupt.h"
#include "base/term/confirm.h"
#include "cli/shared/bundledir.h"
#include "cli/shared/commands.h"
#include "cli/shared/input.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    READ_S = 300,
    DEADLINE_MIN = 120,
    DEADLINE_MAX = 7 * 24 * 60,
    LIST_MAX = 4096,
    SPEED_MAX = 1000000,
    REASON_MAX = 500
};

/* What is asked for ------------------------------------------------------------------------- */

static enum lks_code choose_act(const struct lks_args *args, enum lks_bmc_act *out,
                                struct lks_err *err)
{
    static const struct {
        const char *option;
        enum lks_bmc_act act;
    } acts[] = {
        {"--stage", LKS_BMC_STAGE},
        {"--activate", LKS_BMC_ACTIVATE},
        {"--abort", LKS_BMC_ABORT},
        {"--switch", LKS_BMC_SWITCH},
    };
    unsigned given = 0;
    *out = LKS_BMC_UPDATE;
    for (size_t i = 0; i < LKS_COUNT(acts); i++) {
        if (lks_args_has(args, acts[i].option)) {
            *out = acts[i].act;
            given++;
        }
    }
    bool bundle = lks_args_has(args, "--bundle");
    if (given > 1)
        return lks_fail(err, LKS_E_USAGE,
                        "one of --stage, --activate, --abort and --switch at a time");
    if (*out <= LKS_BMC_STAGE && !bundle)
        return lks_fail(err, LKS_E_USAGE, "--bundle names the folder with what is to be installed");
    if (lks_args_has(args, "--to") && (*out != LKS_BMC_ACTIVATE || bundle))
        return lks_fail(err, LKS_E_USAGE,
                        "--to says what --activate is to find staged; without that, or with "
                        "--bundle, the bundle has the version");
    if (*out > LKS_BMC_STAGE && !lks_args_has(args, "--component"))
        return lks_fail(err, LKS_E_USAGE, "--component says of what");
    return LKS_OK;
}

static bool take_text(char *out, size_t size, struct lks_str value)
{
    if (value.len >= size)
        return false;
    memcpy(out, value.len > 0 ? value.ptr : "", value.len);
    out[value.len] = '\0';
    return true;
}

/* The artifact for --component and of --file, or the only one. */
static enum lks_code choose_artifact(const struct lks_args *args, const struct lks_bundle *b,
                                     const struct lks_bundle_artifact **out, struct lks_err *err)
{
    struct lks_str component = lks_args_str(args, "--component");
    struct lks_str file = lks_args_str(args, "--file");
    bool none = component.len == 0 && file.len == 0;
    if (none && b->count != 1)
        return lks_fail(err, LKS_E_USAGE,
                        "the bundle has %zu entries: say which with --component or --file "
                        "('lockstep bundle inspect' lists them)",
                        b->count);
    if (none)
        *out = &b->artifacts[0];
    else if (lks_bundle_choose(b, component, file, out, err) != LKS_OK)
        return lks_wrap(err, "--component and --file");
    if ((*out)->kind != LKS_BUNDLE_FIRMWARE)
        return lks_fail(err, LKS_E_INVALID, "%" LKS_STR_FMT ": is no firmware",
                        LKS_STR_ARG((*out)->name));
    return LKS_OK;
}

/* What the bundle has for it, whole and verified. */
static enum lks_code take_bundle(struct lks_cli *cli, const struct lks_args *args,
                                 struct lks_bmc_update *u, struct lks_bundledir *b,
                                 const struct lks_bundle_artifact **artifact, struct lks_err *err)
{
    const char *folder = lks_args_get(args, "--bundle");
    int fd = -1;
    if (lks_path_absolute(u->folder, folder, err) != LKS_OK ||
        lks_bundledir_open(cli, folder, u->at->state, u->facts, b, err) != LKS_OK ||
        choose_artifact(args, &b->bundle, artifact, err) != LKS_OK ||
        lks_bundledir_file(b, *artifact, &fd, err) != LKS_OK)
        return err->code;
    const struct lks_bundle_artifact *a = *artifact;
    LKS_ASSERT(a != NULL);
    u->fd = fd + 1;
    memcpy(u->bundle, b->bundle.digest, sizeof(u->bundle));
    if (!take_text(u->component, sizeof(u->component), a->component) ||
        !take_text(u->version, sizeof(u->version), a->version) ||
        !take_text(u->file, sizeof(u->file), a->name) ||
        !take_text(u->intent.image.digest, sizeof(u->intent.image.digest), a->digest))
        return lks_fail(err, LKS_E_LIMIT, "%" LKS_STR_FMT ": its name or version is too long",
                        LKS_STR_ARG(a->name));
    u->intent.image.length = a->size;
    u->intent.image_size = a->size;
    u->one_way = a->one_way;
    return LKS_OK;
}

/* An address is written down in many places, so it holds no password. */
static enum lks_code take_pull(const struct lks_args *args, struct lks_bmc_update *u,
                               struct lks_err *err)
{
    struct lks_str pull = lks_args_str(args, "--pull");
    bool tls = lks_str_starts(pull, "https://");
    if (lks_str_starts(pull, "http://"))
        return lks_fail(
            err, LKS_E_USAGE,
            "--pull: expected https://HOST/PATH: without TLS anybody on the way chooses "
            "what the endpoint flashes");
    if (pull.len > 0 && (!tls || !lks_str_printable(pull) || memchr(pull.ptr, '@', pull.len) ||
                         !take_text(u->pull, sizeof(u->pull), pull)))
        return lks_fail(err, LKS_E_USAGE,
                        "--pull: an address such as https://HOST/PATH, without a password in it");
    u->intent.pull = lks_str_from(u->pull);
    return LKS_OK;
}

/* The reason is part of the record of the update, so an override has one. */
static enum lks_code take_override(const struct lks_args *args, struct lks_bmc_update *u,
                                   struct lks_err *err)
{
    struct lks_str reason = lks_str_trim(lks_args_str(args, "--write-protected"));
    bool good = reason.len > 0 && reason.len <= REASON_MAX && lks_str_printable(reason);
    if (lks_args_has(args, "--write-protected") && !good)
        return lks_fail(err, LKS_E_USAGE,
                        "--write-protected: expected why the write protection is overridden, a "
                        "line of at most %d bytes",
                        REASON_MAX);
    u->write_protected = reason;
    u->intent.write_protected = reason.len > 0;
    return LKS_OK;
}

static enum lks_code take_intent(struct lks_cli *cli, const struct lks_args *args,
                                 struct lks_bmc_update *u, struct lks_err *err)
{
    uint64_t minutes;
    if (!take_text(u->apply_time, sizeof(u->apply_time), lks_args_str(args, "--apply-time")))
        return lks_fail(err, LKS_E_USAGE,
                        "--apply-time: Immediate, OnReset, ... as Redfish has it");
    if (u->bundle[0] == '\0' &&
        (!take_text(u->component, sizeof(u->component), lks_args_str(args, "--component")) ||
         !take_text(u->version, sizeof(u->version), lks_args_str(args, "--to"))))
        return lks_fail(err, LKS_E_USAGE, "--component or --to: too long");
    if (take_override(args, u, err) != LKS_OK ||
        lks_listing_number(args, "--deadline", DEADLINE_MAX, DEADLINE_MIN, &minutes, err) !=
            LKS_OK ||
        lks_listing_number(args, "--speed", SPEED_MAX, 1, &u->speed, err) != LKS_OK)
        return err->code;
    if (u->speed > 1 && !lks_curl_url_local(u->at->url))
        return lks_fail(err, LKS_E_USAGE,
                        "--speed: devices take the time they take; it is for simulated ones on "
                        "this machine");
    u->began = (lks_ms)cli->now * 1000;
    u->now = u->began;
    u->intent.deadline = u->began + minutes * 60 * LKS_SECOND;
    u->intent.component = lks_str_from(u->component);
    u->intent.version = lks_str_from(u->version);
    u->intent.image_name = lks_str_from(u->file);
    u->intent.apply_time = lks_str_from(u->apply_time);
    u->intent.force = lks_args_has(args, "--force");
    u->intent.one_way = lks_args_has(args, "--one-way");
    return LKS_OK;
}

/* What is there ----------------------------------------------------------------------------- */

static bool concerns(const struct lks_bmc_update *u, const struct lks_bmc_item *item)
{
    return lks_str_is(item->class, u->component) || lks_str_is(item->id, u->component);
}

/* Append to "1.0, 1.1" what is not in it yet. */
static void list_once(struct lks_buf *list, struct lks_str text)
{
    struct lks_str rest = lks_buf_view(list), item;
    for (bool more = rest.len > 0; more;) {
        more = lks_str_cut(rest, ',', &item, &rest);
        if (lks_str_eq(lks_str_trim(item), text))
            return;
    }
    lks_buf_add(list, list->len > 0 ? LKS_STR(", ") : LKS_STR(""));
    lks_term_clean(list, text);
}

/* The versions in a bank, each once. */
static void list_versions(const struct lks_bmc_update *u, const struct lks_bmc_inventory *i,
                          enum lks_bmc_bank bank, struct lks_buf *out)
{
    for (size_t k = 0; k < i->count; k++) {
        const struct lks_bmc_item *item = &i->items[k];
        if (concerns(u, item) && item->bank == bank && item->version.len > 0)
            list_once(out, item->version);
    }
}

static enum lks_code fail_component(const struct lks_bmc_update *u,
                                    const struct lks_bmc_inventory *i, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf has = LKS_BUF(LIST_MAX);
    for (size_t k = 0; k < i->count; k++) {
        if (i->items[k].class.len > 0)
            list_once(&has, i->items[k].class);
    }
    return lks_fail(err, LKS_E_NOT_FOUND, "%s has no %s; it has %s", u->at->url, u->component,
                    has.len > 0 ? has.ptr : "nothing that is known");
}

/* Each of those that run may be followed by it; where none is known, none may. */
static enum lks_code check_from(const struct lks_bmc_update *u, const struct lks_bmc_inventory *i,
                                const struct lks_bundle_artifact *artifact, struct lks_err *err)
{
    size_t known = 0, bad = 0;
    for (size_t k = 0; k < i->count; k++) {
        const struct lks_bmc_item *item = &i->items[k];
        if (!concerns(u, item) || item->bank != LKS_BANK_ACTIVE || item->version.len == 0)
            continue;
        known++;
        bad += !lks_bundle_follows(u->facts, artifact, item->version);
    }
    if (u->intent.force || artifact->from == NULL || (known > 0 && bad == 0))
        return LKS_OK;
    return lks_fail(err, LKS_E_REFUSED,
                    "%s: the bundle does not say that %s may follow %s; --force does it all the "
                    "same",
                    u->at->url, u->version, known > 0 ? u->from : "what is not known");
}

/* What is activated was staged with what its bundle says; the same thing may go by its class and by
 * the ids of its entries. */
static void recall_one_way(struct lks_bmc_update *u, const struct lks_bmc_inventory *i)
{
    for (size_t k = 0; k < i->count && u->intent.act == LKS_BMC_ACTIVATE; k++) {
        const struct lks_bmc_item *item = &i->items[k];
        if (concerns(u, item))
            u->one_way = u->one_way || lks_bmc_update_staged_one_way(u, item->class) ||
                         lks_bmc_update_staged_one_way(u, item->id);
    }
}

/* Where it comes from; and where only the staged bank says it, where it goes. */
static enum lks_code look(struct lks_bmc_update *u, const struct lks_bundle_artifact *artifact,
                          struct lks_err *err)
{
    LKS_CLEANUP(lks_bmc_inventory_fini) struct lks_bmc_inventory i = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf active = {0}, staged = {0};
    lks_bmc_inventory_init(&i);
    lks_buf_init(&active, LIST_MAX);
    lks_buf_init(&staged, LIST_MAX);
    if (lks_bmc_at_inventory(u->at, u->facts, READ_S, &i, err) != LKS_OK)
        return err->code;
    list_versions(u, &i, LKS_BANK_ACTIVE, &active);
    list_versions(u, &i, LKS_BANK_STAGED, &staged);
    recall_one_way(u, &i);
    if (active.len == 0 && staged.len == 0)
        return fail_component(u, &i, err);
    (void)take_text(u->from, sizeof(u->from), lks_buf_view(&active));
    if (u->version[0] == '\0' && u->intent.act == LKS_BMC_ACTIVATE) {
        if (staged.len == 0 || !take_text(u->version, sizeof(u->version), lks_buf_view(&staged)))
            return lks_fail(err, LKS_E_REFUSED, "%s: nothing is staged for %s", u->at->url,
                            u->component);
        u->intent.version = lks_str_from(u->version);
    }
    return artifact != NULL ? check_from(u, &i, artifact, err) : LKS_OK;
}

/* What it will mean ------------------------------------------------------------------------- */

/* That there is none says the class of firmware, or the bundle of this version. */
static bool is_one_way(const struct lks_bmc_update *u)
{
    const struct lks_firmware_update *f = lks_facts_firmware(u->facts, lks_str_from(u->component));
    return u->one_way || (f != NULL && f->one_way);
}

static void print_way_back(FILE *out, const struct lks_bmc_update *u, bool one_way,
                           const struct lks_firmware_update *f)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    const struct lks_doc *prior = lks_bmc_update_prior(u, &docs);
    struct lks_str folder = lks_doc_text(prior, "folder");
    if (one_way)
        fprintf(out, "  revert     none\n");
    else if (f != NULL && lks_str_is(f->revert, "switch"))
        fprintf(out, "  revert     the other bank: --component %s --switch\n", u->component);
    else if (folder.len > 0 && lks_str_is(lks_doc_text(prior, "version"), u->from))
        fprintf(out, "  revert     install %s again: --component %s --bundle %" LKS_STR_FMT "\n",
                u->from, u->component, LKS_STR_ARG(folder));
    else
        fprintf(out, "  revert     install %s again; no bundle with it is known here\n",
                u->from[0] != '\0' ? u->from : "what runs now");
}

static void list_texts(const struct lks_doc *list, struct lks_buf *out)
{
    for (const struct lks_doc *item = list->first; item != NULL; item = item->next) {
        lks_buf_add(out, item != list->first ? LKS_STR(", ") : LKS_STR(""));
        lks_term_clean(out, item->text);
    }
}

/* Hardware that the bundle names: an endpoint does not report the class of its machine, so that is
 * for the person who confirms, unless it was given. */
static void print_hardware(FILE *out, const char *what, const struct lks_doc *list,
                           struct lks_str given)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf names = LKS_BUF(LIST_MAX);
    if (list == NULL)
        return;
    list_texts(list, &names);
    fprintf(out, "  only for   hardware %s %s%s\n", what, names.len > 0 ? names.ptr : "",
            given.len > 0 ? "" : "; make sure that this is one");
}

/* One of the two that a bundle may demand. */
static enum lks_code check_demand(const struct lks_bmc_update *u, const struct lks_args *args,
                                  const char *option, const struct lks_doc *list, bool fits,
                                  struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf names = LKS_BUF(LIST_MAX);
    struct lks_str given = lks_args_str(args, option);
    if (list == NULL || (given.len > 0 && fits) || (given.len == 0 && !lks_args_has(args, "--yes")))
        return LKS_OK;
    list_texts(list, &names);
    if (given.len == 0)
        return lks_fail(err, LKS_E_REFUSED,
                        "%s: the bundle is only for %s %s, and the endpoint does not report it; "
                        "give it with %s",
                        u->at->url, option + strlen("--"), names.ptr, option);
    return lks_fail(err, LKS_E_REFUSED,
                    "%s: the bundle is only for %s %s, and this is %" LKS_STR_FMT, u->at->url,
                    option + strlen("--"), names.ptr, LKS_STR_ARG(given));
}

/* What is not given is shown in the plan, for the person who confirms. */
static enum lks_code check_hardware(const struct lks_bmc_update *u, const struct lks_args *args,
                                    const struct lks_bundle_artifact *artifact, struct lks_err *err)
{
    struct lks_bundle_artifact by_class = *artifact, by_revision = *artifact;
    struct lks_str class = lks_args_str(args, "--hardware-class");
    struct lks_str revision = lks_args_str(args, "--hardware-revision");
    by_class.hardware_revisions = by_revision.hardware_classes = NULL;
    if (check_demand(u, args, "--hardware-class", artifact->hardware_classes,
                     lks_bundle_fits(&by_class, class, revision), err) != LKS_OK)
        return err->code;
    return check_demand(u, args, "--hardware-revision", artifact->hardware_revisions,
                        lks_bundle_fits(&by_revision, class, revision), err);
}

static void print_meanwhile(FILE *out, const struct lks_firmware_update *f)
{
    if (f == NULL) {
        fprintf(out, "  meanwhile  nothing is known of how firmware of this class is updated\n");
        return;
    }
    fprintf(out, "  takes      about %d min to stage, %d min to activate\n", (int)f->stage_min,
            (int)f->activate_min);
    fprintf(out, "  meanwhile  %" LKS_STR_FMT "\n", LKS_STR_ARG(lks_output_or_dash(f->loses)));
    fprintf(out, "  reset      %" LKS_STR_FMT "\n", LKS_STR_ARG(lks_output_or_dash(f->reset)));
}

static void print_plan(FILE *out, const struct lks_args *args, const struct lks_bmc_update *u,
                       const struct lks_bundledir *b, const struct lks_bundle_artifact *artifact)
{
    const struct lks_firmware_update *f = lks_facts_firmware(u->facts, lks_str_from(u->component));
    fprintf(out, "%s: %s %s\n", u->at->url, lks_bmc_act_words[u->intent.act], u->component);
    fprintf(out, "  from       %s\n  to         %s\n", u->from[0] != '\0' ? u->from : "unknown",
            u->version[0] != '\0' ? u->version : "what the service has");
    if (u->bundle[0] != '\0')
        fprintf(out,
                "  image      %s, %llu bytes, %s\n  bundle     %" LKS_STR_FMT " %" LKS_STR_FMT
                ", signed by %s\n",
                u->file, (unsigned long long)u->intent.image_size, u->intent.image.digest,
                LKS_STR_ARG(b->bundle.name), LKS_STR_ARG(b->bundle.version), b->verdict.signer);
    if (artifact != NULL) {
        print_hardware(out, "class", artifact->hardware_classes,
                       lks_args_str(args, "--hardware-class"));
        print_hardware(out, "revision", artifact->hardware_revisions,
                       lks_args_str(args, "--hardware-revision"));
    }
    if (u->write_protected.len > 0)
        fprintf(out,
                "  override   of write protection that the endpoint reports: %" LKS_STR_FMT "\n",
                LKS_STR_ARG(u->write_protected));
    print_meanwhile(out, f);
    print_way_back(out, u, is_one_way(u), f);
    if (u->unasked)
        fprintf(out, "  controller none is configured here%s\n",
                lks_args_has(args, "--unmanaged")
                    ? "; --unmanaged states that none manages this endpoint"
                    : ": whether one manages this endpoint is unknown, and a change could be "
                      "updating the same device");
    (void)fflush(out); /* before the update, which may take an hour */
}

/* Asked for before the first byte leaves: what was staged may be activated by others. */
static enum lks_code check_one_way(const struct lks_bmc_update *u, struct lks_err *err)
{
    bool forward = u->intent.act <= LKS_BMC_STAGE || u->intent.act == LKS_BMC_ACTIVATE;
    if (forward && !u->intent.one_way && is_one_way(u))
        return lks_fail(err, LKS_E_REFUSED,
                        "%s: this update of %s is irreversible; acknowledge that with --one-way",
                        u->at->url, u->component);
    return LKS_OK;
}

/* How it ended ------------------------------------------------------------------------------ */

static enum lks_code print_result(struct lks_cli *cli, const struct lks_args *args,
                                  const struct lks_bmc_update *u, const struct lks_bmc_result *r,
                                  struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    struct lks_json_writer *w = lks_output_begin(&o);
    lks_json_write(w,
                   "'url': '%s', 'act': '%s', 'component': '%s', 'from'?: '%s', 'version'?: '%s', "
                   "'found'?: '%s', 'outcome': '%s', 'text'?: '%s', 'via'?: '%s', 'task'?: '%s', "
                   "'uploads': %u, 'resumed': %s, 'write_protected'?: '%.*s'",
                   u->at->url, lks_bmc_act_words[u->intent.act], u->component, u->from, u->version,
                   r->found, lks_bmc_outcome_words[r->outcome], r->text, r->via, r->task,
                   r->uploads, LKS_JSON_TRUTH(u->saved.len > 0), LKS_STR_ARG(u->write_protected));
    return lks_output_form(
        cli, args, &o,
        "{outcome}: {component}[: {text}]\n"
        "[{outcome=unknown}The outcome of the update is unknown, and manual intervention is "
        "needed: inspect what {component} runs at {url}, what is staged, and the task "
        "[{task}|(none is known)]. The last version read was [{found}|nothing]. Nothing more is "
        "sent to the device until then.\n]",
        err);
}

/* Not decided: what to do about it stands in the message. */
static enum lks_code fail_open(const struct lks_bmc_update *u, const struct lks_bmc_result *r,
                               struct lks_err *err)
{
    char path[PATH_MAX];
    struct lks_err why = r->why;
    if (lks_bmc_at_path(u->at, "updates", "json", path, err) != LKS_OK)
        return err->code;
    if (access(path, F_OK) != 0) /* nothing was begun that would have had to be remembered */
        return lks_fail(err, why.code, "%s; no update was started", why.msg);
    return lks_fail(err, why.code,
                    "%s; the update has not ended and stays as it is: the same command goes on "
                    "with it",
                    why.msg);
}

static enum lks_code tell(struct lks_cli *cli, const struct lks_args *args,
                          const struct lks_bmc_update *u, const struct lks_bmc_result *r,
                          struct lks_err *err)
{
    if (r->outcome == LKS_BMC_OPEN)
        return fail_open(u, r, err);
    cli->no = r->outcome > LKS_BMC_SAME;
    return print_result(cli, args, u, r, err);
}

/* All of it --------------------------------------------------------------------------------- */

/* The bundle; or, for an update that has begun and may need it no more, what is known of it. */
static enum lks_code find_bundle(struct lks_cli *cli, const struct lks_args *args,
                                 struct lks_bmc_update *u, struct lks_bundledir *b,
                                 const struct lks_bundle_artifact **artifact, struct lks_err *err)
{
    enum lks_code code = take_bundle(cli, args, u, b, artifact, err);
    if (code == LKS_OK || !lks_bmc_update_recall(u, lks_args_str(args, "--component")))
        return code;
    fprintf(cli->err, "lockstep: %s; going on without it as long as nothing has to be sent\n",
            err->msg);
    if (u->fd > 0)
        close(u->fd - 1);
    u->fd = 0;
    *artifact = NULL;
    return LKS_OK;
}

/* May it be begun? */
static enum lks_code plan(struct lks_cli *cli, const struct lks_args *args,
                          struct lks_bmc_update *u, const struct lks_bundledir *b,
                          const struct lks_bundle_artifact *artifact, struct lks_err *err)
{
    FILE *out = lks_args_has(args, "--json") ? cli->err : cli->out;
    if (look(u, artifact, err) != LKS_OK || check_one_way(u, err) != LKS_OK ||
        (artifact != NULL && check_hardware(u, args, artifact, err) != LKS_OK))
        return err->code;
    print_plan(out, args, u, b, artifact);
    if (lks_args_has(args, "--yes"))
        return LKS_OK;
    lks_interrupt_note("nothing was changed");
    enum lks_code code = lks_confirm(cli->err, "Do it?", "--yes does it without a question", err);
    lks_interrupt_end();
    return code;
}

static enum lks_code prepare(struct lks_cli *cli, const struct lks_args *args,
                             struct lks_bmc_update *u, struct lks_bundledir *b, struct lks_err *err)
{
    const struct lks_bundle_artifact *artifact = NULL;
    FILE *out = lks_args_has(args, "--json") ? cli->err : cli->out;
    if (choose_act(args, &u->intent.act, err) != LKS_OK ||
        lks_bmc_at_open(cli, args, u->at, err) != LKS_OK ||
        lks_bmc_at_state(cli, args, u->at, err) != LKS_OK)
        return err->code;
    if (lks_args_has(args, "--bundle") && find_bundle(cli, args, u, b, &artifact, err) != LKS_OK)
        return err->code;
    if (take_intent(cli, args, u, err) != LKS_OK || take_pull(args, u, err) != LKS_OK ||
        lks_bmc_update_lock(u, err) != LKS_OK ||
        lks_bmc_update_managed(cli, args, u, err) != LKS_OK ||
        lks_bmc_update_load(u, err) != LKS_OK)
        return err->code;
    if (u->saved.len > 0) {
        fprintf(out, "%s: going on with the update of %s from %s to %s\n", u->at->url, u->component,
                u->from[0] != '\0' ? u->from : "unknown", u->version);
        (void)fflush(out);
        return LKS_OK;
    }
    if (lks_bmc_update_unasked(args, u, err) != LKS_OK ||
        lks_bmc_update_revoked(cli, args, u, err) != LKS_OK ||
        lks_bmc_update_pulled(u, lks_args_get(args, "--pull-ca"), err) != LKS_OK)
        return err->code;
    return plan(cli, args, u, b, artifact, err);
}

enum lks_code lks_cmd_bmc_update(struct lks_cli *cli, const struct lks_args *args,
                                 struct lks_err *err)
{
    LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
    LKS_CLEANUP(lks_bundledir_fini) struct lks_bundledir bundle = {0};
    LKS_CLEANUP(lks_bmc_at_fini) struct lks_bmc_at at = {0};
    LKS_CLEANUP(lks_bmc_update_fini) struct lks_bmc_update u = {.at = &at, .facts = &facts};
    struct lks_bmc_result result;
    if (lks_input_facts(cli->data_dir, &facts, err) != LKS_OK ||
        prepare(cli, args, &u, &bundle, err) != LKS_OK ||
        lks_bmc_update_run(cli, &u, &result, err) != LKS_OK)
        return err->code;
    return tell(cli, args, &u, &result, err);
}
