/* Software: the version that runs or would be loaded, its flavour and its build. */
#include "core/conform/conform_judge.h"
#include "core/conform/node_readings.h"

#include <stdio.h>

/* "NAME.ASPECT" */
enum { ASPECT_SIZE = LKS_READING_NAME_MAX + 32 };

/* Versions ---------------------------------------------------------------------------------- */

/* Equal, and not only alike: a kernel is its release to the letter. */
static bool is_version(struct lks_str pin, struct lks_str v, enum lks_version_scheme scheme)
{
    if (lks_str_eq(pin, v) || scheme == LKS_VERSION_FIRMWARE)
        return lks_str_eq(pin, v);
    return lks_version_cmp(pin, v, scheme) == 0 ||
           (scheme == LKS_VERSION_DOTTED &&
            lks_version_cmp(pin, lks_version_stated(v, pin), scheme) == 0);
}

static bool holds_version(const struct lks_pin *pin, const struct lks_reading *r)
{
    struct lks_str v = r->value;
    if (is_version(pin->pin->version, v, pin->scheme))
        return true;
    if (pin->scheme == LKS_VERSION_DOTTED)
        v = lks_version_stated(v, pin->pin->window);
    return pin->window != NULL && lks_version_range_has(pin->window, v, pin->scheme);
}

/* Aspects ----------------------------------------------------------------------------------- */

/* "NAME.ASPECT", in `out`; nothing is called so where it is too long. */
static struct lks_str aspect_name(const struct lks_component *c, const char *which,
                                  char out[ASPECT_SIZE])
{
    size_t len = strlen(which);
    if (c->name.len + 1 + len >= ASPECT_SIZE)
        return (struct lks_str){"", 0};
    memcpy(out, c->name.ptr, c->name.len);
    out[c->name.len] = '.';
    memcpy(out + c->name.len + 1, which, len + 1);
    return (struct lks_str){out, c->name.len + 1 + len};
}

/* All readings of a side of a component: packages that differ are one each. */
static const struct lks_reading *aspect(const struct lks_judge *j, const struct lks_component *c,
                                        const char *which, size_t *count)
{
    char name[ASPECT_SIZE];
    return lks_tuple_range(j->tuple, aspect_name(c, which, name), count);
}

/* The one of its packages that counts. */
static const struct lks_reading *package_of(const struct lks_judge *j,
                                            const struct lks_component *c)
{
    char name[ASPECT_SIZE];
    return lks_node_best(j->tuple, aspect_name(c, "package", name));
}

static const char *const aspects[] = {"loaded", "disk", "library", "package"};

/* Only kernel drivers have all these sides, and only of these is it known that they must agree: a
 * package may number its content in another way. */
static bool has_aspects(const struct lks_component *c)
{
    return lks_str_is(c->name, "driver") || lks_str_is(c->name, "amdgpu");
}

/* "loaded 580.126.20, disk 580.178.04" */
static struct lks_str shown_aspects(struct lks_judge *j, const struct lks_component *c)
{
    enum { TEXT_MAX = 64 * 1024 };
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    for (size_t i = 0; i < LKS_COUNT(aspects); i++) {
        size_t count;
        const struct lks_reading *r = aspect(j, c, aspects[i], &count);
        for (; count > 0; count--, r++) {
            if (r->state != LKS_MEASURED)
                continue;
            lks_buf_addf(&text, "%s%s %" LKS_STR_FMT, text.len > 0 ? ", " : "", aspects[i],
                         LKS_STR_ARG(r->value));
            if (r->of.len > 0)
                lks_buf_addf(&text, " (%" LKS_STR_FMT ")", LKS_STR_ARG(r->of));
        }
    }
    return lks_conform_copy(j, &text);
}

/* The first side that is not what the running one is, or NULL. */
static const struct lks_reading *odd_aspect(const struct lks_judge *j, const struct lks_pin *pin,
                                            const struct lks_reading *running)
{
    for (size_t i = 0; i < LKS_COUNT(aspects); i++) {
        size_t count;
        const struct lks_reading *r = aspect(j, pin->pin, aspects[i], &count);
        for (; count > 0; count--, r++) {
            if (r->state == LKS_MEASURED && !is_version(running->value, r->value, pin->scheme))
                return r;
        }
    }
    return NULL;
}

