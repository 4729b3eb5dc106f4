/* Settings by their path, and the environment of the collectives. */
#include "codec/notation/glob.h"
#include "core/conform/conform_judge.h"
#include "core/conform/node_readings.h"
#include "model/schema/schema.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    TEXT_MAX = 1024 * 1024,
    NUMBER_SIZE = 32,
};

/* Values ------------------------------------------------------------------------------------ */

/* A scalar as a reading has it. Numbers need a place to be written to. */
static struct lks_str scalar_text(const struct lks_doc *doc, char number[NUMBER_SIZE])
{
    if (doc->kind == LKS_DOC_BOOL)
        return doc->truth ? LKS_STR("true") : LKS_STR("false");
    if (doc->kind == LKS_DOC_TEXT)
        return doc->text;
    snprintf(number, NUMBER_SIZE, "%" PRId64, doc->number);
    return lks_str_from(number);
}

/* Word by word: a file in /proc separates by tabs what a stack separates by a blank. */
static bool same_words(struct lks_str a, struct lks_str b)
{
    struct lks_str x, y;
    for (;;) {
        bool more = lks_str_word(&a, &x), other = lks_str_word(&b, &y);
        if (more != other)
            return false;
        if (!more)
            return true;
        if (!lks_str_eq(x, y))
            return false;
    }
}

static bool holds_scalar(const struct lks_pin *pin, const struct lks_reading *r)
{
    char number[NUMBER_SIZE];
    return same_words(scalar_text(pin->doc, number), r->value);
}

/* The words of all elements one after the other, as a list in the order it must have. */
static bool holds_list(const struct lks_pin *pin, const struct lks_reading *r)
{
    struct lks_str rest = r->value, word;
    char number[NUMBER_SIZE];
    for (const struct lks_doc *item = pin->doc->first; item != NULL; item = item->next) {
        struct lks_str wanted = scalar_text(item, number), each;
        while (lks_str_word(&wanted, &each)) {
            if (!lks_str_word(&rest, &word) || !lks_str_eq(word, each))
                return false;
        }
    }
    return !lks_str_word(&rest, &word);
}

static bool has_element(const struct lks_doc *list, struct lks_str word)
{
    char number[NUMBER_SIZE];
    for (const struct lks_doc *item = list->first; item != NULL; item = item->next) {
        if (lks_str_eq(scalar_text(item, number), word))
            return true;
    }
    return false;
}

/* The same elements in any order, however often each is named. */
static bool holds_set(const struct lks_pin *pin, const struct lks_reading *r)
{
    struct lks_str rest = r->value, word;
    char number[NUMBER_SIZE];
    while (lks_str_word(&rest, &word)) {
        if (!has_element(pin->doc, word))
            return false;
    }
    for (const struct lks_doc *item = pin->doc->first; item != NULL; item = item->next) {
        if (!lks_facts_words_have(r->value, scalar_text(item, number)))
            return false;
    }
    return true;
}

/* Skip words of `rest` up to and including `word`; false where it does not come any more. */
static bool skip_to(struct lks_str *rest, struct lks_str word)
{
    struct lks_str each;
    while (lks_str_word(rest, &each)) {
        if (lks_str_eq(each, word))
            return true;
    }
    return false;
}

/* Parameters that the kernel or the system takes as often as they come. */
static const char *const repeated[] = {
    "acpi_osi",   "console", "crashkernel",        "default_hugepagesz", "earlycon", "hugepages",
    "hugepagesz", "memmap",  "modprobe.blacklist", "module_blacklist",   "pci",      "rd.*",
    "systemd.*",  "video",
};

static struct lks_str key_of(struct lks_str word)
{
    struct lks_str key, value;
    lks_str_cut(word, '=', &key, &value);
    return key;
}

static bool may_repeat(struct lks_str key)
{
    for (size_t i = 0; i < LKS_COUNT(repeated); i++) {
        if (lks_glob_match(lks_str_from(repeated[i]), key))
            return true;
    }
    return false;
}

/* The kernel does not tell '-' and '_' in a name apart. */
static bool same_key(struct lks_str a, struct lks_str b)
{
    for (size_t i = 0; i < a.len && a.len == b.len; i++) {
        char x = a.ptr[i] == '-' ? '_' : a.ptr[i], y = b.ptr[i] == '-' ? '_' : b.ptr[i];
        if (x != y)
            return false;
    }
    return a.len == b.len;
}

