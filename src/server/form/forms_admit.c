/* Admission, the registry of stacks, images, exposure. */
#include "core/admission/admit.h"
#include "server/form/forms_words.h"

/* clang-format off */
#define AT_MOST(n) {.type = LKS_TYPE_TEXT, .max = (n)}

/* Query parameters -------------------------------------------------------------------------- */

static const struct lks_field lks_query_admissions_fields[] = {
    PAGE,
    MAY("job", AT_MOST(LKS_ADMIT_JOB_MAX), "of this job"),
    MAY("reason", WORDS(lks_bar_words), "for this reason"),
};
const struct lks_form lks_query_admissions = {"AdmissionsQuery", "Which decisions",
    LKS_FIELDS(lks_query_admissions_fields)};
static const struct lks_field lks_query_stacks_fields[] = {
    PAGE,
    MAY("name", TEXT, "called so"),
    MAY("step", WORDS(lks_step_words), "that are so far"),
};
const struct lks_form lks_query_stacks = {"StacksQuery", "Which stacks",
    LKS_FIELDS(lks_query_stacks_fields)};
static const struct lks_field lks_query_publish_fields[] = {
    MAY("stack", NAME, "which stack of the file; needed where it has several"),
    MAY("reason", WHY, "why, for the journal"),
};
const struct lks_form lks_query_publish = {"PublishQuery", "A stack to publish, and why",
    LKS_FIELDS(lks_query_publish_fields)};
static const struct lks_field lks_query_image_fields[] = {
    MUST("ref", AT_MOST(LKS_ADMIT_REF_MAX), "which image"),
    REASON,
};
const struct lks_form lks_query_image = {"ImageQuery", "Which image goes, and why",
    LKS_FIELDS(lks_query_image_fields)};
static const struct lks_field lks_query_cve_fields[] = {
    MAY("cve", TEXT, "this advisory alone"),
};
const struct lks_form lks_query_cve = {"CveQuery", "Which advisory",
                                       LKS_FIELDS(lks_query_cve_fields)};
static const struct lks_field lks_query_one_cve_fields[] = {
    MUST("cve", TEXT, "this advisory"),
};
const struct lks_form lks_query_one_cve = {"OneCveQuery", "Which advisory",
    LKS_FIELDS(lks_query_one_cve_fields)};

/* Requests ---------------------------------------------------------------------------------- */

static const struct lks_field job_image_fields[] = {
    MUST("ref", AT_MOST(LKS_ADMIT_REF_MAX), "registry/name:tag, or with @sha256:..."),
    MAY("ranks", TEXT, "places in the list of nodes that run it, such as 0-255,512; absent: all"),
};
static const struct lks_form job_image = {"JobImage", "An image a job runs",
    LKS_FIELDS(job_image_fields)};
static const struct lks_field lks_ask_admit_fields[] = {
    MUST("job", AT_MOST(LKS_ADMIT_JOB_MAX), "what the job is called"),
    MUST("nodes", HOSTS, "where, as a host list in the order of its ranks"),
    MAY("stack", TEXT, "the stack it wants, by name or digest"),
    MAY("images", LKS_LIST_FROM_TO(0, LKS_ADMIT_IMAGES_MAX, LKS_FORM(job_image)),
        "what it runs"),
    MAY("nccl", TEXT, "the version of NCCL or RCCL that it says it loads"),
    MAY("canary_ok", TRUTH, "it may run on nodes that soak behind a change, if it matters little"),
    MAY("criticality", LKS_NUMBERS(0, LKS_ADMIT_CRITICAL),
        "how much it matters, from 0 to 100; absent: as much as the most critical pool it is in"),
    MAY("start", TRUTH, "it starts if it may: the journal says so; needs more permission"),
    MAY("signed", TRUTH, "with our signature (DSSE) over the answer"),
};
const struct lks_form lks_ask_admit = {"AdmitWish", "May this job start on these nodes",
    LKS_FIELDS(lks_ask_admit_fields)};
static const struct lks_field lks_ask_override_fields[] = {
    MUST("job", AT_MOST(LKS_ADMIT_JOB_MAX), "which job"),
    MUST("nodes", HOSTS, "where"),
    REASON,
    MUST("until", TIME, "when it ends, such as 2026-11-15T03:37:00Z"),
};
const struct lks_form lks_ask_override = {"OverrideWish", "A job starts although it should not",
    LKS_FIELDS(lks_ask_override_fields)};
static const struct lks_field lks_ask_promote_fields[] = {
    MUST("to", WORDS(lks_step_words), "the next step"),
    MUST("evidence", WHY, "what shows that it is fit for it"),
};
const struct lks_form lks_ask_promote = {"Promote", "A stack's next stage",
    LKS_FIELDS(lks_ask_promote_fields)};
static const struct lks_field lks_ask_retire_fields[] = {
    MUST("evidence", WHY, "why it ended"),
};
const struct lks_form lks_ask_retire = {"Retire", "A stack's last stage",
    LKS_FIELDS(lks_ask_retire_fields)};
