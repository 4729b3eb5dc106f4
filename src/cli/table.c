/* Everything the program can do: dispatch, argument checks, help and the reference page read this.
 */
#include "cli/cmd_bmc.h"
#include "cli/commands.h"
#include "cli/machine.h"
#include "cli/remote.h"
#include "cli/table_change.h"
#include "cli/table_journal.h"
#include "cli/table_node.h"

#define STACK_OPTIONS                                                                              \
    {"--class", "FILE", "hardware classes of your own, as manifests"},                             \
    {                                                                                              \
        "--stack", "NAME", "which stack, where the file holds several"                             \
    }

static const struct lks_option stack_options[] = {STACK_OPTIONS, {0}};

static const struct lks_option diff_options[] = {
    {"--class", "FILE", "hardware classes of your own, as manifests"},
    {"--stack", "NAME", "which stack of OLD, where it holds several; of NEW too, without --to"},
    {"--to", "NAME", "which stack of NEW; without it, the only one there is"},
    {0},
};

static const struct lks_option class_options[] = {
    {"--class", "FILE", "hardware classes of your own, as manifests"},
    {0},
};

static const struct lks_option digest_options[] = {
    STACK_OPTIONS,
    {"--canonical", NULL, "print the bytes that are hashed instead of their digest"},
    {0},
};

static const struct lks_option check_options[] = {
    STACK_OPTIONS,
    {"--gpu", "GPU", "judge for this board or family instead of those of the hardware classes"},
    {"--date", "DAY", "judge as of this day (2026-11-15) instead of today"},
    {"--fleet", "FILE", "also judge by the version policies of the pools that pin the stack"},
    {"--sources", NULL, "show where each fact was read"},
    {0},
};

static const struct lks_option lifecycle_options[] = {
    STACK_OPTIONS,
    {"--date", "DAY", "count from this day instead of today"},
    {"--fleet", NULL, "of what runs in the fleet: GPUs by end of support, and the matrix"},
    LKS_REMOTE_OPTIONS,
    {0},
};

static const struct lks_option advisories_options[] = {
    STACK_OPTIONS,
    {"--fleet", NULL, "of all that is measured in the fleet instead of a stack"},
    {"--cve", "ID", "with --fleet, one advisory: where it applies, and what closes it"},
    {"--propose", NULL, "with --cve, propose the emergency change, one for each stack"},
    {"--hook", "NAME", "with --propose, the site's hook that installs what no bundle has"},
    {"--reason", "TEXT", "with --propose, why; it is recorded (that it closes the advisory)"},
    LKS_REMOTE_OPTIONS,
    {0},
};

static const struct lks_option publish_options[] = {
    STACK_OPTIONS,
    LKS_REMOTE_OPTIONS,
    {"--reason", "TEXT", "what it is for; it is recorded"},
    {0},
};

static const struct lks_option stacks_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--name", "NAME", "only those of this name"},
    {"--step", "STEP", "candidate, lab, canary, released or retired"},
    {0},
};

static const struct lks_option step_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--evidence", "TEXT", "what it rests on: a report, a ticket; it is recorded"},
    {0},
};

#define LOCAL_TRUST "DIR", "state folder of this machine; keys are in DIR/trust"

static const struct lks_option bundle_build_options[] = {
    {"--output", "DIR", "the bundle, a folder that is made"},
    {"--sign", "KEYFILE", "sign it for your site with this private key (lockstep trust key)"},
    {"--name", "NAME", "its name, instead of the file's"},
    {"--version", "VERSION", "its version, instead of the file's"},
    {0},
};

static const struct lks_option bundle_look_options[] = {
    {"--key", "KEY", "the only key to believe: a file, or the key itself"},
    {"--state", LOCAL_TRUST},
    {0},
};

static const struct lks_option trust_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--state", LOCAL_TRUST},
    {0},
};

static const struct lks_option trust_change_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--state", LOCAL_TRUST},
    {"--reason", "TEXT", "why, for the record"},
    {0},
};

static const struct lks_option trust_key_options[] = {
    {"--output", "FILE", "the private key (mode 0600); FILE.pub is the public one"},
    {0},
};

static const struct lks_option drift_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--pool", "NAME", "only nodes of this pool"},
    {"--node", "NODES", "only these"},
    {"--cause", "CAUSE", "only for this cause, such as 'package manager'"},
    {"--judged", "VERDICT", "drift, unmeasured or deviation"},
    {"--limit", "N", "at most so many"},
    {"--watch", NULL, "go on, with a line for each that begins or ends"},
    {0},
};

static const struct lks_option deviation_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--what", "NAME", "a component or setting, as 'drift' calls it, or '*'"},
    {"--value", "V", "the value it may have; without it, any"},
    {"--owner", "WHO", "who answers for it"},
    {"--reason", "TEXT", "why; it is recorded"},
    {"--approver", "WHO", "who is said to agree; what counts is their own 'deviation approve'"},
    {"--until", "TIME", "when it ends: 2026-11-20T08:00:00Z, or a span such as 12h or 7d"},
    {0},
};

static const struct lks_option deviations_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--all", NULL, "those that ended too"},
    {0},
};

