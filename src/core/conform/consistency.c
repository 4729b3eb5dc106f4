#include "core/conform/consistency.h"

#include "core/conform/node_readings.h"

#include <stdio.h>
#include <stdlib.h>

enum { TEXT_MAX = 64 * 1024, NUMBERS_MAX = 16, NAME_SIZE = LKS_READING_NAME_MAX + 1 };

/* One look at a tuple. */
struct look {
    const struct lks_facts *facts;
    const struct lks_tuple *tuple;
    struct lks_report *out;
    const char *rule;
};

#define NOTE(l, severity, subject, ...)                                                            \
    lks_report_add((l)->out, (l)->rule, (severity), (subject), NULL, __VA_ARGS__)

/* Looking things up ------------------------------------------------------------------------- */

/* The readings are sorted, so those of one name stand together: how many from `at` on. */
static size_t same_name(const struct lks_tuple *t, size_t at)
{
    size_t end = at + 1;
    while (end < t->count && lks_str_eq(t->readings[end].name, t->readings[at].name))
        end++;
    return end - at;
}

static const struct lks_reading *driver_of(const struct lks_tuple *t)
{
    const struct lks_reading *r = lks_node_measured(t, LKS_STR("driver"));
    return r != NULL ? r : lks_node_measured(t, LKS_STR("driver.loaded"));
}

/* What stands between `prefix` and `suffix` in `name`; false where they do not. */
static bool between(struct lks_str name, const char *prefix, const char *suffix,
                    struct lks_str *out)
{
    size_t head = strlen(prefix), tail = strlen(suffix);
    if (name.len <= head + tail || !lks_str_starts(name, prefix) ||
        memcmp(name.ptr + name.len - tail, suffix, tail) != 0)
        return false;
    *out = (struct lks_str){name.ptr + head, name.len - head - tail};
    return true;
}

static bool is_version(const struct lks_reading *r, struct lks_str v,
                       enum lks_version_scheme scheme)
{
    struct lks_str stated =
        scheme == LKS_VERSION_DOTTED ? lks_version_stated(r->value, v) : r->value;
    return lks_str_eq(r->value, v) || lks_version_cmp(stated, v, scheme) == 0;
}

/* The four numbers -------------------------------------------------------------------------- */

static const struct {
    const char *suffix, *called;
    const char *means; /* that it is not what is loaded */
} numbers[] = {
    {".loaded", "the loaded module", "more than one version of it is loaded"},
    {"", "the running driver", "what runs was read in two ways"},
    {".disk", "the module on disk", "the next boot loads another driver"},
    {".library", "the library",
     "programs that use a GPU fail, since driver and library do not match"},
    {".package", "the package", "the package manager upgraded it under the running driver"},
};

struct number {
    size_t kind; /* row of `numbers` */
    const struct lks_reading *r;
};

static size_t read_numbers(const struct lks_tuple *t, const char *driver,
                           struct number out[NUMBERS_MAX])
{
    size_t found = 0;
    for (size_t i = 0; i < LKS_COUNT(numbers); i++) {
        char name[NAME_SIZE];
        snprintf(name, sizeof(name), "%s%s", driver, numbers[i].suffix);
        size_t count;
        const struct lks_reading *r = lks_tuple_range(t, lks_str_from(name), &count);
        for (; count > 0 && found < NUMBERS_MAX; count--, r++) {
            if (r->state == LKS_MEASURED)
                out[found++] = (struct number){i, r};
        }
    }
    return found;
}

/* The first is what the others are held against: what is loaded, where that is known. */
static void compare_numbers(struct look *l, const char *driver)
{
    struct number all[NUMBERS_MAX];
    size_t count = read_numbers(l->tuple, driver, all), kept = count > 0;
    for (size_t i = 1; i < count; i++) {
        if (!is_version(all[i].r, all[0].r->value, LKS_VERSION_DOTTED))
            all[kept++] = all[i];
    }
    if (kept < 2)
        return;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    for (size_t i = 0; i < kept; i++)
        lks_buf_addf(&text, "%s%s%s %" LKS_STR_FMT " (%" LKS_STR_FMT ")",
                     i == 0         ? ""
                     : i + 1 < kept ? ", "
                                    : " and ",
                     numbers[all[i].kind].called, i == 0 ? " is" : "", LKS_STR_ARG(all[i].r->value),
                     LKS_STR_ARG(all[i].r->evidence));
    bool loaded = all[0].kind < 2;
    struct lks_str said = lks_buf_view(&text);
    NOTE(l, LKS_ERROR, lks_str_from(driver), "%" LKS_STR_FMT ": %s", LKS_STR_ARG(said),
         loaded ? numbers[all[kept - 1].kind].means : "they do not belong together");
    lks_report_remedy(l->out,
                      loaded ? "reboot, or return to %" LKS_STR_FMT
                             : "install one version in all places; one of them has "
                               "%" LKS_STR_FMT,
                      LKS_STR_ARG(all[0].r->value));
}

