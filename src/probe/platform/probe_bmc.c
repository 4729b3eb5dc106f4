/* The management controller as it answers in-band. */
#include "probe/platform/ipmi.h"
#include "probe/platform/smbios_file.h"
#include "probe/root/probes.h"

#define NAME     "firmware/bmc"
#define OF       LKS_STR("bmc")
#define EVIDENCE "IPMI Get Device ID"

static void ask(struct lks_probe *p, const char *path)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(LKS_ROOT_LINE_MAX);
    struct lks_ipmi_device d = {0};
    struct lks_err err = {0};
    struct lks_ipmi ipmi = {p->root, path};
    if (lks_root_ask(p->root, "ipmi", "get-device-id", lks_ipmi_get_device_id, &ipmi, &answer,
                     &err) != LKS_OK ||
        lks_ipmi_device_parse(lks_buf_view(&answer), &d, &err) != LKS_OK) {
        /* The device is there: no answer is no absence. */
        lks_probe_unmeasured(p, NAME, OF, path, "%s", err.msg);
        return;
    }
    struct lks_str value = lks_arena_format(p->arena, "%u.%02x", d.major, d.minor);
    struct lks_str aux = d.has_aux ? lks_arena_format(p->arena, ", auxiliary %02x %02x %02x %02x",
                                                      d.aux[0], d.aux[1], d.aux[2], d.aux[3])
                                   : LKS_STR("");
    struct lks_str evidence = lks_arena_format(
        p->arena, "%s " EVIDENCE ": manufacturer %u, product %u%s%s", path, d.manufacturer,
        d.product, aux.ptr != NULL ? aux.ptr : "", d.busy ? ", update or start going on" : "");
    if (value.ptr != NULL && evidence.ptr != NULL)
        lks_probe_value(p, NAME, OF, LKS_STR(""), value, evidence.ptr);
}

void lks_probe_bmc(struct lks_probe *p)
{
    static const char *const nodes[] = {"/dev/ipmi0", "/dev/ipmi/0", "/dev/ipmidev/0"};
    for (size_t i = 0; i < LKS_COUNT(nodes); i++) {
        if (lks_root_exists(p->root, nodes[i])) {
            ask(p, nodes[i]);
            return;
        }
    }
    struct lks_err err = {0};
    bool bmc = false;
    enum lks_code code = lks_smbios_file_has_bmc(p->root, &bmc, &err);
    if (code == LKS_OK && bmc)
        lks_probe_unmeasured(p, NAME, OF, LKS_SMBIOS_FILE,
                             "no in-band IPMI device (load ipmi_si and ipmi_devintf)");
    else if (code == LKS_OK || code == LKS_E_NOT_FOUND)
        lks_probe_absent(p, NAME, OF, "/dev/ipmi0, " LKS_SMBIOS_FILE);
    else
        lks_probe_unmeasured(p, NAME, OF, LKS_SMBIOS_FILE,
                             "no in-band IPMI device, and whether there is a controller: %s",
                             err.msg);
}