/* The last word of `line` with this key, or an empty one. */
static struct lks_str last_of(struct lks_str line, struct lks_str key)
{
    struct lks_str last = {"", 0}, word;
    while (lks_str_word(&line, &word)) {
        if (same_key(key_of(word), key))
            last = word;
    }
    return last;
}

/* The last word of all elements with this key. */
static struct lks_str last_wanted(const struct lks_doc *list, struct lks_str key)
{
    struct lks_str last = {"", 0};
    for (const struct lks_doc *item = list->first; item != NULL; item = item->next) {
        struct lks_str here = last_of(item->text, key);
        last = here.len > 0 ? here : last;
    }
    return last;
}

/* What takes the place of the pinned parameter `word` later in the line; empty: nothing does. */
static struct lks_str overriding(const struct lks_doc *list, struct lks_str line,
                                 struct lks_str word)
{
    struct lks_str key = key_of(word), last = last_of(line, key);
    bool other = !may_repeat(key) && !lks_str_eq(last, last_wanted(list, key));
    return other ? last : (struct lks_str){"", 0};
}

/* All of them, in this order, with anything between but what undoes one: later parameters win over
 * earlier ones. */
static bool holds_cmdline(const struct lks_pin *pin, const struct lks_reading *r)
{
    struct lks_str rest = r->value;
    if (holds_list(pin, r))
        return true; /* nothing but these */
    for (const struct lks_doc *item = pin->doc->first; item != NULL; item = item->next) {
        struct lks_str wanted = item->text, each;
        while (lks_str_word(&wanted, &each)) {
            if (!skip_to(&rest, each) || overriding(pin->doc, r->value, each).len > 0)
                return false;
        }
    }
    return true;
}

/* Not to have a thing is what turning it off comes to: no MIG on a GPU that has none. */
static bool is_off(const struct lks_doc *doc)
{
    return (doc->kind == LKS_DOC_BOOL && !doc->truth) ||
           (doc->kind == LKS_DOC_LIST && doc->count == 0) ||
           (doc->kind == LKS_DOC_TEXT && lks_str_is(doc->text, "disabled"));
}

/* A value as people read it: the elements of a list with blanks between. */
static struct lks_str shown(struct lks_judge *j, const struct lks_doc *doc)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    char number[NUMBER_SIZE];
    if (doc->kind == LKS_DOC_TEXT)
        return doc->text;
    if (doc->kind != LKS_DOC_LIST)
        lks_buf_add(&text, scalar_text(doc, number));
    if (doc->kind == LKS_DOC_LIST && doc->count == 0)
        return LKS_STR("none");
    const struct lks_doc *first = doc->kind == LKS_DOC_LIST ? doc->first : NULL;
    for (const struct lks_doc *item = first; item != NULL; item = item->next) {
        lks_buf_add(&text, item != first ? LKS_STR(" ") : LKS_STR(""));
        lks_buf_add(&text, scalar_text(item, number));
    }
    return lks_conform_copy(j, &text);
}

/* What is different ------------------------------------------------------------------------- */

/* The parameters that are missing or undone, or that their order is another. */
static struct lks_str shown_cmdline(struct lks_judge *j, const struct lks_doc *list,
                                    const struct lks_reading *r)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    for (const struct lks_doc *item = list->first; item != NULL; item = item->next) {
        struct lks_str wanted = item->text, each;
        while (lks_str_word(&wanted, &each)) {
            struct lks_str other = overriding(list, r->value, each);
            if (!lks_facts_words_have(r->value, each))
                lks_buf_addf(&text, "%s%" LKS_STR_FMT, text.len > 0 ? ", " : "without ",
                             LKS_STR_ARG(each));
            else if (other.len > 0)
                lks_buf_addf(&text, "%s%" LKS_STR_FMT " reverts %" LKS_STR_FMT,
                             text.len > 0 ? ", " : "", LKS_STR_ARG(other), LKS_STR_ARG(each));
        }
    }
    if (text.len == 0)
        lks_buf_add(&text, LKS_STR("in another order"));
    return lks_conform_copy(j, &text);
}

