/* Any bytes as a site's table, the first byte saying which: it is refused and nothing is left, or
 * it is loaded and every question put to it has an answer. */
#include "core/check/check.h"
#include "core/compat/compat.h"
#include "core/compat/stackdiff.h"
#include "core/compat/xid.h"
#include "model/manifest/manifest.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TABLES_MAX = 64, LINES_KEPT = 8, DECODED_MAX = 8, TODAY = 20700 };

/* What other tables refer to is kept whole, and of those that refer to it the header alone, so that
 * a table with few rows is not refused for what it lacks. Of the rest a few lines do: most of the
 * time would go into tables nobody fuzzes at the moment. */
static const char *const whole_tables[] = {
    "gpus.csv",           "driver-branches.csv", "components.csv", "settings.csv",
    "update-classes.csv", "change-classes.csv",  "xid-actions.csv"};
static const char *const empty_tables[] = {
    "driver-versions.csv", "cuda-compat.csv", "rocm.csv", "xid.csv", "sxid.csv",
    "requires.csv",        "xid-nvlink5.csv"};

static bool is_among(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

/* Up to the end of line `lines` from the header on, which is the first that is no comment. */
static struct lks_str first_lines(struct lks_str text, int lines)
{
    size_t end = 0;
    for (bool comment = false; lines > 0 && end < text.len; end++) {
        comment = end == 0 || text.ptr[end - 1] == '\n' ? text.ptr[end] == '#' : comment;
        lines -= text.ptr[end] == '\n' && !comment;
    }
    return (struct lks_str){text.ptr, end};
}

static struct lks_str shorten(const char *name, struct lks_str text)
{
    if (strcmp(name, "advisories.yaml") == 0)
        return LKS_STR("advisories: []\n");
    if (is_among(name, whole_tables, LKS_COUNT(whole_tables)))
        return text;
    bool empty = is_among(name, empty_tables, LKS_COUNT(empty_tables));
    return first_lines(text, empty ? 1 : LINES_KEPT);
}

static const struct lks_embedded *short_tables(void)
{
    static struct lks_embedded tables[TABLES_MAX];
    for (size_t i = 0; tables[i].name == NULL && lks_embedded_data[i].name != NULL; i++) {
        LKS_ASSERT(i + 1 < TABLES_MAX);
        const char *name = lks_embedded_data[i].name;
        tables[i] = (struct lks_embedded){name, shorten(name, lks_embedded_data[i].bytes)};
    }
    return tables;
}

static const char stacks[] =
    "lockstep: 1\nkind: HardwareClass\nname: c\nvendor: nvidia\n"
    "gpu: {product: H100 SXM5 80GB, count: 8}\nnvswitches: 4\n---\n"
    "lockstep: 1\nkind: Stack\nname: a\nversion: '1'\nvendor: nvidia\nhardware: [c]\ncomponents:\n"
    "  kernel: {version: '6.8.0'}\n  driver: {version: '580.95.05', modules: open}\n"
    "  cuda: {version: '13.0'}\n  nccl: {version: '2.27.7'}\n  cudnn: {version: '9.12.0'}\n"
    "  container-toolkit: {version: '1.18.0'}\n  fabric-manager: {version: '580.95.05'}\n---\n"
    "lockstep: 1\nkind: Stack\nname: b\nversion: '1'\nvendor: nvidia\nhardware: [c]\ncomponents:\n"
    "  kernel: {version: '6.8.0'}\n  driver: {version: '535.161.08'}\n"
    "  cuda: {version: '12.4'}\n  nccl: {version: '2.20'}\n  dcgm: {version: '3.3.9'}\n"
    "  container-toolkit: {version: '1.17.7'}\n  fabric-manager: {absent: x}\n"
    "windows: {driver: '>=535'}\n";

static void ask(const struct lks_facts *facts)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
    LKS_CLEANUP(lks_report_fini) struct lks_report report = {0};
    LKS_CLEANUP(lks_stackdiff_fini) struct lks_stackdiff diff = {0};
    LKS_CLEANUP(lks_compat_answer_fini) struct lks_compat_answer answer = {0};
    struct lks_err err = {0};
    struct lks_compat_question question = {
        .driver = LKS_STR("550.54.14"), .toolkit = LKS_STR("12.8"), .gpu = LKS_STR("H100")};
    lks_compat_ask(facts, &question, &answer);
    LKS_ASSERT(answer.rules.count > 0);

    struct lks_xid_decoded decoded[DECODED_MAX];
    struct lks_xid_registers registers = {0x86, 1, false};
    LKS_ASSERT(lks_xid_decode(facts, 145, &registers, decoded, DECODED_MAX) <= DECODED_MAX);

    /* The table may call a component by another name, which a stack then has to follow. */
    if (lks_manifest_parse("s", lks_str_from(stacks), facts, NULL, &m, &err) != LKS_OK)
        return;
    lks_report_init(&report);
    struct lks_check check = {.facts = facts, .stack = &m.stacks[0], .today = TODAY};
    LKS_ASSERT(lks_check_run(&check, &report, &err) == LKS_OK);
    LKS_ASSERT(lks_stackdiff_make(facts, &m.stacks[0], &m.stacks[1], &diff, &err) == LKS_OK);
    LKS_ASSERT(!diff.same && diff.count > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t count = 0;
    while (lks_facts_file_name(count) != NULL)
        count++;
    if (size == 0)
        return 0;
    size_t which = data[0] % (count + 1);
    const char *name = which < count ? lks_facts_file_name(which) : LKS_FACTS_SITE_EDGES;
    struct lks_facts_file file = {name, "fuzz", {(const char *)data + 1, size - 1}};

    LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
    struct lks_err err = {0};
    if (lks_facts_load(short_tables(), &file, 1, &facts, &err) == LKS_OK) {
        ask(&facts);
        return 0;
    }
    LKS_ASSERT(err.code != LKS_OK && err.msg[0] != '\0');
    LKS_ASSERT(facts.arena.newest == NULL && facts.gpus.count == 0 && facts.classes.count == 0);
    return 0;
}
