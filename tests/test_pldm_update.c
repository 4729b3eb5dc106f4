#include "lab/pldm/ua_parts.h"
#include "tests/test.h"
#include "tests/updates.h"

enum { STEPS = 200000, SEEDS = 600 };

/* An agent, a device and a line, together. */
struct scene {
    struct lks_test_device d;
    struct lks_test_images images;
    struct lks_test_line line;
    struct lks_ua_options o;
    struct lks_ua *ua;
    struct lks_ua_outcome out;
};

static void scene_init(struct scene *s, size_t count, uint64_t seed)
{
    *s = (struct scene){0};
    lks_test_device_init(&s->d, count);
    lks_test_images_init(&s->images, count, seed);
    s->o = lks_test_images_options(&s->images, count);
    s->line.rng.state = seed;
}

static void scene_begin(struct scene *s)
{
    struct lks_err err = {0};
    if (s->d.fd == NULL)
        lks_test_device_begin(&s->d);
    LKS_ASSERT(lks_ua_new(&s->o, s->line.now, &s->ua, &err) == LKS_OK);
}

static void scene_run(struct scene *s)
{
    scene_begin(s);
    CHECK(lks_test_line_run(&s->line, s->ua, s->d.fd, STEPS));
    lks_ua_outcome(s->ua, &s->out);
}

static void scene_fini(struct scene *s)
{
    lks_ua_free(s->ua);
    lks_test_line_fini(&s->line);
    lks_test_images_fini(&s->images);
    lks_test_device_fini(&s->d);
}

static bool has(const struct scene *s, size_t i, const struct lks_buf *where)
{
    return lks_str_eq(lks_buf_view(where), lks_buf_view(&s->images.bytes[i]));
}

static void test_fair(void)
{
    for (size_t count = 1; count <= LKS_TEST_PARTS; count++) {
        lks_test_case("%zu components", count);
        struct scene s;
        scene_init(&s, count, count);
        scene_run(&s);
        CHECK_STR(lks_str_from(s.out.reason), "");
        CHECK_INT(s.out.end, LKS_UA_DONE);
        CHECK_INT(s.out.percent, 100);
        CHECK_INT(s.d.activations, 1);
        CHECK_INT(s.out.methods, s.d.entries[0].methods);
        for (size_t i = 0; i < count; i++) {
            CHECK(has(&s, i, &s.d.parts[i].active));
            CHECK_INT(s.d.parts[i].applied, 1);
            CHECK_INT(lks_ua_fate(s.ua, i), LKS_UA_APPLIED);
        }
        scene_fini(&s);
    }
}

/* ---- foul weather ---- */

static void save(struct lks_buf *saved, const struct lks_ua *ua)
{
    lks_buf_truncate(saved, 0);
    lks_ua_save(ua, saved);
}

/* Run with an agent that is killed now and then, and comes back with what it saved last; and with a
 * device that loses power. */
static bool run_killed(struct scene *s, struct lks_rng *rng, unsigned kills, unsigned outages)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf saved = LKS_BUF(LKS_UA_SAVED_MAX);
    uint32_t changes = lks_ua_changes(s->ua) - 1;
    struct lks_err err = {0};
    for (unsigned i = 0; i < STEPS; i++) {
        if (lks_ua_changes(s->ua) != changes)
            save(&saved, s->ua);
        changes = lks_ua_changes(s->ua);
        if (kills > 0 && lks_rng_below(rng, 40) == 0) {
            kills--;
            lks_ua_free(s->ua);
            s->ua = NULL;
            s->line.now += lks_rng_below(rng, 20000);
            if (!CHECK_CODE(lks_ua_load(&s->o, s->line.now, lks_buf_view(&saved), &s->ua, &err),
                            LKS_OK))
                return false;
        }
        if (outages > 0 && lks_rng_below(rng, 60) == 0) {
            outages--;
            lks_fd_reset(s->d.fd);
        }
        lks_ua_outcome(s->ua, &s->out);
        if (s->out.end != LKS_UA_RUNNING && s->line.count == 0)
            return true;
        if (!lks_test_line_step(&s->line, s->ua, s->d.fd))
            return s->out.end != LKS_UA_RUNNING;
    }
    return false;
}