static const struct lks_reading *unread_aspect(const struct lks_judge *j,
                                               const struct lks_component *c)
{
    for (size_t i = 0; i < LKS_COUNT(aspects); i++) {
        size_t count;
        const struct lks_reading *r = aspect(j, c, aspects[i], &count);
        for (; count > 0; count--, r++) {
            if (r->state == LKS_UNMEASURED)
                return r;
        }
    }
    return NULL;
}

/* The package of a component that is none of what runs, or NULL. A stack that pins the reading of
 * the package itself has its own row for it. */
static const struct lks_reading *odd_package(const struct lks_judge *j, const struct lks_pin *pin,
                                             const struct lks_reading *running)
{
    const struct lks_reading *best = package_of(j, pin->pin);
    if (best == NULL || best->state != LKS_MEASURED || lks_str_is(pin->pin->name, "kernel"))
        return NULL; /* a kernel's release is not the version of its package */
    const struct lks_doc *other = lks_doc_member(j->stack->settings, "other");
    for (const struct lks_doc *d = other != NULL ? other->first : NULL; d != NULL; d = d->next) {
        if (lks_str_eq(d->key, best->name))
            return NULL;
    }
    return lks_node_package_agrees(j->facts, j->tuple, pin->pin->name, running->value) ? NULL
                                                                                       : best;
}

/* Flavour and build ------------------------------------------------------------------------- */

/* Digits in hexadecimal are written either way. */
static bool holds_text(const struct lks_pin *pin, const struct lks_reading *r)
{
    return lks_str_eq_nocase(pin->pinned, r->value);
}

/* "driver.modules", or what else of a component has a text; `of` are its readings. */
static void judge_text(struct lks_judge *j, const struct lks_component *c, const char *which,
                       struct lks_str pinned, const struct lks_readings *of)
{
    struct lks_pin pin = {
        .subject = lks_conform_path(j, c->label, lks_str_from(which)),
        .pinned = pinned,
        .holds = holds_text,
        .changed = LKS_CAUSE_OTHER_BUILD,
        .gone = LKS_CAUSE_MISSING,
    };
    (void)lks_conform_readings(j, &pin, of);
}

static void judge_aspect_text(struct lks_judge *j, const struct lks_component *c, const char *which,
                              struct lks_str pinned)
{
    struct lks_str name = lks_conform_path(j, c->name, lks_str_from(which));
    struct lks_readings all = lks_conform_called(j, name);
    judge_text(j, c, which, pinned, &all);
}

void lks_conform_build(struct lks_judge *j, const struct lks_component *c)
{
    const struct lks_doc *build = lks_doc_member(c->doc, "build");
    const struct lks_doc *first = build != NULL ? build->first : NULL;
    for (const struct lks_doc *item = first; item != NULL; item = item->next) {
        char which[ASPECT_SIZE];
        snprintf(which, sizeof(which), "build.%" LKS_STR_FMT, LKS_STR_ARG(item->key));
        judge_aspect_text(j, c, which, item->text);
    }
}

/* Components -------------------------------------------------------------------------------- */

/* The row of a component whose version was measured. */
static struct lks_judgement judge_version(struct lks_judge *j, const struct lks_pin *pin,
                                          const struct lks_reading *r)
{
    struct lks_judgement row = {.subject = pin->subject,
                                .pinned = pin->pinned,
                                .actual = r->value,
                                .of = {"", 0},
                                .verdict = LKS_DRIFT,
                                .evidence = r->evidence};
    bool sided = has_aspects(pin->pin);
    const struct lks_reading *odd = sided ? odd_aspect(j, pin, r) : odd_package(j, pin, r);
    const struct lks_reading *unread = sided ? unread_aspect(j, pin->pin) : NULL;
    if (odd != NULL && (sided || lks_conform_holds(pin, r))) {
        row.cause = LKS_CAUSE_HALF_UPGRADED;
        row.actual = sided ? shown_aspects(j, pin->pin)
                           : lks_conform_text(j, "%" LKS_STR_FMT "; %" LKS_STR_FMT " %" LKS_STR_FMT,
                                              LKS_STR_ARG(r->value), LKS_STR_ARG(odd->name),
                                              LKS_STR_ARG(odd->value));
        row.evidence = odd->evidence;
    } else if (!lks_conform_holds(pin, r)) {
        row.cause = LKS_CAUSE_OTHER_VERSION;
    } else if (unread != NULL) {
        row.verdict = LKS_NOT_MEASURED;
        row.cause = LKS_CAUSE_UNMEASURED;
        row.actual = lks_conform_text(j, "%" LKS_STR_FMT "; %" LKS_STR_FMT ": %" LKS_STR_FMT,
                                      LKS_STR_ARG(r->value), LKS_STR_ARG(unread->name),
                                      LKS_STR_ARG(unread->value));
        row.evidence = unread->evidence;
    } else {
        row.verdict = LKS_CONFORMS;
    }
    return row;
}

