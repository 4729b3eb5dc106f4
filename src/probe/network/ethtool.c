#include "probe/network/ethtool.h"

#include "codec/format/kv.h"
#include "codec/machine/nlattr.h"
#include "codec/machine/sff.h"
#include "probe/network/netlink.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* The two halves that hold what identifies a module: lower memory, and page 00h above it. A read
 * across their border is refused by the kernel. */
enum { MODULE_ADDRESS = 0x50, MODULE_HALF = LKS_SFF_BYTES / 2 };

/* The old way: a struct that begins with the command, filled in by the driver. */
static enum lks_code ask_ioctl(const char *interface, void *command, const char *what,
                               struct lks_err *err)
{
    struct ifreq request = {0};
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
    request.ifr_data = command;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int number = fd < 0 || ioctl(fd, SIOCETHTOOL, &request) != 0 ? errno : 0;
    if (fd >= 0)
        (void)close(fd);
    return number == 0 ? LKS_OK : lks_netlink_fail(err, what, number);
}

/* Kernel texts fill their array or end before. */
static struct lks_str text_in(const char *array, size_t size)
{
    return (struct lks_str){array, strnlen(array, size)};
}

static void add_number(struct lks_buf *out, const char *key, uint32_t value)
{
    char digits[16];
    snprintf(digits, sizeof(digits), "%u", value);
    lks_kv_add(out, lks_str_from(key), lks_str_from(digits));
}

static enum lks_code ask_driver(void *ctx, struct lks_buf *out, struct lks_err *err)
{
    struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
    if (ask_ioctl(ctx, &info, "drvinfo", err) != LKS_OK)
        return err->code;
    lks_kv_add(out, LKS_STR("driver"), text_in(info.driver, sizeof(info.driver)));
    lks_kv_add(out, LKS_STR("version"), text_in(info.version, sizeof(info.version)));
    lks_kv_add(out, LKS_STR("firmware"), text_in(info.fw_version, sizeof(info.fw_version)));
    return LKS_OK;
}

static enum lks_code ask_ring(void *ctx, struct lks_buf *out, struct lks_err *err)
{
    struct ethtool_ringparam ring = {.cmd = ETHTOOL_GRINGPARAM};
    if (ask_ioctl(ctx, &ring, "ring", err) != LKS_OK)
        return err->code;
    add_number(out, "rx", ring.rx_pending);
    add_number(out, "tx", ring.tx_pending);
    return LKS_OK;
}

static enum lks_code ask_pause(void *ctx, struct lks_buf *out, struct lks_err *err)
{
    struct ethtool_pauseparam pause = {.cmd = ETHTOOL_GPAUSEPARAM};
    if (ask_ioctl(ctx, &pause, "pause", err) != LKS_OK)
        return err->code;
    add_number(out, "autoneg", pause.autoneg);
    add_number(out, "rx", pause.rx_pause);
    add_number(out, "tx", pause.tx_pause);
    return LKS_OK;
}

enum lks_code lks_ethtool_half(struct lks_str attrs, struct lks_buf *out, struct lks_err *err)
{
    struct lks_str data = lks_nlattr_find(attrs, ETHTOOL_A_MODULE_EEPROM_DATA);
    if (data.len != MODULE_HALF)
        return lks_fail(err, LKS_E_INVALID, "module: %zu bytes came back, not %d", data.len,
                        MODULE_HALF);
    lks_buf_add(out, data);
    return lks_buf_check(out, err);
}

/* Half of the memory by netlink, since Linux 5.13. */
static enum lks_code read_half(const char *interface, uint32_t offset, struct lks_buf *out,
                               struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf device = {0}, attrs = {0}, reply = {0};
    lks_buf_init(&device, LKS_NETLINK_REPLY_MAX);
    lks_buf_init(&attrs, LKS_NETLINK_REPLY_MAX);
    lks_buf_init(&reply, LKS_NETLINK_REPLY_MAX);
    lks_nlattr_add_text(&device, ETHTOOL_A_HEADER_DEV_NAME, lks_str_from(interface));
    lks_nlattr_add_nested(&attrs, ETHTOOL_A_MODULE_EEPROM_HEADER, lks_buf_view(&device));
    lks_nlattr_add_u32(&attrs, ETHTOOL_A_MODULE_EEPROM_OFFSET, offset);
    lks_nlattr_add_u32(&attrs, ETHTOOL_A_MODULE_EEPROM_LENGTH, MODULE_HALF);
    lks_nlattr_add_u8(&attrs, ETHTOOL_A_MODULE_EEPROM_PAGE, 0);
    lks_nlattr_add_u8(&attrs, ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS, MODULE_ADDRESS);
    const struct lks_genl to = {"module", ETHTOOL_GENL_NAME, ETHTOOL_MSG_MODULE_EEPROM_GET,
                                ETHTOOL_GENL_VERSION};
    if (lks_netlink_genl_ask(&to, lks_buf_view(&attrs), &reply, err) != LKS_OK)
        return err->code;
    return lks_ethtool_half(lks_buf_view(&reply), out, err);
}

