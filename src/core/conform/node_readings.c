#include "core/conform/node_readings.h"

#include <stdio.h>
#include <stdlib.h>

/* How a vendor's GPUs can be told: the vendor in "10de:2335", or the beginning of a name. */
static const struct {
    enum lks_vendor vendor;
    const char *reading, *prefix;
} marks[] = {
    {LKS_VENDOR_NVIDIA, "gpu.pci_id", "10de:"},    {LKS_VENDOR_AMD, "gpu.pci_id", "1002:"},
    {LKS_VENDOR_NVIDIA, "gpu.product", "NVIDIA "}, {LKS_VENDOR_NVIDIA, "gpu.product", "Tesla "},
    {LKS_VENDOR_AMD, "gpu.product", "AMD "},
};

struct lks_node_vendors lks_node_vendors(const struct lks_tuple *tuple)
{
    struct lks_node_vendors found = {0};
    for (size_t i = 0; i < LKS_COUNT(marks); i++) {
        size_t count;
        const struct lks_reading *r =
            lks_tuple_range(tuple, lks_str_from(marks[i].reading), &count);
        for (; count > 0; count--, r++) {
            bool fits = r->state == LKS_MEASURED && lks_str_starts(r->value, marks[i].prefix);
            found.nvidia = found.nvidia || (fits && marks[i].vendor == LKS_VENDOR_NVIDIA);
            found.amd = found.amd || (fits && marks[i].vendor == LKS_VENDOR_AMD);
        }
    }
    return found;
}

bool lks_node_reading_of_gpu(const struct lks_reading *r)
{
    return lks_str_starts(r->of, "gpu ");
}

const struct lks_reading *lks_node_reading(const struct lks_tuple *tuple, const char *name,
                                           struct lks_str of)
{
    size_t count;
    const struct lks_reading *r = lks_tuple_range(tuple, lks_str_from(name), &count);
    for (; count > 0; count--, r++) {
        if (lks_str_eq(r->of, of))
            return r;
    }
    return NULL;
}

const struct lks_reading *lks_node_measured(const struct lks_tuple *tuple, struct lks_str name)
{
    size_t count;
    const struct lks_reading *r = lks_tuple_range(tuple, name, &count);
    for (; count > 0; count--, r++) {
        if (r->state == LKS_MEASURED)
            return r;
    }
    return NULL;
}

const struct lks_reading *lks_node_best(const struct lks_tuple *tuple, struct lks_str name)
{
    size_t count;
    const struct lks_reading *r = lks_node_measured(tuple, name);
    return r != NULL ? r : lks_tuple_range(tuple, name, &count);
}

/* A package may say only the first numbers of what is in it. */
static bool is_coarse(const struct lks_facts *facts, struct lks_str component)
{
    for (size_t i = 0; i < facts->packages.count; i++) {
        const struct lks_package_kind *kind = &facts->packages.rows[i];
        if (lks_str_eq(kind->component, component) && kind->says == LKS_SAYS_TWO)
            return true;
    }
    return false;
}

bool lks_node_package_is(const struct lks_facts *facts, struct lks_str component,
                         struct lks_str has, struct lks_str running)
{
    enum lks_version_scheme scheme = lks_facts_scheme(facts, component);
    return lks_version_cmp(has, running, scheme) == 0 ||
           (scheme == LKS_VERSION_DOTTED &&
            lks_version_cmp(lks_version_stated(has, running), lks_version_stated(running, has),
                            scheme) == 0) ||
           (is_coarse(facts, component) && lks_version_covers(has, running));
}

bool lks_node_package_agrees(const struct lks_facts *facts, const struct lks_tuple *tuple,
                             struct lks_str component, struct lks_str running)
{
    char name[LKS_READING_NAME_MAX + sizeof(".package")];
    size_t count, measured = 0;
    snprintf(name, sizeof(name), "%" LKS_STR_FMT ".package", LKS_STR_ARG(component));
    const struct lks_reading *r = lks_tuple_range(tuple, lks_str_from(name), &count);
    for (; count > 0; count--, r++) {
        measured += r->state == LKS_MEASURED;
        if (r->state == LKS_MEASURED && lks_node_package_is(facts, component, r->value, running))
            return true;
    }
    return measured == 0;
}

