/* advisories --fleet: which vulnerabilities the fleet has; for one of them, what closes it, and the
 * emergency change that does. */
#include "cli/shared/ask.h"
#include "cli/shared/commands.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"
#include "cli/shared/render.h"

static const struct lks_listing_column advisory_columns[] = {
    LKS_LEFT("advisory", "id"),     LKS_LEFT("severity", "severity"),
    LKS_RIGHT("days", "days"),      LKS_RIGHT("nodes", "nodes"),
    LKS_RIGHT("gpus", "gpus"),      LKS_LEFT("component", "component"),
    LKS_WRAP("closed by", "fixed"), LKS_WRAP("what", "summary"),
};

static const struct lks_listing_part advisories = {"items", LKS_PART_COLUMNS(advisory_columns),
                                                   NULL, false};

static const struct lks_listing_column reach_columns[] = {
    LKS_LEFT("pool", "pool"),         LKS_RIGHT("nodes", "nodes"), LKS_RIGHT("gpus", "gpus"),
    LKS_WRAP("versions", "versions"), LKS_WRAP("hosts", "hosts"),
};

static const struct lks_listing_column image_columns[] = {
    LKS_WRAP("image", "ref"),
    LKS_LEFT("version", "version"),
};

/* Where a vulnerability is. */
static const struct lks_listing_part reach[] = {
    {"pools", LKS_PART_COLUMNS(reach_columns), NULL, false},
    {"images", LKS_PART_COLUMNS(image_columns), NULL, false},
};

/* What closes it in each pool, the nearest first. */
static const struct lks_listing_column closing_columns[] = {
    {"pool", "{^pool}", 0, "bold"},
    LKS_PLAIN_LEFT("runs", "{^stack}"),
    LKS_PLAIN_LEFT("closed by", "stack"),
    LKS_PLAIN_LEFT("stage", "step"),
    LKS_PLAIN_RIGHT("differences", "{differences#}"),
    LKS_PLAIN_LEFT("branch", "[{same_branch?}same|another]"),
    LKS_PLAIN_LEFT("emergency",
                   "[{whole?}{revertible?}yes|{whole?}irreversible|not for all hardware]"),
};
static const struct lks_listing_part closing = {"items.closed_by",
                                                LKS_PART_COLUMNS(closing_columns), NULL, true};

/* Exposed nodes that do not run what their pool is pinned to: another stack for the pool does not
 * tell what becomes of them. */
static const char stray[] =
    "[[{pool}]: {drifted} drifted: exposed, and not what the pool is pinned "
    "to; 'lockstep drift' says why\n]";

/* A pool that has the vulnerability, and what becomes of that. */
static const char outlook[] =
    "[{exposed?}[{change?}{pool}: change {change} closes it\n"
    "|{remedy?}{--propose!}{pool}: {remedy} closes it; --propose drafts the change\n"
    "|{remedy?}"
    "|{closed_by?}{pool}: [{closed_by.stack}] closes it, and no emergency change can bring it "
    "there: "
    "see 'lockstep change propose'\n"
    "|{pool}: no published stack closes [{^id}]; publish one with [{component}] "
    "[{fixed}|in a version that is not affected]\n]]";

/* What is known of one vulnerability, and what is proposed about it. */
struct advising {
    struct lks_cli *cli;
    const struct lks_args *args;
    struct lks_remote_answer exposed, closes;
    const struct lks_doc *items;   /* of the first */
    const struct lks_doc *pools;   /* of the second; NULL: it was not asked for */
    struct lks_buf made;           /* JSON of the changes that were proposed */
    struct lks_json_writer writer; /* of that */
    uint32_t left;                 /* exposed pools that no change closes */
};

static void advising_fini(struct advising *a)
{
    lks_remote_answer_fini(&a->exposed);
    lks_remote_answer_fini(&a->closes);
    lks_buf_fini(&a->made);
}

static enum lks_code ask(struct advising *a, const char *path, struct lks_remote_answer *answer,
                         const struct lks_doc **items, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    if (lks_ask_get(a->cli, a->args, path, NULL, &q, err) != LKS_OK)
        return err->code;
    *answer = LKS_MOVE(q.answer);
    *items = lks_doc_member(answer->doc, "items");
    if (*items == NULL || (*items)->kind != LKS_DOC_LIST)
        return lks_fail(err, LKS_E_INVALID, "lockstepd did not say what is exposed");
    return LKS_OK;
}

/* Proposing --------------------------------------------------------------------------------- */

