/* bundle build: files and what they are, from a small YAML, into a folder that can be signed. */
#include "base/file.h"
#include "cli/shared/bundledir.h"
#include "cli/shared/commands.h"
#include "cli/shared/input.h"
#include "cli/shared/output.h"
#include "codec/format/yaml.h"
#include "drivers/bmc/bmc_version.h"
#include "pldm/package.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOURCE_FILE "bundle.yaml"

enum { KEY_MAX = 16 << 10, FOR_ALL_TO_READ = 0644 };
enum { IMAGES_LISTED = 6, VERSION_LISTED = 40, LISTED_MAX = 600 };

struct building {
    struct lks_docs docs; /* of the source */
    const struct lks_doc *source;
    struct lks_facts facts;
    char from[PATH_MAX]; /* the folder its paths begin at */
    char to[PATH_MAX];
    bool made;           /* the folder is ours, and was empty */
    struct lks_buf json; /* of the manifest, on its way */
    struct lks_json_writer w;
    struct lks_buf manifest; /* its bytes */
    struct lks_bundle bundle;
    char signer[LKS_DIGEST_SIZE]; /* fingerprint; empty: not signed */
    FILE *notes;                  /* not owned */
};

/* What lies in the folder so far goes with it, unless it became a bundle. */
static void discard(struct building *b)
{
    const struct lks_doc *files = lks_doc_member(b->source, "files");
    struct lks_err err = {0};
    char path[PATH_MAX], name[LKS_BUNDLE_NAME_MAX + 1];
    for (const struct lks_doc *f = files->first; f != NULL; f = f->next) {
        struct lks_str file = lks_str_last(lks_doc_text(f, "file"), '/');
        snprintf(name, sizeof(name), "%" LKS_STR_FMT, LKS_STR_ARG(file));
        if (lks_bundle_file_name(file) && lks_path_join(path, b->to, name, &err) == LKS_OK)
            (void)unlink(path);
    }
    if (lks_path_join(path, b->to, LKS_BUNDLE_SIGNATURE_FILE, &err) == LKS_OK)
        (void)unlink(path);
    (void)rmdir(b->to);
}

static void building_fini(struct building *b)
{
    if (b->made)
        discard(b);
    lks_docs_fini(&b->docs);
    lks_facts_fini(&b->facts);
    lks_buf_fini_all((struct lks_buf *const[]){&b->json, &b->manifest, NULL});
    lks_bundle_fini(&b->bundle);
    *b = (struct building){0};
}

/* The source -------------------------------------------------------------------------------- */

/* What a source and a manifest both say of a file. */
static void put_said(struct lks_json_writer *w, const struct lks_doc *file)
{
    static const char *const lists[] = {"hardware_classes", "hardware_revisions", "from"};
    const struct lks_doc *one_way = lks_doc_member(file, "one_way");
    lks_json_text(w, "component", lks_doc_text(file, "component"));
    lks_json_some(w, "kind", lks_doc_text(file, "kind"));
    for (size_t i = 0; i < LKS_COUNT(lists); i++)
        lks_bundledir_list(w, lists[i], lks_doc_member(file, lists[i]));
    if (one_way != NULL && one_way->truth)
        lks_json_bool(w, "one_way", true);
}

static void put_texts(struct lks_json_writer *w, const struct lks_doc *from)
{
    static const char *const keys[] = {"name", "version", "description", "vendor", "signed_for"};
    for (size_t i = 0; i < LKS_COUNT(keys); i++)
        lks_json_some(w, keys[i], lks_doc_text(from, keys[i]));
}

