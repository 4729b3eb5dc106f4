/* The real daemon after its machine's clock was ahead and is right again: the journal's clock stays
 * ahead, and what people and schedulers read goes by the true time. */
#include "base/time.h"
#include "drivers/store/sqlite.h"
#include "server/auth/authz.h"
#include "server/base/secrets.h"
#include "tests/crew.h"
#include "tests/journals.h"
#include "tests/test.h"
#include "tests/wire.h"
#include "trust/dsse.h"

#include <stdio.h>
#include <time.h>

enum { AHEAD_S = 7200, LATER_S = 14400, VALID_S = 60 };

static const char fleet[] = "lockstep: 1\nkind: Fleet\nname: here\n"
                            "pools: {train: {posture: pre-training}}\n"
                            "nodes: [{hosts: gpu1, pool: train, class: hgx-h200-8}]\n";

/* As if the clock had been two hours ahead for a moment: the journal has a row of then, which
 * lockstepd signed as it signs every one. */
static bool put_ahead(struct crew *crew)
{
    LKS_CLEANUP(lks_secrets_fini) struct lks_secrets secrets = {0};
    const struct lks_record then = {
        .kind = LKS_RECORD_STARTED,
        .started = {.version = LKS_STR("1"), .host = LKS_STR("ahead")},
    };
    struct lks_store store = {0};
    struct lks_err err = {0};
    char path[128];
    snprintf(path, sizeof(path), "%s/journal.db", crew->c.data);
    CHECK_INT(ctl_stop(&crew->c), 0);
    if (!CHECK_CODE(lks_store_sqlite_open(path, LKS_STORE_OWN, &store, &err), LKS_OK))
        return false;
    CHECK_CODE(lks_secrets_load(crew->c.data, "file:seal.key", &secrets, &err), LKS_OK);
    lks_test_append_record(&store, ((lks_ms)time(NULL) + AHEAD_S) * LKS_SECOND, &then, NULL,
                           &secrets.journal);
    store.ops->close(store.self);
    return CHECK(ctl_start(&crew->c)) && crew_again(crew);
}

/* A yes that is good for no longer than it should be by the true clock. */
static void check_yes(struct lks_str json)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    lks_ms asked = 0, until = 0, now = ((lks_ms)time(NULL) + 1) * LKS_SECOND;
    if (!CHECK_CODE(lks_docs_init(&docs, "answer", &err), LKS_OK) ||
        !CHECK_CODE(lks_json_parse(json, &docs, &err), LKS_OK))
        return;
    CHECK_HAS(json, "\"admitted\":true");
    CHECK(lks_time_parse(lks_doc_text(docs.first, "asked"), &asked) && asked <= now);
    CHECK(lks_time_parse(lks_doc_text(docs.first, "valid_until"), &until) && until > asked);
    CHECK(until <= now + (lks_ms)VALID_S * LKS_SECOND);
}

static void check_socket(const struct crew *crew)
{
    uv_loop_t loop;
    struct lks_wire wire = {0};
    char path[128];
    snprintf(path, sizeof(path), "%s/admit.sock", crew->c.data);
    CHECK_INT(uv_loop_init(&loop), 0);
    lks_wire_unix(&wire, &loop, path);
    CHECK(lks_wire_send(&wire, LKS_STR("{\"job\":\"x\",\"nodes\":\"gpu1\"}\n")));
    CHECK(lks_wire_until(&wire, "}\n"));
    check_yes(lks_str_trim(lks_buf_view(&wire.got)));
    lks_wire_close(&wire);
    CHECK_INT(uv_loop_close(&loop), 0);
}

static void test_admission(void)
{
    struct crew crew;
    if (crew_begin(&crew, "") && crew_fleet(&crew, fleet) && put_ahead(&crew)) {
        LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf payload = LKS_BUF(LKS_DSSE_MAX);
        struct lks_public_key key = ctl_key(&crew.c);
        struct lks_err err = {0};
        crew_fine(crew.root, "admit", "/v1/admit",
                  "{\"job\":\"x\",\"nodes\":\"gpu1\",\"signed\":true}", &t);
        check_yes(lks_buf_view(&t.answer.body));
        CHECK_CODE(
            lks_dsse_open(crew_text(&t, "envelope"), &key, 1, LKS_ADMISSION_TYPE, &payload, &err),
            LKS_OK);
        check_yes(lks_buf_view(&payload));
        check_socket(&crew);
    }
    crew_end(&crew);
}

#define OVERRIDE "{\"job\":\"n\",\"nodes\":\"gpu1\",\"reason\":\"r\",\"until\":"
#define DEVIATE                                                                                    \
    "{\"nodes\":\"gpu1\",\"subject\":\"*\",\"owner\":\"o\",\"reason\":\"r\",\"expires\":"
#define ATTEST "{\"condition\":\"attested\",\"on\":true,\"text\":\"a\",\"until\":"

static const struct {
    const char *name, *id, *path, *body; /* up to the time */
    int64_t seconds;                     /* from now, by the true clock */
    const char *says;
} ends[] = {
    {"an override", "override", "/v1/overrides", OVERRIDE, 3600, "until: the journal's clock says"},
    {"and by how much it is ahead", "override", "/v1/overrides", OVERRIDE, 3600, "ahead by 7"},
    {"a deviation", "deviate", "/v1/deviations", DEVIATE, 3600, "expires: the journal's clock"},
    {"an attestation", "nodeCondition", "/v1/nodes/gpu1/condition", ATTEST, 3600,
     "until: the journal's clock says"},
    {"what is over by any clock", "override", "/v1/overrides", OVERRIDE, -60,
     "until: that time has passed"},
    {"a deviation that is", "deviate", "/v1/deviations", DEVIATE, -60,
     "--until (expires in the API): that time has passed"},
    {"what is not over by either", "override", "/v1/overrides", OVERRIDE, LATER_S, NULL},
};

/* The end that a person gives is refused with the clock that it is over by. */
static void test_ends(void)
{
    struct crew crew;
    if (crew_begin(&crew, "") && crew_fleet(&crew, fleet) && put_ahead(&crew)) {
        for (size_t i = 0; i < LKS_COUNT(ends); i++) {
            LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
            char body[256], text[LKS_TIME_TEXT_SIZE];
            lks_test_case("%s", ends[i].name);
            lks_time_text((lks_ms)(time(NULL) + ends[i].seconds) * LKS_SECOND, text);
            snprintf(body, sizeof(body), "%s\"%s\"}", ends[i].body, text);
            if (ends[i].says == NULL)
                crew_fine(crew.root, ends[i].id, ends[i].path, body, &t);
            else
                crew_refused(crew.root, ends[i].id, ends[i].path, body, 400, ends[i].says);
        }
    }
    crew_end(&crew);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"a yes is good by the true clock", test_admission},
        {"ends that people give", test_ends},
        {0},
    };
    return lks_test_main(tests);
}