static void rule_four_numbers(struct look *l)
{
    compare_numbers(l, "driver");
    compare_numbers(l, "amdgpu");
}

/* What carries the driver's version --------------------------------------------------------- */

static void note_other_driver(struct look *l, const struct lks_reading *r,
                              const struct lks_reading *driver, const char *remedy)
{
    NOTE(l, LKS_ERROR, r->name,
         "%" LKS_STR_FMT " is %" LKS_STR_FMT " (%" LKS_STR_FMT ") and the driver %" LKS_STR_FMT
         " (%" LKS_STR_FMT "); they must be the same",
         LKS_STR_ARG(r->name), LKS_STR_ARG(r->value), LKS_STR_ARG(r->evidence),
         LKS_STR_ARG(driver->value), LKS_STR_ARG(driver->evidence));
    lks_report_remedy(l->out, "%s", remedy);
}

static void check_carried(struct look *l, const char *component, const char *remedy)
{
    const struct lks_reading *driver = driver_of(l->tuple);
    const struct lks_reading *r = lks_tuple_component(l->tuple, lks_str_from(component));
    if (driver == NULL || r == NULL || r->state != LKS_MEASURED ||
        is_version(r, driver->value, LKS_VERSION_DOTTED))
        return;
    note_other_driver(l, r, driver, remedy);
}

static void rule_fabric_manager(struct look *l)
{
    check_carried(l, "fabric-manager", "install the fabric manager of the driver's version");
}

static void rule_imex(struct look *l)
{
    check_carried(l, "imex", "install IMEX of the driver's version");
}

static void rule_nscq(struct look *l)
{
    check_carried(l, "nscq", "install NSCQ of the driver's version");
}

/* Note each reading of that name that has not the driver's version, until `note` has enough. */
static void each_other_driver(struct look *l, struct lks_str name,
                              bool (*note)(struct look *l, const struct lks_reading *r,
                                           const struct lks_reading *driver))
{
    const struct lks_reading *driver = driver_of(l->tuple);
    size_t count;
    const struct lks_reading *r = lks_tuple_range(l->tuple, name, &count);
    for (; count > 0 && driver != NULL; count--, r++) {
        if (r->state == LKS_MEASURED && !is_version(r, driver->value, LKS_VERSION_DOTTED) &&
            !note(l, r, driver))
            return;
    }
}

/* Once: the GPUs with other firmware than the rest are gpus-differ's. */
static bool note_gsp(struct look *l, const struct lks_reading *r, const struct lks_reading *driver)
{
    note_other_driver(l, r, driver, "reload the driver, so that it loads its own firmware");
    return false;
}

static void rule_gsp(struct look *l)
{
    each_other_driver(l, LKS_STR("firmware/gsp"), note_gsp);
}

static bool note_cdi(struct look *l, const struct lks_reading *r, const struct lks_reading *driver)
{
    struct lks_str where = r->of.len > 0 ? r->of : r->evidence;
    NOTE(l, LKS_ERROR, r->name,
         "%" LKS_STR_FMT " names driver %" LKS_STR_FMT " and the one that runs is %" LKS_STR_FMT
         " (%" LKS_STR_FMT "): containers do not find its files",
         LKS_STR_ARG(where), LKS_STR_ARG(r->value), LKS_STR_ARG(driver->value),
         LKS_STR_ARG(driver->evidence));
    lks_report_remedy(l->out, "write it anew: nvidia-ctk cdi generate");
    return true;
}

static void rule_cdi(struct look *l)
{
    each_other_driver(l, LKS_STR("cdi.driver"), note_cdi);
}

