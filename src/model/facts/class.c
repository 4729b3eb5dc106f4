#include "model/facts/class.h"

#include "model/schema/tables.h"

static const struct lks_field gpu_fields[] = {
    {"product", LKS_OF(TEXT), LKS_REQUIRED, NULL, "board or family, as lockstep compat knows it"},
    {"count", LKS_NUMBERS(1, 64), LKS_REQUIRED, NULL, "GPUs in one node"},
    {"nvlinks_up", LKS_NUMBERS(0, 64), 0, NULL, "NVLinks that must be up on each GPU"},
};
static const struct lks_form gpu_form = {
    .name = "gpu", .about = "the GPUs of a node", LKS_FIELDS(gpu_fields)};

static const struct lks_field nic_fields[] = {
    {"count", LKS_NUMBERS(0, 64), LKS_REQUIRED, NULL, "network adapters of the job's fabric"},
    {"gbps", LKS_NUMBERS(1, 6400), LKS_REQUIRED, NULL, "link rate each must have, in Gb/s"},
};
static const struct lks_form nic_form = {
    .name = "nics", .about = "the adapters of the fabric jobs use", LKS_FIELDS(nic_fields)};

static const struct lks_field class_fields[] = {
    LKS_ENVELOPE("HardwareClass"),
    {"vendor", LKS_VENDORS, LKS_REQUIRED, NULL, "whose GPUs"},
    {"gpu", LKS_FORM(gpu_form), LKS_REQUIRED, NULL, "the GPUs of a node"},
    {"nvswitches", LKS_NUMBERS(0, 64), 0, NULL,
     "NVSwitch chips inside the node; with any, fabric-manager must be pinned"},
    {"nics", LKS_FORM(nic_form), 0, NULL, "adapters of the fabric"},
    {"nvmes", LKS_NUMBERS(0, 128), 0, NULL, "NVMe drives"},
    {"memory_gib", LKS_NUMBERS(1, 1 << 20), 0, NULL, "memory of the host in GiB"},
    {"rails", LKS_NUMBERS(1, 64), 0, NULL, "rails of the fabric"},
    {"sharp", LKS_OF(BOOL), 0, "false", "in-network reduction (SHARP) is expected"},
    {"nvlink_domain", LKS_NUMBERS(1, 1024), 0, NULL,
     "GPUs in one NVLink domain; more than one node holds means they change together"},
};
const struct lks_form lks_class_form = {
    .name = "HardwareClass",
    .about = "The parts of a node of one kind, which an inventory must find.",
    LKS_FIELDS(class_fields)};

static int64_t number(const struct lks_doc *map, const char *key, int64_t absent)
{
    const struct lks_doc *member = lks_doc_member(map, key);
    return member != NULL ? member->number : absent;
}

enum lks_code lks_class_parse(const struct lks_docs *docs, const struct lks_doc *doc,
                              struct lks_class *out, struct lks_err *err)
{
    const struct lks_doc *gpu = lks_doc_member(doc, "gpu");
    const struct lks_doc *nics = lks_doc_member(doc, "nics");
    const struct lks_doc *sharp = lks_doc_member(doc, "sharp");
    int64_t gpus = number(gpu, "count", 0);
    LKS_ASSERT(gpus > 0); /* the table says so */
    struct lks_class c = {
        .name = lks_doc_text(doc, "name"),
        .vendor =
            lks_str_is(lks_doc_text(doc, "vendor"), "amd") ? LKS_VENDOR_AMD : LKS_VENDOR_NVIDIA,
        .gpu = lks_doc_text(gpu, "product"),
        .gpus = gpus,
        .nvlinks_up = number(gpu, "nvlinks_up", 0),
        .nvswitches = number(doc, "nvswitches", 0),
        .nics = number(nics, "count", 0),
        .nic_gbps = number(nics, "gbps", 0),
        .nvmes = number(doc, "nvmes", 0),
        .memory_gib = number(doc, "memory_gib", 0),
        .rails = number(doc, "rails", 0),
        .nvlink_domain = number(doc, "nvlink_domain", gpus),
        .sharp = sharp != NULL && sharp->truth,
    };
    if (c.nvlink_domain % c.gpus != 0)
        return lks_doc_fail(docs, lks_doc_member(doc, "nvlink_domain"), err,
                            "a domain of %lld GPUs is not a whole number of nodes with %lld",
                            (long long)c.nvlink_domain, (long long)c.gpus);
    *out = c;
    return LKS_OK;
}
