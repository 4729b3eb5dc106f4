/* Changes, and what they install: bundles, keys, updates by management endpoints. */
#include "core/plan/plan.h"
#include "core/rows/node.h"
#include "model/manifest/bundle.h"
#include "server/form/forms_words.h"
#include "trust/signature.h"

#define SOAK_MAX_S INT64_C(2592000) /* 30 days */

/* clang-format off */
/* Changes: query parameters ----------------------------------------------------------------- */

const struct lks_form lks_query_changes = ASK(query_changes, "ChangesQuery", "Which changes",
    PAGE(query_changes),
    TAKES(query_changes, open, TRUTH, "only those that are not over, or only those that are"),
    TAKES(query_changes, state, WORDS(lks_change_state_words), "only changes in this state"));
const struct lks_form lks_query_change = ASK(query_change, "ChangeQuery", "How much of a change",
    TAKES(query_change, plan, TRUTH,
        "false: without recipes, notes and orders, for frequent polls"));
const struct lks_form lks_query_procedure = ASK(query_procedure, "ProcedureQuery",
    "Options of a procedure",
    TAKES(query_procedure, gpu_hour, TEXT,
        "price of a GPU hour, such as '2.5 EUR', to report the cost"));
const struct lks_form lks_query_members = ASK(query_members, "MembersQuery",
    "Which nodes of a change",
    PAGE(query_members),
    TAKES(query_members, state, WORDS(lks_member_state_words), "only members in this state"),
    TAKES_OR(query_members, wave, COUNT, UINT64_MAX, "only those of this wave, from 0"));

/* Changes: requests ------------------------------------------------------------------------- */

const struct lks_form lks_ask_change = ASK(ask_change, "ChangeWish", "A change to be planned",
    TAKES(ask_change, kind, WORDS(lks_change_kind_words), "what is changed (stack)"),
    TAKES_AS(ask_change, where.nodes, "nodes", HOSTS, "host list: who changes; or"),
    TAKES_AS(ask_change, where.pool,
        "pool", TEXT, "all nodes of this pool. Assets of their domains come along"),
    NEEDS(ask_change, stack, TEXT,
        "digest or name of a published stack; of an agent change, the version"),
    TAKES(ask_change, hook, NAME,
        "a program of the site that installs what no bundle has a package for"),
    TAKES(ask_change, strength, LKS_NUMBERS(1, LKS_PLAN_STRENGTH_MAX),
        "the canary has every combination of so many attributes (2)"),
    TAKES(ask_change, failure_share, LKS_NUMBERS(1, LKS_PLAN_MILLION),
        "a fault that hits so many nodes is to be met by the canary, in millionths"),
    TAKES(ask_change, confidence_share, LKS_NUMBERS(1, LKS_PLAN_MILLION - 1),
        "and with this confidence, in millionths"),
    TAKES(ask_change, canary_max, LKS_NUMBERS(1, LKS_STATE_NODES_MAX),
        "most nodes of the canary; what is left uncovered is named"),
    TAKES(ask_change, failures_max, LKS_NUMBERS(0, LKS_STATE_NODES_MAX),
        "nodes that may fail (none)"),
    TAKES(ask_change, soak_seconds, LKS_NUMBERS(1, SOAK_MAX_S),
        "how long the canary is watched; rings a part of it. Absent: by the plan"),
    TAKES(ask_change, rolls_back, TRUTH, "a halt is followed by a rollback at once"),
    TAKES(ask_change, one_way, TRUTH, "acknowledge that some steps are irreversible"),
    TAKES(ask_change, not_before, TIME, "no node is changed earlier"),
    TAKES(ask_change, not_after, TIME, "the change of no node starts later"),
    TAKES(ask_change, windows, TEXT, "of the week, in site time; absent: those of its pools"),
    TAKES(ask_change, class, TEXT, "class of change; never less than what the plan does (that)"),
    TAKES(ask_change, advisory, TEXT, "the advisory it closes, where the class asks for one"),
    TAKES(ask_change, dry_run, TRUTH, "answer with the plan and record nothing"),
    REASON(ask_change));
const struct lks_form lks_ask_start = ASK(ask_start, "ChangeStart", "The start of a change",
    NEEDS(ask_start, nodes, COUNT, "how many nodes it is for, repeated from the plan"),
    NEEDS(ask_start, gpus, COUNT, "and how many GPUs they have; 0 where it is for assets alone"),
    TAKES(ask_start, standby, TEXT, "the person on site, where the class asks for one"),
    TAKES(ask_start, break_glass, TRUTH,
        "start without the approvals: lab and canary only, with an alarm and a review"),
    REASON(ask_start));
