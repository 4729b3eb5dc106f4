/* How nodes compare with their intent, and what follows: deviations, readings of management
 * endpoints, admission, the registry of stacks, images, exposure. */
#include "core/actions/sched_lead.h"
#include "core/admission/admit.h"
#include "server/form/forms_words.h"

const char *const lks_differs_words[] = {"drift", "unmeasured", "deviation", NULL};

/* clang-format off */
/* Drift: query parameters ------------------------------------------------------------------- */

const struct lks_form lks_query_drift = ASK(query_drift, "DriftQuery", "Which nodes",
    PAGE(query_drift),
    TAKES(query_drift, pool, TEXT, "of this pool"),
    TAKES(query_drift, node, LINES(LKS_HOSTS_QUERY_MAX), "of this host list"),
    TAKES(query_drift, cause, WORDS(lks_drift_words), "that drift for this cause"),
    TAKES(query_drift, judged, WORDS(lks_differs_words), "that differ in this way"));
const struct lks_form lks_query_deviations = ASK(query_deviations, "DeviationsQuery",
    "Which deviations",
    PAGE_OF(query_deviations, lks_view_deviations),
    TAKES(query_deviations, open, TRUTH, "only those that hold, or only those that ended"),
    TAKES(query_deviations, pool, TEXT, "with nodes of this pool"));
const struct lks_form lks_query_holder = ASK(query_holder, "HolderQuery",
    "The reader of the endpoint",
    TAKES(query_holder, holder, TEXT,
        "whose lease of this endpoint ends with it; absent: the caller's own"));

/* Drift: requests --------------------------------------------------------------------------- */

const struct lks_form lks_ask_deviation = ASK(ask_deviation, "DeviationWish",
    "An exception that is honoured",
    NEEDS_AS(ask_deviation, where.nodes, "nodes", HOSTS, "where, as a host list"),
    NEEDS(ask_deviation, subject, TEXT, "what may differ: a component, a setting; * for all"),
    TAKES(ask_deviation, value, TEXT, "only when it reads so"),
    NEEDS(ask_deviation, owner, TEXT, "who answers for it"),
    REASON(ask_deviation),
    TAKES(ask_deviation, approver, TEXT,
        "the person expected to approve it; only their own approveDeviation "
                          "counts"),
    NEEDS(ask_deviation, expires, TIME, "when it ends, such as 2026-11-15T03:37:00Z"));
const struct lks_form lks_ask_condition = ASK(ask_condition, "ConditionWish",
    "A condition of nodes",
    NEEDS(ask_condition, condition, WORDS(lks_condition_words), "the condition to set"),
    NEEDS(ask_condition, on, TRUTH, "it is so, or no longer"),
    TAKES(ask_condition, until, TIME, "attested: it ends then; checked: when it passed (now)"),
    TAKES(ask_condition, stack, TEXT,
        "changing: the stack the node is going to, by digest or name"),
    NEEDS(ask_condition, text, WHY, "why, for the journal"));
const struct lks_form lks_ask_lease = ASK(ask_lease, "LeaseWish",
    "Endpoints that are due, for one reader",
    NEEDS(ask_lease, holder, NAME, "who reads"),
    NEEDS(ask_lease, max, LKS_NUMBERS(1, LKS_LIST_MAX), "most endpoints"),
    NEEDS(ask_lease, seconds, LKS_NUMBERS(1, LKS_LEASE_MAX), "how long they are leased"));
const struct lks_form lks_ask_sweep_failed = ASK(ask_sweep_failed, "SweepFailed",
    "An endpoint could not be read",
    NEEDS(ask_sweep_failed, holder, NAME, "who had the lease"),
    NEEDS(ask_sweep_failed, text, WHY, "what went wrong"));

/* Drift: answers ---------------------------------------------------------------------------- */

