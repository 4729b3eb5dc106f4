/* Tuples for tests, written as lines:
 *
 *     driver=580.126.20                             measured
 *     settings.ecc@gpu 0000:06:00.0=true            of a device
 *     settings.ecc@gpu *=true                       of each of the eight GPUs ("nic *": adapters)
 *     firmware/vbios@gpu 0000:06:00.0#PN=96.00      of a device with a part number
 *     doca-ofed~                                    absent
 *     kernel?no access                              unmeasured, and why
 *
 * The evidence of a reading is what follows a tab, else "proof of " and its name. */
#ifndef LKS_TESTS_TUPLES_H
#define LKS_TESTS_TUPLES_H

#include "model/tuple/tuple.h"

enum { LKS_TEST_DEVICES = 8 };

/* What the GPUs and the adapters are called, `i` from 0 to 7. */
const char *lks_test_gpu(unsigned i);
const char *lks_test_nic(unsigned i);

/* A tuple of the node "n1" that is finished; the caller owes lks_tuple_fini(). Aborts where a line
 * is not one of the above. */
void lks_test_tuple(const char *lines, struct lks_tuple *out);

/* The same, of `base` with changes: a line among them stands in the place of all readings of `base`
 * with its name, or where it names a device with its name and device. "!NAME" or "!NAME@DEVICE"
 * takes them out. */
void lks_test_tuple_with(const char *base, const char *changes, struct lks_tuple *out);

/* A whole HGX H200 node, as lines, and the stack that it runs, as a manifest. */
extern const char lks_test_node[];
extern const char lks_test_node_stack[];

#endif
