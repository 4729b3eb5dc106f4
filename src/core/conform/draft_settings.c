/* The settings of a draft, by the table of a stack's settings, and what has no other place. */
#include "base/secret.h"
#include "core/conform/draft_parts.h"
#include "core/conform/node_readings.h"
#include "model/schema/schema.h"

#define SETTINGS "settings."
#define OTHER    "settings.other."
#define ENV      "tuning.env."

/* What could not be written down is said as such, and never cut. */
enum { KEY_MAX = 128, VALUE_MAX = 4096 }; /* bytes that a manifest takes */

static struct lks_str after(struct lks_str s, const char *prefix)
{
    size_t skip = strlen(prefix);
    return (struct lks_str){s.ptr + skip, s.len - skip};
}

/* Values ------------------------------------------------------------------------------------ */

/* Append `value` as `shape` has it, or nothing and say no. */
static bool put_value(struct lks_buf *out, const struct lks_shape *shape, struct lks_str value);

static bool put_bool(struct lks_buf *out, struct lks_str value)
{
    if (!lks_str_is(value, "true") && !lks_str_is(value, "false"))
        return false;
    lks_buf_add(out, value);
    return true;
}

static bool put_number(struct lks_buf *out, const struct lks_shape *shape, struct lks_str value)
{
    uint64_t number;
    if (!lks_str_number(value, (uint64_t)shape->max, &number) || (int64_t)number < shape->min)
        return false;
    lks_buf_addf(out, "%llu", (unsigned long long)number);
    return true;
}

static bool put_choice(struct lks_buf *out, const struct lks_shape *shape, struct lks_str value)
{
    for (size_t i = 0; shape->values[i] != NULL; i++) {
        if (!lks_str_is(value, shape->values[i]))
            continue;
        lks_buf_quote(out, value);
        return true;
    }
    return false;
}

static bool put_text(struct lks_buf *out, struct lks_str value)
{
    if (lks_str_trim(value).len == 0 || value.len > VALUE_MAX)
        return false;
    lks_buf_quote(out, value);
    return true;
}

static bool put_list(struct lks_buf *out, const struct lks_shape *shape, struct lks_str value)
{
    size_t before = out->len;
    int64_t count = 0;
    struct lks_str rest = value, word;
    lks_buf_addc(out, '[');
    for (; lks_str_word(&rest, &word); count++) {
        lks_buf_addf(out, "%s", count > 0 ? ", " : "");
        if (!put_value(out, shape->of, word) || count == shape->max) {
            lks_buf_truncate(out, before);
            return false;
        }
    }
    lks_buf_addc(out, ']');
    if (count >= shape->min)
        return true;
    lks_buf_truncate(out, before);
    return false;
}

static bool put_value(struct lks_buf *out, const struct lks_shape *shape, struct lks_str value)
{
    switch ((int)shape->type) {
    case LKS_TYPE_BOOL:
        return put_bool(out, value);
    case LKS_TYPE_NUMBER:
        return put_number(out, shape, value);
    case LKS_TYPE_CHOICE:
        return put_choice(out, shape, value);
    case LKS_TYPE_LIST:
        return put_list(out, shape, value);
    default:
        return put_text(out, value);
    }
}

/* Settings ---------------------------------------------------------------------------------- */

/* The machine boots either way, and updates of its image go from one to the other. */
static bool is_of_slot(struct lks_str parameter)
{
    return lks_str_starts(parameter, "rauc.slot=") || lks_str_starts(parameter, "ostree=");
}