#define FORECAST(F)                                                                                \
    F(runs, "runs", "how many runs it rests on"),                                                  \
    F(took_low, "took_low_ms", "duration, 5th percentile of the runs"),                            \
    F(took_middle, "took_middle_ms", "median"),                                                    \
    F(took_high, "took_high_ms", "95th percentile"),                                               \
    F(gpu_hours_low, "gpu_hours_low", "GPU-hours out of service, 5th percentile of the runs"),     \
    F(gpu_hours_middle, "gpu_hours_middle", "median"),                                             \
    F(gpu_hours_high, "gpu_hours_high", "95th percentile"),                                        \
    F(kept_high, "kept_high", "nodes left to a person, 95th percentile"),                          \
    F(reached_high, "reached_high",                                                                \
      "nodes that a bad image reaches before it is stopped, 95th percentile")
#define ASKED(m, key, about) NEEDS_AS(rec_forecast, m, key, COUNT, about)
#define SHOWN(m, key, about) MUST(key, COUNT, about)
const struct lks_form lks_ask_forecast = ASK(rec_forecast, "Forecast",
    "The forecast of a rehearsal",
    FORECAST(ASKED));
static const struct lks_form forecast = FORM("ForecastBeside", "The forecast and the actual result",
    FORECAST(SHOWN),
    MAY("by", TEXT, "who rehearsed it"),
    MAY("at", TIME, "when"),
    MAY("actual_ms", COUNT, "how long it took; absent while it is not over"),
    MUST("actual_gpu_hours", COUNT, "GPU-hours out of service, of nodes that are finished"),
    MUST("actual_kept", COUNT, "nodes that are left to a person"));
const struct lks_form lks_ask_waive = ASK(ask_waive, "ChangeWaive",
    "A gate that is not asked for a while",
    NEEDS(ask_waive, gate, TEXT, "which gate (failure count, soak, acceptance), or which metric"),
    NEEDS(ask_waive, until, TIME, "how long, at most 7 days"),
    TAKES(ask_waive, pool, TEXT,
        "behind nodes of this pool alone; absent: of all that one may approve for"),
    REASON(ask_waive));
static const char *const decision_words[] = {
    [LKS_DECISION_APPROVE] = "approve", [LKS_DECISION_REJECT] = "reject", NULL};
const struct lks_form lks_ask_ticket = ASK(ask_ticket, "TicketDecision",
    "A vote by way of a ticket system",
    NEEDS(ask_ticket, event, TEXT, "the message's own id: none is taken twice"),
    NEEDS(ask_ticket, change, COUNT, "which change"),
    NEEDS(ask_ticket, decision, WORDS(decision_words), "what was decided"),
    NEEDS(ask_ticket, who, TEXT, "by whom, as `tickets.people` has them"),
    NEEDS(ask_ticket, ticket, TEXT, "on which ticket"),
    NEEDS(ask_ticket, plan, DIGEST, "digest of the plan that was shown: `plan` of the procedure"),
    NEEDS(ask_ticket, nodes, COUNT, "how many nodes it was shown with"),
    TAKES(ask_ticket, reason, WHY, "why, for the journal; a no needs one"));
static const char *const act_words[] = {
    [LKS_ACT_RELEASE] = "release", [LKS_ACT_AGAIN] = "again", NULL};
const struct lks_form lks_ask_members = ASK(ask_members, "MembersWish",
    "The decision about nodes that failed",
    NEEDS(ask_members, nodes, HOSTS, "host list: who"),
    NEEDS(ask_members, act, WORDS(act_words),
         "release: the node returns to service as it is; again: it is tried once more"),
    REASON(ask_members));
const struct lks_form lks_ask_skip = ASK(ask_members, "SkipWish",
    "Nodes that a change does not wait for",
    NEEDS(ask_members, nodes, HOSTS, "host list: nodes that did not start, or are lost"),
    REASON(ask_members));
const struct lks_form lks_ask_freeze = ASK(ask_freeze, "FreezeWish", "A freeze, or its end",
    TAKES_AS(ask_freeze, where.pool, "pool", TEXT, "only this pool; absent: the whole fleet"),
    REASON(ask_freeze));

/* Changes: answers -------------------------------------------------------------------------- */

static const struct lks_form members = FORM("ChangeCounts", "Nodes and assets by state",
    MUST("pending", COUNT, "untouched"),
    MUST("waiting", COUNT, "the next step cannot start yet"),
    MUST("asked", COUNT, "a step is in progress"),
    MUST("reading", COUNT, "a step ended, and what it did is read again"),
    MUST("done", COUNT, "in service, on the target stack"),
    MUST("reverted", COUNT, "in service, on the old stack"),
    MUST("fenced", COUNT, "out of service, until a person returns them"),
    MUST("needs_hands", COUNT, "the same, and a person has to go there"),
    MUST("unknown", COUNT, "their outcome is unknown"),
    MUST("skipped", COUNT, "left alone: gone, or they had it already"));
