/* What agents saw in the layers of images: listed in the catalogue where no other source has it. */
#include "core/actions/actions.h"
#include "core/registry/images.h"
#include "core/rows/registry.h"
#include "core/state/state.h"
#include "model/tuple/tuple.h"

#include <string.h>

enum { LIBRARIES = 4, SEEN_MAX = 64 };

/* What agents list leaves room for people. */
#define ROOM_MAX (LKS_STATE_IMAGES_MAX / 2)

static const char *const names[LIBRARIES] = {"image.nccl", "image.rccl", "image.cudnn",
                                             "image.cuda"};

/* One image by the readings of a report. */
struct seen {
    struct lks_str ref, digest;
    struct lks_str versions[LIBRARIES]; /* empty: it has none */
    bool unread[LIBRARIES];             /* it may have one */
    bool two;                           /* two stores of the node have different ones */
};

/* Reading ----------------------------------------------------------------------------------- */

/* The characters of OCI references: people copy references from lists into command lines. */
static bool is_ref(struct lks_str ref)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "._/:@+[]-";
    for (size_t i = 0; i < ref.len; i++) {
        if (ref.ptr[i] == '\0' || strchr(allowed, ref.ptr[i]) == NULL)
            return false;
    }
    return ref.len > 0 && ref.len <= LKS_IMAGE_REF_MAX && strchr("-./:@+", ref.ptr[0]) == NULL;
}

static struct seen *find(struct seen list[SEEN_MAX], size_t *count, struct lks_str ref)
{
    for (size_t i = 0; i < *count; i++) {
        if (lks_str_eq(list[i].ref, ref))
            return &list[i];
    }
    if (*count == SEEN_MAX || !is_ref(ref))
        return NULL;
    list[*count] = (struct seen){.ref = ref, .digest = LKS_STR("")};
    return &list[(*count)++];
}

static void take(struct seen *s, size_t library, const struct lks_reading *r)
{
    if (r->state != LKS_MEASURED || !lks_version_whole(r->value, LKS_VERSION_DOTTED)) {
        s->unread[library] = true;
        return;
    }
    s->two =
        s->two || (s->versions[library].len > 0 && !lks_str_eq(s->versions[library], r->value));
    s->versions[library] = r->value;
    if (lks_digest_valid(r->part))
        s->digest = r->part;
}

static size_t read_seen(const struct lks_tuple *t, struct seen list[SEEN_MAX])
{
    size_t count = 0;
    for (size_t lib = 0; lib < LIBRARIES; lib++) {
        size_t readings = 0;
        const struct lks_reading *r = lks_tuple_range(t, lks_str_from(names[lib]), &readings);
        for (size_t i = 0; i < readings; i++) {
            struct seen *s = find(list, &count, r[i].of);
            if (s != NULL)
                take(s, lib, &r[i]);
        }
    }
    return count;
}

/* Listing ----------------------------------------------------------------------------------- */

static struct lks_str this_node(struct lks_deciding *d)
{
    return lks_decision_text(d, LKS_IMAGE_NODE "%" LKS_STR_FMT,
                             LKS_STR_ARG(lks_state_name(d->state, d->event->node)));
}

static void record(struct lks_deciding *d, const struct seen *s, bool differ, struct lks_str by)
{
    const struct lks_str *v = s->versions;
    struct lks_str none = LKS_STR("");
    struct lks_rec_image image = {
        .ref = s->ref,
        .digest = differ ? none : s->digest,
        .nccl = differ ? none : v[0],
        .rccl = differ ? none : v[1],
        .cudnn = differ ? none : v[2],
        .cuda = differ ? none : v[3],
        .source = differ ? LKS_STR(LKS_IMAGE_DIFFERS) : LKS_STR(LKS_IMAGE_LAYERS),
        .by = by,
    };
    lks_decision_add(d, LKS_RECORD_IMAGE)->image = image;
}

static bool has_any(const struct seen *s)
{
    for (size_t lib = 0; lib < LIBRARIES; lib++) {
        if (s->versions[lib].len > 0)
            return true;
    }
    return false;
}

/* What one node alone has seen it may see otherwise later: it pulled the tag anew. Once a second
 * one has seen the same, who says something else may be the only one. What one could not read
 * another may have told. */
static void compare(struct lks_deciding *d, struct seen *s, const struct lks_state_image *have)
{
    const lks_text known[LIBRARIES] = {have->nccl, have->rccl, have->cudnn, have->cuda};
    struct lks_str by = lks_state_text(d->state, have->by), node = this_node(d);
    bool own = lks_str_eq(by, node), several = lks_str_is(by, LKS_IMAGE_NODES);
    bool differ = s->two, news = !own && !several;
    for (size_t lib = 0; lib < LIBRARIES; lib++) {
        struct lks_str listed = lks_state_text(d->state, known[lib]);
        if (s->unread[lib] && s->versions[lib].len == 0 && !own)
            s->versions[lib] = listed;
        bool same = lks_str_eq(s->versions[lib], listed);
        news = news || !same;
        differ = differ || (!same && listed.len > 0 && !own);
    }
    if (differ || (news && has_any(s)))
        record(d, s, differ, own || differ ? node : LKS_STR(LKS_IMAGE_NODES));
}

void lks_decide_image_seen(struct lks_deciding *d)
{
    struct seen list[SEEN_MAX];
    size_t count = read_seen(d->event->tuple.tuple, list);
    uint32_t room = d->state->image_count < ROOM_MAX ? ROOM_MAX - d->state->image_count : 0;
    for (size_t i = 0; i < count; i++) {
        const struct lks_state_image *have = lks_state_image(d->state, list[i].ref);
        if (have == NULL && room > 0 && has_any(&list[i])) {
            record(d, &list[i], list[i].two, this_node(d));
            room--;
        } else if (have != NULL && lks_image_of_layers(d->state, have) &&
                   !lks_image_differs(d->state, have)) {
            compare(d, &list[i], have);
        }
    }
}
