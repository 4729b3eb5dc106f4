/*
 * The cases that OCP's compliance tool puts accelerator boards through, by its own numbers, and the
 * second update while one runs. In each the versions afterwards are right, and whoever reads the
 * reason knows what it was.
 */
#include "tests/bmcs.h"
#include "tests/facts.h"
#include "tests/test.h"

#include <stdlib.h>
#include <zlib.h>

#define BOARD LKS_BMCSIM_HGX
#define N     "1.1.0"
#define SPEED 200

/* One thing that is done, and what is to be seen then. */
struct step {
    const char *component;
    const char *version;
    enum lks_bmc_outcome outcome;
    const char *says; /* a piece of the reason */
    const char *runs; /* what its devices run afterwards */
    enum lks_bmc_act act;
    bool force;
};

static void run_step(struct lks_bmcs *m, const struct step *step, struct lks_bmc_intent *intent)
{
    struct lks_bmcs_result result;
    intent->act = step->act;
    intent->component = lks_str_from(step->component);
    intent->version = lks_str_from(step->version);
    intent->force = step->force;
    intent->one_way = true;
    intent->deadline = m->now + 6 * LKS_BMCS_HOUR;
    lks_buf_truncate(&m->saved, 0);
    lks_bmcs_update(m, BOARD, intent, &result);
    CHECK_INT(result.end, LKS_BMCS_DONE);
    CHECK_STR(lks_str_from(lks_bmc_outcome_words[result.status.outcome]),
              lks_bmc_outcome_words[step->outcome]);
    CHECK_HAS(result.status.text, step->says);
    free(result.value);
}

/* The devices of a class, or the one device of that id, run `version`; nothing is broken. */
static void check_runs(const struct lks_bmcs *m, const char *component, const char *version)
{
    unsigned seen = 0;
    for (size_t i = 0; i < lks_bmcsim_device_count(m->sim); i++) {
        struct lks_bmcsim_device d;
        lks_bmcsim_device(m->sim, i, &d);
        CHECK(!d.bricked);
        if (!lks_str_is(d.class, component) && !lks_str_is(d.id, component))
            continue;
        CHECK_STR(d.active, version);
        seen++;
    }
    CHECK(seen > 0);
}

static void bring(struct lks_bmcs *m, const char *class, const char *version,
                  struct lks_bmc_intent *intent)
{
    struct lks_err err = {0};
    lks_bmcs_package(m, BOARD, class != NULL ? class : "vbios", version, intent);
    if (class != NULL)
        return;
    lks_buf_truncate(&m->image, 0); /* the whole bundle */
    CHECK_CODE(lks_bmcsim_image_package(BOARD, NULL, version, 7, 600, &m->image, &err), LKS_OK);
    intent->image.length = intent->image_size = m->image.len;
    CHECK_CODE(lks_digest_text(lks_buf_view(&m->image), intent->image.digest, &err), LKS_OK);
}

static void run_good(struct lks_bmcs *m, const char *class, const char *component,
                     const char *version, bool force)
{
    struct lks_bmc_intent intent;
    const struct step step = {.component = component,
                              .version = version,
                              .outcome = LKS_BMC_DONE,
                              .says = "3 times in a row",
                              .force = force};
    bring(m, class, version, &intent);
    run_step(m, &step, &intent);
    check_runs(m, component, version);
}

static const char *const classes[] = {"bmc", "cpld", "erot", "vbios"};

/* F0, F1, F88: the whole bundle, and back, and forth again. */
static void test_bundle(void)
{
    static const char *const versions[] = {N, "1.0.0", N};
    LKS_CLEANUP(lks_bmcs_fini) struct lks_bmcs m = {0};
    lks_bmcs_init(&m, BOARD, 1, SPEED);
    for (size_t v = 0; v < LKS_COUNT(versions); v++) {
        for (size_t i = 0; i < LKS_COUNT(classes); i++) {
            lks_test_case("F0 F1 F88: %s to %s", classes[i], versions[v]);
            run_good(&m, NULL, classes[i], versions[v], v == 1);
        }
    }
}

/* F4: each device alone; the others stay as they are. */
static void test_alone(void)
{
    static const char *const ids[] = {"HGX_FW_GPU_SXM_1",     "HGX_FW_GPU_SXM_8",
                                      "HGX_FW_ERoT_BMC_0",    "HGX_FW_FPGA_0",
                                      "HGX_FW_PCIeRetimer_7", "FW_CPLD_0"};
    for (size_t i = 0; i < LKS_COUNT(ids); i++) {
        LKS_CLEANUP(lks_bmcs_fini) struct lks_bmcs m = {0};
        unsigned changed = 0;
        lks_test_case("F4: %s", ids[i]);
        lks_bmcs_init(&m, BOARD, 1, SPEED);
        run_good(&m, NULL, ids[i], N, false);
        for (size_t k = 0; k < lks_bmcsim_device_count(m.sim); k++) {
            struct lks_bmcsim_device d;
            lks_bmcsim_device(m.sim, k, &d);
            changed += lks_str_is(d.active, N);
        }
        CHECK_INT(changed, 1);
    }
}

