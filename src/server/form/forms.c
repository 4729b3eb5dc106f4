#include "core/state/access.h"
#include "core/view/effects.h"
#include "server/form/forms_words.h"

enum {
    COMMAND_TTL = 3600,
    JOURNAL_ROWS = 1000,
};

/* clang-format off */
/* Query parameters -------------------------------------------------------------------------- */

const struct lks_form lks_query_part = ASK(query_part, "PartQuery", "How an artifact is asked for",
    TAKES(query_part, part, LKS_NUMBERS(0, 1), "1: say as JSON how many bytes of it are there"));
const struct lks_form lks_query_artifact = ASK(query_artifact, "ArtifactQuery",
    "Properties of an artifact",
    TAKES(query_artifact, name, NAME, "what people call it"));

const struct lks_form lks_query_apply = ASK(query_apply, "ApplyQuery", "How a fleet is applied",
    TAKES(query_apply, dry_run, TRUTH, "say what would change, and change nothing"),
    TAKES(query_apply, accept, TRUTH,
        "nodes that are seen for the first time are taken in at once"),
    TAKES(query_apply, nodes, COUNT, "how many enrolled nodes it reaches, where these are many"),
    TAKES(query_apply, gpus, COUNT, "and how many GPUs they have, where these are many"),
    TAKES(query_apply, from, DIGEST,
        "of the fleet's manifest when the changes were read; refused if it differs now"),
    REASON_MAY(query_apply));
const struct lks_form lks_query_review = ASK(query_review, "ReviewQuery",
    "How a webhook is called",
    TAKES(query_review, timeout, TEXT, "how long the API server waits; lockstepd ignores it"));
const struct lks_form lks_query_page = ASK(query_page, "PageQuery", "A part of a list",
    PAGE(query_page));
#define ROWS(name, about, view) ASK(query_page, name, about, PAGE_OF(query_page, view))
const struct lks_form lks_query_artifacts = ROWS("ArtifactsQuery", "Which artifacts",
    lks_view_artifacts);
const struct lks_form lks_query_images = ROWS("ImagesQuery", "Which images", lks_view_images);
const struct lks_form lks_query_keys = ROWS("KeysQuery", "Which keys", lks_view_keys);
const struct lks_form lks_query_bundles = ROWS("BundlesQuery", "Which bundles", lks_view_bundles);
const struct lks_form lks_query_overrides = ROWS("OverridesQuery", "Which overrides",
    lks_view_overrides);
const struct lks_form lks_query_nodes = ASK_AND(query_nodes, "NodesQuery", "Which nodes",
    lks_view_nodes, LKS_USE_FILTER,
    PAGE_OF(query_nodes, lks_view_nodes),
    TAKES(query_nodes, judged, WORDS(lks_view_judged_words),
        "how what they run compares with their stack"),
    TAKES(query_nodes, component, LKS_OF(COMPONENT), "that have this component"),
    TAKES(query_nodes, version, TEXT, "in this version; needs `component`"));
const struct lks_form lks_query_history = ASK(query_history, "HistoryQuery", "A part of a history",
    TAKES_OR(query_history, limit, LKS_NUMBERS(1, LKS_LIST_MAX), LKS_LIST_DEFAULT,
        "most rows of the answer (100)"),
    TAKES_OR(query_history, before, COUNT, UINT64_MAX, "only rows with a smaller number"));
const struct lks_form lks_query_at = ASK(query_at, "AtQuery", "When",
    NEEDS(query_at, time, TIME, "a moment, such as 2026-11-15T03:37:00Z"));
const struct lks_form lks_query_past = ASK(query_past, "PastQuery", "Which nodes, and when",
    NEEDS(query_past, time, TIME, "a moment, such as 2026-11-15T03:37:00Z"),
    TAKES(query_past, nodes, LINES(LKS_HOSTS_QUERY_MAX), "which nodes, as a host list; or"),
    TAKES(query_past, pool, TEXT, "all that were in this pool then"),
    TAKES(query_past, readings, TRUTH, "also what they ran (false)"));
