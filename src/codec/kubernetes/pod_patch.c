#include "codec/kubernetes/pod_patch.h"

#include "codec/format/json.h"
#include "codec/notation/collective_env.h"

#include <stdarg.h>
#include <stdio.h>

#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"

enum { PATH_MAX_BYTES = 256 };

/* Paths have only names of this file and numbers, so that none needs an escape. */
static void begin_add(struct lks_json_writer *w, const char *path, ...) LKS_PRINTF(2, 3);
static void begin_add(struct lks_json_writer *w, const char *path, ...)
{
    char text[PATH_MAX_BYTES];
    va_list ap;
    va_start(ap, path);
    vsnprintf(text, sizeof(text), path, ap);
    va_end(ap);
    lks_json_begin(w, NULL, '{');
    lks_json_cstr(w, "op", "add");
    lks_json_cstr(w, "path", text);
}

static const struct lks_doc *present(const struct lks_doc *map, const char *key)
{
    const struct lks_doc *d = lks_doc_member(map, key);
    return d != NULL && d->kind != LKS_DOC_NULL ? d : NULL;
}

/* Nodes that conform ------------------------------------------------------------------------ */

static void put_verdict(struct lks_json_writer *w, const char *key)
{
    lks_json_begin(w, key, '{');
    lks_json_cstr(w, "key", LKS_POD_VERDICT);
    lks_json_cstr(w, "operator", "In");
    lks_json_begin(w, "values", '[');
    lks_json_cstr(w, NULL, "conform");
    lks_json_end(w, ']');
    lks_json_end(w, '}');
}

static void put_expressions(struct lks_json_writer *w, const char *key)
{
    lks_json_begin(w, key, '[');
    put_verdict(w, NULL);
    lks_json_end(w, ']');
}

static void put_required_nodes(struct lks_json_writer *w, const char *key)
{
    lks_json_begin(w, key, '{');
    lks_json_begin(w, "nodeSelectorTerms", '[');
    lks_json_begin(w, NULL, '{');
    put_expressions(w, "matchExpressions");
    lks_json_end(w, '}');
    lks_json_end(w, ']');
    lks_json_end(w, '}');
}

static bool wants_conform(const struct lks_doc *expressions)
{
    const struct lks_doc *d = NULL;
    while ((d = lks_pod_next(expressions, d)) != NULL) {
        const struct lks_doc *values = lks_doc_member(d, "values");
        if (lks_str_is(lks_doc_text(d, "key"), LKS_POD_VERDICT) &&
            lks_str_is(lks_doc_text(d, "operator"), "In") && values != NULL && values->count == 1 &&
            lks_doc_has(values, LKS_STR("conform")))
            return true;
    }
    return false;
}

/* Terms are alternatives, so each of them gets it. One that requires nothing matches no node, and
 * would match some with it. */
static void add_to_terms(const struct lks_doc *terms, struct lks_json_writer *w)
{
    static const char term[] = "/spec/affinity/nodeAffinity/" REQUIRED "/nodeSelectorTerms/%zu";
    size_t at = 0;
    for (const struct lks_doc *d = terms->first; d != NULL; d = d->next, at++) {
        const struct lks_doc *expressions = present(d, "matchExpressions");
        char path[PATH_MAX_BYTES];
        if (lks_pod_term_is_empty(d) || wants_conform(expressions))
            continue;
        snprintf(path, sizeof(path), term, at);
        begin_add(w, "%s/matchExpressions%s", path, expressions != NULL ? "/-" : "");
        (expressions != NULL ? put_verdict : put_expressions)(w, "value");
        lks_json_end(w, '}');
    }
}

/* Affinity of a kind: the first part of its path that a pod does not have is made whole. */
static const struct lks_doc *affinity_of(const struct lks_pod *pod, const char *kind)
{
    return present(present(pod->spec, "affinity"), kind);
}

/* Begin to add `affinity`, or the `kind` in it, with all that leads to REQUIRED; `depth` objects
 * are open behind it. */
static int begin_affinity(const struct lks_pod *pod, const char *kind, struct lks_json_writer *w)
{
    if (affinity_of(pod, kind) != NULL) {
        begin_add(w, "/spec/affinity/%s/" REQUIRED, kind);
        return 0;
    }
    if (present(pod->spec, "affinity") != NULL) {
        begin_add(w, "/spec/affinity/%s", kind);
        lks_json_begin(w, "value", '{');
        return 1;
    }
    begin_add(w, "/spec/affinity");
    lks_json_begin(w, "value", '{');
    lks_json_begin(w, kind, '{');
    return 2;
}

static void end_affinity(int depth, struct lks_json_writer *w)
{
    for (; depth >= 0; depth--)
        lks_json_end(w, '}');
}

static void add_conform(const struct lks_pod *pod, struct lks_json_writer *w)
{
    const struct lks_doc *required = present(affinity_of(pod, "nodeAffinity"), REQUIRED);
    const struct lks_doc *terms = lks_pod_terms(pod);
    if (terms != NULL) {
        add_to_terms(terms, w);
    } else if (required == NULL) {
        int depth = begin_affinity(pod, "nodeAffinity", w);
        put_required_nodes(w, depth > 0 ? REQUIRED : "value");
        end_affinity(depth, w);
    }
}

/* One digest ---------------------------------------------------------------------------------- */