#define ROW_TEXT LINES(LKS_VIEW_LINES_MAX)
static const struct lks_form drifter = FORM("Drifter", "Nodes that differ from their intent",
    MUST("node", TEXT, "its name"),
    MAY("pool", TEXT, "its pool"),
    MAY("stack", TEXT, "the stack it should run"),
    MAY("digest", TEXT, "and that stack's digest"),
    MUST("judged", WORDS(lks_differs_words), "how it differs"),
    MAY("change", COUNT, "the change that is in progress on it, or keeps it out of service"),
    MAY("cause", WORDS(lks_drift_words), "the cause, if known"),
    MAY("since", TIME, "since when"),
    MAY("text", ROW_TEXT, "in a line"),
    MAY("evidence", TEXT, "digest of the report that shows it"),
    MUST("drifted", COUNT, "pins that do not hold"),
    MUST("unmeasured", COUNT, "pins that could not be read"),
    MUST("rows", LKS_LIST(LKS_FORM(lks_view_wrong_form)), "the first of them"),
    MAY("drained", LKS_FORM(lks_view_drained_form), "if it is"));
static const struct lks_form counts = FORM("DriftCounts", "Nodes by how they compare",
    MUST("nodes", COUNT, "that are evaluated"),
    MUST("conforms", COUNT, "as they should be"),
    MUST("drift", COUNT, "otherwise"),
    MUST("unmeasured", COUNT, "not read, or not all of it"),
    MUST("unjudged", COUNT, "no stack to compare with, or no verdict yet"),
    MUST("deviating", COUNT, "otherwise, and that is allowed for now"));
const struct lks_form lks_form_drift = FORM("Drift", "Nodes that differ from their intent",
    MUST("items", LKS_LIST(LKS_FORM(drifter)), "nodes that drift, are unmeasured or deviate"),
    MUST("counts", LKS_FORM(counts), "of all nodes of the pool and host list that were asked for"),
    NEXT);

static const struct lks_form deviation = FORM_OF("Deviation", "An exception",
    lks_view_deviations, LKS_USE_LISTED);
const struct lks_form lks_form_deviations = LIST("Deviations", "A list of deviations",
    deviation, "deviations");
const struct lks_form lks_form_numbered = FORM("Numbered", "Recorded, with its number",
    MUST("id", COUNT, "its number"),
    MAY("waits", TRUTH, "a deviation that counts for nothing until an approver approves it"),
    MAY("warning", LINES(4096), "a deviation that covers nothing the nodes' stacks pin"),
    RECORDED);

static const struct lks_form leased = FORM("Leased", "An endpoint to read",
    MUST("name", TEXT, "the node or asset"),
    MAY("site", TEXT, "where it is"),
    MUST("url", TEXT, "its management endpoint"),
    MUST("until", TIME, "when the lease ends"));
const struct lks_form lks_form_leases = FORM("Leases", "Endpoints that are due",
    MUST("items", LKS_LIST(LKS_FORM(leased)), "endpoints"));
static const struct lks_form sweep = FORM("Sweep", "How well a pool is read",
    MUST("pool", TEXT, "the pool"),
    MUST("endpoints", COUNT, "nodes whose endpoint is to be read"),
    MUST("never", COUNT, "of those, never read"),
    MUST("oldest_ms", COUNT, "the age of the oldest reading"),
    MUST("every", COUNT, "how often they should be read, in ms"));
const struct lks_form lks_form_sweeps = LIST("Sweeps", "How well management endpoints are read",
    sweep, "pools");
static const struct lks_form sched = FORM("PoolScheduler", "A scheduler of a pool",
    MUST("pool", TEXT, "the pool"),
    MUST("scheduler", TEXT, "its scheduler; a pool with several has an item for each"),
    MAY("name", TEXT, "both in words, where the pool has several"),
    MUST("nodes", COUNT, "nodes of the pool"),
    MUST("draining", COUNT, "of those, closed for new jobs while something runs there"),
    MUST("drained", COUNT, "closed, and nothing runs there"),
    MUST("unfenced", COUNT, "asked through slurmrestd, which has no epochs"),
    MUST("foreign", COUNT, "drained by another owner than lockstep, or by the scheduler itself"),
    MUST("missing", COUNT, "the scheduler does not know them"),
    MUST("published", COUNT, "the scheduler shows lockstep's verdict on them"),
    MUST("behind", COUNT, "it shows another verdict or stack than it should"),
    MUST("failing", COUNT, "the scheduler does not answer about them"),
    MUST("late", COUNT, "behind for more than 10 minutes"),
    MUST("gres", COUNT, "nodes whose GPUs the scheduler advertises"),
    MUST("gres_differ", COUNT, "of those, advertised otherwise than the stack pins"),
    MUST("slots", COUNT, "slots of stacks that its nodes should run, at most 3; without publish 0"),
    MUST("slotless", COUNT, "nodes whose stack has no slot, or none yet"),
    MUST("reserved", COUNT, "reservations of lockstep for the windows of changes"),
    MAY("unreserved", TEXT, "why one that is wanted could not be made"),
    MAY("oldest", TIME, "when the oldest of its answers came"),
    MAY("text", TEXT, "the reason of the first of these"),
    MAY("late_text", TEXT, "why the last request that published verdicts failed"),
    MAY("policy", TIME, "when the policy of submissions was written, by the bridge that has the "
                        "oldest one"),
    MAY("policy_text", TEXT, "why it could not be written the last time; with the address of the "
                             "bridge, if the caller may read at its site"),
    MAY("runs_failing", TIME, "since when the runs of jobs that ended at a site cannot be read"),
    MAY("runs_text", TEXT, "why"),
    MAY("runs_gap", TIME, "the end of a gap of the last day, in which runs may be missing"),
    MAY("unlisted", TIME, "since when the jobs of a site of it cannot be listed"),
    MAY("unlisted_text", TEXT, "why"));