const struct lks_form lks_query_reason = ASK(ask_reason, "ReasonQuery", "Why",
    REASON(ask_reason));
const struct lks_form lks_query_maybe_reason = ASK(ask_reason, "OptionalReasonQuery", "Why",
    REASON_MAY(ask_reason));
const struct lks_form lks_query_alarms = ASK_AND(query_alarms, "AlarmsQuery", "Which alarms",
    lks_view_alarms, LKS_USE_FILTER,
    PAGE_OF(query_alarms, lks_view_alarms),
    TAKES(query_alarms, open, TRUTH, "only those that are open, or only those that are not"));
const struct lks_form lks_query_binding = ASK(ask_binding, "BindingQuery", "Which binding",
    NEEDS(ask_binding, identity, TEXT, "whose"),
    NEEDS(ask_binding, role, WORDS(lks_role_words), "which role"),
    TAKES(ask_binding, site, TEXT, "bound to this site"),
    TAKES(ask_binding, pool, TEXT, "bound to this pool"),
    REASON_MAY(ask_binding));
const struct lks_form lks_query_can = ASK(query_can, "CanQuery", "A person and an act",
    NEEDS(query_can, act, TEXT, "the operationId of a route, such as holdNode"),
    TAKES(query_can, name, LINES(LKS_HOSTS_QUERY_MAX),
        "what its path or its body would name: nodes, a change"),
    TAKES(query_can, pool, TEXT, "or everything in this pool"),
    TAKES(query_can, site, TEXT, "and in this site"),
    TAKES(query_can, identity, TEXT, "of another person; only admins ask that"));
const struct lks_form lks_query_journal = ASK(query_journal, "JournalQuery", "Which rows",
    TAKES_OR(query_journal, from, COUNT, 1, "the first row (1)"),
    TAKES_OR(query_journal, limit, LKS_NUMBERS(1, LKS_ROWS_MAX), JOURNAL_ROWS,
        "most rows of the answer (1000)"),
    TAKES(query_journal, since, TIME, "only rows from this moment on"),
    TAKES(query_journal, until, TIME, "only rows up to this moment"),
    TAKES(query_journal, by, TEXT, "only rows that this identity caused"),
    TAKES(query_journal, kind, TEXT, "only rows of this kind"),
    TAKES(query_journal, node, LINES(LKS_HOSTS_QUERY_MAX),
        "only rows about these nodes, a host list"));
const struct lks_form lks_query_events = ASK(query_events, "EventsQuery", "From where on",
    TAKES_OR(query_events, from, COUNT, UINT64_MAX,
        "the first row; without it and without Last-Event-ID, from now on"));

/* Requests ---------------------------------------------------------------------------------- */

#define REQUEST(s) NEEDS(s, request, LINES(LKS_PEM_TEXT_MAX), \
    "certificate request (PEM); its name is ignored")
#define TTL(s, absent) TAKES_OR(s, ttl_seconds, LKS_NUMBERS(1, LKS_TTL_MAX), absent, \
    "how long it is good for")

const struct lks_form lks_ask_enroll_node = ASK(ask_enroll_node, "EnrollNode",
    "A token with which a node enrols once",
    TTL(ask_enroll_node, 0), REASON_MAY(ask_enroll_node));
const struct lks_form lks_ask_reason = ASK(ask_reason, "Reason", "Why", REASON(ask_reason));
const struct lks_form lks_ask_release = ASK(ask_release, "Release", "Return to service",
    REASON(ask_release),
    TAKES(ask_release, force, TRUTH, "although it does not conform; the record says so"));
const struct lks_form lks_ask_set = ASK(ask_set, "NodeSet", "A column of nodes, and its value",
    NEEDS(ask_set, column, WORDS(lks_settable_node_words), "the column"),
    TAKES(ask_set, value, SETTABLE, "its value; missing: the column is cleared"),
    REASON(ask_set));
