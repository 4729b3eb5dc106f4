/* A bundle as a folder: its manifest, its signature and its files. */
#ifndef LKS_CLI_BUNDLEDIR_H
#define LKS_CLI_BUNDLEDIR_H

#include "cli/shared/trustdir.h"
#include "codec/format/json.h"

/* All zero is empty. */
struct lks_bundledir {
    char path[PATH_MAX];
    struct lks_buf manifest, signature; /* the bytes of bundle.json and bundle.sig, or none */
    struct lks_bundle bundle;
    struct lks_evidence_answer verdict; /* of the last lks_bundledir_verify() */
};

/* Read and check the manifest; nothing is said yet about its signature or its files. `facts` may be
 * NULL. The caller owes lks_bundledir_fini(). */
enum lks_code lks_bundledir_read(const char *path, const struct lks_facts *facts,
                                 struct lks_bundledir *out, struct lks_err *err) LKS_MUST_CHECK;
void lks_bundledir_fini(struct lks_bundledir *b);

/* Look at its evidence; the verdict is in `b`. `dir` is the folder that the keys are from; NULL:
 * they are lockstepd's. */
void lks_bundledir_verify(struct lks_bundledir *b, const struct lks_trusted *trusted, size_t count,
                          const char *dir);

/* Both, for a caller that is to use it: REFUSED, with a line that says what to do, unless it is
 * good by the keys that are pinned on this machine. `state` is the folder of --state, or NULL. */
enum lks_code lks_bundledir_open(const struct lks_cli *cli, const char *path, const char *state,
                                 const struct lks_facts *facts, struct lks_bundledir *out,
                                 struct lks_err *err) LKS_MUST_CHECK;

/* REFUSED where the lockstepd that is configured says that the bundle with this digest is revoked,
 * or, where its verdict is `needed`, has none; any other failure where it says nothing. `path` is
 * for the message. */
enum lks_code lks_bundledir_revoked(struct lks_cli *cli, const char *path, const char *digest,
                                    bool needed, struct lks_err *err) LKS_MUST_CHECK;

/* Open one of its files and read it all: REFUSED unless size and digest are what the manifest says.
 * `*fd` is at the file's beginning, and the caller's to close. */
enum lks_code lks_bundledir_file(const struct lks_bundledir *b,
                                 const struct lks_bundle_artifact *artifact, int *fd,
                                 struct lks_err *err) LKS_MUST_CHECK;

/* The digest and size of what is left to read from `fd`; each piece also goes to `to`, unless that
 * is negative. The paths are for messages. */
enum lks_code lks_bundledir_digest(int fd, const char *path, int to, const char *to_path,
                                   char digest[LKS_DIGEST_SIZE], uint64_t *size,
                                   struct lks_err *err) LKS_MUST_CHECK;

/* A list of texts as a manifest has them, such as an artifact's `from`; NULL: nothing is written.
 */
void lks_bundledir_list(struct lks_json_writer *w, const char *key, const struct lks_doc *list);

#endif