/* A bundle that lies there already, with its files as its manifest says, as the source of one. */
static enum lks_code source_of_bundle(const char *dir, const struct lks_facts *facts,
                                      struct lks_buf *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_bundledir_fini) struct lks_bundledir b = {0};
    struct lks_json_writer w = {.out = out};
    if (lks_bundledir_read(dir, facts, &b, err) != LKS_OK)
        return err->code;
    const struct lks_doc *top = b.bundle.docs.first, *list = lks_doc_member(top, "artifacts");
    lks_json_begin(&w, NULL, '{');
    lks_json_int(&w, "lockstep", 1);
    lks_json_cstr(&w, "kind", "Bundle");
    put_texts(&w, top);
    lks_json_begin(&w, "files", '[');
    size_t i = 0;
    for (const struct lks_doc *a = list->first; a != NULL; a = a->next, i++) {
        int fd = -1;
        if (lks_bundledir_file(&b, &b.bundle.artifacts[i], &fd, err) != LKS_OK)
            return err->code;
        close(fd);
        lks_json_begin(&w, NULL, '{');
        lks_json_text(&w, "file", lks_doc_text(a, "name"));
        lks_json_text(&w, "version", lks_doc_text(a, "version"));
        put_said(&w, a);
        lks_json_end(&w, '}');
    }
    lks_json_end(&w, ']');
    lks_json_end(&w, '}');
    return lks_buf_check(out, err);
}

/* The text of the source, and how messages call it. A folder stands for the bundle.yaml in it, or
 * for the bundle that it is. */
static enum lks_code find_source(const char *given, struct building *b, char path[PATH_MAX],
                                 struct lks_buf *text, struct lks_err *err)
{
    struct stat st;
    if (stat(given, &st) != 0)
        return lks_file_fail(err, given);
    if (S_ISDIR(st.st_mode)) {
        if (lks_path_join(b->from, given, "", err) != LKS_OK ||
            lks_path_join(path, given, SOURCE_FILE, err) != LKS_OK)
            return err->code;
        return access(path, F_OK) == 0 ? lks_file_read(path, text, err)
                                       : source_of_bundle(given, &b->facts, text, err);
    }
    const char *end = strrchr(given, '/');
    snprintf(b->from, sizeof(b->from), "%.*s", end != NULL ? (int)(end - given + 1) : 2,
             end != NULL ? given : "./");
    snprintf(path, PATH_MAX, "%s", given);
    return lks_file_read(path, text, err);
}

static enum lks_code read_source(const char *given, struct building *b, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_DOC_BYTES_MAX);
    char path[PATH_MAX];
    if (find_source(given, b, path, &text, err) != LKS_OK ||
        lks_docs_init(&b->docs, path, err) != LKS_OK)
        return err->code;
    bool json = text.len > 0 && text.ptr[0] == '{';
    enum lks_code code = json ? lks_json_parse(lks_buf_view(&text), &b->docs, err)
                              : lks_yaml_parse(lks_buf_view(&text), &b->docs, err);
    if (code != LKS_OK)
        return code;
    if (b->docs.count != 1)
        return lks_fail(err, LKS_E_INVALID, "%s: expected one bundle, found %zu documents", path,
                        b->docs.count);
    if (lks_schema_check(&b->docs, b->docs.first, &lks_bundle_source_form, err) != LKS_OK)
        return err->code;
    b->source = b->docs.first;
    return LKS_OK;
}

/* Versions from a PLDM package -------------------------------------------------------------- */

/* "10 (1.2.3), 20 (4.5) and 3 more; ..." */
static void list_images(struct lks_pldm_package *p, struct lks_buf *out)
{
    size_t listed = p->component_count < IMAGES_LISTED ? p->component_count : IMAGES_LISTED;
    for (size_t i = 0; i < listed; i++) {
        struct lks_str version = lks_pldm_package_string_text(p->components[i].version, &p->arena);
        lks_buf_addf(out, "%s%u (%.*s)", i > 0 ? ", " : "", p->components[i].id,
                     version.len < VERSION_LISTED ? (int)version.len : VERSION_LISTED, version.ptr);
    }
    if (p->component_count > listed)
        lks_buf_addf(out, " and %zu more; 'lockstep pldm inspect FILE' lists all",
                     p->component_count - listed);
}