const struct lks_form lks_ask_command = ASK(ask_command, "Command",
    "The command for the node's agent",
    NEEDS(ask_command, executor, LKS_OF(NAME),
        "an executor that is installed and enabled on the node"),
    TAKES(ask_command, digests, LKS_LIST_FROM_TO(0, 32, DIGEST), "artifacts it works with"),
    REASON(ask_command), TTL(ask_command, COMMAND_TTL));
const struct lks_form lks_ask_binding = ASK(ask_binding, "Binding",
    "Roles of identities, by site and pool",
    NEEDS(ask_binding, identity, TEXT, "user:NAME, unix:UID, or what an API token was made for"),
    NEEDS(ask_binding, role, WORDS(lks_role_words), "what they may do"),
    TAKES(ask_binding, site, TEXT, "only there"),
    TAKES(ask_binding, pool, TEXT, "only there"),
    REASON_MAY(ask_binding));
const struct lks_form lks_ask_token = ASK(ask_token, "TokenWish", "An API token",
    NEEDS(ask_token, id, NAME, "what the token is called"),
    NEEDS(ask_token, identity, TEXT, "who shows it"), TTL(ask_token, 0),
    REASON_MAY(ask_token));
const struct lks_form lks_ask_certificate = ASK(ask_certificate, "CertificateWish",
    "A person's certificate",
    NEEDS(ask_certificate, name, NAME, "the person; their identity is user:NAME"),
    REQUEST(ask_certificate),
    TTL(ask_certificate, 0), REASON_MAY(ask_certificate));
const struct lks_form lks_ask_recertify = ASK(ask_certify, "CertificateRenewal",
    "The next certificate of the caller",
    REQUEST(ask_certify));
const struct lks_form lks_ask_login_poll = ASK(ask_login_poll, "LoginPoll", "Which login",
    NEEDS(ask_login_poll, code, TEXT, "of the login that was started"));
/* What providers add to the code and the state is taken and not looked at. */
const struct lks_form lks_query_login = ASK(query_login, "LoginBack", "The provider's redirect",
    TAKES(query_login, code, TEXT, "to be exchanged for a token"),
    TAKES(query_login, state, TEXT, "of the login that was started"),
    TAKES(query_login, error, TEXT, "why there is no code"),
    MAY("error_description", TEXT, "ignored"),
    MAY("error_uri", TEXT, "ignored"),
    MAY("iss", TEXT, "ignored: the ID token has it"),
    MAY("session_state", TEXT, "ignored"),
    MAY("scope", TEXT, "ignored"),
    MAY("authuser", TEXT, "ignored"),
    MAY("hd", TEXT, "ignored"),
    MAY("prompt", TEXT, "ignored"));
const struct lks_form lks_ask_enroll = ASK(ask_enroll, "Enroll",
    "A node shows its token and gets a certificate",
    NEEDS(ask_enroll, token, TEXT, "lks_node_NAME_SECRET"),
    REQUEST(ask_enroll));
const struct lks_form lks_ask_result = ASK(ask_result, "Result", "How a command ended on its node",
    NEEDS(ask_result, id, COUNT, "which command"),
    NEEDS(ask_result, outcome, WORDS(lks_outcome_words), "how"),
    TAKES(ask_result, text, WHY, "what there is to say, on one line"));
const struct lks_form lks_ask_check = ASK(ask_check, "Check",
    "The result of the site's health check of the node",
    NEEDS(ask_check, passed, TRUTH, "whether it passed"),
    TAKES(ask_check, text, WHY, "why it failed, on one line"));
const struct lks_form lks_ask_renew = ASK(ask_certify, "Renew",
    "The next certificate for the same node",
    NEEDS(ask_certify, request, LINES(LKS_PEM_TEXT_MAX), "certificate request (PEM)"));

/* Answers ----------------------------------------------------------------------------------- */

const struct lks_form lks_form_health = FORM("Health", "The program runs",
    MUST("status", LKS_ONE_OF("ok"), "always ok"));
const struct lks_form lks_form_ready = FORM("Ready", "The journal can be written",
    MUST("ready", TRUTH, "always true"));

