/* compat. */
#include "cli/shared/commands.h"
#include "cli/shared/input.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"
#include "cli/shared/render.h"
#include "core/compat/compat.h"

enum { SHOWN_MAX = 64 }; /* bytes of a value that a message repeats */

static enum lks_code check_versions(const struct lks_compat_question *q, bool amd,
                                    struct lks_err *err)
{
    const struct {
        const char *name;
        struct lks_str value;
        const char *like;
    } versions[] = {
        {amd ? "--amdgpu" : "--driver", q->driver, amd ? "30.30.3" : "580.126.20"},
        {amd ? "--rocm" : "--cuda", q->toolkit, amd ? "7.2.1" : "13.0 or 13.0.2"},
        {"--compat-package", q->compat_package, "13.0"},
    };
    for (size_t i = 0; i < LKS_COUNT(versions); i++) {
        struct lks_str value = versions[i].value;
        if (value.len > 0 && !lks_version_whole(value, LKS_VERSION_DOTTED))
            return lks_fail(err, LKS_E_INVALID,
                            "compat: %s: '%.*s' is not a whole version such as %s",
                            versions[i].name, (int)(value.len < SHOWN_MAX ? value.len : SHOWN_MAX),
                            value.ptr, versions[i].like);
    }
    return LKS_OK;
}

/* One vendor's options or the other's, never a mix. */
static enum lks_code read_question(const struct lks_args *args, struct lks_compat_question *q,
                                   struct lks_err *err)
{
    bool amd = lks_args_has(args, "--amdgpu") || lks_args_has(args, "--rocm");
    bool nvidia = lks_args_has(args, "--driver") || lks_args_has(args, "--cuda");
    if (amd && nvidia)
        return lks_fail(err, LKS_E_USAGE,
                        "compat: ask with --driver and --cuda, or with --amdgpu and --rocm");
    *q = (struct lks_compat_question){
        .driver = lks_args_str(args, amd ? "--amdgpu" : "--driver"),
        .toolkit = lks_args_str(args, amd ? "--rocm" : "--cuda"),
        .gpu = lks_args_str(args, "--gpu"),
        .modules = lks_args_str(args, "--modules"),
        .compat_package = lks_args_str(args, "--compat-package"),
        .needs_ptx_jit = lks_args_has(args, "--needs-ptx-jit"),
    };
    if (q->driver.len == 0 || q->toolkit.len == 0 || q->gpu.len == 0)
        return lks_fail(err, LKS_E_USAGE,
                        "compat: needs --driver V --cuda V --gpu GPU, or --amdgpu V --rocm V --gpu "
                        "GPU");
    if (amd && (q->modules.len > 0 || q->compat_package.len > 0 || q->needs_ptx_jit))
        return lks_fail(err, LKS_E_USAGE,
                        "compat: --modules, --compat-package and --needs-ptx-jit are for NVIDIA");
    if (q->modules.len > 0 && !lks_str_is(q->modules, "open") &&
        !lks_str_is(q->modules, "proprietary"))
        return lks_fail(err, LKS_E_USAGE, "compat: --modules is open or proprietary");
    if (!lks_str_printable(q->gpu))
        return lks_fail(err, LKS_E_INVALID, "compat: --gpu: has characters that do not print");
    return check_versions(q, amd, err);
}

static enum lks_code check_vendor(const struct lks_args *args, const struct lks_facts *facts,
                                  const struct lks_compat_question *q, struct lks_err *err)
{
    bool amd = lks_args_has(args, "--amdgpu");
    const struct lks_gpu *foreign =
        lks_compat_foreign(facts, q->gpu, amd ? LKS_VENDOR_AMD : LKS_VENDOR_NVIDIA);
    if (foreign == NULL)
        return LKS_OK;
    return lks_fail(err, LKS_E_USAGE, "compat: %.*s is a GPU of %s; ask with %s",
                    LKS_STR_ARG(foreign->product), lks_facts_vendor_name(foreign->vendor),
                    amd ? "--driver and --cuda" : "--amdgpu and --rocm");
}

#define WARNS "[{severity=warning}yellow]"

static const struct lks_listing_column rule_columns[] = {
    {"rule", "rule", 0, WARNS},
    {"what it says", "[{severity=warning}warning: ]{text}", LKS_COLUMN_WRAP, WARNS},
    {"source", "source", LKS_COLUMN_WRAP, "dim"}, /* with --sources */
};

static enum lks_code compat_text(struct lks_cli *cli, const struct lks_args *args,
                                 const struct lks_doc *answer, struct lks_err *err)
{
    struct lks_listing_part rules = {"rules", LKS_PART_COLUMNS(rule_columns), NULL, true};
    lks_render_word(cli->out, &cli->term, "[{verdict=yes}green|{verdict=no}red|yellow]",
                    "{verdict}", answer);
    lks_render_print(cli->out, ": {reason} on [{board}|{gpu}]: {about}\n[remedy: {remedy}\n]",
                     answer);
    lks_render_each(cli->out, "other_boards", "but {board}: {verdict} ({reason})\n", answer, NULL);
    fprintf(cli->out, "\n");
    if (!lks_args_has(args, "--sources"))
        rules.column_count--;
    return lks_listing_part(cli, &rules, answer, err);
}

static enum lks_code print_compat(struct lks_cli *cli, const struct lks_args *args,
                                  const struct lks_compat_question *q,
                                  const struct lks_compat_answer *a, struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    struct lks_json_writer *w = lks_output_begin(&o);
    lks_json_write(w,
                   "'verdict': '%s', 'reason': '%s', 'about': '%s', 'driver'?: '%.*s', "
                   "'toolkit'?: '%.*s', 'gpu'?: '%.*s'",
                   lks_compat_reason_verdict(a->reason), lks_compat_reason_name(a->reason),
                   lks_compat_reason_about(a->reason), LKS_STR_ARG(q->driver),
                   LKS_STR_ARG(q->toolkit), LKS_STR_ARG(q->gpu));
    if (a->board != NULL)
        lks_json_some(w, "board", a->board->product);
    lks_output_findings(w, "rules", &a->rules);
    lks_json_some(w, "remedy", a->remedy);
    lks_json_begin(w, "other_boards", '[');
    for (size_t i = 0; i < a->other_count; i++)
        lks_json_write(w, "{'board'?: '%.*s', 'verdict': '%s', 'reason': '%s'}",
                       LKS_STR_ARG(a->others[i].gpu->product),
                       lks_compat_reason_verdict(a->others[i].reason),
                       lks_compat_reason_name(a->others[i].reason));
    lks_json_end(w, ']');
    return lks_output_show(cli, args, &o, compat_text, err);
}

enum lks_code lks_cmd_compat(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
    LKS_CLEANUP(lks_compat_answer_fini) struct lks_compat_answer answer = {0};
    struct lks_compat_question question = {0};
    if (read_question(args, &question, err) != LKS_OK ||
        lks_input_facts(cli->data_dir, &facts, err) != LKS_OK ||
        check_vendor(args, &facts, &question, err) != LKS_OK)
        return err->code;
    lks_compat_ask(&facts, &question, &answer);
    if (lks_report_check(&answer.rules, err) != LKS_OK)
        return err->code;
    cli->no = answer.reason > LKS_FORWARD;
    return print_compat(cli, args, &question, &answer, err);
}
