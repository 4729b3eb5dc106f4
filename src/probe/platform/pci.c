#include "probe/platform/pci.h"

#include "codec/format/kv.h"
#include "codec/machine/vpd.h"

#include <stdio.h>

#define UEVENT_MAX 4096

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* DDDD:BB:DD.F with at least four digits of domain. */
bool lks_pci_is_address(struct lks_str name)
{
    static const char tail[] = ":hh:hh.h";
    size_t tail_len = sizeof(tail) - 1;
    if (name.len < 4 + tail_len || name.len >= LKS_PCI_ADDRESS_SIZE)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        size_t domain = name.len - tail_len;
        char want = i < domain ? 'h' : tail[i - domain];
        if (want == 'h' ? !is_hex(name.ptr[i]) : name.ptr[i] != want)
            return false;
    }
    return true;
}

bool lks_pci_address(struct lks_str name, char out[LKS_PCI_ADDRESS_SIZE])
{
    if (!lks_pci_is_address(name))
        return false;
    snprintf(out, LKS_PCI_ADDRESS_SIZE, "%" LKS_STR_FMT, LKS_STR_ARG(name));
    return true;
}

static bool hex_number(struct lks_str s, unsigned max, unsigned *out)
{
    uint64_t value;
    if (!lks_str_hex(s, max, &value))
        return false;
    *out = (unsigned)value;
    return true;
}

void lks_pci_path(char out[LKS_PCI_PATH_SIZE], const char *address, const char *file)
{
    int len = snprintf(out, LKS_PCI_PATH_SIZE, LKS_PCI_DEVICES "/%s/%s", address, file);
    LKS_ASSERT(len > 0 && len < LKS_PCI_PATH_SIZE);
}

enum lks_code lks_pci_number(struct lks_root *root, const char *address, const char *file,
                             unsigned max, unsigned *out, struct lks_err *err)
{
    char path[LKS_PCI_PATH_SIZE], line[LKS_ROOT_LINE_MAX];
    lks_pci_path(path, address, file);
    if (lks_root_line(root, path, line, err) != LKS_OK)
        return err->code;
    struct lks_str digits = lks_str_from(line);
    if (!lks_str_starts(digits, "0x") ||
        !hex_number((struct lks_str){digits.ptr + 2, digits.len - 2}, max, out))
        return lks_fail(err, LKS_E_INVALID, "%s: '%.16s' is not the number that belongs there",
                        path, line);
    return LKS_OK;
}

static bool copy_word(struct lks_str s, char *out, size_t size)
{
    if (s.len >= size || !lks_str_printable(s))
        return false;
    memcpy(out, s.ptr, s.len);
    out[s.len] = '\0';
    return true;
}

/* One line, KEY=value. False for a value that cannot be. */
static bool take_line(struct lks_str key, struct lks_str value, struct lks_pci *pci)
{
    struct lks_str vendor, device;
    if (lks_str_is(key, "PCI_SLOT_NAME"))
        return lks_pci_is_address(value) && copy_word(value, pci->address, sizeof(pci->address));
    if (lks_str_is(key, "DRIVER"))
        return copy_word(value, pci->driver, sizeof(pci->driver));
    if (lks_str_is(key, "PCI_CLASS"))
        return hex_number(value, 0xffffff, &pci->class);
    if (lks_str_is(key, "PCI_ID"))
        return lks_str_cut(value, ':', &vendor, &device) &&
               hex_number(vendor, 0xffff, &pci->vendor) && hex_number(device, 0xffff, &pci->device);
    return true;
}

enum lks_code lks_pci_uevent(struct lks_root *root, const char *path, struct lks_pci *out,
                             struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(UEVENT_MAX);
    if (lks_root_read(root, path, UEVENT_MAX, &text, err) != LKS_OK)
        return err->code;
    struct lks_pci pci = {0};
    for (struct lks_str rest = lks_buf_view(&text), line, key, value; rest.len > 0;) {
        (void)lks_str_cut(rest, '\n', &line, &rest);
        if (!lks_str_printable(line))
            return lks_fail(err, LKS_E_INVALID, "%s: does not hold text", path);
        if (lks_str_cut(lks_str_trim(line), '=', &key, &value) && !take_line(key, value, &pci))
            return lks_fail(err, LKS_E_INVALID, "%s: its %" LKS_STR_FMT " is damaged", path,
                            LKS_STR_ARG(key));
    }
    if (pci.address[0] == '\0')
        return lks_fail(err, LKS_E_NOT_FOUND, "%s: not a device on PCI", path);
    *out = pci;
    return LKS_OK;
}

