/* bundle inspect, verify, ls, revoke. */
#include "base/file.h"
#include "cli/shared/bundledir.h"
#include "cli/shared/commands.h"
#include "cli/shared/context.h"
#include "cli/shared/input.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"
#include "cli/shared/render.h"
#include "core/view/view.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How a file compares with what the manifest says of it. */
enum { FILE_GOOD, FILE_MISSING, FILE_BAD };
static const char *const file_words[] = {"good", "missing", "bad"};

struct looked {
    struct lks_bundledir dir;
    struct lks_facts facts;
    int *files;           /* by artifact */
    struct lks_err *whys; /* likewise; of what is not good */
    bool good;            /* all of it */
};

static void looked_fini(struct looked *l)
{
    lks_bundledir_fini(&l->dir);
    lks_facts_fini(&l->facts);
    free(l->files);
    free(l->whys);
    *l = (struct looked){0};
}

/* Whom to believe: the key that was given, or those that are pinned on this machine, in `dir`. */
static enum lks_code read_trusted(struct lks_cli *cli, const struct lks_args *args,
                                  char dir[PATH_MAX], struct lks_trusted **out, size_t *count,
                                  struct lks_err *err)
{
    const char *key = lks_args_get(args, "--key"), *state = lks_args_get(args, "--state");
    if (key == NULL) {
        if (lks_trustdir_path(cli, state, dir, err) != LKS_OK)
            return err->code;
        return lks_trustdir_read(dir, out, count, err);
    }
    if (state != NULL)
        return lks_fail(err, LKS_E_USAGE, "--key and --state do not go together");
    struct lks_trusted *one = calloc(1, sizeof(*one));
    if (one == NULL)
        return lks_fail_nomem(err);
    snprintf(one->name, sizeof(one->name), "%s", "the key that was given");
    if (lks_trustdir_key(key, &one->pin, err) != LKS_OK) {
        free(one);
        return err->code;
    }
    *out = one;
    *count = 1;
    return LKS_OK;
}

static enum lks_code look_at_files(struct looked *l, struct lks_err *err)
{
    size_t count = l->dir.bundle.count;
    l->files = calloc(count + 1, sizeof(l->files[0]));
    l->whys = calloc(count + 1, sizeof(l->whys[0]));
    if (l->files == NULL || l->whys == NULL)
        return lks_fail_nomem(err);
    for (size_t i = 0; i < count; i++) {
        int fd = -1;
        enum lks_code code =
            lks_bundledir_file(&l->dir, &l->dir.bundle.artifacts[i], &fd, &l->whys[i]);
        if (code == LKS_OK)
            close(fd);
        l->files[i] = code == LKS_OK            ? FILE_GOOD
                      : code == LKS_E_NOT_FOUND ? FILE_MISSING
                                                : FILE_BAD;
        l->good = l->good && code == LKS_OK;
    }
    return LKS_OK;
}

static enum lks_code look(struct lks_cli *cli, const struct lks_args *args, struct looked *out,
                          struct lks_err *err)
{
    struct lks_trusted *trusted = NULL;
    size_t count = 0;
    char dir[PATH_MAX] = "";
    if (lks_input_facts(cli->data_dir, &out->facts, err) != LKS_OK ||
        lks_bundledir_read(args->positional[0], &out->facts, &out->dir, err) != LKS_OK ||
        read_trusted(cli, args, dir, &trusted, &count, err) != LKS_OK)
        return err->code;
    lks_bundledir_verify(&out->dir, trusted, count, dir[0] != '\0' ? dir : NULL);
    free(trusted);
    out->good = out->dir.verdict.verdict == LKS_EVIDENCE_GOOD;
    return look_at_files(out, err);
}

/* Telling ----------------------------------------------------------------------------------- */

static void put_signature(struct lks_json_writer *w, const struct lks_evidence_answer *v)
{
    lks_json_begin(w, "signature", '{');
    lks_json_cstr(w, "verdict", lks_evidence_words[v->verdict]);
    lks_json_some(w, "signer", lks_str_from(v->signer));
    lks_json_some(w, "key", lks_str_from(v->key));
    lks_json_bool(w, "site", v->site);
    lks_json_cstr(w, "text", v->line);
    lks_json_end(w, '}');
}

static void put_artifact(struct lks_json_writer *w, const struct looked *l, size_t i)
{
    const struct lks_bundle_artifact *a = &l->dir.bundle.artifacts[i];
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "name", a->name);
    lks_json_write(w,
                   "'component': '%.*s', 'version': '%.*s', 'kind': '%s', 'size': %lu, "
                   "'digest': '%.*s', 'one_way'?: %s",
                   LKS_STR_ARG(a->component), LKS_STR_ARG(a->version),
                   lks_bundle_kind_words[a->kind], a->size, LKS_STR_ARG(a->digest),
                   LKS_JSON_TRUTH(a->one_way));
    lks_bundledir_list(w, "hardware_classes", a->hardware_classes);
    lks_bundledir_list(w, "hardware_revisions", a->hardware_revisions);
    lks_bundledir_list(w, "from", a->from);
    lks_json_cstr(w, "file", file_words[l->files[i]]);
    lks_json_some(w, "text", lks_str_from(l->whys[i].msg));
    lks_json_end(w, '}');
}

