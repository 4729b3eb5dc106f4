#include "tests/flashes.h"

#include "base/file.h"
#include "tests/test.h"
#include "tests/wait.h"
#include "trust/signature.h"

#include <stdio.h>

enum { PACKAGE_BYTES = 4096, PACKAGE_MAX = 1 << 20, TEXT_MAX = 16 << 20, PATH_SIZE = 256 };

bool flashes_begin(struct flashes *f, const char *const *options, const char *more)
{
    const char *all[BMCD_ARGS_MAX] = {"--fleet-file", f->fleet};
    *f = (struct flashes){0};
    bmcd_init(&f->bmcs);
    snprintf(f->fleet, sizeof(f->fleet), "%s/fleet.yaml", f->bmcs.tree.path);
    for (size_t i = 0; options[i] != NULL && i + 3 < LKS_COUNT(all); i++)
        all[i + 2] = options[i];
    return bmcd_start(&f->bmcs, LKS_BMCSIM_PROGRAM, all) && crew_begin(&f->crew, more) &&
           flashes_fleet(f, NULL, NULL);
}

void flashes_end(struct flashes *f)
{
    bmcd_fini(&f->bmcs);
    crew_end(&f->crew);
}

bool flashes_kill(struct flashes *f)
{
    lks_client_free(f->crew.root);
    f->crew.root = NULL;
    ctl_kill(&f->crew.c);
    if (!CHECK(ctl_start(&f->crew.c)))
        return false;
    f->crew.root = ctl_client(&f->crew.c, CTL_UNIX);
    return CHECK(f->crew.root != NULL);
}

/* The fleet ----------------------------------------------------------------------------------- */

static bool is_about(struct lks_str line, const char *name)
{
    char mark[96];
    snprintf(mark, sizeof(mark), "\"%s\"", name != NULL ? name : "");
    return name != NULL && lks_str_find(line, lks_str_from(mark)) >= 0;
}

/* Each host has a line of its own, and its endpoint the line behind that. */
bool flashes_fleet(struct flashes *f, const char *without, const char *pinned)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(TEXT_MAX);
    struct lks_str rest, line, host = {"", 0};
    struct lks_err err = {0};
    if (!CHECK_CODE(lks_file_read_plain(f->fleet, &text, &err), LKS_OK))
        return false;
    for (rest = lks_buf_view(&text); rest.len > 0;) {
        (void)lks_str_cut(rest, '\n', &line, &rest);
        ptrdiff_t trust = lks_str_find(line, LKS_STR("trust: ")),
                  login = lks_str_find(line, LKS_STR("credentials: "));
        if (trust < 0)
            host = line;
        if (trust >= 0 && is_about(host, without))
            line = LKS_STR("     side: a}");
        if (trust >= 0 && login > trust && is_about(host, pinned)) {
            lks_buf_add(&out, (struct lks_str){line.ptr, (size_t)trust});
            line = (struct lks_str){line.ptr + login, line.len - (size_t)login};
        }
        lks_buf_add(&out, line);
        lks_buf_addc(&out, '\n');
    }
    return CHECK(out.failed == LKS_OK) && crew_fleet(&f->crew, out.ptr);
}

bool flashes_change(struct flashes *f, const char *node)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "/v1/nodes/%s/condition", node);
    return crew_fine(f->crew.root, "nodeCondition", path,
                     "{\"condition\":\"changing\",\"on\":true,\"text\":\"firmware\"}", &t);
}

/* The bundle ---------------------------------------------------------------------------------- */

bool flashes_store(struct flashes *f, const char *name, struct lks_str bytes,
                   char digest[LKS_DIGEST_SIZE])
{
    struct lks_http_answer answer = {0};
    struct lks_err err = {0};
    char path[PATH_SIZE];
    CHECK_CODE(lks_digest_text(bytes, digest, &err), LKS_OK);
    snprintf(path, sizeof(path), "/v1/artifacts/%s?name=%s", digest, name);
    CHECK_CODE(lks_client_exchange(f->crew.root, "PUT", path, "application/octet-stream", bytes, "",
                                   &answer, &err),
               LKS_OK);
    int status = answer.status;
    lks_http_answer_fini(&answer);
    return CHECK_INT(status, 200);
}

static void add_artifact(struct lks_buf *out, enum lks_bmcsim_personality kind, const char *digest,
                         size_t size, const char *class, const char *version)
{
    lks_buf_addf(out,
                 "%s{\"name\":\"%s.fwpkg\",\"digest\":\"%s\",\"size\":%zu,\"component\":\"%s\","
                 "\"version\":\"%s\"}",
                 lks_buf_view(out).ptr[out->len - 1] == '[' ? "" : ",", lks_bmcsim_words[kind],
                 digest, size, class, version);
}

static bool pin(struct flashes *f, const struct lks_key *key)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct lks_pin public;
    struct lks_err err = {0};
    char line[LKS_PIN_LINE_SIZE], body[512];
    if (!CHECK_CODE(lks_signature_pin_of(key, &public, &err), LKS_OK))
        return false;
    lks_signature_pin_text(&public, line);
    snprintf(body, sizeof(body), "{\"name\":\"lab\",\"key\":\"%s\",\"reason\":\"ours\"}", line);
    return crew_fine(f->crew.root, "pinKey", "/v1/trust", body, &t);
}