static void set_weather(struct scene *s, struct lks_rng *rng)
{
    s->line.lost = (unsigned)lks_rng_below(rng, 30);
    s->line.doubled = (unsigned)lks_rng_below(rng, 30);
    s->line.delayed = (unsigned)lks_rng_below(rng, 30);
    s->line.delay_max = lks_rng_below(rng, 3000);
    s->d.options.max_transfer = (uint32_t)(32 + lks_rng_below(rng, 500));
    s->o.max_transfer = (uint32_t)(32 + lks_rng_below(rng, 500));
    s->d.options.exact_last_piece = lks_rng_percent(rng, 50);
    s->d.verify_takes = lks_rng_percent(rng, 50) ? 0 : lks_rng_below(rng, 90000);
    s->d.apply_takes = lks_rng_percent(rng, 50) ? 0 : lks_rng_below(rng, 90000);
    s->d.activation.takes = lks_rng_below(rng, 9000);
    s->d.options.wants_package_data = lks_rng_percent(rng, 30);
    s->o.package_data = lks_rng_percent(rng, 50) ? LKS_STR("data of the package") : LKS_STR("");
    s->d.options.metadata = lks_rng_percent(rng, 30) ? LKS_STR("of the device") : LKS_STR("");
    s->o.mode = (enum lks_ua_mode)lks_rng_below(rng, 3);
}

/* Whatever is lost: it ends; what it calls done is there, byte for byte; nothing is applied or
 * activated twice, unless the device forgot. */
static void check_end(const struct scene *s, bool outages)
{
    bool staged = s->o.mode == LKS_UA_STAGE;
    for (size_t i = 0; i < s->o.component_count; i++) {
        const struct lks_test_part *p = &s->d.parts[i];
        const struct lks_buf *where = staged ? &p->pending : &p->active;
        /* A device that loses power while it activates has the image pending. */
        if (s->out.end == LKS_UA_DONE)
            CHECK(has(s, i, where) || (outages && has(s, i, &p->pending)));
        if (p->active_version[0] == '2')
            CHECK(has(s, i, &p->active));
        if (!outages)
            CHECK(p->applied <= 1);
    }
    CHECK(s->d.activations <= 1 || outages);
    CHECK(s->out.end != LKS_UA_RUNNING && s->out.percent <= 100);
    CHECK((s->out.end == LKS_UA_DONE) == (s->out.reason[0] == '\0'));
    CHECK(!s->d.out_of_order);
}

static void test_foul(void)
{
    unsigned done = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct lks_rng rng = {seed * 77};
        unsigned kills = (unsigned)lks_rng_below(&rng, 4), outages = seed % 4 == 0;
        size_t count = 1 + lks_rng_below(&rng, LKS_TEST_PARTS);
        struct scene s;
        scene_init(&s, count, seed);
        set_weather(&s, &rng);
        lks_test_case("seed %llu: %u%% lost, %u%% doubled, %u%% late, %u kills, %u outages",
                      (unsigned long long)seed, s.line.lost, s.line.doubled, s.line.delayed, kills,
                      outages);
        scene_begin(&s);
        CHECK(run_killed(&s, &rng, kills, outages));
        check_end(&s, outages > 0);
        done += s.out.end == LKS_UA_DONE;
        scene_fini(&s);
    }
    /* A test in which nothing ever works proves nothing. */
    lks_test_case("how many of %d were done", SEEDS);
    CHECK(done > SEEDS * 8 / 10);
}

/* ---- how an update ends ---- */

