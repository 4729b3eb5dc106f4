/* Kernel modules on disk: where modprobe would take one from, and what it says of itself. */
#ifndef LKS_PROBE_MODULE_H
#define LKS_PROBE_MODULE_H

#include "codec/program/modinfo.h"
#include "probe/root/root.h"

#define LKS_MODULE_BYTES_MAX ((uint64_t)1 << 30) /* of a module, decompressed */

/* The file of module `name` ("nvidia") for kernel `release`: the one that modules.dep lists, else
 * one in the folders where such modules are put. NOT_FOUND where there is none. */
enum lks_code lks_module_find(struct lks_root *root, const char *release, const char *name,
                              char out[LKS_ROOT_PATH_MAX], struct lks_err *err) LKS_MUST_CHECK;

/* Whether a file is a module by its name, packed or not. */
bool lks_module_is_file(struct lks_str file);

/* Its version, srcversion and license; the other texts are left empty. */
enum lks_code lks_module_info(struct lks_root *root, const char *path, struct lks_modinfo *out,
                              struct lks_err *err) LKS_MUST_CHECK;

#endif