/* F8, F89: one component to and fro, again and again. */
static void test_loop(void)
{
    LKS_CLEANUP(lks_bmcs_fini) struct lks_bmcs m = {0};
    lks_bmcs_init(&m, BOARD, 1, SPEED);
    for (unsigned i = 0; i < 4; i++) {
        lks_test_case("F8 F89: round %u", i);
        run_good(&m, "fpga", "fpga", i % 2 == 0 ? N : "1.0.0", i % 2 == 1);
    }
}

/* F16: the same image twice is flashed once. F19: an older one is meant, or is not taken. */
static void test_versions(void)
{
    LKS_CLEANUP(lks_bmcs_fini) struct lks_bmcs m = {0};
    struct lks_bmc_intent intent;
    const struct step again = {
        .component = "vbios", .version = N, .outcome = LKS_BMC_SAME, .says = "runs 1.1.0 already"};
    const struct step older = {.component = "vbios",
                               .version = "1.0.0",
                               .outcome = LKS_BMC_REFUSED,
                               .says = "older than 1.1.0"};
    lks_test_case("F16");
    lks_bmcs_init(&m, BOARD, 1, SPEED);
    run_good(&m, "vbios", "vbios", N, false);
    bring(&m, "vbios", N, &intent);
    run_step(&m, &again, &intent);
    CHECK_INT(lks_bmcs_truth(&m, "vbios", N).most_flashes, 1);
    lks_test_case("F19");
    bring(&m, "vbios", "1.0.0", &intent);
    run_step(&m, &older, &intent);
    check_runs(&m, "vbios", N);
    run_good(&m, "vbios", "vbios", "1.0.0", true);
}

/* F63, F64: staging and activation within the time that is allowed for. */
static void test_times(void)
{
    LKS_CLEANUP(lks_bmcs_fini) struct lks_bmcs m = {0};
    struct lks_bmc_intent intent;
    const struct lks_firmware_update *row = lks_facts_firmware(lks_test_facts(), LKS_STR("vbios"));
    const struct step stage = {.component = "vbios",
                               .version = N,
                               .outcome = LKS_BMC_STAGED,
                               .says = "waits for its activation",
                               .act = LKS_BMC_STAGE};
    const struct step activate = {.component = "vbios",
                                  .version = N,
                                  .outcome = LKS_BMC_DONE,
                                  .says = "3 times in a row",
                                  .act = LKS_BMC_ACTIVATE};
    lks_bmcs_init(&m, BOARD, 1, 1); /* as fast as in the field */
    bring(&m, "vbios", N, &intent);
    lks_ms before = m.now;
    lks_test_case("F63");
    run_step(&m, &stage, &intent);
    check_runs(&m, "vbios", "1.0.0");
    CHECK(m.now - before <= (lks_ms)row->stage_min * 60 * LKS_SECOND);
    lks_test_case("F64");
    before = m.now;
    run_step(&m, &activate, &intent);
    check_runs(&m, "vbios", N);
    CHECK(m.now - before <= (lks_ms)row->activate_min * 60 * LKS_SECOND);
}

/* Images that are not as they should be ------------------------------------------------------ */

static unsigned char *bytes_of(struct lks_bmcs *m)
{
    return (unsigned char *)m->image.ptr;
}

static void fix_checksum(struct lks_bmcs *m)
{
    unsigned char *b = bytes_of(m);
    size_t end = (size_t)b[17] + ((size_t)b[18] << 8) - 4;
    uint32_t crc = (uint32_t)crc32(0, b, (uInt)end);
    for (unsigned i = 0; i < 4; i++)
        b[end + i] = (unsigned char)(crc >> (8 * i));
}

static unsigned char *find(struct lks_bmcs *m, unsigned char *from, struct lks_str what)
{
    unsigned char *b = bytes_of(m);
    size_t skip = from != NULL ? (size_t)(from - b) : 0;
    ptrdiff_t at = lks_str_find((struct lks_str){m->image.ptr + skip, m->image.len - skip}, what);
    LKS_ASSERT(at >= 0);
    return b + skip + at;
}

