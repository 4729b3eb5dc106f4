/*
 * Lookups in the state, for code that does not use its lists. The structs of the rows are in
 * core/rows; a file includes the header of each row whose members it reads.
 */
#ifndef LKS_CORE_LOOKUP_H
#define LKS_CORE_LOOKUP_H

#include "base/str.h"
#include "base/time.h"
#include "codec/format/digest.h"
#include "core/rows/text.h"
#include "model/record/record_words.h"

#include <stdbool.h>

struct lks_api_token;
struct lks_binding;
struct lks_certificate;
struct lks_deviation;
struct lks_freeze;
struct lks_gate_look;
struct lks_job_acted;
struct lks_measure;
struct lks_member;
struct lks_near;
struct lks_proven;
struct lks_rec_member;
struct lks_state;
struct lks_state_alarm;
struct lks_state_artifact;
struct lks_state_bundle;
struct lks_state_change;
struct lks_state_command;
struct lks_state_flash;
struct lks_state_image;
struct lks_state_key;
struct lks_state_person;
struct lks_state_stack;
struct lks_state_verdict;

const struct lks_state_key *lks_state_key(const struct lks_state *s, struct lks_str name);
const struct lks_state_bundle *lks_state_bundle(const struct lks_state *s, struct lks_str digest);
const struct lks_state_flash *lks_state_flash(const struct lks_state *s, uint64_t id);
/* The update that blocks others of `node`: open, or unknown and not resolved; NULL: none. */
const struct lks_state_flash *lks_state_flashing(const struct lks_state *s, uint32_t node);
/* Whether it ended, and does not need to be resolved. */
bool lks_state_flash_over(const struct lks_state_flash *f);
/* When an open update is given up (wall): its deadline, and time for its driver to report it;
 * at once where its bundle was revoked. */
lks_ms lks_state_flash_due(const struct lks_state_flash *f);
/* Whether the bundle names the artifact; whether any bundle that is not revoked does: only such
 * artifacts are staged. */
bool lks_state_bundle_names(const struct lks_state *s, const struct lks_state_bundle *bundle,
                            struct lks_str artifact);
bool lks_state_vouched(const struct lks_state *s, struct lks_str artifact);
struct lks_str lks_state_text(const struct lks_state *s, lks_text text);
uint32_t lks_state_node(const struct lks_state *s,
                        struct lks_str name); /* LKS_NO_NODE; placed only */
struct lks_str lks_state_name(const struct lks_state *s, uint32_t node);
uint32_t lks_state_pool(const struct lks_state *s, struct lks_str name); /* UINT32_MAX */
/* Try the names of nodes, or of pools, for a message about one that is not there. Of a large fleet
 * the first nodes are enough for most slips; others wait meanwhile. */
void lks_state_near_nodes(const struct lks_state *s, struct lks_near *near);
void lks_state_near_pools(const struct lks_state *s, struct lks_near *near);
const struct lks_state_alarm *lks_state_alarm(const struct lks_state *s, uint64_t id);
const struct lks_state_command *lks_state_command(const struct lks_state *s, uint64_t id);
const struct lks_api_token *lks_state_token(const struct lks_state *s, struct lks_str id);
/* The certificate of a person, by its serial; NULL: not known. */
const struct lks_state_person *lks_state_person(const struct lks_state *s, struct lks_str serial);

/* Its fingerprint as "sha256:...", or empty if there is none; and whether it is `fingerprint`. */
const char *lks_state_certificate_text(const struct lks_certificate *c, char out[LKS_DIGEST_SIZE]);
bool lks_state_certificate_is(const struct lks_certificate *c, struct lks_str fingerprint);

/* The bindings of `identity`, one after the other; NULL and 0: none. */
const struct lks_binding *lks_state_bindings(const struct lks_state *s, struct lks_str identity,
                                             uint32_t *count);

/* The digest of the stack a node should run now: a change's target, where a change brought it, or
 * its pool's pin; 0: none. */
lks_text lks_state_intent(const struct lks_state *s, uint32_t node);

