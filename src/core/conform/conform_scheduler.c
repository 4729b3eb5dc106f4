/* What a scheduler advertises of a node's GPUs, against the class and the pinned MIG geometry. */
#include "codec/notation/gres.h"
#include "core/compat/boards.h"
#include "core/compat/compat.h"
#include "core/conform/conform_judge.h"

#include <inttypes.h>

enum { PINNED_BYTES_MAX = 4096 };

/* What should be advertised. */
struct geometry {
    uint64_t gpus;
    const struct lks_doc *profiles; /* of the instances of each GPU; NULL: GPUs are not divided */
    bool undivided;                 /* and that is pinned */
    const struct lks_gpu *boards[LKS_COMPAT_BOARDS_MAX];
    size_t board_count; /* 0: no table knows the GPU */
};

/* Reading the stack ------------------------------------------------------------------------- */

/* False: the stack does not say how many there are. AMD's partitions change the count in a way that
 * differs from board to board. */
static bool read_geometry(const struct lks_judge *j, struct geometry *g)
{
    const struct lks_class *class = j->out->class;
    const struct lks_doc *mode = lks_stack_setting(j->stack, "mig.mode");
    const struct lks_doc *parts = lks_stack_setting(j->stack, "partition.compute");
    bool divided = mode != NULL && lks_str_is(mode->text, "enabled");
    if (class == NULL || class->gpus <= 0 || (parts != NULL && !lks_str_is(parts->text, "SPX")))
        return false;
    g->gpus = (uint64_t) class->gpus;
    g->profiles = divided ? lks_stack_setting(j->stack, "mig.profiles") : NULL;
    g->undivided = mode != NULL && !divided;
    g->board_count = lks_compat_boards(j->facts, class->gpu, g->boards, LKS_COUNT(g->boards));
    return !divided ||
           (g->profiles != NULL && g->profiles->kind == LKS_DOC_LIST && g->profiles->count > 0);
}

/* How often each GPU has the profile. */
static uint64_t count_profile(const struct geometry *g, const struct lks_gres_profile *profile)
{
    struct lks_gres_profile each;
    uint64_t count = 0;
    for (const struct lks_doc *item = g->profiles->first; item != NULL; item = item->next)
        count += lks_gres_profile_parse(item->text, &each) && lks_gres_profile_eq(&each, profile);
    return count;
}

/* "gpu:8 (H200)", "gpu:1g.18gb:56 (H200)", as the node's line of slurm.conf would have it. */
static struct lks_str pinned_text(struct lks_judge *j, const struct geometry *g)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(PINNED_BYTES_MAX);
    const struct lks_doc *first = g->profiles != NULL ? g->profiles->first : NULL;
    if (first == NULL)
        lks_buf_addf(&text, "gpu:%" PRIu64, g->gpus);
    for (const struct lks_doc *item = first; item != NULL; item = item->next) {
        const struct lks_doc *before = first;
        uint64_t count = 0;
        while (before != item && !lks_str_eq(before->text, item->text))
            before = before->next;
        if (before != item)
            continue;
        for (const struct lks_doc *k = item; k != NULL; k = k->next)
            count += lks_str_eq(k->text, item->text);
        lks_buf_addf(&text, "%sgpu:%" LKS_STR_FMT ":%" PRIu64, item != first ? "," : "",
                     LKS_STR_ARG(item->text), count * g->gpus);
    }
    lks_buf_addf(&text, " (%" LKS_STR_FMT ")", LKS_STR_ARG(j->out->class->gpu));
    return lks_conform_copy(j, &text);
}

/* A basis keeps no evidence. */
static struct lks_str evidence_of(const struct lks_reading *r)
{
    return r->evidence.len > 0 ? r->evidence : LKS_STR("slurm bridge");
}

/* Comparing --------------------------------------------------------------------------------- */

/* A type is any name that the site chose. One that names a board which is not of the class is
 * wrong: "h100", "nvidia_h100_80gb_hbm3". */
