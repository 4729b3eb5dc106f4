/*
 * What a package is to be made of, as a person writes it: one YAML document with a revision, a
 * version, the devices it is for and the components in it (docs/pldm.md has all keys).
 *
 * Reading one touches no file: it lists those that it names, and the caller fills in what is
 * missing, which is the size of each image and the small texts that go into the header.
 */
#ifndef LKS_PLDM_PACKAGE_RECIPE_H
#define LKS_PLDM_PACKAGE_RECIPE_H

#include "codec/format/docs.h"
#include "pldm/package.h"

#define LKS_PLDM_RECIPE_COMPONENTS_MAX 2048

/* A file that the recipe names. */
struct lks_pldm_wanted {
    struct lks_str path;      /* as it stands there, terminated; relative: beside the recipe */
    const struct lks_doc *at; /* for messages */
    struct lks_str *into;     /* where its bytes belong; NULL: it is an image */
    size_t component;         /* whose image */
};

/* `docs` owns the texts and has to stay. */
struct lks_pldm_recipe {
    struct lks_pldm_package package; /* its arena owns all arrays, those of `wanted` too */
    struct lks_pldm_wanted *wanted;
    size_t wanted_count;
};

/* Read the only document of `docs`. Messages begin with "file:line:column: path: ". */
enum lks_code lks_pldm_recipe_read(const struct lks_docs *docs, struct lks_pldm_recipe *out,
                                   struct lks_err *err) LKS_MUST_CHECK;
void lks_pldm_recipe_fini(struct lks_pldm_recipe *r);

#endif
