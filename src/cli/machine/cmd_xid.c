/* xid. */
#include "cli/shared/commands.h"
#include "cli/shared/input.h"
#include "cli/shared/output.h"
#include "core/compat/xid.h"

#include <errno.h>
#include <stdlib.h>

/* Xids have three digits at the most; an NVSwitch counts from 10001. */
enum { SXID_FROM = 10000, R575 = 575, DECODED_MAX = 16 };

static void put(struct lks_cli *cli, const char *label, struct lks_str value)
{
    if (value.len > 0)
        fprintf(cli->out, "%-14s %.*s\n", label, LKS_STR_ARG(value));
}

static void put_action(struct lks_cli *cli, const struct lks_facts *facts, const char *label,
                       struct lks_str action)
{
    const struct lks_xid_action *row = lks_xid_action_find(facts, action);
    if (action.len == 0)
        return;
    fprintf(cli->out, "%-14s %.*s", label, LKS_STR_ARG(action));
    if (row != NULL)
        fprintf(cli->out, ": %.*s (disrupts: %.*s)", LKS_STR_ARG(row->meaning),
                LKS_STR_ARG(row->disruption));
    fprintf(cli->out, "\n");
}

static void action_json(struct lks_json_writer *w, const struct lks_facts *facts, const char *key,
                        struct lks_str action)
{
    const struct lks_xid_action *row = lks_xid_action_find(facts, action);
    if (action.len == 0)
        return;
    lks_json_write(w, "'%s': {'action': '%.*s'", key, LKS_STR_ARG(action));
    if (row != NULL)
        lks_json_write(w, "'meaning'?: '%.*s', 'disruption'?: '%.*s'", LKS_STR_ARG(row->meaning),
                       LKS_STR_ARG(row->disruption));
    lks_json_end(w, '}');
}

enum { BOARDS_MAX = 4 };

/* Which boards an Xid is for, as the catalogue's columns have it. */
static size_t boards_of(const struct lks_xid *x, const char *out[BOARDS_MAX])
{
    const struct {
        const char *name;
        struct lks_str cell;
    } columns[BOARDS_MAX] = {{"A100", x->applies_a100},
                             {"H100", x->applies_h100},
                             {"B100", x->applies_b100},
                             {"GB200", x->applies_gb200}};
    size_t count = 0;
    for (size_t i = 0; i < LKS_COUNT(columns); i++) {
        if (lks_str_eq_nocase(columns[i].cell, LKS_STR("YES")))
            out[count++] = columns[i].name;
    }
    return count;
}

static void put_boards(struct lks_cli *cli, const struct lks_xid *x)
{
    const char *boards[BOARDS_MAX];
    size_t count = boards_of(x, boards);
    if (count == 0)
        return;
    fprintf(cli->out, "%-14s", "boards");
    for (size_t i = 0; i < count; i++)
        fprintf(cli->out, " %s", boards[i]);
    fprintf(cli->out, "\n");
}

struct question {
    const struct lks_facts *facts;
    int64_t number;
    bool has_registers;
    struct lks_xid_decoded decoded[DECODED_MAX];
    size_t decoded_count;
};

static enum lks_code xid_text(struct lks_cli *cli, const struct question *q,
                              const struct lks_xid *x)
{
    fprintf(cli->out, "Xid %lld: %.*s\n", (long long)x->number, LKS_STR_ARG(x->description));
    put(cli, "name", x->mnemonic);
    put(cli, "category", x->category);
    put(cli, "severity", x->severity);
    put_boards(cli, x);
    put_action(cli, q->facts, "do now", x->immediate_action);
    put_action(cli, q->facts, "investigate", x->investigatory_action);
    if (x->xid154_since.len > 0)
        fprintf(cli->out, "%-14s an Xid 154 beside it says how to recover, from %.*s on\n", "154",
                LKS_STR_ARG(x->xid154_since));
    put(cli, "note", x->fact.note);
    for (size_t i = 0; i < q->decoded_count; i++) {
        const struct lks_xid_nvlink5 *row = q->decoded[i].row;
        fprintf(cli->out, "%-14s unit %.*s, %.*s, cause %.*s\n", "registers",
                LKS_STR_ARG(row->unit), LKS_STR_ARG(row->severity), LKS_STR_ARG(row->cause));
        put_action(cli, q->facts, "  do now", q->decoded[i].action);
    }
    if (q->has_registers && q->decoded_count == 0)
        fprintf(cli->out, "%-14s no row matches them\n", "registers");
    put(cli, "source", x->fact.source);
    return LKS_OK;
}

