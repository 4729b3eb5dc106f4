#include "probe/network/devlink.h"

#include "codec/format/kv.h"
#include "codec/machine/nlattr.h"
#include "probe/network/netlink.h"

#include <linux/devlink.h>
#include <stdio.h>

/* Texts about the device, and versions under the name of their section. */
static const struct {
    uint16_t type;
    const char *key;
    bool nested;
} infos[] = {
    {DEVLINK_ATTR_INFO_DRIVER_NAME, "driver", false},
    {DEVLINK_ATTR_INFO_SERIAL_NUMBER, "serial", false},
    {DEVLINK_ATTR_INFO_BOARD_SERIAL_NUMBER, "board_serial", false},
    {DEVLINK_ATTR_INFO_VERSION_FIXED, "fixed", true},
    {DEVLINK_ATTR_INFO_VERSION_RUNNING, "running", true},
    {DEVLINK_ATTR_INFO_VERSION_STORED, "stored", true},
};

static void add_info(struct lks_buf *out, const struct lks_nlattr *attr)
{
    for (size_t i = 0; i < LKS_COUNT(infos); i++) {
        if (infos[i].type != attr->type)
            continue;
        if (!infos[i].nested) {
            lks_kv_add(out, lks_str_from(infos[i].key), lks_nlattr_text(attr->data));
            continue;
        }
        struct lks_str name =
            lks_nlattr_text(lks_nlattr_find(attr->data, DEVLINK_ATTR_INFO_VERSION_NAME));
        struct lks_str value =
            lks_nlattr_text(lks_nlattr_find(attr->data, DEVLINK_ATTR_INFO_VERSION_VALUE));
        LKS_CLEANUP(lks_buf_fini) struct lks_buf key = LKS_BUF(LKS_NETLINK_REPLY_MAX);
        lks_buf_addf(&key, "%s:%" LKS_STR_FMT, infos[i].key, LKS_STR_ARG(name));
        if (key.failed == LKS_OK) /* an answer has no name longer than itself */
            lks_kv_add(out, lks_buf_view(&key), value);
    }
}

void lks_devlink_words(struct lks_str attrs, struct lks_buf *out)
{
    struct lks_nlattr attr;
    while (lks_nlattr_next(&attrs, &attr))
        add_info(out, &attr);
}

static enum lks_code ask_info(void *ctx, struct lks_buf *out, struct lks_err *err)
{
    const char *address = ctx;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf attrs = {0}, reply = {0};
    lks_buf_init(&attrs, LKS_NETLINK_REPLY_MAX);
    lks_buf_init(&reply, LKS_NETLINK_REPLY_MAX);
    lks_nlattr_add_text(&attrs, DEVLINK_ATTR_BUS_NAME, LKS_STR("pci"));
    lks_nlattr_add_text(&attrs, DEVLINK_ATTR_DEV_NAME, lks_str_from(address));
    const struct lks_genl to = {"info", DEVLINK_GENL_NAME, DEVLINK_CMD_INFO_GET,
                                DEVLINK_GENL_VERSION};
    if (lks_netlink_genl_ask(&to, lks_buf_view(&attrs), &reply, err) != LKS_OK)
        return err->code;
    lks_devlink_words(lks_buf_view(&reply), out);
    return LKS_OK;
}

enum lks_code lks_devlink_info(struct lks_root *root, const char *address, struct lks_buf *out,
                               struct lks_err *err)
{
    char name[32], key[64];
    int len = snprintf(name, sizeof(name), "%s", address);
    if (len <= 0 || (size_t)len >= sizeof(name))
        return lks_fail(err, LKS_E_INVALID, "'%.32s' is no address on PCI", address);
    snprintf(key, sizeof(key), "info pci/%s", name);
    return lks_root_ask(root, "devlink", key, ask_info, name, out, err);
}
