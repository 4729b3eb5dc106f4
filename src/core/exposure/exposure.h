/*
 * What published vulnerabilities and ends of support mean for the fleet as it was measured.
 *
 * Finding it takes a while, so it is found in a copy: the state is read in slices, and the holder
 * of the copy asks it on any thread at any time. Each node is in it once, as it was when its slice
 * was read.
 */
#ifndef LKS_CORE_EXPOSURE_H
#define LKS_CORE_EXPOSURE_H

#include "base/time.h"
#include "codec/format/json.h"
#include "core/registry/book.h"

/* Nodes a caller may see; NULL: all. */
typedef bool lks_exposure_sees(void *ctx, uint32_t node);

struct lks_exposure_fleet;
struct lks_state;

enum lks_code lks_exposure_new(const struct lks_facts *facts, struct lks_exposure_fleet **out,
                               struct lks_err *err) LKS_MUST_CHECK;
void lks_exposure_free(struct lks_exposure_fleet *e);

/* Copy the next nodes, `max` of them at most and fewer where they differ much; `*done` once there
 * are no more. */
enum lks_code lks_exposure_read(struct lks_exposure_fleet *e, const struct lks_state *s,
                                const struct lks_book *book, uint32_t max, lks_exposure_sees *sees,
                                void *ctx, bool *done, struct lks_err *err) LKS_MUST_CHECK;

/* {"items": [{id, exposure, severity?, cvss?, published?, days?, component, fixed?, summary?,
 * nodes, gpus, pools: [{pool, hosts, drifted?, nodes, gpus, versions}], images: [{ref,
 * version}]}]}: each advisory with what it reaches, the worst first; one CVE where `cve` is not
 * empty. `exposure` is a word of lks_advisory_exposure_code(), `hosts` a host list (of the first
 * nodes only where one of all would be too long), `versions` a list; `nodes` and `gpus` are counts,
 * `days` is since it was disclosed.
 */
enum lks_code lks_exposure_advisories(struct lks_exposure_fleet *e, struct lks_str cve,
                                      lks_day today, struct lks_json_writer *w,
                                      struct lks_err *err) LKS_MUST_CHECK;

/* {"support": [{branch, type?, ends?, days_left?, nodes, gpus}], "matrix": [{gpu, driver, cuda,
 * pinned?, verdict, reason?, nodes, gpus}]}: GPUs by the day their driver's support ends, and the
 * GPU x driver x CUDA (ROCm) combinations that run, each with the verdict of compat. `pinned` where
 * the node has no toolkit and images bring it: then it is the one of its stack. */
enum lks_code lks_exposure_lifecycle(struct lks_exposure_fleet *e, lks_day today,
                                     struct lks_json_writer *w, struct lks_err *err) LKS_MUST_CHECK;

#endif