/* Devices ----------------------------------------------------------------------------------- */

static void note_spread(struct look *l, enum lks_severity severity, struct lks_str called,
                        const struct lks_spread *spread, const char *noun)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    lks_node_spread_text(spread, noun, &text);
    struct lks_str said = lks_buf_view(&text);
    NOTE(l, severity, called, "%" LKS_STR_FMT " is %" LKS_STR_FMT " (%" LKS_STR_FMT ")",
         LKS_STR_ARG(called), LKS_STR_ARG(said), LKS_STR_ARG(spread->values[0].first->evidence));
}

static bool is_firmware(const struct lks_reading *r)
{
    return lks_str_starts(r->name, "firmware/");
}

static void rule_gpus_differ(struct look *l)
{
    const struct lks_tuple *t = l->tuple;
    for (size_t at = 0, count; at < t->count; at += count) {
        const struct lks_reading *r = &t->readings[at];
        count = same_name(t, at);
        if (r->kind->class != LKS_READING_IDENTITY || is_firmware(r))
            continue;
        struct lks_spread spread = lks_node_spread_of(r, count, true);
        if (spread.count < 2)
            continue;
        /* A board that was replaced may have another number and be the same otherwise. */
        bool part = lks_str_is(r->name, "gpu.board_part");
        note_spread(l, part ? LKS_WARNING : LKS_ERROR, r->name, &spread, "GPUs");
        lks_report_remedy(l->out, "make the GPUs of the node alike");
    }
}

static int by_part(const void *left, const void *right)
{
    const struct lks_reading *a = left, *b = right;
    int order = lks_str_cmp(a->part, b->part);
    return order != 0 ? order : lks_str_cmp(a->of, b->of);
}

/* Of the firmware of one class, `count` of them: each part has one version. */
static void compare_firmware(struct look *l, const struct lks_reading *readings, size_t count)
{
    struct lks_reading *sorted = lks_arena_array(&l->out->arena, count, sizeof(*sorted));
    if (sorted == NULL) {
        l->out->failed = LKS_E_LIMIT;
        return;
    }
    memcpy(sorted, readings, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), by_part);
    for (size_t at = 0, end; at < count; at = end) {
        for (end = at + 1; end < count && lks_str_eq(sorted[end].part, sorted[at].part);)
            end++;
        struct lks_spread spread = lks_node_spread_of(&sorted[at], end - at, false);
        if (spread.count < 2)
            continue;
        struct lks_str called = sorted[at].name;
        if (sorted[at].part.len > 0)
            called = lks_report_text(l->out, "%" LKS_STR_FMT "[%" LKS_STR_FMT "]",
                                     LKS_STR_ARG(called), LKS_STR_ARG(sorted[at].part));
        note_spread(l, LKS_ERROR, called, &spread, "devices");
        lks_report_remedy(l->out, "bring the devices of one part to one version");
    }
}

static void rule_firmware_differs(struct look *l)
{
    const struct lks_tuple *t = l->tuple;
    for (size_t at = 0, count; at < t->count; at += count) {
        count = same_name(t, at);
        if (is_firmware(&t->readings[at]))
            compare_firmware(l, &t->readings[at], count);
    }
}

static const struct {
    const char *pending, *current, *called, *until, *remedy;
} modes[] = {
    {"gpu.mig_pending", "settings.mig.mode", "MIG", "the next reset of the GPU",
     "reset the GPU, or take the change back"},
    {"gpu.ecc_pending", "settings.ecc", "ECC", "the next reboot",
     "reboot, or take the change back"},
};

static void rule_pending(struct look *l)
{
    for (size_t i = 0; i < LKS_COUNT(modes); i++) {
        size_t count;
        const struct lks_reading *r =
            lks_tuple_range(l->tuple, lks_str_from(modes[i].pending), &count);
        for (; count > 0; count--, r++) {
            const struct lks_reading *now = lks_node_reading(l->tuple, modes[i].current, r->of);
            if (r->state != LKS_MEASURED || now == NULL || now->state != LKS_MEASURED ||
                lks_str_eq(now->value, r->value))
                continue;
            NOTE(l, LKS_ERROR, now->name,
                 "%s of %" LKS_STR_FMT " is %" LKS_STR_FMT " (%" LKS_STR_FMT ") and becomes "
                 "%" LKS_STR_FMT " with %s (%" LKS_STR_FMT ")",
                 modes[i].called, LKS_STR_ARG(r->of), LKS_STR_ARG(now->value),
                 LKS_STR_ARG(now->evidence), LKS_STR_ARG(r->value), modes[i].until,
                 LKS_STR_ARG(r->evidence));
            lks_report_remedy(l->out, "%s", modes[i].remedy);
        }
    }
}

