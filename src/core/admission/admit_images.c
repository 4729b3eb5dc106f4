/* The libraries that a job brings along: one build of each in a gang, and the pinned one. */
#include "core/admission/admit_parts.h"
#include "core/conform/verdict.h"
#include "core/registry/images.h"
#include "core/rows/node.h"
#include "core/rows/pool.h"
#include "core/rows/verdict.h"
#include "core/state/lookup.h"

/* Ranks -------------------------------------------------------------------------------------- */

/* Take the next range off `*rest`, "3" or "0-255"; false: there is none, or it is none. */
static bool next_range(struct lks_str *rest, uint64_t count, uint64_t *from, uint64_t *to)
{
    struct lks_str range, low, high;
    if (rest->len == 0)
        return false;
    (void)lks_str_cut(*rest, ',', &range, rest);
    bool two = lks_str_cut(range, '-', &low, &high);
    return lks_str_number(low, count - 1, from) &&
           lks_str_number(two ? high : low, count - 1, to) && *from <= *to;
}

static enum lks_code check_ranks(const struct lks_admit_image *image, size_t count,
                                 struct lks_err *err)
{
    struct lks_str rest = image->ranks;
    uint64_t from = 0, to = 0, named = 0;
    bool ok = rest.len <= LKS_ADMIT_RANKS_MAX && (rest.len == 0 || rest.ptr[rest.len - 1] != ',');
    while (ok && rest.len > 0) {
        ok = next_range(&rest, count, &from, &to);
        named += to - from + 1;
        ok = ok && named <= count;
    }
    return ok ? LKS_OK
              : lks_fail(err, LKS_E_INVALID,
                         "image '%" LKS_STR_FMT "': its ranks must be numbers and ranges of 0 to "
                         "%zu, each once, such as 0-7,12",
                         LKS_STR_ARG(image->ref), count - 1);
}

