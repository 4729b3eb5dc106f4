/* Software: the version that runs or would be loaded, its flavour and its build. */
#include "core/conform_judge.h"

#include <stdio.h>

/* "NAME.ASPECT" */
enum { ASPECT_SIZE = LKS_READING_NAME_MAX + 32 };

/* Versions ---------------------------------------------------------------------------------- */

static bool has(struct lks_str s, char c)
{
    return s.len > 0 && memchr(s.ptr, c, s.len) != NULL;
}

static bool is_of_package(const struct lks_reading *r)
{
    static const char suffix[] = ".package";
    size_t len = sizeof(suffix) - 1;
    return r->name.len > len && memcmp(r->name.ptr + r->name.len - len, suffix, len) == 0;
}

/* What `r` says with as much detail as `like`, a pin or a range, has. A package carries an epoch, a
 * revision and marks that nobody pins; a program that states its version may repeat them. Versions
 * in Debian's own order that are not a package's, such as a kernel's, mean all they say. */
static struct lks_str comparable(const struct lks_reading *r, struct lks_str like,
                                 enum lks_version_scheme scheme)
{
    struct lks_str v = r->value, head, tail;
    if (scheme != LKS_VERSION_DOTTED && !is_of_package(r))
        return v;
    if (!has(like, '-'))
        return lks_version_upstream(v);
    if (!has(like, ':') && lks_str_cut(v, ':', &head, &tail))
        v = tail;
    if (!has(like, '+')) {
        lks_str_cut(v, '+', &head, &tail);
        v = head;
    }
    return v;
}

static bool is_version(struct lks_str pin, const struct lks_reading *r,
                       enum lks_version_scheme scheme)
{
    return lks_version_cmp(pin, r->value, scheme) == 0 ||
           lks_version_cmp(pin, comparable(r, pin, scheme), scheme) == 0 ||
           (is_of_package(r) && lks_version_packaged(pin, r->value, scheme));
}

static bool holds_version(const struct lks_pin *pin, const struct lks_reading *r)
{
    if (is_version(pin->pin->version, r, pin->scheme))
        return true;
    struct lks_str v = comparable(r, pin->pin->window, pin->scheme);
    return pin->window != NULL && lks_range_has(pin->window, v, pin->scheme);
}

/* Aspects ----------------------------------------------------------------------------------- */

/* The reading called `name` that counts: a measured one, else any. */
static const struct lks_reading *called(const struct lks_judge *j, struct lks_str name)
{
    size_t count;
    const struct lks_reading *first = lks_tuple_range(j->tuple, name, &count);
    for (size_t i = 0; i < count; i++) {
        if (first[i].state == LKS_MEASURED)
            return &first[i];
    }
    return first;
}

/* The one of a side of a component. */
static const struct lks_reading *aspect(const struct lks_judge *j, const struct lks_component *c,
                                        const char *which)
{
    char name[ASPECT_SIZE];
    snprintf(name, sizeof(name), "%" LKS_STR_FMT ".%s", LKS_STR_ARG(c->name), which);
    return called(j, lks_str_from(name));
}

static bool is_measured(const struct lks_reading *r)
{
    return r != NULL && r->state == LKS_MEASURED;
}

/* A pin may name the whole version of the package, of which the software itself knows only its
 * part: then the package has to be the one, and the software to be of it. */
static bool fits_with_package(const struct lks_judge *j, const struct lks_pin *pin,
                              const struct lks_reading *r)
{
    const struct lks_reading *package = aspect(j, pin->pin, "package");
    return lks_judge_holds(pin, r) ||
           (is_measured(r) && is_measured(package) && lks_judge_holds(pin, package) &&
            is_version(r->value, package, pin->scheme));
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
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    lks_buf_init(&text, TEXT_MAX);
    for (size_t i = 0; i < LKS_COUNT(aspects); i++) {
        const struct lks_reading *r = aspect(j, c, aspects[i]);
        if (is_measured(r))
            lks_buf_addf(&text, "%s%s %" LKS_STR_FMT, text.len > 0 ? ", " : "", aspects[i],
                         LKS_STR_ARG(r->value));
    }
    return lks_judge_copy(j, &text);
}

/* The first side that is not what the running one is, or NULL. */
static const struct lks_reading *odd_aspect(const struct lks_judge *j, const struct lks_pin *pin,
                                            const struct lks_reading *running)
{
    for (size_t i = 0; i < LKS_COUNT(aspects); i++) {
        const struct lks_reading *r = aspect(j, pin->pin, aspects[i]);
        if (is_measured(r) && !is_version(running->value, r, pin->scheme))
            return r;
    }
    return NULL;
}

