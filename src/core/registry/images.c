#include "core/registry/images.h"

#include "base/intern.h"
#include "base/vec.h"
#include "codec/format/digest.h"
#include "core/rows/registry.h"
#include "core/state/state.h"

/* References --------------------------------------------------------------------------------- */

/* A reference taken apart; views of it. */
struct ref {
    struct lks_str registry; /* empty: not said */
    struct lks_str name;     /* with its tag */
    struct lks_str digest;
};

static bool drop(struct lks_str *s, const char *prefix)
{
    if (!lks_str_starts(*s, prefix))
        return false;
    *s = (struct lks_str){s->ptr + strlen(prefix), s->len - strlen(prefix)};
    return true;
}

/* A first part of a path is a registry if it could not be a name there: it has a dot or a port. */
static bool is_registry(struct lks_str s)
{
    return lks_str_find(s, LKS_STR(".")) > 0 || lks_str_find(s, LKS_STR(":")) > 0 ||
           lks_str_is(s, "localhost");
}

static struct ref take_apart(struct lks_str text)
{
    static const char *const schemes[] = {"docker://", "dockerd://", "podman://"};
    struct ref ref = {0};
    struct lks_str head, tail;
    for (size_t i = 0; i < LKS_COUNT(schemes); i++) {
        if (drop(&text, schemes[i]))
            break;
    }
    if (lks_str_cut(text, '#', &head, &tail)) { /* enroot: [USER@]REGISTRY#NAME */
        ref.registry = lks_str_last(head, '@');
        text = tail;
    }
    if (lks_str_cut(text, '@', &head, &tail) && lks_digest_valid(tail))
        ref.digest = tail;
    ref.name = ref.digest.len > 0 ? head : text;
    if (ref.registry.len == 0 && lks_str_cut(ref.name, '/', &head, &tail) && is_registry(head)) {
        ref.registry = head;
        ref.name = tail;
    }
    return ref;
}

/* Spelled in full in `out`; empty where it is too long. */
static struct lks_str spell(const char *registry, const struct ref *ref,
                            char out[LKS_IMAGE_REF_MAX])
{
    struct lks_str prefix = registry != NULL ? lks_str_from(registry) : ref->registry;
    if (prefix.len + 1 + ref->name.len > LKS_IMAGE_REF_MAX)
        return LKS_STR("");
    memcpy(out, prefix.ptr, prefix.len);
    out[prefix.len] = '/';
    memcpy(out + prefix.len + 1, ref->name.ptr, ref->name.len);
    return (struct lks_str){out, prefix.len + 1 + ref->name.len};
}

/* The catalogue ------------------------------------------------------------------------------ */

bool lks_image_of_layers(const struct lks_state *s, const struct lks_state_image *image)
{
    struct lks_str by = lks_state_text(s, image->by);
    return lks_str_starts(lks_state_text(s, image->source), LKS_IMAGE_LAYERS) &&
           (lks_str_starts(by, LKS_IMAGE_NODE) || lks_str_is(by, LKS_IMAGE_NODES));
}

bool lks_image_differs(const struct lks_state *s, const struct lks_state_image *image)
{
    return lks_image_of_layers(s, image) &&
           lks_str_is(lks_state_text(s, image->source), LKS_IMAGE_DIFFERS);
}

/* An entry counts for one of two lookups: of what people said, or of what agents saw. */
struct lookup {
    const struct lks_state *s;
    bool layers;
};

static const struct lks_state_image *listed(const struct lookup *l, struct lks_str ref)
{
    const struct lks_state_image *image = lks_state_image(l->s, ref);
    return image != NULL && lks_image_of_layers(l->s, image) == l->layers ? image : NULL;
}

static const struct lks_state_image *by_digest(const struct lookup *l, struct lks_str digest)
{
    const struct lks_state *s = l->s;
    uint32_t text = 0;
    if (!lks_intern_find(&s->texts, digest, &text))
        return NULL;
    for (uint32_t i = 0; i < s->image_count; i++) {
        if (s->images[i].digest == text && lks_image_of_layers(s, &s->images[i]) == l->layers)
            return &s->images[i];
    }
    return NULL;
}