struct ending {
    const char *name;
    void (*prepare)(struct scene *s);
    enum lks_ua_end end;
    const char *reason; /* "" for none */
    enum lks_ua_fate fates[2];
    const char *active[2];
};

static void nothing(struct scene *s)
{
    (void)s;
}
static void go_on(struct scene *s)
{
    s->o.continue_after_failure = true;
}
static void first_invalid(struct scene *s)
{
    s->d.parts[0].verify_result = LKS_PLDM_VERIFY_SECURITY;
}
static void first_invalid_go_on(struct scene *s)
{
    first_invalid(s);
    go_on(s);
}
static void second_unwritable(struct scene *s)
{
    s->d.parts[1].apply_result = LKS_PLDM_APPLY_MEMORY;
}
static void second_unwritable_go_on(struct scene *s)
{
    second_unwritable(s);
    go_on(s);
}
static void storage_full(struct scene *s)
{
    s->d.parts[0].write_result = 0x0d;
}
static void not_required(struct scene *s)
{
    s->d.activation.code = LKS_PLDM_CC_ACTIVATION_NOT_REQUIRED;
}
static void no_activation(struct scene *s)
{
    s->d.activation.code = LKS_PLDM_CC_ERROR;
}
static void other_device(struct scene *s)
{
    s->o.descriptors = LKS_STR("\x00\x00\x02\x00\xdd\x10");
}
static void this_device(struct scene *s)
{
    s->o.descriptors = LKS_STR("\x00\x00\x02\x00\xde\x10");
}
static void unreadable(struct scene *s)
{
    s->images.unreadable = true;
}
static void silent(struct scene *s)
{
    s->line.lost = 100;
}
static void same_stamp(struct scene *s)
{
    s->d.options.compare = true;
    s->d.entries[0].active_stamp = 2;
}
static void same_stamp_go_on(struct scene *s)
{
    same_stamp(s);
    go_on(s);
}
static void same_stamp_forced(struct scene *s)
{
    same_stamp(s);
    s->images.components[0].force = s->images.components[1].force = true;
}
static void newer_there(struct scene *s)
{
    s->d.options.compare = true;
    s->d.entries[1].active_stamp = 3;
}
static void same_version(struct scene *s)
{
    s->d.options.compare = true;
    s->d.entries[0].active_stamp = LKS_PLDM_STAMP_NONE;
    s->d.parts[0].active_version[0] = '2';
}
static void no_such_component(struct scene *s)
{
    s->images.components[1].id = 77;
}
static void refuse(struct scene *s, uint16_t command, uint8_t code, unsigned times)
{
    s->line.refuse_command = command;
    s->line.refuse_code = code;
    s->line.refuse_times = times;
}
static void not_ready(struct scene *s)
{
    refuse(s, LKS_PLDM_UPDATE_COMPONENT, LKS_PLDM_CC_NOT_READY, 5);
}
static void never_ready(struct scene *s)
{
    refuse(s, LKS_PLDM_REQUEST_UPDATE, LKS_PLDM_CC_NOT_READY, UINT32_MAX);
}
static void retry_update(struct scene *s)
{
    refuse(s, LKS_PLDM_REQUEST_UPDATE, LKS_PLDM_CC_RETRY_UPDATE, 4);
}
static void retry_for_ever(struct scene *s)
{
    refuse(s, LKS_PLDM_REQUEST_UPDATE, LKS_PLDM_CC_RETRY_UPDATE, UINT32_MAX);
}
static void unable(struct scene *s)
{
    refuse(s, LKS_PLDM_REQUEST_UPDATE, LKS_PLDM_CC_UNABLE_TO_INITIATE, 1);
}
static void busy_table(struct scene *s)
{
    refuse(s, LKS_PLDM_PASS_COMPONENT_TABLE, LKS_PLDM_CC_BUSY, 2);
}

