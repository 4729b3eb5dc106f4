/* SMBIOS tables for tests, put together structure by structure. */
#ifndef LKS_TESTS_DMI_H
#define LKS_TESTS_DMI_H

#include "base/buf.h"

/* Append a structure of `length` bytes, zero behind its header, with `strings` separated by '|'
 * ("" for none). The answer is where it begins. */
size_t lks_dmi_add(struct lks_buf *out, unsigned type, unsigned handle, unsigned length,
                   const char *strings);

/* Set `bytes` bytes at `offset` of the structure at `at`, the least first. */
void lks_dmi_set(struct lks_buf *out, size_t at, size_t offset, size_t bytes, uint64_t value);

/* A memory device with `mib` MiB in the array `array`. */
void lks_dmi_module(struct lks_buf *out, unsigned handle, unsigned array, uint64_t mib);

/* The end of the table. */
void lks_dmi_end(struct lks_buf *out);

#endif