static void judge_missing(struct lks_judge *j, const struct lks_pin *pin,
                          const struct lks_reading *r)
{
    struct lks_str sides = shown_aspects(j, pin->pin);
    const char *gone = has_aspects(pin->pin) ? "not loaded" : "absent";
    (void)lks_conform_row(
        j, &(struct lks_judgement){
               .subject = pin->subject,
               .pinned = pin->pinned,
               .actual = sides.len == 0
                             ? LKS_STR("absent")
                             : lks_conform_text(j, "%s; %" LKS_STR_FMT, gone, LKS_STR_ARG(sides)),
               .of = {"", 0},
               .verdict = LKS_DRIFT,
               .cause = LKS_CAUSE_MISSING,
               .evidence = r->evidence,
           });
}

/* What runs or would be loaded. The package speaks for a component that nothing else tells of, and
 * not for one that was looked for and is not there, or could not be read. Of readings that
 * contradict each other the one counts that the pin does not hold for. */
static const struct lks_reading *installed(const struct lks_judge *j, const struct lks_pin *pin)
{
    const struct lks_component *c = pin->pin;
    size_t count;
    const struct lks_reading *first = lks_tuple_range(j->tuple, c->name, &count);
    for (size_t i = 0; i < count; i++) {
        if (first[i].state != LKS_MEASURED || !lks_conform_holds(pin, &first[i]))
            return &first[i];
    }
    return first != NULL || has_aspects(c) ? first : package_of(j, c);
}

static void judge_installed(struct lks_judge *j, const struct lks_pin *pin)
{
    const struct lks_component *c = pin->pin;
    const struct lks_reading *r = installed(j, pin);
    if (r == NULL && lks_conform_elsewhere(j, c))
        return;
    if (r == NULL || r->state == LKS_UNMEASURED) {
        lks_conform_unmeasured(j, pin->subject, pin->pinned, r);
        return;
    }
    if (r->state == LKS_ABSENT) {
        judge_missing(j, pin, r);
        return;
    }
    struct lks_judgement row = judge_version(j, pin, r);
    (void)lks_conform_row(j, &row);
    if (c->modules.len > 0)
        judge_aspect_text(j, c, "modules", c->modules);
    if (row.verdict == LKS_CONFORMS && is_version(c->version, r->value, pin->scheme))
        lks_conform_build(j, c);
}

/* Deliberately not there: neither the software nor its package. */
static void judge_absent(struct lks_judge *j, const struct lks_pin *pin)
{
    const struct lks_reading *r = lks_tuple_component(j->tuple, pin->pin->name);
    const struct lks_reading *package = package_of(j, pin->pin);
    if (r == NULL && lks_conform_elsewhere(j, pin->pin))
        return;
    if (r != NULL && r->state == LKS_ABSENT && package != NULL && package->state == LKS_UNMEASURED)
        r = package;
    if (r == NULL || r->state == LKS_UNMEASURED) {
        lks_conform_unmeasured(j, pin->subject, pin->pinned, r);
        return;
    }
    bool there = r->state == LKS_MEASURED;
    (void)lks_conform_row(j, &(struct lks_judgement){
                                 .subject = pin->subject,
                                 .pinned = pin->pinned,
                                 .actual = there ? r->value : LKS_STR("absent"),
                                 .of = {"", 0},
                                 .verdict = there ? LKS_DRIFT : LKS_CONFORMS,
                                 .cause = there ? LKS_CAUSE_UNWANTED : LKS_CAUSE_NONE,
                                 .evidence = r->evidence,
                             });
}