const struct lks_form lks_form_scheds = LIST("Schedulers", "Schedulers of pools", sched, "pools");
static const struct lks_form bridge = FORM("Bridge", "A bridge to a scheduler",
    MUST("site", TEXT, "the site, as configured; '*': all"),
    MUST("url", TEXT, "its address"),
    MAY("scheduler", TEXT, "which scheduler it is for, where that is not slurm"),
    MUST("known", TRUTH, "a node of the fleet is at the site"),
    MUST("epoch", WORDS(lks_sched_lead_words), "whether it confirmed the epoch of the leader"),
    MAY("failing", TIME, "since when it has not"),
    MAY("text", TEXT, "why"));
const struct lks_form lks_form_bridges = LIST("Bridges", "Bridges to schedulers", bridge,
    "bridges");
const struct lks_form lks_form_done = FORM("Done", "Taken note of",
    MUST("done", TRUTH, "it is; false: the lease was not the holder's any more"));

#define AT_MOST(n) {.type = LKS_TYPE_TEXT, .max = (n)}
#define BRINGS(library) TAKES(rec_image, library, TEXT, "the version it brings")

/* Admission: query parameters --------------------------------------------------------------- */

const struct lks_form lks_query_admissions = ASK(query_admissions, "AdmissionsQuery",
    "Which decisions",
    PAGE(query_admissions),
    TAKES(query_admissions, job, AT_MOST(LKS_ADMIT_JOB_MAX), "of this job"),
    TAKES(query_admissions, reason, WORDS(lks_bar_words), "for this reason"));
const char *const lks_observed_by_words[] = {"user", "image", "reason", "node", NULL};
const struct lks_form lks_query_observed = ASK(query_observed, "ObservedQuery",
    "How refusals are counted",
    TAKES(query_observed, by, WORDS(lks_observed_by_words),
        "instead of by day; each item is about the whole week"));
const struct lks_form lks_query_jobs = ASK_AND(query_jobs, "JobsQuery", "Which runs of jobs",
    lks_view_runs, LKS_USE_FILTER,
    PAGE_OF(query_jobs, lks_view_runs),
    TAKES(query_jobs, id, AT_MOST(LKS_ADMIT_JOB_MAX),
        "of this job, of its tasks (17_3) and of its components (17+1)"),
    TAKES(query_jobs, user, TEXT, "of jobs of this user"),
    TAKES(query_jobs, account, TEXT, "of jobs that this account is charged for"),
    TAKES(query_jobs, partition, TEXT, "in this partition"),
    TAKES(query_jobs, pool, TEXT, "whose first node is in this pool"),
    TAKES(query_jobs, site, TEXT, "of the scheduler of this site"),
    TAKES(query_jobs, node, NAME, "on this node"),
    TAKES(query_jobs, stack, TEXT, "on nodes with this stack, by name or whole digest"),
    TAKES(query_jobs, component, LKS_OF(COMPONENT), "on nodes whose stack pins this component"),
    TAKES(query_jobs, version, TEXT, "in this version; needs `component`"),
    TAKES(query_jobs, since, TIME, "that ended at this time or later"),
    TAKES(query_jobs, until, TIME, "that started before this time"),
    TAKES(query_jobs, interrupted, TRUTH,
        "only those that lockstep, a node, a preemption or a requeue ended, or only others"));
