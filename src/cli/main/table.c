/* Everything the program can do: dispatch, argument checks, help and the reference page read this.
 */
#include "cli/firmware/cmd_bmc.h"
#include "cli/machine/machine.h"
#include "cli/main/table_access.h"
#include "cli/main/table_acts.h"
#include "cli/main/table_change.h"
#include "cli/main/table_drift.h"
#include "cli/main/table_journal.h"
#include "cli/main/table_node.h"
#include "cli/shared/commands.h"
#include "cli/shared/listing.h"
#include "cli/shared/remote.h"

#define STACK_OPTIONS                                                                              \
    {"--class FILE", "hardware classes of your own, as manifests"},                                \
    {                                                                                              \
        "--stack NAME", "name of the stack, if the file holds several"                             \
    }

static const struct lks_option show_options[] = {STACK_OPTIONS, LKS_REMOTE_OPTIONS, {0}};

static const struct lks_option diff_options[] = {
    {"--class FILE", "hardware classes of your own, as manifests"},
    {"--stack NAME", "stack of OLD, if it holds several; also of NEW unless --to is given"},
    {"--to NAME", "stack of NEW; default: the only one in the file"},
    LKS_REMOTE_OPTIONS,
    {0},
};

static const struct lks_option class_options[] = {
    {"--class FILE", "hardware classes of your own, as manifests"},
    {0},
};

static const struct lks_option digest_options[] = {
    STACK_OPTIONS,
    {"--canonical", "print the bytes that are hashed instead of the digest"},
    {0},
};

static const struct lks_option check_options[] = {
    STACK_OPTIONS,
    {"--gpu GPU", "evaluate for this board or family, not for the stack's hardware classes"},
    {"--date DAY", "evaluate as of this day (2026-11-15) instead of today"},
    {"--fleet FILE", "also evaluate the version policies of the pools that pin the stack"},
    {"--sources", "show the source of each fact"},
    {0},
};

static const struct lks_option lifecycle_options[] = {
    STACK_OPTIONS,
    {"--date DAY", "count from this day instead of today"},
    {"--fleet", "report on what the fleet runs: GPUs by end of support, and a matrix"},
    LKS_REMOTE_OPTIONS,
    {0},
};

static const struct lks_option advisories_options[] = {
    STACK_OPTIONS,
    {"--fleet", "evaluate what the fleet runs instead of a stack"},
    {"--cve ID", "with --fleet, one advisory: where it applies and what closes it"},
    {"--propose", "with --cve, propose the emergency changes, one for each stack"},
    {"--hook NAME",
     "with --propose, the site's program for components that no bundle has (see 'change propose')"},
    {"--reason TEXT", "with --propose, the reason; recorded (default: closes the advisory)"},
    LKS_REMOTE_OPTIONS,
    {0},
};

static const struct lks_option publish_options[] = {
    STACK_OPTIONS,
    LKS_REMOTE_OPTIONS,
    LKS_REMOTE_REASON,
    {0},
};

static const struct lks_option stacks_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--name NAME", "only stacks with this name"},
    {"--step STEP", "only stacks at this stage: candidate, lab, canary, released or retired"},
    LKS_LISTING_OPTIONS,
    {0},
};

static const struct lks_option step_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--evidence TEXT", "evidence, such as a report or a ticket; required, recorded, not verified"},
    {0},
};

#define LOCAL_TRUST "use the state folder DIR of this machine, not lockstepd; keys are in DIR/trust"

static const struct lks_option bundle_build_options[] = {
    {"--output DIR", "folder to create for the bundle; required"},
    {"--sign KEYFILE", "sign the bundle for your site with this private key (see 'trust key')"},
    {"--name NAME", "name of the bundle, instead of the one in the file"},
    {"--version VERSION", "version of the bundle, instead of the one in the file"},
    {0},
};

static const struct lks_option bundle_look_options[] = {
    {"--key KEY", "trust only this key: a file, or the key itself"},
    {"--state DIR", "folder with the keys that are pinned on this machine, in DIR/trust "
                    "($XDG_STATE_HOME/lockstep, else ~/.local/state/lockstep)"},
    {0},
};

static const struct lks_option trust_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--state DIR", LOCAL_TRUST},
    LKS_LISTING_OPTIONS,
    {0},
};

static const struct lks_option trust_change_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--state DIR", LOCAL_TRUST},
    {"--reason TEXT", "reason; required, recorded"},
    {0},
};

static const struct lks_option trust_key_options[] = {
    {"--output FILE",
     "file for the private key (mode 0600), required; the public key goes to FILE.pub"},
    {0},
};

static const struct lks_option admit_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--job ID", "ID of the job; required"},
    {"--nodes NODES", "nodes of the job, in the order of its ranks, required: gpu[001-512]"},
    {"--user NAME", "user of the job, shown by --log and by --observed --by user"},
    {"--stack NAME", "stack that the job requires: its name, NAME/VERSION or digest"},
    {"--image REF...", "image of the job, or REF=RANKS for some of its ranks; may be repeated"},
    {"--nccl V", "NCCL version that the job declares"},
    {"--canary-ok", "the job may run on nodes that soak after a change, if its criticality is low"},
    {"--criticality N", "criticality of the job, 0 to 100; default: that of its pools"},
    {"--override TEXT",
     "admit the job despite refusals, for this reason; recorded. Needs the role approver and "
     "--until"},
    {"--until TIME", "end of the override, at most 24 h from now: a time, or a span such as 2h"},
    {"--start", "if admitted, record in the journal that the job starts; needs the role operator. "
                "The record does not extend the admission"},
    {"--signed", "request a signed answer, which others can verify (shown with --json)"},
    {"--brief", "print one line: yes, with the reason of an override, or no with the first reason"},
    {"--unanswered N",
     "report instead that N jobs started without an answer; metrics and log count them"},
    {"--log", "show recent decisions instead, for --job or for all jobs"},
    {"--observed", "show refusals by pool and day, and those that enforcement would have caused"},
    {"--by user|image|reason|node", "show those of the last week by user, image, reason or node "
                                    "instead of by day; with --observed"},
    {0},
};