/* Copies of images -------------------------------------------------------------------------- */

/* What the copies on a node come to. */
struct copies {
    const struct lks_reading *equal;
    const struct lks_reading *other;  /* the first of another version, */
    const struct lks_reading *mapped; /* and the first such that a process runs */
    const struct lks_reading *unread; /* a copy in a process first */
    size_t others;
};

/* A CUDA run time has numbers of its own behind the release's first two: 13.0.96 is that of 13.0.2,
 * and all a library of an image tells is 13.0. */
static bool is_of_release(const struct lks_pin *pin, const struct lks_reading *r)
{
    struct lks_str rest, major, minor;
    (void)lks_str_cut(r->value, '.', &major, &rest);
    (void)lks_str_cut(rest, '.', &minor, &rest);
    if (!lks_str_is(pin->pin->name, "cuda") || minor.len == 0)
        return false;
    struct lks_str release = {r->value.ptr, major.len + 1 + minor.len};
    return lks_version_covers(release, pin->pin->version);
}

static void note_copy(struct copies *found, const struct lks_pin *pin, const struct lks_reading *r)
{
    bool process = lks_str_is(r->part, "process");
    if (!lks_node_copy_of_image(r) || r->state == LKS_ABSENT)
        return;
    if (r->state == LKS_UNMEASURED) {
        found->unread = found->unread == NULL || process ? r : found->unread;
        return;
    }
    if (lks_conform_holds(pin, r) || is_of_release(pin, r)) {
        found->equal = found->equal == NULL ? r : found->equal;
        return;
    }
    found->others++;
    found->other = found->other == NULL ? r : found->other;
    found->mapped = found->mapped == NULL && process ? r : found->mapped;
}

static const struct lks_reading *copies_of(const struct lks_judge *j, const struct lks_component *c,
                                           const char *what, size_t *count)
{
    char name[2 * ASPECT_SIZE];
    snprintf(name, sizeof(name), "copy.%" LKS_STR_FMT "%s", LKS_STR_ARG(c->name), what);
    return lks_tuple_range(j->tuple, lks_str_from(name), count);
}

static struct copies look_at_copies(const struct lks_judge *j, const struct lks_pin *pin)
{
    struct copies found = {0};
    size_t count;
    const struct lks_reading *first = copies_of(j, pin->pin, "", &count);
    for (size_t i = 0; i < count; i++)
        note_copy(&found, pin, &first[i]);
    return found;
}

/* Why no copy was found, where none was searched for: the search was left out or did not come to
 * its end. A single place that was left out does not matter. NULL where all was searched. */
static const struct lks_reading *unsearched(const struct lks_judge *j,
                                            const struct lks_component *c)
{
    size_t count;
    const struct lks_reading *own = lks_node_best(j->tuple, c->name);
    const struct lks_reading *r = lks_tuple_find(j->tuple, "probe.libraries");
    if (r != NULL && r->state == LKS_UNMEASURED)
        return r;
    r = lks_tuple_range(j->tuple, LKS_STR("search.skipped"), &count);
    for (; count > 0; count--, r++) {
        if (lks_str_is(r->of, "all places") || r->state == LKS_UNMEASURED)
            return r;
    }
    bool failed =
        own != NULL && own->state == LKS_UNMEASURED && lks_str_starts(own->evidence, "probe ");
    return failed ? own : NULL;
}

static struct lks_str shown_copy(struct lks_judge *j, const struct copies *found)
{
    const struct lks_reading *r = found->equal;
    if (found->others == 0)
        return r->value;
    return lks_conform_text(j, "%" LKS_STR_FMT "; beside it %" LKS_STR_FMT " (%" LKS_STR_FMT "%s)",
                            LKS_STR_ARG(r->value), LKS_STR_ARG(found->other->value),
                            LKS_STR_ARG(found->other->of), found->others > 1 ? " and others" : "");
}