static const struct lks_reading *unread_aspect(const struct lks_judge *j,
                                               const struct lks_component *c)
{
    for (size_t i = 0; i < LKS_COUNT(aspects); i++) {
        const struct lks_reading *r = aspect(j, c, aspects[i]);
        if (r != NULL && r->state == LKS_UNMEASURED)
            return r;
    }
    return NULL;
}

/* Flavour and build ------------------------------------------------------------------------- */

/* Digits in hexadecimal are written either way. */
static bool holds_text(const struct lks_pin *pin, const struct lks_reading *r)
{
    return lks_str_eq_nocase(pin->pinned, r->value);
}

static void judge_aspect_text(struct lks_judge *j, const struct lks_component *c, const char *which,
                              struct lks_str pinned, struct lks_str only_of)
{
    char name[ASPECT_SIZE];
    snprintf(name, sizeof(name), "%" LKS_STR_FMT ".%s", LKS_STR_ARG(c->name), which);
    struct lks_pin pin = {
        .subject = lks_judge_text(j, "%" LKS_STR_FMT ".%s", LKS_STR_ARG(c->label), which),
        .pinned = pinned,
        .holds = holds_text,
        .changed = LKS_CAUSE_OTHER_BUILD,
        .gone = LKS_CAUSE_MISSING,
    };
    struct lks_readings all = lks_judge_called(j, lks_str_from(name)), some = {all.list, 0};
    for (size_t i = 0; i < all.count; i++) {
        if (only_of.len == 0 || lks_str_eq(all.list[i]->of, only_of))
            some.list[some.count++] = all.list[i];
    }
    (void)lks_judge_readings(j, &pin, &some);
}

