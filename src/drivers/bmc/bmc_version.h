/*
 * Versions as inventories and packages write them. One firmware has several spellings: with or
 * without "v", in either case, as the digits of its ASCII bytes ("312e3041" is "1.0A"), with the
 * build mark of its signature ("_n04"), inside a sentence ("BIOS Date: 08/04/2023 Ver 1.4", "2.72
 * Sep 04 2022", "A42 v2.60 (08/11/2022)").
 */
#ifndef LKS_DRIVERS_BMC_VERSION_H
#define LKS_DRIVERS_BMC_VERSION_H

#include "codec/notation/version.h"

/* What an entry says of its version, without blanks around; empty where it says in words that there
 * is none ("Not Present", "N/A"). */
struct lks_str lks_bmc_version_said(struct lks_str said);

/* The version that stands in `said`, in lower case and without what only decorates it. Written to
 * `out`, cut to its size; the answer is a view of it, empty where there is no version. */
#define LKS_BMC_PLAIN_SIZE 128
struct lks_str lks_bmc_version_plain(struct lks_str said, char out[LKS_BMC_PLAIN_SIZE]);

/* Do both mean the same version? Nothing is the same as what names no version. Where one of them is
 * a sentence it is the version in it that counts; two sentences have to be the same altogether, so
 * that "1.2 Build 44" is not "1.2 Build 45". */
bool lks_bmc_version_same(struct lks_str a, struct lks_str b);

/* Is `a` older than `b`, by `scheme` or, where one of them is not written so, as firmware? False
 * also where the two cannot be ordered. */
bool lks_bmc_version_older(struct lks_str a, struct lks_str b, enum lks_version_scheme scheme);

#endif
