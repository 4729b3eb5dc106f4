/* Requests that tell the bridge the submission policy. */
#include "bridge/view/request.h"
#include "tests/test.h"

#define POLICY(pools, images) "{\"policy\":{\"pools\":[" pools "],\"images\":[" images "]}}"
#define POOL(nodes, rest)                                                                          \
    "{\"name\":\"p\",\"nodes\":\"" nodes "\",\"enforce\":\"on\",\"closed\":true,\"stale\":600,"    \
    "\"nccl\":\"\",\"unfit\":\"2.1,2.2\",\"stacks\":[" rest "]}"
#define STACK "{\"name\":\"s\",\"digest\":\"sha256:1\",\"slot\":2,\"nodes\":8}"

static const struct {
    const char *name, *epoch, *body;
    enum lks_code code;
    const char *text; /* a part of the error */
    uint32_t images;
} rows[] = {
    {"a policy", "3", POLICY(POOL("g[1-8]", STACK), ""), LKS_OK, "", 0},
    {"a policy of nothing", "3", POLICY("", ""), LKS_OK, "", 0},
    {"a policy without an epoch", NULL, POLICY("", ""), LKS_E_INVALID, "Lockstep-Epoch", 0},
    {"no policy", "3", "{}", LKS_E_INVALID, "policy: {", 0},
    {"a pool twice", "3", POLICY(POOL("g1", "") "," POOL("g2", ""), ""), LKS_E_INVALID,
     "named once", 0},
    {"a slot that there is not", "3",
     POLICY(POOL("g1", "{\"name\":\"s\",\"digest\":\"x\",\"slot\":3,\"nodes\":1}"), ""),
     LKS_E_INVALID, "pools: ", 0},
    {"nodes that cannot be read", "3", POLICY(POOL("g[1-", ""), ""), LKS_E_INVALID, "nodes", 0},
    {"more nodes than there can be", "3", POLICY(POOL("g[1-200001]", ""), ""), LKS_E_INVALID,
     "more than 200000", 0},
    {"a version of a stack that is no word", "3",
     POLICY(POOL("g1", "{\"name\":\"s\",\"version\":\"build 7\",\"digest\":\"x\",\"nodes\":1}"),
            ""),
     LKS_E_INVALID, "pools: pool 'p': version 'build 7' is not printable ASCII without blanks", 0},
    {"images that are no words are left out", "3",
     POLICY("", "{\"ref\":\"a b\",\"nccl\":\"1\"},{\"ref\":\"c\",\"nccl\":\"-\"},"
                "{\"ref\":\"d\",\"nccl\":\"\"},{\"ref\":\"\xc3\xa4\",\"nccl\":\"1\"},"
                "{\"ref\":\"e\",\"nccl\":\"1\"}"),
     LKS_OK, "", 1},
    {"an image without a version", "3", POLICY("", "{\"ref\":\"a\"}"), LKS_E_INVALID,
     "images: ", 0},
};

static void test_requests(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_bridge_request_fini) struct lks_bridge_request r = {0};
        struct lks_err err = {0};
        const struct lks_bridge_raw raw = {.method = "PUT",
                                           .path = "/v1/policy",
                                           .epoch = rows[i].epoch,
                                           .epochs = rows[i].epoch != NULL,
                                           .body = lks_str_from(rows[i].body)};
        lks_test_case("%s", rows[i].name);
        CHECK_CODE(lks_bridge_request_read(&raw, &r, &err), rows[i].code);
        CHECK_HAS(lks_str_from(err.msg), rows[i].text);
        if (rows[i].code == LKS_OK)
            CHECK(r.verb == LKS_BRIDGE_POLICY && r.policy.policy.image_count == rows[i].images);
    }
}

static const struct lks_test tests[] = {
    {"the submission policy: requests", test_requests},
    {0},
};

int main(void)
{
    return lks_test_main(tests);
}
