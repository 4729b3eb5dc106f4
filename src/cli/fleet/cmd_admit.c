/* admit; image add, ls. */
#include "base/file.h"
#include "cli/shared/ask.h"
#include "cli/shared/commands.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"
#include "cli/shared/render.h"
#include "codec/notation/hostlist.h"
#include "codec/package/sbom.h"
#include "core/view/view.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    NAMES_BYTES_MAX = 64 << 10, /* of a folded host list, as a table shows it */
    MEMORY_MAX = 256 << 20,
    CRITICAL_MAX = 100,
    UNANSWERED_MAX = 1000000,
};

/* The question ------------------------------------------------------------------------------ */

/* "REF" or "REF=RANKS". */
static void write_images(struct lks_json_writer *w, const struct lks_args *args)
{
    const char *value;
    size_t at = 0;
    if (!lks_args_has(args, "--image"))
        return;
    lks_json_begin(w, "images", '[');
    while ((value = lks_args_next(args, "--image", &at)) != NULL) {
        struct lks_str ref, ranks = {0};
        (void)lks_str_cut(lks_str_from(value), '=', &ref, &ranks);
        lks_json_begin(w, NULL, '{');
        lks_json_text(w, "ref", ref);
        lks_json_some(w, "ranks", ranks);
        lks_json_end(w, '}');
    }
    lks_json_end(w, ']');
}

static const struct lks_ask_member question[] = {
    LKS_ASK_NEEDED("job", "--job", "which job it is"),
    LKS_ASK_NEEDED("nodes", "--nodes", "where it is to run, such as gpu[001-512]"),
    LKS_ASK_OPTION("user", "--user"),
    LKS_ASK_OPTION("stack", "--stack"),
    LKS_ASK_OPTION("nccl", "--nccl"),
    LKS_ASK_SWITCH("canary_ok", "--canary-ok"),
    {"criticality", "--criticality", LKS_ASK_COUNT, CRITICAL_MAX, NULL},
    LKS_ASK_SWITCH("start", "--start"),
    LKS_ASK_SWITCH("signed", "--signed"),
    LKS_ASK_END,
};

/* What would be sent as something else than was meant. */
static enum lks_code check_question(const struct lks_args *args, struct lks_err *err)
{
    const char *value;
    if (!lks_str_utf8(lks_args_str(args, "--job"), NULL))
        return lks_fail(err, LKS_E_USAGE, "--job: is not UTF-8");
    if (lks_args_has(args, "--until") && !lks_args_has(args, "--override"))
        return lks_fail(err, LKS_E_USAGE, "--until goes with --override");
    for (size_t at = 0; (value = lks_args_next(args, "--image", &at)) != NULL;) {
        if (lks_str_ends(lks_str_from(value), "="))
            return lks_fail(err, LKS_E_USAGE, "--image: '%s' needs its RANKS behind '='", value);
    }
    return LKS_OK;
}

/* An override is recorded before the question is asked that it answers. */
static const struct lks_ask override = {
    .method = "POST",
    .path = "/v1/overrides",
    .members = LKS_ASK_MEMBERS(LKS_ASK_OPTION("job", "--job"), LKS_ASK_OPTION("nodes", "--nodes"),
                               LKS_ASK_OPTION("reason", "--override"),
                               {"until", "--until", LKS_ASK_TIME, 0, "when the override ends"}),
};

static const struct lks_ask unanswered = {
    .method = "POST",
    .path = "/v1/unanswered",
    .members = LKS_ASK_MEMBERS({"count", "--unanswered", LKS_ASK_COUNT, UNANSWERED_MAX, NULL}),
    .done = "counted",
};

/* The question, with what is recorded before it. */
static enum lks_code ask(struct lks_cli *cli, const struct lks_args *args, struct lks_question *q,
                         struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question before = {0};
    lks_remote_question_init(q, "POST", "/v1/admit");
    lks_json_begin(&q->w, NULL, '{');
    if (lks_ask_write(cli, args, question, &q->w, err) != LKS_OK ||
        check_question(args, err) != LKS_OK)
        return err->code;
    write_images(&q->w, args);
    lks_json_end(&q->w, '}');
    if (lks_args_has(args, "--override") &&
        lks_ask_send(cli, args, &override, &before, err) != LKS_OK)
        return err->code;
    return lks_remote_question_ask(cli, args, q, err);
}

/* The answer -------------------------------------------------------------------------------- */