/* clang-format off */
#define BOTH_NEW {LKS_UA_APPLIED, LKS_UA_APPLIED}, {"2", "2"}
#define NONE(first, second) {first, second}, {"1", "1"}
static const struct ending endings[] = {
    {"well", nothing, LKS_UA_DONE, "", BOTH_NEW},
    {"the device is the one it is for", this_device, LKS_UA_DONE, "", BOTH_NEW},
    {"the device is another", other_device, LKS_UA_FAILED, "not one that the package is for",
     NONE(LKS_UA_WAITING, LKS_UA_WAITING)},
    {"the first image is not valid", first_invalid, LKS_UA_FAILED,
     "component 0: its verification failed with 0x03: security checks",
     NONE(LKS_UA_BROKEN, LKS_UA_WAITING)},
    {"the first image is not valid, go on", first_invalid_go_on, LKS_UA_PARTLY, "component 0",
     {LKS_UA_BROKEN, LKS_UA_APPLIED}, {"1", "2"}},
    {"the second cannot be written", second_unwritable, LKS_UA_FAILED,
     "component 1: writing it failed with 0x02", NONE(LKS_UA_APPLIED, LKS_UA_BROKEN)},
    {"the second cannot be written, go on", second_unwritable_go_on, LKS_UA_PARTLY, "component 1",
     {LKS_UA_APPLIED, LKS_UA_BROKEN}, {"2", "1"}},
    {"no room for the image", storage_full, LKS_UA_FAILED, "the image cannot be stored",
     NONE(LKS_UA_BROKEN, LKS_UA_WAITING)},
    {"activation is not needed", not_required, LKS_UA_DONE, "", BOTH_NEW},
    {"activation fails", no_activation, LKS_UA_FAILED, "answered ActivateFirmware with 0x01",
     NONE(LKS_UA_APPLIED, LKS_UA_APPLIED)},
    {"the image cannot be read", unreadable, LKS_UA_FAILED, "cannot be read",
     NONE(LKS_UA_SENDING, LKS_UA_WAITING)},
    {"nobody answers", silent, LKS_UA_FAILED, "does not answer",
     NONE(LKS_UA_WAITING, LKS_UA_WAITING)},
    {"the same stamp", same_stamp, LKS_UA_FAILED, "the comparison stamp is the same",
     NONE(LKS_UA_REFUSED, LKS_UA_WAITING)},
    {"the same stamp, go on", same_stamp_go_on, LKS_UA_PARTLY, "the comparison stamp is the same",
     {LKS_UA_REFUSED, LKS_UA_APPLIED}, {"1", "2"}},
    {"the same stamp, forced", same_stamp_forced, LKS_UA_DONE, "", BOTH_NEW},
    {"the device has a newer one", newer_there, LKS_UA_FAILED, "component 1 is refused",
     NONE(LKS_UA_APPLIED, LKS_UA_REFUSED)},
    {"the same version", same_version, LKS_UA_FAILED, "this very version",
     {LKS_UA_REFUSED, LKS_UA_WAITING}, {"2", "1"}},
    {"no such component", no_such_component, LKS_UA_FAILED, "no such component",
     NONE(LKS_UA_APPLIED, LKS_UA_REFUSED)},
    {"not ready for a while", not_ready, LKS_UA_DONE, "", BOTH_NEW},
    {"never ready", never_ready, LKS_UA_FAILED, "0x04: not ready",
     NONE(LKS_UA_WAITING, LKS_UA_WAITING)},
    {"ask again later", retry_update, LKS_UA_DONE, "", BOTH_NEW},
    {"ask again later, always", retry_for_ever, LKS_UA_FAILED, "0x8e",
     NONE(LKS_UA_WAITING, LKS_UA_WAITING)},
    {"the device is unable", unable, LKS_UA_FAILED, "0x8a: the update cannot be started",
     NONE(LKS_UA_WAITING, LKS_UA_WAITING)},
    {"busy for a while", busy_table, LKS_UA_DONE, "", BOTH_NEW},
};
/* clang-format on */