static struct lks_judgement judge_copies(struct lks_judge *j, const struct lks_pin *pin,
                                         const struct copies *found)
{
    struct lks_judgement row = {
        .subject = pin->subject, .pinned = pin->pinned, .of = {"", 0}, .evidence = {"", 0}};
    const struct lks_reading *odd = found->mapped != NULL  ? found->mapped
                                    : found->equal == NULL ? found->other
                                                           : NULL;
    bool runs_unread = found->unread != NULL && lks_str_is(found->unread->part, "process");
    const struct lks_reading *r = odd != NULL ? odd : found->equal;
    const struct lks_reading *skipped = unsearched(j, pin->pin);
    if (odd != NULL) {
        row.verdict = LKS_DRIFT;
        row.cause = LKS_CAUSE_COPIES;
        row.actual = odd->value;
    } else if (runs_unread || (found->equal == NULL && found->unread != NULL)) {
        row.verdict = LKS_NOT_MEASURED;
        row.cause = LKS_CAUSE_UNMEASURED;
        row.actual = found->unread->value;
        r = found->unread;
    } else if (found->equal == NULL && skipped != NULL) {
        row.verdict = LKS_NOT_MEASURED;
        row.cause = LKS_CAUSE_UNMEASURED;
        row.actual = lks_conform_text(j, "copies were not searched for: %" LKS_STR_FMT,
                                      LKS_STR_ARG(skipped->value));
        row.evidence = skipped->evidence;
    } else if (found->equal == NULL) {
        row.verdict = LKS_WITH_IMAGE;
        row.actual = LKS_STR("no image on this node");
    } else {
        row.actual = shown_copy(j, found);
    }
    row.value = LKS_STR(""); /* what a job loads comes with it, whatever lies on the node */
    row.of = r != NULL && row.verdict != LKS_CONFORMS ? r->of : row.of;
    row.evidence = r != NULL ? r->evidence : row.evidence;
    return row;
}

static bool is_pinned_copy(const struct lks_pin *pin, const struct lks_reading *copies,
                           size_t count, struct lks_str path)
{
    for (; count > 0; count--, copies++) {
        if (lks_str_eq(copies->of, path) && lks_node_copy_of_image(copies) &&
            copies->state == LKS_MEASURED &&
            is_version(pin->pin->version, copies->value, pin->scheme))
            return true;
    }
    return false;
}

/* The build ids of the copies that have the pinned version; copies are not hashed. */
static void judge_image_build(struct lks_judge *j, const struct lks_pin *pin)
{
    const struct lks_doc *build = lks_doc_member(pin->pin->doc, "build");
    const struct lks_doc *first = build != NULL ? build->first : NULL;
    for (const struct lks_doc *item = first; item != NULL; item = item->next) {
        char what[ASPECT_SIZE];
        size_t count, copy_count;
        const struct lks_reading *copies = copies_of(j, pin->pin, "", &copy_count);
        snprintf(what, sizeof(what), ".%" LKS_STR_FMT, LKS_STR_ARG(item->key));
        const struct lks_reading *ids = copies_of(j, pin->pin, what, &count);
        struct lks_readings all = {0};
        if (count > 0)
            all = lks_conform_called(j, ids->name);
        all.count = 0;
        for (size_t i = 0; i < count && all.list != NULL; i++) {
            if (is_pinned_copy(pin, copies, copy_count, ids[i].of))
                all.list[all.count++] = &ids[i];
        }
        snprintf(what, sizeof(what), "build.%" LKS_STR_FMT, LKS_STR_ARG(item->key));
        judge_text(j, pin->pin, what, item->text, &all);
    }
}

/* Jobs bring it: what counts is what their images have and not what the system has. */
static void judge_image(struct lks_judge *j, const struct lks_pin *pin)
{
    struct copies found = look_at_copies(j, pin);
    struct lks_judgement row = judge_copies(j, pin, &found);
    (void)lks_conform_row(j, &row);
    if (row.verdict == LKS_CONFORMS &&
        is_version(pin->pin->version, found.equal->value, pin->scheme))
        judge_image_build(j, pin);
}

void lks_conform_component(struct lks_judge *j, const struct lks_component *c)
{
    struct lks_range range;
    struct lks_pin pin = {
        .subject = c->label,
        .pinned = lks_conform_pinned(j, c),
        .holds = holds_version,
        .pin = c,
        .window = lks_conform_window(j, c, &range),
        .scheme = lks_facts_scheme(j->facts, c->name),
    };
    if (c->version.len == 0)
        judge_absent(j, &pin);
    else if (lks_str_is(c->owner, "image"))
        judge_image(j, &pin);
    else
        judge_installed(j, &pin);
}