/* The image of the package that the file is about: the one it names, or the only one. */
static enum lks_code choose_image(const struct building *b, const struct lks_doc *file,
                                  struct lks_pldm_package *p, size_t *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf list = LKS_BUF(LISTED_MAX);
    const struct lks_doc *wanted = lks_doc_member(file, "image");
    size_t found = 0;
    for (size_t i = 0; i < p->component_count; i++) {
        if (wanted != NULL && wanted->number != p->components[i].id)
            continue;
        *out = i;
        found++;
    }
    if (found == 1)
        return LKS_OK;
    list_images(p, &list);
    return lks_doc_fail(&b->docs, wanted != NULL ? wanted : file, err,
                        "the package has %s; say version, or which image of: %s",
                        found == 0 ? "no such image" : "several such images",
                        list.ptr != NULL ? list.ptr : "");
}

/* Of an image without a given version. */
static enum lks_code own_version(struct building *b, const struct lks_doc *file,
                                 struct lks_pldm_package *p, struct lks_str *out,
                                 struct lks_err *err)
{
    size_t index = 0;
    if (choose_image(b, file, p, &index, err) != LKS_OK)
        return err->code;
    struct lks_str own = lks_pldm_package_string_text(p->components[index].version, &p->arena);
    if (own.len == 0 || own.len > LKS_BUNDLE_NAME_MAX || memchr(own.ptr, '?', own.len) != NULL)
        return lks_doc_fail(&b->docs, file, err,
                            "say version: that of image %u in the package is %s",
                            p->components[index].id,
                            own.len == 0                    ? "empty"
                            : own.len > LKS_BUNDLE_NAME_MAX ? "too long"
                                                            : "not all of it text");
    *out = lks_arena_copy(&b->docs.arena, own);
    return LKS_OK;
}

static void note(const struct building *b, const struct lks_doc *file, const char *what,
                 const char *more)
{
    char text[LKS_ERR_MSG_MAX + LISTED_MAX];
    snprintf(text, sizeof(text), "%" LKS_STR_FMT ": %s%s", LKS_STR_ARG(lks_doc_text(file, "file")),
             what, more);
    lks_str_make_printable(text);
    fprintf(b->notes, "note: %s\n", text);
}

/* An update is judged by what the device then reports. Some report another version than their
 * package has, so the source has the last word; but more often it is a slip. */
static enum lks_code compare_version(const struct building *b, const struct lks_doc *file,
                                     struct lks_pldm_package *p, struct lks_str said,
                                     struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf list = LKS_BUF(LISTED_MAX);
    bool one = lks_doc_member(file, "image") != NULL;
    size_t index = 0;
    if (one && choose_image(b, file, p, &index, err) != LKS_OK)
        return err->code;
    for (size_t i = 0; i < p->component_count; i++) {
        struct lks_str own = lks_pldm_package_string_text(p->components[i].version, &p->arena);
        if ((!one || i == index) && (lks_str_eq(own, said) || lks_bmc_version_same(own, said)))
            return LKS_OK;
    }
    lks_buf_addf(&list, "%" LKS_STR_FMT ", which %s: ", LKS_STR_ARG(said),
                 one ? "this image of the package has not" : "no image of the package has");
    list_images(p, &list);
    note(b, file, "devices will have to report version ", list.ptr != NULL ? list.ptr : "");
    return LKS_OK;
}