static const struct lks_option admit_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--job", "ID", "which job"},
    {"--nodes", "NODES", "where it is to run, in the order of its ranks: gpu[001-512]"},
    {"--stack", "NAME", "the stack it wants, by name or digest"},
    {"--image", "REF...",
     "an image it brings, or REF=RANKS for some of its ranks; may be repeated"},
    {"--nccl", "V", "the NCCL it says it loads"},
    {"--canary-ok", NULL, "it may run on nodes that soak behind a change, if it matters little"},
    {"--criticality", "N", "how much it matters, 0 to 100; else as much as its pools"},
    {"--override", "TEXT", "let it start all the same, for this reason; it is recorded"},
    {"--until", "TIME", "when the override ends: a time, or a span such as 2h"},
    {"--start", NULL, "on a yes, record that it starts"},
    {"--signed", NULL, "with a signature that can be checked elsewhere (--json shows it)"},
    {"--log", NULL, "show what was decided lately instead, of --job or of all"},
    {"--observed", NULL, "show by pool and day what was refused, or would have been"},
    {0},
};

static const struct lks_option image_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--sbom", "FILE", "what is in it, as CycloneDX or SPDX in JSON"},
    {"--digest", "DIGEST", "its digest, such as sha256:..."},
    {"--nccl", "V", "the NCCL in it"},
    {"--rccl", "V", "the RCCL in it"},
    {"--cudnn", "V", "the cuDNN in it"},
    {"--cuda", "V", "the CUDA in it"},
    {0},
};

static const struct lks_option compat_options[] = {
    {"--driver", "V", "NVIDIA driver, such as 580.126.20"},
    {"--cuda", "V", "CUDA toolkit, such as 13.0 or 13.0.2"},
    {"--amdgpu", "V", "AMD kernel driver, such as 30.30.3"},
    {"--rocm", "V", "ROCm, such as 7.2.1"},
    {"--gpu", "GPU",
     "board (H100 SXM5 80GB), family (H100), PCI id (2330) or what nvidia-smi calls it"},
    {"--sources", NULL, "show where each fact was read"},
    {"--modules", "open|proprietary", "flavour of kernel modules; without it, either will do"},
    {"--compat-package", "V", "CUDA version of an installed cuda-compat package"},
    {"--needs-ptx-jit", NULL, "the programs compile PTX when they start"},
    {0},
};

static const struct lks_option inventory_options[] = {
    LKS_MACHINE_OPTIONS,
    {"--capture", "DIR", "write all that was read to a new directory, for --root elsewhere"},
    {"--scrub", NULL, "with zeroes in the capture for serials, addresses and the node's name"},
    {"--all", NULL, "show every device, what is absent, serials and health too"},
    {"--cost", NULL, "show what the reading cost in time and memory instead of what it found"},
    {0},
};

static const struct lks_option conform_options[] = {
    {"--stack", "FILE", "the manifest that holds the stack"},
    {"--name", "NAME", "which stack, where the file holds several"},
    {"--class", "FILE", "hardware classes of your own, as manifests"},
    {"--tuple", "FILE", "judge what 'inventory --json' printed instead of this machine"},
    {"--fleet", "DIR",
     "judge all nodes that lockstepd's data directory knows, by what they reported"},
    {"--pool", "NAME", "with --fleet, only nodes of this pool"},
    LKS_MACHINE_OPTIONS,
    {"--all", NULL, "show what conforms too"},
    {0},
};

static const struct lks_option init_options[] = {
    {"--name", "NAME", "how to call the stack (golden)"},
    {"--version", "V", "its version (the date)"},
    {"--tuple", "FILE", "from what 'inventory --json' printed instead of this machine"},
    LKS_MACHINE_OPTIONS,
    {0},
};

static const struct lks_option xid_options[] = {
    {"--sxid", NULL, "the number is one of an NVSwitch"},
    {"--intr-info", "HEX", "first register behind an Xid 144-150"},
    {"--error-status", "HEX", "second register behind an Xid 144-150"},
    {"--driver", "V", "driver that printed them; before R575 they read differently"},
    {0},
};

static const struct lks_option pldm_verify_options[] = {
    {"--key", "FILE", "the public key (PEM) that the signature trailer must be made with"},
    {"--strict", NULL, "no deviation from the standard is accepted"},
    {0},
};

static const struct lks_option pldm_build_options[] = {
    {"--output", "FILE", "the package to write; whole or not at all"},
    {0},
};

static const struct lks_option remote_options[] = {LKS_REMOTE_OPTIONS, {0}};

static const struct lks_option apply_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--dry-run", NULL, "show what would change, and change nothing"},
    {"--accept", NULL, "take in at once what is seen for the first time: for a first fleet"},
    {"--nodes", "N", "how many enrolled nodes it reaches: repeated where these are many"},
    {"--gpus", "N", "and how many GPUs they have"},
    {0},
};

static const struct lks_option import_options[] = {
    {"--csv", "FILE", "a table with the columns name, pool, class and more; '-': standard input"},
    {"--posture", "NAME", "of pools that the table says nothing of (dev)"},
    {"--name", "NAME", "how to call the fleet (fleet)"},
    {"--class", "FILE", "hardware classes of your own, as manifests; put them beside the fleet"},
    {0},
};

static const struct lks_option node_ls_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--site", "NAME", "only those of this site"},
    {"--pool", "NAME", "only those of this pool"},
    {"--rack", "NAME", "only those of this rack"},
    {"--domain", "NAME", "only those of this domain"},
    {"--class", "NAME", "only those of this hardware class"},
    {"--liveness", "STATE", "live, late, lost or unseen"},
    {"--judged", "VERDICT", "conforms, drift, unmeasured or unjudged"},
    {"--intake", NULL, "only those that wait to be accepted"},
    {"--held", NULL, "only those that are held"},
    {"--component", "NAME", "only those that run this component, with --version in that version"},
    {"--version", "V", "see --component"},
    {"--tuple", "DIGEST", "only those that run exactly this"},
    {"--limit", "N", "at most so many"},
    {0},
};