enum lks_code lks_admit_ranks(const struct lks_admit_ask *ask, struct lks_err *err)
{
    struct lks_str nccl = lks_version_stated(ask->nccl, LKS_STR(""));
    if (ask->nccl.len > 0 &&
        (ask->nccl.len > LKS_VERSION_LEN_MAX || !lks_version_whole(nccl, LKS_VERSION_DOTTED)))
        return lks_fail(err, LKS_E_INVALID, "NCCL '%" LKS_STR_FMT "' is no version such as 2.28.9",
                        LKS_STR_ARG(ask->nccl));
    if (ask->image_count > LKS_ADMIT_IMAGES_MAX)
        return lks_fail(err, LKS_E_LIMIT, "more than %d images in one job", LKS_ADMIT_IMAGES_MAX);
    for (size_t i = 0; i < ask->image_count; i++) {
        struct lks_str ref = ask->images[i].ref;
        if (ref.len == 0 || ref.len > LKS_ADMIT_REF_MAX || !lks_str_printable(ref))
            return lks_fail(err, LKS_E_INVALID, "an image's name has 1 to %d printable bytes",
                            LKS_ADMIT_REF_MAX);
        if (check_ranks(&ask->images[i], ask->count, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

/* Libraries ---------------------------------------------------------------------------------- */

enum library { NCCL, RCCL, CUDNN, CUDA, LIBRARY_COUNT };

/* The first two let ranks talk to each other: pinned by the stack or the image, they must be the
 * pinned ones. The others count where the stack leaves them to images. */
static const struct {
    const char *component, *shown;
    bool collective;
    bool coarse; /* sources tell more or fewer of its numbers */
} libraries[] = {
    [NCCL] = {"nccl", "NCCL", true, false},
    [RCCL] = {"rccl", "RCCL", true, false},
    [CUDNN] = {"cudnn", "cuDNN", false, true},
    [CUDA] = {"cuda", "CUDA", false, true},
};

/* Where the stack itself is not at hand, what a node of the pool was found to have stands for it.
 */
static struct lks_admit_pin measured_pin(const struct lks_admitting *a,
                                         const struct lks_admit_part *part, enum library lib)
{
    const struct lks_state_verdict *v = lks_state_verdict(a->state, part->first);
    struct lks_str lines = v != NULL ? lks_state_text(a->state, v->values) : LKS_STR("");
    struct lks_value value;
    while (libraries[lib].collective && lks_verdict_value_next(&lines, &value)) {
        if (lks_str_is(value.subject, libraries[lib].component))
            return (struct lks_admit_pin){.version = value.value};
    }
    return (struct lks_admit_pin){0};
}

static struct lks_admit_pin pin_of(const struct lks_admitting *a, const struct lks_admit_part *part,
                                   enum library lib)
{
    if (part->stack == NULL)
        return measured_pin(a, part, lib);
    const struct lks_component *c = lks_stack_find(part->stack, libraries[lib].component);
    if (c == NULL || (!libraries[lib].collective && !lks_str_is(c->owner, "image")))
        return (struct lks_admit_pin){0};
    return (struct lks_admit_pin){c->version, c->window};
}

/* Where the stack is not at hand, the library that its nodes were found to have tells it. */
static bool is_amd(const struct lks_admit_part *part)
{
    if (part->stack != NULL)
        return part->stack->vendor == LKS_VENDOR_AMD;
    return part->pins[RCCL].version.len > 0 && part->pins[NCCL].version.len == 0;
}

/* By whose library the ranks of this part talk. */
static enum library collective_of(const struct lks_admit_part *part,
                                  const struct lks_image_found *found)
{
    if (part->stack != NULL || is_amd(part))
        return is_amd(part) ? RCCL : NCCL;
    return found->nccl.len == 0 && found->rccl.len > 0 ? RCCL : NCCL;
}

static struct lks_str brought(const struct lks_image_found *found, enum library lib)
{
    const struct lks_str versions[] = {found->nccl, found->rccl, found->cudnn, found->cuda};
    return versions[lib];
}

/* Images ------------------------------------------------------------------------------------- */

/* One image, or what the job says of itself, being held against the pools it runs in. */
struct looking {
    struct lks_admitting *a;
    const struct lks_admit_image *image; /* NULL: what the job says */
    struct lks_image_found found;
    uint32_t number; /* of the image, from 1: that of the parts it runs in */
    bool wrong;      /* its collective library was found to be another than the pinned one */
};

/* What the gang would load, by the first image that has it. */
struct gang {
    enum library lib;
    struct lks_str version;
    struct lks_str image; /* empty: the job itself */
};

static void mark_parts(struct looking *l)
{
    struct lks_admitting *a = l->a;
    struct lks_str rest = l->image != NULL ? l->image->ranks : LKS_STR("");
    uint64_t from = 0, to = 0;
    for (uint32_t i = 0; i < a->taken_count && rest.len == 0; i++)
        a->taken[i]->image = l->number;
    while (next_range(&rest, a->ask->count, &from, &to)) {
        for (uint64_t rank = from; rank <= to; rank++) {
            if (a->nodes[rank] != LKS_NO_NODE)
                lks_admit_part(a, a->nodes[rank])->image = l->number;
        }
    }
}

/* Only where ranks must agree, or where the stack pins what an image may bring. */
static bool concerns(const struct looking *l, const struct lks_admit_part *part)
{
    if (part->image != l->number)
        return false;
    bool pinned = part->sync;
    for (int lib = 0; lib < LIBRARY_COUNT && !pinned; lib++)
        pinned = part->pins[lib].version.len > 0;
    return pinned;
}

static void add_image(struct looking *l, bool refuse, const struct lks_admit_part *part,
                      struct lks_str text)
{
    struct lks_admit_no no = {.bar = LKS_BAR_IMAGE, .text = text};
    if (l->image != NULL) {
        no.image = l->image->ref;
        no.ranks = l->image->ranks;
    }
    if (part->pool != NULL)
        no.pool = lks_state_text(l->a->state, part->pool->name);
    lks_admit_add(l->a, refuse, &no);
}

/* Its libraries are unknown: of the pools it runs in the strictest one answers. */
static void add_unresolved(struct looking *l)
{
    const struct lks_admit_part *worst = NULL;
    bool refuse = false;
    for (uint32_t i = 0; i < l->a->taken_count && !refuse; i++) {
        const struct lks_admit_part *part = l->a->taken[i];
        if (!concerns(l, part))
            continue;
        refuse = part->enforces && part->strict;
        worst = worst == NULL || refuse ? part : worst;
    }
    struct lks_str why = LKS_STR("what it brings is not known: it is not in the catalogue "
                                 "(lockstep image add) nor in NVIDIA's tables");
    if (lks_str_is(l->found.source, LKS_IMAGE_DIFFERS))
        why = LKS_STR("what it brings is not known: " LKS_IMAGE_DIFFERS
                      " in what they have under this name (lockstep image add)");
    if (worst != NULL)
        add_image(l, refuse, worst, why);
}

enum fit { FITS, UNSAID, OTHER };

static enum fit fit_of(const struct looking *l, const struct lks_admit_part *part, enum library lib)
{
    struct lks_admit_pin pin = part->pins[lib];
    struct lks_str version = brought(&l->found, lib);
    bool wanted = pin.version.len > 0 || (part->sync && lib == collective_of(part, &l->found));
    if (!wanted)
        return FITS;
    if (version.len == 0)
        return l->image != NULL ? UNSAID : FITS;
    bool holds = pin.version.len == 0 ||
                 lks_image_holds(pin.version, pin.window, version, libraries[lib].coarse);
    return holds ? FITS : OTHER;
}

static struct lks_str fit_text(struct looking *l, const struct lks_admit_part *part,
                               enum library lib, enum fit fit)
{
    struct lks_admit_pin pin = part->pins[lib];
    const char *shown = libraries[lib].shown;
    if (fit == UNSAID)
        return lks_admit_text(l->a, "its %s is not known (%" LKS_STR_FMT " %" LKS_STR_FMT ")",
                              shown, LKS_STR_ARG(l->found.source), LKS_STR_ARG(l->found.detail));
    return lks_admit_text(l->a,
                          "%s %s %" LKS_STR_FMT " (%" LKS_STR_FMT "%s%" LKS_STR_FMT
                          "), pinned %" LKS_STR_FMT "%s%" LKS_STR_FMT,
                          l->image != NULL ? "brings" : "the job loads", shown,
                          LKS_STR_ARG(brought(&l->found, lib)), LKS_STR_ARG(l->found.source),
                          l->found.detail.len > 0 ? " " : "", LKS_STR_ARG(l->found.detail),
                          LKS_STR_ARG(pin.version), pin.window.len > 0 ? ", tested " : "",
                          LKS_STR_ARG(pin.window));
}

/* One library of an image against all pools it runs in: one line, of a pool that refuses if there
 * is one. */
static void look_at_library(struct looking *l, enum library lib)
{
    const struct lks_admit_part *worst = NULL;
    enum fit worst_fit = FITS;
    bool refuse = false;
    for (uint32_t i = 0; i < l->a->taken_count && !refuse; i++) {
        const struct lks_admit_part *part = l->a->taken[i];
        enum fit fit = part->image == l->number ? fit_of(l, part, lib) : FITS;
        if (fit == FITS)
            continue;
        refuse = part->enforces && (fit == OTHER || part->strict);
        if (worst == NULL || refuse) {
            worst = part;
            worst_fit = fit;
        }
    }
    if (worst == NULL)
        return;
    l->wrong |= worst_fit == OTHER && libraries[lib].collective;
    add_image(l, refuse, worst, fit_text(l, worst, lib, worst_fit));
}

/* The first part that must agree and that the image runs in, or NULL. */
static const struct lks_admit_part *synchronous(const struct looking *l)
{
    for (uint32_t i = 0; i < l->a->taken_count; i++) {
        if (l->a->taken[i]->sync && l->a->taken[i]->image == l->number)
            return l->a->taken[i];
    }
    return NULL;
}

/* Two builds in one gang. What is told already as not being the pinned one is not told again. */
static void look_at_gang(struct looking *l, struct gang *gang)
{
    const struct lks_admit_part *part = synchronous(l);
    if (part == NULL)
        return;
    enum library lib = collective_of(part, &l->found);
    struct lks_str version = brought(&l->found, lib);
    if (version.len == 0)
        return;
    if (gang->version.len == 0) {
        *gang = (struct gang){lib, version, l->image != NULL ? l->image->ref : LKS_STR("")};
        return;
    }
    if (l->wrong || (lib == gang->lib && lks_image_same(version, gang->version)))
        return;
    struct lks_str text = lks_admit_text(
        l->a, "brings %s %" LKS_STR_FMT ", where %s%" LKS_STR_FMT " %s %s %" LKS_STR_FMT,
        libraries[lib].shown, LKS_STR_ARG(version), gang->image.len > 0 ? "" : "the job",
        LKS_STR_ARG(gang->image), gang->image.len > 0 ? "brings" : "loads",
        libraries[gang->lib].shown, LKS_STR_ARG(gang->version));
    add_image(l, lks_admit_enforced(l->a, true), part, text);
}

static void look_at_image(struct looking *l, struct gang *gang)
{
    mark_parts(l);
    if (!l->found.known) {
        add_unresolved(l);
        return;
    }
    for (int lib = 0; lib < LIBRARY_COUNT; lib++)
        look_at_library(l, (enum library)lib);
    look_at_gang(l, gang);
}

/* What the job says it loads is RCCL where its nodes have AMD's GPUs. */
static void look_at_claim(struct lks_admitting *a, struct gang *gang)
{
    struct lks_str nccl = a->ask->nccl;
    bool amd = a->taken_count > 0 && is_amd(a->taken[0]);
    struct looking l = {
        .a = a,
        .number = (uint32_t)a->ask->image_count + 1,
        .found = {.known = true, .source = LKS_STR("as it says")},
    };
    *(amd ? &l.found.rccl : &l.found.nccl) = nccl;
    look_at_image(&l, gang);
}

/* What each pool pins of the libraries, found once; false: memory ran out. */
static bool find_pins(struct lks_admitting *a)
{
    const struct lks_state *s = a->state;
    struct lks_admit_pin *pins =
        lks_arena_array(&a->out->arena, (size_t)a->taken_count * LIBRARY_COUNT, sizeof(pins[0]));
    if (pins == NULL) {
        lks_admit_fail(a);
        return false;
    }
    for (uint32_t i = 0; i < a->taken_count; i++, pins += LIBRARY_COUNT) {
        struct lks_admit_part *part = a->taken[i];
        if (part->pool != NULL && part->pool->stack_digest != 0)
            part->stack = lks_book_stack(a->book, lks_state_text(s, part->pool->stack_digest));
        for (int lib = 0; lib < LIBRARY_COUNT; lib++)
            pins[lib] = pin_of(a, part, (enum library)lib);
        part->pins = pins;
    }
    return true;
}

void lks_admit_images(struct lks_admitting *a)
{
    struct gang gang = {0};
    if (!find_pins(a))
        return;
    if (a->ask->nccl.len > 0)
        look_at_claim(a, &gang);
    for (size_t i = 0; i < a->ask->image_count; i++) {
        struct looking l = {.a = a, .image = &a->ask->images[i], .number = (uint32_t)i + 1};
        lks_image_find(a->state, a->book->facts, l.image->ref, &l.found);
        look_at_image(&l, &gang);
    }
}