static void one_unsigned(struct lks_bmcs *m)
{
    unsigned char *seal = find(m, find(m, NULL, LKS_STR("LKSIMAGE")), LKS_STR("sha256:"));
    memset(seal, 0, 71);
}
static void none_signed(struct lks_bmcs *m)
{
    unsigned char *image = find(m, NULL, LKS_STR("LKSIMAGE"));
    memset(image, 0, 200);
}
static void bad_signature(struct lks_bmcs *m)
{
    unsigned char *seal = find(m, find(m, NULL, LKS_STR("LKSIMAGE")), LKS_STR("sha256:"));
    seal[9] = seal[9] == 'a' ? 'b' : 'a';
}
static void corrupt(struct lks_bmcs *m)
{
    bytes_of(m)[m->image.len - 10] ^= 0xff;
}
static void no_metadata(struct lks_bmcs *m)
{
    unsigned char *b = bytes_of(m);
    size_t end = (size_t)b[17] + ((size_t)b[18] << 8) - 4;
    memset(b + 36, 0, end - 36);
    fix_checksum(m);
}
static void wrong_package(struct lks_bmcs *m)
{
    bytes_of(m)[0] ^= 0xff;
    fix_checksum(m);
}
static void wrong_device(struct lks_bmcs *m)
{
    unsigned char *uuid = find(m, NULL, (struct lks_str){"\x02\x00\x10\x00", 4});
    uuid[4] ^= 0xff;
    fix_checksum(m);
}
static void nothing_wrong(struct lks_bmcs *m)
{
    (void)m;
}

static const struct negative {
    const char *id;
    const char *component;
    void (*spoil)(struct lks_bmcs *m);
    uint64_t size; /* 0: its own */
    enum lks_bmc_outcome outcome;
    const char *says;
} negatives[] = {
    {"F18 unsigned component", "vbios", one_unsigned, 0, LKS_BMC_FAILED, "8 entries say 1.1.0"},
    {"F90 unsigned bundle", "vbios", none_signed, 0, LKS_BMC_FAILED, "the others 1.0.0"},
    {"F22 bad signature", "vbios", bad_signature, 0, LKS_BMC_FAILED, "the others 1.0.0"},
    {"F23 corrupt component", "vbios", corrupt, 0, LKS_BMC_FAILED, "the others 1.0.0"},
    {"F25 too large", "vbios", nothing_wrong, UINT64_C(300) << 20, LKS_BMC_REFUSED,
     "the service takes 209715200 (MaxImageSizeBytes)"},
    {"F26 empty metadata", "vbios", no_metadata, 0, LKS_BMC_FAILED, "the others 1.0.0"},
    {"F27 wrong package UUID", "vbios", wrong_package, 0, LKS_BMC_FAILED, "the others 1.0.0"},
    {"F28 wrong device UUID", "vbios", wrong_device, 0, LKS_BMC_FAILED, "the others 1.0.0"},
    {"F32 a target that is not allowed", "HGX_InfoROM_GPU_SXM_1", nothing_wrong, 0, LKS_BMC_REFUSED,
     "HGX_InfoROM_GPU_SXM_1 is not updateable"},
};

static void test_negatives(void)
{
    for (size_t i = 0; i < LKS_COUNT(negatives); i++) {
        const struct negative *row = &negatives[i];
        LKS_CLEANUP(lks_bmcs_fini) struct lks_bmcs m = {0};
        struct lks_bmc_intent intent;
        struct lks_err err = {0};
        const struct step step = {
            .component = row->component, .version = N, .outcome = row->outcome, .says = row->says};
        lks_test_case("%s", row->id);
        lks_bmcs_init(&m, BOARD, 1, SPEED);
        bring(&m, "vbios", N, &intent);
        row->spoil(&m);
        CHECK_CODE(lks_digest_text(lks_buf_view(&m.image), intent.image.digest, &err), LKS_OK);
        if (row->size > 0)
            intent.image_size = row->size;
        run_step(&m, &step, &intent);
        check_runs(&m, "vbios", "1.0.0");
        CHECK_INT(lks_bmcs_truth(&m, "vbios", N).staged, 0);
    }
}

/* F55, F56: one bad component of a bundle does not keep the others from being staged, and what runs
 * after the activation is what was good. F67: nothing is unwell afterwards. */
