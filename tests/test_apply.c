/* What each kind of record leaves in the state, as columns of the tables that it sets. */

#include "core/campaign/state_apply.h"
#include "core/rows/deviation.h"
#include "core/rows/flash.h"
#include "core/rows/job.h"
#include "core/rows/pool.h"
#include "core/state/lookup.h"
#include "tests/asked.h"
#include "tests/list_state.h"
#include "tests/reload.h"
#include "tests/test.h"

#include <stdio.h>

enum { TEXT_MAX = 1 << 20, THEN_MAX = 5 };

#define T           LKS_STR_C
#define FINGERPRINT "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define N1          LKS_STR_C("n1")
#define KIM         LKS_STR_C("kim")
#define DAY         ((lks_ms)24 * 3600 * LKS_SECOND)
#define R(KIND, member, ...)                                                                       \
    {                                                                                              \
        .kind = LKS_RECORD_##KIND, .member = { __VA_ARGS__ }                                       \
    }
#define POOL_OF(...) R(POOL, pool, .name = T("train"), __VA_ARGS__)
#define IS_CONDITION(what, ...)                                                                    \
    R(CONDITION, condition, .node = N1, .condition = LKS_CONDITION_##what, __VA_ARGS__)
#define DEVIATION_OF(number, ...)                                                                  \
    R(DEVIATION, deviation, .id = (number), .hosts = N1, .subject = T("driver"), __VA_ARGS__)

/* Each row begins with the pool "train", n1 in it, and the asset w1. Its records are a second apart
 * from second 1 on, and at the end these tables are listed so. */
static const struct {
    const char *name;
    struct lks_record then[THEN_MAX];
    const char *tables;
    const char *listed;
} rows[] = {
    {"limits of version 1",
     {R(LIMITS, limits, .heartbeat = 1, .late = 2, .lost = 3)},
     "journal",
     "journal seq=5 clock=10000 heartbeat=1 late=2 lost=3 validity=60000 staleness=5000 "
     "outband_age=604800000 proposal_age=1209600000 placed_count=1 liveness[0]=1 next_alarm=1 "
     "next_command=1 next_deviation=1 next_flash=1 next_change=1 "
     "deviations_due=18446744073709551615\n"},
    {"limits",
     {R(LIMITS, limits, .heartbeat = 1, .validity = 4, .staleness = 5, .outband_age = 6)},
     "journal",
     "journal seq=5 clock=10000 heartbeat=1 validity=4 staleness=5 outband_age=6 "
     "proposal_age=1209600000 placed_count=1 liveness[0]=1 next_alarm=1 next_command=1 "
     "next_deviation=1 next_flash=1 next_change=1 deviations_due=18446744073709551615\n"},
    {"a pool of version 1",
     {POOL_OF(.enforce = T("on"))},
     "pool",
     "pool train name=train enforce=on deviations=1 sweep=86400000 nodes=1 liveness[0]=1\n"},
    {"a pool that refuses deviations",
     {POOL_OF(.on_drift = T("propose alarm"), .attested = true, .check_age = 9, .sweep = 7)},
     "pool",
     "pool train name=train on_drift=5 attested=1 check_age=9 sweep=7 nodes=1 liveness[0]=1\n"},
    {"a pin and the one before",
     {POOL_OF(.stack_digest = T("a"), .sweep = 1), POOL_OF(.stack_digest = T("b"), .sweep = 1),
      POOL_OF(.stack_digest = T("b"), .sweep = 2)},
     "pool",
     "pool train name=train stack_digest=b stack_before=a sweep=2 nodes=1 liveness[0]=1\n"},
    {"a pin that was taken back",
     {POOL_OF(.stack_digest = T("a"), .sweep = 1), POOL_OF(.sweep = 1)},
     "pool",
     "pool train name=train stack_before=a sweep=1 nodes=1 liveness[0]=1\n"},
    {"a pool that is gone and comes again",
     {POOL_OF(.stack_digest = T("a"), .attested = true, .sweep = 1),
      R(POOL_REMOVED, pool_removed, .name = T("train")), POOL_OF(.sweep = 1)},
     "pool",
     "pool train name=train sweep=1 nodes=1 liveness[0]=1\n"},
    {"readings that nobody has yet",
     {R(BASIS, basis, .digest = T("w"), .readings = T("r"))},
     "basis",
     "basis w readings=r\n"},
    {"readings without a name", {R(BASIS, basis, .readings = T("r"))}, "basis", ""},
    {"readings twice are those that came first",
     {R(BASIS, basis, .digest = T("w"), .readings = T("r")),
      R(BASIS, basis, .digest = T("w"), .readings = T("q"))},
     "basis",
     "basis w readings=r\n"},
    {"a verdict on what nobody has",
     {R(VERDICT, verdict, .basis = T("w"), .stack = T("s"), .judged = LKS_JUDGED_DRIFT)},
     "verdict",
     ""},
    {"a verdict without a judgement",
     {R(BASIS, basis, .digest = T("w"), .readings = T("r")),
      R(VERDICT, verdict, .basis = T("w"), .stack = T("s"), .judged = LKS_JUDGED_NOT)},
     "verdict",
     ""},
    {"a verdict, and another of the same two",
     {R(BASIS, basis, .digest = T("w"), .readings = T("r")),
      R(VERDICT, verdict, .basis = T("w"), .stack = T("s"), .judged = LKS_JUDGED_CONFORMS),
      R(VERDICT, verdict, .basis = T("w"), .stack = T("s"), .judged = LKS_JUDGED_DRIFT,
        .drifted = 3, .unmeasured = 4, .first = T("f"), .wrong = T("x"), .values = T("v"))},
     "verdict",
     "verdict[0] basis=w stack=s judged=drift drifted=3 unmeasured=4 first=f wrong=x values=v\n"},
    {"a tuple of version 1",
     {R(TUPLE, tuple, .node = N1, .digest = T("d"), .report = T("r"), .boot = T("b"), .taken = 5,
        .stack = T("s"), .judged = LKS_JUDGED_DRIFT, .drifted = 1)},
     "node",
     "node n1 pool=train tuple=d report=r tuple_boot=b tuple_since=1000 taken=5\n"
     "node w1 asset=switch-tray\n"},
    {"a tuple",
     {R(TUPLE, tuple, .node = N1, .digest = T("d"), .basis = T("i"), .whole = T("w"),
        .changed = T("c"))},
     "node",
     "node n1 pool=train tuple=d changed=c tuple_since=1000 inband=i whole=w\n"
     "node w1 asset=switch-tray\n"},
    {"what it was last right in, after it drifts",
     {POOL_OF(.stack_digest = T("s")), R(BASIS, basis, .digest = T("w"), .readings = T("r")),
      R(VERDICT, verdict, .basis = T("w"), .stack = T("s"), .judged = LKS_JUDGED_CONFORMS),
      R(TUPLE, tuple, .node = N1, .basis = T("w"), .whole = T("w")),
      R(TUPLE, tuple, .node = N1, .basis = T("x"), .whole = T("x"))},
     "node",
     "node n1 pool=train tuple_since=5000 inband=x whole=x right=s\n"
     "node w1 asset=switch-tray\n"},
    {"read out of band",
     {R(OUTBAND, outband, .node = T("w1"), .basis = T("o"), .whole = T("o"), .report = T("r"),
        .taken = 900)},
     "node",
     "node n1 pool=train\n"
     "node w1 asset=switch-tray outband=o whole=o outband_report=r outband_taken=900\n"},
    {"read out of band past its age",
     {R(LIMITS, limits, .outband_age = 100),
      R(OUTBAND, outband, .node = T("w1"), .basis = T("o"), .whole = T("o"), .taken = 900)},
     "node",
     "node n1 pool=train\n"
     "node w1 asset=switch-tray outband=o whole=o outband_taken=900 outband_over=1\n"},
    {"read out of band, and over",
     {R(OUTBAND, outband, .node = T("w1"), .basis = T("o"), .whole = T("o"), .report = T("r")),
      R(OUTBAND, outband, .node = T("w1"))},
     "node",
     "node n1 pool=train\n"
     "node w1 asset=switch-tray\n"},
    {"drift",
     {R(DRIFT, drift, .node = N1, .on = true, .cause = LKS_DRIFT_PART, .text = T("x"),
        .evidence = T("e"))},
     "node",
     "node n1 pool=train drifting=1 drift_cause=\"replaced part\" drift_text=x drift_evidence=e "
     "drift_since=1000\n"
     "node w1 asset=switch-tray\n"},
    {"drift that is over",
     {R(DRIFT, drift, .node = N1, .on = true, .cause = LKS_DRIFT_PART, .text = T("x")),
      R(DRIFT, drift, .node = N1, .text = T("right again"))},
     "node",
     "node n1 pool=train drift_text=\"right again\" drift_since=2000\n"
     "node w1 asset=switch-tray\n"},
    {"drift counts as a turn, once",
     {R(DRIFT, drift, .node = N1, .on = true), R(DRIFT, drift, .node = N1, .on = true)},
     "turn",
     "turn[0] node=n1 at=1000\n"},
    {"a change says since when, however often",
     {IS_CONDITION(CHANGING, .on = true, .stack = T("s"), .text = T("step 1")),
      IS_CONDITION(CHANGING, .on = true, .stack = T("t"), .text = T("step 2"))},
     "node",
     "node n1 pool=train changing=1000 target=t condition_text=\"step 2\"\n"
     "node w1 asset=switch-tray\n"},
    {"a change that is over",
     {IS_CONDITION(CHANGING, .on = true, .stack = T("s"), .text = T("x")),
      IS_CONDITION(CHANGING, .on = false)},
     "node",
     "node n1 pool=train\n"
     "node w1 asset=switch-tray\n"},
    {"health",
     {IS_CONDITION(UNHEALTHY, .on = true, .text = T("fan"))},
     "node",
     "node n1 pool=train unhealthy=1 condition_text=fan\n"
     "node w1 asset=switch-tray\n"},
    {"attested and checked",
     {IS_CONDITION(ATTESTED, .on = true, .until = 7),
      IS_CONDITION(CHECKED, .on = true, .until = 8)},
     "node",
     "node n1 pool=train attested_until=7 checked_at=8\n"
     "node w1 asset=switch-tray\n"},
    {"attested no more",
     {IS_CONDITION(ATTESTED, .on = true, .until = 7), IS_CONDITION(ATTESTED, .on = false)},
     "node",
     "node n1 pool=train\n"
     "node w1 asset=switch-tray\n"},
    {"drained",
     {R(DRAINED, drained, .node = N1, .owner = KIM, .reason = T("fan")),
      R(UNDRAINED, undrained, .node = N1, .owner = T("ann"))},
     "node",
     "node n1 pool=train drained_by=kim drained_reason=fan\n"
     "node w1 asset=switch-tray\n"},
    {"drained by nobody",
     {R(DRAINED, drained, .node = N1)},
     "node",
     "node n1 pool=train\n"
     "node w1 asset=switch-tray\n"},
    {"undrained",
     {R(DRAINED, drained, .node = N1, .owner = KIM),
      R(UNDRAINED, undrained, .node = N1, .owner = KIM)},
     "node",
     "node n1 pool=train\n"
     "node w1 asset=switch-tray\n"},
    {"held since the first time",
     {R(HELD, held, .node = N1, .by = KIM), R(HELD, held, .node = N1, .by = T("ann"))},
     "node",
     "node n1 pool=train held=1 held_by=ann held_since=1000\n"
     "node w1 asset=switch-tray\n"},
    {"held again",
     {R(HELD, held, .node = N1), R(UNHELD, unheld, .node = N1), R(HELD, held, .node = N1)},
     "node",
     "node n1 pool=train held=1 held_since=3000\n"
     "node w1 asset=switch-tray\n"},
    {"parts that were others",
     {R(PARTS, parts, .node = N1, .board = T("a")), R(PARTS, parts, .node = N1, .board = T("b"))},
     "node",
     "node n1 pool=train parts[0]=b parts_since=2000\n"
     "node w1 asset=switch-tray\n"},
    {"parts it was first seen with",
     {R(PARTS, parts, .node = N1, .gpus = T("a"))},
     "node",
     "node n1 pool=train parts[1]=a\n"
     "node w1 asset=switch-tray\n"},
    {"deviations",
     {DEVIATION_OF(4, .value = T("2"), .owner = KIM, .reason = T("x"), .approver = T("ann"),
                   .expires = 9, .by = T("lee")),
      DEVIATION_OF(5, .expires = 8), R(DEVIATION_ENDED, deviation_ended, .id = 4, .by = KIM),
      R(DEVIATION_ENDED, deviation_ended, .id = 4, .by = T("ann"))},
     "deviation",
     "deviation[0] id=4 hosts=n1 subject=driver value=2 owner=kim reason=x approver=ann by=lee "
     "added=1000 expires=9 ended=3000 ended_by=kim count=1\n"
     "deviation[1] id=5 hosts=n1 subject=driver added=2000 expires=8 count=1\n"},
    {"a deviation that an approver agreed to, once",
     {DEVIATION_OF(4, .expires = 9),
      R(DEVIATION_AGREED, deviation_agreed, .id = 4, .by = T("ann"), .reason = T("x")),
      R(DEVIATION_AGREED, deviation_agreed, .id = 4, .by = T("lee")),
      R(DEVIATION_AGREED, deviation_agreed, .id = 5, .by = T("lee"))},
     "deviation",
     "deviation[0] id=4 hosts=n1 subject=driver agreed=2000 agreed_by=ann agreed_reason=x "
     "added=1000 expires=9 count=1\n"},
    {"a deviation with a number that was used",
     {DEVIATION_OF(4, .expires = 9), DEVIATION_OF(4, .expires = 8), DEVIATION_OF(3, .expires = 8)},
     "deviation",
     "deviation[0] id=4 hosts=n1 subject=driver added=1000 expires=9 count=1\n"},
    {"a stack on its way",
     {R(PUBLISHED, published, .digest = T("s"), .name = T("h200"), .manifest = T("m"), .by = KIM),
      R(STEPPED, stepped, .digest = T("s"), .step = LKS_STEP_LAB, .evidence = T("run 7"),
        .by = KIM),
      R(STEPPED, stepped, .digest = T("s"), .step = LKS_STEP_CANARY, .evidence = T("run 8"))},
     "stack",
     "stack[0] digest=s name=h200 manifest=m step=canary published=1000 by=kim stepped=3000 "
     "evidence[1]=\"run 7\" evidence[2]=\"run 8\" evidence_by[1]=kim\n"},
    {"a stack that is published again stays where it is",
     {R(PUBLISHED, published, .digest = T("s"), .name = T("h200")),
      R(STEPPED, stepped, .digest = T("s"), .step = LKS_STEP_RELEASED),
      R(PUBLISHED, published, .digest = T("s"), .name = T("h200"), .envelope = T("e"))},
     "stack",
     "stack[0] digest=s name=h200 envelope=e step=released published=3000 stepped=2000\n"},
    {"a step of a stack that is not there",
     {R(STEPPED, stepped, .digest = T("s"), .step = LKS_STEP_LAB)},
     "stack",
     ""},
    {"images, sorted",
     {R(IMAGE, image, .ref = T("b"), .nccl = T("1")), R(IMAGE, image, .ref = T("a")),
      R(IMAGE, image, .ref = T("b"), .nccl = T("2"), .digest = T("d"), .rccl = T("r"),
        .cudnn = T("n"), .cuda = T("c"), .source = T("sbom"), .by = KIM)},
     "image",
     "image[0] ref=a added=2000\n"
     "image[1] ref=b digest=d nccl=2 rccl=r cudnn=n cuda=c source=sbom by=kim added=3000\n"},
    {"an image that is gone",
     {R(IMAGE, image, .ref = T("a")), R(IMAGE, image, .ref = T("b")),
      R(IMAGE_GONE, image_gone, .ref = T("a"))},
     "image",
     "image[0] ref=b added=2000\n"},
    {"artifacts, sorted",
     {R(ARTIFACT, artifact, .digest = T("b"), .name = T("f"), .size = 7, .by = KIM),
      R(ARTIFACT, artifact, .digest = T("a")), R(ARTIFACT, artifact, .digest = T("c")),
      R(ARTIFACT_GONE, artifact_gone, .digest = T("c"))},
     "artifact",
     "artifact[0] digest=a added=2000\nartifact[1] digest=b name=f size=7 by=kim added=1000\n"},
    {"jobs are counted",
     {R(JOB, job, .job = T("j")), R(JOB, job, .job = T("k"))},
     "journal",
     "journal seq=6 clock=10000 heartbeat=10000 late=30000 lost=120000 mass_floor=10 "
     "mass_percent=2 mass_window=300000 skew=5000 call_nodes=10 validity=60000 staleness=5000 "
     "outband_age=604800000 proposal_age=1209600000 placed_count=1 liveness[0]=1 jobs=2 "
     "next_alarm=1 next_command=1 next_deviation=1 next_flash=1 next_change=1 "
     "deviations_due=18446744073709551615\n"},
    {"overrides",
     {R(OVERRIDE, override, .job = T("j"), .hosts = N1, .reason = T("x"), .by = KIM, .until = 9)},
     "override",
     "override[0] job=j hosts=n1 reason=x by=kim until=9\n"},
    {"what was observed on one day",
     {R(OBSERVED, observed, .pool = T("train"), .bar = LKS_BAR_DRIFT, .asked = 5, .refused = 2),
      R(OBSERVED, observed, .pool = T("train"), .bar = LKS_BAR_DRIFT, .asked = 1, .refused = 1),
      R(OBSERVED, observed, .pool = T("train"), .bar = LKS_BAR_HELD, .refused = 1),
      R(OBSERVED, observed, .pool = T("no"), .bar = LKS_BAR_HELD, .refused = 1)},
     "observed",
     "pool train.observed[0] asked=6 refused[3]=3 refused[8]=1\n"},
    {"refusals of one day, by user and image, and by node",
     {R(REFUSAL, refusal, .pool = T("train"), .bar = LKS_BAR_IMAGE, .user = T("lee"),
        .image = T("a:1"), .count = 2),
      R(REFUSAL, refusal, .pool = T("train"), .bar = LKS_BAR_IMAGE, .user = T("lee"),
        .image = T("a:1"), .count = 1),
      R(REFUSAL, refusal, .pool = T("train"), .bar = LKS_BAR_IMAGE, .user = T("kim"),
        .image = T("a:1"), .count = 4),
      R(REFUSAL, refusal, .pool = T("train"), .bar = LKS_BAR_DRIFT, .node = T("n1"), .count = 5)},
     "refusal",
     "refusal[0] pool=train bar=image user=lee image=a:1 count=3\n"
     "refusal[1] pool=train bar=image user=kim image=a:1 count=4\n"
     "refusal[2] pool=train bar=drift node=n1 count=5\n"},
    {"who leads",
     {R(LED, led, .epoch = 1, .name = T("a")),
      R(LED, led, .epoch = 2, .name = T("b"), .url = T("u"))},
     "journal",
     "journal seq=6 clock=10000 heartbeat=10000 late=30000 lost=120000 mass_floor=10 "
     "mass_percent=2 mass_window=300000 skew=5000 call_nodes=10 validity=60000 staleness=5000 "
     "outband_age=604800000 proposal_age=1209600000 placed_count=1 liveness[0]=1 epoch=2 "
     "leader=b leader_url=u next_alarm=1 next_command=1 next_deviation=1 next_flash=1 "
     "next_change=1 deviations_due=18446744073709551615\n"},
    {"keys, sorted",
     {R(KEY_PINNED, key_pinned, .name = T("b"), .key = T("k")),
      R(KEY_PINNED, key_pinned, .name = T("a"), .key = T("k"), .by = KIM, .reason = T("x")),
      R(KEY_PINNED, key_pinned, .name = T("b"), .key = T("l")),
      R(KEY_PINNED, key_pinned, .name = T("c")), R(KEY_GONE, key_gone, .name = T("c"))},
     "key",
     "key[0] name=a key=k pinned=2000 by=kim reason=x\n"
     "key[1] name=b key=l pinned=3000\n"},
    {"a bundle that is revoked",
     {R(BUNDLE, bundle, .digest = T("d"), .name = T("n"), .version = T("1"), .manifest = T("m"),
        .signer = T("s"), .key = T("k"), .artifacts = T("x y"), .site = true, .by = KIM),
      R(BUNDLE_REVOKED, bundle_revoked, .digest = T("d"), .by = KIM, .reason = T("r")),
      R(BUNDLE_REVOKED, bundle_revoked, .digest = T("d"), .by = T("ann"))},
     "bundle",
     "bundle[0] digest=d name=n version=1 manifest=m signer=s key=k artifacts=\"x y\" site=1 "
     "added=1000 by=kim revoked=2000 revoked_by=kim revoked_reason=r\n"},
    {"a bundle that is found good again",
     {R(BUNDLE, bundle, .digest = T("d")), R(BUNDLE, bundle, .digest = T("d"), .name = T("n"))},
     "bundle",
     "bundle[0] digest=d name=n added=2000\n"},
    {"one that was revoked is so for good",
     {R(BUNDLE, bundle, .digest = T("d")),
      R(BUNDLE_REVOKED, bundle_revoked, .digest = T("d"), .by = KIM, .reason = T("r")),
      R(BUNDLE, bundle, .digest = T("d"), .name = T("n"))},
     "bundle",
     "bundle[0] digest=d name=n added=3000 revoked=2000 revoked_by=kim revoked_reason=r\n"},
    {"an endpoint, of the machine that stands there",
     {R(ENDPOINT, endpoint, .node = N1, .fingerprint = T("f")),
      R(ENDPOINT, endpoint, .node = T("w1"), .fingerprint = T("g")),
      R(REPLACED, replaced, .node = N1)},
     "node",
     "node n1 pool=train liveness_since=3000\n"
     "node w1 asset=switch-tray endpoint=g\n"},
    {"an update on its way",
     {R(FLASH, flash, .id = 3, .node = N1, .act = LKS_BMC_STAGE, .component = T("bmc"),
        .version = T("2"), .bundle = T("b"), .image = T("i"), .size = 4, .image_name = T("f"),
        .apply_time = T("OnReset"), .force = true, .one_way = true, .deadline = 9, .by = KIM,
        .reason = T("x")),
      R(FLASH_SAVED, flash_saved, .id = 3, .saved = T("a"), .phase = T("p"), .percent = 1),
      R(FLASH_SAVED, flash_saved, .id = 3, .saved = T("b"), .phase = T("q"), .percent = 400)},
     "flash",
     "flash[0] id=3 node=n1 act=stage component=bmc version=2 bundle=b image=i image_name=f "
     "apply_time=OnReset size=4 force=1 one_way=1 begun=1000 deadline=9 by=kim reason=x saved=b "
     "phase=q percent=100\n"},
    {"an update that ended, once",
     {R(FLASH, flash, .id = 3, .node = N1),
      R(FLASH_SAVED, flash_saved, .id = 3, .saved = T("a"), .phase = T("p")),
      R(FLASH_ENDED, flash_ended, .id = 3, .outcome = LKS_BMC_DONE, .found = T("2"), .uploads = 1),
      R(FLASH_ENDED, flash_ended, .id = 3, .outcome = LKS_BMC_FAILED),
      R(FLASH_SAVED, flash_saved, .id = 3, .saved = T("b"), .phase = T("q"))},
     "flash",
     "flash[0] id=3 node=n1 begun=1000 phase=p outcome=done ended=3000 found=2 uploads=1\n"},
    {"an update nobody can tell of, looked at once",
     {R(FLASH, flash, .id = 3, .node = N1),
      R(FLASH_ENDED, flash_ended, .id = 3, .outcome = LKS_BMC_UNKNOWN, .text = T("x")),
      R(FLASH_RESOLVED, flash_resolved, .id = 3, .by = KIM, .reason = T("r")),
      R(FLASH_RESOLVED, flash_resolved, .id = 3, .by = T("ann"))},
     "flash",
     "flash[0] id=3 node=n1 begun=1000 outcome=unknown ended=2000 text=x resolved=3000 "
     "resolved_by=kim resolved_reason=r\n"},
    {"an update that is over needs nobody",
     {R(FLASH, flash, .id = 3, .node = N1), R(FLASH, flash, .id = 2, .node = N1),
      R(FLASH_ENDED, flash_ended, .id = 3, .outcome = LKS_BMC_OPEN),
      R(FLASH_ENDED, flash_ended, .id = 3, .outcome = LKS_BMC_FAILED),
      R(FLASH_RESOLVED, flash_resolved, .id = 3)},
     "flash",
     "flash[0] id=3 node=n1 begun=1000 outcome=failed ended=4000\n"},
    {"a certificate of a machine that was replaced",
     {R(BARRED, barred, .node = N1, .fingerprint = T(FINGERPRINT), .expires = 9),
      R(BARRED, barred, .node = T("n999"), .fingerprint = T(FINGERPRINT), .expires = 9)},
     "barred",
     "barred[0] node=n1 fingerprint=" FINGERPRINT " expires=9\n"
     "barred[1] node=n999 fingerprint=" FINGERPRINT " expires=9\n"},
    {"replaced: what is said of the machine is over, what is said of the place stays",
     {R(DRIFT, drift, .node = N1, .on = true), R(DRAINED, drained, .node = N1, .owner = KIM),
      IS_CONDITION(UNHEALTHY, .on = true, .text = T("fan")),
      R(OUTBAND, outband, .node = N1, .basis = T("o"), .whole = T("o")),
      R(REPLACED, replaced, .node = N1)},
     "node",
     "node n1 pool=train liveness_since=5000 drained_by=kim\n"
     "node w1 asset=switch-tray\n"},
    {"removed: nothing stays",
     {R(DRAINED, drained, .node = N1, .owner = KIM),
      IS_CONDITION(CHANGING, .on = true, .stack = T("s"), .text = T("x")),
      R(OUTBAND, outband, .node = N1, .basis = T("o"), .whole = T("o")),
      R(REMOVED, removed, .hosts = N1), R(PLACED, placed, .hosts = N1)},
     "node",
     "node n1\nnode w1 asset=switch-tray\n"},
};

static void apply(struct lks_state *s, lks_ms time, const struct lks_record *r)
{
    struct lks_err err = {0};
    CHECK_CODE(lks_state_apply(s, s->seq + 1, time, r, &err), LKS_OK);
}

static void test_rows(void)
{
    static const struct lks_record first[] = {
        POOL_OF(.sweep = 1),
        R(PLACED, placed, .hosts = N1, .pool = T("train")),
        R(PLACED, placed, .hosts = T("w1"), .asset = T("switch-tray")),
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_state_fini) struct lks_state s = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
        struct lks_err err = {0};
        lks_test_case("%s", rows[i].name);
        lks_buf_add(&text, LKS_STR(""));
        CHECK_CODE(lks_state_init(&s, 1, &err), LKS_OK);
        for (size_t j = 0; j < LKS_COUNT(first); j++)
            apply(&s, 0, &first[j]);
        for (size_t j = 0; j < THEN_MAX && rows[i].then[j].kind != 0; j++)
            apply(&s, (j + 1) * LKS_SECOND, &rows[i].then[j]);
        apply(&s, (lks_ms)THEN_MAX * 2 * LKS_SECOND,
              &(struct lks_record){.kind = LKS_RECORD_STARTED});
        LKS_CLEANUP(lks_state_fini) struct lks_state anew = {0};
        lks_list_state(&s, rows[i].tables, &text);
        CHECK_STR(lks_buf_view(&text), rows[i].listed);
        lks_test_reload(&s, &anew);
    }
}