const struct lks_form lks_query_stacks = ASK_AND(query_stacks, "StacksQuery", "Which stacks",
    lks_view_stacks, LKS_USE_FILTER,
    PAGE_OF(query_stacks, lks_view_stacks),
    TAKES(query_stacks, name, TEXT, "called so"));
const struct lks_form lks_query_publish = ASK(query_publish, "PublishQuery",
    "A stack to publish, and why",
    TAKES(query_publish, stack, NAME, "which stack of the file; needed where it has several"),
    TAKES(query_publish, reason, WHY, "why, for the journal"));
const struct lks_form lks_query_image = ASK(query_image, "ImageQuery", "Which image goes, and why",
    NEEDS(query_image, ref, AT_MOST(LKS_ADMIT_REF_MAX), "which image"),
    REASON(query_image));
const struct lks_form lks_query_cve = ASK(ask_cve, "CveQuery", "Which advisory",
    TAKES(ask_cve, cve, TEXT, "this advisory alone"));
const struct lks_form lks_query_one_cve = ASK(ask_cve, "OneCveQuery", "Which advisory",
    NEEDS(ask_cve, cve, TEXT, "this advisory"));

/* Admission: requests ----------------------------------------------------------------------- */

static const struct lks_form job_image = ASK(admit_image, "JobImage", "An image a job runs",
    NEEDS(admit_image, ref, AT_MOST(LKS_ADMIT_REF_MAX), "registry/name:tag, or with @sha256:..."),
    TAKES(admit_image, ranks, TEXT,
        "places in the list of nodes that run it, such as 0-255,512; absent: all"));
const struct lks_form lks_ask_admit = ASK(ask_admit, "AdmitWish",
    "May this job start on these nodes",
    NEEDS(ask_admit, job, AT_MOST(LKS_ADMIT_JOB_MAX), "what the job is called"),
    NEEDS_AS(ask_admit, where.nodes,
        "nodes", HOSTS, "where, as a host list in the order of its ranks"),
    TAKES(ask_admit, user, AT_MOST(LKS_ADMIT_USER_MAX), "whose job it is"),
    TAKES(ask_admit, stack, TEXT, "the stack it wants, by name or digest"),
    TAKES(ask_admit, images, LKS_LIST_FROM_TO(0, LKS_ADMIT_IMAGES_MAX, LKS_FORM(job_image)),
        "what it runs"),
    TAKES(ask_admit, nccl, TEXT, "the version of NCCL or RCCL that it says it loads"),
    TAKES(ask_admit, canary_ok, TRUTH,
        "it may run on nodes that soak behind a change, if it matters little"),
    TAKES_OR(ask_admit, criticality, LKS_NUMBERS(0, LKS_ADMIT_CRITICAL), UINT64_MAX,
        "how much it matters, from 0 to 100; absent: as much as the most critical pool it is in"),
    TAKES(ask_admit, start, TRUTH,
        "it starts if it may: the journal says so; needs more permission"),
    TAKES_AS(ask_admit, sign, "signed", TRUTH, "with our signature (DSSE) over the answer"));
const struct lks_form lks_ask_unanswered = ASK(ask_unanswered, "Unanswered",
    "Jobs started although lockstepd gave no answer",
    NEEDS(ask_unanswered, count, LKS_NUMBERS(1, LKS_UNANSWERED_MAX),
        "how many, since the last report"));
const struct lks_form lks_ask_override = ASK(ask_override, "OverrideWish",
    "A job starts although it should not",
    NEEDS(ask_override, job, AT_MOST(LKS_ADMIT_JOB_MAX), "which job"),
    NEEDS_AS(ask_override, where.nodes, "nodes", HOSTS, "where"),
    REASON(ask_override),
    NEEDS(ask_override, until, TIME, "when it ends, such as 2026-11-15T03:37:00Z"));
const struct lks_form lks_ask_promote = ASK(ask_promote, "Promote", "A stack's next stage",
    NEEDS(ask_promote, to, WORDS(lks_step_words), "the next step"),
    NEEDS(ask_promote, evidence, WHY, "what shows that it is fit for it"));