/* A GPU that the driver lists and that does not say how it is set. */
static bool is_mute(const struct lks_tuple *t, struct lks_str gpu)
{
    bool mute = false;
    for (size_t i = 0; i < t->count; i++) {
        const struct lks_reading *r = &t->readings[i];
        if (!lks_str_starts(r->name, "settings.") || !lks_str_eq(r->of, gpu))
            continue;
        if (r->state == LKS_MEASURED)
            return false;
        mute = mute || r->state == LKS_UNMEASURED;
    }
    return mute;
}

static void rule_gpus_missing(struct look *l)
{
    const struct lks_reading *bus = lks_node_measured(l->tuple, LKS_STR("devices.gpus"));
    size_t count, answering = 0;
    uint64_t wanted;
    const struct lks_reading *r = lks_tuple_range(l->tuple, LKS_STR("gpu.product"), &count);
    for (size_t i = 0; i < count; i++)
        answering += r[i].state == LKS_MEASURED && !is_mute(l->tuple, r[i].of);
    bool driven =
        driver_of(l->tuple) != NULL || lks_node_measured(l->tuple, LKS_STR("amdgpu")) != NULL;
    if (bus == NULL || !driven || !lks_str_number(bus->value, UINT32_MAX, &wanted) ||
        wanted <= answering)
        return;
    NOTE(l, LKS_WARNING, bus->name,
         "%" LKS_STR_FMT " GPUs are on the bus (%" LKS_STR_FMT ") and %zu answer the driver",
         LKS_STR_ARG(bus->value), LKS_STR_ARG(bus->evidence), answering);
    lks_report_remedy(l->out, "search the kernel's log for Xids, and drain the node");
}

static void rule_clocks(struct look *l)
{
    size_t count, held = 0;
    const struct lks_reading *first = NULL;
    const struct lks_reading *r =
        lks_tuple_range(l->tuple, LKS_STR("settings.clocks.locked"), &count);
    for (; count > 0; count--, r++) {
        if (r->state != LKS_MEASURED || !lks_str_is(r->value, "true"))
            continue;
        first = held++ == 0 ? r : first;
    }
    if (held == 0)
        return;
    NOTE(l, LKS_WARNING, first->name,
         "clocks are held on %zu %s, %" LKS_STR_FMT " among them (%" LKS_STR_FMT ")", held,
         held == 1 ? "GPU" : "GPUs", LKS_STR_ARG(first->of), LKS_STR_ARG(first->evidence));
    lks_report_remedy(l->out, "nvidia-smi -rgc and -rmc release them");
}

/* What must be known ------------------------------------------------------------------------ */

/* The package of a driver says what is installed, and not what runs. */
static void need(struct look *l, const char *name, const char *because)
{
    struct lks_str subject = lks_str_from(name);
    const struct lks_reading *r = lks_tuple_find(l->tuple, name);
    if (lks_node_measured(l->tuple, subject) != NULL)
        return;
    if (r == NULL)
        NOTE(l, LKS_ERROR, subject, "%s was not read, and %s", name, because);
    else if (r->state == LKS_ABSENT)
        NOTE(l, LKS_ERROR, subject, "%s is not there (%" LKS_STR_FMT "), and %s", name,
             LKS_STR_ARG(r->evidence), because);
    else
        NOTE(l, LKS_ERROR, subject, "%s could not be read: %" LKS_STR_FMT " (%" LKS_STR_FMT ")",
             name, LKS_STR_ARG(r->value), LKS_STR_ARG(r->evidence));
}

static void rule_unmeasured(struct look *l)
{
    struct lks_node_vendors vendors = lks_node_vendors(l->tuple);
    need(l, "kernel", "every node has one");
    need(l, "devices.gpus", "without a count none can be missed");
    if (vendors.nvidia)
        need(l, "driver", "there are NVIDIA GPUs");
    if (vendors.amd)
        need(l, "amdgpu", "there are AMD GPUs");
}