/* A ring of a few days: another day with the same place begins anew, and an older one is passed
 * over. */
static void test_days(void)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state s = {0};
    struct lks_err err = {0};
    const struct lks_record pool = POOL_OF(.sweep = 1);
    const struct lks_record observed =
        R(OBSERVED, observed, .pool = T("train"), .bar = LKS_BAR_HELD, .asked = 2, .refused = 1);
    CHECK_CODE(lks_state_init(&s, 1, &err), LKS_OK);
    apply(&s, 1, &pool);
    for (lks_ms day = 20000; day < 20000 + LKS_STATE_DAYS + 2; day++)
        apply(&s, day * DAY + 7, &observed);
    apply(&s, 20001 * DAY, &observed);
    apply(&s, (20000 + LKS_STATE_DAYS) * DAY, &observed);
    for (uint64_t day = 20002; day < 20000 + LKS_STATE_DAYS + 2; day++) {
        const struct lks_observed *o = &s.pools[0].observed[day % LKS_STATE_DAYS];
        unsigned times = day == 20000 + LKS_STATE_DAYS ? 2 : 1;
        lks_test_case("day %d", (int)day);
        CHECK_INT(o->day, day);
        CHECK_INT(o->asked, 2 * times);
        CHECK_INT(o->refused[LKS_BAR_HELD], times);
    }
}

