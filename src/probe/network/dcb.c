#include "probe/network/dcb.h"

#include "codec/format/kv.h"
#include "codec/machine/nlattr.h"
#include "probe/network/netlink.h"

#include <linux/dcbnl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>

static void add_pfc(struct lks_buf *out, const struct ieee_pfc *pfc)
{
    char capable[8], list[2 * IEEE_8021QAZ_MAX_TCS + 1] = "";
    size_t len = 0;
    for (unsigned i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
        if ((pfc->pfc_en >> i & 1) != 0)
            len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%u", len > 0 ? " " : "", i);
    }
    snprintf(capable, sizeof(capable), "%u", pfc->pfc_cap);
    lks_kv_add(out, LKS_STR("capable"), lks_str_from(capable));
    lks_kv_add(out, LKS_STR("enabled"), lks_str_from(list));
}

enum lks_code lks_dcb_words(struct lks_str attrs, struct lks_buf *out, struct lks_err *err)
{
    struct lks_str data = lks_nlattr_find(lks_nlattr_find(attrs, DCB_ATTR_IEEE), DCB_ATTR_IEEE_PFC);
    struct ieee_pfc pfc;
    if (data.len == 0)
        return lks_fail(err, LKS_E_UNAVAILABLE, "pfc: the driver does not answer this");
    if (data.len < sizeof(pfc))
        return lks_fail(err, LKS_E_INVALID, "pfc: an answer that is cut off");
    memcpy(&pfc, data.ptr, sizeof(pfc));
    add_pfc(out, &pfc);
    return LKS_OK;
}

static enum lks_code ask_pfc(void *ctx, struct lks_buf *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf request = {0}, reply = {0};
    lks_buf_init(&request, LKS_NETLINK_REPLY_MAX);
    lks_buf_init(&reply, LKS_NETLINK_REPLY_MAX);
    const struct lks_netlink to = {"pfc", NETLINK_ROUTE, RTM_GETDCB};
    struct dcbmsg head = {.dcb_family = AF_UNSPEC, .cmd = DCB_CMD_IEEE_GET};
    lks_buf_add(&request, (struct lks_str){(const char *)&head, sizeof(head)});
    lks_nlattr_add_text(&request, DCB_ATTR_IFNAME, lks_str_from(ctx));
    if (lks_buf_check(&request, err) != LKS_OK ||
        lks_netlink_ask(&to, lks_buf_view(&request), &reply, err) != LKS_OK)
        return err->code;
    if (reply.len < sizeof(head))
        return lks_fail(err, LKS_E_INVALID, "pfc: an answer that is cut off");
    return lks_dcb_words((struct lks_str){reply.ptr + sizeof(head), reply.len - sizeof(head)}, out,
                         err);
}

enum lks_code lks_dcb_pfc(struct lks_root *root, const char *interface, struct lks_buf *out,
                          struct lks_err *err)
{
    char name[IFNAMSIZ], key[32];
    int len = snprintf(name, sizeof(name), "%s", interface);
    if (len <= 0 || (size_t)len >= sizeof(name))
        return lks_fail(err, LKS_E_INVALID, "'%.32s' is no name of an interface", interface);
    snprintf(key, sizeof(key), "pfc %s", name);
    return lks_root_ask(root, "dcb", key, ask_pfc, name, out, err);
}