bool lks_pci_is_virtual(struct lks_root *root, const char *address)
{
    char path[LKS_PCI_PATH_SIZE];
    lks_pci_path(path, address, "physfn");
    return lks_root_exists(root, path);
}

struct vpd_question {
    struct lks_root *root;
    const char *path;
};

static enum lks_code ask_vpd(void *ctx, struct lks_buf *out, struct lks_err *err)
{
    const struct vpd_question *q = ctx;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_VPD_BYTES_MAX);
    struct lks_vpd vpd;
    if (lks_root_whole(q->root, q->path, &bytes, err) != LKS_OK)
        return err->code;
    if (lks_vpd_parse(lks_buf_view(&bytes), &vpd, err) != LKS_OK)
        return lks_wrap(err, "%s", q->path);
    bool good = vpd.checksum_ok || !vpd.has_checksum;
    lks_kv_add(out, LKS_STR("checksum"), good ? LKS_STR("ok") : LKS_STR("bad"));
    lks_kv_add(out, LKS_STR("product"), vpd.product);
    lks_kv_add(out, LKS_STR("part"), vpd.part);
    lks_kv_add(out, LKS_STR("serial"), vpd.serial);
    if (lks_vpd_vendor_has(&vpd, LKS_STR("SMDL=SW_MNG")))
        lks_kv_add(out, LKS_STR("SMDL"), LKS_STR("SW_MNG"));
    return LKS_OK;
}

/* False for a text that cannot be shown. */
static bool take_text(struct lks_str line, const char *key, char out[LKS_PCI_TEXT_SIZE])
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf value = LKS_BUF(LKS_VPD_BYTES_MAX);
    return !lks_kv_get(line, key, &value) ||
           copy_word(lks_buf_view(&value), out, LKS_PCI_TEXT_SIZE);
}

static bool has_word(struct lks_str line, const char *key, const char *value)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf is = LKS_BUF(LKS_PCI_TEXT_SIZE);
    return lks_kv_get(line, key, &is) && lks_str_is(lks_buf_view(&is), value);
}

enum lks_code lks_pci_vpd(struct lks_root *root, const char *address, struct lks_pci_vpd *out,
                          struct lks_err *err)
{
    char path[LKS_PCI_PATH_SIZE];
    struct vpd_question q = {root, path};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF((size_t)4 * LKS_VPD_BYTES_MAX);
    lks_pci_path(path, address, "vpd");
    if (lks_root_ask_file(root, "vpd", address, ask_vpd, &q, &answer, err) != LKS_OK)
        return err->code;
    struct lks_str line = lks_buf_view(&answer);
    struct lks_pci_vpd vpd = {.manages_nvswitch = has_word(line, "SMDL", "SW_MNG")};
    bool good = has_word(line, "checksum", "ok") && take_text(line, "product", vpd.product) &&
                take_text(line, "part", vpd.part) && take_text(line, "serial", vpd.serial);
    if (!good)
        vpd = (struct lks_pci_vpd){.damaged = true, .manages_nvswitch = vpd.manages_nvswitch};
    *out = vpd;
    return LKS_OK;
}

bool lks_pci_has(struct lks_root *root, struct lks_arena *scratch, unsigned vendor, unsigned class)
{
    struct lks_names names;
    struct lks_err err = {0};
    if (lks_root_list(root, LKS_PCI_DEVICES, scratch, &names, &err) != LKS_OK)
        return false;
    for (size_t i = 0; i < names.count; i++) {
        char address[LKS_PCI_ADDRESS_SIZE];
        unsigned is = 0;
        if (lks_pci_address(names.list[i], address) &&
            lks_pci_number(root, address, "class", 0xffffff, &is, &err) == LKS_OK &&
            is >> 8 == class &&
            lks_pci_number(root, address, "vendor", 0xffff, &is, &err) == LKS_OK && is == vendor)
            return true;
    }
    return false;
}

bool lks_pci_same_slot(const char *a, const char *b)
{
    struct lks_str slot_a, slot_b, function;
    (void)lks_str_cut(lks_str_from(a), '.', &slot_a, &function);
    (void)lks_str_cut(lks_str_from(b), '.', &slot_b, &function);
    return lks_str_eq(slot_a, slot_b);
}
