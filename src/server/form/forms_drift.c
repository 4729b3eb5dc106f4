/* Drift, deviations, what is said of nodes, sweeps. */
#include "server/form/forms_words.h"

const char *const lks_differs_words[] = {"drift", "unmeasured", "deviation", NULL};

/* clang-format off */
/* Query parameters -------------------------------------------------------------------------- */

static const struct lks_field lks_query_drift_fields[] = {
    PAGE,
    MAY("pool", TEXT, "of this pool"),
    MAY("node", TEXT, "of this host list"),
    MAY("cause", WORDS(lks_drift_words), "that drift for this cause"),
    MAY("judged", WORDS(lks_differs_words), "that differ in this way"),
};
const struct lks_form lks_query_drift = {"DriftQuery", "Which nodes",
    LKS_FIELDS(lks_query_drift_fields)};
static const struct lks_field lks_query_deviations_fields[] = {
    PAGE,
    MAY("open", TRUTH, "only those that hold, or only those that ended"),
    MAY("pool", TEXT, "with nodes of this pool"),
};
const struct lks_form lks_query_deviations = {"DeviationsQuery", "Which deviations",
    LKS_FIELDS(lks_query_deviations_fields)};
static const struct lks_field lks_query_holder_fields[] = {
    MAY("holder", TEXT, "whose lease of this endpoint ends with it; absent: the caller's own"),
};
const struct lks_form lks_query_holder = {"HolderQuery", "The reader of the endpoint",
    LKS_FIELDS(lks_query_holder_fields)};

/* Requests ---------------------------------------------------------------------------------- */

static const struct lks_field lks_ask_deviation_fields[] = {
    MUST("nodes", HOSTS, "where, as a host list"),
    MUST("subject", TEXT, "what may differ: a component, a setting; * for all"),
    MAY("value", TEXT, "only when it reads so"),
    MUST("owner", TEXT, "who answers for it"),
    REASON,
    MAY("approver", TEXT, "the person expected to approve it; only their own approveDeviation "
                          "counts"),
    MUST("expires", TIME, "when it ends, such as 2026-11-15T03:37:00Z"),
};
const struct lks_form lks_ask_deviation = {"DeviationWish", "An exception that is honoured",
    LKS_FIELDS(lks_ask_deviation_fields)};
static const struct lks_field lks_ask_condition_fields[] = {
    MUST("condition", WORDS(lks_condition_words), "the condition to set"),
    MUST("on", TRUTH, "it is so, or no longer"),
    MAY("until", TIME, "attested: it ends then; checked: when it passed (now)"),
    MAY("stack", TEXT, "changing: the stack the node is going to, by digest or name"),
    MUST("text", WHY, "why, for the journal"),
};
const struct lks_form lks_ask_condition = {"ConditionWish", "A condition of nodes",
    LKS_FIELDS(lks_ask_condition_fields)};
static const struct lks_field lks_ask_lease_fields[] = {
    MUST("holder", NAME, "who reads"),
    MUST("max", LKS_NUMBERS(1, LKS_LIST_MAX), "most endpoints"),
    MUST("seconds", LKS_NUMBERS(1, LKS_LEASE_MAX), "how long they are leased"),
};
const struct lks_form lks_ask_lease = {"LeaseWish", "Endpoints that are due, for one reader",
    LKS_FIELDS(lks_ask_lease_fields)};
static const struct lks_field lks_ask_sweep_failed_fields[] = {
    MUST("holder", NAME, "who had the lease"),
    MUST("text", WHY, "what went wrong"),
};
const struct lks_form lks_ask_sweep_failed = {"SweepFailed", "An endpoint could not be read",
    LKS_FIELDS(lks_ask_sweep_failed_fields)};

/* Answers ----------------------------------------------------------------------------------- */

#define ROW_TEXT LINES(LKS_BASIS_TEXT_MAX)
static const struct lks_field wrong_fields[] = {
    MUST("subject", TEXT, "what differs"),
    MUST("cause", TEXT, "how"),
    MAY("pinned", ROW_TEXT, "what the stack says"),
    MAY("actual", ROW_TEXT, "what the node has"),
    MAY("of", TEXT, "the device it was found on"),
    MAY("deviation", COUNT, "number of the deviation that covers it"),
};
const struct lks_form lks_form_wrong = {"Wrong", "Something that does not conform",
    LKS_FIELDS(wrong_fields)};
static const struct lks_field drained_fields[] = {
    MUST("by", TEXT, "who owns the drain"),
    MAY("reason", TEXT, "and why"),
};
const struct lks_form lks_form_drained = {"Drained", "Kept free of jobs",
    LKS_FIELDS(drained_fields)};
static const struct lks_field drifter_fields[] = {
    MUST("node", TEXT, "its name"),
    MAY("pool", TEXT, "its pool"),
    MAY("stack", TEXT, "the stack it should run"),
    MAY("digest", TEXT, "and that stack's digest"),
    MUST("judged", WORDS(lks_differs_words), "how it differs"),
    MAY("cause", WORDS(lks_drift_words), "the cause, if known"),
    MAY("since", TIME, "since when"),
    MAY("text", ROW_TEXT, "in a line"),
    MAY("evidence", TEXT, "digest of the report that shows it"),
    MUST("drifted", COUNT, "pins that do not hold"),
    MUST("unmeasured", COUNT, "pins that could not be read"),
    MUST("rows", LKS_LIST(LKS_FORM(lks_form_wrong)), "the first of them"),
    MAY("drained", LKS_FORM(lks_form_drained), "if it is"),
};
static const struct lks_form drifter = {"Drifter", "Nodes that differ from their intent",
    LKS_FIELDS(drifter_fields)};