static void put_gang(const struct lks_pod_gang *gang, struct lks_json_writer *w, const char *key)
{
    lks_json_begin(w, key, '{');
    lks_json_begin(w, "labelSelector", '{');
    lks_json_begin(w, "matchLabels", '{');
    for (size_t i = 0; i < gang->labels; i++)
        lks_json_text(w, gang->keys[i].ptr, gang->values[i]); /* rows of a table: terminated */
    lks_json_end(w, '}');
    lks_json_end(w, '}');
    lks_json_cstr(w, "topologyKey", LKS_POD_DIGEST);
    lks_json_end(w, '}');
}

static void add_gang(const struct lks_pod *pod, struct lks_json_writer *w)
{
    const struct lks_doc *required = present(affinity_of(pod, "podAffinity"), REQUIRED), *d = NULL;
    while ((d = lks_pod_next(required, d)) != NULL) {
        if (lks_str_is(lks_doc_text(d, "topologyKey"), LKS_POD_DIGEST))
            return;
    }
    if (required != NULL) {
        begin_add(w, "/spec/affinity/podAffinity/" REQUIRED "/-");
        put_gang(&pod->gang, w, "value");
        lks_json_end(w, '}');
        return;
    }
    int depth = begin_affinity(pod, "podAffinity", w);
    lks_json_begin(w, depth > 0 ? REQUIRED : "value", '[');
    put_gang(&pod->gang, w, NULL);
    lks_json_end(w, ']');
    end_affinity(depth, w);
}

/* Both where the pod has no affinity at all: two operations at one path would be one too many. */
static void add_both(const struct lks_pod *pod, struct lks_json_writer *w)
{
    begin_add(w, "/spec/affinity");
    lks_json_begin(w, "value", '{');
    lks_json_begin(w, "nodeAffinity", '{');
    put_required_nodes(w, REQUIRED);
    lks_json_end(w, '}');
    lks_json_begin(w, "podAffinity", '{');
    lks_json_begin(w, REQUIRED, '[');
    put_gang(&pod->gang, w, NULL);
    lks_json_end(w, ']');
    lks_json_end(w, '}');
    lks_json_end(w, '}');
    lks_json_end(w, '}');
}

/* Environment --------------------------------------------------------------------------------- */

bool lks_pod_patch_env_is_known(const struct lks_pod_container *container)
{
    const struct lks_doc *from = lks_doc_member(container->doc, "envFrom");
    return from == NULL || from->first == NULL;
}

static bool has_variable(const struct lks_doc *env, struct lks_str name)
{
    const struct lks_doc *d = NULL;
    while ((d = lks_pod_next(env, d)) != NULL) {
        if (lks_str_eq(lks_doc_text(d, "name"), name))
            return true;
    }
    return false;
}

/* Kubelets expand $(NAME), and read $$ as $. */
static void put_variable(const struct lks_doc *v, struct lks_json_writer *w, const char *key)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf value = LKS_BUF(LKS_POD_PATCH_MAX);
    for (size_t i = 0; i < v->text.len; i++) {
        if (v->text.ptr[i] == '$')
            lks_buf_addc(&value, '$');
        lks_buf_addc(&value, v->text.ptr[i]);
    }
    lks_json_begin(w, key, '{');
    lks_json_text(w, "name", v->key);
    lks_json_text(w, "value", lks_buf_view(&value));
    lks_json_end(w, '}');
}

static void add_env(const struct lks_pod_container *c, const struct lks_doc *env,
                    struct lks_json_writer *w)
{
    const struct lks_doc *its = present(c->doc, "env");
    const char *list = c->init ? "initContainers" : "containers";
    bool begun = false;
    for (const struct lks_doc *v = env->first; v != NULL; v = v->next) {
        if (v->kind != LKS_DOC_TEXT || !lks_collective_env_is(v->key) || has_variable(its, v->key))
            continue;
        if (its != NULL) {
            begin_add(w, "/spec/%s/%zu/env/-", list, c->at);
            put_variable(v, w, "value");
            lks_json_end(w, '}');
            continue;
        }
        if (!begun) {
            begin_add(w, "/spec/%s/%zu/env", list, c->at);
            lks_json_begin(w, "value", '[');
        }
        begun = true;
        put_variable(v, w, NULL);
    }
    if (begun) {
        lks_json_end(w, ']');
        lks_json_end(w, '}');
    }
}

enum lks_code lks_pod_patch_write(const struct lks_pod *pod, const struct lks_pod_patch *want,
                                  struct lks_buf *out, struct lks_err *err)
{
    bool gang = want->gang && pod->gang.labels > 0;
    struct lks_json_writer w = {.out = out};
    size_t before = out->len;
    lks_json_begin(&w, NULL, '[');
    size_t empty = out->len;
    if (want->conform && gang && present(pod->spec, "affinity") == NULL) {
        add_both(pod, &w);
    } else {
        if (want->conform)
            add_conform(pod, &w);
        if (gang)
            add_gang(pod, &w);
    }
    for (size_t i = 0; i < pod->container_count && want->env != NULL; i++) {
        if (pod->containers[i].gpus && lks_pod_patch_env_is_known(&pod->containers[i]))
            add_env(&pod->containers[i], want->env, &w);
    }
    if (out->len == empty)
        lks_buf_truncate(out, before);
    else
        lks_json_end(&w, ']');
    return lks_buf_check(out, err);
}
