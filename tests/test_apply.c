/* What each kind of record leaves in the state, told by what a snapshot says of it. */
#include "core/state/state.h"

#include "core/campaign/state_apply.h"
#include "tests/asked.h"
#include "tests/dump_state.h"
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
 * from second 1 on; a snapshot at the end says, of these kinds, what is told: the time in seconds,
 * or "-" for a time that is the clock's, and the record. */
static const struct {
    const char *name;
    struct lks_record then[THEN_MAX];
    enum lks_record_kind kinds[3];
    const char *told;
} rows[] = {
    {"limits of version 1",
     {R(LIMITS, limits, .heartbeat = 1, .late = 2, .lost = 3)},
     {LKS_RECORD_LIMITS},
     "- limits heartbeat=1 late=2 lost=3 validity=60000 staleness=5000 outband_age=604800000 "
     "proposal_age=1209600000\n"},
    {"limits",
     {R(LIMITS, limits, .heartbeat = 1, .validity = 4, .staleness = 5, .outband_age = 6)},
     {LKS_RECORD_LIMITS},
     "- limits heartbeat=1 validity=4 staleness=5 outband_age=6 "
     "proposal_age=1209600000\n"},
    {"a pool of version 1",
     {POOL_OF(.enforce = T("on"))},
     {LKS_RECORD_POOL},
     "- pool name=train enforce=on deviations=1 sweep=86400000\n"},
    {"a pool that refuses deviations",
     {POOL_OF(.on_drift = T("propose alarm"), .attested = true, .check_age = 9, .sweep = 7)},
     {LKS_RECORD_POOL},
     "- pool name=train on_drift=alarm propose attested=1 check_age=9 sweep=7\n"},
    {"a pin and the one before",
     {POOL_OF(.stack_digest = T("a"), .sweep = 1), POOL_OF(.stack_digest = T("b"), .sweep = 1),
      POOL_OF(.stack_digest = T("b"), .sweep = 2)},
     {LKS_RECORD_POOL},
     "- pool name=train stack_digest=a sweep=2\n- pool name=train stack_digest=b sweep=2\n"},
    {"a pin that was taken back",
     {POOL_OF(.stack_digest = T("a"), .sweep = 1), POOL_OF(.sweep = 1)},
     {LKS_RECORD_POOL},
     "- pool name=train stack_digest=a sweep=1\n- pool name=train sweep=1\n"},
    {"a pool that is gone and comes again",
     {POOL_OF(.stack_digest = T("a"), .attested = true, .sweep = 1),
      R(POOL_REMOVED, pool_removed, .name = T("train")), POOL_OF(.sweep = 1)},
     {LKS_RECORD_POOL},
     "- pool name=train sweep=1\n"},
    {"readings that nobody has yet",
     {R(BASIS, basis, .digest = T("w"), .readings = T("r"))},
     {LKS_RECORD_BASIS},
     "- basis digest=w readings=r\n"},
    {"readings without a name", {R(BASIS, basis, .readings = T("r"))}, {LKS_RECORD_BASIS}, ""},
    {"readings twice are those that came first",
     {R(BASIS, basis, .digest = T("w"), .readings = T("r")),
      R(BASIS, basis, .digest = T("w"), .readings = T("q"))},
     {LKS_RECORD_BASIS},
     "- basis digest=w readings=r\n"},
    {"a verdict on what nobody has",
     {R(VERDICT, verdict, .basis = T("w"), .stack = T("s"), .judged = LKS_JUDGED_DRIFT)},
     {LKS_RECORD_VERDICT},
     ""},
    {"a verdict without a judgement",
     {R(BASIS, basis, .digest = T("w"), .readings = T("r")),
      R(VERDICT, verdict, .basis = T("w"), .stack = T("s"), .judged = LKS_JUDGED_NOT)},
     {LKS_RECORD_VERDICT},
     ""},
    {"a verdict, and another of the same two",
     {R(BASIS, basis, .digest = T("w"), .readings = T("r")),
      R(VERDICT, verdict, .basis = T("w"), .stack = T("s"), .judged = LKS_JUDGED_CONFORMS),
      R(VERDICT, verdict, .basis = T("w"), .stack = T("s"), .judged = LKS_JUDGED_DRIFT,
        .drifted = 3, .unmeasured = 4, .first = T("f"), .wrong = T("x"), .values = T("v"))},
     {LKS_RECORD_VERDICT},
     "- verdict basis=w stack=s judged=drift drifted=3 unmeasured=4 first=f wrong=x values=v\n"},
    {"a tuple of version 1",
     {R(TUPLE, tuple, .node = N1, .digest = T("d"), .report = T("r"), .boot = T("b"), .taken = 5,
        .stack = T("s"), .judged = LKS_JUDGED_DRIFT, .drifted = 1)},
     {LKS_RECORD_TUPLE},
     "1 tuple node=n1 digest=d report=r boot=b taken=5 judged=unjudged\n"},
    {"a tuple",
     {R(TUPLE, tuple, .node = N1, .digest = T("d"), .basis = T("i"), .whole = T("w"),
        .changed = T("c"))},
     {LKS_RECORD_TUPLE},
     "1 tuple node=n1 digest=d judged=unjudged basis=i whole=w changed=c\n"},
    {"what it was last right in, after it drifts",
     {POOL_OF(.stack_digest = T("s")), R(BASIS, basis, .digest = T("w"), .readings = T("r")),
      R(VERDICT, verdict, .basis = T("w"), .stack = T("s"), .judged = LKS_JUDGED_CONFORMS),
      R(TUPLE, tuple, .node = N1, .basis = T("w"), .whole = T("w")),
      R(TUPLE, tuple, .node = N1, .basis = T("x"), .whole = T("x"))},
     {LKS_RECORD_TUPLE},
     "5 tuple node=n1 stack=s judged=conforms basis=x whole=x\n"},
    {"read out of band",
     {R(OUTBAND, outband, .node = T("w1"), .basis = T("o"), .whole = T("o"), .report = T("r"),
        .taken = 900)},
     {LKS_RECORD_OUTBAND},
     "0 out-of-band node=w1 basis=o whole=o report=r taken=900\n"},
    {"read out of band past its age",
     {R(LIMITS, limits, .outband_age = 100),
      R(OUTBAND, outband, .node = T("w1"), .basis = T("o"), .whole = T("o"), .taken = 900)},
     {LKS_RECORD_OUTBAND},
     "- out-of-band node=w1 basis=o whole=o taken=900\n"},
    {"read out of band, and over",
     {R(OUTBAND, outband, .node = T("w1"), .basis = T("o"), .whole = T("o"), .report = T("r")),
      R(OUTBAND, outband, .node = T("w1"))},
     {LKS_RECORD_OUTBAND, LKS_RECORD_TUPLE},
     ""},
    {"drift",
     {R(DRIFT, drift, .node = N1, .on = true, .cause = LKS_DRIFT_PART, .text = T("x"),
        .evidence = T("e"))},
     {LKS_RECORD_DRIFT},
     "1 drift node=n1 on=1 cause=replaced part text=x evidence=e\n"},
    {"drift that is over",
     {R(DRIFT, drift, .node = N1, .on = true, .cause = LKS_DRIFT_PART, .text = T("x")),
      R(DRIFT, drift, .node = N1, .text = T("right again"))},
     {LKS_RECORD_DRIFT},
     "2 drift node=n1 cause=unknown text=right again\n"},
    {"drift counts as a turn, once",
     {R(DRIFT, drift, .node = N1, .on = true), R(DRIFT, drift, .node = N1, .on = true)},
     {LKS_RECORD_MASS},
     "- mass pool=train alarm=18446744073709551615\n1 mass pool=train what=n1 count=1\n"},
    {"a change says since when, however often",
     {IS_CONDITION(CHANGING, .on = true, .stack = T("s"), .text = T("step 1")),
      IS_CONDITION(CHANGING, .on = true, .stack = T("t"), .text = T("step 2"))},
     {LKS_RECORD_CONDITION},
     "1 condition node=n1 condition=changing on=1 stack=t text=step 2\n"
     "- condition node=n1 condition=unhealthy text=step 2\n"},
    {"a change that is over",
     {IS_CONDITION(CHANGING, .on = true, .stack = T("s"), .text = T("x")),
      IS_CONDITION(CHANGING, .on = false)},
     {LKS_RECORD_CONDITION},
     ""},
    {"health",
     {IS_CONDITION(UNHEALTHY, .on = true, .text = T("fan"))},
     {LKS_RECORD_CONDITION},
     "- condition node=n1 condition=unhealthy on=1 text=fan\n"},
    {"attested and checked",
     {IS_CONDITION(ATTESTED, .on = true, .until = 7),
      IS_CONDITION(CHECKED, .on = true, .until = 8)},
     {LKS_RECORD_CONDITION},
     "- condition node=n1 condition=attested on=1 until=7\n"
     "- condition node=n1 condition=checked on=1 until=8\n"},
    {"attested no more",
     {IS_CONDITION(ATTESTED, .on = true, .until = 7), IS_CONDITION(ATTESTED, .on = false)},
     {LKS_RECORD_CONDITION},
     ""},
    {"drained",
     {R(DRAINED, drained, .node = N1, .owner = KIM, .reason = T("fan")),
      R(UNDRAINED, undrained, .node = N1, .owner = T("ann"))},
     {LKS_RECORD_DRAINED},
     "- drained node=n1 owner=kim reason=fan\n"},
    {"drained by nobody", {R(DRAINED, drained, .node = N1)}, {LKS_RECORD_DRAINED}, ""},
    {"undrained",
     {R(DRAINED, drained, .node = N1, .owner = KIM),
      R(UNDRAINED, undrained, .node = N1, .owner = KIM)},
     {LKS_RECORD_DRAINED},
     ""},
    {"held since the first time",
     {R(HELD, held, .node = N1, .by = KIM), R(HELD, held, .node = N1, .by = T("ann"))},
     {LKS_RECORD_HELD},
     "1 held node=n1 by=ann\n"},
    {"held again",
     {R(HELD, held, .node = N1), R(UNHELD, unheld, .node = N1), R(HELD, held, .node = N1)},
     {LKS_RECORD_HELD},
     "3 held node=n1\n"},
    {"parts that were others",
     {R(PARTS, parts, .node = N1, .board = T("a")), R(PARTS, parts, .node = N1, .board = T("b"))},
     {LKS_RECORD_PARTS},
     "2 parts node=n1 board=-\n2 parts node=n1 board=b\n"},
    {"parts it was first seen with",
     {R(PARTS, parts, .node = N1, .gpus = T("a"))},
     {LKS_RECORD_PARTS},
     "- parts node=n1 gpus=a\n"},
    {"deviations",
     {DEVIATION_OF(4, .value = T("2"), .owner = KIM, .reason = T("x"), .approver = T("ann"),
                   .expires = 9, .by = T("lee")),
      DEVIATION_OF(5, .expires = 8), R(DEVIATION_ENDED, deviation_ended, .id = 4, .by = KIM),
      R(DEVIATION_ENDED, deviation_ended, .id = 4, .by = T("ann"))},
     {LKS_RECORD_DEVIATION, LKS_RECORD_DEVIATION_ENDED},
     "1 deviation id=4 hosts=n1 subject=driver value=2 owner=kim reason=x approver=ann expires=9 "
     "by=lee\n3 deviation-ended id=4 by=kim\n2 deviation id=5 hosts=n1 subject=driver expires=8\n"},
    {"a deviation that an approver agreed to, once",
     {DEVIATION_OF(4, .expires = 9),
      R(DEVIATION_AGREED, deviation_agreed, .id = 4, .by = T("ann"), .reason = T("x")),
      R(DEVIATION_AGREED, deviation_agreed, .id = 4, .by = T("lee")),
      R(DEVIATION_AGREED, deviation_agreed, .id = 5, .by = T("lee"))},
     {LKS_RECORD_DEVIATION, LKS_RECORD_DEVIATION_AGREED},
     "1 deviation id=4 hosts=n1 subject=driver expires=9\n2 deviation-agreed id=4 by=ann "
     "reason=x\n"},
    {"a deviation with a number that was used",
     {DEVIATION_OF(4, .expires = 9), DEVIATION_OF(4, .expires = 8), DEVIATION_OF(3, .expires = 8)},
     {LKS_RECORD_DEVIATION},
     "1 deviation id=4 hosts=n1 subject=driver expires=9\n"},
    {"a stack on its way",
     {R(PUBLISHED, published, .digest = T("s"), .name = T("h200"), .manifest = T("m"), .by = KIM),
      R(STEPPED, stepped, .digest = T("s"), .step = LKS_STEP_LAB, .evidence = T("run 7"),
        .by = KIM),
      R(STEPPED, stepped, .digest = T("s"), .step = LKS_STEP_CANARY, .evidence = T("run 8"))},
     {LKS_RECORD_PUBLISHED, LKS_RECORD_STEPPED},
     "1 published digest=s name=h200 manifest=m by=kim\n"
     "3 stepped digest=s step=lab evidence=run 7 by=kim\n"
     "3 stepped digest=s step=canary evidence=run 8\n"},
    {"a stack that is published again stays where it is",
     {R(PUBLISHED, published, .digest = T("s"), .name = T("h200")),
      R(STEPPED, stepped, .digest = T("s"), .step = LKS_STEP_RELEASED),
      R(PUBLISHED, published, .digest = T("s"), .name = T("h200"), .envelope = T("e"))},
     {LKS_RECORD_PUBLISHED, LKS_RECORD_STEPPED},
     "3 published digest=s name=h200 envelope=e\n2 stepped digest=s step=released\n"},
    {"a step of a stack that is not there",
     {R(STEPPED, stepped, .digest = T("s"), .step = LKS_STEP_LAB)},
     {LKS_RECORD_PUBLISHED, LKS_RECORD_STEPPED},
     ""},
    {"images, sorted",
     {R(IMAGE, image, .ref = T("b"), .nccl = T("1")), R(IMAGE, image, .ref = T("a")),
      R(IMAGE, image, .ref = T("b"), .nccl = T("2"), .digest = T("d"), .rccl = T("r"),
        .cudnn = T("n"), .cuda = T("c"), .source = T("sbom"), .by = KIM)},
     {LKS_RECORD_IMAGE},
     "2 image ref=a\n3 image ref=b digest=d nccl=2 rccl=r cudnn=n cuda=c source=sbom by=kim\n"},
    {"an image that is gone",
     {R(IMAGE, image, .ref = T("a")), R(IMAGE, image, .ref = T("b")),
      R(IMAGE_GONE, image_gone, .ref = T("a"))},
     {LKS_RECORD_IMAGE},
     "2 image ref=b\n"},
    {"artifacts, sorted",
     {R(ARTIFACT, artifact, .digest = T("b"), .name = T("f"), .size = 7, .by = KIM),
      R(ARTIFACT, artifact, .digest = T("a")), R(ARTIFACT, artifact, .digest = T("c")),
      R(ARTIFACT_GONE, artifact_gone, .digest = T("c"))},
     {LKS_RECORD_ARTIFACT},
     "2 artifact digest=a\n1 artifact digest=b name=f size=7 by=kim\n"},
    {"jobs are counted",
     {R(JOB, job, .job = T("j")), R(JOB, job, .job = T("k"))},
     {LKS_RECORD_JOB, LKS_RECORD_OBSERVED},
     "- observed bar=unknown asked=2\n"},
    {"overrides",
     {R(OVERRIDE, override, .job = T("j"), .hosts = N1, .reason = T("x"), .by = KIM, .until = 9)},
     {LKS_RECORD_OVERRIDE},
     "- override job=j hosts=n1 reason=x by=kim until=9\n"},
    {"what was observed on one day",
     {R(OBSERVED, observed, .pool = T("train"), .bar = LKS_BAR_DRIFT, .asked = 5, .refused = 2),
      R(OBSERVED, observed, .pool = T("train"), .bar = LKS_BAR_DRIFT, .asked = 1, .refused = 1),
      R(OBSERVED, observed, .pool = T("train"), .bar = LKS_BAR_HELD, .refused = 1),
      R(OBSERVED, observed, .pool = T("no"), .bar = LKS_BAR_HELD, .refused = 1)},
     {LKS_RECORD_OBSERVED},
     "0 observed pool=train bar=unknown asked=6\n0 observed pool=train bar=drift refused=3\n"
     "0 observed pool=train bar=held refused=1\n"},
    {"who leads",
     {R(LED, led, .epoch = 1, .name = T("a")),
      R(LED, led, .epoch = 2, .name = T("b"), .url = T("u"))},
     {LKS_RECORD_LED},
     "- led epoch=2 name=b url=u\n"},
    {"keys, sorted",
     {R(KEY_PINNED, key_pinned, .name = T("b"), .key = T("k")),
      R(KEY_PINNED, key_pinned, .name = T("a"), .key = T("k"), .by = KIM, .reason = T("x")),
      R(KEY_PINNED, key_pinned, .name = T("b"), .key = T("l")),
      R(KEY_PINNED, key_pinned, .name = T("c")), R(KEY_GONE, key_gone, .name = T("c"))},
     {LKS_RECORD_KEY_PINNED},
     "2 key-pinned name=a key=k by=kim reason=x\n3 key-pinned name=b key=l\n"},
    {"a bundle that is revoked",
     {R(BUNDLE, bundle, .digest = T("d"), .name = T("n"), .version = T("1"), .manifest = T("m"),
        .signer = T("s"), .key = T("k"), .artifacts = T("x y"), .site = true, .by = KIM),
      R(BUNDLE_REVOKED, bundle_revoked, .digest = T("d"), .by = KIM, .reason = T("r")),
      R(BUNDLE_REVOKED, bundle_revoked, .digest = T("d"), .by = T("ann"))},
     {LKS_RECORD_BUNDLE, LKS_RECORD_BUNDLE_REVOKED},
     "1 bundle digest=d name=n version=1 manifest=m signer=s key=k artifacts=x y site=1 by=kim\n"
     "2 bundle-revoked digest=d by=kim reason=r\n"},
    {"a bundle that is found good again",
     {R(BUNDLE, bundle, .digest = T("d")), R(BUNDLE, bundle, .digest = T("d"), .name = T("n"))},
     {LKS_RECORD_BUNDLE, LKS_RECORD_BUNDLE_REVOKED},
     "2 bundle digest=d name=n\n"},
    {"one that was revoked is so for good",
     {R(BUNDLE, bundle, .digest = T("d")),
      R(BUNDLE_REVOKED, bundle_revoked, .digest = T("d"), .by = KIM, .reason = T("r")),
      R(BUNDLE, bundle, .digest = T("d"), .name = T("n"))},
     {LKS_RECORD_BUNDLE, LKS_RECORD_BUNDLE_REVOKED},
     "3 bundle digest=d name=n\n2 bundle-revoked digest=d by=kim reason=r\n"},
    {"an endpoint, of the machine that stands there",
     {R(ENDPOINT, endpoint, .node = N1, .fingerprint = T("f")),
      R(ENDPOINT, endpoint, .node = T("w1"), .fingerprint = T("g")),
      R(REPLACED, replaced, .node = N1)},
     {LKS_RECORD_ENDPOINT},
     "- endpoint node=w1 fingerprint=g\n"},
    {"an update on its way",
     {R(FLASH, flash, .id = 3, .node = N1, .act = LKS_BMC_STAGE, .component = T("bmc"),
        .version = T("2"), .bundle = T("b"), .image = T("i"), .size = 4, .image_name = T("f"),
        .apply_time = T("OnReset"), .force = true, .one_way = true, .deadline = 9, .by = KIM,
        .reason = T("x")),
      R(FLASH_SAVED, flash_saved, .id = 3, .saved = T("a"), .phase = T("p"), .percent = 1),
      R(FLASH_SAVED, flash_saved, .id = 3, .saved = T("b"), .phase = T("q"), .percent = 400)},
     {LKS_RECORD_FLASH, LKS_RECORD_FLASH_SAVED},
     "1 flash id=3 node=n1 act=stage component=bmc version=2 bundle=b image=i size=4 image_name=f "
     "apply_time=OnReset force=1 one_way=1 deadline=9 by=kim reason=x\n"
     "1 flash-saved id=3 saved=b phase=q percent=100\n"},
    {"an update that ended, once",
     {R(FLASH, flash, .id = 3, .node = N1),
      R(FLASH_SAVED, flash_saved, .id = 3, .saved = T("a"), .phase = T("p")),
      R(FLASH_ENDED, flash_ended, .id = 3, .outcome = LKS_BMC_DONE, .found = T("2"), .uploads = 1),
      R(FLASH_ENDED, flash_ended, .id = 3, .outcome = LKS_BMC_FAILED),
      R(FLASH_SAVED, flash_saved, .id = 3, .saved = T("b"), .phase = T("q"))},
     {LKS_RECORD_FLASH_SAVED, LKS_RECORD_FLASH_ENDED},
     "1 flash-saved id=3 phase=p\n3 flash-ended id=3 node=n1 outcome=done found=2 uploads=1\n"},
    {"an update nobody can tell of, looked at once",
     {R(FLASH, flash, .id = 3, .node = N1),
      R(FLASH_ENDED, flash_ended, .id = 3, .outcome = LKS_BMC_UNKNOWN, .text = T("x")),
      R(FLASH_RESOLVED, flash_resolved, .id = 3, .by = KIM, .reason = T("r")),
      R(FLASH_RESOLVED, flash_resolved, .id = 3, .by = T("ann"))},
     {LKS_RECORD_FLASH_ENDED, LKS_RECORD_FLASH_RESOLVED},
     "2 flash-ended id=3 node=n1 outcome=unknown text=x\n"
     "3 flash-resolved id=3 node=n1 by=kim reason=r\n"},
    {"an update that is over needs nobody",
     {R(FLASH, flash, .id = 3, .node = N1), R(FLASH, flash, .id = 2, .node = N1),
      R(FLASH_ENDED, flash_ended, .id = 3, .outcome = LKS_BMC_OPEN),
      R(FLASH_ENDED, flash_ended, .id = 3, .outcome = LKS_BMC_FAILED),
      R(FLASH_RESOLVED, flash_resolved, .id = 3)},
     {LKS_RECORD_FLASH_ENDED, LKS_RECORD_FLASH_RESOLVED},
     "4 flash-ended id=3 node=n1 outcome=failed\n"},
    {"a certificate of a machine that was replaced",
     {R(BARRED, barred, .node = N1, .fingerprint = T(FINGERPRINT), .expires = 9),
      R(BARRED, barred, .node = T("n999"), .fingerprint = T(FINGERPRINT), .expires = 9)},
     {LKS_RECORD_BARRED},
     "- barred node=n1 fingerprint=" FINGERPRINT " expires=9\n"
     "- barred node=n999 fingerprint=" FINGERPRINT " expires=9\n"},
    {"replaced: what is said of the machine is over, what is said of the place stays",
     {R(DRIFT, drift, .node = N1, .on = true), R(DRAINED, drained, .node = N1, .owner = KIM),
      IS_CONDITION(UNHEALTHY, .on = true, .text = T("fan")),
      R(OUTBAND, outband, .node = N1, .basis = T("o"), .whole = T("o")),
      R(REPLACED, replaced, .node = N1)},
     {LKS_RECORD_DRIFT, LKS_RECORD_DRAINED, LKS_RECORD_CONDITION},
     "- drained node=n1 owner=kim\n"},
    {"removed: nothing stays",
     {R(DRAINED, drained, .node = N1, .owner = KIM),
      IS_CONDITION(CHANGING, .on = true, .stack = T("s"), .text = T("x")),
      R(OUTBAND, outband, .node = N1, .basis = T("o"), .whole = T("o")),
      R(REMOVED, removed, .hosts = N1), R(PLACED, placed, .hosts = N1)},
     {LKS_RECORD_DRAINED, LKS_RECORD_CONDITION, LKS_RECORD_OUTBAND},
     ""},
};