static const struct lks_form step = FORM("ChangeStep", "A step of a node",
    MUST("kind", WORDS(lks_step_kind_words), "what is done"),
    MUST("rank", COUNT, "nodes of a domain do steps of one rank together"),
    MAY("layer", COUNT, "of what it changes"),
    MAY("component", TEXT, "what it changes"),
    MAY("version", TEXT, "what that is to run"),
    MAY("before", TEXT, "what it ran"),
    MAY("executor", TEXT, "of the node, that does it"),
    MAY("order", DIGEST, "the order for it, at /v1/artifacts/{digest}"),
    MAY("order_back", DIGEST, "the order that reverts it"),
    MAY("bundle", DIGEST, "where an image is from"),
    MAY("image", DIGEST, "the image"),
    MAY("bundle_back", DIGEST, "where the image before is from"),
    MAY("image_back", DIGEST, "the image before"),
    MAY("revert", WORDS(lks_bmc_act_words), "how an update is reverted"),
    MUST("one_way", TRUTH, "the step cannot be rolled back"),
    MAY("missing", TEXT, "files for the rollback that no verified bundle of the depot has; "
        "one_way without them: the step is irreversible"),
    MUST("limit_ms", COUNT, "how long it may take"),
    MUST("retries", COUNT, "how often it may be tried again"),
    MAY("jobs", WORDS(lks_drain_jobs_words), "what may be done to jobs on a node that drains"),
    MAY("signal", TEXT, "the signal that a job gets before it is requeued"),
    MAY("grace_ms", COUNT, "how long a job has after the signal before it is requeued"));
static const struct lks_form recipe = FORM("ChangeRecipe", "The steps of nodes of one kind",
    MUST("recipe", COUNT, "its number, from 0"),
    MUST("members", COUNT, "nodes and assets that go by it"),
    MUST("steps", LKS_LIST(LKS_FORM(step)), "in their order"));
static const struct lks_form gate = FORM("ChangeGate", "The evaluation of a wave by one metric",
    MUST("metric", TEXT, "what is measured"),
    MUST("kind", WORDS(lks_metric_kind_words), "a value, events, or events of which one is enough"),
    MUST("critical", TRUTH, "without data it does not pass"),
    MUST("verdict", WORDS(lks_gate_verdict_words), "what it says"),
    MAY("text", TEXT, "why"),
    MUST("looks", COUNT, "number of planned evaluations that were done"),
    MUST("changed", COUNT, "changed nodes or domains with data"),
    MUST("expected", COUNT, "of so many"),
    MUST("controls", COUNT, "nodes or domains that stay as they are, with data"),
    MAY("events", COUNT, "changed nodes that had one"),
    MAY("control_events", COUNT, "controls that had one"),
    MAY("margin", TEXT, "percent that it may be worse by"),
    MAY("estimate", TEXT, "percent that changed nodes gained more than controls"),
    MAY("worst", TEXT, "the bound that decides PASS"),
    MAY("best", TEXT, "the bound that decides HALT"),
    MUST("waived", TRUTH, "a person let the change go on in spite of it"));
static const struct lks_form wave = FORM("ChangeWave", "Nodes that change one after the other",
    MUST("wave", COUNT, "its number, from 0"),
    MUST("kind", WORDS(lks_wave_kind_words), "what it is for"),
    MAY("pool", TEXT, "whose nodes it has; absent: of several pools"),
    MUST("units", COUNT, "domains and single nodes"),
    MUST("nodes", COUNT, "nodes in them"),
    MUST("assets", COUNT, "assets in them"),
    MUST("width", COUNT, "units that may be changed and not yet proven, at most"),
    MAY("width_text", TEXT, "the limit that decided the width"),
    MUST("soak_ms", COUNT, "how long it is watched"),
    MUST("failures_max", COUNT, "nodes of it that may fail"),
    MAY("controls", HOSTS, "nodes like those that do not change meanwhile"),
    MAY("state", WORDS(lks_wave_state_words), "its state"),
    MAY("since", TIME, "since when"),
    MAY("until", TIME, "the earliest time of its gate's next evaluation"),
    MAY("text", TEXT, "the result of its gate"),
    MAY("busy", COUNT, "units in progress"),
    MAY("failed", COUNT, "nodes that ended other than they should"),
    MAY("members", LKS_FORM(members), "its nodes and assets"),
    MAY("limit", COUNT, "units that may have started, by the evidence so far"),
    MAY("limit_text", TEXT, "and why so many"),
    MAY("gate", LKS_LIST(LKS_FORM(gate)), "what is measured of it"));
static const struct lks_form asks = FORM("ChangeGateAsks", "The conditions of a gate behind waves",
    MUST("gate", TEXT, "the gate"),
    MAY("from", COUNT, "the first wave it is behind; absent: it is before all of them"),
    MAY("to", COUNT, "the last"),
    MAY("metric", TEXT, "what is measured"),
    MAY("source", WORDS(lks_metric_source_words), "who measures it"),
    MAY("critical", TRUTH, "without data it does not pass"),
    MUST("limit", TEXT, "the condition on which it passes"),
    MAY("waits", TEXT, "what it would wait for as things are now; absent: nothing is known"));