static const struct lks_form bound = FORM_OF("Bound", "A role and where it holds",
    lks_view_bindings, LKS_USE_SHOWN);
const struct lks_form lks_form_whoami = FORM("Whoami", "The caller",
    MUST("identity", TEXT, "as bindings name it"),
    MUST("by", LKS_ONE_OF("socket", "token", "certificate", "login"),
        "how the caller was authenticated: the user of a process on this machine, an API token, a "
        "client certificate, or a login with the OpenID provider"),
    MAY("credential", TEXT, "the ID of the token, or the serial number of the certificate"),
    MAY("issuer", TEXT, "the provider of the login"),
    MAY("expires", TIME, "the end of the credential; absent: it has none"),
    MAY("controller", TEXT, "the controller that answered"),
    MUST("bindings", LKS_LIST(LKS_FORM(bound)), "what they may do, and where"));

static const struct lks_form grant = FORM("Grant", "A role that gives a permission",
    MUST("role", WORDS(lks_role_words), "the role"),
    MAY("site", TEXT, "only there"),
    MAY("pool", TEXT, "only there"),
    MAY("login", TEXT, "the login whose groups give it; absent: it was granted"),
    MAY("expires", TIME, "the end of that login"));
const struct lks_form lks_form_can = FORM("Can", "Whether a person may do something",
    MUST("act", TEXT, "the operationId of the route"),
    MUST("yes", TRUTH, "whether they may"),
    MUST("identity", TEXT, "who"),
    MUST("permission", WORDS(lks_permission_words), "what the route asks for,"),
    MUST("where", TEXT, "and where it has to hold"),
    MUST("root", TRUTH, "on the controller's own socket everything is permitted"),
    MUST("grants", LKS_LIST(LKS_FORM(grant)),
        "roles that give the permission; of a no, those at other places"),
    MAY("role", WORDS(lks_role_words), "of a no: the role that gives it,"),
    MAY("command", TEXT, "and the command of an admin"),
    MAY("refused", TEXT, "of a no to a person who has the permission: why the act is refused"),
    MAY("unknown", TRUTH, "the person that the question names has no role, token or certificate,"),
    MAY("nearest", TEXT, "and the nearest name of a person who has a role"));

static const struct lks_form liveness = FORM("Liveness", "How many nodes are heard",
    MUST("live", COUNT, "in time"),
    MUST("late", COUNT, "not in time"),
    MUST("lost", COUNT, "not for long"),
    MUST("unseen", COUNT, "not once"));
static const struct lks_form pool = FORM("Pool", "A pool",
    MUST("name", TEXT, "what it is called"),
    MAY("posture", TEXT, "its workload class"),
    MUST("criticality", COUNT, "0 to 100: pools with a lower value change first"),
    MAY("enforce", TEXT, "observe, warn or on"),
    MAY("sched", TEXT, "its scheduler"),
    MAY("stack", TEXT, "the stack it is pinned to"),
    MAY("stack_digest", TEXT, "that stack's digest"),
    MUST("nodes", COUNT, "placed in it"),
    MUST("enrolled", COUNT, "of those"),
    MUST("liveness", LKS_FORM(liveness), "of those"),
    MUST("acts_wait", TRUTH, "automatic acts wait for a person to release an alarm"),
    MAY("frozen", TRUTH, "no further node of it is changed"),
    MAY("baseline", TEXT, "the newest released stack that supersedes its own"),
    MAY("baseline_digest", TEXT, "that stack's digest"),
    MAY("behind_since", TIME, "when the first stack that supersedes its own was released"),
    MAY("cadence_days", COUNT, "days that it may be behind"));
const struct lks_form lks_form_fleet = FORM("Fleet", "The fleet at a glance",
    MAY("name", TEXT, "what it is called; absent before the first `fleet apply`"),
    MAY("manifest", DIGEST, "of the manifest that was applied last"),
    MUST("seq", COUNT, "the journal's last row"),
    MUST("clock", TIME, "the time of that row"),
    MUST("nodes", COUNT, "placed"),
    MUST("liveness", LKS_FORM(liveness), "of those"),
    MUST("pools", LKS_LIST(LKS_FORM(pool)), "its pools"),
    MUST("alarms_open", COUNT, "waiting for a person"));
