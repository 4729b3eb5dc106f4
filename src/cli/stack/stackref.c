#include "cli/stack/stackref.h"

#include "codec/format/digest.h"

#include <string.h>
#include <unistd.h>

enum { VERSIONS_MAX_BYTES = 256 };

bool lks_stackref_is_file(const char *text)
{
    struct lks_str name = lks_str_from(text);
    return strchr(text, '/') != NULL || strcmp(text, "-") == 0 || lks_str_ends(name, ".yaml") ||
           lks_str_ends(name, ".yml") || lks_str_ends(name, ".json") || access(text, F_OK) == 0;
}

/* The stack of this digest, with its manifest. */
static enum lks_code fetch(struct lks_remote *remote, const struct lks_input *input,
                           struct lks_str digest, struct lks_stackref *out,
                           const struct lks_stack **stack, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer file = {0};
    lks_remote_path_init(&path, "/v1/stacks");
    lks_remote_path_add(&path, digest);
    lks_buf_add(&path.text, LKS_STR("/manifest"));
    if (lks_remote_call(remote, "GET", &path, NULL, LKS_STR(""), &file, err) != LKS_OK)
        return err->code;
    lks_manifest_fini(&out->manifest);
    if (lks_input_text(input, "registry", lks_buf_view(&file.http.body), &out->manifest, err) !=
        LKS_OK)
        return err->code;
    for (size_t i = 0; i < out->manifest.stack_count; i++) {
        *stack = &out->manifest.stacks[i];
        if (lks_str_is(digest, (*stack)->digest))
            return LKS_OK;
    }
    return lks_fail(err, LKS_E_INVALID, "its manifest in the registry has another digest");
}

static enum lks_code find_entry(struct lks_remote *remote, struct lks_str text,
                                struct lks_remote_answer *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    lks_remote_path_init(&path, "/v1/stacks");
    lks_remote_path_add(&path, text);
    if (lks_remote_call(remote, "GET", &path, NULL, LKS_STR(""), out, err) != LKS_OK)
        return err->code;
    return lks_remote_object(out, err);
}

/* A search for a version among the stacks of a name. The registry lists names and digests; versions
 * are in the manifests. */
struct search {
    struct lks_remote *remote;
    const struct lks_input *input;
    struct lks_str version;
    struct lks_buf *found; /* digest; empty: none */
    struct lks_buf others;
};

static enum lks_code look(void *ctx, const struct lks_doc *item, struct lks_err *err)
{
    struct search *x = ctx;
    LKS_CLEANUP(lks_stackref_fini) struct lks_stackref ref = {0};
    struct lks_str digest = lks_doc_text(item, "digest");
    const struct lks_stack *stack = NULL;
    if (fetch(x->remote, x->input, digest, &ref, &stack, err) != LKS_OK)
        return err->code;
    if (lks_str_eq(stack->version, x->version)) {
        lks_buf_add(x->found, digest);
        x->remote->enough = true;
    } else if (x->others.len + stack->version.len + strlen(", ") < VERSIONS_MAX_BYTES)
        lks_buf_addf(&x->others, "%s%" LKS_STR_FMT, x->others.len > 0 ? ", " : "",
                     LKS_STR_ARG(stack->version));
    return LKS_OK;
}

static enum lks_code find_version(struct lks_remote *remote, const struct lks_input *input,
                                  struct lks_str name, struct lks_str version,
                                  struct lks_buf *digest, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    struct search x = {.remote = remote, .input = input, .version = version, .found = digest};
    lks_buf_init(&x.others, VERSIONS_MAX_BYTES);
    lks_remote_path_init(&path, "/v1/stacks");
    lks_remote_path_query(&path, "name", name);
    enum lks_code code = lks_remote_list(remote, &path, "after", 0, look, &x, err);
    if (code == LKS_OK && digest->len == 0)
        code = lks_fail(
            err, LKS_E_NOT_FOUND,
            "stack '%" LKS_STR_FMT "' has no version '%" LKS_STR_FMT "'; it has: %" LKS_STR_FMT,
            LKS_STR_ARG(name), LKS_STR_ARG(version), LKS_STR_ARG(lks_buf_view(&x.others)));
    lks_buf_fini(&x.others);
    return code;
}

static enum lks_code read_registry(struct lks_cli *cli, const struct lks_args *args,
                                   const struct lks_input *input, struct lks_str text,
                                   struct lks_stackref *out, const struct lks_stack **stack,
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_fini) struct lks_remote remote = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf digest = LKS_BUF(LKS_DIGEST_SIZE);
    struct lks_str name = text, version;
    if (lks_remote_open(cli, args, &remote, err) != LKS_OK)
        return err->code;
    if (lks_str_cut(text, '@', &name, &version) &&
        find_version(&remote, input, name, version, &digest, err) != LKS_OK)
        return err->code;
    if (find_entry(&remote, digest.len > 0 ? lks_buf_view(&digest) : text, &out->entry, err) !=
        LKS_OK)
        return err->code;
    return fetch(&remote, input, lks_doc_text(out->entry.doc, "digest"), out, stack, err);
}

enum lks_code lks_stackref_read(struct lks_cli *cli, const struct lks_args *args,
                                const struct lks_input *input, const char *text,
                                struct lks_stackref *out, const struct lks_stack **stack,
                                struct lks_err *err)
{
    *stack = NULL;
    if (lks_stackref_is_file(text))
        return lks_input_manifest(input, text, &out->manifest, err);
    if (read_registry(cli, args, input, lks_str_from(text), out, stack, err) != LKS_OK)
        return lks_wrap(err, "'%s' is not a file; registry", text);
    return LKS_OK;
}

void lks_stackref_fini(struct lks_stackref *ref)
{
    lks_manifest_fini(&ref->manifest);
    lks_remote_answer_fini(&ref->entry);
}
