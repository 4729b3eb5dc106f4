/*
 * A bundle: files that were made to be installed, and a signed manifest about them.
 *
 * It is a folder with bundle.json, the manifest below; bundle.sig, a detached signature of its
 * bytes (trust/signature.h); and the files by their names. The manifest names each file by digest
 * and size, so its signature covers them. Its own digest is that of its bytes. We write it as
 * canonical JSON, and read any JSON that says the same: what counts are the bytes that were signed.
 * A file that holds firmware for several components has an entry for each of them.
 *
 * The source of one (`kind: Bundle`, for people) lists files with what they are; digests and sizes
 * are found when the bundle is built.
 */
#ifndef LKS_MODEL_BUNDLE_H
#define LKS_MODEL_BUNDLE_H

#include "base/near.h"
#include "codec/format/digest.h"
#include "model/facts/facts.h"
#include "model/schema/schema.h"

#define LKS_BUNDLE_FILE           "bundle.json"
#define LKS_BUNDLE_SIGNATURE_FILE "bundle.sig"
#define LKS_BUNDLE_BYTES_MAX      ((size_t)1 << 20) /* of a manifest */
#define LKS_BUNDLE_ARTIFACTS_MAX  1000
#define LKS_BUNDLE_NAME_MAX       127                 /* bytes of a file's name */
#define LKS_BUNDLE_SIZE_MAX       ((int64_t)64 << 30) /* bytes of a file */

enum lks_bundle_kind {
    LKS_BUNDLE_FIRMWARE, /* an image for a device */
    LKS_BUNDLE_PACKAGE,  /* for a package manager */
    LKS_BUNDLE_IMAGE,    /* of a container or a whole machine */
    LKS_BUNDLE_KIND_COUNT
};
extern const char *const lks_bundle_kind_words[]; /* "firmware", "package", "image", NULL */

/* Texts live in the bundle's documents. */
struct lks_bundle_artifact {
    struct lks_str name;   /* of the file: no folder, no blank */
    struct lks_str digest; /* "sha256:..." */
    uint64_t size;
    struct lks_str component; /* a class of components.csv, or the id of an inventory's entry */
    struct lks_str version;   /* what the component says of itself once it runs */
    enum lks_bundle_kind kind;
    bool one_way; /* it is irreversible */
    /* Lists of texts; NULL: any. */
    const struct lks_doc *hardware_classes, *hardware_revisions;
    const struct lks_doc *from; /* the versions it may come from; ">=1.4 <2" stands for many */
};

struct lks_bundle {
    struct lks_docs docs; /* owns all texts */
    struct lks_str name, version;
    struct lks_str vendor, description;    /* or empty */
    struct lks_str signed_for;             /* the vendor that does not sign; empty: none */
    struct lks_bundle_artifact *artifacts; /* in the arena of `docs` */
    size_t count;
    char digest[LKS_DIGEST_SIZE]; /* of the manifest's bytes */
};

/* The manifest, and its source for people. */
extern const struct lks_form lks_bundle_form, lks_bundle_source_form;

/* `source` is how messages call the file. A class that `facts` does not have is refused where the
 * text can be nothing else (small letters and '-'); NULL: any will do. The caller owes
 * lks_bundle_fini(). */
enum lks_code lks_bundle_parse(struct lks_str bytes, const char *source,
                               const struct lks_facts *facts, struct lks_bundle *out,
                               struct lks_err *err) LKS_MUST_CHECK;
void lks_bundle_fini(struct lks_bundle *bundle);

/* Append it as canonical JSON, which parses to the same. */
enum lks_code lks_bundle_write(const struct lks_bundle *bundle, struct lks_buf *out,
                               struct lks_err *err) LKS_MUST_CHECK;

/* The digests of its files, each once and with blanks between, appended to `out`. */
void lks_bundle_digests(const struct lks_bundle *bundle, struct lks_buf *out);

/* Whether `name` can be the name of a file in a bundle: printable ASCII without '/', blanks and
 * quotes, no '.' in front, and not one of the bundle's own two. */
bool lks_bundle_file_name(struct lks_str name);

/* Whether `component` may stand in a bundle: see lks_bundle_parse(). `hint`, if it is not NULL,
 * gets what may have been meant. */
bool lks_bundle_component(const struct lks_facts *facts, struct lks_str component,
                          char hint[LKS_NEAR_HINT_SIZE]);

/* What to install for a component: the one artifact for it, or for it and `file` where that is not
 * empty. NOT_FOUND with what the bundle has, or INVALID where it has several. */
enum lks_code lks_bundle_choose(const struct lks_bundle *bundle, struct lks_str component,
                                struct lks_str file, const struct lks_bundle_artifact **out,
                                struct lks_err *err) LKS_MUST_CHECK;

/* Whether the artifact is meant for such hardware: true where it does not say. */
bool lks_bundle_fits(const struct lks_bundle_artifact *artifact, struct lks_str hardware_class,
                     struct lks_str hardware_revision);

/* Whether it may follow `version`: true where it does not say, and where it is that one already, as
 * some of several devices may be when an update of all is begun again. */
bool lks_bundle_follows(const struct lks_facts *facts, const struct lks_bundle_artifact *artifact,
                        struct lks_str version);

#endif