/* The parameters that every host of a stack can have; what was taken out is a comment. */
static struct lks_str shared_parameters(struct lks_draft *d, struct lks_str value)
{
    struct lks_str rest = value, word;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf kept = LKS_BUF(LKS_READING_VALUE_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(LKS_READING_VALUE_MAX);
    while (lks_str_word(&rest, &word)) {
        struct lks_str key, tail;
        lks_str_cut(word, '=', &key, &tail);
        bool drop = lks_reading_parameter_of_host(word) || is_of_slot(word);
        struct lks_buf *to = drop ? &out : &kept;
        lks_buf_addf(to, "%s%" LKS_STR_FMT, to->len > 0 ? " " : "", LKS_STR_ARG(drop ? key : word));
    }
    if (out.len > 0)
        lks_draft_left_out(d, LKS_INFO, LKS_STR("settings.kernel_cmdline"),
                           "parameters of this host alone: %" LKS_STR_FMT,
                           LKS_STR_ARG(lks_buf_view(&out)));
    return LKS_DRAFT_TEXT(d, "%" LKS_STR_FMT, LKS_STR_ARG(lks_buf_view(&kept)));
}

/* Worth a word beside the value. */
static const struct {
    const char *path, *value, *remark;
} remarks[] = {
    {"unattended_upgrades", "true", "as it is here; a pinned node wants false"},
};

static const char *remark_on(struct lks_str path, struct lks_str value)
{
    for (size_t i = 0; i < LKS_COUNT(remarks); i++) {
        if (lks_str_is(path, remarks[i].path) && lks_str_is(value, remarks[i].value))
            return remarks[i].remark;
    }
    return NULL;
}

/* One setting, at `path` ("mig.mode"). What the table has no place for is left to the rest. */
static void put_setting(struct lks_draft *d, struct lks_buf *out, const struct lks_field *field,
                        struct lks_str path, ptrdiff_t depth)
{
    struct lks_str name = LKS_DRAFT_TEXT(d, SETTINGS "%" LKS_STR_FMT, LKS_STR_ARG(path));
    struct lks_accord_of of = lks_draft_accord(d, name);
    bool none = of.accord == LKS_ACCORD_ABSENT && field->shape.type == LKS_TYPE_LIST &&
                lks_node_setting_lacks_as_off(name); /* then a list of nothing says it */
    if (of.accord != LKS_ACCORD_ONE && !none)
        return;
    bool cmdline = lks_str_is(path, "kernel_cmdline");
    struct lks_str value = cmdline ? shared_parameters(d, of.value) : of.value;
    const char *remark = remark_on(path, value);
    size_t before = out->len;
    lks_buf_pad(out, ' ', 2 * depth);
    lks_buf_addf(out, "%s: ", field->key);
    bool fits = put_value(out, &field->shape, value);
    lks_buf_addf(out, "%s%s\n", remark != NULL ? " # " : "", remark != NULL ? remark : "");
    if (!fits)
        lks_buf_truncate(out, before);
    if (!fits && cmdline && value.len > 0)
        lks_draft_left_out(d, LKS_WARNING, name, "there are more than a manifest takes");
    if (fits || cmdline)
        lks_draft_said(d, name);
}

/* Maps whose keys are the writer's ---------------------------------------------------------- */

/* Why an entry cannot be written, or NULL. */
static const char *unwritable(struct lks_str key, struct lks_str value)
{
    if (lks_secret_key(key))
        return "its name is that of a secret";
    if (key.len == 0 || key.len > KEY_MAX)
        return "a manifest does not take a name of this length";
    if (lks_str_trim(value).len == 0)
        return "its value is empty";
    return value.len > VALUE_MAX ? "its value is too long for a manifest" : NULL;
}

/* Devices are meant to be alike. Modules, specifications and packages are not. */
static bool is_of_device(const struct lks_reading *r)
{
    static const char *const devices[] = {"gpu ", "nic ", "nvme ", "nvswitch "};
    for (size_t i = 0; i < LKS_COUNT(devices); i++) {
        if (lks_str_starts(r->of, devices[i]))
            return true;
    }
    return false;
}

/* Readings called `name` as an entry `key`; the answer is how many entries it made. */
static size_t put_entry(struct lks_draft *d, struct lks_buf *out, struct lks_str key,
                        struct lks_str name, ptrdiff_t depth)
{
    struct lks_accord_of of = lks_draft_accord(d, name);
    const char *why = of.accord == LKS_ACCORD_ONE ? unwritable(key, of.value) : NULL;
    lks_draft_said(d, name);
    if (of.accord == LKS_ACCORD_UNMEASURED)
        lks_draft_left_out(d, LKS_WARNING, name,
                           "%" LKS_STR_FMT "%scould not be read: %" LKS_STR_FMT,
                           LKS_STR_ARG(of.first->of), of.first->of.len > 0 ? ": " : "",
                           LKS_STR_ARG(of.first->value));
    else if (of.accord == LKS_ACCORD_SOME)
        lks_draft_left_out(d, LKS_WARNING, name, "it was read of fewer GPUs than there are");
    else if (of.accord == LKS_ACCORD_DIFFER)
        lks_draft_left_out(d, is_of_device(of.first) ? LKS_WARNING : LKS_INFO, name,
                           "there are several, and they differ");
    else if (why != NULL)
        lks_draft_left_out(d, LKS_INFO, name, "%s", why);
    if (of.accord != LKS_ACCORD_ONE || why != NULL)
        return 0;
    lks_buf_pad(out, ' ', 2 * depth);
    lks_buf_quote(out, key);
    lks_buf_addf(out, ": ");
    lks_buf_quote(out, of.value);
    lks_buf_addc(out, '\n');
    return 1;
}

/* All readings whose names begin with `prefix`, as a map from the rest of the name. */
static void put_entries(struct lks_draft *d, struct lks_buf *out, const char *prefix,
                        ptrdiff_t depth)
{
    size_t put = 0;
    for (size_t i = 0; i < d->tuple->count; i++) {
        struct lks_str name = d->tuple->readings[i].name;
        if (d->said[i] || !lks_str_starts(name, prefix))
            continue;
        if (put < LKS_STACK_ATTRIBUTES_MAX)
            put += put_entry(d, out, after(name, prefix), name, depth);
        else
            lks_draft_left_out(d, LKS_WARNING, name, "there are more than a manifest takes");
    }
}

/* Walking ----------------------------------------------------------------------------------- */

static void put_fields(struct lks_draft *d, struct lks_buf *out, const struct lks_form *form,
                       const char *path, ptrdiff_t depth);

/* Whether all that a form may not go without was measured. */
static bool is_complete(struct lks_draft *d, const struct lks_form *form, const char *path)
{
    struct lks_field f;
    for (size_t i = 0; lks_schema_at(form, i, &f); i++) {
        struct lks_str name = LKS_DRAFT_TEXT(d, SETTINGS "%s%s", path, f.key);
        if ((f.flags & LKS_FIELD_REQUIRED) != 0 &&
            lks_draft_accord(d, name).accord != LKS_ACCORD_ONE)
            return false;
    }
    return true;
}

/* A form or a map at `path`, which ends with a dot; nothing where nothing is in it. */
static void put_inner(struct lks_draft *d, struct lks_buf *out, const struct lks_field *field,
                      const char *path, ptrdiff_t depth)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf inner = {0};
    lks_buf_init(&inner, out->max);
    if (field->shape.type == LKS_TYPE_DICT)
        put_entries(d, &inner, LKS_DRAFT_TEXT(d, SETTINGS "%s", path).ptr, depth + 1);
    else if (is_complete(d, field->shape.form, path))
        put_fields(d, &inner, field->shape.form, path, depth + 1);
    if (inner.failed != LKS_OK)
        out->failed = inner.failed;
    if (inner.len == 0)
        return;
    lks_buf_pad(out, ' ', 2 * depth);
    lks_buf_addf(out, "%s:\n%" LKS_STR_FMT, field->key, LKS_STR_ARG(lks_buf_view(&inner)));
}