static const struct lks_form effect = FORM("Effect", "An effect of applying a fleet on some nodes",
    MUST("effect", WORDS(lks_effect_words), "refused: admission starts to refuse jobs on these "
         "nodes; change and deviation: it has nodes with other effects"),
    MAY("pool", TEXT, "the pool that the nodes are in afterwards, or leave"),
    MAY("reason", WORDS(lks_bar_words), "refused: the first reason"),
    MAY("id", COUNT, "of the change or the deviation"),
    MUST("nodes", COUNT, "how many"),
    MUST("first", LKS_LIST(TEXT), "names of the first five"));
const struct lks_form lks_form_applied = FORM("Applied",
    "The differences that applying a fleet made",
    MUST("applied", TRUTH, "false for a dry run"),
    MUST("changes", LKS_LIST(ANY), "the records, as of /v1/journal"),
    MAY("effects", LKS_LIST(LKS_FORM(effect)), "a dry run: what applying it causes"),
    MUST("seq", COUNT, "the journal's last row"),
    MUST("nodes", COUNT, "enrolled nodes that it reaches"),
    MUST("gpus", COUNT, "how many GPUs they have"));
const struct lks_form lks_form_pools = LIST("Pools", "A list of pools", pool, "pools");

static const struct lks_form node_row = FORM_OF("NodeRow", "A node in a list",
    lks_view_nodes, LKS_USE_LISTED);
const struct lks_form lks_form_nodes = LIST("Nodes", "A list of nodes", node_row, "nodes");
static const struct lks_form node_sched = FORM("NodeScheduler", "A node as its scheduler has it",
    MUST("name", TEXT, "the scheduler"),
    MUST("state", TEXT, "in service, draining, drained, drained by another, down, unknown node or "
         "no answer"),
    MUST("jobs", COUNT, "jobs that run there"),
    MAY("owner", TEXT, "the owner of the drain"),
    MAY("text", TEXT, "what is waited for, or why there is no answer"),
    MAY("ends", TIME, "when the last of the jobs ends at the latest"),
    MAY("heard", TIME, "when the scheduler answered last"),
    MAY("failing", TIME, "since when it does not"));
const struct lks_form lks_form_node = FORM_AND("Node", "All there is to know about a node",
    lks_view_nodes, LKS_USE_LISTED | LKS_USE_SHOWN | LKS_USE_LIVE,
    MAY("scheduler", LKS_FORM(node_sched), "its scheduler's answer, where that was asked; of "
        "several what they have together"),
    MAY("schedulers", LKS_LIST(LKS_FORM(node_sched)), "where its pool has several: each of them"));
const struct lks_form lks_form_at = FORM_AND("NodeAt", "A node as it was",
    lks_view_nodes, LKS_USE_LISTED | LKS_USE_SHOWN,
    MUST("node", TEXT, "its name"),
    MUST("time", TIME, "the moment"),
    MUST("seq", COUNT, "the last row before it"),
    MAY("readings", LKS_LIST(ANY), "what it ran, as [name, part, value]"));
const struct lks_form lks_form_past = FORM("Past", "Nodes as they were",
    MUST("time", TIME, "the moment"),
    MUST("seq", COUNT, "the last row before it"),
    MUST("items", LKS_LIST(LKS_FORM(lks_form_at)), "the nodes as they were"));
const struct lks_form lks_form_rows = FORM("Rows", "Rows of the journal, newest first",
    MUST("items", LKS_LIST(ANY), "rows"),
    MAY("next", TEXT, "`before` of the next page"));
const struct lks_form lks_form_node_token = FORM("NodeToken", "A token, shown once",
    MUST("node", TEXT, "for this node alone, or for those of this host list"),
    MUST("token", TEXT, "good for enrolling once; of a host list, each of its nodes once"),
    MUST("expires", TIME, "until then"));
