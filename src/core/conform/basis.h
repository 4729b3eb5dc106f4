/*
 * What a judgement can rest on.
 *
 * Two nodes with the same basis are judged alike against any stack: it holds all readings that
 * lks_conform() looks at, whatever their state, and none of what makes a node this very node
 * (addresses, serial numbers, the order of its devices). It is finer than a tuple's digest, which
 * leaves out what is not read each time.
 *
 * As text it has a line for each reading, sorted: name, device, part, state and value, with tabs
 * between. Devices are "gpu 3", numbered by what they read and not by where they are: which
 * readings are of one device counts, which device it is does not. Of copies of libraries that read
 * the same one is kept. States are '=' measured, '-' absent, '?' unmeasured, and two more for what
 * is asked of evidence: '#' memory counted in the kernel's blocks, '!' a probe that failed. So it
 * can be read again without copying, and judged.
 *
 * Health is of a moment and no part of it, but for modes that wait for a reset: a stack that names
 * such a reading finds it unmeasured.
 */
#ifndef LKS_CORE_BASIS_H
#define LKS_CORE_BASIS_H

#include "model/tuple/tuple.h"

#define LKS_BASIS_BYTES_MAX ((size_t)1 << 20)

/* The basis of a finished tuple, appended to `out`, and its digest. */
enum lks_code lks_basis_of(const struct lks_tuple *tuple, struct lks_buf *out,
                           char digest[LKS_DIGEST_SIZE], struct lks_err *err) LKS_MUST_CHECK;

/* In-band and out-of-band readings as one: what only one has is taken, what both have alike is
 * taken once, and where they differ the reading is measured in neither way: its value says both,
 * and starts with LKS_BASIS_DISAGREE. Firmware that is absent in-band and was read out of band is
 * taken from out of band. `expired` (out of band past its age) turns what only the latter has into
 * unmeasured. Either may be empty. */
#define LKS_BASIS_DISAGREE "in-band and out-of-band disagree: "
enum lks_code lks_basis_merge(struct lks_str inband, struct lks_str outband, bool expired,
                              struct lks_buf *out, char digest[LKS_DIGEST_SIZE],
                              struct lks_err *err) LKS_MUST_CHECK;

/* A finished tuple whose texts are views of `text`. INVALID for what we could not have written. */
enum lks_code lks_basis_parse(struct lks_str text, struct lks_tuple *out,
                              struct lks_err *err) LKS_MUST_CHECK;

/* The value of the first measured reading called so, or an empty view; without parsing it all. */
struct lks_str lks_basis_value(struct lks_str text, const char *name);

/* How many GPUs it names. */
uint32_t lks_basis_gpus(struct lks_str text);

#endif
