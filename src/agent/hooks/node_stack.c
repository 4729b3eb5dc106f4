#include "agent/hooks/node_stack.h"

#include "codec/notation/collective_env.h"

#include <stdio.h>
#include <string.h>

#define FORMAT      "lockstep-stack-1"
#define DIGEST_TYPE "sha256:"

enum { PREFIX_MIN = 8, VALUE_MAX = 1024 };

static const struct lks_str_field texts[] = {
    {"digest", offsetof(struct lks_node_stack, digest)},
    {"name", offsetof(struct lks_node_stack, name)},
    {"version", offsetof(struct lks_node_stack, version)},
    {"bar", offsetof(struct lks_node_stack, bar)},
    {"why", offsetof(struct lks_node_stack, why)},
};

static bool is_set(const struct lks_node_stack *s, const struct lks_str_field *f)
{
    return ((const char *)s + f->at)[0] != '\0';
}

void lks_node_stack_pack(const struct lks_node_stack *s, struct lks_buf *out)
{
    struct lks_str name, value, rest = lks_str_from(s->env);
    lks_buf_addf(out, FORMAT "\n");
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        if (is_set(s, &texts[i]))
            lks_buf_addf(out, "%s %s\n", texts[i].name, (const char *)s + texts[i].at);
    }
    if (s->enforces)
        lks_buf_addf(out, "enforce on\n");
    while (lks_node_stack_next(&rest, &name, &value))
        lks_buf_addf(out, "env %" LKS_STR_FMT "=%" LKS_STR_FMT "\n", LKS_STR_ARG(name),
                     LKS_STR_ARG(value));
}

bool lks_node_stack_text(struct lks_str text, char out[LKS_NODE_STACK_TEXT_SIZE])
{
    if (text.len == 0 || text.len >= LKS_NODE_STACK_TEXT_SIZE || !lks_str_printable(text))
        return false;
    memcpy(out, text.ptr, text.len);
    out[text.len] = '\0';
    return true;
}

static enum lks_code take_env(struct lks_str text, struct lks_node_stack *s, struct lks_err *err)
{
    struct lks_str name, value;
    if (!lks_str_cut(text, '=', &name, &value) || !lks_node_stack_add(s, name, value))
        return lks_fail(err, LKS_E_INVALID, "a variable of the node's stack is not one for jobs");
    return LKS_OK;
}

static enum lks_code take_line(struct lks_str line, struct lks_node_stack *s, struct lks_err *err)
{
    struct lks_str key, value;
    (void)lks_str_cut(line, ' ', &key, &value);
    if (lks_str_is(key, "env"))
        return take_env(value, s, err);
    if (lks_str_is(key, "enforce"))
        s->enforces = lks_str_is(value, "on");
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        if (!lks_str_is(key, texts[i].name))
            continue;
        if (is_set(s, &texts[i]) || !lks_node_stack_text(value, (char *)s + texts[i].at))
            return lks_fail(err, LKS_E_INVALID, "'%s' of the node's stack is no printable text",
                            texts[i].name);
    }
    return LKS_OK;
}

enum lks_code lks_node_stack_parse(struct lks_str bytes, struct lks_node_stack *out,
                                   struct lks_err *err)
{
    struct lks_node_stack s = {0};
    struct lks_str line, rest;
    if (bytes.len > LKS_NODE_STACK_BYTES_MAX)
        return lks_fail(err, LKS_E_LIMIT, "the node's stack has more than %d bytes",
                        LKS_NODE_STACK_BYTES_MAX);
    if (!lks_str_cut(bytes, '\n', &line, &rest) || !lks_str_is(line, FORMAT))
        return lks_fail(err, LKS_E_INVALID,
                        "the node's stack has another format than " FORMAT
                        "; install plugin and agent of one release");
    while (lks_str_cut(rest, '\n', &line, &rest)) {
        if (take_line(line, &s, err) != LKS_OK)
            return err->code;
    }
    if (line.len > 0)
        return lks_fail(err, LKS_E_INVALID, "the last line of the node's stack is not complete");
    *out = s;
    return LKS_OK;
}

static bool is_ours(struct lks_str name)
{
    return lks_collective_env_is(name) && name.len < LKS_NODE_STACK_TEXT_SIZE;
}

bool lks_node_stack_add(struct lks_node_stack *s, struct lks_str name, struct lks_str value)
{
    size_t used = strlen(s->env), more = name.len + value.len + 2;
    if (!is_ours(name) || value.len > VALUE_MAX || !lks_str_printable(value) ||
        more >= sizeof(s->env) - used)
        return false;
    snprintf(s->env + used, sizeof(s->env) - used, "%" LKS_STR_FMT "=%" LKS_STR_FMT "\n",
             LKS_STR_ARG(name), LKS_STR_ARG(value));
    return true;
}

bool lks_node_stack_next(struct lks_str *rest, struct lks_str *name, struct lks_str *value)
{
    struct lks_str line;
    return lks_str_cut(*rest, '\n', &line, rest) && lks_str_cut(line, '=', name, value);
}

bool lks_node_stack_wish(struct lks_str wish)
{
    for (size_t i = 0; i < wish.len; i++) {
        char c = wish.ptr[i];
        bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!word && (c == '\0' || strchr(".-_+:/~", c) == NULL || (i == 0 && c == '-')))
            return false;
    }
    return wish.len > 0 && wish.len < LKS_NODE_STACK_TEXT_SIZE;
}

bool lks_node_stack_is(const struct lks_node_stack *s, struct lks_str wish)
{
    struct lks_str name, version, digest = lks_str_from(s->digest);
    if (digest.len == 0)
        return false;
    if (lks_str_is(wish, s->name))
        return true;
    if (lks_str_cut(wish, '/', &name, &version))
        return lks_str_is(name, s->name) && lks_str_is(version, s->version);
    return wish.len >= strlen(DIGEST_TYPE) + PREFIX_MIN && lks_str_starts(wish, DIGEST_TYPE) &&
           wish.len <= digest.len && memcmp(digest.ptr, wish.ptr, wish.len) == 0;
}