const struct lks_form lks_form_released = FORM("Released", "The result of a release",
    RECORDED,
    MUST("warnings", LKS_LIST(TEXT), "domains that take no jobs since, and why"));
const struct lks_form lks_form_seq = FORM("Recorded", "Recorded",
    RECORDED);
const struct lks_form lks_form_commanded = FORM("Commanded", "The command waits for its agent",
    MUST("id", COUNT, "its number"),
    RECORDED);
const struct lks_form lks_form_command = FORM_OF("CommandState", "How far a command is",
    lks_view_commands, LKS_USE_LISTED);
static const struct lks_form alarm = FORM_OF("Alarm", "A problem that a person must see",
    lks_view_alarms, LKS_USE_LISTED);
const struct lks_form lks_form_alarms = LIST("Alarms", "A list of alarms", alarm, "alarms");
static const struct lks_form token = FORM_OF("Token", "An API token, without its secret",
    lks_view_tokens, LKS_USE_LISTED);
static const struct lks_form person = FORM_OF("PersonCertificate", "A person's certificate",
    lks_view_persons, LKS_USE_LISTED);
static const struct lks_form binding = FORM_OF("AccessBinding",
    "Roles of identities, by site and pool", lks_view_bindings, LKS_USE_LISTED | LKS_USE_SHOWN);
const struct lks_form lks_form_access = FORM("Access", "Roles, tokens and certificates",
    MUST("bindings", LKS_LIST(LKS_FORM(binding)), "roles"),
    MUST("tokens", LKS_LIST(LKS_FORM(token)), "API tokens"),
    MUST("certificates", LKS_LIST(LKS_FORM(person)), "certificates of people"));
const struct lks_form lks_form_token = FORM("TokenMade", "A token, shown once",
    MUST("token", TEXT, "lks_api_ID_SECRET"),
    MAY("expires", TIME, "until then; absent: for ever"),
    MAY("unknown", TRUTH, "the identity has no role yet, and no other token or certificate,"),
    MAY("nearest", TEXT, "and the nearest name of a person who has a role"));
const struct lks_form lks_form_login_device = FORM("LoginDevice", "A login that was started",
    MUST("code", TEXT, "to ask with whether the person did"),
    MUST("user_code", TEXT, "what the person types"),
    MUST("uri", TEXT, "where"),
    MAY("uri_complete", TEXT, "the same with the code in it"),
    MUST("expires_in", COUNT, "seconds that there are for it"),
    MUST("interval", COUNT, "seconds between two questions, at the least"));
static const char *const login_states[] = {"pending", "slow", "done", NULL};
const struct lks_form lks_form_login = FORM("Login", "How far a login is",
    MUST("state", WORDS(login_states), "slow: ask less often; done: the rest is there"),
    MAY("token", TEXT, "an API token, shown once"),
    MAY("identity", TEXT, "who they are here"),
    MAY("roles", LKS_LIST(TEXT), "ROLE or ROLE@POOL, by the person's groups"),
    MAY("expires", TIME, "until then"));
const struct lks_form lks_form_token_renewed = FORM("TokenRenewed",
    "The end of a token that was renewed",
    MUST("id", TEXT, "what the token is called"),
    MUST("expires", TIME, "until then"));
const struct lks_form lks_form_certificate = FORM("Certificate", "A person's certificate",
    MUST("certificate", LINES(LKS_PEM_TEXT_MAX), "PEM"),
    MUST("ca", LINES(LKS_PEM_TEXT_MAX), "PEM of the CA it is from"),
    MUST("serial", TEXT, "its serial number"),
    MUST("expires", TIME, "until then"));
const struct lks_form lks_form_head = FORM("Head", "The newest signed head of the journal",
    MAY("head", TEXT, "JOURNAL SEQ TIME HASH SIGNATURE; absent before the first"),
    MUST("key", TEXT, "the public key that signs"));
