#include "agent/hooks/prolog_question.h"

#include "agent/hooks/node_stack.h"
#include "codec/notation/image.h"
#include "core/admission/admit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY_MAX = 64 << 20, RANKS_SIZE = 48 };

static void add(struct lks_prolog_question *q, const char *word)
{
    LKS_ASSERT(q->count + 1 < LKS_PROLOG_WORDS_MAX);
    q->words[q->count++] = word;
}

static int by_name(const void *left, const void *right)
{
    return lks_str_cmp(*(const struct lks_str *)left, *(const struct lks_str *)right);
}

/* The nodes of the other components behind our own, whose ranks an image then has. */
static enum lks_code add_components(struct lks_prolog_question *q, const char *all,
                                    struct lks_buf *text, struct lks_err *err)
{
    struct lks_hostlist every = {0}, own = q->nodes;
    if (lks_hostlist_parse(lks_str_from(all), &q->arena, &every, err) != LKS_OK)
        return err->code;
    struct lks_str *names =
        lks_arena_array(&q->arena, own.count + every.count + 1, sizeof(names[0]));
    if (names == NULL)
        return lks_arena_fail(&q->arena, err);
    struct lks_str *sorted = lks_arena_array(&q->arena, own.count + 1, sizeof(sorted[0]));
    if (sorted == NULL)
        return lks_arena_fail(&q->arena, err);
    memcpy(names, own.names, own.count * sizeof(names[0]));
    memcpy(sorted, own.names, own.count * sizeof(names[0]));
    qsort(sorted, own.count, sizeof(sorted[0]), by_name);
    size_t count = own.count;
    for (size_t i = 0; i < every.count; i++) {
        if (bsearch(&every.names[i], sorted, own.count, sizeof(sorted[0]), by_name) == NULL)
            names[count++] = every.names[i];
    }
    q->nodes = (struct lks_hostlist){names, count};
    if (count == own.count)
        return LKS_OK;
    lks_buf_add(text, LKS_STR(","));
    return lks_hostlist_fold(names + own.count, count - own.count, text, err);
}

static enum lks_code read_nodes(char *(*get)(const char *), struct lks_prolog_question *q,
                                size_t *own, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_HOSTLIST_BYTES_MAX);
    const char *list = get("SLURM_JOB_NODELIST"), *all = get("SLURM_HET_JOB_NODELIST");
    if (list == NULL || list[0] == '\0')
        return lks_fail(err, LKS_E_USAGE,
                        "SLURM_JOB_NODELIST is empty; slurmctld sets it for PrologSlurmctld");
    if (lks_hostlist_parse(lks_str_from(list), &q->arena, &q->nodes, err) != LKS_OK)
        return err->code;
    *own = q->nodes.count;
    q->own.nodes = lks_str_from(list);
    lks_buf_add(&text, lks_str_from(list));
    if (all != NULL && all[0] != '\0' && add_components(q, all, &text, err) != LKS_OK)
        return err->code;
    if (lks_buf_check(&text, err) != LKS_OK)
        return err->code;
    const char *kept = lks_arena_copy(&q->arena, lks_buf_view(&text)).ptr;
    add(q, "--nodes");
    add(q, kept);
    return kept != NULL ? LKS_OK : lks_arena_fail(&q->arena, err);
}

/* "REF=RANKS": an image is that of its own component. */
static enum lks_code read_image(struct lks_prolog_question *q, const char *image, size_t own,
                                struct lks_err *err)
{
    char ranks[RANKS_SIZE] = "";
    struct lks_str word, ref = lks_str_from(image);
    if (!lks_image_passes(ref))
        return lks_fail(
            err, LKS_E_REFUSED,
            "the image name has blanks, '=' or bytes that cannot be printed, starts with '-', or "
            "has more than %d bytes; use another name",
            LKS_IMAGE_MAX);
    q->own.image = ref;
    if (q->nodes.count > own)
        snprintf(ranks, sizeof(ranks), "=0-%zu", own - 1);
    word = lks_arena_format(&q->arena, "%s%s", image, ranks);
    if (word.ptr == NULL)
        return lks_arena_fail(&q->arena, err);
    add(q, "--image");
    add(q, word.ptr);
    return LKS_OK;
}