static void test_endings(void)
{
    for (size_t i = 0; i < LKS_COUNT(endings); i++) {
        const struct ending *row = &endings[i];
        struct scene s;
        lks_test_case("%s", row->name);
        scene_init(&s, 2, i);
        row->prepare(&s);
        scene_run(&s);
        CHECK_INT(s.out.end, row->end);
        if (row->reason[0] == '\0')
            CHECK_STR(lks_str_from(s.out.reason), "");
        else
            CHECK_HAS(lks_str_from(s.out.reason), row->reason);
        for (size_t k = 0; k < 2; k++) {
            CHECK_INT(lks_ua_fate(s.ua, k), row->fates[k]);
            CHECK_STR(lks_str_from(s.d.parts[k].active_version), row->active[k]);
        }
        CHECK_INT(lks_fd_state(s.d.fd), LKS_PLDM_IDLE);
        scene_fini(&s);
    }
}

static void test_patience(void)
{
    struct scene s;
    scene_init(&s, 1, 1);
    retry_update(&s);
    scene_run(&s);
    CHECK_INT(s.out.end, LKS_UA_DONE);
    CHECK(s.line.now >= 20 * LKS_SECOND && s.line.now < 30 * LKS_SECOND);
    scene_fini(&s);
    scene_init(&s, 1, 1);
    not_ready(&s);
    scene_run(&s);
    CHECK(s.line.now >= 1250 && s.line.now < 5 * LKS_SECOND);
    scene_fini(&s);
}

static void test_methods(void)
{
    struct scene s;
    scene_init(&s, 2, 1);
    s.d.parts[1].apply_result = LKS_PLDM_APPLY_OK_OTHER_METHOD;
    scene_run(&s);
    CHECK_INT(s.out.end, LKS_UA_DONE);
    CHECK_INT(s.out.methods, s.d.entries[0].methods | LKS_PLDM_ACTIVATES_BY_AC_CYCLE);
    scene_fini(&s);
    lks_test_case("the device cannot do it by itself");
    scene_init(&s, 2, 1);
    s.o.mode = LKS_UA_SELF_ACTIVATE;
    s.d.entries[1].methods = LKS_PLDM_ACTIVATES_BY_REBOOT;
    scene_run(&s);
    CHECK_INT(s.out.end, LKS_UA_DONE);
    CHECK(!s.out.self_contained && s.out.activated);
    scene_fini(&s);
}

/* Staged now: the device leaves update mode by itself, after a while, and keeps it. Activated
 * before or after that: not sent again. */
static void stage_and_activate(bool wait)
{
    struct scene s;
    lks_test_case("%s", wait ? "long after" : "at once");
    scene_init(&s, 2, 5);
    s.o.mode = LKS_UA_STAGE;
    scene_run(&s);
    CHECK_INT(s.out.end, LKS_UA_DONE);
    CHECK_INT(s.d.activations, 0);
    while (wait && lks_test_line_step(&s.line, NULL, s.d.fd))
        continue;
    CHECK_INT(lks_fd_state(s.d.fd), wait ? LKS_PLDM_IDLE : LKS_PLDM_READY);
    CHECK(has(&s, 0, &s.d.parts[0].pending) && s.d.parts[0].active_version[0] == '1');
    lks_ua_free(s.ua);
    s.o.mode = LKS_UA_ACTIVATE_STAGED;
    scene_run(&s);
    CHECK_INT(s.out.end, LKS_UA_DONE);
    for (size_t i = 0; i < 2; i++) {
        CHECK_INT(s.d.parts[i].begun, 1);
        CHECK(has(&s, i, &s.d.parts[i].active));
    }
    scene_fini(&s);
}

static void test_staged(void)
{
    stage_and_activate(true);
    stage_and_activate(false);
}