/* Into `version`, unless the source has said it: then the package is only looked at. */
static enum lks_code look_into(struct building *b, const struct lks_doc *file, struct lks_str bytes,
                               uint64_t size, struct lks_str *version, struct lks_err *err)
{
    LKS_CLEANUP(lks_pldm_package_fini) struct lks_pldm_package p = {0};
    struct lks_err why = {0};
    bool said = version->len > 0;
    enum lks_code code = lks_pldm_package_parse(bytes, size, false, &p, &why);
    if (code == LKS_OK)
        return said ? compare_version(b, file, &p, *version, err)
                    : own_version(b, file, &p, version, err);
    if (code == LKS_E_NOMEM)
        return lks_fail_nomem(err);
    if (!said)
        return lks_doc_fail(&b->docs, lks_doc_member(file, "file"), err,
                            "not a PLDM package, although it starts as one: %s", why.msg);
    note(b, file, "not a PLDM package, although it starts as one: ", why.msg);
    return LKS_OK;
}

static enum lks_code find_version(struct building *b, const struct lks_doc *file, int fd,
                                  const char *path, uint64_t size, struct lks_str *out,
                                  struct lks_err *err)
{
    char *head = malloc(LKS_PLDM_HEADER_MAX);
    if (head == NULL)
        return lks_fail_nomem(err);
    ssize_t len = pread(fd, head, LKS_PLDM_HEADER_MAX, 0);
    struct lks_str bytes = {head, len > 0 ? (size_t)len : 0};
    enum lks_code code = len < 0 ? lks_file_fail(err, path) : LKS_OK;
    *out = lks_doc_text(file, "version");
    if (code == LKS_OK && lks_pldm_package_is(bytes))
        code = look_into(b, file, bytes, size, out, err);
    if (code == LKS_OK && out->len == 0)
        code = lks_doc_fail(&b->docs, file, err,
                            "say its version: only PLDM packages say theirs themselves");
    free(head);
    return code;
}

/* Files ------------------------------------------------------------------------------------- */

/* A file that stands in the list twice, for two components, is copied once. */
static enum lks_code copy_file(int fd, const char *from, const char *to, bool there,
                               char digest[LKS_DIGEST_SIZE], uint64_t *size, struct lks_err *err)
{
    if (there)
        return lks_bundledir_digest(fd, from, -1, "", digest, size, err);
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, FOR_ALL_TO_READ);
    if (out < 0 && errno == EEXIST)
        return lks_fail(err, LKS_E_INVALID,
                        "%s: another file has the same name, and a bundle has no folders; rename "
                        "one of them",
                        from);
    if (out < 0)
        return lks_file_fail(err, to);
    enum lks_code code = lks_bundledir_digest(fd, from, out, to, digest, size, err);
    if (code == LKS_OK && fsync(out) != 0)
        code = lks_file_fail(err, to);
    close(out);
    return code;
}

static bool copied_before(const struct building *b, const struct lks_doc *file)
{
    struct lks_str path = lks_doc_text(file, "file");
    const struct lks_doc *files = lks_doc_member(b->source, "files");
    for (const struct lks_doc *f = files->first; f != file; f = f->next) {
        if (lks_str_eq(lks_doc_text(f, "file"), path))
            return true;
    }
    return false;
}

static void put_entry(struct lks_json_writer *w, const struct lks_doc *file, struct lks_str name,
                      const char *digest, uint64_t size, struct lks_str version)
{
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "name", name);
    lks_json_cstr(w, "digest", digest);
    lks_json_int(w, "size", (int64_t)size);
    lks_json_text(w, "version", version);
    put_said(w, file);
    lks_json_end(w, '}');
}