static enum lks_code print(struct lks_cli *cli, const struct lks_args *args, const struct looked *l,
                           lks_output_view *view, struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    const struct lks_bundle *b = &l->dir.bundle;
    struct lks_json_writer *w = lks_output_begin(&o);
    lks_json_write(w,
                   "'name'?: '%.*s', 'version'?: '%.*s', 'vendor'?: '%.*s', "
                   "'description'?: '%.*s', 'signed_for'?: '%.*s', 'digest'?: '%s', 'good': %s",
                   LKS_STR_ARG(b->name), LKS_STR_ARG(b->version), LKS_STR_ARG(b->vendor),
                   LKS_STR_ARG(b->description), LKS_STR_ARG(b->signed_for), b->digest,
                   LKS_JSON_TRUTH(l->good));
    put_signature(w, &l->dir.verdict);
    lks_json_begin(w, "artifacts", '[');
    for (size_t i = 0; i < b->count; i++)
        put_artifact(w, l, i);
    lks_json_end(w, ']');
    return lks_output_show(cli, args, &o, view, err);
}

static const struct lks_listing_column artifact_columns[] = {
    LKS_PLAIN_WRAP("file", "name"),
    LKS_PLAIN_LEFT("component", "component"),
    LKS_PLAIN_LEFT("version", "{version}[{one_way?} (irreversible)]"),
    LKS_PLAIN_LEFT("kind", "kind"),
    LKS_PLAIN_RIGHT("bytes", "size"),
    LKS_PLAIN_WRAP("digest", "digest"),
    {"here", "file", 0, "[{.=good}green|red]"},
};
static const struct lks_listing_part artifacts = {"artifacts", LKS_PART_COLUMNS(artifact_columns),
                                                  NULL, true};

static enum lks_code show_bundle(struct lks_cli *cli, const struct lks_args *args,
                                 const struct lks_doc *bundle, struct lks_err *err)
{
    (void)args;
    lks_render_print(cli->out,
                     "{name} {version}[, by {vendor}]\n{digest}\n"
                     "{signature.verdict}: {signature.text}\n",
                     bundle);
    if (lks_listing_part(cli, &artifacts, bundle, err) != LKS_OK)
        return err->code;
    /* What a file is only for, on lines of its own: most say nothing of it. */
    lks_render_each(cli->out, "artifacts",
                    "[{name} is only for hardware class {hardware_classes}\n]"
                    "[{name} is only for hardware revision {hardware_revisions}\n]"
                    "[{name} is only to follow version {from}\n]",
                    bundle, NULL);
    return LKS_OK;
}

static enum lks_code show_verdict(struct lks_cli *cli, const struct lks_args *args,
                                  const struct lks_doc *bundle, struct lks_err *err)
{
    (void)args;
    (void)err;
    lks_render_print(cli->out, "{signature.verdict}: {signature.text}\n", bundle);
    lks_render_each(cli->out, "artifacts",
                    "[{file=good}good: {name} is what the manifest names|{file}: [{text}]]\n",
                    bundle, NULL);
    return LKS_OK;
}

enum lks_code lks_cmd_bundle_inspect(struct lks_cli *cli, const struct lks_args *args,
                                     struct lks_err *err)
{
    LKS_CLEANUP(looked_fini) struct looked l = {0};
    if (look(cli, args, &l, err) != LKS_OK)
        return err->code;
    return print(cli, args, &l, show_bundle, err);
}

enum lks_code lks_cmd_bundle_verify(struct lks_cli *cli, const struct lks_args *args,
                                    struct lks_err *err)
{
    LKS_CLEANUP(looked_fini) struct looked l = {0};
    if (look(cli, args, &l, err) != LKS_OK || lks_context_apply(cli, args, err) != LKS_OK)
        return err->code;
    cli->no = !l.good;
    if (cli->server != NULL && lks_bundledir_revoked(cli, args->positional[0], l.dir.bundle.digest,
                                                     false, err) != LKS_OK) {
        fprintf(cli->err, "lockstep: %s\n", err->msg);
        cli->no = cli->no || err->code == LKS_E_REFUSED;
    }
    return print(cli, args, &l, show_verdict, err);
}

/* At lockstepd ------------------------------------------------------------------------------ */

static const struct lks_listing_column bundle_columns[] = {
    LKS_LEFT("bundle", "name"),   LKS_LEFT("version", "version"),
    LKS_WRAP("digest", "digest"), LKS_LEFT("signer", "signer"),
    LKS_LEFT("site", "site"),     LKS_LEFT("added", "added"),
    LKS_LEFT("by", "by"),         LKS_WRAP("revoked", "revoked_reason"),
};

static const struct lks_listing bundles = {
    .path = "/v1/bundles",
    LKS_COLUMNS(bundle_columns),
    .empty = "no bundle was found good yet: 'lockstep bundle push DIR' brings one",
    .view = &lks_view_bundles,
};

enum lks_code lks_cmd_bundle_ls(struct lks_cli *cli, const struct lks_args *args,
                                struct lks_err *err)
{
    return lks_listing_print(cli, args, &bundles, err);
}
