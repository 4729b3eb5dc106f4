/*
 * Firmware by tools that are installed on the node: mstflint for adapters, nvme-cli for drives,
 * fwupd for what comes as a cabinet file. Success is what the device says afterwards, in force or
 * staged for its next reset; a device that the file is not for is never tried.
 */
#include "codec/format/json.h"
#include "executors/executor.h"
#include "executors/tool.h"

#include <dirent.h>
#include <stdio.h>

enum { NAME_SIZE = 256, DEVICES_MAX = 256 };

struct devices {
    char names[DEVICES_MAX][NAME_SIZE];
    size_t count;
};

/* What was done, for people. */
struct done {
    size_t already, written;
};

typedef enum lks_code way_fn(struct lks_job *job, const struct lks_order_item *item,
                             struct done *done, struct lks_err *err);

/* The value behind the first "KEY:" of a report, which has one on a line. */
static struct lks_str field(struct lks_str text, const char *key)
{
    while (text.len > 0) {
        struct lks_str line, name, value;
        lks_str_cut(text, '\n', &line, &text);
        if (lks_str_cut(line, ':', &name, &value) && lks_str_is(lks_str_trim(name), key))
            return lks_str_trim(value);
    }
    return LKS_STR("");
}

/* What writes goes on to its end, whatever becomes of us. */
static enum lks_code write_with(const char *const *argv, struct lks_err *err)
{
    return lks_tool_run(
        &(struct lks_tool){.argv = argv, .lock = lks_executor_lock(), .apart = true}, err);
}

static void list(const char *folder, bool (*wants)(const char *name), struct devices *out)
{
    DIR *dir = opendir(folder);
    for (struct dirent *e = dir != NULL ? readdir(dir) : NULL; e != NULL; e = readdir(dir)) {
        if (e->d_name[0] != '.' && wants(e->d_name) && out->count < DEVICES_MAX)
            snprintf(out->names[out->count++], NAME_SIZE, "%s", e->d_name);
    }
    if (dir != NULL)
        (void)closedir(dir);
}

/* The first line of a small file; empty where there is none. */
static void read_line(const char *path, char out[NAME_SIZE])
{
    FILE *f = fopen(path, "re");
    out[0] = '\0';
    if (f != NULL && fgets(out, NAME_SIZE, f) == NULL)
        out[0] = '\0';
    if (f != NULL)
        (void)fclose(f);
    struct lks_str line = lks_str_trim(lks_str_from(out)), rest;
    lks_str_cut(line, '\n', &line, &rest);
    line = lks_str_trim(line);
    memmove(out, line.ptr, line.len);
    out[line.len] = '\0';
}

/* mstflint ----------------------------------------------------------------------------------- */

#define PCI_FOLDER "/sys/bus/pci/devices"

static bool is_mellanox(const char *name)
{
    char path[PATH_MAX], vendor[NAME_SIZE], class[NAME_SIZE];
    size_t len = strlen(name);
    snprintf(path, sizeof(path), PCI_FOLDER "/%s/vendor", name);
    read_line(path, vendor);
    snprintf(path, sizeof(path), PCI_FOLDER "/%s/class", name);
    read_line(path, class);
    /* The first function stands for the card. */
    return strcmp(vendor, "0x15b3") == 0 && strncmp(class, "0x02", 4) == 0 && len > 2 &&
           strcmp(name + len - 2, ".0") == 0;
}

/* "FW Version" is what the flash has; what runs is a line of its own until the next reset. */
static enum lks_code query(const char *option, const char *what, struct lks_buf *out,
                           struct lks_err *err)
{
    const char *argv[] = {"mstflint", option, what, "q", NULL};
    lks_buf_init(out, LKS_TOOL_OUTPUT_MAX);
    return lks_tool_ask(argv, out, err);
}

static enum lks_code burn(const char *device, const char *path, struct lks_str version,
                          struct done *done, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf before = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf after = {0};
    const char *argv[] = {"mstflint", "-d", device, "-i", path, "-y", "burn", NULL};
    if (query("-d", device, &before, err) != LKS_OK)
        return err->code;
    if (lks_str_eq(field(lks_buf_view(&before), "FW Version"), version)) {
        done->already++;
        return LKS_OK;
    }
    if (write_with(argv, err) != LKS_OK || query("-d", device, &after, err) != LKS_OK)
        return err->code;
    struct lks_str found = field(lks_buf_view(&after), "FW Version");
    if (!lks_str_eq(found, version))
        return lks_fail(err, LKS_E_REFUSED, "%s: afterwards it has %.*s", device,
                        LKS_STR_ARG(found));
    done->written++;
    return LKS_OK;
}