bool flashes_bring(struct flashes *f, struct lks_str manifest)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_SIGNATURE_TEXT_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(TEXT_MAX);
    static const uint8_t seed[LKS_KEY_BYTES] = {7};
    struct lks_signature signature = {0};
    struct lks_key key;
    struct lks_err err = {0};
    if (!CHECK_CODE(lks_key_make(seed, &key, &err), LKS_OK) ||
        !CHECK_CODE(lks_signature_make(&key, manifest, true, &signature, &err), LKS_OK) ||
        !pin(f, &key))
        return false;
    lks_signature_write(&signature, &text);
    struct lks_json_writer w = {.out = &body};
    lks_json_begin(&w, NULL, '{');
    lks_json_text(&w, "manifest", manifest);
    lks_json_text(&w, "signature", lks_buf_view(&text));
    lks_json_end(&w, '}');
    if (!crew_fine(f->crew.root, "bringBundle", "/v1/bundles", body.ptr, &t))
        return false;
    snprintf(f->bundle, sizeof(f->bundle), "%" LKS_STR_FMT, LKS_STR_ARG(crew_text(&t, "digest")));
    return true;
}

bool flashes_bundle(struct flashes *f, const enum lks_bmcsim_personality *kinds, size_t count,
                    const char *class, const char *version)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf manifest = LKS_BUF(TEXT_MAX);
    struct lks_err err = {0};
    lks_buf_addf(&manifest,
                 "{\"lockstep\":1,\"kind\":\"Bundle\",\"name\":\"rehearsal\",\"version\":\"%s\","
                 "\"artifacts\":[",
                 version);
    for (size_t i = 0; i < count; i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf package = LKS_BUF(PACKAGE_MAX);
        if (!CHECK_CODE(lks_bmcsim_image_package(kinds[i], class, version, 1, PACKAGE_BYTES,
                                                 &package, &err),
                        LKS_OK) ||
            !flashes_store(f, "firmware.fwpkg", lks_buf_view(&package), f->images[kinds[i]]))
            return false;
        add_artifact(&manifest, kinds[i], f->images[kinds[i]], package.len, class, version);
    }
    lks_buf_add(&manifest, LKS_STR("]}"));
    return flashes_bring(f, lks_buf_view(&manifest));
}

/* Updates ------------------------------------------------------------------------------------- */

uint64_t flashes_ask(struct flashes *f, const char *node, enum lks_bmcsim_personality kind,
                     const char *class, const char *version)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char body[768], to[64] = "";
    if (version != NULL)
        snprintf(to, sizeof(to), "\"version\":\"%s\",", version);
    snprintf(body, sizeof(body),
             "{\"node\":\"%s\",\"component\":\"%s\",%s\"bundle\":\"%s\","
             "\"image\":\"%s\",\"minutes\":%u,\"reason\":\"rehearsal\"}",
             node, class, to, f->bundle, f->images[kind], f->minutes != 0 ? f->minutes : 120);
    if (!crew_fine(f->crew.root, "flash", "/v1/flashes", body, &t))
        return 0;
    return (uint64_t)crew_number(&t, "id");
}

const char *flashes_outcome(struct flashes *f, uint64_t id, struct crew_told *t)
{
    static char word[32];
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "/v1/flashes/%llu", (unsigned long long)id);
    word[0] = '\0';
    if (crew_fine(f->crew.root, "flashOne", path, NULL, t))
        snprintf(word, sizeof(word), "%" LKS_STR_FMT, LKS_STR_ARG(crew_text(t, "outcome")));
    return word;
}

const char *flashes_wait(struct flashes *f, uint64_t id, struct crew_told *t)
{
    const char *outcome = flashes_outcome(f, id, t);
    for (struct lks_wait w = {0}; strcmp(outcome, "open") == 0 && lks_wait(&w);)
        outcome = flashes_outcome(f, id, t);
    return outcome;
}

const struct lks_doc *flashes_truth(struct flashes *f, const char *name, const char *class,
                                    struct crew_told *t)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(TEXT_MAX);
    struct lks_err err = {0};
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "/bmcs/%s", name);
    crew_told_fini(t);
    if (!CHECK_INT(bmcd_control(&f->bmcs, "GET", path, NULL, &answer), 200) ||
        !CHECK_CODE(lks_docs_init(&t->docs, "truth", &err), LKS_OK) ||
        !CHECK_CODE(lks_json_parse(lks_buf_view(&answer), &t->docs, &err), LKS_OK))
        return NULL;
    t->doc = t->docs.first;
    const struct lks_doc *devices = lks_doc_member(t->doc, "devices");
    for (const struct lks_doc *d = devices != NULL ? devices->first : NULL; d != NULL;
         d = d->next) {
        if (lks_str_is(lks_doc_text(d, "class"), class))
            return d;
    }
    return NULL;
}