/* Run until the device is in a state. */
static void run_to(struct scene *s, enum lks_pldm_state state)
{
    for (unsigned i = 0; i < STEPS && lks_fd_state(s->d.fd) != state; i++) {
        if (!lks_test_line_step(&s->line, s->ua, s->d.fd))
            break;
    }
    CHECK_INT(lks_fd_state(s->d.fd), state);
}

static void slow_device(struct scene *s, size_t count)
{
    scene_init(s, count, 7);
    s->d.verify_takes = s->d.apply_takes = s->d.activation.takes = 30 * LKS_SECOND;
    scene_begin(s);
}

static void test_cancel(void)
{
    static const enum lks_pldm_state states[] = {LKS_PLDM_LEARN, LKS_PLDM_DOWNLOAD, LKS_PLDM_VERIFY,
                                                 LKS_PLDM_APPLY};
    for (size_t i = 0; i < LKS_COUNT(states); i++) {
        lks_test_case("when it is %s", lks_pldm_message_state_text((uint8_t)states[i]));
        struct scene s;
        slow_device(&s, 2);
        run_to(&s, states[i]);
        lks_ua_cancel(s.ua, s.line.now);
        CHECK(lks_test_line_run(&s.line, s.ua, s.d.fd, STEPS));
        lks_ua_outcome(s.ua, &s.out);
        CHECK_INT(s.out.end, LKS_UA_CANCELLED);
        CHECK_INT(lks_fd_state(s.d.fd), LKS_PLDM_IDLE);
        CHECK_STR(lks_str_from(s.d.parts[0].active_version), "1");
        scene_fini(&s);
    }
    lks_test_case("when it activates it is too late");
    struct scene s;
    slow_device(&s, 1);
    run_to(&s, LKS_PLDM_ACTIVATE);
    lks_ua_cancel(s.ua, s.line.now);
    CHECK(lks_test_line_run(&s.line, s.ua, s.d.fd, STEPS));
    lks_ua_outcome(s.ua, &s.out);
    CHECK_INT(s.out.end, LKS_UA_DONE);
    scene_fini(&s);
}

/* Silence from some state on: before anything was sent it failed, afterwards nobody knows. */
static void test_silence(void)
{
    static const struct {
        enum lks_pldm_state state;
        enum lks_ua_end end;
    } rows[] = {
        {LKS_PLDM_LEARN, LKS_UA_FAILED},     {LKS_PLDM_DOWNLOAD, LKS_UA_UNKNOWN},
        {LKS_PLDM_VERIFY, LKS_UA_UNKNOWN},   {LKS_PLDM_APPLY, LKS_UA_UNKNOWN},
        {LKS_PLDM_ACTIVATE, LKS_UA_UNKNOWN},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("when it is %s", lks_pldm_message_state_text((uint8_t)rows[i].state));
        struct scene s;
        slow_device(&s, 1);
        run_to(&s, rows[i].state);
        s.line.lost = 100;
        CHECK(lks_test_line_run(&s.line, s.ua, s.d.fd, STEPS));
        lks_ua_outcome(s.ua, &s.out);
        CHECK_INT(s.out.end, rows[i].end);
        CHECK(s.out.reason[0] != '\0');
        scene_fini(&s);
    }
}

/* An update that somebody else left behind is ended; one that is being activated is waited for. */
static void test_left_behind(void)
{
    for (int state = LKS_PLDM_LEARN; state <= LKS_PLDM_ACTIVATE; state++) {
        lks_test_case("when it was %s", lks_pldm_message_state_text((uint8_t)state));
        struct scene s;
        slow_device(&s, 1);
        run_to(&s, (enum lks_pldm_state)state);
        lks_ua_free(s.ua);
        s.o.first_instance = 20;
        scene_run(&s);
        CHECK_INT(s.out.end, LKS_UA_DONE);
        CHECK(has(&s, 0, &s.d.parts[0].active));
        scene_fini(&s);
    }
}