/* An empty list where no row matches; nothing where no registers were given. */
static void registers_json(struct lks_json_writer *w, const struct question *q)
{
    if (!q->has_registers)
        return;
    lks_json_begin(w, "registers", '[');
    for (size_t i = 0; i < q->decoded_count; i++) {
        const struct lks_xid_nvlink5 *row = q->decoded[i].row;
        lks_json_write(w, "{'unit'?: '%.*s', 'severity'?: '%.*s', 'cause'?: '%.*s'",
                       LKS_STR_ARG(row->unit), LKS_STR_ARG(row->severity), LKS_STR_ARG(row->cause));
        action_json(w, q->facts, "do_now", q->decoded[i].action);
        lks_json_end(w, '}');
    }
    lks_json_end(w, ']');
}

static enum lks_code xid_json(struct lks_cli *cli, const struct question *q,
                              const struct lks_xid *x, struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    const char *boards[BOARDS_MAX];
    size_t board_count = boards_of(x, boards);
    struct lks_json_writer *w = lks_output_begin(&o);
    lks_json_write(w,
                   "'xid': %ld, 'name'?: '%.*s', 'description'?: '%.*s', 'category'?: '%.*s', "
                   "'severity'?: '%.*s', 'boards': [",
                   x->number, LKS_STR_ARG(x->mnemonic), LKS_STR_ARG(x->description),
                   LKS_STR_ARG(x->category), LKS_STR_ARG(x->severity));
    for (size_t i = 0; i < board_count; i++)
        lks_json_cstr(w, NULL, boards[i]);
    lks_json_end(w, ']');
    action_json(w, q->facts, "do_now", x->immediate_action);
    action_json(w, q->facts, "look_into", x->investigatory_action);
    lks_json_some(w, "note", x->fact.note);
    registers_json(w, q);
    lks_json_some(w, "source", x->fact.source);
    return lks_output_end(cli, &o, err);
}

/* Two sources speak of SXids and disagree on some: both are shown. */
static enum lks_code sxid_text(struct lks_cli *cli, const struct question *q,
                               const struct lks_sxid *x)
{
    fprintf(cli->out, "SXid %lld: %.*s\n", (long long)x->number,
            LKS_STR_ARG(x->fm_guide_title.len > 0 ? x->fm_guide_title : x->mnemonic));
    put(cli, "name", x->mnemonic);
    put(cli, "unit", x->unit);
    put(cli, "NVSentinel", x->fatality);
    put(cli, "FM guide", x->fm_guide_class);
    put_action(cli, q->facts, "do now", x->recommended_action);
    if (x->recommended_action.len == 0)
        fprintf(cli->out, "%-14s no action is published\n", "do now");
    put(cli, "boards", LKS_STR("NVSwitches of A100 and H100 systems"));
    put(cli, "source", x->fact.source);
    return LKS_OK;
}