/* Reasons that are the same but for the node are one row, with the nodes as a host list. */
static int by_reason(const void *left, const void *right)
{
    static const char *const keys[] = {"reason", "text", "image", "ranks"};
    const struct lks_doc *a = *(const struct lks_doc *const *)left;
    const struct lks_doc *b = *(const struct lks_doc *const *)right;
    for (size_t i = 0; i < LKS_COUNT(keys); i++) {
        int order = lks_str_cmp(lks_doc_text(a, keys[i]), lks_doc_text(b, keys[i]));
        if (order != 0)
            return order;
    }
    return 0;
}

static enum lks_code add_reason(struct lks_table *table, const struct lks_doc *no,
                                const struct lks_str *names, size_t count, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf who = LKS_BUF(NAMES_BYTES_MAX);
    if (lks_hostlist_fold(names, count, &who, err) != LKS_OK)
        return err->code;
    lks_render(&who, count > 0 ? "[ {image}[, ranks {ranks}]]" : "[{image}[, ranks {ranks}]]",
               &(struct lks_render){.doc = no, .mode = LKS_RENDER_RAW});
    lks_output_cell(table, LKS_BOLD, lks_doc_text(no, "reason"));
    lks_output_cell(table, LKS_PLAIN, lks_buf_view(&who));
    lks_output_cell(table, LKS_PLAIN, lks_doc_text(no, "text"));
    return LKS_OK;
}