/* Lists that are bounded make room: of the older half those that ended go, or else the oldest. */
static void test_deviation_room(void)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state s = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_state_init(&s, 1, &err), LKS_OK);
    for (uint64_t id = 1; id <= LKS_STATE_DEVIATIONS_MAX + 1; id++) {
        const struct lks_record begins = DEVIATION_OF(id, .expires = 9);
        const struct lks_record ends = R(DEVIATION_ENDED, deviation_ended, .id = id);
        apply(&s, 1, &begins);
        if (id % 10 != 0)
            apply(&s, 1, &ends);
    }
    CHECK(lks_state_deviation(&s, 10) != NULL);
    CHECK(lks_state_deviation(&s, 11) == NULL);
    CHECK(lks_state_deviation(&s, LKS_STATE_DEVIATIONS_MAX + 1) != NULL);
    CHECK_INT(s.deviation_count, LKS_STATE_DEVIATIONS_MAX / 2 + LKS_STATE_DEVIATIONS_MAX / 20 + 1);
}

static void test_override_room(void)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state s = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_state_init(&s, 1, &err), LKS_OK);
    for (uint64_t i = 0; i < LKS_STATE_OVERRIDES_MAX + 2; i++) {
        char job[24];
        snprintf(job, sizeof(job), "job-%u", (unsigned)i);
        const struct lks_record r =
            R(OVERRIDE, override, .job = lks_str_from(job), .until = i == 1 ? 5 : 50);
        apply(&s, 10, &r);
    }
    CHECK_INT(s.override_count, LKS_STATE_OVERRIDES_MAX);
    CHECK_STR(lks_state_text(&s, s.overrides[0].job), "job-2");
}