static void test_partly(void)
{
    LKS_CLEANUP(lks_bmcs_fini) struct lks_bmcs m = {0};
    LKS_CLEANUP(lks_bmc_inventory_fini) struct lks_bmc_inventory inventory = {0};
    struct lks_bmc_intent intent;
    struct lks_bmc_secret secret = lks_bmcs_secret();
    const struct step good = {
        .component = "vbios", .version = N, .outcome = LKS_BMC_DONE, .says = "8 of 8"};
    const struct step bad = {
        .component = "bmc", .version = N, .outcome = LKS_BMC_FAILED, .says = "the others 1.0.0"};
    lks_test_case("F55 F56");
    lks_bmcs_init(&m, BOARD, 1, SPEED);
    bring(&m, NULL, N, &intent);
    bad_signature(&m); /* of the first image in it, the BMC's */
    run_step(&m, &good, &intent);
    run_step(&m, &bad, &intent);
    check_runs(&m, "vbios", N);
    check_runs(&m, "bmc", "1.0.0");
    lks_test_case("F67");
    void *value = calloc(1, lks_bmc_redfish.read->size);
    LKS_ASSERT(value != NULL);
    lks_bmc_inventory_init(&inventory);
    lks_bmc_redfish.read_begin(value, lks_test_facts(), &secret, m.now + LKS_BMCS_HOUR, &inventory);
    CHECK_INT(lks_bmcs_run(&m, lks_bmc_redfish.read, value), LKS_BMCS_DONE);
    for (size_t i = 0; i < inventory.count; i++)
        CHECK(inventory.items[i].health.len == 0 || lks_str_is(inventory.items[i].health, "OK"));
    free(value);
}

/* F24, F62: power is lost while an image is written. The old one runs, and the next try is as good
 * as the first. */
static void test_power(void)
{
    LKS_CLEANUP(lks_bmcs_fini) struct lks_bmcs m = {0};
    struct lks_bmc_intent intent;
    struct lks_bmcs_result result;
    lks_test_case("F24 F62");
    lks_bmcs_init(&m, BOARD, 1, SPEED);
    bring(&m, "vbios", N, &intent);
    lks_bmcsim_fault(m.sim, &(struct lks_bmcsim_fault_set){.fault = LKS_FAULT_POWER_LOSS,
                                                           .at = LKS_STR("staging"),
                                                           .times = 1});
    lks_bmcs_update(&m, BOARD, &intent, &result);
    CHECK(result.status.outcome == LKS_BMC_FAILED || result.status.outcome == LKS_BMC_UNKNOWN);
    CHECK_HAS(result.status.text, "1.0.0");
    free(result.value);
    check_runs(&m, "vbios", "1.0.0");
    lks_buf_truncate(&m.saved, 0);
    run_good(&m, "vbios", "vbios", N, false);
}

/* A second update while one runs is not begun, and the first goes on. */
static void test_second(void)
{
    LKS_CLEANUP(lks_bmcs_fini) struct lks_bmcs m = {0};
    struct lks_bmc_intent intent;
    struct lks_bmcs_result result;
    lks_test_case("UpdateInProgress");
    lks_bmcs_init(&m, BOARD, 1, SPEED);
    bring(&m, "vbios", N, &intent);
    struct lks_bmc_secret secret = lks_bmcs_secret();
    struct lks_err err = {0};
    void *first = calloc(1, lks_bmc_redfish.update->size);
    LKS_ASSERT(first != NULL);
    CHECK_CODE(lks_bmc_redfish.update_begin(first, lks_test_facts(), &secret, &intent, &err),
               LKS_OK);
    m.mishap = LKS_BMCS_KILL_SENT;
    m.at_upload = true;
    CHECK_INT(lks_bmcs_run(&m, lks_bmc_redfish.update, first), LKS_BMCS_KILLED);
    free(first);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf kept = LKS_MOVE(m.saved);
    lks_buf_init(&m.saved, LKS_CONVERSATION_SAVED_MAX);
    m.mishap = LKS_BMCS_NONE;
    const struct step second = {.component = "fpga",
                                .version = N,
                                .outcome = LKS_BMC_REFUSED,
                                .says = "an update is running there already"};
    run_step(&m, &second, &intent);
    lks_buf_truncate(&m.saved, 0);
    lks_buf_add(&m.saved, lks_buf_view(&kept));
    intent.component = LKS_STR("vbios");
    lks_bmcs_update(&m, BOARD, &intent, &result);
    CHECK_INT(result.status.outcome, LKS_BMC_DONE);
    CHECK_INT(lks_bmcs_truth(&m, "vbios", N).most_flashes, 1);
    check_runs(&m, "vbios", N);
    free(result.value);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"the whole bundle, back and forth", test_bundle},
        {"each device alone", test_alone},
        {"again and again", test_loop},
        {"the same and the older image", test_versions},
        {"within the time", test_times},
        {"images that are not as they should be", test_negatives},
        {"one bad component", test_partly},
        {"power is lost", test_power},
        {"a second update while one runs", test_second},
        {0},
    };
    return lks_test_main(tests);
}