static void test_progress(void)
{
    struct scene s;
    struct lks_ua_outcome out;
    unsigned last = 0, seen = 0;
    slow_device(&s, 3);
    for (unsigned i = 0; i < STEPS; i++) {
        lks_ua_outcome(s.ua, &out);
        CHECK(out.percent >= last && out.percent <= 100);
        CHECK((out.percent == 100) == (out.end == LKS_UA_DONE));
        seen |= out.percent == 98 ? 1U : 0U;
        seen |= out.percent == 99 ? 2U : 0U;
        seen |= out.percent > 30 && out.percent < 97 ? 4U : 0U;
        last = out.percent;
        if (out.end != LKS_UA_RUNNING || !lks_test_line_step(&s.line, s.ua, s.d.fd))
            break;
    }
    CHECK_INT(last, 100);
    CHECK_INT(seen, 7);
    scene_fini(&s);
}

static void test_package_data(void)
{
    struct scene s;
    char data[900], meta[700];
    memset(data, 'd', sizeof(data));
    memset(meta, 'm', sizeof(meta));
    scene_init(&s, 1, 1);
    s.o.max_transfer = 256;
    s.o.package_data = (struct lks_str){data, sizeof(data)};
    s.d.options.metadata = (struct lks_str){meta, sizeof(meta)};
    s.d.options.wants_package_data = true;
    scene_run(&s);
    CHECK_INT(s.out.end, LKS_UA_DONE);
    CHECK(lks_str_eq(lks_buf_view(&s.d.package_data), s.o.package_data));
    scene_fini(&s);
}

/* ---- restarts ---- */

static void test_bad_save(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf saved = LKS_BUF(LKS_UA_SAVED_MAX);
    struct lks_ua *ua = NULL;
    struct lks_err err = {0};
    struct scene s;
    scene_init(&s, 2, 1);
    scene_begin(&s);
    lks_ua_save(s.ua, &saved);
    for (size_t len = 0; len < saved.len; len++) {
        lks_test_case("%zu of %zu bytes", len, saved.len);
        struct lks_str cut = {saved.ptr, len};
        CHECK_CODE(lks_ua_load(&s.o, 0, cut, &ua, &err), LKS_E_INVALID);
    }
    static const uint8_t steps[] = {LKS_UA_STEP_TABLE, LKS_UA_STEP_APPLY, LKS_UA_STEP_REREAD};
    enum { STEP_AT = 1, COMPONENT_AT = 7 };
    for (size_t i = 0; i < LKS_COUNT(steps); i++) {
        lks_test_case("behind the last component, at step %u", steps[i]);
        saved.ptr[STEP_AT] = (char)steps[i];
        saved.ptr[COMPONENT_AT] = 1;
        ua = NULL;
        CHECK_CODE(lks_ua_load(&s.o, 0, lks_buf_view(&saved), &ua, &err), LKS_OK);
        lks_ua_free(ua);
        ua = NULL;
        saved.ptr[COMPONENT_AT] = 2;
        CHECK_CODE(lks_ua_load(&s.o, 0, lks_buf_view(&saved), &ua, &err), LKS_E_INVALID);
    }
    lks_test_case("for another number of components");
    s.o.component_count = 1;
    CHECK_CODE(lks_ua_load(&s.o, 0, lks_buf_view(&saved), &ua, &err), LKS_E_INVALID);
    CHECK(ua == NULL);
    scene_fini(&s);
}

/* What was saved and then damaged is refused, or leads to an end. */
static void test_damaged_save(void)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf saved = LKS_BUF(LKS_UA_SAVED_MAX);
        struct lks_rng rng = {.state = seed};
        struct lks_err err = {0};
        struct scene s;
        lks_test_case("seed %llu", (unsigned long long)seed);
        scene_init(&s, 1 + seed % LKS_TEST_PARTS, seed);
        scene_begin(&s);
        for (uint64_t n = lks_rng_below(&rng, 200); n > 0; n--)
            (void)lks_test_line_step(&s.line, s.ua, s.d.fd);
        lks_ua_save(s.ua, &saved);
        saved.ptr[lks_rng_below(&rng, saved.len)] = (char)lks_rng_below(&rng, 24);
        lks_ua_free(s.ua);
        s.ua = NULL;
        if (lks_ua_load(&s.o, s.line.now, lks_buf_view(&saved), &s.ua, &err) == LKS_OK)
            CHECK(lks_test_line_run(&s.line, s.ua, s.d.fd, STEPS));
        else
            CHECK_CODE(err.code, LKS_E_INVALID);
        scene_fini(&s);
    }
}