/* Sorted reasons, those of a kind in one row. */
static enum lks_code add_reasons(struct lks_table *table, const struct lks_doc **sorted,
                                 struct lks_str *names, size_t count, struct lks_err *err)
{
    for (size_t at = 0, end; at < count; at = end) {
        size_t named = 0;
        for (end = at; end < count && by_reason(&sorted[at], &sorted[end]) == 0; end++) {
            struct lks_str node = lks_doc_text(sorted[end], "node");
            if (node.len > 0)
                names[named++] = node;
        }
        if (add_reason(table, sorted[at], names, named, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

static enum lks_code print_reasons(struct lks_cli *cli, const struct lks_doc *list,
                                   struct lks_err *err)
{
    static const struct lks_output_column columns[] = {
        {"reason", 0}, {"nodes or image", LKS_COLUMN_WRAP}, {"why", LKS_COLUMN_WRAP}};
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    LKS_CLEANUP(lks_table_fini) struct lks_table table = {0};
    size_t count = 0;
    lks_arena_init(&arena, MEMORY_MAX);
    const struct lks_doc **sorted = lks_arena_array(&arena, list->count + 1, sizeof(sorted[0]));
    struct lks_str *names = lks_arena_array(&arena, list->count + 1, sizeof(names[0]));
    if (sorted == NULL || names == NULL)
        return lks_fail(err, LKS_E_NOMEM, "the reasons do not fit into memory");
    for (const struct lks_doc *no = list->first; no != NULL; no = no->next)
        sorted[count++] = no;
    qsort(sorted, count, sizeof(sorted[0]), by_reason);
    lks_output_columns(&table, columns, LKS_COUNT(columns));
    if (add_reasons(&table, sorted, names, count, err) != LKS_OK)
        return err->code;
    return lks_output_table(cli, &table, err);
}

static enum lks_code print_list(struct lks_cli *cli, const struct lks_doc *answer, const char *key,
                                const char *title, struct lks_err *err)
{
    char total[32];
    const struct lks_doc *list = lks_doc_member(answer, key);
    if (list == NULL || list->kind != LKS_DOC_LIST || list->count == 0)
        return LKS_OK;
    fprintf(cli->out, "%s\n", title);
    if (print_reasons(cli, list, err) != LKS_OK)
        return err->code;
    snprintf(total, sizeof(total), "%s_total", key);
    uint64_t all = lks_render_number(answer, total);
    if (all > list->count)
        fprintf(cli->out, "and %" PRIu64 " more: ask about fewer nodes, with --nodes\n",
                all - list->count);
    return LKS_OK;
}

static enum lks_code print_answer(struct lks_cli *cli, const struct lks_doc *answer,
                                  struct lks_err *err)
{
    lks_render_word(cli->out, &cli->term, "[{admitted?}green|red]", "{admitted}", answer);
    lks_render_print(
        cli->out,
        ": job [{job}] [{admitted?}may start|may not start], as of journal row {seq#}\n"
        "[{admitted?}good until {valid_until}\n][stack [{stack}] {digest}\n]"
        "[by an override: {override}\n]",
        answer);
    if (print_list(cli, answer, "refused", cli->no ? "refused:" : "overridden:", err) != LKS_OK)
        return err->code;
    return print_list(cli, answer, "warned", "would have been refused, were it enforced:", err);
}

/* In one line, for a scheduler that shows its users one: yes, with the reason of an override, or no
 * and the first reason. */
static void print_brief(struct lks_cli *cli, const struct lks_doc *answer)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_OUTPUT_CELL_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf clean = LKS_BUF((size_t)2 * LKS_OUTPUT_CELL_MAX);
    const struct lks_doc *list = lks_doc_member(answer, "refused");
    const struct lks_doc *first = list != NULL && list->kind == LKS_DOC_LIST ? list->first : NULL;
    uint64_t all = lks_render_number(answer, "refused_total");
    lks_buf_add(&text, cli->no ? LKS_STR("no") : LKS_STR("yes"));
    if (cli->no && first != NULL)
        lks_render(&text, ": {reason}[ {node}][ {image}][ ranks {ranks}][: {text}]",
                   &(struct lks_render){.doc = first, .mode = LKS_RENDER_RAW});
    if (!cli->no)
        lks_render(&text, "[: by an override: {override}]",
                   &(struct lks_render){.doc = answer, .mode = LKS_RENDER_RAW});
    if (cli->no && all > 1)
        lks_buf_addf(&text, ", and %" PRIu64 " more reason%s", all - 1, all == 2 ? "" : "s");
    lks_term_clean(&clean, lks_buf_view(&text));
    fprintf(cli->out, "%.*s\n", LKS_STR_ARG(lks_buf_view(&clean)));
}

/* The log of decisions ---------------------------------------------------------------------- */

static const struct lks_listing_column log_columns[] = {
    LKS_LEFT("job", "job"),   LKS_LEFT("user", "user"),    LKS_LEFT("reason", "reason"),
    LKS_LEFT("pool", "pool"), LKS_RIGHT("count", "count"), LKS_LEFT("first", "first"),
    LKS_LEFT("last", "last"), LKS_WRAP("nodes", "nodes"),  LKS_WRAP("why", "text"),
};

static const struct lks_listing admissions = {.path = "/v1/admissions",
                                              LKS_COLUMNS(log_columns),
                                              .filters = LKS_WORDS("--job"),
                                              .empty = "nothing was decided yet"};

static const struct lks_listing_column observed_columns[] = {
    LKS_LEFT("pool", "pool"),   LKS_LEFT("enforce", "enforce"),      LKS_LEFT("day", "day"),
    LKS_RIGHT("jobs", "asked"), LKS_WRAP("refused, by reason", "*"),
};

static const struct lks_listing observed = {.path = "/v1/observed",
                                            LKS_COLUMNS(observed_columns),
                                            .members = LKS_WORDS("items"),
                                            .empty = "no job asked in the last week"};

/* The whole week, by what --by says. */
static enum lks_code print_report(struct lks_cli *cli, const struct lks_args *args,
                                  struct lks_err *err)
{
    const char *by = lks_args_get(args, "--by");
    const struct lks_listing_column columns[] = {
        LKS_LEFT("pool", "pool"),
        LKS_LEFT("enforce", "enforce"),
        LKS_WRAP(by, by),
        LKS_LEFT("since", "since"),
        LKS_LEFT("last", "day"),
        LKS_RIGHT("jobs", "asked"),
        LKS_WRAP("refused, by reason", "*"),
    };
    const struct lks_listing report = {.path = "/v1/observed",
                                       LKS_COLUMNS(columns),
                                       .filters = LKS_WORDS("--by"),
                                       .members = LKS_WORDS("items"),
                                       .empty = "no job would have been refused in the last week"};
    return lks_listing_print(cli, args, &report, err);
}

enum lks_code lks_cmd_admit(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    if (lks_args_has(args, "--log"))
        return lks_listing_print(cli, args, &admissions, err);
    if (lks_args_has(args, "--by") && !lks_args_has(args, "--observed"))
        return lks_fail(err, LKS_E_USAGE, "--by goes with --observed");
    if (lks_args_has(args, "--by"))
        return print_report(cli, args, err);
    if (lks_args_has(args, "--observed"))
        return lks_listing_print(cli, args, &observed, err);
    if (lks_args_has(args, "--unanswered"))
        return lks_ask_run(cli, args, &unanswered, err);
    if (ask(cli, args, &q, err) != LKS_OK)
        return err->code;
    const struct lks_doc *admitted = lks_doc_member(q.answer.doc, "admitted");
    if (admitted == NULL || admitted->kind != LKS_DOC_BOOL)
        return lks_fail(err, LKS_E_INVALID, "lockstepd did not say yes or no");
    cli->no = !admitted->truth;
    if (lks_args_has(args, "--json"))
        return lks_listing_thing(cli, args, &q.answer, err);
    if (!lks_args_has(args, "--brief"))
        return print_answer(cli, q.answer.doc, err);
    print_brief(cli, q.answer.doc);
    return LKS_OK;
}

/* Images ------------------------------------------------------------------------------------ */

/* What the options say, over what the file of the SBOM says. A file that lists two versions of a
 * library does not say which one a job would load. */
static enum lks_code write_libraries(struct lks_json_writer *w, const struct lks_args *args,
                                     const struct lks_sbom *sbom, struct lks_err *err)
{
    bool any = false;
    for (size_t i = 0; i < LKS_SBOM_LIBRARY_COUNT; i++) {
        const struct lks_sbom_found *found = &sbom->libraries[i];
        char option[16];
        snprintf(option, sizeof(option), "--%s", lks_sbom_words[i]);
        struct lks_str said = lks_args_str(args, option);
        if (said.len == 0 && found->other.len > 0)
            return lks_fail(err, LKS_E_INVALID,
                            "%s: lists %s %" LKS_STR_FMT " (%" LKS_STR_FMT ") and %" LKS_STR_FMT
                            " (%" LKS_STR_FMT "); say with %s which one jobs load",
                            lks_args_get(args, "--sbom"), lks_sbom_words[i],
                            LKS_STR_ARG(found->version), LKS_STR_ARG(found->package),
                            LKS_STR_ARG(found->other), LKS_STR_ARG(found->other_package), option);
        lks_json_some(w, lks_sbom_words[i], said.len > 0 ? said : found->version);
        any |= said.len > 0 || found->version.len > 0;
    }
    if (!any)
        return lks_fail(err, LKS_E_USAGE,
                        "image add: --sbom with a file that names NCCL, RCCL, cuDNN or CUDA, or "
                        "their versions as --nccl, --rccl, --cudnn, --cuda");
    return LKS_OK;
}

static enum lks_code write_image(struct lks_json_writer *w, const struct lks_args *args,
                                 const struct lks_sbom *sbom, struct lks_err *err)
{
    struct lks_str digest = lks_args_str(args, "--digest");
    lks_json_begin(w, NULL, '{');
    lks_json_cstr(w, "ref", args->positional[0]);
    enum lks_code code = write_libraries(w, args, sbom, err);
    lks_json_some(w, "digest", digest.len > 0 ? digest : sbom->digest);
    lks_json_cstr(w, "source", lks_args_has(args, "--sbom") ? "sbom" : "hand");
    lks_json_some(w, "reason", lks_args_str(args, "--reason"));
    lks_json_end(w, '}');
    return code;
}

enum lks_code lks_cmd_image_add(struct lks_cli *cli, const struct lks_args *args,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_SBOM_BYTES_MAX);
    LKS_CLEANUP(lks_sbom_fini) struct lks_sbom sbom = {0};
    const char *file = lks_args_get(args, "--sbom");
    if (file != NULL && (lks_file_read(file, &text, err) != LKS_OK ||
                         lks_sbom_parse(file, lks_buf_view(&text), &sbom, err) != LKS_OK))
        return err->code;
    lks_remote_question_init(&q, "POST", "/v1/images");
    if (write_image(&q.w, args, &sbom, err) != LKS_OK ||
        lks_remote_question_ask(cli, args, &q, err) != LKS_OK)
        return err->code;
    return lks_listing_done(cli, args, &q.answer, err, "%s: known", args->positional[0]);
}

static const struct lks_listing_column image_columns[] = {
    LKS_WRAP("image", "ref"),   LKS_LEFT("nccl", "nccl"), LKS_LEFT("rccl", "rccl"),
    LKS_LEFT("cudnn", "cudnn"), LKS_LEFT("cuda", "cuda"), LKS_LEFT("known by", "source"),
    LKS_LEFT("added", "added"),
};

static const struct lks_listing images = {.path = "/v1/images",
                                          LKS_COLUMNS(image_columns),
                                          .empty = "no images are known beside those of NGC",
                                          .view = &lks_view_images};

enum lks_code lks_cmd_image_ls(struct lks_cli *cli, const struct lks_args *args,
                               struct lks_err *err)
{
    return lks_listing_print(cli, args, &images, err);
}

/* Overrides --------------------------------------------------------------------------------- */

static const struct lks_listing overrides = {.path = "/v1/overrides",
                                             .view = &lks_view_overrides,
                                             .shown = "job,nodes,until,by,reason",
                                             .empty = "no overrides"};

enum lks_code lks_cmd_override_ls(struct lks_cli *cli, const struct lks_args *args,
                                  struct lks_err *err)
{
    return lks_listing_print(cli, args, &overrides, err);
}