static const struct lks_form note = FORM("ChangeNote", "A note for approvers",
    MUST("kind", WORDS(lks_plan_note_words), "what it is about"),
    MUST("text", LINES(LKS_VIEW_LINES_MAX), "what approvers have to know"));
static const struct lks_form order = FORM("ChangeOrder", "Orders for the executors of nodes",
    MUST("digest", DIGEST, "its own; the text is at /v1/artifacts/{digest}"),
    MUST("size", COUNT, "bytes"));
static const struct lks_form vote = FORM("ChangeVote", "The vote of an approver",
    MUST("yes", TRUTH, "approved, or rejected"),
    BY,
    MAY("at", TIME, "when"),
    MAY("ends", TIME, "when an approval is too old to count"),
    MAY("ticket", TEXT, "that it came by, from a ticket system"),
    MAY("who", TEXT, "what that calls them"),
    MAY("credential", TEXT, "token:ID, certificate:SERIAL, unix:UID or ticket:SYSTEM"),
    MAY("minters", LKS_LIST(TEXT), "people by whom that credential came to be"));

static const struct lks_form approvals = FORM("ChangeApprovals", "The approvals of a change",
    MUST("needed", COUNT, "how many people have to approve it, for each of its pools"),
    MUST("given", COUNT, "how many did, where they are the fewest"),
    MAY("pool", TEXT, "which is in this pool"),
    MAY("site", TEXT, "at this site"));
static const struct lks_form unreachable = FORM("ChangeUnreachable",
    "Approvals that cannot be given: the proposer or one person minted too many credentials",
    MUST("needed", COUNT, "how many people have to approve it"),
    MUST("reachable", COUNT,
        "how many could, where they are the fewest, by the roles and credentials that there are"),
    MAY("pool", TEXT, "which is in this pool"),
    MAY("site", TEXT, "at this site"),
    MUST("text", TEXT, "what to do about it"));
static const struct lks_form glass = FORM("BrokenGlass",
    "A change that started without its approvals",
    MUST("at", TIME, "when"),
    BY,
    MUST("review_until", TIME, "when another person has to have reviewed it"),
    MAY("reviewed", TIME, "when a person did"),
    MAY("reviewed_by", TEXT, "who"),
    MAY("reviewed_reason", TEXT, "the reason given"));

static const struct lks_form waiver = FORM("WaivedGate", "A gate that is not asked for a while",
    MUST("gate", TEXT, "which gate, or metric"),
    MUST("until", TIME, "how long"),
    MAY("pool", TEXT, "behind its nodes alone; absent: where the person who waived it may approve"),
    BY);

static const struct lks_form wait = FORM("ChangeWait", "A node that a wave waits for",
    MUST("wave", COUNT, "its wave, from 0"),
    MUST("node", TEXT, "the node or asset"),
    MUST("state", WORDS(lks_member_state_words), "its state"),
    MAY("doing", WORDS(lks_step_kind_words), "its step"),
    MAY("why", TEXT, "what it waits for, or does"),
    MAY("until", TIME, "its deadline: behind that the change does not wait for it"));

static const struct lks_form job_act = FORM("ChangeJobAct", "An act of a change on a job",
    MUST("job", TEXT, "the job, as its scheduler calls it"),
    MAY("site", TEXT, "the site of the scheduler"),
    MAY("user", TEXT, "its user"),
    MAY("node", TEXT, "the node that drains, on which it was found"),
    MUST("act", WORDS(lks_job_act_words), "whether it was last signalled or requeued"),
    MUST("state", WORDS(lks_job_state_words), "whether the scheduler did it"),
    MAY("signal", TEXT, "the signal"),
    MAY("at", TIME, "when this was recorded"),
    MAY("until", TIME, "when its grace ends"),
    MAY("text", TEXT, "the scheduler's answer"));

static const struct lks_form job_row = FORM("ChangeJobsRow",
    "Jobs on nodes of one pool in one wave",
    MUST("wave", COUNT, "its number, from 0"),
    MUST("pool", TEXT, "the pool"),
    MUST("nodes", COUNT, "nodes of the pool in the wave"),
    MUST("busy", COUNT, "of these, those with a job"),
    MUST("jobs", COUNT, "jobs on them"),
    MUST("requeue", COUNT, "of these, those that their scheduler may start again"),
    MAY("ends", TIME, "the last end that is known"),
    MUST("unknown_ends", COUNT, "jobs whose end is unknown"),
    MUST("lost_gpu_hours", COUNT,
        "GPU-hours since jobs that may be requeued started: lost at most"),
    MUST("idle_gpu_hours", COUNT,
        "GPU-hours without work until the last job of each unit ends"),
    MUST("unknown_idle", COUNT, "nodes without such a number: the end of a job is unknown"),
    MUST("unlisted", COUNT, "nodes whose scheduler listed no jobs"));
