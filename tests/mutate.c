#include "tests/mutate.h"

#include "tests/test.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Values ------------------------------------------------------------------------------------- */

/* Words of which a manifest takes only some. */
static const struct {
    const char *word, *other;
} words[] = {
    {"true", "false"},         {"false", "true"},          {"open", "proprietary"},
    {"proprietary", "open"},   {"enabled", "disabled"},    {"disabled", "enabled"},
    {"default", "prohibited"}, {"infiniband", "ethernet"}, {"ethernet", "infiniband"},
    {"numa", "cdmm"},          {"cdmm", "numa"},           {"SPX", "DPX"},
    {"NPS1", "NPS2"},
};

static bool is_hex(struct lks_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (!isxdigit((unsigned char)s.ptr[i]))
            return false;
    }
    return s.len >= 16;
}

/* The last run of digits, as a number one higher; false where there is none. */
static bool bump(struct lks_str value, char out[LKS_MUTATED_SIZE])
{
    size_t end = value.len;
    while (end > 0 && !isdigit((unsigned char)value.ptr[end - 1]))
        end--;
    size_t from = end;
    while (from > 0 && isdigit((unsigned char)value.ptr[from - 1]) && end - from < 9)
        from--;
    uint64_t number;
    if (from == end ||
        !lks_str_number((struct lks_str){value.ptr + from, end - from}, UINT64_MAX, &number))
        return false;
    snprintf(out, LKS_MUTATED_SIZE, "%.*s%0*llu%.*s", (int)from, value.ptr, (int)(end - from),
             (unsigned long long)number + 1, (int)(value.len - end), value.ptr + end);
    return true;
}

void lks_mutate_value(struct lks_str value, char out[LKS_MUTATED_SIZE])
{
    size_t cut = value.len;
    while (cut > 0 && value.ptr[cut - 1] != ' ')
        cut--;
    for (size_t i = 0; i < LKS_COUNT(words); i++) {
        if (lks_str_is(value, words[i].word)) {
            snprintf(out, LKS_MUTATED_SIZE, "%s", words[i].other);
            return;
        }
    }
    if (is_hex(value))
        snprintf(out, LKS_MUTATED_SIZE, "%.*s%c", (int)value.len - 1, value.ptr,
                 value.ptr[value.len - 1] == '0' ? '1' : '0');
    else if (cut > 0)
        snprintf(out, LKS_MUTATED_SIZE, "%.*s", (int)cut - 1, value.ptr);
    else if (!bump(value, out))
        snprintf(out, LKS_MUTATED_SIZE, "%" LKS_STR_FMT "x", LKS_STR_ARG(value));
}

/* Readings ----------------------------------------------------------------------------------- */

const char *lks_mutation_name(enum lks_mutation mutation)
{
    static const char *const names[LKS_MUTATIONS] = {
        [LKS_MUTATE_OTHER] = "other value",
        [LKS_MUTATE_UNMEASURED] = "unmeasured",
        [LKS_MUTATE_ABSENT] = "absent",
    };
    return names[mutation];
}

/* Of the memory a little less is the same: the kernel keeps some to itself. */
static void other_value(const struct lks_reading *r, char out[LKS_MUTATED_SIZE])
{
    uint64_t number;
    if (lks_str_is(r->name, "devices.memory_gib") && lks_str_number(r->value, UINT32_MAX, &number))
        snprintf(out, LKS_MUTATED_SIZE, "%llu", (unsigned long long)number / 2);
    else
        lks_mutate_value(r->value, out);
}