const struct lks_form lks_form_enrolled = FORM("Enrolled", "All an agent needs",
    MUST("node", TEXT, "what it is called"),
    MUST("certificate", LINES(LKS_PEM_TEXT_MAX), "PEM"),
    MUST("ca", LINES(LKS_PEM_TEXT_MAX), "PEM of the CA of everyone here"),
    MUST("journal", TEXT, "id of the journal"),
    MUST("journal_key", TEXT, "the public key that signs its heads"),
    MUST("command_key", TEXT, "the public key that signs commands"),
    MUST("agents", LKS_OF(URL), "where to report"),
    MUST("heartbeat_ms", COUNT, "how often"));
const struct lks_form lks_form_beat = FORM("BeatAnswer", "Heard",
    MAY("barred", TRUTH, "no step of a job should start on the node"),
    MAY("changing", TRUTH, "the node is changed, or drains for a change"),
    MAY("head", TEXT, "the newest signed head, to be witnessed"),
    MUST("heartbeat_ms", COUNT, "how often from now on"),
    MUST("mail", TRUTH, "there is something to fetch"),
    MUST("time", COUNT, "our clock, milliseconds since 1970"));
static const struct lks_form artifact = FORM_OF("Artifact", "A file by its digest",
    lks_view_artifacts, LKS_USE_LISTED);
const struct lks_form lks_form_artifacts = LIST("Artifacts", "A list of artifacts",
    artifact, "artifacts");
const struct lks_form lks_form_part = FORM("Part", "How much of an artifact is there",
    MUST("digest", DIGEST, "what it is"),
    MUST("have", COUNT, "bytes that are there"),
    MUST("whole", TRUTH, "these are all"));
const struct lks_form lks_form_stored = FORM("Stored", "An artifact, or a part of it, is there",
    MUST("digest", DIGEST, "what it is"),
    MUST("have", COUNT, "bytes that are there"),
    MUST("size", COUNT, "bytes of all"),
    MAY("seq", COUNT, "the row that records it"));
const struct lks_form lks_form_collected = FORM("Collected", "The artifacts that were removed",
    MUST("gone", COUNT, "artifacts whose record ended"),
    MUST("files", COUNT, "files removed, those without a record among them"),
    MUST("parts", COUNT, "incomplete uploads that were removed"),
    MUST("bytes", COUNT, "that are still held"),
    MUST("missing", COUNT, "artifacts with a record whose file is not on this controller"));
const struct lks_form lks_form_mail = FORM("Mail", "The work that waits for an agent",
    MUST("want_tuple", TRUTH, "send it, although it did not change"),
    MUST("commands", LKS_LIST(LINES(LKS_PEM_TEXT_MAX)), "signed envelopes (DSSE)"),
    MAY("mirrors", LKS_LIST(TEXT), "servers of its site that may have artifacts"),
    MAY("load", TEXT, "the reference load to run until the next answer"));
const struct lks_form lks_form_node_stack = FORM("NodeStack", "The stack of a node, for its jobs",
    MAY("bar", TEXT, "the reason why no step of a job should start there; absent if there is none"),
    MAY("why", TEXT, "the same as a sentence"),
    MAY("digest", DIGEST, "the stack that the node is to run"),
    MUST("enforces", TRUTH, "its pool enforces admission"),
    MAY("name", TEXT, "the name of the stack"),
    MAY("version", TEXT, "its version"),
    MUST("env", LKS_DICT(TEXT, LKS_STACK_ATTRIBUTES_MAX, LKS_OF(TEXT)),
         "the environment of NCCL or RCCL that it pins"));
const struct lks_form lks_form_renewed = FORM("Renewed", "The next certificate",
    MUST("certificate", LINES(LKS_PEM_TEXT_MAX), "PEM"));
const struct lks_form lks_form_problem = FORM("Problem", "A problem (RFC 9457)",
    MUST("type", TEXT, "urn:lockstep:problem:CODE"),
    MUST("title", TEXT, "the kind of problem"),
    MUST("status", LKS_NUMBERS(400, 599), "of HTTP"),
    MUST("detail", TEXT, "one line: what, where, what to do"));
/* clang-format on */