struct telling {
    const struct lks_state *s;
    const enum lks_record_kind *kinds;
    struct lks_buf *out;
};

static enum lks_code tell(void *ctx, lks_ms time, const struct lks_record *r, struct lks_err *err)
{
    const struct telling *t = ctx;
    (void)err;
    for (size_t i = 0; i < LKS_COUNT(rows[0].kinds); i++) {
        if (t->kinds[i] != r->kind)
            continue;
        if (time == t->s->clock)
            lks_buf_addf(t->out, "- ");
        else
            lks_buf_addf(t->out, "%u ", (unsigned)(time / LKS_SECOND));
        lks_asked_tell(r, t->out);
    }
    return LKS_OK;
}

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
        struct telling t = {&s, rows[i].kinds, &text};
        LKS_CLEANUP(lks_state_fini) struct lks_state anew = {0};
        CHECK_CODE(lks_dump_state(&s, tell, &t, &err), LKS_OK);
        CHECK_STR(text.len > 0 ? lks_buf_view(&text) : LKS_STR(""), rows[i].told);
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

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"apply: what each record leaves", test_rows},
        {"apply: days that were observed", test_days},
        {"apply: deviations make room", test_deviation_room},
        {"apply: overrides make room", test_override_room},
        {"apply: updates make room", test_flash_room},
        {0},
    });
}