static const struct lks_option image_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--sbom FILE", "contents of the image, as CycloneDX or SPDX in JSON"},
    {"--digest DIGEST", "digest of the image, such as sha256:..."},
    {"--nccl V", "NCCL version in the image"},
    {"--rccl V", "RCCL version in the image"},
    {"--cudnn V", "cuDNN version in the image"},
    {"--cuda V", "CUDA version in the image"},
    LKS_REMOTE_REASON,
    {0},
};

static const struct lks_option compat_options[] = {
    {"--driver V", "NVIDIA driver, such as 580.126.20"},
    {"--cuda V", "CUDA toolkit, such as 13.0 or 13.0.2"},
    {"--amdgpu V", "AMD kernel driver, such as 30.30.3"},
    {"--rocm V", "ROCm, such as 7.2.1"},
    {"--gpu GPU",
     "board (H100 SXM5 80GB), family (H100), PCI ID (2330) or the name that nvidia-smi prints"},
    {"--sources", "show the source of each fact"},
    {"--modules open|proprietary", "flavour of kernel modules; default: either"},
    {"--compat-package V", "CUDA version of an installed cuda-compat package"},
    {"--needs-ptx-jit", "the programs compile PTX at startup"},
    {0},
};

static const struct lks_option inventory_options[] = {
    LKS_MACHINE_OPTIONS,
    {"--capture DIR", "write everything that was read to a new directory, for --root elsewhere"},
    {"--scrub", "with --capture, replace serials, network addresses, the node's name and logins in "
                "URLs by zeroes; paths, package lists and most kernel parameters stay, so inspect "
                "DIR before you send it"},
    {"--all", "also show every device, absent values, serials and health"},
    {"--cost", "show the time and memory that the inventory took instead of its result"},
    {0},
};

static const struct lks_option conform_options[] = {
    {"--stack FILE", "manifest that holds the stack; required"},
    {"--name NAME", "name of the stack, if the file holds several"},
    {"--class FILE", "hardware classes of your own, as manifests"},
    {"--tuple FILE", "evaluate the output of 'inventory --json' instead of this machine"},
    {"--fleet DIR", "evaluate all nodes in lockstepd's data directory, by their last reports"},
    {"--pool NAME", "with --fleet, only nodes of this pool"},
    LKS_MACHINE_OPTIONS,
    {"--all", "also show what conforms"},
    {0},
};

static const struct lks_option init_options[] = {
    {"--name NAME", "name of the stack (golden)"},
    {"--version V", "version of the stack (today's date)"},
    {"--tuple FILE", "use the output of 'inventory --json' instead of this machine"},
    LKS_MACHINE_OPTIONS,
    {0},
};

static const struct lks_option xid_options[] = {
    {"--sxid", "the number is an SXid, reported by an NVSwitch"},
    {"--intr-info HEX", "first register printed after an Xid 144-150"},
    {"--error-status HEX", "second register printed after an Xid 144-150"},
    {"--driver V", "driver version that printed the registers; R575 changed their layout"},
    {0},
};

static const struct lks_option pldm_verify_options[] = {
    {"--key FILE", "public key (PEM) that must verify the signature trailer"},
    {"--strict", "reject a package that departs from the standard in any way"},
    {0},
};

static const struct lks_option pldm_build_options[] = {
    {"--output FILE", "package to write, required; an incomplete one is never left behind"},
    {0},
};

static const struct lks_option remote_options[] = {LKS_REMOTE_OPTIONS, {0}};
static const struct lks_option push_options[] = {LKS_REMOTE_OPTIONS, LKS_REMOTE_REASON, {0}};
static const struct lks_option list_options[] = {LKS_REMOTE_OPTIONS, LKS_LISTING_OPTIONS, {0}};

static const struct lks_option apply_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--dry-run", "show the differences and apply nothing; exit status 1 if there are any"},
    {"--yes", "apply without a question; without a terminal none is asked"},
    {"--accept",
     "accept all nodes of FILE that are not accepted yet, conforming or not: new ones when they "
     "report, and ones in intake now; only for a new fleet"},
    {"--nodes N", "number of enrolled nodes affected, required above limits.call_nodes (10). "
                  "Confirms the number and selects no nodes"},
    {"--gpus N", "number of GPUs of these nodes, required with --nodes"},
    LKS_REMOTE_REASON,
    {0},
};

static const struct lks_option import_options[] = {
    {"--csv FILE",
     "required: table with the columns name, pool, class and more; '-' is standard input"},
    {"--posture NAME",
     "posture of pools for which the table gives none: pre-training, post-training, "
     "online-inference, batch or dev (dev). In a dev pool, commands by hand need neither a drained "
     "node nor an approval"},
    {"--name NAME", "name of the fleet (fleet)"},
    {"--class FILE",
     "hardware classes of your own, as manifests; keep them with the fleet's manifest"},
    {0},
};

/* Of a column that people set, behind the comma of the row before. */
#define NODE_FILTER(member, option, uses, about)                                                   \
    ,                                                                                              \
    {                                                                                              \
        option " TEXT", "only nodes with this " #member                                            \
    }