static const struct lks_field lks_ask_image_fields[] = {
    MUST("ref", AT_MOST(LKS_ADMIT_REF_MAX), "registry/name:tag"),
    MAY("digest", DIGEST, "of the image"),
    MAY("nccl", TEXT, "the version it brings"),
    MAY("rccl", TEXT, "the version it brings"),
    MAY("cudnn", TEXT, "the version it brings"),
    MAY("cuda", TEXT, "the version it brings"),
    MUST("source", TEXT, "how that is known: an SBOM, a scan"),
};
const struct lks_form lks_ask_image = {"ImageWish", "The libraries of an image",
    LKS_FIELDS(lks_ask_image_fields)};

/* Answers ----------------------------------------------------------------------------------- */

static const struct lks_field no_fields[] = {
    MUST("reason", WORDS(lks_bar_words), "the kind of reason"),
    MAY("node", TEXT, "which node; absent: an image, or the whole job"),
    MAY("image", TEXT, "which image"),
    MAY("ranks", LINES(LKS_HOSTLIST_BYTES_MAX), "of which ranks"),
    MAY("pool", TEXT, "the pool that says so"),
    MAY("text", LINES(LKS_BASIS_TEXT_MAX), "in a line"),
};
static const struct lks_form no = {"AdmissionNo", "A reason not to start",
    LKS_FIELDS(no_fields)};
static const struct lks_field lks_form_admit_fields[] = {
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
    MAY("envelope", LINES(LKS_ENVELOPE_TEXT_MAX), "the answer without this, signed (DSSE)"),
};
const struct lks_form lks_form_admit = {"Admission", "Yes for a while, or no and why",
    LKS_FIELDS(lks_form_admit_fields)};
static const struct lks_field override_fields[] = {
    MUST("job", TEXT, "which job"),
    MUST("nodes", HOSTS, "where"),
    MUST("reason", TEXT, "why"),
    MAY("by", TEXT, "who"),
    MUST("until", TIME, "when it ends"),
};
static const struct lks_form override = {"Override", "A job starts although it should not",
    LKS_FIELDS(override_fields)};
static const struct lks_field lks_form_overrides_fields[] = {
    MUST("items", LKS_LIST(LKS_FORM(override)), "newest first"),
    NEXT,
};
const struct lks_form lks_form_overrides = {"Overrides", "A list of overrides",
    LKS_FIELDS(lks_form_overrides_fields)};
static const struct lks_field decided_fields[] = {
    MUST("job", TEXT, "which job"),
    MAY("reason", WORDS(lks_bar_words), "the kind of reason; absent: a yes without any"),
    MAY("pool", TEXT, "the pool that says so"),
    MUST("count", COUNT, "how often"),
    MUST("first", TIME, "the first time"),
    MUST("last", TIME, "the last time"),
    MAY("nodes", TEXT, "some of the nodes it was about, the last time"),
    MAY("text", TEXT, "in a line"),
    MUST("admitted", TRUTH, "it could start all the same"),
};
static const struct lks_form decided = {"Decided", "Decisions for a job and a reason",
    LKS_FIELDS(decided_fields)};
static const struct lks_field lks_form_admissions_fields[] = {
    MUST("items", LKS_LIST(LKS_FORM(decided)), "the newest first"),
    NEXT,
};
const struct lks_form lks_form_admissions = {"Admissions", "Decisions of late",
    LKS_FIELDS(lks_form_admissions_fields)};
static const struct lks_field observed_fields[] = {
    MUST("pool", TEXT, "the pool"),
    MAY("enforce", TEXT, "observe, warn or on"),
    MUST("day", LKS_OF(DATE), "of the journal's clock"),
    MUST("asked", COUNT, "jobs that asked to start there"),
    MUST("refused", LKS_DICT(NAME, LKS_BAR_COUNT, COUNT), "jobs that were refused, or would have "
        "been, by reason"),
};
static const struct lks_form observed = {"Observed", "Refusals of a pool on a day",
    LKS_FIELDS(observed_fields)};
static const struct lks_field lks_form_observed_fields[] = {
    MUST("items", LKS_LIST(LKS_FORM(observed)), "pools and days"),
};
const struct lks_form lks_form_observed = {"ObservedAll", "A week of what would be refused",
    LKS_FIELDS(lks_form_observed_fields)};

#define STACK_FIELDS                                                        \
    MUST("digest", DIGEST, "of its meaning"),                               \
    MUST("name", TEXT, "what it is called"),                                \
    MUST("step", WORDS(lks_step_words), "how far it is"),                   \
    MUST("published", TIME, "when"),                                        \
    MAY("by", TEXT, "by whom"),                                             \
    MAY("reason", TEXT, "and why"),                                         \
    MAY("stepped", TIME, "when it reached its stage"),                     \
    MUST("pools", LKS_LIST(TEXT), "that are pinned to it")