/* The whole of it by ioctl, as older kernels and drivers have it. */
static enum lks_code read_module_ioctl(const char *interface, struct lks_buf *out,
                                       struct lks_err *err)
{
    struct ethtool_modinfo info = {.cmd = ETHTOOL_GMODULEINFO};
    if (ask_ioctl(interface, &info, "module", err) != LKS_OK)
        return err->code;
    uint32_t len = info.eeprom_len < LKS_SFF_BYTES ? info.eeprom_len : LKS_SFF_BYTES;
    struct ethtool_eeprom *eeprom = calloc(1, sizeof(*eeprom) + LKS_SFF_BYTES);
    if (eeprom == NULL)
        return lks_fail_nomem(err);
    eeprom->cmd = ETHTOOL_GMODULEEEPROM;
    eeprom->len = len;
    enum lks_code code = ask_ioctl(interface, eeprom, "module", err);
    if (code == LKS_OK)
        lks_buf_add(out, (struct lks_str){(const char *)eeprom->data, len});
    free(eeprom);
    return code;
}

static enum lks_code read_module(const char *interface, struct lks_buf *out, struct lks_err *err)
{
    enum lks_code code = read_half(interface, 0, out, err);
    if (code == LKS_OK)
        code = read_half(interface, MODULE_HALF, out, err);
    if (code == LKS_OK || code == LKS_E_DENIED || code == LKS_E_NOT_FOUND)
        return code;
    lks_buf_truncate(out, 0);
    return read_module_ioctl(interface, out, err);
}

enum lks_code lks_ethtool_module(struct lks_str bytes, struct lks_buf *out, struct lks_err *err)
{
    struct lks_sff m;
    char firmware[16] = "none";
    if (lks_sff_parse(bytes, &m, err) != LKS_OK)
        return err->code;
    if (m.firmware == LKS_SFF_BAD_FIRMWARE)
        snprintf(firmware, sizeof(firmware), "invalid");
    else if (m.firmware == LKS_SFF_FIRMWARE)
        snprintf(firmware, sizeof(firmware), "%u.%u", m.major, m.minor);
    lks_kv_add(out, LKS_STR("names"), m.names_ok ? LKS_STR("ok") : LKS_STR("bad"));
    lks_kv_add(out, LKS_STR("vendor"), lks_str_from(m.vendor));
    lks_kv_add(out, LKS_STR("part"), lks_str_from(m.part));
    lks_kv_add(out, LKS_STR("serials"), m.serial_ok ? LKS_STR("ok") : LKS_STR("bad"));
    lks_kv_add(out, LKS_STR("serial"), lks_str_from(m.serial));
    lks_kv_add(out, LKS_STR("firmware"), lks_str_from(firmware));
    return LKS_OK;
}

static enum lks_code ask_module(void *ctx, struct lks_buf *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_SFF_BYTES);
    if (read_module(ctx, &bytes, err) != LKS_OK)
        return err->code;
    return lks_ethtool_module(lks_buf_view(&bytes), out, err);
}

static const struct {
    const char *name;
    lks_ask_fn *ask;
} questions[] = {
    [LKS_ETHTOOL_DRIVER] = {"drvinfo", ask_driver},
    [LKS_ETHTOOL_RING] = {"ring", ask_ring},
    [LKS_ETHTOOL_PAUSE] = {"pause", ask_pause},
    [LKS_ETHTOOL_MODULE] = {"module", ask_module},
};

enum lks_code lks_ethtool_ask(struct lks_root *root, enum lks_ethtool question,
                              const char *interface, struct lks_buf *out, struct lks_err *err)
{
    char name[IFNAMSIZ], key[LKS_ETHTOOL_EVIDENCE_SIZE];
    int len = snprintf(name, sizeof(name), "%s", interface);
    if (len <= 0 || (size_t)len >= sizeof(name))
        return lks_fail(err, LKS_E_INVALID, "'%.32s' is no name of an interface", interface);
    snprintf(key, sizeof(key), "%s %s", questions[question].name, name);
    return lks_root_ask(root, "ethtool", key, questions[question].ask, name, out, err);
}

void lks_ethtool_evidence(enum lks_ethtool question, const char *interface,
                          char out[LKS_ETHTOOL_EVIDENCE_SIZE])
{
    snprintf(out, LKS_ETHTOOL_EVIDENCE_SIZE, "ethtool %s %.32s", questions[question].name,
             interface);
}