struct lks_tuple lks_mutate_tuple(const struct lks_tuple *tuple, size_t index,
                                  enum lks_mutation mutation)
{
    static const enum lks_reading_state states[LKS_MUTATIONS] = {
        [LKS_MUTATE_OTHER] = LKS_MEASURED,
        [LKS_MUTATE_UNMEASURED] = LKS_UNMEASURED,
        [LKS_MUTATE_ABSENT] = LKS_ABSENT,
    };
    struct lks_tuple out = {0};
    struct lks_err err = {0};
    char text[LKS_MUTATED_SIZE] = "";
    lks_tuple_init(&out);
    for (size_t i = 0; i < tuple->count; i++) {
        struct lks_reading r = tuple->readings[i];
        if (i == index) {
            if (mutation == LKS_MUTATE_OTHER)
                other_value(&r, text);
            else if (mutation == LKS_MUTATE_UNMEASURED)
                snprintf(text, sizeof(text), "made so by the test");
            r.state = states[mutation];
            r.value = lks_str_from(text);
        }
        lks_tuple_add(&out, &r);
    }
    CHECK(lks_tuple_finish(&out, &err) == LKS_OK);
    return out;
}

/* Manifests ---------------------------------------------------------------------------------- */

/* The end of the scalar that begins at `at`. */
static size_t scalar_end(struct lks_str yaml, size_t at, const char *ends)
{
    if (yaml.ptr[at] != '"') {
        while (at < yaml.len && strchr(ends, yaml.ptr[at]) == NULL)
            at++;
        return at;
    }
    for (at++; at < yaml.len && yaml.ptr[at] != '"'; at++)
        at += yaml.ptr[at] == '\\';
    return at + 1;
}

/* Where the scalar at `leaf` begins and ends in the text. A member of a map stands where its key
 * does. */
static bool find_leaf(struct lks_str yaml, const struct lks_doc *leaf, size_t *from, size_t *to)
{
    size_t at = 0;
    for (uint32_t line = 1; line < leaf->line && at < yaml.len; at++)
        line += yaml.ptr[at] == '\n';
    at += leaf->column - 1;
    if (at < yaml.len && leaf->key.len > 0) {
        at = scalar_end(yaml, at, ":");
        while (at < yaml.len && strchr(": ", yaml.ptr[at]) != NULL)
            at++;
    }
    if (at >= yaml.len)
        return false;
    *from = at;
    *to = scalar_end(yaml, at, ",}] \n");
    return *to > *from && *to < yaml.len;
}

static void changed_leaf(const struct lks_doc *leaf, char out[LKS_MUTATED_SIZE])
{
    if (leaf->kind == LKS_DOC_BOOL)
        snprintf(out, LKS_MUTATED_SIZE, "%s", leaf->truth ? "false" : "true");
    else if (leaf->kind == LKS_DOC_NUMBER && lks_str_is(leaf->key, "memory_gib"))
        snprintf(out, LKS_MUTATED_SIZE, "%lld", (long long)leaf->number * 2);
    else if (lks_str_is(leaf->key, "product"))
        snprintf(out, LKS_MUTATED_SIZE, "%" LKS_STR_FMT " x", LKS_STR_ARG(leaf->text));
    else if (leaf->kind == LKS_DOC_NUMBER)
        snprintf(out, LKS_MUTATED_SIZE, "%lld", (long long)leaf->number + 1);
    else
        lks_mutate_value(leaf->text, out);
}

void lks_mutate_leaf(struct lks_str yaml, const struct lks_doc *leaf, struct lks_buf *out)
{
    char text[LKS_MUTATED_SIZE];
    size_t from = 0, to = 0;
    changed_leaf(leaf, text);
    if (!CHECK(find_leaf(yaml, leaf, &from, &to)))
        return;
    const char *quote = yaml.ptr[from] == '"' ? "\"" : "";
    lks_buf_add(out, (struct lks_str){yaml.ptr, from});
    lks_buf_addf(out, "%s", quote);
    for (const char *c = text; *c != '\0'; c++)
        lks_buf_addf(out, "%s%c", quote[0] != '\0' && strchr("\"\\", *c) != NULL ? "\\" : "", *c);
    lks_buf_addf(out, "%s", quote);
    lks_buf_add(out, (struct lks_str){yaml.ptr + to, yaml.len - to});
}
