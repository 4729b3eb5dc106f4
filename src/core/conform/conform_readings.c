/* One pin against the readings it is about. */
#include "core/conform/conform_judge.h"
#include "core/conform/node_readings.h"

enum {
    SHOWN_MAX = 4, /* values or devices that a row names one by one */
    TEXT_MAX = 64 * 1024,
};

/* Texts ------------------------------------------------------------------------------------- */

static struct lks_str kept(struct lks_judge *j, struct lks_str text)
{
    if (text.ptr != NULL)
        return text;
    j->out->failed = LKS_E_LIMIT;
    return (struct lks_str){"", 0};
}

struct lks_str lks_conform_text(struct lks_judge *j, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct lks_str text = lks_arena_formatv(&j->out->arena, fmt, ap);
    va_end(ap);
    return kept(j, text);
}

struct lks_str lks_conform_path(struct lks_judge *j, struct lks_str a, struct lks_str b)
{
    char *text = lks_arena_alloc(&j->out->arena, a.len + 1 + b.len + 1);
    if (text == NULL)
        return kept(j, (struct lks_str){NULL, 0});
    memcpy(text, a.ptr, a.len);
    text[a.len] = '.';
    memcpy(text + a.len + 1, b.ptr, b.len);
    return (struct lks_str){text, a.len + 1 + b.len};
}

struct lks_str lks_conform_copy(struct lks_judge *j, const struct lks_buf *text)
{
    if (text->failed != LKS_OK)
        j->out->failed = LKS_E_LIMIT;
    return kept(j, lks_arena_copy(&j->out->arena, lks_buf_view(text)));
}

/* What several devices are called: by the first word of the first of them. */
static const char *devices_word(const struct lks_readings *readings)
{
    static const char *const words[][2] = {
        {"gpu", "GPUs"}, {"nic", "ports"}, {"nvme", "drives"}, {"nvswitch", "NVSwitches"}};
    struct lks_str kind, rest;
    lks_str_cut(readings->list[0]->of, ' ', &kind, &rest);
    for (size_t i = 0; i < LKS_COUNT(words); i++) {
        if (lks_str_is(kind, words[i][0]))
            return words[i][1];
    }
    return "places";
}

/* Readings ---------------------------------------------------------------------------------- */

struct lks_readings lks_conform_called(struct lks_judge *j, struct lks_str name)
{
    struct lks_readings found = {0};
    size_t count;
    const struct lks_reading *first = lks_tuple_range(j->tuple, name, &count);
    if (count == 0)
        return found;
    found.list = lks_arena_array(&j->out->arena, count, sizeof(const struct lks_reading *));
    if (found.list == NULL) {
        j->out->failed = LKS_E_LIMIT;
        return found;
    }
    for (size_t i = 0; i < count; i++)
        found.list[found.count++] = &first[i];
    return found;
}

bool lks_conform_holds(const struct lks_pin *pin, const struct lks_reading *r)
{
    return r->state == LKS_MEASURED ? pin->holds(pin, r)
                                    : r->state == LKS_ABSENT && pin->absent_holds;
}

/* What a reading is to a pin. */
enum fit { FITS, DIFFERS, UNREAD };

static enum fit fit_of(const struct lks_pin *pin, const struct lks_reading *r)
{
    return lks_conform_holds(pin, r) ? FITS : r->state == LKS_UNMEASURED ? UNREAD : DIFFERS;
}

struct tally {
    size_t count[3];                    /* by fit */
    const struct lks_reading *first[3]; /* of each fit */
    size_t absent;                      /* of those that differ */
    bool uniform;                       /* all say the same */
};

static bool says_the_same(const struct lks_reading *a, const struct lks_reading *b)
{
    return a->state == b->state && lks_str_eq(a->value, b->value) &&
           lks_str_eq(a->evidence, b->evidence);
}