static enum lks_code sxid_json(struct lks_cli *cli, const struct question *q,
                               const struct lks_sxid *x, struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    struct lks_json_writer *w = lks_output_begin(&o);
    lks_json_write(w,
                   "'sxid': %ld, 'name'?: '%.*s', 'title'?: '%.*s', 'unit'?: '%.*s', "
                   "'nvsentinel'?: '%.*s', 'fm_guide'?: '%.*s'",
                   x->number, LKS_STR_ARG(x->mnemonic), LKS_STR_ARG(x->fm_guide_title),
                   LKS_STR_ARG(x->unit), LKS_STR_ARG(x->fatality), LKS_STR_ARG(x->fm_guide_class));
    action_json(w, q->facts, "do_now", x->recommended_action);
    lks_json_some(w, "source", x->fact.source);
    return lks_output_end(cli, &o, err);
}

static enum lks_code read_register(const struct lks_args *args, const char *option, uint32_t *out,
                                   struct lks_err *err)
{
    const char *text = lks_args_get(args, option);
    char *end = NULL;
    errno = 0;
    unsigned long value = text != NULL ? strtoul(text, &end, 16) : 0;
    if (text != NULL &&
        (errno != 0 || end == text || *end != '\0' || value > UINT32_MAX || text[0] == '-'))
        return lks_fail(err, LKS_E_USAGE, "%s: '%s' is not a register such as 0x00000004", option,
                        text);
    *out = (uint32_t)value;
    return LKS_OK;
}

static enum lks_code decode(const struct lks_args *args, struct question *q, struct lks_err *err)
{
    struct lks_xid_registers registers = {0};
    struct lks_str driver = lks_args_str(args, "--driver");
    bool status = lks_args_has(args, "--error-status");
    q->has_registers = lks_args_has(args, "--intr-info");
    if (!q->has_registers && (status || driver.len > 0))
        return lks_fail(err, LKS_E_USAGE, "xid: --error-status and --driver go with --intr-info");
    if (q->has_registers && !lks_xid_has_registers(q->facts, q->number))
        return lks_fail(err, LKS_E_USAGE, "xid: only Xids 144 to 150 come with registers");
    if (driver.len > 0 && !lks_version_whole(driver, LKS_VERSION_DOTTED))
        return lks_fail(err, LKS_E_USAGE, "xid: --driver is a version such as 570.86.15");
    if (read_register(args, "--intr-info", &registers.intr_info, err) != LKS_OK ||
        read_register(args, "--error-status", &registers.error_status, err) != LKS_OK)
        return err->code;
    registers.before_r575 = driver.len > 0 && lks_version_major(driver) < R575;
    if (q->has_registers)
        q->decoded_count = lks_xid_decode(q->facts, q->number, &registers, q->decoded, DECODED_MAX);
    return LKS_OK;
}

enum lks_code lks_cmd_xid(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
    struct question q = {.facts = &facts};
    uint64_t number;
    if (!lks_str_number(lks_str_from(args->positional[0]), INT32_MAX, &number))
        return lks_fail(err, LKS_E_USAGE, "xid: '%.32s' is not a number of at most %d",
                        args->positional[0], INT32_MAX);
    q.number = (int64_t)number;
    if (lks_input_facts(cli->data_dir, &facts, err) != LKS_OK || decode(args, &q, err) != LKS_OK)
        return err->code;

    bool json = lks_args_has(args, "--json");
    bool is_sxid = q.number >= SXID_FROM || lks_args_has(args, "--sxid");
    const struct lks_xid *xid = is_sxid ? NULL : lks_xid_find(&facts, q.number);
    const struct lks_sxid *sxid = is_sxid ? lks_xid_sxid_find(&facts, q.number) : NULL;
    if (xid == NULL && sxid == NULL)
        return lks_fail(err, LKS_E_NOT_FOUND,
                        "no row for %s %lld; a newer table can be given with --data",
                        is_sxid ? "SXid" : "Xid", (long long)q.number);
    if (sxid != NULL)
        return json ? sxid_json(cli, &q, sxid, err) : sxid_text(cli, &q, sxid);
    return json ? xid_json(cli, &q, xid, err) : xid_text(cli, &q, xid);
}