static const struct lks_field stack_row_fields[] = {
    STACK_FIELDS,
};
static const struct lks_form stack_row = {"StackRow", "A stack in a list",
    LKS_FIELDS(stack_row_fields)};
static const struct lks_field lks_form_stacks_fields[] = {
    MUST("items", LKS_LIST(LKS_FORM(stack_row)), "stacks, the newest first"),
    NEXT,
};
const struct lks_form lks_form_stacks = {"Stacks", "A list of stacks",
    LKS_FIELDS(lks_form_stacks_fields)};
static const struct lks_field evidence_fields[] = {
    MUST("step", WORDS(lks_step_words), "which stage"),
    MUST("text", TEXT, "what was shown for it"),
    MAY("by", TEXT, "by whom"),
};
static const struct lks_form evidence = {"StepEvidence", "Why a stack made a step",
    LKS_FIELDS(evidence_fields)};
static const struct lks_field lks_form_stack_fields[] = {
    STACK_FIELDS,
    MUST("manifest", DIGEST, "of the file it came in"),
    MUST("artifacts", LKS_LIST(DIGEST), "that it names"),
    MUST("evidence", LKS_LIST(LKS_FORM(evidence)), "for its steps"),
};
const struct lks_form lks_form_stack = {"Stack", "A published stack",
    LKS_FIELDS(lks_form_stack_fields)};
static const struct lks_field lks_form_published_fields[] = {
    MUST("digest", DIGEST, "of its meaning"),
    MUST("name", TEXT, "what it is called"),
    MUST("step", WORDS(lks_step_words), "how far it is"),
    MUST("seq", COUNT, "the row up to which the journal is durable"),
};
const struct lks_form lks_form_published = {"Published", "The stack is in the registry",
    LKS_FIELDS(lks_form_published_fields)};
static const struct lks_field image_fields[] = {
    MUST("ref", TEXT, "registry/name:tag"),
    MAY("digest", TEXT, "of the image"),
    MAY("nccl", TEXT, "the version it brings"),
    MAY("rccl", TEXT, "the version it brings"),
    MAY("cudnn", TEXT, "the version it brings"),
    MAY("cuda", TEXT, "the version it brings"),
    MUST("source", TEXT, "how that is known"),
    MAY("by", TEXT, "the identity that set it"),
    MUST("added", TIME, "when"),
};
static const struct lks_form image = {"Image", "The libraries of an image",
    LKS_FIELDS(image_fields)};
static const struct lks_field lks_form_images_fields[] = {
    MUST("items", LKS_LIST(LKS_FORM(image)), "by reference"),
    NEXT,
};
const struct lks_form lks_form_images = {"Images", "The catalogue of images",
    LKS_FIELDS(lks_form_images_fields)};
static const struct lks_field lks_form_advisories_fields[] = {
    MUST("items", LKS_LIST(ANY), "advisories, with the nodes, images and GPUs they reach"),
};
const struct lks_form lks_form_advisories = {"FleetAdvisories", "Advisories that affect the "
                                                                "fleet",
    LKS_FIELDS(lks_form_advisories_fields)};
static const struct lks_field remedy_fields[] = {
    MUST("stack", TEXT, "a published stack that is not exposed to the advisory"),
    MUST("digest", DIGEST, "of it"),
    MUST("step", TEXT, "how far it was promoted"),
    MUST("differences", COUNT, "from what the pool is pinned to"),
    MUST("opens", COUNT, "advisories that it is exposed to, and the pin is not"),
    MUST("same_branch", TRUTH, "its driver is of the branch that the pool runs"),
    MUST("whole", TRUTH, "it is for all hardware of the pool"),
    MUST("revertible", TRUTH, "each step is reversible, and power and fabric stay as they are"),
};
static const struct lks_form remedy = {"Remedy", "Stacks that close an advisory",
                                       LKS_FIELDS(remedy_fields)};
static const struct lks_field pool_remedies_fields[] = {
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
    MUST("closed_by", LKS_LIST(LKS_FORM(remedy)), "the nearest first, 16 at the most"),
};
static const struct lks_form pool_remedies = {"PoolRemedies", "Stacks that close an advisory in "
                                                              "a pool",
    LKS_FIELDS(pool_remedies_fields)};
static const struct lks_field lks_form_remedies_fields[] = {
    MUST("id", TEXT, "the advisory"),
    MUST("items", LKS_LIST(LKS_FORM(pool_remedies)), "pools"),
};
const struct lks_form lks_form_remedies = {"FleetRemedies", "Stacks that close an advisory",
    LKS_FIELDS(lks_form_remedies_fields)};
static const struct lks_field lks_form_lifecycle_fields[] = {
    MUST("support", LKS_LIST(ANY), "GPUs by the day their driver's support ends"),
    MUST("matrix", LKS_LIST(ANY), "GPU, driver and CUDA as they run, with verdicts"),
};
const struct lks_form lks_form_lifecycle = {"FleetLifecycle", "How long what runs is supported",
    LKS_FIELDS(lks_form_lifecycle_fields)};
/* clang-format on */