static const struct lks_option node_show_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--tuple", NULL, "what it really runs, value by value, as it last reported"},
    {0},
};

static const struct lks_option history_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--limit", "N", "at most so many records (100), the newest first"},
    {0},
};

static const struct lks_option reason_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--reason", "TEXT", "why; it is recorded"},
    {0},
};

static const struct lks_option release_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--reason", "TEXT", "why; it is recorded"},
    {"--force", NULL, "accept a node although it does not conform; that is recorded too"},
    {0},
};

static const struct lks_option ttl_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--ttl", "SPAN", "how long it is good for, such as 30m, 24h or 7d"},
    {0},
};

static const struct lks_option grant_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--site", "NAME", "only in this site"},
    {"--pool", "NAME", "only in this pool"},
    {0},
};

static const struct lks_option revoke_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--site", "NAME", "the binding for this site"},
    {"--pool", "NAME", "the binding for this pool"},
    {"--token", NULL, "the argument is the id of an API token"},
    {"--certificate", NULL, "the argument is the serial number of a person's certificate"},
    {0},
};

static const struct lks_option alarm_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--all", NULL, "those that were released too"},
    {0},
};

static const struct lks_option verify_options[] = {
    {"--witness", "FILE", "heads that agents kept: a file, or a directory of agents' states"},
    {"--key", "FILE", "the journal's public key, kept elsewhere (DIR/journal.pub)"},
    {0},
};

static const struct lks_option repair_options[] = {
    {"--reason", "TEXT", "why the records from the first fault on may be set aside"},
    {0},
};

static const struct lks_option backup_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--out", "FILE", "the file to write; it must not exist"},
    {0},
};

static const struct lks_option restore_options[] = {
    {"--to", "DIR", "a new data directory for lockstepd"},
    {"--seal-key", "FILE", "the key the backup was sealed with (seal.key of that controller)"},
    {0},
};

static const struct lks_option top_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--interval", "SECONDS", "how often to look (1)"},
    {"--rounds", "N", "how many times (on a terminal until it is stopped, else once)"},
    {0},
};

static const struct lks_option bmc_options[] = {
    LKS_BMC_OPTIONS,
    {"--timeout", "SECONDS", "give up after so long (120)"},
    {0},
};

static const struct lks_option bmc_trust_options[] = {
    LKS_BMC_STATE_OPTION,
    {"--accept", "FP", "keep it if its public key has this fingerprint, also in place of another"},
    {"--yes", NULL, "keep what is there, where none is kept yet, without a question"},
    {0},
};

static const struct lks_option bmc_update_options[] = {
    LKS_BMC_OPTIONS,
    {"--bundle", "DIR", "what is to be installed: a folder with a bundle, signed by a pinned key"},
    {"--component", "C", "a class such as bmc or bios, or the id of an inventory's entry"},
    {"--file", "NAME", "which file of the bundle, where it has several for the component"},
    {"--to", "V", "with --activate, the version that is staged; else it is looked up"},
    {"--apply-time", "T", "Immediate, OnReset, ... where the service offers it"},
    {"--pull", "URL",
     "https:// address where the service can fetch the image itself, if it takes none otherwise"},
    {"--pull-ca", "FILE",
     "with --pull, the CA of its server (PEM): the image is read there first and compared"},
    {"--stage", NULL, "put it beside what runs, and activate it another time"},
    {"--activate", NULL, "activate what is staged"},
    {"--abort", NULL, "give up what is staged"},
    {"--switch", NULL, "go back to the other bank"},
    {"--force", NULL, "also to an older version, and from one that the bundle does not name"},
    {"--one-way", NULL, "it is understood that there is no way back from it"},
    {"--hardware-class", "C", "what the machine is, where the bundle is only for some"},
    {"--hardware-revision", "R", "the same of its revision"},
    {"--unmanaged", NULL, "also where lockstepd cannot be asked whether it manages the endpoint"},
    {"--deadline", "MIN", "minutes in which it has to be done (120)"},
    {"--speed", "N", "its clock is so much faster, to rehearse on 'lockstep-bmcsim --speed N' (1)"},
    {"--yes", NULL, "without a question"},
    {0},
};

static const struct lks_option sim_options[] = {
    {"--root", "DIR", "the captured machine that every agent reads"},
    {"--nodes", "N", "how many agents (50)"},
    {"--domains", "N", "so many racks of 18 of them change together, with their switch trays (0)"},
    {"--lab", "N", "so many of them are in a pool for trying things out (0)"},
    {"--revisions", "LIST", "hardware revisions of nodes, in turn, such as A,B,C"},
    {"--flash", "LIST", "firmware that their BMCs have and the stack pins, such as hmc=25.04"},
    {"--heartbeat-ms", "N", "beat so often; late after 3, lost after 12 (10000)"},
    {"--no-bmcs", NULL, "nodes have no management endpoints"},
    {"--bmc-speed", "N", "BMCs and their devices are so much faster than real ones (1)"},
    {0},
};

#define LIVENESS_JSON "liveness: {unseen, live, late, lost}"
#define FLEET_JSON                                                                                 \
    "{name?, manifest?, seq, clock?, nodes, " LIVENESS_JSON ", pools: [{name, posture, "           \
    "criticality, enforce, sched, stack?, stack_digest?, nodes, enrolled, " LIVENESS_JSON          \
    ", acts_wait, frozen?, baseline?, baseline_digest?, behind_since?, cadence_days?}], "          \
    "alarms_open}"