static const struct lks_field counts_fields[] = {
    MUST("nodes", COUNT, "that are evaluated"),
    MUST("conforms", COUNT, "as they should be"),
    MUST("drift", COUNT, "otherwise"),
    MUST("unmeasured", COUNT, "not read, or not all of it"),
    MUST("unjudged", COUNT, "no stack to compare with, or no verdict yet"),
    MUST("deviating", COUNT, "otherwise, and that is allowed for now"),
};
static const struct lks_form counts = {"DriftCounts", "Nodes by how they compare",
    LKS_FIELDS(counts_fields)};
static const struct lks_field lks_form_drift_fields[] = {
    MUST("items", LKS_LIST(LKS_FORM(drifter)), "nodes that drift, are unmeasured or deviate"),
    MUST("counts", LKS_FORM(counts), "of all nodes of the pool and host list that were asked for"),
    NEXT,
};
const struct lks_form lks_form_drift = {"Drift", "Nodes that differ from their intent",
    LKS_FIELDS(lks_form_drift_fields)};

static const struct lks_field deviation_fields[] = {
    MUST("id", COUNT, "its number"),
    MUST("nodes", HOSTS, "where"),
    MUST("subject", TEXT, "what may differ"),
    MAY("value", TEXT, "only when it reads so"),
    MUST("owner", TEXT, "who answers for it"),
    MUST("reason", TEXT, "why"),
    MAY("approver", TEXT, "the person expected to approve it"),
    MAY("by", TEXT, "who added it"),
    MAY("waits", TRUTH, "it counts for nothing until an approver approves it"),
    MAY("agreed", TIME, "when an approver approved it"),
    MAY("agreed_by", TEXT, "who that was"),
    MAY("agreed_reason", TEXT, "and why"),
    MUST("added", TIME, "when"),
    MUST("expires", TIME, "when it ends"),
    MAY("ended", TIME, "when it ended"),
    MAY("ended_by", TEXT, "by whom; absent: it expired"),
    MAY("ended_reason", TEXT, "and why"),
    MUST("in_use", COUNT, "of its nodes, those that run a deviation"),
};
static const struct lks_form deviation = {"Deviation", "An exception",
    LKS_FIELDS(deviation_fields)};
static const struct lks_field lks_form_deviations_fields[] = {
    MUST("items", LKS_LIST(LKS_FORM(deviation)), "deviations"),
    NEXT,
};
const struct lks_form lks_form_deviations = {"Deviations", "A list of deviations",
    LKS_FIELDS(lks_form_deviations_fields)};
static const struct lks_field lks_form_numbered_fields[] = {
    MUST("id", COUNT, "its number"),
    MAY("waits", TRUTH, "a deviation that counts for nothing until an approver approves it"),
    MAY("warning", LINES(4096), "a deviation that covers nothing the nodes' stacks pin"),
    MUST("seq", COUNT, "the row up to which the journal is durable"),
    MAY("nodes", COUNT, "how many nodes and assets it was for, where it was for some"),
    MAY("gpus", COUNT, "how many GPUs they have"),
};
const struct lks_form lks_form_numbered = {"Numbered", "Recorded, with its number",
    LKS_FIELDS(lks_form_numbered_fields)};

static const struct lks_field leased_fields[] = {
    MUST("name", TEXT, "the node or asset"),
    MAY("site", TEXT, "where it is"),
    MUST("url", TEXT, "its management endpoint"),
    MUST("until", TIME, "when the lease ends"),
};
static const struct lks_form leased = {"Leased", "An endpoint to read",
    LKS_FIELDS(leased_fields)};
static const struct lks_field lks_form_leases_fields[] = {
    MUST("items", LKS_LIST(LKS_FORM(leased)), "endpoints"),
};
const struct lks_form lks_form_leases = {"Leases", "Endpoints that are due",
    LKS_FIELDS(lks_form_leases_fields)};
static const struct lks_field sweep_fields[] = {
    MUST("pool", TEXT, "the pool"),
    MUST("endpoints", COUNT, "nodes whose endpoint is to be read"),
    MUST("never", COUNT, "of those, never read"),
    MUST("oldest_ms", COUNT, "the age of the oldest reading"),
    MUST("every", COUNT, "how often they should be read, in ms"),
};
static const struct lks_form sweep = {"Sweep", "How well a pool is read",
    LKS_FIELDS(sweep_fields)};
static const struct lks_field lks_form_sweeps_fields[] = {
    MUST("items", LKS_LIST(LKS_FORM(sweep)), "pools"),
    NEXT,
};
const struct lks_form lks_form_sweeps = {"Sweeps", "How well management endpoints are read",
    LKS_FIELDS(lks_form_sweeps_fields)};
static const struct lks_field lks_form_done_fields[] = {
    MUST("done", TRUTH, "it is; false: the lease was not the holder's any more"),
};
const struct lks_form lks_form_done = {"Done", "Taken note of",
    LKS_FIELDS(lks_form_done_fields)};
/* clang-format on */