/* Copies ------------------------------------------------------------------------------------ */

#define COPY_PREFIX "copy."

/* The component that `name` is a copy of; false where it is none, or something else of a copy. */
static bool is_copy(struct lks_str name, struct lks_str *component)
{
    struct lks_str copy;
    return !between(name, COPY_PREFIX, ".build_id", &copy) &&
           between(name, COPY_PREFIX, "", component);
}

/* Copies of one version, and where the first of them is. */
struct version_place {
    struct lks_str version, path;
    size_t count;
};

/* Copies of these have numbers of their own: the run time of CUDA 13.0.2 is 13.0.96, and where only
 * its release could be read, 13.0; the library in a cuda-compat has that of a driver. */
static bool is_numbered_apart(struct lks_str component)
{
    return lks_str_is(component, "cuda") || lks_str_is(component, "cuda-compat");
}

static bool is_same_copy(struct lks_str a, struct lks_str b, enum lks_version_scheme scheme)
{
    return lks_version_cmp(a, b, scheme) == 0;
}

static bool is_same_release(struct lks_str a, struct lks_str b, enum lks_version_scheme scheme)
{
    return is_same_copy(a, b, scheme) || lks_version_covers(a, b) || lks_version_covers(b, a);
}

static size_t add_place(struct version_place *places, size_t count, struct lks_str version,
                        struct lks_str path, enum lks_version_scheme scheme, bool apart)
{
    for (size_t i = 0; i < count; i++) {
        if ((apart ? is_same_release : is_same_copy)(places[i].version, version, scheme)) {
            places[i].count += !lks_str_eq(places[i].path, path);
            return count;
        }
    }
    if (count == LKS_SPREAD_VALUES_MAX)
        return count;
    places[count] = (struct version_place){version, path, 1};
    return count + 1;
}

/* The one the system loads comes first, by its path where a copy has it. */
static size_t find_places(const struct look *l, struct lks_str component,
                          const struct lks_reading *copies, size_t count,
                          struct version_place places[LKS_SPREAD_VALUES_MAX])
{
    enum lks_version_scheme scheme = lks_facts_scheme(l->facts, component);
    bool apart = is_numbered_apart(component);
    const struct lks_reading *own = apart ? NULL : lks_node_measured(l->tuple, component);
    size_t found = 0;
    for (size_t pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < count; i++) {
            if (copies[i].state == LKS_MEASURED && lks_str_is(copies[i].part, "system") == !pass)
                found = add_place(places, found, copies[i].value, copies[i].of, scheme, apart);
        }
        if (found == 0 && own != NULL)
            found = add_place(places, found, own->value, own->evidence, scheme, apart);
    }
    return found;
}

static void compare_copies(struct look *l, struct lks_str component,
                           const struct lks_reading *copies, size_t count)
{
    struct version_place places[LKS_SPREAD_VALUES_MAX];
    size_t found = find_places(l, component, copies, count, places);
    if (found < 2)
        return;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    for (size_t i = 0; i < found; i++) {
        lks_buf_addf(&text, "%s%" LKS_STR_FMT " in %" LKS_STR_FMT,
                     i == 0          ? ""
                     : i + 1 < found ? ", "
                                     : " and ",
                     LKS_STR_ARG(places[i].version), LKS_STR_ARG(places[i].path));
        if (places[i].count > 1)
            lks_buf_addf(&text, " (and %zu more)", places[i].count - 1);
    }
    struct lks_str said = lks_buf_view(&text);
    bool collectives = lks_str_is(component, "nccl") || lks_str_is(component, "rccl");
    NOTE(l, LKS_WARNING, component, "%" LKS_STR_FMT " is %" LKS_STR_FMT ": %s",
         LKS_STR_ARG(component), LKS_STR_ARG(said),
         collectives ? "a job that mixes them fails or hangs"
                     : "a program takes the one it finds first");
    lks_report_remedy(l->out, "keep one, or pin the one jobs bring with owner: image");
}

