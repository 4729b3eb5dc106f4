/*
 * Where the library search looks: the whole list, as data. What is not in it is not looked at, and
 * the reference page prints it.
 *
 * A pattern is a path whose parts may hold '*' (any name that does not begin with a dot) or a list
 * in braces, of which each is tried. The patterns of a Python environment continue with those of
 * lks_conda_places and, in its packages, lks_wheel_places. In the file system of a container
 * everything but other containers is looked for again.
 */
#ifndef LKS_PROBE_LIBPLACES_H
#define LKS_PROBE_LIBPLACES_H

#include <stddef.h>

enum lks_place_kind {
    LKS_PLACE_SYSTEM,
    LKS_PLACE_CUDA,
    LKS_PLACE_PYTHON,
    LKS_PLACE_CONTAINER,
    LKS_PLACE_PROCESS,
    LKS_PLACE_KIND_COUNT
};

/* "system", "cuda", "python", "container", "process": the part of a copy's reading. */
const char *lks_libplace_kind_name(enum lks_place_kind kind);

struct lks_place {
    enum lks_place_kind kind;
    const char *pattern; /* system, cuda: directories with libraries; python: environments;
                            container: file systems of images and containers */
    const char *about;
};
extern const struct lks_place lks_places[];
extern const size_t lks_place_count;

/* The place whose directories stand in a file and not in the table. */
extern const struct lks_place lks_place_loader;
/* The place that is no path: what running processes have mapped. */
extern const struct lks_place lks_place_processes;

/* Directories with libraries within a Python environment that is Conda's. */
extern const char *const lks_conda_places[];
extern const size_t lks_conda_place_count;

/* Its packages, and directories with libraries within those. */
#define LKS_PYTHON_PACKAGES "{lib,lib64}/python3*/{site-packages,dist-packages}"
extern const char *const lks_wheel_places[];
extern const size_t lks_wheel_place_count;

#endif