/* The default registry is Docker's. */
static const struct lks_state_image *by_name(const struct lookup *l, const struct ref *ref)
{
    static const char *const docker[] = {"docker.io", "docker.io/library"};
    char text[LKS_IMAGE_REF_MAX];
    if (ref->registry.len > 0)
        return listed(l, spell(NULL, ref, text));
    const struct lks_state_image *image = listed(l, ref->name);
    for (size_t i = 0; i < LKS_COUNT(docker) && image == NULL; i++)
        image = listed(l, spell(docker[i], ref, text));
    return image;
}

static const struct lks_state_image *catalogued(const struct lks_state *s, bool layers,
                                                struct lks_str text, const struct ref *ref)
{
    const struct lookup l = {s, layers};
    const struct lks_state_image *image = listed(&l, text);
    if (image != NULL)
        return image;
    return ref->digest.len > 0 ? by_digest(&l, ref->digest) : by_name(&l, ref);
}

static struct lks_image_found told(const struct lks_state *s, const struct lks_state_image *image)
{
    bool layers = lks_image_of_layers(s, image);
    if (lks_image_differs(s, image))
        return (struct lks_image_found){.source = lks_state_text(s, image->source),
                                        .detail = lks_state_text(s, image->by)};
    return (struct lks_image_found){
        true,
        lks_state_text(s, image->nccl),
        lks_state_text(s, image->rccl),
        lks_state_text(s, image->cudnn),
        lks_state_text(s, image->cuda),
        layers ? LKS_STR(LKS_IMAGE_LAYERS) : LKS_STR("catalogue"),
        lks_state_text(s, layers ? image->by : image->source),
    };
}

/* NVIDIA's table ----------------------------------------------------------------------------- */

/* "nvidia/pytorch" is at nvcr.io alone, so that its registry may be left out; its tags do not move,
 * so that a digest beside one changes nothing. */
static const struct lks_image *published(const struct lks_facts *facts, const struct ref *ref)
{
    char text[LKS_IMAGE_REF_MAX];
    struct lks_str whole = spell(ref->registry.len > 0 ? NULL : "nvcr.io", ref, text);
    return LKS_VEC_FIND(facts->images.rows, facts->images.count, row,
                        lks_str_eq(row->image, whole));
}

void lks_image_find(const struct lks_state *s, const struct lks_facts *facts, struct lks_str ref,
                    struct lks_image_found *out)
{
    *out = (struct lks_image_found){0};
    if (ref.len == 0 || ref.len > LKS_IMAGE_REF_MAX)
        return;
    struct ref parts = take_apart(ref);
    const struct lks_state_image *image = catalogued(s, false, ref, &parts);
    const struct lks_image *row = image == NULL ? published(facts, &parts) : NULL;
    if (image == NULL && row == NULL)
        image = catalogued(s, true, ref, &parts);
    if (image != NULL)
        *out = told(s, image);
    else if (row != NULL)
        *out = (struct lks_image_found){.known = true,
                                        .nccl = row->nccl,
                                        .cudnn = row->cudnn,
                                        .cuda = row->cuda,
                                        .source = LKS_STR("NGC"),
                                        .detail = row->tag};
}

/* Versions ----------------------------------------------------------------------------------- */

/* Of a package, of a wheel and of the library itself; of CUDA's run time two numbers are known. */
static bool alike(struct lks_str a, struct lks_str b, bool coarse)
{
    struct lks_str x = lks_version_stated(a, b), y = lks_version_stated(b, a);
    return lks_version_cmp(x, y, LKS_VERSION_DOTTED) == 0 ||
           (coarse && (lks_version_covers(x, y) || lks_version_covers(y, x)));
}

bool lks_image_holds(struct lks_str pinned, struct lks_str window, struct lks_str version,
                     bool coarse)
{
    struct lks_range range;
    struct lks_err err = {0};
    if (alike(pinned, version, coarse))
        return true;
    return window.len > 0 &&
           lks_version_range_parse(window, LKS_VERSION_DOTTED, &range, &err) == LKS_OK &&
           lks_version_range_has(&range, lks_version_stated(version, window), LKS_VERSION_DOTTED);
}

bool lks_image_same(struct lks_str a, struct lks_str b)
{
    struct lks_str version, x, y;
    bool built = lks_str_cut(a, '+', &version, &x);
    built = lks_str_cut(b, '+', &version, &y) && built;
    return alike(a, b, false) && (!built || lks_str_eq(x, y));
}