static void put_fields(struct lks_draft *d, struct lks_buf *out, const struct lks_form *form,
                       const char *path, ptrdiff_t depth)
{
    struct lks_field f;
    for (size_t i = 0; lks_schema_at(form, i, &f); i++) {
        struct lks_str full = LKS_DRAFT_TEXT(d, "%s%s", path, f.key);
        if (lks_str_is(full, "other"))
            continue; /* for the rest */
        if (f.shape.type == LKS_TYPE_FORM || f.shape.type == LKS_TYPE_DICT)
            put_inner(d, out, &f, LKS_DRAFT_TEXT(d, "%" LKS_STR_FMT ".", LKS_STR_ARG(full)).ptr,
                      depth);
        else
            put_setting(d, out, &f, full, depth);
    }
}

void lks_draft_settings(struct lks_draft *d)
{
    struct lks_field field = {0};
    bool known = lks_schema_field(&lks_stack_form, LKS_STR("settings"), &field);
    LKS_ASSERT(known && field.shape.type == LKS_TYPE_FORM);
    put_fields(d, &d->settings, field.shape.form, "", 1);
}

void lks_draft_tuning(struct lks_draft *d)
{
    put_entries(d, &d->tuning, ENV, 2);
}

/* A file of the site's is called by its path there, anything else by the name of its reading. */
static struct lks_str other_key(struct lks_str name)
{
    struct lks_str key = lks_str_starts(name, OTHER) ? after(name, OTHER) : name;
    return key.len > 0 && key.ptr[0] == '/' ? key : name;
}

void lks_draft_rest(struct lks_draft *d)
{
    size_t put = 0;
    for (size_t i = 0; i < d->tuple->count; i++) {
        struct lks_str name = d->tuple->readings[i].name;
        if (d->said[i] || d->tuple->readings[i].state == LKS_ABSENT ||
            lks_reading_kind(name)->class != LKS_READING_IDENTITY)
            continue;
        if (put < LKS_STACK_ATTRIBUTES_MAX)
            put += put_entry(d, &d->other, other_key(name), name, 2);
        else
            lks_draft_left_out(d, LKS_WARNING, name, "there are more than a manifest takes");
    }
}