/* Cards of the kind that the image names, its PSID, and no others. */
static enum lks_code by_mstflint(struct lks_job *job, const struct lks_order_item *item,
                                 struct done *done, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf image = {0};
    struct devices devices = {0};
    char path[PATH_MAX];
    lks_executor_job_file(job, item, path);
    if (query("-i", path, &image, err) != LKS_OK)
        return err->code;
    struct lks_str psid = field(lks_buf_view(&image), "PSID");
    struct lks_str version = field(lks_buf_view(&image), "FW Version");
    if (psid.len == 0 || !lks_str_eq(version, item->value))
        return lks_fail(err, LKS_E_INVALID, "%.*s: holds version %.*s", LKS_STR_ARG(item->file),
                        LKS_STR_ARG(version));
    size_t fitting = 0;
    list(PCI_FOLDER, is_mellanox, &devices);
    for (size_t i = 0; i < devices.count; i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf device = {0};
        if (query("-d", devices.names[i], &device, err) != LKS_OK)
            return err->code;
        if (!lks_str_eq(field(lks_buf_view(&device), "PSID"), psid))
            continue;
        fitting++;
        if (burn(devices.names[i], path, version, done, err) != LKS_OK)
            return err->code;
    }
    return fitting > 0
               ? LKS_OK
               : lks_fail(err, LKS_E_NOT_FOUND, "no adapter here is a %.*s", LKS_STR_ARG(psid));
}

/* nvme-cli ----------------------------------------------------------------------------------- */

#define NVME_FOLDER "/sys/class/nvme"

static bool is_nvme(const char *name)
{
    return strncmp(name, "nvme", 4) == 0;
}

/* What stands in brackets behind the class: the part that it is limited to. */
static struct lks_str part_of(struct lks_str component)
{
    struct lks_str head, part, rest;
    if (!lks_str_cut(component, '[', &head, &part))
        return LKS_STR("");
    lks_str_cut(part, ']', &part, &rest);
    return part;
}

static void model_of(const char *name, char out[NAME_SIZE])
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), NVME_FOLDER "/%s/model", name);
    read_line(path, out);
}

/* A file does not say which drives it is for: the order does, or they are all alike. */
static enum lks_code choose_drives(const struct lks_order_item *item, struct devices *drives,
                                   struct lks_err *err)
{
    struct devices all = {0};
    struct lks_str part = part_of(item->component);
    char first[NAME_SIZE] = "", model[NAME_SIZE];
    list(NVME_FOLDER, is_nvme, &all);
    for (size_t i = 0; i < all.count; i++) {
        model_of(all.names[i], model);
        if (part.len > 0 && !lks_str_is(part, model))
            continue;
        if (drives->count == 0)
            snprintf(first, sizeof(first), "%s", model);
        if (strcmp(first, model) != 0)
            return lks_fail(err, LKS_E_REFUSED,
                            "drives of two models are here (%.60s, %.60s); let the stack say "
                            "which part the firmware is for",
                            first, model);
        memcpy(drives->names[drives->count++], all.names[i], NAME_SIZE);
    }
    return drives->count > 0 ? LKS_OK : lks_fail(err, LKS_E_NOT_FOUND, "no such drive is here");
}

/* "frs2 : 0x3130315130385643 (CV8Q101)": whether a slot has exactly this one. */
static bool has_slot(struct lks_str log, struct lks_str version)
{
    struct lks_str line, head, inside, rest;
    while (log.len > 0) {
        lks_str_cut(log, '\n', &line, &log);
        if (lks_str_starts(lks_str_trim(line), "frs") && lks_str_cut(line, '(', &head, &inside) &&
            lks_str_cut(inside, ')', &inside, &rest) && lks_str_eq(lks_str_trim(inside), version))
            return true;
    }
    return false;
}