const struct lks_form lks_ask_retire = ASK(ask_promote, "Retire", "A stack's last stage",
    NEEDS(ask_promote, evidence, WHY, "why it ended"));
const struct lks_form lks_ask_image = ASK(rec_image, "ImageWish", "The libraries of an image",
    NEEDS(rec_image, ref, AT_MOST(LKS_ADMIT_REF_MAX), "registry/name:tag"),
    TAKES(rec_image, digest, DIGEST, "of the image"),
    BRINGS(nccl), BRINGS(rccl), BRINGS(cudnn), BRINGS(cuda),
    NEEDS(rec_image, source, TEXT, "how that is known: an SBOM, a scan"),
    REASON_MAY(rec_image));

/* Admission: answers ------------------------------------------------------------------------ */

static const struct lks_form no = FORM("AdmissionNo", "A reason not to start",
    MUST("reason", WORDS(lks_bar_words), "the kind of reason"),
    MAY("node", TEXT, "which node; absent: an image, or the whole job"),
    MAY("image", TEXT, "which image"),
    MAY("ranks", LINES(LKS_HOSTLIST_BYTES_MAX), "of which ranks"),
    MAY("pool", TEXT, "the pool that says so"),
    MAY("text", LINES(LKS_VIEW_LINES_MAX), "in a line"));
const struct lks_form lks_form_admit = FORM("Admission", "Yes for a while, or no and why",
    MUST("job", TEXT, "which job"),
    MUST("admitted", TRUTH, "it may start"),
    MAY("overridden", TRUTH, "by an override"),
    MAY("override", TEXT, "and why they did"),
    MAY("stack", TEXT, "the stack that all its nodes run"),
    MAY("digest", TEXT, "and that stack's digest"),
    MUST("seq", COUNT, "the journal's row this rests on"),
    MUST("asked", TIME, "when"),
    MAY("valid_until", TIME, "a yes is good until then"),
    MUST("refused", LKS_LIST(LKS_FORM(no)), "reasons of pools that enforce"),
    MUST("refused_total", COUNT, "how many there are; some may not be listed"),
    MUST("warned", LKS_LIST(LKS_FORM(no)), "reasons of pools that warn or observe"),
    MUST("warned_total", COUNT, "how many there are"),
    MAY("envelope", LINES(LKS_ENVELOPE_TEXT_MAX), "the answer without this, signed (DSSE)"));
static const struct lks_form override = FORM_OF("Override", "A job starts although it should not",
    lks_view_overrides, LKS_USE_LISTED);
const struct lks_form lks_form_overrides = LIST("Overrides", "A list of overrides",
    override, "newest first");
static const struct lks_form run = FORM_OF("Run", "Runs of jobs that ended",
    lks_view_runs, LKS_USE_LISTED);
const struct lks_form lks_form_jobs = LIST("Jobs", "Runs of jobs that ended", run, "runs");
static const struct lks_form decided = FORM("Decided", "Decisions for a job and a reason",
    MUST("job", TEXT, "which job"),
    MAY("user", TEXT, "the user of the job, where the last question named one"),
    MAY("reason", WORDS(lks_bar_words), "the kind of reason; absent: a yes without any"),
    MAY("pool", TEXT, "the pool that says so"),
    MUST("count", COUNT, "how often"),
    MUST("first", TIME, "the first time"),
    MUST("last", TIME, "the last time"),
    MAY("nodes", TEXT, "some of the nodes it was about, the last time"),
    MAY("text", TEXT, "in a line"),
    MUST("admitted", TRUTH, "it could start all the same"));
const struct lks_form lks_form_admissions = LIST("Admissions", "Decisions of late",
    decided, "the newest first");
static const struct lks_form observed = FORM("Observed", "Refusals of a pool on a day",
    MUST("pool", TEXT, "the pool"),
    MAY("enforce", TEXT, "observe, warn or on"),
    MAY("user", TEXT, "with `by`: the user; absent: the question named none"),
    MAY("image", TEXT, "with `by`: the image; absent: none"),
    MAY("reason", WORDS(lks_bar_words), "with `by`: the reason"),
    MAY("node", TEXT, "with `by`: the node"),
    MAY("since", LKS_OF(DATE), "with `by`: the first day of the week that has one"),
    MUST("day", LKS_OF(DATE), "of the journal's clock; with `by`: the last one"),
    MUST("asked", COUNT, "jobs that asked to start there; with `by`: in the whole week"),
    MUST("refused", LKS_DICT(NAME, LKS_BAR_COUNT, COUNT), "jobs that were refused, or would have "
        "been, by reason"));