static const struct lks_option node_ls_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--site NAME", "only nodes of this site"},
    {"--pool NAME", "only nodes of this pool"},
    {"--rack NAME", "only nodes of this rack"},
    {"--domain NAME", "only nodes of this domain"},
    {"--class NAME", "only nodes of this hardware class"},
    {"--liveness STATE", "only nodes in this state: live, late, lost or unseen"},
    {"--judged VERDICT",
     "only this verdict: conforms, drift, deviation (drift that a deviation covers), unmeasured or "
     "unjudged"},
    {"--intake", "only nodes that wait to be accepted"},
    {"--held", "only nodes on hold"} LKS_SETTABLE_NODE(NODE_FILTER),
    {"--component NAME", "only nodes that run this component; see --version"},
    {"--version V", "with --component, only nodes that run this version of it"},
    {"--tuple DIGEST", "only nodes whose tuple has this digest, or one that starts so"},
    LKS_LISTING_OPTIONS,
    {0},
};

static const struct lks_option node_show_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--tuple", "show every reading of the last report"},
    {0},
};

static const struct lks_option history_options[] = {
    LKS_REMOTE_OPTIONS,
    LKS_LISTING_ROWS,
    {"--limit N", "at most N records, newest first; 0 means all (100)"},
    {0},
};

static const struct lks_option reason_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--reason TEXT", "reason; required, recorded"},
    {0},
};

static const struct lks_option enroll_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--ttl SPAN",
     "lifetime of the token, such as 30m or 7d (24h); for a host list 1h, at most 24h"},
    LKS_REMOTE_REASON,
    {0},
};

static const struct lks_option alarm_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--all", "include alarms that are closed"},
    {"--kind KIND", "only alarms of this kind, such as drift or clock"},
    LKS_LISTING_OPTIONS,
    {0},
};

static const struct lks_option top_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--interval SECONDS", "seconds between updates of the display (1)"},
    {"--rounds N", "print plain lines N times (default: on a terminal a full screen, else 1)"},
    {"--plain", "print plain lines on a terminal too"},
    {0},
};

static const struct lks_option bmc_options[] = {
    LKS_BMC_OPTIONS,
    {"--timeout SECONDS", "seconds until the command gives up (120)"},
    {0},
};

static const struct lks_option bmc_trust_options[] = {
    LKS_BMC_STATE_OPTION,
    {"--accept FP", "trust the public key with this fingerprint, also in place of another"},
    {"--yes", "trust the presented key without asking, if none is trusted yet"},
    {0},
};

static const struct lks_option bmc_update_options[] = {
    LKS_BMC_OPTIONS,
    {"--bundle DIR", "folder of the bundle to install, signed by a pinned key"},
    {"--component C", "class such as bmc or bios, or the ID of an inventory entry"},
    {"--file NAME", "file of the bundle, if it has several for the component"},
    {"--to V", "with --activate, the staged version (default: read from the endpoint)"},
    {"--apply-time T", "Immediate, OnReset, ... if the service supports it"},
    {"--pull URL",
     "https:// address from which the service fetches the image, if it accepts no upload"},
    {"--pull-ca FILE",
     "with --pull, the CA of that server (PEM); the image is first read there and compared"},
    {"--stage", "stage the image, and activate it another time"},
    {"--activate", "activate the staged image"},
    {"--abort", "discard the staged image"},
    {"--switch",
     "activate the other bank, with the version that it holds; resets the device as --activate "
     "does"},
    {"--force",
     "permit an older version, and an update from a version that the bundle does not list"},
    {"--one-way", "acknowledge that the update is irreversible"},
    {"--write-protected REASON",
     "update entries although the endpoint reports that they are write-protected, never those "
     "that it reports as not updateable; the reason is in the plan, in the answer and, until "
     "the update ends, in its record"},
    {"--hardware-class C", "hardware class of the machine, if the bundle is limited to some"},
    {"--hardware-revision R", "hardware revision, if the bundle is limited to some"},
    {"--unmanaged",
     "proceed although lockstepd does not answer, or although no controller is configured; only "
     "for "
     "an endpoint that no lockstepd manages: a change could be updating the same device"},
    {"--deadline MIN", "minutes until the command gives up (120). Nothing is cancelled: if "
                       "anything was sent, the outcome is unknown, else failed"},
    {"--speed N", "speed of the clock (1); only for 'lockstep-bmcsim --speed N' on this machine"},
    {"--yes", "do not ask for confirmation"},
    {0},
};

static const struct lks_option sim_options[] = {
    {"--root DIR", "captured machine that every agent reads: a folder that 'inventory --capture' "
                   "wrote; required"},
    {"--nodes N", "number of agents (50)"},
    {"--domains N", "number of racks of 18 nodes that change together, with switch trays (0)"},
    {"--lab N", "number of nodes in a lab pool (0)"},
    {"--revisions LIST", "hardware revisions, assigned to nodes in turn, such as A,B,C"},
    {"--flash LIST", "firmware that the BMCs hold and the stack pins, such as hmc=25.04"},
    {"--heartbeat-ms N", "heartbeat interval; late after 3 intervals, lost after 12 (10000)"},
    {"--no-bmcs", "simulate no management endpoints"},
    {"--bmc-speed N", "speed of BMCs and their devices, as a multiple of real ones (1)"},
    {0},
};

#define LIVENESS_JSON "liveness: {unseen, live, late, lost}"
#define FLEET_JSON                                                                                 \
    "{name?, manifest?, seq, clock?, nodes, " LIVENESS_JSON ", pools: [{name, posture, "           \
    "criticality, enforce, sched, stack?, stack_digest?, nodes, enrolled, " LIVENESS_JSON          \
    ", acts_wait, frozen?, baseline?, baseline_digest?, behind_since?, cadence_days?}], "          \
    "alarms_open}"
#define NODE_JSON                                                                                  \
    "{name, asset?, pool?, site?, rack?, domain?, class?, liveness, liveness_since?, judged, "     \
    "tuple?, intake, held, enrolled, admissible, why?" LKS_SETTABLE_NODE(NODE_MEMBER) "}"
#define NODE_MEMBER(member, option, uses, about) ", " #member "?"