static enum lks_code add_open_file(struct building *b, const struct lks_doc *file, int fd,
                                   const char *path, struct lks_err *err)
{
    char to[PATH_MAX], base[LKS_BUNDLE_NAME_MAX + 1], digest[LKS_DIGEST_SIZE];
    struct lks_str name = lks_str_last(lks_doc_text(file, "file"), '/'), version = {"", 0};
    struct stat st;
    uint64_t size = 0;
    if (!lks_bundle_file_name(name))
        return lks_doc_fail(&b->docs, lks_doc_member(file, "file"), err,
                            "'%" LKS_STR_FMT "' cannot be the name of a file in a bundle",
                            LKS_STR_ARG(name));
    if (fstat(fd, &st) != 0)
        return lks_file_fail(err, path);
    if (!S_ISREG(st.st_mode) || st.st_size == 0)
        return lks_doc_fail(&b->docs, lks_doc_member(file, "file"), err, "%s",
                            S_ISREG(st.st_mode) ? "the file is empty" : "not a plain file");
    snprintf(base, sizeof(base), "%" LKS_STR_FMT, LKS_STR_ARG(name));
    if (find_version(b, file, fd, path, (uint64_t)st.st_size, &version, err) != LKS_OK ||
        lks_path_join(to, b->to, base, err) != LKS_OK ||
        copy_file(fd, path, to, copied_before(b, file), digest, &size, err) != LKS_OK)
        return err->code;
    put_entry(&b->w, file, name, digest, size, version);
    return LKS_OK;
}

static enum lks_code add_file(struct building *b, const struct lks_doc *file, struct lks_err *err)
{
    char path[PATH_MAX];
    struct lks_str name = lks_doc_text(file, "file");
    int len = snprintf(path, sizeof(path), "%s%" LKS_STR_FMT, name.ptr[0] == '/' ? "" : b->from,
                       LKS_STR_ARG(name));
    if (len < 0 || len >= (int)sizeof(path))
        return lks_doc_fail(&b->docs, file, err, "too long for a path");
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return lks_file_fail(err, path);
    enum lks_code code = add_open_file(b, file, fd, path, err);
    close(fd);
    return code;
}

/* The manifest ------------------------------------------------------------------------------ */

/* What the command line says goes before what the source says. */
static struct lks_str said(const struct building *b, const struct lks_args *args,
                           const char *option, const char *key)
{
    struct lks_str given = lks_args_str(args, option);
    return given.len > 0 ? given : lks_doc_text(b->source, key);
}

static void put_top(struct building *b, const struct lks_args *args)
{
    struct lks_str vendor = lks_doc_text(b->source, "vendor");
    struct lks_str stead = lks_doc_text(b->source, "signed_for");
    lks_buf_init(&b->json, LKS_BUNDLE_BYTES_MAX);
    b->w.out = &b->json;
    lks_json_begin(&b->w, NULL, '{');
    lks_json_int(&b->w, "lockstep", 1);
    lks_json_cstr(&b->w, "kind", "Bundle");
    lks_json_text(&b->w, "name", said(b, args, "--name", "name"));
    lks_json_text(&b->w, "version", said(b, args, "--version", "version"));
    lks_json_some(&b->w, "description", lks_doc_text(b->source, "description"));
    lks_json_some(&b->w, "vendor", vendor);
    /* In what is signed, where it cannot be removed again. */
    if (lks_args_has(args, "--sign") && stead.len == 0)
        stead = vendor.len > 0 ? vendor : LKS_STR("unknown");
    lks_json_some(&b->w, "signed_for", stead);
}

static enum lks_code make_manifest(struct building *b, const struct lks_args *args,
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_bundle_fini) struct lks_bundle draft = {0};
    const struct lks_doc *files = lks_doc_member(b->source, "files");
    put_top(b, args);
    lks_json_begin(&b->w, "artifacts", '[');
    for (const struct lks_doc *f = files->first; f != NULL; f = f->next) {
        if (add_file(b, f, err) != LKS_OK)
            return err->code;
    }
    lks_json_end(&b->w, ']');
    lks_json_end(&b->w, '}');
    lks_buf_init(&b->manifest, LKS_BUNDLE_BYTES_MAX);
    if (lks_buf_check(&b->json, err) != LKS_OK ||
        lks_bundle_parse(lks_buf_view(&b->json), "bundle", &b->facts, &draft, err) != LKS_OK ||
        lks_bundle_write(&draft, &b->manifest, err) != LKS_OK)
        return err->code;
    return lks_bundle_parse(lks_buf_view(&b->manifest), LKS_BUNDLE_FILE, &b->facts, &b->bundle,
                            err);
}