/* Modes that change at the next reset or reboot, and what tells which they will be then. */
static const struct {
    const char *path;
    const char *pending;
} pendings[] = {
    {"settings.mig.mode", "gpu.mig_pending"},
    {"settings.ecc", "gpu.ecc_pending"},
};

static bool is_pending(const struct lks_doc *doc, struct lks_str value)
{
    char number[NUMBER_SIZE];
    struct lks_str wanted = scalar_text(doc, number);
    if (lks_str_eq(wanted, value))
        return true;
    return doc->kind == LKS_DOC_BOOL && lks_str_is(value, doc->truth ? "enabled" : "disabled");
}

static const char *pending_name(struct lks_str path)
{
    for (size_t i = 0; i < LKS_COUNT(pendings); i++) {
        if (lks_str_is(path, pendings[i].path))
            return pendings[i].pending;
    }
    return NULL;
}

/* What the device of `r` will have after its next reset, or NULL. */
static const struct lks_reading *next_of(const struct lks_judge *j, const char *name,
                                         const struct lks_reading *r)
{
    size_t count;
    const struct lks_reading *first = lks_tuple_range(j->tuple, lks_str_from(name), &count);
    for (size_t i = 0; i < count; i++) {
        if (lks_str_eq(first[i].of, r->of) && first[i].state == LKS_MEASURED)
            return &first[i];
    }
    return NULL;
}

/* All devices that do not have the mode will have it after the next reset. */
static bool all_pending(const struct lks_judge *j, const struct lks_pin *pin,
                        const struct lks_readings *readings)
{
    const char *name = pending_name(pin->subject);
    for (size_t i = 0; i < readings->count && name != NULL; i++) {
        const struct lks_reading *r = readings->list[i];
        const struct lks_reading *next = r->state == LKS_MEASURED ? next_of(j, name, r) : NULL;
        bool waits = next != NULL && is_pending(pin->doc, next->value);
        if (!lks_conform_holds(pin, r) && !waits)
            return false;
    }
    return name != NULL;
}

/* All devices will have the mode, whichever they are: nothing has to be looked at one by one. */
static bool none_differs(const struct lks_judge *j, const struct lks_pin *pin, const char *name)
{
    size_t count;
    const struct lks_reading *next = lks_tuple_range(j->tuple, lks_str_from(name), &count);
    for (; count > 0; count--, next++) {
        if (next->state == LKS_MEASURED && !is_pending(pin->doc, next->value))
            return false;
    }
    return true;
}

/* A device that has the mode now and will have another after its next reset is no more golden than
 * a driver that was replaced on disk. */
static void judge_next(struct lks_judge *j, const struct lks_pin *pin,
                       const struct lks_readings *readings)
{
    const char *name = pending_name(pin->subject);
    if (name == NULL || none_differs(j, pin, name))
        return;
    for (size_t i = 0; i < readings->count; i++) {
        const struct lks_reading *next = next_of(j, name, readings->list[i]);
        if (next == NULL || is_pending(pin->doc, next->value))
            continue;
        (void)lks_conform_row(j, &(struct lks_judgement){
                                     .subject = pin->subject,
                                     .pinned = pin->pinned,
                                     .actual = lks_conform_text(j, "%" LKS_STR_FMT " after a reset",
                                                                LKS_STR_ARG(next->value)),
                                     .of = next->of,
                                     .verdict = LKS_DRIFT,
                                     .cause = LKS_CAUSE_PENDING,
                                     .evidence = next->evidence,
                                 });
        return;
    }
}

/* Walking ----------------------------------------------------------------------------------- */

static const struct lks_reading *first_failing(const struct lks_pin *pin,
                                               const struct lks_readings *readings)
{
    for (size_t i = 0; i < readings->count; i++) {
        if (!lks_conform_holds(pin, readings->list[i]) && readings->list[i]->state == LKS_MEASURED)
            return readings->list[i];
    }
    return NULL;
}