static enum lks_code read_wishes(char *(*get)(const char *), struct lks_prolog_question *q,
                                 size_t own, struct lks_err *err)
{
    const char *image = get("SPANK_LOCKSTEP_IMAGE"), *stack = get("SPANK_LOCKSTEP_STACK");
    const char *canary = get("SPANK_LOCKSTEP_CANARY_OK"), *user = get("SLURM_JOB_USER");
    if (image != NULL && image[0] != '\0' && read_image(q, image, own, err) != LKS_OK)
        return err->code;
    if (stack != NULL && !lks_node_stack_wish(lks_str_from(stack)))
        return lks_fail(
            err, LKS_E_REFUSED,
            "--stack of the job is no stack's name, NAME/VERSION or digest; submit the job with "
            "another --stack");
    if (stack != NULL) {
        add(q, "--stack");
        add(q, stack);
    }
    if (canary != NULL && strcmp(canary, "1") == 0)
        add(q, "--canary-ok");
    if (user != NULL && strlen(user) <= LKS_ADMIT_USER_MAX &&
        lks_hostlist_is_name(lks_str_from(user))) { /* only lists show it */
        add(q, "--user");
        add(q, user);
        q->user = user;
    }
    q->wishes = image != NULL || stack != NULL || canary != NULL;
    return LKS_OK;
}

static enum lks_code read_start(char *(*get)(const char *), struct lks_prolog_question *q,
                                struct lks_err *err)
{
    const char *job = get("SLURM_HET_JOB_ID"), *offset = get("SLURM_HET_JOB_OFFSET");
    const char *restarts = get("SLURM_JOB_RESTART_COUNT");
    uint64_t numbers[3] = {0};
    if (job == NULL || offset == NULL)
        return LKS_OK;
    if (!lks_str_number(lks_str_from(job), UINT32_MAX, &numbers[0]) || numbers[0] == 0 ||
        !lks_str_number(lks_str_from(offset), UINT32_MAX, &numbers[1]) ||
        (restarts != NULL && !lks_str_number(lks_str_from(restarts), UINT32_MAX, &numbers[2])))
        return lks_fail(err, LKS_E_USAGE,
                        "SLURM_HET_JOB_ID, SLURM_HET_JOB_OFFSET or SLURM_JOB_RESTART_COUNT is not "
                        "a number; slurmctld sets them for PrologSlurmctld");
    if (numbers[1] >= LKS_PROLOG_COMPONENTS_MAX)
        return lks_fail(err, LKS_E_REFUSED, "it has more than %d components",
                        LKS_PROLOG_COMPONENTS_MAX);
    q->start = (struct lks_prolog_start){(uint32_t)numbers[0], (uint32_t)numbers[2]};
    q->own.offset = (uint32_t)numbers[1];
    return LKS_OK;
}

enum lks_code lks_prolog_question_read(char *(*get)(const char *), struct lks_prolog_question *out,
                                       struct lks_err *err)
{
    uint64_t id = 0;
    size_t own = 0;
    *out = (struct lks_prolog_question){.job = get("SLURM_JOB_ID")};
    lks_arena_init(&out->arena, MEMORY_MAX);
    if (out->job == NULL || !lks_str_number(lks_str_from(out->job), UINT32_MAX, &id) || id == 0)
        return lks_fail(err, LKS_E_USAGE,
                        "SLURM_JOB_ID is not a job's ID; slurmctld sets it for PrologSlurmctld");
    add(out, "admit");
    add(out, "--brief");
    add(out, "--job");
    add(out, out->job);
    if (read_nodes(get, out, &own, err) != LKS_OK || read_start(get, out, err) != LKS_OK)
        return err->code;
    return read_wishes(get, out, own, err);
}

/* Components ------------------------------------------------------------------------------ */

static enum lks_code check_once(struct lks_prolog_question *q, struct lks_err *err)
{
    size_t count = q->nodes.count;
    struct lks_str *sorted = lks_arena_array(&q->arena, count + 1, sizeof(sorted[0]));
    if (sorted == NULL)
        return lks_arena_fail(&q->arena, err);
    memcpy(sorted, q->nodes.names, count * sizeof(sorted[0]));
    qsort(sorted, count, sizeof(sorted[0]), by_name);
    for (size_t i = 1; i < count; i++) {
        if (lks_str_eq(sorted[i - 1], sorted[i]))
            return lks_fail(err, LKS_E_REFUSED,
                            "node %" LKS_STR_FMT " is in two of its components with images",
                            LKS_STR_ARG(sorted[i]));
    }
    return LKS_OK;
}