static const struct lks_form job_top = FORM("ChangeJob", "A job on nodes of a change",
    MUST("job", TEXT, "the job, as its scheduler calls it"),
    MAY("user", TEXT, "its user"),
    MAY("account", TEXT, "its account"),
    MUST("nodes", COUNT, "nodes of the change that it runs on"),
    MUST("of", COUNT, "all of its nodes"),
    MAY("started", TIME, "when it started"),
    MAY("ends", TIME, "when it ends at the latest; absent: unknown"),
    MUST("requeue", TRUTH, "its scheduler may start it again"));
static const struct lks_form jobs_now = FORM("ChangeJobs",
    "Jobs on nodes that did not start, as schedulers listed them",
    MAY("listed", TIME, "when: of the oldest list; absent: there is none"),
    MAY("missing", TEXT, "why a list is missing"),
    MUST("rows", LKS_LIST(LKS_FORM(job_row)), "by wave and pool"),
    MUST("top", LKS_LIST(LKS_FORM(job_top)), "the ten jobs with the most nodes of the change"));

#define WISH_FIELDS                                                                                \
    MUST("kind", WORDS(lks_change_kind_words), "what is changed"),                                 \
    MAY("stack", DIGEST, "the stack nodes are to run"),                                            \
    MAY("name", TEXT, "its name; of an agent change, the version"),                                \
    MAY("hosts", LINES(LKS_HOSTLIST_BYTES_MAX), "whom it was asked for"),                          \
    MUST("failures_max", COUNT, "nodes that may fail before it is halted"),      \
    MUST("rolls_back", TRUTH, "a halt is followed by a rollback at once"),                         \
    MUST("one_way", TRUTH, "irreversible steps were acknowledged"),                                \
    MAY("not_before", TIME, "no node is changed earlier"),                                         \
    MAY("not_after", TIME, "the change of no node starts later"),                                  \
    MAY("windows", TEXT, "of the week, in site time"),                                             \
    MAY("class", TEXT, "class of change; absent: of before there were classes"),                   \
    MAY("advisory", TEXT, "the advisory it is to close"),                                    \
    MUST("quorum", COUNT, "people who have to approve it, for each pool"),       \
    MAY("expires", TIME, "a proposal that is not approved by then expires"),                       \
    MUST("needs_standby", TRUTH, "the person who starts it names a person on site")
#define SIZE_FIELDS                                                                                \
    MUST("nodes", COUNT, "how many nodes change"),                               \
    MUST("gpus", COUNT, "how many GPUs they have, as read or by their class"),   \
    MUST("assets", COUNT, "switch trays and the like that change too"),          \
    MUST("units", COUNT, "domains and single nodes"),                            \
    MUST("canaries", COUNT, "nodes of the canary")
#define STANDS_FIELDS                                                                              \
    MUST("state", WORDS(lks_change_state_words), "its state"),                                     \
    MAY("by", TEXT, "who proposed it"),                                                            \
    MAY("reason", TEXT, "and why"),                                                                \
    MUST("proposed", TIME, "when"),                                                                \
    MAY("started", TIME, "when it started"),                                                       \
    MAY("started_by", TEXT, "by whom; absent: not known"),                                         \
    MAY("moved", TIME, "since when it is in this state"),                                          \
    MAY("moved_by", TEXT, "by whom; absent: a gate, or the change finished"),                      \
    MAY("moved_reason", TEXT, "and why"),                                                          \
    MAY("standby", TEXT, "who stands by on site"),                                                 \
    MUST("total", COUNT, "nodes and assets in it"),                              \
    MUST("failed", COUNT, "of these, those that ended other than they should"),  \
    MUST("members", LKS_FORM(members), "all of its nodes and assets")

static const struct lks_form change_row = FORM("ChangeRow", "A change in a list",
    MUST("id", COUNT, "its number"),
    WISH_FIELDS,
    STANDS_FIELDS,
    MUST("waves", COUNT, "how many there are"),
    MUST("passed", COUNT, "how many of them the gate let pass"));
const struct lks_form lks_form_changes = LIST("Changes", "A list of changes",
    change_row, "changes");
static const struct lks_form reserved = FORM("ChangeReserved",
    "A reservation in a scheduler for the window of a change, as listed last",
    MUST("name", TEXT, "its name there"),
    MAY("site", TEXT, "the site"),
    MUST("pool", TEXT, "the pool of its nodes"),
    MUST("nodes", LINES(LKS_HOSTLIST_BYTES_MAX), "which nodes"),
    MUST("from", TIME, "when it starts"),
    MUST("until", TIME, "when it ends"));
static const struct lks_form unlisted = FORM("UnlistedJobs", "A site whose jobs cannot be listed",
    MAY("site", TEXT, "the site"),
    MUST("scheduler", TEXT, "its scheduler"),
    MUST("since", TIME, "since when"),
    MAY("text", TEXT, "why"));