#define BARS                                                                                       \
    "unknown?, stale?, unmeasured?, drift?, unhealthy?, changing?, unattested?, unchecked?, "      \
    "held?, "                                                                                      \
    "intake?, drained?, deviation?, domain?, disagrees?, posture?, stack?, image?, behind?"

#define STACKS_NAMED                                                                               \
    "STACK is a file if it has a slash, ends in .yaml, .yml or .json, or exists. Else it is a "    \
    "stack of the registry: NAME, NAME@VERSION, a digest or the start of one. "

#define FINDINGS "[{rule, severity, subject, text, remedy?, source?}]"
#define ACTION   "{action, meaning?, disruption?}"

#define BUNDLE_JSON                                                                                \
    "{name, version, vendor?, description?, signed_for?, digest, good, "                           \
    "signature: {verdict, signer?, key?, site, text}, "                                            \
    "artifacts: [{name, component, version, kind, size, digest, one_way?, "                        \
    "hardware_classes?, hardware_revisions?, from?, file, text?}]}"

const struct lks_command lks_commands[] = {
    {LKS_LOOK, "inventory", "", 0, 0, inventory_options, "Show what this machine runs",
     "Each value comes with its evidence: the file, call or command that returned it. A value that "
     "could not be read is unmeasured, with the reason, and is never guessed. Findings below the "
     "values show where the machine contradicts itself. With --json, prints the tuple in canonical "
     "form.",
     "{lockstep, kind, digest, node?, boot_id?, taken, readings: [{name, of?, part?, value | "
     "absent | unmeasured, evidence}], findings: " FINDINGS "}; with "
     "--cost {ms, parent_private_kib, child_private_kib, child}",
     lks_cmd_inventory},
    {LKS_LOOK, "conform", "", 0, 0, conform_options,
     "Evaluate whether this machine conforms to a stack",
     "Compares every pin with what was read: components, firmware, settings, expected devices. An "
     "unmeasured value does not conform. Only differences are shown, with their cause if a single "
     "inventory reveals it. With --fleet, shows what a change to that stack would find: each "
     "difference, and on how many nodes. Exit status 0 if the machine conforms, 1 if not.",
     "{stack, tuple, class?, conforms, drifted, unmeasured, judgements: [{component, pinned?, "
     "actual?, of?, verdict, cause?, evidence?}]}; with --fleet {stack, digest, unjudged, "
     "conforms, drift, unmeasured, rows: [{subject, pinned, actual, nodes}]}",
     lks_cmd_conform},
    {LKS_PLAN, "stack init", "", 0, 0, init_options, "Draft a stack from a reference machine",
     "Prints a YAML manifest that pins every measured value, with a hardware class if no built-in "
     "one fits. If the machine contradicts itself, prints the reasons instead, with exit status 1.",
     "{consistent, digest?, manifest?, findings: " FINDINGS "}", lks_cmd_stack_init},
    {LKS_PLAN, "stack lint", "FILE...", 1, LKS_ARGS_MAX, class_options,
     "Validate manifests: form and completeness",
     "Reads stacks, hardware classes and fleets, in YAML or JSON; '-' is standard input. Prints "
     "one line for each document, and each error with its position and remedy, up to 50 of a file. "
     "References between documents are checked once the form of all is good.",
     "{documents: [{file, kind, name, version?, digest?, nodes?, assets?}]}", lks_cmd_stack_lint},
    {LKS_PLAN, "stack digest", "FILE", 1, 1, digest_options, "Print the digest of a stack",
     "Files with the same meaning have the same digest: spelling, order, comments, descriptions "
     "and evidence do not count.",
     "{name, version, digest}", lks_cmd_stack_digest},
    {LKS_LOOK, "stack show", "STACK", 1, 1, show_options, "Show what a stack pins",
     STACKS_NAMED
     "Each value of a setting is a row, by its dotted name. In JSON, 'identity' is the content "
     "that the digest covers.",
     "{name, version, digest, identity, step?, pools?, rolled_back?}", lks_cmd_stack_show},
    {LKS_LOOK, "stack diff", "OLD NEW", 2, 2, diff_options,
     "Show what moving from one stack to another involves",
     "OLD and NEW may be files or stacks of the registry, in any mixture, as STACK of 'stack "
     "show'. "
     "Each difference comes with its update class, the disruption and whether it can be reverted. "
     "The firmware updates follow in their order, then advisories closed and opened, and the class "
     "of change. If NEW holds a single stack, that stack is compared, whatever its name. Exit "
     "status 0 if the stacks are the same, 1 if they differ.",
     "{from, to, same, differences: [{what, old?, new?, change, class, reboot, way_back, one_way, "
     "tolerated}], firmware: [{what, transport, banks, stage_minutes, activate_minutes, staging, "
     "reset, loses, revert, one_way, blast, pair, order, after?, exception?}], flaws_closed: [ID], "
     "flaws_opened: [ID], reboot, one_way_steps, change_class?}",
     lks_cmd_stack_diff},
    {LKS_PLAN, "stack check", "FILE", 1, 1, check_options,
     "Check whether a stack works on its hardware, and for how long",
     "Errors mean that the stack cannot work, warnings that it works with problems. Unconfirmed "
     "facts never cause an error. A GPU family is evaluated by its best-supported board, and "
     "boards with another result are named. Exit status 1 if there are errors.",
     "{name, version, digest, verdict, errors, warnings, findings: " FINDINGS "}",
     lks_cmd_stack_check},
    {LKS_LOOK, "stack classes", "", 0, 0, NULL, "List the built-in hardware classes", "",
     "{classes: [{name, vendor, gpu, gpus, nvswitches, nics, nvlink_domain}]}",
     lks_cmd_stack_classes},
    {LKS_PLAN, "stack publish", "FILE", 1, 1, publish_options, "Publish a stack to the registry",
     "A published stack never changes: its digest names its content, and other content under its "
     "name needs another version, also after it was retired. New stacks are candidates "
     "and are promoted stage by stage ('stack promote'). Production pools accept only released "
     "stacks, as a pin and as the target of a change; pools of posture dev accept any.",
     "{digest, name, step, seq}", lks_cmd_stack_publish},
    {LKS_LOOK, "stack ls", "", 0, 0, stacks_options, "List the stacks in the registry",
     "A stack keeps its stage when a change to it is rolled back; rolled_back is that change. "
     "'stack retire' withdraws the stack.",
     "{items: [{name, digest, step, stepped?, published, by, reason?, pools?, rolled_back?, "
     "evidence?}]}",
     lks_cmd_stack_ls},
    {LKS_PLAN, "stack promote", "STACK STAGE", 2, 2, step_options,
     "Promote a stack to its next stage",
     "Records that a stack reached its next stage; changes no node, which only a change does. "
     "STAGE is lab, canary or released, and none can be skipped: stages are labels of a stack, "
     "not the waves of a change with these names. Another person than the one who published "
     "the stack promotes it to released; root at the socket of lockstepd may do both. STACK is "
     "a digest, the start of one, or a name that only one stack has. Needs the role approver for "
     "the whole fleet: 'lockstep access grant PERSON approver'.",
     "{seq}", lks_ask_cmd},
    {LKS_PLAN, "stack retire", "STACK", 1, 1, step_options, "Retire a stack",
     "Refused while a pool is pinned to the stack. Needs the role approver for the whole fleet.",
     "{seq}", lks_ask_cmd},
    {LKS_PLAN, "bundle build", "FILE|DIR", 1, 1, bundle_build_options, "Build a bundle from files",
     "Reads a manifest of kind Bundle that lists the files (DIR: bundle.yaml in it), or an "
     "unsigned bundle. PLDM packages provide their own versions. --sign signs the bundle on behalf "
     "of your site, which is recorded wherever the bundle is used.",
     "{name, version, digest, artifacts, key?, folder}", lks_cmd_bundle_build},
    {LKS_LOOK, "bundle inspect", "DIR", 1, 1, bundle_look_options, "Show the contents of a bundle",
     "Shows the files, the signer, and whether each file matches the manifest.", BUNDLE_JSON,
     lks_cmd_bundle_inspect},
    {LKS_LOOK, "bundle verify", "DIR", 1, 1, bundle_look_options,
     "Verify a bundle's signature and files",
     "Uses the keys pinned on this machine, or --key. Exit status 1 if there is no signature, "
     "if the signing key is not pinned, if a file differs, or if the lockstepd of "
     "$LOCKSTEP_SERVER or the context revoked the bundle. Revocation is not checked without one of "
     "them, nor if that lockstepd does not answer, which a message on standard error states.",
     BUNDLE_JSON, lks_cmd_bundle_verify},
    {LKS_PLAN, "bundle push", "DIR", 1, 1, push_options, "Upload a bundle to lockstepd",
     "Stores the files in the depot by digest; an interrupted upload resumes. Refused unless a key "
     "pinned there signed the bundle.",
     "{digest, name, version, signer, key, site, seq}", lks_cmd_bundle_push},
    {LKS_LOOK, "bundle ls", "", 0, 0, list_options, "List the verified bundles", "",
     "{items: [{digest, name, version, signer, key, site, added, by?, revoked?, revoked_by?, "
     "revoked_reason?}]}",
     lks_cmd_bundle_ls},
    {LKS_ADMINISTER, "bundle revoke", "BUNDLE", 1, 1, reason_options, "Revoke a bundle",
     "BUNDLE is a name, a digest or the start of a digest. Revocation is final: no file of the "
     "bundle is staged or activated afterwards, not even for a rollback, unless another verified "
     "bundle names the file. Nodes keep what is installed. Updates in progress end: refused, or "
     "unknown with an alarm if something was sent. Steps of changes that need the bundle fail. "
     "Needs the role approver.",
     "{seq}", lks_ask_cmd},
    {LKS_ADMINISTER, "trust add", "NAME KEY", 2, 2, trust_change_options, "Pin a public key",
     "KEY is a file (PEM, or one line as printed by 'trust ls --json') or the line itself. The "
     "key is pinned in the lockstepd of --server or $LOCKSTEP_SERVER, or else in the one that "
     "runs on this machine. With --state, or if no lockstepd is there, it is pinned on this "
     "machine only, and lockstepd does not accept bundles by it. The answer names the place. "
     "'trust ls' and 'trust rm' choose the place in the same way.",
     "{seq?, name?, fingerprint?, place?}", lks_cmd_trust_add},
    {LKS_LOOK, "trust ls", "", 0, 0, trust_options, "List the pinned keys", "",
     "{items: [{name, kind?, key, fingerprint, pinned?, by?, reason?}]}", lks_cmd_trust_ls},
    {LKS_ADMINISTER, "trust rm", "NAME", 1, 1, trust_change_options, "Unpin a public key",
     "Bundles already verified with the key stay valid. If the key was stolen, also revoke "
     "them ('bundle revoke').",
     "{seq?, name?, place?}", lks_cmd_trust_rm},
    {LKS_ADMINISTER, "trust key", "NAME", 1, 1, trust_key_options,
     "Create a key pair with which your site signs bundles",
     "Ed25519, in PEM. The private key is written to a file and never printed.",
     "{name, fingerprint, place}", lks_cmd_trust_key},
    {LKS_LOOK, "compat", "", 0, 0, compat_options,
     "Show whether a driver supports a toolkit on a GPU",
     "Answers yes (NATIVE, BACKWARD), limited (MINOR, FORWARD), unknown, or no (NO_DRIVER, "
     "NO_ARCH, NO_MODULE), with the rules applied and the cheapest remedy. A GPU family is "
     "answered for its best-supported board. Exit status 0 for yes and limited, 1 otherwise.",
     "{verdict, reason, about, driver, toolkit, gpu, board?, rules: " FINDINGS ", remedy?, "
     "other_boards: [{board, verdict, reason}]}",
     lks_cmd_compat},
    {LKS_LOOK, "advisories", "[FILE]", 0, 1, advisories_options,
     "List the advisories that affect a stack or the fleet, and what closes each",
     "In JSON the exposure is 'exposed', 'unfixed' (support of the branch had ended when the "
     "advisory was published) or 'by-hand' (a person must decide). With --fleet, evaluates what "
     "nodes run and images hold, not what is pinned. With --cve, lists for each pool the published "
     "stacks that close the advisory, first those in its driver branch that differ least from what "
     "it runs. With --propose, proposes the nearest one as a change of class emergency, one change "
     "for each stack; exit status 0 if every pool that the advisory affects has such a change. "
     "Without --propose, exit status 1 if any advisory applies.",
     "{advisories: [{id, exposure, component, version, fixed?, condition?, cvss?, severity?, "
     "published?, summary?, source?}]}; with --fleet {items: [{id, severity?, cvss?, published?, "
     "days?, component, fixed?, summary?, nodes, gpus, pools: [{pool, hosts, drifted?, nodes, "
     "gpus, versions}], images: [{ref, version}]}], remedies?: [{pool, stack?, stack_digest?, "
     "nodes, hosts?, change?, exposed, component?, fixed?, remedy?, remedy_digest?, closed_by: "
     "[{stack, digest, step, differences, opens, same_branch, whole, revertible}]}], proposed?: "
     "[{id, stack, pools, nodes, gpus}]}",
     lks_cmd_advisories},
    {LKS_LOOK, "lifecycle", "[FILE]", 0, 1, lifecycle_options,
     "Show when support of driver branches ends: of all, or of those in a stack",
     "If two sources give different days, the days left count to the earlier one.",
     "{branches: [{branch, type?, ends?, ends_elsewhere?, days_left?, latest?, source?}]}; with "
     "--fleet {support: [{branch, type?, ends?, days_left?, nodes, gpus}], matrix: [{gpu, driver, "
     "cuda, verdict, reason?, nodes, gpus}]}",
     lks_cmd_lifecycle},
    {LKS_LOOK, "pldm inspect", "FILE", 1, 1, NULL, "Show the contents of a PLDM firmware package",
     "Shows the devices, the components with versions, sizes and digests, and each departure from "
     "the standard. An image that is itself a package is named.",
     "{file, revision, version?, released, bytes, header_bytes, digest, payload, signed, devices: "
     "[{version?, options, descriptors: [{type, name?, value?, hex?}], components, "
     "package_data_bytes, manifest_bytes}], downstream: [{min_version?, min_stamp?, options, "
     "descriptors, components, package_data_bytes, manifest_bytes}], components: [{classification, "
     "class?, id, version?, stamp?, options, activation, offset, bytes, digest, opaque_bytes, "
     "package?: {revision, version?, components}}], notes, more_notes}",
     lks_cmd_pldm_inspect},
    {LKS_LOOK, "pldm verify", "FILE", 1, 1, pldm_verify_options,
     "Verify the integrity of a PLDM package",
     "Verifies the checksums of header and images, the rules of the standard and, if the vendor "
     "signed the package, the signature. With the key inside the file a signature proves integrity "
     "only; --key proves the signer. Bytes after the images are an error unless they are exactly "
     "a signature trailer, or zero and covered by the checksum of revision 4. Exit status 0 if the "
     "package verifies, 1 if not or if neither a "
     "checksum nor a signature covers its images, 3 if the file is not a package.",
     "{file, verified, digest, bytes, checks: [{check, verdict, text}], notes, more_notes}",
     lks_cmd_pldm_verify},
    {LKS_PLAN, "pldm build", "FILE", 1, 1, pldm_build_options,
     "Build a PLDM package from a YAML file",
     "FILE gives the revision, the devices and the components; the files it names are beside it. "
     "docs/pldm.md in the source tree describes the keys. The package follows the standard "
     "strictly.",
     "{file, bytes, digest, components: [{version, bytes, digest}]}", lks_cmd_pldm_build},
    {LKS_LOOK, "xid", "NUMBER", 1, 1, xid_options, "Explain an Xid or SXid and what to do",
     "Numbers from 10000 on are SXids, reported by an NVSwitch.",
     "{xid, name?, description?, category?, severity?, boards: [NAME], do_now?: " ACTION
     ", look_into?: " ACTION ", note?, registers?: [{unit?, severity?, cause?, do_now?}], "
     "source?}, or {sxid, name?, title?, unit?, nvsentinel?, fm_guide?, do_now?, source?}",
     lks_cmd_xid},
    {LKS_CHANGE, "fleet apply", "FILE", 1, 1, apply_options, "Apply a fleet manifest",
     "Shows each field that differs from the fleet as it is now and what that causes: nodes that "
     "join or leave pools, get another stack as their intent, drift, or are refused by admission "
     "from then on. Asks on a terminal, and applies FILE as a whole or not at all. Sets the first "
     "pin of a pool, and changes no node. Refused if FILE moves the pin of a pool with enrolled "
     "nodes (use "
     "'change propose'), omits an enrolled node (use 'node rm'), or moves more than "
     "limits.call_nodes (10) enrolled nodes to another pool. If it affects more enrolled nodes "
     "than that, --nodes and --gpus must repeat the numbers that --dry-run shows, unless a person "
     "answers the question. If a change moved a pin since FILE was written, the line to edit is "
     "shown. Applying the same file again changes nothing.",
     "{applied, changes: [{kind, ...}], effects?: [{effect, pool?, reason?, id?, nodes, first}], "
     "seq, nodes, gpus}",
     lks_cmd_fleet_apply},
    {LKS_LOOK, "fleet show", "", 0, 0, list_options, "Show pools and the status of their nodes", "",
     FLEET_JSON, lks_cmd_fleet_show},
    {LKS_LOOK, "fleet export", "", 0, 0, remote_options,
     "Write the manifest of the fleet as it is now",
     "The manifest that was applied last, as YAML, with each pool pinned to the stack that changes "
     "left it on, and without nodes that were removed. 'fleet apply' takes it and finds no "
     "difference. Comments of the applied file are not in it.",
     "{manifest}", lks_cmd_fleet_export},
    {LKS_PLAN, "fleet import", "", 0, 0, import_options,
     "Write a fleet manifest from a table of nodes",
     "Columns: name, pool, class and optionally site, rack, domain, power_zone, cooling_loop, "
     "hardware_revision, supplier, side, posture. A pool without a posture is written as dev, "
     "which "
     "the output warns about. Prints the manifest for 'fleet apply', or the "
     "errors that 'fleet apply' would report. Add the scheduler of each pool ('sched: slurm' or "
     "'sched: kubernetes') to the manifest: the table has none, and without it lockstep could "
     "reboot a node under a job.",
     "{manifest}", lks_cmd_fleet_import},
    LKS_DRIFT_COMMANDS,
    {LKS_OPERATE, "admit", "", 0, 0, admit_options, "Ask whether a job may start on these nodes",
     "Answers yes, valid for limits.validity_ms (60 s) at most, or no with the reason for "
     "every node and image that prevents it. In a pool with enforce observe (the default) or "
     "warn, refusals are only listed and the answer is yes; nodes that are not in the fleet "
     "are always refused. Nothing asks by itself: slurm-prolog(8) or a launcher of the site "
     "runs this command, and starts the job before the yes expires. Exit status 0: yes; 1: no; any "
     "other: no answer (4: lockstepd cannot be reached), and the caller decides; no promise "
     "covers a job that starts without a yes.",
     "{job, admitted, overridden?, override?, stack?, digest?, seq, asked, valid_until?, refused: "
     "[{reason, node?, image?, ranks?, pool?, text}], refused_total, warned: [...], warned_total, "
     "envelope?}; with --log {items: [{job, user?, reason, pool?, count, first, last, nodes?, "
     "text?, admitted}]}; with --observed {items: [{pool, enforce, day, asked, refused: "
     "{" BARS "}}]}; with --by {items: [{pool, enforce, user?, image?, reason?, node?, since, day, "
     "asked, refused}]}",
     lks_cmd_admit},
    {LKS_OPERATE, "image add", "REF", 1, 1, image_options,
     "Record which libraries a job image holds", "", "{seq}", lks_cmd_image_add},
    {LKS_LOOK, "image ls", "", 0, 0, list_options, "List known job images", "",
     "{items: [{ref, digest?, nccl?, rccl?, cudnn?, cuda?, source, added, by}]}", lks_cmd_image_ls},
    {LKS_OPERATE, "node enroll", "NODES", 1, 1, enroll_options,
     "Create a token with which nodes enrol, each once",
     "A token for one node is for this node alone, and expires after --ttl. A host list such as "
     "gpu[001-060] gets one token for all its nodes, at most 1024, none of which is enrolled: "
     "each enrols once with it. Keep it secret, because a copy enrols any node of the list that "
     "has not enrolled yet; 'node enroll' for the rest ends it. See 'lockstep-agent "
     "--token-file'.",
     "{node, token, expires}", lks_ask_cmd},
    {LKS_LOOK, "node ls", "", 0, 0, node_ls_options, "List nodes and their status", "",
     "{items: [" NODE_JSON "]}", lks_cmd_node_ls},
    {LKS_LOOK, "node show", "NODES", 1, 1, node_show_options, "Show everything known about a node",
     "Several nodes follow each other; with --json there is a line for each.",
     NODE_JSON
     " and {boot?, stack?, stack_digest?, drifted, unmeasured, first?, cause?, since?, text?, "
     "evidence?, rows: [{subject, cause, pinned, actual, of?, deviation?}], drained?: {by, "
     "reason}, deviations: [ID], unhealthy, changing?, target?, change?, condition_text?, "
     "attested_until?, checked?, inband_age_ms?, outband_age_ms?, certificate?, notes, health?, "
     "skew_ms?, heard_ms_ago?, witnessed_seq?, taken?, intake_why?, held_by?, held_reason?, "
     "emptied?, commands: [{id, node, executor, ended, outcome?, text?, sent, expires}]}; with "
     "--tuple what "
     "'inventory' prints",
     lks_cmd_node_show},
    {LKS_LOOK, "node history", "NODES", 1, 1, history_options, "Show the journal records of a node",
     "Several nodes follow each other; with --json there is a line for each.",
     "{items: [{seq, time, kind, node?, ...}]}", lks_cmd_node_history},
    LKS_NODE_COMMANDS,
    LKS_ACCESS_COMMANDS,
    LKS_JOB_COMMANDS,
    {LKS_LOOK, "alarm ls", "", 0, 0, alarm_options, "List open alarms", "",
     "{items: [{id, kind, subject, text, raised, released?, by?, reason?}]}", lks_cmd_alarm_ls},
    {LKS_OPERATE, "alarm release", "ID", 1, 1, reason_options, "Close an alarm",
     "Records the reason; the cause is not repaired. After an alarm of kind mass, the "
     "automatic acts of its pool continue: the start of further nodes of changes, and drains "
     "and proposals for drift. An alarm of kind break-glass, review or wedged cannot be closed "
     "before the review ('change review', 'node review').",
     "{seq}", lks_ask_cmd},
    LKS_CHANGE_COMMANDS,
    LKS_JOURNAL_COMMANDS,
    LKS_ACT_COMMANDS,
    {LKS_ADMINISTER, "doctor", "[DIR]", 0, 1, remote_options,
     "Diagnose this machine and a controller",
     "Inspects the clock of this machine and the age of its facts, and lists the functions that "
     "were never tested on its hardware. With lockstepd's data directory DIR, also inspects its "
     "configuration, keys, certificates, journal and disk. With DIR, --server or $LOCKSTEP_SERVER, "
     "asks the controller: readiness, lag, limits, login, alarms, reports of agents, management "
     "endpoints. Prints a command that repairs a finding, where there is one. Exit status 1 if a "
     "problem is found; notes do not count as problems.",
     "{checks: [{check, state, text, fix?}]}", lks_cmd_doctor},
    {LKS_LOOK, "top", "", 0, 0, top_options, "Watch the fleet",
     "On a terminal a full screen with pools, changes, alarms, drift, freezes and exposure: Enter "
     "opens a pool, change or node, Esc closes it, / searches, p pauses a change, ? lists all "
     "keys, q quits. Elsewhere, and on a terminal that cannot be drawn on, plain lines.",
     FLEET_JSON, lks_cmd_top},
    {LKS_LOOK, "bmc inventory", "URL", 1, 1, bmc_options,
     "List the firmware versions that a management endpoint reports",
     "Uses Redfish, or a switch tray's own REST API (--driver nvos). The endpoint must be trusted "
     "first: see 'bmc trust'. Entries of unknown class are listed as such. Exit status 4: "
     "unreachable; 5: wrong identity, or login refused.",
     "{url, vendor?, product?, model?, serial?, power?, requests, missing, notes, components: "
     "[{id, uri, name?, class, of?, bank, version?, updateable?, write_protected?, lowest?, "
     "software_id?, manufacturer?, released?, related?, health?}]}",
     lks_cmd_bmc_inventory},
    {LKS_ADMINISTER, "bmc trust", "URL", 1, 1, bmc_trust_options,
     "Show the certificate of a management endpoint, and trust its key",
     "From then on the endpoint is identified by its public key, and nothing is sent to another "
     "one. If the endpoint presents another key later, only --accept with the fingerprint of that "
     "key replaces it. With --json and neither --yes nor --accept, the certificate is only shown.",
     "{url, fingerprint, certificate, subject?, issuer?, not_before, not_after, self_signed, "
     "recorded}",
     lks_cmd_bmc_trust},
    {LKS_CHANGE, "bmc update", "URL", 1, 1, bmc_update_options,
     "Update firmware through a management endpoint",
     "The command drains no node, and activation can reset the BMC, the GPUs or the machine: "
     "stop the jobs first. After an interruption, run the same command again: nothing is sent "
     "twice. An endpoint that lockstepd manages is refused, unless its node is drained and "
     "idle in a change that does not update it; use 'change propose'. Without a configured "
     "controller, --yes also needs --unmanaged, except on 127.0.0.0/8. Exit status 0: done "
     "(three readings report the new version), staged, or nothing to do; 1: refused, failed or "
     "outcome unknown, which 'outcome' in --json tells apart; 4: unreachable; 5: login "
     "refused.",
     "{url, act, component, from?, version?, found?, outcome, text?, via?, task?, uploads, "
     "resumed, write_protected?}",
     lks_cmd_bmc_update},
    {LKS_ADMINISTER, "sim up", "DIR", 1, 1, sim_options,
     "Run a controller with many agents and BMCs on this machine",
     "Runs the real programs over a captured machine, in a new directory. Each node has a "
     "simulated BMC, and each rack has a switch tray and a power shelf with one. The "
     "folder of --root holds the files of one machine (/proc, /sys, /etc and more), and "
     "lockstep/nvml.csv with its GPUs. A sample is installed as PREFIX/share/lockstep/roots/h200, "
     "and is tests/roots/h200 in "
     "the source tree; 'lockstep inventory --capture DIR' makes one of a real machine. Without "
     "--root the refusal names the sample beside this program.",
     "{server, nodes, bmcs}", lks_cmd_sim_up},
    {LKS_ADMINISTER, "sim down", "DIR", 1, 1, NULL, "Stop what 'sim up' started", "", "{ended}",
     lks_cmd_sim_down},
    {LKS_ADMINISTER, "completion", "SHELL", 1, 1, NULL, "Print the completion script of a shell",
     "SHELL is bash, zsh or fish. 'make install' installs the scripts; without it, run "
     "'source <(lockstep completion bash)' in the shell, or 'lockstep completion fish | source'. "
     "Names of nodes, pools, changes and more come from the lockstepd of the environment, and are "
     "cached for 30 s in $XDG_CACHE_HOME/lockstep, else ~/.cache/lockstep.",
     "{shell, script}", lks_complete_script},
    {LKS_LOOK, "explain", "[FIELD]", 0, 1, NULL,
     "Explain a field of a manifest, an answer, a record or lockstepd.yaml",
     "FIELD is a kind, such as node, or a path inside it, such as node.liveness. Without it, lists "
     "the kinds. Needs no lockstepd. A name of your choice inside a path can be left out: "
     "fleet.pools.posture is fleet.pools.NAME.posture.",
     "{items: [{path, in, type?, required?, default?, about, transitions?: [{from, to, when}], "
     "fields?: [{name, type, required?, default?, about}]}]}",
     lks_explain_cmd},
    {LKS_LOOK, "help", "[COMMAND...]", 0, 2, NULL,
     "List the commands or those of a group, or explain one", "",
     "{commands: [{name, group, args?, summary, about?, json, options: [{name, value?, about}], "
     "examples: [{line, about}]}]}",
     lks_help_cmd},
    {LKS_LOOK, "version", "", 0, 0, NULL, "Show version and commit", "", "{version, commit}",
     lks_cli_version},
};
const size_t lks_command_count = LKS_COUNT(lks_commands);