/* Whether the firmware is in one of the drive's slots, running or staged. */
static enum lks_code has_firmware(const char *device, struct lks_str version, bool *runs,
                                  bool *staged, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf control = LKS_BUF(LKS_TOOL_OUTPUT_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf slots = LKS_BUF(LKS_TOOL_OUTPUT_MAX);
    const char *id[] = {"nvme", "id-ctrl", device, NULL};
    const char *log[] = {"nvme", "fw-log", device, NULL};
    if (lks_tool_ask(id, &control, err) != LKS_OK || lks_tool_ask(log, &slots, err) != LKS_OK)
        return err->code;
    *runs = lks_str_eq(field(lks_buf_view(&control), "fr"), version);
    *staged = has_slot(lks_buf_view(&slots), version);
    return LKS_OK;
}

static enum lks_code write_drive(const char *name, const char *path, struct lks_str version,
                                 struct done *done, struct lks_err *err)
{
    char device[NAME_SIZE + 8], image[PATH_MAX + 8];
    bool runs = false, staged = false;
    snprintf(device, sizeof(device), "/dev/%s", name);
    snprintf(image, sizeof(image), "--fw=%s", path);
    const char *load[] = {"nvme", "fw-download", device, image, NULL};
    const char *commit[] = {"nvme", "fw-commit", device, "--slot=0", "--action=1", NULL};
    if (has_firmware(device, version, &runs, &staged, err) != LKS_OK)
        return err->code;
    if (runs) {
        done->already++;
        return LKS_OK;
    }
    if (write_with(load, err) != LKS_OK || write_with(commit, err) != LKS_OK ||
        has_firmware(device, version, &runs, &staged, err) != LKS_OK)
        return err->code;
    if (!runs && !staged)
        return lks_fail(err, LKS_E_REFUSED, "%s: has no %.*s afterwards", device,
                        LKS_STR_ARG(version));
    done->written++;
    return LKS_OK;
}

static enum lks_code by_nvme(struct lks_job *job, const struct lks_order_item *item,
                             struct done *done, struct lks_err *err)
{
    struct devices drives = {0};
    char path[PATH_MAX];
    lks_executor_job_file(job, item, path);
    if (choose_drives(item, &drives, err) != LKS_OK)
        return err->code;
    for (size_t i = 0; i < drives.count; i++) {
        if (write_drive(drives.names[i], path, item->value, done, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

/* fwupd -------------------------------------------------------------------------------------- */

/* A report: its devices, or NULL. */
static enum lks_code report(const char *const *argv, struct lks_docs *docs,
                            const struct lks_doc **out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_TOOL_OUTPUT_MAX);
    if (lks_tool_ask(argv, &text, err) != LKS_OK ||
        lks_docs_init(docs, "fwupdmgr", err) != LKS_OK ||
        lks_json_parse(lks_buf_view(&text), docs, err) != LKS_OK)
        return err->code;
    const struct lks_doc *devices =
        docs->first != NULL ? lks_doc_member(docs->first, "Devices") : NULL;
    *out = devices != NULL && devices->kind == LKS_DOC_LIST ? devices->first : NULL;
    return LKS_OK;
}

/* What kinds of device a cabinet file is for: the report of it. */
struct fits {
    struct lks_docs docs;
    const struct lks_doc *devices;
};

static void fits_fini(struct fits *f)
{
    lks_docs_fini(&f->docs);
}

static bool shares_guid(const struct lks_doc *a, const struct lks_doc *b)
{
    const struct lks_doc *left = lks_doc_member(a, "Guid"), *right = lks_doc_member(b, "Guid");
    if (left == NULL || right == NULL || left->kind != LKS_DOC_LIST || right->kind != LKS_DOC_LIST)
        return false;
    for (const struct lks_doc *x = left->first; x != NULL; x = x->next) {
        for (const struct lks_doc *y = right->first; y != NULL; y = y->next) {
            if (x->kind == LKS_DOC_TEXT && lks_str_eq(x->text, y->text))
                return true;
        }
    }
    return false;
}

static bool is_for(const struct fits *fits, const struct lks_doc *device)
{
    for (const struct lks_doc *d = fits->devices; d != NULL; d = d->next) {
        if (shares_guid(d, device))
            return true;
    }
    return false;
}

/* The history of a device has what was written as a release; a device as it is has those that could
 * be. */
static bool was_written(const struct lks_doc *device, struct lks_str version)
{
    const struct lks_doc *list = lks_doc_member(device, "Releases");
    if (list == NULL || list->kind != LKS_DOC_LIST ||
        lks_str_starts(lks_doc_text(device, "UpdateState"), "failed"))
        return false;
    for (const struct lks_doc *r = list->first; r != NULL; r = r->next) {
        if (lks_str_eq(lks_doc_text(r, "Version"), version))
            return true;
    }
    return false;
}

/* Whether the devices that the file is for, and there are some, all have this version, or were
 * given it. What other devices have says nothing. */
static enum lks_code ask_fwupd(bool history, const struct fits *fits, struct lks_str version,
                               bool *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    const char *argv[] = {"fwupdmgr", history ? "get-history" : "get-devices", "--json", NULL};
    const struct lks_doc *device = NULL;
    size_t with = 0, without = 0;
    if (report(argv, &docs, &device, err) != LKS_OK)
        return err->code;
    for (; device != NULL; device = device->next) {
        bool has = history ? was_written(device, version)
                           : lks_str_eq(lks_doc_text(device, "Version"), version);
        if (is_for(fits, device))
            *(has ? &with : &without) += 1;
    }
    *out = with > 0 && (history || without == 0);
    return LKS_OK;
}

/* A version that a device has, or that its history says it will have after the next boot. */
static enum lks_code by_fwupd(struct lks_job *job, const struct lks_order_item *item,
                              struct done *done, struct lks_err *err)
{
    LKS_CLEANUP(fits_fini) struct fits fits = {0};
    char path[PATH_MAX];
    bool runs = false, staged = false;
    struct lks_err ignored = {0};
    lks_executor_job_file(job, item, path);
    const char *about[] = {"fwupdmgr", "get-details", path, "--json", NULL};
    const char *argv[] = {"fwupdmgr",          "install",           path, "--allow-older",
                          "--allow-reinstall", "--no-reboot-check", "-y", NULL};
    if (report(about, &fits.docs, &fits.devices, err) != LKS_OK ||
        ask_fwupd(false, &fits, item->value, &runs, err) != LKS_OK)
        return err->code;
    if (runs) {
        done->already++;
        return LKS_OK;
    }
    if (write_with(argv, err) != LKS_OK ||
        ask_fwupd(false, &fits, item->value, &runs, err) != LKS_OK)
        return err->code;
    if (!runs && ask_fwupd(true, &fits, item->value, &staged, &ignored) != LKS_OK)
        staged = false;
    if (!runs && !staged)
        return lks_fail(err, LKS_E_REFUSED, "no device has %.*s afterwards",
                        LKS_STR_ARG(item->value));
    done->written++;
    return LKS_OK;
}

/* The executor ------------------------------------------------------------------------------- */

static const struct {
    const char *class, *suffix; /* NULL: any */
    way_fn *way;
} ways[] = {
    {NULL, ".cab", by_fwupd},
    {"nic", NULL, by_mstflint},
    {"dpu", NULL, by_mstflint},
    {"nvme", NULL, by_nvme},
};

/* "nic" of "firmware/nic[MCX75310AAS]". */
static struct lks_str class_of(struct lks_str component)
{
    struct lks_str head, rest, kind, class;
    lks_str_cut(component, '[', &head, &rest);
    return lks_str_cut(head, '/', &kind, &class) ? class : head;
}

static way_fn *find_way(const struct lks_order_item *item)
{
    for (size_t i = 0; i < LKS_COUNT(ways); i++) {
        if ((ways[i].class == NULL || lks_str_is(class_of(item->component), ways[i].class)) &&
            (ways[i].suffix == NULL || lks_str_ends(item->file, ways[i].suffix)))
            return ways[i].way;
    }
    return NULL;
}

static enum lks_code run(struct lks_job *job, struct lks_buf *said, struct lks_err *err)
{
    struct done done = {0};
    for (size_t i = 0; i < job->order.count; i++) {
        const struct lks_order_item *item = &job->order.items[i];
        way_fn *way = item->digest.len > 0 && item->value.len > 0 ? find_way(item) : NULL;
        if (way == NULL)
            return lks_fail(err, LKS_E_INVALID, "%.*s: no tool here writes it",
                            LKS_STR_ARG(item->component));
        if (way(job, item, &done, err) != LKS_OK)
            return lks_wrap(err, "%.*s", LKS_STR_ARG(item->component));
    }
    if (done.written == 0)
        lks_buf_addf(said, "already so: %zu devices", done.already);
    else
        lks_buf_addf(said, "%zu of %zu devices written", done.written, done.written + done.already);
    return LKS_OK;
}

int main(int argc, char **argv)
{
    return lks_executor_main(argc, argv, LKS_ORDER_FIRMWARE, run);
}