static struct tally count_fits(const struct lks_pin *pin, const struct lks_readings *readings)
{
    struct tally t = {.uniform = true};
    enum fit fit = FITS;
    for (size_t i = 0; i < readings->count; i++) {
        const struct lks_reading *r = readings->list[i];
        bool same = i > 0 && says_the_same(r, readings->list[i - 1]);
        t.uniform = t.uniform && (same || i == 0);
        if (!same)
            fit = fit_of(pin, r);
        if (t.count[fit]++ == 0)
            t.first[fit] = r;
        t.absent += fit == DIFFERS && r->state == LKS_ABSENT;
    }
    return t;
}

static struct lks_str value_of(const struct lks_reading *r)
{
    return r->state == LKS_ABSENT ? LKS_STR("absent")
           : r->value.len == 0    ? LKS_STR("none")
                                  : r->value;
}

/* How many of `fit` say `value`. */
static size_t count_same(const struct lks_pin *pin, const struct lks_readings *readings,
                         enum fit fit, struct lks_str value)
{
    size_t same = 0;
    for (size_t i = 0; i < readings->count; i++) {
        const struct lks_reading *r = readings->list[i];
        same += fit_of(pin, r) == fit && lks_str_eq(value_of(r), value);
    }
    return same;
}

static bool is_among(struct lks_str value, const struct lks_str *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (lks_str_eq(list[i], value))
            return true;
    }
    return false;
}

/* "enabled on 2 of 8 GPUs", or the value alone where all have it. */
static struct lks_str shown_values(struct lks_judge *j, const struct lks_pin *pin,
                                   const struct lks_readings *readings, enum fit fit)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    struct lks_str seen[SHOWN_MAX];
    size_t shown = 0;
    bool more = false;
    for (size_t i = 0; i < readings->count; i++) {
        struct lks_str value = value_of(readings->list[i]);
        if (fit_of(pin, readings->list[i]) != fit || is_among(value, seen, shown))
            continue;
        more = shown == SHOWN_MAX;
        if (more)
            break;
        size_t same = count_same(pin, readings, fit, value);
        if (same == readings->count)
            return value;
        lks_buf_addf(&text, "%s%" LKS_STR_FMT " on %zu", shown > 0 ? ", " : "", LKS_STR_ARG(value),
                     same);
        seen[shown++] = value;
    }
    lks_buf_addf(&text, "%s of %zu %s", more ? ", ..." : "", readings->count,
                 devices_word(readings));
    return lks_conform_copy(j, &text);
}

/* Which devices, where it is not all of them. */
static struct lks_str shown_devices(struct lks_judge *j, const struct lks_pin *pin,
                                    const struct lks_readings *readings, enum fit fit, size_t among)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    size_t shown = 0;
    if (among == readings->count && among > 1)
        return (struct lks_str){"", 0};
    for (size_t i = 0; i < readings->count && shown < SHOWN_MAX; i++) {
        const struct lks_reading *r = readings->list[i];
        if (fit_of(pin, r) != fit || r->of.len == 0)
            continue;
        lks_buf_addf(&text, "%s%" LKS_STR_FMT, shown > 0 ? ", " : "", LKS_STR_ARG(r->of));
        shown++;
    }
    if (shown > 0 && among > shown)
        lks_buf_addf(&text, " and %zu more", among - shown);
    return lks_conform_copy(j, &text);
}

/* Rows -------------------------------------------------------------------------------------- */

static enum lks_cause cause_of(const struct lks_pin *pin, const struct tally *t)
{
    if (t->count[FITS] > 0)
        return LKS_CAUSE_PARTIAL;
    return t->absent == t->count[DIFFERS] ? pin->gone : pin->changed;
}