static void rule_copies(struct look *l)
{
    const struct lks_tuple *t = l->tuple;
    for (size_t at = 0, count; at < t->count; at += count) {
        struct lks_str component;
        count = same_name(t, at);
        if (is_copy(t->readings[at].name, &component))
            compare_copies(l, component, &t->readings[at], count);
    }
}

/* The kernel marks a mapped file that was replaced so. */
static bool says_deleted(const struct lks_reading *r)
{
    const struct lks_str mark = LKS_STR("(deleted)");
    return lks_str_find(r->of, mark) >= 0 || lks_str_find(r->value, mark) >= 0 ||
           lks_str_find(r->evidence, mark) >= 0;
}

static void rule_mapped_deleted(struct look *l)
{
    for (size_t i = 0; i < l->tuple->count; i++) {
        const struct lks_reading *r = &l->tuple->readings[i];
        struct lks_str component;
        if (!is_copy(r->name, &component) || !lks_str_is(r->part, "process") || !says_deleted(r))
            continue;
        NOTE(l, LKS_ERROR, component,
             "a process still runs with %" LKS_STR_FMT ", which was replaced on disk (%" LKS_STR_FMT
             ", %" LKS_STR_FMT ")",
             LKS_STR_ARG(component), LKS_STR_ARG(r->of), LKS_STR_ARG(r->evidence));
        lks_report_remedy(l->out, "start the process again");
    }
}

static void rule_shadowed(struct look *l)
{
    for (size_t i = 0; i < l->tuple->count; i++) {
        const struct lks_reading *r = &l->tuple->readings[i];
        if (!lks_str_starts(r->name, "shadow.") || r->state == LKS_ABSENT)
            continue;
        struct lks_str version =
            r->state == LKS_MEASURED ? r->value : LKS_STR("of a version that was not read");
        NOTE(l, LKS_WARNING, r->name,
             "%" LKS_STR_FMT ", %" LKS_STR_FMT ", hides the driver's own library in containers "
             "(%" LKS_STR_FMT ")",
             LKS_STR_ARG(r->of), LKS_STR_ARG(version), LKS_STR_ARG(r->evidence));
        lks_report_remedy(l->out, "build the image without it");
    }
}

/* Packages, kernels, probes ----------------------------------------------------------------- */

/* The driver has a rule of its own, and a kernel's release is not the version of its package. */
static bool has_own_rule(struct lks_str component)
{
    return lks_str_is(component, "driver") || lks_str_is(component, "amdgpu") ||
           lks_str_is(component, "kernel");
}

/* Of several packages that tell of a component one has to be what runs. */
static void rule_package_differs(struct look *l)
{
    for (size_t i = 0; i < l->tuple->count; i++) {
        const struct lks_reading *package = &l->tuple->readings[i];
        struct lks_str component;
        if (package->state != LKS_MEASURED || package->of.len > 0 ||
            !between(package->name, "", ".package", &component) || has_own_rule(component))
            continue;
        const struct lks_reading *own = lks_node_measured(l->tuple, component);
        if (own == NULL || lks_node_package_agrees(l->facts, l->tuple, component, own->value))
            continue;
        NOTE(l, LKS_WARNING, component,
             "%" LKS_STR_FMT " is %" LKS_STR_FMT " (%" LKS_STR_FMT ") and its package %" LKS_STR_FMT
             " (%" LKS_STR_FMT ")",
             LKS_STR_ARG(component), LKS_STR_ARG(own->value), LKS_STR_ARG(own->evidence),
             LKS_STR_ARG(package->value), LKS_STR_ARG(package->evidence));
        lks_report_remedy(l->out, "restart it, or remove the copy that is not from the package");
    }
}

static void rule_dkms(struct look *l)
{
    size_t count;
    const struct lks_reading *r = lks_tuple_range(l->tuple, LKS_STR("platform.dkms"), &count);
    const struct lks_reading *next = lks_node_measured(l->tuple, LKS_STR("platform.next_kernel"));
    for (; count > 0; count--, r++) {
        if (r->state != LKS_MEASURED || next == NULL ||
            lks_str_find(r->value, LKS_STR(" not built")) < 0)
            continue;
        NOTE(l, LKS_WARNING, r->name,
             "%" LKS_STR_FMT " (%" LKS_STR_FMT
             "), and that is the kernel of the next boot (%" LKS_STR_FMT
             "): after it there is no such module",
             LKS_STR_ARG(r->value), LKS_STR_ARG(r->evidence), LKS_STR_ARG(next->evidence));
        lks_report_remedy(l->out, "build it: dkms autoinstall -k %" LKS_STR_FMT,
                          LKS_STR_ARG(next->value));
    }
}