/* An exposed pool that this stack closes it for, and no change does yet. */
static bool is_meant(const struct lks_doc *pool, struct lks_str digest)
{
    return lks_render_truth(pool, "exposed") && lks_doc_member(pool, "change") == NULL &&
           digest.len > 0 && lks_str_eq(lks_doc_text(pool, "remedy_digest"), digest);
}

/* Names of the pools, or their nodes, with commas between. */
static uint32_t join(const struct advising *a, struct lks_str digest, const char *key,
                     struct lks_buf *out)
{
    uint32_t count = 0;
    lks_buf_init(out, LKS_DOC_BYTES_MAX);
    for (const struct lks_doc *p = a->pools->first; p != NULL; p = p->next) {
        if (is_meant(p, digest))
            lks_buf_addf(out, "%s%" LKS_STR_FMT, count++ > 0 ? "," : "",
                         LKS_STR_ARG(lks_doc_text(p, key)));
    }
    return count;
}

/* A change of one pool is of all of it, nodes that join it included; one of several names their
 * nodes. */
static enum lks_code write_wish(const struct advising *a, struct lks_str digest,
                                struct lks_question *q, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf names = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf nodes = {0};
    struct lks_str id = lks_doc_text(a->closes.doc, "id");
    char reason[128];
    uint32_t count = join(a, digest, "pool", &names);
    (void)join(a, digest, "hosts", &nodes);
    if (lks_buf_check(&names, err) != LKS_OK || lks_buf_check(&nodes, err) != LKS_OK)
        return err->code;
    snprintf(reason, sizeof(reason), "it closes %" LKS_STR_FMT, LKS_STR_ARG(id));
    lks_json_begin(&q->w, NULL, '{');
    lks_json_text(&q->w, count == 1 ? "pool" : "nodes", lks_buf_view(count == 1 ? &names : &nodes));
    lks_json_text(&q->w, "stack", digest);
    lks_json_cstr(&q->w, "class", "emergency");
    lks_json_text(&q->w, "advisory", id);
    lks_json_some(&q->w, "hook", lks_args_str(a->args, "--hook"));
    lks_json_text(&q->w, "reason",
                  lks_args_has(a->args, "--reason") ? lks_args_str(a->args, "--reason")
                                                    : lks_str_from(reason));
    lks_json_end(&q->w, '}');
    return LKS_OK;
}

static void tell_made(struct advising *a, const struct lks_doc *change, struct lks_str pools)
{
    FILE *out = a->cli->out;
    struct lks_json_writer *w = &a->writer;
    lks_json_begin(w, NULL, '{');
    lks_json_int(w, "id", (int64_t)lks_render_number(change, "id"));
    lks_json_text(w, "stack", lks_doc_text(change, "name"));
    lks_json_text(w, "pools", pools);
    lks_json_int(w, "nodes", (int64_t)lks_render_number(change, "nodes"));
    lks_json_int(w, "gpus", (int64_t)lks_render_number(change, "gpus"));
    lks_json_end(w, '}');
    if (lks_args_has(a->args, "--json"))
        return;
    lks_render_print(out, "change {id#} is proposed: {name} for ", change);
    fprintf(out, "%" LKS_STR_FMT, LKS_STR_ARG(pools));
    lks_render_print(out,
                     ", " LKS_ASK_CHANGE_SIZE "\nof class emergency, which {quorum#} "
                     "other[{quorum=1} person has| people have] to approve:\n"
                     "  lockstep change approve {id#} --reason ...\n",
                     change);
}

/* One change for all pools that the stack closes it for. */
static enum lks_code propose(struct advising *a, struct lks_str digest, struct lks_str stack,
                             struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf pools = {0};
    (void)join(a, digest, "pool", &pools);
    lks_remote_question_init(&q, "POST", "/v1/changes");
    if (lks_buf_check(&pools, err) != LKS_OK || write_wish(a, digest, &q, err) != LKS_OK)
        return err->code;
    if (lks_remote_question_ask(a->cli, a->args, &q, err) != LKS_OK)
        return lks_wrap(err, "%" LKS_STR_FMT " for %" LKS_STR_FMT, LKS_STR_ARG(stack),
                        LKS_STR_ARG(lks_buf_view(&pools)));
    tell_made(a, q.answer.doc, lks_buf_view(&pools));
    return LKS_OK;
}