/* Killed in every state of the device, the agent goes on where it was and sends nothing twice. */
static void test_resume(void)
{
    for (int state = LKS_PLDM_LEARN; state <= LKS_PLDM_ACTIVATE; state++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf saved = LKS_BUF(LKS_UA_SAVED_MAX);
        struct lks_err err = {0};
        struct scene s;
        lks_test_case("when it is %s", lks_pldm_message_state_text((uint8_t)state));
        slow_device(&s, 2);
        run_to(&s, (enum lks_pldm_state)state);
        lks_ua_save(s.ua, &saved);
        lks_ua_free(s.ua);
        s.ua = NULL;
        if (CHECK_CODE(lks_ua_load(&s.o, s.line.now, lks_buf_view(&saved), &s.ua, &err), LKS_OK)) {
            CHECK(lks_test_line_run(&s.line, s.ua, s.d.fd, STEPS));
            lks_ua_outcome(s.ua, &s.out);
            CHECK_INT(s.out.end, LKS_UA_DONE);
        }
        for (size_t i = 0; i < 2; i++) {
            CHECK_INT(s.d.parts[i].begun, 1);
            CHECK_INT(s.d.parts[i].applied, 1);
        }
        CHECK_INT(s.d.activations, 1);
        scene_fini(&s);
    }
}

/* Killed when it had heard that a component was applied, and before its answer left: the device
 * says so again, and nothing has to be cancelled or begun anew. */
static void test_unheard(void)
{
    for (size_t which = 0; which < 2; which++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf saved = LKS_BUF(LKS_UA_SAVED_MAX);
        struct lks_err err = {0};
        struct scene s;
        lks_test_case("component %zu", which);
        slow_device(&s, 2);
        for (unsigned i = 0; i < STEPS && lks_ua_fate(s.ua, which) != LKS_UA_APPLIED; i++)
            (void)lks_test_line_step(&s.line, s.ua, s.d.fd);
        lks_ua_save(s.ua, &saved);
        lks_ua_free(s.ua);
        s.ua = NULL;
        CHECK_INT(lks_fd_state(s.d.fd), LKS_PLDM_APPLY);
        if (CHECK_CODE(lks_ua_load(&s.o, s.line.now, lks_buf_view(&saved), &s.ua, &err), LKS_OK))
            CHECK(lks_test_line_run(&s.line, s.ua, s.d.fd, STEPS));
        lks_ua_outcome(s.ua, &s.out);
        CHECK_INT(s.out.end, LKS_UA_DONE);
        CHECK_INT(s.d.cancels, 0);
        CHECK_INT(s.d.parts[0].begun + s.d.parts[1].begun, 2);
        scene_fini(&s);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"an update in fair weather", test_fair},
        {"how an update ends", test_endings},
        {"a device that asks for patience gets it", test_patience},
        {"ways of activation", test_methods},
        {"staged now, activated later", test_staged},
        {"a cancel at any time", test_cancel},
        {"silence", test_silence},
        {"an update that was left behind", test_left_behind},
        {"progress", test_progress},
        {"data of package and device", test_package_data},
        {"what was saved is checked", test_bad_save},
        {"what was saved is damaged", test_damaged_save},
        {"a restart in each state", test_resume},
        {"a restart before the answer left", test_unheard},
        {"an update in foul weather", test_foul},
        {0},
    };
    return lks_test_main(tests);
}