static void rule_upgrades(struct look *l)
{
    const struct lks_reading *r =
        lks_node_measured(l->tuple, LKS_STR("settings.unattended_upgrades"));
    const struct lks_reading *how = lks_node_measured(l->tuple, LKS_STR("platform.upgrades"));
    if (r == NULL || !lks_str_is(r->value, "true"))
        return;
    struct lks_str by = how != NULL ? how->value : r->evidence;
    NOTE(l, LKS_WARNING, r->name,
         "the package manager upgrades on its own (%" LKS_STR_FMT "): a driver can be replaced "
         "under its jobs",
         LKS_STR_ARG(by));
    lks_report_remedy(l->out, "turn unattended upgrades off, or hold the packages");
}

static void rule_probe(struct look *l)
{
    for (size_t i = 0; i < l->tuple->count; i++) {
        const struct lks_reading *r = &l->tuple->readings[i];
        struct lks_str probe;
        if (!between(r->name, "probe.", "", &probe) || r->state == LKS_ABSENT)
            continue;
        NOTE(l, LKS_WARNING, r->name,
             "the probe %" LKS_STR_FMT " did not finish: %" LKS_STR_FMT " (%" LKS_STR_FMT ")",
             LKS_STR_ARG(probe), LKS_STR_ARG(r->value), LKS_STR_ARG(r->evidence));
    }
}

/* All of them ------------------------------------------------------------------------------- */

/* Errors first, in the order in which they are best repaired. */
static const struct {
    struct lks_consistency_rule rule;
    void (*run)(struct look *l);
} rules[] = {
    {{"unmeasured", "the kernel and the driver of the GPUs were read"}, rule_unmeasured},
    {{"four-numbers", "the loaded module, the one on disk, the library and the package are one"},
     rule_four_numbers},
    {{"gsp-version", "the GPUs run the driver's own firmware"}, rule_gsp},
    {{"fabric-manager-version", "the fabric manager has the driver's version"},
     rule_fabric_manager},
    {{"imex-version", "IMEX has the driver's version"}, rule_imex},
    {{"nscq-version", "NSCQ has the driver's version"}, rule_nscq},
    {{"cdi-driver", "container devices are described for the driver that runs"}, rule_cdi},
    {{"gpus-differ", "the GPUs are set, built and linked alike"}, rule_gpus_differ},
    {{"firmware-differs", "devices of one part have one firmware"}, rule_firmware_differs},
    {{"pending-mode", "no mode waits for a reset or a reboot"}, rule_pending},
    {{"mapped-deleted", "no process runs with a library that was replaced"}, rule_mapped_deleted},
    {{"gpus-missing", "every GPU on the bus answers the driver"}, rule_gpus_missing},
    {{"copies-differ", "the copies of a library have one version"}, rule_copies},
    {{"shadowed", "no image hides the driver's own libraries"}, rule_shadowed},
    {{"package-differs", "what runs is what its package holds"}, rule_package_differs},
    {{"dkms-next-kernel", "every module is built for the kernel of the next boot"}, rule_dkms},
    {{"upgrades-armed", "no package manager upgrades on its own"}, rule_upgrades},
    {{"clocks-held", "the clocks of a GPU are not locked"}, rule_clocks},
    {{"probe", "every probe finished"}, rule_probe},
};

const struct lks_consistency_rule *lks_consistency_rule(size_t index)
{
    return index < LKS_COUNT(rules) ? &rules[index].rule : NULL;
}

bool lks_consistency_bars_reboot(const char *rule)
{
    return strcmp(rule, "dkms-next-kernel") == 0;
}

enum lks_code lks_consistency(const struct lks_facts *facts, const struct lks_tuple *tuple,
                              struct lks_report *report, struct lks_err *err)
{
    struct look l = {.facts = facts, .tuple = tuple, .out = report};
    for (size_t i = 0; i < LKS_COUNT(rules); i++) {
        l.rule = rules[i].rule.id;
        rules[i].run(&l);
    }
    return lks_report_check(report, err);
}
