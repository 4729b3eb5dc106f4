/* PLDM packages for tests: one that is known byte by byte, any at random, and signed ones. */
#ifndef LKS_TESTS_PACKAGES_H
#define LKS_TESTS_PACKAGES_H

#include "base/rng.h"
#include "pldm/package.h"
#include "pldm/trailer.h"

#define LKS_TEST_IMAGES_MAX 8

/* A package and its images, all of it in the package's arena. */
struct lks_test_package {
    struct lks_pldm_package package;
    struct lks_str images[LKS_TEST_IMAGES_MAX];
};

/* The same each time: two devices, two components, and whatever the revision can have beside them
 * (a downstream device, opaque data, a reference manifest). The caller owes
 * lks_pldm_package_fini(). */
struct lks_test_package lks_test_package_sample(uint8_t revision);

/* Anything that the standard allows. */
struct lks_test_package lks_test_package_any(struct lks_rng *rng, uint8_t revision);

/* Append the file. A failure to is a failed check. */
void lks_test_package_file(struct lks_test_package *t, struct lks_buf *out);

/* Append the file of the sample. */
void lks_test_package_sample_file(uint8_t revision, struct lks_buf *out);

/* Make the checksums right after something was changed: of the header, and with revision 4 of the
 * payload. False: it is too damaged to have one. */
bool lks_test_package_mend(struct lks_buf *file);

/* Whether two say the same, but for notes. */
bool lks_test_packages_equal(const struct lks_pldm_package *a, const struct lks_pldm_package *b);

/* Sign a file as NVIDIA does, with a key made for the purpose, whose public half is appended to
 * `pem`. */
void lks_test_package_sign(struct lks_buf *file, struct lks_buf *pem);

#endif