static enum lks_code join_nodes(const struct lks_prolog_components *c,
                                struct lks_prolog_question *q, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_PROLOG_NODES_MAX - 1);
    for (size_t i = 0; i < c->count; i++)
        lks_buf_addf(&text, "%s%" LKS_STR_FMT, i > 0 ? "," : "", LKS_STR_ARG(c->at[i].nodes));
    if (lks_buf_check(&text, err) != LKS_OK)
        return err->code;
    struct lks_str joined = lks_arena_copy(&q->arena, lks_buf_view(&text));
    if (joined.ptr == NULL)
        return lks_arena_fail(&q->arena, err);
    add(q, "--nodes");
    add(q, joined.ptr);
    if (lks_hostlist_parse(joined, &q->arena, &q->nodes, err) != LKS_OK)
        return err->code;
    return check_once(q, err);
}

/* The image of component `first`, with the ranks of all components that have it. */
static enum lks_code add_ranks(const struct lks_prolog_components *c, size_t first,
                               struct lks_prolog_question *q, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_PROLOG_NODES_MAX - 1);
    size_t from = 0, count = 0;
    lks_buf_add(&text, c->at[first].image);
    for (size_t i = 0; i < c->count; i++, from += count) {
        if (lks_hostlist_count(c->at[i].nodes, &count, err) != LKS_OK)
            return err->code;
        if (!lks_str_eq(c->at[i].image, c->at[first].image))
            continue;
        lks_buf_addf(&text, "%s%zu", i == first ? "=" : ",", from);
        if (count > 1)
            lks_buf_addf(&text, "-%zu", from + count - 1);
    }
    if (lks_buf_check(&text, err) != LKS_OK)
        return err->code;
    struct lks_str word = lks_arena_copy(&q->arena, lks_buf_view(&text));
    if (word.ptr == NULL)
        return lks_arena_fail(&q->arena, err);
    add(q, "--image");
    add(q, word.ptr);
    return LKS_OK;
}

static bool is_first(const struct lks_prolog_components *c, size_t at)
{
    bool first = c->at[at].image.len > 0;
    for (size_t i = 0; i < at && first; i++)
        first = !lks_str_eq(c->at[i].image, c->at[at].image);
    return first;
}

enum lks_code lks_prolog_question_gang(const struct lks_prolog_question *own,
                                       const struct lks_prolog_components *c,
                                       struct lks_prolog_question *out, struct lks_err *err)
{
    *out = (struct lks_prolog_question){.wishes = true, .start = own->start, .own = own->own};
    lks_arena_init(&out->arena, MEMORY_MAX);
    out->job = lks_arena_format(&out->arena, "%" PRIu32, own->start.job).ptr;
    if (out->job == NULL)
        return lks_arena_fail(&out->arena, err);
    add(out, "admit");
    add(out, "--brief");
    add(out, "--job");
    add(out, out->job);
    if (join_nodes(c, out, err) != LKS_OK)
        return err->code;
    for (size_t i = 0; i < c->count; i++) {
        if (is_first(c, i) && add_ranks(c, i, out, err) != LKS_OK)
            return err->code;
    }
    add(out, "--canary-ok");
    if (own->user != NULL) {
        add(out, "--user");
        add(out, own->user);
    }
    return LKS_OK;
}

void lks_prolog_question_fini(struct lks_prolog_question *q)
{
    lks_arena_fini(&q->arena);
}

struct lks_str lks_prolog_question_offender(struct lks_str answer)
{
    static const char *const reasons[] = {"stale",      "unmeasured", "drift", "unhealthy",
                                          "unattested", "unchecked",  "held",  "intake",
                                          "drained",    "deviation",  "domain"};
    struct lks_str no, rest, reason, node;
    if (!lks_str_cut(answer, ' ', &no, &rest) || !lks_str_is(no, "no:") ||
        !lks_str_cut(rest, ' ', &reason, &rest))
        return LKS_STR("");
    (void)lks_str_cut(rest, ':', &node, &rest);
    for (size_t i = 0; i < LKS_COUNT(reasons); i++) {
        if (lks_str_is(reason, reasons[i]) && lks_hostlist_is_name(node))
            return node;
    }
    return LKS_STR("");
}