#define NODE_JSON                                                                                  \
    "{name, pool, site?, rack?, domain?, class?, liveness, liveness_since?, judged, tuple?, "      \
    "intake, held, enrolled, admissible, why?}"

#define BARS                                                                                       \
    "unknown?, stale?, unmeasured?, drift?, unhealthy?, changing?, unattested?, unchecked?, "      \
    "held?, "                                                                                      \
    "intake?, drained?, deviation?, domain?, disagrees?, posture?, stack?, image?, behind?"

#define FINDINGS "[{rule, severity, subject, text, remedy?, source?}]"
#define ACTION   "{action, meaning?, disruption?}"

#define BUNDLE_JSON                                                                                \
    "{name, version, vendor?, description?, signed_for?, digest, good, "                           \
    "signature: {verdict, signer?, key?, site, text}, "                                            \
    "artifacts: [{name, component, version, kind, size, digest, one_way?, "                        \
    "hardware_classes?, hardware_revisions?, from?, file, text?}]}"

const struct lks_command lks_commands[] = {
    {"inventory", "", 0, 0, inventory_options, "Show what this machine really runs",
     "Every value comes with its evidence: the file, the call or the command that said so. What "
     "could not be read is unmeasured, with the reason, and never a guess. Below the values stands "
     "where the machine does not agree with itself. In JSON it is the tuple, in canonical form.",
     "{lockstep, kind, digest, node?, boot_id?, taken, readings: [{name, of?, part?, value | "
     "absent "
     "| unmeasured, evidence}], findings: " FINDINGS "}; with "
     "--cost {ms, parent_private_kib, child_private_kib, child}",
     lks_cmd_inventory},
    {"conform", "", 0, 0, conform_options, "Judge whether this machine runs a stack",
     "Every pin is held against what was read: components, firmware, settings, expected devices. "
     "What was not measured does not conform. Shows what does not; the cause is told where one "
     "reading can tell it. Exit status 0 when it conforms, 1 when it does not. With --fleet it "
     "tells "
     "what a change to that stack would find: what differs, and on how many nodes.",
     "{stack, tuple, class?, conforms, drifted, unmeasured, judgements: [{component, pinned?, "
     "actual?, of?, verdict, cause?, evidence?}]}; with --fleet {stack, digest, unjudged, "
     "conforms, "
     "drift, unmeasured, rows: [{subject, pinned, actual, nodes}]}",
     lks_cmd_conform},
    {"stack init", "", 0, 0, init_options, "Draft a stack from a machine that is as it should be",
     "Prints a manifest, in YAML, that pins all that was measured, with a hardware class where "
     "none "
     "that is built in fits. Exit status 1, with the reasons and without a manifest, when the "
     "machine does not agree with itself.",
     "{consistent, digest?, manifest?, findings: " FINDINGS "}", lks_cmd_stack_init},
    {"stack lint", "FILE...", 1, LKS_ARGS_MAX, class_options,
     "Check that manifests are well formed and complete",
     "Reads stacks, hardware classes and fleets, in YAML or JSON; '-' is standard input. Prints a "
     "line for each document. The first fault ends it, with its place and what to do.",
     "{documents: [{file, kind, name, version?, digest?, nodes?, assets?}]}", lks_cmd_stack_lint},
    {"stack digest", "FILE", 1, 1, digest_options, "Print the digest of a stack",
     "Two files that mean the same have the same digest, whatever their spelling, order, comments, "
     "descriptions and evidence.",
     "{name, version, digest}", lks_cmd_stack_digest},
    {"stack show", "FILE", 1, 1, stack_options, "Show what a stack pins",
     "A setting is a row for each of its values, by its dotted name. In JSON the identity is what "
     "the digest is taken of.",
     "{name, version, digest, identity}", lks_cmd_stack_show},
    {"stack diff", "OLD NEW", 2, 2, diff_options,
     "Show what it means to go from one stack to another",
     "Each difference comes with its class of update, what it interrupts and whether it can be "
     "reverted; then what flashing its firmware takes, in the order of work, the advisories "
     "closed "
     "and "
     "opened, and the class of change. Where NEW holds one "
     "stack, that is the one to go to, whatever its name. Exit status 0 when the two are the same, "
     "1 when they differ.",
     "{from, to, same, differences: [{what, old?, new?, change, class, reboot, way_back, one_way, "
     "tolerated}], firmware: [{what, transport, banks, stage_minutes, activate_minutes, staging, "
     "reset, loses, revert, one_way, blast, pair, order, after?, exception?}], flaws_closed: [ID], "
     "flaws_opened: [ID], reboot, one_way_steps, change_class?}",
     lks_cmd_stack_diff},
    {"stack check", "FILE", 1, 1, check_options,
     "Judge whether a stack can work on its hardware, and for how long",
     "Errors mean it cannot work, warnings that it will hurt. What rests on an unconfirmed fact is "
     "never an error. A family of GPUs is judged by its best-supported board, and the boards that "
     "answer differently are named. Exit status 1 when there are errors.",
     "{name, version, digest, verdict, errors, warnings, findings: " FINDINGS "}",
     lks_cmd_stack_check},
    {"stack classes", "", 0, 0, NULL, "List the hardware classes that are built in", "",
     "{classes: [{name, vendor, gpu, gpus, nvswitches, nics, nvlink_domain}]}",
     lks_cmd_stack_classes},
    {"stack publish", "FILE", 1, 1, publish_options, "Put a stack into the registry",
     "By its digest it can never be another. It begins as a candidate and is promoted step by "
     "step; "
     "a production pool is pinned to a released one only.",
     "{digest, name, step, seq}", lks_cmd_stack_publish},
    {"stack ls", "", 0, 0, stacks_options, "List the stacks of the registry", "",
     "{items: [{name, digest, step, stepped?, published, by, reason?, pools?, evidence?}]}",
     lks_cmd_stack_ls},
    {"stack promote", "STACK STEP", 2, 2, step_options,
     "Say that a stack passed: lab, canary, then released",
     "One step at a time, each with its evidence. STACK is a digest, the beginning of one, or a "
     "name.",
     "{seq}", lks_cmd_stack_promote},
    {"stack retire", "STACK", 1, 1, step_options, "End a stack's life",
     "Refused while a pool is pinned to it.", "{seq}", lks_cmd_stack_retire},
    {"bundle build", "FILE|DIR", 1, 1, bundle_build_options,
     "Make a bundle of files that belong together",
     "From a manifest of kind Bundle that lists files with what they are (DIR: bundle.yaml in it), "
     "or from a bundle that nobody signed. "
     "PLDM packages say their versions themselves. With --sign it says that your site vouches for "
     "it, which is recorded wherever it is used.",
     "{name, version, digest, artifacts, key?, folder}", lks_cmd_bundle_build},
    {"bundle inspect", "DIR", 1, 1, bundle_look_options, "Show what is in a bundle",
     "Its files, who signed it, and whether each file is what the manifest names.", BUNDLE_JSON,
     lks_cmd_bundle_inspect},
    {"bundle verify", "DIR", 1, 1, bundle_look_options, "Check a bundle's signature and files",
     "Against the keys that are pinned on this machine, or one that is given. Exit status 1 where "
     "anything is not good: no signature, one by a key that is not pinned, another file, or "
     "revoked "
     "at the lockstepd of $LOCKSTEP_SERVER.",
     BUNDLE_JSON, lks_cmd_bundle_verify},
    {"bundle push", "DIR", 1, 1, remote_options, "Bring a bundle to lockstepd",
     "Its files go into the depot by digest; an upload that broke off goes on where it was. "
     "Refused unless a key that is pinned there signed it.",
     "{digest, name, version, signer, key, site, seq}", lks_cmd_bundle_push},
    {"bundle ls", "", 0, 0, remote_options, "List the bundles that were found good", "",
     "{items: [{digest, name, version, signer, key, site, added, by?, revoked?, revoked_by?, "
     "revoked_reason?}]}",
     lks_cmd_bundle_ls},
    {"bundle revoke", "BUNDLE", 1, 1, reason_options, "Say that a bundle is not good any more",
     "That is final: nothing of it is staged from then on.", "{seq}", lks_cmd_bundle_revoke},
    {"trust add", "NAME KEY", 2, 2, trust_change_options, "Pin a public key",
     "KEY is a file (PEM, or one line as 'trust ls --json' shows it) or the line itself. At "
     "lockstepd where one is named or runs here, else, and with --state, on this machine alone.",
     "{seq?, name?, fingerprint?, place?}", lks_cmd_trust_add},
    {"trust ls", "", 0, 0, trust_options, "List the pinned keys", "",
     "{items: [{name, key, fingerprint, pinned?, by?, reason?}]}", lks_cmd_trust_ls},
    {"trust rm", "NAME", 1, 1, trust_change_options, "Trust a key no more",
     "Bundles that were found good by it stay so until they are revoked.", "{seq?, name?, place?}",
     lks_cmd_trust_rm},
    {"trust key", "NAME", 1, 1, trust_key_options, "Make a key for your site to sign bundles with",
     "Ed25519, as PEM. The private half is written to a file and shown nowhere.",
     "{name, fingerprint, place}", lks_cmd_trust_key},
    {"compat", "", 0, 0, compat_options, "Ask whether a driver runs a toolkit on a GPU",
     "Answers yes (NATIVE, BACKWARD), limited (MINOR, FORWARD), unknown, or no (NO_DRIVER, "
     "NO_ARCH, NO_MODULE), with the rules that led there and the cheapest way out. A family is "
     "answered for its best-supported board. Exit status 0 for yes and limited, 1 otherwise.",
     "{verdict, reason, about, driver, toolkit, gpu, board?, rules: " FINDINGS ", remedy?, "
     "other_boards: [{board, verdict, reason}]}",
     lks_cmd_compat},
    {"advisories", "[FILE]", 0, 1, advisories_options,
     "List the advisories that a stack or the fleet is exposed to, and what closes each",
     "Exit status 1 when it is exposed to any. In JSON the exposure is 'exposed', 'unfixed' "
     "(the branch had ended when the advisory was published) or 'by-hand' (only a person can "
     "tell). "
     "With --fleet, what nodes really run and images really hold is asked, not what is pinned. For "
     "one advisory, published stacks that close it are listed pool by pool, those first that "
     "differ "
     "least from what the pool runs, in its driver branch. With --propose the nearest becomes a "
     "change of class emergency, one for each stack; exit status 0 when every pool that is pinned "
     "to the advisory has such a change.",
     "{advisories: [{id, exposure, component, version, fixed?, condition?, cvss?, severity?, "
     "published?, summary?, source?}]}; with --fleet {items: [{id, severity?, cvss?, published?, "
     "days?, component, fixed?, summary?, nodes, gpus, pools: [{pool, hosts, drifted?, nodes, "
     "gpus, versions}], images: [{ref, version}]}], remedies?: [{pool, stack?, stack_digest?, "
     "nodes, hosts?, change?, exposed, component?, fixed?, remedy?, remedy_digest?, closed_by: "
     "[{stack, digest, step, differences, opens, same_branch, whole, revertible}]}], proposed?: "
     "[{id, stack, pools, nodes, gpus}]}",
     lks_cmd_advisories},
    {"lifecycle", "[FILE]", 0, 1, lifecycle_options,
     "Show when driver branches end: all of them, or those of a stack",
     "Where two sources name different days, the days left are those to the earlier one.",
     "{branches: [{branch, type?, ends?, ends_elsewhere?, days_left?, latest?, source?}]}; with "
     "--fleet {support: [{branch, type?, ends?, days_left?, nodes, gpus}], matrix: [{gpu, driver, "
     "cuda, verdict, reason?, nodes, gpus}]}",
     lks_cmd_lifecycle},
    {"pldm inspect", "FILE", 1, 1, NULL, "Show what is in a PLDM firmware package",
     "Which devices it is for, its components with versions, sizes and digests, and each way in "
     "which it deviates from the standard. An image that is itself a package is named.",
     "{file, revision, version?, released, bytes, header_bytes, digest, payload, signed, devices: "
     "[{version?, options, descriptors: [{type, name?, value?, hex?}], components, "
     "package_data_bytes, manifest_bytes}], downstream: [{min_version?, min_stamp?, options, "
     "descriptors, components, package_data_bytes, manifest_bytes}], components: [{classification, "
     "class?, id, version?, stamp?, options, activation, offset, bytes, digest, opaque_bytes, "
     "package?: {revision, version?, components}}], notes, more_notes}",
     lks_cmd_pldm_inspect},
    {"pldm verify", "FILE", 1, 1, pldm_verify_options, "Check that a PLDM package is whole",
     "One pass over the file: checksums of header and images, the standard's rules and, where a "
     "vendor signed it, the signature. By the key that comes with the file a signature shows "
     "integrity only; who made it shows --key. Exit status 0 when it verifies, 1 when it does not, "
     "3 when it is no package.",
     "{file, verified, digest, bytes, checks: [{check, verdict, text}], notes, more_notes}",
     lks_cmd_pldm_verify},
    {"pldm build", "FILE", 1, 1, pldm_build_options, "Build a PLDM package from a YAML file",
     "FILE says the revision, the devices and the components; the files it names are beside it. "
     "docs/pldm.md has the keys. What is written follows the standard strictly.",
     "{file, bytes, digest, components: [{version, bytes, digest}]}", lks_cmd_pldm_build},
    {"xid", "NUMBER", 1, 1, xid_options, "Explain an Xid or SXid and what to do",
     "Numbers from 10000 on are those of an NVSwitch.",
     "{xid, name?, description?, category?, severity?, boards: [NAME], do_now?: " ACTION
     ", look_into?: " ACTION ", note?, registers?: [{unit?, severity?, cause?, do_now?}], "
     "source?}, or {sxid, name?, title?, unit?, nvsentinel?, fm_guide?, do_now?, source?}",
     lks_cmd_xid},
    {"fleet apply", "FILE", 1, 1, apply_options, "Make the fleet what a manifest says",
     "Shows each change that leads there. A first pin of a pool is set by it; a pin is not moved "
     "where nodes are enrolled, and enrolled nodes are not removed: that takes a change, and 'node "
     "rm'. More enrolled nodes than limits.call_nodes are reached only where --nodes repeats how "
     "many, and no more than that are moved to another pool at once. Applying a file twice changes "
     "nothing.",
     "{applied, changes: [{kind, ...}], seq, nodes, gpus}", lks_cmd_fleet_apply},
    {"fleet show", "", 0, 0, remote_options, "Show the pools and how their nodes are", "",
     FLEET_JSON, lks_cmd_fleet_show},
    {"fleet import", "", 0, 0, import_options, "Write a fleet's manifest from a table of nodes",
     "Columns: name, pool, class and, where there are, site, rack, domain, power_zone, "
     "cooling_loop, hardware_revision, supplier, side, posture. Prints the manifest for 'fleet "
     "apply', or says what that would refuse.",
     "{manifest}", lks_cmd_fleet_import},
    {"drift", "", 0, 0, drift_options, "List nodes that differ from what they should run, and why",
     "The cause is told where it can be: a flash that went back by itself, a replaced part, the "
     "package manager, another build, a wave that left a node behind. A recorded deviation is "
     "listed and is not drift.",
     "{items: [{node, pool, stack?, digest?, judged, cause?, since?, text?, evidence?, rows: "
     "[{subject, cause, pinned, actual, of?, deviation?}]}]}; with --watch a line for each record",
     lks_cmd_drift},
    {"deviation add", "NODES", 1, 1, deviation_options,
     "Record an exception, such as a hot-fix, with an owner and an end",
     "Until it ends what it covers is not drift; then it is again. In production that enforces it "
     "counts once an approver agreed ('deviation approve').",
     "{id, waits?, warning?, seq, nodes, gpus}", lks_cmd_deviation_add},
    {"deviation ls", "", 0, 0, deviations_options, "List exceptions that hold", "",
     "{items: [{id, nodes, subject, value?, owner, reason, approver?, by, waits?, agreed?, "
     "agreed_by?, agreed_reason?, added, expires, ended?, ended_by?, ended_reason?, in_use}]}",
     lks_cmd_deviation_ls},
    {"deviation approve", "ID", 1, 1, reason_options, "Agree to an exception of somebody else",
     "By an approver of all its nodes who neither added it nor answers for it. From then on it "
     "counts where the pool enforces, and changes and updates by hand go by it, too.",
     "{seq}", lks_cmd_deviation_approve},
    {"deviation close", "ID", 1, 1, reason_options, "End an exception", "", "{seq}",
     lks_cmd_deviation_close},
    {"admit", "", 0, 0, admit_options, "Ask whether a job may start on these nodes",
     "Yes for a short while, or no with the reason for every node and image in the way. What a "
     "pool that only observes would have refused is shown and refuses nothing. Exit status 0 for "
     "yes, 1 for no.",
     "{job, admitted, overridden?, override?, stack?, digest?, seq, asked, valid_until?, refused: "
     "[{reason, node?, image?, ranks?, pool?, text}], refused_total, warned: [...], warned_total, "
     "envelope?}; with --log {items: [{job, reason, pool?, count, first, last, nodes?, text?, "
     "admitted}]}; with --observed {items: [{pool, enforce, day, asked, refused: {" BARS "}}]}",
     lks_cmd_admit},
    {"image add", "REF", 1, 1, image_options, "Say which libraries an image of jobs holds", "",
     "{seq}", lks_cmd_image_add},
    {"image ls", "", 0, 0, remote_options, "List the images that are known", "",
     "{items: [{ref, digest?, nccl?, rccl?, cudnn?, cuda?, source, added, by}]}", lks_cmd_image_ls},
    {"node enroll", "NODE", 1, 1, ttl_options, "Make a token with which one node enrols, once", "",
     "{node, token, expires}", lks_cmd_node_enroll},
    {"node ls", "", 0, 0, node_ls_options, "List nodes and how they are", "",
     "{items: [" NODE_JSON "]}", lks_cmd_node_ls},
    {"node show", "NODE", 1, 1, node_show_options, "Show all that is known of a node", "",
     NODE_JSON
     " and {boot?, stack?, stack_digest?, drifted, unmeasured, first?, cause?, since?, text?, "
     "evidence?, rows: [{subject, cause, pinned, actual, of?, deviation?}], drained?: {by, "
     "reason}, "
     "deviations: [ID], unhealthy, changing?, target?, change?, condition_text?, attested_until?, "
     "checked?, "
     "inband_age_ms?, outband_age_ms?, certificate?, notes, health?, skew_ms?, heard_ms_ago?, "
     "witnessed_seq?, taken?, intake_why?, held_by?, held_reason?, commands: [{id, node, executor, "
     "ended, outcome?, text?, sent, expires}]}; with --tuple what 'inventory' prints",
     lks_cmd_node_show},
    {"node history", "NODE", 1, 1, history_options, "Show what was recorded of a node", "",
     "{items: [{seq, time, kind, ...}]}", lks_cmd_node_history},
    {"node hold", "NODES", 1, 1, reason_options, "Keep nodes from being admitted",
     "NODES is a name or a host list such as gpu[001-004].", "{seq, nodes, gpus}",
     lks_cmd_node_hold},
    {"node release", "NODES", 1, 1, release_options,
     "Take a hold back, or accept nodes that are new or changed",
     "A node that is first seen, or whose board, GPUs or NICs are others, is not admitted until "
     "it conforms and a person accepts it. A domain that takes no jobs since, for the node does "
     "not run the same as the others, is named.",
     "{seq, nodes, gpus, warnings: [text]}", lks_cmd_node_release},
    LKS_NODE_COMMANDS,
    {"node resolve", "NODE", 1, 1, reason_options,
     "Say that you looked at what an update left behind whose end nobody could tell",
     "Until then its node stays out of use, and nothing else is updated there.", "{seq}",
     lks_cmd_node_resolve},
    {"node replace", "NODES", 1, 1, reason_options,
     "Expect other hardware under the same name: its certificate ends, its parts are forgotten", "",
     "{seq, nodes, gpus}", lks_cmd_node_replace},
    {"node rm", "NODES", 1, 1, reason_options, "Remove nodes from the fleet", "",
     "{seq, nodes, gpus}", lks_cmd_node_rm},
    {"login", "", 0, 0, remote_options, "Log in with the site's OpenID provider",
     "Shows an address and a code to type there, waits until you did, and puts a token into "
     "--token-file. Roles come from your groups (oidc.roles) and end with the login, after "
     "oidc.session_hours (12).",
     "{identity, roles: [], expires, token_file}", lks_cmd_login},
    {"logout", "", 0, 0, remote_options, "End the login whose token --token-file holds",
     "Votes by it stay. The file is removed.", "{seq}", lks_cmd_logout},
    {"access grant", "IDENTITY ROLE", 2, 2, grant_options,
     "Give an identity a role: viewer, operator, approver or admin",
     "IDENTITY is that of an API token, user:NAME of a certificate, or unix:UID on the socket.",
     "{seq}", lks_cmd_access_grant},
    {"access revoke", "IDENTITY [ROLE]", 1, 2, revoke_options,
     "Revoke a role, an API token or a certificate",
     "A token or certificate is refused from the next request on, on open connections too.",
     "{seq}", lks_cmd_access_revoke},
    {"access token", "ID IDENTITY", 2, 2, ttl_options,
     "Make an API token; it is shown once and only its hash is kept",
     "It is good for tls.user_hours (24) unless --ttl says how long, at most tls.user_days (90); "
     "its holder renews it with 'access renew'. Whoever makes a token could use it: it counts for "
     "nothing on their own changes, unless root makes it on a controller's socket.",
     "{token, expires?}", lks_cmd_access_token},
    {"access renew", "", 0, 0, remote_options, "Renew the API token that --token-file holds",
     "For as long as it was made for, from now on. Its minter stays what it is.", "{id, expires}",
     lks_cmd_access_renew},
    {"access ls", "", 0, 0, remote_options,
     "List roles, API tokens and certificates, with who made each and when it ends", "",
     "{bindings: [{identity, role, site?, pool?}], tokens: [{id, identity, expires?, minter?, "
     "minters?: [], issuer?, roles?: []}], certificates: [{serial, identity, fingerprint, expires, "
     "minter?, minters?: "
     "[]}]}",
     lks_cmd_access_ls},
    {"alarm ls", "", 0, 0, alarm_options, "List alarms that are open", "",
     "{items: [{id, kind, subject, text, raised, released?, by?, reason?}]}", lks_cmd_alarm_ls},
    {"alarm release", "ID", 1, 1, reason_options, "Say that an alarm was dealt with", "", "{seq}",
     lks_cmd_alarm_release},
    LKS_CHANGE_COMMANDS,
    {"journal verify", "DIR", 1, 1, verify_options,
     "Check every record of a journal, without its daemon",
     "DIR is lockstepd's data directory, or a copy of journal.db. Finds what was edited, dropped, "
     "reordered, truncated or rewritten. Exit status 1 for a journal with a fault.",
     "{good, fault?, at?, text?, first, last, rows, heads, witnesses, blobs, unsigned, "
     "signed_from, unsigned_before, signatures_checked}",
     lks_cmd_journal_verify},
    LKS_JOURNAL_COMMANDS,
    {"journal repair", "DIR", 1, 1, repair_options,
     "Set records from the first fault on aside, and record that",
     "For a journal that lockstepd refuses to start with. Nothing is thrown away.",
     "{fault, at, text, repaired}", lks_cmd_journal_repair},
    {"backup", "[DIR]", 0, 1, backup_options, "Write a sealed backup of a controller",
     "Of the running one, or of the data directory DIR of this machine, which works beside a "
     "running lockstepd too.",
     "{file, bytes}", lks_cmd_backup},
    {"restore", "FILE", 1, 1, restore_options, "Make a data directory from a backup",
     "The journal in it is verified first.", "{directory, rows}", lks_cmd_restore},
    {"doctor", "[DIR]", 0, 1, NULL, "Look for what is wrong here",
     "This machine's clock, what of this program never ran on its hardware and, with lockstepd's "
     "data directory DIR, its configuration, keys, certificates, journal and disk, requests that "
     "limits turned away, and the OpenID provider. Exit status 1 when something is wrong.",
     "{checks: [{check, state, text}]}", lks_cmd_doctor},
    {"top", "", 0, 0, top_options, "Watch the fleet", "", FLEET_JSON, lks_cmd_top},
    {"bmc inventory", "URL", 1, 1, bmc_options,
     "Read every firmware version that a management endpoint knows",
     "Over Redfish, or a switch tray's own REST (--driver nvos). The endpoint has to be known: see "
     "'bmc trust'. Entries of unknown class are listed as such. Exit status 4: it cannot be "
     "reached; 5: it is not who it should be, or does not let us in.",
     "{url, vendor?, product?, model?, serial?, power?, requests, missing, notes, components: "
     "[{id, "
     "uri, name?, class, of?, bank, version?, updateable?, write_protected?, lowest?, "
     "software_id?, "
     "manufacturer?, released?, related?, health?}]}",
     lks_cmd_bmc_inventory},
    {"bmc trust", "URL", 1, 1, bmc_trust_options,
     "Look at the certificate of a management endpoint, and keep it",
     "From then on it is known by its public key, and nothing is sent to another one. Where "
     "another "
     "key is shown later, only --accept with that key's fingerprint takes it. With --json and "
     "neither --yes nor --accept it only looks.",
     "{url, fingerprint, certificate, subject?, issuer?, not_before, not_after, self_signed, "
     "recorded}",
     lks_cmd_bmc_trust},
    {"bmc update", "URL", 1, 1, bmc_update_options, "Update firmware through a management endpoint",
     "Done is what the inventory says, read three times. It can be interrupted: the same command "
     "goes on with it, and looks for what it began before it sends anything. An endpoint that "
     "lockstepd manages ($LOCKSTEP_SERVER, or the one of this machine) is refused outside of a "
     "change. Exit status 0: done, staged, or nothing to do; 1: refused, failed, or unknown, which "
     "a person has to look at; 4: it cannot be reached; 5: it does not let us in. With 4 and 5 "
     "what "
     "was begun stays open.",
     "{url, act, component, from?, version?, found?, outcome, text?, via?, task?, uploads, "
     "resumed}",
     lks_cmd_bmc_update},
    {"sim up", "DIR", 1, 1, sim_options, "Run a controller, many agents and BMCs on this machine",
     "They are the real programs over a captured machine, in a new directory; each node has a "
     "simulated BMC, and each rack a switch tray and a power shelf with one.",
     "{server, nodes, bmcs}", lks_cmd_sim_up},
    {"sim down", "DIR", 1, 1, NULL, "End what 'sim up' started", "", "{ended}", lks_cmd_sim_down},
    {"help", "[COMMAND...]", 0, 2, NULL, "Show the commands or those of a group, or explain one",
     "", "{commands: [{name, args?, summary, about?, json, options: [{name, value?, about}]}]}",
     lks_cmd_help},
    {"version", "", 0, 0, NULL, "Show the version of lockstep", "", "{version}", lks_cmd_version},
};
const size_t lks_command_count = LKS_COUNT(lks_commands);