void lks_judge_build(struct lks_judge *j, const struct lks_component *c, struct lks_str only_of)
{
    const struct lks_doc *build = lks_doc_member(c->doc, "build");
    const struct lks_doc *first = build != NULL ? build->first : NULL;
    for (const struct lks_doc *item = first; item != NULL; item = item->next) {
        char which[ASPECT_SIZE];
        snprintf(which, sizeof(which), "build.%" LKS_STR_FMT, LKS_STR_ARG(item->key));
        judge_aspect_text(j, c, which, item->text, only_of);
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
    const struct lks_reading *odd = sided ? odd_aspect(j, pin, r) : NULL;
    const struct lks_reading *unread = sided ? unread_aspect(j, pin->pin) : NULL;
    if (odd != NULL) {
        row.cause = LKS_CAUSE_HALF_UPGRADED;
        row.actual = shown_aspects(j, pin->pin);
        row.evidence = odd->evidence;
    } else if (!fits_with_package(j, pin, r)) {
        row.cause = LKS_CAUSE_OTHER_VERSION;
    } else if (unread != NULL) {
        row.verdict = LKS_NOT_MEASURED;
        row.cause = LKS_CAUSE_UNMEASURED;
        row.actual = lks_judge_text(j, "%" LKS_STR_FMT "; %" LKS_STR_FMT ": %" LKS_STR_FMT,
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
    (void)lks_judge_row(j, &(struct lks_judgement){
                               .subject = pin->subject,
                               .pinned = pin->pinned,
                               .actual = sides.len == 0 ? LKS_STR("absent")
                                                        : lks_judge_text(j, "%s; %" LKS_STR_FMT,
                                                                         gone, LKS_STR_ARG(sides)),
                               .of = {"", 0},
                               .verdict = LKS_DRIFT,
                               .cause = LKS_CAUSE_MISSING,
                               .evidence = r->evidence,
                           });
}

/* What runs or would be loaded. The package speaks for a component that nothing else tells of, and
 * not for one that was looked for and is not there, or could not be read. */
static const struct lks_reading *installed(const struct lks_judge *j, const struct lks_component *c)
{
    const struct lks_reading *r = called(j, c->name);
    return r != NULL || has_aspects(c) ? r : aspect(j, c, "package");
}

static void judge_installed(struct lks_judge *j, const struct lks_pin *pin)
{
    const struct lks_component *c = pin->pin;
    const struct lks_reading *r = installed(j, c);
    if (r == NULL && lks_judge_elsewhere(j, c))
        return;
    if (r == NULL || r->state == LKS_UNMEASURED) {
        lks_judge_unmeasured(j, pin->subject, pin->pinned, r);
        return;
    }
    if (r->state == LKS_ABSENT) {
        judge_missing(j, pin, r);
        return;
    }
    struct lks_judgement row = judge_version(j, pin, r);
    (void)lks_judge_row(j, &row);
    if (c->modules.len > 0)
        judge_aspect_text(j, c, "modules", c->modules, (struct lks_str){"", 0});
    if (row.verdict == LKS_CONFORMS && is_version(c->version, r, pin->scheme))
        lks_judge_build(j, c, (struct lks_str){"", 0});
}

/* Deliberately not there: neither the software nor its package. */
static void judge_absent(struct lks_judge *j, const struct lks_pin *pin)
{
    const struct lks_reading *r = lks_tuple_component(j->tuple, pin->pin->name);
    const struct lks_reading *package = aspect(j, pin->pin, "package");
    if (r == NULL && lks_judge_elsewhere(j, pin->pin))
        return;
    if (r != NULL && r->state == LKS_ABSENT && package != NULL && package->state == LKS_UNMEASURED)
        r = package;
    if (r == NULL || r->state == LKS_UNMEASURED) {
        lks_judge_unmeasured(j, pin->subject, pin->pinned, r);
        return;
    }
    bool there = r->state == LKS_MEASURED;
    (void)lks_judge_row(j, &(struct lks_judgement){
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

/* Of the places where an image puts a library. */
static bool is_image_copy(const struct lks_reading *r)
{
    static const char *const places[] = {"python", "container", "process"};
    for (size_t i = 0; i < LKS_COUNT(places); i++) {
        if (lks_str_is(r->part, places[i]) && r->state != LKS_ABSENT)
            return true;
    }
    return false;
}

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
    if (!is_image_copy(r))
        return;
    if (r->state == LKS_UNMEASURED) {
        found->unread = found->unread == NULL || process ? r : found->unread;
        return;
    }
    if (lks_judge_holds(pin, r) || is_of_release(pin, r)) {
        found->equal = found->equal == NULL ? r : found->equal;
        return;
    }
    found->others++;
    found->other = found->other == NULL ? r : found->other;
    found->mapped = found->mapped == NULL && process ? r : found->mapped;
}

static struct copies look_at_copies(const struct lks_judge *j, const struct lks_pin *pin)
{
    struct copies found = {0};
    char name[ASPECT_SIZE];
    size_t count;
    snprintf(name, sizeof(name), "copy.%" LKS_STR_FMT, LKS_STR_ARG(pin->pin->name));
    const struct lks_reading *first = lks_tuple_range(j->tuple, lks_str_from(name), &count);
    for (size_t i = 0; i < count; i++)
        note_copy(&found, pin, &first[i]);
    return found;
}

static struct lks_str shown_copy(struct lks_judge *j, const struct copies *found)
{
    const struct lks_reading *r = found->equal;
    if (found->others == 0)
        return r->value;
    return lks_judge_text(j, "%" LKS_STR_FMT "; beside it %" LKS_STR_FMT " (%" LKS_STR_FMT "%s)",
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
    if (odd != NULL) {
        row.verdict = LKS_DRIFT;
        row.cause = LKS_CAUSE_COPIES;
        row.actual = odd->value;
    } else if (runs_unread || (found->equal == NULL && found->unread != NULL)) {
        row.verdict = LKS_NOT_MEASURED;
        row.cause = LKS_CAUSE_UNMEASURED;
        row.actual = found->unread->value;
        r = found->unread;
    } else if (found->equal == NULL) {
        row.verdict = LKS_WITH_IMAGE;
        row.actual = LKS_STR("no image on this node");
    } else {
        row.actual = shown_copy(j, found);
    }
    row.of = r != NULL && row.verdict != LKS_CONFORMS ? r->of : row.of;
    row.evidence = r != NULL ? r->evidence : row.evidence;
    return row;
}

/* Jobs bring it: what counts is what their images have and not what the system has. */
static void judge_image(struct lks_judge *j, const struct lks_pin *pin)
{
    struct copies found = look_at_copies(j, pin);
    struct lks_judgement row = judge_copies(j, pin, &found);
    (void)lks_judge_row(j, &row);
    if (row.verdict == LKS_CONFORMS && is_version(pin->pin->version, found.equal, pin->scheme))
        lks_judge_build(j, pin->pin, found.equal->of);
}

void lks_judge_component(struct lks_judge *j, const struct lks_component *c)
{
    struct lks_range range;
    struct lks_pin pin = {
        .subject = c->label,
        .pinned = lks_judge_pinned(j, c),
        .holds = holds_version,
        .pin = c,
        .window = lks_judge_window(j, c, &range),
        .scheme = lks_facts_scheme(j->facts, c->name),
    };
    if (c->version.len == 0)
        judge_absent(j, &pin);
    else if (lks_str_is(c->owner, "image"))
        judge_image(j, &pin);
    else
        judge_installed(j, &pin);
}