static bool is_other_board(const struct lks_judge *j, const struct geometry *g, struct lks_str type)
{
    static const char vendor[] = "nvidia ";
    const struct lks_gpu *named[LKS_COMPAT_BOARDS_MAX];
    char name[LKS_READING_NAME_MAX];
    if (type.len == 0 || type.len >= sizeof(name) || g->board_count == 0)
        return false;
    for (size_t i = 0; i < type.len; i++)
        name[i] = (char)(type.ptr[i] == '_' ? ' ' : type.ptr[i]);
    struct lks_str said = {name, type.len};
    size_t count = lks_compat_boards(j->facts, said, named, LKS_COUNT(named));
    if (count == 0 && said.len >= sizeof(vendor) &&
        lks_str_eq_nocase((struct lks_str){name, sizeof(vendor) - 1}, lks_str_from(vendor))) {
        said = (struct lks_str){name + sizeof(vendor) - 1, said.len - (sizeof(vendor) - 1)};
        count = lks_compat_boards(j->facts, said, named, LKS_COUNT(named));
    }
    for (size_t i = 0; i < count; i++) {
        if (lks_board_among(named[i], g->boards, g->board_count))
            return false;
    }
    return count > 0;
}

/* What a list adds up to. */
struct tally {
    uint64_t all, instances; /* instances: of types that are MIG profiles */
    bool other_board, other_profile;
};

static struct tally tally(const struct lks_judge *j, const struct geometry *g,
                          const struct lks_gres *gres)
{
    struct tally t = {.all = 0};
    for (size_t i = 0; i < gres->count; i++) {
        const struct lks_gres_item *item = &gres->items[i];
        struct lks_gres_profile profile;
        bool instance = lks_gres_profile_parse(item->type, &profile);
        uint64_t count = item->count < UINT32_MAX ? item->count : UINT32_MAX; /* no sum wraps */
        t.all += count;
        t.instances += instance ? count : 0;
        t.other_board |= is_other_board(j, g, instance ? profile.board : item->type);
        if (instance && g->profiles != NULL) /* lists are written with each type once */
            t.other_profile |= count_profile(g, &profile) * g->gpus != item->count;
    }
    return t;
}

/* Without a type that is a profile, as in "gpu:56", the number of all is what there is to compare.
 */
static bool holds_geometry(const struct geometry *g, const struct tally *t)
{
    uint64_t each = g->profiles != NULL ? g->profiles->count : 1;
    bool types =
        g->profiles == NULL ? t->instances == 0 : t->instances == 0 || t->instances == t->all;
    return t->all == each * g->gpus && types && !t->other_board && !t->other_profile;
}

static void judge_gres(struct lks_judge *j)
{
    const struct lks_reading *r = lks_tuple_find(j->tuple, "scheduler.gres");
    struct geometry g = {.gpus = 0};
    struct lks_gres gres;
    struct lks_err err = {0};
    if (r == NULL || r->state != LKS_MEASURED || !read_geometry(j, &g) ||
        lks_gres_parse(r->value, &gres, &err) != LKS_OK)
        return;
    struct tally t = tally(j, &g, &gres);
    if (g.profiles == NULL && !g.undivided && t.instances > 0)
        return; /* the stack leaves open whether GPUs are divided */
    bool holds = holds_geometry(&g, &t);
    (void)lks_conform_row(j, &(struct lks_judgement){
                                 .subject = LKS_STR("scheduler.gres"),
                                 .pinned = pinned_text(j, &g),
                                 .actual = r->value,
                                 .of = {"", 0},
                                 .verdict = holds ? LKS_CONFORMS : LKS_DRIFT,
                                 .cause = holds ? LKS_CAUSE_NONE : LKS_CAUSE_SCHEDULER,
                                 .evidence = evidence_of(r),
                             });
}

static void judge_state(struct lks_judge *j)
{
    const struct lks_reading *r = lks_tuple_find(j->tuple, "scheduler.state");
    if (r == NULL || r->state != LKS_MEASURED)
        return;
    (void)lks_conform_row(j, &(struct lks_judgement){
                                 .subject = LKS_STR("scheduler.state"),
                                 .pinned = LKS_STR("as configured"),
                                 .actual = r->value,
                                 .of = {"", 0},
                                 .verdict = LKS_DRIFT,
                                 .cause = LKS_CAUSE_SCHEDULER,
                                 .evidence = evidence_of(r),
                             });
}

void lks_conform_scheduler(struct lks_judge *j)
{
    judge_gres(j);
    judge_state(j);
}
