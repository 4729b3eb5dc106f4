#include "core/conform/draft.h"

#include "core/conform/consistency.h"
#include "core/conform/draft_parts.h"
#include "core/conform/node_readings.h"

#include <stdarg.h>

/* The notes of one name, and what is written of one tuple. */
#define PART_MAX (LKS_TUPLE_MEMORY_MAX)

/* Shared ------------------------------------------------------------------------------------ */

bool lks_draft_lacks_gpus(const struct lks_draft *d, const struct lks_reading *r, size_t count)
{
    int64_t read = 0;
    for (size_t i = 0; i < count; i++)
        read += lks_node_reading_of_gpu(&r[i]);
    return read > 0 && read < d->gpus;
}

struct lks_accord_of lks_draft_accord(const struct lks_draft *d, struct lks_str name)
{
    size_t count;
    const struct lks_reading *r = lks_tuple_range(d->tuple, name, &count);
    struct lks_accord_of of = {.value = {"", 0}};
    struct lks_spread spread = lks_node_spread_of(r, count, false);
    if (spread.unmeasured != NULL) {
        of = (struct lks_accord_of){LKS_ACCORD_UNMEASURED, {"", 0}, spread.unmeasured};
    } else if (spread.count > 0) {
        of.first = spread.values[0].first;
        of.value = of.first->value;
        of.accord = lks_draft_lacks_gpus(d, r, count) ? LKS_ACCORD_SOME
                    : spread.count > 1                ? LKS_ACCORD_DIFFER
                    : of.first->state == LKS_MEASURED ? LKS_ACCORD_ONE
                                                      : LKS_ACCORD_ABSENT;
    }
    return of;
}

void lks_draft_said(struct lks_draft *d, struct lks_str name)
{
    size_t count;
    const struct lks_reading *r = lks_tuple_range(d->tuple, name, &count);
    for (size_t i = 0; i < count; i++)
        d->said[(size_t)(r - d->tuple->readings) + i] = true;
}

void lks_draft_left_out(struct lks_draft *d, enum lks_severity severity, struct lks_str subject,
                        const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct lks_str why = lks_arena_formatv(&d->report->arena, fmt, ap);
    va_end(ap);
    if (why.ptr == NULL) {
        d->report->failed = LKS_E_LIMIT;
        return;
    }
    lks_buf_addf(&d->notes, "# %" LKS_STR_FMT ": %" LKS_STR_FMT "\n", LKS_STR_ARG(subject),
                 LKS_STR_ARG(why));
    lks_report_add(d->report, "left-out", severity, subject, NULL,
                   "is not in the stack: %" LKS_STR_FMT, LKS_STR_ARG(why));
}

bool lks_draft_is_version(struct lks_str s)
{
    return s.len > 0 && s.len <= LKS_VERSION_LEN_MAX && memchr(s.ptr, ' ', s.len) == NULL &&
           strchr("<>=*~^", s.ptr[0]) == NULL && !lks_str_is(s, "latest");
}

/* Whose node -------------------------------------------------------------------------------- */

static void find_vendor(struct lks_draft *d)
{
    struct lks_node_vendors found = lks_node_vendors(d->tuple);
    const struct lks_reading *gpus = lks_tuple_find(d->tuple, "devices.gpus");
    bool some = gpus != NULL && gpus->state == LKS_MEASURED && !lks_str_is(gpus->value, "0");
    d->vendor = found.amd ? LKS_VENDOR_AMD : LKS_VENDOR_NVIDIA;
    if (found.nvidia && found.amd)
        LKS_DRAFT_REFUSE(d, "two-vendors", LKS_STR("gpu.pci_id"),
                         "GPUs of NVIDIA and of AMD were found: a golden stack is for one of them");
    else if (!found.nvidia && !found.amd && some)
        LKS_DRAFT_REFUSE(d, "no-gpu", LKS_STR("gpu.pci_id"),
                         "%" LKS_STR_FMT " GPUs were counted (%" LKS_STR_FMT
                         ") and whose they are was not read",
                         LKS_STR_ARG(gpus->value), LKS_STR_ARG(gpus->evidence));
    else if (!found.nvidia && !found.amd)
        LKS_DRAFT_REFUSE(d, "no-gpu", LKS_STR("devices.gpus"),
                         "no GPU was found: a golden stack is for a GPU node");
}

/* What is only a warning of a node is too much for the one all others shall be like. */
static void refuse_missing_gpus(struct lks_draft *d)
{
    for (size_t i = 0; i < d->report->count; i++) {
        const struct lks_finding *f = &d->report->findings[i];
        if (strcmp(f->rule, "gpus-missing") != 0 || f->severity != LKS_WARNING)
            continue;
        LKS_DRAFT_REFUSE(d, "gpus-missing", f->subject,
                         "a golden node has all its GPUs: %" LKS_STR_FMT, LKS_STR_ARG(f->text));
        return;
    }
}

/* Putting it together ----------------------------------------------------------------------- */

static void begin(struct lks_draft *d)
{
    struct lks_buf *const parts[] = {&d->class, &d->components, &d->firmware, &d->settings,
                                     &d->other, &d->tuning,     &d->notes};
    for (size_t i = 0; i < LKS_COUNT(parts); i++)
        lks_buf_init(parts[i], PART_MAX);
}

static void end(struct lks_draft *d)
{
    struct lks_buf *const parts[] = {&d->class, &d->components, &d->firmware, &d->settings,
                                     &d->other, &d->tuning,     &d->notes};
    for (size_t i = 0; i < LKS_COUNT(parts); i++)
        lks_buf_fini(parts[i]);
}