static enum lks_code propose_all(struct advising *a, struct lks_err *err)
{
    lks_json_begin(&a->writer, NULL, '[');
    for (const struct lks_doc *p = a->pools->first; p != NULL; p = p->next) {
        struct lks_str digest = lks_doc_text(p, "remedy_digest");
        bool first = is_meant(p, digest);
        for (const struct lks_doc *b = a->pools->first; first && b != p; b = b->next)
            first = !is_meant(b, digest);
        if (first && propose(a, digest, lks_doc_text(p, "remedy"), err) != LKS_OK)
            return err->code;
    }
    lks_json_end(&a->writer, ']');
    return lks_buf_check(&a->made, err);
}

/* Telling ----------------------------------------------------------------------------------- */

/* With one CVE asked for, also where it is and what closes it. */
static enum lks_code print_one(struct advising *a, struct lks_err *err)
{
    for (const struct lks_doc *i = a->items->first; i != NULL; i = i->next) {
        if (lks_listing_part(a->cli, &reach[0], i, err) != LKS_OK ||
            lks_listing_part(a->cli, &reach[1], i, err) != LKS_OK)
            return err->code;
    }
    if (lks_listing_part(a->cli, &closing, a->closes.doc, err) != LKS_OK)
        return err->code;
    lks_render_each(a->cli->out, "items.pools", stray, a->exposed.doc, NULL);
    lks_render_each(a->cli->out, "items", outlook, a->closes.doc, a->args);
    return LKS_OK;
}

static enum lks_code print_text(struct advising *a, struct lks_err *err)
{
    if (a->items->count == 0)
        fprintf(a->cli->out, "nothing that was measured is affected\n");
    if (lks_listing_part(a->cli, &advisories, a->exposed.doc, err) != LKS_OK)
        return err->code;
    return a->pools != NULL ? print_one(a, err) : LKS_OK;
}

static enum lks_code print_json(const struct advising *a, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf items = LKS_BUF(LKS_OUTPUT_BYTES_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf pools = LKS_BUF(LKS_OUTPUT_BYTES_MAX);
    struct lks_json_writer w = {.out = &json};
    lks_buf_init(&json, LKS_OUTPUT_BYTES_MAX);
    if (lks_json_canonical(a->items, &items, err) != LKS_OK ||
        lks_json_canonical(a->pools, &pools, err) != LKS_OK)
        return err->code;
    lks_json_begin(&w, NULL, '{');
    lks_json_raw(&w, "items", lks_buf_view(&items));
    lks_json_raw(&w, "remedies", lks_buf_view(&pools));
    if (a->made.len > 0)
        lks_json_raw(&w, "proposed", lks_buf_view(&a->made));
    lks_json_end(&w, '}');
    return lks_output_json(a->cli, &json, err);
}

/* The command ------------------------------------------------------------------------------- */

/* Pools that have it, and for which neither a change is open nor one can be drafted. */
static void count_left(struct advising *a)
{
    for (const struct lks_doc *p = a->pools->first; p != NULL; p = p->next)
        a->left += lks_render_truth(p, "exposed") && lks_doc_member(p, "change") == NULL &&
                   lks_doc_text(p, "remedy").len == 0;
}

enum lks_code lks_advisories_list(struct lks_cli *cli, const struct lks_args *args,
                                  struct lks_err *err)
{
    LKS_CLEANUP(advising_fini) struct advising a = {.cli = cli, .args = args};
    bool one = lks_args_has(args, "--cve"), made = lks_args_has(args, "--propose");
    lks_buf_init(&a.made, LKS_OUTPUT_BYTES_MAX);
    a.writer = (struct lks_json_writer){.out = &a.made};
    if (made && !one)
        return lks_fail(err, LKS_E_USAGE, "advisories: --propose goes with --fleet and --cve");
    if (ask(&a, "/v1/exposure/advisories[?cve={--cve}]", &a.exposed, &a.items, err) != LKS_OK ||
        (one && ask(&a, "/v1/exposure/remedies?cve={--cve}", &a.closes, &a.pools, err) != LKS_OK))
        return err->code;
    cli->no = a.items->count > 0;
    if (!lks_args_has(args, "--json") && print_text(&a, err) != LKS_OK)
        return err->code;
    if (made && propose_all(&a, err) != LKS_OK)
        return err->code;
    if (made) {
        count_left(&a);
        cli->no = a.left > 0;
    }
    if (!lks_args_has(args, "--json"))
        return LKS_OK;
    return one ? print_json(&a, err) : lks_listing_thing(cli, args, &a.exposed, err);
}