static enum lks_code put_file(const struct building *b, const char *name, struct lks_str bytes,
                              struct lks_err *err)
{
    char path[PATH_MAX];
    if (lks_path_join(path, b->to, name, err) != LKS_OK)
        return err->code;
    return lks_file_new(path, FOR_ALL_TO_READ, bytes, err);
}

static enum lks_code sign(struct building *b, const char *key_file, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf key = {0}, text = {0};
    struct lks_signature s = {0};
    lks_buf_init(&key, KEY_MAX);
    lks_buf_init(&text, LKS_SIGNATURE_TEXT_MAX);
    enum lks_code code = lks_input_private(key_file, "key", false, &key, err);
    if (code == LKS_OK) {
        code = lks_signature_by(lks_buf_view(&key), lks_buf_view(&b->manifest), true, &s, err);
        code = code == LKS_OK ? code : lks_wrap(err, "%s", key_file);
    }
    if (key.ptr != NULL)
        explicit_bzero(key.ptr, key.len);
    if (code != LKS_OK)
        return code;
    memcpy(b->signer, s.key, sizeof(b->signer));
    lks_signature_write(&s, &text);
    lks_buf_addc(&text, '\n');
    if (lks_buf_check(&text, err) != LKS_OK)
        return err->code;
    return put_file(b, LKS_BUNDLE_SIGNATURE_FILE, lks_buf_view(&text), err);
}

/* The command ------------------------------------------------------------------------------- */

static enum lks_code tell(struct lks_cli *cli, const struct lks_args *args,
                          const struct building *b, struct lks_err *err)
{
    const struct lks_bundle *bundle = &b->bundle;
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    lks_json_write(lks_output_begin(&o),
                   "'name': '%.*s', 'version': '%.*s', 'digest': '%s', 'artifacts': %zu, "
                   "'key'?: '%s', 'folder': '%s'",
                   LKS_STR_ARG(bundle->name), LKS_STR_ARG(bundle->version), bundle->digest,
                   bundle->count, b->signer, b->to);
    return lks_output_form(cli, args, &o,
                           "{folder}: {name} {version} with {artifacts#file}\n{digest}\n"
                           "[signed for this site with key {key}|not signed: its signature goes "
                           "into " LKS_BUNDLE_SIGNATURE_FILE ", or use --sign KEYFILE]\n",
                           err);
}

enum lks_code lks_cmd_bundle_build(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_err *err)
{
    LKS_CLEANUP(building_fini) struct building b = {.notes = cli->err};
    const char *output = lks_args_get(args, "--output"), *key = lks_args_get(args, "--sign");
    if (output == NULL)
        return lks_fail(err, LKS_E_USAGE, "--output has to name a folder, which is made");
    if (lks_input_facts(cli->data_dir, &b.facts, err) != LKS_OK ||
        read_source(args->positional[0], &b, err) != LKS_OK ||
        lks_path_join(b.to, output, "", err) != LKS_OK)
        return err->code;
    if (b.to[1] != '\0')
        b.to[strlen(b.to) - 1] = '\0'; /* the slash at its end; "/" has no other */
    if (mkdir(b.to, 0755) != 0)
        return errno == EEXIST ? lks_fail(err, LKS_E_INVALID,
                                          "%s: is there already; --output names a new folder", b.to)
                               : lks_file_fail(err, b.to);
    b.made = true;
    if (make_manifest(&b, args, err) != LKS_OK || (key != NULL && sign(&b, key, err) != LKS_OK) ||
        put_file(&b, LKS_BUNDLE_FILE, lks_buf_view(&b.manifest), err) != LKS_OK)
        return err->code;
    b.made = false; /* it is a bundle now, and stays */
    return tell(cli, args, &b, err);
}