static void put_part(struct lks_buf *out, const char *title, const struct lks_buf *part)
{
    if (part->failed != LKS_OK && out->failed == LKS_OK)
        out->failed = part->failed;
    if (part->len > 0)
        lks_buf_addf(out, "%s%" LKS_STR_FMT, title, LKS_STR_ARG(lks_buf_view(part)));
}

static void put_head(const struct lks_draft *d, struct lks_str version, const char *day,
                     struct lks_buf *out)
{
    struct lks_str node = d->tuple->node.len > 0 ? d->tuple->node : LKS_STR("one machine");
    lks_buf_addf(out,
                 "# Drafted from %" LKS_STR_FMT " on %s: everything that was measured of it.\n",
                 LKS_STR_ARG(node), day);
    lks_buf_addf(out, "# Remove the pins that may differ between nodes.\n");
    put_part(out, "", &d->class);
    lks_buf_addf(out, "lockstep: 1\nkind: Stack\nname: ");
    lks_buf_quote(out, d->name);
    lks_buf_addf(out, "\nversion: ");
    lks_buf_quote(out, version);
    lks_buf_addf(out, "\nvendor: %s\nhardware: [", lks_facts_vendor_name(d->vendor));
    lks_buf_quote(out, d->class_name);
    lks_buf_addf(out, "]\n");
}

static void put_evidence(const struct lks_draft *d, const char *day, struct lks_buf *out)
{
    struct lks_str node = d->tuple->node.len > 0 ? d->tuple->node : LKS_STR("one machine");
    lks_buf_addf(out, "\nevidence:\n  - what: ");
    lks_buf_quote(out, LKS_DRAFT_TEXT(d, "taken from %" LKS_STR_FMT ", whose tuple is %s",
                                      LKS_STR_ARG(node), d->tuple->digest));
    lks_buf_addf(out, "\n    date: \"%s\"\n", day);
}

static enum lks_code assemble(struct lks_draft *d, struct lks_str version, lks_day today,
                              struct lks_buf *out, struct lks_err *err)
{
    char day[LKS_DAY_TEXT_SIZE];
    LKS_CLEANUP(lks_buf_fini) struct lks_buf all = LKS_BUF(PART_MAX);
    (void)lks_time_day_text(today, day);
    put_head(d, version, day, &all);
    put_part(&all, "\ncomponents:\n", &d->components);
    put_part(&all, "\nfirmware: # observed; what lockstep shall flash gets owner: bundle\n",
             &d->firmware);
    put_part(&all, "\nsettings:\n", &d->settings);
    put_part(&all,
             d->settings.len > 0 ? "  other: # all else that tells it from another build\n"
                                 : "\nsettings:\n  other:\n",
             &d->other);
    put_part(&all, "\ntuning:\n  env:\n", &d->tuning);
    put_evidence(d, day, &all);
    put_part(&all, "\n# Left out, and why:\n", &d->notes);
    if (lks_buf_check(&all, err) != LKS_OK)
        return lks_wrap(err, "the draft");
    lks_buf_add(out, lks_buf_view(&all));
    return lks_buf_check(out, err);
}

static void draft_all(struct lks_draft *d)
{
    lks_draft_class(d);
    lks_draft_components(d);
    lks_draft_firmware(d);
    lks_draft_settings(d);
    lks_draft_tuning(d);
    lks_draft_rest(d);
}

/* The class is called after the stack, so both names have to fit. */
static enum lks_code check_names(struct lks_str name, struct lks_str version,
                                 struct lks_report *report, struct lks_err *err)
{
    struct lks_str class =
        lks_report_text(report, "%" LKS_STR_FMT LKS_DRAFT_CLASS, LKS_STR_ARG(name));
    if (!lks_schema_is_name(name))
        return lks_fail(err, LKS_E_INVALID,
                        "'%" LKS_STR_FMT "' is not a name for a stack: lower-case letters, digits, "
                        "'.', '-', '_', beginning with a letter or a digit",
                        LKS_STR_ARG(name));
    if (!lks_schema_is_name(class))
        return lks_fail(err, LKS_E_INVALID, "'%" LKS_STR_FMT "' is too long a name for a stack",
                        LKS_STR_ARG(name));
    if (!lks_draft_is_version(version))
        return lks_fail(err, LKS_E_INVALID, "'%" LKS_STR_FMT "' is not a version for a stack",
                        LKS_STR_ARG(version));
    return LKS_OK;
}

enum lks_code lks_draft_stack(const struct lks_facts *facts, const struct lks_tuple *tuple,
                              struct lks_str name, struct lks_str version, lks_day today,
                              struct lks_buf *out, struct lks_report *report, struct lks_err *err)
{
    LKS_CLEANUP(end)
    struct lks_draft d = {.facts = facts, .tuple = tuple, .report = report, .name = name};
    if (check_names(name, version, report, err) != LKS_OK ||
        lks_consistency(facts, tuple, report, err) != LKS_OK)
        return err->code;
    begin(&d);
    d.said = lks_arena_array(&report->arena, tuple->count + 1, sizeof(*d.said));
    if (d.said == NULL)
        return lks_arena_fail(&report->arena, err);
    find_vendor(&d);
    refuse_missing_gpus(&d);
    if (report->errors == 0)
        draft_all(&d);
    if (lks_report_check(report, err) != LKS_OK)
        return err->code;
    return report->errors == 0 ? assemble(&d, version, today, out, err) : LKS_OK;
}