bool lks_node_copy_of_image(const struct lks_reading *r)
{
    static const char *const places[] = {"python", "container", "process"};
    for (size_t i = 0; i < LKS_COUNT(places); i++) {
        if (lks_str_is(r->part, places[i]))
            return true;
    }
    return false;
}

bool lks_node_memory_in_blocks(const struct lks_reading *r)
{
    return lks_str_starts(r->evidence, "/sys/devices/system/memory");
}

/* A missing module is more than this part of a machine. */
enum { MEMORY_SLACK_PART = 40 };

bool lks_node_has_memory(const struct lks_reading *r, int64_t gib)
{
    uint64_t number;
    if (r->state != LKS_MEASURED || !lks_str_number(r->value, INT64_MAX, &number))
        return false;
    int64_t counted = (int64_t)number;
    int64_t slack = lks_node_memory_in_blocks(r) ? gib / MEMORY_SLACK_PART : 0;
    return counted <= gib && counted >= gib - slack;
}

bool lks_node_setting_lacks_as_off(struct lks_str name)
{
    static const char *const settings[] = {
        "settings.mig.mode",    "settings.mig.profiles",  "settings.ecc",     "settings.gds",
        "settings.persistence", "settings.clocks.locked", "settings.nic.pfc", "settings.nic.ecn",
    };
    for (size_t i = 0; i < LKS_COUNT(settings); i++) {
        if (lks_str_is(name, settings[i]))
            return true;
    }
    return false;
}

static bool says_the_same(const struct lks_reading *a, const struct lks_reading *b)
{
    return a->state == b->state && lks_str_eq(a->value, b->value);
}

static void add(struct lks_spread *spread, const struct lks_reading *r)
{
    for (size_t i = 0; i < spread->count; i++) {
        if (says_the_same(spread->values[i].first, r)) {
            spread->values[i].count++;
            return;
        }
    }
    if (spread->count < LKS_SPREAD_VALUES_MAX)
        spread->values[spread->count++] = (struct lks_spread_value){r, 1};
    else
        spread->more++;
}

/* Devices stand in one order in every tuple, so ties do too. */
static int by_count(const void *left, const void *right)
{
    const struct lks_spread_value *a = left, *b = right;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return (a->first > b->first) - (a->first < b->first);
}

struct lks_spread lks_node_spread_of(const struct lks_reading *readings, size_t count,
                                     bool gpus_only)
{
    struct lks_spread spread = {0};
    for (size_t i = 0; i < count; i++) {
        const struct lks_reading *r = &readings[i];
        if (gpus_only && !lks_node_reading_of_gpu(r))
            continue;
        if (r->state != LKS_UNMEASURED)
            add(&spread, r);
        else if (spread.unmeasured == NULL)
            spread.unmeasured = r;
    }
    qsort(spread.values, spread.count, sizeof(spread.values[0]), by_count);
    return spread;
}

void lks_node_spread_text(const struct lks_spread *spread, const char *noun, struct lks_buf *out)
{
    for (size_t i = 0; i < spread->count; i++) {
        const struct lks_spread_value *v = &spread->values[i];
        bool last = i + 1 == spread->count && spread->more == 0;
        lks_buf_addf(out, "%s", i == 0 ? "" : last ? " and " : ", ");
        if (v->first->state == LKS_ABSENT)
            lks_buf_addf(out, "absent");
        else
            lks_buf_add(out, v->first->value.len > 0 ? v->first->value : LKS_STR("empty"));
        if (v->count > 1)
            lks_buf_addf(out, " on %zu %s", v->count, noun);
        else if (v->first->of.len > 0)
            lks_buf_addf(out, " on %" LKS_STR_FMT, LKS_STR_ARG(v->first->of));
    }
    if (spread->more > 0)
        lks_buf_addf(out, " and something else on %zu %s", spread->more, noun);
}