const struct lks_form lks_form_change = FORM("Change", "A change, its plan, and how far it is",
    MUST("id", COUNT, "its number"),
    WISH_FIELDS,
    STANDS_FIELDS,
    SIZE_FIELDS,
    MAY("frozen", TRUTH, "nodes of it may not start: their pool or the fleet is frozen"),
    MAY("cannot_start", TEXT, "why a start would be refused now; of approved changes only"),
    MUST("approvals", LKS_FORM(approvals), "its approvals"),
    MAY("unreachable", LKS_FORM(unreachable), "it cannot be approved as things are"),
    MUST("votes", LKS_LIST(LKS_FORM(vote)), "of approvers"),
    MAY("break_glass", LKS_FORM(glass), "it started without them"),
    MAY("forecast", LKS_FORM(forecast), "what a rehearsal came to, and what came"),
    MUST("waived", LKS_LIST(LKS_FORM(waiver)), "gates that are not asked for a while"),
    MUST("waves", LKS_LIST(LKS_FORM(wave)), "in their order"),
    MUST("waits", LKS_LIST(LKS_FORM(wait)), "nodes that its waves wait for now, the first 100"),
    MAY("reserved", LKS_LIST(LKS_FORM(reserved)), "nodes that schedulers reserve for it"),
    MAY("unlisted", LKS_LIST(LKS_FORM(unlisted)),
        "sites where its nodes drain and no job is requeued, because no list of jobs comes"),
    MAY("jobs_touched", COUNT, "jobs that it signalled or requeued"),
    MAY("job_acts", LKS_LIST(LKS_FORM(job_act)), "what it did to the last 100 of them"),
    MAY("jobs", LKS_FORM(jobs_now), "jobs on its nodes now; until it starts"),
    MAY("recipes", LKS_LIST(LKS_FORM(recipe)), "what nodes go through, by kind"),
    MAY("notes", LKS_LIST(LKS_FORM(note)), "what approvers have to know"),
    MAY("orders", LKS_LIST(LKS_FORM(order)), "the orders for executors"));
const struct lks_form lks_form_procedure = FORM("Procedure", "The method of procedure of a change",
    MUST("title", TEXT, "what it is of"),
    MUST("summary", ANY, "`text`: a paragraph for the board"),
    MUST("change", ANY, "what is proposed, with the digest of its `plan`; pools, differences"),
    MUST("happens", ANY, "waves, gates, metrics and their power, times, steps"),
    MUST("wrong", ANY, "how each step can fail, and what is done about it"),
    MUST("back", ANY, "the revert of each step, spares, commands to run"),
    MUST("cost", ANY, "time, GPU-hours and money: rehearsed, or as planned"),
    MUST("risk", ANY, "what is left when all goes as planned"),
    MUST("approvals", ANY, "needed and given, where they lack, votes, signature lines"),
    MAY("jobs", ANY, "jobs on its nodes now, by wave and pool, and the largest of them"));
static const struct lks_form freeze = FORM("ChangeFreeze",
    "A freeze that keeps nodes of a change from starting",
    MAY("pool", TEXT, "the pool; absent: the whole fleet, or days of the fleet's file"),
    BY,
    MAY("since", TIME, "since when a person froze it"),
    MAY("from", TEXT, "the first day of a freeze of the fleet's file"),
    MAY("until", TEXT, "the first day after it"),
    MAY("now", TRUTH, "today is one of these days, by UTC"),
    MAY("description", TEXT, "why, by the fleet's file"));
const struct lks_form lks_form_proposed = FORM("Proposed", "The plan of a change",
    MAY("id", COUNT, "its number; absent: nothing was recorded"),
    MAY("seq", COUNT, "the row up to which the journal is durable"),
    MUST("dry_run", TRUTH, "nothing was recorded"),
    MAY("unreachable", LKS_FORM(unreachable), "it cannot be approved as things are"),
    WISH_FIELDS,
    SIZE_FIELDS,
    MUST("waves", LKS_LIST(LKS_FORM(wave)), "in their order"),
    MUST("gates", LKS_LIST(LKS_FORM(asks)), "what gates will ask, and would wait for now"),
    MUST("freezes", LKS_LIST(LKS_FORM(freeze)), "that keep nodes of it from starting"),
    MUST("recipes", LKS_LIST(LKS_FORM(recipe)), "what nodes go through, by kind"),
    MUST("notes", LKS_LIST(LKS_FORM(note)), "what approvers have to know"),
    MUST("orders", LKS_LIST(LKS_FORM(order)), "the orders for executors"),
    MAY("jobs", LKS_FORM(jobs_now), "jobs on its nodes now"));
const struct lks_form lks_form_moved = FORM("ChangeMoved", "The state of a change now",
    SEQ,
    MUST("id", COUNT, "the change"),
    MUST("state", WORDS(lks_change_state_words), "its state now"),
    MUST("nodes", COUNT, "how many nodes it is for"),
    MUST("gpus", COUNT, "how many GPUs they have"),
    MUST("approvals", LKS_FORM(approvals), "its approvals"),
    MAY("frozen", TRUTH, "it is running, and nodes of it may not start: a freeze"));
