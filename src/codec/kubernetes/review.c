#include "codec/kubernetes/review.h"

#include "codec/format/base64.h"
#include "codec/format/json.h"

#include <string.h>

#define VERSION "admission.k8s.io/v1"

enum { STATUS_FORBIDDEN = 403 };

/* The question -------------------------------------------------------------------------------- */

static enum lks_code read_text(const struct lks_doc *map, const char *key, size_t max,
                               struct lks_str *out, struct lks_err *err)
{
    struct lks_str text = lks_doc_text(map, key);
    if (text.len == 0 || text.len > max || !lks_str_printable(text))
        return lks_fail(err, LKS_E_INVALID,
                        "'%s' of the request has to be 1 to %zu printable bytes", key, max);
    *out = text;
    return LKS_OK;
}

/* The rules of a webhook configuration choose what is sent here. */
static bool is_new_pod(const struct lks_doc *request)
{
    const struct lks_doc *kind = lks_doc_member(request, "kind");
    return lks_str_is(lks_doc_text(request, "operation"), "CREATE") &&
           lks_str_is(lks_doc_text(kind, "kind"), "Pod") &&
           lks_str_is(lks_doc_text(kind, "version"), "v1") &&
           lks_doc_text(kind, "group").len == 0 && lks_doc_text(request, "subResource").len == 0;
}

static enum lks_code read_request(const struct lks_doc *request, struct lks_review *r,
                                  struct lks_err *err)
{
    const struct lks_doc *dry = lks_doc_member(request, "dryRun");
    const struct lks_doc *user = lks_doc_member(request, "userInfo");
    const struct lks_doc *object = lks_doc_member(request, "object");
    if (!is_new_pod(request))
        return lks_fail(err, LKS_E_INVALID,
                        "not the creation of a Pod: the rules of the webhook configuration have to "
                        "be CREATE of pods in v1");
    if (read_text(request, "uid", LKS_REVIEW_UID_MAX, &r->uid, err) != LKS_OK ||
        read_text(request, "namespace", LKS_REVIEW_NAME_MAX, &r->space, err) != LKS_OK ||
        read_text(user, "username", LKS_REVIEW_USER_MAX, &r->user, err) != LKS_OK)
        return err->code;
    if (object == NULL || object->kind != LKS_DOC_MAP)
        return lks_fail(err, LKS_E_INVALID, "the request has no object");
    r->dry_run = dry != NULL && dry->kind == LKS_DOC_BOOL && dry->truth;
    if (lks_pod_read(&r->docs, object, &r->pod, err) != LKS_OK)
        return err->code;
    if (r->pod.name.len > LKS_REVIEW_NAME_MAX || !lks_str_printable(r->pod.name))
        return lks_fail(err, LKS_E_INVALID, "the pod has a name that is none");
    return LKS_OK;
}

static enum lks_code parse(struct lks_str body, struct lks_review *r, struct lks_err *err)
{
    if (body.len > LKS_REVIEW_BYTES_MAX || lks_json_values(body) > LKS_REVIEW_VALUES_MAX)
        return lks_fail(err, LKS_E_LIMIT, "a review has at most %zu bytes and %zu values",
                        LKS_REVIEW_BYTES_MAX, LKS_REVIEW_VALUES_MAX);
    if (lks_docs_init(&r->docs, "body", err) != LKS_OK)
        return err->code;
    r->docs.fractions = true;
    if (lks_json_parse(body, &r->docs, err) != LKS_OK)
        return err->code;
    const struct lks_doc *top = r->docs.first, *request = lks_doc_member(top, "request");
    if (!lks_str_is(lks_doc_text(top, "kind"), "AdmissionReview") ||
        !lks_str_is(lks_doc_text(top, "apiVersion"), VERSION) || request == NULL)
        return lks_fail(err, LKS_E_INVALID,
                        "not an AdmissionReview of " VERSION
                        " with a request: admissionReviewVersions of the webhook configuration has "
                        "to be [v1]");
    return read_request(request, r, err);
}

enum lks_code lks_review_parse(struct lks_str body, struct lks_review *out, struct lks_err *err)
{
    struct lks_review r = {0};
    enum lks_code code = parse(body, &r, err);
    if (code == LKS_OK)
        *out = r;
    else
        lks_review_fini(&r);
    return code;
}

void lks_review_fini(struct lks_review *r)
{
    lks_docs_fini(&r->docs);
    *r = (struct lks_review){0};
}

/* The answer ---------------------------------------------------------------------------------- */

static void put_cut(struct lks_json_writer *w, const char *key, struct lks_str text, size_t max)
{
    char line[LKS_REVIEW_MESSAGE_MAX + 1];
    size_t len = text.len < max ? text.len : max;
    memcpy(line, text.ptr, len);
    while (len > 0 && !lks_str_utf8((struct lks_str){line, len}, NULL) && text.len > max &&
           len > max - 4)
        len--;
    line[len] = '\0';
    lks_str_make_printable(line);
    lks_json_cstr(w, key, line);
}

static void put_patch(struct lks_json_writer *w, struct lks_str patch)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(patch.len * 2 + 16);
    lks_base64_add(&text, patch);
    lks_json_cstr(w, "patchType", "JSONPatch");
    lks_json_text(w, "patch", lks_buf_view(&text));
}

void lks_review_answer(const struct lks_review_answer *a, struct lks_buf *out)
{
    struct lks_json_writer w = {.out = out};
    lks_json_begin(&w, NULL, '{');
    lks_json_cstr(&w, "apiVersion", VERSION);
    lks_json_cstr(&w, "kind", "AdmissionReview");
    lks_json_begin(&w, "response", '{');
    lks_json_text(&w, "uid", a->uid);
    lks_json_bool(&w, "allowed", a->allowed);
    if (!a->allowed) {
        lks_json_begin(&w, "status", '{');
        lks_json_int(&w, "code", STATUS_FORBIDDEN);
        lks_json_cstr(&w, "reason", "Forbidden");
        put_cut(&w, "message", a->message, LKS_REVIEW_MESSAGE_MAX);
        lks_json_end(&w, '}');
    }
    if (a->warning_count > 0) {
        lks_json_begin(&w, "warnings", '[');
        for (size_t i = 0; i < a->warning_count; i++)
            put_cut(&w, NULL, a->warnings[i], LKS_REVIEW_WARNING_MAX);
        lks_json_end(&w, ']');
    }
    if (a->allowed && a->patch.len > 0)
        put_patch(&w, a->patch);
    lks_json_end(&w, '}');
    lks_json_end(&w, '}');
}