/* How its readings compare with its intent; NULL: not evaluated. */
const struct lks_state_verdict *lks_state_verdict(const struct lks_state *s, uint32_t node);
enum lks_judged lks_state_judged(const struct lks_state *s, uint32_t node);

/* The readings behind a handle of a basis; an empty view: none, or not known. */
struct lks_str lks_state_readings(const struct lks_state *s, uint32_t basis);

/* The handle of a basis by its digest, or 0. */
uint32_t lks_state_basis(const struct lks_state *s, struct lks_str digest);

/* The verdict of a basis against a stack: place in `verdicts`, or 0. */
uint32_t lks_state_verdict_find(const struct lks_state *s, uint32_t basis, lks_text stack);

const struct lks_deviation *lks_state_deviation(const struct lks_state *s, uint64_t id);
const struct lks_state_stack *lks_state_stack(const struct lks_state *s, struct lks_str digest);
const struct lks_state_image *lks_state_image(const struct lks_state *s, struct lks_str ref);
const struct lks_state_artifact *lks_state_artifact(const struct lks_state *s,
                                                    struct lks_str digest);

/* When a command without an answer ends (wall): its expiry, and time for a late answer. */
lks_ms lks_state_command_over(const struct lks_state *s, const struct lks_state_command *command);

/* Whether automatic acts (drains, remedies, changes) in this pool wait for a person. */
bool lks_state_acts_wait(const struct lks_state *s, uint32_t pool);

/* Whether the agent is asked for a tuple: none of this boot is known, or it has no verdict. */
bool lks_state_wants_tuple(const struct lks_state *s, uint32_t node);

/* The record of its progress. The caller fills in the change, the node and the text. */
struct lks_rec_member lks_state_member_said(const struct lks_member *m);

const struct lks_state_change *lks_state_change(const struct lks_state *s, uint64_t id);

/* The node as a member of the change; NULL: it is none. */
const struct lks_member *lks_state_change_member(const struct lks_state_change *c, uint32_t node);

/* Whether nodes of the pool are in it. */
bool lks_state_change_is_of_pool(const struct lks_state *s, const struct lks_state_change *c,
                                 uint32_t pool);

/* The change in progress on the node: it started there, and neither of the two has ended; NULL:
 * none. */
const struct lks_state_change *lks_state_changing(const struct lks_state *s, uint32_t node);

/* When (wall) it expires without its approvals, or without a start; UINT64_MAX: never. */
lks_ms lks_state_change_expires(const struct lks_state *s, const struct lks_state_change *c);

/* The last measurement of the node for the wave by the metric of that name; NULL: none. */
const struct lks_measure *lks_state_change_measure(const struct lks_state_change *c, uint32_t wave,
                                                   uint32_t node, lks_text metric);

/* The last verdict on the wave by the metric of that name, 0: by all; NULL: none. */
const struct lks_gate_look *lks_state_change_look(const struct lks_state_change *c, uint32_t wave,
                                                  lks_text metric);

/* What the change did to a job of a site's scheduler; NULL: nothing. */
const struct lks_job_acted *lks_state_change_job(const struct lks_state *s,
                                                 const struct lks_state_change *c,
                                                 struct lks_str site, struct lks_str job);

/* The text of an order by its digest, of any change that is kept; an empty view: none. */
struct lks_str lks_state_order(const struct lks_state *s, struct lks_str digest);

/* The rollback between these stacks was exercised on this hardware; NULL: never. */
const struct lks_proven *lks_state_proven(const struct lks_state *s, lks_text class, lks_text from,
                                          lks_text to);

/* The freeze that blocks new work on the node: of the fleet, or of its pool. */
struct lks_freeze lks_state_freeze(const struct lks_state *s, uint32_t node);

/* Whether there is one. */
bool lks_state_frozen(const struct lks_state *s, uint32_t node);

/* The owner of our drains: "change:17". */
#define LKS_CHANGE_OWNER_SIZE 32
struct lks_str lks_state_change_owner(uint64_t change, char out[LKS_CHANGE_OWNER_SIZE]);

#endif