/* One value, held against the readings called `name`. */
static void judge_value(struct lks_judge *j, struct lks_str path, struct lks_str name,
                        const struct lks_doc *doc, bool set)
{
    bool list = doc->kind == LKS_DOC_LIST;
    bool cmdline = lks_str_is(path, "settings.kernel_cmdline");
    struct lks_pin pin = {
        .subject = path,
        .pinned = shown(j, doc),
        .holds = cmdline ? holds_cmdline
                 : set   ? holds_set
                 : list  ? holds_list
                         : holds_scalar,
        .absent_holds = is_off(doc) && lks_node_setting_lacks_as_off(path),
        .changed = LKS_CAUSE_SETTING,
        .gone = lks_str_starts(path, "settings.clocks.") ? LKS_CAUSE_SETTING : LKS_CAUSE_MISSING,
        .doc = doc,
    };
    struct lks_readings readings = lks_conform_called(j, name);
    struct lks_judgement *row = lks_conform_readings(j, &pin, &readings);
    if (row != NULL)
        lks_conform_each_gpu(j, row, &readings);
    if (row != NULL && row->verdict == LKS_CONFORMS)
        judge_next(j, &pin, &readings);
    if (row == NULL || row->verdict != LKS_DRIFT)
        return;
    const struct lks_reading *failing = first_failing(&pin, &readings);
    if (cmdline && failing != NULL)
        row->actual = shown_cmdline(j, doc, failing);
    if (all_pending(j, &pin, &readings))
        row->cause = LKS_CAUSE_PENDING;
}

static void walk(struct lks_judge *j, struct lks_str path, const struct lks_field *field,
                 const struct lks_doc *doc);

static void walk_form(struct lks_judge *j, struct lks_str path, const struct lks_form *form,
                      const struct lks_doc *map)
{
    struct lks_field field;
    for (size_t i = 0; lks_schema_at(form, i, &field); i++) {
        const struct lks_doc *item = lks_doc_member(map, field.key);
        if (item == NULL)
            continue;
        walk(j, lks_conform_path(j, path, item->key), &field, item);
    }
}

/* What a site compares beside the settings lockstep knows: a file, or any reading of the node. */
static struct lks_str reading_name(struct lks_str path)
{
    static const char other[] = "settings.other.";
    size_t len = sizeof(other) - 1;
    if (!lks_str_starts(path, other) || path.len == len || path.ptr[len] == '/')
        return path;
    return (struct lks_str){path.ptr + len, path.len - len};
}

static void walk(struct lks_judge *j, struct lks_str path, const struct lks_field *field,
                 const struct lks_doc *doc)
{
    if (field->shape.type == LKS_TYPE_FORM) {
        walk_form(j, path, field->shape.form, doc);
        return;
    }
    if (field->shape.type != LKS_TYPE_DICT) {
        judge_value(j, path, path, doc, (field->flags & LKS_FIELD_SET) != 0);
        return;
    }
    for (const struct lks_doc *item = doc->first; item != NULL; item = item->next) {
        struct lks_str inner = lks_conform_path(j, path, item->key);
        judge_value(j, inner, reading_name(inner), item, false);
    }
}

void lks_conform_settings(struct lks_judge *j)
{
    struct lks_field field = {0};
    bool known = lks_schema_field(&lks_stack_form, LKS_STR("settings"), &field);
    LKS_ASSERT(known);
    if (j->stack->settings != NULL)
        walk(j, LKS_STR("settings"), &field, j->stack->settings);
}

/* Jobs may bring their own environment; what the node itself sets must be what is pinned. Where the
 * file of variables could not be read any of them may be set. */
void lks_conform_tuning(struct lks_judge *j)
{
    const struct lks_doc *env = lks_doc_member(j->stack->tuning, "env");
    const struct lks_doc *first = env != NULL ? env->first : NULL;
    const struct lks_reading *file = lks_tuple_find(j->tuple, "tuning.env.*");
    for (const struct lks_doc *item = first; item != NULL; item = item->next) {
        struct lks_str path = lks_conform_path(j, LKS_STR("tuning.env"), item->key);
        const struct lks_reading *r = lks_node_best(j->tuple, path);
        if (r != NULL && r->state != LKS_ABSENT)
            judge_value(j, path, path, item, false);
        else if (file != NULL && file->state == LKS_UNMEASURED)
            lks_conform_unmeasured(j, path, shown(j, item), file);
    }
}
