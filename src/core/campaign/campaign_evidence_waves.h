/* What the waves before one tell about it: events that are counted on through all of them, and what
 * a canary has shown. For core/campaign/campaign_evidence.c. */
#ifndef LKS_CORE_CAMPAIGN_EVIDENCE_WAVES_H
#define LKS_CORE_CAMPAIGN_EVIDENCE_WAVES_H

#include "core/gate/gate.h"
#include "core/rows/text.h"
#include "core/stats/evidence.h"

struct lks_state;
struct lks_state_change;

/* Nodes that had an event while each wave was on, those that had the change and controls, up to and
 * with `wave`. A node that had one counts no more; and what a person has seen, who let the change
 * go on since, is not held against it again. False without memory. */
bool lks_campaign_waves_count(const struct lks_state *s, const struct lks_state_change *c,
                              uint32_t wave, const struct lks_plan_metric *metric,
                              struct lks_arena *arena, struct lks_counted *out);

/* Whether the node had an event by the metric in an earlier wave, as what it is in this one: with
 * the change, or without it. */
bool lks_campaign_waves_had(const struct lks_state_change *c, uint32_t node, uint32_t wave,
                            lks_text metric);

/* Whether a canary passed the metric at its last look, with data of a node of the pool and class of
 * each that is done in this ring. */
bool lks_campaign_waves_vouch(const struct lks_state *s, const struct lks_state_change *c,
                              uint32_t wave, const struct lks_plan_metric *metric);

#endif