/* The same of updates: those that are over go first, and none that a person has to look at. */
static void test_flash_room(void)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state s = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_state_init(&s, 1, &err), LKS_OK);
    for (uint64_t id = 1; id <= LKS_STATE_FLASHES_MAX + 1; id++) {
        const struct lks_record begins = R(FLASH, flash, .id = id, .node = N1);
        const struct lks_record saved = R(FLASH_SAVED, flash_saved, .id = id, .saved = T("s"));
        const struct lks_record ends =
            R(FLASH_ENDED, flash_ended, .id = id,
              .outcome = id % 10 == 1 ? LKS_BMC_UNKNOWN : LKS_BMC_DONE, .text = T("t"));
        apply(&s, 1, &begins);
        apply(&s, 1, &saved);
        if (id % 10 != 0)
            apply(&s, 1, &ends);
    }
    CHECK(lks_state_flash(&s, 10) != NULL);
    CHECK(lks_state_flash(&s, 11) != NULL);
    CHECK(lks_state_flash(&s, 12) == NULL);
    CHECK(lks_state_flash(&s, LKS_STATE_FLASHES_MAX + 1) != NULL);
    CHECK_INT(s.flash_count, LKS_STATE_FLASHES_MAX / 2 + LKS_STATE_FLASHES_MAX / 10 + 1);
    CHECK_INT(s.flashes_open, LKS_STATE_FLASHES_MAX / 10);
}

/* Today and the seven days before are kept; a record of a day that is over is passed over. */
static void test_refusal_days(void)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state s = {0};
    struct lks_err err = {0};
    const struct lks_record refusal =
        R(REFUSAL, refusal, .pool = T("train"), .bar = LKS_BAR_HELD, .user = T("lee"), .count = 1);
    CHECK_CODE(lks_state_init(&s, 1, &err), LKS_OK);
    for (lks_ms day = 20000; day < 20000 + LKS_STATE_DAYS + 2; day++)
        apply(&s, day * DAY + 7, &refusal);
    apply(&s, 20005 * DAY, &refusal);
    CHECK_INT(s.refusals.count, LKS_STATE_DAYS);
    for (uint32_t i = 0; i < s.refusals.count; i++) {
        CHECK_INT(s.refusals.list[i].day, 20002 + i);
        CHECK_INT(s.refusals.list[i].count, 1);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"apply: what each record leaves", test_rows},
        {"apply: days that were observed", test_days},
        {"apply: days with refusals", test_refusal_days},
        {"apply: deviations make room", test_deviation_room},
        {"apply: overrides make room", test_override_room},
        {"apply: updates make room", test_flash_room},
        {0},
    });
}
