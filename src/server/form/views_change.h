/* Changes as JSON: the plan, which may be a proposal that is not recorded, and its progress. */
#ifndef LKS_SERVER_VIEWS_CHANGE_H
#define LKS_SERVER_VIEWS_CHANGE_H

#include "core/actions/job_cost.h"
#include "core/campaign/campaign_gate_plan.h"
#include "core/decision/event.h"
#include "core/decision/size.h"
#include "server/form/views.h"

struct lks_authz;
struct lks_call;
struct lks_state_change;

/*
 * A plan as records, and what follows from them. From a change of the state or from a decision that
 * is only tried, so that both are shown by the same code. `memory` owns the lists; texts are views
 * of the state or of the decision.
 */
struct lks_change_sketch {
    struct lks_arena memory;
    struct lks_rec_change change;
    struct lks_rec_plan_step *steps; /* by recipe, then index */
    struct lks_rec_plan_wave *waves;
    struct lks_rec_plan_note *notes;
    struct lks_rec_plan_order *orders;
    struct lks_rec_plan_part *parts; /* these three of a decision alone */
    struct lks_rec_plan_metric *metrics;
    struct lks_rec_plan_gate *gates;
    size_t part_count, metric_count, gate_count;
    struct lks_gate_plan asks; /* lks_view_change_gates_find() */
    size_t step_count, wave_count, note_count, order_count, recipe_count;
    struct lks_change_size whole, *by_wave;
    uint32_t *by_recipe; /* members that go by it */
    uint32_t canaries;   /* nodes */
};
/* `plan` false: without steps, notes and orders. The caller owes _fini, whatever comes of it. */
enum lks_code lks_view_change_sketch_of(const struct lks_state *s, const struct lks_book *book,
                                        const struct lks_state_change *c, bool plan,
                                        struct lks_change_sketch *out,
                                        struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_view_change_sketch_tried(const struct lks_state *s, const struct lks_book *book,
                                           const struct lks_decision *d,
                                           struct lks_change_sketch *out,
                                           struct lks_err *err) LKS_MUST_CHECK;
void lks_view_change_sketch_fini(struct lks_change_sketch *k);

/* Members of objects that a caller has opened: what was asked for, how large it is, its waves, its
 * recipes with notes and orders. `c` NULL: it is not recorded, so waves have no state. */
void lks_view_change_wish(struct lks_json_writer *w, const struct lks_change_sketch *k);
void lks_view_change_size(struct lks_json_writer *w, const struct lks_change_sketch *k);
void lks_view_change_waves(struct lks_json_writer *w, const struct lks_state *s,
                           const struct lks_change_sketch *k, const struct lks_state_change *c);
void lks_view_change_plan(struct lks_json_writer *w, const struct lks_change_sketch *k);

/* In handle_change.c: record a person's act on a change, and answer its new state, with the
 * numbers that people go by. */
void lks_handle_change_act(struct lks_authz *authz, struct lks_call *call, uint64_t id,
                           struct lks_event *event);

/* What the gates of a sketch of a decision will ask, and that as a member; in views_gate.c.
 * `prometheus` and `load`: lockstepd has a source of metrics, and a query for load. */
enum lks_code lks_view_change_gates_find(const struct lks_state *s, bool prometheus, bool load,
                                         struct lks_change_sketch *k,
                                         struct lks_err *err) LKS_MUST_CHECK;
void lks_view_change_gates(struct lks_json_writer *w, const struct lks_change_sketch *k);

/* What is measured of one of its waves; in views_gate.c. */
void lks_view_change_gate(struct lks_json_writer *w, const struct lks_state *s,
                          const struct lks_state_change *c, uint32_t wave);

/* How it stands; how many stand behind it, whether it began without them, and who; a row of a list.
 */
void lks_view_change_stands(struct lks_json_writer *w, const struct lks_state *s,
                            const struct lks_state_change *c);
void lks_view_change_approvals(struct lks_json_writer *w, const struct lks_state *s,
                               const struct lks_state_change *c);
void lks_view_change_glass(struct lks_json_writer *w, const struct lks_state *s,
                           const struct lks_state_change *c);
void lks_view_change_votes(struct lks_json_writer *w, const struct lks_state *s,
                           const struct lks_state_change *c);
/* What a rehearsal said of it beside what came; nothing where there was none. */
void lks_view_change_forecast(struct lks_json_writer *w, const struct lks_state *s,
                              const struct lks_book *book, const struct lks_state_change *c);
void lks_view_change_row(struct lks_json_writer *w, const struct lks_state *s,
                         const struct lks_state_change *c);

/* A node in it; `waits`: what for, where its own text does not say. */
void lks_view_change_member(struct lks_json_writer *w, const struct lks_state *s,
                            const struct lks_state_change *c, uint32_t place, struct lks_str waits);

/* In views_jobs.c: jobs on the nodes of a change that did not start, which `c` (NULL: the sketch of
 * a decision) has, as schedulers list them now, and what their drain costs. The lists are asked for
 * anew. Nothing is put where no scheduler can be asked. */
struct lks_view_jobs {
    const struct lks_state *state;
    const struct lks_book *book;
    struct lks_sched_sites *sites;
    struct lks_now now;
};
enum lks_code lks_view_jobs_cost(const struct lks_view_jobs *v, const struct lks_change_sketch *k,
                                 const struct lks_state_change *c, struct lks_job_cost *out,
                                 struct lks_err *err) LKS_MUST_CHECK;
void lks_view_jobs_now(struct lks_json_writer *w, const struct lks_view_jobs *v,
                       const struct lks_change_sketch *k, const struct lks_state_change *c);

/* The same file: all jobs on nodes of the fleet, line by line, for a rehearsal elsewhere. The
 * lists are asked for anew. */
enum lks_code lks_view_jobs_listed(const struct lks_view_jobs *v, struct lks_buf *out,
                                   struct lks_err *err) LKS_MUST_CHECK;

/* The same file: what the change did to jobs; nothing where it touched none. */
void lks_view_jobs_unlisted(struct lks_json_writer *w, const struct lks_view_jobs *v,
                            const struct lks_state_change *c);
void lks_view_jobs_acted(struct lks_json_writer *w, const struct lks_state *s,
                         const struct lks_state_change *c);

#endif
