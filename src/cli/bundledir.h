/*
 * A bundle as a folder, and the keys that are pinned on this machine: a folder with a file NAME.key
 * for each, by default lockstep/trust in the user's state folder.
 */
#ifndef LKS_CLI_BUNDLEDIR_H
#define LKS_CLI_BUNDLEDIR_H

#include "cli/path.h"
#include "port/verifier.h"

#define LKS_TRUST_KEYS_MAX 1000

/* The folder of pinned keys: `dir`, or the default where it is NULL or empty. */
enum lks_code lks_trustdir_path(const struct lks_cli *cli, const char *dir, char out[PATH_MAX],
                                struct lks_err *err) LKS_MUST_CHECK;

/* All keys there, by name; none where there is no such folder. `*out` is the caller's to free. */
enum lks_code lks_trustdir_read(const char *dir, struct lks_trusted **out, size_t *count,
                                struct lks_err *err) LKS_MUST_CHECK;

/* A folder with a bundle. All zero is empty. */
struct lks_bundledir {
    char path[PATH_MAX];
    struct lks_buf manifest, signature; /* the bytes of bundle.json and bundle.sig */
    struct lks_bundle bundle;
    struct lks_evidence_answer verdict; /* of the last lks_bundledir_verify() */
};

/* Read and check the manifest; nothing is said yet about its signature or its files. The caller
 * owes lks_bundledir_fini(). */
enum lks_code lks_bundledir_read(const char *path, const struct lks_facts *facts,
                                 struct lks_bundledir *out, struct lks_err *err) LKS_MUST_CHECK;
void lks_bundledir_fini(struct lks_bundledir *b);

/* Look at its evidence. The verdict is in `b`; it fails only where keys cannot be read. */
enum lks_code lks_bundledir_verify(struct lks_bundledir *b, const struct lks_trusted *trusted,
                                   size_t count, struct lks_err *err) LKS_MUST_CHECK;

/* Both, for whoever is to use it: REFUSED, with the line that says what to do, unless its signature
 * is good against a key in `trust_dir` (NULL: the default). */
enum lks_code lks_bundledir_open(const struct lks_cli *cli, const char *path, const char *trust_dir,
                                 const struct lks_facts *facts, struct lks_bundledir *out,
                                 struct lks_err *err) LKS_MUST_CHECK;

/* Open one of its files and read it all: REFUSED unless size and digest are what the manifest says.
 * `*fd` is at the file's beginning, and the caller's to close. */
enum lks_code lks_bundledir_file(const struct lks_bundledir *b,
                                 const struct lks_bundle_artifact *artifact, int *fd,
                                 struct lks_err *err) LKS_MUST_CHECK;

#endif