const struct lks_form lks_form_observed = FORM("ObservedAll", "A week of what would be refused",
    MUST("items", LKS_LIST(LKS_FORM(observed)), "pools and days"));

static const struct lks_form stack_row = FORM_OF("StackRow", "A stack in a list",
    lks_view_stacks, LKS_USE_LISTED);
const struct lks_form lks_form_stacks = LIST("Stacks", "A list of stacks",
    stack_row, "stacks, the newest first");
static const struct lks_form evidence = FORM("StepEvidence", "Why a stack made a step",
    MUST("step", WORDS(lks_step_words), "which stage"),
    MUST("text", TEXT, "what was shown for it"),
    MAY("by", TEXT, "by whom"));
const struct lks_form lks_form_stack = FORM_AND("Stack", "A published stack",
    lks_view_stacks, LKS_USE_LISTED | LKS_USE_SHOWN,
    MUST("evidence", LKS_LIST(LKS_FORM(evidence)), "for its steps"));
const struct lks_form lks_form_published = FORM("Published", "The stack is in the registry",
    MUST("digest", DIGEST, "of its meaning"),
    MUST("name", TEXT, "what it is called"),
    MUST("step", WORDS(lks_step_words), "how far it is"),
    SEQ);
static const struct lks_form image = FORM_OF("Image", "The libraries of an image",
    lks_view_images, LKS_USE_LISTED);
const struct lks_form lks_form_images = LIST("Images", "The catalogue of images",
    image, "by reference");
const struct lks_form lks_form_advisories = FORM("FleetAdvisories",
    "Advisories that affect the fleet",
    MUST("items", LKS_LIST(ANY), "advisories, with the nodes, images and GPUs they reach"));
static const struct lks_form remedy = FORM("Remedy", "Stacks that close an advisory",
    MUST("stack", TEXT, "a published stack that is not exposed to the advisory"),
    MUST("digest", DIGEST, "of it"),
    MUST("step", TEXT, "how far it was promoted"),
    MUST("differences", COUNT, "from what the pool is pinned to"),
    MUST("opens", COUNT, "advisories that it is exposed to, and the pin is not"),
    MUST("same_branch", TRUTH, "its driver is of the branch that the pool runs"),
    MUST("whole", TRUTH, "it is for all hardware of the pool"),
    MUST("revertible", TRUTH, "each step is reversible, and power and fabric stay as they are"));
static const struct lks_form pool_remedies = FORM("PoolRemedies",
    "Stacks that close an advisory in a pool",
    MUST("pool", TEXT, "of nodes that you may see"),
    MAY("stack", TEXT, "what it is pinned to"),
    MAY("stack_digest", TEXT, "of that"),
    MUST("nodes", COUNT, "of it"),
    MAY("hosts", TEXT, "exposed: those nodes, as a host list"),
    MAY("change", COUNT, "the open change that closes it here"),
    MUST("exposed", TRUTH, "what it is pinned to is exposed"),
    MAY("component", TEXT, "by which it has it"),
    MAY("fixed", TEXT, "the version that closes it, by the advisory"),
    MAY("remedy", TEXT, "the nearest stack that an emergency change can bring to all of it"),
    MAY("remedy_digest", TEXT, "of that"),
    MUST("closed_by", LKS_LIST(LKS_FORM(remedy)), "the nearest first, 16 at the most"));
const struct lks_form lks_form_remedies = FORM("FleetRemedies", "Stacks that close an advisory",
    MUST("id", TEXT, "the advisory"),
    MUST("items", LKS_LIST(LKS_FORM(pool_remedies)), "pools"));
const struct lks_form lks_form_lifecycle = FORM("FleetLifecycle", "How long what runs is supported",
    MUST("support", LKS_LIST(ANY), "GPUs by the day their driver's support ends"),
    MUST("matrix", LKS_LIST(ANY), "GPU, driver and CUDA as they run, with verdicts"));
/* clang-format on */