static const struct lks_form member = FORM("ChangeMember", "A node in a change",
    MUST("node", TEXT, "the node or asset"),
    MAY("asset", TEXT, "class of an asset; absent for a node"),
    MAY("pool", TEXT, "its pool"),
    MAY("domain", TEXT, "what changes together with it"),
    MUST("wave", COUNT, "its wave, from 0"),
    MUST("recipe", COUNT, "by which it goes"),
    MAY("from", DIGEST, "the stack it comes from"),
    MUST("proves", TRUTH, "it is changed, rolled back and changed again, to exercise the "
                          "rollback"),
    MUST("state", WORDS(lks_member_state_words), "its state"),
    MUST("step", COUNT, "at which step, from 0"),
    MUST("steps", COUNT, "of how many"),
    MAY("doing", WORDS(lks_step_kind_words), "what that step is"),
    MAY("component", TEXT, "and what it changes"),
    MUST("back", TRUTH, "rolling back"),
    MUST("pass", COUNT, "while the rollback is exercised: 1 rolling back, 2 changing again"),
    MUST("attempt", COUNT, "of this step"),
    MAY("begun", TIME, "when it started"),
    MAY("since", TIME, "since when it is in this state"),
    MAY("until", TIME, "its deadline, or when it is tried again"),
    MAY("work", COUNT, "the command or update in progress"),
    MAY("failure", WORDS(lks_failure_words), "what went wrong last"),
    MAY("text", TEXT, "the same in words, or what is waited for"));
const struct lks_form lks_form_members = LIST("ChangeMembers", "Nodes of a change",
    member, "nodes and assets, by wave");
static const struct lks_form frozen_pool = FORM("FrozenPool", "A frozen pool",
    MUST("pool", TEXT, "which"),
    BY,
    MAY("since", TIME, "since when"));
static const struct lks_form frozen_days = FORM("FrozenDays", "Days on which no change starts",
    MUST("from", TEXT, "the first of them, by the clocks of each site"),
    MUST("until", TEXT, "the first that is none any more"),
    MUST("now", TRUTH, "today is one of them, by UTC"),
    MAY("pools", LKS_LIST(TEXT), "in which no further node is changed; absent: in all"),
    MAY("description", TEXT, "why"));
const struct lks_form lks_form_freeze = FORM("FreezeRecorded", "The freeze, or the one there is",
    SEQ,
    MAY("already", TRUTH, "it was frozen before, and nothing was recorded: by whom and why,"),
    BY,
    MAY("since", TIME, "and since when"));
const struct lks_form lks_form_frozen = FORM("Frozen", "Freezes in effect",
    MUST("frozen", TRUTH, "the whole fleet is frozen"),
    BY,
    MUST("pools", LKS_LIST(LKS_FORM(frozen_pool)), "in which no further node is changed"),
    MAY("since", TIME, "since when"),
    MUST("days", LKS_LIST(LKS_FORM(frozen_days)), "of the fleet's file that are not over"));
static const struct lks_form proven = FORM("ProvenRevert", "A rollback that was exercised",
    MUST("class", TEXT, "the hardware class"),
    MUST("from", TEXT, "the stack that it rolled back to"),
    MUST("to", TEXT, "the stack that it rolled back from"),
    MUST("node", TEXT, "by which node"),
    MUST("change", COUNT, "in which change"),
    MUST("took_ms", COUNT, "the duration of the rollback"),
    MUST("at", TIME, "when"));
const struct lks_form lks_form_proven = LIST("ProvenReverts", "Rollbacks that were exercised",
    proven, "rollbacks that were exercised");

/* Bundles and keys: requests ---------------------------------------------------------------- */

const struct lks_form lks_ask_bundle = ASK(ask_bundle, "BundleWish",
    "A bundle whose artifacts are in the depot",
    NEEDS(ask_bundle, manifest, LINES(LKS_BUNDLE_BYTES_MAX), "bundle.json, byte for byte"),
    NEEDS(ask_bundle, signature, LINES(LKS_SIGNATURE_TEXT_MAX),
        "bundle.sig: its JSON, or a signature in base64"),
    REASON_MAY(ask_bundle));
const struct lks_form lks_ask_key = ASK(ask_key, "KeyWish", "A public key to trust",
    NEEDS(ask_key, name, NAME, "how it is called here"),
    NEEDS(ask_key, key, LINES(LKS_PIN_TEXT_MAX), "one line as GET shows it, or PEM"),
    REASON(ask_key));

/* Bundles and keys: answers ----------------------------------------------------------------- */

static const struct lks_form key = FORM_OF("PinnedKey", "A public key that is trusted",
    lks_view_keys, LKS_USE_LISTED);
const struct lks_form lks_form_keys = LIST("PinnedKeys", "Whose signatures count", key, "by name");

static const struct lks_form bundle = FORM_OF("Bundle", "Files with a signature over all of them",
    lks_view_bundles, LKS_USE_LISTED);