struct lks_judgement *lks_conform_readings(struct lks_judge *j, const struct lks_pin *pin,
                                           const struct lks_readings *readings)
{
    struct tally t = count_fits(pin, readings);
    if (readings->count == 0) {
        lks_conform_unmeasured(j, pin->subject, pin->pinned, NULL);
        return NULL;
    }
    enum fit fit = t.count[DIFFERS] > 0 ? DIFFERS : t.count[UNREAD] > 0 ? UNREAD : FITS;
    static const enum lks_verdict verdicts[] = {
        [FITS] = LKS_CONFORMS, [DIFFERS] = LKS_DRIFT, [UNREAD] = LKS_NOT_MEASURED};
    struct lks_judgement row = {
        .subject = pin->subject,
        .pinned = pin->pinned,
        .actual = t.uniform ? value_of(readings->list[0]) : shown_values(j, pin, readings, fit),
        .of = {"", 0},
        .verdict = verdicts[fit],
        .cause = fit == DIFFERS  ? cause_of(pin, &t)
                 : fit == UNREAD ? LKS_CAUSE_UNMEASURED
                                 : LKS_CAUSE_NONE,
        .evidence = t.first[fit]->evidence,
    };
    if (fit != FITS)
        row.of = shown_devices(j, pin, readings, fit, t.count[fit]);
    return lks_conform_row(j, &row);
}

void lks_conform_each_gpu(struct lks_judge *j, struct lks_judgement *row,
                          const struct lks_readings *readings)
{
    const struct lks_class *class = j->out->class;
    int64_t read = 0;
    for (size_t i = 0; i < readings->count; i++)
        read += lks_node_reading_of_gpu(readings->list[i]);
    if (row->verdict != LKS_CONFORMS || class == NULL || read == 0 || read >= class->gpus)
        return;
    row->verdict = LKS_NOT_MEASURED;
    row->cause = LKS_CAUSE_UNMEASURED;
    row->actual =
        lks_conform_text(j, "%" LKS_STR_FMT ", read of %lld of %lld GPUs", LKS_STR_ARG(row->actual),
                         (long long)read, (long long)class->gpus);
    j->out->unmeasured++;
}

/* Why there is no reading of something that is pinned. */
static struct lks_str never_read(struct lks_str subject)
{
    static const char hash[] = ".build.sha256";
    const size_t len = sizeof(hash) - 1;
    bool hashed = subject.len > len && memcmp(subject.ptr + subject.len - len, hash, len) == 0;
    return hashed ? LKS_STR("was not hashed") : LKS_STR("no probe reads this");
}

void lks_conform_unmeasured(struct lks_judge *j, struct lks_str subject, struct lks_str pinned,
                            const struct lks_reading *r)
{
    (void)lks_conform_row(j, &(struct lks_judgement){
                                 .subject = subject,
                                 .pinned = pinned,
                                 .actual = r != NULL ? r->value : never_read(subject),
                                 .of = r != NULL ? r->of : (struct lks_str){"", 0},
                                 .verdict = LKS_NOT_MEASURED,
                                 .cause = LKS_CAUSE_UNMEASURED,
                                 .evidence = r != NULL ? r->evidence : (struct lks_str){"", 0},
                             });
}

/* Pins -------------------------------------------------------------------------------------- */

struct lks_str lks_conform_scope(const struct lks_judge *j, const struct lks_component *c)
{
    const struct lks_component_kind *kind = lks_facts_component(j->facts, c->name);
    bool said = lks_doc_member(c->doc, "scope") != NULL;
    return said || kind == NULL ? c->scope : kind->scope;
}

bool lks_conform_elsewhere(const struct lks_judge *j, const struct lks_component *c)
{
    struct lks_str scope = lks_conform_scope(j, c);
    return lks_str_is(scope, "domain") || lks_str_is(scope, "site");
}

struct lks_str lks_conform_pinned(struct lks_judge *j, const struct lks_component *c)
{
    if (c->version.len == 0)
        return LKS_STR("absent");
    if (c->window.len == 0)
        return c->version;
    return lks_conform_text(j, "%" LKS_STR_FMT ", or %" LKS_STR_FMT, LKS_STR_ARG(c->version),
                            LKS_STR_ARG(c->window));
}

const struct lks_range *lks_conform_window(const struct lks_judge *j, const struct lks_component *c,
                                           struct lks_range *range)
{
    struct lks_err ignored = {0};
    if (c->window.len == 0)
        return NULL;
    enum lks_version_scheme scheme = lks_facts_scheme(j->facts, c->name);
    /* A window that does not parse is refused with its stack. */
    return lks_version_range_parse(c->window, scheme, range, &ignored) == LKS_OK ? range : NULL;
}
