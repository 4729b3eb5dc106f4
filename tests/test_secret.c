#include "base/secret.h"

#include "tests/test.h"

static const struct {
    const char *key;
    bool secret;
} keys[] = {
    {"password", true},
    {"PASSWORD", true},
    {"passwd", true},
    {"bmc_password", true},
    {"Administrator Password", true},
    {"userPasswordHash", true},
    {"passphrase", true},
    {"SSH_PASSPHRASE", true},
    {"bmc_pass", true},
    {"BMC_PASS", true},
    {"pass", true},
    {"Pass", true},
    {"pw", true},
    {"pwd", true},
    {"root-pwd", true},
    {"token", true},
    {"HF_TOKEN", true},
    {"accessTokenFile", true},
    {"secret", true},
    {"AWS_SECRET_ACCESS_KEY", true},
    {"client-secret", true},
    {"apikey", true},
    {"WANDB_API_KEY", true},
    {"x-api-key", true},
    {"private_key", true},
    {"TLS_PRIVATE_KEY", true},
    {"credential", true},
    {"credentials", true},

    {"", false},
    {"p", false},
    {"passthrough", false},
    {"iommu.passthrough", false},
    {"bypass", false},
    {"passes", false},
    {"pwm", false},
    {"spw", false},
    {"key", false},
    {"public_key", false},
    {"toke", false},
    {"okens", false},
    {"NCCL_IB_HCA", false},
    {"SR-IOV Support", false},
    {"ADVANCED_PCI_SETTINGS", false},
    {"NumaPerSocket", false},
};

static void test_keys(void)
{
    for (size_t i = 0; i < LKS_COUNT(keys); i++) {
        lks_test_case("%s", keys[i].key);
        CHECK(lks_secret_key(lks_str_from(keys[i].key)) == keys[i].secret);
    }
    lks_test_case("no bytes at all");
    CHECK(!lks_secret_key((struct lks_str){0}));
}

/* Only what the view holds is looked at. */
static void test_views(void)
{
    static const char text[] = "password";
    for (size_t len = 0; len < sizeof(text); len++) {
        lks_test_case("%zu bytes", len);
        bool secret = len >= 4; /* pass, passw ... */
        CHECK(lks_secret_key((struct lks_str){text, len}) == secret);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"secret: keys", test_keys},
        {"secret: views", test_views},
        {0},
    });
}