const struct lks_form lks_form_bundles = LIST("Bundles", "Bundles that were found good",
    bundle, "newest first");
const struct lks_form lks_form_bundle = FORM_OF("BundleDetail", "A bundle and its files",
    lks_view_bundles, LKS_USE_LISTED | LKS_USE_SHOWN);
const struct lks_form lks_form_taken = FORM("BundleTaken", "The bundle is verified",
    MUST("digest", DIGEST, "of the bundle"),
    MUST("name", TEXT, "its name"),
    MUST("version", TEXT, "its version"),
    MUST("signer", NAME, "the pinned key that is good for it"),
    MUST("key", DIGEST, "and that key's fingerprint"),
    MUST("site", TRUTH, "signed by a site, for a vendor that does not sign"),
    MUST("seq", COUNT, "row of the journal"));

/* Updates and endpoints: query parameters --------------------------------------------------- */

const struct lks_form lks_query_flashes = ASK_AND(query_flashes, "FlashesQuery", "Which updates",
    lks_view_flashes, LKS_USE_FILTER,
    PAGE_OF(query_flashes, lks_view_flashes),
    TAKES(query_flashes, node, LINES(LKS_HOSTS_QUERY_MAX),
        "of these nodes or assets, a host list"),
    TAKES(query_flashes, open, TRUTH, "only those in progress, or only those that ended"));
const struct lks_form lks_query_endpoints = ASK(query_endpoints, "EndpointsQuery",
    "Which endpoints",
    PAGE(query_endpoints),
    TAKES(query_endpoints, node, LINES(LKS_HOSTS_QUERY_MAX),
        "of these nodes or assets, a host list"),
    TAKES(query_endpoints, url, TEXT, "at this address"));

/* Updates and endpoints: requests ----------------------------------------------------------- */

const struct lks_form lks_ask_flash = ASK(ask_flash, "FlashWish",
    "An update by a management endpoint",
    NEEDS_AS(ask_flash, where.node, "node", TEXT, "whose endpoint; it has to be in a change"),
    TAKES(ask_flash, act, WORDS(lks_bmc_act_words), "what is to be done (update)"),
    NEEDS(ask_flash, component, TEXT,
        "a class of firmware, or an entry of the endpoint's inventory"),
    TAKES(ask_flash, version, TEXT,
        "what it is to run; absent: the only version that the bundle has for this component "
        "and this hardware"),
    TAKES(ask_flash, bundle, TEXT,
        "a bundle that was found good: its digest, the beginning of one, or its "
        "name"),
    TAKES(ask_flash, image, DIGEST,
        "which of its artifacts; absent: the only one for this component and this "
        "hardware"),
    TAKES(ask_flash, apply_time, TEXT,
        "when the endpoint applies it, in Redfish's words; absent: by what it "
        "offers"),
    TAKES(ask_flash, force, TRUTH,
        "an older version is meant, or one that the bundle does not let follow "
        "what runs"),
    TAKES(ask_flash, one_way, TRUTH, "acknowledge that the update is irreversible"),
    TAKES_OR(ask_flash, minutes, LKS_NUMBERS(1, 1440), 120, "until it is given up (120)"),
    REASON(ask_flash));
const struct lks_form lks_ask_endpoint = ASK(ask_endpoint, "EndpointWish",
    "The identity of an endpoint",
    TAKES(ask_endpoint, fingerprint, DIGEST,
        "of its certificate's public key; absent: no longer taken for good"),
    REASON(ask_endpoint));

/* Updates and endpoints: answers ------------------------------------------------------------ */

const struct lks_form lks_form_flash = FORM_OF("Flash", "An update by a management endpoint",
    lks_view_flashes, LKS_USE_LISTED);
const struct lks_form lks_form_flashes = LIST("Flashes", "A list of updates",
    lks_form_flash, "updates");
static const struct lks_form endpoint = FORM("Endpoint", "A management endpoint",
    MUST("node", TEXT, "the node or asset"),
    MUST("url", TEXT, "where it is"),
    MUST("driver", TEXT, "how it is spoken to"),
    MUST("trust", TEXT, "how it is known: by a file of authorities, or a fingerprint"),
    MAY("fingerprint", TEXT, "the one that is recorded"),
    MAY("read", TIME, "when it was last read"),
    MAY("failed", TIME, "when it could not be read; absent: it could, or was not tried here"),
    MAY("failure", TEXT, "and why"),
    MUST("changing", TRUTH, "its node is in a change"),
    MUST("idle", TRUTH, "nodes that it may disrupt are drained and idle, or of posture dev"),
    MAY("flashing", COUNT, "the update that is in progress there, or waits for a person"),
    MUST("managed", TRUTH, "no other client updates it"));
const struct lks_form lks_form_endpoints = LIST("Endpoints", "A list of management endpoints",
    endpoint, "endpoints");
/* clang-format on */
